"""The transformer of Li et al. in TransformerLens, in an environment of its own: the same logits and activations."""

import pytest
from own_environment import run_with

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
    assert "10 runs are equal" in run_with(PIN, CODE, tmp_path)
