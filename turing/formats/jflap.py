"""JFLAP's .jff: states, or blocks in version 7, and transitions in XML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import cos, pi, sin
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from turing.formats.base import FormatError, abbreviate, bound, build, unmentioned
from turing.machine import TuringMachine

LIMIT = 1_000_000  # characters
BLANK = "□"
DEPTH = 20
MOVES = {"L": -1, "R": 1, "S": 0}
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def detects(text: str) -> bool:
    return bool(re.match(r"\s*<[?!A-Za-z]", text))


@dataclass
class _Element:
    tag: str
    line: int
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[_Element] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.pieces).strip()

    def get(self, tag: str) -> _Element | None:
        return next(self.all(tag), None)

    def all(self, *tags: str) -> Iterator[_Element]:
        return (child for child in self.children if child.tag in tags)

    def holds_states(self) -> bool:
        return any(child.tag in ("state", "block") or child.holds_states() for child in self.children)


def _tree(text: str) -> _Element:
    """The document as elements with line numbers. A DOCTYPE, and with it every entity, is refused where it begins."""
    body = text.lstrip()
    above = text[: len(text) - len(body)].count("\n")
    top = _Element("", 0)
    open_elements = [top]
    parser = expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = _Element(tag, above + parser.CurrentLineNumber, attributes)
        if len(open_elements) > DEPTH:
            raise FormatError(f"This is nested more than {DEPTH} levels deep, and no machine is.", element.line)
        open_elements[-1].children.append(element)
        open_elements.append(element)

    def doctype(*_: object) -> None:
        raise FormatError("A DOCTYPE is not read. Remove it.", above + parser.CurrentLineNumber)

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: open_elements.pop()
    parser.CharacterDataHandler = lambda data: open_elements[-1].pieces.append(data)
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(body, True)
    except expat.ExpatError as error:
        raise FormatError(f"This is not XML: {expat.ErrorString(error.code)}.", above + error.lineno) from None
    except UnicodeEncodeError as error:
        line = above + 1 + body.count("\n", 0, error.start)
        raise FormatError(f"This is not XML: the character {body[error.start]!r} is not allowed.", line) from None
    return top.children[0]


def parse(text: str, alphabet: tuple[str, ...]) -> TuringMachine:
    root = _tree(text)
    if root.tag != "structure":
        raise FormatError(f"A .jff file is a <structure>, and {abbreviate(root.tag)} was given.", root.line)
    kind = root.get("type")
    if kind is None or kind.text not in ("turing", "turingbb"):
        found = "has no <type>" if kind is None else f"is of type {abbreviate(kind.text)}"
        raise FormatError(f"This structure {found}. Only type turing is read.", (kind or root).line)
    tapes = root.get("tapes")
    if tapes is not None and tapes.text != "1":
        raise FormatError(
            f"This machine has {abbreviate(tapes.text)} tapes. Only machines with one are read.", tapes.line
        )
    box, *more = [*root.all("automaton")] or [root]
    if more:
        raise FormatError("This is a second <automaton>, and a file holds one machine. Keep one.", more[0].line)
    names, initial, final = _states(box)
    return _rules([*box.all("transition")], names, initial, final, alphabet)


def _states(box: _Element) -> tuple[dict[str, str], str, set[str]]:
    """The names of the states by their ids, the initial state, and the final states."""
    for element in box.children:
        if element.holds_states():
            raise FormatError(
                f"{abbreviate(element.tag)} is a machine inside the machine. Building blocks are not read: "
                f"draw their states in the machine itself.",
                element.line,
            )
    names, initial, final = {}, [], set()
    taken: dict[str, int] = {}
    for element in box.all("state", "block"):
        identity = element.attributes.get("id")
        if identity is None or identity in names:
            found = "no id" if identity is None else f"the id {abbreviate(identity)} of another state"
            raise FormatError(f"This state has {found}. Give each state its own id.", element.line)
        name = element.attributes.get("name") or f"q{identity}"
        if name in taken:
            raise FormatError(
                f"Two states are called {abbreviate(name)}, the first on line {taken[name]}. Give each its own name.",
                element.line,
            )
        names[identity], taken[name] = name, element.line
        if element.get("initial"):
            initial.append(name)
            if len(initial) > 1:
                raise FormatError(
                    f"Both {abbreviate(initial[0])} and {abbreviate(name)} are initial. Keep one.", element.line
                )
        if element.get("final"):
            final.add(name)
    if not initial:
        raise FormatError("No state is <initial/>. Mark one.", box.line)
    return names, initial[0], final


def _part(transition: _Element, tag: str) -> str:
    parts = [*transition.all(tag)]
    if len(parts) > 1 or any(part.attributes.get("tape", "1") != "1" for part in parts):
        raise FormatError(
            f"This transition has a <{tag}> for another tape. Only machines with one are read.", parts[-1].line
        )
    return parts[0].text if parts else ""


def _symbol(transition: _Element, tag: str) -> str:
    part = transition.get(tag)
    content = "".join(part.pieces) if part else ""
    if part and content.isspace() and "\n" not in content:  # a line break is only the layout of the file
        raise FormatError(
            f"This <{tag}> holds a space, and a space is not a symbol. Write <{tag}/> for the blank.", part.line
        )
    return _part(transition, tag) or BLANK


def _rules(transitions: list, names: dict, initial: str, final: set, alphabet: tuple) -> TuringMachine:
    written = []
    for transition in transitions:
        line = transition.line
        if transition.attributes.get("block") == "true":
            raise FormatError("This transition belongs to a building block, and these are not read.", line)
        ends = [_part(transition, "from"), _part(transition, "to")]
        for end in ends:
            if end not in names:
                raise FormatError(f"This transition names the state {abbreviate(end)}, and no state has that id.", line)
        read, new = (_symbol(transition, tag) for tag in ("read", "write"))
        if "}" in read and len(read) > 1:
            raise FormatError(
                f"{abbreviate(read)} keeps a symbol in a variable, and that is not read. Write a transition "
                f"for each symbol, to states that remember it.",
                line,
            )
        if len(read.removeprefix("!") or "!!") != 1 or len(new) != 1:
            wrong = abbreviate(new if len(new) != 1 else read)
            raise FormatError(f"{wrong} is not a symbol: a symbol is one character, and nothing is the blank.", line)
        move = _part(transition, "move")
        if move not in MOVES:
            raise FormatError(f"A move is L, R or S, and {abbreviate(move)} was given.", line)
        written.append((line, names[ends[0]], read, names[ends[1]], new, MOVES[move]))
    return build(_expand(written, alphabet), initial, final, BLANK, [BLANK, *alphabet])


def _expand(written: list, alphabet: tuple[str, ...]) -> list:
    """Replace the shortcuts by symbols: ~ reads any and writes what was read, !x reads any but x."""
    mentioned = [a for _, _, read, _, new, _ in written for a in (read.removeprefix("!"), new) if a != "~"]
    symbols = list(dict.fromkeys([BLANK, *mentioned, *alphabet]))
    rows, beaten, count = [], set(), 0
    for line, state, read, target, new, move in sorted(written, key=lambda row: len(row[2])):
        but = len(read) > 1  # such a transition gives way to the others, as in JFLAP
        some = [a for a in symbols if a != read[1:]] if but or read == "~" else [read]
        count += len(some)
        bound(count, line)
        for a in some:
            if not (but and (state, a) in beaten):
                rows.append((line, state, a, target, a if new == "~" else new, move))
            if not but:
                beaten.add((state, a))
    return rows


def write(machine: TuringMachine) -> str:
    identity = {state: number for number, state in enumerate(machine.states)}
    out = ['<?xml version="1.0" encoding="UTF-8" standalone="no"?>', "<structure>", "\t<type>turing</type>"]
    out.append("\t<automaton>")
    for state, number in identity.items():
        turn, radius = 2 * pi * number / len(identity), 40 * len(identity) + 60  # on a circle
        out.append(f'\t\t<state id="{number}" name={quoteattr(state)}>')
        out.append(f"\t\t\t<x>{round(radius * (1.2 - cos(turn)))}.0</x>")
        out.append(f"\t\t\t<y>{round(radius * (1.2 - sin(turn)))}.0</y>")
        out += ["\t\t\t<initial/>"] * (state == machine.initial) + ["\t\t\t<final/>"] * (state in machine.halting)
        out.append("\t\t</state>")
    for (state, symbol), (target, written, move) in machine.delta.items():
        parts: dict[str, str | int] = {"from": identity[state], "to": identity[target]}
        parts |= {"read": symbol, "write": written, "move": "SRL"[move]}
        out.append("\t\t<transition>")
        for tag, value in parts.items():
            out.append(f"\t\t\t<{tag}/>" if value == BLANK else f"\t\t\t<{tag}>{escape(str(value))}</{tag}>")
        out.append("\t\t</transition>")
    return "\n".join([*out, "\t</automaton>", "</structure>", ""])


def lacks(machine: TuringMachine) -> str:
    return unmentioned(machine)


def state_fault(machine: TuringMachine, name: str, initial: bool, halting: bool) -> str:
    return "a name holds only characters that XML allows" if NOT_XML.search(name) else ""


def symbol_fault(machine: TuringMachine, name: str, blank: bool) -> str:
    if blank or name == BLANK:
        return "" if blank and name == BLANK else f"the blank is {BLANK}, and no other symbol is"
    fine = len(name) == 1 and not name.isspace() and name not in "!~}" and not NOT_XML.search(name)
    return "" if fine else "a symbol is one character, and none of ! ~ } and space"
