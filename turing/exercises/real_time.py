"""The exercises of the chapter One layer, in real time: a network of one stack, a size, and a smaller base."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import isfinite
from numbers import Real

from turing.exercises import Wrong
from turing.exercises.functions import called, given_function
from turing.exercises.machines import words
from turing.exercises.ss import DEEP, decides, has_letters
from turing.exercises.weights import _short_repr
from turing.stack_machine import StackMachine, TwoStacks, balanced
from turing.zoo import zoo


def every_third(answer: object) -> str:
    """The network of a machine with one stack, in one layer and float32, which holds twelve symbols."""
    from turing.ss import StackNetwork

    if not isinstance(answer, StackNetwork):
        raise Wrong(
            f"Your function returned an object of type {type(answer).__name__}. "
            f"Return a network: turing.ss.StackNetwork(machine, …)."
        )
    for what, found, wanted in (
        ("stacks", answer.machine.p, 1), ("version", answer.version, 1), ("arithmetic", answer.arithmetic, "float32"),
    ):  # fmt: skip
        if found != wanted:
            raise Wrong(f"Your network has {what} {found}; {wanted} was asked for.")
    if answer.code.depth < DEEP:
        raise Wrong(
            f"In base {answer.code.base} a float32 holds {answer.code.depth} symbols; {DEEP} were asked for. "
            f"Give the network a base and digits."
        )
    has_letters(answer.machine, "01")
    deep = ["1" * DEEP, "0" * DEEP, "01" * (DEEP // 2), "110" * (DEEP // 3)]
    short = list(words("01", 6))
    for word in (*short, *deep):
        decides(answer, word, word.count("1") % 3 == 0, "network")
    return (
        f"all {len(short)} words up to length 6, and {len(deep)} of {DEEP} symbols, with {answer.layout.width} neurons"
    )


def machines() -> dict[str, StackMachine]:
    """The machines whose neurons are counted, by name."""
    starts_again = {("go", "0"): ("go", "pop"), ("go", "1"): ("go", "pop"), ("go", None): ("T", "noop")}
    copies: dict[tuple[str | None, ...], tuple[str, ...]] = {("go", None, "*", "*"): ("T", "noop", "noop", "noop")}
    for symbol in "01":
        copies["go", symbol, "*", "*"] = ("go", "pop", f"push {symbol}", f"push {symbol}")
    return {
        "balanced": balanced(),
        "popper": StackMachine(starts_again, "go", {"T"}),
        "copier": StackMachine(copies, "go", {"T"}),
        "two_steps": StackMachine({("A", "*"): ("B", "push 1"), ("B", "*"): ("T", "push 0")}, "A", {"T"}),
        "binary_increment": TwoStacks(zoo["binary_increment"]).machine,
    }


def layer_size(answer: object) -> str:
    """A function of a stack machine: how many neurons its network of one layer has."""
    from turing.ss.realtime import classes_of

    counter = given_function(answer, "a stack machine")
    tried = machines()
    for name, machine in tried.items():
        where = f"For machine={name}"
        expected = 3**machine.p * len(classes_of(machine)) + 4 * machine.p
        given = called(counter, where, machine)
        if given != expected:
            raise Wrong(f"{where} your function gives {_short_repr(given)}; {expected} was expected.")
    return f"all {len(tried)} machines"


def base_eight(answer: object) -> str:
    """Factors for each pair of levels, in base 8 with digits 4 and 6, so that a sum shows whether both are reached."""
    factors = given_function(answer, "a pair of levels")
    base, digits = 8, (4, 6)
    lowest = (0, *digits)
    tail = Fraction(digits[1], base - 1)  # all that can follow a digit stays below this
    highest = (Fraction(0), *(digit + tail for digit in digits))
    patterns = list(product(range(3), repeat=2))
    for levels in patterns:
        where = f"For levels={levels[0]},{levels[1]}"
        c = _factors(called(factors, where, levels), where)
        for found in product(range(3), repeat=2):
            if all(map(int.__ge__, found, levels)):
                continue  # no term is below 0
            bound = sum(ci * (highest[n] - lowest[v]) for ci, n, v in zip(c, found, levels, strict=True))
            if bound > -1:
                raise Wrong(
                    f"{where} and stacks of the levels {found[0]} and {found[1]}, with the factors "
                    f"{c[0]} and {c[1]}, the sum can reach {bound}; it must stay at -1 or below."
                )
    return f"all {len(patterns)} pairs of levels"


def _factors(thing: object, where: str) -> list[Fraction]:
    if not isinstance(thing, (list, tuple)) or len(thing) != 2:
        raise Wrong(f"{where} your function gives {_short_repr(thing)}; two factors were expected.")
    for c in thing:
        if isinstance(c, bool) or not isinstance(c, Real) or not isfinite(c) or c < 0:
            raise Wrong(f"{where} a factor is {_short_repr(c)}; a number of at least 0 was expected.")
    return [Fraction(c) for c in thing]


EXERCISES = {
    "every_third": every_third,
    "layer_size": layer_size,
    "base_eight": base_eight,
}
