"""One interface for every construction, and the registry that lists them.

A construction is a subclass of :class:`Construction` under the decorator :func:`register`.

Chapter: :doc:`/book/wcm21`.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import nan
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

import torch
from torch import Tensor, nn

from turing import arguments, ir
from turing.attention import Attention
from turing.exact import Exact
from turing.layout import Layout
from turing.machine import Configuration, Run, TuringMachine
from turing.runs import Expectation, Reader, Reading, State
from turing.runs import at_step as at_step

__all__ = [
    "Construction",
    "Engine",
    "Expectation",
    "Plan",
    "Reader",
    "Reading",
    "State",
    "compile",
    "constructions",
    "register",
]

MAX_STEPS = 1_000_000  # of a run, unless a construction has a limit of its own
REGISTRY: dict[str, type[Construction]] = {}
ENGINES: dict[str, Engine] = {}  # besides plain torch; turing.engine puts them here
Seen = Callable[[str, Any], object]
Kind = TypeVar("Kind", bound="type[Construction]")


class Engine(Protocol):
    """What runs networks of some constructions by other means than plain PyTorch, with the same results.

    Its methods ``run``, ``trace``, ``run_batch`` and ``vectors`` are those of :class:`Construction`, with the network
    first. ``run`` may have options of its own. ``turing.construction.ENGINES["name"] = engine`` makes an engine known
    under a name.

    Chapter: :doc:`How fast </book/how-fast>`.
    """

    @property
    def constructions(self) -> Sequence[str]:
        """The names of the constructions that it runs."""

    def run(self, network: Any, word: Iterable[str], max_steps: int | None) -> Run: ...
    def trace(self, network: Any, word: Iterable[str], max_steps: int | None) -> Iterator[Configuration]: ...
    def run_batch(self, network: Any, words: Sequence[Sequence[str]], max_steps: int | None) -> list[Run]: ...
    def vectors(
        self, network: Any, words: Sequence[Sequence[str]], max_steps: int | None
    ) -> Iterator[dict[str, Any]]: ...


@dataclass(frozen=True)
class Plan:
    """What is known of a run before its network is compiled; None stands for what is not known.

    - ``word``, ``max_steps`` and ``engine``: those of the run
    - ``resumable``: whether the run may be resumed later, with more steps
    - ``cells``: the cells that the run needs

    Chapter: :doc:`/book/research`.
    """

    word: Sequence[str] | None = None
    max_steps: int | None = None
    engine: str | None = None
    resumable: bool = False
    cells: range | None = None


class Construction(nn.Module):
    """A network that :func:`compile` returns: a machine in the weights of a ``torch.nn.Module``.

    One or more passes are a step of the machine. A network has these attributes:

    - ``machine`` and ``options``: what it was compiled from
    - ``pipeline``: its modules by name, in the order in which they work
    - ``layout``: the names of the places of a column, a :class:`~turing.layout.Layout`
    - ``T``: the maximum number of steps that it was compiled for, None if there is none

    Chapter: :doc:`/book/wcm21`.
    """

    construction: ClassVar[str] = ""  # its name in the registry
    loop: ClassVar[ir.Loop] = ir.Loop()
    batched: ClassVar[bool] = True  # whether columns of several words may be computed at once
    tolerance: Fraction | int = 0  # by how much a number may differ from what verify expects
    passes_per_step: int = 1  # at most
    T: int | None = None  # the steps that it was compiled for, if there is a limit
    machine: TuringMachine
    options: dict[str, Any]
    layout: Layout
    pipeline: nn.ModuleDict

    # What a construction writes.

    def initial(self, word: Iterable[str]) -> Any:
        """The first column of a word: a tensor ``(w,)``, or an exact vector in exact arithmetic. :meth:`vector` makes
        either of them. Where the loop feeds back a row of cells: that row, ``(cells, w)``.
        """
        raise TypeError(f"{type(self).__name__} does not say what its first column is.")

    def encode(self, word: Iterable[str]) -> Any:
        """The word as the vectors that a head looks at: a tensor ``(n, w)``, or a list of exact vectors. Unless you
        define it, this is None, and no head looks at the word.
        """
        return None

    def read(self, state: State) -> list[Reading | None]:
        """What a state means: a list with a :class:`~turing.runs.Reading` for each word. None stands for a word whose
        machine is in the middle of a step, and ``Reading(None)`` for one where no rule applied.
        """
        raise TypeError(f"{type(self).__name__} does not say what a state means.")

    def guard(self, word: Sequence[str], now: Configuration, reading: Reading | None, notes: dict[str, Any]) -> None:
        """Raise an ``ArithmeticError`` if a run may not go on: an ``OverflowError`` where it needs more room than the
        network has. It is called at the start and after each reading.

        - ``word``: the word of the run
        - ``now``: the :class:`~turing.machine.Configuration` before the step that was read
        - ``reading``: the :class:`~turing.runs.Reading` of that step; None at the start, where ``now`` is the first one
        - ``notes``: a dictionary for this run, which ``read`` sees as ``state.notes`` unless words are batched
        """

    def expected(
        self, machine: TuringMachine, word: Iterable[str], max_steps: int | None = None
    ) -> Iterator[Expectation]:
        """Yield an :class:`~turing.runs.Expectation` for each pass: what every vector should be. It is computed without
        a weight, from the word and the trace of a machine that has the network's states and symbols.
        """
        raise TypeError(f"{type(self).__name__} has no specification to be compared with.")

    @classmethod
    def options_for(cls, given: dict[str, Any], *plan: Any, **named: Any) -> dict[str, Any]:
        """What :meth:`fitting` returns for the :class:`Plan` that has these arguments. Tools that compile a network for
        a certain run call it.
        """
        return cls.fitting(given, Plan(*plan, **named))

    @classmethod
    def fitting(cls, given: dict[str, Any], plan: Plan) -> dict[str, Any]:
        """The options to compile with for a planned run: those that are ``given``, and what you add to them, such as a
        number of cells that is enough. A class method: there is no network yet.
        """
        return given

    def detectors(self) -> list[dict[str, Any]]:
        """Which places notice the rules, for the labels of :func:`turing.corpus <turing.corpora.corpus>`: a list with a
        dictionary for each rule. Its ``detector`` is the name of the place that is 1 where the ``rule`` applies, and
        ``vector`` that of the vector in which it is. The list is empty if there are no such places.
        """
        return []

    def kept(self, state: State) -> list[tuple[str, int]] | None:
        """Where the symbol under the tape head is kept, for :func:`turing.comparison.memory`: after a step of the
        machine or before the first one.

        A list of ``("column", place)``, ``("cells", cell)``, or the name of an attention head with the number of the
        row that it looks at, among the rows of the word, of the columns so far, or of both in this order. The list is
        empty where nothing is kept, since the cell is blank and new. None means that the construction does not say.

        Chapter: :doc:`/book/table`.
        """
        return None

    def fitted(self, word: Sequence[str], max_steps: int) -> Construction:
        """The network for a run on that word: itself, unless something in it that is no weight, such as the size of a
        window, depends on the run.
        """
        return self

    # What every construction has.

    def start(self, words: Sequence[Sequence[str]]) -> State:
        """The :class:`~turing.runs.State` before the first step, of one word or of several that run side by side.

        Chapter: :doc:`/book/wcm21`.
        """
        self.check_types()
        self.forget()
        words = arguments.words(words)
        if not words:
            raise ValueError("A list of words is expected, and an empty one was given.")
        if not self._batches:
            if len(words) > 1:
                raise ValueError(
                    f"{self.construction} takes one word at a time here, and {len(words)} were given. "
                    "run_batch runs them one after the other."
                )
            return State(self.initial(words[0]), self.encode(words[0]))
        tapes = [tape for word in words if (tape := self.encode(word)) is not None]
        tape = nn.utils.rnn.pad_sequence(tapes, batch_first=True) if tapes else None
        return State(torch.stack([self.initial(word) for word in words]), tape)

    def step(self, state: State, seen: Seen = lambda *_: None) -> State:
        """One pass, by the weights alone. ``seen`` is called with each module's name and the vector that leaves it.

        Heads take the keys and values of earlier columns from the state's memory, which grows by one column.

        Chapter: :doc:`/book/wcm21`.
        """
        if not isinstance(state, State):
            raise TypeError(f"step takes a state, as network.start([word]) gives it, and {state!r} was given.")
        vectors = {"column": state.x}

        def keep(name: str, x: Any) -> None:
            vectors[name] = x
            seen(name, x)

        passes = state.passes + 1
        x = self._embedded(self.through(state, keep), passes)
        return State(x, state.tape, state.memory, passes, vectors, state.notes)

    def through(self, state: State, seen: Seen) -> Any:
        """What leaves the last module in a pass, before β is added; ``seen`` is that of :meth:`step`.

        Chapter: :doc:`/book/wcm21`.
        """
        x = state.x
        rows = isinstance(x, Tensor) and self.loop.state == "column"
        x = x.unsqueeze(-2) if rows else x  # modules see columns in rows, here a single one
        for name, module in self.pipeline.items():
            x = self._attend(name, module, x, state) if isinstance(module, Attention) else module(x)
            seen(name, x.squeeze(-2) if rows else x)
        return x.squeeze(-2) if rows else x

    def _embedded(self, x: Any, step: int) -> Any:
        if isinstance(x, Exact):
            x = x.reduced()  # or the denominators of all steps would multiply
        return x + self.beta(step) if self.loop.add or self.loop.table else x

    def beta(self, step: int) -> Any:
        """β: what is added to the column that pass number ``step`` leaves. It is that number, written as the loop says,
        or a row of the loop's table. Shape: ``(w,)``.

        Chapter: :doc:`/book/wcm21`.
        """
        if self.loop.table:
            rows = self.get_parameter(self.loop.table)
            if self.loop.first + step >= len(rows):
                raise ValueError(f"This network has positions for {len(rows) - self.loop.first} passes, and no more.")
            return rows[self.loop.first + step]
        column: list[Any] = [0] * self.layout.width
        for name, kind in self.loop.add:
            part = self.layout[name]
            column[part.slice] = ir.POSITIONS[kind](step, part.size)
        return self.vector(column)

    def vector(self, numbers: Sequence[Any]) -> Any:
        """A list of numbers as a column: a tensor, or an exact vector in exact arithmetic.

        Chapter: :doc:`/book/wcm21`.
        """
        if not self._like.is_floating_point():
            return Exact.of(numbers)
        return torch.tensor([float(number) for number in numbers], dtype=torch.float64).to(self._like)

    def max_passes(self, words: Sequence[Sequence[str]], steps: int) -> int:
        """The most passes that so many steps of the machine can take on these words: ``passes_per_step`` for each step,
        unless you define something else.
        """
        return steps * self.passes_per_step

    def _attend(self, name: str, head: Attention, x: Any, state: State) -> Any:
        memory = state.memory
        if head.mask == "cross":
            if name not in memory:
                memory[name] = head.remember(state.tape)
            return head(x, *memory[name])
        if head.mask in ("prefix", "window") and name not in memory:
            memory[name] = head.remember(state.tape)
        earlier, new = memory.get(name), head.remember([x] if isinstance(x, Exact) else x)
        memory[name] = _grown(earlier, new) if earlier else new
        if head.mask == "window":  # what is older leaves it
            memory[name] = _last(memory[name], _rows(state.tape) + 1)
        return head(x, *_visible(head, memory[name]))

    def forward(self, column: Any, history: Any = None, tape: Any = None) -> Any:
        """One pass: the next column without β, what is added for the next step. Shape: ``(…, w)``.

        - ``column``: this column, ``(…, w)``; or a row of cells where the loop feeds one back
        - ``history``: the earlier columns, ``(…, t, w)``
        - ``tape``: ``network.encode(word)``, ``(…, n, w)``, for heads that look at the word

        Nothing is remembered from one call to the next. In exact arithmetic ``column`` is an exact vector, and
        ``history`` and ``tape`` are lists of them.

        Chapter: :doc:`/book/wcm21`.
        """
        self._check_columns(column, history)
        if self.loop.state != "column":
            for module in self.pipeline.values():
                column = module(column)
            return column
        if isinstance(column, Exact):
            self.forget()
            state = State(column, tape)
            for earlier in [*(history or []), column]:
                state = self.step(replace(state, x=earlier))
            return list(state.vectors.values())[-1]
        columns = column.unsqueeze(-2)
        if history is not None:
            columns = torch.cat([history, columns], dim=-2)
        return self.next_columns(columns, tape)[..., -1, :]

    def _check_columns(self, column: Any, history: Any) -> None:
        cells = self.loop.state == "cells"
        if not isinstance(column, (Tensor, list if cells else Exact)):
            what = "a row of cells" if cells else "a column"
            raise TypeError(f"forward takes {what}, as network.initial(word) gives it, and {column!r} was given.")
        if (
            not cells
            and history is not None
            and not isinstance(history, Tensor if isinstance(column, Tensor) else list)
        ):
            raise TypeError(
                f"history is the earlier columns: a tensor, or a list of exact vectors. Given: {history!r}."
            )
        row = column[0] if isinstance(column, list) and column else column
        width = (row.shape or [0])[-1] if isinstance(row, Tensor) else len(row)
        if width != self.layout.width:
            raise ValueError(f"This network takes vectors of width {self.layout.width}, and {width} was given.")

    def next_columns(self, columns: Tensor, tape: Tensor | None = None, seen: Seen = lambda *_: None) -> Tensor:
        """One pass over all columns at once, each from itself and the earlier ones (teacher forcing), without β.

        ``columns`` ``(…, t, w)`` and ``tape``, which is ``network.encode(word)``, ``(…, n, w)``, give ``(…, t, w)``.
        ``seen`` is called with the name of each module and all vectors that leave it.

        >>> import torch, turing
        >>> net = turing.compile(turing.zoo["balanced_parentheses"], "wcm21", T=100)
        >>> columns, tape = net.rollout("B()E", 3), net.encode("B()E")
        >>> torch.equal(net.next_columns(columns[:3], tape)[2] + net.beta(3), columns[3])
        True

        Chapter: :doc:`/book/research`.
        """
        if not isinstance(columns, Tensor):
            raise TypeError(f"next_columns takes a tensor, and {type(columns).__name__} was given.")
        if columns.dim() < 2 or columns.shape[-1] != self.layout.width:
            raise ValueError(
                f"next_columns takes columns of the shape (…, t, {self.layout.width}), and a tensor of the shape "
                f"{tuple(columns.shape)} was given."
            )
        for name, module in self.pipeline.items():
            if isinstance(module, Attention):
                rows: Any = columns
                if module.mask in ("cross", "prefix", "window"):
                    if not isinstance(tape, Tensor):
                        raise TypeError(
                            f"Head {name!r} looks at the word: give next_columns a tape, a tensor as "
                            f"network.encode(word) of a network in floats. Given: {tape!r}."
                        )
                    rows = tape if module.mask == "cross" else torch.cat([tape, columns], dim=-2)
                before = rows.shape[-2] - columns.shape[-2] if module.mask != "cross" else 0
                hidden = module.hidden(columns.shape[-2], columns.device, before)
                columns = module(columns, *module.remember(rows), hidden)
            else:
                columns = module(columns)
            seen(name, columns)
        return columns

    def rollout(self, word: Iterable[str], passes: int) -> Tensor:
        """The first column and those that so many ``passes`` make of it, ``(passes + 1, w)``, differentiable in every
        parameter. A network in exact arithmetic raises a ``TypeError``.

        Hard attention does not change with a small change of its scores. So gradients reach what a head fetches, its
        ``value``, and here not what it compares, its ``query`` and ``key``:

        >>> import turing
        >>> net = turing.compile(turing.zoo["balanced_parentheses"], "wcm21", T=100)
        >>> last = net.rollout("B()E", 9)[-1]
        >>> last[net.layout.st["T"]].backward()
        >>> head = net.pipeline["visited"]
        >>> head.value.weight.grad.any().item(), head.query.weight.grad.any().item()
        (True, False)

        Chapter: :doc:`/book/research`.
        """
        if self.arithmetic == "exact":
            raise TypeError("A rollout is differentiated in floats, and this network is exact. Compile it in floats.")
        state = self.start([arguments.word(word)])
        columns = [state.x]
        for _ in range(arguments.integer("passes", passes, 0)):
            state = self.step(state)
            columns.append(state.x)
        stacked = torch.stack(columns)
        return stacked.squeeze(1) if self._batches else stacked

    def run(self, word: Iterable[str] = "", max_steps: int | None = None, engine: str = "torch", **options: Any) -> Run:
        """Run the network on a word; return the :class:`~turing.machine.Run` that is read off its columns.

        Unless given, ``max_steps`` is the network's ``T`` if it has one, and 1,000,000 otherwise. ``engine`` is
        ``"torch"``, or another one that runs this construction (:mod:`turing.engine`); ``options`` go to that engine.

        The errors of a run:

        - ``ValueError``: ``max_steps`` is more than ``T``, the machine does not have a symbol of the word, or
          :meth:`check` refuses
        - ``OverflowError``, such as :class:`turing.CapacityError <turing.wcm.CapacityError>`: the word or the run needs
          more room than the network has
        - any other ``ArithmeticError``: its weights are wrong, or its floats too narrow. The message says at which
          step, and on which cell if the network reads a wrong symbol there

        Chapter: :doc:`/book/wcm21`.
        """
        if engine != "torch" or options:
            return self._engine(engine, options).run(self, word, max_steps, **options)
        word, limit = arguments.word(word), self._limit(max_steps)
        ((now, passes),) = deque(self._follow(Reader(self, word), limit), maxlen=1)
        return self._run(word, now, passes, limit)

    def _run(self, word: Sequence[str], now: Configuration, passes: int, limit: int) -> Run:
        jammed = now.step < limit
        trace = partial(self.trace, word, now.step)
        run = self.machine._run(now.cells, now.state, now.head, now.step, jammed, trace)
        return replace(run, micro_steps=passes)

    def trace(
        self, word: Iterable[str] = "", max_steps: int | None = None, engine: str = "torch"
    ) -> Iterator[Configuration]:
        """Run the network, and yield the :class:`~turing.machine.Configuration` that its columns stand for, at the
        start and after each step of the machine. Arguments and errors are those of :meth:`run`.

        Chapter: :doc:`/book/wcm21`.
        """
        if engine != "torch":
            return self._engine(engine).trace(self, word, max_steps)
        word, limit = arguments.word(word), self._limit(max_steps)
        return (now for now, _ in self._follow(Reader(self, word), limit))

    @torch.no_grad()
    def _follow(
        self, reader: Reader, limit: int, step: Callable[[State], State] | None = None
    ) -> Iterator[tuple[Configuration, int]]:
        """The configurations of a run, each with the number of passes so far. An engine has a step of its own."""
        self.check()
        yield reader.now, 0
        if not reader.running or not limit:
            return
        state = replace(self.start([reader.word]), notes=reader.notes)
        while reader.running and reader.now.step < limit:
            state = step(state) if step else self.step(state)
            with at_step(reader.now.step + 1):
                (reading,) = self.read(state)
                self._check_step_ends(reader, reading, state.passes)
            if reader.enter(reading):
                yield reader.now, state.passes

    @torch.no_grad()
    def run_batch(
        self, words: Iterable[Iterable[str]], max_steps: int | None = None, engine: str = "torch"
    ) -> list[Run]:
        """Run the network on many words; return a list with the :class:`~turing.machine.Run` of each. An error says by
        its number which word it concerns.

        Chapter: :doc:`/book/wcm21`.
        """
        words, limit = arguments.words(words), self._limit(max_steps)
        if engine != "torch":
            return self._engine(engine).run_batch(self, words, max_steps)
        if not self._batches:
            runs = []
            for number, word in enumerate(words):
                with _of_batch(number):
                    runs.append(self.run(word, max_steps))
            return runs
        self.check()
        readers: list[Reader] = []
        for number, word in enumerate(words):
            with _of_batch(number):
                readers.append(Reader(self, word))
        passes = [0] * len(words)
        rows = [i for i, reader in enumerate(readers) if reader.running and limit]  # of the state, word by word
        state = self.start([words[i] for i in rows]) if rows else State(None)
        while rows:
            state = self.step(state)
            for i, reading in zip(rows, self._readings(state, rows), strict=True):
                with _of_batch(i):
                    with at_step(readers[i].now.step + 1):
                        self._check_step_ends(readers[i], reading, state.passes)
                    passes[i] = state.passes if readers[i].enter(reading) else passes[i]
            live = [k for k, i in enumerate(rows) if readers[i].running and readers[i].now.step < limit]
            if len(live) < len(rows):
                state, rows = _selected(state, live), [rows[k] for k in live]
        nows = [reader.now for reader in readers]
        return [self._run(*each, limit) for each in zip(words, nows, passes, strict=True)]

    def _check_step_ends(self, reader: Reader, reading: Reading | None, passes: int) -> None:
        """Raise if the network is in the middle of a step of the machine for longer than a step can take."""
        if reading is None and passes >= self.max_passes([reader.word], reader.now.step + 1):
            raise ArithmeticError(f"no step of the machine has ended in {passes} passes of the network.")

    def _readings(self, state: State, rows: Sequence[int]) -> list[Reading | None]:
        """What the words of a batch say; an error names the word, by its number, and the step."""
        try:
            return self.read(state)
        except ArithmeticError:
            found = []
            for place, number in enumerate(rows):
                with _of_batch(number), at_step(state.passes):
                    found += self.read(_selected(state, [place]))
            return found

    def vectors(
        self, words: Iterable[Iterable[str]], max_steps: int | None = None, engine: str = "torch"
    ) -> Iterator[dict[str, Any]]:
        """Run the network on several words side by side, and yield for each pass a dictionary of every vector, by the
        name of the module that it leaves, ``"column"`` first: a tensor ``(words, w)``, or in exact arithmetic a list of
        exact vectors.

        Unlike :meth:`run`, this neither stops when a machine halts nor raises when the network fails: it goes on for as
        many passes as ``max_steps`` steps can take, and after a halt the numbers mean nothing. So give ``max_steps``:
        unless given, it is the network's ``T`` if it has one, and 1,000,000 otherwise. Where exact arithmetic has no
        result, as for the layer norm of equal numbers, there is NaN from that module on.

        Chapter: :doc:`/book/wcm21`.
        """
        found, limit = arguments.words(words), self._limit(max_steps)
        if not found:
            raise ValueError("A list of words is expected, and an empty one was given.")
        if engine != "torch":
            return self._engine(engine).vectors(self, found, max_steps)
        return self._vectors(found, self.max_passes(found, limit))

    @torch.no_grad()
    def _vectors(self, words: Sequence[Sequence[str]], passes: int) -> Iterator[dict[str, Any]]:
        if self._batches:
            state = self.start(words)
            for _ in range(passes):
                state = self.step(state)
                yield state.vectors
            return
        self.forget()
        states: list[State | None] = [self.start([word]) for word in words]
        for _ in range(passes):
            every: list[dict[str, Any]] = []
            for k, now in enumerate(states):
                every.append({} if now is None else {"column": now.x})
                try:
                    states[k] = now and self.step(now, every[-1].__setitem__)
                except ArithmeticError:
                    if self.loop.state == "cells":
                        raise
                    states[k] = None
            yield {
                name: _together([self._or_nan(name, vectors) for vectors in every])
                for name in ("column", *self.pipeline)
            }

    def _or_nan(self, name: str, vectors: dict[str, Any]) -> Any:
        return vectors[name] if name in vectors else [nan] * self.layout_of(name).width

    def activations(self, word: Iterable[str], step: int) -> dict[str, Any]:
        """A dictionary of every vector of one pass, by the name of the module that it leaves. ``step`` counts passes,
        from 1; under ``"column"`` is the column from which the pass starts.

        Chapter: :doc:`/book/wcm21`.
        """
        return {name: self._one(vector) for name, vector in self._at(word, step).vectors.items()}

    def patterns(self, word: Iterable[str], step: int) -> dict[str, Any]:
        """A dictionary of the attention weights of one pass, by the name of the attention head. ``step`` counts passes,
        from 1. There is a weight for each column so far, or for each cell of the word if the head looks at that;
        the null key, if there is one, comes last. They are a tensor, or in exact arithmetic a list of fractions.

        Chapter: :doc:`/book/wcm21`.
        """
        with torch.no_grad():
            return self._patterns(self._at(word, step))

    def _looks_at(self, state: State, name: str) -> int:
        """The number of the row that has the greatest weight of a head after a pass."""
        shares = list(map(float, self._patterns(state)[name]))
        return shares.index(max(shares))

    def _patterns(self, state: State) -> dict[str, Any]:
        found = {}
        for before, name in pairwise(state.vectors):
            head = self.pipeline[name]
            if isinstance(head, Attention):
                (keys, _), column = _visible(head, state.memory[name]), state.vectors[before]
                if isinstance(column, Exact):
                    found[name] = head.weights(column, keys)
                else:
                    found[name] = self._one(head.weights(column.unsqueeze(-2), keys).squeeze(-2))
        return found

    def run_with_cache(self, word: Iterable[str], max_steps: int | None = None) -> tuple[Run, dict[str, Any]]:
        """Run on a word; return the :class:`~turing.machine.Run` and a dictionary with every vector of it.

        Under the name of each module is what leaves it, ``(passes, w)``. For a head such as ``last``, the attention
        weights are under ``"last.pattern"``, ``(passes, keys + 1)``, with the null key last and 0 where masked. In
        exact arithmetic both are lists, of exact vectors and of fractions, and what is masked is left out.

        Chapter: :doc:`/book/research`.
        """
        word = arguments.word(word)
        run = self.run(word, max_steps)
        state, kept = self.start([word]), []
        with torch.no_grad():
            for _ in range(run.micro_steps):
                state = self.step(state)
                kept.append({name: self._one(vector) for name, vector in state.vectors.items()})
                if self.arithmetic == "exact":
                    kept[-1] |= {f"{name}.pattern": shares for name, shares in self._patterns(state).items()}
            names = list(kept[0]) if kept else []
            cache = {name: _together([vectors[name] for vectors in kept]) for name in names}
            for given, name in pairwise(names) if self.arithmetic != "exact" else ():
                head = self.pipeline[name]
                if isinstance(head, Attention):
                    keys = self._one(state.memory[name][0])
                    before = len(keys) - run.micro_steps if head.mask == "prefix" else 0
                    if head.mask == "window":  # its memory is only of the last columns
                        tape = self._one(state.tape)
                        keys, before = head.key(torch.cat([tape, cache[given]])), len(tape)
                    hidden = head.hidden(run.micro_steps, before=before)
                    cache[f"{name}.pattern"] = head.weights(cache[given], keys, hidden)
        return run, cache

    @torch.no_grad()
    def _at(self, word: Iterable[str], step: int) -> State:
        """The state after that pass."""
        step = arguments.integer("step", step, 1, what="the number of a pass")
        reader = Reader(self, arguments.word(word))
        limit = self.max_passes([reader.word], self._limit(None))
        if step > limit:
            raise ValueError(f"The steps of this network are 1 to {limit:,}, and step {step:,} was asked for.")
        state = replace(self.start([reader.word]), notes=reader.notes)
        running = reader.running
        while running:
            state = self.step(state)
            if state.passes == step:
                return state
            with suppress(ArithmeticError):  # damage may be looked at
                (reading,) = self.read(state)
                if reading is not None:
                    running = reading.state is not None and reading.state not in self.machine.halting
                reader.enter(reading)
        raise ValueError(f"Step {step} was asked for, and the run on this word ends with step {state.passes}.")

    def check(self) -> None:
        """Raise an error unless the weights are numbers of one type in which attention is hard: a key that misses has
        weight 0. Every run begins with this.

        Chapter: :doc:`/book/wcm21`.
        """
        self.check_types()
        self.forget()
        for module in self.pipeline.values():
            if isinstance(module, Attention):
                module.check()

    def check_types(self) -> None:
        """Raise unless the parameters are numbers of one type that networks compute in."""
        types: dict[torch.dtype, str] = {}
        for name, numbers in self.named_parameters():
            ir.check_type(name, numbers)
            types.setdefault(numbers.dtype, name)
        if len(types) > 1:
            mixed = " and ".join(f"{name} of {dtype}" for dtype, name in types.items())
            raise TypeError(
                f"A network computes in one type, and here are {mixed}. Convert it: network.to(torch.float32)."
            )

    def forget(self) -> None:
        """Read every parameter anew at the next pass.

        A run begins with this. You need it only in exact arithmetic, between two calls of :meth:`step`: after you have
        written to a parameter through ``.data`` or NumPy, which torch does not notice.
        """
        for module in self.pipeline.modules():
            if forget := getattr(module, "forget", None):
                forget()

    def about(self) -> dict[str, str]:
        """A dictionary of short texts that describe the network.

        >>> import turing
        >>> turing.compile(turing.zoo["balanced_parentheses"], "wcm21", T=100).about()
        {'network': 'wcm21 for 100 steps, 7 position bits, ripple adder', 'width': '59', 'modules': '23'}
        """
        return {
            "network": self.construction,
            "width": f"{self.layout.width:,}",
            "modules": f"{len(self.pipeline)}",
        }

    def layout_of(self, name: str) -> Layout:
        """The :class:`~turing.layout.Layout` of the vector that leaves the module of that name, which names its places.
        ``"column"`` is the vector that comes in.

        Chapter: :doc:`/book/wcm21`.
        """
        if name == "column":
            return self.layout
        if name not in self.pipeline:
            raise ValueError(f"No module is called {name!r}. There are: column {' '.join(self.pipeline)}.")
        return getattr(self.pipeline[name], "layouts", [self.layout])[-1]

    @property
    def arithmetic(self) -> str:
        """The type of its numbers: ``"exact"``, or a type of floats, such as ``"float32"``."""
        return ir.arithmetic_of(self.parameters())

    def ir(self) -> ir.Network:
        """The network as a :class:`turing.ir.Network`, in which all tools read it."""
        prefix = next(name for name, module in self.named_modules() if module is self.pipeline)
        modules, layout = [], self.layout
        for name, module in self.pipeline.items():
            parts = ir.described(f"{prefix}.{name}", module)
            own = getattr(module, "layouts", None) or [layout] * (len(parts) + 1)
            named = tuple(ir.with_layouts(parts, own))
            modules.append(ir.Module(name, type(module).__name__, named, getattr(module, "claim", "")))
            layout = own[-1]
        known = (self.construction, self.machine, self.options)
        table = self.loop.table and ir.Numbers(self.loop.table, self.get_parameter(self.loop.table).detach())
        return ir.Network(tuple(modules), self.arithmetic, self.loop, *known, table=table or None)

    def save(self, path: str | Path) -> None:
        """The same as :func:`turing.files.save`."""
        from turing.files import save

        save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Construction:
        """The same as :func:`turing.files.load`, for a file with a network of this construction."""
        from turing.files import load

        network = load(path)
        if not isinstance(network, cls):
            raise TypeError(f"{Path(path).name} holds {type(network).__name__}, and {cls.__name__} was asked for.")
        return network

    @property
    def _like(self) -> Tensor:
        return next(self.parameters())

    @property
    def _batches(self) -> bool:
        return self.batched and self.arithmetic != "exact"

    def _one(self, vector: Any) -> Any:
        """What a batch of one word holds."""
        return vector.squeeze(0) if self._batches else vector

    def _limit(self, max_steps: int | None) -> int:
        if max_steps is None:
            return MAX_STEPS if self.T is None else self.T
        limit = arguments.step_limit(max_steps)
        if self.T is not None and limit > self.T:
            raise ValueError(
                f"max_steps = {limit:,} is more than T = {self.T:,}, the steps that this network was compiled for. "
                f"Compile it with T={limit}."
            )
        return limit

    def _engine(self, name: str, options: Iterable[str] = ()) -> Any:
        constructions()
        if name not in ("torch", *ENGINES):
            raise ValueError(f"An engine is one of torch, {', '.join(ENGINES)}, and {name!r} was given.")
        engine = ENGINES.get(name)  # None for torch
        if engine and self.construction not in engine.constructions:
            runs = ", ".join(engine.constructions)
            raise ValueError(f"engine={name!r} runs {runs} networks; this is {self.construction}. Take engine='torch'.")
        known = list(inspect.signature(engine.run).parameters)[3:] if engine else []
        for option in options:
            if option not in known:
                raise TypeError(
                    f"A run with engine={name!r} has no option {option!r}. Its options: {', '.join(known) or 'none'}."
                )
        return engine

    def same_names(self, machine: TuringMachine) -> None:
        """Raise unless a machine has the same states, symbols and halting states as the one that was compiled."""
        for kind in ("states", "symbols"):
            own, other = (set(getattr(m, kind)) for m in (self.machine, machine))
            if own != other:
                raise ValueError(
                    f"This network was compiled for {self.machine!r}, and it is compared with {machine!r}: "
                    f"they do not have the same {kind}. The network's: {arguments.listed(sorted(own))}."
                )
        if machine.blank != self.machine.blank:
            raise ValueError(
                f"The blank of this network is {self.machine.blank!r}, and that of the machine {machine.blank!r}."
            )
        if machine.halting != self.machine.halting:
            mine, theirs = (arguments.listed(sorted(m.halting)) or "no state" for m in (self.machine, machine))
            raise ValueError(f"This network halts in {mine}, and the machine that it is compared with in {theirs}.")


def register(kind: Kind) -> Kind:
    """A decorator: put a class into the registry, under the name that it has as ``construction``. From then on
    :func:`compile` and :func:`turing.load <turing.files.load>` know it.

    Chapter: :doc:`/book/research`.
    """
    REGISTRY[kind.construction] = kind
    return kind


def constructions() -> Mapping[str, type[Construction]]:
    """The classes of all constructions by name: those of the book, and whatever else was registered.

    >>> import turing
    >>> {"wcm21", "ss95", "ss95-realtime"} <= set(turing.constructions())
    True

    Chapter: :doc:`/book/research`.
    """
    import turing

    turing.import_chapters()  # each chapter registers its own
    return REGISTRY


def compile(machine: TuringMachine, construction: str, **options: Any) -> Construction:
    """Compile a machine into the weights of a network that simulates it; return the network, a :class:`Construction`.

    ``construction`` is a name, such as ``"wcm21"``, which needs the option ``T``, the maximum number of steps, or
    ``"ss95"``, which needs none. :doc:`/book/library` lists all names and their options. An option that is unknown or
    missing raises a ``TypeError``, an unknown name or a network that would be too large a ``ValueError``.

    >>> import turing
    >>> net = turing.compile(turing.zoo["binary_increment"], "wcm21", T=64)
    >>> turing.zoo["binary_increment"].text(net.run("1011").tape)
    '1100'

    Chapter: :doc:`/book/wcm21`.
    """
    known = constructions()
    if construction not in tuple(known):
        raise ValueError(f"A construction is one of {', '.join(known)}, and {construction!r} was given.")
    if not isinstance(machine, TuringMachine):
        raise TypeError(f"A TuringMachine is compiled here, and {machine!r} was given.")
    network = known[construction]
    try:
        inspect.signature(network).bind(machine, **options)
    except TypeError as error:
        names = [option for option in inspect.signature(network).parameters if option != "machine"]
        raise TypeError(f"{construction}: {error}. Its options: {', '.join(names)}.") from None
    return network(machine, **options)


@contextmanager
def _of_batch(number: int) -> Iterator[None]:
    """Add to an error message the word that it concerns."""
    try:
        yield
    except (ValueError, ArithmeticError) as error:
        raise type(error)(f"Word {number} of the batch: {error}") from None


def _grown(earlier: tuple[Any, Any], new: tuple[Any, Any]) -> tuple[Any, Any]:
    if isinstance(new[0], list):
        return earlier[0] + new[0], earlier[1] + new[1]
    return torch.cat([earlier[0], new[0]], dim=-2), torch.cat([earlier[1], new[1]], dim=-2)


def _rows(several: Any) -> int:
    return len(several) if isinstance(several, list) else several.shape[-2]


def _last(memory: tuple[Any, Any], number: int) -> tuple[Any, Any]:
    keys, values = memory
    if isinstance(keys, list):
        return keys[-number:], values[-number:]
    return keys[..., -number:, :], values[..., -number:, :]


def _visible(head: Attention, memory: tuple[Any, Any]) -> tuple[Any, Any]:
    """The keys and values that the newest column may look at."""
    if head.mask in ("causal", "prefix", "cross", "window"):
        return memory
    keys, values = memory
    newest = _rows(keys) - 1
    back = newest - (head.offset or 0)
    start, end = (0, newest) if head.mask == "strict" else (back, back + 1)
    start, end = max(0, start), max(0, end)
    if isinstance(keys, list):
        return keys[start:end], values[start:end]
    return keys[..., start:end, :], values[..., start:end, :]


def _selected(state: State, rows: list[int]) -> State:
    """Some words of a batch."""
    memory = {name: (keys[rows], values[rows]) for name, (keys, values) in state.memory.items()}
    tape = None if state.tape is None else state.tape[rows]
    return replace(state, x=state.x[rows], tape=tape, memory=memory)


def _together(vectors: list[Any]) -> Any:
    """Vectors of several words or passes: one tensor, or the list that exact ones are."""
    return torch.stack(vectors) if isinstance(vectors[0], Tensor) else vectors
