"""A trainer of plain PyTorch, and what training has changed.

Chapter: :doc:`/book/break-restore-train`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from turing.construction import Construction
from turing.corpora.labels import labels_of

__all__ = ["Change", "difference", "distance", "train"]

OPTIMIZERS = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}


def train(
    network: Construction,
    loss: Callable[[], Tensor],
    steps: int,
    rate: float = 1e-3,
    optimizer: str = "adam",
    penalty: Callable[[], Tensor] | None = None,
    note: Callable[[int, float], Any] | None = None,
    every: int = 1,
) -> list[Any]:
    """Change the parameters of a network, in place, by so many steps of gradient descent on a loss.

    - ``loss``: a function without arguments that returns a tensor with one number
    - ``rate``, ``optimizer``: the learning rate, and ``"adam"`` or ``"sgd"``
    - ``penalty``: a function like ``loss``; it is added to what is differentiated, but not to the loss that is noted
    - ``note``: is called as ``note(step, loss)``, with the loss as a float, before the first step, every ``every``
      steps, and after the last one. The list of what it returned is the result; without ``note`` the list is empty.

    Hard attention gives queries and keys of a compiled network no gradient.

    There is no randomness: on one CPU thread, the same call gives the same numbers. Here a network with noise on its
    weights is trained on one word:

    >>> from turing.study import Gaussian, forced, lesson, perturbed, squares, train
    >>> net = turing.compile(turing.zoo["balanced_parentheses"], "wcm21", T=32, adder="lookahead")
    >>> noisy = perturbed(net, Gaussian(), 0.02, seeds=[1])
    >>> _ = net.load_state_dict({name: copies[0] for name, copies in noisy.items()})
    >>> given = lesson(net, ["B()E"])
    >>> loss = lambda: sum(squares(net, forced(net, given), given).values())
    >>> [round(x, 2) for x in train(net, loss, 20, note=lambda step, loss: loss, every=10)]
    [1.13, 0.23, 0.14]

    Chapter: :doc:`/book/break-restore-train`.
    """
    if optimizer not in OPTIMIZERS:
        raise ValueError(f"An optimizer is one of {', '.join(OPTIMIZERS)}, and {optimizer!r} was given.")
    parameters = [numbers for numbers in network.parameters() if numbers.is_floating_point()]
    if not parameters:
        raise TypeError("Training needs floats, and this network is exact. Compile it in floats.")
    descent = OPTIMIZERS[optimizer](parameters, lr=rate)
    notes = []
    for step in range(steps + 1):
        descent.zero_grad()
        value = loss()
        if note is not None and (step % every == 0 or step == steps):
            notes.append(note(step, value.item()))
        if step == steps:
            break
        (value if penalty is None else value + penalty()).backward()
        descent.step()
    network.forget()
    return notes


class Change(NamedTuple):
    """A number of a network that has changed: where it is, and its values ``before`` and after.

    ``parameter`` is the name of its tensor without the prefix ``pipeline.``, and ``row`` and ``column`` are the places
    that it leads to and comes from. A bias has ``"1"`` as its column.

    Chapter: :doc:`/book/break-restore-train`.
    """

    parameter: str
    row: str
    column: str
    before: float
    after: float


def difference(network: Construction, built: Construction, most: int = 10) -> list[Change]:
    """What differs between a network and the one that was ``built``: a list of up to ``most`` numbers, each a
    :class:`Change`, the greatest change first.

    >>> import torch
    >>> from turing.study import difference
    >>> net, built = (turing.compile(turing.zoo["bb2"], "wcm21", T=8, adder="lookahead") for _ in range(2))
    >>> with torch.no_grad():
    ...     net.pipeline["detect"].weight[0, 0] = 3
    >>> difference(net, built)
    [Change(parameter='detect.weight', row='det[A 0]', column='st[A]', before=1.0, after=3.0)]

    Chapter: :doc:`/book/break-restore-train`.
    """
    labels, old = labels_of(built), dict(built.named_parameters())
    changes: list[Change] = []
    for name, numbers in network.named_parameters():
        gap = (numbers.detach() - old[name].detach()).abs()
        count = min(most, int((gap > 0).sum()))
        names = [labels["vectors"][vector] for vector in labels["axes"].get(name, ())]
        names = names or [list(map(str, range(size))) for size in gap.shape]  # of a table of positions
        for place in gap.flatten().topk(count).indices.tolist():
            index: Sequence[int] = [int(k) for k in torch.unravel_index(torch.tensor(place), gap.shape)]
            row, column = names[0][index[0]], names[1][index[1]] if len(index) > 1 else "1"
            values = (parameters.detach()[tuple(index)].item() for parameters in (old[name], numbers))
            changes.append(Change(name.removeprefix("pipeline."), row, column, *values))
    return sorted(changes, key=lambda change: -abs(change.after - change.before))[:most]


@torch.no_grad()
def distance(network: Construction, other: Construction) -> float:
    """The Euclidean distance between the parameters of two networks.

    Chapter: :doc:`/book/break-restore-train`.
    """
    pairs = zip(network.parameters(), other.parameters(), strict=True)
    return sum(((one.double() - two.double()) ** 2).sum().item() for one, two in pairs) ** 0.5
