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
    """What ``make bench``, the benchmark in the repository, measured last. The result is a dictionary; its keys:

    - ``machine`` and ``date``: on which computer, and when
    - ``rates``: steps a second of BB(5), for each engine with ``wcm21``, and for the plain interpreter
    - ``machines``: for each of some machines, the steps a second of the interpreter and of ``native``
    - ``by_step``: for each engine, pairs of a step and the microseconds that it takes
    - ``memory``: megabytes of a ``native`` run, in pairs with its steps or with its cells
    - ``batch``: pairs of how many runs were made at once, and the steps a second of all together
    - ``sweep``: steps a second of many machines, by the interpreter and by :func:`run_batch`
    - ``cold``: seconds of a process that imports torch, and of one that makes a first ``native`` run
    - ``compile``: T, and the seconds to compile with the adder ``"ripple"`` and with ``"lookahead"``
    - ``bb5``: how the whole run of BB(5) ended, how long it took, and how much memory
    - ``constructions``: seconds to compile one machine and to run it, for each construction

    >>> from turing.engine import measured
    >>> found = measured()
    >>> found["bb5"]["steps"], found["bb5"]["ones"]
    (47176870, 4098)
    >>> found["rates"]["native"] > 100 * found["rates"]["indexed"]
    True

    Chapter: :doc:`How fast </book/how-fast>`.
    """
    return json.loads(resources.files("turing.engine").joinpath("measured.json").read_text(encoding="utf-8"))
