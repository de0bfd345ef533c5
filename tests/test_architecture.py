"""The architecture of a compiled network, drawn from its modules."""

import re
from copy import deepcopy

import pytest
import torch
from every_kind import EveryKind

import turing
from turing.conv import RowOfCells
from turing.gates import XOR, Layer
from turing.layout import Layout
from turing.views.diagram import architecture


@pytest.fixture(scope="module")
def network():
    return turing.compile(turing.zoo["balanced_parentheses"], "wcm21", T=100)


def boxes(picture):
    """The name in each box and what is told below it."""
    texts = re.findall(r"<text [^>]*>(.*?)</text>", picture.svg)
    lines = [re.sub(r"</?tspan[^>]*>", " ", text) for text in texts]
    lines = [" ".join(line.split()) for line in lines]
    start = lines.index("Transition")
    return lines[start:]


def test_the_boxes_are_those_of_figure_2(network):
    told = boxes(architecture(network))
    names = [line for line in told if re.fullmatch(r"[A-Z]\w+( × \d+)?", line)]
    assert names == [
        "Transition", "PreprocessForAdder", "FullAdder × 7", "ProjectDown", "IndicateVisitedPosition",
        "BinarySearchStep × 7", "GetLastWrittenSymbol", "GetInitialSymbol", "GetV", "ArrangeSymbols", "CombineSymbols",
    ]  # fmt: skip
    for line in ("59 → 89 → 59, Lemma C.1", "59 → 66, Lemma C.2", "66 → 66, Lemma C.2", "Claim C.4", "Lemma C.7"):
        assert line in told


def test_what_a_box_reads_and_writes_comes_from_its_weights(network):
    told = boxes(architecture(network))
    assert "st sym1 → st sym2 scr5" in told
    assert "1 where pos2 pos1 = pos3 scr3 → scr3" in told
    assert "sym2 where pos1 = scr3 → scr1" in told
    other = deepcopy(network)
    with torch.no_grad():
        other.pipeline["last"].value.weight.zero_()
        other.pipeline["last"].value.weight[0, network.layout.sym1[0]] = 1
    assert "sym1 where pos1 = scr3 → scr1" in boxes(architecture(other))


@pytest.mark.parametrize("name", ["bb2", "universal"])
def test_every_network_can_be_drawn(name):
    network = turing.compile(turing.zoo[name], "wcm21", T=2)
    picture = architecture(network)
    assert "BinarySearchStep × " not in picture.svg
    assert f"A column of {network.layout.width} numbers" in picture.alt


def lines(picture):
    texts = re.findall(r"<text [^>]*>(.*?)</text>", picture.svg)
    return [" ".join(re.sub(r"</?tspan[^>]*>", " ", text).split()) for text in texts]


@pytest.mark.parametrize("arithmetic", ["exact", "float64"])
def test_the_layers_of_ss95_are_boxes_of_their_own_under_their_names(arithmetic):
    picture = architecture(turing.compile(turing.zoo["bb2"], "ss95", arithmetic=arithmetic))
    assert lines(picture) == [
        "column t, 8 numbers", "F4", "8 → 12", "q → one some", "F3", "12 → 42", "st one some → rule",
        "F2", "42 → 14", "rule q one some → st noop push0 push1 pop", "F1", "14 → 8", "noop push0 push1 pop → q",
        "column t + 1, 8 numbers",
    ]  # fmt: skip
    assert "H16V16H" in picture.svg  # the way back


def test_the_one_layer_of_ss95_in_real_time_is_one_box():
    found = lines(architecture(turing.compile(turing.zoo["bb2"], "ss95-realtime")))
    assert found[1] == "step"
    assert found[3:5] == ["det noop push0 push1 pop → det noop push0", "push1 pop"]


def test_heads_say_what_they_look_at_and_other_kinds_what_they_do():
    picture = architecture(EveryKind())
    found = lines(picture)
    assert found[1] == "history"
    assert found[found.index("near") : found.index("hash")] == [
        "near", "", "tok where at = ask → ask", "earlier", "nearest", "", "tok where at fits ask → found",
        "back", "", "tok where at fits ask → found", "4 back",
    ]  # fmt: skip
    assert found[found.index("hash") :][:6] == [
        "hash", "norm", "normalises at", "choose", "argmax", "one-hot at the maximum of tok",
    ]  # fmt: skip
    assert "back, looks 4 columns back, tok where" in picture.alt
    assert picture.alt.endswith("The result is the next column.")
    assert "β" not in picture.svg


def test_a_row_of_cells_goes_back_as_a_row():
    picture = architecture(RowOfCells(turing.zoo["bb2"]))
    assert lines(picture) == [
        "cells at time t, 5 numbers each", "detect", "5 → 6, 1 cell", "sym st → det",
        "move", "6 → 5, 3 cells", "sym det → sym st", "cells at time t + 1, 5 numbers each",
    ]  # fmt: skip
    assert picture.alt.endswith("The result is the next row.")


def test_plain_layers_have_no_way_back():
    picture = architecture(XOR())
    assert lines(picture)[:4] == ["2 numbers", "layer 1", "2 → 2", "x → h1"]
    assert lines(picture)[-1] == "1 number"
    assert picture.alt.startswith("Architecture of a network. A vector of 2 numbers goes through: layer 1, x → h1;")


def test_what_does_not_fit_into_one_line_of_a_box_goes_on_in_the_next():
    network = turing.compile(turing.zoo["bb2"], "wcm21", T=4, adder="lookahead")
    found = lines(architecture(network))
    start = found.index("Carry")
    assert found[start + 2 : start + 4] == ["det pos2 → st sym2 scr5 carry borrow", "bit_carry bit_borrow"]
    heights = set(re.findall(r'height="(\d+)" rx', architecture(network).svg))
    assert heights == {"56", "76", "40"}


def test_names_are_text_and_never_markup():
    swap = Layer([[0, 1], [1, 0]], [0, 0])
    swap.layouts = [Layout(**{"<b>": 2})] * 2
    picture = architecture(swap)
    assert "<b>" not in picture.svg
    assert "&lt;b&gt;" in picture.svg
