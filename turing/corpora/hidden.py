"""A transformer in another basis: the same network, and nothing to read off the axes."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

import torch
from torch import Tensor

from turing.attention import Attention
from turing.corpora.labels import labels_of
from turing.layout import Layout
from turing.wcm import WCM21, Reading

__all__ = ["Hidden"]


class Hidden(WCM21):
    """What ``hide=True`` gives: a network whose vectors have their places in another order, each vector in its own.

    Rows and columns of all weights are permuted to match, so a run is the same run. The heads add to the vector that
    they read, so that one keeps its order from the first head to the last. ``labels`` has the names in the new order,
    and under ``unhide`` what restores the old one: ``vector[..., unhide[name]]``.

    Chapter: :doc:`/book/research`.
    """

    construction = "wcm21 with a hidden basis"

    def __init__(self, network: WCM21, seed: int | str):
        super().__init__(network.machine, **network.options)
        self.to(next(network.parameters()))
        plain, random = labels_of(network), Random(f"{seed}/hide")
        orders: dict[str, list[int]] = {}
        for name, places in plain["vectors"].items():
            same = next((other for other in orders if plain["vectors"][other] is places), None)
            orders[name] = orders[same] if same else _shuffled(random, len(places))
        with torch.no_grad():
            own = self.state_dict()
            for name, numbers in network.state_dict().items():
                for axis, vector in enumerate(plain["axes"][name]):
                    numbers = numbers.index_select(axis, torch.tensor(orders[vector], device=numbers.device))
                own[name].copy_(numbers)
        self.labels = plain | {
            "vectors": {name: [places[i] for i in orders[name]] for name, places in plain["vectors"].items()},
            "unhide": {name: _inverse(order) for name, order in orders.items()},
        }
        self.orders = orders
        self._plain = (network,)  # in a tuple, so that its weights are not ours
        self.layout = self.layout_of("column")
        for name, module in self.pipeline.items():
            self._name(name, module)

    def _name(self, name: str, module: Any) -> None:
        """Give a module the names of its places as they are now, for turing.show and the like."""
        if isinstance(module, Attention):
            module.layout = self.layout_of(name)
            return
        vectors = [vector for key, vector in self.labels["axes"].items() if key.startswith(f"pipeline.{name}.")]
        weights = [pair for pair in vectors if len(pair) == 2]
        module.layouts = [self.layout_of(vector) for vector in (weights[0][1], *(pair[0] for pair in weights))]

    def layout_of(self, name: str) -> Layout:
        """The names of the places in a vector, in the order that they have here: each is a slice of its own."""
        return Layout(**dict.fromkeys(self.labels["vectors"][name], 1))

    def encode(self, word: Iterable[str]) -> Tensor:
        """The word, in the order of the vectors that the heads see."""
        return self._plain[0].encode(word)[..., self.orders["tape"]].to(self._like)

    def initial(self, word: Iterable[str]) -> Tensor:
        """The first column, in the order of columns."""
        return self._plain[0].initial(word)[..., self.orders["column"]].to(self._like)

    def beta(self, step: int) -> Tensor:
        """The step embedding, in the order of columns."""
        return self._plain[0].beta(step)[..., self.orders["column"]].to(self._like)

    def read_columns(self, columns: Tensor) -> list[Reading]:
        """What columns stand for."""
        return self._plain[0].read_columns(columns[..., self.labels["unhide"]["column"]])

    def detectors(self) -> list[dict[str, Any]]:
        """Those of the plain network: places have kept their names."""
        return self.labels["rules"]


def _shuffled(random: Random, n: int) -> list[int]:
    return sorted(range(n), key=[random.random() for _ in range(n)].__getitem__)


def _inverse(order: list[int]) -> list[int]:
    return sorted(range(len(order)), key=order.__getitem__)
