"""How near a float came to fetching another column than exact arithmetic would.

Chapter: :doc:`/book/averages`.
"""

from __future__ import annotations

import torch
from torch import Tensor

from turing.attention import Attention

__all__ = ["PrecisionError", "check_margin"]


class PrecisionError(ArithmeticError):
    """The best score of a head is not certain in this number type: rounding could have put another key first.

    Chapter: :doc:`/book/averages`.
    """


def check_margin(name: str, head: Attention, column: Tensor, keys: Tensor, roundings: int) -> float:
    """By how much the best score of a head is ahead of any other, divided by what rounding may have changed.

    Raises :class:`PrecisionError` unless that is more than 1. Each term of a score has been rounded ``roundings``
    times, so the score is off by at most that many units of the sum of its terms' sizes.

    Chapter: :doc:`/book/averages`.
    """
    query = head.query(column).flatten().double()
    terms = query * keys.reshape(-1, len(query)).double()
    unit = torch.finfo(keys.dtype).eps / 2
    scores = head.scores(column.reshape(1, -1), keys.reshape(-1, len(query))).flatten().double()
    errors = 1.01 * roundings * unit * terms.abs().sum(-1)  # a little more, for products of roundings
    if len(scores) < 2:
        return float("inf")
    best = int(scores.argmax())
    gap, off = scores[best] - scores, errors[best] + errors
    gap[best] = float("inf")
    ratio = torch.where(off > 0, gap / off, torch.where(gap > 0, float("inf"), 0.0))
    worst = float(ratio.min())
    if worst <= 1:
        other = int(ratio.argmin())
        raise PrecisionError(
            f"head {name!r} cannot tell column {best + 1} from column {other + 1}: their scores differ by "
            f"{float(gap[other]):.3g}, and rounding in {str(keys.dtype).removeprefix('torch.')} may change that by "
            f"{float(off[other]):.3g}. Use a wider number type, or arithmetic='exact'."
        )
    return worst
