"""The transformer of Li et al. in TransformerLens, in an environment of its own: the same logits and activations."""

import os
import re
import subprocess
import venv

import pytest

from book import ROOT

PIN = "transformer-lens==4.3.0"
CODE = """
import torch, turing
from turing.circuits import Circuit, GateByGate, to_transformer_lens

PLACES = {"column": "hook_resid_pre", "second": "hook_resid_mid", "gate": "hook_mlp_out"}
machine = turing.zoo["balanced_parentheses"]
net = turing.compile(machine, "li24", T=9, cells=6)
adder = GateByGate(Circuit.of_network(turing.adders.RippleCarryAdder(2)))
cases = [(net, word) for word in ("B()E", "BE", "B(E", "B)E", "B)(E", "B((E")]
cases += [(adder, word) for word in ("00000", "10110", "11110", "11111")]
models = {each: to_transformer_lens(each) for each in (net, adder)}
for each, word in cases:
    model, n = models[each], len(each.circuit.inputs)
    logits, cache = model.run_with_cache(each.tokens([word]).long())
    passes = list(each._vectors([word], len(each.circuit.gates)))
    assert torch.equal(logits[0, n - 1 : -1], torch.cat([vectors["unembed"] for vectors in passes]))
    for name, place in PLACES.items():
        ours = torch.cat([vectors[name] for vectors in passes])
        assert torch.equal(cache[f"blocks.0.{place}"][0, n - 1 : -1], ours), name
    pattern = cache["blocks.0.attn.hook_pattern"][0]
    for k, gate in enumerate(each.circuit.gates):
        assert pattern[:, n - 1 + k].argmax(-1).tolist() == list(gate[1:])
        assert pattern[:, n - 1 + k].sort().values[:, -2:].tolist() in ([[0, 1]] * 2, [[1]] * 2)
print(len(cases), "runs are equal")
"""


@pytest.mark.slow
def test_ten_runs_have_the_same_logits_and_activations_in_transformer_lens(tmp_path):
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv/bin/python"
    pin = re.search("^torch==.+$", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)[0]
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    for what in ([pin], [PIN, ROOT]):  # torch first, or pip would take a build with CUDA
        subprocess.run([*pip, *what], check=True, capture_output=True)
    alone = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run([python, "-c", CODE], cwd=tmp_path, env=alone, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "10 runs are equal" in done.stdout
