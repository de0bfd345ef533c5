"""The network of any Turing machine, by way of two binary stacks."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import tee
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from turing.cantor import Number
from turing.layout import Layout
from turing.machine import Configuration, Run, TuringMachine, _count, _limit, _listed, _word
from turing.ss.layers import Layers
from turing.ss.network import CLEAR, StackNetwork, Vectors
from turing.ss.specification import near
from turing.stack import Moment, TwoStacks

if TYPE_CHECKING:
    from turing.verification import Near

__all__ = ["SS95", "SS95RealTime"]


class SS95(nn.Module):
    """The network of Siegelmann and Sontag for a Turing machine: four layers for each bit of a symbol it moves over.

    ``arithmetic``, ``base``, ``digits`` and ``weights`` are those of :class:`turing.ss.StackNetwork`.

    >>> import turing
    >>> net = SS95(turing.zoo["bb4"])
    >>> run = net.run()
    >>> run.steps, run.micro_steps, len(run.tape)
    (107, 107, 13)

    Chapter: :doc:`/book/07_ss`.
    """

    construction = "ss95"
    version = 4

    def __init__(
        self,
        machine: TuringMachine,
        arithmetic: str = "exact",
        base: int | None = None,
        digits: Sequence[int] | None = None,
        weights: str = "closed",
    ):
        super().__init__()
        if not isinstance(machine, TuringMachine):
            raise TypeError(f"A TuringMachine is compiled here, and {machine!r} was given.")
        self.machine, self.two = machine, TwoStacks(machine)
        pair: Any = tuple(digits) if isinstance(digits, list) else digits  # as they come from a file
        if base is None and pair is None and self.version == 1:
            base, pair = 16, (11, 15)  # the least dyadic base that does
        self.network = StackNetwork(self.two.machine, self.version, base, pair, arithmetic, weights)
        code = self.network.code
        self.options: dict[str, Any] = {
            "arithmetic": arithmetic,
            "base": code.base,
            "digits": list(code.digits),
            "weights": weights,
        }

    @property
    def pipeline(self) -> Layers:
        return self.network.layers

    @property
    def slack(self) -> Fraction:
        """By how much a number that is no stack's may differ from what verify expects: by nothing, unless floats round
        in this base; then a detector has to be clear.
        """
        return Fraction(1, CLEAR) if self.network.slack else Fraction(0)

    @property
    def layout(self) -> Layout:
        return self.network.layout

    def stored(self) -> dict[str, Tensor]:
        """The numbers that the network runs on, by name: the whole ones, or their rounding in floats."""
        exact = self.network.arithmetic == "exact"
        kinds = ("numerators", "bias_numerators") if exact else ("weight", "bias")
        return {name: part for name, part in self.state_dict().items() if name.rpartition(".")[2] in kinds}

    @torch.no_grad()
    def refresh(self) -> None:
        """Make weights and biases the rounding of the whole numbers again, after these were changed."""
        for layer in self.pipeline.values():
            for part, rounded in zip((layer.weight, layer.bias), layer.rounded(), strict=True):
                part.copy_(rounded)

    def about(self) -> dict[str, str]:
        """The network in a few rows, for people."""
        code = self.network.code
        digits = " and ".join(map(str, code.digits))
        widths = [layer.weight.shape[0] for layer in self.pipeline.values()]
        micro, layers = _count(self.two.k, "micro-step"), _count(len(widths), "layer")
        return {
            "network": f"{self.construction}, {code.arithmetic}, base {code.base}, digits {digits}",
            "width": " → ".join(f"{width:,}" for width in [self.layout.width, *widths]),
            "a step": f"{micro} of {layers}; a stay takes one",
        }

    def layout_of(self, name: str) -> Layout:
        """The names of the places in the vector that leaves a layer.

        Chapter: :doc:`/book/07_ss`.
        """
        return self.layout if name == "column" else self.pipeline[name].layouts[1]

    def forward(self, column: Tensor) -> Tensor:
        """One micro-step, in floats. Shapes: ``(…, w)`` to ``(…, w)``."""
        return self.network(column)

    def initial(self, word: Iterable[str]) -> list[Number]:
        """The first column: state and first symbol, and the rest of the word on the right stack.

        Chapter: :doc:`/book/07_ss`.
        """
        state, *stacks = self.two.start(_word(word))
        return self.network.initial(*stacks, state=state)

    def run(self, word: Iterable[str] = "", max_steps: int = 1_000_000) -> Run:
        """Run the network on a word; what comes out is read off its vectors.

        Chapter: :doc:`/book/07_ss`.
        """
        word, limit = _word(word), _limit(max_steps)
        ((now, micro),) = deque(self._followed(word, limit), maxlen=1)
        trace = partial(self.trace, word, now.step)
        run = self.machine._run(now.cells, now.state, now.head, now.step, now.step < limit, trace)
        return replace(run, micro_steps=micro)

    def run_batch(self, words: Sequence[Iterable[str]], max_steps: int = 1_000_000) -> list[Run]:
        """Run the network on many words, one after the other.

        Chapter: :doc:`/book/07_ss`.
        """
        if isinstance(words, str):
            raise ValueError(f"run_batch takes a list of words, and the one word {words!r} was given.")
        return [self.run(word, max_steps) for word in words]

    def trace(self, word: Iterable[str] = "", max_steps: int = 1_000_000) -> Iterator[Configuration]:
        """Run the network, and yield the configurations that it stands for after each step of the machine.

        Chapter: :doc:`/book/07_ss`.
        """
        word = _word(word)
        self.machine.tape(word)
        return (now for now, _ in self._followed(word, _limit(max_steps)))

    def _followed(self, word: Sequence[str], limit: int) -> Iterator[tuple[Configuration, int]]:
        """Configurations with the number of micro-steps so far."""
        now = Configuration(0, self.machine.initial, 0, self.machine.tape(word), self.machine.blank)
        yield now, 0
        state, *stacks = self.two.start(word)
        pushed: list[int] = []
        move, micro = 0, 0
        if now.state in self.machine.halting or not limit:
            return
        for _, reading in self.network.follow(*stacks, state=state):
            if reading.state is None:
                return
            micro += 1
            for side, operation in enumerate(reading.operations):
                if operation.startswith("push"):
                    pushed.append(int(operation[-1]))
                    move = 1 if side == 0 else -1  # what is pushed on the left stack is left behind
            if reading.state not in self.two.control and len(pushed) < self.two.k:
                continue
            state, symbol = self.two.control.get(reading.state, ("", ""))
            written = self.two.symbol.get(tuple(reversed(pushed))) if pushed else symbol
            if not state or written is None:
                raise ArithmeticError(
                    f"At micro-step {micro} step {now.step + 1} of the machine should end, and the network has pushed "
                    f"{pushed} and is in {reading.state}. {self.network.why()}"
                )
            now = now._then(state, written, move)
            if now.symbol != symbol:
                raise ArithmeticError(
                    f"At step {now.step} the network reads {symbol!r} on cell {now.head}, where {now.symbol!r} stands. "
                    f"{self.network.why()}"
                )
            yield now, micro
            if now.state in self.machine.halting or now.step == limit:
                return
            pushed, move = [], 0

    def activations(self, word: Iterable[str], step: int) -> Vectors:
        """Every vector at that micro-step, counted from 1, by the name of the layer that it leaves.

        Chapter: :doc:`/book/07_ss`.
        """
        if isinstance(step, bool) or not isinstance(step, int) or step < 1:
            raise ValueError(f"The first micro-step is 1, and {step!r} was asked for.")
        state: str | None
        state, *stacks = self.two.start(_word(word))
        steps, number = self.network.follow(*stacks, state=state), 0
        while state is not None and state not in self.two.machine.terminal:
            (vectors, reading), number = next(steps), number + 1
            if number == step:
                return vectors
            state = reading.state
        raise ValueError(f"Micro-step {step} was asked for, and the run on this word ends with {number}.")

    def vectors(self, words: Sequence[Iterable[str]], max_steps: int | None = None) -> Iterator[dict[str, list]]:
        """For each micro-step on several words, every vector by the name of the layer. Nothing is read or guarded, and
        a run that is over goes on with whatever numbers come.

        Chapter: :doc:`/book/07_ss`.
        """
        runs = [self.network.steps(self.initial(word)) for word in words]
        while True:
            found = [next(run) for run in runs]
            yield {name: [vectors[name] for vectors in found] for name in ("column", *self.pipeline)}

    def expected(
        self, machine: TuringMachine, word: Iterable[str], max_steps: int | None = None
    ) -> Iterator[Mapping[str, Mapping[str, Fraction | int | Near]]]:
        """What the vectors have to be for a machine with these states and symbols, from a run without weights.

        Chapter: :doc:`/book/07_ss`.
        """
        for kind in ("states", "symbols"):
            own, other = (set(getattr(m, kind)) for m in (self.machine, machine))
            if own != other:
                raise ValueError(
                    f"This network was compiled for {self.machine!r}, and it is compared with {machine!r}: "
                    f"they do not have the same {kind}. The network's: {_listed(sorted(own))}."
                )
        if machine.blank != self.machine.blank:
            raise ValueError(
                f"The blank of this network is {self.machine.blank!r}, and that of the machine {machine.blank!r}."
            )
        two = TwoStacks(machine, self.machine.symbols)
        limit = _limit(1_000_000 if max_steps is None else max_steps)
        moments, again = tee(_moments(two, _word(word), limit))
        steps = self.network.expected(moments, two.machine)
        return steps if self.network.arithmetic == "exact" else near(self.network, again, steps)


def _moments(two: TwoStacks, word: Sequence[str], limit: int) -> Iterator[Moment | None]:
    """The moments of a run, and None behind them if it jams before the limit."""
    done = -1
    for now, whole in two.trace(word, limit):
        done += whole
        yield now
    if done < limit and now.state not in two.machine.terminal:
        yield None


class SS95RealTime(SS95):
    """The same with one layer for each micro-step.

    >>> import turing
    >>> SS95RealTime(turing.zoo["bb4"]).run().steps
    107

    Chapter: :doc:`/book/07_ss`.
    """

    construction = "ss95-realtime"
    version = 1
