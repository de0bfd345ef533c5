"""A construction in one file: the whole tape in one column, a symbol for each cell, and the state where the head is."""

from torch import nn

from turing.assembly import copied, labelled, layers
from turing.construction import Construction, Expectation, Reading, register
from turing.layout import Layout


@register
class WholeTape(Construction):
    construction = "whole-tape"  # its name for turing.compile
    batched = False  # one word at a time
    origin = 8  # where a word begins: eight cells are left of it

    def __init__(self, machine, cells: int = 24, arithmetic: str = "float32"):
        super().__init__()
        self.machine, self.cells, self.options = machine, cells, {"cells": cells, "arithmetic": arithmetic}
        tape = {f"cell{k}": machine.symbols for k in range(cells)}
        self.layout = x = Layout(**tape, **{f"head{k}": machine.states for k in range(cells)})
        y = Layout(**tape, **{f"det{k}": [f"{q} {a}" for q, a in machine.delta] for k in range(cells)})
        detect = copied(x, y, *tape)  # the first layer keeps the tape
        move = {place: {} for place in range(x.width)} | copied(y, x, *tape)  # so does the second
        for k in range(cells):
            for det, ((q, a), (p, written, d)) in zip(y[f"det{k}"], machine.delta.items(), strict=True):
                detect[det] = {x[f"head{k}"][q]: 1, x[f"cell{k}"][a]: 1, None: -1}  # AND
                if written != a:  # take the old symbol away, and put the new one there
                    move[x[f"cell{k}"][a]][det], move[x[f"cell{k}"][written]][det] = -1, 1
                if 0 <= k + d < cells:
                    move[x[f"head{k + d}"][p]][det] = 1
        self.pipeline = nn.ModuleDict({"step": layers([x, y, x], [detect, move], arithmetic)})

    def initial(self, word):
        tape, column = self.machine.tape(word), [0] * self.layout.width
        for k in range(self.cells):
            column[self.layout[f"cell{k}"][tape.get(k - self.origin, self.machine.blank)]] = 1
        column[self.layout[f"head{self.origin}"][self.machine.initial]] = 1
        return self.vector(column)

    def read(self, state):
        x, at = self.layout, state.notes["at"]
        for k in range(self.cells):
            if (q := labelled(x[f"head{k}"], state.x)) is not None:
                return [Reading(q, *(labelled(x[f"cell{j}"], state.x) for j in (k, at)), k - at)]
        return [Reading(None)]

    def guard(self, word, now, reading, notes):
        if (needed := self.origin + len(word)) > self.cells:
            raise OverflowError(f"A word of {len(word)} symbols needs {needed} cells. Compile with more.")
        notes["at"] = self.origin + now.head + (reading.move if reading else 0)
        if not 0 < notes["at"] < self.cells - 1:
            raise OverflowError(f"the head comes to the end of {self.cells} cells. Compile with more.")

    def expected(self, machine, word, max_steps=None):
        self.same_names(machine)
        for now in machine.trace(word, limit := self._limit(max_steps)):
            if now.state in machine.halting or now.step == limit:
                return
            q, symbol, d = machine.delta.get((now.state, now.symbol), (None, now.symbol, 0))
            at, blank = self.origin + now.head, dict.fromkeys(range(self.cells), machine.blank)
            tape = blank | {self.origin + k: a for k, a in now.cells.items()} | {at: symbol}
            after = {f"cell{k}[{a}]": 1 for k, a in tape.items()} | ({f"head{at + d}[{q}]": 1} if q else {})
            yield Expectation(now.step + 1, {"step": after})
