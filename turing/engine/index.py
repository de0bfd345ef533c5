"""When attention is a look-up: the heads of a network, checked weight by weight.

Chapter: :doc:`/book/08_fast`.
"""

from __future__ import annotations

import torch
from torch import nn

from turing.attention import Attention
from turing.wcm import WCM21

__all__ = ["Refusal", "check_heads"]


class Refusal(ValueError):
    """An engine cannot run this network exactly, and says which weight stands against it.

    Chapter: :doc:`/book/08_fast`.
    """


def check_heads(network: WCM21) -> None:
    """Raise unless every head compares bits and fetches a part of what fits, as it was built.

    Then a match scores ½ more than the null key, and the null key ½ more than any other column: the index is exact.

    Chapter: :doc:`/book/08_fast`.
    """
    try:
        network.check()
    except ValueError as error:
        raise Refusal(str(error)) from None
    for name, head in network.pipeline.items():
        if not isinstance(head, Attention):
            continue
        if head.average != "ratio":
            raise Refusal(
                f"The head {name} takes its average as {head.average!r}, which is not exact where columns tie. "
                f'Compile with average="ratio", or take engine="torch".'
            )
        built = _again(network, name).state_dict()
        for weight, numbers in head.state_dict().items():
            wrong = ~(numbers.cpu() == built[weight].to(numbers.dtype))
            if wrong.any():
                place = wrong.nonzero()[0].tolist()
                raise Refusal(
                    f"pipeline.{name}.{weight}{place} is {numbers[tuple(place)].item():g}, and a look-up has "
                    f'{built[weight][tuple(place)].item():g} there. Take engine="torch".'
                )


def _again(network: WCM21, name: str) -> nn.Module:
    """The head as it is when it is built."""
    kind, options = type(network.pipeline[name]), {key: network.options[key] for key in ("kappa", "average")}
    arguments = [int(name.removeprefix("search"))] if name.startswith("search") else []
    with torch.device("cpu"):
        return kind(network.layout, *arguments, **options)
