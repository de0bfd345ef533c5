"""The widget of the first page, without a browser: what it hands to the page, and its picture."""

import re
import xml.etree.ElementTree as ET

import pytest
import torch
from every_widget import state

import turing
from turing.ir import to_dict
from turing.widgets import LockStep
from turing.widgets.lock_step.scene import scene, still

PAPER = turing.zoo["balanced_parentheses"]


def test_the_page_gets_the_network_of_the_library():
    net = turing.compile(PAPER, "wcm21", T=160, adder="lookahead")
    carried = state(LockStep(word="B()E"))
    assert carried["file"] == to_dict(net)
    assert (carried["word"], carried["name"]) == ("B()E", "balanced_parentheses")


def test_the_picture_says_who_was_here_last():
    net = turing.compile(PAPER, "wcm21", T=160, adder="lookahead")
    picture = still(net, "B(())E", 7)
    ET.fromstring(picture.svg)
    assert re.findall("attention: .*?<|step 5 was.*?<", picture.svg) == ["attention: cell 3?<", "step 5 was here last<"]
    assert "step 7 · network = machine" in picture.svg
    assert picture.svg in LockStep(word="B(())E").fallback()


def test_a_line_says_what_the_machine_does_if_one_is_given():
    widget = LockStep(word="B()E", task="Do ( and ) match?")
    assert state(widget)["task"] == "Do ( and ) match?"
    assert '<p class="task">Do ( and ) match?</p>' in widget.fallback()
    assert "task" not in LockStep(word="B()E").fallback()


def test_a_broken_network_gets_no_tick():
    net = turing.compile(PAPER, "wcm21", T=160, adder="lookahead")
    with torch.no_grad():
        net.get_parameter("pipeline.carry.bias")[0] = 1
    with pytest.raises(ValueError, match="shows a network that agrees with its machine"):
        scene(net, "B()E", 3)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: LockStep("bb4"), TypeError, "LockStep takes a TuringMachine, and 'bb4' was given."),
        (lambda: LockStep(turing.zoo["universal"]), ValueError, "draws up to 16 rules with names of one character"),
        (
            lambda: LockStep(word="B" + "(" * 16),
            ValueError,
            r"words of up to 16 symbols, and 'B\(+' was given",
        ),
        (lambda: LockStep(word="Bx"), ValueError, "Symbol 'x'"),
    ],
)
def test_bad_input_is_refused_with_a_message_that_helps(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_a_word_on_which_nothing_happens_falls_back_to_the_rules():
    assert "<table>" in LockStep(word=")").fallback()
