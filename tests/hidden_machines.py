"""Random machines in disguise and damaged, and how many of them are read back: right, refused or wrong."""

from collections import Counter
from functools import cache
from random import Random

import turing
from turing.decompiler import Refusal, bare, damage, decompile, disguise, renaming
from turing.machine import TuringMachine

# right of 200 with the prototypes, by disguise and damage: with the lookahead and with the ripple adder
PROTOTYPES = {
    "permutation": {"exact": (200, 200), "bfloat16": (200, 200), "1e-3": (200, 200), "1e-2": (186, 61), "int8": (200,)},
    "factors": {"exact": (200, 200), "bfloat16": (200, 200), "1e-3": (157, 106), "1e-2": (0, 0), "int8": (0,)},
    "signs": {"exact": (200, 200), "bfloat16": (200, 200), "1e-3": (199, 200), "1e-2": (93, 14), "int8": (109,)},
    "orthogonal": {"exact": (200, 200), "bfloat16": (200, 200), "1e-3": (200, 200), "1e-2": (183, 56), "int8": (200,)},
    "linear": {"exact": (200, 200), "bfloat16": (198, 200), "1e-3": (200, 200), "1e-2": (16, 12), "int8": (58,)},
}
ADDERS = ("lookahead", "ripple")


def machine(seed: str, states: int, symbols: int) -> TuringMachine:
    """All moves, and about one pair in seven without a rule."""
    chance = Random(seed)
    names, alphabet = [f"s{k}" for k in range(states)], ["_", *(f"a{k}" for k in range(1, symbols))]
    delta = {
        (q, a): (chance.choice(names), chance.choice(alphabet), chance.choice((-1, 0, 1)))
        for q in names
        for a in alphabet
        if chance.random() < 0.85 or (q, a) == ("s0", "_")
    }
    idle = set(names) - {q for q, _ in delta}
    return TuringMachine(delta, names[0], idle, "_", alphabet=alphabet)


@cache
def compiled(seed: int, adder: str, states: tuple[int, int], symbols: tuple[int, int], bits: tuple[int, int]):
    """A random machine and its bare network."""
    chance = Random(f"{seed}/sizes")
    found = machine(str(seed), chance.randint(*states), chance.randint(*symbols))
    return found, bare(turing.compile(found, "wcm21", T=2 ** chance.randint(*bits), adder=adder))


def damaged(network, kind: str, seed: int):
    if kind == "exact":
        return network
    return damage(network, "noise", float(kind), seed) if kind[0].isdigit() else damage(network, kind, seed=seed)


def tried(number: int, adder: str, cover: str, harm: str, states=(2, 8), symbols=(2, 6), bits=(2, 7)) -> Counter:
    """How many of so many machines are read back right, refused and wrong."""
    counts: Counter = Counter(right=0, refused=0, wrong=0)
    for seed in range(number):
        source, network = compiled(seed, adder, states, symbols, bits)
        hidden = damaged(disguise(network, cover, seed).network, harm, seed)
        try:
            counts["right" if renaming(decompile(hidden).machine, source) else "wrong"] += 1
        except Refusal:
            counts["refused"] += 1
    return counts
