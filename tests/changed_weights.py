"""Networks with changed weights, and all that a small machine can do, for the tests of ``turing.prove``."""

from collections.abc import Iterator
from itertools import product
from random import Random

import torch

import turing
from turing.machine import TuringMachine
from turing.proof import Proof
from turing.proof.search import Start, divergence, parts

CHANGES = (
    lambda value, draw: 0,
    lambda value, draw: value + 1,
    lambda value, draw: value - 1,
    lambda value, draw: -value,
    lambda value, draw: 2 * value,
    lambda value, draw: draw.randint(-3, 3),
)
FINE = (
    lambda value, draw: value + draw.choice((-1, 1)) / 2,
    lambda value, draw: value + draw.choice((-1, 1)) / 8,
    lambda value, draw: value + draw.choice((-1, 1)) / 1024,
)


def small(draw: Random, most: int = 4) -> TuringMachine:
    """2 to ``most`` states and two symbols, with all moves and a few rules missing."""
    states = "ABCD"[: draw.randint(2, most)]
    delta = {
        (q, a): (draw.choice([*states, *states, "H"]), draw.choice("_1"), draw.choice((-1, 0, 1)))
        for q in states
        for a in "_1"
        if draw.random() < 0.95
    }
    delta["A", "_"] = ("B", "1", 1)
    return TuringMachine(delta, "A", {"H"}, "_")


def change(network: turing.Construction, draw: Random, count: int) -> list[tuple]:
    """Change so many weights, those that are not 0 more often than others, and say which."""
    parameters, made = dict(network.named_parameters()), []
    changes = CHANGES if network.arithmetic == "exact" else CHANGES + FINE
    for _ in range(count):
        name = draw.choice(list(parameters))
        numbers = parameters[name]
        places = numbers.nonzero().tolist() if draw.random() < 0.6 else []
        place = tuple(draw.choice(places) if places else map(draw.randrange, numbers.shape))
        before = numbers[place].item()
        with torch.no_grad():
            numbers[place] = draw.choice(changes)(before, draw)
        made.append((name, place, before, numbers[place].item()))
    network.forget()
    return made


def changed(number: int, seed: int, construction: str, **options) -> Iterator[tuple]:
    """Networks of small machines with one to three weights changed, and which."""
    draw = Random(seed)
    for _ in range(number):
        machine = small(draw)
        adder = {"adder": draw.choice(("ripple", "lookahead"))} if construction == "wcm21" else {}
        network = turing.compile(machine, construction, **options, **adder)
        yield network, change(network, draw, draw.choice((1, 1, 1, 2, 3)))


def starts(machine: TuringMachine, longest: int = 4) -> list[Start]:
    """Every state on every cell of every word up to that length, and on the cells next to it."""
    going = [q for q in machine.states if q not in machine.halting]
    words = [word for n in range(longest + 1) for word in product(machine.symbols, repeat=n)]
    return [Start(q, head, word) for word in words for q in going for head in range(-1, len(word) + 1)]


def confirm(proof: Proof) -> None:
    """A word is confirmed by running it, and everything else says what it is."""
    if proof.verdict == "undecided":
        assert proof.counterexample is None
        assert proof.reason
        return
    example, network, machine = proof.counterexample, proof.network, proof.machine
    if example.level == "word":
        assert parts(network, machine, example.word, example.step) is not None
        assert f"at step {example.step}" in str(proof)
        return
    assert example.level in ("configuration", "columns")
    assert example.level in str(proof)
    if example.level == "configuration" and network.construction == "wcm21":
        start = Start(example.state, example.head, tuple(example.word))
        assert divergence(network, machine, [start], example.step) == (start, example.step)
