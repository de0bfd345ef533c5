"""The Python side of the pipeline inspector: what it hands to a page, and what it refuses."""

import inspect
import re
import zlib

import pytest
import traitlets
from every_widget import html

import turing
from turing import TuringMachine
from turing.ir import to_dict
from turing.wcm import claim
from turing.widgets import PipelineInspector

PAPER = turing.zoo["balanced_parentheses"]
NET = turing.compile(PAPER, "wcm21", T=100)
LOOKAHEAD = turing.compile(PAPER, "wcm21", T=100, adder="lookahead")
LONG = "B()((()(()))())E"
STAYS = TuringMachine([(f"s{k}", "1" if k else "_", f"s{k + 1}", "1", 0) for k in range(14)], "s0", {"s14"}, "_")
WALKS = TuringMachine([("go", "_", "go", "1", 1)], "go", {"never"}, "_")


def bfloat16():
    return turing.compile(PAPER, "wcm21", T=100).bfloat16()


RUNS = [
    (NET, "B(())E"),
    (NET, "B(B"),
    (turing.compile(turing.zoo["binary_increment"], "wcm21", T=32), "1011"),
    (turing.compile(STAYS, "wcm21", T=16, average="literal"), ""),
    (turing.compile(PAPER, "wcm21", T=40, bits=9).double(), "B(()E"),
    (LOOKAHEAD, "B(())E"),
]


@pytest.mark.parametrize(("net", "word"), RUNS)
def test_a_page_has_the_network_as_a_file_has_it(net, word):
    record = PipelineInspector(net, word).record
    assert record["network"] == to_dict(net)
    assert [layer["name"] for layer in record["layers"]] == ["column", *net.pipeline]


def test_a_page_is_small():
    page = html(PipelineInspector(NET, LONG))
    assert len(page) < 162_000
    assert len(zlib.compress(page.encode())) < 33_000


@pytest.mark.parametrize(("net", "word"), RUNS)
def test_the_rows_are_the_configurations_of_the_machine(net, word):
    record, machine = PipelineInspector(net, word).record, net.machine
    trace = list(machine.trace(word))
    tape = machine.tape(word)
    assert [machine.states[state] for state, _ in record["rows"]] == [now.state for now in trace]
    assert [head for _, head in record["rows"]] == [now.head for now in trace]
    for now, written in zip(trace[1:], record["written"], strict=True):
        tape[trace[now.step - 1].head] = machine.symbols[written]
        assert now.cells == tape


def test_layers_are_named_by_their_classes_and_say_what_their_docstrings_say():
    layers = {layer["name"]: layer for layer in PipelineInspector(NET, "B()E").record["layers"]}
    for name, module in NET.pipeline.items():
        text = " ".join(inspect.getdoc(type(module)).split())
        assert layers[name]["module"] == type(module).__name__
        assert layers[name]["claim"] == claim(module)
        assert layers[name]["says"].lower() in text.replace("``", "").lower()
        assert layers[name]["says"].endswith(".")
    assert (layers["visited"]["module"], layers["visited"]["claim"]) == ("IndicateVisitedPosition", "Claim C.4")
    assert layers["transition"]["claim"] == "Lemma C.1"
    assert layers["preprocess"]["says"].startswith("Copies pos2 to pos3")
    assert layers["last"]["says"].startswith("scr1 becomes")


@pytest.mark.parametrize("net", [NET, LOOKAHEAD])
def test_every_slice_between_modules_has_its_colour_and_a_meaning(net):
    slices = PipelineInspector(net, "B()E").record["slices"]
    for name in ("column", *net.pipeline):
        for part in net.layout_of(name):
            assert slices[part.name]["colour"] == part.colour
            assert slices[part.name]["meaning"]


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
    assert (record["steps"], record["end"]) == (steps, end)
    assert len(record["rows"]) == steps + (end[0] == "T" and "jams" not in end)


def test_at_first_a_step_is_shown_that_comes_back_to_a_cell_for_the_second_time():
    assert (PipelineInspector(NET, "B(())E").step, PipelineInspector(NET, "B(())E").layer) == (7, "visited")
    assert PipelineInspector(NET, "B()E", 4).step == 3
    assert PipelineInspector(NET, "B()E", 2).step == 1


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
        ("step", 0, "step is an integer from 1 to 9 here, and 0 was given."),
        ("step", 10, "step is an integer from 1 to 9 here, and 10 was given."),
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
        (
            lambda: PipelineInspector(bfloat16(), "B()E"),
            ValueError,
            "and this network is in bfloat16. Show net.float().",
        ),
        (lambda: PipelineInspector(NET, "B(x)E"), ValueError, "Symbol 'x' (cell 2 of the word) is not in this"),
        (lambda: PipelineInspector(NET, 5), ValueError, "A word is a string or a sequence of symbols, and 5 was"),
        (lambda: PipelineInspector(NET, "B()E", 0), ValueError, "There is no step to show: the run ends before"),
        (lambda: PipelineInspector(NET, "B()E", 101), ValueError, "max_steps = 101 is more than T = 100"),
        (lambda: PipelineInspector(NET, "B()E", -1), ValueError, "max_steps must be an integer of at least 0, and -1"),
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
