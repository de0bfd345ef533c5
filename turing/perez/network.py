"""The transformer of a machine by Pérez, Barceló and Marinković: where the head is, is an average of its moves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import torch
from torch import nn

from turing import arguments, ir, ss  # noqa: F401  # ss: the chapter before registers its constructions first
from turing.assembly import copied, head, joined, labelled, layers, places, split
from turing.attention import Attention
from turing.construction import Construction, Expectation, Reading, State, register
from turing.exact import Exact
from turing.layout import Layout
from turing.machine import TuringMachine
from turing.modules import TYPES, Row, Rows
from turing.perez.normal_form import NormalForm
from turing.precision import check_margin
from turing.stack_machine import name_of

__all__ = ["Perez21"]

ROUNDINGS = 2, 4  # in the query a division and a product; in the key a division, then the product and two sums


@register
class Perez21(Construction):
    """The transformer of Pérez, Barceló and Marinković for a Turing machine.

    ``forward`` is one step not of the machine itself but of its :class:`NormalForm`, which first reads a word of n
    symbols in 2n + 3 passes and then takes one pass for each step, and two for a stay. Of a run, ``steps`` counts the
    steps of the machine itself, and ``micro_steps`` the passes.

    A column holds state, symbol and the last move. One attention head fetches the next symbol of the word, one averages
    all moves, which gives the tape head's cell divided by the number of passes, and one fetches what was written there
    last. The one option:

    - ``arithmetic``: ``"exact"``, the default, is right for runs of any length. ``"float64"`` and ``"float32"`` are
      faster in PyTorch, and a longer run raises :class:`~turing.precision.PrecisionError` before it fetches a wrong
      column.

    >>> import turing
    >>> from turing.perez import Perez21
    >>> net = Perez21(turing.zoo["balanced_parentheses"])
    >>> run = net.run("B()E")
    >>> run.state, run.steps, run.micro_steps, net.layout.width
    ('T', 9, 20, 53)

    Chapter: :doc:`/book/averages`.
    """

    construction = "perez21"
    loop = ir.Loop("column", (("pos", "powers"),))
    batched = False

    def __init__(self, machine: TuringMachine, arithmetic: str = "exact"):
        super().__init__()
        if arithmetic not in tuple(TYPES):
            raise ValueError(f"An arithmetic is one of {', '.join(TYPES)}, and {arithmetic!r} was given.")
        self.machine, self.form, self.options = machine, NormalForm(machine), {"arithmetic": arithmetic}
        states, symbols = self.form.machine.states, self.form.machine.symbols
        self.passes_per_step = 2 if self.form.stays else 1
        self.layout = Layout(
            st1=states, sym1=symbols, mov1=1,  # the token: state, symbol, and the move that led here
            st2=states, sym2=symbols, mov2=1, mov3=1,  # what the rule says; the move before it
            avg2=1, avg3=1,  # of all moves, with this one and without
            sym3=symbols, word=1,  # the symbol of the word that comes next, if there is one
            sym4=symbols, step=1,  # what was written last on the cell that comes next, and at which step
            pos=["1", "i", "1/i", "1/i²"],
        )  # fmt: skip
        width, rules = self.layout.width, len(self.form.machine.delta)
        arguments.network_size(repr(machine), f"in {self.construction}", width * (2 * rules + 3 * width))
        self.pipeline = nn.ModuleDict(
            {
                "input": self._input(arithmetic),
                "transition": self._transition(arithmetic),
                "count": self._count(arithmetic),
                "last": self._last(arithmetic),
                "output": self._output(arithmetic),
            }
        )

    @property
    def tolerance(self) -> Fraction | int:  # type: ignore[override]  # of the type that the weights have now
        """By how much a number may differ from what ``turing.verify`` expects: 0 in exact arithmetic."""
        return 0 if self.arithmetic == "exact" else Fraction(torch.finfo(self._like.dtype).eps)

    def _input(self, arithmetic: str) -> Attention:
        """Fetch symbol i of the word: score −|2i − 2j|; where the word is over, the null key wins, with −1."""
        x = self.layout
        one, i = x.pos["1"], x.pos["i"]
        value = {k: {place: 1} for k, place in enumerate(x.sym1)} | {len(x.sym1): {one: 1}}
        into: list[Row] = [{place: 1} for place in [*x.sym3, x.word[0]]]
        maps = {0: {i: 2}, 1: {one: 2}, 2: {one: 1}}, {0: {one: 1}, 1: {i: -1}}, value
        return head(x, 3, maps, into, arithmetic, "cross", null=[0, 0, 1])

    def _transition(self, arithmetic: str) -> nn.Sequential:
        """δ: a neuron for each rule is the AND of its state and its symbol."""
        x, delta = self.layout, self.form.machine.delta
        y = Layout(rule=[name_of(q, a) for q, a in delta], mov=["+", "-"], sym3=x.sym3.labels, word=1, pos=x.pos.labels)
        detect: Rows = {rule: {x.st1[q]: 1, x.sym1[a]: 1, None: -1} for rule, (q, a) in zip(y.rule, delta, strict=True)}
        detect |= split(x.mov1[0], y.mov) | copied(x, y, "sym3", "word", "pos")
        write: Rows = {place: {} for name in ("st2", "sym2", "mov2") for place in x[name]}
        for rule, (target, written, move) in zip(y.rule, delta.values(), strict=True):
            write[x.st2[target]][rule] = write[x.sym2[written]][rule] = 1
            write[x.mov2[0]][rule] = move
        write |= joined(y.mov, x.mov3[0]) | copied(y, x, "sym3", "word", "pos")
        return layers([x, y, x], [detect, write], arithmetic)

    def _count(self, arithmetic: str) -> Attention:
        """The average of all moves so far, with this one and without: all keys are 0, so all tie."""
        x = self.layout
        value: Rows = {0: {x.mov2[0]: 1}, 1: {x.mov3[0]: 1}}
        into: list[Row] = [{x.avg2[0]: 1}, {x.avg3[0]: 1}]
        return head(x, 1, ({0: {None: 1}}, {}, value), into, arithmetic, "causal")

    def _last(self, arithmetic: str) -> Attention:
        """The last write on the next cell: ⟨q, k⟩ = (3(c − cⱼ) + 1/i) / (ij)."""
        x = self.layout
        inverse, i = x.pos["1/i"], x.pos["i"]
        query: Rows = {0: {x.avg2[0]: 3}, 1: {inverse: 3}, 2: {x.pos["1/i²"]: 1}}
        key: Rows = {0: {inverse: 1}, 1: {x.avg3[0]: -1}, 2: {inverse: 1}}
        value: Rows = {k: {place: 1} for k, place in enumerate([*x.sym2, i])}
        into: list[Row] = [{place: 1} for place in [*x.sym4, x.step[0]]]
        return head(x, 3, (query, key, value), into, arithmetic, "causal")

    def _output(self, arithmetic: str) -> nn.Sequential:
        """The next token: its symbol is the word's, else the one written last, else the mark."""
        x, symbols = self.layout, self.form.machine.symbols
        y = Layout(st2=x.st2.labels, mov=["+", "-"], sym3=symbols, word=1, sym4=symbols, new=1)
        z = Layout(st2=x.st2.labels, mov=["+", "-"], sym3=symbols, sym4=symbols, blank=1)
        found: Rows = copied(x, y, "st2", "sym3", "word", "sym4") | split(x.mov2[0], y.mov)
        found[y.new[0]] = {x.pos["i"]: -1, x.step[0]: 1, None: 1}  # 1 if the head found only this very step
        choose: Rows = copied(y, z, "st2", "mov", "sym3")
        for place, written in zip(z.sym4, y.sym4, strict=True):
            choose[place] = {written: 1, y.new[0]: -1, y.word[0]: -1}
        choose[z.blank[0]] = {y.new[0]: 1, y.word[0]: -1}
        write: Rows = {target: {source: 1} for target, source in zip(x.st1, z.st2, strict=True)}
        write |= {target: dict.fromkeys(pair, 1) for target, *pair in zip(x.sym1, z.sym3, z.sym4, strict=True)}
        write[x.sym1[self.form.mark]][z.blank[0]] = 1
        return layers([x, y, z, x], [found, choose, write | joined(z.mov, x.mov1[0])], arithmetic)

    def encode(self, word: Iterable[str]) -> Any:
        """The word for the first head, a row for each cell: its symbol, and its number from 1 on.

        Chapter: :doc:`/book/averages`.
        """
        rows = []
        for number, symbol in enumerate(self.machine.tape(word).values()):
            column: list[Any] = [0] * self.layout.width
            column[self.layout.sym1[symbol]] = 1
            column[self.layout.pos.slice] = ir.POSITIONS["powers"](number, 4)
            rows.append(self.vector(column))
        if self.arithmetic == "exact":
            return rows
        return torch.stack(rows) if rows else self._like.new_zeros(0, self.layout.width)

    def initial(self, word: Iterable[str]) -> Any:
        """The first column, the same for every word: the state of the normal form, the mark, and step 1.

        Chapter: :doc:`/book/averages`.
        """
        self.machine.tape(word)  # says what is wrong with it
        column: list[Any] = [0] * self.layout.width
        column[self.layout.st1[self.form.enter]] = column[self.layout.sym1[self.form.mark]] = 1
        column[self.layout.pos.slice] = ir.POSITIONS["powers"](0, 4)
        return self.vector(column)

    def max_passes(self, words: Sequence[Sequence[str]], steps: int) -> int:
        """The steps of the normal form."""
        return max(map(self.form.read_steps, words)) + super().max_passes(words, steps)

    def read(self, state: State) -> list[Reading | None]:
        """What the pass before a state has done; None while the word is read, and in the middle of a stay.

        Chapter: :doc:`/book/averages`.
        """
        form, vectors = self.form, state.vectors
        if not isinstance(state.x, Exact):
            check_margin("last", self.pipeline["last"], vectors["count"], state.memory["last"][0], ROUNDINGS)
        before, after = (labelled(self.layout.st1, x) for x in (vectors["column"], state.x))
        if after is None:
            return [Reading(None)]
        symbol, written = labelled(self.layout.sym1, state.x), labelled(self.layout.sym2, vectors["transition"])
        if symbol is None or written is None:
            raise ArithmeticError("no symbol is written or read. turing.verify finds the step where that begins.")
        if before in form.reading or after in form.stays.values():
            return [None]
        if before in form.stays.values():  # back on the cell where it was
            return [Reading(after, form.symbol(symbol), form.symbol(symbol), 0)]
        return [Reading(after, form.symbol(symbol), form.symbol(written), round(float(state.x[self.layout.mov1[0]])))]

    def kept(self, state: State) -> list[tuple[str, int]]:
        """The column of the last write on the cell, which may be one that read the word; before, the word itself.

        Chapter: :doc:`/book/table`.
        """
        if not state.passes:
            return [("input", 0)] if len(state.tape) else []
        row = self._looks_at(state, "last")
        return [("last", row)] if row < state.passes - 1 else []  # it finds itself where it has never been

    def expected(
        self, machine: TuringMachine, word: Iterable[str], max_steps: int | None = None
    ) -> Iterator[Expectation]:
        """What the vectors have to be for a machine with these states and symbols, from the run of its normal form.

        Chapter: :doc:`/book/averages`.
        """
        self.same_names(machine)
        word, limit = list(machine.tape(word).values()), self._limit(max_steps)
        if machine.initial in machine.halting or not limit:
            return
        form, step = NormalForm(machine), 1
        # A stay that this network does not have leads to no state of its own.
        own_name: dict[str | None, str | None] = {
            middle: self.form.stays.get(target) for target, middle in form.stays.items()
        }
        middle, before, written = set(form.stays.values()), 0, []
        cells: list[int] = []
        for now in form.machine.trace(form.word(word), self.max_passes([word], limit)):
            if now.state in machine.halting or step > limit:
                return
            i, rule = now.step + 1, form.machine.delta.get((now.state, now.symbol))
            cells.append(now.head)
            target, new, move = rule or (None, None, 0)
            written.append(new)
            cell = now.head + move
            visits = [j for j, visited in enumerate(cells) if visited == cell]
            last = visits[-1] if visits else now.step
            comes = word[i - 1] if i <= len(word) else None
            pos = dict(zip(self.layout.pos.names(), ir.POSITIONS["powers"](now.step, 4), strict=True))
            own = places(st1=own_name.get(now.state, now.state), sym1=now.symbol, mov1=before) | pos
            asked = places(sym3=comes, word=int(comes is not None))
            following = own_name.get(target, target)
            done = places(st2=following, sym2=new, mov2=move, mov3=before) | asked | pos
            counted = done | places(avg2=Fraction(cell, i), avg3=Fraction(now.head, i))
            found = counted | places(sym4=written[last], step=last + 1)
            symbol = comes or (form.mark if last == now.step else written[last])
            token = places(st1=following, sym1=symbol, mov1=move)
            names = ["input", "transition", "count", "last", "output"]
            yield Expectation(step, dict(zip(names, [own | asked, done, counted, found, token], strict=True)))
            before, reading = move, now.state in form.reading
            step += not reading and target not in middle

    def about(self) -> dict[str, str]:
        """The network in a few rows, for people."""
        stays = ", and a step more for a stay" if self.form.stays else ""
        return super().about() | {
            "network": f"{self.construction}, {self.arithmetic}",
            "a step": f"1 pass, after 2n + 3 passes that read a word of n cells{stays}",
        }
