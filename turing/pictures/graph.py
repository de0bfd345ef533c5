"""Nodes and arrows of a state diagram: how the arrows bend, and where the labels go.

Chapter: :doc:`/book/machines`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from html import escape
from itertools import pairwise
from typing import Any

from turing.pictures.base import _number, _short, _visible, _width
from turing.pictures.places import Arrow, Point, _cross

RADIUS, TIP = 22, 10  # of a node; length of an arrow head
FONT, LEADING = 15, 19  # of the labels
MAX_LABELLED = 12  # states; a larger machine shows long labels as a number of rules
MAX_STATES, MAX_ARROWS = 30, 90  # with more of either, states are in rows and rules are only tooltips

Box = tuple[float, float, float, float]  # left, top, right, bottom
Label = Sequence[Sequence[tuple[str, str]]]  # lines of (class, text)


def _spread(places: list[Point], states: Sequence[str], labels: Mapping[Arrow, Label]) -> list[_Node]:
    """From grid to page: columns are as far apart as the names and labels between them require."""
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


def _line_width(line: Sequence[tuple[str, str]]) -> float:
    return _width("".join(text for _, text in line), FONT)


@dataclass(frozen=True)
class _Node:
    x: float
    y: float
    half: float  # half the width; the height is twice RADIUS
    name: str
    state: str

    def box(self) -> Box:
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
        def ring(inset: float, kind: str) -> str:
            x, y, w, r = self.x - self.half + inset, self.y - RADIUS + inset, self.half - inset, RADIUS - inset
            return (
                f'<rect class="{kind}" x="{_number(x)}" y="{_number(y)}" width="{_number(2 * w)}" '
                f'height="{_number(2 * r)}" rx="{_number(r)}"/>'
            )

        rings = ring(0, "ring") + (ring(4, "ring inner") if halts else "")
        text = f'<text x="{_number(self.x)}" y="{_number(self.y + 6)}">{escape(self.name)}</text>'
        title = "" if self.name == _visible(self.state) else f"<title>{escape(_visible(self.state))}</title>"
        return f'<g class="node{" halting" if halts else ""}" data-state="{number}">{title}{rings}{text}</g>'


class _Way:
    """One way to draw an arrow: its line, and the boxes that its label could fill."""

    def __init__(self, edge: _Edge, points: Sequence[Point], cost: float, spot: Point | None = None):
        self.edge, self.points, self.cost, self.spot = edge, points, cost, spot
        self.ends = points[0], points[-1]
        self.samples = [_along(points, t / 16) for t in range(17)]
        xs, ys = zip(*self.samples, strict=True)
        self.bounds = min(xs) - 3, min(ys) - 3, max(xs) + 3, max(ys) + 3

    @cached_property
    def boxes(self) -> list[tuple[Box, float]]:
        """Boxes for the label with what they cost: beside the line, best in the middle."""
        w, h = self.edge.size
        return [((x - w / 2, y - h / 2, x + w / 2, y + h / 2), cost) for (x, y), cost in self._spots()]

    def _spots(self) -> Iterator[tuple[Point, float]]:
        if self.spot:
            yield self.spot, 0.0
            return
        edge, (w, h) = self.edge, self.edge.size
        chord = (edge.source.x + edge.target.x) / 2, (edge.source.y + edge.target.y) / 2
        for t in (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74):
            (x, y), (u, v), (p, q) = (_along(self.points, s) for s in (t, t - 0.02, t + 0.02))
            length = math.hypot(p - u, q - v) or 1
            nx, ny = (q - v) / length, (u - p) / length
            if ny > 0.01 or (abs(ny) <= 0.01 and nx < 0):
                nx, ny = -nx, -ny
            for side in (1, -1):
                far = side * (5 + 3 * abs(nx) + abs(nx) * w / 2 + abs(ny) * h / 2)
                inner = edge.two_way and side * ((x - chord[0]) * nx + (y - chord[1]) * ny) < 0
                yield (x + nx * far, y + ny * far), 12 * abs(t - 0.5) + 0.4 * (side < 0) + 6 * inner


class _Edge:
    """An arrow, the ways it could be drawn, and the way chosen."""

    draw: Callable[[float], _Way]
    choices: Sequence[float]  # the arguments that draw may be given

    def __init__(self, pair: Arrow, nodes: list[_Node], label: Label, two_way: bool, entry: bool = False):
        self.pair, self.label, self.two_way = pair, label, two_way
        self.source, self.target = nodes[pair[0]], nodes[pair[1]]
        self.loop = pair[0] == pair[1]
        self.size = max(map(_line_width, label), default=0.0), LEADING * len(label)
        if entry:
            self.draw, self.choices = self._arriving, (4, 3, 5, 2, 6, 1, 7, 0)
        elif self.loop:
            self.draw, self.choices = self._looping, (6, 2, 0, 4, 7, 5, 1, 3)
        else:
            self.draw = self._bowed
            self.choices = (0.2, 0.32, 0.5) if two_way else (0, 0.15, -0.15, 0.3, -0.3, 0.5, -0.5, 0.75, -0.75)
        self.way = self.draw(self.choices[0])
        self.box: Box | Any = None  # of the label, once one is chosen

    @cached_property
    def ways(self) -> list[_Way]:
        return list(map(self.draw, self.choices))

    def _bowed(self, bow: float) -> _Way:
        a, b = (self.source.x, self.source.y), (self.target.x, self.target.y)
        control = ((a[0] + b[0]) / 2 + bow * (b[1] - a[1]), (a[1] + b[1]) / 2 - bow * (b[0] - a[0]))
        points = self.source.exit(control), control, self.target.exit(control, 2)
        return _Way(self, points, 22 * abs(bow))

    def _arriving(self, turn: float) -> _Way:
        angle = turn * math.pi / 4
        node, dx, dy = self.target, math.cos(angle), math.sin(angle)
        tail = node.x + dx * (node.half + 38), node.y + dy * (RADIUS + 38)
        tip = node.exit(tail, 2)
        middle = (tail[0] + tip[0]) / 2, (tail[1] + tip[1]) / 2
        return _Way(self, (tail, middle, tip), 2.0 * abs(turn - 4), middle)

    def _looping(self, turn: float) -> _Way:
        angle, node = turn * math.pi / 4, self.source
        origin = node.x + (node.half - RADIUS) * round(math.cos(angle), 6), node.y

        def off(by: float, reach: float) -> Point:
            return origin[0] + reach * math.cos(angle + by), origin[1] + reach * math.sin(angle + by)

        points = (
            node.exit(off(-0.42, 99), 0, origin), off(-0.52, RADIUS + 46), off(0.52, RADIUS + 46),
            node.exit(off(0.42, 99), 2, origin),
        )  # fmt: skip
        apex = off(0, RADIUS + 34)
        w, h = self.size
        dx, dy = math.cos(angle), math.sin(angle)
        spot = apex[0] + dx * (w / 2 + 5) * (abs(dx) > 0.1), apex[1] + dy * (h / 2 + 3)
        slant = 0 if turn in (2, 6) else 1.5 if turn in (0, 4) else 2.5  # above or below looks best
        return _Way(self, points, slant, spot)

    def boxes(self) -> list[Box]:
        return [self.way.bounds, self.box] if self.label else [self.way.bounds]

    def drawn(self) -> str:
        *_, (u, v), (x, y) = self.way.points
        length = math.hypot(x - u, y - v) or 1
        dx, dy = (x - u) / length, (y - v) / length
        base = x - dx * TIP, y - dy * TIP
        shaft = [*self.way.points[:-1], (x - dx * (TIP - 1), y - dy * (TIP - 1))]
        head = [(x, y), (base[0] - dy * 4, base[1] + dx * 4), (base[0] + dy * 4, base[1] - dx * 4)]
        curve = "C" if len(shaft) == 4 else "Q"
        text = ""
        if self.label:
            middle, top = _number((self.box[0] + self.box[2]) / 2), self.box[1] + 14.5
            for i, line in enumerate(self.label):
                spans = "".join(
                    f'<tspan class="{kind}">{escape(part)}</tspan>' if kind else escape(part) for kind, part in line
                )
                text += f'<tspan x="{middle}" y="{_number(top + LEADING * i)}">{spans}</tspan>'
            text = f"<text>{text}</text>"
        path = f"M{_pair(shaft[0])}{curve}{' '.join(map(_pair, shaft[1:]))}"
        tip = f"M{'L'.join(map(_pair, head))}z"
        return f'<path class="line" d="{path}"/><path class="tip" d="{tip}"/>{text}'


def _pair(point: Point) -> str:
    return f"{_number(point[0])} {_number(point[1])}"


def _along(points: Sequence[Point], t: float) -> Point:
    """The point at t of a Bézier curve."""
    while len(points) > 1:
        points = [(a + t * (c - a), b + t * (d - b)) for (a, b), (c, d) in pairwise(points)]
    return points[0]


def _route(nodes: list[_Node], edges: list[_Edge]) -> float:
    """Choose how each arrow bends and where its label goes; return the cost of what is still in the way."""
    drawn: list[_Edge] = []
    boxes = [node.box() for node in nodes]
    turns, pace = (3, 2) if len(nodes) <= MAX_LABELLED else (2, 4)

    @cache
    def alone(way: _Way) -> float:
        """The cost of a way by itself: its shape, and the states that it runs into."""
        cost = way.cost
        for node, box in zip(nodes, boxes, strict=True):
            if node is not way.edge.source and node is not way.edge.target and _meet(way.bounds, box, 10):
                near = min(node.away(x, y) for x, y in way.samples)
                cost += 60 if near < 2 else 8 if near < 10 else 0
        return cost

    @cache
    def clash(way: _Way, other: _Way) -> int:
        if not _meet(way.bounds, other.bounds, 10):
            return 0
        cost = 4 * _crossings(way.samples[::pace], other.samples[::pace])
        # Arrows that share a state should leave and arrive at different points.
        cost += sum(6 for p in way.ends for q in other.ends if math.dist(p, q) < 12)
        if way.edge.loop or other.edge.loop:
            cost += sum(2 for p in way.samples[2:-2] for q in other.samples[::3] if math.dist(p, q) < 9)
        return cost

    def label_cost(edge: _Edge, way: _Way, box: Box, limit: float) -> float:
        """The cost of a label in this box; from ``limit`` on, the exact cost does not matter."""
        if not edge.label:
            return 0.0
        cost = 40.0 * sum(_meet(box, other, 3) for other in boxes)
        cost += 40.0 * sum(_meet(box, other.box, 6) for other in drawn if other.label and other is not edge)
        for other in drawn:
            if cost >= limit:
                break
            line = way if other is edge else other.way
            cost += (3 if other is edge else 9) * _under(line, box)
        return cost

    order = [edge for edge in edges if not edge.loop] + [edge for edge in edges if edge.loop]
    total = 0.0
    for turn in range(turns):
        total = 0.0
        for edge in order:
            ways = [(alone(way) + sum(clash(way, o.way) for o in drawn if o is not edge), way) for way in edge.ways]
            ways.sort(key=lambda pair: pair[0])
            best = math.inf
            for bend, way in ways if edge.loop else ways[:4]:
                for box, price in way.boxes:
                    cost = bend + price
                    if cost < best:
                        cost += label_cost(edge, way, box, best - cost)
                    if cost < best - 1e-6:
                        best, edge.way, edge.box = cost, way, box
            total += best
            if turn == 0:
                drawn.append(edge)
    return total


def _meet(a: Box, b: Box, gap: float) -> bool:
    """Whether two boxes come closer than ``gap``."""
    return a[0] < b[2] + gap and a[2] > b[0] - gap and a[1] < b[3] + gap and a[3] > b[1] - gap


def _crossings(a: list[Point], b: list[Point]) -> int:
    """How often two chains of segments cross."""
    count = 0
    for (x, y), (u, v) in pairwise(a):
        dx, dy = u - x, v - y
        sides = [dx * (q - y) - dy * (p - x) > 0 for p, q in b]
        if True in sides and False in sides:
            for i, (one, other) in enumerate(pairwise(sides)):
                count += one != other and _cross((x, y), (u, v), b[i], b[i + 1])
    return count


def _under(way: _Way, box: Box) -> int:
    """How many sample points of a line are in a box."""
    left, top, right, bottom = box
    return _meet(way.bounds, box, 0) and sum(left < x < right and top < y < bottom for x, y in way.samples)


def _below_labels(edges: list[_Edge]) -> list[_Edge]:
    """The arrows in an order in which, as far as possible, each is painted before the labels that it runs under."""
    labelled = [edge for edge in edges if edge.label]
    return sorted(
        edges,
        key=lambda edge: -sum(_under(edge.way, other.box) > 0 for other in labelled if other is not edge),
    )
