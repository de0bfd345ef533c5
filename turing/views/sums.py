"""A row of weights written as a sum with names, and numbers as one writes them by hand.

Chapter: :doc:`/book/gates`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from turing.ir import Number, Row
from turing.views.names import fitting

FUNCTIONS = {"none": "", "relu": "ReLU", "clamp": "σ"}


def written(row: Row, names: Sequence[str], room: int, activation: str = "none") -> str:
    """A row as one writes it by hand: what is taken away comes last, and it is 1 − a rather than −a + 1."""
    added = [(j, weight) for j, weight in row.terms if weight > 0]
    taken = [(j, weight) for j, weight in row.terms if weight < 0]
    terms = [
        _signed(weight, names[j] if abs(weight) == 1 else f"{size(weight)} {names[j]}")
        for j, weight in [*added, *taken]
    ]
    constant = [_signed(row.bias, size(row.bias))] if row.bias else []
    first, last = (constant, []) if row.bias > 0 and not added else ([], constant)
    kept = fitting(terms, room)
    cut = [f"{terms[kept][0]} … ({len(terms)} terms)"] if kept < len(terms) else []
    text = " ".join([*first, *terms[:kept], *cut, *last]) or "0"
    text = text[2:] if text.startswith("+") else text.replace("− ", "−", 1)
    return f"{FUNCTIONS[activation]}({text})" if FUNCTIONS[activation] else text


def size(number: Number) -> str:
    """A number without its sign: integers in full, others to six digits, or as a fraction where these are too few."""
    number = -number if number < 0 else number
    if number == int(number) and number < 1e9:
        return f"{int(number)}"
    text = f"{float(number):.6g}"
    return str(number) if isinstance(number, Fraction) and Fraction(text) != number else text


def _signed(number: Number, text: str) -> str:
    return f"{'−' if number < 0 else '+'} {text}"
