"""A stack in one number: section 6.2 of the paper, over exact fractions, whole numbers and floats.

Chapter: :doc:`/book/06_cantor`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from fractions import Fraction
from numbers import Rational

__all__ = ["Cantor", "DepthError", "Stack"]

PRECISION = {"float32": 24, "float64": 53}  # bits of a significand
ARITHMETICS = ("exact", "scaled", *PRECISION)
Number = Fraction | int | float


class DepthError(OverflowError):
    """A stack is as deep as its arithmetic can hold, and one more symbol would push the bottom one out.

    Chapter: :doc:`/book/06_cantor`.
    """


class Cantor:
    """The encoding Σ dᵢ / bⁱ of a stack, the top first, where dᵢ is one of two digits of the base b.

    ``arithmetic`` is ``"exact"`` (fractions), ``"float32"``, ``"float64"``, or ``"scaled"``: whole numbers that stand
    for multiples of 1 / b^places.

    >>> code = Cantor()
    >>> code.encode([1, 0, 1]), code.top(code.encode([1, 0, 1])), code.decode(Fraction(55, 64))
    (Fraction(55, 64), 1, [1, 0, 1])
    >>> Cantor(arithmetic="float32").depth, Cantor(40, (31, 39), "float64").depth
    (12, 9)

    Chapter: :doc:`/book/06_cantor`.
    """

    def __init__(
        self, base: int = 4, digits: tuple[int, int] = (1, 3), arithmetic: str = "exact", places: int | None = None
    ):
        check_digits(base, digits)
        if arithmetic not in ARITHMETICS:
            raise ValueError(f"An arithmetic is one of {', '.join(ARITHMETICS)}, and {arithmetic!r} was given.")
        if (arithmetic == "scaled") != (places is not None):
            raise ValueError(
                'Give places=K, the number of digits that are kept, with arithmetic="scaled" and only there.'
            )
        self.base, self.digits, self.arithmetic = base, tuple(digits), arithmetic
        self.unit: Number = {"exact": Fraction(1), "scaled": base ** (places or 0)}.get(arithmetic, 1.0)
        self.round: Callable[[Number], Number] = _float32 if arithmetic == "float32" else lambda x: x
        self.depth: int | None = places if arithmetic != "exact" else None
        if arithmetic in PRECISION:
            self.depth = depth_of(base, PRECISION[arithmetic])

    @classmethod
    def of(cls, base: int, rho: Rational | float, **options) -> Cantor:
        """Equation (1) of the paper: symbol a has the digit b − 1 + 4ρ(a − 1).

        >>> Cantor.of(4, 1 / 2).digits, Cantor.of(40, 2).digits
        ((1, 3), (31, 39))

        Chapter: :doc:`/book/06_cantor`.
        """
        low = base - 1 - 4 * rho
        if low != int(low):
            raise ValueError(f"4ρ is a whole number, and ρ = {rho} was given.")
        return cls(base, (int(low), base - 1), **options)

    def push(self, value: Number, symbol: int) -> Number:
        """The stack with a symbol on top: (v + d) / b.

        Chapter: :doc:`/book/06_cantor`.
        """
        if symbol not in (0, 1):
            raise ValueError(f"A stack here holds 0 and 1, and {symbol!r} was pushed.")
        total = self.round(value + self.digits[symbol] * self.unit)
        if self.arithmetic != "scaled":
            return self.round(total / self.base)
        if total % self.base:
            raise DepthError(f"A stack of {self.depth} places is full, and one more symbol was pushed.")
        return total // self.base

    def pop(self, value: Number) -> Number:
        """The stack without its top: bv less the top digit. An empty one stays empty.

        Chapter: :doc:`/book/06_cantor`.
        """
        d0, d1 = self.digits
        grown = self.round(value * self.base)
        left = self.round(grown - d0 * self.nonempty(value))
        return self._clamp(self.round(left - (d1 - d0) * self.top(value, self.unit)))

    def nonempty(self, value: Number) -> Number:
        """σ(bv): 1 unless the stack is empty; in units of the arithmetic.

        Chapter: :doc:`/book/06_cantor`.
        """
        return self._clamp(self.round(value * self.base))

    def top(self, value: Number, unit: Number | None = None) -> Number:
        """σ(bv − d₀ − 1): the top symbol; 0 for an empty stack.

        Chapter: :doc:`/book/06_cantor`.
        """
        found = self._clamp(self.round(self.round(value * self.base) - (self.digits[0] + 1) * self.unit))
        return found if unit is not None else int(found == self.unit)

    def _clamp(self, x: Number) -> Number:
        return min(max(x, 0 * self.unit), self.unit)

    def encode(self, symbols: Iterable[int]) -> Number:
        """The number of a stack, given from the top down.

        Chapter: :doc:`/book/06_cantor`.
        """
        symbols = list(symbols)
        if self.depth is not None and len(symbols) > self.depth:
            raise DepthError(self.full(len(symbols)))
        value = 0 * self.unit
        for symbol in reversed(symbols):
            value = self.push(value, symbol)
        return value

    def decode(self, value: Number) -> list[int]:
        """The symbols of a number from the top down, as many as the arithmetic holds at most.

        Chapter: :doc:`/book/06_cantor`.
        """
        symbols: list[int] = []
        while value > 0 and (self.depth is None or len(symbols) < self.depth):
            symbols.append(self.top(value))
            value = self.pop(value)
        return symbols

    def full(self, depth: int) -> str:
        """What is wrong with a stack of that depth."""
        return (
            f"A stack of {depth} symbols was asked for, and {self.arithmetic} holds {self.depth} in base {self.base}: "
            f'the bottom one would be lost. Use arithmetic="exact", or a smaller base.'
        )


class Stack:
    """A stack that is kept as one number, and that refuses the push that would lose its bottom symbol.

    >>> stack = Stack(Cantor(arithmetic="float32"), [1] * 12)
    >>> stack.push(0)
    Traceback (most recent call last):
    ...
    turing.cantor.DepthError: A stack of 13 symbols was asked for, and float32 holds 12 in base 4: the bottom one \
would be lost. Use arithmetic="exact", or a smaller base.

    Chapter: :doc:`/book/06_cantor`.
    """

    def __init__(self, code: Cantor, symbols: Iterable[int] = ()):
        symbols = list(symbols)
        self.code, self.value, self.depth = code, code.encode(symbols), len(symbols)

    def push(self, symbol: int) -> None:
        if self.code.depth is not None and self.depth >= self.code.depth:
            raise DepthError(self.code.full(self.depth + 1))
        self.value, self.depth = self.code.push(self.value, symbol), self.depth + 1

    def pop(self) -> int | None:
        """Take the top symbol off; None if there is none."""
        if not self.depth:
            return None
        top = self.code.top(self.value)
        self.value, self.depth = self.code.pop(self.value), self.depth - 1
        return top

    def __repr__(self) -> str:
        return f"Stack({self.value}, depth {self.depth})"


def depth_of(base: int, precision: int) -> int:
    """The most digits of a base that so many bits hold: the greatest k with b^k ≤ 2^precision."""
    depth = 0
    while base ** (depth + 1) <= 2**precision:
        depth += 1
    return depth


def check_digits(base: int, digits: tuple[int, int]) -> None:
    """Two digits of the base, apart enough for top and emptiness to be seen in one neuron each."""
    whole = all(type(number) is int for number in (base, *digits)) and len(digits) == 2
    if not whole or not 1 <= digits[0] < digits[1] - 1 or digits[1] >= base:
        raise ValueError(
            f"base={base!r} with digits={digits!r} was given. The digits are whole numbers, the first at least 1, the "
            f"second at least 2 more and below the base, such as (1, 3) for base 4."
        )


def _float32(x: float) -> float:
    return struct.unpack("f", struct.pack("f", x))[0]
