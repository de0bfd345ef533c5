"""Machines for the tests of the networks: random ones, walkers, and when a network is full, found by hand."""

from collections.abc import Iterator
from random import Random

from hypothesis import strategies as st

from turing.machine import TuringMachine

NAMES = "ABCDEF"
SYMBOLS = "_0123"


@st.composite
def machines(draw, most_states: int = 6, most_symbols: int = 5) -> TuringMachine:
    """2 to 6 states, 2 to 5 symbols, all three moves; some pairs have no rule, and at most one rule halts."""
    states = NAMES[: draw(st.integers(2, most_states))]
    symbols = SYMBOLS[: draw(st.integers(2, most_symbols))]
    halting = states[-1] if draw(st.booleans()) else ""
    going = [q for q in states if q != halting]
    pairs = [(q, a) for q in going for a in symbols]
    rule = st.tuples(st.sampled_from(going), st.sampled_from(symbols), st.sampled_from([-1, 1, -1, 1, 0]))
    delta = dict(zip(pairs, draw(st.lists(rule, min_size=len(pairs), max_size=len(pairs))), strict=True))
    for pair in draw(st.sets(st.sampled_from(pairs[1:]), max_size=len(pairs) // 3)):
        del delta[pair]
    if halting:
        delta[draw(st.sampled_from(list(delta)))] = (halting, symbols[0], draw(st.sampled_from([-1, 0, 1])))
    return TuringMachine(delta, states[0], set(halting), "_", alphabet=symbols)


@st.composite
def machines_and_words(draw, words: int = 3, longest: int = 8, **sizes) -> tuple[TuringMachine, list[tuple[str, ...]]]:
    machine = draw(machines(**sizes))
    word = st.lists(st.sampled_from(machine.symbols), max_size=longest).map(tuple)
    return machine, draw(st.lists(word, min_size=words, max_size=words))


def has_all_moves(machine_and_words: tuple[TuringMachine, list]) -> bool:
    """Whether the machine moves both ways and stays."""
    return {move for _, _, move in machine_and_words[0].delta.values()} == {-1, 0, 1}


def walker(move: int) -> TuringMachine:
    """A machine that walks in one direction for ever and writes a symbol that depends on the one it reads."""
    return TuringMachine(
        {("go", "_"): ("go", "x", move), ("go", "a"): ("go", "b", move), ("go", "x"): ("lost", "x", 0)}, "go", {"lost"},
        "_", alphabet="abx",
    )  # fmt: skip


def full(machine: TuringMachine, word, bits: int, limit: int) -> int | None:
    """The first step at which two cells have the same position bits, found by looking at all of them."""
    for now in machine.trace(word, limit):
        cells = set(now.cells) | {now.head}
        if len({cell % 2**bits for cell in cells}) < len(cells):
            return now.step
    return None


def numbered(configurations) -> list[tuple]:
    """The configurations of a trace as plain values, each read at its own moment."""
    return [(now.step, now.state, now.head, now.symbol, now.tape) for now in configurations]


def random_machines(number: int, seed: int = 0) -> Iterator[tuple[TuringMachine, str]]:
    """Machines of 2 to 5 states and symbols with all three moves and a few rules missing, each with a word."""
    chance = Random(seed)
    for _ in range(number):
        states, symbols = "ABCDE"[: chance.randint(2, 5)], "_1234"[: chance.randint(2, 5)]
        delta = {
            (q, a): (chance.choice([*states, "H"]), chance.choice(symbols), chance.choice((-1, 0, 1)))
            for q in states
            for a in symbols
            if chance.random() < 0.95
        }
        delta[states[0], symbols[0]] = (states[1], symbols[1], 1)
        word = "".join(chance.choice(symbols) for _ in range(chance.randint(0, 6)))
        yield TuringMachine(delta, states[0], {"H"}, symbols[0]), word
