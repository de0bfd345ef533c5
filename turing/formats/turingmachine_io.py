"""turingmachine.io's YAML: a table of states, each a mapping from symbols to actions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import yaml

from turing.formats.base import FormatError, abbreviate, build, extra_symbols, stays
from turing.machine import TuringMachine

LIMIT = 100_000  # characters, which take PyYAML a second or two
DEPTH = 10  # a table of rows of actions needs five levels

MACHINE = {"input", "blank", "start state", "table", "synonyms", "positions"}
WRAPPER = {"name", "source code", "positions", "editor contents"}
MOVES = {"L": -1, "R": 1}
NULLS = {"", "~", "null", "Null", "NULL"}
EXAMPLES = "R, {R: state} or {write: x, L: state}"

# An action: next state and symbol to write, each None if it does not change, and the move.
Action = tuple[str | None, str | None, int]


def detects(text: str) -> bool:
    keys = r"""(?m)^[ \t{]*["']?(blank|start state|table|source code)["']?[ \t]*:"""
    return not text.lstrip().startswith(";") and bool(re.search(keys, text))


class _Node(NamedTuple):
    """A piece of YAML. Scalars stay text, as they were written: ``no`` is a name, and so is ``0x1``."""

    line: int
    kind: str  # "text", "null", "list" or "map"
    text: str = ""
    style: str | None = None
    items: list = []


def _tree(text: str, line_of: Callable[[int], int]) -> _Node:
    """The document as nodes, built from events, so that nothing is ever expanded or constructed."""
    roots: list[_Node] = []
    open_nodes: list[_Node] = []
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            line = line_of(event.start_mark.line)
            if isinstance(event, yaml.AliasEvent):
                raise FormatError(
                    f"The alias {abbreviate(f'*{event.anchor}')} is not followed. Write its value out.", line
                )
            if isinstance(event, yaml.CollectionEndEvent):
                open_nodes.pop()
            elif isinstance(event, (yaml.ScalarEvent, yaml.CollectionStartEvent)):
                if event.tag:
                    raise FormatError(f"The tag {abbreviate(event.tag)} means nothing in a machine. Remove it.", line)
                node = _node(event, line)
                (open_nodes[-1].items if open_nodes else roots).append(node)
                if node.kind in ("list", "map"):
                    open_nodes.append(node)
                if len(open_nodes) > DEPTH:
                    raise FormatError(f"This is nested more than {DEPTH} levels deep, and no machine is.", line)
    except yaml.MarkedYAMLError as error:
        at = line_of(error.problem_mark.line) if error.problem_mark else None
        cause = ", ".join(part for part in (error.context, error.problem) if part)
        raise FormatError(f"This is not YAML: {cause}.", at) from None
    except yaml.reader.ReaderError as error:
        line = line_of(text.count("\n", 0, error.position))
        raise FormatError(f"This is not YAML: the character {chr(error.character)!r} is not allowed.", line) from None
    except FormatError:
        raise
    except (ValueError, OverflowError) as error:  # PyYAML on escapes such as "\UFFFFFFFF"
        raise FormatError(f"This is not YAML: {error}.") from None
    if len(roots) != 1:
        line = roots[1].line if roots else line_of(0)
        raise FormatError(f"{len(roots)} YAML documents were given, and a machine is one.", line)
    return roots[0]


def _node(event: yaml.ScalarEvent | yaml.CollectionStartEvent, line: int) -> _Node:
    if isinstance(event, yaml.ScalarEvent):
        kind = "null" if event.implicit[0] and event.value in NULLS else "text"
        return _Node(line, kind, event.value, event.style)
    return _Node(line, "map" if isinstance(event, yaml.MappingStartEvent) else "list", items=[])


def _pairs(node: _Node, what: str) -> list[tuple[_Node, _Node]]:
    if node.kind != "map":
        raise FormatError(f"{what} is a mapping, key: value, and {_described(node)} was given.", node.line)
    return list(zip(node.items[::2], node.items[1::2], strict=True))


def _mapping(node: _Node, what: str, known: set[str] | None = None) -> dict[str, _Node]:
    """The mapping as a dictionary. Keys are text, given only once, and, if a list is passed, known ones."""
    found: dict[str, _Node] = {}
    for key, value in _pairs(node, what):
        name = _name(key, f"A key of {what}")
        if name in found:
            raise FormatError(f"{what} has the key {abbreviate(name)} twice. Keep one.", key.line)
        if known and name not in known:
            raise FormatError(
                f"{what} has the unknown key {abbreviate(name)}. The known ones are: {', '.join(sorted(known))}.",
                key.line,
            )
        found[name] = value
    return found


def _name(node: _Node, what: str) -> str:
    if node.kind not in ("text", "null") or not node.text:
        raise FormatError(f"{what} is a piece of text, and {_described(node)} was given.", node.line)
    return node.text


def _described(node: _Node) -> str:
    return {"text": abbreviate(node.text), "null": "nothing", "list": "a list", "map": "a mapping"}[node.kind]


def _symbol(node: _Node) -> str:
    if node.kind not in ("text", "null") or len(node.text) != 1:
        raise FormatError(f"A symbol is one character, quoted if need be, and {_described(node)} was given.", node.line)
    return node.text


def parse(text: str, alphabet: tuple[str, ...]) -> TuringMachine:
    root = _tree(text, lambda line: line + 1)
    if root.kind == "map" and any(key.text == "source code" for key in root.items[::2]):
        code = _mapping(root, "The document", WRAPPER)["source code"]
        if code.kind != "text":
            raise FormatError(f"source code is a block of text, and {_described(code)} was given.", code.line)
        literal = code.style == "|"  # then each line of the block is a line of the file
        root = _tree(code.text, lambda line: code.line + 1 + line if literal else code.line)
    return _machine(root, _mapping(root, "The machine", MACHINE), alphabet)


def _machine(root: _Node, top: dict[str, _Node], alphabet: tuple[str, ...]) -> TuringMachine:
    for part in ("blank", "start state", "table"):
        if part not in top or top[part].kind == "null":
            raise FormatError(f"The machine has no {part}. It needs blank, start state and table.", root.line)
    blank = _symbol(top["blank"])
    start = _name(top["start state"], "The start state")
    synonyms: dict[str, Action] = {}
    if "synonyms" in top and top["synonyms"].kind != "null":
        named = _mapping(top["synonyms"], "synonyms")
        synonyms = {name: _action(node, {}) for name, node in named.items()}
    table = _mapping(top["table"], "table")
    if start not in table:
        raise FormatError(f"The start state {abbreviate(start)} has no row in the table.", top["start state"].line)
    rows, running = [], set()
    for state, row in table.items():
        if row.kind == "null" or (row.kind == "map" and not row.items):
            continue
        running.add(state)
        for key, value in _pairs(row, f"The row of {abbreviate(state)}"):
            target, written, move = _action(value, synonyms)
            symbols = key.items if key.kind == "list" else [key]
            if not symbols:
                raise FormatError("This list of symbols is empty. Name those that the rule reads.", key.line)
            for symbol in map(_symbol, symbols):
                rows.append((key.line, state, symbol, target or state, written or symbol, move))
    states = {*table, *(row[3] for row in rows)}
    return build(rows, start, states - running, blank, [blank, *_input(top), *alphabet])


def _input(top: dict[str, _Node]) -> str:
    """The word that comes with the machine. Its symbols belong to the alphabet even if no rule mentions them."""
    word = top.get("input")
    if word is None or word.kind == "null":
        return ""
    if word.kind != "text":
        raise FormatError(f"input is a piece of text, and {_described(word)} was given.", word.line)
    return word.text


def _action(node: _Node, synonyms: dict[str, Action]) -> Action:
    if node.kind == "text":
        if node.text in MOVES:
            return None, None, MOVES[node.text]
        if node.text in synonyms:
            return synonyms[node.text]
        raise FormatError(f"{abbreviate(node.text)} is neither L nor R nor a synonym. Write {EXAMPLES}.", node.line)
    if node.kind != "map":
        raise FormatError(f"An action reads {EXAMPLES}, and {_described(node)} was given.", node.line)
    parts = _mapping(node, "The action", {"write", "L", "R"})
    moves = [move for move in MOVES if move in parts]
    if len(moves) != 1:
        found = "both L and R" if moves else "neither L nor R"
        raise FormatError(f"The action has {found}. It needs one of them.", node.line)
    target = parts[moves[0]]
    if target.kind not in ("text", "null") or (target.kind == "text" and not target.text):
        raise FormatError(f"After {moves[0]} comes a state, and {_described(target)} was given.", target.line)
    if "write" in parts and parts["write"].kind == "null":
        raise FormatError("write needs a symbol. Quote a symbol that YAML takes for null.", parts["write"].line)
    written = _symbol(parts["write"]) if "write" in parts else None
    return target.text if target.kind == "text" else None, written, MOVES[moves[0]]


def _quoted(name: str) -> str:
    """The name so that YAML reads it back, here and on the site, where a number would lose its leading zeros."""
    words = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]*|[0-9]", name) and name.lower() not in words:
        return name
    if name.isprintable():
        return "'" + name.replace("'", "''") + "'"
    return '"' + "".join(c if c.isprintable() and c not in '"\\' else f"\\U{ord(c):08x}" for c in name) + '"'


def write(machine: TuringMachine) -> str:
    table: dict[str, list[str]] = {state: [] for state in machine.states}
    for (state, symbol), (target, written, move) in machine.delta.items():
        side = "L" if move < 0 else "R"
        parts = [f"write: {_quoted(written)}"] if written != symbol else []
        parts += [side if target == state else f"{side}: {_quoted(target)}"]
        action = side if parts == [side] else "{" + ", ".join(parts) + "}"
        table[state].append(f"    {_quoted(symbol)}: {action}\n")
    rows = [f"  {_quoted(state)}:\n{''.join(lines)}" for state, lines in table.items()]
    extra = "".join(symbol for symbol in extra_symbols(machine) if symbol != machine.blank)
    word = f"input: {_quoted(extra)}\n" if extra else ""  # the place for symbols that no rule mentions
    return f"{word}blank: {_quoted(machine.blank)}\nstart state: {_quoted(machine.initial)}\ntable:\n{''.join(rows)}"


def lacks(machine: TuringMachine) -> str:
    with_rules = {state for state, _ in machine.delta}
    for state in machine.states:
        if state not in with_rules and state not in machine.halting:
            return f"state {abbreviate(state)} has no rules and does not halt, and in this format it would"
    return stays(machine)


def state_fault(machine: TuringMachine, name: str, initial: bool, halting: bool) -> str:
    return "a key of YAML has at most 1,000 characters" if len(_quoted(name)) > 1000 else ""


def symbol_fault(machine: TuringMachine, name: str, blank: bool) -> str:
    fine = len(name) == 1 and name <= "\uffff"  # JavaScript counts a later character as two
    return "" if fine else "a symbol is one character, and one of the first 65,536"
