"""Where a run stands: its column, and of each cell what the heads would find there. Every engine can go on from it.

Chapter: :doc:`How fast </book/how-fast>`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from turing.attention import Attention
from turing.construction import State
from turing.engine.bits import NOWHERE

if TYPE_CHECKING:
    from turing.wcm import WCM21

__all__ = ["Standing"]


@dataclass(frozen=True)
class Standing:
    """Where a run of ``wcm21`` stands: the number of its ``step``, the cell of the ``head``, the newest ``column``, and
    what the ``first`` step wrote.

    The other fields have a row for each position that is known: ``positions`` has its bits as a number, ``last`` the
    number of the last visit or −1, ``wrote`` what that visit wrote, ``cells`` the cell of the tape that it stands for,
    and ``marks`` the number of the symbol on this cell.

    Chapter: :doc:`How fast </book/how-fast>`.
    """

    step: int
    head: int
    column: np.ndarray
    first: np.ndarray
    positions: np.ndarray
    last: np.ndarray
    wrote: np.ndarray
    cells: np.ndarray
    marks: np.ndarray

    def __post_init__(self) -> None:
        for name in ("first", "wrote"):  # numbers of the network, as those of the column
            object.__setattr__(self, name, np.asarray(getattr(self, name), self.column.dtype))

    def tape(self, symbols: tuple[str, ...]) -> dict[int, str]:
        """What is written on the cells of the word and those visited so far."""
        pairs = zip(self.cells.tolist(), self.marks.tolist(), strict=True)
        return {cell: symbols[mark] for cell, mark in pairs if cell != NOWHERE}

    def notes(self) -> dict[str, dict[int, int]]:
        """The cells by their positions, as the guard of WCM21 keeps them."""
        pairs = zip(self.positions.tolist(), self.cells.tolist(), strict=True)
        return {"cells": {position: cell for position, cell in pairs if cell != NOWHERE}}

    @torch.no_grad()
    def state(self, network: WCM21, word: str) -> State:
        """The state from which plain PyTorch goes on: of all columns so far the heads remember the last visit to each
        cell, and the first column, which is all that they can find.

        Chapter: :doc:`How fast </book/how-fast>`.
        """
        layout, visited = network.layout, self.last >= 0
        numbers, places = self.last[visited].astype(np.uint64), self.positions[visited]
        rows = np.zeros((len(numbers) + 1, layout.width))
        bits = np.arange(network.bits, dtype=np.uint64)
        rows[1:, layout.pos1.slice], rows[1:, layout.pos2.slice] = (x[:, None] >> bits & 1 for x in (numbers, places))
        rows[1:, layout.sym2.slice], rows[0, layout.sym2.slice] = self.wrote[visited], self.first
        columns = torch.from_numpy(rows[np.argsort([-1, *self.last[visited]])]).to(network._like).unsqueeze(0)
        state = network.start([word])
        seen = columns if self.step else columns[:, :0]
        heads = ((name, module) for name, module in network.pipeline.items() if isinstance(module, Attention))
        memory = {name: head.remember(seen) for name, head in heads if head.mask == "causal"}
        column = torch.from_numpy(self.column).to(network._like).unsqueeze(0)
        return State(column, state.tape, {**memory}, self.step)
