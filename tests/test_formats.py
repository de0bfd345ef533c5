"""Machines as text: every form of every format, round trips, and the error for each bad text."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import turing
from book import ROOT
from turing import TuringMachine
from turing.formats import FORMATS, LIMIT, FormatError, UnknownFormat, dumps, fit, parse

EXAMPLES = Path(__file__).parent / "examples"


def example(name: str) -> str:
    return (EXAMPLES / name).read_text(encoding="utf-8")


def outcome(function, *arguments):
    """What the function returns, or the message of its FormatError. Any other exception fails the test."""
    try:
        return function(*arguments), None
    except FormatError as error:
        return None, str(error)


def machine(rules: str, initial: str, halting: set, blank: str, alphabet=()) -> TuringMachine:
    """A machine from lines such as ``A 0 B 1 +1``; ``␣`` stands for a space in a name."""
    rows = [[part.replace("␣", " ") for part in line.split()] for line in rules.strip().splitlines()]
    return TuringMachine([(*row[:4], int(row[4])) for row in rows], initial, halting, blank, alphabet=alphabet)


EXPECTED = {
    "two_states.bbchallenge.txt": machine(
        """
        A 0 B 1 +1
        A 1 B 1 -1
        B 0 A 1 -1
        B 1 Z 1 +1
        """,
        "A", {"Z"}, "0",
    ),
    "undefined.bbchallenge.txt": machine(
        """
        A 0 B 1 +1
        A 1 A 2 -1
        B 2 Y 0 -1
        C 0 Z 2 +1
        C 1 A 1 +1
        """,
        "A", {"Y", "Z"}, "0",
    ),
    "never_halts.bbchallenge.txt": machine(
        """
        A 0 A 0 +1
        A 1 B 1 -1
        B 0 A 1 +1
        B 1 B 0 -1
        """,
        "A", set(), "0",
    ),
    "every_form.yaml": machine(
        """
        go␣right 0 go␣right 0 +1
        go␣right 1 go␣right 1 +1
        go␣right ␣ go␣left  ␣ -1
        go␣left  0 go␣left  1 -1
        go␣left  1 yes      0 +1
        go␣left  ␣ go␣left  # -1
        go␣left  x go␣left  # -1
        go␣left  y go␣left  y -1
        go␣left  # done     y +1
        go␣left  n go␣left  n -1
        go␣left  , 0x1      , +1
        yes      0 yes      0 +1
        yes      1 nowhere  1 +1
        yes      ~ yes      ~ -1
        0x1      0 idle     0 +1
        """,
        "go right", {"done", "idle", "nowhere"}, " ", alphabet="o",
    ),
    "wrapped.yaml": machine(
        """
        A 0 H 1 +1
        A 1 A 1 +1
        """,
        "A", {"H"}, "0",
    ),
    "every_form.morphett.txt": machine(
        """
        0 a 1      b +1
        0 b 0      b +1
        0 _ halt   _ 0
        0 c Halt-c _ +1
        0 x halted x -1
        1 a 2      c -1
        1 b 0      x -1
        1 c 0      x -1
        1 x 0      x -1
        1 _ 0      x -1
        2 a 3      a 0
        2 b 3      b 0
        2 c 3      c 0
        2 x 3      x 0
        2 _ 3      _ 0
        3 c Halt-c _ +1
        3 a halted a -1
        3 b halted b -1
        3 x halted x -1
        3 _ halted _ -1
        """,
        "0", {"halt", "Halt-c", "halted"}, "_",
    ),
    "states.jff": machine(
        """
        first␣&␣only a q7           □ +1
        q7           < first␣&␣only a -1
        q7           □ done         b 0
        """,
        "first & only", {"done"}, "□",
    ),
    "blocks.jff": machine(
        """
        q0 1 q0 0 +1
        q0 □ q1 □ -1
        """,
        "q0", {"q1"}, "□",
    ),
    "shortcuts.jff": machine(
        """
        find □ find □ +1
        find y end  y 0
        find x any  x -1
        any  □ end  x +1
        any  x end  x +1
        any  y end  x +1
        """,
        "find", {"end"}, "□",
    ),
    "own.json": TuringMachine(
        {
            ("先", "0"): ('q "end"', "10", 0),
            ("先", "10"): ("stuck", "0", -1),
            ("other", "0"): ("先", "0", 1),
        },
        "先", {'q "end"', "unreached"}, "never mentioned", alphabet=["never mentioned", "δ"],
    ),
}  # fmt: skip


def test_every_example_has_its_machine():
    assert {path.name for path in EXAMPLES.iterdir()} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_every_form_is_read_as_the_machine_that_it_means(name):
    assert TuringMachine.parse(example(name)) == EXPECTED[name]


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize(
    "change", [lambda t: "\ufeff" + t, lambda t: t.replace("\n", "\r\n"), lambda t: "\n" + t + "\n"]
)
def test_byte_order_marks_line_ends_and_empty_lines_do_no_harm(name, change):
    assert parse(change(example(name))) == EXPECTED[name]


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("two_states.bbchallenge.txt", "bbchallenge"),
        ("undefined.bbchallenge.txt", "bbchallenge"),
        ("never_halts.bbchallenge.txt", "bbchallenge"),
        ("every_form.yaml", "turingmachine.io"),
        ("wrapped.yaml", "turingmachine.io"),
        ("every_form.morphett.txt", "morphett"),
        ("states.jff", "jflap"),
        ("blocks.jff", "jflap"),
        ("shortcuts.jff", "jflap"),
        ("own.json", "json"),
    ],
)
def test_a_machine_read_from_a_format_is_written_in_it_again(name, format):
    read = parse(example(name), format)
    assert parse(read.dumps(format)) == read


def test_what_is_written_is_short_and_in_the_words_of_the_format():
    bb2 = parse("1RB1LB_1LA1RZ")
    assert dumps(bb2, "bbchallenge") == "1RB1LB_1LA1RZ"
    assert dumps(bb2, "turingmachine.io") == (
        "blank: 0\nstart state: A\ntable:\n  A:\n    0: {write: 1, R: B}\n    1: {L: B}\n"
        "  B:\n    0: {write: 1, L: A}\n    1: {R: Z}\n  Z:\n"
    )
    assert dumps(bb2, "json") == (
        '{\n  "turing_machine": 1,\n  "initial": "A",\n  "halting": ["Z"],\n  "blank": "0",\n  "delta": [\n'
        '    ["A", "0", "B", "1", 1],\n    ["A", "1", "B", "1", -1],\n    ["B", "0", "A", "1", -1],\n'
        '    ["B", "1", "Z", "1", 1]\n  ]\n}\n'
    )
    assert "先" in dumps(EXPECTED["own.json"], "json")
    assert dumps(EXPECTED["undefined.bbchallenge.txt"], "bbchallenge") == "1RB2LA---_------0LY_2RZ1RA---"


def test_a_row_without_rules_jams_and_keeps_its_place():
    jams = parse("1RC---_------_------")
    assert jams.run().status == "jammed"
    assert dumps(jams, "bbchallenge") == "1RC---_------_------"


def test_a_column_without_rules_is_still_a_symbol():
    assert parse("1RA------").symbols == ("0", "1", "2")
    assert dumps(parse("1RA------"), "bbchallenge") == "1RA------"


@pytest.mark.parametrize(
    "name", ["null", "~", "no", "0x1", "00", "a: b", "# a", "it's", '"', "\\", "\n", "\x85", "😀\0", "*a"]
)
def test_a_name_that_means_something_in_yaml_is_quoted(name):
    m = PLAIN.rename({"1": name, "halt": f"{name}!"})
    assert parse(dumps(m, "turingmachine.io")) == m


@pytest.mark.parametrize("name", ["<", "<?xml", "{", '{"', "1RB", "table:"])
def test_a_first_state_that_looks_like_another_format_does_not_mislead_the_detection(name):
    m = TuringMachine({(name, "_"): ("0", "_", 1), ("0", "_"): (name, "_", 1)}, "0", set(), "_")
    assert parse(dumps(m, "morphett")) == m


def test_wildcards_also_stand_for_the_symbols_of_a_given_alphabet():
    assert parse("0 * * r 0", alphabet="ab").symbols == ("_", "a", "b")
    shortcuts = parse(example("shortcuts.jff"), alphabet=["z"])
    assert shortcuts.delta["find", "z"] == ("find", "z", 1)
    assert parse("1RB1LB_1LA1RZ", alphabet="x").symbols == ("0", "1", "x")


def test_a_machine_of_turingmachine_io_accepts_its_own_input():
    m = parse("input: 'ab'\n" + yaml_machine("0: R"))
    assert m.symbols == ("0", "a", "b")
    assert m.run("ab").status == "jammed"
    assert parse(dumps(m, "turingmachine.io")) == m
    for nothing in ("", "''", "~"):
        assert parse(f"input: {nothing}\n" + yaml_machine("0: R")).symbols == ("0",)


names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=4) | st.sampled_from(
    ["0", "A", "halt", "*", "_", "null"]
)


@st.composite
def machines(draw) -> TuringMachine:
    states = draw(st.lists(names, min_size=2, max_size=6, unique=True))
    symbols = draw(st.lists(names, min_size=2, max_size=5, unique=True))
    halting = draw(st.sets(st.sampled_from(states), max_size=len(states) - 1))
    running = [state for state in states if state not in halting]
    keys = st.tuples(st.sampled_from(running), st.sampled_from(symbols))
    moves = draw(st.sampled_from([(-1, 1), (-1, 0, 1)]))
    rules = st.tuples(st.sampled_from(states), st.sampled_from(symbols), st.sampled_from(moves))
    delta = draw(st.dictionaries(keys, rules, min_size=1, max_size=20))
    used = [state for (source, _), (target, _, _) in delta.items() for state in (source, target)]
    if draw(st.booleans()):  # as most formats require: every halting state is reached by a rule
        halting &= set(used)
    initial = draw(st.sampled_from(sorted({*used, *halting})))
    extra = symbols if draw(st.booleans()) else symbols[:1]
    return TuringMachine(delta, initial, halting, symbols[0], alphabet=extra)


@given(machines())
@settings(deadline=None)
def test_json_holds_every_machine_and_keeps_its_order(m):
    read = parse(dumps(m, "json"))
    assert (read, read.states, read.symbols) == (m, m.states, m.symbols)


LONG_NAME = "x" * 400_000
LONG = TuringMachine({("0", "0"): (LONG_NAME, "0", 1), (LONG_NAME, "0"): (LONG_NAME, "0", 1)}, "0", set(), "0")


def test_json_holds_a_machine_that_is_too_large_for_the_other_formats():
    assert parse(dumps(LONG)) == LONG
    message = (
        "morphett cannot hold this machine: it would take 1,200,063 characters, and at most 1,000,000 are read. "
        "The json format holds larger ones."
    )
    with pytest.raises(FormatError, match=f"^{re.escape(message)}$"):
        dumps(LONG.rename({}, {"0": "_"}), "morphett")


def test_a_machine_that_is_too_large_for_json_is_refused():
    m = LONG.rename({LONG_NAME: "x" * LIMIT})
    message = r"json cannot hold this machine: it would take 30,\d+,\d+ characters, and at most 10,000,000 are read."
    with pytest.raises(FormatError, match=f"^{message}$"):
        dumps(m)


@given(machines())
@settings(max_examples=200, deadline=None)
def test_a_machine_is_written_exactly_or_not_at_all(m):
    for format in FORMATS:
        text, error = outcome(dumps, m, format)
        assert f"{format} cannot hold" in error if error else parse(text, format) == parse(text) == m


@pytest.mark.parametrize("differs", [{"blank": "1"}, {"initial": "B"}, {"alphabet": ["2"]}])
def test_what_a_format_would_read_back_as_another_machine_is_not_written(differs, monkeypatch):
    """A sixth format, whose checks see nothing wrong with any machine, and which writes one that differs."""
    own = FORMATS["json"]

    def write(machine):
        data = {"delta": machine.delta, "initial": machine.initial, "halting": machine.halting, "blank": machine.blank}
        return own.write(TuringMachine(**data | differs))

    careless = {"lacks": lambda *_: "", "state_fault": lambda *_: "", "symbol_fault": lambda *_: "", "write": write}
    monkeypatch.setitem(FORMATS, "careless", SimpleNamespace(**vars(own) | careless))
    with pytest.raises(FormatError, match=r"^careless cannot hold this machine: read back, it is different\. The json"):
        dumps(parse("1RB1LB_1LA1RZ"), "careless")


@given(machines())
@settings(max_examples=200, deadline=None)
def test_what_fit_returns_can_be_written_and_runs_in_the_same_way(m):
    for format in FORMATS:
        renamed, error = outcome(fit, m, format)
        if error:
            assert "The json format holds it." in error
            continue
        assert parse(dumps(renamed, format)) == renamed
        assert fit(renamed, format) == renamed
        old, new = m.run(max_steps=50), renamed.run(max_steps=50)
        assert (old.status, old.steps, old.head, list(old.tape)) == (
            new.status,
            new.steps,
            new.head,
            list(new.tape),
        )


def test_fit_gives_each_of_thousands_of_states_its_own_name():
    states = [f"{'x' * 1001}{i}" for i in range(3000)]  # equal in the part that fit would keep
    m = TuringMachine(
        [(q, f"a{i}", states[i - 1], f"a{i - 1}", 1) for i, q in enumerate(states)], states[0], set(), "a0",
        alphabet=["a-1"],
    )  # fmt: skip
    fitted = fit(m, "turingmachine.io")
    assert (len(fitted.states), len(fitted.symbols)) == (len(m.states), len(m.symbols))
    assert max(map(len, fitted.states)) < 50
    assert set(map(len, fitted.symbols)) == {1}


def test_fit_leaves_names_that_fit_unchanged():
    m = EXPECTED["two_states.bbchallenge.txt"]
    assert fit(m, "morphett").states == ("0", "B", "halt-Z")
    assert fit(m, "turingmachine.io") == m
    moved = m.rename({"B": "go on", "Z": "B"})
    assert fit(moved, "bbchallenge").states == ("A", "B", "Z")
    wide = m.rename({"B": "Z", "Z": "end"})  # no letter is left after Z
    assert dumps(fit(wide, "bbchallenge"), "bbchallenge") == "1RB1LB_1LA1RZ"


STAY = TuringMachine({("A", "0"): ("Z", "0", 0)}, "A", {"Z"}, "0")
LONE = TuringMachine({("A", "0"): ("A", "0", 1)}, "A", {"Z"}, "0")
STUCK = TuringMachine({("A", "0"): ("B", "0", 1)}, "A", set(), "0")
EXTRA = TuringMachine({("A", "0"): ("A", "0", 1)}, "A", set(), "0", alphabet=["1"])
AT_ONCE = TuringMachine({("B", "0"): ("A", "0", 1)}, "A", {"A"}, "0")
MANY = TuringMachine([(f"q{i}", "0", f"q{i + 1}", "0", 1) for i in range(26)], "q0", set(), "0")
WIDE = TuringMachine([("A", str(i), "A", "0", 1) for i in range(11)], "A", set(), "0")


@pytest.mark.parametrize(
    ("m", "format", "message"),
    [
        (STAY, "bbchallenge", "the rule for ('A', '0') stays, and the format knows only left and right"),
        (STAY, "turingmachine.io", "the rule for ('A', '0') stays"),
        (LONE, "bbchallenge", "no rule leads to the halting state 'Z'"),
        (LONE, "morphett", "no rule leads to the halting state 'Z'"),
        (STUCK, "turingmachine.io", "state 'B' has no rules and does not halt, and in this format it would"),
        (EXTRA, "morphett", "no rule mentions the symbol '1'"),
        (EXTRA, "jflap", "no rule mentions the symbol '1'"),
        (AT_ONCE, "bbchallenge", "the initial state 'A' halts"),
        (AT_ONCE, "morphett", "the initial state 'A' halts"),
        (MANY, "bbchallenge", "it has 27 states, and there are 26 letters"),
        (WIDE, "bbchallenge", "it has 11 symbols, and there are 10 digits"),
    ],
)
def test_what_no_renaming_can_fix_is_refused_by_dumps_and_by_fit(m, format, message):
    for write in (dumps, fit):
        with pytest.raises(FormatError, match=f"^{format} cannot hold this machine: {re.escape(message)}.* json"):
            write(m, format)


PLAIN = TuringMachine({("0", "_"): ("1", "a", 1), ("1", "_"): ("halt", "_", 1)}, "0", {"halt"}, "_")


@pytest.mark.parametrize(
    ("states", "symbols", "format", "message"),
    [
        ({"0": "start"}, {}, "morphett", "the state 'start': the initial state is 0"),
        ({"0": "x", "1": "0"}, {}, "morphett", "the state 'x': the initial state is 0"),
        (
            {"halt": "T"},
            {},
            "morphett",
            "the state 'T': the halting states are those whose names begin with halt",
        ),
        ({"1": "Halt1"}, {}, "morphett", "the state 'Halt1': the halting states"),
        ({"1": "go on"}, {}, "morphett", "the state 'go on': no state is called *, and no name holds a space"),
        ({"1": "*"}, {}, "morphett", "the state '*': no state is called *"),
        ({}, {"_": "b"}, "morphett", "the symbol 'b': the blank is _"),
        ({}, {"a": "ab"}, "morphett", "the symbol 'ab': a symbol is one character"),
        ({}, {"a": "*"}, "morphett", "the symbol '*': a symbol is one character, and none of *"),
        ({}, {"a": ";"}, "morphett", "the symbol ';': a symbol"),
        ({}, {"a": " "}, "morphett", "the symbol ' ': a symbol"),
        ({}, {}, "bbchallenge", "the state '0': the initial state is A"),
        ({"0": "A", "1": "Bee"}, {}, "bbchallenge", "the state 'Bee': a state is one letter"),
        (
            {"0": "A", "1": "B"},
            {},
            "bbchallenge",
            "the state 'halt': a halting state is a letter after the last row, B",
        ),
        (
            {"0": "A", "1": "Z", "halt": "Y"},
            {},
            "bbchallenge",
            "the state 'Z': a state is one letter, with those",
        ),
        ({"0": "A", "1": "B", "halt": "C"}, {}, "bbchallenge", "the symbol '_': the blank is 0"),
        (
            {"0": "A", "1": "B", "halt": "C"},
            {"_": "0"},
            "bbchallenge",
            "the symbol 'a': the symbols are the digits",
        ),
        ({"1": "x" * 1001}, {}, "turingmachine.io", "a key of YAML has at most 1,000 characters"),
        ({}, {"a": "ab"}, "turingmachine.io", "the symbol 'ab': a symbol is one character"),
        (
            {},
            {"a": "😀"},
            "turingmachine.io",
            "the symbol '😀': a symbol is one character, and one of the first 65,536",
        ),
        ({}, {}, "jflap", "the symbol '_': the blank is □"),
        ({"1": "\0"}, {"_": "□"}, "jflap", "the state '\\x00': a name holds only characters that XML allows"),
        ({}, {"_": "□", "a": "!"}, "jflap", "the symbol '!': a symbol is one character, and none of !"),
        ({}, {"_": "□", "a": "aa"}, "jflap", "the symbol 'aa': a symbol is one character"),
    ],
)
def test_a_name_that_does_not_fit_is_refused_and_fit_replaces_it(states, symbols, format, message):
    m = PLAIN.rename(states, symbols)
    with pytest.raises(FormatError, match=re.escape(message)) as caught:
        dumps(m, format)
    assert f"turing.formats.fit(machine, '{format}')" in str(caught.value)
    assert parse(dumps(fit(m, format), format)) == fit(m, format)


def yaml_machine(row: str) -> str:
    return f"blank: 0\nstart state: A\ntable:\n  A:\n    {row}\n  B:\n"


def jff(body: str, head: str = "<type>turing</type>") -> str:
    first = '<state id="0" name="a"><initial/></state>'
    return f"<structure>{head}\n<automaton>\n{first}\n{body}\n</automaton></structure>"


def transition(read: str = "a", write: str = "a", move: str = "R", to: str = "0") -> str:
    return (
        f"<transition><from>0</from><to>{to}</to><read>{read}</read><write>{write}</write>"
        f"<move>{move}</move></transition>"
    )


def own(**change) -> str:
    parts = {"turing_machine": "1", "initial": '"A"', "halting": '["Z"]', "blank": '"0"'}
    parts |= {"delta": '[\n["A", "0", "Z", "0", 1]]'} | change
    return "{" + ",\n".join(f'"{key}": {value}' for key, value in parts.items() if value) + "}"


BAD = [
    # bbchallenge
    ("1RB1LB_1LA1XZ", 1, "row B, column 1: '1XZ' is not a rule. Write the symbol, L or R, and the next state"),
    ("\n1RB1L\n", 2, "row A, column 1: '1L' is not a rule"),
    ("1rb1lb_1la1rz", 1, "row A, column 0: '1rb' is not a rule"),
    ("1RB1LB_1LA", 1, "row B has 3 characters, and row A has 6. Rows are equally long: write ---"),
    ("1RB_1LA1RZ", 1, "row B has 6 characters, and row A has 3"),
    ("1RB2LB_1LA1RZ", 1, "row A, column 1: 2LB writes 2, and the last column is that of symbol 1"),
    ("1RB" * 11, 1, "11 columns were given, and there are digits for 10 symbols"),
    ("1RB" + "_1RB" * 26, 1, "27 rows were given, and there are letters for 26 states"),
    ("------", None, "This machine has no rules."),
    # turingmachine.io
    (yaml_machine("0: {write: 1}"), 5, "The action has neither L nor R. It needs one of them."),
    (yaml_machine("0: {L: A, R: B}"), 5, "The action has both L and R"),
    (yaml_machine("0: {R: B, wirte: 1}"), 5, "The action has the unknown key 'wirte'. The known ones are: L,"),
    (yaml_machine("0: {R: B, R: A}"), 5, "The action has the key 'R' twice"),
    (yaml_machine("0: stay"), 5, "'stay' is neither L nor R nor a synonym. Write R, {R: state} or {write: x,"),
    (yaml_machine("0:"), 5, "An action reads R, {R: state} or {write: x, L: state}, and nothing was given"),
    (yaml_machine("0: [R]"), 5, "An action reads R, {R: state} or {write: x, L: state}, and a list was given"),
    (yaml_machine("0: {R: [B]}"), 5, "After R comes a state, and a list was given"),
    (yaml_machine("0: {write: ~, R: B}"), 5, "write needs a symbol"),
    (yaml_machine("0: {write: 10, R: B}"), 5, "A symbol is one character, quoted if need be, and '10' was"),
    (yaml_machine("01: R"), 5, "A symbol is one character, quoted if need be, and '01' was given"),
    (yaml_machine("{a: b}: R"), 5, "A symbol is one character, quoted if need be, and a mapping was given"),
    (yaml_machine("[[0]]: R"), 5, "A symbol is one character, quoted if need be, and a list was given"),
    (yaml_machine("0: R\n    [1, 0]: L"), 6, "Two rules were given for state 'A' reading '0', the first on"),
    (yaml_machine("0: R\n  A:\n    1: R"), 6, "table has the key 'A' twice"),
    (yaml_machine("R"), 5, "The row of 'A' is a mapping, key: value, and 'R' was given"),
    (yaml_machine("0: !!python/name:os.system R"), 5, "The tag 'tag:yaml.org,2002:python/name:os.system'"),
    (yaml_machine("0: {R: 'B}"), 7, "This is not YAML: while scanning a quoted scalar, found unexpected end"),
    (yaml_machine("0: \t@"), 5, "This is not YAML"),
    (yaml_machine('0: "\\UFFFFFFFF"'), None, "This is not YAML"),
    (yaml_machine("\x07: R"), 5, "This is not YAML: the character '\\x07' is not allowed"),
    (yaml_machine("? [0]\n    : R\n    ? {}\n    : R"), 7, "A symbol is one character, quoted if need be, and"),
    ("blank: 0\ntable:\n  A: {0: R}\n", 1, "The machine has no start state. It needs blank, start state and"),
    ("blank:\nstart state: A\ntable:\n  A: {0: R}\n", 1, "The machine has no blank"),
    ("blank: ab\nstart state: A\ntable:\n  A: {0: R}\n", 1, "A symbol is one character, quoted if need be,"),
    ("blank: 0\nstart state: B\ntable:\n  A: {0: R}\n", 2, "The start state 'B' has no row in the table"),
    ("blank: 0\nstart state: A\ntable: [A]\n", 3, "table is a mapping, key: value, and a list was given"),
    ("blank: 0\nstart state: A\ntable:\n  A:\n", None, "This machine has no rules"),
    ("blank: 0\nstart: A\ntable:\n  A:\n", 2, "The machine has the unknown key 'start'. The known ones are:"),
    ("synonyms: {a: R, b: a}\n" + yaml_machine("0: a"), 1, "'a' is neither L nor R nor a synonym"),
    (yaml_machine("0: R") + "---\n" + yaml_machine("0: R"), 8, "2 YAML documents were given, and a machine"),
    ("name: x\nsource code: |\n  blank: 0\n  start state: A\n  table:\n    A:\n      0: up\n", 7, "'up' is"),
    ("source code: 'blank: 00'\n", 1, "The machine has no start state"),
    ("name: x\nsource code: ''\n", 2, "0 YAML documents were given"),
    (yaml_machine("[]: R"), 5, "This list of symbols is empty. Name those that the rule reads."),
    ("input: [1]\n" + yaml_machine("0: R"), 1, "input is a piece of text, and a list was given"),
    ("source code:\n  blank: 0\n", 2, "source code is a block of text, and a mapping was given"),
    ("source code: |\n  a\nblank: 0\n", 3, "The document has the unknown key 'blank'"),
    # morphett
    ("0 0 1 r\n0 1 1 r 0", 1, "4 columns were given, and a rule has five: state, symbol, new symbol,"),
    ("0 1 1 r 0\n\n0 0 1 r 0 ?", 3, "6 columns were given"),
    ("0 1 1 r 0\n0 00 1 r 0", 2, "'00' is not a symbol: a symbol is one character, and _ is the blank"),
    ("0 1 1 r 0\n0 0 1 s 0", 2, "'s' is not a direction. Write l, r, or * to stay."),
    ("0 1 1 r 0\n; twice\n0 1 0 l 0", 3, "Two rules were given for state '0' reading '1', the first on line"),
    ("0 1 1 r 0\n* * 1 r 0\n* * 0 l 0", 3, "Two rules were given for state '*' reading '*', the first on line"),
    ("0 1 1 r halt\nhalt 1 1 r 0", 2, "State 'halt' halts, and a rule was given for it, reading '1'. Remove"),
    ("1 1 1 r 1", None, "The initial state '0' appears in no rule. The states of the rules are: 1."),
    ("0 _ 1 s halt", 1, "'s' is not a direction. Write l, r, or * to stay."),
    ("0 _ 1 s halt !", 1, "'s' is not a direction"),
    ("0 _ 1 R s halt", 1, "6 columns were given"),
    ("; nothing but a comment", None, "This machine has no rules"),
    # jflap
    (jff(transition(), "<type>fa</type>"), 1, "This structure is of type 'fa'. Only type turing is read."),
    (jff(transition(), ""), 1, "This structure has no <type>"),
    (jff(transition(), "<type>turing</type><tapes>2</tapes>"), 1, "This machine has '2' tapes. Only machines"),
    (jff(transition().replace("<read>", '<read tape="2">')), 4, "This transition has a <read> for another"),
    (jff("<block id='1'><tag>M</tag></block><M>\n<automaton><state id='0'/></automaton></M>"), 4, "'M' is a"),
    (jff("<automaton><state id='0'/></automaton>"), 4, "'automaton' is a machine inside the machine. Building"),
    (jff(transition().replace("<transition>", '<transition block="true">')), 4, "This transition belongs to a"),
    (jff("<state name='x'/>"), 4, "This state has no id. Give each state its own id."),
    (jff("<state id='0' name='x'/>"), 4, "This state has the id '0' of another state"),
    (jff("<state id='1' name='a'/>"), 4, "Two states are called 'a', the first on line 3"),
    (jff("<state id='1'><initial/></state>"), 4, "Both 'a' and 'q1' are initial. Keep one."),
    (jff("").replace("<initial/>", ""), 2, "No state is <initial/>. Mark one."),
    (jff(transition(to="9")), 4, "This transition names the state '9', and no state has that id"),
    (jff(transition(move="X")), 4, "A move is L, R or S, and 'X' was given"),
    (jff(transition(read="ab")), 4, "'ab' is not a symbol: a symbol is one character, and nothing is the blank"),
    (jff(transition(write="ab")), 4, "'ab' is not a symbol"),
    (jff(transition(read="!")), 4, "'!' is not a symbol"),
    (jff(transition(read=" ")), 4, "This <read> holds a space, and a space is not a symbol. Write <read/> for the"),
    (jff(transition(write="\u3000")), 4, "This <write> holds a space"),
    (jff(transition() + "</automaton>\n<automaton>"), 5, "This is a second <automaton>, and a file holds one machine."),
    (jff(transition(read="a,b}w")), 4, "'a,b}w' keeps a symbol in a variable, and that is not read"),
    (jff(transition() + "\n" + transition(write="b")), 5, "Two rules were given for state 'a' reading 'a',"),
    (jff(transition() + "\n" + transition(read="~")), 5, "Two rules were given for state 'a' reading 'a', the"),
    (jff(transition(read="!b") + "\n" + transition(read="!c")), 5, "Two rules were given for state 'a'"),
    (jff("<state id='1'><final/></state>").replace("<initial/>", "<initial/><final/>"), None, "This machine"),
    (jff(transition()).replace("<initial/>", "<initial/><final/>"), 4, "State 'a' halts, and a rule was given"),
    (jff(transition()).replace("</automaton>", ""), 5, "This is not XML: mismatched tag"),
    ("\n\n" + jff("\ud800"), 6, "This is not XML: the character '\\ud800' is not allowed"),
    ("<p>no machine</p>", 1, "A .jff file is a <structure>, and 'p' was given"),
    # json
    ('{\n"turing_machine": 1,\n"initial" "A"}', 3, "This is not JSON: Expecting ':' delimiter"),
    ("{}", 1, 'A machine in JSON is an object with "turing_machine": 1 in it'),
    (own(turing_machine="2"), 1, '"turing_machine" is the version of the format, 1, and \'2\' was given'),
    ("\n" + own(blank=""), 2, "The keys are initial, halting, blank, delta and, if need be, alphabet. Missing or"),
    (own(start='"A"'), 7, "Missing or unknown: 'start'"),
    (own(initial="7"), 2, "initial is a string, and '7' was given"),
    (own(halting='"Z"'), 3, "halting is a list of strings, and 'Z' was given"),
    (own(alphabet="\n[1]"), 8, "alphabet is a list of strings, and '[1]' was given"),
    (own(delta="{}"), 5, "delta is a list of rules, [state, symbol, next state, symbol to write, move],"),
    (own(delta='[\n["A", "0", "Z", "0"]]'), 6, "A rule reads [state, symbol, next state, symbol to write,"),
    (own(delta='[\n\n"A0Z01"]'), 5, "A rule reads [state, symbol, next state"),
    (own(delta='[\n["A", "0", "Z", "0", 2]]'), 6, "A move is -1 (left), 0 (stay) or 1 (right), and '2' was"),
    (own(delta='[\n["A", "", "Z", "0", 1]]'), 6, "States and symbols are not empty"),
    (own(delta='[\n["A","0","Z","0",1],\n["A","0","A","0",1]]'), 7, "Two rules were given for state 'A'"),
    (own(delta='[\n["Z","0","A","0",1]]'), 6, "State 'Z' halts, and a rule was given for it"),
    (own(delta="[]"), None, "This machine has no rules"),
    (own(initial='"Q"'), None, "The initial state 'Q' appears in no rule"),
    (own(blank='"x"'), None, "The blank 'x' is not in the alphabet of the rules"),
    (own()[:-1] + ', "blank": "0"}', 6, "The key 'blank' is given twice"),
    (own(delta="1" * 5000), None, "This is not JSON"),
    # half of a pair of characters that stand for one in UTF-16
    (own(initial='"\\ud800"', delta='[\n["\\ud800", "0", "Z", "0", 1]]'), None, "'\\ud800'"),
    (own(alphabet='["\\udfff"]'), None, "'\\udfff'"),
    (yaml_machine(r'0: {R: "\ud800"}'), None, "'\\ud800'"),
    (yaml_machine("\ud800: R"), 5, "This is not YAML: the character '\\ud800' is not allowed"),
    ("0 \ud800 1 r 0", None, "'\\ud800'"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "message"), BAD, ids=range(len(BAD)))
def test_a_bad_text_is_refused_with_its_line_and_the_cause(text, line, message):
    with pytest.raises(FormatError) as caught:
        parse(text)
    assert message in str(caught.value)
    assert caught.value.line == line
    assert line is None or str(caught.value).startswith(f"line {line}: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "none of the known formats: json, jflap, bbchallenge, turingmachine.io, morphett. It is empty."),
        (" hello, machine", "none of the known formats: json, jflap, bbchallenge, turingmachine.io, morphett. "
                            "It begins 'hello, machine'."),
        ("word " * 99, f"It begins {('word ' * 12)!r}…."),
        (b"1RB1LB_1LA1RZ", "A machine is read from a str, and bytes was given. Decode bytes first"),
        (None, "A machine is read from a str, and NoneType was given."),
    ],
)  # fmt: skip
def test_what_is_not_a_machine_at_all_is_refused_with_what_would_be_one(text, message):
    with pytest.raises(FormatError, match=re.escape(message)):
        parse(text)


@pytest.mark.parametrize(
    "text",
    ["", "five words that mean nothing", "tabel:\n  A:\n    0: {write: 1, R: B}\n", "for i in range(9): print(i)"],
)
def test_a_text_that_only_resembles_a_format_is_in_an_unknown_one(text):
    with pytest.raises(UnknownFormat):
        parse(text)


def test_an_unknown_format_is_refused_with_the_known_ones():
    known = "The known ones are: json, jflap, bbchallenge, turingmachine.io, morphett."
    for call in (lambda: parse("1RB---", "yaml"), lambda: PLAIN.dumps("yaml"), lambda: fit(PLAIN, "yaml")):
        with pytest.raises(FormatError, match=f"There is no format 'yaml'. {known}"):
            call()


ALIAS_BOMB = "blank: 0\nstart state: A\n" + "a0: &a0 [x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 9)
)  # fmt: skip
ENTITY_BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>\n<structure>&b;</structure>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (" " * (LIMIT + 1), "has 10,000,001 characters, and at most 10,000,000 are read. Give the machine alone."),
        ("1RB" * 400_000, "The text has 1,200,000 characters, and at most 1,000,000 are read. Give the machine alone, "
                          "and a large one in the json format."),
        (yaml_machine("0: R") + "#" * 100_000, "characters, and at most 100,000 are read."),
        (ALIAS_BOMB, "line 4: The alias '*a0' is not followed. Write its value out."),
        ("table: &a\n  x: *a\n", "line 2: The alias '*a' is not followed."),
        ("table: " + "[" * 90_000, "line 1: This is nested more than 10 levels deep"),
        ("table: " + "{a: " * 20_000, "line 1: This is nested more than 10 levels deep"),
        ("table:\n" + "".join(" " * i + "a:\n" for i in range(1, 400)), "line 11: This is nested more than 10"),
        (ENTITY_BOMB, "line 1: A DOCTYPE is not read. Remove it."),
        ('<!DOCTYPE x SYSTEM "file:///etc/passwd"><structure/>', "line 1: A DOCTYPE is not read."),
        ("<a>" * 300_000, "line 1: This is nested more than 20 levels deep"),
        ('{"turing_machine":' + "[" * 900_000, "The JSON is nested too deeply for a machine."),
        ('{"turing_machine":' + '{"a":' * 150_000, "The JSON is nested too deeply for a machine."),
        ("".join(f"{i} {chr(0x4E00 + i)} * r *\n" for i in range(1000)) + "* * * r *\n",
         "line 1001: Up to this line the wildcards stand for 1,002,000 rules, and at most 200,000 are read."),
        (jff("\n".join(transition(read=f"{chr(0x4E00 + i)}") + "\n" + transition(read=f"!{chr(0x4E00 + i)}")
                       for i in range(900))), "rules, and at most 200,000 are read."),
    ],
    ids=range(15),
)  # fmt: skip
def test_a_text_made_to_be_expensive_is_refused(text, message):
    with pytest.raises(FormatError, match=re.escape(message)):
        parse(text)


PIECES = [
    *"_{}[]:,|\n\tRL*!;01\"'\\>", "1RB", "---", "  ", "&a", "- ", "? ", "# ", "%YAML 1.1\n", "halt",
    "0 1 1 r 0\n", "blank: 0\n", "start state: A\n", "table:\n", "  A:\n", "    0: R\n", "source code: |\n",
    '"turing_machine": 1', '"delta": [["A","0","A","0",1]]', own(),
    "<structure>", "<type>turing</type>", "<automaton>", "</", '<state id="0" name="a"><initial/></state>',
    transition(),
]  # fmt: skip


ODD = st.sampled_from(["\ud800", "\udfff", r"\ud800", r"\udfff"])  # half a character, itself or escaped


@given(st.text() | st.lists(st.sampled_from(PIECES) | st.text(max_size=3) | ODD, max_size=25).map("".join))
@settings(max_examples=400, deadline=None)
def test_any_text_is_a_machine_or_a_format_error(text):
    for format in (None, *FORMATS):
        read, error = outcome(parse, text, format)
        assert error or isinstance(read, TuringMachine)


@given(st.sampled_from(sorted(EXPECTED)), st.data())
@settings(max_examples=300, deadline=None)
def test_a_damaged_example_is_a_machine_or_a_format_error(name, data):
    text = example(name)
    place, length = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 5))
    text = text[:place] + data.draw(st.text(max_size=3) | st.sampled_from(PIECES) | ODD) + text[place + length :]
    for format in (None, *FORMATS):
        read, error = outcome(parse, text, format)
        assert error or isinstance(read, TuringMachine)


def test_the_reference_shows_a_rule_in_every_format_as_it_is_written():
    page = (ROOT / "book/library-machines.md").read_text(encoding="utf-8")
    table = page.partition("| format | comes from |")[2].partition("\n\n")[0]
    rows = dict(re.findall(r"^\| `([\w.]+)` \| [^|]+ \| (`[^|]+) \|$", table, re.MULTILINE))
    assert list(rows) == list(FORMATS)
    bb2 = turing.zoo["bb2"]
    for name, shown in rows.items():
        written = " ".join(dumps(fit(bb2, name), name).split())
        for piece in re.findall(r"`([^`]+)`", shown):
            assert piece in written, name
