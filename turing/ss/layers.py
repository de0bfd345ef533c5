"""The one kind of layer of SS95: x ↦ σ(Wx + b) with σ(x) = min(max(x, 0), 1), and weights that are fractions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from turing.layout import Layout

__all__ = ["Saturated"]


class Saturated(nn.Module):
    """σ(Wx + b). The numbers are whole ones over one denominator; ``weight`` and ``bias`` are these, rounded.

    ``rows`` gives for each place written the places read, with their weights; ``None`` is the bias. ``late`` places,
    those of the stacks, are added last: the rest are whole numbers, whose sum is exact in any order.

    Chapter: :doc:`/book/07_ss`.
    """

    def __init__(
        self,
        before: Layout,
        after: Layout,
        rows: Mapping[int, Mapping[int | None, Fraction | int]],
        late: Sequence[int] = (),
        dtype: torch.dtype = torch.float32,
    ):
        super().__init__()
        self.layouts, self.late = [before, after], list(late)
        fractions = [Fraction(value) for row in rows.values() for value in row.values()]
        self.denominator = lcm(1, *(value.denominator for value in fractions))
        weight = torch.zeros(after.width, before.width, dtype=torch.int64)
        bias = torch.zeros(after.width, dtype=torch.int64)
        for i, row in rows.items():
            for j, value in row.items():
                number = int(Fraction(value) * self.denominator)
                if j is None:
                    bias[i] = number
                else:
                    weight[i, j] = number
        self.register_buffer("numerators", weight)
        self.register_buffer("bias_numerators", bias)
        self.weight = nn.Parameter(weight.to(torch.float64).div(self.denominator).to(dtype))
        self.bias = nn.Parameter(bias.to(torch.float64).div(self.denominator).to(dtype))

    def forward(self, x: Tensor) -> Tensor:
        """In floats, for each vector of a batch. Shapes: ``(…, in)`` to ``(…, out)``."""
        if not self.late:
            return F.linear(x, self.weight, self.bias).clamp(0, 1)
        early = torch.ones(x.shape[-1], dtype=torch.bool, device=x.device)
        early[self.late] = False
        whole = F.linear(x[..., early], self.weight[:, early], self.bias)
        return (whole + F.linear(x[..., ~early], self.weight[:, ~early])).clamp(0, 1)

    def exact(self, x: Sequence[int], unit: int) -> tuple[list[int], int]:
        """The same equations over whole numbers that stand for multiples of 1 / unit; the unit grows where it must."""
        sums = [
            bias * unit + sum(weight * x[j] for j, weight in row)
            for row, bias in zip(self.sparse, self.bias_numerators.tolist(), strict=True)
        ]
        if self.denominator > 1:
            if any(total % self.denominator for total in sums):
                return self._clamped(sums, unit * self.denominator)
            sums = [total // self.denominator for total in sums]
        return self._clamped(sums, unit)

    @staticmethod
    def _clamped(sums: list[int], unit: int) -> tuple[list[int], int]:
        return [0 if total < 0 else unit if total > unit else total for total in sums], unit

    @property
    def sparse(self) -> list[list[tuple[int, int]]]:
        version = self.numerators._version
        if getattr(self, "_sparse", (None,))[0] != version:
            rows = [[(j, row[j]) for j in range(len(row)) if row[j]] for row in self.numerators.tolist()]
            self._sparse = (version, rows)
        return self._sparse[1]
