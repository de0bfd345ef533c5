"""The blind benchmark: networks in disguise and damaged, whose machines are to be found from bare tensors.

Chapter: :doc:`/book/research`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from turing.corpora import corpus
from turing.machine import TuringMachine

__all__ = ["LEVELS", "Riddle", "Score", "blind", "key", "score"]

LEVELS: dict[str, tuple[str, str | None, float | None]] = {  # disguise, damage and its amount
    "permutation": ("permutation", None, None),
    "factors": ("factors", None, None),
    "orthogonal": ("orthogonal", None, None),
    "linear": ("linear", None, None),
    "bfloat16": ("linear", "bfloat16", None),
    "int8": ("orthogonal", "int8", None),
    "noise 0.01": ("linear", "noise", 0.01),
    "noise 0.05": ("permutation", "noise", 0.05),
    "noise 0.1": ("permutation", "noise", 0.1),
}


class Riddle(NamedTuple):
    """What a solver gets: the bare tensors of a ``network``, and the ``first_column`` of a run.

    The initial state can be read from that column. :func:`turing.decompile <turing.decompiler.decompile>` takes both.

    Chapter: :doc:`/book/research`.
    """

    network: Any  # turing.decompiler.Bare
    first_column: Any


class Score(NamedTuple):
    """How many answers are ``right`` up to renaming, how many are None, ``refused``, and how many are ``wrong``.

    ``share`` is the share of right answers among all.

    Chapter: :doc:`/book/research`.
    """

    right: int
    refused: int
    wrong: int

    @property
    def share(self) -> float:
        return self.right / max(1, sum(self))


def blind(n: int, seed: int, level: str = "linear", **options: Any) -> Iterator[Riddle]:
    """Yield ``n`` riddles, each a :class:`Riddle`: networks of random machines in disguise, some of them damaged too.

    ``level`` is one of these:

    - ``"permutation"``, ``"factors"``, ``"orthogonal"``, ``"linear"``: such a disguise
      (:func:`turing.decompiler.disguise`)
    - ``"bfloat16"``, ``"int8"``: a disguise, ``"linear"`` or ``"orthogonal"``, and rounded numbers
    - ``"noise 0.01"``, ``"noise 0.05"``, ``"noise 0.1"``: a disguise, ``"linear"`` for the first and ``"permutation"``
      for the others, and noise

    Machines and ``options`` are those of :func:`turing.corpora.corpus`, with lookahead adders; whoever does not know
    the seed does not know the answers. Here we answer with the library's own decompiler:

    >>> from turing.corpora.blind import blind, key, score
    >>> answers = [turing.decompile(*riddle).machine for riddle in blind(3, seed=7, T=16)]
    >>> score(answers, key(3, seed=7, T=16))
    Score(right=3, refused=0, wrong=0)

    Chapter: :doc:`/book/research`.
    """
    from turing.decompiler import bare, damage, disguise

    if level not in tuple(LEVELS):
        raise ValueError(f"A level is one of {', '.join(LEVELS)}, and {level!r} was given.")
    cover, harm, amount = LEVELS[level]
    for number, example in enumerate(_examples(n, seed, options)):
        net = example.network
        hidden = disguise(bare(net), cover, seed=abs(seed) * 1_000_003 + number)
        column = hidden.column(net.initial(example.word).detach().double().numpy())
        network = hidden.network if harm is None else damage(hidden.network, harm, amount, seed=number)
        yield Riddle(network, column)


def key(n: int, seed: int, **options: Any) -> list[TuringMachine]:
    """The answers to the riddles of :func:`blind` with the same ``n``, ``seed`` and ``options``, at every level: a
    list of machines.

    Chapter: :doc:`/book/research`.
    """
    return [example.machine for example in _examples(n, seed, options)]


def _examples(n: int, seed: int, options: dict[str, Any]) -> Iterator[Any]:
    return corpus(n, seed, **{"adder": "lookahead", **options})


def score(answers: Sequence[TuringMachine | None], wanted: Sequence[TuringMachine]) -> Score:
    """The :class:`Score` of a list of machines, compared with a :func:`key` up to the names of states and symbols.

    An answer of None is a refusal.

    >>> from turing.corpora.blind import key, score
    >>> wanted = key(3, seed=7, T=16)
    >>> score([*wanted[:2], None], wanted).share == 2 / 3
    True

    Chapter: :doc:`/book/research`.
    """
    from turing.decompiler import renaming

    if len(answers) != len(wanted):
        raise ValueError(f"The key has {len(wanted)} machines, and {len(answers)} answers were given.")
    right = sum(
        found is not None and renaming(found, machine, initial=True) is not None
        for found, machine in zip(answers, wanted, strict=True)
    )
    refused = sum(found is None for found in answers)
    return Score(right, refused, len(answers) - right - refused)
