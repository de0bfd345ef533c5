"""The circuit tape: a circuit evaluated token by token, with two arcs back to the inputs of each gate."""

from turing.widgets.circuit_tape.widget import CircuitTape

__all__ = ["CircuitTape"]
