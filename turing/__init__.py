"""Turing machines compiled into the weights of neural networks, with no training.

>>> import turing
>>> m = turing.zoo["balanced_parentheses"]
>>> m.run("B()E").state
'T'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:  # what __getattr__ gives
    from turing import adders as adders
    from turing import attention as attention
    from turing import cantor as cantor
    from turing import dnf as dnf
    from turing import engine as engine
    from turing import gates as gates
    from turing import ss as ss
    from turing import stack as stack
    from turing import wcm as wcm
    from turing.wcm import CapacityError as CapacityError

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


if not TYPE_CHECKING:  # a type checker would believe that every name exists

    def __getattr__(name: str) -> Any:
        if name in LATER:
            return import_module(f"turing.{name}")
        if name == "CapacityError":
            return import_module("turing.wcm").CapacityError
        raise AttributeError(f"module 'turing' has no attribute {name!r}")
