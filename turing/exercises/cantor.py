"""The exercises of the chapter Cantor stacks. Numbers are fractions, and every stack up to a length is tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import isfinite
from numbers import Rational, Real

from turing.arguments import count
from turing.exercises import Wrong
from turing.exercises.functions import called, given_function
from turing.exercises.weights import _short_repr, numbers

BASE, DIGITS = 10, (2, 7)  # of the first exercise: the decimal number shows the stack


def stacks(length: int, symbols: int = 2) -> Iterator[tuple[int, ...]]:
    """All stacks up to a length, the top first."""
    for n in range(length + 1):
        yield from product(range(symbols), repeat=n)


def value(stack: Sequence[int], base: int, digits: Sequence[int]) -> Fraction:
    """The number of a stack, by its definition."""
    return sum((Fraction(digits[a], base**i) for i, a in enumerate(stack, start=1)), Fraction(0))


def sigma(x: Fraction) -> Fraction:
    return min(max(x, Fraction(0)), Fraction(1))


def named(stack: Sequence[int]) -> str:
    return "".join(map(str, stack)) or "empty"


def push_pop(answer: object) -> str:
    """The weights of push and pop in base 10."""
    parts = _parts(answer, "push0, push1, pop")
    maps = [_fractions(part, name, 2) for part, name in zip(parts, ("push0", "push1"), strict=False)]
    of_q, of_tau, of_zeta = _fractions(parts[2], "pop", 3)
    tried = 0
    for stack in stacks(6):
        q = value(stack, BASE, DIGITS)
        for a, (w, c) in enumerate(maps):
            _same(f"For stack={named(stack)} push{a} gives", w * q + c, value((a, *stack), BASE, DIGITS))
        found = of_q * q + of_tau * bool(stack) + of_zeta * (stack[:1] == (1,))
        _same(f"For stack={named(stack)} pop gives", found, value(stack[1:], BASE, DIGITS))
        tried += 1
    return f"all {tried} stacks up to length 6"


def gentle_top(answer: object) -> str:
    """The neuron with the smallest weight that reads the top symbol, for the paper's digits."""
    neuron = given_function(answer, "the base b and of ρ")
    cases = [(4, Fraction(1, 2)), (10, Fraction(1)), (16, Fraction(1)), (40, Fraction(2)), (90, Fraction(3))]
    for base, rho in cases:
        digits = (int(base - 1 - 4 * rho), base - 1)
        where = f"For base={base} rho={rho}"
        w, c = _fractions(called(neuron, where, base, rho), "a neuron", 2)
        tried = [*stacks(6), *((a, *[b] * n) for a, b in product((0, 1), repeat=2) for n in (7, 12, 30, 99))]
        for stack in tried:
            found = sigma(w * value(stack, base, digits) + c)
            if found != (stack[:1] == (1,)):
                raise Wrong(
                    f"{where} and the stack {_short(stack)} your neuron gives {_short_number(found)}; "
                    f"{int(stack[:1] == (1,))} was expected."
                )
        if w * (digits[1] - digits[0] - 1) > base:
            raise Wrong(f"{where} your neuron is right, and its weight is {w}. There is one with a smaller weight.")
    return f"stacks up to 100 symbols in {len(cases)} bases, and no smaller weight would do"


def three_symbols(answer: object) -> str:
    """A base, three digits, three neurons and a pop, for stacks over three symbols."""
    base, digits, neurons, pop = _parts(answer, "base, digits, neurons, pop")
    digits = _parts(digits, "three digits", 3)
    if any(isinstance(x, bool) or not isinstance(x, int) for x in (base, *digits)):
        raise Wrong(
            f"Base and digits are integers, and base {_short_repr(base)} with digits {_short_repr(digits)} "
            f"was returned."
        )
    if not all(0 <= digit < base for digit in digits):
        raise Wrong(f"The digits of base {base} are 0 to {base - 1}, and {_short_repr(digits)} was returned.")
    rows = [_fractions(row, "a neuron", 2) for row in _parts(neurons, "three neurons", 3)]
    of_q, *of_neurons = _fractions(pop, "pop", 4)
    deep = [(a, *[b] * 30) for a, b in product(range(3), repeat=2)]
    tried = [*stacks(5, 3), *deep]
    for stack in tried:
        q = value(stack, base, digits)
        found = [sigma(w * q + c) for w, c in rows]
        for number, (given, symbol) in enumerate(zip(found, (0, 1, 2), strict=True), start=1):
            _same(f"For stack={named(stack)} neuron {number} gives", given, int(bool(stack) and stack[0] >= symbol))
        rest = of_q * q + sum(w * x for w, x in zip(of_neurons, found, strict=True))
        _same(f"For stack={named(stack)} pop gives", rest, value(stack[1:], base, digits))
    return f"all {len(tried) - len(deep)} stacks up to length 5, and {len(deep)} of 31 symbols"


def exact_depth(answer: object) -> str:
    """How many symbols a float with so many bits holds exactly, for given digits in a base that is a power of two."""
    depth = given_function(answer, "the base, the digits and the bits")
    cases = [
        (4, (1, 3), 24), (4, (1, 3), 53), (16, (11, 15), 53), (16, (11, 15), 24), (4, (1, 3), 11), (4, (1, 3), 8),
        (64, (1, 3), 53), (8, (2, 4), 53), (16, (4, 12), 11), (32, (2, 6), 24), (8, (1, 6), 8), (256, (1, 255), 53),
        (256, (64, 128), 53),
    ]  # fmt: skip
    for base, digits, bits in cases:
        where = f"For base={base} digits={digits[0]},{digits[1]} bits={bits}"
        given, expected = called(depth, where, base, digits, bits), greatest_length(base, digits, bits)
        if given != expected:
            raise Wrong(f"{where} your function gives {_short_repr(given)}; {expected} was expected.")
    return f"all {len(cases)} cases"


def greatest_length(base: int, digits: tuple[int, int], bits: int) -> int:
    """The greatest length of which all stacks are held, by trying. How many bits one has depends on top and bottom."""
    length = 1
    while all(_bits((top, *[0] * (length - 1), bottom), base, digits) <= bits for top in (0, 1) for bottom in (0, 1)):
        length += 1
    return length


def _bits(stack: Sequence[int], base: int, digits: tuple[int, int]) -> int:
    """The number of bits from the first that is 1 to the last."""
    numerator = int(value(stack, base, digits) * base ** len(stack))
    return len(f"{numerator:b}".strip("0"))


def swap_top(answer: object) -> str:
    """Saturated layers that swap the two top symbols, in base 4."""
    layers = numbers(answer)
    before = 1
    for number, (W, b) in enumerate(layers, start=1):
        if len(W[0]) != before:
            given = "there is one input, q" if number == 1 else f"layer {number - 1} gives {count(before, 'number')}"
            raise Wrong(f"Layer {number} has {count(len(W[0]), 'column')}, and {given}.")
        before = len(b)
    if before != 1:
        raise Wrong(f"Your last layer gives {before} numbers, and the output is one number, the new q.")
    exact = [([list(map(Fraction, row)) for row in W], list(map(Fraction, b))) for W, b in layers]
    tried = list(stacks(8))
    for stack in tried:
        x = [value(stack, 4, (1, 3))]
        for weights, biases in exact:
            rows = zip(weights, biases, strict=True)
            x = [sigma(c + sum(w * a for w, a in zip(row, x, strict=True))) for row, c in rows]
        _same(f"For stack={named(stack)} your layers give", x[0], value((*stack[:2][::-1], *stack[2:]), 4, (1, 3)))
    neurons = count(sum(len(b) for _, b in layers), "neuron")
    return f"all {len(tried)} stacks up to length 8, with {neurons} in {count(len(layers), 'layer')}"


def _same(what: str, found: Fraction, expected: Fraction | int) -> None:
    if found != expected:
        raise Wrong(f"{what} {_short_number(found)}; {expected} was expected.")


def _short(stack: Sequence[int]) -> str:
    text = named(stack)
    return text if len(text) <= 12 else f"{text[:4]}…{text[-1]} of {len(text)} symbols"


def _short_number(x: Fraction) -> str:
    return str(x) if len(str(x)) <= 20 else f"{float(x):.6g}"


def _parts(thing: object, names: str, size: int | None = None) -> list:
    size = len(names.split(", ")) if size is None else size
    if not isinstance(thing, (list, tuple)) or len(thing) != size:
        raise Wrong(f"Return {names}; {_short_repr(thing)} was returned.")
    return list(thing)


def _fractions(thing: object, name: str, size: int) -> list[Fraction]:
    """Numbers as fractions; a float is read as the nearest simple fraction."""
    if not isinstance(thing, (list, tuple)) or len(thing) != size:
        raise Wrong(f"{name} should be {size} numbers, and {_short_repr(thing)} was returned.")
    for x in thing:
        if isinstance(x, bool) or not isinstance(x, Real) or not isfinite(x):
            raise Wrong(f"{name} holds {_short_repr(x)}, which is not a finite number.")
    return [Fraction(x) if isinstance(x, Rational) else Fraction(x).limit_denominator(10_000) for x in thing]


EXERCISES = {
    "push_pop": push_pop,
    "gentle_top": gentle_top,
    "three_symbols": three_symbols,
    "exact_depth": exact_depth,
    "swap_top": swap_top,
}
