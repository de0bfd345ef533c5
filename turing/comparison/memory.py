"""The same step in every construction: where each keeps the cell under the head.

Chapter: :doc:`/book/table`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import torch

from turing import arguments
from turing.construction import Construction, Reader

__all__ = ["Kept", "memory"]


class Kept(NamedTuple):
    """After a step of the machine: the passes of the network so far, and where it keeps the symbol under the head.

    Chapter: :doc:`/book/table`.
    """

    passes: int
    places: list[tuple[str, int]] | None


@torch.no_grad()
def memory(network: Construction, word: Iterable[str] = "", max_steps: int = 200) -> list[Kept]:
    """A :class:`Kept` for the start of a run and each step: where the network keeps the cell under the tape head
    (:meth:`turing.construction.Construction.kept`).

    >>> import turing
    >>> net = turing.compile(turing.zoo["balanced_parentheses"], "wcm21", T=16)
    >>> [kept.places for kept in memory(net, "B()E", 4)]
    [[('initial', 0)], [('initial', 1)], [('initial', 2)], [('last', 1)], [('last', 2)]]

    Chapter: :doc:`/book/table`.
    """
    if not isinstance(network, Construction) or network.machine is None:
        raise TypeError(f"What turing.compile returns keeps cells, and {network!r} was given.")
    word, limit = arguments.word(word), arguments.step_limit(max_steps)
    network = network.fitted(word, limit)
    reader = Reader(network, word)
    state = replace(network.start([word]), notes=reader.notes)
    found = [Kept(0, network.kept(state))]
    while reader.running and reader.now.step < limit:
        state = network.step(state)
        (reading,) = network.read(state)
        if reader.enter(reading):
            found.append(Kept(state.passes, network.kept(state)))
    return found
