"""Stack machines and their interpreter, wildcards, and any Turing machine as one with two binary stacks."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import machines_and_words, numbered
from stack_machines import COPY, PARITY, stack_machines, stacks_for

import turing
from paper import BALANCED
from turing.machine import TuringMachine
from turing.stack_machine import StackConfiguration, StackMachine, TwoStacks, balanced

slow = pytest.mark.slow


def words(alphabet: str, longest: int) -> list[str]:
    return ["".join(word) for n in range(longest + 1) for word in itertools.product(alphabet, repeat=n)]


# The interpreter.


def depth(word: str) -> int | None:
    """How many parentheses are open at the end; None if one was closed that was not open."""
    total = 0
    for symbol in word:
        total += 1 if symbol == "(" else -1
        if total < 0:
            return None
    return total


def test_balanced_parentheses_are_decided_on_every_word_up_to_length_10():
    machine, steps = balanced(), 0
    for word in words("()", 10):
        run = machine.run(word)
        assert (run.status, run.state) == ("halted", "T" if depth(word) == 0 else "F")
        steps += run.steps
    assert steps == 8_514


def test_the_machine_of_the_paper_has_four_states_and_twelve_rules():
    machine = balanced()
    assert machine.states == ("I", "R", "F", "T")
    assert (machine.p, len(machine.rules), machine.symbols, machine.initial) == (2, 12, ("(", ")"), "I")
    assert repr(machine) == "<StackMachine: 4 states, 2 stacks, 12 rules>"


def test_a_trace_has_the_stacks_from_the_top_down():
    moments = list(balanced().trace("(()"))
    assert [str(now) for now in moments] == ["I  (() | –", "R  () | (", "R  ) | ((", "R  – | (", "F  – | ("]
    assert moments[2] == StackConfiguration(2, "R", ((")",), ("(", "(")))
    assert [now.tops for now in moments] == [("(", None), ("(", "("), (")", "("), (None, "("), (None, "(")]


def test_a_run_may_begin_with_any_of_the_stacks():
    assert balanced().run("))", "((").state == "T"
    assert balanced().run((), ["("]).state == "F"
    assert balanced().run().state == "T"
    assert balanced().run(symbol for symbol in "()").state == "T"


def plain(delta: dict, terminal: set, state: str, stacks: tuple, limit: int) -> list[tuple]:
    """An interpreter of its own: lists with the top last, and rules without stars."""
    stacks, seen = [list(reversed(stack)) for stack in stacks], []
    for _ in range(limit + 1):
        seen.append((state, *("".join(reversed(stack)) for stack in stacks)))
        rule = delta.get((state, *(stack[-1] if stack else None for stack in stacks)))
        if state in terminal or rule is None:
            break
        state = rule[0]
        for stack, operation in zip(stacks, rule[1:], strict=True):
            if operation.startswith("push"):
                stack.append(operation[-1])
            elif operation == "pop" and stack:
                stack.pop()
    return seen


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(stack_machines(), st.data())
def test_random_machines_do_what_their_rules_say(machine, data):
    stacks = data.draw(stacks_for(machine))
    delta = {key: (q, *(" ".join(filter(None, op)) for op in ops)) for key, (q, *ops) in machine.rules.items()}
    found = [(now.state, *map("".join, now.stacks)) for now in machine.trace(*stacks, max_steps=50)]
    assert found == plain(delta, machine.terminal, machine.initial, stacks, 50)


def test_one_stack_decides_the_parity_of_ones():
    machine = StackMachine(PARITY, terminal={"T", "F"})
    assert machine.p == 1
    for word in words("01", 8):
        assert machine.run(word).state == ("F" if word.count("1") % 2 else "T")


def test_three_stacks_copy_a_word_by_reversing_it_twice():
    machine = StackMachine(COPY, terminal={"done"})
    assert (machine.p, machine.states) == (3, ("there", "back", "done"))
    for word in words("01", 6):
        run = machine.run(word)
        assert (run.status, run.steps) == ("halted", 2 * len(word) + 2)
        assert run.stacks == (tuple(word), (), tuple(word))


# How a run ends.

ONCE = {("A", "0"): ("B", "pop"), ("B", "0"): ("T", "pop")}


def test_a_run_that_finds_no_rule_jams_there():
    machine = StackMachine(ONCE, terminal="T")
    assert machine.run("01") == machine.run("01", max_steps=2)
    run = machine.run("01")
    assert (run.status, run.state, run.steps, run.stacks) == ("jammed", "B", 1, (("1",),))
    assert machine.run("1").status == machine.run().status == "jammed"
    assert (machine.run("00").status, machine.run("00").state) == ("halted", "T")


def test_a_jam_at_the_limit_is_the_limit_as_it_is_for_a_turing_machine():
    machine = StackMachine(ONCE, terminal="T")
    assert [machine.run("01", max_steps=n).status for n in range(4)] == ["limit", "limit", "jammed", "jammed"]
    assert [BALANCED.run("B", n).status for n in range(4)] == ["limit", "limit", "limit", "halted"]
    assert [machine.run("00", max_steps=n).status for n in range(4)] == ["limit", "limit", "halted", "halted"]


def test_a_machine_that_begins_in_a_terminal_state_takes_no_step():
    machine = StackMachine({("A", "0"): ("T", "pop")}, "T", {"T"})
    assert machine.run("0").steps == 0
    assert machine.run("0").status == machine.run("0", max_steps=0).status == "halted"


# Wildcards.


def test_a_specific_rule_beats_a_wildcard_in_any_order():
    rules = [(("A", "*"), ("B", "pop")), (("A", "1"), ("C", "noop")), (("*", "*"), ("T", "noop"))]
    for order in itertools.permutations(rules):
        machine = StackMachine(dict(order), "A", {"T"})
        found = {key: value[0] for key, value in machine.rules.items()}
        assert [found["A", top] for top in ("0", "1", None)] == ["B", "C", "B"]
        assert [found[q, top] for q in "BC" for top in ("0", "1", None)] == ["T"] * 6
        assert len(found) == 9


def test_the_rule_with_the_fewest_stars_wins():
    delta = {
        ("*", "*", "*"): ("T", "noop", "noop"), ("A", "*", "*"): ("B", "pop", "noop"),
        ("A", "0", "*"): ("C", "pop", "pop"), ("A", "0", None): ("A", "noop", "push 1"),
    }  # fmt: skip
    machine = StackMachine(delta, "A", {"T"})
    found = {tops: machine.rules[("A", *tops)][0] for tops in (("0", None), ("0", "1"), ("1", "1"), (None, None))}
    assert "".join(found.values()) == "ACBB"
    assert machine.rules["B", "0", "0"] == machine.rules["C", None, "1"] == ("T", ("noop", None), ("noop", None))
    assert not any(key[0] == "T" for key in machine.rules)
    assert len(machine.rules) == 27


def test_rules_with_equally_many_stars_may_overlap_if_they_agree():
    same = {("A", "0", "*"): ("T", "pop", "noop"), ("A", "*", "0"): ("T", "pop", "noop")}
    assert len(StackMachine(same, terminal="T").rules) == 5


def test_rules_that_contradict_each_other_only_on_a_terminal_state_are_accepted():
    delta = {
        ("A", "*", "*"): ("T", "noop", "noop"),
        ("*", "0", "*"): ("A", "pop", "noop"),
        ("*", "*", "0"): ("T", "pop", "pop"),
    }
    with pytest.raises(ValueError, match="Two rules contradict each other"):
        StackMachine(delta, "A", {"T"})
    delta["A", "0", "0"] = delta["A", "0", None] = delta["A", "0", "1"] = ("A", "pop", "pop")
    delta["A", None, "0"] = delta["A", "1", "0"] = ("A", "pop", "pop")
    assert len(StackMachine(delta, "A", {"T"}).rules) == 9


def test_a_rule_that_stays_in_a_terminal_state_and_changes_nothing_is_ignored():
    rules = {("A", "(", "*"): ("A", "pop", "push ("), ("A", None, "*"): ("F", "noop", "noop")}
    loops = {("F", "*", "*"): ("F", "noop", "noop"), ("T", ")", None): ("T", "noop", "noop")}
    plain = StackMachine(rules, "A", {"F", "T"}, "()")
    for delta in (rules | loops, loops | rules):  # the first rule names the initial state, unless it is ignored
        machine = StackMachine(delta, terminal={"F", "T"})
        assert (machine.rules, machine.initial, set(machine.states)) == (plain.rules, "A", set(plain.states))
        assert set(machine.symbols) == set("()")
        assert machine.run("((") == plain.run("((")


@pytest.mark.parametrize("value", [("A", "noop", "noop"), ("T", "noop", "noop"), ("F", "pop", "noop")])
def test_any_other_rule_for_a_terminal_state_is_refused(value):
    rules = {("A", "*", "*"): ("F", "noop", "noop"), ("F", "*", "*"): value}
    with pytest.raises(ValueError, match=r"State 'F' is terminal, and a rule was given .* Remove the rule, or take"):
        StackMachine(rules, "A", {"F", "T"})


def by_looking(delta: dict, symbols: str, states: str) -> dict | None:
    """Rules without stars: of all that fit, one with the fewest stars; None if two of these differ."""
    found = {}
    for here in itertools.product(states, (None, *symbols), (None, *symbols)):
        fitting = [key for key in delta if all(a in ("*", b) for a, b in zip(key, here, strict=True))]
        stars = min((key.count("*") for key in fitting), default=0)
        values = {delta[key] for key in fitting if key.count("*") == stars}
        if len(values) > 1:
            return None
        found |= dict.fromkeys([here] * len(values), *values)
    return found


PARTS = st.tuples(st.sampled_from("AB*"), *[st.sampled_from(["0", "1", None, "*"])] * 2)
TARGETS = st.tuples(st.sampled_from("AB"), *[st.sampled_from(["noop", "pop"])] * 2)


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(st.dictionaries(PARTS, TARGETS, max_size=6))
def test_wildcards_mean_the_same_as_looking_through_every_rule(delta):
    delta = {("A", "0", "0"): ("B", "noop", "noop")} | delta
    wanted = by_looking(delta, "01", "AB")
    if wanted is None:
        with pytest.raises(ValueError, match="Two rules contradict each other"):
            StackMachine(delta, "A")
        return
    found = StackMachine(delta, "A").rules
    assert {key: (q, *(kind for kind, _ in rest)) for key, (q, *rest) in found.items()} == wanted


def test_symbols_are_0_and_1_or_as_given_or_in_order_of_appearance():
    assert StackMachine({("A", "1"): ("A", "pop")}).symbols == ("0", "1")
    assert StackMachine({("A", "x"): ("A", "push y")}).symbols == ("x", "y")
    assert StackMachine({("A", "x"): ("A", "push y")}, symbols="yx").symbols == ("y", "x")
    assert StackMachine({("A", "1"): ("A", "push 0")}, symbols="10").symbols == ("1", "0")
    assert StackMachine({("A", "x"): ("A", "pop")}).symbols == ("x", "0")
    assert StackMachine({("A", None): ("A", "noop")}, symbols=["left", "right"]).symbols == ("left", "right")
    assert StackMachine({("A", 1): ("A", "push 0")}).run("1", max_steps=1).stacks == (("0", "1"),)


# Bad input.

RULE = {("A", "0"): ("A", "pop")}
BAD = {
    "a third symbol": (
        {("A", "0"): ("A", "push 2"), ("A", "1"): ("A", "pop")}, {},
        "The stacks are binary, and these symbols are used: 0 1 2. Use at most two.",
    ),
    "a third symbol given": (RULE, {"symbols": "012"}, "these symbols are used: 0 1 2. Use at most two."),
    "a misspelt operation": (
        {("A", "0"): ("A", "nop")}, {}, "An operation is 'noop', 'pop' or 'push x', and 'nop' was given.",
    ),
    "no symbol to push": ({("A", "0"): ("A", "push")}, {}, "is 'noop', 'pop' or 'push x', and 'push' was given."),
    "no space": ({("A", "0"): ("A", "push0")}, {}, "is 'noop', 'pop' or 'push x', and 'push0' was given."),
    "two to push": ({("A", "0"): ("A", "push 0 1")}, {}, "is 'noop', 'pop' or 'push x', and 'push 0 1' was given."),
    "upper case": ({("A", "0"): ("A", "POP")}, {}, "An operation is 'noop', 'pop' or 'push x', and 'POP' was given."),
    "no operation": ({("A", "0"): ("A", "")}, {}, "An operation is 'noop', 'pop' or 'push x', and '' was given."),
    "None": ({("A", "0"): ("A", None)}, {}, "An operation is 'noop', 'pop' or 'push x', and None was given."),
    "a contradiction": (
        {("A", "0", "*"): ("B", "pop", "noop"), ("A", "*", "0"): ("A", "noop", "pop")}, {},
        "Two rules contradict each other on ('A', '0', '0'): ('A', '0', '*') and ('A', '*', '0').",
    ),
    "a contradiction of three": (
        {("A", "0", "*"): ("B", "pop", "noop"), ("A", "*", "0"): ("B", "pop", "noop"),
         ("*", "0", "0"): ("A", "pop", "pop")}, {},
        "on ('A', '0', '0'): ('A', '0', '*') and ('*', '0', '0').",
    ),
    "two rules for one": (
        {("A", "0"): ("A", "pop"), ("A", 0): ("B", "pop")}, {},
        "Two rules were given for ('A', '0'), and they differ. Keep one.",
    ),
    "a rule for a terminal state": (
        RULE | {("T", "*"): ("A", "noop")}, {"terminal": {"T"}},
        "State 'T' is terminal, and a rule was given for it: ('T', '*').",
    ),
    "an unknown initial state": (
        RULE, {"initial": "Q"}, "The initial state 'Q' appears in no rule. The states of the rules are: A.",
    ),
    "no initial state": ({("*", "0"): ("B", "pop")}, {}, "The initial state None appears in no rule. The states of"),
    "no rules": ({}, {}, "This machine has no rules. Give at least one: {(state, top, …): (next state, "),
    "no dictionary": ([("A", "0")], {}, "A transition function is a dictionary of rules, and [('A', '0')] was given."),
    "no tuple": ({"A0": ("A", "pop")}, {}, "A rule begins (state, top of stack 0, …), and 'A0' was given."),
    "nothing to begin with": ({(): ("A", "pop")}, {}, "A rule begins (state, top of stack 0, …), and () was given."),
    "no state": ({(None, "0"): ("A", "pop")}, {}, "A rule begins (state, top of stack 0, …), and (None, '0') was"),
    "no value": ({("A", "0"): "pop"}, {}, "A rule ends (next state, operation on stack 0, …), and 'pop' was given for"),
    "a star to go to": ({("A", "0"): ("*", "pop")}, {}, "A rule leads to one state, and '*', which stands for any"),
    "no stacks": ({("A",): ("A",)}, {}, "Every rule names a state and one entry for each stack, equally many"),
    "an operation too many": ({("A", "0"): ("A", "pop", "pop")}, {}, "one was given: ('A', '0'): ('A', 'pop', 'pop')"),
    "rules of two sizes": (RULE | {("A", "0", "0"): ("A", "pop", "pop")}, {}, "equally many in all rules, and this"),
    "a symbol with a space": (RULE, {"symbols": ["0", "a b"]}, "A symbol is text without spaces, other than * (any"),
    "a star to push": ({("A", "0"): ("A", "push *")}, {}, "and – (an empty stack), and '*' was given."),
    "a dash to push": ({("A", None): ("A", "push –")}, {}, "and – (an empty stack), and '–' was given."),
    "no symbol": ({("A", ""): ("A", "pop")}, {}, "A symbol is text without spaces"),
    "any terminal state": (RULE, {"terminal": {"*"}}, "by their names, such as {'T', 'F'}, and '*' was given."),
    "no set of terminal states": (RULE, {"terminal": 5}, "by their names, such as {'T', 'F'}, and 5 was given."),
    "no symbols": (RULE, {"symbols": 5}, "Symbols are given in order, such as '01' or ['left', 'right'], and 5 was"),
    "symbols in no order": (RULE, {"symbols": {"0"}}, "given in order, such as '01' or ['left', 'right'], and {'0'}"),
    "a number": (RULE, {"terminal": {1}}, "Terminal states are given by their names, such as {'T', 'F'}, and 1 was"),
}  # fmt: skip


@pytest.mark.parametrize(("delta", "options", "message"), BAD.values(), ids=BAD)
def test_a_faulty_machine_is_refused_with_a_reason(delta, options, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the message is compared below
        StackMachine(delta, **options)
    assert message in str(error.value)


def test_stacks_that_do_not_fit_are_refused_with_a_reason():
    machine = balanced()
    with pytest.raises(ValueError, match=r"Symbol 'x' \(on stack 1\) is not one of this machine's: \( \)\."):
        machine.run("()", "x")
    with pytest.raises(ValueError, match="This machine has 2 stacks, and 3 were given"):
        machine.run("", "", "")
    with pytest.raises(ValueError, match="This machine has 1 stack, and 2 were given"):
        StackMachine(PARITY, terminal={"T", "F"}).trace("", "")
    for stack, shown in ((5, "5"), (None, "None"), ({"("}, r"\{"), ({"(": 1}, r"\{"), (b"()", "b'")):
        message = f"A stack is a string or a sequence of symbols, the top first, and {shown}"
        with pytest.raises(ValueError, match=message + r".* was given \(for stack 1\)"):
            machine.run("()", stack)
    for limit in (-1, 1.5, True):
        with pytest.raises(ValueError, match="max_steps must be an integer of at least 0"):
            machine.run("()", max_steps=limit)


# Two stacks are a tape.


def test_the_two_stack_machine_of_balanced_parentheses_has_68_states_and_387_rules():
    two = TwoStacks(turing.zoo["balanced_parentheses"])
    assert (two.k, len(two.machine.states), len(two.machine.rules)) == (3, 68, 387)
    assert two.machine.symbols == ("0", "1")
    assert sum(1 for _ in two.trace("B()((()(()))())E", 100)) == 243 + 1


def zipped(machine: TuringMachine, word, limit: int) -> int:
    """Stacks and control against the oracle: state, tape on both sides of the head, and what each step costs."""
    two, oracle, micro, compared = TwoStacks(machine), machine.trace(word, limit), 0, 0
    last = None
    for moment, complete in two.trace(word, limit):
        if not complete:
            continue
        now = next(oracle)
        assert two.control[moment.state] == (now.state, now.symbol)
        if last is not None:
            move = now.head - last.head
            assert moment.step - micro == (two.k if move else 1)
        tape = now.tape
        reach = max([abs(cell - now.head) for cell in tape], default=0)
        for stack, step in zip(moment.stacks, (-1, 1), strict=True):
            assert len(stack) % two.k == 0
            found = two.symbols(stack)
            beside = [tape.get(now.head + step * n, machine.blank) for n in range(1, reach + 1)]
            size = max(len(found), len(beside))
            assert found + [machine.blank] * (size - len(found)) == beside + [machine.blank] * (size - len(beside))
        last, micro, compared = now, moment.step, compared + 1
    assert next(oracle, None) is None
    return compared - 1


def test_stacks_and_state_give_back_state_tape_and_head_at_every_step():
    assert zipped(BALANCED, "B()((()(()))())E", 100) == 81
    assert zipped(turing.zoo["bb4"], "", 200) == 107
    assert zipped(turing.zoo["rule_110"], turing.zoo.entry("rule_110").samples[0].word, 100) >= 50


def random_zippers(examples: int, limit: int) -> int:
    steps = 0

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(machines_and_words(words=1))
    def compare(machine_and_words):
        nonlocal steps
        machine, (word,) = machine_and_words
        steps += zipped(machine, word, limit)

    compare()
    return steps


def test_60_random_machines_give_back_their_tapes():
    assert random_zippers(60, 60) >= 900


@slow
def test_500_random_machines_give_back_their_tapes():
    steps = random_zippers(500, 100)
    print(f"500 random machines by two stacks: {steps:,} steps")
    assert steps >= 25_000


def test_a_move_takes_k_micro_steps_and_a_stay_takes_one():
    machine = TuringMachine(
        {("A", "_"): ("B", "c", 0), ("B", "c"): ("C", "d", 1), ("C", "_"): ("D", "a", -1), ("D", "d"): ("H", "b", 0)},
        "A", {"H"}, "_", alphabet="abcd",
    )  # fmt: skip
    two = TwoStacks(machine)
    assert two.k == 3
    assert [moment.step for moment, complete in two.trace("", 10) if complete] == [0, 1, 4, 7, 8]
    last = list(two.trace("", 10))[-1][0]
    assert two.control[last.state] == ("H", "b")
    assert [two.symbols(stack) for stack in last.stacks] == [[], ["a"]]


def test_blanks_below_the_bottom_of_a_stack_cost_nothing():
    machine = TuringMachine({("A", "_"): ("A", "_", -1)}, "A", (), "_", alphabet="xy")
    *_, (last, _) = TwoStacks(machine).trace("", 50)
    assert last.stacks[0] == ()
    assert last.step == 100


@pytest.mark.parametrize("size", range(1, 10))
def test_k_is_the_least_number_of_bits_that_tells_the_symbols_apart(size):
    symbols = [f"s{n}" for n in range(size)]
    machine = TuringMachine(
        {("A", a): ("A", b, 1) for a, b in itertools.pairwise([*symbols, symbols[0]])}, "A", (), "s0"
    )
    two = TwoStacks(machine)
    assert two.k == max(1, next(k for k in range(9) if 2**k >= size))
    assert two.code["s0"] == (0,) * two.k
    assert len(set(two.code.values())) == size
    assert zipped(machine, symbols[::-1], size + 3) == size + 3


def test_a_limit_counts_the_steps_of_the_turing_machine():
    two = TwoStacks(BALANCED)
    for limit in range(6):
        moments = list(two.trace("B()E", limit))
        assert sum(complete for _, complete in moments) == limit + 1
        assert moments[-1][1]


NAMES = [
    "A",
    "A 0",
    "A ",
    " ",
    "('A', 'R', (0,), (1,))",
    "('A',",
    "('A', '0')",
    "A'\"",
    "\t",
    "*",
    "–",
    "None",
    "0",
    "(",
]


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(st.sets(st.sampled_from(NAMES), min_size=2), st.sets(st.sampled_from(NAMES), min_size=1))
def test_no_two_states_of_the_stack_machine_have_the_same_name(states, symbols):
    states, symbols = sorted(states), sorted(symbols)
    delta = {
        (q, a): (states[n % len(states)], a, (-1) ** n) for n, (q, a) in enumerate(itertools.product(states, symbols))
    }
    two = TwoStacks(TuringMachine(delta, states[0], (), symbols[0]))
    assert len(two.control) == len(states) * len(symbols)
    other = TwoStacks(two.turing.rename(
        {q: f"q{n}" for n, q in enumerate(states)}, {a: f"a{n}" for n, a in enumerate(symbols)}
    ))  # fmt: skip
    assert len(two.machine.states) == len(other.machine.states)
    assert len(two.machine.rules) == len(other.machine.rules)


def test_a_state_named_like_a_tuple_is_not_taken_for_one():
    odd = "('A',"
    machine = TuringMachine(
        {("A", "_"): ("A", "a", 1), (odd, "_"): ("A", "b", 1), (odd, "'R', (1,), (0,))"): ("A", "_", -1)},
        "A", (), "_", alphabet=["a", "b"],
    )  # fmt: skip
    assert zipped(machine, [], 20) == 20


def test_only_a_turing_machine_is_translated():
    with pytest.raises(TypeError, match="TwoStacks takes a TuringMachine, and <StackMachine"):
        TwoStacks(balanced())


def test_a_word_that_the_turing_machine_does_not_know_is_refused():
    with pytest.raises(ValueError, match=r"Symbol 'x' \(cell 1 of the word\) is not in this machine's alphabet"):
        TwoStacks(BALANCED).start("Bx")


def test_the_start_is_the_word_without_its_first_symbol_on_the_right_stack():
    two = TwoStacks(BALANCED)
    assert two.start("") == ("I E", (), ())
    state, left, right = two.start("B(E")
    assert (two.control[state], left, two.symbols(right)) == (("I", "B"), (), ["(", "E"])
    assert numbered(BALANCED.trace("", 5)) == [(0, "I", 0, "E", {})]
