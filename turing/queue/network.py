"""The transformer of a machine by Li and Wang: a window of s tokens is a tape of s cells."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from turing import arguments, circuits  # noqa: F401  # circuits: the chapter before registers its construction first
from turing.assembly import copied, labelled, layers
from turing.attention import KAPPA, MAX_KAPPA, Attention, least_kappa
from turing.construction import Construction, Expectation, Reader, Reading, State, register
from turing.layout import Layout
from turing.machine import Configuration, Run, TuringMachine
from turing.modules import Argmax, Rational, Rows
from turing.queue.tokens import Token, step, vocabulary, written
from turing.stack_machine import name_of
from turing.wcm import CapacityError

__all__ = ["LiWang25"]

MAX_WINDOW = 100_000  # cells; a slip of the finger should not fill the memory


class Oldest(Attention):
    """The one head: it copies symbol and mark of the oldest token in the window, which alone scores more than 0."""

    def __init__(self, x: Layout, kappa: float):
        s, v = Layout(score=1), Layout(sym1=x.sym1.labels, mark=1)
        value = copied(x, v, "sym1", "mark")
        write: Rows = {to: {place: 1} for to, place in zip([*x.sym3, *x.end], [*v.sym1, *v.mark], strict=True)}
        every: list[tuple[Layout, Layout, Rows]] = [(x, s, {0: {None: 1}}), (x, s, {}), (x, v, value), (v, x, write)]
        query, key, values, out = (Rational(*each, "none", arithmetic="float32") for each in every)
        super().__init__(query, key, values, out, kappa=kappa, mask="window", oldest=torch.ones(1))
        self.layout = x

    def check(self) -> None:
        """Raise unless every token but the oldest gets a weight of exactly 0 in this number type."""
        oldest: Any = self.oldest
        gap, minimum = float(self.query.bias.detach() @ oldest.detach()), least_kappa(oldest.dtype, 1)
        if self.kappa is not None and not gap * self.kappa >= minimum:
            raise ValueError(
                f"κ = {self.kappa:g} is too small for {oldest.dtype}: the oldest token scores {gap:g} more than the "
                f"others, and these would keep some weight. With a gap of 1, take κ = {minimum} or more."
            )
        if self.kappa is not None and not gap * self.kappa <= MAX_KAPPA:
            raise ValueError(f"κ = {self.kappa:g} is infinite or not a number. Take one from {minimum} on.")


@register
class LiWang25(Construction):
    """The transformer of Li and Wang for a Turing machine: ``forward`` is the next token, from a window of the last s.

    A token is a cell of the tape, and the oldest one is the cell under the head. A move to the right writes one token;
    a move to the left and a stay go round once, in s tokens. One option belongs to the network:

    - ``kappa``: the factor on attention scores before the softmax. At 9999, the default, attention is hard; ``run``
      refuses a value too small for its number type.

    The window belongs to a run, ``net.run(word, window=80)``, since the weights do not depend on s:

    - ``window``: the number s of cells. Unless given, it is n + 2 for a word of n symbols, and twice as large whenever
      that is too small.

    >>> import turing
    >>> from turing.queue import LiWang25
    >>> net = LiWang25(turing.zoo["balanced_parentheses"])
    >>> run = net.run("B()E")
    >>> run.state, run.steps, run.micro_steps, net.layout.width
    ('T', 9, 29, 26)
    >>> net.run("B()E", window=80).micro_steps
    325

    Chapter: :doc:`/book/queue`.
    """

    construction = "liwang25"
    batched = False

    def __init__(self, machine: TuringMachine, kappa: float = KAPPA):
        super().__init__()
        self.machine, self.options = machine, {"kappa": kappa}
        self.window: int | None = None
        symbols, self.tokens = machine.symbols, vocabulary(machine)
        self.layout = x = Layout(
            sym1=symbols, mark=1, st=machine.states, mode=["run", "left", "stay"], sym2=symbols,  # the token
            sym3=symbols, end=1,  # symbol and mark of the oldest one
        )  # fmt: skip
        token = Layout(**{part.name: part.labels or part.size for part in list(x)[:5]})
        arguments.network_size(repr(machine), f"in {self.construction}", 2 * x.width * (len(self.tokens) + x.width))
        names = [str(each) for each in self.tokens]
        self.vocabulary = names if len({*names}) == len(names) else [repr(tuple(each)) for each in self.tokens]
        z, ones = Layout(tok=self.vocabulary), [{*_ones(token, each)} for each in self.tokens]
        self._places = ones
        logits = {k: dict.fromkeys(places, 2) | {None: -len(places)} for k, places in enumerate(ones)}
        embedding: Rows = {
            place: {k: 1 for k, places in enumerate(ones) if place in places} for place in range(token.width)
        }
        self.pipeline = nn.ModuleDict(
            {
                "oldest": Oldest(x, kappa),
                "transition": self._transition(token),
                "unembed": Rational(token, z, logits, "none", arithmetic="float32"),  # most for the token that fits
                "argmax": Argmax(z, ["tok"]),
                "embed": Rational(z, x, embedding, "none", arithmetic="float32"),
            }
        )

    def _transition(self, token: Layout) -> nn.Sequential:
        """A neuron for each rule, and a few that copy while a round lasts; then the token that these ask for."""
        x, delta, symbols = self.layout, self.machine.delta, self.machine.symbols
        y = Layout(
            rule=[name_of(q, a) for q, a in delta],
            give=symbols, take=symbols, copy=symbols, keep=x.st.labels, mode=["left", "stay"],
        )  # fmt: skip
        second: Rows = {token.sym1[a]: {y.give[a]: 1, y.copy[a]: 1} for a in symbols}
        second |= {token.sym2[a]: {y.take[a]: 1} for a in symbols}
        second |= {token.st[q]: {y.keep[q]: 1} for q in self.machine.states}
        second |= {token.mark[0]: {}, token.mode["run"]: {}}
        second |= {token.mode[name]: {y.mode[name]: 1} for name in ("left", "stay")}
        for rule, target in zip(y.rule, delta.values(), strict=True):
            for place in _ones(token, written(*target)):
                second[place][rule] = 1
        return layers([x, y, token], [self._detected(y), second], "float32")

    def _detected(self, y: Layout) -> Rows:
        """What each neuron of the first layer reads; None is its bias."""
        x = self.layout
        run, left, stay, end = *x.mode, *x.end
        rows: Rows = {}
        # It runs and reads a, or a round ends on a.
        for rule, (q, a) in zip(y.rule, self.machine.delta, strict=True):
            rows[rule] = {x.st[q]: 1, x.sym3[a]: 1, x.sym2[a]: 1, run: 2, end: 2, None: -3}
        for a in self.machine.symbols:  # a round goes on
            rows[y.give[a]] = {x.sym2[a]: 1, end: -1}
            rows[y.take[a]] = {x.sym3[a]: 1, left: 1, None: -1}
            rows[y.copy[a]] = {x.sym3[a]: 1, stay: 1, end: -1, None: -1}
        for q in self.machine.states:
            rows[y.keep[q]] = {x.st[q]: 1, run: -1, end: -1}
        return rows | {y.mode["left"]: {left: 1, end: -1}, y.mode["stay"]: {stay: 1, end: -1}}

    # The window of a run.

    def within(self, window: int) -> LiWang25:
        """The same network and tensors, for runs in a window of that many cells.

        >>> import turing
        >>> net = turing.compile(turing.zoo["balanced_parentheses"], "liwang25")
        >>> net.within(6).pipeline is net.within(600).pipeline
        True

        Chapter: :doc:`/book/queue`.
        """
        view = copy.copy(self)
        view.window = arguments.integer("window", window, 1, MAX_WINDOW, what="the number of cells that go round")
        return view

    def run(self, word: Iterable[str] = "", max_steps: int | None = None, engine: str = "torch", **options: Any) -> Run:
        """Run the network on a word, in a window of n + 2 cells; when a cell would be overwritten, the run starts again
        in a window twice as wide. The option ``window`` fixes the width instead. ``micro_steps`` counts the tokens of
        the run in the last window.

        Chapter: :doc:`/book/queue`.
        """
        window = options.pop("window", None)
        for option in options if engine == "torch" else ():
            raise TypeError(f"A run of {self.construction} has no option {option!r}. Its options: window.")
        return Construction.run(self if window is None else self.within(window), word, max_steps, engine, **options)

    def _size(self, word: Sequence[str]) -> int:
        return len(word) + 2 if self.window is None else self.window

    def _attempts(self, word: Sequence[str], limit: int) -> Iterator[tuple[LiWang25, Configuration, int]]:
        """The configurations of a run, with the network in the window in which each was found, and the passes."""
        window, done = self._size(word), -1
        while True:
            view = self.within(window)
            try:
                for now, passes in Construction._follow(view, Reader(view, word), limit):
                    if now.step > done:
                        done = now.step
                        yield view, now, passes
                return
            except CapacityError:
                if self.window is not None:
                    raise
                window *= 2

    def _follow(self, reader: Reader, limit: int, step: Any = None) -> Iterator[tuple[Configuration, int]]:
        return ((now, passes) for _, now, passes in self._attempts(reader.word, limit))

    def _fitted(self, word: Sequence[str], limit: int, passes: int | None = None) -> LiWang25:
        """The network in the window that a run takes, or that its first passes take."""
        found = self.within(self._size(word))
        with suppress(ArithmeticError, ValueError):  # damage may be looked at
            for view, _, done in self._attempts(word, limit):
                found = view
                if passes is not None and done >= passes:
                    break
        return found

    def _at(self, word: Iterable[str], step: int) -> State:
        word, step = arguments.word(word), arguments.integer("step", step, 1, what="the number of a pass")
        return Construction._at(self._fitted(word, self._limit(None), step), word, step)

    def rollout(self, word: Iterable[str], passes: int) -> Tensor:
        """The same as for other constructions, in the window that a run of so many passes takes.

        Chapter: :doc:`/book/queue`.
        """
        word, passes = arguments.word(word), arguments.integer("passes", passes, 0)
        return Construction.rollout(self._fitted(word, self._limit(None), passes), word, passes)

    def run_with_cache(self, word: Iterable[str], max_steps: int | None = None) -> tuple[Run, dict[str, Any]]:
        """The same as for other constructions, in the window that the run takes.

        Chapter: :doc:`/book/queue`.
        """
        word = arguments.word(word)
        return Construction.run_with_cache(self._fitted(word, self._limit(max_steps)), word, max_steps)

    def vectors(
        self, words: Iterable[Iterable[str]], max_steps: int | None = None, engine: str = "torch"
    ) -> Iterator[dict[str, Any]]:
        """The same as for other constructions, each word in the window that its run takes.

        Chapter: :doc:`/book/queue`.
        """
        found, limit = arguments.words(words), self._limit(max_steps)
        if not found or engine != "torch":
            return super().vectors(found, max_steps, engine)
        views = [self._fitted(word, limit) for word in found]
        passes = max(view.max_passes([word], limit) for view, word in zip(views, found, strict=True))
        every = (view._vectors([word], passes) for view, word in zip(views, found, strict=True))
        return ({name: torch.cat([one[name] for one in each]) for name in each[0]} for each in zip(*every, strict=True))

    def max_passes(self, words: Sequence[Sequence[str]], steps: int) -> int:
        """A round for each step at most."""
        return steps * max(map(self._size, words))

    # What a run begins with, and what its tokens say.

    def column(self, token: str) -> Tensor:
        """The vector of a token of the vocabulary, as the network embeds it. Shape: ``(w,)``.

        Chapter: :doc:`/book/queue`.
        """
        if token not in self.vocabulary:
            raise ValueError(
                f"Token {token!r} is not in this network's vocabulary of {len(self.vocabulary)}: "
                f"{arguments.listed(self.vocabulary)}"
            )
        place = torch.tensor(self.vocabulary.index(token))
        return self.pipeline["embed"](F.one_hot(place, len(self.vocabulary)).to(self._like))

    def prompt(self, word: Iterable[str]) -> list[str]:
        """The tokens of a word and of the blank cells after it, which fill the window.

        Chapter: :doc:`/book/queue`.
        """
        return [self._name(token) for token in self._prompt(self.machine, arguments.word(word))]

    def _prompt(self, machine: TuringMachine, word: Sequence[str]) -> list[Token]:
        if len(word) > self._size(word):
            raise CapacityError(f"The word has {len(word)} cells, and the window {self._size(word)}.")
        blank = [machine.blank] * (self._size(word) - len(word))
        return [Token(symbol, machine.initial) for symbol in [*machine.tape(word).values(), *blank]]

    def _name(self, token: Token) -> str:
        return self.vocabulary[self.tokens.index(token)]

    def encode(self, word: Iterable[str]) -> Tensor:
        """The window without its newest token, a row for each cell. Shape: ``(s - 1, w)``.

        Chapter: :doc:`/book/queue`.
        """
        rows = [self.column(token) for token in self.prompt(word)[:-1]]
        return torch.stack(rows) if rows else self._like.new_zeros(0, self.layout.width)

    def initial(self, word: Iterable[str]) -> Tensor:
        """The newest token of the window. Shape: ``(w,)``.

        Chapter: :doc:`/book/queue`.
        """
        return self.column(self.prompt(word)[-1])

    def read(self, state: State) -> list[Reading | None]:
        """What the token before a state has done; None while a round lasts.

        Chapter: :doc:`/book/queue`.
        """
        x, layout = state.x, self.layout
        head: Any = self.pipeline["oldest"]
        target, mode = labelled(layout.st, x), labelled(layout.mode, x)
        if target is None or mode is None:
            return [Reading(None)]
        values = torch.cat([state.memory["oldest"][1][1:3], head.value(x.unsqueeze(0))])  # of the next window
        symbol, marked = _cell(head, values[0])
        if mode == "run":
            return [Reading(target, symbol, labelled(layout.sym1, x), 1)]
        if not marked:
            return [None]
        if mode == "stay":
            return [Reading(target, symbol, symbol, 0)]
        held = labelled(layout.sym2, x)
        return [Reading(target, held, _cell(head, values[1])[0] if len(values) > 1 else held, -1)]

    def kept(self, state: State) -> list[tuple[str, int]]:
        """The oldest token of the window that comes next; after a move to the left the newest one holds the symbol.

        Chapter: :doc:`/book/table`.
        """
        held = labelled(self.layout.sym2, state.x)
        return [("oldest", state.passes)] if held is None else [("column", self.layout.sym2[held])]

    def fitted(self, word: Sequence[str], max_steps: int) -> Construction:
        """The network in the window that a run takes.

        Chapter: :doc:`/book/queue`.
        """
        return self._fitted(word, max_steps)

    def guard(self, word: Sequence[str], now: Configuration, reading: Reading | None, notes: dict[str, Any]) -> None:
        """Raise where the head comes to a cell more than the window has."""
        window = self._size(word)
        if reading is None:
            if len(word) > window:
                raise CapacityError(
                    f"The word has {arguments.count(len(word), 'cell')}, and the window {window}. "
                    f"Give window={len(word)} or more, or none."
                )
            notes["cells"] = 0, max(len(word), 1) - 1
            return
        cell, (first, last) = now.head + reading.move, notes["cells"]
        first, last = notes["cells"] = min(first, cell), max(last, cell)
        if last - first >= window:
            raise CapacityError(_full(window, cell, first, last))

    def expected(
        self, machine: TuringMachine, word: Iterable[str], max_steps: int | None = None
    ) -> Iterator[Expectation]:
        """What the vectors have to be for a machine with these states and symbols, from :func:`turing.queue.step`.

        Chapter: :doc:`/book/queue`.
        """
        self.same_names(machine)
        word, limit = arguments.word(word), self._limit(max_steps)
        size, first, last = self._size(word), 0, max(len(word), 1) - 1
        for now in machine.trace(word, limit):
            first, last = min(first, now.head), max(last, now.head)
            if last - first >= size:
                if self.window is not None:
                    raise CapacityError(f"At step {now.step} {_full(size, now.head, first, last)}")
                size *= 2
        window, number = deque(self.within(size)._prompt(machine, word)), 1
        state: str | None = machine.initial
        while number <= limit and state is not None and state not in machine.halting:
            newest, oldest = window[-1], window.popleft()
            new = step(machine, newest, oldest)
            yield Expectation(number, self._specified(newest, oldest, new))
            window.append(new)
            if new.mode == "run" or window[0].mark:
                state, number = new.state, number + 1

    def _specified(self, newest: Token, oldest: Token, new: Token) -> dict[str, dict[str, Any]]:
        """The places that are not 0 in a pass."""
        names, said = self.layout.names(), set(_ones(self.layout, new))
        found = {f"sym3[{oldest.symbol}]": 1} if oldest.symbol is not None else {}
        token = {names[place]: 1 for place in said}
        logits = {
            f"tok[{name}]": 2 * len(said & places) - len(places)
            for name, places in zip(self.vocabulary, self._places, strict=True)
        }
        return {
            "oldest": {names[place]: 1 for place in _ones(self.layout, newest)} | found | {"end": int(oldest.mark)},
            "transition": token,
            "unembed": logits,
            "argmax": {f"tok[{self._name(new)}]": 1} if new in self.tokens else {},
            "embed": token,
        }

    def detectors(self) -> list[dict[str, Any]]:
        """The neuron of each rule.

        Chapter: :doc:`/book/research`.
        """
        hidden: Any = self.pipeline["transition"].layouts
        places = dict(zip(self.machine.delta, hidden[1].rule.names(), strict=True))
        return [
            {"rule": [*pair, *rule], "vector": "transition.0", "detector": places[pair]}
            for pair, rule in self.machine.delta.items()
        ]

    def about(self) -> dict[str, str]:
        """The network in a few rows, for people."""
        return super().about() | {
            "tokens": f"{len(self.vocabulary):,}",
            "a step": "1 pass to the right, s passes to the left and for a stay, in a window of s cells",
        }


def _cell(head: Any, value: Tensor) -> tuple[str | None, bool]:
    """Symbol and mark of a token, as the head sees them."""
    layout = head.value.layouts[1]
    return labelled(layout.sym1, value), bool(value[layout.mark[0]] > 0.5)


def _full(window: int, cell: int, first: int, last: int) -> str:
    return (
        f"the head comes to cell {cell}, and a window of {arguments.count(window, 'cell')} has no room for the cells "
        f"{first} to {last}. Give window={last - first + 1} or more, or none."
    )


def _ones(layout: Layout, token: Token) -> list[int]:
    """The places that are 1 in the embedding of a token."""
    found = [layout.mark[0]] if token.mark else []
    for name, label in (("sym1", token.symbol), ("st", token.state), ("sym2", token.held)):
        found += [] if label is None else [layout[name][label]]
    return found + ([] if token.state is None else [layout.mode[token.mode]])
