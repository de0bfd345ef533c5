"""The gate playground: one ReLU neuron with two inputs, and the gate that it is to become."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from numbers import Real
from typing import Any

import traitlets

from turing.widgets.base import Widget, read, style

__all__ = ["GatePlayground"]

GATES = ("NOT", "AND", "NOR", "OR", "NAND", "XOR")
CORNERS = ((0, 0), (0, 1), (1, 0), (1, 1))
LARGEST = 3  # of a weight or a bias, either way


@cache
def _library() -> dict:
    """The gates for the ES module: targets and solutions as the library has them, and the neuron of NOT.

    A solution is one neuron, or one and then NOT. XOR has none.
    """
    import torch

    from turing import gates
    from turing.network import layers_of

    negation = layers_of(gates.NOT())[0]
    networks: list[Any] = [gates.Layer([[*negation.weight[0], 0]], negation.bias)]  # NOT of a, with b left aside
    networks += [gates.AND(2), gates.NOR(2), gates.OR(2), gates.NAND(2), gates.XOR()]
    known = []
    for name, network in zip(GATES, networks, strict=True):
        first, *rest = layers_of(network)
        alone = len(first.weight) == 1
        solution = {"weights": first.weight[0], "bias": first.bias[0], "then_not": bool(rest)} if alone else None
        targets = network(torch.tensor(CORNERS)).flatten().int().tolist()
        known.append({"name": name, "targets": targets, "solution": solution})
    return {"gates": known, "negation": {"weight": negation.weight[0][0], "bias": negation.bias[0]}}


class GatePlayground(Widget):
    """Set two weights and a bias until the neuron is the gate, on all four rows of its truth table.

    ``gate`` is the target: NOT (of a), AND, NOR, OR, NAND or XOR. With ``then_not`` a second neuron,
    NOT, follows. ``weights`` and ``bias`` lie in −3…3 and are kept to two decimals. In a live kernel
    all four follow the reader, and setting them moves the widget.

    >>> GatePlayground("OR", weights=(-1, -1), bias=1, then_not=True)
    GatePlayground('OR', weights=(-1, -1), bias=1, then_not=True)

    Chapter: :doc:`/book/01_gates`.
    """

    _esm = read("gate_playground.js")
    _css = style("gate_playground.css")

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
        solution, name = known["solution"], "NOT a" if self.gate == "NOT" else self.gate
        rows = "\n".join(
            f"<tr><td>{a}</td><td>{b}</td><td>{target}</td></tr>"
            for (a, b), target in zip(CORNERS, known["targets"], strict=True)
        )
        if solution is None:
            says = (
                f"No single neuron is {name}, with a NOT behind it or without: whatever the weights, "
                "z(0,1) + z(1,0) = z(0,0) + z(1,1), where z is what ReLU is applied to."
            )
        else:
            (first, second), bias = solution["weights"], solution["bias"]
            neuron = f"ReLU({_plain(first)}·a {_term(second)}·b {_term(bias)})"
            negation = f"ReLU({_plain(self.library['negation']['bias'])} − h)"
            says = f"<code>out = {neuron}</code>"
            if solution["then_not"]:
                says = f"<code>h = {neuron}</code>, <code>out = {negation}</code>"
        return (
            f"<table>\n<thead><tr><th>a</th><th>b</th><th>{name}</th></tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>\n"
            f"<p>{says}</p>\n<p>With scripts on, the page lets you set the weights yourself; "
            f"in Python, <code>turing.gates.{self.gate}</code> is the gate.</p>"
        )

    def __repr__(self) -> str:
        first, second = map(_short, self.weights)
        behind = ", then_not=True" if self.then_not else ""
        return f"GatePlayground({self.gate!r}, weights=({first}, {second}), bias={_short(self.bias)}{behind})"


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
