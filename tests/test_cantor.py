"""Stacks in one number: the same functions over fractions, integers and floats, and how deep each can go."""

import copy
import pickle
from fractions import Fraction
from itertools import product
from math import floor, log2
from random import Random

import numpy as np
import pytest

from turing.cantor import PRECISION, Cantor, DepthError, Stack

PAPER = {4: Fraction(1, 2), 16: Fraction(1), 40: Fraction(2), 90: Fraction(3)}  # the base, and its ρ
KINDS = {"exact": {}, "scaled": {"places": 10}, "float32": {}, "float64": {}}
FLOATS = list(product(PAPER, PRECISION))
each_kind = pytest.mark.parametrize(("base", "kind"), list(product(PAPER, KINDS)))
each_float = pytest.mark.parametrize(("base", "kind"), FLOATS)


def code_of(base, kind):
    return Cantor.of(base, PAPER[base], arithmetic=kind, **KINDS[kind])


def stacks(longest):
    return [stack for n in range(longest + 1) for stack in product((0, 1), repeat=n)]


def of_length(n):
    """All stacks of a length up to 12; of longer ones the plainest and some drawn at random."""
    if n <= 12:
        return list(product((0, 1), repeat=n))
    draw = Random(n)
    plain = [(0,) * n, (1,) * n, ((0, 1) * n)[:n], (0,) + (1,) * (n - 1), (1,) + (0,) * (n - 1)]
    return plain + [tuple(draw.getrandbits(1) for _ in range(n)) for _ in range(300)]


@each_kind
def test_every_stack_up_to_length_10_or_7_is_pushed_popped_and_read(base, kind):
    code = code_of(base, kind)
    for stack in stacks(min(10 if base == 4 else 7, code.depth or 10)):
        value = code.encode(stack)
        assert code.decode(value) == list(stack)
        assert code.nonempty(value) == (len(stack) > 0)
        assert code.top(value) == (stack[0] if stack else 0)
        if not code.rounds:
            assert code.pop(value) == code.encode(stack[1:])
            assert code.neurons(value) == (code.unit * bool(stack), code.unit * (stack[:1] == (1,)))
            assert not stack or code.push(code.encode(stack[1:]), stack[0]) == value


@pytest.mark.parametrize("base", PAPER)
def test_the_number_of_a_stack_is_equation_1_of_the_paper(base):
    exact, rho = Cantor.of(base, PAPER[base]), PAPER[base]
    scaled = Cantor.of(base, rho, arithmetic="scaled", places=12)
    for stack in stacks(7):
        number = sum(((base - 1 + 4 * rho * (a - 1)) / base**i for i, a in enumerate(stack, start=1)), Fraction(0))
        assert exact.encode(stack) == number
        assert Fraction(scaled.encode(stack), base**12) == number


def test_the_papers_digits_and_those_of_the_chapter():
    assert [Cantor.of(base, rho).digits for base, rho in PAPER.items()] == [(1, 3), (11, 15), (31, 39), (77, 89)]
    assert Cantor.of(4, 0.5).digits == Cantor().digits
    assert [Cantor().encode(stack) for stack in ([1], [0, 1], [1, 0, 1])] == [
        Fraction(3, 4), Fraction(7, 16), Fraction(55, 64),
    ]  # fmt: skip


@pytest.mark.parametrize("base", PAPER)
def test_the_numbers_of_stacks_lie_in_three_places_and_are_all_different(base):
    code = code_of(base, "exact")
    d0, d1 = code.digits
    numbers = {stack: base * code.encode(stack) for stack in stacks(8)}
    assert len(set(numbers.values())) == len(numbers)
    for stack, y in numbers.items():
        low = (d0, d1)[stack[0]] if stack else 0
        assert low <= y < low + bool(stack) or y == low == 0


@each_float
def test_a_float_holds_as_many_symbols_as_its_bits_allow(base, kind):
    code = code_of(base, kind)
    assert code.depth == floor(PRECISION[kind] / log2(base))
    tried = of_length(code.depth)
    assert all(code.decode(code.encode(stack)) == list(stack) for stack in tried)
    for stack in tried[:: len(tried) // 8]:
        held = Stack(code, stack)
        assert [held.pop() for _ in stack] == list(stack)
        assert held.pop() is None


@each_float
def test_one_more_symbol_is_refused_with_a_message_that_names_arithmetic_and_depth(base, kind):
    code = code_of(base, kind)
    full = Stack(code, (0, 1) * (code.depth // 2) + (1,) * (code.depth % 2))
    before = full.value
    says = rf"{code.depth + 1} symbols .* {kind} holds {code.depth} in base {base}"
    for symbol in (0, 1):
        with pytest.raises(DepthError, match=says):
            full.push(symbol)
    with pytest.raises(DepthError, match=says):
        code.encode([1] * (code.depth + 1))
    assert (full.value, full.depth) == (before, code.depth)


def test_the_message_suggests_what_holds_more_and_no_base_below_the_smallest():
    for base, kind, offer in (
        (4, "float32", 'arithmetic="float64" (26 symbols) or "exact"'),
        (4, "float64", 'arithmetic="exact"'),
        (16, "float32", 'arithmetic="exact", or a smaller base'),
        (40, "float64", 'arithmetic="exact", or a smaller base'),
        (40, "scaled", 'arithmetic="exact", or more places'),
    ):
        assert code_of(base, kind).full(99).endswith(f" would be lost. Use {offer}.")
    assert code_of(4, "float64").depth == 26


def test_push_alone_refuses_nothing_in_a_base_where_floats_round():
    code, value = code_of(40, "float64"), 0.0
    for _ in range(30):
        value = code.push(value, 1)
    assert value == 1.0
    with pytest.raises(DepthError, match="10 symbols"):
        code.encode([1] * 10)


@pytest.mark.parametrize(("base", "kind"), [case for case in FLOATS if case[0] in (4, 16)])
def test_in_a_base_that_is_a_power_of_two_a_float_is_the_exact_fraction_at_every_push_and_pop(base, kind):
    code, exact = code_of(base, kind), code_of(base, "exact")
    for stack in of_length(code.depth)[:60]:
        value = true = 0
        for symbol in reversed(stack):
            value, true = code.push(value, symbol), exact.push(true, symbol)
            assert value == true
        for _ in stack:
            value, true = code.pop(value), exact.pop(true)
            assert value == true


@pytest.mark.parametrize("stack", [(top, *[0, 1] * 5, bottom) for top in (0, 1) for bottom in (0, 1)])
def test_push_by_itself_refuses_to_round_the_bottom_away(stack):
    code = code_of(4, "float32")
    value = code.encode(stack)
    for symbol in (0, 1):
        with pytest.raises(DepthError, match="13 symbols"):
            code.push(value, symbol)


def test_float32_is_rounded_as_the_hardware_does():
    for base in (4, 40):
        code = code_of(base, "float32")
        b, d0, d1 = np.array([base, *code.digits], np.float32)
        for stack in of_length(code.depth)[:40]:
            value = np.float32(0)
            for symbol in reversed(stack):
                value = (value + (d0, d1)[symbol]) / b
            assert code.encode(stack) == value
            while value > 0:
                y = b * value
                tau, zeta = np.clip(y, 0, 1), np.clip(y - (d0 + np.float32(1)), 0, 1)
                popped = np.clip(y - d0 * tau - (d1 - d0) * zeta, 0, 1)
                assert code.neurons(value.item()) == (tau, zeta)
                assert code.pop(value.item()) == popped
                assert popped.dtype == np.float32
                value = popped


def wander(code, steps):
    """Push and pop at random, against a list; the operation at which the stack noticed a loss, or None."""
    draw, stack, held = Random(0), Stack(code), []
    for n in range(1, steps + 1):
        if len(held) == code.depth or (held and draw.random() < 0.5):
            expected = held.pop()
            try:
                found = stack.pop()
            except DepthError:
                return n
            assert found == expected
        else:
            held.append(draw.getrandbits(1))
            stack.push(held[-1])
    return None


def test_in_base_4_the_depth_matters_and_the_number_of_pops_does_not():
    assert wander(code_of(4, "float32"), 30_000) is None
    assert wander(code_of(16, "float64"), 10_000) is None


def test_a_stack_notices_when_rounding_errors_have_added_up():
    code = code_of(90, "float64")
    assert wander(code, 30_000) is not None
    stack = Stack(code, [1, 0])
    stack.value = code.encode([0, 0])
    with pytest.raises(DepthError, match="reads 0, and 1 was pushed: float64 has lost digits in base 90"):
        stack.pop()


@pytest.mark.parametrize("base", [4, 40])
def test_integers_and_fractions_hold_a_thousand_symbols(base):
    draw = Random(base)
    symbols = [draw.getrandbits(1) for _ in range(1000)]
    for code in (code_of(base, "exact"), Cantor.of(base, PAPER[base], arithmetic="scaled", places=1000)):
        stack = Stack(code, symbols)
        assert code.decode(stack.value) == symbols
        assert [stack.pop() for _ in symbols] == symbols
        assert stack.value == 0
    full = Stack(code, symbols)
    with pytest.raises(DepthError, match=r"scaled holds 1000 .* or more places"):
        full.push(0)
    with pytest.raises(DepthError, match="1001 symbols"):
        code.push(full.value, 0)


@each_kind
def test_the_number_of_a_stack_is_the_result_of_its_pushes(base, kind):
    code = code_of(base, kind)
    for stack in stacks(min(6, code.depth or 6)):
        value = 0 * code.unit
        for symbol in reversed(stack):
            value = code.push(value, symbol)
        assert code.encode(iter(stack)) == value
        assert type(code.encode(stack)) is type(value)


@each_kind
def test_a_code_can_be_pickled_and_copied(base, kind):
    code = code_of(base, kind)
    for again in (pickle.loads(pickle.dumps(code)), copy.deepcopy(code)):
        assert again.push(again.encode([1, 0]), 1) == code.encode([1, 1, 0])
        assert again.depth == code.depth


def test_an_empty_stack_stays_empty():
    for base, kind in product(PAPER, KINDS):
        code = code_of(base, kind)
        assert code.pop(code.encode([])) == 0
        assert Stack(code).pop() is None


@pytest.mark.parametrize(
    "value", [Fraction(1, 2), 1, 2, Fraction(1, 3), Fraction(-1, 4), Fraction(1, 16), Fraction(49, 64), 10**30]
)
def test_a_number_that_does_not_encode_a_stack_is_refused(value):
    with pytest.raises(ValueError, match="is not the number of a stack in base 4"):
        Cantor().decode(value)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Cantor(4, (1, 2)), r"digits=\(1, 2\) was given.*at least 2 more"),
        (lambda: Cantor(4, (0, 3)), "the first at least 1"),
        (lambda: Cantor(4, (1, 4)), "below the base"),
        (lambda: Cantor(3, (1, 3)), "base=3"),
        (lambda: Cantor(4, (1, 3, 5)), r"\(1, 3, 5\)"),
        (lambda: Cantor(4, (3, 1)), r"\(3, 1\)"),
        (lambda: Cantor(4, 3), "digits=3 was given"),
        (lambda: Cantor(4.0, (1, 3)), "The digits are integers"),
        (lambda: Cantor(arithmetic="float16"), "one of exact, scaled, float32, float64, and 'float16'"),
        (lambda: Cantor(arithmetic="scaled"), "Give places=K"),
        (lambda: Cantor(places=5), "Give places=K"),
        (lambda: Cantor(arithmetic="scaled", places=0), "places must be an integer of at least 1, and 0 was given"),
        (lambda: Cantor(arithmetic="scaled", places=2.5), "2.5 was given"),
        (lambda: Cantor.of(4, 0.3), "ρ = 0.3 was given"),
        (lambda: Cantor.of(4, 1), "the first at least 1"),
        (lambda: Cantor.of(4, float("nan")), "4ρ must be an integer, such as 2 for ρ = 1/2, and ρ = nan was"),
        (lambda: Cantor.of(4, float("inf")), "ρ = inf was given"),
        (lambda: Cantor.of(4, "x"), "ρ = x was given"),
        (lambda: Cantor.of("4", 0.5), "The base is an integer, such as 4, and '4' was given"),
        (lambda: Cantor.of(4, 0.5, arithmetic=["x"]), r"one of exact, scaled, float32, float64, and \['x'\]"),
        (lambda: Cantor().push(0.1, 1), 'With arithmetic="exact" a stack is a Fraction, and 0.1 was given. Take one'),
        (lambda: Cantor().pop(0.75), "a stack is a Fraction, and 0.75 was given"),
        (lambda: Cantor().decode(0.75), "a stack is a Fraction, and 0.75 was given"),
        (lambda: Cantor(arithmetic="scaled", places=3).top(0.5), "a stack is an integer, and 0.5 was given"),
        (lambda: Cantor(arithmetic="float32").nonempty("1"), "a stack is a number, and '1' was given"),
        (lambda: Cantor().push(Fraction(0), 2), "The symbols on a stack are 0 and 1, and 2 was pushed"),
        (lambda: Cantor().push(Fraction(0), "1"), "'1' was pushed"),
        (lambda: Cantor().encode([0, 1, None]), "None was pushed"),
        (lambda: Stack(Cantor(), "01"), "'1' was pushed"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_what_was_given_and_what_is_expected(make, says):
    with pytest.raises(ValueError, match=says):
        make()


def test_a_stack_shows_its_number_and_its_depth():
    stack = Stack(Cantor(), [1, 0, 1])
    assert repr(stack) == "Stack(55/64, depth 3)"
    stack.push(1)
    assert (stack.depth, stack.pop(), stack.depth) == (4, 1, 3)
