"""Engines that run a WCM21 network fast, and exactly: an index in place of attention, and a compiled loop.

Chapter: :doc:`/book/08_fast`.
"""

import json
from importlib import resources

from turing.engine.index import Refusal, check_heads
from turing.engine.indexed import Indexed
from turing.engine.native import Native, Program
from turing.engine.runs import run, run_batch, trace, vectors

__all__ = ["Indexed", "Native", "Program", "Refusal", "check_heads", "measured", "run", "run_batch", "trace", "vectors"]


def measured() -> dict:
    """What ``make bench`` measured when it was run last: the machine, the date and the numbers.

    Chapter: :doc:`/book/08_fast`.
    """
    return json.loads(resources.files("turing.engine").joinpath("measured.json").read_text(encoding="utf-8"))
