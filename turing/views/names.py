"""The name of a Boolean function, from its truth table: AND(a, ¬b), XOR(a, b, c), MAJ(a, b, c), b if s else a.

A truth table is a list of 2ᵏ values; the first input changes fastest.

Chapter: :doc:`/book/gates`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, combinations

LONGEST_LIST, LONGEST_NAME = 40, 52  # characters; a longer list is cut with …, a longer name left out


def function(bits: list[bool], names: Sequence[str]) -> str:
    """The name of a function, or "" if it has none that is short."""
    name = _name(bits, names) or _choice(*needed(bits, names))
    return name if len(name) <= LONGEST_NAME else ""


def _name(bits: list[bool], names: Sequence[str]) -> str:
    """A name that may stand inside another one."""
    bits, names = needed(bits, names)
    if not names:
        return "1" if bits[0] else "0"
    if len(names) == 1:
        return names[0] if bits[1] else f"NOT({names[0]})"
    return _decided(bits, names) or _parity(bits, names) or _counting(bits, names) or _majority(bits, names)


def _decided(bits: list[bool], names: Sequence[str]) -> str:
    """AND or OR of literals and of one thing more: inputs of which one value decides, whatever the others are."""
    for kind, out in (("AND", False), ("OR", True)):
        literals: list[tuple[str, bool]] = []
        rest, others = bits, list(names)
        for i in reversed(range(len(names))):
            for value in (0, 1):
                if all(bit == out for bit in fixed(bits, i, value)):
                    literals.insert(0, (others.pop(i), value == out))
                    rest = fixed(rest, i, 1 - value)
        if literals:
            inner = _name(rest, others) if others else ""
            return gate(kind, literals, inner) if inner or not others else ""
    return ""


def _parity(bits: list[bool], names: Sequence[str]) -> str:
    """XOR of inputs and of one thing more: these inputs turn the output over, whatever the others are."""
    turning: list[str] = []
    rest, others = bits, list(names)
    for i in reversed(range(len(names))):
        if fixed(bits, i, 0) == [not bit for bit in fixed(bits, i, 1)]:
            turning.insert(0, others.pop(i))
            rest = fixed(rest, i, 0)
    if turning and not others:
        return f"{'XNOR' if rest[0] else 'XOR'}({_listed(turning)})"
    inner = _name(rest, others) if turning else ""
    return inner and f"XOR({_listed(turning, inner)})"


def _majority(bits: list[bool], names: Sequence[str]) -> str:
    """Majority of two inputs and of one thing more, or its opposite: the two decide, unless they differ."""
    for i, j in combinations(range(len(names)), 2):
        (no, one), (other, yes) = (
            (fixed(half, i, 0), fixed(half, i, 1)) for half in (fixed(bits, j, 0), fixed(bits, j, 1))
        )
        if one == other and len({*no}) == len({*yes}) == 1 and no != yes:
            rest = [bit != no[0] for bit in one]
            inner = _name(rest, [name for k, name in enumerate(names) if k not in (i, j)])
            return inner and f"{'at most 1 of ' if no[0] else 'MAJ'}({_listed([names[i], names[j]], inner)})"
    return ""


def gate(kind: str, literals: Sequence[tuple[str, bool]], inner: str = "") -> str:
    """AND or OR of literals, each a name and whether it is positive, and perhaps of one thing more."""
    signs = {positive for _, positive in literals}
    if inner or len(signs) == 2:
        return f"{kind}({_listed([name if positive else f'¬{name}' for name, positive in literals], inner)})"
    if not literals:
        return {"AND": "1", "OR": "0"}[kind]
    if len(literals) == 1:
        kind = "COPY" if True in signs else "NOT"
    elif False in signs:
        kind = {"AND": "NOR", "OR": "NAND"}[kind]
    return f"{kind}({_listed([name for name, _ in literals])})"


def _counting(bits: list[bool], names: Sequence[str]) -> str:
    """The name of a function that only asks how many of its inputs are 1."""
    k = len(names)
    counts: dict[int, bool] = {}
    for n, bit in enumerate(bits):
        if counts.setdefault(n.bit_count(), bit) != bit:
            return ""
    true = [count for count in range(k + 1) if counts[count]]
    if k % 2 and true == list(range(k // 2 + 1, k + 1)):
        return f"MAJ({_listed(names)})"
    how = (
        f"exactly {true[0]}" if len(true) == 1
        else f"at least {true[0]}" if true == list(range(true[0], k + 1))
        else f"at most {true[-1]}" if true == list(range(true[-1] + 1))
        else ""
    )  # fmt: skip
    return how and f"{how} of ({_listed(names)})"


def _choice(bits: list[bool], names: Sequence[str]) -> str:
    """The name of a function of three inputs, one of which chooses between the other two."""
    for i, name in enumerate(names if len(names) == 3 else ()):
        a, b = (*names[:i], *names[i + 1 :])
        sides = {(0, 1, 0, 1): a, (0, 0, 1, 1): b, (1, 0, 1, 0): f"¬{a}", (1, 1, 0, 0): f"¬{b}"}
        no, yes = (sides.get(tuple(fixed(bits, i, value))) for value in (0, 1))
        if no and yes:
            return f"{yes} if {name} else {no}"
    return ""


def fixed(values: list, position: int, value: int) -> list:
    """The part of a truth table in which the input at a position has a value."""
    block = 2**position
    return [x for start in range(value * block, len(values), 2 * block) for x in values[start : start + block]]


def needed(values: list, inputs: Sequence) -> tuple[list, tuple]:
    """A truth table without the inputs that make no difference, and the inputs that do."""
    kept = list(inputs)
    for position in reversed(range(len(kept))):
        low = fixed(values, position, 0)
        if low == fixed(values, position, 1):
            values = low
            del kept[position]
    return values, tuple(kept)


def fitting(parts: Sequence[str], room: int) -> int:
    """How many of the parts there is room for: all, or as many as leave some for the words that they are cut with."""
    ends = list(accumulate(len(part) + 2 for part in parts))
    if not parts or ends[-1] - 2 <= room:
        return len(parts)
    return max(1, sum(end <= room - len("… (99 inputs)") for end in ends))


def _listed(names: Sequence[str], inner: str = "") -> str:
    if inner:
        return ", ".join([inner, *names])
    kept = fitting(names, LONGEST_LIST)
    return ", ".join([*names[:kept], *[f"… ({len(names)} inputs)"][: len(names) - kept]])
