"""``turing.verify`` runs a network and its machine side by side, and compares every number inside the network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, islice
from math import inf, isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

from turing import arguments
from turing.machine import TuringMachine

if TYPE_CHECKING:
    from turing.construction import Construction

__all__ = ["Approx", "Divergence", "Report", "verify"]

BATCH = 256  # words that are run at once


class Approx(NamedTuple):
    """An expected number that floats may miss by as much as its own ``tolerance``.

    Chapter: :doc:`/book/real-time`.
    """

    value: Fraction | int
    tolerance: Fraction | int


@dataclass(frozen=True)
class Divergence:
    """Where a network first gave a number that differs from what the machine requires. It prints as a sentence.

    - ``word``: on which word
    - ``step``: in which step of the machine
    - ``layer``, ``slice`` and ``place``: the module that gave the number, and the names of its slice and its place
    - ``given`` and ``expected``: the number, and what it should be
    - ``number``: in which pass of the network; a step may take several

    Chapter: :doc:`/book/wcm21`.
    """

    word: Sequence[str]
    step: int
    layer: str
    slice: str
    place: str
    given: float
    expected: float
    number: int

    def __str__(self) -> str:
        word = self.word if isinstance(self.word, str) else " ".join(self.word)
        given = f"{self.given:.9g}"  # the digits of float32, unless it takes more to see the difference
        given = repr(self.given) if float(given) == self.expected else given
        pass_ = "" if self.number == self.step else f" (pass {self.number})"
        return (
            f"On the word {word!r}, at step {self.step}{pass_}, layer {self.layer} gives {self.place} = {given} "
            f"instead of {self.expected:g}."
        )


@dataclass(frozen=True)
class Report:
    """What :func:`verify` found. A report is true if there is no divergence, and prints as a sentence.

    - ``words``, ``steps``, ``passes``, ``numbers``: how many were compared; the steps are those of the machine, and the
      passes those of the network
    - ``divergences``: the first :class:`Divergence` of each word that has one, a tuple

    Chapter: :doc:`/book/wcm21`.
    """

    words: int
    steps: int
    passes: int
    numbers: int
    divergences: tuple[Divergence, ...]

    def __bool__(self) -> bool:
        return not self.divergences

    def __str__(self) -> str:
        passes = "" if self.passes == self.steps else f" in {self.passes:,} passes"
        done = f"{arguments.count(self.words, 'word')}, {arguments.count(self.steps, 'step')}{passes}"
        done += f", {arguments.count(self.numbers, 'number')} compared"
        if self:
            return f"{done}: no divergence."
        return f"{done}: {arguments.count(len(self.divergences), 'word')} with a divergence. {self.divergences[0]}"


def verify(
    network: Construction,
    machine: TuringMachine,
    words: Iterable[Iterable[str]],
    max_steps: int | None = None,
    engine: str = "torch",
    tolerance: float | None = None,
) -> Report:
    """Run a network and its machine side by side on words, compare every number, and return a :class:`Report`.

    What each number should be is computed from the machine's own trace, without a weight. A word is compared up to the
    end of its run, its first divergence or ``max_steps`` steps, whichever comes first.

    ``max_steps`` and ``engine`` are those of :meth:`network.run <turing.construction.Construction.run>`. ``tolerance``
    is by how much a number may be off. Each construction has its own: 0 where its numbers are computed exactly.

    >>> import turing
    >>> m = turing.zoo["balanced_parentheses"]
    >>> print(turing.verify(turing.compile(m, "wcm21", T=100), m, ["B()E", "B)(E"]))
    2 words, 12 steps, 16,956 numbers compared: no divergence.

    Chapter: :doc:`/book/wcm21`.
    """
    from turing.construction import Construction

    if isinstance(words, str):
        raise ValueError(f"verify takes a list of words, and the one word {words!r} was given. Write [{words!r}].")
    if not isinstance(machine, TuringMachine) or not isinstance(words, Iterable):
        raise TypeError(f"verify takes a network, its machine and words, and {machine!r} and {words!r} were given.")
    if not isinstance(network, Construction):
        raise TypeError(
            f"verify takes a network that turing.compile made, and {type(network).__name__} was given. "
            f"Its numbers have no specification to be compared with."
        )
    if tolerance is not None and (not isinstance(tolerance, Real) or not 0 <= tolerance < inf):
        raise ValueError(f"A tolerance is a number from 0 up, and {tolerance!r} was given.")
    room = None if tolerance is None else Fraction(float(tolerance))
    words = iter(words)
    results: list[tuple[int, int, int, Divergence | None]] = []
    while batch := [arguments.word(word) for word in islice(words, BATCH)]:
        results += _lockstep(network, machine, batch, max_steps, engine, room)
    steps, passes, numbers = (
        sum(column) for column in zip((0, 0, 0), *(result[:3] for result in results), strict=True)
    )
    return Report(len(results), steps, passes, numbers, tuple(found for *_, found in results if found))


def _lockstep(
    network: Construction,
    machine: TuringMachine,
    words: Sequence[Sequence[str]],
    max_steps: int | None,
    engine: str,
    tolerance: Fraction | None,
) -> list[tuple[int, int, int, Divergence | None]]:
    """Steps, passes and numbers compared on each word, and its first divergence."""
    expected = [network.expected(machine, word, max_steps) for word in words]
    results: list[tuple[int, int, int, Divergence | None]] = [(0, 0, 0, None)] * len(words)
    running = list(range(len(words)))
    vectors = network.vectors(words, max_steps, engine)
    number = 0
    where: list[tuple[str, str, str]] = []  # where in the network each number is
    index: dict[tuple[str, str], int] = {}  # its place among them
    while running:
        wanted = {i: one for i in running if (one := next(expected[i], None)) is not None}
        running, number = list(wanted), number + 1
        if not running:
            break
        given, names = next(vectors), list(wanted[running[0]].vectors)
        if not where:
            where = [place for layer in names for place in _places(network, layer, given[layer])]
            index = {(layer, name): place for place, (layer, _, name) in enumerate(where)}
        targets = [
            {index[layer, name]: x for layer, part in wanted[i].vectors.items() for name, x in part.items()}
            for i in running
        ]
        wrong: dict[int, Divergence] = {}
        different = _differences([given[layer] for layer in names], running, targets, network.tolerance, tolerance)
        for row, place, found, target in different:
            i = running[row]
            if i not in wrong:
                wrong[i] = Divergence(words[i], wanted[i].step, *where[place], found, target, number)
        for i in running:
            results[i] = wanted[i].step, number, results[i][2] + len(where), wrong.get(i)
        running = [i for i in running if i not in wrong]
    return results


def _places(network: Construction, layer: str, given: Any) -> list[tuple[str, str, str]]:
    """Layer, slice and name of every number that leaves a layer; of a row of cells, cell by cell."""
    names = [(part.name, name) for part in network.layout_of(layer) for name in part.names()]
    if network.loop.state != "cells":
        return [(layer, *name) for name in names]
    return [(layer, part, f"{name} of cell {k}") for k in range(len(given[0])) for part, name in names]


def _differences(
    given: Iterable[Any],
    running: list[int],
    targets: list[dict[int, Any]],
    usual: Fraction | int,
    tolerance: Fraction | None,
) -> Iterator[tuple[int, int, float, float]]:
    """Where the numbers of a pass are not those expected: row, place, and both numbers. What is not named is 0."""
    import torch

    given = list(given)
    exact = not isinstance(given[0], torch.Tensor)
    if not exact and not any(isinstance(x, Approx) for numbers in targets for x in numbers.values()):
        found = torch.cat([numbers[running].flatten(1) for numbers in given], dim=-1).double().cpu()
        target = torch.zeros_like(found)
        for row, numbers in enumerate(targets):
            target[row, list(numbers)] = torch.tensor(list(map(float, numbers.values())), dtype=torch.float64)
        off = float(usual if tolerance is None else tolerance)
        wrong = ~(found == target) if not off else ~((found - target).abs() <= off)
        for row, place in wrong.nonzero().tolist():
            yield row, place, found[row, place].item(), target[row, place].item()
        return
    for row, i in enumerate(running):  # fractions, compared as such
        every = chain.from_iterable(_flat(numbers[i]) for numbers in given)
        for place, number in enumerate(every):
            wanted = targets[row].get(place, 0)
            wanted, room = wanted if isinstance(wanted, Approx) else (wanted, usual)
            room = room if tolerance is None else tolerance
            finite = not isinstance(number, float) or isfinite(number)
            if not finite or abs((Fraction(number) if isinstance(number, float) else number) - wanted) > room:
                yield row, place, float(number), float(wanted)


def _flat(vector: Any) -> Iterable[Any]:
    """The numbers of a vector, or of a row of them."""
    if hasattr(vector, "flatten"):
        return vector.flatten().tolist()
    return vector if not isinstance(vector, list) or not isinstance(vector[0], Sequence) else chain(*vector)
