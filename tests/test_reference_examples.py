"""The reference of constructions, engines and the prover: its examples run as copied, and what it says is true."""

import ast
import builtins
import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
from inspect import signature

import pytest
import torch

import turing
from book import ROOT
from turing.attention import least_kappa
from turing.cantor import Cantor
from turing.circuits import GateByGate, Li24
from turing.circuits.circuit import KINDS, Circuit
from turing.circuits.invariant import MAX_TOKENS
from turing.conv.network import ARITHMETICS, RowOfCells
from turing.engine import measured
from turing.engine.bits import LARGEST
from turing.proof import search
from turing.proof.proof import INVARIANTS
from turing.queue import LiWang25
from turing.queue.invariant import MAX_PAIRS, met
from turing.queue.tokens import vocabulary
from turing.ss import SS95, SS95RealTime, StackNetwork
from turing.stack_machine import balanced
from turing.zoo import zoo

NAMES = ("constructions", "engines", "prover")
PAGES = {name: (ROOT / f"book/library-{name}.md").read_text(encoding="utf-8") for name in NAMES}
CHAPTERS = "wcm ss cantor stack_machine perez bhattamishra merrill circuits queue conv comparison assembly precision"
BALANCED = zoo["balanced_parentheses"]


@pytest.mark.parametrize("page", PAGES)
def test_the_code_in_the_page_runs_in_any_folder_and_prints_what_it_says(page, tmp_path):
    blocks = {kind: re.findall(rf"```{kind}\n(.*?)```", PAGES[page], re.DOTALL) for kind in ("python", "text")}
    assert len(blocks["python"]) == len(blocks["text"]) == 1
    path = os.pathsep.join(map(str, (ROOT, ROOT / "tests")))  # where whole_tape.py is
    ran = subprocess.run(
        [sys.executable, "-c", blocks["python"][0]],
        capture_output=True, text=True, check=True, cwd=tmp_path, env=os.environ | {"PYTHONPATH": path},
    )  # fmt: skip
    assert ran.stdout == blocks["text"][0]


def examples(module):
    """The docstrings with examples in a module and below it."""
    top = importlib.import_module(f"turing.{module}")
    names = [
        top.__name__,
        *(each.name for each in pkgutil.walk_packages(getattr(top, "__path__", []), f"{top.__name__}.")),
    ]
    for name in names:
        yield from (
            found for found in doctest.DocTestFinder().find(importlib.import_module(name), name) if found.examples
        )


# A chapter shows its source, with the docstring; the page says where its imports are.
WITHOUT_IMPORTS = {"turing.proof.heads.greatest"}


@pytest.mark.parametrize("module", [*CHAPTERS.split(), "engine", "proof"])
def test_an_example_imports_what_it_uses_and_nothing_else(module):
    for found in examples(module):
        if found.name in WITHOUT_IMPORTS:
            continue
        nodes = [node for example in found.examples for node in ast.walk(ast.parse(example.source))]
        imported = {
            (alias.asname or alias.name).split(".")[0]
            for node in nodes
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for alias in node.names
        }
        names = {kind: {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, kind)}
                 for kind in (ast.Load, ast.Store)}  # fmt: skip
        own = names[ast.Store] | {node.arg for node in nodes if isinstance(node, ast.arg)}
        assert names[ast.Load] - imported - own - {*dir(builtins)} == set(), found.name
        assert imported - names[ast.Load] == set(), found.name


def test_every_construction_has_a_row_and_its_options_are_described():
    for name, kind in turing.constructions().items():
        if kind.__module__.startswith("turing."):
            public = f"{kind.__module__.rpartition('.')[0]}.{kind.__name__}"
            assert f"{{py:class}}`{name} <{public}>`" in PAGES["constructions"].partition("Not sure?")[0]
            for option in list(signature(kind).parameters)[1:]:
                assert f"``{option}``" in kind.__doc__, (name, option)


def weights(network):
    return sum(numbers.numel() for numbers in network.parameters())


def test_lookahead_has_about_a_tenth_of_the_weights():
    for name in ("balanced_parentheses", "bb4", "universal"):
        ripple, lookahead = (
            turing.compile(zoo[name], "wcm21", T=128, adder=adder) for adder in ("ripple", "lookahead")
        )
        assert 0.09 < weights(lookahead) / weights(ripple) < 0.13


def test_the_chooser_says_which_networks_have_few_weights_and_which_is_fast():
    options = {name: {"T": 19} if name in ("wcm21", "li24") else {} for name in turing.constructions()}
    few = {
        name: weights(turing.compile(BALANCED, name, **options[name]))
        for name, kind in turing.constructions().items()
        if kind.__module__.startswith("turing.")
    }
    assert (min(few, key=few.__getitem__), max(few, key=few.__getitem__)) == ("conv", "bhattamishra20")
    assert few["ss95-realtime"] > 5 * few["ss95"]
    assert few["liwang25"] == sorted(few.values())[1]
    took = measured()["constructions"]["seconds"]
    assert min(took, key=lambda name: took[name]["run"]) == "conv"


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_wcm21_is_exact_in_every_float_type(dtype):
    assert turing.compile(BALANCED, "wcm21", T=100).to(dtype).run("B(())E") == BALANCED.run("B(())E")


def test_each_doubling_of_T_adds_one_position_bit():
    nets = [turing.compile(zoo["bb2"], "wcm21", T=T, adder="lookahead") for T in (2**10, 2**11, 2**40)]
    assert [net.bits for net in nets] == [10, 11, 40]
    assert all("T=2**40" in text for text in (PAGES["engines"], turing.wcm.WCM21.__doc__))


def test_a_circuit_has_no_run_and_its_hooks_see_what_vectors_of_says():
    net = GateByGate(Circuit("a b", {"sum": ("XOR", "a", "b"), "carry": ("AND", "a", "b")}))
    for refused in (net.run, lambda word: net.activations(word, 1), lambda _: turing.verify(net, BALANCED, [""]),
                    lambda _: turing.prove(net), lambda _: turing.save(net, "net.safetensors")):  # fmt: skip
        with pytest.raises((TypeError, ValueError)):
            refused("11")
    seen = {name: [] for name in net.pipeline}
    for name, module in net.pipeline.items():
        names = net.layout_of(name).names()
        module.register_forward_hook(
            lambda module, given, made, name=name, names=names: seen[name].append(
                {names[place]: 1 for place in made.flatten().nonzero().flatten().tolist()} if made.shape[0] == 1 else {}
            )
        )
    net.evaluate("11")
    for gate, wire in enumerate((2, 3)):
        wanted = net.vectors_of(net.circuit.values("11"), wire)
        assert wanted == {name: found[gate - 2] for name, found in seen.items()}


def test_the_hooks_of_transformer_lens_are_those_that_are_tested():
    tested = (ROOT / "tests/test_transformer_lens.py").read_text(encoding="utf-8")
    places = dict(re.findall(r'"(column|second|gate)": "(hook_\w+)"', tested))
    rows = re.findall(
        r"^\| `blocks\.0\.(hook_\w+)` \| .*?(column|`second`|`gate`)", PAGES["constructions"], re.MULTILINE
    )
    assert {name.strip("`"): hook for hook, name in rows} == places


def test_li24_raises_a_plain_overflow_error():
    with pytest.raises(OverflowError) as raised:
        Li24(BALANCED, T=4, cells=5, left=0).run("B)E")
    assert not isinstance(raised.value, turing.CapacityError)


def test_a_kappa_of_208_is_enough_in_float32():
    assert least_kappa(torch.float32) == 208
    net = turing.compile(BALANCED, "wcm21", T=16, kappa=208)
    assert net.run("B()E") == BALANCED.run("B()E")
    with pytest.raises(ValueError, match="Take κ = 208 or more"):
        turing.compile(BALANCED, "wcm21", T=16, kappa=207).run("B()E")


def test_one_bit_more_than_the_default_is_enough_for_every_word_of_at_most_T_cells():
    right = turing.TuringMachine({("A", "0"): ("A", "0", 1), ("A", "_"): ("A", "_", 1)}, "A", (), "_")
    for T in (1, 2, 5, 8):
        usual = turing.compile(right, "wcm21", T=T).bits
        assert usual == max(1, (T - 1).bit_length())
        for n in (0, T):
            net = turing.compile(right, "wcm21", T=T, bits=usual + 1)
            assert max(n, 1) + T <= 2**net.bits
            assert net.run("0" * n) == right.run("0" * n, T)


def test_floats_hold_stacks_as_deep_as_the_reference_says():
    depths = {
        kind: [kind(BALANCED, name).network.code.depth for name in ("float32", "float64")]
        for kind in (SS95, SS95RealTime)
    }
    assert depths == {SS95: [12, 26], SS95RealTime: [6, 13]}
    assert [SS95(zoo["bb2"]).two.k, *(SS95(machine).two.k for machine in (zoo["bb2x4"], BALANCED))] == [1, 2, 3]
    for version, found in ((1, [6, 13]), (4, [12, 26])):
        nets = (
            turing.compile(zoo["bb2"], "bhattamishra20", arithmetic=name, version=version)
            for name in ("float32", "float64")
        )
        assert [net.network.code.depth for net in nets] == found
    assert Cantor(arithmetic="scaled", places=5).depth == 5
    assert weights(SS95(BALANCED)) < weights(SS95RealTime(BALANCED))


def test_li24_has_the_cells_that_the_reference_says():
    assert Li24(BALANCED).options == {"T": 16, "cells": 33, "left": 16, "kappa": 9999.0}
    assert Li24(BALANCED, T=9, cells=6).options["left"] == 1
    ends = {cell for heads in Li24(BALANCED, T=9, cells=6).circuit.heads for cell in heads}
    assert ends <= set(range(-2, 6))


def test_a_circuit_names_its_kinds_of_gate():
    assert all(re.search(rf"\b{kind}\b", Circuit.__doc__) for kind in ("NOT", *KINDS))
    assert [KINDS["ANDNOT"], KINDS["ORNOT"]] == [
        tuple(int(a and not b) for a in (0, 1) for b in (0, 1)), tuple(int(a or not b) for a in (0, 1) for b in (0, 1))
    ]  # fmt: skip


def test_a_row_of_cells_makes_the_same_run_in_every_arithmetic():
    runs = [RowOfCells(BALANCED, arithmetic=name).run("B(())E") for name in ARITHMETICS]
    assert runs == [runs[0]] * len(runs)
    assert all(f'``"{name}"``' in RowOfCells.__doc__ for name in ARITHMETICS)


def test_the_window_of_liwang25_begins_with_two_blank_cells():
    assert len(LiWang25(BALANCED).prompt("B()E")) == 6


def test_inputs_are_rules_that_a_1_in_x_applies():
    net = StackNetwork(balanced(), inputs={"more": ("R", ("push", "("), ("noop", None))})
    column = list(net.initial("", "", state="T"))  # no rule of the machine applies
    column[net.layout.x["more"]] = 1
    after = net.forward(net.vector(column))
    assert net.code.decode(net.stacks(after)[0]) == [0]
    assert after[net.layout.st["R"]] == 1


def test_the_words_for_speeds_are_those_that_were_measured():
    rates, words = (
        measured()["rates"],
        {"hundreds": 1e2, "thousands": 1e3, "tens of thousands": 1e4, "tens of millions": 1e7},
    )
    rows = re.findall(
        r"^\| `(torch|indexed|native)`.*? \| .+? \| (.+?)(?: at step 1,000.*?)? \|", PAGES["engines"], re.MULTILINE
    )
    assert [name for name, _ in rows] == ["torch", "indexed", "native"]
    for (_, word), rate in zip(rows, ("torch, cached, t = 1000", "indexed", "native"), strict=True):
        assert words[word] <= rates[rate] < 10 * words[word]


def test_the_gains_of_the_other_engines_are_those_of_the_benchmark():
    benchmark = (ROOT / "benchmarks/__main__.py").read_text(encoding="utf-8")
    stacks = re.findall(r'\("(ss95[\w-]*)", 10_000, (\d+)\)', benchmark)
    histories = re.findall(r'\("(perez21|merrill24)", (\d+)\)', benchmark)
    rows = re.findall(r"^\| `([\w-]+)` \| `(?:native|indexed)` \| (\d+) \|", PAGES["engines"], re.MULTILINE)
    assert len(rows) == 4
    assert sorted(rows) == sorted(stacks + histories)


def test_max_steps_counts_from_the_start_of_the_whole_run(tmp_path):
    net = turing.compile(zoo["bb4"], "wcm21", T=2**40, adder="lookahead")
    more = turing.compile(zoo["bb4"], "wcm21", T=2**41, adder="lookahead")
    options = {"engine": "indexed", "checkpoint": tmp_path / "run.npz"}
    assert net.run(max_steps=60, **options).steps == 60
    for refused, limit in ((net, 50), (more, 500)):
        with pytest.raises(ValueError, match=r"run\.npz"):
            refused.run(max_steps=limit, **options)
    assert net.run(max_steps=100, **options).steps == 100


def test_native_takes_integers_up_to_127():
    assert f"an integer from −{LARGEST} to {LARGEST}" in PAGES["engines"]


def test_the_numbers_of_the_proofs_are_true():
    page = " ".join(PAGES["prover"].split())
    pairs = len(list(met(BALANCED, vocabulary(BALANCED))))
    assert f"{pairs:,} for balanced parentheses" in page
    assert f"Beyond {MAX_TOKENS:,} tokens" in page
    assert f"Beyond {MAX_PAIRS:,} pairs" in page
    assert (search.BATCH, 2 * search.BATCH, search.STEPS, search.FEW, search.LONG) == (192, 384, 40, 24, 160)
    tried = " ".join(search.search.__doc__.split())
    assert "192 words for 40 steps each, then 24 words" in tried
    for name, kind in turing.constructions().items():
        if kind.__module__.startswith("turing.") and name not in INVARIANTS:
            assert f"`{name}`" in page.partition("Of `perez21`")[1] + page.partition("Of `perez21`")[2]


@pytest.mark.parametrize("engine", ["indexed", "native"])
def test_an_engine_looks_at_the_number_of_cells_after_1000_steps(engine):
    assert "after the first 1,000 steps" in PAGES["engines"]
    net = turing.compile(zoo["bb5"], "wcm21", T=10_000, adder="lookahead")
    run = net.run(engine=engine, cells=3)
    assert (run.status, run.steps) == ("limit", 1_000)
    assert net.run(max_steps=900, engine=engine, cells=3).steps == 900
