"""From a machine with two stacks back to the Turing machine that was translated into it, where there is one.

Chapter: :doc:`/book/reading-back`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from turing.decompiler.tensors import Refusal
from turing.machine import TuringMachine
from turing.stack_machine import NOOP, StackMachine, TwoStacks

__all__ = ["Translated", "translated"]

TOPS = (None, "0", "1")
Operations = tuple  # on the left stack and on the right one; none if they do not tell states apart
UNENTERED = (
    "the head never moves into some state of the Turing machine, and only a move shows which states of the stack "
    "machine stand for the same state, and for which symbol"
)


class Translated(NamedTuple):
    """A Turing machine, and the states of the stack machine for each state of its translation, by the operations that
    lead there if these tell states apart. ``others`` are the numbers of bits that a symbol may have as well.

    Chapter: :doc:`/book/reading-back`.
    """

    machine: TuringMachine
    states: Mapping[str, Mapping[Operations, str]]
    others: tuple[int, ...]


class Step(NamedTuple):
    """What a state does whatever lies on the stacks: the move, the bit that it pushes, and where it goes on by the bit
    that it pops.
    """

    move: int
    bit: int
    after: tuple[str, ...]


def translated(machine: StackMachine, left: int = 0, entered: Mapping[str, Operations] | None = None) -> Translated:
    """The Turing machine whose translation into two stacks this is, or a refusal. Stack ``left`` has the cells left of
    the head.

    If the stack machine has a state for each class of steps, ``entered`` are the operations of these steps. Then states
    with the same rules are one if different operations lead there.

    Some stack machines are the translation of several Turing machines: four symbols of two bits each may also be two
    symbols and more states. Then the one with the most symbols is returned.

    Chapter: :doc:`/book/reading-back`.
    """
    if machine.p != 2:
        raise Refusal(f"a Turing machine is translated into two stacks, and this machine has {machine.p}")
    steps = {q: _step(machine, q, left) for q in machine.states}
    if entered is not None and left == 1:
        entered = {q: operations[::-1] for q, operations in entered.items()}
    found: list[tuple[int, TuringMachine, Mapping[str, Mapping[Operations, str]]]] = []
    reasons: list[Refusal] = []
    for k in reversed(range(1, len(machine.states).bit_length() + 1)):
        control = _control(steps, k)
        if control is None:
            continue
        if not control:
            raise Refusal(
                "the head moves in one direction for ever from some states, and where a step of the Turing machine "
                "begins there is not in the weights"
            )
        try:
            table = _table(steps, control, k, entered)
        except Refusal as reason:
            reasons.append(reason)
            continue
        if table and (same := _same(*table, machine, left, entered)) is not None:
            found.append((k, table[0], same))
    if not found:
        raise reasons[0] if reasons else Refusal("its rules could not be read as those of a Turing machine")
    (_, best, states), *rest = found
    return Translated(best, states, tuple(k for k, *_ in rest))


def _step(machine: StackMachine, q: str, left: int) -> Step | None:
    """What a state does; None if it has no rules."""
    rules = {}
    for one in TOPS:
        for other in TOPS:
            tops = (one, other) if left == 0 else (other, one)
            if (q, *tops) in machine.rules:
                target, *operations = machine.rules[(q, *tops)]
                rules[one, other] = target, *(operations if left == 0 else reversed(operations))
    if not rules:
        return None
    (effect,) = effects if len(effects := {rule[1:] for rule in rules.values()}) == 1 else (None,)
    wrong = Refusal(f"state {q} does not act as a state of a translated Turing machine does")
    if effect is None:
        raise wrong
    kinds = [kind for kind, _ in effect]
    if effect == (NOOP, NOOP):
        if len(rules) != 9 or len({rule[0] for rule in rules.values()}) != 1:
            raise wrong
        return Step(0, 0, (rules[None, None][0],))
    if sorted(kinds) != ["pop", "push"]:
        raise wrong
    popped = kinds.index("pop")
    after: dict[str | None, str] = {}
    for top in TOPS:
        here = [rule[0] for tops, rule in rules.items() if tops[popped] == top]
        if len(set(here)) > 1 or len(here) not in (0, 3):
            raise wrong
        if here:
            after[top] = here[0]
    if after.get(None) is None or after.get("0") != after[None]:
        raise wrong
    bit = int(str(effect[1 - popped][1]))
    return Step(1 if popped == 1 else -1, bit, tuple(after[top] for top in ("0", "1") if top in after))


def _control(steps: Mapping[str, Step | None], k: int) -> list[str] | None:
    """The states in which a step of the Turing machine begins, if its symbols have k bits; None if that cannot be, and
    none of them if it cannot be known.

    A move takes k states in a row, so the number of a state in its row is known from its neighbours'.
    """
    if k == 1:
        return list(steps)
    near: dict[str, list[tuple[str, int]]] = {q: [] for q in steps}
    phase: dict[str, int] = {q: 0 for q, step in steps.items() if step is None or step.move == 0}
    reached = set()
    for q, step in steps.items():
        for target in step.after if step else ():
            assert step is not None
            reached.add(target)
            far = steps[target]
            if step.move == 0 or (far is not None and far.move != step.move):
                phase[target] = 0
            if step.move:
                near[q].append((target, 1))
                near[target].append((q, -1))
    phase |= dict.fromkeys(steps.keys() - reached, 0)
    waiting = list(phase)
    while waiting:
        here = waiting.pop()
        for there, more in near[here]:
            wanted = (phase[here] + more) % k
            if there not in phase:
                phase[there] = wanted
                waiting.append(there)
            elif phase[there] != wanted:
                return None
    return [q for q in steps if phase[q] == 0] if len(phase) == len(steps) else []


def _table(
    steps: Mapping[str, Step | None], control: list[str], k: int, entered: Mapping[str, Operations] | None
) -> tuple[TuringMachine, dict[tuple[str, str], list[str]]] | None:
    """The Turing machine, and the states that stand for each of its pairs of a state and a symbol."""
    moves: dict[str, tuple[int, int, tuple[str, ...]]] = {}
    for q in control:
        step = steps[q]
        if step is not None and step.move:
            made = _move(steps, q, k)
            if made is None:
                return None
            moves[q] = made
    rows = list(dict.fromkeys(row for *_, row in moves.values()))
    if not rows:
        raise Refusal("the head never moves, and only a move shows which states stand for which symbol")
    symbols = len(rows[0])
    place = {q: (n, a) for n, row in enumerate(rows) for a, q in enumerate(row)}
    if (
        any(len(row) != symbols for row in rows)
        or len(place) != symbols * len(rows)
        or k != max(1, (symbols - 1).bit_length())
        or any(written >= symbols for _, written, _ in moves.values())
        or not place.keys() <= set(control)
    ):
        return None
    stays = {step.after[0] for step in steps.values() if step and step.move == 0}
    merged = [[row] for row in rows]
    if entered is not None:
        merged = _merged(rows, steps, entered)
        first = {row[0]: n for n, group in enumerate(merged) for row in group}
        place = {q: (first[row[0]], a) for row in rows for a, q in enumerate(row)}
        place |= {q: _stayed(q, place, steps) for q in control if q in stays and q not in place}
    free = [q for q in control if q not in place]
    if any(steps[q] is not None or q in stays for q in free) or (free and entered is not None):
        raise Refusal(UNENTERED)
    if len(free) % symbols:
        return None
    idle = [[tuple(free[n : n + symbols])] for n in range(0, len(free), symbols)]
    ordered = sorted([*merged, *idle], key=lambda group: control.index(group[0][0]))
    names = [f"q{n}" for n in range(len(ordered))]
    alphabet = ["_", *map(str, range(1, symbols))]
    was = {n: ordered.index(group) for n, group in enumerate(merged)}
    place = {q: (was[n], a) for q, (n, a) in place.items() if q not in free}
    place |= {q: (n, a) for n, group in enumerate(ordered) for row in group for a, q in enumerate(row)}
    delta: dict[tuple[str, str], tuple[str, str, int]] = {}
    for q, (n, a) in place.items():
        step = steps[q]
        if q in moves:
            move, written, row = moves[q]
            delta[names[n], alphabet[a]] = names[place[row[0]][0]], alphabet[written], move
        elif step is not None:
            target, written = place[step.after[0]]
            delta[names[n], alphabet[a]] = names[target], alphabet[written], 0
    delta = _in_order(delta, alphabet)
    with_rules = [q for q, _ in delta]
    halting = set(names) - set(with_rules)
    machine = TuringMachine(delta, with_rules[0], halting, "_", alphabet=alphabet)
    pairs: dict[tuple[str, str], list[str]] = {}
    for q, (n, a) in place.items():
        pairs.setdefault((names[n], alphabet[a]), []).append(q)
    return machine, pairs


def _merged(
    rows: list[tuple[str, ...]], steps: Mapping[str, Step | None], entered: Mapping[str, Operations]
) -> list[list[tuple[str, ...]]]:
    """The rows of states by the state of the Turing machine: those with the same rules are one if different operations
    lead there, as few as possible.
    """
    alike: dict[tuple, list[tuple[str, ...]]] = {}
    for row in rows:
        alike.setdefault(tuple(steps[q] for q in row), []).append(row)
    found = []
    for group in alike.values():
        ways = {entered[row[0]] for row in group}
        if len(ways) == len(group):
            found.append(group)
        elif len(ways) == 1:
            found += [[row] for row in group]
        else:
            raise Refusal(
                "several states of the Turing machine have the same rules, such as halting ones, and which of them a "
                "step leads to is not in the weights"
            )
    return found


def _stayed(q: str, place: Mapping[str, tuple[int, int]], steps: Mapping[str, Step | None]) -> tuple[int, int]:
    """The state and the symbol that a stay leads to: the one pair with these rules."""
    same = {pair for other, pair in place.items() if steps[other] == steps[q]}
    if not same:
        raise Refusal(UNENTERED)
    if len(same) > 1:
        raise Refusal(
            f"a step that stays leads to a state and a symbol with a rule that {len(same)} such pairs have, and which "
            f"of these it is cannot be read from the weights"
        )
    return same.pop()


def _in_order(
    delta: Mapping[tuple[str, str], tuple[str, str, int]], alphabet: list[str]
) -> dict[tuple[str, str], tuple[str, str, int]]:
    """The rules in an order in which their symbols appear in the order of the alphabet, as their codes are numbered by
    that. If there is none, in any.
    """
    waiting, ordered, known = sorted(delta), [], 1
    while waiting:
        for pair in waiting:
            fresh = list(dict.fromkeys(a for a in (pair[1], delta[pair][1]) if alphabet.index(a) >= known))
            if fresh == alphabet[known : known + len(fresh)]:
                break
        else:
            return dict(delta)
        known += len(fresh)
        ordered.append(pair)
        waiting.remove(pair)
    return {pair: delta[pair] for pair in ordered}


def _move(steps: Mapping[str, Step | None], q: str, k: int) -> tuple[int, int, tuple[str, ...]] | None:
    """The move that begins in a state: its direction, the code of the symbol that is written, and by the code of the
    symbol that is read the state in which it ends.
    """
    now, first, written = {0: q}, steps[q], 0
    for j in range(k):
        here = [steps[state] for state in now.values()]
        if len({(step.move, step.bit) if step else None for step in here}) != 1 or here[0] is None:
            return None
        if first is None or here[0].move != first.move:
            return None
        written |= here[0].bit << (k - 1 - j)  # the last bit is pushed first
        now = {
            code | bit << j: target
            for (code, _), step in zip(now.items(), here, strict=True)
            for bit, target in enumerate(step.after if step else ())
        }
    if first is None or sorted(now) != list(range(len(now))):
        return None
    return first.move, written, tuple(now[code] for code in range(len(now)))


def _same(
    turing: TuringMachine,
    pairs: Mapping[tuple[str, str], list[str]],
    machine: StackMachine,
    left: int,
    entered: Mapping[str, Operations] | None,
) -> dict[str, dict[Operations, str]] | None:
    """The states of a stack machine by the names of those of the translation of a Turing machine, if these make both
    the same, rule for rule.
    """
    two, way = TwoStacks(turing), entered or {}
    names: dict[str, dict[Operations, str]] = {}
    waiting = []
    for name, pair in two.control.items():
        names[name] = {way.get(q, ()): q for q in pairs.get(pair, [])}
        waiting += [(name, q) for q in names[name].values()]
    seen = 0
    while waiting:
        name, here = waiting.pop()
        for key, (target, *operations) in _rules(two.machine, name):
            tops, changes = list(key[1:]), list(operations)
            if left == 1:
                tops.reverse()
                changes.reverse()
            wanted = machine.rules.get((here, *tops))
            if wanted is None or list(wanted[1:]) != changes:
                return None
            seen += 1
            known, there = names.setdefault(target, {}), wanted[0]
            if way.get(there, ()) not in known:
                known[way.get(there, ())] = there
                waiting.append((target, there))
            if known[way.get(there, ())] != there:
                return None
    every = [q for known in names.values() for q in known.values()]
    whole = len(machine.states) == len(every) == len(set(every)) and len(names) == len(two.machine.states)
    return names if whole and seen == len(machine.rules) else None


def _rules(machine: StackMachine, state: str) -> Iterator[tuple[tuple, tuple]]:
    for one in TOPS:
        for other in TOPS:
            if rule := machine.rules.get((state, one, other)):
                yield (state, one, other), rule
