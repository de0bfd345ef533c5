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
    """Runs of a machine as columns: what goes into each step, what has to come out, and which steps there are.

    Shapes: ``columns`` and ``targets`` ``(words, t, w)``, ``steps`` ``(words, t)``, ``tape`` ``(words, n, w)``.

    Chapter: :doc:`/book/break-restore-train`.
    """

    words: list[tuple[str, ...]]
    columns: Tensor
    targets: Tensor
    steps: Tensor
    tape: Tensor


def lesson(network: Construction, words: Iterable[Iterable[str]], max_steps: int | None = None) -> Lesson:
    """The columns of words as a :class:`Lesson`, from the machine's trace and without weights.

    Chapter: :doc:`/book/break-restore-train`.
    """
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
    """What leaves the network where every column that goes in is the machine's (teacher forcing): ``(words, t, w)``.

    Chapter: :doc:`/book/break-restore-train`.
    """
    return network.next_columns(given.columns, given.tape)


def rolled(network: Construction, given: Lesson) -> Tensor:
    """What leaves the network where each column comes from the one before: a differentiable roll-out.

    Chapter: :doc:`/book/break-restore-train`.
    """
    state, columns = network.start(given.words), []
    for _ in range(given.targets.shape[1]):
        state = network.step(state)
        columns.append(next(reversed(state.vectors.values())))
    return torch.stack(columns, dim=1)


def squares(network: Construction, found: Tensor, given: Lesson) -> dict[str, Tensor]:
    """A dictionary by slice of the squared error of a column, averaged over the steps of all words.

    Chapter: :doc:`/book/break-restore-train`.
    """
    off = ((found - given.targets) ** 2)[given.steps]
    return {name: off[:, network.layout[name].slice].sum(-1).mean() for name in READ}


def cross_entropy(network: Construction, found: Tensor, given: Lesson) -> dict[str, Tensor]:
    """A dictionary of the cross-entropy by slice: of a softmax for states and symbols, of a logistic function of x − ½
    for bits.

    The numbers themselves are the logits, so even the exact network has a loss above 0.

    Chapter: :doc:`/book/break-restore-train`.
    """
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
    """The share of steps whose column, rounded, is the machine's.

    Chapter: :doc:`/book/break-restore-train`.
    """
    places = [place for name in READ for place in network.layout[name]]
    right = ((found - given.targets).abs()[..., places] < 0.5).all(-1)[given.steps]
    return right.double().mean().item()
