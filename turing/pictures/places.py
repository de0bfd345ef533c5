"""Where the states of a state diagram stand.

Chapter: :doc:`/book/machines`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection, Iterable
from typing import Any

Arrow = tuple[int, int]  # from a state to a state, by their numbers
Point = tuple[float, float]


def _rows(n: int, arrows: Iterable[Arrow]) -> list[Point]:
    """Places for more states than can be laid out carefully: eight in each row."""
    rank = {state: rank for rank, state in enumerate(_depth(n, arrows))}
    return [(1.4 * (rank[state] % 8), rank[state] // 8) for state in range(n)]


def _depth(n: int, arrows: Iterable[Arrow]) -> dict[int, int]:
    """How many arrows each state is away from the initial one, the nearest first and the unreachable last."""
    after: list[list[int]] = [[] for _ in range(n)]
    for a, b in arrows:
        after[a].append(b)
    depth, queue = {0: 0}, [0]
    for state in queue:
        for target in after[state]:
            if target not in depth:
                depth[target] = depth[state] + 1
                queue.append(target)
    return depth | {state: 0 for state in range(n) if state not in depth}


def _places(n: int, arrows: Collection[Arrow], halting: set[int]) -> list[tuple[float, list[Point]]]:
    """Places on a grid for the states: short arrows, few crossings, none through a state.

    A local search from several starts finds them; the best results are returned, at most three, each with its cost.
    Columns are 1.4 rows wide, and there are half rows, so that a state can be between two others.
    """
    depth = _depth(n, arrows)
    columns = 4 if n <= 8 else 5 if n <= 15 else 6
    halves = 2 * max(4, -(-n // columns) + 1)
    spots = [(1.4 * column, half / 2) for column in range(columns) for half in range(halves)]
    size = len(spots)
    links = sorted({(min(pair), max(pair)) for pair in arrows if pair[0] != pair[1]})
    at_node = [[k for k, link in enumerate(links) if state in link] for state in range(n)]
    forward = [[(a, b) for a, b in arrows if state in (a, b) and depth[b] > depth[a]] for state in range(n)]

    # A place is the number of a spot, and a line the number of a pair of spots. The search needs the same
    # values again and again, and summing a map over a table is the fastest way to add them up.
    def ends(line: int) -> tuple[Point, Point]:
        return spots[line // size], spots[line % size]

    def near(spot: int, p: Point, q: Point) -> float:
        distance = _distance(spots[spot], p, q)
        return 8 if distance < 0.36 else 1.5 if distance < 0.55 else 0

    def long(p: Point, q: Point) -> float:
        return 0.5 * ((p[0] - q[0]) ** 2 / 2 + (p[1] - q[1]) ** 2)  # a column counts as much as a row

    def backward(p: Point, q: Point) -> float:
        return 0 if q[0] > p[0] else 0.7 if q[1] > p[1] else 1.0

    crossing = _Table(lambda line: _Table(lambda other: 5 * _cross(*ends(line), *ends(other))))
    nearness = _Table(lambda line: [near(spot, *ends(line)) for spot in range(size)])
    length = [[long(p, q) for q in spots] for p in spots]
    crowded = [[100 * (a // halves == b // halves and abs(a - b) < 2) for b in range(size)] for a in range(size)]

    def node_cost(place: list[int], state: int) -> float:
        here = place[state]
        x, y = spots[here]
        cost = 2.0 * x if state == 0 else -0.5 * x if state in halting else 0.02 * x
        cost += 0.02 * abs(y - halves / 4)
        cost += sum(map(crowded[here].__getitem__, place)) - 100  # not counting itself
        return cost + sum(backward(spots[place[a]], spots[place[b]]) for a, b in forward[state])

    def local(place: list[int], moved: Collection[int], limit: float = math.inf) -> float:
        """The cost of the moved states and of their links; above ``limit``, the exact cost does not matter."""
        lines = [place[a] * size + place[b] for a, b in links]
        touched = {k for state in moved for k in at_node[state]}
        cost = sum(node_cost(place, state) for state in moved)
        for k, line in enumerate(lines):
            if cost > limit:
                break
            if k in touched:
                cost += length[line // size][line % size] + sum(map(crossing[line].__getitem__, lines))
                cost += sum(map(nearness[line].__getitem__, place)) - 16  # not counting its ends
            else:
                cost += sum(nearness[line][place[state]] for state in moved)
        return cost

    def improve(place: list[int]) -> float:
        for _ in range(sweeps):
            before = list(place)
            for state in depth:
                now, best = place[state], local(place, [state]) - 1e-6
                around = [length[place[sum(links[k]) - state]] for k in at_node[state]] or [length[now]]
                for spot in sorted(range(size), key=lambda s: sum(row[s] for row in around))[:24]:
                    if spot not in place:
                        place[state] = spot
                        if (cost := local(place, [state], best)) < best:
                            best, now = cost, spot
                place[state] = now
            for i in range(n):
                for j in range(i):
                    best = local(place, [i, j]) - 1e-6
                    place[i], place[j] = place[j], place[i]
                    if local(place, [i, j], best) > best:
                        place[i], place[j] = place[j], place[i]
            if place == before:
                break
        return local(place, range(n))

    # The more there is to draw, the less is tried, so that no picture takes more than about two seconds.
    starts, sweeps = max(1, min(12, 1500 // (n * len(links) or 1))), 8 if n <= 12 else 3
    ends_kept = max(1, min(3, 120 // len(arrows)))
    found, chance = {}, random.Random(0)
    for start in range(starts):
        place = [-1] * n
        for state in depth:
            # The first start has columns by distance from the initial state, the others random ones, always the same.
            column = int(chance.random() * columns) if start else min(depth[state], columns - 1)
            free = [s for s in range(size) if not any(crowded[s][other] for other in place if other >= 0)]
            place[state] = min(free, key=lambda s: (abs(s // halves - column), abs(spots[s][1] - halves / 4)))
        cost = improve(place)
        found[tuple(place)] = cost
    best = sorted(found.items(), key=lambda end: round(end[1], 6))[:ends_kept]
    return [(cost, [spots[spot] for spot in place]) for place, cost in best]


class _Table(dict):
    """The values of a function, each computed when it is first needed."""

    def __init__(self, function: Callable[[int], Any]):
        self.function = function

    def __missing__(self, key: int) -> Any:
        value = self[key] = self.function(key)
        return value


def _side(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _cross(p: Point, q: Point, r: Point, s: Point) -> bool:
    return _side(p, q, r) * _side(p, q, s) < 0 and _side(r, s, p) * _side(r, s, q) < 0


def _distance(point: Point, p: Point, q: Point) -> float:
    """The distance of a point from the segment from p to q."""
    dx, dy = q[0] - p[0], q[1] - p[1]
    t = ((point[0] - p[0]) * dx + (point[1] - p[1]) * dy) / (dx * dx + dy * dy or 1)
    t = min(1, max(0, t))
    return math.hypot(point[0] - p[0] - t * dx, point[1] - p[1] - t * dy)
