"""bbchallenge's standard text format: ``1RB1LB_1LA1RZ``, a row for each state and a column for each symbol."""

from __future__ import annotations

import re
from string import ascii_uppercase as LETTERS
from string import digits as DIGITS

from turing.formats.base import FormatError, abbreviate, build, halts_at_once, stays, unreached
from turing.machine import TuringMachine

LIMIT = 1_000_000  # characters


def detects(text: str) -> bool:
    return bool(re.fullmatch(r"(?i)(\d[A-Z][A-Z]|---)[\w-]*", text.strip()))


def parse(text: str, alphabet: tuple[str, ...]) -> TuringMachine:
    line = 1 + text[: len(text) - len(text.lstrip())].count("\n")
    rows = text.strip().split("_")
    if len(rows) > len(LETTERS):
        raise FormatError(f"{len(rows):,} rows were given, and there are letters for {len(LETTERS)} states.", line)
    width = -(-len(rows[0]) // 3)
    if not width:
        raise FormatError("The row of state A is empty. A machine reads like 1RB1LB_1LA1RZ.", line)
    if width > len(DIGITS):
        raise FormatError(f"{width:,} columns were given, and there are digits for {len(DIGITS)} symbols.", line)
    rules, halting = [], set()
    table = {state: [row[i : i + 3] for i in range(0, len(row), 3)] for state, row in zip(LETTERS, rows, strict=False)}
    for state, cells in table.items():
        if len(cells) != width:
            raise FormatError(
                f"row {state} has {3 * len(cells):,} characters, and row A has {3 * width}. "
                f"Rows are equally long: write --- where there is no rule.",
                line,
            )
    for state, cells in table.items():
        for column, cell in enumerate(cells):
            if cell == "---":
                continue
            where = f"row {state}, column {column}"
            if not re.fullmatch("[0-9][LR][A-Z]", cell):
                raise FormatError(
                    f"{where}: {abbreviate(cell)} is not a rule. Write the symbol, L or R, and the next state, "
                    f"as in 1RB, or --- where there is none.",
                    line,
                )
            written, move, target = list(cell)
            if int(written) >= width:
                raise FormatError(
                    f"{where}: {cell} writes {written}, and the last column is that of symbol {width - 1}. "
                    f"Give every row a column for {written}.",
                    line,
                )
            if target not in LETTERS[: len(rows)]:
                halting.add(target)
            rules.append((line, state, str(column), target, written, 1 if move == "R" else -1))
    return build(rules, "A", halting, "0", [*DIGITS[:width], *alphabet])


def write(machine: TuringMachine) -> str:
    last = max(state for state in machine.states if state not in machine.halting)
    rows = []
    for state in LETTERS[: LETTERS.index(last) + 1]:  # a letter that is not a state gets an empty row
        rules = [machine.delta.get((state, symbol)) for symbol in sorted(machine.symbols)]
        rows.append("".join(f"{r[1]}{' RL'[r[2]]}{r[0]}" if r else "---" for r in rules))
    return "_".join(rows)


def lacks(machine: TuringMachine) -> str:
    if len(machine.states) > len(LETTERS):
        return f"it has {len(machine.states)} states, and there are {len(LETTERS)} letters"
    if len(machine.symbols) > len(DIGITS):
        return f"it has {len(machine.symbols)} symbols, and there are {len(DIGITS)} digits"
    return stays(machine) or halts_at_once(machine) or unreached(machine)


def state_fault(machine: TuringMachine, name: str, initial: bool, halting: bool) -> str:
    if initial or name == "A":
        return "" if initial and name == "A" else "the initial state is A, and no other is"
    room = LETTERS[: len(LETTERS) - len(machine.halting)]  # each halting state needs a letter after the rows
    rows = [state for state in machine.states if state not in machine.halting]
    if not halting:
        return "" if len(name) == 1 and name in room else "a state is one letter, with those that halt at the end"
    last = max([room[len(rows) - 1], *(state for state in rows if len(state) == 1 and state in room)])
    beyond = len(name) == 1 and name in LETTERS and name > last
    return "" if beyond else f"a halting state is a letter after the last row, {last}"


def symbol_fault(machine: TuringMachine, name: str, blank: bool) -> str:
    if blank or name == "0":
        return "" if blank and name == "0" else "the blank is 0, and no other symbol is"
    used = DIGITS[: len(machine.symbols)]
    return "" if len(name) == 1 and name in used else f"the symbols are the digits from 0 to {used[-1]}"
