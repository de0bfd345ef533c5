"""What the readers of all constructions share: numbers as the nearest that are possible, and what a reading gives.

Chapter: :doc:`/book/reading-back`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from turing.decompiler.tensors import Array, Refusal

__all__ = ["Nearest", "Reading", "Weight", "first_numbers", "numbered", "require"]


class Weight(NamedTuple):
    """A number that a rule was read from: its ``value``, and the part of the :class:`Bare` network, the row and the
    column of the matrix where it stands.

    Chapter: :doc:`/book/reading-back`.
    """

    part: int
    row: int
    column: int
    value: float


@dataclass(frozen=True)
class Reading:
    """What a reader found: a machine with neutral names, how to compile it, how clear it was, what stays unknown, and
    where each rule stands. ``order`` has for each vector of the network the neurons as the compiled network has them,
    and ``factors``, where they are symmetries, what each of these is multiplied by.

    Chapter: :doc:`/book/reading-back`.
    """

    machine: Any  # a TuringMachine, or a StackMachine
    construction: str
    options: Mapping[str, Any]
    margin: float
    unknown: Mapping[str, str]
    evidence: Mapping[tuple, Sequence[Weight]]
    order: Mapping[str, Sequence[int]]
    factors: Mapping[str, Array] = field(default_factory=dict)


class Nearest:
    """Numbers as the nearest of those that are possible, and how clear that was.

    Chapter: :doc:`/book/reading-back`.
    """

    def __init__(self) -> None:
        self.margin = 1.0

    def __call__(self, numbers: Array, *values: float) -> Array:
        """For each number the nearest of the values, or the nearest integer if there are none."""
        if not values:
            found, gap = np.rint(numbers), 1.0
        else:
            levels = np.array(sorted(set(values)))
            gap = float(np.diff(levels).min())
            found = levels[np.searchsorted((levels[1:] + levels[:-1]) / 2, numbers)]
        off = float(np.abs(numbers - found).max(initial=0))
        if 2 * off >= gap:
            where = np.unravel_index(np.abs(numbers - found).argmax(), numbers.shape)
            raise Refusal(
                f"The number {numbers[where]:.3g} is none of this construction, which has "
                f"{', '.join(f'{value:.3g}' for value in sorted(set(values))) or 'integers'} there."
            )
        self.margin = min(self.margin, 1 - 2 * off / gap)
        return found


def require(what: str) -> Callable[[bool, str], None]:
    """A check that refuses a network whose wiring is not that of something, with the reason that it is given.

    Chapter: :doc:`/book/reading-back`.
    """

    def check(fits: bool, reason: str) -> None:
        if not fits:
            raise Refusal(f"The wiring is not that of {what}: {reason}.")

    return check


def numbered(symbols: int, blank: int | None = None) -> list[str]:
    """Neutral names of symbols: 0, 1, …; or, if the blank is known, _ for it and 1, 2, … for the others.

    Chapter: :doc:`/book/reading-back`.
    """
    if blank is None:
        return [str(a) for a in range(symbols)]
    return ["_" if a == blank else str(a + (a < blank)) for a in range(symbols)]


def first_numbers(first_column: Any, *shape: int | None) -> Array:
    """The numbers of a first column, of this shape and all finite; None stands for any size.

    Chapter: :doc:`/book/reading-back`.
    """

    def numbers(given: Any, axes: int) -> Any:
        return float(given) if axes == 0 else [numbers(one, axes - 1) for one in given]

    if hasattr(first_column, "detach"):
        first_column = first_column.detach()  # of a network's parameters

    wanted = " × ".join("any number" if size is None else str(size) for size in shape)
    try:
        column = np.asarray(numbers(first_column, len(shape)), dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"The first column should have {wanted} numbers; {first_column!r:.60} was given.") from None
    if column.ndim != len(shape) or any(b not in (a, None) for a, b in zip(column.shape, shape, strict=True)):
        found = " × ".join(map(str, column.shape))
        raise ValueError(f"The first column should have {wanted} numbers; {found} were given.")
    if not np.isfinite(column).all():
        raise ValueError("A number of the first column is infinite or not a number.")
    return column
