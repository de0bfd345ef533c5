"""The circuit of a network as a set of edges, and a score for what a method has found of it.

Chapter: :doc:`/book/research`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from turing import ir
from turing.construction import Construction

__all__ = ["Edge", "circuit", "score"]


class Edge(NamedTuple):
    """One place depends on another, directly: through a weight of a layer, or by what a head compares or fetches.

    - ``module``: the module of ``network.pipeline``
    - ``source``, ``target``: the names of the place that is read and of the one that is written
    - ``how``: ``"weight"``, or for a head ``"query"``, ``"key"`` or ``"value"``; the source of a key or a value is in
      another column, or in the word

    Chapter: :doc:`/book/research`.
    """

    module: str
    source: str
    target: str
    how: str = "weight"


def circuit(network: Construction) -> set[Edge]:
    """Every :class:`Edge` of a network, as a set: the ground truth for a method that looks for circuits.

    Each weight of a layer that is not 0 is an edge. What a head writes at a place has an edge from every place that the
    head compares, and from those that it fetches to this one.

    >>> from turing.corpora.circuit import Edge, circuit
    >>> net = turing.compile(turing.zoo["bb2"], "wcm21", T=8, adder="lookahead")
    >>> edges = circuit(net)
    >>> Edge("detect", "st[A]", "det[A 0]") in edges, Edge("last", "sym2[1]", "scr1[1]", "value") in edges
    (True, True)

    Chapter: :doc:`/book/research`.
    """
    edges: set[Edge] = set()
    for module in network.ir().modules:
        for number, part in enumerate(module.parts):
            name = module.name if len(module.parts) == 1 else f"{module.name}.{number}"
            if isinstance(part, ir.Layer):
                before, after = part.inputs.names(), part.outputs.names()
                for i, row in enumerate(part.rows):
                    edges |= {Edge(name, before[j], after[i]) for j, _ in row.terms}
            elif isinstance(part, ir.Attention):
                edges |= _of_head(name, part)
            elif isinstance(part, ir.Convolution):
                raise TypeError(
                    f"The edges of a circuit lie within a column or between columns, and {network.construction} has a "
                    f"row of cells. Take another construction."
                )
    return edges


def _of_head(name: str, head: ir.Attention) -> set[Edge]:
    """What is written depends on all that is compared, and on what is fetched."""
    names = head.inputs.names()
    written = [(place, [k for k, _ in row.terms]) for place, row in enumerate(head.write.rows) if row.terms]
    edges = set()
    for place, sources in written:
        for how, layer, rows in (
            ("query", head.query, range(head.query.width_out)),
            ("key", head.key, range(head.key.width_out)),
            ("value", head.value, sources),
        ):
            for k in rows:
                edges |= {Edge(name, names[j], names[place], how) for j, _ in layer.rows[k].terms}
    return edges


def score(found: Iterable[Edge], network: Construction) -> float:
    """How well the edges that were found match those of :func:`circuit`, from 0 to 1.

    ``found`` is a set of edges, each an :class:`Edge` or a tuple like one; every edge counts once, whatever its weight.
    The score is F₁, the harmonic mean of precision and recall.

    >>> from turing.corpora.circuit import circuit, score
    >>> net = turing.compile(turing.zoo["bb2"], "wcm21", T=8, adder="lookahead")
    >>> score(circuit(net), net), score([], net)
    (1.0, 0.0)

    Chapter: :doc:`/book/research`.
    """
    edges, right = set(map(_edge, found)), circuit(network)
    both = len(edges & right)
    return 2 * both / (len(edges) + len(right)) if both else 0.0


def _edge(given: object) -> Edge:
    if not isinstance(given, (tuple, list)) or len(given) not in (3, 4) or {*map(type, given)} != {str}:
        raise TypeError(
            f'An edge is like Edge("detect", "st[A]", "det[A 0]"): a module, a source, a target, and how the one '
            f"depends on the other. {given!r} was given."
        )
    return Edge(*given)
