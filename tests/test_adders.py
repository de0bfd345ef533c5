"""Adders over all their operands, at every place of a wider vector, with the numbers that the paper prints."""

from itertools import permutations, product

import pytest
import torch

from turing.adders import (
    FullAdder,
    HalfAdder,
    LookaheadAdder,
    MoveAdder,
    RippleCarryAdder,
    bits_of,
    number_of,
)
from turing.gates import Layer, Readout
from turing.layout import Layout

torch.set_num_threads(1)  # on small matrices threads wait for each other
DTYPES = [torch.float32, torch.float64, torch.bfloat16]
dtypes = pytest.mark.parametrize("dtype", DTYPES)


def rows(n: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.tensor(list(product((0, 1), repeat=n)), dtype=dtype)


def little_endian(numbers: torch.Tensor, bits: int) -> torch.Tensor:
    return numbers[..., None] >> torch.arange(bits) & 1


# The half adder.

# The listing of section 4.1 for d = 4, i = 1, j = 3, written out.
LISTING = [
    ([[1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0], [0, -1, 0, -1]], [0, -1, 0, 1]),  # AND, NOR
    ([[1, 0, 0, 0], [0, -1, 0, 0], [0, 0, 1, 0], [0, 0, 0, -1]], [0, 1, 0, 1]),  # NAND, OR
    ([[1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0], [0, -1, 0, 0]], [0, -1, 0, 1]),  # XOR, AND
]


def test_the_half_adder_has_the_numbers_of_the_papers_listing():
    assert [(layer.weight.tolist(), layer.bias.tolist()) for layer in HalfAdder(4, 1, 3)] == LISTING
    assert all(type(layer) is Layer for layer in HalfAdder(4, 1, 3))


def test_the_numbers_of_the_listing_move_with_its_places():
    for i, j in permutations(range(6), 2):
        others = [place for place in range(6) if place not in (i, j)]
        order = torch.tensor([others[0], i, others[1], j])  # where the four places of the listing went
        for layer, (W, b) in zip(HalfAdder(6, i, j), LISTING, strict=True):
            weight, bias = torch.eye(6), torch.zeros(6)
            weight[order[:, None], order] = torch.tensor(W, dtype=torch.float32)
            bias[order] = torch.tensor(b, dtype=torch.float32)
            assert torch.equal(layer.weight, weight)
            assert torch.equal(layer.bias, bias)


@dtypes
def test_the_half_adder_at_any_two_of_twelve_places_leaves_the_other_ten_alone(dtype):
    x = rows(12, dtype)
    bits = x.int()
    for i, j in permutations(range(12), 2):
        expected = x.clone()
        expected[:, i], expected[:, j] = bits[:, i] ^ bits[:, j], bits[:, i] & bits[:, j]
        assert torch.equal(HalfAdder(12, i, j).to(dtype)(x), expected)


# The full adder.


@dtypes
def test_the_full_adder_at_any_three_of_eight_places_leaves_the_other_five_alone(dtype):
    x = rows(8, dtype)
    for i, j, k in permutations(range(8), 3):
        total = x[:, [i, j, k]].int().sum(dim=1)
        expected = x.clone()
        expected[:, i], expected[:, j], expected[:, k] = total % 2, 0, total // 2
        assert torch.equal(FullAdder(8, i, j, k).to(dtype)(x), expected)


def test_the_full_adder_is_two_half_adders_and_two_layers_for_the_or_of_their_carries():
    adder = FullAdder(5, 3, 0, 4)
    assert len(adder) == 8
    for layer, part in zip(adder, [*HalfAdder(5, 3, 0), *HalfAdder(5, 3, 4)], strict=False):
        assert torch.equal(layer.weight, part.weight)
        assert torch.equal(layer.bias, part.bias)
    carries = adder[:6](rows(5))[:, [0, 4]]
    assert carries.sum(dim=1).max() == 1  # never both


# Ripple carry.


@dtypes
@pytest.mark.parametrize("bits", range(1, 7))
def test_ripple_carry_adds_all_numbers_and_both_carries(bits, dtype):
    a, b, carry = (part.flatten() for part in torch.meshgrid(*map(torch.arange, (2**bits, 2**bits, 2)), indexing="ij"))
    x = torch.cat([little_endian(a, bits), little_endian(b, bits), carry[:, None]], dim=1).to(dtype)
    adder = RippleCarryAdder(bits)
    out = adder.to(dtype)(x)
    total = little_endian(a + b + carry, bits + 1).to(dtype)
    assert len(x) == 2 ** (2 * bits + 1)
    assert torch.equal(out[:, adder.layout.a.slice], total[:, :bits])
    assert torch.equal(out[:, adder.layout.carry[0]], total[:, bits])
    assert not out[:, adder.layout.b.slice].any()


def test_ripple_carry_takes_eight_layers_for_each_bit_and_every_layer_holds_bits():
    x = rows(7)
    for layer in RippleCarryAdder(3):
        x = layer(x)
        assert set(x.unique().tolist()) == {0, 1}
    assert [len(RippleCarryAdder(bits)) for bits in (1, 2, 7)] == [8, 16, 56]


def test_ripple_carry_adds_long_numbers():
    adder = RippleCarryAdder(40)
    a, b = 2**40 - 1, 123_456_789_012
    out = adder(torch.cat([bits_of(a, 40), bits_of(b, 40), torch.ones(1)]))
    assert number_of(out[adder.layout.a.slice]) + 2**40 * int(out[adder.layout.carry[0]]) == a + b + 1


# The position after a move.


def moves(bits: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Every position with a move to the right, to the left and none, and the positions after it."""
    p = torch.arange(2**bits)
    cases = [((0, 0), 0), ((1, 0), 1), ((0, 1), -1)]
    x = [torch.cat([little_endian(p, bits), torch.tensor([move]).expand(len(p), 2)], dim=1) for move, _ in cases]
    after = [little_endian((p + step) % 2**bits, bits) for _, step in cases]
    return torch.cat(x).to(dtype), torch.cat(after).to(dtype)


@dtypes
@pytest.mark.parametrize("bits", range(1, 7))
def test_the_ripple_carry_move_is_right_for_every_position_and_move(bits, dtype):
    x, after = moves(bits, dtype)
    assert torch.equal(MoveAdder(bits).to(dtype)(x), after)


@dtypes
@pytest.mark.parametrize("bits", range(1, 11))
def test_the_lookahead_move_is_right_for_every_position_and_move(bits, dtype):
    x, after = moves(bits, dtype)
    assert len(x) == 3 * 2**bits
    assert torch.equal(LookaheadAdder(bits).to(dtype)(x), after)


@dtypes
def test_both_move_adders_agree_on_ten_bits(dtype):
    x, after = moves(10, dtype)
    assert torch.equal(MoveAdder(10).to(dtype)(x), after)


def test_lookahead_is_one_relu_layer_and_a_sum_whatever_the_number_of_bits():
    for bits in (1, 7, 30):
        adder = LookaheadAdder(bits)
        assert [type(layer) for layer in adder] == [Layer, Readout]
        assert adder[0].weight.shape == (5 * bits, bits + 2)
    assert [len(MoveAdder(bits)) for bits in (1, 7)] == [8 + 2, 56 + 2]


@dtypes
def test_the_hidden_places_of_lookahead_are_what_its_layout_says(dtype):
    bits = 6
    x, _ = moves(bits, dtype)
    adder = LookaheadAdder(bits).to(dtype)
    hidden, names = adder[0](x), adder.layouts[1]
    assert set(hidden.unique().tolist()) == {0, 1}
    p, right, left = (x[:, part.slice].bool() for part in adder.layout)
    for k in range(bits):
        carry = (right[:, 0] & p[:, :k].all(dim=1)).to(dtype)
        borrow = (left[:, 0] & ~p[:, :k].any(dim=1)).to(dtype)
        bit = p[:, k].to(dtype)
        expected = {"p": bit, "carry": carry, "borrow": borrow, "p_carry": bit * carry, "p_borrow": bit * borrow}
        for name, values in expected.items():
            assert torch.equal(hidden[:, names[name][k]], values)


def test_a_step_from_the_last_position_leads_to_the_first_and_back():
    for adder in (MoveAdder(5), LookaheadAdder(5)):
        assert number_of(adder(torch.cat([bits_of(31, 5), torch.tensor([1.0, 0.0])]))) == 0
        assert number_of(adder(torch.cat([bits_of(0, 5), torch.tensor([0.0, 1.0])]))) == 31


def test_many_steps_lead_to_the_position_that_counting_gives():
    for adder in (MoveAdder(4), LookaheadAdder(4)):
        position, x = 0, bits_of(0, 4)
        for step in range(60):
            move = (step * step // 7 + step // 5) % 3 - 1
            x = adder(torch.cat([x, torch.tensor([float(move > 0), float(move < 0)])])).detach()
            position = (position + move) % 16
            assert number_of(x) == position


# Layouts and shapes.


def test_an_adder_names_the_places_of_every_layer():
    for adder in (RippleCarryAdder(3), MoveAdder(3), LookaheadAdder(3)):
        widths = [adder[0].weight.shape[1], *(len(layer.weight) for layer in adder)]
        assert [layout.width for layout in adder.layouts] == widths
        assert adder.layouts[0] == adder.layout
    assert RippleCarryAdder(3).layout == Layout(a=3, b=3, carry=1)
    assert MoveAdder(3).layout == LookaheadAdder(3).layout == Layout(p=3, right=1, left=1)
    assert MoveAdder(3).layouts[-1] == LookaheadAdder(3).layouts[-1] == Layout(p=3)


def test_leading_dimensions_are_kept_and_bits_may_be_integers_or_booleans():
    for adder in (HalfAdder(6, 0, 5), FullAdder(6, 0, 5, 2), MoveAdder(4), LookaheadAdder(4)):
        flat = adder(rows(6))
        for dtype in (torch.float32, torch.bool, torch.int64):
            out = adder(rows(6).reshape(2, 4, 8, 6).to(dtype))
            assert out.shape == (2, 4, 8, flat.shape[1])
            assert torch.equal(out.reshape(flat.shape), flat)


# Numbers and bits.


def test_bits_and_numbers_are_each_others_inverse():
    for number in range(256):
        assert number_of(bits_of(number, 8)) == number
        assert bits_of(number, 8).tolist() == [float(bit) for bit in reversed(f"{number:08b}")]
    assert number_of(bits_of(2**200 + 5, 201)) == 2**200 + 5


def test_a_number_is_taken_modulo_two_to_the_bits():
    assert torch.equal(bits_of(-1, 5), torch.ones(5))
    assert torch.equal(bits_of(37, 5), bits_of(5, 5))
    assert number_of(bits_of(-3, 6)) == 61


def test_bits_of_any_type_are_a_number():
    for dtype in (*DTYPES, torch.bool, torch.uint8, torch.int64):
        assert number_of(torch.tensor([0, 1, 1]).to(dtype)) == 6
    assert number_of([0, 1, 1]) == 6
    assert number_of(LookaheadAdder(2)(torch.tensor([1, 0, 1, 0]))) == 2  # it has a gradient


# Bad input.

BITS = "bits must be an integer of at least 1, and {!r} was given."
BAD = {
    "a half adder on one place": (
        lambda: HalfAdder(4, 2, 2),
        ValueError,
        "i and j are the same place, 2. Give two different ones.",
    ),
    "a full adder on two places": (
        lambda: FullAdder(4, 2, 1, 2),
        ValueError,
        "i and k are the same place, 2. Give two different ones.",
    ),
    "a vector without places": (
        lambda: HalfAdder(0, 0, 1),
        ValueError,
        "The width of a vector must be an integer of at least 1, and 0 was given.",
    ),
    "a width that is a fraction": (
        lambda: FullAdder(4.0, 0, 1, 2),
        ValueError,
        "The width of a vector must be an integer of at least 1, and 4.0 was given.",
    ),
    "a vector of the wrong width": (
        lambda: RippleCarryAdder(3)(torch.zeros(6)),
        ValueError,
        "This layer takes vectors of width 7, and a tensor of shape (6,) was given.",
    ),
    "a position without a direction": (
        lambda: LookaheadAdder(3)(torch.zeros(2, 3)),
        ValueError,
        "This layer takes vectors of width 5, and a tensor of shape (2, 3) was given.",
    ),
    "a bit that is neither 0 nor 1": (
        lambda: number_of(torch.tensor([0.0, 0.5])),
        ValueError,
        "A number is one vector of bits, each exactly 0 or 1, and [0.0, 0.5] was given.",
    ),
    "a bit that is not a number": (
        lambda: number_of(torch.tensor([0.0, torch.nan])),
        ValueError,
        "A number is one vector of bits, each exactly 0 or 1, and [0.0, nan] was given.",
    ),
    "two numbers at once": (
        lambda: number_of(torch.tensor([[0, 1], [1, 1]])),
        ValueError,
        "A number is one vector of bits, each exactly 0 or 1, and [[0, 1], [1, 1]] was given.",
    ),
    "one bit that is not a vector": (
        lambda: number_of(torch.tensor(1)),
        ValueError,
        "A number is one vector of bits, each exactly 0 or 1, and 1 was given.",
    ),
    "the bits of a fraction": (
        lambda: bits_of(1.5, 3),
        TypeError,
        "'float' object cannot be interpreted as an integer",
    ),
}
for place in (-1, 4, True, 1.0, None, "1"):
    wrong = f"a place in a vector of width 4, must be an integer from 0 to 3, and {place!r} was given."
    BAD[f"a half adder at {place!r}"] = (lambda place=place: HalfAdder(4, place, 0), ValueError, f"i, {wrong}")
    BAD[f"a carry at {place!r}"] = (lambda place=place: HalfAdder(4, 0, place), ValueError, f"j, {wrong}")
    BAD[f"a full adder at {place!r}"] = (lambda place=place: FullAdder(4, 0, 2, place), ValueError, f"k, {wrong}")
for bits in (0, -1, True, 2.0, "2", None):
    BAD[f"bits_of with {bits!r} bits"] = (lambda bits=bits: bits_of(3, bits), ValueError, BITS.format(bits))
    for adder in (RippleCarryAdder, MoveAdder, LookaheadAdder):
        BAD[f"{adder.__name__}({bits!r})"] = (
            lambda adder=adder, bits=bits: adder(bits),
            ValueError,
            BITS.format(bits),
        )


@pytest.mark.parametrize("case", BAD)
def test_an_adder_that_makes_no_sense_is_refused_with_its_reason(case):
    action, error, message = BAD[case]
    with pytest.raises(error) as caught:
        action()
    assert str(caught.value) == message
