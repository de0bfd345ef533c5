"""The exact networks of stacks: bits stay bits, and each stack is one large integer over its unit.

All sums of a layer are the fields of one integer, and a column of weights is another: what an input that is 1 adds to
all rows is one addition. Which rows are 1 for certain and which may be more than 0 are two more, and only the rows
between are computed one by one, with the numbers of the stacks.

Chapter: :doc:`How fast </book/how-fast>`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from turing.construction import Reader, State, at_step
from turing.engine.index import Refusal
from turing.exact import Exact
from turing.machine import Configuration
from turing.modules import Rational
from turing.ss.four import OPERATIONS
from turing.ss.network import StackNetwork, StackReading
from turing.ss.turing_machine import SS95, SS95RealTime, machine_reading

__all__ = ["Stacks"]

CONSTRUCTIONS = (SS95.construction, SS95RealTime.construction)
Number = tuple[int, int]  # numerator and unit, between 0 and 1
Vector = tuple[list[int], dict[int, Number]]  # the places that are 1, and those that are neither 0 nor 1


class _Layer:
    """A layer with clamp over such vectors, from its parameters as they are now."""

    def __init__(self, layer: Rational, base: int):
        if layer.activation != "clamp":
            raise Refusal(f"A layer of stacks clamps to [0, 1], and this one has {layer.activation!r}.")
        columns, biases = layer._columns()
        over, rows = layer.denominator, len(biases)
        weights: list[dict[int, int]] = [{} for _ in range(rows)]  # by row: of each input
        for j, column in enumerate(columns):
            for weight, places in column:
                for i in places:
                    weights[i][j] = weight
        largest = max(abs(b) + sum(map(abs, row.values())) for b, row in zip(biases, weights, strict=True))
        size = max(16, 1 << (largest + over).bit_length().bit_length())  # bits of a field, a power of 2
        size = size if 2 ** (size - 1) > 2 * (largest + over) else 2 * size
        same = {
            i: j
            for i, row in enumerate(weights)
            for j, weight in list(row.items())[:1]
            if len(row) == 1 and weight == over and biases[i] == 0
        }
        self.over, self.base, self.size, self.field = over, base, size, 2**size - 1
        self.shift, self.half = size.bit_length() - 1, 2 ** (size - 1) - over
        self.tops = sum(1 << size * i + size - 1 for i in range(rows) if i not in same)
        self.gap = (over - 1) * sum(1 << size * i for i in range(rows))
        self.begin = sum((biases[i] + self.half) << size * i for i in range(rows))

        self.packed = packed = [
            [(weight, sum(1 << size * i for i in places if i not in same)) for weight, places in column]
            for column in columns
        ]
        self.adds = [sum(weight * rows for weight, rows in column) for column in packed]
        self.bounds: dict[int, tuple[int, int]] = {}  # of places that were numbers: what they add at least and at most
        self.same: list[tuple[int, ...]] = [tuple(i for i in same if same[i] == j) for j in range(len(columns))]
        self.weights, self.biases = weights, biases

    def same_as(self, row: int, place: int) -> bool:
        """Whether a row is an input as it is."""
        return row in self.same[place]

    def __call__(self, ones: list[int], numbers: dict[int, Number]) -> Vector:
        found: list[int] = []
        values: dict[int, Number] = {}
        total, size, shift, adds, same = self.begin, self.size, self.shift, self.adds, self.same
        for j in ones:
            total += adds[j]
            if same[j]:
                found += same[j]
        low = high = total
        for j in numbers:
            if j not in self.bounds:
                signs = (min, max)
                self.bounds[j] = tuple(sum(sign(w, 0) * rows for w, rows in self.packed[j]) for sign in signs)  # type: ignore[assignment]  # two
            least, most = self.bounds[j]
            low += least
            high += most
            for i in same[j]:
                values[i] = numbers[j]
        sure = low & self.tops
        rest = ((high + self.gap) & self.tops) ^ sure
        while sure:
            place = sure.bit_length() - 1
            found.append(place >> shift)
            sure ^= 1 << place
        while rest:
            place = rest.bit_length() - 1
            rest ^= 1 << place
            row = place >> shift
            s, unit, terms = (total >> size * row & self.field) - self.half, 1, 0
            own = self.weights[row]
            for j, (n, u) in numbers.items():
                if weight := own.get(j, 0):
                    if u == unit:
                        terms += weight * n
                    elif unit == 1:
                        terms, unit = weight * n, u
                    else:
                        both = lcm(u, unit)
                        terms, unit = terms * (both // unit) + weight * n * (both // u), both
            top, one = s * unit + terms, unit * self.over
            if top >= one:
                found.append(row)
            elif top > 0:
                base = self.base
                while not (top % base or one % base):
                    top, one = top // base, one // base
                values[row] = top, one
        return found, values


_Line = tuple[int, "list[int] | None", int, int]  # weights of the number and of the tops, what is added, and over what


def _line(weight: int, tops: list[int], added: int, over: int) -> _Line:
    """In lowest terms."""
    common = gcd(weight, *tops, added, over)
    by = [top // common for top in tops] if any(tops) else None
    return weight // common, by, added // common, over // common


class _Four:
    """The four layers in one function, for a column with one state and a number for each of two stacks.

    It asks for what the four layers look like: the first finds the tops, the second the rule, the third makes all
    stacks that a rule could make, the fourth adds them up. What these do is in their weights. None is the result where
    something else would come out than one rule, one state and bits for the tops.
    """

    def __init__(self, network: StackNetwork, layers: dict[str, _Layer]):
        F4, F3, F2, F1 = (layers[name] for name in ("F4", "F3", "F2", "F1"))
        column, seen, detected, applied = (network.layers[name].layouts[0] for name in ("F4", "F3", "F2", "F1"))
        q, tops = list(column.q), [*seen.one, *seen.some]
        passed = [*detected.q, *detected.one, *detected.some]
        rules, lines = list(detected.rule), [applied[name][i] for i in range(len(q)) for name in OPERATIONS]
        self.fits = (
            len(q) == 2
            and "x" not in column.slices
            and all(
                F4.same_as(seen[name][k], column[name][k]) for name in ("st", "q") for k in range(column[name].size)
            )
            and all({*F4.weights[place]} == {q[k % 2]} for k, place in enumerate(tops))
            and all(F3.same_as(detected[n][k], seen[n][k]) for n in ("q", "one", "some") for k in range(2))
            and all({*F3.weights[r]} <= {*seen.st, *tops} for r in rules)
            and all({*F2.weights[place]} <= {*rules} for place in applied.st)
            and all({*F2.weights[line]} <= {*rules, detected.q[k // 4], *passed[2:]} for k, line in enumerate(lines))
            and all(F1.same_as(column.st[k], applied.st[k]) for k in range(column.st.size))
            and all({*F1.weights[place]} <= {*lines[4 * k : 4 * k + 4]} for k, place in enumerate(q))
        )
        if not self.fits:
            return
        of_tops = [(F4.weights[place][q[k % 2]], F4.biases[place]) for k, place in enumerate(tops)]
        self.tops = [(*of_tops[k], *of_tops[k + 2]) for k in range(2)]  # of each stack: its top is 1; it has one
        self.over = F4.over
        only = sum(1 << F3.size * r + F3.size - 1 for r in rules)
        self.find = [F3.begin + F3.adds[place] for place in seen.st], [F3.adds[place] for place in tops], only, F3.shift
        self.count = len(rules)
        only = sum(1 << F2.size * place + F2.size - 1 for place in applied.st)
        self.lead = [F2.begin + F2.adds[r] for r in rules], only, F2.shift, applied.st.start
        of_q = [F2.weights[line].get(detected.q[k // 4], 0) for k, line in enumerate(lines)]
        tops_of = [[F2.weights[line].get(place, 0) for place in passed[2:]] for line in lines]
        most = [max(w, 0) + sum(max(top, 0) for top in each) for w, each in zip(of_q, tops_of, strict=True)]
        summed = [F1.weights[q[k // 4]].get(line, 0) == F1.over for k, line in enumerate(lines)]
        self.lines: list[tuple[list[_Line], list[_Line]]] = []  # by rule, of each stack
        for r in rules:
            sums = [F2.biases[line] + F2.weights[line].get(r, 0) for line in lines]
            # The number is less than 1 and the tops are at most 1: a line whose sum cannot be more than 0 is 0.
            live = [k for k, s in enumerate(sums) if s + most[k] > 0]
            every = [(k, _line(of_q[k], tops_of[k], sums[k], F2.over)) for k in live]
            self.lines.append(([line for k, line in every if k < 4], [line for k, line in every if k >= 4]))
            self.fits &= all(summed[k] for k in live)
        self.fits &= not any(F1.biases[place] for place in q)
        self.base = F4.base

    def __call__(self, state: int, numbers: list[Number]) -> tuple[int, int, list[Number]] | None:
        """From the place of the state and the two numbers to the rule, the next state and the next numbers."""
        (n, u), (m, v) = numbers
        one, bias, some, least = self.tops[0]
        most = self.over * u
        if (t := one * n + bias * u) <= 0:
            o0 = False
        elif not (o0 := t >= most):
            return None
        if (t := some * n + least * u) <= 0:
            s0 = False
        elif not (s0 := t >= most):
            return None
        one, bias, some, least = self.tops[1]
        most = self.over * v
        if (t := one * m + bias * v) <= 0:
            o1 = False
        elif not (o1 := t >= most):
            return None
        if (t := some * m + least * v) <= 0:
            s1 = False
        elif not (s1 := t >= most):
            return None
        totals, (a0, a1, a2, a3), only, shift = self.find
        total = totals[state]
        if o0:
            total += a0
        if o1:
            total += a1
        if s0:
            total += a2
        if s1:
            total += a3
        fired = total & only
        place = fired.bit_length() - 1
        if place < 0 or fired != 1 << place:
            return None
        rule = place >> shift
        leads, only, shift, start = self.lead
        fired = leads[rule] & only
        after = fired.bit_length() - 1
        if after < 0 or fired != 1 << after:
            return None
        found, base = [], self.base
        for (n, u), lines in zip(numbers, self.lines[rule], strict=True):
            top, unit = 0, 0
            for weight, by, s, over in lines:
                if by:
                    s += o0 * by[0] + o1 * by[1] + s0 * by[2] + s1 * by[3]
                t = s * u + weight * n
                if t <= 0:
                    continue
                if unit or t >= u * over:
                    return None  # two stacks at once, or one that is clamped
                top, unit = t, u * over
            while not (top % base or unit % base) and unit:
                top, unit = top // base, unit // base
            found.append((top, unit or 1))
        return rule, (after >> shift) - start, found


class Stacks:
    """A run of an exact network of stacks, ``ss95`` or ``ss95-realtime``, with the numbers of plain evaluation.

    >>> import turing
    >>> net = turing.compile(turing.zoo["bb4"], "ss95")
    >>> net.run("", engine="native") == turing.zoo["bb4"].run("")
    True

    Chapter: :doc:`How fast </book/how-fast>`.
    """

    def __init__(self, network: SS95, word: Sequence[str]):
        if network.arithmetic != "exact":
            raise Refusal(
                f"engine='native' computes {network.construction} exactly, and this network is in "
                f"{network.arithmetic}. Take engine='torch'."
            )
        network.check()
        self.network, base = network, network.network.code.base
        layers: Iterable[tuple[str, Any]] = network.pipeline.items()
        self.layers = {name: _Layer(layer, base) for name, layer in layers}
        self.last = list(self.layers)[-1]
        four = _Four(network.network, self.layers) if network.network.version == 4 else None
        self.four = four if four and four.fits else None
        self.reader = Reader(network, word)
        self.stacks, self.two = network.network, network.two
        if self.stacks.version == 1:  # where the detectors of one layer are, and how many a class has
            det = self.stacks.layout.det
            self.detectors = det.start, det.start + det.size, 3**self.stacks.machine.p
        self.state = State(None, notes=self.reader.notes)
        self.rules = [self._rule(*reading) for reading in self.stacks._of_rules]
        self.now, self.passes = of(network.initial(word)), 0

    def _rule(self, target: str | None, operations: Sequence[str], tops: Sequence[str | None]) -> tuple[Any, ...]:
        """A rule for :meth:`_quickly`: its target, and the state and symbol of the machine that this means, if it does;
        what is pushed on each stack ("" for nothing, None where it is popped); the tops that the rule is for; and which
        bits are pushed, each with the move that a push on its side means.
        """
        symbols, pushes = self.stacks.machine.symbols, []
        for number, operation in enumerate(operations):
            if operation.startswith("push"):
                pushes.append((int(operation[-1]), 1 - 2 * number))
        acts = {"pop": None, "noop": ""} | {f"push{bit}": symbol for bit, symbol in enumerate(symbols)}
        meaning = self.two.control.get(target)  # type: ignore[arg-type]  # None if the rule has no target
        return target, meaning, *(acts[operation] for operation in operations), *tops, pushes

    def step(self, now: Vector) -> dict[str, Vector]:
        """Every vector of a pass from a column on, by the name of the layer that it leaves."""
        found = {"column": now}
        for name, layer in self.layers.items():
            now = found[name] = layer(*now)
        return found

    def vectors(self) -> Iterator[dict[str, Exact]]:
        """Yield for each pass every vector, by the name of the module that it leaves, equal to plain evaluation."""
        while True:
            found = self.step(self.now)
            yield {name: exact(vector, self.network.layout_of(name).width) for name, vector in found.items()}
            self.now = found[self.last]

    def advance(self, steps: int) -> bool:
        """Make this many more steps of the machine; return false if the run is over."""
        reader, end = self.reader, self.reader.now.step + steps
        while reader.running and reader.now.step < end:
            if self.four is None or not self._quickly(end):
                self._pass()
        return reader.running

    def _pass(self) -> None:
        """One pass, read and guarded as those of plain evaluation are."""
        reader = self.reader
        found, self.passes = self.step(self.now), self.passes + 1
        self.now, self.state.passes = found[self.last], self.passes
        try:
            reading = machine_reading(self.two, self.stacks, self._read(found), self.state)
            if reading is None and self.passes >= self.network.max_passes([reader.word], reader.now.step + 1):
                raise ArithmeticError(f"no step of the machine has ended in {self.passes} passes of the network.")
        except ArithmeticError as error:
            with at_step(reader.now.step + 1):
                raise error
        reader.enter(reading)

    def _quickly(self, end: int) -> int:
        """Passes by all layers at once, as long as they do what the machine does; how many there were. One that is in
        any way unusual is not made.
        """
        network, reader, four = self.network, self.reader, self.four
        (ones, numbers), notes, two = self.now, reader.notes, network.two
        q, start, guard = list(network.layout.q), network.layout.st.start, notes["guard"]
        if four is None or len(ones) != 1 or not {*numbers} <= {*q}:
            return 0
        state = ones[0] - start
        pair, made, now = [numbers.get(place, (0, 1)) for place in q], 0, reader.now
        step, cells, head, name, blank = now.step, now.cells, now.head, now.state, network.machine.blank
        rules, halting = self.rules, network.machine.halting
        left, right = guard.stacks
        pushed, move, k = notes["pushed"], notes["move"], two.k
        held_by = guard.state
        while step < end and name not in halting:
            found = four(state, pair)
            if found is None:
                break
            rule, after, numbers_after = found
            target, meaning, act, other_act, top, other_top, pushes = rules[rule]
            if (left[-1] if left else None) != top or (right[-1] if right else None) != other_top:
                break
            new, side = pushed, move
            for bit, to in pushes:
                new, side = [*new, bit], to
            if meaning or len(new) >= k:
                if not meaning:
                    break
                state_name, symbol = meaning
                written = two.symbol.get(tuple(new[::-1])) if new else symbol
                there = head + side
                if written is None or symbol != (cells.get(there, blank) if side else written):
                    break
                cells[head] = written
                head, name, step, new, side = there, state_name, step + 1, [], 0
            if act:
                left.append(act)
            elif act is None and left:
                left.pop()
            if other_act:
                right.append(other_act)
            elif other_act is None and right:
                right.pop()
            state, pair = after, numbers_after
            pushed, move, held_by, made = new, side, target, made + 1
        notes["pushed"], notes["move"], guard.state, guard.step = pushed, move, held_by, step + 1
        reader.now = Configuration(step, name, head, cells, blank)
        self.now = [start + state], {place: each for place, each in zip(q, pair, strict=True) if each[0]}
        self.passes += made
        return made

    def _read(self, found: dict[str, Vector]) -> StackReading:
        """What a pass has done, as :meth:`turing.ss.StackNetwork.read` has it; where a detector is neither 0 nor 1, it
        is asked.
        """
        stacks = self.stacks
        if stacks.version == 4:
            rules = stacks._of_rules
            ones, numbers = found["F3"]
            fired = [place for place in ones if place < len(rules)]
            if len(fired) < 2 and all(place >= len(rules) for place in numbers):
                return rules[fired[0]] if fired else StackReading(None)
        else:
            (ones, numbers), (first, end, size) = found["step"], self.detectors
            on = {place - first for place in ones if place < end}
            fired = [place // size for place in on if place % size == 0]
            if len(fired) < 2 and min(numbers, default=end) >= end:
                if not fired:
                    return StackReading(None)
                k, tops, seen = fired[0], (None, *stacks.machine.symbols), []
                begin, step = size * k, size // 3
                while step:  # stack by stack: the level of the highest detector that is on
                    seen.append(tops[(begin + step in on) + (begin + 2 * step in on)])
                    step //= 3
                return StackReading(stacks.classes[k][0], stacks.classes[k][1:], tuple(seen))
        return stacks.read({name: exact(vector, self.network.layout_of(name).width) for name, vector in found.items()})


def of(x: Exact) -> Vector:
    """An exact vector as its ones and its other numbers."""
    unit, ones, numbers = x.denominator, [], {}
    for place, n in enumerate(x.numerators):
        if n == unit:
            ones.append(place)
        elif n:
            reduced = Fraction(n, unit)
            numbers[place] = reduced.numerator, reduced.denominator
    return ones, numbers


def exact(vector: Vector, width: int) -> Exact:
    """The vector that this is."""
    ones, numbers = vector
    values: list[Any] = [0] * width
    for place in ones:
        values[place] = 1
    for place, (n, unit) in numbers.items():
        values[place] = Fraction(n, unit)
    return Exact.of(values)
