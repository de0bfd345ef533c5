"""The step of ``adder="lookahead"``: neighbouring linear maps become one map, and all carries come at once.

The attention heads are the same as with ``adder="ripple"``.

Chapter: :doc:`How fast </book/how-fast>`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
from torch import nn

from turing.dnf import Transition
from turing.dnf import _detectors as detectors
from turing.gates import Layer, Readout
from turing.layout import Layout
from turing.machine import TuringMachine
from turing.wcm.specification import specification as paper

__all__ = ["Assemble", "Carry", "Choose", "Detect", "Move", "post_attention", "pre_attention", "specification"]


class Detect(Layer):
    """A detector for each pair of a state and a symbol, AND(st[q], sym1[a]); pos1 and pos2 stay.

    The first layer of :class:`turing.dnf.Transition`, without the places that its second layer does not read.

    Chapter: :doc:`How fast </book/how-fast>`.
    """

    def __init__(self, transition: Transition):
        layout, wide, _ = transition.layouts
        kept = [*wide.det, *wide.pos1, *wide.pos2]
        super().__init__(transition[0].weight[kept], transition[0].bias[kept])
        det = wide.det.labels or len(wide.det)
        self.layouts = [layout, Layout(det=det, pos1=len(wide.pos1), pos2=len(wide.pos2))]


class Carry(Layer):
    """What the rule says, and for each bit whether a carry or a borrow comes in.

    ``bit_carry`` and ``bit_borrow`` say whether it meets a 1. The second matrix
    of :class:`turing.dnf.Transition`, which holds δ, and the first one of
    :class:`turing.adders.LookaheadAdder` are one matrix here.

    Chapter: :doc:`How fast </book/how-fast>`.
    """

    def __init__(self, transition: Transition, before: Layout):
        layout, wide, _ = transition.layouts
        parts = [layout[name] for name in ("st", "sym2", "scr5")]
        carries = ("carry", "borrow", "bit_carry", "bit_borrow")
        bits = len(layout.pos2)
        after = Layout(
            **{part.name: part.labels or len(part) for part in parts},
            **dict.fromkeys(("pos1", "pos2", *carries), bits),
        )
        W = torch.zeros(after.width, before.width)
        b = torch.zeros(after.width)
        rule = transition[1].weight.detach()[:, list(wide.det)]
        right, left = rule[layout.scr5["R"]], rule[layout.scr5["L"]]
        moves = ("carry", right, 1), ("borrow", left, -1)
        for part in parts:
            W[after[part.name].slice, before.det.slice] = rule[part.slice]
        for name in ("pos1", "pos2"):
            W[after[name].slice, before[name].slice] = torch.eye(bits)
        for k in range(bits):
            bit, below = before.pos2[k], list(before.pos2)[:k]
            for name, move, sign in moves:
                alone, with_bit = after[name][k], after[f"bit_{name}"][k]
                W[[alone, with_bit], before.det.slice] = move
                W[alone, below] = W[with_bit, below] = sign
                b[alone] = -k if sign > 0 else 0  # ones below, or zeros
                W[with_bit, bit] = 1  # and the bit itself
                b[with_bit] = b[alone] - 1
        super().__init__(W, b)
        self.layouts = [before, after]


class Move(Readout):
    """Back to the state vector: pos3 is the new position, each bit changed where a carry or a borrow comes in.

    Chapter: :doc:`How fast </book/how-fast>`.
    """

    def __init__(self, before: Layout, layout: Layout):
        W = torch.zeros(layout.width, before.width)
        for name in ("st", "sym2", "scr5", "pos1", "pos2"):
            W[layout[name].slice, before[name].slice] = torch.eye(len(layout[name]))
        for k, new in enumerate(layout.pos3):
            W[new, [before[name][k] for name in ("pos2", "carry", "borrow")]] = 1
            W[new, [before[name][k] for name in ("bit_carry", "bit_borrow")]] = -2  # XOR
        super().__init__(W, torch.zeros(layout.width))
        self.layouts = [before, layout]


class Choose(Layer):
    """scr1 stays if the cell was visited, scr2 if it was not; ``blank`` is 1 if it was neither visited nor part of
    the word. The new position goes to pos2.

    Chapter: :doc:`How fast </book/how-fast>`.
    """

    def __init__(self, layout: Layout):
        parts = {name: layout[name] for name in ("st", "sym2", "scr5", "pos2", "scr1", "scr2")}
        after = Layout(**{name: part.labels or len(part) for name, part in parts.items()}, blank=1)
        W, b = torch.zeros(after.width, layout.width), torch.zeros(after.width)
        for name in parts:
            source = layout.pos3 if name == "pos2" else layout[name]
            W[after[name].slice, source.slice] = torch.eye(len(source))
        visited = layout.scr4["visited"]
        W[after.scr1.slice, visited], b[after.scr1.slice] = 1, -1  # AND
        W[after.scr2.slice, visited] = -1  # and not
        W[after.blank[0], [*layout.scr2, visited]], b[after.blank[0]] = -1, 1  # NOR
        super().__init__(W, b)
        self.layouts = [layout, after]


class Assemble(Readout):
    """The next column: the symbol that was found goes to sym1, and all scratch but the direction is 0.

    Chapter: :doc:`How fast </book/how-fast>`.
    """

    def __init__(self, before: Layout, layout: Layout, blank: str):
        W = torch.zeros(layout.width, before.width)
        for name in ("st", "sym2", "scr5", "pos2"):
            W[layout[name].slice, before[name].slice] = torch.eye(len(layout[name]))
        for found in (before.scr1, before.scr2):
            W[layout.sym1.slice, found.slice] = torch.eye(len(layout.sym1))
        W[layout.sym1[blank], before.blank[0]] = 1
        super().__init__(W, torch.zeros(layout.width))
        self.layouts = [before, layout]


def numbers(machine: TuringMachine, layout: Layout) -> int:
    """How many numbers the modules before and after the heads have, with the transition that they are made of."""
    states, symbols, bits, width = len(machine.states), len(machine.symbols), len(layout.pos1), layout.width
    pairs = states * symbols
    detect, carry, choose = pairs + 2 * bits, states + symbols + 2 + 6 * bits, states + 3 * symbols + bits + 3
    transition = (width + pairs) * (width + 1) + width * (width + pairs + 1)
    before = detect * (width + 1) + carry * (detect + 1) + width * (carry + 1)
    return transition + before + choose * (width + 1) + width * (choose + 1)


def pre_attention(machine: TuringMachine, layout: Layout) -> dict[str, nn.Module]:
    """A dictionary of the modules before the heads, by name.

    Chapter: :doc:`How fast </book/how-fast>`.
    """
    transition = Transition(machine, layout)
    detect = Detect(transition)
    carry = Carry(transition, detect.layouts[-1])
    return {"detect": detect, "carry": carry, "move": Move(carry.layouts[-1], layout)}


def post_attention(machine: TuringMachine, layout: Layout) -> dict[str, nn.Module]:
    """A dictionary of the modules after the heads, by name.

    Chapter: :doc:`How fast </book/how-fast>`.
    """
    choose = Choose(layout)
    return {"choose": choose, "assemble": Assemble(choose.layouts[-1], layout, machine.blank)}


def specification(
    machine: TuringMachine, bits: int, word: Iterable[str], max_steps: int
) -> Iterator[dict[str, set[str]]]:
    """What :func:`turing.wcm.specification` says about each step, for the modules of ``adder="lookahead"``.

    Chapter: :doc:`How fast </book/how-fast>`.
    """
    pairs = [(q, a) for q in machine.states for a in machine.symbols]
    detector = dict(zip(pairs, detectors(pairs).det.names(), strict=True))

    def of(places: set[str], *names: str) -> set[str]:
        return {place for place in places if place.split("[")[0] in names}

    steps = paper(machine, bits, word, max_steps)
    for now, theirs in zip(machine.trace(word, max_steps), steps, strict=False):
        decided, last = theirs["project"], theirs["combine"]
        numbers = of(decided, "pos1", "pos2")
        _, _, move = machine.delta.get((now.state, now.symbol)) or (None, None, 0)
        fires = set()
        for k in range(bits if move else 0):
            low, bit, kind = now.head % 2**k, now.head >> k & 1, "carry" if move > 0 else "borrow"
            if low == (2**k - 1 if move > 0 else 0):
                at = "" if bits == 1 else f"[{k}]"
                fires |= {f"{kind}{at}"} | ({f"bit_{kind}{at}"} if bit else set())
        heads = {name: places for name, places in theirs.items() if name.startswith(("vis", "search", "last", "init"))}
        under_head = of(theirs["arrange"], "scr1", "scr2")
        blank = {"blank"} if "scr4[blank]" in theirs["v"] else set()  # a visit that jammed wrote nothing, not a blank
        decided = of(decided, "st", "sym2", "scr5")
        yield {
            "detect": {detector[now.state, now.symbol]} | numbers,
            "carry": decided | numbers | fires,
            "move": theirs["project"],
            **heads,
            "choose": decided | of(last, "pos2") | under_head | blank,
            "assemble": decided | of(last, "pos2", "sym1"),
        }
