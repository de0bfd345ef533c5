"""Reading the network of a stack machine, in four layers, from its bare tensors.

Every vector of it leaves a clamp to [0, 1], so its neurons may come in any order and have no other disguise. What a
neuron is for shows in its numbers: only a stack is multiplied by the base, only a rule reads a state. The one thing
that the weights leave open is the order of states, of rules and of stacks.

Chapter: :doc:`/book/reading-back`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from turing.decompiler.reading import Nearest, Weight, require
from turing.decompiler.tensors import Array, Bare, Map, Refusal
from turing.ss.four import OPERATIONS
from turing.stack_machine import StackMachine

__all__ = ["Shape", "Stacks", "orders", "read", "shape"]

LEVELS = {(-1, 0): None, (1, -1): "0", (0, 1): "1"}  # what a rule reads of a stack: whether it has a top, and which
TEXTS = {"noop": "noop", "push0": "push 0", "push1": "push 1", "pop": "pop"}


class Shape(NamedTuple):
    """What the tensors' shapes say: the numbers of states, stacks and rules.

    Chapter: :doc:`/book/reading-back`.
    """

    states: int
    stacks: int
    rules: int
    maps: tuple[Map, ...]


@dataclass
class Stacks:
    """What was read: the machine with neutral names, base and digits, how clear it was, where each rule stands, and the
    neurons by what they are for.

    Chapter: :doc:`/book/reading-back`.
    """

    shape: Shape
    machine: StackMachine
    base: int
    digits: tuple[int, int]
    margin: float
    evidence: dict[tuple, list[Weight]]
    places: dict[str, list[list[int]]]  # by name and vector: for each state, stack or rule its neuron


def shape(network: Bare) -> Shape | None:
    """The sizes of a stack machine's network in four layers; None if it is another network.

    Chapter: :doc:`/book/reading-back`.
    """
    maps = [part for part in network.parts if isinstance(part, Map) and part.activation == "clamp"]
    if len(maps) != 4 or len(network.parts) != 4:
        return None
    column, (seen, detected, applied, after) = maps[0].weight.shape[1], [len(part.weight) for part in maps]
    stacks, odd = divmod(seen - column, 2)
    states, rules = applied - 4 * stacks, detected - 3 * stacks
    chained = [part.weight.shape[1] for part in maps] == [column, seen, detected, applied] and after == column
    if not chained or odd or stacks < 1 or states < 1 or rules < 1 or column < states + stacks:
        return None
    if column > states + stacks:
        raise Refusal(
            f"This network of a stack machine has {column - states - stacks} more inputs than states and stacks. "
            f"Rules that an input sets off are not read back."
        )
    return Shape(states, stacks, rules, tuple(maps))


_require = require("a stack machine")


def _single(row: Array, what: str) -> int:
    """The place of the one number that is not 0."""
    places = np.flatnonzero(row)
    _require(len(places) == 1, f"{what} reads {len(places)} places, and should read one")
    return int(places[0])


def read(found: Shape) -> Stacks:
    """The stack machine, or a refusal.

    Chapter: :doc:`/book/reading-back`.
    """
    p, near = found.stacks, Nearest()
    column_st, column_q, seen, base, low = _reader(found, near)
    rules, detected = _detectors(found, near, seen)
    targets, operations, applied, high = _effects(found, near, list(rules), detected, base, low)
    back = _assembled(found, near, applied)
    for i, place in enumerate(column_q):
        _require(back.get(place) == ("q", i), "what is done to one stack is written to another place")
    _require(all(back.get(place, ("", 0))[0] == "st" for place in column_st), "a state is written to a stack")
    number = {place: n for n, place in enumerate(column_st)}
    states_of = {back[place][1]: number[place] for place in column_st}  # rows of the third map to states
    _require(len(states_of) == found.states, "two states come from the same neuron")

    names = [f"q{n}" for n in range(found.states)]
    table: dict[tuple, tuple[str, ...]] = {}
    evidence: dict[tuple, list[Weight]] = {}
    detect, apply = found.maps[1].weight, found.maps[2].weight
    neurons = []
    for r, (state, tops) in rules.items():
        key = (names[state], *tops)
        _require(key not in table, f"two rules are for {key!r}")
        table[key] = (names[states_of[targets[r]]], *(TEXTS[name] for name in operations[r]))
        rows = [targets[r], *(applied[name][i] for i, name in enumerate(operations[r]))]
        evidence[key] = [Weight(1, r, seen["st"][state], float(detect[r, seen["st"][state]]))]
        evidence[key] += [Weight(2, row, r, float(apply[row, r])) for row in rows]
        neurons.append(r)
    idle = {q for q in names if not any(key[0] == q for key in table)}
    first = next(q for q in names if q not in idle)
    machine = StackMachine(table, first, idle, ("0", "1"))
    _require(len(machine.states) == found.states and len(machine.rules) == len(rules), "rules are missing")
    row_of = {n: row for row, n in states_of.items()}
    places = {
        "st": [column_st, seen["st"], [], [row_of[n] for n in range(found.states)]],
        "q": [column_q, seen["q"], detected["q"], []],
        "one": [[], seen["one"], detected["one"], []],
        "some": [[], seen["some"], detected["some"], []],
        "rule": [[], [], neurons, []],
        **{name: [[], [], [], [applied[name][i] for i in range(p)]] for name in OPERATIONS},
    }
    return Stacks(found, machine, base, (low, high), near.margin, evidence, places)


def _reader(found: Shape, near: Nearest) -> tuple[list[int], list[int], dict[str, list[int]], int, int]:
    """The first map: each number is kept, and a stack is multiplied by the base twice, for the neurons that say whether
    it has a top and whether that is 1.
    """
    weight, bias = found.maps[0][:2]
    most = weight.max(axis=0)
    large = np.flatnonzero(most > 2.5)
    _require(len(large) == found.stacks, f"{len(large)} places are multiplied, and should be as many as stacks")
    base = int(np.rint(np.median(most[large])))
    _require(base >= 4, f"the base is {base}")
    numbers, biases = near(weight, 0, 1, base), near(bias)
    place: dict[tuple[str, int], int] = {}
    lows = set()
    for row, values in enumerate(numbers):
        column = _single(values, "a neuron of the first layer")
        kind = "kept" if values[column] == 1 else "some" if biases[row] == 0 else "one"
        if kind == "one":
            lows.add(int(-biases[row]) - 1)
        _require(kind == "one" or biases[row] == 0, "a place that is kept has a bias")
        _require((kind, column) not in place, "two neurons of the first layer are the same")
        place[kind, column] = row
    _require(len(lows) == 1 and min(lows) >= 1, "the stacks have different digits")
    stacks = [int(column) for column in large]
    states = [column for column in range(weight.shape[1]) if column not in set(stacks)]
    wanted = {("kept", column) for column in (*states, *stacks)} | set(product(("one", "some"), stacks))
    _require(place.keys() == wanted, "the first layer does not keep and read each place")
    seen = {"st": [place["kept", q] for q in states], "q": [place["kept", i] for i in stacks]}
    return states, stacks, seen | {kind: [place[kind, i] for i in stacks] for kind in ("one", "some")}, base, lows.pop()


def _detectors(
    found: Shape, near: Nearest, seen: Mapping[str, Sequence[int]]
) -> tuple[dict[int, tuple[int, tuple[str | None, ...]]], dict[str, list[int]]]:
    """The second map: by neuron the state and the tops of a rule, and what is kept of the stacks."""
    numbers, biases = near(found.maps[1].weight, -1, 0, 1), near(found.maps[1].bias)
    from_state = numbers[:, seen["st"]]
    rules: dict[int, tuple[int, tuple[str | None, ...]]] = {}
    kept: dict[int, int] = {}
    for row, values in enumerate(numbers):
        if not from_state[row].any():
            column = _single(values, "a neuron that keeps a place")
            _require(values[column] == 1 and biases[row] == 0 and column not in kept, "a place is not kept as it is")
            kept[column] = row
            continue
        state = _single(from_state[row], "a rule")
        pairs = [(int(values[some]), int(values[one])) for some, one in zip(seen["some"], seen["one"], strict=True)]
        _require(from_state[row, state] == 1, "a rule is held back by its state")
        _require(all(pair in LEVELS for pair in pairs), "a rule does not say what should lie on a stack")
        tops = tuple(LEVELS[pair] for pair in pairs)
        _require(biases[row] == tops.count(None) - len(tops), "the bias of a rule does not fit the tops that it reads")
        _require(not values[seen["q"]].any(), "a rule reads the number of a stack")
        rules[row] = state, tops
    wanted = {column for kind in ("q", "one", "some") for column in seen[kind]}
    _require(kept.keys() == wanted, "the second layer does not keep what is known of the stacks")
    return rules, {kind: [kept[column] for column in seen[kind]] for kind in ("q", "one", "some")}


def _effects(
    found: Shape, near: Nearest, rules: Sequence[int], kept: Mapping[str, Sequence[int]], base: int, low: int
) -> tuple[dict[int, int], dict[int, list[str]], dict[str, dict[int, int]], int]:
    """The third map: by the neuron of a rule the neuron of the next state and the operations; by operation and stack
    the neuron that makes it; and the larger digit.
    """
    weight, bias = found.maps[2][:2]
    by_stack = near(weight[:, kept["q"]], 0, 1 / base, 1, base)
    digits = near(bias * base)
    tops = {kind: near(weight[:, kept[kind]]) for kind in ("one", "some")}
    by_rule = near(weight[:, rules], -1, 0, 1)
    applied: dict[str, dict[int, int]] = {name: {} for name in OPERATIONS}
    states = []
    highs = {int(digit) for digit in digits} - {0, low}
    _require(len(highs) == 1 and low + 1 < min(highs) < base, "the digits that are pushed are not two")
    high = highs.pop()
    for row, values in enumerate(by_stack):
        uses = np.array([tops["some"][row], tops["one"][row]])
        if not values.any():
            _require(not uses.any() and digits[row] == 0, "a state depends on a stack")
            states.append(row)
            continue
        i = _single(values, "an operation")
        name = {1.0: "noop", float(base): "pop"}.get(float(values[i]), "push1" if digits[row] == high else "push0")
        wanted = np.zeros_like(uses)
        if name == "pop":
            wanted[:, i] = -low, low - high
        digit = {"push0": low, "push1": high}.get(name, 0)
        _require(np.array_equal(uses, wanted) and digits[row] == digit, f"a neuron for {name} has other numbers")
        _require(i not in applied[name], f"two neurons are for {name} of the same stack")
        applied[name][i] = row
    p = found.stacks
    _require(len(states) == found.states and all(len(made) == p for made in applied.values()), "neurons are missing")
    targets: dict[int, int] = {}
    operations: dict[int, list[str]] = {}
    for n, r in enumerate(rules):
        effect = by_rule[:, n]
        target = states[_single(effect[states], "the next state of a rule")]
        _require(effect[target] == 1, "a rule takes its next state away")
        targets[r], operations[r] = target, []
        for i in range(p):
            held = [name for name in OPERATIONS if effect[applied[name][i]] == 0]
            _require(
                len(held) == 1 and all(effect[applied[name][i]] <= 0 for name in OPERATIONS),
                "a rule should hold back all operations on a stack but one",
            )
            operations[r].append(held[0])
    return targets, operations, applied, high


def _assembled(found: Shape, near: Nearest, applied: Mapping[str, Mapping[int, int]]) -> dict[int, tuple[str, int]]:
    """The last map: for each place of the column the stack that is summed there, or the neuron of the state."""
    numbers, biases = near(found.maps[3].weight, 0, 1), near(found.maps[3].bias)
    _require(not biases.any(), "the last layer has a bias")
    summed = {frozenset(applied[name][i] for name in OPERATIONS): i for i in range(found.stacks)}
    made = frozenset().union(*summed)
    back: dict[int, tuple[str, int]] = {}
    for row, values in enumerate(numbers):
        places = frozenset(np.flatnonzero(values).tolist())
        if places in summed:
            back[row] = "q", summed[places]
        else:
            _require(len(places) == 1 and not places & made, "the last layer adds places of different kinds")
            back[row] = "st", min(places)
    return back


def orders(
    found: Stacks, machine: StackMachine, states: Mapping[str, str], sides: Sequence[int]
) -> dict[str, list[int]]:
    """For each vector the neurons in the order of the network that is compiled for a machine, given its states' names
    in the machine that was found and the stack there for each of its stacks.

    Chapter: :doc:`/book/reading-back`.
    """
    number = {key: n for n, key in enumerate(found.evidence)}
    rules = []
    for q, *tops in machine.rules:
        swapped = [tops[list(sides).index(i)] for i in range(len(sides))]
        rules.append(number[(states[q], *swapped)])
    chosen = {"st": [int(states[q][1:]) for q in machine.states], "rule": rules}

    def of(vector: int, *names: str) -> list[int]:
        return [found.places[name][vector][n] for name in names for n in chosen.get(name, sides)]

    return {
        "column": of(0, "st", "q"),
        "0": of(1, "st", "q", "one", "some"),
        "1": of(2, "rule", "q", "one", "some"),
        "2": of(3, "st", *OPERATIONS),
    }
