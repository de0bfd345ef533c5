"""The attention explorer: a query, keys with values, and the arithmetic that looks one up."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import traitlets

from turing.widgets.base import Widget, joined, style

__all__ = ["AttentionExplorer"]

MAX_BITS, MAX_KEYS, MAX_KAPPA = 8, 16, 9999
CHOICES = {"average": ("ratio", "literal"), "dtype": ("float32", "float64")}
Pair = tuple[str, int]  # a key and its value


class AttentionExplorer(Widget):
    """Hard attention under the reader's fingers: scores, weights and the average, in the arithmetic of torch.

    - ``bits``: of the query and of each key
    - ``keys``: pairs of a key and its value, such as ``("101", 1)``; the null key is added to them. The live attribute
      is called ``pairs``.
    - ``query``: the key that is looked for
    - ``kappa``: κ, how sharp attention is
    - ``average``: ``"ratio"`` (:func:`turing.attention.ratio`) or ``"literal"`` (:func:`turing.attention.literal`)
    - ``dtype``: ``"float32"`` or ``"float64"``

    All but ``bits`` are live.

    Example::

        AttentionExplorer(2, keys=[("10", 1), ("11", 0)], query="10", kappa=300)

    Chapter: :doc:`/book/hard-attention`.
    """

    _esm = joined("attention_explorer/widget.js")
    _css = style("attention_explorer/widget.css")

    bits = traitlets.Int(read_only=True).tag(sync=True)
    least = traitlets.Dict(read_only=True).tag(sync=True)
    presets: traitlets.List[dict] = traitlets.List(read_only=True).tag(sync=True)
    # Plain traits: the validators below say what is expected. A widget's ``keys`` are the names of its traits.
    query: traitlets.TraitType[str, str] = traitlets.TraitType("").tag(sync=True)
    pairs: traitlets.TraitType[list[Any], Sequence[Pair]] = traitlets.TraitType([]).tag(sync=True)
    kappa: traitlets.TraitType[float, float] = traitlets.TraitType(float(MAX_KAPPA)).tag(sync=True)
    average: traitlets.TraitType[str, str] = traitlets.TraitType("ratio").tag(sync=True)
    dtype: traitlets.TraitType[str, str] = traitlets.TraitType("float32").tag(sync=True)

    def __init__(
        self,
        bits: int = 3,
        keys: Sequence[Pair] | None = None,
        query: str | None = None,
        kappa: float = float(MAX_KAPPA),
        average: str = "ratio",
        dtype: str = "float32",
    ):
        import torch

        from turing.attention import least_kappa

        if isinstance(bits, bool) or not isinstance(bits, int) or not 1 <= bits <= MAX_BITS:
            raise ValueError(f"AttentionExplorer takes 1 to {MAX_BITS} bits, and bits={bits!r} was given.")
        self.set_trait("bits", bits)
        self.set_trait("least", {name: least_kappa(getattr(torch, name)) for name in CHOICES["dtype"]})
        self.set_trait("presets", _presets(bits))
        super().__init__()
        first = self.presets[0]
        self.query = first["query"] if query is None else query
        self.pairs = first["pairs"] if keys is None else keys
        self.kappa, self.average, self.dtype = kappa, average, dtype

    def _is_word(self, word: object) -> bool:
        return isinstance(word, str) and len(word) == self.bits and set(word) <= {"0", "1"}

    @traitlets.validate("query")
    def _valid_query(self, proposal: dict) -> str:
        if not self._is_word(proposal["value"]):
            raise ValueError(f"The query is {self._example()}, and {proposal['value']!r} was given.")
        return proposal["value"]

    @traitlets.validate("pairs")
    def _valid_pairs(self, proposal: dict) -> list[list]:
        given, key = proposal["value"], self.presets[0]["query"]
        if not isinstance(given, (list, tuple)) or not all(isinstance(p, (list, tuple)) and len(p) == 2 for p in given):
            raise ValueError(f'Keys are a list of pairs of a key and its value, such as ("{key}", 1), not {given!r}.')
        if not 1 <= len(given) <= MAX_KEYS:
            raise ValueError(f"There are 1 to {MAX_KEYS} keys besides the null key, and {len(given)} were given.")
        for word, value in given:
            if not self._is_word(word):
                raise ValueError(f"A key is {self._example()}, and {word!r} was given.")
            if isinstance(value, bool) or value not in (0, 1):
                raise ValueError(f"The value of a key is 0 or 1, and {value!r} was given with the key {word}.")
        return [[word, int(value)] for word, value in given]

    @traitlets.validate("kappa")
    def _valid_kappa(self, proposal: dict) -> float:
        kappa = proposal["value"]
        real = isinstance(kappa, Real) and not isinstance(kappa, bool)
        if not real or not 1 <= kappa <= MAX_KAPPA:
            raise ValueError(f"κ is a number from 1 to {MAX_KAPPA} here, and {kappa!r} was given.")
        return float(kappa)

    @traitlets.validate("average", "dtype")
    def _valid_choice(self, proposal: dict) -> str:
        name, value = proposal["trait"].name, proposal["value"]
        if value not in CHOICES[name]:
            one, other = CHOICES[name]
            raise ValueError(f'{name} is "{one}" or "{other}", and {value!r} was given.')
        return value

    def _kappa(self) -> float | int:
        return int(self.kappa) if self.kappa.is_integer() else self.kappa

    def _example(self) -> str:
        return f'a string of {self.bits} bits, such as "{self.presets[0]["query"]}"'

    def fallback(self) -> str:
        scores, weights, result, hard = self._attend()
        keys = [*(key for key, _ in self.pairs), "null key"]
        values = [*(value for _, value in self.pairs), 0]
        rows = "\n".join(
            f"<tr><td>{key}</td><td>{value}</td><td>{score:g}</td><td>{weight:.4g}</td></tr>"
            for key, value, score, weight in zip(keys, values, scores, weights, strict=True)
        )
        return (
            f"<p>Query {self.query}, κ = {self._kappa()}, {self.dtype}, {self.average}</p>\n"
            "<table>\n<thead><tr><th>key</th><th>value</th><th>score</th><th>weight</th></tr></thead>\n"
            f"<tbody>\n{rows}\n</tbody>\n</table>\n"
            f"<p>Result {result:.9g}, hard attention {hard:.9g}, error {abs(result - hard):.3g}</p>\n"
            "<p>With scripts on, the page lets you set query, keys and κ; "
            "in Python, <code>turing.attention</code> has both averages.</p>"
        )

    def _attend(self) -> tuple[list[float], list[float], float, float]:
        """Scores and weights, the null key last, then the result, and what hard attention gives."""
        import torch

        from turing import attention

        dtype = getattr(torch, self.dtype)
        keys = torch.tensor([[int(bit) - 0.5 for bit in key] for key, _ in self.pairs], dtype=dtype)
        query = torch.tensor([2.0 * int(bit) - 1 for bit in self.query], dtype=dtype)
        scores = torch.cat([keys @ query, torch.tensor([(self.bits - 1) / 2], dtype=dtype)])
        values = torch.tensor([[value] for _, value in self.pairs] + [[0]], dtype=dtype)
        result = attention.AVERAGES[self.average](scores[None], values, self.kappa)
        best = values[scores == scores.max()]
        weights = torch.softmax(self.kappa * (scores - scores.max()), dim=-1)
        return scores.tolist(), weights.tolist(), result.item(), (best.sum() / len(best)).item()

    def __repr__(self) -> str:
        keys = [(key, value) for key, value in self.pairs]
        return (
            f"AttentionExplorer({self.bits}, keys={keys!r}, query={self.query!r}, kappa={self._kappa()}, "
            f"average={self.average!r}, dtype={self.dtype!r})"
        )


def _presets(bits: int) -> list[dict]:
    """What one click sets: a match among near misses, misses alone, a κ that leaks, and a tie of ten."""
    query = ("10" * bits)[:bits]

    def wrong(*places: int) -> str:
        return "".join("10"[int(bit)] if place in places else bit for place, bit in enumerate(query))

    misses = [[wrong(0), 1], [wrong(bits - 1), 0], [wrong(*range(bits)), 1]]
    one = [misses[0], [query, 1], *misses[1:]]
    settings = {
        "One match": (one, MAX_KAPPA, "ratio"),
        "No match": ([[key, 1] for key, _ in misses], MAX_KAPPA, "ratio"),
        "Small κ": (one, 4, "ratio"),
        "The tie that breaks it": ([[query, 1]] * 10, MAX_KAPPA, "literal"),
    }
    return [
        {"name": name, "query": query, "pairs": pairs, "kappa": kappa, "average": average, "dtype": "float32"}
        for name, (pairs, kappa, average) in settings.items()
    ]
