"""A vector of rationals, kept as integers over one common denominator.

Networks in floats compute on tensors; in exact arithmetic they all compute on :class:`Exact`. After a layer norm some
of its numbers are rationals divided by the root of an integer; scores of such vectors are sums of roots, :class:`Surd`.

Chapter: :doc:`/book/ss95`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import total_ordering
from math import gcd, isqrt, lcm
from typing import Any

__all__ = ["Exact", "Surd", "average", "best", "normalised"]

Number = Fraction | int | float


@total_ordering
class Surd:
    """A sum of rational multiples of roots, Σ r √n, compared exactly. ``terms`` maps n to r.

    >>> from fractions import Fraction
    >>> from turing.exact import Surd
    >>> Fraction(314, 100) < Surd({2: Fraction(1), 3: Fraction(1)}) < Surd({10: Fraction(1)})
    True
    >>> Surd({8: Fraction(1)}) == Surd({2: Fraction(2)})
    True

    Chapter: :doc:`/book/layer-norm`.
    """

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[int, Fraction]):
        self.terms = {n: r for n, r in terms.items() if r}

    @classmethod
    def of(cls, value: Any) -> Surd:
        """An integer, a fraction or a float as a surd."""
        return value if isinstance(value, Surd) else cls({1: Fraction(value)})

    def __add__(self, other: Any) -> Surd:
        terms = dict(self.terms)
        for n, r in Surd.of(other).terms.items():
            terms[n] = terms.get(n, 0) + r
        return Surd(terms)

    def __neg__(self) -> Surd:
        return Surd({n: -r for n, r in self.terms.items()})

    def __sub__(self, other: Any) -> Surd:
        return self + -Surd.of(other)

    def __rsub__(self, other: Any) -> Surd:
        return Surd.of(other) - self

    def __abs__(self) -> Surd:
        return -self if self < 0 else self

    def approximate(self, bits: int) -> int:
        """The number times 2^bits, off by less than 1 for each term."""
        total = 0
        for n, r in self.terms.items():
            over, under = r.numerator, r.denominator
            root = isqrt(n * over * over << 2 * bits)
            total += (root if over > 0 else -root) // under
        return total

    def sign(self) -> int:
        """−1, 0 or 1. Roots of integers are independent over the rationals unless the product of two is a square."""
        independent: dict[int, Fraction] = {}
        for n, r in self.terms.items():
            for m in independent:
                root = isqrt(n * m)
                if root * root == n * m:  # √n = (√(nm) / m) √m
                    independent[m] += r * Fraction(root, m)
                    break
            else:
                independent[n] = r
        rest, bits = Surd(independent), 64
        if not rest.terms:
            return 0
        while abs(found := rest.approximate(bits)) <= 2 * len(rest.terms):
            bits *= 2
        return 1 if found > 0 else -1

    def __eq__(self, other: object) -> bool:
        return (self - other).sign() == 0

    def __lt__(self, other: Any) -> bool:
        return (self - other).sign() < 0

    __hash__ = None  # type: ignore[assignment]  # Python's way to say that there is none

    def __float__(self) -> float:
        return float(Fraction(self.approximate(128), 2**128))

    def __repr__(self) -> str:
        return " + ".join(f"{r}" if n == 1 else f"{r}·√{n}" for n, r in self.terms.items()) or "0"


class Exact(Sequence[Fraction]):
    """A vector of rationals: integers over one common denominator. Its items are fractions.

    ``roots`` gives for some places an integer by whose root their number is divided; these items are surds.

    >>> from turing.exact import Exact
    >>> x = Exact([1, 3], 4) + Exact([1, 0], 2)
    >>> x, x[0], x.numerators, float(x[1])
    (Exact([3/4, 3/4]), Fraction(3, 4), [3, 3], 0.75)

    Chapter: :doc:`/book/ss95`.
    """

    __slots__ = ("denominator", "numerators", "roots")

    def __init__(self, numerators: Iterable[int], denominator: int = 1, roots: Mapping[int, int] | None = None):
        self.numerators, self.denominator, self.roots = list(numerators), denominator, roots or {}

    @classmethod
    def of(cls, values: Iterable[Number]) -> Exact:
        """A vector of any numbers; a float is taken at its exact binary value."""
        numbers = [value if isinstance(value, int) else Fraction(value) for value in values]
        denominator = lcm(1, *{value.denominator for value in numbers if value})
        return cls((int(value * denominator) for value in numbers), denominator)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            places = range(len(self.numerators))[key]
            roots = {k: self.roots[place] for k, place in enumerate(places) if place in self.roots}
            return Exact(self.numerators[key], self.denominator, roots)
        value = Fraction(self.numerators[key], self.denominator)
        root = self.roots.get(range(len(self.numerators))[key])
        return value if root is None else Surd({root: value / root})

    def __len__(self) -> int:
        return len(self.numerators)

    def __add__(self, other: Exact) -> Exact:
        one, two = _same_denominator(self, other)
        numbers = list(map(int.__add__, one.numerators, two.numerators))
        if not (one.roots or two.roots):
            return Exact(numbers, one.denominator)
        roots = {**one.roots, **two.roots}
        for place, root in roots.items():
            for x in (one, two):
                if x.numerators[place] and x.roots.get(place) != root:
                    raise ArithmeticError(f"numbers divided by different roots meet at place {place}.")
        return Exact(numbers, one.denominator, roots)

    def dots(self, others: Iterable[Exact]) -> list[Any]:
        """Σ xᵢyᵢ for each of several vectors: a fraction, or a surd if there are roots.

        >>> from turing.exact import Exact
        >>> Exact([1, 2]).dots([Exact([3, 4]), Exact([1, 1], 2)])
        [Fraction(11, 1), Fraction(3, 2)]
        """
        own = [(place, number, self.roots.get(place, 1)) for place, number in enumerate(self.numerators) if number]
        found: list[Any] = []
        for other in others:
            unit, numbers, roots = self.denominator * other.denominator, other.numerators, other.roots
            if not (self.roots or roots):
                found.append(Fraction(sum(number * numbers[place] for place, number, _ in own), unit))
                continue
            totals: dict[int, int] = {}
            for place, number, root in own:
                if numbers[place]:
                    root *= roots.get(place, 1)
                    totals[root] = totals.get(root, 0) + number * numbers[place]
            found.append(Surd({root: Fraction(total, unit * root) for root, total in totals.items()}))
        return found

    def reduced(self, base: int | None = None) -> Exact:
        """The same vector in lower terms: divided by ``base`` as often as possible, or by the common divisor of all."""
        numbers, unit = self.numerators, self.denominator
        if base is None:
            shared = gcd(unit, *numbers)
            return Exact((number // shared for number in numbers), unit // shared, self.roots)
        while unit > 1 and unit % base == 0 and not any(number % base for number in set(numbers)):
            numbers, unit = [number // base for number in numbers], unit // base
        return self if numbers is self.numerators else Exact(numbers, unit, self.roots)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Exact):
            return NotImplemented
        if self.roots or other.roots:
            return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))
        one, two = _same_denominator(self, other)
        return one.numerators == two.numerators

    __hash__ = None  # type: ignore[assignment]  # Python's way to say that there is none

    def __repr__(self) -> str:
        return f"Exact([{', '.join(map(str, self))}])"


def _same_denominator(one: Exact, two: Exact) -> tuple[Exact, Exact]:
    if one.denominator == two.denominator:
        return one, two
    both = lcm(one.denominator, two.denominator)
    return tuple(Exact((n * (both // x.denominator) for n in x.numerators), both, x.roots) for x in (one, two))  # type: ignore[return-value]  # two


def best(scores: Sequence[Any]) -> list[int]:
    """The places of the greatest of some numbers, fractions or surds.

    >>> from fractions import Fraction
    >>> from turing.exact import best
    >>> best([Fraction(1), Fraction(0), Fraction(1)])
    [0, 2]

    Chapter: :doc:`/book/layer-norm`.
    """
    candidates = range(len(scores))
    if any(isinstance(score, Surd) for score in scores):  # most are ruled out by a number that is near enough
        surds = [Surd.of(score) for score in scores]
        near = [surd.approximate(128) for surd in surds]
        least = max(near) - 2 * max(len(surd.terms) for surd in surds)
        candidates = [k for k in candidates if near[k] >= least]  # type: ignore[assignment]  # a list will do
    greatest = max(scores[k] for k in candidates)
    return [k for k in candidates if scores[k] == greatest]


def average(scores: Sequence[Any], values: Sequence[Exact]) -> Exact:
    """The average of the values with the best score: what hard attention gives.

    >>> from fractions import Fraction
    >>> from turing.exact import Exact, average
    >>> average([Fraction(1), Fraction(0), Fraction(1)], [Exact([1]), Exact([5]), Exact([2])])
    Exact([3/2])

    Chapter: :doc:`/book/research`.
    """
    winners = [values[k] for k in best(scores)]
    if len(winners) == 1:
        return winners[0]
    if any(value.roots for value in winners):
        total = winners[0]
        for value in winners[1:]:
            total += value
        return Exact(total.numerators, total.denominator * len(winners), total.roots).reduced()
    unit = lcm(*{value.denominator for value in winners})
    sums = [0] * len(winners[0])
    for value in winners:
        scale = unit // value.denominator
        for k, number in enumerate(value.numerators):
            if number:
                sums[k] += scale * number
    return Exact(sums, unit * len(winners)).reduced()


def normalised(x: Exact) -> Exact:
    """x′ / ‖x′‖ with x′ = x − mean: layer norm without ε. Where ‖x′‖ is not rational, the result has roots.

    >>> from turing.exact import Exact, normalised
    >>> normalised(Exact([1, 1, -1, -1])), normalised(Exact([1, 0, -1])).roots
    (Exact([1/2, 1/2, -1/2, -1/2]), {0: 2, 1: 2, 2: 2})

    Chapter: :doc:`/book/layer-norm`.
    """
    if x.roots:
        raise ArithmeticError("a layer norm works on rationals here, and was given numbers with roots.")
    n, total = len(x), sum(x.numerators)
    centred = [n * number - total for number in x.numerators]
    shared = gcd(*centred)
    if not shared:
        raise ArithmeticError("all numbers of a slice are equal: layer norm divides by their distance from the mean.")
    centred = [number // shared for number in centred]
    square = sum(number * number for number in centred)
    root = isqrt(square)
    return Exact(centred, root) if root * root == square else Exact(centred, 1, dict.fromkeys(range(n), square))
