"""The lab."""

from turing.widgets.lab.widget import Lab

__all__ = ["Lab"]
