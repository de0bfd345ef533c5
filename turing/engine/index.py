"""When attention is a look-up: the heads of a network, checked weight by weight.

Chapter: :doc:`/book/08_fast`.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import torch
from torch import nn

from turing.attention import Attention
from turing.gates import Readout
from turing.wcm import WCM21

__all__ = ["Refusal", "check_heads"]


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
    for name, module in network.pipeline.items():
        for part, numbers in module.named_parameters():
            if not numbers.isfinite().all():
                raise Refusal(f"pipeline.{name}.{part} has a number that is infinite or none. Build the network again.")
        if isinstance(module, Attention):
            _check_head(network, name, module)


def _check_head(network: WCM21, name: str, head: Attention) -> None:
    if head.average != "ratio":
        raise Refusal(
            f"The head {name} takes its average as {head.average!r}, which is not exact where columns tie. "
            f'Compile with average="ratio", or take engine="torch".'
        )
    arguments = [int(name.removeprefix("search"))] if name.startswith("search") else []
    built = type(head)(network.layout, *arguments).state_dict()
    for part, numbers in head.state_dict().items():
        if not torch.equal(numbers, built[part].to(numbers)):
            place = (numbers != built[part].to(numbers)).nonzero()[0].tolist()
            raise Refusal(
                f"pipeline.{name}.{part}{place} is {numbers[tuple(place)].item():g}, and a look-up has "
                f'{built[part][tuple(place)].item():g} there. Take engine="torch".'
            )


def refused(network: WCM21, step: int, y: np.ndarray) -> None:
    """Raise if the vector that comes to the heads has a query or key that is not made of bits, or not this step's."""
    layout = network.layout
    for part in (layout.pos1, layout.pos2, layout.pos3, layout.scr3):
        for place in part:
            if y[place] not in (0, 1):
                raise Refusal(
                    f"At step {step + 1}, {layout.name(place)} is {y[place]:g} before the heads, and an index is for "
                    f'0 and 1. Take engine="torch"; turing.verify tells where it begins.'
                )
    for k, place in enumerate(layout.pos1):
        if y[place] != step >> k & 1:
            raise Refusal(
                f"At step {step + 1}, {layout.name(place)} is {y[place]:g} before the heads, and the number of the "
                f'column is {step}. Take engine="torch"; turing.verify tells where it begins.'
            )
    for place in layout.scr3:
        if y[place]:
            raise Refusal(
                f"At step {step + 1}, {layout.name(place)} is 1 before the heads search. "
                f'Take engine="torch"; turing.verify tells where it begins.'
            )


def flat(module: nn.Module) -> list[Readout]:
    """The layers of a module, one after the other."""
    return [module] if isinstance(module, Readout) else [] if isinstance(module, Attention) else list(module)
