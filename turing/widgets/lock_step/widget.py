"""Lock step: a machine and its transformer, beat by beat."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

import traitlets

from turing.machine import TuringMachine
from turing.widgets.base import Widget, joined, style
from turing.widgets.lock_step.scene import still
from turing.widgets.machine import entry_to_json, result, rules_table, word_of
from turing.zoo import zoo

__all__ = ["LockStep"]

MAX_RULES, MAX_WORD, MAX_STEPS = 16, 16, 160
STILL = 7  # the step of the picture that the widget falls back to


class LockStep(Widget):
    """A machine and its transformer side by side, and the weights that the reader may break.

    Each step has four beats: the column of a rule lights up in the matrix that holds the rules; three wires carry the
    next state, the symbol to write and the move out of it; the head moves; and attention finds who was last on the new
    cell. All of it comes out of the network, which runs in the page; the plain interpreter runs beside it.

    - ``machine``: a Turing machine with at most 16 rules and names of one character; by default
      ``balanced_parentheses``
    - ``word``: at most 16 symbols
    - ``page``: the address of a page that has a :class:`Lab` with ``link=True``, to which the widget then links
    - ``task``: a line that says what the machine does

    ``word`` and ``step`` are live.

    Chapter: :doc:`/book/index`.
    """

    _esm = joined("lock_step/widget.js")
    _css = style("lock_step/widget.css", "page/tape.css")

    file: traitlets.Dict[str, object] = traitlets.Dict(read_only=True).tag(sync=True)
    entry: traitlets.Dict[str, object] = traitlets.Dict(read_only=True).tag(sync=True)
    name = traitlets.Unicode(read_only=True).tag(sync=True)
    task = traitlets.Unicode("", read_only=True).tag(sync=True)
    page = traitlets.Unicode("", read_only=True).tag(sync=True)
    word = traitlets.Any("").tag(sync=True)
    step = traitlets.Int(0, min=0).tag(sync=True)

    def __init__(self, machine: TuringMachine | None = None, word: Iterable[str] = "", page: str = "", task: str = ""):
        import turing
        from turing.ir import to_dict

        machine = zoo["balanced_parentheses"] if machine is None else machine
        if not isinstance(machine, TuringMachine):
            raise TypeError(f"LockStep takes a TuringMachine, and {machine!r} was given. See TuringMachine.parse.")
        longest = max(map(len, (*machine.states, *machine.symbols)))
        if longest > 1 or len(machine.delta) > MAX_RULES:
            raise ValueError(
                f"LockStep draws up to {MAX_RULES} rules with names of one character, and {machine!r} was given, "
                f"whose longest name has {longest}. Show it with Lab."
            )
        self._machine = machine
        self._net = turing.compile(machine, "wcm21", T=MAX_STEPS, adder="lookahead")
        entry = zoo.entry_of(machine)
        self.set_trait("file", to_dict(self._net))
        self.set_trait("entry", entry_to_json(entry) | {"tasks": dict(entry.tasks) if entry else {}})
        self.set_trait("name", entry.name if entry else machine.dumps("json"))
        self.set_trait("page", page)
        self.set_trait("task", task)
        super().__init__(word=word if isinstance(word, str) else tuple(word))

    @traitlets.validate("word")
    def _valid_word(self, proposal: dict) -> str:
        word = "".join(word_of(self._machine, proposal["value"]))
        if len(word) > MAX_WORD:
            raise ValueError(f"LockStep takes words of up to {MAX_WORD} symbols, and {word!r} was given. Use Lab.")
        return word

    def fallback(self) -> str:
        run = self._net.run(self.word)
        rows = len(self._machine.states) + len(self._machine.symbols) + 2
        drawn = still(self._net, self.word, min(run.steps, STILL)).svg if run.steps else rules_table(self._machine)
        task = f'<p class="task">{escape(self.task)}</p>\n' if self.task else ""
        return (
            f'<div class="turing-still" style="--rows:{rows}">\n{task}{drawn}\n'
            f"<p>On this word: {result(self._machine, run)} With scripts on, the network runs in the page, and its "
            "weights can be broken.</p>\n</div>"
        )

    def __repr__(self) -> str:
        return f"LockStep({self._machine!r}, {self.word!r})"
