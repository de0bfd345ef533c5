"""The step of a network for 64 tapes at once, as machine code: a word has one bit of each tape.

For each place of a vector there is such a word, a plane. A row of a layer adds up weights of planes; that its sum is at
least 1, and that it is neither below 0 nor above 1 where it may not be, are Boolean functions of them. They are made of
the row's weights and bias alone. Nothing else is known: a tape whose numbers are not bits, or whose column cannot be
read, stops all tapes before the step, and goes on by itself.

The tapes may be of different networks, if these have the same shape. A weight that all of them share is a constant of
the code. For any other there is a plane for each of its values, which says which tapes have that value.

Chapter: :doc:`How fast </book/how-fast>`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import llvmlite.binding as llvm
import numpy as np

from turing import ir
from turing.engine.bits import Unfit, integers
from turing.engine.generated import ONES, POINTER, Code, Value, compiled
from turing.engine.index import Around
from turing.engine.together import (
    ACTIVE,
    ASKED,
    CELL,
    CELLS,
    CLOCK,
    FIRST,
    FOUND,
    HALTED,
    OWN,
    STOPPED,
    TAPES,
    WRITTEN,
)  # fmt: skip
from turing.layout import Layout

__all__ = ["Planes", "TooLong"]

WINDOW = 15  # bits of a cell's number: one less than it is computed with, so that a step across the end is seen
MAX_VARIABLES = 6  # of a Boolean function that is made from its table
MAX_LINES = 30_000  # of code: more takes too long to compile


class TooLong(Unfit):
    """More code than is worth compiling."""


class Logic(Code):
    """Code for planes: functions of bits, for 64 tapes at once."""

    def __init__(self) -> None:
        super().__init__()
        self.factors: dict[Value, tuple[Value, Value]] = {}

    def _op(self, what: str, a: Value, b: Value) -> str:
        name = super()._op(what, a, b)
        if what == "and":
            self.factors[name] = (a, b)
        return name

    def no(self, a: Value) -> Value:
        return self.differ(a, ONES)

    def any(self, values: Iterable[Value]) -> Value:
        found = list(values)
        while len(found) > 1:
            found = [self.either(*pair) if len(pair) == 2 else pair[0] for pair in _pairs(found)]
        return found[0] if found else 0

    def two(self, values: Iterable[Value]) -> tuple[Value, Value]:
        """Whether one is 1, and whether two are."""
        found: list[tuple[Value, Value]] = [(value, 0) for value in values]
        while len(found) > 1:
            pairs = _pairs(found)
            found = [pair[0] for pair in pairs if len(pair) == 1]
            for (a, a2), (b, b2) in (pair for pair in pairs if len(pair) == 2):
                found.append((self.either(a, b), self.any((a2, b2, self.both(a, b)))))
        return found[0] if found else (0, 0)

    def function(self, variables: Sequence[Value], on: int, off: int) -> Value:
        """What is 1 for the rows of a truth table in ``on`` and 0 for those in ``off``. Bit k of a row's number is the
        k-th variable.
        """
        if not on or not off:
            return ONES if on else 0
        *others, last = variables
        half = 1 << len(others)
        rows = (1 << half) - 1
        (on0, on1), (off0, off1) = ((table & rows, table >> half) for table in (on, off))
        if not (on0 & off1 | on1 & off0):
            return self.function(others, on0 | on1, off0 | off1)
        if not (on0 & on1 | off0 & off1):
            return self.differ(last, self.function(others, on0 | off1, off0 | on1))
        if not on0 & off1:
            always = self.function(others, on0, off0 | off1)
            return self.either(always, self.both(last, self.function(others, on1, off1)))
        if not on1 & off0:
            always = self.function(others, on1, off0 | off1)
            return self.either(always, self.both(self.no(last), self.function(others, on0, off0)))
        without, with_it = self.function(others, on0, off0), self.function(others, on1, off1)
        return self.differ(without, self.both(last, self.differ(without, with_it)))


def _pairs(found: list) -> list[list]:
    return [found[k : k + 2] for k in range(0, len(found), 2)]


class Planes:
    """The code of networks of equal shape for many tapes. Raise :class:`Unfit` if they have none.

    ``fixed`` are the places of a column that are the same after every step. ``halting`` says for each network in which
    states a run ends. ``bits_of`` has a row for each network: what its tapes have in the planes of weights, which begin
    at the word ``weights``.

    Chapter: :doc:`How fast </book/how-fast>`.
    """

    wrong: Value  # the tapes whose step cannot be made

    def __init__(self, networks: Sequence[Around], layout: Layout, halting: np.ndarray):
        self.layout, self.halting = layout, halting
        self.before, self.after = (_stacked(modules) for modules in zip(*networks, strict=True))
        self.symbols, self.bits = len(layout.sym1), len(layout.pos2)
        self.window = min(WINDOW, self.bits)
        self.stride = (CELL << self.window) + 64  # tapes on the same cell are not in the same line of the cache
        self.kind = next((n for n in (8, 16, 32, 64) if 3 * self.symbols + 1 <= n), 0)
        if not self.kind:
            raise Unfit(f"{self.symbols} symbols are too many for many tapes at once")
        self.column = FIRST + self.symbols
        self.weights = self.column + layout.width
        _, W, b = self.after[-1]
        alike = ~W.any((0, 2)) & ((b > 0) == (b[0] > 0)).all(0)
        self.fixed = {place: int(b[0, place] > 0) for place in np.flatnonzero(alike).tolist()}
        for place in layout.pos1:
            if self.fixed.pop(place, 1):
                raise Unfit("the number of the step is not the only thing that comes to pos1")
        self.code, self.wrong = Logic(), 0
        self.single: set[tuple[Value | bool, ...]] = set()  # what was seen to
        self.planes: dict[bytes, int] = {}  # of weights: the number of each, by which networks have a 1 in it
        self.text = self._text()
        has = np.frombuffer(b"".join(self.planes), bool).reshape(-1, len(networks))
        self.bits_of = np.ascontiguousarray(has.T).astype(np.uint64)
        self.size = self.weights + len(self.planes)

    # Layers.

    def _through(self, layers: Iterable[Stack], x: list[Value]) -> list[Value]:
        for layer in layers:
            x = self._layer(*layer, x)
            if len(self.code.lines) > MAX_LINES:
                raise TooLong("the code for many tapes at once is too long")
        return x

    def _layer(self, part: ir.Layer, W: np.ndarray, b: np.ndarray, x: list[Value]) -> list[Value]:
        slices = {place: each.name for each in part.inputs if each.labels for place in each}
        found = []
        for row in range(W.shape[1]):
            terms: dict[Value, int] = {tapes: bias for bias, tapes in self._values(b[:, row])}
            ones: dict[tuple[str, int], list[Value]] = {}
            for place in np.flatnonzero(W[:, row].any(0)).tolist():
                for weight, tapes in self._values(W[:, row, place]):
                    alike = ones.setdefault((slices.get(place, f"{place}"), weight), [])
                    alike.append(self.code.both(x[place], tapes))
            for (name, weight), alike in ones.items():
                if len(alike) > 1:
                    self._one([x[place] for place in part.inputs[name]])
                value = self.code.any(alike)
                terms[value] = terms.get(value, 0) + weight
            found.append(self._row(terms, part.relu))
        return found

    def _values(self, numbers: np.ndarray) -> list[tuple[int, Value]]:
        """The values but 0 that a number has in the networks, each with the tapes that have it."""
        values = sorted({*numbers.tolist()})
        if len(values) == 1:
            return [(values[0], ONES)] if values[0] else []
        return [(value, self._plane(numbers == value)) for value in values if value]

    def _plane(self, has: np.ndarray) -> str:
        """The plane of the tapes whose networks have something. Where the same networks have it, it is the same."""
        place = self.weights + self.planes.setdefault(has.tobytes(), len(self.planes))
        return self.code.value(f"load i64, {POINTER} {self.code.at('%rows', place)}")

    def _row(self, terms: dict[Value, int], relu: bool) -> Value:
        """Whether a sum is 1; that it is neither 1 nor what becomes 0 is wrong."""
        code, bias = self.code, terms.pop(ONES, 0)
        terms.pop(0, None)
        if bias == 0 and [*terms.values()] == [1]:
            return next(iter(terms))
        inner = {a: code.factors[a] for a in code.factors if a in terms and all(b in terms for b in code.factors[a])}
        leaves = [a for a in terms if a not in inner]
        if len(leaves) > MAX_VARIABLES:
            return self._long_row(list(terms.items()), bias, relu)
        on = off = bad = 0
        for number in range(1 << len(leaves)):
            bits: dict[Value, int] = {a: number >> k & 1 for k, a in enumerate(leaves)}
            for a, (b, c) in inner.items():  # in the order in which they are made
                bits[a] = bits[b] & bits[c]
            total = bias + sum(weight * bits[a] for a, weight in terms.items())
            if total == 1:
                on |= 1 << number
            elif total == 0 or (relu and total < 0):
                off |= 1 << number
            else:
                bad |= 1 << number
        self.wrong = code.either(self.wrong, code.function(leaves, bad, on | off))
        return code.function(leaves, on, off)

    def _long_row(self, terms: list[tuple[Value, int]], bias: int, relu: bool) -> Value:
        code, low, high = self.code, [bias], [bias]
        for _, weight in terms:
            low.append(low[-1] + min(weight, 0))
            high.append(high[-1] + max(weight, 0))
        found: dict[tuple[int, int], Value] = {}

        def at_least(n: int, least: int) -> Value:
            """Whether the sum of n terms is at least that."""
            if low[n] >= least or high[n] < least:
                return ONES if low[n] >= least else 0
            if (n, least) not in found:
                plane, weight = terms[n - 1]
                with_it, without = at_least(n - 1, least - weight), at_least(n - 1, least)
                if weight > 0:
                    found[n, least] = code.either(without, code.both(plane, with_it))
                else:
                    found[n, least] = code.either(with_it, code.both(without, code.no(plane)))
            return found[n, least]

        self.wrong = code.either(self.wrong, at_least(len(terms), 2))
        if not relu:
            self.wrong = code.either(self.wrong, code.no(at_least(len(terms), 0)))
        return at_least(len(terms), 1)

    def _one(self, values: list[Value], exactly: bool = False) -> None:
        """Note as wrong the tapes where more than one is 1, or none where exactly one should be."""
        if (key := (*values, exactly)) in self.single:
            return
        self.single.add(key)
        one, two = self.code.two(values)
        self.wrong = self.code.either(self.wrong, two)
        if exactly:
            self.wrong = self.code.either(self.wrong, self.code.no(one))

    def _must(self, values: Iterable[Value], expected: Iterable[Value]) -> None:
        for value, other in zip(values, expected, strict=True):
            self.wrong = self.code.either(self.wrong, self.code.differ(value, other))

    # The step.

    def compiled(self) -> Callable[[int, int], int]:
        """The compiled step: a function of the memory address and a number of steps. It returns how many are left."""
        return compiled(self.text)

    def _text(self) -> str:
        """The code, as LLVM reads it: a function of the address of the memory and of how many steps to make."""
        code = self.code
        layout = self.layout
        active, cells, begin = (code.load("%rows", k) for k in (ACTIVE, CELLS, CLOCK))
        first: list[Value] = [code.load("%rows", FIRST + k) for k in range(self.symbols)]
        column: list[Value] = [ONES * self.fixed.get(place, 0) for place in range(layout.width)]
        carried = [place for place in range(layout.width) if place not in self.fixed and place not in layout.pos1]
        loads = [code.load("%rows", self.column + place) for place in carried]
        for place in carried:
            column[place] = code.name()
        for k, place in enumerate(layout.pos1):
            column[place] = f"%stamp{k}"
        left, clock = code.name(), code.name()
        code.do("br label %step")
        code.label("step")
        phis = len(code.lines)
        x = self._through(self.before, list(column))
        outside, asked = self._before_heads(x, column)
        early = code.both(code.either(self.wrong, outside), active)
        code.do(f"br i1 {code.test('ne', early, 0)}, label %early, label %heads")
        code.label("heads")
        self.wrong = 0
        marks = self._heads(x, first, asked, clock, cells)
        new = self._through(self.after, x)
        self._read(x, new, marks, asked)
        late = code.both(self.wrong, active)
        code.do(f"br i1 {code.test('ne', late, 0)}, label %late, label %commit")
        code.label("commit")
        code.do(f"store {SHORTS} {asked}, {_pointer(SHORTS)} {self._address(OWN, SHORTS)}, align 64")
        ends = [(new[place], self._values(self.halting[:, k])) for k, place in enumerate(layout.st)]
        halted = code.both(code.any(code.both(there, tapes) for there, values in ends for _, tapes in values), active)
        fewer, later = code.arith("sub", left, 1), code.arith("add", clock, 1)
        over = code.test("eq", code.both(fewer, code.no(code.all_if(halted))), 0)
        code.do(f"br i1 {over}, label %done, label %step")
        code.lines[phis:phis] = [
            f"  {name} = phi i64 [ {a}, %entry ], [ {b}, %commit ]"
            for name, a, b in (
                (left, "%steps", fewer),
                (clock, begin, later),
                *((column[place], load, new[place]) for place, load in zip(carried, loads, strict=True)),
            )
        ]
        for label, stopped, ended, now, x, steps in (
            ("early", early, 0, clock, column, left),
            ("late", late, 0, clock, column, left),
            ("done", 0, halted, later, new, fewer),
        ):
            code.label(label)
            code.known = {}
            for value, place in ((stopped, STOPPED), (ended, HALTED), (now, CLOCK)):
                code.store(value, "%rows", place)
            for place in carried:
                code.store(x[place], "%rows", self.column + place)
            code.do(f"ret i64 {steps}")
        used = "\n".join(code.lines)
        if "%stamp" in used or "%last" in used:
            raise Unfit("a layer adds up bits of the number of a step")
        return f"define i64 @advance({_pointer('i64')} %rows, i64 %steps) {{\nentry:\n{used}\n}}\n"

    def _before_heads(self, x: list[Value], column: list[Value]) -> tuple[Value, str]:
        """What comes to the heads has to be a number of this step and positions in the window; which tapes are outside
        it, and the cells that the heads ask for.
        """
        code, layout = self.code, self.layout
        for name in ("pos1", "pos2"):
            if [x[k] for k in layout[name]] != [column[k] for k in layout[name]]:
                raise Unfit(f"{name} is not the same at the heads as before")
        if any(x[k] != 0 for k in layout.scr3):
            raise Unfit("scr3 is not empty when the heads write to it")
        position, top = [x[k] for k in layout.pos3], self.window - 1
        outside = code.any(code.differ(bit, position[top]) for bit in position[top + 1 :])
        number = [*position[:top], code.no(position[top])]
        low = self._numbers([(bit, 1 << k) for k, bit in enumerate(number[:8])], 0, 8)
        high = self._numbers([(bit, 1 << k) for k, bit in enumerate(number[8:])], 0, 8)
        low, high = (code.new(f"zext {_lanes(8)} {each} to {SHORTS}") for each in (low, high))
        high = code.new(f"shl {SHORTS} {high}, {_splat(16, 8)}")
        return outside, code.new(f"or {SHORTS} {low}, {high}")

    def _heads(self, x: list[Value], first: list[Value], asked: str, clock: str, cells: str) -> list[Value]:
        """Put what the heads find into the vector; what the report has on the cells that were asked for."""
        code, layout, n, kind = self.code, self.layout, self.symbols, _lanes(self.kind)
        # A cell has the symbol that was written there, that of the word and that of the report, and whether it was
        # visited. A blank in the report, the first symbol, is 0 there and others are 1, so that an empty cell is 0.
        pairs = [(x[place], 1 << k | 1 << 2 * n + k) for k, place in enumerate(layout.sym2)]
        written = self._numbers(pairs, 1 << 3 * n | 1 << 2 * n, self.kind)
        for what, value, where in ((SHORTS, asked, ASKED), (kind, written, WRITTEN)):
            code.do(f"store {what} {value}, {_pointer(what)} {self._address(where, what)}, align 64")
        word, number = (1 << n) - 1 << n, f"i{self.kind}"
        for tape in range(TAPES):
            own, other = (self._offset(where, tape, cells) for where in (OWN, ASKED))
            code.do(f"store i64 {clock}, {_pointer('i64')} {self._at(own, 0, 'i64')}")
            there = self._at(own, 8, number)
            kept = code.new(f"and {number} {self._load(there, number)}, {word}")
            writes = self._load(self._place(WRITTEN, tape, number), number)
            code.do(f"store {number} {code.new(f'or {number} {kept}, {writes}')}, {_pointer(number)} {there}")
            finds = self._load(self._at(other, 8, number), number)
            code.do(f"store {number} {finds}, {_pointer(number)} {self._place(FOUND, tape, number)}")
        found = code.new(f"load {kind}, {_pointer(kind)} {self._address(FOUND, kind)}, align 64")
        bits = [self._bit(found, k) for k in range(3 * n + 1)]
        visited = bits[3 * n]
        gains = {layout.scr4["visited"]: visited}
        for k, place in enumerate(layout.scr1):
            gains[place] = code.either(code.both(visited, bits[k]), code.both(code.no(visited), first[k]))
        gains |= {place: bits[n + k] for k, place in enumerate(layout.scr2)}
        for place, gain in gains.items():
            self.wrong = code.either(self.wrong, code.both(x[place], gain))
            x[place] = code.either(x[place], gain)
        for k, place in enumerate(layout.scr3):
            x[place] = f"%last{k}"
        return [code.no(bits[2 * n]), *bits[2 * n + 1 : 3 * n]]

    def _read(self, x: list[Value], new: list[Value], marks: list[Value], asked: str) -> None:
        """Read the new column, for the report; what cannot be read is wrong."""
        code, layout = self.code, self.layout
        for name, source in (("pos2", "pos3"), ("sym2", "sym2")):
            if [new[k] for k in layout[name]] != [x[k] for k in layout[source]]:
                raise Unfit(f"{name} of a column is not {source} of the heads")
        for name in ("st", "sym1", "sym2"):
            self._one([new[k] for k in layout[name]], exactly=True)
        self._must((new[k] for k in layout.sym1), marks)
        right, left = new[layout.scr5["R"]], new[layout.scr5["L"]]
        own = code.new(f"load {SHORTS}, {_pointer(SHORTS)} {self._address(OWN, SHORTS)}, align 64")
        moved = code.new(f"sub {SHORTS} {asked}, {own}")
        for by, moves in (
            (1, code.both(right, code.no(left))),
            (-1, code.both(left, code.no(right))),
            (0, code.no(code.differ(right, left))),
        ):
            same = code.new(f"icmp eq {SHORTS} {moved}, {_splat(16, by)}")
            self._must([code.new(f"bitcast <{TAPES} x i1> {same} to i64")], [moves])

    # Numbers, one for each tape.

    def _numbers(self, pairs: Iterable[tuple[Value, int]], begin: int, bits: int) -> str:
        """From planes: for each tape, the values of its bits that are 1, added without carries."""
        code, kind, total = self.code, _lanes(bits), _splat(bits, begin)
        for plane, value in pairs:
            on = code.value(f"bitcast i64 {plane} to <{TAPES} x i1>")
            each = code.new(f"select <{TAPES} x i1> {on}, {kind} {_splat(bits, value)}, {kind} zeroinitializer")
            total = code.new(f"xor {kind} {total}, {each}")
        return total

    def _bit(self, numbers: str, k: int) -> Value:
        """A plane: bit k of the number of each tape."""
        kind = _lanes(self.kind)
        alone = self.code.new(f"and {kind} {numbers}, {_splat(self.kind, 1 << k)}")
        on = self.code.new(f"icmp ne {kind} {alone}, zeroinitializer")
        return self.code.new(f"bitcast <{TAPES} x i1> {on} to i64")

    def _address(self, word: int, kind: str) -> str:
        if not OPAQUE:
            return self.code.new(f"bitcast i64* {self.code.at('%rows', word)} to {kind}*")
        return self.code.at("%rows", word)

    def _place(self, word: int, tape: int, kind: str) -> str:
        """The address of the number of a tape."""
        base = self.code.value(f"ptrtoint {_pointer('i64')} {self.code.at('%rows', word)} to i64")
        return self._at(base, tape * int(kind[1:]) // 8, kind)

    def _offset(self, word: int, tape: int, cells: str) -> str:
        """The address of the cell of a tape whose number stands there."""
        code = self.code
        number = self._load(self._place(word, tape, "i16"), "i16")
        offset = code.new(f"shl i64 {code.new(f'zext i16 {number} to i64')}, {CELL.bit_length() - 1}")
        return code.new(f"add i64 {code.new(f'add i64 {cells}, {offset}')}, {tape * self.stride}")

    def _at(self, base: str, by: int, kind: str) -> str:
        return self.code.new(f"inttoptr i64 {self.code.arith('add', base, by)} to {_pointer(kind)}")

    def _load(self, where: str, kind: str) -> str:
        return self.code.new(f"load {kind}, {_pointer(kind)} {where}")


Stack = tuple[ir.Layer, np.ndarray, np.ndarray]  # of networks: a layer, its weights in all of them, its biases


def _stacked(networks: Sequence[Sequence[ir.Module]]) -> list[Stack]:
    """The layers of modules of equal shape."""
    layers = [[part for module in each for part in module.parts if isinstance(part, ir.Layer)] for each in networks]
    return [
        (
            parts[0],
            np.stack([integers(part.weight).astype(np.int8) for part in parts]),
            np.stack([integers(part.bias).astype(np.int8) for part in parts]),
        )
        for parts in zip(*layers, strict=True)
    ]


OPAQUE = llvm.llvm_version_info[0] >= 16


def _pointer(kind: str) -> str:
    return "ptr" if OPAQUE else f"{kind}*"


def _lanes(bits: int) -> str:
    return f"<{TAPES} x i{bits}>"


def _splat(bits: int, value: int) -> str:
    value = (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)
    return f"<{', '.join([f'i{bits} {value}'] * TAPES)}>"


SHORTS = _lanes(16)
