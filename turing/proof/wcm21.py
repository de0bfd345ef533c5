"""What is proved of a WCM21 network: its invariant, and the obligations that imply "one pass is one step".

The invariant on columns: ``st`` is one-hot and not halting, ``sym1`` is one-hot, ``pos1`` and ``pos2`` are the bits of
the step and of the cell. Every other place has one of finitely many values: 0, or what some step leaves there. The
obligations are checked on all such columns:

1. Before the heads, a column turns into what the rule says, on decision diagrams over state, symbol and bits. Where a
   place comes out different, the check goes on with both values, and fails only if a later part depends on which.
2. Every head gives the best score to the columns that its claim names, the same to each; other columns score less than
   the null key. These are sums over small groups of bits.
3. After the heads, what was found turns into the next column, which satisfies the invariant again.

Chapter: :doc:`/book/all-words`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import log
from typing import Any, NamedTuple

import numpy as np
import torch

from turing import ir
from turing.attention import Pattern
from turing.machine import TuringMachine
from turing.proof.diagrams import Diagrams, TooLarge
from turing.proof.exactness import Failed, Precision, Uncovered, Undecided
from turing.proof.heads import Condition, Sum, affine, greatest, score
from turing.proof.layers import run, slices
from turing.proof.proof import Checked, Invariant, state_invariant
from turing.proof.search import search

__all__ = ["obligations"]

SPECIFIED = ("st", "sym1", "pos1", "pos2")  # what the invariant says exactly
CLEAR = 0.25  # how far from 0 and 1 a number may be that is read as one of them
MAX_ROUNDS = 6  # until the values that steps leave in the other places stay the same
BIT = (0.0, 1.0)


def obligations(network: ir.Network, machine: TuringMachine) -> Checked:
    """Check that one pass of a WCM21 network is one step of a machine, for all columns; return how far that reaches, a
    :class:`turing.proof.Checked`. ``network`` is a :class:`turing.ir.Network`, which ``net.ir()`` gives. This raises
    :class:`turing.proof.Failed` where an obligation does not hold, and :class:`turing.proof.Undecided` where it cannot
    tell.

    >>> import turing
    >>> from turing.proof.wcm21 import obligations
    >>> net = turing.compile(turing.zoo["bb2"], "wcm21", T=8, adder="lookahead")
    >>> obligations(net.ir(), net.machine).steps
    8

    Chapter: :doc:`/book/all-words`.
    """
    return _Step(network, machine).check()


def pair(one: Any, other: Any) -> tuple[Any, Any]:
    return one, other


def compared(meant: float, found: float) -> tuple[float, float]:
    """What a place should be, with what it is."""
    return meant, found


class _Column(NamedTuple):
    """A column between the heads: its places, and by variable how many values it has, and what they should be."""

    places: list[Sum]
    sizes: dict[str, int]
    meant: dict[str, np.ndarray]

    def with_variable(self, name: str, added: Sequence[Sequence[float]], meant: Iterable[Any]) -> _Column:
        """With a further variable, of which each place gets a function added."""
        values = np.array(list(meant), dtype=object)
        places = [
            place + Sum(0.0, {name: np.array(table, float)}) if any(table) else place
            for place, table in zip(self.places, added, strict=True)
        ]
        return _Column(places, self.sizes | {name: len(values)}, self.meant | {name: values})


class _Step:
    """One pass on all columns that satisfy the invariant, part by part."""

    def __init__(self, network: ir.Network, machine: TuringMachine):
        self.network, self.machine = network, machine
        self.precision = Precision(network.arithmetic)
        for numbers in network.numbers():
            if str(numbers.values.dtype) != f"torch.{network.arithmetic}":
                raise Uncovered(f"{numbers.name} is of {numbers.values.dtype}, and others of {network.arithmetic}")
        self.layout = network.modules[0].inputs
        self.bits = len(self.layout.pos1)
        self.before, self.heads, self.after = self._parts()
        self.going = [q for q in machine.states if q not in machine.halting]
        self.rules = list(product(self.going, machine.symbols))
        self.steps = network.options.get("T", 2**self.bits)
        if self.steps > 2**self.bits:
            raise Uncovered(f"T = {self.steps:,} steps cannot be numbered with {self.bits} bits")
        self.visits = 2**self.precision.bits
        self.margins: dict[str, float] = {}

    def _parts(self) -> tuple[list[ir.Layer], dict[str, ir.Attention], list[ir.Layer]]:
        """The layers before the heads, the heads by name, and the layers after them."""
        names = ["visited", *(f"search{j}" for j in reversed(range(self.bits))), "last", "initial"]
        modules = self.network.modules
        kinds = [module.kind == "attention" for module in modules]
        first, last = kinds.index(True), len(kinds) - kinds[::-1].index(True)
        if [module.name for module in modules[first:last]] != names:
            raise Uncovered(f"the heads are not {', '.join(names)}")
        heads: dict[str, Any] = {module.name: module.parts[0] for module in modules[first:last]}
        for name, head in heads.items():
            wanted = ("dot", "cross" if name == "initial" else "causal")
            if (head.score, head.mask) != wanted or head.null_key is None or head.null_value is None:
                raise Uncovered(
                    f"{name} is not a look-up with a null key: its score is {head.score}, its mask {head.mask}"
                )
            if head.average != "ratio":
                raise Uncovered(
                    f"{name} averages as average={head.average!r}, which rounds where columns tie, in an order that is "
                    f"up to torch; average='ratio' can be proved"
                )
        layers: Any = [
            [part for module in group for part in module.parts] for group in (modules[:first], modules[last:])
        ]
        for part in (*layers[0], *layers[1]):
            if not isinstance(part, ir.Layer):
                raise Uncovered(f"{part.name} is of the kind {part.kind}, where a linear layer is expected")
        return layers[0], heads, layers[1]

    def check(self) -> Checked:
        free = [self.layout.name(i) for i in range(self.layout.width) if self.layout.of(i).name not in SPECIFIED]
        values: dict[str, tuple[float, ...]] = dict.fromkeys(free, (0.0,))  # of the first column
        try:
            for _ in range(MAX_ROUNDS):
                column, read = self._decided(values)
                for name in self.heads:
                    column = self._looked_up(name, column)
                left = self._next(column)
                new = {name: tuple(sorted({*values[name], *left[name]})) for name in free}
                if all(new[name] == values[name] for name in free if name in read):
                    break
                values = new
            else:
                raise Undecided("the numbers that steps leave in unused places do not settle")
        except TooLarge as error:
            raise Undecided(str(error)) from None
        margins = self.margins | {"bits of a sum": float(self.precision.needed)}
        return Checked(self.steps, 2**self.bits, self.visits, margins)

    # Part 1: before the heads.

    def _decided(self, values: Mapping[str, tuple[float, ...]]) -> tuple[_Column, set[str]]:
        """The column before the heads, and the places besides the invariant's that it was made from."""
        layout, bits, going, symbols = self.layout, range(self.bits), self.going, self.machine.symbols
        _, needed = slices(self.before, range(self.before[-1].width_out))
        read = {layout.name(i) for i in needed} & set(values)
        d = Diagrams(
            {"state": len(going), "symbol": len(symbols)}
            | {f"{name}[{k}]": 2 for name in ("pos2", "pos1") for k in bits}
            | {name: len(values[name]) for name in sorted(read)}
        )
        cell, step = ([d.variable(f"{name}[{k}]", BIT) for k in bits] for name in ("pos2", "pos1"))
        column: list[int] = []
        for part in layout:
            for k, name in enumerate(part.names()):
                if part.name == "st":
                    column.append(d.variable("state", [float(q == part.labels[k]) for q in going]))
                elif part.name == "sym1":
                    column.append(d.variable("symbol", [float(a == part.labels[k]) for a in symbols]))
                elif part.name in ("pos1", "pos2"):
                    column.append((step if part.name == "pos1" else cell)[k])
                else:
                    column.append(d.variable(name, values[name]) if name in read else d.zero)
        found = run(d, self.before, column, self.precision)
        if len(found) != layout.width:
            raise Undecided(f"the heads get {len(found)} places, and a column has {layout.width}")
        meant = dict(zip(layout.pos1, step, strict=True)) | dict(zip(layout.pos2, cell, strict=True))
        meant |= dict(zip(layout.pos3, self._moved(d, cell), strict=True))
        places, sizes, domain = [], {"rule": len(self.rules)}, {"rule": np.arange(len(self.rules)).astype(object)}
        for i, node in enumerate(found):
            part = layout.of(i)
            if i in meant:
                name = f"{part.name}[{i - part.start}]"
                both = sorted(d.leaves(d.apply(compared, meant[i], node)))
            elif d.support(node) <= {"state", "symbol"}:
                table = d.table(node, ["state", "symbol"])
                places.append(Sum(0.0, {"rule": np.array(table, float)}) if any(table) else Sum())
                continue
            else:
                name = f"other {layout.name(i)}"
                both = [(None, value) for value in sorted(d.leaves(node))]
            places.append(Sum(0.0, {name: np.array([value for _, value in both], float)}))
            sizes[name], domain[name] = len(both), np.array([right for right, _ in both], dtype=object)
        return _Column(places, sizes, domain), read

    def _moved(self, d: Diagrams, cell: list[int]) -> list[int]:
        """The bits of the new position: the cell plus the move of the rule."""
        symbols = self.machine.symbols
        states = d.variable("state", range(len(self.going)))
        number = d.apply(lambda q, a: int(q) * len(symbols) + int(a), states, d.variable("symbol", range(len(symbols))))
        moves = [rule[2] if (rule := self.machine.delta.get(here)) else 0 for here in self.rules]
        carries = [d.map(lambda n: float(moves[int(n)] == way), number) for way in (1, -1)]  # noqa: B023  # used at once
        found = []
        for bit in cell:
            found.append(d.apply(_xor, bit, d.sum(carries)))
            carries = [d.apply(_and, carries[0], bit), d.apply(_and_not, carries[1], bit)]
        return found

    # Part 2: the heads.

    def _looked_up(self, name: str, column: _Column) -> _Column:
        """The column after a head. The columns x, y and z are one that asks and two that it looks at."""
        head, bits = self.heads[name], range(self.bits)
        looked_at = self._word() if name == "initial" else column
        sizes = {f"x.{u}": n for u, n in column.sizes.items()}
        sizes |= {f"{side}{u}": n for side in ("y.", "z.") for u, n in looked_at.sizes.items()}

        def same(u: str, v: str, side: str) -> Condition:
            table = np.equal.outer(column.meant[u], looked_at.meant[v]).astype(bool)
            return Condition((f"x.{u}", f"{side}{v}"), table)

        def match(side: str) -> list[Condition]:
            """What the claim says about the columns that are found."""
            at = [same(f"pos3[{k}]", f"pos2[{k}]", side) for k in bits]
            if name == "visited":
                return at
            if name == "initial":
                return [*at, Condition((f"{side}symbol",), looked_at.meant["symbol"] != None)]  # noqa: E711  # by element
            if name == "last":
                return [same(f"found[{k}]", f"pos1[{k}]", side) for k in bits]
            j = int(name.removeprefix("search"))
            above = [same(f"found[{k}]", f"pos1[{k}]", side) for k in bits if k > j]
            return [*at, *above, Condition((f"{side}pos1[{j}]",), (looked_at.meant[f"pos1[{j}]"] == 1).astype(bool))]

        query = [part.renamed("x.") for part in affine(head.query, column.places, self.precision)]
        keys = affine(head.key, looked_at.places, self.precision)
        null = [Sum(float(number)) for number in head.null_key.vector]  # type: ignore[union-attr]  # _parts has looked
        scores = {
            side: score(query, [key.renamed(side) for key in keys], self.precision, name) for side in ("y.", "z.")
        }
        of_null = score(query, null, self.precision, name)
        least = greatest(of_null - scores["y."], sizes, match("y."))
        if name == "last":  # its query always names a column, so the null key never has to win
            most = greatest(scores["z."] - scores["y."], sizes, match("y."), match("z."))
        else:
            most = greatest(scores["y."] - of_null, sizes, (), match("y."))
        for found, what in (
            (least, "a column that fits scores {} below the null key"),
            (
                most,
                "a column that does not fit scores {} above " + ("one that does" if name == "last" else "the null key"),
            ),
        ):
            if found.value >= 0:
                raise Failed(
                    f"{name}: {what.format(f'{found.value:g}')}", self._columns(found.where, column, looked_at)
                )
        alone = name in ("last", "initial")  # at most one column fits
        if not alone:
            spread = greatest(scores["y."] - scores["z."], sizes, [*match("y."), *match("z.")])
            if spread.value > 0:
                raise Undecided(
                    f"{name}: columns that fit have scores up to {spread.value:g} apart, so they do not tie"
                )
        gap = min(-least.value, -most.value)
        hard(head, name, gap)
        self.margins |= {f"{name}: fits, above the null key": -least.value, f"{name}: the others, below": -most.value}
        fetched = affine(head.value, looked_at.places, self.precision)
        nothing = [Sum(float(number)) for number in head.null_value.vector]  # type: ignore[union-attr]  # _parts has looked
        absent = [part.constant for part in affine(head.write, nothing, self.precision)]
        if alone:
            written = affine(head.write, fetched, self.precision)
            column = self._fetched(name, column, looked_at, written, absent)
        else:
            for k, part in enumerate(fetched):
                if any(table.any() and len(set(table.tolist())) > 1 for table in part.tables.values()):
                    raise Failed(f"{name}: the value {k} is not the same for all columns", {"the look-up": name})
            constant = [Sum(part.constant + sum(float(t[0]) for t in part.tables.values())) for part in fetched]
            self.visits = min(self.visits, self.precision.max_ties([part.constant for part in constant]))
            present = [part.constant for part in affine(head.write, constant, self.precision)]
            new = "visited" if name == "visited" else f"found[{name.removeprefix('search')}]"
            column = column.with_variable(new, list(zip(absent, present, strict=True)), (0, 1))
        for place, part in enumerate(column.places):
            terms = [(1.0, [part.constant]), *((1.0, set(table.tolist())) for table in part.tables.values())]
            bound = abs(part.constant) + sum(float(abs(table).max()) for table in part.tables.values())
            self.precision.check(terms, bound, f"{name}, what is added to {self.layout.name(place)},")
        return column

    def _word(self) -> _Column:
        """A row of the encoded word: its symbol, none for padding, and the bits of its cell."""
        symbols = self.machine.symbols
        places = [Sum()] * self.layout.width
        for a in symbols:
            places[self.layout.sym1[a]] = Sum(0.0, {"symbol": np.array([float(a == b) for b in symbols] + [0.0])})
        for k, place in enumerate(self.layout.pos2):
            places[place] = Sum(0.0, {f"pos2[{k}]": np.array(BIT)})
        bits = {f"pos2[{k}]": np.array((0, 1), dtype=object) for k in range(self.bits)}
        sizes = {"symbol": len(symbols) + 1} | dict.fromkeys(bits, 2)
        return _Column(places, sizes, bits | {"symbol": np.array([*symbols, None], dtype=object)})

    def _fetched(
        self, name: str, column: _Column, looked_at: _Column, written: list[Sum], absent: list[float]
    ) -> _Column:
        """The column with what was fetched from the one column that fits, or from the null key if that may win."""
        main, null = ("symbol", True) if name == "initial" else ("rule", False)
        if main == "symbol":
            meant: list[Any] = list(looked_at.meant["symbol"][:-1])
        else:
            meant = [rule[1] if (rule := self.machine.delta.get(pair)) else None for pair in self.rules]
        tables = np.array([part.constant + part.tables.get(main, np.zeros(looked_at.sizes[main])) for part in written])
        rows = dict.fromkeys(zip(meant, map(tuple, tables.T[: len(meant)].tolist()), strict=True))
        if null:
            rows[("", tuple(absent))] = None
        column = column.with_variable(name, list(zip(*(row for _, row in rows), strict=True)), (a for a, _ in rows))
        for other in {u for part in written for u in part.tables} - {main}:
            added = [part.tables.get(other, np.zeros(looked_at.sizes[other])) for part in written]
            more = [[*table.tolist(), *([0.0] if null else [])] for table in added]
            column = column.with_variable(f"{name} {other}", more, [None] * len(more[0]))
        return column

    # Part 3: after the heads.

    def _next(self, column: _Column) -> dict[str, set[float]]:
        """Check the next column, and return the values that it has in the places besides the invariant's."""
        machine, layout = self.machine, self.layout
        first = ["visited", "last", "initial", "rule"]
        d = Diagrams({name: column.sizes[name] for name in dict.fromkeys([*first, *column.sizes])})
        nodes = [
            d.sum([d.leaf(part.constant), *(d.variable(name, table.tolist()) for name, table in part.tables.items())])
            for part in column.places
        ]
        found = run(d, self.after, nodes, self.precision)
        if len(found) != layout.width:
            raise Undecided(f"the last layer gives {len(found)} places, and a column has {layout.width}")
        results = [machine.delta.get(pair) for pair in self.rules]
        stays = d.variable("rule", [rule is not None for rule in results])  # the machine does not jam
        written = d.variable("last", [a is not None for a in column.meant["last"]])
        known = d.apply(_or, d.variable("visited", (True, False)), written)
        left: dict[str, set[float]] = {}
        for i, node in enumerate(found):
            part, name = layout.of(i), layout.name(i)
            k = i - part.start
            label = part.labels[k] if part.labels else None
            cares, room = stays, 0.0
            if part.name == "st":
                meant = d.variable("rule", [float(rule is not None and rule[0] == label) for rule in results])
                cares = d.leaf(True)
            elif part.name == "sym1":
                last = d.variable("last", [float(a == label) for a in column.meant["last"]])
                blank = label == machine.blank
                word = d.variable(
                    "initial", [float(a == label or (a == "" and blank)) for a in column.meant["initial"]]
                )
                choice = d.apply(pair, last, word)
                meant = d.apply(_choose, d.variable("visited", (1, 0)), choice)
                cares = d.apply(_and, stays, known)
            elif part.name == "pos2":
                meant = d.variable(f"pos3[{k}]", [float(bit) for bit in column.meant[f"pos3[{k}]"]])
            elif part.name == "pos1":
                meant = d.zero
            elif part.name in ("sym2", "scr5"):  # only read
                index = 1 if part.name == "sym2" else 2
                wanted = {"R": 1, "L": -1}.get(str(label), 0) if index == 2 else label
                meant = d.variable("rule", [float(rule is not None and rule[index] == wanted) for rule in results])
                room = CLEAR
            else:
                meant = d.zero
                cares = d.leaf(False)
            wrong = d.apply(_wrong, d.apply(_cared, meant, cares), d.apply(pair, node, d.leaf(room)))
            if (where := d.find(wrong, bool)) is not None:
                value, right = d.value(node, where), d.value(meant, where)
                raise Failed(
                    f"the next column: {name} is {value:g} instead of {right:g}", self._columns(where, column, column)
                )
            if (where := d.find(node, _unclear)) is not None:
                raise Failed(
                    f"the next column: {name} is {d.value(node, where):g}, and neither 0 nor 1",
                    self._columns(where, column, column),
                )
            left[name] = set(d.leaves(node))
        return left

    def _columns(self, where: Mapping[str, int], column: _Column, looked_at: _Column) -> dict[str, str]:
        """Values of variables for people."""
        found: dict[str, str] = {}
        bits: dict[str, dict[int, int]] = {}
        sides = {"x.": ("", column), "y.": ("the other column's ", looked_at), "z.": ("a third column's ", looked_at)}
        for full, value in where.items():
            side, of = sides.get(full[:2], ("", column))
            name = full[2:] if full[:2] in sides else full
            if name == "rule":
                found[f"{side}state and symbol"] = " ".join(self.rules[value])
            elif (slice_ := name.split("[")[0]) in ("pos1", "pos2", "pos3", "found"):
                at = {"pos1": "step", "pos2": "cell", "pos3": "new cell", "found": "last visit"}[slice_]
                bits.setdefault(f"{side}{at}", {})[int(name[len(slice_) + 1 : -1])] = int(of.meant[name][value])
            elif name in of.meant:
                shown = of.meant[name][value]
                found[f"{side}{name}"] = "none" if shown in (None, "") else str(shown)
        for name, known in bits.items():
            found[name] = "".join(str(known.get(k, "·")) for k in reversed(range(self.bits))) + " in binary"
        return found or {"every column": ""}


def hard(head: ir.Attention, name: str, gap: float) -> None:
    """Raise unless a key that scores less by that gap gets a weight of exactly 0, and the best one of exactly 1."""
    if head.kappa is None:
        return
    dtype, device = head.query.weight.values.dtype, head.query.weight.values.device
    kind = torch.finfo(dtype)
    rounds_to_0 = log(kind.tiny) + log(kind.eps) - log(2)
    for count in (1, 2, 7, 64, 65, 1000):  # alone, and where a vector of them is computed at once
        scores = torch.full((count,), -gap, dtype=dtype, device=device)
        scores[::2] = 0
        scores[-1:] = -gap
        exponents = head.kappa * scores
        best, rest = exponents == 0, exponents != 0
        if not (exponents[rest].double() <= rounds_to_0).all():
            raise Uncovered(
                f"{name}: κ = {head.kappa:g} is too small for {dtype}: a key that scores {gap:g} less keeps some "
                f"weight. Take κ = {int(-rounds_to_0 / gap) + 1} or more"
            )
        weights = torch.exp(exponents)
        if not ((weights[best] == 1).all() and (weights[rest] == 0).all()):
            raise Uncovered(f"{name}: exp({exponents[-1].item():g}) is not 0 on this machine, or exp(0) not 1")


def _xor(bit: float, carry: float) -> float:
    return float(bit != carry)


def _and(one: Any, other: Any) -> Any:
    return one and other


def _and_not(one: Any, other: Any) -> float:
    return float(one and not other)


def _or(one: Any, other: Any) -> Any:
    return one or other


def _choose(first: Any, both: tuple[Any, Any]) -> Any:
    return both[1] if first else both[0]


def _cared(meant: float, cares: bool) -> float | None:
    return meant if cares else None


def _wrong(meant: float | None, found: tuple[float, float]) -> bool:
    return meant is not None and not abs(found[0] - meant) <= found[1]


def _unclear(value: float) -> bool:
    return not min(abs(value), abs(value - 1)) <= CLEAR


def trusted(network: Any, machine: TuringMachine) -> None:
    """Raise unless the first column, the encoded word and what the loop adds are what the invariant says."""
    layout, size = network.layout, network.layout.width
    for name, module in network.pipeline.items():
        if type(getattr(module, "pattern", None)) not in (Pattern, type(None)):
            raise Uncovered(f"the pattern of {name} is a module of its own kind")

    def column(*places: int) -> torch.Tensor:
        found = torch.zeros(size, dtype=torch.float64)
        found[list(places)] = 1
        return found

    symbols, bits = machine.symbols, range(network.bits)
    start = layout.st[machine.initial]
    pairs = [(network.initial([a]), column(start, layout.sym1[a])) for a in symbols]
    pairs.append((network.initial([]), column(start, layout.sym1[machine.blank])))
    word = [*symbols, *symbols][: 2**network.bits]
    cells = [[layout.pos2[k] for k in bits if cell >> k & 1] for cell in range(len(word))]
    pairs += zip(
        network.encode(word), (column(layout.sym1[a], *at) for a, at in zip(word, cells, strict=True)), strict=True
    )
    pairs += [(network.beta(2**k), column(layout.pos1[k])) for k in bits]
    for found, wanted in pairs:
        if found.shape != wanted.shape or not torch.equal(found.double().cpu(), wanted):
            raise Uncovered("the first column, the encoded word or the number of a step is not what the invariant says")


state_invariant(
    "wcm21",
    Invariant(
        statement=(
            "Before each step st is one-hot, the state; sym1 is one-hot, the symbol under the head; pos1 and pos2 are "
            "the bits of the step and of the cell; every other place has a value that some step leaves there"
        ),
        check=obligations,
        trusted=trusted,
        search=search,
        assumes=(
            "The induction over the steps is on paper: from these obligations it follows that the search finds the "
            "last visit to a cell and that one pass is one step.",
            "The first column, the encoded word and the number of a step were compared on a vector for each symbol and "
            "bit; that they are right for all words, and so are the loop and what is read off a column, is trusted.",
            "torch adds and multiplies these floats as IEEE 754 says wherever the result needs no rounding, and does "
            "not use a narrower type for products.",
            "exp rounds to 0 wherever it does at the exponents that were tried, and below them.",
            "Runs are with engine='torch'; a run that the capacity of the network ends is over.",
        ),
    ),
)
