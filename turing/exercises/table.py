"""The exercises of the chapter The table, measured."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite, log
from numbers import Real
from operator import index
from typing import Any

from turing.exercises import Wrong
from turing.exercises.functions import called, given_function
from turing.exercises.weights import _short_repr
from turing.machine import TuringMachine

RUNNER = TuringMachine({("A", "0"): ("A", "1", 1)}, "A", (), "0")
FAR = 200  # steps within which the lines of two constructions cross
SETS = [  # of points (x, y), and their exponents
    [(2, 8), (4, 32), (8, 128)],
    [(10, 5), (100, 5), (1000, 5)],
    [(4, 6), (8, 14), (16, 30), (32, 62)],
    [(1, 100), (3, 30), (50, 9), (70, 1)],
    [(2, 1), (2, 4), (9, 5)],
]


def mantissa(answer: object) -> str:
    """The bits of a fraction: of its mantissa if that is finite in binary, else of numerator and denominator."""
    from turing.comparison import bits_of

    own = given_function(answer, "a numerator and a denominator")
    tried = 0
    for under in (1, 2, 8, 3, 6, 7, 12, 64, 100, 1024):
        for over in range(-70, 71):
            number = Fraction(over, under)
            where = f"For over={number.numerator} under={number.denominator}"
            found, wanted = _integer(called(own, where, number.numerator, number.denominator), where), bits_of(number)
            if found != wanted:
                raise Wrong(f"{where} your function gives {found}; {wanted} was expected.")
            tried += 1
    return f"all {tried:,} fractions"


def exponent(answer: object) -> str:
    """The exponent of y ≈ c · xᵃ by least squares on logarithms."""
    own = given_function(answer, "a list of points")
    for points in SETS:
        xs, ys = ([log(value) for value in values] for values in zip(*points, strict=True))
        middle, height = sum(xs) / len(xs), sum(ys) / len(ys)
        wanted = sum((x - middle) * (y - height) for x, y in zip(xs, ys, strict=True))
        wanted /= sum((x - middle) ** 2 for x in xs)
        where = f"For points={' '.join(f'{x},{y}' for x, y in points)}"
        found = called(own, where, list(points))
        if isinstance(found, bool) or not isinstance(found, Real) or not isfinite(found):
            raise Wrong(f"{where} your function gives {_short_repr(found)}, which is not a finite number.")
        if abs(float(found) - wanted) > 1e-9:
            raise Wrong(f"{where} your function gives {float(found):.6f}; {wanted:.6f} was expected.")
    return f"all {len(SETS)} sets of points"


def break_even(answer: object) -> str:
    """From which step on the longest number of merrill24 is shorter than that of ss95, on a walk to the right."""
    t = _integer(answer, "Your answer")
    if not 2 <= t <= FAR:
        raise Wrong(f"t={t} is not between 2 and {FAR}.")
    before, at = (_bits(steps) for steps in (t - 1, t))
    if before[0] > before[1]:
        raise Wrong(
            f"For t={t - 1} ss95 takes {before[0]} bits, and merrill24 {before[1]}: the step is earlier than {t}."
        )
    if at[0] <= at[1]:
        raise Wrong(f"For t={t} ss95 takes {at[0]} bits, and merrill24 {at[1]}: the step is later than {t}.")
    return f"the runs of {t - 1} and {t} steps: {before[0]} bits against {before[1]}, then {at[0]} against {at[1]}"


def _bits(steps: int) -> tuple[Any, Any]:
    from turing.comparison import compare

    found = compare(RUNNER, "", steps, ["ss95", "merrill24"])
    return found["ss95"].bits, found["merrill24"].bits


def _integer(value: object, where: str) -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        return index(value)  # type: ignore[arg-type]  # it raises
    except TypeError:
        raise Wrong(f"{where}: an integer is expected, and {_short_repr(value)} was given.") from None


EXERCISES = {"mantissa": mantissa, "exponent": exponent, "break_even": break_even}
