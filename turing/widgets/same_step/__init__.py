"""The same step in every construction."""

from turing.widgets.same_step.widget import SameStep

__all__ = ["SameStep"]
