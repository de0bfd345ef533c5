"""The machine that a network of Pérez et al. runs: it meets its word symbol by symbol, and never stays on a cell.

Chapter: :doc:`/book/averages`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from turing import arguments
from turing.machine import TuringMachine

__all__ = ["NormalForm"]

MARK = "#"


class NormalForm:
    """A machine that first reads its word, and then makes the runs of a given machine without stays.

    The word stands on the cells 1 to n, and everything else holds a mark, which the machine takes for its blank. It
    starts on cell 0, walks right to the mark after the word, walks back to cell 0, and starts the given machine on cell
    1: 2n + 3 steps. A stay becomes a step to the right and one back. ``source`` is the given machine, and ``machine``
    this one.

    >>> import turing
    >>> from turing.perez import NormalForm
    >>> form = NormalForm(turing.zoo["balanced_parentheses"])
    >>> form.machine.run(form.word("B()E")).steps, form.source.run("B()E").steps, form.read_steps("B()E")
    (20, 9, 11)

    Chapter: :doc:`/book/averages`.
    """

    def __init__(self, source: TuringMachine):
        if not isinstance(source, TuringMachine):
            raise TypeError(f"NormalForm takes a TuringMachine, and {source!r} was given.")
        self.source = source
        self.mark = unused(MARK, source.symbols)
        self.enter, self.read, self.back = self.reading = [
            unused(name, source.states) for name in ("enter", "read", "back")
        ]
        self.stays: dict[str, str] = {}  # the states in the middle of a stay, by the one it leads to
        for target in dict.fromkeys(target for target, _, move in source.delta.values() if move == 0):
            self.stays[target] = unused(f"to {target}", {*source.states, *self.reading, *self.stays.values()})
        symbols = [self.mark, *source.symbols]
        delta = {
            (self.enter, self.mark): (self.read, self.mark, 1),
            **{(self.read, symbol): (self.read, symbol, 1) for symbol in source.symbols},
            (self.read, self.mark): (self.back, self.mark, -1),
            **{(self.back, symbol): (self.back, symbol, -1) for symbol in source.symbols},
            (self.back, self.mark): (source.initial, self.mark, 1),
        }
        for (state, symbol), (target, written, move) in source.delta.items():
            rule = (target, written, move) if move else (self.stays[target], written, 1)
            for read in [symbol, self.mark] if symbol == source.blank else [symbol]:
                delta[state, read] = rule
        for target, middle in self.stays.items():
            delta |= {(middle, symbol): (target, symbol, -1) for symbol in symbols}
        self.machine = TuringMachine(delta, self.enter, source.halting, self.mark)

    def word(self, word: Iterable[str]) -> list[str]:
        """The word as this machine meets it, a list of symbols from cell 0 on."""
        return [self.mark, *arguments.word(word)]

    def read_steps(self, word: Sequence[str]) -> int:
        """How many steps it takes before the given machine starts."""
        return 2 * len(word) + 3

    def symbol(self, symbol: str) -> str:
        """What a symbol of this machine is for the given one: the mark is its blank."""
        return self.source.blank if symbol == self.mark else symbol


def unused(name: str, taken: Iterable[str]) -> str:
    """The name, with as many primes as it takes to be a new one.

    Chapter: :doc:`/book/averages`.
    """
    taken = set(taken)
    while name in taken:
        name += "′"
    return name
