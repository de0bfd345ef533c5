"""The tokens that go round: a cell of the tape each, and on the newest one what the head is about to do."""

from __future__ import annotations

from typing import NamedTuple

from turing.machine import TuringMachine

__all__ = ["Token", "step", "vocabulary"]


class Token(NamedTuple):
    """A cell with its symbol, and the control: a state, and what happens next.

    ``mode`` is ``"run"`` if a step of the machine comes next; ``"left"`` and ``"stay"`` while a round is copied, until
    the token with ``mark`` has come round again. In a round to the left each symbol is ``held`` for one token, so that
    all cells move on by one; the marked token has no symbol then.

    >>> from turing.queue import Token
    >>> str(Token("(", "R")), str(Token("*", "M", "left", held="(")), str(Token(None, "M", "left", True, "*"))
    ('(→R', '*←M (', '⊥←M *')

    Chapter: :doc:`/book/queue`.
    """

    symbol: str | None
    state: str | None
    mode: str = "run"
    mark: bool = False
    held: str | None = None

    def __str__(self) -> str:
        if self.state is None:
            return "∅"
        sign = {"run": "→", "left": "←", "stay": "↻"}[self.mode]
        dot = "·" if self.mark and self.symbol is not None else ""
        return f"{'⊥' if self.symbol is None else self.symbol}{dot}{sign}{self.state}" + (
            f" {self.held}" if self.held is not None else ""
        )


NOTHING = Token(None, None)  # where no rule applies


def step(machine: TuringMachine, newest: Token, oldest: Token) -> Token:
    """The token that follows: what the network should say, as a program.

    >>> import turing
    >>> from turing.queue import Token, step
    >>> m = turing.zoo["balanced_parentheses"]
    >>> str(step(m, Token("(", "R"), Token(")", "I")))
    '⊥←M *'

    Chapter: :doc:`/book/queue`.
    """
    if newest.mode != "run" and not oldest.mark:
        if newest.mode == "left":
            return newest._replace(symbol=newest.held, mark=False, held=oldest.symbol)
        return newest._replace(symbol=oldest.symbol, mark=False)
    symbol = newest.held if newest.mode == "left" else oldest.symbol
    rule = machine.delta.get((newest.state, symbol))  # type: ignore[arg-type]  # both are there in a run
    return written(*rule) if rule else NOTHING


def written(state: str, symbol: str, move: int) -> Token:
    """The token that a rule writes."""
    if move > 0:
        return Token(symbol, state)
    return Token(None, state, "left", True, symbol) if move else Token(symbol, state, "stay", True)


def vocabulary(machine: TuringMachine) -> list[Token]:
    """Every token that a run can meet: of the word, of the rules, and of the rounds. The first one is ∅, for a jam.

    >>> import turing
    >>> from turing.queue import vocabulary
    >>> len(vocabulary(turing.zoo["balanced_parentheses"]))
    89

    Chapter: :doc:`/book/queue`.
    """
    symbols = machine.symbols
    rules = [written(*rule) for rule in machine.delta.values()]
    left = list(dict.fromkeys(token.state for token in rules if token.mode == "left"))
    stay = list(dict.fromkeys(token.state for token in rules if token.mode == "stay"))
    rounds = [Token(a, q, "left", held=b) for q in left for a in symbols for b in symbols]
    rounds += [Token(a, q, "stay") for q in stay for a in symbols]
    return list(dict.fromkeys([NOTHING, *(Token(a, machine.initial) for a in symbols), *rules, *rounds]))
