"""Machines with stacks instead of a tape, and how two binary stacks simulate any Turing machine.

Chapter: :doc:`/book/ss95`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

from turing.arguments import count, listed, step_limit
from turing.machine import TuringMachine

__all__ = ["StackConfiguration", "StackMachine", "StackRun", "TwoStacks", "balanced"]

ANY, EMPTY = "*", "–"  # the wildcard in rules, and what is printed for an empty stack
Operation = tuple[str, str | None]  # ("push", x), ("pop", None), ("noop", None)
NOOP: Operation = ("noop", None)
Table = dict[tuple[Any, ...], tuple[Any, ...]]  # (state, top of stack 0, …) to (next state, operation on stack 0, …)
Texts = dict[tuple[Any, ...], tuple[str, ...]]  # the same with operations as text, such as "push x"


class StackConfiguration(NamedTuple):
    """State and stacks, the top of each first, after ``step`` steps. ``tops`` has the symbols on top, None for an empty
    stack.

    Chapter: :doc:`/book/ss95`.
    """

    step: int
    state: str
    stacks: tuple[tuple[str, ...], ...]

    @property
    def tops(self) -> tuple[str | None, ...]:
        return tuple(stack[0] if stack else None for stack in self.stacks)

    def __str__(self) -> str:
        return f"{self.state}  {' | '.join(''.join(stack) or EMPTY for stack in self.stacks)}"


@dataclass(frozen=True)
class StackRun:
    """How a run of a stack machine ended: ``status`` is ``"halted"``, ``"jammed"`` where no rule applies, or
    ``"limit"`` after ``max_steps`` steps. ``stacks`` has the symbols of each stack, the top first.

    Chapter: :doc:`/book/ss95`.
    """

    status: str
    state: str
    steps: int
    stacks: tuple[tuple[str, ...], ...]


class StackMachine:
    """A machine with p stacks over two symbols (section 6.1 of the paper).

    - ``delta`` maps ``(state, top of stack 0, …)`` to ``(next state, operation on stack 0, …)``. A top is a symbol,
      None for an empty stack, or ``"*"`` for any; a rule with fewer stars beats one with more. An operation is
      ``"noop"``, ``"push x"`` or ``"pop"``.
    - ``initial`` is the first state, that of the first rule unless given.
    - ``terminal`` are the states in which a run halts. They have no rules, except those that stay there and change
      nothing, which are ignored.
    - ``symbols`` are the two symbols in order, such as ``"()"``. Unless given, they are those of the rules, 0 before 1.

    >>> from turing.stack_machine import StackMachine
    >>> parity = StackMachine({("even", "1"): ("odd", "pop"), ("odd", "1"): ("even", "pop"),
    ...                        ("even", None): ("T", "noop"), ("odd", None): ("F", "noop")}, "even", {"T", "F"})
    >>> parity.run("111").state
    'F'

    Chapter: :doc:`/book/ss95`.
    """

    def __init__(
        self,
        delta: Mapping[tuple[Any, ...], tuple[str, ...]],
        initial: str | None = None,
        terminal: Iterable[str] = (),
        symbols: Iterable[str] | None = None,
    ):
        rules = _read(delta)
        self.p = len(next(iter(rules))) - 1
        for key, value in rules.items():
            if len(key) != self.p + 1 or len(value) != self.p + 1 or self.p < 1:
                raise ValueError(
                    f"Every rule names a state and one entry for each stack, equally many in all rules, and this one "
                    f"was given: {key!r}: {(value[0], *map(_operation_text, value[1:]))!r}."
                )
        ends = [terminal] if isinstance(terminal, str) or not isinstance(terminal, Iterable) else list(terminal)
        for name in ends:
            if not isinstance(name, str) or name == ANY:
                raise ValueError(
                    f"Terminal states are given by their names, such as {{'T', 'F'}}, and {name!r} was given."
                )
        self.terminal = frozenset(ends)
        self.symbols = self._two_symbols(rules, symbols)
        rules = {key: value for key, value in rules.items() if not self._stays_at_the_end(key, value)}
        named = list(dict.fromkeys(q for key, value in rules.items() for q in (key[0], value[0]) if q != ANY))
        first: Any = next((q for q, *_ in rules if q != ANY), None)
        self.initial: str = first if initial is None else initial
        if self.initial not in named:
            raise ValueError(
                f"The initial state {self.initial!r} appears in no rule. The states of the rules are: {listed(named)}."
            )
        self.states: tuple[str, ...] = tuple(dict.fromkeys([self.initial, *named, *sorted(self.terminal)]))
        self.rules = self._expanded(rules)
        self.starts: tuple[str, ...] = (self.initial,)

    def _stays_at_the_end(self, key: tuple[Any, ...], value: tuple[Any, ...]) -> bool:
        """Whether a rule only repeats that a terminal state is final. Any other rule for such a state is an error."""
        if key[0] not in self.terminal:
            return False
        if value != (key[0], *[NOOP] * self.p):
            raise ValueError(
                f"State {key[0]!r} is terminal, and a rule was given for it: {key!r}. Remove the rule, "
                f"or take {key[0]!r} out of the terminal states."
            )
        return True

    def _two_symbols(self, rules: Table, symbols: Iterable[str] | None) -> tuple[str, str]:
        """The two symbols, in order: as given; otherwise 0 before 1, or in order of appearance."""
        if isinstance(symbols, Set) or not isinstance(symbols, (Iterable, type(None))):
            raise ValueError(
                f"Symbols are given in order, such as '01' or ['left', 'right'], and {symbols!r} was given."
            )
        used = [top for key in rules for top in key[1:] if top not in (None, ANY)]
        used += [x for value in rules.values() for kind, x in value[1:] if kind == "push"]
        given = list(map(str, symbols or ()))
        found = list(dict.fromkeys([*given, *used]))
        for symbol in found:
            if symbol.split() != [symbol] or symbol in (ANY, EMPTY):
                raise ValueError(
                    f"A symbol is text without spaces, other than {ANY} (any symbol) and {EMPTY} (an empty stack), "
                    f"and {symbol!r} was given."
                )
        if len(found) > 2:
            raise ValueError(f"The stacks are binary, and these symbols are used: {listed(found)}. Use at most two.")
        spare = [x for x in ("0", "1") if x not in found]
        found += spare[: 2 - len(found)]
        zero, one = sorted(found) if set(found) == {"0", "1"} and not given else found
        return zero, one

    def _expanded(self, rules: Table) -> Table:
        """The rules without stars: one for each combination of a state and tops to which some rule applies."""
        table: Table = {}
        order = {key: n for n, key in enumerate(rules)}
        for q in self.states:
            if q in self.terminal:
                continue
            for tops in product((None, *self.symbols), repeat=self.p):
                here = (q, *tops)
                fitting = [key for key in product(*((ANY, part) for part in here)) if key in rules]
                if not fitting:
                    continue
                stars = min(key.count(ANY) for key in fitting)
                best = sorted((key for key in fitting if key.count(ANY) == stars), key=order.__getitem__)
                other = next((key for key in best if rules[key] != rules[best[0]]), None)
                if other:
                    raise ValueError(f"Two rules contradict each other on {here!r}: {best[0]!r} and {other!r}.")
                table[here] = rules[best[0]]
        return table

    def trace(self, *stacks: Iterable[str], max_steps: int = 1_000_000) -> Iterator[StackConfiguration]:
        """Yield each :class:`StackConfiguration` of a run, the initial one first. Give each stack as a string or a
        sequence of symbols, the top first; a stack that is not given begins empty.

        Chapter: :doc:`/book/ss95`.
        """
        return self._configurations(self.stacks(*stacks), step_limit(max_steps))

    def stacks(self, *stacks: Iterable[str]) -> tuple[tuple[str, ...], ...]:
        """The symbols that a run begins with: a tuple for each stack of the machine, from the top down. It is empty for
        a stack that is not given; too many stacks or other symbols raise an error.
        """
        if len(stacks) > self.p:
            raise ValueError(f"This machine has {count(self.p, 'stack')}, and {len(stacks)} were given.")
        for number, stack in enumerate(stacks):
            if isinstance(stack, (bytes, Set, Mapping)) or not isinstance(stack, Iterable):
                raise ValueError(
                    f"A stack is a string or a sequence of symbols, the top first, and {stack!r} was given "
                    f"(for stack {number})."
                )
        filled = [tuple(map(str, stack)) for stack in stacks] + [()] * (self.p - len(stacks))
        for number, stack in enumerate(filled):
            for symbol in stack:
                if symbol not in self.symbols:
                    raise ValueError(
                        f"Symbol {symbol!r} (on stack {number}) is not one of this machine's: {listed(self.symbols)}."
                    )
        return tuple(filled)

    def _configurations(self, stacks: tuple[tuple[str, ...], ...], limit: int) -> Iterator[StackConfiguration]:
        now = StackConfiguration(0, self.initial, stacks)
        yield now
        while now.step < limit and (rule := self.rules.get((now.state, *now.tops))):
            now = after(now, rule)
            yield now

    def run(self, *stacks: Iterable[str], max_steps: int = 1_000_000) -> StackRun:
        """Run with these stacks, each given with its top first; return a :class:`StackRun`.

        Chapter: :doc:`/book/ss95`.
        """
        (now,) = deque(self.trace(*stacks, max_steps=max_steps), maxlen=1)
        return StackRun(self.status(now, max_steps), now.state, now.step, now.stacks)

    def status(self, now: StackConfiguration, limit: int) -> str:
        if now.state in self.terminal:
            return "halted"
        return "jammed" if now.step < limit else "limit"

    def __repr__(self) -> str:
        return f"<StackMachine: {len(self.states)} states, {self.p} stacks, {len(self.rules)} rules>"


def balanced() -> StackMachine:
    """Balanced parentheses with two stacks: the word on stack 0, the open parentheses on stack 1.

    >>> from turing.stack_machine import balanced
    >>> [balanced().run(word).state for word in ("", "(())", "())", "(")]
    ['T', 'T', 'F', 'F']

    Chapter: :doc:`/book/ss95`.
    """
    rules: Texts = {}
    for q in ("I", "R"):
        rules |= {
            (q, "(", None): ("R", "pop", "push ("),
            (q, "(", "("): ("R", "pop", "push ("),
            (q, ")", "("): ("R", "pop", "pop"),
            (q, ")", None): ("F", "noop", "noop"),
            (q, None, "("): ("F", "noop", "noop"),
            (q, None, None): ("T", "noop", "noop"),
        }
    return StackMachine(rules, "I", {"T", "F"}, "()")


class TwoStacks:
    """Any Turing machine as a machine with two binary stacks: the cells left and right of the head.

    The symbol under the head is in the state. If there are g symbols, each is k = ⌈log₂ g⌉ bits: its index in
    ``symbols``, by default the machine's. The blank comes first and is k zeros, so an empty stack reads as blanks. A
    move pushes the k bits of the symbol written on one stack while it pops k bits off the other, one of each at a
    micro-step; a stay is one micro-step. ``machine`` is the :class:`StackMachine`.

    >>> import turing
    >>> from turing.stack_machine import TwoStacks
    >>> two = TwoStacks(turing.zoo["balanced_parentheses"])
    >>> two.k, len(two.machine.states), len(two.machine.rules)
    (3, 68, 387)

    Chapter: :doc:`/book/ss95`.
    """

    def __init__(self, machine: TuringMachine, symbols: Sequence[str] | None = None):
        if not isinstance(machine, TuringMachine):
            raise TypeError(f"TwoStacks takes a TuringMachine, and {machine!r} was given.")
        self.turing, self.k = machine, max(1, (len(machine.symbols) - 1).bit_length())
        self.code = {a: tuple(n >> i & 1 for i in range(self.k)) for n, a in enumerate(symbols or machine.symbols)}
        self.symbol = {bits: a for a, bits in self.code.items()}
        self.control: dict[str, tuple[str, str]] = {}  # the states that stand for a state and a symbol
        rules: Texts = {}
        for q, a in product(machine.states, machine.symbols):
            self.control[name_of(q, a)] = (q, a)
            if (q, a) in machine.delta:
                self._step(rules, q, a, *machine.delta[q, a])
        terminal = [name for name, (q, _) in self.control.items() if q in machine.halting]
        starts = [name_of(machine.initial, a) for a in machine.symbols]
        self.machine = self._complete(rules, starts, terminal)

    def _complete(self, rules: Texts, starts: list[str], terminal: list[str]) -> StackMachine:
        return _CompleteStackMachine(rules, starts, terminal, self.control)

    def _step(self, rules: Texts, q: str, a: str, target: str, written: str, move: int) -> None:
        if move == 0:
            for tops in product((None, "0", "1"), repeat=2):
                rules[(name_of(q, a), *tops)] = (name_of(target, written), "noop", "noop")
            return
        self._micro(rules, name_of(q, a), target, move, self.code[written], ())

    def _micro(
        self, rules: Texts, state: str, target: str, move: int, left: tuple[int, ...], read: tuple[int, ...]
    ) -> None:
        """Add the rules that push the last of the bits ``left`` and pop the next bit, and then those that follow."""
        known = {bits[: len(read) + 1] for bits in self.symbol}
        for top in (None, "0", "1"):
            bits = (*read, int(top == "1"))
            if bits not in known:
                continue
            rest = left[:-1]
            after = name_of(target, self.symbol[bits]) if not rest else name_of(target, "RL"[move < 0], rest, bits)
            push, pop = f"push {left[-1]}", "pop"  # an empty stack stays empty
            new = (after, push, pop) if move > 0 else (after, pop, push)
            for other in (None, "0", "1"):
                rules[(state, other, top) if move > 0 else (state, top, other)] = new
            if rest and (after, None, None) not in rules:
                self._micro(rules, after, target, move, rest, bits)

    def start(self, word: Sequence[str]) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """The state and both stacks for a word, the head on its first symbol.

        Chapter: :doc:`/book/ss95`.
        """
        tape = self.turing.tape(word)
        first = tape.get(0, self.turing.blank)
        bits = (str(bit) for cell in range(1, len(tape)) for bit in self.code[tape[cell]])
        return name_of(self.turing.initial, first), (), tuple(bits)

    def trace(self, word: Sequence[str], max_steps: int) -> Iterator[tuple[StackConfiguration, bool]]:
        """Yield each configuration of the stack machine, and whether a step of the Turing machine ends there."""
        state, *stacks = self.start(word)
        now = StackConfiguration(0, state, tuple(map(tuple, stacks)))
        done = 0
        while True:
            complete = now.state in self.control
            yield now, complete
            if complete and done == max_steps:
                return
            rule = self.machine.rules.get((now.state, *now.tops))
            if rule is None:
                return
            done += complete
            now = after(now, rule)

    def symbols(self, stack: Sequence[str]) -> list[str]:
        """The symbols that the bits on a stack stand for, from the top; missing bits at the bottom are 0."""
        bits = [int(bit) for bit in stack]
        bits += [0] * (-len(bits) % self.k)
        return [self.symbol[tuple(bits[i : i + self.k])] for i in range(0, len(bits), self.k)]


class _CompleteStackMachine(StackMachine):
    """A stack machine whose rules are complete and right by construction: nothing is checked or expanded."""

    def __init__(self, rules: Texts, starts: list[str], terminal: Iterable[str], control: Iterable[str]):
        self.p, self.symbols, self.terminal = 2, ("0", "1"), frozenset(terminal)
        self.initial, self.starts = starts[0], tuple(starts)
        named = [q for key, value in rules.items() for q in (key[0], value[0])]
        self.states = tuple(dict.fromkeys([*control, *named]))
        self.rules = {key: (value[0], *map(_operation, value[1:])) for key, value in rules.items()}


def name_of(q: str, *rest: object) -> str:
    """A name for a state of the stack machine, unique whatever the states and symbols are called."""
    plain = len(rest) == 1 and " " not in q and not q.startswith("(")
    return f"{q} {rest[0]}" if plain else repr((q, *rest))


def _read(delta: object) -> Table:
    """The rules with their operations parsed, each of them checked."""
    if not isinstance(delta, Mapping):
        raise ValueError(f"A transition function is a dictionary of rules, and {delta!r} was given.")
    rules: Table = {}
    for key, value in delta.items():
        read, found = _key(key), _value(key, value)
        if rules.setdefault(read, found) != found:
            raise ValueError(f"Two rules were given for {read!r}, and they differ. Keep one.")
    if not rules:
        raise ValueError("This machine has no rules. Give at least one: {(state, top, …): (next state, operation, …)}.")
    return rules


def _key(key: object) -> tuple[Any, ...]:
    if not isinstance(key, tuple) or not key or not isinstance(key[0], str):
        raise ValueError(f"A rule begins (state, top of stack 0, …), and {key!r} was given.")
    return (key[0], *(top if top is None else str(top) for top in key[1:]))


def _value(key: object, value: object) -> tuple[Any, ...]:
    if not isinstance(value, (tuple, list)) or not value or not isinstance(value[0], str):
        raise ValueError(f"A rule ends (next state, operation on stack 0, …), and {value!r} was given for {key!r}.")
    if value[0] == ANY:
        raise ValueError(f"A rule leads to one state, and {ANY!r}, which stands for any state, was given for {key!r}.")
    return (value[0], *map(_operation, value[1:]))


def _operation(text: str) -> Operation:
    parts = text.split() if isinstance(text, str) else []
    if parts in (["noop"], ["pop"]):
        return parts[0], None
    if len(parts) == 2 and parts[0] == "push":
        return "push", parts[1]
    raise ValueError(f"An operation is 'noop', 'pop' or 'push x', and {text!r} was given.")


def _operation_text(operation: Operation) -> str:
    return " ".join(filter(None, operation))


def after(now: StackConfiguration, rule: tuple[Any, ...]) -> StackConfiguration:
    """The configuration to which a rule leads."""
    state, *operations = rule
    stacks = (_apply(stack, *operation) for stack, operation in zip(now.stacks, operations, strict=True))
    return StackConfiguration(now.step + 1, state, tuple(stacks))


def _apply(stack: tuple[str, ...], kind: str, symbol: str | Any) -> tuple[str, ...]:
    return (symbol, *stack) if kind == "push" else stack[1:] if kind == "pop" else stack
