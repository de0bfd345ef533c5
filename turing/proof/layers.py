"""Layers on decision diagrams: what a network of linear layers makes of every input at once.

The first layer of this network has a detector for each state q and each symbol a. The variables are the state, A or
B, and the symbol, 0 or 1. In the column, the places of the bits stay 0:

>>> import turing
>>> from turing.proof import Diagrams
>>> from turing.proof.exactness import Precision
>>> from turing.proof.layers import run
>>> net = turing.compile(turing.zoo["bb2"], "wcm21", T=8, adder="lookahead")
>>> (layer,) = net.ir().modules[0].parts
>>> d = Diagrams({"q": 2, "a": 2})
>>> column = [d.zero] * layer.width_in
>>> for name, labels, places in ("q", "AB", net.layout.st), ("a", "01", net.layout.sym1):
...     for label in labels:
...         column[places[label]] = d.variable(name, [float(label == other) for other in labels])
>>> found = run(d, [layer], column, Precision("float32"))
>>> d.table(found[layer.outputs.det["B 0"]], ["q", "a"])  # for A 0, A 1, B 0 and B 1
[0.0, 0.0, 1.0, 0.0]

Chapter: :doc:`/book/all-words`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache

from turing import ir
from turing.proof.diagrams import Diagrams
from turing.proof.exactness import Precision

__all__ = ["run", "slices"]


def relu(value: float) -> float:
    return max(value, 0.0)


def clamp(value: float) -> float:
    return min(max(value, 0.0), 1.0)


ACTIVATIONS: dict[str, Callable[[float], float] | None] = {"none": None, "relu": relu, "clamp": clamp}


@cache
def times(weight: float) -> Callable[[float], float]:
    return lambda value: weight * value


@cache
def size_of(weight: float) -> Callable[[float], float]:
    return lambda value: abs(weight * value)


def slices(layers: Sequence[ir.Layer], wanted: Iterable[int]) -> tuple[list[set[int]], set[int]]:
    """The places that the ``wanted`` outputs depend on: those of what each layer gives, and those of the input."""
    found, now = [], set(wanted)
    for layer in reversed(layers):
        found.append(now)
        now = {j for i in now for j, _ in layer.rows[i].terms}
    return found[::-1], now


def run(d: Diagrams, layers: Sequence[ir.Layer], column: list[int], precision: Precision) -> list[int]:
    """Layers on diagrams in place of numbers; raises where floats may round.

    Chapter: :doc:`/book/all-words`.
    """
    wanted, _ = slices(layers, range(layers[-1].width_out))
    for layer, places in zip(layers, wanted, strict=True):
        activation = ACTIVATIONS[layer.activation]
        found = [d.zero] * layer.width_out
        for i in places:
            terms, bias = layer.rows[i]
            if len(terms) == 1 and terms[0][1] == 1 and bias == 0:
                total = column[terms[0][0]]
            else:
                read = [(float(weight), column[j]) for j, weight in terms]
                total = row(d, read, float(bias), precision, layer, i)
            found[i] = total if activation is None else d.map(activation, total)
        column = found
    return column


def row(
    d: Diagrams, terms: list[tuple[float, int]], bias: float, precision: Precision, layer: ir.Layer, place: int
) -> int:
    """A row of a layer as one diagram."""
    values = [(weight, d.leaves(node)) for weight, node in terms]
    numbers = [(1.0, (bias,)), *values]
    bound = abs(bias) + sum(max(abs(weight * value) for value in leaves) for weight, leaves in values)
    if precision.bits_for(numbers, bound) > precision.bits:  # not all of these occur together
        sizes = d.sum([d.leaf(abs(bias)), *(d.map(size_of(weight), node) for weight, node in terms)])
        bound = max(d.leaves(sizes))
    precision.check(numbers, bound, f"{layer.name}, row {layer.outputs.name(place)},")
    return d.sum([*(node if weight == 1 else d.map(times(weight), node) for weight, node in terms), d.leaf(bias)])
