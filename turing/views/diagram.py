"""The architecture of a network, drawn from its modules: Figure 2 of the paper.

Chapter: :doc:`/book/wcm21`.
"""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from turing import ir
from turing.arguments import count
from turing.layout import FAMILIES
from turing.pictures.base import ATTENTION, GROUND, INK, MONO, QUIET, SANS, Picture, _picture, _visible, _width
from turing.views.equations import names_read, passes

if TYPE_CHECKING:
    from torch import nn

__all__ = ["architecture"]

FONT, SMALL = 17, 15
LEFT, WIDE, HIGH, GAP = 30, 402, 56, 18  # of the boxes
LEADING = 20  # of the lines in a box
RAIL = LEFT + WIDE + 62  # the history, to the right of them
RIGHT = RAIL + 14  # as wide as a phone shows without scrolling
ENCODER, ENCODER_FONT = 64, 13  # how wide the box of the word is
TITLE = LEFT + 122  # where the names of the columns begin
PLAIN = ("Argmax", "Attention", "Convolution", "Layer", "Linear", "Lookup", "Norm", "Rational", "Readout", "Sequential")
Words = list[tuple[str, bool]]  # each with whether it is the name of a slice


def architecture(network: nn.Module) -> Picture:
    """A :class:`~turing.pictures.Picture` of one pass, top to bottom. Each module has a box, and modules of one kind in
    a row share a box.

    What a box reads and writes is found in its weights. Heads look at the earlier columns, which stand on the right, or
    at the word. An arrow leads from the result back to the top, with what is added there.

    >>> import turing
    >>> turing.architecture(turing.compile(turing.zoo["balanced_parentheses"], "wcm21", T=100))
    <Picture: Architecture of one step. …>

    Chapter: :doc:`/book/wcm21`.
    """
    found = ir.of(network)
    boxes = [_Box(list(row), number) for number, (_, row) in enumerate(groupby(found.modules, key=_alike), start=1)]
    tops, top = [], 62.0
    for box in boxes:
        tops.append(top)
        top += box.high + GAP
    bottom, middle, ends = top, LEFT + WIDE / 2, _ends(found)

    body = [_text(TITLE, 22, ends[0], "start", FONT), _arrow(middle, 30, 60)]
    if remembered := [(box, y) for box, y in zip(boxes, tops, strict=True) if box.mask not in ("", "cross")]:
        last, y = remembered[-1]
        body.append(_text(RIGHT, 22, "history", "end", FONT, ATTENTION))
        rail = f"M{RAIL} 32V{y + last.high / 2 + 2}"
        body.append(f'<path style="stroke:{ATTENTION};stroke-width:2;fill:none" d="{rail}"/>')
    for box, y in zip(boxes, tops, strict=True):
        body += box.drawn(y)
        body.append(_arrow(middle, y + box.high, y + box.high + GAP - 2))
    body.append(_text(TITLE, bottom + 16, ends[1], "start", FONT))
    if found.loop is not None:
        back = f"M{TITLE - 8} {bottom + 10:g}H16V16H{TITLE - 14}"
        head = _head(TITLE - 8, 16, "right")
        body.append(f'<path style="stroke:{INK};stroke-width:1.5;fill:none" d="{back}"/>{head}')
        if found.loop.add or found.loop.table:
            body.append(_text(24, bottom + 3, "+ β(t + 1)", "start", SMALL, QUIET))
    right = RIGHT if any(box.mask for box in boxes) else LEFT + WIDE + 20
    return _picture("turing-architecture", right, bottom + 26, _story(found, boxes), body)


def _alike(module: ir.Module) -> tuple:
    """What modules share that stand in one box."""
    first = module.parts[0]
    mask = (first.mask, first.offset) if isinstance(first, ir.Attention) else ()
    name = module.name.rstrip("0123456789") if module.title in PLAIN else ""
    return module.title or module.name, name, module.kind, mask, module.claim, tuple(module.layouts)


def _ends(network: ir.Network) -> tuple[str, str]:
    """What stands above the first box, and below the last."""
    before, after = network.layouts[0].width, network.layouts[-1].width
    if network.loop is None:
        return count(before, "number"), count(after, "number")
    if network.loop.state == "cells":
        return f"cells at time t, {before:,} numbers each", f"cells at time t + 1, {after:,} numbers each"
    return f"column t, {before:,} numbers", f"column t + 1, {after:,} numbers"


class _Box:
    """Modules of one kind in a row: their name, how many, what they read and write."""

    def __init__(self, row: list[ir.Module], number: int):
        module = row[0]
        self.kind, self.claim, self.count, part = module.kind, module.claim, len(row), module.parts[0]
        self.name = module.title or f"layer {number}"
        if module.title in PLAIN:
            self.name = module.name if self.count == 1 else module.name.rstrip("0123456789")
        self.mask, self.offset = (part.mask, part.offset) if isinstance(part, ir.Attention) else ("", None)
        self.exact = isinstance(part, ir.Attention) and part.null_key is not None and part.score == "dot"
        found = [_slices(module) for module in row]
        self.reads, self.at, self.fetch, self.writes = (
            list(dict.fromkeys(name for slices in kind for name in slices)) for kind in zip(*found, strict=True)
        )
        self.drops = [name for name in module.inputs.slices if name not in module.outputs.slices]
        self.shape = _shape(module)
        self.lines = _wrapped(self.words())

    @property
    def high(self) -> int:
        return HIGH + LEADING * (len(self.lines) - 1)

    def drawn(self, y: float) -> list[str]:
        colour = ATTENTION if self.mask else INK
        pen = f"fill:{GROUND};stroke:{colour};stroke-width:{2 if self.mask else 1.5}"
        body = [f'<rect x="{LEFT}" y="{y:g}" width="{WIDE}" height="{self.high}" rx="4" style="{pen}"/>']
        name = _visible(self.name) + (f" × {self.count}" if self.count > 1 else "")
        body.append(_text(LEFT + 12, y + 23, name, "start", FONT, colour, "600"))
        right = ", ".join(filter(None, [self.shape, self.claim]))
        body.append(_text(LEFT + WIDE - 12, y + 23, right, "end", SMALL, QUIET))
        for k, line in enumerate(self.lines):
            spans = (
                f'<tspan dx="{6 if number else 0}" style="font-family:{MONO if mono else SANS};'
                f'fill:{_colour(text) if mono else QUIET}">{escape(_visible(text))}</tspan>'
                for number, (text, mono) in enumerate(line)
            )
            place = f'x="{LEFT + 12}" y="{y + 45 + LEADING * k:g}"'
            body.append(f'<text {place} style="font-size:{SMALL}px">{"".join(spans)}</text>')
        middle = y + self.high / 2
        if self.mask:
            end = RIGHT - ENCODER if self.mask == "cross" else RAIL
            way = f"M{end} {middle:g}H{LEFT + WIDE + 10}"
            body.append(f'<path style="stroke:{ATTENTION};stroke-width:1.5;fill:none" d="{way}"/>')
            body.append(_head(LEFT + WIDE + 3, middle, "left", ATTENTION))
        if self.mask == "cross":
            x = RIGHT - ENCODER
            body.append(f'<rect x="{x}" y="{middle - 20:g}" width="{ENCODER - 1}" height="40" rx="4" style="{pen}"/>')
            body.append(_text(x + ENCODER / 2, middle - 3, "the word,", "middle", ENCODER_FONT, ATTENTION))
            body.append(_text(x + ENCODER / 2, middle + 13, "encoder", "middle", ENCODER_FONT, ATTENTION))
        elif note := {"strict": "earlier", "prefix": "+ word", "offset": f"{self.offset} back", "window": "window"}.get(
            self.mask
        ):
            body.append(_text(LEFT + WIDE + 12, middle - 6, note, "start", SMALL, ATTENTION))
        return body

    def words(self) -> Words:
        """What the box does: slices, and words between them."""
        reads, writes, at = ([(name, True) for name in names] for names in (self.reads, self.writes, self.at))
        if self.kind in ("norm", "argmax"):
            return [("one-hot at the maximum of" if self.kind == "argmax" else "normalises", False), *writes]
        if not self.mask:
            if not writes:
                passes = "passes everything on but" if self.drops else "passes everything on"
                return [(passes, False), *((name, True) for name in self.drops)]
            return [*(reads or [("1", False)]), ("→", False), *writes]
        fetched = [(name, True) for name in self.fetch] or [("1", False)]
        if not at:
            which = "the oldest" if self.mask == "window" else "mean of"
            return [(which, False), *fetched, ("→", False), *writes]
        fits = "=" if self.exact else "fits"
        return [*fetched, ("where", False), *at, (fits, False), *reads, ("→", False), *writes]


def _slices(module: ir.Module) -> tuple[list[str], ...]:
    """The slices that a module reads, looks at, fetches and writes."""
    part = module.parts[0]
    if isinstance(part, ir.Attention):
        keys = part.key.rows if part.null_key is None else part.key.rows[:-1]  # the last is the constant
        rows = part.query.rows, keys, part.value.rows
        writes = [part.outputs.of(i).name for i, row in enumerate(part.write.rows) if row.terms or row.bias]
        return *([part.inputs.of(j).name for row in kind for j, _ in row.terms] for kind in rows), writes
    if isinstance(part, ir.Norm):
        return [], [], [], list(part.slices)
    read, written = _changed(module)
    named = module.inputs.slices | module.outputs.slices  # in their order
    return [name for name in named if name in read], [], [], [name for name in named if name in written]


def _changed(module: ir.Module) -> tuple[set[str], set[str]]:
    """The slices that layers read and write: of the rows that do more than pass their place on or clear it."""
    reads: set[str] = set()
    writes: set[str] = set()
    for part in module.parts:
        if isinstance(part, ir.Layer | ir.Convolution):
            before, after = names_read(part), part.outputs.names()
            for i, row in enumerate(part.rows):
                if not passes(row, before, _visible(after[i])) and (row.terms or row.bias > 0):
                    reads |= {part.inputs.of(j % part.width_in).name for j, _ in row.terms}
                    writes.add(part.outputs.of(i).name)
    return reads, writes


def _shape(module: ir.Module) -> str:
    """How many numbers go in and come out, or what kind of module it is."""
    widths, part = [layout.width for layout in module.layouts], module.parts[0]
    shape = " → ".join(f"{width:,}" for width in (widths if len(set(widths)) > 1 else widths[:2]))
    if isinstance(part, ir.Convolution):
        return f"{shape}, {count(part.weight.shape[2], 'cell')}"
    return shape if isinstance(part, ir.Layer) else "" if isinstance(part, ir.Attention) else module.kind


def _wrapped(words: Words) -> list[Words]:
    """The words in lines that fit into a box."""
    lines: list[Words] = [[]]
    room = WIDE - 24.0
    for text, mono in words:
        width = _width(_visible(text), SMALL, 0.6 if mono else 0.52) + 6
        if lines[-1] and width > room:
            lines.append([])
            room = WIDE - 24.0
        lines[-1].append((text, mono))
        room -= width
    return lines


def _colour(name: str) -> str:
    """That of the family; the lighter members of a family are too light for text."""
    family = name.rstrip("0123456789")
    return f"var(--turing-{family},{FAMILIES[family]})" if family in FAMILIES else INK


def _text(x: float, y: float, text: str, anchor: str, size: int, colour: str = INK, weight: str = "400") -> str:
    style = f"font:{weight} {size}px {SANS};fill:{colour}"
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" style="{style}">{escape(text)}</text>'


def _arrow(x: float, y: float, end: float) -> str:
    return (
        f'<path style="stroke:{INK};stroke-width:1.5;fill:none" d="M{x:g} {y:g}V{end - 6:g}"/>{_head(x, end, "down")}'
    )


def _head(x: float, y: float, to: str, colour: str = INK) -> str:
    points = {"down": "-5 -8 5 -8", "left": "8 -5 8 5", "right": "-8 -5 -8 5"}[to].split()
    (a, b), (c, d) = ((x + float(u), y + float(v)) for u, v in (points[:2], points[2:]))
    return f'<path style="fill:{colour}" d="M{x:g} {y:g}L{a:g} {b:g}L{c:g} {d:g}Z"/>'


def _story(network: ir.Network, boxes: list[_Box]) -> str:
    def box(one: _Box) -> str:
        times = f" × {one.count}" if one.count > 1 else ""
        looks = {
            "causal": ", looks at the history",
            "strict": ", looks at the earlier columns",
            "prefix": ", looks at the word and the history",
            "offset": f", looks {one.offset} columns back",
            "cross": ", looks at the word",
            "window": ", looks at the window",
        }.get(one.mask, "")
        return f"{_visible(one.name)}{times}{looks}, {' '.join(_visible(text) for text, _ in one.words())}"

    width, loop = network.layouts[0].width, network.loop
    modules = "; ".join(map(box, boxes))
    if loop is None:
        return f"Architecture of a network. A vector of {count(width, 'number')} goes through: {modules}."
    cells = loop.state == "cells"
    what = f"A row of cells, {width} numbers each," if cells else f"A column of {width} numbers"
    added = ", with β of the next step added," if loop.add or loop.table else ""
    following = f"The result{added} is the next {'row' if cells else 'column'}."
    return f"Architecture of one step. {what} goes through these modules: {modules}. {following}"
