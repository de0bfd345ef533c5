"""Odd names, sizes, numbers and damage in the networks whose tape is in their tokens or in a row of cells."""

import subprocess
import sys

import pytest
import torch

import turing
from turing.circuits import Circuit, GateByGate, to_transformer_lens
from turing.cli import main
from turing.comparison import compare, fit
from turing.wcm import CapacityError

Machine = turing.TuringMachine
PARENTHESES = turing.zoo["balanced_parentheses"]
SMALL = {"liwang25": {}, "li24": {"T": 9, "cells": 6}}
OR = Circuit("a b", {"s": ("OR", "a", "b")})


@pytest.mark.parametrize("construction", SMALL)
@pytest.mark.parametrize("kappa", [float("inf"), float("nan"), 1e300])
def test_a_kappa_without_end_is_refused(construction, kappa):
    net = turing.compile(PARENTHESES, construction, **SMALL[construction])
    next(iter(net.pipeline.values())).kappa = kappa
    with pytest.raises(ValueError, match=r"is infinite or not a number|is too small"):
        net.run("B()E")


@pytest.mark.parametrize("construction", SMALL)
def test_a_number_that_is_none_makes_no_clean_token(construction):
    net = turing.compile(PARENTHESES, construction, **SMALL[construction])
    with torch.no_grad():
        net.pipeline["unembed"].bias[0] = float("nan")
    with pytest.raises(ArithmeticError):
        net.run("B()E")


def test_a_circuit_refuses_an_infinite_kappa():
    net = GateByGate(OR)
    assert net.evaluate("11") == {"s": 1}
    net.pipeline["first"].kappa = float("inf")
    with pytest.raises(ValueError, match="κ = inf is infinite"):
        net.evaluate("11")


def test_a_cell_that_is_left_without_a_symbol_is_refused():
    net = turing.compile(PARENTHESES, "conv", cells=8)
    with torch.no_grad():
        net.pipeline["move"].bias[net.layout.sym["*"]] = -3
    with pytest.raises(ArithmeticError, match=r"At step 3 no symbol is written on cell 2"):
        net.run("B()E")


def test_a_head_that_is_lost_in_the_middle_is_no_lack_of_room():
    machine = Machine({("a", "x"): ("h", "x", 1)}, "a", {"h"}, "_", alphabet=["x", "_"])
    net = turing.compile(machine, "conv", cells=6)
    with torch.no_grad():
        net.pipeline["move"].weight[net.layout.st["h"]] = 0
    with pytest.raises(ArithmeticError, match="a rule applies, and no cell has the head"):
        net.run("xxx")


def test_a_rollout_is_in_the_window_of_the_run():
    machine = Machine({("a", "_"): ("b", "x", -1), ("b", "_"): ("a", "y", -1)}, "a", (), "_")
    net = turing.compile(machine, "liwang25")
    run, cache = net.run_with_cache("", 6)
    assert torch.equal(net.rollout("", run.micro_steps)[1:], cache["embed"])


def test_a_word_that_is_longer_than_its_window_is_refused():
    net = turing.compile(PARENTHESES, "liwang25")
    with pytest.raises(CapacityError, match="The word has 4 cells, and the window 2"):
        net.within(2).rollout("B()E", 1)


@pytest.mark.parametrize("construction", ["liwang25", "conv", "li24"])
def test_names_may_have_spaces(construction):
    machine = Machine({("a b", "c"): ("a", "b c", 1), ("a", "b c"): ("h", "c", 1)}, "a b", {"h"}, "c")
    net = turing.compile(machine, construction, **({"T": 4, "cells": 5} if construction == "li24" else {}))
    assert net.run(["c", "b c"]) == machine.run(["c", "b c"])
    assert turing.verify(net, machine, [["c", "b c"], []], 4)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: turing.compile(PARENTHESES, "liwang25").run("B()E", window=10**9),
        lambda: turing.compile(PARENTHESES, "conv", cells=10**9),
        lambda: turing.compile(PARENTHESES, "li24", T=10**6),
    ],
)
def test_sizes_that_would_fill_the_memory_are_refused(ask):
    with pytest.raises(ValueError, match=r"100000|1,000,000"):
        ask()


def test_a_pass_beyond_the_last_gate_is_refused():
    with pytest.raises(ValueError, match="has positions for 2 passes, and no more"):
        GateByGate(OR).rollout("11", 9)


def test_runs_of_one_step_have_no_exponent():
    runs = [compare(turing.zoo["bb2"], "", steps, ["wcm21"]) for steps in (0, 1)]
    with pytest.raises(ValueError, match="take at least three runs"):
        fit(runs, "wcm21", "width")


def test_the_command_line_says_in_a_line_that_a_row_of_cells_is_no_onnx(tmp_path, capsys):
    assert main(["compile", "bb2", "--network", "conv", "-o", str(tmp_path / "x.onnx")]) == 2
    assert "whose state is a row of cells, was given" in capsys.readouterr().err


@pytest.mark.parametrize(
    "first", [*(pytest.param(name, marks=pytest.mark.slow) for name in ("circuits", "queue")), "conv"]
)
def test_constructions_are_in_the_order_of_the_book_whichever_is_imported_first(first):
    code = f"import turing.{first}; from turing.construction import constructions; print(*constructions())"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = "wcm21 ss95 ss95-realtime perez21 bhattamishra20 merrill24 li24 liwang25 conv"
    assert ran.stdout.split() == names.split()


def test_what_transformer_lens_cannot_hold_is_refused_before_it_is_imported(monkeypatch):
    with pytest.raises(TypeError, match="A GateByGate network, such as li24, has this form, and LiWang25 was given"):
        to_transformer_lens(turing.compile(PARENTHESES, "liwang25"))
    with pytest.raises(ValueError, match="TransformerLens has softmax attention, and this network has none"):
        to_transformer_lens(GateByGate(OR, kappa=None))
    monkeypatch.setitem(sys.modules, "transformer_lens", None)
    with pytest.raises(ModuleNotFoundError, match="Install it: pip install transformer-lens"):
        to_transformer_lens(GateByGate(OR))
