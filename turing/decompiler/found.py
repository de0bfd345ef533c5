"""``turing.decompile`` and ``turing.repair``: one entry point, which recognises the construction from the tensors.

Chapter: :doc:`/book/reading-back`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from turing.construction import Construction, compile
from turing.decompiler import cells, ss95, wcm21
from turing.decompiler.certify import Match, in_order, laid_over, matched
from turing.decompiler.reading import Reading, Weight, numbered
from turing.decompiler.ss95 import Stacks
from turing.decompiler.tensors import Bare, Refusal, bare
from turing.decompiler.two_stacks import Translated, translated
from turing.decompiler.wcm21 import Table
from turing.machine import TuringMachine
from turing.ss import StackNetwork
from turing.stack_machine import StackMachine, TwoStacks

__all__ = ["Change", "Found", "Repaired", "decompile", "repair"]

UNKNOWN = {
    "names": "names of states and symbols are not in the weights; q0, q1, … and _, 1, 2, … stand for them",
    "initial": "the initial state stands in the first column and not in the weights; give first_column to read it",
    "halting": "a halting state and a state without rules have the same weights",
    "T": "the number of steps that a network was compiled for is not in the weights, only its position bits",
}
MIRROR = "with one position bit, a step to the right and a step to the left lead to the same cell"
STACKS = {
    "names": "names of states and symbols are not in the weights; q0, q1, … and 0, 1 stand for them",
    "initial": UNKNOWN["initial"],
    "halting": UNKNOWN["halting"],
    "order": "the stacks have no order in the weights",
    "arithmetic": "exact numbers and floats are the same weights",
}
SIDES = (
    "which stack is left of the head is not in the weights, and a machine and its mirror image have the same; give the "
    "first_column of a run on a word, whose rest is on the right"
)
SYMBOLS = "the same weights belong to a machine with other symbols, whose codes have another number of bits: {}"
CHANGED = 1e-6  # a number that differs by more was changed


@dataclass(frozen=True, eq=False)
class Found:
    """What :func:`decompile` found.

    ``machine`` has neutral names. ``margin`` says how near the reading came to another one: 1 is as clear as compiled
    weights, 0 is where it would refuse. ``unknown`` says what cannot be read from weights, and why. ``evidence`` has
    for each rule the weights that it was read from: the number of the map, the row and the column. ``machine`` is a
    :class:`~turing.stack_machine.StackMachine` if the network is one of stacks and no Turing machine could be read from
    these; then ``unknown["turing machine"]`` says why.

    Chapter: :doc:`/book/reading-back`.
    """

    machine: Any  # a TuringMachine, or a StackMachine
    construction: str
    options: Mapping[str, Any]
    margin: float
    unknown: Mapping[str, str]
    evidence: Mapping[tuple, Sequence[Weight]] = field(repr=False)
    network: Bare = field(repr=False)
    lay: Callable[[Bare], Match] = field(repr=False)  # the compiled network over the one that was given
    reading: Table | Reading = field(repr=False)

    @cached_property
    def match(self) -> Match:
        """What was found, compiled and laid over the network that was given."""
        return self.lay(bare(self.compiled()))

    @property
    def certified(self) -> bool:
        """Whether the network is, number for number and up to its symmetries, the one compiled for this machine."""
        return bool(self.match)

    def compiled(self, **options: Any) -> Any:
        """The network of the machine that was found, compiled anew; of a stack machine a
        :class:`~turing.ss.StackNetwork`.

        Chapter: :doc:`/book/reading-back`.
        """
        if isinstance(self.machine, StackMachine):
            return StackNetwork(self.machine, **{**self.options, **options})
        return compile(self.machine, self.construction, **{**self.options, **options})

    def __str__(self) -> str:
        sure = "certified" if self.certified else "not certified"
        return f"{self.machine!r}, from {self.construction}, margin {self.margin:.2f}, {sure}"


def decompile(what: Any, first_column: Any = None) -> Found:
    """The machine that a network was compiled for, read from its bare tensors; or a :class:`Refusal` with a reason.

    ``what`` is a network, the path of a saved one, or what :func:`turing.decompiler.bare` gives: names and metadata are
    ignored. ``first_column`` is the first column of a run, from which the initial state is read. WCM21 transformers are
    read, with both adders; networks of stacks, in four layers and in one: the Turing machine that was translated into
    the stacks, or the stack machine; rows of cells, whose first column is the first row; and windows that go round.

    >>> import turing
    >>> net = turing.compile(turing.zoo["bb4"], "wcm21", T=128, adder="lookahead")
    >>> from turing.decompiler import disguise
    >>> hidden = disguise(net, "linear", seed=7)
    >>> print(decompile(hidden.network))
    <TuringMachine: 5 states, 2 symbols, 8 rules>, from wcm21, margin 1.00, certified
    >>> print(decompile(disguise(turing.compile(turing.zoo["bb4"], "ss95"), seed=7).network))
    <TuringMachine: 5 states, 2 symbols, 8 rules>, from ss95, margin 1.00, certified

    Chapter: :doc:`/book/reading-back`.
    """
    network = bare(what)
    for tensor in network.tensors():
        if not np.isfinite(np.asarray(tensor, dtype=float)).all():
            raise Refusal("A number of this network is infinite or not a number.")
    if (shape := wcm21.shape(network)) is not None:
        return _found(network, wcm21.read(shape), first_column)
    if (stacks := ss95.shape(network)) is not None:
        return _laid(network, _read_stacks(ss95.read(stacks), first_column))
    if (row := cells.shape(network)) is not None:
        return _laid(network, cells.read(row, first_column))
    raise Refusal(f"The shapes and the wiring of {network} are those of no construction that is read back.")


def _laid(network: Bare, read: Reading) -> Found:
    """A reading that says which neuron is which, so that the compiled network can be laid over the one that was given."""

    def lay(compiled: Bare) -> Match:
        return laid_over(network, compiled, read.order, read.factors)

    shared = (read.machine, read.construction, read.options, float(read.margin), read.unknown, read.evidence)
    return Found(*shared, network, lay, read)


def _read_stacks(stacks: Stacks, first_column: Any) -> Reading:
    """The Turing machine that was translated into stacks, where that can be read; else the stack machine."""
    unknown, machine, left = dict(STACKS), stacks.machine, 0
    start = None
    if first_column is not None:
        start, full = _start(stacks, first_column)
        del unknown["initial"]
        if machine.p == 2 and len(full) == 1:  # the rest of the word, to the right of the head
            left = 1 - full[0]
    options = {"base": stacks.base, "digits": list(stacks.digits)}
    try:
        turing = translated(machine, left)
        found: Any = turing.machine
    except Refusal as reason:
        unknown["turing machine"] = f"this is the stack machine, because {reason}"
        if start is not None:
            machine = _beginning(machine, start)
        order = ss95.orders(stacks, machine, {q: q for q in machine.states}, range(machine.p))
        options["digits"] = stacks.digits
        return Reading(machine, "ss95", options, stacks.margin, unknown, stacks.evidence, order)
    del unknown["order"]
    unknown["names"] = UNKNOWN["names"]
    if start is None or len(full) != 1:
        unknown["direction"] = SIDES
    if turing.others:
        unknown["symbols"] = SYMBOLS.format(", ".join(map(str, turing.others)))
    two = TwoStacks(found)
    if start is not None:
        pair = next((pair for name, pair in two.control.items() if turing.states[name] == start), None)
        if pair is None:
            raise Refusal("The first column is in the middle of a step of the Turing machine.")
        found = TuringMachine(found.delta, pair[0], found.halting, found.blank, alphabet=found.symbols)
        two = TwoStacks(found)
    order = ss95.orders(stacks, two.machine, turing.states, (left, 1 - left))
    evidence = _of_steps(two, turing, stacks)
    return Reading(found, "ss95", options, stacks.margin, unknown, evidence, order)


def _start(stacks: Stacks, first_column: Any) -> tuple[str, list[int]]:
    """The state of a first column, and the stacks that are not empty."""
    column = np.asarray([float(number) for number in first_column])
    width = stacks.shape.maps[0].weight.shape[1]
    if column.shape != (width,):
        raise ValueError(f"The first column should have {width} numbers; {column.size} were given.")
    on = [n for n, place in enumerate(stacks.places["st"][0]) if column[place] > 0.5]
    if len(on) != 1:
        raise Refusal(f"In the first column one state should be on, and {len(on)} are.")
    full = [i for i, place in enumerate(stacks.places["q"][0]) if column[place] > 0.5 / stacks.base]
    return f"q{on[0]}", full


def _beginning(machine: StackMachine, start: str) -> StackMachine:
    """The same machine with another initial state."""
    rules = {
        key: (target, *(" ".join(filter(None, operation)) for operation in operations))
        for key, (target, *operations) in machine.rules.items()
    }
    if not any(start in (key[0], rule[0]) for key, rule in rules.items()):
        raise Refusal("The first column is in a state that has no rules and that no rule leads to.")
    return StackMachine(rules, start, machine.terminal, machine.symbols)


def _of_steps(two: TwoStacks, turing: Translated, stacks: Stacks) -> dict[tuple, list[Weight]]:
    """For each rule of the Turing machine the weights of the rules of the stack machine that carry it out."""
    by_state: dict[str, list[Weight]] = {}
    follow: dict[str, set[str]] = {}
    for (q, *_), weights in stacks.evidence.items():
        by_state.setdefault(q, []).extend(weights)
    for (q, *_), (target, *_) in two.machine.rules.items():
        follow.setdefault(q, set()).add(target)
    found: dict[tuple, list[Weight]] = {}
    for name, pair in two.control.items():
        if pair not in turing.machine.delta:
            continue
        seen, waiting = {name}, [name]
        while waiting:
            fresh = {q for q in follow[waiting.pop()] if q not in two.control} - seen
            seen |= fresh
            waiting += sorted(fresh)
        found[pair] = [weight for q in sorted(seen) for weight in by_state[turing.states[q]]]
    return found


def _found(network: Bare, table: Table, first_column: Any) -> Found:
    shape = table.shape
    states = [f"q{q}" for q in range(shape.states)]
    symbols = numbered(shape.symbols, table.blank)
    delta = {(states[q], symbols[a]): (states[t], symbols[b], move) for (q, a), (t, b, move) in table.rules.items()}
    unknown, initial = dict(UNKNOWN), states[0]
    if first_column is not None:
        column = np.asarray([float(number) for number in first_column])
        if column.shape != (shape.before[0].weight.shape[1],):
            raise ValueError(
                f"The first column should have {shape.before[0].weight.shape[1]} numbers; {column.size} were given."
            )
        fires = shape.before[0](column)
        worth = {pair: fires[d] / -shape.before[0].bias[d] for pair, d in table.detectors.items()}
        on = [pair for pair, value in worth.items() if value > 0.5]
        if len(on) != 1:
            raise Refusal(f"In the first column one detector should fire, and {len(on)} do.")
        initial = states[on[0][0]]
        del unknown["initial"]
    if shape.bits == 1:
        unknown["direction"] = MIRROR
    idle = {q for q in states if not any(pair[0] == q for pair in delta)}
    machine = TuringMachine(delta, initial, idle, "_", alphabet=["_", *sorted(set(symbols) - {"_"}, key=int)])
    options = {"T": 2**shape.bits, "bits": shape.bits, "adder": shape.adder}
    evidence = {(states[q], symbols[a]): weights for (q, a), weights in table.evidence.items()}

    def lay(compiled: Bare) -> Match:
        other = wcm21.shape(compiled)
        assert other is not None
        first, places = 0 if shape.adder == "lookahead" else other.before[0].weight.shape[1], machine.symbols
        seeds = {
            detector: first + machine.states.index(states[q]) * len(places) + places.index(symbols[a])
            for (q, a), detector in table.detectors.items()
        }
        return matched(shape, other, {"0": seeds})

    return Found(machine, "wcm21", options, float(table.margin), unknown, evidence, network, lay, table)


class Change(NamedTuple):
    """A number that differs from the compiled one, by the name of its tensor and its place.

    Chapter: :doc:`/book/reading-back`.
    """

    name: str
    place: tuple[int, ...]
    value: float
    compiled: float


class Repaired(NamedTuple):
    """A network that is exact again, what was read from the damaged one, and the numbers that were changed.

    ``changes`` is None for a network in disguise: its numbers are in another basis.

    Chapter: :doc:`/book/reading-back`.
    """

    network: Any  # as compiled: a Construction, or the StackNetwork of a stack machine
    found: Found
    changes: list[Change] | None


def repair(what: Any, first_column: Any = None) -> Repaired:
    """Read the machine out of a damaged network, and compile it again.

    A compiled network whose numbers are in their own order comes back with its names, its T and its initial state, and
    the numbers that differ are listed.

    >>> import turing, torch
    >>> net = turing.compile(turing.zoo["bb2"], "wcm21", T=16, adder="lookahead")
    >>> with torch.no_grad():
    ...     _ = net.pipeline["visited"].null_key[4].neg_()
    >>> repair(net).changes
    [Change(name='pipeline.visited.null_key', place=(4,), value=-1.5, compiled=1.5)]

    Chapter: :doc:`/book/reading-back`.
    """
    given = bare(what)
    found = decompile(given, first_column)
    if not isinstance(found.reading, Table):
        return _repaired_in_order(found, found.reading)
    plain = found.compiled()
    if isinstance(what, Construction) and what.construction == found.construction:
        renamed = _with_names(found, what.machine)
        if renamed:
            plain = compile(renamed, found.construction, **what.options)
    names = [numbers.name for numbers in plain.ir().numbers()]
    changes, apart = [], 0
    for name, one, other in zip(names, given.tensors(), bare(plain).tensors(), strict=True):
        places = np.argwhere(np.abs(one - other) > CHANGED)
        apart += int((np.abs(one - other) > 0.5).sum())
        changes += [Change(name, tuple(p), float(one[tuple(p)]), float(other[tuple(p)])) for p in places.tolist()]
    numbers = sum(np.size(tensor) for tensor in given.tensors())
    return Repaired(plain, found, changes if apart < max(8, numbers / 100) else None)


def _repaired_in_order(found: Found, read: Reading) -> Repaired:
    """A network compiled anew; the changes are named in the order of the given network, and have its factors."""
    plain, changes = found.compiled(), []
    wanted = in_order(bare(plain), read.order, read.factors)
    for named, one, other in zip(plain.ir().numbers(), found.network.tensors(), wanted.tensors(), strict=True):
        places = np.argwhere(np.abs(one - other) > CHANGED).tolist()
        changes += [Change(named.name, tuple(p), float(one[tuple(p)]), float(other[tuple(p)])) for p in places]
    return Repaired(plain, found, changes)


def _with_names(found: Found, machine: TuringMachine) -> TuringMachine | None:
    """The machine that was found with the names of another one, whose detectors come in the same order."""
    assert isinstance(found.reading, Table)
    shape, blank = found.reading.shape, found.reading.blank
    if (len(machine.states), len(machine.symbols), blank) != (shape.states, shape.symbols, 0):
        return None
    states = {f"q{q}": name for q, name in enumerate(machine.states)}
    symbols = dict(zip(numbered(shape.symbols, blank), machine.symbols, strict=True))
    rules = {
        (states[q], symbols[a]): (states[t], symbols[b], move) for (q, a), (t, b, move) in found.machine.delta.items()
    }
    order = [*(pair for pair in machine.delta if pair in rules), *(pair for pair in rules if pair not in machine.delta)]
    halting = {q for q in machine.states if q in machine.halting and not any(pair[0] == q for pair in rules)}
    delta = {pair: rules[pair] for pair in order}
    try:
        renamed = TuringMachine(delta, machine.initial, halting, machine.blank, alphabet=machine.symbols)
    except ValueError:  # a state that no rule mentions any more
        return None
    return renamed if (renamed.states, renamed.symbols) == (machine.states, machine.symbols) else None
