"""The transformer of Li and Wang (2025). It sees a window of s tokens, one for each cell of the tape, and goes round
and round in it.

Chapter: :doc:`/book/queue`.
"""

from turing.queue import invariant as invariant  # it is stated there
from turing.queue.network import LiWang25
from turing.queue.tokens import Token, step, vocabulary

__all__ = ["LiWang25", "Token", "step", "vocabulary"]
