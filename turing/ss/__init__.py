"""The recurrent network of Siegelmann and Sontag (1992, 1995), section 6 of the paper: the tape is two stacks, one for
each side of the head, and a stack is one number.

Chapter: :doc:`/book/ss95`.
"""

from turing.ss import invariant as invariant  # it says what is proved of them
from turing.ss.network import Guard, StackNetwork
from turing.ss.simulator import Description, Simulator
from turing.ss.turing_machine import SS95, SS95RealTime

__all__ = ["SS95", "Description", "Guard", "SS95RealTime", "Simulator", "StackNetwork"]
