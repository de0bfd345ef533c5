"""What is proved of the transformer whose window is the tape: every token follows from the newest one and the oldest.

The invariant: each column of the window is the embedding of a token. While the machine runs, no token is marked; in a
round one is, the one that began it. So a pass can only meet the pairs that :func:`met` lists, whatever the word and
however wide the window: on each of them the head has to find the oldest token, and the rest to say the token that
:func:`turing.queue.step` says.

Chapter: :doc:`/book/all-words`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from turing import ir
from turing.assembly import labelled
from turing.machine import TuringMachine
from turing.proof import Checked, Failed, Invariant, Uncovered, Undecided, state_invariant
from turing.proof.enumeration import added, dots, first_word, precision_of, through
from turing.proof.wcm21 import hard
from turing.queue.tokens import NOTHING, Token, step, vocabulary

__all__ = ["met", "one_token"]

MAX_PAIRS = 200_000


def met(machine: TuringMachine, tokens: list[Token]) -> Iterator[tuple[int, int]]:
    """The numbers of the newest and the oldest token that a pass may have, in any window.

    Chapter: :doc:`/book/all-words`.
    """
    plain = [o for o, old in enumerate(tokens) if old != NOTHING and not old.mark and old.symbol is not None]
    marked = [o for o, old in enumerate(tokens) if old.mark]
    for n, new in enumerate(tokens):
        over = new.state in machine.halting
        if new == NOTHING or (new.mode == "run" and over):
            continue
        yield from ((n, o) for o in plain)
        if new.mode != "run" and not over:  # the token that began the round comes round
            yield from ((n, o) for o in marked if (tokens[o].mode, tokens[o].state) == (new.mode, new.state))


def one_token(network: ir.Network, machine: TuringMachine) -> Checked:
    """Check that every pass says the token that should follow, for all windows.

    Chapter: :doc:`/book/all-words`.
    """
    if machine != network.machine:
        raise Uncovered("the tokens are those of the machine that was compiled, and another machine was given")
    names = [(module.name, module.kind) for module in network.modules]
    kinds = {"oldest": "attention", "transition": "linear", "unembed": "linear", "argmax": "argmax", "embed": "linear"}
    if names != list(kinds.items()):
        raise Uncovered(f"the modules are not {', '.join(kinds)}")
    return _Pass(network, machine).check()


class _Pass:
    def __init__(self, network: ir.Network, machine: TuringMachine):
        self.machine, self.tokens, self.precision = machine, vocabulary(machine), precision_of(network)
        parts: dict[str, Any] = {module.name: module.parts for module in network.modules}
        self.transition, self.unembed, self.embed = parts["transition"], parts["unembed"], parts["embed"]
        (self.head,) = parts["oldest"]
        head = self.head
        if (head.score, head.mask, head.average) != ("dot", "window", "ratio") or head.null_key is not None:
            raise Uncovered("oldest is not a look-up in the window with average='ratio'")
        self.layout = network.modules[0].inputs
        if len(self.embed[0].inputs.tok) != len(self.tokens):
            raise Uncovered("the vocabulary is not that of the machine")

    def check(self) -> Checked:
        precision, head = self.precision, self.head
        columns = through(self.embed, np.eye(len(self.tokens)), precision)
        values = through([head.value], columns, precision)
        self._read(columns, values)
        margin = self._found(columns)
        hard(head, "oldest", margin)
        fetched = through([head.write], values, precision)
        pairs = np.array(list(met(self.machine, self.tokens)))
        kept: dict[Any, tuple[int, int]] = {}  # tokens that look the same from the head, and lead to the same token
        for n, o in pairs.tolist():
            wanted = step(self.machine, self.tokens[n], self.tokens[o])
            kept.setdefault((n, fetched[o].tobytes(), wanted), (n, o))
        if len(kept) > MAX_PAIRS:
            raise Undecided(f"{len(kept):,} pairs of tokens are too many to be tried")
        number = {token: k for k, token in enumerate(self.tokens)}
        rows = list(kept.values())
        for at in range(0, len(rows), 4096):
            self._say(columns, fetched, rows[at : at + 4096], number)
        return Checked(None, None, None, {"oldest: above the others": margin})

    def _read(self, columns: np.ndarray, values: np.ndarray) -> None:
        """What is read off a column, and off what the head fetches of it, is the token."""
        seen, layout = self.head.value.outputs, self.layout
        for token, column, value in zip(self.tokens, columns, values, strict=True):
            try:
                found = labelled(layout.sym1, column), labelled(layout.st, column), labelled(layout.sym2, column)
                mode, symbol = labelled(layout.mode, column), labelled(seen.sym1, value)
            except ArithmeticError:
                found = mode = symbol = None  # type: ignore[assignment]  # nothing that can be read
            good = found == (token.symbol, token.state, token.held) and (mode == token.mode or token == NOTHING)
            mark = value[seen.mark[0]]
            if not good or symbol != token.symbol or not abs(mark - token.mark) <= 1 / 4:
                raise Failed("embed: what is read off the column is another token", {"token": str(token)})

    def _found(self, columns: np.ndarray) -> float:
        """By how much the oldest token outscores all others, at least."""
        precision, head = self.precision, self.head
        usual = [n for n, token in enumerate(self.tokens) if token != NOTHING]
        queries, keys = (through([part], columns[usual], precision) for part in (head.query, head.key))
        extra = np.array(list(map(float, head.oldest.vector)))
        first = added(keys, np.broadcast_to(extra, keys.shape), precision, "oldest, a key,")
        found = dots(queries, first, precision, "oldest").min(axis=1)
        others = dots(queries, keys, precision, "oldest").max(axis=1)
        margin = float((found - others).min())
        if margin <= 0:
            n = int((found - others).argmin())
            raise Failed(
                f"oldest: another token scores {0.0 - margin:g} above it", {"newest": str(self.tokens[usual[n]])}
            )
        return margin

    def _say(
        self, columns: np.ndarray, fetched: np.ndarray, pairs: list[tuple[int, int]], number: dict[Token, int]
    ) -> None:
        newest, oldest = (list(each) for each in zip(*pairs, strict=True))
        x = added(columns[newest], fetched[oldest], self.precision, "oldest, what is added,")
        said = through(self.transition, x, self.precision)
        wanted = np.array([number[step(self.machine, self.tokens[n], self.tokens[o])] for n, o in pairs])
        _, rows = np.unique(np.column_stack([wanted, said]), axis=0, return_index=True)
        logits = through(self.unembed, said[rows], self.precision)
        every, targets = np.arange(len(rows)), wanted[rows]
        right, logits[every, targets] = logits[every, targets], -np.inf
        for k in np.flatnonzero(~(right > logits.max(axis=1))).tolist():
            n, o = pairs[int(rows[k])]
            found, meant = self.tokens[int(logits[k].argmax())], self.tokens[int(targets[k])]
            where = {"newest": str(self.tokens[n]), "oldest": str(self.tokens[o])}
            raise Failed(f"the next token: {found} scores as much as {meant} or more", where)


def trusted(network: Any, machine: TuringMachine) -> None:
    """Raise unless the window of a word is made of the tokens that the invariant says."""
    if machine != network.machine:
        return  # not covered anyway
    tokens = network.tokens
    for word in [(), *((a,) for a in machine.symbols), machine.symbols]:
        window = [*word, *[machine.blank] * 2]
        wanted = [network.vocabulary[tokens.index(Token(a, machine.initial))] for a in window]
        if tokens != vocabulary(machine) or network.prompt(word) != wanted:
            raise Uncovered("the first window is not what the invariant says")


state_invariant(
    "liwang25",
    Invariant(
        statement=(
            "Each column of the window is the embedding of a token; while the machine runs none of them is marked, and "
            "in a round the one that began it"
        ),
        check=one_token,
        trusted=trusted,
        search=lambda network, machine, start: first_word(network, machine),
        assumes=(
            "That the tokens of turing.queue.step simulate the machine, in any window that is wide enough, is proved "
            "on paper; so is the induction over the passes.",
            "The first window was compared on a word for each symbol; that it is right for all words, and so are the "
            "loop, the mask of the window and what is read off a token, is trusted.",
            "torch adds and multiplies these floats as IEEE 754 says wherever the result needs no rounding, and exp "
            "rounds to 0 wherever it does at the exponents that were tried, and below them.",
            "Runs are with engine='torch'; a run that needs more cells than its window has is over.",
        ),
    ),
)
