"""Two stacks that read their word bit by bit before the Turing machine starts.

Chapter: :doc:`/book/averages`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from turing.machine import TuringMachine
from turing.perez.normal_form import unused
from turing.stack_machine import StackConfiguration, StackMachine, Texts, TwoStacks, after, name_of

__all__ = ["ReadingStacks"]

END = "end"
TOPS = (None, "0", "1")


class ReadingStacks(TwoStacks):
    """The two stacks of a Turing machine, which begin empty: the bits of the word come in one after the other.

    Each bit is pushed on the left stack, as if the head walked right over the word; at the end of the word the head
    walks back until the left stack is empty. That takes 2nk + 2 micro-steps for n symbols of k bits.

    >>> import turing
    >>> from turing.bhattamishra import ReadingStacks
    >>> stacks = ReadingStacks(turing.zoo["binary_increment"])
    >>> stacks.items("10"), stacks.read_steps("10")
    (['1', '0', '0', '1', 'end'], 10)

    Chapter: :doc:`/book/averages`.
    """

    def __init__(self, machine: TuringMachine, symbols: Sequence[str] | None = None):
        taken = {*machine.states, *machine.symbols}
        self.read, self.turn, self.back = (unused(name, taken) for name in ("read", "turn", "back"))
        super().__init__(machine, symbols)
        nothing = ("noop", None), ("noop", None)
        self.inputs: dict[str, tuple[Any, ...]] = {
            bit: (self.read, ("push", bit), ("noop", None)) for bit in ("0", "1")
        } | {END: (self.turn, *nothing)}

    def _complete(self, rules: Texts, starts: list[str], terminal: list[str]) -> StackMachine:
        before = {state for state, *_ in rules} | {rule[0] for rule in rules.values()} | {*self.control}
        machine = self.turing
        for prefix in sorted({bits[:length] for bits in self.symbol for length in range(self.k)}):
            for top, other in product(TOPS[1:], TOPS):
                bits = (*prefix, int(top == "1"))
                if len(bits) == self.k and bits in self.symbol:
                    rules[self._turned(prefix), top, other] = (name_of(self.back, self.symbol[bits]), "pop", "noop")
                elif any(code[: len(bits)] == bits for code in self.symbol):
                    rules[self._turned(prefix), top, other] = (self._turned(bits), "pop", "noop")
        for symbol in machine.symbols:
            self._micro(rules, name_of(self.back, symbol), self.back, -1, self.code[symbol], ())
        for other in TOPS:  # the left stack is empty: this is the first cell
            rules[self.turn, None, other] = (name_of(machine.initial, machine.blank), "noop", "noop")
            for symbol in machine.symbols:
                rules[name_of(self.back, symbol), None, other] = (name_of(machine.initial, symbol), "noop", "noop")
        found = super()._complete(rules, [self.read, *starts], terminal)
        self.reading = {state for state in found.states if state not in before} | {self.read}
        found.starts = (self.read,)
        found.initial = self.read
        if self.read not in found.states:
            found.states = (self.read, *found.states)
        return found

    def _turned(self, bits: tuple[int, ...]) -> str:
        return name_of(self.turn, "".join(map(str, bits))) if bits else self.turn

    def items(self, word: Sequence[str]) -> list[str]:
        """What comes in, a list: the bits of each symbol in the order in which a step would push them, and the end."""
        return [str(bit) for symbol in word for bit in reversed(self.code[symbol])] + [END]

    def read_steps(self, word: Sequence[str]) -> int:
        """How many micro-steps it takes before the Turing machine starts."""
        return 2 * len(word) * self.k + 2

    def passes(
        self, word: Sequence[str], limit: int
    ) -> Iterator[tuple[int, StackConfiguration, StackConfiguration | None, str | None]]:
        """Yield for each micro-step of a run the step of the Turing machine that it belongs to, the configurations
        before and after it (None where the machine jams), and what comes in.
        """
        now, step, items = StackConfiguration(0, self.read, ((), ())), 0, iter(self.items(word))
        while True:
            label = next(items, None)
            if label is None and now.state in self.control:
                if step == limit or now.state in self.machine.terminal:
                    return
                step += 1
            rule = self.machine.rules.get((now.state, *now.tops)) if label is None else self.inputs[label]
            following = after(now, rule) if rule else None
            yield max(step, 1), now, following, label
            if following is None:
                return
            now = following
