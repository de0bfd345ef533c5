"""What each layer has to give, said without weights, from the moments of the stack machine's own run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import pairwise, product
from typing import TYPE_CHECKING

from turing.cantor import Cantor
from turing.ss.four import operation_name
from turing.stack import Moment

if TYPE_CHECKING:
    from turing.ss.network import StackNetwork

Expected = dict[str, Mapping[str, Fraction | int]]


def four(network: StackNetwork, moments: Iterable[Moment]) -> Iterator[Expected]:
    machine, exact = network.machine, Cantor(network.code.base, network.code.digits)
    rules = {key: name for key, name in zip(machine.rules, network.layers["F3"].layouts[1].rule.labels, strict=True)}
    index = _indices(machine.p)

    def stacks(moment: Moment, name: str) -> dict[str, Fraction]:
        values = (exact.encode(map(machine.symbols.index, stack)) for stack in moment.stacks)
        return {f"{name}{index[i]}": value for i, value in enumerate(values)}

    for now, after in pairwise(moments):
        key = (now.state, *now.tops)
        seen = stacks(now, "q")
        seen |= {f"some{index[i]}": 1 for i, top in enumerate(now.tops) if top is not None}
        seen |= {f"one{index[i]}": 1 for i, top in enumerate(now.tops) if top == machine.symbols[1]}
        new = stacks(after, "q")
        chosen = [operation_name(machine, operation) for operation in machine.rules[key][1:]]
        yield {
            "F4": {f"st[{now.state}]": 1} | seen,
            "F3": {f"rule[{rules[key]}]": 1} | seen,
            "F2": {f"st[{after.state}]": 1}
            | {f"{name}{index[i]}": new[f"q{index[i]}"] for i, name in enumerate(chosen)},
            "F1": {f"st[{after.state}]": 1} | new,
        }


def realtime(network: StackNetwork, moments: Iterable[Moment]) -> Iterator[Expected]:
    machine, exact = network.machine, Cantor(network.code.base, network.code.digits)
    index, names = _indices(machine.p), network.layout.names()
    for now, after in pairwise(moments):
        rule = machine.rules[(now.state, *now.tops)]
        kind = (rule[0], *(operation_name(machine, operation) for operation in rule[1:]))
        k = network.classes.index(kind)
        level = [0 if top is None else 1 + machine.symbols.index(top) for top in after.tops]
        found = {
            names[network.detector(k, v)]: 1
            for v in product(range(3), repeat=machine.p)
            if all(map(int.__le__, v, level))
        }
        for i, stack in enumerate(after.stacks):
            found[f"{kind[1 + i]}{index[i]}"] = exact.encode(map(machine.symbols.index, stack))
        yield {"step": found}


def _indices(p: int) -> list[str]:
    return [""] if p == 1 else [f"[{i}]" for i in range(p)]
