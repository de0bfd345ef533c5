"""The gate playground."""

from turing.widgets.gate_playground.widget import GatePlayground

__all__ = ["GatePlayground"]
