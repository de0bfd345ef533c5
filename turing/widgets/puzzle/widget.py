"""The weight puzzle: an exercise of weights that the reader does in the page itself."""

from __future__ import annotations

from difflib import get_close_matches
from html import escape

import traitlets

from turing.exercises import CHAPTERS, Wrong, exercises
from turing.exercises.weights import WeightPuzzle, numbers, score
from turing.layout import Layout
from turing.widgets.base import Widget, joined, style, table

__all__ = ["Puzzle"]


def _json(puzzle: WeightPuzzle, _widget: object = None) -> dict:
    """The puzzle for the ES module: names, and the table that the check goes through."""
    return {
        "inputs": _places(puzzle.inputs),
        "outputs": _places(puzzle.outputs),
        "slices": [{"name": part.name, "colour": part.colour} for part in puzzle.inputs],
        "rows": [
            {"name": puzzle.row_name(row), "given": puzzle.given(row), "row": list(row), "expected": list(expected)}
            for row, expected in puzzle.rows()
        ],
        "start": [[W, b] for W, b in puzzle.grid()],
        "best": puzzle.best and score(numbers(puzzle.best)),
        "proof": puzzle.proof,
    }


def _places(layout: Layout) -> list[dict]:
    return [{"name": name, "colour": part.colour} for part in layout for name in part.names()]


class Puzzle(Widget):
    """Layers whose numbers the reader sets, held against the truth table of an exercise.

    ``name`` is that of an exercise whose answer is weights, such as ``"majority"``; ``Puzzle("")`` raises an error that
    lists them all. The rows are those that :func:`turing.check <turing.exercises.check>` tries. ``layers`` is live: the
    numbers in the page, a list of layers ``[W, b]``, which the function of an answer may return.

    Example::

        Puzzle("majority")

    Chapter: :doc:`/book/gates`.
    """

    _esm = joined("puzzle/widget.js")
    _css = style("page/neurons.css", "puzzle/widget.css")

    name = traitlets.Unicode(read_only=True).tag(sync=True)
    puzzle = traitlets.Instance(WeightPuzzle, read_only=True).tag(sync=True, to_json=_json)
    layers: traitlets.List[list] = traitlets.List().tag(sync=True)

    def __init__(self, name: str):
        puzzle = _found(name)
        self.set_trait("name", name)
        self.set_trait("puzzle", puzzle)
        super().__init__(layers=puzzle.grid())

    @traitlets.validate("layers")
    def _valid_layers(self, proposal: dict) -> list:
        try:
            layers = self.puzzle.read(proposal["value"])
        except Wrong as wrong:
            raise ValueError(str(wrong)) from None
        sizes, largest = [len(b) for _, b in layers[:-1]], self.puzzle.hidden
        if bool(sizes) != bool(largest) or len(sizes) > len(largest) or sum(sizes) > sum(largest):
            raise ValueError(
                f"The grid of {self.name} has hidden layers of {list(largest)} neurons, and {sizes} were given."
            )
        return [[W, b] for W, b in layers]

    def fallback(self) -> str:
        inputs, outputs = [part.name for part in self.puzzle.inputs], self.puzzle.outputs.names()
        shapes = "\n".join(
            f"<li>layer {number}: W is {len(W)} × {len(W[0])}, b has {len(b)}</li>"
            for number, (W, b) in enumerate(self.puzzle.grid(), start=1)
        )
        rows = [(*self.puzzle.given(row), *expected) for row, expected in self.puzzle.rows()]
        return (
            f"<p>{escape(' '.join(inputs))} → {escape(' '.join(outputs))}, each layer followed by ReLU:</p>\n"
            f"<ul>\n{shapes}\n</ul>\n{table([*inputs, *outputs], rows)}"
            f"<p>With scripts on, you set the numbers in the page; in Python, "
            f"<code>turing.check({self.name})</code> checks them.</p>"
        )

    def __repr__(self) -> str:
        return f"Puzzle({self.name!r})"


def _found(name: object) -> WeightPuzzle:
    judges = {other: judge for chapter in CHAPTERS for other, judge in exercises(chapter).items()}
    puzzles = {other: judge for other, judge in judges.items() if isinstance(judge, WeightPuzzle)}
    if not isinstance(name, str) or name not in judges:
        close = get_close_matches(name, puzzles, n=1, cutoff=0.5) if isinstance(name, str) else []
        raise ValueError(
            f"No exercise is called {name!r}{f'; did you mean {close[0]!r}' if close else ''}. "
            f"The weight puzzles: {', '.join(puzzles)}."
        )
    if name not in puzzles:
        raise ValueError(f"The answer to {name} is not made of weights. The weight puzzles: {', '.join(puzzles)}.")
    return puzzles[name]
