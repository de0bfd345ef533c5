"""The exercises of the chapter DNF."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

from turing.exercises import Wrong
from turing.exercises.own_network import own_transition
from turing.exercises.weights import WeightPuzzle, _short_repr, bits
from turing.layout import Layout
from turing.machine import TuringMachine

FLIP = {("go", "_"): ("halt", "_", 0), ("go", "0"): ("go", "1", 1), ("go", "1"): ("go", "0", 1)}


def one_hot(rule: tuple, states: Sequence[str], symbols: Sequence[str]) -> list[int]:
    """Next state, symbol written, right and left as bits; all zeros if there is no rule."""
    target, written, move = rule
    hits = [*(target == q for q in states), *(written == a for a in symbols), move == 1, move == -1]
    return [int(hit) for hit in hits]


def flip(state: str, symbol: str) -> list[int]:
    return one_hot(FLIP.get((state, symbol), (None, None, 0)), ("go", "halt"), ("_", "0", "1"))


def exclusive_clauses(function: Callable[..., bool], variables: str, limit: int) -> Callable[[object], str]:
    """At most ``limit`` clauses, of which exactly one is true where ``function`` is, and none elsewhere."""
    names = variables.split()

    def judge(answer: object) -> str:
        if not isinstance(answer, (list, tuple, set)):
            raise Wrong(
                f"Your function returned an object of type {type(answer).__name__}. "
                f"Return a list of clauses, such as ['11-', '0-1']."
            )
        clauses = list(answer)
        for clause in clauses:
            if not isinstance(clause, str) or len(clause) != len(names) or set(clause) - set("01-"):
                raise Wrong(f"The clause {_short_repr(clause)} is not one character 0, 1 or - for each of {variables}.")
        if len(clauses) > limit:
            raise Wrong(f"{len(clauses)} clauses are used, at most {limit} are allowed.")
        rows = list(product("01", repeat=len(names)))
        for row in rows:
            true = [clause for clause in clauses if all(c in ("-", bit) for c, bit in zip(clause, row, strict=True))]
            where = "For " + " ".join(f"{name}={bit}" for name, bit in zip(names, row, strict=True))
            if not function(*map(int, row)):
                if true:
                    raise Wrong(f"{where} the clause {true[0]} is true; 0 was expected.")
            elif not true:
                raise Wrong(f"{where} no clause is true; 1 was expected.")
            elif len(true) > 1:
                raise Wrong(f"{where} the clauses {true[0]} and {true[1]} are both true; exactly one may be.")
        return f"all {len(rows)} rows, with {len(clauses)} clauses"

    return judge


def own_delta(answer: object) -> str:
    """A machine that the reader has chosen, and its δ as layers: state and symbol in; state, symbol, R and L out."""
    if not isinstance(answer, (list, tuple)) or not answer or not isinstance(answer[0], TuringMachine):
        raise Wrong("Return the machine first, and then its layers: machine, (W1, b1), (W2, b2).")
    machine, *layers = answer
    working = [state for state in machine.states if state not in machine.halting]
    if len(working) < 2 or len(machine.symbols) < 2 or len(machine.delta) < 3:
        raise Wrong(
            f"At least 2 states that do not halt, 2 symbols and 3 rules were asked for; your machine has "
            f"{len(working)}, {len(machine.symbols)} and {len(machine.delta)}."
        )
    names = {"st": machine.states, "sym": machine.symbols}

    def delta(state: str, symbol: str) -> list[int]:
        return one_hot(machine.delta.get((state, symbol), (None, None, 0)), *names.values())

    puzzle = WeightPuzzle(Layout(**names), Layout(**names, R=1, L=1), delta, hidden=())
    return puzzle(layers[0] if len(layers) == 1 else layers)


EXERCISES = {
    "one_of_three": WeightPuzzle(
        bits("a b c"),
        bits("out"),
        lambda a, b, c: int(a + b + c == 1),
        hidden=(3,),
        most_layers=2,
        best=[([[1, 1, 1], [1, 1, 1]], [0, -1]), ([[1, -2]], [0])],
    ),
    "exclusive_majority": exclusive_clauses(lambda a, b, c: a + b + c >= 2, "a b c", limit=3),
    "comparator": WeightPuzzle(
        bits("a1 a0 b1 b0"),
        bits("out"),
        lambda a1, a0, b1, b0: int(2 * a1 + a0 > 2 * b1 + b0),
        hidden=(3, 1),
        most_neurons=6,
        most_layers=3,
        best=[([[-2, -1, 2, 1]], [1]), ([[-1]], [1])],
        proof="one neuron is an AND of literals, a > b is not, and each input needs a weight",
    ),
    "flip_delta": WeightPuzzle(
        Layout(st=["go", "halt"], sym=["_", "0", "1"]),
        Layout(st=["go", "halt"], sym=["_", "0", "1"], R=1, L=1),
        flip,
        hidden=(3,),
        best=[
            ([[-1, 0, 1, 0, 0], [-2, 0, 0, -1, 0]], [1, 3]),
            ([[-1, 0], [3, -2], [3, -2], [-3, 1], [0, -1], [-1, 0], [0, 0]], [1, 0, 0, 0, 1, 1, 0]),
        ],
    ),
    "own_delta": own_delta,
    "own_transition": own_transition,
}
