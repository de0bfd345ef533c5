"""Engines run a compiled network fast: by an index in place of attention, or by machine code made of the weights.

Chapter: :doc:`How fast </book/how-fast>`.
"""

import json
from importlib import resources

from turing.construction import ENGINES
from turing.engine.history import History
from turing.engine.index import Refusal, check_heads
from turing.engine.indexed import Indexed
from turing.engine.native import Native, Program
from turing.engine.runs import IndexedEngine, NativeEngine, run_batch
from turing.engine.stacks import Stacks
from turing.engine.standing import Standing

__all__ = [
    "History",
    "Indexed",
    "IndexedEngine",
    "Native",
    "NativeEngine",
    "Program",
    "Refusal",
    "Stacks",
    "Standing",
    "check_heads",
    "measured",
    "run_batch",
]

ENGINES |= {"indexed": IndexedEngine(), "native": NativeEngine()}


def measured() -> dict:
    """What ``make bench`` measured last, a dictionary: the computer, the date, and the numbers.

    Under ``"rates"`` are steps a second of BB(5), by ``wcm21`` and by the plain interpreter.

    >>> from turing.engine import measured
    >>> rates = measured()["rates"]
    >>> rates["native"] > 100 * rates["indexed"]
    True

    Chapter: :doc:`How fast </book/how-fast>`.
    """
    return json.loads(resources.files("turing.engine").joinpath("measured.json").read_text(encoding="utf-8"))
