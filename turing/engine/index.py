"""When an index can answer for attention: the heads of a network have to be the look-ups that the index makes.

Chapter: :doc:`How fast </book/how-fast>`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import torch

from turing import ir
from turing.attention import Lookup
from turing.construction import Construction
from turing.layout import Layout, state_vector
from turing.wcm import WCM21
from turing.wcm.pipeline import BinarySearchStep, GetInitialSymbol, GetLastWrittenSymbol, IndicateVisitedPosition

__all__ = ["Refusal", "check_heads"]

TYPES = ("float32", "float64")
VERIFY = 'Take engine="torch"; turing.verify finds the step and the layer where that begins.'


class Refusal(ArithmeticError):
    """An engine cannot give the numbers that plain PyTorch gives, and the message says why and what to do.

    Among the reasons are a changed weight of an attention head, a hook in the network, ``average="literal"``, and a
    number type in which the engine is not exact.

    Chapter: :doc:`How fast </book/how-fast>`.
    """


class Around(NamedTuple):
    """The modules around the heads, which are made of layers alone."""

    pre_attention: tuple[ir.Module, ...]
    post_attention: tuple[ir.Module, ...]


def check_heads(network: WCM21) -> Around:
    """The modules before the attention heads and those after. Raises a :class:`Refusal` unless an index can answer for
    the heads.

    Each head compares bits, and fetches a part of the column that matches: a match scores ½ more than the null key, and
    the null key ½ more than any other column. So a look-up in an index gives exactly what the average over all columns
    gives.

    Chapter: :doc:`How fast </book/how-fast>`.
    """
    if not isinstance(network, WCM21):
        raise TypeError(f"The engines run networks of the class WCM21, and {type(network).__name__} was given.")
    found = described(network)
    _check_types(found)
    _check_layers(network, found)
    if network.layout != state_vector(network.machine, network.bits):
        raise Refusal('The places of a column are not in the order that an index expects. Take engine="torch".')
    built, modules = _built(network.layout), found.modules
    heads = [k for k, module in enumerate(modules) if module.kind == "attention"]
    begin, end = min(heads, default=0), max(heads, default=-1) + 1
    if (names := [module.name for module in modules[begin:end]]) != list(built):
        raise Refusal(
            f"An index answers for the heads {' '.join(built)}, and this network has {' '.join(names)}. "
            f'Take engine="torch".'
        )
    for module in modules[begin:end]:
        _check_head(module, network.pipeline[module.name], built[module.name])
    return Around(modules[:begin], modules[end:])


def described(network: Construction) -> ir.Network:
    """What a network is made of. Raise if a hook waits in it, or something that has no description."""
    network.check_types()
    for name, module in network.named_modules():
        if module._forward_hooks or module._forward_pre_hooks:
            raise Refusal(f'{name} has a hook, which an engine would not call. Remove it, or take engine="torch".')
    try:
        network.check()
        return network.ir()
    except (TypeError, ValueError) as error:
        raise Refusal(f'{error} Take engine="torch".') from None


@lru_cache(maxsize=8)
def _built(layout: Layout) -> dict[str, Lookup]:
    """The heads as the construction builds them, by name. Nobody changes them."""
    searches = {f"search{j}": BinarySearchStep(layout, j) for j in reversed(range(len(layout.scr3)))}
    last = {"last": GetLastWrittenSymbol(layout), "initial": GetInitialSymbol(layout)}
    return {"visited": IndicateVisitedPosition(layout), **searches, **last}


def _check_types(network: ir.Network) -> None:
    first, *others = network.numbers()
    dtype = first.values.dtype
    if (name := str(dtype).removeprefix("torch.")) not in TYPES:
        raise Refusal(f'An index works in {" and ".join(TYPES)}, and this network is in {name}. Take engine="torch".')
    for numbers in others:
        if numbers.values.dtype != dtype:
            raise Refusal(f"{numbers.name} is of {numbers.values.dtype}, and the network of {dtype}.")


def _check_layers(network: WCM21, found: ir.Network) -> None:
    """Raise unless there are heads and layers alone, and each takes as many numbers as come to it."""
    width = network.layout.width
    for module in found.modules:
        for part in module.parts:
            if not isinstance(part, (ir.Attention, ir.Layer)) or getattr(part, "activation", "") == "clamp":
                raise Refusal(
                    f"{part.name} is neither a head nor a linear layer with a ReLU or nothing after it. "
                    f'Take engine="torch".'
                )
            if part.width_in != width:
                raise Refusal(f"{part.name} takes vectors of width {part.width_in}, and {width} numbers come to it.")
            width = part.width_out
        if width != (named := network.layout_of(module.name).width):
            raise Refusal(f"{width} numbers leave pipeline.{module.name}, and its layout has names for {named}.")


def _check_head(module: ir.Module, given: Any, built: Lookup) -> None:
    """Raise unless a head is the look-up that it was built to be; name the first number that differs."""
    head, name = module.parts[0], module.parts[0].name
    for (place, ours), theirs in zip(given.named_modules(prefix=name), built.modules(), strict=False):
        if type(ours) is not type(theirs):
            kinds = f"{type(ours).__name__}, and {type(theirs).__name__} is expected there"
            raise Refusal(f'{place} is of the class {kinds}. Take engine="torch".')
    (expected,) = built.describe(name)
    assert isinstance(head, ir.Attention)
    if head.average != "ratio":
        raise Refusal(
            f"The head {module.name} takes its average as {head.average!r}, which is not exact where columns tie. "
            f'Compile with average="ratio", or take engine="torch".'
        )
    if head.mask == expected.mask and head.score == expected.score and _equal(head, expected):
        return
    constants = head.key.rows[-1] == expected.key.rows[-1]  # of which lookup() accepts several
    if head.lookup() == expected.lookup() and head.mask == expected.mask and constants:
        return
    same_numbers(ir.tensors(head), ir.tensors(expected))
    raise Refusal(f'{name} has no null key, another score or another mask than a look-up. Take engine="torch".')


def _equal(head: ir.Attention, expected: ir.Attention) -> bool:
    """Whether all numbers are those that the construction sets; most often that is so, and soon known."""
    found, wanted = list(ir.tensors(head)), list(ir.tensors(expected))
    return len(found) == len(wanted) and all(
        torch.equal(one.values.detach().cpu().double(), other.values.detach().double())
        for one, other in zip(found, wanted, strict=True)
    )


def same_numbers(given: Iterable[ir.Numbers], expected: Iterable[ir.Numbers]) -> None:
    """Raise if a number is not the one that a look-up has there; name the first."""
    for numbers, right in zip(given, expected, strict=False):
        found, wanted = (each.values.cpu().numpy() for each in (numbers, right))
        if found.shape != wanted.shape:
            raise Refusal(f"{numbers.name} has the shape {found.shape}, and in a look-up it has {wanted.shape}.")
        if numbers.denominator != right.denominator:
            raise Refusal(f"{numbers.name} is over {numbers.denominator}, and in a look-up over {right.denominator}.")
        for index in np.argwhere(found != wanted).tolist():
            values = f"{digits(found[tuple(index)])}, and a look-up has {digits(wanted[tuple(index)])} there"
            raise Refusal(f'{numbers.name}{index} is {values}. Take engine="torch".')


def exact_in_any_order(layer: ir.Part) -> bool:
    """Whether a layer's sums over inputs that are 0 or 1 are not rounded: of integers, and not too large ones."""
    assert isinstance(layer, ir.Layer)
    W, b = layer.weight.values, layer.bias.values
    largest = W.abs().sum(dim=1, dtype=torch.float64) + b.abs()
    return not (W % 1).any() and not (b % 1).any() and bool(largest.max() < 1 / torch.finfo(W.dtype).eps)


def infinite(step: int) -> Refusal:
    """What is raised where plain PyTorch multiplies infinity by 0, or almost does."""
    return Refusal(
        f"At step {step + 1}, a number is infinite or almost so, and infinity times 0 is not a number. {VERIFY}"
    )


def refused(network: WCM21, step: int, y: np.ndarray) -> None:
    """Raise if the vector that comes to the heads has a query or key that is not made of bits, or not this step's."""
    layout = network.layout
    begun = f"At step {step + 1}, {{}} is {{}} before the heads"
    for part in (layout.pos1, layout.pos2, layout.pos3, layout.scr3):
        for place in part:
            if y[place] not in (0, 1):
                what = begun.format(layout.name(place), digits(y[place]))
                raise Refusal(f"{what}, and an index works with 0 and 1. {VERIFY}")
    for k, place in enumerate(layout.pos1):
        if y[place] != step >> k & 1:
            what = begun.format(layout.name(place), digits(y[place]))
            raise Refusal(f"{what}, and the number of the column is {step}. {VERIFY}")
    for place in layout.scr3:
        if y[place]:
            raise Refusal(f"{begun.format(layout.name(place), 1)} search. {VERIFY}")


def digits(number: object) -> str:
    """A number with all its digits, and an integer without a decimal point."""
    return str(number).removesuffix(".0")
