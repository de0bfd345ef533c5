"""The exercises of the chapter SS95: a layer, a stack machine, and a count."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

from turing.arguments import count
from turing.exercises import Wrong
from turing.exercises.cantor import named, sigma, stacks, value
from turing.exercises.functions import called, given_function
from turing.exercises.machines import words
from turing.exercises.weights import _short_repr, numbers
from turing.machine import TuringMachine
from turing.stack_machine import StackMachine, TwoStacks
from turing.zoo import zoo

if TYPE_CHECKING:
    from turing.ss import StackNetwork

BASE, DIGITS = 4, (1, 3)  # of the layer
INPUTS = ("x", "some", "one", "noop", "push0", "push1", "pop")
OPERATIONS = INPUTS[3:]
DEEP = 12  # symbols in a float32, in base 4
MAX_STEPS = 1000


def has_letters(machine: StackMachine, letters: str) -> None:
    if set(machine.symbols) != set(letters):
        raise Wrong(
            f"The words are over {' and '.join(letters)}, and the symbols of your machine are "
            f"{' and '.join(machine.symbols)}."
        )


def decides(device: StackMachine | StackNetwork, word: str, accepted: bool, noun: str) -> None:
    """Check that the device halts on the word in T or F, as it should."""
    where, expected = f"For word={word}" if word else "For the empty word", "T" if accepted else "F"
    try:
        run = device.run(word, max_steps=MAX_STEPS)
    except ArithmeticError as error:
        raise Wrong(f"{where} your {noun} stops with {type(error).__name__}: {error}") from None
    if run.status == "limit":
        raise Wrong(f"{where} your {noun} is still running after {MAX_STEPS:,} steps.")
    if run.status == "jammed":
        tops = ", ".join(stack[0] if stack else "nothing" for stack in run.stacks)
        raise Wrong(
            f"{where} your {noun} jams after {count(run.steps, 'step')} in state {run.state}, with {tops} on top."
        )
    if run.state != expected:
        raise Wrong(
            f"{where} your {noun} halts in {run.state} after {count(run.steps, 'step')}; {expected} was expected."
        )


def gated_stack(answer: object) -> str:
    """Four saturated neurons: the stack after each operation if that operation is to be done, otherwise 0."""
    layers = numbers(answer)
    if len(layers) != 1:
        raise Wrong(f"{len(layers)} layers are used, and one was asked for: return [(W, b)].")
    ((W, b),) = layers
    if (len(b), len(W[0])) != (len(OPERATIONS), len(INPUTS)):
        raise Wrong(
            f"W has {count(len(b), 'row')} and {count(len(W[0]), 'column')}; "
            f"{len(OPERATIONS)} and {len(INPUTS)} were expected."
        )
    tried = list(stacks(6))
    exact = [([*map(Fraction, row)], Fraction(bias)) for row, bias in zip(W, b, strict=True)]
    for stack, done in product(tried, OPERATIONS):
        x = _given(stack, done)
        for name, (row, bias) in zip(OPERATIONS, exact, strict=True):
            found = sigma(bias + sum(w * part for w, part in zip(row, x, strict=True)))
            _right(stack, done, name, found, "")
    deep = _in_float32(W, b)
    return f"all {len(tried)} stacks up to length 6, and {deep:,} as deep as float32 holds"


def _given(stack: tuple[int, ...], done: str) -> list[Fraction]:
    operations = [Fraction(done == name) for name in OPERATIONS]
    return [value(stack, BASE, DIGITS), Fraction(bool(stack)), Fraction(stack[:1] == (1,)), *operations]


def _wanted(stack: tuple[int, ...], done: str, name: str) -> Fraction:
    after = {"noop": stack, "push0": (0, *stack), "push1": (1, *stack), "pop": stack[1:]}[name]
    return value(after, BASE, DIGITS) if name == done else Fraction(0)


def _right(stack: tuple[int, ...], done: str, name: str, found: Fraction | float, where: str) -> None:
    wanted = _wanted(stack, done, name)
    if found != wanted:
        neuron = "its neuron" if name == done else f"the neuron of {name}"
        given, expected = (f"{float(x):.10g}" if where else str(x) for x in (found, wanted))
        raise Wrong(f"For do={done} stack={named(stack)}{where} {neuron} gives {given}; {expected} was expected.")


def _in_float32(W: list[list[float]], b: list[float]) -> int:
    """Try all stacks that after the operation are as deep as float32 holds; terms are added in order, the bias last."""
    import torch

    tried = 0
    for done in OPERATIONS:
        length = DEEP - done.startswith("push")
        deep = list(product((0, 1), repeat=length))
        x = torch.tensor([[float(part) for part in _given(stack, done)] for stack in deep], dtype=torch.float32)
        for name, row, bias in zip(OPERATIONS, W, b, strict=True):
            z = torch.zeros(len(deep), dtype=torch.float32)
            for w, column in zip(row, x.T, strict=True):
                z = z + w * column
            found = (z + bias).clamp(0, 1)
            wanted = torch.tensor([float(_wanted(stack, done, name)) for stack in deep], dtype=torch.float32)
            for place in (found != wanted).nonzero().flatten().tolist()[:1]:
                _right(deep[place], done, name, found[place].item(), " in float32")
        tried += len(deep)
    return tried


def as_many(answer: object) -> str:
    """A machine with two stacks that halts in T if a word has as many a as b; and its network of one layer."""
    from turing.ss import StackNetwork

    if not isinstance(answer, StackMachine):
        raise Wrong(
            f"Your function returned an object of type {type(answer).__name__}. "
            f"Return a machine: turing.stack_machine.StackMachine(rules, initial, terminal)."
        )
    if answer.p != 2:
        raise Wrong(f"Your machine has {count(answer.p, 'stack')}; 2 were asked for.")
    has_letters(answer, "ab")
    tried = list(words("ab", 8))
    for word in tried:
        decides(answer, word, word.count("a") == word.count("b"), "machine")
    net = StackNetwork(answer, version=1, base=16, digits=(11, 15))
    for word in words("ab", 4):
        decides(net, word, word.count("a") == word.count("b"), "network")
    return f"all {len(tried)} words up to length 8; its network of one layer has {net.layout.width} neurons"


def cases() -> Iterator[tuple[str, TuringMachine, str]]:
    """The runs whose micro-steps are counted: a name, a machine and a word."""
    for name, word in (
        ("bb4", ""), ("balanced_parentheses", "B()E"), ("balanced_parentheses", "B()((()(()))())E"),
        ("binary_increment", "1011"), ("palindromes", "abba"), ("sorter", "ba"), ("universal", "(^1R+/1R;H)B1"),
    ):  # fmt: skip
        yield name, zoo[name], word
    yield "one_symbol", TuringMachine({("A", "_"): ("B", "_", 1), ("B", "_"): ("C", "_", 0)}, "A", {"C"}, "_"), ""


def micro_steps(answer: object) -> str:
    """A function of a machine and a word: how many micro-steps its network makes."""
    counter = given_function(answer, "a machine and a word")
    tried = list(cases())
    for name, machine, word in tried:
        where = f"For machine={name} word={word!r}"
        expected = sum(1 for _ in TwoStacks(machine).trace(word, 100_000)) - 1
        given = called(counter, where, machine, word)
        if given != expected:
            raise Wrong(f"{where} your function gives {_short_repr(given)}; {expected} was expected.")
    return f"all {len(tried)} runs"


EXERCISES = {
    "gated_stack": gated_stack,
    "as_many": as_many,
    "micro_steps": micro_steps,
}
