"""Space–time diagrams and state diagrams, and charts by matplotlib, all as SVG.

A notebook shows a picture when it is the last expression of a cell. On the pages of the book its colours follow the
page, light or dark; anywhere else they are the light ones.

Chapter: :doc:`/book/machines`.
"""

from turing.pictures.base import Picture
from turing.pictures.charts import chart
from turing.pictures.states import state_diagram
from turing.pictures.tape import space_time

__all__ = ["Picture", "chart", "space_time", "state_diagram"]
