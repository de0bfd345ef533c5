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
    """After a step of the machine: ``passes``, those of the network so far, and ``places``, where it keeps the symbol
    under the tape head.

    ``places`` is a list of pairs: ``("column", place)`` for a place of the newest column, ``("cells", cell)`` for a
    cell of a row of cells, or the name of an attention head with the number, from 0, of the row that it looks at. It is
    empty if the cell is blank and new, and None if the construction does not say.

    Chapter: :doc:`/book/table`.
    """

    passes: int
    places: list[tuple[str, int]] | None


@torch.no_grad()
def memory(network: Construction, word: Iterable[str] = "", max_steps: int = 200) -> list[Kept]:
    """Where a network keeps the cell under the tape head: a list with a :class:`Kept` for the start of a run and for
    each step.

    Below, the head ``initial`` looks at rows 0, 1 and 2 of the word, and the head ``last`` then at columns 1 and 2.

    >>> import turing
    >>> from turing.comparison import memory
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
