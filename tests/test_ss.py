"""The SS95 networks: the paper's listings, right to the last digit while depth allows, and exact without end."""

import copy
import itertools
import re
from fractions import Fraction
from functools import cache
from random import Random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import numbered
from stack_machines import (
    COPY,
    ONE_LAYER,
    PARITY,
    layer_by_layer,
    leaves,
    long_words,
    right,
    right_at_once,
    stack_machines,
    stacks_for,
    words,
)
from ways import Way, exact, passes

import turing
from paper import BALANCED
from turing import ir
from turing.cantor import Cantor, DepthError
from turing.cli import main
from turing.exact import Exact
from turing.machine import TuringMachine
from turing.ss import SS95, Description, Simulator, StackNetwork
from turing.ss.realtime import factors
from turing.stack_machine import StackMachine, balanced
from turing.zoo import zoo

torch.set_num_threads(1)  # on small matrices threads wait for each other
slow = pytest.mark.slow
FOUR, SIXTEEN, FORTY = (4, 4, (1, 3)), (1, 16, (11, 15)), (1, 40, (31, 39))  # version, base and digits
FLOATS = ("float32", "float64")
DYADIC = list(itertools.product((FOUR, SIXTEEN), FLOATS))
ROUNDED = list(itertools.product((FORTY, (4, 40, (31, 39))), FLOATS))
DEPTHS = dict(zip([*DYADIC, *ROUNDED], (12, 26, 6, 13, 4, 9, 4, 9), strict=True))
each_float = pytest.mark.parametrize(("mode", "arithmetic"), DEPTHS, ids=str)
versions = pytest.mark.parametrize("version", [4, 1])
both = pytest.mark.parametrize("construction", ["ss95", "ss95-realtime"])
BB2, BB4 = zoo["bb2"], zoo["bb4"]


@cache
def of_parentheses(construction: str) -> SS95:
    return turing.compile(BALANCED, construction)


def net_of(mode=FOUR, arithmetic: str = "exact", machine: StackMachine | None = None, **options) -> StackNetwork:
    version, base, digits = mode
    return StackNetwork(machine or balanced(), version, base, digits, arithmetic, **options)


def dyadic(machine: StackMachine, version: int, arithmetic: str = "exact", **options) -> StackNetwork:
    """In a base that is a power of two."""
    mode = FOUR if version == 4 else (1, *ONE_LAYER[machine.p])
    return net_of(mode, arithmetic, machine, **options)


# The listing of the paper.

LISTING = """
from turing.ss.simulator import Description, Simulator

desc = Description(delta_stack, terminal_states)
sim4 = Simulator(desc, version=4)
sim4.simulate("(()())", T=12)

sim1 = Simulator(desc, version=1)
sim1.simulate("(())", T=12)
"""
DELTA_STACK = {
    ("I", "(", "*"): ("R", "pop", "push ("),
    ("R", "(", "*"): ("R", "pop", "push ("),
    ("*", ")", "("): ("R", "pop", "pop"),
    ("*", ")", None): ("F", "noop", "noop"),
    ("*", None, "("): ("F", "noop", "noop"),
    ("*", None, None): ("T", "noop", "noop"),
}


def test_the_listing_of_the_paper_runs_as_printed(capsys):
    names = {"delta_stack": DELTA_STACK, "terminal_states": {"T", "F"}}
    exec(LISTING, names)
    assert capsys.readouterr().out.splitlines() == [
        "I  (()()) | –", "R  ()()) | (", "R  )()) | ((", "R  ()) | (", "R  )) | ((", "R  ) | (", "R  – | –", "T  – | –",
        "I  (()) | –", "R  ()) | (", "R  )) | ((", "R  ) | (", "R  – | –", "T  – | –",
    ]  # fmt: skip
    sim4, sim1 = names["sim4"], names["sim1"]
    assert (sim4.code.base, sim4.code.digits, sim4.arithmetic) == (4, (1, 3), "float32")
    assert (sim1.code.base, sim1.code.digits, sim1.arithmetic) == (40, (31, 39), "float64")
    assert isinstance(sim4, torch.nn.Module)
    assert isinstance(sim1, torch.nn.Module)


@versions
def test_simulate_returns_the_verdict(version):
    sim = Simulator(Description(), version)
    assert [sim.simulate(word, T=12) for word in ("", "()", "(()())", "(", "())", ")(")] == [*"TTTFFF"]


@versions
def test_simulate_says_when_the_steps_run_out(version, capsys):
    sim = Simulator(Description(), version)
    assert sim.simulate("()", T=1) is None
    assert capsys.readouterr().out == "I  () | –\nR  ) | (\nAfter 1 step the machine has not halted.\n"
    assert sim.simulate("()", T=2) is None
    assert capsys.readouterr().out.endswith("\nAfter 2 steps the machine has not halted.\n")
    assert sim.simulate("()", T=3) == "T"


@versions
def test_a_missing_rule_is_named_when_a_run_comes_to_it(version, capsys):
    delta = {key: value for key, value in DELTA_STACK.items() if key != ("*", ")", "(")}
    sim = Simulator(Description(delta, {"T", "F"}), version)
    assert sim.simulate("(", T=9) == "F"
    assert sim.simulate("())", T=9) is None
    assert capsys.readouterr().out.endswith(
        "R  )) | (\nThe machine jams after 1 step: there is no rule for state R with ), ( on top.\n"
    )
    assert sim.run("())") == sim.machine.run("())")
    assert sim.run("())").status == "jammed"
    empties = Simulator(Description({("A", "0"): ("A", "pop")}, ()), version)
    assert empties.simulate("00", T=9) is None
    assert capsys.readouterr().out.endswith("after 2 steps: there is no rule for state A with nothing on top.\n")


def test_the_sizes_are_those_of_the_chapter():
    four, one = net_of(FOUR), net_of(FORTY)
    assert {name: tuple(layer.weight.shape) for name, layer in four.layers.items()} == {
        "F4": (10, 6), "F3": (18, 10), "F2": (12, 18), "F1": (6, 12),
    }  # fmt: skip
    assert {name: tuple(layer.weight.shape) for name, layer in one.layers.items()} == {"step": (53, 53)}
    net = of_parentheses("ss95")
    assert [layer.weight.shape[0] for layer in net.pipeline.values()] == [74, 393, 76, 70]


# Right: every stack value is the exact one at every step.


def test_four_layers_are_right_on_every_word_up_to_length_12_in_float32():
    assert right_at_once(net_of(FOUR, "float32"), words(12)) == 37_944


def test_one_layer_in_base_16_is_right_on_every_word_up_to_length_11_in_float64_and_6_in_float32():
    assert right_at_once(net_of(SIXTEEN, "float64"), words(11)) == 18_016
    assert right_at_once(net_of(SIXTEEN, "float32"), words(6)) == 389


@pytest.mark.parametrize(("mode", "arithmetic"), DYADIC, ids=str)
def test_runs_of_a_dyadic_base_are_right_to_full_depth_on_both_stacks(mode, arithmetic):
    net = net_of(mode, arithmetic)
    depth = net.code.depth
    assert depth == DEPTHS[mode, arithmetic]
    assert max(right(net, word)[0] for word in [*words(4), *long_words(depth, 8)]) == depth + 1
    assert right(net, ")" * depth, "(" * depth)[0] == depth + 1
    assert right(net, "", "(" * depth)[0] == 1


@slow
def test_runs_of_four_layers_in_float32_are_right_on_every_word_up_to_length_12():
    net = net_of(FOUR, "float32")
    steps = [right(net, word)[0] for word in words(12)]
    print(f"four layers, float32: {len(steps):,} words, {sum(steps):,} steps: every stack value is exact")
    assert len(steps) == 2**13 - 1


@slow
def test_runs_of_four_layers_in_float64_are_right_on_1000_words_of_length_26():
    net = net_of(FOUR, "float64")
    steps = [right(net, word)[0] for word in long_words(26, 1000)]
    print(f"four layers, float64: 1,000 words of length 26, {sum(steps):,} steps: every stack value is exact")
    assert min(steps) == max(steps) == 27


@slow
def test_one_layer_in_base_16_is_right_on_every_word_up_to_length_13_in_float64():
    net = net_of(SIXTEEN, "float64")
    steps = right_at_once(net, words(13))
    print(f"one layer, base 16, float64: {2**14 - 1:,} words, {steps:,} steps: every stack value is exact")
    assert sum(right(net, word)[0] for word in long_words(13, 500)) == 500 * 14


def verdicts(net: StackNetwork, tried: list[str]) -> list[str]:
    """The words on which the network does not say what the interpreter says."""

    def ends(machine, word):
        try:
            run = machine.run(word)
        except ArithmeticError:
            return None
        return run.status, run.state, run.steps

    return [word for word in tried if ends(net, word) != ends(net.machine, word)]


def test_one_layer_in_base_40_gives_the_right_verdict_on_every_word_up_to_length_8_in_float64():
    assert verdicts(net_of(FORTY, "float64"), words(8)) == []


def test_one_layer_in_base_40_gives_the_right_verdict_on_words_of_length_9_in_float64():
    tried = words(9, 9)
    assert verdicts(net_of(FORTY, "float64"), [*long_words(9, 40), *tried[::7]]) == []


@slow
def test_one_layer_in_base_40_gives_the_right_verdict_on_every_word_of_length_9_in_float64():
    assert verdicts(net_of(FORTY, "float64"), words(9, 9)) == []


def test_one_layer_in_base_40_gives_the_right_verdict_on_every_word_up_to_length_4_in_float32():
    assert verdicts(net_of(FORTY, "float32"), words(4)) == []


# One deeper.


@each_float
def test_a_stack_one_deeper_is_refused_with_arithmetic_and_depth_named(mode, arithmetic):
    net, depth = net_of(mode, arithmetic), DEPTHS[mode, arithmetic]
    message = f"A stack of {depth + 1} symbols was asked for, and {arithmetic} holds {depth} in base {mode[1]}: the"
    assert net.code.depth == depth
    for symbol in "()":
        net.initial(symbol * depth)
        for call in (net.run, net.initial, lambda word: list(net.trace(word)), lambda word: net.run("", word)):
            with pytest.raises(DepthError, match=message):
                call(symbol * (depth + 1))


PUSHES = {("A", "*", "*"): ("A", "noop", "push 1"), ("A", "1", "*"): ("A", "pop", "push 1"),
          ("A", "0", "*"): ("A", "pop", "push 0")}  # fmt: skip


@each_float
def test_a_push_one_deeper_is_refused_at_its_step_with_stack_arithmetic_and_depth_named(mode, arithmetic):
    net, depth = net_of(mode, arithmetic, StackMachine(PUSHES)), DEPTHS[mode, arithmetic]
    draw = Random(depth)
    for word in ("", *("".join(draw.choices("01", k=depth // 2)) for _ in range(4))):
        assert net.run(word, max_steps=depth) == net.machine.run(word, max_steps=depth)
        message = rf"At step {depth + 1}, on stack 1: A stack of {depth + 1} symbols .* {arithmetic} holds {depth} in"
        with pytest.raises(DepthError, match=message):
            net.run(word, max_steps=depth + 1)


def no_silent_loss(examples: int, limit: int, most_stacks: int) -> tuple[int, int, int]:
    """Random stack machines in floats: runs that are right to their end, that are refused for depth, and others."""
    outcomes = {"right": 0, "deep": 0, "lost": 0}

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(stack_machines(most_stacks), st.sampled_from([4, 1]), st.sampled_from(FLOATS), st.booleans(), st.data())
    def compare(machine, version, arithmetic, rounded, data):
        net = StackNetwork(machine, version, arithmetic=arithmetic) if rounded else dyadic(machine, version, arithmetic)
        stacks = data.draw(stacks_for(machine, min(3, net.code.depth)))
        deepest = [max(map(len, now.stacks)) for now in machine.trace(*stacks, max_steps=limit)]
        deep = next((step for step, depth in enumerate(deepest) if depth > net.code.depth), None)
        try:
            if net.tolerance:
                assert net.run(*stacks, max_steps=limit) == machine.run(*stacks, max_steps=limit)
            else:
                right(net, *stacks, limit=limit)
            outcome, message = "right", ""
        except DepthError as error:
            outcome, message = "deep", str(error)
        except ArithmeticError:
            outcome, message = "lost", ""
        assert outcome == ("right" if deep is None else "deep") or (outcome == "lost" and net.tolerance)
        assert outcome != "deep" or f"At step {deep}, on stack " in message
        outcomes[outcome] += 1

    compare()
    return tuple(outcomes.values())


def test_40_random_machines_in_floats_are_right_or_refused():
    right, deep, _ = no_silent_loss(40, 30, 2)
    assert right >= 10
    assert deep >= 10


@slow
def test_500_random_machines_in_floats_are_right_or_refused():
    right, deep, lost = no_silent_loss(500, 60, 3)
    print(f"500 random stack machines in floats: {right} right, {deep} too deep, {lost} stopped by rounding")
    assert right >= 100
    assert deep >= 100


def test_it_is_depth_and_not_the_number_of_pops():
    """Five symbols go from stack to stack, again and again."""
    swing = {
        ("A", "0", "*"): ("A", "pop", "push 0"), ("A", "1", "*"): ("A", "pop", "push 1"),
        ("A", None, "*"): ("B", "noop", "noop"), ("B", "*", "0"): ("B", "push 0", "pop"),
        ("B", "*", "1"): ("B", "push 1", "pop"), ("B", "*", None): ("A", "noop", "noop"),
    }  # fmt: skip
    for mode, arithmetic in DYADIC:
        assert right(net_of(mode, arithmetic, StackMachine(swing)), "10110", limit=1000)[0] == 1000


# Floats and exact numbers.


@pytest.mark.parametrize(("mode", "arithmetic"), DYADIC, ids=str)
def test_in_a_dyadic_base_float_activations_equal_the_exact_ones(mode, arithmetic):
    net, exact = net_of(mode, arithmetic), net_of(mode)
    assert net.tolerance == exact.tolerance == 0
    for word in [*words(3), *long_words(net.code.depth, 4)]:
        steps = balanced().run(word).steps
        pairs = zip(net.steps(net.initial(word)), exact.steps(exact.initial(word)), strict=False)
        for found, wanted in itertools.islice(pairs, steps):
            assert {name: list(vector) for name, vector in found.items()} == {
                name: list(vector) for name, vector in wanted.items()
            }
        assert layer_by_layer(exact, (word,), 100)[0] == 0


def within_the_bound(arithmetic: str, tried: list[str]) -> Fraction:
    net = net_of(FORTY, arithmetic)
    assert 0 < net.tolerance < Fraction(1, 2)
    worst = max(layer_by_layer(net, (word,), 100)[0] for word in tried)
    assert worst <= net.tolerance
    return worst


def test_in_base_40_float_activations_are_within_the_stated_bound():
    assert within_the_bound("float64", [*words(4), *words(9, 9)[::32], "(())()(", "((()()())"]) > 0


@slow
def test_in_base_40_float_activations_are_within_the_stated_bound_on_every_word_up_to_length_9():
    worst = within_the_bound("float64", words(9))
    print(f"one layer, base 40, float64: no number is off by more than {float(worst):.4f}")


def random_layers(examples: int, limit: int, most_stacks: int) -> int:
    compared = 0

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(stack_machines(most_stacks), st.data())
    def compare(machine, data):
        nonlocal compared
        stacks = data.draw(stacks_for(machine))
        for version in (4, 1):
            net = dyadic(machine, version)
            worst, done = layer_by_layer(net, stacks, limit)
            assert worst == 0
            assert list(net.trace(*stacks, max_steps=limit)) == list(machine.trace(*stacks, max_steps=limit))
            assert net.run(*stacks, max_steps=limit) == machine.run(*stacks, max_steps=limit)
            compared += done

    compare()
    return compared


def test_12_random_stack_machines_are_exact_in_every_number_of_both_versions():
    assert random_layers(12, 25, 2) >= 10_000


@slow
def test_100_random_stack_machines_are_exact_in_every_number_of_both_versions():
    numbers = random_layers(100, 40, 3)
    print(f"100 random stack machines in both versions: {numbers:,} numbers are exact")
    assert numbers >= 200_000


# Exact, without end.


@pytest.mark.parametrize("mode", [FOUR, SIXTEEN, FORTY], ids=str)
@pytest.mark.parametrize("word", ["(" * 1000 + ")" * 1000, "()" * 1000], ids=["nest", "flat"])
def test_words_of_1000_pairs_are_right_in_exact_arithmetic(mode, word):
    steps, bits = right(net_of(mode), word)
    print(f"version {mode[0]}, base {mode[1]}: {steps:,} micro-steps, stacks of up to {bits:,} bits")
    assert steps == 2001
    assert bits == (mode[1] ** 2000).bit_length() - 1


@versions
def test_a_word_of_1000_pairs_with_a_fault_at_its_end_is_refused_in_exact_arithmetic(version):
    net = dyadic(balanced(), version)
    for word in ("(" * 1000 + ")" * 999, "()" * 1000 + ")"):
        assert net.run(word) == balanced().run(word)
        assert net.run(word).state == "F"


@slow
@both
def test_the_turing_machine_is_exact_on_the_flat_word_of_1000_pairs(construction):
    net, word = of_parentheses(construction), f"B{'()' * 1000}E"
    run = net.run(word)
    print(f"{construction}: {run.steps:,} steps, {run.micro_steps:,} micro-steps")
    assert run == BALANCED.run(word)
    assert run.micro_steps == 3 * run.steps


# Any Turing machine.


@pytest.mark.parametrize(("construction", "base", "step"), [("ss95", 4, 106), ("ss95-realtime", 16, 49)])
def test_bb4_in_float32_is_right_up_to_the_micro_step_at_which_it_is_refused(construction, base, step):
    net = turing.compile(BB4, construction, arithmetic="float32")
    assert numbered(net.trace("", step - 1)) == numbered(BB4.trace("", step - 1))
    with pytest.raises(DepthError, match=rf"At step {step}, on stack .: A stack .* float32 holds .* in base {base}"):
        net.run("", step)


@slow
def test_the_universal_machine_is_exact_in_four_layers_and_too_large_for_one():
    machine, samples = zoo["universal"], zoo.entry("universal").samples
    net, steps = turing.compile(machine, "ss95"), []
    for sample in samples:
        pairs = zip(net.trace(sample.word), machine.trace(sample.word), strict=True)
        for found, now in pairs:
            assert (found.step, found.state, found.head, found.symbol) == (now.step, now.state, now.head, now.symbol)
        assert (found.state in machine.halting, found.tape) == (sample.status == "halted", now.tape)
        steps.append(found.step)
    print(f"universal in ss95: {sum(steps):,} steps: no divergence")
    assert steps == [sample.steps for sample in samples]
    assert exact(Way("ss95"), machine, [samples[-1].word], 100, 200_000) == samples[-1].steps + 1  # it jams
    with pytest.raises(ValueError, match=r"In one layer .* takes 35,792 neurons, .* at most 6,000 are built"):
        turing.compile(machine, "ss95-realtime")


# One, two and three stacks.

THREE = {
    1: (PARITY, {"T", "F"}, lambda word: ("F" if word.count("1") % 2 else "T", ((),))),
    2: (DELTA_STACK, {"T", "F"}, None),
    3: (COPY, {"done"}, lambda word: ("done", (tuple(word), (), tuple(word)))),
}


@versions
@pytest.mark.parametrize("p", THREE)
def test_one_two_and_three_stacks_are_right_on_every_short_word(p, version):
    delta, terminal, told = THREE[p]
    machine = StackMachine(delta, terminal=terminal, symbols="()" if p == 2 else "01")
    assert machine.p == p
    nets = [dyadic(machine, version, arithmetic) for arithmetic in ("exact", *FLOATS)]
    nets.append(StackNetwork(machine, version))  # with 10p² in one layer
    assert nets[-1].code.base == (4 if version == 4 else 10 * p**2)
    for word in words(4, alphabet="".join(machine.symbols)):
        for net in nets:
            right(net, word)
            run = net.run(word)
            assert run == machine.run(word)
            assert told is None or (run.state, run.stacks) == told(word)


@versions
@pytest.mark.parametrize("p", [1, 3])
def test_long_words_are_right_on_one_and_on_three_stacks_in_exact_arithmetic(p, version):
    delta, terminal, told = THREE[p]
    draw = Random(p)
    word = "".join(draw.choices("01", k=300))
    run = dyadic(StackMachine(delta, terminal=terminal), version).run(word)
    assert (run.state, run.stacks) == told(word)
    assert run.steps == (301 if p == 1 else 602)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_one_layer_takes_the_least_dyadic_base_that_its_inequalities_allow(p):
    def fits(base, digits):
        try:
            for levels in itertools.product(range(3), repeat=p):
                factors(Cantor(base, digits), levels)
        except ValueError:
            return False
        return True

    def pairs(base):
        return [(low, high) for low in range(1, base) for high in range(low + 2, base)]

    least = next(base for base in (4, 8, 16, 32) if any(fits(base, digits) for digits in pairs(base)))
    assert least == {1: 4, 2: 16, 3: 16}[p]
    assert fits(10 * p**2, (10 * p**2 - 1 - 4 * p, 10 * p**2 - 1))
    assert fits(*ONE_LAYER[p])
    assert p != 2 or fits(16, (11, 15))
    assert p == 1 or all(low > base // 2 for base in (16, 32) for low, high in pairs(base) if fits(base, (low, high)))


def test_every_base_and_digits_that_one_layer_accepts_are_right():
    tried = 0
    for base in (9, 11, 16):
        for digits in itertools.combinations(range(base), 2):
            try:
                net = net_of((1, base, digits))
            except ValueError:
                continue
            assert {right(net, word)[0] for word in ("(()())", "((((((", "(()))(", "(())()")} == {7, 5}
            tried += 1
    assert tried >= 8


# Weights.


def same_numbers(one: torch.nn.Module, other: torch.nn.Module) -> bool:
    found, others = one.state_dict(), other.state_dict()
    return list(found) == list(others) and all(torch.equal(found[name], others[name]) for name in found)


@versions
@pytest.mark.parametrize("p", THREE)
def test_least_squares_gives_the_closed_form(p, version):
    delta, terminal, _ = THREE[p]
    machine = StackMachine(delta, terminal=terminal)
    for arithmetic in ("exact", "float32"):
        one, other = (dyadic(machine, version, arithmetic, weights=kind) for kind in ("closed", "least squares"))
        assert same_numbers(one, other)
        assert [layer.denominator for layer in one.layers.values()] == [
            layer.denominator for layer in other.layers.values()
        ]


@both
def test_least_squares_gives_the_closed_form_of_a_turing_machine(construction):
    one, other = (turing.compile(BB4, construction, weights=kind) for kind in ("closed", "least squares"))
    assert same_numbers(one, other)
    assert other.run() == one.run()
    assert other.options["weights"] == "least squares"


@settings(max_examples=10, deadline=None, derandomize=True, database=None)
@given(stack_machines(2), st.sampled_from([4, 1]))
def test_least_squares_gives_the_closed_form_of_random_machines(machine, version):
    assert same_numbers(dyadic(machine, version), dyadic(machine, version, weights="least squares"))


@each_float
def test_the_parameters_are_integers_over_one_denominator_or_these_as_floats(mode, arithmetic):
    net, exact = net_of(mode, arithmetic), net_of(mode)
    for layer, other in zip(net.layers.values(), exact.layers.values(), strict=True):
        assert [name for name, _ in other.named_parameters()] == ["numerators", "bias_numerators"]
        assert [name for name, _ in layer.named_parameters()] == ["weight", "bias"]
        assert layer.denominator == other.denominator in (1, mode[1])
        for numbers, floats in ((other.numerators, layer.weight), (other.bias_numerators, layer.bias)):
            assert numbers.dtype == torch.int64
            assert not numbers.requires_grad
            assert floats.dtype == getattr(torch, arithmetic)
            expected = [float(Fraction(n, layer.denominator)) for n in numbers.flatten().tolist()]
            assert torch.equal(floats.detach().flatten(), torch.tensor(expected, dtype=floats.dtype))
        assert torch.equal(other.weight.to(layer.weight), layer.weight)
        assert torch.equal(other.bias.to(layer.bias), layer.bias)


def test_building_draws_no_random_number():
    before = torch.get_rng_state()
    one, other = net_of(SIXTEEN), net_of(SIXTEEN)
    assert torch.equal(before, torch.get_rng_state())
    assert same_numbers(one, other)


# The network is its numbers.

FAULTS = {  # layer, place written, place read (None is the bias), by how much; and where it shows: step and slice
    "what is seen": ("ss95", "F4", "one[0]", None, -1, 2, "one"),
    "a rule": ("ss95", "F3", "rule[B 0 – –]", None, 1, 1, "rule"),
    "the next state": ("ss95", "F2", "st[A 0]", "rule[A 0 – –]", 1, 1, "st"),
    "a push": ("ss95", "F2", "push1[0]", None, 1, 1, "push1"),
    "what is put together": ("ss95", "F1", "q[1]", "push1[0]", 1, 1, "q"),
    "a detector": ("ss95-realtime", "step", "det[9]", None, 1, 1, "det"),
    "a sub-stack": ("ss95-realtime", "step", "push1[0]", None, 1, 1, "push1"),
}


def changed(net: SS95, layer: str, place: str, read: str | None, by: int) -> None:
    """Change one numerator."""
    before, after = net.pipeline[layer].layouts
    i = after.names().index(place)
    if read is None:
        net.pipeline[layer].bias_numerators[i] += by
    else:
        net.pipeline[layer].numerators[i, before.names().index(read)] += by


def runs(net: SS95, *tried: str) -> bool:
    """Whether the network still runs as the machine does."""
    try:
        return all(net.run(word, 50) == BB2.run(word, 50) for word in tried)
    except ArithmeticError:
        return False


@pytest.mark.parametrize(("construction", "layer", "place", "read", "by", "step", "part"), FAULTS.values(), ids=FAULTS)
def test_one_stored_number_that_is_changed_changes_the_run_and_verify_names_it(
    construction, layer, place, read, by, step, part
):
    net = turing.compile(BB2, construction)
    assert turing.verify(net, BB2, [""])
    changed(net, layer, place, read, by)
    report = turing.verify(net, BB2, [""])
    (divergence,) = report.divergences
    assert (divergence.step, divergence.layer, divergence.slice, divergence.place) == (step, layer, part, place)
    assert f"On the word '', at step {step}, layer {layer} gives {place} = " in str(report)
    assert not runs(net, "")


@both
def test_wherever_a_stored_number_is_off_verify_finds_it_in_that_layer_or_it_does_not_matter(construction):
    net, found, tried = turing.compile(BB2, construction), 0, 0
    for name, layer in net.pipeline.items():
        places = layer.numerators.nonzero().tolist()
        for i, j in places[:: max(1, len(places) // (12 if len(net.pipeline) == 4 else 40))]:
            layer.numerators[i, j] += 1000
            report = turing.verify(net, BB2, ["", "1", "0110"])
            assert all(divergence.layer == name for divergence in report.divergences)
            assert not report or runs(net, "", "1", "0110")
            layer.numerators[i, j] -= 1000
            found, tried = found + (not report), tried + 1
    assert turing.verify(net, BB2, [""])
    assert tried >= 40
    assert found >= 4


def test_what_is_derived_from_the_numerators_cannot_be_changed():
    layer = turing.compile(BB2, "ss95").pipeline["F2"]
    for kind in ("weight", "bias"):
        with torch.no_grad(), pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
            getattr(layer, kind).zero_()
        with pytest.raises(AttributeError, match=rf"{kind} is derived from (bias_)?numerators over 4\. Change"):
            setattr(layer, kind, torch.nn.Parameter(torch.zeros(1)))
    assert list(layer.state_dict()) == ["numerators", "bias_numerators"]


def test_a_network_whose_numbers_were_changed_is_stopped_where_it_shows():
    net = net_of(FOUR)
    net.layers["F3"].bias_numerators[0] += 1
    with pytest.raises(ArithmeticError, match=r"One detector should be 1 .* numerators are not those of"):
        net.run("()")
    net = turing.compile(BB2, "ss95")
    net.pipeline["F3"].bias_numerators[1] += 2
    with pytest.raises(ArithmeticError, match=r"^At step 1 one detector should be 1 .* numerators are not those of"):
        net.run("")
    net = net_of(FOUR, "float64")
    with torch.no_grad():
        net.layers["F4"].weight[net.layers["F4"].layouts[1].one[0]] = 0
    with pytest.raises(ArithmeticError, match=r"takes '\(' for the top of stack 0, where '\)' is. float64 has lost"):
        net.run("()")


@both
@pytest.mark.parametrize("arithmetic", ["exact", *FLOATS])
def test_verify_finds_no_divergence_and_counts_what_it_compared(construction, arithmetic):
    machine, tried = zoo["binary_increment"], ["", "0", "1"]  # two passes a step
    net = turing.compile(machine, construction, arithmetic=arithmetic)
    report = turing.verify(net, machine, tried)
    assert report
    assert (report.words, report.steps) == (3, sum(machine.run(word).steps for word in tried))
    assert report.passes == sum(passes(net, machine, word, 100) for word in tried) == 2 * report.steps
    assert report.numbers == report.passes * sum(layer.weight.shape[0] for layer in net.pipeline.values())


def test_verify_with_another_machine_finds_where_it_differs():
    other = TuringMachine({**BB2.delta, ("A", "0"): ("B", "0", 1)}, BB2.initial, BB2.halting, BB2.blank)
    report = turing.verify(turing.compile(BB2, "ss95"), other, [""])
    assert [(found.step, found.layer) for found in report.divergences] == [(1, "F2")]
    with pytest.raises(ValueError, match="they do not have the same states"):
        turing.verify(turing.compile(BB2, "ss95"), BALANCED, [""])


@both
@pytest.mark.parametrize("arithmetic", ["exact", "float64"])
def test_activations_are_the_vectors_of_a_pass_by_layer(construction, arithmetic):
    net = turing.compile(zoo["parity"], construction, arithmetic=arithmetic)
    runs = net.vectors(["101", "1"])
    for step in range(1, 5):
        found, vectors = net.activations("101", step), next(runs)
        assert list(found) == list(vectors) == ["column", *net.pipeline]
        for name, vector in found.items():
            assert type(vector) is (Exact if arithmetic == "exact" else torch.Tensor)
            assert list(vector) == list(vectors[name][0])
            assert len(vector) == net.layout_of(name).width
    assert list(net.activations("101", 1)["column"]) == list(net.initial("101"))
    net.activations("101", net.run("101").micro_steps)


def test_activations_name_what_a_step_does():
    net = turing.compile(BB2, "ss95")
    found = net.activations("", 1)
    ones = {name: [place for place, value in zip(net.layout_of(name).names(), found[name], strict=True) if value]
            for name in found}  # fmt: skip
    assert ones == {
        "column": ["st[A 0]"], "F4": ["st[A 0]"], "F3": ["rule[A 0 – –]"], "F2": ["st[B 0]", "push1[0]"],
        "F1": ["st[B 0]", "q[0]"],
    }  # fmt: skip
    assert found["F1"][net.layout.q[0]] == Fraction(3, 4)


def test_show_prints_the_layers_as_sums_under_sigma():
    text = str(turing.show(turing.compile(BB2, "ss95")))
    for line in (
        "F4, Rational", "one[0]        ← σ(4 q[0] − 2)", "some[1]       ← σ(4 q[1])",
        "rule[A 0 – –] ← σ(st[A 0] − some[0] − some[1])", "q[0]          ← σ(noop[0] + push0[0] + push1[0] + pop[0])",
    ):  # fmt: skip
        assert line in text
    text = str(turing.show(turing.compile(BB2, "ss95-realtime")))
    assert text.startswith("step, Rational\ndet[0] ")
    assert "\nnoop[0]  ← σ(noop[0] + push0[0] + " in text
    assert str(turing.show(net_of(FOUR).layers["F4"])).splitlines()[0] == "one[0]  ← σ(4 q[0] − 2)"


def test_a_saved_network_comes_back_with_its_base_and_digits(tmp_path):
    net = turing.compile(BB2, "ss95-realtime", arithmetic="float64", base=40, digits=(31, 39))
    turing.save(net, tmp_path / "net.json")
    again = turing.load(tmp_path / "net.json")
    assert again.options == net.options
    assert again.network.code.digits == (31, 39)
    assert same_numbers(again, net)
    turing.save(again, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "net.json").read_bytes()


def test_a_numerator_that_was_changed_is_in_the_file(tmp_path):
    net = turing.compile(BB2, "ss95")
    changed(net, "F2", "push1[0]", None, 1)
    turing.save(net, tmp_path / "net.json")
    again = turing.load(tmp_path / "net.json")
    assert torch.equal(again.pipeline["F2"].bias_numerators, net.pipeline["F2"].bias_numerators)
    assert [layer.denominator for layer in again.pipeline.values()] == [
        layer.denominator for layer in net.pipeline.values()
    ]
    assert not runs(again, "")


def test_a_copy_runs_and_is_of_its_own():
    net = turing.compile(BB2, "ss95")
    again = copy.deepcopy(net)
    again.pipeline["F3"].numerators.zero_()
    assert runs(net, "")
    assert not runs(again, "")


@versions
def test_forward_gives_what_a_step_gives_for_batches_of_any_shape(version):
    net = dyadic(balanced(), version, "float64")
    vectors = next(itertools.islice(net.steps(net.initial("(()")), 2, None))
    column, after = net.vector(vectors["column"]), net.vector(leaves(net, vectors))
    assert torch.equal(net(column), after)
    assert torch.equal(net(column.expand(2, 3, -1)), after.expand(2, 3, -1))
    exact = dyadic(balanced(), version)
    assert list(exact(exact.initial("(()"))) == list(leaves(exact, next(exact.steps(exact.initial("(()")))))


@versions
def test_a_run_leaves_no_gradient_and_forward_gives_some(version):
    net = dyadic(balanced(), version, "float32")
    net.run("()")
    assert all(parameter.grad is None for parameter in net.parameters())
    net(torch.tensor(net.initial("(("), dtype=torch.float32)).sum().backward()
    assert any(parameter.grad.count_nonzero() for parameter in net.parameters())


def test_a_network_in_another_number_type_than_it_was_built_for_is_not_run():
    net = net_of(FOUR, "float64").float()
    with pytest.raises(TypeError, match=r"built for float64, and its weights are of torch\.float32"):
        net.run("()")


def test_a_network_does_not_depend_on_the_default_type_of_torch():
    try:
        torch.set_default_dtype(torch.float64)
        net = net_of(FOUR, "float32")
    finally:
        torch.set_default_dtype(torch.float32)
    assert same_numbers(net, net_of(FOUR, "float32"))
    assert net.run("(())").state == "T"


@versions
@pytest.mark.parametrize("arithmetic", ["exact", *FLOATS])
def test_every_layer_of_a_stack_network_is_called_and_its_hooks_can_patch(version, arithmetic):
    net = dyadic(balanced(), version, arithmetic)
    for name, layer in net.layers.items():
        seen = []
        handle = layer.register_forward_hook(lambda layer, given, found, seen=seen: seen.append(found))
        assert net.run("(())").steps == len(seen) == 5
        assert [list(x) for x in seen] == [list(v[name]) for v in itertools.islice(net.steps(net.initial("(())")), 5)]
        handle.remove()
        handle = layer.register_forward_hook(lambda layer, given, found: net.vector([0.0] * len(found)))
        with pytest.raises(ArithmeticError):
            net.run("(())")
        handle.remove()
    assert net.run("(())").state == "T"


@versions
@pytest.mark.parametrize("arithmetic", ["exact", *FLOATS])
def test_every_parameter_of_a_stack_network_matters_also_if_it_is_written_through_data(version, arithmetic):
    net = dyadic(balanced(), version, arithmetic)
    for numbers in net.parameters():
        kept, changed = numbers.detach().clone(), False
        for change in (kept * 0, kept + 1, -kept):
            assert net.run("(())") == net.machine.run("(())")
            numbers.data.copy_(change)
            changed |= verdicts(net, ["(())", "(()", "())"]) != []
            numbers.data.copy_(kept)
        assert changed


def test_a_layer_reads_its_numerators_as_they_are():
    layer = StackNetwork(balanced()).layers["F4"]
    x = Exact([1, 0, 0, 0, 0, 0])
    assert layer(x)[0] == 1
    layer.numerators[0, 0] = 0
    assert layer(x)[0] == 0
    layer.numerators = torch.nn.Parameter(layer.numerators + 1, requires_grad=False)
    assert layer(x)[0] == 1
    layer.load_state_dict({name: numbers * 0 for name, numbers in layer.state_dict().items()})
    assert list(layer(x)) == [0] * 10
    with torch.inference_mode():
        built = StackNetwork(balanced()).layers["F4"]
    assert built(x)[0] == 1
    with torch.inference_mode():
        built.numerators.zero_()
    assert built(x)[0] == 0
    with pytest.raises(TypeError, match="This layer computes in floats, and an exact vector was given"):
        net_of(FOUR, "float32").layers["F4"](x)


def test_the_representation_of_a_stack_network_is_that_of_its_layers():
    for version in (4, 1):
        net = dyadic(balanced(), version)
        data = ir.to_dict(net)
        assert data["arithmetic"] == "exact"
        assert data["loop"] == {"state": "column", "add": []}
        assert [module["name"] for module in data["modules"]] == list(net.layers)
        assert set(data["weights"]) == set(net.state_dict())
        assert "construction" not in data
        last = data["modules"][-2 if version == 4 else 0]
        assert last["layers"][0]["last"] == next(layer.last for layer in net.layers.values() if layer.last)
        assert {layer["activation"] for module in data["modules"] for layer in module["layers"]} == {"clamp"}
        for name, entry in data["weights"].items():
            over = net.get_submodule(name.rpartition(".")[0]).denominator
            assert entry.get("denominator", 1) == over
            assert len(entry["values"]) == net.state_dict()[name].count_nonzero()


# The command line.


def cli(capsys, *argv: str) -> tuple[int, str, str]:
    status = main(argv)
    return status, *capsys.readouterr()


@pytest.mark.parametrize("network", ["ss95", "ss95-realtime"])
@pytest.mark.parametrize("arithmetic", [[], ["--arithmetic", "float64"], ["--arithmetic", "float32"]], ids=str)
def test_run_prints_of_a_network_what_it_prints_of_the_machine(network, arithmetic, capsys):
    expected = cli(capsys, "run", "bb2", "1")
    assert cli(capsys, "run", "bb2", "1", "--network", network, *arithmetic) == expected
    assert expected[0] == 0
    expected = cli(capsys, "run", "bb2", "--trace")
    assert cli(capsys, "run", "bb2", "--trace", "--network", network, *arithmetic) == expected


def test_run_ends_with_status_2_where_float32_ends_and_says_so(capsys):
    status, out, err = cli(capsys, "run", "bb4", "--network", "ss95", "--arithmetic", "float32")
    assert (status, out) == (2, "")
    assert err.startswith(
        "turing: At step 106, on stack 1: A stack of 13 symbols was asked for, and float32 holds 12 in base 4: "
    )
    assert cli(capsys, "run", "bb4", "--network", "ss95") == cli(capsys, "run", "bb4")


def test_run_of_a_jam_and_of_a_limit_has_their_status(capsys):
    assert cli(capsys, "run", "balanced_parentheses", "(", "--network", "ss95")[0] == 3
    assert cli(capsys, "run", "bb2", "--network", "ss95", "--max-steps", "3")[0] == 4


def test_compile_writes_a_network_that_run_and_show_read(capsys, tmp_path):
    file = str(tmp_path / "bb2.json")
    status, out, _ = cli(capsys, "compile", "bb2", "--network", "ss95", "--arithmetic", "float32", "-o", file)
    assert status == 0
    assert "ss95, float32, base 4, digits 1 and 3" in out
    assert "8 → 12 → 42 → 14 → 8" in out
    assert "1 micro-step of 4 layers" in out
    assert cli(capsys, "run", file) == cli(capsys, "run", "bb2")
    status, out, _ = cli(capsys, "show", file)
    assert status == 0
    assert "one[0]        ← σ(4 q[0] − 2)" in out


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--network", "ss95", "--arithmetic", "float16"], "An arithmetic is one of .*, and 'float16' was given."),
        (["x", "--network", "ss95"], r"Symbol 'x' \(cell 0 of the word\) is not in this machine's alphabet: 0 1"),
    ],
)  # fmt: skip
def test_a_wrong_option_is_answered_with_what_was_expected(argv, message, capsys):
    status, out, err = cli(capsys, "run", "bb2", *argv)
    assert (status, out) == (2, "")
    assert re.search(message, err)


# Wrong arguments.

SMALL = {version: StackNetwork(balanced(), version, *mode[1:]) for version, mode in ((4, FOUR), (1, SIXTEEN))}
COMPILED = turing.compile(BB2, "ss95")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *((lambda v=v: Simulator(Description(), version=v), rf"version is 4, .* or 1, for one layer, and {v!r} was")
          for v in (2, 0, "4", True, None)),
        (lambda: StackNetwork(balanced(), 4, 3, (1, 3)), r"base=3 with digits=\(1, 3\) was given. .* below the base"),
        (lambda: StackNetwork(balanced(), 4, 4, (1, 2)), r"base=4 with digits=\(1, 2\) was given. .* at least 2 more"),
        (lambda: StackNetwork(balanced(), 1, 4, (1, 3)), r"base=4 with digits=\(1, 3\) is too small for 2 stacks"),
        (lambda: StackNetwork(balanced(), 1, 8, (5, 7)), r"Take base 40 with digits \(31, 39\)"),
        (lambda: StackNetwork(StackMachine(COPY), 1, 32, (17, 31)), r"too small for 3 .* base 90 with .*\(77, 89\)"),
        (lambda: StackNetwork(balanced(), 4, 4), "base and digits go together, such as base=4, .* base=4 and digits=N"),
        (lambda: StackNetwork(balanced(), 1, digits=(11, 15)), "base and digits go together"),
        (lambda: StackNetwork(balanced(), arithmetic="float16"), "An arithmetic is one of .*, and 'float16' was given"),
        (lambda: StackNetwork(balanced(), arithmetic="scaled"), "An arithmetic is one of .*, and 'scaled' was given"),
        (lambda: StackNetwork(balanced(), weights="none"), "weights is 'closed' or 'least squares', and 'none' was"),
        (lambda: StackNetwork(BB2), "A StackMachine is built here, .* For a Turing machine: turing.compile"),
        (lambda: StackNetwork(balanced(), 4, 10**20, (1, 3)), "This base asks for a weight of .* Take a smaller one"),
        (lambda: Simulator(balanced()), "A Simulator takes a Description, and <StackMachine: 4 states"),
        (lambda: Description(DELTA_STACK), "A transition function and the terminal states go together"),
        (lambda: Description(terminal_states={"T"}), "go together, and one of them was given"),
        (lambda: Description({("A", "0"): ("A", "push 2"), ("A", "1"): ("A", "pop")}, ()), "binary, and .*: 0 1 2"),
        (lambda: Description({("A", "0"): ("A", "nop")}, ()), "An operation is 'noop', 'pop' or 'push x', and 'nop'"),
        (lambda: Description({("A", "0", "*"): ("B", "pop", "noop"), ("A", "*", "0"): ("A", "noop", "pop")}, ()),
         r"Two rules contradict each other on \('A', '0', '0'\)"),
        *((lambda v=v: SMALL[v].run("(x)"), r"Symbol 'x' \(on stack 0\) is not one of .*: \( \)") for v in SMALL),
        *((lambda v=v: list(SMALL[v].trace("", "0")), r"Symbol '0' \(on stack 1\) is not one") for v in SMALL),
        (lambda: Simulator(Description()).simulate("B()E", T=9), r"Symbol 'B' \(on stack 0\) is not one"),
        (lambda: SMALL[4].run("", "", ""), "This machine has 2 stacks, and 3 were given"),
        (lambda: SMALL[4].run("()", max_steps=-1), "max_steps must be an integer of at least 0, and -1 was given"),
        (lambda: SMALL[4].trace("()", max_steps=2.0), "max_steps must be an integer of at least 0, and 2.0 was given"),
        (lambda: SMALL[4].initial("()", state="Q"), "A run cannot begin in state 'Q'. It can in these: I R F T"),
        (lambda: COMPILED.run("012"), r"Symbol '2' \(cell 2 of the word\) is not in this machine's alphabet: 0 1"),
        (lambda: COMPILED.trace("x"), r"Symbol 'x' \(cell 0 of the word\)"),
        (lambda: COMPILED.initial("x"), r"Symbol 'x' \(cell 0 of the word\)"),
        (lambda: COMPILED.activations("x", 1), r"Symbol 'x' \(cell 0 of the word\)"),
        (lambda: COMPILED.run_batch(["", "x"]), r"Symbol 'x' \(cell 0 of the word\)"),
        (lambda: COMPILED.run(5), "A word is a string or a sequence of symbols, and 5 was given"),
        (lambda: COMPILED.run("", -1), "max_steps must be an integer of at least 0, and -1 was given"),
        (lambda: turing.compile(BB2, "ss96"), "A construction is one of .*ss95.*, and 'ss96' was given"),
        (lambda: turing.compile(BB2, "ss95", T=5), "ss95: .*'T'. Its options: arithmetic, base, digits, weights"),
        (lambda: turing.compile(BB2, "ss95", arithmetic="fast"), "An arithmetic is one of .*, and 'fast' was given"),
        (lambda: turing.compile(BB2, "ss95-realtime", weights=None), "weights is 'closed' or 'least squares', and No"),
        (lambda: turing.compile(BB2, "ss95-realtime", base=8, digits=[5, 7]), "is too small for 2 stacks in one layer"),
        (lambda: turing.compile(BB2, "ss95", base=16), "base and digits go together"),
        (lambda: turing.compile("bb2", "ss95"), "A TuringMachine is compiled here, and 'bb2' was given"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_answered_with_what_was_expected(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()
