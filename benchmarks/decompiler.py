"""How long it takes to read a machine back, and to certify it, against compiling it."""

from __future__ import annotations

import random
from time import perf_counter

import turing
from benchmarks.row import Row
from turing.decompiler import decompile, disguise
from turing.machine import TuringMachine

SECONDS = 20  # for each of the large machines


def decompiler() -> list[Row]:
    """The zoo and three large machines, in general linear disguise."""
    zoo = [(name, turing.zoo[name], 6) for name in turing.zoo if name != "universal"]
    large = [
        ("universal", turing.zoo["universal"], 10),
        ("100 × 20", _large(), 10),
        ("BB(5), L = 26", turing.zoo["bb5"], 26),
    ]
    rows, total = [], 0.0
    for _, machine, bits in zoo:
        total = max(total, _spent(machine, bits)[1])
    rows.append(Row("slowest of the zoo: decompiling and certifying, share of 20 s", total / SECONDS, at_most=1.0))
    for name, machine, bits in large:
        compiling, reading = _spent(machine, bits)
        rows.append(Row(f"{name}: decompiling and certifying, share of 20 s", reading / SECONDS, at_most=1.0))
        rows.append(Row(f"{name}: decompiling and certifying / compiling", reading / compiling, at_most=100))
    return rows


def _spent(machine: TuringMachine, bits: int) -> tuple[float, float]:
    """Seconds to compile a machine, and to read it back out of a disguise and certify it."""
    start = perf_counter()
    net = turing.compile(machine, "wcm21", T=2**bits, adder="lookahead")
    compiling = perf_counter() - start
    hidden = disguise(net, "linear", seed=1).network
    start = perf_counter()
    if not decompile(hidden).certified:
        raise AssertionError("what was read should be certified")
    return compiling, perf_counter() - start


def _large() -> TuringMachine:
    chance = random.Random(0)
    states, symbols = [f"q{k}" for k in range(100)], ["_", *map(str, range(1, 20))]
    delta = {
        (q, a): (chance.choice(states), chance.choice(symbols), chance.choice((-1, 0, 1)))
        for q in states
        for a in symbols
    }
    return TuringMachine(delta, "q0", (), "_", alphabet=symbols)
