"""Ways to damage a network, each a function of a level and a seed.

A perturbation takes the parameters of a network by name, a level and a seed, and returns other parameters.
Noise comes from one integer generator, :func:`uniform`, which the page has too: the same seed gives the same noise in
every process, in Python and in the browser.

Chapter: :doc:`/book/break-restore-train`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

__all__ = ["Dropout", "Flip", "Gaussian", "Perturbation", "Prune", "Round", "normal", "uniform"]

Parameters = Mapping[str, Tensor]
Perturbation = Callable[[Parameters, Any, int], dict[str, Tensor]]
INTEGERS = {"int8": 8, "int4": 4, "ternary": 2}


def uniform(seed: int, start: int, size: int) -> np.ndarray:
    """Numbers between 0 and 1, in float64: number k of a seed is a hash of the seed and of k, in 32-bit integers.

    >>> uniform(0, 0, 3).round(6).tolist() == uniform(0, 1, 2).round(6).tolist()
    False
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
    """Standard normal numbers, in float64: number k comes from the uniform numbers 2k and 2k + 1 (Box and Muller).

    Chapter: :doc:`/book/break-restore-train`.
    """
    pairs = uniform(seed, 2 * start, 2 * size).reshape(-1, 2)
    return np.sqrt(-2 * np.log(pairs[:, 0])) * np.cos(2 * np.pi * pairs[:, 1])


@dataclass(frozen=True)
class Gaussian:
    """Independent normal noise with the standard deviation ``level``: on all numbers, or where they are not 0.

    ``module`` restricts it to one module of the pipeline. Numbers are counted through all parameters, in their order.

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
    """Of the numbers that are not 0, the share ``level`` with the least magnitude becomes 0; ties in a random order.

    Chapter: :doc:`/book/break-restore-train`.
    """

    def __call__(self, parameters: Parameters, level: Any, seed: int) -> dict[str, Tensor]:
        flat = torch.cat([numbers.flatten() for numbers in parameters.values()])
        places = flat.nonzero().flatten()
        ties = torch.from_numpy(uniform(seed, 0, len(places)))
        order = np.lexsort((ties.numpy(), flat[places].abs().numpy()))
        flat = flat.clone()
        flat[places[torch.from_numpy(order)[: round(float(level) * len(places))]]] = 0
        return _cut(flat, parameters)


@dataclass(frozen=True)
class Flip:
    """``level`` of the numbers that are not 0 change their sign.

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
    """Every tensor rounded to ``level``: ``"bfloat16"``, or ``"int8"``, ``"int4"`` or ``"ternary"``, which are integers
    times the greatest magnitude of the tensor over 127, 7 or 1. The network goes on computing in its own number type.

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
