"""The Python side of the average compass: what it hands to a page, and what it refuses."""

import json
import re

import pytest
from every_widget import state

from turing.ir import to_dict
from turing.perez import Perez21
from turing.widgets import AverageCompass
from turing.widgets.average_compass.widget import RUNS


def test_the_page_carries_the_networks_of_the_runs_and_the_choice():
    carried = state(AverageCompass("parentheses", 40, "exact"))
    assert {name: carried[name] for name in ("run", "i", "arithmetic")} == {
        "run": "parentheses", "i": 40, "arithmetic": "exact"
    }  # fmt: skip
    assert set(carried) == {"run", "i", "arithmetic", "runs"}
    for run, (name, (make, word, passes)) in zip(carried["runs"], RUNS.items(), strict=True):
        network = Perez21(make())
        assert (run["name"], run["passes"]) == (name, passes)
        assert run["file"] == json.loads(json.dumps(to_dict(network)))
        assert run["start"]["column"] == list(network.initial(word))
        assert run["start"]["word"] == [[row.numerators, row.denominator] for row in network.encode(word)]


def test_the_plain_text_makes_the_widget_again():
    for widget in (AverageCompass(), AverageCompass("busy beaver", 77, "float64")):
        assert state(eval(repr(widget))) == state(widget)
    assert repr(AverageCompass()) == "AverageCompass('zigzag', i=12, arithmetic='float32')"


def test_the_fallback_shows_the_moves_and_the_best_scores():
    shown = AverageCompass(i=12).fallback()
    assert "→ ← → → → ← → → ← → → ←" in shown
    assert "Their average is 4/12, so the tape head comes to cell 4." in shown
    rows = re.findall(r"<tr><td>(.*?)</td><td>(.*?)</td><td>(.*?)</td></tr>", shown)
    assert rows[:3] == [("11", "4", "-1/1584"), ("9", "4", "-1/1296"), ("12", "5", "-35/1728")]
    assert len(rows) == 5


def test_a_kernel_sets_every_part_and_hears_of_the_page():
    widget = AverageCompass()
    widget.run, widget.i, widget.arithmetic = "busy beaver", 500, "exact"
    widget.run = "zigzag"
    assert (widget.i, widget.arithmetic) == (340, "exact")
    widget.set_state({"run": "parentheses", "i": 400, "arithmetic": "float32"})
    assert (widget.run, widget.i, widget.arithmetic) == ("parentheses", 400, "float32")


BAD = [
    ({"run": "bb5"}, "run is one of zigzag, busy beaver, parentheses, and 'bb5' was given."),
    ({"arithmetic": "float16"}, "arithmetic is one of exact, float64, float32, and 'float16' was given."),
    ({"i": 0}, "i is the number of a pass, 1 to 340 in this run, and 0 was given."),
    ({"i": 341}, "i is the number of a pass, 1 to 340 in this run, and 341 was given."),
    ({"i": True}, "i is the number of a pass, 1 to 340 in this run, and True was given."),
    ({"i": "3"}, "i is the number of a pass, 1 to 340 in this run, and '3' was given."),
]


@pytest.mark.parametrize(("given", "message"), BAD, ids=[str(given) for given, _ in BAD])
def test_bad_input_is_refused_with_a_message_that_helps(given, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        AverageCompass(**given)
    ((name, value),) = given.items()
    widget = AverageCompass()
    before = getattr(widget, name)
    with pytest.raises(ValueError, match=re.escape(message)):
        setattr(widget, name, value)
    assert getattr(widget, name) == before
