"""The Python side of the queue wheel: what it hands to a page, and what it refuses."""

import re

import pytest
from every_widget import state

import turing
from turing import ir
from turing.queue import LiWang25
from turing.widgets import QueueWheel


def test_the_page_carries_the_network_itself_and_its_tokens():
    carried, network = state(QueueWheel("B()E", token=4)), LiWang25(turing.zoo["balanced_parentheses"])
    assert carried["network"] == ir.to_dict(network)
    assert carried["tokens"] == [list(token) for token in network.tokens]
    assert {name: carried[name] for name in ("word", "window", "token", "max")} == {
        "word": "B()E", "window": 6, "token": 4, "max": {"symbols": 16, "cells": 24, "tokens": 1_000}
    }  # fmt: skip
    other = state(QueueWheel("11", 5, machine=turing.zoo["binary_increment"]))
    assert other["network"] == ir.to_dict(LiWang25(turing.zoo["binary_increment"]))


def test_the_plain_text_says_what_it_is():
    assert repr(QueueWheel("B()E")) == "QueueWheel('B()E', window=6, token=0)"
    again = eval(repr(QueueWheel("B(E", 9, 3)))
    assert state(again) == state(QueueWheel("B(E", 9, 3))
    assert repr(QueueWheel("1", machine=turing.zoo["bb2"])).endswith(
        "machine=<TuringMachine: 3 states, 2 symbols, 4 rules>)"
    )


def test_the_fallback_shows_the_first_tokens():
    shown = QueueWheel("B()E").fallback()
    assert "<code>B→I (→I )→I E→I E→I E→I</code>" in shown
    rows = re.findall(r"<tr><td>(.*?)</td><td>(.*?)</td></tr>", shown)
    assert len(rows) == 12
    assert [token for _, token in rows[:4]] == ["B→R", "(→R", "⊥←M *", "*←M E"]
    assert "<td>1</td>" in QueueWheel("").fallback()  # the machine jams at once, and says so


def test_a_kernel_can_set_what_the_reader_sets():
    widget = QueueWheel("B()E")
    widget.word, widget.window, widget.token = "B(())E", 12, 7
    assert (widget.word, widget.window, widget.token) == ("B(())E", 12, 7)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: QueueWheel("Bx"), ValueError, "Symbol 'x' (cell 1 of the word) is not in this machine's alphabet"),
        (lambda: QueueWheel("(" * 17), ValueError, "words of 16 symbols at most, and 17 were given"),
        (lambda: QueueWheel(window=0), ValueError, "The wheel has 1 to 24 cells, and window=0 was given"),
        (lambda: QueueWheel(window=25), ValueError, "The wheel has 1 to 24 cells, and window=25 was given"),
        (lambda: QueueWheel(token=-1), ValueError, "0 to 1000 tokens, and token=-1 was given"),
        (lambda: QueueWheel(machine="bb2"), TypeError, "takes a TuringMachine, and 'bb2' was given"),
    ],
)
def test_bad_input_is_refused_with_a_message_that_helps(make, error, message):
    with pytest.raises(error, match=re.escape(message)):
        make()
