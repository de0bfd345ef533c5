"""The simulator as in the paper's listing: a description of a stack machine, and ``simulate``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from turing import arguments
from turing.ss.network import StackNetwork
from turing.stack_machine import StackMachine, balanced

__all__ = ["Description", "Simulator"]


class Description:
    """A stack machine, given by its transition function and its terminal states; by default, balanced parentheses.

    All four are those of :class:`turing.stack_machine.StackMachine`.

    Chapter: :doc:`/book/ss95`.
    """

    def __init__(
        self,
        delta_stack: Mapping[tuple[Any, ...], tuple[str, ...]] | None = None,
        terminal_states: Iterable[str] | None = None,
        initial: str | None = None,
        symbols: Iterable[str] | None = None,
    ):
        if (delta_stack is None) != (terminal_states is None):
            raise ValueError(
                "A transition function and the terminal states go together, and one of them was given. "
                "Give both, or neither for balanced parentheses."
            )
        self.machine = (
            balanced()
            if delta_stack is None or terminal_states is None
            else StackMachine(delta_stack, initial, terminal_states, symbols)
        )


class Simulator(StackNetwork):
    """The network of a described stack machine, as in the paper's listing and with its arithmetic, which prints what it
    does.

    >>> from turing.ss import Description, Simulator
    >>> Simulator(Description(), version=4).simulate("()", T=12)
    I  () | –
    R  ) | (
    R  – | –
    T  – | –
    'T'

    Chapter: :doc:`/book/ss95`.
    """

    def __init__(self, description: Description, version: int = 4, arithmetic: str | None = None, **options: Any):
        if not isinstance(description, Description):
            raise TypeError(f"A Simulator takes a Description, and {description!r} was given.")
        if arithmetic is None:
            arithmetic = "float32" if version == 4 else "float64"
        super().__init__(description.machine, version, arithmetic=arithmetic, **options)

    def simulate(self, word: Iterable[str], T: int) -> str | None:
        """Run on a word, which is on stack 0, and print each step; return the terminal state, or None.

        Chapter: :doc:`/book/ss95`.
        """
        for now in self.trace(word, max_steps=T):
            print(now)
        if now.state in self.machine.terminal:
            return now.state
        done = arguments.count(now.step, "step")
        if now.step < T:
            tops = ", ".join("nothing" if top is None else top for top in now.tops)
            print(f"The machine jams after {done}: there is no rule for state {now.state} with {tops} on top.")
        else:
            print(f"After {done} the machine has not halted.")
        return None
