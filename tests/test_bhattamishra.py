"""The decoder of Bhattamishra et al.: SS95 inside a transformer, against the plain interpreter."""

from itertools import islice, product

import pytest
import torch
from long_runs import PARENTHESES, same
from machines import random_machines

import turing
from turing.bhattamishra import Bhattamishra20, ReadingStacks
from turing.cantor import DepthError
from turing.machine import TuringMachine

torch.set_num_threads(1)
BINARY = turing.zoo["binary_increment"]
COUNTED = {"words": 7, "random": 8}  # what the quick tests try at least


def words(length):
    """All words of that many parentheses."""
    return ["B" + "".join(letters) + "E" for letters in product("()", repeat=length)]


@pytest.fixture(scope="module")
def folded():
    return Bhattamishra20(PARENTHESES, version=4)


def test_short_words_are_judged_as_the_machine_does(folded):
    tried = [*words(0), *words(1), *words(2)]
    for word in tried:
        assert folded.run(word, 200) == PARENTHESES.run(word, 200)
    assert len(tried) >= COUNTED["words"]
    same(folded, PARENTHESES, "B)(E", 200)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("length", "part"), [*((n, slice(None)) for n in range(8)), (8, slice(128)), (8, slice(128, 256))]
)
def test_every_word_up_to_length_8(folded, length, part):
    tried = words(length)[part]
    total = sum(same(folded, PARENTHESES, word, 300) for word in tried)
    print(f"{len(tried)} words of length {length}, {total:,} configurations")
    assert total >= 4 * len(tried)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in turing.zoo if name != "universal"])
def test_the_zoo_on_its_samples(name):
    machine = turing.zoo[name]
    network = Bhattamishra20(machine)
    for sample in turing.zoo.entry(name).samples:
        same(network, machine, sample.word, 300)


def check_random(number, steps, begin=0):
    total = 0
    for machine, word in islice(random_machines(begin + number), begin, None):
        total += same(Bhattamishra20(machine, version=4), machine, word, steps)
    print(f"{number} machines, {total:,} configurations")
    assert total >= 2 * number


def test_random_machines_with_all_three_moves():
    check_random(COUNTED["random"], 20)


@pytest.mark.slow
@pytest.mark.parametrize("begin", range(0, 200, 50))
def test_two_hundred_random_machines(begin):
    check_random(50, 60, begin)


@pytest.mark.parametrize("options", [{}, {"positions": False}, {"version": 4, "positions": False}], ids=str)
def test_one_layer_and_no_positions_give_the_same_runs(options):
    network = Bhattamishra20(BINARY, **options)
    for word in ("", "1", "1011"):
        same(network, BINARY, word, 60)
    assert turing.verify(network, BINARY, ["", "101"])


def test_the_word_comes_in_through_the_head_alone(folded):
    assert folded.initial("B()E") == folded.initial("")
    with torch.no_grad():
        for part in ("value", "write"):
            getattr(folded.pipeline["input"], part).numerators.zero_()
            with pytest.raises(ArithmeticError):
                folded.run("B()E")
            folded.load_state_dict(Bhattamishra20(PARENTHESES, version=4).state_dict())
    assert folded.run("B()E") == PARENTHESES.run("B()E")


def test_reading_costs_what_it_says(folded):
    stacks = folded.stacks
    for word in ("", "B", "B()E"):
        before = [now.state for _, now, _, _ in stacks.passes(word, 1) if now.state in stacks.reading]
        assert len(before) == stacks.read_steps(word) == 2 * len(word) * stacks.k + 2
    run = folded.run("B()E")
    assert run.micro_steps == 4 * (stacks.read_steps("B()E") + 3 * run.steps)


def test_names_of_the_machine_may_be_those_that_reading_adds():
    clash = TuringMachine({("read", "0"): ("turn", "1", 1), ("turn", "0"): ("back", "1", -1)}, "read", {"back"}, "0")
    stacks = ReadingStacks(clash)
    assert {stacks.read, stacks.turn, stacks.back}.isdisjoint(clash.states)
    same(Bhattamishra20(clash), clash, "00", 10)


@pytest.mark.parametrize("version", [1, 4])
def test_floats_are_right_or_refuse(version):
    network = Bhattamishra20(PARENTHESES, arithmetic="float64", version=version)
    assert network.run("BE") == PARENTHESES.run("BE")
    with pytest.raises(DepthError, match=r"The word takes a stack of 30 bits while it is read"):
        network.run("B()()()()E")


def test_verify_names_a_changed_weight_in_each_module(folded):
    for name, module in folded.pipeline.items():
        network = Bhattamishra20(PARENTHESES, version=4)
        first = next(network.pipeline[name].parameters())
        with torch.no_grad():
            first[first != 0] += 1
        report = turing.verify(network, PARENTHESES, ["B()E"])
        assert report.divergences[0].layer == name, module


def test_options_that_make_no_sense_are_refused():
    with pytest.raises(
        TypeError, match=r"unexpected keyword argument 'T'\. Its options: arithmetic, version, positions"
    ):
        turing.compile(BINARY, "bhattamishra20", T=100)
    for option, message in (
        ({"version": 2}, r"version is 1, for one pass a micro-step, or 4"),
        ({"positions": "no"}, r"positions is True or False"),
        ({"arithmetic": "float16"}, r"An arithmetic is one of exact, float32, float64"),
    ):
        with pytest.raises(ValueError, match=message):
            Bhattamishra20(BINARY, **option)
