"""Exact arithmetic: a vector of rationals, kept as integers over one common denominator.

Networks in floats compute on tensors; in exact arithmetic they all compute on :class:`Exact`.

Chapter: :doc:`/book/ss95`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import gcd, isqrt, lcm
from typing import Any

__all__ = ["Exact", "average", "normalised"]

Number = Fraction | int | float


class Exact(Sequence[Fraction]):
    """A vector of rationals: integers over one common denominator. Its items are fractions.

    >>> x = Exact([1, 3], 4) + Exact([1, 0], 2)
    >>> x, x[0], x.numerators, float(x[1])
    (Exact([3/4, 3/4]), Fraction(3, 4), [3, 3], 0.75)

    Chapter: :doc:`/book/ss95`.
    """

    __slots__ = ("denominator", "numerators")

    def __init__(self, numerators: Iterable[int], denominator: int = 1):
        self.numerators, self.denominator = list(numerators), denominator

    @classmethod
    def of(cls, values: Iterable[Number]) -> Exact:
        """A vector of any numbers; a float is taken at its exact binary value."""
        fractions = [Fraction(value) for value in values]
        denominator = lcm(1, *(value.denominator for value in fractions))
        return cls((int(value * denominator) for value in fractions), denominator)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return Exact(self.numerators[key], self.denominator)
        return Fraction(self.numerators[key], self.denominator)

    def __len__(self) -> int:
        return len(self.numerators)

    def __add__(self, other: Exact) -> Exact:
        one, two = _same_denominator(self, other)
        return Exact(map(int.__add__, one.numerators, two.numerators), one.denominator)

    def dot(self, other: Exact) -> Fraction:
        """Σ xᵢyᵢ."""
        total = sum(a * b for a, b in zip(self.numerators, other.numerators, strict=True) if a)
        return Fraction(total, self.denominator * other.denominator)

    def reduced(self, base: int | None = None) -> Exact:
        """The same vector in lower terms: divided by ``base`` as often as possible, or by the common divisor of all."""
        numbers, unit = self.numerators, self.denominator
        if base is None:
            shared = gcd(unit, *numbers)
            return Exact((number // shared for number in numbers), unit // shared)
        while unit > 1 and unit % base == 0 and not any(number % base for number in set(numbers)):
            numbers, unit = [number // base for number in numbers], unit // base
        return self if numbers is self.numerators else Exact(numbers, unit)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Exact):
            return NotImplemented
        one, two = _same_denominator(self, other)
        return one.numerators == two.numerators

    __hash__ = None  # type: ignore[assignment]  # Python's way to say that there is none

    def __repr__(self) -> str:
        return f"Exact([{', '.join(map(str, self))}])"


def _same_denominator(one: Exact, two: Exact) -> tuple[Exact, Exact]:
    if one.denominator == two.denominator:
        return one, two
    both = lcm(one.denominator, two.denominator)
    return tuple(Exact((n * (both // x.denominator) for n in x.numerators), both) for x in (one, two))  # type: ignore[return-value]  # two


def average(scores: Sequence[Fraction], values: Sequence[Exact]) -> Exact:
    """The average of the values with the best score: what hard attention gives.

    >>> average([Fraction(1), Fraction(0), Fraction(1)], [Exact([1]), Exact([5]), Exact([2])])
    Exact([3/2])

    Chapter: :doc:`/book/research`.
    """
    best = max(scores)
    chosen = [value for score, value in zip(scores, values, strict=True) if score == best]
    total = chosen[0]
    for value in chosen[1:]:
        total += value
    return Exact(total.numerators, total.denominator * len(chosen)).reduced()


def normalised(x: Exact) -> Exact:
    """x′ / ‖x′‖ with x′ = x − mean: layer norm without ε. Refused where ‖x′‖ is not rational.

    >>> normalised(Exact([1, 1, -1, -1]))
    Exact([1/2, 1/2, -1/2, -1/2])

    Chapter: :doc:`/book/research`.
    """
    n = len(x)
    centred = [n * number - sum(x.numerators) for number in x.numerators]
    square = sum(number * number for number in centred)
    root = isqrt(square)
    if root * root != square or not root:
        raise ArithmeticError(
            f"The norm of this vector is {'0' if not root else f'the root of {square}, which is not rational'}: layer "
            f"norm has no exact result. Use floats."
        )
    return Exact(centred, root)
