"""A network with nothing but its numbers: ordered tensors and their kinds, without names, layout or machine.

Chapter: :doc:`/book/reading-back`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from turing import ir

__all__ = ["Bare", "Choice", "Convolved", "Head", "Map", "Refusal", "bare"]

Array = Any  # of float64, or of Python's integers and fractions
TABLE = (
    "This network has a table of positions, as that of li24. It is not read back: the parts are the same for all "
    "machines, and the table is a circuit for one number of steps and cells. In it a rule has no gate of its own, and "
    "a rule that no word can reach in these steps has none at all."
)


class Refusal(ValueError):
    """Raised where a network cannot be read back; the message says why. It is a kind of ``ValueError``.

    Chapter: :doc:`/book/reading-back`.
    """


class Map(NamedTuple):
    """x ↦ activation(Wx + b).

    Chapter: :doc:`/book/reading-back`.
    """

    weight: Array
    bias: Array
    activation: str = "none"

    def __call__(self, x: Array) -> Array:
        """Vectors in rows to vectors in rows."""
        y = x @ self.weight.T + self.bias
        if self.activation != "none":
            y = np.maximum(y, 0)
        return np.minimum(y, 1) if self.activation == "clamp" else y


class Head(NamedTuple):
    """The four maps of an attention head, and its null pair; ``mask`` says what it looks at, as in :mod:`turing.ir`.
    A head that looks at a window has no null pair, and ``oldest`` is added to the first key there.

    Chapter: :doc:`/book/reading-back`.
    """

    query: Map
    key: Map
    value: Map
    write: Map
    null_key: Array
    null_value: Array
    mask: str
    kappa: float | None
    oldest: Array = None

    def __call__(self, x: Array, tape: Array) -> Array:
        """Columns in rows to columns in rows, each looking at itself and the earlier ones, or at the word. Of a window,
        the last column is the newest one, ``tape`` has the others, and the newest one alone is returned.
        """
        if self.mask == "window":
            source, x = np.vstack([tape, x]), x[-1:]
            keys, values = self.key(source), self.value(source)
            keys = np.vstack([keys[:1] + self.oldest, keys[1:]])
        else:
            source = tape if self.mask == "cross" else x
            keys = np.vstack([self.key(source), self.null_key])
            values = np.vstack([self.value(source), self.null_value])
        scores = self.query(x) @ keys.T
        seen = np.ones(scores.shape, bool)
        if self.mask == "causal":
            seen[:, :-1] = np.tri(len(x), dtype=bool)
        best = np.array([max(row[see]) for row, see in zip(scores, seen, strict=True)])[:, None]
        if scores.dtype == object or self.kappa is None:
            shares = ((scores == best) & seen).astype(scores.dtype)
        else:
            with np.errstate(under="ignore"):
                shares = np.exp(np.minimum(self.kappa * (scores - best), 0)) * seen
        total = shares.sum(axis=1)[:, None]
        summed = shares @ values
        if scores.dtype == object:
            mean = np.array([[Fraction(a, b) for a in row] for row, (b,) in zip(summed, total, strict=True)])
        else:
            mean = summed / total
        return x + self.write(mean)


class Convolved(NamedTuple):
    """A convolution over the cells of a row: weights of the shape (out, in, width).

    Chapter: :doc:`/book/reading-back`.
    """

    weight: Array
    bias: Array
    activation: str

    def __call__(self, x: Array) -> Array:
        """Rows of cells to rows of cells; beyond the ends is nothing."""
        width = self.weight.shape[2]
        wide = np.pad(x, ((width // 2, width // 2), (0, 0)))
        y = sum(wide[d : d + len(x)] @ self.weight[:, :, d].T for d in range(width)) + self.bias
        return y if self.activation == "none" else np.maximum(y, 0)


class Choice(NamedTuple):
    """The greatest of so many numbers becomes 1, and the others 0.

    Chapter: :doc:`/book/reading-back`.
    """

    size: int

    def __call__(self, x: Array) -> Array:
        """Vectors in rows to vectors in rows."""
        return np.eye(self.size)[x.argmax(axis=1)]


Part = Map | Head | Convolved | Choice


class Bare(NamedTuple):
    """The parts of a network in the order in which they work.

    The output of the last part is the input of the first one. A call is one pass over columns in rows, each from itself
    and the earlier ones, or over a row of cells; ``tape`` has the word in rows, or the rest of a window.

    Chapter: :doc:`/book/reading-back`.
    """

    parts: tuple[Part, ...]

    def __call__(self, columns: Array, tape: Array | None = None) -> Array:
        x = columns
        for part in self.parts:
            x = part(x, tape) if isinstance(part, Head) else part(x)
        return x

    def tensors(self) -> Iterator[Array]:
        """Every tensor, in order: of a map weight and bias; of a head those of query, key, value and write, and the
        null pair.
        """
        for part in self.parts:
            if isinstance(part, Head):
                for inner in part[:4]:
                    yield from inner[:2]
                yield from (extra for extra in (part.null_key, part.null_value, part.oldest) if extra is not None)
            elif not isinstance(part, Choice):
                yield from part[:2]

    def changed(self, change: Callable[[Array], Array]) -> Bare:
        """The network with every tensor replaced by what a function makes of it."""
        parts: list[Part] = []
        for part in self.parts:
            if isinstance(part, Head):
                query, key, value, write = (
                    inner._replace(weight=change(inner.weight), bias=change(inner.bias)) for inner in part[:4]
                )
                extra = {name: getattr(part, name) for name in ("null_key", "null_value", "oldest")}
                extra = {name: change(numbers) for name, numbers in extra.items() if numbers is not None}
                parts.append(part._replace(query=query, key=key, value=value, write=write, **extra))
            elif isinstance(part, Choice):
                parts.append(part)
            else:
                parts.append(part._replace(weight=change(part.weight), bias=change(part.bias)))
        return Bare(tuple(parts))

    def __repr__(self) -> str:
        numbers = sum(np.size(tensor) for tensor in self.tensors())
        heads = sum(isinstance(part, Head) for part in self.parts)
        return f"Bare({len(self.parts) - heads} maps, {heads} heads, {numbers:,} numbers)"


def bare(what: Any) -> Bare:
    """A :class:`Bare`: the ordered tensors of a network with their kinds, and no names, no layout, no machine.

    ``what`` is a network, a path to a saved one, or a :class:`Bare` itself. Networks with a table of positions or with
    other kinds of head raise a :class:`Refusal`.

    >>> from turing.decompiler import bare
    >>> bare(turing.compile(turing.zoo["bb4"], "wcm21", T=100, adder="lookahead"))
    Bare(5 maps, 10 heads, 18,642 numbers)

    Chapter: :doc:`/book/reading-back`.
    """
    if isinstance(what, Bare):
        return what
    if isinstance(what, str | Path):
        from turing.files import load

        what = load(what)
    network = what if isinstance(what, ir.Network) else ir.of(what)
    if network.table is not None:
        raise Refusal(TABLE)
    return Bare(tuple(_part(part) for part in network.parts))


def _part(part: ir.Part) -> Part:
    if isinstance(part, ir.Layer):
        return _map(part)
    if isinstance(part, ir.Convolution):
        return Convolved(_array(part.weight), _array(part.bias), part.activation)
    if isinstance(part, ir.Argmax) and part.inputs.width == sum(part.inputs[name].size for name in part.slices[:1]):
        return Choice(part.inputs.width)
    if isinstance(part, ir.Attention) and part.score == "dot":
        query, key, value, write = (_map(inner) for inner in (part.query, part.key, part.value, part.write))
        if part.mask in ("causal", "cross") and part.null_key is not None and part.null_value is not None:
            return Head(query, key, value, write, _array(part.null_key), _array(part.null_value), part.mask, part.kappa)
        if part.mask == "window" and part.null_key is None and part.oldest is not None:
            return Head(query, key, value, write, None, None, part.mask, part.kappa, _array(part.oldest))
    kind = f"{part.kind} with mask {part.mask!r}" if isinstance(part, ir.Attention) else part.kind
    raise Refusal(f"Part {part.name} is of a kind that is not read back: {kind}.")


def _map(layer: ir.Layer) -> Map:
    return Map(_array(layer.weight), _array(layer.bias), layer.activation)


def _array(numbers: ir.Numbers) -> Array:
    values = numbers.values.detach().cpu()
    return values.double().numpy() / numbers.denominator
