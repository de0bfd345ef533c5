"""``python -m turing.recheck``: it accepts what is proved, and nothing else, whatever a proof claims."""

import ast
import json
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
import torch
from changed_weights import change, small
from machines import random_machines

import turing
from turing.proof import prove
from turing.proof.proof import digest
from turing.recheck import recheck
from turing.zoo import NAMES, zoo

ADDERS = ("ripple", "lookahead")


def accepts(network, claim, folder) -> bool:
    """Whether the checker accepts a claim, given as a dictionary or as the text of a file, about a network."""
    net, proof = folder / "net.safetensors", folder / "net.proof.json"
    if network is not None:  # else it is there already
        network.save(net)
    proof.write_text(claim if isinstance(claim, str) else json.dumps(claim))
    try:
        recheck(net, proof)
    except Exception:  # whatever damage leads to
        return False
    return True


def claim_of(network, folder) -> dict:
    prove(network).save(folder / "saved.proof.json")
    return json.loads((folder / "saved.proof.json").read_text())


@pytest.mark.parametrize("adder", ADDERS)
@pytest.mark.parametrize("arithmetic", ["float32", "float64", "bfloat16"])
def test_what_is_proved_is_accepted(adder, arithmetic, tmp_path):
    for machine in (zoo["balanced_parentheses"], *(machine for machine, _ in random_machines(1))):
        for bits in (1, 3):
            network = turing.compile(machine, "wcm21", T=2**bits, adder=adder).to(getattr(torch, arithmetic))
            assert accepts(network, claim_of(network, tmp_path), tmp_path), (machine.delta, bits)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_zoo_is_accepted(name, tmp_path):
    for adder in ADDERS:
        network = turing.compile(zoo[name], "wcm21", T=2**11, adder=adder)
        assert accepts(network, claim_of(network, tmp_path), tmp_path)


def claimed_by_a_liar(network, folder) -> dict:
    """A proof of another network, made out for this one."""
    good = turing.compile(network.machine, "wcm21", **network.options)
    tensors = {numbers.name: numbers.values for numbers in network.ir().numbers()}
    return claim_of(good, folder) | {"weights": digest({}, tensors)}


def forged(number, seed, folder) -> tuple[int, int]:
    """Changed networks, each with a proof made out for it; how many the prover refutes, and how many are accepted. No
    refuted one may be.
    """
    draw, refuted, accepted = Random(seed), 0, 0
    for _ in range(number):
        network = turing.compile(small(draw, 3), "wcm21", T=8, adder=draw.choice(ADDERS))
        made = change(network, draw, draw.choice((1, 1, 2, 3)))
        verdict = prove(network).verdict
        taken = accepts(network, claimed_by_a_liar(network, folder), folder)
        assert verdict == "proved" or not taken, made
        refuted, accepted = refuted + (verdict == "refuted"), accepted + taken
    return refuted, accepted


def test_no_forged_proof_of_a_refuted_network_is_accepted(tmp_path):
    refuted, accepted = forged(12, 0, tmp_path)
    assert refuted >= 4
    assert accepted >= 1


@pytest.mark.slow
def test_of_500_forged_proofs_none_of_a_refuted_network_is_accepted(tmp_path):
    refuted, accepted = forged(500, 1, tmp_path)
    assert refuted >= 200
    assert accepted >= 20


LIES = [
    ({"horizon": {"steps": 9, "cells": 8, "visits": 256, "arithmetic": "float32"}}, "claims too much"),
    ({"horizon": {"steps": 8, "cells": 16, "visits": 256, "arithmetic": "float32"}}, "claims too much"),
    ({"horizon": {"steps": 8, "cells": 8, "visits": 2**25, "arithmetic": "float32"}}, "claims too much"),
    ({"horizon": {"steps": 8, "cells": 8, "visits": 256, "arithmetic": "float64"}}, "number type"),
    ({"margins": {"visited: fits, above the null key": 0.75}}, "claims too much"),
    ({"construction": "ss95"}, "not a proof of a WCM21 network"),
    ({"version": 2}, "not a proof of a WCM21 network"),
    ({"weights": "sha256:0"}, "other weights"),
]


@pytest.mark.parametrize(("lie", "message"), LIES)
def test_a_claim_that_goes_too_far_is_rejected(lie, message, tmp_path):
    network = turing.compile(zoo["bb2"], "wcm21", T=8)
    claim = claim_of(network, tmp_path)
    assert accepts(network, claim, tmp_path)
    (tmp_path / "net.proof.json").write_text(json.dumps(claim | lie))
    with pytest.raises(ValueError, match=message):
        recheck(tmp_path / "net.safetensors", tmp_path / "net.proof.json")


def test_a_proof_of_another_machine_is_rejected(tmp_path):
    network = turing.compile(zoo["bb2"], "wcm21", T=8)
    claim = claim_of(network, tmp_path)
    rules = claim["machine"]["delta"]
    for key, value in (
        ("initial", "B"), ("blank", "1"), ("halting", []), ("delta", rules[1:]), ("delta", [*rules, rules[0]]),
        ("delta", [[*rules[0][:4], 2], *rules[1:]]), ("delta", [[*rules[0][:4], -rules[0][4]], *rules[1:]]),
        ("delta", [["X", *rules[0][1:]], *rules[1:]]),
    ):  # fmt: skip
        assert not accepts(network, claim | {"machine": claim["machine"] | {key: value}}, tmp_path), (key, value)


def test_a_changed_rule_is_accepted_with_the_changed_machine(tmp_path):
    network = turing.compile(zoo["bb2"], "wcm21", T=8, adder="lookahead")
    claim = claim_of(network, tmp_path)
    layer, before = network.pipeline["carry"], network.pipeline["carry"].layouts[1]
    with torch.no_grad():
        layer.weight[before.sym2["1"], 0], layer.weight[before.sym2["0"], 0] = 0, 1
    claim["weights"] = digest({}, {numbers.name: numbers.values for numbers in network.ir().numbers()})
    assert not accepts(network, claim, tmp_path)
    claim["machine"]["delta"][0][3] = "0"
    assert accepts(network, claim, tmp_path)


def test_a_damaged_proof_is_rejected_or_still_true(tmp_path):
    """Characters of the file of a refuted network's forged proof are changed at random, and its keys are left out."""
    network = turing.compile(zoo["bb2"], "wcm21", T=8, adder="lookahead")
    with torch.no_grad():
        network.pipeline["assemble"].bias[0] = 1
    assert prove(network).verdict == "refuted"
    claim, draw = claimed_by_a_liar(network, tmp_path), Random(0)
    text = json.dumps(claim)
    assert not accepts(network, text, tmp_path)
    for _ in range(100):
        at = draw.randrange(len(text))
        assert not accepts(None, text[:at] + draw.choice('0123456789{}[]",: ab') + text[at + 1 :], tmp_path)
    for key in claim:
        assert not accepts(None, {name: value for name, value in claim.items() if name != key}, tmp_path)


def test_the_checker_is_short_and_needs_numpy_alone():
    from turing import recheck as module

    text = Path(module.__file__).read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 200
    names = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom)]
    used = {alias.name for node in names if isinstance(node, ast.Import) for alias in node.names}
    used |= {node.module for node in names if isinstance(node, ast.ImportFrom)}
    assert used == {"hashlib", "json", "sys", "itertools", "pathlib", "typing", "numpy"}


def test_the_command_says_what_it_thinks(tmp_path):
    network = turing.compile(zoo["bb2"], "wcm21", T=8)
    claim_of(network, tmp_path)
    network.save(tmp_path / "net.safetensors")
    command = [sys.executable, "-m", "turing.recheck", tmp_path / "net.safetensors"]
    good = subprocess.run([*command, tmp_path / "saved.proof.json"], capture_output=True, text=True)
    assert (good.returncode, good.stdout[:9]) == (0, "Accepted:")
    bad = subprocess.run([*command, tmp_path / "net.safetensors"], capture_output=True, text=True)
    assert bad.returncode == 1
    assert bad.stderr.startswith("Rejected: ")


@pytest.mark.parametrize("construction", ["ss95", "ss95-realtime", "conv", "liwang25"])
def test_another_construction_is_rejected_in_a_sentence(construction, tmp_path):
    network = turing.compile(zoo["bb2"], construction)
    network.save(tmp_path / "net.safetensors")
    prove(network).save(tmp_path / "net.proof.json")
    with pytest.raises(ValueError, match=f"covers WCM21 networks only, not {construction}"):
        recheck(tmp_path / "net.safetensors", tmp_path / "net.proof.json")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["ss95.safetensors", "any.json"], "Rejected: this checker covers WCM21 networks only, not ss95"),
        (["missing.safetensors", "any.json"], "Rejected: FileNotFoundError: [Errno 2] No such file"),
        (["ss95.safetensors"], "Rejected: a network and its proof are needed"),
        (["ss95.json", "any.json"], "Rejected: the network is not in a .safetensors file, which turing.save writes"),
    ],
)
def test_the_command_answers_for_people(given, said, tmp_path):
    for ending in ("safetensors", "json"):
        turing.save(turing.compile(zoo["bb2"], "ss95"), tmp_path / f"ss95.{ending}")
    paths = [str(tmp_path / name) for name in given]
    ran = subprocess.run([sys.executable, "-m", "turing.recheck", *paths], capture_output=True, text=True)
    assert ran.returncode == 1
    assert ran.stderr.startswith(said)
