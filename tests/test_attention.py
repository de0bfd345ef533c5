"""Attention with weights set by hand: exact on ties, one-hot from a stated κ on, a look-up as a loop would do it."""

import math
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from turing.attention import Attention, Lookup, least_kappa, literal, ratio
from turing.gates import Readout
from turing.layout import Layout

torch.set_num_threads(1)  # on small matrices threads wait for each other
DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
dtypes = pytest.mark.parametrize("dtype", DTYPES, ids=str)
# Up to 60, where n copies of 1/n, rounded to float32 and added one by one, do not give 1.
INEXACT = [
    10, 11, 12, 14, 18, 19, 20, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 33, 34, 36, 37, 38, 40, 41, 42, 43, 44, 46,
    47, 48, 49, 50, 52, 53, 54, 55, 56, 57, 58, 59, 60,
]  # fmt: skip


# The average.


@dtypes
def test_the_ratio_is_exact_on_every_tie_of_up_to_3000(dtype):
    wrong = [n for n in range(1, 3001) if ratio(torch.zeros(1, n, dtype=dtype), torch.ones(n, 1, dtype=dtype)) != 1]
    assert wrong == []


@dtypes
def test_a_tie_is_exact_among_keys_that_miss_and_the_other_value_is_exactly_0(dtype):
    for n in (1, 2, 10, 11, 100, 1000):
        scores = torch.tensor([[2.0, 1.5] * n], dtype=dtype)
        values = torch.tensor([[1.0, 0.0], [0.0, 1.0]] * n, dtype=dtype)
        assert ratio(scores, values).tolist() == [[1, 0]]
        assert ratio(scores.flip(-1), values).tolist() == [[0, 1]]


def test_the_literal_sum_is_wrong_exactly_where_n_rounded_parts_do_not_add_up_to_1():
    def one_by_one(n: int) -> float:
        total, part = torch.zeros(()), torch.ones(()) / n
        for _ in range(n):
            total = total + part
        return total.item()

    found = [n for n in range(1, 61) if literal(torch.zeros(1, n), torch.ones(n, 1)).item() != 1]
    assert found == [n for n in range(1, 61) if one_by_one(n) != 1] == INEXACT


def test_ratio_and_literal_are_the_same_average_up_to_rounding():
    generator = torch.Generator().manual_seed(0)
    scores, values = torch.rand(4, 3, 7, generator=generator), torch.rand(4, 7, 2, generator=generator)
    assert torch.allclose(ratio(scores, values, 3.0), literal(scores, values, 3.0))
    assert torch.allclose(ratio(scores, values, 3.0), torch.softmax(3.0 * scores, dim=-1) @ values)


def test_values_that_tie_and_differ_are_averaged():
    assert ratio(torch.zeros(1, 4), torch.tensor([[1.0], [0.0], [0.0], [1.0]])).item() == 0.5


@dtypes
@pytest.mark.parametrize("gap", [0.5, 1.0])
def test_least_kappa_is_the_least(dtype, gap):
    scores, least = torch.tensor([0.0, -gap], dtype=dtype), least_kappa(dtype, gap)
    for kappa, is_zero in ((least - 1, False), (least, True), (least + 1, True)):
        assert (torch.exp(kappa * scores)[1] == 0).item() is is_zero
        assert (torch.softmax(kappa * scores, dim=0)[1] == 0).item() is is_zero


@dtypes
@pytest.mark.parametrize("gap", [1, 1 / 2, 1 / 4, 1 / 8, 1 / 16])
def test_from_least_kappa_on_a_miss_by_a_sixteenth_or_more_has_weight_0(dtype, gap):
    least = least_kappa(dtype, gap)
    kappas = [*range(least, least + 50), 2 * least, 10 * least]
    assert not any(torch.exp(kappa * torch.tensor(-gap, dtype=dtype)) for kappa in kappas)


def test_least_kappa_has_the_numbers_that_the_book_prints():
    assert [least_kappa(dtype) for dtype in DTYPES] == [208, 1491, 186, 35]


# Where a head may look.


@pytest.mark.parametrize("null", [True, False])
@pytest.mark.parametrize(
    ("mask", "sees"),
    [
        ("causal", lambda column, row: row <= column),
        ("strict", lambda column, row: row < column),
        ("prefix", lambda column, row: row <= column),
        ("offset", lambda column, row: row == column - 2),
        ("window", lambda column, row: column - 3 <= row <= column),
    ],
)
def test_a_column_looks_where_its_mask_says_and_at_the_null_key(mask, sees, null):
    """Four columns after three rows of the word, all counted from the first row."""
    maps = [Readout(torch.zeros(2, 2), torch.zeros(2)) for _ in range(4)]
    more = {"offset": 2} if mask == "offset" else {"oldest": torch.zeros(2)} if mask == "window" else {}
    keys = [torch.zeros(2)] * 2 if null else [None] * 2
    hidden = Attention(*maps, *keys, mask=mask, **more).hidden(4, before=3)
    assert hidden.tolist() == [[not sees(column, row) for row in range(7)] + [False] * null for column in range(3, 7)]


# The look-up.


def table(bits: int) -> Layout:
    return Layout(ask=bits, address=bits, content=2, found=2)


def by_hand(columns: torch.Tensor, keys: torch.Tensor, x: Layout) -> torch.Tensor:
    """What the look-up has to give, as a loop: the average of what fits, nothing where nothing does."""
    out = columns.clone()
    for row in out:
        fits = [key[x.content.slice] for key in keys if torch.equal(key[x.address.slice], row[x.ask.slice])]
        if fits:
            row[x.found.slice] += sum(fits) / len(fits)
    return out


def columns_of(bits: int, rows: list[tuple[int, int, int]], dtype=torch.float32) -> torch.Tensor:
    """A column for each (asked, address, content)."""
    x = table(bits)
    columns = torch.zeros(len(rows), x.width, dtype=dtype)
    for column, (asked, address, content) in zip(columns, rows, strict=True):
        for part, number in ((x.ask, asked), (x.address, address), (x.content, content)):
            column[part.slice] = torch.tensor([number >> k & 1 for k in range(part.size)])
    return columns


def head_of(bits: int, dtype=torch.float32, **options) -> Lookup:
    x = table(bits)
    return Lookup(x.width, ask=x.ask, at=x.address, fetch=x.content, into=x.found, **options).to(dtype)


@dtypes
@pytest.mark.parametrize("bits", [1, 2, 3, 4, 5])
def test_every_address_finds_its_own_column_and_no_other(bits, dtype):
    n = 2**bits
    head = head_of(bits, dtype)
    asks = columns_of(bits, [(asked, 0, 0) for asked in range(n)], dtype)
    memory = columns_of(bits, [(0, address, address % 3 + 1) for address in range(n)], dtype)
    with torch.no_grad():
        found = head(asks, *head.remember(memory))
        assert torch.equal(found, by_hand(asks, memory, table(bits)))
        assert torch.equal(head.weights(asks, head.remember(memory)[0]), torch.eye(n, n + 1, dtype=dtype))
        for gone in range(n):  # with one column away, its address finds nothing, and nobody else notices
            there = memory[[address for address in range(n) if address != gone]]
            found = head(asks, *head.remember(there))
            assert torch.equal(found, by_hand(asks, there, table(bits)))
            assert head.weights(asks, head.remember(there)[0])[gone, -1] == 1


def test_a_match_scores_half_more_than_the_null_key_which_scores_half_more_than_a_near_match():
    for bits in (1, 3, 6):
        head = head_of(bits)
        memory = columns_of(bits, [(0, address, 0) for address in range(2**bits)])
        scores = head.scores(columns_of(bits, [(0, 0, 0)]), head.remember(memory)[0])[0].tolist()
        wrong_bits = [address.bit_count() for address in range(2**bits)]
        assert scores == [*(bits / 2 - wrong for wrong in wrong_bits), (bits - 1) / 2]


@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from(DTYPES), st.integers(1, 5))
def test_a_look_up_in_a_random_set_of_keys_finds_what_a_loop_finds(data, dtype, bits):
    address = st.integers(0, 2**bits - 1)
    content = data.draw(st.lists(st.integers(0, 3), min_size=2**bits, max_size=2**bits))
    rows = [(asked, at, content[at]) for asked, at in data.draw(st.lists(st.tuples(address, address), min_size=1))]
    columns, head = columns_of(bits, rows, dtype), head_of(bits, dtype)
    with torch.no_grad():
        assert torch.equal(head(columns, *head.remember(columns)), by_hand(columns, columns, table(bits)))


def test_a_constant_1_can_be_asked_for_and_fetched():
    x = Layout(a=1, b=1, flag=1)
    head = Lookup(x.width, ask=[x.a[0], None], at=[x.a[0], x.b[0]], fetch=[None], into=[x.flag[0]])
    columns = torch.tensor(list(product([0.0, 1.0], repeat=2)))
    columns = torch.cat([columns, torch.zeros(4, 1)], dim=-1)
    for there in range(5):
        memory = columns[:there]
        expected = [float(any(m[0] == c[0] and m[1] == 1 for m in memory)) for c in columns]
        assert head(columns, *head.remember(memory))[:, 2].tolist() == expected


def test_nothing_is_found_among_no_columns():
    head, columns = head_of(2), columns_of(2, [(1, 1, 3)])
    assert torch.equal(head(columns, *head.remember(columns[:0])), columns)
    assert head.weights(columns, head.remember(columns[:0])[0]).tolist() == [[1]]


@pytest.mark.parametrize("average", ["ratio", "literal"])
def test_a_batch_of_any_shape_gives_what_its_members_give(average):
    head = head_of(3, average=average)
    columns = columns_of(3, [(k, 3 * k % 8, k % 4) for k in range(8)])
    batch = torch.stack([columns, columns.flip(0)]).unsqueeze(0).repeat(3, 1, 1, 1)
    out = head(batch, *head.remember(batch))
    assert out.shape == batch.shape
    assert torch.equal(out[2, 0], head(columns, *head.remember(columns)))
    assert torch.equal(out[1, 1], head(columns.flip(0), *head.remember(columns.flip(0))))
    shared = head(batch, *head.remember(columns))  # one memory for all
    assert torch.equal(shared[0, 1], head(columns.flip(0), *head.remember(columns)))


def test_a_hidden_column_is_not_found_and_the_null_key_may_be_hidden_too():
    head = head_of(1)
    columns = columns_of(1, [(1, 0, 0), (1, 1, 1), (0, 1, 2)])
    memory = head.remember(columns)
    later = torch.ones(3, 3, dtype=torch.bool).triu(1)
    hidden = torch.nn.functional.pad(later, (0, 1))
    found = head(columns, *memory, hidden)[:, table(1).found.slice]
    assert found.tolist() == [[0, 0], [1, 0], [0, 0]]  # the first column does not see the second
    without = torch.nn.functional.pad(later, (0, 1), value=True)
    assert head(columns, *memory, without)[0].isfinite().all()


def test_the_numbers_of_a_look_up_are_parameters():
    head = head_of(2)
    assert [(name, tuple(numbers.shape)) for name, numbers in head.named_parameters()] == [
        ("null_key", (3,)), ("null_value", (2,)), ("query.weight", (3, 8)), ("query.bias", (3,)),
        ("key.weight", (3, 8)), ("key.bias", (3,)), ("value.weight", (2, 8)), ("value.bias", (2,)),
        ("write.weight", (8, 2)), ("write.bias", (8,)),
    ]  # fmt: skip
    assert head.query.weight.unique().tolist() == [0, 2]
    assert head.null_key.tolist() == [0, 0, 0.5]
    assert list(head.buffers()) == []
    assert repr(head).startswith("Lookup(\n  κ=9999, ratio")


@dtypes
def test_check_names_the_least_kappa_that_is_large_enough(dtype):
    least = least_kappa(dtype)
    head_of(3, dtype, kappa=least).check()
    with pytest.raises(ValueError, match=rf"κ = {least - 1} is too small for {dtype}: .* Take κ = {least} or more"):
        head_of(3, dtype, kappa=least - 1).check()


@pytest.mark.parametrize("kappa", [math.nan, math.inf, 2e38])
def test_check_refuses_a_kappa_that_is_infinite_or_not_a_number(kappa):
    head = head_of(3, torch.float32)
    head.kappa = kappa
    with pytest.raises(ValueError, match=r"is infinite or not a number\. Take one from 208 to 1e"):
        head.check()


@pytest.mark.parametrize(("dtype", "limit"), [(torch.bfloat16, 256), (torch.float16, 2048)])
def test_check_refuses_more_bits_than_the_type_can_tell_apart(dtype, limit):
    def head(bits):
        return Lookup(2 * bits + 1, range(bits), range(bits, 2 * bits), [None], [2 * bits]).to(dtype)

    head(limit).check()
    with pytest.raises(ValueError, match=f"{limit + 1} bits are compared here, and {dtype} .* up to {limit} bits"):
        head(limit + 1).check()


@dtypes
def test_with_as_many_bits_as_a_type_allows_a_near_match_still_differs_from_a_match(dtype):
    bits = min(int(2 / torch.finfo(dtype).eps), 300)
    head = Lookup(2 * bits + 1, range(bits), range(bits, 2 * bits), [None], [2 * bits]).to(dtype)
    columns = torch.zeros(1, 2 * bits + 1, dtype=dtype)
    columns[0, :bits] = torch.arange(bits) % 2
    match = torch.zeros(1, 2 * bits + 1, dtype=dtype)
    match[0, bits : 2 * bits] = columns[0, :bits]
    near = match.clone()
    near[0, bits] = 1 - near[0, bits]
    assert head(columns, *head.remember(match))[0, -1] == 1
    assert head(columns, *head.remember(near))[0, -1] == 0


@dtypes
@pytest.mark.parametrize("average", ["ratio", "literal"])
def test_if_check_passes_the_weights_are_hard_at_any_number_of_bits(dtype, average):
    for bits, kappa in product(range(1, 33), (least_kappa(dtype), 9999, 1e38)):
        head = Lookup(2 * bits + 1, range(bits), range(bits, 2 * bits), [None], [2 * bits], kappa, average).to(dtype)
        head.check()
        asking = torch.zeros(1, 2 * bits + 1, dtype=dtype)
        near = asking.clone()
        near[0, bits] = 1
        for memory, found in ((asking, 1), (near, 0)):
            keys, values = head.remember(memory)
            assert head(asking, keys, values)[0, -1] == found
            assert head.weights(asking, keys).tolist() == [[found, 1 - found]]


# Wrong arguments.


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"average": "softmax"}, "An average is one of ratio, literal, and 'softmax' was given"),
        ({"average": ["ratio"]}, r"An average is one of ratio, literal, and \['ratio'\] was given"),
        ({"kappa": 0}, "κ is a number above 0, such as 9999, .* 0 was given"),
        ({"kappa": -5}, "-5 was given"),
        ({"kappa": float("nan")}, "nan was given"),
        ({"kappa": float("inf")}, "inf was given"),
        ({"kappa": 1e39}, r"at most 1e\+38; 1e\+39 was given"),
        ({"kappa": 10**400}, "κ is a number above 0"),
        ({"kappa": "9999"}, "'9999' was given"),
        ({"kappa": True}, "True was given"),
        ({"width": 0}, "The width of a vector must be an integer of at least 1, and 0 was given"),
        ({"ask": [0, 8]}, r"ask\[1\], a place in a vector of width 8, must be an integer from 0 to 7, and 8 was given"),
        ({"ask": [0]}, "ask and at must have the same number of places, at least one; 1 and 2 were given"),
        ({"ask": [], "at": []}, "ask and at must have the same number of places, at least one; 0 and 0 were given"),
        ({"at": [2, 2]}, r"at\[0\] and at\[1\] are the same place, 2"),
        ({"at": [2, None]}, r"at\[1\], a place in .*, and None was given"),
        ({"at": [2, -1]}, r"at\[1\], a place in .*, and -1 was given"),
        ({"fetch": [4]}, "fetch and into must have the same number of places, at least one; 1 and 2 were given"),
        ({"fetch": [4, 5.0]}, r"fetch\[1\], a place in .*, and 5.0 was given"),
        ({"into": [6, True]}, r"into\[1\], a place in .*, and True was given"),
        ({"into": [6, 6]}, r"into\[0\] and into\[1\] are the same place, 6"),
    ],
)
def test_a_look_up_with_a_wrong_argument_is_refused(change, message):
    places = {"width": 8, "ask": [0, 1], "at": [2, 3], "fetch": [4, 5], "into": [6, 7]}
    with pytest.raises(ValueError, match=message):
        Lookup(**places | change)


def test_attention_with_given_maps_refuses_an_unknown_average_too():
    one = Readout(torch.ones(1, 1), torch.zeros(1))
    with pytest.raises(ValueError, match="one of ratio, literal, and 'mean' was given"):
        Attention(one, one, one, one, torch.zeros(1), torch.zeros(1), average="mean")


@pytest.mark.parametrize("gap", [0, -1, float("nan")])
def test_a_gap_that_is_not_above_0_is_refused(gap):
    with pytest.raises(ValueError, match=f"gap between .* must be above 0, and gap={gap} was given"):
        least_kappa(torch.float32, gap)


def test_a_column_of_another_width_is_refused():
    head = head_of(2)
    with pytest.raises(ValueError, match=r"takes vectors of width 8, and a tensor of shape \(1, 7\) was given"):
        head.remember(torch.zeros(1, 7))
