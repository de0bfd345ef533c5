"""When attention is a look-up: the heads of a network, checked weight by weight.

Chapter: :doc:`/book/08_fast`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from torch import nn

from turing.attention import Attention
from turing.gates import Layer, Readout
from turing.layout import state_vector
from turing.wcm import WCM21
from turing.wcm.pipeline import BinarySearchStep, GetInitialSymbol, GetLastWrittenSymbol, IndicateVisitedPosition

__all__ = ["Refusal", "check_heads"]

HEADS = {"visited": IndicateVisitedPosition, "last": GetLastWrittenSymbol, "initial": GetInitialSymbol}


class Refusal(ArithmeticError):
    """An index cannot answer for the heads of this network, and here is why.

    Chapter: :doc:`/book/08_fast`.
    """


def check_heads(network: WCM21, types: Collection[str] = ("float32", "float64")) -> None:
    """Raise unless every head compares bits and fetches a part of the column that fits, as it was built to.

    Then a match scores ½ more than the null key, and the null key ½ more than any other column: a look-up in an index
    gives what the average over all columns gives, exactly.

    Chapter: :doc:`/book/08_fast`.
    """
    dtype = str(next(network.parameters()).dtype).removeprefix("torch.")
    if dtype not in types:
        raise Refusal(f'An index works in {" and ".join(types)}, and this network is of {dtype}. Take engine="torch".')
    try:
        network.check()
    except ValueError as error:
        raise Refusal(str(error)) from None
    places = [k for k, module in enumerate(network.pipeline.values()) if isinstance(module, Attention)]
    heads = list(network.pipeline)[min(places, default=0) : max(places, default=-1) + 1]
    searches = [f"search{j}" for j in reversed(range(network.bits))]
    if heads != ["visited", *searches, "last", "initial"]:
        raise Refusal(f'An index is for all heads of wcm21, and here are {" ".join(heads)}. Take engine="torch".')
    if network.layout.names() != state_vector(network.machine, network.bits).names():
        raise Refusal('The places of a column are in an order of their own here. Take engine="torch".')
    width = network.layout.width
    for name, module in network.pipeline.items():
        for part, numbers in module.named_parameters():
            if str(numbers.dtype) != f"torch.{dtype}":
                raise Refusal(f"pipeline.{name}.{part} is of {numbers.dtype}, and the network of torch.{dtype}.")
            if not numbers.isfinite().all():
                raise Refusal(f"pipeline.{name}.{part} has a number that is infinite or none. Build the network again.")
        for part, inner in module.named_modules(prefix=f"pipeline.{name}"):
            if inner._forward_hooks or inner._forward_pre_hooks:
                raise Refusal(f'{part} has a hook, which an engine would not call. Remove it, or take engine="torch".')
        if isinstance(module, Attention):
            _check_head(network, name, module)
        width = _width(network, name, width)


def _width(network: WCM21, name: str, width: int) -> int:
    """The width of the vectors that leave a module; those that come to it have another one."""
    for layer in flat(network.pipeline[name]):
        if layer.weight.shape[1] != width:
            raise Refusal(f"pipeline.{name} has a layer for {layer.weight.shape[1]} numbers, and {width} come to it.")
        width = len(layer.weight)
    if width != (named := network.layout_of(name).width):
        raise Refusal(f"{width} numbers leave pipeline.{name}, and its layout has names for {named}.")
    return width


def _check_head(network: WCM21, name: str, head: Attention) -> None:
    if head.average != "ratio":
        raise Refusal(
            f"The head {name} takes its average as {head.average!r}, which is not exact where columns tie. "
            f'Compile with average="ratio", or take engine="torch".'
        )
    arguments = [int(name.removeprefix("search"))] if name.startswith("search") else []
    built = HEADS.get(name, BinarySearchStep)(network.layout, *arguments)
    for (part, given), other in zip(head.named_modules(prefix=f"pipeline.{name}"), built.modules(), strict=False):
        if type(given) is not type(other):
            kinds = f"{type(given).__name__}, and the head of a look-up has {type(other).__name__}"
            raise Refusal(f'{part} is of class {kinds} there. Take engine="torch".')
    for part, expected in built.state_dict().items():
        numbers, expected = (x.detach().cpu().numpy() for x in (head.get_parameter(part), expected))
        if numbers.shape != expected.shape:
            raise Refusal(f"pipeline.{name}.{part} is of shape {numbers.shape}, and of {expected.shape} in a look-up.")
        if (numbers != expected).any():
            place = np.argwhere(numbers != expected)[0].tolist()
            raise Refusal(
                f"pipeline.{name}.{part}{place} is {digits(numbers[tuple(place)])}, and a look-up has "
                f'{digits(expected[tuple(place)])} there. Take engine="torch".'
            )


def infinite(step: int) -> Refusal:
    """What is raised where plain PyTorch would multiply infinity by 0, or is close to it."""
    return Refusal(
        f"At step {step + 1}, a number is infinite or almost so, and infinity times 0 is no number. "
        f'Take engine="torch"; turing.verify tells where it begins.'
    )


def refused(network: WCM21, step: int, y: np.ndarray) -> None:
    """Raise if the vector that comes to the heads has a query or key that is not made of bits, or not this step's."""
    layout = network.layout
    for part in (layout.pos1, layout.pos2, layout.pos3, layout.scr3):
        for place in part:
            if y[place] not in (0, 1):
                raise Refusal(
                    f"At step {step + 1}, {layout.name(place)} is {digits(y[place])} before the heads, and an index is "
                    f'for 0 and 1. Take engine="torch"; turing.verify tells where it begins.'
                )
    for k, place in enumerate(layout.pos1):
        if y[place] != step >> k & 1:
            raise Refusal(
                f"At step {step + 1}, {layout.name(place)} is {digits(y[place])} before the heads, and the number of "
                f'the column is {step}. Take engine="torch"; turing.verify tells where it begins.'
            )
    for place in layout.scr3:
        if y[place]:
            raise Refusal(
                f"At step {step + 1}, {layout.name(place)} is 1 before the heads search. "
                f'Take engine="torch"; turing.verify tells where it begins.'
            )


def digits(number: object) -> str:
    """A number, with as many digits as tell it from its neighbours."""
    return str(number).removesuffix(".0")


def flat(module: Any) -> list[Readout]:
    """The layers of a module, one after the other."""
    if isinstance(module, Attention):
        return []
    computes = getattr(module.forward, "__func__", None)
    if computes is nn.Sequential.forward:
        return [layer for part in module for layer in flat(part)]
    if computes not in (Readout.forward, Layer.forward):
        raise Refusal(
            f"{type(module).__name__} has a forward of its own, and an engine computes a Layer, a Readout or a row of "
            f'them. Take engine="torch".'
        )
    return [module]
