"""The weight reader: a transition as Hinton squares, lit by the steps of the machine that it runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import traitlets

from turing.machine import TuringMachine
from turing.widgets.base import Widget, joined, style
from turing.widgets.machine import entry_to_json, machine_to_json, word_of
from turing.zoo import zoo

if TYPE_CHECKING:
    from torch import nn

__all__ = ["WeightReader"]

MAX_STEPS = 300


class WeightReader(Widget):
    """Run a machine by the weights of its transition function, and see which of them made each step.

    ``delta`` is a network of ReLU layers that computes the transition function of ``machine``, such as
    :class:`turing.dnf.Transition`. It reads the state and the symbol in the slices ``st`` and ``sym1``, and writes the
    next state, the symbol to write and the move to ``st``, ``sym2`` and ``scr5``. The page runs the machine with these
    numbers alone. ``word`` and ``step`` are live.

    Example::

        machine = turing.zoo["bb3"]
        layout = turing.layout.state_vector(machine, bits=3)
        WeightReader(turing.dnf.Transition(machine, layout), machine, "")

    Chapter: :doc:`/book/dnf`.
    """

    _esm = joined("weight_reader/widget.js")
    _css = style("weight_reader/widget.css", "page/tape.css")

    machine = traitlets.Instance(TuringMachine, read_only=True).tag(sync=True, to_json=machine_to_json)
    entry: traitlets.Dict[str, object] = traitlets.Dict(read_only=True).tag(sync=True)
    network = traitlets.Dict(read_only=True).tag(sync=True)
    picture = traitlets.Unicode(read_only=True).tag(sync=True)
    max_steps = traitlets.Int(read_only=True).tag(sync=True)
    word = traitlets.Any("").tag(sync=True)
    step = traitlets.Int(0, min=0).tag(sync=True)

    def __init__(self, delta: nn.Module, machine: TuringMachine, word: Iterable[str] = "", max_steps: int = MAX_STEPS):
        from turing import ir
        from turing.views import draw

        if not isinstance(machine, TuringMachine):
            raise TypeError(
                f"WeightReader takes a transition and then its TuringMachine, and {machine!r} was given. "
                f"Give WeightReader(Transition(machine, layout), machine, word)."
            )
        found = ir.of(delta)
        wanted = {"st": machine.states, "sym1": machine.symbols}, {"st": machine.states, "sym2": machine.symbols}
        for labelled, layout in zip(wanted, (found.layouts[0], found.layouts[-1]), strict=True):
            for name, labels in labelled.items():
                if name not in layout.slices or tuple(layout[name].labels) != tuple(labels):
                    raise ValueError(
                        f"The transition has no slice {name!r} with the labels {' '.join(labels)}. "
                        f"Give Transition(machine, turing.layout.state_vector(machine, bits))."
                    )
        word = word if isinstance(word, str) else tuple(word)
        machine.trace(word, max_steps)  # refuses either in the machine's own words
        self._picture = draw(delta)
        self.set_trait("machine", machine)
        self.set_trait("entry", entry_to_json(zoo.entry_of(machine)))
        self.set_trait("network", ir.to_dict(found))
        self.set_trait("picture", self._picture.svg)
        self.set_trait("max_steps", max_steps)
        super().__init__(word=word)

    @traitlets.validate("word")
    def _valid_word(self, proposal: dict) -> str | list[str]:
        return word_of(self.machine, proposal["value"])

    @traitlets.observe("word")
    def _start_again(self, _change: dict) -> None:
        if "word" not in self._property_lock:  # otherwise it came from the page, together with its step
            self.step = 0

    def fallback(self) -> str:
        return (
            f"{self._picture._repr_html_()}\n<p>Each row is a place that is written, each column one that is read. "
            f"With scripts on, the page runs the machine by these weights and lights the detector that fires; "
            f"in Python, <code>turing.show</code> writes them as equations.</p>"
        )

    def __repr__(self) -> str:
        return f"WeightReader({self.machine!r}, {self.word!r})"
