"""The judge of weight puzzles: exercises whose answer is the numbers of a network.

An answer is a sequence of layers ``(W, b)``, and every layer is followed by ReLU. It is tried on every row of a
specification in Python that is slow and easy to believe. The widget ``Puzzle`` shows the same rows on the page.
A right answer gets a score, as in golf: the fewer neurons the better, and of equally many, the fewer weights.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import isfinite
from numbers import Real
from typing import Any, NamedTuple

from turing.arguments import count
from turing.exercises import Wrong
from turing.layout import Layout

__all__ = ["Score", "WeightPuzzle", "bits", "numbers", "score", "values"]

Layers = list[tuple[list[list[float]], list[float]]]
Row = tuple[tuple[int, ...], tuple[int, ...]]

# From the theorem on one neuron.
LITERALS = "in one layer each output is a neuron, and each literal of its AND needs a weight"


class Score(NamedTuple):
    """The size of an answer, less is better; biases are free.

    Chapter: :doc:`/book/gates`.
    """

    neurons: int
    weights: int  # that are not 0

    def __str__(self) -> str:
        return f"{count(self.neurons, 'neuron')} and {count(self.weights, 'non-zero weight')}"


@dataclass(frozen=True)
class WeightPuzzle:
    """Layers of zeros whose numbers the reader sets so that they compute ``function``: an exercise and its judge.

    - ``inputs``, ``outputs``: layouts; ``bits("a b")``, of this module, is one with a slice of one bit for each name
    - ``function``: takes a bit for each slice of ``inputs``, or a label if the slice has labels, and returns a bit for
      each place of ``outputs``
    - ``hidden``: the sizes of the hidden layers in the page's grid, from which the reader may remove neurons; an answer
      in Python may have other sizes
    - ``most_neurons``, ``most_layers``: how many an answer may have; None for any number
    - ``start``: the layers at first, if not zeros
    - ``best``: the smallest answer that we know, as layers
    - ``proof``: the reason why no answer is smaller, if a chapter has one

    An answer is a sequence of layers ``(W, b)``, each followed by ReLU:

    >>> from turing.exercises.weights import WeightPuzzle, bits
    >>> either = WeightPuzzle(bits("a b"), bits("out"), lambda a, b: a | b, hidden=(1,))
    >>> either.rows()[1]
    ((0, 1), (1,))
    >>> either((([[-1, -1]], [1]), ([[-1]], [1])))
    'all 4 rows, with 2 neurons in 2 layers'

    Chapter: :doc:`/book/gates`.
    """

    inputs: Layout
    outputs: Layout
    function: Callable[..., int | Sequence[int]]
    hidden: tuple[int, ...]
    most_neurons: int | None = None
    most_layers: int | None = None
    start: Layers | None = None
    best: Sequence[tuple[Sequence[Sequence[float]], Sequence[float]]] | None = None
    proof: str = ""

    def rows(self) -> list[Row]:
        """Every input with the expected output, in counting order; one place of a labelled slice is 1."""
        found = []
        for given in product(*(part.labels or (0, 1) for part in self.inputs)):
            result = self.function(*given)
            expected = result if isinstance(result, Sequence) else (result,)
            found.append((tuple(self._places(given)), tuple(int(bit) for bit in expected)))
        return found

    def _places(self, given: Sequence[Any]) -> Iterator[int]:
        for part, value in zip(self.inputs, given, strict=True):
            yield from (int(label == value) for label in part.labels) if part.labels else (value,)

    def given(self, row: Sequence[int]) -> list[str]:
        """The content of each slice of a row: a bit, or a label."""
        parts = ((part, row[part.slice]) for part in self.inputs)
        return [part.labels[here.index(1)] if part.labels else str(here[0]) for part, here in parts]

    def row_name(self, row: Sequence[int]) -> str:
        """A row in words: ``a=0 b=1``, or ``st=go sym=0`` where slices have labels."""
        return " ".join(f"{part.name}={value}" for part, value in zip(self.inputs, self.given(row), strict=True))

    def grid(self) -> Layers:
        """The numbers that the page's grid starts with."""
        widths = [self.inputs.width, *self.hidden, self.outputs.width]
        return self.start or [
            ([[0.0] * columns for _ in range(rows)], [0.0] * rows) for columns, rows in pairwise(widths)
        ]

    def read(self, answer: object) -> Layers:
        """The layers of an answer as lists of floats, if they fit each other and the puzzle."""
        layers = numbers(answer)
        before, given = self.inputs.width, _has(self.inputs, "input")
        for number, (W, b) in enumerate(layers, start=1):
            if len(W[0]) != before:
                raise Wrong(f"Layer {number} has {count(len(W[0]), 'column')}, and {given}.")
            before, given = len(b), f"layer {number} gives {count(len(b), 'number')}"
        if before != self.outputs.width:
            raise Wrong(f"{given.capitalize()}, and {_has(self.outputs, 'output')}.")
        neurons = sum(len(b) for _, b in layers)
        for used, limit, noun in ((len(layers), self.most_layers, "layer"), (neurons, self.most_neurons, "neuron")):
            if limit is not None and used > limit:
                allowed = "is allowed" if limit == 1 else "are allowed"
                raise Wrong(f"{count(used, noun)} are used, at most {limit} {allowed}.")
        return layers

    def __call__(self, answer: object) -> str:
        layers, rows = self.read(answer), self.rows()
        for row, expected in rows:
            found = values(layers, row)
            if found[-1] != list(expected):
                lines = [f"  layer {n}  {' '.join(map(shown, x))}" for n, x in enumerate(found, start=1)]
                raise Wrong("\n".join([self.failure(row, found[-1], expected), *lines]))
        neurons = sum(len(b) for _, b in layers)
        right = f"all {len(rows)} rows, with {count(neurons, 'neuron')} in {count(len(layers), 'layer')}"
        return right if self.best is None else f"{right}.\nScore: {self.golf(score(layers))}"

    def golf(self, own: Score) -> str:
        """A score and how it compares with the best known answer's, without the period at the end."""
        best = score(numbers(self.best))
        if own < best:
            return f"{own}. The best known answer has {best.neurons} and {best.weights}: please report yours"
        if own > best:
            return f"{own}. The best known answer has {best.neurons} and {best.weights}"
        return f"{own}. That cannot be beaten: {self.proof}" if self.proof else f"{own}, like the best known answer"

    def failure(self, row: Sequence[int], found: Sequence[float], expected: Sequence[int]) -> str:
        """The sentence about a row whose output is not the expected one; it names only the wrong places."""
        wrong = [
            (name, shown(value), bit)
            for name, value, bit in zip(self.outputs.names(), found, expected, strict=True)
            if value != bit
        ]
        gives = " ".join(f"{name}={value}" for name, value, _ in wrong)
        wanted = " ".join(f"{name}={bit}" for name, _, bit in wrong) if len(wrong) > 1 else f"{wrong[0][2]}"
        return f"For {self.row_name(row)} your network gives {gives}; {wanted} was expected."


def bits(names: str) -> Layout:
    """A layout of single bits, such as ``bits("a b c")``.

    Chapter: :doc:`/book/gates`.
    """
    return Layout(**dict.fromkeys(names.split(), 1))


def values(layers: Layers, row: Sequence[float]) -> list[list[float]]:
    """The output of each layer. The page adds in the same order, so it gets the same floats.

    >>> from turing.exercises.weights import values
    >>> values([([[1, 1]], [-1]), ([[-1]], [1])], [1, 1])
    [[1], [0]]

    Chapter: :doc:`/book/gates`.
    """
    found, x = [], row
    for W, b in layers:
        y = []
        for weights, z in zip(W, b, strict=True):
            for weight, value in zip(weights, x, strict=True):
                z += weight * value  # not sum(), which rounds differently in later versions of Python
            y.append(0 if z <= 0 else z)
        found.append(y)
        x = y
    return found


def score(layers: Layers) -> Score:
    """Count the neurons of an answer, and its weights that are not 0.

    >>> from turing.exercises.weights import score
    >>> print(score([([[1, 0]], [-1]), ([[-1]], [1])]))
    2 neurons and 2 non-zero weights

    Chapter: :doc:`/book/gates`.
    """
    return Score(sum(len(b) for _, b in layers), sum(x != 0 for W, _ in layers for row in W for x in row))


def numbers(answer: object) -> Layers:
    """The layers of an answer as lists of floats: nested lists, tuples, arrays, tensors, or a module of layers.

    Chapter: :doc:`/book/gates`.
    """
    answer = _plain(answer)
    if not isinstance(answer, list):
        raise Wrong(
            f"Your function returned an object of type {type(answer).__name__}. "
            f"Return the layers as pairs of weights and biases: ((W1, b1), (W2, b2))."
        )
    if not answer:
        raise Wrong("Your function returned no layers. Return them as pairs: ((W1, b1), (W2, b2)).")
    if len(answer) == 2 and not (isinstance(answer[1], list) and any(isinstance(x, list) for x in answer[1])):
        answer = [answer]  # a single layer, without the outer brackets
    return [_layer(layer, number) for number, layer in enumerate(answer, start=1)]


def _plain(thing: object) -> object:
    """Whatever holds numbers in order as lists, and the layers of a module as pairs (W, b)."""
    torch = sys.modules.get("torch")  # a reader who returns a module has imported it
    if torch and isinstance(thing, torch.nn.Module):
        from turing import ir

        layers = ir.of(thing).layers
        for number, layer in enumerate(layers, start=1):
            if not layer.relu:
                raise Wrong(f"Layer {number} of your network has no ReLU. Here every layer is followed by one.")
        return [[layer.weight.values.tolist(), layer.bias.values.tolist()] for layer in layers]
    if hasattr(thing, "tolist"):
        thing = thing.tolist()
    return [_plain(part) for part in thing] if isinstance(thing, (list, tuple)) else thing


def _layer(layer: object, number: int) -> tuple[list[list[float]], list[float]]:
    if not isinstance(layer, list) or len(layer) != 2:
        what = f"it has {count(len(layer), 'part')}" if isinstance(layer, list) else f"it is {layer!r}"
        raise Wrong(f"Layer {number} is not a pair (W, b): {what}.")
    W, b = layer
    if not isinstance(W, list) or not W or not all(isinstance(row, list) for row in W):
        raise Wrong(
            f"W of layer {number} is not a list of rows, one row of weights for each neuron, such as [[1, 0], [0, 1]]; "
            f"{_short_repr(W)} was given."
        )
    if not isinstance(b, list):
        raise Wrong(f"b of layer {number} is not a list with one bias for each neuron; {_short_repr(b)} was given.")
    for i, row in enumerate(W, start=1):
        if len(row) != len(W[0]):
            raise Wrong(
                f"Row {i} of W in layer {number} has {count(len(row), 'number')}, and row 1 has {len(W[0])}. "
                f"Give every neuron a weight for each input; 0 is one."
            )
    if len(b) != len(W):
        raise Wrong(
            f"Layer {number} has {count(len(W), 'row')} of weights and {count(len(b), 'bias', 'biases')}. "
            f"Give each row one bias."
        )
    weights = [[_number(x, f"Row {i} of W in layer {number}") for x in row] for i, row in enumerate(W, start=1)]
    return weights, [_number(x, f"b of layer {number}") for x in b]


def _number(x: object, where: str) -> float:
    if not isinstance(x, Real):
        raise Wrong(f"{where} holds {_short_repr(x)}, which is not a number.")
    try:
        x = float(x)
    except OverflowError:
        x = float("inf")
    if not isfinite(x):
        raise Wrong(f"{where} holds {x}. Use finite numbers.")
    return x


def shown(x: float) -> str:
    """The shortest text that no other number has; the page writes numbers in the same way."""
    return str(int(x)) if isfinite(x) and x == int(x) and abs(x) < 1e16 else repr(x)


def _short_repr(thing: object) -> str:
    text = repr(thing)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _has(layout: Layout, noun: str) -> str:
    return f"there {'is' if layout.width == 1 else 'are'} {count(layout.width, noun)}: {' '.join(layout.names())}"
