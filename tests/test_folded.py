"""The folded WCM21 step: three ReLU layers, and the same vectors at every head as the paper's network."""

import copy
import itertools
from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import full, machines_and_words, numbered, walker

import turing
from paper import BALANCED, FIGURE_1
from turing.attention import Attention
from turing.folded import Assemble, Carry, Choose, Detect, Move, specification
from turing.gates import Layer
from turing.machine import TuringMachine
from turing.wcm import (
    WCM21,
    BinarySearchStep,
    CapacityError,
    GetInitialSymbol,
    GetLastWrittenSymbol,
    IndicateVisitedPosition,
    architecture,
)
from turing.zoo import NAMES, zoo

torch.set_num_threads(1)  # on small matrices threads wait for each other
slow = pytest.mark.slow
DTYPES = [torch.float32, torch.float64, torch.bfloat16]
dtypes = pytest.mark.parametrize("dtype", DTYPES, ids=str)


def folded(machine: TuringMachine = BALANCED, T: int = 100, dtype: torch.dtype = torch.float32, **options) -> WCM21:
    return turing.compile(machine, "wcm21", T=T, adder="lookahead", **options).to(dtype)


@pytest.fixture(scope="module")
def net() -> WCM21:
    return folded()


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
    one, paper = folded(T=T), turing.compile(BALANCED, "wcm21", T=T)
    assert sum(numbers.numel() for numbers in one.parameters()) == 27_985
    assert sum(numbers.numel() for numbers in paper.parameters()) == 292_633
    assert list(one.buffers()) == []


@pytest.mark.parametrize("T", [1, 2, 3, 100, 129])
@pytest.mark.parametrize("name", ["balanced_parentheses", "bb2", "universal"])
def test_the_widths_follow_from_states_symbols_and_bits(name, T):
    machine, net = zoo[name], folded(zoo[name], T)
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


def test_only_the_weights_of_carry_depend_on_the_rules():
    rules = {(q, a): ("ABH"[k % 3], "01"[k // 2], (-1) ** k) for k, (q, a) in enumerate(itertools.product("AB", "01"))}
    other = {key: ("B", "0", 0) for key in rules} | {("A", "0"): ("H", "1", 1)}
    one, two = (folded(TuringMachine(delta, "A", {"H"}, "0"), 20).state_dict() for delta in (rules, other))
    assert [name for name in one if not torch.equal(one[name], two[name])] == ["pipeline.carry.weight"]


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


@pytest.mark.parametrize("bits", range(1, 7))
def test_every_position_moves_left_right_and_stays_modulo_its_bits(bits):
    """The three layers before the heads, on all 3 · 2^L pairs of move and position."""
    rules = {("L", "0"): ("L", "0", -1), ("S", "0"): ("S", "0", 0), ("R", "0"): ("R", "0", 1)}
    net = folded(TuringMachine(rules, "S", (), "0"), 2**bits)
    assert net.bits == bits
    tried = 0
    for (state, move), position in itertools.product((("L", -1), ("S", 0), ("R", 1)), range(2**bits)):
        x = torch.zeros(net.layout.width)
        x[net.layout.st[state]] = x[net.layout.sym1["0"]] = 1
        for k in range(bits):
            x[net.layout.pos2[k]] = position >> k & 1
        for name in ("detect", "carry", "move"):
            x = net.pipeline[name](x)
        new = [(position + move) >> k & 1 for k in range(bits)]
        assert x[net.layout.pos3.slice].tolist() == new
        assert x[net.layout.pos2.slice].tolist() == [position >> k & 1 for k in range(bits)]
        tried += 1
    assert tried == 3 * 2**bits


# Exact, against the machine and the paper's network.


def exact(machine: TuringMachine, words: list, T: int, dtype: torch.dtype, **options) -> int:
    """Compare network and machine on words: every number inside, the runs, one trace; how many steps were compared."""
    net = folded(machine, T, dtype, **options)
    report = turing.verify(net, machine, words)
    assert report, str(report)
    expected = [machine.run(word, T) for word in words]
    assert net.run_batch(words) == expected
    assert report.steps == sum(run.steps + (run.status == "jammed") for run in expected)
    few = min(T, 12)
    run = net.run(words[-1], few)
    assert run == machine.run(words[-1], few)
    assert numbered(run.trace) == numbered(machine.trace(words[-1], few))
    return report.steps


KEPT = ("st", "sym1", "sym2", "pos1", "pos2", "scr5")  # of a column, what the next step reads


def same_as_the_papers(machine: TuringMachine, words: list, T: int, dtype: torch.dtype, **options) -> int:
    """Compare both networks on words: every vector that leaves a head or enters one, and what of a column is read."""
    ours, paper = folded(machine, T, dtype, **options), turing.compile(machine, "wcm21", T=T, **options).to(dtype)
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


def parentheses(longest: int) -> list[str]:
    return [f"B{''.join(word)}E" for n in range(longest + 1) for word in itertools.product("()", repeat=n)]


@dtypes
def test_every_word_of_up_to_4_parentheses_is_exact(dtype):
    assert exact(BALANCED, parentheses(4), 64, dtype) == 187


@slow
@dtypes
def test_every_word_of_up_to_10_parentheses_is_exact(dtype):
    words = parentheses(10)
    steps = exact(BALANCED, words, 100, dtype)
    print(f"{len(words):,} words, {steps:,} steps in {dtype}: no divergence")
    assert steps >= 20_000


@dtypes
def test_at_the_heads_both_networks_have_the_same_vectors_on_every_word_of_up_to_3_parentheses(dtype):
    """Also where a run is over: both go on as one that jams."""
    words = parentheses(3)
    assert same_as_the_papers(BALANCED, words, 32, dtype) == 32 * len(words) * 8 * 51


def test_the_word_of_the_paper_is_exact_and_has_the_papers_vectors():
    word = "B()((()(()))())E"
    assert exact(BALANCED, [word], 100, torch.float32) == 81
    assert same_as_the_papers(BALANCED, [word], 100, torch.float32) == 100 * 10 * 59


LONG = {"bb5", "bb2x4", "antihydra"}  # their samples take from 100,000 steps on


def zoo_is_exact(name: str, dtype: torch.dtype, most: int) -> int:
    """All samples of a machine, up to that many steps."""
    samples = zoo.entry(name).samples
    words = [sample.word for sample in samples]
    T = min(most, max(sample.steps for sample in samples) + 1)
    bits = (T + max(map(len, words)) - 1).bit_length()
    assert same_as_the_papers(zoo[name], words, min(T, 8), dtype, bits=bits) > 0
    return exact(zoo[name], words, T, dtype, bits=bits)


@pytest.mark.parametrize(("name", "dtype"), zip(NAMES, itertools.cycle(DTYPES)), ids=str)
def test_machines_of_the_zoo_are_exact_for_12_steps(name, dtype):
    assert zoo_is_exact(name, dtype, 12) >= 6


@slow
@dtypes
@pytest.mark.parametrize("name", NAMES)
def test_every_machine_of_the_zoo_is_exact_on_its_samples(name, dtype):
    steps = zoo_is_exact(name, dtype, 2000 if name in LONG else 5000)
    print(f"{name}: {steps:,} steps in {dtype}: no divergence")
    said = sum(sample.steps for sample in zoo.entry(name).samples)
    assert steps >= min(2000, said)


def random_machines_are_exact(examples: int, T: int) -> tuple[int, int]:
    """How many of so many random machines take 20 steps or more, and the steps of all that were compared."""
    long, steps = 0, 0

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(machines_and_words(words=2), st.sampled_from(DTYPES))
    def compare(machine_and_words, dtype):
        nonlocal long, steps
        machine, words = machine_and_words
        bits = (T + 7).bit_length()
        steps += exact(machine, words, T, dtype, bits=bits)
        assert same_as_the_papers(machine, words, min(T, 6), dtype, bits=bits) > 0
        long += max(machine.run(word, T).steps for word in words) >= 20

    compare()
    return long, steps


def test_8_random_machines_are_exact():
    long, steps = random_machines_are_exact(8, 24)
    assert long >= 2
    assert steps >= 100


@slow
def test_500_random_machines_are_exact_for_200_steps():
    long, steps = random_machines_are_exact(500, 200)
    print(f"500 random machines, {long} of 20 steps or more, {steps:,} steps: no divergence")
    assert long >= 250
    assert steps >= 60_000


# Machines of all kinds.

ODD = ["pos1", "[", "]", "st[A]", "carry[0]", " ", "\n", "∅", "🂡", "a'b\"", "x" * 300, "blank", "0", "-", "B E"]


def test_names_may_be_any_text():
    """A counter that goes through all symbols, one on each cell, in states with the same names."""
    rules = {(q, a): (p, b, 1) for q, p in itertools.pairwise(ODD) for a, b in zip(ODD, ODD[1:] + ODD[:1], strict=True)}
    machine = TuringMachine(rules, ODD[0], {ODD[-1]}, ODD[3])
    words = [[], ODD, [ODD[3]] * 5, ODD[::-1]]
    assert exact(machine, words, 20, torch.float32, bits=6) == 4 * (len(ODD) - 1)


def test_symbols_may_have_several_characters():
    machine = zoo["rock_paper_scissors"]
    words = [("rock", "paper", "rock"), ("scissors", "rock"), ()]
    assert exact(machine, words, 8, torch.float64) == sum(machine.run(word).steps for word in words)


def test_the_blank_and_the_initial_state_may_be_any_of_theirs():
    rows = [("A", "0", "B", "1", -1), ("B", "1", "A", "0", 1), ("A", "1", "C", "1", 1), ("B", "0", "A", "1", 1)]
    for initial, blank in itertools.product("ABC", "01"):
        machine = TuringMachine([*rows, ("C", "0", "B", "0", -1)], initial, {"H"}, blank)
        assert exact(machine, ["", "0", "1", "0110", "111"], 16, torch.float32, bits=5) >= 5


def test_a_stay_reads_what_was_written_in_the_same_step():
    machine = TuringMachine(
        {("A", "0"): ("B", "1", 0), ("B", "1"): ("C", "2", 0), ("C", "2"): ("A", "0", -1), ("C", "0"): ("A", "0", 1)},
        "A", (), "0",
    )  # fmt: skip
    assert exact(machine, ["", "00"], 20, torch.float32, bits=6) == 40


@pytest.mark.parametrize("move", [-1, 0, 1])
@pytest.mark.parametrize("T", [1, 2, 3])
def test_a_machine_of_one_state_and_one_symbol_runs_to_its_limit(move, T):
    machine = TuringMachine({("A", "0"): ("A", "0", move)}, "A", (), "0")
    assert exact(machine, ["", "0"], T, torch.float32, bits=4) == 2 * T


@pytest.mark.parametrize("bits", range(1, 5))
def test_the_last_of_2_to_the_l_steps_still_has_a_number_of_its_own(bits):
    machine = TuringMachine(
        {("A", "0"): ("B", "1", 1), ("B", "0"): ("A", "1", -1), ("A", "1"): ("B", "0", 1), ("B", "1"): ("A", "0", -1)},
        "A", (), "0",
    )  # fmt: skip
    assert folded(machine, 2**bits).bits == bits
    assert exact(machine, ["", "1", "01"], 2**bits, torch.float32) == 3 * 2**bits
    assert same_as_the_papers(machine, ["", "1", "01"], 2**bits, torch.float32) > 0


def test_a_machine_that_halts_before_it_starts_takes_no_step():
    machine = TuringMachine({("A", "0"): ("H", "1", 1)}, "H", {"H"}, "0")
    assert exact(machine, ["", "0", "101"], 4, torch.float32) == 0
    assert folded(machine, 4).run("101").status == "halted"


def test_a_machine_that_jams_at_once_or_later_ends_as_the_oracle_says(net):
    for word, steps in (("(", 0), ("", 0), ("BB", 1), ("B(B", 2)):
        run = net.run(word)
        assert run == BALANCED.run(word)
        assert (run.status, run.steps) == ("jammed", steps)
    assert turing.verify(net, BALANCED, ["(", "", "BB", "B(B"]).steps == 1 + 1 + 2 + 3


def test_a_run_starts_at_the_word_and_reaches_the_limit_asked_for(net):
    for limit in range(11):
        assert net.run("B()E", limit) == BALANCED.run("B()E", limit)
    assert [str(now) for now in net.trace("B()E")] == FIGURE_1.splitlines()


@pytest.mark.parametrize("move", [-1, 1])
def test_a_walker_is_stopped_at_the_step_that_would_make_two_cells_the_same(move):
    machine, net = walker(move), folded(walker(move), 16)
    for n in (0, 1, 7, 16):
        step = full(machine, "a" * n, 4, 16)
        with pytest.raises(CapacityError, match=f"At step {step} the head comes to cell "):
            net.run("a" * n)


# Inside.


def test_the_specification_names_every_module_in_the_order_of_the_network(net):
    for step in specification(BALANCED, 7, "B()E", 100):
        assert list(step) == list(net.pipeline)
        for name, places in step.items():
            assert places <= set(net.layout_of(name).names())


def test_activations_are_the_vectors_of_a_step_by_module(net):
    for step in (1, 4, 9):
        found = net.activations("B()E", step)
        assert list(found) == ["column", *net.pipeline]
        vectors = next(itertools.islice(net.vectors(["B()E", "B"]), step - 1, None))
        for name, vector in found.items():
            assert torch.equal(vector, vectors[name][0])
            assert vector.shape == (net.layout_of(name).width,)
    assert net.read(net.activations("B()E", 9)["assemble"].unsqueeze(0)) == [("T", "*", "B", 1, 1)]
    heads = [name for name, module in net.pipeline.items() if isinstance(module, Attention)]
    assert list(net.patterns("B()E", 8)) == heads


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


@dtypes
def test_forward_gives_what_step_gives_at_every_step(dtype):
    net, words = folded(BALANCED, 40, dtype), ["B(())E", "B)(E", "B()()E"]
    columns = torch.stack([vectors["column"] for vectors in itertools.islice(net.vectors(words), 12)])
    tapes = torch.nn.utils.rnn.pad_sequence([net.encode(word) for word in words], batch_first=True)
    with torch.no_grad():
        for t, vectors in enumerate(itertools.islice(net.vectors(words), 12)):
            assert torch.equal(net(columns[t], columns[:t].transpose(0, 1), tapes), vectors["assemble"])


def test_a_batch_of_words_ends_as_its_words_do_one_by_one(net):
    words = ["", "B", "B()E", "(", "B((()))E", "B)(E", "BE"]
    assert net.run_batch(words) == [net.run(word) for word in words] == [BALANCED.run(word, 100) for word in words]


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
    svg = architecture(net).svg
    for name in ("Detect", "Carry", "Move", "Choose", "Assemble", "BinarySearchStep"):
        assert name in svg


def test_about_names_the_adder(net):
    assert net.about()["network"] == "wcm21 for 100 steps, 7 position bits, lookahead adder"
    assert net.about()["modules"] == "15"


# Files and copies.


@dtypes
def test_a_file_remembers_the_adder_and_every_number(tmp_path, dtype):
    net = folded(BALANCED, 20, dtype, bits=6, kappa=2000)
    with torch.no_grad():
        net.pipeline["choose"].weight[0, 0] = 0.5
    turing.save(net, tmp_path / "net.json")
    again = turing.load(tmp_path / "net.json")
    assert again.options == net.options
    assert again.options["adder"] == "lookahead"
    assert again.machine == net.machine
    one, other = net.state_dict(), again.state_dict()
    assert list(one) == list(other)
    assert all(torch.equal(one[name], other[name]) and other[name].dtype == dtype for name in one)


def test_a_network_read_from_a_file_runs(tmp_path):
    turing.save(folded(BALANCED, 20), tmp_path / "net.json")
    assert turing.load(tmp_path / "net.json").run("B()E") == BALANCED.run("B()E")


def test_a_copy_runs_and_is_of_its_own(net):
    again = copy.deepcopy(net)
    with torch.no_grad():
        again.pipeline["carry"].weight.zero_()
    assert net.run("B()E") == BALANCED.run("B()E")
    assert again.run("B()E").status == "jammed"


# Damage.

WORDS = ["B()()E", "B)E"]  # rules of all states, a cell left of the word, cells visited again after step 8


def damaged(net: WCM21, parameter: torch.Tensor, place: list[int]):
    """What verify says when one number of the network is 1 more."""
    with torch.no_grad():
        parameter[tuple(place)] += 1
        report = turing.verify(net, BALANCED, WORDS)
        parameter[tuple(place)] -= 1
    return report


def test_a_number_of_any_module_that_is_1_too_large_is_found_in_that_module():
    net = folded(BALANCED, 16)
    for name in ("detect", "carry", "move", "choose", "assemble"):
        (weight, bias) = net.pipeline[name].parameters()
        numbers = [(weight, place) for place in weight.nonzero().tolist()]
        reports = (damaged(net, parameter, place) for parameter, place in [*numbers, (bias, [0])])
        found = next(report for report in reports if not report)
        assert {divergence.layer for divergence in found.divergences} == {name}
    assert turing.verify(net, BALANCED, WORDS)


@slow
def test_wherever_a_number_is_1_too_large_verify_finds_it_in_that_module_or_it_does_not_matter():
    net, caught, tried = folded(BALANCED, 16), Counter(), Counter()
    for name, module in net.pipeline.items():
        for _, parameter in module.named_parameters():
            for place in parameter.nonzero().tolist():
                report = damaged(net, parameter, place)
                assert {divergence.layer for divergence in report.divergences} <= {name}
                tried[name] += 1
                caught[name] += not report
    print(f"{sum(tried.values()):,} numbers damaged, {sum(caught.values()):,} matter on the words {WORDS}")
    assert set(caught) == set(net.pipeline)
    assert min(caught.values()) >= 1


def test_another_rule_of_the_machine_is_found_in_carry():
    rules = dict(BALANCED.delta)
    rules["R", ")"] = ("M", "*", 1)
    other = TuringMachine(rules, "I", {"T", "F"}, "E")
    (divergence,) = turing.verify(folded(other, 20), BALANCED, ["B((E", "B()E", "BE"]).divergences
    assert str(divergence) == "On the word 'B()E', at step 3, layer carry gives scr5[R] = 1 instead of 0."


# Wrong arguments.


@pytest.mark.parametrize("adder", ["fast", "", None, 1])
def test_an_adder_that_is_not_known_is_refused(adder):
    with pytest.raises(ValueError, match=f"An adder is one of ripple, lookahead, and {adder!r} was given"):
        turing.compile(BALANCED, "wcm21", T=5, adder=adder)


def test_the_adder_is_ripple_unless_said_otherwise():
    assert turing.compile(BALANCED, "wcm21", T=5).options["adder"] == "ripple"
