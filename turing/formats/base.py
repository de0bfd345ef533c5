"""What the formats share: the error, the last step from rules to a machine, and names to choose from."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator

from turing.machine import TuringMachine

LIMIT = 1_000_000  # characters of text
RULES = 200_000  # rules that wildcards may stand for

# One rule as the formats hand it over: line, state, symbol, next state, symbol to write, move.
Row = tuple[int | None, str, str, str, str, int]


class FormatError(ValueError):
    """A text that is no machine, or a machine that a format cannot hold; ``line`` says where, or is None.

    Chapter: :doc:`/book/00_machines`.
    """

    def __init__(self, message: str, line: int | None = None):
        super().__init__(message if line is None else f"line {line}: {message}")
        self.line = line


def cut(text: str) -> str:
    """The text in quotes, short enough for a message."""
    return repr(text) if len(text) <= 60 else f"{text[:60]!r}…"


def build(rows: list[Row], initial: str, halting: Iterable[str], blank: str, alphabet: Iterable[str]) -> TuringMachine:
    """The machine of these rows. What TuringMachine would refuse without a line is refused here with one."""
    halting, seen = frozenset(halting), {}
    for line, state, symbol, *_ in rows:
        if (state, symbol) in seen:
            first = seen[state, symbol]
            where = "" if first is None else f", the first on line {first}"
            raise FormatError(
                f"Two rules were given for state {cut(state)} reading {cut(symbol)}{where}. Keep one.", line
            )
        if state in halting:
            raise FormatError(
                f"State {cut(state)} halts, and a rule was given for it, reading {cut(symbol)}. "
                f"Remove the rule, or do not let {cut(state)} halt.",
                line,
            )
        seen[state, symbol] = line
    try:
        return TuringMachine([row[1:] for row in rows], initial, halting, blank, alphabet=alphabet)
    except ValueError as error:
        raise FormatError(str(error)) from None


def bound(rules: int, line: int) -> None:
    """Refuse wildcards that stand for more rules than anybody wrote."""
    if rules > RULES:
        raise FormatError(
            f"Up to this line the wildcards stand for {rules:,} rules, and at most {RULES:,} are read. "
            f"Name the states and symbols that are meant.",
            line,
        )


# What a format may lack, whatever the names. Each returns what is wrong, or "".


def stays(machine: TuringMachine) -> str:
    for (state, symbol), (_, _, move) in machine.delta.items():
        if move == 0:
            return f"the rule for ({cut(state)}, {cut(symbol)}) stays, and the format knows only left and right"
    return ""


def halts_at_once(machine: TuringMachine) -> str:
    if machine.initial in machine.halting:
        return f"the initial state {cut(machine.initial)} halts, and in this format it cannot"
    return ""


def unreached(machine: TuringMachine) -> str:
    lost = machine.halting - {target for target, _, _ in machine.delta.values()}
    if lost:
        return f"no rule leads to the halting state {cut(min(lost))}, and the format has no other place for it"
    return ""


def unmentioned(machine: TuringMachine) -> str:
    named = {symbol for (_, read), (_, written, _) in machine.delta.items() for symbol in (read, written)}
    for symbol in machine.symbols[1:]:  # the blank is always known
        if symbol not in named:
            return f"no rule mentions the symbol {cut(symbol)}, and the format has no other place for it"
    return ""


# Names for `fit` to choose from, the likeliest first; it takes the first that the format allows.


def state_ideas(machine: TuringMachine, name: str) -> Iterator[str]:
    word = re.sub(r"[^\w-]+", "_", name)[:40]
    yield from (word, f"halt-{word}", f"q-{word}", "0")
    letters = string.ascii_uppercase
    yield from reversed(letters) if name in machine.halting else letters
    for number in range(1, len(machine.states) + 1):
        yield from (f"q{number}", f"halt{number}")


def symbol_ideas(machine: TuringMachine, name: str) -> Iterator[str]:
    yield from name
    yield from "_□"
    yield from string.digits + string.ascii_letters
    yield from filter(str.isalpha, map(chr, range(0xC0, 0xD800)))
