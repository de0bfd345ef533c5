"""The queue wheel."""

from turing.widgets.queue_wheel.widget import QueueWheel

__all__ = ["QueueWheel"]
