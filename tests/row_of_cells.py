"""A construction in one file: a row of cells, each with its symbol, and with the state if the head is there."""

import torch
from torch import nn

from turing import ir
from turing.construction import Construction, Expectation, Reading, register
from turing.exact import Exact
from turing.layout import Layout
from turing.modules import Convolution


@register
class RowOfCells(Construction):
    construction, loop, batched = "row-of-cells", ir.Loop("cells"), False

    def __init__(self, machine, cells: int = 40, arithmetic: str = "float32"):
        super().__init__()
        self.machine, self.options = machine, {"cells": cells, "arithmetic": arithmetic}
        self.cells, self.origin = cells, cells // 2
        self.layout = x = Layout(sym=machine.symbols, st=machine.states)
        y = Layout(sym=machine.symbols, det=[f"{q} {a}" for q, a in machine.delta])
        dtype = torch.int64 if arithmetic == "exact" else getattr(torch, arithmetic)
        detect, b = torch.zeros(y.width, x.width, 1, dtype=dtype), torch.zeros(y.width, dtype=dtype)
        move = torch.zeros(x.width, y.width, 3, dtype=dtype)
        for symbol in machine.symbols:
            detect[y.sym[symbol], x.sym[symbol]] = move[x.sym[symbol], y.sym[symbol], 1] = 1  # a symbol stays
        for det, ((q, a), (p, written, d)) in zip(y.det, machine.delta.items(), strict=True):
            detect[det, [x.st[q], x.sym[a]]], b[det] = 1, -1  # AND
            move[x.sym[a], det, 1] -= 1
            move[x.sym[written], det, 1] += 1  # unless it is overwritten
            move[x.st[p], det, 1 - d] = 1  # the state goes to the neighbour
        bias = torch.zeros(x.width, dtype=dtype)
        self.pipeline = nn.ModuleDict(
            {"detect": Convolution(detect, b, "relu", [x, y]), "move": Convolution(move, bias, "relu", [y, x])}
        )

    def initial(self, word):
        tape, rows = self.machine.tape(word), torch.zeros(self.cells, self.layout.width, dtype=self._like.dtype)
        for k in range(self.cells):
            rows[k, self.layout.sym[tape.get(k - self.origin, self.machine.blank)]] = 1
        rows[self.origin, self.layout.st[self.machine.initial]] = 1
        return [Exact(row) for row in rows.tolist()] if self.arithmetic == "exact" else rows

    def read(self, state):
        rows, before = [[round(float(x)) for x in row] for row in state.x], state.notes["at"]
        found = [(k, q) for k, row in enumerate(rows) for q in self.machine.states if row[self.layout.st[q]]]
        if len(found) > 1:
            raise ArithmeticError(f"the head is on {len(found)} cells at once. Build the network again.")
        if not found:
            return [Reading(None)]
        ((at, q),) = found
        symbol, written = (self.machine.symbols[rows[k].index(1)] for k in (at, before))
        return [Reading(q, symbol, written, at - before)]

    def guard(self, word, now, reading, notes):
        notes["at"] = self.origin + now.head + (reading.move if reading else 0)
        if not 0 < notes["at"] < self.cells - 1 or self.origin + len(word) > self.cells:
            raise OverflowError(f"the head comes to the end of {self.cells} cells. Compile with more.")

    def expected(self, machine, word, max_steps=None):
        self.same_names(machine)
        for now in machine.trace(word, limit := self._limit(max_steps)):
            if now.state in machine.halting or now.step == limit:
                return
            rule, at = machine.delta.get((now.state, now.symbol)), self.origin + now.head
            cells = {k: now.cells.get(k - self.origin, machine.blank) for k in range(self.cells)}
            before = {f"sym[{a}] of cell {k}": 1 for k, a in cells.items()}
            detected = {f"det[{now.state} {now.symbol}] of cell {at}": 1} if rule else {}
            after = {f"sym[{a}] of cell {k}": 1 for k, a in (cells | ({at: rule[1]} if rule else {})).items()}
            after |= {f"st[{rule[0]}] of cell {at + rule[2]}": 1} if rule else {}
            yield Expectation(now.step + 1, {"detect": before | detected, "move": after})
