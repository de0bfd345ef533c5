"""The recurrent network of a stack machine: one forward pass is one step."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import lcm
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from turing.cantor import PRECISION, Cantor, DepthError, Number
from turing.layout import Layout, Slice
from turing.machine import _limit, _listed
from turing.ss.four import OPERATIONS, four_layers, operation_name
from turing.ss.layers import TYPES, Layers
from turing.ss.realtime import classes_of, one_layer
from turing.stack import Moment, StackMachine, StackRun

__all__ = ["Reading", "StackNetwork"]

CLEAR = 4  # a detector that is read as 0 or 1 is no further from it than 1 / CLEAR
WEIGHTS = ("closed", "least squares")


class Reading(NamedTuple):
    """What a step has done: the state it leads to, the operation on each stack, and what its detectors took for the
    tops, before the step in version 4 and after it in version 1. No state where no rule applied.
    """

    state: str | None
    operations: tuple[str, ...] = ()
    tops: tuple[str | None, ...] = ()


class Scaled(Sequence[Number]):
    """Whole numbers that stand for multiples of 1 / unit, read as fractions."""

    def __init__(self, numbers: list[int], unit: int):
        self.numbers, self.unit = numbers, unit

    def __getitem__(self, i: Any) -> Any:
        return Scaled(self.numbers[i], self.unit) if isinstance(i, slice) else Fraction(self.numbers[i], self.unit)

    def __len__(self) -> int:
        return len(self.numbers)

    def __repr__(self) -> str:
        return f"Scaled({list(self)})"


Vectors = dict[str, Sequence[Number]]
Followed = tuple[Vectors, Reading, list[list[str]]]  # a step, and what has been pushed on the stacks, the top last


class StackNetwork(nn.Module):
    """The network of Siegelmann and Sontag for a machine with p binary stacks (section 6 of the paper).

    ``version`` 4 has the layers F4, F3, F2 and F1, version 1 a single one. ``arithmetic`` is ``"exact"``,
    ``"float32"`` or ``"float64"``. Base and digits are 4 and (1, 3) for version 4, and 10p² and
    (10p² − 1 − 4p, 10p² − 1) for version 1, unless given. ``weights`` is ``"closed"``, or ``"least squares"`` as in
    the paper.

    >>> from turing.stack import balanced
    >>> net = StackNetwork(balanced(), arithmetic="float32")
    >>> net.run("(())").state, [layer.weight.shape[0] for layer in net.layers.values()]
    ('T', [10, 18, 12, 6])

    Chapter: :doc:`/book/07_ss`.
    """

    def __init__(
        self,
        machine: StackMachine,
        version: int = 4,
        base: int | None = None,
        digits: tuple[int, int] | None = None,
        arithmetic: str = "exact",
        weights: str = "closed",
    ):
        super().__init__()
        if not isinstance(machine, StackMachine):
            raise TypeError(
                f"A StackMachine is built here, and {machine!r} was given. For a Turing machine: turing.compile."
            )
        if version not in (4, 1) or isinstance(version, bool):
            raise ValueError(f"version is 4, for four layers a step, or 1, for one layer, and {version!r} was given.")
        if arithmetic not in tuple(TYPES):
            raise ValueError(f"An arithmetic is one of {', '.join(TYPES)}, and {arithmetic!r} was given.")
        if weights not in WEIGHTS:
            raise ValueError(f"weights is 'closed' or 'least squares', and {weights!r} was given.")
        if (base is None) != (digits is None):
            raise ValueError(
                f"base and digits go together, such as base=4, digits=(1, 3); {base=} and {digits=} were given."
            )
        if base is None or digits is None:
            great = 10 * machine.p**2
            base, digits = (4, (1, 3)) if version == 4 else (great, (great - 1 - 4 * machine.p, great - 1))
        self.machine, self.version, self.arithmetic = machine, version, arithmetic
        self.code = Cantor(base, digits, arithmetic)
        build = four_layers if version == 4 else one_layer
        self.layers = Layers(build(machine, self.code, weights))
        self.layout: Layout = next(iter(self.layers.values())).layouts[0]
        self.slack = self.slack_after(1, self.code.depth)  # the most that the number of a stack may be off
        self.keys, self.rules = list(machine.rules), list(machine.rules.values())
        self.classes = classes_of(machine)

    def slack_after(self, steps: int, deepest: int | Any) -> Fraction:
        """By how much the number of a stack may be off after so many steps with stacks of that depth at most: by
        nothing, unless floats round in this base.

        Each step may add three errors of 2^−P in floats of P bits: two roundings of a push, one of a pop. Each pop
        multiplies what is there by b, up to b^depth for a stack that is emptied, and twice more for pops of what is
        left of it.

        Chapter: :doc:`/book/07_ss`.
        """
        if not self.code.rounds:
            return Fraction(0)
        base, most = self.code.base, self.code.base**self.code.depth
        grown = 3 * min(steps * base ** (deepest + 2), most)
        return min(Fraction(grown, 2 ** PRECISION[self.arithmetic]), Fraction(1, CLEAR))

    def forward(self, column: Tensor) -> Tensor:
        """One step, in floats. Shapes: ``(…, w)`` to ``(…, w)``."""
        for layer in self.layers.values():
            column = layer(column)
        return column

    def initial(self, *stacks: Iterable[str], state: str | None = None) -> list[Number]:
        """The first column in the numbers of the arithmetic: the state, and the stacks as numbers.

        Chapter: :doc:`/book/07_ss`.
        """
        stacks = self.machine.stacks(*stacks)
        column: list[Number] = [0 * self.code.unit] * self.layout.width
        state = self.machine.initial if state is None else state
        starts = self.machine.states if self.version == 4 else [target for target, *_ in self.classes]
        if state not in starts:
            raise ValueError(
                f"A run cannot begin in state {state!r}. It can in these: {_listed(dict.fromkeys(starts))}."
            )
        values = [self.code.encode(map(self.machine.symbols.index, stack)) for stack in stacks]
        places = self.layout.q if self.version == 4 else self.layout.noop
        for i, value in zip(places, values, strict=True):
            column[i] = value
        if self.version == 4:
            column[self.layout.st[state]] = self.code.unit
            return column
        k = starts.index(state)
        for v in product(range(3), repeat=self.machine.p):
            if all(level <= self._level(stack) for level, stack in zip(v, stacks, strict=True)):
                column[self.detector(k, v)] = self.code.unit
        return column

    def _level(self, stack: Sequence[str]) -> int:
        return 1 + self.machine.symbols.index(stack[0]) if stack else 0

    def detector(self, k: int, levels: tuple[int, ...]) -> int:
        """The place of the detector of version 1 for a class of steps and what the stacks begin with."""
        place = k
        for level in levels:
            place = 3 * place + level
        return self.layout.det[place]

    def steps(self, column: Sequence[Number]) -> Iterator[Vectors]:
        """For each step, from a first column on, every vector by the name of the layer that it leaves.

        Chapter: :doc:`/book/07_ss`.
        """
        return self._exact(column) if self.arithmetic == "exact" else self._floats(column)

    @torch.no_grad()
    def _floats(self, column: Sequence[Any]) -> Iterator[Vectors]:
        for weight in self.parameters():
            if weight.dtype != TYPES[self.arithmetic]:
                raise TypeError(
                    f"This network was built for {self.arithmetic}, and its weights are of {weight.dtype}, which holds "
                    f"another depth. Build it with the arithmetic that you want."
                )
        x = torch.tensor(column, dtype=weight.dtype, device=weight.device)
        while True:
            found: Vectors = {"column": x.tolist()}
            for name, layer in self.layers.items():
                x = layer(x)
                found[name] = x.tolist()
            yield found

    def _exact(self, column: Sequence[Any]) -> Iterator[Vectors]:
        base, layers = self.code.base, {name: layer.whole() for name, layer in self.layers.items()}
        unit = lcm(*(value.denominator for value in column))
        x = [int(value * unit) for value in column]
        while True:
            found: Vectors = {"column": Scaled(x, unit)}
            for name, layer in layers.items():
                x, unit = layer(x, unit)
                found[name] = Scaled(x, unit)
            while unit > 1 and unit % base == 0 and all(value % base == 0 for value in set(x)):
                x, unit = [value // base for value in x], unit // base
            yield found

    def read(self, vectors: Vectors) -> Reading:
        """What a step has done, as its own detectors say.

        Chapter: :doc:`/book/07_ss`.
        """
        if self.version == 4:
            fired = self._fired(vectors["F3"], self.layers["F3"].layouts[1].rule)
            if fired is None:
                return Reading(None)
            key, rule = self.keys[fired], self.rules[fired]
            return Reading(rule[0], tuple(operation_name(self.machine, operation) for operation in rule[1:]), key[1:])
        found, p, det = vectors["step"], self.machine.p, self.layout.det
        k = self._fired(found, range(det.start, det.start + det.size, 3**p))
        if k is None:
            return Reading(None)
        levels = (
            sum(2 * found[self.detector(k, tuple(level * (j == i) for j in range(p)))] > 1 for level in (1, 2))
            for i in range(p)
        )
        return Reading(self.classes[k][0], self.classes[k][1:], tuple((None, *self.machine.symbols)[n] for n in levels))

    def _fired(self, found: Sequence[Number], places: Slice | range) -> int | None:
        """Which of some detectors is 1; None if none is."""
        numbers, one = (found.numbers, found.unit) if isinstance(found, Scaled) else (found, 1)
        values = [numbers[place] for place in places]
        fired = [n for n, value in enumerate(values) if not CLEAR * value <= one]
        if len(fired) > 1 or any(not CLEAR * (one - values[n]) <= one for n in fired):
            shown = ", ".join(f"{float(found[places[n]]):.3g}" for n in fired)
            raise ArithmeticError(
                f"One detector should be 1 and the others 0, and these are not 0: {shown}. {self.why()}"
            )
        return fired[0] if fired else None

    def why(self) -> str:
        """What has to be wrong if a number is, and what to do."""
        if self.arithmetic == "exact":
            return "The numerators are not those of this machine any more. Build the network again."
        return f'{self.arithmetic} has lost digits, or weights were changed. Use arithmetic="exact".'

    def stacks(self, column: Sequence[Number]) -> tuple[Number, ...]:
        """The stacks of a column as numbers.

        Chapter: :doc:`/book/07_ss`.
        """
        if self.version == 4:
            return tuple(column[i] for i in self.layout.q)
        return tuple(sum(column[self.layout[name][i]] for name in OPERATIONS) for i in range(self.machine.p))

    def follow(self, *stacks: Sequence[str], state: str | None = None) -> Iterator[tuple[Vectors, Reading]]:
        """The steps from these stacks on, with their readings.

        The operations read are done on stacks of symbols as well. A step that makes a stack deeper than the arithmetic
        can hold is refused, and so is one that takes something else for the top of a stack, or that finds no rule where
        the machine has one.

        Chapter: :doc:`/book/07_ss`.
        """
        return ((vectors, reading) for vectors, reading, _ in self._follow(stacks, state))

    def _follow(self, stacks: Sequence[Iterable[str]], state: str | None = None) -> Iterator[Followed]:
        stacks, state = self.machine.stacks(*stacks), self.machine.initial if state is None else state
        held = [list(reversed(stack)) for stack in stacks]  # the top last
        for number, vectors in enumerate(self.steps(self.initial(*stacks, state=state)), start=1):
            reading = self.read(vectors)
            if reading.state is None:
                self._jams(number, state, held)
            state = reading.state
            if self.version == 4:
                self._agree(number, reading.tops, held)
            for i, operation in enumerate(reading.operations):
                if operation.startswith("push"):
                    held[i].append(self.machine.symbols[int(operation[-1])])
                elif operation == "pop" and held[i]:
                    held[i].pop()
                if self.code.depth is not None and len(held[i]) > self.code.depth:
                    raise DepthError(f"At step {number}, on stack {i}: {self.code.full(len(held[i]))}")
            if self.version == 1:
                self._agree(number, reading.tops, held)
            yield vectors, reading, held

    def _jams(self, number: int, state: str | None, held: list[list[str]]) -> None:
        """Where no rule applies in the network, the machine has none."""
        tops = [stack[-1] if stack else None for stack in held]
        if (state, *tops) in self.machine.rules:
            raise ArithmeticError(
                f"At step {number} no rule applies in the network, where the machine has one for state {state!r} with "
                f"{', '.join(map(repr, tops))} on top. {self.why()}"
            )

    def _agree(self, number: int, tops: tuple[str | None, ...], held: list[list[str]]) -> None:
        """What the detectors take for the tops is what has been pushed."""
        for i, (top, stack) in enumerate(zip(tops, held, strict=False)):
            if top != (stack[-1] if stack else None):
                raise ArithmeticError(
                    f"At step {number} the network takes {top!r} for the top of stack {i}, where "
                    f"{stack[-1] if stack else None!r} is. {self.why()}"
                )

    def _symbols(self, vectors: Vectors, held: list[list[str]]) -> tuple[tuple[str, ...], ...]:
        """The stacks that the last of the vectors of a step stands for. In a base in which floats round, that is what
        was pushed and not popped: the number is near it, and no more can be said.
        """
        if self.slack:
            return tuple(tuple(reversed(stack)) for stack in held)
        values = self.stacks(vectors["F1" if self.version == 4 else "step"])
        return tuple(tuple(self.machine.symbols[bit] for bit in self.code.decode(value)) for value in values)

    def trace(self, *stacks: Iterable[str], max_steps: int = 1_000_000) -> Iterator[Moment]:
        """Run the network, and yield the moments that its columns stand for. Every stack is decoded at every step; a
        run decodes the last ones only.

        Chapter: :doc:`/book/07_ss`.
        """
        return self._moments(self.machine.stacks(*stacks), _limit(max_steps))

    def _moments(self, stacks: tuple[tuple[str, ...], ...], limit: int) -> Iterator[Moment]:
        yield Moment(0, self.machine.initial, stacks)
        for number, (vectors, reading, held) in self._steps(stacks, limit):
            yield Moment(number, reading.state, self._symbols(vectors, held))  # type: ignore[arg-type]  # _steps gives one

    def _steps(self, stacks: tuple[tuple[str, ...], ...], limit: int) -> Iterator[tuple[int, Followed]]:
        """The steps that are done, with their numbers."""
        if self.machine.initial in self.machine.terminal or not limit:
            return
        for number, step in enumerate(self._follow(stacks), start=1):
            _, reading, _ = step
            if reading.state is None:
                return
            yield number, step
            if reading.state in self.machine.terminal or number == limit:
                return

    def run(self, *stacks: Iterable[str], max_steps: int = 1_000_000) -> StackRun:
        """Run the network, and say how it ended.

        Chapter: :doc:`/book/07_ss`.
        """
        stacks, limit = self.machine.stacks(*stacks), _limit(max_steps)
        now = Moment(0, self.machine.initial, stacks)
        for number, (vectors, reading, held) in deque(self._steps(stacks, limit), maxlen=1):  # only the last is decoded
            now = Moment(number, reading.state, self._symbols(vectors, held))  # type: ignore[arg-type]  # _steps gives one
        status = "halted" if now.state in self.machine.terminal else "jammed" if now.step < limit else "limit"
        return StackRun(status, now.state, now.step, now.stacks)

    def expected(
        self, moments: Iterable[Moment | None], machine: StackMachine | None = None
    ) -> Iterator[dict[str, dict[str, Fraction | int]]]:
        """What the vectors of each step have to be, from the moments of a machine's own run and without weights. The
        machine is the one that the network was built for, unless given. None behind the last moment asks for the
        vectors of one step more, at which the machine jams.

        Chapter: :doc:`/book/07_ss`.
        """
        from turing.ss.specification import four, realtime

        return (four if self.version == 4 else realtime)(self, machine or self.machine, moments)
