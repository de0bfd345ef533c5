"""Damage: what happens to numbers that are stored coarsely, disturbed, pruned, flipped or trained on.

A perturbation is a function of a level and a seed: it takes the parameters of a network by name and returns other ones.
Noise comes from one integer generator, :func:`uniform`, which the page has too: the same seed gives the same noise in
every process, in Python and in the browser. :func:`damage` does the same to bare tensors.

Chapter: :doc:`/book/reading-back`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from turing.arguments import listed
from turing.decompiler.tensors import Bare, Convolved, Head, Map, Refusal, bare

__all__ = ["DAMAGES", "Dropout", "Flip", "Gaussian", "Perturbation", "Prune", "Round", "damage", "normal", "uniform"]

Parameters = Mapping[str, Tensor]
Perturbation = Callable[[Parameters, Any, int], dict[str, Tensor]]
INTEGERS = {"int8": 8, "int4": 4, "ternary": 2}


def uniform(seed: int, start: int, size: int) -> np.ndarray:
    """So many numbers between 0 and 1, in float64, from number ``start`` of a seed on.

    Number k is a hash of the seed and of k, in 32-bit integers.

    >>> from turing.study import uniform
    >>> uniform(7, 0, 3).tolist()[1:] == uniform(7, 1, 2).tolist()
    True

    Chapter: :doc:`/book/break-restore-train`.
    """
    with np.errstate(over="ignore"):
        k = np.arange(start, start + size, dtype=np.uint32)
        x = _mixed(_mixed(np.full(1, seed, np.uint32)) + k * np.uint32(0x9E3779B9))
    return (x.astype(np.float64) + 0.5) / 2**32


def _mixed(x: np.ndarray) -> np.ndarray:
    """The finalizer of MurmurHash3."""
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    x = (x ^ (x >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return x ^ (x >> np.uint32(16))


def normal(seed: int, start: int, size: int) -> np.ndarray:
    """So many standard normal numbers, in float64, from number ``start`` of a seed on.

    Number k comes from the :func:`uniform` numbers 2k and 2k + 1 (Box and Muller).

    Chapter: :doc:`/book/break-restore-train`.
    """
    pairs = uniform(seed, 2 * start, 2 * size).reshape(-1, 2)
    return np.sqrt(-2 * np.log(pairs[:, 0])) * np.cos(2 * np.pi * pairs[:, 1])


@dataclass(frozen=True)
class Gaussian:
    """Independent normal noise with the standard deviation ``level``.

    It comes on all numbers, or with ``on="nonzero"`` on those that are not 0. ``module`` restricts it to one module of
    ``network.pipeline``.

    Chapter: :doc:`/book/break-restore-train`.
    """

    on: str = "all"
    module: str | None = None

    def __call__(self, parameters: Parameters, level: Any, seed: int) -> dict[str, Tensor]:
        found, start = {}, 0
        for name, numbers in parameters.items():
            if _inside(name, self.module):
                noise = torch.from_numpy(normal(seed, start, numbers.numel())).view(numbers.shape) * float(level)
                if self.on == "nonzero":
                    noise = noise * (numbers != 0)
                found[name] = (numbers.double() + noise).to(numbers.dtype)
            else:
                found[name] = numbers
            start += numbers.numel()
        return found


@dataclass(frozen=True)
class Dropout:
    """Of the numbers that are not 0, each becomes 0 with the probability ``level``.

    ``module`` restricts this to one module of ``network.pipeline``.

    Chapter: :doc:`/book/break-restore-train`.
    """

    module: str | None = None

    def __call__(self, parameters: Parameters, level: Any, seed: int) -> dict[str, Tensor]:
        found, start = {}, 0
        for name, numbers in parameters.items():
            kept = torch.from_numpy(uniform(seed, start, numbers.numel())).view(numbers.shape) >= float(level)
            found[name] = numbers * kept if _inside(name, self.module) else numbers
            start += numbers.numel()
        return found


@dataclass(frozen=True)
class Prune:
    """Of the numbers that are not 0, the share ``level`` with the least magnitude becomes 0; ties are broken at random.

    With ``each=True``, every tensor loses up to that share of its own numbers. Of equal magnitudes all become 0 or
    none, so a tensor may lose less than its share, and nothing is random.

    Chapter: :doc:`/book/break-restore-train`.
    """

    each: bool = False

    def __call__(self, parameters: Parameters, level: Any, seed: int) -> dict[str, Tensor]:
        if self.each:
            return {name: _pruned(numbers, float(level)) for name, numbers in parameters.items()}
        flat = torch.cat([numbers.flatten() for numbers in parameters.values()])
        places = flat.nonzero().flatten()
        ties = torch.from_numpy(uniform(seed, 0, len(places)))
        order = np.lexsort((ties.numpy(), flat[places].abs().numpy()))
        flat = flat.clone()
        flat[places[torch.from_numpy(order)[: round(float(level) * len(places))]]] = 0
        return _cut(flat, parameters)


def _pruned(numbers: Tensor, share: float) -> Tensor:
    sizes = numbers[numbers != 0].abs().sort().values
    number = int(share * len(sizes))
    least = sizes[number] if number < len(sizes) else torch.inf
    return torch.where(numbers.abs() < least, 0.0, numbers)


@dataclass(frozen=True)
class Flip:
    """Of the numbers that are not 0, so many as ``level`` says change their sign, at random places.

    Chapter: :doc:`/book/break-restore-train`.
    """

    def __call__(self, parameters: Parameters, level: Any, seed: int) -> dict[str, Tensor]:
        flat = torch.cat([numbers.flatten() for numbers in parameters.values()]).clone()
        places = flat.nonzero().flatten()
        order = torch.from_numpy(uniform(seed, 0, len(places))).argsort()
        flat[places[order[: int(level)]]] *= -1
        return _cut(flat, parameters)


@dataclass(frozen=True)
class Round:
    """Every tensor is rounded to the number type ``level``: to ``"bfloat16"``, or for ``"int8"``, ``"int4"`` and
    ``"ternary"`` to multiples of its greatest magnitude over 127, 7 and 1.

    The network goes on computing in its own number type. The seed does not matter.

    Chapter: :doc:`/book/break-restore-train`.
    """

    def __call__(self, parameters: Parameters, level: Any, seed: int) -> dict[str, Tensor]:
        if level not in ("bfloat16", *INTEGERS):
            raise ValueError(f"Numbers are rounded to bfloat16, {', '.join(INTEGERS)}, and {level!r} was given.")
        return {name: _rounded(numbers, level) for name, numbers in parameters.items()}


def _rounded(numbers: Tensor, level: str) -> Tensor:
    if level == "bfloat16":
        return numbers.bfloat16().to(numbers.dtype)
    largest = numbers.abs().max()
    if not largest:
        return numbers
    unit = largest / (2 ** (INTEGERS[level] - 1) - 1)
    return (numbers / unit).round() * unit


def _inside(name: str, module: str | None) -> bool:
    return module is None or name.startswith(f"pipeline.{module}.")


def _cut(flat: Tensor, parameters: Parameters) -> dict[str, Tensor]:
    parts = flat.split([numbers.numel() for numbers in parameters.values()])
    return {name: part.view(numbers.shape) for (name, numbers), part in zip(parameters.items(), parts, strict=True)}


DAMAGES: dict[str, tuple[Perturbation | None, Any]] = {  # with the level unless given
    "noise": (Gaussian(), 0.01),
    "bfloat16": (Round(), "bfloat16"),
    "int8": (Round(), "int8"),
    "int4": (Round(), "int4"),
    "ternary": (Round(), "ternary"),
    "pruning": (Prune(each=True), 0.1),
    "flip": (Flip(), 1),
    "training": (None, 0.01),
}


def damage(what: Any, kind: str = "noise", amount: float | None = None, seed: int = 0) -> Bare:
    """The bare tensors of a network with damaged numbers, for :func:`decompile` and :func:`repair`.

    ``what`` is a network, the path of a saved one, or a :class:`Bare`, such as the ``network`` of a disguised one. The
    result is a :class:`Bare` too, and has no ``run``. To damage a network and run it, take
    :func:`turing.study.perturbed` or :func:`turing.study.sweep`. ``kind`` is one of these:

    - ``"noise"``: of standard deviation ``amount``, on every number
    - ``"bfloat16"``, ``"int8"``, ``"int4"`` or ``"ternary"``: as :class:`turing.study.Round`
    - ``"pruning"``: as :class:`turing.study.Prune` with ``each``; ``amount`` is the share
    - ``"flip"``: ``amount`` numbers change their sign
    - ``"training"``: one step of gradient descent towards random outputs; ``amount`` is its length in each tensor, as a
      root mean square. It takes no ``liwang25`` and no ``conv``.

    >>> from turing.decompiler import damage
    >>> net = turing.compile(turing.zoo["bb2"], "wcm21", T=8, adder="lookahead")
    >>> damage(net, "noise", 0.05, seed=1)
    Bare(5 maps, 6 heads, 4,686 numbers)

    Chapter: :doc:`/book/reading-back`.
    """
    if kind not in tuple(DAMAGES):
        raise ValueError(f"A damage is one of {listed(tuple(DAMAGES))}, and {kind!r} was given.")
    network = bare(what)
    change, level = DAMAGES[kind]
    if amount is not None and not isinstance(level, str):
        level = float(amount)
    if change is None:
        return _trained(network, np.random.default_rng(seed), level)
    tensors = {str(n): torch.tensor(np.asarray(tensor, dtype=float)) for n, tensor in enumerate(network.tensors())}
    changed = iter(change(tensors, level, seed).values())
    return network.changed(lambda _: next(changed).numpy())


def _trained(network: Bare, random: np.random.Generator, length: float) -> Bare:
    """One step of gradient descent on the squared distance to random outputs, for a batch of random columns."""
    leaves = [torch.tensor(np.asarray(tensor, dtype=float), requires_grad=True) for tensor in network.tensors()]
    given = iter(leaves)
    traced = network.changed(lambda _: next(given))
    first = traced.parts[0]
    if not isinstance(first, Map) or any(isinstance(part, Convolved) for part in traced.parts):
        raise Refusal(f"A network of maps, and heads after the first, is trained here, and {network} was given.")
    width = first.weight.shape[1]
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
    for part in network.parts:
        if isinstance(part, Head):
            keys = torch.vstack([x @ part.key.weight.T + part.key.bias, part.null_key])
            values = torch.vstack([x @ part.value.weight.T + part.value.bias, part.null_value])
            shares = torch.softmax((x @ part.query.weight.T + part.query.bias) @ keys.T, dim=-1)
            x = x + shares @ values @ part.write.weight.T + part.write.bias
        elif isinstance(part, Map):
            x = x @ part.weight.T + part.bias
            x = x if part.activation == "none" else x.clamp(min=0)
    return x
