"""Attention with weights set by hand: look a value up by its address, exactly.

Section 5.3 of the paper. A query is compared with every key, and the values of the keys that fit best are
averaged. A null key with a null value stands for "nothing fits".

Chapter: :doc:`/book/04_attention`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from turing.gates import Readout, _check_places

if TYPE_CHECKING:
    from turing.layout import Layout

__all__ = ["Attention", "Lookup", "least_kappa", "literal", "ratio"]

KAPPA = 9999.0  # the paper's
GAP = 0.5  # by which a match outscores the null key, and the null key a near match
MOST = 1e38  # float32, in which the narrow types compute too, ends at 3e38, and infinity times 0 is no number


def ratio(scores: Tensor, values: Tensor, kappa: float = KAPPA) -> Tensor:
    """The average with weights softmax(κ scores), as (Σ eᵢ vᵢ) / (Σ eᵢ).

    When equal bits tie, both sums are whole numbers, and the result is
    exact.
    Shapes: ``(…, m, k)`` and ``(…, k, d)`` to ``(…, m, d)``.

    >>> ratio(torch.zeros(1, 10), torch.ones(10, 1)).item()
    1.0

    Chapter: :doc:`/book/04_attention`.
    """
    e = torch.exp(kappa * (scores - scores.amax(dim=-1, keepdim=True)))
    ones = torch.ones_like(values[..., :1])
    sums = e @ torch.cat([values, ones], dim=-1)
    return sums[..., :-1] / sums[..., -1:]


def literal(scores: Tensor, values: Tensor, kappa: float = KAPPA) -> Tensor:
    """The same as the paper writes it, softmax(κ scores) @ values: of c ties each 1/c is rounded before it is added.

    What comes out depends on the order in which the matrix product adds, which is up to torch and the hardware.

    >>> literal(torch.zeros(1, 10), torch.ones(10, 1)).item()
    1.0000001192092896

    Chapter: :doc:`/book/04_attention`.
    """
    return _softmax(scores, kappa) @ values


def _softmax(scores: Tensor, kappa: float) -> Tensor:
    return torch.softmax(kappa * (scores - scores.amax(dim=-1, keepdim=True)), dim=-1)  # κ times a score may overflow


AVERAGES = {"ratio": ratio, "literal": literal}


def least_kappa(dtype: torch.dtype, gap: float = GAP) -> int:
    """The least whole κ at which a key that scores ``gap`` less than the best gets the weight 0, exactly.

    >>> least_kappa(torch.float32), least_kappa(torch.float64), least_kappa(torch.bfloat16)
    (208, 1491, 186)

    Chapter: :doc:`/book/04_attention`.
    """
    if not gap > 0:
        raise ValueError(f"The gap between the best score and the next is above 0, and gap={gap!r} was given.")
    info = torch.finfo(dtype)
    smallest = math.log2(info.tiny) + math.log2(info.eps)  # a subnormal number; half of it rounds to 0
    return math.ceil((1 - smallest) * math.log(2) / gap)


class Attention(nn.Module):
    """Where a column's query fits the key of another, that one's value is added to the column.

    All maps are affine, with numbers that whoever builds the layer has set: ``query`` and ``key`` from w to n + 1
    numbers, n bits and the constant through which the null key scores; ``value`` from w to the d numbers fetched;
    ``write`` from there to w. The null key has the null value. ``average`` is ``"ratio"`` or ``"literal"``, the name
    of the function that averages.

    Chapter: :doc:`/book/04_attention`.
    """

    looks_at = "column"  # what turing.show calls the things among which it looks
    layout: Layout  # of the columns, if somebody has named their places

    def __init__(
        self,
        query: Readout,
        key: Readout,
        value: Readout,
        write: Readout,
        null_key: Tensor,
        null_value: Tensor,
        kappa: float = KAPPA,
        average: str = "ratio",
    ):
        super().__init__()
        if average not in tuple(AVERAGES):  # a dict would hash what it is asked for, and a list has no hash
            raise ValueError(f"An average is one of {', '.join(AVERAGES)}, and {average!r} was given.")
        if isinstance(kappa, bool) or not isinstance(kappa, (int, float)) or not 0 < kappa <= MOST:
            raise ValueError(f"κ is a number above 0, such as {KAPPA:g}, and at most {MOST:.0e}; {kappa!r} was given.")
        self.query, self.key, self.value, self.write = query, key, value, write
        self.null_key, self.null_value = nn.Parameter(null_key), nn.Parameter(null_value)
        self.kappa, self.average = float(kappa), average

    def remember(self, columns: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of columns, to be kept: they do not change when later columns come.

        Shapes: ``(…, k, w)`` to ``(…, k, n + 1)`` and ``(…, k, d)``.
        """
        return self.key(columns), self.value(columns)

    def scores(self, columns: Tensor, keys: Tensor) -> Tensor:
        """How well each key fits, the null key last. Shapes: ``(…, m, w)`` to ``(…, m, k + 1)``."""
        keys = torch.cat([keys, self.null_key.expand(*keys.shape[:-2], 1, -1)], dim=-2)
        return self.query(columns) @ keys.transpose(-1, -2)

    def weights(self, columns: Tensor, keys: Tensor) -> Tensor:
        """The share that each key has in the average if none is hidden, the null key last.

        Shapes: ``(…, m, w)`` to ``(…, m, k + 1)``.
        """
        return _softmax(self.scores(columns, keys), self.kappa)

    def forward(self, columns: Tensor, keys: Tensor, values: Tensor, hidden: Tensor | None = None) -> Tensor:
        """The columns with what they found; ``hidden`` is true where a column may not look, ``(…, m, k + 1)``."""
        scores = self.scores(columns, keys)
        if hidden is not None:
            scores = scores.masked_fill(hidden, -torch.inf)
        values = torch.cat([values, self.null_value.expand(*values.shape[:-2], 1, -1)], dim=-2)
        return columns + self.write(AVERAGES[self.average](scores, values, self.kappa))

    def check(self) -> None:
        """Raise unless the weights are hard in this number type: a key that misses gets the weight 0, exactly.

        For that κ has to be large enough, and a score, a multiple of ½, must not be rounded. The average is then
        exact where one key fits. Where several tie, it is exact as a ratio, and in general not as a literal sum.
        """
        dtype, bits = self.null_key.dtype, len(self.null_key) - 1
        if self.kappa < (least := least_kappa(dtype)):
            raise ValueError(
                f"κ = {self.kappa:g} is too small for {dtype}: a key that misses by {GAP} would keep a part of the "
                f"weight. Take κ = {least} or more."
            )
        if not self.kappa <= MOST:
            raise ValueError(f"κ = {self.kappa:g} is infinite or no number. Take one from {least} to {MOST:.0e}.")
        if bits > (most := int(2 / torch.finfo(dtype).eps)):
            raise ValueError(
                f"{bits} bits are compared here, and {dtype} tells their scores apart up to {most} bits. "
                f"Take fewer bits, or a wider number type."
            )

    def extra_repr(self) -> str:
        return f"κ={self.kappa:g}, {self.average}"


class Lookup(Attention):
    """Finds the columns whose bits are those asked for, and fetches a part of them.

    The bits on the places ``ask`` of a column are compared with those on the places ``at`` of the columns that it
    looks at. What the one that fits has on the places ``fetch`` is added to the places ``into`` of the column that
    asks. None among the places of ``ask`` or ``fetch`` stands for a fixed 1.

    Bits become signs: 2x − 1 in the query and (2x − 1)/2 in the key. Each equal bit adds ½ to the score, each other
    bit takes ½ away. The null key scores ½ less than a match, and ½ more than a column with one wrong bit.
    Shapes: columns ``(…, m, w)``, keys and values of k columns, to ``(…, m, w)``.

    >>> from turing.layout import Layout
    >>> x = Layout(ask=2, address=2, content=1, found=1)
    >>> lookup = Lookup(x.width, ask=x.ask, at=x.address, fetch=x.content, into=x.found)
    >>> columns = torch.tensor([[0., 1., 0., 0., 1., 0.],   # asks for address (0, 1); is address (0, 0)
    ...                         [0., 0., 0., 1., 0., 0.]])  # asks for address (0, 0); is address (0, 1)
    >>> lookup(columns, *lookup.remember(columns))[:, x.found.slice].flatten().tolist()
    [0.0, 1.0]

    Chapter: :doc:`/book/04_attention`.
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
        bq[n], bk[n] = 1, 0  # a constant, for the null key's score
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
        super().__init__(query, key, value, write, *null, kappa, average)


def _check_pairs(width: int, given: list[int | None], there: list[int], one: str, other: str) -> None:
    if len(given) != len(there) or not there:
        raise ValueError(
            f"{one} and {other} must name equally many places, at least one; {len(given)} and {len(there)} were given."
        )
    _check_places(width, **{f"{other}[{k}]": place for k, place in enumerate(there)})
    for k, place in enumerate(given):
        if place is not None:
            _check_places(width, **{f"{one}[{k}]": place})
