"""The certificate: compile what was found, and match it number for number up to the symmetry.

The numbers that are matched are products of maps that meet, which do not depend on a basis. Their rows and columns
belong to neurons with a ReLU, so two networks are the same if an order and positive factors of these make all products
equal. Colour refinement finds the order.

Chapter: :doc:`/book/reading-back`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np

from turing.decompiler.tensors import Array, Bare, Convolved, Map, Part
from turing.decompiler.wcm21 import Shape

__all__ = ["Match", "Product", "in_order", "invariants", "laid_over", "matched"]

TOLERANCE = 1e-5  # of the largest number of a product: what rounding leaves, also in float32


class Product(NamedTuple):
    """A product of maps that meet; ``rows`` and ``columns`` name the neurons that they belong to, ``""`` for none.

    Chapter: :doc:`/book/reading-back`.
    """

    matrix: Array
    rows: str
    columns: str


class Match(NamedTuple):
    """How far two networks are apart when they are laid over each other; infinite if they have different wiring.

    Chapter: :doc:`/book/reading-back`.
    """

    distance: float

    def __bool__(self) -> bool:
        return bool(self.distance <= TOLERANCE)


def laid_over(
    given: Bare, compiled: Bare, order: Mapping[str, Sequence[int]], factors: Mapping[str, Array] | None = None
) -> Match:
    """Lay a network of maps or convolutions over a compiled one, neuron for neuron: ``order`` has for each vector, by
    its name in :class:`turing.decompiler.disguises.Spaces`, the neurons of the given network as the compiled one has
    them, and ``factors`` what these are multiplied by.

    Chapter: :doc:`/book/reading-back`.
    """
    wanted = in_order(compiled, order, factors or {})
    if len(given.parts) != len(wanted.parts):
        return Match(np.inf)
    worst = 0.0
    for one, other in zip(given.parts, wanted.parts, strict=True):
        if type(one) is not type(other) or one[2:] != other[2:]:  # the activation
            return Match(np.inf)
        for a, b in zip(one[:2], other[:2], strict=True):
            if np.shape(a) != np.shape(b):
                return Match(np.inf)
            worst = max(worst, float((np.abs(a - b) / np.maximum(1, np.abs(b))).max(initial=0)))
    return Match(worst)


def in_order(compiled: Bare, order: Mapping[str, Sequence[int]], factors: Mapping[str, Array]) -> Bare:
    """A compiled network of maps or convolutions with its neurons in another order, and multiplied by factors.

    Chapter: :doc:`/book/reading-back`.
    """
    parts: list[Part] = []
    last = len(compiled.parts) - 1
    for number, part in enumerate(compiled.parts):
        if not isinstance(part, Map | Convolved):
            raise TypeError(f"Maps and convolutions are put into another order, and part {number} is a {type(part)}.")
        before, after = ("column" if n in (0, last + 1) else str(n - 1) for n in (number, number + 1))
        rows, columns = list(order[after]), list(order[before])
        made, read = (np.asarray(factors.get(name, 1.0)) * np.ones(len(order[name])) for name in (after, before))
        bias, weight = np.empty(len(rows)), np.empty(part.weight.shape)
        bias[rows] = part.bias * made
        scaled = np.moveaxis(np.moveaxis(part.weight, (0, 1), (-2, -1)) * made[:, None] / read, (-2, -1), (0, 1))
        weight[np.ix_(rows, columns)] = scaled
        parts.append(part._replace(weight=weight, bias=bias))
    return Bare(tuple(parts))


def invariants(found: Shape) -> list[Product]:
    """All products of maps that meet in a WCM21 transformer: two networks with the same are the same network.

    Chapter: :doc:`/book/reading-back`.
    """
    parts = [*found.before, *found.after]
    names = [str(number) for number in range(len(parts))]
    found_products: list[Product] = []
    middle = len(found.before) - 1
    for number, part in enumerate(parts):
        before, name = names[number - 1], names[number]
        weight, bias, source = part.weight, part.bias, parts[number - 1]
        if number == middle + 1 or part.activation == "none":
            continue  # with the heads, or as part of the next product
        if source.activation == "none":
            bias, weight, before = bias + weight @ source.bias, weight @ source.weight, names[number - 2]
        found_products += [Product(weight, name, before), Product(bias[:, None], name, "")]
    return found_products + _of_heads(found, names[middle], names[middle + 1])


def _of_heads(found: Shape, middle: str, after: str) -> list[Product]:
    """Products through the vector that the heads add to: from those neurons and constants that write it, to those
    neurons and scores that read it.
    """
    read, (last, initial) = found.after[0], found.heads[-2:]
    blocks, constants = _written(found)
    source = f"{int(middle) - 1 if found.before[-1].activation == 'none' else middle}+{constants}"
    products = [Product(read.bias[:, None], after, "")]
    products += [Product(read.weight @ block, after, source) for block in blocks]
    for head in found.heads[:-1]:
        silent = blocks if head is not last else blocks[1:]  # nothing else is fetched from a column
        products += [Product(head.write.weight @ (head.value.weight @ block), "", "") for block in silent]
    for head in found.heads:
        asks = [*(head.query.weight @ block for block in blocks), head.query.bias[:, None]]
        sides = [source, source, ""]
        seen = [*(head.key.weight @ block for block in blocks), head.key.bias[:, None]] if head is not initial else []
        offers = list(zip([*seen, head.null_key[:, None]], [*sides[: len(seen)], ""], strict=True))
        products += [
            Product(ask.T @ offer, rows, columns)
            for ask, rows in zip(asks, sides, strict=True)
            for offer, columns in offers
        ]
    return products


def _written(found: Shape) -> tuple[list[Array], int]:
    """What is written to the vector that the heads add to, in columns: by neurons, and after them by constants, whose
    number is the second result; and the same by way of the head that fetches the last write.
    """
    last_map, last = found.before[-1], found.heads[-2]
    width = len(last_map.weight)
    makes = last_map.weight if last_map.activation == "none" else np.eye(width)
    constants = [last_map.bias if last_map.activation == "none" else np.zeros(width)]
    for head in found.heads:
        constants += [head.write.weight @ head.value.bias, head.write.weight @ head.null_value, head.write.bias]
    written = np.column_stack([makes, *constants])
    return [written, last.write.weight @ (last.value.weight @ written)], len(constants)


def _of_word(found: Shape, order: Array, scale: Array) -> Array:
    """What is read of the word, in rows: by scores and by what is chosen; its columns are the word's own basis."""
    initial, read = found.heads[-1], found.after[0]
    wide = np.column_stack([initial.key.weight, initial.key.bias])
    value = np.column_stack([initial.value.weight, initial.value.bias])
    blocks, constants = _written(found)
    neurons = np.append(order, len(order) + np.arange(constants))
    factor = np.append(scale, np.ones(constants))
    asks = [initial.query.weight @ block[:, neurons] * factor for block in blocks]
    scores = np.column_stack([*asks, initial.query.bias]).T @ wide
    return np.vstack([scores, read.weight @ (initial.write.weight @ value)])


def _sizes(products: list[Product]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for product in products:
        for name, size in zip(product[1:], product.matrix.shape, strict=True):
            if name:
                base, _, more = name.partition("+")
                sizes[base] = size - int(more or 0)
    return sizes


def _signs(matrix: Array, floor: float) -> Array:
    """Which numbers are positive, and which negative: those above the widest gap towards 0, and above the floor."""
    sizes = np.abs(matrix)
    most = sizes.max(initial=0)
    if most <= floor:
        return np.zeros(matrix.shape, np.int8)
    small = np.unique(sizes[sizes < 1e-3 * most])
    levels = np.unique(np.concatenate([[floor], small[small > floor], [sizes[sizes >= 1e-3 * most].min()]]))
    gap = int((levels[1:] / levels[:-1]).argmax())
    return np.where(sizes > levels[gap], np.sign(matrix), 0).astype(np.int8)


def matched(given: Shape, compiled: Shape, seeds: Mapping[str, Mapping[int, int]]) -> Match:
    """The :class:`Match` of a network with a compiled one, neuron by neuron. ``seeds`` are neurons whose partners are
    known, by the number of the map.

    Chapter: :doc:`/book/reading-back`.
    """
    nets = [invariants(given), invariants(compiled)]
    if [product[1:] for product in nets[0]] != [product[1:] for product in nets[1]]:
        return Match(np.inf)
    sizes = _sizes(nets[0])
    if sizes != _sizes(nets[1]):
        return Match(np.inf)
    order = _orders(nets, sizes, seeds)
    if order is None:
        return Match(np.inf)
    scale = _scales(nets, sizes, order)
    worst = 0.0
    for one, other in zip(*nets, strict=True):
        matrix = one.matrix
        for axis, name in enumerate(one[1:]):
            if name:
                base, _, more = name.partition("+")
                constant = np.arange(sizes[base], sizes[base] + int(more or 0))
                factor = np.append(scale[base], np.ones(len(constant)))
                matrix = matrix.take(np.append(order[base], constant), axis)
                inward = axis == 0 and not more  # a neuron is scaled where it is made, and unscaled where it is read
                factor = 1 / factor if inward else factor
                matrix = matrix * (factor[:, None] if axis == 0 else factor)
        apart, size = (float(np.abs(m).max(initial=0)) for m in (matrix - other.matrix, other.matrix))
        worst = max(worst, apart / max(1, size))
    return Match(
        max(worst, _word_distance(given, compiled, order, scale), _column_distance(given, compiled, order, scale))
    )


def _word_distance(given: Shape, compiled: Shape, order: Mapping[str, Array], scale: Mapping[str, Array]) -> float:
    """Whether some basis of the word makes both networks read the same of it."""
    middle = len(given.before) - 1
    makes = str(middle - 1 if given.before[-1].activation == "none" else middle)
    after = str(middle + 1)
    theirs = _of_word(given, order[makes], scale[makes])
    rows = len(theirs) - len(order[after])
    theirs[rows:] = theirs[rows:][order[after]] / scale[after][:, None]
    ours = _of_word(compiled, np.arange(len(order[makes])), np.ones(len(order[makes])))
    weights, wanted = theirs[:, :-1], ours[:, :-1]
    basis = np.linalg.lstsq(weights, wanted, rcond=1e-9)[0]
    apart = np.abs(weights @ basis - wanted).max(initial=0), np.abs(theirs[:, -1] - ours[:, -1]).max(initial=0)
    return float(max(apart))


def _column_distance(given: Shape, compiled: Shape, order: Mapping[str, Array], scale: Mapping[str, Array]) -> float:
    """Whether some basis of the column makes both networks write the same to it, also where no map reads it, and read
    the same from it, also where no map writes it. Where the column leaves a ReLU, it has coordinates, and the products
    say all.
    """
    number = len(given.before) + len(given.after) - 1
    if given.after[-1].activation != "none":
        return 0.0
    before, first = str(number - 1), "0"
    theirs = given.after[-1].weight[:, order[before]] * scale[before]
    writes = np.column_stack([theirs, given.after[-1].bias]), np.column_stack(compiled.after[-1][:2])
    reads = (given.before[0].weight[order[first]] / scale[first][:, None]).T, compiled.before[0].weight.T
    worst = 0.0
    for pair in (writes, reads):
        for one, other in (pair, pair[::-1]):  # the rows of each are sums of those of the other
            basis = np.linalg.lstsq(other.T, one.T, rcond=1e-9)[0]
            worst = max(
                worst, float(np.abs(other.T @ basis - one.T).max(initial=0)) / max(1, np.abs(one).max(initial=0))
            )
    return worst


class Edge(NamedTuple):
    """Where a product has numbers that are not 0: which neurons they lead to, where they come from, and their signs."""

    name: str
    far: str
    outputs: Array
    inputs: Array
    signs: Array


def _places(signs: Array, size: int) -> tuple[Array, Array, Array]:
    outputs, inputs = np.nonzero(signs[:size])
    return outputs, inputs, np.where(signs[outputs, inputs] > 0, 3, 5)


def _orders(
    nets: list[list[Product]], sizes: Mapping[str, int], seeds: Mapping[str, Mapping[int, int]]
) -> dict[str, Array] | None:
    """For each neuron of the compiled network its partner in the given one, by colour refinement; None if the colours
    of the two networks differ.
    """
    random = np.random.default_rng(0)
    colours: list[dict[str, Array]] = [{name: np.zeros(size, np.int64) for name, size in sizes.items()} for _ in nets]
    constants = random.integers(1, 2**62, size=1 + max(max(p.matrix.shape) for p in nets[0]))
    fresh = count(1)
    for name, pairs in seeds.items():
        for one, other in pairs.items():
            colours[0][name][one] = colours[1][name][other] = next(fresh)
    floors = [1e-11 * max(float(np.abs(p.matrix).max(initial=0)) for p in net) for net in nets]
    edges: list[list[Edge]] = [[], []]
    for one, other in zip(*nets, strict=True):
        found = [_signs(p.matrix, floor) for p, floor in zip((one, other), floors, strict=True)]
        for axis, (name, far) in enumerate((one[1:], one[:0:-1])):
            if name and any(signs.any() for signs in found):
                for net, signs in zip(edges, found, strict=True):
                    net.append(
                        Edge(name, far, *_places(signs if axis == 0 else signs.T, sizes[name.partition("+")[0]]))
                    )
    hashes = random.integers(1, 2**62, size=(len(edges[0]), 2), dtype=np.int64)

    def refine() -> bool:
        classes = -1
        while True:
            table = random.integers(
                1, 2**62, size=1 + max(int(c.max(initial=0)) for net in colours for c in net.values())
            )
            new = []
            for net, now in zip(edges, colours, strict=True):
                value = {name: table[c].copy() for name, c in now.items()}
                total = {name: v * 7 for name, v in value.items()}
                for edge, (h, more) in zip(net, hashes, strict=True):
                    base, far = edge.name.partition("+")[0], edge.far.partition("+")[0]
                    known = np.concatenate([value[far], constants]) if far else constants
                    mixed = known[edge.inputs] * h
                    np.add.at(total[base], edge.outputs, (mixed ^ (mixed >> 17)) * (more * edge.signs))
                new.append(total)
            number = 0
            for name in sizes:
                both = np.concatenate([new[0][name], new[1][name]])
                _, index = np.unique(both, return_inverse=True)
                first, second = index[: sizes[name]], index[sizes[name] :]
                if not np.array_equal(np.sort(first), np.sort(second)):
                    return False
                colours[0][name], colours[1][name] = first + number, second + number
                number += len(np.unique(first))
            if number == classes:
                return True
            classes = number

    with np.errstate(over="ignore"):
        while True:
            if not refine():
                return None
            tied = next(((n, c) for n in sizes for c in _tied(colours[1][n])), None)
            if tied is None:
                break
            name, colour = tied
            members = [np.nonzero(net[name] == colour)[0] for net in colours]
            first = 1 + max(int(c.max()) for c in colours[0].values())
            for coloured, places in zip(colours, members, strict=True):
                coloured[name][places] = np.arange(first, first + len(places))
    return {name: np.argsort(colours[0][name])[np.argsort(np.argsort(colours[1][name]))] for name in sizes}


def _tied(colours: Array) -> list[int]:
    values, counts = np.unique(colours, return_counts=True)
    return values[counts > 1].tolist()


def _scales(nets: list[list[Product]], sizes: Mapping[str, int], order: Mapping[str, Array]) -> dict[str, Array]:
    """The factor of each neuron, in the order of the compiled network: from its bias, or from its neighbours."""
    scale = {name: np.full(size, np.nan) for name, size in sizes.items()}
    links: dict[tuple[str, int], list[tuple[str, int, float]]] = {}
    for one, other in zip(*nets, strict=True):
        names = [name.partition("+")[0] for name in one[1:]]
        inward = -1 if "+" in one.rows else 1  # a neuron is scaled where it is made, and unscaled where it is read
        matrix = one.matrix
        for axis, base in enumerate(names):
            if base:
                constant = np.arange(sizes[base], matrix.shape[axis])
                matrix = matrix.take(np.append(order[base], constant), axis)
        for i, j in np.argwhere(other.matrix).tolist():
            ratio = float(matrix[i, j] / other.matrix[i, j])
            if ratio <= 0:
                continue
            row = names[0] if names[0] and i < sizes[names[0]] else ""
            column = names[1] if names[1] and j < sizes[names[1]] else ""
            if row and column:
                if inward == 1:
                    links.setdefault((row, i), []).append((column, j, 1 / ratio))
                    links.setdefault((column, j), []).append((row, i, ratio))
            elif row and np.isnan(scale[row][i]):
                scale[row][i] = ratio**inward
            elif column and np.isnan(scale[column][j]):
                scale[column][j] = 1 / ratio
    waiting = [(name, i) for name, values in scale.items() for i in np.nonzero(~np.isnan(values))[0].tolist()]
    for name in sizes:
        for start in range(sizes[name]):
            while waiting:
                here = waiting.pop()
                for far, j, ratio in links.get(here, ()):
                    if np.isnan(scale[far][j]):
                        scale[far][j] = scale[here[0]][here[1]] * ratio
                        waiting.append((far, j))
            if np.isnan(scale[name][start]):
                scale[name][start] = 1
                waiting.append((name, start))
    return scale
