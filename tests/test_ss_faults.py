"""Faults that the SS95 networks have to name: rules that no longer apply, jams, rounding, sizes."""

import copy
import json
import pickle
import re
from fractions import Fraction
from itertools import pairwise, product
from random import Random

import pytest
import torch
from hypothesis import given, settings
from machines import machines_and_words

import turing
from turing.arguments import MAX_NUMBERS
from turing.cantor import Cantor, DepthError
from turing.cli import main
from turing.machine import TuringMachine
from turing.ss import Guard, StackNetwork
from turing.ss.network import CLEAR
from turing.ss.realtime import factors
from turing.stack_machine import StackMachine, TwoStacks, balanced
from turing.zoo import zoo

torch.set_num_threads(1)  # on small matrices threads wait for each other
BOTH = ("ss95", "ss95-realtime")
both = pytest.mark.parametrize("construction", BOTH)
each_arithmetic = pytest.mark.parametrize("arithmetic", ["exact", "float32", "float64"])
FORTY = {"base": 40, "digits": (31, 39)}
BB2 = zoo["bb2"]
POPS = StackMachine({("P", "1"): ("P", "pop"), ("P", None): ("T", "noop")}, "P", {"T"}, "01")
JAMS = TuringMachine({("A", "1"): ("B", "0", 1)}, "A", {"H"}, "0")


# A rule that no longer applies is no jam.


@pytest.mark.parametrize(("arithmetic", "length"), [("float32", 4), ("float64", 9)])
def test_floats_that_have_lost_the_rule_are_stopped_and_not_called_jammed(arithmetic, length):
    net, word = StackNetwork(POPS, 4, 40, (31, 39), arithmetic), "1" * length
    assert POPS.run(word).status == "halted"
    message = (
        rf"^At step {length + 1} no rule applies in the network, where the machine has one for state 'P' with None "
    )
    with pytest.raises(ArithmeticError, match=message + rf"on top\. {arithmetic} has lost digits"):
        net.run(word)
    assert StackNetwork(POPS, 4, 40, (31, 39)).run(word) == POPS.run(word)


@pytest.mark.parametrize("version", [4, 1])
def test_a_network_that_finds_no_rule_where_the_machine_has_one_names_state_and_tops(version):
    net = StackNetwork(balanced(), version, *((4, (1, 3)) if version == 4 else (16, (11, 15))))
    for layer in net.layers.values():
        layer.bias_numerators.sub_(1000)
    with pytest.raises(
        ArithmeticError, match=r"no rule .* for state 'I' with '\(', None on top\. The numerators are not"
    ):
        net.run("()")


INCREMENT = zoo["binary_increment"]


@both
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_run_in_fewer_digits_than_it_was_built_for_is_right_or_refused(construction, dtype):
    """With 8 digits a detector can take one top for another, and still be clear."""
    net, refused = turing.compile(INCREMENT, construction, arithmetic="float32"), []
    for word in ("", "0", "1", "10", "11", "1011"):
        try:
            with torch.autocast("cpu", dtype):
                assert net.run(word) == INCREMENT.run(word)
        except ArithmeticError as error:
            refused.append(str(error))
    assert all(error.startswith("At step ") for error in refused)
    assert refused


def test_without_its_guard_bfloat16_reports_a_jam_that_the_machine_has_not(monkeypatch):
    net = turing.compile(INCREMENT, "ss95-realtime", arithmetic="float32")
    with torch.autocast("cpu", torch.bfloat16):
        with pytest.raises(ArithmeticError, match=r"^At step 1 the network takes .* for the top of stack \d, where"):
            net.run("1011")
        monkeypatch.setattr(Guard, "_agree", lambda self, tops: None)
        run = net.run("1011")
    assert (run.status, run.steps) == ("jammed", 1)
    assert (INCREMENT.run("1011").status, INCREMENT.run("1011").steps) == ("halted", 8)


def test_errors_name_the_step_of_the_machine_and_not_the_pass():
    net, word = turing.compile(INCREMENT, "ss95-realtime", arithmetic="float32"), "1111"
    with pytest.raises(DepthError) as depth:
        net.run(word)
    step = int(re.match(r"At step (\d+), on stack", str(depth.value))[1])
    assert net.run(word, step - 1) == INCREMENT.run(word, step - 1)
    assert net.run(word, step - 1).micro_steps == 2 * (step - 1) > step
    with pytest.raises(DepthError):
        net.run(word, step)


@both
@each_arithmetic
def test_where_the_machine_has_no_rule_the_network_jams_as_before(construction, arithmetic):
    net = turing.compile(JAMS, construction, arithmetic=arithmetic)
    for word in ("", "1", "11", "01"):
        assert net.run(word, 9) == JAMS.run(word, 9)
        assert net.run(word, 9).status == "jammed"


# The step at which a machine jams is compared too.


@both
@each_arithmetic
def test_verify_compares_the_step_at_which_a_machine_jams_unless_the_limit_comes_first(construction, arithmetic):
    net = turing.compile(JAMS, construction, arithmetic=arithmetic)
    assert [turing.verify(net, JAMS, ["1"], limit).steps for limit in (0, 1, 2, 9, None)] == [0, 1, 2, 2, 2]
    assert turing.verify(net, JAMS, ["", "0", "01"], 1).steps == 3
    assert turing.verify(net, JAMS, ["", "1", "1" * 7, "101"])
    assert turing.verify(turing.compile(BB2, construction), BB2, [""]).steps == BB2.run().steps


@pytest.mark.parametrize("arithmetic", ["float32", "float64"])
@both
def test_a_jam_with_a_stack_as_deep_as_floats_hold_is_no_divergence(construction, arithmetic):
    net = turing.compile(JAMS, construction, arithmetic=arithmetic)
    depth = net.network.code.depth
    assert turing.verify(net, JAMS, ["1" * (depth + 1), "1" + "01" * (depth // 2), "0" * depth])


def test_a_rule_that_fires_where_the_machine_jams_is_found_at_that_step():
    net = turing.compile(JAMS, "ss95")
    layer = net.pipeline["F3"]
    st = layer.layouts[0].st
    layer.numerators[:, st["B 0"]] += layer.numerators[:, st["A 1"]]
    (divergence,) = turing.verify(net, JAMS, ["1"]).divergences
    assert (divergence.step, divergence.layer, divergence.place) == (2, "F3", "rule[A 1 0 –]")
    assert turing.verify(net, JAMS, ["1"], 1)


@pytest.mark.parametrize(
    ("construction", "layer", "place"),
    [("ss95", "F4", "some[0]"), ("ss95", "F2", "st[B 1]"), ("ss95", "F2", "push1[1]"), ("ss95", "F1", "st[H 0]"),
     ("ss95-realtime", "step", "det[0]"), ("ss95-realtime", "step", "pop[1]")],
)  # fmt: skip
def test_a_number_that_is_wrong_at_the_jam_alone_is_found_in_its_layer(construction, layer, place):
    net = turing.compile(JAMS, construction)
    part = net.pipeline[layer]
    part.bias_numerators[part.layouts[1].names().index(place)] += 1000 * part.denominator
    (divergence,) = turing.verify(net, JAMS, ["0"]).divergences  # it jams at once
    assert (divergence.step, divergence.layer, divergence.place) == (1, layer, place)


def test_at_the_jams_of_random_machines_every_number_is_the_expected_one():
    jams = 0

    @settings(max_examples=15, deadline=None, derandomize=True, database=None)
    @given(machines_and_words(words=2, longest=4, most_states=3, most_symbols=3))
    def compare(machine_and_words):
        nonlocal jams
        machine, words = machine_and_words
        for construction in BOTH:
            report = turing.verify(turing.compile(machine, construction), machine, words, 8)
            assert report, str(report)
            micro = [sum(1 for _ in TwoStacks(machine).trace(word, 8)) - 1 for word in words]
            ended = [machine.run(word, 8).status == "jammed" for word in words]
            assert report.passes == sum(micro) + sum(ended)
            assert report.steps == sum(machine.run(word, 8).steps for word in words) + sum(ended)
            jams += sum(ended)

    compare()
    assert jams >= 6


# Where floats round, only stacks have room, and as much as rounding takes.

SHALLOW = {"bb2": ["", "1"], "bb3": [""], "parity": ["", "1011"], "binary_increment": ["101", "11"]}


@both
@pytest.mark.parametrize("name", SHALLOW)
def test_in_base_40_verify_finds_no_divergence_while_stacks_are_shallow(name, construction):
    net = turing.compile(zoo[name], construction, arithmetic="float64", **FORTY)
    report = turing.verify(net, zoo[name], SHALLOW[name], 12 if construction == "ss95" else 4)
    assert report, str(report)


def test_the_room_of_a_stack_grows_with_steps_and_depth_up_to_the_depth_that_floats_hold():
    net = StackNetwork(balanced(), 1, 40, (31, 39), "float64")
    bits = Fraction(1, 2**53)
    assert net.tolerance_after(1, 0) == 3 * 40**2 * bits
    assert net.tolerance_after(3, 2) == 3 * 3 * 40**4 * bits
    assert net.tolerance_after(10**12, 0) == net.tolerance_after(1, 9) == net.tolerance == 3 * 40**9 * bits
    assert StackNetwork(POPS, 4, 10, (5, 9), "float32").tolerance == Fraction(1, CLEAR)  # 3 · 10⁷ / 2²⁴ would be 1.8
    for arithmetic, base, digits in (("float64", 16, (11, 15)), ("exact", 40, (31, 39))):
        assert StackNetwork(balanced(), 1, base, digits, arithmetic).tolerance_after(9, 9) == 0


@pytest.mark.parametrize(
    ("layer", "place", "by", "found"),
    [("F2", "push1[0]", 1e-9, True), ("F2", "push1[0]", 1e-17, False), ("F1", "q[0]", -1e-9, True),
     ("F4", "some[1]", 0.3, True), ("F3", "rule[A 0 – –]", -0.3, True), ("F2", "st[B 0]", -0.3, True),
     ("F2", "st[B 0]", -0.2, False)],
)  # fmt: skip
def test_in_base_40_a_stack_that_is_a_little_off_and_a_detector_that_is_unclear_are_divergences(
    layer, place, by, found
):
    net = turing.compile(BB2, "ss95", arithmetic="float64", **FORTY)
    part = net.pipeline[layer]
    with torch.no_grad():
        part.bias[part.layouts[1].names().index(place)] += by
    report = turing.verify(net, BB2, [""], 1)
    assert [(one.layer, one.place) for one in report.divergences] == [(layer, place)] * found


@both
def test_in_base_40_one_layer_or_four_a_weight_that_is_off_by_a_thousandth_is_found(construction):
    net = turing.compile(BB2, construction, arithmetic="float64", **FORTY)
    layer = net.pipeline["F2" if construction == "ss95" else "step"]
    names = [names.names() for names in layer.layouts]
    with torch.no_grad():
        layer.bias[names[1].index("push1[0]")] += 1e-3
    (divergence,) = turing.verify(net, BB2, [""]).divergences
    assert (divergence.step, divergence.slice) == (1, "push1")


def test_a_number_that_is_none_is_a_divergence_in_floats():
    for options in ({"arithmetic": "float32"}, {"arithmetic": "float64", **FORTY}):
        net = turing.compile(BB2, "ss95", **options)
        with torch.no_grad():
            net.pipeline["F2"].weight[0, 0] = float("nan")
        (divergence,) = turing.verify(net, BB2, [""]).divergences
        assert (divergence.step, divergence.layer, divergence.place) == (1, "F2", net.layout_of("F2").names()[0])


# The numbers that are shown are the parameters.


def test_show_reads_the_parameters():
    for arithmetic in ("exact", "float32"):
        net = turing.compile(BB2, "ss95", arithmetic=arithmetic)
        layer = net.pipeline["F4"]
        place = layer.layouts[1].one[0], layer.layouts[0].q[0]
        with torch.no_grad():
            (layer.numerators if arithmetic == "exact" else layer.weight)[place] += 1
        assert "one[0]        ← σ(5 q[0] − 2)" in str(turing.show(net))
        assert layer.weight[place] == 5


# Factors.


def tried_factors(code: Cantor, levels: tuple[int, ...]) -> tuple[int, ...] | None:
    """The same by trying every c up to the base."""
    b, (d0, d1) = code.base, code.digits
    n1, n2 = levels.count(1), levels.count(2)
    for c in range(1, b + 1):
        one = d0 - (n1 - 1) * (b - d0) - c * n2 * (b - d1) if n1 else 1
        two = c * (d1 - d0 - 1 - (n2 - 1) * (b - d1)) - n1 * (b - d0) if n2 else 1
        if one >= 1 and two >= 1:
            return tuple((0, 1, c)[level] for level in levels)
    return None


def test_the_factors_are_the_least_that_trying_finds():
    tried = refused = 0
    levels = [v for p in (1, 2, 3) for v in product(range(3), repeat=p) if list(v) == sorted(v)]
    for base in (4, 5, 7, 9, 12, 16, 21, 25, 32, 40):
        for d0, d1 in product(range(1, base), repeat=2):
            if d0 + 2 > d1:
                continue
            code = Cantor(base, (d0, d1))
            for v in levels:
                wanted = tried_factors(code, v)
                try:
                    found = factors(code, v)
                except ValueError:
                    found = None
                assert found == wanted
                tried, refused = tried + 1, refused + (wanted is None)
    assert tried >= 20_000
    assert 0 < refused < tried


def test_a_base_of_a_billion_has_its_factors_at_once():
    code = Cantor(10**9, (7 * 10**8, 10**9 - 1))
    assert factors(code, (1, 2)) == (1, 2)
    with pytest.raises(ValueError, match="is too small for 2 stacks in one layer"):
        factors(Cantor(10**9, (1, 3)), (1, 1))


# Sizes and types.


def ring(size: int) -> StackMachine:
    """So many states one after the other, whatever is on the two stacks."""
    return StackMachine({(f"s{n}", "*", "*"): (f"s{(n + 1) % size}", "noop", "noop") for n in range(size)})


def test_four_layers_that_would_fill_the_memory_are_refused_before_they_are_built():
    machine = ring(2500)
    assert (len(machine.states), len(machine.rules)) == (2500, 9 * 2500)
    widths = [2500 + 2, 2500 + 6, 22500 + 6, 2500 + 8, 2500 + 2]
    numbers = sum((before + 1) * after for before, after in pairwise(widths))
    message = f"22500 rules> takes {numbers:,} numbers in four layers, and at most {MAX_NUMBERS:,} are built"
    with pytest.raises(
        ValueError, match=rf"^<StackMachine: .*{message}\. Take a machine with fewer states or symbols\.$"
    ):
        StackNetwork(machine)
    with pytest.raises(ValueError, match=r'numbers in four layers, .* or weights="closed"\.$'):
        StackNetwork(ring(800), weights="least squares")
    assert StackNetwork(ring(20)).run(max_steps=45).state == "s5"


def test_the_universal_machine_fits_into_four_layers():
    two = TwoStacks(zoo["universal"]).machine
    assert 80_000_000 < 2 * (len(two.states) + 8) * (len(two.rules) + 8) <= MAX_NUMBERS


@pytest.mark.parametrize("name", ["F4", "F1"])
@pytest.mark.parametrize("kind", ["weight", "bias"])
def test_one_layer_of_another_type_than_the_arithmetic_is_not_run(name, kind):
    net = turing.compile(BB2, "ss95", arithmetic="float64")
    setattr(net.pipeline[name], kind, torch.nn.Parameter(getattr(net.pipeline[name], kind).float()))
    with pytest.raises(TypeError, match=r"built for float64, and its weights are of torch\.float32"):
        net.run()


def test_the_command_line_says_what_is_wrong_with_a_file_of_another_type_than_its_arithmetic(tmp_path, capsys):
    file = tmp_path / "net.json"
    turing.save(turing.compile(BB2, "ss95", arithmetic="float32"), file)
    data = json.loads(file.read_text(encoding="utf-8"))
    del data["digest"]
    file.write_text(json.dumps(data | {"arithmetic": "float64"}), encoding="utf-8")
    assert main(["run", str(file)]) == 2
    assert "A network in float32 has weights of that type, and here they are of float64." in capsys.readouterr().err


@both
@each_arithmetic
def test_a_network_can_be_pickled_and_copied(construction, arithmetic):
    net = turing.compile(BB2, construction, arithmetic=arithmetic)
    for again in (pickle.loads(pickle.dumps(net)), copy.deepcopy(net)):
        assert again.run() == net.run()
        assert turing.verify(again, BB2, [""])
        assert str(turing.show(again)) == str(turing.show(net))


# What is said.


def test_about_counts_one_micro_step_and_several():
    assert turing.compile(BB2, "ss95").about()["a step"] == "1 micro-step of 4 layers; a stay takes one"
    net = turing.compile(zoo["binary_increment"], "ss95-realtime")
    assert net.about()["a step"] == "2 micro-steps of 1 layer; a stay takes one"


NET = StackNetwork(balanced())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: StackNetwork(balanced(), arithmetic=["x"]), r"An arithmetic is one of .*, and \['x'\] was given"),
        (lambda: turing.compile(BB2, "ss95", arithmetic={}), r"An arithmetic is one of .*, and \{\} was given"),
        *((lambda stack=stack: NET.run(stack), rf"A stack is a string or a sequence of symbols, the top first, and {s}")
          for stack, s in ((5, "5"), (None, "None"), ({"("}, r"\{'\('\}"), ({"(": 1}, r"\{'\('"), (b"(", "b'"))),
        (lambda: NET.trace("()", 7), r"the top first, and 7 was given \(for stack 1\)"),
        (lambda: NET.initial(frozenset("(")), r"the top first, and frozenset"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_answered_with_what_was_given_and_what_is_expected(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# What verify notices.


def outputs(net: turing.Construction, word: str, passes: int) -> list[list[Fraction]]:
    """What leaves every layer, pass by pass."""
    state, found = net.start([word]), []
    for _ in range(passes):
        state = net.step(state)
        found += [list(vector) for name, vector in state.vectors.items() if name != "column"]
    return found


@both
def test_verify_notices_the_changes_that_change_a_vector_and_no_others(construction):
    """Most single numbers can be changed without effect on a word: their input is always 0, or their sum stays beyond
    0 or 1, where it is clamped.
    """
    net, random = turing.compile(BB2, construction), Random(1)
    passes = net.run().micro_steps
    right, noticed = outputs(net, "", passes), 0
    parameters = list(net.parameters())
    for _ in range(150):
        (numbers,) = random.choices(parameters, [parameter.numel() for parameter in parameters])
        place, change = random.randrange(numbers.numel()), random.choice([-(10**6), -1, 1, 10**6])
        numbers.data.view(-1)[place] += change
        differs = outputs(net, "", passes) != right
        assert bool(turing.verify(net, BB2, [""])) is not differs
        noticed += differs
        numbers.data.view(-1)[place] -= change
    assert 5 < noticed < 145


@pytest.mark.parametrize(("construction", "options"), [("wcm21", {"T": 8}), ("ss95", {}), ("ss95-realtime", {})])
def test_a_network_for_other_halting_states_is_told_apart(construction, options):
    rules = {("A", "0"): ("B", "1", 1), ("C", "0"): ("C", "0", 1)}
    one, other = (TuringMachine(rules, "A", halting, "0") for halting in ({"B"}, ()))
    net = turing.compile(one, construction, **options)
    assert (net.run().status, other.run().status) == ("halted", "jammed")
    assert turing.verify(net, one, [""])
    message = r"^This network halts in B, and the machine that it is compared with in no state\.$"
    with pytest.raises(ValueError, match=message):
        turing.verify(net, other, [""])
