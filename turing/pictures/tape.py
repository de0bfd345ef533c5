"""Space–time diagrams: one row for each step, time running down.

Chapter: :doc:`/book/machines`.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from turing.arguments import count, step_limit
from turing.machine import Configuration, Run, TuringMachine
from turing.pictures.base import (
    ATTENTION,
    GROUND,
    INK,
    LINE,
    MONO,
    QUIET,
    SANS,
    STATE,
    SYMBOL,
    Picture,
    _named,
    _number,
    _picture,
    _short,
    _visible,
    _width,
)

MAX_ROWS, MAX_CELLS = 48, 40  # beyond these, cells are pixels
MAX_PIXEL_ROWS, MAX_PIXEL_COLUMNS = 360, 640  # beyond these, rows or cells are left out
MAX_TAPE = 1_000_000_000  # cells; more than any run visits


def space_time(
    source: Run | TuringMachine | Sequence[Configuration],
    word: Iterable[str] = "",
    max_steps: int = 10_000,
    cells: range | None = None,
    alt: str | None = None,
    arcs: Mapping[int, int] | None = None,
) -> Picture:
    """Draw a run, one configuration a row, the head as an inverted cell; return a :class:`~turing.pictures.Picture`.

    - ``source``: a machine, which is run on ``word``; a run; or a list of configurations of your choice
    - ``max_steps``: at most so many steps are drawn
    - ``cells``: a range, the part of the tape to draw; by default every cell of the word and every cell visited
    - ``alt``: replaces the generated text for those who cannot see the picture
    - ``arcs``: arcs from steps back to earlier ones, as attention looks; ``{7: 6}`` is an arc from step 7 to step 6

    A long run is drawn in pixels, and a very long one in evenly spaced rows only, as a note in the picture says.
    Every picture describes itself in words:

    >>> print(turing.space_time(turing.zoo["balanced_parentheses"], "B()E").alt)  # doctest: +NORMALIZE_WHITESPACE
    Space–time diagram of 9 steps on B()E, time running down. The head starts on cell 0 in state I,
    visits cells 0 to 3 and halts on cell 1 in state T. The tape then reads B**.

    Every 25th configuration of a run, and every third cell:

    >>> moments = list(turing.zoo["bb4"].trace())[::25]
    >>> print(turing.space_time(moments, cells=range(-10, 5, 3)).alt)  # doctest: +NORMALIZE_WHITESPACE
    Space–time diagram of 5 moments, from step 0 to step 100, time running down.
    One column for every 3 cells.

    Chapter: :doc:`/book/machines`.
    """
    run: Run | Sequence[Configuration]
    if isinstance(source, TuringMachine):
        run = source.run(word, max_steps)
    elif not isinstance(source, Run) and not _are_configurations(source):
        raise TypeError(
            f"space_time draws a Run or a TuringMachine, and {source!r} was given. "
            f"It also draws a list of configurations."
        )
    elif word != "":
        raise ValueError(f"A run has its word already, and the word {word!r} was given too. Leave it out.")
    else:
        run = source
    if cells is not None and not (isinstance(cells, range) and cells.step > 0 and cells):
        raise ValueError(f"cells is a range such as range(-3, 8), and {cells!r} was given.")
    if cells is not None and cells.stop - cells.start > MAX_TAPE:
        raise ValueError(f"cells is a range of at most {MAX_TAPE:,} cells, and {cells!r} was given. Choose fewer.")
    if not isinstance(run, Run):
        return _draw_configurations(sorted(run, key=lambda now: now.step), cells, alt, arcs or {})
    steps = min(run.steps, step_limit(max_steps))
    # Two passes: the width must be known before a row can be drawn, and keeping every tape would take too much memory.
    first: Any = None  # the word, cell by cell
    heads: set[int] = set()
    for now in islice(run.trace, steps + 1):
        first = now.cells if first is None else first
        heads.add(now.head)
    if cells is None:
        cells = range(min(heads | first.keys()), max(heads | first.keys()) + 1)

    stride = -(-(steps + 1) // MAX_PIXEL_ROWS)
    shown = _drawn_cells(cells)
    rows = []
    for now in islice(run.trace, steps + 1):
        if now.step % stride == 0 or now.step == steps:
            rows.append(_row(now, shown))
    left_out = []
    if steps < run.steps:
        left_out.append(f"The first {steps:,} of {run.steps:,} steps.")
    if stride > 1:
        left_out.append(f"One row for every {stride} steps{', and the last' if steps % stride else ''}.")
    left_out += _skipped_cells(shown)
    alt = alt or _story(run, list(first.values()), rows[0], heads, now, left_out)
    return _draw(rows, shown, now._blank, alt, left_out, arcs or {})


def _are_configurations(source: object) -> bool:
    return isinstance(source, (list, tuple)) and bool(source) and all(isinstance(now, Configuration) for now in source)


def _draw_configurations(
    moments: Sequence[Configuration], cells: range | None, alt: str | None, arcs: Mapping[int, int]
) -> Picture:
    """The picture of a list of configurations, one in each row."""
    if cells is None:
        known = {cell for now in moments for cell in (*now.cells, now.head)}
        cells = range(min(known), max(known) + 1)
    shown = _drawn_cells(cells)
    span = f"{count(len(moments), 'moment')}, from step {moments[0].step:,} to step {moments[-1].step:,}"
    alt = alt or " ".join((f"Space–time diagram of {span}, time running down.", *_skipped_cells(shown)))
    rows = [_row(now, shown) for now in moments]
    return _draw(rows, shown, moments[0]._blank, alt, [f"{span}.", *_skipped_cells(shown)], arcs)


class _Row(NamedTuple):
    step: int
    state: str
    head: int
    tape: list[str | None]  # None is a blank


def _row(now: Configuration, shown: range) -> _Row:
    tape = now.tape
    return _Row(now.step, now.state, now.head, [tape.get(cell) for cell in shown])


def _drawn_cells(cells: range) -> range:
    """The cells that get a column: all of them, or evenly spaced ones if there are too many."""
    return cells[:: -(-len(cells) // MAX_PIXEL_COLUMNS)]


def _skipped_cells(shown: range) -> list[str]:
    return [f"One column for every {shown.step} cells."] if shown.step > 1 else []


def _draw(
    rows: list[_Row], shown: range, blank: str, alt: str, left_out: list[str], arcs: Mapping[int, int]
) -> Picture:
    small = len(rows) <= MAX_ROWS and len(shown) <= MAX_CELLS and shown.step == 1
    if wrong := [f"{step}: {back}" for step, back in arcs.items() if not rows[0].step <= back < step <= rows[-1].step]:
        raise ValueError(
            f"An arc leads from a step of the picture back to an earlier one, and {wrong[0]} was given. "
            f"The picture has the steps {rows[0].step:,} to {rows[-1].step:,}."
        )
    if arcs and not small:
        raise ValueError(
            f"Arcs are drawn in pictures of at most {MAX_ROWS} rows and {MAX_CELLS} cells, and this one has "
            f"{len(rows):,} and {len(shown):,}. Give a smaller max_steps, or choose cells."
        )
    return _cells(rows, shown, blank, alt, left_out, arcs) if small else _pixels(rows, shown, blank, alt, left_out)


def _story(run: Run, word: list[str], first: _Row, heads: set[int], last: Configuration, left_out: list[str]) -> str:
    """Alt text: what the picture shows."""
    name, steps = _text(word), last.step
    on = "a blank tape" if not word else name if len(word) <= 40 else f"a word of {len(word):,} symbols"
    end = {"halted": "halts", "jammed": "jams, as no rule applies,", "limit": "is still running"}[run.status]
    if steps < run.steps:
        end = f"is still running after {count(steps, 'step')}"
    tape = last.tape
    span = range(min(tape), max(tape) + 1) if tape else ()
    reads = (
        "is blank" if not tape
        else f"reads {_text([tape.get(cell, last._blank) for cell in span])}" if len(span) <= 40
        else f"has {count(len(tape), 'cell')} not blank"
    )  # fmt: skip
    low, high = _signed(min(heads)), _signed(max(heads))
    where = f"stays on cell {low}" if low == high else f"visits cells {low} to {high}"
    return " ".join((
        f"Space–time diagram of {count(steps, 'step')} on {on}, time running down.",
        f"The head starts on cell {first.head} in state {_visible(first.state)}, {where} and {end} "
        f"on cell {_signed(last.head)} in state {_visible(last.state)}.",
        f"The tape then {reads}.",
        *left_out,
    ))  # fmt: skip


def _text(symbols: list[str]) -> str:
    return _visible((" " if any(len(symbol) > 1 for symbol in symbols) else "").join(symbols))


def _cells(
    rows: list[_Row], cells: range, blank: str, alt: str, left_out: list[str], arcs: Mapping[int, int]
) -> Picture:
    """The picture with every symbol printed, for runs that fit on a page."""
    names: dict[str | None, str]
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
        middle = _number(left + wide * (j + 0.5))
        axis.append(f'<text x="{middle}" y="18" text-anchor="middle">{_signed(cell)}</text>')
    written, blanks, heads, labels, fills, inverted = (list[str]() for _ in range(6))
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
    place, reach = {row.step: top + tall * (i + 0.5) for i, row in enumerate(rows)}, 0.0
    for step, back in arcs.items():
        low, high = place[step], place[back]
        bend = min(16 + (low - high) / 3, 110)
        reach = max(reach, bend * 0.75 + 4)  # a curve stays within three quarters of its bend
        curve = f"M{right + 2} {_number(low - 3)}C{_number(right + bend)} {_number(low - 3)} "
        curve += f"{_number(right + bend)} {_number(high + 3)} {right + 8} {_number(high + 3)}"
        tip = f"M{right + 2} {_number(high + 3)}l8 -4v8z"
        body.append(f'<path style="stroke:{ATTENTION};stroke-width:2;fill:none" d="{curve}"/>')
        body.append(f'<path style="fill:{ATTENTION}" d="{tip}"/>')
    right += math.ceil(reach)
    width = max(right, *(8 + _width(note, 13, 0.56) for note in left_out), 0) + 8
    return _picture("turing-space-time", width, bottom + 8 + 20 * len(left_out), alt, body)


def _pixels(rows: list[_Row], cells: range, blank: str, alt: str, left_out: list[str]) -> Picture:
    """The picture with symbols as shades, so that thousands of steps fit on a page."""
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

    axis, ticks, steps = [], [], [row.step for row in rows]
    for step in _ticks(steps[0], steps[-1], 8):
        y = top + tall * (bisect(steps, step) - 0.5)
        axis.append(f'<text x="{left - 9}" y="{_number(y + 4.5)}" text-anchor="end">{step:,}</text>')
        ticks.append(f"M{left - 6} {_number(y)}h5")
    for cell in _ticks(cells[0], cells[-1], max(1, min(8, (right - left) // 56))):
        middle = _number(left + wide * ((cell - cells[0]) // cells.step + 0.5))
        axis.append(f'<text x="{middle}" y="15" text-anchor="middle">{_signed(cell)}</text>')
        ticks.append(f"M{middle} {top - 6}v5")
    body.append(f'<path style="stroke:{QUIET};fill:none" d="{"".join(ticks)}"/>')

    width: float = max(right + 16, 300)
    x: float = left
    y = bottom + 16
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
    """One path that covers all true entries; equal runs in neighbouring rows become one rectangle."""
    path: list[str] = []
    growing: dict[tuple[int, int], int] = {}
    y = 0

    def close(run: tuple[int, int], start: int, end: int) -> None:
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


def _ticks(low: int, high: int, limit: int) -> range:
    """About ``limit`` round numbers from low to high, or fewer."""
    step = 1
    while (high - low) // step > limit:
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2
    return range(-(-low // step) * step, high + 1, step)


def _signed(cell: int) -> str:
    return f"{cell:,}".replace("-", "−")


def _group(style: str, elements: Iterable[str]) -> list[str]:
    return [f'<g style="{style}">', *elements, "</g>"]
