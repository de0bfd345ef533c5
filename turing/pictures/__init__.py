"""Space–time diagrams and state diagrams, drawn as SVG with nothing but Python, and charts by matplotlib.

Colours are CSS variables with a light fallback, so one picture serves light, dark and print.

Chapter: :doc:`/book/machines`.
"""

from turing.pictures.base import Picture
from turing.pictures.charts import chart
from turing.pictures.states import state_diagram
from turing.pictures.tape import space_time

__all__ = ["Picture", "chart", "space_time", "state_diagram"]
