"""State diagrams: states as nodes, rules as arrows between them.

Chapter: :doc:`/book/machines`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from html import escape

from turing.arguments import count
from turing.machine import Rule, TuringMachine
from turing.pictures.base import GROUND, INK, MONO, SANS, STATE, SYMBOL, Picture, _picture, _short, _visible
from turing.pictures.graph import (
    FONT,
    MAX_ARROWS,
    MAX_LABELLED,
    MAX_STATES,
    Label,
    _below_labels,
    _Edge,
    _route,
    _spread,
)
from turing.pictures.places import _places, _rows

Line = tuple[list[str], str | None, str]  # of a label: symbols read, symbol written or None if unchanged, move
MOVES = {-1: "L", 0: "S", 1: "R"}
LOOK = f"""
.turing-states .line{{fill:none;stroke:{INK};stroke-width:1.4}}
.turing-states .tip{{fill:{INK}}}
.turing-states .ring{{fill:{GROUND};stroke:{INK};stroke-width:1.4}}
.turing-states .node text{{font:600 17px {SANS};text-anchor:middle;fill:{STATE}}}
.turing-states .edge text{{font:500 {FONT}px {MONO};text-anchor:middle;fill:{SYMBOL};\
stroke:{GROUND};stroke-width:5px;stroke-linejoin:round;paint-order:stroke}}
.turing-states .edge .move{{fill:{INK}}}
.turing-states .edge.on .line{{stroke:{STATE};stroke-width:3.2}}
.turing-states .edge.on .tip{{fill:{STATE};stroke:{STATE};stroke-width:2}}
.turing-states .edge.on text{{font-weight:700}}
.turing-states .node.on .ring{{fill:{STATE};stroke:{STATE};stroke-width:3.2}}
.turing-states .node.on .inner{{stroke:{GROUND};stroke-width:1.4}}
.turing-states .node.on text{{fill:{GROUND}}}
"""


def state_diagram(machine: TuringMachine) -> Picture:
    """Draw the states as nodes and the rules as arrows between them; return a :class:`~turing.pictures.Picture`.

    An arrow labelled ``) → * L`` reads ``)``, writes ``*`` and moves left; ``( R`` leaves the symbol unchanged and
    moves right; ``S`` stays. The initial state has an arrow from nowhere, and a halting state has two rings. With more
    than 30 states or 90 arrows, the states are in rows and the rules are only tooltips.

    >>> print(turing.state_diagram(turing.zoo["bb2"]).alt)  # doctest: +NORMALIZE_WHITESPACE
    State diagram of 3 states and 4 rules. A is the initial state; Z halts.
    Arrows lead from A to B; from B to A, Z.

    For JavaScript in a page: an element ``.node`` or ``.edge`` of the SVG is highlighted while it has the class ``on``.
    The ``data-state`` of a node is its index in ``machine.states``, and the ``data-rules`` of an edge are the indices
    of its rules in ``list(machine.delta)``.

    Chapter: :doc:`/book/machines`.
    """
    if not isinstance(machine, TuringMachine):
        raise TypeError(f"state_diagram draws a TuringMachine, and {machine!r} was given.")
    index = {state: i for i, state in enumerate(machine.states)}
    pairs: dict[tuple[int, int], list[int]] = {}
    for number, ((state, _), (target, _, _)) in enumerate(machine.delta.items()):
        pairs.setdefault((index[state], index[target]), []).append(number)
    table, halting = list(machine.delta.items()), {index[state] for state in machine.halting}
    lines = {pair: _lines([table[number] for number in rules]) for pair, rules in pairs.items()}
    labels: dict[tuple[int, int], Label]
    if laid_out := len(index) <= MAX_STATES and len(pairs) <= MAX_ARROWS:
        labels = {pair: _label(lines[pair], len(index) <= MAX_LABELLED) for pair in pairs}
        layouts = _places(len(index), pairs, halting)
    else:
        labels, layouts = dict.fromkeys(pairs, ()), [(0.0, _rows(len(index), pairs))]
    drawings = []
    for cost, places in layouts:
        nodes = _spread(places, machine.states, labels)
        edges = [_Edge(pair, nodes, labels[pair], not laid_out or pair[::-1] in pairs) for pair in pairs]
        start = _Edge((0, 0), nodes, (), False, entry=True)
        if laid_out:
            cost = 4 * cost + _route(nodes, [*edges, start])
        drawings.append((cost, nodes, edges, start))
    _, nodes, edges, start = min(drawings, key=lambda drawing: drawing[0])

    body = [f"<style>{LOOK}</style>", f"<g>{start.drawn()}</g>"]
    for edge in _below_labels(edges):
        source, target = (_visible(machine.states[i]) for i in edge.pair)
        title = f"{source} → {target}: " + ", ".join(map(_line_text, lines[edge.pair]))
        numbers, tooltip = " ".join(map(str, pairs[edge.pair])), f"<title>{escape(title)}</title>"
        body.append(f'<g class="edge" data-rules="{numbers}">{tooltip}{edge.drawn()}</g>')
    body += [node.drawn(i, i in halting) for i, node in enumerate(nodes)]
    boxes = [box for edge in [*edges, start] for box in edge.boxes()] + [node.box() for node in nodes]
    x0, y0 = min(box[0] for box in boxes) - 6, min(box[1] for box in boxes) - 6
    x1, y1 = max(box[2] for box in boxes) + 6, max(box[3] for box in boxes) + 6
    return _picture("turing-states", x1 - x0, y1 - y0, _alt_text(machine, pairs), body, (x0, y0))


def _alt_text(machine: TuringMachine, pairs: Collection[tuple[int, int]]) -> str:
    """Alt text: the states, and where the arrows lead."""
    names = [_visible(state) for state in machine.states]
    ends = [name for name, state in zip(names, machine.states, strict=True) if state in machine.halting]
    halts = f"; {', '.join(ends)} {'halts' if len(ends) == 1 else 'halt'}." if ends else "; no state halts."
    alt = f"State diagram of {count(len(names), 'state')} and {count(len(machine.delta), 'rule')}. "
    alt += f"{names[0]} is the initial state{halts}"
    if len(names) <= MAX_LABELLED:
        to = {i: ", ".join(names[b] for a, b in pairs if a == i) for i, _ in pairs}
        alt += f" Arrows lead from {'; from '.join(f'{names[i]} to {ends}' for i, ends in to.items())}."
    return alt


def _lines(rules: Iterable[tuple[tuple[str, str], Rule]]) -> list[Line]:
    """The rules of one arrow; those that write the same and move the same way share a line."""
    groups: dict[tuple[str | None, str], list[str]] = {}
    for (_, read), (_, written, move) in rules:
        groups.setdefault((None if read == written else written, MOVES[move]), []).append(read)
    return [(reads, written, move) for (written, move), reads in groups.items()]


def _line_text(line: Line) -> str:
    reads, written, move = line
    arrow = "" if written is None else f" → {_visible(written)}"
    return f"{' '.join(map(_visible, reads))}{arrow} {move}"


def _label(lines: Sequence[Line], in_full: bool) -> Label:
    """The label as lines of (class, text)."""
    rules = sum(len(reads) for reads, _, _ in lines)
    if not in_full and (len(lines) > 1 or rules > 3):
        return [[("move", f"{rules} rules")]]
    label: list[list[tuple[str, str]]] = []
    for reads, written, move in lines if len(lines) <= 5 else lines[:4]:
        symbols = [_short(symbol, 8) for symbol in reads]
        line = [("", "\u00a0".join(symbols if len(symbols) <= 5 else [*symbols[:4], "…"]))]
        if written is not None:
            line += [("move", "\u00a0→\u00a0"), ("", _short(written, 8))]
        label.append([*line, ("move", f"\u00a0{move}")])
    return label if len(lines) <= 5 else [*label, [("move", f"… {len(lines) - 4} more")]]
