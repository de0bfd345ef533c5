"""The architecture of a compiled network, drawn from its modules."""

import re
from copy import deepcopy

import pytest
import torch

import turing
from turing.wcm import architecture


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
