"""Networks in files: what was saved is loaded with equal weights, and what is damaged is refused and said."""

import json

import pytest
import torch
from torch import nn

import turing
from turing.adders import HalfAdder, LookaheadAdder, MoveAdder, RippleCarryAdder
from turing.dnf import DNF, Transition
from turing.files import load, loads, save
from turing.gates import AND, XOR, Layer, Readout
from turing.layout import Layout, state_vector
from turing.network import MOST_NUMBERS, from_dict, layers_of, layouts_of, to_dict
from turing.zoo import zoo

torch.set_num_threads(1)  # on small matrices threads wait for each other
PAPERS = zoo["balanced_parentheses"]
NETWORKS = {
    "one gate": AND(3),
    "three layers": XOR(),
    "half adder": HalfAdder(3, 0, 2),
    "ripple": RippleCarryAdder(3),
    "move": MoveAdder(3),
    "lookahead": LookaheadAdder(4),
    "DNF": DNF(["11-", "1-1", "-11"], "a b c"),
    "no clause": DNF([], "a b"),
    "transition": Transition(PAPERS, state_vector(PAPERS, bits=7)),
    "nn": nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2, bias=False)),
    "not in float32": nn.Sequential(nn.Linear(3, 4, dtype=torch.float64), nn.ReLU(), nn.Linear(4, 2).double()),
}


# Plain layers.


@pytest.fixture(params=NETWORKS)
def network(request):
    return NETWORKS[request.param]


def test_a_saved_network_is_loaded_with_equal_weights_equal_names_and_the_same_equations(network, tmp_path):
    save(network, tmp_path / "net.json")
    again = load(tmp_path / "net.json")
    assert [layer._replace(name="") for layer in layers_of(again)] == [
        layer._replace(name="") for layer in layers_of(network)
    ]
    assert again.layouts == layouts_of(again) == layouts_of(network)
    assert str(turing.show(again)) == str(turing.show(network))


def test_a_loaded_network_computes_the_same(tmp_path):
    save(MoveAdder(3), tmp_path / "net.json")
    again = load(tmp_path / "net.json")
    x = torch.tensor([[p >> 2 & 1, p >> 1 & 1, p & 1, right, 1 - right] for p in range(8) for right in (0, 1)])
    assert torch.equal(again(x), MoveAdder(3)(x))


def test_all_layers_of_a_loaded_network_have_one_type_that_holds_their_weights(tmp_path):
    third = nn.Sequential(Layer([[1]], [0]), Readout([[1]], [0])).double()
    with torch.no_grad():
        third[1].weight[0, 0] = 1 / 3
    save(third, tmp_path / "net.json")
    again = load(tmp_path / "net.json")
    assert {numbers.dtype for numbers in again.parameters()} == {torch.float64}
    assert again(torch.tensor([1], dtype=torch.float64)).item() == 1 / 3
    assert {numbers.dtype for numbers in from_dict(to_dict(XOR().double())).parameters()} == {torch.float32}


def test_names_given_on_saving_are_in_the_file(tmp_path):
    save(AND(2), tmp_path / "and.json", [Layout(st=["I", "R"]), Layout(both=1)])
    data = json.loads((tmp_path / "and.json").read_text(encoding="utf-8"))
    assert data == {
        "turing": "network",
        "version": 1,
        "layouts": [[["st", ["I", "R"]]], [["both", 1]]],
        "layers": [
            {"name": "", "shape": [1, 2], "weight": [[0, 0, 1], [0, 1, 1]], "bias": [[0, -1]], "relu": True},
        ],
    }  # fmt: skip


def damaged(**changes) -> dict:
    """The file of an AND, with other values for its keys or for those of its only layer."""
    data = to_dict(AND(2))
    for key, value in changes.items():
        (data if key in data else data["layers"][0])[key] = value
    return data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], 'This is no network: the key "turing" with the value "network" is missing'),
        ({"turing_machine": 1}, "This is no network"),
        (damaged(version=2), "This network is of version 2; version 1 is read here"),
        (damaged(layers=5), 'damaged: "layers" is missing, or it is not a list'),
        (damaged(layers=[]), "damaged: This network has no layers"),
        (damaged(layers=[7]), 'damaged: "shape" is missing, or it is not a list'),
        (damaged(layers=to_dict(AND(2))["layers"] * 2), "damaged: Layer 1 takes 2 numbers, and the one before gives 1"),
        (damaged(layouts=None), 'damaged: "layouts" is missing, or it is not a list'),
        (damaged(layouts=[3, 4]), "damaged: a layout holds a name and a size or labels for each slice, and '3' was"),
        (damaged(layouts=[[["x", 1], ["x", 1]], [["y", 1]]]), "damaged: a layout has the slice 'x' twice"),
        (damaged(layouts=[[["x", 2]]]), "damaged: A layout is needed .* of 2, 1 places; those given name 2"),
        (damaged(layouts=[[["x", 3]], [["y", 1]]]), "those given name 3, 1"),
        (damaged(layouts=[[["x", "ab"]], [["y", 1]]]), "damaged: x='ab': a slice is given by its size"),
        (damaged(shape=[1]), r"damaged: the shape of a layer is \[out, in\], and '\[1\]' was found"),
        (damaged(shape=[1, -2]), "damaged: the shape of a layer is"),
        (damaged(shape=[0, 10**30]), "damaged: the shape of a layer is"),
        (damaged(shape=[10**4, 10**4]), f"damaged: it asks for more than {MOST_NUMBERS:,} numbers"),
        (damaged(shape=[0, MOST_NUMBERS]), f"damaged: it asks for more than {MOST_NUMBERS:,} numbers"),
        (damaged(weight=[[0, 0, 1], [0, 0, 5]]), 'damaged: "weight" has two values for one place'),
        (damaged(weight={}), 'damaged: "weight" is missing, or it is not a list'),
        (damaged(weight=[[0, 1]]), r"damaged: \"weight\" holds lists of row, column, value, and '\[0, 1\]' was found"),
        (damaged(weight=[[0, 2, 1]]), "damaged: a weight or bias stands at place 2 of 2"),
        (damaged(bias=[[-1, 1]]), "damaged: a weight or bias stands at place -1 of 1"),
        (damaged(bias=[[True, 1]]), "damaged: a weight or bias stands at place True of 1"),
        (damaged(bias=[[0, "1"]]), "damaged: '1' is no number"),
        (damaged(bias=[[0, float("nan")]]), "damaged: 'nan' is no number"),
        (damaged(bias=[[0, 10**400]]), "is no number"),
        (damaged(relu="false"), 'damaged: "relu" is missing, or it is not true or false'),
    ],
)  # fmt: skip
def test_a_damaged_file_is_refused_and_the_message_says_what_is_wrong(data, message, tmp_path):
    file = tmp_path / "net.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"^net\.json: .*{message}"):
        load(file)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000, b"PK\x03\x04"])
def test_a_file_that_is_no_json_is_refused(content, tmp_path):
    (tmp_path / "net.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"^net\.json: this is no JSON"):
        load(tmp_path / "net.json")


def test_a_linear_layer_alone_is_saved_as_it_is_though_show_puts_a_relu_behind_it(tmp_path):
    linear = nn.Linear(2, 1)
    nn.init.constant_(linear.weight, -1), nn.init.zeros_(linear.bias)
    save(linear, tmp_path / "linear.json")
    assert load(tmp_path / "linear.json")(torch.ones(2)).item() == linear(torch.ones(2)).item() == -2
    assert turing.show(linear).layers[0][0].value == "ReLU(−x[0] − x[1])"


def test_a_byte_order_mark_is_no_part_of_a_network(tmp_path):
    (tmp_path / "bom.json").write_text("\ufeff" + json.dumps(to_dict(AND(2))), encoding="utf-8")
    assert load(tmp_path / "bom.json")[0].bias.tolist() == [-1]


def test_a_number_of_many_thousand_digits_is_no_json_that_python_reads(tmp_path):
    (tmp_path / "long.json").write_text("1" * 5000, encoding="utf-8")
    with pytest.raises(ValueError, match=r"long.json: this is no JSON"):
        load(tmp_path / "long.json")


def test_another_ending_than_json_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"saved as JSON, and the name 'net\.pt' was given\. Use 'net\.json'"):
        save(AND(2), tmp_path / "net.pt")
