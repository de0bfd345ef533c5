"""What a row of weights computes: its gate, and the truth table of the place that it writes.

A ReLU neuron that is 0 or 1 on all 0/1 inputs is an AND of literals, or it is 0. So its gate is found by a rule,
however many inputs it has. What a place is of the network's inputs is found from its truth table.

Chapter: :doc:`/book/gates`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from turing.ir import Row
from turing.views.names import function, gate, needed

MAX_INPUTS = 10  # of a truth table; ten make 1024 rows
# A neuron times 0.3, undone by 1/0.3 in the next layer, is the same gate up to the rounding of float32, 6e-8 or so.
# So a millionth of the largest number in a row counts as nothing. A weight of 0.999 for 1 is not rounding, and counts.
CLOSE = 1e-6


class Place(NamedTuple):
    """What a place holds, as far as that is known."""

    values: list[float] | Any  # for all values of the inputs, the first changing fastest; None if they are too many
    inputs: tuple[int, ...] = ()  # the network's inputs on which the values depend
    one: float | Any = None  # it holds 0 and this and nothing else; None if that is not so, or not known

    def left(self) -> float:
        """How far its values are from 0 and from one, by rounding."""
        known = self.values if self.one is not None else None
        return max((min(abs(value), abs(value - self.one)) for value in known or ()), default=0.0)

    def named(self, names: Sequence[str]) -> str:
        """What it is of the network's inputs, or "" if that has no name."""
        if self.values is None or self.one is None:
            return ""
        bits = [value > self.one / 2 for value in self.values]
        return _times(self.one, function(bits, [names[i] for i in self.inputs]))


ZERO = Place([0.0], one=1.0)
UNKNOWN = Place(None)


def read(row: Row, relu: bool, places: Sequence[Place], names: Sequence[str]) -> tuple[str, Place]:
    """The gate that a row is, or "" if it is not one; and what its place then holds."""
    bias, terms = float(row.bias), [(places[j], float(weight)) for j, weight in row.terms]
    literals = [(names[j], weight > 0) for j, weight in row.terms]
    bits = all(place.one is not None for place, _ in terms)
    one = _conjunction([weight * place.one for place, weight in terms], bias, relu) if bits else None
    if one == 0:
        return "0", ZERO
    name = "" if one is None else _times(one, gate("AND", literals))
    known = all(place.values is not None for place, _ in terms)
    inputs = sorted({i for place, _ in terms for i in place.inputs}) if known else []
    if not known or len(inputs) > MAX_INPUTS:
        return name, Place(None, one=one)

    tables = [_spread(place, inputs) for place, _ in terms]
    values, sizes = [bias] * 2 ** len(inputs), [abs(bias)] * 2 ** len(inputs)
    for (_, weight), table in zip(terms, tables, strict=True):
        values = [value + weight * x for value, x in zip(values, table, strict=True)]
        sizes = [max(size, abs(weight * x)) for size, x in zip(sizes, table, strict=True)]
    if relu:
        values = [max(0.0, value) for value in values]
    # What rounding may leave in each row: of the numbers added there, and of what was left in the places read.
    read_here = [x for table in tables for x in table]
    close = 0.0 if _integers(bias, *(weight for _, weight in terms), *read_here) else CLOSE
    left, top = 2 * sum(abs(weight) * place.left() for place, weight in terms), max(values)
    if all(abs(value) <= close * size + left for value, size in zip(values, sizes, strict=True)):
        return name, ZERO
    near = (min(abs(x), abs(x - top)) <= close * max(size, top) for x, size in zip(values, sizes, strict=True))
    if top < 0 or not all(near):
        name, one = "", None  # even of a gate, where rounding has added up over many layers
    elif one is None:
        one = top
        if bits:
            name = _times(one, _of_those_that_occur(terms, tables, [value > one / 2 for value in values], literals))
    return name, Place(*needed(values, inputs), one)


def _of_those_that_occur(
    terms: list[tuple[Place, float]], tables: list[list[float]], bits: list[bool], literals: list[tuple[str, bool]]
) -> str:
    """The gate that a row is on those bits that occur together: a sum is an OR if no two are 1 at once."""
    columns = [
        [(x > place.one / 2) == (weight > 0) for x in table]
        for (place, weight), table in zip(terms, tables, strict=True)
    ]
    for kind, holds in (("OR", any), ("AND", all)):
        if bits == [holds(row) for row in zip(*columns, strict=True)]:
            return gate(kind, literals)
    return ""


def _conjunction(weights: list[float], bias: float, relu: bool) -> float | None:
    """M if a row is M times an AND with a literal for each weight, 0 if it is always 0; otherwise None.

    The sum is at its greatest, M, where all literals hold: the bias and the positive weights. Where one does not,
    the sum is less by its weight or more, and that must be enough for the ReLU to give 0.
    """
    added = [bias, *(weight for weight in weights if weight > 0)]
    most, least = sum(added), min(map(abs, weights), default=0.0)
    nothing = 0.0 if _integers(bias, *weights) else CLOSE * max(map(abs, added))  # of what is added up there
    if not relu and (len(weights) > 1 or most - sum(map(abs, weights)) < -nothing):
        return None  # two weights make three values or four, and nothing cuts off what is below 0
    if most <= nothing:
        return 0.0
    return most if not weights or most - least <= nothing else None


def _integers(*numbers: float) -> bool:
    """Whether these are integers that float32 holds: then nothing is rounded."""
    return all(abs(x) < 2**24 and float(x).is_integer() for x in numbers)


def _spread(place: Place, inputs: Sequence[int]) -> list[float]:
    """The truth table of a place over more inputs than it depends on."""
    values = place.values
    for position, i in enumerate(inputs):
        if i not in place.inputs:
            block = 2**position
            values = [x for start in range(0, len(values), block) for x in values[start : start + block] * 2]
    return values


def _times(one: float, name: str) -> str:
    factor = f"{one:.6g}"
    if name in ("", "0") or factor == "1":
        return name
    return factor if name == "1" else f"{factor}·{name}"
