"""``turing.verify``: its specification is right by the oracle, and no damage to a network escapes it."""

from collections import Counter
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from machines import full, machines_and_words, walker
from ways import ADDERS, compiled

import turing
from paper import BALANCED
from turing.gates import AND
from turing.machine import TuringMachine
from turing.verification import BATCH, Approx, Divergence, Report, _differences
from turing.wcm import lookahead, specification
from turing.zoo import NAMES, zoo

# The specification, against the oracle's trace.


def places(name: str, number: int, bits: int) -> set[str]:
    return {f"{name}[{k}]" if bits > 1 else name for k in range(bits) if number >> k & 1}


def part(ones: set[str], *names: str) -> set[str]:
    return {one for one in ones if one.split("[")[0] in names}


def follow(machine: TuringMachine, word, bits: int, limit: int) -> int:
    """Compare each step of the specification with the configurations that the machine goes through; how many."""
    trace = [(now.state, now.head, now.symbol, now.cells) for now in machine.trace(word, limit)]
    steps = list(specification(machine, bits, word, limit))
    jams = len(trace) <= limit and trace[-1][0] not in machine.halting
    assert len(steps) == len(trace) - 1 + jams
    heads = [head for _, head, _, _ in trace]
    for t, out in enumerate(steps):
        end = out["combine"]
        if t + 1 == len(trace):  # the machine jams here: nothing is decided, and the head stays
            assert part(end, "st", "sym1", "sym2", "scr5") == set()
            assert part(end, "pos2") == places("pos2", heads[t], bits)
            continue
        state, head, symbol, cells = trace[t + 1]
        assert part(end, "st") == {f"st[{state}]"}
        assert part(end, "sym1") == {f"sym1[{symbol}]"}
        assert part(end, "sym2") == {f"sym2[{cells[heads[t]]}]"}
        assert part(end, "pos2") == places("pos2", head, bits)
        assert part(end, "pos1") == set()
        assert part(out["transition"], "pos1") == places("pos1", t, bits)
        assert part(out["transition"], "pos2") == places("pos2", heads[t], bits)
        assert part(out["project"], "pos3") == places("pos3", head, bits)
        visits = [i for i in range(t + 1) if heads[i] == head]
        assert part(out["visited"], "scr4") == ({"scr4[visited]"} if visits else set())
        assert part(out["last"], "scr3") == places("scr3", visits[-1] if visits else 0, bits)
        written = trace[visits[-1] if visits else 0]
        after = trace[(visits[-1] if visits else 0) + 1][3][written[1]]
        assert part(out["last"], "scr1") == {f"scr1[{after}]"}
        on_word = 0 <= head < len(word)
        assert part(out["initial"], "scr2") == ({f"scr2[{word[head]}]"} if on_word else set())
        flag = "visited" if visits else "word" if on_word else "blank"
        assert part(out["v"], "scr4") == {f"scr4[{flag}]"}
        assert len(part(end, "scr1", "scr2")) == (flag != "blank")
    return len(steps)


@pytest.mark.parametrize("name", NAMES)
def test_the_specification_is_what_the_zoos_machines_do(name):
    words = [sample.word for sample in zoo.entry(name).samples]
    steps = sum(follow(zoo[name], word, 8, 120) for word in words)
    assert steps >= 6


def test_the_specification_is_what_random_machines_do():
    total = 0

    @settings(max_examples=80, deadline=None, derandomize=True, database=None)
    @given(machines_and_words())
    def compare(machine_and_words):
        nonlocal total
        machine, words = machine_and_words
        total += sum(follow(machine, word, 7, 60) for word in words)

    compare()
    assert total >= 5_000


def test_with_one_bit_the_specification_names_places_as_the_layout_does():
    machine = TuringMachine({("A", "0"): ("B", "1", 1), ("B", "0"): ("B", "0", 0)}, "A", (), "0")
    net = compiled(machine, 2)
    assert net.bits == 1
    for step in specification(machine, 1, "", 2):
        for module, ones in step.items():
            assert ones <= set(net.layout_of(module).names())
    assert turing.verify(net, machine, [""]).steps == 2


@pytest.mark.parametrize(("adder", "of"), [("ripple", specification), ("lookahead", lookahead.specification)])
def test_the_specification_names_every_module_in_the_order_of_the_network_and_no_place_that_is_not_there(adder, of):
    net = compiled(adder=adder)
    for step in of(BALANCED, 7, "B()E", 100):
        assert list(step) == list(net.pipeline)
        for name, ones in step.items():
            assert ones <= set(net.layout_of(name).names())


# Damage.

adders = pytest.mark.parametrize("adder", ADDERS)
WORDS = ["B()()E", "B)E"]  # rules of all states, a cell left of the word, cells visited again after step 8


def damaged(net, parameter: torch.Tensor, place: list[int]) -> Report:
    """What verify says when one number of the network is 1 more."""
    with torch.no_grad():
        parameter[tuple(place)] += 1
        report = turing.verify(net, BALANCED, WORDS)
        parameter[tuple(place)] -= 1
    return report


@adders
def test_a_number_of_any_module_that_is_1_too_large_is_found_in_that_module(adder):
    """In every layer of every module, and in each of the four maps of every head."""
    net = compiled(BALANCED, 16, adder=adder)
    assert turing.verify(net, BALANCED, WORDS).steps == 18
    maps = 0
    for name, module in net.pipeline.items():
        for path, part in module.named_modules():
            numbers = [(own, place) for own in part.parameters(recurse=False) for place in own.nonzero().tolist()]
            reports = (damaged(net, parameter, place) for parameter, place in numbers)
            if numbers:
                found = next((report for report in reports if not report), None)  # some do not matter on these words
                assert found is not None, f"no number of {name}.{path} matters"
                assert {divergence.layer for divergence in found.divergences} == {name}
                maps += 1
    assert maps == {"ripple": 2 + 1 + 4 * 8 + 1 + 3, "lookahead": 5}[adder] + 7 * 5
    assert turing.verify(net, BALANCED, WORDS)


@pytest.mark.slow
@adders
def test_wherever_a_number_is_1_too_large_verify_finds_it_in_that_module_or_it_does_not_matter(adder):
    net = compiled(BALANCED, 16, adder=adder)
    caught, tried = Counter(), Counter()
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
    assert sum(tried.values()) >= {"ripple": 2_000, "lookahead": 500}[adder]
    assert sum(caught.values()) >= sum(tried.values()) // 3


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 1 + 2**-23, 1 - 2**-24])
def test_a_number_that_is_off_by_the_last_bit_or_no_number_is_a_divergence(number):
    net = compiled(BALANCED, 16)
    with torch.no_grad():
        net.pipeline["preprocess"].weight[net.layout.st["R"], net.layout.st["R"]] = number
    report = turing.verify(net, BALANCED, ["B()E"])
    (divergence,) = report.divergences
    assert (divergence.step, divergence.layer) == (1, "preprocess")
    if number == number and abs(number) < 2:
        assert (divergence.slice, divergence.place, divergence.given) == ("st", "st[R]", number)


@pytest.mark.parametrize(("adder", "layer"), zip(ADDERS, ["transition", "carry"], strict=True))
def test_another_rule_of_the_machine_is_found_in_the_matrix_that_holds_delta(adder, layer):
    rules = dict(BALANCED.delta)
    rules["R", ")"] = ("M", "*", 1)
    other = TuringMachine(rules, "I", {"T", "F"}, "E")
    report = turing.verify(compiled(other, 20, adder=adder), BALANCED, ["B((E", "B()E", "BE"])
    (divergence,) = report.divergences
    assert not report
    assert divergence == Divergence("B()E", 3, layer, "scr5", "scr5[R]", 1.0, 0.0, 3)
    assert str(divergence) == f"On the word 'B()E', at step 3, layer {layer} gives scr5[R] = 1 instead of 0."
    assert str(report).endswith(f"compared: 1 word with a divergence. {divergence}")


def test_each_word_has_its_own_first_divergence_and_is_compared_no_further():
    net = compiled(BALANCED, 20)
    with torch.no_grad():
        net.pipeline["v"].bias[net.layout.scr4["blank"]] = 0
    words = ["B", "B(E", "B((", "B()E"]
    report = turing.verify(net, BALANCED, words)
    found = [(divergence.word, divergence.step, divergence.layer) for divergence in report.divergences]
    assert found == [("B", 1, "v"), ("B((", 3, "v")]  # the heads of the others stay on their words
    assert "2 words with a divergence. On the word 'B', at step 1" in str(report)
    whole = turing.verify(compiled(BALANCED, 20), BALANCED, words)
    assert whole.steps == sum(BALANCED.run(word).steps for word in words)
    assert report.steps == whole.steps - BALANCED.run("B").steps + 1 - BALANCED.run("B((").steps + 3


# The softmax as the paper writes it.


def test_the_literal_softmax_diverges_and_verify_says_where_while_run_never_gives_a_wrong_answer():
    word = "B(((((())))))E"
    net = compiled(BALANCED, 100, average="literal")
    (divergence,) = turing.verify(net, BALANCED, [word]).divergences
    assert 1 < divergence.step < 100
    assert divergence.layer == "visited" or divergence.layer.startswith("search")
    assert divergence.slice in {"scr3", "scr4"}
    assert 0 < abs(divergence.given - 1) < 1e-6
    assert str(divergence).startswith(
        f"On the word '{word}', at step {divergence.step}, layer {divergence.layer} gives"
    )
    with pytest.raises(ArithmeticError, match=r"^At step") as alone:
        net.run(word)
    with pytest.raises(ArithmeticError) as in_a_batch:
        net.run_batch(["B()E", word])
    assert str(in_a_batch.value) == f"Word 1 of the batch: {alone.value}"
    right = compiled(BALANCED, 100)
    assert right.run(word) == BALANCED.run(word, 100)
    assert turing.verify(right, BALANCED, [word]).steps == 99


def test_the_first_divergence_of_the_literal_softmax_is_the_step_and_place_that_the_book_prints():
    net = compiled(BALANCED, 100, average="literal")
    (divergence,) = turing.verify(net, BALANCED, ["B(((((())))))E"]).divergences
    assert (divergence.step, divergence.layer, divergence.place) == (67, "visited", "scr4[visited]")
    assert f"{divergence.given:.8f}" == "1.00000012"


# Past the capacity.


@pytest.mark.parametrize(("move", "word"), [(1, ""), (1, "aaa"), (-1, "a"), (-1, "aaaaa"), (-1, "a" * 16)])
def test_verify_has_no_guard_and_diverges_at_the_step_at_which_a_run_is_stopped(move, word):
    machine = walker(move)
    net = compiled(machine, 16)
    step = full(machine, word, 4, 16)
    assert step is not None
    (divergence,) = turing.verify(net, machine, [word]).divergences
    assert divergence.step == step
    with pytest.raises(turing.CapacityError, match=f"At step {step} "):
        net.run(word)


# Room for rounding.


def test_a_number_is_compared_with_the_room_that_it_has_of_its_own_or_that_all_have():
    targets = [{0: Approx(Fraction(1, 2), Fraction(1, 8)), 1: Fraction(1), 2: Approx(0, Fraction(0))}]

    def wrong(*numbers, tolerance=Fraction(0)):
        return [place for _, place, *_ in _differences([[list(numbers)]], [0], targets, tolerance, None)]

    assert wrong(0.5, 1.0, 0.0, 0.0) == []
    assert wrong(0.625, 1.0, 0.0, 0.0) == []
    assert wrong(0.626, 0.75, 0.0, 0.25) == [0, 1, 3]
    assert wrong(0.626, 0.75, 1e-9, 0.25, tolerance=Fraction(1, 4)) == [0, 2]
    assert wrong(float("nan"), 1.0, float("nan"), 0.0, tolerance=Fraction(1)) == [0, 2]


# What it counts, and what it is given.


def test_a_report_counts_words_steps_and_numbers():
    net = compiled(BALANCED, 100)
    report = turing.verify(net, BALANCED, ["B()E", "B)(E"])
    each = sum(net.layout_of(name).width for name in net.pipeline)
    assert each == 8 * 66 + 15 * 59
    assert (report.words, report.steps, report.numbers) == (2, 9 + 3, 12 * each)
    assert report
    assert report.divergences == ()
    assert str(report) == f"2 words, 12 steps, {12 * each:,} numbers compared: no divergence."


def test_no_words_are_no_divergence():
    net = compiled(BALANCED, 5)
    assert turing.verify(net, BALANCED, []) == Report(0, 0, 0, 0, ())
    assert str(turing.verify(net, BALANCED, [""])) == "1 word, 1 step, 657 numbers compared: no divergence."


def test_more_words_than_a_batch_come_from_any_iterable_and_may_be_lists_of_symbols():
    machine = zoo["bb2"]
    net = compiled(machine, 8)
    report = turing.verify(net, machine, (iter(["0"] * (n % 3)) for n in range(BATCH + 3)))
    assert report.words == BATCH + 3
    assert report.steps == sum(machine.run("0" * (n % 3), 8).steps for n in range(BATCH + 3))


def test_max_steps_ends_the_comparison():
    net = compiled(BALANCED, 20)
    assert turing.verify(net, BALANCED, ["B()E"], max_steps=4).steps == 4
    assert turing.verify(net, BALANCED, ["B()E"], max_steps=0).steps == 0


def test_a_machine_that_is_equal_up_to_the_order_of_its_rules_is_the_same_machine():
    net = compiled(BALANCED, 20)
    turned = TuringMachine(dict(reversed(BALANCED.delta.items())), "I", {"T", "F"}, "E")
    assert turned.symbols != BALANCED.symbols
    assert turing.verify(net, turned, ["B()E", "B(E", "B)E"])


def test_a_divergence_on_a_word_of_several_symbols_prints_it():
    divergence = Divergence(("a b", "c"), 3, "last", "scr1", "scr1[c]", 0.5, 1.0, 3)
    assert str(divergence) == "On the word 'a b c', at step 3, layer last gives scr1[c] = 0.5 instead of 1."


BP = compiled(BALANCED, 20)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: turing.verify(BP, BALANCED, "B()E"), r"a list of words, and the one word 'B\(\)E' .* \['B\(\)E'\]"),
        (lambda: turing.verify(BP, BALANCED, 5), "verify takes a network, its machine and words, and .* and 5 were"),
        (lambda: turing.verify(BP, BALANCED, [5]), "A word is a string or a sequence of symbols, and 5 was given"),
        (lambda: turing.verify(BP, "bb2", ["B"]), "verify takes a network, its machine and words, and 'bb2' and"),
        (lambda: turing.verify(AND(2), BALANCED, ["B"]), "a network that turing.compile made, and AND was given"),
        (lambda: turing.verify(BALANCED, BP, ["B"]), "verify takes a network, its machine and words"),
        (lambda: turing.verify(BP, BALANCED, ["Bx"]), r"Symbol 'x' \(cell 1 of the word\) is not in this machine's"),
        (lambda: turing.verify(BP, BALANCED, ["B"], 21), "max_steps = 21 is more than T = 20"),
        (lambda: turing.verify(BP, BALANCED, ["B"], -1), "max_steps must be an integer of at least 0, and -1"),
        (lambda: turing.verify(BP, zoo["bb2"], [""]), "6 states, .* 3 states, .* not have the same states"),
        (lambda: turing.verify(BP, BALANCED.rename(symbols={"(": "<"}), ["B<"]),
            r"do not have the same symbols\. The network's: \( \) \* B E"),
        (lambda: turing.verify(BP, BALANCED.rename(states={"V": "W"}), ["B"]), "do not have the same states"),
        (lambda: turing.verify(BP, turing.TuringMachine(BALANCED.delta, "I", BALANCED.halting, "*"), ["B"]),
            r"The blank of this network is 'E', and that of the machine '\*'"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_answered_with_what_was_expected(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()
