"""Engines that run a WCM21 network fast, and exactly: an index in place of attention, and a compiled loop.

Chapter: :doc:`/book/08_fast`.
"""

from turing.engine.index import Refusal, check_heads
from turing.engine.indexed import Indexed
from turing.engine.native import Native, Program
from turing.engine.runs import run, run_batch, trace, vectors

__all__ = ["Indexed", "Native", "Program", "Refusal", "check_heads", "run", "run_batch", "trace", "vectors"]
