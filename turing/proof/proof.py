"""``turing.prove``: a proof that these very weights simulate a machine, for all words; or why there is none.

Chapter: :doc:`/book/all-words`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import torch

from turing import ir
from turing.arguments import count
from turing.construction import Construction, compile
from turing.files import replaced
from turing.files.integrity import digest
from turing.machine import TuringMachine
from turing.proof.exactness import Failed, Uncovered, Undecided

__all__ = ["Checked", "Counterexample", "Interval", "Invariant", "Proof", "Weight", "prove", "state_invariant"]

LEVELS = {
    "word": "a word on which a run goes wrong",
    "configuration": "a configuration from which a run goes wrong; no word that leads there was found",
    "columns": "columns for which an obligation fails; no run in which they occur was found",
}
MAX_BLAMED = 256  # weights that are tried one by one
GRID = 64  # of an interval: weights are moved by multiples of 1/64
FARTHEST = 2**16  # such multiples


class Checked(NamedTuple):
    """How far a proof reaches, which is what the ``check`` of an :class:`Invariant` returns.

    - ``steps``, ``cells`` and ``visits`` of one cell: how many there may be; None where there is no limit
    - ``margins``: for each obligation by how much it holds, a dictionary

    Chapter: :doc:`/book/all-words`.
    """

    steps: int | None
    cells: int | None
    visits: int | None
    margins: Mapping[str, float]


@dataclass(frozen=True)
class Counterexample:
    """Where a network goes wrong. ``level`` says how much was found:

    - ``"word"``: a ``word`` on which the run goes wrong, and at which ``step``
    - ``"configuration"``: a configuration from which a run goes wrong, as ``state``, ``head`` and ``word`` or as
      ``columns``, and at which ``step`` after it
    - ``"columns"``: only ``columns`` for which an obligation, a part of the proof, fails: a dictionary of texts

    Chapter: :doc:`/book/all-words`.
    """

    level: str
    step: int | None = None
    word: Sequence[str] = ""
    state: str | None = None
    head: int = 0
    columns: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        if self.level == "columns":
            shown = ", ".join(f"{name} {value}".strip() for name, value in self.columns.items())
            return f"{LEVELS[self.level]}: {shown}"
        word = repr(self.word if isinstance(self.word, str) else " ".join(self.word))
        at = "" if self.level == "word" else f" in state {self.state} with the head on cell {self.head}"
        if self.columns:
            word, at = "", ", ".join(f"{name} {value}" for name, value in self.columns.items())
        return f"{LEVELS[self.level]}: {word}{at}, at step {self.step}"


@dataclass(frozen=True)
class Invariant:
    """What is proved of a construction, and how it is checked.

    - ``statement``: the invariant in words
    - ``check``: a function of the network, as a :class:`turing.ir.Network`, and a machine. It returns a
      :class:`Checked`, or raises :class:`turing.proof.Failed` or :class:`turing.proof.Undecided`
    - ``trusted``: a function of the network and a machine, which raises unless what is no weight, such as the first
      column, is as the invariant says
    - ``search``: a function of the network, a machine and the ``start`` of a :class:`turing.proof.Failed`, or None. It
      looks for a run that goes wrong, and returns a :class:`Counterexample` or None
    - ``assumes``: what the proof takes for granted, a tuple of sentences

    Chapter: :doc:`/book/all-words`.
    """

    statement: str
    check: Callable[[ir.Network, TuringMachine], Checked]
    trusted: Callable[[Any, TuringMachine], None]
    search: Callable[[Any, TuringMachine, Any], Counterexample | None]
    assumes: tuple[str, ...]


INVARIANTS: dict[str, Invariant] = {}


def state_invariant(construction: str, invariant: Invariant) -> None:
    """Say what is proved of the construction of that name. Where nobody has said it, :func:`prove` decides nothing.

    With an :class:`Invariant`, :func:`prove` goes on in this order:

    1. It refuses a network with a hook as undecided, and calls ``network.check()``, which raises where the network
       itself refuses to run.
    2. ``trusted(network, machine)`` looks at what is no weight. It returns nothing, and raises
       :class:`turing.proof.Uncovered` where something differs.
    3. ``check(network.ir(), machine)`` looks at the weights. If it returns a :class:`Checked`, the network is proved.
    4. :class:`turing.proof.Uncovered`, a ``TypeError`` or a ``ValueError`` from any of these ends the proof as
       undecided. After any other :class:`turing.proof.Undecided`, and after :class:`turing.proof.Failed`,
       ``search(network, machine, start)`` follows. If it finds a :class:`Counterexample`, the network is refuted. If it
       finds none, a failed network is refuted by its columns, and an undecided one stays undecided.

    Chapter: :doc:`/book/all-words`.
    """
    INVARIANTS[construction] = invariant


class Weight(NamedTuple):
    """A weight: the ``name`` of its tensor, its ``place`` there, its ``value``, and what was ``compiled``.

    Chapter: :doc:`/book/all-words`.
    """

    name: str
    place: tuple[int, ...]
    value: float
    compiled: float

    def __str__(self) -> str:
        return (
            f"{self.name}[{', '.join(map(str, self.place))}] is {self.value:g}, and was compiled as {self.compiled:g}"
        )


class Interval(NamedTuple):
    """The least and the greatest value of a weight with which the proof holds, ``low`` and ``high``; infinite if it
    holds as far as was tried. They are found by bisection, in steps of ``grid`` from the weight's own value, so only
    some of the values between them were tried.

    Chapter: :doc:`/book/all-words`.
    """

    low: float
    high: float
    grid: float


@dataclass(frozen=True)
class Proof:
    """What :func:`prove` found. It prints as a sentence.

    - ``verdict``: ``"proved"``, ``"refuted"`` or ``"undecided"``
    - ``reason``: the invariant that is proved, the part of the proof that fails, or what cannot be decided
    - ``horizon``: a dictionary: how many ``steps``, ``cells`` and ``visits`` of one cell the proof reaches, None where
      there is no limit, and in which ``arithmetic``
    - ``margins``: a dictionary: by how much each part of the proof holds; empty unless proved
    - ``assumes``: what the proof takes for granted, a tuple of sentences
    - ``counterexample``: a :class:`Counterexample` if refuted, else None
    - ``network`` and ``machine``: what it is about

    A proof is true if proved and false if refuted. Undecided is neither, so using it as a truth value is an error: ask
    for ``verdict``.

    Chapter: :doc:`/book/all-words`.
    """

    verdict: str
    reason: str
    horizon: Mapping[str, Any]
    margins: Mapping[str, float]
    assumes: tuple[str, ...]
    counterexample: Counterexample | None
    network: Construction = field(repr=False)
    machine: TuringMachine = field(repr=False)

    def __bool__(self) -> bool:
        if self.verdict == "undecided":
            raise TypeError(
                f"This network is neither proved nor refuted: {self.reason}. Ask for proof.verdict, which is "
                f"'proved', 'refuted' or 'undecided'."
            )
        return self.verdict == "proved"

    def __str__(self) -> str:
        if self.verdict == "proved":
            return f"Proved: this network simulates {self.machine!r} for all words, {_reach(self.horizon)}."
        if self.verdict == "undecided":
            return f"Undecided: {self.reason}."
        return f"Refuted: {self.reason}. The counterexample is {self.counterexample}."

    def blame(self) -> list[Weight]:
        """A list of every :class:`Weight` at fault: those that differ from what was compiled and break the proof on
        their own, or all that differ if none of them does.

        Chapter: :doc:`/book/all-words`.
        """
        if self.verdict == "proved":
            return []
        compiled = compile(self.machine, self.network.construction, **self.network.options)
        dtype = next(self.network.parameters()).dtype
        compiled = compiled if self.network.arithmetic == "exact" else compiled.to(dtype)
        own, others = self.network.state_dict(), compiled.state_dict()
        changed = [
            Weight(name, tuple(place), numbers[tuple(place)].item(), others[name][tuple(place)].item())
            for name, numbers in own.items()
            for place in (numbers != others[name]).nonzero().tolist()
        ]
        if len(changed) > MAX_BLAMED:
            return changed
        return [
            weight for weight in changed if not _holds_with(compiled, self.machine, weight, weight.value)
        ] or changed

    def interval(self, weight: str, *index: int) -> Interval:
        """How far a weight may move while the proof holds, an :class:`Interval`. The weight is given by the name of its
        tensor in ``network.state_dict()``, and its place there.

        Chapter: :doc:`/book/all-words`.
        """
        if self.verdict != "proved":
            raise ValueError(f"A weight has an interval in a proof, and this network is {self.verdict}: {self.reason}.")
        parameters = self.network.state_dict()
        if weight not in parameters or len(index) != parameters[weight].dim():
            raise ValueError(
                f"A weight is given by its tensor and its place there, such as {next(iter(parameters))!r}, 0, 1; "
                f"{weight!r} and {index} were given. network.state_dict() has all names."
            )
        value, grid = parameters[weight][index].item(), 1 if self.network.arithmetic == "exact" else 1 / GRID
        here = Weight(weight, index, value, value)
        ends = []
        for way in (-grid, grid):
            good, bad = 0, 1
            while bad < FARTHEST and _holds_with(self.network, self.machine, here, value + way * bad):
                good, bad = bad, 2 * bad
            while bad < FARTHEST and bad - good > 1:
                middle = (good + bad) // 2
                holds = _holds_with(self.network, self.machine, here, value + way * middle)
                good, bad = (middle, bad) if holds else (good, middle)
            ends.append(value + way * good if bad < FARTHEST else way * inf)
        return Interval(ends[0], ends[1], grid)

    def save(self, path: str | Path) -> None:
        """Write a JSON file that says what is proved, with a digest of the weights. :mod:`turing.recheck` reads it.

        Chapter: :doc:`/book/all-words`.
        """
        if self.verdict != "proved":
            raise ValueError(f"A proof is saved here, and this network is {self.verdict}: {self.reason}.")
        found = self.network.ir()
        claim = {
            "turing": "proof",
            "version": 1,
            "construction": found.construction,
            "machine": json.loads(self.machine.dumps("json")),
            "weights": digest({}, {numbers.name: numbers.values for numbers in found.numbers()}),
            "horizon": dict(self.horizon),
            "margins": dict(self.margins),
            "assumes": list(self.assumes),
        }
        with replaced(Path(path)) as new:
            new.write_text(json.dumps(claim, indent=1) + "\n", encoding="utf-8", newline="\n")


def _reach(horizon: Mapping[str, Any]) -> str:
    plurals = {"steps": ("step", None), "cells": ("cell", None), "visits": ("visit of one cell", "visits of one cell")}
    limits = [count(horizon[key], *nouns) for key, nouns in plurals.items() if horizon[key]]
    reach = f"up to {', '.join(limits)}" if limits else "any number of steps"
    return f"{reach}, in {horizon['arithmetic']}{' arithmetic' if horizon['arithmetic'] == 'exact' else ''}"


def prove(network: Construction, machine: TuringMachine | None = None, engine: str = "torch") -> Proof:
    """Prove that a network simulates a machine for all words, and return a :class:`Proof`. The machine is the one that
    the network was compiled for, unless given.

    Networks of ``"wcm21"``, ``"ss95"``, ``"ss95-realtime"``, ``"li24"``, ``"liwang25"`` and ``"conv"`` are decided. The
    verdict is "undecided" for whatever no proof here is about, such as

    - ``"perez21"``, ``"bhattamishra20"`` and ``"merrill24"``
    - ``"ss95"`` and ``"ss95-realtime"`` in floats
    - ``"wcm21"`` with ``average="literal"`` or ``feedback="token"``
    - a network with a hook
    - another ``engine`` than ``"torch"``

    The invariant of the construction is checked on all columns at once. Where it fails, a bounded search looks for a
    run that goes wrong. For a small machine a proof takes less than a second.

    >>> import torch, turing
    >>> m = turing.zoo["balanced_parentheses"]
    >>> net = turing.compile(m, "wcm21", T=100)
    >>> proof = turing.prove(net)
    >>> print(proof)  # doctest: +NORMALIZE_WHITESPACE
    Proved: this network simulates <TuringMachine: 6 states, 5 symbols, 11 rules> for all words,
    up to 100 steps, 128 cells, 16,777,216 visits of one cell, in float32.
    >>> proof.interval("pipeline.visited.null_key", 7)
    Interval(low=2.515625, high=3.484375, grid=0.015625)
    >>> damaged = turing.compile(m, "wcm21", T=100)
    >>> with torch.no_grad():
    ...     damaged.pipeline["visited"].null_key[7] = 4
    >>> refuted = turing.prove(damaged)
    >>> print(refuted.counterexample)
    a word on which a run goes wrong: 'B())*', at step 4
    >>> print(*refuted.blame())
    pipeline.visited.null_key[7] is 4, and was compiled as 3

    Chapter: :doc:`/book/all-words`.
    """
    if not isinstance(network, Construction):
        raise TypeError(
            f"prove takes a network that turing.compile made or turing.load read, and {type(network).__name__} was "
            f"given."
        )
    machine = network.machine if machine is None else machine
    if not isinstance(machine, TuringMachine):
        raise TypeError(f"prove takes a network and a TuringMachine, and {machine!r} was given.")
    network.same_names(machine)
    if machine.initial != network.machine.initial:
        raise ValueError(f"This network begins in {network.machine.initial}, and the machine in {machine.initial}.")
    horizon: dict[str, Any] = {"steps": None, "cells": None, "visits": None, "arithmetic": network.arithmetic}
    invariant = INVARIANTS.get(network.construction)
    assumes = invariant.assumes if invariant else ()

    def proof(verdict: str, reason: str, counterexample: Counterexample | None = None) -> Proof:
        return Proof(verdict, reason, horizon, {}, assumes, counterexample, network, machine)

    if invariant is None:
        return proof("undecided", f"no invariant is stated for {network.construction}")
    if engine != "torch":
        return proof("undecided", f"a proof is about runs with engine='torch', and engine={engine!r} was given")
    try:
        checked = _check(invariant, network, machine)
    except Uncovered as error:
        return proof("undecided", str(error))
    except (Failed, Undecided) as error:
        if found := invariant.search(network, machine, getattr(error, "start", None)):
            return proof("refuted", str(error), found)
        if isinstance(error, Failed):
            return proof("refuted", error.obligation, Counterexample("columns", columns=error.columns))
        return proof("undecided", str(error))
    horizon |= {"steps": checked.steps, "cells": checked.cells, "visits": checked.visits}
    return Proof("proved", invariant.statement, horizon, checked.margins, assumes, None, network, machine)


def _check(invariant: Invariant, network: Construction, machine: TuringMachine) -> Checked:
    """What the obligations give for a network as it is now."""
    for name, module in network.named_modules():
        if module._forward_hooks or module._forward_pre_hooks:
            raise Uncovered(f"{name or 'the network'} has a hook, which may change what it computes")
    try:
        network.check()  # it reads the weights anew, and may refuse to run
        invariant.trusted(network, machine)
        return invariant.check(network.ir(), machine)
    except (TypeError, ValueError) as error:  # such as for numbers that are not finite
        raise Uncovered(str(error).rstrip(".")) from None


def _holds_with(network: Construction, machine: TuringMachine, weight: Weight, value: float) -> bool:
    """Whether the obligations hold with another value of one weight."""
    with _changed(network.state_dict()[weight.name], weight.place, value):
        try:
            _check(INVARIANTS[network.construction], network, machine)
        except (Failed, Undecided):
            return False
        return True


@contextmanager
def _changed(numbers: torch.Tensor, index: tuple[int, ...], value: float) -> Iterator[None]:
    before = numbers[index].item()
    try:
        numbers[index] = value
        yield
    finally:
        numbers[index] = before
