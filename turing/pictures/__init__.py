"""Space–time diagrams and state diagrams, drawn as SVG with nothing but Python.

Colours are CSS variables with a light fallback, so one picture serves light, dark and print.

Chapter: :doc:`/book/machines`.
"""

from turing.pictures.base import Picture
from turing.pictures.states import state_diagram
from turing.pictures.tape import space_time

__all__ = ["Picture", "space_time", "state_diagram"]
