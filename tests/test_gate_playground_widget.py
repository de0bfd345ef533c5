"""The Python side of the gate playground: the library's own numbers, and what is refused."""

import re

import pytest
import torch

from turing import gates
from turing.ir import of, to_dict
from turing.widgets import GatePlayground
from turing.widgets.gate_playground.widget import CORNERS, GATES, _neurons

NETWORKS = {"AND": gates.AND(2), "NOR": gates.NOR(2), "OR": gates.OR(2), "NAND": gates.NAND(2), "XOR": gates.XOR()}


def outputs(weights, bias, then_not):
    """What the neuron gives on the four corners, by torch."""
    layers = [gates.Layer([weights], [bias]), *([gates.NOT()] if then_not else [])]
    return torch.nn.Sequential(*layers)(torch.tensor(CORNERS)).flatten().tolist()


def known(name):
    return {gate["name"]: gate for gate in GatePlayground().library["gates"]}[name]


def test_the_gates_come_in_the_order_of_the_chapter():
    assert tuple(gate["name"] for gate in GatePlayground().library["gates"]) == GATES


def test_the_target_of_not_is_the_negation_of_a():
    assert known("NOT")["targets"] == [1 - a for a, _ in CORNERS]


@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_targets_are_what_the_library_computes(name):
    assert known(name)["targets"] == NETWORKS[name](torch.tensor(CORNERS)).flatten().tolist()


@pytest.mark.parametrize("name", [name for name in GATES if name != "XOR"])
def test_the_neuron_of_a_gate_computes_it(name):
    (weights, bias), *rest = _neurons(known(name)["network"])
    assert outputs(weights, bias, bool(rest)) == known(name)["targets"]


def test_the_networks_are_those_of_the_library_and_xor_has_no_neuron_of_its_own():
    for name, network in NETWORKS.items():
        assert known(name)["network"] == to_dict(network)
    assert _neurons(known("XOR")["network"]) == []


def test_the_second_neuron_is_the_librarys_not():
    assert GatePlayground().library["negation"] == to_dict(gates.NOT())
    for name in ("OR", "NAND"):
        assert of(NETWORKS[name]).layers[1].rows == of(gates.NOT()).layers[0].rows


def test_what_is_set_is_kept_to_two_decimals_and_can_be_read_back():
    playground = GatePlayground("NAND", weights=[1 / 3, -2], bias=-0.001, then_not=True)
    assert (playground.gate, playground.weights, playground.bias) == ("NAND", [0.33, -2], 0)
    assert str(playground.bias) == "0.0"
    playground.weights, playground.bias, playground.gate, playground.then_not = (1, 2.5), -3, "XOR", False
    assert (playground.weights, playground.bias, playground.gate) == ([1, 2.5], -3, "XOR")
    assert repr(playground) == "GatePlayground('XOR', weights=(1, 2.5), bias=-3)"


def test_what_the_page_sets_arrives():
    playground = GatePlayground()
    playground.set_state({"gate": "OR", "weights": [-1, -1], "bias": 1, "then_not": True})
    assert repr(playground) == "GatePlayground('OR', weights=(-1, -1), bias=1, then_not=True)"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"gate": "XNOR"}, "gate is one of NOT, AND, NOR, OR, NAND, XOR, and 'XNOR' was given."),
        ({"gate": "and"}, "gate is one of NOT, AND, NOR, OR, NAND, XOR, and 'and' was given."),
        ({"gate": None}, "and None was given."),
        ({"weights": (1, 2, 3)}, "weights are two numbers from −3 to 3, one for a and one for b, and (1, 2, 3)"),
        ({"weights": (1, 3.01)}, "and (1, 3.01) was given."),
        ({"weights": (1, "2")}, "and (1, '2') was given."),
        ({"weights": (True, 1)}, "and (True, 1) was given."),
        ({"weights": (float("nan"), 1)}, "and (nan, 1) was given."),
        ({"weights": 1}, "and 1 was given."),
        ({"bias": -4}, "bias is a number from −3 to 3, and -4 was given."),
        ({"bias": float("inf")}, "and inf was given."),
        ({"bias": False}, "and False was given."),
        ({"bias": "1"}, "and '1' was given."),
        ({"then_not": 0}, "then_not is True or False, and 0 was given."),
    ],
)
def test_bad_input_is_refused_with_a_message_that_helps_and_the_old_value_stays(given, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        GatePlayground(**given)
    playground = GatePlayground()
    ((name, value),) = given.items()
    before = repr(playground)
    with pytest.raises(ValueError, match=re.escape(message)):
        setattr(playground, name, value)
    assert repr(playground) == before


@pytest.mark.parametrize("name", GATES)
def test_the_fallback_shows_the_truth_table_of_the_gate(name):
    rows = re.findall(r"<tr><td>(\d)</td><td>(\d)</td><td>(\d)</td></tr>", GatePlayground(name).fallback())
    assert [[int(bit) for bit in row] for row in rows] == [
        [*corner, target] for corner, target in zip(CORNERS, known(name)["targets"], strict=True)
    ]


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("NOT", "<code>out = ReLU(−1·a + 0·b + 1)</code>"),
        ("AND", "<code>out = ReLU(1·a + 1·b − 1)</code>"),
        ("OR", "<code>h = ReLU(−1·a − 1·b + 1)</code>, <code>out = ReLU(1 − h)</code>"),
        ("XOR", "z(0,1) + z(1,0) = z(0,0) + z(1,1)"),
    ],
)
def test_the_fallback_gives_the_formula_or_the_reason_why_there_is_none(name, formula):
    assert formula in GatePlayground(name, weights=(3, 3), bias=3).fallback()
