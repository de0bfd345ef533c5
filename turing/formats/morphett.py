"""Morphett's five columns: state, symbol, new symbol, direction, new state."""

from __future__ import annotations

import re
from collections.abc import Iterator

from turing.formats.base import FormatError, Row, abbreviate, bound, build, halts_at_once, unmentioned, unreached
from turing.machine import TuringMachine

LIMIT = 1_000_000  # characters
MOVES = {"l": -1, "r": 1, "*": 0}
HEADER = "; state symbol new-symbol direction new-state\n"  # no other format begins like this


def detects(text: str) -> bool:
    return text.lstrip().startswith(";") or any(_looks_like_a_rule(columns) for _, columns in _lines(text))


def _looks_like_a_rule(columns: list[str]) -> bool:
    """Two symbols or a direction are in their columns: a rule, perhaps with a mistake, but not prose and not YAML."""
    return len(columns) in (5, 6) and (len(columns[1]) == len(columns[2]) == 1 or columns[3].lower() in MOVES)


def parse(text: str, alphabet: tuple[str, ...]) -> TuringMachine:
    written: list[tuple[int, str, str, str, str, int]] = []
    first: dict[tuple[str, str], int] = {}
    for number, columns in _lines(text):
        if columns[5:] == ["!"]:  # a breakpoint
            columns.pop()
        if len(columns) != 5:
            raise FormatError(
                f"{len(columns)} columns were given, and a rule has five: "
                f"state, symbol, new symbol, direction, new state.",
                number,
            )
        state, symbol, new, direction, target = columns
        for name in (symbol, new):
            if len(name) != 1:
                raise FormatError(
                    f"{abbreviate(name)} is not a symbol: a symbol is one character, and _ is the blank.", number
                )
        if direction.lower() not in MOVES:
            raise FormatError(f"{abbreviate(direction)} is not a direction. Write l, r, or * to stay.", number)
        if (state, symbol) in first:
            raise FormatError(
                f"Two rules were given for state {abbreviate(state)} reading {abbreviate(symbol)}, "
                f"the first on line {first[state, symbol]}. Keep one.",
                number,
            )
        first[state, symbol] = number
        written.append((number, state, symbol, target, new, MOVES[direction.lower()]))
    return _expand(written, alphabet)


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and columns of each line that is not empty, without its comment."""
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        if columns := line.split(";", 1)[0].split():
            yield number, columns


def _expand(written: list, alphabet: tuple[str, ...]) -> TuringMachine:
    """Replace the wildcards by every state and symbol; a more specific rule beats a less specific one."""
    named = dict.fromkeys(["0", *(q for _, state, _, target, _, _ in written for q in (state, target))])
    halting = [state for state in named if _halts(state)]
    states = [state for state in named if state != "*" and not _halts(state)]
    mentioned = [a for _, _, symbol, _, new, _ in written for a in (symbol, new) if a != "*"]
    symbols = list(dict.fromkeys(["_", *mentioned, *alphabet]))
    rows: dict[tuple[str, str], Row] = {}
    count = 0
    # Morphett's order: state and symbol named, then state, then symbol, then neither.
    for line, state, symbol, target, new, move in sorted(written, key=lambda r: (r[1] == "*", r[2] == "*")):
        some_states, some_symbols = states if state == "*" else [state], symbols if symbol == "*" else [symbol]
        count += len(some_states) * len(some_symbols)
        bound(count, line)
        for q in some_states:
            for a in some_symbols:
                row = (line, q, a, q if target == "*" else target, a if new == "*" else new, move)
                rows.setdefault((q, a), row)
    return build([*rows.values()], "0", halting, "_", ["_", *alphabet])


def _halts(state: str) -> bool:
    return state[:4].lower() == "halt"


def write(machine: TuringMachine) -> str:
    lines = [(*key, new, "*rl"[move], target) for key, (target, new, move) in machine.delta.items()]
    return HEADER + "".join(" ".join(columns) + "\n" for columns in lines)


def lacks(machine: TuringMachine) -> str:
    return halts_at_once(machine) or unreached(machine) or unmentioned(machine)


def state_fault(machine: TuringMachine, name: str, initial: bool, halting: bool) -> str:
    if initial or name == "0":
        return "" if initial and name == "0" else "the initial state is 0, and no other is"
    if _halts(name) != halting:
        return "the halting states are those whose names begin with halt"
    clash = name == "*" or re.search(r"[\s;\ufeff]", name)
    return "no state is called *, and no name holds a space or a semicolon" if clash else ""


def symbol_fault(machine: TuringMachine, name: str, blank: bool) -> str:
    if blank or name == "_":
        return "" if blank and name == "_" else "the blank is _, and no other symbol is"
    fine = len(name) == 1 and not re.match(r"[\s;*\ufeff]", name)
    return "" if fine else "a symbol is one character, and none of *, semicolon and space"
