"""Weights drawn: every number that is not 0 is one square, of its sign, its size, its place and its slice's colour."""

import re
import xml.etree.ElementTree as ET
from fractions import Fraction
from itertools import pairwise

import pytest
import torch
from every_kind import EveryKind
from torch import nn

import turing
from turing import Layout, draw, ir
from turing.adders import HalfAdder, LookaheadAdder, MoveAdder, RippleCarryAdder
from turing.conv import RowOfCells
from turing.dnf import DNF, Transition
from turing.gates import AND, NOR, NOT, XOR, Layer, Readout, embed
from turing.layout import state_vector
from turing.modules import Convolution, Rational
from turing.pictures import Picture
from turing.views.drawings import CELL, MAX_COLUMNS, MAX_SQUARES

SVG = "{http://www.w3.org/2000/svg}"
AB = Layout(a=1, b=1)
SLICES = Layout(st=["I", "R"], pos3=2, scr1=2)
PAPERS = turing.zoo["balanced_parentheses"]
TRANSITION = Transition(PAPERS, state_vector(PAPERS, bits=7))
UNEVEN = nn.Sequential(Layer([[1, -0.25], [4, 0], [0, 0]], [-9, 0, 0.5]), Readout([[0, 1, -2]], [0]))
NETWORKS = [
    HalfAdder(2, 0, 1), AND(3), XOR(), UNEVEN, LookaheadAdder(4), TRANSITION, RippleCarryAdder(4), MoveAdder(7),
    DNF([], "a b"), DNF(["11-", "1-1", "-11"], "a b c"), embed(6, (NOR(3), [0, 2, 5], 2)), AND(MAX_COLUMNS + 1),
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
    expected = []
    for layer in ir.of(network).layers:
        reads = [*layer.inputs.names(), "bias"]
        numbers = torch.cat([layer.weight.values, layer.bias.values[:, None]], dim=1).tolist()
        for name, row in zip(layer.outputs.names(), numbers, strict=True):
            for read, value in zip(reads, row, strict=True):
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
    side = int(MAX_SQUARES**0.5) + 1
    layer = Layer(torch.ones(side, side), torch.zeros(side))
    message = rf"has {side * side:,} numbers that are not 0, and at most {MAX_SQUARES:,} squares are drawn\. turing"
    with pytest.raises(ValueError, match=message):
        draw(layer)
    with pytest.raises(ValueError, match="Draw one of its layers alone"):
        draw(nn.Sequential(layer, layer))


# Compiled networks, heads and the other kinds.


@pytest.fixture(scope="module")
def transformer():
    return turing.compile(PAPERS, "wcm21", T=100)


def headings(root: ET.Element) -> list[str]:
    return [text.text for text in root.iter(SVG + "text") if "sans" in text.get("style", "")]


def test_the_papers_network_is_drawn_module_by_module_every_number_once(transformer):
    root = drawn(draw(transformer))
    numbers = sum(int(part.count_nonzero()) for part in transformer.state_dict().values())
    assert len(squares(root)) == numbers == 4811
    found = headings(root)
    assert found[:4] == ["transition, layer 1 (−1 to 1)", "transition, layer 2 (all 1)", "preprocess (all 1)",
                         "adder0, layer 1 (−1 to 1)"]  # fmt: skip
    assert "visited, query (−1 to 2)" in found
    assert {heading.split(", ")[0].split(" (")[0] for heading in found} == set(transformer.pipeline)


def test_the_words_about_a_compiled_network_count_the_squares_of_each_module(transformer):
    alt = draw(transformer).alt
    assert alt.startswith("Weights as Hinton squares, 23 modules, 59 → 59. ")
    assert "transition: 196 squares, −1 to 1." in alt


def test_everything_of_a_compiled_network_is_inside_the_picture(transformer):
    picture = draw(transformer)
    root = drawn(picture)
    width, height = int(root.get("width")), int(root.get("height"))
    assert width <= 1100
    for panel in root.findall(f"{SVG}g"):
        x, y = map(float, re.match(r"translate\(([\d.]+) ([\d.]+)\)", panel.get("transform")).groups())
        for rect in panel.iter(SVG + "rect"):
            assert 0 < x + float(rect.get("x")) < x + float(rect.get("x")) + float(rect.get("width")) < width
            assert 0 < y + float(rect.get("y")) < y + float(rect.get("y")) + float(rect.get("height")) < height


def test_a_head_is_drawn_as_its_four_maps_with_the_null_key_beside_the_bias(transformer):
    picture = draw(transformer.pipeline["visited"])
    root = drawn(picture)
    assert headings(root) == ["query", "key", "value", "write"]
    titles = [title for _, _, title in squares(root)]
    for title in ("query[0] ← 2 · pos3[0]", "key[0] ← −0.5 · bias", "key[7] ← 3 · null", "value ← 1 · bias"):
        assert title in titles
    assert "scr4[visited] ← 1 · value" in titles
    assert "Key, rows key, columns st sym1" in picture.alt


def test_a_network_of_every_kind_is_drawn():
    root = drawn(draw(EveryKind()))
    found = headings(root)
    assert found[:3] == ["swap (all 1)", "near, query (−1 to 2)", "near, key (−0.5 to 1)"]
    assert {"hash, norm of at", "choose, argmax of tok", "forget, σ (0.25 to 1)"} <= set(found)


def test_a_convolution_is_drawn_for_each_neighbour_and_in_exact_numbers():
    root = drawn(draw(RowOfCells(turing.zoo["bb2"], arithmetic="exact")))
    found = headings(root)
    assert found[0] == "detect, the cell itself (−1 to 1)"
    assert found[1:] == [
        "move, left neighbour (all 1)",
        "move, the cell itself (−1 to 1)",
        "move, right neighbour (all 1)",
    ]
    assert "st[B] ← 1 · det[A 0]" in [title for _, _, title in squares(root)]


def test_exact_numbers_have_a_size_and_a_fraction_for_a_tooltip():
    layer = Rational(AB, Layout(y=1), {0: {0: Fraction(1, 3), 1: Fraction(-1, 40)}})
    found = squares(drawn(draw(layer)))
    assert [title for _, _, title in found if title] == ["y ← 1/3 · a", "y ← −0.025 · b"]
    assert texts(drawn(draw(layer)))[0] == "σ"


def test_a_compiled_network_of_too_many_numbers_is_refused_with_its_modules_and_their_sizes():
    network = turing.compile(turing.zoo["universal"], "wcm21", T=100)
    message = (
        r'Draw one module, such as turing\.draw\(net\.pipeline\["transition"\]\)\. '
        r"The modules: transition [\d,]+, preprocess \d+, adder0"
    )
    with pytest.raises(ValueError, match=message):
        draw(network)
    assert draw(network.pipeline["transition"])


def test_a_compiled_network_without_a_small_module_asks_for_a_smaller_machine():
    network = RowOfCells(turing.zoo["bb2"])
    ones = torch.ones(110, 110, 1)
    network.layout = Layout(x=110)
    network.pipeline = nn.ModuleDict({"all": Convolution(ones, ones[0, :, 0], "relu", [Layout(x=110)] * 2)})
    with pytest.raises(ValueError, match=r"Each of its modules is too large as well: all 12,210\. Take a"):
        draw(network)


def test_ss95_is_drawn_layer_by_layer():
    root = drawn(draw(turing.compile(turing.zoo["bb2"], "ss95")))
    assert headings(root)[:2] == ["F4, σ (−2 to 4)", "F3, σ (−2 to 1)"]
    assert "push0[0] ← 0.25 · q[0]" in [title for _, _, title in squares(root)]


@pytest.mark.parametrize("network", [AND(3), XOR(), UNEVEN, HalfAdder(2, 0, 1), LookaheadAdder(3), MoveAdder(2)])
def test_wires_are_the_weights_and_lit_circles_the_values_of_torch(network):
    layers = ir.of(network).layers
    x = [float(k % 2) for k in range(layers[0].width_in)]
    root = drawn(turing.wires(network, x))
    weights = [weight for layer in layers for row in layer.rows for _, weight in row.terms]
    lines = root.findall(f".//{SVG}path[@d]")
    assert len(lines) == len(weights)
    assert sum("dasharray" in line.get("style") for line in lines) == sum(weight < 0 for weight in weights)
    values, now = [*x], torch.tensor(x)
    for layer in network if isinstance(network, nn.Sequential) else [network]:
        values += (now := layer(now)).tolist()
    lit = ["fill:var(--turing-ground" not in circle.get("style") for circle in root.iter(f"{SVG}circle")]
    assert lit == [value != 0 for value in values]


def test_wires_write_fractions_and_say_in_words_what_comes_out():
    net = turing.ss.StackNetwork(turing.stack_machine.balanced())
    column = [Fraction(number) for number in (0, 1, 0, 0, "31/64", "1/4")]
    picture = turing.wires(net, column)
    assert "A network of 4 layers, 6 → 10 → 18 → 12 → 6, as neurons and wires." in picture.alt
    assert picture.alt.endswith("it gives st[I] = 0, st[R] = 1, st[F] = 0, st[T] = 0, q[0] = 15/16, q[1] = 5/16.")
    assert "pop[0] = 15/16" in picture.svg


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: turing.wires(AND(2), [1]), "The network reads 2 numbers, and 1 were given"),
        (lambda: turing.wires(AND(25), [1] * 25), "up to 24 places and 80 layers, and this one has 25 and 1"),
    ],
)
def test_wires_refuse_what_they_cannot_draw(call, message):
    with pytest.raises(ValueError, match=message):
        call()
