"""Decision diagrams: a function of finite variables as a graph in which equal parts are one node.

A layer can be run on diagrams in place of numbers: an affine row is a sum of diagrams, and a ReLU maps the leaves. What
comes out is the value on every input at once, and two functions are equal exactly if they are the same node.

Chapter: :doc:`/book/all-words`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from operator import add
from typing import Any

__all__ = ["Diagrams", "TooLarge"]

MAX_NODES = 1_000_000


class TooLarge(Exception):
    """The diagrams have more nodes than are built.

    Chapter: :doc:`/book/all-words`.
    """


class Diagrams:
    """Functions of ``variables`` as decision diagrams. The variables have a fixed order, and each its number of values.
    In the methods ``f`` and ``g`` are such functions: each is an integer, the number of the node at its top.

    >>> from turing.proof import Diagrams
    >>> d = Diagrams({"x": 2, "y": 2, "z": 2})
    >>> x, y, z = (d.variable(name, (0.0, 1.0)) for name in "xyz")
    >>> carry = d.map(lambda n: max(n - 1.0, 0.0), d.sum([x, y]))  # relu(x + y - 1) = AND
    >>> d.table(carry, ["x", "y"]), d.leaves(d.sum([x, y, z]))
    ([0.0, 0.0, 0.0, 1.0], frozenset({0.0, 1.0, 2.0, 3.0}))
    >>> carry == d.map(lambda n: float(n == 2), d.sum([y, x])), d.size(carry)
    (True, 4)
    >>> d.nodes(carry)[carry][0]
    'x'

    Chapter: :doc:`/book/all-words`.
    """

    def __init__(self, variables: dict[str, int]):
        self.names, self.sizes = list(variables), list(variables.values())
        self.level_of = {name: level for level, name in enumerate(self.names)}
        self._level: list[int] = []  # of each node; that of a leaf is after all variables
        self._kids: list[tuple[int, ...]] = []
        self._value: list[Any] = []  # of each leaf
        self._nodes: dict[tuple, int] = {}
        self._memo: dict[Callable, dict] = {}
        self._leaves: dict[int, frozenset] = {}
        self.zero = self.leaf(0.0)

    def leaf(self, value: Any) -> int:
        """The function that has this ``value`` everywhere."""
        return self._node(len(self.names), (), value)

    def variable(self, name: str, values: Sequence[Any]) -> int:
        """The function of the variable of that ``name`` alone that has these ``values``."""
        return self._made(self.level_of[name], tuple(map(self.leaf, values)))

    def _made(self, level: int, kids: tuple[int, ...]) -> int:
        return kids[0] if kids.count(kids[0]) == len(kids) else self._node(level, kids, None)

    def _node(self, level: int, kids: tuple[int, ...], value: Any) -> int:
        key = (level, kids, value)
        found = self._nodes.get(key)
        if found is None:
            found = self._nodes[key] = len(self._level)
            if found == MAX_NODES:
                raise TooLarge(f"the diagrams have more than {MAX_NODES:,} nodes")
            self._level.append(level)
            self._kids.append(kids)
            self._value.append(value)
        return found

    def map(self, function: Callable[[Any], Any], f: int) -> int:
        """``function`` applied to the values of ``f``, and cached by ``function``: always pass the same object."""
        memo = self._memo.setdefault(function, {})

        def walk(f: int) -> int:
            found = memo.get(f)
            if found is None:
                if kids := self._kids[f]:
                    found = self._made(self._level[f], tuple(map(walk, kids)))
                else:
                    found = self.leaf(function(self._value[f]))
                memo[f] = found
            return found

        return walk(f)

    def apply(self, function: Callable[[Any, Any], Any], f: int, g: int) -> int:
        """``function`` applied to the values of ``f`` and ``g``, and cached as in :meth:`map`."""
        memo, level_of, kids_of = self._memo.setdefault(function, {}), self._level, self._kids

        def walk(f: int, g: int) -> int:
            found = memo.get((f, g))
            if found is None:
                one, other = level_of[f], level_of[g]
                level = min(one, other)
                if level == len(self.names):
                    found = self.leaf(function(self._value[f], self._value[g]))
                else:
                    a = kids_of[f] if one == level else (f,) * self.sizes[level]
                    b = kids_of[g] if other == level else (g,) * self.sizes[level]
                    found = self._made(level, tuple(map(walk, a, b)))
                memo[f, g] = found
            return found

        return walk(f, g)

    def sum(self, terms: Iterable[int]) -> int:
        """The sum of some functions."""
        total = self.zero
        for term in terms:
            total = term if total == self.zero else self.apply(add, total, term)
        return total

    def leaves(self, f: int) -> frozenset:
        """The values that ``f`` has."""
        found = self._leaves.get(f)
        if found is None:
            kids = self._kids[f]
            found = frozenset().union(*map(self.leaves, set(kids))) if kids else frozenset([self._value[f]])
            self._leaves[f] = found
        return found

    def support(self, f: int) -> set[str]:
        """The variables that ``f`` depends on."""
        return {self.names[self._level[node]] for node in self._below(f) if self._kids[node]}

    def size(self, f: int) -> int:
        """How many nodes the diagram of ``f`` has, leaves included."""
        return len(self._below(f))

    def nodes(self, f: int) -> dict[int, tuple[str | None, tuple]]:
        """The nodes of the diagram of ``f``, by number: the variable of each, and the nodes to which its values lead. A
        leaf has None, and its value.
        """
        return {
            node: (self.names[self._level[node]], kids) if (kids := self._kids[node]) else (None, (self._value[node],))
            for node in sorted(self._below(f))
        }

    def _below(self, f: int) -> set[int]:
        seen, left = {f}, [f]
        while left:
            new = set(self._kids[left.pop()]) - seen
            seen |= new
            left += new
        return seen

    def table(self, f: int, names: Sequence[str]) -> list[Any]:
        """The values of ``f`` for all values of the variables ``names``, the last varying fastest; the others are 0."""
        every = product(*(range(self.sizes[self.level_of[name]]) for name in names))
        return [self.value(f, dict(zip(names, values, strict=True))) for values in every]

    def value(self, f: int, where: Mapping[str, int]) -> Any:
        """The value of ``f`` ``where`` some variables have these values, and the others are 0."""
        while self._kids[f]:
            f = self._kids[f][where.get(self.names[self._level[f]], 0)]
        return self._value[f]

    def find(self, f: int, wanted: Callable[[Any], bool]) -> dict[str, int] | None:
        """Values of variables for which ``f`` has a ``wanted`` value; None if there are none."""
        if not any(map(wanted, self.leaves(f))):
            return None
        found = {}
        while self._kids[f]:
            level = self._level[f]
            value = next(n for n, kid in enumerate(self._kids[f]) if any(map(wanted, self.leaves(kid))))
            found[self.names[level]], f = value, self._kids[f][value]
        return found
