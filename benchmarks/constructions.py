"""How long every construction takes for the same run: the one column of the measured table that is a time."""

from __future__ import annotations

import datetime

import torch

import turing
from benchmarks.row import seconds
from turing.construction import constructions

MACHINE, WORD = "balanced_parentheses", "B(())E"


def table() -> dict[str, object]:
    """Seconds to compile a machine and to run it on a word, by construction; each compiled for this run."""
    torch.set_num_threads(1)
    machine = turing.zoo[MACHINE]
    run = machine.run(WORD)
    cells = range(len(WORD))
    rows = {}
    for name, kind in constructions().items():
        options = kind.options_for({}, WORD, run.steps, cells=cells)
        network = kind(machine, **options)
        built = seconds(lambda: kind(machine, **options), repeat=3)  # noqa: B023
        rows[name] = {"compile": built, "run": seconds(lambda: network.run(WORD, run.steps), repeat=5)}  # noqa: B023
        print(f"        {name} on {WORD}: compiled in {built:.3f} s, run in {rows[name]['run']:.4f} s")
    date = datetime.date.today().isoformat()
    return {"machine": MACHINE, "word": WORD, "steps": run.steps, "date": date, "seconds": rows}
