"""The recurrent network of a stack machine: one forward pass is one step."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from fractions import Fraction
from itertools import pairwise, product
from typing import Any, NamedTuple

import torch
from torch import nn

from turing import arguments, ir
from turing.cantor import PRECISION, Cantor, DepthError, Number
from turing.exact import Exact
from turing.layout import Layout
from turing.modules import TYPES
from turing.ss.four import OPERATIONS, Inputs, four_layers, operation_name
from turing.ss.realtime import classes_of, one_layer
from turing.stack_machine import StackConfiguration, StackMachine, StackRun

__all__ = ["Guard", "StackNetwork", "StackReading"]

CLEAR = 4  # a detector that is read as 0 or 1 differs from it by at most 1 / CLEAR
WEIGHTS = ("closed", "least squares")
Vectors = dict[str, Any]  # by layer: tensors, lists of floats, or exact vectors


class StackReading(NamedTuple):
    """What a step has done: the state that it leads to, the operation on each stack (``"push0"``, ``"push1"``,
    ``"pop"`` or ``"noop"``), and the symbols on top, before the step in version 4 and after it in version 1. ``state``
    is None where no rule applied, and a top is None where the stack is empty.

    Chapter: :doc:`/book/ss95`.
    """

    state: str | None
    operations: tuple[str, ...] = ()
    tops: tuple[str | None, ...] = ()


class StackNetwork(nn.Module):
    """The network of Siegelmann and Sontag for a :class:`~turing.stack_machine.StackMachine` with p stacks. The
    options:

    - ``version``: 4, the default, has the layers F4, F3, F2 and F1, and 1 has a single one
    - ``base`` and ``digits``: how a stack is written as a number (:class:`turing.cantor.Cantor`). Unless you give both,
      they are 4 and (1, 3) for version 4, and 10p² and (10p² − 1 − 4p, 10p² − 1) for version 1.
    - ``arithmetic``: ``"exact"``, the default, ``"float32"`` or ``"float64"``
    - ``weights``: ``"closed"``, the default, from formulas, or ``"least squares"``, the same numbers, solved as in the
      paper
    - ``inputs``: rules that are applied from outside, where the machine has none. They map a label to ``(next state,
      operation on stack 0, …)``, with operations such as ``("push", "1")``, ``("pop", None)`` and ``("noop", None)``.
      The column gets a slice ``x`` with a place for each label, and a rule is applied where you put a 1 there.

    >>> from turing.ss import StackNetwork
    >>> from turing.stack_machine import balanced
    >>> net = StackNetwork(balanced(), arithmetic="float32")
    >>> net.run("(())").state, [layer.weight.shape[0] for layer in net.layers.values()]
    ('T', [10, 18, 12, 6])

    Chapter: :doc:`/book/ss95`.
    """

    layers: Any  # an nn.ModuleDict whose values are turing.modules.Rational

    def __init__(
        self,
        machine: StackMachine,
        version: int = 4,
        base: int | None = None,
        digits: tuple[int, int] | None = None,
        arithmetic: str = "exact",
        weights: str = "closed",
        inputs: Inputs | None = None,
    ):
        super().__init__()
        if not isinstance(machine, StackMachine):
            raise TypeError(
                f"A StackMachine is built here, and {machine!r} was given. For a Turing machine: turing.compile."
            )
        if type(version) is not int or version not in (4, 1):
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
        self.inputs = dict(inputs or {})
        self.layers = nn.ModuleDict(build(machine, self.code, weights, self.inputs))
        self.layout: Layout = next(iter(self.layers.values())).layouts[0]
        self.tolerance = self.tolerance_after(1, self.code.depth)  # at most, for the number of a stack
        self.keys, self.rules = list(machine.rules), list(machine.rules.values())
        self.classes = classes_of(machine, self.inputs)
        self._of_rules = [
            StackReading(target, tuple(operation_name(machine, operation) for operation in operations), tuple(tops))
            for (_, *tops), (target, *operations) in [*machine.rules.items(), *self._input_rules()]
        ]

    def _input_rules(self) -> list[tuple[tuple[Any, ...], tuple[Any, ...]]]:
        """The rules of inputs as if they had a state and no tops."""
        return [((label,), rule) for label, rule in self.inputs.items()]

    def tolerance_after(self, steps: int, deepest: int | Any) -> Fraction:
        """By how much the number of a stack may differ from the exact one, after that many ``steps`` of a run in which
        no stack held more than ``deepest`` symbols. It is 0 in exact arithmetic, and in a base that is a power of two.

        In any other base floats of P bits round, in each step at most three times, by at most ``2**-P``: twice in a
        push and once in a pop. Each pop multiplies the error by the base, and at most ``deepest`` + 2 pops follow one
        another: all symbols, and two more on what is left.

        Chapter: :doc:`/book/real-time`.
        """
        if not self.code.rounds:
            return Fraction(0)
        base, most = self.code.base, self.code.base**self.code.depth
        grown = 3 * min(steps * base ** (deepest + 2), most)
        return min(Fraction(grown, 2 ** PRECISION[self.arithmetic]), Fraction(1, CLEAR))

    def forward(self, column: Any) -> Any:
        """One step, on a tensor, ``(…, w)`` to ``(…, w)``, or in exact arithmetic on an exact vector."""
        for layer in self.layers.values():
            column = layer(column)
        return column

    def check(self) -> None:
        """Raise unless the parameters are of the type of the arithmetic, and read them anew.

        Chapter: :doc:`/book/ss95`.
        """
        for parameter in self.parameters():
            if parameter.dtype != TYPES[self.arithmetic]:
                raise TypeError(
                    f"This network was built for {self.arithmetic}, and its weights are of {parameter.dtype}, which "
                    f"holds another depth. Build it with the arithmetic that you want."
                )
        for layer in self.layers.values():
            layer.forget()

    def initial(self, *stacks: Iterable[str], state: str | None = None) -> list[float] | Exact:
        """The first column, as floats or as an exact vector: the state, and each stack as a number. ``state`` is that
        of the machine unless given.

        Chapter: :doc:`/book/ss95`.
        """
        stacks = self.machine.stacks(*stacks)
        column: list[Any] = [0 * self.code.unit] * self.layout.width
        state = self.machine.initial if state is None else state
        starts = self.machine.states if self.version == 4 else [target for target, *_ in self.classes]
        if state not in starts:
            raise ValueError(
                f"A run cannot begin in state {state!r}. It can in these: {arguments.listed(dict.fromkeys(starts))}."
            )
        values = [self.code.encode(map(self.machine.symbols.index, stack)) for stack in stacks]
        places = self.layout.q if self.version == 4 else self.layout.noop
        for i, value in zip(places, values, strict=True):
            column[i] = value
        if self.version == 4:
            column[self.layout.st[state]] = self.code.unit
        else:
            k = starts.index(state)
            for v in product(range(3), repeat=self.machine.p):
                if all(level <= self._level(stack) for level, stack in zip(v, stacks, strict=True)):
                    column[self.detector(k, v)] = self.code.unit
        return Exact.of(column) if self.arithmetic == "exact" else column

    def _level(self, stack: Sequence[str]) -> int:
        return 1 + self.machine.symbols.index(stack[0]) if stack else 0

    def vector(self, column: Any) -> Any:
        """A column of numbers as the layers take it: a tensor, or an exact vector.

        Chapter: :doc:`/book/ss95`.
        """
        if self.arithmetic == "exact":
            return column if isinstance(column, Exact) else Exact.of(column)
        like = next(self.parameters())
        return torch.as_tensor(column, dtype=like.dtype, device=like.device)

    def detector(self, k: int, levels: tuple[int, ...]) -> int:
        """In version 1, the place of the detector for a class of steps and the levels of the stacks."""
        place = k
        for level in levels:
            place = 3 * place + level
        return self.layout.det[place]

    def steps(self, column: Any) -> Iterator[Vectors]:
        """Yield for each step, from this column on, every vector by the name of the layer that it leaves: a list of
        floats, or an exact vector.

        Chapter: :doc:`/book/ss95`.
        """
        return map(_numbers, self._steps(column))

    def _steps(self, column: Any) -> Iterator[Vectors]:
        self.check()
        x, layers = self.vector(column), list(self.layers.items())
        while True:
            vectors = {"column": x}
            with nullcontext() if self.arithmetic == "exact" else torch.no_grad():
                for name, layer in layers:
                    x = vectors[name] = layer(x)
            yield vectors
            x = self.reduced(x)

    def reduced(self, x: Any) -> Any:
        """An exact column with the least power of the base as its denominator; a tensor stays as it is."""
        return x.reduced(self.code.base) if isinstance(x, Exact) else x

    def read(self, vectors: Vectors) -> StackReading:
        """The :class:`~turing.ss.network.StackReading` of a step, as the detectors in its own vectors say.

        Chapter: :doc:`/book/ss95`.
        """
        if self.version == 4:
            fired = self._fired(*_at(vectors["F3"], slice(len(self._of_rules))))  # they come first
            return StackReading(None) if fired is None else self._of_rules[fired]
        p, (found, one) = self.machine.p, _at(vectors["step"], self.layout.det.slice)
        k = self._fired(found[:: 3**p], one)
        if k is None:
            return StackReading(None)
        tops = (None, *self.machine.symbols)
        levels = (sum(2 * found[3**p * k + level * 3 ** (p - 1 - i)] > one for level in (1, 2)) for i in range(p))
        return StackReading(self.classes[k][0], self.classes[k][1:], tuple(tops[level] for level in levels))

    def _fired(self, values: list[Any], one: int) -> int | None:
        """Which of some detectors is 1; None if none is. The values are multiples of 1 / one."""
        fired = [n for n, value in enumerate(values) if not CLEAR * value <= one]
        if len(fired) > 1 or any(not CLEAR * (one - values[n]) <= one for n in fired):
            shown = ", ".join(f"{float(values[n] / one):.3g}" for n in fired)
            raise ArithmeticError(
                f"One detector should be 1 and the others 0, and these are not 0: {shown}. {self.why()}"
            )
        return fired[0] if fired else None

    def why(self) -> str:
        """The end of an error message about a number: what must have happened, and what to do."""
        if self.arithmetic == "exact":
            return "The numerators are not those of this machine any more. Build the network again."
        return f'{self.arithmetic} has lost digits, or weights were changed. Use arithmetic="exact".'

    def stacks(self, column: Any) -> tuple[Number, ...]:
        """The numbers that a column holds, one for each stack.

        Chapter: :doc:`/book/ss95`.
        """
        if self.version == 4:
            return tuple(column[i] for i in self.layout.q)
        return tuple(sum(column[self.layout[name][i]] for name in OPERATIONS) for i in range(self.machine.p))

    def follow(self, *stacks: Iterable[str], state: str | None = None) -> Iterator[tuple[Vectors, StackReading]]:
        """Yield for each step, from these stacks on, a pair: its vectors, a dictionary by layer, and what they say, a
        :class:`~turing.ss.network.StackReading`. A :class:`Guard` checks each step.

        Chapter: :doc:`/book/ss95`.
        """
        return ((_numbers(vectors), reading) for vectors, reading, _ in self._follow(stacks, state))

    def _follow(
        self, stacks: Iterable[Iterable[str]], state: str | None = None
    ) -> Iterator[tuple[Vectors, StackReading, Guard]]:
        stacks = self.machine.stacks(*stacks)
        guard = Guard(self, stacks, state)
        for vectors in self._steps(self.initial(*stacks, state=state)):
            reading = self.read(vectors)
            guard.enter(reading)
            yield vectors, reading, guard
            guard.step += 1

    def _symbols(self, vectors: Vectors, guard: Guard) -> tuple[tuple[str, ...], ...]:
        """The stacks that the last of the vectors of a step stands for. In a base in which floats round, that is what
        was pushed and not popped: the number is near it, and no more can be said.
        """
        if self.tolerance:
            return tuple(tuple(reversed(stack)) for stack in guard.stacks)
        values = self.stacks(_numbers(vectors)["F1" if self.version == 4 else "step"])
        return tuple(tuple(self.machine.symbols[bit] for bit in self.code.decode(value)) for value in values)

    def trace(self, *stacks: Iterable[str], max_steps: int = 1_000_000) -> Iterator[StackConfiguration]:
        """Run the network, and yield the :class:`~turing.stack_machine.StackConfiguration` that each column stands for.
        Every stack is decoded at every step; :meth:`run` decodes only the last ones.

        Chapter: :doc:`/book/ss95`.
        """
        return self._configurations(self.machine.stacks(*stacks), arguments.step_limit(max_steps))

    def _configurations(self, stacks: tuple[tuple[str, ...], ...], limit: int) -> Iterator[StackConfiguration]:
        yield StackConfiguration(0, self.machine.initial, stacks)
        for vectors, guard in self._done(stacks, limit):
            yield StackConfiguration(guard.step, guard.state, self._symbols(vectors, guard))

    def _done(self, stacks: tuple[tuple[str, ...], ...], limit: int) -> Iterator[tuple[Vectors, Guard]]:
        """The steps of a run."""
        if self.machine.initial in self.machine.terminal or not limit:
            return
        for vectors, reading, guard in self._follow(stacks):
            if reading.state is None:
                return
            yield vectors, guard
            if reading.state in self.machine.terminal or guard.step == limit:
                return

    def run(self, *stacks: Iterable[str], max_steps: int = 1_000_000) -> StackRun:
        """Run the network on these stacks, each given with its top first; return a
        :class:`~turing.stack_machine.StackRun`.

        Chapter: :doc:`/book/ss95`.
        """
        stacks, limit = self.machine.stacks(*stacks), arguments.step_limit(max_steps)
        now = StackConfiguration(0, self.machine.initial, stacks)
        for number, (vectors, guard) in deque(enumerate(self._done(stacks, limit), start=1), maxlen=1):
            now = StackConfiguration(number, guard.state, self._symbols(vectors, guard))
        return StackRun(self.machine.status(now, limit), now.state, now.step, now.stacks)

    def expected(
        self, configurations: Iterable[StackConfiguration | None], machine: StackMachine | None = None
    ) -> Iterator[dict[str, dict[str, Fraction | int]]]:
        """Yield for each step what its vectors must be, a dictionary by layer of the places that are not 0, from the
        configurations of the machine's own run, as :meth:`turing.stack_machine.StackMachine.trace` yields them.

        Give ``machine`` if it is not the one that the network was built for. A None after the last configuration asks
        for the vectors of one more step, at which the machine jams.

        Chapter: :doc:`/book/ss95`.
        """
        from turing.ss.specification import specification

        step = specification(self, machine or self.machine)
        return (step(now, after) for now, after in pairwise(configurations))

    def ir(self) -> ir.Network:
        """The network as :mod:`turing.ir` sees it."""
        modules = []
        for name, layer in self.layers.items():
            parts = ir.described(f"layers.{name}", layer)
            modules.append(ir.Module(name, type(layer).__name__, tuple(parts)))
        return ir.Network(tuple(modules), self.arithmetic, ir.Loop())


class Guard:
    """Follows a run with stacks of symbols beside the numbers, and raises an error before the first wrong answer.

    It refuses a step that makes a stack deeper than the arithmetic can hold, that misreads the top of a stack, or that
    finds no rule where the machine has one. ``step`` is the number that errors name. Every run has a guard of its own.

    Chapter: :doc:`/book/ss95`.
    """

    def __init__(self, network: StackNetwork, stacks: Iterable[Sequence[str]], state: str | None = None):
        self.network, self.step = network, 1
        self.state: str = network.machine.initial if state is None else state
        self.stacks = [list(reversed(stack)) for stack in stacks]  # the top last

    def enter(self, reading: StackReading) -> None:
        """Take what a step has done."""
        if reading.state is None:
            self._jams()
            return
        code, symbols, version = self.network.code, self.network.machine.symbols, self.network.version
        self.state = reading.state
        if version == 4:
            self._agree(reading.tops)
        for i, (operation, stack) in enumerate(zip(reading.operations, self.stacks, strict=True)):
            if operation.startswith("push"):
                stack.append(symbols[int(operation[-1])])
            elif operation == "pop" and stack:
                stack.pop()
            if code.depth is not None and len(stack) > code.depth:
                raise DepthError(f"At step {self.step}, on stack {i}: {code.full(len(stack))}")
        if version == 1:
            self._agree(reading.tops)

    def _jams(self) -> None:
        """Where no rule applies in the network, the machine has none."""
        tops = [stack[-1] if stack else None for stack in self.stacks]
        if (self.state, *tops) in self.network.machine.rules:
            raise ArithmeticError(
                f"At step {self.step} no rule applies in the network, where the machine has one for state "
                f"{self.state!r} with {', '.join(map(repr, tops))} on top. {self.network.why()}"
            )

    def _agree(self, tops: tuple[str | None, ...]) -> None:
        """What the detectors take for the tops is what has been pushed."""
        for i, (top, stack) in enumerate(zip(tops, self.stacks, strict=True)):
            held = stack[-1] if stack else None
            if top != held:
                raise ArithmeticError(
                    f"At step {self.step} the network takes {top!r} for the top of stack {i}, where {held!r} is. "
                    f"{self.network.why()}"
                )


def _numbers(vectors: Vectors) -> Vectors:
    """The vectors as sequences of plain numbers."""
    return {name: x if isinstance(x, Exact) else x.tolist() for name, x in vectors.items()}


def _at(found: Any, places: slice) -> tuple[list[Any], int]:
    """The numbers of a vector at some places, as multiples of 1 over the second result."""
    if isinstance(found, Exact):
        return found.numerators[places], found.denominator
    part = found[places]
    return part.tolist() if isinstance(part, torch.Tensor) else part, 1
