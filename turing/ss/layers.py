"""The one kind of layer of SS95: x ↦ σ(Wx + b) with σ(x) = min(max(x, 0), 1), and weights that are fractions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, ItemsView, Mapping, Sequence, ValuesView
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from turing.layout import Layout

__all__ = ["Saturated"]

TYPES = {"exact": torch.float64, "float32": torch.float32, "float64": torch.float64}  # of weights, by arithmetic
Row = dict[int | None, Fraction | int]  # the places that a place reads, with their weights; None is the bias
Rows = dict[int, Row]
Whole = Callable[[Sequence[int], int], tuple[list[int], int]]


class Saturated(nn.Module):
    """σ(Wx + b). The numbers are whole ones over one denominator; ``weight`` and ``bias`` are these, rounded.

    ``rows`` gives for each place written the places read, with their weights; ``None`` is the bias. ``late`` places,
    those of the stacks, are added last: the rest are whole numbers, whose sum is exact in any order. ``arithmetic``
    says which of the two copies a network runs on: the whole numbers if it is ``"exact"``, else the rounded ones.

    Chapter: :doc:`/book/07_ss`.
    """

    numerators: Tensor
    bias_numerators: Tensor

    def __init__(
        self,
        before: Layout,
        after: Layout,
        rows: Mapping[int, Mapping[int | None, Fraction | int]],
        late: Sequence[int] = (),
        arithmetic: str = "exact",
    ):
        super().__init__()
        self.layouts, self.late, self.arithmetic = [before, after], list(late), arithmetic
        entries = [(i, j, value) for i, row in rows.items() for j, value in row.items()]
        self.denominator = lcm(1, *{value.denominator for _, _, value in entries})
        numbers = torch.zeros(after.width, before.width + 1, dtype=torch.int64)  # the last column is the bias
        if entries:
            i, j, values = zip(*entries, strict=True)
            columns = [before.width if place is None else place for place in j]
            numerators = [int(value * self.denominator) for value in values]
            if max(map(abs, numerators)) >= 2**63:
                raise ValueError(f"This base asks for a weight of {max(map(abs, numerators)):,}. Take a smaller one.")
            numbers[list(i), columns] = torch.tensor(numerators)
        self.register_buffer("numerators", numbers[:, :-1].contiguous())
        self.register_buffer("bias_numerators", numbers[:, -1].contiguous())
        self.weight, self.bias = (nn.Parameter(part.to(TYPES[arithmetic])) for part in self.rounded())

    def rounded(self) -> tuple[Tensor, Tensor]:
        """Weight and bias from the whole numbers as they are now."""
        weight, bias = (part.to(torch.float64) / self.denominator for part in (self.numerators, self.bias_numerators))
        return weight, bias

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
        return self.whole()(x, unit)

    def whole(self) -> Whole:
        """:meth:`exact` as a function that holds the numerators as they are now, and leaves out those that are 0."""
        columns: list[dict[int, list[int]]]  # which rows have a weight
        columns = [defaultdict(list) for _ in range(self.numerators.shape[1])]
        for i, row in enumerate(self.sparse):
            for j, weight in row:
                columns[j][weight].append(i)
        biases, denominator = self.bias_numerators.tolist(), self.denominator

        def step(x: Sequence[int], unit: int) -> tuple[list[int], int]:
            scaled = {bias: bias * unit for bias in set(biases)}
            sums = [scaled[bias] for bias in biases]
            for number, column in zip(x, columns, strict=True):
                if number:
                    for weight, rows in column.items():
                        term = weight * number
                        for i in rows:
                            sums[i] += term
            one = unit * denominator
            sums = [0 if total < 0 else one if total > one else total for total in sums]
            if denominator == 1 or any(total % denominator for total in set(sums)):
                return sums, one
            return [total // denominator for total in sums], unit

        return step

    @property
    def sparse(self) -> list[list[tuple[int, int]]]:
        """For each row the places that it reads, with their numerators."""
        rows: list[list[tuple[int, int]]] = [[] for _ in self.numerators]
        places = self.numerators.nonzero()
        for (i, j), number in zip(places.tolist(), self.numerators[tuple(places.T)].tolist(), strict=True):
            rows[i].append((j, number))
        return rows


if TYPE_CHECKING:

    class Layers(nn.ModuleDict):
        """A ModuleDict of these layers, for type checkers."""

        def __getitem__(self, key: str) -> Saturated: ...

        def values(self) -> ValuesView[Saturated]: ...

        def items(self) -> ItemsView[str, Saturated]: ...

else:
    Layers = nn.ModuleDict
