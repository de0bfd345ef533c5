"""What the formats share: the error, the step from rules to a machine, and names to choose from."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator, Sequence

from turing.machine import TuringMachine

MAX_RULES = 200_000  # that wildcards may stand for

# One rule as the formats pass it on: line, state, symbol, next state, symbol to write, move.
Row = tuple[int | None, str, str, str, str, int]


class FormatError(ValueError):
    """Text that is not a machine, or a machine that a format cannot hold. It is a ValueError.

    ``line`` is the number of the line with the error, counted from 1, or None if it is not in one line.

    Chapter: :doc:`/book/machines`.
    """

    def __init__(self, message: str, line: int | None = None):
        super().__init__(message if line is None else f"line {line}: {message}")
        self.line = line


class UnknownFormat(FormatError):
    """Text that is in none of the known formats. ``except FormatError`` catches this error too.

    Chapter: :doc:`/book/machines`.
    """


def abbreviate(text: str) -> str:
    """The text in quotes, short enough for a message."""
    return repr(text) if len(text) <= 60 else f"{text[:60]!r}…"


def build(
    rows: Sequence[Row], initial: str, halting: Iterable[str], blank: str, alphabet: Iterable[str]
) -> TuringMachine:
    """The machine with these rules. Errors that TuringMachine would raise without a line are raised here with one."""
    halting = frozenset(halting)
    seen: dict[tuple[str, str], int | None] = {}
    for line, state, symbol, *_ in rows:
        if (state, symbol) in seen:
            first = seen[state, symbol]
            where = "" if first is None else f", the first on line {first}"
            raise FormatError(
                f"Two rules were given for state {abbreviate(state)} reading {abbreviate(symbol)}{where}. Keep one.",
                line,
            )
        if state in halting:
            raise FormatError(
                f"State {abbreviate(state)} halts, and a rule was given for it, reading {abbreviate(symbol)}. "
                f"Remove the rule, or do not let {abbreviate(state)} halt.",
                line,
            )
        seen[state, symbol] = line
    try:
        return TuringMachine([row[1:] for row in rows], initial, halting, blank, alphabet=alphabet)
    except ValueError as error:
        raise FormatError(str(error)) from None


def bound(rules: int, line: int) -> None:
    """Refuse wildcards that stand for more rules than anybody would have written."""
    if rules > MAX_RULES:
        raise FormatError(
            f"Up to this line the wildcards stand for {rules:,} rules, and at most {MAX_RULES:,} are read. "
            f"Name the states and symbols that are meant.",
            line,
        )


# Reasons why a format cannot hold a machine, whatever its names. Each function returns the reason, or "".


def stays(machine: TuringMachine) -> str:
    for (state, symbol), (_, _, move) in machine.delta.items():
        if move == 0:
            pair = f"({abbreviate(state)}, {abbreviate(symbol)})"
            return f"the rule for {pair} stays, and the format knows only left and right"
    return ""


def halts_at_once(machine: TuringMachine) -> str:
    if machine.initial in machine.halting:
        return f"the initial state {abbreviate(machine.initial)} halts, and in this format it cannot"
    return ""


def unreached(machine: TuringMachine) -> str:
    lost = machine.halting - {target for target, _, _ in machine.delta.values()}
    if lost:
        return f"no rule leads to the halting state {abbreviate(min(lost))}, and the format has no other place for it"
    return ""


def unmentioned(machine: TuringMachine) -> str:
    for symbol in extra_symbols(machine):
        if symbol != machine.blank:  # every format has a place for the blank
            return f"no rule mentions the symbol {abbreviate(symbol)}, and the format has no other place for it"
    return ""


def extra_symbols(machine: TuringMachine) -> list[str]:
    """The symbols that no rule mentions."""
    named = {symbol for (_, read), (_, written, _) in machine.delta.items() for symbol in (read, written)}
    return [symbol for symbol in machine.symbols if symbol not in named]


# Names for `fit` to choose from, the best first; it takes the first that the format allows.


def ideas(kind: str, name: str) -> Iterable[str]:
    """Names made from the old one."""
    if kind == "symbol":
        return name  # its characters
    word = re.sub(r"[^\w-]+", "_", name)[:40]
    return word, f"halt-{word}", f"q-{word}"


def spares(kind: str, machine: TuringMachine, halts: bool) -> Iterator[str]:
    """Names that suit any state or any symbol."""
    if kind == "symbol":
        yield from "_□"
        yield from string.digits + string.ascii_letters
        yield from filter(str.isalpha, map(chr, range(0xC0, 0xD800)))
        return
    letters = string.ascii_uppercase
    yield "0"
    yield from reversed(letters) if halts else letters
    for number in range(1, len(machine.states) + 1):
        yield from (f"q{number}", f"halt{number}")
