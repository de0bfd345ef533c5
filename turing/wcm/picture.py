"""The architecture of a network, drawn from its modules: Figure 2 of the paper."""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import Any

from torch import nn

from turing.attention import Attention
from turing.layout import FAMILIES, Layout
from turing.network import layers_of, layouts_of
from turing.pictures.base import GROUND, INK, MONO, QUIET, SANS, Picture, _picture
from turing.wcm.network import WCM21
from turing.wcm.pipeline import GetInitialSymbol, claim

__all__ = ["architecture"]

ATTENTION = "var(--turing-attn,#8A3F94)"
FONT, SMALL = 17, 15
LEFT, WIDE, HIGH, GAP = 44, 420, 56, 18  # of the boxes
RAIL = LEFT + WIDE + 62  # the history, to the right of them
RIGHT = RAIL + 52
TITLE = LEFT + 122  # where the names of the columns begin


def architecture(network: WCM21) -> Picture:
    """One step from top to bottom: a box for each module, or for a row of modules of one kind.

    What a box reads and writes is found in its weights. Heads look at the earlier columns, on the right; the one
    cross-attention looks at the word.

    >>> import turing
    >>> architecture(turing.compile(turing.zoo["balanced_parentheses"], "wcm21", T=100))
    <Picture: Architecture of one step. …>

    Chapter: :doc:`/book/05_wcm`.
    """
    rows = [list(group) for _, group in groupby(network.pipeline.items(), key=lambda item: type(item[1]))]
    boxes = [_Box(network, row) for row in rows]
    top, body = 62, []
    bottom = top + len(boxes) * (HIGH + GAP)
    middle = LEFT + WIDE / 2
    w = network.layout.width

    body += [_text(TITLE, 22, f"column t, {w} numbers", "start", FONT), _arrow(middle, 30, top - 2)]
    body.append(_text(RAIL, 22, "history", "middle", FONT, ATTENTION))
    body.append(f'<path style="stroke:{ATTENTION};stroke-width:2;fill:none" d="M{RAIL} 32V{_last(boxes, top) + 2}"/>')
    for number, box in enumerate(boxes):
        y = top + number * (HIGH + GAP)
        body += box.drawn(y)
        body.append(_arrow(middle, y + HIGH, y + HIGH + GAP - 2))
    body.append(_text(TITLE, bottom + 16, f"column t + 1, {w} numbers", "start", FONT))
    back = f"M{TITLE - 8} {bottom + 10}H16V16H{TITLE - 14}"
    body.append(f'<path style="stroke:{INK};stroke-width:1.5;fill:none" d="{back}"/>{_head(TITLE - 8, 16, "right")}')
    body.append(_text(24, bottom + 3, "+ β(t + 1)", "start", SMALL, QUIET))
    return _picture("turing-architecture", RIGHT, bottom + 26, _story(network, boxes), body)


class _Box:
    """Modules of one kind in a row: their name, how many, what they read and write."""

    def __init__(self, network: WCM21, row: list[tuple[str, Any]]):
        self.module, self.count = row[0][1], len(row)
        self.name = type(self.module).__name__
        self.heads = isinstance(self.module, Attention)
        self.cross = isinstance(self.module, GetInitialSymbol)
        found = [_heads(module, network.layout) if self.heads else _layers(module) for _, module in row]
        self.reads, self.at, self.fetch, self.writes = (
            list(dict.fromkeys(name for slices in kind for name in slices)) for kind in zip(*found, strict=True)
        )
        first, *_, last = [{}, {}] if self.heads else [layout.slices for layout in layouts_of(self.module)]
        self.drops = [name for name in first if name not in last]
        self.shape = "" if self.heads else " → ".join(map(str, _widths(self.module)))

    def drawn(self, y: float) -> list[str]:
        colour = ATTENTION if self.heads else INK
        pen = f"fill:{GROUND};stroke:{colour};stroke-width:{2 if self.heads else 1.5}"
        body = [f'<rect x="{LEFT}" y="{y}" width="{WIDE}" height="{HIGH}" rx="4" style="{pen}"/>']
        name = self.name + (f" × {self.count}" if self.count > 1 else "")
        body.append(_text(LEFT + 12, y + 23, name, "start", FONT, colour, "600"))
        right = ", ".join(filter(None, [self.shape, claim(self.module)]))
        body.append(_text(LEFT + WIDE - 12, y + 23, right, "end", SMALL, QUIET))
        spans = (
            f'<tspan dx="{6 if number else 0}" style="font-family:{MONO if mono else SANS};'
            f'fill:{_colour(text) if mono else QUIET}">{escape(text)}</tspan>'
            for number, (text, mono) in enumerate(self.told())
        )
        body.append(f'<text x="{LEFT + 12}" y="{y + 45}" style="font-size:{SMALL}px">{"".join(spans)}</text>')
        if self.heads and not self.cross:
            body.append(_line(RAIL, LEFT + WIDE + 10, y + HIGH / 2))
            body.append(_head(LEFT + WIDE + 3, y + HIGH / 2, "left", ATTENTION))
        if self.cross:
            x = LEFT + WIDE + 30
            body.append(_line(x, LEFT + WIDE + 10, y + HIGH / 2))
            body.append(_head(LEFT + WIDE + 3, y + HIGH / 2, "left", ATTENTION))
            body.append(f'<rect x="{x}" y="{y + 8}" width="74" height="{HIGH - 16}" rx="4" style="{pen}"/>')
            body.append(_text(x + 37, y + 26, "the word,", "middle", SMALL, ATTENTION))
            body.append(_text(x + 37, y + 43, "encoder", "middle", SMALL, ATTENTION))
        return body

    def told(self) -> list[tuple[str, bool]]:
        """The second line, slices in mono."""
        if not self.heads and not self.writes:
            return [("passes everything on but", False), *((name, True) for name in self.drops)]
        if not self.heads:
            return [*((name, True) for name in self.reads), ("→", False), *((name, True) for name in self.writes)]
        where = [("where", False), *((name, True) for name in self.at), ("=", False)]
        asked = [(name, True) for name in self.reads]
        fetched = [(name, True) for name in self.fetch] or [("1", False)]
        return [*fetched, *where, *asked, ("→", False), *((name, True) for name in self.writes)]


def _heads(head: Attention, layout: Layout) -> tuple[list[str], ...]:
    """The slices of a head: those of its query, its key, its value, and those it writes."""
    compared = slice(len(head.null_key) - 1)  # the last is the constant
    maps = head.query.weight, head.key.weight[compared], head.value.weight, head.write.weight.T
    return tuple([layout.of(i).name for _, i in numbers.nonzero().tolist()] for numbers in maps)


def _layers(module: nn.Module) -> tuple[list[str], ...]:
    """The slices that layers read and write: of the rows that do more than pass their place on or clear it."""
    reads: set[str] = set()
    writes: set[str] = set()
    layouts = layouts_of(module)
    for number, layer in enumerate(layers_of(module)):
        inputs, outputs = layouts[number], layouts[number + 1]
        for i, (row, bias) in enumerate(zip(layer.weight, layer.bias, strict=True)):
            used = [j for j, weight in enumerate(row) if weight]
            if used and (bias or used != [i] or row[i] != 1):
                reads |= {inputs.of(j).name for j in used}
                writes.add(outputs.of(i).name)
    named = layouts[0].slices | layouts[-1].slices  # in their order
    return [name for name in named if name in reads], [], [], [name for name in named if name in writes]


def _widths(module: nn.Module) -> list[int]:
    layers = layers_of(module)
    widths = [layers[0].inputs, *(len(layer.weight) for layer in layers)]
    return widths if len(set(widths)) > 1 else widths[:2]


def _last(boxes: list[_Box], top: float) -> float:
    """Where the last arrow from the history starts."""
    number = max(n for n, box in enumerate(boxes) if box.heads and not box.cross)
    return top + number * (HIGH + GAP) + HIGH / 2


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


def _line(x: float, end: float, y: float) -> str:
    return f'<path style="stroke:{ATTENTION};stroke-width:1.5;fill:none" d="M{x:g} {y:g}H{end:g}"/>'


def _head(x: float, y: float, to: str, colour: str = INK) -> str:
    points = {"down": "-5 -8 5 -8", "left": "8 -5 8 5", "right": "-8 -5 -8 5"}[to].split()
    (a, b), (c, d) = ((x + float(u), y + float(v)) for u, v in (points[:2], points[2:]))
    return f'<path style="fill:{colour}" d="M{x:g} {y:g}L{a:g} {b:g}L{c:g} {d:g}Z"/>'


def _story(network: WCM21, boxes: list[_Box]) -> str:
    def box(one: _Box) -> str:
        times = f" × {one.count}" if one.count > 1 else ""
        where = ", looks at the word" if one.cross else ", looks at the history" if one.heads else ""
        return f"{one.name}{times}{where}, {' '.join(text for text, _ in one.told())}"

    return (
        f"Architecture of one step. A column of {network.layout.width} numbers goes through these modules: "
        + "; ".join(map(box, boxes))
        + ". The result, with β of the next step added, is the next column."
    )
