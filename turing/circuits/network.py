"""The transformer that evaluates a circuit gate by gate, and the one that runs a machine by its tableau."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import isqrt
from typing import Any

import torch
from torch import Tensor, nn

from turing import arguments, bhattamishra, ir, merrill  # noqa: F401  # earlier chapters register theirs first
from turing.attention import KAPPA, MAX_KAPPA, Attention, least_kappa
from turing.circuits.circuit import KINDS, ONE, Circuit, Wire
from turing.circuits.tableau import Content, Tableau
from turing.construction import Construction, Expectation, Plan, Reading, State, at_step, register
from turing.gates import Layer, Readout
from turing.layout import Layout, Slice
from turing.machine import Configuration, TuringMachine
from turing.modules import Argmax

__all__ = ["GateByGate", "Li24"]

GAP = 1  # by which the address that is asked for outscores one with a wrong bit
STEPS = 16  # to compile for, unless said otherwise
VOCABULARY = ("0", "1")


class GateByGate(Construction):
    """The transformer of Li, Liu, Zhou and Ma for a circuit: after a token for each input it adds one for each gate.

    It has no ``run``, and no machine, so ``activations``, :func:`turing.verify <turing.verification.verify>`,
    :func:`turing.prove <turing.proof.prove>` and :func:`turing.save <turing.files.save>` refuse it.

    - :meth:`evaluate` gives the outputs for a word, and ``net.circuit.evaluate(word)`` those that it should give.
    - To see vectors, hang a forward hook on a module of ``net.pipeline``; :meth:`vectors_of` says what they must be.
    - To save the weights, use ``net.state_dict()``.

    ``kappa`` is the factor on attention scores before the softmax; a value too small for the number type is refused.

    A column is a token and its row of the table of positions, the one part that depends on the circuit. The row has the
    token's own number in binary, and for the gate that comes next its kind and the numbers of its two inputs.

    Two heads fetch these two tokens, and a feed-forward layer with a neuron for each line of each truth table computes
    the gate. What that layer adds is the vector ``gate``; the unembedding reads its slice ``out``, which nothing else
    writes.

    >>> from turing.circuits import Circuit, GateByGate
    >>> half = Circuit("a b", {"sum": ("XOR", "a", "b"), "carry": ("AND", "a", "b")})
    >>> net = GateByGate(half)
    >>> net.tokens(["11", "01"]).tolist(), net.evaluate("11")
    ([[1, 1, 0, 1], [0, 1, 1, 0]], {'sum': 0, 'carry': 1})

    Chapter: :doc:`/book/gate-by-gate`.
    """

    construction = "gate-by-gate"
    machine: Any = None

    def __init__(self, circuit: Circuit, kappa: float = KAPPA):
        super().__init__()
        if not isinstance(circuit, Circuit):
            raise TypeError(f"A Circuit is evaluated here, and {circuit!r} was given.")
        self.circuit, self.options = circuit, {"kappa": kappa}
        bits = max(1, (circuit.tokens - 1).bit_length())
        self.layout = x = Layout(
            tok=VOCABULARY, pos1=bits,  # the token and its number
            pos2=bits, pos3=bits, gate=list(KINDS),  # what the next gate reads, and its kind
            bit1=1, bit2=1, out=VOCABULARY,  # what it finds there, and what it gives
        )  # fmt: skip
        arguments.network_size(repr(circuit), f"in {self.construction}", circuit.tokens * x.width)
        self.positions = nn.Parameter(self._table())
        self.loop = ir.Loop(table="positions", first=len(circuit.inputs) - 1)  # type: ignore[misc]  # of this network
        copy = Readout(torch.eye(len(VOCABULARY)), torch.zeros(len(VOCABULARY)))
        self.pipeline = nn.ModuleDict(
            {
                "first": self._head(x.pos2, x.bit1, kappa),
                "second": self._head(x.pos3, x.bit2, kappa),
                "gate": self._gate(),
                "unembed": _placed(copy, [x, Layout(tok=VOCABULARY)], columns=x.out),
                "choose": Argmax(Layout(tok=VOCABULARY), ["tok"]),
                "embed": _placed(copy, [Layout(tok=VOCABULARY), x], rows=x.tok),
            }
        )

    def _table(self) -> Tensor:
        """For each token its number, and of the gate after it the numbers of the inputs and the kind."""
        x, n = self.layout, len(self.circuit.inputs)
        table = torch.zeros(self.circuit.tokens, x.width)
        numbers = torch.arange(self.circuit.tokens)
        asked = torch.zeros(2, self.circuit.tokens, dtype=torch.int64)
        for wire, gate in enumerate(self.circuit.gates, start=n):
            asked[:, wire - 1] = torch.tensor([gate.first, gate.second])
            table[wire - 1, x.gate[gate.kind]] = 1
        for part, number in ((x.pos1, numbers), (x.pos2, asked[0]), (x.pos3, asked[1])):
            table[:, part.slice] = (number[:, None] >> torch.arange(part.size) & 1).float()
        return table

    def _head(self, asks: Slice, into: Slice, kappa: float) -> Attention:
        """The token whose number is asked for: the score is Σ ±bits, and each wrong bit makes it 1 less."""
        x, bits = self.layout, len(asks)
        eye = torch.eye(bits)
        query = _placed(Readout(2 * eye, -torch.ones(bits)), [x, Layout(q=bits)], columns=asks)
        key = _placed(Readout(eye, torch.zeros(bits)), [x, Layout(q=bits)], columns=x.pos1)
        value = _placed(Readout([[0, 1]], [0]), [x, Layout(v=1)], columns=x.tok)
        write = _placed(Readout([[1]], [0]), [Layout(v=1), x], rows=into)
        head = Attention(query, key, value, write, kappa=kappa, mask="prefix")
        head.layout = x
        return head

    def _gate(self) -> nn.Module:
        """A neuron for each line of each truth table: that kind of gate, and these two inputs."""
        x, pairs = self.layout, list(product((0, 1), repeat=2))
        lines = [(kind, a, b, out) for kind, table in KINDS.items() for (a, b), out in zip(pairs, table, strict=True)]
        y = Layout(line=[f"{kind} {a}{b}" for kind, a, b, _ in lines])
        W1, b1 = torch.zeros(y.width, x.width), torch.zeros(y.width)
        W2 = torch.zeros(x.width, y.width)
        for line, (kind, a, b, out) in zip(y.line, lines, strict=True):
            W1[line, x.gate[kind]] = 1
            W1[line, [x.bit1[0], x.bit2[0]]] = torch.tensor([2.0 * a - 1, 2.0 * b - 1])
            b1[line] = -a - b  # relu(kind ± bit1 ± bit2 − how many of them are 1)
            W2[x.out[out], line] = 1
        made = nn.Sequential(Layer(W1, b1), Readout(W2, torch.zeros(x.width)))
        made.layouts = [x, y, x]  # type: ignore[assignment]  # for turing.ir
        return made

    def bits(self, word: Any) -> list[int]:
        """The inputs of the circuit for a word.

        Chapter: :doc:`/book/gate-by-gate`.
        """
        return self.circuit.bits(word)

    def prompt(self, word: Any) -> Tensor:
        """The columns of the inputs: the embedding of each token, and its row of the table. Shape: ``(n, w)``.

        Chapter: :doc:`/book/gate-by-gate`.
        """
        bits = self.bits(word)
        tokens = nn.functional.one_hot(torch.tensor(bits), len(VOCABULARY)).to(self._like)
        return self.pipeline["embed"](tokens) + self.positions[: len(bits)]

    def encode(self, word: Any) -> Tensor:
        """The columns of the inputs but the last one.

        Chapter: :doc:`/book/gate-by-gate`.
        """
        return self.prompt(word)[:-1]

    def initial(self, word: Any) -> Tensor:
        """The column of the last input, from which the first gate is computed.

        Chapter: :doc:`/book/gate-by-gate`.
        """
        return self.prompt(word)[-1]

    @torch.no_grad()
    def tokens(self, words: Sequence[Any]) -> Tensor:
        """All tokens, the inputs of each word and what the network adds to them. Shape: ``(words, tokens)``. Those of a
        word should be ``net.circuit.values(word)``.

        Chapter: :doc:`/book/gate-by-gate`.
        """
        self.check()
        if isinstance(words, Iterable) and not isinstance(words, str):
            words = [self.circuit.bits(word) if isinstance(word, Mapping) else word for word in words]
        state = self.start(words)
        for _ in self.circuit.gates:
            state = self.step(state)
        return self._tokens(state)

    def _tokens(self, state: State) -> Tensor:
        """The tokens so far: those that the heads remember, and the newest."""
        one = self.layout.tok["1"]
        earlier = state.memory["first"][1][..., 0] if state.passes else state.tape[..., one]
        return torch.cat([earlier, state.x[..., [one]]], dim=-1).int()

    def evaluate(self, word: Any) -> dict[str, int]:
        """A dictionary of the outputs of the circuit by name.

        Chapter: :doc:`/book/gate-by-gate`.
        """
        tokens = self.tokens([word])[0].tolist()
        return {name: tokens[wire] for name, wire in self.circuit.outputs.items()}

    def vectors_of(self, values: Sequence[int], wire: Wire) -> dict[str, dict[str, int]]:
        """By module, what its vector must be when the token of a wire is computed, from the values of all wires.

        Chapter: :doc:`/book/gate-by-gate`.
        """
        kind, *read = self.circuit.gates[wire - len(self.circuit.inputs)]
        numbers = zip(("pos1", "pos2", "pos3"), (wire - 1, *read), strict=True)
        column = {name: 1 for slice_, number in numbers for name in _binary(self.layout[slice_], number)}
        column |= {f"tok[{values[wire - 1]}]": 1, f"gate[{kind}]": 1}
        first, second = ({name: values[source]} for name, source in zip(("bit1", "bit2"), read, strict=True))
        token = {f"tok[{values[wire]}]": 1}
        return {
            "first": column | first,
            "second": column | first | second,
            "gate": {f"out[{values[wire]}]": 1},
            "unembed": token,
            "choose": token,
            "embed": token,
        }

    def check(self) -> None:
        """Raise unless attention is hard in this number type: a token whose number has one wrong bit has weight 0.

        Chapter: :doc:`/book/gate-by-gate`.
        """
        super().check()
        dtype, bits = self._like.dtype, len(self.layout.pos1)
        for name in ("first", "second"):
            kappa: Any = self.pipeline[name].kappa
            if kappa is not None and not kappa >= (minimum := least_kappa(dtype, GAP)):
                raise ValueError(
                    f"κ = {kappa:g} is too small for {dtype}: a token whose number has one wrong bit would keep some "
                    f"weight. Take κ = {minimum} or more."
                )
            if kappa is not None and not kappa <= MAX_KAPPA:
                raise ValueError(f"κ = {kappa:g} is infinite or not a number. Take one from {minimum} on.")
        if bits > (most := int(2 / torch.finfo(dtype).eps)):
            raise ValueError(f"{bits} bits are compared here, and {dtype} can tell scores apart up to {most} bits.")

    def about(self) -> dict[str, str]:
        """The network in a few rows, for people."""
        inputs, gates = len(self.circuit.inputs), len(self.circuit.gates)
        made_of = f"{arguments.count(inputs, 'input')}, {arguments.count(gates, 'gate')}"
        return super().about() | {"circuit": made_of, "a pass": "1 token, which is 1 gate"}

    def _limit(self, max_steps: int | None) -> int:
        raise TypeError("This network evaluates a circuit, and there is no machine to be run. Use evaluate or tokens.")

    def _at(self, word: Any, step: int) -> State:
        self._limit(None)  # before a machine is asked for its first state
        return super()._at(word, step)


@register
class Li24(GateByGate):
    """The transformer of Li, Liu, Zhou and Ma for a Turing machine: its :class:`Tableau`, gate by gate. A pass writes a
    token, and a step of the machine takes a token for each of its gates. The options:

    - ``T``: the maximum number of steps of a run, 16 unless given
    - ``cells``: how many cells there are. By default they are 2T + 1, all that the tape head can reach in T steps;
      fewer make the network smaller, and a run raises an OverflowError where the head leaves them.
    - ``left``: how many of the cells are left of the word. It is 1 if you give ``cells``, and T if you do not.
    - ``kappa``: the factor on attention scores before the softmax. At 9999, the default, attention is hard; ``run``
      refuses a value too small for its number type.

    >>> import turing
    >>> from turing.circuits import Li24
    >>> net = Li24(turing.zoo["balanced_parentheses"], T=9, cells=6)
    >>> run = net.run("B()E")
    >>> run.state, run.steps, run.micro_steps, net.layout.width
    ('T', 9, 327, 41)

    Chapter: :doc:`/book/gate-by-gate`.
    """

    construction = "li24"
    machine: TuringMachine
    circuit: Tableau
    T: int

    def __init__(
        self,
        machine: TuringMachine,
        T: int = STEPS,
        cells: int | None = None,
        left: int | None = None,
        kappa: float = KAPPA,
    ):
        T = arguments.integer("T", T, 1, what="the maximal number of steps")
        left = (T if cells is None else 1) if left is None else arguments.integer("left", left, 0)
        tableau = Tableau(machine, T, left + T + 1 if cells is None else cells, left)
        super().__init__(tableau, kappa)
        self.machine, self.T = machine, T
        self._step_ending = {end: t for t, end in enumerate(tableau.ends) if t}  # by the number of tokens
        self.options = {"T": T, "cells": tableau.cells, "left": left, "kappa": kappa}

    @classmethod
    def fitting(cls, given: dict[str, Any], plan: Plan) -> dict[str, Any]:
        """T for the steps of a run, and cells for the word with a margin on both sides, or those that are needed."""
        options = {"T": plan.max_steps or STEPS} | given
        if plan.cells is not None:
            return {"left": -plan.cells.start, "cells": len(plan.cells)} | options
        if plan.word is not None and "cells" not in given:
            margin = isqrt(options["T"])
            options = {"left": margin} | options
            options["cells"] = options["left"] + max(len(plan.word), 1) + margin
        return options

    def bits(self, word: Iterable[str]) -> list[int]:
        """The word in binary, cell by cell, blank to the end of the cells.

        Chapter: :doc:`/book/gate-by-gate`.
        """
        return self.circuit.word(word)

    def max_passes(self, words: Sequence[Sequence[str]], steps: int) -> int:
        """The gates of that many steps."""
        return self.circuit.ends[min(steps, self.T)]

    def read(self, state: State) -> list[Reading | None]:
        """What the tokens say, where those of a step of the machine are complete.

        Chapter: :doc:`/book/gate-by-gate`.
        """
        t = self._step_ending.get(state.passes)
        if t is None:
            return [None] * len(state.x)
        return [self._reading(tokens, t) for tokens in self._tokens(state).tolist()]

    def _reading(self, tokens: Sequence[int], t: int) -> Reading:
        before, after = (
            [(cell, q) for cell, states in self.circuit.heads[k].items() for q in _ones(tokens, states)]
            for k in (t - 1, t)
        )
        if len(before) != 1 or len(after) > 1:
            raise ArithmeticError(
                f"the head is on {max(len(before), len(after))} cells at once. turing.verify finds the token where "
                f"that begins."
            )
        if not after:
            return Reading(None)
        ((was, _),), ((cell, q),) = before, after
        return Reading(q, self._symbol(tokens, t, cell), self._symbol(tokens, t, was), cell - was)

    def _symbol(self, tokens: Sequence[int], t: int, cell: int) -> str | None:
        if cell not in self.circuit.symbols[t]:
            return None  # the guard refuses it
        found = _ones(tokens, self.circuit.symbols[t][cell])
        if len(found) != 1:
            raise ArithmeticError(f"cell {cell} holds {arguments.count(len(found), 'symbol')}, and not 1.")
        return found[0]

    def kept(self, state: State) -> list[tuple[str, int]]:
        """The newest tokens that say which symbol is on the cell, one for each symbol that may be there.

        Chapter: :doc:`/book/table`.
        """
        if not state.passes:  # the bits of the word
            return [("first", bit) for bit in range(self.circuit.code)]
        t, tokens = self._step_ending[state.passes], self._tokens(state)[0].tolist()
        (cell,) = (cell for cell, states in self.circuit.heads[t].items() if _ones(tokens, states))
        return [("first", wire) for wire in self.circuit.symbols[t][cell].values() if wire >= 0]

    def guard(self, word: Sequence[str], now: Configuration, reading: Reading | None, notes: dict[str, Any]) -> None:
        """Raise if the word has more cells than there are, or if the head leaves them."""
        if reading is None:
            self.bits(word)
        else:
            self._inside(now.head + reading.move)

    def _inside(self, cell: int) -> None:
        left, cells = self.circuit.left, self.circuit.cells
        if not -left <= cell < cells - left:
            more = f"left={-cell}, cells={cells - cell - left}" if cell < 0 else f"cells={cell + left + 1}"
            raise OverflowError(
                f"the head comes to cell {cell}, and this circuit has the cells {-left} to {cells - left - 1}. Compile "
                f"with {more} or more."
            )

    def expected(
        self, machine: TuringMachine, word: Iterable[str], max_steps: int | None = None
    ) -> Iterator[Expectation]:
        """What the vectors have to be for a machine with these states and symbols: a wire that says what is on a cell
        comes from the machine's own trace, and any other is a gate of those before it.

        Chapter: :doc:`/book/gate-by-gate`.
        """
        self.same_names(machine)
        word, limit = arguments.word(word), self._limit(max_steps)
        values, ended = self.bits(word), False
        trace = machine.trace(word, limit)
        now = next(trace)
        for t in range(1, limit + 1):
            if ended or now.state in machine.halting:
                return
            following = next(trace, None)
            ended = following is None  # no rule applies: the head vanishes
            now = following or now
            with at_step(t):
                self._inside(now.head)
            says = {} if ended else {now.head: now.state}
            for wire in self._evaluated(values, t, says, now):
                yield Expectation(t, self.vectors_of(values, wire))

    def _evaluated(self, values: list[int], t: int, head: Mapping[int, str], now: Configuration) -> Iterator[Wire]:
        """The wires of a step, each as soon as its value has been added."""
        circuit, own, says = self.circuit, len(self.circuit.inputs), dict[Wire, set[int]]()
        for contents, there in ((circuit.heads[t], head.get), (circuit.symbols[t], now.cells.get)):
            for cell, content in contents.items():
                for name, wire in content.items():
                    blank = contents is circuit.symbols[t] and name == self.machine.blank
                    says.setdefault(wire, set()).add(int(there(cell) == name or (blank and there(cell) is None)))
        for wire in range(own + circuit.ends[t - 1], own + circuit.ends[t]):
            kind, a, b = circuit.gates[wire - own]
            value = KINDS[kind][2 * values[a] + values[b]]
            values.append(1 - value if 1 - value in says.get(wire, ()) else value)
            yield wire

    def about(self) -> dict[str, str]:
        """The network in a few rows, for people."""
        steps, cells = arguments.count(self.T, "step"), arguments.count(self.circuit.cells, "cell")
        return super().about() | {"network": f"{self.construction} for {steps} on {cells}"}

    _limit = Construction._limit  # of a network for a machine


def _placed(map: Readout, layouts: list[Layout], rows: Slice | None = None, columns: Slice | None = None) -> Readout:
    """A small map on some places of wider vectors, and 0 elsewhere."""
    before, after = layouts
    weight, bias = torch.zeros(after.width, before.width), torch.zeros(after.width)
    into, of = (slice(None) if part is None else part.slice for part in (rows, columns))
    weight[into, of], bias[into] = map.weight.detach(), map.bias.detach()
    made = Readout(weight, bias)
    made.layouts = layouts
    return made


def _binary(part: Slice, number: int) -> list[str]:
    """The places of a number in binary that are 1."""
    return [name for k, name in enumerate(part.names()) if number >> k & 1]


def _ones(tokens: Sequence[int], content: Content) -> list[str]:
    """What is true of a cell."""
    return [name for name, wire in content.items() if wire == ONE or (wire >= 0 and tokens[wire])]
