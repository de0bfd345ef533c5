"""The interpreter: what a run is, what a trace keeps, and how bad machines are refused."""

import copy
import gc
import itertools
import pickle
import tracemalloc
from collections import deque
from dataclasses import FrozenInstanceError, replace
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper import BALANCED, FIGURE_1, TABLE_2
from turing.machine import Configuration, TuringMachine


@pytest.fixture
def parentheses():
    return BALANCED


def one_rule(**changes):
    """A machine of one rule that runs right for ever, with some of its parts replaced."""
    parts = {"delta": {("A", "0"): ("A", "1", 1)}, "initial": "A", "halting": set(), "blank": "0"} | changes
    return TuringMachine(**parts)


# Runs.


def test_figure_1_of_the_paper_is_reproduced_line_for_line(parentheses):
    assert "\n".join(map(str, parentheses.trace("B()E"))) == FIGURE_1


def test_a_machine_halts_when_it_enters_a_halting_state(parentheses):
    run = parentheses.run("B()E")
    assert (run.status, run.state, run.steps, run.head) == ("halted", "T", 9, 1)
    assert run.tape == {0: "B", 1: "*", 2: "*"}
    assert run.micro_steps == run.steps


def test_a_machine_jams_where_no_rule_applies_and_keeps_its_last_defined_step(parentheses):
    run = parentheses.run("B(B")
    assert (run.status, run.state, run.steps, run.head) == ("jammed", "R", 2, 2)
    assert run.tape == {0: "B", 1: "(", 2: "B"}


def test_a_run_stops_at_its_limit(parentheses):
    run = parentheses.run("B()E", max_steps=4)
    assert (run.status, run.state, run.steps, run.head) == ("limit", "R", 4, 2)


def test_a_machine_that_halts_on_its_last_allowed_step_has_halted(parentheses):
    assert parentheses.run("B()E", max_steps=9).status == "halted"
    assert parentheses.run("B()E", max_steps=8).status == "limit"


def test_a_limit_of_no_steps_is_a_limit_too(parentheses):
    run = parentheses.run("B()E", max_steps=0)
    assert (run.status, run.state, run.steps, run.head) == ("limit", "I", 0, 0)
    assert len(list(run.trace)) == 1


def test_a_machine_that_starts_in_a_halting_state_takes_no_step():
    run = TuringMachine({("A", "0"): ("Z", "1", 1)}, "Z", {"Z"}, "0").run("0")
    assert (run.status, run.state, run.steps, run.tape) == ("halted", "Z", 0, {})


def test_the_tape_has_no_end_on_either_side():
    walk = {("A", "0"): ("A", "1", -1)}
    assert one_rule(delta=walk).run(max_steps=3).tape == {-2: "1", -1: "1", 0: "1"}
    assert one_rule().run(max_steps=3).tape == {0: "1", 1: "1", 2: "1"}


def test_a_move_of_0_leaves_the_head_where_it_is():
    run = TuringMachine({("A", "0"): ("B", "1", 0), ("B", "1"): ("Z", "2", 0)}, "A", {"Z"}, "0").run()
    assert (run.status, run.steps, run.head, run.tape) == ("halted", 2, 0, {0: "2"})


def test_the_tape_of_a_run_is_in_order_and_has_no_blanks():
    eraser = {("A", "1"): ("A", "0", 1), ("A", "2"): ("A", "2", 1), ("A", "0"): ("B", "2", -1)}
    run = TuringMachine(eraser, "A", {"B"}, "0").run("121")
    assert list(run.tape.items()) == [(1, "2"), (3, "2")]


@pytest.mark.parametrize("word", ["()", ["(", ")"], ("(", ")")], ids=["string", "list", "tuple"])
def test_a_word_is_a_string_or_any_sequence_of_symbols(parentheses, word):
    assert parentheses.tape(word) == {0: "(", 1: ")"}


def test_a_word_that_can_be_read_only_once_is_still_traced(parentheses):
    run = parentheses.run(iter("B()E"))
    assert "\n".join(map(str, run.trace)) == FIGURE_1


def test_states_and_symbols_may_be_any_strings():
    machine = TuringMachine({("wait a bit", "no-thing"): ("δ", "éa", 1)}, "wait a bit", {"δ"}, "no-thing")
    run = machine.run(["no-thing", "éa"])
    assert (run.status, run.state, run.tape) == ("halted", "δ", {0: "éa", 1: "éa"})


def test_a_run_says_in_words_how_it_ended(parentheses):
    run = parentheses.run("B()E")
    assert str(run) == "halted in state T after 9 steps, head on cell 1, 3 cells not blank"
    assert str(one_rule().run(max_steps=1)) == "limit in state A after 1 step, head on cell 1, 1 cell not blank"


def test_two_runs_are_equal_if_they_end_in_the_same_way(parentheses):
    assert parentheses.run("B()E") == parentheses.run("B()E", max_steps=9)
    assert parentheses.run("B()E") != parentheses.run("BE")


def test_two_runs_are_equal_whatever_their_micro_steps(parentheses):
    run = parentheses.run("B()E")
    assert replace(run, micro_steps=27) == run
    assert replace(run, steps=27) != run


def test_the_text_of_a_tape_runs_from_the_first_written_cell_to_the_last(parentheses):
    assert parentheses.text({}) == ""
    assert parentheses.text({-1: "(", 2: ")"}) == "(EE)"


def test_symbols_of_several_characters_are_written_with_spaces_between_all_of_them():
    machine = one_rule(alphabet=["ab", "a", "b"])
    assert machine.text({0: "ab", 1: "1"}) == "ab 1"
    assert machine.text({0: "a", 1: "b"}) == "a b"  # "ab" would be a different tape


# Traces.


def test_a_trace_starts_with_the_initial_configuration_and_has_one_more_for_each_step(parentheses):
    run = parentheses.run("B(())E")
    configurations = list(run.trace)
    assert [c.step for c in configurations] == list(range(run.steps + 1))
    first, last = configurations[0], configurations[-1]
    assert (first.state, first.head, first.symbol) == ("I", 0, "B")
    assert (last.state, last.head, last.tape) == (run.state, run.head, run.tape)


def test_the_trace_of_a_run_can_be_read_again(parentheses):
    run = parentheses.run("B()E")
    assert list(run.trace) == list(run.trace)


def test_a_trace_is_lazy():
    forever = one_rule().trace(max_steps=10**18)
    assert [c.head for c in itertools.islice(forever, 3)] == [0, 1, 2]


def test_a_bad_word_is_refused_before_the_trace_is_read(parentheses):
    with pytest.raises(ValueError, match="Symbol 'x'"):
        parentheses.trace("BxE")


def test_a_configuration_that_is_kept_answers_for_its_own_moment(parentheses):
    one_by_one = [(str(c), c.tape, c.cells) for c in parentheses.trace("B(()())E")]
    all_at_once = list(parentheses.trace("B(()())E"))
    assert [(str(c), c.tape, c.cells) for c in all_at_once] == one_by_one
    assert [(str(c), c.tape, c.cells) for c in reversed(all_at_once)] == one_by_one[::-1]


def test_changing_what_a_configuration_returns_changes_nothing(parentheses):
    configurations = list(parentheses.trace("B()E"))
    for c in configurations:
        c.tape.clear()
        c.cells.clear()
    assert "\n".join(map(str, configurations)) == FIGURE_1


def test_cells_are_those_of_the_word_and_those_visited():
    *_, last = one_rule().trace("0000", max_steps=1)
    assert last.cells == {0: "1", 1: "0", 2: "0", 3: "0"}
    assert last.tape == {0: "1"}


def test_a_trace_does_not_copy_the_tape():
    machine = one_rule(delta={("A", "0"): ("A", "0", 0)})
    word, steps = "0" * 50_000, 2_000  # a copy for each step would take gigabytes
    trace = machine.trace(word, steps)
    kept = [next(trace)]
    gc.collect()
    tracemalloc.start()
    kept.extend(trace)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(kept) == steps + 1
    assert peak < 500 * steps


def test_a_trace_that_is_only_read_keeps_nothing():
    machine = one_rule(delta={("A", "0"): ("A", "0", 0)})
    trace = machine.trace("", 50_000)
    next(trace)
    gc.collect()
    tracemalloc.start()
    for _ in trace:
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000


def test_keeping_the_first_configuration_of_a_long_trace_is_safe():
    trace = one_rule().trace("", 100_000)
    first = next(trace)
    (last,) = deque(trace, maxlen=1)
    assert (str(first), last.head) == ("A  [0]", 100_000)
    del trace, first, last  # a long chain, freed without recursion
    gc.collect()


def test_configurations_are_compared_by_step_state_head_and_tape(parentheses):
    same, other = next(parentheses.trace("B()E")), next(parentheses.trace("BE"))
    assert same == next(parentheses.trace("B()E"))
    assert same != other
    assert same != "I  [B]()E"
    with pytest.raises(TypeError):
        hash(same)


def test_a_configuration_shows_the_cell_under_the_head_wherever_it_is():
    left = [str(c) for c in one_rule(delta={("A", "0"): ("A", "1", -1)}).trace("", 2)]
    assert left == ["A  [0]", "A  [0]1", "A  [0]11"]
    apart = Configuration(0, "A", 3, {0: "1"}, "0")
    assert str(apart) == "A  100[0]"
    assert repr(apart) == "<step 0: A  100[0]>"


def test_symbols_of_several_characters_are_kept_apart_in_a_trace():
    assert str(Configuration(0, "A", 1, {0: "ab", 1: "c"}, "c")) == "A  ab [c]"


# The machine as a value.


def test_states_and_symbols_are_in_canonical_order(parentheses):
    assert parentheses.states == ("I", "R", "M", "V", "F", "T")
    assert parentheses.symbols == ("E", "B", "(", ")", "*")


def test_the_initial_state_and_the_blank_come_first_wherever_they_appear():
    machine = TuringMachine({("A", "1"): ("B", "2", 1), ("B", "2"): ("C", "0", 1)}, "B", {"C", "unused"}, "0")
    assert machine.states == ("B", "A", "C", "unused")
    assert machine.symbols == ("0", "1", "2")


def test_symbols_that_no_rule_mentions_come_last():
    machine = one_rule(alphabet=["y", "x"])
    assert machine.symbols == ("0", "1", "y", "x")
    assert machine.run("0x", max_steps=5).status == "jammed"


def test_the_blank_may_be_a_symbol_that_no_rule_mentions():
    assert one_rule(blank="_", alphabet=["_"]).run("00").status == "jammed"


def test_a_machine_cannot_be_changed(parentheses):
    with pytest.raises(FrozenInstanceError):
        parentheses.initial = "R"
    with pytest.raises(TypeError):
        parentheses.delta["I", "B"] = ("T", "B", 1)
    assert isinstance(parentheses.halting, frozenset)


def test_later_changes_to_what_a_machine_was_made_from_do_not_reach_it():
    delta, halting, alphabet = {("A", "0"): ("Z", "1", 1)}, {"Z"}, ["0"]
    machine = TuringMachine(delta, "A", halting, "0", alphabet=alphabet)
    delta.clear(), halting.clear(), alphabet.append("9")
    assert machine.run().status == "halted"
    assert machine.symbols == ("0", "1")


def test_machines_are_equal_whatever_the_order_of_their_rules(parentheses):
    shuffled = TuringMachine(reversed(TABLE_2), "I", ["F", "T"], "E")
    assert shuffled == parentheses
    assert hash(shuffled) == hash(parentheses)
    assert shuffled != "a machine"


@pytest.mark.parametrize(
    "changes",
    [
        {"halting": {"Z"}},
        {"blank": "1"},
        {"alphabet": ["x"]},
        {"delta": {("A", "0"): ("A", "1", -1)}},
        {"initial": "B", "delta": {("A", "0"): ("A", "1", 1), ("B", "0"): ("A", "1", 1)}},
    ],
    ids=lambda changes: min(changes),
)
def test_machines_that_differ_are_not_equal(changes):
    assert one_rule(**changes) != one_rule()


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_copied_or_pickled_machine_is_the_same_machine(parentheses, again):
    twin = again(parentheses)
    assert twin == parentheses
    assert (twin.states, twin.symbols, list(twin.delta)) == (
        parentheses.states,
        parentheses.symbols,
        list(parentheses.delta),
    )
    assert twin.run("B()E") == parentheses.run("B()E")


def test_a_machine_is_described_by_its_size(parentheses):
    assert repr(parentheses) == "<TuringMachine: 6 states, 5 symbols, 11 rules>"
    assert repr(one_rule()) == "<TuringMachine: 1 state, 2 symbols, 1 rule>"


def test_a_renamed_machine_does_the_same_under_other_names(parentheses):
    renamed = parentheses.rename({"I": "start", "T": "yes"}, {"E": "_", "(": "open"})
    run = renamed.run(["B", "open", ")", "_"])
    assert (run.status, run.state, run.steps) == ("halted", "yes", 9)
    assert (renamed.states[0], renamed.symbols[0]) == ("start", "_")
    assert renamed.rename({"start": "I", "yes": "T"}, {"_": "E", "open": "("}) == parentheses


def test_a_symbol_that_only_the_alphabet_names_is_renamed_too():
    machine = TuringMachine({("A", "0"): ("A", "0", 1)}, "A", (), "0", alphabet="ab")
    renamed = machine.rename(symbols={"a": "x"})
    assert (renamed.symbols, renamed.alphabet) == (("0", "x", "b"), ("x", "b"))


def test_names_may_be_swapped(parentheses):
    assert parentheses.rename({"T": "F", "F": "T"}).run("B()E").state == "F"


def test_a_renaming_that_merges_two_names_or_names_an_unknown_one_is_refused(parentheses):
    with pytest.raises(ValueError, match="Two states would be called 'R'"):
        parentheses.rename({"I": "R"})
    with pytest.raises(ValueError, match=r"Symbol 'x' is not on this machine: E B \( \) \*"):
        parentheses.rename(symbols={"x": "y"})


# Bad input: each message says what was given, what was expected, and what to do.

RULE = ("A", "1", 1)
BAD_MACHINES = {
    "a rule for a halting state": (
        {"halting": {"A"}},
        "State 'A' halts, and a rule was given for it: (A, 0). Remove the rule, or take 'A' out of the halting states.",
    ),
    "two rules for one key": (
        {"delta": [("A", "0", "A", "1", 1), ("A", "0", "A", "0", -1)]},
        "Two rules were given for state 'A' reading '0': ('A', '1', 1) and ('A', '0', -1). Keep one.",
    ),
    "a move of 2": (
        {"delta": {("A", "0"): ("A", "1", 2)}},
        "A move is -1 (left), 0 (stay) or +1 (right); the rule for (A, 0) has 2.",
    ),
    "a move that is a letter": (
        {"delta": {("A", "0"): ("A", "1", "R")}},
        "A move is -1 (left), 0 (stay) or +1 (right); the rule for (A, 0) has 'R'.",
    ),
    "a move that is true": (
        {"delta": {("A", "0"): ("A", "1", True)}},
        "A move is -1 (left), 0 (stay) or +1 (right); the rule for (A, 0) has True.",
    ),
    "an unknown initial state": (
        {"initial": "Q"},
        "The initial state 'Q' appears in no rule. The states of the rules are: A.",
    ),
    "no rules": (
        {"delta": {}},
        "This machine has no rules. Give at least one: {(state, symbol): (next state, symbol to write, move)}.",
    ),
    "a blank that is not in the alphabet": (
        {"blank": "_"},
        "The blank '_' is not in the alphabet of the rules: 0 1. "
        "Choose one of these as the blank, or pass alphabet=['_'] if no rule mentions it.",
    ),
    "a halting state instead of a set": (
        {"halting": "Z"},
        "halting is a set of state names, and the string 'Z' was given. "
        "Write {'Z'} for one halting state of that name.",
    ),
    "no set of halting states at all": (
        {"halting": None},
        "halting is a set of state names, and None was given. Write () for none.",
    ),
    "rules that are None": (
        {"delta": None},
        "delta is a dictionary or a list of rules, and None was given.",
    ),
    "half a character": (
        {"blank": "\ud800"},
        "Symbols are text, and '\\ud800' has half a character in it (a lone surrogate).",
    ),
    "a state that is not a string": (
        {"delta": {(1, "0"): RULE}},
        "States are non-empty strings, and 1 was given.",
    ),
    "a symbol that is not a string": (
        {"delta": {("A", 0): RULE}},
        "Symbols are non-empty strings, and 0 was given.",
    ),
    "an empty symbol": ({"blank": ""}, "Symbols are non-empty strings, and '' was given."),
    "an initial state that is not a string": (
        {"initial": None},
        "States are non-empty strings, and None was given.",
    ),
    "a rule with a part missing": (
        {"delta": {("A", "0"): ("A", "1")}},
        "A rule reads (state, symbol): (next state, symbol to write, move), "
        "and this one was given: ('A', '0'): ('A', '1').",
    ),
    "a key with a part missing": (
        {"delta": {"A": RULE}},
        "A rule reads (state, symbol): (next state, symbol to write, move), "
        "and this one was given: 'A': ('A', '1', 1).",
    ),
    "a row with a part too many": (
        {"delta": [("A", "0", "A", "1", 1, "why")]},
        "A rule reads (state, symbol): (next state, symbol to write, move), "
        "and this one was given: ('A', '0'): ('A', '1', 1, 'why').",
    ),
}


@pytest.mark.parametrize("case", BAD_MACHINES)
def test_a_machine_that_makes_no_sense_is_refused_with_its_reason(case):
    changes, message = BAD_MACHINES[case]
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the full message is compared below)
        one_rule(**changes)
    assert str(caught.value) == message


@pytest.mark.parametrize("call", ["run", "trace", "tape"])
def test_an_unknown_symbol_in_the_word_is_named_with_the_alphabet(parentheses, call):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        getattr(parentheses, call)("B(xE")
    assert str(caught.value) == "Symbol 'x' (cell 2 of the word) is not in this machine's alphabet: ( ) * B E."


@pytest.mark.parametrize("word", [None, 101, b"B()E", {"B", "E"}, {"B": 1}])
def test_a_word_is_a_string_or_a_sequence(parentheses, word):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        parentheses.run(word)
    assert str(caught.value) == f"A word is a string or a sequence of symbols, and {word!r} was given."


def test_a_limit_may_be_any_kind_of_integer(parentheses):
    class Two:
        def __index__(self):
            return 2

    assert parentheses.run("B()E", Two()).steps == 2


def test_a_run_and_its_configurations_can_be_copied_and_pickled(parentheses):
    run = parentheses.run("B(())E")
    moments = list(run.trace)
    assert list(pickle.loads(pickle.dumps(run)).trace) == moments
    assert copy.deepcopy(run) == run
    assert pickle.loads(pickle.dumps(moments[3])) == moments[3]
    assert copy.deepcopy(moments[3]) == moments[3]


def test_a_blank_of_several_characters_is_kept_apart_when_the_head_reaches_it():
    machine = TuringMachine({("A", "a"): ("A", "a", 1)}, "A", (), "blank", alphabet=["blank"])
    assert str(list(machine.trace("aa"))[-1]) == "A  a a [blank]"


def test_a_long_alphabet_is_cut_short_in_the_message():
    machine = one_rule(alphabet=[f"s{i:03}" for i in range(100)])
    with pytest.raises(ValueError, match=r"s027 … \(102 in all\)\.$"):
        machine.run("x")


def test_a_blank_space_in_an_alphabet_is_visible_in_the_message():
    with pytest.raises(ValueError, match="alphabet: ' ' 0 1"):
        one_rule(alphabet=[" "]).run("x")


@pytest.mark.parametrize("limit", [-1, 1.5, "10", None, True])
def test_a_limit_that_is_not_an_integer_of_at_least_0_is_refused(parentheses, limit):
    for call in (parentheses.run, parentheses.trace):
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            call("BE", max_steps=limit)
        assert str(caught.value) == f"max_steps must be an integer of at least 0, and {limit!r} was given."


# Random machines, against an interpreter that shares nothing with the library's.


def naive(rules, initial, halting, blank, word, limit):
    """The tape is a list that is copied at each step: slow, and hard to get wrong."""
    tape, origin, state, position, moments = list(word) or [blank], 0, initial, 0, []
    while True:
        moments.append((state, position - origin, {i - origin: a for i, a in enumerate(tape) if a != blank}))
        matching = [row for row in rules if row[0] == state and row[1] == tape[position]]
        if state in halting:
            return SimpleNamespace(status="halted", moments=moments)
        if len(moments) > limit:
            return SimpleNamespace(status="limit", moments=moments)
        if not matching:
            return SimpleNamespace(status="jammed", moments=moments)
        [(_, _, state, tape[position], move)] = matching
        position += move
        if position < 0:
            tape, origin, position = [blank, *tape], origin + 1, 0
        if position == len(tape):
            tape = [*tape, blank]


STATES, SYMBOLS = ["q0", "q1", "q2", "end"], ["_", "a", "b"]


@st.composite
def machines(draw):
    keys = draw(st.lists(st.sampled_from([(q, a) for q in STATES[:3] for a in SYMBOLS]), unique=True))
    row = st.tuples(st.sampled_from(STATES), st.sampled_from(SYMBOLS), st.sampled_from([-1, 0, 1]))
    return [("q0", "a", *draw(row)), *((*key, *draw(row)) for key in keys if key != ("q0", "a"))]


@given(machines(), st.text("_ab", max_size=6), st.integers(0, 60))
def test_run_and_trace_agree_with_a_naive_interpreter_on_random_machines(rules, word, limit):
    machine = TuringMachine(rules, "q0", {"end"}, "_", alphabet=SYMBOLS)
    expected = naive(rules, "q0", {"end"}, "_", word, limit)
    run, trace = machine.run(word, limit), list(machine.trace(word, limit))
    assert run.status == expected.status
    assert (run.state, run.head, run.tape) == expected.moments[-1]
    assert [(c.state, c.head, c.tape) for c in trace] == expected.moments
    assert list(run.trace) == trace
    assert len(trace) == run.steps + 1
