"""The Python side of the adder widget: what it hands to a page, and what it refuses."""

import re

import pytest
import traitlets
from every_widget import state

from turing.adders import LookaheadAdder, MoveAdder, RippleCarryAdder
from turing.ir import to_dict
from turing.widgets import Adder

TASKS = [(bits, task) for bits in (1, 2, 3, 8) for task in ("move", "sum")]


def networks(bits, task):
    return [MoveAdder(bits), LookaheadAdder(bits)] if task == "move" else [RippleCarryAdder(bits)]


@pytest.mark.parametrize(("bits", "task"), TASKS)
def test_the_page_carries_the_networks_of_the_library_with_slices_in_order(bits, task):
    stages = state(Adder(bits, task))["stages"]
    for stage, network in zip(stages, networks(bits, task), strict=True):
        assert stage["network"] == to_dict(network)


@pytest.mark.parametrize(("bits", "task"), TASKS)
def test_there_is_something_to_say_of_the_input_and_of_every_layer(bits, task):
    for stage, network in zip(Adder(bits, task).stages, networks(bits, task), strict=True):
        assert len(stage["steps"]) == len(network) + 1
        assert all(step["says"].endswith(".") for step in stage["steps"])


def test_ripple_carry_takes_eight_layers_a_bit_and_two_and_lookahead_two():
    for bits in range(1, 9):
        ripple, lookahead = Adder(bits).stages
        assert len(ripple["steps"]) - 1 == 8 * bits + 2
        assert len(lookahead["steps"]) - 1 == 2


@pytest.mark.parametrize(("bits", "task"), TASKS)
def test_the_captions_go_through_the_bits_eight_layers_each_and_the_carry_moves_on_with_the_last(bits, task):
    steps = Adder(bits, task).stages[0]["steps"]
    at_work = [step for step in steps if step["bit"] is not None]
    assert [step["bit"] for step in at_work] == [k for k in range(bits) for _ in range(8)]
    for k in range(bits):
        part = at_work[8 * k : 8 * k + 8]
        assert all(step["says"].startswith(f"Bit {k}, ") for step in part)
        assert ["half adder 1" in step["says"] for step in part] == [True] * 3 + [False] * 5
        assert ["half adder 2" in step["says"] for step in part] == [False] * 3 + [True] * 3 + [False] * 2
        assert ["OR of the two carries" in step["says"] for step in part] == [False] * 6 + [True] * 2
        assert [step["carry"] for step in part] == [k] * 7 + [k + 1]


def test_the_plain_text_says_what_it_is():
    assert repr(Adder()) == "Adder(3, 'move', p=3, move=1)"
    assert repr(Adder(2, "sum", b=2, carry=1)) == "Adder(2, 'sum', a=3, b=2, carry=1)"


def test_the_fallback_shows_the_input_the_result_and_the_layers():
    move, total = Adder(3, p=0, move=-1).fallback(), Adder(4, "sum", a=11, b=6).fallback()
    head = "<th>adder</th><th>p</th><th>move</th><th>p after</th><th>layers</th>"
    assert head in move
    row = "<td>000 = 0</td><td>−1</td><td>111 = 7</td>"
    assert f"<tr><td>Ripple carry</td>{row}<td>26</td></tr>\n<tr><td>Lookahead</td>{row}<td>2</td></tr>" in move
    assert "<td>1011 = 11</td><td>0110 = 6</td><td>0</td><td>0001 = 1</td><td>1</td><td>32</td>" in total


def test_at_first_the_carry_goes_all_the_way():
    assert [(Adder(bits).p, Adder(bits).move) for bits in (1, 3, 4)] == [(0, 1), (3, 1), (7, 1)]
    assert [(adder.a, adder.b, adder.carry) for adder in (Adder(1, "sum"), Adder(4, "sum"))] == [(1, 1, 0), (15, 1, 0)]


def test_a_kernel_sets_inputs_and_layer_and_hears_of_the_page():
    adder = Adder(3, p=2, move=0, layer=26)
    adder.p, adder.move = 7, -1
    assert (adder.p, adder.move, adder.layer) == (7, -1, 26)
    adder.set_state({"p": 1, "layer": 4})
    assert (adder.p, adder.move, adder.layer) == (1, -1, 4)
    with pytest.raises(traitlets.TraitError, match="read-only"):
        adder.bits = 4
    with pytest.raises(traitlets.TraitError, match="read-only"):
        adder.task = "sum"


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Adder(0), ValueError, "Adder takes 1 to 8 bits, and bits=0 was given."),
        (lambda: Adder(9), ValueError, "Adder takes 1 to 8 bits, and bits=9 was given."),
        (lambda: Adder(True), ValueError, "Adder takes 1 to 8 bits, and bits=True was given."),
        (lambda: Adder("3"), ValueError, "Adder takes 1 to 8 bits, and bits='3' was given."),
        (lambda: Adder(3, "product"), ValueError, "or \"sum\", two numbers; 'product' was given."),
        (lambda: Adder(3, ["sum"]), ValueError, "or \"sum\", two numbers; ['sum'] was given."),
        (lambda: Adder(3, a=1), TypeError, "task='move' is given p, move, layer, and 'a' is none of them."),
        (lambda: Adder(3, "sum", p=1), TypeError, "is given a, b, carry, layer, and 'p' is none of them."),
        (lambda: Adder(3, p=8), ValueError, "p is an integer from 0 to 7 here, and 8 was given."),
        (lambda: Adder(3, p=-1), ValueError, "p is an integer from 0 to 7 here, and -1 was given."),
        (lambda: Adder(3, p="1"), traitlets.TraitError, "expected an int, not the str '1'"),
        (lambda: Adder(3, move=2), ValueError, "move is an integer from -1 to 1 here, and 2 was given."),
        (lambda: Adder(3, layer=27), ValueError, "layer is an integer from 0 to 26 here, and 27 was given."),
        (lambda: Adder(2, "sum", b=4), ValueError, "b is an integer from 0 to 3 here, and 4 was given."),
        (lambda: Adder(2, "sum", carry=2), ValueError, "carry is an integer from 0 to 1 here, and 2 was given."),
    ],
)
def test_bad_input_is_refused_with_a_message_that_helps(make, error, message):
    with pytest.raises(error, match=re.escape(message)):
        make()


def test_a_number_that_does_not_fit_is_refused_and_the_old_one_stays():
    adder = Adder(3)
    for name, value in (("p", 8), ("move", -2), ("layer", 27)):
        before = getattr(adder, name)
        with pytest.raises(ValueError, match=f"{name} is an integer from .* and {value} was given"):
            setattr(adder, name, value)
        assert getattr(adder, name) == before
