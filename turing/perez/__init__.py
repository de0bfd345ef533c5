"""The transformer of Pérez, Barceló and Marinković (2021). The tape head's cell is an average of moves, and the weights
serve runs of any length.

Chapter: :doc:`/book/averages`.
"""

from turing.perez.network import Perez21
from turing.perez.normal_form import NormalForm

__all__ = ["NormalForm", "Perez21"]
