"""Networks in files: what was saved is loaded with equal weights, and what is damaged is refused and said."""

import copy
import json

import pytest
import torch
from hypothesis import given, settings
from machines import machines_and_words
from torch import nn

import turing
from turing.adders import HalfAdder, LookaheadAdder, MoveAdder, RippleCarryAdder
from turing.dnf import DNF, Transition
from turing.files import load, loads, save
from turing.gates import AND, XOR, Layer, Readout
from turing.layout import Layout, state_vector
from turing.network import MOST_NUMBERS, from_dict, layers_of, layouts_of, to_dict
from turing.wcm import WCM21, Description, Simulator
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
    assert {numbers.dtype for numbers in from_dict(to_dict(XOR().double())).parameters()} == {torch.float64}


def test_names_given_on_saving_are_in_the_file(tmp_path):
    save(AND(2), tmp_path / "and.json", [Layout(st=["I", "R"]), Layout(both=1)])
    data = json.loads((tmp_path / "and.json").read_text(encoding="utf-8"))
    assert data.pop("digest").startswith("sha256:")
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


def test_an_ending_that_is_not_known_is_refused(tmp_path):
    message = r"saved as JSON, safetensors or ONNX, and the name 'net\.pt' was given\. Use 'net\.json'"
    with pytest.raises(ValueError, match=message):
        save(AND(2), tmp_path / "net.pt")


# Compiled networks.


def odd() -> turing.TuringMachine:
    """Names that a file has to keep apart, and a symbol that no rule mentions."""
    return turing.TuringMachine(
        {("q 0", "[0]"): ('"', "∅", 1), ('"', "∅"): ("q 0", "\n", -1), ('"', "[0]"): ("pos1", "[0]", 0)},
        "q 0", {"pos1", "a\\b"}, "∅", alphabet=["never"],
    )  # fmt: skip


COMPILED = {
    "paper": lambda: turing.compile(PAPERS, "wcm21", T=100),
    "one bit": lambda: turing.compile(zoo["bb2"], "wcm21", T=1),
    "more bits": lambda: turing.compile(zoo["bb3"], "wcm21", T=10, bits=7, kappa=300, average="literal"),
    "odd names": lambda: turing.compile(odd(), "wcm21", T=9),
    "simulator": lambda: Simulator(Description(), T=12),
}


@pytest.fixture(params=COMPILED)
def compiled(request):
    return COMPILED[request.param]()


def equal(one: nn.Module, other: nn.Module) -> bool:
    mine, theirs = one.state_dict(), other.state_dict()
    return list(mine) == list(theirs) and all(
        torch.equal(mine[name], theirs[name]) and mine[name].dtype == theirs[name].dtype for name in mine
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16], ids=str)
def test_a_compiled_network_comes_back_with_its_machine_its_options_and_its_weights(compiled, dtype, tmp_path):
    network = compiled.to(dtype)
    turing.save(network, tmp_path / "net.json")
    again = turing.load(tmp_path / "net.json")
    assert type(again) is WCM21
    assert equal(again, network)
    assert again.machine == network.machine
    assert (again.machine.states, again.machine.symbols) == (network.machine.states, network.machine.symbols)
    assert (again.T, again.bits, again.options) == (network.T, network.bits, network.options)
    assert again.layout == network.layout
    assert [repr(module) for module in again.modules()][1:] == [repr(module) for module in network.modules()][1:]


def test_a_loaded_network_runs_as_the_one_that_was_saved(tmp_path):
    turing.save(turing.compile(PAPERS, "wcm21", T=30), tmp_path / "net.json")
    net = turing.load(tmp_path / "net.json")
    assert net.run("B(())E") == PAPERS.run("B(())E", 30)
    assert turing.verify(net, PAPERS, ["B(())E", "B)(E", "B", ""])


def test_weights_that_were_changed_after_compiling_are_the_ones_in_the_file(tmp_path):
    net = turing.compile(zoo["bb2"], "wcm21", T=4)
    with torch.no_grad():
        for k, parameter in enumerate(net.parameters()):
            parameter.flatten()[k % parameter.numel()] = (k + 1) / 3
    turing.save(net, tmp_path / "net.json")
    assert equal(turing.load(tmp_path / "net.json"), net)


@settings(max_examples=8, deadline=None)
@given(machines_and_words(words=1))
def test_any_machine_goes_through_a_file(tmp_path_factory, machine_and_words):
    machine, words = machine_and_words
    path = tmp_path_factory.mktemp("files") / "net.json"
    net = turing.compile(machine, "wcm21", T=16, bits=5)
    turing.save(net, path)
    again = turing.load(path)
    assert equal(again, net)
    assert turing.verify(again, machine, words)


def test_a_file_is_json_that_says_what_it_holds(tmp_path):
    turing.save(turing.compile(zoo["bb2"], "wcm21", T=4), tmp_path / "net.json")
    text = (tmp_path / "net.json").read_text(encoding="utf-8")
    data = json.loads(text)
    assert text.endswith("}\n")
    assert {key: data[key] for key in ("turing", "version", "construction", "options", "dtype")} == {
        "turing": "network", "version": 1, "construction": "wcm21",
        "options": {"T": 4, "bits": 2, "kappa": 9999.0, "average": "ratio", "adder": "ripple"}, "dtype": "float32",
    }  # fmt: skip
    assert data["machine"]["initial"] == "A"
    assert data["weights"]["pipeline.v.bias"] == {"shape": [24], "values": [[21, 1]]}


def test_the_same_network_gives_the_same_file(tmp_path):
    for name in ("one", "two"):
        turing.save(turing.compile(PAPERS, "wcm21", T=100), tmp_path / f"{name}.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan")])
def test_a_weight_that_is_no_number_is_not_saved(number, tmp_path):
    net = turing.compile(zoo["bb2"], "wcm21", T=4)
    net.pipeline["v"].bias.data[3] = number
    with pytest.raises(ValueError, match=r"pipeline\.v\.bias has a number that is infinite or not a number"):
        turing.save(net, tmp_path / "net.json")
    assert not (tmp_path / "net.json").exists()


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> dict:
    path = tmp_path_factory.mktemp("small") / "net.json"
    turing.save(turing.compile(zoo["bb2"], "wcm21", T=4), path)
    return json.loads(path.read_text(encoding="utf-8"))


BIAS = "pipeline.v.bias"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["version"], 2, "This network is of version 2; version 1 is read here"),
        (["version"], None, "This network is of version None"),
        (["turing"], "machine", 'This is no network: the key "turing"'),
        (
            ["construction"],
            "wcm22",
            "damaged: \"construction\" is one of wcm21, ss95, ss95-realtime, and 'wcm22' was found",
        ),
        (["construction"], None, '"construction" is one of wcm21'),
        (["construction"], ["wcm21"], '"construction" is one of wcm21'),
        (["machine"], None, '"machine", "options" and "weights" are objects'),
        (["machine"], "bb2", '"machine", "options" and "weights" are objects'),
        (["machine"], {}, 'A machine in JSON is an object with "turing_machine": 1'),
        (["machine", "initial"], "Q", "The initial state 'Q' is on no rule"),
        (["machine", "delta"], [], "no rules"),
        (["machine", "delta", 0, 4], 2, "A move is -1"),
        (["options"], None, '"machine", "options" and "weights" are objects'),
        (["options"], [], '"machine", "options" and "weights" are objects'),
        (["options"], {}, "damaged: wcm21: missing a required argument: 'T'"),
        (["options", "T"], 0, "damaged: T is the most steps of a run, .* T=0 was given"),
        (["options", "T"], True, "T=True was given"),
        (["options", "T"], 400, "bits=2 was given. T = 400 steps are numbered with 9 bits"),
        (["options", "bits"], 3, "damaged: the weights 'pipeline.adder2.0.bias' are missing, or no part of this"),
        (["options", "bits"], 10**9, "bits=1000000000 was given"),
        (["options", "bits"], 10**40, "was given"),
        (["options", "bits"], "2", "bits='2' was given"),
        (["options", "kappa"], "9999", "κ is a number above 0, such as 9999, and at most 1e\\+38; '9999' was given"),
        (["options", "kappa"], float("nan"), "κ is a number above 0"),
        (["options", "kappa"], 10**400, "κ is a number above 0"),
        (["options", "average"], "mean", "An average is one of ratio, literal"),
        (["options", "average"], ["ratio"], "An average is one of ratio, literal"),
        (["options", "engine"], "fast", "got an unexpected keyword argument 'engine'. Its options: T, bits, kappa, av"),
        (["options", "machine"], "x", "machine"),
        (["dtype"], "float8", '"dtype" is one of float32, float64, bfloat16, float16'),
        (["dtype"], ["float32"], '"dtype" is one of float32'),
        (["dtype"], None, '"dtype" is one of float32'),
        (["weights"], [], '"machine", "options" and "weights" are objects'),
        (["weights"], {}, "the weights 'pipeline.adder0.0.bias' are missing, or no part of this network"),
        (["weights", "x"], {}, "the weights 'x' are missing, or no part of this network"),
        (["weights", BIAS], [], f'damaged: {BIAS} has a "shape", .24. here, and "values"; this differs'),
        (["weights", BIAS, "shape"], [23], 'has a "shape", .24. here'),
        (["weights", BIAS, "shape"], [24, 1], 'has a "shape", .24. here'),
        (["weights", BIAS, "shape"], None, 'has a "shape", .24. here'),
        (["modules", 0, "layers", 0, "relu"], False, '"modules" is not what wcm21 with these options has'),
        (["modules", 1, "name"], "x", '"modules" is not what wcm21 with these options has'),
        (["layouts", 0, 0], ["st", 3], '"layouts" is not what wcm21 with these options has'),
        (["weights", BIAS, "values"], {}, 'has a "shape", .24. here, and "values"'),
        (["weights", BIAS, "values"], [5], f"{BIAS} holds lists of 1 indices and a value, and '5' was found"),
        (["weights", BIAS, "values"], [[]], "holds lists of 1 indices and a value"),
        (["weights", BIAS, "values"], [[1]], "holds lists of 1 indices and a value"),
        (["weights", BIAS, "values"], [[1, 1, 1]], "holds lists of 1 indices and a value"),
        (["weights", BIAS, "values"], [[24, 1]], "holds lists of 1 indices and a value"),
        (["weights", BIAS, "values"], [[-1, 1]], "holds lists of 1 indices and a value"),
        (["weights", BIAS, "values"], [[True, 1]], "holds lists of 1 indices and a value"),
        (["weights", BIAS, "values"], [[1.0, 1]], "holds lists of 1 indices and a value"),
        (["weights", BIAS, "values"], [[1, 1], [1, 1]], f"{BIAS} has two values for the place .1."),
        (["weights", BIAS, "values"], [[1, "1"]], "'1' is no number"),
        (["weights", BIAS, "values"], [[1, None]], "'None' is no number"),
        (["weights", BIAS, "values"], [[1, float("inf")]], "'inf' is no number"),
        (["weights", BIAS, "values"], [[1, 10**400]], "is no number"),
        (["weights", BIAS, "values"], [[1, 1e39]], f"{BIAS} holds 1e\\+39, which is no number of the type float32"),
        (["weights", BIAS, "values"], [[1, 0.1]], f"{BIAS} holds 0.1, which is no number of the type float32"),
    ],
)
def test_a_damaged_field_of_a_compiled_network_is_refused_and_named(small, path, value, message, tmp_path):
    data = copy.deepcopy(small)
    *way, last = path
    at = data
    for key in way:
        at = at[key]
    at[last] = value
    (tmp_path / "net.json").write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"^net\.json: .*{message}"):
        load(tmp_path / "net.json")


@pytest.mark.parametrize("key", ["turing", "version", "machine", "options", "dtype", "weights"])
def test_a_compiled_network_without_one_of_its_keys_is_refused(small, key):
    with pytest.raises(ValueError, match=r"This network is|This is no network"):
        loads(json.dumps({name: value for name, value in small.items() if name != key}))


@pytest.mark.parametrize("length", [1, 10, 100, 1000, 10_000])
def test_a_file_that_was_cut_off_is_no_json(small, length):
    with pytest.raises(ValueError, match="this is no JSON"):
        loads(json.dumps(small)[:length])


# Networks of whole numbers.

ODD = 2**53 + 1  # the first whole number that no float64 holds


def test_whole_numbers_that_no_float_holds_come_back_as_they_are(tmp_path):
    net = turing.compile(zoo["bb2"], "ss95", base=3_000_000_001, digits=(1, 3_000_000_000))
    net.pipeline["F1"].numerators[0, 0] = ODD
    net.pipeline["F4"].bias_numerators[1] = -(2**63) + 1
    turing.save(net, tmp_path / "net.json")
    again = turing.load(tmp_path / "net.json")
    for one, other in zip(again.pipeline.values(), net.pipeline.values(), strict=True):
        assert torch.equal(one.numerators, other.numerators)
        assert torch.equal(one.bias_numerators, other.bias_numerators)
    assert net.pipeline["F2"].numerators.max() == 3_000_000_001**2
    assert again.pipeline["F1"].numerators[0, 0] == ODD


@pytest.mark.parametrize(("arithmetic", "kinds"), [("exact", {"numerators", "bias_numerators"}),
                                                   ("float32", {"weight", "bias"})])  # fmt: skip
def test_a_file_holds_the_numbers_that_an_ss95_network_runs_on_and_no_others(arithmetic, kinds, tmp_path):
    net = turing.compile(zoo["bb2"], "ss95", arithmetic=arithmetic)
    turing.save(net, tmp_path / "net.json")
    data = json.loads((tmp_path / "net.json").read_text(encoding="utf-8"))
    assert {name.rpartition(".")[2] for name in data["weights"]} == kinds
    assert {type(entry[-1]) for one in data["weights"].values() for entry in one["values"]} <= (
        {int} if arithmetic == "exact" else {int, float}
    )
    assert equal(turing.load(tmp_path / "net.json"), net)


def test_the_rounding_of_whole_numbers_in_a_file_cannot_contradict_them(tmp_path):
    net = turing.compile(zoo["bb2"], "ss95")
    net.pipeline["F2"].bias_numerators[0] += 1
    turing.save(net, tmp_path / "net.json")
    again = turing.load(tmp_path / "net.json")
    assert again.pipeline["F2"].bias[0] == 0.25
    assert net.pipeline["F2"].bias[0] == 0  # in memory the two copies are told apart
    data = json.loads((tmp_path / "net.json").read_text(encoding="utf-8"))
    data["weights"]["network.layers.F2.bias"] = {"shape": [14], "values": []}
    with pytest.raises(ValueError, match=r"the weights 'network\.layers\.F2\.bias' are missing, or no part of this"):
        loads(json.dumps(data))


def test_floats_that_were_changed_are_the_ones_in_the_file(tmp_path):
    net = turing.compile(zoo["bb2"], "ss95-realtime", arithmetic="float64")
    with torch.no_grad():
        net.pipeline["step"].weight[0, 0] += 1 / 3
    turing.save(net, tmp_path / "net.json")
    assert equal(turing.load(tmp_path / "net.json"), net)


@pytest.mark.parametrize("value", [1.0, True, "1", None, 2**63, -(2**63), 10**400, 0.5])
def test_a_whole_number_of_a_file_that_is_none_is_refused(value, tmp_path):
    turing.save(turing.compile(zoo["bb2"], "ss95"), tmp_path / "net.json")
    data = json.loads((tmp_path / "net.json").read_text(encoding="utf-8"))
    name = "network.layers.F4.numerators"
    data["weights"][name]["values"][0][-1] = value
    with pytest.raises(ValueError, match=f"damaged: {name} holds whole numbers of 64 bits, and '.*'…? was found"):
        loads(json.dumps(data))


@pytest.mark.parametrize(("arithmetic", "dtype"), [("float32", "float64"), ("float64", "float32"),
                                                   ("float32", "float16")])  # fmt: skip
def test_a_file_of_another_type_than_its_arithmetic_is_neither_written_nor_read(arithmetic, dtype, tmp_path):
    message = f"A network in {arithmetic} has weights of that type, and here they are of {dtype}. Compile the machine"
    net = turing.compile(zoo["bb2"], "ss95", arithmetic=arithmetic)
    turing.save(net, tmp_path / "net.json")
    data = json.loads((tmp_path / "net.json").read_text(encoding="utf-8"))
    with pytest.raises(ValueError, match=message):
        loads(json.dumps(data | {"dtype": dtype}))
    with pytest.raises(ValueError, match=message):
        turing.save(net.to(getattr(torch, dtype)), tmp_path / "cast.json")
    assert not (tmp_path / "cast.json").exists()


def test_an_exact_network_may_have_its_rounding_in_any_type(tmp_path):
    net = turing.compile(zoo["bb2"], "ss95").to(torch.float32)
    turing.save(net, tmp_path / "net.json")
    again = turing.load(tmp_path / "net.json")
    assert equal(again, net)
    assert again.run() == net.run()


# Damage.


ENDINGS = ("json", "safetensors")


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_bit_of_a_file_changes_unseen(ending, tmp_path):
    """Every 97th byte with one bit flipped: refused, or the same network, as where JSON has a space."""
    path, net = tmp_path / f"net.{ending}", turing.compile(zoo["parity"], "wcm21", T=4, adder="lookahead")
    save(net, path)
    good = path.read_bytes()
    refused = 0
    for place in range(0, len(good), 97):
        path.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        try:
            found = load(path)
        except ValueError:
            refused += 1
        else:
            assert equal(found, net)
            assert found.machine == net.machine
            assert found.options == net.options
    assert refused > 0.9 * len(range(0, len(good), 97))


def test_a_number_that_was_changed_on_purpose_is_read_once_the_digest_is_out(tmp_path):
    save(AND(2), tmp_path / "and.json")
    data = json.loads((tmp_path / "and.json").read_text(encoding="utf-8"))
    data["layers"][0]["bias"] = [[0, -2]]
    with pytest.raises(ValueError, match='If it was changed on purpose, take the key "digest" out'):
        loads(json.dumps(data))
    del data["digest"]
    assert loads(json.dumps(data))[0].bias.tolist() == [-2]


@pytest.mark.parametrize("name", ["machine", "options", "weights", "dtype"])
def test_a_key_that_is_given_twice_is_refused(name, tmp_path):
    save(turing.compile(zoo["parity"], "wcm21", T=4), tmp_path / "net.json")
    data = json.loads((tmp_path / "net.json").read_text(encoding="utf-8"))
    text = json.dumps(data)[:-1] + f', "{name}": {json.dumps(data[name])}}}'
    with pytest.raises(ValueError, match=f"the key .?{name}.? is given twice. Keep one"):
        loads(text)


@pytest.mark.parametrize("ending", [*ENDINGS, pytest.param("onnx", marks=pytest.mark.slow)])
def test_a_save_that_fails_halfway_leaves_the_older_file_and_nothing_else(ending, tmp_path, monkeypatch):
    path, net = tmp_path / f"net.{ending}", turing.compile(zoo["parity"], "wcm21", T=4, adder="lookahead")
    save(net, path)
    good = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space"):
        save(net, path)
    assert path.read_bytes() == good
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
def test_plain_layers_keep_their_type(dtype, ending, tmp_path):
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).to(getattr(torch, dtype))
    save(net, tmp_path / f"net.{ending}")
    again, x = load(tmp_path / f"net.{ending}"), torch.tensor([1, -2, 0.5]).to(getattr(torch, dtype))
    assert again(x).dtype == net(x).dtype
    assert torch.equal(again(x), net(x))


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_could_not_be_read_back_is_not_written(ending, tmp_path):
    with pytest.raises(ValueError, match=r"2,251,500 numbers, and a file of plain layers is for 2,000,000 at most"):
        save(nn.Sequential(nn.Linear(1500, 1500)), tmp_path / f"net.{ending}")
    assert not list(tmp_path.iterdir())


class Squared(nn.Linear):
    def forward(self, x):
        return super().forward(x) ** 2


class Leaky(nn.ReLU):
    def forward(self, x):
        return x


@pytest.mark.parametrize("net", [Squared(2, 2), nn.Sequential(Squared(2, 2)), nn.Sequential(nn.Linear(2, 2), Leaky())])
def test_a_layer_that_computes_something_else_is_refused(net, tmp_path):
    with pytest.raises(TypeError, match="computes something else than"):
        save(net, tmp_path / "net.json")


def test_a_machine_that_would_fill_the_memory_is_refused(tmp_path):
    save(turing.compile(zoo["parity"], "wcm21", T=4), tmp_path / "net.json")
    data = json.loads((tmp_path / "net.json").read_text(encoding="utf-8"))
    names = [f"q{k}" for k in range(1000)]
    delta = {(q, "_"): (q, f"a{k}", 1) for k, q in enumerate(names)}
    big = turing.TuringMachine(delta, "q0", {"end"}, "_", alphabet=["_", *(f"a{k}" for k in range(1000))])
    data["machine"] = json.loads(big.dumps("json"))
    with pytest.raises(ValueError, match="are the most that are built"):
        loads(json.dumps(data))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": True}, "version True"),
        ({"options": {"T": 4, "machine": 1}}, "a machine and a construction are no options"),
        ({"options": {"T": 4, "adder": []}}, r"An adder is one of ripple, lookahead, and \[\] was given"),
    ],
)
def test_odd_values_are_named(change, message):
    data, tensors = turing.files._compiled(turing.compile(zoo["parity"], "wcm21", T=4))
    with pytest.raises(ValueError, match=message):
        turing.files._read({**data, **change}, dict(tensors))


def test_names_for_a_compiled_network_are_refused(tmp_path):
    with pytest.raises(ValueError, match="Leave layout out"):
        save(turing.compile(zoo["parity"], "wcm21", T=4), tmp_path / "net.json", Layout(x=3))


@pytest.mark.parametrize(("name", "told"), [("", "net.json"), ("x.json.gz", "x.json"), ("x.pt", "x.json")])
def test_another_ending_is_answered_with_one_that_works(name, told, tmp_path):
    with pytest.raises(ValueError, match=f"Use '{told}'"):
        save(AND(2), name)
