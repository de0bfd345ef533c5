"""Many copies of a network side by side: one step of all of them is one call.

Chapter: :doc:`/book/break-restore-train`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from turing.construction import Construction
from turing.runs import Memory, State

__all__ = ["Copies"]


class _Pass(nn.Module):
    """One pass as a function of tensors alone."""

    def __init__(self, network: Construction):
        super().__init__()
        self.network = network

    def forward(
        self, x: Tensor, tape: Tensor | None, memory: Memory, added: Tensor
    ) -> tuple[Memory, dict[str, Tensor]]:
        vectors: dict[str, Tensor] = {}
        state = State(x + added, tape, dict(memory))
        self.network.through(state, vectors.__setitem__)
        return state.memory, vectors


class Copies:
    """Copies of a network that run side by side, each with parameters of its own.

    ``parameters`` has these stacked, by name a tensor ``(copies, …)``, as :func:`turing.study.perturbed` returns them.

    Chapter: :doc:`/book/break-restore-train`.
    """

    def __init__(self, network: Construction, parameters: Mapping[str, Tensor]):
        if network.arithmetic == "exact" or not network.batched or network.loop.state != "column":
            raise TypeError(
                f"Copies run side by side in floats, as columns of a batch; {network.construction} in "
                f"{network.arithmetic} arithmetic does not. Take wcm21 or li24."
            )
        self.network, self.module = network, _Pass(deepcopy(network))  # threads would share its parameters
        self.parameters = {f"network.{name}": numbers for name, numbers in parameters.items()}
        self.size = len(next(iter(parameters.values())))

    def vectors(
        self, words: Sequence[Sequence[str]], passes: int, offset: Tensor | None = None
    ) -> Iterator[dict[str, Tensor]]:
        """For each pass every vector, ``(copies, words, w)``, by the name of the module that it leaves.

        An ``offset``, of that shape, is added to the first column.
        """
        network = self.network
        start = network.start(words)
        added: Any = torch.zeros_like(start.x[0])
        x = start.x.expand(self.size, *start.x.shape)
        x = x if offset is None else x + offset
        memory: Memory = {}
        over = (0, 0, None, 0, None)

        def one(parameters: dict[str, Tensor], x: Tensor, tape: Tensor | None, memory: Memory, added: Tensor) -> Any:
            return functional_call(self.module, parameters, (x, tape, memory, added))

        step = vmap(one, in_dims=over)
        for number in range(1, passes + 1):
            memory, vectors = step(self.parameters, x, start.tape, memory, added)
            yield vectors
            x = next(reversed(vectors.values()))
            added = network.beta(number)
