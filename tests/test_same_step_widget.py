"""The Python side of the widget that shows the same step in every construction."""

import json
import re

import pytest
from every_widget import HOSTILE, NAMED, html, state
from whole_tape import WholeTape

import turing
from turing import ir
from turing.comparison import compare, memory
from turing.widgets import SameStep


def networks(widget, name):
    run = next(run for run in widget.runs if run["name"] == name)
    return {each["construction"]: each for each in run["networks"]}


def test_the_page_carries_the_networks_and_where_each_keeps_the_cell_of_every_step():
    widget = SameStep("bb3", 4)
    carried = state(widget)
    assert (carried["machine"], carried["step"]) == ("bb3", 4)
    assert [run["name"] for run in carried["runs"]] == ["bb3", "balanced_parentheses", "parity"]
    found, machine = networks(widget, "bb3"), turing.zoo["bb3"]
    assert list(found) == [row.construction for row in compare(machine).rows]
    network = turing.compile(machine, "merrill24")
    assert found["merrill24"]["file"] == json.loads(json.dumps(ir.to_dict(network)))
    kept = memory(network, "", 40)
    assert found["merrill24"]["steps"] == [[passes, [list(place) for place in places]] for passes, places in kept]
    assert [now[:3] for now in carried["runs"][0]["trace"]] == [
        [now.state, now.head, now.symbol] for now in machine.trace("", 40)
    ]


def test_a_network_that_is_too_large_for_a_page_says_so_and_the_page_stays_small():
    found = networks(SameStep(), "balanced_parentheses")
    assert {name for name, each in found.items() if "refused" in each} == {"ss95-realtime", "bhattamishra20"}
    assert found["ss95-realtime"]["refused"] == (
        "This network has 76,230 numbers that are not 0, which is too many for a page. It runs in Python."
    )
    assert all("refused" not in each for each in networks(SameStep(), "bb3").values())


def test_machines_of_one_s_own_can_be_shown_and_a_run_is_cut():
    forever = turing.TuringMachine({("A", "0"): ("A", "1", 1)}, "A", (), "0")
    widget = SameStep("b", 3, {"a": forever, "b": (turing.zoo["binary_increment"], "11")})
    assert repr(widget) == "SameStep('b', step=3, machines={'a': …, 'b': …})"
    assert len(widget.runs[0]["trace"]) == 41
    assert widget.runs[1]["status"] == "halted"
    assert "wcm21" in widget.fallback()


def test_every_network_of_the_book_has_a_line_that_says_what_is_shown():
    book = {name: each for name, each in networks(SameStep(), "bb3").items() if name != WholeTape.construction}
    assert all(each["shows"].endswith(".") for each in book.values())
    own = networks(SameStep(), "bb3")[WholeTape.construction]
    assert "shows" not in own
    assert f"<td>{WholeTape.construction}</td><td>0</td><td>It does not say.</td>" in SameStep("bb3").fallback()


def test_the_fallback_says_where_the_cell_is_kept():
    shown = SameStep("balanced_parentheses", 4).fallback()
    assert "After step 4 the state is R, and the tape head is on cell 2, which holds *." in shown
    assert "<tr><td>wcm21</td><td>4</td><td>Kept in the columns so far: 2. The columns, by the symbol" in shown
    assert "<tr><td>merrill24</td><td>4</td><td>Kept in the columns so far: 4. The columns, by the symbol" in shown
    assert "<tr><td>ss95</td><td>12</td><td>Kept in the vector: st[R *]. The vector, without what is 0" in shown
    assert "<tr><td>li24</td><td>89</td><td>Kept in the tokens: 31, 33, 35, 70, 71. The bits of the word" in shown
    assert "<tr><td>conv</td><td>4</td><td>Kept in the cells: 2. The row itself" in shown
    assert "Kept in the newest token: sym2[(]. The tokens" in SameStep("balanced_parentheses", 3).fallback()
    assert "Nowhere: the cell is new, and blank. The columns" in SameStep("bb3").fallback()
    hostile = SameStep(machines={"<i>": NAMED})
    assert "<b>" not in hostile.fallback()
    assert HOSTILE not in html(hostile)


def test_rows_are_numbered_as_in_the_chapters():
    found = networks(SameStep(), "balanced_parentheses")
    first = {name: each["first"] for name, each in found.items() if "first" in each}
    assert first == {"perez21": {"causal": 1}, "merrill24": {"causal": 1, "cross": -1}}
    for step, now in enumerate(turing.zoo["balanced_parentheses"].trace("B()E")):
        shown = SameStep("balanced_parentheses", step).fallback()
        if found["merrill24"]["steps"][step][1][0][0] == "word":  # its rows have the numbers of their cells
            assert f"<td>Kept in the word: {now.head}. The columns" in shown
    left = turing.TuringMachine({("A", "0"): ("A", "1", -1), ("A", "1"): ("A", "0", -1)}, "A", (), "0")
    assert "Kept in the word: −1. The columns" in SameStep("left", 1, {"left": (left, "1")}).fallback()


def test_a_kernel_can_set_what_the_reader_sets():
    widget = SameStep("bb3", 20)
    widget.machine = "parity"
    assert (widget.machine, widget.step) == ("parity", 4)
    widget.step = 1
    assert repr(widget) == "SameStep('parity', step=1)"


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: SameStep("bb9"), ValueError, "bb3, balanced_parentheses, parity, and 'bb9' was given"),
        (lambda: SameStep("bb3", 22), ValueError, "from step 0 to step 21, and step=22 was given"),
        (lambda: SameStep("bb3", True), ValueError, "from step 0 to step 21, and step=True was given"),
        (lambda: SameStep(machines={}), TypeError, "a dictionary of machines by name, and {} was given"),
        (lambda: SameStep(machines={"a": "bb2"}), TypeError, "in a pair with a word, and 'bb2' was given"),
        (lambda: SameStep(machines={"a": (NAMED, "x")}), ValueError, "Symbol 'x' (cell 0 of the word)"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_a_message_that_helps(make, error, message):
    with pytest.raises(error, match=re.escape(message)):
        make()
