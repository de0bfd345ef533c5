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
from turing.decompiler import cells, one_layer, ss95, tokens, wcm21
from turing.decompiler.certify import Match, in_order, laid_over, matched
from turing.decompiler.disguises import NONE, checked
from turing.decompiler.names import renaming
from turing.decompiler.reading import Reading, Weight, first_numbers, numbered
from turing.decompiler.stacks import four_layers, realtime
from turing.decompiler.tensors import Bare, Refusal, bare
from turing.decompiler.wcm21 import Table
from turing.machine import TuringMachine
from turing.ss import StackNetwork
from turing.stack_machine import StackMachine

__all__ = ["Change", "Found", "Repaired", "decompile", "repair"]

UNKNOWN = {
    "names": "names of states and symbols are not in the weights; q0, q1, … and _, 1, 2, … stand for them",
    "initial": "the initial state stands in the first column and not in the weights; give first_column to read it",
    "halting": "a halting state and a state without rules have the same weights",
    "T": "the number of steps that a network was compiled for is not in the weights, only its position bits",
}
MIRROR = "with one position bit, a step to the right and a step to the left lead to the same cell"
CHANGED = 1e-6  # a number that differs by more was changed


@dataclass(frozen=True, eq=False)
class Found:
    """What :func:`decompile` found.

    - ``machine``: with neutral names, such as q0 and q1 for states, and _, 1 and 2 for symbols. It is a
      :class:`~turing.stack_machine.StackMachine` if the network is one of stacks and no Turing machine could be read
      from these; then ``unknown["turing machine"]`` says why.
    - ``construction``, ``options``: how :func:`turing.compile <turing.construction.compile>` makes such a network
    - ``margin``: how clear the reading was, from 0 to 1. At 1 every number was one of those that the construction has;
      near 0 a number was halfway between two of them.
    - ``unknown``: what cannot be read from weights, and why: a dictionary of sentences
    - ``evidence``: for each rule the weights that it was read from, each a :class:`Weight`
    - ``network``: the bare tensors that were read

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
        """How far the network is from the one that :meth:`compiled` gives, as a :class:`Match`."""
        return self.lay(bare(self.compiled()))

    @property
    def certified(self) -> bool:
        """Whether the network is the one compiled for this machine, number for number, but for another basis.

        The first column, the word and what the loop adds to a column are not weights; they are taken to be in the basis
        of the network's columns.
        """
        return bool(self.match)

    def compiled(self, **options: Any) -> Any:
        """The network of the machine that was found, compiled anew with other ``options`` where they are given.

        Of a stack machine it is a :class:`~turing.ss.StackNetwork`.

        Chapter: :doc:`/book/reading-back`.
        """
        if isinstance(self.machine, StackMachine):
            version = 1 if self.construction == "ss95-realtime" else 4
            return StackNetwork(self.machine, version, **{**self.options, **options})
        return compile(self.machine, self.construction, **{**self.options, **options})

    def __str__(self) -> str:
        sure = "certified" if self.certified else "not certified"
        return f"{self.machine!r}, from {self.construction}, margin {self.margin:.2f}, {sure}"


def decompile(what: Any, first_column: Any = None) -> Found:
    """Read the machine out of the weights of a network: return a :class:`Found`, or raise a :class:`Refusal`.

    >>> net = turing.compile(turing.zoo["bb4"], "wcm21", T=128, adder="lookahead")
    >>> found = turing.decompile(net)
    >>> print(found)
    <TuringMachine: 5 states, 2 symbols, 8 rules>, from wcm21, margin 1.00, certified
    >>> found.machine.delta["q0", "_"], turing.zoo["bb4"].delta["A", "0"]
    (('q1', '1', 1), ('B', '1', 1))
    >>> list(found.unknown), found.unknown["halting"]
    (['names', 'initial', 'halting', 'T'], 'a halting state and a state without rules have the same weights')

    ``what`` is a network, the path of a saved one, or a :class:`Bare`: in any case, only the ordered tensors are looked
    at, no names and no metadata. It may be in disguise (:func:`disguise`). The initial state is not in the weights; to
    find it too, give the first column of any run as ``first_column``, which is ``network.initial(word)``.

    Networks of ``wcm21``, ``ss95``, ``ss95-realtime``, ``liwang25`` and ``conv`` can be read. Those of ``ss95`` and
    ``ss95-realtime`` are read as the Turing machine that was translated into stacks, or else as the stack machine. All
    others are refused, as are weights with too much damage.

    Chapter: :doc:`/book/reading-back`.
    """
    network = checked(bare(what))
    if (shape := wcm21.shape(network)) is not None:
        return _found(network, wcm21.read(shape), first_column)
    if (stacks := ss95.shape(network)) is not None:
        return _laid(network, four_layers(ss95.read(stacks), first_column))
    if (layer := one_layer.shape(network)) is not None:
        return _laid(network, realtime(one_layer.read(layer), first_column))
    if (row := cells.shape(network)) is not None:
        return _laid(network, cells.read(row, first_column))
    if (window := tokens.shape(network)) is not None:
        return _laid(network, tokens.read(window, first_column))
    raise Refusal(NONE.format(network))


def _laid(network: Bare, read: Reading) -> Found:
    """A reading that says which neuron is which: so the compiled network can be laid over the one that was given."""

    def lay(compiled: Bare) -> Match:
        windows = [tokens.shape(each) for each in (network, compiled)]
        if windows[0] is not None and windows[1] is not None:
            given, other = tokens.products(windows[0]), tokens.products(windows[1])
            return tokens.lay(given, other, read.order, read.factors["neurons"])
        return laid_over(network, compiled, read.order, read.factors)

    shared = (read.machine, read.construction, read.options, float(read.margin), read.unknown, read.evidence)
    return Found(*shared, network, lay, read)


def _found(network: Bare, table: Table, first_column: Any) -> Found:
    shape = table.shape
    states = [f"q{q}" for q in range(shape.states)]
    symbols = numbered(shape.symbols, table.blank)
    delta = {(states[q], symbols[a]): (states[t], symbols[b], move) for (q, a), (t, b, move) in table.rules.items()}
    unknown, initial = dict(UNKNOWN), states[0]
    if first_column is not None:
        column = first_numbers(first_column, shape.before[0].weight.shape[1])
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
    """A number that was mended: the ``name`` of its tensor, its ``place`` there, its ``value`` in the damaged network,
    and the ``compiled`` value that replaces it.

    Chapter: :doc:`/book/reading-back`.
    """

    name: str
    place: tuple[int, ...]
    value: float
    compiled: float


class Repaired(NamedTuple):
    """What :func:`repair` returns.

    - ``network``: compiled anew, so it is exact again
    - ``found``: what was read from the damaged network, a :class:`Found`
    - ``changes``: the numbers that were wrong, each a :class:`Change`; None where the numbers may be in another basis,
      as those of a ``wcm21`` network in disguise

    Chapter: :doc:`/book/reading-back`.
    """

    network: Any  # as compiled: a Construction, or the StackNetwork of a stack machine
    found: Found
    changes: list[Change] | None


def repair(what: Any, first_column: Any = None) -> Repaired:
    """Read the machine out of a damaged network, compile it again, and return a :class:`Repaired`.

    It takes what :func:`decompile` takes, and raises a :class:`Refusal` if the machine cannot be read. A compiled
    network of ``wcm21`` or ``liwang25`` comes back with its names, its options and its initial state, unless it is in
    disguise.

    >>> import torch
    >>> net = turing.compile(turing.zoo["bb2"], "wcm21", T=16, adder="lookahead")
    >>> with torch.no_grad():
    ...     _ = net.pipeline["visited"].null_key[4].neg_()
    >>> turing.repair(net).changes
    [Change(name='pipeline.visited.null_key', place=(4,), value=-1.5, compiled=1.5)]

    Chapter: :doc:`/book/reading-back`.
    """
    given = bare(what)
    found = decompile(given, first_column)
    if found.construction == "liwang25":
        return _repaired_window(found, what)
    if not isinstance(found.reading, Table):
        return _repaired_in_order(found, found.reading)
    plain = found.compiled()
    if isinstance(what, Construction) and what.construction == found.construction:
        renamed = _with_names(found, what.machine)
        if renamed:
            plain = compile(renamed, found.construction, **what.options)
    changes = _changes(plain, given, bare(plain))
    apart = sum(abs(change.value - change.compiled) > 0.5 for change in changes)
    numbers = sum(np.size(tensor) for tensor in given.tensors())
    return Repaired(plain, found, changes if apart < max(8, numbers / 100) else None)


def _changes(plain: Any, given: Bare, wanted: Bare) -> list[Change]:
    """The numbers that differ, with the names that the compiled network has for their tensors."""
    changes = []
    for named, one, other in zip(plain.ir().numbers(), given.tensors(), wanted.tensors(), strict=True):
        for place in map(tuple, np.argwhere(np.abs(one - other) > CHANGED).tolist()):
            changes.append(Change(named.name, place, float(one[place]), float(other[place])))
    return changes


def _repaired_window(found: Found, what: Any) -> Repaired:
    """A network compiled anew, with the names that the given one has if it is for the same machine."""
    plain = found.compiled()
    if isinstance(what, Construction) and what.construction == found.construction:
        blanks = (
            TuringMachine(m.delta, m.initial, m.halting, b, alphabet=m.symbols)
            for m in [found.machine]
            for b in m.symbols
        )
        if any(renaming(machine, what.machine) for machine in blanks):
            plain = compile(what.machine, found.construction, **what.options)
            return Repaired(plain, found, _changes(plain, found.network, bare(plain)))
    return Repaired(plain, found, None)


def _repaired_in_order(found: Found, read: Reading) -> Repaired:
    """A network compiled anew; the changes are named in the order of the given network, and have its factors."""
    plain = found.compiled()
    wanted = in_order(bare(plain), read.order, read.factors)
    return Repaired(plain, found, _changes(plain, found.network, wanted))


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
