"""A head of attention as a sentence, if its numbers are those of a look-up by bits.

Chapter: :doc:`/book/01_gates`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from turing.layout import Layout, Slice
from turing.pictures.base import _visible

if TYPE_CHECKING:
    from torch import nn

Pair = tuple[int | Any, int | Any]  # two places; None is a fixed 1


def is_head(module: nn.Module) -> bool:
    return hasattr(module, "null_key")


def told(head: Any, layout: Layout) -> list[tuple[str, str]]:
    """What a head writes: pairs of a place or slice, and where its value comes from."""
    found = _lookup(head)
    if found is None:
        written = {layout.of(i).name for i in head.write.weight.any(1).nonzero().flatten().tolist()}
        return [(" ".join(sorted(written)), "an average over all columns: these numbers are no look-up by bits")]
    compared, fetched, condition = found
    where = ", ".join(f"{at} = {ask}" for at, ask in _named(compared, layout))
    if condition:
        where += f", and 1 among {' '.join(dict.fromkeys(layout.of(i).name for i in condition))}"
    kind = getattr(head, "looks_at", "column")
    named = _named(fetched, layout)
    values = [f"1 if a {kind} has" if value == "1" else f"{value} of the {kind} with" for value, _ in named]
    return [(place, f"{place} + ({value} {where}, else 0)") for (_, place), value in zip(named, values, strict=True)]


def _lookup(head: Any) -> tuple[list[Pair], list[Pair], list[int]] | None:
    """The places compared, (looked at, asked), those fetched, (from, to), and places of which one must be 1."""
    maps = [[*_rows(part)] for part in (head.query, head.key, head.value)]
    null, n = head.null_key.tolist(), len(head.null_key) - 1
    writes = [column.nonzero().flatten().tolist() for column in head.write.weight.T]
    try:
        head.check()
    except ValueError:  # κ leaves a weight to what does not fit
        return None
    if n < 1 or null != [0.0] * n + [(n - 1) / 2] or head.null_value.any() or head.write.bias.any():
        return None
    compared: list[Pair] = []
    for (asked, constant), (looked_at, half) in zip(maps[0][:n], maps[1][:n], strict=True):
        if [weight for _, weight in looked_at] != [1] or half != -0.5:
            return None
        if [weight for _, weight in asked] == [2] and constant == -1:
            compared.append((looked_at[0][0], asked[0][0]))
        elif not asked and constant == 1:
            compared.append((looked_at[0][0], None))
        else:
            return None
    (asked, constant), (allowed, offset) = maps[0][n], maps[1][n]
    size = -offset
    if asked or constant != 1 or any(weight != size for _, weight in allowed) or bool(allowed) != (size >= n):
        return None
    fetched: list[Pair] = []
    for (source, constant), targets in zip(maps[2], writes, strict=True):
        if len(targets) != 1 or head.write.weight[targets[0], len(fetched)] != 1:
            return None
        if [weight for _, weight in source] == [1] and constant == 0:
            fetched.append((source[0][0], targets[0]))
        elif not source and constant == 1:
            fetched.append((None, targets[0]))
        else:
            return None
    return compared, fetched, [place for place, _ in allowed]


def _rows(part: Any) -> Iterator[tuple[list[tuple[int, float]], float]]:
    """Of each row the weights that are not 0, with their places, and the bias."""
    for row, bias in zip(part.weight.tolist(), part.bias.tolist(), strict=True):
        yield [(i, weight) for i, weight in enumerate(row) if weight], bias


def _named(pairs: Sequence[Pair], layout: Layout) -> list[tuple[str, str]]:
    """Pairs of names. Where two slices stand against each other in order, they take one pair, as pos1[2…6] or pos1."""
    named: list[tuple[str, str]] = []
    k = 0
    while k < len(pairs):
        first, second = (None if place is None else layout.of(place) for place in pairs[k])
        run = 1
        while first and second and pairs[k + run : k + run + 1] == [tuple(place + run for place in pairs[k])]:
            if any(place + run not in part for place, part in zip(pairs[k], (first, second), strict=True)):
                break
            run += 1
        one, other = (_run(part, place, run) for part, place in zip((first, second), pairs[k], strict=True))
        named.append((one, other))
        k += run
    return named


def _run(part: Slice | None, place: int | Any, run: int) -> str:
    """The name of a run of places in a slice."""
    if part is None:
        return "1"
    k = place - part.start
    if run == part.size:
        return _visible(part.name)
    labels = [part.labels[i] if part.labels else str(i) for i in (k, k + run - 1)]
    return _visible(part.name_of(k) if run == 1 else f"{part.name}[{'…'.join(labels)}]")
