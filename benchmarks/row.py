"""A measurement with its threshold, and how a time is taken."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

RATES: dict[str, float] = {}  # steps a second of BB(5), of all that was measured


@dataclass(frozen=True)
class Row:
    """A ratio with its threshold, from above or from below."""

    name: str
    ratio: float
    at_most: float = float("inf")
    at_least: float = 0.0

    @property
    def met(self) -> bool:
        return self.at_least <= self.ratio <= self.at_most

    def __str__(self) -> str:
        bound = f"at least {self.at_least:g}" if self.at_least else f"at most {self.at_most:g}"
        return f"{'ok    ' if self.met else 'MISSED'}  {self.ratio:7.2f} ({bound})  {self.name}"


def seconds(work: Callable[[], object], repeat: int = 7) -> float:
    """The best of several runs: the one least disturbed by the rest of the machine."""
    best = float("inf")
    for _ in range(repeat):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return best
