"""How a loss bends around a network: by what autograd says, and by what is measured.

At the weights that were built many ReLUs stand exactly at their kink. Autograd takes 0 for the derivative there, and so
leaves out what the loss does on the other side.

Chapter: :doc:`/book/break-restore-train`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from turing.construction import Construction
from turing.decompiler.damages import normal

__all__ = ["Bend", "along", "bend", "direction", "kinks"]

Directions = dict[str, Tensor]


class Bend(NamedTuple):
    """Half of the second derivative of a loss along a direction, three times: by ``autograd``, and as measured by a
    small step ``forward`` and by one ``backward``.

    Chapter: :doc:`/book/break-restore-train`.
    """

    autograd: float
    forward: float
    backward: float


def direction(network: Construction, seed: int, module: str | None = None) -> Directions:
    """A random direction: by the name of each parameter a tensor of normal random numbers.

    With ``module``, the name of a module of ``network.pipeline``, only its parameters are moved.

    Chapter: :doc:`/book/break-restore-train`.
    """
    found, start = {}, 0
    for name, numbers in network.named_parameters():
        if module is None or name.startswith(f"pipeline.{module}."):
            noise = torch.from_numpy(normal(seed, start, numbers.numel())).view(numbers.shape)
            found[name] = noise.to(numbers.dtype)
        start += numbers.numel()
    return found


@torch.no_grad()
def along(network: Construction, loss: Callable[[], Tensor], way: Directions, size: float) -> float:
    """The loss of a network whose parameters are moved by ``size`` times the direction ``way``; the network is the same
    afterwards.

    Chapter: :doc:`/book/break-restore-train`.
    """
    parameters = dict(network.named_parameters())
    before = {name: parameters[name].detach().clone() for name in way}
    try:
        for name, step in way.items():
            parameters[name].add_(step, alpha=size)
        return loss().item()
    finally:
        for name, numbers in before.items():
            parameters[name].copy_(numbers)


def bend(network: Construction, loss: Callable[[], Tensor], way: Directions, size: float = 1e-4) -> Bend:
    """The curvature of a loss along a direction v, as a :class:`Bend`: ½ v·Hv by automatic differentiation, where H is
    the matrix of second derivatives, and (loss(±size v) − loss) / size² by measurement.

    ``loss`` is a function without arguments, as for :func:`turing.study.train`, ``way`` the direction, such as
    :func:`direction` gives, and ``size`` how far the network is moved along it. A smooth loss at its minimum gives
    three equal numbers; unequal ones tell of kinks, where ReLUs turn on or off and autograd sees only one side. The
    direction is not normalised: after noise along it, the loss is about this number times the square of the noise's
    standard deviation.

    >>> from turing.study import bend, direction, forced, lesson, squares
    >>> net = turing.compile(turing.zoo["balanced_parentheses"], "wcm21", T=32, adder="lookahead").double()
    >>> given = lesson(net, ["B()E"])
    >>> found = bend(net, lambda: sum(squares(net, forced(net, given), given).values()), direction(net, seed=1))
    >>> [round(number) for number in found]
    [415, 1146, 1002]

    Chapter: :doc:`/book/break-restore-train`.
    """
    parameters = dict(network.named_parameters())
    chosen = [parameters[name] for name in way]
    value = loss()
    slope = torch.autograd.grad(value, chosen, create_graph=True, allow_unused=True)
    dot = sum((g * way[name]).sum() for g, name in zip(slope, way, strict=True) if g is not None)
    product: tuple[Tensor | None, ...] = (None,) * len(chosen)
    if isinstance(dot, Tensor) and dot.requires_grad:
        product = torch.autograd.grad(dot, chosen, allow_unused=True)
    second = sum((h * way[name]).sum().item() for h, name in zip(product, way, strict=True) if h is not None)
    at = value.item()
    sides = [(along(network, loss, way, sign * size) - at) / size**2 for sign in (1, -1)]
    return Bend(second / 2, *sides)


@torch.no_grad()
def kinks(network: Construction, run: Callable[[], object]) -> tuple[int, int]:
    """How many inputs of ReLUs are exactly 0 while ``run()`` runs the network, and how many inputs there are.

    ``run`` is a function without arguments, such as ``lambda: network.run("B()E")``.

    Chapter: :doc:`/book/break-restore-train`.
    """
    from turing.gates import Layer

    found = [0, 0]

    def seen(layer: torch.nn.Module, inputs: tuple[Tensor], output: object) -> None:
        sums = torch.nn.functional.linear(inputs[0], layer.weight, layer.bias)  # type: ignore[arg-type]  # of a Layer
        found[0] += int((sums == 0).sum())
        found[1] += sums.numel()

    hooks = [part.register_forward_hook(seen) for part in network.modules() if isinstance(part, Layer)]
    try:
        run()
    finally:
        for hook in hooks:
            hook.remove()
    return found[0], found[1]
