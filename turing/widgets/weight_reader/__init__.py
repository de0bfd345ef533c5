"""The weight reader."""

from turing.widgets.weight_reader.widget import WeightReader

__all__ = ["WeightReader"]
