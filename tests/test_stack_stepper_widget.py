"""The Python side of the SS95 stepper: what it hands to a page, and what it refuses."""

import json
import re
import zlib
from fractions import Fraction
from itertools import product

import pytest
import traitlets
from every_widget import html

import turing
from turing.cantor import Cantor
from turing.ir import to_dict
from turing.ss import StackNetwork
from turing.stack_machine import StackMachine, TwoStacks, balanced
from turing.widgets import StackStepper

BALANCED = balanced()
PARITY = StackMachine(
    {("even", "one"): ("odd", "pop"), ("odd", "one"): ("even", "pop"), ("even", None): ("T", "noop")},
    "even", {"T"}, ["zero", "one"],
)  # fmt: skip
GROWS = StackMachine({("a", "*", "*"): ("a", "noop", "push 1")}, "a", {"z"}, "01")
LARGE = StackMachine(
    {(q, *tops): (r, "push 0", "pop") for q, r in zip("abcd", "bcda", strict=True)
     for tops in product((None, "0", "1"), repeat=2)},
    "a", {"z"},
)  # fmt: skip


def cells(widget):
    return [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>(<td>.*?)</tr>", widget.fallback())]


@pytest.mark.parametrize("machine", [BALANCED, PARITY, LARGE])
def test_a_page_has_every_number_of_every_layer(machine):
    stepper = StackStepper("" if machine is not PARITY else [], machine)
    exported = json.loads(json.dumps(stepper.networks))
    least = {1: [(4, 4), (1, 10), (1, 4)], 2: [(4, 4), (1, 40), (1, 16)]}[machine.p]
    assert [(network["version"], network["base"]) for network in exported] == least
    for network in exported:
        net = StackNetwork(machine, network["version"], network["base"], tuple(network["digits"]))
        assert network["classes"] == ([list(kind) for kind in net.classes] if net.version == 1 else [])
        assert list(network["says"]) == ["column", *net.layers]
        assert all(says.endswith(".") for says in network["says"].values())
        assert network["file"] == to_dict(net)
        assert network["file"]["arithmetic"] == "exact"
        for arithmetic in ("float32", "float64", "exact"):
            code = Cantor(net.code.base, net.code.digits, arithmetic)
            assert network["depth"][arithmetic] == code.depth
            assert network["full"][arithmetic].replace("#", "27") == code.full(27)


def test_a_page_has_the_rules_of_the_machine():
    machine = StackStepper().get_state(["machine"])["machine"]
    assert (machine["initial"], machine["terminal"], machine["symbols"], machine["p"]) == (
        "I",
        ["F", "T"],
        ["(", ")"],
        2,
    )
    pushes = {("push", "("): "push0", ("push", ")"): "push1"}
    assert machine["rules"] == [
        [list(key), [state, *(pushes.get(operation, operation[0]) for operation in operations)]]
        for key, (state, *operations) in BALANCED.rules.items()
    ]


def test_a_page_is_small():
    page = html(StackStepper())
    assert len(page) < 113_000
    assert len(zlib.compress(page.encode())) < 33_000
    assert len(zlib.compress(html(StackStepper("", LARGE)).encode())) < 50_000


def test_the_plain_text_says_what_it_is():
    assert repr(StackStepper()) == "StackStepper('(())', version=4, base=4, arithmetic='float32')"
    assert (
        repr(StackStepper(["one"], PARITY, 1, "exact", 4))
        == "StackStepper(['one'], version=1, base=4, arithmetic='exact')"
    )


@pytest.mark.parametrize(
    ("version", "base", "arithmetic"),
    [(4, 4, "float32"), (4, 4, "exact"), (1, 40, "float64"), (1, 16, "float32"), (1, 40, "exact")],
)
def test_the_fallback_is_a_table_of_the_run_with_the_numbers_of_the_network(version, base, arithmetic):
    stepper = StackStepper("(()", version=version, base=base, arithmetic=arithmetic)
    rows, code = cells(stepper), Cantor(base, stepper._network("exact").code.digits)
    assert len(rows) == 5
    for now, (step, state, *stacks) in zip(BALANCED.trace("(()"), rows, strict=True):
        assert (int(step), state) == (now.step, now.state)
        assert stacks[::2] == ["".join(stack) or "–" for stack in now.stacks]
        for text, stack in zip(stacks[1::2], now.stacks, strict=True):
            value = code.encode(map(BALANCED.symbols.index, stack))
            assert Fraction(text) == pytest.approx(value, abs=0 if arithmetic == "exact" else 1e-8)
    assert f"base {base}, {arithmetic}.</p>" in stepper.fallback()


def test_the_fallback_says_where_floats_stop_and_goes_on_exactly():
    stepper = StackStepper("0", GROWS)
    numbers = [row[5] for row in cells(stepper)]
    assert numbers[12] == f"{float(Cantor().encode([1] * 12)):.9g}"
    assert numbers[13] == str(Cantor().encode([1] * 13))
    assert (
        "At step 13, on stack 1: A stack of 13 symbols was asked for, and float32 holds 12 in base 4"
        in stepper.fallback()
    )
    assert "From there on the numbers are exact." in stepper.fallback()
    assert "285 more steps lead to a." in stepper.fallback()
    assert [row[3] for row in cells(StackStepper("(" * 14))][:1] == [str(Cantor().encode([0] * 14))]
    assert "From there on" not in StackStepper("(" * 12).fallback()


def test_a_kernel_sets_everything_and_hears_of_the_page():
    stepper = StackStepper("()")
    assert (stepper.step, stepper.layer, stepper.version, stepper.base) == (0, "F3", 4, 4)
    stepper.step, stepper.layer = 3, "F1"
    stepper.word = "(())"
    assert stepper.step == 0
    stepper.version = 1
    assert (stepper.base, stepper.layer) == (40, "step")
    stepper.base, stepper.arithmetic = 16, "exact"
    stepper.version = 4
    assert (stepper.base, stepper.layer) == (4, "F1")
    stepper.set_state({"word": "(", "step": 2, "version": 1, "base": 16, "layer": "column", "arithmetic": "float64"})
    assert (stepper.word, stepper.step, stepper.base, stepper.layer) == ("(", 2, 16, "column")
    assert StackStepper(("one", "one"), PARITY).word == ["one", "one"]
    with pytest.raises(traitlets.TraitError, match="read-only"):
        stepper.networks = []


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("word", "(x)", "Symbol 'x' (on stack 0) is not one of this machine's: ( )"),
        ("word", "(" * 121, "A word has at most 120 symbols here, and 121 were given."),
        ("word", 5, "A word is a string or a sequence of symbols, and 5 was given."),
        ("step", 4, "step is an integer from 0 to 3 on this word, and 4 was given."),
        ("step", -1, "step is an integer from 0 to 3 on this word, and -1 was given."),
        ("step", True, "and True was given."),
        ("step", "1", "and '1' was given."),
        ("layer", "step", "layer is column or F4 or F3 or F2 or F1 in version 4, and 'step' was given."),
        ("version", 2, "version is 4, for four layers a step, or 1, for one layer, and 2 was given."),
        ("version", True, "or 1, for one layer, and True was given."),
        ("base", 16, "base is 4 in version 4, and 16 was given."),
        ("arithmetic", "float16", "arithmetic is float32 or float64 or exact, and 'float16' was given."),
    ],
)
def test_a_kernel_cannot_set_what_is_not_there_and_nothing_changes(name, value, message):
    stepper = StackStepper("()")
    before = getattr(stepper, name)
    with pytest.raises(ValueError, match=re.escape(message)):
        setattr(stepper, name, value)
    assert getattr(stepper, name) == before


THREE = StackMachine({("a", None, None, None): ("z", "pop", "pop", "pop")}, "a", {"z"})


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: StackStepper(machine=turing.zoo["bb3"]), TypeError, "such as turing.stack_machine.balanced(), and"),
        (lambda: StackStepper("", THREE), ValueError, "1 or 2 stacks and at most 40 rules, and this one has 3 stacks"),
        (lambda: StackStepper("", TwoStacks(turing.zoo["bb3"]).machine), ValueError, "at most 40 rules, and this one"),
        (lambda: StackStepper(machine=PARITY), ValueError, "Symbol '(' (on stack 0) is not one of this machine's: "),
        (lambda: StackStepper(version=3), ValueError, "version is 4, for four layers a step, or 1, for one layer"),
        (lambda: StackStepper(version=1, base=4), ValueError, "base is 40 or 16 in version 1, and 4 was given."),
        (lambda: StackStepper(arithmetic="scaled"), ValueError, "or float64 or exact, and 'scaled' was given."),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_a_message_that_helps(make, error, message):
    with pytest.raises(error, match=re.escape(message)):
        make()
