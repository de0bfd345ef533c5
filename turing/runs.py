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
    """What a state of a network says about the machine's step that ends with it.

    - ``state``: the machine's state after the step; None where no rule applied
    - ``symbol``: the symbol under the tape head then
    - ``written``: the symbol that the step wrote on the cell before
    - ``move``: −1, 0 or 1
    - ``position``: the number of the tape head's cell, from constructions that number cells
    - ``found``: the symbol under the tape head at the beginning of the step, from constructions that look it up only
      then; it takes the place of ``symbol``

    Chapter: :doc:`/book/wcm21`.
    """

    state: str | None
    symbol: str | None = None
    written: str | None = None
    move: int = 0
    position: int | None = None
    found: str | None = None


class Expectation(NamedTuple):
    """What the vectors of one pass should be.

    - ``step``: the step of the machine that the pass belongs to
    - ``vectors``: for each module, by name, the places that are not 0, with their numbers, such as
      ``{"combine": {"st[R]": 1, "sym1[(]": 1}}``; a module without an entry is not compared

    Chapter: :doc:`/book/wcm21`.
    """

    step: int
    vectors: Mapping[str, Mapping[str, Any]]


@dataclass
class State:
    """Where a run of a network stands.

    - ``x``: what is fed back, ``(words, w)``; of a construction that takes one word at a time, ``(w,)`` or what else
      its first column is
    - ``tape``: the encoded words, ``(words, n, w)``; None if no head looks at them
    - ``memory``: for each head the keys and values of the columns so far
    - ``passes``: how many passes have been made
    - ``vectors``: every vector of the last pass, by the name of the module that it leaves
    - ``notes``: a dictionary for reader and guard; nothing in it goes back into the network

    Chapter: :doc:`/book/wcm21`.
    """

    x: Any
    tape: Any = None
    memory: Memory = field(default_factory=dict)
    passes: int = 0
    vectors: dict[str, Any] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)


class Reader:
    """Follows a run: it keeps the :class:`~turing.machine.Configuration` ``now``, takes the next :class:`Reading` by
    ``enter``, and calls the guard. What it reads goes into the report of the run, and never back into the network.

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
