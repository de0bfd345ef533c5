"""Ready-made machines, each with sample words and how the runs on them end.

Chapter: :doc:`/book/machines`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

import yaml

from turing.formats import parse
from turing.machine import TuringMachine

__all__ = ["Entry", "Zoo", "zoo"]

# The order in which a reader meets them; NAME.yaml holds the machine.
NAMES = (
    "balanced_parentheses",
    "parity",
    "binary_increment",
    "unary_addition",
    "divisible_by_three",
    "palindromes",
    "anbncn",
    "copier",
    "binary_addition",
    "unary_multiplication",
    "sorter",
    "rock_paper_scissors",
    "collatz",
    "rule_110",
    "bb2",
    "bb3",
    "bb4",
    "bb5",
    "bb2x4",
    "antihydra",
    "universal",
)


@dataclass(frozen=True)
class Sample:
    """A word, and how the run on it ends. What a sample does not say is None.

    ``status``, ``state`` and ``steps`` are those of the :class:`~turing.machine.Run`; where the status is ``"limit"``,
    the run was stopped after ``steps`` steps. ``result`` is the tape at the end as a string, and ``non_blank`` the
    number of its cells that are not blank.

    Chapter: :doc:`/book/machines`.
    """

    word: str | tuple[str, ...]
    status: str = "halted"
    state: str | None = None
    steps: int | None = None
    result: str | None = None
    non_blank: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.word, str):
            object.__setattr__(self, "word", tuple(self.word))


@dataclass(frozen=True)
class Entry:
    """A machine of the zoo, with what there is to say about it.

    - ``name``, ``title``; ``about``: a few sentences on the machine and its words
    - ``machine``: the :class:`~turing.machine.TuringMachine`
    - ``samples``: words, each a :class:`Sample` with how the run on it ends
    - ``verdicts``: what it means to halt in a state whose name does not say it
    - ``tasks``: what the machine does in its other states

    Verdicts and tasks are dictionaries, and for many machines they are empty.

    >>> entry = turing.zoo.entry("balanced_parentheses")
    >>> entry.verdicts
    {'T': 'balanced', 'F': 'not balanced'}
    >>> entry.tasks["R"]
    'goes right to the next )'
    >>> entry.samples[0]
    Sample(word='B()E', status='halted', state='T', steps=9, result='B**', non_blank=None)

    Chapter: :doc:`/book/machines`.
    """

    name: str
    title: str
    about: str
    machine: TuringMachine
    samples: tuple[Sample, ...]
    verdicts: Mapping[str, str] = field(default_factory=dict, hash=False)
    tasks: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def ends(self) -> tuple[str, str]:
        """The marks that a word of this machine begins and ends with, ``""`` where it needs none.

        So ``B()E`` and not ``()`` is a word of ``balanced_parentheses``, where ``E`` is also the blank, and a word of
        ``unary_multiplication`` ends with ``=``:

        >>> turing.zoo.entry("balanced_parentheses").ends
        ('B', 'E')
        >>> turing.zoo.entry("unary_multiplication").ends
        ('', '=')

        A symbol counts as a mark if every sample that halts has it there and nowhere else.

        Chapter: :doc:`/book/machines`.
        """
        words = [list(sample.word) for sample in self.samples if sample.status == "halted"]

        def mark(end: int) -> str:
            symbols = {word[end] if len(word) > 1 and word.count(word[end]) == 1 else "" for word in words}
            return symbols.pop() if len(words) > 1 and len(symbols) == 1 else ""

        return mark(0), mark(-1)


class Zoo(Mapping[str, TuringMachine]):
    """The class of ``turing.zoo``, which maps names to machines; ``list(turing.zoo)`` lists the names.

    >>> turing.zoo["bb4"].run().steps
    107

    Chapter: :doc:`/book/machines`.
    """

    def __getitem__(self, name: str) -> TuringMachine:
        return self.entry(name).machine

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)

    def entry(self, name: str) -> Entry:
        """The machine of that name with its title, description and samples: an :class:`Entry`.

        Upper case, spaces and hyphens are accepted too: ``Binary increment`` is ``binary_increment``.

        >>> turing.zoo.entry("Binary increment").samples[0].word
        '1011'

        Chapter: :doc:`/book/machines`.
        """
        key = str(name).strip().lower().replace("-", "_").replace(" ", "_")
        if key not in NAMES:
            raise UnknownMachine(_unknown(name, key))
        return _load(key)

    def entry_of(self, machine: TuringMachine) -> Entry | None:
        """The entry whose machine equals ``machine``; None if there is none.

        Chapter: :doc:`/book/machines`.
        """
        return next((entry for entry in map(self.entry, self) if entry.machine == machine), None)

    def _ipython_key_completions_(self) -> list[str]:
        return list(NAMES)

    def __repr__(self) -> str:
        return f"<Zoo of {len(self)} machines: {', '.join(self)}>"


class UnknownMachine(KeyError):
    """A KeyError that prints its message as it is, not in quotes."""

    def __str__(self) -> str:
        return self.args[0]


def _unknown(name: object, key: str) -> str:
    close = difflib.get_close_matches(key, NAMES, cutoff=0.5)
    hint = f"Did you mean {' or '.join(close)}? " if close else ""
    return f"No machine of the zoo is called {name!r}. {hint}There are: {' '.join(NAMES)}."


@cache
def _load(key: str) -> Entry:
    text = resources.files("turing.zoo").joinpath(f"{key}.yaml").read_text(encoding="utf-8")
    data = yaml.safe_load(text)
    samples = tuple(Sample(**sample) for sample in data["samples"])
    said = {name: data.get(name, {}) for name in ("verdicts", "tasks")}
    return Entry(key, data["title"], data["about"], parse(data["machine"]), samples, **said)


zoo = Zoo()
