"""How a run in floats stops before it fetches another column than exact arithmetic would.

Chapter: :doc:`/book/averages`.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

__all__ = ["PrecisionError", "check_margin"]


class PrecisionError(ArithmeticError):
    """The best score of an attention head is not certain in this number type: rounding could have put another key
    first.

    ``perez21`` and ``merrill24`` raise it in floats: compile with ``arithmetic="float64"`` or ``"exact"``.

    Chapter: :doc:`/book/averages`.
    """


def check_margin(name: str, head: Any, column: Tensor, keys: Tensor, roundings: tuple[int, int]) -> float:
    """By how much the best score of a head is ahead of any other, divided by what rounding may have changed.

    Raises :class:`PrecisionError` unless that is more than 1. ``roundings`` counts the roundings of a number of the
    query, and those of a number of a key, its product and the sum. Two scores have the query in common, so its errors
    count only where their keys differ.

    Chapter: :doc:`/book/averages`.
    """
    query = head.query.forward(column.reshape(1, -1))  # no hook fires twice
    keys, unit = keys.reshape(-1, query.shape[-1]), torch.finfo(keys.dtype).eps / 2
    if head.null_key is not None:
        keys = torch.cat([keys, head.null_key[None]])
    scores, query = (query @ keys.T).flatten().double(), query.flatten().double()
    if head.score == "-abs":
        scores = -scores.abs()
    if len(scores) < 2:
        return float("inf")
    terms = query * keys.double()
    if head.score == "-abs":
        terms = -terms * terms.sum(-1, keepdim=True).sign()
    best = int(scores.argmax())
    gap, sizes = scores[best] - scores, terms.abs().sum(-1)
    of_query, of_key = roundings
    off = of_key * (sizes + sizes[best]) + of_query * (terms - terms[best]).abs().sum(-1)
    off *= 1.01 * unit  # a little more, for products of roundings
    gap[best] = float("inf")
    ratio = torch.where(off > 0, gap / off, torch.where(gap > 0, float("inf"), 0.0))
    worst = float(ratio.min())
    if not worst > 1:  # NaN too: an infinite score is certain of nothing
        other, what = int(ratio.argmin()), "row" if head.mask == "cross" else "column"
        raise PrecisionError(
            f"head {name!r} cannot tell {what} {best + 1} from {what} {other + 1}: their scores differ by "
            f"{float(gap[other]):.3g}, and rounding in {str(keys.dtype).removeprefix('torch.')} may change that by "
            f"{float(off[other]):.3g}. Use a wider number type, or arithmetic='exact'."
        )
    return worst
