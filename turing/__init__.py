"""Turing machines compiled into the weights of neural networks, with no training.

>>> import turing
>>> m = turing.zoo["balanced_parentheses"]
>>> m.run("B()E").state
'T'
"""

from importlib import import_module

from turing._version import __version__
from turing.check import check
from turing.equations import show
from turing.hinton import draw
from turing.layout import Layout
from turing.machine import Configuration, Run, TuringMachine
from turing.network import load, save
from turing.pictures import space_time, state_diagram
from turing.source import source
from turing.zoo import zoo

__all__ = [
    "Configuration",
    "Layout",
    "Run",
    "TuringMachine",
    "check",
    "draw",
    "load",
    "save",
    "show",
    "source",
    "space_time",
    "state_diagram",
    "zoo",
    "__version__",
]

# Modules that need torch come when they are asked for: turing.gates.AND(2) works after ``import turing`` alone.
LATER = {"adders", "dnf", "gates"}


def __getattr__(name: str):
    if name in LATER:
        return import_module(f"turing.{name}")
    raise AttributeError(f"module 'turing' has no attribute {name!r}")
