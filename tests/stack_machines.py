"""Stack machines for the tests of SS95: random ones, three to know, and numbers of stacks by hand."""

from fractions import Fraction
from itertools import product

from hypothesis import strategies as st

from turing.stack import StackMachine

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
    """Stacks to begin with."""
    stack = st.lists(st.sampled_from(machine.symbols), max_size=longest).map(tuple)
    return st.tuples(*[stack] * machine.p)


def number(stack, symbols, base: int, digits) -> Fraction:
    """The number of a stack, by the sum and not by pushes."""
    return sum((Fraction(digits[symbols.index(a)], base**i) for i, a in enumerate(stack, start=1)), Fraction(0))


# With one stack: the word is on it.
PARITY = {
    ("even", "0"): ("even", "pop"), ("even", "1"): ("odd", "pop"), ("even", None): ("T", "noop"),
    ("odd", "0"): ("odd", "pop"), ("odd", "1"): ("even", "pop"), ("odd", None): ("F", "noop"),
}  # fmt: skip

# With three: stack 0 goes to stack 1, which turns it round, and from there to stacks 0 and 2, so that 2 is a copy.
COPY = {
    ("there", "0", "*", "*"): ("there", "pop", "push 0", "noop"),
    ("there", "1", "*", "*"): ("there", "pop", "push 1", "noop"),
    ("there", None, "*", "*"): ("back", "noop", "noop", "noop"),
    ("back", "*", "0", "*"): ("back", "push 0", "pop", "push 0"),
    ("back", "*", "1", "*"): ("back", "push 1", "pop", "push 1"),
    ("back", "*", None, "*"): ("done", "noop", "noop", "noop"),
}
