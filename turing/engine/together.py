"""Many runs: up to 64 at once, of networks of equal shape, by the code of :mod:`turing.engine.planes`, and the others
one by one.

Chapter: :doc:`How fast </book/how-fast>`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from turing.engine.bits import Unfit, aligned
from turing.engine.native import Native, Program
from turing.engine.standing import Standing

if TYPE_CHECKING:
    from turing.engine.planes import Planes

__all__ = ["Job", "Queue", "Together", "queues", "work"]

TAPES = 64
# What the code finds in memory, in words: the tapes that count; those that stopped all, and those that halted; the
# time, which goes on by 1 with each step; the address of the cells. Then for each tape the cell that it is on and the
# cell that it asks for, in 16 bits; what it writes and what it finds, in up to 64 bits. Then come planes: of what was
# written first, of the column, and of the weights that are not the same in all networks.
ACTIVE, STOPPED, HALTED, CLOCK, CELLS = range(5)
OWN, ASKED, WRITTEN, FOUND, FIRST = 8, 24, 40, 104, 168
CELL = 16  # bytes of a cell: when it was last visited, and its symbols
CHUNK, FEW = 5_000_000, 1_000  # steps between two looks at Ctrl-C, in code and by the index
ALONE = 20_000  # steps that a run makes by itself first: until then, going on together does not pay
FEWEST = 8  # runs for which it pays


class Together:
    """Runs that go on together, by their numbers among the tapes. What a run is taken with and left with is a
    :class:`~turing.engine.Standing`, so any other engine can go on from there.

    Chapter: :doc:`How fast </book/how-fast>`.
    """

    def __init__(self, queue: Queue):
        assert queue.planes is not None
        self.planes, self.numbers = queue.planes, queue.numbers
        self.runs: dict[int, Native] = {}
        self.memory = aligned(np.zeros(self.planes.size, np.int64))
        self.words = self.memory.view(np.uint64)
        self.own = self.memory[OWN : OWN + TAPES // 4].view(np.uint16)
        self.room = np.zeros(TAPES * self.planes.stride // 8, np.int64)  # no page of it is there before it is used
        self.memory[CELLS] = self.room.ctypes.data
        self.begun = [0] * TAPES  # the time when a run was at step 0
        self.taken: list[Standing | None] = [None] * TAPES

    def __len__(self) -> int:
        return len(self.runs)

    def steps(self, tape: int) -> int:
        """How many steps a run has made."""
        return int(self.memory[CLOCK]) - self.begun[tape]

    def _cells(self, tape: int) -> np.ndarray:
        """The cells of a tape: when each was last visited, and its symbols."""
        begin = tape * self.planes.stride // 8
        return self.room[begin : begin + (CELL // 8 << self.planes.window)].reshape(-1, CELL // 8)

    def take(self, run: Native) -> int | None:
        """Let a run go on here, on the tape that is returned, unless it cannot."""
        planes, layout, number = self.planes, self.planes.layout, self.numbers.get(run.program)
        if run.slow is not None or not run.steps or number is None:  # at step 0, it is not known what is written first
            return None
        found, half, n = run.standing(), 1 << planes.window - 1, planes.symbols
        bits, places = found.column.astype(np.uint64), found.cells + half
        stamp = np.array([found.step >> k & 1 for k in range(planes.bits)])
        near = (found.positions - (found.cells.view(np.uint64))) & np.uint64((1 << planes.bits) - 1)
        here = np.flatnonzero(found.cells == found.head)
        if (
            near.any()  # a cell is not at the position of its number
            or places.min() < 0
            or places.max() >= 2 * half
            or len(run.word) > half
            or len(here) != 1
            or (found.column[layout.pos1.slice] != stamp).any()
            or bits[layout.sym1.slice].nonzero()[0].tolist() != found.marks[here].tolist()
            or any(bits[place] != value for place, value in planes.fixed.items())
            or self._number(bits[layout.pos2.slice]) != found.head & (1 << planes.bits) - 1
        ):
            return None
        tape = next(k for k in range(TAPES) if k not in self.runs)
        cells = self._cells(tape)
        if self.taken[tape] is not None:
            cells[:] = 0
        word = run.network.encode(run.word).detach().cpu().numpy()[:, layout.sym1.slice]
        cells[half : half + len(run.word), 1] = self._numbers(word) << n
        visited = found.last >= 0
        cells[places, 1] |= self._numbers(found.wrote) * visited | visited.astype(np.int64) << 3 * n
        cells[places, 1] |= 1 << 2 * n + found.marks.astype(np.int64) ^ 1 << 2 * n
        self.runs[tape], self.taken[tape] = run, found
        self.begun[tape] = int(self.memory[CLOCK]) - found.step
        cells[places, 0] = found.last + self.begun[tape]
        self.own[tape] = found.head + half
        self._put(tape, FIRST, found.first.astype(np.uint64))
        self._put(tape, planes.column, bits)
        self._put(tape, planes.weights, planes.bits_of[number])
        self.words[ACTIVE] |= np.uint64(1 << tape)
        return tape

    def leave(self, tape: int) -> Native:
        """Take a run away, which then stands where it stood here."""
        run, found = self.runs[tape], self._standing(tape)
        run.stand(found)
        del self.runs[tape]
        self._put(tape, self.planes.column, np.zeros(self.planes.layout.width, np.uint64))
        self.words[ACTIVE] &= ~np.uint64(1 << tape)
        return run

    def advance(self, steps: int) -> list[int]:
        """Up to so many more steps of all runs. The tapes of those that have halted, or whose next step is unusual; the
        others stopped with them.
        """
        self.planes.compiled()(self.memory.ctypes.data, steps)
        found = int(self.words[STOPPED] | self.words[HALTED])
        return [tape for tape in self.runs if found >> tape & 1]

    def _standing(self, tape: int) -> Standing:
        planes, layout, taken = self.planes, self.planes.layout, self.taken[tape]
        assert taken is not None
        half, n, step = 1 << planes.window - 1, planes.symbols, self.steps(tape)
        column = (self.words[planes.column :] >> np.uint64(tape) & np.uint64(1)).astype(taken.column.dtype)
        for place, value in planes.fixed.items():
            column[place] = value
        column[layout.pos1.slice] = [step >> k & 1 for k in range(planes.bits)]
        cells, own = self._cells(tape), int(self.own[tape])
        places = np.union1d(np.flatnonzero(cells[:, 1] >> 3 * n & 1), np.append(taken.cells + half, own))
        last, symbols = cells[places].T
        visited = (symbols >> 3 * n & 1) != 0
        each = symbols[:, None] >> np.arange(3 * n) & 1
        marks = (each[:, 2 * n :] ^ (np.arange(n) == 0)).argmax(1)
        marks[places == own] = column[layout.sym1.slice].argmax()  # the step there may have been begun
        numbers = places.astype(np.int64) - half
        return Standing(
            step, own - half, column, taken.first, numbers.view(np.uint64) & np.uint64((1 << planes.bits) - 1),
            np.where(visited, last - self.begun[tape], -1), each[:, :n], numbers, marks,
        )  # fmt: skip

    def _put(self, tape: int, begin: int, bits: np.ndarray) -> None:
        """The bits of a tape into planes."""
        planes = self.words[begin : begin + len(bits)]
        planes &= ~np.uint64(1 << tape)
        planes |= bits << np.uint64(tape)

    def _number(self, bits: np.ndarray) -> int:
        return sum(int(bit) << k for k, bit in enumerate(bits))

    def _numbers(self, rows: np.ndarray) -> np.ndarray:
        return (rows.astype(np.int64) << np.arange(rows.shape[1])).sum(1)


class Job(NamedTuple):
    """A run that is to be made: its number, and how many steps it may have."""

    number: int
    program: Program
    word: Sequence[str]
    limit: int


class Queue:
    """Runs that are to be made, of networks of equal shape. ``numbers`` are those of the networks whose runs can go on
    together.

    Chapter: :doc:`How fast </book/how-fast>`.
    """

    def __init__(self, jobs: Iterable[Job]):
        self.jobs = deque(jobs)
        self.programs = list(dict.fromkeys(job.program for job in self.jobs))
        self.numbers: dict[Program, int] = {}

    @cached_property
    def planes(self) -> Planes | None:
        """The code for many tapes at once, unless the weights have none. A network that has none by itself, or none
        with the others, is left out if that is what it takes.
        """
        from turing.engine.planes import Planes, TooLong

        def made(programs: list[Program]) -> Planes | None:
            networks = [program.network for program in programs]
            halting = [[state in each.machine.halting for state in each.machine.states] for each in networks]
            try:
                return Planes([program.around for program in programs], networks[0].layout, np.array(halting))
            except TooLong:
                raise
            except Unfit:
                return None

        def agreeing(programs: list[Program]) -> list[Program]:
            if not programs or made(programs):
                return programs
            if len(programs) == 1:
                return []
            half = len(programs) // 2
            fewer, more = sorted((agreeing(programs[:half]), agreeing(programs[half:])), key=len)
            return more + fewer if fewer and made(more + fewer) else more

        try:
            self.programs = agreeing(self.programs)
            found = made(self.programs) if self.programs else None
        except TooLong:
            return None
        self.numbers = {program: k for k, program in enumerate(self.programs)}
        return found


def queues(jobs: Iterable[Job]) -> list[Queue]:
    """Jobs by the shape of their networks."""
    found: dict[tuple | None, list[Job]] = {}
    for job in jobs:
        bits = job.program.bits
        found.setdefault(None if bits is None else bits.shape, []).append(job)
    return [Queue(alike) for alike in found.values()]


def work(
    queue: Queue,
    most: int,
    end: Callable[[Job, Native], None],
    pressed: Sequence[int] = (),
    first: int = ALONE,
) -> int:
    """Make the runs of a queue, each to its end or as far as it comes before Ctrl-C: the first steps alone, and then up
    to so many together. Several threads may take from the queue. How many steps were made together.
    """
    made = 0
    going: dict[int, Job] = {}  # by tape
    together: Together | None = None

    def alone(job: Job, native: Native) -> None:
        advance(native, job.limit, pressed)
        end(job, native)

    while True:
        while len(going) < min(most, TAPES) or not going:
            try:
                job = queue.jobs.popleft()
            except IndexError:
                break
            native = Native(job.program, job.word, guarded=True)
            running = advance(native, min(job.limit, first), pressed) and native.steps < job.limit
            if running and most >= FEWEST and job.program.bits and queue.planes:
                together = together or Together(queue)
                if (tape := together.take(native)) is not None:
                    going[tape] = job
                    continue
            alone(job, native)
        if not going:
            return made
        assert together is not None
        if pressed or len(going) < FEWEST:
            over = list(going)
        else:
            left = min(job.limit - together.steps(tape) for tape, job in going.items())
            before = together.memory[CLOCK]
            stopped = together.advance(min(CHUNK // len(going), left))
            made += int(together.memory[CLOCK] - before) * len(going)
            over = [tape for tape, job in going.items() if tape in stopped or together.steps(tape) == job.limit]
        for tape in over:
            alone(going.pop(tape), together.leave(tape))


def advance(native: Native, limit: int, pressed: Sequence[int] = ()) -> bool:
    """To the end of a run, or as far as it comes before Ctrl-C; false if it is over."""
    running = native.advance(0)
    while running and native.steps < limit and not pressed:
        running = native.advance(min(CHUNK if native.slow is None else FEW, limit - native.steps))
    return running
