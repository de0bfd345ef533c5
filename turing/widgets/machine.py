"""What widgets hand to the page of a Turing machine, and what they show of it without scripts."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from turing.machine import Run, TuringMachine
from turing.widgets.base import table
from turing.zoo import Entry, zoo

__all__ = ["entry_to_json", "machine_to_json", "result", "rules_table", "word_of"]

MOVES = {-1: "−1", 0: "0", 1: "+1"}


def machine_to_json(machine: TuringMachine, _widget: object = None) -> dict:
    """The machine for an ES module, rules in the order of ``machine.delta``."""
    return {
        "rules": [[*key, *rule] for key, rule in machine.delta.items()],
        "initial": machine.initial,
        "halting": sorted(machine.halting),
        "blank": machine.blank,
        "states": list(machine.states),
        "symbols": list(machine.symbols),
    }


def entry_to_json(entry: Entry | None) -> dict:
    """What the zoo says of the words and the halts of a machine, for an ES module."""
    return {"ends": list(entry.ends), "verdicts": dict(entry.verdicts)} if entry else {}


def result(machine: TuringMachine, run: Run) -> str:
    """How a run ended, as HTML."""
    verdict = entry_to_json(zoo.entry_of(machine)).get("verdicts", {}).get(run.state)
    return escape(f"{run}. The verdict: {verdict}." if verdict and run.status == "halted" else f"{run}.")


def rules_table(machine: TuringMachine) -> str:
    """The rules as an HTML table."""
    rows = [(*key, target, write, MOVES[move]) for key, (target, write, move) in machine.delta.items()]
    return table(("state", "read", "next", "write", "move"), rows)


def word_of(machine: TuringMachine, word: Iterable[str]) -> str | list[str]:
    """The word if it fits the machine: a string, or a list if some symbol is longer than one character."""
    symbols = list(machine.tape(word).values())
    return symbols if any(len(symbol) > 1 for symbol in machine.symbols) else "".join(symbols)
