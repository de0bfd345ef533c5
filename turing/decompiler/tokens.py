"""Reading the transformer whose window is the tape from its bare tensors.

Only its first layer leaves a ReLU, and only its tokens have an order; every other vector may be in any basis. So it is
read from the products that go from a token to a neuron, as the newest one and as the oldest one, and from a neuron to
what is said for each token. Without factors they are small integers, which show symbol, mark, state and mode of every
token, and with these the rules.

Chapter: :doc:`/book/reading-back`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from turing.decompiler.certify import Match
from turing.decompiler.reading import Nearest, Reading, Weight, first_numbers, numbered, require
from turing.decompiler.tensors import Array, Bare, Choice, Head, Map, Refusal
from turing.decompiler.wcm21 import TINY
from turing.machine import TuringMachine
from turing.queue.tokens import NOTHING, Token, vocabulary

__all__ = ["Window", "lay", "products", "read", "shape"]

UNKNOWN = {
    "names": "names of states and symbols are not in the weights; q0, q1, … and 0, 1, … stand for them",
    "initial": "several states have a token for each symbol, as the initial one has; give first_column to read it",
    "blank": "the blank stands in the window of a run and not in the weights",
    "halting": "a halting state and a state without rules have the same weights",
    "window": "the weights are the same for windows of all sizes",
}
FAINT = 0.05  # below this a product is 0, if nothing is known of the factor of a neuron
_require = require("a window that goes round")


class Window(NamedTuple):
    """The products that do not depend on a basis: of the newest token and of the oldest one with the neurons, the bias
    of these, of the neurons with what is said for each token, and what is said without them; and by how much each
    newest token prefers which oldest one.

    Chapter: :doc:`/book/reading-back`.
    """

    newest: Array  # neurons × tokens
    oldest: Array  # neurons × tokens
    bias: Array
    said: Array  # tokens × neurons
    usual: Array
    scores: Array  # tokens × (tokens and the extra score of the oldest one)
    kappa: float | None


def shape(network: Bare) -> tuple[Head, Map, Map, Map, Map] | None:
    """The head and the four maps; None if it is another network.

    Chapter: :doc:`/book/reading-back`.
    """
    parts = network.parts
    if [type(part) for part in parts] != [Head, Map, Map, Map, Choice, Map]:
        return None
    head, first, second, unembed, _, embed = parts
    assert isinstance(head, Head)
    kinds = [part.activation for part in (first, second, unembed, embed)]  # type: ignore[union-attr]  # maps, as seen above
    if head.mask != "window" or kinds != ["relu", "none", "none", "none"]:
        return None
    return head, first, second, unembed, embed  # type: ignore[return-value]


def products(found: tuple[Head, Map, Map, Map, Map]) -> Window:
    """The products of maps that meet.

    Chapter: :doc:`/book/reading-back`.
    """
    head, first, second, unembed, embed = found
    columns = embed.weight + embed.bias[:, None]  # of each token
    fetched = head.write.weight @ (head.value.weight @ columns + head.value.bias[:, None])
    said = unembed.weight @ second.weight
    asks, keys = (part.weight @ columns + part.bias[:, None] for part in (head.query, head.key))
    return Window(
        first.weight @ columns,
        first.weight @ fetched,
        first.bias + first.weight @ head.write.bias,
        said,
        unembed.bias + unembed.weight @ second.bias,
        np.column_stack([asks.T @ keys, asks.T @ head.oldest]),
        head.kappa,
    )


def read(found: tuple[Head, Map, Map, Map, Map], first_column: Any = None) -> Reading:
    """The machine, or a refusal.

    Chapter: :doc:`/book/reading-back`.
    """
    near, window = Nearest(), products(found)
    kinds, factors = _kinds(window)
    newest, oldest = (near(part / factors[:, None]) for part in (window.newest, window.oldest))
    bias, said, usual = near(window.bias / factors), near(window.said * factors / 2), near(window.usual)
    rules, takes = kinds["rule"], kinds["symbol"]
    _require(bool((bias[rules] == -3).all() and (bias[takes] == -1).all()), "a neuron has another bias")

    # what each token is
    sizes = -usual
    _require(bool(np.isin(sizes, (0, 3, 4)).all()) and (sizes == 0).sum() == 1, "a token has another number of parts")
    marked = oldest[rules].max(axis=0) >= 2
    run = (sizes == 3) & (newest[rules].min(axis=0) >= 2)
    symbols, take, copy = _symbols(oldest[takes], said[:, takes], marked, takes)
    give, keep, modes = _others(kinds["plain"], newest, said, run, symbols)
    symbol, held, state = (_labels(said[:, rows]) for rows in (give, take, keep))
    mode = np.where(run, 1, 2 * (sizes == 4) + 3 * (sizes == 3))  # 1 run, 2 left, 3 stay
    mode[marked & (symbol >= 0)], mode[sizes == 0] = 3, 0
    modes.sort(key=lambda y: not np.array_equal(said[:, y] == 1, mode == 2))
    for y, wanted in zip(modes, (2, 3), strict=True):
        _require(np.array_equal(said[:, y] == 1, mode == wanted), "a round is not kept up as it should be")
    parts = _Parts(symbol, state, mode, marked, held)
    tokens = [tuple(map(int, each)) for each in zip(*parts, strict=True)]
    _require(len(set(tokens)) == len(tokens), "two tokens are the same")

    delta, neurons = _rules(rules, newest, oldest, said, usual, parts, len(keep))
    names, signs = [f"q{q}" for q in range(len(keep))], numbered(len(symbols))
    table = {(names[q], signs[a]): (names[t], signs[b], move) for (q, a), (t, b, move) in sorted(delta.items())}
    idle = {name for name in names if not any(pair[0] == name for pair in table)}

    def number(token: Token) -> int | None:
        if token == NOTHING:
            return int(np.flatnonzero(sizes == 0)[0])
        labels = (
            -1 if token.symbol is None else signs.index(token.symbol),
            names.index(str(token.state)),
            1 + ("run", "left", "stay").index(token.mode),
            int(token.mark),
            -1 if token.held is None else signs.index(token.held),
        )
        return tokens.index(labels) if labels in tokens else None

    # a state with which a run may begin has a token for each symbol, and then there are no tokens without a reason
    begins = {}
    for q, name in enumerate(names):
        machine = TuringMachine(table, name, idle, signs[0], alphabet=signs)
        said_by = [number(token) for token in vocabulary(machine)]
        if None not in said_by and len(said_by) == len(tokens):
            begins[q] = machine, said_by
    _require(bool(begins), "no state explains all its tokens as the initial one")
    initial = _initial(found[-1], parts, list(begins), first_column)
    unsure = first_column is None and len(begins) > 1
    machine, said_by = begins[initial]

    by_symbol = [signs.index(a) for a in machine.symbols]
    order = {
        "tokens": [place for place in said_by if place is not None],
        "neurons": [
            *(neurons[names.index(q), signs.index(a)] for q, a in machine.delta),
            *(rows[a] for rows in (give, take, copy) for a in by_symbol),
            *(keep[names.index(q)] for q in machine.states),
            *modes,
        ],
    }
    evidence = {(names[q], signs[a]): _evidence(found[1], found[2], y) for (q, a), y in neurons.items()}
    unknown = {name: text for name, text in UNKNOWN.items() if unsure or name != "initial"}
    options = {"kappa": window.kappa}
    return Reading(
        machine, "liwang25", options, near.margin, unknown, evidence, order, {"neurons": factors[order["neurons"]]}
    )


def _kinds(window: Window) -> tuple[dict[str, list[int]], Array]:
    """The neurons of rules, of symbols that are fetched, and the others; and what each is multiplied by."""
    newest, oldest, bias, said = window[:4]
    kinds: dict[str, list[int]] = {"rule": [], "symbol": [], "plain": []}
    factors = np.ones(len(bias))
    for y, value in enumerate(bias):
        largest = max(float(np.abs(part[y]).max()) for part in (newest, oldest))
        if value >= -largest / 10:
            kinds["plain"].append(y)
            if (most := said[:, y].max()) > FAINT:
                factors[y] = 2 / most
            elif largest > FAINT:
                factors[y] = largest  # what it says is in no token
            continue
        fetched = oldest[y] / -value
        rule = bool(((fetched > 1 / 6) & (fetched < 1 / 2)).any())  # a third of the bias, or all of it
        kinds["rule" if rule else "symbol"].append(y)
        factors[y] = -value / 3 if rule else -value
    _require(bool(kinds["rule"]) and bool(kinds["symbol"]), "rules, or symbols, are missing")
    return kinds, factors


def _symbols(
    oldest: Array, said: Array, marked: Array, neurons: list[int]
) -> tuple[list[frozenset[int]], list[int], list[int]]:
    """The tokens of each symbol, without a mark; the neuron that takes it in a round to the left, and the one that
    copies it while the head stays, which says it at once.
    """
    found: dict[frozenset[int], list[int]] = {}
    for n, row in enumerate(oldest):
        found.setdefault(frozenset(np.flatnonzero((row == 1) & ~marked).tolist()), []).append(n)
    take, copy = [], []
    for tokens, pair in found.items():
        _require(len(pair) == 2 and bool(tokens), "each symbol should be fetched by two neurons")
        says = [all(said[token, n] == 1 for token in tokens) for n in pair]
        _require(sum(says) == 1, "of two neurons that fetch a symbol one should say it")
        take.append(neurons[pair[says.index(False)]])
        copy.append(neurons[pair[says.index(True)]])
    return list(found), take, copy


def _others(
    plain: list[int], newest: Array, said: Array, run: Array, symbols: list[frozenset[int]]
) -> tuple[list[int], list[int], list[int]]:
    """The neurons that give a symbol, that keep a state and that keep up a round, to the left and for a stay."""
    running = frozenset(np.flatnonzero(run).tolist())
    by_symbol = {tokens & running: a for a, tokens in enumerate(symbols)}
    give, keep, modes = [-1] * len(symbols), [], []
    for y in plain:
        says = frozenset(np.flatnonzero(said[:, y] == 1).tolist()) & running
        _require(bool(np.isin(said[:, y], (0, 1)).all()), "a neuron says something else than a part of a token")
        if (newest[y, run] == -1).any() or (says == running and len(symbols) > 1):
            keep.append(y)
        elif says:
            _require(says in by_symbol and give[by_symbol[says]] < 0, "a neuron gives no symbol, or another does too")
            give[by_symbol[says]] = y
        else:
            modes.append(y)
    _require(min(give) >= 0 and len(modes) == 2 and bool(keep), "neurons are missing")
    return give, keep, modes


def _labels(said: Array) -> Array:
    """For each token the one neuron that says a part of it, or -1."""
    ones = said == 1
    _require(bool((ones.sum(axis=1) <= 1).all()), "a token has two symbols, or two states")
    return np.where(ones.any(axis=1), ones.argmax(axis=1), -1)


class _Parts(NamedTuple):
    """What each token is made of; -1 for nothing."""

    symbol: Array
    state: Array
    mode: Array  # 1 for a run, 2 for a round to the left, 3 for a stay
    marked: Array
    held: Array


def _rules(
    rules: list[int], newest: Array, oldest: Array, said: Array, usual: Array, parts: _Parts, states: int
) -> tuple[dict[tuple[int, int], tuple[int, int, int]], dict[tuple[int, int], int]]:
    """The rules, and the neuron of each."""
    delta: dict[tuple[int, int], tuple[int, int, int]] = {}
    neurons: dict[tuple[int, int], int] = {}
    unseen = [q for q in range(states) if q not in parts.state]
    for y in rules:
        fetched = oldest[y] - 2 * parts.marked
        symbols = set(parts.symbol[fetched == 1].tolist())
        _require(
            len(symbols) == 1 and np.array_equal(fetched, parts.symbol == min(symbols)), "a rule reads two symbols"
        )
        a = symbols.pop()
        asked = newest[y] - (parts.held == a) - 2 * (parts.mode == 1)
        found = set(parts.state[asked == 1].tolist())
        if not found and len(unseen) != 1:
            raise Refusal(
                f"A rule is for a state that no token has, and {len(unseen)} states are such: which one is not in what "
                f"the network makes of its tokens."
            )
        q = found.pop() if found else unseen[0]
        _require(not found and np.array_equal(asked, parts.state == q), "a rule reads two states")
        score = 2 * said[:, y] + usual
        target = int(score.argmax())
        _require(score[target] == -usual[target] > 0 and (score == score[target]).sum() == 1, "a rule says no token")
        mode, marked = int(parts.mode[target]), bool(parts.marked[target])
        _require(marked == (mode != 1), "a rule begins in the middle of a round")
        written = (parts.held if mode == 2 else parts.symbol)[target]
        _require((q, a) not in delta, "two rules are for the same state and the same symbol")
        delta[q, a] = int(parts.state[target]), int(written), {1: 1, 2: -1, 3: 0}[mode]
        neurons[q, a] = y
    return delta, neurons


def _initial(embed: Map, parts: _Parts, begins: list[int], first_column: Any) -> int:
    """The initial state, of those with which a run may begin: that of the first column, or the first one."""
    if first_column is None:
        return begins[0]
    columns = embed.weight + embed.bias[:, None]
    column = first_numbers(first_column, len(columns))
    apart = np.abs(columns - column[:, None]).max(axis=0)
    token = int(apart.argmin())
    if apart[token] > 0.25 * np.abs(columns).max() or parts.state[token] not in begins or parts.mode[token] != 1:
        raise Refusal("The first column is not that of a token with which a run can begin.")
    return int(parts.state[token])


def _evidence(first: Map, second: Map, y: int) -> list[Weight]:
    """What the neuron of a rule reads and writes."""
    reads, writes = first.weight[y], second.weight[:, y]
    found = [Weight(1, y, j, float(value)) for j, value in enumerate(reads) if abs(value) > TINY * np.abs(reads).max()]
    return found + [
        Weight(2, i, y, float(value)) for i, value in enumerate(writes) if abs(value) > TINY * np.abs(writes).max()
    ]


def lay(given: Window, compiled: Window, order: Mapping[str, Any], factors: Array) -> Match:
    """The products of a compiled network laid over those of the given one.

    Chapter: :doc:`/book/reading-back`.
    """
    if [np.shape(part) for part in given[:6]] != [np.shape(part) for part in compiled[:6]]:
        return Match(np.inf)
    if given.kappa != compiled.kappa:
        return Match(np.inf)
    neurons, tokens = order["neurons"], order["tokens"]
    ours = (
        (given.newest[np.ix_(neurons, tokens)] / factors[:, None], compiled.newest),
        (given.oldest[np.ix_(neurons, tokens)] / factors[:, None], compiled.oldest),
        (given.bias[neurons] / factors, compiled.bias),
        (given.said[np.ix_(tokens, neurons)] * factors, compiled.said),
        (given.usual[tokens], compiled.usual),
        (given.scores[np.ix_(tokens, [*tokens, len(tokens)])], compiled.scores),
    )
    return Match(max(float((np.abs(a - b) / np.maximum(1, np.abs(b))).max(initial=0)) for a, b in ours))
