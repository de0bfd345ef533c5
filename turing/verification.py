"""``turing.verify``: a network and a machine in lock-step, vector by vector."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any, NamedTuple, Protocol

from turing.layout import Layout
from turing.machine import TuringMachine, _count, _word

__all__ = ["Divergence", "Report", "verify"]

BATCH = 256  # words that are run at once


class Network(Protocol):
    """What :func:`verify` asks of a network; whatever :func:`turing.compile` returns has it."""

    @property
    def slack(self) -> Fraction | int: ...

    def layout_of(self, name: str) -> Layout: ...

    def vectors(self, words: Sequence[Iterable[str]], max_steps: int | None = None) -> Iterator[Mapping[str, Any]]: ...

    def expected(
        self, machine: TuringMachine, word: Iterable[str], max_steps: int | None = None
    ) -> Iterator[Mapping[str, Mapping[str, Any]]]: ...


class Near(NamedTuple):
    """An expected number that floats may miss by as much as the slack."""

    value: Fraction | int
    slack: Fraction | int


@dataclass(frozen=True)
class Divergence:
    """Where a network first gave another number than the machine's own trace asks for.

    Chapter: :doc:`/book/05_wcm`.
    """

    word: Sequence[str]
    step: int
    layer: str
    slice: str
    place: str
    given: float
    expected: float

    def __str__(self) -> str:
        word = self.word if isinstance(self.word, str) else " ".join(self.word)
        given = f"{self.given:.9g}"  # the digits of float32, unless it takes more to see the difference
        given = repr(self.given) if float(given) == self.expected else given
        return (
            f"On the word {word!r}, at step {self.step}, layer {self.layer} gives {self.place} = {given} "
            f"instead of {self.expected:g}."
        )


@dataclass(frozen=True)
class Report:
    """What :func:`verify` compared, and the first divergence of each word that has one. True if none has.

    Chapter: :doc:`/book/05_wcm`.
    """

    words: int
    steps: int
    numbers: int
    divergences: tuple[Divergence, ...]

    def __bool__(self) -> bool:
        return not self.divergences

    def __str__(self) -> str:
        done = f"{_count(self.words, 'word')}, {_count(self.steps, 'step')}, {_count(self.numbers, 'number')} compared"
        if self:
            return f"{done}: no divergence."
        return f"{done}: {_count(len(self.divergences), 'word')} with a divergence. {self.divergences[0]}"


def verify(
    network: Network,
    machine: TuringMachine,
    words: Iterable[Iterable[str]],
    max_steps: int | None = None,
    **options: str,
) -> Report:
    """Run a network and a machine in lock-step on words, and compare every number inside the network.

    What the numbers have to be comes from the machine's trace, by a specification that has no weights. After its
    first divergence a word is compared no further. For a transformer ``engine`` is an option, as in its ``run``.

    >>> import turing
    >>> m = turing.zoo["balanced_parentheses"]
    >>> print(verify(turing.compile(m, "wcm21", T=100), m, ["B()E", "B)(E"]))
    2 words, 12 steps, 16,956 numbers compared: no divergence.

    Chapter: :doc:`/book/05_wcm`.
    """
    if isinstance(words, str):
        raise ValueError(f"verify takes a list of words, and the one word {words!r} was given. Write [{words!r}].")
    if not isinstance(machine, TuringMachine) or not isinstance(words, Iterable):
        raise TypeError(f"verify takes a network, its machine and words, and {machine!r} and {words!r} were given.")
    if not hasattr(network, "expected"):
        raise TypeError(
            f"verify takes a network that turing.compile made, and {type(network).__name__} was given. "
            f"Its numbers have no specification to be compared with."
        )
    words, steps, numbers, divergences = iter(words), 0, 0, []
    count = 0
    while batch := [_word(word) for word in islice(words, BATCH)]:
        count += len(batch)
        for done, compared, divergence in _lockstep(network, machine, batch, max_steps, options):
            steps, numbers = steps + done, numbers + compared
            divergences += [divergence] if divergence else []
    return Report(count, steps, numbers, tuple(divergences))


def _lockstep(
    network: Network,
    machine: TuringMachine,
    words: Sequence[Sequence[str]],
    max_steps: int | None,
    options: dict[str, str],
) -> list[tuple[int, int, Divergence | None]]:
    """Steps and numbers compared on each word, and its first divergence."""
    expected = [network.expected(machine, word, max_steps) for word in words]
    results: list[tuple[int, int, Divergence | None]] = [(0, 0, None)] * len(words)
    going = list(range(len(words)))
    vectors = network.vectors(words, max_steps, **options)
    step = 0
    where: list[tuple[str, str, str]] = []  # where in the network each number is
    index: dict[tuple[str, str], int] = {}  # its place among them
    while going:
        wanted = {i: layers for i in going if (layers := next(expected[i], None)) is not None}
        going, step = list(wanted), step + 1
        if not going:
            break
        given, names = next(vectors), list(wanted[going[0]])
        if not where:
            layouts = [(layer, network.layout_of(layer)) for layer in names]
            where = [(layer, part.name, name) for layer, layout in layouts for part in layout for name in part.names()]
            index = {(layer, name): place for place, (layer, _, name) in enumerate(where)}
        targets = [
            {index[layer, name]: x for layer, part in wanted[i].items() for name, x in part.items()} for i in going
        ]
        wrong: dict[int, Divergence] = {}
        for row, place, found, target in _differences([given[layer] for layer in names], going, targets, network.slack):
            if going[row] not in wrong:
                wrong[going[row]] = Divergence(words[going[row]], step, *where[place], found, target)
        for i in going:
            results[i] = (results[i][0] + 1, results[i][1] + len(where), wrong.get(i))
        going = [i for i in going if i not in wrong]
    return results


def _differences(
    given: Iterable[Any], going: list[int], targets: list[dict[int, Any]], slack: Fraction | int
) -> Iterator[tuple[int, int, float, float]]:
    """Where the numbers of a step are not those expected: row, place, and both numbers. What is not named is 0."""
    import torch

    given = list(given)
    if isinstance(given[0], torch.Tensor):
        found = torch.cat([numbers[going] for numbers in given], dim=-1).double().cpu()
        target = torch.zeros_like(found)
        for row, numbers in enumerate(targets):
            target[row, list(numbers)] = torch.tensor(list(numbers.values()), dtype=torch.float64)
        for row, place in (~(found == target)).nonzero().tolist():
            yield row, place, found[row, place].item(), target[row, place].item()
        return
    for row, i in enumerate(going):  # fractions, compared as such
        for place, number in enumerate(x for numbers in given for x in numbers[i]):
            wanted = targets[row].get(place, 0)
            wanted, room = wanted if isinstance(wanted, Near) else (wanted, slack)
            if number != number or abs(Fraction(number) - wanted) > room:  # nan is not even itself
                yield row, place, float(number), float(wanted)
