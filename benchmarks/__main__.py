"""What ``make bench`` runs: each measurement is a ratio of two times in one run, with a threshold.

Exits with status 1 when a threshold is missed.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from dataclasses import replace
from itertools import islice, product
from random import Random

import torch

import turing
from benchmarks.decompiler import decompiler
from benchmarks.engines import engines
from benchmarks.first_page import first_page
from benchmarks.lab import lab
from benchmarks.row import RATES, Row, seconds
from benchmarks.summary import draw, table
from turing.engine import History
from turing.formats import FormatError
from turing.ss import StackNetwork
from turing.stack_machine import StackMachine


def bare_loop(rules: dict, limit: int) -> None:
    """A Turing machine with nothing around it, against which the interpreter is measured."""
    tape, state, head, steps = {}, "A", 0, 0
    while steps < limit:
        state, tape[head], move = rules[state, tape.get(head, "0")]
        head += move
        steps += 1


def refused(text: str) -> None:
    try:
        turing.TuringMachine.parse(text)
    except FormatError:
        return
    raise AssertionError("this text should have been refused")


def machines() -> list[Row]:
    """The interpreter and the readers of formats."""
    bb5, limit = turing.zoo["bb5"], 300_000
    machine = turing.zoo["balanced_parentheses"].dumps("turingmachine.io")
    parsed = seconds(lambda: turing.TuringMachine.parse(machine))
    bomb = seconds(lambda: refused("table: &a [" + "*a, " * 10_000 + "*a]\nblank: 0\n"))
    nested = seconds(lambda: refused("table: " + "[" * 90_000))
    text = "table:\n" + "  q: {0: R}\n" * 2_000_000
    huge = seconds(lambda: refused(text))
    return [
        Row("interpreter / bare dictionary loop, BB(5), 300,000 steps",
            seconds(lambda: bb5.run("", limit)) / seconds(lambda: bare_loop(dict(bb5.delta), limit)), at_most=1.5),
        Row("refusing self-referencing YAML / reading one machine", bomb / parsed, at_most=3.0),
        # PyYAML looks 1,024 characters ahead, at the cost of their square: some 0.2 s, whatever the length
        Row("refusing 90,000 nested lists / reading one machine", nested / parsed, at_most=300),
        Row("refusing 24 MB of YAML / reading one machine", huge / parsed, at_most=3.0),
    ]  # fmt: skip


@torch.no_grad()
def transformer() -> list[Row]:
    """The WCM21 network of balanced parentheses."""
    machine = turing.zoo["balanced_parentheses"]
    t = 1_000
    word = "B" + "(" * 20 + ")" * 20 + "E"
    network = turing.compile(machine, "wcm21", T=2 * t)
    state, columns = network.start([word]), []
    for _ in range(t):
        columns.append(state.x)
        state = network.step(state)
    history, tape = torch.stack(columns, dim=1), network.encode(word)
    # A copy of the memory for each run, as a step adds to it; the copy costs next to nothing.
    cached = seconds(lambda: network.step(replace(state, memory=dict(state.memory))))
    anew = seconds(lambda: network(state.x, history, tape.unsqueeze(0)), repeat=3)

    small = turing.compile(machine, "wcm21", T=100)
    words = ["B()((()(()))())E"] * 1_024
    one = seconds(lambda: small.run(words[0], 40), repeat=3)
    many = seconds(lambda: small.run_batch(words, 40), repeat=2)

    times, sizes = {}, {}
    for power in range(2, 7):
        T = 10**power
        times[T] = seconds(lambda: turing.compile(machine, "wcm21", T=T), repeat=3)  # noqa: B023
        sizes[T] = sum(p.numel() * p.element_size() for p in turing.compile(machine, "wcm21", T=T).parameters())
        print(f"        compiled for T = {T:>9,} in {times[T]:.3f} s, {sizes[T] / 1e6:5.1f} MB of weights")
    return [
        Row(f"recomputing all columns / a cached step, at t = {t:,}", anew / cached, at_least=20.0),
        Row("steps per second on 1,024 tapes at once / on one, 40 steps", len(words) * one / many, at_least=50.0),
        Row("time to compile, T = 1,000,000 / T = 100", times[10**6] / times[10**2], at_most=20.0),
        Row("memory of the weights, T = 1,000,000 / T = 100", sizes[10**6] / sizes[10**2], at_most=12.0),
    ]


def histories() -> list[Row]:
    """The networks that find cells by numbers, exactly: a step by an index against one of plain attention."""
    t, rows = 1_000, []
    for name, at_least in (("perez21", 20), ("merrill24", 8)):
        network = turing.compile(turing.zoo["bb5"], name)
        state = network.start([""])
        for _ in range(t):
            state = network.step(state)
        plain = seconds(lambda: network.step(replace(state, memory=dict(state.memory))), repeat=20)  # noqa: B023
        going, indexed = {begin: History(network, "").vectors() for begin in (t, 10 * t)}, {}
        for begin, vectors in going.items():
            deque(islice(vectors, begin), maxlen=0)
        for begin in list(going) * 50:  # in turns, so that the rest of the machine disturbs both
            took = seconds(lambda: deque(islice(going[begin], 10), maxlen=0), repeat=1) / 10  # noqa: B023
            indexed[begin] = min(indexed.get(begin, took), took)
        print(f"        {name}, a step at t = {t:,}: plain {plain * 1e3:.1f} ms, indexed {indexed[t] * 1e3:.2f} ms")
        rows += [
            Row(
                f"a plain step of {name} in exact mode / an indexed one, at t = {t:,}",
                plain / indexed[t],
                at_least=at_least,
            ),
            Row(
                f"an indexed step of {name} at t = {10 * t:,} / at t = {t:,}", indexed[10 * t] / indexed[t], at_most=1.5
            ),
        ]
    return rows


# Four symbols go from stack to stack and back, for ever: few symbols, many steps.
SWING = {
    ("A", "0", "*"): ("A", "pop", "push 0"),
    ("A", "1", "*"): ("A", "pop", "push 1"),
    ("A", None, "*"): ("B", "noop", "noop"),
    ("B", "*", "0"): ("B", "push 0", "pop"),
    ("B", "*", "1"): ("B", "push 1", "pop"),
    ("B", "*", None): ("A", "noop", "noop"),
}
# The top of one stack goes and comes again, for ever: the depth stays what it is.
DIP = {
    ("A", "0"): ("Z", "pop"),
    ("A", "1"): ("O", "pop"),
    ("Z", "*"): ("A", "push 0"),
    ("O", "*"): ("A", "push 1"),
}
FOUR, ONE = {"version": 4}, {"version": 1, "base": 16, "digits": (11, 15)}


def any_rules(states: int, p: int) -> StackMachine:
    """A machine with a rule for everything, drawn at random."""
    draw, names = Random(0), [f"q{n}" for n in range(states)]
    operations = ("noop", "pop", "push 0", "push 1")
    tops = list(product((None, "0", "1"), repeat=p))
    return StackMachine(
        {(q, *seen): (draw.choice(names), *draw.choices(operations, k=p)) for q in names for seen in tops}
    )


def deeper(version: dict, depth: int, times: int) -> float:
    """How many times as long a step in exact mode takes if the stack is so many times as deep."""
    network, going, best = StackNetwork(StackMachine(DIP), **version), {}, {}
    for symbols in (depth, times * depth):
        going[symbols] = network.steps(network.initial(Random(symbols).choices("01", k=symbols)))
    for symbols in list(going) * 50:  # in turns and for about as long, so that the rest of the machine disturbs both
        steps = 20 * times * depth // symbols
        took = seconds(lambda: sum(1 for _ in islice(going[symbols], steps)), repeat=1) / steps  # noqa: B023
        best[symbols] = min(best.get(symbols, took), took)
    return best[times * depth] / best[depth]


def recurrent() -> list[Row]:
    """The SS95 networks of stack machines."""
    machine, word, rows = StackMachine(SWING), "1011", []
    plain = seconds(lambda: machine.run(word, max_steps=1_000), repeat=50) / 1_000
    for version, arithmetic, at_most in (
        (FOUR, "exact", 60), (FOUR, "float32", 260), (FOUR, "float64", 260),
        (ONE, "exact", 100), (ONE, "float32", 230), (ONE, "float64", 230),
    ):  # fmt: skip
        network, number = StackNetwork(machine, arithmetic=arithmetic, **version), version["version"]
        took = seconds(lambda: network.run(word, max_steps=50), repeat=50) / 50  # noqa: B023
        print(f"        SS95, version {number}, {arithmetic}: {1 / took:>7,.0f} steps per second")
        rows.append(
            Row(f"steps per second, stack interpreter / SS95 v{number} {arithmetic}", took / plain, at_most=at_most)
        )
    for construction, steps, at_least in (("ss95", 10_000, 10), ("ss95-realtime", 10_000, 3)):
        made, bb5 = turing.compile(turing.zoo["bb5"], construction), turing.zoo["bb5"]
        times = []
        for engine in ("torch", "native"):
            begun = time.thread_time()
            if made.run("", steps, engine=engine) != bb5.run("", steps):
                raise AssertionError(f"{construction} with {engine} should do what BB(5) does.")
            times.append(time.thread_time() - begun)
        print(f"        {construction}, exact, native: {steps / times[1]:>9,.0f} micro-steps per second")
        layers = "four layers" if construction == "ss95" else "one layer"
        for kind, took in zip(("plain", "native"), times, strict=True):
            RATES[f"SS95 exact, {layers}, {kind}"] = steps / took
        name = f"plain exact evaluation of {construction} / native, BB(5), {steps:,} steps"
        rows.append(Row(name, times[0] / times[1], at_least=at_least))
    for version in (FOUR, ONE):
        name = f"a step of SS95 v{version['version']} in exact mode, at depth 4,000 / 1,000"
        rows.append(Row(name, deeper(version, 1_000, 4), at_most=4 * 1.3))  # linear, and a third for the machine
    for states, p, at_most in ((32, 2, 300), (2, 3, 500)):
        built = any_rules(states, p)
        four = seconds(lambda: StackNetwork(built))  # noqa: B023
        one = seconds(lambda: StackNetwork(built, **ONE), repeat=3)  # noqa: B023
        width = StackNetwork(built, **ONE).layout.width
        print(f"        SS95 in one layer for {states} states and {p} stacks: {width:,} neurons in {one:.2f} s")
        rows.append(
            Row(f"building SS95 in one layer / in four, {states} states, {p} stacks", one / four, at_most=at_most)
        )
    return rows


def proofs() -> list[Row]:
    """The proof of BB(5) with 26 bits, against compiling it."""
    rows = []
    for adder, at_most in (("ripple", 40), ("lookahead", 60)):
        network = turing.compile(turing.zoo["bb5"], "wcm21", T=2**26, adder=adder)
        built = seconds(lambda: turing.compile(network.machine, "wcm21", **network.options), repeat=3)  # noqa: B023
        took = seconds(lambda: turing.prove(network), repeat=3)  # noqa: B023
        rows.append(Row(f"proving BB(5) with 26 bits, {adder} adder / compiling it", took / built, at_most=at_most))
        rows.append(Row(f"proving BB(5) with 26 bits, {adder} adder, in seconds", took, at_most=5.0))
    return rows


def main() -> int:
    rows = [
        *machines(),
        *transformer(),
        *recurrent(),
        *proofs(),
        *histories(),
        *engines(),
        *decompiler(),
        *lab(),
        *first_page(),
    ]
    print(table(RATES))
    draw(RATES)
    for row in rows:
        print(row)
    missed = sum(not row.met for row in rows)
    print(f"thresholds: {len(rows) - missed} passed, {missed} failed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
