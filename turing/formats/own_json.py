"""This library's JSON. It can hold every machine, with one rule on each line."""

from __future__ import annotations

import json
import re
from typing import Any

from turing.formats.base import FormatError, Row, abbreviate, build, extra_symbols
from turing.machine import TuringMachine

LIMIT = 10_000_000  # characters: enough for what wildcards make of a short text in another format
VERSION = 1
KEYS = ("initial", "halting", "blank", "delta")
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\n|[][{}:,]|[^][{}:,"\s]+')  # of text that is JSON, with the ends of lines
RULE = "[state, symbol, next state, symbol to write, move]"


def detects(text: str) -> bool:
    return bool(re.match(r'\s*\{\s*["}]', text)) and ('"turing_machine"' in text or "table" not in text)


def _load(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise FormatError(f"This is not JSON: {error.msg}.", error.lineno) from None
    except RecursionError:
        raise FormatError("The JSON is nested too deeply for a machine.") from None
    except ValueError as error:  # a number with thousands of digits
        raise FormatError(f"This is not JSON: {error}.") from None


def _lines(text: str) -> tuple[int, dict[str, int], list[int]]:
    """Where things begin in the text of an object: itself, its values by their keys, and the arrays in ``delta``."""
    first, line, depth, key, before = 0, 1, 0, "", ""
    values: dict[str, int] = {}
    rules = []
    for token in TOKEN.findall(text):
        if token == "\n":
            line += 1
            continue
        first = first or line
        if depth == 1 and before == ":":
            if key in values:
                raise FormatError(f"The key {abbreviate(key)} is given twice. Keep one.", line)
            values[key] = line
        elif depth == 1 and token[0] == '"':
            key = json.loads(token)
        elif depth == 2 and token == "[" and key == "delta":
            rules.append(line)
        depth += (token in "[{") - (token in "]}")
        before = token
    return first, values, rules


def parse(text: str, alphabet: tuple[str, ...]) -> TuringMachine:
    data = _load(text)
    first, line, rules = _lines(text)
    if not isinstance(data, dict) or "turing_machine" not in data:
        raise FormatError(
            f'A machine in JSON is an object with "turing_machine": {VERSION} in it; this has none.', first
        )
    version = data.pop("turing_machine")
    if type(version) is not int or version != VERSION:
        raise FormatError(
            f'"turing_machine" is the version of the format, {VERSION}, and {abbreviate(str(version))} was given.',
            line["turing_machine"],
        )
    extra = data.pop("alphabet", [])
    odd = [*(key for key in data if key not in KEYS), *(key for key in KEYS if key not in data)]
    if odd:
        raise FormatError(
            f"The keys are initial, halting, blank, delta and, if need be, alphabet. "
            f"Missing or unknown: {', '.join(map(abbreviate, odd[:5]))}.",
            line.get(odd[0], first),
        )
    for key in ("initial", "blank"):
        if not isinstance(data[key], str):
            raise FormatError(f"{key} is a string, and {abbreviate(str(data[key]))} was given.", line[key])
    for key, names in (("halting", data["halting"]), ("alphabet", extra)):
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise FormatError(f"{key} is a list of strings, and {abbreviate(str(names))} was given.", line[key])
    if not isinstance(data["delta"], list):
        raise FormatError(
            f"delta is a list of rules, {RULE}, and {abbreviate(str(data['delta']))} was given.", line["delta"]
        )
    places = iter(rules)
    rows = [_row(rule, next(places) if isinstance(rule, list) else line["delta"]) for rule in data["delta"]]
    return build(rows, data["initial"], data["halting"], data["blank"], [*extra, *alphabet])


def _row(rule: object, line: int) -> Row:
    if not isinstance(rule, list) or [type(part) for part in rule] != [str, str, str, str, int]:
        raise FormatError(f"A rule reads {RULE}: four strings and a number. {abbreviate(str(rule))} was given.", line)
    if not all(rule[:4]):
        raise FormatError(
            f"States and symbols are not empty, and the rule {abbreviate(str(rule))} has one that is.", line
        )
    if rule[4] not in (-1, 0, 1):
        raise FormatError(
            f"A move is -1 (left), 0 (stay) or 1 (right), and {abbreviate(str(rule[4]))} was given.", line
        )
    return (line, *rule)


def write(machine: TuringMachine) -> str:
    def text(value: object) -> str:
        return json.dumps(value, ensure_ascii=False)

    extra = extra_symbols(machine)
    rules = [text([*key, *rule]) for key, rule in machine.delta.items()]
    head = {"turing_machine": VERSION, "initial": machine.initial, "halting": sorted(machine.halting)}
    head |= {"blank": machine.blank} | ({"alphabet": extra} if extra else {})
    lines = [f'  "{key}": {text(value)},\n' for key, value in head.items()]
    return "{\n" + "".join(lines) + '  "delta": [\n    ' + ",\n    ".join(rules) + "\n  ]\n}\n"


def lacks(machine: TuringMachine) -> str:
    return ""


def state_fault(machine: TuringMachine, name: str, initial: bool, halting: bool) -> str:
    return ""


def symbol_fault(machine: TuringMachine, name: str, blank: bool) -> str:
    return ""
