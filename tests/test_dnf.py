"""Truth tables, expressions and transition tables as layers: every function of four variables, every zoo machine."""

import random
import re
from functools import cache
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import turing
from paper import BALANCED
from turing.dnf import DNF, MAX_VARIABLES, Transition
from turing.layout import Layout, state_vector
from turing.machine import TuringMachine

torch.set_num_threads(1)  # on small matrices threads wait for each other
DTYPES = [torch.float32, torch.float64, torch.bfloat16]
dtypes = pytest.mark.parametrize("dtype", DTYPES)


@cache
def rows(n: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.tensor(list(product((0, 1), repeat=n)), dtype=dtype).reshape(2**n, n)


def values(net: DNF, dtype: torch.dtype = torch.float32) -> list[float]:
    out = net.to(dtype)(rows(len(net.variables), dtype))
    assert out.dtype == dtype
    assert out.shape == (2 ** len(net.variables), 1)
    return out.flatten().tolist()


def fits(clause: str, row: str) -> bool:
    return all(c in ("-", bit) for c, bit in zip(clause, row, strict=True))


@cache
def true_rows(clause: str) -> tuple[str, ...]:
    return tuple("".join(row) for row in product("01", repeat=len(clause)) if fits(clause, row))


def overlap(clauses) -> bool:
    rows = [row for clause in set(clauses) for row in true_rows(clause)]
    return len(set(rows)) < len(rows)


def check_table(table: str, dtype: torch.dtype = torch.float32) -> None:
    """The networks of a truth table, merged or not, of two layers or three, give it exactly."""
    wanted = [float(value) for value in table]
    n = len(table).bit_length() - 1
    plain, merged = DNF.of_table(table, minimise=False), DNF.of_table(table)
    deep = DNF(merged.clauses, merged.variables, exclusive=False)
    deep_plain = DNF.of_table(table, minimise=False, exclusive=False)
    assert [values(net, dtype) for net in (plain, merged, deep, deep_plain)] == [wanted] * 4
    assert plain.clauses == tuple(row for row, value in zip(true_rows("-" * n), table, strict=True) if value == "1")
    assert len(plain) == 2
    assert len(deep) == len(deep_plain) == 3
    assert len(merged) == (3 if overlap(merged.clauses) else 2)
    assert len(merged.clauses) < len(plain.clauses) or merged.clauses == plain.clauses


# Truth tables.


@dtypes
@pytest.mark.parametrize("n", [0, 1, 2])
def test_every_function_of_up_to_two_variables_is_exact(n, dtype):
    for table in product("01", repeat=2**n):
        check_table("".join(table), dtype)


@dtypes
def test_every_function_of_three_variables_is_exact(dtype):
    for number in range(2**8):
        check_table(f"{number:08b}", dtype)


@dtypes
def test_a_thousand_functions_of_four_variables_are_exact(dtype):
    for number in random.Random(str(dtype)).sample(range(2**16), 334):
        check_table(f"{number:016b}", dtype)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(64))
def test_every_function_of_four_variables_is_exact(part):
    for number in range(part, 2**16, 64):
        check_table(f"{number:016b}")


@dtypes
def test_functions_of_more_variables_are_exact(dtype):
    seeded = random.Random(5)
    for n in (5, 6):
        for share in (0.1, 0.5, 0.9):
            check_table("".join(str(int(seeded.random() < share)) for _ in range(2**n)), dtype)


def test_parity_of_ten_variables_is_exact_and_has_a_clause_for_every_other_row():
    table = [row.count(1) % 2 for row in product((0, 1), repeat=10)]
    net = DNF.of_table(table)
    assert values(net) == table
    assert (len(net), len(net.clauses)) == (2, 512)


def test_a_table_is_a_string_or_any_sequence_of_bits():
    given = ["0111", [0, 1, 1, 1], (False, True, True, True), [0.0, 1.0, 1.0, 1.0], list("0111"), iter([0, 1, 1, 1])]
    for table in (*given, torch.tensor([0, 1, 1, 1])):
        assert DNF.of_table(table, "a b").clauses == ("-1", "1-")


def test_the_first_row_has_all_variables_0_and_the_last_variable_changes_fastest():
    assert DNF.of_table("0100", "a b").clauses == ("01",)
    assert DNF.of_table("0010", "a b").clauses == ("10",)


def test_exclusive_tables_are_merged_only_if_two_layers_are_enough():
    assert DNF.of_table("0111", exclusive=True).clauses == ("01", "10", "11")
    assert DNF.of_table("0011", exclusive=True).clauses == ("1-",)
    for number in range(2**8):
        net = DNF.of_table(f"{number:08b}", exclusive=True)
        assert len(net) == 2
        assert values(net) == [float(bit) for bit in f"{number:08b}"]


def test_a_table_of_one_value_has_no_clause_or_one():
    for n in range(1, 5):
        assert DNF.of_table("0" * 2**n).clauses == ()
        assert DNF.of_table("1" * 2**n).clauses == ("-" * n,)


# Clauses.


def test_a_clause_is_an_and_of_ones_and_a_nor_of_zeros():
    net = DNF(["11-", "00-", "1-0", "---"], "a b c")
    assert net[0].weight.tolist() == [[1, 1, 0], [-1, -1, 0], [1, 0, -1], [0, 0, 0]]
    assert net[0].bias.tolist() == [-1, 1, 0, 1]


def test_the_or_of_clauses_is_nor_and_not_or_a_sum_if_they_exclude_each_other():
    deep, flat = DNF(["1-", "-1"]), DNF(["1-", "01"])
    assert [(layer.weight.tolist(), layer.bias.tolist()) for layer in deep[1:]] == [([[-1, -1]], [1]), ([[-1]], [1])]
    assert (flat[1].weight.tolist(), flat[1].bias.tolist()) == ([[1, 1]], [0])
    assert values(deep) == values(flat) == values(DNF(["1-", "01"], exclusive=False)) == [0, 1, 1, 1]


def test_no_clauses_are_never_true_and_a_clause_without_literals_is_always_true():
    for exclusive in (None, True, False):
        assert values(DNF([], "a b", exclusive=exclusive)) == [0, 0, 0, 0]
        assert values(DNF(["--"], "a b", exclusive=exclusive)) == [1, 1, 1, 1]
        assert values(DNF([], "", exclusive=exclusive)) == [0]
        assert values(DNF([""], "", exclusive=exclusive)) == [1]


def test_a_clause_given_twice_counts_once():
    net = DNF(["1-", "01", "1-"], exclusive=True)
    assert net.clauses == ("1-", "01")
    assert values(net) == [0, 1, 1, 1]


def test_clauses_may_have_many_variables():
    names = [f"v{i}" for i in range(200)]
    net = DNF(["1" * 100 + "-" * 100, "-" * 99 + "0" + "0" * 100], names)
    x = torch.zeros(3, 200)
    x[0, :100] = 1
    x[2, 150] = 1
    assert (len(net), net(x).flatten().tolist()) == (2, [1, 1, 0])


def test_a_network_names_its_places():
    net = DNF.of_expression("a & ~b | c")
    assert net.layouts == [Layout(a=1, b=1, c=1), Layout(clause=["--1", "10-"]), Layout(nor=1), Layout(out=1)]
    assert DNF(["01", "1-"], "a b").layouts == [Layout(a=1, b=1), Layout(clause=["01", "1-"]), Layout(out=1)]
    assert DNF(["01"]).variables == ("x0", "x1")
    assert DNF(["01"], ["p", "q"]).variables == DNF(["01"], " p  q ").variables == ("p", "q")


def test_leading_dimensions_are_kept_and_bits_may_be_integers_or_booleans():
    net = DNF(["1--0", "-11-", "00-1"])
    for dtype in (torch.float32, torch.bool, torch.int64):
        out = net(rows(4, dtype).reshape(2, 4, 2, 4))
        assert out.shape == (2, 4, 2, 1)
        assert out.flatten().tolist() == values(net)


clause_lists = st.integers(0, 5).flatmap(lambda n: st.lists(st.text("01-", min_size=n, max_size=n), min_size=1))


@given(clause_lists)
@settings(max_examples=120, deadline=None)
def test_a_network_of_clauses_is_true_where_one_of_them_is(clauses):
    wanted = [float(any(fits(clause, row) for clause in clauses)) for row in true_rows("-" * len(clauses[0]))]
    for exclusive in (None, False):
        assert values(DNF(clauses, exclusive=exclusive)) == wanted


@given(clause_lists)
@settings(max_examples=120, deadline=None)
def test_clauses_that_can_be_true_together_are_found_with_an_input_on_which_they_are(clauses):
    if not overlap(clauses):
        assert len(DNF(clauses)) == len(DNF(clauses, exclusive=True)) == 2
        return
    assert len(DNF(clauses)) == 3
    with pytest.raises(ValueError, match="do not exclude each other") as caught:
        DNF(clauses, exclusive=True)
    one, other, values = re.match(r"The clauses (\S+) and (\S+) do .* for (.*)\. Leave", str(caught.value)).groups()
    names, row = zip(*(pair.split("=") for pair in values.split()), strict=True)
    assert list(names) == [f"x{i}" for i in range(len(clauses[0]))]
    assert one != other
    assert {one, other} <= set(clauses)
    assert fits(one, row)
    assert fits(other, row)


# Expressions.

# Spelling to meaning, and how tightly Python binds it.
SPELLINGS = {
    "or": ("or", 1),
    "and": ("and", 2),
    "not": ("not", 3),
    "|": ("or", 4),
    "∨": ("or", 4),
    "^": ("xor", 5),
    "⊕": ("xor", 5),
    "&": ("and", 6),
    "∧": ("and", 6),
    "~": ("not", 7),
    "¬": ("not", 7),
}
UNARY = [spelling for spelling, (meaning, _) in SPELLINGS.items() if meaning == "not"]
BINARY = [spelling for spelling in SPELLINGS if spelling not in UNARY]
trees = st.recursive(
    st.sampled_from("abcd01"),
    lambda parts: st.tuples(st.sampled_from(UNARY), parts) | st.tuples(st.sampled_from(BINARY), parts, parts),
    max_leaves=12,
)


def text(tree, at_least: int = 0) -> str:
    """The tree as text, with brackets only where they are needed."""
    if isinstance(tree, str):
        return tree
    spelling, *parts = tree
    _, tight = SPELLINGS[spelling]
    if len(parts) == 1:
        written = f"{spelling} {text(parts[0], tight)}"
    else:
        written = f"{text(parts[0], tight)} {spelling} {text(parts[1], tight + 1)}"
    return f"({written})" if tight < at_least else written


def value(tree, row: dict[str, int]) -> int:
    if isinstance(tree, str):
        return row.get(tree, int(tree == "1"))
    spelling, *parts = tree
    meaning, _ = SPELLINGS[spelling]
    bits = [value(part, row) for part in parts]
    return {"and": min, "or": max, "xor": lambda bits: sum(bits) % 2, "not": lambda bits: 1 - bits[0]}[meaning](bits)


@given(trees, st.booleans())
@settings(max_examples=150, deadline=None)
def test_an_expression_means_what_it_says(tree, minimise):
    expression = text(tree)
    net = DNF.of_expression(expression, minimise=minimise)
    assert net.variables == tuple(dict.fromkeys(re.findall(r"\b[abcd]\b", expression)))
    for chosen in (net, DNF.of_expression(expression, "d a c b", minimise=minimise)):
        bits = product((0, 1), repeat=len(chosen.variables))
        assert values(chosen) == [value(tree, dict(zip(chosen.variables, row, strict=True))) for row in bits]


@pytest.mark.parametrize(
    ("expression", "variables", "clauses"),
    [
        ("a & ~b | c", "a b c", ["--1", "10-"]),
        ("a and not b or c", "a b c", ["--1", "10-"]),
        ("a ∧ ¬b ∨ c", "a b c", ["--1", "10-"]),
        ("not a & b", "a b", ["-0", "0-"]),
        ("~a & b", "a b", ["01"]),
        ("a ⊕ b", "a b", ["01", "10"]),
        ("c ^ a", "c a", ["01", "10"]),
        ("a | b & c ^ d", "a b c d", ["--01", "-0-1", "-110", "1---"]),
        ("((a))", "a", ["1"]),
        ("~~~a", "a", ["0"]),
        ("(a |\n b)", "a b", ["-1", "1-"]),
        ("rain & höhe_2 & self", "rain höhe_2 self", ["111"]),
        ("a & 1", "a", ["1"]),
        ("a | True", "a", ["-"]),
        ("a & 0", "a", []),
        ("1", "", [""]),
        ("False", "", []),
    ],
)
def test_an_expression_becomes_these_clauses(expression, variables, clauses):
    net = DNF.of_expression(expression)
    assert (" ".join(net.variables), list(net.clauses)) == (variables, clauses)


def test_variables_may_be_given_in_another_order_and_there_may_be_more():
    net = DNF.of_expression("b & ~a", "a unused b")
    assert net.clauses == ("0-1",)


def test_an_expression_may_have_sixteen_variables_and_a_thousand_terms():
    parity = DNF.of_expression(" ^ ".join(f"x{i}" for i in range(MAX_VARIABLES)))
    assert (len(parity), len(parity.clauses)) == (2, 2**15)
    assert DNF.of_expression(" or ".join(["a & b", "b & ~c"] * 500)).clauses == ("-10", "11-")


def test_an_expression_is_parsed_and_never_run(capsys):
    for expression in (
        "print(1)",
        "__import__('os')",
        "(lambda: print(1))()",
        "[print(1) for x in y]",
        "f'{print(1)}'",
    ):
        with pytest.raises(ValueError, match="not Boolean"):
            DNF.of_expression(expression)
    assert capsys.readouterr().out == ""


# Transitions.


def vectors(machine: TuringMachine, layout: Layout, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """For each state and symbol a vector with whatever bits elsewhere, and the vector that must come out."""
    pairs = list(product(machine.states, machine.symbols))
    x = torch.randint(2, (len(pairs), layout.width), generator=torch.Generator().manual_seed(1))
    x[:, layout.st.slice] = x[:, layout.sym1.slice] = 0
    expected = torch.zeros_like(x)
    for name in ("pos1", "pos2"):
        expected[:, layout[name].slice] = x[:, layout[name].slice]
    for row, (q, a) in enumerate(pairs):
        x[row, layout.st[q]] = x[row, layout.sym1[a]] = 1
        if (q, a) in machine.delta:
            target, written, move = machine.delta[q, a]
            expected[row, layout.st[target]] = expected[row, layout.sym2[written]] = 1
            expected[row, layout.scr5["R"]], expected[row, layout.scr5["L"]] = move == 1, move == -1
    return x.to(dtype), expected.to(dtype)


@dtypes
@pytest.mark.parametrize("name", turing.zoo)
def test_the_transition_of_a_zoo_machine_is_its_table(name, dtype):
    machine = turing.zoo[name]
    layout = state_vector(machine, bits=5)
    x, expected = vectors(machine, layout, dtype)
    network = Transition(machine, layout).to(dtype)
    assert len(x) == len(machine.states) * len(machine.symbols)
    assert torch.equal(network(x), expected)
    hidden = network[0](x)
    assert torch.equal(hidden[:, : layout.width], x)
    assert torch.equal(hidden[:, layout.width :], torch.eye(len(x), dtype=dtype))  # one detector fires, its own


def test_where_delta_is_undefined_only_the_positions_come_out():
    layout = state_vector(BALANCED, bits=7)
    x, _ = vectors(BALANCED, layout, torch.float32)
    out = Transition(BALANCED, layout)(x)
    undefined = [pair not in BALANCED.delta for pair in product(BALANCED.states, BALANCED.symbols)]
    assert sum(undefined) == 30 - 11
    for name in ("st", "sym2", "scr5"):
        assert not out[undefined][:, layout[name].slice].any()
        assert (out[[not jam for jam in undefined]][:, layout[name].slice].sum(dim=1) == 1).all()


def test_the_transition_of_the_papers_machine_goes_from_59_to_89_to_59():
    network = Transition(BALANCED, state_vector(BALANCED, bits=7))
    assert [tuple(layer.weight.shape) for layer in network] == [(89, 59), (59, 89)]
    assert [layout.width for layout in network.layouts] == [59, 89, 59]
    assert network.layouts[1].det.labels[:6] == ("I E", "I B", "I (", "I )", "I *", "R E")


@pytest.mark.parametrize("name", turing.zoo)
def test_the_first_matrix_has_w_plus_q_gamma_rows(name):
    machine = turing.zoo[name]
    w, pairs = state_vector(machine, 4).width, len(machine.states) * len(machine.symbols)
    first, second = Transition(machine, state_vector(machine, 4))
    assert first.weight.shape == (w + pairs, w)
    assert second.weight.shape == (w, w + pairs)
    assert torch.equal(first.weight[:w], torch.eye(w))
    assert first.bias.tolist() == [0] * w + [-1] * pairs
    assert not second.bias.any()
    assert second.weight[:, w:].sum() == sum(2 + abs(move) for _, _, move in machine.delta.values())


def test_only_the_second_matrix_depends_on_delta():
    one = TuringMachine({("A", "0"): ("B", "1", 1), ("B", "1"): ("A", "0", 0)}, "A", (), "0")
    other = TuringMachine({("B", "0"): ("A", "1", -1), ("A", "1"): ("A", "0", 1)}, "B", (), "1")
    layout = state_vector(one, bits=3)
    assert one.states != other.states
    first, second = Transition(one, layout), Transition(other, layout)
    assert torch.equal(first[0].weight, second[0].weight)
    assert torch.equal(first[0].bias, second[0].bias)
    assert torch.equal(first[1].bias, second[1].bias)
    assert not torch.equal(first[1].weight, second[1].weight)
    x, expected = vectors(other, layout, torch.float32)
    assert torch.equal(second(x), expected)


def test_a_layout_may_have_more_names_than_the_machine_and_in_another_order():
    wide = Layout(
        more=2,
        scr5=["L", "N", "R"],
        sym2=["x", *BALANCED.symbols],
        sym1=[*reversed(BALANCED.symbols), "x"],
        pos2=3,
        st=["other", *BALANCED.states],
        pos1=4,
    )
    x, expected = vectors(BALANCED, wide, torch.float32)
    assert torch.equal(Transition(BALANCED, wide)(x), expected)


def test_a_vector_without_positions_is_cleared_except_for_the_result():
    layout = Layout(st=BALANCED.states, sym1=BALANCED.symbols, sym2=BALANCED.symbols, scr5=["R", "L"])
    assert Transition(BALANCED, layout)[1].weight[:, : layout.width].count_nonzero() == 0


def test_names_with_spaces_in_them_have_detectors_too():
    spaced = TuringMachine({("a", "b c"): ("a b", "c", 1), ("a b", "c"): ("a", "b c", -1)}, "a", (), "c")
    layout = state_vector(spaced, bits=2)
    x, expected = vectors(spaced, layout, torch.float32)
    network = Transition(spaced, layout)
    assert torch.equal(network(x), expected)
    assert network.layouts[1].names()[-4:] == ["det[0]", "det[1]", "det[2]", "det[3]"]


# Bad input.

WRITE = "is not a Boolean expression. Write it with names, & | ^ ~ and brackets, as in a & ~b | c."
KNOWN = "which is not Boolean. Use names, 0, 1, & | ^ ~, and, or, not, and brackets."
BAD = {
    "a table of three rows": (
        lambda: DNF.of_table("011"),
        ValueError,
        "A truth table of n variables has 2ⁿ rows: 1, 2, 4, 8, …, and 3 were given.",
    ),
    "a table without rows": (
        lambda: DNF.of_table([]),
        ValueError,
        "A truth table of n variables has 2ⁿ rows: 1, 2, 4, 8, …, and 0 were given.",
    ),
    "a table for other variables": (
        lambda: DNF.of_table("0110", "a b c"),
        ValueError,
        "A truth table of the 3 variables a b c has 8 rows, and 4 were given.",
    ),
    "a table that is a number": (
        lambda: DNF.of_table(0b0110),
        TypeError,
        "A truth table is a string such as '0110' or a list, and 6 was given.",
    ),
    "a table that is nothing": (
        lambda: DNF.of_table(None),
        TypeError,
        "A truth table is a string such as '0110' or a list, and None was given.",
    ),
    "two variables with one name": (
        lambda: DNF.of_table("0110", "a a"),
        ValueError,
        "Two of the variables a a have the same name.",
    ),
    "two given variables with one name": (
        lambda: DNF.of_expression("a & b", "a b a"),
        ValueError,
        "Two of the variables a b a have the same name.",
    ),
    "variables with commas": (
        lambda: DNF(["10"], "a, b"),
        ValueError,
        "A variable has a name such as a or x1, and 'a,' was given.",
    ),
    "a variable that is a number": (
        lambda: DNF(["10"], ["a", 1]),
        ValueError,
        "A variable has a name such as a or x1, and 1 was given.",
    ),
    "a variable that is not among those given": (
        lambda: DNF.of_expression("a & d | e", "a b c"),
        ValueError,
        "'a & d | e' has the variable d, which is not one of those given: a b c.",
    ),
    "seventeen variables": (
        lambda: DNF.of_expression(" & ".join(f"x{i}" for i in range(17))),
        ValueError,
        "The truth table of 17 variables has 2^17 rows; at most 16 variables are allowed. "
        "Give the clauses themselves: DNF([...], variables).",
    ),
    "seventeen given variables": (
        lambda: DNF.of_expression("x1", [f"x{i}" for i in range(17)]),
        ValueError,
        "The truth table of 17 variables has 2^17 rows; at most 16 variables are allowed. "
        "Give the clauses themselves: DNF([...], variables).",
    ),
    "no clauses and no variables": (
        lambda: DNF([]),
        ValueError,
        "If there are no clauses, the variables must be named, such as DNF([], 'a b').",
    ),
    "a clause without its list": (
        lambda: DNF("10-"),
        TypeError,
        "DNF takes a list of clauses, such as ['10-', '--1'], and '10-' was given.",
    ),
    "a number in place of clauses": (
        lambda: DNF(3),
        TypeError,
        "DNF takes a list of clauses, such as ['10-', '--1'], and 3 was given.",
    ),
    "a number of variables": (
        lambda: DNF(["1-0"], 3),
        TypeError,
        "Variables are a string such as 'a b' or a list of names, and 3 was given.",
    ),
    "a clause that is too long": (
        lambda: DNF(["10", "1-1"]),
        ValueError,
        "The clause '1-1' is not one character 0, 1 or - for each of the 2 variables x0 x1.",
    ),
    "a clause of other characters": (
        lambda: DNF(["1x"], "a b"),
        ValueError,
        "The clause '1x' is not one character 0, 1 or - for each of the 2 variables a b.",
    ),
    "a clause that is a number": (
        lambda: DNF([10], "a b"),
        ValueError,
        "The clause 10 is not one character 0, 1 or - for each of the 2 variables a b.",
    ),
    "a clause that is a list": (
        lambda: DNF([["1", "0"]], "a b"),
        ValueError,
        "The clause ['1', '0'] is not one character 0, 1 or - for each of the 2 variables a b.",
    ),
    "clauses that do not exclude each other": (
        lambda: DNF(["01-", "10-", "--1"], "a b c", exclusive=True),
        ValueError,
        "The clauses 01- and --1 do not exclude each other: both are true for a=0 b=1 c=1. "
        "Leave exclusive out, and the network will have a third layer.",
    ),
    "a vector of the wrong width": (
        lambda: DNF(["1-0"])(torch.zeros(4, 2)),
        ValueError,
        "This layer takes vectors of width 3, and a tensor of shape (4, 2) was given.",
    ),
    "an expression that goes on": (
        lambda: DNF.of_expression("a + b & " + "c" * 100),
        ValueError,
        f"'a + b & {'c' * 71}…' contains 'a + b', {KNOWN}",
    ),
    "a layout without the states": (
        lambda: Transition(BALANCED, Layout(sym1=BALANCED.symbols)),
        ValueError,
        "The layout has no slice 'st' with the labels I R M V F T. "
        "turing.layout.state_vector(machine, bits) returns a layout that has them all.",
    ),
    "a layout of states without names": (
        lambda: Transition(BALANCED, Layout(st=6)),
        ValueError,
        "The layout has no slice 'st' with the labels I R M V F T. "
        "turing.layout.state_vector(machine, bits) returns a layout that has them all.",
    ),
    "a layout of another machine": (
        lambda: Transition(BALANCED, Layout(st=BALANCED.states, sym1=["0", "1"])),
        ValueError,
        "The layout has no slice 'sym1' with the labels E B ( ) *. "
        "turing.layout.state_vector(machine, bits) returns a layout that has them all.",
    ),
    "a layout without a symbol to write": (
        lambda: Transition(BALANCED, Layout(st=BALANCED.states, sym1=BALANCED.symbols)),
        ValueError,
        "The layout has no slice 'sym2' with the labels E B ( ) *. "
        "turing.layout.state_vector(machine, bits) returns a layout that has them all.",
    ),
    "a layout without a direction": (
        lambda: Transition(BALANCED, Layout(st=BALANCED.states, sym1=BALANCED.symbols, sym2=BALANCED.symbols, scr5=2)),
        ValueError,
        "The layout has no slice 'scr5' with the labels R L. "
        "turing.layout.state_vector(machine, bits) returns a layout that has them all.",
    ),
    "a layout with detectors already": (
        lambda: Transition(BALANCED, state_vector(BALANCED, 2) + Layout(det=1)),
        ValueError,
        "Both layouts have a slice 'det'; rename one.",
    ),
    "machine and layout the wrong way round": (
        lambda: Transition(Layout(st=2), BALANCED),
        TypeError,
        f"Transition takes a machine and then a layout, and Layout(st=2) and {BALANCED!r} were given.",
    ),
    "a machine in place of a layout": (
        lambda: Transition(BALANCED, BALANCED),
        TypeError,
        f"Transition takes a machine and then a layout, and {BALANCED!r} and {BALANCED!r} were given.",
    ),
}
for wrong in (2, -1, 0.5, "2", " ", "", "01", None):
    BAD[f"a table with {wrong!r} in it"] = (
        lambda wrong=wrong: DNF.of_table([0, wrong, 1, 0]),
        ValueError,
        f"The values of a truth table are 0 and 1, and {wrong!r} was given.",
    )
for wrong in ("width", "name", "slices", "_a", "__import__"):
    BAD[f"a variable called {wrong}"] = (
        lambda wrong=wrong: DNF.of_expression(f"{wrong} & a"),
        ValueError,
        f"The name {wrong!r} is taken: layout.{wrong} means something else. Choose another.",
    )
for wrong in (None, 3, b"a", ["a"], True):
    BAD[f"the expression {wrong!r}"] = (
        lambda wrong=wrong: DNF.of_expression(wrong),
        TypeError,
        f"A Boolean expression is a string such as 'a & ~b | c', and {wrong!r} was given.",
    )
for wrong in (
    "",
    " ",
    "a &",
    "a b",
    "a && b",
    "!a",
    "a -> b",
    "a = b",
    "a := b",
    "class",
    "a; b",
    "a # b",
    "a\nb",
    "a\0",
    "∧",
):
    BAD[f"the expression {wrong!r}"] = (
        lambda wrong=wrong: DNF.of_expression(wrong),
        ValueError,
        f"{wrong!r} {WRITE}",
    )
for wrong, part in {
    "a + b": "a + b",
    "a & b - c": "b - c",
    "é & (b + c)": "b + c",
    "a < b": "a < b",
    "a == b | c": "a == b | c",
    "-a | b": "-a",
    "a & 2": "2",
    "a | 1.0": "1.0",
    "a & 'b'": "'b'",
    "a & None": "None",
    "a << b": "a << b",
    "f(a) | b": "f(a)",
    "a & __import__('os').path": "__import__('os').path",
    "a.b": "a.b",
    "a[0] & b": "a[0]",
    "a if b else c": "a if b else c",
    "lambda: a": "lambda: a",
    "(a, b)": "(a, b)",
    "{a}": "{a}",
    "(a := b) & c": "a := b",
}.items():
    BAD[f"the expression {wrong!r}"] = (
        lambda wrong=wrong: DNF.of_expression(wrong),
        ValueError,
        f"{wrong!r} contains {part!r}, {KNOWN}",
    )


@pytest.mark.parametrize("case", BAD)
def test_a_function_that_makes_no_sense_is_refused_with_its_reason(case):
    action, error, message = BAD[case]
    with pytest.raises(error) as caught:
        action()
    assert str(caught.value) == message


@pytest.mark.parametrize("depth", [1_500, 2_500, 20_000])
@pytest.mark.parametrize("nested", ["~", "not ", "a & ", "(", "f("])
def test_an_expression_that_is_too_deep_is_refused_in_a_few_words(nested, depth):
    with pytest.raises(ValueError, match=r"nested too deeply|not a Boolean expression") as caught:
        DNF.of_expression(nested * depth + "a" + ")" * (depth * ("(" in nested)))
    assert len(str(caught.value)) < 250
