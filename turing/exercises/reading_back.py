"""The exercises of the chapter Reading the machine back: products that meet, lines of detectors, a disguise, twins."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from turing.arguments import count
from turing.exercises import Wrong, _error_text
from turing.machine import TuringMachine
from turing.zoo import zoo

TRIES = 20


def _called(function: object, *given: Any) -> Any:
    if not callable(function):
        raise Wrong(f"A function is expected, and an object of type {type(function).__name__} was returned.")
    try:
        return function(*given)
    except Exception as error:
        raise Wrong(f"Your function raised {_error_text(error)}.") from None


def same_maps(answer: object) -> str:
    """Whether two pairs of maps that meet are the same pair in two bases."""
    random = np.random.default_rng(1)
    for number in range(TRIES):
        n = int(random.integers(1, 5))
        write, read = random.integers(-2, 3, (n, n + 1)) + 0.0, random.integers(-2, 3, (n + 2, n)) + 0.0
        write[:, :n] += 5 * np.eye(n)  # of full rank, so that a product says all there is to say
        read[:n] += 5 * np.eye(n)
        basis = random.normal(size=(n, n)) + 3 * np.eye(n)
        other = basis @ write, read @ np.linalg.inv(basis)
        same = number % 2 == 0
        if not same:
            other[1][number % (n + 2)] += 1
        if bool(_called(answer, (write, read), other)) != same:
            kind = "the same maps in another basis" if same else "different maps"
            raise Wrong(
                f"For pair={number}, with {count(n, 'number')} in the middle, these are {kind}, and your function says "
                "otherwise."
            )
    return f"{TRIES} pairs of pairs"


def lines(answer: object) -> str:
    """The sets of detectors that are fed alike, from a matrix with factors and a little noise."""
    random = np.random.default_rng(2)
    for _ in range(TRIES):
        states, symbols = int(random.integers(2, 5)), int(random.integers(2, 4))
        pairs = [(q, a) for q in range(states) for a in range(symbols)]
        columns = [[q == k for q, _ in pairs] for k in range(states)]
        columns += [[a == k for _, a in pairs] for k in range(symbols) for _ in "12"] + [[a == 0 for _, a in pairs]]
        columns += [[False] * len(pairs)] * 2
        order = random.permutation(len(columns))
        factors = 3 ** random.uniform(-1, 1, len(columns))
        seen = np.array(columns, float)[order].T * factors + random.normal(0, 0.01, (len(pairs), len(columns)))
        wanted = {frozenset(k for k, fed in enumerate(column) if fed) for column in columns if any(column)}
        found = _called(answer, seen.copy())
        if not isinstance(found, Iterable):
            raise Wrong(f"A list of sets is expected, and {type(found).__name__} was returned.")
        sets = [frozenset(int(d) for d in line) for line in found]
        if len(sets) != len(set(sets)) or set(sets) != wanted:
            missing = sorted(map(sorted, wanted - set(sets)))
            raise Wrong(
                f"For states={states} and symbols={symbols} there are {len(wanted)} lines; yours are {len(sets)}"
                + (f", and {missing[0]} is missing." if missing else ".")
            )
    return f"{TRIES} matrices"


def disguised_by_hand(answer: object) -> str:
    """Other numbers in the first two layers, and the same network."""
    from turing.construction import compile
    from turing.decompiler import Bare, Refusal, bare, decompile

    if not isinstance(answer, Bare):
        raise Wrong(f"A bare network is expected, as turing.bare gives it; {type(answer).__name__} was returned.")
    plain = bare(compile(zoo["bb2"], "wcm21", T=8, adder="lookahead"))
    if len(answer.parts) != len(plain.parts):
        raise Wrong(f"The network has {len(plain.parts)} parts, and yours has {len(answer.parts)}.")
    for number in (0, 1):
        one, other = answer.parts[number], plain.parts[number]
        if np.shape(one.weight) != other.weight.shape or np.shape(one.bias) != other.bias.shape:  # type: ignore[union-attr]  # two maps
            raise Wrong(f"Map {number} has another shape than before.")
    for number in (0, 1):
        pairs = zip(answer.parts[number][:2], plain.parts[number][:2], strict=True)
        if same := sum(int(((one == other) & (other != 0)).sum()) for one, other in pairs):
            raise Wrong(
                f"For map={number} there are {same} numbers other than 0 that are as they were. Change them all."
            )
    try:
        found = decompile(answer)
    except Refusal as error:
        raise Wrong(f"The machine cannot be read from your network: {str(error).rstrip('.')}.") from None
    if not found.certified:
        raise Wrong(
            f"Your network is another one: laid over the compiled one, it is off by {found.match.distance:.2g}."
        )
    return "bb2: all numbers of two maps are new, and the machine is certified"


def twins(answer: object) -> str:
    """Two machines that no black box tells apart, and that have different weights."""
    from turing.corpora.black_box import BlackBox
    from turing.decompiler import renaming

    if not isinstance(answer, tuple) or len(answer) != 2 or not all(isinstance(m, TuringMachine) for m in answer):
        raise Wrong("A pair of machines is expected: return one, other.")
    one, other = answer
    if set(one.symbols) != set(other.symbols) or one.blank != other.blank:
        raise Wrong("The two machines need the same symbols and the same blank.")
    if word := BlackBox(one).differs(other):
        raise Wrong(f"For word={' '.join(word)} under their heads they do different things.")
    if renaming(one, other, initial=True):
        raise Wrong("These are one machine under two names: their weights are the same up to order.")
    return f"{len(one.states)} and {len(other.states)} states that look the same from outside"


EXERCISES = {"same_maps": same_maps, "lines": lines, "disguised_by_hand": disguised_by_hand, "twins": twins}
