"""Exact vectors, with roots and without, and sums of roots."""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations
from math import sqrt
from random import Random

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from turing.exact import Exact, Surd, average, best, normalised
from turing.layout import Layout
from turing.modules import Norm, Rational

fractions = st.fractions(min_value=-5, max_value=5, max_denominator=9)
terms = st.dictionaries(st.integers(1, 60), fractions, max_size=4)


@pytest.fixture(autouse=True)
def sixty_digits():
    with localcontext() as context:
        context.prec = 60
        yield


def decimal(surd):
    return sum((Decimal(r.numerator) / r.denominator * Decimal(n).sqrt() for n, r in surd.terms.items()), Decimal(0))


# Sums of roots.


@settings(
    deadline=None, derandomize=True, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(terms, terms)
def test_sums_differences_signs_and_order_are_those_of_sixty_digits(one, other):
    a, b = Surd(one), Surd(other)
    for found, wanted in ((a + b, decimal(a) + decimal(b)), (a - b, decimal(a) - decimal(b)), (-a, -decimal(a))):
        assert abs(decimal(found) - wanted) < Decimal("1e-50")
    difference = decimal(a) - decimal(b)
    sign = 0 if abs(difference) < Decimal("1e-50") else 1 if difference > 0 else -1
    assert (a - b).sign() == sign
    assert (a < b, a == b, a > b) == (sign < 0, sign == 0, sign > 0)
    assert abs(a).sign() >= 0
    assert float(a) == pytest.approx(float(decimal(a)), abs=1e-12)


def test_roots_of_the_same_square_free_number_are_one():
    assert Surd({8: Fraction(1)}) == Surd({2: Fraction(2)})
    assert Surd({12: Fraction(1, 2), 27: Fraction(-1, 3)}) == 0
    assert (Surd({4: Fraction(1)}) - 2).sign() == 0
    assert Surd({50: Fraction(1)}) - Surd({2: Fraction(5)}) == Fraction(0)
    assert Surd({}) == 0
    assert 3 - Surd({9: Fraction(1)}) == 0


def test_sums_that_nearly_cancel_are_told_apart():
    """√(n² + 1) is less than n + 1/2n, by about 1/8n³."""
    for n in (10, 10**6, 10**20, 10**60):
        near = Surd({n * n + 1: Fraction(1)}) - n - Fraction(1, 2 * n)
        assert near.sign() == -1
        assert (near + Fraction(1, 7 * n**3)).sign() == 1


def test_a_surd_has_no_hash_and_says_what_it_is():
    with pytest.raises(TypeError):
        hash(Surd({2: Fraction(1)}))
    assert repr(Surd({1: Fraction(1), 3: Fraction(-1, 2)})) == "1 + -1/2·√3"
    assert repr(Surd({2: Fraction(0)})) == "0"


def test_the_best_of_many_scores_are_found_with_all_that_tie():
    random = Random(5)
    for _ in range(50):
        scores = [Surd({random.randint(1, 9): Fraction(random.randint(-3, 3), random.randint(1, 3))}) for _ in range(6)]
        found, near = best(scores), [decimal(score) for score in scores]
        assert found == [k for k, value in enumerate(near) if max(near) - value < Decimal("1e-50")]
    assert best([Fraction(1), Surd({4: Fraction(1, 2)}), 0]) == [0, 1]


def test_equal_scores_tie_also_where_their_first_128_bits_differ():
    one, other = Surd({6: Fraction(1), 24: Fraction(1)}), Surd({54: Fraction(1)})
    assert one == other
    assert one.approximate(128) != other.approximate(128)
    assert best([one, other, Fraction(7)]) == [0, 1]


# Vectors.


def test_a_vector_with_roots_has_surds_where_they_are():
    x = Exact([3, 3, 6], 2, {0: 2})
    assert x[0] == Surd({2: Fraction(3, 4)})
    assert x[1] == Fraction(3, 2)
    assert x[-3] == x[0]
    assert x[:2].roots == {0: 2}
    assert x[1:].roots == {}
    assert x == Exact([6, 6, 12], 4, {0: 2})
    assert x != Exact([3, 3, 6], 2)
    assert Exact([2], 1, {0: 4}) == Exact([1])
    assert float(x[0]) == pytest.approx(1.5 / sqrt(2))


def test_vectors_with_roots_are_added_where_the_roots_agree():
    one, other = Exact([1, 1, 0], 2, {0: 3}), Exact([1, 0, 5], 4, {0: 3})
    assert one + other == Exact([3, 2, 5], 4, {0: 3})
    assert one + Exact([0, 1, 1]) == Exact([1, 3, 2], 2, {0: 3})
    with pytest.raises(ArithmeticError, match="numbers divided by different roots meet at place 0"):
        one + Exact([1, 0, 0])
    with pytest.raises(ArithmeticError, match="numbers divided by different roots meet at place 0"):
        one + Exact([1, 0, 0], 1, {0: 2})


@settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(*[st.integers(-4, 4)] * 2, *[st.integers(1, 6)] * 2), min_size=1, max_size=5))
def test_products_are_sums_of_the_products_of_items(rows):
    one = Exact([a for a, _, _, _ in rows], 3, {k: m for k, (_, _, m, _) in enumerate(rows) if m > 1})
    other = Exact([b for _, b, _, _ in rows], 2, {k: n for k, (_, _, _, n) in enumerate(rows) if n > 1})
    found, plain = one.dots([other, Exact([0] * len(rows))])
    wanted = sum(float(Surd.of(a)) * float(Surd.of(b)) for a, b in zip(one, other, strict=True))
    assert float(found) == pytest.approx(wanted, abs=1e-9)
    assert plain == 0


def test_the_average_of_the_best_is_that_of_all_that_tie():
    values = [Exact([1, 0], 2), Exact([5, 5]), Exact([1, 1], 3)]
    assert average([1, 0, 1], values) == Exact([5, 2], 12)
    assert average([1, 2, 1], values) == values[1]
    rooted = [Exact([1], 1, {0: 2}), Exact([3], 1, {0: 2})]
    assert average([0, 0], rooted) == Exact([2], 1, {0: 2})
    with pytest.raises(ArithmeticError, match="different roots"):
        average([0, 0], [rooted[0], Exact([1])])


# Layer norm.


def test_a_norm_has_length_1_and_no_mean():
    random = Random(3)
    for _ in range(100):
        x = Exact([random.randint(-9, 9) for _ in range(4)], random.randint(1, 9))
        if len(set(x.numerators)) == 1:
            continue
        found = normalised(x)
        assert found.dots([found]) == [Surd({1: Fraction(1)})]
        assert sum(found.numerators) == 0
        values = torch.tensor([float(value) for value in x], dtype=torch.float64)
        wanted = Norm(Layout(x=4), ["x"])(values).tolist()
        assert [float(value) for value in found] == pytest.approx(wanted)


def test_a_norm_is_the_same_for_every_multiple():
    for c, i in ((3, 7), (-2, 5), (0, 9), (17, 400)):
        assert normalised(Exact([c, 1, -c, -1], i)) == normalised(Exact([c, 1, -c, -1]))


def test_a_norm_of_what_it_cannot_divide_is_refused():
    with pytest.raises(ArithmeticError, match="all numbers of a slice are equal"):
        normalised(Exact([2, 2]))
    with pytest.raises(ArithmeticError, match="works on rationals here"):
        normalised(Exact([1, 2], 1, {0: 2}))


def test_the_product_of_two_addresses_is_1_only_if_they_are_the_same():
    addresses = {c: normalised(Exact([c, 1, -c, -1])) for c in range(-6, 7)}
    for (q, one), (k, other) in combinations(addresses.items(), 2):
        (score,) = one.dots([other])
        square = (q * q + 1) * (k * k + 1)
        assert score == Surd({square: Fraction(q * k + 1, square)})
        assert score < 1
    assert all(one.dots([one]) == [Surd({1: Fraction(1)})] for one in addresses.values())


# Layers on vectors with roots.


def layer(rows, activation="none", outputs=2):
    return Rational(Layout(x=3), Layout(y=outputs), rows, activation)


def test_a_layer_passes_numbers_with_roots_on():
    x = Exact([1, 3, 2], 1, {0: 2, 1: 2})
    found = layer({0: {0: Fraction(1, 2), 1: -1}, 1: {2: 3, None: 1}})(x)
    assert found == Exact([-5, 14], 2, {0: 2})
    assert layer({0: {0: Fraction(1, 2), 1: -1}}, "relu")(x) == Exact([0, 0])
    assert layer({0: {0: 1}, 1: {1: 1}}, "clamp")(x) == Exact([1, 1], 1, {0: 2})  # 3/√2 is more than 1
    with pytest.raises(ArithmeticError, match="a layer adds numbers that are divided by different roots"):
        layer({0: {0: 1, 2: 1}})(x)
    with pytest.raises(ArithmeticError, match="a layer adds numbers that are divided by different roots"):
        layer({0: {0: 1, None: 1}})(x)
