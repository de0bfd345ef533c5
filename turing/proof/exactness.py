"""When floats compute a sum exactly, in any order and with fused products; and what a proof does where they may not.

If all terms are multiples of 2^e and their absolute values add up to less than 2^(P + e), every partial sum is a
multiple of 2^e with at most P bits, and nothing is ever rounded.

Chapter: :doc:`/book/all-words`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from math import frexp
from typing import Any

__all__ = ["Failed", "Precision", "Uncovered", "Undecided"]

# Bits of a significand, and the exponent of the smallest number. The prover adds in float64, and keeps three bits.
BITS = {"bfloat16": (8, -133), "float32": (24, -149), "float64": (50, -1074)}
RANGE = 100  # exponents up to which no type overflows, or has numbers that are not normal


class Undecided(Exception):
    """The prover cannot tell; the message says why.

    Chapter: :doc:`/book/all-words`.
    """


class Uncovered(Undecided):
    """The network has something that no proof here is about, such as a number type or a kind of average.

    Chapter: :doc:`/book/all-words`.
    """


class Failed(Exception):
    """An obligation does not hold. ``obligation`` says which one, ``columns`` for which columns, as a dictionary of
    texts, and ``start`` where a search for a run that goes wrong may begin.

    Chapter: :doc:`/book/all-words`.
    """

    def __init__(self, obligation: str, columns: dict[str, str], start: Any = None):
        self.obligation, self.columns, self.start = obligation, columns, start
        super().__init__(obligation, columns)

    def __str__(self) -> str:
        shown = ", ".join(f"{name} {value}".strip() for name, value in self.columns.items())
        return f"{self.obligation}; this fails for {shown}"


@cache
def grain(factor: float, value: float) -> int | None:
    """The greatest e for which the product is a multiple of 2^e; None for 0."""
    number = Fraction(factor) * Fraction(value)
    if not number:
        return None
    return (number.numerator & -number.numerator).bit_length() - number.denominator.bit_length()


class Precision:
    """A type of floats, and how many of its bits the sums have needed so far.

    >>> from turing.proof.exactness import Precision
    >>> floats = Precision("bfloat16")
    >>> floats.check([(1.0, [0.0, 1.0]), (0.5, [1.0])], 1.5, "a row")
    >>> floats.needed
    2
    >>> floats.check([(1.0, [256.0]), (0.5, [1.0])], 256.5, "a row")
    Traceback (most recent call last):
    turing.proof.exactness.Undecided: a row takes 10 bits, and bfloat16 has 8: the sum may be rounded

    Chapter: :doc:`/book/all-words`.
    """

    def __init__(self, arithmetic: str):
        if arithmetic not in BITS:
            raise Uncovered(f"the number type {arithmetic} is not covered; {', '.join(BITS)} are")
        self.arithmetic, (self.bits, self.smallest) = arithmetic, BITS[arithmetic]
        self.needed = 0

    def bits_for(self, terms: Iterable[tuple[float, Iterable[float]]], bound: float) -> int:
        """How many bits a sum takes: each term is a factor and its values, and their absolute values add up to at most
        ``bound``.
        """
        grains = [e for factor, values in terms for value in values if (e := grain(factor, value)) is not None]
        if not grains:
            return 0
        return frexp(bound)[1] - min(grains) if bound < 2.0**RANGE and min(grains) > -RANGE else 10 * RANGE

    def check(self, terms: Iterable[tuple[float, Iterable[float]]], bound: float, where: str) -> None:
        """Raise unless a sum is exact, as :meth:`bits_for` describes it."""
        needed = self.bits_for(terms, bound)
        if needed > self.bits:
            raise Undecided(
                f"{where} takes {needed} bits, and {self.arithmetic} has {self.bits}: the sum may be rounded"
            )
        self.needed = max(self.needed, needed)

    def max_ties(self, values: Sequence[float]) -> int:
        """How many equal values the numerator of an average can add up without rounding: 2^P for 1."""
        return min((2**self.bits // abs(_odd(value)) for value in values if value), default=2**self.bits)


def _odd(value: float) -> int:
    number = abs(Fraction(value).numerator)
    return number // (number & -number)
