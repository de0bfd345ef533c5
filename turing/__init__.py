"""Turing machines compiled into the weights of neural networks, with no training.

>>> import turing
>>> m = turing.zoo["balanced_parentheses"]
>>> m.run("B()E").state
'T'
"""

from importlib import import_module

from turing._version import __version__
from turing.check import check
from turing.compiler import compile
from turing.corpus import corpus
from turing.equations import show
from turing.files import load, save
from turing.hinton import draw
from turing.layout import Layout
from turing.machine import Configuration, Run, TuringMachine
from turing.pictures import space_time, state_diagram
from turing.source import source
from turing.verification import verify
from turing.zoo import zoo

__all__ = [
    "Configuration",
    "Layout",
    "Run",
    "TuringMachine",
    "check",
    "compile",
    "corpus",
    "draw",
    "load",
    "save",
    "show",
    "source",
    "space_time",
    "state_diagram",
    "verify",
    "zoo",
    "__version__",
]

# Modules that need torch come when they are asked for: turing.gates.AND(2) works after ``import turing`` alone.
LATER = {"adders", "attention", "cantor", "dnf", "engine", "gates", "ss", "stack", "wcm"}


def __getattr__(name: str):
    if name in LATER:
        return import_module(f"turing.{name}")
    if name == "CapacityError":
        return import_module("turing.wcm").CapacityError
    raise AttributeError(f"module 'turing' has no attribute {name!r}")
