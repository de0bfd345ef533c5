"""How what a construction takes grows with the steps and the cells of a run, held against Table 1 of the paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import log, log2
from typing import NamedTuple

import numpy as np

from turing.comparison.measure import Comparison
from turing.comparison.table import claims

__all__ = ["Fit", "fit"]

QUANTITIES = ("bits", "width", "hidden", "parameters", "nonzero", "window", "passes", "tokens")
NEAR = 0.1  # within which a fitted exponent is that of the claim
CLOCKS: dict[str, Callable[[Comparison], float]] = {  # what a claim says about time
    "t": lambda run: run.t,
    "log t": lambda run: log2(run.t),
    "t log t": lambda run: run.t * log2(run.t),
    "n + t": lambda run: run.n + run.t,
    "|Q||Γ| + log t": lambda run: len(run.machine.states) * len(run.machine.symbols) + log2(run.t),
}
# What a claim says about growth: a clock, its exponent, and that of s. The machine is the same in all runs.
FORMS = {
    "O(1)": ("t", 0, 0),
    "1": ("t", 0, 0),
    "O(|Q|)": ("t", 0, 0),
    "O(s)": ("t", 0, 1),
    "s": ("t", 0, 1),
    "O(log t)": ("log t", 1, 0),
    "O(t log t)": ("t log t", 1, 0),
    "n + t": ("n + t", 1, 0),
    "O(|Q||Γ| + log t)": ("|Q||Γ| + log t", 1, 0),
}


class Fit(NamedTuple):
    """What was fitted: quantity ≈ constant · clockᵃ · sᵇ, with the number s of cells.

    ``clock`` is what stands for time, such as ``"t"`` or ``"log t"``; ``exponents`` are a and b, and ``claimed`` those
    of the claim, None if there is none.

    Chapter: :doc:`/book/table`.
    """

    clock: str
    exponents: tuple[float, float]
    claimed: tuple[float, float] | None

    @property
    def near(self) -> bool | None:
        """Whether both exponents are within 0.1 of the claim; None where there is no claim about growth.

        Chapter: :doc:`/book/table`.
        """
        if self.claimed is None:
            return None
        return all(abs(a - b) <= NEAR for a, b in zip(self.exponents, self.claimed, strict=True))

    def __str__(self) -> str:
        a, b = (f"{value + 0.0:.2f}".replace("-0.00", "0.00") for value in self.exponents)
        clock = self.clock if self.clock.isalpha() else f"({self.clock})"
        return f"{clock}^{a} · s^{b}"


def fit(runs: Iterable[Comparison], construction: str, quantity: str, claim: str = "") -> Fit:
    """The :class:`Fit` of a quantity over some runs: how it grows with steps and cells, by least squares on logarithms.

    ``runs`` is a list of what ``compare`` returns, and ``quantity`` a number of a
    :class:`~turing.comparison.Measurement`, such as ``"window"``. There should be at least three runs, and their steps
    and cells should not grow in proportion; runs that this construction refused are left out.

    The ``claim`` is that of Table 1 unless given. It says in what time is counted: by ``"O(log t)"`` in log t, so that
    an exponent of 1 means growth in proportion to log t.

    >>> import turing
    >>> from turing.comparison import compare, fit
    >>> machine = turing.zoo["balanced_parentheses"]
    >>> runs = [compare(machine, f"B{n * '('}{n * ')'}E", names=["wcm21"]) for n in (1, 2, 4)]
    >>> print(fit(runs, "wcm21", "window"))
    (n + t)^1.00 · s^0.00

    Chapter: :doc:`/book/table`.
    """
    if quantity not in QUANTITIES:
        raise ValueError(f"A quantity is one of {', '.join(QUANTITIES)}, and {quantity!r} was given.")
    runs = list(runs) if isinstance(runs, Iterable) else [runs]
    for run in runs:
        if not isinstance(run, Comparison):
            raise TypeError(f"A fit takes a list of what compare returns, and {run!r} was given.")
    if claim and claim not in FORMS:
        raise ValueError(f"A claim is one of {', '.join(FORMS)}, and {claim!r} was given.")
    claim = claim or claims().get(construction, {}).get(quantity, "")
    clock, *claimed = FORMS.get(claim, ("t",))
    points = [
        (run, value)
        for run in runs
        for row in run.rows
        if row.construction == construction
        and (value := getattr(row, quantity)) is not None
        and run.t > 1  # a run of one step has no exponent
    ]
    rows = [(log(CLOCKS[clock](run)), log(run.s), 1) for run, _ in points]
    if not rows or np.linalg.matrix_rank(rows) < 3:
        raise ValueError(
            f"Exponents of steps and cells take at least three runs that differ in both; {construction} has "
            f"{len(points)} here. Give more words, or more steps."
        )
    (a, b, _), *_ = np.linalg.lstsq(rows, [log(value) for _, value in points], rcond=None)
    return Fit(clock, (float(a), float(b)), tuple(claimed) if claimed else None)  # type: ignore[arg-type]  # two
