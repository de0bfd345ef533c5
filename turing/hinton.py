"""The weights of a network drawn as Hinton squares, rows and columns named.

Chapter: :doc:`/book/01_gates`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from turing.layout import Layout
from turing.network import Numbers, layers_of, layouts_of
from turing.pictures.base import INK, LINE, MONO, QUIET, SANS, Picture, _named, _picture, _short, _visible, _width

if TYPE_CHECKING:
    from torch import nn

__all__ = ["draw"]

FONT, LEADING = 17, 19  # of names; a page may shrink a picture to two thirds, and this is then 11 px
CELL, SMALL = 24, 8  # where every place is named, and where only slices are
MOST_COLUMNS, MOST_ROWS, MOST_LAYERS = 28, 40, 24  # of a picture in which every place is named
WIDE, GAP, EDGE = 720, 32, 10  # layers stand side by side up to a width, a gap apart
BAR = 4  # the mark of a slice along an axis, with as much space on both sides
MOST_SQUARES = 10_000


def draw(network: nn.Module, layout: Layout | Sequence[Layout] | None = None) -> Picture:
    """Draw the weights of each layer: a row for each place written, a column for each place read, the bias last.

    A filled square is positive, a hollow one negative; its area is the magnitude, and zero is nothing. Its colour is
    that of the slice it writes to. Where a layer is large, only slices are named; each square has its own tooltip.

    >>> from turing.gates import AND
    >>> print(draw(AND(2), [Layout(a=1, b=1), Layout(both=1)]).alt)
    Weights as Hinton squares, 2 → 1. Each row is a place that is written, each column one that is read, the last \
column the bias. Filled is positive, hollow negative, area is magnitude. Rows both, columns a b: 3 squares, −1 to 1.

    Chapter: :doc:`/book/01_gates`.
    """
    layers, layouts = layers_of(network), layouts_of(network, layout)
    numbers = [value for layer in layers for value in _numbers(layer)]
    if len(numbers) > MOST_SQUARES:
        raise ValueError(
            f"This network has {len(numbers):,} numbers that are not 0, and at most {MOST_SQUARES:,} squares are "
            f"drawn. Draw one of its layers alone."
        )
    named = len(layers) <= MOST_LAYERS and all(
        layer.inputs <= MOST_COLUMNS and len(layer.weight) <= MOST_ROWS for layer in layers
    )
    look = _Look(named, CELL if named else _small(layouts), max(map(abs, numbers), default=1))
    lines: list[list[_Panel]] = []
    for number, (layer, (columns, rows)) in enumerate(zip(layers, pairwise(layouts), strict=True), start=1):
        heading = ", ".join([f"layer {number}"] * (len(layers) > 1) + ["no ReLU"] * (not layer.relu))
        panel = _Panel(heading, layer, rows, columns, look)
        if not lines or sum(other.width + GAP for other in lines[-1]) + panel.width > WIDE:
            lines.append([])
        lines[-1].append(panel)

    body, width = [], 0.0
    x: float
    y: float = EDGE
    for line in lines:
        x, top = EDGE, max(panel.top for panel in line)
        for panel in line:
            body += panel.drawn(x, y, top)
            x += panel.width + GAP
        width = max(width, x - GAP + EDGE)
        y += top + max(panel.down for panel in line) + GAP
    x = EDGE
    for value in sorted(set(numbers), reverse=True) if len(set(numbers)) <= 4 else (max(numbers), min(numbers)):
        body += look.squares({(INK, value > 0): [(x + look.cell / 2, y, value, "")]})
        text = f'<text x="{_n(x + look.cell + 6)}" y="{_n(y + 6)}" style="font:{FONT}px {MONO};fill:{INK}">'
        body.append(f"{text}{_signed(value)}</text>")
        x += look.cell + 30 + _width(_signed(value), FONT)
    return _picture("turing-hinton", max(width, x), y + look.cell / 2 + EDGE, _story(layers, layouts), body)


class _Look(NamedTuple):
    named: bool  # every place, or only slices
    cell: int
    largest: float  # the magnitude that fills a cell

    def squares(self, groups: dict[tuple[str, bool], list[tuple[float, float, float, str]]]) -> list[str]:
        """Squares by colour and sign, each with the middle, x and y, the value and a tooltip."""
        drawn = []
        for (colour, positive), squares in groups.items():
            look = f'"positive" style="fill:{colour}"' if positive else f'"negative" style="fill:none;stroke:{colour}"'
            drawn.append(f"<g class={look}>")
            for x, y, value, title in squares:
                side = (self.cell - (4 if self.named else 1)) * math.sqrt(abs(value) / self.largest)
                pen = 0 if positive else min(2, side / 4)
                inner = _n(side - pen)  # half of a line lies outside
                corner = f'x="{_n(x - (side - pen) / 2)}" y="{_n(y - (side - pen) / 2)}"'
                stroke = "" if positive else f' stroke-width="{_n(pen)}"'
                title = title and f"<title>{escape(title)}</title>"
                drawn.append(f'<rect {corner} width="{inner}" height="{inner}"{stroke}>{title}</rect>')
            drawn.append("</g>")
        return drawn


class _Panel:
    """One layer: its matrix, the bias beside it, and the names along both."""

    def __init__(self, heading: str, layer: Numbers, rows: Layout, columns: Layout, look: _Look):
        self.heading, self.layer, self.rows, self.columns, self.look = heading, layer, rows, columns, look
        self.across, self.down = columns.width * look.cell, rows.width * look.cell
        self.bias = self.across + max(look.cell / 2, 10)  # where its column begins
        longest = [
            max((len(_short(name, 16)) for _, name in _labels(axis, look)), default=0) for axis in (rows, columns)
        ]
        self.upright = look.named and longest[1] <= 2
        self.left = 3 * BAR + 0.6 * FONT * longest[0]
        above = LEADING if self.upright else 0.6 * FONT * max(longest[1], len("bias"))
        self.top = above + 3 * BAR + (LEADING + 4 if heading else 0)
        self.width = max(self.left + self.bias + look.cell + 9 * self.upright, 0.56 * FONT * len(heading))

    def drawn(self, x: float, y: float, top: float) -> list[str]:
        cell, bias = self.look.cell, self.bias
        body = [f'<g transform="translate({_n(x + self.left)} {_n(y + top)})">']
        if self.heading:
            style = f"font:{FONT}px {SANS};fill:{QUIET}"
            body.append(f'<text x="{_n(-self.left)}" y="{_n(14 - top)}" style="{style}">{self.heading}</text>')

        grid = "".join(f"M0 {v}H{self.across}M{_n(bias)} {v}h{cell}" for v in self.marks(self.rows))
        grid += "".join(f"M{u} 0V{self.down}" for u in [*self.marks(self.columns), _n(bias), _n(bias + cell)])
        body.append(f'<path style="stroke:{LINE};fill:none" d="{grid}"/>')
        for axis, start, end in ((self.columns, "M{} -6", "H{}"), (self.rows, "M-6 {}", "V{}")):
            for part in axis:
                line = start.format(part.start * cell + 1) + end.format((part.start + part.size) * cell - 1)
                body.append(f'<path style="stroke:{part.colour};stroke-width:{BAR}" d="{line}"/>')

        body.append(f'<g style="font:{FONT}px {MONO};fill:{INK}">')
        for middle, name in _labels(self.rows, self.look):
            text = _named(_short(name, 16), name)
            body.append(f'<text x="{-3 * BAR}" y="{_n(middle + 6)}" text-anchor="end">{text}</text>')
        for middle, name in _labels(self.columns, self.look, bias):
            place = f'x="{_n(middle)}" y="{-3 * BAR}" text-anchor="middle"'
            if not self.upright:
                place = f'transform="translate({_n(middle + 6)} {-3 * BAR})rotate(-90)"'
            body.append(f"<text {place}>{_named(_short(name, 16), name)}</text>")
        body.append("</g>")

        groups: dict[tuple[str, bool], list[tuple[float, float, float, str]]] = {}
        reads = [*((u * cell, name) for u, name in enumerate(self.columns.names())), (bias, "bias")]
        for i, name in enumerate(self.rows.names()):
            for (u, read), value in zip(reads, [*self.layer.weight[i], self.layer.bias[i]], strict=True):
                if value:
                    title = _visible(f"{name} ← {_signed(value)} · {read}")
                    square = u + cell / 2, (i + 0.5) * cell, value, title
                    groups.setdefault((self.rows.of(i).colour, value > 0), []).append(square)
        return [*body, *self.look.squares(groups), "</g>"]

    def marks(self, axis: Layout) -> list[int]:
        """Where lines are drawn: around every place, or around slices."""
        places = range(axis.width + 1) if self.look.named else [0, *(part.start + part.size for part in axis)]
        return [place * self.look.cell for place in places]


def _labels(axis: Layout, look: _Look, bias: float | None = None) -> list[tuple[float, str]]:
    """What is written along an axis, with its middle; the names of narrow slices make room for those behind."""
    parts = [(i, i + 1, name) for i, name in enumerate(axis.names())]
    if not look.named:
        parts = [(part.start, part.start + part.size, part.name) for part in axis if part.size]
    labels = [((start + end) / 2 * look.cell, name) for start, end, name in parts]
    labels += [(bias + look.cell / 2, "bias")] if bias is not None else []
    for i in reversed(range(len(labels) - 1)):
        labels[i] = min(labels[i][0], labels[i + 1][0] - LEADING), labels[i][1]
    return labels


def _small(layouts: Sequence[Layout]) -> int:
    """A cell in which the names of all slices have room beside each other."""
    return max([SMALL, *(math.ceil(LEADING * len(axis.slices) / axis.width) for axis in layouts if axis.width)])


def _story(layers: Sequence[Numbers], layouts: Sequence[Layout]) -> str:
    """Alt text: what a square means, and what there is of them."""

    def counted(numbers: list[float]) -> str:
        span = " to ".join(map(_signed, sorted({min(numbers), max(numbers)}))) if numbers else "all numbers are 0"
        return f"{len(numbers):,} square{'' if len(numbers) == 1 else 's'}, {span}."

    widths = [str(layout.width) for layout in layouts]
    few = len(layers) < 5
    shape = " → ".join(widths) if few else f"{len(layers)} layers, {widths[0]} → {widths[-1]}"
    told = [f"Weights as Hinton squares, {shape}."]
    told.append("Each row is a place that is written, each column one that is read, the last column the bias.")
    told.append("Filled is positive, hollow negative, area is magnitude.")
    for number, (layer, (columns, rows)) in enumerate(zip(layers, pairwise(layouts), strict=True), start=1):
        if few:
            which = f"Layer {number}, rows" if len(layers) > 1 else "Rows"
            names = (" ".join(map(_visible, axis.slices)) for axis in (rows, columns))
            told.append(f"{which} {', columns '.join(names)}: {counted(_numbers(layer))}")
    if not few:
        told.append(f"All layers: {counted([value for layer in layers for value in _numbers(layer)])}")
    return " ".join(told)


def _numbers(layer: Numbers) -> list[float]:
    return [value for row in (*layer.weight, layer.bias) for value in row if value]


def _signed(value: float) -> str:
    return f"{value:.6g}".replace("-", "−")


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
