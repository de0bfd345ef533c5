"""An index for networks that find cells by numbers: a sum in place of an average, a dictionary in place of a look-up.

In exact arithmetic alone. In floats, which column is fetched depends on how the scores of all keys are rounded.

Chapter: :doc:`/book/averages`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from turing import ir
from turing.attention import Attention
from turing.construction import State
from turing.engine.index import VERIFY, Refusal, described, same_numbers
from turing.exact import Exact
from turing.merrill import Merrill24
from turing.perez import Perez21

__all__ = ["History"]

Seen = Callable[[str, Any], object]


class _Average:
    """For a head whose keys are all the same: the sum of all values, and how many there are."""

    def __init__(self) -> None:
        self.total, self.columns = Exact([]), 0

    def fetch(self, head: Attention, x: Exact) -> Exact:
        value = head.value(x)
        self.total = self.total + value if self.columns else value
        self.columns += 1
        return Exact(self.total.numerators, self.total.denominator * self.columns, self.total.roots).reduced()


class _LastVisit:
    """For a head that fetches the last visit to a cell: what that was, cell by cell.

    A subclass says to which cell a key and a query belong, and refuses what its theorem does not allow.
    """

    asks, keeps = "", ""  # a query and a key, for messages

    def __init__(self) -> None:
        self.visits: dict[int, Exact] = {}
        self.columns = 0

    def fetch(self, head: Attention, x: Exact) -> Exact:
        self.columns += 1
        key, query, value = head.key(x).reduced(), head.query(x).reduced(), head.value(x)
        own, asked = self.own(key), self.asked(query)
        if own is None:
            raise self.refusal(f"the key of last is {_text(key)}, and an index takes {self.keeps}")
        if asked is None:
            raise self.refusal(f"the query of last is {_text(query)}, and an index takes {self.asks}")
        self.visits[own] = value
        if asked not in self.visits and not self.newest_wins(own, asked):
            raise self.refusal(f"last asks on cell {own} for cell {asked}, where no column has been")
        return self.visits.get(asked, value)

    def refusal(self, what: str) -> Refusal:
        return Refusal(f"At pass {self.columns}, {what}. {VERIFY}")

    def own(self, key: Exact) -> int | None:
        """The cell of the newest column."""
        raise NotImplementedError

    def asked(self, query: Exact) -> int | None:
        """The cell that is asked for."""
        raise NotImplementedError

    def newest_wins(self, own: int, asked: int) -> bool:
        """Whether the newest column has the best score if no column has been on the cell that is asked for."""
        raise NotImplementedError


class _ByAverage(_LastVisit):
    """Cells as averages: the key of column j is (1/j, −c/j, 1/j), and the query of column i (3c/i, 3/i, 1/i²)."""

    asks, keeps = "(3c/i, 3/i, 1/i²) with an integer c", "(1/i, −c/i, 1/i) with an integer c"

    def own(self, key: Exact) -> int | None:
        i, unit, (first, second, third) = self.columns, key.denominator, key.numerators
        if key.roots or i * first != unit or third != first or i * second % unit:
            return None
        return -i * second // unit

    def asked(self, query: Exact) -> int | None:
        i, unit, (first, second, third) = self.columns, query.denominator, query.numerators
        if query.roots or i * second != 3 * unit or i * i * third != unit or i * first % (3 * unit):
            return None
        return i * first // (3 * unit)

    def newest_wins(self, own: int, asked: int) -> bool:
        return abs(own - asked) == 1


class _ByDirection(_LastVisit):
    """Cells as directions: the key of column j is (φ(c, 1), −ψ) with a ψ that shrinks, and the query (φ(c, 1), 1)."""

    asks = "(φ(c, 1), 1) with an integer c"
    keeps = "(φ(c, 1), −ψ) with an integer c and a ψ that is positive, less than the one before and less than g(c)"

    def __init__(self) -> None:
        super().__init__()
        self.square, self.least, self.greatest = Fraction(1), 0, 0  # ψ² of the last key; between which cells keys are

    def own(self, key: Exact) -> int | None:
        cell, last = _direction(key), key.numerators[4]
        square = Fraction(last * last, key.denominator**2 * key.roots.get(4, 1))
        if cell is None or last >= 0 or not square < min(self.square, _distance(cell) ** 2):
            return None
        self.square = square
        ends = (self.least, self.greatest) if self.visits else (cell, cell)
        self.least, self.greatest = min(cell, ends[0]), max(cell, ends[1])
        return cell

    def asked(self, query: Exact) -> int | None:
        constant = query.numerators[4] == query.denominator and 4 not in query.roots
        return _direction(query) if constant else None

    def newest_wins(self, own: int, asked: int) -> bool:
        return own == self.greatest < asked or asked < self.least == own


def _direction(x: Exact) -> int | None:
    """The integer c for which a vector begins with φ(c, 1)."""
    a, b, *negatives = x.numerators[:4]
    roots = {x.roots.get(place, 1) for place in range(4) if x.numerators[place]}
    if negatives != [-a, -b] or b <= 0 or a % b or len(roots) > 1:
        return None
    return a // b if 2 * (a * a + b * b) == roots.pop() * x.denominator**2 else None


def _distance(cell: int) -> Fraction:
    """g(c): the score of a key on any other cell is less by more than that."""
    return Fraction(1, 2 * (cell**2 + 1) * ((abs(cell) + 1) ** 2 + 1))


def _text(x: Exact) -> str:
    return f"({', '.join(map(str, x))})"


LAST_VISIT: dict[str, type[_LastVisit]] = {Perez21.construction: _ByAverage, Merrill24.construction: _ByDirection}


class History:
    """A run of ``perez21`` or ``merrill24`` with an index in place of the heads that look at all columns: a pass costs
    the same whenever it comes.

    It takes networks in exact arithmetic that find cells by averages or by directions, and raises
    :class:`turing.engine.Refusal` unless their weights and vectors are those for which that is proved. What is asked
    for and what is kept comes out of the network's own queries, keys and values. With ``check``, every vector is
    compared with that of plain attention.

    >>> import turing
    >>> net = turing.compile(turing.zoo["bb2"], "perez21")
    >>> net.run("", engine="indexed", check=True) == turing.zoo["bb2"].run("")
    True

    Chapter: :doc:`/book/averages`.
    """

    def __init__(self, network: Perez21 | Merrill24, word: Sequence[str], check: bool = False):
        self.indexes = _indexes(network)
        self.network, self.word = network, word
        self.plain = network.start([word]) if check else None

    def step(self, state: State, seen: Seen = lambda *_: None) -> State:
        """One pass, as :meth:`turing.construction.Construction.step` makes it."""
        x, passes = state.x, state.passes + 1
        vectors = {"column": x}
        module: Any
        for name, module in self.network.pipeline.items():
            if name in self.indexes:
                x = x + module.write(self.indexes[name].fetch(module, x))
            elif isinstance(module, Attention):
                x = self.network._attend(name, module, x, state)
                if module.mask == "offset":  # older columns are never looked at again
                    state.memory[name] = tuple(part[-(module.offset or 0) :] for part in state.memory[name])
            else:
                x = module(x)
            vectors[name] = x
            seen(name, x)
        if self.plain is not None:
            self.plain = self.network.step(self.plain)
            self._compare(vectors, self.plain.vectors, passes)
        x = self.network._embedded(x, passes)
        return State(x, state.tape, state.memory, passes, vectors, state.notes)

    def _compare(self, vectors: dict[str, Any], plain: dict[str, Any], passes: int) -> None:
        for name, vector in vectors.items():
            for place, (given, scanned) in enumerate(zip(vector, plain[name], strict=True)):
                if given != scanned:
                    raise AssertionError(
                        f"At pass {passes}, layer {name}, {self.network.layout_of(name).name(place)} is {given} by the "
                        f"index, and {scanned} if all columns are scanned."
                    )

    def vectors(self) -> Iterator[dict[str, Any]]:
        """Yield for each pass every vector, by the name of the module that it leaves."""
        state: State | None = self.network.start([self.word])
        while True:
            found: dict[str, Any] = {"column": state.x} if state else {}
            try:
                state = state and self.step(state, found.__setitem__)
            except Refusal:
                raise
            except ArithmeticError:  # as in plain evaluation, there is no number from here on
                state = None
            yield {name: self.network._or_nan(name, found) for name in ("column", *self.network.pipeline)}


def _indexes(network: Perez21 | Merrill24) -> dict[str, _Average | _LastVisit]:
    """What stands in for the heads that look at all columns. Raise unless they are those that an index can replace."""
    if network.arithmetic != "exact":
        raise Refusal(
            f"An index runs {network.construction} in exact arithmetic, and this network is in {network.arithmetic}, "
            f"where rounding may fetch another column, depending on all keys. Compile it with "
            f'arithmetic="exact", or take engine="torch".'
        )
    modules = {module.name: module.parts[0] for module in described(network).modules}
    found: dict[str, _Average | _LastVisit] = {}
    for name, head in network.pipeline.items():
        given = modules[name]
        if not isinstance(given, ir.Attention) or given.mask in ("cross", "offset"):
            continue
        if name not in ("count", "last") or type(head) is not Attention:
            raise Refusal(f'{given.name} is not one of the heads that an index replaces. Take engine="torch".')
        built = getattr(network, f"_{name}")("exact")
        (right,) = built.describe(given.name)
        if (given.score, given.mask, given.null_key) != (right.score, right.mask, None):
            raise Refusal(f'{given.name} has a null key, another score or another mask. Take engine="torch".')
        if name == "count":
            same_numbers([given.key.weight], [right.key.weight])
            found[name] = _Average()
        else:
            maps = ((part.query.weight, part.query.bias, part.key.weight, part.key.bias) for part in (given, right))
            same_numbers(*maps)
            found[name] = LAST_VISIT[network.construction]()
    return found
