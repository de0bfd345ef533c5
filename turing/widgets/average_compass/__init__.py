"""The average compass."""

from turing.widgets.average_compass.widget import AverageCompass

__all__ = ["AverageCompass"]
