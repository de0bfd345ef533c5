"""What is proved of SS95 networks: their invariant, and that one pass is one step of the two stacks, for all stacks.

The invariant with four layers: ``st`` is one-hot, and the number of each stack is in the Cantor set. Let B be the base,
and d₀ < d₁ the two digits. A number of the set is 0, the empty stack, or (d + r)/B: the digit d is the symbol on top,
and the rest r, which stands for the symbols below it, is a number of the set again. All that the proof uses of a rest
is 0 ≤ r ≤ d₁/(B − 1).

So a column is one of finitely many cases, in which every number is affine in the rests r. The least and the greatest
rest show which part of sat applies: 0, the number itself or 1. If that is not clear, the next symbol of a stack is told
apart as well.

The invariant with one layer has three parts, and the chapter :doc:`/book/real-time` derives that layer. There is a
detector for each class of steps and each lower bound of the tops, which is 1 if it is due and 0 otherwise. The number
of a stack stands in the place of the operation that made it, and is in the Cantor set. In the cases of this invariant,
two symbols of each stack are told apart from the start.

The macro-steps of the translation into two stacks are finitely many too, and lift this to the Turing machine. There is
no horizon: the arithmetic is exact, and all stacks and all steps are covered.

Chapter: :doc:`/book/all-words`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import islice, product
from typing import Any, NamedTuple

import numpy as np

from turing import ir
from turing.machine import TuringMachine
from turing.proof import Checked, Counterexample, Failed, Invariant, Uncovered, Undecided, state_invariant
from turing.proof.enumeration import first_word
from turing.ss.four import operation_name
from turing.ss.realtime import START, classes_of
from turing.stack_machine import StackConfiguration, TwoStacks, after

__all__ = ["Case", "cases", "macro_steps", "one_pass"]

DEEPEST = 4  # symbols of a stack that are told apart
CLEAR = Fraction(1, 4)  # how far from 0 and 1 a detector may be that is read as one of them
Affine = tuple[int, ...]  # a constant, and a factor for the rest of each stack, over what stands for 1
NOTHING = Fraction(0)
MAX_EXACT = 2.0**53  # up to here float64 adds integers exactly


class Case(NamedTuple):
    """A stack of which the first symbols are known: nothing comes after them if it ``ends``, and anything otherwise.

    >>> from turing.ss.invariant import Case
    >>> Case((1,), False).number(4, (1, 3))  # 3/4 + r/4
    (Fraction(3, 4), Fraction(1, 4))

    Chapter: :doc:`/book/all-words`.
    """

    symbols: tuple[int, ...]
    ends: bool

    def number(self, base: int, digits: Sequence[int]) -> tuple[Fraction, Fraction]:
        """The number of the stack: a constant, and the factor of the rest."""
        known = sum((Fraction(digits[s], base**n) for n, s in enumerate(self.symbols, start=1)), NOTHING)
        return known, NOTHING if self.ends else Fraction(1, base ** len(self.symbols))

    @property
    def level(self) -> int:
        """0 for an empty stack, 1 and 2 for the two symbols on top."""
        return self.symbols[0] + 1 if self.symbols else 0

    def __str__(self) -> str:
        return ("".join(map(str, self.symbols)) or "–") + ("" if self.ends else "…")


def cases(depth: int) -> list[Case]:
    """All stacks, told apart by that many symbols: 3 cases for one symbol, 7 for two.

    >>> from turing.ss.invariant import cases
    >>> [str(case) for case in cases(2)]
    ['–', '0', '1', '00…', '01…', '10…', '11…']

    Chapter: :doc:`/book/all-words`.
    """
    short = [Case(symbols, True) for n in range(depth) for symbols in product((0, 1), repeat=n)]
    return short + [Case(symbols, False) for symbols in product((0, 1), repeat=depth)]


class Unclear(Exception):
    """It cannot be told which part of σ applies, unless the next symbol of a stack is known."""

    def __init__(self, stack: int, where: str):
        self.stack, self.where = stack, where
        super().__init__(where)


class _Layer:
    """A layer by columns, as integers over one denominator."""

    def __init__(self, part: ir.Layer):
        self.name, self.outputs, self.over = part.name, part.outputs, part.weight.denominator
        if part.activation != "clamp" or part.bias.denominator != self.over:
            raise Uncovered(f"{part.name} is not a layer with σ whose numbers have one denominator")
        self.columns: list[list[tuple[int, int]]] = [[] for _ in range(part.width_in)]
        for (i, j), weight in part.weight.entries():
            self.columns[j].append((i, int(weight)))
        self.bias: list[int] = part.bias.values.tolist()


class FourLayers:
    """The four layers on cases. What a state changes is small, so each case is the difference from the same stacks
    without a state.
    """

    def __init__(self, network: ir.Network, machine: TuringMachine):
        if [module.name for module in network.modules] != ["F4", "F3", "F2", "F1"]:
            raise Uncovered("the layers are not F4, F3, F2 and F1")
        self.layers = [_Layer(part) for part in network.layers]
        self.two, self.column = TwoStacks(machine), network.modules[0].inputs
        self.base, self.digits = network.options["base"], network.options["digits"]
        self.ones = [self.base ** (DEEPEST + 1)]  # what stands for 1 in a column, and in what leaves each layer
        for layer in self.layers:
            self.ones.append(self.ones[-1] * layer.over)
        if self.column.st.labels != self.two.machine.states:
            raise Uncovered("the states of the layers are not those of the two stacks")
        self.rules = {key: n for n, key in enumerate(self.two.machine.rules)}
        self.without = cache(self._without)

    def check(self) -> None:
        machine = self.two.machine
        for state in machine.states:
            if state not in machine.terminal:
                for both in product(cases(1), repeat=machine.p):
                    self._case(state, both)

    def _case(self, state: str, stacks: tuple[Case, ...]) -> None:
        """Check one pass from a state and stacks, with further symbols told apart where that is needed."""
        try:
            self._pass(state, stacks)
        except Unclear as error:
            case = stacks[error.stack]
            if case.ends or len(case.symbols) >= DEEPEST:
                raise Undecided(f"{error.where}: with {DEEPEST} symbols of a stack known, σ is not clear") from None
            for more in (Case(case.symbols, True), *(Case((*case.symbols, s), False) for s in (0, 1))):
                self._case(state, (*stacks[: error.stack], more, *stacks[error.stack + 1 :]))

    def _number(self, i: int, number: tuple[Fraction, Fraction], one: int, p: int) -> Affine:
        """The number of stack i as integers over ``one``."""
        known, factor = (int(part * one) for part in number)
        return (known, *(factor if j == i else 0 for j in range(p)))

    def _without(self, stacks: tuple[Case, ...]) -> list[tuple[list[Affine], dict[int, Affine], list[int]]]:
        """For these stacks and no state, of each layer: the sums, what σ makes of those that are not 0, and where that
        is not clear.
        """
        p, zero, found = len(stacks), (0,) * (len(stacks) + 1), []
        x = {
            self.column.q[i]: self._number(i, case.number(self.base, self.digits), self.ones[0], p)
            for i, case in enumerate(stacks)
        }
        for layer, one, out in zip(self.layers, self.ones, self.ones[1:], strict=False):
            sums = [(bias * one, *zero[1:]) for bias in layer.bias]
            for i, more in self._added(layer, x).items():
                sums[i] = _sum(sums[i], more)
            x, unclear = {}, []
            for i, value in enumerate(sums):
                try:
                    made = self._sigma(value, out, layer.name)
                except Unclear:
                    unclear.append(i)
                else:
                    if made != zero:
                        x[i] = made
            found.append((sums, x, unclear))
        return found

    def _added(self, layer: _Layer, x: Mapping[int, Affine]) -> dict[int, Affine]:
        found: dict[int, Affine] = {}
        for j, value in x.items():
            for i, weight in layer.columns[j]:
                term = tuple(weight * part for part in value)
                found[i] = _sum(found[i], term) if i in found else term
        return found

    def _ends(self, value: Affine) -> tuple[int, int]:
        """The least and the greatest value, times b − 1: the rest of a stack is at most d₁/(b − 1)."""
        low = high = value[0] * (self.base - 1)
        for factor in value[1:]:
            low, high = low + min(factor, 0) * self.digits[1], high + max(factor, 0) * self.digits[1]
        return low, high

    def _sigma(self, value: Affine, one: int, where: str) -> Affine:
        (low, high), most = self._ends(value), one * (self.base - 1)
        if high <= 0:
            return (0,) * len(value)
        if low >= most:
            return (one, *[0] * (len(value) - 1))
        if low >= 0 and high <= most:
            return value
        raise Unclear(max(range(len(value) - 1), key=lambda i: abs(value[i + 1])), where)

    def _pass(self, state: str, stacks: tuple[Case, ...]) -> None:
        zero = (0,) * (len(stacks) + 1)
        change: dict[int, Affine] = {self.column.st[state]: (self.ones[0], *zero[1:])}
        outputs = []
        for layer, one, (sums, plain, unclear) in zip(self.layers, self.ones[1:], self.without(stacks), strict=True):
            added = self._added(layer, change)
            change, output = {}, dict(plain)
            for i in {*added, *unclear}:
                output[i] = self._sigma(
                    _sum(sums[i], added.get(i, zero)), one, f"{layer.name}, {layer.outputs.name(i)}"
                )
                if output[i] != plain.get(i, zero):
                    change[i] = tuple(a - b for a, b in zip(output[i], plain.get(i, zero), strict=True))
            outputs.append(output)
        self._compare(state, stacks, outputs[1], outputs[3])

    def _compare(
        self, state: str, stacks: tuple[Case, ...], detected: dict[int, Affine], column: dict[int, Affine]
    ) -> None:
        """The right rule is detected, and the next column is what it says."""
        p, one = len(stacks), self.ones[-1]
        key = (state, *((None, "0", "1")[case.level] for case in stacks))
        where = {"state": state, **{f"stack {i}": str(case) for i, case in enumerate(stacks)}}
        start = state, tuple("".join(map(str, case.symbols)) for case in stacks)
        rule, number = self.two.machine.rules.get(key), self.rules.get(key)
        full = self.ones[2] * (self.base - 1)
        for i, value in detected.items():
            low, high = self._ends(value)
            if i < len(self.rules) and not (low >= (1 - CLEAR) * full if i == number else high <= CLEAR * full):
                raise Failed(f"F3: the detector of rule {i} is {high / full:g}", where, start)
        if rule is None:
            return
        if number not in detected:
            raise Failed("F3: the detector of the rule is 0", where, start)
        target, *operations = rule
        wanted = {self.column.st[target]: (one, *[0] * p)}
        for i, (case, operation) in enumerate(zip(stacks, operations, strict=True)):
            wanted[self.column.q[i]] = self._number(i, self._made(case, operation), one, p)
        zero = (0,) * (p + 1)
        for i in {*wanted, *column}:
            if column.get(i, zero) != wanted.get(i, zero):
                found, meant = (_shown(of.get(i, zero), one) for of in (column, wanted))
                raise Failed(f"the next column: {self.column.name(i)} is {found} instead of {meant}", where, start)

    def _made(self, case: Case, operation: tuple[str, str | None]) -> tuple[Fraction, Fraction]:
        if operation[0] == "pop" and len(case.symbols) == 1 and not case.ends:
            return NOTHING, Fraction(1)  # all of the rest
        return operated(case, operation).number(self.base, self.digits)


class OneLayer:
    """The one layer on cases: for each class of the last step and two symbols of each stack, all at once."""

    def __init__(self, network: ir.Network, machine: TuringMachine):
        (part,) = network.layers
        self.two, self.column = TwoStacks(machine), part.inputs
        self.base, self.digits = network.options["base"], network.options["digits"]
        self.classes = classes_of(self.two.machine)
        self.levels = list(product(range(3), repeat=self.two.machine.p))
        if part.activation != "clamp" or part.bias.denominator != part.weight.denominator:
            raise Uncovered(f"{part.name} is not a layer with σ whose numbers have one denominator")
        if self.column != part.outputs or len(self.column.det) != len(self.classes) * len(self.levels):
            raise Uncovered("the detectors of the layer are not those of the two stacks")
        self.weight, self.bias = (numbers.values.double().numpy() for numbers in (part.weight, part.bias))
        self.one = self.base**3
        self.out = self.one * part.weight.denominator
        rows = np.abs(self.weight).sum(1) + np.abs(self.bias)
        if float(rows.max()) * self.one * (self.two.machine.p + 1) * self.base >= MAX_EXACT:
            raise Undecided("the weights are so large that sums of them would be rounded in the prover")

    def check(self) -> None:
        machine, every = self.two.machine, list(product(cases(2), repeat=self.two.machine.p))
        targets = [target for target, *_ in self.classes]
        first = {targets.index(state) for state in machine.starts}  # a run begins in their classes, with noop
        for k, (target, *operations) in enumerate(self.classes):
            if target not in machine.terminal:
                made = ["noop" if operation == START else operation for operation in operations]
                for slots in [made, *([["noop"] * machine.p] if k in first else [])]:
                    self._check(k, slots, every)

    def _columns(self, k: int, slots: Sequence[str], every: Sequence[tuple[Case, ...]], one: int) -> np.ndarray:
        """The columns of a class with these stacks, which stand in the places of these operations: ``(width, cases,
        p + 1)``.
        """
        found = np.zeros((self.column.width, len(every), len(slots) + 1))
        for n, stacks in enumerate(every):
            for m, level in enumerate(self.levels):
                if all(case.level >= least for case, least in zip(stacks, level, strict=True)):
                    found[self.column.det[k * len(self.levels) + m], n, 0] = one
            for i, (case, name) in enumerate(zip(stacks, slots, strict=True)):
                known, factor = case.number(self.base, self.digits)
                found[self.column[name][i], n, [0, i + 1]] = int(known * one), int(factor * one)
        return found

    def _check(self, k: int, slots: Sequence[str], every: list[tuple[Case, ...]]) -> None:
        machine = self.two.machine
        given = self._columns(k, slots, every, self.one)
        used = np.flatnonzero(given.any(axis=(1, 2)))
        sums = np.tensordot(self.weight[:, used], given[used], 1)
        sums[:, :, 0] += (self.bias * self.one)[:, None]
        low, high = (
            sums[:, :, 0] * (self.base - 1) + end(sums[:, :, 1:], 0).sum(-1) * self.digits[1]
            for end in (np.minimum, np.maximum)
        )
        full = self.out * (self.base - 1)
        off, on, linear = high <= 0, low >= full, (low >= 0) & (high <= full)
        if not (off | on | linear).all():
            place = int(np.argwhere(~(off | on | linear))[0][0])
            raise Undecided(f"{self.column.name(place)}: with two symbols of each stack known, σ is not clear")
        sums[off] = 0
        sums[on] = [self.out, *[0] * machine.p]
        kinds = {kind: n for n, kind in enumerate(self.classes)}
        for n, stacks in enumerate(every):
            key = (self.classes[k][0], *((None, "0", "1")[case.level] for case in stacks))
            where = {"state": self.classes[k][0], **{f"stack {i}": str(case) for i, case in enumerate(stacks)}}
            start = key[0], tuple("".join(map(str, case.symbols)) for case in stacks)
            rule = machine.rules.get(key)
            if rule is None:
                if (high[list(self.column.det)[:: len(self.levels)], n] > CLEAR * full).any():
                    raise Failed("a step is detected where no rule applies", where, start)
                continue
            names = [operation_name(machine, operation) for operation in rule[1:]]
            after_ = tuple(operated(case, operation) for case, operation in zip(stacks, rule[1:], strict=True))
            wanted = self._columns(kinds[(rule[0], *names)], names, [after_], self.out)[:, 0]
            if wrong := np.flatnonzero((sums[:, n] != wanted).any(-1)).tolist():
                found, meant = (_shown(tuple(map(int, of[wrong[0]])), self.out) for of in (sums[:, n], wanted))
                raise Failed(
                    f"the next column: {self.column.name(wrong[0])} is {found} instead of {meant}", where, start
                )


def operated(case: Case, operation: tuple[str, str | None]) -> Case:
    """The stack after an operation; an empty one stays empty."""
    kind, symbol = operation
    if kind == "push":
        return Case((int(symbol or 0), *case.symbols), case.ends)
    return Case(case.symbols[1:] if kind == "pop" else case.symbols, case.ends)


def _sum(one: Affine, other: Affine) -> Affine:
    return tuple(a + b for a, b in zip(one, other, strict=True))


def _shown(value: Affine, one: int) -> str:
    terms = [f"{Fraction(factor, one)} r{i}" for i, factor in enumerate(value[1:]) if factor]
    return " + ".join([str(Fraction(value[0], one)), *terms])


def macro_steps(two: TwoStacks) -> int:
    """Check that the rules of two stacks make the steps of the Turing machine; return how many were followed.

    Every state and symbol is followed, with every symbol or none on the stack that is read, and any top on the other.
    There are no other cases, as the rules see only the tops.

    >>> import turing
    >>> from turing.ss.invariant import macro_steps
    >>> from turing.stack_machine import TwoStacks
    >>> macro_steps(TwoStacks(turing.zoo["bb2"]))
    54

    Chapter: :doc:`/book/all-words`.
    """
    machine, followed = two.turing, 0
    names = {pair: name for name, pair in two.control.items()}
    for (q, a), name in names.items():
        rule = machine.delta.get((q, a))
        for other, symbol in product(("", "0", "1"), (None, *machine.symbols)):
            read = "".join(map(str, two.code[symbol])) if symbol is not None else ""
            target, written, move = rule or (q, a, 1)
            bits = "".join(map(str, two.code[written]))
            stacks = (tuple(other), tuple(read)) if move >= 0 else (tuple(read), tuple(other))
            now, steps = StackConfiguration(0, name, stacks), 0
            while steps == 0 or now.state not in two.control:
                applied = two.machine.rules.get((now.state, *now.tops))
                if applied is None:
                    break
                now, steps = after(now, applied), steps + 1
            followed += 1
            if rule is None:
                good = steps == 0
            elif move == 0:
                good = (now.state, now.stacks) == (names[target, written], stacks) and steps == 1
            else:
                pushed, rest = tuple(bits) + tuple(other), ()
                good = steps == two.k and now.state == names[target, symbol or machine.blank]
                good = good and now.stacks == ((pushed, rest) if move > 0 else (rest, pushed))
            if not good:
                raise Failed("the translation into two stacks", {"state and symbol": f"{q} {a}", "read": read or "–"})
    return followed


def one_pass(network: ir.Network, machine: TuringMachine) -> Checked:
    """Check that one pass of an SS95 network is one step of a machine's two stacks, for all stacks; return a
    :class:`turing.proof.Checked`. ``network`` is a :class:`turing.ir.Network`, which ``net.ir()`` gives.

    >>> import turing
    >>> from turing.ss.invariant import one_pass
    >>> net = turing.compile(turing.zoo["bb2"], "ss95")
    >>> one_pass(net.ir(), net.machine)  # no limit on steps, on cells or on visits
    Checked(steps=None, cells=None, visits=None, margins={})

    Chapter: :doc:`/book/all-words`.
    """
    if network.arithmetic != "exact":
        raise Uncovered(f"in {network.arithmetic} deep stacks are rounded, which is not covered; arithmetic='exact' is")
    if machine != network.machine:
        raise Uncovered("an SS95 network is read by the rules that it was compiled for, and another machine was given")
    macro_steps(TwoStacks(machine))
    kind = OneLayer if len(network.modules) == 1 else FourLayers
    kind(network, machine).check()
    return Checked(None, None, None, {})


def trusted(network: Any, machine: TuringMachine) -> None:
    """Raise unless the first columns are what the invariant says, on a word for each symbol."""
    if machine != network.machine or network.arithmetic != "exact":
        return  # not covered anyway
    two, stacks, layout = TwoStacks(machine), network.network, network.layout
    names = {pair: name for name, pair in two.control.items()}
    bits = [bit for a in machine.symbols for bit in two.code[a]]
    number = Case(tuple(bits), True).number(stacks.code.base, stacks.code.digits)[0]
    for a in machine.symbols:
        state = names[machine.initial, a]
        if network.version == 4:
            wanted = {layout.st[state]: 1, layout.q[1]: number}
        else:
            k = [target for target, *_ in classes_of(two.machine)].index(state)
            wanted = {layout.det[9 * k + level]: 1 for level in range(bits[0] + 2)} | {layout.noop[1]: number}
        found = {i: Fraction(x) for i, x in enumerate(network.initial([a, *machine.symbols])) if x}
        if found != wanted:
            raise Uncovered("the first column is not what the invariant says")


def search(network: Any, machine: TuringMachine, start: Any = None) -> Counterexample | None:
    """A word on which a run goes wrong or, if none is found, stacks.

    Chapter: :doc:`/book/all-words`.
    """
    if found := first_word(network, machine):
        return found
    if start is not None:
        state, stacks = start
        for more in product(("", "0", "1", "01", "110"), repeat=len(stacks)):
            full = tuple(stack + rest for stack, rest in zip(stacks, more, strict=True))
            if step := _stacks_part(network.network, state, full, 4):
                return Counterexample(
                    "configuration", step, state=state,
                    columns={"state": state, **{f"stack {i}": stack or "–" for i, stack in enumerate(full)}},
                )  # fmt: skip
    return None


def _stacks_part(network: Any, state: str, stacks: tuple[str, ...], steps: int) -> int | None:
    """The step at which the runs of a network and its stack machine part, from these stacks on."""
    now, step = StackConfiguration(0, state, tuple(map(tuple, stacks))), 0
    try:
        for step, (vectors, reading) in enumerate(islice(network.follow(*stacks, state=state), steps), start=1):
            rule = network.machine.rules.get((now.state, *now.tops))
            if rule is None or reading.state is None:
                return None if rule is None and reading.state is None else step
            now = after(now, rule)
            values = network.stacks(vectors[list(network.layers)[-1]])
            numbers = tuple(network.code.encode(map(network.machine.symbols.index, stack)) for stack in now.stacks)
            if reading.state != now.state or values != numbers:
                return step
            if now.state in network.machine.terminal:
                return None
    except ArithmeticError:
        return step + 1
    except ValueError:
        return None  # a run cannot begin there
    return None


INVARIANT = (
    "Before each pass the state is one-hot, or one class of steps is detected, and the number of each stack is 0 or "
    "(d + r)/b, with a digit d and the number r of the stack below"
)
ASSUMES = (
    "The induction over the passes is on paper.",
    "The first column was compared on a word for each symbol; that it is right for all words, and so are the loop and "
    "what is read off a pass, is trusted.",
    "Integers of Python and fractions made of them are computed without error.",
)
for name in ("ss95", "ss95-realtime"):
    state_invariant(name, Invariant(INVARIANT, one_pass, trusted, search, ASSUMES))
