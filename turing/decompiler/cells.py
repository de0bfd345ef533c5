"""Reading the network of a row of cells, two convolutions, from its bare tensors.

Both vectors of it leave a ReLU, so their places may come in any order and have any positive factors. A detector has a
negative bias and reads two places, a state and a symbol; what else is in the first convolution keeps a symbol. In the
second one a rule takes a symbol away, adds another, and puts a state on a neighbour.

Chapter: :doc:`/book/reading-back`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from turing.decompiler.reading import Nearest, Reading, Weight, first_numbers, numbered, require
from turing.decompiler.tensors import Array, Bare, Convolved, Refusal
from turing.decompiler.wcm21 import CLEAR, TINY
from turing.machine import TuringMachine

__all__ = ["read", "shape"]

UNKNOWN = {
    "names": "names of states and symbols are not in the weights; q0, q1, … and 0, 1, … stand for them",
    "initial": "the initial state stands in the first row of cells and not in the weights; give that as first_column",
    "blank": "the blank stands in the first row of cells and not in the weights; give that as first_column",
    "halting": "a halting state and a state without rules have the same weights",
    "cells": "the weights are the same for rows of all lengths",
    "arithmetic": "exact numbers and floats are the same weights",
}
FLOOR = 1e-3  # of the largest bias: what is smaller is noise, if there is any
ON = 0.05  # above this a place is read, written or on; what it is multiplied by may not be known yet
_require = require("a row of cells")


def shape(network: Bare) -> tuple[Convolved, Convolved] | None:
    """The two convolutions; None if it is another network.

    Chapter: :doc:`/book/reading-back`.
    """
    if len(network.parts) != 2 or not all(isinstance(part, Convolved) for part in network.parts):
        return None
    detect, move = network.parts
    assert isinstance(detect, Convolved)
    assert isinstance(move, Convolved)
    (y, x, one), three = detect.weight.shape, move.weight.shape
    relu = detect.activation == move.activation == "relu"
    return (detect, move) if relu and one == 1 and three == (x, y, 3) else None


def read(found: tuple[Convolved, Convolved], first_row: Any = None) -> Reading:
    """The machine, or a refusal.

    Chapter: :doc:`/book/reading-back`.
    """
    near = Nearest()
    detect, bias, move = found[0].weight[:, :, 0], found[0].bias, found[1].weight
    detectors, keepers = _split(bias, near)
    symbols, kept = _kept(detect, keepers)
    states = [x for x in range(detect.shape[1]) if x not in symbols]
    _require(bool(states), "no place is left for a state")
    made, read_by = _factors(detect, bias, move, detectors, symbols, kept)

    # without factors every number is -1, 0 or 1
    plain = near(detect / made[:, None] * read_by, 0, 1)
    moved = near(move * made[:, None] / read_by[:, None, None], -1, 0, 1)
    near(bias / made, -1, 0)
    _require(not near(found[1].bias / read_by, 0, 1).any(), "the second convolution has a bias")
    rules, evidence = {}, {}
    for y in detectors:
        q, a = (np.flatnonzero(plain[y, places]).tolist() for places in (states, symbols))
        _require(len(q) == 1 and len(a) == 1, f"a detector reads {len(q)} states and {len(a)} symbols, not one of each")
        pair = q[0], a[0]
        _require(pair not in rules, "two detectors have the same state and the same symbol")
        rules[pair], places = _rule(moved[:, y], states, symbols, a[0])
        evidence[pair] = [Weight(0, y, x, float(detect[y, x])) for x in (states[q[0]], symbols[a[0]])]
        evidence[pair] += [Weight(1, x, y, float(move[x, y, tap])) for x, tap in places]
    for number, (x, y) in enumerate(zip(symbols, kept, strict=True)):
        alone = np.zeros_like(moved[:, y])
        alone[x, 1] = 1
        _require(np.array_equal(moved[:, y], alone), f"symbol {number} is not kept as it is")
    return _reading(rules, evidence, states, symbols, kept, detectors, made, read_by, near.margin, first_row)


def _split(bias: Array, near: Nearest) -> tuple[list[int], list[int]]:
    """The neurons with a bias that is clearly negative, and the others, whose bias is 0."""
    order, most = np.argsort(bias), np.abs(bias).max(initial=0)
    if not most or len(bias) < 2:
        raise Refusal("The wiring is not that of a row of cells: no neuron of the first convolution detects anything.")
    zeros = int((np.abs(bias) <= TINY * most).sum())
    sizes = np.maximum(-bias[order], FLOOR * most)
    number = len(bias) - zeros if zeros else 1 + int((sizes[:-1] / sizes[1:]).argmax())
    noise = np.abs(bias[order[number:]]).max(initial=0)
    _require(
        0 < number < len(bias) and -bias[order[number - 1]] > CLEAR * noise,
        "the detectors cannot be told from the others",
    )
    near.margin = min(near.margin, 1 + float(noise / bias[order[number - 1]]))
    return sorted(order[:number].tolist()), sorted(order[number:].tolist())


def _kept(detect: Array, keepers: list[int]) -> tuple[list[int], list[int]]:
    """The places of symbols, and the neurons that keep them."""
    pairs = []
    for y in keepers:
        x = int(detect[y].argmax())
        rest = np.abs(np.delete(detect[y], x)).max(initial=0)
        _require(detect[y, x] > CLEAR * rest, "a neuron without a bias should keep one symbol")
        pairs.append((x, y))
    pairs.sort()
    _require(len({x for x, _ in pairs}) == len(pairs), "two neurons keep the same symbol")
    return [x for x, _ in pairs], [y for _, y in pairs]


def _factors(
    detect: Array, bias: Array, move: Array, detectors: list[int], symbols: list[int], kept: list[int]
) -> tuple[Array, Array]:
    """What the neurons and the places are multiplied by. Where nothing tells, a factor is 1."""
    made, read_by = np.ones(len(bias)), np.ones(detect.shape[1])
    made[detectors] = -bias[detectors]
    seen = detect[detectors] / made[detectors][:, None]
    put = np.abs(move[:, detectors] * made[detectors][None, :, None])
    for x in range(detect.shape[1]):
        if (most := seen[:, x].max()) > ON:  # equal for all rules that read this place
            read_by[x] = 1 / _usual(seen[:, x][seen[:, x] > most / 2])
        elif (most := put[x].max()) > ON:  # no rule reads it, and one writes it
            read_by[x] = _usual(put[x][put[x] > most / 2])
    for x, y in zip(symbols, kept, strict=True):
        made[y] = detect[y, x] * read_by[x]
    return made, read_by


def _usual(numbers: Array) -> float:
    """Of numbers that should be equal the one nearest to 1, so that a changed one is told from a factor."""
    return float(numbers[np.abs(np.log(numbers)).argmin()])


def _rule(
    moved: Array, states: list[int], symbols: list[int], under: int
) -> tuple[tuple[int, int, int], list[tuple[int, int]]]:
    """The next state, the symbol that is written and the move, and the places that say so."""
    goes = np.argwhere(moved[states]).tolist()
    _require(len(goes) == 1 and moved[states].sum() == 1, "a rule should put one state on one cell")
    ((target, tap),) = goes
    changes = moved[symbols]
    _require(not changes[:, [0, 2]].any(), "a rule writes to a neighbour")
    added, taken = (np.flatnonzero(changes[:, 1] == sign).tolist() for sign in (1, -1))
    same = not added and not taken
    _require(
        same or (len(added) == 1 and taken == [under]), "a rule should take away what it reads, and write one symbol"
    )
    written = under if same else added[0]
    places = [(states[target], tap)] + [(symbols[a], 1) for a in (*taken, *added)]
    return (target, written, 1 - tap), places


def _reading(
    rules: dict,
    evidence: dict,
    states: list[int],
    symbols: list[int],
    kept: list[int],
    detectors: list[int],
    made: Array,
    read_by: Array,
    margin: float,
    first_row: Any,
) -> Reading:
    unknown, initial, blank = dict(UNKNOWN), None, None
    if first_row is not None:
        initial, blank = _begins(first_row, states, symbols, read_by)
        del unknown["initial"]
        if blank is not None:
            del unknown["blank"]
            unknown["names"] = unknown["names"].replace("0, 1, …", "_, 1, 2, …")
    names, signs = [f"q{q}" for q in range(len(states))], numbered(len(symbols), blank)
    delta = {(names[q], signs[a]): (names[t], signs[b], move) for (q, a), (t, b, move) in sorted(rules.items())}
    idle = {name for name in names if not any(pair[0] == name for pair in delta)}
    first = names[min(q for q, _ in rules) if initial is None else initial]
    machine = TuringMachine(delta, first, idle, signs[blank or 0], alphabet=signs)
    place = {(names[q], signs[a]): y for (q, a), y in zip(rules, detectors, strict=True)}
    order = {
        "column": [symbols[signs.index(a)] for a in machine.symbols] + [states[int(q[1:])] for q in machine.states],
        "0": [kept[signs.index(a)] for a in machine.symbols] + [place[pair] for pair in machine.delta],
    }
    factors = {"column": read_by[order["column"]], "0": made[order["0"]]}
    shown = {(names[q], signs[a]): weights for (q, a), weights in evidence.items()}
    return Reading(machine, "conv", {}, margin, unknown, shown, order, factors)


def _begins(first_row: Any, states: list[int], symbols: list[int], read_by: Array) -> tuple[int, int | None]:
    """The state in a first row of cells, and the blank if it is certain: the word is in the middle, so the first cell
    is blank unless the head is there.
    """
    rows = first_numbers(first_row, None, len(read_by)) / read_by
    heads = np.argwhere(rows[:, states] > ON).tolist()
    if len(heads) != 1:
        raise Refusal(
            f"In the first row of cells the head should be on one cell in one state; {len(heads)} were found."
        )
    ((cell, state),) = heads
    on = np.flatnonzero(rows[0, symbols] > ON).tolist()
    if len(on) != 1:
        raise Refusal(f"The first cell should hold one symbol, and it holds {len(on)}.")
    return state, on[0] if cell else None
