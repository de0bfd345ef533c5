"""The gate playground: one ReLU neuron with two inputs, and the gate that it should become."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from numbers import Real
from typing import Any

import traitlets

from turing.widgets.base import Widget, joined, style, table

__all__ = ["GatePlayground"]

GATES = ("NOT", "AND", "NOR", "OR", "NAND", "XOR")
CORNERS = ((0, 0), (0, 1), (1, 0), (1, 1))
LARGEST = 3  # of a weight or a bias, either way


@cache
def _library() -> dict:
    """The gates for the ES module: what each gives at the corners, the network that the library has for it, and NOT."""
    import torch

    from turing import gates
    from turing.ir import of, to_dict

    negation = of(gates.NOT()).layers[0]
    ignoring_b = [[*negation.weight.values[0].tolist(), 0]]
    networks: list[Any] = [gates.Layer(ignoring_b, negation.bias.values.tolist())]  # NOT of a
    networks += [gates.AND(2), gates.NOR(2), gates.OR(2), gates.NAND(2), gates.XOR()]
    known = []
    for name, network in zip(GATES, networks, strict=True):
        targets = network(torch.tensor(CORNERS)).flatten().int().tolist()
        known.append({"name": name, "targets": targets, "network": to_dict(network)})
    return {"gates": known, "negation": to_dict(gates.NOT())}


def _neurons(network: dict) -> list[tuple[list[float], float]]:
    """The weights and the bias of each neuron, if every layer has one neuron; otherwise nothing."""
    found = []
    for module in network["modules"]:
        (layer,) = module["layers"]
        weight, bias = (network["weights"][layer[part]] for part in ("weight", "bias"))
        rows, columns = weight["shape"]
        if rows > 1:
            return []
        numbers = {column: value for _, column, value in weight["values"]}
        constant = bias["values"][0][1] if bias["values"] else 0
        found.append(([numbers.get(column, 0) for column in range(columns)], constant))
    return found


class GatePlayground(Widget):
    """Set two weights and a bias until the neuron is the gate, on all four rows of its truth table.

    ``gate`` is the target: NOT (of a), AND, NOR, OR, NAND or XOR. With ``then_not`` a second neuron, NOT, follows.
    ``weights`` and ``bias`` lie in −3…3 and are kept to two decimals. All four are live.

    Example::

        GatePlayground("OR", weights=(-1, -1), bias=1, then_not=True)

    Chapter: :doc:`/book/gates`.
    """

    _esm = joined("gate_playground/widget.js")
    _css = style("page/neurons.css", "gate_playground/widget.css")

    library = traitlets.Dict(read_only=True).tag(sync=True)
    # Plain traits: the validators below say what is expected, None included.
    gate: traitlets.TraitType[str, str] = traitlets.TraitType("AND").tag(sync=True)
    weights: traitlets.TraitType[list[float], Sequence[float]] = traitlets.TraitType([0.5, 0.5]).tag(sync=True)
    bias: traitlets.TraitType[float, float] = traitlets.TraitType(0.0).tag(sync=True)
    then_not: traitlets.TraitType[bool, bool] = traitlets.TraitType(False).tag(sync=True)

    def __init__(
        self, gate: str = "AND", weights: Sequence[float] = (0.5, 0.5), bias: float = 0, then_not: bool = False
    ):
        self.set_trait("library", _library())
        super().__init__()
        self.gate, self.weights, self.bias, self.then_not = gate, weights, bias, then_not

    @traitlets.validate("gate")
    def _valid_gate(self, proposal: dict) -> str:
        if proposal["value"] not in GATES:
            raise ValueError(f"gate is one of {', '.join(GATES)}, and {proposal['value']!r} was given.")
        return proposal["value"]

    @traitlets.validate("weights")
    def _valid_weights(self, proposal: dict) -> list[float]:
        given = proposal["value"]
        if not isinstance(given, (list, tuple)) or len(given) != 2 or not all(map(_fits, given)):
            raise ValueError(
                f"weights are two numbers from −{LARGEST} to {LARGEST}, one for a and one for b, "
                f"and {given!r} was given."
            )
        return [_kept(weight) for weight in given]

    @traitlets.validate("bias")
    def _valid_bias(self, proposal: dict) -> float:
        if not _fits(proposal["value"]):
            raise ValueError(f"bias is a number from −{LARGEST} to {LARGEST}, and {proposal['value']!r} was given.")
        return _kept(proposal["value"])

    @traitlets.validate("then_not")
    def _valid_then_not(self, proposal: dict) -> bool:
        if not isinstance(proposal["value"], bool):
            raise ValueError(f"then_not is True or False, and {proposal['value']!r} was given.")
        return proposal["value"]

    def fallback(self) -> str:
        known = self.library["gates"][GATES.index(self.gate)]
        neurons, name = _neurons(known["network"]), "NOT a" if self.gate == "NOT" else self.gate
        if not neurons:
            says = (
                f"No single neuron is {name}, with a NOT after it or without: whatever the weights, "
                "z(0,1) + z(1,0) = z(0,0) + z(1,1), where z is what ReLU is applied to."
            )
        else:
            ((first, second), bias), *rest = neurons
            neuron = f"ReLU({_plain(first)}·a {_term(second)}·b {_term(bias)})"
            says = f"<code>out = {neuron}</code>"
            if rest:
                says = f"<code>h = {neuron}</code>, <code>out = ReLU({_plain(rest[0][1])} − h)</code>"
        return (
            table(
                ("a", "b", name), [(*corner, target) for corner, target in zip(CORNERS, known["targets"], strict=True)]
            )
            + f"<p>{says}</p>\n<p>With scripts on, the page lets you set the weights yourself; "
            f"in Python, <code>turing.gates.{self.gate}</code> is the gate.</p>"
        )

    def __repr__(self) -> str:
        first, second = map(_short, self.weights)
        then_not = ", then_not=True" if self.then_not else ""
        return f"GatePlayground({self.gate!r}, weights=({first}, {second}), bias={_short(self.bias)}{then_not})"


def _fits(number: Any) -> bool:
    real = isinstance(number, Real) and not isinstance(number, bool)
    return real and -LARGEST <= number <= LARGEST


def _kept(number: float) -> float:
    return round(float(number), 2) + 0.0  # no negative zero


def _short(number: float) -> float | int:
    return int(number) if number == math.floor(number) else number


def _plain(number: float) -> str:
    return str(_short(number)).replace("-", "−")


def _term(number: float) -> str:
    """The number as a further term of a sum."""
    return f"{'−' if number < 0 else '+'} {_plain(abs(number))}"
