"""Space–time diagrams and state diagrams, drawn as SVG with nothing but Python.

Colours are CSS variables with a light fallback, so one picture serves light, dark and print.

Chapter: :doc:`/book/00_machines`.
"""

from __future__ import annotations

import math
import random
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from itertools import islice, pairwise
from pathlib import Path
from typing import NamedTuple

from turing.machine import Run, TuringMachine, _count, _limit

__all__ = ["Picture", "space_time", "state_diagram"]

INK = "var(--turing-ink,#1B1F27)"
GROUND = "var(--turing-ground,#FFFFFF)"
STATE = "var(--turing-st,#B3440E)"
SYMBOL = "var(--turing-sym,#0067A8)"
QUIET = "var(--turing-scr,#63636B)"
LINE = "var(--turing-line,#C9CBD1)"
SANS = "var(--turing-sans,'IBM Plex Sans',system-ui,sans-serif)"
MONO = "var(--turing-mono,'IBM Plex Mono',ui-monospace,monospace)"


@dataclass(frozen=True)
class Picture:
    """An SVG picture that a notebook shows by itself, with text for those who cannot see it.

    >>> import turing
    >>> picture = turing.space_time(turing.zoo["bb2"])
    >>> picture
    <Picture: Space–time diagram of 6 steps on a blank tape, time running down. …>

    Chapter: :doc:`/book/00_machines`.
    """

    svg: str
    alt: str

    def save(self, path: str | Path) -> None:
        """Write the picture to a file whose name ends in ``.svg``.

        Chapter: :doc:`/book/00_machines`.
        """
        path = Path(path)
        if path.suffix.lower() != ".svg":
            raise ValueError(
                f"Pictures are saved as SVG, and the name {path.name!r} was given. "
                f"Use {path.stem + '.svg'!r}, and convert that file if you need another format."
            )
        path.write_text(self.svg + "\n", encoding="utf-8", newline="\n")

    def _repr_html_(self) -> str:
        width = int(self.svg.split('width="', 1)[1].split('"', 1)[0])
        # A picture shrinks by a fifth on a narrow page, and scrolls in its own frame after that.
        size = f"width:100%;height:auto;max-width:{width}px;min-width:{width * 4 // 5}px;display:block;margin:0 auto"
        scrolls = ' tabindex="0"' if width > 320 else ""  # keys must reach what can scroll
        svg = self.svg.replace("<svg ", f'<svg style="{size}" ', 1)
        return f'<figure class="turing-figure" style="margin:1em 0;overflow-x:auto"{scrolls}>{svg}</figure>'

    def __repr__(self) -> str:
        return f"<Picture: {self.alt.split('. ')[0]}. …>"


def _picture(
    kind: str, width: float, height: float, alt: str, body: Iterable[str], corner=(0.0, 0.0)
) -> Picture:
    width, height = math.ceil(width), math.ceil(height)
    x, y = map(_number, corner)
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{kind}" role="img" aria-label="{escape(alt)}" '
        f'width="{width}" height="{height}" viewBox="{x} {y} {width} {height}">\n'
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" style="fill:{GROUND}"/>\n'
    )
    return Picture(svg + "\n".join(body) + "\n</svg>", alt)


def _number(value: float) -> str:
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _visible(name: str) -> str:
    """The name with every character to be seen, and none that XML forbids."""
    name = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
    return name if name == " ".join(name.split()) else name.replace(" ", "␣")


def _short(name: str, most: int) -> str:
    name = _visible(name)
    return name if len(name) <= most else name[: most - 1] + "…"


def _width(text: str, size: float, advance: float = 0.6) -> float:
    """Width of text in Plex Mono (exact) or, with a smaller advance, Plex Sans (about)."""
    ems = (
        0 if unicodedata.combining(c) else 1 if unicodedata.east_asian_width(c) in "WF" else advance
        for c in text
    )
    return size * sum(ems)


def _named(shown: str, name: str) -> str:
    """Text for an element, with the whole name as a tooltip where it was cut."""
    title = f"<title>{escape(_visible(name))}</title>" if shown != _visible(name) else ""
    return title + escape(shown)


# Space–time diagrams

MOST_ROWS, MOST_CELLS = 48, 40  # beyond these, cells are pixels
MOST_PIXEL_ROWS, MOST_PIXEL_COLUMNS = 360, 640  # beyond these, rows or cells are left out


def space_time(
    source: Run | TuringMachine, word: Iterable[str] = "", max_steps: int = 10_000, cells: range | None = None
) -> Picture:
    """Draw a run, one configuration a row, time running down; the head is the inverted cell.

    ``source`` is a run, or a machine that is then run on ``word``. At most ``max_steps`` are
    drawn. ``cells`` chooses the stretch of tape; the default is every cell of the word and
    every cell visited. Long runs are drawn in pixels, and very long ones leave out rows
    evenly; the picture then says so.

    >>> import turing
    >>> print(turing.space_time(turing.zoo["balanced_parentheses"], "B()E").alt)
    Space–time diagram of 9 steps on B()E, time running down. The head starts on cell 0 in state I, \
visits cells 0 to 3 and halts on cell 1 in state T. The tape then reads B**.

    Chapter: :doc:`/book/00_machines`.
    """
    if isinstance(source, TuringMachine):
        run = source.run(word, max_steps)
    elif not isinstance(source, Run):
        raise TypeError(f"space_time draws a Run or a TuringMachine, and {source!r} was given.")
    elif word != "":
        raise ValueError(f"A run has its word already, and the word {word!r} was given too. Leave it out.")
    else:
        run = source
    if cells is not None and not (isinstance(cells, range) and cells.step == 1 and cells):
        raise ValueError(f"cells is a range such as range(-3, 8), and {cells!r} was given.")
    steps = min(run.steps, _limit(max_steps))
    # Two passes, as the width must be known before a row can be drawn, and keeping every tape is too much.
    word, heads = None, set()
    for now in islice(run.trace, steps + 1):
        word = now.cells if word is None else word
        heads.add(now.head)
    if cells is None:
        cells = range(min(heads | word.keys()), max(heads | word.keys()) + 1)

    stride = -(-(steps + 1) // MOST_PIXEL_ROWS)
    shown = cells[:: -(-len(cells) // MOST_PIXEL_COLUMNS)]
    rows = []
    for now in islice(run.trace, steps + 1):
        if now.step % stride == 0 or now.step == steps:
            tape = now.tape
            rows.append(_Row(now.step, now.state, now.head, [tape.get(cell) for cell in shown]))
    left_out = []
    if steps < run.steps:
        left_out.append(f"The first {steps:,} of {run.steps:,} steps.")
    if stride > 1:
        left_out.append(f"One row for every {stride} steps{', and the last' if steps % stride else ''}.")
    if shown.step > 1:
        left_out.append(f"One column for every {shown.step} cells.")
    alt = _story(run, list(word.values()), rows[0], heads, now, left_out)
    draw = _cells if len(rows) <= MOST_ROWS and len(shown) <= MOST_CELLS else _pixels
    return draw(rows, shown, now._blank, alt, left_out)


class _Row(NamedTuple):
    step: int
    state: str
    head: int
    tape: list[str | None]  # None is a blank


def _story(run: Run, word: list[str], first: _Row, heads: set[int], last, left_out: list[str]) -> str:
    """Alt text: what there is to be seen."""
    name, steps = _text(word), last.step
    on = "a blank tape" if not word else name if len(word) <= 40 else f"a word of {len(word):,} symbols"
    end = {"halted": "halts", "jammed": "jams, as no rule applies,", "limit": "is still running"}[run.status]
    if steps < run.steps:
        end = f"is still running after {_count(steps, 'step')}"
    tape = last.tape
    span = range(min(tape), max(tape) + 1) if tape else ()
    reads = (
        "is blank" if not tape
        else f"reads {_text([tape.get(cell, last._blank) for cell in span])}" if len(span) <= 40
        else f"has {_count(len(tape), 'cell')} not blank"
    )  # fmt: skip
    low, high = _signed(min(heads)), _signed(max(heads))
    where = f"stays on cell {low}" if low == high else f"visits cells {low} to {high}"
    return " ".join((
        f"Space–time diagram of {_count(steps, 'step')} on {on}, time running down.",
        f"The head starts on cell {first.head} in state {_visible(first.state)}, {where} and {end} "
        f"on cell {_signed(last.head)} in state {_visible(last.state)}.",
        f"The tape then {reads}.",
        *left_out,
    ))  # fmt: skip


def _text(symbols: list[str]) -> str:
    return _visible((" " if any(len(symbol) > 1 for symbol in symbols) else "").join(symbols))


def _cells(rows: list[_Row], cells: range, blank: str, alt: str, left_out: list[str]) -> Picture:
    """Every symbol printed: for runs that fit on a page."""
    names = {symbol: _short(symbol, 6) for row in rows for symbol in row.tape if symbol is not None}
    names[None] = _short(blank, 6)
    states = {row.state: _short(row.state, 14) for row in rows}
    wide, tall, top = max(28, 10 + math.ceil(max(_width(name, 17) for name in names.values()))), 28, 28
    steps = math.ceil(12 + max(_width("step", 13, 0.56), _width(str(rows[-1].step), 13)))
    left = math.ceil(steps + 30 + max(_width(name, 17, 0.64) for name in [*states.values(), "stat"]))
    right, bottom = left + wide * len(cells), top + tall * len(rows)

    axis = [
        f'<text x="{steps}" y="18" text-anchor="end">step</text>',
        f'<text x="{steps + 16}" y="18">state</text>',
    ]
    for j, cell in enumerate(cells):
        x = _number(left + wide * (j + 0.5))
        axis.append(f'<text x="{x}" y="18" text-anchor="middle">{_signed(cell)}</text>')
    written, blanks, heads, labels, fills, inverted = [], [], [], [], [], []
    for i, row in enumerate(rows):
        y = top + tall * i
        axis.append(f'<text x="{steps}" y="{y + 19}" text-anchor="end">{row.step}</text>')
        labels.append(f'<text x="{steps + 16}" y="{y + 20}">{_named(states[row.state], row.state)}</text>')
        for j, (cell, symbol) in enumerate(zip(cells, row.tape, strict=True)):
            x = left + wide * j
            text, box = _named(names[symbol], symbol or blank), f"M{x} {y}h{wide}v{tall}h-{wide}z"
            group = heads if cell == row.head else blanks if symbol is None else written
            group.append(f'<text x="{_number(x + wide / 2)}" y="{y + 20}">{text}</text>')
            if group is not blanks:
                (inverted if group is heads else fills).append(box)
    for i, note in enumerate(left_out):
        axis.append(f'<text x="12" y="{bottom + 20 + 20 * i}">{note}</text>')

    grid = "".join(f"M{left} {y}H{right}" for y in range(top, bottom + 1, tall))
    grid += "".join(f"M{x} {top}V{bottom}" for x in range(left, right + 1, wide))
    mono = f"font:17px {MONO};text-anchor:middle"
    body = [
        f'<path style="fill:{SYMBOL};fill-opacity:.12" d="{"".join(fills)}"/>',
        f'<path style="stroke:{LINE};fill:none" d="{grid}"/>',
        f'<path style="fill:{INK}" d="{"".join(inverted)}"/>',
        *_group(f"{mono};fill:{QUIET}", blanks),
        *_group(f"{mono};font-weight:500;fill:{SYMBOL}", written),
        *_group(f"{mono};font-weight:600;fill:{GROUND}", heads),
        *_group(f"font:600 17px {SANS};fill:{STATE}", labels),
        *_group(f"font:13px {SANS};fill:{QUIET}", axis),
    ]
    width = max(right, *(8 + _width(note, 13, 0.56) for note in left_out), 0) + 8
    return _picture("turing-space-time", width, bottom + 8 + 20 * len(left_out), alt, body)


def _pixels(rows: list[_Row], cells: range, blank: str, alt: str, left_out: list[str]) -> Picture:
    """Symbols as shades, so that thousands of steps fit on a page."""
    wide = min(12, max(1, 560 // len(cells)))
    tall = min(8, max(2, 640 // len(rows)))
    left, top = 16 + math.ceil(_width(f"{rows[-1].step:,}", 13)), 28
    right, bottom = left + wide * len(cells), top + tall * len(rows)
    used = dict.fromkeys(symbol for row in rows for symbol in row.tape if symbol is not None)
    # The darkest shade stays clear of the ink that marks the head.
    paint = {
        symbol: f"fill:{SYMBOL};fill-opacity:{0.75 - 0.55 * i / max(1, len(used) - 1):.2f}"
        for i, symbol in enumerate(used)
    }
    body = [f'<g transform="translate({left} {top})scale({wide} {tall})" shape-rendering="crispEdges">']
    for symbol in used:
        path = _blocks([a == symbol for a in row.tape] for row in rows)
        body.append(f'<path style="{paint[symbol]}" d="{path}"/>')
    path = _blocks([j == (row.head - cells[0]) // cells.step for j in range(len(cells))] for row in rows)
    body += [f'<path style="fill:{INK}" d="{path}"/>', "</g>"]
    frame = f"M{left - 0.5} {top - 0.5}H{right + 0.5}V{bottom + 0.5}H{left - 0.5}z"
    body.append(f'<path style="stroke:{LINE};fill:none" d="{frame}"/>')

    axis, ticks, stride = [], [], rows[1].step if len(rows) > 1 else 1
    for step in _ticks(0, rows[-1].step, 8):
        y = top + tall * (step // stride + 0.5)
        axis.append(f'<text x="{left - 9}" y="{_number(y + 4.5)}" text-anchor="end">{step:,}</text>')
        ticks.append(f"M{left - 6} {_number(y)}h5")
    for cell in _ticks(cells[0], cells[-1], max(1, min(8, (right - left) // 56))):
        x = _number(left + wide * ((cell - cells[0]) // cells.step + 0.5))
        axis.append(f'<text x="{x}" y="15" text-anchor="middle">{_signed(cell)}</text>')
        ticks.append(f"M{x} {top - 6}v5")
    body.append(f'<path style="stroke:{QUIET};fill:none" d="{"".join(ticks)}"/>')

    width = max(right + 16, 300)
    x, y = left, bottom + 16
    mono = f"font:15px {MONO};fill:{SYMBOL}"
    legend = [("head", "head", f"fill:{INK}", f"font:15px {SANS};fill:{INK}")]
    legend.append((f"{_short(blank, 12)} (blank)", f"{blank} (blank)", f"fill:{GROUND};stroke:{LINE}", mono))
    for shown, name, fill, look in legend + [(_short(a, 12), a, paint[a], mono) for a in used]:
        room = 40 + _width(shown, 15)
        if x > left and x + room > width:
            x, y = left, y + 24
        body.append(f'<rect x="{_number(x + 0.5)}" y="{y + 0.5}" width="14" height="14" style="{fill}"/>')
        body.append(f'<text x="{_number(x + 22)}" y="{y + 13}" style="{look}">{_named(shown, name)}</text>')
        x += room
    y += 24
    for note in left_out:
        axis.append(f'<text x="{left}" y="{y + 13}">{note}</text>')
        width, y = max(width, left + _width(note, 13, 0.56)), y + 20
    body += _group(f"font:13px {SANS};fill:{QUIET}", axis)
    return _picture("turing-space-time", width, y + 4, alt, body)


def _blocks(rows: Iterable[Sequence[bool]]) -> str:
    """One path over all true entries; equal runs of neighbouring rows become one rectangle."""
    path, growing, y = [], {}, 0

    def close(run, start, end):
        path.append(f"M{run[0]} {start}h{run[1]}v{end - start}h-{run[1]}z")

    for y, row in enumerate(rows):
        runs, x = [], 0
        while x < len(row):
            length = 0
            while x + length < len(row) and row[x + length]:
                length += 1
            if length:
                runs.append((x, length))
            x += length + 1
        for run in [run for run in growing if run not in runs]:
            close(run, growing.pop(run), y)
        for run in runs:
            growing.setdefault(run, y)
    for run, start in growing.items():
        close(run, start, y + 1)
    return "".join(path)


def _ticks(low: int, high: int, most: int) -> range:
    """At most about ``most`` round numbers from low to high."""
    step = 1
    while (high - low) // step > most:
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2
    return range(-(-low // step) * step, high + 1, step)


def _signed(cell: int) -> str:
    return f"{cell:,}".replace("-", "−")


def _group(style: str, elements: Iterable[str]) -> list[str]:
    return [f'<g style="{style}">', *elements, "</g>"]


# State diagrams

RADIUS, TIP = 22, 10  # of a node; length of an arrow head
FONT, LEADING = 15, 19  # of the labels
MOST_LABELLED = 12  # states; a larger machine shows long labels as a number of rules
MOST_LAID_OUT = 40  # states; a larger one is drawn row by row, with its rules as tooltips only
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

Point = tuple[float, float]


def state_diagram(machine: TuringMachine) -> Picture:
    """Draw the states as nodes and the rules as arrows between them.

    An arrow labelled ``) → * L`` reads ``)``, writes ``*`` and moves left; ``( R`` leaves the
    symbol as it is and moves right; ``S`` stays. The initial state has an arrow from nowhere,
    a halting state has two rings. A script may add the class ``on`` to a node
    (``data-state`` is its place in ``machine.states``) or to an edge (``data-rules`` are the
    places of its rules in ``list(machine.delta)``) to highlight it.

    >>> import turing
    >>> print(turing.state_diagram(turing.zoo["bb2"]).alt)
    State diagram of 3 states and 4 rules. A is the initial state; Z halts. \
Arrows lead from A to B; from B to A, Z.

    Chapter: :doc:`/book/00_machines`.
    """
    if not isinstance(machine, TuringMachine):
        raise TypeError(f"state_diagram draws a TuringMachine, and {machine!r} was given.")
    index = {state: i for i, state in enumerate(machine.states)}
    pairs: dict[tuple[int, int], list[int]] = {}
    for number, ((state, _), (target, _, _)) in enumerate(machine.delta.items()):
        pairs.setdefault((index[state], index[target]), []).append(number)
    halting = {index[state] for state in machine.halting}
    labels = {pair: _label(machine, rules) for pair, rules in pairs.items()}
    drawings = []
    for cost, places in _places(len(index), list(pairs), halting):
        nodes = _spread(places, machine.states, labels)
        edges = [_Edge(pair, nodes, labels[pair], (pair[1], pair[0]) in pairs) for pair in pairs]
        start = _Edge((0, 0), nodes, [], False, entry=True)
        drawings.append((4 * cost + _route(nodes, [*edges, start]), nodes, edges, start))
    _, nodes, edges, start = min(drawings, key=lambda drawing: drawing[0])

    body = [f"<style>{LOOK}</style>", f"<g>{start.drawn()}</g>"]
    for edge in _below_labels(edges):
        rules = pairs[edge.pair]
        source, target = (_visible(machine.states[i]) for i in edge.pair)
        title = f"{source} → {target}: " + ", ".join(_line_text(line) for line in _lines(machine, rules))
        numbers, tooltip = " ".join(map(str, rules)), f"<title>{escape(title)}</title>"
        body.append(f'<g class="edge" data-rules="{numbers}">{tooltip}{edge.drawn()}</g>')
    body += [node.drawn(i, i in halting) for i, node in enumerate(nodes)]
    boxes = [box for edge in [*edges, start] for box in edge.boxes()] + [node.box() for node in nodes]
    x0, y0 = min(box[0] for box in boxes) - 6, min(box[1] for box in boxes) - 6
    x1, y1 = max(box[2] for box in boxes) + 6, max(box[3] for box in boxes) + 6
    return _picture("turing-states", x1 - x0, y1 - y0, _arrows(machine, pairs), body, (x0, y0))


def _arrows(machine: TuringMachine, pairs) -> str:
    """Alt text of a state diagram."""
    names = [_visible(state) for state in machine.states]
    ends = [name for name, state in zip(names, machine.states, strict=True) if state in machine.halting]
    halts = f"; {', '.join(ends)} {'halts' if len(ends) == 1 else 'halt'}." if ends else "; no state halts."
    alt = f"State diagram of {_count(len(names), 'state')} and {_count(len(machine.delta), 'rule')}. "
    alt += f"{names[0]} is the initial state{halts}"
    if len(names) <= MOST_LABELLED:
        to = {i: ", ".join(names[b] for a, b in pairs if a == i) for i, _ in pairs}
        alt += f" Arrows lead from {'; from '.join(f'{names[i]} to {ends}' for i, ends in to.items())}."
    return alt


def _lines(machine: TuringMachine, rules: list[int]) -> list[tuple[list[str], str | None, str]]:
    """Rules of one arrow, those that write and move alike together: (reads, writes, move)."""
    table, groups = list(machine.delta.items()), {}
    for number in rules:
        (_, read), (_, written, move) = table[number]
        groups.setdefault((None if read == written else written, MOVES[move]), []).append(read)
    return [(reads, written, move) for (written, move), reads in groups.items()]


def _line_text(line) -> str:
    reads, written, move = line
    arrow = "" if written is None else f" → {_visible(written)}"
    return f"{' '.join(map(_visible, reads))}{arrow} {move}"


def _label(machine: TuringMachine, rules: list[int]) -> list[list[tuple[str, str]]]:
    """The label as lines of (class, text)."""
    if len(machine.states) > MOST_LAID_OUT:
        return []
    lines = _lines(machine, rules)
    if len(machine.states) > MOST_LABELLED and (len(lines) > 1 or len(rules) > 3):
        return [[("move", f"{len(rules)} rules")]]
    label = []
    for reads, written, move in lines if len(lines) <= 5 else lines[:4]:
        symbols = [_short(symbol, 8) for symbol in reads]
        line = [("", "\u00a0".join(symbols if len(symbols) <= 5 else [*symbols[:4], "…"]))]
        if written is not None:
            line += [("move", "\u00a0→\u00a0"), ("", _short(written, 8))]
        label.append([*line, ("move", f"\u00a0{move}")])
    return label if len(lines) <= 5 else [*label, [("move", f"… {len(lines) - 4} more")]]


def _places(n: int, arrows: list[tuple[int, int]], halting: set[int]) -> list[tuple[float, list[Point]]]:
    """Places on a grid for the states: short arrows, few crossings, none through a state.

    Local search from several starts; the three best ends, each with what it costs. Columns
    are 1.4 rows wide, and rows come in halves so that a state can stand between two others.
    """
    depth, queue = {0: 0}, [0]
    for state in queue:
        for a, b in arrows:
            if a == state and b not in depth:
                depth[b] = depth[state] + 1
                queue.append(b)
    queue += [state for state in range(n) if state not in depth]
    if n > MOST_LAID_OUT:
        order = {state: rank for rank, state in enumerate(queue)}
        return [(0.0, [(1.4 * (order[state] % 8), order[state] // 8) for state in range(n)])]
    columns = 4 if n <= 8 else 5 if n <= 15 else 6
    halves = 2 * max(4, -(-n // columns) + 1)
    spots = [(1.4 * column, half / 2) for column in range(columns) for half in range(halves)]
    links = sorted({(min(pair), max(pair)) for pair in arrows if pair[0] != pair[1]})
    at_node = [[k for k, link in enumerate(links) if state in link] for state in range(n)]
    forward = [[(a, b) for a, b in arrows if state in (a, b) and depth.get(b, 0) > depth.get(a, 0)]
               for state in range(n)]  # fmt: skip

    # A place is the number of a spot, so that what the search asks for again and again is cached.
    @cache
    def crossing(a, b, c, d):
        return 5 * _cross(spots[a], spots[b], spots[c], spots[d])

    @cache
    def near(spot, a, b):
        distance = _distance(spots[spot], spots[a], spots[b])
        return 8 if distance < 0.36 else 1.5 if distance < 0.55 else 0

    @cache
    def crowded(a, b):
        return 100 * (a // halves == b // halves and abs(a - b) < 2)

    @cache
    def long(a, b):
        (x, y), (u, v) = spots[a], spots[b]
        return 0.5 * ((x - u) ** 2 / 2 + (y - v) ** 2)  # a column counts as a row

    @cache
    def backward(a, b):
        (x, y), (u, v) = spots[a], spots[b]
        return 0 if u > x else 0.7 if v > y else 1.0

    def node_cost(place, state):
        here = place[state]
        x, y = spots[here]
        cost = 2.0 * x if state == 0 else -0.5 * x if state in halting else 0.02 * x
        cost += 0.02 * abs(y - halves / 4)
        cost += sum(crowded(here, there) for there in place) - 100  # not counting itself
        return cost + sum(backward(place[a], place[b]) for a, b in forward[state])

    def link_cost(place, k):
        a, b = links[k]
        p, q = place[a], place[b]
        cost = long(p, q) + sum(near(spot, p, q) for spot in place) - near(p, p, q) - near(q, p, q)
        return cost + sum(crossing(p, q, place[c], place[d]) for c, d in links)

    def local(place, moved):
        touched = {k for state in moved for k in at_node[state]}
        cost = sum(node_cost(place, state) for state in moved) + sum(link_cost(place, k) for k in touched)
        for k, (a, b) in enumerate(links):
            if k not in touched:
                cost += sum(near(place[state], place[a], place[b]) for state in moved)
        return cost

    def improve(place):
        for _ in range(sweeps):
            before = list(place)
            for state in queue:
                now, best = place[state], local(place, [state]) - 1e-6
                around = [place[a + b - state] for a, b in (links[k] for k in at_node[state])] or [now]
                for spot in sorted(range(len(spots)), key=lambda s: sum(long(s, a) for a in around))[:24]:
                    if spot not in place:
                        was, place[state] = place[state], spot
                        if (cost := local(place, [state])) < best:
                            best, now = cost, spot
                        place[state] = was
                place[state] = now
            for i in range(n):
                for j in range(i):
                    cost = local(place, [i, j])
                    place[i], place[j] = place[j], place[i]
                    if local(place, [i, j]) > cost - 1e-6:
                        place[i], place[j] = place[j], place[i]
            if place == before:
                break
        return sum(node_cost(place, i) for i in range(n)) + sum(link_cost(place, k) for k in range(len(links)))

    starts, sweeps = (12, 8) if n <= MOST_LABELLED else (1, 4)  # a large machine takes seconds otherwise
    ends, chance = {}, random.Random(0)
    for start in range(starts):
        place: list[int] = []
        for state in queue:
            # First columns by distance from the initial state, then by chance, the same every time.
            column = int(chance.random() * columns) if start else min(depth.get(state, columns), columns - 1)
            free = [s for s in range(len(spots)) if not any(crowded(s, other) for other in place)]
            place.append(min(free, key=lambda s: (abs(s // halves - column), abs(spots[s][1] - halves / 4))))
        place = [place[queue.index(state)] for state in range(n)]
        cost = improve(place)
        ends[tuple(place)] = cost
    best = sorted(ends.items(), key=lambda end: round(end[1], 6))[:3]
    return [(cost, [spots[spot] for spot in place]) for place, cost in best]


def _cross(p: Point, q: Point, r: Point, s: Point) -> bool:
    def side(a, b, c):
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    return side(p, q, r) * side(p, q, s) < 0 and side(r, s, p) * side(r, s, q) < 0


def _distance(point: Point, p: Point, q: Point) -> float:
    """From a point to the segment from p to q."""
    dx, dy = q[0] - p[0], q[1] - p[1]
    t = ((point[0] - p[0]) * dx + (point[1] - p[1]) * dy) / (dx * dx + dy * dy or 1)
    t = min(1, max(0, t))
    return math.hypot(point[0] - p[0] - t * dx, point[1] - p[1] - t * dy)


def _spread(places: list[Point], states: Sequence[str], labels) -> list[_Node]:
    """From grid to page: columns as far apart as the names and labels between them need."""
    names = [_short(state, 16) for state in states]
    half = [max(RADIUS, _width(name, 17, 0.6) / 2 + 12) for name in names]
    columns = sorted({x for x, _ in places})
    x_of, x = {}, 0.0
    for i, column in enumerate(columns):
        if i:
            mine = max(half[s] for s, (u, _) in enumerate(places) if u == column)
            theirs = max(half[s] for s, (u, _) in enumerate(places) if u == columns[i - 1])
            between = [
                max(map(_line_width, label))
                for (a, b), label in labels.items()
                if {places[a][0], places[b][0]} == {column, columns[i - 1]} and label
            ]
            x += mine + theirs + max(64, min(150, max(between, default=0)) + TIP + 14)
        x_of[column] = x
    tallest = max((len(label) for (a, b), label in labels.items() if a != b), default=1)
    row = max(112, 84 + LEADING * tallest)
    top = min(y for _, y in places)
    return [
        _Node(x_of[x], row * (y - top), w, name, state)
        for (x, y), w, name, state in zip(places, half, names, states, strict=True)
    ]


def _line_width(line) -> float:
    return _width("".join(text for _, text in line), FONT)


@dataclass(frozen=True)
class _Node:
    x: float
    y: float
    half: float  # half the width; the height is twice RADIUS
    name: str
    state: str

    def box(self):
        return self.x - self.half, self.y - RADIUS, self.x + self.half, self.y + RADIUS

    def away(self, x: float, y: float) -> float:
        """Distance from the outline, negative inside."""
        core = max(0.0, abs(x - self.x) - self.half + RADIUS)
        return math.hypot(core, y - self.y) - RADIUS

    def exit(self, toward: Point, gap: float = 0.0, origin: Point | None = None) -> Point:
        """Where the ray from the centre to a point leaves the outline, ``gap`` further out."""
        x, y = origin or (self.x, self.y)
        dx, dy = toward[0] - x, toward[1] - y
        length = math.hypot(dx, dy) or 1
        low, high = 0.0, 2 * self.half + gap + 1
        for _ in range(24):
            middle = (low + high) / 2
            if self.away(x + dx / length * middle, y + dy / length * middle) < gap:
                low = middle
            else:
                high = middle
        return x + dx / length * high, y + dy / length * high

    def drawn(self, number: int, halts: bool) -> str:
        def ring(inset, kind):
            x, y, w, r = self.x - self.half + inset, self.y - RADIUS + inset, self.half - inset, RADIUS - inset
            return (
                f'<rect class="{kind}" x="{_number(x)}" y="{_number(y)}" width="{_number(2 * w)}" '
                f'height="{_number(2 * r)}" rx="{_number(r)}"/>'
            )

        rings = ring(0, "ring") + (ring(4, "ring inner") if halts else "")
        text = f'<text x="{_number(self.x)}" y="{_number(self.y + 6)}">{escape(self.name)}</text>'
        title = "" if self.name == _visible(self.state) else f"<title>{escape(_visible(self.state))}</title>"
        return f'<g class="node{" halting" if halts else ""}" data-state="{number}">{title}{rings}{text}</g>'


class _Edge:
    """An arrow, the ways it could be drawn, and the way chosen."""

    def __init__(self, pair, nodes: list[_Node], label, two_way: bool, entry: bool = False):
        self.pair, self.label, self.two_way = pair, label, two_way
        self.source, self.target = nodes[pair[0]], nodes[pair[1]]
        self.loop = pair[0] == pair[1]
        self.size = max(map(_line_width, label), default=0.0), LEADING * len(label)
        if entry:
            self.ways = [self._arriving(turn) for turn in (4, 3, 5, 2, 6, 1, 7, 0)]
        elif self.loop:
            self.ways = [self._looping(turn) for turn in (6, 2, 0, 4, 7, 5, 1, 3)]
        else:
            bows = (0.2, 0.32, 0.5) if two_way else (0, 0.15, -0.15, 0.3, -0.3, 0.5, -0.5, 0.75, -0.75)
            self.ways = [self._bowed(bow) for bow in bows]
        self.take(self.ways[0])

    def _bowed(self, bow: float):
        a, b = (self.source.x, self.source.y), (self.target.x, self.target.y)
        control = ((a[0] + b[0]) / 2 + bow * (b[1] - a[1]), (a[1] + b[1]) / 2 - bow * (b[0] - a[0]))
        points = self.source.exit(control), control, self.target.exit(control, 2)
        return points, 22 * abs(bow), None

    def _arriving(self, turn: int):
        angle = turn * math.pi / 4
        node, dx, dy = self.target, math.cos(angle), math.sin(angle)
        tail = node.x + dx * (node.half + 38), node.y + dy * (RADIUS + 38)
        tip = node.exit(tail, 2)
        return (tail, ((tail[0] + tip[0]) / 2, (tail[1] + tip[1]) / 2), tip), 2.0 * abs(turn - 4), None

    def _looping(self, turn: int):
        angle, node = turn * math.pi / 4, self.source
        origin = node.x + (node.half - RADIUS) * round(math.cos(angle), 6), node.y

        def off(by, reach):
            return origin[0] + reach * math.cos(angle + by), origin[1] + reach * math.sin(angle + by)

        points = (
            node.exit(off(-0.42, 99), 0, origin), off(-0.52, RADIUS + 46), off(0.52, RADIUS + 46),
            node.exit(off(0.42, 99), 2, origin),
        )  # fmt: skip
        apex = off(0, RADIUS + 34)
        w, h = self.size
        dx, dy = math.cos(angle), math.sin(angle)
        spot = apex[0] + dx * (w / 2 + 5) * (abs(dx) > 0.1), apex[1] + dy * (h / 2 + 3)
        return points, (0, 0, 1.5, 1.5, 2.5, 2.5, 2.5, 2.5)[(6, 2, 0, 4, 7, 5, 1, 3).index(turn)], spot

    def take(self, way) -> None:
        self.points, self.cost, self.spot = way
        self.samples = [_along(self.points, t / 16) for t in range(17)]
        xs, ys = zip(*self.samples, strict=True)
        self.bounds = min(xs) - 3, min(ys) - 3, max(xs) + 3, max(ys) + 3
        if self.spot is None:
            self.spot = next(iter(self.spots()))[0]

    def spots(self) -> Iterator[tuple[Point, float]]:
        """Places for the label with what they cost: beside the line, best in the middle."""
        if self.loop:
            yield self.spot, 0.0
            return
        w, h = self.size
        chord = (self.source.x + self.target.x) / 2, (self.source.y + self.target.y) / 2
        for t in (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74):
            (x, y), (u, v), (p, q) = (_along(self.points, s) for s in (t, t - 0.02, t + 0.02))
            length = math.hypot(p - u, q - v) or 1
            nx, ny = (q - v) / length, (u - p) / length
            if ny > 0.01 or (abs(ny) <= 0.01 and nx < 0):
                nx, ny = -nx, -ny
            for side in (1, -1):
                far = side * (5 + 3 * abs(nx) + abs(nx) * w / 2 + abs(ny) * h / 2)
                inner = self.two_way and side * ((x - chord[0]) * nx + (y - chord[1]) * ny) < 0
                yield (x + nx * far, y + ny * far), 12 * abs(t - 0.5) + 0.4 * (side < 0) + 6 * inner

    def label_box(self, spot: Point | None = None):
        (x, y), (w, h) = spot or self.spot, self.size
        return x - w / 2, y - h / 2, x + w / 2, y + h / 2

    def ends(self):
        return self.points[:: len(self.points) - 1]

    def boxes(self):
        yield self.bounds
        if self.label:
            yield self.label_box()

    def drawn(self) -> str:
        *_, (u, v), (x, y) = self.points
        length = math.hypot(x - u, y - v) or 1
        dx, dy = (x - u) / length, (y - v) / length
        base = x - dx * TIP, y - dy * TIP
        shaft = [*self.points[:-1], (x - dx * (TIP - 1), y - dy * (TIP - 1))]
        head = [(x, y), (base[0] - dy * 4, base[1] + dx * 4), (base[0] + dy * 4, base[1] - dx * 4)]
        curve = "C" if len(shaft) == 4 else "Q"
        text = ""
        if self.label:
            (cx, cy), (_, h) = self.spot, self.size
            for i, line in enumerate(self.label):
                spans = "".join(
                    f'<tspan class="{kind}">{escape(part)}</tspan>' if kind else escape(part)
                    for kind, part in line
                )
                text += (
                    f'<tspan x="{_number(cx)}" y="{_number(cy - h / 2 + LEADING * i + 14.5)}">{spans}</tspan>'
                )
            text = f"<text>{text}</text>"
        line = f"M{_pair(shaft[0])}{curve}{' '.join(map(_pair, shaft[1:]))}"
        tip = f"M{'L'.join(map(_pair, head))}z"
        return f'<path class="line" d="{line}"/><path class="tip" d="{tip}"/>{text}'


def _pair(point: Point) -> str:
    return f"{_number(point[0])} {_number(point[1])}"


def _along(points: Sequence[Point], t: float) -> Point:
    """The point at t of a Bézier curve."""
    while len(points) > 1:
        points = [(a + t * (c - a), b + t * (d - b)) for (a, b), (c, d) in pairwise(points)]
    return points[0]


def _route(nodes: list[_Node], edges: list[_Edge]) -> float:
    """Choose how each arrow bends and where its label stands; return what is still in the way."""
    drawn: list[_Edge] = []
    few = len(nodes) <= MOST_LABELLED
    turns = 3 if few else 2 if len(nodes) <= MOST_LAID_OUT else 0
    pace = 2 if few else 4

    def bend_cost(edge):
        cost = edge.cost
        for node in nodes:
            if node is not edge.source and node is not edge.target and _meet(edge.bounds, node.box(), 10):
                near = min(node.away(x, y) for x, y in edge.samples)
                cost += 60 if near < 2 else 8 if near < 10 else 0
        for other in drawn:
            if other is edge or not _meet(edge.bounds, other.bounds, 10):
                continue
            cost += 4 * _crossings(edge.samples[::pace], other.samples[::pace])
            # Arrows that share a state leave and arrive at points of their own.
            cost += sum(6 for p in edge.ends() for q in other.ends() if math.dist(p, q) < 12)
            if edge.loop or other.loop:
                cost += sum(2 for p in edge.samples[2:-2] for q in other.samples[::3] if math.dist(p, q) < 9)
        return cost

    def label_cost(edge, spot):
        if not edge.label:
            return 0.0
        box = edge.label_box(spot)
        cost = 40.0 * sum(_meet(box, node.box(), 3) for node in nodes)
        for other in drawn:
            if other is not edge and other.label and _meet(box, other.label_box(), 6):
                cost += 40
            if _meet(box, other.bounds, 2):
                cost += (3 if other is edge else 9) * sum(_inside(point, box) for point in other.samples)
        return cost

    order = [edge for edge in edges if not edge.loop] + [edge for edge in edges if edge.loop]
    total = 0.0
    for turn in range(turns):
        total = 0.0
        for edge in order:
            ways = []
            for way in edge.ways:
                edge.take(way)
                ways.append((bend_cost(edge), way))
            ways.sort(key=lambda pair: pair[0])
            options = []
            for cost, way in ways if edge.loop else ways[:4]:
                edge.take(way)
                options += [(cost + price + label_cost(edge, spot), way, spot) for spot, price in edge.spots()]
            cost, way, spot = min(options, key=lambda option: round(option[0], 6))
            edge.take(way)
            edge.spot = spot
            total += cost
            if turn == 0:
                drawn.append(edge)
    return total


def _meet(a, b, gap: float) -> bool:
    """Whether two boxes come closer than ``gap``."""
    return a[0] < b[2] + gap and a[2] > b[0] - gap and a[1] < b[3] + gap and a[3] > b[1] - gap


def _crossings(a: list[Point], b: list[Point]) -> int:
    return sum(_cross(p, q, r, s) for p, q in pairwise(a) for r, s in pairwise(b))


def _below_labels(edges: list[_Edge]) -> list[_Edge]:
    """Paint an arrow before the labels that it runs under, as far as that can be."""

    def under(edge):
        return [
            other
            for other in edges
            if other is not edge and other.label
            and any(_inside(point, other.label_box()) for point in edge.samples)
        ]  # fmt: skip

    return sorted(edges, key=lambda edge: -len(under(edge)))


def _inside(point: Point, box) -> bool:
    return box[0] < point[0] < box[2] and box[1] < point[1] < box[3]
