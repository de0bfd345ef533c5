"""The transformer of Li and Wang (2025): the window is the tape, a queue that goes round and round.

Chapter: :doc:`/book/queue`.
"""

from turing.queue import invariant as invariant  # it is stated there
from turing.queue.network import LiWang25
from turing.queue.tokens import Token, step, vocabulary

__all__ = ["LiWang25", "Token", "step", "vocabulary"]
