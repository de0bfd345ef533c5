"""A network in eager PyTorch, with an index in place of its heads: a step costs the same whenever it comes.

Chapter: :doc:`How fast </book/how-fast>`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from turing import ir
from turing.construction import Reader
from turing.engine.bits import NOWHERE
from turing.engine.index import Refusal, check_heads, infinite, refused
from turing.engine.standing import Standing
from turing.wcm import WCM21

__all__ = ["Indexed"]

SLICES = ("pos1", "pos2", "pos3", "scr3", "scr1", "scr2", "sym2")


class Indexed:
    """A run of ``wcm21`` in PyTorch, step by step as :meth:`columns` or :meth:`vectors` are asked for.

    What a head would find among all columns is kept for each cell: the number of its last visit, and what was
    written then. Cells are known by their position bits, as they come out of the layers.

    Chapter: :doc:`How fast </book/how-fast>`.
    """

    def __init__(self, network: WCM21, word: Sequence[str]):
        self.pre_attention, self.post_attention = check_heads(network)
        if next(network.parameters()).device.type != "cpu":
            raise Refusal('engine="indexed" computes on the CPU. Move the network there: network.cpu().')
        Reader(network, word)  # refuses a word that is too long
        self.network, self.layout, self.step = network, network.layout, 0
        self.column = network.initial(word).detach()
        tape = network.encode(word).detach().numpy()
        self.bits, self.slices = np.arange(network.bits), [self.layout[name].slice for name in SLICES]
        self.beta = np.zeros(network.bits, tape.dtype)  # the number of the column, in bits
        self.largest = np.finfo(tape.dtype).max / 2  # before the heads, which may double it
        position, symbol = self.layout.pos2.slice, self.layout.sym1.slice
        self.word = {row[position].tobytes(): row[symbol].copy() for row in tape}
        self.visits: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}  # by position: number and what was written
        self.known: set[bytes] = set()  # positions that are bits

    def stand(self, found: Standing) -> None:
        """Continue a run from where another one stood."""
        dtype, size = self.beta.dtype, self.bits
        self.step, self.column = found.step, torch.from_numpy(found.column.astype(dtype))
        self.beta, self.first = (found.step >> size & 1).astype(dtype), found.first.astype(dtype)
        for position, last, wrote in zip(found.positions.tolist(), found.last.tolist(), found.wrote, strict=True):
            if last >= 0:
                key = np.array([position >> k & 1 for k in size.tolist()], dtype).tobytes()
                self.visits[key] = (last >> size & 1).astype(dtype), wrote.astype(dtype)

    def standing(self, reader: Reader, step: int) -> Standing:
        """The :class:`Standing` of the run and of the :class:`~turing.runs.Reader` that follows it."""
        symbols, blank, cells = self.network.machine.symbols, self.network.machine.blank, reader.notes["cells"]
        powers = 2 ** self.bits.astype(object)
        visits = {int((np.frombuffer(key, self.beta.dtype) != 0) @ powers): visit for key, visit in self.visits.items()}
        positions = sorted({*visits, *cells})
        none = np.zeros(len(self.bits)), np.zeros(len(symbols))
        last = [int(visits[p][0].astype(int) @ powers) if p in visits else -1 for p in positions]
        wrote = [visits.get(p, none)[1] for p in positions]
        at = [cells.get(p, NOWHERE) for p in positions]
        marks = [symbols.index(reader.now.cells.get(cell, blank)) for cell in at]
        first = getattr(self, "first", np.zeros(len(symbols)))
        return Standing(
            step, reader.now.head, self.column.numpy().copy(), first, np.array(positions, np.uint64),
            np.array(last, np.int64), np.array(wrote), np.array(at, np.int64), np.array(marks, np.int64),
        )  # fmt: skip

    @torch.no_grad()
    def columns(self) -> Iterator[Tensor]:
        """Yield the columns after each step. Shape: ``(1, w)``."""
        while True:
            self._advance(None)
            yield self.column.unsqueeze(0)

    @torch.no_grad()
    def vectors(self) -> Iterator[dict[str, Tensor]]:
        """Yield for each step every vector, by the name of the module that it leaves."""
        while True:
            found = {"column": self.column.clone()}
            self._advance(found)
            yield found

    def _advance(self, seen: dict[str, Tensor] | None) -> None:
        y = self._through(self.pre_attention, self.column, seen)
        v: Any = y.numpy()  # the same memory
        parts = map(v.__getitem__, self.slices)
        stamp, own, asked, number, fetched, symbol, written = parts
        # as keys of a dictionary; + 0 makes a 0 of -0
        own, asked = (own + 0).tobytes(), (asked + 0).tobytes()
        written = written.copy()
        beta, new = self.beta, not self.known.issuperset((own, asked))
        if new or number.any() or (stamp != beta).any():
            refused(self.network, self.step, v)
            self.known |= {own, asked}
        if not np.abs(v).max() <= self.largest:
            raise infinite(self.step)
        self.visits[own] = beta, written
        if self.step == 0:
            self.first = written
        last, there = self.visits.get(asked, (None, self.first))
        if last is not None:
            v[self.layout.scr4["visited"]] += 1
        self._note(seen, "visited", y)
        for j in reversed(range(len(beta))) if seen is not None else ():
            number[j] += 0 if last is None else last[j]
            self._note(seen, f"search{j}", y)
        if seen is None and last is not None:
            number += last
        fetched += there
        self._note(seen, "last", y)
        if asked in self.word:
            symbol += self.word[asked]
        self._note(seen, "initial", y)
        self.column = self._through(self.post_attention, y, seen).clone()
        self.step += 1
        self.beta = (self.step >> self.bits & 1).astype(v.dtype)
        self.column.numpy()[self.slices[0]] += self.beta

    def _through(self, modules: Sequence[ir.Module], x: Tensor, seen: dict[str, Tensor] | None) -> Tensor:
        for module in modules:
            for layer in module.parts:
                assert isinstance(layer, ir.Layer)
                x = torch.addmv(layer.bias.values, layer.weight.values, x)
                if layer.relu:
                    x.relu_()
            self._note(seen, module.name, x)
        return x

    @staticmethod
    def _note(seen: dict[str, Tensor] | None, name: str, x: Tensor) -> None:
        if seen is not None:
            seen[name] = x.clone()
