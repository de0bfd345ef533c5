"""A stack in one number: section 6.2 of the paper, over exact fractions, integers and floats.

Chapter: :doc:`/book/cantor-stacks`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from fractions import Fraction
from math import isfinite
from numbers import Integral, Rational, Real
from typing import Any

from turing.arguments import integer

__all__ = ["Cantor", "DepthError", "Stack"]

PRECISION = {"float32": 24, "float64": 53}  # bits of a significand
ARITHMETICS = ("exact", "scaled", *PRECISION)
KINDS = {"exact": (Rational, "a Fraction"), "scaled": (Integral, "an integer")}  # otherwise a float
Number = Fraction | int | float


class DepthError(OverflowError):
    """A stack is as deep as its arithmetic can hold, and one more symbol would lose the one at the bottom.

    ``ss95``, ``ss95-realtime`` and ``bhattamishra20`` raise it in floats: compile with ``arithmetic="exact"``.

    Chapter: :doc:`/book/cantor-stacks`.
    """


class Cantor:
    """The encoding Σ dᵢ / Bⁱ of a stack, the top first, where each dᵢ is one of two digits in base B.

    - ``base`` and ``digits``: B, and the digits of the symbols 0 and 1
    - ``arithmetic``: ``"exact"`` for fractions, ``"float32"``, ``"float64"``, or ``"scaled"`` for integers that stand
      for multiples of ``B**-places``
    - ``places``: how many symbols a stack can hold. It goes with ``"scaled"``, and only there.

    ``depth`` is how many symbols a stack can hold, None if there is no limit. If B is a power of two, every push and
    pop up to that depth is exact; in other bases floats round, and the depth is the paper's estimate.

    >>> from fractions import Fraction
    >>> from turing.cantor import Cantor
    >>> code = Cantor()
    >>> code.encode([1, 0, 1]), code.top(code.encode([1, 0, 1])), code.decode(Fraction(55, 64))
    (Fraction(55, 64), 1, [1, 0, 1])
    >>> Cantor(arithmetic="float32").depth, Cantor(40, (31, 39), "float64").depth
    (12, 9)

    Chapter: :doc:`/book/cantor-stacks`.
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
        places = None if places is None else integer("places", places, 1)
        self.base, self.digits, self.arithmetic = base, (digits[0], digits[1]), arithmetic
        self.unit: Number = {"exact": Fraction(1), "scaled": base ** (places or 0)}.get(arithmetic, 1.0)
        self.round: Callable[[Number], Number] = _float32 if arithmetic == "float32" else _unrounded
        self.depth: int | Any = places if arithmetic != "exact" else None  # None if there is no limit
        if arithmetic in PRECISION:
            self.depth = depth_of(base, PRECISION[arithmetic])
        self.rounds = arithmetic in PRECISION and base & (base - 1) != 0  # even if the stack has room

    @classmethod
    def of(cls, base: int, rho: Number, **options: Any) -> Cantor:
        """Equation (1) of the paper: symbol a has the digit B − 1 + 4ρ(a − 1).

        >>> from turing.cantor import Cantor
        >>> Cantor.of(4, 1 / 2).digits, Cantor.of(40, 2).digits
        ((1, 3), (31, 39))

        Chapter: :doc:`/book/cantor-stacks`.
        """
        if not isinstance(rho, Real) or not isfinite(rho) or 4 * rho != int(4 * rho):
            raise ValueError(f"4ρ must be an integer, such as 2 for ρ = 1/2, and ρ = {rho} was given.")
        if type(base) is not int:
            raise ValueError(f"The base is an integer, such as 4, and {base!r} was given.")
        return cls(base, (base - 1 - int(4 * rho), base - 1), **options)

    def push(self, value: Number, symbol: int) -> Number:
        """The stack with a symbol on top: (x + d) / B.

        Raises :class:`DepthError` if the bottom symbol would be lost. In a base that is not a power of two, floats
        round at nearly every push, so only ``encode`` and ``Stack``, which count the symbols, can raise it.

        Chapter: :doc:`/book/cantor-stacks`.
        """
        self._check(value)
        digit = self._digit(symbol) * self.unit
        total = self.round(value + digit)
        scaled = self.arithmetic == "scaled"
        lost = total % self.base if scaled else total - digit != value
        if lost and not self.rounds:
            raise DepthError(self.full(self.depth + 1))
        return total // self.base if scaled else self.round(total / self.base)

    def _digit(self, symbol: int) -> int:
        if symbol not in (0, 1):
            raise ValueError(f"The symbols on a stack are 0 and 1, and {symbol!r} was pushed.")
        return self.digits[int(symbol)]

    def _check(self, value: Number) -> None:
        kind, name = KINDS.get(self.arithmetic, (Real, "a number"))
        if not isinstance(value, kind):
            raise ValueError(
                f'With arithmetic="{self.arithmetic}" a stack is {name}, and {value!r} was given. '
                f"Take one that encode or push has given."
            )

    def pop(self, value: Number) -> Number:
        """The stack without its top: Bx − d₀·some − (d₁ − d₀)·one. An empty stack stays empty.

        Chapter: :doc:`/book/cantor-stacks`.
        """
        (d0, d1), (some, one) = self.digits, self.neurons(value)
        y = self.round(self.base * value)
        y = self.round(y - self.round(d0 * some))
        y = self.round(y - self.round((d1 - d0) * one))
        return self._clamp(y)

    def neurons(self, value: Number) -> tuple[Number, Number]:
        """The neurons some = sat(Bx) and one = sat(Bx − d₀ − 1), in units of the arithmetic.

        The first says whether there is a symbol, the second which one is on top.

        Chapter: :doc:`/book/cantor-stacks`.
        """
        self._check(value)
        y = self.round(self.base * value)
        above = self.round(y - (self.digits[0] + 1) * self.unit)
        return self._clamp(y), self._clamp(above)

    def _clamp(self, x: Number) -> Number:
        return min(max(x, 0 * self.unit), self.unit)

    def nonempty(self, value: Number) -> int:
        """1 if there is a symbol, 0 if the stack is empty: ``some``, rounded because floats may be slightly off.

        Chapter: :doc:`/book/cantor-stacks`.
        """
        return int(2 * self.neurons(value)[0] > self.unit)

    def top(self, value: Number) -> int:
        """The top symbol, 0 for an empty stack: ``one``, rounded.

        Chapter: :doc:`/book/cantor-stacks`.
        """
        return int(2 * self.neurons(value)[1] > self.unit)

    def encode(self, symbols: Iterable[int]) -> Number:
        """The number of a stack whose symbols are given from the top down.

        Chapter: :doc:`/book/cantor-stacks`.
        """
        symbols = list(symbols)
        if self.depth is not None and len(symbols) > self.depth:
            raise DepthError(self.full(len(symbols)))
        if self.arithmetic in PRECISION:
            value: Number = 0.0
            for symbol in reversed(symbols):
                value = self.push(value, symbol)
            return value
        numerator, denominator = 0, self.base ** len(symbols)
        for digit in [self._digit(symbol) for symbol in reversed(symbols)][::-1]:
            numerator = numerator * self.base + digit
        exact = self.arithmetic == "exact"
        return Fraction(numerator, denominator) if exact else numerator * (self.unit // denominator)

    def decode(self, value: Number) -> list[int]:
        """The symbols of a number from the top down. A float is popped until it is empty, at most ``depth`` times.

        Chapter: :doc:`/book/cantor-stacks`.
        """
        if self.arithmetic not in PRECISION:
            return [self.digits.index(digit) for digit in self._digits_of(value)]
        symbols: list[int] = []
        while self.nonempty(value) and len(symbols) < self.depth:
            symbols.append(self.top(value))
            value = self.pop(value)
        return symbols

    def _digits_of(self, value: Number) -> list[int]:
        """The digits of an exact number, the top first. Reading them all at once is faster than popping them."""
        self._check(value)
        v = Fraction(value) / Fraction(self.unit if self.arithmetic == "scaled" else 1)
        places = v.denominator.bit_length()  # B^places is a multiple of the denominator, if any power of B is
        number, remainder = divmod(v * self.base**places, 1)
        digits: list[int] = []
        for _ in range(places):
            number, digit = divmod(number, self.base)
            if digit or digits:  # zeros below the bottom are not symbols
                digits.append(digit)
        if number or remainder or not set(digits) <= set(self.digits):
            raise ValueError(
                f"{value!s:.40} is not the number of a stack in base {self.base} with digits {self.digits}. "
                f"Take one that encode or push has given."
            )
        return digits[::-1]

    def full(self, depth: int | str) -> str:
        """The error message for a stack of that depth, which is too deep."""
        instead = 'arithmetic="exact"'
        if self.arithmetic == "scaled":
            instead += ", or more places"
        elif self.base > 4:
            instead += ", or a smaller base"
        elif self.arithmetic == "float32":
            instead = f'arithmetic="float64" ({depth_of(self.base, PRECISION["float64"])} symbols) or "exact"'
        return (
            f"A stack of {depth} symbols was asked for, and {self.arithmetic} holds {self.depth} in base {self.base}: "
            f"the bottom one would be lost. Use {instead}."
        )


class Stack:
    """A stack kept as one number, which refuses the push that would lose its bottom symbol.

    >>> from turing.cantor import Cantor, Stack
    >>> stack = Stack(Cantor(arithmetic="float32"), [1] * 12)
    >>> stack.push(0)  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
    ...
    turing.cantor.DepthError: A stack of 13 symbols was asked for, and float32 holds 12 in base 4: the bottom one
    would be lost. Use arithmetic="float64" (26 symbols) or "exact".

    Chapter: :doc:`/book/cantor-stacks`.
    """

    def __init__(self, code: Cantor, symbols: Iterable[int] = ()):
        symbols = list(symbols)
        self.code, self.value = code, code.encode(symbols)
        self._pushed = symbols[::-1]  # only to notice if floats have lost one

    @property
    def depth(self) -> int:
        """How many symbols are on the stack."""
        return len(self._pushed)

    def push(self, symbol: int) -> None:
        if self.code.depth is not None and self.depth >= self.code.depth:
            raise DepthError(self.code.full(self.depth + 1))
        self.value = self.code.push(self.value, symbol)
        self._pushed.append(symbol)

    def pop(self) -> int | None:
        """Remove the top symbol and return it; None if the stack is empty."""
        if not self.depth:
            return None
        top, pushed = self.code.top(self.value), self._pushed.pop()
        if top != pushed:
            raise DepthError(
                f"The top of this stack reads {top}, and {pushed} was pushed: {self.code.arithmetic} has lost digits "
                f'in base {self.code.base}. Use arithmetic="exact", or a base that is a power of two.'
            )
        self.value = self.code.pop(self.value)
        return top

    def __repr__(self) -> str:
        return f"Stack({self.value}, depth {self.depth})"


def depth_of(base: int, precision: int) -> int:
    """How many digits of a base so many bits hold, ⌊precision / log₂ b⌋: the greatest k with b^k ≤ 2^precision."""
    depth = 0
    while base ** (depth + 1) <= 2**precision:
        depth += 1
    return depth


def check_digits(base: int, digits: tuple[int, int]) -> None:
    """Check that two digits are far enough apart for one neuron to read the top, and another whether there is one."""
    pair = isinstance(digits, (tuple, list)) and len(digits) == 2
    if (
        not pair
        or any(type(number) is not int for number in (base, *digits))
        or not 1 <= digits[0] < digits[1] - 1
        or digits[1] >= base
    ):
        raise ValueError(
            f"base={base!r} with digits={digits!r} was given. The digits are integers, the first at least 1, the "
            f"second at least 2 more than the first and below the base, such as (1, 3) for base 4."
        )


def _unrounded(x: Number) -> Number:
    return x


def _float32(x: Number) -> float:
    return struct.unpack("f", struct.pack("f", x))[0]
