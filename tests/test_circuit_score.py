"""The circuit of a network as ground truth, its score, and networks whose basis is rotated."""

import subprocess
import sys
from random import Random

import pytest
import torch

import turing
from turing.corpora.circuit import Edge, circuit, score
from turing.corpora.rotated import Rotated
from turing.wcm import WCM21

torch.set_num_threads(1)
NET = turing.compile(turing.zoo["balanced_parentheses"], "wcm21", T=16, adder="lookahead")


def test_the_true_circuit_scores_1_and_20_random_ones_less():
    right = circuit(NET)
    assert score(right, NET) == 1
    random = Random(1)
    names = {how: sorted({edge[:3] for edge in right if edge.how == how}) for how in {edge.how for edge in right}}
    for _ in range(20):
        found = set()
        for edge in right:
            other = random.choice(names[edge.how])
            found.add(Edge(edge.module, edge.source, other[2], edge.how))  # another target
        assert score(found, NET) < 0.6
    one_less = set(sorted(right)[1:])
    assert 0.99 < score(one_less, NET) < 1
    assert score(right | {Edge("detect", "st[I]", "nowhere")}, NET) < 1


def test_edges_are_what_changes_something():
    """Cut an edge of the first layer, and what it led to is another number; cut what is no edge, and nothing is."""
    edges, detect = circuit(NET), NET.pipeline["detect"]
    before, after = (layout.names() for layout in detect.layouts)
    x = torch.rand(len(before))
    with torch.no_grad():
        for i in range(0, len(after), 7):
            for j in range(0, len(before), 5):
                y = x.clone()
                y[j] += 1
                shift = (detect.weight @ y - detect.weight @ x)[i].item()
                assert (abs(shift) > 1e-6) == (Edge("detect", before[j], after[i]) in edges)


def test_hidden_names_are_in_the_same_circuit():
    (plain,) = turing.corpus(1, seed=5, T=16, adder="lookahead")
    (hidden,) = turing.corpus(1, seed=5, T=16, adder="lookahead", hide=True)
    assert circuit(hidden.network) == circuit(plain.network)


def test_a_rotated_network_runs_as_its_machine():
    for example in turing.corpus(4, seed=3, hide="orthogonal"):
        net = example.network
        assert isinstance(net, Rotated)
        run, own = net.run(example.word), example.machine.run(example.word, 64)
        assert (run.status, run.state, run.steps, run.tape) == (own.status, own.state, own.steps, own.tape)
        for name in ("column", "visited", "search0.compared"):
            Q = net.rotations[name]
            assert torch.allclose(Q @ Q.T, torch.eye(len(Q), dtype=Q.dtype), atol=1e-12)
        assert net.pipeline["move"].weight.count_nonzero() == net.pipeline["move"].weight.numel()
        assert net.rotations["visited"] is net.rotations["tape"]


def test_the_vectors_of_a_rotated_network_are_rotated_ones():
    (example,) = turing.corpus(1, seed=8, T=16, hide="orthogonal")
    (plain,) = turing.corpus(1, seed=8, T=16, adder="lookahead", restoring=True)
    mine, own = (e.network.double().activations(e.word, 5) for e in (example, plain))
    for name in own:
        Q = example.network.rotations.get(name)
        assert torch.allclose(mine[name], own[name] if Q is None else Q @ own[name], atol=1e-9), name


def test_what_cannot_be_rotated_is_refused():
    with pytest.raises(ValueError, match="hide is True, False or 'orthogonal', and 'basis' was given"):
        turing.corpus(1, hide="basis")
    with pytest.raises(ValueError, match='needs adder="lookahead" and restoring=True'):
        Rotated(WCM21(turing.zoo["bb2"], T=8), 0)
    (example,) = turing.corpus(1, seed=8, T=16, hide="orthogonal")
    with pytest.raises(TypeError, match="have no names to be compared by"):
        turing.verify(example.network, example.machine, [example.word])


def test_a_seed_gives_the_same_rotation_in_every_process():
    code = (
        "import turing, hashlib; e = next(turing.corpus(1, seed=4, T=8, hide='orthogonal'));"
        "print(round(sum(p.abs().sum().item() for p in e.network.parameters()), 6), e.machine.dumps('json')[:80])"
    )
    said = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert len(said) == 1
