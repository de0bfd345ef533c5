"""What a network's numbers say: as equations, as Hinton squares, as wires, and as a picture of its architecture.

Chapter: :doc:`/book/gates`.
"""

from turing.views.diagram import architecture
from turing.views.drawings import draw
from turing.views.equations import Equations, Line, show
from turing.views.wiring import wires

__all__ = ["Equations", "Line", "architecture", "draw", "show", "wires"]
