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
    """A machine without a tape, to be asked: you choose the symbol that it reads at each step, and see what it does.

    ``asked`` holds each question with its answer, ``queries`` says how many there are, and ``symbols`` how many symbols
    they have in all.

    Chapter: :doc:`/book/research`.
    """

    machine: TuringMachine
    asked: dict[Word, Output] = field(default_factory=dict)

    def ask(self, word: Word) -> Output:
        """What the machine does at the last step if it begins in its initial state and reads these symbols in turn.

        That is the symbol that it writes and its move, or None if it has no rule.
        """
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
        """A shortest word on which another machine does something else; None if there is none."""
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
    """The machine in a black box, learned from its answers alone by Angluin's algorithm L* for machines with outputs.

    States that no word leads to are not found, and states that always do the same are found as one.

    >>> from turing.corpora.black_box import BlackBox, learned
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
