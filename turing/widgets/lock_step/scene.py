"""The scene of the lock step as a picture: what the widget falls back to, and what the README shows in motion.

A step has four beats, and a part of the scene is there from one beat to another. A still picture has the parts of one
moment; ``tools/art.py`` makes an animation of all of them.

Chapter: :doc:`/book/index`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from math import inf
from typing import TYPE_CHECKING

from turing.pictures.base import GROUND, INK, LINE, MONO, QUIET, SANS, STATE, SYMBOL, Picture, _number, _picture
from turing.verification import verify

if TYPE_CHECKING:
    from turing.construction import Construction

__all__ = ["Part", "picture", "scene", "still"]

ATTENTION = "var(--turing-attn,#8A3F94)"
SOFT = "var(--turing-soft,#F3F4F6)"
COLOURS = {"st": STATE, "sym2": SYMBOL, "scr5": QUIET}
SENT = {"st": "next state", "sym2": "write", "scr5": "move"}
WIDTH, CELL = 1040, 40  # of the picture, and of a cell of the tape
LEFT, TOP, WIDE, TALL = 30, 190, 26, 20  # of the past: its corner, its cells
X, Y, COLUMN, ROW = 540, 236, 33, 27  # of the matrix: its corner, its cells


@dataclass(frozen=True)
class Part:
    """A piece of SVG, and the beats from which and to which it is there. A line is drawn; others appear, and come from
    as far as ``slides`` says."""

    svg: str
    start: float = -inf
    end: float = inf
    is_line: bool = False
    slides: int = 0

    def is_there(self, beat: float) -> bool:
        """Whether it is seen at a beat."""
        return self.start <= beat < self.end


def _text(x: float, y: float, text: object, fill: str, size: int = 16, weight: int = 400) -> str:
    """A name, in the middle of its place."""
    look = f"font:{weight} {size}px {MONO};fill:{fill}"
    return f'<text x="{_number(x)}" y="{_number(y)}" style="{look}">{escape(str(text))}</text>'


def _says(x: float, y: float, text: str, fill: str = QUIET, size: int = 14, weight: int = 400) -> str:
    """Words, from a place on."""
    look = f"font:{weight} {size}px {SANS};fill:{fill};text-anchor:start"
    return f'<text x="{_number(x)}" y="{_number(y)}" style="{look}">{escape(text)}</text>'


def _box(x: float, y: float, width: float, height: float, look: str) -> str:
    return (
        f'<rect x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" height="{_number(height)}" style="{look}"/>'
    )


def _path(form: str, *numbers: float) -> str:
    return form.format(*map(_number, numbers))


def scene(net: Construction, word: str, steps: int) -> list[Part]:
    """The parts of the first steps of a run; every number in them is the network's.

    Chapter: :doc:`/book/index`.
    """
    report = verify(net, net.machine, [word], steps)
    if not report:
        raise ValueError(f"The scene shows a network that agrees with its machine. {report}")
    return [*_matrix(net, word, steps), *_tape(net, word, steps), *_past(net, word, steps)]


def _matrix(net: Construction, word: str, steps: int) -> Iterator[Part]:
    machine, before, after = net.machine, net.layout_of("detect"), net.layout_of("carry")
    W = net.get_parameter("pipeline.carry.weight").detach()
    rows = [(name, label, after[name][label]) for name in SENT for label in after[name].labels]
    columns = [(q, a, before.det[f"{q} {a}"]) for q, a in machine.delta]
    right, bottom = X + COLUMN * len(columns), Y + ROW * len(rows)

    def middle(i: int, j: int) -> tuple[float, float]:
        return X + COLUMN * (j + 0.5), Y + ROW * (i + 0.5)

    def square(i: int, j: int, opacity: str) -> str:
        (x, y), (name, _, place) = middle(i, j), rows[i]
        side = ROW * 0.68 * float(W[place, columns[j][2]]) ** 0.5  # area is magnitude
        return _box(x - side / 2, y - side / 2, side, side, f"fill:{COLOURS[name]}{opacity}")

    lit: list[Part] = []
    boxes: dict[str, tuple[float, float]] = {}
    for name in SENT:
        own = [i for i, row in enumerate(rows) if row[0] == name]
        boxes[name] = right + 66, Y + ROW * (own[0] + own[-1] + 1) / 2 - 14
    for step in range(1, steps + 1):
        begins = 4 * (step - 1)
        vectors = net.activations(word, step)
        for j, (*_, column) in enumerate(columns):
            if not vectors["detect"][column]:
                continue
            look = f"fill:{SOFT}"
            yield Part(_box(X + COLUMN * j, Y - 46, COLUMN, bottom - Y + 46, look), begins, begins + 4)
            for i, (name, label, place) in enumerate(rows):
                if not W[place, column]:
                    continue
                x, y = boxes[name]
                a, b = middle(i, j)
                curve = _path("M{} {}C{} {} {} {} {} {}", a, b, a + 60, b, x - 60, y + 20, x, y + 20)
                look = f"fill:none;stroke:{COLOURS[name]};stroke-width:2"
                lit.append(Part(square(i, j, ""), begins, begins + 4))
                lit.append(Part(f'<path pathLength="1" d="{curve}" style="{look}"/>', begins + 1, begins + 4, True))
                if vectors["carry"][place]:
                    value = _text(x + 20, y + 29, label, COLOURS[name], 24, 600)
                    lit.append(Part(value, begins + 1.6, begins + 4))

    thin = "".join(f"M{X + COLUMN * j} {Y}V{bottom}" for j in range(len(columns) + 1))
    thick = ""
    for i in range(len(rows) + 1):
        is_edge = i in (0, len(rows)) or rows[i][0] != rows[i - 1][0]
        line = f"M{X} {Y + ROW * i}H{right}"
        thin, thick = (thin, thick + line) if is_edge else (thin + line, thick)
    said = [f'<path d="{thin}" style="stroke:{LINE}"/>', f'<path d="{thick}" style="stroke:{INK}"/>']
    for j, (q, symbol, column) in enumerate(columns):
        x = X + COLUMN * (j + 0.5)
        said += [_text(x, Y - 29, q, STATE, weight=600), _text(x, Y - 9, symbol, SYMBOL)]
        said += [square(i, j, ";opacity:.32") for i, (*_, place) in enumerate(rows) if W[place, column]]
    for i, (name, label, _) in enumerate(rows):
        said.append(_text(X - 14, middle(i, 0)[1] + 6, label, COLOURS[name], weight=600 if name == "st" else 400))
    for name, (x, y) in boxes.items():
        said += [_says(x, y - 8, SENT[name]), _box(x, y, 40, 40, f"fill:{GROUND};stroke:{LINE}")]
    said.append(_says(X - 20, Y - 60, "the weights: a column is a rule, and fires when state and symbol fit"))
    yield Part("".join(said))
    yield from lit


def _tape(net: Construction, word: str, steps: int) -> Iterator[Part]:
    trace = list(net.trace(word, steps))
    spare = (WIDTH - 20) // CELL - len(word)
    cells = range(-(spare // 2), len(word) + spare - spare // 2)
    edge = (WIDTH - CELL * len(cells)) / 2
    lines = "".join(f"M{_number(edge + CELL * k)} 64v{CELL}" for k in range(len(cells) + 1))
    lines += "".join(f"M{_number(edge)} {y}h{CELL * len(cells)}" for y in (64, 64 + CELL))
    yield Part(f'<path d="{lines}" style="stroke:{LINE}"/>' + _says(edge, 24, "the tape"))
    for cell in cells:
        x = edge + CELL * (cell - cells[0] + 0.5)
        begins, shown = -inf, trace[0].cells.get(cell, net.machine.blank)
        for now in trace[1:]:
            symbol = now.cells.get(cell, net.machine.blank)
            if symbol != shown:
                at = 4 * now.step - 2
                yield Part(_text(x, 91, shown, _colour(net, shown), 20), begins, at)
                begins, shown = at, symbol
        yield Part(_text(x, 91, shown, _colour(net, shown), 20), begins)
    for before, now in zip([trace[0], *trace], trace, strict=False):
        x = edge + CELL * (now.head - cells[0])
        head = _box(x, 64, CELL, CELL, f"fill:{INK}") + _text(x + CELL / 2, 91, now.symbol, GROUND, 20, 600)
        head += _text(x + CELL / 2, 54, now.state, STATE, 20, 600)
        slides = CELL * (before.head - now.head)
        yield Part(head, 4 * now.step - 2 if now.step else -inf, 4 * now.step + 2, slides=slides)
        says = f"step {now.step} · network = machine"
        tick = f"M{_number(edge + 8 + 7.85 * len(says))} 137l5 6l10 -14"
        tick = f'<path d="{tick}" style="fill:none;stroke:{INK};stroke-width:2.5"/>'
        yield Part(
            _says(edge, 143, says, INK, 16, 600) + tick, 4 * now.step - 1 if now.step else -inf, 4 * now.step + 3
        )


def _colour(net: Construction, symbol: str) -> str:
    return QUIET if symbol == net.machine.blank else SYMBOL


def _past(net: Construction, word: str, steps: int) -> Iterator[Part]:
    trace = list(net.trace(word, steps))
    known = {cell for now in trace for cell in (*now.cells, now.head)}
    cells = range(min(known), max(known) + 1)
    left, end = LEFT + 52, LEFT + 52 + WIDE * len(cells)

    def x(cell: int) -> int:
        return left + WIDE * (cell - cells[0])

    yield Part(_says(LEFT, Y - 60, "the transformer’s past: one token a step"))
    for now in trace:
        y = TOP + TALL * now.step
        row = [_text(LEFT + 8, y + 15, now.step, QUIET, 13), _text(LEFT + 34, y + 15, now.state, STATE, weight=600)]
        for cell in cells:
            symbol, is_head = now.cells.get(cell, net.machine.blank), cell == now.head
            look = f"fill:{INK}" if is_head else f"fill:{SYMBOL};fill-opacity:.12"
            if is_head or symbol != net.machine.blank:
                row.append(_box(x(cell) + 0.5, y + 0.5, WIDE - 1, TALL - 1, look))
            fill = GROUND if is_head else _colour(net, symbol)
            row.append(_text(x(cell) + WIDE / 2, y + 15, symbol, fill, 15, 600 if is_head else 400))
        yield Part("".join(row), 4 * now.step - 2 if now.step else -inf)
        if not now.step:
            continue
        patterns = net.patterns(word, now.step)
        if not net.activations(word, now.step)["visited"][net.layout.scr4["visited"]]:
            continue
        source = int(patterns["last"].argmax())
        until, a, b = (4 * now.step - 1, 4 * now.step + 2), y + TALL / 2, TOP + TALL * (source + 0.5)
        reach = end + min(90, 18 + (a - b) * 0.3)
        look = f"fill:none;stroke:{ATTENTION};stroke-width:2.5"
        curve = _path("M{} {}C{} {} {} {} {} {}", end, a, reach, a, reach, b, end, b)
        yield Part(f'<path pathLength="1" d="{curve}" style="{look}"/>', *until, True)
        says = f"attention: cell {now.head}?", f"step {source} was here last"
        label = "".join(
            _says(end + 0.75 * (reach - end) + 10, (a + b) / 2 + dy, line, ATTENTION, weight=500)
            for dy, line in zip((-4, 14), says, strict=True)
        )
        yield Part(label + _box(x(now.head) - 0.5, b - TALL / 2 - 0.5, WIDE + 1, TALL + 1, look), *until)


def still(net: Construction, word: str, step: int) -> Picture:
    """The scene after a step, all its beats at once.

    Chapter: :doc:`/book/index`.
    """
    return picture(net, word, step, [part.svg for part in scene(net, word, step) if part.is_there(4 * step - 0.5)])


def picture(net: Construction, word: str, step: int, body: list[str]) -> Picture:
    """A picture of the scene from its parts."""
    rows = len(net.machine.states) + len(net.machine.symbols) + 2
    alt = (
        f"A Turing machine and its transformer in lock step on {word}, up to step {step}: the tape; the past of the "
        f"transformer, a row a step, with an arc of attention to the step that wrote the cell under the head; and the "
        f"matrix of the rules, in which one column is lit and sends next state, symbol and move. Both agree."
    )
    height = max(Y + ROW * rows, TOP + TALL * (step + 1)) + 16
    return _picture("turing-scene", WIDTH, height, alt, ['<g style="text-anchor:middle">', *body, "</g>"])
