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

import llvmlite
import numba
import numpy as np
import torch

import turing
from benchmarks import constructions
from benchmarks.row import RATES, Row, seconds
from turing.engine import Indexed, Native, Program, run_batch
from turing.machine import TuringMachine

MEASURED = Path(turing.__file__).parent / "engine" / "measured.json"
STEPS = 20_000_000  # of BB(5), for the rates
CHUNK = 500_000  # steps that are timed at once
BB5 = 47_176_870
BATCH = 64
SWEEP = 10_000_000  # steps of each machine of a batch of machines
WALK = {("A", "0"): ("A", "1", 1)}  # to the right for ever
BOUNCE = {("A", "0"): ("B", "1", 1), ("A", "1"): ("B", "0", 1), ("B", "0"): ("A", "1", -1), ("B", "1"): ("A", "0", -1)}


def engines() -> list[Row]:
    """Measure, write the file, and give the rows with a threshold."""
    torch.set_num_threads(1)
    bb5 = turing.zoo["bb5"]
    network = turing.compile(bb5, "wcm21", T=50_000_000, adder="lookahead")
    program = Program(network)
    by_step = {
        "native": _by_step(lambda: _native(program), (10**3, 10**4, 10**5, 10**6, 10**7), 10_000),
        "indexed": _by_step(lambda: _indexed(network), (10**2, 10**3, 10**4, 10**5), 100),
        "torch, cached": _by_step(lambda: _cached(network), (10**2, 300, 10**3, 3 * 10**3), 5),
        "torch, all columns": _anew(network, (10**2, 300, 10**3)),
    }
    time_of = {name: dict(pairs) for name, pairs in by_step.items()}
    machines = {name: _side_by_side(*parts) for name, parts in _machines().items()}
    interpreter, native = machines["BB(5)"]
    rates = {
        "interpreter, numba": STEPS / seconds(_compiled(bb5, STEPS), repeat=3),
        "native": native,
        "interpreter": interpreter,
        "indexed": 1e6 / time_of["indexed"][10**3],
        "torch, cached, t = 1000": 1e6 / time_of["torch, cached"][10**3],
        "torch, all columns, t = 1000": 1e6 / time_of["torch, all columns"][10**3],
    }
    memory = {
        "by_step": [[t, _alone(BOUNCE, t)["megabytes"]] for t in (10**5, 10**6, 10**7)],
        "by_cells": [[n, _alone(WALK, n)["megabytes"]] for n in (10**3, 10**4, 10**5, 10**6)],
    }
    batch = _batch(network)
    sweep = _sweep()
    cold = _cold()
    whole = _alone(None, BB5)
    if (whole["status"], whole["steps"], whole["ones"]) != ("halted", BB5, 4_098):
        raise AssertionError(f"BB(5) should halt after {BB5:,} steps with 4,098 ones, and it gave {whole}.")
    found = {
        "machine": _machine(),
        "date": datetime.date.today().isoformat(),
        "rates": rates,
        "machines": [[name, *pair] for name, pair in machines.items()],
        "by_step": by_step,
        "memory": memory,
        "batch": batch,
        "sweep": sweep,
        "cold": cold,
        "compile": _compile(bb5),
        "bb5": whole,
        "constructions": constructions.table(),
    }
    MEASURED.write_text(json.dumps(_rounded(found), indent=1) + "\n", encoding="utf-8", newline="\n")
    _print(found)
    RATES.update({f"WCM21, {name}": rate for name, rate in rates.items() if not name.startswith("interpreter")})
    RATES.update({name: rate for name, rate in rates.items() if name.startswith("interpreter")})
    RATES[f"WCM21, native, {BATCH} tapes in a batch"] = batch[-1][1]
    RATES[f"WCM21, native, {BATCH} machines in a batch"] = sweep[1]
    recomputing = time_of["torch, all columns"][10**3] / time_of["indexed"][10**3]
    flat = time_of["indexed"][10**5] / time_of["indexed"][10**3]
    (_, little), *_, (_, much) = memory["by_step"]
    at_least = {"BB(5)": 3.0, "universal": 2.0, "20 states, 20 symbols": 2.0}
    return [
        *(
            Row(f"steps per second, native / interpreter, {name}", machines[name][1] / machines[name][0], at_least=n)
            for name, n in at_least.items()
        ),
        Row(f"tape-steps a second, {BATCH} tapes in a batch / interpreter", batch[-1][1] / interpreter, at_least=15.0),
        Row(f"tape-steps a second, {BATCH} machines of equal shape / interpreter", sweep[1] / sweep[0], at_least=12.0),
        Row("a native step at t = 10,000,000 / at t = 1,000,000",
            time_of["native"][10**7] / time_of["native"][10**6], at_most=1.25),
        Row("recomputing all columns / an indexed step, at t = 1,000", recomputing, at_least=1_000),
        Row("an indexed step at t = 100,000 / at t = 1,000", flat, at_most=1.2),
        Row("peak memory, 10,000,000 steps / 100,000 steps on two cells", much / little, at_most=1.2),
        Row("first native run, seconds above importing torch", cold["run"] - cold["torch"], at_most=1.0),
        Row("BB(5) to its halt, in seconds", whole["seconds"], at_most=10.0),
        Row("BB(5) to its halt, peak memory in MB", whole["megabytes"], at_most=500.0),
    ]  # fmt: skip


def _machines() -> dict[str, tuple[TuringMachine, str, str, int]]:
    """What native and the interpreter are measured on: machine, word, adder and steps."""
    draw, names, marks = Random(0), [f"q{k}" for k in range(20)], [f"{k}" for k in range(20)]
    delta = {(q, a): (draw.choice(names), draw.choice(marks), draw.choice((-1, 1))) for q in names for a in marks}
    universal, word = turing.zoo["universal"], turing.zoo.entry("universal").samples[0].word
    return {
        "BB(5)": (turing.zoo["bb5"], "", "lookahead", STEPS),
        "BB(2,4)": (turing.zoo["bb2x4"], "", "lookahead", 3_500_000),
        "universal": (universal, word, "lookahead", min(universal.run(word).steps, 2_000_000)),
        "20 states, 20 symbols": (TuringMachine(delta, names[0], {"H"}, "0"), "", "lookahead", 2_000_000),
        "BB(5), the paper's layers": (turing.zoo["bb5"], "", "ripple", 2_000_000),
    }


def _side_by_side(machine: TuringMachine, word: str, adder: str, steps: int) -> tuple[float, float]:
    """Steps a second of the interpreter and of native, over the same steps in turn; of each stretch the least time that
    this thread took.
    """
    network = turing.compile(machine, "wcm21", T=2**26, adder=adder)
    program, few = Program(network), min(steps, CHUNK)
    Native(program, word, guarded=True).advance(10)  # makes the code
    plain, ours, again = [], [], CHUNK // few  # a run that is short is made several times
    runs = [Native(program, word, guarded=True)]
    for _ in range(max(5, min(40, steps // few))):
        if runs[0].steps + few > steps:
            runs = [Native(program, word, guarded=True) for _ in range(again)]
        begun = time.thread_time()
        for run in runs:
            run.advance(few)
        ours.append((time.thread_time() - begun) / few / len(runs))
        begun = time.thread_time()
        for _ in range(again):
            machine.run(word, few)
        plain.append((time.thread_time() - begun) / few / again)
    return 1 / min(plain), 1 / sorted(ours)[len(ours) // 4]


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


def _compiled(machine: TuringMachine, limit: int) -> Callable[[], object]:
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


def _cold() -> dict[str, float]:
    """Processor seconds of a process that imports torch, and of one that makes a first native run."""
    run = "turing.compile(turing.zoo['bb5'], 'wcm21', T=50_000_000, adder='lookahead').run('', 1_000, engine='native')"
    codes = {"torch": "import torch", "run": f"import turing\n{run}"}

    def took(code: str) -> float:
        code += "\nimport time\nprint(time.process_time())"
        argv = [sys.executable, "-c", code]
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        return float(subprocess.run(argv, check=True, capture_output=True, text=True, env=environment).stdout)

    return {name: min(took(code) for _ in range(3)) for name, code in codes.items()}


def _batch(network: torch.nn.Module) -> list[list[float]]:
    """Tape-steps a second on one thread: runs at once, and all together; of three times the best, so with code that is
    there already.
    """

    def took(n: int) -> float:
        begun = time.process_time()
        run_batch(network, [""] * n, 1_000_000, threads=1)
        return time.process_time() - begun

    return [[n, n * 1_000_000 / min(took(n) for _ in range(3))] for n in (1, 2, 16, BATCH)]


def _variants() -> list[TuringMachine]:
    """Machines with the states and symbols of BB(5), each with three other rules, that do not halt soon and whose tapes
    grow, but not with every step; no two of them go the same way.
    """
    draw, rules, found = Random(0), turing.zoo["bb5"].delta, {}
    while len(found) < BATCH:
        pairs = draw.sample(list(rules), 3)
        other = {pair: (draw.choice("ABCDE"), draw.choice("01"), draw.choice((-1, 1))) for pair in pairs}
        machine = TuringMachine(rules | other, "A", {"Z"}, "0")
        if machine.run("", 200).status == "limit" and len(machine.states) == len(turing.zoo["bb5"].states):
            run = machine.run("", 20_000)
            if run.status == "limit" and 30 < len(run.tape) < 500:
                found[run.head, len(run.tape)] = machine
    return list(found.values())


def _sweep() -> list[float]:
    """Tape-steps a second of the interpreter and of one batch, on one thread, of many machines; of two times the best,
    with all that has to be done to load the weights.
    """
    machines, few = _variants(), CHUNK // 2
    networks = [turing.compile(machine, "wcm21", T=2**26, adder="lookahead") for machine in machines]

    def took(work: Callable[[], object]) -> float:
        begun = time.process_time()
        work()
        return time.process_time() - begun

    plain = min(took(lambda: [machine.run("", few) for machine in machines]) for _ in range(2))
    ours = min(took(lambda: run_batch(networks, [""] * BATCH, SWEEP, threads=1)) for _ in range(2))
    return [BATCH * few / plain, BATCH * SWEEP / ours]


def _compile(machine: TuringMachine) -> list[list[float]]:
    def built(T: int, adder: str) -> float:
        return seconds(lambda: turing.compile(machine, "wcm21", T=T, adder=adder), repeat=3)

    return [[T, built(T, "ripple"), built(T, "lookahead")] for T in (10**2, 10**4, 10**6, 10**9)]


def _machine() -> dict[str, object]:
    processor = platform.processor() or platform.machine()
    if (about := Path("/proc/cpuinfo")).exists():
        names = [line.split(":")[1].strip() for line in about.read_text().splitlines() if line.startswith("model name")]
        processor = names[0] if names else processor
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    versions = {"python": platform.python_version(), "torch": torch.__version__, "llvmlite": llvmlite.__version__}
    return {"processor": processor, "cores": os.cpu_count(), "memory_gb": memory, **versions}


def _rounded(found: object) -> object:
    if isinstance(found, float):
        return float(f"{found:.3g}")
    if isinstance(found, dict):
        return {name: _rounded(value) for name, value in found.items()}
    return [_rounded(value) for value in found] if isinstance(found, (list, tuple)) else found


def _print(found: dict) -> None:
    for name, rate in found["rates"].items():
        print(f"        BB(5), {name}: {rate:>12,.1f} steps per second")
    for name, plain, ours in found["machines"]:
        print(f"        {name}: native {ours:,.0f}, interpreter {plain:,.0f} steps per second")
    for name, pairs in found["by_step"].items():
        print(f"        {name}: " + ", ".join(f"{took:,.3g} µs at t = {t:,}" for t, took in pairs))
    whole = found["bb5"]
    print(f"        BB(5): {whole['steps']:,} steps in {whole['seconds']:.1f} s, {whole['megabytes']:.0f} MB")
    print(f"        written at {time.strftime('%H:%M')} to {MEASURED.name}")
