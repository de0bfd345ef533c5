"""The representation: every kind of module described, with its numbers and the names of its places."""

from copy import deepcopy
from fractions import Fraction

import pytest
import torch
from torch import nn

import turing
from turing import ir
from turing.adders import HalfAdder, LookaheadAdder
from turing.attention import Attention, Lookup, least_kappa
from turing.dnf import DNF
from turing.gates import AND, NOR, NOT, OR, XOR, Layer, Readout, embed
from turing.layout import Layout
from turing.modules import Argmax, Convolution, Norm, Rational

AB = Layout(a=1, b=1)
PHI = Layout(a=1, phi=4)


def activations(network: nn.Module) -> list[str]:
    return [layer.activation for layer in ir.of(network).layers]


def layouts(network: nn.Module, layout=None) -> list[Layout]:
    return ir.of(network, layout).layouts


# Layers.


def test_the_layers_of_the_half_adder_are_those_of_the_papers_listing():
    layers = ir.of(HalfAdder(2, 0, 1)).layers
    assert [(layer.weight.values.tolist(), layer.bias.values.tolist()) for layer in layers] == [
        ([[1, 1], [-1, -1]], [-1, 1]),
        ([[-1, 0], [0, -1]], [1, 1]),
        ([[1, 1], [-1, 0]], [-1, 1]),
    ]
    assert [layer.rows for layer in layers[1:]] == [
        [([(0, -1)], 1), ([(1, -1)], 1)],
        [([(0, 1), (1, 1)], -1), ([(0, -1)], 1)],
    ]
    assert [(layer.name, layer.width_in, layer.width_out, layer.relu) for layer in layers] == [
        ("0", 2, 2, True),
        ("1", 2, 2, True),
        ("2", 2, 2, True),
    ]


def test_a_linear_layer_alone_is_read_as_a_relu_layer_and_in_a_sequence_only_with_a_relu_after_it():
    linear = nn.Linear(2, 1)
    assert activations(linear) == ["relu"]
    assert activations(nn.Sequential(linear)) == ["none"]
    assert activations(nn.Sequential(linear, nn.ReLU())) == ["relu"]
    assert activations(nn.Sequential(linear, nn.Identity(), nn.ReLU(), nn.Linear(1, 1))) == ["relu", "none"]
    assert activations(LookaheadAdder(2)) == ["relu", "none"]


def test_layers_inside_layers_come_in_order_with_their_full_names():
    nested = nn.Sequential(OR(2), nn.Sequential(nn.Sequential(AND(1))))
    assert [layer.name for layer in ir.of(nested).layers] == ["0.0", "0.1", "1.0.0"]
    assert [layer.weight.name for layer in ir.of(nested).layers] == ["0.0.weight", "0.1.weight", "1.0.0.weight"]


def test_a_layer_that_stands_in_a_network_twice_is_read_twice():
    double = Layer([[2]], [0])
    assert [layer.name for layer in ir.of(nn.Sequential(double, double)).layers] == ["0", "1"]


def test_a_missing_bias_is_zero():
    assert ir.of(nn.Linear(2, 3, bias=False)).layers[0].bias.vector == [0, 0, 0]


def test_rational_layers_have_fractions_in_their_rows_and_floats_where_they_compute_in_floats():
    rows = {0: {0: Fraction(1, 3), 1: 2, None: Fraction(-1, 40)}}
    for arithmetic, third in (("exact", Fraction(1, 3)), ("float64", 1 / 3)):
        network = ir.of(Rational(AB, Layout(y=1), rows, "clamp", [1], arithmetic))
        (layer,) = network.layers
        assert (network.arithmetic, layer.activation, layer.last) == (arithmetic, "clamp", (1,))
        assert layer.rows == [([(0, third), (1, 2)], -Fraction(1, 40) if arithmetic == "exact" else -1 / 40)]
        assert isinstance(layer.rows[0].bias, Fraction) == (arithmetic == "exact")


def test_a_relu_after_a_clamp_changes_nothing():
    clamp = Rational(AB, AB, {0: {0: 1}}, "clamp", arithmetic="float32")
    assert activations(nn.Sequential(clamp, nn.ReLU())) == ["clamp"]


# The other kinds.


def test_a_norm_and_an_argmax_name_their_slices_and_have_no_numbers():
    network = ir.of(nn.Sequential(Norm(PHI, ["phi"]), Argmax(PHI, ["phi"])))
    assert [(part.kind, part.slices, part.width_in, part.width_out) for part in network.parts] == [
        ("norm", ("phi",), 5, 5),
        ("argmax", ("phi",), 5, 5),
    ]
    assert network.layouts == [PHI] * 3
    assert list(network.numbers()) == []


def test_a_convolution_is_one_layer_for_each_neighbour_or_rows_over_all_of_them():
    weight = torch.tensor([[[1.0, 0, 2], [0, 3, 0]]])
    (part,) = ir.of(Convolution(weight, torch.tensor([4.0]), "relu", [AB, Layout(y=1)])).parts
    assert (part.kind, part.radius, part.width_in, part.width_out, part.activation) == ("convolution", 1, 2, 1, "relu")
    assert part.rows == [([(0, 1), (3, 3), (4, 2)], 4)]
    assert [(tap.name, tap.rows) for tap in part.taps()] == [
        ("[-1]", [([(0, 1)], 0)]),
        ("[0]", [([(1, 3)], 4)]),
        ("[+1]", [([(0, 2)], 0)]),
    ]
    assert part.inputs == AB


def test_a_compiled_network_has_its_modules_in_order_with_their_titles_claims_and_loop():
    network = ir.of(turing.compile(turing.zoo["balanced_parentheses"], "wcm21", T=100))
    assert (network.construction, network.arithmetic, network.loop) == (
        "wcm21", "float32", ir.Loop("column", (("pos1", "step"),)),
    )  # fmt: skip
    found = {module.name: (module.title, module.kind, module.claim) for module in network.modules}
    assert found["transition"] == ("Transition", "linear", "Lemma C.1")
    assert found["adder3"] == ("FullAdder", "linear", "Lemma C.2")
    assert found["project"] == ("ProjectDown", "linear", "")
    assert found["search2"] == ("BinarySearchStep", "attention", "Claim C.5")
    masks = {module.name: module.parts[0].mask for module in network.modules if module.kind == "attention"}
    assert masks.pop("initial") == "cross"
    assert set(masks.values()) == {"causal"}
    assert len(network.parts) == 2 + 1 + 7 * 8 + 1 + 10 + 3


# What a head looks up.

X = Layout(ask=2, address=2, content=2, found=2)


def head(**options) -> Lookup:
    return Lookup(X.width, ask=X.ask, at=X.address, fetch=X.content, into=X.found, **options)


def lookup(module: nn.Module) -> ir.Lookup | None:
    (part,) = ir.of(module).parts
    return part.lookup()


@pytest.mark.parametrize("mask", ["causal", "strict", "cross"])
def test_a_look_up_says_what_it_compares_and_fetches(mask):
    assert lookup(head(mask=mask)) == ([(2, 0), (3, 1)], [(4, 6), (5, 7)], [])
    constant = Lookup(3, ask=[None], at=[0], fetch=[None], into=[2])
    assert lookup(constant) == ([(0, None)], [(None, 2)], [])


def test_the_condition_of_a_look_up_are_the_places_of_which_one_has_to_be_1():
    net = turing.compile(turing.zoo["bb2"], "wcm21", T=4)
    initial, n = net.pipeline["initial"], net.bits
    for size, holds in ((n, True), (n + 1, True), (n - 1, False)):  # by how much the score falls where none is 1
        with torch.no_grad():
            initial.key.weight[n, list(net.layout.sym1)], initial.key.bias[n] = size, -size
        assert (lookup(initial) is not None) == holds
        assert not holds or lookup(initial).condition == list(net.layout.sym1)


@pytest.mark.parametrize("name", [name for name, _ in head().named_parameters()])
def test_a_head_with_another_number_is_not_a_look_up(name):
    changed = head()
    with torch.no_grad():
        dict(changed.named_parameters())[name].view(-1)[0] += 0.25
    assert lookup(changed) is None


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_a_head_is_a_look_up_from_the_least_kappa_of_its_number_type_on(dtype):
    least = least_kappa(dtype)
    assert lookup(head(kappa=least).to(dtype)) is not None
    assert lookup(head(kappa=least - 1).to(dtype)) is None


def test_scores_that_the_number_type_rounds_make_no_look_up():
    for bits, exact in ((256, True), (257, False)):  # bfloat16 has all integers up to 256, and the null keys of both
        wide = Layout(ask=bits, at=bits, content=1, found=1)
        many = Lookup(wide.width, ask=wide.ask, at=wide.at, fetch=wide.content, into=wide.found)
        assert lookup(many) is not None
        assert (lookup(many.to(torch.bfloat16)) is not None) == exact


def test_a_head_without_a_null_key_or_with_another_score_is_not_a_look_up():
    maps = [Readout([[1.0, 0]], [0.0]), Readout([[0.0, 1]], [0.0]), Readout([[0.0, 1]], [0.0])]
    write = Readout([[0.0], [1.0]], [0.0, 0.0])
    (part,) = ir.of(Attention(*maps, write, kappa=None, score="-abs", mask="offset", offset=2)).parts
    assert (part.score, part.mask, part.offset, part.kappa, part.null_key) == ("-abs", "offset", 2, None, None)
    assert part.hard
    assert part.lookup() is None


# Names of places.


def test_vectors_have_the_names_given_then_the_networks_own_then_plain_ones():
    assert layouts(XOR(), AB) == [AB, AB, AB, Layout(y=1)]
    assert layouts(XOR()) == [Layout(x=2), Layout(h1=2), Layout(h2=2), Layout(y=1)]
    net = DNF(["01", "10"], "a b")
    assert layouts(net) == net.layouts
    assert layouts(net, Layout(left=1, right=1))[0] == Layout(left=1, right=1)
    each = [Layout(p=2), Layout(q=2), Layout(r=2), Layout(s=1)]
    assert layouts(XOR(), each) == layouts(XOR(), tuple(each)) == each


def test_a_network_that_works_in_place_has_the_same_names_everywhere():
    assert layouts(HalfAdder(4, 0, 1)) == [Layout(x=4)] * 4


def test_names_that_no_longer_fit_the_network_are_not_taken():
    net = DNF(["01", "10"], "a b")
    net.append(AND(1))
    assert layouts(net) == [Layout(x=2), Layout(h1=2), Layout(h2=1), Layout(y=1)]


def test_parts_of_a_network_without_names_keep_their_own():
    net = DNF(["01", "10"], "a b")
    assert layouts(nn.Sequential(net, NOT())) == [*net.layouts, Layout(y=1)]
    named = turing.compile(turing.zoo["bb2"], "wcm21", T=4)
    assert layouts(named.pipeline["visited"]) == [named.layout, named.layout]
    assert layouts(head()) == [Layout(x=8), Layout(x=8)]


# What is refused.


class Skip(nn.Sequential):
    """Looks like a sequence of layers, and computes something else."""

    def forward(self, x):
        return x + super().forward(x)


class Doubled(Layer):
    """Has the numbers of a layer, and computes something else."""

    def forward(self, x):
        return 2 * super().forward(x)


class Softer(Lookup):
    def forward(self, columns, keys, values, hidden=None):
        return columns


class Unknown(nn.Module):
    pass


def blown_up(layer: Layer) -> Layer:
    """Training may do this to a layer."""
    layer.weight.data[0, 0] = float("inf")
    return layer


def replaced(module: nn.Module) -> nn.Module:
    module.forward = lambda x: x
    return module


@pytest.mark.parametrize(
    ("network", "message"),
    [
        ("net", "A network here is made of linear layers and ReLU, in an nn.Sequential .*; str was given"),
        (nn.Sequential(AND(2), Unknown()), "Unknown was given"),
        (nn.ReLU(), "ReLU was given"),
        (nn.Sequential(), "This network has no layers"),
        (nn.Sequential(AND(2), NOR(2)), "Layer 1 takes 2 numbers, and the one before gives 1"),
        (Skip(AND(1)), "Skip was given"),
        (nn.Sequential(Doubled([[1]], [0])), "Doubled computes something other than Layer"),
        (Softer(2, [0], [1], [0], [1]), "Softer computes something other than Attention"),
        (replaced(AND(2)), "The forward of this AND was replaced"),
        (nn.Sequential(replaced(nn.Linear(2, 2))), "The forward of this Linear was replaced"),
        (replaced(XOR()), "The forward of this XOR was replaced"),
        (nn.Sequential(Norm(PHI, ["phi"]), nn.ReLU()), "A ReLU follows a linear layer .* 0 is of the kind norm"),
    ],
)
def test_a_module_whose_numbers_do_not_say_what_it_computes_is_refused(network, message):
    with pytest.raises((TypeError, ValueError), match=message):
        ir.of(network)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ir.of(blown_up(AND(1))), "weight has a number that is infinite or not a number"),
        (lambda: ir.of(nn.Sequential(AND(2), blown_up(AND(1)))), "1.weight has a number"),
        (lambda: layouts(AND(2), Layout(a=3)), "The layout names 3 places; the vectors here have 2, 1"),
        (lambda: layouts(AND(2), [Layout(a=2)]), "for the output of each layer, of 2, 1 places; those given name 2"),
        (lambda: layouts(AND(2), "ab"), "The places of a vector are named by a Layout, and 'ab' was given"),
        (lambda: layouts(AND(2), 2), "The places of a vector are named by a Layout, and 2 was given"),
        (lambda: ir.of(turing.compile(turing.zoo["bb2"], "wcm21", T=4), AB), "A compiled network has names"),
        (lambda: ir.of(Norm(PHI, ["phi"])).layers, "A network of linear layers is needed here, .* of the kind norm"),
        (lambda: embed(2, (XOR(), [0, 1], 0)), "embed takes gates of one neuron"),
    ],
)
def test_a_wrong_argument_is_answered_with_what_was_expected(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_a_copy_is_described_like_the_original():
    one, other = (ir.to_dict(network) for network in (head(), deepcopy(head())))
    assert one == other
