"""Machines as text, read in the page: the machine that Python reads, or a refusal where Python refuses."""

import json
import random
import re
from importlib import resources

import pytest
import test_formats as formats
import yaml
from hypothesis import Phase, given, settings
from machines import machines
from test_formats import ALIAS_BOMB, BAD, PIECES, example, outcome, own, yaml_machine

from turing import TuringMachine, zoo
from turing.formats import FORMATS, FormatError, dumps, fit, parse
from turing.widgets.machine import machine_to_json

READ = [format for format in FORMATS if format != "jflap"]
EXAMPLES = [example(name) for name in formats.EXPECTED if not name.endswith(".jff")]

# Everything crosses as ASCII, half characters too. A long text crosses as pieces and how often each is repeated, and
# a machine that nobody compares as its numbers of states, symbols and rules.
CALL = """([given, what]) => JSON.stringify(JSON.parse(given).map(parts => {
  const {parseMachine, dumpMachine, FormatProblem} = modules;
  const text = typeof parts === "string" ? parts : parts.map(([piece, times]) => piece.repeat(times)).join("");
  const answer = {};
  try {
    Object.assign(answer, parseMachine(text));
    if (what === "morphett") dumpMachine(answer.machine, what);
    if (what === "texts") {
      answer.json = dumpMachine(answer.machine, "json");
      answer.again = parseMachine(answer.json).machine;
      answer.bbchallenge = dumpMachine(answer.machine, "bbchallenge");
    }
  } catch (error) {
    if (!(error instanceof FormatProblem)) throw error;
    Object.assign(answer, {message: error.message, line: error.line});
  }
  if (what === "sizes" && answer.machine)
    answer.machine = ["states", "symbols", "rules"].map(part => answer.machine[part].length);
  return answer;
}))"""


@pytest.fixture
def answers(modules):
    """What the page says of each text: the machine and its format and texts, or message and line."""
    page = modules("page/formats.js").page
    yield lambda texts, what="machines": json.loads(page.evaluate(CALL, [json.dumps(texts), what]))
    assert not page.evaluate("'ran' in window")


def format_of(text):
    return next((name for name, module in FORMATS.items() if module.detects(text.removeprefix("\ufeff"))), None)


def some(strategy, number):
    found = []

    @settings(max_examples=number, derandomize=True, database=None, deadline=None, phases=[Phase.generate])
    @given(strategy)
    def collect(machine):
        found.append(machine)

    collect()
    return found


def texts_of(*all_machines):
    """Every text that a machine, or the machine with other names, has in the formats that the page reads."""
    for machine in all_machines:
        for format in READ:
            for named in {machine, outcome(fit, machine, format)[0]} - {None}:
                yield from filter(None, outcome(dumps, named, format)[:1])


def check_equal(answers, texts):
    for text, answer in zip(texts, answers(texts, "texts"), strict=True):
        machine = parse(text)
        assert answer.get("machine") == machine_to_json(machine), (text, answer.get("message"))
        assert answer["format"] == format_of(text)
        assert answer["again"] == answer["machine"]
        assert answer["json"] == dumps(machine, "json")
        assert answer.get("bbchallenge") == outcome(dumps, machine, "bbchallenge")[0], text
        assert "bbchallenge" in answer or "bbchallenge cannot hold this machine" in answer["message"]


def test_every_machine_of_the_zoo_is_read_in_every_format(answers):
    files = [resources.files("turing.zoo").joinpath(f"{name}.yaml").read_text(encoding="utf-8") for name in zoo]
    originals = [yaml.safe_load(text)["machine"] for text in files]
    texts = [*texts_of(*zoo.values()), *(text for text in originals if format_of(text) != "jflap")]
    assert len(texts) > 80
    check_equal(answers, texts)


def test_every_form_of_the_examples_is_read(answers):
    changes = (str, lambda t: "\ufeff" + t, lambda t: t.replace("\n", "\r\n"), lambda t: "\n" + t + "\n")
    check_equal(answers, [change(text) for text in EXAMPLES for change in changes])


def test_random_machines_are_read_in_every_format(answers):
    texts = [*texts_of(*some(machines(), 100))]
    assert {format_of(text) for text in texts} == set(READ)
    check_equal(answers, texts)


def test_machines_with_any_names_are_read_in_every_format(answers):
    check_equal(answers, [*texts_of(*some(formats.machines(), 100))])


ACCEPTED = [
    yaml_machine("0: R\n    '1': {L: A}   # a comment"),
    yaml_machine('"\\x30": {write: "\\u0041", R: "\\U0001F600"}'),
    yaml_machine("~: {R: ~}\n    n: {write: y, L: null}"),
    yaml_machine("[0, 1, -, ~, '#', (]: R"),
    yaml_machine("{0: R}").replace("    {", "   {"),
    "---\n" + yaml_machine("0: R") + "...\n",
    "{blank: 0, start state: A, table: {A: {[0, 1]: {write: 1,\n L: B, }}}}",
    '{"blank": "0", "start state": "A", "table": {"A": {"0": {"R": "B"}}}}',
    "input: |\n  ab\n\n  c\n" + yaml_machine("0: R"),
    "input: |-\n  ab # c\n" + yaml_machine("0: R"),
    yaml_machine("0: R") + "input: |\n  ab",
    yaml_machine("a b: R").replace("a b", "' '") + "positions: {A: {x: 1, y: [2, 3]}}\n",
    "0 * * r 0\n0 a b l 1 !\n1 * * * halt ; a comment",
    "1RB---_------",
    own(delta='[["A", "0", "Z", "0", -0]]'),
    own(initial='"\\ud83d\\ude00"', delta='[["\\ud83d\\ude00", "0", "Z", "0", 0]]'),
    own(halting='["\\uffff", "\\ud83d\\ude00", "Z"]'),
]


def test_yaml_in_all_its_forms_is_read(answers):
    check_equal(answers, ACCEPTED)


# What the page says in words of its own: it has no resolver of tags, and shows lists in JSON by their line.
OTHER_WORDS = {
    "The tag 'tag:yaml.org,2002:python/name:os.system'": "The tag '!!python/name:os.system' means nothing",
    "This is not YAML: while scanning a quoted scalar, found unexpected end": "this quote is not closed on its line",
    '"turing_machine" is the version': "turing_machine is the version of the format, 1, and '2' was given",
    "The keys are initial": "The machine has no blank. It needs turing_machine, initial, halting, blank, delta.",
    "Missing or unknown: 'start'": "The machine has the unknown key 'start'. The known ones are:",
    "alphabet is a list of strings": "alphabet is a list of strings, and a list was given",
    "The key 'blank' is given twice": "The machine has the key 'blank' twice",
    "This is not JSON": "",  # a number of 5000 digits is not a list of rules either
}


def test_a_bad_text_is_refused_with_the_line_and_the_words_of_python(answers):
    bad = [row for row in BAD if format_of(row[0]) != "jflap"]
    assert len(bad) > 80
    for (text, line, words), answer in zip(bad, answers([text for text, _, _ in bad]), strict=True):
        assert "machine" not in answer, text
        if "? [0]" in text:  # a key after a question mark is not read at all
            line, words = 5, "found character '?' that cannot start any token"
        elif "{R: 'B}" in text:  # where the quote is opened, not where the text ends
            line = 5
        elif '"A0Z01"' in text:  # where the text stands, not where the list begins
            line = 7
        if line:
            assert answer["line"] == line, text
        assert (f"line {answer['line']}: " if answer["line"] else "") == (
            re.match(r"(line \d+: )?", answer["message"])[0]
        )
        other = next((mine for theirs, mine in OTHER_WORDS.items() if words.startswith(theirs)), None)
        assert words in answer["message"] or (other is not None and other in answer["message"]), (text, answer)


REFUSED = [
    own(initial="'A'"),
    own(initial="'A'1"),
    own(initial="A"),
    own(halting='["Z",]'),
    own(turing_machine="1.0"),
    own(turing_machine='"1"'),
    own(turing_machine="true"),
    own(delta='[["A", "0", "Z", "0", 1.0]]'),
    own(delta='[["A", "0", "Z", "0", "1"]]'),
    own(delta='[["A", "0", "Z", "0", true]]'),
    own(delta='[["A", "0", "Z", "0", 01]]'),
    own(delta="[[]]"),
    own(delta="[{}, null]"),
    own(blank='"\\x30"'),
    own(blank='"\n0"'),
    own(initial='""'),
    own(halting='[""]'),
    own() + "x",
    own()[:-1],
    own().replace('"blank":', "blank:"),
    yaml_machine("a: b: c"),
    yaml_machine("[0,\n 1]: R"),
    yaml_machine("0: R\n   1: R"),
    yaml_machine("0: R\n     1: R"),
    yaml_machine("0: 'R' R"),
    yaml_machine("0 R\n    1: L"),
    yaml_machine("0: R\n    1"),
    yaml_machine("\t0: R"),
    yaml_machine("0: R\t# a tab"),
    yaml_machine('"\\q": R'),
    yaml_machine("0: {R: A B}}"),
    yaml_machine("0: {R: A, , write: 1}"),
    yaml_machine(f"0: R\n  {'x' * 1100}:\n    0: R"),
    yaml_machine("*: R"),
    yaml_machine("@: R"),
    yaml_machine("0: R") + "---",
]


def test_what_python_refuses_is_refused_with_a_line(answers):
    for text, answer in zip(REFUSED, answers(REFUSED), strict=True):
        with pytest.raises(FormatError) as caught:
            parse(text)
        assert "machine" not in answer, text
        assert answer["line"] or not caught.value.line, (text, answer)


@pytest.mark.parametrize(
    "text", ["", " hello, machine", "word " * 99, "five words that mean nothing", "tabel:\n  A:\n"]
)
def test_what_is_no_machine_is_told_what_would_be(answers, text):
    (answer,) = answers([text])
    with pytest.raises(FormatError) as caught:
        parse(text)
    assert (answer["message"], answer["line"]) == (str(caught.value), 0)


def test_what_only_the_library_reads_is_refused_with_its_line(answers):
    texts = {
        "<structure><type>turing</type></structure>": "line 1: This is XML, as JFLAP writes it, and this page does not",
        yaml_machine("0: &a R"): "line 5: The anchor '&a' means nothing in a machine. Remove it.",
        yaml_machine("0: R\n     and more"): "line 6: This is not YAML: 'and more' belongs to nothing before it.",
        yaml_machine("- 0"): "line 5: This is not YAML: found character '-' that cannot start any token.",
        "input: >\n  ab\n" + yaml_machine("0: R"): "line 1: This is not YAML: found character '>' that cannot start",
        "%YAML 1.1\n---\n" + yaml_machine("0: R"): "line 3: 2 YAML documents were given, and a machine is one.",
    }
    for answer, message in zip(answers([*texts]), texts.values(), strict=True):
        assert answer["message"].startswith(message)


def damaged(number):
    """Examples with a piece put in here and there, and pieces put together."""
    draw = random.Random(7)
    pieces = [piece for piece in PIECES if "<" not in piece]
    pieces += ["😀", "\ud800", "'", "[0, 1]: R\n", "{write: 1, R: B}", " # c\n", "\x85", "...\n", "---\n", "~", "|-\n"]
    for _ in range(number):
        if draw.random() < 0.3:
            yield "blank: 0\nstart state: A\ntable:\n  A:\n" + "".join(draw.choices(pieces, k=draw.randint(1, 9)))
            continue
        text = draw.choice(EXAMPLES)
        for _ in range(draw.randint(1, 2)):
            place = draw.randint(0, len(text))
            text = text[:place] + draw.choice(pieces) + text[place + draw.choice([0, 0, 1, 3]) :]
        yield text


def test_of_damaged_texts_the_page_reads_no_other_machine_than_python(answers):
    texts = [*damaged(600)]
    machines = {
        text: answer["machine"] for text, answer in zip(texts, answers(texts), strict=True) if "machine" in answer
    }
    assert len(machines) > 40
    for text, machine in machines.items():
        assert machine == machine_to_json(parse(text)), text


SCRIPT = "<script>ran=1</script><img src=x onerror=ran=1>"
NAMES = ["__proto__", "constructor", "toString", "hasOwnProperty", SCRIPT.replace(" ", "/")]
TABLE = "blank: 0\nstart state: A\ntable:\n  A:\n    "
HAN = [chr(0x4E00 + i) for i in range(9000)]
HOSTILE = [
    [["".join(f"{i} 0 1 r {i + 1}\n" for i in range(56_000)), 1]],
    [["0 0 1 r 0\n", 99_000]],
    [["".join(f"{i} {a} * r *\n" for i, a in enumerate(HAN[:1000])) + "* * * r *\n", 1]],
    [["x", 900_000], [" _ * r *\n" + "".join(f"0 {a} * r *\n" for a in HAN[:400]) + "* * * l 0\n", 1]],
    [["1RB", 300_000]],
    [["1RB_", 240_000], ["1RB", 1]],
    [["1RB", 400_000]],
    [[" ", 10_000_001]],
    [[" \n", 4_000_000], ["x", 1]],
    [["a", 1], [" ", 4_000_000], ["b", 1]],
    [["table: ", 1], ["[", 90_000]],
    [["table: ", 1], ["{a: ", 20_000]],
    [["table:\n" + "".join(" " * i + "a:\n" for i in range(1, 400)), 1]],
    [['{"turing_machine":', 1], ["[", 900_000]],
    [['{"turing_machine":', 1], ['{"a":', 150_000]],
    [[own(delta="[" + ",\n".join(f'["A", "{i}", "A", "0", 1]' for i in range(40_000)) + "]"), 1]],
    [[own()[:-1] + ', "alphabet": ["', 1], ["\\\\", 1_000_000], ['"]}', 1]],
    [[own()[:-1] + ', "alphabet": ["', 1], ["x", 9_000_000], ['"]}', 1]],
    [[own()[:-1] + ', "alphabet": ["', 1], ['\\"', 500_000]],
    [[ALIAS_BOMB, 1]],
    [["table: &a\n  x: *a\n", 1]],
    [["table: *a\n", 1]],
    [[TABLE + "0: '", 1], [" ", 90_000], ["x", 1]],
    [[TABLE + "0: '", 1], ["''", 45_000]],
    [[TABLE + '0: "', 1], ["\\x41", 20_000], ['"', 1]],
    [[TABLE + "0: ", 1], ["a ", 45_000], [": b", 1]],
    [[TABLE + "0: ", 1], [":", 90_000]],
    [[TABLE + "0: a", 1], [" ", 90_000], ["#", 1]],
    [[TABLE + "0: R", 1], ["\n", 90_000], ["    1: L", 1]],
    [[TABLE + "0: R\n", 1], ["#\n", 49_000]],
    [[TABLE + "0: R\n", 1], ["---\n", 24_000], ["x", 1]],
    [["input: |\n", 1], ["\n", 90_000], [" x\n" + TABLE + "0: R\n", 1]],
    [["input: |\n", 1], [" \n  x\n", 15_000], [TABLE + "0: R\n", 1]],
    [[TABLE + "\n    ".join(f"{a}: R" for a in HAN), 1]],
    [[TABLE + f"[{', '.join(HAN)}]: R", 1]],
]  # fmt: skip


def test_a_text_made_to_cost_much_is_read_or_refused_as_in_python(answers):
    """A reader whose cost is not linear would not come back from these before the page's time is out."""
    found = answers(HOSTILE, "sizes")
    for parts, answer in zip(HOSTILE, found, strict=True):
        text = "".join(piece * times for piece, times in parts)
        machine, error = outcome(parse, text)
        sizes = machine and [len(machine.states), len(machine.symbols), len(machine.delta)]
        assert answer.get("machine") == sizes, (text[:60], answer.get("message"), error)


def test_names_that_mean_something_to_a_page_are_only_names(answers):
    delta = {(state, symbol): (state, symbol, 1) for state in NAMES for symbol in NAMES}
    delta |= {(state, "_"): ("0", "_", -1) for state in NAMES} | {("0", "_"): (NAMES[0], "_", 1)}
    named = TuringMachine(delta, "0", (), "_")
    singles = named.rename({}, dict(zip(NAMES, "<>&\"'", strict=True)))
    check_equal(answers, [dumps(named), dumps(singles, "turingmachine.io"), dumps(singles, "morphett")])
    for name in NAMES:
        texts = [yaml_machine(f"0: {name}"), yaml_machine(f"0: {{{name}: 1}}"), yaml_machine(f"{name}: R")]
        texts += [f"0 1 1 {name} 0\n0 0 0 r 0", own(**{name: "1"}), yaml_machine("0: R") + f"{name}: 1\n"]
        for text, answer in zip(texts, answers(texts), strict=True):
            with pytest.raises(FormatError):
                parse(text)
            assert repr(name) in answer["message"]


def test_no_other_format_is_written(answers):
    (answer,) = answers(["1RB1LB_1LA1RZ"], "morphett")
    assert answer["message"] == "There is no format 'morphett' to write. The known ones are: json, bbchallenge."
