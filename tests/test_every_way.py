"""What a network does is what its machine does: every construction, in every number type, by every engine.

Runs, traces and every number inside, on words, machines of the zoo, random machines and odd ones.
"""

import itertools

import pytest
import torch
from hypothesis import given, settings
from machines import machines_and_words, numbered, walker
from ways import ALL_WCM, IN_TURN, ROW, SOME, SOME_WCM, STACKS, Way, exact, nest, parentheses

import turing
from paper import BALANCED, FIGURE_1
from turing.construction import constructions
from turing.machine import TuringMachine
from turing.zoo import NAMES, zoo

slow = pytest.mark.slow
ways = pytest.mark.parametrize("way", SOME, ids=str)
all_ways = pytest.mark.parametrize("way", [*ALL_WCM, *STACKS], ids=str)
torch_ways = pytest.mark.parametrize("way", [way for way in ALL_WCM if way.engine == "torch"], ids=str)
in_turn = pytest.mark.parametrize("ways", IN_TURN, ids=lambda ways: f"{len(ways)}-{ways[0]}")


def test_some_ways_have_every_construction_and_every_adder_and_number_type_with_every_engine():
    assert {(way.adder, way.engine) for way in SOME} >= {(way.adder, way.engine) for way in ALL_WCM}
    assert {(way.dtype, way.engine) for way in SOME} >= {(way.dtype, way.engine) for way in ALL_WCM}
    elsewhere = {"perez21", "bhattamishra20", "merrill24", "liwang25", "li24"}  # have test files of their own
    elsewhere |= {"whole-tape"}  # may be registered by another test file
    assert {"wcm21" if way.wcm else way.adder for way in SOME} == set(constructions()) - elsewhere


# Balanced parentheses.


@ways
def test_every_word_of_up_to_4_parentheses_or_fewer_where_that_takes_long_is_exact(way):
    longest = 2 if not way.wcm else 3 if way.engine == "indexed" else 4
    assert exact(way, BALANCED, parentheses(longest), 64) == {2: 30, 3: 75, 4: 187}[longest]


@slow
@torch_ways
def test_every_word_of_up_to_10_parentheses_is_exact(way):
    words = parentheses(10)
    steps = exact(way, BALANCED, words, 100)
    print(f"{len(words):,} words, {steps:,} steps, {way}: no divergence")
    assert len(words) == 2**11 - 1
    assert steps >= 20_000


@pytest.mark.parametrize("way", [*SOME, Way("ripple", torch.float16)], ids=str)
def test_the_word_of_the_paper_and_a_nest_on_which_the_literal_softmax_fails_are_exact(way):
    assert exact(way, BALANCED, ["B()((()(()))())E", nest(6)], 100) == 81 + 99


@slow
@torch_ways
@pytest.mark.parametrize("deepest", [8, 16, 24, 32])
def test_nests_of_up_to_32_are_exact(deepest, way):
    words = [nest(depth) for depth in range(deepest - 7, deepest + 1)]
    T = BALANCED.run(words[-1]).steps
    steps = exact(way, BALANCED, words, T, bits=(T + len(words[-1]) - 1).bit_length())
    print(f"nests of {deepest - 7} to {deepest}: {steps:,} steps, {way}: no divergence")
    assert steps == sum(2 * depth**2 + 4 * depth + 3 for depth in range(deepest - 7, deepest + 1))


@slow
@torch_ways
def test_the_flat_word_of_32_pairs_is_exact(way):
    assert exact(way, BALANCED, [f"B{'()' * 32}E"], 195) == 195


# The zoo.

LONG = {"bb5", "bb2x4", "antihydra"}  # their samples take from 100,000 steps on
LARGE = {"universal"}  # in one layer, it asks for more neurons than are built


def zoo_is_exact(way: Way, name: str, limit: int, numbers: int = 5_000) -> int:
    """All samples of a machine, up to that many steps."""
    samples = zoo.entry(name).samples
    T = min(limit, max(sample.steps for sample in samples) + 1)
    room = T + max(len(sample.word) for sample in samples)
    options = {"bits": (room - 1).bit_length()} if way.wcm else {}
    return exact(way, zoo[name], [sample.word for sample in samples], T, numbers, **options)


# Each machine with torch, with an index and with the compiled loop, and the small ones through stacks too.
SMALL = ["parity", "binary_increment", "unary_addition", "divisible_by_three", "rock_paper_scissors", *sorted(LONG)]
SMALL += ["bb2", "bb3", "bb4"]
TAKEN = [(name, SOME_WCM[k]) for n, name in enumerate(NAMES) for k in (n % 3, 3 + n % 2, 5 + n % 2)]
TAKEN += [(name, way) for name in SMALL for way in STACKS]


@pytest.mark.parametrize(("name", "way"), TAKEN, ids=str)
def test_machines_of_the_zoo_are_exact_for_40_steps(name, way):
    assert zoo_is_exact(way, name, 40) >= sum(min(40, sample.steps) for sample in zoo.entry(name).samples)


@slow
@all_ways
@pytest.mark.parametrize("name", NAMES)
def test_every_machine_of_the_zoo_is_exact_on_its_samples(name, way):
    if name in LARGE and not way.wcm:
        pytest.skip("has a test of its own in test_ss.py")
    most = 2000 if name in LONG else 5000
    steps = zoo_is_exact(way, name, most, 200_000)
    print(f"{name}: {steps:,} steps, {way}: no divergence")
    assert steps >= sum(min(most, sample.steps) for sample in zoo.entry(name).samples)  # some never end


# Random machines.


def random_machines_are_exact(ways: list[Way], examples: int, T: int, **sizes) -> tuple[int, int]:
    """How many of so many random machines take 20 steps or more, and the steps of all that were compared."""
    long, steps, tried = 0, 0, 0

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(machines_and_words(words=2, **sizes))
    def compare(machine_and_words):
        nonlocal long, steps, tried
        machine, words = machine_and_words
        way = ways[tried % len(ways)]
        options = {"bits": (T + 7).bit_length()} if way.wcm else {}
        if not way.wcm or way.engine != "torch" or tried % 10 == 0:
            steps += exact(way, machine, words, T, 3_000, **options)
        else:  # how a run is read off the columns is tried on every tenth; the columns themselves on all
            report = turing.verify(way.compile(machine, T, **options), machine, words)
            assert report, str(report)
            steps += report.steps
        long += max(machine.run(word, T).steps for word in words) >= 20
        tried += 1

    compare()
    assert tried >= examples
    return long, steps


def test_21_random_machines_are_exact_in_one_way_each():
    long, steps = random_machines_are_exact(SOME_WCM, 21, 30)
    assert long >= 9
    assert steps >= 540


def test_12_small_random_machines_are_exact_in_one_of_the_other_constructions_each():
    long, steps = random_machines_are_exact([*STACKS, ROW], 12, 30, most_states=4, most_symbols=3)
    assert long >= 3
    assert steps >= 150


@slow
@in_turn
def test_500_random_machines_are_exact_for_100_steps_or_more(ways):
    long, steps = random_machines_are_exact(ways, 500, 200 if ways[0].engine == "torch" else 100)
    print(f"500 random machines, {long} of 20 steps or more, {steps:,} steps, {len(ways)} × {ways[0]}: no divergence")
    assert long >= 250
    assert steps >= 50_000


@slow
@pytest.mark.parametrize("way", STACKS, ids=str)
def test_300_random_machines_are_exact_for_100_steps_through_stacks(way):
    long, steps = random_machines_are_exact([way], 300, 100, most_states=5)
    print(f"300 random Turing machines through {way}: {long} of 20 steps or more, {steps:,} steps")
    assert long >= 120
    assert steps >= 10_000


# Machines of all kinds.

ODD = ["pos1", "[", "]", "st[A]", "scr4[visited]", " ", "\n", "∅", "🂡", "a'b\"", "x" * 500, "column", "0", "-", "B E"]
ODD += ["carry[0]", "blank", "*", "–", "('A', 'R')"]


@pytest.mark.parametrize("way", [way for way in SOME if way.adder != "ss95-realtime"], ids=str)  # named as in ss95
def test_names_may_be_any_text(way):
    """A counter that goes through all symbols, one on each cell, in states with the same names."""
    each = 10 if way.wcm else 4
    for odd in [ODD[k : k + each] for k in range(0, len(ODD), each)]:
        after = odd[1:] + odd[:1]
        rules = {(q, a): (p, b, 1) for q, p in itertools.pairwise(odd) for a, b in zip(odd, after, strict=True)}
        machine = TuringMachine(rules, odd[0], {odd[-1]}, odd[3])
        words = [[], odd, [odd[3]] * 3, odd[::-1]]
        options = {"bits": 6} if way.wcm else {}
        assert exact(way, machine, words, 24, **options) == 4 * (len(odd) - 1)


@ways
def test_symbols_may_have_several_characters(way):
    machine = zoo["rock_paper_scissors"]
    words = [("rock", "paper", "rock"), ("scissors", "rock"), ()]
    assert exact(way, machine, words, 8) == sum(machine.run(word).steps for word in words)


@ways
def test_the_blank_and_the_initial_state_may_be_any_of_theirs(way):
    rows = [("A", "0", "B", "1", -1), ("B", "1", "A", "0", 1), ("A", "1", "C", "1", 1), ("B", "0", "A", "1", 1)]
    for initial, blank in ("A1", "B0", "C1"):
        machine = TuringMachine([*rows, ("C", "0", "B", "0", -1)], initial, {"H"}, blank)
        assert exact(way, machine, ["", "1", "0110"], 10) >= 3


@ways
def test_a_stay_reads_what_was_written_in_the_same_step(way):
    machine = TuringMachine(
        {("A", "0"): ("B", "1", 0), ("B", "1"): ("C", "2", 0), ("C", "2"): ("A", "0", -1), ("C", "0"): ("A", "0", 1)},
        "A", (), "0",
    )  # fmt: skip
    assert exact(way, machine, ["", "00"], 30) == 60


@ways
def test_cells_left_of_the_word_are_found_again(way):
    machine = TuringMachine(
        {("L", "_"): ("R", "x", 1), ("L", "x"): ("L", "x", -1), ("R", "x"): ("R", "x", 1), ("R", "a"): ("L", "x", -1),
         ("L", "a"): ("L", "a", -1), ("R", "_"): ("H", "_", 0)},
        "L", {"H"}, "_",
    )  # fmt: skip
    word = "aaaa"
    assert min(now.head for now in machine.trace(word)) == -5
    assert exact(way, machine, [word, "", "a"], 60) >= 45


@ways
@pytest.mark.parametrize(("move", "T"), [(-1, 3), (0, 1), (1, 3)])
def test_a_machine_of_one_state_and_one_symbol_runs_to_its_limit(way, move, T):
    machine = TuringMachine({("A", "0"): ("A", "0", move)}, "A", (), "0")
    options = {"bits": 4} if way.wcm else {}
    assert exact(way, machine, ["", "0"], T, **options) == 2 * T


@pytest.mark.parametrize("way", SOME_WCM, ids=str)
@pytest.mark.parametrize("bits", [1, 2, 5])
def test_the_last_of_2_to_the_l_steps_still_has_a_number_of_its_own(way, bits):
    machine = TuringMachine(
        {("A", "0"): ("B", "1", 1), ("B", "0"): ("A", "1", -1), ("A", "1"): ("B", "0", 1), ("B", "1"): ("A", "0", -1)},
        "A", (), "0",
    )  # fmt: skip
    assert way.compile(machine, 2**bits).bits == bits
    assert exact(way, machine, ["", "1", "01"], 2**bits) == 3 * 2**bits


@ways
def test_a_machine_that_halts_before_it_starts_takes_no_step(way):
    machine = TuringMachine({("A", "0"): ("H", "1", 1)}, "H", {"H"}, "0")
    assert exact(way, machine, ["", "0", "101"], 4) == 0
    net = way.compile(machine, 4)
    assert net.run("101", engine=way.engine).status == "halted"
    with pytest.raises(ValueError, match="Step 1 was asked for, and the run on this word ends with step 0"):
        net.activations("", 1)


FLIP = TuringMachine(
    {("A", "0"): ("A", "1", 1), ("A", "1"): ("B", "0", 1), ("B", "1"): ("A", "1", 0), ("B", "_"): ("H", "0", -1)},
    "A", {"H"}, "_",
)  # fmt: skip


@ways
def test_a_machine_that_jams_at_once_or_later_ends_as_the_oracle_says(way):
    net = way.compile(FLIP, 16)
    for word, steps in (("_", 0), ("", 0), ("10", 1), ("00", 2)):
        run = net.run(word, 16, engine=way.engine)
        assert run == FLIP.run(word)
        assert (run.status, run.steps) == ("jammed", steps)
        assert len(list(run.trace)) == steps + 1
        assert net.run(word, steps, engine=way.engine).status == FLIP.run(word, steps).status == "limit"
    assert exact(way, FLIP, ["_", "", "10", "00"], 16) == 1 + 1 + 2 + 3


@ways
def test_every_limit_ends_the_run_where_it_ends_the_machines(way):
    net, words = way.compile(FLIP, 16), ["11", "1", "10"]
    for limit in range(6):
        run = net.run("11", limit, engine=way.engine)
        assert run == FLIP.run("11", limit)
        assert len(list(net.trace("11", limit, engine=way.engine))) == run.steps + 1
        assert net.run_batch(words, limit, engine=way.engine) == [FLIP.run(word, limit) for word in words]


@ways
def test_a_word_may_be_longer_than_the_run(way):
    options = {"bits": 6} if way.wcm else {}
    assert exact(way, walker(1), ["a" * 40], 4, **options) == 4


@ways
def test_a_word_comes_as_a_string_a_list_or_a_generator(way):
    net = way.compile(FLIP, 16)
    for word in ("011", ["0", "1", "1"], (symbol for symbol in "011")):
        run = net.run(word, 16, engine=way.engine)
        assert run == FLIP.run("011")
        assert numbered(run.trace) == numbered(FLIP.trace("011"))


# Batches and traces.


@ways
def test_a_batch_of_words_ends_as_its_words_do_one_by_one(way):
    net, words = way.compile(FLIP, 16), ["", "1", "011", "_", "11111", "10", ["1", "1"], "00000001"]
    runs = net.run_batch(words, 16, engine=way.engine)
    assert runs == [net.run(word, 16, engine=way.engine) for word in words] == [FLIP.run(word) for word in words]
    assert [numbered(run.trace) for run in runs[:3]] == [numbered(FLIP.trace(word)) for word in words[:3]]
    assert net.run_batch(iter(words), 3, engine=way.engine) == [FLIP.run(word, 3) for word in words]
    assert net.run_batch([], engine=way.engine) == []


@ways
def test_a_trace_comes_step_by_step_and_leaves_the_gradients_on(way):
    net = way.compile()
    trace = net.trace("B()E", 100, engine=way.engine)
    assert [str(next(trace)) for _ in range(3)] == FIGURE_1.splitlines()[:3]
    assert torch.is_grad_enabled()
    assert [str(now) for now in net.trace("B()E", 100, engine=way.engine)] == FIGURE_1.splitlines()
