"""Whether two machines are the same but for the names of their states and symbols.

Chapter: :doc:`/book/reading-back`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from turing.machine import TuringMachine

__all__ = ["Renaming", "renaming"]

Colours = dict[str, int]


class Renaming(NamedTuple):
    """Two dictionaries, of states and of symbols, from the names of one machine to those of another.

    Chapter: :doc:`/book/reading-back`.
    """

    states: Mapping[str, str]
    symbols: Mapping[str, str]


def renaming(
    one: TuringMachine, other: TuringMachine, mirrored: bool = False, initial: bool = False
) -> Renaming | None:
    """How to rename the states and symbols of one machine to get the rules and the blank of another: a
    :class:`Renaming`, or None if the machines differ in more than names.

    - ``initial=True``: the initial states have to correspond too
    - ``mirrored=True``: all moves may be exchanged, left for right

    States that halt count as states without rules.

    >>> from turing.decompiler import renaming
    >>> machine = turing.zoo["bb2"]
    >>> renaming(machine, machine.rename(states={"A": "x"})).states["A"]
    'x'

    Chapter: :doc:`/book/reading-back`.
    """
    sizes = [(len(m.states), len(m.symbols), len(m.delta)) for m in (one, other)]
    if sizes[0] != sizes[1]:
        return None
    for sign in (1, -1) if mirrored else (1,):
        rules = [
            {pair: (target, written, sign * move if k else move) for pair, (target, written, move) in m.delta.items()}
            for k, m in enumerate((one, other))
        ]
        colours: list[tuple[Colours, Colours]] = [
            (
                {q: int(initial and q == m.initial) for q in m.states},
                {a: int(a == m.blank) for a in m.symbols},
            )
            for m in (one, other)
        ]
        if found := _searched(rules, colours):
            return found
    return None


def _searched(rules: list[dict], colours: list[tuple[Colours, Colours]]) -> Renaming | None:
    refined = _refined(rules, colours)
    if refined is None:
        return None
    for kind in (0, 1):
        classes: dict[int, list[str]] = {}
        for name, colour in refined[0][kind].items():
            classes.setdefault(colour, []).append(name)
        tied = [names for names in classes.values() if len(names) > 1]
        if tied:
            chosen = tied[0][0]
            fresh = 1 + max(refined[0][kind].values())
            for partner, colour in refined[1][kind].items():
                if colour == refined[0][kind][chosen]:
                    new: Any = [(dict(states), dict(symbols)) for states, symbols in refined]
                    new[0][kind][chosen] = new[1][kind][partner] = fresh
                    if found := _searched(rules, new):
                        return found
            return None
    maps = []
    for kind in (0, 1):
        names = {colour: name for name, colour in refined[1][kind].items()}
        maps.append({name: names[colour] for name, colour in refined[0][kind].items()})
    states, symbols = maps
    renamed = {(states[q], symbols[a]): (states[t], symbols[b], move) for (q, a), (t, b, move) in rules[0].items()}
    return Renaming(states, symbols) if renamed == rules[1] else None


def _refined(rules: list[dict], colours: list[tuple[Colours, Colours]]) -> list[tuple[Colours, Colours]] | None:
    """Names that are used alike keep the same colour; None if the two machines differ."""
    classes = 0
    while True:
        keys: list[tuple[dict, dict]] = []
        for table, (states, symbols) in zip(rules, colours, strict=True):
            of_state: dict[str, list] = {q: [] for q in states}
            of_symbol: dict[str, list] = {a: [] for a in symbols}
            for (q, a), (target, written, move) in table.items():
                row = (states[q], symbols[a], states[target], symbols[written], move)
                of_state[q].append((0, row))
                of_symbol[a].append((0, row))
                of_state[target].append((1, row))
                of_symbol[written].append((1, row))
            keys.append(
                (
                    {q: (states[q], tuple(sorted(rows))) for q, rows in of_state.items()},
                    {a: (symbols[a], tuple(sorted(rows))) for a, rows in of_symbol.items()},
                )
            )
        number = 0
        new: list[tuple[Colours, Colours]] = [({}, {}), ({}, {})]
        for kind in (0, 1):
            if sorted(keys[0][kind].values()) != sorted(keys[1][kind].values()):
                return None
            index = {key: n for n, key in enumerate(sorted(set(keys[0][kind].values())))}
            number += len(index)
            for side in (0, 1):
                new[side][kind].update({name: index[key] for name, key in keys[side][kind].items()})
        colours = new
        if number == classes:
            return colours
        classes = number
