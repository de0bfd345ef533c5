"""The measured table: every number but seconds, refusals, fits, and where each construction keeps a cell."""

import json
import re
from fractions import Fraction
from itertools import product

import nbformat
import pytest
import torch
from whole_tape import WholeTape

import turing
from book import ROOT
from turing.attention import Attention
from turing.circuits import Circuit, GateByGate
from turing.cli import main
from turing.comparison import Fit, bits_of, claims, compare, fit, memory
from turing.comparison.growth import CLOCKS, FORMS
from turing.comparison.table import in_order
from turing.construction import constructions
from turing.exact import Exact

PARENTHESES = turing.zoo["balanced_parentheses"]
BB3 = turing.zoo["bb3"]
SHUTTLE = turing.TuringMachine(
    {("A", "1"): ("A", "1", 1), ("A", "_"): ("B", "_", -1), ("B", "1"): ("B", "1", -1), ("B", "_"): ("A", "_", 1)},
    "A", (), "_",
)  # fmt: skip
STAY = turing.zoo["parity"]
HALF = Circuit("a b", {"sum": ("XOR", "a", "b"), "carry": ("AND", "a", "b")})

# status, bits, width, hidden, weights, not 0, window, passes
ON_PARENTHESES = {
    "wcm21": ("halted", 1, 51, 81, 158_536, 3_085, 25, 19),
    "ss95": ("halted", 29, 70, 393, 70_063, 4_658, 1, 57),
    "ss95-realtime": ("halted", 60, 719, 719, 517_680, 76_230, 1, 57),
    "perez21": ("halted", 12, 53, 53, 10_055, 309, 40, 34),
    "bhattamishra20": ("halted", 72, 1_173, 1_173, 1_390_017, 197_697, 20, 95),
    "merrill24": ("halted", 59, 44, 44, 8_778, 359, 27, 19),
    "li24": ("halted", 1, 44, 44, 49_400, 15_652, 1_004, 987),
    "liwang25": ("halted", 2, 26, 89, 6_226, 983, 8, 82),
    "conv": ("halted", 1, 11, 16, 731, 62, 6, 19),
}
ON_BB3 = {
    "wcm21": ("halted", 1, 37, 45, 88_964, 2_324, 21, 21),
    "ss95": ("halted", 7, 10, 60, 2_200, 678, 1, 21),
    "ss95-realtime": ("halted", 16, 116, 116, 13_572, 2_694, 1, 21),
    "perez21": ("halted", 11, 37, 37, 4_950, 207, 24, 24),
    "bhattamishra20": ("halted", 16, 219, 219, 50_601, 6_942, 2, 23),
    "merrill24": ("halted", 63, 33, 33, 4_783, 230, 23, 21),
    "li24": ("halted", 1, 41, 41, 19_014, 4_704, 349, 346),
    "liwang25": ("halted", 2, 15, 21, 1_260, 281, 8, 91),
    "conv": ("halted", 1, 6, 8, 206, 36, 8, 21),
}
BOOK = [name for name in constructions() if name != WholeTape.construction]


def numbers(found):
    return {
        row.construction: (
            row.status, row.bits, row.width, row.hidden, row.parameters, row.nonzero, row.window, row.passes
        )
        for row in found.rows
    }  # fmt: skip


@pytest.mark.parametrize(
    ("machine", "word", "expected", "t", "s"),
    [(PARENTHESES, "B(())E", ON_PARENTHESES, 19, 6), (BB3, "", ON_BB3, 21, 5)],
    ids=["parentheses", "bb3"],
)
def test_every_number_of_the_table(machine, word, expected, t, s):
    found = compare(machine, word, names=BOOK)
    assert (found.n, found.t, found.s) == (len(word), t, s)
    assert numbers(found) == expected
    for row in found.rows:
        assert row.tokens == row.passes / t
        assert row.refused == ""
    assert found.run == machine.run(word)


def test_the_sizes_are_those_of_the_modules_and_the_window_is_what_heads_look_at():
    network = turing.compile(PARENTHESES, "wcm21", T=19, bits=5)
    row = compare(PARENTHESES, "B(())E", names=["wcm21"])["wcm21"]
    assert row.parameters == sum(p.numel() for p in network.parameters())
    assert row.nonzero == sum(int(p.count_nonzero()) for p in network.parameters())
    shares = network.patterns("B(())E", 19)
    assert row.window == len(shares["last"]) + len(shares["initial"]) - 2  # the null keys


def test_a_construction_that_refuses_says_why_in_its_row():
    machine = turing.zoo["universal"]
    found = compare(machine, [machine.blank], 1, ["ss95-realtime", "conv"])
    refused, other = found.rows
    assert (refused.status, refused.bits, refused.width) == ("refused", None, None)
    assert "takes 35,792 neurons" in refused.refused
    assert other.status == found.run.status
    lines = str(found).splitlines()
    assert lines[-1] == f"ss95-realtime: {refused.refused}"
    assert re.fullmatch(r"ss95-realtime( +–){7} +refused", lines[3])


@pytest.mark.parametrize(
    ("machine", "word", "steps", "status", "t"),
    [
        (SHUTTLE, "11", 5, "limit", 5),
        (SHUTTLE, "11", 0, "limit", 0),
        (PARENTHESES, "((", 50, "jammed", 0),
        (turing.zoo["unary_addition"], "", 50, "jammed", 0),
        (STAY, "1", 50, "halted", 2),
        (turing.TuringMachine({("A", "0"): ("B", "0", 1)}, "H", {"H"}, "0"), "0", 50, "halted", 0),
    ],
)
def test_runs_that_end_in_any_way_are_measured(machine, word, steps, status, t):
    names = [name for name in BOOK if machine is not PARENTHESES or name != "bhattamishra20"]
    found = compare(machine, word, steps, names)
    assert (found.run.status, found.t) == (status, t)
    assert {row.status for row in found.rows} == {status}, str(found)
    assert [row.tokens is None for row in found.rows] == [t == 0] * len(names)


def test_bits_are_those_of_a_mantissa_or_of_numerator_and_denominator():
    assert [bits_of(x) for x in (0, 1, 2, 3, 5 / 8, -0.75, 2.0**-60)] == [1, 1, 1, 2, 3, 2, 1]
    assert bits_of(1 / 3) == 53
    assert bits_of(Fraction(1, 3)) == 3
    assert bits_of(Fraction(-22, 7)) == 5 + 3
    assert bits_of(Fraction(3**700, 2**2000)) == (3**700).bit_length()  # more than a float can hold
    for bits, sign in product(range(1, 40), (1, -1)):
        assert bits_of(sign * (2**bits - 1)) == bits


def test_the_bits_of_a_stack_are_two_for_each_symbol_in_base_4():
    for n in (4, 9, 14):
        deepest = n + 1  # cells left of the head, when it is on the blank after the word
        assert compare(SHUTTLE, "1" * n, 2 * n + 4, ["ss95"])["ss95"].bits == 2 * deepest


def test_a_reader_s_own_construction_is_in_the_table():
    found = compare(BB3, "", names=[WholeTape.construction])
    assert found.rows[0].status == "halted"
    assert found.rows[0].tokens == 1
    assert found[WholeTape.construction] is found.rows[0]
    assert memory(WholeTape(BB3), "", 3)[1] == (1, None)  # it does not say where it keeps a cell
    with pytest.raises(KeyError, match="'wcm21' is not compared here"):
        found["wcm21"]


def test_rows_are_in_the_order_of_table_1_unless_another_is_given():
    own = WholeTape.construction
    names = [*claims(), *(name for name in constructions() if name not in claims())]
    assert in_order(constructions()) == names
    assert in_order([own, "conv", "li24", "wcm21"]) == ["wcm21", "li24", own, "conv"]
    assert [row.construction for row in compare(BB3, "", 1, ["conv", "wcm21"]).rows] == ["conv", "wcm21"]


def test_exponents_are_found_where_they_are_known():
    runs = [compare(SHUTTLE, "1" * n, t, ["conv", "wcm21"]) for t, n in ((8, 1), (16, 1), (8, 2), (24, 3))]
    window = fit(runs, "conv", "window")
    assert window.exponents == pytest.approx((0, 1), abs=1e-9)
    assert window.claimed is window.near is None
    assert str(window) == "t^0.00 · s^1.00"
    columns = fit(runs, "wcm21", "window")
    assert columns.exponents == pytest.approx((1, 0), abs=1e-9)
    assert (columns.clock, columns.claimed, columns.near) == ("n + t", (1, 0), True)
    assert str(columns) == "(n + t)^1.00 · s^0.00"
    assert fit(runs, "wcm21", "window", "O(s)").near is False
    assert Fit("t", (0.1, 1.0), (0, 1)).near
    assert not Fit("t", (0.11, 1.0), (0, 1)).near


def test_claims_are_those_of_the_paper_and_each_says_something_about_growth():
    table = claims()
    assert set(table) <= set(BOOK)
    assert {text for row in table.values() for text in row.values()} == {*FORMS, "unbounded", "—"}
    assert {clock for clock, *_ in FORMS.values()} == set(CLOCKS)
    assert set(BOOK) - set(table) == {"conv"}


def test_the_chapter_fits_every_claim_and_explains_each_exponent_that_is_off():
    """nbval holds the outputs fresh, so they are read here."""
    book = nbformat.read(ROOT / "book" / "table.ipynb", as_version=4).cells
    (fitted,) = (cell.outputs[0].text for cell in book if "result.near" in cell.source)
    lines = [line.split() for line in fitted.splitlines()[1:]]
    wanted = {(name, key) for name, row in claims().items() for key, text in row.items() if text in FORMS}
    assert {(name, key) for name, key, *_ in lines} == wanted
    off = {(name, key) for name, key, *rest in lines if rest[-1] == "no"}
    text = "\n".join(cell.source for cell in book if cell.cell_type == "markdown")
    rows = re.findall(r"^\| `([\w-]+)` \| ((?:bits|width|window|tokens)[\w, ]*) \| .* \|$", text, re.MULTILINE)
    assert {(name, key) for name, keys in rows for key in keys.split(", ")} == off
    tables = re.findall(r"^\| \| (bits .+|window .+) \|\n\|[:|-]+\n((?:\| `.+ \|\n)+)", text, re.MULTILINE)
    fields = [
        (name, "hidden" if (name, key) == ("wcm21", "width") else key, field)  # its width is that of a layer inside
        for head, body in tables
        for name, line in re.findall(r"^\| `([\w-]+)` \| (.*) \|$", body, re.MULTILINE)
        for key, field in zip(head.replace("tokens a step", "tokens").split(" | "), line.split(" | "), strict=True)
    ]
    assert {(name, key) for name, key, field in fields if "✓" in field} == wanted - off
    assert {(name, key) for name, key, field in fields if re.search(r"\*\*\([abc]\)\*\*", field)} == off


# Where each construction keeps the cell under the head.


def kept_rows(network, word, passes):
    """Every vector that a head has remembered, of the word and of columns, by head: what it would fetch."""
    rows, state = {}, network.start([word])
    heads = {name: head for name, head in network.pipeline.items() if isinstance(head, Attention)}
    for name, head in heads.items():
        first = head.mask in ("cross", "prefix", "window") and state.tape is not None
        rows[name] = listed(head.remember(state.tape)[1]) if first else []

    def seen(name, head):
        def hook(_, given):
            if head.mask != "cross":
                rows[name].append(head.value(given[0]))

        return head.register_forward_pre_hook(hook)

    handles = [seen(name, head) for name, head in heads.items()]
    columns = [state.x]
    with torch.no_grad():
        for _ in range(passes + 1):  # one more, since some look up a cell at the beginning of a step
            state = network.step(state)
            columns.append(state.x)
    for handle in handles:
        handle.remove()
    return rows, columns


def listed(rows):
    return list(rows) if isinstance(rows, list) else list(rows.reshape(-1, rows.shape[-1]))


def on(vector):
    values = [Fraction(x) for x in vector] if isinstance(vector, Exact) else vector.flatten().tolist()
    return [k for k, value in enumerate(values) if value == 1]


def symbol_at(network, place, rows, column, symbols):
    """The symbol that a place stands for, or for constructions with several places one of them says."""
    where, number = place
    name = network.construction
    if where == "cells":
        return symbols[on(column[number][: len(symbols)])[0]]
    if where == "column":
        label = network.layout.names()[number]
        if name == "liwang25":
            return re.fullmatch(r"sym2\[(.*)\]", label)[1]
        stacks = network.network
        four = re.fullmatch(r"st\[(.*)\]", label)
        state = four[1] if four else stacks.classes[number // 9][0]
        return (network.two if hasattr(network, "two") else network.stacks).control[state][1]
    return symbols[on(rows[where][number])[0]]


@pytest.mark.parametrize(
    "name", ["wcm21", "ss95", "ss95-realtime", "perez21", "bhattamishra20", "merrill24", "liwang25", "conv"]
)
@pytest.mark.parametrize(
    ("machine", "word"), [(BB3, ""), (STAY, "0110"), (SHUTTLE, "11")], ids=["bb3", "stay", "shuttle"]
)
def test_what_is_kept_there_is_the_symbol_under_the_head(name, machine, word):
    kind, steps = constructions()[name], 21
    trace = list(machine.trace(word, steps))
    heads = [now.head for now in trace]
    cells = range(min(heads), max(*heads, len(word) - 1) + 1)
    network = kind(machine, **kind.options_for({}, word, steps, cells=cells)).fitted(word, steps)
    found = memory(network, word, steps)
    assert len(found) == len(trace)
    rows, columns = kept_rows(network, word, found[-1].passes)
    symbols = network.form.machine.symbols if name == "perez21" else machine.symbols
    seen = set()
    for now, (passes, places) in zip(trace, found, strict=True):
        if not places:
            assert now.symbol == machine.blank
            assert now.head not in seen, now
        if places and places[0][0] == "input" and name == "bhattamishra20":
            assert places == [("input", bit) for bit in range(network.stacks.k)]
            continue
        for place in places:
            symbol = symbol_at(network, place, rows, columns[passes], symbols)
            assert (network.form.symbol(symbol) if name == "perez21" else symbol) == now.symbol, (now, place)
        seen.add(now.head)


def test_the_tokens_that_gate_by_gate_keeps_of_a_cell_say_its_symbol():
    for machine, word in ((BB3, ""), (STAY, "01"), (SHUTTLE, "1")):
        trace = list(machine.trace(word, 8))
        heads = [now.head for now in trace]
        kind = constructions()["li24"]
        options = kind.options_for({}, word, 8, cells=range(min(heads), max(*heads, len(word) - 1) + 1))
        network = kind(machine, **options)
        found = memory(network, word, 8)
        state = network.start([word])
        with torch.no_grad():
            for _ in range(found[-1].passes):
                state = network.step(state)
        tokens = network._tokens(state)[0].tolist()
        number = sum(tokens[wire] << k for k, (_, wire) in enumerate(found[0].places))
        assert machine.symbols[number] == trace[0].symbol
        for t, (now, (_, places)) in enumerate(zip(trace, found, strict=True)):
            content = network.circuit.symbols[t][now.head]
            if t:
                assert places == [("first", wire) for wire in content.values() if wire >= 0]
                for symbol, wire in content.items():
                    if wire >= 0:
                        assert tokens[wire] == (symbol == now.symbol)


# The command, and what it refuses.


@pytest.fixture
def cli(capsys):
    def run(*argv):
        try:
            status = main(argv)
        except SystemExit as stop:  # argparse
            status = stop.code
        return status, *capsys.readouterr()

    return run


def test_the_command_prints_the_table_and_json_for_programs(cli):
    status, out, err = cli("compare", "bb2")
    assert (status, err) == (0, "")
    assert out == f"{compare(turing.zoo['bb2'])}\n"
    assert [line.split()[0] for line in out.splitlines()[3:]] == in_order(constructions())
    status, out, err = cli("compare", "bb3", "", "--json", "--max-steps", "4")
    assert (status, err) == (0, "")
    data = json.loads(out)
    assert (data["status"], data["t"], data["s"], data["n"], data["word"]) == ("limit", 4, 2, 0, "")
    assert [row["construction"] for row in data["rows"]] == in_order(constructions())
    again = turing.TuringMachine.parse(json.dumps(data["machine"]))
    assert compare(again, "", 4).to_dict() == data


@pytest.mark.slow
def test_the_command_of_the_chapter_prints_the_table_of_the_chapter(cli):
    status, out, err = cli("compare", "balanced_parentheses", "B(())E")
    assert (status, err) == (0, "")
    shown = [line for line in out.splitlines() if not line.startswith(WholeTape.construction)]
    book = nbformat.read(ROOT / "book" / "table.ipynb", as_version=4).cells
    (printed,) = (cell.outputs[0].text for cell in book if "print(found)" in cell.source)
    assert printed.splitlines() == shown


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["nothing"], "No machine of the zoo is called 'nothing'."),
        (["bb2", "x"], "Symbol 'x' (cell 0 of the word) is not in this machine's alphabet: 0 1."),
        (["bb2", "", "--max-steps", "-1"], "an integer from 0 up is expected, and '-1' was given"),
    ],
)
def test_bad_input_is_one_line(cli, argv, message):
    status, out, err = cli("compare", *argv)
    assert (status, out) == (2, "")
    assert message in err
    assert err.startswith("usage") or err.count("\n") == 1


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: compare("bb2"), TypeError, "A TuringMachine is compared here, and 'bb2' was given."),
        (lambda: compare(BB3, names=["wcm"]), ValueError, "wcm21, ss95, ss95-realtime, perez21, "),
        (lambda: compare(BB3, names="conv"), TypeError, "names is a list of constructions, such as ['wcm21', 'conv']"),
        (lambda: compare(BB3, names=5), TypeError, "names is a list of constructions"),
        (lambda: compare(BB3, names=[[]]), ValueError, "and [] was given."),
        (lambda: compare(BB3, "", -1), ValueError, "max_steps must be an integer of at least 0"),
        (lambda: compare(BB3, 7), ValueError, "A word is a string or a sequence of symbols, and 7 was given."),
        (lambda: fit([], "conv", "window"), ValueError, "conv has 0 here. Give more words, or more steps."),
        (lambda: fit([], "conv", "speed"), ValueError, "A quantity is one of bits, width, "),
        (lambda: fit([], "conv", "bits", "O(n!)"), ValueError, "A claim is one of O(1), "),
        (lambda: fit([1], "conv", "bits"), TypeError, "A fit takes a list of what compare returns, and 1 was given."),
        (lambda: fit(None, "conv", "bits"), TypeError, "and None was given."),
        (lambda: bits_of(float("nan")), ValueError, "A finite int, float or Fraction has bits, and nan was given."),
        (lambda: bits_of("3"), ValueError, "and '3' was given."),
        (lambda: memory(GateByGate(HALF), "01"), TypeError, "What turing.compile returns keeps cells"),
        (lambda: memory("conv"), TypeError, "and 'conv' was given."),
        (lambda: memory(turing.compile(BB3, "conv"), "x"), ValueError, "Symbol 'x' (cell 0 of the word)"),
    ],
)
def test_bad_input_is_refused_with_a_message_that_helps(make, error, message):
    with pytest.raises(error, match=re.escape(message)):
        make()
