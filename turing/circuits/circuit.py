"""Boolean circuits without a network: made from names, an expression, a truth table or a network of gates.

Chapter: :doc:`/book/gate-by-gate`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from graphlib import CycleError, TopologicalSorter
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from turing import arguments, ir
from turing.arguments import count, listed
from turing.dnf import _parsed, _value, _variables

if TYPE_CHECKING:
    from torch import nn

__all__ = ["Builder", "Circuit", "Gate", "KINDS"]

KINDS = {  # of gates: the outputs for the inputs 00, 01, 10, 11
    "AND": (0, 0, 0, 1),
    "OR": (0, 1, 1, 1),
    "XOR": (0, 1, 1, 0),
    "NAND": (1, 1, 1, 0),
    "NOR": (1, 0, 0, 0),
    "XNOR": (1, 0, 0, 1),
    "ANDNOT": (0, 0, 1, 0),
    "ORNOT": (1, 0, 1, 1),
}
BY_TABLE = {table: kind for kind, table in KINDS.items()}
MAX_GATES = 1_000_000  # a slip of the finger should not fill the memory
MAX_TERMS = 16  # that a neuron may read, for its truth table to be written down
Wire = int  # the number of an input or a gate
ZERO, ONE = -1, -2  # wires that never change, while a circuit is built


class Gate(NamedTuple):
    """A gate: its kind, and the numbers of the two wires that it reads.

    Chapter: :doc:`/book/gate-by-gate`.
    """

    kind: str
    first: Wire
    second: Wire


class Circuit:
    """A circuit of named inputs and of gates with two inputs each. The inputs and the gates are its **wires**, and
    their numbers count the inputs first.

    - ``inputs``: a list of names, or one string with spaces between them
    - ``gates``: a dictionary, in any order, from the name of a gate to its kind and the names of what it reads. The
      kinds are AND, OR, XOR, NAND, NOR, XNOR, ANDNOT (a and not b), ORNOT (a or not b), and NOT, which reads one wire.
    - ``outputs``: names of wires, or a dictionary from the names of outputs to those of wires. Unless given, they are
      the gates that no other gate reads.

    >>> from turing.circuits import Circuit
    >>> half = Circuit("a b", {"sum": ("XOR", "a", "b"), "carry": ("AND", "a", "b")})
    >>> half, half.evaluate("11")
    (<Circuit: 2 inputs, 2 gates, 2 outputs>, {'sum': 0, 'carry': 1})
    >>> half.values([0, 1])
    [0, 1, 1, 0]

    Chapter: :doc:`/book/gate-by-gate`.
    """

    inputs: tuple[str, ...]
    gates: tuple[Gate, ...]
    outputs: dict[str, Wire]

    def __init__(
        self,
        inputs: str | Sequence[str],
        gates: Mapping[str, Sequence[str]],
        outputs: Sequence[str] | Mapping[str, str] | None = None,
    ):
        self.inputs = _names_of(inputs, "The inputs of a circuit")
        _check_names(self.inputs, gates)
        sources = {name: _sources(name, gate, self.inputs, gates) for name, gate in gates.items()}
        order = _ordered(self.inputs, {name: wires for name, (_, *wires) in sources.items()})
        number = {name: wire for wire, name in enumerate([*self.inputs, *order])}
        made = (sources[name] for name in order)
        self.gates = tuple(Gate(kind, number[a], number[b]) for kind, a, b in made)
        if outputs is None:
            read = {wire for gate in self.gates for wire in gate[1:]}
            outputs = [name for name in order if number[name] not in read]
        if not isinstance(outputs, Mapping):
            outputs = {name: name for name in _names_of(outputs, "The outputs of a circuit")}
        named = dict(outputs)
        for name in named.values():
            if name not in number:
                raise ValueError(f"The output {name!r} is not a wire of this circuit. Its wires: {listed(number)}.")
        self.outputs = {name: number[wire] for name, wire in named.items()}
        self._names = tuple(number)

    @classmethod
    def _made(
        cls, inputs: Sequence[str], gates: Sequence[Gate], outputs: Mapping[str, Wire], names: Mapping[Wire, str]
    ) -> Circuit:
        """From wires with numbers."""
        self = cls.__new__(cls)
        self.inputs, self.gates, self.outputs = tuple(inputs), tuple(gates), dict(outputs)
        self._names = (*inputs, *(names.get(wire, f"g{wire}") for wire in range(len(inputs), self.tokens)))
        return self

    @classmethod
    def of_expression(cls, expression: str, inputs: str | Sequence[str] | None = None) -> Circuit:
        """The circuit of an expression. You may write ``&``, ``|``, ``^`` and ``~``, or the words ``and``, ``or`` and
        ``not``, and brackets. The output is called ``out``. The inputs are the variables, in the order in which they
        first appear, unless you give ``inputs``.

        >>> from turing.circuits import Circuit
        >>> circuit = Circuit.of_expression("a & ~b | c")
        >>> circuit.inputs, circuit.evaluate("101")
        (('a', 'b', 'c'), {'out': 1})

        Chapter: :doc:`/book/gate-by-gate`.
        """
        tree, used = _parsed(expression)
        names = _variables(used if inputs is None else inputs, 0)
        if missing := [name for name in used if name not in names]:
            raise ValueError(f"{expression!r} has the variable {missing[0]}, and the inputs are {' '.join(names)}.")
        build = Builder(names)
        wires: Any = {name: _Operand(build, wire) for wire, name in enumerate(names)}
        wires |= {value: _Operand(build, _constant(value)) for value in (0, 1)}
        found: Any = _value(tree, wires)
        return build.circuit({"out": found.wire})

    @classmethod
    def of_table(cls, table: str | Sequence[int], inputs: str | Sequence[str] | None = None) -> Circuit:
        """The circuit of a truth table of n inputs. The table has 2ⁿ values: the first is the output where all inputs
        are 0, and the last input changes from one value to the next. The output is called ``out``. The inputs are
        called ``x0``, ``x1``, …, unless you give ``inputs``.

        >>> from turing.circuits import Circuit
        >>> majority = Circuit.of_table("00010111")
        >>> majority, majority.inputs, majority.evaluate("110")
        (<Circuit: 3 inputs, 5 gates, 1 output>, ('x0', 'x1', 'x2'), {'out': 1})

        Chapter: :doc:`/book/gate-by-gate`.
        """
        values = tuple(_bits(table, "A truth table", "A value of a truth table"))
        n = max(len(values).bit_length() - 1, 0)
        if len(values) != 2**n or not n:
            raise ValueError(
                f"A truth table of n inputs has 2ⁿ rows: 2, 4, 8, …, and this one has {count(len(values), 'row')}."
            )
        names = _variables(inputs, n)
        if len(names) != n:
            raise ValueError(f"{2**n} rows are for {count(n, 'input')}, and {' '.join(names)} were given.")
        build = Builder(names)
        return build.circuit({"out": build.table(values, range(n))})

    @classmethod
    def of_network(cls, network: nn.Module) -> Circuit:
        """The circuit of a network whose places are all 0 or 1, such as an adder: each neuron becomes its own gates.

        Inputs and outputs have the names of its places.

        >>> from turing.adders import FullAdder
        >>> from turing.circuits import Circuit
        >>> Circuit.of_network(FullAdder(3, 0, 1, 2)).evaluate("101")
        {'x[0]': 0, 'x[1]': 0, 'x[2]': 1}

        Chapter: :doc:`/book/gate-by-gate`.
        """
        found = ir.of(network)
        build = Builder(found.layouts[0].names())
        wires: list[Wire] = list(range(len(build.inputs)))
        for layer in found.layers:
            wires = [_neuron(build, row, wires) for row in layer.rows]
        return build.circuit(dict(zip(found.layouts[-1].names(), wires, strict=True)))

    @property
    def tokens(self) -> int:
        """How many wires there are: one token for each input, and one for each gate."""
        return len(self.inputs) + len(self.gates)

    @property
    def depth(self) -> int:
        """The most gates on a path from an input to an output."""
        depths = [0] * len(self.inputs)
        for _, a, b in self.gates:
            depths.append(1 + max(depths[a], depths[b]))
        return max(depths, default=0)

    def name(self, wire: Wire) -> str:
        """The name of an input or a gate.

        Chapter: :doc:`/book/gate-by-gate`.
        """
        return self._names[arguments.integer("wire", wire, 0, self.tokens - 1, what="the number of an input or a gate")]

    def bits(self, word: Iterable[Any] | Mapping[str, int]) -> list[int]:
        """The inputs as a list of 0 and 1, from a string, a sequence, or a dictionary by name.

        Chapter: :doc:`/book/gate-by-gate`.
        """
        if isinstance(word, Mapping):
            if set(word) != set(self.inputs):
                raise ValueError(
                    f"The inputs of this circuit are {listed(self.inputs)}, and values for {listed(map(str, word))} "
                    f"were given."
                )
            word = [word[name] for name in self.inputs]
        bits = _bits(word, "The inputs of a circuit", "A token")
        if len(bits) != len(self.inputs):
            raise ValueError(
                f"This circuit has {count(len(self.inputs), 'input')}, {listed(self.inputs)}, and was given "
                f"{count(len(bits), 'token')}. Give one 0 or 1 for each."
            )
        return bits

    def values(self, word: Iterable[Any] | Mapping[str, int]) -> list[int]:
        """The value of every wire, inputs first: what the tokens of :class:`~turing.circuits.GateByGate` must be.

        Chapter: :doc:`/book/gate-by-gate`.
        """
        values = self.bits(word)
        for kind, a, b in self.gates:
            values.append(KINDS[kind][2 * values[a] + values[b]])
        return values

    def evaluate(self, word: Iterable[Any] | Mapping[str, int]) -> dict[str, int]:
        """A dictionary of the outputs by name.

        Chapter: :doc:`/book/gate-by-gate`.
        """
        values = self.values(word)
        return {name: values[wire] for name, wire in self.outputs.items()}

    def __repr__(self) -> str:
        counts = (count(len(getattr(self, kind)), kind[:-1]) for kind in ("inputs", "gates", "outputs"))
        return f"<Circuit: {', '.join(counts)}>"


class Builder:
    """Adds gates one by one, and names a wire by its number. A gate that is there already is used again. One with a
    constant output is left out: its wire is ZERO or ONE, which never change.

    >>> from turing.circuits.circuit import ONE, Builder
    >>> build = Builder(["a", "b"])
    >>> build.gate("AND", 0, 1), build.gate("AND", 1, 0), build.gate("OR", 0, ONE) == ONE
    (2, 2, True)

    Chapter: :doc:`/book/gate-by-gate`.
    """

    def __init__(self, inputs: Sequence[str]):
        if not inputs:
            raise ValueError("A circuit has at least one input, and none was given.")
        self.inputs = tuple(inputs)
        self.gates: list[Gate] = []
        self._known: dict[Gate, Wire] = {}
        self._inverse: dict[Wire, Wire] = {ZERO: ONE, ONE: ZERO}

    @property
    def tokens(self) -> int:
        """How many wires there are so far."""
        return len(self.inputs) + len(self.gates)

    def gate(self, kind: str, a: Wire, b: Wire) -> Wire:
        """The wire of a gate with these inputs, a new one if there is none yet.

        Chapter: :doc:`/book/gate-by-gate`.
        """
        table = KINDS[kind]
        if a < 0:
            return self._one(table[:2] if a == ZERO else table[2:], b)
        if b < 0:
            return self._one(table[::2] if b == ZERO else table[1::2], a)
        if a == b:
            return self._one(table[::3], a)
        if self._inverse.get(a) == b:
            return self._one(table[1:3], a)
        if a > b and table[1] == table[2]:
            a, b = b, a
        return self._new(Gate(kind, a, b))

    def _one(self, table: tuple[int, ...], wire: Wire) -> Wire:
        """A function of one wire, by its two values."""
        if table[0] == table[1]:
            return _constant(table[0])
        return wire if table[1] else self.invert(wire)

    def invert(self, wire: Wire) -> Wire:
        """The wire of NOT.

        Chapter: :doc:`/book/gate-by-gate`.
        """
        if wire not in self._inverse:
            made = self._new(Gate("NAND", wire, wire))
            self._inverse |= {wire: made, made: wire}
        return self._inverse[wire]

    def _new(self, gate: Gate) -> Wire:
        if gate not in self._known:
            self._known[gate] = self.append(gate)
        return self._known[gate]

    def append(self, gate: Gate) -> Wire:
        """The wire of a new gate, even if there is an equal one.

        Chapter: :doc:`/book/gate-by-gate`.
        """
        if len(self.gates) >= MAX_GATES:
            raise ValueError(
                f"This circuit takes more than {MAX_GATES:,} gates. Take fewer; of a machine, fewer steps or cells."
            )
        self.gates.append(gate)
        return self.tokens - 1

    def any(self, wires: Iterable[Wire]) -> Wire:
        """The OR of any number of wires.

        Chapter: :doc:`/book/gate-by-gate`.
        """
        return reduce(lambda a, b: self.gate("OR", a, b), dict.fromkeys(wires), ZERO)

    def table(self, values: tuple[int, ...], wires: Sequence[Wire]) -> Wire:
        """A function of some wires by its truth table, split into halves by the first wire.

        Chapter: :doc:`/book/gate-by-gate`.
        """
        if len(set(values)) == 1:
            return _constant(values[0])
        if len(wires) == 2 and values in BY_TABLE:
            return self.gate(BY_TABLE[values], wires[0], wires[1])
        half = len(values) // 2
        zero, one = values[:half], values[half:]
        if zero == one:
            return self.table(zero, wires[1:])
        first = wires[0]
        if zero == tuple(1 - value for value in one):
            return self.gate("XOR", first, self.table(zero, wires[1:]))
        low, high = (self.table(part, wires[1:]) for part in (zero, one))
        if high == ONE:
            return self.gate("OR", first, low)
        if low == ONE:
            return self.gate("ORNOT", high, first)
        return self.gate("OR", self.gate("AND", first, high), self.gate("ANDNOT", low, first))

    def circuit(self, outputs: Mapping[str, Wire], names: Mapping[Wire, str] | None = None) -> Circuit:
        """The :class:`~turing.circuits.Circuit` that was built. A wire that never changes becomes a gate here.

        Chapter: :doc:`/book/gate-by-gate`.
        """
        wires = {
            name: self._new(Gate("XOR" if wire == ZERO else "XNOR", 0, 0)) if wire < 0 else wire
            for name, wire in outputs.items()
        }
        return Circuit._made(self.inputs, self.gates, wires, names or {})


def _constant(bit: int) -> Wire:
    return ONE if bit else ZERO


class _Operand(NamedTuple):
    """A wire in an expression."""

    build: Builder
    wire: Wire

    def __and__(self, other: _Operand) -> _Operand:
        return _Operand(self.build, self.build.gate("AND", self.wire, other.wire))

    def __or__(self, other: _Operand) -> _Operand:
        return _Operand(self.build, self.build.gate("OR", self.wire, other.wire))

    def __xor__(self, other: _Operand) -> _Operand:
        return _Operand(self.build, self.build.gate("XOR", self.wire, other.wire))

    def __invert__(self) -> _Operand:
        return _Operand(self.build, self.build.invert(self.wire))


def _neuron(build: Builder, row: ir.Row, wires: Sequence[Wire]) -> Wire:
    """Where a neuron of bits is 1. Inputs that never occur may be given any value."""
    if len(row.terms) > MAX_TERMS:
        raise ValueError(f"A neuron reads at most {MAX_TERMS} places here, and one of this network {len(row.terms)}.")
    rows = product((0, 1), repeat=len(row.terms))
    sums = (row.bias + sum(bit * weight for bit, (_, weight) in zip(bits, row.terms, strict=True)) for bits in rows)
    return build.table(tuple(int(total > 0.5) for total in sums), [wires[place] for place, _ in row.terms])


def _names_of(given: Any, what: str) -> tuple[str, ...]:
    names = given.split() if isinstance(given, str) else given
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"{what} are a string such as 'a b' or a list of names, and {given!r} was given.")
    return tuple(names)


def _bits(given: Any, what: str, each: str) -> list[int]:
    if not isinstance(given, Iterable):
        raise TypeError(f"{what}: a string such as '0110' or a list of 0 and 1 is expected, and {given!r} was given.")
    return [_bit(value, each) for value in given]


def _bit(value: Any, what: str) -> int:
    if isinstance(value, str) and value in ("0", "1"):
        return int(value)
    if isinstance(value, str) or value not in (0, 1):
        raise ValueError(f"{what} is 0 or 1, and {value!r} was given.")
    return int(value)


def _check_names(inputs: Sequence[str], gates: Mapping[str, Sequence[str]]) -> None:
    if not isinstance(gates, Mapping):
        raise TypeError(f"The gates are a dictionary such as {{'x': ('AND', 'a', 'b')}}, and {gates!r} was given.")
    for name, gate in gates.items():
        parts = gate if isinstance(gate, Sequence) and not isinstance(gate, str) and gate else [None]
        if not all(isinstance(part, str) for part in (name, *parts)):
            raise TypeError(
                f"A gate is given by its name, its kind and the names of its inputs, as in 'x': ('AND', 'a', 'b'), and "
                f"{name!r}: {gate!r} was given."
            )
    if not inputs:
        raise ValueError("A circuit has at least one input, and none was given.")
    if twice := [name for name, times in Counter([*inputs, *gates]).items() if times > 1]:
        raise ValueError(f"Two wires of this circuit have the name {twice[0]!r}. Rename one.")


def _sources(
    name: str, gate: Sequence[str], inputs: Sequence[str], gates: Mapping[str, Sequence[str]]
) -> tuple[str, str, str]:
    """The kind of a gate and the names of what it reads, checked."""
    kind, *wires = gate
    if kind == "NOT":
        kind, wires = "NAND", wires * 2
    if kind not in KINDS:
        raise ValueError(f"A gate is one of NOT {' '.join(KINDS)}, and gate {name!r} is of the kind {kind!r}.")
    if len(wires) != 2:
        wanted = "1 input" if gate[0] == "NOT" else "2 inputs"
        raise ValueError(f"Gate {name!r} is given as {tuple(gate)!r}, and {gate[0]} has {wanted}.")
    for wire in wires:
        if wire not in gates and wire not in inputs:
            raise ValueError(
                f"Gate {name!r} reads {wire!r}, which is neither an input nor a gate. Inputs: {listed(inputs)}."
            )
    return kind, wires[0], wires[1]


def _ordered(inputs: Sequence[str], reads: Mapping[str, Sequence[str]]) -> list[str]:
    """The gates as they were given, if every one reads only what comes before it; else in an order in which it does."""
    known = set(inputs)
    for name, wires in reads.items():
        if not known.issuperset(wires):
            break
        known.add(name)
    else:
        return list(reads)
    try:
        return [name for name in TopologicalSorter(reads).static_order() if name in reads]
    except CycleError as error:
        way = " → ".join(error.args[1])
        raise ValueError(f"This circuit has a cycle: {way}. A gate can read only what is known before it.") from None
