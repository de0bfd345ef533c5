"""From bare weights to the machine, also if the network is in disguise or damaged.

Chapter: :doc:`/book/reading-back`.
"""

from turing.decompiler.certify import Match as Match
from turing.decompiler.certify import Product as Product
from turing.decompiler.certify import invariants
from turing.decompiler.certify import matched as matched
from turing.decompiler.damages import DAMAGES as DAMAGES
from turing.decompiler.damages import damage
from turing.decompiler.disguises import DISGUISES as DISGUISES
from turing.decompiler.disguises import Basis as Basis
from turing.decompiler.disguises import Disguised, disguise
from turing.decompiler.disguises import in_bases as in_bases
from turing.decompiler.disguises import spaces as spaces
from turing.decompiler.found import Change as Change
from turing.decompiler.found import Found, Repaired, decompile, repair
from turing.decompiler.names import Renaming as Renaming
from turing.decompiler.names import renaming
from turing.decompiler.reading import Weight as Weight
from turing.decompiler.tensors import Bare, Refusal, bare
from turing.decompiler.tensors import Head as Head
from turing.decompiler.tensors import Map as Map

__all__ = [
    "Bare",
    "Disguised",
    "Found",
    "Refusal",
    "Repaired",
    "bare",
    "damage",
    "decompile",
    "disguise",
    "invariants",
    "renaming",
    "repair",
]
