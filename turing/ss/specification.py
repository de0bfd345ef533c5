"""What each layer has to give, said without weights, from the configurations of the stack machine's own run."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

from turing.cantor import PRECISION, Cantor
from turing.ss.four import OPERATIONS, input_name, operation_name, rule_name
from turing.stack_machine import StackConfiguration, StackMachine
from turing.verification import Approx

if TYPE_CHECKING:
    from turing.ss.network import StackNetwork

Places = dict[str, Fraction | int]
Expected = dict[str, Places]
Step = Callable[..., Expected]  # of a configuration and the next one, None where the machine jams; and of an input


def specification(network: StackNetwork, machine: StackMachine) -> Step:
    """What the layers give in a step from one configuration to the next: the places that are not 0, by name."""
    return (_four if network.version == 4 else _realtime)(network, machine)


def _four(network: StackNetwork, machine: StackMachine) -> Step:
    index, encode = _indices(machine.p), _encoder(network)
    layouts = {name: set(layer.layouts[1].names()) for name, layer in network.layers.items()}

    def step(now: StackConfiguration, after: StackConfiguration | None, label: str | None = None) -> Expected:
        key = (now.state, *now.tops)
        rule = rule_name(key) if label is None else input_name(label)
        seen: Places = {f"q{i}": value for i, value in zip(index, map(encode, now.stacks), strict=True)}
        seen |= {f"some{i}": 1 for i, top in zip(index, now.tops, strict=True) if top is not None}
        seen |= {f"one{i}": 1 for i, top in zip(index, now.tops, strict=True) if top == machine.symbols[1]}
        if after is None:
            made = [_made(machine, encode, stack) for stack in now.stacks]
            found: Expected = {
                "F3": seen,
                "F2": _named(index, made),
                "F1": {f"q{i}": min(sum(values.values()), 1) for i, values in zip(index, made, strict=True)},
            }
        else:
            operations = (machine.rules[key] if label is None else network.inputs[label])[1:]
            chosen = [operation_name(machine, operation) for operation in operations]
            new = list(zip(index, map(encode, after.stacks), strict=True))
            found = {
                "F3": {f"rule[{rule}]": 1, **seen},
                "F2": {f"st[{after.state}]": 1}
                | {f"{name}{i}": value for name, (i, value) in zip(chosen, new, strict=True)},
                "F1": {f"st[{after.state}]": 1} | {f"q{i}": value for i, value in new},
            }
        given = {f"x[{label}]": 1} if label else {}
        found = {"F4": {f"st[{now.state}]": 1} | given | seen} | found
        return {name: _known(layouts[name], places) for name, places in found.items()}

    return step


def _realtime(network: StackNetwork, machine: StackMachine) -> Step:
    index, encode, names = _indices(machine.p), _encoder(network), network.layout.names()
    number = {kind: k for k, kind in enumerate(network.classes)}

    def step(now: StackConfiguration, after: StackConfiguration | None, label: str | None = None) -> Expected:
        if after is None:
            return {"step": _named(index, [_made(machine, encode, stack) for stack in now.stacks])}
        target, *operations = machine.rules[(now.state, *now.tops)] if label is None else network.inputs[label]
        chosen = [operation_name(machine, operation) for operation in operations]
        level = [0 if top is None else 1 + machine.symbols.index(top) for top in after.tops]
        found: Places = {
            names[network.detector(number[(target, *chosen)], v)]: 1
            for v in product(range(3), repeat=machine.p)
            if (target, *chosen) in number and all(map(int.__le__, v, level))
        }
        for name, i, stack in zip(chosen, index, after.stacks, strict=True):
            found[f"{name}{i}"] = encode(stack)
        return {"step": found}

    return step


def near(network: StackNetwork, found: Expected, tolerance: Fraction, jams: bool) -> dict[str, dict[str, Any]]:
    """The same step in floats: each number of a stack with how far off it may be. Where the machine jams, the network
    pushes on stacks that may be as deep as floats hold, and adds up what it makes: these round in any base.
    """
    if jams:
        tolerance = max(tolerance, Fraction(8, 2 ** PRECISION[network.arithmetic]))
    if not tolerance:
        return dict(found)
    places = {
        name: [place for part in layer.layouts[1] if part.name in ("q", *OPERATIONS) for place in part.names()]
        for name, layer in network.layers.items()
    }
    return {
        name: layer | {place: Approx(layer.get(place, 0), tolerance) for place in places[name]}
        for name, layer in found.items()
    }


def _made(machine: StackMachine, encode: Callable, stack: tuple[str, ...]) -> dict[str, Fraction]:
    """What each operation makes of a stack: with no rule that takes the others away, all of them do."""
    zero, one = machine.symbols
    after = {"noop": stack, "push0": (zero, *stack), "push1": (one, *stack), "pop": stack[1:]}
    return {name: encode(after[name]) for name in OPERATIONS}


def _named(index: list[str], made: list[dict[str, Fraction]]) -> Places:
    return {f"{name}{i}": value for i, values in zip(index, made, strict=True) for name, value in values.items()}


def _encoder(network: StackNetwork) -> Callable[[tuple[str, ...]], Fraction]:
    """The number of a stack of symbols. Each is met twice in a row, at the end of a step and where the next begins."""
    exact, digit = Cantor(network.code.base, network.code.digits), network.machine.symbols.index
    cached = lru_cache(maxsize=2 * network.machine.p)
    return cached(lambda stack: exact.encode(map(digit, stack)))  # type: ignore[return-value]  # exact: a Fraction


def _known(names: set[str], places: Places) -> Places:
    """Without the places that a network for another machine does not have; others will differ then."""
    return {name: value for name, value in places.items() if name in names}


def _indices(p: int) -> list[str]:
    return [""] if p == 1 else [f"[{i}]" for i in range(p)]
