"""The decoder of Bhattamishra, Patel and Goyal (2020): the network of Siegelmann and Sontag inside a transformer, which
reads its word bit by bit.

Chapter: :doc:`/book/averages`.
"""

from turing.bhattamishra.network import Bhattamishra20
from turing.bhattamishra.stacks import ReadingStacks

__all__ = ["Bhattamishra20", "ReadingStacks"]
