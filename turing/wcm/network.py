"""The WCM21 transformer of a machine: one forward pass is one step."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from itertools import pairwise
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from turing.adders import bits_of
from turing.attention import KAPPA, Attention
from turing.layout import Layout, state_vector
from turing.machine import Configuration, Run, TuringMachine, _count, _limit, _listed, _word
from turing.wcm.pipeline import BinarySearchStep, GetInitialSymbol, GetLastWrittenSymbol, IndicateVisitedPosition

__all__ = ["WCM21", "CapacityError"]

ADDERS = {"ripple": "turing.wcm.pipeline", "lookahead": "turing.folded"}  # where the modules around the heads are
ENGINES = "turing.engine"
Memory = dict[str, tuple[Tensor, Tensor]]  # of each head: keys and values
MOST_WEIGHTS = 50_000_000  # in a matrix
MOST_BITS = 64  # a slip of the finger should not fill the memory
Seen = Callable[[str, Tensor], object]
UNCLEAR = 0.25  # how far from 0 and 1 a number may be that is read as one of them


class CapacityError(OverflowError):
    """Two cells of the tape have the same position bits: from this step on the network may be wrong.

    Chapter: :doc:`/book/05_wcm`.
    """


class WCM21(nn.Module):
    """The transformer of Wei, Chen and Ma for a machine: ``forward`` is one step of it (section 5 of the paper).

    ``T`` is the most steps of a run. ``bits`` is the number L of position bits, ⌈log₂ T⌉ unless given; with a word
    of n cells, max(n, 1) + T ≤ 2^L is enough for T steps. ``kappa`` and ``average`` are those of
    :class:`turing.attention.Attention`. ``adder`` is ``"ripple"``, the paper's, or ``"lookahead"``, with three ReLU
    layers a step (:mod:`turing.folded`). ``pipeline`` holds the modules by name, in the order in which they work.

    >>> import turing
    >>> net = WCM21(turing.zoo["balanced_parentheses"], T=100)
    >>> net.layout.width, list(net.pipeline)[:3], net.run("B()E").state
    (59, ['transition', 'preprocess', 'adder0'], 'T')

    Chapter: :doc:`/book/05_wcm`.
    """

    construction = "wcm21"
    slack = 0  # by how much a number may differ from what verify expects

    def __init__(
        self,
        machine: TuringMachine,
        T: int,
        bits: int | None = None,
        kappa: float = KAPPA,
        average: str = "ratio",
        adder: str = "ripple",
    ):
        super().__init__()
        self.machine, self.T, self.bits = machine, T, _bits(machine, T, bits)
        if not isinstance(adder, str) or adder not in ADDERS:
            raise ValueError(f"An adder is one of {', '.join(ADDERS)}, and {adder!r} was given.")
        self.layout = layout = state_vector(machine, self.bits)
        largest = len(machine.states) * len(machine.symbols) * layout.width
        if largest > MOST_WEIGHTS:
            raise ValueError(
                f"{machine!r} takes a matrix of {largest:,} weights, and {MOST_WEIGHTS:,} are the most that are built. "
                f"Take a machine with fewer states or symbols."
            )
        self.options: dict[str, Any] = {
            "T": T,
            "bits": self.bits,
            "kappa": kappa,
            "average": average,
            "adder": adder,
        }
        options: dict[str, Any] = {"kappa": kappa, "average": average}
        parts = import_module(ADDERS[adder])
        self.pipeline = nn.ModuleDict(
            {
                **parts.before(machine, layout),
                "visited": IndicateVisitedPosition(layout, **options),
                **{f"search{j}": BinarySearchStep(layout, j, **options) for j in reversed(range(self.bits))},
                "last": GetLastWrittenSymbol(layout, **options),
                "initial": GetInitialSymbol(layout, **options),
                **parts.behind(machine, layout),
            }
        )

    def encode(self, word: Iterable[str]) -> Tensor:
        """The tape as it is at the start, a row for each cell of the word: symbol and position. Shape: ``(n, w)``.

        Chapter: :doc:`/book/05_wcm`.
        """
        tape = self.machine.tape(word)
        rows = torch.zeros(len(tape), self.layout.width)
        for cell, symbol in tape.items():
            rows[cell, self.layout.sym1[symbol]] = 1
            rows[cell, self.layout.pos2.slice] = bits_of(cell, self.bits)
        return rows.to(self._like)

    def initial(self, word: Iterable[str]) -> Tensor:
        """The first column: initial state, first symbol, step 0, position 0. Shape: ``(w,)``.

        Chapter: :doc:`/book/05_wcm`.
        """
        column = torch.zeros(self.layout.width)
        column[self.layout.st[self.machine.initial]] = 1
        column[self.layout.sym1[self.machine.tape(word).get(0, self.machine.blank)]] = 1
        return column.to(self._like)

    def beta(self, step: int) -> Tensor:
        """The step embedding, which is added to a column before it takes the next step. Shape: ``(w,)``.

        Chapter: :doc:`/book/05_wcm`.
        """
        column = torch.zeros(self.layout.width)
        column[self.layout.pos1.slice] = bits_of(step, self.bits)
        return column.to(self._like)

    def forward(self, column: Tensor, history: Tensor, tape: Tensor) -> Tensor:
        """One step: the next column, still without β, from this one, the earlier ones and the encoded word.

        All columns are computed anew. Shapes: ``(…, w)``, ``(…, t, w)`` and ``(…, n, w)`` to ``(…, w)``.

        Chapter: :doc:`/book/05_wcm`.
        """
        columns = torch.cat([history, column.unsqueeze(-2)], dim=-2)
        n = columns.shape[-2]
        later = torch.ones(n, n, dtype=torch.bool, device=columns.device).triu(1)
        later = nn.functional.pad(later, (0, 1))  # the null key is never hidden
        for module in self.pipeline.values():
            if isinstance(module, GetInitialSymbol):
                columns = module(columns, *module.remember(tape))
            elif isinstance(module, Attention):
                columns = module(columns, *module.remember(columns), later)
            else:
                columns = module(columns)
        return columns[..., -1, :]

    def start(self, tape: Tensor) -> Memory:
        """What :meth:`step` remembers before the first step: keys and values of the encoded word.

        Chapter: :doc:`/book/05_wcm`.
        """
        head: Any = self.pipeline["initial"]
        return {"initial": head.remember(tape)}

    def step(self, column: Tensor, memory: Memory, seen: Seen = lambda *_: None) -> Tensor:
        """What ``forward`` gives, from a memory that grows by one column.

        ``memory`` holds the keys and values of the earlier columns. ``seen``
        is told the name of each module and the vector that leaves it.

        Chapter: :doc:`/book/05_wcm`.
        """
        x = column.unsqueeze(-2)
        for name, module in self.pipeline.items():
            if isinstance(module, Attention):
                if not isinstance(module, GetInitialSymbol):
                    old, new = memory.get(name), module.remember(x)
                    memory[name] = _grown(old, new) if old else new
                x = module(x, *memory[name])
            else:
                x = module(x)
            seen(name, x.squeeze(-2))
        return x.squeeze(-2)

    def run(self, word: Iterable[str] = "", max_steps: int | None = None, engine: str = "torch", **options: Any) -> Run:
        """Run the network on a word; what comes out is read off its columns.

        ``engine`` is ``"torch"``, or ``"indexed"`` or ``"native"`` of :mod:`turing.engine`, whose ``run`` has more
        options.

        Chapter: :doc:`/book/05_wcm`.
        """
        if engine != "torch" or options:
            return import_module(ENGINES).run(self, word, max_steps, engine, **options)
        word = _word(word)
        (now,) = deque(self.trace(word, max_steps), maxlen=1)
        jammed = now.step < self._limit(max_steps)
        return self.machine._run(now.cells, now.state, now.head, now.step, jammed, partial(self.trace, word, now.step))

    def trace(
        self, word: Iterable[str] = "", max_steps: int | None = None, engine: str = "torch"
    ) -> Iterator[Configuration]:
        """Run the network, and yield the configurations that its columns stand for, one by one.

        Chapter: :doc:`/book/05_wcm`.
        """
        if engine != "torch":
            return import_module(ENGINES).trace(self, word, max_steps, engine)
        word = _word(word)
        return self._configurations(word, Reader(self, word), self._limit(max_steps))

    @torch.no_grad()
    def _configurations(self, word: Sequence[str], reader: Reader, limit: int) -> Iterator[Configuration]:
        self.check()
        yield reader.now
        column, memory = self.initial(word), self.start(self.encode(word))
        while reader.goes_on and reader.now.step < limit:
            column = self.step(column, memory) + self.beta(reader.now.step + 1)
            if reader.enter(*self.read(column.unsqueeze(0))):
                yield reader.now

    @torch.no_grad()
    def run_batch(self, words: Sequence[Iterable[str]], max_steps: int | None = None) -> list[Run]:
        """Run the network on many words at once; the results are those of running it on one after the other.

        Chapter: :doc:`/book/05_wcm`.
        """
        self.check()
        words, limit, readers = _words(words, "run_batch"), self._limit(max_steps), []
        for number, word in enumerate(words):
            with _of_batch(number):
                readers.append(Reader(self, word))
        going = [i for i, reader in enumerate(readers) if reader.goes_on]
        if going:
            columns, memory = self._batch([words[i] for i in going])
        live = list(range(len(going)))  # rows whose run is not over
        for step in range(limit):
            if not live:
                break
            columns = self.step(columns, memory) + self.beta(step + 1)
            for k, reading in zip(live, self.read(columns[live]), strict=True):
                with _of_batch(going[k]):
                    readers[going[k]].enter(reading)
            live = [k for k in live if readers[going[k]].goes_on]
            if len(live) <= len(going) // 2:  # the others only cost time
                going, columns = [going[k] for k in live], columns[live]
                memory = {name: (keys[live], values[live]) for name, (keys, values) in memory.items()}
                live = list(range(len(going)))
        return [
            self.machine._run(now.cells, now.state, now.head, now.step, jammed, partial(self.trace, word, now.step))
            for word, now, jammed in ((word, r.now, r.jammed) for word, r in zip(words, readers, strict=True))
        ]

    def activations(self, word: Iterable[str], step: int) -> dict[str, Tensor]:
        """Every vector inside the network at that step, by the name of the module that it leaves.

        Step t leads from configuration t − 1, whose column comes first, under ``"column"``, to configuration t.

        Chapter: :doc:`/book/05_wcm`.
        """
        return self._inside(word, step)[0]

    def patterns(self, word: Iterable[str], step: int) -> dict[str, Tensor]:
        """The weights of every head at that step: over the columns so far, or over the word; the null key last.

        Chapter: :doc:`/book/05_wcm`.
        """
        vectors, memory = self._inside(word, step)
        heads: Any = self.pipeline
        with torch.no_grad():
            return {
                name: heads[name].weights(vectors[before].unsqueeze(0), memory[name][0]).squeeze(0)
                for before, name in pairwise(vectors)
                if name in memory
            }

    def _inside(self, word: Iterable[str], step: int) -> tuple[dict[str, Tensor], Memory]:
        if step not in range(1, self.T + 1):
            raise ValueError(f"The steps of this network are 1 to T = {self.T:,}, and step {step!r} was asked for.")
        state: str | None = self.machine.initial
        done, steps = 0, self._steps([_word(word)], step)
        while state is not None and state not in self.machine.halting:
            (vectors, memory), done = next(steps), done + 1
            if done == step:
                return {name: vector.squeeze(0) for name, vector in vectors.items()}, {
                    name: (keys.squeeze(0), values.squeeze(0)) for name, (keys, values) in memory.items()
                }
            state = self.read(list(vectors.values())[-1])[0].state
        raise ValueError(f"Step {step} was asked for, and the run on this word ends with step {done}.")

    def vectors(
        self, words: Sequence[Iterable[str]], max_steps: int | None = None, engine: str = "torch"
    ) -> Iterator[dict[str, Tensor]]:
        """For each step on a batch of words, every vector by the name of the module that it leaves. Nothing is read
        or guarded, and a word whose run is over goes on as one that jams.

        Chapter: :doc:`/book/05_wcm`.
        """
        if engine != "torch":
            yield from import_module(ENGINES).vectors(self, words, max_steps, engine)
            return
        for vectors, _ in self._steps(_words(words, "vectors", least=1), self._limit(max_steps)):
            yield vectors

    @torch.no_grad()
    def _steps(self, words: list[Sequence[str]], limit: int) -> Iterator[tuple[dict[str, Tensor], Memory]]:
        columns, memory = self._batch(words)
        for step in range(limit):
            found = {"column": columns}
            columns = self.step(columns, memory, found.__setitem__) + self.beta(step + 1)
            yield found, memory

    def _batch(self, words: list[Sequence[str]]) -> tuple[Tensor, Memory]:
        tapes = nn.utils.rnn.pad_sequence([self.encode(word) for word in words], batch_first=True)
        return torch.stack([self.initial(word) for word in words]), self.start(tapes)

    def expected(
        self, machine: TuringMachine, word: Iterable[str], max_steps: int | None = None
    ) -> Iterator[dict[str, Mapping[str, float]]]:
        """What :meth:`vectors` has to be for a machine with these states and symbols, from the machine's own trace
        and without weights: for each step and module the places that are not 0, by name, with their values.

        Chapter: :doc:`/book/05_wcm`.
        """
        for kind in ("states", "symbols"):
            own, other = (set(getattr(m, kind)) for m in (self.machine, machine))
            if own != other:
                raise ValueError(
                    f"This network was compiled for {self.machine!r}, and it is compared with {machine!r}: "
                    f"they do not have the same {kind}. The network's: {_listed(sorted(own))}."
                )
        specification = import_module(ADDERS[self.options["adder"]]).specification
        for step in specification(machine, self.bits, word, self._limit(max_steps)):
            yield {name: dict.fromkeys(ones, 1.0) for name, ones in step.items()}

    def about(self) -> dict[str, str]:
        """The network in a few rows, for people."""
        return {
            "network": f"wcm21 for {_count(self.T, 'step')}, {_count(self.bits, 'position bit')}, "
            f"{self.options['adder']} adder",
            "width": f"{self.layout.width:,}",
            "modules": f"{len(self.pipeline)}",
        }

    def layout_of(self, name: str) -> Layout:
        """The names of the places in the vector that leaves a module.

        Chapter: :doc:`/book/05_wcm`.
        """
        return self.layout if name == "column" else getattr(self.pipeline[name], "layouts", [self.layout])[-1]

    @property
    def wide(self) -> Layout:
        """The layout while the adders of the paper work."""
        return self.layout_of("preprocess")

    def read(self, columns: Tensor) -> list[Reading]:
        """What columns stand for. Shape: ``(batch, w)``.

        Chapter: :doc:`/book/05_wcm`.
        """
        layout, machine = self.layout, self.machine
        unclear = ~(torch.minimum(columns.abs(), (columns - 1).abs()) <= UNCLEAR)
        if unclear.any():
            row, place = unclear.nonzero()[0].tolist()
            raise ArithmeticError(
                f"{layout.name(place)} is {columns[row, place].item():g}, and neither 0 nor 1. "
                f"turing.verify tells at which step and layer that begins."
            )
        on = columns > 0.5
        position = on[:, layout.pos2.slice].tolist()
        move = (on[:, layout.scr5["R"]].int() - on[:, layout.scr5["L"]].int()).tolist()
        parts = [on[:, part.slice] for part in (layout.st, layout.sym1, layout.sym2)]
        found = [part.int().argmax(-1).tolist() for part in parts]
        counts = torch.stack([part.sum(-1) for part in parts], dim=-1).tolist()
        readings = []
        for q, a, b, count, d, bits in zip(*found, counts, move, position, strict=True):
            jammed = count[0] == 0
            if count != [1, 1, 1] and not jammed:
                raise ArithmeticError(
                    "st, sym1 and sym2 should have one 1 each, and they have {}, {} and {}.".format(*count)
                )
            names: tuple[str | None, str | None, str | None]
            names = (None, None, None) if jammed else (machine.states[q], machine.symbols[a], machine.symbols[b])
            readings.append(Reading(*names, d, sum(bit << k for k, bit in enumerate(bits))))
        return readings

    def check(self) -> None:
        """Raise unless the weights of attention are hard in this number type; ties are exact only as a ratio.

        Chapter: :doc:`/book/05_wcm`.
        """
        for module in self.pipeline.values():
            if isinstance(module, Attention):
                module.check()

    def _limit(self, max_steps: int | None) -> int:
        limit = self.T if max_steps is None else _limit(max_steps)
        if limit > self.T:
            raise ValueError(
                f"max_steps = {limit:,} is more than T = {self.T:,}, the steps that this network was compiled for. "
                f"Compile it with T={limit}."
            )
        return limit

    @property
    def _like(self) -> Tensor:
        return next(self.parameters())


class Reading(NamedTuple):
    """What a column stands for: state, symbol under the head, what was written on the way there, move, position bits.

    There is no state, and no symbol, where the machine has jammed.

    Chapter: :doc:`/book/05_wcm`.
    """

    state: str | None
    symbol: str | None
    written: str | None
    move: int
    position: int


class Reader:
    """Follows a run by its columns, and stops it where the position bits of two cells are the same.

    What it reads goes into the report and nowhere else.
    """

    def __init__(self, net: WCM21, word: Sequence[str]):
        machine = net.machine
        self.now = Configuration(0, machine.initial, 0, machine.tape(word), machine.blank)
        self.size, self.halting, self.jammed, self.blank = 2**net.bits, machine.halting, False, machine.blank
        if len(word) > self.size:
            raise CapacityError(
                f"The word has {_count(len(word), 'cell')}, and {_count(net.bits, 'position bit')} can tell "
                f"{self.size} apart. Compile with bits={(len(word) - 1).bit_length()} or more."
            )
        self.cells = {cell: cell for cell in range(max(len(word), 1))}  # by position bits

    def resume(self, step: int, head: int, tape: dict[int, str], cells: dict[int, int]) -> None:
        """Go on where another one was."""
        now = self.now
        self.now, self.cells = Configuration(step, now.state, head, tape, self.blank), cells

    @property
    def goes_on(self) -> bool:
        return not self.jammed and self.now.state not in self.halting

    def enter(self, reading: Reading) -> bool:
        """Take the next column; false if the machine has jammed."""
        self.jammed = reading.state is None
        if self.jammed:
            return False
        step, cell = self.now.step + 1, self.now.head + reading.move
        if cell % self.size != reading.position:
            raise ArithmeticError(
                f"At step {step} the position bits say {reading.position}, and the moves lead to cell {cell}."
            )
        if (other := self.cells.setdefault(reading.position, cell)) != cell:
            raise CapacityError(
                f"At step {step} the head comes to cell {cell}, which has the position bits of cell {other}: "
                f"{self.size} cells can be told apart. Compile with more bits than {self.size.bit_length() - 1}."
            )
        self.now = self.now._then(reading.state, reading.written, reading.move)  # type: ignore[arg-type]  # not jammed
        if self.now.symbol != reading.symbol:
            raise ArithmeticError(
                f"At step {step} the network reads {reading.symbol!r} on cell {cell}, where {self.now.symbol!r} stands."
            )
        return True


def _words(words: Iterable[Iterable[str]], to: str, least: int = 0) -> list[Sequence[str]]:
    """The words that are given to a method."""
    if isinstance(words, str):
        raise ValueError(f"{to} takes a list of words, and the one word {words!r} was given.")
    found: list[Sequence[str]] = [_word(word) for word in words]
    if len(found) < least:
        raise ValueError(f"{to} takes a list of words, and an empty one was given.")
    return found


@contextmanager
def _of_batch(number: int) -> Iterator[None]:
    """Say of an error which word it is about."""
    try:
        yield
    except (ValueError, ArithmeticError) as error:
        raise type(error)(f"Word {number} of the batch: {error}") from None


def _grown(old: tuple[Tensor, Tensor], new: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    keys, values = (torch.cat(pair, dim=-2) for pair in zip(old, new, strict=True))
    return keys, values


def _bits(machine: TuringMachine, T: int, bits: int | None) -> int:
    if not isinstance(machine, TuringMachine):
        raise TypeError(f"A TuringMachine is compiled here, and {machine!r} was given.")
    if isinstance(T, bool) or not isinstance(T, int) or not 1 <= T <= 2**MOST_BITS:
        raise ValueError(
            f"T is the most steps of a run, a whole number from 1 up (to 2^{MOST_BITS}), and T={T!r} was given."
        )
    least = max(1, (T - 1).bit_length())
    if bits is None:
        return least
    if isinstance(bits, bool) or not isinstance(bits, int) or not least <= bits <= MOST_BITS:
        raise ValueError(
            f"bits={bits!r} was given. T = {T:,} steps are numbered with {_count(least, 'bit')}: "
            f"give {least} or more (to {MOST_BITS}), or none."
        )
    return bits
