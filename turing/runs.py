"""What a run of a network is made of: its state, what is read off it, and the reader that follows and guards it.

Chapter: :doc:`/book/wcm21`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from turing.machine import Configuration

if TYPE_CHECKING:
    from turing.construction import Construction

__all__ = ["Expectation", "Reader", "Reading", "State"]

Memory = dict[str, tuple[Any, Any]]  # of each head: keys and values


class Reading(NamedTuple):
    """What a state says after a step: state, symbol under the head, what was written on the way there, and the move.

    Where the machine has jammed, state and symbol are None. Constructions that number cells give the ``position``;
    those that look up the symbol at the beginning of a step give what they ``found`` under the tape head.

    Chapter: :doc:`/book/wcm21`.
    """

    state: str | None
    symbol: str | None = None
    written: str | None = None
    move: int = 0
    position: int | None = None
    found: str | None = None


class Expectation(NamedTuple):
    """What the vectors of one pass have to be: the step of the machine that it belongs to, and by module the places
    that are not 0, with their numbers.

    Chapter: :doc:`/book/wcm21`.
    """

    step: int
    vectors: Mapping[str, Mapping[str, Any]]


@dataclass
class State:
    """Where a run stands: what is fed back, the encoded word, what the heads remember, the vectors of the last pass.

    ``notes`` belong to the reader and the guard; nothing in them goes back into the network.

    Chapter: :doc:`/book/wcm21`.
    """

    x: Any
    tape: Any = None
    memory: Memory = field(default_factory=dict)
    passes: int = 0
    vectors: dict[str, Any] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)


class Reader:
    """Follows a run by what its states say, and guards it. What it reads goes into the report and nowhere else.

    Chapter: :doc:`/book/wcm21`.
    """

    def __init__(self, network: Construction, word: Sequence[str]):
        machine = network.machine
        self.network, self.word, self.jammed = network, word, False
        self.notes: dict[str, Any] = {}
        self.now = Configuration(0, machine.initial, 0, machine.tape(word), machine.blank)
        network.guard(word, self.now, None, self.notes)

    @property
    def running(self) -> bool:
        return not self.jammed and self.now.state not in self.network.machine.halting

    def resume(self, step: int, head: int, tape: dict[int, str], notes: dict[str, Any]) -> None:
        """Continue from where another reader stopped."""
        self.now, self.notes = Configuration(step, self.now.state, head, tape, self.network.machine.blank), notes

    def enter(self, reading: Reading | None) -> bool:
        """Take the next reading; return true if a step of the machine ends with it."""
        if reading is None:
            return False
        with at_step(self.now.step + 1):
            if reading.found is not None:
                self._expect(reading.found)
        self.jammed = reading.state is None
        if self.jammed:
            return False
        with at_step(self.now.step + 1):
            self.network.guard(self.word, self.now, reading, self.notes)
            if reading.written is None:
                raise ArithmeticError(f"no symbol is written on cell {self.now.head}.")
            self.now = self.now._then(reading.state, reading.written, reading.move)  # type: ignore[arg-type]  # not jammed
            if reading.found is None:
                self._expect(reading.symbol)
        return True

    def _expect(self, symbol: str | None) -> None:
        if self.now.symbol != symbol:
            raise ArithmeticError(
                f"the network reads {symbol!r} on cell {self.now.head}, where {self.now.symbol!r} stands."
            )


@contextmanager
def at_step(number: int) -> Iterator[None]:
    """Say at which step of the machine something went wrong."""
    try:
        yield
    except ArithmeticError as error:
        text = str(error)
        raise type(error)(
            text if text.startswith("At ") else f"At step {number} {text[:1].lower()}{text[1:]}"
        ) from None
