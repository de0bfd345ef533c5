"""The zoo: every sample is run, every machine goes through every format, and the algorithms are right."""

import itertools
import json
import re
from dataclasses import FrozenInstanceError
from importlib import resources

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import turing
from book import ROOT
from paper import TABLE_2
from turing.formats import FORMATS, FormatError, dumps, fit, parse
from turing.machine import TuringMachine
from turing.zoo import NAMES, Zoo

zoo = turing.zoo
LONG = {"bb5", "bb2x4"}  # millions of steps
SAMPLES = [
    pytest.param(name, sample, id=f"{name}-{number}", marks=[pytest.mark.slow] if name in LONG else [])
    for name in NAMES
    for number, sample in enumerate(zoo.entry(name).samples)
]


def words(alphabet, longest):
    for length in range(longest + 1):
        yield from map("".join, itertools.product(alphabet, repeat=length))


def result(name, word):
    """The text that the machine leaves, after it has halted."""
    machine = zoo[name]
    run = machine.run(word)
    assert run.status == "halted", f"{name} on {word!r}: {run}"
    return machine.text(run.tape)


# The collection.


@pytest.mark.parametrize(("name", "sample"), SAMPLES)
def test_each_sample_ends_as_its_data_file_says(name, sample):
    machine = zoo[name]
    run = machine.run(sample.word, sample.steps if sample.status == "limit" else 50_000_000)
    found = {
        "status": run.status,
        "state": run.state,
        "steps": run.steps,
        "result": machine.text(run.tape),
        "non_blank": len(run.tape),
    }
    expected = {key: getattr(sample, key) for key in found if getattr(sample, key) is not None}
    assert {key: found[key] for key in expected} == expected


@pytest.mark.parametrize("name", NAMES)
def test_each_entry_has_a_title_a_sentence_and_samples_that_expect_something(name):
    entry = zoo.entry(name)
    assert entry.name == name
    assert entry.title
    assert entry.about.endswith(".")
    assert "word" in entry.about, "about says how the word is written"
    assert entry.samples
    for sample in entry.samples:
        assert sample.status in {"halted", "jammed", "limit"}
        assert sample.state in entry.machine.states
        assert sample.steps is not None
        assert sample.result is not None or sample.non_blank is not None


@pytest.mark.parametrize("name", NAMES)
def test_a_verdict_is_of_a_halting_state_and_every_sample_that_halts_has_its_ends(name):
    entry = zoo.entry(name)
    assert set(entry.verdicts) <= entry.machine.halting
    assert set(entry.tasks) <= {*entry.machine.states} - entry.machine.halting
    assert all(isinstance(verdict, str) and verdict for verdict in entry.verdicts.values())
    first, last = entry.ends
    for sample in entry.samples:
        if sample.status == "halted":
            assert not first or sample.word[0] == first
            assert not last or sample.word[-1] == last
    assert zoo.entry_of(TuringMachine.parse(entry.machine.dumps())) is entry


def test_a_machine_that_is_not_in_the_zoo_has_no_entry():
    assert zoo.entry_of(TuringMachine.parse("1RA---")) is None


def test_the_zoo_has_the_machines_of_its_folder():
    files = {file.name for file in resources.files("turing.zoo").iterdir() if file.name.endswith(".yaml")}
    assert files == {f"{name}.yaml" for name in NAMES}
    assert len(zoo) == len(NAMES) == 21
    assert list(zoo) == list(NAMES)


def test_the_reference_lists_every_machine_with_a_sample_and_its_steps():
    page = (ROOT / "book/library-machines.md").read_text(encoding="utf-8")
    table = page.partition("| name | what it does | a word | steps |\n")[2].partition("\n\n")[0].splitlines()[1:]
    rows = [[cell.strip(" `") for cell in row.strip("|").split(" | ")] for row in table]
    assert [row[0] for row in rows] == list(NAMES)
    for name, _, word, steps in rows:
        pattern = re.escape(word).replace("…", ".+")  # the words of the universal machine are long
        samples = zoo.entry(name).samples
        sample = next(sample for sample in samples if re.fullmatch(pattern, spelled(sample.word)))
        halts = sample.status == "halted"
        assert steps == f"{sample.steps:,}" if halts else steps in ("never halts", "unknown"), name


def spelled(word):
    return (word or "empty") if isinstance(word, str) else json.dumps(word)


def test_the_zoo_is_a_mapping_of_machines():
    assert isinstance(zoo, Zoo)
    assert all(isinstance(machine, TuringMachine) for machine in zoo.values())
    assert "bb4" in zoo
    assert "bb7" not in zoo
    assert 4 not in zoo
    assert zoo["bb4"] is zoo["bb4"]
    assert repr(zoo).startswith("<Zoo of 21 machines: balanced_parentheses, parity, ")
    assert zoo._ipython_key_completions_() == list(zoo)


@pytest.mark.parametrize("name", ["binary_increment", "Binary_Increment", "binary increment", " BINARY-increment "])
def test_a_name_may_be_written_with_capitals_spaces_and_hyphens(name):
    assert zoo[name] is zoo["binary_increment"]


def test_an_entry_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        zoo.entry("bb2").title = "mine"
    with pytest.raises(FrozenInstanceError):
        zoo.entry("bb2").samples[0].steps = 7


def test_an_unknown_name_is_refused_with_the_nearest_names_and_all_of_them():
    with pytest.raises(KeyError) as caught:
        zoo["Palindrome"]
    message = str(caught.value)
    assert message.startswith("No machine of the zoo is called 'Palindrome'. Did you mean palindromes? There are: ")
    assert all(name in message for name in NAMES)
    with pytest.raises(KeyError, match=r"called 'qqqq'\. There are: balanced_parentheses"):
        zoo["qqqq"]


# The formats.

# Which formats hold a machine without renaming anything; json holds all.
HOLD = {
    "balanced_parentheses": {"turingmachine.io"},
    "parity": {"morphett"},
    "binary_increment": {"turingmachine.io"},
    "unary_addition": {"jflap", "turingmachine.io"},
    "divisible_by_three": {"jflap", "turingmachine.io"},
    "palindromes": {"morphett"},
    "anbncn": {"turingmachine.io"},
    "copier": {"morphett", "turingmachine.io"},
    "binary_addition": {"turingmachine.io"},
    "unary_multiplication": {"morphett", "turingmachine.io"},
    "sorter": {"turingmachine.io"},
    "rock_paper_scissors": set(),
    "collatz": {"turingmachine.io"},
    "rule_110": {"turingmachine.io"},
    "bb2": {"bbchallenge", "turingmachine.io"},
    "bb3": {"bbchallenge", "turingmachine.io"},
    "bb4": {"bbchallenge", "turingmachine.io"},
    "bb5": {"bbchallenge", "turingmachine.io"},
    "bb2x4": {"bbchallenge", "turingmachine.io"},
    "antihydra": {"bbchallenge", "turingmachine.io"},
    "universal": {"turingmachine.io"},
}
# Which formats cannot hold a machine even under other names.
NEVER = {
    "parity": {"bbchallenge", "turingmachine.io"},
    "palindromes": {"bbchallenge", "turingmachine.io"},
    "rock_paper_scissors": {"bbchallenge", "turingmachine.io"},
    "universal": {"bbchallenge"},
}
PAIRS = [(name, format) for name in NAMES for format in FORMATS]


@pytest.mark.parametrize(("name", "format"), PAIRS)
def test_a_machine_round_trips_through_a_format_or_the_format_says_why_not(name, format):
    machine = zoo[name]
    if format == "json" or format in HOLD[name]:
        text = dumps(machine, format)
        assert parse(text) == machine  # the format is recognised, too
    else:
        with pytest.raises(FormatError) as caught:
            dumps(machine, format)
        cause = str(caught.value).removeprefix(f"{format} cannot hold ")
        assert cause != str(caught.value)
        assert cause.split(": ", 1)[1]


@pytest.mark.parametrize(("name", "format"), PAIRS)
def test_with_other_names_a_format_holds_every_machine_that_it_can(name, format):
    machine = zoo[name]
    if format in NEVER.get(name, ()):
        with pytest.raises(FormatError, match=f"^{format} cannot hold this machine: "):
            fit(machine, format)
    else:
        fitted = fit(machine, format)
        again = parse(dumps(fitted, format), format)
        assert again == fitted
        symbols = dict(zip(machine.symbols, fitted.symbols, strict=True))
        for sample in zoo.entry(name).samples:
            mine = machine.run(sample.word, 2_000)
            theirs = again.run([symbols[a] for a in sample.word], 2_000)
            assert (theirs.status, theirs.steps, theirs.head) == (mine.status, mine.steps, mine.head)
            assert theirs.tape == {cell: symbols[a] for cell, a in mine.tape.items()}


def test_every_format_holds_at_least_two_machines_without_renaming():
    for format in FORMATS:
        assert sum(format == "json" or format in formats for formats in HOLD.values()) >= 2, format


# The algorithms, against Python, on every word up to a length.


def test_balanced_parentheses_is_the_table_of_the_paper():
    machine = zoo["balanced_parentheses"]
    assert [(*key, *rule) for key, rule in machine.delta.items()] == TABLE_2
    assert (machine.initial, machine.halting, machine.blank) == ("I", {"T", "F"}, "E")
    assert set(machine.symbols) == {"B", "E", "(", ")", "*"}


def test_balanced_parentheses_accepts_balanced_words_and_no_others():
    for word in words("()", 10):
        depths = list(itertools.accumulate(1 if letter == "(" else -1 for letter in word))
        balanced = min(depths, default=0) >= 0 and (not depths or depths[-1] == 0)
        run = zoo["balanced_parentheses"].run(f"B{word}E")
        assert (run.status, run.state) == ("halted", "T" if balanced else "F"), word


def test_parity_appends_the_bit_that_makes_the_ones_even():
    for word in words("01", 8):
        assert result("parity", word) == word + str(word.count("1") % 2)


def test_binary_increment_adds_one():
    for word in words("01", 8):
        text = result("binary_increment", word)
        assert int(text, 2) == int(word or "0", 2) + 1
        assert len(text) == max(len(word), 1) or text == "1" + "0" * len(word)


def test_unary_addition_adds():
    for a, b in itertools.product(range(8), repeat=2):
        assert result("unary_addition", "1" * a + "+" + "1" * b) == "1" * (a + b)


def test_divisible_by_three_divides():
    for word in words("01", 10):
        run = zoo["divisible_by_three"].run(word)
        assert run.state == ("yes" if int(word or "0", 2) % 3 == 0 else "no"), word


def test_palindromes_accepts_palindromes_and_no_other_words():
    for word in words("ab", 8):
        run = zoo["palindromes"].run(word)
        assert (run.status, run.state) == ("halted", "halt-yes" if word == word[::-1] else "halt-no"), word
        assert run.tape == {} or run.state == "halt-no"


def test_anbncn_accepts_its_language_and_jams_on_everything_else():
    language = {"a" * n + "b" * n + "c" * n for n in range(4)}
    for word in words("abc", 7):
        assert zoo["anbncn"].run(word).status == ("halted" if word in language else "jammed"), word
    assert zoo["anbncn"].run("a" * 9 + "b" * 9 + "c" * 9).state == "accept"


def test_copier_writes_the_word_twice():
    for word in words("01", 6):
        assert result("copier", word) == (f"{word}_{word}" if word else "")


def test_binary_addition_adds():
    for a, b in itertools.product([*words("01", 4)][1:], repeat=2):
        assert int(result("binary_addition", f"{a}+{b}"), 2) == int(a, 2) + int(b, 2)


def test_unary_multiplication_multiplies():
    for a, b in itertools.product(range(6), repeat=2):
        word = "1" * a + "x" + "1" * b + "="
        assert result("unary_multiplication", word) == word + "1" * (a * b)


def test_sorter_sorts():
    for word in words("abc", 6):
        assert result("sorter", word) == "".join(sorted(word))


def test_rock_paper_scissors_keeps_the_winner():
    beats = {("rock", "scissors"), ("scissors", "paper"), ("paper", "rock")}
    machine = zoo["rock_paper_scissors"]
    for length in range(1, 6):
        for throws in itertools.product(["rock", "paper", "scissors"], repeat=length):
            leaders = list(itertools.accumulate(throws, lambda now, new: new if (new, now) in beats else now))
            run = machine.run(throws)
            assert run.state == f"{leaders[-1]} wins"
            assert machine.text(run.tape) == " ".join(leaders)


def test_collatz_goes_through_the_numbers_of_the_sequence():
    machine = zoo["collatz"]
    for n in range(1, 65):
        # The last digit of a number is looked at in state "last", once for each of them.
        seen = [int(machine.text(c.tape) or "0", 2) for c in machine.trace(f"{n:b}") if c.state == "last"]
        expected = [n]
        while expected[-1] > 1:
            expected.append(expected[-1] // 2 if expected[-1] % 2 == 0 else 3 * expected[-1] + 1)
        assert seen == expected
        assert result("collatz", f"{n:b}") == "1"


def test_each_sweep_of_rule_110_is_one_generation():
    def next_generation(ones):
        span = range(min(ones, default=0) - 1, max(ones, default=0) + 2)
        pattern = {i: 4 * (i - 1 in ones) + 2 * (i in ones) + (i + 1 in ones) for i in span}
        return {i for i in span if 110 >> pattern[i] & 1}

    for word in words("01", 6):
        ones = {i for i, bit in enumerate(word) if bit == "1"}
        generation, direction = 0, "right"
        for c in zoo["rule_110"].trace(word, 500):
            if not c.state.startswith(direction):
                direction, generation = c.state.split()[0], generation + 1
                ones = next_generation(ones)
                # Sweeps to the right write a generation one cell on, those to the left one cell back.
                assert {i - generation % 2 for i, bit in c.tape.items() if bit == "1"} == ones
        assert generation > 10


def test_antihydra_iterates_three_halves_and_counts():
    # 1^b 0 1^a, with E on the blank to the right, stands for (a + 4, b); from (8, 0) an even n goes
    # to 3n/2 and the count up by 2, an odd one to (3n - 1)/2 and the count down by 1.
    machine = zoo["antihydra"]
    found = []
    for c in machine.trace("", 20_000):
        if c.state == "E" and c.symbol == "0" and c.head == max(c.tape) + 1:
            left, _, right = machine.text(c.tape).rpartition("0")
            found.append((len(right) + 4, len(left)) if left.strip("1") == "" else None)
    expected = [(8, 0)]
    for _ in range(7):
        n, count = expected[-1]
        expected.append((3 * n // 2, count + 2) if n % 2 == 0 else ((3 * n - 1) // 2, count - 1))
    assert [pair for pair in found if pair in expected][: len(expected)] == expected


# The universal machine.


def encode(guest, word="", pad=0):
    """A two-symbol machine and its word, with ``pad`` blank cells to the left, for the universal machine."""
    blank, one = guest.symbols
    bit = {blank: "0", one: "1"}

    def rule(state, symbol):
        if (state, symbol) not in guest.delta:
            return "."
        target, written, move = guest.delta[state, symbol]
        return bit[written] + {-1: "L", 1: "R"}[move] + "+" * guest.states.index(target)

    blocks = ["H" if q in guest.halting else f"{rule(q, blank)}/{rule(q, one)}" for q in guest.states]
    first, *rest = [bit[symbol] for symbol in word or blank]
    return f"(^{';'.join(blocks)}){'0' * pad}{'AB'[int(first)]}{''.join(rest)}"


def decode(guest, tape, pad=0):
    """State, head and tape of the guest."""
    text = zoo["universal"].text(tape)
    program, cells = text[1:].split(")")
    current = program[: program.index("^")].count(";")
    head = cells.index("A") if "A" in cells else cells.index("B")
    ones = {i - pad: guest.symbols[1] for i, cell in enumerate(cells) if cell in "1B"}
    return guest.states[current], head - pad, ones


ADDER = TuringMachine(
    {
        ("first", "1"): ("first", "1", 1),
        ("first", "0"): ("second", "1", 1),
        ("second", "1"): ("second", "1", 1),
        ("second", "0"): ("erase", "0", -1),
        ("erase", "1"): ("sum", "0", 1),
    },
    "first",
    {"sum"},
    "0",
)


def test_the_samples_of_the_universal_machine_are_two_different_programs():
    adder, beaver, _ = zoo.entry("universal").samples
    assert adder.word == encode(ADDER, "111011")
    assert beaver.word == encode(zoo["bb3"], pad=1)


@pytest.mark.parametrize(
    ("guest", "word", "pad"),
    [
        *(pytest.param(ADDER, "1" * a + "0" + "1" * b, 0, id=f"{a}+{b}") for a in range(4) for b in range(4)),
        pytest.param(zoo["bb2"], "", 2, id="bb2"),
        pytest.param(zoo["bb3"], "", 1, id="bb3"),
        pytest.param(zoo["bb4"], "", 12, id="bb4"),
    ],
)
def test_the_universal_machine_ends_as_its_guest_does(guest, word, pad):
    own = guest.run(word)
    host = zoo["universal"].run(encode(guest, word, pad))
    assert (own.status, host.status) == ("halted", "halted")
    assert decode(guest, host.tape, pad) == (own.state, own.head, own.tape)


def test_the_universal_adder_adds():
    for a, b in itertools.product(range(4), repeat=2):
        host = zoo["universal"].run(encode(ADDER, "1" * a + "0" + "1" * b))
        assert len(decode(ADDER, host.tape)[2]) == a + b


@st.composite
def guests(draw):
    states = ["a", "b", "c", "stop", "end"]
    row = st.none() | st.tuples(st.sampled_from(states), st.sampled_from("01"), st.sampled_from([-1, 1]))
    rules = {(q, a): rule for q in states[:3] for a in "01" if (rule := draw(row))}
    rules["a", "0"] = rules.get(("a", "0"), ("b", "1", 1))
    return TuringMachine(rules, "a", {"stop", "end"}, "0", alphabet="01")


@settings(deadline=None)
@given(guests(), st.text("01", max_size=4))
def test_the_universal_machine_passes_through_every_configuration_of_a_random_guest(guest, word):
    steps, pad = 12, 13  # too few steps to leave the padding
    own = [(c.state, c.head, c.tape) for c in guest.trace(word, steps)]
    run = guest.run(word, steps)
    universal = zoo["universal"]
    code = encode(guest, word, pad)
    # Between two steps of the guest the host enters state "read" from the state "restore".
    host = universal.trace(code, 200_000)
    moments = [decode(guest, universal.tape(code), pad)]
    before = None
    for c in host:
        if before == "restore" and c.state == "read":
            moments.append(decode(guest, c.tape, pad))
            if len(moments) > steps:
                break
        before = c.state
    assert moments == own
    if run.status != "limit":
        ended = universal.run(code, 200_000)
        assert ended.status == run.status
        assert ended.state == ("halt" if run.status == "halted" else "rule")


def test_a_guest_that_leaves_its_tape_on_the_left_jams_the_universal_machine():
    run = zoo["universal"].run(encode(zoo["bb3"]))
    assert (run.status, run.state) == ("jammed", "arrive")
