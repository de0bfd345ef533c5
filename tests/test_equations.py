"""Equations: every name that is printed is true, and every gate that there is has a name."""

import re
from copy import deepcopy
from fractions import Fraction
from itertools import product

import pytest
import torch
from every_kind import EveryKind
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import turing
from turing import Layout, show
from turing.adders import FullAdder, HalfAdder, LookaheadAdder, MoveAdder, RippleCarryAdder
from turing.attention import Lookup
from turing.conv import RowOfCells
from turing.dnf import DNF, Transition
from turing.gates import AND, NAND, NOR, NOT, OR, XOR, Layer, Readout, embed
from turing.layout import state_vector
from turing.modules import Convolution, Rational
from turing.views.rows import MAX_INPUTS

AB, ABC, X = Layout(a=1, b=1), Layout(a=1, b=1, c=1), Layout(x=1)
HALF_ADDER = """\
layer 1 of 3
a ← ReLU(a + b − 1)   AND(a, b)
b ← ReLU(1 − a − b)   NOR(a, b)

layer 2 of 3                      of the inputs
a ← ReLU(1 − a)       NOT(a)      NAND(a, b)
b ← ReLU(1 − b)       NOT(b)      OR(a, b)

layer 3 of 3                      of the inputs
a ← ReLU(a + b − 1)   AND(a, b)   XOR(a, b)
b ← ReLU(1 − a)       NOT(a)      AND(a, b)"""


def value_of(name: str, row: dict[str, int]) -> float:
    """What a printed name says for given inputs."""
    if factor := re.fullmatch(r"(\d[\d.e+-]*)(?:·(.*))?", name):
        return float(factor[1]) * (value_of(factor[2], row) if factor[2] else 1)
    if choice := re.fullmatch(r"(\S+) if (\S+) else (\S+)", name):
        return value_of(choice[1 if value_of(choice[2], row) else 3], row)
    if name.startswith("¬"):
        return 1 - value_of(name[1:], row)
    call = re.fullmatch(r"(.+?) ?\((.*)\)", name)
    if not call:
        return row[name]
    parts, depth = [""], 0
    for character in call[2].replace(", ", ","):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character.replace(",", ", ")
    ones, of = sum(value_of(part, row) for part in parts), len(parts)
    if counted := re.fullmatch(r"(exactly|at least|at most) (\d+) of", call[1]):
        n = int(counted[2])
        return {"exactly": ones == n, "at least": ones >= n, "at most": ones <= n}[counted[1]]
    return {
        "COPY": ones == 1, "NOT": ones == 0, "AND": ones == of, "NAND": ones < of, "OR": ones > 0, "NOR": ones == 0,
        "XOR": ones % 2 == 1, "XNOR": ones % 2 == 0, "MAJ": 2 * ones > of,
    }[call[1]]  # fmt: skip


def rows_of(names: str) -> list[dict[str, int]]:
    return [dict(zip(names, bits, strict=True)) for bits in product((0, 1), repeat=len(names))]


def relu_row(weights: list[float], bias: float, row: dict[str, int]) -> float:
    return max(0.0, bias + sum(w * x for w, x in zip(weights, row.values(), strict=True)))


def gate_of(weights: list[float], bias: float) -> str:
    layer = nn.Linear(len(weights), 1, dtype=torch.float64)
    with torch.no_grad():
        layer.weight[0], layer.bias[0] = torch.tensor(weights, dtype=torch.float64), bias
    return show(layer, [Layout(**dict.fromkeys("abcdefgh"[: len(weights)], 1)), Layout(y=1)]).layers[0][0].gate


def test_the_half_adder_prints_the_three_layers_of_the_paper():
    assert str(show(HalfAdder(2, 0, 1), AB)) == HALF_ADDER
    assert repr(show(HalfAdder(2, 0, 1), AB)) == HALF_ADDER
    assert max(map(len, HALF_ADDER.splitlines())) <= 80


def test_one_layer_has_no_heading_and_rows_that_pass_their_own_place_on_are_left_out():
    layer = embed(5, (AND(2), [0, 3], 0), (NOR(3), [0, 3, 4], 3))
    assert str(show(layer, Layout(pos3=3, add=2))) == (
        "pos3[0] ← ReLU(pos3[0] + add[0] − 1)            AND(pos3[0], add[0])\n"
        "add[0]  ← ReLU(1 − pos3[0] − add[0] − add[1])   NOR(pos3[0], add[0], add[1])"
    )


def test_a_layer_that_changes_nothing_says_so():
    assert str(show(embed(3))) == "every place stays as it is"
    assert str(show(nn.Sequential(embed(1), NOT()))) == (
        "layer 1 of 2\n"
        "every place stays as it is\n"
        "\n"
        "layer 2 of 2               of the inputs\n"
        "x ← ReLU(1 − x)   NOT(x)   NOT(x)"
    )


def test_a_row_is_only_left_out_if_it_is_exactly_the_identity_under_the_same_name():
    assert show(Layer([[1, 0], [0, 1]], [0, 0]), [AB, Layout(a=1, c=1)]).layers == ((("c", "ReLU(b)", "COPY(b)", ""),),)
    assert [line.place for line in show(Layer([[1, 0], [0, 1.001]], [0, 0]), AB).layers[0]] == ["b"]
    assert [line.place for line in show(Layer([[1, 0], [0, 1]], [0.001, 0]), AB).layers[0]] == ["a"]
    assert [line.gate for line in show(Layer([[0, 1], [1, 0]], [0, 0]), AB).layers[0]] == ["COPY(b)", "COPY(a)"]


def test_lookahead_shows_its_carries_as_ands_and_its_readout_without_relu():
    assert (
        str(show(LookaheadAdder(2)))
        == """\
layer 1 of 2
carry[0]    ← ReLU(right)                     COPY(right)
carry[1]    ← ReLU(p[0] + right − 1)          AND(p[0], right)
borrow[0]   ← ReLU(left)                      COPY(left)
borrow[1]   ← ReLU(left − p[0])               AND(¬p[0], left)
p_carry[0]  ← ReLU(p[0] + right − 1)          AND(p[0], right)
p_carry[1]  ← ReLU(p[0] + p[1] + right − 2)   AND(p[0], p[1], right)
p_borrow[0] ← ReLU(p[0] + left − 1)           AND(p[0], left)
p_borrow[1] ← ReLU(p[1] + left − p[0] − 1)    AND(¬p[0], p[1], left)

layer 2 of 2
p[0]        ← p[0] + carry[0] + borrow[0] − 2 p_carry[0] − 2 p_borrow[0]
p[1]        ← p[1] + carry[1] + borrow[1] − 2 p_carry[1] − 2 p_borrow[1]"""
    )


def test_the_transition_of_the_paper_shows_its_detectors_and_where_each_is_sent():
    machine = turing.zoo["balanced_parentheses"]
    shown = show(Transition(machine, state_vector(machine, bits=7)))
    detectors, routes = shown.layers
    assert [line.gate for line in detectors] == [
        f"AND(st[{state}], sym1[{symbol}])" for state in machine.states for symbol in machine.symbols
    ]
    found = {line.place: line.value for line in routes}
    assert found["st[R]"] == "ReLU(det[I B] + det[R (] + det[R *] + det[M (])"
    assert found["sym1"] == found["pos3"] == found["scr4"] == found["st[I]"] == "0"
    assert not any(place.startswith(("pos1", "pos2")) for place in found)
    (line,) = (line for line in routes if line.place == "st[T]")
    assert line[1:] == ("ReLU(det[V B])", "COPY(det[V B])", "AND(st[V], sym1[B])")


def test_the_full_adder_is_parity_and_majority_of_its_inputs():
    last = {line.place: line.of_inputs for layer in show(FullAdder(3, 0, 1, 2), ABC).layers for line in layer}
    assert last == {"a": "XOR(a, b, c)", "b": "", "c": "MAJ(a, b, c)"}


def test_gates_are_named_in_every_layer_of_long_adders():
    for adder in (RippleCarryAdder(6), MoveAdder(7)):
        lines = [line for layer in show(adder).layers[3:-1] for line in layer]
        assert all(line.gate for line in lines if line.value != "0")
    sums = {line.place: line.of_inputs for line in show(RippleCarryAdder(1)).layers[5]}
    assert sums["a"] == "XOR(a, b, carry)"


@pytest.mark.parametrize("factor", [0.9, 1.1, 0.999, -1])
def test_a_perturbed_half_adder_keeps_the_name_of_a_gate_only_where_the_gate_stays(factor):
    tried = 0
    for number, layer in enumerate(HalfAdder(2, 0, 1)):
        for i, j in product(range(2), range(3)):  # two weights and the bias
            net = HalfAdder(2, 0, 1)
            part = net[number].bias[i : i + 1] if j == 2 else net[number].weight[i, j : j + 1]
            if part.item() == 0:
                continue
            tried += 1
            with torch.no_grad():
                part *= factor
            name = show(net, AB).layers[number][i].gate
            before = show(HalfAdder(2, 0, 1), AB).layers[number][i].gate
            x = torch.tensor([list(row.values()) for row in rows_of("ab")])
            same = torch.equal(layer(x)[:, i], net[number](x)[:, i])
            assert (name == before) == same
            assert not same or factor == 1.1, "a smaller number is never the same gate"
    assert tried == 15


def test_a_perturbed_first_layer_takes_the_name_from_what_depends_on_it():
    net = HalfAdder(2, 0, 1)
    with torch.no_grad():
        net[0].weight[0, 0] = 0.9
    assert [[line.gate for line in layer] for layer in show(net, AB).layers] == [
        ["0.9·AND(a, b)", "NOR(a, b)"], ["", "NOT(b)"], ["", ""],
    ]  # fmt: skip
    assert [line.of_inputs for line in show(net, AB).layers[2]] == ["", "0.9·AND(a, b)"]


def test_a_linear_layer_written_by_hand_is_recognised_whatever_the_order_of_its_rows():
    W = [[-1, -1, 0], [1, 1, 1], [1, -1, 0], [0, 0, -1], [0, 2, 0], [1, 1, 0], [0, 0, 0], [0, 0, 0], [-1, 0, 0]]
    b = [1, -2, 0, 1, 0, 0, 0, 3, 0]
    gates = ["NOR(a, b)", "AND(a, b, c)", "AND(a, ¬b)", "NOT(c)", "2·COPY(b)", "", "", "3", "0"]
    for turn in range(len(W)):
        order = [*range(turn, len(W)), *range(turn)]
        linear = nn.Linear(3, len(W))
        with torch.no_grad():
            linear.weight[:] = torch.tensor(W)[order]
            linear.bias[:] = torch.tensor(b)[order]
        for network in (linear, nn.Sequential(linear, nn.ReLU())):
            (lines,) = show(network, [ABC, Layout(y=len(W))]).layers
            assert [line.gate for line in lines] == [gates[i] for i in order]
    (line,) = show(nn.Sequential(linear), [ABC, Layout(y=9)]).layers[0][-1:]
    assert (line.value, line.gate) == ("3", "3")


def test_a_sum_without_relu_is_a_gate_only_if_it_is_a_copy_a_not_or_constant():
    lines = show(Readout([[1, 0], [0, -1], [1, 1], [1, -1], [0, 0], [-1, 0]], [0, 1, -1, 0, 2, 0]), [AB, Layout(y=6)])
    assert [line.gate for line in lines.layers[0]] == ["COPY(a)", "NOT(b)", "", "", "2", ""]
    assert [line.value for line in lines.layers[0]] == ["a", "1 − b", "a + b − 1", "a − b", "2", "−a"]


@settings(max_examples=60, deadline=None)
@given(
    st.permutations(range(2)),
    st.permutations(range(2)),
    st.lists(st.floats(0.01, 100), min_size=5, max_size=5),
)
def test_hidden_neurons_may_be_permuted_and_rescaled_and_xor_is_still_recognised(first, second, scales):
    net, (c1, c2) = XOR(), torch.tensor(scales[:4]).reshape(2, 2)
    one, two, three = net
    with torch.no_grad():
        for layer, c, order, after in ((one, c1, first, two), (two, c2, second, three)):
            layer.weight[:], layer.bias[:] = (layer.weight * c[:, None])[order], (layer.bias * c)[order]
            after.weight[:] = (after.weight / c)[:, order]
    shown = show(net, AB).layers
    assert {re.sub(r".*·", "", line.gate) for line in shown[0]} == {"AND(a, b)", "NOR(a, b)"}
    assert {re.sub(r".*·", "", line.of_inputs) for line in shown[1]} == {"NAND(a, b)", "OR(a, b)"}
    assert shown[2][0].of_inputs == "XOR(a, b)"


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_any_conjunction_of_literals_is_recognised_with_any_slack_and_lost_without(data):
    k = data.draw(st.integers(1, 8))
    signs = data.draw(st.lists(st.sampled_from([1, -1]), min_size=k, max_size=k))
    top = data.draw(st.sampled_from([1, 0.5, 3]))
    weights = [sign * (top + data.draw(st.integers(0, 8)) / 4) for sign in signs]
    bias = top - sum(w for w in weights if w > 0)
    names = "abcdefgh"[:k]
    name = gate_of(weights, bias)
    assert (
        all(value_of(name, row) == pytest.approx(relu_row(weights, bias, row)) for row in rows_of(names)) or "…" in name
    )
    weights[data.draw(st.integers(0, k - 1))] *= 0.99 * top / max(map(abs, weights))
    bias = top - sum(w for w in weights if w > 0)
    assert gate_of(weights, bias) == ""


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(-3, 3).filter(bool), min_size=1, max_size=4), st.integers(-6, 6))
def test_a_neuron_has_a_name_if_and_only_if_it_is_nought_or_one_number(weights, bias):
    values = [relu_row(weights, bias, row) for row in rows_of("abcd"[: len(weights)])]
    name = gate_of(weights, bias)
    assert bool(name) == (len({value for value in values if value > 0}) < 2)
    if name:
        assert [value_of(name, row) for row in rows_of("abcd"[: len(weights)])] == values


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_every_name_for_a_function_of_the_inputs_is_true(data):
    def layer(rows: int, columns: int, kind=Layer):
        numbers = st.lists(st.sampled_from([-2, -1, -1, 0, 0, 1, 1, 2]), min_size=columns + 1, max_size=columns + 1)
        drawn = [data.draw(numbers) for _ in range(rows)]
        return kind([row[1:] for row in drawn], [row[0] for row in drawn])

    net = nn.Sequential(layer(3, 3), layer(3, 3), layer(3, 3, data.draw(st.sampled_from([Layer, Readout]))))
    x = torch.tensor([list(row.values()) for row in rows_of("abc")])
    hidden = [net[0](x), net[1](net[0](x)), net(x)]
    for number, lines in enumerate(show(net, ABC).layers):
        for line in lines:
            values = hidden[number][:, "abc".index(line.place)].tolist()
            name = line.of_inputs if number else line.gate
            if name:
                assert [value_of(name, row) for row in rows_of("abc")] == values
            if number and line.gate:  # the gate speaks of the layer before, where a place is 0 or its own 1
                before = hidden[number - 1]
                bits = [{n: int(v > 0) for n, v in zip("abc", row, strict=True)} for row in before.tolist()]
                assert [value_of(line.gate, row) for row in bits] == values


def test_of_all_functions_of_three_inputs_those_with_a_short_name_have_it_and_it_is_true():
    named = 0
    for table in product("01", repeat=8):
        name = show(DNF.of_table("".join(table), "a b c", minimise=False)).layers[-1][0].of_inputs
        if name:
            named += 1
            assert [int(value_of(name, row)) for row in rows_of("abc")] == [int(value) for value in table]
    assert named == 185


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("a | ~a", "1"), ("a | (b & ~b)", "a"), ("~a | (b & ~b)", "NOT(a)"),
        ("a & ~b", "AND(a, ¬b)"), ("~a & ~b", "NOR(a, b)"), ("a | ~b", "OR(a, ¬b)"), ("~a | ~b", "NAND(a, b)"),
        ("a ^ b", "XOR(a, b)"), ("~(a ^ b)", "XNOR(a, b)"), ("a ^ b ^ c ^ d", "XOR(a, b, c, d)"),
        ("a & b | a & c | b & c", "MAJ(a, b, c)"), ("s & b | ~s & a", "b if s else a"),
        ("(a ^ b) & c", "AND(XOR(a, b), c)"), ("(a ^ b) | ~c", "OR(XOR(a, b), ¬c)"),
        ("a & (b | ~c)", "AND(OR(b, ¬c), a)"), ("a ^ (b & c)", "XOR(AND(b, c), a)"),
        ("a & b | (a ^ b) & (c & d)", "MAJ(AND(c, d), a, b)"),
        ("a & ~b & ~c | ~a & b & ~c | ~a & ~b & c", "exactly 1 of (a, b, c)"),
        ("~(a & b | a & c | b & c)", "at most 1 of (a, b, c)"),
    ],
)  # fmt: skip
def test_functions_have_the_names_that_one_would_give_them(expression, name):
    assert show(DNF.of_expression(expression, minimise=False)).layers[-1][0].of_inputs == name


def test_a_sum_of_things_that_exclude_each_other_is_an_or():
    (line,) = show(DNF(["01", "10"], "a b")).layers[1]
    assert line[1:] == ("ReLU(clause[01] + clause[10])", "OR(clause[01], clause[10])", "XOR(a, b)")
    (line,) = show(nn.Sequential(Layer([[1, 0], [0, 1]], [0, 0]), Layer([[1, 1]], [0]))).layers[1]
    assert (line.gate, line.of_inputs) == ("", ""), "two inputs do not exclude each other"


def test_a_place_that_holds_more_than_two_values_is_no_input_of_a_gate_and_yet_leads_to_one():
    counted = Layer([[1, 1], [1, 1]], [0, -1])
    shown = show(nn.Sequential(counted, Layer([[1, -2]], [0])), [AB, Layout(u=1, v=1), Layout(y=1)])
    assert shown.layers[0][0] == ("u", "ReLU(a + b)", "", "")
    assert shown.layers[1] == (("y", "ReLU(u − 2 v)", "", "XOR(a, b)"),)


def test_rounding_that_adds_up_over_many_layers_takes_the_names_away():
    almost = Layer([[1]], [1e-7])
    shown = show(nn.Sequential(*[almost] * 30), Layout(a=1)).layers
    assert shown[4][0] == ("a", "ReLU(a + 1e-07)", "COPY(a)", "a")
    assert shown[29][0] == ("a", "ReLU(a + 1e-07)", "", "")


def test_functions_of_more_inputs_than_a_table_can_hold_are_left_unnamed_and_their_gates_are_not():
    for k in (MAX_INPUTS, MAX_INPUTS + 1, 1000):
        (line,) = show(NAND(k)).layers[1]
        assert line.gate == "NOT(h1)"
        assert bool(line.of_inputs) == (k <= MAX_INPUTS)


def test_long_rows_are_cut_and_say_how_long_they_are():
    assert str(show(AND(40))) == (
        "y ← ReLU(x[0] + x[1] + x[2] + x[3] + x[4] + … (40 terms) − 39)   AND(x[0], x[1], x[2], x[3], … (40 inputs))"
    )
    assert show(NOR(40)).layers[0][0].value == "ReLU(1 − x[0] − x[1] − x[2] − x[3] − x[4] − … (40 terms))"
    assert max(len(line) for line in str(show(LookaheadAdder(32))).splitlines()) < 125


def test_numbers_are_written_as_by_hand():
    layer = Layer([[2, -0.5], [-1, 0], [1 / 3, 1e-9], [-2, 1], [-1, -1]], [0, -1, 1, 1, 0]).double()
    assert [line.value for line in show(layer, [AB, Layout(y=5)]).layers[0]] == [
        "ReLU(2 a − 0.5 b)", "ReLU(−a − 1)", "ReLU(0.333333 a + 1e-09 b + 1)", "ReLU(b − 2 a + 1)", "ReLU(−a − b)",
    ]  # fmt: skip


def test_a_slice_that_is_cleared_takes_one_line_and_a_place_of_it_one_of_its_own():
    layer = Layer(torch.zeros(5, 5), torch.zeros(5))
    assert str(show(layer, Layout(scr1=3, flag=1, carry=1))) == "scr1  ← 0\nflag  ← 0\ncarry ← 0"
    with torch.no_grad():
        layer.weight[0, 0] = 1
    assert str(show(layer, Layout(scr1=3, flag=1, carry=1))).startswith("scr1[1] ← 0\nscr1[2] ← 0\nflag ")


def test_names_cannot_move_the_cursor_or_forge_a_line():
    text = str(show(AND(2), [Layout(st=["\x1b[2J", "a\nb ← 1"]), Layout(y=1)]))
    assert text.count("\n") == 0
    assert text.isprintable()


def test_the_rows_of_a_network_with_no_clause_are_constant():
    assert show(DNF([], "a b")).layers == ((), (("out", "0", "", ""),))
    assert show(DNF([], "a b", exclusive=False)).layers[1][0].gate == "1"


def test_a_network_in_the_classes_of_torch_reads_as_in_ours():
    ours = show(OR(3), [ABC, Layout(h=1), Layout(y=1)])
    theirs = nn.Sequential(nn.Linear(3, 1), nn.ReLU(), nn.Linear(1, 1), nn.ReLU())
    with torch.no_grad():
        for linear, layer in zip(theirs[::2], OR(3), strict=True):
            linear.weight[:], linear.bias[:] = layer.weight, layer.bias
    assert show(theirs, [ABC, Layout(h=1), Layout(y=1)]) == ours


@pytest.mark.parametrize(
    ("weights", "bias", "name"),
    [
        ([-1e6], 1, "NOT(a)"),
        ([-1e6, -1e6], 1, "NOR(a, b)"),
        ([1e6, 1], -1e6, "AND(a, b)"),
        ([2097153], -2097152, "COPY(a)"),
    ],
)
def test_a_gate_is_named_however_different_its_numbers_are(weights, bias, name):
    layer = Layer([weights], [bias])
    names = [Layout(**dict.fromkeys("ab"[: len(weights)], 1)), Layout(out=1)]
    assert show(layer, names).layers[0][0].gate == name
    behind = show(nn.Sequential(layer, NOT()), [*names, Layout(y=1)]).layers[1][0].of_inputs
    opposite = {"NOT(a)": "a", "NOR(a, b)": "OR(a, b)", "AND(a, b)": "NAND(a, b)", "COPY(a)": "NOT(a)"}
    assert behind == opposite[name]


def test_whole_numbers_are_printed_in_full():
    assert show(Layer([[2097153]], [-2097152]), Layout(a=1)).layers[0][0].value == "ReLU(2097153 a − 2097152)"


def test_a_relu_after_a_layer_without_one_is_shown_even_where_the_weights_are_the_identity():
    network = nn.Sequential(Readout([[-1]], [0]), Layer([[1]], [0]))
    assert str(show(network)).splitlines()[-1].startswith("x ← ReLU(x)")


@pytest.mark.parametrize(("weight", "name"), [(1, "AND"), (0.9, "0.9·AND"), (1.1, ""), (1.01, "")])
def test_a_gate_of_more_inputs_than_a_truth_table_is_tried_for_is_named_by_the_rule_alone(weight, name):
    gate = AND(MAX_INPUTS + 2)
    gate.weight.data[0, 0] = weight
    assert show(gate).layers[0][0].gate.split("(")[0] == name


@pytest.fixture(scope="module")
def transformer():
    return turing.compile(turing.zoo["balanced_parentheses"], "wcm21", T=100)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("visited", "scr4[visited] ← scr4[visited] + (1 if a column has pos2 = pos3, else 0)"),
        ("search6", "scr3[6] ← scr3[6] + (1 if a column has pos2 = pos3, pos1[6] = 1, else 0)"),
        (
            "search2",
            "scr3[2] ← scr3[2] + (1 if a column has pos2 = pos3, pos1[3…6] = scr3[3…6], pos1[2] = 1, else 0)",
        ),
        ("last", "scr1 ← scr1 + (sym2 of the column with pos1 = scr3, else 0)"),
        ("initial", "scr2 ← scr2 + (sym1 of the cell of the word with pos2 = pos3, and 1 among sym1, else 0)"),
    ],
)
def test_a_head_is_described_as_the_look_up_that_its_numbers_are(transformer, name, expected):
    assert str(show(transformer.pipeline[name])) == expected


@pytest.mark.parametrize("part", ["query", "key", "value", "write"])
@pytest.mark.parametrize("numbers", ["weight", "bias"])
def test_a_head_with_another_number_is_not_a_look_up(transformer, part, numbers):
    head = deepcopy(transformer.pipeline["last"])
    with torch.no_grad():
        getattr(getattr(head, part), numbers).view(-1)[0] += 0.25
    assert "these numbers are not a look-up by bits" in str(show(head))


def test_a_head_whose_kappa_leaves_a_weight_to_a_miss_is_not_a_look_up(transformer):
    head = deepcopy(transformer.pipeline["last"])
    head.kappa = 20.0
    assert "these numbers are not a look-up by bits" in str(show(head))


def test_a_compiled_network_is_shown_module_by_module(transformer):
    shown = show(transformer)
    assert len(shown.layers) == len(shown.headings) == 2 + 1 + 7 * 8 + 1 + 10 + 3
    assert shown.headings[0] == "transition, Transition, layer 1 of 2"
    assert shown.headings[-1] == "combine, CombineSymbols"
    assert "MAJ(pos3[6], scr4[visited], add[6])" in str(shown)


# The other kinds of module, and networks of every construction.


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        ("strict", "found ← found + (content of the earlier column with address = ask, else 0)"),
        ("cross", "found ← found + (content of the cell of the word with address = ask, else 0)"),
    ],
)
def test_a_look_up_says_what_it_looks_at(mask, expected):
    x = Layout(ask=2, address=2, content=1, found=1)
    head = Lookup(x.width, ask=x.ask, at=x.address, fetch=x.content, into=x.found, mask=mask)
    assert str(show(head, x)) == expected


def test_a_network_of_every_kind_is_shown_module_by_module():
    assert (
        str(show(EveryKind()))
        == """\
swap, Layer
ask[0] ← ReLU(ask[1])   COPY(ask[1])

near, Lookup
ask    ← ask + (tok of the earlier column with at = ask, else 0)

nearest, Attention
query  ← ask[0]
key    ← 2 at[0] − 1
value  ← 3 tok[a]
share  ← hardmax(−|query · key|) over the columns so far
found  ← found + Σ share · value

back, Attention
query  ← ask[0]
key    ← 2 at[0] − 1
value  ← 3 tok[a]
share  ← hardmax(query · key) over the column 4 back
found  ← found + Σ share · value

hash, Norm
at     ← (at − mean at) / ‖at − mean at‖

choose, Argmax
tok    ← one-hot at the maximum of tok

forget, Rational
ask[0] ← σ(0.25 ask[0] + 1)
ask[1] ← 0
at     ← 0
tok    ← 0
found  ← 0"""
    )


def test_a_head_that_is_not_a_look_up_shows_its_maps(transformer):
    head = deepcopy(transformer.pipeline["visited"])
    head.kappa = 20.0
    with torch.no_grad():
        head.null_key[1] = -0.5
    lines = dict(show(head).layers[0][i][:2] for i in range(len(show(head).layers[0])))
    assert lines["query[0]"] == "2 pos3[0] − 1"
    assert lines["key[0]"] == "pos2[0] − 0.5"
    assert lines["null key"] == "(0, −0.5, 0, 0, 0, 0, 0, 3)"
    assert lines["share"] == "softmax(20 query · key) over the columns so far and the null key"
    assert lines["scr4[visited]"] == "scr4[visited] + Σ share · value"


def test_the_rows_of_a_convolution_name_the_neighbours_and_their_gates():
    x, weight = Layout(st=["A", "B"]), torch.zeros(2, 2, 3)
    weight[0, 0, 0] = weight[0, 1, 2] = weight[1, 1, 1] = 1
    cells = Convolution(weight, torch.tensor([-1.0, 0]), "relu", [x, x])
    assert str(show(cells)) == "st[A] ← ReLU(left st[A] + right st[B] − 1)   AND(left st[A], right st[B])"
    twice = show(
        nn.Sequential(cells, Layer([[-1, 0]], [1]), Convolution(torch.ones(1, 1, 5), torch.zeros(1))), [x, x, *[X] * 2]
    )
    assert twice.layers[1][0].of_inputs == "NAND(left st[A], right st[B])"
    assert twice.layers[2][0].value == "left2 x + left x + x + right x + right2 x"


def test_a_row_of_cells_is_shown_as_the_rules_of_its_machine():
    text = str(show(RowOfCells(turing.zoo["bb2"])))
    assert "det[A 0] ← ReLU(sym[0] + st[A] − 1)             AND(sym[0], st[A])" in text
    assert "st[B]    ← ReLU(left det[A 0] + right det[A 1])" in text


def test_exact_numbers_are_fractions_where_six_digits_do_not_hold_them():
    rows = {0: {0: Fraction(1, 3), 1: Fraction(-1, 40), None: Fraction(-2, 7)}}
    assert show(Rational(AB, Layout(y=1), rows)).layers[0][0].value == "σ(1/3 a − 0.025 b − 2/7)"
    assert show(Rational(AB, Layout(y=1), rows, "none", arithmetic="float32")).layers[0][0].value == (
        "0.333333 a − 0.025 b − 0.285714"
    )


def test_a_layer_of_sigma_leaves_out_places_that_keep_their_name_wherever_they_stand():
    layer = Rational(AB, Layout(c=1, a=1, b=1), {0: {0: 2}, 1: {0: 1}, 2: {1: 1}}, "clamp")
    assert show(layer).layers == ((("c", "σ(2 a)", "", ""),),)


def test_a_clamp_after_a_layer_that_may_exceed_it_is_shown_even_where_the_weights_are_the_identity():
    same = Rational(AB, AB, {0: {0: 1}, 1: {1: 1}}, "clamp", arithmetic="float32")
    assert show(same).layers == ((),)
    assert [line.value for line in show(nn.Sequential(embed(2), same)).layers[1]] == ["σ(a)", "σ(b)"]


def test_ss95_is_shown_layer_by_layer_alike_in_exact_arithmetic_and_in_floats():
    exact, floats = (show(turing.compile(turing.zoo["bb2"], "ss95", arithmetic=kind)) for kind in ("exact", "float64"))
    assert exact == floats
    assert exact.headings == ("F4, Rational", "F3, Rational", "F2, Rational", "F1, Rational")
    assert exact.layers[0][0] == ("one[0]", "σ(4 q[0] − 2)", "", "")
    assert exact.layers[3][0] == ("q[0]", "σ(noop[0] + push0[0] + push1[0] + pop[0])", "", "")
