"""The same step in every construction at once: one tape, and below it the memory of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

import traitlets

from turing.layout import Layout
from turing.machine import TuringMachine
from turing.widgets.base import Widget, joined, style, table
from turing.widgets.machine import word_of

if TYPE_CHECKING:
    from turing.construction import Construction

__all__ = ["SameStep"]

MACHINES = {"bb3": "", "balanced_parentheses": "B()E", "parity": "011"}
MAX_STEPS = 40
MAX_NUMBERS = 8_000  # of a network in a page that are not 0: some 25 KB, compressed
# What the rows that a head looks at are called, by its mask; as in run.js.
ROWS = {"cross": "the word", "causal": "the columns so far", "prefix": "the tokens", "window": "the window"}
COLUMNS, VECTOR = "The columns, by the symbol that each wrote.", "The vector, without what is 0:"
SHOWS = {  # what the row of a construction shows
    "wcm21": f"{COLUMNS} Column 0 belongs to step 1.",
    "perez21": f"{COLUMNS} The first ones walk over the word and back, between two marks.",
    "merrill24": f"{COLUMNS} Column 1 is the start, column 2 belongs to step 1. The word has a blank at either end.",
    "ss95": f"{VECTOR} the control, whose name ends in the symbol under the tape head, and the stacks, q[0] and q[1].",
    "ss95-realtime": f"{VECTOR} the detectors that fire, and the numbers of the stacks.",
    "bhattamishra20": f"{VECTOR} the detectors that fire, and the numbers of the stacks.",
    "liwang25": "The tokens, by their symbols, the oldest first. Their numbers count from the beginning of the word.",
    "li24": "The bits of the word, then a token for each gate: 1 if it fires. Each symbol that may be on the cell has "
    "a gate of its own.",
    "conv": "The row itself, with a cell for each cell of the tape.",
}
# The numbers of a head's first row, by its mask, where that is not 0: as the chapters of the constructions count.
FIRST = {"perez21": {"causal": 1}, "merrill24": {"causal": 1, "cross": -1}}


class SameStep(Widget):
    """Walk through a run, and see in every construction where it keeps the cell under the head.

    The networks run in the page, except those that would be too large for it. ``machines`` is a dictionary of machines
    by name, or of pairs of a machine and a word; without it, they are those of the book. ``machine`` is the name of the
    one that is shown, a key of ``machines``, and not the machine itself. At most 40 steps of a run are shown.
    ``machine`` and ``step`` are live.

    >>> SameStep("bb3", step=4)
    SameStep('bb3', step=4)

    Chapter: :doc:`/book/table`.
    """

    _esm = joined("same_step/widget.js")
    _css = style("page/tape.css", "same_step/widget.css")

    runs: traitlets.List[dict] = traitlets.List(read_only=True).tag(sync=True)
    # Plain traits: the validators below say what is expected.
    machine: traitlets.TraitType[str, str] = traitlets.TraitType("").tag(sync=True)
    step: traitlets.TraitType[int, int] = traitlets.TraitType(0).tag(sync=True)

    def __init__(self, machine: str | None = None, step: int = 0, machines: Mapping[str, Any] | None = None):
        if machines is not None and (not isinstance(machines, Mapping) or not machines):
            raise TypeError(f"machines is a dictionary of machines by name, and {machines!r} was given.")
        found = _of_the_book() if machines is None else tuple(_given(*each) for each in machines.items())
        self.set_trait("runs", list(found))
        self._own = machines is not None
        super().__init__()
        self.machine = self.runs[0]["name"] if machine is None else machine
        self.step = step

    @property
    def _run(self) -> dict[str, Any]:
        return next(run for run in self.runs if run["name"] == self.machine)

    @traitlets.validate("machine")
    def _valid_machine(self, proposal: dict) -> str:
        names = [run["name"] for run in self.runs]
        if proposal["value"] not in names:
            raise ValueError(f"machine is one of {', '.join(names)}, and {proposal['value']!r} was given.")
        return proposal["value"]

    @traitlets.validate("step")
    def _valid_step(self, proposal: dict) -> int:
        step, last = proposal["value"], len(self._run["trace"]) - 1
        if isinstance(step, bool) or not isinstance(step, int) or not 0 <= step <= last:
            raise ValueError(f"This run is shown from step 0 to step {last}, and step={step!r} was given.")
        return step

    @traitlets.observe("machine")
    def _fit(self, _change: dict) -> None:
        self.step = min(self.step, len(self._run["trace"]) - 1)

    def fallback(self) -> str:
        run = self._run
        state, head, symbol = run["trace"][self.step][:3]
        rows = []
        for each in run["networks"]:
            if "steps" in each:
                passes, places = each["steps"][self.step]
                where = f"{_where(each, places)}. {each.get('shows', '')}".rstrip()
            else:
                passes, where = "–", each["refused"]
            rows.append((each["construction"], passes, where))
        return (
            f"<p>After step {self.step} the state is {escape(state)}, and the tape head is on cell {head}, which holds "
            f"{escape(symbol)}.</p>\n{table(('construction', 'passes', 'where it keeps that cell'), rows)}"
            "<p>With scripts on, the page runs the networks and shows their memories.</p>"
        )

    def __repr__(self) -> str:
        machines = f", machines={{{', '.join(repr(run['name']) + ': …' for run in self.runs)}}}" if self._own else ""
        return f"SameStep({self.machine!r}, step={self.step}{machines})"


def _where(each: dict[str, Any], places: list[tuple[str, int]] | None) -> str:
    """Where a cell is kept, in the words of the page."""
    if not places:
        return "It does not say" if places is None else "Nowhere: the cell is new, and blank"
    file = each["file"]
    masks = {module["name"]: module.get("mask") for module in file["modules"]}
    names = Layout(**dict(file["layouts"][0])).names()
    vector = "the newest token" if "window" in masks.values() else "the vector"
    found: dict[str, list[str]] = {}
    for name, number in places:
        group = {"cells": "the cells", "column": vector}.get(name) or ROWS[masks[name]]
        first = each.get("first", {}).get(masks.get(name), 0)
        said = names[number] if name == "column" else f"{number + first}".replace("-", "−")
        found.setdefault(group, []).append(said)
    return "Kept in " + "; ".join(f"{group}: {', '.join(numbers)}" for group, numbers in found.items())


@cache
def _of_the_book() -> tuple[dict[str, Any], ...]:
    from turing.zoo import zoo

    return tuple(_described(name, zoo[name], word) for name, word in MACHINES.items())


def _given(name: str, given: Any) -> dict[str, Any]:
    machine, word = given if isinstance(given, tuple) else (given, "")
    if not isinstance(machine, TuringMachine):
        raise TypeError(f"SameStep takes TuringMachines, each alone or in a pair with a word, and {given!r} was given.")
    return _described(name, machine, word)


def _described(name: str, machine: TuringMachine, word: Iterable[str]) -> dict[str, Any]:
    """A run and all networks on it, as the page gets them."""
    from turing.comparison.table import in_order
    from turing.construction import constructions

    word, known = word_of(machine, word), constructions()
    run = machine.run(word, MAX_STEPS)
    trace = [[now.state, now.head, now.symbol, sorted(now.tape.items())] for now in run.trace]
    heads = [now.head for now in run.trace]
    cells = range(min(heads), max(*heads, len(word) - 1) + 1)
    networks = []
    for kind in map(known.__getitem__, in_order(known)):
        try:
            network = kind(machine, **kind.options_for({}, word, max(1, run.steps), cells=cells))
            networks.append(_exported(network, word, run.steps))
        except (ValueError, ArithmeticError) as error:
            networks.append({"construction": kind.construction, "refused": str(error)})
    symbols = {"symbols": list(machine.symbols), "blank": machine.blank}
    word = word if isinstance(word, str) else list(word)
    return {"name": name, "word": word, "status": run.status, **symbols, "trace": trace, "networks": networks}


def _exported(network: Construction, word: Any, steps: int) -> dict[str, Any]:
    from turing import ir
    from turing.comparison import memory

    count = sum(int(numbers.values.count_nonzero()) for numbers in network.ir().numbers())
    if count > MAX_NUMBERS:
        return {
            "construction": network.construction,
            "refused": f"This network has {count:,} numbers that are not 0, which is too many for a page. It runs in "
            f"Python.",
        }
    network = network.fitted(word, steps)
    first, tape = network.initial(word), network.encode(word)
    cells = network.loop.state == "cells"
    start = {"cells" if cells else "column": [_numbers(x) for x in first] if cells else _numbers(first)}
    found: list[Any] = [[passes, places and list(map(list, places))] for passes, places in memory(network, word, steps)]
    known: dict[str, dict[str, Any]] = {"shows": SHOWS, "first": FIRST}
    return {
        "construction": network.construction,
        **{key: each[network.construction] for key, each in known.items() if network.construction in each},
        "file": ir.to_dict(network),
        "start": start | {"word": [] if tape is None else [_numbers(row) for row in tape]},
        "steps": found,
    }


def _numbers(vector: Any) -> list[Any]:
    """A vector for the page: numbers, or numerators with their denominator and the roots that they are divided by."""
    from turing.exact import Exact

    if not isinstance(vector, Exact):
        return [int(value) if value == int(value) else value for value in vector.tolist()]
    if vector.denominator == 1 and not vector.roots:
        return vector.numerators
    roots = [vector.roots.get(place, 1) for place in range(len(vector))] if vector.roots else None
    return [list(map(str, vector.numerators)), str(vector.denominator), *([list(map(str, roots))] if roots else [])]
