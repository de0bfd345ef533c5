"""The weights of a network drawn as Hinton squares, rows and columns named.

Chapter: :doc:`/book/gates`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from turing import ir
from turing.layout import Layout
from turing.pictures.base import INK, LINE, MONO, QUIET, SANS, Picture, _named, _picture, _short, _visible, _width
from turing.views.sums import size

if TYPE_CHECKING:
    from torch import nn

__all__ = ["draw"]

FONT, LEADING = 17, 19  # of names; a page may shrink a picture to two thirds, and this is then 11 px
CELL, SMALL, SMALLEST = 24, 8, 4  # where every place is named, where only slices are, and in a compiled network
MAX_COLUMNS, MAX_ROWS, MAX_LAYERS = 28, 40, 24  # of a picture in which every place is named
WIDE, WIDEST, GAP, EDGE = 720, 1080, 32, 10  # layers stand side by side up to a width, a gap apart
BAR = 4  # the mark of a slice along an axis, with as much space on both sides
MAX_SQUARES = 10_000
KINDS = {"none": "no ReLU", "relu": "", "clamp": "σ"}


def draw(network: nn.Module, layout: Layout | Sequence[Layout] | None = None) -> Picture:
    """A :class:`~turing.pictures.Picture` of the weights as squares: a row for each place written, a column for each
    place read, the bias last. ``layout`` is that of :func:`turing.show <turing.views.equations.show>`.

    A filled square is positive and a hollow one negative. Its area is the magnitude, so that 0 shows nothing, and its
    colour is that of the slice to which it writes. Where a layer is large, only slices are named, and each square has a
    tooltip. An attention head is drawn as its four maps. A compiled network is drawn module by module; there, the
    largest number of each module fills its cell.

    >>> import turing
    >>> layouts = [turing.Layout(a=1, b=1), turing.Layout(both=1)]
    >>> print(turing.draw(turing.gates.AND(2), layouts).alt)  # doctest: +NORMALIZE_WHITESPACE
    Weights as Hinton squares, 2 → 1. Each row is a place that is written, each column one that is read, the last
    column the bias. Filled is positive, hollow negative, area is magnitude. Rows both, columns a b: 3 squares, −1 to 1.

    Chapter: :doc:`/book/gates`.
    """
    found = ir.of(network, layout)
    compiled = found.loop is not None
    modules = [_matrices(module.parts) for module in found.modules] if compiled else [_matrices(found.parts)]
    _check(found, modules)
    matrices = [matrix for module in modules for matrix in module]
    named = len(matrices) <= MAX_LAYERS and all(
        matrix.columns.width <= MAX_COLUMNS and matrix.rows.width <= MAX_ROWS for matrix in matrices
    )
    cell = CELL if named else _small(found.layouts, SMALLEST if compiled else SMALL)
    lines: list[list[_Panel]] = []
    room = WIDEST if compiled else WIDE
    for number, module in enumerate(modules):
        values = [value for matrix in module for value in matrix.numbers]
        look = _Look(named, cell, max((abs(float(value)) for value in values), default=1.0))
        for matrix in module:
            heading = matrix.name
            if compiled:
                span = f" ({'all ' * (len(set(matrix.numbers)) == 1)}{_span(matrix.numbers)})" if matrix.numbers else ""
                heading = ", ".join(filter(None, [found.modules[number].name, matrix.name])) + span
            panel = _Panel(heading, matrix, look)
            if not lines or sum(other.width + GAP for other in lines[-1]) + panel.width > room:
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
    if compiled:
        return _picture("turing-hinton", width, y - GAP + EDGE, _story(found, modules), body)
    x = EDGE
    for value in sorted(set(values), reverse=True) if len(set(values)) <= 4 else (max(values), min(values)):
        body += look.squares({(INK, value > 0): [(x + look.cell / 2, y, value, "", "")]})
        text = f'<text x="{_n(x + look.cell + 6)}" y="{_n(y + 6)}" style="font:{FONT}px {MONO};fill:{INK}">'
        body.append(f"{text}{_signed(value)}</text>")
        x += look.cell + 30 + _width(_signed(value), FONT)
    return _picture("turing-hinton", max(width, x), y + look.cell / 2 + EDGE, _story(found, modules), body)


class _Matrix(NamedTuple):
    """What one panel shows: a matrix, and beside it the vectors that belong to its rows, the bias first."""

    name: str
    terms: list[list[tuple[int, ir.Number]]]
    rows: Layout
    columns: Layout
    beside: list[tuple[str, list[ir.Number]]]
    activation: str = "none"

    @property
    def numbers(self) -> list[ir.Number]:
        """All that are not 0."""
        vectors = (value for _, vector in self.beside for value in vector if value)
        return [*(weight for row in self.terms for _, weight in row), *vectors]


def _matrix(
    name: str, layer: ir.Layer, null: ir.Numbers | None = None, oldest: ir.Numbers | None = None, **named: Layout
) -> _Matrix:
    beside = [("bias", [row.bias for row in layer.rows])]
    beside += [(what, numbers.vector) for what, numbers in (("null", null), ("oldest", oldest)) if numbers]
    rows, columns = named.get("rows", layer.outputs), named.get("columns", layer.inputs)
    return _Matrix(name, [row.terms for row in layer.rows], rows, columns, beside)


def _matrices(parts: Sequence[ir.Part]) -> list[_Matrix]:
    """The matrices of parts that work one after the other, each with what it is called among them."""
    found = []
    for number, part in enumerate(parts, start=1):
        for matrix in _of_part(part):
            words = [f"layer {number}"] * (len(parts) > 1) + [matrix.name] * bool(matrix.name)
            found.append(matrix._replace(name=", ".join(words)))
    return found


def _of_part(part: ir.Part) -> list[_Matrix]:
    if isinstance(part, ir.Layer):
        return [_matrix(KINDS[part.activation], part)._replace(activation=part.activation)]
    if isinstance(part, ir.Attention):
        column = part.inputs
        scored, fetched = part.query.width_out, Layout(value=part.value.width_out)
        return [
            _matrix("query", part.query, rows=Layout(query=scored), columns=column),
            _matrix("key", part.key, part.null_key, part.oldest, rows=Layout(key=scored), columns=column),
            _matrix("value", part.value, part.null_value, rows=fetched, columns=column),
            _matrix("write", part.write, rows=column, columns=fetched),
        ]
    if isinstance(part, ir.Convolution):
        taps = enumerate(part.taps(), start=-part.radius)
        return [_matrix(", ".join(filter(None, [_side(d), KINDS[part.activation]])), tap) for d, tap in taps]
    return [_Matrix(f"{part.kind} of {' '.join(part.slices)}", [], Layout(), Layout(), [])]


def _side(d: int) -> str:
    side = "left" if d < 0 else "right"
    return "the cell itself" if not d else f"{side} neighbour" if abs(d) == 1 else f"{abs(d)} to the {side}"


def _check(network: ir.Network, modules: list[list[_Matrix]]) -> None:
    counts = [sum(len(matrix.numbers) for matrix in module) for module in modules]
    if sum(counts) <= MAX_SQUARES:
        return
    advice = "Draw one of its layers alone." if len(network.parts) > 1 else "turing.show writes it as equations."
    if network.loop is not None:
        sizes = {module.name: count for module, count in zip(network.modules, counts, strict=True)}
        listed = ", ".join(f"{name} {count:,}" for name, count in sizes.items())
        example = next((name for name, count in sizes.items() if count <= MAX_SQUARES), None)
        advice = f"Each of its modules is too large as well: {listed}. Take a smaller machine."
        if example is not None:
            advice = f'Draw one module, such as turing.draw(net.pipeline["{example}"]). The modules: {listed}.'
    raise ValueError(
        f"This network has {sum(counts):,} numbers that are not 0, and at most {MAX_SQUARES:,} squares are drawn. "
        f"{advice}"
    )


class _Look(NamedTuple):
    named: bool  # every place, or only slices
    cell: int
    largest: float  # the magnitude that fills a cell

    def squares(self, groups: dict[tuple[str, bool], list[tuple[float, float, ir.Number, str, str]]]) -> list[str]:
        """Squares by colour and sign, each with the middle, x and y, the value, row and column, and a tooltip."""
        drawn = []
        for (colour, positive), squares in groups.items():
            look = f'"positive" style="fill:{colour}"' if positive else f'"negative" style="fill:none;stroke:{colour}"'
            drawn.append(f"<g class={look}>")
            for x, y, value, at, title in squares:
                side = (self.cell - (4 if self.named else 1)) * math.sqrt(abs(float(value)) / self.largest)
                pen = 0 if positive else min(2, side / 4)
                inner = _n(side - pen)  # half of a line lies outside
                corner = f'x="{_n(x - (side - pen) / 2)}" y="{_n(y - (side - pen) / 2)}"'
                stroke = "" if positive else f' stroke-width="{_n(pen)}"'
                title = title and f"<title>{escape(title)}</title>"
                at = at and f' data-at="{at}"'
                drawn.append(f'<rect{at} {corner} width="{inner}" height="{inner}"{stroke}>{title}</rect>')
            drawn.append("</g>")
        return drawn


class _Panel:
    """A matrix, the bias beside it, and the names along both."""

    def __init__(self, heading: str, matrix: _Matrix, look: _Look):
        self.heading, self.matrix, self.look = heading, matrix, look
        self.rows, self.columns = matrix.rows, matrix.columns
        self.across, self.down = self.columns.width * look.cell, self.rows.width * look.cell
        gap = max(look.cell / 2, 10)
        step = max(look.cell + gap, LEADING)
        self.beside = [self.across + gap + n * step for n in range(len(matrix.beside))]  # where these columns begin
        longest = [
            max((len(_short(name, 16)) for _, name in _labels(axis, look)), default=0)
            for axis in (self.rows, self.columns)
        ]
        self.upright = look.named and longest[1] <= 2
        self.left = 3 * BAR + 0.6 * FONT * longest[0]
        above = LEADING if self.upright else 0.6 * FONT * max(longest[1], len("bias"))
        self.top = above + 3 * BAR + (LEADING + 4 if heading else 0)
        right = self.beside[-1] + look.cell + 9 * self.upright if self.beside else 0
        self.width = max(self.left + right, 0.56 * FONT * len(heading))

    def drawn(self, x: float, y: float, top: float) -> list[str]:
        cell = self.look.cell
        known = f'data-cell="{cell}" data-activation="{self.matrix.activation}"'
        body = [f'<g class="matrix" {known} transform="translate({_n(x + self.left)} {_n(y + top)})">']
        if self.heading:
            style = f"font:{FONT}px {SANS};fill:{QUIET}"
            text = escape(_visible(self.heading))
            body.append(f'<text x="{_n(-self.left)}" y="{_n(14 - top)}" style="{style}">{text}</text>')
        if not self.beside:
            return [*body, "</g>"]

        columns = "".join(f"M{_n(u)} {{0}}h{cell}" for u in self.beside)
        grid = "".join(f"M0 {v}H{self.across}{columns.format(v)}" for v in self.marks(self.rows))
        sides = [_n(side) for u in self.beside for side in (u, u + cell)]
        grid += "".join(f"M{u} 0V{self.down}" for u in [*self.marks(self.columns), *sides])
        body.append(f'<path style="stroke:{LINE};fill:none" d="{grid}"/>')
        for axis, start, end in ((self.columns, "M{} -6", "H{}"), (self.rows, "M-6 {}", "V{}")):
            for part in axis:
                line = start.format(part.start * cell + 1) + end.format((part.start + part.size) * cell - 1)
                body.append(f'<path style="stroke:{part.colour};stroke-width:{BAR}" d="{line}"/>')

        body.append(f'<g style="font:{FONT}px {MONO};fill:{INK}">')
        for middle, name in _labels(self.rows, self.look):
            text = _named(_short(name, 16), name)
            body.append(f'<text x="{-3 * BAR}" y="{_n(middle + 6)}" text-anchor="end">{text}</text>')
        beside = [(u + cell / 2, name) for u, (name, _) in zip(self.beside, self.matrix.beside, strict=True)]
        for middle, name in _labels(self.columns, self.look, beside):
            place = f'x="{_n(middle)}" y="{-3 * BAR}" text-anchor="middle"'
            if not self.upright:
                place = f'transform="translate({_n(middle + 6)} {-3 * BAR})rotate(-90)"'
            body.append(f"<text {place}>{_named(_short(name, 16), name)}</text>")
        body.append("</g>")

        groups: dict[tuple[str, bool], list[tuple[float, float, ir.Number, str, str]]] = {}
        reads = self.columns.names()
        colours = [part.colour for part in self.rows for _ in part]
        for i, (name, terms) in enumerate(zip(self.rows.names(), self.matrix.terms, strict=True)):
            squares: list[tuple[float, int | str, str, ir.Number]] = [
                (j * cell, j, reads[j], value) for j, value in terms
            ]
            for u, (vector, values) in zip(self.beside, self.matrix.beside, strict=True):
                squares.append((u, vector, vector, values[i]))
            for u, column, read, value in squares:
                if value:
                    title = _visible(f"{name} ← {_signed(value)} · {read}")
                    square = u + cell / 2, (i + 0.5) * cell, value, f"{i} {column}", title
                    groups.setdefault((colours[i], value > 0), []).append(square)
        return [*body, *self.look.squares(groups), "</g>"]

    def marks(self, axis: Layout) -> list[int]:
        """Where lines are drawn: around every place, or around slices."""
        places = range(axis.width + 1) if self.look.named else [0, *(part.start + part.size for part in axis)]
        return [place * self.look.cell for place in places]


def _labels(axis: Layout, look: _Look, beside: Sequence[tuple[float, str]] = ()) -> list[tuple[float, str]]:
    """What is written along an axis, with its middle; the names of narrow slices make room for those after them."""
    parts = [(i, i + 1, name) for i, name in enumerate(axis.names())]
    if not look.named:
        parts = [(part.start, part.start + part.size, part.name) for part in axis if part.size]
    labels = [((start + end) / 2 * look.cell, name) for start, end, name in parts]
    labels += beside
    for i in reversed(range(len(labels) - 1)):
        labels[i] = min(labels[i][0], labels[i + 1][0] - LEADING), labels[i][1]
    return labels


def _small(layouts: Sequence[Layout], least: int) -> int:
    """A cell in which the names of all slices have room beside each other."""
    return max([least, *(math.ceil(LEADING * len(axis.slices) / axis.width) for axis in layouts if axis.width)])


def _story(network: ir.Network, modules: list[list[_Matrix]]) -> str:
    """Alt text: what a square means, and what there is of them."""
    widths = [str(layout.width) for layout in network.layouts]
    many = f"{len(modules)} modules" if network.loop is not None else f"{len(network.parts)} layers"
    few = network.loop is None and len(network.parts) < 5
    sentences = [f"Weights as Hinton squares, {' → '.join(widths) if few else f'{many}, {widths[0]} → {widths[-1]}'}."]
    sentences.append("Each row is a place that is written, each column one that is read, the last column the bias.")
    sentences.append("Filled is positive, hollow negative, area is magnitude.")
    everything = [value for module in modules for matrix in module for value in matrix.numbers]
    if network.loop is not None:
        for module, matrices in zip(network.modules, modules, strict=True):
            sentences.append(f"{_visible(module.name)}: {_counted([n for matrix in matrices for n in matrix.numbers])}")
    elif few:
        for matrix in modules[0]:
            which = matrix.name.removesuffix("no ReLU").removesuffix(", ").capitalize()
            which = f"{which}, rows" if which else "Rows"
            names = (" ".join(map(_visible, axis.slices)) for axis in (matrix.rows, matrix.columns))
            sentences.append(f"{which} {', columns '.join(names)}: {_counted(matrix.numbers)}")
    else:
        sentences.append(f"All layers: {_counted(everything)}")
    return " ".join(sentences)


def _counted(numbers: list[ir.Number]) -> str:
    span = _span(numbers) if numbers else "all numbers are 0"
    return f"{len(numbers):,} square{'' if len(numbers) == 1 else 's'}, {span}."


def _span(numbers: list[ir.Number]) -> str:
    return " to ".join(map(_signed, sorted({min(numbers), max(numbers)})))


def _signed(value: ir.Number) -> str:
    text = size(value) if isinstance(value, Fraction) else f"{abs(value):.6g}"
    return f"−{text}" if value < 0 else text


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
