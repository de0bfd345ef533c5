"""The index for networks that find cells by numbers: plain attention's vectors, number for number, or a refusal."""

import itertools
import random
from collections import Counter
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from long_runs import LONG, PARENTHESES, STAYS, SWEEPER
from machines import machines_and_words, numbered

import turing
from turing import ir
from turing.attention import Attention
from turing.engine import History, Refusal
from turing.engine.history import _ByAverage, _ByDirection, _LastVisit
from turing.machine import TuringMachine
from turing.merrill import Merrill24
from turing.perez import Perez21
from turing.zoo import NAMES, zoo

torch.set_num_threads(1)
slow = pytest.mark.slow
KINDS = [Perez21, Merrill24]
kinds = pytest.mark.parametrize("kind", KINDS)


def agree(network, machine, word, steps):
    """Compare the index with plain attention at every pass, and both with the machine; how many steps there were."""
    run = network.run(word, steps, engine="indexed", check=True)
    right = machine.run(word, steps)
    assert run == right
    assert numbered(network.trace(word, steps, engine="indexed")) == numbered(machine.trace(word, steps))
    return run.steps + (run.status == "jammed")


# The machine's runs, and plain attention's vectors.


@kinds
@pytest.mark.parametrize("longest", [2, pytest.param(8, marks=slow)])
def test_every_word_of_parentheses_is_run_as_by_plain_attention(kind, longest):
    network = kind(PARENTHESES)
    words = ["".join(word) for n in range(longest + 1) for word in itertools.product("()", repeat=n)]
    steps = sum(agree(network, PARENTHESES, f"B{word}E", 1_000) for word in words)
    print(f"{kind.construction}: {len(words):,} words, {steps:,} steps")
    assert steps >= {2: 30, 8: 5_000}[longest]


@slow
@kinds
@pytest.mark.parametrize("name", NAMES)
def test_a_machine_of_the_zoo_is_run_as_by_plain_attention(kind, name):
    network = kind(zoo[name])
    for sample in zoo.entry(name).samples:
        assert agree(network, zoo[name], sample.word, 100) >= min(100, sample.steps)


@kinds
@pytest.mark.parametrize(("examples", "steps"), [(5, 15), pytest.param(200, 60, marks=slow)])
def test_random_machines_are_run_as_by_plain_attention(kind, examples, steps):
    tried = Counter()

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(machines_and_words(words=1, longest=4, most_states=5, most_symbols=5))
    def compare(machine_and_words):
        machine, (word,) = machine_and_words
        tried["machines"] += 1
        tried["steps"] += agree(kind(machine), machine, word, steps)

    compare()
    print(kind.construction, dict(tried))
    assert tried["machines"] >= examples
    assert tried["steps"] >= 5 * examples


@kinds
def test_vectors_names_and_passes_are_those_of_plain_attention_also_when_a_run_is_over(kind):
    network, words = kind(PARENTHESES), ["B()E", "", "BB"]
    plain, found = (list(network.vectors(words, 12, engine=engine)) for engine in ("torch", "indexed"))
    assert len(found) == len(plain) > 12 - 1
    for ours, theirs in zip(found, plain, strict=True):
        assert list(ours) == list(theirs) == ["column", *network.pipeline]
        assert ours == theirs
    assert turing.verify(network, PARENTHESES, words, engine="indexed")
    runs = network.run_batch(words, engine="indexed")
    assert runs == network.run_batch(words)
    assert [run.micro_steps for run in runs] == [network.run(word).micro_steps for word in words]


@kinds
@pytest.mark.parametrize("name", LONG)
def test_a_long_run_is_the_machines(kind, name):
    machine, word = LONG[name]
    steps = 400 if kind is Perez21 else 150
    assert kind(machine).run(word, steps, engine="indexed") == machine.run(word, steps)


@slow
@kinds
def test_after_20_000_steps_bb5_is_where_the_oracle_is(kind):
    assert kind(zoo["bb5"]).run("", 20_000, engine="indexed") == zoo["bb5"].run("", 20_000)


@kinds
def test_what_is_kept_grows_with_the_cells_and_not_with_the_steps(kind):
    to_and_fro = TuringMachine({("A", "0"): ("B", "0", 1), ("B", "0"): ("A", "0", -1)}, "A", (), "0")
    history = History(kind(to_and_fro), "")
    state = history.network.start([""])
    for _ in range(60):
        state = history.step(state)
    assert len(history.indexes["last"].visits) <= 4
    assert all(len(keys) <= 3 for keys, _ in state.memory.values())


# The weights alone.


@kinds
def test_the_index_does_not_know_the_rules(kind):
    rules = dict(PARENTHESES.delta) | {("V", "*"): ("T", "*", 1)}
    other = TuringMachine(rules, "I", {"T", "F"}, "E")
    network = kind(PARENTHESES)
    network.load_state_dict(kind(other).state_dict())
    assert network.run("B()E", engine="indexed") == other.run("B()E") != PARENTHESES.run("B()E")


def outcome(network, word, engine, steps):
    try:
        return network.run(word, steps, engine=engine)
    except ArithmeticError as error:
        return type(error), str(error)


def equals_plain_or_refuses(network, word, steps, counts):
    """Compare vectors and ends of a network with changed numbers; count how they came out."""
    plain, found = network.vectors([word], steps), network.vectors([word], steps, engine="indexed")
    try:
        for ours, theirs in zip(found, plain, strict=True):
            assert repr(ours) == repr(theirs) or ours == theirs  # NaN is not equal to itself
            counts["equal"] += 1
    except Refusal:
        counts["refused"] += 1
    end = outcome(network, word, "indexed", steps)
    if not isinstance(end, tuple) or end[0] is not Refusal:
        assert end == outcome(network, word, "torch", steps)
        counts["ends"] += 1


@kinds
@pytest.mark.parametrize(("sample", "steps"), [(25, 4), pytest.param(180, 12, marks=slow)])
def test_with_a_number_changed_vectors_and_ends_are_plain_attentions_or_refused(kind, sample, steps):
    """Numbers that are not 0, and in a long test as many that are, each greater by 1, one after the other."""
    network, counts, draw = kind(zoo["bb2"]), Counter(), random.Random(0)
    kinds_of = [lambda numbers: numbers != 0, lambda numbers: numbers == 0][: 1 + (sample > 25)]
    for chosen in kinds_of:
        places = [(numbers, place) for numbers in network.parameters() for place in chosen(numbers).nonzero().tolist()]
        for numbers, place in draw.sample(places, min(sample, len(places))):
            with torch.no_grad():
                numbers[tuple(place)] += 1
            equals_plain_or_refuses(network, "1", steps, counts)
            with torch.no_grad():
                numbers[tuple(place)] -= 1
    assert network.run("1", engine="indexed") == zoo["bb2"].run("1")
    print(kind.construction, dict(counts))
    assert counts["equal"] >= 2 * sample
    assert counts["refused"] >= sample // 10
    assert counts["ends"] >= sample // 3


@kinds
def test_what_is_fetched_and_where_it_goes_is_up_to_the_weights(kind):
    network, engines = kind(PARENTHESES), ("torch", "indexed")
    right = next(network.vectors(["B()E"], 1))
    with torch.no_grad():
        for part in ("value", "write"):
            getattr(network.pipeline["last"], part).bias_numerators += 2
    plain, found = (list(itertools.islice(network.vectors(["B()E"], 2, engine=engine), 2)) for engine in engines)
    assert found == plain
    assert found[0] != right


# Refusals.


@kinds
@pytest.mark.parametrize("part", ["query.numerators", "query.bias_numerators", "key.numerators", "key.bias_numerators"])
def test_a_changed_number_of_the_look_up_is_refused_by_name(kind, part):
    network = kind(PARENTHESES)
    network.get_parameter(f"pipeline.last.{part}").view(-1)[1] += 7
    with pytest.raises(Refusal, match=rf"pipeline\.last\.{part}\[.*\] is 7, and a look-up has 0 there\. Take engine="):
        network.run("B()E", engine="indexed")


@kinds
def test_an_average_with_keys_that_differ_is_refused_by_name_and_one_with_other_equal_keys_is_not(kind):
    network = kind(PARENTHESES)
    network.pipeline["count"].key.bias_numerators += 3
    assert agree(network, PARENTHESES, "B()E", 5) == 5
    network.pipeline["count"].key.numerators[0, 2] = 1
    with pytest.raises(Refusal, match=r"pipeline\.count\.key\.numerators\[0, 2\] is 1, and a look-up has 0 there"):
        network.run("B()E", engine="indexed")


@kinds
@pytest.mark.parametrize("arithmetic", ["float32", "float64"])
def test_floats_are_refused_by_name(kind, arithmetic):
    message = rf"An index runs {kind.construction} in exact arithmetic, and this network is in {arithmetic}, where"
    network = kind(PARENTHESES, arithmetic)
    with pytest.raises(Refusal, match=message):
        network.run("B()E", engine="indexed")
    with pytest.raises(Refusal, match=message):
        next(network.trace("B()E", engine="indexed"))


@kinds
def test_hooks_and_heads_of_another_kind_are_refused(kind):
    network = kind(PARENTHESES)
    handle = network.pipeline["count"].register_forward_hook(lambda *_: None)
    with pytest.raises(Refusal, match=r"pipeline\.count has a hook"):
        network.run("B()E", engine="indexed")
    handle.remove()
    network.pipeline["last"].mask = "strict"
    with pytest.raises(Refusal, match=r"pipeline\.last has a null key, another score or another mask"):
        network.run("B()E", engine="indexed")
    network = kind(PARENTHESES)
    network.pipeline["other"] = network.pipeline["count"]
    with pytest.raises(Refusal, match=r"pipeline\.other is not one of the heads that an index replaces"):
        network.run("B()E", engine="indexed")


def test_other_constructions_have_no_such_index():
    with pytest.raises(ValueError, match=r"engine='indexed' runs wcm21, perez21, merrill24 networks; this is bhatt"):
        turing.compile(zoo["bb2"], "bhattamishra20").run("", engine="indexed")
    with pytest.raises(ValueError, match=r"engine='native' runs wcm21, .*; this is perez21\. Take engine='torch'"):
        turing.compile(zoo["bb2"], "perez21").run("", engine="native")


def test_a_query_for_a_cell_that_is_too_far_is_refused_with_its_pass():
    network = Perez21(PARENTHESES)
    with torch.no_grad():
        network.pipeline["transition"][1].numerators[network.layout.mov2[0]] *= 2
    with pytest.raises(Refusal, match=r"At pass 1, last asks on cell 0 for cell 2, where no column has been\. Take"):
        network.run("B()E", engine="indexed")


def test_vectors_that_are_not_averages_are_refused_with_their_pass():
    network = Perez21(PARENTHESES)
    with torch.no_grad():
        network.pipeline["count"].value.numerators[1] *= 3
        network.pipeline["count"].write.denominator = 2
    with pytest.raises(Refusal, match=r"At pass \d, the query of last is \(3/2, 3, 1\), and an index takes \(3c/i"):
        network.run("B()E", engine="indexed")


def test_ages_that_do_not_shrink_or_are_too_large_are_refused_with_their_pass():
    for place, value, number in ((0, 0, 1), (1, 5, 2), (0, 1, 1)):
        network = Merrill24(PARENTHESES)
        second = network.pipeline["address"][1]
        first = second.layouts[0].start[place]
        with torch.no_grad():
            second.numerators[network.layout.psi[0], first] = value * second.denominator // (1 if value == 1 else 1000)
            second.numerators[network.layout.psi[2], first] = -second.numerators[network.layout.psi[0], first]
        message = rf"At pass {number}, the key of last is \(.*\), and an index takes \(φ\(c, 1\), −ψ\) with an integer"
        with pytest.raises(Refusal, match=message):
            network.run("B()E", engine="indexed")


def test_where_exact_arithmetic_has_no_result_there_is_none_by_the_index_either():
    network = Merrill24(PARENTHESES)
    with torch.no_grad():
        network.pipeline["address"][1].numerators.zero_()
        network.pipeline["address"][1].bias_numerators.zero_()
    plain, found = (list(network.vectors(["B()E"], 3, engine=engine)) for engine in ("torch", "indexed"))
    assert repr(found) == repr(plain)
    assert "nan" in repr(found)
    assert outcome(network, "B()E", "indexed", 3) == outcome(network, "B()E", "torch", 3)


# The proposition: whatever the cells are, the index fetches what has the best score, or refuses.


def averages(network, i, own, asked):
    numbers = [0] * network.layout.width
    numbers[network.layout.avg2[0]], numbers[network.layout.avg3[0]] = Fraction(asked, i), Fraction(own, i)
    numbers[network.layout.pos.slice] = ir.POSITIONS["powers"](i - 1, 4)
    return network.vector(numbers)


def directions(network, i, own, asked):
    numbers, f = [0] * network.layout.width, Fraction(5 - i, 1000)
    for name, cell in (("phi1", asked), ("phi2", own), ("psi", f)):
        numbers[network.layout[name].slice] = [cell, 1, -cell, -1]
    return network.pipeline["norm"](network.vector(numbers))


@pytest.mark.parametrize(
    ("kind", "index", "column"), [(Perez21, _ByAverage, averages), (Merrill24, _ByDirection, directions)]
)
@pytest.mark.parametrize(("columns", "far"), [(3, 2), pytest.param(4, 3, marks=slow)])
def test_for_any_cells_the_index_fetches_the_column_with_the_best_score_or_refuses(kind, index, column, columns, far):
    network = kind(SWEEPER)
    head, counts, cells = network.pipeline["last"], Counter(), range(-far, far + 1)
    head.value = torch.nn.Identity()  # so that we see which column it was
    for own in itertools.product(cells, repeat=columns):
        for asked in range(-far - 1, far + 2):
            seen = [column(network, i, c, asked) for i, c in enumerate(own, start=1)]
            lookup = index()
            try:
                for x in seen[:-1]:
                    lookup.newest_wins = lambda *_: True  # only the last one is asked about
                    lookup.fetch(head, x)
                del lookup.newest_wins
                found = lookup.fetch(head, seen[-1])
            except Refusal:
                counts["refused"] += 1
                continue
            shares = head.weights(seen[-1], [head.key(x) for x in seen])
            assert found == seen[shares.index(1)], (own, asked)
            counts["visited" if asked in own else "new"] += 1
    print(kind.construction, dict(counts))
    assert min(counts[end] for end in ("visited", "new", "refused")) >= 40


# The check mode.


class First(dict):
    """An index that keeps the first visit of each cell, and not the last one."""

    def __setitem__(self, cell, visit):
        self.setdefault(cell, visit)


@kinds
def test_the_check_mode_finds_an_index_that_keeps_the_first_visit(kind, monkeypatch):
    begin = _LastVisit.__init__

    def broken(self):
        begin(self)
        self.visits = First()

    monkeypatch.setattr(_LastVisit, "__init__", broken)
    message = r"At pass \d+, layer last, \S+ is \d+ by the index, and \d+ if all columns are scanned"
    with pytest.raises(AssertionError, match=message):
        kind(PARENTHESES).run("B(())E", engine="indexed", check=True)


def test_stays_are_found_by_the_index():
    for kind in KINDS:
        assert agree(kind(STAYS), STAYS, "1", 12) > 3
    assert any(isinstance(module, Attention) for module in Merrill24(STAYS).pipeline.values())
