"""The transformer of Merrill and Sabharwal: whole traces against the oracle, addresses, and floats until they end."""

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
from turing.exact import Surd
from turing.machine import TuringMachine
from turing.merrill import Merrill24
from turing.merrill.network import ROUNDINGS
from turing.precision import PrecisionError, check_margin
from turing.zoo import NAMES, zoo

torch.set_num_threads(1)  # on small matrices threads wait for each other
slow = pytest.mark.slow


# The network, exactly, against the oracle.


@pytest.mark.parametrize("longest", [5, pytest.param(8, marks=slow)])
def test_every_word_of_parentheses_is_traced_as_the_machine_does(longest):
    network = turing.compile(PARENTHESES, "merrill24")
    words = ["".join(word) for n in range(longest + 1) for word in product("()", repeat=n)]
    total = sum(same(network, PARENTHESES, f"B{word}E", 1_000) for word in words)
    print(f"{len(words):,} words, {total:,} configurations")
    assert len(words) == 2 ** (longest + 1) - 1
    assert total >= {5: 496, 8: 5_000}[longest]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("steps", [40, pytest.param(300, marks=slow)])
def test_a_machine_of_the_zoo_is_traced_on_its_samples(name, steps):
    machine = zoo[name]
    network = turing.compile(machine, "merrill24")
    words = [sample.word for sample in zoo.entry(name).samples]
    assert sum(same(network, machine, word, steps) for word in words) > len(words)


@pytest.mark.parametrize(("examples", "least"), [(20, 800), pytest.param(200, 9_000, marks=slow)])
def test_random_machines_are_traced_on_random_words(examples, least):
    tried = Counter()

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(machines_and_words(words=2, longest=4, most_states=5, most_symbols=5))
    def compare(machine_and_words):
        machine, words = machine_and_words
        network = turing.compile(machine, "merrill24")
        moves = {move for _, _, move in machine.delta.values()}
        tried["machines"] += 1
        tried["machines with all three moves"] += len(moves) == 3
        tried["configurations"] += sum(same(network, machine, word, 60) for word in words)

    compare()
    print(dict(tried))
    assert tried["machines"] >= examples
    assert tried["machines with all three moves"] >= examples // 3
    assert tried["configurations"] >= least


def test_every_number_is_the_one_that_the_specification_gives():
    for machine, words in ((PARENTHESES, ["B()E", "B)E", "B(()E", ""]), (STAYS, ["", "1"]), (SWEEPER, [""])):
        report = turing.verify(Merrill24(machine), machine, words, 30)
        assert report
        assert report.numbers > 2_000
        assert report.passes == report.steps


def test_a_step_is_one_token_and_the_width_does_not_depend_on_the_run():
    for machine in (PARENTHESES, zoo["bb5"], STAYS):
        network = Merrill24(machine)
        assert network.layout.width == len(machine.states) + 3 * len(machine.symbols) + 23
        run = network.run("", 12)
        assert run.micro_steps == run.steps


def test_no_limit_of_steps_means_the_same_as_for_ss95():
    for name in ("merrill24", "ss95"):
        assert turing.compile(PARENTHESES, name).run("B()E", None) == PARENTHESES.run("B()E")


# Addresses.


def age(j):
    """f(j), as the chapter defines it."""
    return Fraction(6, 200 * j * (j - 1) * (j - 2) * (j - 3)) if j > 3 else Fraction(5 - j, 1000)


def over_root(number, square):
    """A rational divided by the root of another."""
    n = square.numerator * square.denominator
    return Surd({n: Fraction(number) * square.denominator / n})


def product_of(q, k):
    """φ_q · φ_k."""
    return over_root(q * k + 1, Fraction((q * q + 1) * (k * k + 1)))


@pytest.mark.parametrize(("machine", "word"), [(PARENTHESES, "B(())E"), (SWEEPER, ""), (STAYS, "1")])
def test_scores_are_those_of_the_formula_and_the_last_visit_has_the_greatest(machine, word):
    network, cells = Merrill24(machine), [now.head for now in machine.trace(word, 30)]
    keys = [0, *cells]  # key j is the cell on which step j − 1 wrote
    head, state = network.pipeline["last"], network.start([word])
    for i, cell in enumerate(cells, start=1):
        state = network.step(state)
        scores = head._exact_scores(state.vectors["word"], state.memory["last"][0])
        for j, score in enumerate(scores, start=1):
            assert score == product_of(cell, keys[j - 1]) - over_root(age(j), 2 * (age(j) ** 2 + 1))
        visits = [j for j in range(1, i + 1) if keys[j - 1] == cell]
        (best,) = [j for j, score in enumerate(scores, start=1) if score == max(scores)]
        assert best == (visits[-1] if visits else i)
        if not visits:
            assert abs(keys[best - 1] - cell) == 1


def test_the_tie_break_is_less_than_the_distance_to_the_next_cell():
    """The first columns one by one; from column 4 on by a polynomial whose coefficients are not negative."""
    for j in range(1, 1_001):
        c = max(j - 2, 0)  # the farthest cell on which column j can have written
        assert j == 1 or age(j) < age(j - 1)
        assert age(j) < Fraction(1, 2 * (c * c + 1) * ((c + 1) ** 2 + 1))
        if j <= 100:
            assert over_root(age(j), 2 * (age(j) ** 2 + 1)) < 1 - product_of(c, c + 1)
    for m in range(50):
        j, rest = m + 4, Fraction(13 * m**4 + 130 * m**3 + 407 * m**2 + 410 * m, 12)
        assert Fraction(25, 12) * j * (j - 1) * (j - 2) * (j - 3) - ((j - 2) ** 2 + 1) * ((j - 1) ** 2 + 1) == rest


def test_a_word_is_seen_with_a_blank_on_each_side():
    network = Merrill24(PARENTHESES)
    for word in ("", "B", "B()E"):
        rows = network.encode(word)
        assert len(rows) == len(word) + 2
        shown = [PARENTHESES.symbols[row[network.layout.sym1.slice].numerators.index(row.denominator)] for row in rows]
        assert shown == ["E", *word, "E"]


def test_digits_grow_with_the_logarithm_of_the_step():
    """Numbers of a column have denominators up to a multiple of i⁴, under the root up to its square."""
    network = Merrill24(SWEEPER)
    for i, vectors in enumerate(network.vectors([""], 40), start=1):
        for (vector,) in vectors.values():
            assert vector.denominator <= 200 * max(i, 5) ** 4
            assert all(root <= 2 * (200 * max(i, 5) ** 4) ** 2 + 2 for root in vector.roots.values())


# Floats.


def first_events(name, arithmetic, steps):
    """The first step at which a head fetches anything else than in exact arithmetic, and the first that is refused."""
    machine, word = LONG[name]
    network = Merrill24(machine, arithmetic)
    state, last, before, refused = network.start([word]), {}, 0, None
    with torch.no_grad():
        for i, now in enumerate(machine.trace(word, steps), start=1):
            last[before] = i
            state = network.step(state)
            nearest = min(max(now.head, -1), len(word))
            right = {"word": ("norm", nearest + 1), "last": ("word", last.get(now.head, i) - 1)}
            for name, (of, place) in right.items():
                head, column, keys = network.pipeline[name], state.vectors[of].reshape(1, -1), state.memory[name][0]
                if refused is None:
                    try:
                        check_margin(name, head, column, keys, ROUNDINGS)
                    except PrecisionError:
                        refused = i
                scores = head.scores(column, keys.reshape(-1, keys.shape[-1])).flatten()
                if (scores == scores.max()).nonzero().flatten().tolist() != [place]:
                    return i, refused
            before = now.head
    return None, refused


@every_long_run
@pytest.mark.parametrize(("arithmetic", "steps"), [("float32", 100), pytest.param("float64", 1_500, marks=slow)])
def test_floats_are_refused_before_their_first_wrong_fetch(name, arithmetic, steps):
    wrong, refused = first_events(name, arithmetic, steps)
    print(f"{name}: {arithmetic} refused at step {refused}, wrong at step {wrong}")
    assert refused <= wrong
    assert refused >= {"float32": 20, "float64": 500}[arithmetic]
    if arithmetic == "float64":
        assert 2 * refused >= wrong


@every_long_run
@pytest.mark.parametrize("arithmetic", ["float32", pytest.param("float64", marks=slow)])
def test_a_run_in_floats_is_right_up_to_the_step_that_is_refused(name, arithmetic):
    machine, word = LONG[name]
    done = []
    with pytest.raises(PrecisionError) as error:
        done += (numbered([now])[0] for now in Merrill24(machine, arithmetic).trace(word, 2_000))
    assert done == numbered(machine.trace(word, len(done) - 1))
    assert len(done) >= {"float32": 20, "float64": 500}[arithmetic]
    assert re.match(
        rf"At step {len(done)} head '(last|word)' cannot tell (column|row) \d+ from \2 \d+: their scores differ by "
        rf"\S+, and rounding in {arithmetic} may change that by \S+\. Use a wider number type, or arithmetic='exact'\.",
        str(error.value),
    )


# Damage.


def test_a_number_of_any_module_that_is_1_too_large_is_found_there_with_step_and_slice():
    network, words = Merrill24(PARENTHESES, "float64"), ["B()E", "B)E"]
    assert turing.verify(network, PARENTHESES, words)
    for name, module in network.pipeline.items():
        if name == "norm":  # which has no parameters
            continue
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
        assert first.place.startswith(first.slice)
        assert first.slice in [part.name for part in network.layout]
    assert turing.verify(network, PARENTHESES, words)


def test_a_norm_with_an_epsilon_is_found_by_verify():
    """What torch's own layer norm adds before it divides."""
    network = Merrill24(PARENTHESES, "float64")
    norm = network.pipeline["norm"]
    norm.floats = lambda x: x / (x.square().sum(-1, keepdim=True) + 1e-5).sqrt()
    first = turing.verify(network, PARENTHESES, ["B()E"]).divergences[0]
    assert (first.layer, first.slice) == ("norm", "phi1")


# Bad input.


def test_an_option_without_a_meaning_is_refused_by_name():
    with pytest.raises(TypeError, match=r"merrill24: .*'T'\. Its options: arithmetic\."):
        turing.compile(PARENTHESES, "merrill24", T=100)
    with pytest.raises(ValueError, match=r"An arithmetic is one of .*, and 'float16' was given"):
        turing.compile(PARENTHESES, "merrill24", arithmetic="float16")


def test_a_word_or_a_machine_that_does_not_fit_is_refused():
    network = Merrill24(PARENTHESES)
    with pytest.raises(ValueError, match="Symbol 'x'"):
        network.run("Bx")
    with pytest.raises(ValueError, match="do not have the same states"):
        turing.verify(network, zoo["bb2"], [""])


def test_a_machine_without_a_rule_for_its_start_jams_at_once():
    machine = TuringMachine({("B", "0"): ("A", "0", 1)}, "A", set(), "_", alphabet=["_"])
    for word in ("", "0"):
        assert Merrill24(machine).run(word).status == "jammed"
        assert Merrill24(machine).run(word) == machine.run(word)


def test_symbols_that_are_named_like_slices_are_only_symbols():
    machine = TuringMachine(
        {("odd", "mov"): ("odd", "psi", 1), ("odd", "psi"): ("phi", "mov", -1), ("odd", "sym1"): ("psi", "mov", 0)},
        "odd", {"psi"}, "sym1", alphabet=["mov", "psi", "sym1"],
    )  # fmt: skip
    network = Merrill24(machine)
    for word in (["mov", "psi"], ["mov"], []):
        assert network.run(word, 20) == machine.run(word, 20)


def test_verify_names_the_module_in_which_exact_arithmetic_has_no_result():
    """Numbers over different roots cannot be added, and zeros have no direction."""
    network = Merrill24(PARENTHESES)
    with torch.no_grad():
        network.pipeline["last"].key.bias_numerators[0] += 1
    assert turing.verify(network, PARENTHESES, ["B()E", "B)E"]).divergences[0].layer == "last"
    network = Merrill24(PARENTHESES)
    with torch.no_grad():
        network.pipeline["address"][1].numerators.zero_()
        network.pipeline["address"][1].bias_numerators.zero_()
    report = turing.verify(network, PARENTHESES, ["B()E", "B)E"])
    assert [(found.layer, found.step) for found in report.divergences] == [("address", 1)] * 2
