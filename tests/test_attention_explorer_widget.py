"""The Python side of the attention explorer: what it hands to a page, and what it refuses."""

import re

import pytest
import torch
import traitlets
from every_widget import state

from turing.attention import least_kappa
from turing.widgets import AttentionExplorer


def test_the_page_carries_the_settings_and_the_least_kappas_of_the_library():
    carried = state(AttentionExplorer(2, keys=[("10", 1), ("11", 0)], query="01", kappa=300, dtype="float64"))
    presets = carried.pop("presets")
    assert carried == {
        "bits": 2,
        "query": "01",
        "pairs": [["10", 1], ["11", 0]],
        "kappa": 300.0,
        "average": "ratio",
        "dtype": "float64",
        "least": {"float32": least_kappa(torch.float32), "float64": least_kappa(torch.float64)},
    }
    assert [preset["name"] for preset in presets] == ["One match", "No match", "Small κ", "The tie that breaks it"]


@pytest.mark.parametrize("bits", range(1, 9))
def test_each_example_is_what_its_name_says(bits):
    one, none, small, tie = AttentionExplorer(bits).presets
    matches = [sum(key == preset["query"] for key, _ in preset["pairs"]) for preset in (one, none, small, tie)]
    assert matches == [1, 0, 1, 10]
    assert [preset["kappa"] for preset in (one, none, small, tie)] == [9999, 9999, 4, 9999]
    assert (tie["average"], tie["dtype"]) == ("literal", "float32")
    for name, error in ((one, 0), (none, 0), (tie, 2.0**-23)):
        settings = {key: name[key] for key in ("query", "kappa", "average", "dtype")}
        *_, result, hard = AttentionExplorer(bits, keys=name["pairs"], **settings)._attend()
        assert result - hard == error


def test_at_first_one_key_matches_and_the_sum_is_a_ratio():
    first = AttentionExplorer()
    assert (first.bits, first.query, first.kappa, first.average, first.dtype) == (3, "101", 9999, "ratio", "float32")
    assert first.pairs == first.presets[0]["pairs"]


def test_the_plain_text_makes_the_widget_again():
    for widget in (AttentionExplorer(), AttentionExplorer(2, kappa=1.1, average="literal", dtype="float64")):
        again = eval(repr(widget))
        assert state(again) == state(widget)
    assert repr(AttentionExplorer(1, keys=[("1", 0)])) == (
        "AttentionExplorer(1, keys=[('1', 0)], query='1', kappa=9999, average='ratio', dtype='float32')"
    )


def test_the_fallback_shows_keys_values_scores_and_weights_and_what_comes_out():
    shown = AttentionExplorer(3, keys=[("101", 1)] * 10 + [("001", 1)], average="literal").fallback()
    assert "<p>Query 101, κ = 9999, float32, literal</p>" in shown
    assert "<tr><th>key</th><th>value</th><th>score</th><th>weight</th></tr>" in shown
    assert shown.count("<tr><td>101</td><td>1</td><td>1.5</td><td>0.1</td></tr>") == 10
    assert "<tr><td>001</td><td>1</td><td>0.5</td><td>0</td></tr>" in shown
    assert "<tr><td>null key</td><td>0</td><td>1</td><td>0</td></tr>" in shown
    assert "<p>Result 1.00000012, hard attention 1, error 1.19e-07</p>" in shown
    mixed = AttentionExplorer(3, keys=[("101", 1), ("101", 0), ("101", 0)], dtype="float64").fallback()
    assert "<p>Result 0.333333333, hard attention 0.333333333, error 0</p>" in mixed


def test_a_kernel_sets_every_part_and_hears_of_the_page():
    widget = AttentionExplorer(2)
    widget.query, widget.pairs, widget.kappa = "11", [("11", 1), ("00", 0)], 208
    assert (widget.query, widget.pairs, widget.kappa) == ("11", [["11", 1], ["00", 0]], 208.0)
    widget.set_state({"pairs": [["10", 0]], "average": "literal", "dtype": "float64", "kappa": 5})
    assert (widget.pairs, widget.average, widget.dtype, widget.kappa) == ([["10", 0]], "literal", "float64", 5.0)
    for name in ("bits", "least", "presets"):
        with pytest.raises(traitlets.TraitError, match="read-only"):
            setattr(widget, name, getattr(widget, name))


BAD = [
    ({"bits": 0}, "AttentionExplorer takes 1 to 8 bits, and bits=0 was given."),
    ({"bits": 9}, "AttentionExplorer takes 1 to 8 bits, and bits=9 was given."),
    ({"bits": True}, "AttentionExplorer takes 1 to 8 bits, and bits=True was given."),
    ({"bits": "3"}, "AttentionExplorer takes 1 to 8 bits, and bits='3' was given."),
    ({"query": "10"}, "The query is a string of 3 bits, such as \"101\", and '10' was given."),
    ({"query": "102"}, "The query is a string of 3 bits, such as \"101\", and '102' was given."),
    ({"query": 5}, 'The query is a string of 3 bits, such as "101", and 5 was given.'),
    ({"keys": []}, "There are 1 to 16 keys besides the null key, and 0 were given."),
    ({"keys": [("101", 1)] * 17}, "There are 1 to 16 keys besides the null key, and 17 were given."),
    ({"keys": ["101"]}, "a list of pairs of a key and its value, such as (\"101\", 1), not ['101']."),
    ({"keys": "101"}, "a list of pairs of a key and its value, such as (\"101\", 1), not '101'."),
    ({"keys": [("1010", 1)]}, "A key is a string of 3 bits, such as \"101\", and '1010' was given."),
    ({"keys": [([1, 0, 1], 1)]}, 'A key is a string of 3 bits, such as "101", and [1, 0, 1] was given.'),
    ({"keys": [("101", 2)]}, "The value of a key is 0 or 1, and 2 was given with the key 101."),
    ({"keys": [("101", True)]}, "The value of a key is 0 or 1, and True was given with the key 101."),
    ({"kappa": 0}, "κ is a number from 1 to 9999 here, and 0 was given."),
    ({"kappa": 10000}, "κ is a number from 1 to 9999 here, and 10000 was given."),
    ({"kappa": float("nan")}, "κ is a number from 1 to 9999 here, and nan was given."),
    ({"kappa": "9"}, "κ is a number from 1 to 9999 here, and '9' was given."),
    ({"kappa": True}, "κ is a number from 1 to 9999 here, and True was given."),
    ({"average": "mean"}, 'average is "ratio" or "literal", and \'mean\' was given.'),
    ({"dtype": "float16"}, 'dtype is "float32" or "float64", and \'float16\' was given.'),
    ({"dtype": torch.float32}, 'dtype is "float32" or "float64", and torch.float32 was given.'),
]


@pytest.mark.parametrize(("given", "message"), BAD, ids=[str(given)[:40] for given, _ in BAD])
def test_bad_input_is_refused_with_a_message_that_helps(given, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        AttentionExplorer(**given)


def test_a_setting_that_does_not_fit_is_refused_and_the_old_one_stays():
    widget = AttentionExplorer()
    for given, message in BAD[4:]:
        ((name, value),) = given.items()
        name = {"keys": "pairs"}.get(name, name)
        before = getattr(widget, name)
        with pytest.raises(ValueError, match=re.escape(message)):
            setattr(widget, name, value)
        assert getattr(widget, name) == before
