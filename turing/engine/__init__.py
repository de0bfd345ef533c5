"""Engines that run a WCM21 network fast, and exactly: an index in place of attention, and a compiled loop.

They are chosen by name: ``network.run(word, engine="native")``.

Chapter: :doc:`/book/how-fast`.
"""

import json
from importlib import resources

from turing.construction import ENGINES
from turing.engine.index import Refusal, check_heads
from turing.engine.indexed import Indexed
from turing.engine.native import Native, Program
from turing.engine.runs import IndexedEngine, NativeEngine, run_batch

__all__ = [
    "Indexed",
    "IndexedEngine",
    "Native",
    "NativeEngine",
    "Program",
    "Refusal",
    "check_heads",
    "measured",
    "run_batch",
]

ENGINES |= {"indexed": IndexedEngine(), "native": NativeEngine()}


def measured() -> dict:
    """What ``make bench`` measured when it was run last: the machine, the date and the numbers.

    Chapter: :doc:`/book/how-fast`.
    """
    return json.loads(resources.files("turing.engine").joinpath("measured.json").read_text(encoding="utf-8"))
