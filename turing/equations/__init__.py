"""A network as equations with names, its gates recognised from the numbers alone.

Chapter: :doc:`/book/01_gates`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from turing.equations.heads import is_head, told
from turing.equations.names import fitting
from turing.equations.rows import Place, Row, read
from turing.layout import Layout
from turing.network import layers_of, layouts_of
from turing.pictures.base import _visible

if TYPE_CHECKING:
    from torch import nn

__all__ = ["Equations", "Line", "show"]

LONGEST, LONGEST_ALONE = 56, 90  # characters of a sum with a name beside it and without; a longer one is cut with …


class Line(NamedTuple):
    """One row of a layer: the place that it writes, the value, the gate that this is, and what it is of the inputs.

    The last two are empty where there is no name; so is the last one in a first layer, where the gate says it.

    Chapter: :doc:`/book/01_gates`.
    """

    place: str
    value: str
    gate: str = ""
    of_inputs: str = ""


@dataclass(frozen=True)
class Equations:
    """The rows of a network that change something, a tuple of :class:`Line` for each layer. Prints as equations.

    ``headings`` stand above the layers, if there are any; else the layers are numbered.

    Chapter: :doc:`/book/01_gates`.
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
    """The equations of a network, layer by layer. Rows that only pass their own place on are left out.

    A gate is named where a row is one for places that are 0 or 1. If it gives 0 or 0.5, it has that factor, as in
    0.5·AND(a, b), and the next layer takes its 0.5 for a 1. In a network of several layers, a further column names
    what a place is of the network's inputs, where that has a name and depends on ten of them at most.

    A head of attention is told as the look-up that its numbers are, and a compiled network module by module.

    >>> from turing.gates import AND, NOR, XOR, embed
    >>> show(embed(3, (AND(2), [0, 2], 0), (NOR(2), [0, 2], 2)), Layout(a=1, b=1, c=1))
    a ← ReLU(a + c − 1)   AND(a, c)
    c ← ReLU(1 − a − c)   NOR(a, c)
    >>> show(XOR(), Layout(a=1, b=1)).layers[2][0].of_inputs
    'XOR(a, b)'

    Chapter: :doc:`/book/01_gates`.
    """
    if hasattr(network, "pipeline"):
        return _modules(network)
    if is_head(network):
        head: Any = network
        own: Any = layout or getattr(head, "layout", None) or Layout(x=head.query.weight.shape[1])
        return Equations((tuple(Line(*line) for line in told(head, own)),))
    if hasattr(network, "numerators"):
        return _saturated(network)
    layers, layouts = layers_of(network), layouts_of(network, layout)
    names = [[_visible(name) for name in layout.names()] for layout in layouts]
    places = [Place([0.0, 1.0], (i,), 1.0) for i in range(layers[0].inputs)]
    shown = []
    for number, layer in enumerate(layers):
        lines, results = {}, []
        before, after = names[number], names[number + 1]
        clips = layer.relu and number > 0 and not layers[number - 1].relu  # even a row of the identity does something
        for i, (weights, bias) in enumerate(zip(layer.weight, layer.bias, strict=True)):
            row = Row([(j, weight) for j, weight in enumerate(weights) if weight], bias, layer.relu)
            gate, result = read(row, places, before)
            results.append(result)
            if not row.terms and not bias:
                lines[i] = Line(after[i], "0")
            elif clips or row.terms != [(i, 1)] or bias or before[i] != after[i]:
                of_inputs = result.named(names[0]) if number else ""
                value = _value(row, before, LONGEST if gate or of_inputs else LONGEST_ALONE)
                lines[i] = Line(after[i], value, gate, of_inputs)
        for part in layouts[number + 1]:  # a slice that is cleared as a whole takes one line
            if part.size > 1 and all(i in lines and lines[i].value == "0" for i in part):
                lines = {i: line for i, line in lines.items() if i not in part}
                lines[part.start] = Line(_visible(part.name), "0")
        shown.append(tuple(lines[i] for i in sorted(lines)))
        places = results
    return Equations(tuple(shown))


def _modules(network: Any) -> Equations:
    """All modules of a compiled network, each under its name."""
    layers: list[tuple[Line, ...]] = []
    headings: list[str] = []
    for name, module in network.pipeline.items():
        part = show(module).layers
        layers += part
        kind = f"{name}, {type(module).__name__}"
        headings += [f"{kind}, layer {n} of {len(part)}" if len(part) > 1 else kind for n in range(1, len(part) + 1)]
    return Equations(tuple(layers), tuple(headings))


def _saturated(layer: Any) -> Equations:
    """A layer of σ, in the numbers that it runs on; rows that pass their own place on are left out."""
    before, after = ([_visible(name) for name in layout.names()] for layout in layer.layouts)
    numbers = layer.rounded() if layer.arithmetic == "exact" else (layer.weight, layer.bias)
    lines = []
    for i, (weights, bias) in enumerate(zip(*(part.tolist() for part in numbers), strict=True)):
        row = Row([(j, weight) for j, weight in enumerate(weights) if weight], bias, False)
        if bias or len(row.terms) != 1 or row.terms[0][1] != 1 or before[row.terms[0][0]] != after[i]:
            lines.append(Line(after[i], f"σ({_value(row, before, LONGEST_ALONE)})" if row.terms or bias else "0"))
    return Equations((tuple(lines),))


def _value(row: Row, names: list[str], room: int) -> str:
    """A row as one writes it by hand: what is taken away comes last, and it is 1 − a rather than −a + 1."""

    def signed(number: float, text: str) -> str:
        return f"{'−' if number < 0 else '+'} {text}"

    added = [(j, weight) for j, weight in row.terms if weight > 0]
    taken = [(j, weight) for j, weight in row.terms if weight < 0]
    terms = [
        signed(weight, names[j] if abs(weight) == 1 else f"{_size(weight)} {names[j]}")
        for j, weight in [*added, *taken]
    ]
    constant = [signed(row.bias, _size(row.bias))] if row.bias else []
    first, last = (constant, []) if row.bias > 0 and not added else ([], constant)
    kept = fitting(terms, room)
    cut = [f"{terms[kept][0]} … ({len(terms)} terms)"] if kept < len(terms) else []
    text = " ".join([*first, *terms[:kept], *cut, *last])
    text = text[2:] if text.startswith("+") else text.replace("− ", "−", 1)
    return f"ReLU({text})" if row.relu else text


def _size(number: float) -> str:
    """A number without its sign: whole ones in full, others to six digits."""
    return f"{abs(number):.0f}" if float(number).is_integer() and abs(number) < 1e9 else f"{abs(number):.6g}"
