"""Every way to compile a machine and to run it: construction, adder, arithmetic and engine; and whether it is exact."""

import itertools
from functools import lru_cache, partial
from typing import NamedTuple

import torch
from machines import numbered

import turing
from paper import BALANCED
from turing.construction import Construction
from turing.machine import TuringMachine
from turing.stack_machine import TwoStacks
from turing.wcm import WCM21

torch.set_num_threads(1)  # on small matrices threads wait for each other
ADDERS = ["ripple", "lookahead"]
DTYPES = [torch.float32, torch.float64, torch.bfloat16]
INDEXES = ["indexed", "native"]


def compiled(machine: TuringMachine = BALANCED, T: int = 100, dtype: torch.dtype = torch.float32, **options) -> WCM21:
    """A WCM21 network of one's own, to be changed."""
    return turing.compile(machine, "wcm21", T=T, **options).to(dtype)


lookahead = partial(compiled, adder="lookahead")


class Way(NamedTuple):
    """How a machine is compiled and run. Networks are shared: nobody changes them."""

    adder: str  # or the name of another construction
    dtype: torch.dtype | str = "exact"
    engine: str = "torch"

    @property
    def wcm(self) -> bool:
        return self.adder in ADDERS

    def compile(self, machine: TuringMachine = BALANCED, T: int = 100, **options) -> Construction:
        return _compiled(self, machine, 100 if self in STACKS else T, tuple(options.items()))  # stacks know no T

    def __str__(self) -> str:
        return f"{self.adder}-{str(self.dtype).removeprefix('torch.')}-{self.engine}"


@lru_cache(60)
def _compiled(way: Way, machine: TuringMachine, T: int, options: tuple) -> Construction:
    if way.wcm:
        return compiled(machine, T, way.dtype, adder=way.adder, **dict(options))
    return turing.compile(machine, way.adder, **({"cells": 2 * T + 80} if way.adder == "conv" else {}))


ALL_WCM = [
    Way(adder, dtype, engine)
    for adder, dtype, engine in itertools.product(ADDERS, DTYPES, ("torch", *INDEXES))
    if engine == "torch" or dtype != torch.bfloat16  # an index works in float32 and float64
]
# Every adder with every engine, and every number type with every engine.
SOME_WCM = [Way(*way) for way in zip(
    itertools.cycle(ADDERS), [*DTYPES, *DTYPES[:2], *DTYPES[:2]], ["torch"] * 3 + ["indexed"] * 2 + ["native"] * 2
)]  # fmt: skip
# The paper's network in one number type after the other, and everything else with all types in turn.
IN_TURN = [[way] for way in ALL_WCM if way.adder == "ripple" and way.engine == "torch"]
IN_TURN += [
    [way for way in ALL_WCM if (way.adder, way.engine) == kind]
    for kind in itertools.product(ADDERS, ("torch", *INDEXES))
    if kind != ("ripple", "torch")
]
STACKS = [Way("ss95"), Way("ss95-realtime")]
ROW = Way("conv", "float32")
SOME = [*SOME_WCM, *STACKS, ROW]


def parentheses(longest: int) -> list[str]:
    return [f"B{''.join(word)}E" for n in range(longest + 1) for word in itertools.product("()", repeat=n)]


def nest(depth: int) -> str:
    return f"B{'(' * depth}{')' * depth}E"


def passes(net: Construction, machine: TuringMachine, word, limit: int) -> int:
    """How often the network is applied: on two stacks of bits, k times for each move and once for each stay."""
    heads = [now.head for now in machine.trace(word, limit)]
    k = TwoStacks(machine).k if net.construction.startswith("ss95") else 1
    return sum(k if one != other else 1 for one, other in itertools.pairwise(heads))


def compared(way: Way, net: Construction, words: list, T: int, numbers: int) -> int:
    """How many steps verify compares: all of WCM21, and of other networks as many as that many numbers allow."""
    if way.wcm:
        return T
    each = sum(net.layout_of(name).width for name in net.pipeline) * getattr(net, "cells", 1) * net.passes_per_step
    return min(T, max(1, numbers // (each * len(words))))


def exact(way: Way, machine: TuringMachine, words: list, T: int, numbers: int = 5_000, **options) -> int:
    """Compare network and machine on words: every number inside, runs and traces; how many steps the runs take."""
    net, engine = way.compile(machine, T, **options), way.engine
    limit = compared(way, net, words, T, numbers)
    report = turing.verify(net, machine, words, limit, engine=engine)
    assert report, str(report)
    known = [machine.run(word, limit) for word in words]
    jams = sum(run.status == "jammed" for run in known)
    assert report.steps == sum(run.steps for run in known) + jams
    assert report.passes == sum(passes(net, machine, word, limit) for word in words) + jams
    expected = [machine.run(word, T) for word in words]
    found = net.run_batch(words, T, engine=engine)
    assert found == expected
    assert [run.micro_steps for run in found] == [passes(net, machine, word, T) for word in words]
    one_by_one = way.wcm and engine == "torch"  # for which a batch is sooner
    few, chosen = (min(T, 12), words[-1:]) if one_by_one else (T, words)
    for word in chosen:
        assert numbered(net.trace(word, few, engine=engine)) == numbered(machine.trace(word, few))
    assert net.run(words[-1], few, engine=engine) == machine.run(words[-1], few)
    return sum(run.steps + (run.status == "jammed") for run in expected)
