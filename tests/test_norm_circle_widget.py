"""The Python side of the norm circle: what it hands to a page, and what it refuses."""

import re

import pytest
from every_widget import state

import turing
from turing import ir
from turing.merrill import Merrill24
from turing.widgets import NormCircle


def test_the_page_carries_the_network_itself():
    carried = state(NormCircle("B()E", step=4, arithmetic="exact"))
    assert carried["network"] == ir.to_dict(Merrill24(turing.zoo["balanced_parentheses"]))
    assert {name: carried[name] for name in ("word", "step", "arithmetic", "max")} == {
        "word": "B()E", "step": 4, "arithmetic": "exact", "max": {"symbols": 24, "steps": 80}
    }  # fmt: skip
    other = state(NormCircle("11", machine=turing.zoo["binary_increment"]))
    assert other["network"] == ir.to_dict(Merrill24(turing.zoo["binary_increment"]))


def test_the_plain_text_says_what_it_is():
    assert repr(NormCircle("B()E")) == "NormCircle('B()E', step=1, arithmetic='float32')"
    again = eval(repr(NormCircle("B(E", 3, "float64")))
    assert state(again) == state(NormCircle("B(E", 3, "float64"))
    assert repr(NormCircle("1", machine=turing.zoo["bb2"])).endswith(
        "machine=<TuringMachine: 3 states, 2 symbols, 4 rules>)"
    )


def test_the_fallback_shows_the_best_keys_of_the_step():
    shown = NormCircle("B()E", step=5).fallback()
    assert "At step 5 the tape head is on cell 2." in shown
    rows = re.findall(r"<tr><td>(.*?)</td><td>(.*?)</td><td>(.*?)</td></tr>", shown)
    assert rows[0][:2] == ("4", "2")
    assert [float(row[2]) for row in rows] == sorted(float(row[2]) for row in rows)
    assert len(rows) == 5
    assert "At step 9 the tape head is on cell" in NormCircle("B()E", step=80).fallback()
    assert "At step 1 the tape head is on cell 0." in NormCircle("").fallback()


def test_a_kernel_can_set_what_the_reader_sets():
    widget = NormCircle("B()E")
    widget.word, widget.step, widget.arithmetic = "B(())E", 7, "exact"
    assert (widget.word, widget.step, widget.arithmetic) == ("B(())E", 7, "exact")


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: NormCircle("Bx"), ValueError, "Symbol 'x' (cell 1 of the word) is not in this machine's alphabet"),
        (lambda: NormCircle("(" * 25), ValueError, "words of 24 symbols at most, and 25 were given"),
        (lambda: NormCircle(step=0), ValueError, "steps 1 to 80, and step=0 was given"),
        (lambda: NormCircle(step=True), ValueError, "steps 1 to 80, and step=True was given"),
        (lambda: NormCircle(arithmetic="half"), ValueError, 'one of "exact", "float64", "float32", and \'half\' was'),
        (lambda: NormCircle(machine="bb2"), TypeError, "takes a TuringMachine, and 'bb2' was given"),
    ],
)
def test_bad_input_is_refused_with_a_message_that_helps(make, error, message):
    with pytest.raises(error, match=re.escape(message)):
        make()
