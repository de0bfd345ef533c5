"""A network in a compiled loop over its own weights, with the index for its heads.

Chapter: :doc:`/book/08_fast`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from turing.attention import Attention
from turing.engine.index import Refusal, check_heads
from turing.gates import Layer, Readout
from turing.wcm import WCM21
from turing.wcm.network import Reader

__all__ = ["Native", "Program"]

TYPES = {torch.float32: np.float32, torch.float64: np.float64}
SLICES = ("st", "sym1", "sym2", "pos1", "pos2", "pos3", "scr1", "scr2", "scr3", "scr4", "scr5")


class Program:
    """The weights of a network as the compiled loop takes them, input by input, without the zeros around.

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
        dtype = next(network.parameters()).dtype
        if dtype not in TYPES:
            raise Refusal(f'engine="native" computes in float32 and float64, and this network is of {dtype}.')
        self.network, self.kernel, self.dtype = network, kernel, TYPES[dtype]
        self.ends = np.cumsum([0, *(network.layout_of(name).width for name in ("column", *network.pipeline))])
        layers, inputs, weights, biases, size = [], [], [], [], 0
        for number, (name, module) in enumerate(network.pipeline.items(), start=1):
            if isinstance(module, Attention):
                if not hasattr(self, "heads"):
                    self.heads, self.recorded = len(layers), self.ends[number]
                continue
            parts = [module] if isinstance(module, Readout) else list(module)
            for part in parts:
                W, b = (numbers.detach().cpu().numpy().astype(self.dtype) for numbers in (part.weight, part.bias))
                if not (np.isfinite(W).all() and np.isfinite(b).all()):
                    raise Refusal(f"pipeline.{name} has a weight that is infinite or not a number.")
                end = self.ends[number] if part is parts[-1] else 0
                layers.append([len(inputs), sum(map(len, biases)), *W.T.shape, isinstance(part, Layer), end])
                for column in W.T:
                    places = column.nonzero()[0] if column.any() else [0, -1]
                    span = column[places[0] : places[-1] + 1]
                    inputs.append([places[0], len(span), size])
                    weights.append(span)
                    size += len(span)
                biases.append(b)
        self.layers, self.inputs = np.array(layers, np.uint64), np.array(inputs, np.uint64)
        self.weights, self.biases = np.concatenate(weights), np.concatenate(biases)
        self.widest = int(max(network.layout.width, self.layers[:, 3].max()))
        layout, machine = network.layout, network.machine
        sizes = len(machine.states), len(machine.symbols), network.bits
        self.where = np.array([*(layout[name].start for name in SLICES), *sizes], np.uint64)
        self.halting = np.array([state in machine.halting for state in machine.states])


class Native:
    """A run in the compiled loop: where it stands, and :meth:`advance`.

    Chapter: :doc:`/book/08_fast`.
    """

    def __init__(self, network: WCM21 | Program, word: Sequence[str], guarded: bool = True):
        self.program = program = network if isinstance(network, Program) else Program(network)
        network, kernel, dtype = program.network, program.kernel, program.dtype
        machine, self.word, self.guarded = network.machine, word, guarded
        if guarded:
            Reader(network, word)  # refuses a word that is too long
        self.column = network.initial(word).cpu().numpy().astype(dtype)
        self.work = np.zeros((2, program.widest), dtype)
        self.first = np.zeros(len(machine.symbols), dtype)
        self.count = np.zeros(7, np.int64)
        self.blank = machine.symbols.index(machine.blank)
        self.room(max(len(word), 1) + 16)
        symbols = [machine.symbols.index(symbol) for symbol in word]
        for cell, symbol in enumerate(symbols or [-1]):
            self.add(cell, cell, -1, symbol, self.blank if symbol < 0 else symbol)
        self.status = kernel.HALTED if machine.initial in machine.halting and guarded else kernel.LIMIT

    def room(self, size: int) -> None:
        """Make room for so many cells."""
        used, kernel = self.used, self.program.kernel
        keys, slots = np.zeros(size, np.uint64), np.zeros((size, 4), np.int64)
        wrote = np.zeros((size, len(self.first)), self.first.dtype)
        if used:
            keys[:used], slots[:used], wrote[:used] = self.keys[:used], self.slots[:used], self.wrote[:used]
        self.keys, self.slots, self.wrote = keys, slots, wrote
        self.table = np.zeros(1 << (2 * size - 1).bit_length(), np.uint64)
        for slot in range(used):
            self.table[kernel.find(keys[slot], self.table, keys)] = slot + 1

    def add(self, key: int, *slot: int) -> None:
        """Take a cell into the index."""
        place = self.program.kernel.find(np.uint64(key), self.table, self.keys)
        self.keys[self.used], self.slots[self.used] = key, slot
        self.count[1] += 1
        self.table[place] = self.used

    @property
    def used(self) -> int:
        return int(self.count[1])

    @property
    def steps(self) -> int:
        return int(self.count[0])

    def advance(self, steps: int, record: np.ndarray | None = None) -> bool:
        """So many more steps; false if the run is over."""
        program, kernel = self.program, self.program.kernel
        record = np.zeros((1, 0), program.dtype) if record is None else record
        end, begun = self.steps + steps, self.steps
        while self.status in (kernel.LIMIT, kernel.ROOM) and self.steps < end:
            self.status = kernel.advance(
                program.layers, np.uint64(program.heads), program.inputs, program.weights, program.biases,
                program.where, program.halting, self.blank, self.column, self.work, self.table, self.keys, self.slots,
                self.wrote, self.first, self.count, end - self.steps, self.guarded,
                record[self.steps - begun :] if record.shape[1] else record, np.uint64(program.recorded),
            )  # fmt: skip
            if self.status == kernel.ROOM:
                self.room(2 * len(self.keys))
            elif self.status > kernel.ROOM:
                raise RuntimeError(self.status)
        return self.status in (kernel.LIMIT, kernel.ROOM)
