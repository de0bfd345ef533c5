"""The network of four layers a step: F4 reads, F3 detects the rule, F2 applies it, F1 puts the vector together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

import torch

from turing.arguments import network_size
from turing.cantor import Cantor
from turing.layout import Layout
from turing.modules import Rational, Row, Rows
from turing.stack_machine import EMPTY, StackMachine

Inputs = Mapping[str, tuple[Any, ...]]  # by label: the next state and the operations
OPERATIONS = ("noop", "push0", "push1", "pop")


def four_layers(
    machine: StackMachine, code: Cantor, weights: str = "closed", inputs: Inputs | None = None
) -> dict[str, Rational]:
    """The layers F4, F3, F2 and F1 by name. ``inputs`` are rules that a 1 in the slice ``x`` sets off, by its label.

    Chapter: :doc:`/book/ss95`.
    """
    p, (d0, d1), b = machine.p, code.digits, code.base
    rules = list(machine.rules.items())
    inputs = inputs or {}
    states = len(machine.states)
    widths = [states + p, states + 3 * p, len(rules) + 3 * p, states + 4 * p, states + p]
    numbers = sum(after * (before + 1) for before, after in pairwise(widths))
    if weights == "closed":
        network_size(repr(machine), "in four layers", numbers)
    else:  # the equations that are solved, with what solving them takes
        network_size(repr(machine), "in four layers", numbers + 3 * len(rules) ** 2, ', or weights="closed"')
    column = Layout(st=machine.states, q=p) + (Layout(x=list(inputs)) if inputs else Layout())
    seen = column + Layout(one=p, some=p)
    names = [rule_name(key) for key, _ in rules] + [input_name(label) for label in inputs]
    detected = Layout(rule=names, q=p, one=p, some=p)
    applied = Layout(st=machine.states, **dict.fromkeys(OPERATIONS, p))
    top = {None: 0, machine.symbols[0]: 1, machine.symbols[1]: 2}

    F4: Rows = {i: {i: 1} for i in range(column.width)}
    for i in range(p):
        F4[seen.one[i]] = {column.q[i]: b, None: -(d0 + 1)}  # σ(bq - d0 - 1) = the top symbol
        F4[seen.some[i]] = {column.q[i]: b}  # σ(bq) = not empty

    F3: Rows = {}
    for r, ((state, *tops), _) in enumerate(rules):
        row: Row = {seen.st[state]: 1, None: 0}
        for i, symbol in enumerate(tops):
            level = top[symbol]
            if level == 0:
                row[seen.some[i]] = -1  # 1 - some
            elif level == 1:
                row[seen.some[i]], row[seen.one[i]], row[None] = 1, -1, row[None] - 1
            else:
                row[seen.one[i]], row[None] = 1, row[None] - 1
        F3[detected.rule[r]] = row
    for label in inputs:
        F3[detected.rule[input_name(label)]] = {seen.x[label]: 1}
    for name in ("q", "one", "some"):
        F3 |= {detected[name][i]: {seen[name][i]: 1} for i in range(p)}

    F2: Rows = {applied.st[state]: {} for state in machine.states}
    lines: dict[str, Callable[[int], Row]] = {
        "noop": lambda i: {detected.q[i]: 1},
        "push0": lambda i: {detected.q[i]: Fraction(1, b), None: Fraction(d0, b)},
        "push1": lambda i: {detected.q[i]: Fraction(1, b), None: Fraction(d1, b)},
        "pop": lambda i: {detected.q[i]: b, detected.some[i]: -d0, detected.one[i]: d0 - d1},
    }
    for i in range(p):
        for name in OPERATIONS:
            F2[applied[name][i]] = lines[name](i)
    effects = [
        {applied.st[target]: 1}
        | {
            applied[name][i]: -1  # a stack that another operation makes is below 0
            for i, operation in enumerate(operations)
            for name in OPERATIONS
            if name != operation_name(machine, operation)
        }
        for target, *operations in [*machine.rules.values(), *inputs.values()]
    ]
    if weights != "closed":
        effects = solved(torch.eye(len(effects)), effects, applied.width)
    for r, effect in enumerate(effects):
        for place, value in effect.items():
            F2[place][detected.rule[r]] = value

    F1: Rows = {column.st[state]: {applied.st[state]: 1} for state in machine.states}
    F1 |= {column.q[i]: {applied[name][i]: 1 for name in OPERATIONS} for i in range(p)}
    return {
        "F4": Rational(column, seen, F4, arithmetic=code.arithmetic),
        "F3": Rational(seen, detected, F3, arithmetic=code.arithmetic),
        "F2": Rational(detected, applied, F2, last=list(detected.q), arithmetic=code.arithmetic),
        "F1": Rational(applied, column, F1, arithmetic=code.arithmetic),
    }


def solved(features: torch.Tensor, wanted: list[dict[int, int]], width: int) -> list[dict[int, int]]:
    """For each feature what it adds to each place, so that every configuration gets what is wanted, by least squares.

    ``features`` has a row for each configuration. The solution is rounded to integers.
    """
    target = torch.zeros(len(wanted), width, dtype=torch.float64)
    for row, effect in enumerate(wanted):
        for place, value in effect.items():
            target[row, place] = value
    found = torch.linalg.lstsq(features.double(), target, driver="gelsd").solution
    if (found - found.round()).abs().max() > 1e-6:
        raise ArithmeticError("The least-squares solution is not made of integers.")
    return [{place: int(row[place].round()) for place in row.round().nonzero().flatten().tolist()} for row in found]


def operation_name(machine: StackMachine, operation: tuple[str, str | None]) -> str:
    kind, symbol = operation
    return f"push{machine.symbols.index(symbol)}" if kind == "push" else kind


def input_name(label: str) -> str:
    return f"input {label}"


def rule_name(key: tuple[str | None, ...]) -> str:
    return " ".join(EMPTY if part is None else part for part in key)
