"""A machine as a convolution: the tape is a row of cells, and a step looks at each cell and its two neighbours.

Chapter: :doc:`/book/queue`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from turing import arguments, ir, queue  # noqa: F401  # queue: the same chapter registers its transformer first
from turing.assembly import labelled
from turing.construction import Construction, Expectation, Plan, Reading, State, register
from turing.exact import Exact
from turing.layout import Layout
from turing.machine import Configuration, TuringMachine
from turing.modules import Convolution
from turing.stack_machine import name_of
from turing.wcm import CapacityError

__all__ = ["RowOfCells"]

ARITHMETICS = {"float32": torch.float32, "float64": torch.float64, "bfloat16": torch.bfloat16, "exact": torch.int64}
CELLS = 100  # of a row, unless a number is given
MAX_CELLS = 100_000  # a slip of the finger should not fill the memory
MAX_STEPS = 1_000  # for which a row is made long enough whatever the machine does


@register
class RowOfCells(Construction):
    """The tape of a Turing machine as a row of cells, each with its symbol, and with the state if the head is there.
    ``forward`` is one step, in two convolutions. The options:

    - ``cells``: how many cells the row has, 100 unless given, with the word in the middle. The weights do not depend on
      their number. Where the head leaves the row, a run raises :class:`~turing.wcm.CapacityError`.
    - ``arithmetic``: ``"float32"``, the default, ``"float64"``, ``"bfloat16"`` or ``"exact"``. All numbers are small
      integers, so the runs are the same.

    >>> import turing
    >>> from turing.conv import RowOfCells
    >>> net = RowOfCells(turing.zoo["balanced_parentheses"])
    >>> run = net.run("B()E")
    >>> run.state, run.steps, run.micro_steps, [list(part.weight.shape) for part in net.pipeline.values()]
    ('T', 9, 9, [[16, 11, 1], [11, 16, 3]])

    Chapter: :doc:`/book/queue`.
    """

    construction, loop, batched = "conv", ir.Loop("cells"), False

    def __init__(self, machine: TuringMachine, cells: int = CELLS, arithmetic: str = "float32"):
        super().__init__()
        if arithmetic not in tuple(ARITHMETICS):
            raise ValueError(f"An arithmetic is one of {', '.join(ARITHMETICS)}, and {arithmetic!r} was given.")
        self.machine, self.cells = (
            machine,
            arguments.integer("cells", cells, 1, MAX_CELLS, what="the length of the row"),
        )
        self.options = {"cells": self.cells, "arithmetic": arithmetic}
        self.layout = x = Layout(sym=machine.symbols, st=machine.states)
        y = Layout(sym=machine.symbols, det=[name_of(q, a) for q, a in machine.delta])
        detect = torch.zeros(y.width, x.width, 1, dtype=ARITHMETICS[arithmetic])
        move, bias = detect.new_zeros(x.width, y.width, 3), detect.new_zeros(y.width)
        self._fill(x, y, detect, bias, move)
        last = Convolution(move, detect.new_zeros(x.width), "relu", [y, x])
        self.pipeline = nn.ModuleDict({"detect": Convolution(detect, bias, "relu", [x, y]), "move": last})

    def _fill(self, x: Layout, y: Layout, detect: Tensor, bias: Tensor, move: Tensor) -> None:
        """Weights are [out, in, neighbour]: 0 is the left neighbour, 1 the cell itself, 2 the right one."""
        for symbol in self.machine.symbols:
            detect[y.sym[symbol], x.sym[symbol]] = move[x.sym[symbol], y.sym[symbol], 1] = 1  # a symbol stays
        for det, ((q, a), (p, written, d)) in zip(y.det, self.machine.delta.items(), strict=True):
            detect[det, [x.st[q], x.sym[a]]], bias[det] = 1, -1  # AND
            move[x.sym[a], det, 1] -= 1
            move[x.sym[written], det, 1] += 1  # unless it is overwritten
            move[x.st[p], det, 1 - d] = 1  # the state goes to the neighbour

    def _origin(self, word: Sequence[str]) -> int:
        return (self.cells - len(word)) // 2

    def initial(self, word: Iterable[str]) -> Any:
        """The row with the word in its middle, and the head on the first cell of the word. Shape: ``(cells, w)``.

        Chapter: :doc:`/book/queue`.
        """
        word = arguments.word(word)
        tape, origin = self.machine.tape(word), self._origin(word)
        rows = [[0] * self.layout.width for _ in range(self.cells)]
        for k, row in enumerate(rows):
            row[self.layout.sym[tape.get(k - origin, self.machine.blank)]] = 1
        rows[origin][self.layout.st[self.machine.initial]] = 1
        return [Exact(row) for row in rows] if self.arithmetic == "exact" else torch.tensor(rows).to(self._like)

    def read(self, state: State) -> list[Reading | None]:
        """Where the head is, what it reads there, and what it has written.

        Chapter: :doc:`/book/queue`.
        """
        cells, before, sym = state.x, state.notes["at"], self.layout.sym
        found = [(at, q) for at, cell in enumerate(cells) if (q := labelled(self.layout.st, cell)) is not None]
        if len(found) > 1:
            raise ArithmeticError(f"the head is on {len(found)} cells at once. Build the network again.")
        if not found and labelled(self.layout_of("detect").det, state.vectors["detect"][before]) is not None:
            if 0 < before < self.cells - 1:
                raise ArithmeticError("a rule applies, and no cell has the head. Build the network again.")
            raise CapacityError(_left(self.cells))
        return [Reading(q, labelled(sym, cells[at]), labelled(sym, cells[before]), at - before) for at, q in found] or [
            Reading(None)
        ]

    def kept(self, state: State) -> list[tuple[str, int]]:
        """The cell itself.

        Chapter: :doc:`/book/table`.
        """
        return [("cells", state.notes["at"])]

    def guard(self, word: Sequence[str], now: Configuration, reading: Reading | None, notes: dict[str, Any]) -> None:
        """Refuse a word that does not fit into the row, and follow the head."""
        if max(1, len(word)) > self.cells:
            raise CapacityError(f"The word has {len(word)} cells, and the row {self.cells}. Compile with more cells.")
        notes["at"] = self._origin(word) + now.head + (reading.move if reading else 0)

    def expected(
        self, machine: TuringMachine, word: Iterable[str], max_steps: int | None = None
    ) -> Iterator[Expectation]:
        """What the cells have to be for a machine with these states and symbols, from its own run.

        Chapter: :doc:`/book/queue`.
        """
        self.same_names(machine)
        word, limit = arguments.word(word), self._limit(max_steps)
        origin = self._origin(word)
        for now in machine.trace(word, limit):
            if now.state in machine.halting or now.step == limit:
                return
            rule, at = machine.delta.get((now.state, now.symbol)), origin + now.head
            if rule and not 0 <= at + rule[2] < self.cells:
                raise CapacityError(f"At step {now.step + 1} {_left(self.cells)}")
            cells = {k: now.cells.get(k - origin, machine.blank) for k in range(self.cells)}
            before = {f"sym[{a}] of cell {k}": 1 for k, a in cells.items()}
            detected = {f"det[{name_of(now.state, now.symbol)}] of cell {at}": 1} if rule else {}
            after = {f"sym[{a}] of cell {k}": 1 for k, a in (cells | ({at: rule[1]} if rule else {})).items()}
            after |= {f"st[{rule[0]}] of cell {at + rule[2]}": 1} if rule else {}
            yield Expectation(now.step + 1, {"detect": before | detected, "move": after})

    @classmethod
    def fitting(cls, given: dict[str, Any], plan: Plan) -> dict[str, Any]:
        """Cells for the word and for as many to the left and to the right of it as there are steps, up to a limit; or
        for those that are known to be needed, with the word in their middle.
        """
        if plan == Plan():
            return {"cells": CELLS} | given
        n = len(plan.word or "")
        if plan.cells is not None:
            return {"cells": n + 2 * max(-plan.cells.start, plan.cells.stop - n)} | given
        steps = CELLS // 2 if plan.max_steps is None else min(plan.max_steps, MAX_STEPS)
        return {"cells": max(1, n) + 2 * steps} | given

    def about(self) -> dict[str, str]:
        """The network in a few rows, for people."""
        return super().about() | {"cells": f"{self.cells:,}", "a step": "1 pass over all cells"}


def _left(cells: int) -> str:
    return f"the head leaves the row of {arguments.count(cells, 'cell')}. Compile with more cells."
