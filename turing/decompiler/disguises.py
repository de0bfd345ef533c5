"""Disguises: other numbers for the same network, each with its inverse.

A vector inside a network can be written in another basis if every map that makes it, and every map that reads it, is
changed to match. After a ReLU the new basis may only be another order and positive factors; after a clamp to [0, 1],
and where the greatest number is chosen, only another order; elsewhere it may be anything invertible.

Chapter: :doc:`/book/reading-back`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from turing.arguments import listed
from turing.decompiler.tensors import Array, Bare, Choice, Convolved, Head, Map, Part, Refusal, bare

__all__ = ["DISGUISES", "NONE", "Basis", "Disguised", "Spaces", "checked", "disguise", "in_bases", "spaces"]
NONE = "The shapes and the wiring of {} are those of no construction that is read back."
MAX_NUMBER = 1e30  # products of a few of them are finite


class Basis(NamedTuple):
    """A change of basis and its inverse.

    Chapter: :doc:`/book/reading-back`.
    """

    matrix: Array
    inverse: Array

    def inverted(self) -> Basis:
        """The way back.

        Chapter: :doc:`/book/reading-back`.
        """
        return Basis(self.inverse, self.matrix)


class Spaces(NamedTuple):
    """The vectors of a network: the size of each, and what may change its basis: ``"relu"``, ``"clamp"``,
    ``"choice"`` or ``"none"``.

    They are called by where they begin: ``"column"``, the number of the map that makes them, ``"tape"``, and
    ``"query 5"`` and ``"value 5"`` inside head 5. ``reads`` and ``makes`` give for each part the vector that it reads
    and the one that it makes; a head adds to the one that it reads, and a choice keeps the order.

    Chapter: :doc:`/book/reading-back`.
    """

    sizes: Mapping[str, int]
    kinds: Mapping[str, str]
    reads: tuple[str, ...]
    makes: tuple[str, ...]


class Disguised(NamedTuple):
    """A ``network`` in disguise, as bare tensors, and in ``bases`` the basis of each of its vectors.

    The network is a :class:`Bare`, which has no ``run``: give it to :func:`decompile`. As ``first_column``, give
    ``hidden.column(net.initial(word).detach().numpy())``.

    Chapter: :doc:`/book/reading-back`.
    """

    network: Bare
    bases: Mapping[str, Basis]

    def undone(self) -> Bare:
        """The bare network as it was.

        Chapter: :doc:`/book/reading-back`.
        """
        return in_bases(self.network, {name: basis.inverted() for name, basis in self.bases.items()})

    def column(self, x: Array) -> Array:
        """A column of the plain network, or several in rows, in the basis of this one; NumPy arrays.

        Chapter: :doc:`/book/reading-back`.
        """
        return x @ self.bases["column"].matrix.T

    def tape(self, x: Array) -> Array:
        """The encoded word of the plain network in the basis of this one.

        Chapter: :doc:`/book/reading-back`.
        """
        return x @ self.bases["tape"].matrix.T


def spaces(network: Bare) -> Spaces:
    """The vectors of a network: their sizes, what may change the basis of each, and which parts read and make it.

    Chapter: :doc:`/book/reading-back`.
    """
    last = network.parts[-1] if network.parts else None
    if not isinstance(last, Map | Convolved):
        raise Refusal("The last part of a network should be a linear map or a convolution.")
    sizes, kinds, reads, makes = {"column": len(last.weight)}, {"column": last.activation}, [], []
    now = "column"
    for number, part in enumerate(network.parts):
        read = part.query if isinstance(part, Head) else part
        width = read.size if isinstance(read, Choice) else read.weight.shape[1]
        if width != sizes[now]:
            raise Refusal(f"Part {number} reads {width} numbers, and the one before makes {sizes[now]}.")
        reads.append(now)
        if isinstance(part, Choice):
            kinds[now] = "choice"
        elif isinstance(part, Head):
            inner = {f"query {number}": len(part.query.weight), f"value {number}": len(part.value.weight)}
            if part.mask == "cross":
                inner["tape"] = part.key.weight.shape[1]
            sizes |= inner
            kinds |= dict.fromkeys(inner, "none")
        elif number == len(network.parts) - 1:
            now = "column"
        else:
            now = str(number)
            sizes[now], kinds[now] = len(part.weight), part.activation
        makes.append(now)
    return Spaces(sizes, kinds, tuple(reads), tuple(makes))


def checked(network: Bare) -> Bare:
    """The network, or a refusal if its tensors do not fit together or have numbers that nothing here can be.

    Chapter: :doc:`/book/reading-back`.
    """
    try:
        spaces(network)
    except Refusal:
        raise Refusal(NONE.format(network)) from None
    for number, part in enumerate(network.parts):
        if isinstance(part, Choice):
            continue
        maps = list(part[:4]) if isinstance(part, Head) else [part]
        fits = all(np.shape(one.bias) == (len(one.weight),) for one in maps)
        if isinstance(part, Head):
            query, key, value, write = maps
            inner = [(part.null_key, query), (part.oldest, query), (part.null_value, value)]
            fits &= len(query.weight) == len(key.weight) and write.weight.shape[1] == len(value.weight)
            fits &= write.weight.shape[0] == query.weight.shape[1] and key.weight.shape[1] == value.weight.shape[1]
            fits &= part.mask == "cross" or key.weight.shape[1] == query.weight.shape[1]
            fits &= all(extra is None or np.shape(extra) == (len(one.weight),) for extra, one in inner)
        if not fits:
            raise Refusal(f"The tensors of part {number} do not fit together.")
    for tensor in network.tensors():
        numbers = np.abs(np.asarray(tensor, dtype=float))
        if not np.isfinite(numbers).all():
            raise Refusal("A number of this network is infinite or not a number.")
        if numbers.max(initial=0) > MAX_NUMBER:
            raise Refusal(f"A number of this network is {numbers.max():.3g}, and none is above {MAX_NUMBER:.3g} here.")
    return network


def in_bases(network: Bare, bases: Mapping[str, Basis]) -> Bare:
    """The network with its vectors in other bases; a vector without one keeps its own.

    Chapter: :doc:`/book/reading-back`.
    """
    found = spaces(network)

    def basis(name: str) -> Basis:
        one = np.eye(found.sizes[name], dtype=int)
        return bases.get(name, Basis(one, one))

    def moved(part: Map, after: Array, before: Array) -> Map:
        return part._replace(weight=after @ part.weight @ before, bias=after @ part.bias)

    def replaced(numbers: Array, by: Array) -> Array:
        return None if numbers is None else by @ numbers

    parts: list[Part] = []
    for number, (part, read, made) in enumerate(zip(network.parts, found.reads, found.makes, strict=True)):
        if isinstance(part, Head):
            here = basis(read)
            there = basis("tape") if part.mask == "cross" else here
            inner, value = basis(f"query {number}"), basis(f"value {number}")
            dual = inner.inverse.T  # so that query · key stays
            parts.append(
                Head(
                    moved(part.query, inner.matrix, here.inverse),
                    moved(part.key, dual, there.inverse),
                    moved(part.value, value.matrix, there.inverse),
                    moved(part.write, here.matrix, value.inverse),
                    replaced(part.null_key, dual),
                    replaced(part.null_value, value.matrix),
                    part.mask,
                    part.kappa,
                    replaced(part.oldest, dual),
                )
            )
        elif isinstance(part, Convolved):
            after, before = basis(made).matrix, basis(read).inverse
            taps = [after @ part.weight[:, :, d] @ before for d in range(part.weight.shape[2])]
            parts.append(part._replace(weight=np.stack(taps, axis=2), bias=after @ part.bias))
        elif isinstance(part, Choice):
            parts.append(part)
        elif isinstance(part, Map):
            parts.append(moved(part, basis(made).matrix, basis(read).inverse))
    return Bare(tuple(parts))


def _order(random: np.random.Generator, size: int) -> Basis:
    matrix = np.eye(size)[random.permutation(size)]
    return Basis(matrix, matrix.T)


def _factors(random: np.random.Generator, size: int, most: float, signs: bool = False) -> Basis:
    order, factors = _order(random, size), most ** random.uniform(-1, 1, size)
    if signs:
        factors = factors * random.choice([-1, 1], size)
    return Basis(factors[:, None] * order.matrix, order.inverse / factors)


def _orthogonal(random: np.random.Generator, size: int) -> Array:
    matrix, triangle = np.linalg.qr(random.normal(size=(size, size)))
    return matrix * np.sign(np.diag(triangle))


def _rotated(random: np.random.Generator, size: int, condition: float = 1) -> Basis:
    one, other = _orthogonal(random, size), _orthogonal(random, size)
    stretch = condition ** (random.uniform(-1, 1, size) / 2)
    return Basis(one * stretch @ other, other.T / stretch @ one.T)


Make = Callable[[np.random.Generator, int], Basis]

# of a vector after a ReLU, and of one with no activation
DISGUISES: dict[str, tuple[Make, Make]] = {
    "permutation": (_order, _order),
    "factors": (lambda r, n: _factors(r, n, 10), lambda r, n: _factors(r, n, 10)),
    "signs": (lambda r, n: _factors(r, n, 3), lambda r, n: _factors(r, n, 3, signs=True)),
    "orthogonal": (_order, _rotated),
    "linear": (_order, lambda r, n: _rotated(r, n, 30)),
}


def disguise(what: Any, kind: str = "permutation", seed: int = 0) -> Disguised:
    """The same network with other numbers: every vector inside is written in another basis. Returns a
    :class:`Disguised`.

    ``what`` is a network, the path of a saved one, or a :class:`Bare`. ``kind`` is one of these:

    - ``"permutation"``: the places of every vector are permuted
    - ``"factors"``: permuted, and scaled by 1/10 to 10
    - ``"signs"``: permuted, scaled by 1/3 to 3, and with signs where there is no ReLU
    - ``"orthogonal"``: vectors without a ReLU are rotated, and the others permuted
    - ``"linear"``: vectors without a ReLU are changed by any matrix of condition up to 30, and the others permuted

    After a clamp to [0, 1], and where the greatest number is chosen, only the order changes. Networks of other
    constructions than those that :func:`decompile` reads raise a :class:`Refusal`.

    >>> from turing.decompiler import disguise
    >>> net = turing.compile(turing.zoo["bb2"], "wcm21", T=8, adder="lookahead")
    >>> hidden = disguise(net, "linear", seed=1)
    >>> print(turing.decompile(hidden.network))
    <TuringMachine: 3 states, 2 symbols, 4 rules>, from wcm21, margin 1.00, certified

    Chapter: :doc:`/book/reading-back`.
    """
    if kind not in tuple(DISGUISES):
        raise ValueError(f"A disguise is one of {listed(tuple(DISGUISES))}, and {kind!r} was given.")
    network, random = bare(what), np.random.default_rng(seed)
    found = spaces(network)
    after_relu, free = DISGUISES[kind]
    make = {"relu": after_relu, "clamp": _order, "choice": _order, "none": free}
    bases = {name: make[found.kinds[name]](random, size) for name, size in found.sizes.items()}
    return Disguised(in_bases(network, bases), bases)
