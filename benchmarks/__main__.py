"""What ``make bench`` runs: each measurement is a ratio of two times in one run, with a threshold.

Exits with status 1 when a threshold is missed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import turing
from turing.formats import FormatError


def seconds(work: Callable[[], object], repeat: int = 7) -> float:
    """The best of several runs: the one least disturbed by the rest of the machine."""
    best = float("inf")
    for _ in range(repeat):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return best


def bare_loop(rules: dict, limit: int) -> None:
    """A Turing machine with nothing around it: what the interpreter is measured against."""
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


def main() -> int:
    bb5, limit = turing.zoo["bb5"], 300_000
    machine = turing.zoo["balanced_parentheses"].dumps("turingmachine.io")
    parsed = seconds(lambda: turing.TuringMachine.parse(machine))
    bomb = "table: &a [" + "*a, " * 10_000 + "*a]\nblank: 0\n"
    nested = "table: " + "[" * 90_000
    huge = "table:\n" + "  q: {0: R}\n" * 2_000_000

    rows = [
        ("interpreter / bare dictionary loop, BB(5), 300,000 steps",
         seconds(lambda: bb5.run("", limit)) / seconds(lambda: bare_loop(dict(bb5.delta), limit)), 1.5),
        ("refusing self-referencing YAML / reading one machine", seconds(lambda: refused(bomb)) / parsed, 3.0),
        # PyYAML looks 1,024 characters ahead, at the cost of their square: some 0.2 s, whatever the length
        ("refusing 90,000 nested lists / reading one machine", seconds(lambda: refused(nested)) / parsed, 300.0),
        ("refusing 24 MB of YAML / reading one machine", seconds(lambda: refused(huge)) / parsed, 3.0),
    ]  # fmt: skip
    missed = 0
    for name, ratio, most in rows:
        missed += ratio > most
        print(f"{'ok    ' if ratio <= most else 'MISSED'}  {ratio:6.2f} (at most {most})  {name}")
    print(f"thresholds: {len(rows) - missed} passed, {missed} failed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
