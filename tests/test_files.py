"""Networks in files: what was saved is loaded with equal weights, and what is damaged is refused and said."""

import copy
import json
import os
import re
import subprocess
import sys
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import machines_and_words
from torch import nn

import turing
from book import ROOT
from turing import construction, ir
from turing.adders import HalfAdder, LookaheadAdder, MoveAdder, RippleCarryAdder
from turing.attention import Attention, Lookup
from turing.cli import main
from turing.construction import Construction
from turing.dnf import DNF, Transition
from turing.exact import Exact
from turing.files import load, loads, save
from turing.files.dictionary import MAX_NUMBERS, MAX_PLAIN, from_dict
from turing.gates import AND, XOR, Layer, Readout
from turing.ir import Loop, to_dict
from turing.layout import Layout, state_vector
from turing.modules import Argmax, Convolution, Norm, Rational
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


def numbers_of(network: nn.Module) -> list:
    """Every layer of a network as its activation, its numbers and the names of what it reads and gives."""
    return [(layer.activation, layer.rows, layer.inputs, layer.outputs) for layer in ir.of(network).layers]


def test_a_saved_network_is_loaded_with_equal_weights_equal_names_and_the_same_equations(network, tmp_path):
    save(network, tmp_path / "net.json")
    again = load(tmp_path / "net.json")
    assert numbers_of(again) == numbers_of(network)
    assert again.layouts == ir.of(network).layouts
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


def test_a_layer_that_a_network_has_twice_is_loaded_twice():
    double = Layer([[2]], [0])
    net = nn.Sequential(double, double)
    assert from_dict(to_dict(net))(torch.tensor([1])).item() == net(torch.tensor([1])).item() == 4


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=6, max_size=6))
def test_every_finite_number_comes_back_as_it_was(numbers):
    layer = Layer(torch.zeros(2, 2), torch.zeros(2)).double()
    with torch.no_grad():
        layer.weight[:] = torch.tensor(numbers[:4], dtype=torch.float64).reshape(2, 2)
        layer.bias[:] = torch.tensor(numbers[4:], dtype=torch.float64)
    (again,) = from_dict(json.loads(json.dumps(to_dict(layer))))
    assert [*again.weight[0].tolist(), *again.weight[1].tolist(), *again.bias.tolist()] == numbers


def test_names_given_on_saving_are_in_the_file(tmp_path):
    save(AND(2), tmp_path / "and.json", [Layout(st=["I", "R"]), Layout(both=1)])
    data = json.loads((tmp_path / "and.json").read_text(encoding="utf-8"))
    assert data.pop("digest").startswith("sha256:")
    assert data == {
        "turing": "network",
        "version": 2,
        "arithmetic": "float32",
        "layouts": [[["st", ["I", "R"]]], [["both", 1]]],
        "modules": [
            {
                "name": "",
                "kind": "linear",
                "layouts": [0, 1],
                "layers": [{"weight": "weight", "bias": "bias", "activation": "relu"}],
            }
        ],
        "weights": {
            "weight": {"shape": [1, 2], "values": [[0, 0, 1], [0, 1, 1]]},
            "bias": {"shape": [1], "values": [[0, -1]]},
        },
    }


THIRD = Fraction(1, 3)
BEFORE, AFTER = Layout(a=2, stack=1), Layout(b=2)
ROWS = {0: {0: 1, 2: THIRD, None: -THIRD}, 1: {1: -1, None: 1}}
KINDS = {
    "clamp": nn.Sequential(Rational(BEFORE, AFTER, ROWS, "clamp", [2], "float64")),
    "clamp, float32": nn.Sequential(Rational(BEFORE, AFTER, ROWS, "clamp", [], "float32")),
    "clamp, float16": nn.Sequential(Rational(BEFORE, AFTER, ROWS, "clamp", [2], "float32")).half(),
    "added last": nn.Sequential(Rational(BEFORE, AFTER, ROWS, "relu", [2], "float32")),
    "exact": nn.Sequential(Rational(BEFORE, AFTER, ROWS, "relu"), Rational(AFTER, AFTER, {0: {0: THIRD}}, "none")),
    "norm and argmax": nn.Sequential(Layer(torch.eye(3), torch.ones(3)), Norm(Layout(x=3), ["x"]),
                                     Argmax(Layout(x=3), ["x"])),
    "convolution": nn.Sequential(Convolution(torch.tensor([[[0.5, 0, 1]]]), torch.ones(1), "clamp")),
    "exact convolution": nn.Sequential(Convolution(torch.tensor([[[5, 0, 2**60]]]), torch.tensor([1]), "relu")),
}  # fmt: skip


@pytest.mark.parametrize("ending", ["json", "safetensors"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_module_goes_through_a_file(kind, ending, tmp_path):
    network = KINDS[kind]
    save(network, tmp_path / f"net.{ending}")
    again = load(tmp_path / f"net.{ending}")
    assert equal(again, network)
    assert to_dict(again) == to_dict(network)
    assert [type(module) for module in again] == [type(module) for module in network]


def test_an_exact_network_computes_the_same_after_loading(tmp_path):
    save(KINDS["exact"], tmp_path / "net.safetensors")
    x = Exact.of([1, Fraction(1, 2), THIRD])
    assert load(tmp_path / "net.safetensors")(x) == KINDS["exact"](x) == Exact.of([Fraction(7, 27), 0])


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (nn.Sequential(AND(2), nn.Linear(1, 1).double()), "are of float32, float64. Convert the network first"),
        (Lookup(2, [0], [1], [0], [1]), "A head of attention is saved as a part of a compiled network"),
    ],
    ids=["two types", "a head"],
)
def test_a_network_that_could_not_be_loaded_is_not_saved(network, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        save(network, tmp_path / "net.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000, b"PK\x03\x04", b"1" * 5000])
def test_a_file_that_is_not_json_is_refused(content, tmp_path):
    (tmp_path / "net.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"^net\.json: This is not JSON"):
        load(tmp_path / "net.json")


def test_a_linear_layer_alone_is_saved_as_it_is_though_show_puts_a_relu_after_it(tmp_path):
    linear = nn.Linear(2, 1)
    nn.init.constant_(linear.weight, -1), nn.init.zeros_(linear.bias)
    save(linear, tmp_path / "linear.json")
    assert load(tmp_path / "linear.json")(torch.ones(2)).item() == linear(torch.ones(2)).item() == -2
    assert turing.show(linear).layers[0][0].value == "ReLU(−x[0] − x[1])"


def test_a_byte_order_mark_is_not_part_of_a_network(tmp_path):
    (tmp_path / "bom.json").write_text("\ufeff" + json.dumps(to_dict(AND(2))), encoding="utf-8")
    assert load(tmp_path / "bom.json")[0].bias.tolist() == [-1]


def test_a_layout_without_a_slice_that_a_module_works_on_is_refused(tmp_path):
    network = nn.Sequential(Norm(Layout(a=1, phi=4), ["phi"]))
    save(network, tmp_path / "net.json")
    assert to_dict(load(tmp_path / "net.json")) == to_dict(network)
    with pytest.raises(ValueError, match=r"works on the slice 'phi', and its .* Give a layout with that slice"):
        save(network, tmp_path / "net.json", Layout(x=5))


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


@pytest.mark.parametrize(("name", "options"), [("wcm21", {"T": 4}), ("ss95-realtime", {"arithmetic": "float64"})])
def test_weights_that_were_changed_after_compiling_are_the_ones_in_the_file(name, options, tmp_path):
    net = turing.compile(zoo["bb2"], name, **options)
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
    assert {key: data[key] for key in ("turing", "version", "construction", "options", "arithmetic")} == {
        "turing": "network", "version": 2, "construction": "wcm21",
        "options": {"T": 4, "bits": 2, "kappa": 9999.0, "average": "ratio", "adder": "ripple"}, "arithmetic": "float32",
    }  # fmt: skip
    assert data["machine"]["initial"] == "A"
    assert data["loop"] == {"state": "column", "add": [["pos1", "step"]]}
    assert data == json.loads(json.dumps(to_dict(turing.compile(zoo["bb2"], "wcm21", T=4)))) | {
        "digest": data["digest"]
    }
    assert data["weights"]["pipeline.v.bias"] == {"shape": [24], "values": [[21, 1]]}


def test_the_same_network_gives_the_same_file(tmp_path):
    for name in ("one", "two"):
        turing.save(turing.compile(PAPERS, "wcm21", T=100), tmp_path / f"{name}.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan")])
def test_a_weight_that_is_not_a_number_is_not_saved(number, tmp_path):
    net = turing.compile(zoo["bb2"], "wcm21", T=4)
    for name in ("pipeline.last.null_key", "pipeline.v.bias"):
        net.get_parameter(name).data[1] = number
        with pytest.raises(ValueError, match=f"{name} has a number that is infinite or not a number"):
            turing.save(net, tmp_path / "net.json")
        net.get_parameter(name).data[1] = 0
    assert not (tmp_path / "net.json").exists()


V1 = ROOT / "tests/files_v1"
SMALL = json.loads(json.dumps(to_dict(turing.compile(zoo["bb2"], "wcm21", T=4))))
FILES = {"and": to_dict(AND(2)), "bb2": SMALL} | {
    path.stem: {key: value for key, value in json.loads(path.read_text(encoding="utf-8")).items() if key != "digest"}
    for path in V1.glob("*.json")
}
LINEAR, LAYER = FILES["and"]["modules"], ("modules", 0, "layers", 0)
WEIGHT, BIAS = ("weights", "weight"), ("weights", "bias")
ADDED = ("weights", "pipeline.v.bias")
ANOTHER = "should be what wcm21 with these options has, and"
PLACES = "at most once, as .index, …, value., and"


def changed(name: str, *path, value) -> dict:
    """What a file says, with another value in one place."""
    data = at = copy.deepcopy(FILES[name])
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return data


@pytest.mark.parametrize(
    ("name", "path", "value", "message"),
    [
        # Which file it is.
        ("bb2", ["turing"], "machine", 'Not a turing network file: the key "turing" with the value "network" is miss'),
        *(
            (name, ["version"], value, f"version of this network file is {shown}, and versions 1 and 2 are read here")
            for name in ("and", "bb2", "xor")
            for value, shown in ((3, "3"), (None, "null"), (True, "true"), (2.0, "2.0"), (1.0, "1.0"), ("2", '"2"'),
                                 (int("7" * 4000), "7{60}…"))
        ),
        ("bb2", ["construction"], "wcm22", 'is "wcm22", and .*wcm21.* are registered. Register one of your own'),
        ("bb2", ["construction"], None, "construction of this network file is null, and .*wcm21"),
        ("bb2", ["construction"], ["wcm21"], r'construction of this network file is \["wcm21"\], and .*wcm21'),
        *(
            (name, ["arithmetic"], value, "arithmetic should be one of float32, float64, bfloat16, float16, exact, and")
            for name in ("and", "bb2")
            for value in ("float8", None, ["float32"])
        ),
        # Machine and options.
        ("bb2", ["machine"], None, "damaged: machine should be an object, and null was found"),
        ("bb2", ["machine"], "bb2", 'damaged: machine should be an object, and "bb2" was found'),
        ("bb2", ["machine"], {}, 'A machine in JSON is an object with "turing_machine": 1'),
        ("bb2", ["machine", "initial"], "Q", "The initial state 'Q' appears in no rule"),
        ("bb2", ["machine", "delta"], [], "no rules"),
        ("bb2", ["machine", "delta", 0, 4], 2, "A move is -1"),
        ("bb2", ["options"], None, "options should be an object, and null was found"),
        ("bb2", ["options"], {}, "damaged: wcm21: missing a required argument: 'T'"),
        ("bb2", ["options", "T"], 0, "damaged: T is the maximal number of steps, .* T=0 was given"),
        ("bb2", ["options", "T"], True, "T=True was given"),
        ("bb2", ["options", "T"], 400, "bits=2 was given. T = 400 steps are numbered with 9 bits"),
        ("bb2", ["options", "bits"], 3, 'damaged: the weights "pipeline.adder2.0.bias" are missing'),
        ("bb2", ["options", "bits"], 10**9, "bits=1000000000 was given"),
        ("bb2", ["options", "bits"], 10**40, "was given"),
        ("bb2", ["options", "bits"], "2", "bits='2' was given"),
        ("bb2", ["options", "kappa"], "9999", "κ is a number above 0, such as 9999, and at most 1e.38; '9999' was"),
        ("bb2", ["options", "kappa"], float("nan"), "κ is a number above 0"),
        ("bb2", ["options", "kappa"], 10**400, "κ is a number above 0"),
        ("bb2", ["options", "kappa"], 300, f"damaged: modules {ANOTHER}"),
        ("bb2", ["options", "average"], "mean", "An average is one of ratio, literal"),
        ("bb2", ["options", "average"], ["ratio"], "An average is one of ratio, literal"),
        ("bb2", ["options", "adder"], [], r"An adder is one of ripple, lookahead, and \[\] was given"),
        ("bb2", ["options", "engine"], "fast", "got an unexpected keyword argument 'engine'. Its options: T, bits"),
        ("bb2", ["options", "machine"], "x", "multiple values for argument 'machine'"),
        ("bb2", ["arithmetic"], "exact", "arithmetic should be float32 with these options, and .exact. was found"),
        # Layouts and modules.
        ("and", ["layouts"], None, "damaged: layouts should be a list, and null was found"),
        ("and", ["layouts"], [3, 4], r"damaged: layouts\[0\] should be a list, and 3 was found"),
        ("and", ["layouts", 0], [["x", 1], ["x", 1]], "should have a name of its own and a size or labels for each sl"),
        ("and", ["layouts", 0], [["x", 3]], r"weights.weight.shape should be \[1, 3\], and \[1, 2\] was found"),
        ("and", ["layouts", 0], [["x", "ab"]], "damaged: x='ab': a slice is given by its size"),
        ("and", ["layouts", 0], [["x", -1]], "damaged: x=-1: a slice is given by its size"),
        ("and", ["layouts", 0], [["x", 2**64]], "should have at most 2,147,483,648 places in a slice"),
        ("and", ["layouts", 0], [["x", 10**4000]], "should have at most 2,147,483,648 places in a slice"),
        ("bb2", ["layouts", 0, 0], ["st", 2**64], f"layouts {ANOTHER}"),
        ("bb2", ["loop", "add"], [], f"loop {ANOTHER}"),
        ("bb2", ["loop"], None, f"loop {ANOTHER}"),
        *(
            (name, ["modules"], value, message)
            for name in ("and", "bb2")
            for value, message in ((5, "damaged: modules should be a list, and 5 was found"),
                                   ([], "damaged: modules should have at least one module"),
                                   ([7], r"damaged: modules\[0\] should be an object, and 7 was found"))
        ),
        ("and", ["modules"], LINEAR * 2, r"modules\[1\].layouts should have one layout more than .* and \[0, 1\]"),
        ("and", ["modules", 0, "kind"], "attention", 'one of linear, norm, argmax, convolution, and "attention" was f'),
        ("and", ["modules", 0, "layouts"], [0, 2], r"layouts\[1\] should be an integer from 0 to 1, and 2 was found"),
        ("and", ["modules", 0, "layouts"], [0, True], "should be an integer from 0 to 1, and true was found"),
        ("and", ["modules", 0, "layouts"], [0], r"should have one layout more than there are layers, .* \[0\] was f"),
        ("and", ["modules", 0, "layers"], {}, "layers should be a list, and {} was found"),
        ("and", LAYER, 8, r"modules\[0\].layers\[0\] should be an object, and 8 was found"),
        ("and", [*LAYER, "weight"], "w", 'damaged: the weights "w" are missing'),
        ("and", [*LAYER, "activation"], "tanh", 'activation should be one of none, relu, clamp, and "tanh" was found'),
        ("and", [*LAYER, "last"], [2], r"last\[0\] should be an integer from 0 to 1, and 2 was found"),
        ("bb2", [*LAYER, "activation"], "none", f"modules {ANOTHER}"),
        ("bb2", [*LAYER, "weight"], "w", 'the weights "pipeline.transition.0.weight" are not part of this network'),
        ("bb2", ["modules", 1, "name"], "x", f"modules {ANOTHER}"),
        # Weights.
        ("bb2", ["weights"], [], "weights should be an object"),
        ("bb2", ["weights"], {}, 'the weights "pipeline.adder0.0.bias" are missing'),
        ("and", ["weights", "x"], {"shape": [], "values": []}, 'the weights "x" are not part of this network'),
        ("bb2", ["weights", "x"], {"shape": []}, 'the weights "x" are not part of this network'),
        ("and", BIAS, [], r"weights.bias should be an object, and \[\] was found"),
        ("and", BIAS, {"shape": [1]}, "damaged: weights.bias.values is missing"),
        ("and", [*WEIGHT, "shape"], None, "weights.weight.shape should be a list"),
        ("and", [*WEIGHT, "shape"], [1], r"weights.weight.shape should be \[1, 2\], and \[1\] was found"),
        ("and", [*WEIGHT, "shape"], [1, -2], r"weights.weight.shape\[1\] should be an integer from 0 to"),
        ("and", [*WEIGHT, "shape"], [0, 10**30], r"weights.weight.shape\[1\] should be an integer from 0 to"),
        ("and", [*WEIGHT, "shape"], [10**4] * 2, f"ask for 100,000,001 numbers, and at most {MAX_PLAIN:,} are read"),
        ("bb2", [*ADDED, "shape"], [10**9], f"ask for 1,000,017,188 numbers, and at most {MAX_NUMBERS:,} are read"),
        ("bb2", [*ADDED, "shape"], [24, 1], r"pipeline.v.bias.shape should be \[24\], and \[24, 1\] was found"),
        ("bb2", [*ADDED, "denominator"], 2, "pipeline.v.bias.denominator should be 1, and 2 was found"),
        ("and", [*BIAS, "denominator"], 0, "denominator should be an integer from 1 up, and 0 was found"),
        ("and", [*BIAS, "denominator"], "1.0", 'denominator should be an integer, and "1.0" was found'),
        ("and", [*WEIGHT, "values"], [[0, 0, 1], [0, 0, 5]], rf"{PLACES} \[0, 0, 5\] was found"),
        ("and", [*WEIGHT, "values"], [[0, 2, 1]], rf"{PLACES} \[0, 2, 1\] was found"),
        ("and", [*BIAS, "values"], {}, "values should be a list, and {} was found"),
        *(
            ("and", [*BIAS, "values"], [entry], f"weights.bias.values should name each place inside .* {PLACES}")
            for entry in (5, [], [0], [0, 1, 1], [1, 1], [-1, 1], [0.0, 1], [True, 1])
        ),
        *(
            ("and", [*BIAS, "values"], [[0, value]], f"should be numbers that torch.float32 holds exactly, and {shown}")
            for value, shown in (("1", '"1"'), (None, "null"), (float("nan"), "NaN"), (float("inf"), "Infinity"),
                                 (10**400, "10{59}…"), (0.1, "0.1"), (1e39, "1e.39"))
        ),
        # Version 1.
        ("xor", ["layers"], 5, "layers should be a list"),
        ("xor", ["layers", 0], 5, r"layers\[0\] should be an object"),
        ("xor", ["layers"], [], "modules should have at least one module"),
        ("xor", ["layouts"], [[["x", 2]]], r"modules\[0\].layouts\[1\] should be an integer from 0 to 0"),
        ("xor", ["layouts", 0], [["x", 2**70]], "should have at most 2,147,483,648 places in a slice"),
        ("xor", ["layers", 0, "relu"], "no", 'relu should be true or false, and "no" was found'),
        ("xor", ["layers", 0, "weight"], [[0, 0]], "weights.0.weight.values should name each place inside"),
        ("xor", ["layers", 0, "bias"], [5], "weights.0.bias.values should name each place inside"),
        ("xor", ["layers", 0, "shape"], [2], r"weights.0.weight.shape should be \[2, 2\], and \[2\] was found"),
        ("xor", ["dtype"], "int8", 'arithmetic should be one of float32, .* and "int8" was found'),
        ("wcm21", ["dtype"], None, "arithmetic should be one of float32, .* and null was found"),
        ("wcm21", ["weights"], {}, 'the weights "pipeline.adder0.0.bias" are missing'),
        ("wcm21", [*ADDED, "values"], [[1, 0.1]], "should be numbers that torch.float32 holds exactly, and 0.1"),
        ("ss95_exact", ["weights", "network.layers.F4.numerators", "values", 0, 2], 1.5, "be an integer, and 1.5"),
    ],
)  # fmt: skip
def test_a_damaged_file_is_refused_and_the_message_says_what_is_wrong(name, path, value, message, tmp_path):
    (tmp_path / "net.json").write_text(json.dumps(changed(name, *path, value=value)), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"^net\.json: .*{message}"):
        load(tmp_path / "net.json")


@pytest.mark.parametrize(
    "key", ["turing", "version", "machine", "options", "arithmetic", "layouts", "modules", "loop", "weights"]
)
def test_a_compiled_network_without_one_of_its_keys_is_refused(key):
    with pytest.raises(ValueError, match=r"network file is damaged|version of this network|Not a turing network file"):
        loads(json.dumps({name: value for name, value in SMALL.items() if name != key}))


@pytest.mark.parametrize("length", [1, 10, 100, 1000, 10_000])
def test_a_file_that_was_cut_off_is_not_json(length):
    with pytest.raises(ValueError, match="This is not JSON"):
        loads(json.dumps(SMALL)[:length])


# Constructions of one's own.


def head(layout: Layout, arithmetic: str, **options) -> Attention:
    """A head of some numbers."""
    inner, over = Layout(k=2), Layout(v=1)
    maps = [
        Rational(before, after, {0: {0: THIRD, None: 1}}, "none", (), arithmetic)
        for before, after in ((layout, inner), (layout, inner), (layout, over), (over, layout))
    ]
    dtype = maps[0].bias_numerators.dtype if arithmetic == "exact" else maps[0].bias.dtype
    null = (torch.tensor([1, 2], dtype=dtype), torch.tensor([3], dtype=dtype)) if options.pop("null", False) else ()
    return Attention(*maps, *null, kappa=None, **options)


class Heads(Construction):
    """Every kind of module of columns. It simulates nothing."""

    construction = "heads"

    def __init__(self, machine: turing.TuringMachine, arithmetic: str = "exact", extra: tuple[int, ...] = (1, 2)):
        super().__init__()
        self.machine, self.options = machine, {"arithmetic": arithmetic, "extra": extra}
        self.layout = layout = Layout(st=machine.states, phi=4)
        rows = {i: {i: 1, None: Fraction(1, 2**61)} for i in range(2)}
        self.pipeline = nn.ModuleDict(
            {
                "linear": Rational(layout, layout, rows, "clamp", [1], arithmetic),
                "strict": head(layout, arithmetic, score="-abs", mask="strict", null=True),
                "offset": head(layout, arithmetic, mask="offset", offset=3),
                "cross": head(layout, arithmetic, mask="cross"),
                "norm": Norm(layout, ["phi"]),
                "argmax": Argmax(layout, ["st", "phi"]),
            }
        )


class Cells(Construction):
    """A row of cells that is fed back."""

    construction, loop = "cells", Loop("cells")

    def __init__(self, machine: turing.TuringMachine, radius: int = 1, arithmetic: str = "float32"):
        super().__init__()
        self.machine, self.options = machine, {"radius": radius, "arithmetic": arithmetic}
        self.layout = Layout(sym=machine.symbols)
        dtype, size = torch.int64 if arithmetic == "exact" else torch.float32, self.layout.width
        numbers = torch.arange(size * size * (2 * radius + 1), dtype=dtype).reshape(size, size, -1)
        rule = Convolution(numbers, torch.ones(size, dtype=dtype), "relu", [self.layout, self.layout])
        self.pipeline = nn.ModuleDict({"rule": rule})


class Outside(Cells):
    """With a number that is not part of a module."""

    construction = "outside"

    def __init__(self, machine: turing.TuringMachine):
        super().__init__(machine)
        self.scale = nn.Parameter(torch.ones(1))
        self.options = {}


class Odd(Cells):
    """With an option that JSON does not know."""

    construction = "odd"

    def __init__(self, machine: turing.TuringMachine, key: object = object):
        super().__init__(machine)
        self.options = {"key": key}


@pytest.fixture
def registered(monkeypatch):
    turing.constructions()
    for kind in (Heads, Cells, Outside, Odd):
        monkeypatch.setitem(construction.REGISTRY, kind.construction, kind)


OWN = {
    "heads, exact": lambda: Heads(PAPERS),
    "heads, float32": lambda: Heads(PAPERS, "float32"),
    "heads, float64": lambda: Heads(PAPERS, "float64", extra=()),
    "cells": lambda: Cells(zoo["bb2"], radius=2),
    "cells, exact": lambda: Cells(zoo["bb2"], arithmetic="exact"),
}


@pytest.mark.parametrize("ending", ["json", "safetensors"])
@pytest.mark.parametrize("which", OWN)
def test_a_construction_of_ones_own_goes_through_a_file(which, ending, registered, tmp_path):
    network = OWN[which]()
    with torch.no_grad():
        for k, parameter in enumerate(network.parameters()):
            parameter.flatten()[-1] = 2**53 + k if network.arithmetic == "exact" else (k + 1) / 3
    save(network, tmp_path / f"net.{ending}")
    again = load(tmp_path / f"net.{ending}")
    assert type(again) is type(network)
    assert equal(again, network)
    assert again.machine == network.machine
    assert json.dumps(to_dict(again)) == json.dumps(to_dict(network))


def test_integers_that_pages_cannot_read_are_strings_of_digits(registered, tmp_path):
    network = Heads(PAPERS)
    network.pipeline["linear"].numerators[0, 0] = -(2**63) + 1
    save(network, tmp_path / "net.json")
    found = json.loads((tmp_path / "net.json").read_text(encoding="utf-8"))["weights"]["pipeline.linear.numerators"]
    assert found["values"][0] == [0, 0, str(-(2**63) + 1)]
    assert found["denominator"] == str(2**61)
    assert equal(load(tmp_path / "net.json"), network)


def test_a_denominator_that_is_not_that_of_the_construction_is_refused(registered, tmp_path):
    data = to_dict(Heads(PAPERS))
    data["weights"]["pipeline.linear.numerators"]["denominator"] = 7
    with pytest.raises(ValueError, match=r"pipeline\.linear\.numerators\.denominator should be \d+, and 7 was found"):
        from_dict(data)


def test_the_file_of_a_construction_that_is_not_registered_is_refused_and_says_what_to_do(registered, monkeypatch):
    data = to_dict(Cells(zoo["bb2"]))
    assert type(from_dict(data)) is Cells
    monkeypatch.delitem(construction.REGISTRY, "cells")
    with pytest.raises(ValueError, match=r'is "cells", and .*wcm21.* are registered. Register one of your own with'):
        from_dict(data)


@pytest.mark.parametrize(
    ("network", "error", "message"),
    [
        (lambda: Outside(zoo["bb2"]), ValueError, "scale is not part of a module in the pipeline of this network"),
        (lambda: Odd(zoo["bb2"]), TypeError, "Options are written as JSON, and {'key': <class 'object'>} cannot be"),
    ],
)
def test_a_construction_that_could_not_be_loaded_is_not_saved(network, error, message, registered, tmp_path):
    with pytest.raises(error, match=message):
        save(network(), tmp_path / "net.json")
    assert not list(tmp_path.iterdir())


def test_a_construction_that_is_not_registered_is_not_saved(tmp_path):
    with pytest.raises(
        ValueError, match=r"'cells' is not registered, so turing\.load could not compile it\. Put @turing"
    ):
        save(Cells(zoo["bb2"]), tmp_path / "net.json")


# Networks of integers.

ODD = 2**53 + 1  # the first integer that no float64 holds


def test_integers_that_no_float_holds_come_back_as_they_are(tmp_path):
    net = turing.compile(zoo["bb2"], "ss95", base=3_000_000_001, digits=(1, 3_000_000_000))
    net.pipeline["F1"].numerators[0, 0] = ODD
    net.pipeline["F4"].bias_numerators[1] = -(2**63) + 1
    turing.save(net, tmp_path / "net.json")
    again = turing.load(tmp_path / "net.json")
    assert equal(again, net)
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


@pytest.mark.parametrize("value", [1.0, True, "1.0", "", None, 2**63, -(2**63) - 1, 10**400, "9" * 30, 0.5])
def test_an_integer_of_a_file_that_is_not_one_is_refused(value, registered):
    data, name = to_dict(Heads(PAPERS)), "pipeline.offset.key.numerators"
    data["weights"][name]["values"][0][-1] = value
    with pytest.raises(ValueError, match=f"damaged: weights.{name}.values should be .*, and .* was found"):
        loads(json.dumps(data))


@pytest.mark.parametrize(("arithmetic", "dtype"), [("float32", "float64"), ("float64", "float32"),
                                                   ("float32", "float16")])  # fmt: skip
def test_a_file_of_another_type_than_its_arithmetic_is_neither_written_nor_read(
    arithmetic, dtype, registered, tmp_path
):
    message = f"A network in {arithmetic} has weights of that type, and here they are of {dtype}. Compile the machine"
    data = to_dict(Heads(PAPERS, arithmetic))
    with pytest.raises(ValueError, match=message):
        loads(json.dumps(data | {"arithmetic": dtype}))
    with pytest.raises(ValueError, match=message):
        turing.save(Heads(PAPERS, arithmetic).to(getattr(torch, dtype)), tmp_path / "cast.json")
    assert not (tmp_path / "cast.json").exists()


# Version 1.

COMPILED_V1 = {
    "wcm21": ("wcm21", {"T": 4}),
    "wcm21_lookahead_float64": ("wcm21", {"T": 4, "adder": "lookahead"}),
    "ss95_exact": ("ss95", {}),
    "ss95_float32": ("ss95", {"arithmetic": "float32"}),
    "ss95_realtime_exact": ("ss95-realtime", {}),
}


@pytest.mark.parametrize("name", COMPILED_V1)
def test_a_compiled_network_of_version_1_is_loaded(name, tmp_path):
    from safetensors.torch import save_file

    kind, options = COMPILED_V1[name]
    net = turing.compile(zoo["bb2"], kind, **options)
    net = net.double() if "float64" in name else net
    metadata = {key: json.dumps(value) for key, value in FILES[name].items() if key != "weights"}
    save_file(net.state_dict(), tmp_path / "net.safetensors", metadata)
    for path in (V1 / f"{name}.json", tmp_path / "net.safetensors"):
        again = load(path)
        assert equal(again, net)
        assert again.machine == net.machine
        assert json.dumps(again.options) == json.dumps(net.options)
        assert again.run("", 3) == zoo["bb2"].run("", 3)


@pytest.mark.parametrize("name", ["xor.json", "xor.safetensors", "and_float64.json"])
def test_plain_layers_of_version_1_are_loaded(name):
    again = load(V1 / name)
    assert equal(again, nn.Sequential(*XOR()) if "xor" in name else nn.Sequential(AND(2)).double())
    names = [Layout(a=1, b=1), Layout(both=1, neither=1), Layout(nand=1, either=1), Layout(xor=1)]
    assert name != "xor.json" or again.layouts == names


def test_plain_layers_of_version_1_without_a_type_have_one_that_holds_their_weights():
    network = from_dict(changed("xor", "layers", 0, "bias", value=[[0, 0.1]]))
    assert {numbers.dtype for numbers in network.parameters()} == {torch.float64}


def test_a_file_of_version_1_whose_digest_is_wrong_is_refused():
    text = (V1 / "xor.json").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="its digest is not that of what it holds"):
        loads(text.replace('"bias": [[0, -1]]', '"bias": [[0, -2]]'))


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
    data["weights"]["bias"]["values"] = [[0, -2]]
    with pytest.raises(ValueError, match='If it was changed on purpose, take the key "digest" out'):
        loads(json.dumps(data))
    del data["digest"]
    assert loads(json.dumps(data))[0].bias.tolist() == [-2]


@pytest.mark.parametrize("name", ["machine", "options", "weights", "arithmetic"])
def test_a_key_that_is_given_twice_is_refused(name, tmp_path):
    save(turing.compile(zoo["parity"], "wcm21", T=4), tmp_path / "net.json")
    data = json.loads((tmp_path / "net.json").read_text(encoding="utf-8"))
    text = json.dumps(data)[:-1] + f', "{name}": {json.dumps(data[name])}}}'
    with pytest.raises(ValueError, match=f"the key '{name}' is given twice"):
        loads(text)


@pytest.mark.parametrize("ending", [*ENDINGS, pytest.param("onnx", marks=pytest.mark.slow)])
def test_a_save_that_fails_halfway_leaves_the_older_file_and_nothing_else(ending, tmp_path, monkeypatch):
    path, net = tmp_path / f"net.{ending}", turing.compile(zoo["parity"], "wcm21", T=4, adder="lookahead")
    save(net, path)
    good = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*net\.\w+'"):
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
    with pytest.raises(ValueError, match=r"2,251,500 numbers, and a file holds at most 2,000,000 for plain layers"):
        save(nn.Sequential(nn.Linear(1500, 1500)), tmp_path / f"net.{ending}")
    assert not list(tmp_path.iterdir())


class Squared(nn.Linear):
    def forward(self, x):
        return super().forward(x) ** 2


class Cubed(Layer):
    def forward(self, x):
        return super().forward(x) ** 3


class Leaky(nn.ReLU):
    def forward(self, x):
        return x


@pytest.mark.parametrize(
    "net", [Squared(2, 2), nn.Sequential(Squared(2, 2)), nn.Sequential(nn.Linear(2, 2), Leaky()), Cubed([[1]], [0])]
)
def test_a_layer_that_computes_something_else_is_refused(net, tmp_path):
    with pytest.raises(TypeError, match=r"computes something other than|(Squared|Leaky) was given"):
        save(net, tmp_path / "net.json")


def test_a_machine_that_would_fill_the_memory_is_refused(tmp_path):
    data = to_dict(turing.compile(zoo["parity"], "wcm21", T=4))
    names = [f"q{k}" for k in range(1000)]
    delta = {(q, "_"): (q, f"a{k}", 1) for k, q in enumerate(names)}
    big = turing.TuringMachine(delta, "q0", {"end"}, "_", alphabet=["_", *(f"a{k}" for k in range(1000))])
    data["machine"] = json.loads(big.dumps("json"))
    with pytest.raises(
        ValueError, match=r"takes 1\d,\d+,\d+,\d+ numbers in wcm21 with ripple adder, and at most 120,000"
    ):
        from_dict(data)


LYING = [  # states, version and changes of a file, and what is said of it
    (6000, 2, {"weights": {}}, 'the weights "pipeline.adder0.0.bias" are missing'),
    (6000, 2, {"weights": {}, "modules": []}, "modules should have at least one module"),
    (1000, 2, {}, "its weights are 17,212 numbers, and its machine with these options needs more"),
    (1000, 1, {"weights": {}}, "its weights are 0 numbers, and its machine with these options needs more"),
    (6000, 2, {}, "<TuringMachine: 6,001 states, 1 symbol, 6,000 rules> takes "),
    (6000, 1, {"weights": {}}, "<TuringMachine: 6,001 states, 1 symbol, 6,000 rules> takes "),
]


def test_machines_with_more_weights_than_their_files_do_not_fill_the_memory():
    texts = []
    for states, version, changes, _ in LYING:
        names = [f"q{k}" for k in range(states)]
        delta = {(q, "_"): (names[k - 1], "_", 1) for k, q in enumerate(names)}
        machine = json.loads(turing.TuringMachine(delta, "q0", {"end"}, "_").dumps("json"))
        texts.append(json.dumps(SMALL | {"version": version, "dtype": "float32", "machine": machine} | changes))
    errors, peak = within_memory(["turing.files.loads(sys.stdin.readline())"] * len(texts), "\n".join(texts))
    for error, (*_, message) in zip(errors, LYING, strict=True):
        assert error.startswith(f"ValueError: This network file is damaged: {message}")
    assert peak < 200_000_000


def within_memory(codes: list[str], text: str = "") -> tuple[list[str], int]:
    """The error of each piece of code, and how many bytes all took beyond what importing everything takes."""
    peak = "resource.getrusage(resource.RUSAGE_SELF).ru_maxrss"
    body = f"""
import json, resource, sys, turing, turing.files.dictionary
from turing import TuringMachine
turing.ss, turing.wcm
begun, errors = {peak}, []
for code in json.loads({json.dumps(json.dumps(codes))}):
    try:
        exec(code)
        errors.append("")
    except Exception as error:
        errors.append(f"{{type(error).__name__}}: {{error}}")
print(json.dumps([errors, {peak} - begun]))"""
    ran = subprocess.run([sys.executable, "-c", body], input=text, capture_output=True, text=True, check=True)
    errors, kilobytes = json.loads(ran.stdout)
    return errors, kilobytes * 1024


RING = (
    "TuringMachine({{(f'q{{k}}', a): (f'q{{(k + 1) % {0}}}', a, 1) for k in range({0}) for a in '{1}'}}, 'q0', (), '0')"
)
TOO_LARGE = [  # states, symbols, construction, and what is said of it
    (6000, "0", "'wcm21', T=100", "takes 2,375,194,693 numbers in wcm21 with ripple adder, and at most 120,000,000"),
    (6000, "0", "'wcm21', T=100, adder='lookahead'", "numbers in wcm21 with lookahead adder, and at most 120,000,000"),
    (1100, "0123", "'ss95'", "numbers or more in four layers, and at most 120,000,000 are built"),
    (1100, "0123", "'ss95-realtime'", "neurons or more, each with a weight for each, and at most 6,000 are built"),
    (150, "0123", "'ss95-realtime'", "takes 21,608 neurons, each with a weight for each, and at most 6,000 are"),
    (6000, "0", "'perez21'", "numbers in perez21, and at most 120,000,000 are built"),
    (6000, "0", "'merrill24'", "numbers in merrill24, and at most 120,000,000 are built"),
    (6000, "0", "'bhattamishra20'", "numbers or more in bhattamishra20, and at most 120,000,000 are built"),
]


def test_networks_that_would_fill_the_memory_are_refused_before_anything_is_allocated():
    codes = [f"turing.compile({RING.format(states, symbols)}, {kind})" for states, symbols, kind, _ in TOO_LARGE]
    errors, peak = within_memory(codes)
    for error, (*_, message) in zip(errors, TOO_LARGE, strict=True):
        assert message in error
    assert peak < 150_000_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("states", "construction", "most"), [(150, "'ss95-realtime'", 500_000_000), (1100, "'ss95'", 1_100_000_000)]
)
def test_a_large_network_takes_little_more_memory_than_its_numbers(states, construction, most):
    errors, peak = within_memory([f"turing.compile({RING.format(states, '01')}, {construction})"])
    assert errors == [""]
    assert peak < most


@pytest.mark.parametrize(
    ("construction", "options"),
    [
        ("wcm21", {"T": 1}),
        ("wcm21", {"T": 100}),
        ("wcm21", {"T": 9, "bits": 9}),
        ("ss95", {}),
        ("ss95", {"arithmetic": "float32"}),
    ],
)
def test_the_size_that_is_checked_is_the_number_of_numbers(construction, options, monkeypatch):
    machine = zoo["balanced_parentheses"]
    numbers = sum(tensor.values.numel() for tensor in turing.compile(machine, construction, **options).ir().numbers())
    monkeypatch.setattr("turing.arguments.MAX_NUMBERS", numbers)
    turing.compile(machine, construction, **options)
    monkeypatch.setattr("turing.arguments.MAX_NUMBERS", numbers - 1)
    with pytest.raises(ValueError, match=f"takes {numbers:,} numbers in"):
        turing.compile(machine, construction, **options)


def test_the_command_line_says_in_one_line_that_a_network_would_fill_the_memory(tmp_path, capsys):
    rules = {(f"q{k}", "0"): (f"q{(k + 1) % 6000}", "0", 1) for k in range(6000)}
    file = tmp_path / "machine.json"
    file.write_text(turing.TuringMachine(rules, "q0", (), "0").dumps("json"))
    assert main(["run", str(file), "", "--network", "wcm21", "--T", "100"]) == 2
    error = capsys.readouterr().err
    assert re.fullmatch(r"turing: <TuringMachine: 6,000 states.* takes .* numbers in wcm21 .* symbols\.\n", error)


def test_the_command_line_says_in_one_line_that_torch_has_run_out_of_memory():
    code = "import resource, sys, torch, turing, turing.construction, turing.cli; turing.wcm, turing.ss\n"
    code += "size = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize() + 150_000_000\n"
    code += "resource.setrlimit(resource.RLIMIT_AS, (size, size))\n"
    code += "sys.exit(turing.cli.main(['run', 'universal', '', '--network', 'ss95']))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (2, "turing: There is not enough memory for this.\n")


# What a file cannot carry.


@pytest.mark.parametrize("ending", [".json", ".safetensors"])
@pytest.mark.parametrize(
    ("construction", "options", "change", "message"),
    [
        (
            "wcm21",
            {"T": 8},
            ("visited", "kappa", 50.0),
            r"^visited\.kappa is 50\.0 here\. turing\.load compiles",
        ),
        (
            "wcm21",
            {"T": 8},
            ("last", "average", "literal"),
            '^last.average is "literal" here.* it is "ratio" then',
        ),
        (
            "ss95",
            {},
            ("F2", "activation", "relu"),
            r'^F2\.layers\[0\]\.activation is "relu" here.* is "clamp" then',
        ),
        ("ss95", {}, ("F2", "denominator", 12), r"^network\.layers\.F2\.numerators\.denominator is 12 here"),
    ],
)
def test_a_network_that_load_would_refuse_is_not_saved(construction, options, change, message, ending, tmp_path):
    net = turing.compile(zoo["bb2"], construction, **options)
    path = tmp_path / f"net{ending}"
    net.save(path)
    assert type(turing.load(path)) is type(net)
    before = path.read_bytes()
    module, key, value = change
    setattr(net.pipeline[module], key, value)
    with pytest.raises(ValueError, match=message):
        net.save(path)
    assert path.read_bytes() == before


# Arguments.


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: turing.save("x", "a.json"),
            r"A network is saved here, .* and 'x' was given. Write turing\.save\(netw",
        ),
        (
            lambda: turing.save("x", "a.onnx"),
            "One pass of a compiled network .* is saved as ONNX, .* and str was given",
        ),
        (lambda: turing.save(None, "a.safetensors"), "A network is saved here, .* and None was given"),
        (lambda: turing.save("a.json", AND(2)), "A file is given by its path, such as 'net.json', and AND"),
        (lambda: turing.save(AND(2), 5), "A file is given by its path, such as 'net.json', and 5 was given"),
        (lambda: turing.load(5), "A file is given by its path, such as 'net.json', and 5 was given"),
        (lambda: turing.load(None), "A file is given by its path, such as 'net.json', and None was given"),
        (
            lambda: turing.files.loads(None),
            "loads takes the text of a file as a string, and None was given. turing.load",
        ),
        (lambda: turing.files.loads(b"{}"), "loads takes the text of a file as a string, and b'{}' was given"),
        (
            lambda: zoo["bb2"].rename(None),
            "States are renamed by a dictionary from old names to new ones, and None was",
        ),
        (lambda: zoo["bb2"].rename({}, ["0"]), r"Symbols are renamed by a dictionary .* and \['0'\] was given"),
        (lambda: turing.formats.dumps([]), r"A TuringMachine is written as text, and \[\] was given"),
        (lambda: turing.formats.fit(None, "morphett"), "A TuringMachine is written as text, and None was given"),
        (lambda: turing.source(5), "source shows a class, a function or a module of this library, .* and 5 was given"),
        (lambda: turing.source(json.dumps), "source shows .* of this library, .* and <function dumps"),
    ],
)
def test_an_argument_of_another_type_is_answered_with_what_was_expected(call, message):
    with pytest.raises(TypeError, match=message):
        call()


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_error_in_writing_names_the_file_that_was_given(ending, tmp_path):
    missing = tmp_path / "nowhere" / f"net.{ending}"
    with pytest.raises(FileNotFoundError) as error:
        save(AND(2), missing)
    assert error.value.filename == str(missing)
    folder = tmp_path / f"folder.{ending}"
    folder.mkdir()
    with pytest.raises(IsADirectoryError) as error:
        save(AND(2), folder)
    assert error.value.filename == str(folder)
    assert list(tmp_path.iterdir()) == [folder]


def test_a_name_may_be_as_long_as_the_file_system_allows(tmp_path):
    path = tmp_path / f"{'n' * (os.pathconf(tmp_path, 'PC_NAME_MAX') - 5)}.json"
    save(AND(2), path)
    assert load(path)[0].bias.tolist() == [-1]


def test_names_for_a_compiled_network_are_refused(tmp_path):
    for ending in ("json", "safetensors", "onnx"):
        with pytest.raises(ValueError, match="Leave layout out"):
            save(turing.compile(zoo["parity"], "wcm21", T=4), tmp_path / f"net.{ending}", Layout(x=3))


@pytest.mark.parametrize(("name", "told"), [("", "net.json"), ("x.json.gz", "x.json"), ("x.pt", "x.json")])
def test_another_ending_is_answered_with_one_that_works(name, told, tmp_path):
    message = f"saved as JSON, safetensors or ONNX, and the name '{name}' was given. Use '{told}'"
    with pytest.raises(ValueError, match=message):
        save(AND(2), name)


@pytest.mark.parametrize("cells", ["x", 1.5, -1, True])
def test_a_number_of_cells_that_is_none_is_refused(cells):
    with pytest.raises(ValueError, match=f"^cells must be an integer of at least 0, and {cells!r} was given"):
        turing.compile(zoo["bb2"], "wcm21", T=8).run(engine="native", cells=cells)


EVERY = pytest.mark.parametrize(
    ("construction", "options"),
    [("wcm21", {"T": 8}), ("ss95", {}), ("ss95-realtime", {"arithmetic": "float32"})],
    ids=lambda value: value if isinstance(value, str) else "",
)


@EVERY
def test_a_network_without_numbers_says_so(construction, options, tmp_path):
    net = turing.compile(zoo["bb2"], construction, **options).to("meta")
    for use in (
        net.run,
        lambda: list(net.trace()),
        lambda: net.run_batch([""]),
        lambda: next(net.vectors([""])),
        lambda: turing.verify(net, net.machine, [""]),
        lambda: turing.show(net),
        lambda: net.save(tmp_path / "net.json"),
    ):
        with pytest.raises(TypeError, match=r"is on the device meta, where tensors have no numbers\. Compile"):
            use()


@pytest.mark.parametrize("engine", ["torch", "indexed", "native"])
@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2, torch.complex64])
@pytest.mark.filterwarnings("ignore:Complex modules", "ignore:Casting complex")
def test_a_network_of_a_type_that_nothing_computes_in_is_not_run(dtype, engine, tmp_path):
    net = turing.compile(zoo["bb2"], "wcm21", T=8).to(dtype)
    message = rf"transition.0.weight is of {dtype}, and networks here are of float32, .*\. Convert it, such as with"
    for use in (lambda: net.run(engine=engine), lambda: net.rollout("", 1), lambda: net.save(tmp_path / "net.json")):
        with pytest.raises(TypeError, match=message):
            use()
    assert net.to(torch.float32).run().steps == 6


@EVERY
def test_forward_and_start_say_what_they_take(construction, options):
    net = turing.compile(zoo["bb2"], construction, **options)
    for wrong in ("x", None, 5, [1.0]):
        with pytest.raises(TypeError, match=r"^forward takes a column, as network\.initial\(word\) gives it, and "):
            net(wrong)
    for wrong in (torch.zeros(3), Exact([1, 2, 3])):
        with pytest.raises(
            ValueError, match=f"^This network takes vectors of width {net.layout.width}, and 3 was given"
        ):
            net(wrong)
    with pytest.raises(TypeError, match=r"^history is the earlier columns: .* Given: 'x'\.$"):
        net(net.initial(""), "x")
    for wrong, message in (([], "an empty one"), (None, "None"), ("01", "the single word '01'")):
        with pytest.raises(ValueError, match=f"^A list of words is expected, and {message} was given"):
            net.start(wrong)
