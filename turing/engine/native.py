"""A run of the WCM21 transformer that goes on for long: in machine code made of its weights, and by the index alone
where that cannot be.

Chapter: :doc:`How fast </book/how-fast>`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache

import numpy as np
import torch
from torch import Tensor

from turing.attention import Attention
from turing.construction import Reader, at_step
from turing.engine.bits import (
    CELL,
    HEAD,
    INDEX,
    LANE_TABLES,
    LAST,
    LEFT,
    NOWHERE,
    RECORD,
    SIZE,
    START,
    STEP,
    SYMBOLS,
    TABLES,
    WINDOW,
    WORDS,
    BitProgram,
    Fits,
    Unfit,
)
from turing.engine.index import check_heads
from turing.engine.indexed import Indexed
from turing.engine.standing import Standing
from turing.machine import Configuration
from turing.wcm import WCM21

__all__ = ["Native", "Program"]

ROWS = 256  # steps that are recorded at a time
MAX_STEPS = 2**62  # of a call: the code counts in 64 bits
MARGIN = 512  # cells on either side of the word, at first
LIMIT, HALTED, JAMMED = range(3)


class Program:
    """A network of ``wcm21``, and the machine code of its step. ``why_slow`` says why there is none, or is empty.

    With ``generate=False`` no code is made, and the index alone makes the runs.

    >>> import torch
    >>> import turing
    >>> from turing.engine import Program
    >>> net = turing.compile(turing.zoo["bb2"], "wcm21", T=8, adder="lookahead")
    >>> Program(net).why_slow
    ''
    >>> with torch.no_grad():
    ...     net.pipeline["carry"].bias[3] = 0.5
    >>> Program(net).why_slow
    'pipeline.carry.bias[3] is 0.5, and not an integer up to 127'

    Chapter: :doc:`How fast </book/how-fast>`.
    """

    def __init__(self, network: WCM21, generate: bool = True):
        self.network, self.why_slow = network, "no code was asked for"
        self.bits: BitProgram | None = None
        self.around = around = check_heads(network)
        if not generate:
            return
        try:
            from turing.engine import generated
        except ImportError:
            raise ImportError(
                'engine="native" needs llvmlite, which is not installed. Run pip install llvmlite, '
                'or take engine="indexed".'
            ) from None
        self._generated = generated
        try:
            self.bits, self.why_slow = BitProgram(around, network.layout, _heads(network)), ""
        except Unfit as reason:
            self.why_slow = str(reason)
        self.text = cache(self._text)

    def _text(self, recording: bool = False) -> str:
        """The code; networks of equal shape have the same, with other tables."""
        assert self.bits is not None
        return self._generated.text(self.bits, recording)

    def code(self, recording: bool = False) -> Callable[[int, int], int]:
        """The compiled step: a function of the address of a tape's row and a number of steps, which returns how many of
        them are left.
        """
        return self._generated.compiled(self.text(recording))


class Native:
    """A run of ``wcm21`` in machine code: where it stands, and :meth:`advance`.

    A ``guarded`` run is read as it goes, and stops where the machine does; any other goes on, whatever numbers come. If
    the code cannot make a step, the index makes it, and all those after it.

    Chapter: :doc:`How fast </book/how-fast>`.
    """

    row: np.ndarray
    index: np.ndarray

    def __init__(self, network: WCM21 | Program, word: Sequence[str], guarded: bool = False):
        self.program = program = network if isinstance(network, Program) else Program(network)
        network = program.network
        self.network, self.word, self.guarded = network, word, guarded
        self.reader = Reader(network, word)  # refuses a word that is too long
        self.error: ArithmeticError | None = None
        self.slow: Indexed | None = None
        self.status = LIMIT
        n, symbols = len(word), network.machine.symbols
        found = Standing(
            0, 0, network.initial(word).detach().cpu().numpy(), np.zeros(len(symbols)),
            np.arange(max(n, 1), dtype=np.uint64), np.full(max(n, 1), -1), np.zeros((max(n, 1), len(symbols))),
            np.arange(max(n, 1)), np.array([symbols.index(a) for a in word] or [0]),  # the blank is symbol 0
        )  # fmt: skip
        self.stand(found)

    # Where it stands.

    @property
    def steps(self) -> int:
        if self.slow is None:
            return int(self.row[STEP])
        return self.reader.now.step if self.guarded else self.slow.step

    @property
    def state(self) -> str:
        if self.slow is not None:
            return self.reader.now.state
        bits, names = self.program.bits, self.network.machine.states
        assert bits is not None
        words = self.row[[bits.column + k for k in bits.part["st"]]].view(np.uint64).tolist()
        return names[sum(word << 64 * k for k, word in enumerate(words)).bit_length() - 1]

    @property
    def head(self) -> int:
        """The cell of the tape head, as a guarded run has read it."""
        return int(self.row[HEAD]) if self.slow is None else self.reader.now.head

    @property
    def used(self) -> int:
        """How many cells are known: those of the word, and those visited."""
        if self.slow is None:
            return int(np.count_nonzero(self.index[:, CELL] != NOWHERE))
        return len(self.reader.now.cells)

    def standing(self) -> Standing:
        """The :class:`Standing` of the run, for any engine."""
        bits, network = self.program.bits, self.network
        if self.slow is not None:
            return self.slow.standing(self.reader, self.steps)
        assert bits is not None
        dtype = network._like.detach().cpu().numpy().dtype
        known = ((self.index[:, CELL] != NOWHERE) | (self.index[:, LAST] >= 0)).nonzero()[0]
        rows, size = self.index[known], bits.symbols
        positions = (known.astype(np.uint64) + self.row[START : START + 1].view(np.uint64)) & np.uint64(bits.mask)
        fits = [bits.fits[k] for k in bits.part["sym1"]]
        whole = [fit._replace(start=fit.start - fits[0].start) for fit in fits]
        marks = unpacked(rows[:, SYMBOLS + 2 * size :], whole, np.dtype(np.int64)).argmax(1)
        return Standing(
            self.steps, self.head, unpacked(self.row[bits.column :], bits.fits, dtype),
            unpacked(self.row[WORDS : WORDS + size], whole, dtype), positions, rows[:, LAST].copy(),
            unpacked(rows[:, SYMBOLS : SYMBOLS + size], whole, dtype), rows[:, CELL].copy(), marks,
        )  # fmt: skip

    def tape(self) -> dict[int, str]:
        """What is written on the cells of the word and those visited so far."""
        return self.standing().tape(self.network.machine.symbols) if self.slow is None else self.reader.now.cells

    def stand(self, found: Standing) -> None:
        """Continue a run from where another one stood."""
        self.slow = None
        if self.program.bits is None or not self._take(self.program.bits, found):
            self._hand_over(found)
        if self.guarded:
            self.status = HALTED if self.state in self.network.machine.halting else LIMIT

    def _take(self, bits: BitProgram, found: Standing) -> bool:
        """Put it into words, if all of it is bits; and the cells into a window around them."""
        numbers = found.column, found.first, found.wrote
        if not all(((part == 0) | (part == 1)).all() for part in numbers):
            return False
        fits = [bits.fits[k] for k in bits.part["sym1"]]
        whole = [fit._replace(start=fit.start - fits[0].start) for fit in fits]
        column, size = packed(found.column, bits.fits), bits.symbols
        stamp = bits.part["pos1"][0]
        for k, value in bits.fixed.items():
            if column[k] != np.uint64(found.step & bits.mask if k == stamp else value):
                return False
        low, high = _span(found.positions, bits.bits)
        everything = 2**bits.bits
        room = high - low + 1 + 2 * MARGIN
        start, room = (0, everything) if room >= everything else (low - MARGIN, room)
        here = int(column[bits.part["pos2"][0]]) - start & bits.mask
        if room > 64 * (len(found.positions) + MARGIN) or here >= room:
            return False
        self._window(bits, start, room)
        at = ((found.positions - self.row[START : START + 1].view(np.uint64)) & np.uint64(bits.mask)).astype(np.int64)
        self.index[at, LAST], self.index[at, CELL] = found.last, found.cells
        self.index[at, SYMBOLS : SYMBOLS + size] = packed(found.wrote, whole).view(np.int64)
        marks = np.zeros((len(at), fits[-1].start + fits[-1].size - fits[0].start))
        marks[np.arange(len(at)), found.marks] = 1
        self.index[at, SYMBOLS + 2 * size :] = packed(marks, whole).view(np.int64)
        tape = self.network.encode(self.word).detach().cpu().numpy()
        layout, n = self.network.layout, len(self.word)
        cells = (np.arange(n, dtype=np.uint64) - self.row[START : START + 1].view(np.uint64)) & np.uint64(bits.mask)
        written = packed(tape[:, layout.sym1.slice], whole).view(np.int64)
        self.index[cells.astype(np.int64), SYMBOLS + size : SYMBOLS + 2 * size] = written
        self.row[STEP], self.row[HEAD] = found.step, found.head
        self.row[WORDS : WORDS + size] = packed(found.first, whole).view(np.int64)
        self.row[bits.column :] = column.view(np.int64)
        return True

    def _window(self, bits: BitProgram, start: int, room: int) -> None:
        """An empty index for so many positions from that one on, and the row that the code reads."""
        machine = self.network.machine
        self.row = np.zeros(bits.row_size, np.int64)
        self.index = _cells(bits, room)
        halting = np.array([state in machine.halting for state in machine.states])
        fits = [bits.fits[k] for k in bits.part["st"]]
        self.row[bits.halting : bits.column] = packed(halting, fits).view(np.int64)
        self.row.view(np.uint64)[[START, SIZE]] = start & bits.mask, room
        self.row[[INDEX, TABLES, LANE_TABLES]] = self.index.ctypes.data, bits.words.ctypes.data, bits.lanes.ctypes.data

    def _grow(self, bits: BitProgram) -> bool:
        """Make the window twice as large; false if a position is so far away that this does not help."""
        n, start, everything = len(self.index), int(self.row[START : START + 1].view(np.uint64)[0]), 2**bits.bits
        if n == everything:
            return False
        room = min(2 * n, everything)
        before = (room - n) // 2
        new = _cells(bits, room)
        new[before : before + n] = self.index
        self.index = new
        self.row.view(np.uint64)[[START, SIZE]] = (start - before) & bits.mask, room
        self.row[INDEX] = new.ctypes.data
        return True

    # Steps.

    def advance(self, steps: int) -> bool:
        """Make this many more steps; return false if the run is over."""
        end = self.steps + steps
        while self.status == LIMIT and self.error is None and self.steps < end:
            if self.slow is not None:
                self._by_index(end - self.steps)
            else:
                self._by_code(min(end - self.steps, MAX_STEPS), self.program.code())
        return self.status == LIMIT and self.error is None

    def _by_code(self, steps: int, code: Callable[[int, int], int]) -> int:
        """Steps in machine code; how many were made."""
        self.row[LEFT] = 0
        made = steps - code(self.row.ctypes.data, steps)
        self.after(made)
        return made

    def after(self, made: int) -> None:
        """Bring the run up to date after the code has made this many steps."""
        bits = self.program.bits
        assert bits is not None
        if self.row[LEFT] == WINDOW and (made or not self._far(bits)) and self._grow(bits):
            return
        if self.row[LEFT]:
            self._hand_over(self.standing())
        elif self.guarded and self.state in self.network.machine.halting:
            self.status = HALTED

    def _far(self, bits: BitProgram) -> bool:
        """Whether the window was just made larger, and that did not help."""
        far, self._grown = getattr(self, "_grown", None) == self.steps, self.steps
        return far

    def _hand_over(self, found: Standing) -> None:
        """Go on by the index."""
        machine = self.network.machine
        self.slow = Indexed(self.network, self.word)
        self.slow.stand(found)
        self.reader.notes = found.notes()
        on = (found.column[self.network.layout.st.slice] > 0.5).nonzero()[0]
        state = machine.states[on[0]] if len(on) else machine.initial
        self.reader.now = Configuration(found.step, state, found.head, found.tape(machine.symbols), machine.blank)
        self._columns = self.slow.columns()

    def _by_index(self, steps: int) -> None:
        reader = self.reader
        assert self.slow is not None
        try:
            for _ in range(steps):
                before = self.slow.column, self.slow.step, self.slow.beta
                column = next(self._columns)
                if not self.guarded:
                    continue
                with at_step(reader.now.step + 1):
                    (reading,) = self.network.read_columns(column)
                if not reader.enter(reading):
                    self.slow.column, self.slow.step, self.slow.beta = before  # the machine has made no step
                    self.status = JAMMED
                    return
                if not reader.running:
                    self.status = HALTED
                    return
        except ArithmeticError as error:
            self.error = error

    def raise_if_failed(self) -> None:
        """If the run could not go on, raise the error that plain PyTorch would raise."""
        if self.error is not None:
            raise self.error

    # Vectors.

    def columns(self) -> Iterator[Tensor]:
        """Yield the columns after each step, many at a time. Shape: ``(many, w)``."""
        for vectors in self._recorded():
            last = vectors[list(vectors)[-1]]
            beta = [self.network.beta(self.steps - len(last) + k + 1) for k in range(len(last))]
            yield last + torch.stack(beta).to(last)
        assert self.slow is not None
        yield from self._columns

    def vectors(self) -> Iterator[dict[str, Tensor]]:
        """Yield for each step every vector, by the name of the module that it leaves."""
        for vectors in self._recorded():
            for k in range(len(vectors["column"])):
                yield {name: rows[k] for name, rows in vectors.items()}
        assert self.slow is not None
        yield from self.slow.vectors()

    def _recorded(self) -> Iterator[dict[str, Tensor]]:
        """The vectors of many steps at a time, as long as there is code for them."""
        bits = self.program.bits
        if bits is None:
            return
        record = np.zeros((ROWS, bits.recorded), np.int64)
        while self.slow is None:
            self.row[RECORD] = record.ctypes.data
            if made := self._by_code(ROWS, self.program.code(recording=True)):
                yield self._named(bits, record[:made])

    def _named(self, bits: BitProgram, record: np.ndarray) -> dict[str, Tensor]:
        """Words as vectors; those between the heads differ in what the heads have found so far."""
        dtype = self.network._like.detach().cpu().numpy().dtype
        split = np.split(record, np.cumsum([len(fits) for fits in bits.vectors])[:-1], axis=1)
        k = len(bits.before)
        words = dict(
            zip(["column", *(name for name, _ in bits.before)], zip(split, bits.vectors, strict=True), strict=False)
        )
        y, after = split[k].copy(), split[k + 1]
        for name in bits.heads:
            slice_, at_least = {"visited": ("scr4", 0), "last": ("scr1", 0), "initial": ("scr2", 0)}.get(
                name, ("scr3", int(name.removeprefix("search")) if name.startswith("search") else 0)
            )
            for part in bits.part[slice_]:
                y[:, part] = after[:, part] & np.int64(-1 << at_least)
            words[name] = (y.copy(), bits.fits)
        words |= zip(
            (name for name, _ in bits.after), zip(split[k + 2 :], bits.vectors[k + 2 :], strict=True), strict=True
        )
        return {name: torch.from_numpy(unpacked(*each, dtype)) for name, each in words.items()}


def packed(numbers: np.ndarray, fits: Sequence[Fits]) -> np.ndarray:
    """Bits as words. Shape: ``(…, w)`` to ``(…, words)``."""
    powers = np.uint64(1) << np.arange(64, dtype=np.uint64)
    on = numbers != 0
    return np.stack([(on[..., f.slice] * powers[: f.size]).sum(-1, dtype=np.uint64) for f in fits], axis=-1)


def unpacked(words: np.ndarray, fits: Sequence[Fits], dtype: np.dtype) -> np.ndarray:
    """Words as bits. Shape: ``(…, words)`` to ``(…, w)``."""
    found = np.zeros((*words.shape[:-1], fits[-1].start + fits[-1].size), dtype)
    for k, f in enumerate(fits):
        found[..., f.slice] = words[..., k, None].view(np.uint64) >> np.arange(f.size, dtype=np.uint64) & np.uint64(1)
    return found


def _cells(bits: BitProgram, room: int) -> np.ndarray:
    """Rows of an index for positions where nothing has been."""
    rows = np.zeros((room, bits.stride), np.int64)
    rows[:, LAST], rows[:, CELL], rows[:, SYMBOLS + 2 * bits.symbols] = -1, NOWHERE, 1  # the blank is symbol 0
    return rows


def _heads(network: WCM21) -> list[str]:
    return [name for name, module in network.pipeline.items() if isinstance(module, Attention)]


def _span(positions: np.ndarray, bits: int) -> tuple[int, int]:
    """The least and the greatest of positions, as cells near 0."""
    shift = np.int64(64 - bits)
    near = positions.view(np.int64) << shift >> shift
    return int(near.min()), int(near.max())
