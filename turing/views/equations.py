"""A network as equations with names, its gates recognised from the numbers alone.

Chapter: :doc:`/book/gates`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from turing import ir
from turing.layout import Layout
from turing.pictures.base import _visible
from turing.views import heads
from turing.views.rows import UNKNOWN, Place, read
from turing.views.sums import written

if TYPE_CHECKING:
    from torch import nn

__all__ = ["Equations", "Line", "show"]

LONGEST, LONGEST_ALONE = 56, 90  # characters of a sum with a name beside it and without; a longer one is cut with …


class Line(NamedTuple):
    """One row of a layer, in words.

    - ``place``: the name of the place that it writes
    - ``value``: what it writes there, as a sum
    - ``gate``: the name of the gate that it is, or ``""``
    - ``of_inputs``: the name of the function of the network's inputs that the place then holds, or ``""``; in the first
      layer it is ``""`` too, since ``gate`` says it

    Chapter: :doc:`/book/gates`.
    """

    place: str
    value: str
    gate: str = ""
    of_inputs: str = ""


@dataclass(frozen=True)
class Equations:
    """What :func:`show` returns. It prints as equations.

    - ``layers``: for each layer a tuple with a :class:`Line` for each row that changes something
    - ``headings``: for each layer what stands above it; if there are none, layers are numbered

    Chapter: :doc:`/book/gates`.
    """

    layers: tuple[tuple[Line, ...], ...]
    headings: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = list(chain(*self.layers))
        named = [line for line in lines if line.gate or line.of_inputs]  # a sum alone may run on into the next column
        widths = [max((len(line[0]) for line in lines), default=0)]
        widths += [max((len(line[column]) for line in named), default=0) for column in (1, 2, 3)]
        blocks = []
        for number, layer in enumerate(self.layers, start=1):
            inputs = "of the inputs" if any(line.of_inputs for line in layer) else ""
            heading = self.headings[number - 1] if self.headings else f"layer {number} of {len(self.layers)}"
            block = [heading.ljust(sum(widths[:3]) + 9) + inputs]
            for line in layer:
                place, value, gate, of_inputs = (text.ljust(width) for text, width in zip(line, widths, strict=True))
                block.append(f"{place} ← {value}   {gate}   {of_inputs}")
            if not layer:
                block.append("every place stays as it is")
            alone = len(self.layers) == 1 and not self.headings
            blocks.append("\n".join(line.rstrip() for line in block[alone:]))
        return "\n\n".join(blocks)

    __repr__ = __str__


def show(network: nn.Module, layout: Layout | Sequence[Layout] | None = None) -> Equations:
    """The :class:`Equations` of a network, layer by layer. Rows that only pass their own place on are left out.

    ``layout`` names the places of layers: a single :class:`~turing.layout.Layout` names every vector of its width, and
    a list has one for the input and one for what leaves each layer. A compiled network has its own names.

    A row that computes a gate of bits has the gate's name. A row that gives 0 or 0.5 has it with that factor, as in
    0.5·AND(a, b), and the next layer reads its 0.5 as a 1. In a network of several layers, a further column names each
    place as a function of the network's inputs, if that has a name and depends on at most ten of them.

    An attention head is described as the look-up that its numbers make, and a compiled network module by module. In a
    row of cells, ``left st[A]`` is st[A] of the left neighbour.

    >>> import turing
    >>> from turing.gates import AND, NOR, XOR, embed
    >>> turing.show(embed(3, (AND(2), [0, 2], 0), (NOR(2), [0, 2], 2)), turing.Layout(a=1, b=1, c=1))
    a ← ReLU(a + c − 1)   AND(a, c)
    c ← ReLU(1 − a − c)   NOR(a, c)
    >>> turing.show(XOR(), turing.Layout(a=1, b=1)).layers[2][0].of_inputs
    'XOR(a, b)'

    Chapter: :doc:`/book/gates`.
    """
    found = ir.of(network, layout)
    if found.loop is None:
        return Equations(_shown(found.parts))
    layers: list[tuple[Line, ...]] = []
    headings: list[str] = []
    for module in found.modules:
        shown = _shown(module.parts)
        layers += shown
        kind = f"{module.name}, {module.title}"
        headings += [f"{kind}, layer {n} of {len(shown)}" if len(shown) > 1 else kind for n in range(1, len(shown) + 1)]
    return Equations(tuple(layers), tuple(headings))


def _shown(parts: Sequence[ir.Part]) -> tuple[tuple[Line, ...], ...]:
    """The lines of parts that work one after the other, the first of them on places that are 0 or 1."""
    inputs = names_read(parts[0])
    places = [Place([0.0, 1.0], (i,), 1.0) for i in range(len(inputs))]
    range_before = len(ir.ACTIVATIONS)  # what comes in is as it should be
    shown = []
    for number, part in enumerate(parts):
        range_after = 0
        if isinstance(part, ir.Layer | ir.Convolution):
            if number and isinstance(part, ir.Convolution):  # what a neighbour holds depends on other inputs
                places = [Place(None, one=place.one) for place in places] * part.weight.shape[2]
            range_after = ir.ACTIVATIONS.index(part.activation)
            lines, places = _rows(part, places, inputs if number else None, clips=range_after > range_before)
        elif isinstance(part, ir.Attention):
            lines, places = [Line(*line) for line in heads.lines(part)], [UNKNOWN] * part.width_out
        else:
            lines = []
            for name in part.slices:
                if isinstance(part, ir.Argmax):
                    value, result = f"one-hot at the maximum of {_visible(name)}", Place(None, one=1.0)
                else:
                    value, result = "({0} − mean {0}) / ‖{0} − mean {0}‖".format(_visible(name)), UNKNOWN
                lines.append(Line(_visible(name), value))
                for i in part.inputs[name]:
                    places[i] = result
        shown.append(tuple(lines))
        range_before = range_after
    return tuple(shown)


def _rows(
    part: ir.Layer | ir.Convolution, places: list[Place], inputs: list[str] | None, clips: bool
) -> tuple[list[Line], list[Place]]:
    """The rows that change something, and what every place then holds.

    Where the activation ``clips`` what comes in, a row that passes its place on changes something too. ``inputs`` are
    the names of the network's inputs, or None for the first part, which reads just these.
    """
    before, after = names_read(part), [_visible(name) for name in part.outputs.names()]
    clamp = part.activation == "clamp"
    own = part.radius * part.width_in if isinstance(part, ir.Convolution) else 0  # where the cell itself begins
    lines, results = {}, []
    for i, row in enumerate(part.rows):  # σ is for all numbers from 0 to 1, so there are no gates of bits
        gate, result = ("", UNKNOWN) if clamp else read(row, part.activation == "relu", places, before)
        results.append(result)
        if not row.terms and not row.bias:
            lines[i] = Line(after[i], "0")
        elif clips or not passes(row, before, after[i], None if clamp else own + i):
            of_inputs = result.named(inputs) if inputs else ""
            room = LONGEST if gate or of_inputs else LONGEST_ALONE
            lines[i] = Line(after[i], written(row, before, room, part.activation), gate, of_inputs)
    for slice_ in part.outputs:  # one that is cleared as a whole takes one line
        if slice_.size > 1 and all(i in lines and lines[i].value == "0" for i in slice_):
            lines = {i: line for i, line in lines.items() if i not in slice_}
            lines[slice_.start] = Line(_visible(slice_.name), "0")
    return [lines[i] for i in sorted(lines)], results


def passes(row: ir.Row, before: list[str], name: str, place: int | None = None) -> bool:
    """Whether a row is a place of that name, and nothing else; and stands where it stood, if a place is given."""
    if row.bias or len(row.terms) != 1:
        return False
    ((j, weight),) = row.terms
    return weight == 1 and before[j] == name and place in (None, j)


def names_read(part: ir.Part) -> list[str]:
    """The names of what a part reads; a convolution reads a cell and its neighbours, from left to right."""
    names = [_visible(name) for name in part.inputs.names()]
    if not isinstance(part, ir.Convolution):
        return names
    return [f"{_side(d)}{name}" for d in range(-part.radius, part.radius + 1) for name in names]


def _side(d: int) -> str:
    """What stands before the name of a place of a neighbour: left st[A], left2 st[A] for the one after that."""
    return f"{'left' if d < 0 else 'right'}{abs(d) if abs(d) > 1 else ''} " if d else ""
