"""The engines: the oracle's traces and plain torch's vectors, number for number, or a refusal that says where."""

import io
import itertools
import math
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Collection

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import full, machines, machines_and_words, numbered, walker
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import prune

import turing
from paper import BALANCED, FIGURE_1
from turing.attention import Attention
from turing.engine import Indexed, Native, Program, Refusal, check_heads, kernel, run_batch
from turing.engine import checkpoint as files
from turing.engine import native as compiled_loop
from turing.gates import Layer, Readout
from turing.machine import TuringMachine
from turing.wcm import WCM21, CapacityError
from turing.wcm.pipeline import GetInitialSymbol, GetLastWrittenSymbol, IndicateVisitedPosition
from turing.zoo import NAMES, zoo

torch.set_num_threads(1)  # on small matrices threads wait for each other
slow = pytest.mark.slow
ENGINES = ["indexed", "native"]
ADDERS = ["lookahead", "ripple"]
DTYPES = [torch.float32, torch.float64]
engines = pytest.mark.parametrize("engine", ENGINES)
adders = pytest.mark.parametrize("adder", ADDERS)
dtypes = pytest.mark.parametrize("dtype", DTYPES, ids=str)


def compiled(
    machine: TuringMachine = BALANCED, T: int = 100, dtype: torch.dtype = torch.float32, adder="lookahead", **options
) -> WCM21:
    return turing.compile(machine, "wcm21", T=T, adder=adder, **options).to(dtype)


@pytest.fixture
def net() -> WCM21:
    return compiled()


def agree(net: WCM21, words: list, limit: int | None = None, check: bool = False) -> int:
    """Compare every engine with the machine: all numbers inside, runs and whole traces; how many steps a word took."""
    machine, limit = net.machine, net.T if limit is None else limit
    expected = [machine.run(word, limit) for word in words]
    steps = sum(run.steps + (run.status == "jammed") for run in expected)
    traces = [numbered(machine.trace(word, limit)) for word in words]
    for engine in ENGINES:
        report = turing.verify(net, machine, words, limit, engine=engine)
        assert report, f"{engine}: {report}"
        assert report.steps == steps
        for word, run, trace in zip(words, expected, traces, strict=True):
            found = net.run(word, limit, engine=engine, check=check)
            assert found == run
            assert numbered(found.trace) == trace
    return steps


# The oracle's runs and traces.


pairs = pytest.mark.parametrize(("adder", "dtype"), list(zip(ADDERS, DTYPES, strict=True)), ids=str)


@pairs
def test_the_word_of_the_paper_takes_81_steps_in_every_engine(adder, dtype):
    assert agree(compiled(BALANCED, 100, dtype, adder), ["B()((()(()))())E"]) == 81


def test_a_trace_comes_step_by_step(net):
    for engine in ENGINES:
        trace = net.trace("B()E", engine=engine)
        assert [str(next(trace)) for _ in range(3)] == FIGURE_1.splitlines()[:3]
        assert [str(now) for now in net.trace("B()E", engine=engine)] == FIGURE_1.splitlines()


def test_every_engine_has_torchs_vectors_under_torchs_names_also_when_a_run_is_over(net):
    words = ["B()E", "", "B(()E", "BB"]
    plain = list(net.vectors(words, 20))
    for engine in ENGINES:
        found = list(net.vectors(words, 20, engine=engine))
        assert len(found) == 20
        for ours, theirs in zip(found, plain, strict=True):
            assert list(ours) == list(theirs) == ["column", *net.pipeline]
            assert all(torch.equal(ours[name], theirs[name]) for name in ours)
            assert not any(vector.requires_grad for vector in ours.values())


LONG = {"bb5", "bb2x4", "antihydra"}  # their samples take from 100,000 steps on


def zoo_agrees(samples: Collection, name: str, most: int, dtype: torch.dtype, adder: str) -> int:
    T = min(most, max(sample.steps for sample in samples) + 1)
    bits = (T + max(len(sample.word) for sample in samples) - 1).bit_length()
    return agree(compiled(zoo[name], T, dtype, adder, bits=bits), [sample.word for sample in samples])


@pytest.mark.parametrize(("name", "dtype"), zip(NAMES, itertools.cycle(DTYPES)), ids=str)
def test_the_engines_follow_the_machines_of_the_zoo_for_24_steps(name, dtype):
    samples = zoo.entry(name).samples
    assert zoo_agrees({samples[0], samples[-1]}, name, 24, dtype, "lookahead") >= 1


@slow
@adders
@dtypes
@pytest.mark.parametrize("name", NAMES)
def test_the_engines_follow_every_machine_of_the_zoo_on_its_samples(name, dtype, adder):
    steps = zoo_agrees(zoo.entry(name).samples, name, 2000 if name in LONG else 5000, dtype, adder)
    print(f"{name}: {steps:,} steps in {dtype}, {adder}: no difference")
    assert steps >= min(2000, sum(sample.steps for sample in zoo.entry(name).samples))


def random_machines_agree(examples: int, words: int, T: int, both: bool, check: int) -> tuple[int, int, int]:
    """Of so many random machines: how many there were, how many took 20 steps or more, and the steps of all."""
    tried, long, steps = 0, 0, 0

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(machines_and_words(words=words))
    def compare(machine_and_words):
        nonlocal tried, long, steps
        machine, words = machine_and_words
        for adder in ADDERS if both else [ADDERS[tried % 5 == 4]]:
            net = compiled(machine, T, DTYPES[tried % 2], adder, bits=(T + 7).bit_length())
            steps += agree(net, words, check=tried < check)
        long += max(machine.run(word, T).steps for word in words) >= 20
        tried += 1

    compare()
    return tried, long, steps


def test_the_engines_follow_30_random_machines_and_the_check_mode_finds_nothing_on_5():
    tried, long, steps = random_machines_agree(30, 1, 24, both=False, check=5)
    assert tried >= 30
    assert long >= 10
    assert steps >= 200


@slow
def test_the_engines_follow_500_random_machines_and_the_check_mode_finds_nothing_on_50():
    tried, long, steps = random_machines_agree(500, 2, 100, both=True, check=50)
    print(f"{tried} random machines, {long} of 20 steps or more, {steps:,} steps: no difference")
    assert tried >= 500
    assert long >= 250
    assert steps >= 50_000


ODD = ["pos1", "[", "]", "st[A]", " ", "\n", "🂡", "a'b\"", "x" * 300, "0", "B E"]


def test_names_may_be_any_text():
    rules = {(q, a): (p, b, 1) for q, p in itertools.pairwise(ODD) for a, b in zip(ODD, ODD[1:] + ODD[:1], strict=True)}
    machine = TuringMachine(rules, ODD[0], {ODD[-1]}, ODD[3])
    assert agree(compiled(machine, 20, bits=6), [[], ODD, [ODD[3]] * 5]) == 3 * (len(ODD) - 1)


@pytest.mark.parametrize("bits", [1, 2, 3])
def test_the_last_of_2_to_the_l_steps_still_has_a_number_of_its_own(bits):
    machine = TuringMachine(
        {("A", "0"): ("B", "1", 1), ("B", "0"): ("A", "1", -1), ("A", "1"): ("B", "0", 1), ("B", "1"): ("A", "0", -1)},
        "A", (), "0",
    )  # fmt: skip
    for adder in ADDERS:
        assert agree(compiled(machine, 2**bits, adder=adder), ["", "1", "01"]) == 3 * 2**bits


@pytest.mark.parametrize("move", [-1, 0, 1])
def test_a_machine_of_one_state_and_one_symbol_runs_to_its_limit(move):
    machine = TuringMachine({("A", "0"): ("A", "0", move)}, "A", (), "0")
    assert agree(compiled(machine, 3, bits=4), ["", "0"]) == 6


def test_positions_may_have_64_bits_and_steps_too():
    net = compiled(BALANCED, 2**64)
    assert net.bits == 64
    words = ["B)(E", "B()E"]
    assert agree(net, words[:1]) == 3  # it goes to cell -1, which has 64 ones
    assert run_batch(net, words) == [BALANCED.run(word) for word in words]


def test_a_machine_that_halts_before_it_starts_takes_no_step():
    machine = TuringMachine({("A", "0"): ("H", "1", 1)}, "H", {"H"}, "0")
    net = compiled(machine, 4)
    assert agree(net, ["", "0", "101"]) == 0
    assert {net.run("", engine=engine).status for engine in ENGINES} == {"halted"}
    assert run_batch(net, ["", "101"]) == [machine.run(""), machine.run("101")]


def test_a_machine_that_jams_at_once_or_later_ends_as_the_oracle_says(net):
    assert agree(net, ["(", "", "BB", "B(B"]) == 1 + 1 + 2 + 3
    for engine in ENGINES:
        assert (net.run("B(B", engine=engine).status, net.run("B(B", engine=engine).steps) == ("jammed", 2)
        assert net.run("B(B", 2, engine=engine).status == BALANCED.run("B(B", 2).status == "limit"
        assert net.run("B(B", 3, engine=engine).status == BALANCED.run("B(B", 3).status == "jammed"


@engines
def test_every_limit_ends_the_run_where_it_ends_the_machines(net, engine):
    for limit in (0, 1, 5, 8, 9, 10, 100):
        run = net.run("B()E", limit, engine=engine)
        assert run == BALANCED.run("B()E", limit)
        assert len(list(net.trace("B()E", limit, engine=engine))) == run.steps + 1


@engines
def test_a_word_comes_as_a_string_a_list_or_a_generator(net, engine):
    for word in ("B()E", ["B", "(", ")", "E"], (symbol for symbol in "B()E")):
        run = net.run(word, engine=engine)
        assert run == BALANCED.run("B()E")
        assert numbered(run.trace) == numbered(BALANCED.trace("B()E"))


@pytest.mark.parametrize("move", [-1, 1])
def test_a_run_goes_on_when_the_index_has_to_grow(move):
    """The first room is for 17 cells; the walker comes to 150."""
    net = compiled(walker(move), 150, bits=8)
    assert Native(net, "").keys.size < 32
    assert agree(net, ["a" * 5]) == 150


def test_a_run_after_the_index_has_grown_finds_the_first_cells_again():
    """To and fro over a stretch that grows by a cell at each end; more steps than are recorded at a time."""
    machine = TuringMachine(
        {("L", "_"): ("R", "x", 1), ("L", "x"): ("L", "x", -1), ("R", "x"): ("R", "x", 1), ("R", "_"): ("L", "x", -1)},
        "R", (), "_",
    )  # fmt: skip
    assert agree(compiled(machine, 300, bits=9), [""]) == 300 > compiled_loop.ROWS
    assert len(machine.run("", 300).tape) == 24


def test_bb2x4_halts_after_3_932_964_steps_with_2_050_cells_written():
    run = compiled(zoo["bb2x4"], 2**22).run("", engine="native")
    assert (run.status, run.steps, len(run.tape)) == ("halted", 3_932_964, 2_050)


@slow
def test_bb5_halts_after_47_176_870_steps_with_4_098_ones():
    run = compiled(zoo["bb5"], 100_000_000).run("", engine="native")
    assert (run.status, run.steps, list(run.tape.values())) == ("halted", 47_176_870, ["1"] * 4_098)


@slow
@adders
@dtypes
@pytest.mark.parametrize("name", ["bb2x4", "bb5", "antihydra"])
def test_after_two_million_steps_the_compiled_loop_is_where_the_oracle_is(name, dtype, adder):
    net = compiled(zoo[name], 2_000_000, dtype, adder)
    assert net.run("", engine="native") == zoo[name].run("", 2_000_000)


@slow
def test_after_200_000_steps_antihydra_is_where_the_oracle_is_with_the_index_too():
    net = compiled(zoo["antihydra"], 200_000)
    assert net.run("", engine="indexed") == zoo["antihydra"].run("", 200_000)


# The weights alone.


@engines
def test_no_engine_knows_the_rules(engine):
    """A network whose machine was exchanged still does what its weights say; with the weights of another, that."""
    rules = dict(BALANCED.delta) | {("V", "*"): ("T", "*", 0)}
    other = TuringMachine(rules, "I", {"T", "F"}, "E")
    assert (other.states, other.symbols) == (BALANCED.states, BALANCED.symbols)
    net = compiled()
    net.machine = other
    assert net.run("B()E", engine=engine) == BALANCED.run("B()E")
    net = compiled()
    net.load_state_dict(compiled(other).state_dict())
    assert net.run("B()E", engine=engine) == other.run("B()E") != BALANCED.run("B()E")


@engines
def test_a_run_leaves_weights_and_gradients_alone(net, engine):
    before = {name: numbers.clone() for name, numbers in net.state_dict().items()}
    net.run("B()E", engine=engine)
    assert all(torch.equal(numbers, before[name]) for name, numbers in net.state_dict().items())
    assert all(parameter.requires_grad and parameter.grad is None for parameter in net.parameters())
    assert torch.is_grad_enabled()


# Weights that were changed: plain torch's vectors, or a refusal.

CHANGED = "B(()())E"  # 29 steps; cells are visited up to five times


def exact_in_any_order(vectors: dict[str, torch.Tensor]) -> bool:
    """Whether the numbers are so short that no sum is rounded. Beyond, plain torch too has other last digits with
    other batches.
    """
    return all((x * 512 % 1 == 0).all() and (x.abs() < 512).all() for x in vectors.values())


def outcome(net: WCM21, word: str, engine: str, limit: int | None = None) -> object:
    """How a run ends: with what it has done, or with an error and its message."""
    try:
        return net.run(word, limit, engine=engine)
    except ArithmeticError as error:
        return type(error), str(error)


def equals_torch_or_refuses(net: WCM21, steps: int) -> dict[str, int]:
    """Compare vectors and runs with plain torch's; how many steps were equal, with numbers other than 0 and 1 or not,
    and how often an engine refused to go on.
    """
    counts = {"equal": 0, "odd": 0, "refused": 0}
    plain = list(net.vectors([CHANGED], steps))
    short = list(itertools.takewhile(exact_in_any_order, plain))
    run = outcome(net, CHANGED, "torch", steps)
    for engine in ENGINES:
        try:
            for ours, theirs in zip(net.vectors([CHANGED], steps, engine=engine), short, strict=False):
                for name, vector in theirs.items():
                    assert torch.equal(ours[name], vector), f"{engine}, {name}"
                counts["equal"] += 1
                counts["odd"] += any((vector % 1 != 0).any() for vector in theirs.values())
        except Refusal as refusal:
            counts["refused"] += 1
            step = refused_at(net, plain, str(refusal))
        else:
            step = None
        found = outcome(net, CHANGED, engine, steps)
        if isinstance(found, tuple) and found[0] is Refusal:
            assert step is not None
            assert found[1].startswith(f"At step {step}, ")
        else:
            assert found == run
    return counts


def refused_at(net: WCM21, plain: list[dict[str, torch.Tensor]], message: str) -> int:
    """The step that a refusal names: there plain torch has the number that it names, before the heads."""
    step = int(message.removeprefix("At step ").split(",")[0])
    names = net.layout.names()
    place, value = message.split(", ", 1)[1].split(" before the heads")[0].rsplit(" is ", 1)
    before = plain[step - 1]["move" if "move" in net.pipeline else "project"][0]
    assert before[names.index(place)] == float(value)
    assert place.split("[")[0] in ("pos1", "pos2", "pos3", "scr3")
    return step


def feed_forward(net: WCM21) -> list[tuple[str, Readout]]:
    """The layers around the heads, with the names of their modules."""
    modules = [(name, module) for name, module in net.pipeline.items() if not isinstance(module, Attention)]
    return [(name, part) for name, module in modules for part in module.modules() if isinstance(part, Readout)]


def scaled(net: WCM21, numbers: list[tuple[torch.Tensor, list[int]]], steps: int) -> dict[str, int]:
    """What :func:`equals_torch_or_refuses` counts while each of these numbers, one after the other, is half more."""
    total = {"equal": 0, "odd": 0, "refused": 0}
    for part, place in numbers:
        before = part[tuple(place)].item()
        with torch.no_grad():
            part[tuple(place)] = 1.5 * before
        for kind, count in equals_torch_or_refuses(net, steps).items():
            total[kind] += count
        with torch.no_grad():
            part[tuple(place)] = before
    return total


def some_of_each_layer(net: WCM21, each: int) -> list[tuple[torch.Tensor, list[int]]]:
    chosen, draw = [], random.Random(0)
    for _, layer in feed_forward(net):
        numbers = [(part, place) for part in (layer.weight, layer.bias) for place in part.nonzero().tolist()]
        chosen += draw.sample(numbers, min(each, len(numbers)))
    return chosen


def test_with_a_weight_scaled_by_1_5_every_engine_has_torchs_vectors_or_refuses():
    net = compiled(BALANCED, 32)
    total = scaled(net, some_of_each_layer(net, 3), 8)
    assert total["odd"] >= 12
    assert total["refused"] >= 6
    assert agree(net, [CHANGED]) == BALANCED.run(CHANGED).steps  # all is as it was


@slow
@dtypes
@adders
def test_with_any_of_many_weights_scaled_by_1_5_every_engine_has_torchs_vectors_or_refuses(adder, dtype):
    net = compiled(BALANCED, 32, dtype, adder)
    numbers = some_of_each_layer(net, 40 if adder == "lookahead" else 8)
    total = scaled(net, numbers, 30)
    print(f"{len(numbers)} numbers, {adder}, {dtype}: {total}")
    assert total["odd"] >= 200
    assert total["refused"] >= 50


def test_with_a_weight_of_any_of_the_papers_layers_scaled_every_engine_has_torchs_vectors_or_refuses():
    """In every other layer one that carries the state R, in the others one that carries the lowest position bit."""
    net = compiled(BALANCED, 8, adder="ripple")
    layers = [layer for _, layer in feed_forward(net)]
    rows = itertools.cycle([net.layout.st["R"], net.layout.pos3[0]])
    numbers = [
        (layer.weight, [row, place])
        for layer, row in zip(layers, rows, strict=False)
        for place in layer.weight[row].nonzero().flatten().tolist()[:1]
    ]
    assert len(numbers) >= len(layers) - 2 == 2 + 2 + 3 * 8 + 3 - 2
    total = scaled(net, numbers, 2)
    assert total["odd"] >= 20
    assert total["refused"] >= 10


@engines
def test_a_refusal_names_step_and_place_and_the_numbers_before_it_are_torchs(net, engine):
    carry = net.pipeline["carry"]
    with torch.no_grad():
        carry.bias[carry.layouts[1].carry[3]] = -2.5  # matters where the head goes right from cell 3
    plain, found = list(net.vectors(["B((((E"], 4)), net.vectors(["B((((E"], 20, engine=engine)
    for ours, theirs in zip(itertools.islice(found, 3), plain, strict=False):
        assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
    with pytest.raises(Refusal, match=r"At step 4, pos3\[3\] is 0\.5 before the heads, and an index is for 0 and 1"):
        next(found)
    assert plain[3]["move"][0, net.layout.pos3[3]] == 0.5
    with pytest.raises(Refusal, match=r"At step 4, .* turing\.verify tells where it begins"):
        net.run("B((((E", engine=engine)
    assert [now.step for now in itertools.islice(net.trace("B((((E", engine=engine), 4)] == [0, 1, 2, 3]


@engines
def test_a_step_that_is_numbered_wrongly_and_a_search_that_has_begun_are_refused(net, engine):
    move = net.pipeline["move"]
    with torch.no_grad():
        move.weight[net.layout.pos1[0]] = 0
    with pytest.raises(Refusal, match=r"At step 2, pos1\[0\] is 0 before the heads, and the number of the column is 1"):
        net.run("B()E", engine=engine)
    net = compiled()
    with torch.no_grad():
        net.pipeline["move"].weight[net.layout.scr3[4], net.pipeline["carry"].layouts[1].st["M"]] = 1
    with pytest.raises(Refusal, match=r"At step 3, scr3\[4\] is 1 before the heads search"):
        net.run("B()E", engine=engine)


@engines
def test_a_column_that_cannot_be_read_is_refused_in_torchs_words(net, engine):
    with torch.no_grad():
        net.pipeline["carry"].weight[net.pipeline["carry"].layouts[1].st["M"]] *= 1.5
    with pytest.raises(ArithmeticError, match=r"st\[M\] is 1.5, and neither 0 nor 1") as plain:
        net.run("B()E")
    with pytest.raises(ArithmeticError) as ours:
        net.run("B()E", engine=engine)
    assert (ours.type, str(ours.value)) == (plain.type, str(plain.value))


def rewired(net: WCM21, module: str, one: int, other: int) -> None:
    """One row of a module's layer is that of another place, so that bits stay bits."""
    layer = net.pipeline[module]
    with torch.no_grad():
        layer.weight[one], layer.bias[one] = layer.weight[other].clone(), layer.bias[other].clone()


def rewired_networks_agree(examples: int) -> dict[str, int]:
    """Change rows of the layers around the heads for others of the same slice; how the runs ended."""
    ends = {"run": 0, "error": 0, "refused": 0}
    words = ["B(())E", "B((((((((((((", "B)E"]

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(st.sampled_from(["detect", "carry", "move", "choose", "assemble"]), st.data())
    def compare(module, data):
        net = compiled(BALANCED, 32)
        part = data.draw(st.sampled_from([part for part in net.layout_of(module) if len(part) > 1]))
        one, other = data.draw(st.tuples(st.sampled_from(list(part)), st.sampled_from(list(part))))
        rewired(net, module, one, other)
        for word in words:
            plain = outcome(net, word, "torch")
            for engine in ENGINES:
                found = outcome(net, word, engine)
                refused = isinstance(found, tuple) and found[0] is Refusal
                assert refused or found == plain
                ends["refused" if refused else "error" if isinstance(found, tuple) else "run"] += 1

    compare()
    return ends


def test_networks_with_a_row_exchanged_end_as_plain_torch_says_or_are_refused():
    ends = rewired_networks_agree(6)
    assert ends["run"] >= 10
    assert ends["error"] >= 4


@slow
def test_300_networks_with_a_row_exchanged_end_as_plain_torch_says_or_are_refused():
    ends = rewired_networks_agree(300)
    print(f"300 networks with a row exchanged, 3 words, 2 engines: {ends}")
    assert min(ends.values()) >= 30


@pytest.mark.parametrize("word", ["B(())E", "BE", "B(((((", "B((((((((((("])
def test_a_column_that_is_remembered_under_a_wrong_position_leads_no_engine_to_another_end(word):
    """pos2[2] is pos2[1] when the heads come: what was written is found on other cells."""
    net = compiled(BALANCED, 64)
    rewired(net, "move", net.layout.pos2[2], net.layout.pos2[1])
    assert outcome(net, word, "native") == outcome(net, word, "indexed") == outcome(net, word, "torch")


# Networks that an index is not for.


@engines
@pytest.mark.parametrize(
    ("options", "dtype", "message"),
    [
        ({"average": "literal"}, torch.float32, "The head visited takes its average as 'literal', which is not exact"),
        ({"kappa": 100}, torch.float32, "κ = 100 is too small for torch.float32"),
        ({"kappa": 300}, torch.float64, "κ = 300 is too small for torch.float64: .* Take κ = 1491 or more"),
        ({}, torch.bfloat16, 'An index works in float32 and float64, and this network is of bfloat16. Take engine="t'),
        ({}, torch.float16, "An index works in float32 and float64, and this network is of float16"),
    ],
)
def test_a_network_that_an_index_is_not_for_is_refused_with_a_reason(engine, options, dtype, message):
    net = compiled(BALANCED, 20, dtype, **options)
    for call in (
        lambda: net.run("B()E", engine=engine),
        lambda: list(net.trace("B()E", engine=engine)),
        lambda: next(net.vectors(["B()E"], engine=engine)),
        lambda: turing.verify(net, BALANCED, ["B()E"], engine=engine),
    ):
        with pytest.raises(Refusal, match=message):
            call()
    assert issubclass(Refusal, ArithmeticError)


def test_a_number_of_any_map_of_any_head_that_differs_is_named():
    net, named = compiled(BALANCED, 16), 0
    check_heads(net)
    for name, module in net.pipeline.items():
        for part, numbers in module.named_parameters() if isinstance(module, Attention) else ():
            for place in ([0] * numbers.dim(), [n - 1 for n in numbers.shape]):
                with torch.no_grad():
                    before = numbers[tuple(place)].item()
                    numbers[tuple(place)] = before + 2**-10
                values = f"{np.float32(before + 2**-10)!s}, and a look-up has {before:g} there."
                with pytest.raises(Refusal) as refusal:
                    check_heads(net)
                assert f"pipeline.{name}.{part}{place} is {values}" in str(refusal.value)
                with torch.no_grad():
                    numbers[tuple(place)] = before
                named += 1
    assert named == 7 * 10 * 2
    check_heads(net)


@engines
def test_a_head_that_was_changed_is_refused_by_the_engine(net, engine):
    with torch.no_grad():
        net.pipeline["search3"].query.weight[2, net.layout.pos3[2]] = 3
    place = rf"\[2, {net.layout.pos3[2]}\]"
    with pytest.raises(Refusal, match=rf"pipeline\.search3\.query\.weight{place} is 3, and a look-up has 2 there"):
        net.run("B()E", engine=engine)


def test_a_head_that_is_missing_or_softer_than_the_others_is_refused(net):
    net.pipeline["last"].kappa = 1.0
    with pytest.raises(Refusal, match="κ = 1 is too small"):
        check_heads(net)
    net.pipeline["last"].kappa, net.pipeline["last"].average = 9999.0, "literal"
    with pytest.raises(Refusal, match="The head last takes its average as 'literal'"):
        check_heads(net)
    del net.pipeline["last"]
    with pytest.raises(Refusal, match=r"An index is for all heads of wcm21, and here are visited search6 .* initial"):
        check_heads(net)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("name", ["carry.weight", "choose.bias", "visited.key.weight"])
def test_a_number_that_is_infinite_or_none_is_refused(net, name, number):
    numbers = dict(net.named_parameters())[f"pipeline.{name}"]
    with torch.no_grad():
        numbers.flatten()[1] = number
    for engine in ENGINES:
        with pytest.raises(Refusal, match=f"pipeline.{name} has a number that is infinite or none"):
            net.run("B()E", engine=engine)


class Twice(IndicateVisitedPosition):
    """A look-up that adds what it finds once more."""

    def forward(self, *arguments):
        return 2 * super().forward(*arguments)


def exchanged(name: str, module):
    """A change that puts another module in the place of one, or behind the last one."""
    return lambda net: net.pipeline.update({name: module(net)})


def widened(net: WCM21) -> None:
    before = net.pipeline["choose"]
    net.pipeline["choose"] = Layer(F.pad(before.weight.detach(), (0, 0, 0, 3)), F.pad(before.bias.detach(), (0, 3)))


def hooked(name: str):
    return lambda net: net.get_submodule(f"pipeline.{name}").register_forward_hook(lambda *_: None)


@engines
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda net: net.pipeline["carry"].double(),
            "carry.weight is of torch.float64, and the network of torch.float32",
        ),
        (
            exchanged("visited", lambda net: GetLastWrittenSymbol(net.layout)),
            "visited is of class GetLastWrittenSymbol",
        ),
        (exchanged("last", lambda net: GetInitialSymbol(net.layout)), "and the head of a look-up has GetLastWrittenSy"),
        (
            exchanged("visited", lambda net: Twice(net.layout)),
            "visited is of class Twice, and the head of a look-up has",
        ),
        (exchanged("tail", lambda net: nn.Identity()), "Identity has a forward of its own, and an engine computes"),
        (
            exchanged("tail", lambda net: nn.Linear(net.layout.width, net.layout.width)),
            "Linear has a forward of its own",
        ),
        (
            exchanged("assemble", lambda net: nn.Sequential(net.pipeline["assemble"], nn.ReLU())),
            "ReLU has a forward of",
        ),
        (hooked("carry"), "pipeline.carry has a hook, which an engine would not call"),
        (hooked("last.query"), "pipeline.last.query has a hook, which an engine would not call"),
        (lambda net: prune.identity(net.pipeline["choose"], "weight"), "pipeline.choose has a hook"),
        (
            exchanged("choose", lambda net: Layer(torch.eye(7), torch.zeros(7))),
            "has a layer for 7 numbers, and .* come",
        ),
        (widened, "numbers leave pipeline.choose, and its layout has names for"),
        (lambda net: setattr(net.pipeline["last"], "kappa", math.nan), "κ = nan is infinite or no number"),
        (lambda net: setattr(net.pipeline["last"], "kappa", math.inf), "κ = inf is infinite or no number"),
    ],
)
def test_a_network_that_computes_otherwise_than_it_was_built_to_is_refused(net, engine, change, message):
    change(net)
    with pytest.raises(Refusal, match=message):
        net.run("B()E", engine=engine)


@engines
def test_layers_in_a_row_are_computed_one_after_the_other(net, engine):
    net.pipeline["assemble"] = nn.Sequential(nn.Sequential(net.pipeline["assemble"]))
    assert net.run("B()E", engine=engine) == BALANCED.run("B()E")


@engines
def test_a_number_that_becomes_infinite_is_refused_where_torch_has_none(engine):
    """A detector that nothing reads: infinity times its weights, which are 0, is no number."""
    machine = TuringMachine({("A", "0"): ("B", "1", 1), ("B", "1"): ("A", "1", 1)}, "A", (), "0")
    net = compiled(machine, 8)
    detect, column = net.pipeline["detect"], net.layout
    with torch.no_grad():
        row = net.layout_of("detect").det["B 0"]
        detect.weight[row, column.st["B"]] = detect.weight[row, column.sym1["0"]] = 3e38
    with pytest.raises(ArithmeticError, match="is nan, and neither 0 nor 1"):
        net.run("")
    for call in (lambda: net.run("", engine=engine), lambda: list(net.vectors([""], engine=engine))):
        with pytest.raises(Refusal, match=r"At step \d, .*(infinity times 0 is no number|is nan before the heads)"):
            call()


@engines
def test_numbers_that_the_heads_would_add_up_to_infinity_are_refused(engine):
    net = compiled(BALANCED, 8)
    with torch.no_grad():
        net.pipeline["move"].bias[net.layout.scr1["("]] = 3e38
    with pytest.raises(Refusal, match="At step 1, a number is infinite or almost so"):
        net.run("B()E", engine=engine)


@engines
def test_a_refusal_has_all_digits_of_a_number(net, engine):
    with torch.no_grad():
        net.pipeline["move"].weight[net.layout.pos3[0]] *= 1 + 2**-20
    with pytest.raises(Refusal, match=r"pos3\[0\] is 1\.000001 before the heads"):
        net.run("B()E", engine=engine)


def test_a_position_bit_that_is_minus_0_is_0(net, monkeypatch):
    """Whether a sum of zeros is -0 is up to torch and the hardware."""
    through = Indexed._through

    def negative(self, *arguments):
        x = through(self, *arguments)
        own = x[self.layout.pos2.slice]
        own[own == 0] = -0.0
        return x

    monkeypatch.setattr(Indexed, "_through", negative)
    assert net.run("B(())E", engine="indexed") == BALANCED.run("B(())E")


# The check mode.


@engines
def test_the_check_mode_gives_the_same_run(net, engine):
    for word in ("B()E", "B(((", "BB", ""):
        run = net.run(word, engine=engine, check=True)
        assert run == BALANCED.run(word)
        assert numbered(run.trace) == numbered(BALANCED.trace(word))


class First(dict):
    """An index that keeps the first visit of each cell, and not the last one."""

    def __setitem__(self, cell, visit):
        self.setdefault(cell, visit)


def test_the_check_mode_finds_an_index_that_keeps_the_first_visit(net, monkeypatch):
    begin = Indexed.__init__

    def broken(self, *arguments):
        begin(self, *arguments)
        self.visits = First()

    monkeypatch.setattr(Indexed, "__init__", broken)
    message = r"At step 7, layer search2, scr3\[2\] is 0 by the index, and 1 if all columns are scanned"
    with pytest.raises(AssertionError, match=message):
        net.run("B(())E", engine="indexed", check=True)


def test_the_check_mode_finds_an_index_of_the_compiled_loop_that_forgot_its_last_visits(net, monkeypatch):
    advance = Native.advance

    def broken(self, *arguments):
        self.slots[:, kernel.LAST] = np.minimum(self.slots[:, kernel.LAST], 0)
        return advance(self, *arguments)

    monkeypatch.setattr(compiled_loop, "ROWS", 1)
    monkeypatch.setattr(Native, "advance", broken)
    with pytest.raises(AssertionError, match=r"layer search1, scr3\[1\] is 0 by the index, and 1 if all columns are"):
        net.run("B(())E", engine="native", check=True)


# Capacity.


def stopped(net: WCM21, word, engine: str) -> tuple[list, str]:
    """What a trace says until it is stopped, and the message."""
    seen = []
    try:
        for now in net.trace(word, engine=engine):
            seen.append((now.step, now.state, now.head, now.symbol, now.tape))
    except CapacityError as error:
        return seen, str(error)
    return seen, ""


def test_a_walker_is_stopped_at_the_same_step_with_the_same_message_in_every_engine():
    for move, n in itertools.product((-1, 1), (0, 1, 5, 15, 16)):
        machine, word = walker(move), "a" * n
        net = compiled(machine, 16)
        step = full(machine, word, 4, 16)
        seen, message = stopped(net, word, "torch")
        assert message.startswith(f"At step {step} the head comes to cell ")
        for engine in ENGINES:
            assert stopped(net, word, engine) == (seen, message)
            with pytest.raises(CapacityError) as error:
                net.run(word, engine=engine)
            assert str(error.value) == message
            assert net.run(word, step - 1, engine=engine) == machine.run(word, step - 1)
        with pytest.raises(CapacityError) as error:
            run_batch(net, ["", word], step)
        assert str(error.value).startswith("Word ")


def random_capacities(examples: int) -> tuple[int, int]:
    """Random machines with few bits: how many are stopped, and how many are not."""
    outcomes = {True: 0, False: 0}

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(machines(), st.integers(1, 4), st.data())
    def compare(machine, bits, data):
        word = tuple(data.draw(st.lists(st.sampled_from(machine.symbols), max_size=2**bits)))
        net = compiled(machine, 2**bits)
        plain = stopped(net, word, "torch")
        for engine in ENGINES:
            assert stopped(net, word, engine) == plain
            found = outcome(net, word, engine)
            assert found == ((CapacityError, plain[1]) if plain[1] else machine.run(word, 2**bits))
        outcomes[bool(plain[1])] += 1

    compare()
    return outcomes[True], outcomes[False]


def test_20_random_machines_are_stopped_where_plain_torch_stops_them():
    stops, others = random_capacities(20)
    assert stops >= 4
    assert others >= 4


@slow
def test_500_random_machines_are_stopped_where_plain_torch_stops_them():
    stops, others = random_capacities(500)
    print(f"500 random machines with 1 to 4 bits: {stops} stopped, {others} not")
    assert stops >= 150
    assert others >= 150


@engines
@pytest.mark.parametrize("bits", [1, 3])
def test_a_word_with_more_cells_than_the_bits_tell_apart_is_refused_at_once(bits, engine):
    net, word = compiled(walker(1), 1, bits=bits), "a" * (2**bits + 1)
    assert net.run("a" * 2**bits, 0, engine=engine).steps == 0
    for call in (
        lambda: net.run(word, engine=engine),
        lambda: list(net.trace(word, engine=engine)),
        lambda: next(net.vectors([word], engine=engine)),
        lambda: run_batch(net, ["a", word]),
    ):
        with pytest.raises(CapacityError, match=f"The word has {2**bits + 1} cells, and {bits} position bits? can"):
            call()


# Batches.


def test_a_batch_of_words_ends_as_its_words_do_one_by_one(net):
    words = ["", "B", "B()E", "(", "B((()))E", "B)(E", ["B", "E"]]
    runs = run_batch(net, words)
    assert runs == [BALANCED.run(word) for word in words]
    assert [numbered(run.trace) for run in runs] == [numbered(BALANCED.trace(word)) for word in words]
    assert run_batch(net, words, 3) == [BALANCED.run(word, 3) for word in words]
    assert run_batch(net, []) == []


def test_a_batch_of_machines_ends_as_each_of_them_does():
    rules = [("A", "0"), ("A", "1"), ("B", "0"), ("B", "1")]
    results = itertools.product("AB", "01", (-1, 1))
    machines = [
        TuringMachine(dict(zip(rules, chosen, strict=True)), "A", (), "0")
        for chosen in itertools.islice(itertools.permutations(results, 4), 0, None, 120)
    ]
    assert len(machines) >= 10
    runs = run_batch([compiled(machine, 64) for machine in machines], [""] * len(machines), 30)
    assert runs == [machine.run("", 30) for machine in machines]


def test_machines_of_a_batch_may_differ_in_shape_and_number_type():
    networks = [compiled(zoo["bb3"], 32), compiled(BALANCED, 100, torch.float64), compiled(zoo["bb2"], 8)]
    assert [run.steps for run in run_batch(networks, ["", "B()E", ""])] == [21, 9, 6]


def test_the_word_of_a_batch_that_has_no_room_or_is_refused_is_named(net):
    with pytest.raises(CapacityError, match="Word 2 of the batch: At step 7 the head comes to cell -7, which has"):
        run_batch(compiled(walker(-1), 16), ["", "a", "a" * 10], 10)
    with torch.no_grad():
        net.pipeline["carry"].bias[net.pipeline["carry"].layouts[1].carry[3]] = -2.5
    with pytest.raises(Refusal, match="Word 1 of the batch: At step 4, "):
        run_batch(net, ["B()E", "B((((E"])


def test_a_batch_takes_its_networks_and_words_from_generators(net):
    words = ["B()E", "BB", ""]
    assert run_batch((net for _ in words), iter(words)) == run_batch(net, words)


@engines
def test_verify_says_on_which_word_an_engine_refused(net, engine):
    with torch.no_grad():
        net.pipeline["carry"].bias[net.pipeline["carry"].layouts[1].carry[3]] = -2.5
    with pytest.raises(Refusal, match=r"^On the word 'B\(\(\(\(E': At step 4, pos3"):
        turing.verify(net, BALANCED, ["B()E", "B((((E"], engine=engine)


# Ctrl-C and the bar.


def press_ctrl_c_once_a_run_has_begun() -> threading.Thread:
    """As soon as somebody takes the signal, it comes."""
    before = signal.getsignal(signal.SIGINT)

    def press():
        while signal.getsignal(signal.SIGINT) is before:
            pass
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press, daemon=True)
    thread.start()
    return thread


@engines
def test_ctrl_c_ends_a_run_and_what_was_done_so_far_is_returned(engine):
    machine = zoo["bb5"]
    before = signal.getsignal(signal.SIGINT)
    thread = press_ctrl_c_once_a_run_has_begun()
    run = compiled(machine, 100_000_000).run("", engine=engine)
    thread.join()
    assert run.status == "interrupted"
    assert run.steps < 47_176_870
    expected = machine.run("", run.steps)
    assert (run.state, run.head, run.tape) == (expected.state, expected.head, expected.tape)
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_ends_all_runs_of_a_batch():
    thread = press_ctrl_c_once_a_run_has_begun()
    runs = run_batch(compiled(zoo["bb5"], 2**62), [""] * 3)
    thread.join()
    assert {run.status for run in runs} == {"interrupted"}
    assert min(run.steps for run in runs) < 47_176_870


def test_a_run_that_was_interrupted_goes_on_from_its_checkpoint(tmp_path):
    machine, file = zoo["bb5"], tmp_path / "bb5.npz"
    net = compiled(machine, 100_000_000)
    thread = press_ctrl_c_once_a_run_has_begun()
    begun = net.run("", engine="native", checkpoint=file)
    thread.join()
    assert begun.status == "interrupted"
    limit = begun.steps + 100_000
    assert net.run("", limit, engine="native", checkpoint=file) == machine.run("", limit)
    assert net.run("", limit, engine="native", checkpoint=file) == machine.run("", limit)


@engines
def test_a_bar_shows_steps_and_rate_if_asked_for(net, capsys, monkeypatch, engine):
    monkeypatch.setattr("turing.watch.PATIENCE", 0)
    assert net.run("B()E", engine=engine, progress=True) == BALANCED.run("B()E")
    assert "of at most 100 steps" in capsys.readouterr().err
    net.run("B()E", engine=engine, progress=False)
    net.run("B()E", engine=engine)
    assert capsys.readouterr().err == ""  # this is no terminal


# How far a tape grows.


def test_a_tape_that_grows_beyond_so_many_cells_ends_the_run_as_a_limit_does(tmp_path):
    machine = walker(1)
    net = compiled(machine, 10_000)
    for checkpoint in (None, tmp_path / "run", tmp_path / "run"):
        run = net.run("", engine="native", cells=500, checkpoint=checkpoint)
        assert (run.status, run.steps) == ("limit", 1_000)  # of which the first chunk is made
    assert net.run("", engine="native", cells=20_000) == machine.run("", 10_000)
    assert compiled(BB4, 128).run("", engine="native", cells=3).status == "halted"
    for cells in (10, 1):  # a run that is over is not stopped
        jam = compiled(BALANCED, 128).run("B(B", engine="native", cells=cells, checkpoint=tmp_path / "jam")
        assert jam == BALANCED.run("B(B")


def test_every_cell_is_found_after_room_was_made_for_more(program):
    run = Native(program, "")
    run.room(200_000)
    keys = np.random.default_rng(0).permutation(150_000).astype(np.uint64) + np.uint64(1)
    run.keys[1 : len(keys) + 1] = keys
    run.count[kernel.USED] += len(keys)
    run.room(400_000)
    for slot in (0, 1, 77_777, 150_000):
        assert run.table[kernel.find(run.keys[slot], run.table, run.keys)] == slot + 1


def test_what_numba_has_no_folder_for_is_compiled_all_the_same():
    function = eval("lambda x: x + 1")  # of no file
    with pytest.raises(RuntimeError, match="cannot cache function"):
        kernel.njit(cache=True)(function)
    assert kernel.jit(function)(1) == 2


# Checkpoints.

BB4 = zoo["bb4"]


@pairs
def test_a_run_in_pieces_ends_as_a_run_in_one_piece(tmp_path, adder, dtype):
    net = compiled(BB4, 128, dtype, adder)
    for ends in ([0, 1, 107], [53, 106, 120], [2, 2, 128, 128]):
        file = tmp_path / f"{ends}.npz"
        for end in ends:
            run = net.run("", end, engine="native", checkpoint=file)
            assert run == BB4.run("", end)
            assert numbered(run.trace) == numbered(BB4.trace("", end))
    assert [path.suffix for path in tmp_path.iterdir()] == [".npz"] * 3


def test_a_run_in_pieces_goes_on_after_its_index_has_grown(tmp_path):
    machine = walker(-1)
    net = compiled(machine, 400, bits=9)
    for end in (3, 150, 151, 400):
        assert net.run("a" * 20, end, engine="native", checkpoint=tmp_path / "walk") == machine.run("a" * 20, end)


def test_a_run_that_has_jammed_or_halted_is_over_when_it_goes_on(tmp_path, net):
    for k, word in enumerate(("B(B", "B()E", "(")):
        for _ in range(2):
            assert net.run(word, engine="native", checkpoint=tmp_path / str(k)) == BALANCED.run(word)


def test_a_run_that_jams_behind_its_limit_has_the_status_of_the_limit(tmp_path, net):
    for limit in (3, 2):
        run = net.run("B(B", limit, engine="native", checkpoint=tmp_path / "run")
        assert run == BALANCED.run("B(B", limit)


def test_a_run_that_is_refused_leaves_the_last_good_checkpoint(tmp_path, net, monkeypatch):
    with torch.no_grad():
        net.pipeline["carry"].bias[net.pipeline["carry"].layouts[1].carry[3]] = -2.5
    monkeypatch.setattr("turing.engine.runs.PAUSE", -1)
    good = net.run("B((((E", 3, engine="native", checkpoint=tmp_path / "run")
    for _ in range(2):
        with pytest.raises(Refusal, match="At step 4, "):
            net.run("B((((E", engine="native", checkpoint=tmp_path / "run")
    assert net.run("B((((E", 3, engine="native", checkpoint=tmp_path / "run") == good


def test_a_checkpoint_takes_no_file_of_somebody_elses_and_follows_a_link(tmp_path):
    net, other, link = compiled(BB4, 128), tmp_path / "run.new", tmp_path / "link"
    other.write_text("mine")
    link.symlink_to(tmp_path / "run")
    for limit in (50, 107):
        assert net.run("", limit, engine="native", checkpoint=link) == BB4.run("", limit)
    assert other.read_text() == "mine"
    assert link.is_symlink()
    assert {path.name for path in tmp_path.iterdir()} == {"run", "run.new", "link"}


def test_a_checkpoint_that_could_not_be_written_leaves_nothing_behind(tmp_path, program, monkeypatch):
    monkeypatch.setattr(files, "signed", lambda body: None)
    with pytest.raises(TypeError):
        files.store(Native(program, ""), tmp_path / "run")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", ["", ".", "/dev/null", "/dev/zero", "/dev/full"])
def test_a_checkpoint_is_a_file(path):
    with pytest.raises(ValueError, match=f"A checkpoint is a file, and '{path}' was given, which is none"):
        compiled(BB4, 128).run("", engine="native", checkpoint=path)


def test_a_network_that_was_changed_goes_on_with_its_odd_numbers(tmp_path):
    """A move of 1.25 to the right is read as 1: where it comes in, sums are added up anew."""
    net = compiled(BB4, 128)
    with torch.no_grad():
        net.pipeline["choose"].weight[net.layout_of("choose").scr5["R"]] *= 1.25
    for end in range(1, 12):
        file = tmp_path / str(end)
        assert net.run("", end, engine="native", checkpoint=file) == BB4.run("", end)
        assert net.run("", engine="native", checkpoint=file) == BB4.run()
    assert net.run("") == BB4.run()


@pytest.fixture(scope="module")
def program() -> Program:
    return Program(compiled(zoo["bb2"], 8))


@pytest.fixture
def stored(program, tmp_path):
    """A checkpoint after four of six steps, and a run of the same word that has not begun."""
    run = Native(program, "", guarded=True)
    run.advance(4)
    files.store(run, tmp_path / "run.npz")
    return tmp_path / "run.npz", Native(program, "", guarded=True)


def standing(run: Native) -> dict[str, list]:
    """All that a run is."""
    arrays = {name: getattr(run, name).tolist() for name in files.ARRAYS}
    return arrays | {name: getattr(run, name)[: run.used].tolist() for name in files.CELLS} | {"status": run.status}


def test_a_checkpoint_holds_all_that_a_run_is(stored, program):
    file, run = stored
    files.restore(run, file)
    other = Native(program, "", guarded=True)
    other.advance(4)
    assert standing(run) == standing(other)
    assert not run.advance(4)
    assert (run.steps, run.tape()) == (6, zoo["bb2"].run().tape)


def refused(run: Native, file) -> str:
    """The message with which a file is refused; it leaves the run as it was."""
    before = standing(run)
    with pytest.raises(ValueError, match=r"^run\.npz ") as error:
        files.restore(run, file)
    assert standing(run) == before
    return str(error.value)


def truncated(stored, step: int) -> int:
    file, run = stored
    whole, tried = file.read_bytes(), 0
    for length in range(0, len(whole), step):
        file.write_bytes(whole[:length])
        assert refused(run, file) == "run.npz is no checkpoint, or a part of it is missing. Remove it to begin anew."
        tried += 1
    return tried


def test_a_truncated_file_is_refused(stored):
    assert truncated(stored, 211) >= 20


@slow
def test_a_file_truncated_anywhere_is_refused(stored):
    assert truncated(stored, 1) >= 4_000


def altered(stored, places) -> int:
    """Change a byte at each of these places; how many there were."""
    file, run = stored
    whole, tried = file.read_bytes(), 0
    for place in places:
        data = bytearray(whole)
        data[place % len(whole)] ^= 0x55
        file.write_bytes(data)
        assert refused(run, file).startswith(("run.npz is no checkpoint, or", "run.npz was altered after it was"))
        tried += 1
    return tried


def test_a_file_with_an_altered_byte_is_refused(stored):
    assert altered(stored, [*range(0, 60, 7), *range(60, 6_000, 397), *range(-700, 0, 41)]) >= 40


@slow
def test_a_file_with_any_byte_altered_is_refused(stored):
    size = altered(stored, range(stored[0].stat().st_size))
    print(f"{size:,} bytes altered, one by one: all refused")
    assert size >= 4_000


def rewritten(file, sign: bool, **changes) -> None:
    """Exchange arrays of a checkpoint; its digest is that of the new file if it is signed."""
    with np.load(file, allow_pickle=False) as found:
        arrays = dict(found) | changes
    out, old = io.BytesIO(), file.read_bytes()[-files.SIZE :]
    np.savez(out, **arrays)
    file.write_bytes(files.signed(out.getvalue()) if sign else out.getvalue() + old)


@pytest.mark.parametrize("name", [*files.ARRAYS, *files.CELLS, "status", "of", "version"])
def test_an_altered_array_is_refused(stored, name):
    file, run = stored
    with np.load(file) as arrays:
        array = arrays[name].copy()
    array = np.array("another") if name == "of" else array + array.dtype.type(1)
    rewritten(file, sign=False, **{name: array})
    assert refused(run, file) == "run.npz was altered after it was written. Remove it to begin anew."


def test_a_file_of_another_version_is_refused(stored):
    file, run = stored
    rewritten(file, sign=True, version=np.array(2))
    assert refused(run, file) == "run.npz is of version 2; version 1 is read here."


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("count", lambda count: count + np.array([0, 0, 0, 99, 0])),
        ("count", lambda count: count + np.array([0, 1, 0, 0, 0])),
        ("count", lambda count: count + np.array([0, 0, 0, 0, 99])),
        ("count", lambda count: count - np.array([99, 0, 0, 0, 0])),
        ("count", lambda count: count[:4]),
        ("slots", lambda slots: slots + np.array([0, 0, 99, 0])),
        ("slots", lambda slots: slots - np.array([0, 0, 0, 99])),
        ("slots", lambda slots: slots[:-1]),
        ("keys", lambda keys: keys * np.uint64(0)),
        ("keys", lambda keys: keys.astype(np.float64)),
        ("vectors_", lambda vectors: vectors[:-1]),
        ("odd", lambda odd: odd.astype(np.int32)),
        ("status", lambda status: np.array(9)),
        ("status", lambda status: np.array("x")),
        ("status", lambda status: np.array([0])),
    ],
)
def test_numbers_that_would_lead_the_loop_out_of_its_arrays_are_refused_even_with_a_digest(stored, name, change):
    file, run = stored
    with np.load(file) as arrays:
        array = change(arrays[name])
    rewritten(file, sign=True, **{name: array})
    assert refused(run, file) == "run.npz holds numbers that no run has. Remove it to begin anew."


class Pickled:
    """Says so if it is unpickled."""

    loaded = False

    def __reduce__(self):
        return _loaded, ()


def _loaded() -> None:
    Pickled.loaded = True


def test_nothing_is_unpickled(stored):
    file, run = stored
    rewritten(file, sign=True, first=np.array([Pickled()], dtype=object))
    assert "is no checkpoint" in refused(run, file)
    out = io.BytesIO()
    np.save(out, np.array([Pickled()], dtype=object), allow_pickle=True)
    for data in (out.getvalue(), pickle.dumps(Pickled())):
        file.write_bytes(files.signed(data))
        assert "is no checkpoint" in refused(run, file)
    assert not Pickled.loaded
    pickle.loads(pickle.dumps(Pickled()))
    assert Pickled.loaded


@pytest.mark.parametrize("data", [b"", b"not a checkpoint", b"PK\x03\x04", b"\x93NUMPY\x01\x00", b"\x80\x04N."])
def test_another_kind_of_file_is_refused(stored, data):
    file, run = stored
    file.write_bytes(data)
    assert "is no checkpoint, or a part of it is missing" in refused(run, file)


def test_an_array_alone_or_an_archive_without_a_digest_is_no_checkpoint(stored):
    file, run = stored
    for save in (lambda out: np.save(out, np.zeros(3)), lambda out: np.savez(out, first=np.zeros(3))):
        with file.open("wb") as out:
            save(out)
        assert "is no checkpoint" in refused(run, file)


def test_a_checkpoint_of_another_network_or_word_is_refused(stored):
    file, _ = stored
    changed, bb2 = compiled(zoo["bb2"], 8), zoo["bb2"]
    with torch.no_grad():
        changed.pipeline["carry"].weight[0, 0] = 0.5
    others = [
        (changed, ""),
        (compiled(bb2, 9), ""),
        (compiled(bb2, 8, bits=5), ""),
        (compiled(bb2, 8, adder="ripple"), ""),
        (compiled(bb2, 8, torch.float64), ""),
        (compiled(bb2.rename(states={"B": "b"}), 8), ""),
        (compiled(bb2, 8), "0"),
        (compiled(bb2, 8), "1"),
    ]
    for net, word in others:
        with pytest.raises(ValueError, match=r"run\.npz was written for another network or another word. Give it"):
            net.run(word, engine="native", checkpoint=file)
    assert compiled(bb2, 8).run("", engine="native", checkpoint=file) == bb2.run()


def test_a_checkpoint_beyond_the_limit_is_refused(stored):
    with pytest.raises(ValueError, match=r"run\.npz stands at step 4, and max_steps = 3 was given"):
        compiled(zoo["bb2"], 8).run("", 3, engine="native", checkpoint=stored[0])


def test_a_checkpoint_that_cannot_be_written_is_known_before_the_run(tmp_path):
    with pytest.raises(FileNotFoundError):
        compiled(zoo["bb5"], 100_000_000).run("", engine="native", checkpoint=tmp_path / "none" / "run.npz")
    with pytest.raises(ValueError, match="A checkpoint is a file"):
        compiled(zoo["bb5"], 100_000_000).run("", engine="native", checkpoint=tmp_path)


# Wrong arguments.

SMALL = compiled(BALANCED, 20)
SS95 = turing.compile(BALANCED, "ss95")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *((lambda engine=engine: SMALL.run("B", engine=engine), rf"of torch, indexed, native, and {engine!r} was given")
          for engine in ("fast", "", None)),
        (lambda: SMALL.run("B", engine=["native"]), r"An engine is one of .*, and \['native'\] was given"),
        (lambda: SMALL.trace("B", engine="fast"), "An engine is one of torch, indexed, native, and 'fast' was given"),
        (lambda: next(SMALL.vectors(["B"], engine="fast")), "An engine is one of torch, .* and 'fast' was given"),
        (lambda: turing.verify(SMALL, BALANCED, ["B"], engine="fast"), "An engine is one of .* and 'fast' was given"),
        (lambda: SMALL.run("B", check=True), 'checkpoint and cells are for engine="indexed" or'),
        (lambda: SMALL.run("B", engine="indexed", checkpoint="x"), 'A checkpoint is for engine="native" without check'),
        (lambda: SMALL.run("B", engine="native", check=True, checkpoint="x"), "A checkpoint .* without check"),
        *((lambda engine=engine: SMALL.run("B(x)E", engine=engine), r"Symbol 'x' \(cell 2 of the word\)")
          for engine in ENGINES),
        *((lambda engine=engine: SMALL.trace("Bx", engine=engine), r"Symbol 'x' \(cell 1 of the word\)")
          for engine in ENGINES),
        *((lambda engine=engine: SMALL.run(5, engine=engine), "A word is a string or a sequence of symbols, and 5")
          for engine in ENGINES),
        *((lambda engine=engine: SMALL.run("B", 21, engine=engine), "max_steps = 21 is more than T = 20")
          for engine in ENGINES),
        *((lambda engine=engine: SMALL.run("B", -1, engine=engine), "max_steps is a whole number from 0 up, and -1 was")
          for engine in ENGINES),
        (lambda: SMALL.trace("B", 21, engine="native"), "max_steps = 21 is more than T = 20"),
        (lambda: run_batch(SMALL, "B()E"), r"run_batch takes a list of words, and the one word 'B\(\)E' was given"),
        (lambda: run_batch([SMALL], ["B", "B"]), "one for each word: 1 networks and 2 words were given"),
        (lambda: run_batch(SMALL, ["B"], 21), "max_steps = 21 is more than T = 20"),
        (lambda: run_batch(SMALL, ["B", "Bx"]), r"Word 1 of the batch: Symbol 'x' \(cell 1 of the word\)"),
        (lambda: SMALL.run_batch(["B", "Bx"]), r"Word 1 of the batch: Symbol 'x' \(cell 1 of the word\)"),
        (lambda: SMALL.run("B", engine="indexed", cells=9), 'A number of cells is for engine="native" without check'),
        (lambda: turing.engine.trace(SMALL, "B", engine="torch"), 'engine="torch" is the network alone'),
        (lambda: next(turing.engine.vectors(SMALL, ["B"], engine="torch")), 'engine="torch" is the network alone'),
        *((lambda engine=engine: next(SMALL.vectors([], engine=engine)), "vectors takes .* an empty one was given")
          for engine in ("torch", *ENGINES)),
        (lambda: next(SMALL.vectors("B")), "vectors takes a list of words, and the one word 'B' was given"),
        *((lambda call=call: call(SS95, ["B"]), r'are for turing.compile\(machine, "wcm21"\), and SS95 was given')
          for call in (turing.engine.run, turing.engine.trace, run_batch)),
        (lambda: next(turing.engine.vectors(SS95, ["B"])), "The engines are for .*, and SS95 was given"),
        (lambda: run_batch([SMALL, SS95], ["B", "B"]), "The engines are for .*, and SS95 was given"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_answered_with_what_was_expected(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


WITHOUT = """
import sys
sys.modules["numba"] = None  # as if it were not installed
import turing, turing.engine
machine = turing.zoo["bb2"]
net = turing.compile(machine, "wcm21", T=8, adder="lookahead")
print(net.run("", engine="indexed") == machine.run())
for call in (lambda: net.run("", engine="native"), lambda: turing.engine.run_batch(net, [""])):
    try:
        call()
    except ImportError as error:
        print(error)
"""


def test_without_numba_the_message_says_what_to_install_and_the_other_engines_run():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True)
    message = 'engine="native" needs numba, which is not installed. Run pip install numba, or take engine="indexed".'
    assert done.stdout.splitlines() == ["True", message, message]
