"""``turing.prove`` where a column is one of finitely many: a row of cells, a window of tokens, a tableau of gates."""

from itertools import product
from typing import Any

import pytest
import torch
from changed_weights import changed, confirm
from machines import random_machines

import turing
from turing.circuits import invariant as gates
from turing.conv import invariant as rows
from turing.conv.network import ARITHMETICS
from turing.machine import TuringMachine
from turing.proof import prove
from turing.proof.search import parts
from turing.queue import invariant as tokens
from turing.zoo import NAMES, zoo

SMALL = {"conv": {"cells": 9}, "liwang25": {}, "li24": {"T": 3, "cells": 5}}
every = pytest.mark.parametrize("construction", SMALL)


@every
def test_machines_are_proved(construction):
    machines = [zoo["balanced_parentheses"], zoo["bb2"], *(machine for machine, _ in random_machines(2))]
    for machine in machines:
        network = turing.compile(machine, construction, **SMALL[construction])
        proof = prove(network)
        assert proof.verdict == "proved", str(proof)
        assert proof.horizon["steps"] == (3 if construction == "li24" else None)
        assert proof.horizon["cells"] == SMALL[construction].get("cells")
        assert all(sentence.endswith(".") for sentence in proof.assumes)


@pytest.mark.slow
@every
def test_the_zoo_and_100_random_machines_are_proved(construction):
    for machine in [*(zoo[name] for name in NAMES), *(machine for machine, _ in random_machines(100))]:
        proof = prove(turing.compile(machine, construction, **SMALL[construction]))
        many = proof.verdict == "undecided" and "too many" in proof.reason
        assert proof.verdict == "proved" or many, (machine.delta, str(proof))


def test_a_row_of_cells_is_proved_in_every_arithmetic():
    for arithmetic in ARITHMETICS:
        proof = prove(turing.compile(zoo["balanced_parentheses"], "conv", arithmetic=arithmetic))
        assert proof.verdict == "proved", str(proof)
        assert proof.horizon["arithmetic"] == arithmetic


# Nothing wrong is proved.


def goes_wrong(network) -> tuple | None:
    """A short word, or a row, from which a run goes wrong."""
    machine, steps = network.machine, SMALL[network.construction].get("T", 8)
    longest = {"conv": 4, "liwang25": 3, "li24": 4}[network.construction]
    for word in (word for n in range(longest + 1) for word in product(machine.symbols, repeat=n)):
        if step := parts(network, machine, word, steps):
            return word, step
    return rows_part(network) if network.construction == "conv" else None


@torch.no_grad()
def rows_part(network) -> tuple | None:
    """A state and a row of five cells from which the next row is another one."""
    machine, layout = network.machine, network.layout
    for (q, a), cells in product(product(machine.states, machine.symbols), product(machine.symbols, repeat=4)):
        if q in machine.halting:
            continue
        for at in range(1, 4):
            row = [*cells[:at], a, *cells[at:]]
            x = torch.zeros(len(row), layout.width)
            x[range(len(row)), [layout.sym[symbol] for symbol in row]] = 1
            x[at, layout.st[q]] = 1
            for module in network.pipeline.values():
                x = module(x)
            rule = machine.delta.get((q, a))
            if rule is None:
                if x[:, layout.st.slice].any():
                    return q, row
                continue
            wanted = torch.zeros_like(x)
            row[at] = rule[1]
            wanted[range(len(row)), [layout.sym[symbol] for symbol in row]] = 1
            wanted[at + rule[2], layout.st[rule[0]]] = 1
            if not x.equal(wanted):
                return q, row
    return None


def unsound(networks) -> list:
    """The changes after which a network is proved although some run of it goes wrong."""
    found = []
    for network, made in networks:
        proof = prove(network)
        if proof.verdict == "proved":
            wrong = goes_wrong(network)
            found += [(made, network.machine.delta, wrong)] if wrong else []
        else:
            confirm(proof)
    return found


@every
def test_nothing_that_goes_wrong_is_proved(construction):
    assert unsound(changed(5, 0, construction, **SMALL[construction])) == []
    assert unsound([by_hand(construction)]) == []


@pytest.mark.slow
@every
@pytest.mark.parametrize("seed", range(1, 5))
def test_of_400_changed_networks_none_that_goes_wrong_is_proved(construction, seed):
    assert unsound(changed(100, seed, construction, **SMALL[construction])) == []


# A prover with a fault proves something wrong, and the same test sees it.


def by_hand(construction) -> tuple:
    """A network with one weight changed, which goes wrong in a part of the cases only, and what was changed."""
    network = turing.compile(zoo["bb2"], construction, **SMALL[construction])
    module: Any = network.pipeline[{"conv": "move", "liwang25": "transition", "li24": "gate"}[construction]]
    if construction == "conv":  # a rule that fires also writes a 1 into the cell to the right of the head
        before, after = module.layouts
        numbers, place, value = module.weight, (after.sym["1"], before.det["A 0"], 0), 1
    elif construction == "liwang25":  # a rule that does not see that a round is over
        before, rules, _ = module.layouts
        numbers, place, value = module[0].weight, (rules.rule["A 0"], *before.end), 0
    else:  # the neuron that should fire for an XOR of two 1s fires for one as well
        numbers, place, value = module[0].bias, (module.layouts[1].line["XOR 11"],), -1
    assert numbers[place] != value
    with torch.no_grad():
        numbers[place] = value
    network.forget()
    return network, (construction, place, value)


def test_a_prover_that_looks_at_the_cell_of_the_head_alone_is_caught(monkeypatch):
    compare = rows._Row._compare

    def careless(self, low, high, wanted, q, a, where, jams=False):
        if where == "the head's cell":
            compare(self, low, high, wanted, q, a, where, jams)

    monkeypatch.setattr(rows._Row, "_compare", careless)
    assert unsound([by_hand("conv")])


def test_a_prover_that_forgets_the_token_that_ends_a_round_is_caught(monkeypatch):
    met = tokens.met

    def careless(machine, vocabulary):
        return [(newest, oldest) for newest, oldest in met(machine, vocabulary) if not vocabulary[oldest].mark]

    monkeypatch.setattr(tokens, "met", careless)
    assert unsound([by_hand("liwang25")])


def test_a_prover_that_tries_gates_on_0s_alone_is_caught(monkeypatch):
    monkeypatch.setattr(gates, "product", lambda bits, repeat: [(0,) * repeat])
    assert unsound([by_hand("li24")])


# Faults that are put in, and the obligation that names them.


def faults():
    machine = zoo["balanced_parentheses"]
    row = turing.compile(machine, "conv", cells=9)
    row.pipeline["move"].weight.data[row.layout.sym["("], 0, 0] = 1
    yield row, "the next row: sym[(] of "
    row = turing.compile(machine, "conv", cells=9)
    row.pipeline["detect"].bias.data[-1] = 0
    yield row, "the next row: st[T] of the head's cell is 1 instead of 0"
    queue = turing.compile(machine, "liwang25")
    queue.pipeline["transition"][0].bias.data[0] = 0
    yield queue, "the next token: "
    queue = turing.compile(machine, "liwang25")
    queue.pipeline["oldest"].key.weight.data[0, 0] = 2
    yield queue, "oldest: another token scores 1 above it"
    tableau = turing.compile(machine, "li24", **SMALL["li24"])
    tableau.positions.data[tableau.loop.first, tableau.layout.pos2[0]] = 1
    yield tableau, "first: another token scores "
    tableau = turing.compile(machine, "li24", **SMALL["li24"])
    tableau.pipeline["gate"][0].bias.data[0] = 2
    yield tableau, "the next token: "


def test_a_fault_is_refuted_by_its_obligation():
    for network, obligation in faults():
        proof = prove(network)
        assert proof.verdict == "refuted", obligation
        assert proof.reason.startswith(obligation), proof.reason
        confirm(proof)


def test_a_changed_rule_of_a_row_is_proved_against_the_changed_machine():
    machine = zoo["bb2"]
    (q, a), (p, _, d) = next(iter(machine.delta.items()))
    other = TuringMachine(dict(machine.delta) | {(q, a): (p, machine.blank, d)}, "A", machine.halting, machine.blank)
    network = turing.compile(machine, "conv", cells=9)
    assert not prove(network, other)
    move, layouts = network.pipeline["move"].weight.data, network.pipeline["move"].layouts
    fires = layouts[0].det[0]
    move[layouts[1].sym["1"], fires, 1], move[layouts[1].sym["0"], fires, 1] = 0, 0
    assert prove(network, other)
    assert not prove(network)


@pytest.mark.parametrize("construction", ["liwang25", "li24"])
def test_tokens_and_gates_of_another_machine_are_not_decided(construction):
    machine = zoo["bb2"]
    other = TuringMachine(dict(list(machine.delta.items())[::-1]), "A", machine.halting, machine.blank)
    network = turing.compile(machine, construction, **SMALL[construction])
    if other != machine:
        assert "another machine was given" in prove(network, other).reason


@pytest.mark.parametrize("construction", ["liwang25", "li24"])
def test_a_small_kappa_is_not_decided(construction):
    proof = prove(turing.compile(zoo["bb2"], construction, kappa=50, **SMALL[construction]))
    assert proof.verdict == "undecided"
    assert "κ = 50 is too small" in proof.reason


def test_too_many_cases_are_not_decided(monkeypatch):
    monkeypatch.setattr(tokens, "MAX_PAIRS", 10)
    monkeypatch.setattr(gates, "MAX_TOKENS", 10)
    for construction in ("liwang25", "li24"):
        proof = prove(turing.compile(zoo["bb2"], construction, **SMALL[construction]))
        assert (proof.verdict, "too many to be tried" in proof.reason) == ("undecided", True)


def test_the_ends_of_a_row_count():
    """A state that takes a 1 from the symbol of the left neighbour is missing on the first cell alone."""
    network = turing.compile(zoo["bb2"], "conv", cells=3)
    network.pipeline["move"].weight.data[network.layout.st["A"], 0, 0] = 1  # from the symbol of the left neighbour
    network.pipeline["move"].weight.data[network.layout.st["A"], 1, 0] = 1
    network.pipeline["move"].bias.data[network.layout.st["A"]] = -1
    assert prove(network).verdict == "refuted"
