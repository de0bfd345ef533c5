"""The tape as a row of cells, and a step as a convolution: what cellular automata and the Neural GPU do.

Chapter: :doc:`/book/queue`.
"""

from turing.conv import invariant as invariant  # it is stated there
from turing.conv.network import RowOfCells

__all__ = ["RowOfCells"]
