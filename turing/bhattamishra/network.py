"""The decoder of a machine by Bhattamishra, Patel and Goyal: its residual stream is the vector of SS95."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import Any

import torch
from torch import nn

from turing import arguments, ir
from turing.assembly import head, labelled
from turing.attention import Attention
from turing.bhattamishra.stacks import ReadingStacks
from turing.cantor import DepthError
from turing.construction import Construction, Expectation, Reading, State, register
from turing.layout import Layout
from turing.machine import Configuration, TuringMachine
from turing.modules import TYPES, Rational, Row, Rows
from turing.ss.network import CLEAR, StackNetwork
from turing.ss.realtime import MAX_NEURONS, classes_of
from turing.ss.specification import near, specification
from turing.ss.turing_machine import control_places, machine_reading, start_notes
from turing.verification import Approx

__all__ = ["Bhattamishra20"]

BLOCKS = ("column", "F4", "F3", "F2")  # what goes into each of the four layers


@register
class Bhattamishra20(Construction):
    """The decoder of Bhattamishra, Patel and Goyal for a Turing machine: the cell of SS95 with a head that reads the
    word.

    The column is the vector of :class:`turing.ss.StackNetwork`, with stacks as rational numbers, and is fed back as it
    is. At pass t a head fetches item t of the word, a bit, and one layer of sat computes the next column. The options:

    - ``arithmetic``: ``"exact"``, the default, holds stacks of any depth. In ``"float32"`` and ``"float64"`` a stack
      holds 6 and 13 bits with version 1, and 12 and 26 with version 4; a deeper one raises
      :class:`~turing.cantor.DepthError`.
    - ``version``: 1 takes a pass for a micro-step. 4 has the four layers of SS95 side by side in one, which are
      smaller, and takes four passes. The default is 1, or 4 where version 1 would have more than 6,000 neurons.
    - ``positions``: True, the default, gives each column the number 1/t. With False nothing is added to a column: a
      second head computes 1/t from a mark on the first one.

    >>> import turing
    >>> from turing.bhattamishra import Bhattamishra20
    >>> net = Bhattamishra20(turing.zoo["bb4"])
    >>> run = net.run()
    >>> run.steps, run.micro_steps, list(net.pipeline)
    (107, 109, ['input', 'cell'])

    Chapter: :doc:`/book/averages`.
    """

    construction = "bhattamishra20"
    batched = False

    def __init__(
        self,
        machine: TuringMachine,
        arithmetic: str = "exact",
        version: int | None = None,
        positions: bool = True,
    ):
        super().__init__()
        if arithmetic not in tuple(TYPES):
            raise ValueError(f"An arithmetic is one of {', '.join(TYPES)}, and {arithmetic!r} was given.")
        if not isinstance(machine, TuringMachine):
            raise TypeError(f"Bhattamishra20 takes a TuringMachine, and {machine!r} was given.")
        if version is not None and (type(version) is not int or version not in (1, 4)):
            raise ValueError(f"version is 1, for one pass a micro-step, or 4, for four, and {version!r} was given.")
        if not isinstance(positions, bool):
            raise ValueError(f"positions is True or False, and {positions!r} was given.")
        pairs = len(machine.states) * len(machine.symbols)
        arguments.network_size(repr(machine), "or more in bhattamishra20", 12 * pairs * len(machine.delta))
        self.machine, self.stacks = machine, ReadingStacks(machine)
        stack = self.stacks.machine
        if version is None:
            version = 1 if 9 * len(classes_of(stack, self.stacks.inputs)) + 8 <= MAX_NEURONS else 4
        base, digits = (16, (11, 15)) if version == 1 else (4, (1, 3))
        network = StackNetwork(stack, version, base, digits, arithmetic, inputs=self.stacks.inputs)
        self._network = (network,)  # in a tuple, so that its weights are not also parameters of this module
        self.options = {"arithmetic": arithmetic, "version": version, "positions": positions}
        self.version, self.passes_per_step = version, version * self.stacks.k
        self.tolerance = Fraction(1, CLEAR) if network.tolerance else 0
        extra = Layout(inv=1) if positions else Layout(inv=1, start=1)
        self.layout = (network.layout if version == 1 else _side_by_side(network)) + extra
        self.loop = ir.Loop("column", (("inv", "inverse"),) if positions else ())  # type: ignore[misc]  # of this network
        cell = self._one_layer(arithmetic) if version == 1 else self._four_layers(arithmetic)
        count = {} if positions else {"count": self._count(arithmetic)}
        self.pipeline = nn.ModuleDict({**count, "input": self._input(arithmetic), "cell": cell})

    @property
    def network(self) -> StackNetwork:
        """The network of SS95 whose layers the cell has; its weights are not used."""
        return self._network[0]

    def check(self) -> None:
        """Raise unless the parameters are of the type of the arithmetic, whose depth the stacks have."""
        super().check()
        if self._like.dtype != TYPES[self.options["arithmetic"]]:
            raise TypeError(
                f"This network was built for {self.options['arithmetic']}, and its weights are of {self._like.dtype}, "
                f"which holds another depth. Build it with the arithmetic that you want."
            )

    def _one_layer(self, arithmetic: str) -> Rational:
        """The cell of one layer as it is."""
        layer = self.network.layers["step"]
        cell = Rational(self.layout, self.layout, {}, "clamp", layer.last, arithmetic)
        cell.denominator = layer.denominator
        (weight, bias), (own, own_bias) = _numbers(cell), _numbers(layer)
        weight[: own.shape[0], : own.shape[1]], bias[: len(own_bias)] = own, own_bias
        return cell

    def _four_layers(self, arithmetic: str) -> Rational:
        """The four layers side by side in one: each takes its own block of the column and gives the next one.

        A bias would fill blocks that hold nothing; so it is a weight of the mark on the block that does.
        """
        layout, layers = self.layout, list(self.network.layers.values())
        starts = [layout[_in_block(*pair)].start for pair in zip(BLOCKS, _first_names(layers), strict=True)]
        cell = Rational(layout, layout, {}, "clamp", [starts[2] + place for place in layers[2].last], arithmetic)
        cell.denominator = lcm(*(layer.denominator for layer in layers))
        weight, _ = _numbers(cell)
        unit = cell.denominator if arithmetic == "exact" else 1
        for (source, target), layer, block in zip(pairwise([*starts, starts[0]]), layers, BLOCKS, strict=True):
            own, bias = (part * (unit // layer.denominator) if unit > 1 else part for part in _numbers(layer))
            rows = slice(target, target + own.shape[0])
            weight[rows, source : source + own.shape[1]], weight[rows, layout.phase[block]] = own, bias
        for before, after in pairwise([*BLOCKS, BLOCKS[0]]):
            weight[layout.phase[after], layout.phase[before]] = unit
        return cell

    def _count(self, arithmetic: str) -> Attention:
        """1/t: the average over all columns of a mark that only the first one has."""
        x = self.layout
        return head(x, 1, ({0: {None: 1}}, {}, {0: {x.start[0]: 1}}), [{x.inv[0]: 1}], arithmetic, "causal")

    def _input(self, arithmetic: str) -> Attention:
        """Fetch item j = t: the score is −|2j/t − 2|, and −1/t for the null key, which wins where there is none."""
        x = self.layout
        items: Rows = {k: {place: 1} for k, place in enumerate(x.x)}
        key: Rows = {0: {x.inv[0]: 2}, 1: {None: -2}}  # a row of the word has its number there
        into: list[Row] = [{place: 1} for place in x.x]
        return head(x, 2, ({0: {x.inv[0]: 1}, 1: {None: 1}}, key, items), into, arithmetic, "cross", [1, 0])

    def encode(self, word: Iterable[str]) -> Any:
        """The word for its head, a row for each bit and one for the end: the item, and the number of its pass.

        Chapter: :doc:`/book/averages`.
        """
        self.machine.tape(word)  # says what is wrong with it
        rows = []
        for number, item in enumerate(self.stacks.items(arguments.word(word))):
            column = [0] * self.layout.width
            column[self.layout.x[item]], column[self.layout.inv[0]] = 1, 1 + self.version * number
            rows.append(self.vector(column))
        return rows if self.arithmetic == "exact" else torch.stack(rows)

    def initial(self, word: Iterable[str]) -> Any:
        """The first column, the same for every word: the state that reads, and empty stacks.

        Chapter: :doc:`/book/averages`.
        """
        self.machine.tape(word)
        numbers = list(self.network.initial((), ()))
        column: list[Any] = numbers + [0] * (self.layout.width - len(numbers))
        if self.version == 4:
            column[self.layout.phase["column"]] = 1
        first = self.layout.inv if self.options["positions"] else self.layout.start
        column[first[0]] = 1
        return self.vector(column)

    def max_passes(self, words: Sequence[Sequence[str]], steps: int) -> int:
        """The micro-steps, one pass or four each."""
        return self.version * max(map(self.stacks.read_steps, words)) + super().max_passes(words, steps)

    def start(self, words: Sequence[Sequence[str]]) -> State:
        """The state before the first step of the one word.

        Chapter: :doc:`/book/averages`.
        """
        state = super().start(words)
        state.notes |= {"word": words[0], "reading": True}
        return state

    def _embedded(self, x: Any, step: int) -> Any:
        x = self.network.reduced(x)
        return x + self.beta(step) if self.loop.add else x

    def read(self, state: State) -> list[Reading | None]:
        """What the pass before a state has done; None while the word is read, and in the middle of a step.

        Chapter: :doc:`/book/averages`.
        """
        notes, network, layout = state.notes, self.network, self.layout
        if self.version == 1:
            found = network.read({"step": state.x})
        else:
            phase = labelled(layout.phase, state.x)
            if phase is None:
                raise ArithmeticError("no block of the column is marked as the one that holds it.")
            if phase == "F3":
                block = slice(layout.rule3.start, layout.rule3.start + layout.rule3.size)
                notes["found"] = network.read({"F3": state.x[block]})
            if phase != "column":
                return [None]
            found = notes["found"]
        if not notes["reading"]:
            return [machine_reading(self.stacks, network, found, state)]
        if found.state in self.stacks.reading:
            return [None]
        notes["reading"] = False
        notes |= start_notes(self.stacks, network, notes["word"])
        if found.state != notes["guard"].state:
            raise ArithmeticError(
                f"the word is read, and the stacks are in {found.state} instead of {notes['guard'].state}. "
                f"{network.why()}"
            )
        return [None]

    def kept(self, state: State) -> list[tuple[str, int]]:
        """The bits of the word before they are read, and then the neurons of the control.

        Chapter: :doc:`/book/table`.
        """
        if not state.passes:
            return [("input", bit) for bit in range(self.stacks.k if state.notes["word"] else 0)]
        return control_places(self.network, state.x)

    def guard(self, word: Sequence[str], now: Configuration, reading: Reading | None, notes: dict[str, Any]) -> None:
        """Refuse a word that is deeper than floats can hold, and follow the stacks of a run by their symbols."""
        if reading is None:
            notes |= {"word": word, "reading": True}
            depth, code = len(word) * self.stacks.k, self.network.code
            if code.depth is not None and depth > code.depth:
                instead = ", or version=4, whose base is 4" if self.version == 1 else ""
                raise DepthError(
                    f"The word takes a stack of {depth} bits while it is read, and {self.arithmetic} holds "
                    f"{code.depth} in base {code.base}. Use arithmetic='exact'{instead}."
                )
        else:
            notes["guard"].step = now.step + 2  # the step that is read next

    def expected(
        self, machine: TuringMachine, word: Iterable[str], max_steps: int | None = None
    ) -> Iterator[Expectation]:
        """What the vectors have to be for a machine with these states and symbols, from a run without weights.

        Chapter: :doc:`/book/averages`.
        """
        self.same_names(machine)
        stacks, network, limit = ReadingStacks(machine, self.machine.symbols), self.network, self._limit(max_steps)
        word = arguments.word(word)
        if machine.initial in machine.halting or not limit:
            return
        vectors, deepest, t = specification(network, stacks.machine), 0, 0
        names = self.layout.names()
        column = {names[place]: 1 for place, value in enumerate(self.initial(word)) if value and place < self._timed}
        for number, (step, now, after, label) in enumerate(stacks.passes(word, limit), start=1):
            found: dict[str, dict[str, Any]] = vectors(now, after, label)
            if network.arithmetic != "exact":
                deepest = max(deepest, *map(len, now.stacks))
                found = near(network, found, network.tolerance_after(number, deepest), after is None)
            for given, following in self._in_passes(found, label):
                t += 1
                start = {"start": 1} if "start" in self.layout.slices and t == 1 else {}
                timed = column | start | {"inv": self._inverse(t)}
                counted = {"count": timed} if "count" in self.pipeline else {}
                yield Expectation(step, {**counted, "input": timed | given, "cell": following})
                column = following

    @property
    def _timed(self) -> int:
        """Where the places begin that say when, after those of the stacks."""
        return self.layout.inv[0]

    def _inverse(self, t: int) -> Any:
        exact = self.arithmetic == "exact"
        return Fraction(1, t) if exact else Approx(Fraction(1, t), Fraction(torch.finfo(self._like.dtype).eps))

    def _in_passes(
        self, found: Mapping[str, Mapping[str, Any]], label: str | None
    ) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """For each pass of a micro-step what the head adds, and the column that follows."""
        given = {f"x[{label}]": 1} if label else {}
        if self.version == 1:
            yield given, dict(found["step"])
            return
        for layer, block in zip(("F4", "F3", "F2", "F1"), (*BLOCKS[1:], BLOCKS[0]), strict=True):
            yield given, {_in_block(block, name): v for name, v in found[layer].items()} | {f"phase[{block}]": 1}
            given = {}

    def about(self) -> dict[str, str]:
        """The network in a few rows, for people."""
        passes = "" if self.version == 1 else ", each of 4 passes"
        return super().about() | {
            "network": f"{self.construction}, {self.arithmetic}, base {self.network.code.base}",
            "a step": f"{arguments.count(self.stacks.k, 'micro-step')}, after 2nk + 2 that read n cells{passes}",
        }


def _side_by_side(network: StackNetwork) -> Layout:
    """What goes into each of the four layers, block by block, and a mark on the block that holds the column."""
    slices: dict[str, Any] = {}
    for block, layer in zip(BLOCKS, network.layers.values(), strict=True):
        for part in layer.layouts[0]:
            slices[_in_block(block, part.name)] = part.labels or part.size
    layout = Layout(**slices, phase=list(BLOCKS))
    arguments.network_size(repr(network.machine), "side by side", layout.width**2)
    return layout


def _in_block(block: str, name: str) -> str:
    """A slice, or a place of it, as it is called in a block of the column: st[q] is st4[q] in F4."""
    if block == BLOCKS[0]:
        return name
    base, bracket, rest = name.partition("[")
    return f"{base}{block[1:]}{bracket}{rest}"


def _first_names(layers: Iterable[Rational]) -> list[str]:
    return [next(iter(layer.layouts[0])).name for layer in layers]


def _numbers(layer: Rational) -> tuple[torch.Tensor, torch.Tensor]:
    """The parameters of a layer, numerators if it is exact, for reading and writing."""
    weight, bias = layer.parameters()
    return weight.data, bias.data
