"""The exercises of the chapter A queue is enough."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from turing.exercises import Wrong
from turing.exercises.functions import called, given_function
from turing.exercises.weights import LITERALS, WeightPuzzle, _short_repr, bits
from turing.machine import Run, TuringMachine

if TYPE_CHECKING:
    from turing.queue import Token

STAYS = {  # machines with stays in a row, before a halt, before a jam, and while a symbol changes
    "two_stays": (
        {("A", "0"): ("B", "1", 0), ("B", "1"): ("C", "0", 0), ("C", "0"): ("A", "1", 1), ("A", "_"): ("H", "_", 0)},
        ["", "0", "000"],
    ),
    "jam_after_stay": (
        {("A", "0"): ("B", "1", 0), ("A", "1"): ("A", "0", 1), ("B", "_"): ("A", "_", -1)}, ["10", "0"],
    ),
    "turn_around": (
        {("A", "0"): ("A", "0", 1), ("A", "_"): ("B", "1", 0), ("B", "1"): ("C", "1", -1), ("C", "0"): ("C", "1", 0),
         ("C", "1"): ("C", "1", -1), ("C", "_"): ("H", "_", 1)},
        ["", "0", "00"],
    ),
}  # fmt: skip
RUNS = [
    ("balanced_parentheses", "B()E", 6), ("balanced_parentheses", "B()E", 4), ("balanced_parentheses", "B(()E", 9),
    ("parity", "1101", 20), ("binary_increment", "1011", 7), ("bb3", "", 12), ("turn_around", "00", 5),
    ("two_stays", "000", 8),
]  # fmt: skip
MAX_STEPS = 1_000


def machine_of(name: str) -> TuringMachine:
    """A machine of this page, or of the zoo."""
    import turing

    return TuringMachine(STAYS[name][0], "A", {"H"}, "_", alphabet="_01") if name in STAYS else turing.zoo[name]


def tokens_of(machine: TuringMachine, word: str, window: int) -> int:
    """How many tokens a run takes, counted one by one."""
    from turing.queue import Token, step

    cells: deque[Token] = deque(Token(a, machine.initial) for a in [*word, *[machine.blank] * (window - len(word))])
    said = 0
    while cells[-1].mode != "run" or cells[-1].state not in machine.halting:
        new = step(machine, cells[-1], cells.popleft())
        if new.state is None:
            break
        cells.append(new)
        said += 1
        if new.mode != "run" and new.state in machine.halting and cells[0].mark:
            break  # the round of the last step is over
    return said


def queue_tokens(answer: object) -> str:
    """How many tokens a run takes, from the machine, the word and the window."""
    count = given_function(answer, "a machine, a word and a window")
    for name, word, window in RUNS:
        machine, where = machine_of(name), f"For machine={name} word={word!r} window={window}"
        given, expected = called(count, where, machine, word, window), tokens_of(machine, word, window)
        if given != expected:
            raise Wrong(f"{where} your function gives {_short_repr(given)}; {expected} was expected.")
    return f"all {len(RUNS)} runs"


def without_stays(answer: object) -> str:
    """A machine that does what another one does, and moves at every step."""
    made, tried = given_function(answer, "a machine"), 0
    for name, (_, words) in STAYS.items():
        machine, where = machine_of(name), f"For machine={name}"
        other = called(made, where, machine)
        if not isinstance(other, TuringMachine):
            raise Wrong(f"{where} your function gives {_short_repr(other)}; a TuringMachine was expected.")
        for pair, rule in other.delta.items():
            if not rule[2]:
                raise Wrong(f"{where} your machine stays: its rule for ({', '.join(pair)}) moves by 0.")
        for word in words:
            mine, right = (each.run(word, MAX_STEPS) for each in (other, machine))
            if _end(mine) != _end(right):
                raise Wrong(
                    f"{where} your machine ends {_ending(mine)} on the word {word!r}; {_ending(right)} was expected."
                )
            tried += 1
    return f"all {tried} words on {len(STAYS)} machines"


def _end(run: Run) -> tuple:
    """What is compared of two runs: of a jam, that it is one."""
    return (run.status, run.state, run.tape) if run.status == "halted" else (run.status,)


def _ending(run: Run) -> str:
    tape = " ".join(f"{cell}:{symbol}" for cell, symbol in sorted(run.tape.items())) or "a blank tape"
    return f"in {run.state} with {tape}" if run.status == "halted" else f"with the status {run.status}"


EXERCISES = {
    "queue_tokens": queue_tokens,
    "copy_round": WeightPuzzle(
        bits("left end held read"),
        bits("sym hold"),
        lambda left, end, held, read: (int(left and held and not end), int(left and read and not end)),
        hidden=(),
        most_layers=1,
        best=[([[1, -1, 1, 0], [1, -1, 0, 1]], [-1, -1])],
        proof=LITERALS,
    ),
    "next_cell": WeightPuzzle(
        bits("left cell right"),
        bits("out"),
        lambda left, cell, right: int((cell or right) and not (left and cell and right)),
        hidden=(3,),
        most_layers=2,
        best=[([[0, -1, -1], [1, 1, 1]], [1, -2]), ([[-1, -1]], [1])],
    ),
    "without_stays": without_stays,
}
