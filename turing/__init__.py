"""Turing machines compiled into the weights of neural networks, with no training.

>>> import turing
>>> m = turing.zoo["balanced_parentheses"]
>>> m.run("B()E").state
'T'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from turing._version import __version__
from turing.corpora import corpus
from turing.exercises import check
from turing.files import load, save
from turing.layout import Layout
from turing.listings import source
from turing.machine import Configuration, Run, TuringMachine
from turing.pictures import space_time, state_diagram
from turing.verification import verify
from turing.views.diagram import architecture
from turing.views.drawings import draw
from turing.views.equations import show
from turing.views.wiring import wires
from turing.zoo import zoo

if TYPE_CHECKING:  # what __getattr__ gives
    from turing import adders as adders
    from turing import attention as attention
    from turing import cantor as cantor
    from turing import circuits as circuits
    from turing import conv as conv
    from turing import decompiler as decompiler
    from turing import dnf as dnf
    from turing import engine as engine
    from turing import gates as gates
    from turing import merrill as merrill
    from turing import perez as perez
    from turing import queue as queue
    from turing import ss as ss
    from turing import stack_machine as stack_machine
    from turing import wcm as wcm
    from turing.construction import Construction as Construction
    from turing.construction import compile as compile
    from turing.construction import constructions as constructions
    from turing.construction import register as register
    from turing.decompiler import bare as bare
    from turing.decompiler import decompile as decompile
    from turing.decompiler import repair as repair
    from turing.precision import PrecisionError as PrecisionError
    from turing.proof import prove as prove
    from turing.wcm import CapacityError as CapacityError

__all__ = [
    "Configuration",
    "Layout",
    "Run",
    "TuringMachine",
    "architecture",
    "bare",
    "check",
    "compile",
    "corpus",
    "decompile",
    "draw",
    "load",
    "prove",
    "repair",
    "save",
    "show",
    "source",
    "space_time",
    "state_diagram",
    "verify",
    "wires",
    "zoo",
    "__version__",
]

# What needs torch comes when it is asked for: turing.gates.AND(2) works after ``import turing`` alone.
LAZY = dict.fromkeys(("adders", "attention", "cantor", "circuits", "conv", "decompiler", "dnf"), "")
LAZY |= dict.fromkeys(("engine", "gates", "merrill", "perez", "queue", "ss", "stack_machine", "wcm"), "")
LAZY |= dict.fromkeys(("Construction", "compile", "constructions", "register"), "construction")
LAZY |= dict.fromkeys(("bare", "decompile", "repair"), "decompiler")
LAZY |= {"CapacityError": "wcm", "PrecisionError": "precision", "prove": "proof"}


def import_chapters() -> None:
    """Import every chapter that registers constructions or engines. Only the package knows them all."""
    from turing import bhattamishra, circuits, conv, engine, merrill, perez, queue, ss, wcm  # noqa: F401


if not TYPE_CHECKING:  # a type checker would believe that every name exists

    def __getattr__(name: str) -> Any:
        if name not in LAZY:
            raise AttributeError(f"module 'turing' has no attribute {name!r}")
        if module := LAZY[name]:
            return getattr(import_module(f"turing.{module}"), name)
        return import_module(f"turing.{name}")
