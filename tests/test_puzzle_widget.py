"""Weight puzzles on the Python side: what the judge accepts and says, and what the widget hands to a page."""

import json
import random
import re
from fractions import Fraction

import numpy as np
import pytest
import torch
from torch import nn

import turing
from turing.exercises import CHAPTERS, Wrong, exercises, first_failure
from turing.exercises.weights import Score, WeightPuzzle, bits, numbers, score, shown, values
from turing.gates import OR, Layer, Readout
from turing.layout import Layout
from turing.widgets import Puzzle

PUZZLES = {
    name: judge for chapter in CHAPTERS for name, judge in exercises(chapter).items() if isinstance(judge, WeightPuzzle)
}
EITHER = WeightPuzzle(bits("a b"), bits("out"), lambda a, b: a | b, hidden=(1,))
RIGHT = "all 4 rows, with 2 neurons in 2 layers"
NOR_NOT = ([[-1, -1]], [1]), ([[-1]], [1])


def said(puzzle, answer):
    with pytest.raises(Wrong) as wrong:
        puzzle(answer)
    return str(wrong.value)


@pytest.mark.parametrize(
    "answer",
    [
        NOR_NOT,
        [list(layer) for layer in NOR_NOT],
        [(torch.tensor(W), torch.tensor(b)) for W, b in NOR_NOT],
        [(np.array(W), np.array(b)) for W, b in NOR_NOT],
        [(torch.tensor(W, requires_grad=True, dtype=torch.float), b) for W, b in NOR_NOT],
        [([[np.float32(-1), Fraction(-1)]], [True]), ([torch.tensor([-1])], [torch.tensor(1)])],
        OR(2),
        nn.Sequential(Layer(*NOR_NOT[0]), Layer(*NOR_NOT[1])),
    ],
    ids=["tuples", "lists", "tensors", "arrays", "parameters", "a mixture", "a gate", "a sequence"],
)
def test_numbers_may_come_in_any_container(answer):
    assert EITHER(answer) == RIGHT


@pytest.mark.parametrize("one", [([[1, 1]], [-1]), [([[1, 1]], [-1])], (torch.ones(1, 2), torch.tensor([-1.0]))])
def test_a_single_layer_may_come_without_brackets_of_its_own(one):
    both = WeightPuzzle(bits("a b"), bits("out"), lambda a, b: a & b, hidden=())
    assert both(one) == "all 4 rows, with 1 neuron in 1 layer"


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("text", "returned an object of type str. Return the layers as pairs of weights and biases"),
        ({}, "returned an object of type dict"),
        ((), "returned no layers"),
        ([NOR_NOT[0], [[[1]]]], "Layer 2 is not a pair (W, b): it has 1 part."),
        ([NOR_NOT[0], NOR_NOT[1], 7], "Layer 3 is not a pair (W, b): it is 7."),
        (([1, 1], [0]), "W of layer 1 is not a list of rows"),
        ([([1, 1], [0]), NOR_NOT[1]], "for each neuron, such as [[1, 0], [0, 1]]; [1, 1] was given."),
        (([[1, 1]], 0), "b of layer 1 is not a list with one bias for each neuron; 0 was given."),
        (([[1, 1], [1]], [0, 0]), "Row 2 of W in layer 1 has 1 number, and row 1 has 2."),
        (([[1, 1], [1, 1]], [0]), "Layer 1 has 2 rows of weights and 1 bias. Give each row one bias."),
        (([[1, 1]], [0, 0]), "Layer 1 has 1 row of weights and 2 biases."),
        (([["1", 1]], [0]), "Row 1 of W in layer 1 holds '1', which is not a number."),
        (([[1, None]], [0]), "holds None, which is not a number."),
        (([[1, 1j]], [0]), "holds 1j, which is not a number."),
        (([[1, float("nan")]], [0]), "Row 1 of W in layer 1 holds nan. Use finite numbers."),
        (([[1, 1]], [10**400]), "b of layer 1 holds inf. Use finite numbers."),
        (([[1, 1, 1]], [0]), "Layer 1 has 3 columns, and there are 2 inputs: a b."),
        ((NOR_NOT[0], ([[1, 1, 1]], [0])), "Layer 2 has 3 columns, and layer 1 gives 1 number."),
        ((([[1, 1]] * 2, [0, 0]), ([[1, 1, 1]], [0])), "Layer 2 has 3 columns, and layer 1 gives 2 numbers."),
        (([[1, 1], [1, 1]], [0, 0]), "Layer 1 gives 2 numbers, and there is 1 output: out."),
        (nn.Sequential(Layer(*NOR_NOT[0]), Readout(*NOR_NOT[1])), "Layer 2 of your network has no ReLU."),
    ],
)  # fmt: skip
def test_an_answer_that_is_no_network_is_refused_with_a_message_that_helps(answer, says):
    assert says in said(EITHER, answer)


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        ({"most_neurons": 1}, "2 neurons are used, at most 1 is allowed."),
        ({"most_layers": 1}, "2 layers are used, at most 1 is allowed."),
        ({"most_neurons": 2, "most_layers": 2}, None),
    ],
)
def test_too_many_layers_or_neurons_are_counted(limits, says):
    puzzle = WeightPuzzle(EITHER.inputs, EITHER.outputs, EITHER.function, (1,), **limits)
    assert (says and said(puzzle, NOR_NOT)) == says
    assert says or puzzle(NOR_NOT) == RIGHT


def test_the_first_failing_row_is_shown_with_what_each_layer_gives():
    assert said(EITHER, (([[-1, -1]], [0.5]), ([[-1]], [1]))) == (
        "For a=0 b=0 your network gives out=0.5; 0 was expected.\n  layer 1  0.5\n  layer 2  0.5"
    )


def test_an_output_is_exactly_0_or_1():
    same = WeightPuzzle(bits("a"), bits("out"), lambda a: a, hidden=())
    assert "For a=1 your network gives out=0.9999999999999999; 1 was" in said(same, ([[0.9999999999999999]], [0]))


def test_the_bias_comes_first_and_the_terms_follow_from_left_to_right():
    assert values([([[0.2, 0.3]], [0.1])], [1, 1]) == [[0.6000000000000001]]
    assert values([([[0.2, 0.1]], [0.3])], [1, 1]) == [[0.6]]
    assert values([([[1, 1e16, -1e16]], [0])], [1, 1, 1]) == [[0]]  # a compensated sum gives 1


def test_only_the_wrong_outputs_of_a_row_are_named():
    adder = PUZZLES["full_adder"]
    assert said(adder, (([[1, 1, 1]], [0]), ([[1], [0]], [0, 0]))).startswith(
        "For a=0 b=1 c=1 your network gives sum=2 carry=0; sum=0 carry=1 was expected."
    )
    assert said(adder, (([[1, 1, 1]] * 3, [0, -1, -2]), ([[1, -2, 2], [0, 1, 0]], [0, 0]))).startswith(
        "For a=1 b=1 c=1 your network gives carry=2; 1 was expected."
    )


def test_a_row_of_labelled_slices_is_named_by_its_labels():
    puzzle = WeightPuzzle(Layout(st=["go", "halt"], c=1), bits("out"), lambda st, c: int(st == "go") & c, hidden=())
    assert puzzle.rows() == [((1, 0, 0), (0,)), ((1, 0, 1), (1,)), ((0, 1, 0), (0,)), ((0, 1, 1), (0,))]
    assert [puzzle.row_name(row) for row, _ in puzzle.rows()][1:3] == ["st=go c=1", "st=halt c=0"]
    assert puzzle(([[1, 0, 1]], [-1])) == "all 4 rows, with 1 neuron in 1 layer"


@pytest.mark.parametrize("name", PUZZLES)
def test_every_row_of_a_puzzle_is_tried_once_in_counting_order(name):
    puzzle = PUZZLES[name]
    inputs = [row for row, _ in puzzle.rows()]
    assert all(len(row) == puzzle.inputs.width and len(out) == puzzle.outputs.width for row, out in puzzle.rows())
    assert all(set(out) <= {0, 1} for _, out in puzzle.rows())
    if any(part.labels for part in puzzle.inputs):  # one-hot, so not every row can come
        assert len(set(inputs)) == len(inputs)
    else:
        assert [int("".join(map(str, row)), 2) for row in inputs] == list(range(2**puzzle.inputs.width))


@pytest.mark.parametrize("name", PUZZLES)
def test_the_judges_own_sums_are_those_of_torch(name):
    puzzle, pick = PUZZLES[name], random.Random(name)
    for _ in range(30):
        layers = random_layers(puzzle, pick)
        x = torch.tensor([row for row, _ in puzzle.rows()], dtype=torch.float64)
        for W, b in layers:
            x = torch.relu(x @ torch.tensor(W, dtype=torch.float64).T + torch.tensor(b, dtype=torch.float64))
        assert [values(layers, row)[-1] for row, _ in puzzle.rows()] == x.tolist()


def random_layers(puzzle, pick):
    """Numbers in quarters, so that every order of adding gives the same."""
    return [([[pick.randint(-8, 8) / 4 for _ in row] for row in W], [pick.randint(-8, 8) / 4 for _ in b])
            for W, b in puzzle.grid()]  # fmt: skip


@pytest.mark.parametrize(
    ("x", "text"),
    [(0.0, "0"), (-3.0, "-3"), (0.5, "0.5"), (1e-5, "1e-05"), (1e16, "1e+16"), (float("inf"), "inf")],
)
def test_a_number_is_shown_as_short_as_it_can_be(x, text):
    assert shown(x) == text


def test_clauses_are_judged_too():
    judge = exercises("dnf")["exclusive_majority"]
    assert judge(("11-", "101", "011")) == "all 8 rows, with 3 clauses"
    assert judge(["-11", "110", "101"]) == "all 8 rows, with 3 clauses"
    assert "an object of type str. Return a list of clauses" in said(judge, "11-")
    assert "The clause '11' is not one character 0, 1 or - for each of a b c." in said(judge, ["11"])
    assert "The clause 7 is not" in said(judge, [7])
    assert "the clauses 1-1 and 1-1 are both true" in said(judge, ["011", "1-1", "1-1"])
    assert "For a=0 b=1 c=1 no clause is true; 1 was expected." in said(judge, [])


def test_the_grid_of_a_puzzle_begins_with_zeros_and_that_of_embedded_with_the_identity():
    assert Puzzle("majority").layers == [[[[0.0] * 3] * 2, [0.0] * 2], [[[0.0] * 2], [0.0]]]
    assert Puzzle("embedded").layers == [[torch.eye(4).tolist(), [0.0] * 4]]


def test_the_numbers_of_the_page_can_be_returned_as_an_answer():
    puzzle = Puzzle("majority")
    puzzle.set_state({"layers": [[[[-1, -1, -1]], [2]], [[[-1]], [1]]]})

    def majority():
        return puzzle.layers

    assert first_failure(majority) is None
    assert numbers(puzzle.layers) == [([[-1.0, -1.0, -1.0]], [2.0]), ([[-1.0]], [1.0])]


def test_a_kernel_may_fill_the_page_with_any_answer_that_fits_its_grid():
    puzzle = Puzzle("multiplexer")
    puzzle.layers = (torch.ones(2, 3), torch.zeros(2)), ([[1, 1]], [0])
    assert puzzle.layers == [[[[1.0] * 3] * 2, [0.0] * 2], [[[1.0] * 2], [0.0]]]


@pytest.mark.parametrize(
    ("name", "layers", "says"),
    [
        ("multiplexer", [([[1, 1, 1]], [0])], "has hidden layers of [2] neurons, and [] were given."),
        ("multiplexer", (([[1, 1, 1]] * 3, [0] * 3), ([[1] * 3], [0])), "layers of [2] neurons, and [3] were given."),
        ("comparator", ((torch.ones(3, 4), [0] * 3), (torch.ones(2, 3), [0] * 2), ([[1, 1]], [0])), "and [3, 2] were"),
        ("embedded", ((torch.ones(1, 4), [0]), (torch.ones(4, 1), [0] * 4)), "2 layers are used, at most 1 is"),
        ("multiplexer", (([[1, 1]], [0]), ([[1]], [0])), "Layer 1 has 2 columns, and there are 3 inputs: s a b."),
        ("majority", (([[1, 1, 1]] * 3, [0] * 3), ([[1, 1, 1]], [0])), "4 neurons are used, at most 3 are allowed."),
    ],
)
def test_layers_that_do_not_fit_the_grid_are_refused_and_the_old_ones_stay(name, layers, says):
    puzzle = Puzzle(name)
    before = puzzle.layers
    with pytest.raises(ValueError, match=re.escape(says)):
        puzzle.layers = list(layers)
    assert puzzle.layers == before


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("majorty", "No exercise is called 'majorty'; did you mean 'majority'. The weight puzzles: equal_bits, "),
        (None, "No exercise is called None. The weight puzzles: equal_bits, "),
        ("exclusive_majority", "The answer to exclusive_majority is not made of weights. The weight puzzles: "),
        ("even_ones", "The answer to even_ones is not made of weights."),
    ],
)
def test_a_name_that_is_no_weight_puzzle_is_refused(name, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        Puzzle(name)


@pytest.mark.parametrize("name", PUZZLES)
def test_the_page_carries_the_rows_that_the_check_goes_through(name):
    puzzle, page = PUZZLES[name], Puzzle(name)._repr_mimebundle_()[0]["text/html"]
    state = json.loads(re.search(r"const state = (.*), listeners", page).group(1))
    assert set(state) == {"layers", "name", "puzzle"}
    carried = state["puzzle"]
    assert [(tuple(row["row"]), tuple(row["expected"])) for row in carried["rows"]] == puzzle.rows()
    assert [row["name"] for row in carried["rows"]] == [puzzle.row_name(row) for row, _ in puzzle.rows()]
    assert [place["name"] for place in carried["inputs"]] == puzzle.inputs.names()
    assert [place["name"] for place in carried["outputs"]] == puzzle.outputs.names()
    assert state["layers"] == carried["start"]


def test_the_fallback_shows_names_shapes_and_the_truth_table():
    text = Puzzle("flip_delta").fallback()
    assert "st sym → st[go] st[halt] sym[_] sym[0] sym[1] R L, each layer followed by ReLU" in text
    assert "<li>layer 1: W is 3 × 5, b has 3</li>\n<li>layer 2: W is 7 × 3, b has 7</li>" in text
    assert "<tr>" + "".join(f"<td>{x}</td>" for x in ["go", "1", 1, 0, 0, 1, 0, 1, 0]) + "</tr>" in text
    assert text.count("<tr>") == 1 + 6


@pytest.mark.parametrize("name", PUZZLES)
def test_the_best_known_answer_is_judged_like_a_readers_and_no_score_beats_its_own(name):
    puzzle = PUZZLES[name]
    said = puzzle(puzzle.best)
    best = score(numbers(puzzle.best))
    assert said == f"all {len(puzzle.rows())} rows, with {best.neurons} neurons in {len(puzzle.best)} " + (
        f"layer{'s' * (len(puzzle.best) > 1)}.\nScore: {puzzle.golf(best)}"
    )
    assert ("cannot be beaten" in said) == bool(puzzle.proof)
    assert "like the best known answer" in said or puzzle.proof


def literals(rows, k):
    """How many literals output k is an AND of, or None if it is no AND of literals: the theorem on one neuron."""
    true = [row for row, expected in rows if expected[k]]
    fixed = [column for column in zip(*true, strict=True) if len(set(column)) == 1]
    return len(fixed) if len(true) == len(rows) / 2 ** len(fixed) else None


@pytest.mark.parametrize("name", [name for name, puzzle in PUZZLES.items() if puzzle.proof])
def test_what_cannot_be_beaten_is_as_small_as_the_theorem_on_one_neuron_allows(name):
    puzzle = PUZZLES[name]
    rows, best = puzzle.rows(), score(numbers(puzzle.best))
    assert len(rows) == 2**puzzle.inputs.width
    found = [literals(rows, k) for k in range(puzzle.outputs.width)]
    if puzzle.most_layers == 1:
        assert best == Score(len(found), sum(found))
    else:
        assert found == [None]
        matters = [any(dict(rows)[flipped(row, j)] != out for row, out in rows) for j in range(puzzle.inputs.width)]
        assert best == Score(2, sum(matters) + 1)


def flipped(row, j):
    return (*row[:j], 1 - row[j], *row[j + 1 :])


def test_more_neurons_lose_before_more_weights_and_biases_are_free():
    assert Score(2, 9) < Score(3, 1) < Score(3, 2)
    assert score([([[0, 2.5]], [7]), ([[-1], [0]], [0, 1])]) == Score(3, 2)
    known = WeightPuzzle(EITHER.inputs, EITHER.outputs, EITHER.function, (1,), best=NOR_NOT)
    wasteful = ([[-1, -1], [0, 0]], [1, 0]), ([[-1, 0]], [1])
    assert known(NOR_NOT).endswith("Score: 2 neurons and 3 non-zero weights, like the best known answer")
    assert known(wasteful).endswith("Score: 3 neurons and 3 non-zero weights. The best known answer has 2 and 3")
    beaten = WeightPuzzle(EITHER.inputs, EITHER.outputs, EITHER.function, (2,), best=wasteful)
    assert beaten(NOR_NOT).endswith("The best known answer has 3 and 3: please report yours")


def test_the_check_prints_the_score(capsys):
    def majority():
        return PUZZLES["majority"].best

    turing.check(majority)
    assert capsys.readouterr().out == (
        "majority: right on all 8 rows, with 2 neurons in 2 layers.\n"
        "Score: 2 neurons and 4 non-zero weights. That cannot be beaten:\n"
        "one neuron is an AND of literals, a majority is not, and each\ninput needs a weight.\n"
    )


def test_a_puzzle_says_what_it_is():
    assert repr(Puzzle("majority")) == "Puzzle('majority')"
