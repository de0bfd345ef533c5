"""The exercises of the chapter How fast: a folded carry, sums kept up to date, a count, and two more indexes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import product
from numbers import Real
from random import Random

from turing.exercises import Wrong
from turing.exercises.functions import called, given_function
from turing.exercises.weights import WeightPuzzle, _short_repr, bits
from turing.layout import Layout
from turing.zoo import zoo

MOVES = {f"{q} {a}": move for (q, a), (_, _, move) in zoo["bb2"].delta.items()}  # by detector
MATRIX = [[1, -2, 3], [0, 1, 1], [-1, 4, 0], [2, 2, -5]]
BIAS = [0, -1, 2, 0]
SIZES = [(1, 1), (1, 2), (2, 4), (3, 5), (5, 32), (7, 100), (20, 1_000_000)]  # bits and steps

Column = tuple[int, str, int]
Found = tuple[bool, int, str | None]


def folded(det: str, p0: int, p1: int) -> tuple[int, int]:
    """Carry and borrow into bit 2."""
    return int(MOVES[det] > 0 and p0 == p1 == 1), int(MOVES[det] < 0 and p0 == p1 == 0)


def keep_sums(answer: object) -> str:
    """A function that updates the sums of a layer, and reads only the weights of the inputs that have changed."""
    update = given_function(answer, "sums, column, before and after")
    pairs = list(product(product((0, 1), repeat=3), repeat=2))
    for before, after in pairs:
        _update(update, MATRIX, BIAS, before, after)
    draw = Random(0)
    wide = [[draw.randint(-9, 9) for _ in range(40)] for _ in range(6)]
    for _ in range(100):
        before, after = (tuple(draw.randint(0, 1) for _ in range(40)) for _ in range(2))
        _update(update, wide, [0] * 6, before, after)
    return f"all {len(pairs)} pairs of 3 bits, and 100 of 40"


def _update(update: Callable, W: list[list[int]], b: list[int], before: Sequence[int], after: Sequence[int]) -> None:
    where = f"For before={_bits(before)} after={_bits(after)}"
    read: list[int] = []

    def column(j: object) -> list[int]:
        if isinstance(j, bool) or not isinstance(j, int) or not 0 <= j < len(before):
            raise IndexError(f"there is no input {_short_repr(j)}; the inputs are 0 to {len(before) - 1}")
        read.append(j)
        return [row[j] for row in W]

    found = called(update, where, _sums(W, b, before), column, list(before), list(after))
    expected, changed = _sums(W, b, after), sum(map(int.__ne__, before, after))
    if not isinstance(found, (list, tuple)) or list(found) != expected:
        raise Wrong(f"{where} your function gives {_short_repr(found)}; {_short_repr(expected)} was expected.")
    if len(read) > changed:
        have = "input has" if changed == 1 else "inputs have"
        raise Wrong(f"{where} your function reads the weights of {len(read)} inputs, and {changed} {have} changed.")


def _sums(W: list[list[int]], b: list[int], x: Sequence[int]) -> list[int]:
    return [bias + sum(w * bit for w, bit in zip(row, x, strict=True)) for row, bias in zip(W, b, strict=True)]


def _bits(x: Iterable[int]) -> str:
    return "".join(map(str, x))


@cache
def per_key(size: int) -> int:
    """How many multiplications score one key in each of the heads that look at columns, from the weights."""
    from turing import ir
    from turing.wcm import WCM21

    net = WCM21(zoo["bb2"], T=2**size, bits=size, adder="lookahead")
    heads = [part for module in net.ir().modules for part in module.parts if isinstance(part, ir.Attention)]
    return sum(head.query.width_out for head in heads if head.mask == "causal")


def whole_run(answer: object) -> str:
    """A function of L and T: the multiply–adds for all scores in a run of T steps that keeps every column."""
    total = given_function(answer, "the bits L and the steps T")
    for size, steps in SIZES:
        expected = per_key(size) * sum(range(2, steps + 2))
        where = f"For L={size} T={steps}"
        found = called(total, where, size, steps)
        if isinstance(found, bool) or not isinstance(found, Real) or found != expected:
            raise Wrong(f"{where} your function gives {_short_repr(found)}; {expected} was expected.")
    return f"{len(SIZES)} networks, up to {SIZES[-1][1]:,} steps"


def tied_index(answer: object) -> str:
    """An entry that is updated value by value and gives the average that hard attention computes."""
    if not isinstance(answer, (list, tuple)) or len(answer) != 2 or not all(map(callable, answer)):
        raise Wrong(f"Return two functions, put and ask; {_short_repr(answer)} was returned.")
    short = [values for length in range(1, 7) for values in product((0, 1), repeat=length)]
    put, ask = answer
    for values in [*short, (0, 0, 1) * 1_000]:
        _averaged(put, ask, values)
    return f"all {len(short)} lists of up to 6 values, and one of 3,000"


def _averaged(put: Callable, ask: Callable, values: Sequence[int]) -> None:
    import torch

    from turing.attention import ratio

    where, entry = f"For values={_bits(values[:9])}{'…' if len(values) > 9 else ''}", None
    for value in values:
        entry = called(put, where, entry, value)
    parts = entry if isinstance(entry, (list, tuple)) else [entry]
    if len(parts) > 2 or not all(isinstance(part, Real) for part in parts):
        raise Wrong(f"{where} your entry is {_short_repr(entry)}; at most two numbers were asked for.")
    found = called(ask, where, entry)
    expected = ratio(torch.zeros(1, len(values)), torch.tensor(values, dtype=torch.float32)[:, None])
    if isinstance(found, bool) or not isinstance(found, Real) or torch.tensor(float(found)) != expected:
        raise Wrong(f"{where} your index gives {_short_repr(found)}, and attention gives {expected.item():.7g}.")


def first_index(answer: object) -> str:
    """What heads that look for the first visit find, from what is kept for each cell."""
    follow = given_function(answer, "the columns and the number of bits")
    tried = 0
    for size, lengths in ((1, (1, 2)), (2, (1, 2, 3, 4))):
        for columns in (c for n in lengths for c in product(product((0, 1), "ab", (0, 1)), repeat=n)):
            named = " ".join(f"{own}{wrote}{asked}" for own, wrote, asked in columns)
            where = f"For bits={size} columns={named}"
            found = called(follow, where, list(columns), size)
            if not isinstance(found, (list, tuple)) or len(found) != len(columns):
                raise Wrong(
                    f"{where} your function gives {_short_repr(found)}; "
                    f"a list with one answer for each column was expected."
                )
            for step, (given, right) in enumerate(zip(found, searched(columns, size), strict=True)):
                if not isinstance(given, (list, tuple)) or tuple(given) != right:
                    raise Wrong(f"{where} the answer to column {step} is {_short_repr(given)}; {right} was expected.")
            tried += 1
    return f"all {tried:,} histories of up to 4 columns on 2 cells"


def searched(columns: Sequence[Column], size: int) -> list[Found]:
    """Bit by bit, as the heads do it: can the next bit be a 0?"""
    answers = []
    for t, (_, _, asked) in enumerate(columns):
        visits = [i for i in range(t + 1) if columns[i][0] == asked]
        number = 0
        for j in reversed(range(size)):
            if not any(i >> j == number >> j for i in visits):
                number |= 1 << j
        answers.append((bool(visits), number, columns[number][1] if number <= t else None))
    return answers


EXERCISES = {
    "folded_carry": WeightPuzzle(
        Layout(det=list(MOVES), p0=1, p1=1),
        bits("carry borrow"),
        folded,
        hidden=(),
        most_layers=1,
        best=[([[1, 0, 0, 1, 1, 1], [0, 1, 1, 0, -1, -1]], [-2, 0])],
    ),
    "keep_sums": keep_sums,
    "whole_run": whole_run,
    "tied_index": tied_index,
    "first_index": first_index,
}
