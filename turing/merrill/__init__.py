"""The transformer of Merrill and Sabharwal (2024): layer norm turns a cell's number into an address.

Chapter: :doc:`/book/layer-norm`.
"""

from turing.merrill.network import Merrill24

__all__ = ["Merrill24"]
