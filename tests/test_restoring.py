"""Networks that restore their bits, or read and encode them anew: exact without noise, and what noise they bear."""

import itertools

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from machines import machines_and_words

import turing
from paper import BALANCED
from turing.engine import Refusal
from turing.layout import Layout
from turing.study import Gaussian, perturbed, sweep
from turing.wcm.restoring import Restore
from turing.zoo import NAMES, zoo

torch.set_num_threads(1)
slow = pytest.mark.slow
WORD = "B()((()(()))())E"
KINDS = [
    {"adder": adder, "restoring": restoring, "feedback": feedback}
    for adder, restoring, feedback in itertools.product(("ripple", "lookahead"), (False, True), ("analog", "token"))
    if restoring or feedback == "token"
]
kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(map(str, kind.values())))


def compiled(machine=BALANCED, T=100, **kind):
    return turing.compile(machine, "wcm21", T=T, **kind)


@pytest.mark.parametrize("x", [-0.3, 0, 0.2, 0.25, 0.3, 0.5, 0.7, 0.75, 0.9, 1, 1.6])
def test_the_restoring_organ_is_von_neumanns(x):
    x = torch.tensor([float(x)])
    twice = 1 - torch.relu(1 - torch.relu(2 * x - 0.5))
    assert Restore(Layout(x=1))(x).item() == pytest.approx(twice.item(), abs=1e-6)


@kinds
def test_each_kind_is_verified_and_goes_through_files_and_pictures(kind, tmp_path):
    net, short = compiled(T=32, **kind), "B()E"
    assert turing.verify(net, BALANCED, [short, "B)E", "B((E"])
    net.save(tmp_path / "net.json")
    again = turing.load(tmp_path / "net.json")
    assert again.options == net.options
    assert again.run(short) == net.run(short) == BALANCED.run(short)
    last = list(net.pipeline)[-1]
    assert "ReLU" in str(turing.show(net.pipeline["restore_column"])) if kind["restoring"] else last == "encode"
    assert turing.draw(net.pipeline[last]) is not None
    assert turing.architecture(net) is not None


@pytest.mark.parametrize("adder", ["ripple", "lookahead"])
def test_restoring_networks_are_proved_and_run_by_every_engine(adder):
    net = compiled(adder=adder, restoring=True)
    assert turing.prove(net)
    assert net.run(WORD, engine="indexed") == net.run(WORD, engine="native") == BALANCED.run(WORD)


def test_token_feedback_is_refused_by_name_where_linear_layers_are_expected():
    net = compiled(adder="lookahead", feedback="token")
    assert "pipeline.token is of the kind argmax" in str(turing.prove(net))
    with pytest.raises(Refusal, match=r"pipeline\.token is neither a head nor a linear layer"):
        net.run(WORD, engine="indexed")


def test_the_usual_network_is_what_it_was():
    assert "restoring" not in compiled().options
    assert list(compiled(restoring=False, feedback="analog").pipeline) == list(compiled().pipeline)


def test_wrong_options_are_refused():
    with pytest.raises(ValueError, match="feedback one of analog, token; restoring=False and feedback='digital'"):
        compiled(feedback="digital")
    with pytest.raises(ValueError, match="restoring is True or False"):
        compiled(restoring="yes")


@pytest.mark.parametrize("name", NAMES)
def test_every_machine_of_the_zoo_is_verified(name):
    machine, kind = zoo[name], KINDS[NAMES.index(name) % len(KINDS)]
    words = [sample.word for sample in zoo.entry(name).samples][:2]
    T = 16 if len(machine.states) * len(machine.symbols) > 60 else 40
    net = compiled(machine, T, bits=max(6, (T + max(map(len, words)) + 1).bit_length()), **kind)
    assert turing.verify(net, machine, words, max_steps=T)


@slow
@kinds
@pytest.mark.parametrize("name", NAMES)
def test_every_machine_of_the_zoo_is_verified_in_every_kind(name, kind):
    machine = zoo[name]
    words = [sample.word for sample in zoo.entry(name).samples]
    net = compiled(machine, 100, bits=max(7, (100 + max(map(len, words)) + 1).bit_length()), **kind)
    assert turing.verify(net, machine, words, max_steps=100)


def random_machine_is_verified(machine, words, number):
    net = compiled(machine, 20, bits=6, **KINDS[number % len(KINDS)])
    assert turing.verify(net, machine, words)


@settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(machines_and_words(words=2))
def test_random_machines_are_verified(machine_and_words):
    machine, words = machine_and_words
    random_machine_is_verified(machine, words, len(machine.delta))


@slow
def test_200_random_machines_are_verified():
    for number, example in enumerate(turing.corpus(200, seed=23, T=8)):
        random_machine_is_verified(example.machine, [example.word, ""], number)


def first_steps(**kind):
    net = compiled(adder="lookahead", **kind)
    noisy = perturbed(net, Gaussian(), 1e-3, [0])
    assert all((noisy[name][0] != own).float().mean() > 0.99 for name, own in net.named_parameters())  # restoring too
    rows = sweep(net, Gaussian(), [1e-3], range(20), [WORD], progress=False)
    return [row["step"] for row in rows]


def test_noise_of_a_thousandth_on_all_weights_is_borne_for_81_steps_with_restoring_and_for_20_by_none_without():
    assert first_steps(restoring=True).count(None) >= 19
    plain = first_steps()
    assert None not in plain
    assert max(plain) <= 20
