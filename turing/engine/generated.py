"""The bit program of a network as machine code: LLVM compiles one step of it, specialised to the weights.

All words of a step are in registers. A layer keeps no table but those of :mod:`turing.engine.bits`: with a row for each
input. A step that is in any way unusual (a number that is not a bit, two ones where one is expected, a cell outside the
window, a column that cannot be read, a jam) is not made: the code stops before it, and says so.

Chapter: :doc:`How fast </book/how-fast>`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any as Anything

import llvmlite.binding as llvm

from turing.engine.bits import (
    BITS,
    CELL,
    HEAD,
    INDEX,
    LANE_TABLES,
    LAST,
    LEAVES,
    LEFT,
    NOWHERE,
    ODD,
    RECORD,
    SIZE,
    START,
    STEP,
    SYMBOLS,
    TABLES,
    WINDOW,
    WORDS,
    Any,
    BitLayer,
    BitProgram,
    Fits,
    Row,
    Shift,
    Word,
)

__all__ = ["compiled", "text"]

Value = int | str  # a constant, or the name of what the code computes
ONES = 2**64 - 1
POINTER = "ptr" if llvm.llvm_version_info[0] >= 16 else "i64*"
LANES = "ptr" if llvm.llvm_version_info[0] >= 16 else f"<{BITS} x i8>*"


class Code:
    """Lines of code for values of 64 bits; what is known now is not computed later, and nothing twice."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.known: dict[str, str] = {}
        self.possible: dict[Value, int] = {}  # the bits that may be 1, where these are not all
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def new(self, what: str) -> str:
        """What some instruction gives."""
        name = self.name()
        self.lines.append(f"  {name} = {what}")
        return name

    def value(self, what: str) -> str:
        """The same, where it gives the same each time."""
        if what not in self.known:
            self.known[what] = self.new(what)
        return self.known[what]

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def do(self, what: str) -> None:
        self.lines.append(f"  {what}")

    def bits(self, a: Value) -> int:
        """The bits of a value that may be 1."""
        return a if isinstance(a, int) else self.possible.get(a, ONES)

    def within(self, a: str, bits: int) -> str:
        """The same value, of which only these bits can be 1."""
        self.possible[a] = bits
        return a

    def both(self, a: Value, b: Value) -> Value:
        common = self.bits(a) & self.bits(b)
        if common == 0 or (isinstance(a, int) and isinstance(b, int)):
            return common
        if isinstance(a, int):
            a, b = b, a
        if a == b or (isinstance(b, int) and common == self.bits(a)):
            return a
        return self.within(self._op("and", a, b), common)

    def either(self, a: Value, b: Value) -> Value:
        if isinstance(a, int) and isinstance(b, int):
            return a | b
        if a == 0 or a == b:
            return b
        if b == 0:
            return a
        return ONES if ONES in (a, b) else self.within(self._op("or", a, b), self.bits(a) | self.bits(b))

    def differ(self, a: Value, b: Value) -> Value:
        if isinstance(a, int) and isinstance(b, int):
            return a ^ b
        if a == b:
            return 0
        return b if a == 0 else a if b == 0 else self.within(self._op("xor", a, b), self.bits(a) | self.bits(b))

    def _op(self, what: str, a: Value, b: Value) -> str:
        first, second = sorted((a, b), key=str)
        return self.value(f"{what} i64 {first}, {second}")

    def arith(self, what: str, a: Value, b: Value) -> Value:
        if isinstance(a, int) and isinstance(b, int):
            return {"add": a + b, "sub": a - b, "shl": a << b, "lshr": a >> b, "mul": a * b}[what] & ONES
        return a if b == 0 or (what, b) == ("mul", 1) else self.value(f"{what} i64 {a}, {b}")

    def shifted(self, a: Value, by: int) -> Value:
        found = self.arith("shl", a, by) if by >= 0 else self.arith("lshr", a, -by)
        if isinstance(found, str) and by:
            self.within(found, self.bits(a) << by & ONES if by > 0 else self.bits(a) >> -by)
        return found

    def test(self, kind: str, a: Value, b: Value) -> str:
        return self.value(f"icmp {kind} i64 {a}, {b}")

    def choice(self, test: str, a: Value, b: Value) -> Value:
        if a == b:
            return a
        return self.within(self.value(f"select i1 {test}, i64 {a}, i64 {b}"), self.bits(a) | self.bits(b))

    def flag(self, test: str) -> Value:
        return self.within(self.value(f"zext i1 {test} to i64"), 1)

    def all_if(self, a: Value) -> Value:
        """All bits if something is not 0."""
        if isinstance(a, int):
            return ONES if a else 0
        return self.value(f"sext i1 {self.test('ne', a, 0)} to i64")

    def zeros_below(self, a: Value) -> Value:
        """The number of the lowest bit that is 1, or 64."""
        if isinstance(a, int):
            return (a & -a).bit_length() - 1 if a else BITS
        return self.value(f"call i64 @llvm.cttz.i64(i64 {a}, i1 false)")

    def at(self, base: str, place: Value, pointer: str = POINTER, kind: str = "i64") -> str:
        return self.value(f"getelementptr {kind}, {pointer} {base}, i64 {place}")

    def load(self, base: str, place: Value) -> str:
        return self.new(f"load i64, {POINTER} {self.at(base, place)}")

    def store(self, value: Value, base: str, place: Value) -> None:
        self.do(f"store i64 {_signed(value)}, {POINTER} {self.at(base, place)}")


def _signed(value: Value) -> Value:
    return value - 2**64 if isinstance(value, int) and value >= 2**63 else value


class Tape:
    """The code of one tape's step: the words of its vectors, and what is wrong with them."""

    x: list[Value]  # the vector that has been reached
    vectors: list[list[Value]]
    column: list[Value]  # the new one
    own: Value  # where the two positions are in the window
    asked: Value
    early: tuple[Value, Value]  # what was wrong before the heads
    new_step: Value
    new_head: Value
    new_first: list[Value]

    def __init__(self, code: Code, row: str, maker: Maker):
        self.code, self.maker, self.row = code, maker, row
        self.start, self.size = (code.load(row, k) for k in (START, SIZE))
        self.index, self.tables, self.record = (self._pointer(k, POINTER) for k in (INDEX, TABLES, RECORD))
        self.lane_tables = self._pointer(LANE_TABLES, LANES)
        self.wrong: Value = 0
        self.outside: Value = 0
        self.commits: list[tuple[Value, str, int]] = []
        self.single: set[str] = set()

    def _pointer(self, place: int, kind: str) -> str:
        return self.code.new(f"inttoptr i64 {self.code.load(self.row, place)} to {kind}")

    # Layers.

    def through(self, layers: list[BitLayer], x: list[Value], number: int) -> list[Value]:
        for layer in layers:
            x = self._layer(layer, x, number)
            number += 1
        return x

    def _layer(self, layer: BitLayer, x: list[Value], number: int) -> list[Value]:
        sums = self._lanes(layer, x, number) if layer.groups else []
        return [x[word.same] if word.same is not None else self._word(layer, word, x, sums) for word in layer.words]

    def _lanes(self, layer: BitLayer, x: list[Value], number: int) -> list[str]:
        """The sums in lanes: those of the step before, and the columns of inputs that have changed."""
        code, sums = self.code, self.maker.sums[self.row, number]
        for place, (k, begin) in enumerate(layer.counted):
            old = self.maker.olds[self.row, number, place]
            changed = code.differ(x[k], old)
            for _ in range(2):  # most often no more have changed; the row of "none" is 0
                sums, changed = self._changed(layer, sums, changed, x[k], begin)
            head, loop, after = (f"{name}{code.name()[1:]}" for name in ("head", "loop", "after"))
            code.do(f"br label %{head}")
            code.label(head)
            many = code.test("ne", changed, 0)
            code.do(f"br i1 {many}, label %{loop}, label %{after}")
            code.label(loop)
            known = dict(code.known)
            rest, found = code.name(), [code.name() for _ in sums]
            place_of = len(code.lines)
            new, left = self._changed(layer, found, rest, x[k], begin)
            kind = f"<{BITS} x i8>"
            phis = [f"  {rest} = phi i64 [ {changed}, %{head} ], [ {left}, %{loop} ]"]
            phis += [
                f"  {a} = phi {kind} [ {b}, %{head} ], [ {c}, %{loop} ]"
                for a, b, c in zip(found, sums, new, strict=True)
            ]
            code.lines[place_of:place_of] = phis
            again = code.new(f"icmp ne i64 {left}, 0")
            code.do(f"br i1 {again}, label %{loop}, label %{after}")
            code.known = known  # what was computed in the loop is not there after it
            code.label(after)
            sums = [code.new(f"phi {kind} [ {b}, %{head} ], [ {c}, %{loop} ]") for b, c in zip(sums, new, strict=True)]
            self.maker.new_olds[self.row, number, place] = x[k]
        self.maker.new_sums[self.row, number] = sums
        return sums

    def _changed(
        self, layer: BitLayer, sums: Sequence[str], changed: Value, x: Value, begin: int
    ) -> tuple[list[str], Value]:
        """Add the column of the lowest bit that has changed, or take it away."""
        code = self.code
        lowest = code.both(changed, code.arith("sub", 0, changed))
        on = code.test("ne", code.both(lowest, x), 0)
        row = code.arith("add", code.zeros_below(changed), code.choice(on, 0, LEAVES))
        place = code.arith("add", code.arith("mul", row, layer.groups), begin // BITS)
        kind, found = f"<{BITS} x i8>", []
        for group, total in enumerate(sums):
            where = code.at(self.lane_tables, code.arith("add", place, group), LANES, kind)
            column = code.new(f"load {kind}, {LANES} {where}, align {BITS}")
            found.append(code.new(f"add {kind} {total}, {column}"))
        return found, code.differ(changed, lowest)

    def _word(self, layer: BitLayer, word: Word, x: list[Value], sums: list[str]) -> Value:
        code = self.code
        masks = [self._mask(term, word.fits.size, layer.inputs, x) for term in word.terms]
        low, high = [word.low], [word.high]
        for term in word.terms:
            rows = self._rows(term, word)
            low.append([a + min(term.value, 0) * (rows >> k & 1) for k, a in enumerate(low[-1])])
            high.append([a + max(term.value, 0) * (rows >> k & 1) for k, a in enumerate(high[-1])])
        found: dict[tuple[int, int], Value] = {}

        def at_least(n: int, least: int) -> Value:
            """The rows whose sum of n terms is at least that."""
            sure, maybe = (sum(1 << k for k, bound in enumerate(bounds[n]) if bound >= least) for bounds in (low, high))
            if sure == maybe:
                return sure
            if (n, least) not in found:
                if n == 0:
                    found[n, least] = self._compared(word, sums, least)
                else:
                    value, mask = word.terms[n - 1].value, masks[n - 1]
                    with_it, without = at_least(n - 1, least - value), at_least(n - 1, least)
                    if value > 0:
                        found[n, least] = code.either(without, code.both(mask, with_it))
                    else:
                        found[n, least] = code.either(with_it, code.both(without, code.differ(mask, ONES)))
            return found[n, least]

        n = len(word.terms)
        self.wrong = code.either(self.wrong, at_least(n, 2))
        if not layer.relu:
            rows = 2**word.fits.size - 1
            self.wrong = code.either(self.wrong, code.differ(at_least(n, 0), rows))
        return at_least(n, 1)

    def _rows(self, term: Shift | Any | Row, word: Word) -> int:
        if isinstance(term, Shift):
            return term.places << term.by if term.by >= 0 else term.places >> -term.by
        return term.rows if isinstance(term, Any) else 2**word.fits.size - 1

    def _compared(self, word: Word, sums: list[str], least: int) -> Value:
        """The rows of a word whose sums in lanes are at least that."""
        assert word.lanes is not None
        kind = f"<{BITS} x i8>"
        other = f"<{', '.join([f'i8 {least - 1}'] * BITS)}>"
        greater = self.code.value(f"icmp sgt {kind} {sums[word.lanes // BITS]}, {other}")
        bits = self.code.value(f"bitcast <{BITS} x i1> {greater} to i64")
        return self.code.both(self.code.shifted(bits, -(word.lanes % BITS)), 2**word.fits.size - 1)

    def _mask(self, term: Shift | Any | Row, size: int, inputs: list[Fits], x: list[Value]) -> Value:
        code = self.code
        if isinstance(term, Shift):
            return code.shifted(code.both(x[term.word], term.places), term.by)
        if isinstance(term, Any):
            if term.places & (term.places - 1):
                self._one([x[k] for k, given in enumerate(inputs) if given.name == inputs[term.word].name])
            return code.both(code.all_if(code.both(x[term.word], term.places)), term.rows)
        values = [x[k] for k in term.words]
        self._one(values)
        row = self._row(values)
        place = code.arith("add", code.arith("mul", row, term.stride), term.table + term.place)
        return code.within(code.value(f"load i64, {POINTER} {code.at(self.tables, place)}"), 2**size - 1)

    def _row(self, values: list[Value]) -> Value:
        """The number of the one bit that is 1, or that after all others."""
        code, none = self.code, len(values) * BITS
        if len(values) == 1:
            return code.zeros_below(values[0])
        found = [
            (code.test("ne", value, 0), code.arith("add", code.zeros_below(value), k * BITS))
            for k, value in enumerate(values)
        ]
        while len(found) > 1:
            pairs = [found[k : k + 2] for k in range(0, len(found), 2)]
            found = [
                (code.value(f"or i1 {pair[0][0]}, {pair[1][0]}"), code.choice(pair[0][0], pair[0][1], pair[1][1]))
                if len(pair) == 2
                else pair[0]
                for pair in pairs
            ]
        return code.choice(found[0][0], found[0][1], none)

    def _one(self, values: list[Value], exactly: bool = False) -> None:
        """Note it as wrong if more than one bit is 1, or none is where exactly one should be."""
        code, key = self.code, " ".join(map(str, values))
        if key not in self.single:
            self.single.add(key)
            if len(values) == 1:
                self.wrong = code.either(self.wrong, code.both(values[0], code.arith("sub", values[0], 1)))
            else:
                total: Value = 0
                for value in values:
                    total = code.arith("add", code.value(f"call i64 @llvm.ctpop.i64(i64 {value})"), total)
                self.wrong = code.either(self.wrong, code.flag(code.test("ugt", total, 1)))
        if exactly:
            anything: Value = 0
            for value in values:
                anything = code.either(anything, value)
            self.wrong = code.either(self.wrong, code.flag(code.test("eq", anything, 0)))

    def must(self, value: Value, expected: Value) -> None:
        self.wrong = self.code.either(self.wrong, self.code.differ(value, expected))

    # The index.

    def place(self, position: Value) -> Value:
        """Where a position is in the window."""
        return self.code.both(self.code.arith("sub", position, self.start), self.maker.mask)

    def cell(self, place: Value) -> str:
        """The row of the index for a place in the window."""
        return self.code.at(self.index, self.code.arith("mul", place, self.maker.stride))


class Maker:
    """Makes the code of a step. ``recording`` notes every vector, and reads nothing."""

    def __init__(self, program: BitProgram, recording: bool):
        self.program, self.recording = program, recording
        self.bits, self.symbols, self.stride, self.mask = program.bits, program.symbols, program.stride, program.mask
        self.sums: dict[tuple[str, int], list[str]] = {}
        self.olds: dict[tuple[str, int, int], Value] = {}
        self.new_sums: dict[tuple[str, int], list[str]] = {}
        self.new_olds: dict[tuple[str, int, int], Value] = {}
        self.code = Code()

    def text(self) -> str:
        """The whole of it: a function of the row of the tape and of how many steps to make."""
        code = self.code
        tape = Tape(code, "%row", self)
        phis: list[tuple[str, str, Value, Value]] = []  # type, name, value at first, value from then on

        def carried(kind: str, first: Value) -> str:
            phis.append((kind, code.name(), first, 0))
            return phis[-1][1]

        left = carried("i64", "%steps")
        before = self._carried(tape, carried)
        begin = len(code.lines)
        code.label("step")
        at_begin = len(code.lines)
        self._first_half(tape, before)
        code.do(f"br i1 {self._any(tape)}, label %leave, label %heads")
        code.label("heads")
        halted = self._second_half(tape, before, left)
        code.do(f"br i1 {self._any(tape)}, label %leave_late, label %commit")
        code.label("commit")
        for value, base, place in tape.commits:
            code.store(value, base, place)
        fewer = code.arith("sub", left, 1)
        over = code.test("eq", code.both(fewer, code.differ(code.all_if(halted), ONES)), 0)
        code.do(f"br i1 {over}, label %done, label %step")
        after = [fewer, *self._next(tape)]
        lines = [
            f"  {name} = phi {kind} [ {_signed(first)}, %entry ], [ {_signed(now)}, %commit ]"
            for (kind, name, first, _), now in zip(phis, after, strict=True)
        ]
        code.lines[at_begin:at_begin] = lines
        code.lines.insert(begin, "  br label %step")
        self._leave(tape, before, fewer, left)
        return (
            "declare i64 @llvm.cttz.i64(i64, i1)\ndeclare i64 @llvm.ctpop.i64(i64)\n"
            f"define i64 @advance({POINTER} %row, i64 %steps) {{\nentry:\n" + "\n".join(code.lines) + "\n}\n"
        )

    def _carried(self, tape: Tape, carried: Callable[[str, Value], str]) -> dict[str, Anything]:
        """What a tape takes from step to step: its number, the cell of the head, what was written first, the words of
        its column, and of the layers with lanes the sums and the inputs that they are of.
        """
        code, program, kind = self.code, self.program, f"<{BITS} x i8>"
        step, head = (carried("i64", code.load(tape.row, k)) for k in (STEP, HEAD))
        sizes = [2 ** program.fits[k].size - 1 for k in program.part["sym1"]]
        first = [code.within(carried("i64", code.load(tape.row, WORDS + k)), bits) for k, bits in enumerate(sizes)]
        column: list[Value] = [
            program.fixed[k]
            if k in program.fixed
            else code.within(carried("i64", code.load(tape.row, program.column + k)), 2**fits.size - 1)
            for k, fits in enumerate(program.fits)
        ]
        for number, layer in enumerate(program.layers):
            if layer.groups:
                loads = [
                    code.new(
                        f"load {kind}, {LANES} "
                        f"{code.at(tape.lane_tables, layer.base // BITS + k, LANES, kind)}, align {BITS}"
                    )
                    for k in range(layer.groups)
                ]
                self.sums[tape.row, number] = [carried(kind, load) for load in loads]
                for place in range(len(layer.counted)):
                    self.olds[tape.row, number, place] = carried("i64", 0)
        return {"step": step, "head": head, "first": first, "column": column}

    def _next(self, tape: Tape) -> list[Value]:
        """The same after a step, in the same order."""
        program = self.program
        found: list[Value] = [tape.new_step, tape.new_head, *tape.new_first]
        found += [value for k, value in enumerate(tape.column) if k not in program.fixed]
        for number, layer in enumerate(program.layers):
            if layer.groups:
                found += self.new_sums[tape.row, number]
                found += [self.new_olds[tape.row, number, place] for place in range(len(layer.counted))]
        return found

    def _first_half(self, tape: Tape, then: dict[str, Anything]) -> None:
        """To the heads: what comes to them has to be a number of this step, and positions in the window."""
        code, program = self.code, self.program
        stamp = program.part["pos1"][0]
        if stamp in program.fixed:
            then["column"][stamp] = code.both(then["step"], self.mask)
        x, number, tape.vectors = list(then["column"]), 0, [list(then["column"])]
        for _, layers in program.before:
            x = tape.through(layers, x, number)
            number += len(layers)
            tape.vectors.append(x)
        tape.x = x
        tape.must(x[stamp], code.both(then["step"], self.mask))
        for k in program.part["scr3"]:
            tape.must(x[k], 0)
        tape.own, tape.asked = (tape.place(x[program.part[name][0]]) for name in ("pos2", "pos3"))
        for place in (tape.own, tape.asked):
            tape.outside = code.either(tape.outside, code.flag(code.test("uge", place, tape.size)))

    def _any(self, tape: Tape) -> str:
        return self.code.test("ne", self.code.either(tape.wrong, tape.outside), 0)

    def _second_half(self, tape: Tape, then: dict[str, Anything], left: str) -> Value:
        """The heads, by the index; the layers after them; and, unless recording, what the new column says."""
        code, program = self.code, self.program
        tape.early, tape.wrong, tape.outside = (tape.wrong, tape.outside), 0, 0
        self._heads(tape, then)
        x, number = tape.x, sum(len(layers) for _, layers in program.before)
        tape.vectors.append(x)
        for _, layers in program.after:
            x = tape.through(layers, x, number)
            number += len(layers)
            tape.vectors.append(x)
        tape.new_step = code.arith("add", then["step"], 1)
        stamp, beta = program.part["pos1"][0], code.both(tape.new_step, self.mask)
        tape.wrong = code.either(tape.wrong, code.both(x[stamp], beta))
        tape.column = [*x[:stamp], code.either(x[stamp], beta), *x[stamp + 1 :]]
        if not self.recording:
            return self._read(tape, then)
        row = code.arith("mul", code.arith("sub", "%steps", left), program.recorded)
        for k, value in enumerate(value for vector in tape.vectors for value in vector):
            code.store(value, tape.record, code.arith("add", row, k))
        tape.new_head = then["head"]
        return 0

    def _heads(self, tape: Tape, then: dict[str, Anything]) -> None:
        code, part, n = self.code, self.program.part, self.symbols
        own, asked, x = tape.cell(tape.own), tape.cell(tape.asked), list(tape.x)
        written = [x[k] for k in part["sym2"]]
        code.store(then["step"], own, LAST)
        for k, value in enumerate(written):
            code.store(value, own, SYMBOLS + k)
        first = code.test("eq", then["step"], 0)
        tape.new_first = [code.choice(first, a, b) for a, b in zip(written, then["first"], strict=True)]
        last = code.load(asked, LAST)
        visited = code.test("sge", last, 0)
        found = code.choice(visited, last, 0)
        gains = {part["scr4"][0]: code.flag(visited), part["scr3"][0]: code.both(found, self.mask)}
        for k in range(n):
            bits = 2 ** self.program.fits[part["sym1"][k]].size - 1
            wrote, word = (code.within(code.load(asked, SYMBOLS + at), bits) for at in (k, n + k))
            gains[part["scr1"][k]] = code.choice(visited, wrote, tape.new_first[k])
            gains[part["scr2"][k]] = word
        for k, gain in gains.items():
            tape.wrong = code.either(tape.wrong, code.both(x[k], gain))
            x[k] = code.either(x[k], gain)
        tape.x = x

    def _read(self, tape: Tape, then: dict[str, Anything]) -> Value:
        """Read the new column, for the report; it changes no word. What cannot be read is wrong."""
        code, part, n = self.code, self.program.part, self.symbols
        for name in ("st", "sym1", "sym2"):
            tape._one([tape.column[k] for k in part[name]], exactly=True)
        direction, position = tape.column[part["scr5"][0]], tape.column[part["pos2"][0]]
        right, left_ = code.both(direction, 1), code.both(code.shifted(direction, -1), 1)
        tape.new_head = code.arith("sub", code.arith("add", then["head"], right), left_)
        tape.must(code.both(code.differ(tape.new_head, position), self.mask), 0)
        place = tape.place(position)
        if place != tape.asked:
            inside = code.test("ult", place, tape.size)
            tape.wrong = code.either(tape.wrong, code.flag(code.value(f"xor i1 {inside}, true")))
            place = code.choice(inside, place, 0)
        was = tape.place(then["column"][part["pos2"][0]])  # where the column says that it stands
        there, here = tape.cell(place), tape.cell(was)
        known = code.load(there, CELL)
        new = code.test("eq", known, NOWHERE)
        tape.must(code.choice(new, tape.new_head, known), tape.new_head)
        stays = code.test("eq", place, was)
        tape.commits = [(tape.new_head, there, CELL)]
        for k in range(n):
            written, seen = tape.column[part["sym2"][k]], tape.column[part["sym1"][k]]
            tape.must(seen, code.choice(stays, written, code.load(there, SYMBOLS + 2 * n + k)))
            tape.commits.append((written, here, SYMBOLS + 2 * n + k))
        halted: Value = 0
        for k, place_ in enumerate(part["st"]):
            halting = code.load(tape.row, self.program.halting + k)
            halted = code.either(halted, code.both(tape.column[place_], halting))
        return halted

    def _leave(self, tape: Tape, then: dict[str, Anything], fewer: Value, left: str) -> None:
        """Write back where the tape stands: before the step that was not made, or after the last one."""
        code, program, row = self.code, self.program, tape.row
        for name in ("leave", "leave_late", "done"):
            code.label(name)
            code.known = {}
            new = name == "done"
            first = tape.new_first if new else then["first"]
            column = tape.column if new else then["column"]
            code.store(tape.new_step if new else then["step"], row, STEP)
            code.store(tape.new_head if new else then["head"], row, HEAD)
            for place, value in enumerate(first):
                code.store(value, row, WORDS + place)
            for place, value in enumerate(column):
                code.store(value, row, program.column + place)
            wrong, outside = tape.early if name == "leave" else (tape.wrong, tape.outside)
            if not new:
                odd = code.both(code.all_if(wrong), ODD)
                code.store(code.either(odd, code.both(code.all_if(outside), WINDOW)), row, LEFT)
            code.do(f"ret i64 {fewer if new else left}")


def text(program: BitProgram, recording: bool = False) -> str:
    """The code of a program as LLVM reads it."""
    return Maker(program, recording).text()


@lru_cache(maxsize=64)
def compiled(source: str) -> Callable[[int, int], int]:
    """What a text does, as a function: of an address and the number of steps; how many are left."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=2, jit=True
    )
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(source), target)
    engine.finalize_object()
    call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)(engine.get_function_address("advance"))
    call.engine = engine  # type: ignore[attr-defined]  # it holds the code
    return call
