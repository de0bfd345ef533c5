"""Attention with weights set by hand: look a value up by its address, exactly (section 5.3 of the paper).

A query is compared with every key, and the values of the keys that match best are averaged. A null key with a null
value stands for "nothing matches". The factor κ (``kappa``) on the scores, 9,999 in the paper and here, makes softmax
hard: a key that scores ½ less than the best gets a weight of exactly 0.

In shapes, m columns ask and k columns are looked at; a column has w numbers, of which n bits are compared and d numbers
are fetched.

Chapter: :doc:`/book/hard-attention`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from turing import ir
from turing.exact import Exact, average, best
from turing.gates import Readout, _check_places

if TYPE_CHECKING:
    from turing.layout import Layout

__all__ = ["Attention", "Lookup", "Pattern", "least_kappa", "literal", "ratio"]

KAPPA = 9999.0  # the paper's
GAP = 0.5  # by which a match outscores the null key, and the null key a near match
MAX_KAPPA = 1e38  # float32, in which narrower types compute too, ends at 3e38, and infinity times 0 is not a number


def ratio(scores: Tensor, values: Tensor, kappa: float = KAPPA) -> Tensor:
    """The average with weights softmax(κ scores), as (Σ eᵢ vᵢ) / (Σ eᵢ) with eᵢ = exp(κ (scoreᵢ − best score)).

    It is the default: for values 0 and 1, both sums are integers when keys tie, and the result is exact.
    Shapes: ``(…, m, k)`` and ``(…, k, d)`` to ``(…, m, d)``.

    >>> ratio(torch.zeros(1, 10), torch.ones(10, 1)).item()
    1.0

    Chapter: :doc:`/book/hard-attention`.
    """
    return _over_sum(_exponentials(scores, kappa), values)


def _exponentials(scores: Tensor, kappa: float) -> Tensor:
    return torch.exp(kappa * (scores - scores.amax(dim=-1, keepdim=True)))


def _over_sum(e: Tensor, values: Tensor) -> Tensor:
    ones = torch.ones_like(values[..., :1])
    sums = e @ torch.cat([values, ones], dim=-1)
    return sums[..., :-1] / sums[..., -1:]


def literal(scores: Tensor, values: Tensor, kappa: float = KAPPA) -> Tensor:
    """The average as the paper writes it, softmax(κ scores) @ values: if c keys tie, each 1/c is rounded before adding.

    So the result depends on the order in which torch and the hardware add. Shapes are those of :func:`ratio`.

    >>> literal(torch.zeros(1, 10), torch.ones(10, 1)).item()
    1.0000001192092896

    Chapter: :doc:`/book/hard-attention`.
    """
    return _softmax(scores, kappa) @ values


def _softmax(scores: Tensor, kappa: float) -> Tensor:
    return torch.softmax(kappa * (scores - scores.amax(dim=-1, keepdim=True)), dim=-1)  # κ times a score may overflow


AVERAGES = {"ratio": ratio, "literal": literal}


def least_kappa(dtype: torch.dtype, gap: float = GAP) -> int:
    """The least integer κ at which a key that scores ``gap`` less than the best gets a weight of exactly 0.

    The default gap is that of a :class:`Lookup`: its null key scores ½ less than a match.

    >>> least_kappa(torch.float32), least_kappa(torch.float64), least_kappa(torch.bfloat16)
    (208, 1491, 186)

    Chapter: :doc:`/book/hard-attention`.
    """
    if not gap > 0:
        raise ValueError(f"The gap between the best score and the next must be above 0, and gap={gap!r} was given.")
    info = torch.finfo(dtype)
    smallest = math.log2(info.tiny) + math.log2(info.eps)  # a subnormal number; half of it rounds to 0
    return math.ceil((1 - smallest) * math.log(2) / gap)


class Pattern(nn.Module):
    """Turns scores into weights, which say how much each key counts.

    It is a module of its own, so that a hook can see and change the weights. For the average ``"ratio"`` they are
    exp(κ (score − best score)), not yet divided by their sum, and for ``"literal"`` softmax(κ scores). If κ is None,
    they are 1 for each of the best keys and 0 for all others.
    Shapes: ``(…, m, k + 1)`` to the same.

    Chapter: :doc:`/book/hard-attention`.
    """

    def __init__(self, kappa: float | None, average: str):
        super().__init__()
        self.kappa, self.average = kappa, average

    def forward(self, scores: Tensor) -> Tensor:
        """The weights of the keys, from their scores."""
        if self.kappa is None:
            return (scores == scores.amax(dim=-1, keepdim=True)).to(scores.dtype)
        return (_exponentials if self.average == "ratio" else _softmax)(scores, self.kappa)


class Attention(nn.Module):
    """An attention head: each column finds the columns whose keys fit its query best, and adds the average of their
    values to itself.

    - ``query``, ``key``: map the w numbers of a column to n + 1, for the n bits that are compared and the constant
      through which the null key scores; without a null key, n are enough
    - ``value``, ``write``: map w numbers to the d that are fetched, and those d back to w
    - ``null_key``, ``null_value``: one more key with its value, for columns that no other key fits; may be left out
    - ``kappa``: κ, or None for the hard maximum without softmax
    - ``average``: the function that averages, ``"ratio"`` (:func:`ratio`) or ``"literal"`` (:func:`literal`)
    - ``mask``: what a column may look at: ``"causal"``, itself and the earlier columns; ``"strict"``, the earlier ones;
      ``"offset"``, the one that is ``offset`` columns back; ``"cross"``, the word; ``"prefix"``, the word, itself and
      the earlier columns; ``"window"``, the newest of these, always as many as there are at the first column
    - ``score``: ``"dot"``, the product of query and key; or ``"-abs"``, minus its absolute value
    - ``oldest``: goes with the mask ``"window"``, and is added to the key of the oldest column there

    The four maps are affine, such as :class:`turing.gates.Readout`, and you choose their weights. The head keeps no
    columns: call :meth:`remember` on those that may be looked at, and pass the result on. When you call a head
    yourself, pass ``hidden=head.hidden(m)`` for m columns: without it, nothing is masked.

    Here a column is (content, address, found). It asks for the address that equals its content, and fetches the content
    of that column. Without the mask, column 0 finds columns 1 and 2, with contents 0 and 1, and gets their average.
    With it, column 0 sees only itself, and fetches its own content, since there is no null key:

    >>> from turing.gates import Readout
    >>> head = Attention(query=Readout([[2, 0, 0]], [-1]), key=Readout([[0, 1, 0]], [-0.5]),
    ...                  value=Readout([[1, 0, 0]], [0]), write=Readout([[0], [0], [1]], [0, 0, 0]))
    >>> columns = torch.tensor([[1., 0., 0.], [0., 1., 0.], [1., 1., 0.]])
    >>> keys, values = head.remember(columns)
    >>> head(columns, keys, values)[:, 2].tolist()
    [0.5, 1.0, 0.5]
    >>> head(columns, keys, values, hidden=head.hidden(3))[:, 2].tolist()
    [1.0, 1.0, 0.5]

    ``kappa`` and ``average`` can be changed later, as in ``head.kappa = 20``. ``head.pattern`` is the :class:`Pattern`
    between scores and average: put a hook there to see or change the weights of the keys.

    Chapter: :doc:`/book/hard-attention`.
    """

    layout: Layout  # of the columns, if somebody has named their places

    def __init__(
        self,
        query: nn.Module,
        key: nn.Module,
        value: nn.Module,
        write: nn.Module,
        null_key: Tensor | None = None,
        null_value: Tensor | None = None,
        kappa: float | None = KAPPA,
        average: str = "ratio",
        score: str = "dot",
        mask: str = "causal",
        offset: int | None = None,
        oldest: Tensor | None = None,
    ):
        super().__init__()
        if average not in tuple(AVERAGES):  # not the dict: it would hash what is given, and a list has no hash
            raise ValueError(f"An average is one of {', '.join(AVERAGES)}, and {average!r} was given.")
        if score not in ir.SCORES or mask not in ir.MASKS or (mask == "offset") != (offset is not None):
            raise ValueError(
                f"A score is one of {', '.join(ir.SCORES)}, a mask one of {', '.join(ir.MASKS)}, and an offset goes "
                f"with the mask of that name; {score=}, {mask=} and {offset=} were given."
            )
        if (mask == "window") != (oldest is not None):
            raise ValueError(f"The key of the oldest column goes with the mask 'window', and {mask=} was given.")
        hard = kappa is None
        if not hard and (isinstance(kappa, bool) or not isinstance(kappa, (int, float)) or not 0 < kappa <= MAX_KAPPA):
            raise ValueError(
                f"κ is a number above 0, such as {KAPPA:g}, and at most {MAX_KAPPA:.0e}; {kappa!r} was given."
            )
        self.query: Any = query
        self.key: Any = key
        self.value: Any = value
        self.write: Any = write
        self.null_key, self.null_value = map(_parameter, (null_key, null_value))
        self.oldest = _parameter(oldest)
        self.score, self.mask, self.offset = score, mask, offset
        self.pattern = Pattern(None if kappa is None else float(kappa), average)

    @property
    def kappa(self) -> float | None:
        """κ, which belongs to the pattern; None if attention is hard by itself."""
        return self.pattern.kappa

    @kappa.setter
    def kappa(self, kappa: float | None) -> None:
        self.pattern.kappa = kappa

    @property
    def average(self) -> str:
        """The name of the function that averages, which belongs to the pattern."""
        return self.pattern.average

    @average.setter
    def average(self, average: str) -> None:
        self.pattern.average = average

    @property
    def looks_at(self) -> str:
        """What this head looks at, in words for an error: a cell of the word, or a column."""
        return "cell of the word" if self.mask == "cross" else "column"

    def remember(self, columns: Any) -> tuple[Any, Any]:
        """Keys and values of columns. Keep them: they do not change when later columns come.

        Shapes: ``(…, k, w)`` to ``(…, k, n + 1)`` and ``(…, k, d)``. In exact arithmetic, columns, keys and values are
        lists of vectors.
        """
        if isinstance(columns, list):
            return [self.key(column).reduced() for column in columns], [
                self.value(column).reduced() for column in columns
            ]
        return self.key(columns), self.value(columns)

    def scores(self, columns: Tensor, keys: Tensor) -> Tensor:
        """How well each key fits the query of each column, the null key last.

        Shapes: ``(…, m, w)`` and ``(…, k, n + 1)`` to ``(…, m, k + 1)``.
        """
        if self.null_key is not None:
            keys = torch.cat([keys, self.null_key.expand(*keys.shape[:-2], 1, -1)], dim=-2)
        queries = self.query(columns)
        scores = queries @ keys.transpose(-1, -2)
        if self.oldest is not None:  # column i of the m that ask has key i as its oldest
            first = torch.eye(*scores.shape[-2:], dtype=scores.dtype, device=scores.device)
            scores = scores + first * (queries @ self.oldest).unsqueeze(-1)
        return scores if self.score == "dot" else -scores.abs()

    def weights(self, columns: Any, keys: Any, hidden: Tensor | None = None) -> Any:
        """The share that each key has in the average, the null key last. The shares of a column add up to 1.

        Shapes: ``(…, m, w)`` and ``(…, k, n + 1)`` to ``(…, m, k + 1)``; in exact arithmetic, from one column to a list
        of fractions.
        """
        if isinstance(columns, Exact):
            scores = self._exact_scores(columns, keys)
            winners = best(scores)
            return [Fraction(int(k in winners), len(winners)) for k in range(len(scores))]
        pattern = self.pattern(_masked(self.scores(columns, keys), hidden))
        return pattern if self.average == "literal" else pattern / pattern.sum(dim=-1, keepdim=True)

    def hidden(self, columns: int, device: torch.device | None = None, before: int = 0) -> Tensor | None:
        """The mask as a tensor that is true where a column may not look; None if all may look everywhere.

        ``columns`` is how many columns there are, and ``before`` how many cells of the word stand before them. Shape:
        ``(columns, before + columns + 1)``, without the 1 if there is no null key; that key is never hidden.
        """
        if self.mask == "cross":
            return None
        every = torch.ones(columns, before + columns, dtype=torch.bool, device=device)
        if self.mask == "window":
            later = ~every.triu().tril(before)
        elif self.mask == "offset":
            later = ~every.tril(before - (self.offset or 0)).triu(before - (self.offset or 0))
        else:
            later = every.triu(before if self.mask == "strict" else before + 1)
        return nn.functional.pad(later, (0, 0 if self.null_key is None else 1))  # the null key is never hidden

    def forward(self, columns: Any, keys: Any, values: Any, hidden: Tensor | None = None) -> Any:
        """The columns with what they found added, in the shape ``(…, m, w)`` of ``columns``.

        ``keys`` and ``values`` come from :meth:`remember`. ``hidden``, of the shape ``(…, m, k + 1)``, comes from
        :meth:`hidden`; without it, every column looks everywhere, whatever the mask.
        """
        if isinstance(columns, Exact):
            return columns + self.write(self._exact(columns, keys, values))
        scores = _masked(self.scores(columns, keys), hidden)
        if self.null_value is not None:
            values = torch.cat([values, self.null_value.expand(*values.shape[:-2], 1, -1)], dim=-2)
        pattern = self.pattern(scores)
        return columns + self.write(pattern @ values if self.average == "literal" else _over_sum(pattern, values))

    def _exact(self, column: Exact, keys: list[Exact], values: list[Exact]) -> Exact:
        """The average of the values that fit best."""
        if self.null_value is not None:
            values = [*values, Exact(self.null_value.tolist(), self.query.denominator)]
        return average(self._exact_scores(column, keys), values)

    def _exact_scores(self, column: Exact, keys: list[Exact]) -> list[Any]:
        query = self.query(column)
        if self.oldest is not None:
            keys = [keys[0] + Exact(self.oldest.tolist(), self.query.denominator), *keys[1:]]
        if self.null_key is not None:
            keys = [*keys, Exact(self.null_key.tolist(), self.query.denominator)]
        scores = query.dots(keys)
        return [-abs(score) for score in scores] if self.score == "-abs" else scores

    def describe(self, name: str) -> list[ir.Attention]:
        """This head as :mod:`turing.ir` reads it."""
        at, over = f"{name}." if name else "", getattr(self.query, "denominator", 1)
        maps = [ir.described(f"{at}{part}", getattr(self, part)) for part in ("query", "key", "value", "write")]
        more = [
            None if numbers is None else ir.Numbers(f"{at}{part}", numbers.detach(), over)
            for part, numbers in (
                ("null_key", self.null_key),
                ("null_value", self.null_value),
                ("oldest", self.oldest),
            )
        ]
        kind = self.score, self.mask, self.offset, self.kappa, self.average
        parts: Any = (*(part for (part,) in maps), *more[:2], *kind, more[2])
        return [ir.Attention(name, *parts)]

    def check(self) -> None:
        """Raise ValueError unless attention is hard in this number type: a key that misses gets a weight of exactly 0.

        For this, κ must be large enough, and no score, a multiple of ½, may be rounded. The average is then exact if
        one key matches. If several tie, the ratio is exact, and the literal sum in general is not.
        """
        if self.null_key is None or self.kappa is None:
            return  # hard by itself
        dtype, bits = self.null_key.dtype, len(self.null_key) - 1
        if self.kappa < (minimum := least_kappa(dtype)):
            raise ValueError(
                f"κ = {self.kappa:g} is too small for {dtype}: a key that misses by {GAP} would keep some "
                f"weight. Take κ = {minimum} or more."
            )
        if not self.kappa <= MAX_KAPPA:
            raise ValueError(
                f"κ = {self.kappa:g} is infinite or not a number. Take one from {minimum} to {MAX_KAPPA:.0e}."
            )
        if bits > (maximum := int(2 / torch.finfo(dtype).eps)):
            raise ValueError(
                f"{bits} bits are compared here, and {dtype} can tell scores apart only up to {maximum} bits. "
                f"Take fewer bits, or a wider number type."
            )

    def extra_repr(self) -> str:
        return "hard" if self.kappa is None else f"κ={self.kappa:g}, {self.average}"


def _parameter(numbers: Tensor | None) -> nn.Parameter | None:
    return None if numbers is None else nn.Parameter(numbers, requires_grad=numbers.is_floating_point())


def _masked(scores: Tensor, hidden: Tensor | None) -> Tensor:
    return scores if hidden is None else scores.masked_fill(hidden, -torch.inf)


class Lookup(Attention):
    """An attention head that finds the column whose address is the one asked for, and fetches a part of it.

    - ``width``: how many numbers a column has
    - ``ask``, ``at``: the bits at the places ``ask`` of a column are compared with the bits at the places ``at`` of the
      columns that it looks at
    - ``fetch``, ``into``: what stands at the places ``fetch`` of the column that matches is added to the places
      ``into`` of the column that asks. None in ``ask`` or ``fetch`` stands for a constant 1.
    - ``kappa``: the factor κ on scores
    - ``average``: how the values are averaged, ``"ratio"`` (:func:`ratio`) or ``"literal"`` (:func:`literal`)
    - ``mask``: which columns a column may look at, unless given itself and the earlier ones; see :class:`Attention`

    When you call the head yourself, pass ``hidden=head.hidden(m)`` for m columns: without it, nothing is masked.

    If several columns match, their average is fetched, and 0 if none does. Here column 0 asks for the address of
    column 1, which comes later, and finds it only without the mask:

    >>> x = turing.Layout(ask=2, address=2, content=1, found=1)
    >>> lookup = Lookup(x.width, ask=x.ask, at=x.address, fetch=x.content, into=x.found)
    >>> columns = torch.tensor([[0., 1., 0., 0., 1., 0.],   # asks for address 0 1; is address 0 0
    ...                         [0., 0., 0., 1., 1., 0.]])  # asks for address 0 0; is address 0 1
    >>> keys, values = lookup.remember(columns)
    >>> lookup(columns, keys, values)[:, x.found.slice].flatten().tolist()
    [1.0, 1.0]
    >>> hidden = lookup.hidden(2)
    >>> lookup(columns, keys, values, hidden=hidden)[:, x.found.slice].flatten().tolist()
    [0.0, 1.0]

    Bits become signs: 2x − 1 in the query and (2x − 1)/2 in the key. Each equal bit adds ½ to the score, and each
    different bit subtracts ½. The null key scores ½ less than a match, and ½ more than a column with one wrong bit.

    Chapter: :doc:`/book/hard-attention`.
    """

    def __init__(
        self,
        width: int,
        ask: Iterable[int | None],
        at: Iterable[int],
        fetch: Iterable[int | None],
        into: Iterable[int],
        kappa: float = KAPPA,
        average: str = "ratio",
        mask: str = "causal",
    ):
        ask, at, fetch, into = list(ask), list(at), list(fetch), list(into)
        _check_pairs(width, ask, at, "ask", "at")
        _check_pairs(width, fetch, into, "fetch", "into")
        n, d = len(ask), len(fetch)
        Wq, bq = torch.zeros(n + 1, width), -torch.ones(n + 1)
        Wk, bk = torch.zeros(n + 1, width), -torch.ones(n + 1) / 2
        Wv, bv = torch.zeros(d, width), torch.zeros(d)
        Wo, bo = torch.zeros(width, d), torch.zeros(width)
        for i, (asked, looked_at) in enumerate(zip(ask, at, strict=True)):
            Wk[i, looked_at] = 1  # x - 1/2
            if asked is None:
                bq[i] = 1  # asks for a 1
            else:
                Wq[i, asked] = 2  # 2x - 1
        bq[n], bk[n] = 1, 0  # the constant for the null key's score
        for i, (source, target) in enumerate(zip(fetch, into, strict=True)):
            Wo[target, i] = 1
            if source is None:
                bv[i] = 1  # fetches a 1
            else:
                Wv[i, source] = 1
        null_key = torch.tensor([0.0] * n + [(n - 1) / 2])
        query, key = Readout(Wq, bq), Readout(Wk, bk)
        value, write = Readout(Wv, bv), Readout(Wo, bo)
        null = null_key, torch.zeros(d)
        super().__init__(query, key, value, write, *null, kappa, average, mask=mask)


def _check_pairs(width: int, sources: list[int | None], targets: list[int], source: str, target: str) -> None:
    if len(sources) != len(targets) or not targets:
        raise ValueError(
            f"{source} and {target} must have the same number of places, at least one; "
            f"{len(sources)} and {len(targets)} were given."
        )
    _check_places(width, **{f"{target}[{k}]": place for k, place in enumerate(targets)})
    for k, place in enumerate(sources):
        if place is not None:
            _check_places(width, **{f"{source}[{k}]": place})
