"""The lab: a machine becomes a transformer in the page, and runs there."""

from __future__ import annotations

from collections.abc import Iterable

import traitlets

from turing.machine import TuringMachine
from turing.widgets.base import Widget, joined, style
from turing.widgets.machine import entry_to_json, machine_to_json, result, rules_table, word_of
from turing.zoo import zoo

__all__ = ["Lab"]

MAX_STEPS = 100_000  # of the run that the fallback describes


def _entries() -> list[dict]:
    """The machines of the zoo for the menu, with words to try, the steps that these take, and what a halt means."""
    return [
        {
            "name": entry.name,
            "title": entry.title,
            "machine": machine_to_json(entry.machine),
            "words": [
                sample.word if isinstance(sample.word, str) else " ".join(sample.word) for sample in entry.samples
            ],
            "steps": max(sample.steps or 0 for sample in entry.samples),
            **entry_to_json(entry),
        }
        for entry in map(zoo.entry, zoo)
    ]


class Lab(Widget):
    """Type or paste a Turing machine, watch it become a transformer, and run it, all in the page.

    The network's weights are written in the page, and everything that is shown of a run comes out of them. The plain
    interpreter runs beside the network, and the mark says whether both agree.

    - ``machine``: the Turing machine at first; by default ``balanced_parentheses``
    - ``word``: what ``machine.run`` takes; it is live
    - ``link=True`` keeps machine, word and step in the page's address, so that readers can share them. Use it once on a
      page.
    - ``page``: the address of a page with such a lab, to which this one then links

    Chapter: :doc:`/book/wcm21`.
    """

    _esm = joined("lab/widget.js")
    _css = style("lab/widget.css", "page/tape.css")

    machine = traitlets.Instance(TuringMachine, read_only=True).tag(sync=True, to_json=machine_to_json)
    word = traitlets.Any("").tag(sync=True)
    zoo: traitlets.List[dict] = traitlets.List(read_only=True).tag(sync=True)
    link = traitlets.Bool(False, read_only=True).tag(sync=True)
    page = traitlets.Unicode("", read_only=True).tag(sync=True)

    def __init__(
        self, machine: TuringMachine | None = None, word: Iterable[str] = "", link: bool = False, page: str = ""
    ):
        machine = zoo["balanced_parentheses"] if machine is None else machine
        if not isinstance(machine, TuringMachine):
            raise TypeError(f"Lab takes a TuringMachine, and {machine!r} was given. See TuringMachine.parse.")
        self.set_trait("machine", machine)
        self.set_trait("zoo", _entries())
        self.set_trait("link", link)
        self.set_trait("page", page)
        super().__init__(word=word if isinstance(word, str) else tuple(word))

    @traitlets.validate("word")
    def _valid_word(self, proposal: dict) -> str | list[str]:
        return word_of(self.machine, proposal["value"])

    def fallback(self) -> str:
        run = self.machine.run(self.word, MAX_STEPS)
        return (
            f'<div class="turing-lab-still">{rules_table(self.machine)}<p>On this word: {result(self.machine, run)} '
            "With scripts on, this machine becomes a transformer in the page; "
            "in Python, <code>turing.compile(machine, 'wcm21', T=100)</code> makes it.</p></div>"
        )

    def __repr__(self) -> str:
        return f"Lab({self.machine!r}, {self.word!r})"
