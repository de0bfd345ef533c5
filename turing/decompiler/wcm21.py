"""Reading a WCM21 transformer, with either adder, from its bare tensors.

Only what leaves a ReLU has coordinates. Elsewhere the products of maps that meet are used: they are the same in every
basis, and sparse again.

Chapter: :doc:`/book/reading-back`.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

import numpy as np

from turing.decompiler.reading import Weight
from turing.decompiler.tensors import Array, Bare, Head, Map, Refusal

__all__ = ["Shape", "Table", "products", "read", "shape"]

TINY = 1e-9  # of the largest number: what rounding leaves of a 0
FEW = 12  # numbers that may stand out by chance
GAP = 10  # between the numbers of a sparse matrix and its noise
CLEAR = 1.5  # by which factor a number that counts exceeds one that does not


class Shape(NamedTuple):
    """What the tensors' shapes and wiring say: the numbers of states, symbols and position bits, and the adder.

    Chapter: :doc:`/book/reading-back`.
    """

    states: int
    symbols: int
    bits: int
    adder: str
    before: tuple[Map, ...]
    heads: tuple[Head, ...]
    after: tuple[Map, ...]


@dataclass
class Table:
    """What was read: rules by numbers of states and symbols, the blank, how clear it was, and where each rule stands.

    Chapter: :doc:`/book/reading-back`.
    """

    shape: Shape
    rules: dict[tuple[int, int], tuple[int, int, int]]
    blank: int
    detectors: dict[tuple[int, int], int]
    margin: float
    evidence: dict[tuple[int, int], list[Weight]] = field(default_factory=dict)


def shape(network: Bare) -> Shape | None:
    """The sizes of a WCM21 transformer, from the number and the shapes of its tensors; None if it is another network.

    Chapter: :doc:`/book/reading-back`.
    """
    parts = network.parts
    places = [number for number, part in enumerate(parts) if isinstance(part, Head)]
    if not places or places != list(range(places[0], places[-1] + 1)):
        return None
    before, after = parts[: places[0]], parts[places[-1] + 1 :]
    heads = [part for part in parts if isinstance(part, Head)]
    if not all(isinstance(part, Map) for part in (*before, *after)) or len(heads) < 4:
        return None
    masks, bits = [head.mask for head in heads], len(heads) - 3
    symbols = len(heads[-1].value.weight)
    kinds = [[part.activation for part in side] for side in (before, after)]  # type: ignore[union-attr]  # maps, as seen above
    adders = {
        "lookahead": [["relu", "relu", "none"], ["relu", "none"]],
        "ripple": [["relu"] * (8 * bits + 4), ["relu"] * 3],
    }
    adder = next((name for name, wanted in adders.items() if wanted == kinds), None)
    if adder is None or masks != ["causal"] * (bits + 2) + ["cross"]:
        return None
    width = before[0].weight.shape[1]  # type: ignore[union-attr]
    states = width - 4 * symbols - 4 * bits - 5
    pairs, wide = states * symbols, width + bits
    if adder == "lookahead":
        widths = [pairs + 2 * bits, states + symbols + 2 + 6 * bits, width]
        rest = [states + 3 * symbols + bits + 3, width]
    else:
        widths = [width + pairs, width, *[wide] * (8 * bits + 1), width]
        rest = [width] * 3
    compared = [bits, *(2 * bits - j for j in reversed(range(bits))), bits, bits]
    fits = (
        states > 0
        and [len(part.weight) for part in (*before, *after)] == widths + rest  # type: ignore[union-attr]
        and [len(head.query.weight) for head in heads] == [n + 1 for n in compared]
        and [len(head.value.weight) for head in heads] == [1] * (bits + 1) + [symbols] * 2
    )
    return Shape(states, symbols, bits, adder, before, tuple(heads), after) if fits else None  # type: ignore[arg-type]


def cut(matrix: Array, count: int) -> Array:
    """The matrix without its noise, if it has about ``count`` numbers that stand out; else the matrix itself."""
    sizes = np.sort(np.abs(matrix), axis=None)[::-1]
    if not 0 < count < len(sizes) or sizes[0] == 0:
        return matrix
    usual, few = np.median(sizes[:count]), count // 20
    between = int(((sizes > usual / 4) & (sizes < usual * 3 / 4)).sum())
    if abs(int((sizes > usual / 2).sum()) - count) <= few and between <= few:
        return np.where(np.abs(matrix) > usual / 2, matrix, 0)
    if sizes[count - 1] > GAP * sizes[count]:
        return np.where(np.abs(matrix) >= sizes[count - 1], matrix, 0)
    kept = significant(matrix)
    return kept if count >= FEW and 0.6 * count <= np.count_nonzero(kept) <= 1.1 * count else matrix


def significant(matrix: Array) -> Array:
    """A sparse matrix without its noise, whose size the median tells: most of its numbers should be 0."""
    noise = np.median(np.abs(matrix)) / 0.6745
    return np.where(np.abs(matrix) > max(5 * noise, TINY * np.abs(matrix).max()), matrix, 0)


class Wiring(NamedTuple):
    """The products that do not depend on the basis: from the symbols that are found to the detectors, and from what a
    rule says to what is found.

    Chapter: :doc:`/book/reading-back`.
    """

    detect: Array  # (detectors and what is kept) × (what is chosen)
    bias: Array
    rule: Array  # the matrix that holds δ
    state: Array  # (what is chosen) × (what a rule says)
    symbol: Array  # the same by way of the head that fetches the last write


def products(found: Shape) -> Wiring:
    """The products of maps that meet.

    Chapter: :doc:`/book/reading-back`.
    """
    states, symbols, bits = found[:3]
    pairs, width = states * symbols, found.before[0].weight.shape[1]
    last = found.heads[-2]
    detect, rule, *path = (part.weight for part in found.before)
    *choose, assemble = (part.weight for part in found.after)
    write, value = last.write.weight, last.value.weight
    if found.adder == "ripple" or cut(path[0], states + symbols + 2 + 7 * bits) is not path[0]:
        write, value = significant(write), significant(value)  # the heads' vector has coordinates: most numbers are 0
    if found.adder == "lookahead":
        detect = cut(detect, 2 * pairs + 2 * bits)
        assemble = cut(assemble, states + 3 * symbols + bits + 3)
        move = cut(path[0], states + symbols + 2 + 7 * bits)
        choice = cut(choose[0], states + 6 * symbols + bits + 3)
        meets = cut(detect @ assemble, 3 * pairs + states + bits)
        state = cut(choice @ move, states + symbols + 2 + 5 * bits)
        symbol = cut(choice @ write @ (value @ move), symbols)
        return Wiring(meets, found.before[0].bias, rule, state, symbol)
    detect = cut(detect, width + 2 * pairs)
    assemble = cut(assemble, width - 2 * bits + symbols + 1 + bits)
    arrange, flags = cut(choose[1], width + 2 * symbols), cut(choose[0], width + 2 * symbols)
    through = np.eye(width)
    for matrix in (path[0], *path[1:-1], path[-1]):
        through = _followed(matrix) @ through
    chosen = arrange @ flags
    meets = cut(write @ value, symbols)
    return Wiring(detect @ assemble, found.before[0].bias, rule, chosen @ through, chosen @ meets @ through)


def _followed(matrix: Array) -> Array:
    """Of each row the largest number: the way that a place which is kept has come."""
    kept = np.zeros_like(matrix)
    rows, best = np.arange(len(matrix)), np.abs(matrix).argmax(axis=1)
    kept[rows, best] = matrix[rows, best]
    usual = np.abs(kept[rows, best])
    if ((usual > 0.6) & (usual < 1.6)).all():  # no factors: the numbers of a place that is kept are 1
        kept[rows, best] = np.sign(kept[rows, best])
    return kept


def read(found: Shape) -> Table:
    """The table of rules, or a refusal.

    Chapter: :doc:`/book/reading-back`.
    """
    states, symbols = found[:2]
    wiring = products(found)
    margins: list[float] = []
    fires, alpha = _detectors(wiring.bias, states * symbols, margins)
    seen = wiring.detect[fires] / alpha[:, None]
    state_lines, symbol_lines, blank = _lines(seen, states, symbols, margins)
    grid: dict[tuple[int, int], int] = {}
    for (q, (one, _)), (a, (two, _)) in product(enumerate(state_lines), enumerate(symbol_lines)):
        if len(both := one & two) == 1:
            grid[q, a] = min(both)
    if len(grid) != states * symbols:
        raise Refusal("Two detectors lie on the same two lines, so they have the same state and the same symbol.")

    fired = wiring.rule[:, fires] * alpha  # what a detector that fires adds to what the rule says
    states_from = [(j, *_back(wiring.state, j, f"state {q}")) for q, (_, (j,)) in enumerate(state_lines)]
    symbols_from = []
    for a, (line, columns) in enumerate(symbol_lines):  # of its places, the one where the last write comes
        strength = [np.abs(wiring.symbol[j]).max() * seen[list(line), j].mean() for j in columns]
        written_to = columns[int(np.argmax(strength))]
        symbols_from.append((written_to, *_back(wiring.symbol, written_to, f"symbol {a}")))

    def round_trip(lines: list[Line], come_from: list[tuple[int, int, float]]) -> Array:
        """Once round the loop: 1 where a detector that fires makes those on a line fire next, and else 0."""
        gains = [seen[list(line), j].mean() * gain for (line, _), (j, _, gain) in zip(lines, come_from, strict=True)]
        return np.array([gain * fired[u] for gain, (_, u, _) in zip(gains, come_from, strict=True)])

    leads, writes = round_trip(state_lines, states_from), round_trip(symbol_lines, symbols_from)
    taken = {u for _, u, _ in states_from + symbols_from}
    if len(taken) != states + symbols:
        raise Refusal("Two states, or two symbols, come from the same neuron.")
    rules_of = {d: (_chosen(leads[:, d], margins), _chosen(writes[:, d], margins)) for d in range(len(fires))}
    for (q, a), d in grid.items():
        if (rules_of[d][0] is None) != (rules_of[d][1] is None):
            raise Refusal(f"The detector of pair ({q}, {a}) has a next state or a symbol to write, and not both.")
    with_rule = [d for d, (target, _) in rules_of.items() if target is not None]
    reader = _moves_of_lookahead if found.adder == "lookahead" else _moves_of_ripple
    right, left = reader(found, fires, alpha, taken, margins)
    if not (right.support | left.support) <= set(with_rule):
        raise Refusal("The head moves for a pair of a state and a symbol that has no rule.")
    table = Table(found, {}, blank, {pair: int(fires[d]) for pair, d in grid.items()}, min([1.0, *margins]))
    for (q, a), d in sorted(grid.items()):
        target, written = rules_of[d]
        if target is None or written is None:
            continue
        move = int(d in right.support) - int(d in left.support)
        table.rules[q, a] = target, written, move
        rows = [states_from[target][1], symbols_from[written][1]]
        rows += [u for group, sign in ((right, 1), (left, -1)) if sign == move for u in group.rows]
        table.evidence[q, a] = [Weight(1, u, int(fires[d]), float(wiring.rule[u, fires[d]])) for u in rows]
    return table


def _detectors(bias: Array, pairs: int, margins: list[float]) -> tuple[Array, Array]:
    """The neurons with a negative bias, as many as there are pairs, and what each is worth when it fires."""
    order = np.argsort(bias)
    fires, rest = np.sort(order[:pairs]), bias[order[pairs:]]
    alpha = -bias[fires]
    noise = np.abs(rest).max(initial=0)
    if alpha.min() <= CLEAR * noise:
        raise Refusal(
            f"{pairs} neurons of the first layer should have a bias that is clearly negative, for the pairs of a state "
            f"and a symbol. One of these biases is only {-alpha.min():.3g}, and other neurons have up to {noise:.3g}."
        )
    margins.append(1 - noise / alpha.min())
    return fires, alpha


Line = tuple[frozenset[int], list[int]]


def _lines(seen: Array, states: int, symbols: int, margins: list[float]) -> tuple[list[Line], list[Line], int]:
    """States and symbols as sets of detectors that are fed alike. A state feeds them from one place, a symbol from two:
    what was written last, and the word; and the blank from a third.
    """
    pairs, floor = states * symbols, max(TINY * np.abs(seen).max(), np.finfo(float).tiny)
    found = []
    for j, column in enumerate(seen.T):
        order = np.argsort(-column)
        for size in {states, symbols}:
            inside, outside = column[order[:size]], np.abs(column[order[size:]])
            noise = max(outside.max(initial=0), floor)
            even = inside.min() / inside.max() if inside.max() > floor else 0
            found.append((inside.min() / noise if size < pairs else even / TINY * (even > 0.5), j, size, order[:size]))
    best: dict[int, tuple[float, int, frozenset[int]]] = {}
    for ratio, j, size, order in found:
        if j not in best or ratio > best[j][0]:
            best[j] = (ratio, size, frozenset(order.tolist()))
    wanted = states + 2 * symbols + 1
    ranked = sorted(best, key=lambda j: -best[j][0])[:wanted]
    least = min(best[j][0] for j in ranked)
    if len(ranked) < wanted or least < CLEAR:
        raise Refusal("Too much noise: the places that feed the detectors cannot be told from those that do not.")
    margins.append(1 - 1 / least)
    groups: dict[frozenset[int], list[int]] = defaultdict(list)
    for j in sorted(ranked):
        groups[best[j][2]].append(j)
    state_lines = [(line, columns) for line, columns in groups.items() if len(columns) == 1 and len(line) == symbols]
    symbol_lines = [(line, columns) for line, columns in groups.items() if len(columns) > 1 and len(line) == states]
    state_lines.sort(key=lambda line: min(line[0]))  # in the order of the detectors
    symbol_lines.sort(key=lambda line: min(line[0]))
    blanks = [k for k, (_, columns) in enumerate(symbol_lines) if len(columns) == 3]
    for name, lines, number in (("states", state_lines, states), ("symbols", symbol_lines, symbols)):
        covered = sum(len(line) for line, _ in lines)
        if len(lines) != number or covered != pairs or len(frozenset().union(*(line for line, _ in lines))) != pairs:
            raise Refusal(
                f"The detectors do not fall into {number} {name}: {len(lines)} lines cover {covered} of {pairs}."
            )
    if len(blanks) != 1:
        raise Refusal(f"One symbol should be the blank, which is read from a third place; {len(blanks)} are.")
    return state_lines, symbol_lines, blanks[0]


def _back(matrix: Array, row: int, what: str) -> tuple[int, float]:
    """Where the number of a place comes from: the one place, and the factor."""
    sizes = np.abs(matrix[row])
    order = np.argsort(-sizes)
    best, second = sizes[order[0]], sizes[order[1]] if len(order) > 1 else 0.0
    if best == 0 or best < CLEAR * second or matrix[row, order[0]] < 0:
        raise Refusal(f"Nothing leads clearly to {what}: the largest factors are {best:.3g} and {second:.3g}.")
    return int(order[0]), float(matrix[row, order[0]])


def _chosen(values: Array, margins: list[float]) -> int | None:
    """The one value that is 1 where the others are 0, or none."""
    order = np.argsort(-values)
    best = int(order[0])
    ones, others = values[best], max(np.abs(values[order[1:]]).max(initial=0), 0)
    if ones > 0.5:
        if others > 0.5:
            raise Refusal("A rule leads to two states, or writes two symbols.")
        margins.append(min(1, 2 * ones - 1, 1 - 2 * others, max(0.0, 3 - ones)))
        return best
    margins.append(1 - 2 * np.abs(values).max())
    if margins[-1] < 0:
        raise Refusal("A detector takes away from what the rule says, where it should add or do nothing.")
    return None


class Group(NamedTuple):
    """Rows that fire with the same detectors."""

    support: frozenset[int]
    rows: list[int]
    scale: list[float]


NOBODY = Group(frozenset(), [], [])


def _moves_of_lookahead(
    found: Shape, fires: Array, alpha: Array, taken: set[int], margins: list[float]
) -> tuple[Group, Group]:
    """The rows of carries fire with the rules that move right, and those of borrows with those that move left."""
    bits, bias, whole = found.bits, found.before[1].bias, 2 * found.bits + 1
    fired = significant(found.before[1].weight)[:, fires] * alpha
    left_over = [u for u in range(len(fired)) if u not in taken and fired[u].any()]
    groups: list[Group] = []
    while left_over:
        supports = [frozenset(np.nonzero(fired[u])[0].tolist()) for u in left_over]
        common = max(supports, key=lambda s: (supports.count(s), len(s)))
        members = [u for u, s in zip(left_over, supports, strict=True) if len(s & common) > len(s ^ common)]
        exact = [u for u, s in zip(left_over, supports, strict=True) if s == common]
        groups.append(Group(common, members, [float(fired[u][list(common)].mean()) for u in members]))
        if len(members) > whole or 2 * len(exact) <= bits or fired[exact][:, list(common)].min() <= 0:
            raise Refusal("The rows that move the head should fall into two kinds, to the right and to the left.")
        rows = fired[exact] / fired[exact][:, list(common)].mean(axis=1)[:, None]
        margins.append(float(np.median(rows[:, list(common)].min(axis=1))))
        left_over = [u for u in left_over if u not in members]
    if len(groups) > 2 or (len(groups) == 2 and groups[0].support & groups[1].support):
        raise Refusal("The rows that move the head should fall into two kinds, to the right and to the left.")
    if bits == 1:
        groups += [NOBODY, NOBODY]
        return groups[0], groups[1]
    middle, half = -bits * (bits + 1) / 2 / whole, bits * (bits - 1) / 2 / whole
    right = left = NOBODY
    for group in groups:  # the mean bias is −bits² / whole for carries, −bits / whole for borrows
        level = float(np.mean([bias[u] / usual for u, usual in zip(group.rows, group.scale, strict=True)]))
        margins.append(min(1.0, abs(level - middle) / half))
        if (right if level < middle else left) is not NOBODY:
            raise Refusal("All rows that move the head seem to move it in the same direction.")
        right, left = (group, left) if level < middle else (right, group)
    return right, left


def _moves_of_ripple(
    found: Shape, fires: Array, alpha: Array, taken: set[int], margins: list[float]
) -> tuple[Group, Group]:
    """Two places meet in the lowest bit of the addend; the one that feeds all its bits is the move to the left."""
    bits = found.bits
    pre = cut(found.before[2].weight, found.before[2].weight.shape[1] + bits + 1)
    meet = [row for row in range(len(pre)) if np.count_nonzero(pre[row]) == 2]
    if len(meet) != 1:
        raise Refusal(f"Two places should meet in the lowest bit of the addend; that happens in {len(meet)} rows.")
    one, other = np.nonzero(pre[meet[0]])[0].tolist()
    fed = [int(np.count_nonzero(pre[:, u])) for u in (one, other)]
    if bits > 1 and sorted(fed) != [2, bits + 1]:
        raise Refusal(f"One of two places should feed one bit of the addend, the other all {bits}; they feed {fed}.")
    places = (one, other) if fed[0] <= fed[1] else (other, one)
    fired = significant(found.before[1].weight)[:, fires] * alpha
    groups = []
    for u in places:
        support = frozenset(np.nonzero(fired[u])[0].tolist())
        if not support:
            groups.append(NOBODY)
            continue
        values = fired[u][list(support)]
        if values.min() <= values.max() / 2:
            raise Refusal("The detectors that move the head cannot be told from the others: the noise is too large.")
        margins.append(float(values.min() / values.max()))
        groups.append(Group(support, [u], [float(values.mean())]))
    right, left = groups
    if right.support & left.support:
        raise Refusal("A rule moves the head both ways.")
    return right, left
