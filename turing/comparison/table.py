"""Table 1 of the paper, and the order of rows: constructions that keep the tape alike are neighbours."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib import resources

__all__ = ["claims", "in_order"]


def claims() -> dict[str, dict[str, str]]:
    """Table 1 of the paper: for each construction and quantity what it claims.

    >>> from turing.comparison import claims
    >>> claims()["merrill24"]
    {'bits': 'O(log t)', 'width': 'O(1)', 'window': 'n + t', 'tokens': '1'}

    Chapter: :doc:`/book/table`.
    """
    return json.loads(resources.files("turing.comparison").joinpath("claims.json").read_text(encoding="utf-8"))


def in_order(names: Iterable[str]) -> list[str]:
    """Names of constructions in the order of :func:`claims`; those that it does not have come last."""
    place = {name: number for number, name in enumerate(claims())}
    return sorted(names, key=lambda name: place.get(name, len(place)))
