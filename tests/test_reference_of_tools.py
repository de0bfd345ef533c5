"""The reference of research and of widgets: its examples run when they are copied, and what it says is true."""

import doctest
import json
import re
import textwrap

import pytest
import torch
from nbformat.v4 import new_code_cell, new_notebook, writes
from test_reference_examples import examples

import turing
from book import ROOT
from turing import widgets
from turing.construction import constructions
from turing.corpora import corpus
from turing.corpora.circuit import Edge, circuit, score
from turing.corpora.labels import labels_of
from turing.decompiler import Refusal, damage, disguise
from turing.grading import notebooks
from turing.study import (
    Copies,
    Dropout,
    Flip,
    Gaussian,
    Prune,
    Round,
    accuracy,
    bend,
    cross_entropy,
    deviations,
    difference,
    direction,
    distance,
    first_failure,
    first_failures,
    forced,
    lesson,
    perturbed,
    rolled,
    squares,
    sweep,
    train,
)
from turing.widgets.stepper.widget import Stepper

torch.set_num_threads(1)
RESEARCH, WIDGETS = ((ROOT / f"book/library-{name}.md").read_text(encoding="utf-8") for name in ("research", "widgets"))
WORD = "11"


def network(name):
    """A small network, in floats where there is a choice."""
    options = {"T": 16, "adder": "lookahead"} if name == "wcm21" else {}
    try:
        return turing.compile(turing.zoo["bb2"], name, arithmetic="float32", **options)
    except TypeError:
        return turing.compile(turing.zoo["bb2"], name, **options)


NETS = {name: network(name) for name in constructions() if name != "whole-tape"}  # which another test registers


def copies(net):
    return perturbed(net, Gaussian(), 0.0, [1])


def loss(net):
    return lambda: sum(numbers.double().square().sum() for numbers in net.parameters())


def found(net, measure):
    given = lesson(net, [WORD])
    return measure(net, forced(net, given), given)


TOOLS = {
    "first_failure": lambda net: first_failure(net, [WORD]),
    "first_failures": lambda net: first_failures(net, copies(net), [WORD]),
    "sweep": lambda net: sweep(net, Gaussian(), [0.0], [1], [WORD]),
    "deviations": lambda net: deviations(net, copies(net), WORD),
    "Copies": lambda net: Copies(net, copies(net)),
    "lesson": lambda net: lesson(net, [WORD]),
    "forced": lambda net: forced(net, lesson(net, [WORD])),
    "rolled": lambda net: rolled(net, lesson(net, [WORD])),
    "squares": lambda net: found(net, squares),
    "cross_entropy": lambda net: found(net, cross_entropy),
    "accuracy": lambda net: found(net, accuracy),
    "perturbed": copies,
    "train": lambda net: train(net, loss(net), 1, rate=0.0),
    "bend": lambda net: bend(net, loss(net), direction(net, 1)),
    "difference": lambda net: difference(net, net),
    "distance": lambda net: distance(net, net),
    "turing.corpus": lambda net: next(corpus(1, construction=net.construction)),
    "labels_of": labels_of,
    "circuit": circuit,
    "score": lambda net: score(circuit(net), net),
    "turing.decompile": turing.decompile,
    "turing.repair": turing.repair,
    "disguise": disguise,
    "damage": damage,
}


def rows():
    """The tools of each row of the table, and the constructions that they take."""
    table = RESEARCH.split("## Which constructions a tool takes")[1].split("\n## ")[0]
    for tools, takes in re.findall(r"^\| (`.+) \| (.+) \|$", table, re.MULTILINE):
        first = takes.split(";")[0].split(", in ")[0]
        named = {name for name in re.findall(r"`([^`]+)`", first) if name in NETS}
        taken = {*NETS} - named if first.startswith("all") else named
        yield from ((tool, taken) for tool in re.findall(r"`([^`]+)`", tools))


def test_the_table_says_which_constructions_each_tool_takes_and_all_others_are_refused():
    said = dict(rows())
    assert set(said) == {*TOOLS, "turing.save", ".onnx"}
    for tool, taken in said.items():
        for name, net in NETS.items() if tool in TOOLS else ():
            if name in taken:
                TOOLS[tool](net)
            else:
                with pytest.raises((TypeError, Refusal)) as refused:
                    TOOLS[tool](net)
                assert len(str(refused.value)) > 50, (tool, name)


def test_the_table_says_that_onnx_takes_all_but_a_row_of_cells(monkeypatch, tmp_path):
    """Up to the exporter, which tests/test_exchange.py runs."""
    from turing.files import onnx_file

    class Exported(Exception):
        pass

    def exported(network):
        raise Exported

    monkeypatch.setattr(onnx_file, "_exported", exported)
    for name in NETS:
        with pytest.raises(Exported if name in dict(rows())[".onnx"] else ValueError):
            turing.save(NETS[name], tmp_path / "step.onnx")


def test_a_refusal_says_what_to_take_instead():
    with pytest.raises(TypeError, match=r"conv in float32 arithmetic has none\. Take wcm21 or li24\."):
        lesson(NETS["conv"], [WORD])
    with pytest.raises(TypeError, match=r"ss95 in exact arithmetic has none"):
        lesson(turing.compile(turing.zoo["bb2"], "ss95"), [WORD])
    with pytest.raises(TypeError, match=r"Copies run side by side .* Take wcm21 or li24\."):
        first_failure(NETS["liwang25"], [WORD])
    with pytest.raises(TypeError, match=r"of a wcm21 network; li24 has no st\."):
        found(NETS["li24"], squares)
    with pytest.raises(TypeError, match=r"conv has a row of cells\. Take another construction\."):
        circuit(NETS["conv"])


def test_a_corpus_has_labels_for_the_heads_of_every_construction():
    for name in NETS:
        (example,) = corpus(1, construction=name)
        assert set(example.labels) == {"slices", "vectors", "axes", "rules", "heads"}
        json.dumps(example.labels)
    (example,) = corpus(1, adder="lookahead")
    assert example.labels["rules"][0] == {
        "rule": ["q0", "_", "q1", "1", -1],
        "vector": "detect",
        "detector": "det[q0 _]",
    }
    assert example.labels["heads"]["visited"]["fetches"] == [["1", "scr4[visited]"]]
    assert set(example.labels["heads"]["visited"]) == {"over", "compares", "fetches"}


def test_an_edge_may_be_a_plain_tuple_and_anything_else_is_refused():
    net = NETS["wcm21"]
    right = circuit(net)
    assert Edge("detect", "st[A]", "det[A 0]") in right
    assert score([tuple(edge) for edge in right], net) == score(map(list, right), net) == 1
    assert score([("detect", "st[A]", "det[A 0]")], net) == score([Edge("detect", "st[A]", "det[A 0]")], net) > 0
    for wrong in ("detect", ("st[A]", "det[A 0]"), ("detect", 1, 2), 7):
        with pytest.raises(TypeError, match=r"^An edge is like Edge\("):
            score([wrong], net)


def test_the_difference_of_networks_with_a_table_of_positions_has_numbers_for_places():
    net, built = (turing.compile(turing.zoo["bb2"], "li24", T=4) for _ in range(2))
    with torch.no_grad():
        net.positions[2, 3] += 5
    (change,) = difference(net, built)
    assert change[:3] == ("positions", "2", "3")


def test_a_first_column_of_parameters_is_read_without_a_warning(recwarn):
    net = turing.compile(turing.zoo["bb2"], "conv")
    assert "initial" not in turing.decompile(net, net.initial("")).unknown
    assert not recwarn.list


def test_the_levels_of_the_page_are_levels():
    given = dict(re.findall(r"^\| `(\w+)\(\)` \| .+ \| `(.+)` \|$", RESEARCH, re.MULTILINE))
    kinds = {kind.__name__: kind for kind in (Gaussian, Dropout, Prune, Flip, Round)}
    assert set(given) == set(kinds)
    own = {name: numbers.detach() for name, numbers in NETS["wcm21"].named_parameters()}
    for name, kind in kinds.items():
        assert any((kind()(own, json.loads(given[name]), 1)[part] != own[part]).any() for part in own), name


@pytest.mark.parametrize(
    "module", ["study", "corpora", "decompiler", "modules", "exact", "exercises.weights", "grading"]
)
def test_an_example_needs_no_name_that_it_does_not_import(module):
    runner = doctest.DocTestRunner(verbose=False)
    for test in examples(module):
        test.globs = {"turing": turing, "__name__": "__main__"}
        runner.run(test)
    assert runner.tries > 0
    assert runner.failures == 0


@pytest.mark.parametrize("name", widgets.__all__)
def test_the_example_of_a_widget_is_that_widget(name):
    text = textwrap.dedent("    " + getattr(widgets, name).__doc__)
    block = re.search(r"^Example::\n\n((?:    .*\n|\n)+)", text, re.MULTILINE)
    if block is None:
        assert f">>> {name}(" in text or name in ("LockStep", "Lab")
        return
    lines = textwrap.dedent(block[1]).strip()
    start = lines.index(f"{name}(")
    given = {"turing": turing, name: getattr(widgets, name)}
    exec(lines[:start], given)
    assert isinstance(eval(lines[start:], given), getattr(widgets, name))


def test_the_table_of_widgets_has_each_once_and_a_page_that_shows_it():
    listed = re.findall(r"`(\w+) <turing\.widgets\.\1>` \| (.+) \|$", WIDGETS, re.MULTILINE)
    assert sorted(name for name, _ in listed) == sorted(widgets.__all__)
    assert [name for name, _ in listed] == re.findall(r"autoclass:: turing\.widgets\.(\w+)", WIDGETS)
    for name, pages in listed:
        for page in re.findall(r"\{doc\}`([\w-]+)`", pages):
            cells = json.loads((ROOT / f"book/{page}.ipynb").read_text(encoding="utf-8"))["cells"]
            code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
            assert re.search(rf"\b{name}\(", code), (name, page)


def test_a_live_attribute_can_be_observed():
    seen = []
    stepper = Stepper(turing.zoo["binary_increment"], "1011")
    stepper.observe(lambda change: seen.append(change.new), "step")
    stepper.step = 3
    assert seen == [3]


def test_the_example_of_grading_grades_a_folder(tmp_path, monkeypatch, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", WIDGETS, re.DOTALL)
    (tmp_path / "class/ada").mkdir(parents=True)
    cells = ["import turing", "def even_ones():\n    return None"]
    text = writes(new_notebook(cells=[new_code_cell(cell) for cell in cells]))
    (tmp_path / "class/ada/machines.ipynb").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    assert "ada/machines.ipynb  failed" in capsys.readouterr().out
    assert "ada/machines.ipynb,machines,even_ones,failed," in (tmp_path / "grades.csv").read_text(encoding="utf-8")
    assert "even_ones: failed" in (tmp_path / "feedback/ada/machines.txt").read_text(encoding="utf-8")


def test_a_single_notebook_is_one_place(tmp_path):
    path = tmp_path / "ada.ipynb"
    path.write_text("{}", encoding="utf-8")
    assert notebooks(str(path)) == notebooks(path) == notebooks([path]) == {"ada.ipynb": path}
