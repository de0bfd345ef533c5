"""The exercises of the chapter Gates."""

from __future__ import annotations

from turing.exercises.own_network import own_gate
from turing.exercises.weights import LITERALS, WeightPuzzle, bits

IDENTITY = [([[float(i == j) for j in range(4)] for i in range(4)], [0.0] * 4)]

EXERCISES = {
    "equal_bits": WeightPuzzle(
        bits("a b"),
        bits("out"),
        lambda a, b: int(a == b),
        hidden=(2,),
        best=[([[1, -1], [-1, 1]], [0, 0]), ([[-1, -1]], [1])],
    ),
    "embedded": WeightPuzzle(
        bits("x0 x1 x2 x3"),
        bits("x0 x1 x2 x3"),
        lambda x0, x1, x2, x3: (int(x0 and x2), x1, int(not (x0 or x2)), x3),
        hidden=(),
        most_layers=1,
        start=IDENTITY,
        best=[([[1, 0, 1, 0], [0, 1, 0, 0], [-1, 0, -1, 0], [0, 0, 0, 1]], [-1, 0, 1, 0])],
        proof=LITERALS,
    ),
    "multiplexer": WeightPuzzle(
        bits("s a b"),
        bits("out"),
        lambda s, a, b: b if s else a,
        hidden=(2,),
        best=[([[-1, 1, 0], [1, 0, 1]], [0, -1]), ([[1, 1]], [0])],
    ),
    "majority": WeightPuzzle(
        bits("a b c"),
        bits("out"),
        lambda a, b, c: int(a + b + c >= 2),
        hidden=(2,),
        most_neurons=3,
        best=[([[-1, -1, -1]], [2]), ([[-1]], [1])],
        proof="one neuron is an AND of literals, a majority is not, and each input needs a weight",
    ),
    "own_gate": own_gate,
}
