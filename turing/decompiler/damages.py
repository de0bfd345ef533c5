"""Damage: what happens to numbers that are stored coarsely, disturbed, pruned or trained on.

Chapter: :doc:`/book/reading-back`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from turing.arguments import listed
from turing.decompiler.tensors import Array, Bare, bare

__all__ = ["DAMAGES", "damage"]

Change = Callable[[np.random.Generator, Array, float], Array]


def _bfloat16(random: np.random.Generator, tensor: Array, amount: float) -> Array:
    return torch.tensor(tensor).to(torch.bfloat16).double().numpy()


def _noise(random: np.random.Generator, tensor: Array, amount: float) -> Array:
    return tensor + amount * random.normal(size=tensor.shape)


def _steps(levels: int) -> Change:
    def rounded(random: np.random.Generator, tensor: Array, amount: float) -> Array:
        unit = np.abs(tensor).max(initial=0) / levels
        return np.round(tensor / unit) * unit if unit else tensor

    return rounded


def _pruned(random: np.random.Generator, tensor: Array, amount: float) -> Array:
    """The smallest numbers of a tensor become 0: that share of those that are not 0 already."""
    sizes = np.sort(np.abs(tensor[tensor != 0]))
    least = sizes[int(amount * len(sizes))] if int(amount * len(sizes)) < len(sizes) else np.inf
    return np.where(np.abs(tensor) < least, 0, tensor)


DAMAGES: dict[str, tuple[Change | None, float]] = {  # with the amount unless given
    "noise": (_noise, 0.01),
    "bfloat16": (_bfloat16, 0),
    "int8": (_steps(127), 0),
    "int4": (_steps(7), 0),
    "ternary": (_steps(1), 0),
    "pruning": (_pruned, 0.1),
    "flip": (None, 1),
    "training": (None, 0.01),
}


def damage(what: Any, kind: str = "noise", amount: float | None = None, seed: int = 0) -> Bare:
    """The network with damaged numbers.

    ``kind`` is ``"noise"``, of standard deviation ``amount`` on every number; ``"bfloat16"``, ``"int8"``, ``"int4"`` or
    ``"ternary"``, rounding (integers are multiples of a 127th, a 7th or all of the largest number of a tensor);
    ``"pruning"`` of the share ``amount`` of each tensor's numbers, the smallest first; ``"flip"`` changes the sign of
    ``amount`` numbers; ``"training"`` is one step of gradient descent towards random outputs, of the length ``amount``
    for each tensor's root mean square.

    >>> import turing
    >>> net = turing.compile(turing.zoo["bb2"], "wcm21", T=8, adder="lookahead")
    >>> damage(net, "noise", 0.05, seed=1)
    Bare(5 maps, 6 heads, 4,686 numbers)

    Chapter: :doc:`/book/reading-back`.
    """
    if kind not in tuple(DAMAGES):
        raise ValueError(f"A damage is one of {listed(tuple(DAMAGES))}, and {kind!r} was given.")
    network, random = bare(what), np.random.default_rng(seed)
    change, usual = DAMAGES[kind]
    size = usual if amount is None else float(amount)
    if kind == "flip":
        return _flipped(network, random, int(size))
    if kind == "training":
        return _trained(network, random, size)
    assert change is not None
    return network.changed(lambda tensor: change(random, tensor, size))


def _flipped(network: Bare, random: np.random.Generator, number: int) -> Bare:
    """The sign of some numbers, each not 0 and drawn from all of them."""
    counts = [int(np.count_nonzero(tensor)) for tensor in network.tensors()]
    chosen = set(random.choice(sum(counts), min(number, sum(counts)), replace=False).tolist())
    first = 0

    def flipped(tensor: Array) -> Array:
        nonlocal first
        new, places = tensor.copy(), np.argwhere(tensor)
        for number in sorted(chosen & set(range(first, first + len(places)))):
            new[tuple(places[number - first])] *= -1
        first += len(places)
        return new

    return network.changed(flipped)


def _trained(network: Bare, random: np.random.Generator, length: float) -> Bare:
    """One step of gradient descent on the squared distance to random outputs, for a batch of random columns."""
    leaves = [torch.tensor(np.asarray(tensor, dtype=float), requires_grad=True) for tensor in network.tensors()]
    given = iter(leaves)
    traced = network.changed(lambda _: next(given))
    width = traced.parts[0].weight.shape[1]  # type: ignore[union-attr]  # a map, which pass_through checks
    x = torch.tensor(random.integers(0, 2, (16, width)).astype(float))
    wanted = torch.tensor(random.integers(0, 2, (16, width)).astype(float))
    ((_pass(traced, x) - wanted) ** 2).mean().backward()
    moved = []
    for leaf in leaves:
        step = torch.zeros_like(leaf) if leaf.grad is None else leaf.grad
        scale = step.square().mean().sqrt() if leaf.numel() else torch.tensor(0.0)
        moved.append((leaf - length * step / scale if scale > 0 else leaf).detach().numpy())
    new = iter(moved)
    return network.changed(lambda _: next(new))


def _pass(network: Bare, x: torch.Tensor) -> torch.Tensor:
    """One pass in torch with soft attention (κ = 1), so that every number has a gradient; the word is the columns."""
    from turing.decompiler.tensors import Head

    for part in network.parts:
        if isinstance(part, Head):
            keys = torch.vstack([x @ part.key.weight.T + part.key.bias, part.null_key])
            values = torch.vstack([x @ part.value.weight.T + part.value.bias, part.null_value])
            shares = torch.softmax((x @ part.query.weight.T + part.query.bias) @ keys.T, dim=-1)
            x = x + shares @ values @ part.write.weight.T + part.write.bias
        else:
            x = x @ part.weight.T + part.bias
            x = x if part.activation == "none" else x.clamp(min=0)
    return x
