"""Words of parentheses, by how they are made: what a network is shown, and what it is not.

Chapter: :doc:`/book/break-restore-train`.
"""

from __future__ import annotations

from itertools import product

__all__ = ["DISTRIBUTIONS", "parentheses"]

DISTRIBUTIONS = ("all", "nests", "flat", "short", "no )")


def parentheses(distribution: str, longest: int = 8) -> list[str]:
    """The words of a distribution for ``balanced_parentheses``, in order of length.

    They have at most ``longest`` parentheses, between B and E:

    - ``"all"``: every word
    - ``"nests"``: opening ones, and then as many closing ones
    - ``"flat"``: pairs side by side
    - ``"short"``: every word with at most two
    - ``"no )"``: only opening ones

    >>> from turing.study import parentheses
    >>> parentheses("flat", 4), parentheses("nests", 4), len(parentheses("all", 3))
    (['BE', 'B()E', 'B()()E'], ['BE', 'B()E', 'B(())E'], 15)

    Chapter: :doc:`/book/break-restore-train`.
    """
    half = range(longest // 2 + 1)

    def every(longest: int) -> list[str]:
        return ["".join(word) for n in range(longest + 1) for word in product("()", repeat=n)]

    inside = {
        "all": lambda: every(longest),
        "nests": lambda: ["(" * k + ")" * k for k in half],
        "flat": lambda: ["()" * k for k in half],
        "short": lambda: every(min(2, longest)),
        "no )": lambda: ["(" * k for k in range(longest + 1)],
    }
    if distribution not in DISTRIBUTIONS:
        raise ValueError(f"A distribution is one of {', '.join(DISTRIBUTIONS)}, and {distribution!r} was given.")
    return [f"B{word}E" for word in inside[distribution]()]
