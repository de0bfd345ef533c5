"""The engines: how fast, against what, and with how much memory. What is measured goes into the file the book shows."""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from random import Random

import numba
import numpy as np
import torch

import turing
from benchmarks.row import Row, seconds
from turing.engine import Indexed, Native, Program, run_batch

MEASURED = Path(turing.__file__).parent / "engine" / "measured.json"
STEPS = 5_000_000  # of BB(5), for the rates
BB5 = 47_176_870
WALK = {("A", "0"): ("A", "1", 1)}  # to the right for ever
BOUNCE = {("A", "0"): ("B", "1", 1), ("A", "1"): ("B", "0", 1), ("B", "0"): ("A", "1", -1), ("B", "1"): ("A", "0", -1)}


def engines() -> list[Row]:
    """Measure, write the file, and give the rows with a threshold."""
    torch.set_num_threads(1)
    bb5 = turing.zoo["bb5"]
    network = turing.compile(bb5, "wcm21", T=50_000_000, adder="lookahead")
    program = Program(network)
    Native(program, "", guarded=True).advance(10)  # compiles the loop
    by_step = {
        "native": _by_step(lambda: _native(program), (10**2, 10**3, 10**4, 10**5, 10**6, 10**7), 1_000),
        "indexed": _by_step(lambda: _indexed(network), (10**2, 10**3, 10**4, 10**5, 10**6), 100),
        "torch, cached": _by_step(lambda: _cached(network), (10**2, 300, 10**3, 3 * 10**3), 5),
        "torch, all columns": _anew(network, (10**2, 300, 10**3)),
    }
    time_of = {name: dict(pairs) for name, pairs in by_step.items()}
    interpreter = STEPS / seconds(lambda: bb5.run("", STEPS), repeat=3)
    native = STEPS / seconds(lambda: Native(program, "", guarded=True).advance(STEPS), repeat=3)
    rates = {
        "interpreter, numba": STEPS / seconds(_compiled(bb5, STEPS), repeat=3),
        "interpreter": interpreter,
        "native": native,
        "indexed": 1e6 / time_of["indexed"][10**3],
        "torch, cached, t = 1000": 1e6 / time_of["torch, cached"][10**3],
        "torch, all columns, t = 1000": 1e6 / time_of["torch, all columns"][10**3],
    }
    memory = {
        "by_step": [[t, _alone(BOUNCE, t)["megabytes"]] for t in (10**5, 10**6, 10**7)],
        "by_cells": [[n, _alone(WALK, n)["megabytes"]] for n in (10**3, 10**4, 10**5, 10**6)],
    }
    whole = _alone(None, BB5)
    if (whole["status"], whole["steps"], whole["ones"]) != ("halted", BB5, 4_098):
        raise AssertionError(f"BB(5) should halt after {BB5:,} steps with 4,098 ones, and it gave {whole}.")
    found = {
        "machine": _machine(),
        "date": datetime.date.today().isoformat(),
        "rates": rates,
        "by_step": by_step,
        "memory": memory,
        "batch": _batch(network),
        "compile": _compile(bb5),
        "cost": _cost(),
        "bb5": whole,
    }
    MEASURED.write_text(json.dumps(_rounded(found), indent=1) + "\n", encoding="utf-8", newline="\n")
    _print(found)
    flat = {name: time_of[name][10**6] / time_of[name][10**3] for name in ("native", "indexed")}
    recomputing = time_of["torch, all columns"][10**3] / time_of["indexed"][10**3]
    (_, little), *_, (_, much) = memory["by_step"]
    return [
        Row("steps per second, native / interpreter, BB(5), 5,000,000 steps", native / interpreter, at_least=0.25),
        Row("recomputing all columns / an indexed step, at t = 1,000", recomputing, at_least=1_000),
        Row("a native step at t = 1,000,000 / at t = 1,000", flat["native"], at_most=1.2),
        Row("an indexed step at t = 1,000,000 / at t = 1,000", flat["indexed"], at_most=1.2),
        Row("peak memory, 10,000,000 steps / 100,000 steps on two cells", much / little, at_most=1.2),
        Row("BB(5) to its halt, in minutes", whole["seconds"] / 60, at_most=3.0),
        Row("BB(5) to its halt, peak memory in GB", whole["megabytes"] / 1_000, at_most=1.0),
    ]


def _by_step(begin: Callable[[], Callable[[int], None]], times: tuple[int, ...], window: int) -> list[list[float]]:
    """Microseconds a step from the t-th on: the best of 20 stretches of a run that all end before the 2t-th."""
    found = []
    for t in times:
        size = min(t, window)
        in_one, best = min(20, t // size), float("inf")
        for _ in range(0, 20, in_one):
            steps = begin()
            steps(t)
            best = min(best, seconds(lambda: steps(size), repeat=in_one))  # noqa: B023
        found.append([t, best / size * 1e6])
    return found


def _native(program: Program) -> Callable[[int], None]:
    run = Native(program, "", guarded=True)
    return lambda n: run.advance(n) and None


def _indexed(network: torch.nn.Module) -> Callable[[int], None]:
    columns = Indexed(network, "").columns()
    return lambda n: deque(islice(columns, n), maxlen=0) and None


def _cached(network: torch.nn.Module) -> Callable[[int], None]:
    state = network.start([""])

    @torch.no_grad()
    def steps(n: int) -> None:
        nonlocal state
        for _ in range(n):
            state = network.step(state)

    return steps


@torch.no_grad()
def _anew(network: torch.nn.Module, times: tuple[int, ...]) -> list[list[float]]:
    columns, run = [network.initial("")], Indexed(network, "").columns()
    found = []
    for t in times:
        columns += [column.squeeze(0) for column in islice(run, t - len(columns) + 1)]
        history, tape = torch.stack(columns[:t]), network.encode("")
        found.append([t, seconds(lambda: network(columns[t], history, tape), repeat=2) * 1e6])  # noqa: B023
    return found


def _compiled(machine: turing.TuringMachine, limit: int) -> Callable[[], object]:
    """The plain interpreter, compiled: arrays in place of dictionaries."""
    states, symbols = machine.states, machine.symbols
    rules = np.full((len(states), len(symbols), 3), -1)
    for (q, a), (p, b, move) in machine.delta.items():
        rules[states.index(q), symbols.index(a)] = states.index(p), symbols.index(b), move

    @numba.njit
    def loop(rules, limit):
        tape, state, head, steps = np.zeros(1 << 16, np.int8), 0, 1 << 15, 0
        while steps < limit and rules[state, tape[head], 0] >= 0:
            rule = rules[state, tape[head]]
            state, tape[head] = rule[0], rule[1]
            head += rule[2]
            steps += 1
        return steps

    loop(rules, 10)
    return lambda: loop(rules, limit)


def _alone(delta: dict | None, steps: int) -> dict:
    """A native run in a process of its own: how it ends, and its peak memory; BB(5) if there are no rules."""
    code = (
        "import json, re, resource, sys, time, turing\n"
        "from pathlib import Path\n"
        "delta, steps = eval(sys.argv[1]), int(sys.argv[2])\n"
        "m = turing.TuringMachine(delta, 'A', {'H'}, '0') if delta else turing.zoo['bb5']\n"
        "net = turing.compile(m, 'wcm21', T=max(steps, 2), bits=27, adder='lookahead')\n"
        "began = time.perf_counter()\n"
        "run = net.run('', steps, engine='native')\n"
        "took = time.perf_counter() - began\n"
        "about = Path('/proc/self/status')\n"  # ru_maxrss begins with what the parent had
        "peak = int(re.search('VmHWM: *\\\\s*([0-9]+)', about.read_text())[1]) / 1e3 if about.exists() else "
        "resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6\n"
        "print(json.dumps({'status': run.status, 'steps': run.steps, 'ones': len(run.tape), 'seconds': took, "
        "'megabytes': peak}))\n"
    )
    argv = [sys.executable, "-c", code, repr(delta), str(steps)]
    return json.loads(subprocess.run(argv, check=True, capture_output=True, text=True).stdout)


def _batch(network: torch.nn.Module) -> list[list[float]]:
    return [[n, n * 200_000 / seconds(lambda: run_batch(network, [""] * n, 200_000), 3)] for n in (1, 2, 4, 16, 64)]  # noqa: B023


def _compile(machine: turing.TuringMachine) -> list[list[float]]:
    def built(T: int, adder: str) -> float:
        return seconds(lambda: turing.compile(machine, "wcm21", T=T, adder=adder), repeat=3)

    return [[T, built(T, "ripple"), built(T, "lookahead")] for T in (10**2, 10**4, 10**6, 10**9)]


def _cost() -> list[list[float]]:
    """For machines of several sizes: weights that are not 0 in the layers of a step, and microseconds a native step."""
    found = []
    for states, symbols, bits in (
        (5, 2, 14),
        (5, 2, 26),
        (5, 2, 40),
        (5, 2, 60),
        (20, 2, 26),
        (50, 2, 26),
        (5, 20, 26),
    ):
        draw = Random(0)
        names, marks = [f"q{k}" for k in range(states)], [f"{k}" for k in range(symbols)]
        delta = {(q, a): (draw.choice(names), draw.choice(marks), draw.choice((-1, 1))) for q in names for a in marks}
        machine = turing.TuringMachine(delta, names[0], {"H"}, "0")
        program = Program(turing.compile(machine, "wcm21", T=2**14, bits=bits, adder="lookahead"))
        run = Native(program, "", guarded=True)
        run.advance(2_000)
        took = seconds(lambda: run.advance(1_000), repeat=10) / 1_000 * 1e6  # noqa: B023
        found.append([states, symbols, bits, int(np.count_nonzero(program.weights)), took])
    return found


def _machine() -> dict[str, object]:
    processor = platform.processor() or platform.machine()
    if (about := Path("/proc/cpuinfo")).exists():
        names = [line.split(":")[1].strip() for line in about.read_text().splitlines() if line.startswith("model name")]
        processor = names[0] if names else processor
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    versions = {"python": platform.python_version(), "torch": torch.__version__, "numba": numba.__version__}
    return {"processor": processor, "cores": os.cpu_count(), "memory_gb": memory, **versions}


def _rounded(found: object) -> object:
    if isinstance(found, float):
        return float(f"{found:.3g}")
    if isinstance(found, dict):
        return {name: _rounded(value) for name, value in found.items()}
    return [_rounded(value) for value in found] if isinstance(found, list) else found


def _print(found: dict) -> None:
    for name, rate in found["rates"].items():
        print(f"        BB(5), {name}: {rate:>12,.1f} steps per second")
    for name, pairs in found["by_step"].items():
        print(f"        {name}: " + ", ".join(f"{took:,.3g} µs at t = {t:,}" for t, took in pairs))
    whole = found["bb5"]
    print(f"        BB(5): {whole['steps']:,} steps in {whole['seconds']:.0f} s, {whole['megabytes']:.0f} MB")
    print(f"        written at {time.strftime('%H:%M')} to {MEASURED.name}")
