"""The tape stepper: a Turing machine under the reader's fingers."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from itertools import islice

import traitlets

from turing.machine import TuringMachine
from turing.pictures import state_diagram
from turing.widgets.base import Widget, joined, style
from turing.widgets.machine import entry_to_json, machine_to_json, result, rules_table, word_of
from turing.zoo import zoo

__all__ = ["Stepper"]

LINES = 12  # of the trace, in the fallback


class Stepper(Widget):
    """Step through a run, back and forth, and type words of your own.

    ``word`` is what ``machine.run`` takes: a string, or a list if some symbol is longer than one character. The run is
    shown up to step ``max_steps``. ``word`` and ``step`` are live.

    Example::

        Stepper(turing.zoo["binary_increment"], "1011")

    Chapter: :doc:`/book/machines`.
    """

    _esm = joined("stepper/widget.js")
    _css = style("stepper/widget.css", "page/tape.css")

    machine = traitlets.Instance(TuringMachine, read_only=True).tag(sync=True, to_json=machine_to_json)
    entry: traitlets.Dict[str, object] = traitlets.Dict(read_only=True).tag(sync=True)
    diagram = traitlets.Unicode(read_only=True).tag(sync=True)
    max_steps = traitlets.Int(read_only=True).tag(sync=True)
    word = traitlets.Any("").tag(sync=True)
    step = traitlets.Int(0, min=0).tag(sync=True)

    def __init__(self, machine: TuringMachine, word: Iterable[str] = "", max_steps: int = 2000):
        if not isinstance(machine, TuringMachine):
            raise TypeError(f"Stepper takes a TuringMachine, and {machine!r} was given. See TuringMachine.parse.")
        word = word if isinstance(word, str) else tuple(word)
        machine.trace(word, max_steps)  # refuses either in the machine's own words
        self.set_trait("machine", machine)
        self.set_trait("entry", entry_to_json(zoo.entry_of(machine)))
        self.set_trait("diagram", state_diagram(machine).svg)
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
        run = self.machine.run(self.word, self.max_steps)
        trace = [str(configuration) for configuration in islice(run.trace, LINES)]
        if run.steps >= LINES:
            trace.append("…")
        return (
            f"{rules_table(self.machine)}<pre>{escape(chr(10).join(trace))}</pre>\n"
            f"<p>On this word: {result(self.machine, run)} With scripts on, the page steps through the run; "
            "in Python, <code>machine.trace(word)</code> does.</p>"
        )

    def __repr__(self) -> str:
        return f"Stepper({self.machine!r}, {self.word!r})"
