"""The transformer of a machine by Merrill and Sabharwal: a cell is found by the direction of (cell, 1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import torch
from torch import nn

from turing import arguments, bhattamishra  # noqa: F401  # the chapter before registers its constructions first
from turing.assembly import copied, head, labelled, layers, places
from turing.construction import Construction, Expectation, Reading, State, register
from turing.exact import Exact, Surd
from turing.layout import Layout
from turing.machine import TuringMachine
from turing.modules import TYPES, Norm, Row, Rows
from turing.precision import check_margin
from turing.stack_machine import name_of

__all__ = ["Merrill24"]

YOUNG = [
    Fraction(4, 1000),
    Fraction(3, 1000),
    Fraction(2, 1000),
]  # f of columns 1 to 3, which look back on fewer than 3
SCALE = 200  # so that f(4) = 1/800 comes next, and f(i) is less than what two neighbouring cells differ by
BIG = 100  # more than |Δ³| / SCALE of any column
ROUNDINGS = 6, 11  # an address: two, its mean, the norm two, the quotient; then the product and four sums
NORMED = ("phi1", "phi2", "psi")


@register
class Merrill24(Construction):
    """The transformer of Merrill and Sabharwal for a Turing machine: ``forward`` is one step of it.

    A column is what changed: the new state, the symbol that was written, and the move.

    One attention head averages over all columns, and gives 1/i and c/i, with i the number of the column and c the tape
    head's cell. A layer norm of (c/i, 1/i, −c/i, −1/i) is the same for every i, and is the address by which the last
    write on cell c is found. Another head sees the word, with blank cells at its ends. The one option:

    - ``arithmetic``: ``"exact"``, the default, is right for runs of any length. ``"float64"`` and ``"float32"`` are
      faster in PyTorch, and a longer run raises :class:`~turing.precision.PrecisionError` before it fetches a wrong
      column.

    >>> import turing
    >>> from turing.merrill import Merrill24
    >>> net = Merrill24(turing.zoo["balanced_parentheses"])
    >>> run = net.run("B()E")
    >>> run.state, run.steps, run.micro_steps, net.layout.width
    ('T', 9, 9, 44)

    Chapter: :doc:`/book/layer-norm`.
    """

    construction = "merrill24"
    batched = False

    def __init__(self, machine: TuringMachine, arithmetic: str = "exact"):
        super().__init__()
        if arithmetic not in tuple(TYPES):
            raise ValueError(f"An arithmetic is one of {', '.join(TYPES)}, and {arithmetic!r} was given.")
        if not isinstance(machine, TuringMachine):
            raise TypeError(f"Merrill24 takes a TuringMachine, and {machine!r} was given.")
        self.machine, self.options = machine, {"arithmetic": arithmetic}
        self.layout = Layout(
            st=machine.states, sym1=machine.symbols, mov=["R", "L"], odd=1, start=["0", "1", "2"],  # the token; its age
            inv=1, avg=1, diff=1,  # 1/i, c/i, and the third difference of 1/i
            phi1=4, phi2=4, psi=4,  # the address of this cell and of the one before, and the age as a direction
            sym2=machine.symbols, found=["odd", "moved"],  # the last write, and the parity of its cell
            sym3=machine.symbols,  # the symbol of the word
        )  # fmt: skip
        width, rules = self.layout.width, len(machine.delta)
        arguments.network_size(repr(machine), f"in {self.construction}", width * (2 * rules + 6 * width))
        self.pipeline = nn.ModuleDict(
            {
                "count": self._count(arithmetic),
                **{f"back{k}": self._back(k, arithmetic) for k in (1, 2, 3)},
                "address": self._address(arithmetic),
                "norm": Norm(self.layout, NORMED),
                "word": self._word(arithmetic),
                "last": self._last(arithmetic),
                "symbol": self._symbol(arithmetic),
                "transition": self._transition(arithmetic),
            }
        )

    @property
    def tolerance(self) -> Fraction | int:  # type: ignore[override]  # of the type that the weights have now
        """By how much a number may differ from what ``turing.verify`` expects: 0 in exact arithmetic."""
        return 0 if self.arithmetic == "exact" else 64 * Fraction(torch.finfo(self._like.dtype).eps)

    def _count(self, arithmetic: str) -> nn.Module:
        """1/i and c/i: averages; only the first column has start[0]."""
        x = self.layout
        value: Rows = {0: {x.start[0]: 1}, 1: {x.mov["R"]: 1, x.mov["L"]: -1}}
        return head(x, 1, ({0: {None: 1}}, {}, value), [{x.inv[0]: 1}, {x.avg[0]: 1}], arithmetic, "causal")

    def _back(self, k: int, arithmetic: str) -> nn.Module:
        """Add a term of Δ³(1/i) = 1/i − 3/(i−1) + 3/(i−2) − 1/(i−3), and learn whether column i − k was the first."""
        x, weight = self.layout, {1: -3, 2: 3, 3: -1}[k]
        value: Rows = {0: {x.inv[0]: 1}} | ({1: {x.start[0]: 1}} if k < 3 else {})
        into: list[Row] = [{x.diff[0]: weight}] + ([{x.start[k]: 1}] if k < 3 else [])
        one: Rows = {0: {None: 1}}
        return head(x, 1, (one, one, value), into, arithmetic, "offset", [0], offset=k, score="dot")

    def _address(self, arithmetic: str) -> nn.Sequential:
        """(c, 1), (c before the move, 1) and (f, 1), each divided by i or not: the layer norm does not mind."""
        x = self.layout
        y = Layout(
            st=x.st.labels, sym1=x.sym1.labels, mov=["R", "L"], odd=1,
            inv=1, avg=["+", "-"], step=["R", "L"], age=1, start=x.start.labels,
        )  # fmt: skip
        first: Rows = copied(x, y, "st", "sym1", "mov", "odd", "inv", "start")
        first |= {y.avg["+"]: {x.avg[0]: 1}, y.avg["-"]: {x.avg[0]: -1}}
        for move in ("R", "L"):
            first[y.step[move]] = {x.inv[0]: 1, x.mov[move]: 1, None: -1}  # 1/i if it made that move
        first[y.age[0]] = {x.diff[0]: Fraction(-1, SCALE), x.inv[0]: Fraction(-1, SCALE)} | dict.fromkeys(x.start, -BIG)
        here: Row = {y.avg["+"]: 1, y.avg["-"]: -1}
        before = here | {y.step["R"]: -1, y.step["L"]: 1}
        f: Row = {y.age[0]: 1} | dict(zip(y.start, YOUNG, strict=True))
        second: Rows = copied(y, x, "st", "sym1", "mov", "odd")
        for part, row, one in ((x.phi1, here, y.inv[0]), (x.phi2, before, y.inv[0]), (x.psi, f, None)):
            for sign, (a, b) in ((1, (part[0], part[1])), (-1, (part[2], part[3]))):
                second |= {a: {place: sign * weight for place, weight in row.items()}, b: {one: sign}}
        return layers([x, y, x], [first, second], arithmetic)

    def _word(self, arithmetic: str) -> nn.Module:
        """The symbol of the word on this cell; beyond its ends the nearest cell is a blank one."""
        x = self.layout
        address: Rows = {k: {place: 1} for k, place in enumerate(x.phi1)}
        value: Rows = {k: {place: 1} for k, place in enumerate(x.sym1)}
        into: list[Row] = [{place: 1} for place in x.sym3]
        return head(x, 4, (address, address, value), into, arithmetic, "cross", score="dot")

    def _last(self, arithmetic: str) -> nn.Module:
        """The last write on this cell, by ⟨φ, φⱼ⟩ − ψⱼ, and its parity."""
        x = self.layout
        query: Rows = {k: {place: 1} for k, place in enumerate(x.phi1)} | {4: {None: 1}}
        key: Rows = {k: {place: 1} for k, place in enumerate(x.phi2)} | {4: {x.psi[0]: -1}}
        value: Rows = {k: {place: 1} for k, place in enumerate([*x.sym1, x.odd[0]])}
        value[len(value)] = dict.fromkeys(x.mov, 1)
        into: list[Row] = [{place: 1} for place in [*x.sym2, *x.found]]
        return head(x, 5, (query, key, value), into, arithmetic, "causal", score="dot")

    def _symbol(self, arithmetic: str) -> nn.Sequential:
        """The symbol under the head: the last write if it was on this cell, else the word's. Neighbours differ in
        parity, and where nothing was written on this cell, the best key is that of a neighbour.
        """
        x, symbols = self.layout, self.machine.symbols
        y = Layout(st=x.st.labels, odd=1, was=2, sym2=symbols, sym3=symbols)
        z = Layout(st=x.st.labels, odd=1, other=2, sym2=symbols, sym3=symbols)
        odd, moved = x.found["odd"], x.found["moved"]
        first: Rows = copied(x, y, "st", "odd", "sym2", "sym3")
        first |= {y.was[0]: {odd: 1, moved: -1}, y.was[1]: {odd: -1, moved: 1}}  # XOR: where it was before its move
        second: Rows = copied(y, z, "st", "odd", "sym2", "sym3")
        was = dict.fromkeys(y.was, 1)
        second[z.other[0]] = {y.odd[0]: -1, **was}
        second[z.other[1]] = {y.odd[0]: 1} | dict.fromkeys(y.was, -1)
        third: Rows = copied(z, x, "st", "odd")
        for written, own, word, given in zip(x.sym2, z.sym2, x.sym3, z.sym3, strict=True):
            third[written] = {own: 1} | dict.fromkeys(z.other, -1)
            third[word] = {given: 1} | dict.fromkeys(z.other, 1) | dict.fromkeys(z.sym2, -1)
        return layers([x, y, z, x], [first, second, third], arithmetic, last="relu")

    def _transition(self, arithmetic: str) -> nn.Sequential:
        """δ: a neuron for each rule, then what it changes. The parity of the cell changes with a move."""
        x, delta = self.layout, self.machine.delta
        y = Layout(rule=[name_of(q, a) for q, a in delta], odd=1)
        z = Layout(st=x.st.labels, sym1=x.sym1.labels, mov=["R", "L"], odd=2)
        detect: Rows = copied(x, y, "odd")
        write: Rows = {place: {} for name in ("st", "sym1", "mov") for place in z[name]}
        moved: Row = {}
        for rule, ((q, a), (target, written, move)) in zip(y.rule, delta.items(), strict=True):
            detect[rule] = {x.st[q]: 1, x.sym2[a]: 1, x.sym3[a]: 1, None: -1}
            write[z.st[target]][rule] = write[z.sym1[written]][rule] = 1
            if move:
                write[z.mov["R" if move > 0 else "L"]][rule] = moved[rule] = 1
        write[z.odd[0]] = moved | {y.odd[0]: -1}
        write[z.odd[1]] = {rule: -1 for rule in moved} | {y.odd[0]: 1}
        token: Rows = copied(z, x, "st", "sym1", "mov") | {x.odd[0]: dict.fromkeys(z.odd, 1)}
        return layers([x, y, z, x], [detect, write, token], arithmetic)

    def encode(self, word: Iterable[str]) -> Any:
        """The word for its head, a row for each cell from −1 to n: its symbol, blank at the ends, and its address.

        Chapter: :doc:`/book/layer-norm`.
        """
        rows, x = [], self.layout
        for cell, symbol in enumerate([self.machine.blank, *self.machine.tape(word).values(), self.machine.blank], -1):
            column: list[Any] = [0] * x.width
            column[x.sym1[symbol]] = 1
            for name in NORMED:
                column[x[name].slice] = [cell, 1, -cell, -1]
            rows.append(self.pipeline["norm"](self.vector(column)))
        return rows if self.arithmetic == "exact" else torch.stack(rows)

    def initial(self, word: Iterable[str]) -> Any:
        """The first column, the same for every word: the initial state, and that it is the first.

        Chapter: :doc:`/book/layer-norm`.
        """
        self.machine.tape(word)  # says what is wrong with it
        column = [0] * self.layout.width
        column[self.layout.st[self.machine.initial]] = column[self.layout.start[0]] = 1
        return self.vector(column)

    def read(self, state: State) -> list[Reading | None]:
        """What the pass before a state has done.

        Chapter: :doc:`/book/layer-norm`.
        """
        vectors = state.vectors
        if not isinstance(state.x, Exact):
            for name, before in (("word", "norm"), ("last", "word")):
                check_margin(name, self.pipeline[name], vectors[before], state.memory[name][0], ROUNDINGS)
        after, written = (labelled(self.layout[name], state.x) for name in ("st", "sym1"))
        found, given = (labelled(self.layout[name], vectors["symbol"]) for name in ("sym2", "sym3"))
        if after is None:
            return [Reading(None, found=found or given)]
        right, left = (labelled(self.layout.mov, state.x) == name for name in ("R", "L"))
        return [Reading(after, None, written, right - left, found=found or given)]

    def kept(self, state: State) -> list[tuple[str, int]]:
        """The column of the last write on the cell, or a row of the word: what the next pass looks at.

        Chapter: :doc:`/book/table`.
        """
        after = self.step(replace(state, memory=dict(state.memory)))
        name = "word" if labelled(self.layout.sym2, after.vectors["symbol"]) is None else "last"
        return [(name, self._looks_at(after, name))]

    def expected(
        self, machine: TuringMachine, word: Iterable[str], max_steps: int | None = None
    ) -> Iterator[Expectation]:
        """What the vectors have to be for a machine with these states and symbols, from its own run.

        Chapter: :doc:`/book/layer-norm`.
        """
        self.same_names(machine)
        word, limit = arguments.word(word), self._limit(max_steps)
        tape, keys, tokens = machine.tape(word), [], []  # of each column: the cell before its move, and what it says
        token, cell = places(st=machine.initial), 0
        for now in machine.trace(word, limit):
            if now.state in machine.halting or now.step == limit:
                return
            i = now.step + 1
            keys.append(cell)
            tokens.append(token)
            inverse = [Fraction(1, i - k) if i > k else 0 for k in range(4)]
            terms = [0, -3 * inverse[1], 3 * inverse[2], -inverse[3]]
            f = Fraction(6, SCALE * i * (i - 1) * (i - 2) * (i - 3)) if i > 3 else YOUNG[i - 1]
            pairs: dict[str, tuple[Any, Any]] = {"phi1": (now.head, 1), "phi2": (cell, 1), "psi": (f, 1)}
            last = max((j for j, key in enumerate(keys) if key == now.head), default=now.step)
            there = tokens[last]
            visited = keys[last] == now.head and now.step > 0
            given = tape.get(now.head, machine.blank)
            rule = machine.delta.get((now.state, now.symbol))
            counted = token | places(start={"0": int(i == 1)}, inv=inverse[0], avg=Fraction(now.head, i))
            vectors = {"count": counted}
            for k in (1, 2, 3):
                first = {str(age): int(i == age + 1) for age in range(min(k, 2) + 1)}
                vectors[f"back{k}"] = counted | places(diff=sum(terms[: k + 1]), start=first)
            divided = {name: (a * inverse[0], b * inverse[0]) for name, (a, b) in pairs.items()} | {"psi": pairs["psi"]}
            vectors["address"] = token | _directions(divided)
            vectors["norm"] = token | _directions({name: _normed(*pair) for name, pair in pairs.items()})
            vectors["word"] = vectors["norm"] | places(sym3=given)
            fetched = {name.replace("sym1", "sym2", 1): 1 for name in there if name.startswith("sym1")}
            parity = {"odd": there.get("odd", 0), "moved": int(any(name.startswith("mov") for name in there))}
            vectors["last"] = vectors["word"] | fetched | places(found=parity)
            read = {"sym2": now.symbol} if visited else {"sym3": given}
            vectors["symbol"] = places(st=now.state, odd=now.head % 2, **read)
            target, written, move = rule or (None, None, 0)
            cell = now.head
            token = places(st=target, sym1=written, mov={1: "R", -1: "L"}.get(move), odd=(cell + move) % 2)
            yield Expectation(i, vectors | {"transition": token})

    def about(self) -> dict[str, str]:
        """The network in a few rows, for people."""
        return super().about() | {"network": f"{self.construction}, {self.arithmetic}", "a step": "1 pass"}


def _normed(a: Fraction | int, b: int) -> tuple[Surd, Surd]:
    """(a, b) over the root of 2(a² + b²): two places of the layer norm of (a, b, −a, −b)."""
    square = 2 * (Fraction(a) ** 2 + b * b)
    root = square.numerator * square.denominator  # √(n/d) = √(nd) / d
    return Surd({root: Fraction(a) / square.numerator}), Surd({root: Fraction(b) / square.numerator})


def _directions(pairs: Mapping[str, tuple[Any, Any]]) -> dict[str, Any]:
    """(a, b, −a, −b) on each slice."""
    found: dict[str, Any] = {}
    for name, (a, b) in pairs.items():
        found |= {f"{name}[{k}]": value for k, value in enumerate((a, b, -a, -b))}
    return found
