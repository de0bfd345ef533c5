"""The tableau of a machine as a circuit: what is on each cell after each step, from what was there before.

Chapter: :doc:`/book/gate-by-gate`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from turing.arguments import count, integer
from turing.circuits.circuit import MAX_GATES, ONE, ZERO, Builder, Circuit, Gate, Wire
from turing.machine import TuringMachine

__all__ = ["Tableau"]

Content = dict[str, Wire]  # of a cell: for each symbol, or each state that the head may be in there, whether it is so


class Tableau(Circuit):
    """T steps of a Turing machine on some cells, ``left`` of them left of the word, as a circuit of O(T · cells) gates.

    Its inputs are the word, cell by cell in binary. A wire is 1 if, after some step, a cell has a certain symbol, or
    the tape head in a certain state: ``heads[t]`` and ``symbols[t]`` have these wires after step t by cell, and the
    gates of step t end before gate ``ends[t]``. Wires that are the same for all words are left out.

    In a halting state the head stays as it is, and where no rule applies it vanishes. ``heads`` has one extra cell at
    each end, where a head that has left the cells is seen.

    >>> import turing
    >>> from turing.circuits import Tableau
    >>> tableau = Tableau(turing.zoo["balanced_parentheses"], T=9, cells=6)
    >>> tableau.inputs[:3], len(tableau.gates), tableau.ends[:4]
    (('0[0]', '0[1]', '0[2]'), 327, [0, 45, 51, 70])

    Chapter: :doc:`/book/gate-by-gate`.
    """

    def __init__(self, machine: TuringMachine, T: int, cells: int, left: int = 1):
        self.machine = machine
        self.T = integer("T", T, 1, what="the number of steps")
        self.left = integer("left", left, 0, what="the number of cells left of the word")
        self.cells = integer(
            "cells", cells, self.left + 1, what=f"the number of cells, {left} of them left of the word"
        )
        if self.T * self.cells > MAX_GATES:
            raise ValueError(
                f"{self.T:,} steps on {self.cells:,} cells take more than {MAX_GATES:,} gates. Take fewer of them."
            )
        self.code = max(1, (len(machine.symbols) - 1).bit_length())  # bits of a symbol
        build = Builder([f"{cell}[{k}]" for cell in range(self.cells - self.left) for k in range(self.code)])
        self.heads: list[dict[int, Content]] = [{0: {machine.initial: ONE}}]
        self.symbols: list[dict[int, Content]] = [self._word(build)]
        self.ends = [0]
        for _ in range(self.T):
            self._step(build)
            if len(build.gates) == self.ends[-1]:
                build.append(Gate("AND", 0, 0))  # a step takes at least one token
            self.ends.append(len(build.gates))
        self.inputs, self.gates = build.inputs, tuple(build.gates)
        names = dict(self.named(len(self.heads) - 1, ""))
        self.outputs = {name: wire for name, wire in names.items() if wire >= 0}

    def _word(self, build: Builder) -> dict[int, Content]:
        """The symbols before the first step. Codes that no symbol has do not occur."""
        symbols, size = self.machine.symbols, 2**self.code
        found = {}
        for cell in range(-self.left, self.cells - self.left):
            found[cell] = {self.machine.blank: ONE}
            if cell >= 0:
                bits = [self.code * cell + k for k in reversed(range(self.code))]
                one_hot = ([int(n == k) for n in range(size)] for k in range(len(symbols)))
                found[cell] = {a: build.table(tuple(row), bits) for a, row in zip(symbols, one_hot, strict=True)}
        return found

    def _step(self, build: Builder) -> None:
        heads, symbols = self.heads[-1], self.symbols[-1]
        arrive: dict[tuple[int, str], list[Wire]] = defaultdict(list)
        after = dict(symbols)
        for cell, states in heads.items():
            content = symbols.get(cell)
            writes: dict[tuple[str, str], list[Wire]] = defaultdict(list)
            for q, here in states.items():
                if q in self.machine.halting or content is None:
                    arrive[cell, q].append(here)
                    continue
                goes: dict[tuple[str, int], list[str]] = defaultdict(list)
                for a in content:
                    if rule := self.machine.delta.get((q, a)):
                        target, written, move = rule
                        goes[target, move].append(a)
                        if written != a:
                            writes[a, written].append(here)
                for (target, move), read in goes.items():
                    arrive[cell + move, target].append(_where(build, here, content, read))
            if writes and content is not None:
                after[cell] = _written(build, content, writes)
        found: dict[int, Content] = defaultdict(dict)
        for (cell, q), wires in arrive.items():
            if (wire := build.any(wires)) != ZERO:
                found[cell][q] = wire
        self.heads.append(dict(found))
        self.symbols.append(after)

    def named(self, t: int, at: str = "") -> Iterable[tuple[str, Wire]]:
        """Yield the name, such as ``st[R] of cell 2``, and the number of each wire after step t, unchanging ones too.

        Chapter: :doc:`/book/gate-by-gate`.
        """
        for kind, contents in (("st", self.heads[t]), ("sym", self.symbols[t])):
            for cell, content in contents.items():
                for name, wire in content.items():
                    yield f"{kind}[{name}] of cell {cell}{at}", wire

    def name(self, wire: Wire) -> str:
        """The first thing that a wire says, or its number.

        Chapter: :doc:`/book/gate-by-gate`.
        """
        if wire < len(self.inputs):
            return self.inputs[wire]
        step = next(t for t, end in enumerate(self.ends) if wire < len(self.inputs) + end)
        for t in (0, step):
            for name, named in self.named(t, f" after step {t}"):
                if named == wire:
                    return name
        return f"g{wire}"

    def word(self, word: Iterable[str]) -> list[int]:
        """The inputs for a word, a list of 0 and 1: the number of each symbol in binary, lowest bit first.

        Chapter: :doc:`/book/gate-by-gate`.
        """
        tape, room = self.machine.tape(word), self.cells - self.left
        if len(tape) > room:
            raise OverflowError(
                f"The word has {count(len(tape), 'cell')}, and this circuit takes words of at most {room}. Compile "
                f"with cells={self.left + len(tape)} or more."
            )
        numbers = [self.machine.symbols.index(tape.get(cell, self.machine.blank)) for cell in range(room)]
        return [number >> k & 1 for number in numbers for k in range(self.code)]


def _where(build: Builder, here: Wire, content: Content, read: Sequence[str]) -> Wire:
    """Whether the head is here and reads one of some symbols: asked by the shorter list, theirs or the others'."""
    others = [a for a in content if a not in read]
    if len(others) < len(read):
        return build.gate("ANDNOT", here, build.any(content[a] for a in others))
    return build.gate("AND", here, build.any(content[a] for a in read))


def _written(build: Builder, content: Content, writes: dict[tuple[str, str], list[Wire]]) -> Content:
    """The symbols of a cell after heads in some states have written there."""
    left: dict[str, list[Wire]] = defaultdict(list)
    came: dict[str, list[Wire]] = defaultdict(list)
    for (a, b), heads in writes.items():
        changed = build.gate("AND", content[a], build.any(heads))
        left[a].append(changed)
        came[b].append(changed)
    found = {}
    for symbol in {**content, **came}:
        kept = build.gate("ANDNOT", content.get(symbol, ZERO), build.any(left[symbol]))
        if (wire := build.any([kept, *came[symbol]])) != ZERO:
            found[symbol] = wire
    return found
