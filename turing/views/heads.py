"""A head of attention in words: the look-up that its numbers are, or else its four maps as equations.

Chapter: :doc:`/book/gates`.
"""

from __future__ import annotations

from collections.abc import Sequence

from turing.ir import Attention, Layer, Lookup, Number
from turing.layout import Layout, Slice
from turing.pictures.base import _visible
from turing.views.sums import size, written

Pair = tuple[int | None, int | None]  # two places; None is a fixed 1
ROOM = 90  # characters of a sum; a longer one is cut with …


def lines(head: Attention) -> list[tuple[str, str]]:
    """What a head writes: pairs of a place or slice, and where its value comes from."""
    lookup = head.lookup()
    return _maps(head) if lookup is None else _found(lookup, head)


def _found(lookup: Lookup, head: Attention) -> list[tuple[str, str]]:
    layout = head.inputs
    where = ", ".join(f"{at} = {ask}" for at, ask in _named(lookup.compared, layout))
    if lookup.condition:
        where += f", and 1 among {' '.join(_slices(lookup.condition, layout))}"
    some_has, the_with = {
        "causal": ("a column has", "the column with"),
        "strict": ("an earlier column has", "the earlier column with"),
        "prefix": ("a cell of the word or a column has", "the cell of the word or the column with"),
        "cross": ("a cell of the word has", "the cell of the word with"),
        "offset": (f"the column {head.offset} back has", f"the column {head.offset} back, if it has"),
        "window": ("a column of the window has", "the column of the window with"),
    }[head.mask]
    named = _named(lookup.fetched, layout)
    values = [f"1 if {some_has}" if value == "1" else f"{value} of {the_with}" for value, _ in named]
    return [(place, f"{place} + ({value} {where}, else 0)") for (_, place), value in zip(named, values, strict=True)]


def _maps(head: Attention) -> list[tuple[str, str]]:
    """Query, key and value as equations, the share of each value, and what is written."""
    over = {
        "causal": "the columns so far",
        "strict": "the earlier columns",
        "prefix": "the word and the columns so far",
        "cross": "the cells of the word",
        "offset": f"the column {head.offset} back",
        "window": "the columns of the window",
    }[head.mask]
    shown = []
    writes = [(place, row) for place, row in enumerate(head.write.rows) if row.terms or row.bias]
    if head.null_key is not None and head.score == "dot":
        changed = " ".join(_slices([place for place, _ in writes], head.outputs))
        shown.append((changed, f"an average over {over}: these numbers are not a look-up by bits"))
    for name, layer in (("query", head.query), ("key", head.key), ("value", head.value)):
        shown += _equations(name, layer, head.inputs)
    if head.oldest is not None:
        shown.append(("key of the oldest", f"key + {_vector(head.oldest.vector)}"))
    score = "query · key" if head.score == "dot" else "−|query · key|"
    share = f"hardmax({score})" if head.kappa is None else f"softmax({_times(head.kappa, score)})"
    if head.null_key is not None and head.null_value is not None:
        shown += [("null key", _vector(head.null_key.vector)), ("null value", _vector(head.null_value.vector))]
        over += " and the null key"
    shown.append(("share", f"{share} over {over}"))
    names = [f"Σ share · {name}" for name in Layout(value=head.value.width_out).names()]
    for place, row in writes:
        name = _visible(head.outputs.name(place))
        shown.append((name, f"{name} + {written(row, names, ROOM)}"))
    return shown


def _equations(name: str, layer: Layer, inputs: Layout) -> list[tuple[str, str]]:
    names = [_visible(place) for place in inputs.names()]
    places = Layout(**{name: layer.width_out}).names()
    return [(place, written(row, names, ROOM)) for place, row in zip(places, layer.rows, strict=True)]


def _times(kappa: float, score: str) -> str:
    return score if kappa == 1 else f"{size(kappa)} {score}" if score[0] != "−" else f"−{size(kappa)} {score[1:]}"


def _vector(numbers: Sequence[Number]) -> str:
    return f"({', '.join(('−' if number < 0 else '') + size(number) for number in numbers)})"


def _slices(places: Sequence[int], layout: Layout) -> list[str]:
    """The slices that places belong to, once each."""
    return [_visible(name) for name in dict.fromkeys(layout.of(place).name for place in places)]


def _named(pairs: Sequence[Pair], layout: Layout) -> list[tuple[str, str]]:
    """Pairs of names. Where two slices stand against each other in order, they take one pair, as pos1[2…6] or pos1."""
    named: list[tuple[str, str]] = []
    k = 0
    while k < len(pairs):
        first, second = (None if place is None else layout.of(place) for place in pairs[k])
        run = 1
        if first and second:
            while pairs[k + run : k + run + 1] == [tuple(place + run for place in pairs[k])]:  # type: ignore[operator]  # none is None
                if any(place + run not in part for place, part in zip(pairs[k], (first, second), strict=True)):  # type: ignore[operator]
                    break
                run += 1
        one, other = (_run(part, place, run) for part, place in zip((first, second), pairs[k], strict=True))
        named.append((one, other))
        k += run
    return named


def _run(part: Slice | None, place: int | None, run: int) -> str:
    """The name of a run of places in a slice."""
    if part is None or place is None:
        return "1"
    k = place - part.start
    if run == part.size:
        return _visible(part.name)
    labels = [part.labels[i] if part.labels else str(i) for i in (k, k + run - 1)]
    return _visible(part.name_of(k) if run == 1 else f"{part.name}[{'…'.join(labels)}]")
