"""Reading the network of a stack machine in one layer from its bare tensors.

Its one vector leaves a clamp to [0, 1], so its neurons may come in any order and have no other disguise. A push has a
bias between 0 and 1; it shows the base, the digits and the four neurons of its stack. The detectors without a stack say
which classes of steps there are and what sets each off. From these every other detector follows, number for number, so
each is found by its row.

The weights have no neuron for a state. A class is what a step does: its operations, and the state that it leads to. So
two states with the same rules are one, unless steps that do the same lead to both; and a state that no step leads to
leaves nothing of its rules but what they do.

Chapter: :doc:`/book/reading-back`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import count, product
from typing import NamedTuple

import numpy as np

from turing.cantor import Cantor
from turing.decompiler.reading import Nearest, Weight, require
from turing.decompiler.tensors import Array, Bare, Map, Refusal
from turing.ss.four import OPERATIONS
from turing.ss.realtime import factors, margin

__all__ = ["Classes", "Shape", "read", "shape"]

_require = require("a stack machine in one layer")
MAX_TRIES = 20_000
Levels = tuple[int, ...]  # of each stack: 0 if it is empty, 1 or 2 by its top


class Shape(NamedTuple):
    """The one map of the network.

    Chapter: :doc:`/book/reading-back`.
    """

    weight: Array
    bias: Array


@dataclass
class Classes:
    """What was read: for each class of steps its operations, and by what lies on the stacks the class that follows it;
    base and digits, how clear it was, and the neurons of operations and detectors. No step leads to the ``first`` ones.

    Chapter: :doc:`/book/reading-back`.
    """

    shape: Shape
    operations: list[tuple[str, ...]]
    follows: list[dict[Levels, int]]
    first: list[int]
    base: int
    digits: tuple[int, int]
    margin: float
    made: dict[tuple[str, int], int]  # by operation and stack
    detectors: dict[tuple[int, Levels], int]

    def evidence(self, number: int, levels: Levels) -> list[Weight]:
        """The weights that say which class follows: of its first detector, one for each detector of the last class."""
        target = self.follows[number][levels]
        row = self.detectors[target, (0,) * len(levels)]
        columns = [self.detectors[number, v] for v in _below(levels)]
        weight = self.shape.weight
        return [Weight(0, row, column, float(weight[row, column])) for column in columns if weight[row, column]]


def shape(network: Bare) -> Shape | None:
    """The one map of a square network with a clamp; None if it is another network.

    Chapter: :doc:`/book/reading-back`.
    """
    part = network.parts[0] if len(network.parts) == 1 else None
    if not isinstance(part, Map) or part.activation != "clamp" or len(part.weight) != part.weight.shape[1]:
        return None
    return Shape(part.weight, part.bias)


def read(found: Shape) -> Classes:
    """The classes of steps, or a refusal.

    Chapter: :doc:`/book/reading-back`.
    """
    near = Nearest()
    made, base, digits = _stacks(found, near)
    p = len(made) // 4
    code, taken = Cantor(base, digits, "exact"), set(made.values())
    places = [n for n in range(len(found.bias)) if n not in taken]
    _require(len(places) % 3**p == 0 and bool(places), f"{len(places)} neurons are left for the detectors")
    rows = near(found.weight[places])
    chosen = _chosen(found, near, rows, made, places)
    operations = _operations(found, near, made, places, chosen)
    detectors = _detectors(found, near, rows, made, places, chosen, operations, code)
    index = {place: n for n, place in enumerate(places)}
    follows: list[dict[Levels, int]] = [{} for _ in operations]
    for k, u in product(range(len(operations)), product(range(3), repeat=p)):
        sums = chosen[:, [index[detectors[k, v]] for v in _below(u)]].sum(axis=1)
        _require(_one_or_none(sums), "two classes of steps follow the same one")
        if sums.any():
            follows[k][u] = int(sums.argmax())
    first = [k for k in range(len(operations)) if not chosen[k].any()]
    return Classes(found, operations, follows, first, base, digits, near.margin, made, detectors)


def _below(levels: Levels) -> product:
    """What also applies where the stacks begin with these levels."""
    return product(*(range(level + 1) for level in levels))


def _one_or_none(sums: Array) -> bool:
    return bool(np.isin(sums, (0, 1)).all() and sums.sum() <= 1)


def _stacks(found: Shape, near: Nearest) -> tuple[dict[tuple[str, int], int], int, tuple[int, int]]:
    """The neurons of the operations on each stack, the base and the digits."""
    weight, bias = found
    pushes = np.flatnonzero((bias > 0.02) & (bias < 0.9995))
    _require(len(pushes) > 0 and len(pushes) % 2 == 0, f"{len(pushes)} neurons push a digit, and should be two a stack")
    parts = np.abs(weight[pushes] - np.rint(weight[pushes]))
    shares = np.sort(parts, axis=1)[:, -4:] if parts.shape[1] >= 4 else parts
    _require(shares.shape[1] == 4 and shares.min() > 0, "a push should divide the number of a stack, from four places")
    base = int(np.rint(1 / np.median(shares)))
    _require(base >= 4, f"the base is {base}")
    values = near(bias[pushes] * base)
    digits = tuple(sorted(set(map(int, values))))
    _require(len(digits) == 2 and 1 <= digits[0] < digits[1] < base, f"the digits that are pushed are {digits}")
    stacks: dict[tuple[int, ...], dict[str, int]] = {}
    for row, value in zip(pushes.tolist(), values, strict=True):
        columns = tuple(np.flatnonzero(np.abs(weight[row] - 1 / base) < 0.5 / base).tolist())
        _require(len(columns) == 4, f"a push reads a stack from {len(columns)} places, and should from four")
        name = "push0" if value == digits[0] else "push1"
        _require(name not in stacks.setdefault(columns, {}), "two neurons push the same digit on the same stack")
        stacks[columns][name] = row
    made: dict[tuple[str, int], int] = {}
    for i, (columns, named) in enumerate(sorted(stacks.items())):
        rest = [n for n in columns if n not in named.values()]
        _require(len(named) == 2 and len(rest) == 2, "a stack should have two pushes and two other operations")
        rest.sort(key=lambda row: float(weight[row, columns[0]]))
        for name, row in {**named, "noop": rest[0], "pop": rest[1]}.items():
            made[name, i] = row
            wanted = {"noop": 1.0, "pop": float(base)}.get(name, 1 / base)
            own = weight[row, list(columns)]
            _require(
                bool((np.abs(own - wanted) < min(0.5, wanted / 2)).all()), f"a neuron for {name} has other numbers"
            )
            others = [c for other in stacks for c in other if other != columns]
            _require(not near(weight[row, others]).any(), "an operation reads another stack")
    _require(len(set(made.values())) == len(made), "a neuron is for two stacks")
    return made, base, (digits[0], digits[1])


def _chosen(found: Shape, near: Nearest, rows: Array, made: Mapping[tuple[str, int], int], places: list[int]) -> Array:
    """For each class the row, over the detectors, that is 1 if the next step is of it: that of the detector that asks
    nothing of the stacks.
    """
    plain = ~rows[:, list(made.values())].any(axis=1) & (np.abs(found.bias[places]) < 0.5)
    near(found.bias[places][plain])
    wanted = len(places) // 3 ** (len(made) // 4)
    _require(plain.sum() == wanted, f"{plain.sum()} detectors ask nothing of the stacks, and should be {wanted}")
    return rows[plain][:, places]


def _operations(
    found: Shape, near: Nearest, made: Mapping[tuple[str, int], int], places: list[int], chosen: Array
) -> list[tuple[str, ...]]:
    """The operations of each class: all but its own are held back when it is chosen. Those of a class that nothing
    chooses are not known yet.
    """
    live = np.flatnonzero(chosen.any(axis=1))
    _require(len(live) > 0, "no step follows any other")
    _require(int(np.linalg.matrix_rank(chosen[live])) == len(live), "two classes of steps are the same")
    inverse = np.linalg.pinv(chosen[live])
    operations: list[tuple[str, ...]] = [()] * len(chosen)
    for i in range(len(made) // 4):
        held = {}
        for name in OPERATIONS[:3]:
            row = near(found.weight[made[name, i], places])
            held[name] = near(row @ inverse, -1, 0)
            _require(np.array_equal(held[name] @ chosen[live], row), f"a neuron for {name} is held back by other steps")
        for n, k in enumerate(live):
            free = [name for name in held if held[name][n] == 0]
            _require(len(free) <= 1, "a step should hold back all operations on a stack but one")
            operations[k] += (free[0] if free else "pop",)
    return operations


class _Lines:
    """What a detector of one class reads, number for number."""

    def __init__(self, made: Mapping[tuple[str, int], int], some: list[Array], one: list[Array], code: Cantor):
        self.made, self.some, self.one, self.code = made, some, one, code
        self.levels = list(product(range(3), repeat=len(some)))
        self.factors = {v: factors(code, v) for v in self.levels}

    def row(self, chosen: Array, operations: tuple[str, ...], v: Levels) -> tuple[Array, int]:
        """Its weights, over all neurons, and its bias."""
        (d0, d1), b, c = self.code.digits, self.code.base, self.factors[v]
        far = 1 + sum(c) * b * b
        row, bias = far * chosen, 1 - far + margin(self.code, v, c)
        for i, (name, factor) in enumerate(zip(operations, c, strict=True)):
            bias -= factor * (0, d0, d1)[v[i]]
            row[[self.made[each, i] for each in OPERATIONS]] += factor * {"noop": b, "pop": b * b}.get(name, 1)
            if name == "pop":
                row -= factor * b * (d0 * self.some[i] + (d1 - d0) * self.one[i])
            bias += factor * {"push0": d0, "push1": d1}.get(name, 0)
        return row, bias


def _detectors(
    found: Shape,
    near: Nearest,
    rows: Array,
    made: Mapping[tuple[str, int], int],
    places: list[int],
    chosen: Array,
    operations: list[tuple[str, ...]],
    code: Cantor,
) -> dict[tuple[int, Levels], int]:
    """The neuron for each class and what the stacks begin with, by its row. Operations that were not known are added:
    those of classes that nothing chooses.
    """
    p, wide = len(made) // 4, np.zeros((len(chosen), len(found.bias)))
    wide[:, places] = chosen
    some, one = [], []
    for i in range(p):
        others = [k for k, kinds in enumerate(operations) if kinds and kinds[i] != "pop"]
        row = found.weight[made["pop", i]] + code.base * wide[others].sum(axis=0)
        row[list(made.values())] = 0
        row = near(row)
        (d0, d1) = code.digits
        _require(d0 != d1 - d0 and bool(np.isin(row, (0, -d0, d0 - d1)).all()), "a pop takes other digits away")
        some.append((row == -d0).astype(float))
        one.append((row == d0 - d1).astype(float))
    biases, waiting = near(found.bias[places]), dict[bytes, list[int]]()
    for place, row, bias in zip(places, rows, biases, strict=True):
        waiting.setdefault(_key(row, bias), []).append(place)
    lines, detectors = _Lines(made, some, one, code), dict[tuple[int, Levels], int]()
    for k, kinds in enumerate(operations):
        if not kinds:
            continue
        for v in lines.levels:
            here = waiting.get(_key(*lines.row(wide[k].copy(), kinds, v)), [])
            _require(len(here) == 1, f"{len(here)} neurons are the detector of a class and what the stacks begin with")
            detectors[k, v] = here.pop()
    unchosen = [k for k, kinds in enumerate(operations) if not kinds]
    nothing, free = np.zeros(len(found.bias)), list(unchosen)
    for kinds in product(OPERATIONS, repeat=p) if unchosen else ():
        key = _key(*lines.row(nothing.copy(), kinds, (2,) * p))  # no class with other operations has this row
        for _ in waiting.get(key, []):
            _require(bool(free), "some detectors are of no class")
            operations[free.pop(0)] = kinds
    _require(not free, "some classes have no detectors")
    asked = {(k, v): _key(*lines.row(nothing.copy(), operations[k], v)) for k, v in product(unchosen, lines.levels)}
    detectors |= _fitted(asked, waiting, chosen, {place: n for n, place in enumerate(places)})
    _require(len(detectors) == len(places), "some detectors are of no class")
    return detectors


def _key(row: Array, bias: float) -> bytes:
    whole = np.append(row, bias).astype(np.int64)
    return sha256(whole.tobytes()).digest()


def _fitted(
    asked: Mapping[tuple[int, Levels], bytes],
    waiting: Mapping[bytes, list[int]],
    chosen: Array,
    index: Mapping[int, int],
) -> dict[tuple[int, Levels], int]:
    """The detectors of classes that nothing chooses, some of which have the same rows, put together so that at most one
    class follows each of them for each top.
    """
    turns, detectors = list(asked.items()), dict[tuple[int, Levels], int]()
    tries = count()

    def put(turn: int) -> bool:
        if turn == len(turns):
            return True
        (k, v), key = turns[turn]
        below = chosen[:, [index[detectors[k, u]] for u in _below(v) if u != v]].sum(axis=1)
        tried: set[bytes] = set()
        for place in list(waiting.get(key, [])):
            column = chosen[:, index[place]]
            if column.tobytes() in tried or not _one_or_none(column + below):
                continue
            if next(tries) > MAX_TRIES:
                raise Refusal("There are too many ways to put detectors together of which no step leads to any.")
            tried.add(column.tobytes())
            waiting[key].remove(place)
            detectors[k, v] = place
            if put(turn + 1):
                return True
            waiting[key].append(detectors.pop((k, v)))
        return False

    _require(put(0), "the detectors of classes that no step leads to do not fit together")
    return detectors
