"""A baseline that sees no weights: L*, by asking what a machine does on sequences of symbols.

Chapter: :doc:`/book/research`.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from turing.machine import TuringMachine

__all__ = ["BlackBox", "learned"]

Word = tuple[str, ...]
Output = tuple[str, int] | None  # what a step writes and how it moves, or no rule


@dataclass
class BlackBox:
    """A machine that can be reset and asked: put any symbol under the tape head, step by step, and see what it does.

    ``queries`` and ``symbols`` count what was asked, each question once.

    Chapter: :doc:`/book/research`.
    """

    machine: TuringMachine
    asked: dict[Word, Output] = field(default_factory=dict)

    def ask(self, word: Word) -> Output:
        """What the last step does, after a reset."""
        if word not in self.asked:
            state: str | None = self.machine.initial
            output: Output = None
            for symbol in word:
                rule = None if state is None else self.machine.delta.get((state, symbol))
                state, output = (None, None) if rule is None else (rule[0], (rule[1], rule[2]))
            self.asked[word] = output
        return self.asked[word]

    @property
    def queries(self) -> int:
        return len(self.asked)

    @property
    def symbols(self) -> int:
        return sum(map(len, self.asked))

    def differs(self, guess: TuringMachine) -> Word | None:
        """The perfect teacher: a shortest word on which a guess does something else; None if there is none."""
        start = (self.machine.initial, guess.initial)
        waiting, seen = deque([(start, ())]), {start}
        while waiting:
            (one, other), word = waiting.popleft()
            for symbol in self.machine.symbols:
                rules = self.machine.delta.get((one, symbol)), guess.delta.get((other, symbol))
                longer: Word = (*word, symbol)
                if (rules[0] is None) != (rules[1] is None):
                    return longer
                if rules[0] is not None and rules[1] is not None:
                    if rules[0][1:] != rules[1][1:]:
                        return longer
                    pair = (rules[0][0], rules[1][0])
                    if pair not in seen:
                        seen.add(pair)
                        waiting.append((pair, longer))  # type: ignore[arg-type]  # words of any length
        return None


def learned(box: BlackBox) -> TuringMachine:
    """Angluin's L* for machines with outputs: the states are words that lead to rows of answers that differ.

    It finds the reachable states up to bisimulation: states that nothing leads to, and states that do the same, are
    not seen from outside.

    >>> import turing
    >>> box = BlackBox(turing.zoo["bb3"])
    >>> len(learned(box).states), box.queries
    (4, 14)

    Chapter: :doc:`/book/research`.
    """
    symbols = box.machine.symbols
    access: list[Word] = [()]
    suffixes: list[Word] = [(symbol,) for symbol in symbols]

    def row(word: Word) -> tuple[Output, ...]:
        return tuple(box.ask(word + suffix) for suffix in suffixes)

    while True:
        known = {row(word): k for k, word in enumerate(access)}
        for word in access:  # the list grows while it is read
            for symbol in symbols:
                if box.ask((*word, symbol)) is not None and (new := row((*word, symbol))) not in known:
                    known[new] = len(access)
                    access.append((*word, symbol))
        guess = _guess(box, access, known, row)
        found = box.differs(guess)
        if found is None:
            return guess
        suffixes += [found[k:] for k in range(len(found)) if found[k:] not in suffixes]
        access = _apart(access, row)


def _apart(access: list[Word], row) -> list[Word]:  # type: ignore[no-untyped-def]  # the rows of the table above
    """The words whose rows differ, the first of each."""
    return list({row(word): word for word in reversed(access)}.values())[::-1]


def _guess(box: BlackBox, access: list[Word], known: dict, row) -> TuringMachine:  # type: ignore[no-untyped-def]
    machine, delta = box.machine, {}
    for k, word in enumerate(access):
        for symbol in machine.symbols:
            output = box.ask((*word, symbol))
            if output is not None:
                delta[f"q{k}", symbol] = (f"q{known[row((*word, symbol))]}", *output)
    names = [f"q{k}" for k in range(len(access))]
    idle = {q for q in names if not any(pair[0] == q for pair in delta)}
    return TuringMachine(delta, "q0", idle, machine.blank, alphabet=machine.symbols)
