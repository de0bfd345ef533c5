"""The exercises of the chapter Layer norm as an address. Scores are compared exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, product
from math import isfinite
from numbers import Real

from turing.exact import Exact, Surd, best, normalised
from turing.exercises import Wrong, _error_text
from turing.exercises.weights import WeightPuzzle, _short_repr, bits, numbers, shown

CELLS = sorted(range(-20, 21), key=lambda cell: (abs(cell), -cell))
LONGEST = 7  # of the walks that are all tried
SWEEPS = (3, 9, 14)  # from one end to the other, in a longer walk


def address(cell: int) -> Exact:
    """φ(cell, 1)."""
    return normalised(Exact([cell, 1, -cell, -1]))


@lru_cache(None)
def product_of(q: int, k: int) -> Surd:
    """φ_q · φ_k."""
    square = (q * q + 1) * (k * k + 1)
    return Surd({square: Fraction(q * k + 1, square)})


def age(j: int) -> Fraction:
    """f(j), as the chapter defines it."""
    return Fraction(6, 200 * j * (j - 1) * (j - 2) * (j - 3)) if j > 3 else Fraction(5 - j, 1000)


def mirror_cell(answer: object) -> str:
    """A map of the query with which the address of a cell finds that of the cell with the other sign."""
    maps = numbers(answer)
    if len(maps) != 1:
        raise Wrong(f"Return one pair, the query's weights and biases: Wq, bq. {len(maps)} were returned.")
    W, b = maps[0]
    if len(b) != 4 or len(W[0]) != 4:
        raise Wrong(f"An address has 4 numbers, and so has a query; your W has {len(b)} rows and {len(W[0])} columns.")
    for cell in CELLS:
        x = [float(value) for value in address(cell)]
        query = [bias + sum(w * value for w, value in zip(row, x, strict=True)) for row, bias in zip(W, b, strict=True)]
        scores = {k: sum(q * float(value) for q, value in zip(query, address(k), strict=True)) for k in CELLS}
        found = max(scores, key=lambda k: scores[k])
        if found != -cell or sum(score >= scores[found] - 1e-9 for score in scores.values()) > 1:
            raise Wrong(
                f"For cell={cell} the key of cell {-cell} scores {scores[-cell]:.6f}, and that of cell {found} "
                f"scores {scores[found]:.6f}; only the first should be the best."
            )
    return f"all {len(CELLS)} cells from {min(CELLS)} to {max(CELLS)}"


def least_epsilon(answer: object) -> str:
    """From which ε on the key of a cell scores less than that of the next one, on a straight walk."""
    least = _function(answer, "least", "the cell c")
    for cell in range(1, 201):
        given = _number(_called(least, "least", f"For c={cell}", cell), f"least({cell})")
        if given <= 0:
            raise Wrong(f"least({cell}) is {shown(float(given))}, and ε is more than 0.")
        for factor, lost in ((Fraction(999_999, 1_000_000), False), (Fraction(1_000_001, 1_000_000), True)):
            epsilon = given * factor
            own, other = (_shrunk(cell, k, epsilon) for k in (cell, cell + 1))
            if (other > own) != lost:
                wins, loses = (cell + 1, cell) if other > own else (cell, cell + 1)
                side = "above" if lost else "below"
                raise Wrong(
                    f"For c={cell} and an ε a little {side} your {float(given):.6g}, the key of cell {wins} still "
                    f"scores more than that of cell {loses}."
                )
    return "all cells from 1 to 200, to six digits"


def _shrunk(query: int, key: int, epsilon: Fraction) -> Fraction:
    """The square of a score, up to what all keys have in common, where a norm adds ε to the mean of the squares."""
    column = key + 2  # which wrote on that cell, on a walk to the right
    mean = Fraction(key * key + 1, 2 * column * column)
    cosine = Fraction((query * key + 1) ** 2, (query * query + 1) * (key * key + 1))
    return cosine * mean / (mean + epsilon)


def first_wins(answer: object) -> str:
    """A number that each key adds to its score, such that the first write on a cell is found."""
    key, tried = _function(answer, "key", "the number j of a column"), 0
    added = lru_cache(None)(lambda j: _number(_called(key, "key", f"For j={j}", j), f"key({j})"))
    for cells in _walks():
        here = cells[-1]
        keys = [0, *cells[:-1]]  # key j is the cell on which column j wrote
        wanted = keys.index(here) + 1 if here in keys else None
        if wanted is None:
            continue
        scores = [product_of(here, cell) + added(j) for j, cell in enumerate(keys, start=1)]
        found = [j + 1 for j in best(scores)]
        if found != [wanted]:
            which, more = " and ".join(map(str, found[:3])), ",…" if len(keys) > 12 else ""
            raise Wrong(
                f"For keys={','.join(map(str, keys[:12]))}{more} and the query of cell {here}, column {which} "
                f"{'has' if len(found) == 1 else 'have'} the best score; column {wanted} was expected."
            )
        tried += 1
    return f"all {tried:,} walks of up to {LONGEST} moves that come back, and long ones up to cell {SWEEPS[-1] + 1}"


def _walks() -> Iterator[list[int]]:
    """Where a head has been: all short walks, and sweeps that come back to each cell."""
    for n in range(LONGEST + 1):
        for moves in product((-1, 0, 1), repeat=n):
            yield list(accumulate(moves, initial=0))
    for width in SWEEPS:
        sweep = [*range(width), *range(width, 0, -1)] * 2
        for end in range(width + 2, len(sweep)):
            yield sweep[:end]
        yield [*range(width), *range(width, 0, -1), *[0] * 60, *range(width + 2), width, width + 1]  # waits at home


def _function(thing: object, name: str, of: str) -> Callable:
    if not callable(thing):
        raise Wrong(f"{name} should be a function of {of}, and {_short_repr(thing)} was returned.")
    return thing


def _called(function: Callable, name: str, where: str, *arguments: object) -> object:
    try:
        return function(*arguments)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise Wrong(f"{where} {name} raises {_error_text(error)}.") from None


def _number(x: object, name: str) -> Fraction:
    if isinstance(x, bool) or not isinstance(x, Real) or not isfinite(x):
        raise Wrong(f"{name} is {_short_repr(x)}, which is not a finite number.")
    return Fraction(x if isinstance(x, (int, Fraction)) else float(x))


EXERCISES = {
    "mirror_cell": mirror_cell,
    "same_parity": WeightPuzzle(
        bits("here there moved"),
        bits("out"),
        lambda here, there, moved: int(here == there ^ moved),
        hidden=(3,),
        most_layers=2,
        best=[([[1, 1, 1], [1, 1, 1], [1, 1, 1]], [0, -1, -2]), ([[-1, 2, -2]], [1])],
    ),
    "first_wins": first_wins,
    "least_epsilon": least_epsilon,
}
