"""Networks as numbers: read from any module of linear layers and ReLU, named, and as a dictionary."""

import json

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from turing.adders import HalfAdder, LookaheadAdder
from turing.dnf import DNF
from turing.gates import AND, NOR, OR, XOR, Layer, embed
from turing.layout import Layout
from turing.network import from_dict, layers_of, layouts_of, to_dict


def test_the_layers_of_the_half_adder_are_those_of_the_papers_listing():
    layers = layers_of(HalfAdder(2, 0, 1))
    assert [(layer.weight, layer.bias) for layer in layers] == [
        ([[1, 1], [-1, -1]], [-1, 1]),
        ([[-1, 0], [0, -1]], [1, 1]),
        ([[1, 1], [-1, 0]], [-1, 1]),
    ]
    assert [(layer.name, layer.inputs, layer.relu) for layer in layers] == [
        ("0", 2, True),
        ("1", 2, True),
        ("2", 2, True),
    ]


def test_a_linear_layer_alone_is_read_as_a_relu_layer_and_in_a_sequence_only_with_a_relu_behind_it():
    linear = nn.Linear(2, 1)
    assert [layer.relu for layer in layers_of(linear)] == [True]
    assert [layer.relu for layer in layers_of(nn.Sequential(linear))] == [False]
    assert [layer.relu for layer in layers_of(nn.Sequential(linear, nn.ReLU()))] == [True]
    assert [layer.relu for layer in layers_of(nn.Sequential(linear, nn.Identity(), nn.ReLU(), nn.Linear(1, 1)))] == [
        True, False,
    ]  # fmt: skip
    assert [layer.relu for layer in layers_of(LookaheadAdder(2))] == [True, False]


def test_layers_inside_layers_come_in_order_with_their_full_names():
    nested = nn.Sequential(OR(2), nn.Sequential(nn.Sequential(AND(1))))
    assert [layer.name for layer in layers_of(nested)] == ["0.0", "0.1", "1.0.0"]


def test_a_layer_that_stands_in_a_network_twice_is_read_twice():
    double = Layer([[2]], [0])
    net = nn.Sequential(double, double)
    assert [layer.name for layer in layers_of(net)] == ["0", "1"]
    assert from_dict(to_dict(net))(torch.tensor([1])).item() == net(torch.tensor([1])).item() == 4


def test_a_missing_bias_is_zero():
    assert layers_of(nn.Linear(2, 3, bias=False))[0].bias == [0, 0, 0]


def test_vectors_have_the_names_given_then_the_networks_own_then_plain_ones():
    given = Layout(a=1, b=1)
    assert layouts_of(XOR(), given) == [given, given, given, Layout(y=1)]
    assert layouts_of(XOR()) == [Layout(x=2), Layout(h1=2), Layout(h2=2), Layout(y=1)]
    net = DNF(["01", "10"], "a b")
    assert layouts_of(net) == net.layouts
    assert layouts_of(net, Layout(left=1, right=1))[0] == Layout(left=1, right=1)
    each = [Layout(p=2), Layout(q=2), Layout(r=2), Layout(s=1)]
    assert layouts_of(XOR(), each) == layouts_of(XOR(), tuple(each)) == each


def test_a_network_that_works_in_place_has_the_same_names_everywhere():
    assert layouts_of(HalfAdder(4, 0, 1)) == [Layout(x=4)] * 4


def test_names_that_no_longer_fit_the_network_are_not_taken():
    net = DNF(["01", "10"], "a b")
    net.append(AND(1))
    assert layouts_of(net) == [Layout(x=2), Layout(h1=2), Layout(h2=1), Layout(y=1)]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=6, max_size=6))
def test_every_finite_number_comes_back_as_it_was(numbers):
    layer = Layer(torch.zeros(2, 2), torch.zeros(2)).double()
    with torch.no_grad():
        layer.weight[:] = torch.tensor(numbers[:4], dtype=torch.float64).reshape(2, 2)
        layer.bias[:] = torch.tensor(numbers[4:], dtype=torch.float64)
    (again,) = layers_of(from_dict(json.loads(json.dumps(to_dict(layer)))))
    assert [*again.weight[0], *again.weight[1], *again.bias] == numbers


class Skip(nn.Sequential):
    """Looks like a sequence of layers, and is none."""

    def forward(self, x):
        return x + super().forward(x)


def blown_up(layer: Layer) -> Layer:
    """Training may do this to a layer."""
    layer.weight.data[0, 0] = float("inf")
    return layer


class Unknown(nn.Module):
    pass


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: layers_of("net"), "made of linear layers and ReLU, in an nn.Sequential if there are several; str was"),
        (lambda: layers_of(nn.Sequential(AND(2), Unknown())), "Unknown was given"),
        (lambda: layers_of(nn.ReLU()), "ReLU was given"),
        (lambda: layers_of(nn.Sequential()), "This network has no layers"),
        (lambda: layers_of(nn.Sequential(AND(2), NOR(2))), "Layer 1 takes 2 numbers, and the one before gives 1"),
        (lambda: layers_of(blown_up(AND(1))), "Layer 0 has a weight or bias that is infinite or not a num"),
        (lambda: layers_of(nn.Sequential(AND(2), blown_up(AND(1)))), "Layer 1 has a weight or bias"),
        (lambda: layers_of(Skip(AND(1))), "Skip was given"),
        (lambda: layouts_of(AND(2), Layout(a=3)), "The layout names 3 places; the vectors here have 2, 1"),
        (lambda: layouts_of(AND(2), [Layout(a=2)]), "for the output of each layer, of 2, 1 places; those given name 2"),
        (lambda: layouts_of(AND(2), "ab"), "The places of a vector are named by a Layout, and 'ab' was given"),
        (lambda: layouts_of(AND(2), 2), "The places of a vector are named by a Layout, and 2 was given"),
        (lambda: embed(2, (XOR(), [0, 1], 0)), "embed takes gates of one neuron"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_answered_with_what_was_expected(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()
