"""A network in a compiled loop over its own weights, with an index in place of its heads.

Chapter: :doc:`/book/08_fast`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from turing.attention import Attention
from turing.engine.index import check_heads, flat, infinite, refused
from turing.gates import Layer
from turing.wcm import WCM21
from turing.wcm.network import Reader

__all__ = ["Native", "Program"]

SLICES = ("st", "sym1", "sym2", "pos1", "pos2", "pos3", "scr1", "scr2", "scr3", "scr4", "scr5")
ROWS = 256  # steps that are recorded at a time
MOST = 2**62  # steps of a call: the loop counts in 64 bits


class Program:
    """The weights of a network as the compiled loop takes them: input by input, without the zeros around.

    Chapter: :doc:`/book/08_fast`.
    """

    def __init__(self, network: WCM21):
        try:
            from turing.engine import kernel
        except ImportError:
            raise ImportError(
                'engine="native" needs numba, which is not installed. Run pip install numba, or take engine="indexed".'
            ) from None
        check_heads(network)
        self.network, self.kernel = network, kernel
        self.dtype = next(network.parameters()).detach().cpu().numpy().dtype
        self.widths = [network.layout_of(name).width for name in ("column", *network.pipeline)]
        ends, filled = np.cumsum(self.widths), 0
        layers: list[list[int]] = []
        looks: list[int] = []
        inputs: list[list[int]] = []
        weights: list[np.ndarray] = []
        biases: list[np.ndarray] = []
        size = kernel.BLOCK
        heads = []
        for module, recorded in zip(network.pipeline.values(), ends, strict=False):
            if isinstance(module, Attention):
                heads.append((len(layers), recorded))
            parts = flat(module)
            for part in parts:
                W, b = (numbers.detach().cpu().numpy() for numbers in (part.weight, part.bias))
                begin = len(inputs)
                for column in W.T:
                    rows = column.nonzero()[0]
                    first, end = (rows[0] // size, rows[-1] // size + 1) if len(rows) else (0, 0)
                    span = np.zeros((end - first) * size, self.dtype)
                    span[rows - first * size] = column[rows]
                    inputs.append([first * size, end - first, filled])
                    weights.append(span)
                    filled += len(span)
                inputs += [[0, 0, 0]] * (-len(inputs) % size)  # whole blocks of inputs, too
                whole = self._whole(W, b)
                end = recorded if part is parts[-1] else 0
                bias = sum(map(len, biases))
                look = len(looks)
                in_word = 8 // self.dtype.itemsize
                some = kernel.WORDS * in_word
                looks += [k // in_word for k in range(0, W.shape[1], some) if W[:, k : k + some].any()]
                layers.append([begin, bias, W.shape[1], len(b), isinstance(part, Layer), end, whole, look, len(looks)])
                biases.append(b)
        self.looks = np.array(looks, np.uint64)
        self.layers, self.inputs = np.array(layers, np.uint64), np.array(inputs, np.uint64).reshape(-1, 3)
        self.weights, self.biases = np.concatenate(weights), np.concatenate(biases)
        self.heads, self.recorded = map(np.uint64, heads[0])
        self.widest = -(-max(*self.widths, *(row[3] for row in layers)) // size) * size
        layout, machine = network.layout, network.machine
        sizes = len(machine.states), len(machine.symbols), network.bits, layout.width
        self.where = np.array([*(layout[name].start for name in SLICES), *sizes], np.uint64)
        self.halting = np.array([state in machine.halting for state in machine.states])

    def _whole(self, W: np.ndarray, b: np.ndarray) -> bool:
        """Whether sums over inputs that are 0 or 1 are exact in any order: whole numbers, and not too large."""
        most = np.abs(W).sum(axis=1, dtype=np.float64) + np.abs(b)
        whole = not np.any(W % 1) and not np.any(b % 1)
        return bool(whole and most.max() < 1 / np.finfo(self.dtype).eps)


class Native:
    """A run in the compiled loop: where it stands, and :meth:`advance`.

    A run that is ``guarded`` is read as it goes, and stops where the machine does. Else it goes on with whatever
    numbers come.

    Chapter: :doc:`/book/08_fast`.
    """

    keys: np.ndarray
    slots: np.ndarray
    wrote: np.ndarray

    def __init__(self, network: WCM21 | Program, word: Sequence[str], guarded: bool = False):
        self.program = program = network if isinstance(network, Program) else Program(network)
        network, kernel, dtype = program.network, program.kernel, program.dtype
        machine, self.word, self.guarded = network.machine, word, guarded
        Reader(network, word)  # refuses a word that is too long
        self.vectors_, self.known, self.sums = np.zeros((3, len(program.layers) + 1, program.widest), dtype)
        self.column = self.vectors_[0, : network.layout.width]
        self.column[:] = network.initial(word).detach().cpu().numpy()
        self.odd = np.zeros(len(program.layers), np.int64)
        for sums, layer in zip(self.sums[1:], program.layers.astype(int), strict=True):
            bias, size = layer[kernel.BIAS], layer[kernel.OUT]
            sums[:size] = program.biases[bias : bias + size]
        self.first = np.zeros(len(machine.symbols), dtype)  # what the first step wrote
        self.count = np.zeros(5, np.int64)
        self.count[kernel.STATE] = machine.states.index(machine.initial)
        self.blank = machine.symbols.index(machine.blank)
        self.room(max(len(word), 1) + 16)
        for cell, symbol in enumerate(map(machine.symbols.index, word) if len(word) else [-1]):
            self.add(cell % 2**network.bits, cell, -1, symbol, max(symbol, 0))  # the blank is symbol 0
        over = guarded and machine.initial in machine.halting
        self.status = kernel.HALTED if over else kernel.LIMIT

    @property
    def steps(self) -> int:
        return int(self.count[self.program.kernel.STEP])

    @property
    def used(self) -> int:
        return int(self.count[self.program.kernel.USED])

    @property
    def state(self) -> str:
        return self.program.network.machine.states[self.count[self.program.kernel.STATE]]

    @property
    def head(self) -> int:
        """The cell of the head, as a guarded run has read it."""
        return int(self.count[self.program.kernel.HEAD])

    def room(self, size: int) -> None:
        """Make room for so many cells."""
        used, kernel = self.used, self.program.kernel
        keys, slots = np.zeros(size, np.uint64), np.zeros((size, 4), np.int64)
        wrote = np.zeros((size, len(self.first)), self.first.dtype)
        if used:
            keys[:used], slots[:used], wrote[:used] = self.keys[:used], self.slots[:used], self.wrote[:used]
        self.keys, self.slots, self.wrote = keys, slots, wrote
        self.table = np.zeros(1 << (2 * size - 1).bit_length(), np.uint64)
        kernel.enter(used, self.table, keys)

    def add(self, key: int, *slot: int) -> None:
        """Take a cell into the index: its position, and cell, last visit, symbol of the word and symbol there."""
        place = self.program.kernel.find(np.uint64(key), self.table, self.keys)
        self.keys[self.used], self.slots[self.used] = key, slot
        self.table[place] = self.used + 1
        self.count[self.program.kernel.USED] += 1

    def advance(self, steps: int, record: np.ndarray | None = None) -> bool:
        """So many more steps; false if the run is over."""
        program, kernel = self.program, self.program.kernel
        record = np.zeros((0, 0), program.dtype) if record is None else record
        end, begun = self.steps + steps, self.steps
        while self.status in (kernel.LIMIT, kernel.ROOM) and self.steps < end:
            self.status = kernel.advance(
                program.layers, program.heads, program.looks, program.inputs, program.weights, program.biases,
                program.where, program.halting, self.blank, self.vectors_.ravel(), self.known.ravel(),
                self.sums.ravel(), self.odd, np.uint64(program.widest), self.table, self.keys, self.slots, self.wrote,
                self.first, self.count, min(end - self.steps, MOST), self.guarded, record[self.steps - begun :].ravel(),
                np.uint64(record.shape[-1]), program.recorded,
            )  # fmt: skip
            if self.status == kernel.ROOM:
                self.room(2 * len(self.keys))
        return self.status in (kernel.LIMIT, kernel.ROOM)

    def raise_(self) -> None:
        """Say why the loop has stopped, if it could not go on, in the words that plain PyTorch would have."""
        program, kernel = self.program, self.program.kernel
        network, machine = program.network, program.network.machine
        if self.status in (kernel.NO_BIT, kernel.TIME, kernel.SEARCH):
            refused(network, self.steps, self.vectors_[int(program.heads)])
        if self.status == kernel.INFINITE:
            raise infinite(self.steps)
        if self.status <= kernel.ROOM:
            return
        reader = Reader(network, self.word)
        reader.resume(self.steps - 1, int(self.count[kernel.HEAD]), self.tape(), self.cells())
        (reading,) = network.read(torch.from_numpy(self.column.copy()).unsqueeze(0))
        reader.enter(reading)
        raise AssertionError(f"The compiled loop stopped with {self.status}, and the column is {reading}: {machine!r}.")

    def cells(self) -> dict[int, int]:
        """The cells that are known, by position."""
        kernel = self.program.kernel
        pairs = zip(self.keys[: self.used].tolist(), self.slots[: self.used, kernel.CELL_OF].tolist(), strict=True)
        return {key: cell for key, cell in pairs if cell != kernel.NOWHERE}

    def tape(self) -> dict[int, str]:
        """What is written on the cells of the word and those visited so far."""
        kernel, symbols = self.program.kernel, self.program.network.machine.symbols
        rows = self.slots[: self.used][:, [kernel.CELL_OF, kernel.MARK]].tolist()
        return {cell: symbols[mark] for cell, mark in rows if cell != kernel.NOWHERE}

    def columns(self) -> Iterator[Tensor]:
        """The columns after each step, many at a time. Shape: ``(many, w)``."""
        for record in self._recorded():
            width = self.program.widths[0]
            columns = np.concatenate([record[1:, :width], self.column[None]])
            yield torch.from_numpy(columns.copy())

    def vectors(self) -> Iterator[dict[str, Tensor]]:
        """For each step every vector, by the name of the module that it leaves."""
        names = ("column", *self.program.network.pipeline)
        for record in self._recorded():
            for row in torch.from_numpy(record.copy()):
                yield dict(zip(names, row.split(self.program.widths), strict=True))

    def _recorded(self) -> Iterator[np.ndarray]:
        record = np.zeros((ROWS, sum(self.program.widths)), self.program.dtype)
        while True:
            begun = self.steps
            self.advance(ROWS, record)
            if self.steps > begun:
                yield record[: self.steps - begun]
            self.raise_()
