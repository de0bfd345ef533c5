"""The WCM21 step with the lookahead adder: three ReLU layers, and at every head the vectors of the paper's network.

That it is exact is held by test_every_way.py, which runs both adders.
"""

import itertools
import random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import machines_and_words
from ways import DTYPES, lookahead, parentheses

import turing
from paper import BALANCED
from turing.attention import Attention
from turing.gates import Layer
from turing.machine import TuringMachine
from turing.wcm import (
    WCM21,
    BinarySearchStep,
    GetInitialSymbol,
    GetLastWrittenSymbol,
    IndicateVisitedPosition,
)
from turing.wcm.lookahead import Assemble, Carry, Choose, Detect, Move
from turing.zoo import NAMES, zoo

slow = pytest.mark.slow


@pytest.fixture(scope="module")
def net() -> WCM21:
    return lookahead()


# Sizes.


def test_the_modules_stand_in_this_order(net):
    assert [type(module) for module in net.pipeline.values()] == [
        Detect, Carry, Move, IndicateVisitedPosition, *[BinarySearchStep] * 7, GetLastWrittenSymbol, GetInitialSymbol,
        Choose, Assemble,
    ]  # fmt: skip
    heads = ["visited", *(f"search{j}" for j in range(6, -1, -1)), "last", "initial"]
    assert list(net.pipeline) == ["detect", "carry", "move", *heads, "choose", "assemble"]


def test_three_layers_of_a_step_have_a_relu_and_two_have_none(net):
    around = {name: module for name, module in net.pipeline.items() if not isinstance(module, Attention)}
    assert [name for name, module in around.items() if isinstance(module, Layer)] == ["detect", "carry", "choose"]
    assert len(around) == 5


@pytest.mark.parametrize("T", [100, 128])
def test_balanced_parentheses_take_a_tenth_of_the_papers_numbers(T):
    one, paper = lookahead(T=T), turing.compile(BALANCED, "wcm21", T=T)
    assert sum(numbers.numel() for numbers in one.parameters()) == 27_985
    assert sum(numbers.numel() for numbers in paper.parameters()) == 292_633
    assert list(one.buffers()) == []


@pytest.mark.parametrize("T", [1, 2, 3, 100, 129])
@pytest.mark.parametrize("name", ["balanced_parentheses", "bb2", "universal"])
def test_the_widths_follow_from_states_symbols_and_bits(name, T):
    machine, net = zoo[name], lookahead(zoo[name], T)
    q, g, bits, w = len(machine.states), len(machine.symbols), net.bits, net.layout.width
    assert w == turing.compile(machine, "wcm21", T=T).layout.width == q + 4 * g + 4 * bits + 5
    wide = {
        "detect": (q * g + 2 * bits, w),
        "carry": (q + g + 2 + 6 * bits, q * g + 2 * bits),
        "move": (w, q + g + 2 + 6 * bits),
        "choose": (q + 3 * g + 3 + bits, w),
        "assemble": (w, q + 3 * g + 3 + bits),
    }
    assert {name: tuple(net.pipeline[name].weight.shape) for name in wide} == wide
    for name, (out, _) in wide.items():
        assert net.layout_of(name).width == out


def test_the_heads_are_those_of_the_papers_network(net):
    paper = turing.compile(BALANCED, "wcm21", T=100).state_dict()
    heads = [name for name, module in net.pipeline.items() if isinstance(module, Attention)]
    for name, numbers in net.state_dict().items():
        if name.split(".")[1] in heads:
            assert torch.equal(numbers, paper[name])


def test_all_numbers_around_the_heads_are_whole_and_small(net):
    for name in ("detect", "carry", "move", "choose", "assemble"):
        for numbers in net.pipeline[name].parameters():
            assert torch.equal(numbers, numbers.round())
            assert numbers.abs().max() <= 7


# The new position.


def moved(bits: int, positions: list[int]) -> int:
    """Try all moves from these positions in the three layers before the heads; how many were tried."""
    moves = {"L": -1, "S": 0, "R": 1}
    rules = {(state, "0"): (state, "0", move) for state, move in moves.items()}
    net = lookahead(TuringMachine(rules, "S", (), "0"), 2**bits)
    assert net.bits == bits

    def numbers(of: list[int]) -> torch.Tensor:
        return torch.tensor([[float(position >> k & 1) for k in range(bits)] for position in of])

    for state, move in moves.items():
        x = torch.zeros(len(positions), net.layout.width)
        x[:, [net.layout.st[state], net.layout.sym1["0"]]] = 1
        x[:, net.layout.pos2.slice] = numbers(positions)
        for name in ("detect", "carry", "move"):
            x = net.pipeline[name](x)
        assert torch.equal(x[:, net.layout.pos3.slice], numbers([position + move for position in positions]))
        assert torch.equal(x[:, net.layout.pos2.slice], numbers(positions))
    return len(moves) * len(positions)


@pytest.mark.parametrize("bits", range(1, 9))
def test_every_position_moves_left_right_and_stays_modulo_its_bits(bits):
    assert moved(bits, list(range(2**bits))) == 3 * 2**bits


@pytest.mark.parametrize("bits", [9, 16, 27, 64])
def test_carries_and_borrows_go_through_any_number_of_bits(bits):
    """Around each power of two all bits below change."""
    draw = random.Random(bits)
    around = {(2**k + d) % 2**bits for k in range(bits + 1) for d in (-2, -1, 0, 1)}
    positions = sorted(around | {draw.randrange(2**bits) for _ in range(50)})
    assert moved(bits, positions) >= 3 * 3 * bits


# Against the paper's network.

KEPT = ("st", "sym1", "sym2", "pos1", "pos2", "scr5")  # of a column, what the next step reads


def same_as_the_papers(machine: TuringMachine, words: list, T: int, dtype: torch.dtype, **options) -> int:
    """Compare both networks on words: every vector that leaves a head or enters one, and what of a column is read."""
    ours, paper = lookahead(machine, T, dtype, **options), turing.compile(machine, "wcm21", T=T, **options).to(dtype)
    heads = [name for name, module in ours.pipeline.items() if isinstance(module, Attention)]
    numbers = 0
    for one, other in zip(ours.vectors(words), paper.vectors(words), strict=True):
        assert torch.equal(one["move"], other["project"])
        for name in heads:
            assert torch.equal(one[name], other[name])
            numbers += one[name].numel()
        for part in map(ours.layout.__getitem__, KEPT):
            assert torch.equal(one["column"][:, part.slice], other["column"][:, part.slice])
            assert torch.equal(one["assemble"][:, part.slice], other["combine"][:, part.slice])
    return numbers


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_at_the_heads_both_networks_have_the_same_vectors_on_every_word_of_up_to_3_parentheses(dtype):
    """Also where a run is over: both go on as one that jams."""
    words = parentheses(3)
    assert same_as_the_papers(BALANCED, words, 32, dtype) == 32 * len(words) * 8 * 51


def test_on_the_word_of_the_paper_both_networks_have_the_same_vectors():
    assert same_as_the_papers(BALANCED, ["B()((()(()))())E"], 100, torch.float32) == 100 * 10 * 59


@pytest.mark.parametrize(("name", "dtype"), zip(NAMES, itertools.cycle(DTYPES)), ids=str)
def test_on_machines_of_the_zoo_both_networks_have_the_same_vectors_for_8_steps(name, dtype):
    words = [sample.word for sample in zoo.entry(name).samples]
    assert same_as_the_papers(zoo[name], words, 8, dtype, bits=(8 + max(map(len, words)) - 1).bit_length()) > 0


def random_machines_have_the_same_vectors(examples: int, T: int) -> int:
    """How many numbers were compared on so many random machines."""
    numbers = 0

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(machines_and_words(words=2), st.sampled_from(DTYPES))
    def compare(machine_and_words, dtype):
        nonlocal numbers
        numbers += same_as_the_papers(*machine_and_words, T, dtype, bits=(T + 7).bit_length())

    compare()
    return numbers


def test_on_8_random_machines_both_networks_have_the_same_vectors():
    assert random_machines_have_the_same_vectors(8, 6) >= 10_000


@slow
def test_on_500_random_machines_both_networks_have_the_same_vectors():
    numbers = random_machines_have_the_same_vectors(500, 24)
    print(f"500 random machines, {numbers:,} numbers at the heads: no difference")
    assert numbers >= 5_000_000


@pytest.mark.parametrize("bits", range(1, 5))
def test_both_networks_have_the_same_vectors_to_the_last_of_2_to_the_l_steps(bits):
    machine = TuringMachine(
        {("A", "0"): ("B", "1", 1), ("B", "0"): ("A", "1", -1), ("A", "1"): ("B", "0", 1), ("B", "1"): ("A", "0", -1)},
        "A", (), "0",
    )  # fmt: skip
    assert same_as_the_papers(machine, ["", "1", "01"], 2**bits, torch.float32) > 0


# Inside.


def ones(net: WCM21, name: str, vector: torch.Tensor) -> set[str]:
    names = net.layout_of(name).names()
    return {names[k] for k in vector.nonzero().flatten().tolist()}


def test_the_third_step_of_the_smallest_word_borrows(net):
    """R reads ) on cell 2, writes * and goes left; the cell there was visited at step 1."""
    found = {name: ones(net, name, vector) for name, vector in net.activations("B()E", 3).items()}
    assert found["detect"] == {"det[R )]", "pos1[1]", "pos2[1]"}
    decided = {"st[M]", "sym2[*]", "scr5[L]"}
    assert found["carry"] == decided | {"pos1[1]", "pos2[1]", "borrow[0]", "borrow[1]", "bit_borrow[1]"}
    assert found["move"] == decided | {"pos1[1]", "pos2[1]", "pos3[0]"}
    assert found["initial"] == found["move"] | {"scr4[visited]", "scr3[0]", "scr1[(]", "scr2[(]"}
    assert found["choose"] == decided | {"pos2[0]", "scr1[(]"}
    assert found["assemble"] == decided | {"pos2[0]", "sym1[(]"}


def test_off_the_word_the_blank_is_chosen(net):
    found = {name: ones(net, name, vector) for name, vector in net.activations("B", 1).items()}
    assert found["choose"] == {"st[R]", "sym2[B]", "scr5[R]", "pos2[0]", "blank"}
    assert found["assemble"] == {"st[R]", "sym2[B]", "scr5[R]", "pos2[0]", "sym1[E]"}


def test_show_names_the_gates_that_it_finds(net):
    text = str(turing.show(net))
    modules = [line.split(",")[0] for line in text.splitlines() if "←" not in line and line]
    assert modules == list(net.pipeline)
    for line in (
        "det[R (] ← ReLU(st[R] + sym1[(] − 1) AND(st[R], sym1[(])",
        "borrow[1] ← ReLU(det[R E] + det[R )] + det[M B] + det[M *] + det[V (] + det[V *] − pos2[0])",
        "pos3[2] ← pos2[2] + carry[2] + borrow[2] − 2 bit_carry[2] − 2 bit_borrow[2]",
        "scr1[*] ← ReLU(scr1[*] + scr4[visited] − 1) AND(scr1[*], scr4[visited])",
        "scr2[*] ← ReLU(scr2[*] − scr4[visited]) AND(scr2[*], ¬scr4[visited])",
        "NOR(scr2[E], scr2[B], scr2[(], … (6 inputs))",
        "sym1[E] ← scr1[E] + scr2[E] + blank",
    ):
        assert line in " ".join(text.split())


def test_the_architecture_is_drawn_with_these_modules(net):
    svg = turing.architecture(net).svg
    for name in ("Detect", "Carry", "Move", "Choose", "Assemble", "BinarySearchStep"):
        assert name in svg


def test_about_names_the_adder(net):
    assert net.about()["network"] == "wcm21 for 100 steps, 7 position bits, lookahead adder"
    assert net.about()["modules"] == "15"


def test_a_file_remembers_the_adder(tmp_path):
    net = lookahead(BALANCED, 20, bits=6, kappa=2000)
    turing.save(net, tmp_path / "net.json")
    again = turing.load(tmp_path / "net.json")
    assert again.options == net.options
    assert again.options["adder"] == "lookahead"
    assert list(again.pipeline) == list(net.pipeline)


def test_the_adder_is_ripple_unless_said_otherwise():
    assert turing.compile(BALANCED, "wcm21", T=5).options["adder"] == "ripple"
