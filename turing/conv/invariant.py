"""What is proved of the row of cells: one pass over it is one step of the machine, for all rows.

Chapter: :doc:`/book/all-words`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from turing import ir
from turing.machine import TuringMachine
from turing.proof import Checked, Failed, Invariant, Uncovered, state_invariant
from turing.proof.enumeration import first_word, numbers, precision_of, through

__all__ = ["one_step"]


def one_step(network: ir.Network, machine: TuringMachine) -> Checked:
    """Check that one pass over a row of cells is one step of a machine, for all rows.

    A cell has a symbol and perhaps the head in a state, so what it holds can be listed; beyond the ends of the row is
    nothing. At most one of three neighbours has the head. A place of the next row is a sum of what each of the three
    adds, and those without the head are free: so the least and the greatest sum tell all rows at once.

    Chapter: :doc:`/book/all-words`.
    """
    parts: list[Any] = [part for module in network.modules for part in module.parts]
    shape = [(part.kind, getattr(part, "radius", None), getattr(part, "activation", "")) for part in parts]
    if shape != [("convolution", 0, "relu"), ("convolution", 1, "relu")]:
        raise Uncovered("the modules are not a convolution of one cell and one of three, each with a ReLU")
    return _Row(network, machine, *parts).check()


class _Row:
    def __init__(self, network: ir.Network, machine: TuringMachine, detect: ir.Convolution, move: ir.Convolution):
        self.machine, self.layout, self.cells = machine, network.modules[0].inputs, network.options["cells"]
        precision, x, y = precision_of(network), self.layout, detect.outputs
        if (x.sym.labels, x.st.labels) != (machine.symbols, machine.states) or x != move.outputs:
            raise Uncovered("the slices of a cell are not its symbol and the state of the head")
        going = [q for q in machine.states if q not in machine.halting]
        self.alone = list(machine.symbols)
        self.heads = [(q, a) for q in going for a in machine.symbols]
        rows = np.zeros((len(self.alone) + len(self.heads), x.width))
        for row, (q, a) in zip(rows, [*((None, a) for a in self.alone), *self.heads], strict=True):
            row[[x.sym[a], *([x.st[q]] if q else [])]] = 1
        made = through(detect.taps(), rows, precision)
        self.fires = made[len(self.alone) :, list(y.det)]
        taps = move.taps()
        parts = [through([replace(tap, activation="none")], made, precision) for tap in taps]
        bound = sum(np.abs(made) @ np.abs(numbers(tap)[0]).T for tap in taps).max(axis=0)
        for i in range(x.width):  # the three parts and the bias, added in any order
            terms = [(float(w), np.unique(made[:, j]).tolist()) for tap in taps for j, w in tap.rows[i].terms]
            bias = float(taps[1].rows[i].bias)
            precision.check([(1.0, [bias]), *terms], 3 * float(bound[i]) + abs(bias), f"move, row {x.name(i)},")
        self.left, self.here, self.right = ((part[: len(self.alone)], part[len(self.alone) :]) for part in parts)

    def check(self) -> Checked:
        beyond = np.zeros((1, self.layout.width))
        free = [np.vstack([beyond, part[0]]) for part in (self.left, self.right)]
        (left0, left1), (right0, right1) = ((part.min(axis=0), part.max(axis=0)) for part in free)
        stays = self._row([(a, None) for a in self.alone])
        for n, (q, a) in enumerate(self.heads):
            rule = self.machine.delta.get((q, a))
            self._fires(q, a, self.fires[n], rule)
            target, written, move = rule or (None, None, 0)
            own = self._row([(written, target if move == 0 else None)])
            here = self.here[1][n : n + 1]
            self._compare(here + left0 + right0, here + left1 + right1, own, q, a, "the head's cell", rule is None)
            for d, (_, near), (low, high) in ((1, self.left, (right0, right1)), (-1, self.right, (left0, left1))):
                wanted = self._row([(b, target if move == d else None) for b in self.alone])
                sums, side = self.here[0] + near[n], "right" if d > 0 else "left"
                self._compare(
                    sums + low, sums + high, wanted, q, a, f"the cell to the {side} of the head", rule is None
                )
        self._compare(self.here[0] + left0 + right0, self.here[0] + left1 + right1, stays, "", "", "a cell far from it")
        return Checked(None, self.cells, None, {})

    def _row(self, contents: Sequence[tuple[str | None, str | None]]) -> np.ndarray:
        found = np.zeros((len(contents), self.layout.width))
        for row, (symbol, state) in zip(found, contents, strict=True):
            row[[*([self.layout.sym[symbol]] if symbol else []), *([self.layout.st[state]] if state else [])]] = 1
        return found

    def _fires(self, q: str, a: str, values: np.ndarray, rule: Any) -> None:
        """What a run reads to tell a jam from a head that leaves the row."""
        ones = int((values > 1 / 2).sum())
        if ones != (rule is not None) or (np.minimum(np.abs(values), np.abs(values - 1)) > 1 / 4).any():
            raise Failed(
                f"detect: {ones} rules are detected, not {int(rule is not None)}", {"state and symbol": f"{q} {a}"}
            )

    def _compare(
        self, low: np.ndarray, high: np.ndarray, wanted: np.ndarray, q: str, a: str, where: str, jams: bool = False
    ) -> None:
        """After the ReLU each sum is what is wanted; where the machine jams no state is, and symbols may be any."""
        good = np.where(wanted > 0, (low == wanted) & (high == wanted), high <= 0)
        if jams:
            good[:, list(self.layout.sym)] = True
        if not good.all():
            row, i = map(int, np.argwhere(~good)[0])
            right = float(wanted[row, i])
            value = max(float(high[row, i] if high[row, i] != right else low[row, i]), 0.0)
            head = {"the head in state and symbol": f"{q} {a}"} if q else {}
            shown = f"the next row: {self.layout.name(i)} of {where} is {value:g} instead of {right:g}"
            raise Failed(shown, head or {"every row": ""})


def trusted(network: Any, machine: TuringMachine) -> None:
    """Raise unless the first row is what the invariant says, on a word for each symbol."""
    layout, blank = network.layout, machine.blank
    for word in [(), *((a,) for a in machine.symbols), machine.symbols[: network.cells]]:
        origin = (network.cells - len(word)) // 2
        tape = dict(enumerate(word, start=origin))
        wanted = [{layout.sym[tape.get(cell, blank)]: 1} for cell in range(network.cells)]
        wanted[origin][layout.st[machine.initial]] = 1
        if [{i: int(x) for i, x in enumerate(row) if x} for row in network.initial(word)] != wanted:
            raise Uncovered("the first row of cells is not what the invariant says")


state_invariant(
    "conv",
    Invariant(
        statement=(
            "Before each step every cell of the row holds its symbol, one-hot, and the cell under the head the state, "
            "one-hot; no other cell holds a state"
        ),
        check=one_step,
        trusted=trusted,
        search=lambda network, machine, start: first_word(network, machine),
        assumes=(
            "The induction over the steps is on paper; a run whose head leaves the row is over.",
            "The first row was compared on a word for each symbol; that it is right for all words, and so are the loop "
            "and what is read off a row, is trusted.",
            "torch adds and multiplies these floats as IEEE 754 says wherever the result needs no rounding; integers "
            "are added without error.",
        ),
    ),
)
