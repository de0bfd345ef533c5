"""For the tests of SS95: stack machines, words, numbers of stacks by hand, and checks that a network is right."""

from fractions import Fraction
from itertools import product
from random import Random

import torch
from hypothesis import strategies as st

from turing.ss import StackNetwork
from turing.stack_machine import StackMachine

ONE_LAYER = {1: (8, (3, 7)), 2: (16, (11, 15)), 3: (32, (25, 31))}  # dyadic bases, by the number of stacks


@st.composite
def stack_machines(draw, most_stacks: int = 3) -> StackMachine:
    """1 to 3 stacks and 1 to 4 states, with rules for most of the configurations; two states of five may halt."""
    p, states = draw(st.integers(1, most_stacks)), "ABCD"[: draw(st.integers(1, 4))]
    keys = [(q, *tops) for q in states for tops in product((None, "0", "1"), repeat=p)]
    target = st.sampled_from(states * 6 + "T")
    operation = st.sampled_from(["noop", "pop", "push 0", "push 1", "push 0", "push 1"])
    value = st.tuples(target, *[operation] * p)
    delta = dict(zip(keys, draw(st.lists(value, min_size=len(keys), max_size=len(keys))), strict=True))
    for key in draw(st.sets(st.sampled_from(keys[1:]), max_size=len(keys) // 8)):
        del delta[key]
    return StackMachine(delta, states[0], {"T"})


def stacks_for(machine: StackMachine, longest: int = 5):
    """Stacks for a run to begin with."""
    stack = st.lists(st.sampled_from(machine.symbols), max_size=longest).map(tuple)
    return st.tuples(*[stack] * machine.p)


def number(stack, symbols, base: int, digits) -> Fraction:
    """The number of a stack, as a sum instead of by pushes."""
    return sum((Fraction(digits[symbols.index(a)], base**i) for i, a in enumerate(stack, start=1)), Fraction(0))


# With one stack, which holds the word.
PARITY = {
    ("even", "0"): ("even", "pop"), ("even", "1"): ("odd", "pop"), ("even", None): ("T", "noop"),
    ("odd", "0"): ("odd", "pop"), ("odd", "1"): ("even", "pop"), ("odd", None): ("F", "noop"),
}  # fmt: skip

# With three stacks: stack 0 moves to stack 1, which reverses it, and from there to stacks 0 and 2, so 2 is a copy.
COPY = {
    ("there", "0", "*", "*"): ("there", "pop", "push 0", "noop"),
    ("there", "1", "*", "*"): ("there", "pop", "push 1", "noop"),
    ("there", None, "*", "*"): ("back", "noop", "noop", "noop"),
    ("back", "*", "0", "*"): ("back", "push 0", "pop", "push 0"),
    ("back", "*", "1", "*"): ("back", "push 1", "pop", "push 1"),
    ("back", "*", None, "*"): ("done", "noop", "noop", "noop"),
}


def words(longest: int, shortest: int = 0, alphabet: str = "()") -> list[str]:
    lengths = range(shortest, longest + 1)
    return ["".join(word) for n in lengths for word in product(alphabet, repeat=n)]


def long_words(length: int, count: int) -> list[str]:
    """Words that are read to the end: simple ones, and random ones that never close a parenthesis too early."""
    draw, half = Random(length), length // 2
    found = ["(" * length, ("(" * half + ")" * half + "(")[:length], ("()" * length)[:length]]
    while len(found) < count:
        word, depth = "", 0
        for _ in range(length):
            word += "(" if depth == 0 or draw.random() < 0.5 else ")"
            depth += 1 if word[-1] == "(" else -1
        found.append(word)
    return found


def leaves(net: StackNetwork, vectors):
    """The column that remains after a step."""
    return vectors[list(net.layers)[-1]]


class Exact:
    """The number of a stack, kept by hand while the interpreter pushes and pops."""

    def __init__(self, net: StackNetwork, stack: tuple[str, ...]):
        self.base, self.digits = net.code.base, dict(zip(net.machine.symbols, net.code.digits, strict=True))
        self.values = [Fraction(0)]
        for symbol in reversed(stack):
            self.push(symbol)
        if len(stack) < 40:
            assert self.values[-1] == number(stack, net.machine.symbols, self.base, net.code.digits)

    def push(self, symbol: str) -> None:
        self.values.append((self.digits[symbol] + self.values[-1]) / self.base)

    def follow(self, stack: tuple[str, ...]) -> Fraction:
        if len(stack) == len(self.values):
            self.push(stack[0])
        elif len(stack) == len(self.values) - 2:
            self.values.pop()
        assert len(stack) == len(self.values) - 1
        return self.values[-1]


def right(net: StackNetwork, *stacks, limit: int = 100_000) -> tuple[int, int]:
    """Compare states and stack values with the interpreter at every step; return how many, and the bits of a stack."""
    moments, follow = net.machine.trace(*stacks, max_steps=limit), net.follow(*stacks)
    now = next(moments)
    exact = [Exact(net, stack) for stack in now.stacks]
    bits = max(one.values[-1].denominator.bit_length() for one in exact)
    for now in moments:
        vectors, reading = next(follow)
        assert reading.state == now.state
        expected = tuple(one.follow(stack) for one, stack in zip(exact, now.stacks, strict=True))
        assert net.stacks(leaves(net, vectors)) == expected  # Python compares a float with a fraction exactly
        bits = max(bits, *(value.denominator.bit_length() for value in expected))
    return now.step, bits - 1


def right_at_once(net: StackNetwork, tried: list[str]) -> int:
    """The same with forward alone, on all words as one batch; return how many steps were compared."""
    runs, values = [list(net.machine.trace(word)) for word in tried], {}
    for stack in {stack for run in runs for now in run for stack in now.stacks}:
        values[stack] = float(number(stack, net.machine.symbols, net.code.base, net.code.digits))
    compared, x = 0, torch.tensor([net.initial(word) for word in tried], dtype=next(net.parameters()).dtype)
    if net.version == 4:
        states, places = net.machine.states, list(net.layout.st)
    else:
        states, places = [kind[0] for kind in net.classes], list(net.layout.det)[:: 3**net.machine.p]
    for step in range(1, max(map(len, runs))):
        with torch.no_grad():
            x = net(x)
        going = [n for n, run in enumerate(runs) if len(run) > step]
        nows, found = [runs[n][step] for n in going], x[going].double()
        expected = [[values[stack] for stack in now.stacks] for now in nows]
        assert torch.equal(torch.stack(net.stacks(found.T), dim=1), torch.tensor(expected, dtype=torch.float64))
        assert [states[n] for n in found[:, places].argmax(1)] == [now.state for now in nows]
        assert torch.equal(found[:, places].sum(1), torch.ones(len(going), dtype=torch.float64))
        compared += len(going)
    return compared


def layer_by_layer(net: StackNetwork, stacks, limit: int) -> tuple[Fraction, int]:
    """The greatest difference of any number in any layer from the expected one, and how many were compared."""
    names = {name: layer.layouts[1].names() for name, layer in net.layers.items()}
    moments, worst, compared = net.machine.trace(*stacks, max_steps=limit), Fraction(0), 0
    for expected, vectors in zip(net.expected(moments), net.steps(net.initial(*stacks)), strict=False):
        for name, wanted in expected.items():
            for place, found in zip(names[name], vectors[name], strict=True):
                if found != wanted.get(place, 0):
                    worst = max(worst, abs(Fraction(found) - Fraction(wanted.get(place, 0))))
            compared += len(names[name])
    return worst, compared
