"""The network of any Turing machine, by way of two binary stacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from torch import nn

from turing import arguments, wcm  # noqa: F401  # wcm: the chapter before registers its construction first
from turing.construction import Construction, Expectation, Reading, State, register
from turing.machine import Configuration, TuringMachine
from turing.ss.four import operation_name
from turing.ss.network import CLEAR, Guard, StackNetwork, StackReading
from turing.ss.realtime import check_neurons
from turing.ss.specification import near, specification
from turing.stack_machine import StackConfiguration, TwoStacks

__all__ = ["SS95", "SS95RealTime"]


@register
class SS95(Construction):
    """The network of Siegelmann and Sontag for a Turing machine, with four layers for each micro-step.

    A symbol is k bits: 1 for two symbols, 3 for five to eight. A step of the machine takes k **micro-steps**, each of
    which pushes a bit on one stack and pops one off the other; a stay takes one. The options:

    - ``arithmetic``: ``"exact"``, the default, holds stacks of any depth. ``"float32"`` holds 12 bits and ``"float64"``
      26, and a deeper stack raises :class:`~turing.cantor.DepthError`.
    - ``base`` and ``digits``: how a stack is written as a number (:class:`turing.cantor.Cantor`), 4 and (1, 3) unless
      you give both. A larger base leaves floats room for fewer bits.
    - ``weights``: ``"closed"``, the default, takes them from formulas. ``"least squares"`` solves for them numerically,
      as in the paper; the numbers are the same, and it takes longer.

    >>> import turing
    >>> from turing.ss import SS95
    >>> net = SS95(turing.zoo["bb4"])
    >>> run = net.run()
    >>> run.steps, run.micro_steps, len(run.tape)
    (107, 107, 13)

    Chapter: :doc:`/book/ss95`.
    """

    construction = "ss95"
    version = 4
    batched = False

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
        # The two stacks alone may fill the memory: a rule makes six of theirs or more, and a result a class or more.
        pairs, rules = len(machine.states) * len(machine.symbols), machine.delta
        if self.version == 4:
            arguments.network_size(repr(machine), "or more in four layers", 12 * pairs * len(rules))
        else:
            check_neurons(repr(machine), 9 * len(set(rules.values())), " or more")
        self.machine, self.two = machine, TwoStacks(machine)
        pair: Any = tuple(digits) if isinstance(digits, list) else digits  # as they come from a file
        if base is None and pair is None and self.version == 1:
            base, pair = 16, (11, 15)  # the least dyadic base that does
        self.network = StackNetwork(self.two.machine, self.version, base, pair, arithmetic, weights)
        code = self.network.code
        self.layout, self.passes_per_step = self.network.layout, self.two.k
        # of what is not a stack's number: a detector has to be clear where floats round in this base
        self.tolerance = Fraction(1, CLEAR) if self.network.tolerance else 0
        self.options = {"arithmetic": arithmetic, "base": code.base, "digits": list(code.digits), "weights": weights}

    @property
    def pipeline(self) -> nn.ModuleDict:  # type: ignore[override]  # the layers belong to the stack network
        return self.network.layers

    def initial(self, word: Iterable[str]) -> Any:
        """The first column: state and first symbol, and the rest of the word on the right stack.

        Chapter: :doc:`/book/ss95`.
        """
        state, *stacks = self.two.start(arguments.word(word))
        return self.network.vector(self.network.initial(*stacks, state=state))

    def start(self, words: Sequence[Sequence[str]]) -> State:
        """The state before the first step of the one word.

        Chapter: :doc:`/book/ss95`.
        """
        self.check()
        state = super().start(words)
        state.notes |= self._notes(words[0])
        return state

    def _notes(self, word: Sequence[str]) -> dict[str, Any]:
        """What the reader keeps: the guard of the stacks, and what a step of the machine has pushed so far, and on
        which side.
        """
        return start_notes(self.two, self.network, word)

    def _embedded(self, x: Any, step: int) -> Any:
        return self.network.reduced(x)

    def check(self) -> None:
        """Raise unless the parameters are of the type of the arithmetic, and read them anew.

        Chapter: :doc:`/book/ss95`.
        """
        self.network.check()

    def read(self, state: State) -> list[Reading | None]:
        """What the pass before a state has done; None in the middle of a step of the machine.

        Chapter: :doc:`/book/ss95`.
        """
        return [machine_reading(self.two, self.network, self.network.read(state.vectors), state)]

    def guard(self, word: Sequence[str], now: Configuration, reading: Reading | None, notes: dict[str, Any]) -> None:
        """Follow a run by the symbols on its stacks; each pass is held against these where it is read."""
        if reading is None:
            notes |= self._notes(word)
        else:
            notes["guard"].step = now.step + 2  # the step that is read next

    def kept(self, state: State) -> list[tuple[str, int]]:
        """The neurons of the control, whose state has the symbol in its name: neither stack holds this cell.

        Chapter: :doc:`/book/table`.
        """
        return control_places(self.network, state.x)

    def expected(
        self, machine: TuringMachine, word: Iterable[str], max_steps: int | None = None
    ) -> Iterator[Expectation]:
        """What the vectors have to be for a machine with these states and symbols, from a run without weights.

        Chapter: :doc:`/book/ss95`.
        """
        self.same_names(machine)
        two, network = TwoStacks(machine, self.machine.symbols), self.network
        vectors, deepest = specification(network, two.machine), 0
        passes = _passes(two, arguments.word(word), self._limit(max_steps))
        for number, (step, now, after) in enumerate(passes, start=1):
            found: dict[str, dict[str, Any]] = vectors(now, after)
            if network.arithmetic != "exact":
                deepest = max(deepest, *map(len, now.stacks))
                found = near(network, found, network.tolerance_after(number, deepest), after is None)
            yield Expectation(step, found)

    def detectors(self) -> list[dict[str, Any]]:
        """The detector of each rule of the stack machine; with one layer, of each class of its steps."""
        stacks, names = self.network, self.layout.names()
        if stacks.version == 1:
            first = [names[stacks.detector(k, (0,) * stacks.machine.p)] for k in range(len(stacks.classes))]
            rules = [list(kind) for kind in stacks.classes]
        else:
            first = self.layout_of("F3").rule.names()
            rules = [
                [*key, target, *(operation_name(stacks.machine, operation) for operation in operations)]
                for key, (target, *operations) in stacks.machine.rules.items()
            ]
        vector = list(self.pipeline)[-1 if stacks.version == 1 else 1]
        return [{"rule": rule, "vector": vector, "detector": place} for rule, place in zip(rules, first, strict=True)]

    def about(self) -> dict[str, str]:
        """The network in a few rows, for people."""
        code = self.network.code
        digits = " and ".join(map(str, code.digits))
        widths = [layer.weight.shape[0] for layer in self.network.layers.values()]
        micro, layers = arguments.count(self.two.k, "micro-step"), arguments.count(len(widths), "layer")
        return {
            "network": f"{self.construction}, {code.arithmetic}, base {code.base}, digits {digits}",
            "width": " → ".join(f"{width:,}" for width in [self.layout.width, *widths]),
            "a step": f"{micro} of {layers}; a stay takes one",
        }


def control_places(network: StackNetwork, x: Any) -> list[tuple[str, int]]:
    """Where a column holds the state of the stacks: one neuron, or with one layer the detectors that are on."""
    part = network.layout.st if network.version == 4 else network.layout.det
    return [("column", place) for place in part if x[place] > Fraction(1, 2)]


def start_notes(two: TwoStacks, network: StackNetwork, word: Sequence[str]) -> dict[str, Any]:
    """What a reader keeps: the guard of the stacks, and what a step has pushed so far, and on which side."""
    state, *stacks = two.start(word)
    return {"guard": Guard(network, stacks, state), "pushed": [], "move": 0}


def machine_reading(two: TwoStacks, network: StackNetwork, reading: StackReading, state: State) -> Reading | None:
    """What a step of the two stacks says about the Turing machine; None in the middle of its step."""
    notes = state.notes
    notes["guard"].enter(reading)
    if reading.state is None:
        return Reading(None)
    pushed: list[int] = notes["pushed"]
    for side, operation in enumerate(reading.operations):
        if operation.startswith("push"):
            pushed.append(int(operation[-1]))
            notes["move"] = 1 if side == 0 else -1  # what is pushed on the left stack is where the head was
    if reading.state not in two.control and len(pushed) < two.k:
        return None
    name, symbol = two.control.get(reading.state, ("", ""))
    written = two.symbol.get(tuple(reversed(pushed))) if pushed else symbol
    if not name or written is None:
        raise ArithmeticError(
            f"a step of the machine should end with pass {state.passes}, and the network has pushed {pushed} and "
            f"is in {reading.state}. {network.why()}"
        )
    move, notes["pushed"], notes["move"] = notes["move"], [], 0
    return Reading(name, symbol, written, move)


def _passes(
    two: TwoStacks, word: Sequence[str], limit: int
) -> Iterator[tuple[int, StackConfiguration, StackConfiguration | None]]:
    """The passes of a run: the step of the machine that each belongs to, and the configurations before and after it;
    None after it, if the machine jams before the limit.
    """
    step, before = 0, None
    for now, ends in two.trace(word, limit):
        if before is not None:
            yield step, before, now
        step, before = step + ends, now
    if before is not None and step <= limit and before.state not in two.machine.terminal:
        yield step, before, None


@register
class SS95RealTime(SS95):
    """The network of Siegelmann and Sontag for a Turing machine, with one layer for each micro-step.

    Take it where a micro-step has to be a single layer; it has more weights than :class:`SS95`, whose options it has:

    - ``arithmetic``: ``"exact"``, the default, for stacks of any depth, ``"float32"`` for 6 bits, or ``"float64"`` for
      13
    - ``base`` and ``digits``: 16 and (11, 15) unless you give both
    - ``weights``: ``"closed"``, the default, or ``"least squares"``

    >>> import turing
    >>> from turing.ss import SS95RealTime
    >>> SS95RealTime(turing.zoo["bb4"]).run().steps
    107

    Chapter: :doc:`/book/real-time`.
    """

    construction = "ss95-realtime"
    version = 1
