"""The norm circle."""

from turing.widgets.norm_circle.widget import NormCircle

__all__ = ["NormCircle"]
