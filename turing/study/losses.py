"""Losses for a network whose right answers are known: over columns that the machine gives, and over roll-outs.

Chapter: :doc:`/book/break-restore-train`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from turing import arguments
from turing.construction import Construction
from turing.study.failure import READ

__all__ = ["Lesson", "accuracy", "cross_entropy", "forced", "lesson", "rolled", "squares"]

ONE_HOT = ("st", "sym1", "sym2")


class Lesson(NamedTuple):
    """Training data: what every column should be, from the machine's own runs.

    - ``words``: the words
    - ``columns``, ``targets``: what goes into each step, and what has to come out; ``(words, t, w)``
    - ``steps``: true where there is a step, since runs differ in length; ``(words, t)``
    - ``tape``: the encoded words, ``(words, n, w)``

    Chapter: :doc:`/book/break-restore-train`.
    """

    words: list[tuple[str, ...]]
    columns: Tensor
    targets: Tensor
    steps: Tensor
    tape: Tensor


def lesson(network: Construction, words: Iterable[Iterable[str]], max_steps: int | None = None) -> Lesson:
    """Training data for a network, a :class:`Lesson`: its machine's runs on some words, each for at most ``max_steps``.

    No weight of the network is used.

    Chapter: :doc:`/book/break-restore-train`.
    """
    if network.arithmetic == "exact" or not network.batched or network.loop.state != "column":
        raise TypeError(
            f"A lesson has the columns of runs side by side, in floats; {network.construction} in "
            f"{network.arithmetic} arithmetic has none. Take wcm21 or li24."
        )
    found = [tuple(word) for word in arguments.words(words)]
    runs = [list(network.expected(network.machine, word, max_steps)) for word in found]
    longest = max(map(len, runs))
    state = network.start(found)
    targets = torch.zeros(len(found), longest, network.layout.width, dtype=state.x.dtype)
    steps = torch.zeros(len(found), longest, dtype=torch.bool)
    last = list(network.pipeline)[-1]
    names = {name: place for place, name in enumerate(network.layout.names())}
    for row, run in enumerate(runs):
        for number, expected in enumerate(run):
            steps[row, number] = True
            for name, value in expected.vectors[last].items():
                targets[row, number, names[name]] = float(value)
    added = torch.stack([network.beta(number) for number in range(1, longest)]) if longest > 1 else targets[0, :0]
    columns = torch.cat([state.x.unsqueeze(1), targets[:, :-1] + added], dim=1)
    return Lesson(found, columns.detach(), targets, steps, state.tape)


def forced(network: Construction, given: Lesson) -> Tensor:
    """What comes out of each step if every column that goes in is the machine's own (teacher forcing).

    Shape: ``(words, t, w)``, as the ``targets`` of the :class:`Lesson` that is ``given``.

    Chapter: :doc:`/book/break-restore-train`.
    """
    return network.next_columns(given.columns, given.tape)


def rolled(network: Construction, given: Lesson) -> Tensor:
    """What comes out of each step if the network goes on from its own columns, as in a run, but with gradients.

    Shape: ``(words, t, w)``, as the ``targets`` of the :class:`Lesson` that is ``given``.

    Chapter: :doc:`/book/break-restore-train`.
    """
    state, columns = network.start(given.words), []
    for _ in range(given.targets.shape[1]):
        state = network.step(state)
        columns.append(next(reversed(state.vectors.values())))
    return torch.stack(columns, dim=1)


def squares(network: Construction, found: Tensor, given: Lesson) -> dict[str, Tensor]:
    """The squared error of a column in each slice that the next step reads, averaged over the steps of all words.

    ``given`` is a :class:`Lesson`, and ``found`` what :func:`forced` or :func:`rolled` returned for it. The result is a
    dictionary by the names of slices; the sum of its values is the loss.

    Chapter: :doc:`/book/break-restore-train`.
    """
    _check(network)
    off = ((found - given.targets) ** 2)[given.steps]
    return {name: off[:, network.layout[name].slice].sum(-1).mean() for name in READ}


def cross_entropy(network: Construction, found: Tensor, given: Lesson) -> dict[str, Tensor]:
    """The cross-entropy of a column in each slice, as a dictionary like that of :func:`squares`.

    It is that of a softmax for states and symbols, and of a logistic function of x − ½ for bits. The numbers themselves
    are the logits, so even the exact network has a loss above 0.

    Chapter: :doc:`/book/break-restore-train`.
    """
    _check(network)
    x, y = found[given.steps], given.targets[given.steps]
    losses = {}
    for name in READ:
        part = network.layout[name].slice
        if name in ONE_HOT:
            shown = y[:, part].sum(-1) == 1  # a step that jams has no state
            losses[name] = F.cross_entropy(x[shown][:, part], y[shown][:, part].argmax(-1))
        else:
            losses[name] = F.binary_cross_entropy_with_logits(x[:, part] - 0.5, y[:, part])
    return losses


@torch.no_grad()
def accuracy(network: Construction, found: Tensor, given: Lesson) -> float:
    """The share of steps whose column, with every number rounded, is the machine's.

    ``given`` is a :class:`Lesson`, and ``found`` what :func:`forced` or :func:`rolled` returned for it.

    Chapter: :doc:`/book/break-restore-train`.
    """
    _check(network)
    places = [place for name in READ for place in network.layout[name]]
    right = ((found - given.targets).abs()[..., places] < 0.5).all(-1)[given.steps]
    return right.double().mean().item()


def _check(network: Construction) -> None:
    if missing := [name for name in READ if name not in network.layout.slices]:
        raise TypeError(
            f"This is a measure of the slices {', '.join(READ)} of a wcm21 network; {network.construction} has no "
            f"{missing[0]}. Compare what came out with lesson.targets."
        )
