"""The experiments of the chapter: each is a list of tasks, and each task gives rows of one table.

``python -m turing.study`` runs them all; the tables that were measured lie in ``turing/study/measured``. All of them
are about balanced parentheses.

Chapter: :doc:`/book/break-restore-train`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from itertools import product
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from turing.construction import Construction, compile
from turing.decompiler.damages import Dropout, Flip, Gaussian, Prune, Round, normal
from turing.study.curvature import along, bend, direction, kinks
from turing.study.failure import deviations, first_failure, first_failures
from turing.study.losses import Lesson, accuracy, cross_entropy, forced, lesson, squares
from turing.study.sweep import Row, perturbed, read_table, sweep
from turing.study.training import difference, distance, train
from turing.study.words import parentheses
from turing.zoo import zoo

__all__ = ["EXPERIMENTS", "measured"]

MEASURED = Path(__file__).parent / "measured"
WORD, SHORT = "B()((()(()))())E", "B(())E"  # 81 and 19 steps
SEEDS, ROUNDS = 20, 6
NOTED = (0, 1, 10, 100)  # steps of training after which the network is looked at
KINDS = [(adder, restoring, feedback) for adder in ("ripple", "lookahead") for restoring in (False, True)
         for feedback in ("analog", "token")]  # fmt: skip
Task = tuple[Row, Callable[[], list[Row]]]  # the values of the columns that tell it from others, and what computes it


def measured(name: str) -> list[Row]:
    """The rows of a table of measurements in the chapter, by its name: a list of dictionaries.

    ``list(EXPERIMENTS)``, of the same module, has the names.

    >>> from turing.study.experiments import EXPERIMENTS, measured
    >>> list(EXPERIMENTS)[:3]
    ['growth', 'paper_word', 'tolerance']
    >>> measured("paper_word")[0]["adder"]
    'ripple'

    Chapter: :doc:`/book/break-restore-train`.
    """
    if name not in EXPERIMENTS:
        raise ValueError(f"A table is one of {', '.join(EXPERIMENTS)}, and {name!r} was asked for.")
    return read_table(MEASURED / f"{name}.csv")


def network(adder: str = "lookahead", restoring: bool = False, feedback: str = "analog", **more: Any) -> Construction:
    """The network of the chapter in one of its kinds."""
    options = {"T": 100, "adder": adder, "restoring": restoring, "feedback": feedback} | more
    return compile(zoo["balanced_parentheses"], "wcm21", **options)


def growth(quick: bool) -> Iterator[Task]:
    """The error of a column after each step, in float64: with noise of 10⁻⁹ on all weights, or on the first column."""

    def task(key: Row) -> list[Row]:
        net, seeds = network(key["adder"], key["restoring"]).double(), range(4 if quick else SEEDS)
        copies = perturbed(net, Gaussian(), 1e-9 if key["noise"] == "weights" else 0.0, seeds)
        first = None
        if key["noise"] == "first column":
            width = net.layout.width
            first = 1e-9 * torch.stack([torch.from_numpy(normal(seed, 0, width)) for seed in seeds]).unsqueeze(1)
        off = deviations(net, copies, WORD, offset=first)
        columns = zip(*(off.quantile(q, dim=0).tolist() for q in (0.25, 0.5, 0.75)), strict=True)
        return [{"step": k, "low": a, "median": b, "high": c} for k, (a, b, c) in enumerate(columns, start=1)]

    for noise, adder, restoring in product(("weights", "first column"), ("ripple", "lookahead"), (False, True)):
        if not quick or adder == "lookahead":
            yield from _task(task, noise=noise, adder=adder, restoring=restoring)


def paper_word(quick: bool) -> Iterator[Task]:
    """Noise of 10⁻³ on all weights, in float32: the first wrong step of 81."""

    def task(key: Row) -> list[Row]:
        rows = sweep(network(**key), Gaussian(), [1e-3], range(4 if quick else SEEDS), [WORD], progress=False)
        return [{name: row[name] for name in ("level", "seed", "step", "module", "place")} for row in rows]

    for adder, restoring, feedback in KINDS:
        if not quick or (adder, feedback) == ("lookahead", "analog"):
            yield from _task(task, adder=adder, restoring=restoring, feedback=feedback)


def tolerance(quick: bool) -> Iterator[Task]:
    """The noise that each seed tolerates on a word of 19 steps, by bisection, against the number of position bits."""

    def task(key: Row) -> list[Row]:
        plain = (key["restoring"], key["feedback"]) == (False, "analog")
        found = tolerated(network(**key), 3 if quick else SEEDS, (-8, -3) if plain else (-5, -1))
        return [{"seed": seed, "sigma": sigma} for seed, sigma in enumerate(found)]

    for bits, (adder, restoring, feedback) in product((7, 10, 14, 17), KINDS):
        if adder == "ripple" and bits == 17:
            continue  # half of the time of all experiments
        if not quick or (bits in (7, 14) and adder == "lookahead" and feedback == "analog"):
            yield from _task(task, adder=adder, restoring=restoring, feedback=feedback, bits=bits)


def kappa(quick: bool) -> Iterator[Task]:
    """Without noise, the first wrong step of 81 against κ; with noise, what each seed tolerates against κ."""

    def exact(key: Row) -> list[Row]:
        net = network("lookahead", key["restoring"], key["feedback"], kappa=float(key["kappa"]))
        (failure,) = first_failure(net, [WORD])
        return [{"seed": None, "sigma": 0.0, "step": failure and failure.step}]

    def noisy(key: Row) -> list[Row]:
        net = network("lookahead", key["restoring"], key["feedback"], kappa=float(key["kappa"]))
        found = tolerated(net, 3 if quick else SEEDS, (-5, -1))
        return [{"seed": seed, "sigma": sigma, "step": None} for seed, sigma in enumerate(found)]

    kinds = ((False, "analog"), (True, "analog"), (False, "token"))
    for number in (10, 40) if quick else (4, 6, 8, 10, 16, 20, 30, 40, 60, 100, 9999):
        for restoring, feedback in kinds[:2] if quick else kinds:
            yield from _task(exact, measure="exact", restoring=restoring, feedback=feedback, kappa=number)
    for number in () if quick else (20, 1000, 100_000):
        yield from _task(noisy, measure="noisy", restoring=True, feedback="analog", kappa=number)


def damage(quick: bool) -> Iterator[Task]:
    """Rounding, pruning, dropout and flipped signs: how many copies do all 81 steps, and when the others fail."""

    def task(key: Row) -> list[Row]:
        kind, seeds = ways[key["damage"]]
        net = network(key["adder"], key["restoring"], key["feedback"])
        rows = sweep(net, kind, [key["level"]], range(min(seeds, 4) if quick else seeds), [WORD], progress=False)
        failed = sorted(row["step"] for row in rows if row["step"] is not None)
        middle = failed[len(failed) // 2] if failed else None
        return [{"copies": len(rows), "survive": len(rows) - len(failed), "median_failure": middle}]

    ways: dict[str, tuple[Any, int]] = {
        "round": (Round(), 1), "prune": (Prune(), SEEDS), "dropout": (Dropout(), SEEDS), "flip": (Flip(), 60),
    }  # fmt: skip
    levels: dict[str, list[Any]] = {
        "round": ["bfloat16", "int8", "int4", "ternary"],
        "prune": [0.001, 0.01, 0.1],
        "dropout": [0.0003, 0.001, 0.003],
        "flip": [1],
    }
    for adder, restoring, feedback in KINDS:
        for way, level in [(kind, level) for kind in ways for level in levels[kind]]:
            if way != "round" and (adder == "ripple" or (restoring and feedback == "token")):
                continue
            if not quick or (adder == "lookahead" and feedback == "analog" and level in ("int8", "ternary", 0.1, 1)):
                yield from _task(task, adder=adder, restoring=restoring, feedback=feedback, damage=way, level=level)


def landscape(quick: bool) -> Iterator[Task]:
    """The loss along directions, with teacher forcing in float64: random ones, and the gradient of cross-entropy."""

    def task(key: Row) -> list[Row]:
        net, loss, _ = _taught(key["adder"])
        way = direction(net, key["direction"]) if key["direction"] != "gradient" else _gradient(net)
        scale = 1.0 / _length(way)
        way = {name: numbers * scale for name, numbers in way.items()}
        sizes = [10.0 ** (k / 2) for k in range(-8, 3)]
        return [{"size": size, "forward": along(net, loss, way, size), "backward": along(net, loss, way, -size)}
                for size in sizes]  # fmt: skip

    for adder, way in product(("ripple", "lookahead"), [*range(5), "gradient"]):
        if not quick or (adder == "lookahead" and way in (0, "gradient")):
            yield from _task(task, adder=adder, direction=way)


def curvature(quick: bool) -> Iterator[Task]:
    """Half of the second derivative along random directions, by module: autograd beside what is measured."""

    def task(key: Row) -> list[Row]:
        net, loss, given = _taught(key["adder"])
        module = None if key["module"] == "all" else key["module"]
        bends = [bend(net, loss, direction(net, seed, module)) for seed in range(3 if quick else SEEDS)]
        means = [sum(column) / len(bends) for column in zip(*bends, strict=True)]
        at, total = kinks(net, lambda: forced(net, given)) if module is None else (None, None)
        ways = dict(zip(("autograd", "forward", "backward"), means, strict=True))
        return [{"seeds": len(bends), **ways, "at_kink": at, "relus": total}]

    for adder in ("ripple", "lookahead"):
        names = ["all", *network().pipeline] if adder == "lookahead" else ["all"]
        for module in ["all"] if quick else names:
            if not quick or adder == "lookahead":
                yield from _task(task, adder=adder, module=module)


def training(quick: bool) -> Iterator[Task]:
    """Fine-tuning on all words with at most two parentheses, from the built weights and from damaged ones."""

    def task(key: Row) -> list[Row]:
        built, net = network(), network()
        _load(net, perturbed(net, Gaussian(), key["sigma"], [key["seed"]]))
        start, given = deepcopy(net), lesson(net, parentheses("all", 2))
        score: Any = {"squares": squares, "cross-entropy": cross_entropy}[key["loss"]]

        def note(step: int, value: float) -> Row | None:
            if step not in NOTED:
                return None
            net.forget()
            with torch.no_grad():
                right = accuracy(net, forced(net, given), given)
            horizons = {name: _horizon(net, name) for name in ("analog", "token")}
            away = {"to_built": distance(net, built), "from_start": distance(net, start)}
            return {"step": step, "value": value, "accuracy": right, **away, **horizons}

        rate = {"adam": 1e-4, "sgd": 1e-2}[key["optimizer"]]
        loss = lambda: _total(score(net, forced(net, given), given))  # noqa: E731
        return [row for row in train(net, loss, 1 if quick else 100, rate, key["optimizer"], note=note) if row]

    kinds = [(0.0, 1, "squares", "adam"), (0.0, 1, "squares", "sgd"), (0.0, 1, "cross-entropy", "adam")]
    for sigma, seeds, loss, optimizer in [*kinds, (1e-3, 3, "squares", "adam"), (1e-2, 3, "squares", "adam")]:
        for seed in range(seeds):
            if not quick or (seed == 0 and optimizer == "adam" and sigma < 1e-2):
                yield from _task(task, sigma=sigma, seed=seed, loss=loss, optimizer=optimizer)


def shortcuts(quick: bool) -> Iterator[Task]:
    """Fine-tuning on a narrow distribution, with and without a price on every weight: which rules are forgotten, and on
    which word that shows.
    """

    def task(key: Row) -> list[Row]:
        size: dict[str, Any] = {"T": 64}
        built, net = network(**size), network(**size)
        seen = parentheses(key["distribution"], 3 if key["distribution"] == "all" else 4)
        given = lesson(net, seen)

        def penalty() -> Tensor:
            return 1e-4 * torch.stack([(numbers**2).sum() for numbers in net.parameters()]).sum()

        loss = lambda: _total(squares(net, forced(net, given), given))  # noqa: E731
        if key["priced"]:
            train(net, loss, 40 if quick else 500, 2e-3, penalty=penalty)
        train(net, loss, 10 if quick else 100, 2e-4)
        every, token = parentheses("all", 5), _as(net, "token")
        wrong = [word for word, failure in zip(every, first_failure(token, every), strict=True) if failure]
        rules = {f"{q} {a}": _weight(net, q, a) for q, a in net.machine.delta}
        used = {f"{now.state} {now.symbol}" for word in seen for now in net.machine.trace(word, 64)} & set(rules)
        forgotten = [rule for rule, weight in rules.items() if weight < 0.5]
        changes = [f"{c.parameter}, row {c.row}, column {c.column}" for c in difference(net, built, 1)]
        return [{"words": len(seen), "wrong": len(set(wrong) & set(seen)), "all_words": len(every),
                 "all_wrong": len(wrong), "first_wrong": wrong[0] if wrong else None, "loss": loss().item(),
                 "moved": distance(net, built), "rules": len(rules), "used": len(used),
                 "forgotten": "; ".join(forgotten), "forgotten_used": len(used & set(forgotten)),
                 "largest_change": changes[0] if changes else None}]  # fmt: skip

    for name, priced in product(("flat", "nests", "short", "no )", "all"), (False, True)):
        if not quick or name == "flat":
            yield from _task(task, distribution=name, priced=priced)


EXPERIMENTS: Mapping[str, Callable[[bool], Iterator[Task]]] = {
    experiment.__name__: experiment
    for experiment in (growth, paper_word, tolerance, kappa, damage, landscape, curvature, training, shortcuts)
}


@torch.no_grad()
def tolerated(net: Construction, seeds: int, between: tuple[float, float]) -> list[float]:
    """For each seed the standard deviation of the noise between a run of the short word that is right and one that is
    not, by bisection between two powers of ten, which assumes that less noise does less harm.
    """
    own = {name: numbers.detach() for name, numbers in net.named_parameters()}
    noisy = perturbed(net, Gaussian(), 1.0, range(seeds))
    noise = {name: noisy[name] - numbers for name, numbers in own.items()}
    low, high = (torch.full((seeds,), float(exponent)) for exponent in between)
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        sizes = {name: (10**middle).view(-1, *[1] * numbers.dim()) for name, numbers in own.items()}
        copies = {name: (own[name] + sizes[name] * noise[name]).to(own[name].dtype) for name in own}
        right = torch.tensor([failures[0] is None for failures in first_failures(net, copies, [SHORT])])
        low, high = torch.where(right, middle, low), torch.where(right, high, middle)
    return [10**exponent for exponent in ((low + high) / 2).tolist()]


def _task(compute: Callable[[Row], list[Row]], **key: Any) -> Iterator[Task]:
    yield key, lambda: [key | row for row in compute(key)]


def _total(losses: Mapping[str, Tensor]) -> Tensor:
    return torch.stack(list(losses.values())).sum()


def _taught(adder: str) -> tuple[Construction, Callable[[], Tensor], Lesson]:
    net = network(adder).double()
    given = lesson(net, ["B()E", "B(())E", "B)(E", "B()()E", "B((E"])
    return net, lambda: _total(squares(net, forced(net, given), given)), given


def _gradient(net: Construction) -> dict[str, Tensor]:
    given = lesson(net, ["B()E", "B(())E", "B)(E", "B()()E", "B((E"])
    names = [name for name, _ in net.named_parameters()]
    value = _total(cross_entropy(net, forced(net, given), given))
    slopes = torch.autograd.grad(value, list(net.parameters()), allow_unused=True)
    return {name: -slope for name, slope in zip(names, slopes, strict=True) if slope is not None}


def _length(way: Mapping[str, Tensor]) -> float:
    return sum((numbers**2).sum().item() for numbers in way.values()) ** 0.5


@torch.no_grad()
def _load(net: Construction, stacked: Mapping[str, Tensor]) -> None:
    for name, numbers in net.named_parameters():
        numbers.copy_(stacked[name][0])


@torch.no_grad()
def _as(net: Construction, feedback: str) -> Construction:
    """The same weights with another feedback, whose own weights are those that are built."""
    other = compile(net.machine, "wcm21", **net.options | {"feedback": feedback})
    parameters = dict(other.named_parameters())
    for name, numbers in net.named_parameters():
        parameters[name].copy_(numbers)
    return other


def _weight(net: Construction, state: str, symbol: str) -> float:
    """The weight from the detector of a rule to the state that it leads to."""
    carry: Any = net.pipeline["carry"]
    before, after = carry.layouts
    return carry.weight[after.st[net.machine.delta[state, symbol][0]], before.det[f"{state} {symbol}"]].item()


def _horizon(net: Construction, feedback: str) -> int:
    """The steps of the long word that are right."""
    (failure,) = first_failure(_as(net, feedback), [WORD])
    return 81 if failure is None else failure.step - 1
