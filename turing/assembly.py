"""Build layers and heads from rows of rationals, and read their vectors. Exact constructions share these functions.

Chapter: :doc:`/book/averages`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from turing.attention import Attention
from turing.exact import Exact
from turing.layout import Layout, Slice
from turing.modules import TYPES, Rational, Row, Rows

__all__ = ["copied", "head", "joined", "labelled", "layers", "places", "split"]

CLEAR = 4  # a number that is read as 0 or 1 differs from it by at most 1 / CLEAR


def layers(layouts: Sequence[Layout], every: Sequence[Rows], arithmetic: str, last: str = "none") -> nn.Sequential:
    """Layers in a row, with a ReLU after each but the last, whose activation is ``last``.

    Chapter: :doc:`/book/averages`.
    """
    activations = ["relu"] * (len(every) - 1) + [last]
    made = [
        Rational(layouts[k], layouts[k + 1], rows, activation, arithmetic=arithmetic)
        for k, (rows, activation) in enumerate(zip(every, activations, strict=True))
    ]
    found = nn.Sequential(*made)
    found.layouts = list(layouts)  # type: ignore[assignment]  # for turing.ir
    return found


def head(
    x: Layout,
    size: int,
    maps: tuple[Rows, Rows, Rows],
    into: Sequence[Row],
    arithmetic: str,
    mask: str,
    null: Sequence[int] | None = None,
    score: str = "-abs",
    offset: int | None = None,
) -> Attention:
    """An attention head that fetches the value of the best key, or the average of those that tie. ``maps`` are the rows
    of query, key and value; ``into`` gives for each number of the value the places that it is added to, each with a
    factor.

    Chapter: :doc:`/book/averages`.
    """
    q, v = Layout(q=size), Layout(v=len(into))
    query, key, value = (
        Rational(x, layout, rows, "none", arithmetic=arithmetic) for layout, rows in zip((q, q, v), maps, strict=True)
    )
    rows: Rows = {}
    for k, row in enumerate(into):
        for place, weight in row.items():
            rows.setdefault(place, {})[k] = weight
    write = Rational(v, x, rows, "none", arithmetic=arithmetic)
    dtype = TYPES[arithmetic]
    kept = None if null is None else torch.tensor(null, dtype=dtype)
    nothing = None if null is None else torch.zeros(len(into), dtype=dtype)
    made = Attention(query, key, value, write, kept, nothing, None, score=score, mask=mask, offset=offset)
    made.layout = x
    return made


def copied(before: Layout, after: Layout, *names: str) -> Rows:
    """Rows that copy the slices of these names.

    Chapter: :doc:`/book/averages`.
    """
    return {t: {s: 1} for name in names for t, s in zip(after[name], before[name], strict=True)}


def split(source: int, pair: Slice) -> Rows:
    """A number as two that are not negative, relu(x) and relu(−x), so that it passes a ReLU.

    Chapter: :doc:`/book/averages`.
    """
    return {pair["+"]: {source: 1}, pair["-"]: {source: -1}}


def joined(pair: Slice, target: int) -> Rows:
    """Rows that put together what :func:`split` took apart: the difference of the two numbers.

    Chapter: :doc:`/book/averages`.
    """
    return {target: {pair["+"]: 1, pair["-"]: -1}}


def places(**slices: Any) -> dict[str, Any]:
    """The places that are not 0, by name. For a slice, say which label is 1, or give its number, or numbers by label.

    Chapter: :doc:`/book/averages`.
    """
    found: dict[str, Any] = {}
    for name, value in slices.items():
        if isinstance(value, str):
            found[f"{name}[{value}]"] = 1
        elif isinstance(value, dict):
            found |= {f"{name}[{label}]": number for label, number in value.items() if number}
        elif value:
            found[name] = value
    return found


def labelled(part: Slice, x: Any) -> str | None:
    """The label of the place that is 1 in a slice of a vector; None if none is.

    Chapter: :doc:`/book/averages`.
    """
    exact = isinstance(x, Exact)
    values, one = (x.numerators[part.slice], x.denominator) if exact else (x[part.slice].tolist(), 1)
    ones = [k for k, value in enumerate(values) if not CLEAR * abs(value) <= one]
    if len(ones) > 1 or any(not CLEAR * abs(values[k] - one) <= one for k in ones):
        raise ArithmeticError(
            f"One place of {part.name} should be 1 and the others 0. turing.verify finds the step and the layer where "
            f"that begins."
        )
    return part.labels[ones[0]] if ones else None
