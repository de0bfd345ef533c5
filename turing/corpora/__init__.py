"""Random machines with their networks and the ground truth about them, for testing methods of interpretability.

Chapter: :doc:`/book/research`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, product
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar

from turing.arguments import integer
from turing.machine import TuringMachine

if TYPE_CHECKING:
    from turing.construction import Construction

__all__ = ["Example", "corpus"]

Thing = TypeVar("Thing")

STEPS, LEAST = 64, 8  # of a run on the word that comes with a machine: at most, unless T is less, and at least
TRIES = 2000  # to find a machine that halts
LONGEST = 8  # cells of such a word
JAMS, STAYS, HALTS = 0.1, 0.1, 0.1  # shares of pairs without a rule, of rules that stay, and of rules that halt


@dataclass(frozen=True, eq=False)
class Example:
    """A machine, its ``network``, a ``word`` for both to run on, and what is where in the network.

    The word is a tuple of symbols. ``labels`` is plain data, which JSON can hold:

    - ``slices``: what each slice stands for
    - ``vectors``: the names of the places of every vector inside; ``"search0.compared"`` and the like name the rows of
      a head's weights
    - ``axes``: for every parameter, the vectors that its rows and its columns belong to
    - ``rules``: for each rule the vector and the place of its detector, such as ``{"rule": ["q0", "_", "q1", "1", -1],
      "vector": "detect", "detector": "det[q0 _]"}``; empty if the construction has no such places
    - ``heads``: for each attention head what it looks ``over``, which places it ``compares``, in pairs of query and
      key, and what it ``fetches``, in pairs of from and to, such as ``["1", "scr4[visited]"]``; None if the head is not
      a look-up by bits
    - ``unhide``, if the basis is hidden: for each vector, the order of places that restores the usual one

    Chapter: :doc:`/book/research`.
    """

    machine: TuringMachine
    word: tuple[str, ...]
    network: Construction
    labels: dict[str, Any]


def corpus(
    n: int,
    seed: int = 0,
    states: tuple[int, int] = (2, 4),
    symbols: tuple[int, int] = (2, 3),
    construction: str = "wcm21",
    hide: bool | str = False,
    **options: Any,
) -> Iterator[Example]:
    """Yield ``n`` random machines, compiled and labelled, each as an :class:`Example`.

    Number k of a seed is the same on every computer.

    - ``states``, ``symbols``: the least and the greatest number of them; a halting state is added
    - ``hide=True`` permutes the places of every vector inside a transformer, and its weights with them
      (:class:`turing.corpora.hidden.Hidden`)
    - ``hide="orthogonal"`` rotates the vectors that no ReLU has made. The network has restoring layers and the
      lookahead adder, and runs in float64; its ``rotations`` are the matrices (:class:`turing.corpora.rotated.Rotated`)
    - other options: those of :func:`turing.construction.compile`; unless given, ``T`` and ``bits`` fit 64 steps on any
      word of 8 cells

    Each machine comes with a random word of 1 to 8 symbols, on which it makes 8 steps or more, or T if that is less.
    About half of the machines halt within 64 steps.

    >>> first, second = turing.corpus(2, seed=1, T=32, adder="lookahead")
    >>> first.network.run(first.word) == first.machine.run(first.word, 32)
    True
    >>> first.labels["axes"]["pipeline.carry.weight"], first.labels["vectors"]["detect"][0]
    (['carry', 'detect'], 'det[q0 _]')

    Chapter: :doc:`/book/research`.
    """
    n = integer("n", n, 0, what="the number of machines")
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise ValueError(f"The seed of a corpus is an integer, and seed={seed!r} was given.")
    for name, given in (("states", states), ("symbols", symbols)):
        integers = isinstance(given, (tuple, list)) and [type(number) for number in given] == [int, int]
        if not integers or not 1 <= given[0] <= given[1]:
            raise ValueError(f"{name} is the least and the greatest number, such as (2, 4); {given!r} was given.")
    from turing.construction import constructions

    known = constructions()
    if construction not in tuple(known):
        raise ValueError(f"A construction is one of {', '.join(known)}, and {construction!r} was given.")
    if not isinstance(hide, bool) and hide != "orthogonal":
        raise ValueError(f"hide is True, False or 'orthogonal', and {hide!r} was given.")
    if hide and construction != "wcm21":
        raise ValueError(f'hide permutes the basis of a transformer, "wcm21", and {construction!r} was asked for.')
    if hide == "orthogonal":
        options = {"adder": "lookahead", "restoring": True} | options
    if type(options.get("T", STEPS)) is int:
        options = known[construction].options_for(options, "_" * LONGEST, STEPS)
    return (_example(f"{seed}/{k}", states, symbols, construction, hide, options) for k in range(n))


def _example(
    seed: str, states: tuple[int, int], symbols: tuple[int, int], construction: str, hide: bool | str, options: dict
) -> Example:
    from turing.construction import compile
    from turing.corpora.labels import labels_of

    T = options.get("T")
    machine, word = _drawn(Random(seed), states, symbols, max(0, min(STEPS, T)) if type(T) is int else STEPS)
    network = compile(machine, construction, **options)
    if not hide:
        return Example(machine, word, network, labels_of(network))
    from turing.corpora.hidden import Hidden
    from turing.corpora.rotated import Rotated

    if hide == "orthogonal":
        rotated = Rotated(network, seed)  # type: ignore[arg-type]  # a WCM21, as below
        return Example(machine, word, rotated, rotated.labels)
    hidden = Hidden(network, seed)  # type: ignore[arg-type]  # corpus hides nothing but a WCM21
    return Example(machine, word, hidden, hidden.labels)


def _drawn(  # type: ignore[return]  # the loop ends only with a machine
    random: Random, states: tuple[int, int], symbols: tuple[int, int], most: int
) -> tuple[TuringMachine, tuple[str, ...]]:
    """A machine and a word: every other one is to halt, which few machines do that do not halt at once."""
    halts = random.random() < 1 / 2
    for attempt in count():
        machine = _machine(random, _between(random, *states), _between(random, *symbols))
        word = tuple(_pick(random, machine.symbols) for _ in range(_between(random, 1, LONGEST)))
        run = machine.run(word, most)
        if run.steps >= min(LEAST, most) and (halts == (run.status == "halted") or attempt >= TRIES):
            return machine, word


def _machine(random: Random, states: int, symbols: int) -> TuringMachine:
    """All three moves; some pairs have no rule, and some rules halt."""
    names, alphabet = [f"q{k}" for k in range(states)], ["_", *(str(k) for k in range(1, symbols))]
    pairs = [pair for pair in product(names, alphabet) if pair == ("q0", "_") or random.random() >= JAMS]
    delta = {}
    for pair in pairs:
        move = 0 if random.random() < STAYS else _pick(random, (-1, 1))
        target = "halt" if random.random() < HALTS else _pick(random, names)
        delta[pair] = (target, _pick(random, alphabet), move)
    return TuringMachine(delta, "q0", {"halt"}, "_", alphabet=alphabet)


def _between(random: Random, least: int, most: int) -> int:
    """Only ``random()`` is promised to give the same numbers in every version of Python."""
    return least + int(random.random() * (most - least + 1))


def _pick(random: Random, things: Sequence[Thing]) -> Thing:
    return things[_between(random, 0, len(things) - 1)]
