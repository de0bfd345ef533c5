"""A network in eager PyTorch, with an index in place of its heads: a step costs the same whenever it comes.

Chapter: :doc:`/book/08_fast`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from turing.attention import Attention
from turing.engine.index import Refusal, check_heads, flat, refused
from turing.gates import Layer
from turing.wcm import WCM21
from turing.wcm.network import Reader

__all__ = ["Indexed"]


class Indexed:
    """A run in eager PyTorch: :meth:`columns` and :meth:`vectors` come as they are asked for.

    What a head would find among all columns is kept for each cell: the number of its last visit, and what was
    written then. Cells are known by their position bits, as they come out of the layers.

    Chapter: :doc:`/book/08_fast`.
    """

    def __init__(self, network: WCM21, word: Sequence[str]):
        check_heads(network, ("float32", "float64"))
        if next(network.parameters()).device.type != "cpu":
            raise Refusal('engine="indexed" computes on the CPU. Move the network there: network.cpu().')
        Reader(network, word)  # refuses a word that is too long
        self.network, self.layout, self.step = network, network.layout, 0
        layers = [(name, module, flat(module)) for name, module in network.pipeline.items()]
        heads = [k for k, (_, module, _) in enumerate(layers) if isinstance(module, Attention)]
        self.before, self.behind = layers[: heads[0]], layers[heads[-1] + 1 :]
        self.column = network.initial(word).detach()
        tape = network.encode(word).detach().numpy()
        bits, symbols = self.layout.pos2.slice, self.layout.sym1.slice
        self.word = {row[bits].tobytes(): row[symbols].copy() for row in tape}
        self.visits: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}  # by position: number and what was written
        self.known: set[bytes] = set()  # positions that are bits

    @torch.no_grad()
    def columns(self) -> Iterator[Tensor]:
        """The columns after each step, as batches of one. Shape: ``(1, w)``."""
        while True:
            self._advance(None)
            yield self.column.unsqueeze(0)

    @torch.no_grad()
    def vectors(self) -> Iterator[dict[str, Tensor]]:
        """For each step every vector, by the name of the module that it leaves."""
        while True:
            found = {"column": self.column.clone()}
            self._advance(found)
            yield found

    def _advance(self, seen: dict[str, Tensor] | None) -> None:
        layout = self.layout
        y = self._through(self.before, self.column, seen)
        v = y.numpy()  # the same memory
        stamp, own, asked = v[layout.pos1.slice], v[layout.pos2.slice].tobytes(), v[layout.pos3.slice].tobytes()
        beta = np.array([self.step >> k & 1 for k in range(self.network.bits)], v.dtype)
        if own not in self.known or asked not in self.known or v[layout.scr3.slice].any() or (stamp != beta).any():
            refused(self.network, self.step, v)
            self.known |= {own, asked}
        written = v[layout.sym2.slice].copy()
        self.visits[own] = beta, written
        if self.step == 0:
            self.first = written
        number, fetched = self.visits.get(asked, (None, self.first))
        if number is not None:
            v[layout.scr4["visited"]] += 1
        self._note(seen, "visited", y)
        for j in reversed(range(self.network.bits)) if seen is not None else ():
            v[layout.scr3[j]] += 0 if number is None else number[j]
            self._note(seen, f"search{j}", y)
        if seen is None and number is not None:
            v[layout.scr3.slice] += number
        v[layout.scr1.slice] += fetched
        self._note(seen, "last", y)
        if (symbol := self.word.get(asked)) is not None:
            v[layout.scr2.slice] += symbol
        self._note(seen, "initial", y)
        self.column = self._through(self.behind, y, seen).clone()
        self.step += 1
        self.column.numpy()[layout.pos1.slice] += [self.step >> k & 1 for k in range(self.network.bits)]

    def _through(self, layers: list, x: Tensor, seen: dict[str, Tensor] | None) -> Tensor:
        for name, _, parts in layers:
            for part in parts:
                x = F.linear(x, part.weight, part.bias)
                x = x.relu_() if isinstance(part, Layer) else x
            self._note(seen, name, x)
        return x

    @staticmethod
    def _note(seen: dict[str, Tensor] | None, name: str, x: Tensor) -> None:
        if seen is not None:
            seen[name] = x.clone()
