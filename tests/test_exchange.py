"""Networks for the tools of others: safetensors and ONNX against torch, names for hooks, and files that are refused."""

import ast
import json
import os
import pickle
import sys

import pytest
import torch
from test_files import COMPILED, NETWORKS, Cells, Heads, equal, numbers_of

import turing
from book import ROOT
from turing import ir
from turing.files import load, save
from turing.files.safetensors_file import read_safetensors
from turing.gates import AND, XOR
from turing.zoo import zoo

torch.set_num_threads(1)  # on small matrices threads wait for each other
T = 64
QUICK = "balanced_parentheses"  # torch takes a quarter of a minute to export a step
FEW = (QUICK, "bb2", "bb2x4", "binary_increment")  # others have recurrent networks of hundreds of neurons
ALL = [pytest.param(name, marks=[] if name == QUICK else pytest.mark.slow) for name in zoo]


def words(name: str) -> list:
    return [sample.word for sample in zoo.entry(name).samples if len(sample.word) <= T]


def compiled(name: str, **options):
    return turing.compile(zoo[name], "wcm21", **{"T": T, "bits": 7, "adder": "lookahead"} | options)


# JSON and safetensors.


def through_files(net, folder):
    """The network as it comes back, from the second of two files that hold the same."""
    for ending in ("json", "safetensors"):
        save(net, folder / f"net.{ending}")
        again = load(folder / f"net.{ending}")
        assert equal(again, net)
    return again


@pytest.mark.parametrize("name", zoo)
def test_every_machine_of_the_zoo_goes_through_files_with_equal_results(name, tmp_path):
    again = through_files(compiled(name, adder="ripple" if name == QUICK else "lookahead"), tmp_path)
    some = words(name)[:3]
    assert again.run_batch(some) == [zoo[name].run(word, T) for word in some]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in FEW else pytest.mark.slow) for name in zoo if name != "universal"]
)
def test_every_recurrent_network_goes_through_files_with_equal_results(name, tmp_path):
    again = through_files(turing.compile(zoo[name], "ss95"), tmp_path)
    for word in words(name)[:2]:
        assert again.run(word, T) == zoo[name].run(word, T)


@pytest.mark.slow
def test_the_recurrent_network_of_the_universal_machine_goes_through_files(tmp_path):
    through_files(turing.compile(zoo["universal"], "ss95"), tmp_path)


@pytest.mark.parametrize("network", NETWORKS)
def test_plain_layers_are_the_same_from_either_file(network, tmp_path):
    for ending in ("json", "safetensors"):
        save(NETWORKS[network], tmp_path / f"net.{ending}")
    one, other = load(tmp_path / "net.json"), load(tmp_path / "net.safetensors")
    assert numbers_of(one) == numbers_of(other)
    assert equal(one, other)
    assert one.layouts == other.layouts == ir.of(NETWORKS[network]).layouts


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("which", COMPILED)
def test_a_compiled_network_comes_back_from_safetensors_in_any_type(which, dtype, tmp_path):
    network = COMPILED[which]().to(dtype)
    save(network, tmp_path / "net.safetensors")
    again = load(tmp_path / "net.safetensors")
    assert equal(again, network)
    assert (again.machine, again.options) == (network.machine, network.options)


@pytest.mark.parametrize("options", [{}, {"arithmetic": "float32"}], ids=str)
def test_integers_stay_integers_in_safetensors(options, tmp_path):
    net = turing.compile(zoo["bb2"], "ss95-realtime", **options)
    save(net, tmp_path / "net.safetensors")
    data, tensors = read_safetensors(tmp_path / "net.safetensors")
    assert {numbers.dtype for numbers in tensors.values()} == {torch.float32 if options else torch.int64}
    assert data.get("denominators", {}) == {
        tensor.name: tensor.denominator for tensor in net.ir().numbers() if tensor.denominator != 1
    }
    assert equal(load(tmp_path / "net.safetensors"), net)


def test_both_files_say_the_same_under_the_same_names(tmp_path):
    for ending in ("json", "safetensors"):
        save(compiled("bb2"), tmp_path / f"net.{ending}")
    data = json.loads((tmp_path / "net.json").read_text(encoding="utf-8"))
    metadata, tensors = read_safetensors(tmp_path / "net.safetensors")
    assert metadata.keys() == data.keys() - {"weights"}
    assert all(metadata[key] == data[key] for key in metadata if key != "digest")
    assert {name: list(numbers.shape) for name, numbers in tensors.items()} == {
        name: numbers["shape"] for name, numbers in data["weights"].items()
    }


# Files that are refused.


def written(path, metadata: dict | None = None, tensors: dict | None = None):
    from safetensors.torch import save_file

    save_file(tensors or {"x": torch.zeros(1)}, path, metadata)
    return path


@pytest.mark.parametrize("content", [b"", b"{", b"\0" * 64, b"\xff" * 64, b"PK\x03\x04" * 9, b'{"turing": "network"}'])
def test_a_file_that_is_not_safetensors_is_refused(content, tmp_path):
    (tmp_path / "net.safetensors").write_bytes(content)
    with pytest.raises(ValueError, match=r"^net\.safetensors: This is not a safetensors file, or it is damaged: "):
        load(tmp_path / "net.safetensors")


@pytest.mark.parametrize("share", [0.01, 0.3, 0.9, 0.999])
def test_a_safetensors_file_that_was_cut_off_is_refused(share, tmp_path):
    save(turing.compile(zoo["bb2"], "wcm21", T=4), tmp_path / "net.safetensors")
    raw = (tmp_path / "net.safetensors").read_bytes()
    (tmp_path / "net.safetensors").write_bytes(raw[: int(share * len(raw))])
    with pytest.raises(ValueError, match=r"^net\.safetensors: This is not a safetensors file, or it is damaged: "):
        load(tmp_path / "net.safetensors")


def test_a_file_that_is_not_there_is_not_called_damaged(tmp_path):
    for ending in ("json", "safetensors"):
        with pytest.raises(FileNotFoundError):
            load(tmp_path / f"net.{ending}")


@pytest.mark.parametrize("metadata", [None, {}, {"format": "pt"}, {"turing": "network"}, {"turing": '"step"'}])
def test_a_safetensors_file_of_another_program_is_refused(metadata, tmp_path):
    with pytest.raises(ValueError, match='Not a turing network file: the key "turing" with the value "network" is'):
        load(written(tmp_path / "net.safetensors", metadata))


BIAS = "pipeline.v.bias"
STEP, GATES = (lambda: turing.compile(zoo["bb2"], "wcm21", T=4)), XOR


@pytest.mark.parametrize(
    ("make", "metadata", "tensors", "message"),
    [
        (STEP, {"version": "7"}, {}, "version of this network file is 7, and versions 1 and 2 are read here"),
        (STEP, {"machine": "{"}, {}, "This is not JSON, or it is damaged"),
        (STEP, {"machine": "[" * 100_000}, {}, "This is not JSON, or it is damaged"),
        (STEP, {"machine": "{}"}, {}, 'damaged: line 1: A machine in JSON is an object with "turing_machine": 1'),
        (STEP, {"options": '{"T": 0}'}, {}, "damaged: T is the maximal number of steps"),
        (STEP, {"construction": '"wcm22"'}, {}, 'construction of this network file is "wcm22", and .*wcm21'),
        (STEP, {"construction": None}, {}, 'should be one of linear, norm, argmax, convolution, and "attention" was'),
        (STEP, {"arithmetic": '"float64"'}, {}, "damaged: weights.pipeline.* should be finite and of torch.float64"),
        (STEP, {"modules": "[]"}, {}, "modules should have at least one module"),
        (STEP, {"layouts": None}, {}, "layouts is missing"),
        (STEP, {"denominators": "[]"}, {}, "denominators should be an object"),
        (STEP, {"denominators": f'{{"{BIAS}": 3}}'}, {}, f"{BIAS}.denominator should be 1, and 3 was found"),
        (STEP, {"denominators": f'{{"{BIAS}": 0}}'}, {}, "should be an integer from 1 up, and 0 was found"),
        (STEP, {}, {BIAS: None}, f'damaged: the weights "{BIAS}" are missing'),
        (STEP, {}, {BIAS: torch.zeros(23)}, rf"{BIAS}.shape should be \[24\], and \[23\] was found"),
        (STEP, {}, {BIAS: torch.zeros(24, 1)}, r"should be \[24\], and \[24, 1\] was found"),
        (STEP, {}, {BIAS: torch.zeros(24, dtype=torch.int64)}, "should be finite and of torch.float32"),
        (STEP, {}, {BIAS: torch.full((24,), torch.inf)}, "should be finite and of torch.float32"),
        (GATES, {"version": "9"}, {}, "version of this network file is 9"),
        (GATES, {"modules": "7"}, {}, "modules should be a list"),
        (GATES, {"modules": "[7]"}, {}, "should be an object, and 7 was found"),
        (GATES, {"layouts": "[]"}, {}, "should be an integer from 0 to -1"),
        (GATES, {}, {"0.weight": None}, 'damaged: the weights "0.weight" are missing'),
        (GATES, {}, {"3.bias": torch.zeros(1)}, 'damaged: the weights "3.bias" are not part of this network'),
        (GATES, {}, {"2.bias": torch.zeros(2)}, r"weights.2.bias.shape should be \[1\], and \[2\] was found"),
        (GATES, {}, {"2.bias": torch.zeros(1, dtype=torch.int8)}, "weights.2.bias should be finite and of"),
        (GATES, {}, {"2.bias": torch.full((1,), torch.nan)}, "weights.2.bias should be finite and of"),
    ],
)  # fmt: skip
def test_a_damaged_file_is_refused_and_the_message_says_what_is_wrong(make, metadata, tensors, message, tmp_path):
    path = tmp_path / "net.safetensors"
    save(make(), path)
    data, numbers = read_safetensors(path)
    texts = {key: json.dumps(value) for key, value in data.items() if key != "digest"} | metadata
    kept = {key: text for key, text in texts.items() if text is not None}
    written(path, kept, {name: x for name, x in (numbers | tensors).items() if x is not None})
    with pytest.raises(ValueError, match=rf"^net\.safetensors: .*{message}"):
        load(path)


class Bomb:
    """What runs a command when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("name", ["net.json", "net.safetensors", "net.onnx", "net.pt", "net.pkl"])
def test_nothing_is_unpickled(name, tmp_path):
    (tmp_path / "plain").write_bytes(pickle.dumps(Bomb(tmp_path / "went off")))
    torch.save(Bomb(tmp_path / "went off"), tmp_path / "torch")
    for kind in ("plain", "torch"):
        (tmp_path / name).write_bytes((tmp_path / kind).read_bytes())
        with pytest.raises(ValueError, match=rf"^{name}: (This is not|An ONNX file)"):
            load(tmp_path / name)
    assert not (tmp_path / "went off").exists()


def test_the_library_never_asks_for_pickle():
    for path in sorted((ROOT / "turing").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, (ast.Import, ast.ImportFrom)) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            assert not {"pickle", "cPickle", "dill", "joblib", "shelve", "marshal"} & {*names}, path
            if isinstance(node, ast.Attribute) and node.attr in ("load", "loads"):
                assert ast.unparse(node) not in ("torch.load", "pickle.load", "pickle.loads"), path


@pytest.mark.parametrize("library", ["safetensors", "onnx", "onnxscript"])
def test_a_library_that_is_missing_is_named_with_the_command_that_installs_it(library, monkeypatch, tmp_path):
    ending = "safetensors" if library == "safetensors" else "onnx"
    save(AND(2), tmp_path / "and.safetensors")
    for name in [name for name in sys.modules if name.split(".")[0] == library] + [library]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=f"needs the package {library}, which is missing: pip install {ending}"):
        save(compiled("bb2"), tmp_path / f"net.{ending}")
    if ending == "safetensors":
        with pytest.raises(ImportError, match="pip install safetensors"):
            load(tmp_path / "and.safetensors")


# ONNX.


def onnx_step(path):
    """The step of a file as a function of tensors, run by onnxruntime."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def step(**tensors):
        (found,) = session.run(["next"], {name: tensor.numpy() for name, tensor in tensors.items()})
        return torch.from_numpy(found)

    return step


def assert_runs_agree(step, net, word, limit=T):
    """Each runs on its own numbers, one pass after the other, to the end; and what is read is the machine's run."""
    tape, theirs, state = net.encode(word), net.initial(word), net.start([word])
    given = {"tape": tape} if tape is not None else {}
    columns, trace = [], list(net.machine.trace(word, limit))
    for now in trace[1:]:
        reading = None
        while reading is None:
            history = {"history": torch.stack([theirs, *columns])[1:]} if given else {}
            columns, other = [*columns, theirs], step(column=theirs, **history, **given)
            with torch.no_grad():
                state = net.step(state)
            ours = list(state.vectors.values())[-1].squeeze(0)
            assert torch.equal(other, ours), f"step {now.step} on {word!r}"
            assert other.dtype == ours.dtype
            theirs = net._embedded(other, state.passes)
            (reading,) = net.read(state)
        assert (reading.state, reading.symbol) == (now.state, now.symbol)
    return len(trace) - 1


@pytest.mark.parametrize("name", ALL)
def test_the_step_in_onnx_gives_what_torch_gives_and_says_nothing_of_where_it_was_made(name, tmp_path, capfd):
    import onnx

    net = compiled(name)
    before = {key: numbers.clone() for key, numbers in net.state_dict().items()}
    save(net, tmp_path / "step.onnx")
    assert capfd.readouterr() == ("", "")
    assert net.training
    assert all(numbers.requires_grad for numbers in net.parameters())
    assert all(torch.equal(before[key], numbers) for key, numbers in net.state_dict().items())
    model = onnx.load(tmp_path / "step.onnx")
    metadata = {entry.key: json.loads(entry.value) for entry in model.metadata_props}
    assert metadata == json.loads(json.dumps(ir.structure(net.ir()))) | {"turing": "step"}
    assert [x.name for x in model.graph.input] == ["column", "history", "tape"]
    assert "pipeline.carry.weight" in {x.name for x in model.graph.initializer}
    raw = (tmp_path / "step.onnx").read_bytes()
    assert str(ROOT).encode() not in raw
    assert b"site-packages" not in raw
    step = onnx_step(tmp_path / "step.onnx")
    assert sum(assert_runs_agree(step, net, word) for word in words(name)) > 0


@pytest.mark.slow
@pytest.mark.parametrize(("adder", "dtype"), [("ripple", torch.float32), ("lookahead", torch.float64)])
def test_the_step_in_onnx_may_have_the_papers_adder_or_another_type(adder, dtype, tmp_path):
    net = compiled("balanced_parentheses", adder=adder).to(dtype)
    save(net, tmp_path / "step.onnx")
    step = onnx_step(tmp_path / "step.onnx")
    assert assert_runs_agree(step, net, "B()()E") > 9


def test_onnx_is_not_read_back_and_the_message_says_what_is(tmp_path):
    (tmp_path / "step.onnx").write_bytes(b"")
    with pytest.raises(
        ValueError, match=r"^step\.onnx: An ONNX file .* not read back\. Save .* \.json or \.safetensors"
    ):
        load(tmp_path / "step.onnx")


@pytest.mark.parametrize(("kind", "arithmetic"), [("ss95", "float64"), ("ss95-realtime", "float32")])
def test_the_pass_of_a_recurrent_network_in_onnx_gives_what_torch_gives(kind, arithmetic, tmp_path):
    import onnx

    net = turing.compile(zoo["bb3"], kind, arithmetic=arithmetic)
    save(net, tmp_path / "step.onnx")
    assert [x.name for x in onnx.load(tmp_path / "step.onnx").graph.input] == ["column"]
    step = onnx_step(tmp_path / "step.onnx")
    for word in words("bb3"):
        assert assert_runs_agree(step, net, word, 5) == 5


class Columns(Heads):
    """Heads that look at earlier columns, and none that looks at the word; or the other way round."""

    construction = "columns"

    def __init__(self, machine, word: bool = False):
        super().__init__(machine, "float32")
        self.options = {"word": word}
        for name in ["argmax", "norm", *(["strict", "offset"] if word else ["cross"])]:
            del self.pipeline[name]


@pytest.mark.parametrize(("word", "more"), [(True, "tape"), (False, "history")])
def test_a_construction_of_ones_own_is_saved_as_onnx_with_the_inputs_that_it_has(word, more, tmp_path):
    import onnx

    net = Columns(zoo["bb2"], word)
    save(net, tmp_path / "step.onnx")
    model = onnx.load(tmp_path / "step.onnx")
    assert [x.name for x in model.graph.input] == ["column", more]
    assert {entry.key for entry in model.metadata_props} == {"turing", "construction", "options"}  # not registered
    column, rows = torch.rand(net.layout.width), torch.rand(5, net.layout.width)
    with torch.no_grad():
        assert torch.allclose(
            onnx_step(tmp_path / "step.onnx")(column=column, **{more: rows}), net(column, **{more: rows})
        )


@pytest.mark.parametrize(
    ("network", "what"), [(AND(2), "AND"), (Cells(zoo["bb2"]), "Cells, whose state is a row of c")]
)
def test_only_a_compiled_network_with_a_column_is_saved_as_onnx(network, what, tmp_path):
    with pytest.raises(
        (TypeError, ValueError), match=f"with a column is saved as ONNX, .*, and {what}.* was given. Save it as .json"
    ):
        save(network, tmp_path / "net.onnx")


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (lambda: compiled("bb2").bfloat16(), "and this network is in bfloat16. Use network.float"),
        (
            lambda: turing.compile(zoo["bb2"], "ss95"),
            "and this network is in exact. Compile it with such an arithmetic",
        ),
    ],
)
def test_other_arithmetic_is_not_saved_as_onnx(network, message, tmp_path):
    with pytest.raises(ValueError, match=f"in float32 or float64, {message}"):
        save(network(), tmp_path / "net.onnx")


# Names for hooks.


@pytest.mark.parametrize("adder", ["ripple", "lookahead"])
def test_a_hook_on_any_module_fires_once_a_step_under_the_name_in_the_file(adder):
    net = compiled("bb3", adder=adder)
    modules = dict(net.named_modules())
    assert {f"pipeline.{name}" for name in net.pipeline} < set(modules)
    leaves = {name.rpartition(".")[0] for name in net.state_dict() if not name.endswith(("null_key", "null_value"))}
    fired = []
    for name in leaves | {f"pipeline.{name}" for name in net.pipeline}:
        modules[name].register_forward_hook(lambda *_, name=name: fired.append(name))
    column, tape = net.initial(""), net.encode("")
    net(column, column.unsqueeze(0)[:0], tape)
    assert len(fired) == len(set(fired))
    assert set(fired) == leaves | {f"pipeline.{name}" for name in net.pipeline}
    once = sorted(fired)
    fired.clear()
    state = net.step(net.start([""]))
    assert sorted(fired) == once
    fired.clear()  # keys and values of the word are made once, in the first step
    net.step(state)
    assert sorted(fired) == [name for name in once if name not in ("pipeline.initial.key", "pipeline.initial.value")]


def test_a_hook_sees_the_vectors_of_activations_and_what_it_returns_is_used():
    net = compiled("balanced_parentheses")
    word, carry = "B()E", net.pipeline["carry"]
    seen = []
    with torch.no_grad(), carry.register_forward_hook(lambda _, __, out: seen.append(out)):
        net.run(word)
    assert all(torch.equal(out[0, 0], net.activations(word, k)["carry"]) for k, out in enumerate(seen, start=1))
    with carry.register_forward_hook(lambda _, __, out: torch.zeros_like(out)):
        assert net.run(word).status == "jammed"
    assert net.run(word).status == "halted"


def test_a_hook_on_a_layer_of_a_recurrent_network_fires_in_floats():
    net = turing.compile(zoo["bb2"], "ss95", arithmetic="float64")
    seen = []
    dict(net.named_modules())["network.layers.F3"].register_forward_hook(lambda *_: seen.append(1))
    assert len(seen) == 0
    run = net.run()
    assert len(seen) == run.micro_steps


# The page.


def test_the_code_that_the_page_shows_and_does_not_run_runs(tmp_path, monkeypatch, capsys):
    """Where safetensors and onnxruntime are not installed, as in Colab, the page still runs from top to bottom."""
    cells = json.loads((ROOT / "book/research.ipynb").read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    blocks = [block.split("```")[0] for block in text.split("```python\n")[1:]]
    assert len(blocks) == 2
    monkeypatch.chdir(tmp_path)
    exec("\n".join(blocks), {})
    assert capsys.readouterr().err == ""
