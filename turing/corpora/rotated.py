"""A transformer whose streams are rotated: the same runs, and no place that stands for one thing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random
from typing import Any

import torch
from torch import Tensor

from turing import ir
from turing.attention import Attention
from turing.construction import Expectation
from turing.corpora.labels import labels_of
from turing.layout import Layout
from turing.machine import TuringMachine
from turing.wcm import WCM21, Reading

__all__ = ["Rotated"]


class Rotated(WCM21):
    """What ``hide="orthogonal"`` gives: a network with an orthogonal matrix on every vector that no ReLU has made.

    These are the columns, the vector that the heads read and write, and the inside of each head; what leaves a ReLU
    stays as it is, since a ReLU sees the axes.

    All weights are multiplied to match, so a run is the same run, in float64 up to rounding, which the restoring layers
    take away. ``rotations`` has the matrix Q of each vector by name: what was x is Qx here.

    Chapter: :doc:`/book/research`.
    """

    construction = "wcm21 with a rotated basis"

    def __init__(self, network: WCM21, seed: int | str):
        if network.options["adder"] != "lookahead" or not network.options.get("restoring"):
            raise ValueError(
                'A rotated basis needs adder="lookahead" and restoring=True: ripple adders have no stream.'
            )
        super().__init__(network.machine, **network.options)
        network = network.double()
        self.double()
        plain, random = labels_of(network), Random(f"{seed}/rotate")
        made_by_relu = _after_relu(network.ir())
        self.rotations: dict[str, Tensor] = {}
        for name, places in plain["vectors"].items():
            same = next((other for other in self.rotations if plain["vectors"][other] is places), None)
            if same:
                self.rotations[name] = self.rotations[same]
            elif name not in made_by_relu:
                self.rotations[name] = _orthogonal(random, len(places))
        with torch.no_grad():
            own = self.state_dict()
            for name, numbers in network.state_dict().items():
                for axis, vector in enumerate(plain["axes"][name]):
                    if vector in self.rotations:
                        numbers = torch.tensordot(self.rotations[vector], numbers.movedim(axis, 0), 1).movedim(0, axis)
                own[name].copy_(numbers)
        self._plain = (network,)  # in a tuple, so that its weights are not ours
        self.labels = {key: plain[key] for key in ("slices", "rules", "heads")}
        for module in self.pipeline.values():
            if isinstance(module, Attention):
                module.layout = Layout(x=network.layout.width)
            else:
                layouts: list[Layout] = module.layouts  # type: ignore[assignment]  # every other module has them
                module.layouts = [Layout(x=layout.width) for layout in layouts]  # type: ignore[assignment]  # as above

    def layout_of(self, name: str) -> Layout:
        """Places that have no names: a slice ``x`` as wide as the vector."""
        return Layout(x=self._plain[0].layout_of(name).width)

    def encode(self, word: Iterable[str]) -> Tensor:
        """The word, rotated as the vectors that the heads see."""
        return self._plain[0].encode(word) @ self.rotations["tape"].T

    def initial(self, word: Iterable[str]) -> Tensor:
        """The first column, rotated."""
        return self.rotations["column"] @ self._plain[0].initial(word)

    def beta(self, step: int) -> Tensor:
        """The step embedding, rotated."""
        return self.rotations["column"] @ self._plain[0].beta(step)

    def read_columns(self, columns: Tensor) -> list[Reading]:
        """What columns stand for."""
        return self._plain[0].read_columns(columns @ self.rotations["column"])

    def expected(
        self, machine: TuringMachine, word: Iterable[str], max_steps: int | None = None
    ) -> Iterator[Expectation]:
        """Nothing: places have no names here. Rotate vectors back, with ``rotations``, and compare those."""
        raise TypeError("The places of a rotated network have no names to be compared by. Rotate its vectors back.")

    def detectors(self) -> list[dict[str, Any]]:
        """Those of the plain network: what leaves a ReLU is not rotated."""
        return self._plain[0].detectors()


def _after_relu(network: ir.Network) -> set[str]:
    """The names of the vectors that leave a ReLU."""
    found = set()
    for module in network.modules:
        for number, part in enumerate(module.parts, start=1):
            last = number == len(module.parts)
            if isinstance(part, ir.Layer) and part.relu:
                found.add(module.name if last else f"{module.name}.{part.name.rpartition('.')[2]}")
    return found


def _orthogonal(random: Random, n: int) -> Tensor:
    """A product of n random reflections: no axis is left where it was."""
    found = torch.eye(n, dtype=torch.float64)
    for _ in range(n):
        v = torch.tensor([random.random() - 0.5 for _ in range(n)], dtype=torch.float64)
        found -= torch.outer(found @ v, v) * (2 / v.dot(v))
    return found
