"""This library's JSON. It can hold every machine, with one rule on each line."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable
from json.decoder import JSONArray, JSONObject  # type: ignore[attr-defined]  # missing from the stubs
from json.scanner import py_make_scanner  # type: ignore[attr-defined]  # so is this
from typing import Any

from turing.formats.base import FormatError, Row, abbreviate, build, extra_symbols
from turing.machine import TuringMachine

LIMIT = 10_000_000  # characters: enough for what wildcards make of a short text in another format
VERSION = 1
KEYS = ("initial", "halting", "blank", "delta")
RULE = "[state, symbol, next state, symbol to write, move]"


def detects(text: str) -> bool:
    return bool(re.match(r'\s*\{\s*["}]', text)) and ('"turing_machine"' in text or "table" not in text)


class _Array(list):
    """A JSON array that knows the line it begins on."""

    __slots__ = ("line",)  # there may be millions
    line: int


class _Object(dict):
    """A JSON object that knows the line it begins on, and those of its values."""

    __slots__ = ("line", "lines")
    line: int
    lines: dict[str, int]


def _load(text: str) -> Any:
    ends = [end.start() for end in re.finditer("\n", text)]

    def line_of(place: int) -> int:
        return bisect_right(ends, place) + 1

    def array(text_and_place: tuple[str, int], scan: Callable) -> tuple[_Array, int]:
        value, end = JSONArray(text_and_place, scan)
        value = _Array(value)
        value.line = line_of(text_and_place[1] - 1)
        return value, end

    def object_(text_and_place: tuple[str, int], strict: bool, scan: Callable, *rest: Any) -> tuple[_Object, int]:
        places: list[int] = []

        def value(text: str, place: int) -> Any:
            places.append(place)
            return scan(text, place)

        pairs, end = JSONObject(text_and_place, strict, value, *rest)
        found, lines = _Object(), {}
        for (name, part), place in zip(pairs, places, strict=True):
            if name in found:
                raise FormatError(f"The key {abbreviate(name)} is given twice. Keep one.", line_of(place))
            found[name], lines[name] = part, line_of(place)
        found.line, found.lines = line_of(text_and_place[1] - 1), lines
        return found, end

    decoder: Any = json.JSONDecoder(object_pairs_hook=list)
    decoder.parse_array, decoder.parse_object = array, object_
    decoder.scan_once = py_make_scanner(decoder)  # the C scanner calls neither of them
    try:
        return decoder.decode(text)
    except json.JSONDecodeError as error:
        raise FormatError(f"This is not JSON: {error.msg}.", error.lineno) from None
    except RecursionError:
        raise FormatError("The JSON is nested too deeply for a machine.") from None
    except FormatError:
        raise
    except ValueError as error:  # a number with thousands of digits
        raise FormatError(f"This is not JSON: {error}.") from None


def parse(text: str, alphabet: tuple[str, ...]) -> TuringMachine:
    data = _load(text)
    if not isinstance(data, _Object) or "turing_machine" not in data:
        raise FormatError(
            f'A machine in JSON is an object with "turing_machine": {VERSION} in it; this has none.',
            getattr(data, "line", None),
        )
    line = data.lines
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
            line.get(odd[0], data.line),
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
    rows = [_row(rule, line["delta"]) for rule in data["delta"]]
    return build(rows, data["initial"], data["halting"], data["blank"], [*extra, *alphabet])


def _row(rule: object, line: int) -> Row:
    line = getattr(rule, "line", line)
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
