"""The weight puzzles in a real browser, held against turing.check and torch."""

import ast
import json
import random

import pytest
import torch
from test_exercises import tagged, wrong_answers

from pages import MODEL, network
from turing import show
from turing.exercises import CHAPTERS, exercises, first_failure
from turing.exercises.weights import WeightPuzzle, bits, numbers, shown, values
from turing.gates import Layer
from turing.widgets import Puzzle

PUZZLES = {
    name: (chapter, judge)
    for chapter in CHAPTERS
    for name, judge in exercises(chapter).items()
    if isinstance(judge, WeightPuzzle)
}
each_puzzle = pytest.mark.parametrize("name", PUZZLES)


def fitted(name, answer):
    """The same function in the grid of the page, missing neurons as zeros and missing layers as identities."""
    puzzle, layers = PUZZLES[name][1], numbers(answer)
    grid = puzzle.grid()
    while len(layers) < len(grid):
        n = len(layers[-1][1])
        layers.append((torch.eye(n).tolist(), [0.0] * n))
    if len(layers) > len(grid) or any(len(b) > len(c) for (_, b), (_, c) in zip(layers, grid, strict=True)):
        return None
    for (W, b), (V, c) in zip(layers, grid, strict=True):
        for row in W:
            row += [0.0] * (len(V[0]) - len(row))
        W += [[0.0] * len(V[0]) for _ in range(len(V) - len(W))]
        b += [0.0] * (len(c) - len(b))
    return layers


def returning(name, layers):
    def answer():
        return layers

    answer.__name__ = name
    return answer


def lines(layers):
    """The numbers as the page shows them: a line a neuron, the bias last."""
    return [[*row, bias] for W, b in layers for row, bias in zip(W, b, strict=True)]


def type_in(page, layers):
    for line, row in enumerate(lines(layers)):
        fields = page.locator(".grid tbody tr").nth(line).locator("input")
        for j, number in enumerate(row):
            fields.nth(j).fill(shown(number))


def put(page, layers):
    """All numbers at once."""
    page.evaluate(SET, [[shown(x) for x in row] for row in lines(layers)])


SET = """rows => {
  const lines = [...document.querySelectorAll(".grid tbody tr")];
  lines.forEach((line, i) => [...line.querySelectorAll("input")].forEach((input, j) => {
    input.value = rows[i][j];
    input.dispatchEvent(new Event("input"));
  }));
}"""
SHOWN = """root => ({
  status: root.querySelector(".status").textContent.trim(),
  golf: root.querySelector(".golf").textContent,
  trace: [...root.querySelectorAll(".trace div")].map(line => line.textContent),
  rows: [...root.querySelectorAll(".truth tbody tr")].map(row => ({
    mark: row.querySelector(".tick span").getAttribute("aria-label"),
    sign: row.querySelector(".tick").textContent,
    cells: [...row.querySelectorAll("td:not(.tick)")].map(cell => cell.title || cell.textContent),
    wrong: [...row.querySelectorAll(".wrong")].length,
    on: row.classList.contains("on"),
    current: row.getAttribute("aria-current"),
    visible: row.checkVisibility(),
  })),
  equations: [...root.querySelectorAll(".equations div")].map(line => line.textContent.replaceAll("\\u00a0", " ")),
})"""


def seen(page):
    """What the first puzzle shows, after a check that marks and signs say the same."""
    found = page.locator(".turing-puzzle").first.evaluate(SHOWN)
    for row in found["rows"]:
        assert (row["mark"], row["sign"], row["wrong"] == 0) in {("right", "✓", True), ("wrong", "✗", False)}
        assert row["on"] == (row["current"] == "true")
    return found


def press(page, name):
    page.get_by_role("button", name=name, exact=True).first.click()


def agrees(page, name, layers):
    """The table holds what the judge finds, row by row."""
    puzzle = PUZZLES[name][1]
    for (row, expected), got in zip(puzzle.rows(), seen(page)["rows"], strict=True):
        found = values(layers, row)
        inside = [shown(x) for vector in found for x in vector]
        assert got["cells"] == [*puzzle.given(row), *map(str, expected), *inside]
        assert got["mark"] == ("right" if found[-1] == list(expected) else "wrong")


def the_solution_is_accepted(page, name, enter):
    chapter, judge = PUZZLES[name]
    layers = fitted(name, tagged(chapter, "solution")[name]())
    assert seen(page)["golf"] == ""
    enter(page, layers)
    for _ in range(2):
        shows = seen(page)
        assert f"{shows['status']}\n{shows['golf']}" == f"{name}: right on {judge(layers)}."
        press(page, "Check")
    assert [row["on"] for row in seen(page)["rows"]] == [True] + [False] * (len(judge.rows()) - 1)
    agrees(page, name, layers)


BY_HAND = ["majority", "embedded"]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in BY_HAND else [pytest.mark.slow]) for name in PUZZLES]
)
def test_the_solution_typed_into_the_page_is_accepted_in_the_words_of_the_check(name, open_page):
    the_solution_is_accepted(open_page(Puzzle(name)), name, type_in)


@each_puzzle
def test_wrong_answers_are_rejected_at_the_row_that_the_check_names_and_the_solution_is_accepted(name, open_page):
    chapter, judge = PUZZLES[name]
    found = [(first_failure(answer), fitted(name, answer())) for answer in wrong_answers(chapter, name)]
    fitting = [(failure, layers) for failure, layers in found if layers]
    assert len(fitting) >= 2
    page = open_page(Puzzle(name))
    for failure, layers in fitting:
        sentence, *vectors = first_failure(returning(name, layers)).split("\n")
        assert sentence == failure.split("\n")[0]
        put(page, layers)
        right = sum(values(layers, row)[-1] == list(expected) for row, expected in judge.rows())
        count = f"{right} of {len(judge.rows())} rows right."
        assert seen(page)["status"] == count
        press(page, "Check")
        shows = seen(page)
        assert shows["status"] == f"{count} {sentence}"
        (inverted,) = [row for row, got in zip(judge.rows(), shows["rows"], strict=True) if got["on"]]
        assert f"For {judge.row_name(inverted[0])} your network" in sentence
        traced = [" ".join(pair.split("=")[1] for pair in line.split()[2:]) for line in shows["trace"]]
        assert traced == [vector.split(None, 2)[2] for vector in vectors]
        agrees(page, name, layers)
    the_solution_is_accepted(page, name, put)
    random_weights_give_what_they_give_in_torch(page, name, 4)


@pytest.mark.slow
@each_puzzle
def test_30_times_random_weights_give_in_the_page_what_they_give_in_torch(name, open_page):
    random_weights_give_what_they_give_in_torch(open_page(Puzzle(name)), name, 30)


def random_weights_give_what_they_give_in_torch(page, name, count):
    puzzle, pick = PUZZLES[name][1], random.Random(name)
    networks = [
        [([[quarters(pick) for _ in row] for row in W], [quarters(pick) for _ in b]) for W, b in puzzle.grid()]
        for _ in range(count)
    ]
    tried = f"all => all.map(rows => (({SET})(rows), ({SHOWN})(document.querySelector('.turing-puzzle'))))"
    tables = page.evaluate(tried, [[[shown(x) for x in row] for row in lines(layers)] for layers in networks])
    for layers, table in zip(networks, tables, strict=True):
        x = torch.tensor([row for row, _ in puzzle.rows()], dtype=torch.float64)
        for W, b in layers:
            x = torch.relu(x @ torch.tensor(W, dtype=torch.float64).T + torch.tensor(b, dtype=torch.float64))
        assert [[float(cell) for cell in row["cells"][-x.shape[1] :]] for row in table["rows"]] == x.tolist()
        right = [out == list(expected) for out, (_, expected) in zip(x.tolist(), puzzle.rows(), strict=True)]
        assert [row["mark"] == "right" for row in table["rows"]] == right


def quarters(pick):
    """Every order of adding gives the same."""
    return pick.randint(-8, 8) / 4


def module(page, puzzle):
    """Run the widget's module on a model as a kernel has it."""
    page.add_style_tag(content=puzzle._css)
    page.evaluate(MODEL, [puzzle._esm, puzzle.get_state(["name", "puzzle", "layers"])])


def test_the_page_adds_and_writes_floats_as_python_does(open_page):
    page, pick = open_page(), random.Random(0)
    module(page, Puzzle("majority"))
    sums = [([[pick.uniform(-1, 1) for _ in range(3)] for _ in range(2)], [pick.random(), 0.1]) for _ in range(50)]
    sums += [([[1e308, 1e308, -1e308]] * 2, [1e308, 0]), ([[0.1, 0.2, 0.3]] * 2, [0.3, -0.3])]
    got = page.evaluate(
        "all => all.map(layer => module.evaluator([layer])([1, 1, 1])[0].map(module.pythonText))",
        [list(layer) for layer in sums],
    )
    assert got == [[shown(x) for x in values([layer], [1, 1, 1])[0]] for layer in sums]
    told = [0, 1, -2, 0.5, 0.1 + 0.2, 1e-4, 9.5e-5, 1e-7, 1.25e-10, 5e-324, 123456.75, 1e15, 1e16, 1.5e21, 1.7e308]
    assert page.evaluate("all => all.map(module.pythonText)", told) == [shown(x) for x in told]


TYPED = {
    "2": 2, "-1": -1, "−1": -1, "–1": -1, "－1": -1, "+3": 3, " 0.5 ": 0.5, ".5": 0.5, "0,5": 0.5, "2.": 2,
    "1/2": 0.5, "-1/4": -0.25, "½": 0.5, "−½": -0.5, "1e-3": 0.001, "-0": 0,
    "": 0, "-": 0, "−": 0, ".": 0, "-.": 0, "3/": 3,
    "x": None, "1 2": None, "--1": None, "1/0": None, "1/2/3": None, "1e999": None, "½½": None, "0x10": None,
    "Infinity": None, "NaN": None, "1.2.3": None,
}  # fmt: skip


def test_a_number_may_be_typed_in_many_ways(open_page):
    page = open_page()
    module(page, Puzzle("majority"))
    assert page.evaluate("all => all.map(text => module.parse(text) ?? null)", list(TYPED)) == list(TYPED.values())
    assert not page.evaluate("Object.is(module.parse('-0'), -0)")


def test_what_is_no_number_is_named_and_the_last_good_one_stays(open_page):
    page = open_page(Puzzle("majority"))
    field = page.get_by_label("weight of b in h2", exact=True)
    field.fill("2")
    before = seen(page)["rows"]
    field.fill("2x")
    assert seen(page)["status"] == (
        "4 of 8 rows right. The weight of b in h2 is '2x', which is not a number. The last good one stays."
    )
    assert seen(page)["rows"] == before
    assert field.get_attribute("aria-invalid") == "true"
    press(page, "Check")
    assert page.evaluate("document.activeElement.ariaLabel") == "weight of b in h2"
    field.fill("−½")
    field.blur()
    assert field.input_value() == "−0.5"
    assert field.get_attribute("aria-invalid") != "true"


def test_the_equations_follow_the_numbers(open_page):
    page = open_page(Puzzle("majority"))
    assert seen(page)["equations"] == ["h1 = 0", "h2 = 0", "out = 0"]
    put(page, [([[-1, -1, -1], [-1, 2, 0.5]], [2, 0]), ([[1, -2]], [-1])])
    assert seen(page)["equations"] == [
        "h1 = ReLU(2 − a − b − c)", "h2 = ReLU(2 b + 0.5 c − a)", "out = ReLU(h1 − 2 h2 − 1)"
    ]  # fmt: skip
    put(page, [([[-1, 0, 0], [0, 0, 0]], [0, -3]), ([[-1, 3]], [1])])
    assert seen(page)["equations"] == ["h1 = ReLU(−a)", "h2 = ReLU(−3)", "out = ReLU(3 h2 − h1 + 1)"]
    page = open_page(Puzzle("embedded"))
    assert seen(page)["equations"][0] == "x0 ← ReLU(x0)"


def test_the_equations_are_those_of_show(open_page):
    page, pick = open_page(Puzzle("one_of_three")), random.Random(0)
    names = [bits("a b c"), bits("h1 h2 h3"), bits("out")]
    for _ in range(10):
        layers = [([[pick.randint(-2, 2) / 2 for _ in row] for row in W], [pick.randint(-2, 2) / 2 for _ in b])
                  for W, b in PUZZLES["one_of_three"][1].grid()]  # fmt: skip
        put(page, layers)
        told = [
            line for k, layer in enumerate(layers) for line in str(show(Layer(*layer), names[k : k + 2])).split("\n")
        ]
        assert seen(page)["equations"] == [line.split("   ")[0].replace("←", "=") for line in told]


def test_keys_move_from_number_to_number_and_check(open_page):
    page = open_page(Puzzle("majority"))

    def at(key=None):
        if key:
            page.keyboard.press(key)
        return page.evaluate("document.activeElement.ariaLabel")

    page.get_by_label("weight of a in h1", exact=True).focus()
    assert at("ArrowRight") == "weight of b in h1"
    assert at("ArrowDown") == "weight of b in h2"
    assert at("ArrowLeft") == "weight of a in h2"
    assert at("ArrowLeft") == "weight of a in h2"
    assert at("ArrowDown") == "weight of h1 in out"
    assert at("ArrowDown") == "weight of h1 in out"
    assert at("ArrowUp") == "weight of a in h2"
    page.keyboard.type("-1")  # replaces the number, since it is selected
    assert at("ArrowLeft") == "weight of a in h2"  # moves the caret
    assert at("ArrowRight") == "weight of a in h2"
    assert at("ArrowRight") == "weight of b in h2"
    assert page.get_by_label("weight of a in h2", exact=True).input_value() == "−1"
    assert at("Alt+ArrowRight") == "weight of b in h2"
    assert at("Tab") == "weight of c in h2"
    assert at("Tab") == "bias of h2"
    assert at("ArrowDown") == "bias of out"
    page.keyboard.press("Enter")
    assert at() == "bias of out"
    assert "For a=0 b=1 c=1 your network gives out=0; 1 was expected." in seen(page)["status"]
    assert [row["on"] for row in seen(page)["rows"]].index(True) == 3


def test_a_puzzle_is_solved_by_keys_alone(open_page):
    page = open_page(Puzzle("equal_bits"))
    page.get_by_label("weight of a in h1", exact=True).focus()
    for text in ["1", "-1", "0", "-1", "1", "0", "-1", "-1", "1"]:
        page.keyboard.type(text)
        page.keyboard.press("Tab")
    assert seen(page)["status"] == "equal_bits: right on all 4 rows, with 3 neurons in 2 layers."


def test_buttons_change_the_number_last_touched_which_keeps_the_focus(open_page):
    page = open_page(Puzzle("majority"))
    assert page.locator(".target").text_content() == "weight of a in h1"
    field = page.get_by_label("bias of h2", exact=True)
    field.click()
    assert page.locator(".target").text_content() == "bias of h2"
    for name, text in [("+1", "1"), ("+1", "2"), ("±", "−2"), ("−1", "−3"), ("±", "3")]:
        press(page, name)
        assert field.input_value() == text
    assert page.evaluate("document.activeElement.ariaLabel") == "bias of h2"
    assert page.get_by_role("group", name="Change the bias of h2").is_visible()
    field.fill("x")
    press(page, "±")
    assert field.input_value() == "−3"
    assert "not a number" not in seen(page)["status"]


def test_the_reader_chooses_how_many_hidden_neurons_majority_has(open_page):
    page = open_page(Puzzle("majority"))
    fewer = page.get_by_role("button", name="One neuron fewer in layer 1")
    more = page.get_by_role("button", name="One neuron more in layer 1")
    assert more.is_disabled()
    put(page, [([[1, 1, 1], [1, 1, 1]], [-1, -2]), ([[1, -1]], [0])])
    assert seen(page)["status"] == "majority: right on all 8 rows, with 3 neurons in 2 layers."
    assert seen(page)["golf"].startswith("Score: 3 neurons and 8 non-zero weights. The best known answer has 2 and 4.")
    fewer.click()
    assert fewer.is_disabled()
    assert page.locator(".grid input").count() == 4 + 2
    assert page.locator(".size b").text_content() == "1 neuron"
    assert seen(page)["equations"] == ["h1 = ReLU(a + b + c − 1)", "out = ReLU(h1)"]
    put(page, [([[-1, -1, -1]], [2]), ([[-1]], [1])])
    assert seen(page)["status"] == "majority: right on all 8 rows, with 2 neurons in 2 layers."
    more.click()
    assert seen(page)["status"] == "majority: right on all 8 rows, with 3 neurons in 2 layers."
    assert seen(page)["equations"] == ["h1 = ReLU(2 − a − b − c)", "h2 = 0", "out = ReLU(1 − h1)"]
    fewer.click()
    press(page, "Start again")
    assert seen(page)["equations"] == ["h1 = 0", "h2 = 0", "out = 0"]


def test_start_again_brings_the_identity_of_embedded_back(open_page):
    page = open_page(Puzzle("embedded"))
    page.get_by_label("weight of x2 in x0", exact=True).fill("7")
    press(page, "Start again")
    agrees(page, "embedded", PUZZLES["embedded"][1].grid())


@pytest.mark.parametrize(("name", "long"), [("majority", False), ("multiplier", True)])
def test_a_long_table_shows_its_first_wrong_row_and_unfolds(name, long, open_page):
    page = open_page(Puzzle(name))
    visible = [row["visible"] for row in seen(page)["rows"]]
    fold = page.get_by_role("button", name="Show all 16 rows")
    assert fold.is_visible() == long
    if not long:
        assert all(visible)
        return
    assert [row["mark"] for row in seen(page)["rows"]].index("wrong") == visible.index(True) == 5
    assert sum(visible) == 1
    fold.click()
    assert all(row["visible"] for row in seen(page)["rows"])
    press(page, "Show one row")
    put(page, fitted(name, tagged("adders", "solution")[name]()))
    assert [row["visible"] for row in seen(page)["rows"]] == [True] + [False] * 15


@pytest.mark.parametrize("name", ["majority", "embedded", "flip_delta"])
def test_the_answer_is_copied_as_python(name, open_page):
    chapter, judge = PUZZLES[name]
    layers = fitted(name, tagged(chapter, "solution")[name]())
    layers[0][0][0][0] = -0.5
    page = open_page(Puzzle(name), permissions=["clipboard-read", "clipboard-write"])
    put(page, layers)
    press(page, "Copy as Python")
    page.get_by_text("Copied. Paste it after return.").wait_for()
    text = page.evaluate("navigator.clipboard.readText()")
    assert text == page.locator(".python").text_content()
    assert max(map(len, text.split("\n"))) <= 72
    assert numbers(ast.literal_eval(text)) == layers
    assert judge.read(ast.literal_eval(text)) == layers


def test_without_a_clipboard_the_text_is_there_to_copy(open_page):
    page = open_page(Puzzle("embedded"))
    page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    press(page, "Copy as Python")
    page.get_by_text("Copy the selected text, and paste it after return.").wait_for()
    assert page.evaluate("getSelection().toString()").strip() == page.locator(".python").text_content()
    page.get_by_label("weight of x2 in x0", exact=True).fill("1")
    assert "[1, 0, 1, 0]" in page.locator(".python").text_content()
    assert page.locator(".hint").text_content() == ""


@each_puzzle
def test_a_phone_never_scrolls_sideways_and_every_number_is_in_reach(name, open_page):
    page = open_page(Puzzle(name), width=360, height=640)
    press(page, "Check")
    press(page, "Copy as Python")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    wide = """all => all.filter(frame => frame.scrollWidth > frame.clientWidth)
        .map(frame => getComputedStyle(frame).overflowX)"""
    assert set(page.locator(".layer .frame").evaluate_all(wide)) <= {"auto"}  # it pans in its own frame
    last = page.locator(".grid input").last
    last.click()
    bar, field = page.locator(".bar").bounding_box(), last.bounding_box()
    assert 0 <= field["x"] <= 360 - field["width"]
    assert bar["y"] >= 0
    assert bar["y"] + bar["height"] <= field["y"]
    assert field["y"] + field["height"] <= 640


def test_a_wide_page_puts_a_small_table_beside_the_grids_and_equations_in_line_with_them(open_page):
    page = open_page(Puzzle("majority"))
    for width, beside in ((1000, True), (500, False)):
        page.set_viewport_size({"width": width, "height": 900})
        work, result = page.locator(".work").bounding_box(), page.locator(".result").bounding_box()
        assert (result["x"] > work["x"] + work["width"]) == beside
    page = open_page(Puzzle("flip_delta"), width=1200)
    put(page, fitted("flip_delta", tagged("dnf", "solution")["flip_delta"]()))
    rows, equations = page.locator(".grid tbody tr").all(), page.locator(".equations div").all()
    for row, equation in zip(rows, equations, strict=True):
        box, line = row.bounding_box(), equation.bounding_box()
        assert abs(box["y"] + box["height"] / 2 - line["y"] - line["height"] / 2) <= 2


@pytest.mark.parametrize("width", [700, 1000])
@pytest.mark.parametrize("name", ["majority", "comparator"])
def test_the_network_never_lies_on_the_table_as_the_page_scrolls(name, width, open_page):
    page = open_page(Puzzle(name), width=width, height=320)
    for y in range(0, page.evaluate("document.documentElement.scrollHeight"), 60):
        page.evaluate("y => scrollTo(0, y)", y)
        drawn, table = page.locator(".drawn > div").bounding_box(), page.locator(".result").bounding_box()
        assert drawn["y"] + drawn["height"] <= table["y"] + 1


@pytest.mark.parametrize("name", ["multiplexer", "flip_delta", "comparator"])
def test_the_network_is_drawn_with_an_edge_for_each_weight_that_is_not_0(name, open_page):
    layers = fitted(name, tagged(PUZZLES[name][0], "solution")[name]())
    layers[0][0][0][0] = 2.5
    page = open_page(Puzzle(name))
    assert network(page)["edges"] == []
    put(page, layers)
    edges = network(page)["edges"]
    weights = [weight for W, _ in layers for row in W for weight in row if weight]
    assert sorted(edge["weight"] for edge in edges) == sorted(weights)
    assert {round(edge["width"] / abs(edge["weight"]), 1) for edge in edges} == {3.0}  # thickness is the weight
    for edge in edges:
        assert (edge["kind"] == "minus") == edge["dashed"] == (edge["weight"] < 0)
        assert edge["title"].endswith(f": {shown(edge['weight'])}".replace("-", "−"))
    biases = [bias for _, b in layers for bias in b if bias]
    assert network(page)["biases"] == [f"{'+' * (bias > 0)}{shown(bias)}".replace("-", "−") for bias in biases]
    layers[0][0][0][0] = 100
    put(page, layers)
    assert max(edge["width"] for edge in network(page)["edges"]) == 8


@pytest.mark.parametrize("name", ["multiplexer", "comparator"])
def test_the_chosen_row_lights_neurons_and_edges(name, open_page):
    chapter, judge = PUZZLES[name]
    layers = fitted(name, tagged(chapter, "solution")[name]())
    page = open_page(Puzzle(name))
    put(page, layers)
    slider = page.get_by_role("slider", name="Row of the truth table")
    for r, (row, expected) in enumerate(judge.rows()):
        slider.fill(str(r))
        drawn, vectors = network(page), [list(row), *values(layers, row)]
        assert drawn["values"] == [x for vector in vectors for x in vector]
        assert drawn["lit"] == [x != 0 for x in drawn["values"]]
        carried = [x != 0 for vector, (W, _) in zip(vectors, layers, strict=False) for line in W
                   for weight, x in zip(line, vector, strict=True) if weight]  # fmt: skip
        assert sum(edge["lit"] for edge in drawn["edges"]) == sum(carried)
        assert drawn["names"][-1] == "out ✓"
        assert page.locator(".row-name").text_content() == judge.row_name(row)
        assert [row["on"] for row in seen(page)["rows"]].index(True) == r
        assert drawn["said"].startswith(f"The network for {judge.row_name(row)}: h1 = ")
        assert drawn["said"].endswith(f"out = {expected[0]}; expected {expected[0]}")


def test_a_click_in_the_table_or_a_key_on_the_slider_chooses_a_row_until_a_number_changes(open_page):
    page = open_page(Puzzle("majority"))
    named = page.locator(".row-name")
    assert named.text_content() == "a=0 b=1 c=1"  # the first that is wrong
    page.locator(".truth tbody tr").nth(6).click()
    assert named.text_content() == "a=1 b=1 c=0"
    page.get_by_role("slider", name="Row of the truth table").press("ArrowRight")
    assert named.text_content() == "a=1 b=1 c=1"
    assert network(page)["names"][-1] == "out ✗"
    page.get_by_label("bias of out", exact=True).fill("1")
    assert named.text_content() == "a=0 b=0 c=0"


MAJORITY = [([[-1, -1, -1], [0, 0, 0]], [2, 0]), ([[-1, 0]], [1])]


def test_when_every_row_is_right_all_of_them_run_through_once(open_page):
    page = open_page(Puzzle("majority"), stopped=True)
    put(page, MAJORITY)
    lit = []
    for _ in range(10):
        lit.append(page.locator(".row-name").text_content())
        page.clock.run_for(500)
    names = [PUZZLES["majority"][1].row_name(row) for row, _ in PUZZLES["majority"][1].rows()]
    assert lit == [*names, names[0], names[0]]
    page.get_by_label("bias of h2", exact=True).fill("1")  # right as before
    page.clock.run_for(500)
    assert page.locator(".row-name").text_content() == names[0]
    put(page, [([[0, 0, 0], [0, 0, 0]], [0, 0]), ([[0, 0]], [0])])
    put(page, MAJORITY)
    page.clock.run_for(1000)
    page.locator(".truth tbody tr").nth(6).click()  # and stops when the reader takes over
    page.clock.run_for(5000)
    assert page.locator(".row-name").text_content() == names[6]


def test_nothing_runs_for_a_reader_who_asked_for_less_motion(open_page):
    page = open_page(Puzzle("majority"), stopped=True, reduced_motion="reduce")
    put(page, MAJORITY)
    page.clock.run_for(1500)
    assert page.locator(".row-name").text_content() == "a=0 b=0 c=0"
    assert seen(page)["status"].startswith("majority: right")


def test_a_hidden_layer_without_neurons_goes_and_the_best_answer_fits(open_page):
    page = open_page(Puzzle("comparator"))
    fewer = page.get_by_role("button", name="One neuron fewer in layer 2")
    fewer.click()
    assert page.locator(".layer").count() == 2
    assert page.evaluate("document.activeElement.ariaLabel") == "weight of a1 in h1"
    for _ in range(2):
        page.get_by_role("button", name="One neuron fewer in layer 1").click()
    assert page.get_by_role("button", name="One neuron fewer in layer 1").is_disabled()
    best = PUZZLES["comparator"][1].best
    put(page, best)
    assert seen(page)["golf"] == (
        "Score: 2 neurons and 5 non-zero weights. That cannot be beaten: "
        "one neuron is an AND of literals, a > b is not, and each input needs a weight."
    )
    press(page, "Start again")
    assert page.locator(".layer").count() == 3


def test_only_slices_have_a_colour(open_page):
    page = open_page(Puzzle("flip_delta"), Puzzle("majority"))
    press(page, "Check")
    coloured = page.evaluate("""[...document.querySelectorAll(".turing-puzzle *")].filter(node =>
      ["color", "backgroundColor", "borderTopColor"].some(key => {
        const [r, g, b] = getComputedStyle(node)[key].match(/[\\d.]+/g).map(Number);
        return Math.max(r, g, b) - Math.min(r, g, b) > 16;
      })).map(node => node.textContent)""")
    assert set(coloured) == {"st[go]", "st[halt]", "sym[_]", "sym[0]", "sym[1]", "st", "sym"} | {""}


def test_a_kernel_fills_the_page_and_hears_of_the_reader(open_page):
    page, puzzle = open_page(), Puzzle("majority")
    module(page, puzzle)
    page.get_by_label("bias of h1", exact=True).fill("2")
    assert page.evaluate("model.saved.at(-1).layers") == [[[[0] * 3] * 2, [2, 0]], [[[0, 0]], [0]]]
    puzzle.layers = [([[-1, -1, -1]], [2]), ([[-1]], [1])]
    page.evaluate("layers => model.set('layers', layers)", json.loads(json.dumps(puzzle.layers)))
    assert seen(page)["status"] == "majority: right on all 8 rows, with 2 neurons in 2 layers."
    assert page.locator(".grid input").count() == 6
    page.get_by_role("button", name="One neuron more in layer 1").click()
    puzzle.set_state({"layers": page.evaluate("model.saved.at(-1).layers")})
    assert puzzle.layers == [[[[-1.0] * 3, [0.0] * 3], [2.0, 0.0]], [[[-1.0, 0.0]], [1.0]]]
    page.evaluate("cleanup()")
