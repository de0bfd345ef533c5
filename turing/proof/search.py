"""A bounded search for a run of a WCM21 network that goes wrong, from words and from other configurations.

Chapter: :doc:`/book/all-words`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, product, zip_longest
from random import Random
from typing import Any, NamedTuple

import torch

from turing.machine import TuringMachine
from turing.proof.proof import Counterexample

__all__ = ["Start", "divergence", "long_runs", "parts", "search", "short_words"]

BATCH = 192  # configurations that run side by side
CLEAR = 0.25  # how far from 0 and 1 a number may be that is read as one of them
STEPS = 40  # of a run
LONG, FEW = 160, 24  # of runs that go on longer, and how many of these there are
TRIES = 1_000  # words for which the machine alone is run, to find them


class Start(NamedTuple):
    """A configuration to start from: ``state``, the cell of the ``head``, and the ``word``, which begins at cell 0.

    Chapter: :doc:`/book/all-words`.
    """

    state: str
    head: int
    word: tuple[str, ...]


def parts(network: Any, machine: TuringMachine, word: Sequence[str], steps: int) -> int | None:
    """The step at which the runs of a network and a machine on a word diverge, or at which the network fails; None if
    they agree. Only as many ``steps`` are compared, and only as far as the network has room.

    Chapter: :doc:`/book/all-words`.
    """
    step = 0
    try:
        for one, other in zip_longest(network.trace(word, steps), machine.trace(word, steps)):
            if (
                one is None
                or other is None
                or (one.state, one.head, one.symbol) != (other.state, other.head, other.symbol)
            ):
                return step
            step += 1
    except OverflowError:
        return None
    except ArithmeticError:
        return step
    return None


def search(network: Any, machine: TuringMachine, start: Any = None) -> Counterexample | None:
    """A :class:`~turing.proof.Counterexample`: a word on which a run goes wrong, or else a configuration; None if
    neither is found. ``network`` is the compiled network itself. ``start`` is there for other constructions, and not
    used here.

    The search is bounded: it tries 192 words for 40 steps each, then 24 words on which the machine runs long for up to
    160, and then at most 384 configurations for 20. It is deterministic: what it draws at random is the same each time.

    >>> import torch
    >>> import turing
    >>> from turing.proof.search import search
    >>> net = turing.compile(turing.zoo["balanced_parentheses"], "wcm21", T=100)
    >>> print(search(net, net.machine))
    None
    >>> with torch.no_grad():
    ...     net.pipeline["visited"].null_key[7] = 4  # it was 3
    >>> print(search(net, net.machine))
    a word on which a run goes wrong: 'B())*', at step 4

    Chapter: :doc:`/book/all-words`.
    """
    try:
        network.check()
    except ValueError:
        return None  # it refuses to run
    longest = min(2**network.bits, 12)
    words = list(islice(short_words(machine, longest), BATCH))
    for starts, steps in (
        ([Start(machine.initial, 0, word) for word in words], STEPS),
        ((Start(machine.initial, 0, word) for word in long_runs(machine, words, 2 * longest)), LONG),
        (_configurations(machine, words, network.bits), STEPS // 2),
    ):
        if found := divergence(network, machine, starts, min(steps, network.T)):
            start, step = found
            first = start.state == machine.initial and start.head == 0
            return Counterexample(
                "word" if first else "configuration", step, _text(start.word), start.state, start.head
            )
    return None


def _text(word: tuple[str, ...]) -> Sequence[str]:
    return "".join(word) if all(len(symbol) == 1 for symbol in word) else word


def short_words(machine: TuringMachine, longest: int) -> Iterator[tuple[str, ...]]:
    """Yield all short words, and then random ones up to the length ``longest``, without end.

    Chapter: :doc:`/book/all-words`.
    """
    short = 0
    while len(machine.symbols) ** (short + 1) <= BATCH // 3 and short < longest:
        short += 1
    for length in range(short + 1):
        yield from product(machine.symbols, repeat=length)
    draw = Random(0)
    while True:
        yield tuple(draw.choices(machine.symbols, k=draw.randint(min(short, longest), longest)))


def long_runs(machine: TuringMachine, words: Sequence[tuple[str, ...]], longest: int) -> Iterator[tuple[str, ...]]:
    """Yield words up to the length ``longest`` on which a machine runs long, found by changing the best of these
    ``words`` at random.

    Chapter: :doc:`/book/all-words`.
    """
    draw, steps = Random(0), {word: machine.run(word, LONG).steps for word in words}
    for _ in range(TRIES):
        best = max(steps, key=steps.__getitem__)
        word = list(draw.choice(words) if draw.random() < 0.2 else best)
        for _ in range(draw.randint(1, 3)):
            cut, symbol = draw.randint(0, len(word)), draw.choice(machine.symbols)
            word[cut : cut + draw.randint(0, 2)] = [symbol]
        if len(word) <= longest and tuple(word) not in steps:
            steps[tuple(word)] = machine.run(word, LONG).steps
    yield from sorted(steps, key=steps.__getitem__, reverse=True)[:FEW]


def _configurations(machine: TuringMachine, words: Sequence[tuple[str, ...]], bits: int) -> list[Start]:
    """Every state on some words, with the head on the word or on a cell left of it."""
    draw, found = Random(0), []
    for word in draw.choices([word for word in words if word] or [(machine.blank,)], k=BATCH // 8):
        room = min(2**bits, 2**60) - len(word)
        heads = {0, draw.randrange(len(word)), -draw.randint(1, room) if room else 0}
        found += [Start(q, head, word) for q in machine.states if q not in machine.halting for head in heads]
    return [*dict.fromkeys(found)][: 2 * BATCH]


def divergence(
    network: Any, machine: TuringMachine, starts: Iterable[Start], steps: int, batch: int = BATCH
) -> tuple[Start, int] | None:
    """The first :class:`Start` from which a network and a machine diverge, and the step at which they do; None if they
    agree. Only as many ``steps`` are compared, and only as far as the network has room.

    Chapter: :doc:`/book/all-words`.
    """
    starts = iter(starts)
    while group := list(islice(starts, batch)):
        for row, step in _lockstep(network, machine, group, steps):
            alone = next(iter(_lockstep(network, machine, [group[row]], step)), None)  # sums of a batch may round other
            if alone:
                return group[row], alone[1]
    return None


@torch.no_grad()
def _lockstep(network: Any, machine: TuringMachine, starts: list[Start], steps: int) -> Iterator[tuple[int, int]]:
    """The rows that part, with their steps, in the order of steps."""
    layout, size = network.layout, 2**network.bits
    state = network.start([start.word for start in starts])
    x = state.x.clone()
    runs = []
    for row, start in enumerate(starts):
        tape = dict(enumerate(start.word))
        symbol = tape.get(start.head, machine.blank)
        x[row] = 0
        x[row, [layout.st[start.state], layout.sym1[symbol]]] = 1
        x[row, layout.pos2.slice] = _bits(start.head, network.bits).to(x)
        cells = {cell % size: cell for cell in [*tape, start.head]}
        if len(cells) == len({*tape, start.head}):
            runs.append((row, start.state, start.head, tape, cells))
    state = replace(state, x=x)
    read = [*layout.st, *layout.sym1, *layout.sym2, *layout.pos2, *layout.scr5]
    for step in range(1, steps + 1):
        runs = [run for run in runs if run[1] not in machine.halting]
        if not runs:
            return
        state = network.step(state)
        found = state.x.double()
        unclear = ~(torch.minimum(found.abs(), (found - 1).abs()) <= CLEAR).all(dim=-1)
        on, wanted, going = found > 0.5, torch.zeros_like(found, dtype=torch.bool), []
        jams, over = [], []
        for row, q, head, tape, cells in runs:
            rule = machine.delta.get((q, tape.get(head, machine.blank)))
            if rule is None:
                jams.append(row)
                continue
            target, written, move = rule
            tape[head] = written
            head += move
            if cells.setdefault(head % size, head) != head:
                over.append(row)
                continue
            symbol = tape.get(head, machine.blank)
            wanted[row, [layout.st[target], layout.sym1[symbol], layout.sym2[written]]] = True
            wanted[row, layout.pos2.slice] = _bits(head, network.bits).bool()
            if move:
                wanted[row, layout.scr5["R" if move > 0 else "L"]] = True
            going.append((row, target, head, tape, cells))
        wrong = unclear | (on[:, read] != wanted[:, read]).any(dim=-1)
        wrong[jams] = unclear[jams] | on[jams][:, layout.st.slice].any(dim=-1)
        bad = wrong.tolist()
        yield from ((row, step) for row in (*jams, *(run[0] for run in going)) if bad[row])
        runs = [run for run in going if not bad[run[0]]]


def _bits(number: int, bits: int) -> torch.Tensor:
    return torch.tensor([float(number >> k & 1) for k in range(bits)])
