"""The Python side of the pipeline inspector: what it hands to a page, and what it refuses."""

import inspect
import json
import re
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
import torch
import traitlets

import turing
from turing import TuringMachine
from turing.wcm import claim
from turing.widgets import PipelineInspector

PAPER = turing.zoo["balanced_parentheses"]
NET = turing.compile(PAPER, "wcm21", T=100)
LONG = "B()((()(()))())E"
STAYS = TuringMachine([(f"s{k}", "1" if k else "_", f"s{k + 1}", "1", 0) for k in range(14)], "s0", {"s14"}, "_")
WALKS = TuringMachine([("go", "_", "go", "1", 1)], "go", {"never"}, "_")


def html(widget):
    return widget._repr_mimebundle_(include=None, exclude=None)[0]["text/html"]


def rebuilt(record):
    """Every vector, and the weights that are not 0 by key, as a page rebuilds them."""
    now = [0.0] * sum(part["size"] for part in record["slices"])
    for changes, shares in record["steps"]:
        vectors, patterns = [], []
        for places in changes:
            now = list(now)
            for place in places:
                if isinstance(place, list):
                    now[place[0]] = place[1]
                else:
                    now[place if place >= 0 else ~place] = float(place >= 0)
            vectors.append(now)
        for groups in shares:
            pairs = [group if isinstance(group, list) else [1.0, group] for group in groups]
            patterns.append({key: weight for weight, *keys in pairs for key in keys})
        yield vectors, patterns


RUNS = [
    (NET, "B(())E"),
    (NET, "B(B"),
    (turing.compile(turing.zoo["binary_increment"], "wcm21", T=32), "1011"),
    (turing.compile(STAYS, "wcm21", T=16, average="literal"), ""),
    (turing.compile(PAPER, "wcm21", T=40, bits=9).double(), "B(()E"),
]


@pytest.mark.parametrize(("net", "word"), RUNS)
def test_what_is_rebuilt_from_the_record_is_what_torch_computes(net, word):
    record = json.loads(json.dumps(PipelineInspector(net, word).record))
    names = [layer["name"] for layer in record["layers"]]
    heads = [layer["name"] for layer in record["layers"] if layer["over"]]
    assert names == ["column", *net.pipeline]
    whole = list(rebuilt(record))
    for step in sorted({1, 2, len(whole) // 2, len(whole)}):
        vectors, patterns = whole[step - 1]
        for name, vector, (told, given) in zip(names, vectors, net.activations(word, step).items(), strict=True):
            assert name == told
            assert vector == given.tolist() + [0.0] * (net.wide.width - len(given))
        for name, pattern, (told, given) in zip(heads, patterns, net.patterns(word, step).items(), strict=True):
            assert name == told
            *weights, null = given.tolist()
            assert pattern == {key: weight for key, weight in [*enumerate(weights), (-1, null)] if weight}


def test_a_record_holds_the_numbers_that_are_not_quite_1():
    record = PipelineInspector(turing.compile(STAYS, "wcm21", T=16, average="literal"), "").record
    numbers = {place[1] for changes, _ in record["steps"] for places in changes for place in places
               if isinstance(place, list)}  # fmt: skip
    assert float(torch.tensor(1.0) + 2**-23) in numbers


def test_a_record_is_small():
    assert len(json.dumps(PipelineInspector(NET, "B(())E").record)) < 20_000
    record = PipelineInspector(NET, LONG).record
    assert len(record["steps"]) == 81
    assert len(zlib.compress(json.dumps(record).encode())) < 10_000


@pytest.mark.parametrize(("net", "word"), RUNS)
def test_the_rows_are_the_configurations_of_the_machine(net, word):
    record, machine = PipelineInspector(net, word).record, net.machine
    trace = list(machine.trace(word))
    tape = machine.tape(word)
    assert [record["states"][state] for state, _ in record["rows"]] == [now.state for now in trace]
    assert [head for _, head in record["rows"]] == [now.head for now in trace]
    for now, written in zip(trace[1:], record["written"], strict=True):
        tape[trace[now.step - 1].head] = record["symbols"][written]
        assert now.cells == tape


def test_layers_are_named_by_their_classes_and_say_what_their_docstrings_say():
    layers = {layer["name"]: layer for layer in PipelineInspector(NET, "B()E").record["layers"]}
    for name, module in NET.pipeline.items():
        text = " ".join(inspect.getdoc(type(module)).split())
        assert layers[name]["module"] == type(module).__name__
        assert layers[name]["claim"] == claim(module)
        assert layers[name]["says"].lower() in text.lower()
        assert layers[name]["says"].endswith(".")
        assert layers[name]["wide"] == (NET.layout_of(name) is NET.wide)
    assert (layers["visited"]["module"], layers["visited"]["claim"]) == ("IndicateVisitedPosition", "Claim C.4")
    assert layers["transition"]["claim"] == "Lemma C.1"
    assert layers["preprocess"]["says"].startswith("Copies pos2 to pos3")
    assert layers["last"]["says"].startswith("scr1 becomes")
    heads = {name: layer["over"] for name, layer in layers.items() if layer["over"]}
    assert heads == {name: "tape" if name == "initial" else "columns" for name in NET.patterns("B()E", 1)}


def test_slices_are_those_of_the_layout_with_their_colours():
    slices = PipelineInspector(NET, "B()E").record["slices"]
    assert [(s["name"], s["size"], tuple(s["labels"]), s["colour"]) for s in slices] == [
        (part.name, part.size, part.labels, part.colour) for part in NET.wide
    ]
    assert all(s["meaning"] for s in slices)


@pytest.mark.parametrize(
    ("net", "word", "max_steps", "steps", "end"),
    [
        (NET, "B()E", None, 9, "The machine halts in state T."),
        (NET, "B(B", None, 3, "There is no rule for (R, B): the machine jams."),
        (NET, LONG, 5, 5, "The record ends here, and the machine has not halted."),
        (
            turing.compile(WALKS, "wcm21", T=8), "", None, 8,
            "At step 8 the head comes to cell 8, which has the position bits of cell 0: 8 cells can be told apart. "
            "Compile with more bits than 3.",
        ),
    ],
)  # fmt: skip
def test_the_record_says_how_the_run_ends_and_has_the_step_that_fails(net, word, max_steps, steps, end):
    record = PipelineInspector(net, word, max_steps).record
    assert (len(record["steps"]), record["end"]) == (steps, end)
    assert len(record["rows"]) == steps + (end[0] == "T" and "jams" not in end)


def test_at_first_a_step_is_shown_that_comes_back_to_a_cell_for_the_second_time():
    assert (PipelineInspector(NET, "B(())E").step, PipelineInspector(NET, "B(())E").layer) == (7, "visited")
    assert PipelineInspector(NET, "B()E", 4).step == 3
    assert PipelineInspector(NET, "B()E", 2).step == 1


def test_the_page_carries_nothing_that_changes_from_run_to_run():
    code = (
        "from test_pipeline_inspector_widget import *\n"
        "for word in ('B()E', 'B(())E'):\n"
        "    print(html(PipelineInspector(NET, word)), PipelineInspector(NET, word))\n"
    )
    run = [sys.executable, "-c", code]
    first, second = (subprocess.run(run, cwd=Path(__file__).parent, capture_output=True, check=True) for _ in range(2))
    assert first.stdout == second.stdout
    assert b'id="turing-pipelineinspector-2"' in first.stdout


def test_the_page_asks_nothing_of_the_network_and_cannot_end_its_script():
    page = html(PipelineInspector(NET, "B()E"))
    assert re.findall(r"https?://[\w.]+", page) == ["http://www.w3.org"]  # the name of SVG, not an address
    assert page.split('<script type="module">')[1].count("<") == 1


def test_the_plain_text_says_what_it_is():
    assert repr(PipelineInspector(NET, "B()E")) == f"PipelineInspector(wcm21 of {PAPER!r}, 'B()E')"


def test_the_fallback_is_the_table_of_one_step():
    inspector = PipelineInspector(NET, "B(())E")
    rows = re.findall(r"<tr><td>(.*?)</td><td>(.*?)</td><td>(.*?)</td><td>(.*?)</td></tr>", inspector.fallback())
    assert [row[0] for row in rows] == ["column", *NET.pipeline]
    said = {name: (module, claim, changed) for name, module, claim, changed in rows}
    assert said["visited"] == ("IndicateVisitedPosition", "Claim C.4", "scr4[visited] = 1")
    assert said["search6"] == ("BinarySearchStep", "Claim C.5", "nothing")
    assert said["search2"][2] == "scr3[2] = 1"
    assert said["column"][2].startswith("st[R] = 1, ")
    assert "<p>Step 7 of 19.</p>" in inspector.fallback()
    inspector.step = 1
    assert "<p>Step 1 of 19.</p>" in inspector.fallback()
    assert "st[I] = 1, sym1[B] = 1" in inspector.fallback()


def test_a_kernel_sets_step_and_layer_and_hears_of_the_page():
    inspector = PipelineInspector(NET, "B()E")
    inspector.step, inspector.layer = 9, "search3"
    inspector.set_state({"step": 2, "layer": "column"})
    assert (inspector.step, inspector.layer) == (2, "column")
    for name, value, message in [
        ("step", 0, "step is a whole number from 1 to 9 here, and 0 was given."),
        ("step", 10, "step is a whole number from 1 to 9 here, and 10 was given."),
        ("layer", "search7", "layer is one of column, transition, preprocess, adder0"),
    ]:
        with pytest.raises(ValueError, match=re.escape(message)):
            setattr(inspector, name, value)
    assert (inspector.step, inspector.layer) == (2, "column")
    with pytest.raises(traitlets.TraitError, match="read-only"):
        inspector.record = {}


TOO_LONG = "The run on this word has more than 300 steps, the most that are shown. Give max_steps=300 or less"


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: PipelineInspector(PAPER, "B()E"), TypeError, "and an object of type TuringMachine was given."),
        (lambda: PipelineInspector(NET.pipeline, "B()E"), TypeError, "turing.compile(machine, 'wcm21', T=100)"),
        (lambda: PipelineInspector(NET, "B(x)E"), ValueError, "Symbol 'x' (cell 2 of the word) is not in this"),
        (lambda: PipelineInspector(NET, 5), ValueError, "A word is a string or a sequence of symbols, and 5 was"),
        (lambda: PipelineInspector(NET, "B()E", 0), ValueError, "There is no step to show: the run ends before"),
        (lambda: PipelineInspector(NET, "B()E", 101), ValueError, "max_steps = 101 is more than T = 100"),
        (lambda: PipelineInspector(NET, "B()E", -1), ValueError, "max_steps is a whole number from 0 up, and -1"),
        (lambda: PipelineInspector(turing.compile(WALKS, "wcm21", T=400), ""), ValueError, TOO_LONG),
        (
            lambda: PipelineInspector(turing.compile(PAPER, "wcm21", T=4), "B" * 5),
            OverflowError,
            "The word has 5 cells",
        ),
    ],
)
def test_bad_input_is_refused_with_a_message_that_helps(make, error, message):
    with pytest.raises(error, match=re.escape(message)):
        make()


def test_the_library_without_torch_can_import_the_widgets():
    code = "import sys; from turing.widgets import PipelineInspector; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
