"""From what was read of a network of stacks to an answer: the Turing machine that was translated, or the stack machine.

Chapter: :doc:`/book/reading-back`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from turing.decompiler import ss95
from turing.decompiler.one_layer import Classes
from turing.decompiler.reading import Reading, Weight, first_numbers
from turing.decompiler.ss95 import TEXTS, Stacks
from turing.decompiler.tensors import Refusal
from turing.decompiler.two_stacks import TOPS, Translated, translated
from turing.machine import TuringMachine
from turing.ss.four import OPERATIONS
from turing.ss.realtime import START, classes_of
from turing.stack_machine import StackMachine, TwoStacks

__all__ = ["four_layers", "realtime"]

NAMES = "names of states and symbols are not in the weights; q0, q1, … and _, 1, 2, … stand for them"
STACKS = {
    "names": "names of states and symbols are not in the weights; q0, q1, … and 0, 1 stand for them",
    "initial": "the initial state stands in the first column and not in the weights; give first_column to read it",
    "halting": "a halting state and a state without rules have the same weights",
    "order": "the stacks have no order in the weights",
    "arithmetic": "exact numbers and floats are the same weights",
}
SIDES = (
    "which stack is left of the head is not in the weights, and a machine and its mirror image have the same; give the "
    "first_column of a run on a word, whose rest is on the right"
)
STATES = (
    "one layer has neurons for what steps do and none for states: states with the same rules are one here, unless "
    "steps that do the same lead to both; and of states that no step leads to the weights have no rules"
)
BEYOND = "The first column is in a state that has no rules and that no rule leads to."
STAYS = (
    "where a step stays, the weights say what follows, not the state and the symbol: these are the only ones here with "
    "that rule into which the head moves, and a pair into which it never moves may have had the same"
)
LOST = "lost0, lost1, … stand for states that no step leads to; of their rules only what they do is in the weights"
SYMBOLS = "the same weights belong to a machine with other symbols, whose codes have another number of bits: {}"


def four_layers(stacks: Stacks, first_column: Any) -> Reading:
    """The Turing machine that was translated into stacks, where that can be read; else the stack machine."""
    unknown, machine, left = dict(STACKS), stacks.machine, 0
    start = None
    if first_column is not None:
        start, full = _start(stacks, first_column)
        del unknown["initial"]
        if machine.p == 2 and len(full) == 1:  # the rest of the word, to the right of the head
            left = 1 - full[0]
    options = {"base": stacks.base, "digits": list(stacks.digits)}
    try:
        turing = translated(machine, left)
        found: Any = turing.machine
    except Refusal as reason:
        unknown["turing machine"] = f"this is the stack machine, because {reason}"
        if start is not None:
            machine = _beginning(machine, start)
        order = ss95.orders(stacks, machine, {q: q for q in machine.states}, range(machine.p))
        options["digits"] = stacks.digits
        return Reading(machine, "ss95", options, stacks.margin, unknown, stacks.evidence, order)
    del unknown["order"]
    unknown["names"] = NAMES
    if start is None or len(full) != 1:
        unknown["direction"] = SIDES
    if turing.others:
        unknown["symbols"] = SYMBOLS.format(", ".join(map(str, turing.others)))
    if start is not None:
        found = _from(turing, start)
    two = TwoStacks(found)
    order = ss95.orders(stacks, two.machine, {q: known[()] for q, known in turing.states.items()}, (left, 1 - left))
    evidence: dict[str, list[Weight]] = {}
    for (q, *_), weights in stacks.evidence.items():
        evidence.setdefault(q, []).extend(weights)
    return Reading(found, "ss95", options, stacks.margin, unknown, _of_steps(two, turing, evidence), order)


def _from(turing: Translated, start: str) -> TuringMachine:
    """The Turing machine with the initial state that a state of the stack machine stands for."""
    machine = turing.machine
    control = TwoStacks(machine).control
    pair = next((pair for name, pair in control.items() if start in turing.states[name].values()), None)
    if pair is None:
        raise Refusal("The first column is in the middle of a step of the Turing machine.")
    return TuringMachine(machine.delta, pair[0], machine.halting, machine.blank, alphabet=machine.symbols)


def _start(stacks: Stacks, first_column: Any) -> tuple[str, list[int]]:
    """The state of a first column, and the stacks that are not empty."""
    column = first_numbers(first_column, stacks.shape.maps[0].weight.shape[1])
    on = [n for n, place in enumerate(stacks.places["st"][0]) if column[place] > 0.5]
    if len(on) != 1:
        raise Refusal(f"In the first column one state should be on, and {len(on)} are.")
    full = [i for i, place in enumerate(stacks.places["q"][0]) if column[place] > 0.5 / stacks.base]
    return f"q{on[0]}", full


def _beginning(machine: StackMachine, start: str) -> StackMachine:
    """The same machine with another initial state."""
    rules = {
        key: (target, *(" ".join(filter(None, operation)) for operation in operations))
        for key, (target, *operations) in machine.rules.items()
    }
    if not any(start in (key[0], rule[0]) for key, rule in rules.items()):
        raise Refusal(BEYOND)
    return StackMachine(rules, start, machine.terminal, machine.symbols)


def _of_steps(
    two: TwoStacks, turing: Translated, evidence: Mapping[str, Sequence[Weight]]
) -> dict[tuple, list[Weight]]:
    """For each rule of the Turing machine the weights of the rules of the stack machine that carry it out."""
    follow: dict[str, set[str]] = {}
    for (q, *_), (target, *_) in two.machine.rules.items():
        follow.setdefault(q, set()).add(target)
    found: dict[tuple, list[Weight]] = {}
    for name, pair in two.control.items():
        if pair not in turing.machine.delta:
            continue
        seen, waiting = {name}, [name]
        while waiting:
            fresh = {q for q in follow[waiting.pop()] if q not in two.control} - seen
            seen |= fresh
            waiting += sorted(fresh)
        own = [q for each in sorted(seen) for q in turing.states[each].values()]
        found[pair] = [weight for q in own for weight in evidence.get(q, ())]
    return found


def realtime(classes: Classes, first_column: Any) -> Reading:
    """The Turing machine or the stack machine of a network in one layer.

    Chapter: :doc:`/book/reading-back`.
    """
    p, left, start = len(classes.made) // 4, 0, None
    unknown, options = STACKS | {"states": STATES}, {"base": classes.base, "digits": list(classes.digits)}
    if first_column is not None:
        start, full = _first_class(classes, first_column)
        del unknown["initial"]
        if p == 2 and len(full) == 1:  # the rest of the word, to the right of the head
            left = 1 - full[0]
    finest = _machine(classes, list(range(len(classes.operations))))
    try:
        if classes.first:
            raise Refusal("the rules of a state that no step leads to are not in the weights")
        entered = {f"q{k}": operations for k, operations in enumerate(classes.operations)}
        turing = translated(finest, left, entered)
    except Refusal as reason:
        unknown["turing machine"] = f"this is the stack machine, because {reason}"
        return _stack_reading(classes, unknown, options, start)
    del unknown["order"]
    unknown["names"] = NAMES
    if start is None or len(full) != 1:
        unknown["direction"] = SIDES
    if turing.others:
        unknown["symbols"] = SYMBOLS.format(", ".join(map(str, turing.others)))
    if not all(move for *_, move in turing.machine.delta.values()):
        unknown["stays"] = STAYS
    found = turing.machine if start is None else _from(turing, f"q{start}")
    two = TwoStacks(found)
    numbers = {
        (name, *operations): int(q[1:]) for name, known in turing.states.items() for operations, q in known.items()
    }
    order = {"column": _in_one_layer(classes, two.machine, numbers, (left, 1 - left))}
    evidence = {
        f"q{k}": [w for u in follows for w in classes.evidence(k, u)] for k, follows in enumerate(classes.follows)
    }
    shown = _of_steps(two, turing, evidence)
    return Reading(found, "ss95-realtime", options, classes.margin, unknown, shown, order)


def _first_class(classes: Classes, first_column: Any) -> tuple[int, list[int]]:
    """The class whose state a first column is in, and the stacks that are not empty."""
    column, p = first_numbers(first_column, len(classes.shape.bias)), len(classes.made) // 4
    on = [k for k in range(len(classes.operations)) if column[classes.detectors[k, (0,) * p]] > 0.5]
    if len(on) != 1:
        raise Refusal(f"In the first column one class of steps should be on, and {len(on)} are.")
    totals = [sum(column[classes.made[name, i]] for name in OPERATIONS) for i in range(p)]
    return on[0], [i for i, total in enumerate(totals) if total > 0.5 / classes.base]


def _stack_reading(classes: Classes, unknown: dict[str, str], options: dict[str, Any], start: int | None) -> Reading:
    states = _states(classes)
    begins = [k for k in classes.first if set(classes.operations[k]) == {"noop"}]
    if len(begins) == 1:
        unknown.pop("initial", None)  # the one state that no step leads to and that has neurons
    machine = _machine(classes, states, start)
    if any(k not in begins for k in classes.first):
        unknown["lost rules"] = LOST
    numbers = {(f"q{states[k]}", *kinds): k for k, kinds in enumerate(classes.operations)}
    numbers |= {(f"q{states[k]}", *[START] * machine.p): k for k in begins}
    order = {"column": _in_one_layer(classes, machine, numbers, range(machine.p))}
    evidence: dict[tuple, list[Weight]] = {}
    for k, follows in enumerate(classes.follows):
        for u in follows:
            evidence.setdefault((f"q{states[k]}", *(TOPS[level] for level in u)), []).extend(classes.evidence(k, u))
    options["digits"] = classes.digits
    return Reading(machine, "ss95-realtime", options, classes.margin, unknown, evidence, order)


def _states(classes: Classes) -> list[int]:
    """For each class a number for the state that it leads to: the same for classes with the same rules and different
    operations, if there is only one way to put them together.
    """
    states, alike = list(range(len(classes.operations))), dict[tuple, list[int]]()
    for k, follows in enumerate(classes.follows):
        if k not in classes.first:
            alike.setdefault(tuple(sorted(follows.items())), []).append(k)
    for group in alike.values():
        if len({classes.operations[k] for k in group}) == len(group):
            for k in group:
                states[k] = group[0]
    return [sorted(set(states)).index(state) for state in states]


def _machine(classes: Classes, states: list[int], start: int | None = None) -> StackMachine:
    """The stack machine with these states for its classes. A run begins in one that no step leads to, if there is one
    that does nothing to the stacks; other classes that no step leads to come from rules that are lost.
    """
    p, rules = len(classes.made) // 4, dict[tuple, tuple]()

    def result(k: int) -> tuple[str, ...]:
        return (f"q{states[k]}", *(TEXTS[name] for name in classes.operations[k]))

    for k, follows in enumerate(classes.follows):
        for u, target in follows.items():
            rules[(f"q{states[k]}", *(TOPS[level] for level in u))] = result(target)
    begins = [k for k in classes.first if set(classes.operations[k]) == {"noop"}]
    for n, k in enumerate(k for k in classes.first if k not in begins):
        rules[(f"lost{n}", *[None] * p)] = result(k)
    named = [f"q{state}" for state in dict.fromkeys(states)]
    ruled = {key[0] for key in rules}
    first = next((f"q{states[k]}" for k in begins if f"q{states[k]}" in ruled), None) or next(
        q for q in named if q in ruled
    )
    if start is not None:
        first = f"q{states[start]}"
        if first not in ruled and not any(first == rule[0] for rule in rules.values()):
            raise Refusal(BEYOND)
    machine = StackMachine(rules, first, {q for q in named if q not in ruled}, ("0", "1"))
    machine.starts = tuple(dict.fromkeys([first, *(f"q{states[k]}" for k in begins)]))
    return machine


def _in_one_layer(
    classes: Classes, machine: StackMachine, numbers: Mapping[tuple, int], sides: Sequence[int]
) -> list[int]:
    """The neurons in the order of the network that is compiled for a machine, given the number of each of its classes
    and the stack here for each of its stacks.
    """
    order = []
    for kind in classes_of(machine):
        for v in product(range(3), repeat=machine.p):
            order.append(classes.detectors[numbers[kind], tuple(v[list(sides).index(i)] for i in range(machine.p))])
    return order + [classes.made[name, i] for name in OPERATIONS for i in sides]
