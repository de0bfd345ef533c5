"""Layers and heads on vectors that can be listed: where a column is one of finitely many, the proof tries them all.

Chapter: :doc:`/book/all-words`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np

from turing import ir
from turing.machine import TuringMachine
from turing.proof.exactness import Precision, Uncovered
from turing.proof.proof import Counterexample
from turing.proof.search import parts, short_words

__all__ = ["added", "dots", "first_word", "numbers", "precision_of", "through"]

ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "none": lambda x: x, "relu": lambda x: np.maximum(x, 0), "clamp": lambda x: np.clip(x, 0, 1),
}  # fmt: skip


def precision_of(network: ir.Network) -> Precision:
    """How exactly the sums of a network are computed: as its floats do it, or as float64 holds integers.

    Chapter: :doc:`/book/all-words`.
    """
    for each in network.numbers():
        kind = str(each.values.dtype).removeprefix("torch.")
        if kind != ("int64" if network.arithmetic == "exact" else network.arithmetic) or each.denominator not in (
            None,
            1,
        ):
            raise Uncovered(f"{each.name} is of {kind}, in a network of {network.arithmetic} numbers")
    return Precision("float64" if network.arithmetic == "exact" else network.arithmetic)


def numbers(part: ir.Layer) -> tuple[np.ndarray, np.ndarray]:
    """The weight and the bias of a layer.

    Chapter: :doc:`/book/all-words`.
    """
    weight, bias = (each.values.double().numpy() for each in (part.weight, part.bias))
    return weight, bias


def through(layers: Sequence[ir.Layer], x: np.ndarray, precision: Precision) -> np.ndarray:
    """What layers make of vectors, a row each; raises :class:`turing.proof.Undecided` where a sum may be rounded.

    Chapter: :doc:`/book/all-words`.
    """
    for layer in layers:
        weight, bias = numbers(layer)
        bounds = (np.abs(x) @ np.abs(weight).T + np.abs(bias)).max(axis=0)
        values = [np.unique(column).tolist() for column in x.T]
        for i, (terms, own) in enumerate(layer.rows):
            each = [(1.0, [float(own)]), *((float(w), values[j]) for j, w in terms)]
            precision.check(each, float(bounds[i]), f"{layer.name}, row {i},")
        x = ACTIVATIONS[layer.activation](x @ weight.T + bias)
    return x


def added(one: np.ndarray, other: np.ndarray, precision: Precision, where: str) -> np.ndarray:
    """The sum of vectors, row by row; raises where it may be rounded.

    Chapter: :doc:`/book/all-words`.
    """
    bound = float((np.abs(one) + np.abs(other)).max(initial=0.0))
    precision.check([(1.0, np.unique(part).tolist()) for part in (one, other)], bound, where)
    return one + other


def dots(queries: np.ndarray, keys: np.ndarray, precision: Precision, where: str) -> np.ndarray:
    """The score of each query with each key; raises where it may be rounded.

    Chapter: :doc:`/book/all-words`.
    """
    terms = [
        (value, np.unique(column).tolist())
        for query, column in zip(queries.T, keys.T, strict=True) for value in np.unique(query).tolist()
    ]  # fmt: skip
    bound = float((np.abs(queries).max(axis=0, initial=0.0) * np.abs(keys).max(axis=0, initial=0.0)).sum())
    precision.check(terms, bound, f"{where}, a score,")
    return queries @ keys.T


def first_word(
    network: Any, machine: TuringMachine, words: Iterable[Sequence[str]] | None = None, steps: int = 40
) -> Counterexample | None:
    """A word on which a run of a network goes wrong, if it is among a few short ones.

    Chapter: :doc:`/book/all-words`.
    """
    for word in islice(short_words(machine, 8), 60) if words is None else words:
        if step := parts(network, machine, word, steps):
            text = "".join(word) if all(len(symbol) == 1 for symbol in word) else word
            return Counterexample("word", step, text, machine.initial)
    return None
