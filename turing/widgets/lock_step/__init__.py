"""A machine and its transformer in lock step."""

from turing.widgets.lock_step.widget import LockStep

__all__ = ["LockStep"]
