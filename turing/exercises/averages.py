"""The exercises of the chapter Averages that count. Scores are −|⟨q, k⟩|, and numbers are fractions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from numbers import Rational
from typing import Any

from turing.exercises import Wrong, _error_text
from turing.exercises.weights import WeightPuzzle, _short_repr, bits

MAX_MOVES = 8
RUNS = [
    ("balanced_parentheses", "B()E"), ("balanced_parentheses", "B(()E"), ("bb3", ""), ("binary_increment", "1011"),
    ("parity", "1101"), ("palindromes", "abba"), ("copier", "01"),
]  # fmt: skip


def histories(longest: int) -> Iterator[tuple[int, ...]]:
    """All lists of moves to the right and to the left, the short ones first."""
    for n in range(1, longest + 1):
        yield from product((1, -1), repeat=n)


def cells_of(moves: Sequence[int]) -> list[int]:
    """The cell of the head before each move, and after the last."""
    return [sum(moves[:k]) for k in range(len(moves) + 1)]


def scores(moves: Sequence[int], factor: int) -> list[Fraction]:
    """The scores of all steps after these moves, with a factor on the difference of the cells."""
    *cells, c = cells_of(moves)
    i = len(moves)
    return [-abs(factor * Fraction(c - own, i * j) + Fraction(1, i * i * j)) for j, own in enumerate(cells, start=1)]


def factor_one(answer: object) -> str:
    """Moves after which a head without the factor 3 fetches a step that is not the last visit."""
    if not isinstance(answer, (list, tuple)) or not answer or any(move not in (1, -1) for move in answer):
        raise Wrong(f"Return a list of moves, each 1 or -1; {_short_repr(answer)} was returned.")
    if len(answer) > 12:
        raise Wrong(f"There is an example of 12 moves or fewer, and {len(answer)} were returned.")
    where = f"For moves={','.join(map(str, answer))}"
    *cells, c = cells_of(answer)
    visits = [j for j, cell in enumerate(cells, start=1) if cell == c]
    if not visits:
        raise Wrong(f"{where} the tape head comes to cell {c}, where it has never been.")
    found = scores(answer, 1)
    best = max(range(len(found)), key=found.__getitem__) + 1
    if best == visits[-1] and found.count(max(found)) == 1:
        raise Wrong(f"{where} step {best} has the best score, {max(found)}, and it is the last visit to cell {c}.")
    return f"these {len(answer)} moves: the last visit is step {visits[-1]}, and step {best} is fetched"


def tokens(answer: object) -> str:
    """How many passes a run takes, from the machine and the word alone."""
    import turing
    from turing.perez import NormalForm

    passes = _function(answer, "a machine and a word")
    for name, word in RUNS:
        machine = turing.zoo[name]
        form = NormalForm(machine)
        where, expected = f"For machine={name} word={word!r}", form.machine.run(form.word(word)).steps
        given = _called(passes, where, machine, word)
        if given != expected:
            raise Wrong(f"{where} your function gives {_short_repr(given)}; {expected} was expected.")
    return f"all {len(RUNS)} runs"


def earliest_visit(answer: object) -> str:
    """A query and a key with which the first visit to a cell has the best score."""
    if not isinstance(answer, (list, tuple)) or len(answer) != 2 or not all(callable(part) for part in answer):
        raise Wrong(f"Return two functions, query and key; {_short_repr(answer)} was returned.")
    query, key = answer
    tried = 0
    for moves in histories(MAX_MOVES):
        *cells, c = cells_of(moves)
        if c not in cells:
            continue
        i, where = len(moves), f"For moves={','.join(map(str, moves))}"
        asked = _vector(query, f"{where} query", Fraction(c, i), i)
        products: list[Fraction] = []
        for j, cell in enumerate(cells, start=1):
            found = _vector(key, f"{where} key", Fraction(cell, j), j)
            if len(found) != len(asked):
                raise Wrong(f"{where} the query has {len(asked)} numbers, and the key of step {j} has {len(found)}.")
            products.append(-abs(sum((a * b for a, b in zip(asked, found, strict=True)), Fraction(0))))
        best = [j for j, score in enumerate(products, start=1) if score == max(products)]
        first = cells.index(c) + 1
        if best != [first]:
            have = f"step {best[0]} has" if len(best) == 1 else f"steps {' and '.join(map(str, best))} have"
            raise Wrong(f"{where} {have} the best score, {max(products)}; step {first} was expected.")
        tried += 1
    return f"all {tried} histories of up to {MAX_MOVES} moves that end on a cell visited before"


def _vector(function: Callable, where: str, average: Fraction, number: int) -> list[Fraction]:
    given = _called(function, where, average, number)
    if not isinstance(given, (list, tuple)) or not all(isinstance(x, Rational) for x in given):
        raise Wrong(f"{where} gives {_short_repr(given)}. Return a list of integers and fractions.")
    return [Fraction(x) for x in given]


def _function(thing: object, of: str) -> Callable:
    if not callable(thing):
        raise Wrong(f"Return a function of {of}; {_short_repr(thing)} was returned.")
    return thing


def _called(function: Callable, where: str, *arguments: Any) -> object:
    try:
        return function(*arguments)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise Wrong(f"{where} raises {_error_text(error)}.") from None


EXERCISES = {
    "which_symbol": WeightPuzzle(
        bits("word given new last"),
        bits("out"),
        lambda word, given, new, last: given if word else int(last and not new),
        hidden=(2,),
        most_layers=2,
        best=[([[1, 1, 0, 0], [-1, 0, -1, 1]], [-1, 0]), ([[1, 1]], [0])],
    ),
    "factor_one": factor_one,
    "tokens": tokens,
    "earliest_visit": earliest_visit,
}
