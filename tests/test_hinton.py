"""Weights drawn: every number that is not 0 is one square, of its sign, its size, its place and its slice's colour."""

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
import torch
from torch import nn

import turing
from turing import Layout, draw
from turing.adders import HalfAdder, LookaheadAdder, MoveAdder, RippleCarryAdder
from turing.dnf import DNF, Transition
from turing.gates import AND, NOR, NOT, XOR, Layer, Readout, embed
from turing.hinton import CELL, MOST_COLUMNS, MOST_SQUARES
from turing.layout import state_vector
from turing.network import layers_of, layouts_of
from turing.pictures import Picture

SVG = "{http://www.w3.org/2000/svg}"
AB = Layout(a=1, b=1)
SLICES = Layout(st=["I", "R"], pos3=2, scr1=2)
PAPERS = turing.zoo["balanced_parentheses"]
TRANSITION = Transition(PAPERS, state_vector(PAPERS, bits=7))
UNEVEN = nn.Sequential(Layer([[1, -0.25], [4, 0], [0, 0]], [-9, 0, 0.5]), Readout([[0, 1, -2]], [0]))
NETWORKS = [
    HalfAdder(2, 0, 1), AND(3), XOR(), UNEVEN, LookaheadAdder(4), TRANSITION, RippleCarryAdder(4), MoveAdder(7),
    DNF([], "a b"), DNF(["11-", "1-1", "-11"], "a b c"), embed(6, (NOR(3), [0, 2, 5], 2)), AND(MOST_COLUMNS + 1),
]  # fmt: skip


def drawn(picture: Picture) -> ET.Element:
    root = ET.fromstring(picture.svg)
    assert root.get("role") == "img"
    assert root.get("aria-label") == picture.alt
    return root


def squares(root: ET.Element) -> list[tuple[int, float, str]]:
    """Sign, area and tooltip of every square; those of the key have no tooltip."""
    found = []
    for group in root.iter(SVG + "g"):
        if group.get("class") in ("positive", "negative"):
            for rect in group:
                assert rect.get("width") == rect.get("height")
                side = float(rect.get("width")) + float(rect.get("stroke-width", 0))
                hollow = "fill:none;stroke:" in group.get("style")
                assert hollow == (group.get("class") == "negative")
                found.append((-1 if hollow else 1, side**2, rect.findtext(f"{SVG}title", "")))
    return found


def texts(root: ET.Element) -> list[str]:
    return [text.text for text in root.iter(SVG + "text")]


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: type(network).__name__)
def test_every_number_that_is_not_0_is_one_square_of_its_sign_and_its_area(network):
    expected, layouts = [], layouts_of(network)
    for number, layer in enumerate(layers_of(network)):
        reads = [*layouts[number].names(), "bias"]
        for name, weights, bias in zip(layouts[number + 1].names(), layer.weight, layer.bias, strict=True):
            for read, value in zip(reads, [*weights, bias], strict=True):
                if value:
                    shown = f"{value:.6g}".replace("-", "−")
                    expected.append((f"{name} ← {shown} · {read}", value))
    found = [square for square in squares(drawn(draw(network))) if square[2]]
    assert sorted(title for _, _, title in found) == sorted(title for title, _ in expected)
    largest = max((abs(value) for _, value in expected), default=1)
    most = max((area for _, area, _ in found), default=1)
    values = dict(expected)
    for sign, area, title in found:
        assert sign * values[title] > 0
        assert area / most == pytest.approx(abs(values[title]) / largest, rel=0.02, abs=0.002)


def test_squares_stand_where_row_and_column_meet_and_the_bias_stands_apart():
    root = drawn(draw(Layer([[0, 1], [1, 0]], [0, 1]), AB))
    places = {
        rect.findtext(f"{SVG}title"): [float(rect.get(k)) + float(rect.get("width")) / 2 for k in "xy"]
        for rect in root.iter(SVG + "rect") if rect.find(f"{SVG}title") is not None
    }  # fmt: skip
    half = CELL / 2
    assert places == {
        "a ← 1 · b": [CELL + half, half], "b ← 1 · a": [half, CELL + half], "b ← 1 · bias": [3 * CELL, CELL + half],
    }  # fmt: skip


def test_the_colour_of_a_square_is_that_of_the_slice_it_writes_to():
    root = drawn(draw(embed(6, (AND(2), [0, 2], 0), (NOT(), [4], 4)), SLICES))
    for group in root.iter(SVG + "g"):
        if group.get("class") in ("positive", "negative"):
            for rect in group:
                if title := rect.findtext(f"{SVG}title"):
                    assert SLICES[title.split("[")[0]].colour in group.get("style")
    bars = [path.get("style") for path in root.iter(SVG + "path") if "stroke-width" in path.get("style")]
    assert bars == [f"stroke:{part.colour};stroke-width:4" for _ in range(2) for part in SLICES]


def test_rows_and_columns_carry_names_and_layers_their_numbers():
    root = drawn(draw(HalfAdder(2, 0, 1), AB))
    layer = ["a", "b", "a", "b", "bias"]
    assert texts(root) == ["layer 1", *layer, "layer 2", *layer, "layer 3", *layer, "1", "−1"]
    assert texts(drawn(draw(AND(2), AB))) == ["y", "a", "b", "bias", "1", "−1"]
    assert texts(drawn(draw(Readout([[1]], [0]))))[0] == "no ReLU"
    assert "layer 2, no ReLU" in texts(drawn(draw(LookaheadAdder(2))))


def test_a_large_layer_has_the_names_of_its_slices_and_a_tooltip_on_every_square():
    root = drawn(draw(TRANSITION))
    slices = list(TRANSITION.layouts[0].slices)
    assert texts(root) == [
        "layer 1", *slices, "det", *slices, "bias", "layer 2", *slices, *slices, "det", "bias", "1", "−1",
    ]  # fmt: skip
    titles = [title for _, _, title in squares(root)]
    assert "det[I B] ← 1 · st[I]" in titles
    assert "det[I B] ← −1 · bias" in titles


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: type(network).__name__)
def test_no_name_along_an_axis_runs_into_the_next_one(network):
    root = drawn(draw(network))
    for group in root.iter(SVG + "g"):
        turned = [re.match(r"translate\(([-\d.]+)", text.get("transform", "")) for text in group.findall(f"{SVG}text")]
        columns = [float(match[1]) for match in turned if match]
        rows = [float(text.get("y")) for text in group.findall(f"{SVG}text") if text.get("text-anchor") == "end"]
        for axis in (columns, rows):
            assert all(after - before >= 18.9 for before, after in pairwise(axis))


def test_everything_is_inside_the_picture_and_in_letters_that_a_phone_can_show():
    for network in NETWORKS:
        picture = draw(network)
        root = drawn(picture)
        width, height = int(root.get("width")), int(root.get("height"))
        assert {float(size) for size in re.findall(r"font:(\d+)px", picture.svg)} == {17}, "17 px, at two thirds 11"
        for panel in root.findall(f"{SVG}g"):
            if move := re.match(r"translate\(([\d.]+) ([\d.]+)\)", panel.get("transform", "")):
                x, y = map(float, move.groups())
                for rect in panel.iter(SVG + "rect"):
                    assert 0 < x + float(rect.get("x")) < x + float(rect.get("x")) + float(rect.get("width")) < width
                    assert 0 < y + float(rect.get("y")) < y + float(rect.get("y")) + float(rect.get("height")) < height


def test_the_words_say_shape_meaning_and_number_of_squares():
    assert draw(HalfAdder(2, 0, 1), AB).alt == (
        "Weights as Hinton squares, 2 → 2 → 2 → 2. Each row is a place that is written, each column one that is read, "
        "the last column the bias. Filled is positive, hollow negative, area is magnitude. "
        "Layer 1, rows a b, columns a b: 6 squares, −1 to 1. Layer 2, rows a b, columns a b: 4 squares, −1 to 1. "
        "Layer 3, rows a b, columns a b: 5 squares, −1 to 1."
    )
    assert "59 → 89 → 59" in draw(TRANSITION).alt
    assert draw(RippleCarryAdder(6)).alt.endswith("All layers: 744 squares, −1 to 1.")
    assert draw(Readout([[1]], [0])).alt.endswith("Rows x, columns x: 1 square, 1.")
    assert draw(Readout([[0]], [0])).alt.endswith("0 squares, all numbers are 0.")


def test_the_key_shows_each_number_if_they_are_few_and_otherwise_the_largest_and_the_smallest():
    assert [text for text in texts(drawn(draw(AND(3)))) if re.fullmatch(r"−?[\d.]+", text)] == ["1", "−2"]
    assert [text for text in texts(drawn(draw(UNEVEN))) if re.fullmatch(r"−?[\d.]+", text)] == ["4", "−9"]


def test_colours_are_variables_with_a_light_fallback_and_there_are_no_ids():
    for network in NETWORKS:
        svg = draw(network).svg
        assert not re.sub(r"var\(--turing-[a-z]+,#[0-9A-F]{6}\)", "", svg).count("#")
        assert not re.search(r"\sid=|url\(|href", svg)


def test_names_are_text_and_never_markup():
    bad = "<script>alert('&\"')</script>"
    picture = draw(AND(2), [Layout(st=[bad, "\x00"]), Layout(y=1)])
    root = drawn(picture)
    assert not list(root.iter(SVG + "script"))
    assert f"y ← 1 · st[{bad}]" in [title.text for title in root.iter(SVG + "title")]
    assert "\x00" not in picture.svg


def test_the_same_network_gives_the_same_picture_and_a_notebook_shows_it_in_a_frame():
    assert draw(XOR()) == draw(XOR())
    assert draw(TRANSITION)._repr_html_().startswith('<figure class="turing-figure"')


def test_a_network_of_too_many_numbers_is_refused_with_what_to_do():
    side = int(MOST_SQUARES**0.5) + 1
    message = rf"has {side * side:,} numbers that are not 0, and at most {MOST_SQUARES:,} squares are drawn\. Draw one"
    with pytest.raises(ValueError, match=message):
        draw(Layer(torch.ones(side, side), torch.zeros(side)))
