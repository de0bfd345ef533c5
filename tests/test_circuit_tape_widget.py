"""The circuit tape outside a browser: what it carries, what it says, and what it refuses."""

import re

import pytest
from every_widget import state

import turing
from turing import ir
from turing.circuits import Circuit, GateByGate
from turing.widgets import CircuitTape

XOR = Circuit("a b", {"x": ("XOR", "a", "b"), "n": ("NOT", "x")})


def test_the_page_carries_the_network_itself_and_the_names_of_its_tokens():
    carried = state(CircuitTape(XOR, "10", 2, 4))
    assert carried["network"] == ir.to_dict(GateByGate(XOR))
    assert {name: carried[name] for name in ("word", "gate", "kappa", "names", "outputs")} == {
        "word": "10", "gate": 2, "kappa": 4, "names": ["a", "b", "x", "n"], "outputs": {"n": 3}
    }  # fmt: skip


def test_the_fallback_is_the_table_of_tokens():
    rows = re.findall("<tr><td>(.*?)</td></tr>", CircuitTape(XOR, "10").fallback())
    assert [row.split("</td><td>") for row in rows] == [
        ["0", "a", "input", "", "1"], ["1", "b", "input", "", "0"], ["2", "x", "XOR", "a = 1, b = 0", "1"],
        ["3", "n", "NAND", "x = 1, x = 1", "0"],
    ]  # fmt: skip


def test_a_kernel_can_set_what_the_reader_sets():
    widget = CircuitTape(XOR)
    widget.word, widget.gate, widget.kappa = {"a": 1, "b": 0}, 2, 0.5
    assert (widget.word, widget.gate, widget.kappa) == ("10", 2, 0.5)
    assert repr(widget) == "CircuitTape(<Circuit: 2 inputs, 2 gates, 1 output>, '10', gate=2, kappa=0.5)"


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: CircuitTape("a & b"), TypeError, "takes a Circuit, and 'a & b' was given"),
        (lambda: CircuitTape(XOR, "12"), ValueError, "A token is 0 or 1, and '2' was given"),
        (lambda: CircuitTape(XOR, "10", 3), ValueError, "gates 1 to 2, 0 is before the first, and gate=3 was given"),
        (lambda: CircuitTape(XOR, "10", True), ValueError, "gate=True was given"),
        (lambda: CircuitTape(XOR, kappa=5), ValueError, "kappa is one of 9999, 4, 1, 0.5, and 5 was given"),
        (lambda: CircuitTape(Circuit("a", {})), ValueError, "with a gate and at most 64 tokens"),
        (
            lambda: CircuitTape(Circuit.of_network(turing.adders.RippleCarryAdder(5))),
            ValueError,
            "at most 64 tokens, and <Circuit: 11 inputs, 61 gates, 11 outputs> was given",
        ),
    ],
)
def test_bad_input_is_refused_with_a_message_that_helps(make, error, message):
    with pytest.raises(error, match=re.escape(message)):
        make()
