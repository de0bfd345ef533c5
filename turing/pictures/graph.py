"""Layout of a state diagram: where the states stand, how the arrows bend, where the labels go.

Chapter: :doc:`/book/00_machines`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from itertools import pairwise

from turing.pictures.base import (
    _number,
    _short,
    _visible,
    _width,
)

RADIUS, TIP = 22, 10  # of a node; length of an arrow head
FONT, LEADING = 15, 19  # of the labels
MOST_LABELLED = 12  # states; a larger machine shows long labels as a number of rules
MOST_LAID_OUT = 30  # states; a larger one is drawn row by row, with its rules as tooltips only

Point = tuple[float, float]


def _places(n: int, arrows: list[tuple[int, int]], halting: set[int]) -> list[tuple[float, list[Point]]]:
    """Places on a grid for the states: short arrows, few crossings, none through a state.

    Local search from several starts; the three best ends, each with what it costs. Columns
    are 1.4 rows wide, and rows come in halves so that a state can stand between two others.
    """
    depth, queue = {0: 0}, [0]
    for state in queue:
        for a, b in arrows:
            if a == state and b not in depth:
                depth[b] = depth[state] + 1
                queue.append(b)
    queue += [state for state in range(n) if state not in depth]
    if n > MOST_LAID_OUT:
        order = {state: rank for rank, state in enumerate(queue)}
        return [(0.0, [(1.4 * (order[state] % 8), order[state] // 8) for state in range(n)])]
    columns = 4 if n <= 8 else 5 if n <= 15 else 6
    halves = 2 * max(4, -(-n // columns) + 1)
    spots = [(1.4 * column, half / 2) for column in range(columns) for half in range(halves)]
    links = sorted({(min(pair), max(pair)) for pair in arrows if pair[0] != pair[1]})
    at_node = [[k for k, link in enumerate(links) if state in link] for state in range(n)]
    forward = [[(a, b) for a, b in arrows if state in (a, b) and depth.get(b, 0) > depth.get(a, 0)]
               for state in range(n)]  # fmt: skip

    # A place is the number of a spot, so that what the search asks for again and again is cached.
    @cache
    def crossing(a, b, c, d):
        return 5 * _cross(spots[a], spots[b], spots[c], spots[d])

    @cache
    def near(spot, a, b):
        distance = _distance(spots[spot], spots[a], spots[b])
        return 8 if distance < 0.36 else 1.5 if distance < 0.55 else 0

    @cache
    def crowded(a, b):
        return 100 * (a // halves == b // halves and abs(a - b) < 2)

    @cache
    def long(a, b):
        (x, y), (u, v) = spots[a], spots[b]
        return 0.5 * ((x - u) ** 2 / 2 + (y - v) ** 2)  # a column counts as a row

    @cache
    def backward(a, b):
        (x, y), (u, v) = spots[a], spots[b]
        return 0 if u > x else 0.7 if v > y else 1.0

    def node_cost(place, state):
        here = place[state]
        x, y = spots[here]
        cost = 2.0 * x if state == 0 else -0.5 * x if state in halting else 0.02 * x
        cost += 0.02 * abs(y - halves / 4)
        cost += sum(crowded(here, there) for there in place) - 100  # not counting itself
        return cost + sum(backward(place[a], place[b]) for a, b in forward[state])

    def link_cost(place, k):
        a, b = links[k]
        p, q = place[a], place[b]
        cost = long(p, q) + sum(near(spot, p, q) for spot in place) - near(p, p, q) - near(q, p, q)
        return cost + sum(crossing(p, q, place[c], place[d]) for c, d in links)

    def local(place, moved):
        touched = {k for state in moved for k in at_node[state]}
        cost = sum(node_cost(place, state) for state in moved) + sum(link_cost(place, k) for k in touched)
        for k, (a, b) in enumerate(links):
            if k not in touched:
                cost += sum(near(place[state], place[a], place[b]) for state in moved)
        return cost

    def improve(place):
        for _ in range(sweeps):
            before = list(place)
            for state in queue:
                now, best = place[state], local(place, [state]) - 1e-6
                around = [place[a + b - state] for a, b in (links[k] for k in at_node[state])] or [now]
                for spot in sorted(range(len(spots)), key=lambda s: sum(long(s, a) for a in around))[:24]:
                    if spot not in place:
                        was, place[state] = place[state], spot
                        if (cost := local(place, [state])) < best:
                            best, now = cost, spot
                        place[state] = was
                place[state] = now
            for i in range(n):
                for j in range(i):
                    cost = local(place, [i, j])
                    place[i], place[j] = place[j], place[i]
                    if local(place, [i, j]) > cost - 1e-6:
                        place[i], place[j] = place[j], place[i]
            if place == before:
                break
        return sum(node_cost(place, i) for i in range(n)) + sum(link_cost(place, k) for k in range(len(links)))

    # The more there is to draw, the fewer starts: a picture takes a second or two, not a minute.
    starts, sweeps = max(1, min(12, 1500 // (n * len(links) or 1))), 8 if n <= MOST_LABELLED else 3
    ends, chance = {}, random.Random(0)
    for start in range(starts):
        place: list[int] = []
        for state in queue:
            # First columns by distance from the initial state, then by chance, the same every time.
            column = int(chance.random() * columns) if start else min(depth.get(state, columns), columns - 1)
            free = [s for s in range(len(spots)) if not any(crowded(s, other) for other in place)]
            place.append(min(free, key=lambda s: (abs(s // halves - column), abs(spots[s][1] - halves / 4))))
        place = [place[queue.index(state)] for state in range(n)]
        cost = improve(place)
        ends[tuple(place)] = cost
    best = sorted(ends.items(), key=lambda end: round(end[1], 6))[:3]
    return [(cost, [spots[spot] for spot in place]) for place, cost in best]


def _cross(p: Point, q: Point, r: Point, s: Point) -> bool:
    def side(a, b, c):
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    return side(p, q, r) * side(p, q, s) < 0 and side(r, s, p) * side(r, s, q) < 0


def _distance(point: Point, p: Point, q: Point) -> float:
    """From a point to the segment from p to q."""
    dx, dy = q[0] - p[0], q[1] - p[1]
    t = ((point[0] - p[0]) * dx + (point[1] - p[1]) * dy) / (dx * dx + dy * dy or 1)
    t = min(1, max(0, t))
    return math.hypot(point[0] - p[0] - t * dx, point[1] - p[1] - t * dy)


def _spread(places: list[Point], states: Sequence[str], labels) -> list[_Node]:
    """From grid to page: columns as far apart as the names and labels between them need."""
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


def _line_width(line) -> float:
    return _width("".join(text for _, text in line), FONT)


@dataclass(frozen=True)
class _Node:
    x: float
    y: float
    half: float  # half the width; the height is twice RADIUS
    name: str
    state: str

    def box(self):
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
        def ring(inset, kind):
            x, y, w, r = self.x - self.half + inset, self.y - RADIUS + inset, self.half - inset, RADIUS - inset
            return (
                f'<rect class="{kind}" x="{_number(x)}" y="{_number(y)}" width="{_number(2 * w)}" '
                f'height="{_number(2 * r)}" rx="{_number(r)}"/>'
            )

        rings = ring(0, "ring") + (ring(4, "ring inner") if halts else "")
        text = f'<text x="{_number(self.x)}" y="{_number(self.y + 6)}">{escape(self.name)}</text>'
        title = "" if self.name == _visible(self.state) else f"<title>{escape(_visible(self.state))}</title>"
        return f'<g class="node{" halting" if halts else ""}" data-state="{number}">{title}{rings}{text}</g>'


class _Edge:
    """An arrow, the ways it could be drawn, and the way chosen."""

    def __init__(self, pair, nodes: list[_Node], label, two_way: bool, entry: bool = False):
        self.pair, self.label, self.two_way = pair, label, two_way
        self.source, self.target = nodes[pair[0]], nodes[pair[1]]
        self.loop = pair[0] == pair[1]
        self.size = max(map(_line_width, label), default=0.0), LEADING * len(label)
        if entry:
            self.ways = [self._arriving(turn) for turn in (4, 3, 5, 2, 6, 1, 7, 0)]
        elif self.loop:
            self.ways = [self._looping(turn) for turn in (6, 2, 0, 4, 7, 5, 1, 3)]
        else:
            bows = (0.2, 0.32, 0.5) if two_way else (0, 0.15, -0.15, 0.3, -0.3, 0.5, -0.5, 0.75, -0.75)
            self.ways = [self._bowed(bow) for bow in bows]
        self.take(self.ways[0])

    def _bowed(self, bow: float):
        a, b = (self.source.x, self.source.y), (self.target.x, self.target.y)
        control = ((a[0] + b[0]) / 2 + bow * (b[1] - a[1]), (a[1] + b[1]) / 2 - bow * (b[0] - a[0]))
        points = self.source.exit(control), control, self.target.exit(control, 2)
        return points, 22 * abs(bow), None

    def _arriving(self, turn: int):
        angle = turn * math.pi / 4
        node, dx, dy = self.target, math.cos(angle), math.sin(angle)
        tail = node.x + dx * (node.half + 38), node.y + dy * (RADIUS + 38)
        tip = node.exit(tail, 2)
        return (tail, ((tail[0] + tip[0]) / 2, (tail[1] + tip[1]) / 2), tip), 2.0 * abs(turn - 4), None

    def _looping(self, turn: int):
        angle, node = turn * math.pi / 4, self.source
        origin = node.x + (node.half - RADIUS) * round(math.cos(angle), 6), node.y

        def off(by, reach):
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
        return points, slant, spot

    def take(self, way) -> None:
        self.points, self.cost, self.spot = way
        self.samples = [_along(self.points, t / 16) for t in range(17)]
        xs, ys = zip(*self.samples, strict=True)
        self.bounds = min(xs) - 3, min(ys) - 3, max(xs) + 3, max(ys) + 3
        if self.spot is None:
            self.spot = next(iter(self.spots()))[0]

    def spots(self) -> Iterator[tuple[Point, float]]:
        """Places for the label with what they cost: beside the line, best in the middle."""
        if self.loop:
            yield self.spot, 0.0
            return
        w, h = self.size
        chord = (self.source.x + self.target.x) / 2, (self.source.y + self.target.y) / 2
        for t in (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74):
            (x, y), (u, v), (p, q) = (_along(self.points, s) for s in (t, t - 0.02, t + 0.02))
            length = math.hypot(p - u, q - v) or 1
            nx, ny = (q - v) / length, (u - p) / length
            if ny > 0.01 or (abs(ny) <= 0.01 and nx < 0):
                nx, ny = -nx, -ny
            for side in (1, -1):
                far = side * (5 + 3 * abs(nx) + abs(nx) * w / 2 + abs(ny) * h / 2)
                inner = self.two_way and side * ((x - chord[0]) * nx + (y - chord[1]) * ny) < 0
                yield (x + nx * far, y + ny * far), 12 * abs(t - 0.5) + 0.4 * (side < 0) + 6 * inner

    def label_box(self, spot: Point | None = None):
        (x, y), (w, h) = spot or self.spot, self.size
        return x - w / 2, y - h / 2, x + w / 2, y + h / 2

    def ends(self):
        return self.points[:: len(self.points) - 1]

    def boxes(self):
        yield self.bounds
        if self.label:
            yield self.label_box()

    def drawn(self) -> str:
        *_, (u, v), (x, y) = self.points
        length = math.hypot(x - u, y - v) or 1
        dx, dy = (x - u) / length, (y - v) / length
        base = x - dx * TIP, y - dy * TIP
        shaft = [*self.points[:-1], (x - dx * (TIP - 1), y - dy * (TIP - 1))]
        head = [(x, y), (base[0] - dy * 4, base[1] + dx * 4), (base[0] + dy * 4, base[1] - dx * 4)]
        curve = "C" if len(shaft) == 4 else "Q"
        text = ""
        if self.label:
            (cx, cy), (_, h) = self.spot, self.size
            for i, line in enumerate(self.label):
                spans = "".join(
                    f'<tspan class="{kind}">{escape(part)}</tspan>' if kind else escape(part) for kind, part in line
                )
                text += f'<tspan x="{_number(cx)}" y="{_number(cy - h / 2 + LEADING * i + 14.5)}">{spans}</tspan>'
            text = f"<text>{text}</text>"
        line = f"M{_pair(shaft[0])}{curve}{' '.join(map(_pair, shaft[1:]))}"
        tip = f"M{'L'.join(map(_pair, head))}z"
        return f'<path class="line" d="{line}"/><path class="tip" d="{tip}"/>{text}'


def _pair(point: Point) -> str:
    return f"{_number(point[0])} {_number(point[1])}"


def _along(points: Sequence[Point], t: float) -> Point:
    """The point at t of a Bézier curve."""
    while len(points) > 1:
        points = [(a + t * (c - a), b + t * (d - b)) for (a, b), (c, d) in pairwise(points)]
    return points[0]


def _route(nodes: list[_Node], edges: list[_Edge]) -> float:
    """Choose how each arrow bends and where its label stands; return what is still in the way."""
    drawn: list[_Edge] = []
    few = len(nodes) <= MOST_LABELLED
    turns = 3 if few else 2 if len(nodes) <= MOST_LAID_OUT else 0
    pace = 2 if few else 4

    def bend_cost(edge):
        cost = edge.cost
        for node in nodes:
            if node is not edge.source and node is not edge.target and _meet(edge.bounds, node.box(), 10):
                near = min(node.away(x, y) for x, y in edge.samples)
                cost += 60 if near < 2 else 8 if near < 10 else 0
        for other in drawn:
            if other is edge or not _meet(edge.bounds, other.bounds, 10):
                continue
            cost += 4 * _crossings(edge.samples[::pace], other.samples[::pace])
            # Arrows that share a state leave and arrive at points of their own.
            cost += sum(6 for p in edge.ends() for q in other.ends() if math.dist(p, q) < 12)
            if edge.loop or other.loop:
                cost += sum(2 for p in edge.samples[2:-2] for q in other.samples[::3] if math.dist(p, q) < 9)
        return cost

    def label_cost(edge, spot):
        if not edge.label:
            return 0.0
        box = edge.label_box(spot)
        cost = 40.0 * sum(_meet(box, node.box(), 3) for node in nodes)
        for other in drawn:
            if other is not edge and other.label and _meet(box, other.label_box(), 6):
                cost += 40
            if _meet(box, other.bounds, 2):
                cost += (3 if other is edge else 9) * sum(_inside(point, box) for point in other.samples)
        return cost

    order = [edge for edge in edges if not edge.loop] + [edge for edge in edges if edge.loop]
    total = 0.0
    for turn in range(turns):
        total = 0.0
        for edge in order:
            ways = []
            for way in edge.ways:
                edge.take(way)
                ways.append((bend_cost(edge), way))
            ways.sort(key=lambda pair: pair[0])
            options = []
            for cost, way in ways if edge.loop else ways[:4]:
                edge.take(way)
                options += [(cost + price + label_cost(edge, spot), way, spot) for spot, price in edge.spots()]
            cost, way, spot = min(options, key=lambda option: round(option[0], 6))
            edge.take(way)
            edge.spot = spot
            total += cost
            if turn == 0:
                drawn.append(edge)
    return total


def _meet(a, b, gap: float) -> bool:
    """Whether two boxes come closer than ``gap``."""
    return a[0] < b[2] + gap and a[2] > b[0] - gap and a[1] < b[3] + gap and a[3] > b[1] - gap


def _crossings(a: list[Point], b: list[Point]) -> int:
    return sum(_cross(p, q, r, s) for p, q in pairwise(a) for r, s in pairwise(b))


def _below_labels(edges: list[_Edge]) -> list[_Edge]:
    """Paint an arrow before the labels that it runs under, as far as that can be."""

    def under(edge):
        return [
            other
            for other in edges
            if other is not edge and other.label
            and any(_inside(point, other.label_box()) for point in edge.samples)
        ]  # fmt: skip

    return sorted(edges, key=lambda edge: -len(under(edge)))


def _inside(point: Point, box) -> bool:
    return box[0] < point[0] < box[2] and box[1] < point[1] < box[3]
