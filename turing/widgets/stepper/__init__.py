"""The tape stepper."""

from turing.widgets.stepper.widget import Stepper

__all__ = ["Stepper"]
