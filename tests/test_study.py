"""The tools of the last chapter: damage by seed, first failures side by side, sweeps, losses, training, curvature."""

import copy
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from own_environment import run_with

import turing
from paper import BALANCED
from turing.study import (
    Dropout,
    Flip,
    Gaussian,
    Prune,
    Round,
    accuracy,
    along,
    bend,
    cross_entropy,
    deviations,
    difference,
    direction,
    distance,
    first_failure,
    first_failures,
    forced,
    kinks,
    lesson,
    normal,
    parentheses,
    perturbed,
    read_table,
    rolled,
    squares,
    sweep,
    train,
    uniform,
    write_table,
)

torch.set_num_threads(1)
WORD = "B()((()(()))())E"


def compiled(T=32, **options):
    return turing.compile(BALANCED, "wcm21", T=T, **{"adder": "lookahead"} | options)


def parameters(net):
    return {name: numbers.detach() for name, numbers in net.named_parameters()}


def changed(net, numbers):
    net = copy.deepcopy(net)
    with torch.no_grad():
        for name, own in net.named_parameters():
            own.copy_(numbers[name])
    return net


def total(losses):
    return torch.stack(list(losses.values())).sum()


# Noise.


def test_a_seed_gives_these_numbers_on_every_machine():
    assert uniform(1, 0, 3).tolist() == [0.1872461176244542, 0.3140447096666321, 0.7981969666434452]
    assert uniform(1, 2, 1).tolist() == uniform(1, 0, 3).tolist()[2:]
    assert not set(uniform(1, 0, 100)) & set(uniform(2, 0, 100))


def test_the_numbers_are_normal():
    x = normal(3, 0, 100_000)
    assert abs(x.mean()) < 0.01
    assert abs(x.std() - 1) < 0.01
    assert (abs(x) > 3).mean() == pytest.approx(0.0027, abs=0.0007)


def test_each_perturbation_does_what_it_says():
    own = parameters(compiled())
    flat = torch.cat([numbers.flatten() for numbers in own.values()])
    ones = int(flat.count_nonzero())

    def of(perturbation, level):
        found = perturbation(own, level, 5)
        assert list(found) == list(own)
        return torch.cat([numbers.flatten() for numbers in found.values()])

    assert (of(Gaussian(), 1e-2) - flat).std().item() == pytest.approx(1e-2, rel=0.02)
    assert int((of(Gaussian("nonzero"), 1e-2) != flat).sum()) == ones
    found = Gaussian(module="carry")(own, 1e-2, 5)
    assert {name for name in own if not found[name].equal(own[name])} == {
        "pipeline.carry.weight", "pipeline.carry.bias",
    }  # fmt: skip
    assert int(of(Dropout(), 0.1).count_nonzero()) == pytest.approx(0.9 * ones, rel=0.05)
    pruned = of(Prune(), 0.1)
    assert int(pruned.count_nonzero()) == ones - round(0.1 * ones)
    assert flat[(flat != 0) & (pruned == 0)].abs().max() <= flat[pruned != 0].abs().min()
    flipped = of(Flip(), 3)
    assert int((flipped != flat).sum()) == 3
    assert flipped.abs().equal(flat.abs())
    assert of(Round(), "bfloat16").equal(flat)  # all are short
    assert all(len(numbers.unique()) <= 3 for numbers in Round()(own, "ternary", 0).values())
    with pytest.raises(ValueError, match="rounded to bfloat16, int8, int4, ternary, and 'int3' was given"):
        Round()(own, "int3", 0)


# First failures.


@pytest.mark.parametrize("options", [{}, {"restoring": True}, {"feedback": "token"}, {"adder": "ripple"}])
def test_copies_side_by_side_fail_where_each_fails_alone(options):
    net, words = compiled(**options), ["B()E", "B(("]
    level = {(): 3e-3, ("restoring",): 1e-2}.get(tuple(options), 5e-3 if "feedback" in options else 1e-3)
    stacked = perturbed(net, Gaussian(), level, range(3))
    together = first_failures(net, stacked, words)
    assert any(failure for failures in together for failure in failures)
    for copy_number, failures in enumerate(together):
        alone = changed(net, {name: numbers[copy_number] for name, numbers in stacked.items()})
        for word, failure in zip(words, failures, strict=True):
            (own,) = first_failure(alone, [word])
            assert (own and own[:4]) == (failure and failure[:4])
            if failure:
                assert turing.verify(alone, BALANCED, [word], tolerance=0.5).divergences[0].step <= failure.step


def test_a_failure_by_number_is_where_verify_finds_it():
    net = compiled()
    with torch.no_grad():
        net.pipeline["carry"].bias[3] += 1e-5
    net.forget()
    (failure,) = first_failure(net, ["B()E"], tolerance=1e-6)
    (found,) = turing.verify(net, BALANCED, ["B()E"], tolerance=1e-6).divergences
    assert (failure.step, failure.module, failure.place) == (found.step, found.layer, found.place)
    assert first_failure(net, ["B()E"]) == [None]


def test_deviations_are_zero_without_noise_and_a_restored_offset_dies_at_once():
    net = compiled(restoring=True).double()
    exact = perturbed(net, Gaussian(), 0.0, range(2))
    assert deviations(net, exact, "B()E").abs().max() == 0
    offset = torch.full((2, 1, net.layout.width), 1e-3, dtype=torch.float64)
    assert deviations(net, exact, "B()E", offset=offset).abs().max() == 0
    plain = compiled().double()
    assert deviations(plain, perturbed(plain, Gaussian(), 0.0, [0, 1]), "B()E", offset=offset)[:, 0].min() > 0


def test_copies_are_refused_where_they_cannot_stand_side_by_side():
    net = turing.compile(BALANCED, "perez21")
    with pytest.raises(TypeError, match="Copies run side by side in floats"):
        first_failure(net, ["B()E"])


# Sweeps.


def test_a_sweep_goes_on_where_it_was_stopped(tmp_path, monkeypatch):
    net, path = compiled(), tmp_path / "table.csv"
    whole = sweep(net, Gaussian(), [0.0, 1e-3, 1e-2], range(3), ["B()E", "B(("], path=path, progress=False)
    assert read_table(path) == whole
    assert [row["step"] for row in whole[:6]] == [None] * 6
    assert all(row["step"] for row in whole[12:])
    write_table(path, whole[:7])
    calls = []
    module = __import__("turing.study.sweep", fromlist=["_rows"])
    rows = module._rows
    monkeypatch.setattr(module, "_rows", lambda *given: calls.append(given[2:4]) or rows(*given))
    assert sweep(net, Gaussian(), [0.0, 1e-3, 1e-2], range(3), ["B()E", "B(("], path=path, progress=False) == whole
    assert calls == [(1e-3, [0, 1, 2]), (1e-2, [0, 1, 2])]


def test_an_executor_gives_the_same_table():
    net, given = compiled(), (Gaussian(), [1e-3, 1e-2], range(2), ["B()E"])
    with ThreadPoolExecutor(2) as pool:
        assert sweep(net, *given, executor=pool, progress=False) == sweep(net, *given, progress=False)


DASK = """
import turing
from distributed import Client, LocalCluster
from turing.study import Gaussian, sweep

net = turing.compile(turing.zoo["balanced_parentheses"], "wcm21", T=32, adder="lookahead")
given = Gaussian(), [1e-3, 1e-2], range(2), ["B()E"]
with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
    rows = sweep(net, *given, executor=client.get_executor(), progress=False)
assert rows == sweep(net, *given, progress=False)
print(len(rows), "rows are equal")
"""


@pytest.mark.slow
def test_dasks_local_cluster_is_an_executor(tmp_path):
    assert "4 rows are equal" in run_with("distributed==2026.8.0", DASK, tmp_path)


# Losses and gradients.


@pytest.mark.parametrize("options", [{}, {"adder": "ripple"}, {"restoring": True}, {"feedback": "token"}])
def test_all_columns_at_once_are_the_columns_step_by_step_exactly(options):
    net = compiled(**options)
    given = lesson(net, ["B()E", "B(("])
    with torch.no_grad():
        at_once, one_by_one = forced(net, given), rolled(net, given)
    assert at_once[given.steps].equal(one_by_one[given.steps])
    assert at_once[given.steps].equal(given.targets[given.steps])
    assert accuracy(net, at_once, given) == 1
    assert total(squares(net, at_once, given)) == 0
    assert total(cross_entropy(net, at_once, given)) > 0


def test_gradients_of_a_roll_out_are_finite_differences_away_from_kinks():
    net = compiled(kappa=8.0).double()
    net = changed(net, {name: numbers[0] for name, numbers in perturbed(net, Gaussian(), 1e-2, [4]).items()})
    given = lesson(net, ["B()E"], max_steps=4)
    loss = lambda: total(squares(net, rolled(net, given), given))  # noqa: E731
    own = dict(net.named_parameters())
    slopes = dict(zip(own, torch.autograd.grad(loss(), list(own.values()), allow_unused=True), strict=True))
    places = [(name, k) for name, numbers in own.items() for k in range(numbers.numel())]
    compared = 0
    for number in uniform(9, 0, 400).tolist():
        name, pick = places[int(number * len(places))]
        numbers = own[name]
        slope = slopes[name].flatten()[pick].item()
        if abs(slope) < 1e-3:
            continue
        way = {name: torch.zeros_like(numbers).flatten().index_fill(0, torch.tensor([pick]), 1).view(numbers.shape)}
        sides = [along(net, loss, way, size) for size in (1e-6, -1e-6)]
        assert (sides[0] - sides[1]) / 2e-6 == pytest.approx(slope, rel=1e-4)
        compared += 1
        if compared == 20:
            return
    raise AssertionError(f"only {compared} of 20 parameters have a slope")


# Training.


def test_training_repeats_and_from_damage_the_loss_falls():
    net = compiled()
    start = changed(net, {name: numbers[0] for name, numbers in perturbed(net, Gaussian(), 1e-3, [1]).items()})
    runs = []
    for _ in range(2):
        own = copy.deepcopy(start)
        given = lesson(own, parentheses("all", 1))

        def loss(own=own, given=given):
            return total(squares(own, forced(own, given), given))

        runs.append(train(own, loss, 6, rate=1e-4, note=lambda step, value: value))
    assert runs[0] == runs[1]
    assert runs[0][-1] < runs[0][0] / 2
    assert distance(own, start) > 0


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_squares_do_not_move_what_was_built_and_one_step_of_cross_entropy_does(optimizer):
    net, built = compiled(), compiled()
    given = lesson(net, ["B()E"])
    train(net, lambda: total(squares(net, forced(net, given), given)), 2, optimizer=optimizer)
    assert distance(net, built) == 0
    assert difference(net, built) == []
    train(net, lambda: total(cross_entropy(net, forced(net, given), given)), 1, optimizer=optimizer)
    changes = difference(net, built, 4)
    assert len(changes) == 4
    assert changes[0].parameter.split(".")[0] in net.pipeline


def test_training_refuses_what_it_does_not_know():
    with pytest.raises(ValueError, match="An optimizer is one of sgd, adam, and 'lbfgs' was given"):
        train(compiled(), lambda: torch.zeros(()), 1, optimizer="lbfgs")
    with pytest.raises(ValueError, match="A distribution is one of all, nests, flat, short"):
        parentheses("deep")


# Curvature.


def test_a_smooth_loss_bends_as_autograd_says_and_at_kinks_it_does_not():
    net = compiled().double()
    given = lesson(net, ["B()E"])
    smooth = lambda: sum(((numbers - 1) ** 2).sum() for numbers in net.parameters())  # noqa: E731
    with torch.no_grad():
        for numbers in net.parameters():
            numbers.fill_(1)
    way = direction(net, 3)
    found = bend(net, smooth, way)
    assert found.forward == pytest.approx(found.autograd, rel=1e-6)
    assert found.backward == pytest.approx(found.autograd, rel=1e-6)
    net = compiled().double()
    sharp = bend(net, lambda: total(squares(net, forced(net, given), given)), direction(net, 3))
    assert min(sharp.forward, sharp.backward) > 1.5 * sharp.autograd
    at, relus = kinks(net, lambda: forced(net, given))
    assert 0.4 < at / relus < 0.9


@pytest.mark.parametrize("module", ["detect", "visited"])
def test_a_direction_may_be_that_of_one_module(module):
    net = compiled()
    assert {name.split(".")[1] for name in direction(net, 0, module)} == {module}
