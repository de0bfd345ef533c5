"""Gates over their full truth tables, gates in wider vectors, and every construction as a torch module."""

import copy
import hashlib
import pickle
from itertools import combinations, permutations, product

import pytest
import torch
from torch import nn

from paper import BALANCED
from turing.adders import FullAdder, HalfAdder, LookaheadAdder, MoveAdder, RippleCarryAdder
from turing.dnf import DNF, Transition
from turing.gates import AND, NAND, NOR, NOT, OR, XOR, Layer, Readout, embed
from turing.layout import state_vector

torch.set_num_threads(1)  # on small matrices threads wait for each other
DTYPES = [torch.float32, torch.float64, torch.bfloat16]
GATES = {
    AND: all,
    OR: any,
    NAND: lambda bits: not all(bits),
    NOR: lambda bits: not any(bits),
}


def rows(n: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.tensor(list(product((0, 1), repeat=n)), dtype=dtype).reshape(2**n, n)


def table(gate: nn.Module, n: int, dtype: torch.dtype = torch.float32) -> list[float]:
    out = gate.to(dtype)(rows(n, dtype))
    assert out.dtype == dtype
    assert out.shape == (2**n, 1)
    return out.flatten().tolist()


# Truth tables.


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", range(1, 9))
@pytest.mark.parametrize("gate", GATES)
def test_a_gate_gives_exactly_its_truth_table(gate, k, dtype):
    assert table(gate(k), k, dtype) == [float(GATES[gate](row)) for row in product((0, 1), repeat=k)]


@pytest.mark.parametrize("dtype", DTYPES)
def test_not_and_xor_give_exactly_their_truth_tables(dtype):
    assert table(NOT(), 1, dtype) == [1, 0]
    assert table(XOR(), 2, dtype) == [0, 1, 1, 0]


def test_a_gate_has_two_inputs_by_default():
    for gate in GATES:
        assert table(gate(), 2) == table(gate(2), 2)


def test_every_layer_of_a_gate_holds_bits():
    for gate in (OR(3), NAND(3), XOR()):
        x = rows(gate[0].weight.shape[1])
        for layer in gate:
            x = layer(x)
            assert set(x.flatten().tolist()) <= {0, 1}


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int8, torch.int32, torch.int64])
def test_bits_may_be_integers_or_booleans(dtype):
    for gate in (*(gate(2) for gate in GATES), XOR()):
        assert torch.equal(gate(rows(2, dtype)), gate(rows(2)))
        assert gate.double()(rows(2, dtype)).dtype == torch.float64
    assert torch.equal(NOT()(rows(1, dtype)), NOT()(rows(1)))


def test_leading_dimensions_are_kept():
    x = rows(6).reshape(4, 2, 2, 4, 6)
    for gate, meaning in GATES.items():
        out = gate(6)(x)
        assert out.shape == (4, 2, 2, 4, 1)
        assert out.flatten().tolist() == [meaning(row) for row in rows(6).tolist()]
        assert gate(6)(x[0, 0, 0, 0]).shape == (1,)
        assert gate(6)(x[:0]).shape == (0, 2, 2, 4, 1)


# Weights, as the paper gives them.


def test_and_nor_and_not_are_one_neuron_with_the_weights_of_the_paper():
    for k in range(1, 9):
        assert (AND(k).weight.tolist(), AND(k).bias.tolist()) == ([[1] * k], [-(k - 1)])
        assert (NOR(k).weight.tolist(), NOR(k).bias.tolist()) == ([[-1] * k], [1])
    assert (NOT().weight.tolist(), NOT().bias.tolist()) == ([[-1]], [1])


def test_or_and_nand_take_two_layers_and_xor_three():
    assert [len(gate) for gate in (OR(2), NAND(2), XOR())] == [2, 2, 3]
    assert [type(part) for part in OR(3)] == [NOR, NOT]
    assert [type(part) for part in NAND(3)] == [AND, NOT]


def test_a_slice_of_a_network_is_a_network_of_those_layers():
    x = rows(2)
    nand_or = XOR()[:2]
    assert type(nand_or) is nn.Sequential
    assert torch.equal(nand_or(x), torch.cat([NAND(2)(x), OR(2)(x)], dim=1))
    for network in NETWORKS.values():
        net = network()
        if isinstance(net, nn.Sequential):
            assert list(net[:1]) == [net[0]]
            assert list(net[1:]) == list(net)[1:]
            assert net[-1] is list(net)[-1]


# Gates in a wider vector.


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_gate_at_any_places_computes_there_and_leaves_the_rest_alone(dtype):
    x = rows(5, dtype)
    for gate in (AND, NOR):
        for i, j in permutations(range(5), 2):
            for output in range(5):
                layer = embed(5, (gate(2), [i, j], output)).to(dtype)
                expected = x.clone()
                expected[:, output] = gate(2).to(dtype)(x[:, [i, j]])[:, 0]
                assert torch.equal(layer(x), expected)


def test_a_layer_with_no_gates_leaves_everything_unchanged():
    assert torch.equal(embed(5)(rows(5)), rows(5))


def test_the_and_of_section_3_2_is_the_identity_with_one_more_weight_and_one_bias():
    layer = embed(5, (AND(2), [1, 3], 1))
    W, b = torch.eye(5), torch.zeros(5)
    W[1, 3], b[1] = 1, -1
    assert torch.equal(layer.weight, W)
    assert torch.equal(layer.bias, b)


def test_gates_in_one_layer_all_read_the_vector_as_it_was():
    swap = embed(3, (AND(1), [2], 0), (AND(1), [0], 2))
    assert torch.equal(swap(rows(3)), rows(3)[:, [2, 1, 0]])
    both = embed(3, (AND(3), [0, 1, 2], 0), (NOR(3), [2, 0, 1], 1), (NOT(), [2], 2))
    expected = torch.cat([AND(3)(rows(3)), NOR(3)(rows(3)), NOT()(rows(3)[:, 2:])], dim=1)
    assert torch.equal(both(rows(3)), expected)


def test_or_nand_and_xor_are_embedded_layer_by_layer():
    x = rows(4)
    for i, j in combinations(range(4), 2):
        first = embed(4, (AND(2), [i, j], i), (NOR(2), [i, j], j))
        second = embed(4, (NOT(), [i], i), (NOT(), [j], j))
        third = embed(4, (AND(2), [i, j], i))
        expected = x.clone()
        expected[:, i] = XOR()(x[:, [i, j]])[:, 0]
        expected[:, j] = OR(2)(x[:, [i, j]])[:, 0]
        assert torch.equal(third(second(first(x))), expected)


def test_a_gate_with_other_weights_is_embedded_too():
    implied = Layer([[1, -1]], [0])  # a and not b
    assert embed(3, (implied.double(), [2, 0], 1)).weight.tolist() == [[1, 0, 0], [-1, 0, 1], [0, 0, 1]]


# Layers.


def test_a_readout_is_a_layer_without_its_relu():
    W, b = [[1.0, -2.0], [0.5, 3.0]], [-1.0, 0.25]
    x = torch.tensor([[1.0, 1.0], [0.0, -1.0]])
    linear = x @ torch.tensor(W).T + torch.tensor(b)
    assert torch.equal(Readout(W, b)(x), linear)
    assert torch.equal(Layer(W, b)(x), linear.clamp(min=0))
    assert (repr(Readout(W, b)), repr(Layer([[1, 1, 1]], [0]))) == ("Readout(2 → 2)", "Layer(3 → 1)")


def test_a_layer_copies_the_numbers_that_it_is_given():
    W, b = torch.eye(2), torch.zeros(2)
    layer, other = Layer(W, b), Layer(W, b)
    W[0, 0] = b[0] = 5
    assert torch.equal(layer.weight, torch.eye(2))
    with torch.no_grad():
        layer.weight[1, 1] = 7
    assert torch.equal(other.weight, torch.eye(2))
    assert not torch.equal(layer.weight, Layer(layer.weight * 2, layer.bias).weight)


def test_layers_are_made_in_the_default_dtype():
    torch.set_default_dtype(torch.float64)
    try:
        made = [network() for network in NETWORKS.values()]
    finally:
        torch.set_default_dtype(torch.float32)
    assert {p.dtype for network in made for p in network.parameters()} == {torch.float64}


# Every construction is a torch module in good standing.

NETWORKS = {
    "NOT": NOT,
    "AND": lambda: AND(3),
    "OR": lambda: OR(3),
    "XOR": XOR,
    "embed": lambda: embed(4, (AND(2), [0, 2], 0)),
    "DNF": lambda: DNF(["11-", "1-1", "-11"]),
    "DNF of a table": lambda: DNF.of_table("0110100110010111"),
    "DNF of an expression": lambda: DNF.of_expression("a & ~b | c ^ d"),
    "Transition": lambda: Transition(BALANCED, state_vector(BALANCED, 3)),
    "HalfAdder": lambda: HalfAdder(4, 1, 3),
    "FullAdder": lambda: FullAdder(4, 1, 3, 0),
    "RippleCarryAdder": lambda: RippleCarryAdder(3),
    "MoveAdder": lambda: MoveAdder(3),
    "LookaheadAdder": lambda: LookaheadAdder(3),
}
each = pytest.mark.parametrize("name", NETWORKS)


def inputs(network: nn.Module, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """64 vectors of bits, as wide as the network takes."""
    seeded = torch.Generator().manual_seed(1)
    return torch.randint(2, (64, next(network.parameters()).shape[1]), generator=seeded).to(dtype)


def same(one: nn.Module, other: nn.Module) -> bool:
    numbers, others = one.state_dict(), other.state_dict()
    return list(numbers) == list(others) and all(torch.equal(numbers[key], others[key]) for key in numbers)


@each
def test_two_constructions_are_equal_and_no_random_number_is_drawn(name):
    before = torch.random.get_rng_state()
    assert same(NETWORKS[name](), NETWORKS[name]())
    assert torch.equal(torch.random.get_rng_state(), before)


@each
def test_all_numbers_are_parameters(name):
    network = NETWORKS[name]()
    assert not list(network.buffers())
    assert {key.rsplit(".", 1)[-1] for key in network.state_dict()} == {"weight", "bias"}
    with torch.no_grad():
        for p in network.parameters():
            p.zero_()
    assert not network(inputs(network)).any()


@each
def test_a_state_dict_restores_a_module_that_lost_its_numbers(name):
    network, other = NETWORKS[name](), NETWORKS[name]()
    with torch.no_grad():
        for p in other.parameters():
            p.fill_(7)
    assert not same(network, other)
    other.load_state_dict(network.state_dict())
    assert same(network, other)


@each
@pytest.mark.parametrize("again", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["copy", "pickle"])
def test_a_copy_computes_the_same_and_is_independent(name, again):
    network = NETWORKS[name]()
    other, x = again(network), inputs(network)
    assert type(other) is type(network)
    assert getattr(other, "layouts", None) == getattr(network, "layouts", None)
    assert torch.equal(other(x), network(x))
    with torch.no_grad():
        next(other.parameters()).add_(1)
    assert same(network, NETWORKS[name]())


@each
def test_other_types_of_floats_compute_the_same(name):
    network = NETWORKS[name]()
    x = inputs(network)
    for dtype in DTYPES:
        out = copy.deepcopy(network).to(dtype)(x.to(dtype))
        assert out.dtype == dtype
        assert torch.equal(out.float(), network(x))


@each
def test_gradients_flow_back_to_every_layer_and_to_the_input(name):
    network = NETWORKS[name]()
    x = inputs(network) * 0.8 + 0.1  # on bits themselves many a ReLU is at its corner, where torch's slope is 0
    network(x.requires_grad_()).square().sum().backward()
    assert all(p.grad.isfinite().all() and p.grad.any() for p in network.parameters())
    assert x.grad.any()


def digest() -> str:
    """A short text that differs when any name or number of some networks does."""
    tables = [DNF.of_table(format(n * 2654435761 % 2**16, "016b")) for n in range(60)]
    numbers = [
        (getattr(network, "clauses", ()), getattr(network, "layouts", ()), key, value.tolist())
        for network in [*tables, *(make() for make in NETWORKS.values())]
        for key, value in network.state_dict().items()
    ]
    return hashlib.sha256(repr(numbers).encode()).hexdigest()


# Bad input.

PLACE = "a place in a vector of width 4, must be an integer from 0 to 3"
BAD = {
    "a matrix that is a vector": (
        lambda: Layer([1, 1], [0]),
        ValueError,
        "A layer has a matrix W and one bias for each of its rows. W of shape (2,) and b of shape (1,) were given.",
    ),
    "a bias too many": (
        lambda: Readout([[1, 1]], [0, 0]),
        ValueError,
        "A layer has a matrix W and one bias for each of its rows. W of shape (1, 2) and b of shape (2,) were given.",
    ),
    "a bias that is a number": (
        lambda: Layer([[1, 1]], 0),
        ValueError,
        "A layer has a matrix W and one bias for each of its rows. W of shape (1, 2) and b of shape () were given.",
    ),
    "a vector that is too wide": (
        lambda: AND(2)(torch.zeros(5, 3)),
        ValueError,
        "This layer takes vectors of width 2, and a tensor of shape (5, 3) was given.",
    ),
    "a batch the wrong way round": (
        lambda: OR(3)(torch.zeros(3, 5)),
        ValueError,
        "This layer takes vectors of width 3, and a tensor of shape (3, 5) was given.",
    ),
    "a bit that is not a vector": (
        lambda: NOT()(torch.tensor(1.0)),
        ValueError,
        "This layer takes vectors of width 1, and a tensor of shape () was given.",
    ),
    "a list": (
        lambda: AND(2)([1, 0]),
        TypeError,
        "A layer takes a tensor, and [1, 0] was given. Write torch.tensor([1, 0]).",
    ),
    "a gate of two layers": (
        lambda: embed(4, (OR(2), [0, 1], 0)),
        TypeError,
        "embed takes gates of one neuron, NOT(), AND(k) and NOR(k), and OR was given. "
        "Embed a larger gate layer by layer, such as NOR and then NOT for OR.",
    ),
    "a layer of two neurons": (
        lambda: embed(4, (Layer([[1], [1]], [0, 0]), [0], 0)),
        TypeError,
        "embed takes gates of one neuron, NOT(), AND(k) and NOR(k), and Layer(1 → 2) was given. "
        "Embed a larger gate layer by layer, such as NOR and then NOT for OR.",
    ),
    "a gate without a relu": (
        lambda: embed(4, (Readout([[1]], [0]), [0], 0)),
        TypeError,
        "embed takes gates of one neuron, NOT(), AND(k) and NOR(k), and Readout(1 → 1) was given. "
        "Embed a larger gate layer by layer, such as NOR and then NOT for OR.",
    ),
    "a class in place of a gate": (
        lambda: embed(4, (NOT, [0], 0)),
        TypeError,
        "embed takes gates of one neuron, NOT(), AND(k) and NOR(k), and <class 'turing.gates.NOT'> was given. "
        "Embed a larger gate layer by layer, such as NOR and then NOT for OR.",
    ),
    "a gate without places": (
        lambda: embed(4, AND(2)),
        TypeError,
        "A gate is given with its places, as in (AND(2), [0, 2], 0), and AND(2 → 1) was given.",
    ),
    "a gate without an output": (
        lambda: embed(4, (AND(2), [0, 1])),
        TypeError,
        "A gate is given with its places, as in (AND(2), [0, 2], 0), and (AND(2 → 1), [0, 1]) was given.",
    ),
    "an input that is not a list": (
        lambda: embed(4, (NOT(), 0, 0)),
        TypeError,
        "A gate is given with its places, as in (AND(2), [0, 2], 0), and (NOT(1 → 1), 0, 0) was given.",
    ),
    "an input too many": (
        lambda: embed(4, (AND(2), [0, 1, 2], 0)),
        ValueError,
        "AND(2 → 1) takes 2 inputs, and the places [0, 1, 2] were given.",
    ),
    "an input twice": (
        lambda: embed(4, (AND(3), [2, 0, 2], 0)),
        ValueError,
        "input 1 and input 3 are the same place, 2. Give two different ones.",
    ),
    "an output twice": (
        lambda: embed(4, (NOT(), [0], 1), (NOT(), [1], 1)),
        ValueError,
        "Two gates write to place 1. Give each gate a different output.",
    ),
}
for place in (-1, 4, True, 1.0, None, "1"):
    BAD[f"an output at {place!r}"] = (
        lambda place=place: embed(4, (NOT(), [0], place)),
        ValueError,
        f"output, {PLACE}, and {place!r} was given.",
    )
    BAD[f"an input at {place!r}"] = (
        lambda place=place: embed(4, (AND(2), [0, place], 0)),
        ValueError,
        f"input 2, {PLACE}, and {place!r} was given.",
    )
for width in (0, -1, True, 3.0, "3", None):
    BAD[f"a vector of width {width!r}"] = (
        lambda width=width: embed(width, (NOT(), [0], 0)),
        ValueError,
        f"The width of a vector must be an integer of at least 1, and {width!r} was given.",
    )
for gate, k in product(GATES, (0, -1, True, 2.0, "2", None)):
    BAD[f"{gate.__name__}({k!r})"] = (
        lambda gate=gate, k=k: gate(k),
        ValueError,
        f"The number of inputs of {gate.__name__} must be an integer of at least 1, and {k!r} was given.",
    )


@pytest.mark.parametrize("case", BAD)
def test_a_gate_or_vector_that_makes_no_sense_is_refused_with_its_reason(case):
    action, error, message = BAD[case]
    with pytest.raises(error) as caught:
        action()
    assert str(caught.value) == message


def test_torch_itself_refuses_floats_of_another_type():
    with pytest.raises(RuntimeError, match="dtype"):
        AND(2)(torch.zeros(2, dtype=torch.float64))


def test_a_layer_keeps_the_type_of_a_tensor_and_refuses_what_is_not_finite():
    assert Layer(torch.eye(2, dtype=torch.float64), [0, 0]).bias.dtype == torch.float64
    assert Layer([[1, 2]], [0]).weight.dtype == torch.get_default_dtype()
    with pytest.raises(ValueError, match="A weight or bias is infinite or not a number"):
        Layer([[1e39]], [0])
