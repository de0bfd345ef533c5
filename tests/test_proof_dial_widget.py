"""The proof dial: what it hands to the page, its fallback and its messages."""

import pytest
import torch
from every_widget import every_form, html, state

import turing
from turing import ir
from turing.proof import prove
from turing.widgets import ProofDial

WEIGHTS = {"value": ("pipeline.visited.value.bias", 0), "null key": ("pipeline.last.null_key", 3)}


def proof(**changes):
    network = turing.compile(turing.zoo["bb2"], "wcm21", T=8, adder="lookahead")
    with torch.no_grad():
        for name, value in changes.items():
            network.pipeline["visited"].get_parameter(name)[:] = value
    return prove(network)


@pytest.fixture(scope="module")
def dial():
    return ProofDial(proof(), WEIGHTS)


def test_the_page_carries_the_network_and_the_intervals_of_the_library(dial):
    carried, found = state(dial), proof()
    assert carried["network"] == ir.to_dict(found.network)
    _, weight = carried["weights"]
    low, high, grid = found.interval(*WEIGHTS["null key"])
    assert low == -float("inf")
    assert weight == {
        "label": "null key", "name": "pipeline.last.null_key", "place": [3], "value": 1.0, "low": None, "high": high,
        "grid": grid,
    }  # fmt: skip
    assert dial.intervals["null key"].high == high


def test_the_fallback_has_the_intervals(dial):
    assert "<td>null key</td><td>1</td><td>any</td><td>1.48438</td>" in dial.fallback()
    assert repr(dial) == "ProofDial(value, null key)"


def test_names_cannot_end_the_script():
    page = html(every_form("ProofDial")[1])
    assert page.split('<script type="module">')[1].count("<") == 1


def test_a_kernel_can_set_what_the_reader_sets(dial):
    dial.value = 0.5
    dial.chosen = 1
    assert dial.value == 1
    with pytest.raises(ValueError, match="There are 2 weights"):
        dial.chosen = 2
    with pytest.raises(ValueError, match=r"goes from -1 to 3; 3\.5 was given"):
        dial.value = 3.5


def test_what_is_no_proof_is_refused():
    with pytest.raises(TypeError, match="WCM21 network"):
        ProofDial(turing.zoo["bb2"], WEIGHTS)
    with pytest.raises(TypeError, match="WCM21 network"):
        ProofDial(prove(turing.compile(turing.zoo["bb2"], "ss95")), WEIGHTS)
    with pytest.raises(ValueError, match="takes weights by name"):
        ProofDial(proof(), {})
    with pytest.raises(ValueError, match="this network is refuted"):
        ProofDial(proof(null_key=9), WEIGHTS)
