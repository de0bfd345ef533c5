"""Long runs for networks that keep their tape in the history, and the comparison of whole traces."""

import pytest
from machines import numbered

from turing.machine import TuringMachine
from turing.zoo import zoo

PARENTHESES = zoo["balanced_parentheses"]
SWEEPER = TuringMachine(
    {("R", "1"): ("R", "1", 1), ("R", "_"): ("L", "1", -1), ("L", "1"): ("L", "1", -1), ("L", "_"): ("R", "1", 1)},
    "R", set(), "_",
)  # fmt: skip
STAYS = TuringMachine(
    {("A", "_"): ("A", "0", 0), ("A", "0"): ("B", "1", 0), ("A", "1"): ("A", "0", -1), ("B", "1"): ("H", "_", 1)},
    "A", {"H"}, "_",
)  # fmt: skip
LONG = {
    "bb5": (zoo["bb5"], ""),
    "nest of 60": (PARENTHESES, f"B{'(' * 60}{')' * 60}E"),
    "sweeper": (SWEEPER, ""),
}
every_long_run = pytest.mark.parametrize("name", LONG)


def same(network, machine, word, steps):
    """Compare whole traces, the tape of every step included; how many configurations there were."""
    mine, right = (numbered(runner.trace(word, steps)) for runner in (network, machine))
    assert mine == right
    return len(right)
