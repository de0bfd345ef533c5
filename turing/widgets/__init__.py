"""Widgets of the book, each live in a kernel and alive in a page without one."""

from turing.widgets.predict import Predict
from turing.widgets.stepper import Stepper

__all__ = ["Predict", "Stepper"]
