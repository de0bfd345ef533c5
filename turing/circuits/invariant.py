"""What is proved of the transformer that runs a machine gate by gate: every token is the value of its gate.

The invariant: token i is an input of the tableau or the value of a gate, and its column is the embedding of that bit
with row i of the table of positions. So a column is one of two, and the obligations are about each gate and all bits:
each of the two heads finds the token whose number the gate reads, and the layer computes the gate.

Chapter: :doc:`/book/all-words`.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from turing import ir
from turing.circuits.circuit import KINDS
from turing.circuits.tableau import Tableau
from turing.machine import TuringMachine
from turing.proof import Checked, Failed, Invariant, Uncovered, Undecided, state_invariant
from turing.proof.enumeration import added, dots, first_word, precision_of, through
from turing.proof.wcm21 import hard

__all__ = ["every_gate"]

MAX_TOKENS = 12_000
BLOCK = 64  # gates at a time
BITS = (0, 1)


def every_gate(network: ir.Network, machine: TuringMachine) -> Checked:
    """Check that every gate of the tableau gets its inputs and is right, for all words.

    Chapter: :doc:`/book/all-words`.
    """
    if machine != network.machine:
        raise Uncovered("the tableau is that of the machine that was compiled, and another machine was given")
    names = [module.name for module in network.modules]
    if names != ["first", "second", "gate", "unembed", "choose", "embed"]:
        raise Uncovered("the modules are not first, second, gate, unembed, choose and embed")
    return _Gates(network, machine).check()


class _Gates:
    def __init__(self, network: ir.Network, machine: TuringMachine):
        options, self.precision = network.options, precision_of(network)
        self.tableau = Tableau(machine, options["T"], options["cells"], options["left"])
        self.inputs, self.count = len(self.tableau.inputs), self.tableau.tokens
        parts: dict[str, Any] = {module.name: module.parts for module in network.modules}
        self.heads = [parts["first"][0], parts["second"][0]]
        for head in self.heads:
            kind = head.kind, getattr(head, "score", ""), getattr(head, "mask", ""), getattr(head, "average", "")
            if kind != ("attention", "dot", "prefix", "ratio") or head.null_key is not None:
                raise Uncovered(f"{head.name} is not a look-up among all tokens before it, with average='ratio'")
        if parts["choose"][0].kind != "argmax":
            raise Uncovered("choose is not the place of the greatest number")
        self.gate, self.unembed, self.embed = parts["gate"], parts["unembed"], parts["embed"]
        self.layout, table, loop = network.modules[0].inputs, network.table, network.loop
        if table is None or loop is None or tuple(table.values.shape) != (self.count, self.layout.width):
            raise Uncovered("the table of positions has another size than the tableau")
        if (loop.add, loop.first) != ((), self.inputs - 1):
            raise Uncovered("the loop around the network is another one")
        if self.count > MAX_TOKENS:
            raise Undecided(f"{self.count:,} tokens are too many to be tried")
        self.positions = table.values.double().numpy()

    def check(self) -> Checked:
        precision, gates = self.precision, self.tableau.gates
        embedded = through(self.embed, np.eye(2), precision)  # what the greatest of two logits becomes
        columns = np.stack(
            [added(self.positions, embedded[bit][None], precision, "embed, a column,") for bit in BITS], 1
        )
        self._read(columns)  # (token, its bit, place)
        wires = np.arange(self.inputs, self.count)
        first, second = (np.array([gate[k] for gate in gates]) for k in (1, 2))
        margins = {"first: above the others": self._found(0, columns[wires - 1], columns, first)}
        found = [self._fetched(0, columns[:, bit])[first] for bit in BITS]
        asking = columns[wires - 1]
        halfway = np.stack(  # (gate, bit of the token before it, bit of its first input, place)
            [added(asking, each[:, None], precision, "first, what is added,") for each in found], axis=2
        )
        seen = np.repeat(columns[:, :, None], 2, axis=2)  # what the second head looks at: with what the first one found
        seen[wires - 1] = halfway
        seen = seen.reshape(self.count, 4, -1)  # for bit b of a token, those at 2b and 2b + 1
        asking = halfway.reshape(len(gates), 4, -1)
        margins["second: above the others"] = self._found(1, asking, seen, second)
        self._compute(halfway, [self._fetched(1, seen[:, k])[second] for k in range(4)])
        return Checked(self.tableau.T, self.tableau.cells, None, margins)

    def _fetched(self, head: int, columns: np.ndarray) -> np.ndarray:
        return through([self.heads[head].value, self.heads[head].write], columns, self.precision)

    def _read(self, columns: np.ndarray) -> None:
        """A run reads the newest token off its column, and the others off what the first head fetches of them."""
        one = self.layout.tok["1"]
        for bit in BITS:
            values = through([self.heads[0].value], columns[:, bit], self.precision)[:, 0]
            wrong = np.flatnonzero((values != bit) | (columns[:, bit, one] != bit))
            if len(wrong):
                raise Failed(
                    "embed: what is read off a column is another bit", {"token": str(int(wrong[0])), "bit": f"{bit}"}
                )

    def _found(self, n: int, asking: np.ndarray, columns: np.ndarray, wanted: np.ndarray) -> float:
        """By how much the token that a gate reads outscores all others before the gate, at least."""
        head, (count, variants, width), least = self.heads[n], columns.shape, np.inf
        queries = through([head.query], asking.reshape(-1, width), self.precision)
        keys = through([head.key], columns.reshape(-1, width), self.precision)
        queries = queries.reshape(len(wanted), -1, queries.shape[1])
        for at in range(0, len(wanted), BLOCK):
            part, targets = queries[at : at + BLOCK], wanted[at : at + BLOCK]
            scores = dots(part.reshape(-1, part.shape[2]), keys, self.precision, head.name)
            scores = scores.reshape(len(part), part.shape[1], count, variants)
            every = np.arange(len(part))
            best = scores[every, :, targets].min(axis=2)  # (gate, what asks)
            late = np.arange(count)[None] > (self.inputs - 1 + at + every)[:, None]  # tokens that are not there yet
            late[every, targets] = True
            others = np.where(late[:, None, :, None], -np.inf, scores).max(axis=(2, 3))
            gap = (best - others).min(axis=1)
            least = min(least, float(gap.min()))
            if least <= 0:
                gate = int(gap.argmin())
                raise Failed(
                    f"{_name(head)}: another token scores {0.0 - gap[gate]:g} above the one that the gate reads",
                    {"gate": self._shown(at + gate), "it reads token": str(int(targets[gate]))},
                )
        hard(head, _name(head), least)
        return least

    def _shown(self, gate: int) -> str:
        return f"{self.inputs + gate}, {self.tableau.gates[gate].kind}"

    def _compute(self, halfway: np.ndarray, fetched: list[np.ndarray]) -> None:
        """The gate itself, on all bits that the tokens which it depends on can have together."""
        gates = self.tableau.gates
        before = np.arange(self.inputs - 1, self.count - 1)
        first, second = (np.array([gate[k] for gate in gates]) for k in (1, 2))
        for b, a, c, k in product(BITS, repeat=4):
            together = ~(
                ((first == before) & (a != b)) | ((second == before) & (c != b)) | ((first == second) & (a != c))
            )
            some = np.flatnonzero(together)
            if not len(some):
                continue
            x = added(halfway[some, b, a], fetched[2 * c + k][some], self.precision, "second, what is added,")
            logits = through([*self.gate, *self.unembed], x, self.precision)
            wanted = np.array([KINDS[gates[gate].kind][2 * a + c] for gate in some])
            every = np.arange(len(some))
            wrong = np.flatnonzero(~(logits[every, wanted] > logits[every, 1 - wanted]))
            if len(wrong):
                gate = int(some[wrong[0]])
                where = {"gate": self._shown(gate), "its inputs": f"{a} {c}"}
                raise Failed(
                    f"the next token: {1 - int(wanted[wrong[0]])} scores as much as {int(wanted[wrong[0]])}", where
                )


def _name(head: Any) -> str:
    return str(head.name).split(".")[-1]


def trusted(network: Any, machine: TuringMachine) -> None:
    """Raise unless the first columns are what the invariant says, on a word for each symbol."""
    if machine != network.machine:
        return  # not covered anyway
    options = network.options
    tableau = Tableau(machine, options["T"], options["cells"], options["left"])
    embed, table = network.pipeline["embed"], network.positions
    for word in [(), *((a,) for a in machine.symbols)]:
        bits = tableau.word(word)
        wanted = embed(network._like.new_tensor([[1.0 - bit, bit] for bit in bits])) + table[: len(bits)]
        if network.circuit.gates != tableau.gates or not network.prompt(word).equal(wanted):
            raise Uncovered("the first columns are not what the invariant says")


state_invariant(
    "li24",
    Invariant(
        statement=(
            "Token i is an input of the tableau or the value of its gate, and its column is the embedding of that bit "
            "with row i of the table of positions"
        ),
        check=every_gate,
        trusted=trusted,
        search=lambda network, machine, start: first_word(network, machine, steps=min(network.T, 40)),
        assumes=(
            "That the tableau of T steps simulates the machine is proved on paper; so is the induction over the gates.",
            "The first columns were compared on a word for each symbol; that they are right for all words, and so are "
            "the loop and what is read off the tokens, is trusted.",
            "torch adds and multiplies these floats as IEEE 754 says wherever the result needs no rounding, and exp "
            "rounds to 0 wherever it does at the exponents that were tried, and below them.",
            "Runs are with engine='torch'; a run whose head leaves the cells is over.",
        ),
    ),
)
