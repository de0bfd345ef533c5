"""The reference of constructions and engines: its examples run when they are copied, and what it says is true."""

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
from turing.circuits import Li24
from turing.circuits.circuit import KINDS, Circuit
from turing.conv.network import ARITHMETICS, RowOfCells
from turing.engine import measured
from turing.queue import LiWang25
from turing.ss import SS95, SS95RealTime, StackNetwork
from turing.stack_machine import balanced
from turing.zoo import zoo

PAGES = {name: (ROOT / f"book/library-{name}.md").read_text(encoding="utf-8") for name in ("constructions", "engines")}
CHAPTERS = "wcm ss cantor stack_machine perez bhattamishra merrill circuits queue conv comparison assembly precision"
BALANCED = zoo["balanced_parentheses"]


@pytest.mark.parametrize("page", PAGES)
def test_the_code_in_the_page_runs_in_any_folder_and_prints_what_it_says(page, tmp_path):
    blocks = {kind: re.findall(rf"```{kind}\n(.*?)```", PAGES[page], re.DOTALL) for kind in ("python", "text")}
    assert len(blocks["python"]) == len(blocks["text"]) == 1
    ran = subprocess.run(
        [sys.executable, "-c", blocks["python"][0]],
        capture_output=True, text=True, check=True, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)},
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


@pytest.mark.parametrize("module", [*CHAPTERS.split(), "engine"])
def test_an_example_imports_what_it_uses_and_nothing_else(module):
    for found in examples(module):
        nodes = [node for example in found.examples for node in ast.walk(ast.parse(example.source))]
        imported = {
            (alias.asname or alias.name).split(".")[0]
            for node in nodes
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for alias in node.names
        }
        names = {kind: {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, kind)}
                 for kind in (ast.Load, ast.Store)}  # fmt: skip
        assert names[ast.Load] - imported - names[ast.Store] - {*dir(builtins)} == set(), found.name
        assert imported - names[ast.Load] == set(), found.name


def test_every_construction_has_a_row_and_its_options_are_described():
    for name, kind in turing.constructions().items():
        if kind.__module__.startswith("turing."):
            public = f"{kind.__module__.rpartition('.')[0]}.{kind.__name__}"
            assert f"| options of `{name}` | {{py:class}}`{kind.__name__} <{public}>` |" in PAGES["constructions"]
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


@pytest.mark.parametrize("engine", ["indexed", "native"])
def test_an_engine_looks_at_the_number_of_cells_after_1000_steps(engine):
    assert "after the first 1,000 steps" in PAGES["engines"]
    net = turing.compile(zoo["bb5"], "wcm21", T=10_000, adder="lookahead")
    run = net.run(engine=engine, cells=3)
    assert (run.status, run.steps) == ("limit", 1_000)
    assert net.run(max_steps=900, engine=engine, cells=3).steps == 900
