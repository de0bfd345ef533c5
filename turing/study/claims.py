"""What the chapter claims, in directions rather than digits, and the numbers that it takes from the tables.

Chapter: :doc:`/book/break-restore-train`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import log
from statistics import quantiles

from turing.study.sweep import Row

__all__ = ["check", "factor", "select", "spread"]

Tables = Mapping[str, list[Row]]


def select(rows: list[Row], **wanted: object) -> list[Row]:
    """The rows with these values.

    Chapter: :doc:`/book/break-restore-train`.
    """
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def spread(rows: list[Row], column: str = "sigma") -> tuple[float, float, float]:
    """The median of a column, and the quartiles below and above it.

    >>> from turing.study.claims import spread
    >>> spread([{"sigma": x} for x in (1, 2, 3, 4, 5)])
    (3.0, 2.0, 4.0)

    Chapter: :doc:`/book/break-restore-train`.
    """
    low, middle, high = quantiles([row[column] for row in rows], n=4, method="inclusive")
    return middle, low, high


def factor(rows: list[Row]) -> float:
    """By how much the median grows in one step, from the first step up to the last one before it comes to 0.01.

    Chapter: :doc:`/book/break-restore-train`.
    """
    small = [row["median"] for row in rows]
    last = next((k for k, value in enumerate(small) if value > 0.01), len(small)) - 1
    return (small[last] / small[0]) ** (1 / last) if last > 0 and small[0] > 0 else 0.0


def check(tables: Tables) -> list[str]:
    """Raise an AssertionError at the first claim that does not hold in these tables; otherwise return all claims.

    Chapter: :doc:`/book/break-restore-train`.
    """
    said = []
    for name, sentence, holds in CLAIMS:
        if name in tables:
            assert holds(tables[name]), f"{name}: {sentence} This does not hold."
            said.append(f"{name}: {sentence}")
    return said


def _plain_grows(rows: list[Row]) -> bool:
    return 1.5 < factor(select(rows, noise="weights", adder="lookahead", restoring=False)) < 4


def _restored_stays(rows: list[Row]) -> bool:
    medians = [row["median"] for row in select(rows, noise="weights", adder="lookahead", restoring=True)]
    return max(medians) < 3 * medians[0]


def _offset_dies(rows: list[Row]) -> bool:
    return all(row["high"] == 0 for row in select(rows, noise="first column", restoring=True))


def _word(rows: list[Row]) -> bool:
    plain, restored = (
        select(rows, adder="lookahead", restoring=restoring, feedback="analog") for restoring in (False, True)
    )
    right = sum(row["step"] is None for row in restored)
    return all(row["step"] is not None and row["step"] <= 20 for row in plain) and right >= 0.95 * len(restored)


def _restoring_pays(rows: list[Row]) -> bool:
    plain, restored = (
        spread(select(rows, adder="lookahead", restoring=restoring, feedback="analog", bits=7))[0]
        for restoring in (False, True)
    )
    return restored > 10 * plain


def _falls_with_bits(rows: list[Row]) -> bool:
    few, many = (
        spread(select(rows, adder="lookahead", restoring=True, feedback="analog", bits=bits))[0] for bits in (7, 14)
    )
    return 0.2 * few < many < few


def _soft(rows: list[Row]) -> bool:
    def step(kappa: int, restoring: bool) -> object:
        (row,) = select(rows, measure="exact", kappa=kappa, restoring=restoring, feedback="analog")
        return row["step"]

    return step(10, False) is not None and step(10, True) is None and step(40, True) is None


def _rounded(rows: list[Row]) -> bool:
    ternary = select(rows, damage="round", level="ternary")
    eight = select(rows, damage="round", level="int8", adder="lookahead", restoring=True)
    return not any(row["survive"] for row in ternary) and all(row["survive"] for row in eight)


def _flipped(rows: list[Row]) -> bool:
    return all(0 < row["survive"] < row["copies"] or row["copies"] < 10 for row in select(rows, damage="flip"))


def _parabola(rows: list[Row]) -> bool:
    """The loss is of second order in the distance, and on either side."""
    for row in rows:
        if abs(row["size"] - 1e-4) < 1e-9:
            same = select(rows, adder=row["adder"], direction=row["direction"])
            (far,) = [other for other in same if abs(other["size"] - 1e-3) < 1e-9]
            for side in ("forward", "backward"):
                if row[side] <= 0 or abs(log(far[side] / row[side]) / log(10) - 2) > 0.1:
                    return False
    return True


def _underreported(rows: list[Row]) -> bool:
    every = select(rows, module="all")
    return all(min(row["forward"], row["backward"]) > 1.5 * row["autograd"] for row in every) and all(
        row["at_kink"] > 0.4 * row["relus"] for row in every
    )


def _still(rows: list[Row]) -> bool:
    return all(row["to_built"] == 0 for row in select(rows, sigma=0, loss="squares"))


def _moved(rows: list[Row]) -> bool:
    after = [row for row in select(rows, sigma=0, loss="cross-entropy", optimizer="adam") if row["step"] == 1]
    return all(row["to_built"] > 0 and row["analog"] < 10 for row in after)


def _free(rows: list[Row]) -> bool:
    return all(row["moved"] == 0 and not row["all_wrong"] for row in select(rows, priced=False))


def _priced(rows: list[Row]) -> bool:
    narrow = [row for row in select(rows, priced=True) if row["distribution"] != "all"]
    return all(row["all_wrong"] > 0 for row in narrow)


CLAIMS: list[tuple[str, str, Callable[[list[Row]], bool]]] = [
    ("growth", "Without restoring, an error grows by a factor between 1.5 and 4 a step.", _plain_grows),
    ("growth", "With restoring, the error of the last step is that of the first.", _restored_stays),
    ("growth", "With restoring, an error of the first column alone is gone after one step.", _offset_dies),
    ("paper_word", "At σ = 0.001 the plain network fails within 20 steps and the restored one does 81.", _word),
    ("tolerance", "Restoring raises the tolerated noise more than tenfold.", _restoring_pays),
    ("tolerance", "The tolerated noise falls with the number of position bits.", _falls_with_bits),
    ("kappa", "At κ = 10 the plain network fails and the restored one does not.", _soft),
    ("damage", "Restored lookahead networks bear int8, and none bears three values.", _rounded),
    ("damage", "Some flipped signs kill, and some do not.", _flipped),
    ("landscape", "Near the built weights the loss is of second order in the distance.", _parabola),
    (
        "curvature",
        "Autograd reports less curvature than is measured; many ReLUs stand at kinks.",
        _underreported,
    ),
    ("training", "Squares do not move the built weights.", _still),
    ("training", "One step of cross-entropy breaks the analog run within 10 steps.", _moved),
    ("shortcuts", "Without a price, training on narrow words changes nothing.", _free),
    ("shortcuts", "With a price on weights, words outside go wrong.", _priced),
]
