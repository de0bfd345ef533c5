"""Judges for exercises whose answer is a Turing machine, and the exercises of the chapter Machines.

A judge runs the reader's machine on every word up to a length, the shortest first, and compares the results with a
specification in Python that is slow and easy to believe.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Any

from turing.exercises import Wrong
from turing.machine import Configuration, Run, TuringMachine

MAX_STEPS = 10_000
SHOWN = 4  # last configurations, which are printed under a failure
WIDTH = 48  # characters of a tape that are shown


def words(letters: str, length: int) -> Iterator[str]:
    """Every word over the letters up to that length, the shortest first."""
    for n in range(length + 1):
        yield from map("".join, product(letters, repeat=n))


def decides(accepts: Callable[[str], bool], letters: str, length: int) -> Callable[[object], str]:
    """The machine halts in T on the words that ``accepts``, and in F on all others."""

    def judge(machine: Any) -> str:
        tried = 0
        for word, run in runs(machine, words(letters, length), letters):
            expected = "T" if accepts(word) else "F"
            if run.state != expected:
                raise wrong(word, run, f"halts in {run.state} after {steps(run)}; {expected} was expected.")
            tried += 1
        return f"all {tried:,} words up to length {length}"

    return judge


def rewrites(
    result: Callable[[str], str], letters: str, length: int, given: Callable[[str], bool]
) -> Callable[[object], str]:
    """The machine halts, in any state, with ``result(word)`` on the tape, for each word that is ``given``."""

    def judge(machine: Any) -> str:
        tried = 0
        for word, run in runs(machine, filter(given, words(letters, length)), letters):
            # Both as the machine writes a tape: with spaces between symbols if some are long.
            text, expected = (machine.text(tape) for tape in (run.tape, dict(enumerate(result(word)))))
            if text != expected:
                raise wrong(
                    word, run, f"halts after {steps(run)} with {text!r} on the tape; {expected!r} was expected."
                )
            tried += 1
        return f"all {tried:,} words up to length {length}"

    return judge


def holds(states: int, at_least: int) -> Callable[[object], str]:
    """The machine has two symbols and at most ``states`` states, and halts on the empty tape, but not too soon."""

    def judge(machine: Any) -> str:
        _, run = next(runs(machine, [""]))
        working = [state for state in machine.states if state not in machine.halting]
        if len(working) > states:
            raise Wrong(
                f"Your machine has {len(working)} states besides the halting ones ({' '.join(working)}); "
                f"at most {states} are allowed."
            )
        if len(machine.symbols) > 2:
            raise Wrong(f"Your machine uses the symbols {' '.join(machine.symbols)}; only two are allowed.")
        if run.steps < at_least:
            raise wrong("", run, f"halts after {steps(run)}; at least {at_least} were expected.")
        return f"the empty tape: {len(working)} states, and it halts after {steps(run)}"

    return judge


def runs(machine: object, tried: Iterable[str], letters: str = "") -> Iterator[tuple[str, Run]]:
    """The words with the machine's runs on them; the first run that does not halt is an error."""
    if type(machine) is not TuringMachine:  # a subclass may run differently
        raise Wrong(
            f"Your function returned an object of type {type(machine).__name__}. "
            f"Return turing.TuringMachine(delta, initial, halting, blank)."
        )
    if machine.blank in letters:
        raise Wrong(
            f"The blank {machine.blank!r} is a letter of the words too, so your machine cannot see "
            f"where a word ends. Choose another blank, such as '_'."
        )
    for word in tried:
        for symbol in word:
            if symbol not in machine.symbols:
                raise Wrong(f"On the word {word!r} your machine jams: none of its rules mentions {symbol!r}.")
        run = machine.run(word, MAX_STEPS)
        if run.status == "jammed":
            symbol = run.tape.get(run.head, machine.blank)
            raise wrong(
                word, run, f"jams at step {run.steps + 1:,} in state {run.state} reading {symbol}: "
                f"there is no rule for ({run.state}, {symbol})."
            )  # fmt: skip
        if run.status == "limit":
            raise wrong(word, run, f"is still running after {steps(run)}.")
        yield word, run


def wrong(word: str, run: Run, what: str) -> Wrong:
    """The failure with the last configurations that led to it, as in Figure 1 of the paper."""
    last = deque(run.trace, maxlen=SHOWN)
    lines = [f"  step {c.step:<{len(str(run.steps))}}  {abbreviate(c)}" for c in last]
    where = f"the word {word!r}" if word else "the empty word"
    return Wrong("\n".join([f"On {where} your machine {what}", *lines]))


def abbreviate(configuration: Configuration) -> str:
    """The configuration with a long tape cut down to what is around the head."""
    state = configuration.state
    tape = str(configuration).removeprefix(f"{state}  ")
    head = tape.find(f"[{configuration.symbol}]")
    start = max(0, min(head - WIDTH // 2, len(tape) - WIDTH))
    before, after = "…" if start else "", "…" if start + WIDTH < len(tape) else ""
    return f"{state}  {before}{tape[start : start + WIDTH]}{after}"


def steps(run: Run) -> str:
    return f"{run.steps:,} step{'' if run.steps == 1 else 's'}"


def minus_one(word: str) -> str:
    """The binary number less one, in as many digits."""
    return f"{int(word, 2) - 1:0{len(word)}b}"


EXERCISES = {
    "even_ones": decides(lambda word: word.count("1") % 2 == 0, "01", length=8),
    "decrement": rewrites(minus_one, "01", length=8, given=lambda word: "1" in word),
    "as_then_bs": decides(lambda word: word == "a" * (len(word) // 2) + "b" * (len(word) // 2), "ab", length=8),
    "hold_a_beaver": holds(states=3, at_least=12),
}
