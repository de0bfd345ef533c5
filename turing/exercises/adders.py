"""The exercises of the chapter Adders. Numbers are little-endian: bit 0 is the least significant."""

from __future__ import annotations

from turing.exercises.own_network import own_adder
from turing.exercises.weights import WeightPuzzle, bits


def binary(number: int, places: int) -> list[int]:
    """The bits of a number in so many places, the least significant first."""
    return [number >> k & 1 for k in range(places)]


EXERCISES = {
    "full_adder": WeightPuzzle(
        bits("a b c"),
        bits("sum carry"),
        lambda a, b, c: binary(a + b + c, 2),
        hidden=(3,),
        most_layers=3,
        best=[([[-1, -1, -1], [-1, -1, -1], [1, 1, 1]], [2, 1, -2]), ([[1, -2, 1], [-1, 0, 0]], [0, 1])],
    ),
    "subtractor": WeightPuzzle(
        bits("a b c"),
        bits("difference borrow"),
        lambda a, b, c: ((a - b - c) % 2, int(a - b - c < 0)),
        hidden=(3,),
        best=[([[1, -1, -1], [1, -1, -1], [-1, 1, 1]], [1, 0, -1]), ([[-1, 2, -1], [-1, 0, 0]], [1, 1])],
    ),
    "increment": WeightPuzzle(
        bits("p0 p1 p2"),
        bits("q0 q1 q2"),
        lambda p0, p1, p2: binary(p0 + 2 * p1 + 4 * p2 + 1, 3),
        hidden=(5,),
        most_layers=2,
        best=[
            ([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]], [0, 0, 0, -1, -2]),
            ([[-1, 0, 0, 0, 0], [1, 1, 0, -2, 0], [0, 0, 1, 1, -2]], [1, 0, 0]),
        ],
    ),
    "multiplier": WeightPuzzle(
        bits("a0 a1 b0 b1"),
        bits("p0 p1 p2 p3"),
        lambda a0, a1, b0, b1: binary((a0 + 2 * a1) * (b0 + 2 * b1), 4),
        hidden=(5,),
        most_layers=2,
        best=[
            ([[1, 0, 1, 0], [0, 1, 1, 0], [1, 0, 0, 1], [0, 1, 0, 1], [1, 1, 1, 1]], [-1, -1, -1, -1, -3]),
            ([[1, 0, 0, 0, 0], [0, 1, 1, 0, -2], [0, 0, 0, 1, -1], [0, 0, 0, 0, 1]], [0, 0, 0, 0]),
        ],
    ),
    "own_adder": own_adder,
}
