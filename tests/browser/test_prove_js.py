"""The check in the page: on the same networks it says what ``turing.prove`` says, obligation for obligation."""

import json
import re
from random import Random

import pytest
import torch
from changed_weights import change, small
from machines import random_machines

import turing
from turing.ir import to_dict
from turing.proof import Failed, Undecided, wcm21
from turing.proof.proof import digest
from turing.proof.search import parts
from turing.recheck import recheck

ADDERS = ("ripple", "lookahead")
CHECK = "(files) => files.map((file) => { const { verdict, reason } = modules.check(file); return [verdict, reason]; })"
PROVE = """(file) => {
  const found = modules.check(file), search = modules.search(file);
  let look = { value: null };
  if (modules.isOpen(found)) do look = search.next(); while (!look.done);
  return modules.judged(found, look.value);
}"""


@pytest.fixture
def page(modules):
    return modules("page/prove.js")


def networks(number, seed):
    """Networks of small machines, most of them with one to three weights changed."""
    draw = Random(seed)
    for _ in range(number):
        network = turing.compile(small(draw), "wcm21", T=8, adder=draw.choice(ADDERS))
        network = network.double() if draw.random() < 0.2 else network
        if draw.random() < 0.9:
            change(network, draw, draw.choice((1, 1, 1, 2, 3)))
        yield network


def verdict_of(network) -> list[str]:
    """What the prover says before it looks for a word."""
    try:
        wcm21.obligations(network.ir(), network.machine)
    except Failed as error:
        return ["failed", error.obligation]
    except Undecided as error:
        return ["undecided", str(error)]
    return ["proved", ""]


def accepted(network, folder) -> bool:
    """Whether the second checker takes the network, with all that a proof could claim."""
    horizon = {"steps": 8, "cells": 8, "visits": 256, "arithmetic": network.arithmetic}
    claim = {"turing": "proof", "version": 1, "construction": "wcm21", "horizon": horizon, "margins": {}, "assumes": []}
    claim["machine"] = json.loads(network.machine.dumps("json"))
    claim["weights"] = digest({}, {numbers.name: numbers.values for numbers in network.ir().numbers()})
    (folder / "net.proof.json").write_text(json.dumps(claim))
    network.save(folder / "net.safetensors")
    try:
        recheck(folder / "net.safetensors", folder / "net.proof.json")
    except ValueError:
        return False
    return True


def shown(verdicts):
    """With as many digits as both languages round alike."""
    return [
        [verdict, re.sub(r"\d+\.\d+(e-\d+)?", lambda n: f"{float(n[0]):.3g}", reason)] for verdict, reason in verdicts
    ]


def agree(page, made, folder):
    found = page(CHECK, [to_dict(network.ir()) for network in made])
    assert shown(found) == shown(map(verdict_of, made))
    taken = [accepted(network, folder) for network in made]
    assert all(verdict == "proved" for (verdict, _), good in zip(found, taken, strict=True) if good)
    return [verdict for verdict, _ in found], taken


def test_the_page_says_what_the_prover_says_and_proves_what_the_second_checker_accepts(page, tmp_path):
    verdicts, taken = agree(page, list(networks(20, 0)), tmp_path)
    assert {"proved", "failed"} <= set(verdicts)
    assert any(taken)


@pytest.mark.slow
def test_on_100_networks_the_page_says_what_the_prover_says(page, tmp_path):
    verdicts, taken = agree(page, list(networks(100, 1)), tmp_path)
    assert verdicts.count("proved") >= 20
    assert verdicts.count("failed") >= 40
    assert sum(taken) >= 10


@pytest.mark.parametrize("adder", ADDERS)
def test_whole_networks_are_proved(adder, page):
    machines = [turing.zoo["balanced_parentheses"], *(machine for machine, _ in random_machines(2))]
    made = [turing.compile(machine, "wcm21", T=100, adder=adder) for machine in machines]
    assert page(CHECK, [to_dict(network.ir()) for network in made]) == [["proved", ""]] * len(made)


def test_the_network_that_the_page_compiles_is_proved(modules):
    page = modules("page/prove.js", "page/compile.js", "page/formats.js")
    machine = {"rules": [["A", "0", "B", "1", 1], ["B", "0", "A", "1", -1], ["A", "1", "H", "1", 0]], "initial": "A"}
    machine |= {"halting": ["H"], "blank": "0", "symbols": ["0", "1"]}
    found = page("(machine) => modules.check(modules.compile(machine, { T: 1000 }))", machine)
    assert (found["verdict"], found["steps"], found["cells"]) == ("proved", 1000, 1024)
    assert found["margins"]["visited"] == [0.5, 0.5]
    assert page(CHECK, [dict(sorted(file().items()))]) == [["proved", ""]]


def file(**changes):
    return to_dict(turing.compile(turing.zoo["bb2"], "wcm21", T=8, adder="lookahead").ir()) | changes


OTHERS = [
    ({"construction": "perez21"}, "no invariant of perez21"),
    ({"arithmetic": "bfloat16"}, "float32, float64 and exact, not bfloat16"),
    ({"arithmetic": "exact"}, "the number type exact is not covered"),
    ({"loop": {"state": "column", "add": [["pos1", "step"], ["pos2", "step"]]}}, "the loop"),
    ({"options": {"T": 9}}, "T = 9 steps cannot be numbered with 3 bits"),
    ({"machine": file()["machine"] | {"blank": "1"}}, "its rules do not fit"),
    ({"version": 3}, "version 2"),
]


@pytest.mark.parametrize(("changes", "reason"), OTHERS)
def test_what_no_proof_is_about_is_undecided_by_name(changes, reason, page):
    ((verdict, said),) = page(CHECK, [file(**changes)])
    assert verdict == "undecided"
    assert reason in said


def test_heads_that_may_round_are_undecided_by_name(page):
    given = ({"average": "literal"}, {"kappa": 100})
    made = [turing.compile(turing.zoo["bb2"], "wcm21", T=8, **options) for options in given]
    (literal, soft) = page(CHECK, [to_dict(network.ir()) for network in made])
    assert literal[0] == soft[0] == "undecided"
    assert "average='literal'" in literal[1]
    assert "κ = 100 is too small for float32" in soft[1]


def test_another_machine_than_that_of_the_weights_is_wrong(page):
    changed = file()
    changed["machine"]["delta"][0][4] *= -1
    found = page(PROVE, changed)
    assert found["verdict"] == "wrong"
    assert found["step"] == 1


def test_a_word_of_the_page_is_one_on_which_the_library_goes_wrong(page):
    seen = 0
    for network in networks(12, 3):
        found = page(PROVE, to_dict(network.ir()))
        if "word" in found:
            seen += 1
            assert found["verdict"] == "wrong"
            assert parts(network, network.machine, found["word"], network.T) in (found["step"], found["step"] - 1)
    assert seen >= 3


def test_a_fault_that_no_short_word_shows_has_its_columns(page):
    network = turing.compile(turing.zoo["balanced_parentheses"], "wcm21", T=100, adder="lookahead")
    with torch.no_grad():
        network.pipeline["visited"].query.weight[6, network.layout.pos3[6]] = 0
    found = page(PROVE, to_dict(network.ir()))
    assert (found["verdict"], found["at"], found.get("word")) == ("wrong", "visited", None)
    assert ["new cell", "1000000 in binary"] in found["columns"]
