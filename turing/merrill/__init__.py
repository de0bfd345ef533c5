"""The transformer of Merrill and Sabharwal (2024). Layer norm turns a cell's number into an address, and the weights
serve runs of any length.

Chapter: :doc:`/book/layer-norm`.
"""

from turing.merrill.network import Merrill24

__all__ = ["Merrill24"]
