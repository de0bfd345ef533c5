"""The network of one layer a step: it detects what the new stacks will begin with while it makes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product

import torch

from turing.cantor import Cantor
from turing.layout import Layout
from turing.modules import Rational, Row
from turing.ss.four import OPERATIONS, Inputs, operation_name, solved
from turing.stack_machine import StackMachine

START = "start"
MAX_NEURONS = 6_000  # 36 million weights


def check_neurons(machine: str, neurons: int, or_more: str = "") -> None:
    """Raise if one layer would have more neurons than are built."""
    if neurons > MAX_NEURONS:
        raise ValueError(
            f"In one layer {machine} takes {neurons:,} neurons{or_more}, each with a weight for each, and at most "
            f"{MAX_NEURONS:,} are built. Take four layers."
        )


def classes_of(machine: StackMachine, inputs: Inputs | None = None) -> list[tuple[str, ...]]:
    """What a step can do: the next state and the operations; and a start for each first state that no step leads to."""
    found = list(
        dict.fromkeys(
            (target, *(operation_name(machine, operation) for operation in operations))
            for target, *operations in [*machine.rules.values(), *(inputs or {}).values()]
        )
    )
    reached = {target for target, *_ in found}
    return [(state, *[START] * machine.p) for state in machine.starts if state not in reached] + found


def factors(code: Cantor, levels: tuple[int, ...]) -> tuple[int, ...]:
    """Integer factors c for the stacks: Σ cᵢyᵢ tells whether every stack i begins with its level or a higher one.

    y = bq lies in {0}, [d₀, d₀ + 1) or [d₁, d₁ + 1). If all do, the sum is at least Σ cᵢd; if one does not, it has
    to be at least 1 less.
    """
    b, (d0, d1) = code.base, code.digits
    n1, n2 = levels.count(1), levels.count(2)
    gap = d1 - d0 - 1 - (n2 - 1) * (b - d1)
    c = -(-(1 + n1 * (b - d0)) // gap) if n2 and gap > 0 else 1  # the least for which without_two is 1 or more
    without_one = d0 - (n1 - 1) * (b - d0) - c * n2 * (b - d1) if n1 else 1
    without_two = c * gap - n1 * (b - d0) if n2 else 1
    if without_one >= 1 and without_two >= 1:
        return tuple({0: 0, 1: 1, 2: c}[level] for level in levels)
    raise ValueError(
        f"base={b} with digits={code.digits} is too small for {len(levels)} stacks in one layer: a sum over stacks "
        f"cannot tell {levels} apart. Take base {10 * len(levels) ** 2} with digits "
        f"{(10 * len(levels) ** 2 - 1 - 4 * len(levels), 10 * len(levels) ** 2 - 1)}."
    )


def margin(code: Cantor, levels: tuple[int, ...], c: tuple[int, ...]) -> int:
    """By how much the sum of :func:`factors` may be off on either side, as floats round, and still tell: half of the
    room between the least sum with all levels and the greatest without one, less 1 for σ.
    """
    b, (d0, d1) = code.base, code.digits
    least, below = (0, d0, d1), (0, 0, d0 + 1)  # of a stack with its level at least, and of one without it at most
    total = sum(factor * least[level] for factor, level in zip(c, levels, strict=True))
    gaps = [total - c[i] * below[level] - (sum(c) - c[i]) * b for i, level in enumerate(levels) if level]
    return (min(gaps) - 1) // 2 if gaps else 0


def one_layer(
    machine: StackMachine, code: Cantor, weights: str = "closed", inputs: Inputs | None = None
) -> dict[str, Rational]:
    """The one layer, under the name ``"step"``. ``inputs`` are those of :func:`turing.ss.four.four_layers`.

    Chapter: :doc:`/book/real-time`.
    """
    p, (d0, d1), b = machine.p, code.digits, code.base
    inputs = inputs or {}
    classes = classes_of(machine, inputs)
    levels = list(product(range(3), repeat=p))
    top = (None, *machine.symbols)
    column = Layout(det=len(classes) * len(levels), **dict.fromkeys(OPERATIONS, p))
    column += Layout(x=list(inputs)) if inputs else Layout()
    check_neurons(repr(machine), column.width)
    det = {(k, v): column.det[n] for n, (k, v) in enumerate(product(range(len(classes)), levels))}

    def add(row: Row, terms: Mapping, factor: Fraction | int = 1) -> Row:
        for place, value in terms.items():
            row[place] = row.get(place, 0) + factor * value
        return row

    def exactly(k: int, u: tuple[int, ...]) -> Row:
        """1 if the last step was of class k and the stacks begin exactly with u."""
        row: Row = {}
        for up in product((0, 1), repeat=p):
            v = tuple(level + more for level, more in zip(u, up, strict=True))
            if max(v) <= 2:
                row[det[k, v]] = (-1) ** sum(up)
        return row

    number = {kind: k for k, kind in enumerate(classes)}
    # the class of the next step, for each class of the last one and
    # what the stacks begin with
    follows: dict[tuple[int, tuple[int, ...]], int] = {}
    for k, u in product(range(len(classes)), levels):
        rule = machine.rules.get((classes[k][0], *(top[level] for level in u)))
        if rule:
            kind = (rule[0], *(operation_name(machine, operation) for operation in rule[1:]))
            follows[k, u] = number[kind]
    # of each class, 1 if the next step is of it
    chosen: list[Row] = [{} for _ in classes]
    if weights == "closed":
        for (k, u), target in follows.items():
            add(chosen[target], exactly(k, u))
    else:
        every = list(product(range(len(classes)), levels))
        at_least = torch.tensor([[float(all(map(int.__ge__, u, v))) for v in levels] for u in levels])
        features = torch.kron(torch.eye(len(classes)), at_least)
        wanted = [{follows[here]: 1} if here in follows else {} for here in every]
        for here, effect in zip(every, solved(features, wanted, len(classes)), strict=True):
            for target, value in effect.items():
                chosen[target][det[here]] = value
    for label, (target, *operations) in inputs.items():
        kind = (target, *(operation_name(machine, operation) for operation in operations))
        add(chosen[number[kind]], {column.x[label]: 1})

    def unit(i: int, level: int) -> tuple[int, ...]:
        return tuple(level if j == i else 0 for j in range(p))

    some = [{det[k, unit(i, 1)]: 1 for k in range(len(classes))} for i in range(p)]
    one = [{det[k, unit(i, 2)]: 1 for k in range(len(classes))} for i in range(p)]
    stack = [{column[name][i]: 1 for name in OPERATIONS} for i in range(p)]

    def line(i: int, name: str) -> Row:
        """The stack that an operation makes."""
        if name in ("noop", START):
            return add({}, stack[i])
        if name == "pop":
            return add(add(add({}, stack[i], b), some[i], -d0), one[i], d0 - d1)
        return add({None: Fraction((d0, d1)[name == "push1"], b)}, stack[i], Fraction(1, b))

    def rows() -> Iterator[tuple[int, Row]]:
        for i, name in product(range(p), OPERATIONS):
            row = line(i, name)
            for k, (_, *operations) in enumerate(classes):
                if operations[i] != name:
                    # b times an empty stack's roundings may be above 1
                    add(row, chosen[k], -b if name == "pop" else -1)
            yield column[name][i], row
        factor = {v: factors(code, v) for v in levels}
        for (k, (_, *operations)), (v, c) in product(enumerate(classes), factor.items()):
            far = 1 + sum(c) * b * b  # also above what an empty stack's roundings come to
            least = sum(ci * (0, d0, d1)[level] for ci, level in zip(c, v, strict=True))
            row = {None: 1 - far - least + margin(code, v, c)}
            add(row, chosen[k], far)
            for i, name in enumerate(operations):
                if c[i]:
                    add(row, line(i, name), c[i] * b)
            yield det[k, v], row

    last = [column[name][i] for name in OPERATIONS for i in range(p)]
    return {"step": Rational(column, column, rows(), last=last, arithmetic=code.arithmetic)}
