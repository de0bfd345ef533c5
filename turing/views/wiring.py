"""A network as neurons and the wires between them, lit by what runs through it.

Chapter: :doc:`/book/gates`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from turing import ir
from turing.arguments import count
from turing.layout import Layout
from turing.pictures.base import GROUND, INK, LINE, QUIET, SANS, Picture, _number, _picture, _visible, _width
from turing.views.diagram import _colour
from turing.views.equations import names_read, passes
from turing.views.sums import size

if TYPE_CHECKING:
    from torch import nn

__all__ = ["wires"]

MAX_PLACES, MAX_LAYERS = 24, 80  # of a picture
EDGE, FONT, THICK, THICKEST = 12, 15, 2.5, 6.0  # a weight of 1 is thick, unless the largest would be too thick then


class _Size(NamedTuple):
    """Of a neuron, and from one to the next, down and across."""

    radius: float
    down: float
    across: float


LARGE, SMALL = _Size(10, 52, 138), _Size(5, 22, 24)  # in the small one, only the first and the last places are named


def wires(network: nn.Module, x: Sequence[Any], layout: Layout | Sequence[Layout] | None = None) -> Picture:
    """A :class:`~turing.pictures.Picture` of the layers from left to right, with the values that they give for the
    input ``x``. ``layout`` is that of :func:`turing.show <turing.views.equations.show>`.

    A circle is a place of a vector, filled if its value is not 0. A line is a weight: a thicker one is larger, a dashed
    one negative, and a line that carries a 0 is pale. A network of more than six layers is drawn small.

    >>> import turing
    >>> layouts = [turing.Layout(a=1, b=1), turing.Layout(both=1)]
    >>> print(turing.wires(turing.gates.AND(2), [1, 1], layouts).alt)
    A network of 1 layer, 2 → 1, as neurons and wires. For a = 1, b = 1 it gives both = 1.

    Chapter: :doc:`/book/gates`.
    """
    layers = ir.of(network, layout).layers
    names = [names_read(layers[0]), *([_visible(name) for name in layer.outputs.names()] for layer in layers)]
    _check(layers, names, x)
    values = _values(layers, x)
    scale = SMALL if len(layers) > 6 else LARGE
    radius, down, across = scale
    shown = [[_label(*pair) for pair in zip(*both, strict=True)] for both in zip(names, values, strict=True)]
    left, right = (EDGE + 8 + radius + max(_width(text, FONT, 0.56) for text in shown[end]) for end in (0, -1))
    tallest, last = max(map(len, names)), len(layers)
    top = EDGE + radius + (FONT + 4 if scale is LARGE else 0)  # of the centre of the first neuron
    width, height = left + across * last + right, top + down * (tallest - 1) + radius

    def at(column: int, place: int) -> tuple[float, float]:
        return left + across * column, top + down * (place + (tallest - len(names[column])) / 2)

    largest = max((abs(float(w)) for layer in layers for row in layer.rows for _, w in row.terms), default=1.0)
    thick = min(THICK, THICKEST / largest)
    pale, lit, nodes, texts = list[str](), list[str](), list[str](), list[str]()
    for column, layer in enumerate(layers):
        for i, row in enumerate(layer.rows):
            copies = passes(row, names[column], names[column + 1][i])
            for j, weight in row.terms:
                (x1, y1), (x2, y2) = at(column, j), at(column + 1, i)
                wide = max(0.75, abs(float(weight)) * (1.0 if copies else thick))
                dash = "" if weight > 0 else ";stroke-dasharray:5 4"
                said = f"weight of {names[column][j]} in {names[column + 1][i]}: {size(weight)}"
                (lit if values[column][j] else pale).append(
                    f'<path style="stroke-width:{_number(wide)}{dash}" d="M{_number(x1)} {_number(y1)}L{_number(x2)} '
                    f'{_number(y2)}"><title>{escape(said if weight > 0 else said.replace(": ", ": −"))}</title></path>'
                )
    for column, (here, written) in enumerate(zip(values, shown, strict=True)):
        for place, value in enumerate(here):
            (cx, cy), text = at(column, place), escape(written[place])
            colour = _colour(names[column][place].split("[")[0])
            pen = f"fill:{colour if value else GROUND};stroke:{colour if value else QUIET};stroke-width:1.5"
            nodes.append(f'<circle cx="{_number(cx)}" cy="{_number(cy)}" r="{radius:g}" style="{pen}"/>')
            if column in (0, last) or scale is LARGE:
                anchor, dx, dy = "middle", 0.0, -radius - 6
                if column in (0, last):
                    anchor, dx, dy = ("end", -radius - 5, 5) if column == 0 else ("start", radius + 5, 5)
                look = f"fill:{colour};font-weight:600" if value else f"fill:{QUIET}"
                place_at = f'x="{_number(cx + dx)}" y="{_number(cy + dy)}" text-anchor="{anchor}"'
                texts.append(f'<text {place_at} style="{look}">{text}</text>')
    halo = f"paint-order:stroke;stroke:{GROUND};stroke-width:7px;stroke-linejoin:round"
    body = [
        f'<g style="stroke:{LINE};fill:none">', *pale, "</g>", f'<g style="stroke:{INK};fill:none">', *lit, "</g>",
        *nodes, f'<g style="font:{FONT}px {SANS};{halo}">', *texts, "</g>",
    ]  # fmt: skip
    return _picture("turing-wires", width, height + EDGE / 2, _story(names, values), body)


def _values(layers: list[ir.Layer], x: Sequence[Any]) -> list[list[Any]]:
    """What each layer gives, from left to right."""
    values = [[value if isinstance(value, Fraction) else float(value) for value in x]]
    for layer in layers:
        now = values[-1]
        after = [sum((weight * now[j] for j, weight in row.terms), row.bias) for row in layer.rows]
        low, high = {"none": (None, None), "relu": (0, None), "clamp": (0, 1)}[layer.activation]
        after = [value if low is None else max(value, low) for value in after]
        values.append([value if high is None else min(value, high) for value in after])
    return values


def _label(name: str, value: Any) -> str:
    """The name of a place, with its value unless that is 0 or 1."""
    return name if value in (0, 1) else f"{name} = {_written(value)}"


def _written(value: Any) -> str:
    exact = isinstance(value, Fraction) and value.denominator < 10_000
    return ("−" if value < 0 else "") + (str(abs(value)) if exact else size(abs(value)))


def _check(layers: list[ir.Layer], names: list[list[str]], x: Sequence[Any]) -> None:
    if len(x) != len(names[0]):
        raise ValueError(f"The network reads {count(len(names[0]), 'number')}, and {len(x)} were given.")
    tallest = max(map(len, names))
    if tallest > MAX_PLACES or len(layers) > MAX_LAYERS:
        raise ValueError(
            f"Networks are drawn as neurons up to {MAX_PLACES} places and {MAX_LAYERS} layers, and this one has "
            f"{tallest} and {len(layers)}. turing.draw shows larger ones as squares, turing.architecture as boxes."
        )


def _story(names: list[list[str]], values: list[list[Any]]) -> str:
    def said(end: int) -> str:
        pairs = zip(names[end], values[end], strict=True)
        return ", ".join(f"{name} = {_written(value)}" for name, value in pairs)

    widths = [len(column) for column in names]
    shape = " → ".join(map(str, widths)) if len(widths) <= 6 else f"{widths[0]} → … → {widths[-1]}"
    layers = count(len(widths) - 1, "layer")
    return f"A network of {layers}, {shape}, as neurons and wires. For {said(0)} it gives {said(-1)}."
