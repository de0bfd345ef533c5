"""The norm circle: cells as directions, and the key that is nearest to the query in three number types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import traitlets

from turing.machine import TuringMachine
from turing.widgets.base import Widget, joined, style, table
from turing.widgets.machine import word_of

if TYPE_CHECKING:
    from turing.merrill import Merrill24

__all__ = ["NormCircle"]

MAX_SYMBOLS, MAX_STEPS = 24, 80
ARITHMETICS = ("exact", "float64", "float32")
BEST = 6  # keys in the fallback


def _network(network: Merrill24, _widget: object = None) -> dict:
    from turing import ir

    return ir.to_dict(network)


class NormCircle(Widget):
    """The head of ``merrill24`` that finds the last write on a cell: query and keys as rays, and their products.

    The network runs in the page. ``step`` is a step of the machine, at most 80; in floats the run ends where another
    key is fetched than in exact arithmetic. ``machine`` is that of balanced parentheses unless given; give a ``word``
    with your own. ``word``, ``step`` and ``arithmetic`` are live.

    >>> NormCircle("B()E", step=3)
    NormCircle('B()E', step=3, arithmetic='float32')

    Chapter: :doc:`/book/layer-norm`.
    """

    _esm = joined("norm_circle/widget.js")
    _css = style("norm_circle/widget.css")

    network: traitlets.TraitType[Any, Any] = traitlets.TraitType(read_only=True).tag(sync=True, to_json=_network)
    max = traitlets.Dict({"symbols": MAX_SYMBOLS, "steps": MAX_STEPS}, read_only=True).tag(sync=True)
    # Plain traits: the validators below say what is expected.
    word: traitlets.TraitType[Any, Any] = traitlets.TraitType("").tag(sync=True)
    step: traitlets.TraitType[int, int] = traitlets.TraitType(1).tag(sync=True)
    arithmetic: traitlets.TraitType[str, str] = traitlets.TraitType("float32").tag(sync=True)

    def __init__(
        self,
        word: Iterable[str] = "B((()))E",
        step: int = 1,
        arithmetic: str = "float32",
        machine: TuringMachine | None = None,
    ):
        from turing.merrill import Merrill24
        from turing.zoo import zoo

        if machine is not None and not isinstance(machine, TuringMachine):
            raise TypeError(f"NormCircle takes a TuringMachine, and {machine!r} was given.")
        self._own = machine
        self.set_trait("network", Merrill24(machine or zoo["balanced_parentheses"]))
        super().__init__()
        self.word, self.step, self.arithmetic = word, step, arithmetic

    @traitlets.validate("word")
    def _valid_word(self, proposal: dict) -> str | list[str]:
        word = word_of(self.network.machine, proposal["value"])
        if len(word) > MAX_SYMBOLS:
            raise ValueError(f"The widget takes words of {MAX_SYMBOLS} symbols at most, and {len(word)} were given.")
        return word

    @traitlets.validate("step")
    def _valid_step(self, proposal: dict) -> int:
        step = proposal["value"]
        if isinstance(step, bool) or not isinstance(step, int) or not 1 <= step <= MAX_STEPS:
            raise ValueError(f"The widget shows steps 1 to {MAX_STEPS}, and step={step!r} was given.")
        return step

    @traitlets.validate("arithmetic")
    def _valid_arithmetic(self, proposal: dict) -> str:
        if proposal["value"] not in ARITHMETICS:
            names = ", ".join(f'"{name}"' for name in ARITHMETICS)
            raise ValueError(f"arithmetic is one of {names}, and {proposal['value']!r} was given.")
        return proposal["value"]

    def fallback(self) -> str:
        machine = self.network.machine
        cells = [now.head for now in machine.trace(self.word, self.step)]
        step = min(self.step, max(len(cells) - 1, 1))
        state = self.network.start([self.word])
        for _ in range(step):
            state = self.network.step(state)
        head, keys = self.network.pipeline["last"], state.memory["last"][0]
        scores = head.query(state.vectors["word"]).dots(keys)
        places = [0, *cells]
        order = sorted(range(len(scores)), key=lambda j: float(scores[j]), reverse=True)[:BEST]
        rows = [(j + 1, places[j], f"{float(1 - scores[j]):.3g}") for j in order]
        return (
            f"<p>At step {step} the tape head is on cell {cells[step - 1]}. The column whose score is nearest to 1 is "
            f"fetched.</p>\n{table(('column', 'wrote on cell', '1 − score'), rows)}"
            "<p>With scripts on, the page lets you walk through the run in exact arithmetic, float64 and float32.</p>"
        )

    def __repr__(self) -> str:
        machine = f", machine={self._own!r}" if self._own else ""
        return f"NormCircle({self.word!r}, step={self.step}, arithmetic={self.arithmetic!r}{machine})"
