"""The exercises of the chapter Hard attention. They use the library's attention, in float32 with κ = 9999."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, combinations, product
from math import isfinite
from numbers import Real

from turing.exercises import Wrong, _error_text
from turing.exercises.own_network import own_head
from turing.exercises.weights import WeightPuzzle, _short_repr, bits, numbers, shown

GRAY = ["00", "01", "11", "10"]  # as x1 x0, each followed by the next and the last by the first


def addresses(n: int) -> list[str]:
    """All addresses of n bits."""
    return ["".join(word) for word in product("01", repeat=n)]


def scored(asked: str, key: str) -> float:
    """The score of a key: ½ for each equal bit, −½ for each different one."""
    return sum(0.5 if a == b else -0.5 for a, b in zip(asked, key, strict=True))


def attended(scores: list[float], values: list[float]) -> float:
    """The average that attention computes, the null key last."""
    import torch

    from turing.attention import ratio

    return ratio(torch.tensor([scores]), torch.tensor(values)[:, None]).item()


def one_wrong_bit(answer: object) -> str:
    """A null score at which a key with one wrong bit is still found, and one with two is not."""
    null_score = _function(answer, "null_score", "the number n of bits")
    tried = 0
    for n in range(1, 6):
        null = _called(null_score, "null_score", n)
        for asked, key in product(addresses(n), repeat=2):
            wrong, score = sum(a != b for a, b in zip(asked, key, strict=True)), scored(asked, key)
            share, wanted = attended([score, null], [1.0, 0.0]), int(wrong <= 1)
            if share != wanted:
                raise Wrong(
                    f"For bits={n} ask={asked} key={key} the key scores {shown(score)} and the null key {shown(null)}: "
                    f"the key gets the weight {shown(share)}; {wanted} was expected."
                )
            tried += 1
    return f"all {tried:,} pairs of addresses of 1 to 5 bits"


def gray_neighbour(answer: object) -> str:
    """Query and key maps with which every address matches the next one in Gray order."""
    maps = numbers(answer)
    if len(maps) != 2:
        raise Wrong(f"Return two pairs, the query's and the key's: (Wq, bq), (Wk, bk). {len(maps)} were returned.")
    for name, (W, _) in zip(("Wq", "Wk"), maps, strict=True):
        if len(W[0]) != 2:
            raise Wrong(f"An address has two bits, x0 and x1, and {name} has {len(W[0])} columns. Give it two.")
    if len(maps[0][1]) != len(maps[1][1]):
        raise Wrong(
            f"Query and key are multiplied number by number, and yours have {len(maps[0][1])} and {len(maps[1][1])}."
        )
    query, key = ({word: _mapped(*pair, word) for word in GRAY} for pair in maps)
    for asked in sorted(GRAY):
        scores = {word: sum(a * b for a, b in zip(query[asked], key[word], strict=True)) for word in sorted(GRAY)}
        following = GRAY[(GRAY.index(asked) + 1) % 4]
        for other, score in scores.items():
            if other != following and not scores[following] - score >= 1:
                raise Wrong(
                    f"For ask={asked} the next address is {following}. Its key scores {shown(scores[following])}, and "
                    f"the key {other} scores {shown(score)}: it must be at least 1 less."
                )
    return "all 16 pairs of an address and a key"


def first_visit(answer: object) -> str:
    """A search for the least step number that asks about patterns, at most once for each bit."""
    find = _function(answer, "find", "the function seen and the number of bits")
    tried = 0
    for size in range(1, 4):
        for visits in subsets(2**size):
            asked: list[str] = []
            where = f"For bits={size} visits={','.join(map(str, visits))}"

            def seen(
                pattern: object,
                size: int = size,
                visits: Sequence[int] = visits,
                asked: list[str] = asked,
                where: str = where,
            ) -> bool:
                if not isinstance(pattern, str) or len(pattern) != size or set(pattern) - set("01-"):
                    asked_for = _short_repr(pattern)
                    raise Wrong(f"{where} you ask for {asked_for}, which is not {size} characters 0, 1 or -.")
                asked.append(pattern)
                if len(asked) > size:
                    raise Wrong(f"{where} you ask {' '.join(asked)}: at most one question for each bit is allowed.")
                return any(fits(f"{step:0{size}b}", pattern) for step in visits)

            found = _tried(find, "find", where, seen, size)
            if isinstance(found, bool) or not isinstance(found, Real) or found != visits[0]:
                raise Wrong(
                    f"{where} your search asks {' '.join(asked) or 'nothing'} and returns {_short_repr(found)}; "
                    f"{visits[0]} was expected."
                )
            tried += 1
    return f"all {tried} sets of visits with step numbers of 1 to 3 bits"


def subsets(n: int) -> Iterator[tuple[int, ...]]:
    """All non-empty sets of numbers below n, each in ascending order."""
    return chain.from_iterable(combinations(range(n), size) for size in range(1, n + 1))


def fits(word: str, pattern: str) -> bool:
    return all(c in ("-", bit) for c, bit in zip(pattern, word, strict=True))


def how_many(answer: object) -> str:
    """A null key and values such that the average shows how many keys match."""
    if not isinstance(answer, (list, tuple)) or len(answer) != 4:
        raise Wrong("Return four things: null_score, value, null_value, count.")
    null_score = _function(answer[0], "null_score", "the number n of bits")
    value, null_value = (_number(x, name) for x, name in zip(answer[1:3], ("value", "null_value"), strict=True))
    count = _function(answer[3], "count", "the average")
    tried = 0
    for n in range(1, 4):
        null, miss = _called(null_score, "null_score", n), n / 2 - 1
        for c, misses in product((*range(20), 41, 100, 1000), (0, 1, 7)):
            scores = [n / 2] * c + [miss] * misses + [null]
            average = attended(scores, [value] * (c + misses) + [null_value])
            where = f"For bits={n} c={c} and {misses} keys that miss"
            found = _tried(count, "count", f"{where}, where the average is {shown(average)},", average)
            if isinstance(found, bool) or not isinstance(found, Real) or found != c:
                raise Wrong(
                    f"{where} the average is {shown(average)}, and count makes {_short_repr(found)} of it; "
                    f"{c} was expected."
                )
            tried += 1
    return f"all {tried} tables, with up to 1,000 keys that match"


def _mapped(W: list[list[float]], b: list[float], word: str) -> list[float]:
    x = [int(bit) for bit in reversed(word)]  # bit 0 first
    return [bias + sum(w * bit for w, bit in zip(row, x, strict=True)) for row, bias in zip(W, b, strict=True)]


def _function(thing: object, name: str, of: str) -> Callable:
    if not callable(thing):
        raise Wrong(f"{name} should be a function of {of}, and {_short_repr(thing)} was returned.")
    return thing


def _tried(function: Callable, name: str, where: str, *arguments: object) -> object:
    try:
        return function(*arguments)
    except (KeyboardInterrupt, Wrong):
        raise
    except BaseException as error:
        raise Wrong(f"{where} {name} raises {_error_text(error)}.") from None


def _called(function: Callable, name: str, n: int) -> float:
    return _number(_tried(function, name, f"For bits={n}", n), f"{name}({n})")


def _number(x: object, name: str) -> float:
    if isinstance(x, bool) or not isinstance(x, Real) or not isfinite(x):
        raise Wrong(f"{name} is {_short_repr(x)}, which is not a finite number.")
    return float(x)


EXERCISES = {
    "one_wrong_bit": one_wrong_bit,
    "same_address": WeightPuzzle(
        bits("a0 a1 b0 b1"),
        bits("out"),
        lambda a0, a1, b0, b1: int((a0, a1) == (b0, b1)),
        hidden=(4,),
        most_layers=2,
        best=[([[1, 2, -1, -2], [-1, -2, 1, 2]], [0, 0]), ([[-1, -1]], [1])],
    ),
    "first_visit": first_visit,
    "gray_neighbour": gray_neighbour,
    "how_many": how_many,
    "own_head": own_head,
}
