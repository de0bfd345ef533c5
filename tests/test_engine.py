"""The engines: plain torch's vectors, number for number, or a refusal that says where.

That their runs are the machine's is held by test_every_way.py, their files by test_checkpoint.py.
"""

import itertools
import math
import os
import random
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import machines_and_words, numbered, walker
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import prune
from ways import ADDERS, INDEXES
from ways import lookahead as compiled

import turing
from paper import BALANCED
from turing import ir
from turing.attention import Attention
from turing.engine import Indexed, Native, Program, Refusal, bits, check_heads, index, run_batch
from turing.engine import native as long_runs
from turing.gates import Layer, Readout
from turing.machine import TuringMachine
from turing.wcm import WCM21
from turing.wcm.pipeline import GetInitialSymbol, GetLastWrittenSymbol, IndicateVisitedPosition
from turing.zoo import zoo

slow = pytest.mark.slow
ENGINES = INDEXES
DTYPES = [torch.float32, torch.float64]
engines = pytest.mark.parametrize("engine", ENGINES)
adders = pytest.mark.parametrize("adder", ADDERS)
dtypes = pytest.mark.parametrize("dtype", DTYPES, ids=str)


@pytest.fixture
def net() -> WCM21:
    return compiled()


def agree(net: WCM21, words: list, limit: int | None = None, check: bool = False) -> int:
    """Compare every engine with the machine: all numbers inside and the runs; how many steps were compared."""
    machine, limit = net.machine, net.T if limit is None else limit
    expected = [machine.run(word, limit) for word in words]
    steps = sum(run.steps + (run.status == "jammed") for run in expected)
    for engine in ENGINES:
        report = turing.verify(net, machine, words, limit, engine=engine)
        assert report, f"{engine}: {report}"
        assert report.steps == steps
        assert [net.run(word, limit, engine=engine, check=check) for word in words] == expected
    return steps


# Plain torch's vectors, and long runs.


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


def test_positions_may_have_64_bits_and_steps_too():
    net = compiled(BALANCED, 2**64)
    assert net.bits == 64
    words = ["B)(E", "B()E"]
    assert agree(net, words[:1]) == 3  # it goes to cell -1, which has 64 ones
    assert run_batch(net, words) == [BALANCED.run(word) for word in words]


@pytest.mark.parametrize("move", [-1, 1])
def test_a_run_goes_on_when_the_index_has_to_grow(move):
    """The first room is for 512 cells on either side; the walker comes to 1,500."""
    net, machine = compiled(walker(move), 1_500, bits=12), walker(move)
    assert len(Native(net, "").index) < 1_500
    assert net.run("a" * 5, engine="native") == machine.run("a" * 5, 1_500)
    assert numbered(net.trace("a" * 5, engine="native")) == numbered(machine.trace("a" * 5, 1_500))


def test_a_run_after_the_index_has_grown_finds_the_first_cells_again():
    """To and fro over a stretch that grows by a cell at each end; more steps than are recorded at a time."""
    machine = TuringMachine(
        {("L", "_"): ("R", "x", 1), ("L", "x"): ("L", "x", -1), ("R", "x"): ("R", "x", 1), ("R", "_"): ("L", "x", -1)},
        "R", (), "_",
    )  # fmt: skip
    assert agree(compiled(machine, 300, bits=9), [""]) == 300 > long_runs.ROWS
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
def test_after_two_million_steps_the_code_is_where_the_oracle_is(name, dtype, adder):
    net = compiled(zoo[name], 2_000_000, dtype, adder=adder)
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
    net = compiled(BALANCED, 32, dtype, adder=adder)
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
    with pytest.raises(Refusal, match=r"At step 4, pos3\[3\] is 0\.5 before the heads, and an index works with 0"):
        next(found)
    assert plain[3]["move"][0, net.layout.pos3[3]] == 0.5
    with pytest.raises(Refusal, match=r"At step 4, .* turing\.verify finds the step and the layer where"):
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


LARGE = 2**24  # float32 has no number between this one and the next but one


@engines
@pytest.mark.parametrize("weight", [LARGE // 4, LARGE // 2, LARGE, 2 * LARGE])
def test_sums_of_large_weights_do_not_depend_on_the_step_before(net, engine, weight):
    """After a step with M and *, in which the small weight is rounded away, one without M comes, and it is back."""
    chosen, assemble = net.layout_of("choose"), net.pipeline["assemble"]
    with torch.no_grad():
        assemble.weight[net.layout.pos3[0], [chosen.st["M"], chosen.sym2["*"]]] = torch.tensor([weight + 0.0, 1.0])
    plain = list(net.vectors(["B()E"], 9))
    assert [step["assemble"][0, net.layout.pos3[0]].item() for step in plain[2:4]] == [
        (weight + 1) // 2 * 2 if weight >= LARGE else weight + 1,
        1,
    ]
    for ours, theirs in zip(net.vectors(["B()E"], 9, engine=engine), plain, strict=True):
        assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


@pytest.mark.parametrize(("weight", "exact"), [(LARGE // 4, True), (LARGE, False)])
def test_a_layer_whose_sums_depend_on_their_order_is_not_taken_for_an_exact_one(weight, exact):
    numbers = torch.tensor([weight, 1.0, 1.0])
    (layer,) = ir.described("layer", Readout(numbers.unsqueeze(0), torch.zeros(1)))
    assert (numbers[0] + numbers[1] + numbers[2] == numbers[1] + numbers[2] + numbers[0]) == exact
    assert index.exact_in_any_order(layer) == exact


def test_no_step_writes_beyond_the_window_of_its_index():
    """A column is remembered under a position that no cell has: on the last row of a window, and on the one after."""
    net = compiled(walker(1), 16)
    rewired(net, "move", net.layout.pos2[3], net.layout.pos2[0])  # cell 1 is remembered as 9
    for room in (9, 10):
        run = Native(net, "", guarded=True)
        assert run.advance(1)
        beyond = np.full((room + 8, run.index.shape[1]), 77)
        beyond[:room] = run.index[:room]
        run.index, run.row[bits.INDEX], run.row[bits.SIZE] = beyond[:room], beyond.ctypes.data, room
        assert run.advance(1)
        assert (run.steps, len(run.index) > room) == (2, room == 9)
        assert (beyond[room:] == 77).all()


@pytest.mark.parametrize(("weight", "fits"), [(126, True), (127, False), (128, False), (260, False)])
def test_sums_that_8_bits_might_not_hold_are_left_to_the_index(weight, fits):
    """A carry that pos2[0] adds to: 0 + weight, and 1 more from the rule."""
    net = compiled(BALANCED, 100)
    carry = net.pipeline["carry"]
    with torch.no_grad():
        carry.weight[carry.layouts[1].carry[0], carry.layouts[0].pos2[6]] = weight
    assert (Program(net).why_slow == "") == fits
    for word in ("B()E", "B(()", "B)("):  # the last goes to cell -1, whose bits are all 1
        assert outcome(net, word, "native") == outcome(net, word, "torch")


# Networks that an index is not for.


@engines
@pytest.mark.parametrize(
    ("options", "dtype", "message"),
    [
        ({"average": "literal"}, torch.float32, "The head visited takes its average as 'literal', which is not exact"),
        ({"kappa": 100}, torch.float32, "κ = 100 is too small for torch.float32"),
        ({"kappa": 300}, torch.float64, "κ = 300 is too small for torch.float64: .* Take κ = 1491 or more"),
        ({}, torch.bfloat16, 'An index works in float32 and float64, and this network is in bfloat16. Take engine="t'),
        ({}, torch.float16, "An index works in float32 and float64, and this network is in float16"),
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


@engines
def test_a_look_up_whose_numbers_are_so_large_that_its_scores_are_rounded_is_refused(net, engine):
    key = net.pipeline["initial"].key
    with torch.no_grad():
        key.weight[-1] *= LARGE
        key.bias[-1] *= LARGE
    (head,) = net.pipeline["initial"].describe("initial")
    assert head.lookup() is not None
    with pytest.raises(Refusal, match=r"initial\.key\.weight\[\d+, \d+\] is 1\.17\d+e\+08, and a look-up has 7 there"):
        net.run("B()E", engine=engine)


def test_a_head_that_is_missing_or_softer_than_the_others_is_refused(net):
    net.pipeline["last"].kappa = 1.0
    with pytest.raises(Refusal, match="κ = 1 is too small"):
        check_heads(net)
    net.pipeline["last"].kappa, net.pipeline["last"].average = 9999.0, "literal"
    with pytest.raises(Refusal, match="The head last takes its average as 'literal'"):
        check_heads(net)
    del net.pipeline["last"]
    with pytest.raises(
        Refusal, match=r"answers for the heads visited .*, and this network has visited search6 .* initial"
    ):
        check_heads(net)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("name", ["carry.weight", "choose.bias", "visited.key.weight"])
def test_a_number_that_is_infinite_or_not_a_number_is_refused(net, name, number):
    numbers = dict(net.named_parameters())[f"pipeline.{name}"]
    with torch.no_grad():
        numbers.flatten()[1] = number
    for engine in ENGINES:
        with pytest.raises(Refusal, match=f"pipeline.{name} has a number that is infinite or not a number"):
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
        (exchanged("visited", lambda net: GetLastWrittenSymbol(net.layout)), "visited is of the class GetLastWritten"),
        (exchanged("last", lambda net: GetInitialSymbol(net.layout)), "and GetLastWrittenSymbol is expected there"),
        (exchanged("visited", lambda net: Twice(net.layout)), "Twice computes something other than Attention"),
        (exchanged("search3", lambda net: net.pipeline["choose"]), "search2 takes vectors of width"),
        (exchanged("search3", lambda net: Layer(torch.eye(59), torch.zeros(59))), "search3 is of the class Layer, and"),
        (exchanged("tail", lambda net: nn.Identity()), "Identity was given. Take engine"),
        (hooked("carry"), "pipeline.carry has a hook, which an engine would not call"),
        (hooked("last.query"), "pipeline.last.query has a hook, which an engine would not call"),
        (lambda net: prune.identity(net.pipeline["choose"], "weight"), "pipeline.choose has a hook"),
        (exchanged("choose", lambda net: Layer(torch.eye(7), torch.zeros(7))), "takes vectors of width 7, and .* come"),
        (widened, "numbers leave pipeline.choose, and its layout has names for"),
        (lambda net: setattr(net.pipeline["last"], "kappa", math.nan), "κ = nan is infinite or"),
        (lambda net: setattr(net.pipeline["last"], "kappa", math.inf), "κ = inf is infinite or"),
        (lambda net: setattr(net.pipeline["last"].pattern, "kappa", 1.0), "κ = 1 is too small"),
        (lambda net: setattr(net.pipeline["last"], "mask", "strict"), "another mask than a look-up"),
        (lambda net: setattr(net.pipeline["last"], "score", "-abs"), "another score"),
    ],
)  # fmt: skip
def test_a_network_that_computes_otherwise_than_it_was_built_to_is_refused(net, engine, change, message):
    change(net)
    with pytest.raises(Refusal, match=message):
        net.run("B()E", engine=engine)


def passing_on(net: WCM21) -> nn.Linear:
    """A layer of PyTorch that changes nothing."""
    layer = nn.Linear(net.layout.width, net.layout.width)
    with torch.no_grad():
        layer.weight.copy_(torch.eye(net.layout.width))
        layer.bias.zero_()
    return layer


@engines
@pytest.mark.parametrize(
    "last",
    [
        lambda net: nn.Sequential(nn.Sequential(net.pipeline["assemble"])),
        lambda net: nn.Sequential(net.pipeline["assemble"], nn.ReLU()),
        lambda net: nn.Sequential(net.pipeline["assemble"], passing_on(net)),
    ],
)
def test_layers_in_a_row_are_computed_one_after_the_other(net, engine, last):
    net.pipeline["assemble"] = last(net)
    assert net.run("B()E", engine=engine) == BALANCED.run("B()E")
    for ours, plain in zip(net.vectors(["B()E"], 9, engine=engine), net.vectors(["B()E"], 9), strict=True):
        assert all(torch.equal(ours[name], plain[name]) for name in plain)


@engines
def test_a_number_that_becomes_infinite_is_refused_where_torch_has_none(engine):
    """A detector that nothing reads: infinity times its weights, which are 0, is not a number."""
    machine = TuringMachine({("A", "0"): ("B", "1", 1), ("B", "1"): ("A", "1", 1)}, "A", (), "0")
    net = compiled(machine, 8)
    detect, column = net.pipeline["detect"], net.layout
    with torch.no_grad():
        row = net.layout_of("detect").det["B 0"]
        detect.weight[row, column.st["B"]] = detect.weight[row, column.sym1["0"]] = 3e38
    with pytest.raises(ArithmeticError, match="is nan, and neither 0 nor 1"):
        net.run("")
    for call in (lambda: net.run("", engine=engine), lambda: list(net.vectors([""], engine=engine))):
        with pytest.raises(Refusal, match=r"At step \d, .*(infinity times 0 is not a number|is nan before the heads)"):
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


def test_the_check_mode_finds_nothing_on_10_random_machines():
    tried = 0

    @settings(max_examples=10, deadline=None, derandomize=True, database=None)
    @given(machines_and_words(words=1))
    def compare(machine_and_words):
        nonlocal tried
        machine, words = machine_and_words
        net = compiled(machine, 24, DTYPES[tried % 2], adder=ADDERS[tried // 2 % 2], bits=5)
        assert agree(net, words, check=True) >= 1
        tried += 1

    compare()
    assert tried >= 10


@engines
def test_the_check_mode_allows_for_rounding_where_weights_are_not_integers(net, engine):
    """A number that nothing reads, and whose last digit depends on the order in which it is added up."""
    assemble = net.pipeline["assemble"]
    with torch.no_grad():
        torch.manual_seed(0)
        assemble.weight[net.layout.scr1["("]] += 0.03 * torch.rand(assemble.weight.shape[1])
    assert net.run(CHANGED, engine=engine, check=True) == BALANCED.run(CHANGED)


def test_the_check_mode_says_that_a_difference_may_be_rounding_where_weights_are_not_integers(net, monkeypatch):
    with torch.no_grad():
        net.pipeline["assemble"].bias[net.layout.scr1["("]] = 0.1
    monkeypatch.setattr(Indexed, "visits", property(lambda self: {}, lambda *_: None), raising=False)
    message = r"layer visited, scr4\[visited\] is 0 by the index, .* Not all weights are small integers, so it may be"
    with pytest.raises(AssertionError, match=message):
        net.run("B(())E", engine="indexed", check=True)


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


def test_the_check_mode_finds_code_whose_index_forgot_its_last_visits(net, monkeypatch):
    by_code = Native._by_code

    def broken(self, *arguments):
        self.index[:, bits.LAST] = np.minimum(self.index[:, bits.LAST], 0)
        return by_code(self, *arguments)

    monkeypatch.setattr(long_runs, "ROWS", 1)
    monkeypatch.setattr(Native, "_by_code", broken)
    with pytest.raises(AssertionError, match=r"layer search1, scr3\[1\] is 0 by the index, and 1 if all columns are"):
        net.run("B(())E", engine="native", check=True)


# Batches.


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


@engines
def test_the_word_of_a_batch_that_is_refused_is_named(net, engine):
    with torch.no_grad():
        net.pipeline["carry"].bias[net.pipeline["carry"].layouts[1].carry[3]] = -2.5
    with pytest.raises(Refusal, match="Word 1 of the batch: At step 4, "):
        net.run_batch(["B()E", "B((((E"], engine=engine)


def test_a_batch_takes_its_networks_and_words_from_generators(net):
    words = ["B()E", "BB", ""]
    assert run_batch((net for _ in words), iter(words)) == run_batch(net, words) == net.run_batch(words)


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
    monkeypatch.setattr("turing.progress.PATIENCE", 0)
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
    assert compiled(zoo["bb4"], 128).run("", engine="native", cells=3).status == "halted"
    for cells in (10, 1):  # a run that is over is not stopped
        jam = compiled(BALANCED, 128).run("B(B", engine="native", cells=cells, checkpoint=tmp_path / "jam")
        assert jam == BALANCED.run("B(B")


# Wrong arguments.

SMALL = compiled(BALANCED, 20)
OTHER = turing.compile(BALANCED, "conv", cells=20)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *((lambda engine=engine: SMALL.run("B", engine=engine), rf"of torch, indexed, native, and {engine!r} was given")
          for engine in ("fast", "", None)),
        (lambda: SMALL.run("B", engine=["native"]), r"An engine is one of .*, and \['native'\] was given"),
        (lambda: SMALL.trace("B", engine="fast"), "An engine is one of torch, indexed, native, and 'fast' was given"),
        (lambda: next(SMALL.vectors(["B"], engine="fast")), "An engine is one of torch, .* and 'fast' was given"),
        (lambda: turing.verify(SMALL, BALANCED, ["B"], engine="fast"), "An engine is one of .* and 'fast' was given"),
        (lambda: SMALL.run("B", check=True), "A run with engine='torch' has no option 'check'. Its options: none"),
        (lambda: SMALL.run("B", engine="indexed", fast=9), "engine='indexed' has no option 'fast'. Its options: ch"),
        (lambda: turing.compile(BALANCED, "perez21").run("B", engine="indexed", cells=9), "of wcm21; this is perez21"),
        (lambda: turing.compile(BALANCED, "ss95").run("B", engine="native", check=True), "check is for networks with"),
        (lambda: SMALL.run("B", engine="native", fast=9), "no option 'fast'. Its options: check, progress, check"),
        (lambda: SMALL.run("B", engine="native", check=True, checkpoint="x"), "checkpoint and cells are for a run"),
        (lambda: SMALL.run_batch(["B"], engine="fast"), "An engine is one of torch, indexed, native, and 'fast'"),
        *((lambda engine=engine: SMALL.run("B(x)E", engine=engine), r"Symbol 'x' \(cell 2 of the word\)")
          for engine in ENGINES),
        *((lambda engine=engine: SMALL.trace("Bx", engine=engine), r"Symbol 'x' \(cell 1 of the word\)")
          for engine in ENGINES),
        *((lambda engine=engine: SMALL.run(5, engine=engine), "A word is a string or a sequence of symbols, and 5")
          for engine in ENGINES),
        *((lambda engine=engine: SMALL.run("B", 21, engine=engine), "max_steps = 21 is more than T = 20")
          for engine in ENGINES),
        *((lambda engine=engine: SMALL.run("B", -1, engine=engine), "max_steps .* integer .*, and -1 was")
          for engine in ENGINES),
        (lambda: SMALL.trace("B", 21, engine="native"), "max_steps = 21 is more than T = 20"),
        (lambda: run_batch(SMALL, "B()E"), r"A list of words is expected, and the single word 'B\(\)E' was given"),
        (lambda: run_batch([SMALL], ["B", "B"]), "one for each word: 1 networks and 2 words were given"),
        (lambda: run_batch(SMALL, ["B"], threads=0), "threads .* and 0 was given"),
        (lambda: run_batch(SMALL, ["B"], 21), "max_steps = 21 is more than T = 20"),
        (lambda: run_batch(SMALL, ["B", "Bx"]), r"Word 1 of the batch: Symbol 'x' \(cell 1 of the word\)"),
        (lambda: SMALL.run_batch(["B", "Bx"]), r"Word 1 of the batch: Symbol 'x' \(cell 1 of the word\)"),
        *((lambda engine=engine: next(SMALL.vectors([], engine=engine)), "is expected, and an empty one was given")
          for engine in ("torch", *ENGINES)),
        (lambda: next(SMALL.vectors("B", engine="native")), "A list of words is expected, and the single word 'B' was"),
        *((lambda call=call, engine=engine: call(OTHER, engine), f"engine='{engine}' runs wcm21.*; this is conv")
          for engine in ENGINES
          for call in (
              lambda net, engine: net.run("B", engine=engine), lambda net, engine: net.trace("B", engine=engine),
              lambda net, engine: net.run_batch(["B"], engine=engine),
              lambda net, engine: net.vectors(["B"], 1, engine),
              lambda net, engine: turing.verify(net, BALANCED, ["B"], 1, engine),
          )),
        (lambda: run_batch([SMALL, OTHER], ["B", "B"]), "The engines run networks of the class WCM21, and RowOfCells"),
        (lambda: Program(nn.ReLU()), "The engines run networks of the class WCM21, and ReLU was given"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_answered_with_what_was_expected(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


WITHOUT = """
import sys
sys.modules["numba"] = sys.modules["llvmlite"] = None  # as if they were not installed
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


def test_without_numba_and_llvmlite_the_message_says_what_to_install_and_the_other_engines_run():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True)
    message = (
        'engine="native" needs llvmlite, which is not installed. Run pip install llvmlite, or take engine="indexed".'
    )
    assert done.stdout.splitlines() == ["True", message, message]
