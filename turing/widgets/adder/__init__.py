"""The adders under the reader's fingers."""

from turing.widgets.adder.widget import Adder

__all__ = ["Adder"]
