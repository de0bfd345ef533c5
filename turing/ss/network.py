"""The recurrent network of a stack machine: one forward pass is one step. And that of any Turing machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import product

import torch
from torch import Tensor, nn

from turing.cantor import Cantor, DepthError, Number
from turing.layout import Layout
from turing.machine import _limit
from turing.ss.four import OPERATIONS, four_layers, operation_name
from turing.ss.realtime import one_layer
from turing.stack import Moment, StackMachine, StackRun

__all__ = ["StackNetwork"]

ARITHMETICS = {"float32": torch.float32, "float64": torch.float64, "exact": torch.float64}


class StackNetwork(nn.Module):
    """The network of Siegelmann and Sontag for a machine with p binary stacks (section 6 of the paper).

    ``version`` 4 has the layers F4, F3, F2 and F1, 1 a single one. ``arithmetic`` is ``"exact"``, ``"float32"`` or
    ``"float64"``. Base and digits are 4 and (1, 3) for version 4, 10p² and (10p² − 1 − 4p, 10p² − 1) for version 1, unless
    given.

    Chapter: :doc:`/book/07_ss`.
    """

    def __init__(
        self,
        machine: StackMachine,
        version: int = 4,
        base: int | None = None,
        digits: tuple[int, int] | None = None,
        arithmetic: str = "exact",
    ):
        super().__init__()
        if version not in (4, 1):
            raise ValueError(f"version is 4, for four layers a step, or 1, for one, and {version!r} was given.")
        if arithmetic not in ARITHMETICS:
            raise ValueError(f"An arithmetic is one of {', '.join(ARITHMETICS)}, and {arithmetic!r} was given.")
        if (base is None) != (digits is None):
            raise ValueError("base and digits go together, and one of them was given.")
        p = machine.p
        if base is None:
            base, digits = (4, (1, 3)) if version == 4 else (10 * p * p, (10 * p * p - 1 - 4 * p, 10 * p * p - 1))
        self.machine, self.version, self.arithmetic = machine, version, arithmetic
        self.code = Cantor(base, digits, arithmetic)
        dtype = ARITHMETICS[arithmetic]
        if version == 4:
            layers = four_layers(machine, self.code, dtype)
        else:
            layers = {"step": one_layer(machine, self.code, dtype)}
        self.layers = nn.ModuleDict(layers)
        self.layout = next(iter(self.layers.values())).layouts[0]

    def forward(self, column: Tensor) -> Tensor:
        """One step in floats. Shapes: ``(…, w)`` to ``(…, w)``."""
        for layer in self.layers.values():
            column = layer(column)
        return column

    def initial(self, *stacks: Iterable[str], state: str | None = None) -> list[Number]:
        """The first column, as numbers of the arithmetic."""
        stacks, column = self.machine.stacks(*stacks), [0 * self.code.unit] * self.layout.width
        state = self.machine.initial if state is None else state
        values = [self.code.encode(map(self.machine.symbols.index, stack)) for stack in stacks]
        if self.version == 4:
            column[self.layout.st[state]] = self.code.unit
            for i, value in enumerate(values):
                column[self.layout.q[i]] = value
            return column
        layer = self.layers["step"]
        k = layer.class_of(state)
        now = tuple(1 + self.machine.symbols.index(stack[0]) if stack else 0 for stack in stacks)
        for v in product(range(3), repeat=self.machine.p):
            if all(level <= here for level, here in zip(v, now, strict=True)):
                column[layer.det[k, v]] = self.code.unit
        for i, value in enumerate(values):
            column[self.layout.noop[i]] = value
        return column

    @torch.no_grad()
    def steps(self, column: Sequence[Number]) -> Iterator[dict[str, list[Number]]]:
        """For each step, the column it begins with and what leaves each layer, by name."""
        if self.arithmetic == "exact":
            yield from self._exact(column)
            return
        x = torch.tensor(column, dtype=ARITHMETICS[self.arithmetic])
        while True:
            found = {"column": x}
            for name, layer in self.layers.items():
                found[name] = x = layer(x)
            yield {name: vector.tolist() for name, vector in found.items()}

    def _exact(self, column: Sequence[Fraction]) -> Iterator[dict[str, list[Fraction]]]:
        unit, base = 1, self.code.base
        while any((value * unit).denominator > 1 for value in column):
            unit *= base
        x = [int(value * unit) for value in column]
        while True:
            found = {"column": _Scaled(x, unit)}
            for name, layer in self.layers.items():
                x, unit = layer.exact(x, unit)
                found[name] = _Scaled(x, unit)
            yield found
            while unit > 1 and all(value % base == 0 for value in x):
                x, unit = [value // base for value in x], unit // base
