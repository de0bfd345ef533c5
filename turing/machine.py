"""Turing machines, and the plain interpreter that every network is checked against.

Chapter: :doc:`/book/machines`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from turing import arguments
from turing.arguments import count, listed

__all__ = ["Configuration", "Run", "TuringMachine"]

Rule = tuple[str, str, int]
Rules = Mapping[tuple[str, str], Rule]


@dataclass(frozen=True)
class Run:
    """How a run of a machine, or of a network that simulates one, ended.

    - ``status``: ``"halted"``; ``"jammed"`` if no rule applies; ``"limit"`` if ``max_steps`` steps were made; or
      ``"interrupted"`` if Ctrl-C ended a run with an engine (:mod:`turing.engine`)
    - ``state``, ``head``: the state at the end, and the cell on which the head then stands
    - ``steps``: how many steps the machine made
    - ``tape``: the cells that are not blank at the end, with their symbols
    - ``micro_steps``: how many passes a network made. Some networks take several passes for a step; for a run without
      a network it is ``steps``. Two runs are equal if the machine did the same in both, in however many passes.

    >>> run = turing.zoo["balanced_parentheses"].run("B()E")
    >>> print(run)
    halted in state T after 9 steps, head on cell 1, 3 cells not blank
    >>> run.tape
    {0: 'B', 1: '*', 2: '*'}

    Chapter: :doc:`/book/machines`.
    """

    status: str
    state: str
    steps: int
    head: int
    tape: Mapping[int, str]
    micro_steps: int = field(compare=False)
    _trace: Callable[[], Iterator[Configuration]] = field(repr=False, compare=False)

    @property
    def trace(self) -> Iterator[Configuration]:
        """The ``steps + 1`` configurations of the run, the initial one first.

        It is an attribute: write ``run.trace``, without brackets. Each time it makes the run again, step by step as you
        ask for configurations.

        >>> run = turing.zoo["balanced_parentheses"].run("B()E")
        >>> [configuration.head for configuration in run.trace]
        [0, 1, 2, 1, 2, 3, 2, 1, 0, 1]

        Chapter: :doc:`/book/machines`.
        """
        return self._trace()

    def __str__(self) -> str:
        return (
            f"{self.status} in state {self.state} after {count(self.steps, 'step')}, "
            f"head on cell {self.head}, {count(len(self.tape), 'cell')} not blank"
        )


class Configuration:
    """A moment of a run: the ``state`` and the cell of the ``head`` after ``step`` steps; ``symbol`` is under the head.

    Printed, ``I  [B]()E`` says that the state is ``I``, and that the head stands on the ``B`` of the tape ``B()E``.

    You may keep configurations: the ``cells`` and the ``tape`` of each stay right after the run goes on. (A trace never
    copies its tape. The newest configuration owns it; an older one remembers only what the next step overwrote, and
    undoes the later steps when you ask for its tape.)

    Chapter: :doc:`/book/machines`.
    """

    __slots__ = ("step", "state", "head", "symbol", "_blank", "_cells", "_undo")
    _cells: dict[int, str] | Any  # None once a newer one owns the tape
    _undo: tuple[str | None, Configuration] | Any  # None until then

    def __init__(self, step: int, state: str, head: int, cells: dict[int, str], blank: str):
        self.step, self.state, self.head = step, state, head
        self.symbol = cells.get(head, blank)
        self._blank, self._cells, self._undo = blank, cells, None

    def _then(self, state: str, written: str, move: int) -> Configuration:
        cells, before = self._cells, self._cells.get(self.head)
        cells[self.head] = written
        newer = Configuration(self.step + 1, state, self.head + move, cells, self._blank)
        self._cells, self._undo = None, (before, newer)
        return newer

    @property
    def cells(self) -> dict[int, str]:
        """Cell to symbol, for the cells of the word and every cell written so far, blank ones too."""
        undo: list[tuple[int, str | None]] = []
        owner = self
        while owner._cells is None:
            before, newer = owner._undo
            undo.append((owner.head, before))
            owner = newer
        cells = dict(owner._cells)
        for cell, before in reversed(undo):
            if before is None:
                del cells[cell]
            else:
                cells[cell] = before
        return cells

    @property
    def tape(self) -> dict[int, str]:
        """Cell to symbol, for the cells that are not blank."""
        return {cell: symbol for cell, symbol in self.cells.items() if symbol != self._blank}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Configuration):
            return NotImplemented
        mine, theirs = (self.step, self.state, self.head), (other.step, other.state, other.head)
        return mine == theirs and self.tape == other.tape

    __hash__ = None  # type: ignore[assignment]  # which is how Python marks a type as unhashable

    def __str__(self) -> str:
        """The tape with the head in brackets, as in Figure 1 of the paper: ``R  B[(])E``."""
        cells = self.cells
        span = range(min(*cells, self.head, self.head), max(*cells, self.head, self.head) + 1)
        symbols = [cells.get(i, self._blank) for i in span]
        symbols[self.head - span.start] = f"[{self.symbol}]"
        gap = " " if any(len(symbol) > 1 for symbol in (*cells.values(), self._blank)) else ""
        return f"{self.state}  {gap.join(symbols)}"

    def __repr__(self) -> str:
        return f"<step {self.step}: {self}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Configuration, (self.step, self.state, self.head, self.cells, self._blank)


@dataclass(frozen=True)
class TuringMachine:
    """A Turing machine M = (Q, Γ, δ, q₀, F) with a tape that has no end on either side.

    - ``delta`` (δ): the rules, a dictionary from ``(state, symbol)`` to ``(next state, symbol to write, move)`` with a
      move of -1 (left), 0 or +1 (right), or a list of rows ``(state, symbol, next state, symbol to write, move)``.
      Where no rule applies, the run jams.
    - ``initial`` (q₀): the state in which a run begins
    - ``halting`` (F): the set of states in which a run ends, and which have no rules
    - ``blank``: the symbol on every cell that is not part of the word and has not been written yet
    - ``alphabet``: symbols that a word may contain although no rule mentions them. A blank that no rule mentions is
      refused unless it stands here.

    States and symbols are any non-empty strings. A *word* is a string, in which each character is a symbol, or a list
    of symbols, such as ``["rock", "paper"]``. A symbol that the machine does not know raises ValueError.

    >>> rules = {
    ...     ("walk", "0"): ("walk", "1", +1),
    ...     ("walk", "1"): ("walk", "0", +1),
    ...     ("walk", "_"): ("done", "_", 0),
    ... }
    >>> swap = turing.TuringMachine(rules, "walk", {"done"}, "_")
    >>> swap.run("0110").tape
    {0: '1', 1: '0', 2: '0', 3: '1'}

    Chapter: :doc:`/book/machines`.
    """

    delta: Rules
    initial: str
    halting: frozenset[str]
    blank: str
    alphabet: tuple[str, ...] = field(default=(), kw_only=True, repr=False)

    if TYPE_CHECKING:  # it accepts more types than the fields have

        def __init__(
            self,
            delta: Rules | Iterable[tuple[str, str, str, str, int]],
            initial: str,
            halting: Iterable[str],
            blank: str,
            *,
            alphabet: Iterable[str] = (),
        ) -> None: ...

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "delta", MappingProxyType(self._rules))
        if isinstance(self.halting, str):
            raise ValueError(
                f"halting is a set of state names, and the string {self.halting!r} was given. "
                f"Write {{{self.halting!r}}} for one halting state of that name."
            )
        if not isinstance(self.halting, Iterable):
            raise ValueError(f"halting is a set of state names, and {self.halting!r} was given. Write () for none.")
        put(self, "halting", frozenset(self.halting))
        put(self, "alphabet", tuple(self.alphabet))
        for kind, names in (("State", [self.initial, *self.halting]), ("Symbol", [self.blank, *self.alphabet])):
            for name in names:
                _check_name(kind, name)
        for (state, symbol), _ in self._rules.items():
            if state in self.halting:
                raise ValueError(
                    f"State {state!r} halts, and a rule was given for it: ({state}, {symbol}). "
                    f"Remove the rule, or take {state!r} out of the halting states."
                )
        if self.initial not in self.states:
            raise ValueError(
                f"The initial state {self.initial!r} appears in no rule. "
                f"The states of the rules are: {listed(self.states)}."
            )
        if self.blank not in self.symbols:
            raise ValueError(
                f"The blank {self.blank!r} is not in the alphabet of the rules: "
                f"{listed(self.symbols)}. Choose one of these as the blank, or pass "
                f"alphabet=[{self.blank!r}] if no rule mentions it."
            )
        # Canonical order, so that compiled weights are the same everywhere.
        put(self, "states", _put_first(self.initial, self.states))
        put(self, "symbols", _put_first(self.blank, self.symbols))

    @cached_property
    def _rules(self) -> dict[tuple[str, str], Rule]:
        """δ as a plain dict, which is faster than the read-only view in ``delta``."""
        return _rules(self.delta)

    @cached_property
    def states(self) -> tuple[str, ...]:
        """All states (Q): the initial one, then the others in the order in which the rules mention them."""
        named = [q for (state, _), rule in self._rules.items() for q in (state, rule[0])]
        return tuple(dict.fromkeys([*named, *sorted(self.halting)]))

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """All symbols (Γ): the blank, then the others in the order in which the rules and ``alphabet`` mention them."""
        named = [a for (_, symbol), rule in self._rules.items() for a in (symbol, rule[1])]
        return tuple(dict.fromkeys([*named, *self.alphabet]))

    def run(self, word: Iterable[str] = "", max_steps: int = 1_000_000) -> Run:
        """Run on ``word``, and return a :class:`~turing.machine.Run`. The word begins on cell 0, and so does the head.

        The run ends when the machine halts or jams, and after ``max_steps`` steps at the latest.

        Chapter: :doc:`/book/machines`.
        """
        word = arguments.word(word)  # the trace reads it again
        tape = self.tape(word)
        state, head, steps, jammed = self._advance(tape, self.initial, 0, arguments.step_limit(max_steps))
        return self._run(tape, state, head, steps, jammed, partial(self.trace, word, steps))

    def _advance(
        self,
        tape: dict[int, str],
        state: str,
        head: int,
        limit: int,
    ) -> tuple[str, int, int, bool]:
        """Make up to ``limit`` steps and change the tape in place. Every network is checked against this loop."""
        rules, blank, steps = self._rules, self.blank, 0
        while steps < limit:
            rule = rules.get((state, tape.get(head, blank)))
            if rule is None:
                return state, head, steps, state not in self.halting
            state, tape[head], move = rule
            head += move
            steps += 1
        return state, head, steps, False

    def _run(
        self,
        tape: Mapping[int, str],
        state: str,
        head: int,
        steps: int,
        jammed: bool,
        trace: Callable[[], Iterator[Configuration]],
    ) -> Run:
        status = "halted" if state in self.halting else "jammed" if jammed else "limit"
        left = {cell: symbol for cell, symbol in sorted(tape.items()) if symbol != self.blank}
        return Run(status, state, steps, head, left, steps, trace)

    def trace(self, word: Iterable[str] = "", max_steps: int = 1_000_000) -> Iterator[Configuration]:
        """Yield each :class:`~turing.machine.Configuration` of a run, the initial one first.

        >>> for configuration in turing.zoo["balanced_parentheses"].trace("B()E", 2):
        ...     print(configuration)
        I  [B]()E
        R  B[(])E
        R  B([)]E

        Chapter: :doc:`/book/machines`.
        """
        return self._configurations(self.tape(word), arguments.step_limit(max_steps))

    def _configurations(self, tape: dict[int, str], limit: int) -> Iterator[Configuration]:
        now = Configuration(0, self.initial, 0, tape, self.blank)
        yield now
        while now.step < limit and (rule := self._rules.get((now.state, now.symbol))):
            now = now._then(*rule)
            yield now

    def tape(self, word: Iterable[str]) -> dict[int, str]:
        """The tape before the first step, a dictionary. This also checks the word: an unknown symbol raises ValueError.

        >>> turing.zoo["binary_increment"].tape("101")
        {0: '1', 1: '0', 2: '1'}

        Chapter: :doc:`/book/machines`.
        """
        tape, known = dict(enumerate(arguments.word(word))), set(self.symbols)
        for cell, symbol in tape.items():
            if not isinstance(symbol, str) or symbol not in known:
                raise ValueError(
                    f"Symbol {symbol!r} (cell {cell} of the word) is not in this machine's "
                    f"alphabet: {listed(sorted(self.symbols))}."
                )
        return tape

    def text(self, tape: Mapping[int, str]) -> str:
        """A tape, such as ``run.tape``, as a string. Spaces separate the symbols if one has more than one character.

        The string of ``run.tape`` goes from the first cell that is not blank to the last. So its first character need
        not stand on cell 0. Here a carry has made the number longer, and the first digit stands on cell -1:

        >>> m = turing.zoo["binary_increment"]
        >>> run = m.run("1111")
        >>> m.text(run.tape), run.tape
        ('10000', {-1: '1', 0: '0', 1: '0', 2: '0', 3: '0'})

        Chapter: :doc:`/book/machines`.
        """
        span = range(min(tape), max(tape) + 1) if tape else ()
        symbols = [tape.get(cell, self.blank) for cell in span]
        return (" " if any(len(symbol) > 1 for symbol in self.symbols) else "").join(symbols)

    def rename(self, states: Mapping[str, str] = {}, symbols: Mapping[str, str] = {}) -> TuringMachine:
        """A new machine with other names, given as ``{old: new}``. Names that are not mentioned stay.

        >>> m = turing.zoo["bb2"].rename(states={"Z": "halt"}, symbols={"0": "_"})
        >>> m.states, m.symbols
        (('A', 'B', 'halt'), ('_', '1'))

        Chapter: :doc:`/book/machines`.
        """
        for kind, names, known in (("State", states, self.states), ("Symbol", symbols, self.symbols)):
            if not isinstance(names, Mapping):
                raise TypeError(
                    f"{kind}s are renamed by a dictionary from old names to new ones, and {names!r} was given."
                )
            for name in names.keys() - set(known):
                raise ValueError(f"{kind} {name!r} is not on this machine: {listed(known)}.")
            new: set[str] = set()
            for name in (names.get(name, name) for name in known):
                if name in new:
                    raise ValueError(f"Two {kind.lower()}s would be called {name!r}. Give each its own name.")
                new.add(name)
        q, a = lambda x: states.get(x, x), lambda x: symbols.get(x, x)
        return TuringMachine(
            {(q(s), a(r)): (q(t), a(w), move) for (s, r), (t, w, move) in self._rules.items()},
            q(self.initial),
            map(q, self.halting),
            a(self.blank),
            alphabet=map(a, self.alphabet),
        )

    @classmethod
    def parse(cls, text: str, format: str | None = None, alphabet: Iterable[str] = ()) -> TuringMachine:
        """The machine that a text describes, as :func:`turing.formats.parse` reads it.

        >>> turing.TuringMachine.parse("1RB1LB_1LA1RZ") == turing.zoo["bb2"]
        True

        Chapter: :doc:`/book/machines`.
        """
        from turing.formats import parse

        return parse(text, format, alphabet)

    def dumps(self, format: str = "json") -> str:
        """The machine as text, as :func:`turing.formats.dumps` writes it.

        >>> turing.zoo["bb2"].dumps("bbchallenge")
        '1RB1LB_1LA1RZ'

        Chapter: :doc:`/book/machines`.
        """
        from turing.formats import dumps

        return dumps(self, format)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TuringMachine):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        rules, symbols = frozenset(self._rules.items()), frozenset(self.symbols)
        return rules, self.initial, self.halting, self.blank, symbols

    def __reduce__(self) -> tuple[Any, ...]:
        return _build, (dict(self._rules), self.initial, self.halting, self.blank, self.alphabet)

    def __repr__(self) -> str:
        return (
            f"<TuringMachine: {count(len(self.states), 'state')}, {count(len(self.symbols), 'symbol')}, "
            f"{count(len(self._rules), 'rule')}>"
        )


def _build(delta: Rules, initial: str, halting: Iterable[str], blank: str, alphabet: Iterable[str]) -> TuringMachine:
    return TuringMachine(delta, initial, halting, blank, alphabet=alphabet)


def _rules(delta: object) -> dict[tuple[str, str], Rule]:
    """The rules as a dictionary of tuples, each of them checked."""
    if not isinstance(delta, Iterable):
        raise ValueError(f"delta is a dictionary or a list of rules, and {delta!r} was given.")
    if isinstance(delta, Mapping):
        rows = [(key, value) for key, value in delta.items()]
    else:
        rows = [(tuple(row)[:2], tuple(row)[2:]) if isinstance(row, Iterable) else (row, ()) for row in delta]
    if not rows:
        raise ValueError(
            "This machine has no rules. Give at least one: {(state, symbol): (next state, symbol to write, move)}."
        )
    rules: dict[tuple[str, str], Rule] = {}
    for key, value in rows:
        if not (isinstance(key, tuple) and len(key) == 2 and isinstance(value, (tuple, list)) and len(value) == 3):
            raise ValueError(
                f"A rule reads (state, symbol): (next state, symbol to write, move), "
                f"and this one was given: {key!r}: {value!r}."
            )
        (state, symbol), (target, written, move) = key, value
        for kind, name in (("State", state), ("Symbol", symbol), ("State", target), ("Symbol", written)):
            _check_name(kind, name)
        if isinstance(move, bool) or move not in (-1, 0, 1):
            raise ValueError(
                f"A move is -1 (left), 0 (stay) or +1 (right); the rule for ({state}, {symbol}) has {move!r}."
            )
        if key in rules:
            raise ValueError(
                f"Two rules were given for state {state!r} reading {symbol!r}: "
                f"{rules[key]} and {tuple(value)}. Keep one."
            )
        rules[key] = (target, written, int(move))
    return rules


def _check_name(kind: str, name: object) -> None:
    if not isinstance(name, str) or not name:
        raise ValueError(f"{kind}s are non-empty strings, and {name!r} was given.")
    if not name.isascii() and any("\ud800" <= character <= "\udfff" for character in name):
        raise ValueError(f"{kind}s are text, and {name!r} has half a character in it (a lone surrogate).")


def _put_first(name: str, names: tuple[str, ...]) -> tuple[str, ...]:
    return (name, *(other for other in names if other != name))
