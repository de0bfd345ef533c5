"""The simulator as in the paper's listing: a description of a machine, and ``simulate``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from turing import arguments
from turing.machine import TuringMachine, _rules
from turing.wcm.network import WCM21
from turing.zoo import zoo

__all__ = ["Description", "Simulator"]


class Description:
    """A machine, given by its transition function and its terminal states; by default, balanced parentheses.

    The function maps ``(state, symbol)`` to ``(next state, symbol to write, move)``, with a move of 1, −1 or 0. The
    initial state is that of the first rule, and the blank is ``"E"`` if that is in the alphabet, unless given.

    >>> from turing.wcm import Description
    >>> rules = {("A", "0"): ("A", "1", 1), ("A", "1"): ("A", "0", 1), ("A", "E"): ("H", "E", -1)}
    >>> desc = Description(rules, {"H"})
    >>> desc.machine.initial, desc.machine.blank
    ('A', 'E')

    Chapter: :doc:`/book/wcm21`.
    """

    def __init__(
        self,
        transition_function: Mapping[tuple[str, str], tuple[str, str, int]] | None = None,
        terminal_states: Iterable[str] | None = None,
        initial: str | None = None,
        blank: str | None = None,
    ):
        ours = zoo["balanced_parentheses"]
        if (transition_function is None) != (terminal_states is None):
            raise ValueError(
                "A transition function and the terminal states go together, and one of them was given. "
                "Give both, or neither for balanced parentheses."
            )
        if transition_function is None or terminal_states is None:
            transition_function, terminal_states = ours.delta, ours.halting
            initial, blank = ours.initial if initial is None else initial, ours.blank if blank is None else blank
        rules = _rules(transition_function)
        known = sorted({a for (_, symbol), (_, written, _) in rules.items() for a in (symbol, written)})
        if blank is None and "E" not in known:
            raise ValueError(
                f"No blank was given, and the usual one, 'E', is not in the alphabet: {arguments.listed(known)}. "
                f"Say which symbol is the blank: Description(…, blank=…)."
            )
        self.machine = TuringMachine(
            rules,
            next(iter(rules))[0] if initial is None else initial,
            terminal_states,
            "E" if blank is None else blank,
        )


class Simulator(WCM21):
    """The WCM21 transformer of a described machine, as in the paper's listing, which prints what it does.

    >>> from turing.wcm import Description, Simulator
    >>> Simulator(Description(), T=100).simulate("B)E")
    I  [B])E
    R  B[)]E
    M  [B]*E
    F  [E]**E
    'F'

    Chapter: :doc:`/book/wcm21`.
    """

    def __init__(self, description: Description, T: int, **options: Any):
        if not isinstance(description, Description):
            raise TypeError(f"A Simulator takes a Description, and {description!r} was given.")
        super().__init__(description.machine, T, **options)

    def simulate(self, word: Iterable[str], max_steps: int | None = None) -> str | None:
        """Run on a word and print each step as in Figure 1 of the paper; return the terminal state, or None.

        Chapter: :doc:`/book/wcm21`.
        """
        for now in self.trace(word, max_steps):
            print(now)
        if now.state in self.machine.halting:
            return now.state
        done = arguments.count(now.step, "step")
        if now.step < self._limit(max_steps):
            print(f"The machine jams after {done}: there is no rule for ({now.state}, {now.symbol}).")
        else:
            print(f"After {done} the machine has not halted.")
        return None
