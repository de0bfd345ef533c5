"""``turing.prove``: what it proves, that nothing wrong is proved, and what it refuses to decide."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest
import torch
from changed_weights import change, changed, confirm, small, starts
from machines import random_machines

import turing
from turing.machine import TuringMachine
from turing.proof import Diagrams, Undecided, prove, wcm21
from turing.proof.exactness import Precision
from turing.proof.heads import Condition, Form, greatest
from turing.proof.search import divergence, parts
from turing.zoo import NAMES, zoo

TYPES = ("float32", "float64", "bfloat16")


# The parts.


def test_a_diagram_has_the_value_of_its_function_everywhere():
    draw = Random(0)
    d = Diagrams({"a": 3, "b": 2, "c": 4})
    for _ in range(30):
        tables = [[float(draw.randint(-2, 2)) for _ in range(size)] for size in d.sizes]
        f = d.sum(d.variable(name, table) for name, table in zip(d.names, tables, strict=True))
        g = d.map(wcm21_relu, f)
        expected = [max(a + b + c, 0.0) for a in tables[0] for b in tables[1] for c in tables[2]]
        assert d.table(g, d.names) == expected
        assert d.leaves(g) == set(expected)
        where = d.find(g, lambda value: value == max(expected))  # noqa: B023
        assert d.value(g, where) == max(expected)
        varies = {name for name, table in zip(d.names, tables, strict=True) if len(set(table)) > 1}
        assert d.support(f) == varies


def wcm21_relu(value):
    return max(value, 0.0)


def test_the_greatest_score_under_conditions_is_that_of_trying_all():
    draw = np.random.default_rng(0)
    for _ in range(50):
        names, sizes = ["x", "y", "z"], {"x": 2, "y": 3, "z": 2}
        single = {name: draw.integers(-3, 4, sizes[name]).astype(float) for name in names}
        pairs = {("x", "y"): draw.integers(-3, 4, (2, 3)).astype(float)}
        must = Condition(("x", "y"), draw.random((2, 3)) < 0.7)
        not_all = [Condition((name,), draw.random(sizes[name]) < 0.5) for name in ("z", "y", "x")]  # two meet in a pair
        found = greatest(Form(1.0, single, pairs), sizes, [must], not_all)
        values = [
            1 + single["x"][x] + single["y"][y] + single["z"][z] + pairs["x", "y"][x, y]
            for x in range(2) for y in range(3) for z in range(2)
            if must.holds[x, y] and not all(one.holds[at] for one, at in zip(not_all, (z, y, x), strict=True))
        ]  # fmt: skip
        assert found.value == max(values, default=-np.inf)


@pytest.mark.parametrize(("value", "most"), [(1.0, 256), (0.5, 256), (-4.0, 256), (3.0, 85), (1.25, 51), (0.0, 256)])
def test_so_many_equal_values_add_up_without_rounding(value, most):
    assert Precision("bfloat16").max_ties([value]) == most
    total = torch.zeros((), dtype=torch.bfloat16)
    for count in range(1, most + 1):
        total += value
        assert total == count * value
    assert (total + value == total) == (most == 256)  # no room for one more, or nothing is added
    assert Precision("bfloat16").max_ties([value, 7.0]) == min(most, 36)


@pytest.mark.parametrize("arithmetic", TYPES)
def test_a_sum_that_passes_the_check_is_exact_in_any_order(arithmetic):
    draw, dtype, passed = Random(0), getattr(torch, arithmetic), 0
    for _ in range(400):
        scale = 2.0 ** draw.randint(-9, 9)
        numbers = [draw.randint(-40, 40) * scale for _ in range(draw.randint(2, 6))]
        try:
            Precision(arithmetic).check([(1.0, numbers)], sum(map(abs, numbers)), "")
        except Undecided:
            continue
        passed += 1
        for _ in range(3):
            draw.shuffle(numbers)
            total = torch.zeros((), dtype=dtype)
            for number in numbers:
                total = total + torch.tensor(number, dtype=dtype)
            assert total.item() == sum(map(Fraction, numbers))
    assert passed > 100


# What is proved.


def drawn(draw):
    bits = draw.randint(3, 26)
    return {"T": 2**bits, "bits": bits}, draw.choice(TYPES)


def all_of(machines, seed):
    """The networks of machines with both adders, each with a number of bits and a type of its own."""
    draw = Random(seed)
    for machine in machines:
        for adder in ("ripple", "lookahead"):
            options, arithmetic = drawn(draw)
            yield turing.compile(machine, "wcm21", adder=adder, **options).to(getattr(torch, arithmetic))


def check_all(networks):
    for network in networks:
        proof = prove(network)
        assert proof.verdict == "proved", (network.machine, network.options, str(proof))
        assert proof.horizon["steps"] == network.T
        assert proof.horizon["arithmetic"] == network.arithmetic


def test_some_machines_are_proved_with_both_adders():
    machines = [zoo["balanced_parentheses"], zoo["antihydra"], *(machine for machine, _ in random_machines(2))]
    check_all(all_of(machines, seed=3))


@pytest.mark.slow
def test_every_machine_of_the_zoo_is_proved_with_both_adders():
    check_all(all_of([zoo[name] for name in NAMES], seed=1))


@pytest.mark.slow
@pytest.mark.parametrize("group", range(10))
def test_300_random_machines_are_proved_with_both_adders(group):
    machines = [machine for machine, _ in random_machines(300)][30 * group : 30 * group + 30]
    check_all(all_of(machines, seed=group))


# Nothing wrong is proved.


def unsound(networks) -> list:
    """The changes after which a network is proved although some run of it goes wrong."""
    found = []
    for network, made in networks:
        proof = prove(network)
        if proof.verdict == "proved":
            machine = network.machine
            wrong = divergence(network, machine, starts(machine), network.T, batch=1024)
            found += [(made, machine.delta, wrong)] if wrong else []
        else:
            confirm(proof)
    return found


# Each reads a place that the invariant says nothing about, or has a deviation that its own value seems to justify.
BY_HAND = [
    ("lookahead", "pipeline.detect.weight", ("det", 0), ("sym2", 1), 1.0),
    ("lookahead", "pipeline.detect.weight", ("det", 1), ("scr5", 0), 1.0),
    ("lookahead", "pipeline.detect.weight", ("pos2", 0), ("scr5", 1), 1.0),
    ("ripple", "pipeline.transition.0.weight", ("pos2", 1), ("sym2", 0), 1.0),
    ("lookahead", "pipeline.move.weight", ("pos3", 0), ("carry", 0), 0.0),
    ("lookahead", "pipeline.move.weight", ("pos3", 1), ("borrow", 1), 0.0),
    ("lookahead", "pipeline.move.weight", ("pos2", 0), ("pos2", 0), 0.0),
    ("ripple", "pipeline.project.weight", ("pos3", 2), ("pos3", 2), 0.0),
]


def by_hand():
    machine = small(Random(5))
    for adder, name, row, column, value in BY_HAND:
        network = turing.compile(machine, "wcm21", T=8, adder=adder)
        part = next(part for part in network.ir().parts if part.weight.name == name)
        place = part.outputs[row[0]][row[1]], part.inputs[column[0]][column[1]]
        with torch.no_grad():
            dict(network.named_parameters())[name][place] = value
        yield network, [(name, place, value)]


@pytest.mark.parametrize("value", [-0.5, 0.5, 1 / 1024])
def test_a_place_that_is_wrong_on_every_column_is_not_proved(value):
    network = turing.compile(small(Random(5)), "wcm21", T=8, adder="lookahead")
    for place in (network.layout.sym2["1"], network.layout.st["A"]):
        with torch.no_grad():
            network.pipeline["initial"].write.bias[place] = value
        proved = prove(network).verdict == "proved"
        assert not proved or divergence(network, network.machine, starts(network.machine), 8) is None
        with torch.no_grad():
            network.pipeline["initial"].write.bias[place] = 0


def test_no_network_that_goes_wrong_is_proved():
    assert unsound(changed(16, 0, "wcm21", T=8)) == []
    assert unsound(by_hand()) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_no_network_of_1200_that_goes_wrong_is_proved(seed):
    assert unsound(changed(100, seed, "wcm21", T=8)) == []


def test_a_prover_that_justifies_a_deviation_by_itself_is_caught(monkeypatch):
    monkeypatch.setattr(wcm21, "compared", lambda meant, found: (found, found))
    assert unsound(by_hand())


def test_a_prover_that_forgets_what_steps_leave_is_caught(monkeypatch):
    monkeypatch.setattr(wcm21, "SPECIFIED", (*wcm21.SPECIFIED, "sym2", "scr5"))
    assert unsound(by_hand())


# What it does not decide, by name.


def undecided(network, reason, **options) -> None:
    proof = prove(network, **options)
    assert proof.verdict == "undecided"
    assert reason in str(proof)
    with pytest.raises(TypeError, match="neither proved nor refuted"):
        bool(proof)
    with pytest.raises(ValueError, match="undecided"):
        proof.save("never.json")


@pytest.mark.parametrize(
    ("options", "reason"),
    [({"average": "literal"}, "average='literal'"), ({"kappa": 100}, "κ = 100 is too small for torch.float32")],
)
def test_heads_that_may_round_are_not_decided(options, reason):
    undecided(turing.compile(zoo["bb2"], "wcm21", T=8, **options), reason)


def test_number_types_that_are_not_covered_are_not_decided():
    network = turing.compile(zoo["bb2"], "wcm21", T=8)
    undecided(network.to(torch.float16), "float16")
    undecided(turing.compile(zoo["bb2"], "ss95", arithmetic="float64"), "float64")
    network = turing.compile(zoo["bb2"], "wcm21", T=8)
    network.pipeline["detect" if "detect" in network.pipeline else "preprocess"].double()
    undecided(network, "torch.float64")


def test_an_average_in_float64_takes_a_greater_kappa():
    assert prove(turing.compile(zoo["bb2"], "wcm21", T=8, kappa=210))
    undecided(turing.compile(zoo["bb2"], "wcm21", T=8, kappa=210).double(), "κ = 210 is too small")


def test_other_engines_are_not_decided():
    undecided(turing.compile(zoo["bb2"], "wcm21", T=8, adder="lookahead"), "engine='native'", engine="native")


@pytest.mark.parametrize("construction", ["perez21", "merrill24", "bhattamishra20"])
def test_constructions_without_an_invariant_are_not_decided(construction):
    options = {"T": 8} if construction != "bhattamishra20" else {}
    names = turing.constructions()[construction].__init__.__code__.co_varnames
    network = turing.compile(zoo["bb2"], construction, **{key: x for key, x in options.items() if key in names})
    undecided(network, f"no invariant is stated for {construction}")


def test_a_construction_of_ones_own_is_not_decided():
    class Own(type(turing.compile(zoo["bb2"], "wcm21", T=8))):
        construction = "own"

    undecided(Own(zoo["bb2"], T=8), "no invariant is stated for own")


def test_a_hook_is_not_decided():
    network = turing.compile(zoo["bb2"], "wcm21", T=8)
    network.pipeline["visited"].register_forward_hook(lambda *_: None)
    undecided(network, "pipeline.visited has a hook")


def test_a_pattern_of_ones_own_is_not_decided():
    class Twice(type(turing.compile(zoo["bb2"], "wcm21", T=8).pipeline["last"].pattern)):
        def forward(self, scores):
            return 2 * super().forward(scores)

    network = turing.compile(zoo["bb2"], "wcm21", T=8)
    network.pipeline["last"].pattern = Twice(9999.0, "ratio")
    undecided(network, "the pattern of last")


def test_a_first_column_of_ones_own_is_not_decided():
    class Late(type(turing.compile(zoo["bb2"], "wcm21", T=8))):
        def initial(self, word):
            return super().initial(word) * 2

    undecided(Late(zoo["bb2"], T=8), "the first column")


def test_what_is_no_network_is_refused():
    with pytest.raises(TypeError, match=r"turing\.compile"):
        prove(torch.nn.Linear(2, 2))
    network = turing.compile(zoo["bb2"], "wcm21", T=8)
    with pytest.raises(ValueError, match="states"):
        prove(network, zoo["bb3"])
    with pytest.raises(TypeError, match="TuringMachine"):
        prove(network, "bb2")


# What a proof says.


def test_an_edited_file_says_what_fails_where_and_for_which_word(tmp_path):
    machine = zoo["balanced_parentheses"]
    network = turing.compile(machine, "wcm21", T=100)
    network.save(tmp_path / "net.safetensors")
    stranger = turing.load((tmp_path / "net.safetensors").rename(tmp_path / "from_elsewhere.safetensors"))
    assert prove(stranger)
    with torch.no_grad():
        stranger.pipeline["search2"].key.weight[7, stranger.layout.pos1[3]] = 0
    stranger.save(tmp_path / "edited.safetensors")
    proof = prove(turing.load(tmp_path / "edited.safetensors"))
    assert not proof
    assert proof.reason.startswith("search2: a column that ")
    assert proof.counterexample.level == "word"
    assert parts(proof.network, machine, proof.counterexample.word, 100) == proof.counterexample.step
    (weight,) = proof.blame()
    assert weight.name == "pipeline.search2.key.weight"
    assert (weight.value, weight.compiled) == (0, 1)


def test_blame_leaves_out_what_harms_nothing():
    network = turing.compile(zoo["bb2"], "wcm21", T=8, adder="lookahead")
    names = dict(network.named_parameters())
    with torch.no_grad():
        names["pipeline.visited.query.weight"][0, network.layout.pos3[0]] = 1.5
        names["pipeline.assemble.bias"][network.layout.st["A"]] = 1
        names["pipeline.last.null_key"][-1] = -3
    proof = prove(network)
    assert [weight.name for weight in proof.blame()] == ["pipeline.assemble.bias"]
    with torch.no_grad():
        names["pipeline.assemble.bias"][network.layout.st["A"]] = 0
    assert prove(network)
    assert prove(network).blame() == []


def test_an_interval_ends_where_the_proof_does():
    network = turing.compile(zoo["bb2"], "wcm21", T=8, adder="lookahead")
    proof, layout = prove(network), network.layout
    interval = proof.interval("pipeline.visited.query.weight", 0, layout.pos3[0])
    assert interval == (1 + 2 / 64, 3 - 2 / 64, 1 / 64)
    for value, holds in ((interval.low, True), (interval.low - interval.grid, False), (interval.high, True)):
        with torch.no_grad():
            network.pipeline["visited"].query.weight[0, layout.pos3[0]] = value
        assert (prove(network).verdict == "proved") == holds
    with torch.no_grad():
        network.pipeline["visited"].query.weight[0, layout.pos3[0]] = 2
    assert prove(network).interval("pipeline.visited.value.bias", 0)[:2] == (1, 1)
    assert prove(network).interval("pipeline.last.null_key", 3)[0] == -float("inf")
    with pytest.raises(ValueError, match="given by its tensor"):
        proof.interval("visited", 0)


def test_a_changed_rule_is_proved_against_the_changed_machine():
    machine = zoo["bb2"]
    delta = dict(machine.delta)
    key = next(iter(delta))
    delta[key] = (delta[key][0], machine.blank, delta[key][2])
    other = TuringMachine(delta, machine.initial, machine.halting, machine.blank)
    network = turing.compile(machine, "wcm21", T=8)
    assert prove(network)
    assert not prove(network, other)
    layer, layout = network.pipeline["transition"][1], network.layout
    with torch.no_grad():
        layer.weight[layout.sym2["1"], layout.width] = 0
        layer.weight[layout.sym2[machine.blank], layout.width] = 1
    assert prove(network, other)
    assert not prove(network)


def test_a_fault_that_no_short_run_shows_is_refuted_by_its_columns():
    network = turing.compile(zoo["bb2"], "wcm21", T=2**20, adder="lookahead")
    with torch.no_grad():
        network.pipeline["search19"].key.weight[19, network.layout.pos2[19]] = 0
    proof = prove(network)
    assert proof.verdict == "refuted"
    assert proof.counterexample.level == "columns"
    assert "no run in which they occur was found" in str(proof)
    assert "in binary" in str(proof)


def test_a_proof_says_how_far_it_reaches_and_what_it_assumes():
    proof = prove(turing.compile(zoo["bb2"], "wcm21", T=8).to(torch.bfloat16))
    assert proof.horizon == {"steps": 8, "cells": 8, "visits": 256, "arithmetic": "bfloat16"}
    assert proof.margins["visited: fits, above the null key"] == 0.5
    assert proof.margins["bits of a sum"] <= 8
    assert all(sentence.endswith(".") for sentence in proof.assumes)
    assert "256 visits of one cell, in bfloat16" in str(proof)


def test_the_command_line_proves(capsys, tmp_path):
    from turing.cli import main

    net, proof = str(tmp_path / "net.safetensors"), str(tmp_path / "net.proof.json")
    assert main(["compile", "bb2", "--network", "wcm21", "--T", "8", "-o", net]) == 0
    assert main(["prove", net, "-o", proof]) == 0
    assert "Proved" in capsys.readouterr().out
    assert main(["prove", "bb2", "--network", "perez21"]) == 4
    assert main(["prove", "bb2"]) == 2


def test_changing_weights_changes_them():
    network = turing.compile(zoo["bb2"], "wcm21", T=8)
    before = {name: numbers.clone() for name, numbers in network.state_dict().items()}
    made = change(network, Random(0), 3)
    assert {name for name, numbers in network.state_dict().items() if not numbers.equal(before[name])} <= {
        name for name, *_ in made
    }
