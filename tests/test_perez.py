"""The transformer of Pérez et al.: its normal form and its whole traces against the oracle, and where floats end."""

import re
from collections import Counter
from fractions import Fraction
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from long_runs import LONG, PARENTHESES, STAYS, SWEEPER, every_long_run, same
from machines import machines_and_words, numbered

import turing
from turing.machine import TuringMachine
from turing.perez import NormalForm, Perez21
from turing.precision import PrecisionError, check_margin
from turing.zoo import NAMES, zoo

torch.set_num_threads(1)  # on small matrices threads wait for each other
slow = pytest.mark.slow


# The network, exactly, against the oracle.


@pytest.mark.parametrize("longest", [5, pytest.param(8, marks=slow)])
def test_every_word_of_parentheses_is_traced_as_the_machine_does(longest):
    network = turing.compile(PARENTHESES, "perez21")
    words = ["".join(word) for n in range(longest + 1) for word in product("()", repeat=n)]
    total = sum(same(network, PARENTHESES, f"B{word}E", 1_000) for word in words)
    print(f"{len(words):,} words, {total:,} configurations")
    assert len(words) == 2 ** (longest + 1) - 1
    assert total >= {5: 496, 8: 5_581}[longest]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("steps", [60, pytest.param(300, marks=slow)])
def test_a_machine_of_the_zoo_is_traced_on_its_samples(name, steps):
    machine = zoo[name]
    network = turing.compile(machine, "perez21")
    words = [sample.word for sample in zoo.entry(name).samples]
    total = sum(same(network, machine, word, steps) for word in words)
    assert total > len(words)


@pytest.mark.parametrize(("examples", "least"), [(25, 1_000), pytest.param(200, 12_000, marks=slow)])
def test_random_machines_are_traced_on_random_words(examples, least):
    tried = Counter()

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(machines_and_words(words=2, longest=4, most_states=5, most_symbols=5))
    def compare(machine_and_words):
        machine, words = machine_and_words
        network = turing.compile(machine, "perez21")
        tried["machines"] += 1
        tried["stays"] += bool(network.form.stays)
        tried["configurations"] += sum(same(network, machine, word, 60) for word in words)

    compare()
    print(dict(tried))
    assert tried["machines"] >= examples
    assert tried["stays"] >= examples // 2
    assert tried["configurations"] >= least


def test_every_number_is_the_one_that_the_specification_gives():
    report = turing.verify(Perez21(PARENTHESES), PARENTHESES, ["B()E", "B)E", "B(()E", ""])
    assert report
    assert report.numbers > 10_000
    assert report.passes > report.steps


def test_the_width_is_that_of_the_paper_and_does_not_depend_on_the_run():
    for machine in (PARENTHESES, zoo["bb5"], STAYS):
        network = Perez21(machine)
        form = network.form.machine
        assert network.layout.width == 2 * len(form.states) + 4 * len(form.symbols) + 11
    assert Perez21(PARENTHESES).layout.width == 53


def test_a_run_reports_the_machines_steps_and_a_token_for_each_step_of_the_normal_form():
    for machine, word in ((PARENTHESES, "B(())E"), (STAYS, "1"), (SWEEPER, "")):
        network = Perez21(machine)
        run = network.run(word, 12)
        assert run == machine.run(word, 12)
        stays = sum(
            machine.delta[now.state, now.symbol][2] == 0 for now in list(machine.trace(word, run.steps))[: run.steps]
        )
        assert run.micro_steps == 2 * len(word) + 3 + run.steps + stays


def test_no_limit_of_steps_means_the_same_as_for_ss95():
    for name in ("perez21", "ss95"):
        assert turing.compile(PARENTHESES, name).run("B()E", None) == PARENTHESES.run("B()E")


# The head that fetches the last visit.


def test_scores_are_those_of_the_formula_and_the_last_visit_has_the_greatest():
    network, word = Perez21(PARENTHESES), "B()E"
    head, form = network.pipeline["last"], NormalForm(PARENTHESES)
    cells = [now.head for now in form.machine.trace(form.word(word))]
    state = network.start([word])
    for i in range(1, len(cells)):
        state = network.step(state)
        scores = head._exact_scores(state.vectors["count"], state.memory["last"][0])
        assert scores == [
            -abs(Fraction(3 * (cells[i] - cells[j - 1]), i * j) + Fraction(1, i * i * j)) for j in range(1, i + 1)
        ]
        visits = [j for j in range(1, i + 1) if cells[j - 1] == cells[i]]
        (best,) = [j for j, score in enumerate(scores, start=1) if score == max(scores)]
        assert best == (visits[-1] if visits else i)


def test_digits_grow_with_the_logarithm_of_the_step():
    """Numbers of the columns have denominators up to i², scores up to i²j."""
    network = Perez21(SWEEPER)
    for i, vectors in enumerate(network.vectors([""], 40), start=1):
        for (vector,) in vectors.values():
            assert all(abs(x.numerator) <= max(i + 1, 3) and x.denominator <= (i + 1) ** 2 for x in vector)


# Floats.


def first_events(name, arithmetic, passes):
    """The first pass that fetches another step than the exact network, and the first that the guard refuses."""
    machine, word = LONG[name]
    network = Perez21(machine, arithmetic)
    form, head = network.form, network.pipeline["last"]
    trace = form.machine.trace(form.word(word), passes)
    before, last, state, refused = next(trace), {}, network.start([word]), None
    with torch.no_grad():
        for now in trace:
            last[before.head] = before.step + 1
            state = network.step(state)
            if refused is None:
                try:
                    check_margin("last", head, state.vectors["count"], state.memory["last"][0], (2, 4))
                except PrecisionError:
                    refused = now.step
            fetched = state.vectors["last"][network.layout.step[0]].item()
            if fetched != last.get(now.head, now.step):
                return now.step, refused
            before = now
    return None, refused


FLOAT32 = {"bb5": 247, "nest of 60": 312, "sweeper": 301}


@every_long_run
def test_float32_is_refused_before_its_first_wrong_fetch(name):
    """The first wrong fetch depends on how a processor adds: a fused product and sum rounds once less."""
    wrong, refused = first_events(name, "float32", 700)
    print(f"{name}: float32 refused at pass {refused}, wrong at pass {wrong}")
    assert refused == FLOAT32[name]
    assert wrong is None or refused < wrong


@every_long_run
@pytest.mark.parametrize("passes", [800, pytest.param(12_000, marks=slow)])
def test_float64_is_neither_wrong_nor_refused(name, passes):
    assert first_events(name, "float64", passes) == (None, None)


@every_long_run
def test_a_run_in_float32_is_right_up_to_the_step_that_is_refused(name):
    machine, word = LONG[name]
    network = Perez21(machine, "float32")
    trace, done = network.trace(word, 700), []
    with pytest.raises(turing.PrecisionError) as error:
        done += (numbered([now])[0] for now in trace)
    right = numbered(machine.trace(word, len(done)))
    assert done == right[: len(done)]
    assert re.match(
        rf"At step {len(done)} head 'last' cannot tell column \d+ from column \d+: their scores differ by \S+, and "
        rf"rounding in float32 may change that by \S+\. Use a wider number type, or arithmetic='exact'\.",
        str(error.value),
    )
    assert len(done) == max(0, FLOAT32[name] - (2 * len(word) + 3))


def test_a_precision_error_is_an_arithmetic_error_of_the_package():
    assert turing.PrecisionError is PrecisionError
    assert issubclass(PrecisionError, ArithmeticError)


# Damage.


def test_a_number_of_any_module_that_is_1_too_large_is_found_there_with_step_and_slice():
    network, words = Perez21(PARENTHESES, "float64"), ["B()E", "B)E"]
    assert turing.verify(network, PARENTHESES, words)
    for name, module in network.pipeline.items():
        places = ((own, place) for own in module.parameters() for place in own.nonzero().tolist())
        for parameter, place in places:
            with torch.no_grad():
                parameter[tuple(place)] += 1
                report = turing.verify(network, PARENTHESES, words)
                parameter[tuple(place)] -= 1
            if not report:
                break
        first = report.divergences[0]
        assert first.layer == name
        assert first.step >= 1
        assert first.number >= first.step
        assert first.slice in [part.name for part in network.layout]
        assert first.place.startswith(first.slice)
    assert turing.verify(network, PARENTHESES, words)


# The normal form.


def blanks_as(form, tape):
    return {cell - 1: form.symbol(symbol) for cell, symbol in tape.items() if form.symbol(symbol) != form.source.blank}


@pytest.mark.parametrize("machine", [PARENTHESES, STAYS, SWEEPER], ids=["parentheses", "stays", "sweeper"])
def test_the_normal_form_does_what_the_machine_does(machine):
    form = NormalForm(machine)
    letters = [*machine.symbols]
    for word in (word for n in range(4) for word in product(letters, repeat=n)):
        given = machine.run(word, 30)
        run = form.machine.run(form.word(word), form.read_steps(word) + 2 * 30)
        if given.status == "limit":
            continue
        assert (run.status, run.state) == (given.status, given.state)
        assert blanks_as(form, run.tape) == given.tape
        assert run.head == given.head + 1


def test_the_normal_form_reads_its_word_in_2n_and_3_steps():
    form = NormalForm(PARENTHESES)
    for word in ("", "B", "B()E", "B(()())E"):
        trace = form.machine.trace(form.word(word), 100)
        start = next(now for now in trace if now.state == PARENTHESES.initial)
        assert start.step == form.read_steps(word) == 2 * len(word) + 3
        assert start.head == 1


def test_the_normal_form_never_stays_and_takes_two_moves_for_a_stay():
    form = NormalForm(STAYS)
    assert all(move for _, _, move in form.machine.delta.values())
    assert set(form.stays) == {"A", "B"}
    assert NormalForm(PARENTHESES).stays == {}


def test_marks_and_states_that_are_taken_get_other_names():
    machine = TuringMachine(
        {("read", "#"): ("enter", "_", 1), ("enter", "_"): ("to back", "#", 0), ("to back", "#"): ("back", "#′", -1)},
        "read", {"back"}, "_", alphabet=["#", "#′", "_"],
    )  # fmt: skip
    form = NormalForm(machine)
    assert form.mark == "#′′"
    assert set(form.reading).isdisjoint(machine.states)
    assert set(form.stays.values()).isdisjoint({*machine.states, *form.reading})
    assert len(set(form.machine.states)) == len(machine.states) + 3 + len(form.stays)
    assert same(Perez21(machine), machine, ["#"], 10) == 4


def test_blanks_inside_the_word_do_not_end_it():
    network = Perez21(PARENTHESES)
    for word in ("EB()E", "BEE()E", "EEE", "B(E)E"):
        same(network, PARENTHESES, word, 20)


def test_the_empty_word_is_read_in_three_steps():
    run = Perez21(zoo["bb2"]).run("")
    assert run == zoo["bb2"].run("")
    assert run.micro_steps == run.steps + 3


# Bad input.


def test_an_option_without_a_meaning_is_refused_by_name():
    with pytest.raises(TypeError, match=r"perez21: .*'T'\. Its options: arithmetic\."):
        turing.compile(PARENTHESES, "perez21", T=100)
    with pytest.raises(ValueError, match=r"An arithmetic is one of .*, and 'float16' was given"):
        turing.compile(PARENTHESES, "perez21", arithmetic="float16")


def test_a_word_or_a_machine_that_does_not_fit_is_refused():
    network = Perez21(PARENTHESES)
    with pytest.raises(ValueError, match="x"):
        network.run("Bx")
    with pytest.raises(ValueError, match="do not have the same states"):
        turing.verify(network, zoo["bb2"], [""])
    for nothing in (None, "1RB"):
        with pytest.raises(TypeError, match="NormalForm takes a TuringMachine, and"):
            NormalForm(nothing)


def test_a_machine_jams_where_it_has_no_rule():
    machine = TuringMachine({("A", "0"): ("A", "0", 1)}, "A", set(), "_", alphabet="1_")
    for word in ("", "1", "00"):
        assert Perez21(machine).run(word).status == "jammed"
        assert Perez21(machine).run(word) == machine.run(word)
