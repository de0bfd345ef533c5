"""The exercises of the chapter Gate by gate."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from math import exp, isfinite
from numbers import Real
from typing import TYPE_CHECKING

from turing.arguments import count
from turing.exercises import Wrong, _error_text
from turing.exercises.weights import WeightPuzzle, _short_repr, bits

if TYPE_CHECKING:
    from turing.circuits import Circuit

MAX_BITS = 64


def four_nands(answer: object) -> str:
    """XOR with four NANDs."""
    circuit = _circuit("a b", answer, 4)
    if others := sorted({kind for kind, *_ in circuit.gates} - {"NAND"}):
        raise Wrong(f"Only NAND is allowed here, and {others[0]} is among your gates.")
    return _compared(circuit, lambda a, b: a ^ b)


def less_than(answer: object) -> str:
    """Whether a number of two bits is less than another, with five gates."""
    circuit = _circuit("a1 a0 b1 b0", answer, 5)
    return _compared(circuit, lambda a1, a0, b1, b0: int(2 * a1 + a0 < 2 * b1 + b0))


def _circuit(inputs: str, answer: object, most: int) -> Circuit:
    from turing.circuits import Circuit

    if not isinstance(answer, Mapping):
        raise Wrong(f"Return a dictionary of gates, as in the stub; {_short_repr(answer)} was returned.")
    try:
        circuit = Circuit(inputs, answer, ["out"])
    except (ValueError, TypeError) as error:
        raise Wrong(f"Your gates are not a circuit. {_error_text(error).removeprefix('ValueError: ')}.") from None
    if len(circuit.gates) > most:
        raise Wrong(f"Your circuit has {count(len(circuit.gates), 'gate')}, and {most} are enough.")
    return circuit


def _compared(circuit: Circuit, function) -> str:  # type: ignore[no-untyped-def]  # of as many bits as there are inputs
    rows = list(product((0, 1), repeat=len(circuit.inputs)))
    for row in rows:
        found, wanted = circuit.evaluate(row)["out"], function(*row)
        if found != wanted:
            given = " ".join(f"{name}={bit}" for name, bit in zip(circuit.inputs, row, strict=True))
            raise Wrong(f"For {given} your circuit gives out={found}; {wanted} was expected.")
    return f"all {len(rows)} rows, with {count(len(circuit.gates), 'gate')}"


def enough_kappa(answer: object) -> str:
    """From which κ on the token that is asked for has more than half of the weight, if all L-bit numbers are there."""
    if not callable(answer):
        raise Wrong(f"enough should be a function of the number of bits L, and {_short_repr(answer)} was returned.")
    for size in range(1, MAX_BITS + 1):
        try:
            kappa = answer(size)
        except Exception as error:
            raise Wrong(f"For L={size} your function raises {_error_text(error)}.") from None
        if isinstance(kappa, bool) or not isinstance(kappa, Real) or not isfinite(kappa):
            raise Wrong(f"For L={size} your function gives {_short_repr(kappa)}, which is not a finite number.")
        for factor, more in ((1 + 1e-6, True), (1 - 1e-6, False)):
            given = float(kappa) * factor if kappa else float(kappa) + factor - 1
            share = (1 + exp(-given)) ** -size
            if (share > 0.5) != more:
                side = "above" if more else "below"
                raise Wrong(
                    f"For L={size} and a κ a little {side} your {float(kappa):.6g}, the token asked for has the share "
                    f"{share:.6f}."
                )
    return f"all L from 1 to {MAX_BITS}, to six digits"


EXERCISES = {
    "four_nands": four_nands,
    "two_kinds": WeightPuzzle(
        bits("kind a b"),
        bits("out"),
        lambda kind, a, b: a ^ b if kind else a & b,
        hidden=(3,),
        most_layers=2,
        best=[([[1, 1, 1], [1, 1, 1]], [-1, -2]), ([[1, -2]], [0])],
    ),
    "less_than": less_than,
    "enough_kappa": enough_kappa,
}
