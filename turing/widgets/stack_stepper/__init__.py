"""The SS95 stepper."""

from turing.widgets.stack_stepper.widget import StackStepper

__all__ = ["StackStepper"]
