"""A head on all columns at once: a place of a column is a sum of functions of one finite variable each.

Queries and keys are such sums too, so a score is a sum of functions of one variable of each column. The variables fall
into small groups that do not meet, and the greatest score under conditions is found group by group.

Here the query has one place, 2x − 1 for a bit x of the column that asks, and the key has one place, the bit y of the
column that is looked at. :func:`score` multiplies the two, which gives a form. :func:`greatest` returns two fields:
``value``, the greatest score, and ``where``, the values of the variables that have it.

>>> import numpy as np
>>> from turing.proof.exactness import Precision
>>> from turing.proof.heads import Condition, Form, Sum, greatest, score
>>> query, key = [Sum(-1.0, {"x": np.array([0.0, 2.0])})], [Sum(0.0, {"y": np.array([0.0, 1.0])})]
>>> product, sizes = score(query, key, Precision("float32"), "a head"), {"x": 2, "y": 2}
>>> isinstance(product, Form)
True
>>> greatest(product, sizes, [])
Greatest(value=1.0, where={'x': 1, 'y': 1})
>>> equal = Condition(("x", "y"), np.eye(2, dtype=bool))
>>> greatest(product, sizes, [], broken=[equal])  # if x and y differ
Greatest(value=0.0, where={'x': 1, 'y': 0})

Chapter: :doc:`/book/all-words`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import combinations
from math import inf, prod
from operator import or_
from typing import NamedTuple

import numpy as np

from turing import ir
from turing.proof.exactness import Precision, Undecided

__all__ = ["Condition", "Form", "Sum", "affine", "greatest", "score"]

MAX_CASES = 1 << 22  # of variables that meet
Table = np.ndarray


@dataclass(frozen=True)
class Sum:
    """A place of a column as a sum: constant + Σ tables[u][value of u], over variables u.

    Chapter: :doc:`/book/all-words`.
    """

    constant: float = 0.0
    tables: Mapping[str, Table] = field(default_factory=dict)

    def __add__(self, other: Sum) -> Sum:
        tables = dict(self.tables)
        for name, table in other.tables.items():
            tables[name] = tables[name] + table if name in tables else table
        return Sum(self.constant + other.constant, tables)

    def __mul__(self, factor: float) -> Sum:
        return Sum(self.constant * factor, {name: table * factor for name, table in self.tables.items()})

    def renamed(self, prefix: str) -> Sum:
        """The same sum over the variables of another column, whose names have the ``prefix``."""
        return Sum(self.constant, {prefix + name: table for name, table in self.tables.items()})

    @property
    def size(self) -> float:
        """The greatest absolute value of the sum."""
        ends = [self.constant + sum(float(end(table)) for table in self.tables.values()) for end in (np.min, np.max)]
        return max(map(abs, ends))

    @property
    def values(self) -> list[float]:
        """Numbers such that every value of the sum adds up some of them."""
        return [self.constant, *(x for table in self.tables.values() for x in np.unique(table).tolist())]


def affine(layer: ir.Layer, column: Sequence[Sum], precision: Precision) -> list[Sum]:
    """What a layer without activation makes of a column; raises :class:`turing.proof.Undecided` if it may round.

    Chapter: :doc:`/book/all-words`.
    """
    if layer.activation != "none":
        raise Undecided(f"{layer.name} has an activation, and a head's maps are linear")
    found = []
    for place, (terms, bias) in enumerate(layer.rows):
        parts = [(float(weight), column[k]) for k, weight in terms]
        bound = abs(float(bias)) + sum(abs(weight * part.constant) for weight, part in parts)
        sizes: dict[str, Table] = {}
        for weight, part in parts:
            for name, table in part.tables.items():
                sizes[name] = sizes.get(name, 0.0) + abs(weight * table)
        bound += sum(float(size.max()) for size in sizes.values())
        numbers = [(weight, part.values) for weight, part in parts]
        precision.check([(1.0, [float(bias)]), *numbers], bound, f"{layer.name}, row {place},")
        found.append(reduce(Sum.__add__, (part * weight for weight, part in parts), Sum(float(bias))))
    return found


@dataclass(frozen=True)
class Form:
    """A score as a sum: constant + Σ single[u][…] + Σ pairs[u, v][…, …], over variables u and v of several columns.

    Chapter: :doc:`/book/all-words`.
    """

    constant: float = 0.0
    single: Mapping[str, Table] = field(default_factory=dict)
    pairs: Mapping[tuple[str, str], Table] = field(default_factory=dict)

    def __sub__(self, other: Form) -> Form:
        single, pairs = dict(self.single), dict(self.pairs)
        for name, table in other.single.items():
            single[name] = single[name] - table if name in single else -table
        for both, table in other.pairs.items():
            pairs[both] = pairs[both] - table if both in pairs else -table
        return Form(self.constant - other.constant, single, pairs)


def score(query: Sequence[Sum], key: Sequence[Sum], precision: Precision, where: str) -> Form:
    """The product of a query and a key, as a form; raises :class:`turing.proof.Undecided` if it may round.

    Chapter: :doc:`/book/all-words`.
    """
    constant, bound, terms = 0.0, 0.0, []
    single: dict[str, Table] = {}
    pairs: dict[tuple[str, str], Table] = {}
    for one, other in zip(query, key, strict=True):
        bound += one.size * other.size
        terms += [(value, other.values) for value in one.values]
        constant += one.constant * other.constant
        for part, factor in ((one, other.constant), (other, one.constant)):
            for name, table in part.tables.items():
                single[name] = single.get(name, 0.0) + table * factor
        for u, table in one.tables.items():
            for v, more in other.tables.items():
                pairs[u, v] = pairs.get((u, v), 0.0) + np.multiply.outer(table, more)
    precision.check(terms, bound, f"{where}, a score,")
    return Form(constant, single, {both: table for both, table in pairs.items() if table.any()})


class Condition(NamedTuple):
    """Something that one or two ``variables`` may satisfy: ``holds`` is a table of truth values over them.

    Chapter: :doc:`/book/all-words`.
    """

    variables: tuple[str, ...]
    holds: Table


class Greatest(NamedTuple):
    """The greatest value of a form, and the values of the variables where it has it."""

    value: float
    where: dict[str, int]


def greatest(
    form: Form, sizes: Mapping[str, int], required: Iterable[Condition], broken: Iterable[Condition] = ()
) -> Greatest:
    """The greatest value of a form where all ``required`` conditions hold and, if any are given, at least one of the
    ``broken`` ones does not. It is −∞ if there is no such place.

    >>> bits = np.array([0.0, 1.0])
    >>> same = Condition(("x", "y"), np.eye(2, dtype=bool))
    >>> product = Form(0.0, {}, {("x", "y"): np.outer(2 * bits - 1, bits - 0.5)})
    >>> greatest(product, {"x": 2, "y": 2}, [same]).value, greatest(product, {"x": 2, "y": 2}, [], [same]).value
    (0.5, -0.5)

    Chapter: :doc:`/book/all-words`.
    """
    required, broken = list(required), list(broken)
    links = [*form.pairs, *(c.variables for c in (*required, *broken))]
    every = sorted({*form.single, *(name for link in links for name in link)})  # the same in every process
    total, lost = form.constant, inf
    where: dict[str, int] = {}
    instead: dict[str, int] = {}
    for group in _groups(every, links):
        axis = {name: n for n, name in enumerate(group)}
        shape = tuple(sizes[name] for name in group)
        if prod(shape) > MAX_CASES:
            raise Undecided(f"{len(group)} variables meet in a score, in {prod(shape):,} cases")

        def spread(names: tuple[str, ...], table: Table) -> Table:
            if len(names) == 2 and axis[names[0]] > axis[names[1]]:  # noqa: B023
                names, table = names[::-1], table.T
            return table.reshape([size if name in names else 1 for name, size in zip(group, shape, strict=True)])  # noqa: B023

        values, holds, wrong = np.zeros(shape), np.ones(shape, bool), np.zeros(shape, bool)
        for name in group:
            if name in form.single:
                values = values + spread((name,), form.single[name])
        for both, table in form.pairs.items():
            if both[0] in axis:
                values = values + spread(both, table)
        for condition in required:
            if condition.variables[0] in axis:
                holds = holds & spread(*condition)
        for condition in broken:
            if condition.variables[0] in axis:
                wrong = wrong | ~spread(*condition)
        best, place = _best(values, holds, group)
        if best == -inf:
            return Greatest(-inf, {})
        second, other = _best(values, holds & wrong, group)
        total, where = total + best, where | place
        if best - second < lost:
            lost, instead = best - second, other
    return Greatest(total - lost, where | instead) if broken else Greatest(total, where)


def _best(values: Table, allowed: Table, group: Sequence[str]) -> tuple[float, dict[str, int]]:
    if not allowed.any():
        return -inf, {}
    chosen = np.where(allowed, values, -inf)
    at = np.unravel_index(int(chosen.argmax()), chosen.shape)
    return float(chosen[at]), dict(zip(group, map(int, at), strict=True))


def _groups(names: Iterable[str], links: Iterable[tuple[str, ...]]) -> list[list[str]]:
    """The variables in groups, such that those of a link are in one."""
    group = {name: {name} for name in names}
    for link in links:
        for one, other in combinations(link, 2):
            if group[one] is not group[other]:
                both = reduce(or_, (group[one], group[other]))
                group |= dict.fromkeys(both, both)
    return [sorted(each) for each in {id(each): each for each in group.values()}.values()]
