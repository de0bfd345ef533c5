"""Hinton pictures that answer, held against turing.show and torch."""

from itertools import pairwise

import pytest
import torch

from pages import axe
from turing import Layout, draw, ir, show
from turing.adders import HalfAdder, LookaheadAdder
from turing.gates import XOR, Layer, Readout

AB = Layout(a=1, b=1)
NETWORKS = {
    "XOR": (XOR(), None),
    "half adder": (HalfAdder(2, 0, 1), AB),
    "lookahead": (LookaheadAdder(3), None),
    "fractions": (Readout([[0.25, -2.5, 0]], [0.125]), [Layout(x=3), Layout(y=1)]),
    "zeros": (Layer([[0, 0], [1, -1]], [0, 2]), AB),
}


@pytest.fixture
def opened(modules):
    """Put a picture on a page and let it answer."""

    def _opened(network, layout=None):
        picture = draw(network, layout)
        call = modules("page/hinton.js")
        call.page.evaluate(
            """html => {
              document.querySelector("main").insertAdjacentHTML("beforeend", html + '<p id="reading"></p>');
              const picture = document.querySelector("figure > svg");
              window.answers = modules.answering(picture, document.querySelector("#reading"));
            }""",
            picture._repr_html_(),
        )
        return call.page

    return _opened


def told(page):
    return page.locator("#reading").inner_text()


def squares(page):
    """Every square by keys from the first to the last, with what is said of it."""
    page.locator("figure > svg").focus()
    page.keyboard.press("Home")
    found = []
    while not found or told(page) != found[-1]:
        found.append(told(page))
        page.keyboard.press("ArrowRight")
    return found


@pytest.mark.parametrize("name", NETWORKS)
def test_keys_go_through_all_squares_and_each_tells_row_column_weight_and_the_equation_of_show(name, opened):
    network, layout = NETWORKS[name]
    page, found = opened(network, layout), ir.of(network, layout)
    expected = []
    equations = [line for lines in show(network, layout).layers for line in lines]
    for layer in found.layers:
        for row, target in zip(layer.rows, layer.outputs.names(), strict=True):
            for j, weight in [*row.terms, *([("bias", row.bias)] if row.bias else [])]:
                of = "bias" if j == "bias" else f"column {layer.inputs.names()[j]}"
                expected.append(f"Row {target}, {of}: {weight:g}.".replace("-", "−"))
    said = squares(page)
    assert [line.split(". ")[0] + "." for line in said] == expected
    written = {" ".join(line.split(". ", 1)[1].split()) for line in said}
    assert {f"{line.place} ← {line.value}" for line in equations if line.value != "0"} <= written


def test_a_pointer_reads_the_square_that_it_is_near_and_a_tap_keeps_it(opened):
    page = opened(XOR())
    assert told(page) == "Point at a square or tap it; arrow keys go from square to square."
    boxes = page.locator("rect[data-at]")
    box = boxes.nth(2).bounding_box()
    page.mouse.move(box["x"] - 3, box["y"] + 2)
    near = told(page)
    assert near.startswith("Row ")
    page.mouse.move(1, 1)
    assert told(page).startswith("Point at")
    page.mouse.click(box["x"] + 3, box["y"] + 3)
    page.mouse.move(1, 1)
    assert told(page) == near
    assert page.locator(".cursor").is_visible()
    page.locator("figure > svg").press("Escape")
    assert told(page).startswith("Point at")


def test_up_and_down_go_to_the_next_row_and_the_focus_begins_at_the_first_square(opened):
    page = opened(HalfAdder(2, 0, 1), AB)
    page.keyboard.press("Tab")
    assert told(page).startswith("Row a, column a: 1.")
    page.keyboard.press("ArrowDown")
    assert told(page).startswith("Row b, column a: −1.")
    page.keyboard.press("ArrowUp")
    assert told(page).startswith("Row a, column a: 1.")
    page.keyboard.press("End")
    assert told(page).startswith("Row b, bias: 1. b ← ReLU(1 − a)")


def test_with_the_numbers_of_a_step_the_equation_comes_to_what_torch_gives_and_what_fires_is_shaded(opened):
    network = XOR()
    page = opened(network)
    for row in ((0.0, 1.0), (1.0, 1.0)):
        vectors = [torch.tensor(row)]
        for layer in network:
            vectors.append(layer(vectors[-1]))
        pairs = [[a.tolist(), b.tolist()] for a, b in pairwise(vectors)]
        page.evaluate("pairs => answers.show(pairs)", pairs)
        outputs = [value for after in vectors[1:] for value in after.tolist()]
        assert page.locator(".fires").count() == sum(value > 0 for value in outputs)
        for line in squares(page):
            assert float(line.split(" = ")[-1].replace("−", "-")) in outputs
    assert "ReLU(1 + 1 − 1) = 1" in squares(page)[0]


def test_axe_finds_nothing_in_a_picture_that_answers(opened):
    page = opened(HalfAdder(2, 0, 1), AB)
    page.locator("figure > svg").focus()
    assert axe(page) == []
