"""The average compass: the moves of a run, their average, and the scores by which a head finds the last visit."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import traitlets

from turing.machine import TuringMachine
from turing.widgets.base import Widget, joined, style, table
from turing.zoo import zoo

__all__ = ["AverageCompass"]

ARITHMETICS = ("exact", "float64", "float32")
BEST = 5  # keys in the fallback, as in the page


def _zigzag() -> TuringMachine:
    """Two steps right and one left, for ever."""
    moves = {"A": ("B", 1), "B": ("C", 1), "C": ("A", -1)}
    delta = {(state, symbol): (to, "1", move) for state, (to, move) in moves.items() for symbol in "01"}
    return TuringMachine(delta, "A", (), "0")


# Machine, word, and how many passes are shown: a few more than float32 gets right.
RUNS: dict[str, tuple[Any, str, int]] = {
    "zigzag": (_zigzag, "", 340),
    "busy beaver": (lambda: zoo["bb5"], "", 500),
    "parentheses": (lambda: zoo["balanced_parentheses"], f"B{'(' * 60}{')' * 60}E", 400),
}


@cache
def _run(name: str) -> dict:
    """A run for the ES module: the network in exact arithmetic, from which the page reads any other, and its start."""
    from turing.ir import to_dict
    from turing.perez import Perez21

    make, word, passes = RUNS[name]
    network = Perez21(make())
    rows = [[row.numerators, row.denominator] for row in network.encode(word)]
    column = network.initial(word).numerators  # at step 1 they are integers
    return {"name": name, "passes": passes, "file": to_dict(network), "start": {"column": column, "word": rows}}


@cache
def _cells(name: str) -> list[int]:
    """The cells of the head before each pass, and after the last."""
    from turing.perez import NormalForm

    make, word, passes = RUNS[name]
    form = NormalForm(make())
    return [now.head for now in form.machine.trace(form.word(word), passes)]


class AverageCompass(Widget):
    """Drag the number i of a pass: the history of moves, their average, and the scores of all steps so far.

    ``run`` is ``"zigzag"``, ``"busy beaver"`` or ``"parentheses"``, and ``arithmetic`` is ``"exact"``, ``"float64"`` or
    ``"float32"``. The page evaluates the network of ``turing.compile(machine, "perez21")`` itself. In floats it shows a
    run up to the first pass that fetches a wrong step; in Python the network would raise an error before. ``run``,
    ``i`` and ``arithmetic`` are live.

    Example::

        AverageCompass(i=20, arithmetic="exact")

    Chapter: :doc:`/book/averages`.
    """

    _esm = joined("average_compass/widget.js")
    _css = style("average_compass/widget.css")

    runs: traitlets.List[dict] = traitlets.List(read_only=True).tag(sync=True)
    # Plain traits: the validators below say what is expected.
    run: traitlets.TraitType[str, str] = traitlets.TraitType("zigzag").tag(sync=True)
    i: traitlets.TraitType[int, int] = traitlets.TraitType(1).tag(sync=True)
    arithmetic: traitlets.TraitType[str, str] = traitlets.TraitType("float32").tag(sync=True)

    def __init__(self, run: str = "zigzag", i: int = 12, arithmetic: str = "float32"):
        self.set_trait("runs", [_run(name) for name in RUNS])
        super().__init__()
        self.run, self.i, self.arithmetic = run, i, arithmetic

    @traitlets.validate("run", "arithmetic")
    def _valid_choice(self, proposal: dict) -> str:
        name, value = proposal["trait"].name, proposal["value"]
        known = tuple(RUNS) if name == "run" else ARITHMETICS
        if value not in known:
            raise ValueError(f"{name} is one of {', '.join(known)}, and {value!r} was given.")
        return value

    @traitlets.validate("i")
    def _valid_i(self, proposal: dict) -> int:
        i, last = proposal["value"], RUNS[self.run][2]
        if isinstance(i, bool) or not isinstance(i, int) or not 1 <= i <= last:
            raise ValueError(f"i is the number of a pass, 1 to {last} in this run, and {i!r} was given.")
        return i

    @traitlets.observe("run")
    def _fit(self, _change: dict) -> None:
        self.i = min(self.i, RUNS[self.run][2])

    def fallback(self) -> str:
        cells, i = _cells(self.run), self.i
        c = cells[i]
        scores = {j: -abs(Fraction(3 * (c - cells[j - 1]), i * j) + Fraction(1, i * i * j)) for j in range(1, i + 1)}
        best = sorted(scores, key=lambda j: scores[j], reverse=True)[:BEST]
        moves = " ".join("→" if b > a else "←" for a, b in pairwise(cells[: i + 1]))
        return (
            f"<p>The moves of {i} steps: {moves}</p>\n"
            f"<p>Their average is {c}/{i}, so the tape head comes to cell {c}. The best scores, exactly:</p>\n"
            + table(("step", "cell", "score"), ((j, cells[j - 1], scores[j]) for j in best))
            + "<p>With scripts on, the page runs the network, exactly or in floats, and lets you choose the step; in "
            'Python, <code>turing.compile(machine, "perez21")</code> does.</p>'
        )

    def __repr__(self) -> str:
        return f"AverageCompass({self.run!r}, i={self.i}, arithmetic={self.arithmetic!r})"
