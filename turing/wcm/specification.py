"""What each module of the network has to compute: stated without weights, from the machine's own trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from turing.machine import TuringMachine

__all__ = ["specification"]


def specification(
    machine: TuringMachine, bits: int, word: Iterable[str], max_steps: int
) -> Iterator[dict[str, set[str]]]:
    """What every vector of a run must be, computed from the machine alone; :func:`turing.verify
    <turing.verification.verify>` compares with this.

    Yields for each step a dictionary from modules to the names of the places that are 1; all others are 0. A step at
    which the machine jams is the last one, and leaves no state. ``bits`` is that of the network.

    >>> import turing
    >>> from turing.wcm import specification
    >>> [sorted(step["transition"]) for step in specification(turing.zoo["bb2"], 3, "", max_steps=2)]
    [['scr5[R]', 'st[B]', 'sym2[1]'], ['pos1[0]', 'pos2[0]', 'scr5[L]', 'st[A]', 'sym2[1]']]

    Chapter: :doc:`/book/wcm21`.
    """
    first = machine.tape(word)
    last_visit: dict[int, int] = {}
    written: list[set[str]] = []

    def number(name: str, value: int, places: Iterable[int] = range(bits)) -> set[str]:
        return {name if bits == 1 else f"{name}[{k}]" for k in places if value >> k & 1}

    for now in machine.trace(word, max_steps):
        if now.step == max_steps or now.state in machine.halting:
            return
        rule = machine.delta.get((now.state, now.symbol))
        q, a, d = rule or (None, None, 0)
        t, h, p = now.step, now.head, now.head + d
        addend = d % 2**bits
        last_visit[h] = t
        written.append({f"scr1[{a}]"} if rule else set())
        out: dict[str, set[str]] = {}

        decided = {f"st[{q}]", f"sym2[{a}]"} if rule else set()
        decided |= {"scr5[R]"} if d > 0 else {"scr5[L]"} if d < 0 else set()
        out["transition"] = have = decided | number("pos1", t) | number("pos2", h)
        out["preprocess"] = have | number("pos3", h) | number("add", addend)
        for k in range(bits):
            done, left, size = range(k + 1), range(k + 1, bits), 2 ** (k + 1)
            carry = {"scr4[visited]"} if h % size + addend % size >= size else set()
            sum_ = number("pos3", p, done) | number("pos3", h, left) | number("add", addend, left)
            out[f"adder{k}"] = have | sum_ | carry
        out["project"] = have = have | number("pos3", p)

        visited, m = p in last_visit, last_visit.get(p, 0)
        out["visited"] = have = have | ({"scr4[visited]"} if visited else set())
        for j in reversed(range(bits)):
            out[f"search{j}"] = have | number("scr3", m, range(j, bits))
        last, initial = written[m], {f"scr2[{first[p]}]"} if p in first else set()
        out["last"] = have = have | number("scr3", m) | last
        out["initial"] = have = have | initial
        out["v"] = have = have | {f"scr4[{'visited' if visited else 'word' if p in first else 'blank'}]"}
        out["arrange"] = have = have - (initial if visited else last)

        under_head = last if visited else initial or {f"scr1[{machine.blank}]"}
        symbol = {f"sym1{name[4:]}" for name in under_head}
        out["combine"] = have - number("pos1", t) - number("pos2", h) | number("pos2", p) | symbol
        yield out
