"""WCM21: sizes, capacity to the step, tensors and gradients. That it is exact is held by test_every_way.py."""

import copy
import itertools
import os
import subprocess
import sys

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import full, machines, machines_and_words, numbered, walker
from torch.nn import functional as F
from ways import ADDERS, ALL_WCM, DTYPES, IN_TURN, SOME_WCM, Way, compiled

import turing
from paper import BALANCED, FIGURE_1, TABLE_2
from turing.adders import FullAdder, HalfAdder
from turing.attention import Attention, least_kappa
from turing.dnf import Transition
from turing.machine import TuringMachine
from turing.runs import Reading
from turing.wcm import (
    WCM21,
    ArrangeSymbols,
    BinarySearchStep,
    CapacityError,
    CombineSymbols,
    Description,
    GetInitialSymbol,
    GetLastWrittenSymbol,
    GetV,
    IndicateVisitedPosition,
    PreprocessForAdder,
    ProjectDown,
    Simulator,
)
from turing.zoo import zoo

slow = pytest.mark.slow
adders = pytest.mark.parametrize("adder", ADDERS)
dtypes = pytest.mark.parametrize("dtype", DTYPES, ids=str)
ways = pytest.mark.parametrize("way", SOME_WCM, ids=str)


@pytest.fixture(scope="module")
def net() -> WCM21:
    return compiled()


# The sizes of the paper.


def test_the_network_of_the_paper_has_the_papers_sizes():
    net = Simulator(Description(), T=100)
    modules = list(net.pipeline.values())
    assert net.layout.width == 59
    assert [tuple(layer.weight.shape) for layer in net.pipeline["transition"]] == [(89, 59), (59, 89)]
    assert net.pipeline["preprocess"].weight.shape == (66, 59)
    assert net.pipeline["project"].weight.shape == (59, 66)
    assert [type(module) for module in modules] == [
        Transition, PreprocessForAdder, *[FullAdder] * 7, ProjectDown, IndicateVisitedPosition,
        *[BinarySearchStep] * 7, GetLastWrittenSymbol, GetInitialSymbol, GetV, ArrangeSymbols, CombineSymbols,
    ]  # fmt: skip
    heads = [module for module in modules if isinstance(module, Attention)]
    assert sum(not isinstance(head, GetInitialSymbol) for head in heads) == 9
    assert sum(isinstance(head, GetInitialSymbol) for head in heads) == 1
    assert {head.kappa for head in heads} == {9999}
    assert sum(numbers.numel() for numbers in net.parameters()) == 292_633
    assert sum(int(numbers.count_nonzero()) for numbers in net.parameters()) == 4_811
    assert list(net.buffers()) == []


def test_each_full_adder_is_two_half_adders_and_an_or_on_its_own_bit(net):
    for k in range(7):
        i, j, carry = net.layout.pos3[k], net.wide.add[k], net.layout.scr4["visited"]
        expected = [*HalfAdder(66, i, j), *HalfAdder(66, i, carry), *list(FullAdder(66, i, j, carry))[6:]]
        found = list(net.pipeline[f"adder{k}"])
        assert len(found) == 8
        for one, other in zip(found, expected, strict=True):
            assert torch.equal(one.weight, other.weight)
            assert torch.equal(one.bias, other.bias)


def test_the_slices_are_those_of_the_paper(net):
    sizes = {part.name: part.size for part in net.layout}
    assert sizes == {
        "st": 6, "sym1": 5, "sym2": 5, "pos1": 7, "pos2": 7, "pos3": 7,
        "scr1": 5, "scr2": 5, "scr3": 7, "scr4": 3, "scr5": 2,
    }  # fmt: skip
    assert sum(size for name, size in sizes.items() if name.startswith("scr")) == 22
    assert net.wide.width == 66


@pytest.mark.parametrize(("T", "bits"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (100, 7), (128, 7), (129, 8)])
def test_position_bits_number_the_steps_and_the_width_follows(T, bits):
    for machine in (BALANCED, zoo["bb2"]):
        net = compiled(machine, T)
        assert net.bits == bits
        assert net.layout.width == len(machine.states) + 4 * len(machine.symbols) + 4 * bits + 5


@pytest.mark.parametrize(("adder", "name"), zip(ADDERS, ["transition.1", "carry"], strict=True))
def test_only_the_matrix_that_holds_delta_depends_on_the_rules(adder, name):
    rules = {(q, a): ("ABH"[k % 3], "01"[k // 2], (-1) ** k) for k, (q, a) in enumerate(itertools.product("AB", "01"))}
    other = {key: ("B", "0", 0) for key in rules} | {("A", "0"): ("H", "1", 1)}
    machines = (TuringMachine(delta, "A", {"H"}, "0") for delta in (rules, other))
    one, two = (compiled(machine, 20, adder=adder).state_dict() for machine in machines)
    assert [key for key in one if not torch.equal(one[key], two[key])] == [f"pipeline.{name}.weight"]


# Runs.


@settings(max_examples=10, deadline=None, derandomize=True, database=None)
@given(machines_and_words(words=1))
def test_with_the_literal_softmax_a_random_run_is_right_or_stopped(machine_and_words):
    machine, words = machine_and_words
    net = compiled(machine, 100, bits=7, average="literal")
    try:
        run = net.run(words[0])
    except ArithmeticError:
        return
    assert run == machine.run(words[0], 100)


@ways
def test_a_network_may_be_compiled_for_a_single_step(way):
    machine = TuringMachine({("A", "0"): ("H", "1", 1)}, "A", {"H"}, "0")
    assert way.compile(machine, 1).run("", engine=way.engine) == machine.run("", 1)
    assert way.compile(machine, 1).run("", engine=way.engine).status == "halted"
    assert way.compile(BALANCED, 1).run("BE", engine=way.engine).status == "limit"


@adders
def test_activations_are_the_vectors_of_a_step_by_module(adder):
    net = compiled(adder=adder)
    for step in (1, 4, 9):
        found = net.activations("B()E", step)
        assert list(found) == ["column", *net.pipeline]
        vectors = next(itertools.islice(net.vectors(["B()E", "B"]), step - 1, None))
        assert all(torch.equal(vector, vectors[name][0]) for name, vector in found.items())
        assert all(vector.shape == (net.layout_of(name).width,) for name, vector in found.items())
    assert torch.equal(net.activations("B()E", 1)["column"], net.initial("B()E"))
    last = list(net.activations("B()E", 9).values())[-1]
    assert net.read_columns(last.unsqueeze(0)) == [Reading("T", "*", "B", 1, 1)]


@adders
def test_patterns_are_the_weights_of_every_head_and_the_null_key_comes_last(adder):
    net, word, step = compiled(adder=adder), "B()E", 8  # back to cell 0, where the head stood at step 0 and never since
    found = net.patterns(word, step)
    assert list(found) == [name for name, module in net.pipeline.items() if isinstance(module, Attention)]
    for name, weights in found.items():
        assert len(weights) == (len(word) if name == "initial" else step) + 1
        assert weights.sum() == 1
    assert found["visited"].nonzero().tolist() == [[0]]
    assert found["last"].nonzero().tolist() == [[0]]
    assert found["initial"].nonzero().tolist() == [[0]]
    assert all(found[f"search{j}"].argmax() == step for j in range(7))  # no bit of 0 is set


# Capacity.


def stopped(way: Way, machine: TuringMachine, word, bits: int, T: int) -> int | None:
    """The step at which the network refuses to go on, after a trace that was right so far; None if it did not."""
    net, seen, message = way.compile(machine, T, bits=bits), [], ""
    try:
        for now in net.trace(word, engine=way.engine):
            seen.append((now.step, now.state, now.head, now.symbol, now.tape))
    except CapacityError as error:
        message = str(error)
    step = len(seen) if message else None
    assert seen == numbered(machine.trace(word, T if step is None else step - 1))
    if step is not None:
        assert f"At step {step} the head comes to cell " in message
        assert f"{2**bits} cells can be told apart. Compile with more bits than {bits}." in message
        if T <= 32:  # a run is stopped like its trace
            assert net.run(word, step - 1, engine=way.engine) == machine.run(word, step - 1)
            with pytest.raises(CapacityError) as error:
                net.run(word, engine=way.engine)
            assert str(error.value) == message
    return step


def walk(way: Way, move: int, bits: int, lengths) -> int:
    machine, compared = walker(move), 0
    for n in lengths:
        word = "a" * n
        step = stopped(way, machine, word, bits, 2**bits)
        assert step == full(machine, word, bits, 2**bits)
        assert step == (2**bits if move > 0 or n == 0 else 2**bits - n + 1)
        compared += step
    return compared


@ways
@pytest.mark.parametrize("move", [-1, 1])
def test_a_walker_is_stopped_at_the_step_that_would_make_two_cells_the_same(way, move):
    assert walk(way, move, 4, [0, 1, 2, 8, 15, 16]) >= 50


@slow
@pytest.mark.parametrize("move", [-1, 1])
@pytest.mark.parametrize(
    ("way", "bits"), [(ALL_WCM[0], bits) for bits in range(4, 9)] + [(way, 5) for way in ALL_WCM[1:]], ids=str
)
def test_a_walker_is_stopped_at_that_step_on_words_of_all_lengths(way, move, bits):
    steps = walk(way, move, bits, range(2**bits + 1))
    print(f"walkers by {move:+d}, {bits} bits, words of 0 to {2**bits} cells, {way}: {steps:,} steps")
    assert steps >= (2**bits + 1) * 2**bits // 2


def random_capacities(ways: list[Way], examples: int) -> tuple[int, int]:
    """Random machines with few bits: how many are stopped, and how many are not."""
    outcomes = {True: 0, False: 0}

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(machines(), st.integers(1, 4), st.data())
    def compare(machine, bits, data):
        word = tuple(data.draw(st.lists(st.sampled_from(machine.symbols), max_size=2**bits)))
        step = full(machine, word, bits, 2**bits)
        assert stopped(ways[sum(outcomes.values()) % len(ways)], machine, word, bits, 2**bits) == step
        outcomes[step is not None] += 1

    compare()
    return outcomes[True], outcomes[False]


def test_49_random_machines_are_stopped_where_counting_says_and_nowhere_else():
    stops, others = random_capacities(SOME_WCM, 49)
    assert stops >= 10
    assert others >= 10


@slow
@pytest.mark.parametrize("ways", IN_TURN, ids=lambda ways: f"{len(ways)}-{ways[0]}")
def test_500_random_machines_are_stopped_where_counting_says_and_nowhere_else(ways):
    stops, others = random_capacities(ways, 500)
    print(f"500 random machines with 1 to 4 bits, {len(ways)} × {ways[0]}: {stops} stopped, {others} not")
    assert stops >= 150
    assert others >= 150


@ways
@pytest.mark.parametrize("bits", [1, 3])
def test_a_word_with_more_cells_than_the_bits_tell_apart_is_refused_at_once(way, bits):
    net, word = way.compile(walker(1), 1, bits=bits), "a" * (2**bits + 1)
    assert net.run("a" * 2**bits, 0, engine=way.engine).steps == 0
    for call in (
        lambda: net.run(word, engine=way.engine),
        lambda: list(net.trace(word, engine=way.engine)),
        lambda: net.run_batch(["a", word], engine=way.engine),
    ):
        with pytest.raises(CapacityError, match=f"The word has {2**bits + 1} cells, and {bits} position bits? can"):
            call()
    assert way.compile(walker(1), 1, bits=bits + 1).run(word, engine=way.engine).steps == 1


@ways
def test_the_word_of_a_batch_that_has_no_room_is_named(way):
    net = way.compile(walker(-1), 16)
    with pytest.raises(CapacityError, match="Word 2 of the batch: At step 7 the head comes to cell -7, which has"):
        net.run_batch(["", "a", "a" * 10], 10, engine=way.engine)


@ways
def test_a_run_is_safe_when_word_and_steps_fit_in_the_positions(way):
    for n, T in ((0, 15), (1, 15), (6, 10), (15, 1)):
        for move in (-1, 1):
            assert full(walker(move), "a" * n, 4, T) is None
            assert stopped(way, walker(move), "a" * n, 4, T) is None


def test_a_capacity_error_is_an_overflow_and_turing_knows_it():
    assert turing.CapacityError is CapacityError
    assert issubclass(CapacityError, OverflowError)


# Tensors.


def history(net: WCM21, words: list, steps: int) -> torch.Tensor:
    """The columns of a run on words, step by step. Shape: (steps, batch, w)."""
    return torch.stack([vectors["column"] for vectors in itertools.islice(net.vectors(words), steps)])


def padded(net: WCM21, words: list) -> torch.Tensor:
    return torch.nn.utils.rnn.pad_sequence([net.encode(word) for word in words], batch_first=True)


@dtypes
@adders
def test_forward_gives_what_step_gives_at_every_step(adder, dtype):
    net, words = compiled(BALANCED, 40, dtype, adder=adder), ["B(())E", "B)(E", "B()()E"]
    columns, tapes = history(net, words, 12), padded(net, words)
    with torch.no_grad():
        for t, vectors in enumerate(itertools.islice(net.vectors(words), 12)):
            batch = net(columns[t], columns[:t].transpose(0, 1), tapes)
            assert torch.equal(batch, list(vectors.values())[-1])
            for i, word in enumerate(words):
                assert torch.equal(net(columns[t, i], columns[:t, i], net.encode(word)), batch[i])


def test_columns_of_two_batch_dimensions_go_through_forward(net):
    columns, tape = history(net, ["B()E"], 6).squeeze(1), net.encode("B()E")
    single = net(columns[5], columns[:5], tape)
    many = net(columns[5].expand(2, 3, -1), columns[:5].expand(2, 3, -1, -1), tape.expand(2, 3, -1, -1))
    assert many.shape == (2, 3, 59)
    assert torch.equal(many[1, 2], single)


def test_a_run_by_hand_with_forward_alone_is_the_run(net):
    column, tape, states = net.initial("B()E"), net.encode("B()E"), []
    columns = column.new_zeros(0, net.layout.width)
    with torch.no_grad():
        for step in range(1, 10):
            out = net(column, columns, tape)
            states.append(net.read_columns(out.unsqueeze(0))[0].state)
            columns, column = torch.cat([columns, column.unsqueeze(0)]), out + net.beta(step)
    assert states == [now.state for now in BALANCED.trace("B()E")][1:]


def test_the_first_column_the_tape_and_the_step_embedding_have_the_named_places_set(net):
    names = net.layout.names()

    def ones(column):
        assert set(column.tolist()) <= {0, 1}
        return {names[k] for k in column.nonzero().flatten().tolist()}

    assert ones(net.initial("B()E")) == {"st[I]", "sym1[B]"}
    assert ones(net.initial("")) == {"st[I]", "sym1[E]"}
    assert [ones(row) for row in net.encode("B(E")] == [{"sym1[B]"}, {"sym1[(]", "pos2[0]"}, {"sym1[E]", "pos2[1]"}]
    assert net.encode("").shape == (0, 59)
    assert ones(net.beta(5)) == {"pos1[0]", "pos1[2]"}
    assert ones(net.beta(0)) == set()


def loss_of(net: WCM21, given: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of every slice: of one-hot ones with their places as logits, of the others bit by bit."""
    total = torch.zeros(())
    for part in net.layout:
        logits, target = given[..., part.slice], wanted[..., part.slice]
        if part.name in ("st", "sym1", "sym2"):
            total = total + F.cross_entropy(logits.flatten(0, -2), target.argmax(-1).flatten())
        else:
            total = total + F.binary_cross_entropy_with_logits(logits, target)
    return total


@pytest.mark.parametrize("average", ["ratio", "literal"])
def test_a_loss_on_20_teacher_forced_steps_gives_finite_gradients_to_every_module(average):
    words = ["B((()))E", "B(()())E"]
    net = compiled(BALANCED, 20, average=average)
    columns, tapes = history(net, words, 20), padded(net, words)
    wanted = [vectors["combine"] for vectors in net.vectors(words)]
    given = [net(columns[t], columns[:t].transpose(0, 1), tapes) for t in range(20)]
    loss = loss_of(net, torch.stack(given), torch.stack(wanted))
    loss.backward()
    assert loss.isfinite()
    for name, parameter in net.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
    for name, module in net.pipeline.items():
        assert any(parameter.grad.count_nonzero() for parameter in module.parameters()), name
        if isinstance(module, Attention):  # something is found by every head, and what is written is felt
            assert module.write.weight.grad.count_nonzero(), name
            assert module.value.weight.grad.count_nonzero() or module.value.bias.grad.count_nonzero(), name


def test_gradients_go_through_a_chain_of_10_steps_in_which_each_feeds_the_next():
    net = compiled(BALANCED, 20)
    first = net.initial("B(())E").requires_grad_()
    tape = net.encode("B(())E").requires_grad_()
    column, columns = first, first.new_zeros(0, net.layout.width)
    for step in range(1, 11):
        out = net(column, columns, tape)
        columns, column = torch.cat([columns, column.unsqueeze(0)]), out + net.beta(step)
    column.sum().backward()
    for numbers in (first, tape, *net.parameters()):
        assert numbers.grad is not None
        assert numbers.grad.isfinite().all()
    assert first.grad.count_nonzero()
    assert net.pipeline["transition"][1].weight.grad.count_nonzero()


def test_gradients_of_the_cached_step_are_those_of_forward():
    net = compiled(BALANCED, 20)
    grads = []
    for cached in (True, False):
        net.zero_grad()
        column, tape = net.initial("B()E"), net.encode("B()E")
        columns = column.new_zeros(0, net.layout.width)
        for step in range(0 if cached else 7):
            out = net(column, columns, tape)
            columns, column = torch.cat([columns, column.unsqueeze(0)]), out + net.beta(step + 1)
        column = net.rollout("B()E", 7)[-1] if cached else column
        loss_of(net, column.unsqueeze(0), torch.ones_like(column).unsqueeze(0)).backward()
        grads.append({name: parameter.grad.clone() for name, parameter in net.named_parameters()})
    assert all(torch.allclose(grads[0][name], grads[1][name], atol=1e-5) for name in grads[0])


def test_a_run_leaves_no_gradient_and_no_graph(net):
    net.run("B()E")
    net.run_batch(["B()E"])
    assert all(parameter.grad is None for parameter in net.parameters())
    assert all(parameter.requires_grad for parameter in net.parameters())
    assert not any(vector.requires_grad for vector in next(net.vectors(["B()E"])).values())
    assert not any(weights.requires_grad for weights in net.patterns("B()E", 3).values())
    assert net(net.initial("B"), net.initial("B").new_zeros(0, 59), net.encode("B")).requires_grad


def test_compiling_draws_no_random_number_and_gives_the_same_weights_each_time():
    before = torch.get_rng_state()
    one, two = compiled().state_dict(), compiled().state_dict()
    assert torch.equal(before, torch.get_rng_state())
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_a_copy_runs_and_is_of_its_own(net):
    again = copy.deepcopy(net)
    assert again.run("B()E") == net.run("B()E")
    with torch.no_grad():
        again.pipeline["transition"][1].weight.zero_()
    assert net.run("B()E").state == "T"
    assert again.run("B()E").status == "jammed"


def test_a_state_dict_makes_another_machine_of_the_same_shape_into_this_one():
    turned = {key: (q, a, -move) for key, (q, a, move) in BALANCED.delta.items()}
    net, other = compiled(), compiled(TuringMachine(turned, "I", {"T", "F"}, "E"))
    assert other.run("B()E") != net.run("B()E")
    other.load_state_dict(net.state_dict())
    assert turing.verify(other, BALANCED, ["B()E", "B)E"])


def test_a_network_moves_between_number_types_and_devices():
    net = compiled(BALANCED, 40)
    for dtype, move in ((torch.float64, net.double), (torch.bfloat16, net.bfloat16), (torch.float16, net.half)):
        moved = move()
        assert moved.encode("B").dtype == moved.initial("B").dtype == moved.beta(1).dtype == dtype
        assert moved.run("B()E") == BALANCED.run("B()E")
        assert turing.verify(moved, BALANCED, ["B()E"])
    meta = net.to("meta")
    assert meta(meta.initial("B"), meta.initial("B").new_zeros(0, 55), meta.encode("B")).shape == (55,)


def test_a_network_is_compiled_in_the_default_type_of_torch():
    try:
        torch.set_default_dtype(torch.float64)
        net = turing.compile(BALANCED, "wcm21", T=20)
        assert {parameter.dtype for parameter in net.parameters()} == {torch.float64}
        assert net.run("B()E") == BALANCED.run("B()E")
    finally:
        torch.set_default_dtype(torch.float32)


MEMORY = """
import resource, sys, turing
net = turing.compile(turing.zoo["antihydra"], "wcm21", T=500)
net.run("", 1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
run = net.run("", 500)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(run.steps, (after - before) / (2**20 if sys.platform == "darwin" else 2**10))
"""


def printed(code: str, **environment: str) -> str:
    """What another process prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"OMP_NUM_THREADS": "1"} | environment, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    return done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no getrusage")
def test_a_run_of_500_steps_stays_within_50_mb_of_the_model():
    steps, megabytes = printed(MEMORY).split()
    assert steps == "500"
    assert float(megabytes) < 50


# The simulator of the paper's listing.


def test_simulate_prints_figure_1_and_returns_the_terminal_state(capsys):
    assert Simulator(Description(), T=100).simulate("B()E") == "T"
    assert capsys.readouterr().out == FIGURE_1 + "\n"


def test_the_listing_of_the_paper_runs(capsys):
    transition_function = {(q, a): (p, b, d) for q, a, p, b, d in TABLE_2}
    sim = Simulator(Description(transition_function, {"T", "F"}), T=100)
    assert sim.simulate("B()((()(()))())E") == "T"
    lines = capsys.readouterr().out.splitlines()
    assert lines == [str(now) for now in BALANCED.trace("B()((()(()))())E")]
    assert len(lines) == 82
    assert sim.simulate("B(()E") == "F"


def test_simulate_says_when_the_steps_run_out_and_when_the_machine_jams(capsys):
    sim = Simulator(Description(), T=100)
    assert sim.simulate("B()E", max_steps=1) is None
    assert capsys.readouterr().out == "I  [B]()E\nR  B[(])E\nAfter 1 step the machine has not halted.\n"
    assert sim.simulate("B()E", max_steps=2) is None
    assert capsys.readouterr().out.endswith("\nAfter 2 steps the machine has not halted.\n")
    assert sim.simulate("BB") is None
    assert capsys.readouterr().out == "I  [B]B\nR  B[B]\nThe machine jams after 1 step: there is no rule for (R, B).\n"


def test_a_description_is_balanced_parentheses_unless_it_says_otherwise():
    assert Description().machine == BALANCED
    assert Description(initial="V").machine.initial == "V"
    assert Description(TABLE_2, ["F", "T"]).machine == BALANCED
    rules = {("A", "0"): ("B", "E", 1), ("B", "0"): ("A", "0", 0)}
    machine = Description(rules, ()).machine
    assert (machine.initial, machine.blank, machine.halting) == ("A", "E", frozenset())
    machine = Description(rules, {"H"}, initial="B", blank="0").machine
    assert (machine.initial, machine.blank, machine.halting) == ("B", "0", {"H"})


def test_a_simulator_takes_the_options_of_the_network():
    sim = Simulator(Description(), T=50, bits=9, kappa=300, average="literal")
    assert (sim.T, sim.bits, sim.options["kappa"], sim.options["average"]) == (50, 9, 300, "literal")
    assert sim.run("B()E") == BALANCED.run("B()E")


# Wrong arguments.

RULES = {("A", "0"): ("A", "1", 1)}
SMALL = compiled(BALANCED, 20)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SMALL.run("B(x)E"), r"Symbol 'x' \(cell 2 of the word\) is not in .* alphabet: \( \) \* B E"),
        (lambda: SMALL.run_batch(["B", "x"]), r"Symbol 'x' \(cell 0 of the word\)"),
        (lambda: SMALL.encode("x"), "Symbol 'x'"),
        (lambda: SMALL.initial("x"), "Symbol 'x'"),
        (lambda: SMALL.run(5), "A word is a string or a sequence of symbols, and 5 was given"),
        (lambda: SMALL.run_batch("B()E"), r"A list of words is expected, and the single word 'B\(\)E' was given"),
        *((lambda T=T: compiled(BALANCED, T), rf"T is the maximal number of steps, an integer from 1 up .* T={T!r} was")
          for T in (0, -3, 2.5, True, "100", None)),
        (lambda: compiled(BALANCED, 2**64 + 1), "T is the maximal .* T=18446744073709551617 was given"),
        (lambda: SMALL.run("BE", 21), "max_steps = 21 is more than T = 20, .* Compile it with T=21"),
        (lambda: SMALL.trace("BE", 21), "max_steps = 21 is more than T = 20"),
        (lambda: SMALL.run_batch(["BE"], 21), "max_steps = 21 is more than T = 20"),
        (lambda: SMALL.run("BE", -1), "max_steps .* integer .*, and -1 was given"),
        (lambda: SMALL.run("BE", True), "max_steps .* integer .*, and True was given"),
        (lambda: SMALL.run("BE", 2.0), "max_steps .* integer .*, and 2.0 was given"),
        (lambda: compiled(BALANCED, 100, bits=6), "bits=6 was given. T = 100 steps are numbered with 7 bits: give 7"),
        (lambda: compiled(BALANCED, 2, bits=0), "bits=0 was given. T = 2 steps are numbered with 1 bit: give 1 or"),
        (lambda: compiled(BALANCED, 100, bits=8.0), "bits=8.0 was given"),
        (lambda: compiled(BALANCED, 1, bits=True), "bits=True was given"),
        (lambda: compiled(BALANCED, 100, bits=65), r"bits=65 was given. .* give 7 or more \(to 64\)"),
        (lambda: compiled(BALANCED, 100, average="softmax"), "An average is one of ratio, literal, and 'softmax' was"),
        *((lambda adder=adder: compiled(BALANCED, 100, adder=adder), f"An adder is one of .*, and {adder!r} was given")
          for adder in ("fast", "", None, 1)),
        (lambda: compiled(BALANCED, 100, kappa=-1), "κ is a number above 0, .* -1 was given"),
        (lambda: compiled(BALANCED, 100, engine="fast"), "wcm21: .*'engine'. Its options: T, bits, kappa, average"),
        (lambda: turing.compile(BALANCED, "wcm21"), "wcm21: missing a required argument: 'T'. Its options: T, bits, k"),
        (lambda: turing.compile(BALANCED, "wcm22", T=5), "one of .*wcm21.*, and 'wcm22' was given"),
        (lambda: turing.compile(BALANCED, ["wcm21"], T=5), r"one of .*wcm21.*, and \['wcm21'\] was given"),
        (lambda: compiled("bb2", 5), "A TuringMachine is compiled here, and 'bb2' was given"),
        *((lambda step=step: SMALL.activations("B()E", step), rf"integer of at least 1, and {step!r} was given")
          for step in (0, -1, 1.5, "1", None)),
        (lambda: SMALL.activations("B()E", 21), "The steps of this network are 1 to 20, and step 21 was asked for"),
        (lambda: SMALL.activations("B()E", 10), "Step 10 was asked for, and the run on this word ends with step 9"),
        (lambda: SMALL.patterns("B()E", 0), "the number of a pass, must be an integer of at least 1, and 0 was given"),
        (lambda: SMALL.patterns("(", 2), "Step 2 was asked for, and the run on this word ends with step 1"),
        (lambda: SMALL(torch.zeros(51), torch.zeros(0, 51), torch.zeros(1, 50)), "takes vectors of width 51, and a"),
        (lambda: Simulator(BALANCED, T=5), "A Simulator takes a Description, and <TuringMachine: 6 states"),
        (lambda: Simulator(Description(), T=0), "T=0 was given"),
        (lambda: Description(RULES), "A transition function and the terminal states go together, and one of them was"),
        (lambda: Description(terminal_states={"T"}), "go together, and one of them was given"),
        (lambda: Description(RULES, {"H"}), "No blank was given, and the usual one, 'E', is not in the alphabet: 0 1"),
        (lambda: Description(RULES, {"H"}, blank="E"), "The blank 'E' is not in the alphabet of the rules: 0 1"),
        (lambda: Description(RULES, {"H"}, initial="Q", blank="0"), "The initial state 'Q' appears in no rule"),
        (lambda: Description(RULES, {"A"}, blank="0"), r"State 'A' halts, and a rule was given for it: \(A, 0\)"),
        (lambda: Description(RULES, "A", blank="0"), "halting is a set of state names, and the string 'A' was given"),
        (lambda: Description({}, {"H"}), "This machine has no rules"),
        (lambda: Description({"A": ("A", "0", 1)}, {"H"}), "A rule reads .* and this one was given: 'A'"),
        (lambda: Description({("A", "E"): ("A", "E", 2)}, {"H"}), r"A move is -1 \(left\), 0 \(stay\) or \+1 "),
        (lambda: Description(5, {"H"}), "delta is a dictionary or a list of rules, and 5 was given"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_answered_with_what_was_expected(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


@pytest.mark.parametrize("dtype", [*DTYPES, torch.float16], ids=str)
def test_a_kappa_too_small_for_the_number_type_is_refused_and_the_one_that_would_do_is_named(dtype):
    least = least_kappa(dtype)
    assert compiled(BALANCED, 20, dtype, kappa=least).run("B()E") == BALANCED.run("B()E")
    assert turing.verify(compiled(BALANCED, 20, dtype, kappa=least), BALANCED, ["B(())E"])
    net = compiled(BALANCED, 20, dtype, kappa=least - 1)
    for call in (net.run, lambda word: list(net.trace(word)), lambda word: net.run_batch([word])):
        with pytest.raises(ValueError, match=rf"κ = {least - 1} is too small for {dtype}: .* Take κ = {least} or more"):
            call("B()E")


@pytest.mark.parametrize("kappa", [1e5, 1e38])
@pytest.mark.parametrize("dtype", [*DTYPES, torch.float16], ids=str)
def test_no_kappa_is_too_large(dtype, kappa):
    assert turing.verify(compiled(BALANCED, 20, dtype, kappa=kappa), BALANCED, ["B()E"])


def test_a_column_that_is_unclear_is_not_read(net):
    column = net.activations("B()E", 3)["combine"]
    for place, value, message in (
        (net.layout.st["R"], 0.6, "st\\[R\\] is 0.6, and neither 0 nor 1. turing.verify finds the step and the layer"),
        (net.layout.pos2[3], float("nan"), "pos2\\[3\\] is nan, and neither 0 nor 1"),
        (net.layout.st["R"], 1.0, "st, sym1 and sym2 should have one 1 each, and they have 2, 1 and 1"),
        (net.layout.sym1["E"], 1.0, "they have 1, 2 and 1"),
    ):
        spoilt = column.clone()
        spoilt[place] = value
        with pytest.raises(ArithmeticError, match=message):
            net.read_columns(spoilt.unsqueeze(0))


def test_a_network_whose_numbers_were_changed_is_stopped_where_it_shows():
    net = compiled(BALANCED, 20)
    with torch.no_grad():
        net.pipeline["adder1"][-1].bias[net.layout.pos3[0]] += 1
    with pytest.raises(ArithmeticError):
        net.run("B()E")
    net = compiled(BALANCED, 20)
    with torch.no_grad():
        net.pipeline["last"].value.weight.zero_()
    with pytest.raises(ArithmeticError, match="st, sym1 and sym2 should have one 1 each, and they have 1, 0 and 1"):
        net.run("B()E")
    net = compiled(BALANCED, 20)
    with torch.no_grad():
        net.pipeline["preprocess"].weight[net.wide.add[0], net.layout.scr5["L"]] = 0
    with pytest.raises(ArithmeticError, match="At step 3 the position bits say 0, and the moves lead to cell 1"):
        net.run("B()E")
