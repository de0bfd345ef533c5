"""Turing machines compiled into the weights of neural networks, with no training.

>>> import turing
>>> m = turing.zoo["balanced_parentheses"]
>>> m.run("B()E").state
'T'
"""

from turing._version import __version__
from turing.check import check
from turing.machine import Configuration, Run, TuringMachine
from turing.pictures import space_time, state_diagram
from turing.source import source
from turing.zoo import zoo

__all__ = [
    "Configuration",
    "Run",
    "TuringMachine",
    "check",
    "source",
    "space_time",
    "state_diagram",
    "zoo",
    "__version__",
]
