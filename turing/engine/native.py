"""A network in a compiled loop over its own weights, with an index in place of its heads.

Chapter: :doc:`/book/how-fast`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from turing import ir
from turing.construction import Reader, at_step
from turing.engine.index import check_heads, exact_in_any_order, infinite, refused
from turing.wcm import WCM21

__all__ = ["Native", "Program"]

SLICES = ("st", "sym1", "sym2", "pos1", "pos2", "pos3", "scr1", "scr2", "scr3", "scr4", "scr5")
ROWS = 256  # steps that are recorded at a time
MAX_STEPS = 2**62  # of a call: the loop counts in 64 bits


class Program:
    """The weights of a network as the compiled loop takes them: input by input, without the zeros around them.

    Chapter: :doc:`/book/how-fast`.
    """

    def __init__(self, network: WCM21):
        try:
            from turing.engine import kernel
        except ImportError:
            raise ImportError(
                'engine="native" needs numba, which is not installed. Run pip install numba, or take engine="indexed".'
            ) from None
        pre_attention, post_attention = check_heads(network)
        layout, machine = network.layout, network.machine
        self.network, self.kernel = network, kernel
        self.dtype = next(network.parameters()).detach().cpu().numpy().dtype
        self.widths = [network.layout_of(name).width for name in ("column", *network.pipeline)]
        self._rows: dict[str, list] = {name: [] for name in ("layers", "looks", "inputs", "weights", "biases")}
        self._filled = 0  # weights so far
        ends = dict(zip(network.pipeline, np.cumsum(self.widths), strict=False))  # where a vector is recorded
        for module in pre_attention:
            self._add(module, ends[module.name])
        self.heads, self.recorded = np.uint64(len(self._rows["layers"])), np.uint64(ends["visited"])
        for module in post_attention:
            self._add(module, ends[module.name])
        self.layers, self.looks = (np.array(self._rows[name], np.uint64) for name in ("layers", "looks"))
        self.inputs = np.array(self._rows["inputs"], np.uint64).reshape(-1, 3)
        self.weights, self.biases = (np.concatenate(self._rows[name]) for name in ("weights", "biases"))
        widest = max(*self.widths, *self.layers[:, kernel.OUT].tolist())
        self.widest = -(-widest // kernel.BLOCK) * kernel.BLOCK
        sizes = len(machine.states), len(machine.symbols), network.bits, layout.width
        self.where = np.array([*(layout[name].start for name in SLICES), *sizes], np.uint64)
        self.halting = np.array([state in machine.halting for state in machine.states])

    def _add(self, module: ir.Module, recorded: int) -> None:
        """Take the layers of a module in; the vector that leaves the last one is recorded from that place on."""
        kernel, rows = self.kernel, self._rows
        in_word = 8 // self.dtype.itemsize
        together = kernel.WORDS * in_word  # inputs that are compared at once
        for part in module.parts:
            assert isinstance(part, ir.Layer)
            W, b = (numbers.values.cpu().numpy() for numbers in (part.weight, part.bias))
            begin, look, bias = len(rows["inputs"]), len(rows["looks"]), sum(map(len, rows["biases"]))
            rows["looks"] += [k // in_word for k in range(0, W.shape[1], together) if W[:, k : k + together].any()]
            for column in W.T:
                self._add_input(column)
            rows["inputs"] += [[0, 0, 0]] * (-len(rows["inputs"]) % kernel.BLOCK)  # full blocks of inputs, too
            rows["biases"].append(b)
            end, looked = recorded if part is module.parts[-1] else 0, len(rows["looks"])
            exact = exact_in_any_order(part)
            rows["layers"].append([begin, bias, W.shape[1], len(b), part.relu, end, exact, look, looked])

    def _add_input(self, column: np.ndarray) -> None:
        """The weights of one input, from the first to the last that is not 0, in full blocks."""
        size, rows = self.kernel.BLOCK, self._rows
        places = column.nonzero()[0]
        first, end = (places[0] // size, places[-1] // size + 1) if len(places) else (0, 0)
        span = np.zeros((end - first) * size, self.dtype)
        span[places - first * size] = column[places]
        rows["inputs"].append([first * size, end - first, self._filled])
        rows["weights"].append(span)
        self._filled += len(span)


class Native:
    """A run in the compiled loop: where it stands, and :meth:`advance`.

    A run that is ``guarded`` is read as it goes, and stops where the machine does. Any other goes on with whatever
    numbers come.

    Chapter: :doc:`/book/how-fast`.
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
                self.first, self.count, min(end - self.steps, MAX_STEPS), self.guarded,
                record[self.steps - begun :].ravel(), np.uint64(record.shape[-1]), program.recorded,
            )  # fmt: skip
            if self.status == kernel.ROOM:
                self.room(2 * len(self.keys))
        return self.status in (kernel.LIMIT, kernel.ROOM)

    def raise_if_failed(self) -> None:
        """Say why the loop has stopped, if it could not go on, as plain PyTorch would have said it."""
        program, kernel = self.program, self.program.kernel
        network = program.network
        if self.status in (kernel.NOT_A_BIT, kernel.TIME, kernel.SEARCH):
            refused(network, self.steps, self.vectors_[int(program.heads)])
        if self.status == kernel.INFINITE:
            raise infinite(self.steps)
        if self.status <= kernel.ROOM:
            return
        reader = Reader(network, self.word)
        reader.resume(self.steps - 1, int(self.count[kernel.HEAD]), self.tape(), {"cells": self.cells()})
        with at_step(self.steps):
            (reading,) = network.read_columns(torch.from_numpy(self.column.copy()).unsqueeze(0))
        reader.enter(reading)
        raise AssertionError(f"The compiled loop stopped with {self.status}, and the column is {reading}.")

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
            self.raise_if_failed()
