"""The adders under the reader's fingers: bits to toggle, and layers that fire one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import traitlets

from turing.ir import to_dict
from turing.widgets.base import Widget, joined, style

if TYPE_CHECKING:
    from torch import nn

__all__ = ["Adder"]

MAX_BITS = 8
INPUTS = {"move": ("p", "move", "layer"), "sum": ("a", "b", "carry", "layer")}
Step = tuple[str, "int | None", "int | None"]  # what a layer does, the bit it is about, the bit its carry goes into
MOVES = {-1: "−1", 0: "0", 1: "+1"}


class Adder(Widget):
    """Addition of so many ``bits``, at most 8, layer by layer.

    - ``task="move"``: a position ``p`` and a ``move`` of −1, 0 or 1, by ripple carry and by lookahead, side by side
    - ``task="sum"``: two numbers ``a`` and ``b`` and a ``carry`` of 0 or 1, by ripple carry

    Give these numbers by name. They are live, and so is ``layer``, which says how many layers have fired.

    Example::

        Adder(bits=3, p=3, move=1)

    Chapter: :doc:`/book/adders`.
    """

    _esm = joined("adder/widget.js")
    _css = style("adder/widget.css")

    bits = traitlets.Int(read_only=True).tag(sync=True)
    task = traitlets.Unicode(read_only=True).tag(sync=True)
    stages: traitlets.List[dict] = traitlets.List(read_only=True).tag(sync=True)
    p = traitlets.Int(0).tag(sync=True)
    move = traitlets.Int(0).tag(sync=True)
    a = traitlets.Int(0).tag(sync=True)
    b = traitlets.Int(0).tag(sync=True)
    carry = traitlets.Int(0).tag(sync=True)
    layer = traitlets.Int(0).tag(sync=True)

    def __init__(self, bits: int = 3, task: str = "move", **inputs: int):
        if isinstance(bits, bool) or not isinstance(bits, int) or not 1 <= bits <= MAX_BITS:
            raise ValueError(f"Adder takes 1 to {MAX_BITS} bits, and bits={bits!r} was given.")
        if task not in list(INPUTS):
            raise ValueError(f'task is "move", a position and a move, or "sum", two numbers; {task!r} was given.')
        known = INPUTS[task]
        if unknown := [name for name in inputs if name not in known]:
            raise TypeError(
                f"Adder with task={task!r} is given {', '.join(known)}, and {unknown[0]!r} is none of them."
            )
        self.set_trait("bits", bits)
        self.set_trait("task", task)
        self.set_trait("stages", _moves(bits) if task == "move" else _sums(bits))
        # At first the carry goes all the way.
        first = {"p": 2 ** (bits - 1) - 1, "move": 1} if task == "move" else {"a": 2**bits - 1, "b": 1}
        super().__init__(**first | inputs)

    @traitlets.validate("p", "move", "a", "b", "carry", "layer")
    def _in_range(self, proposal: dict) -> int:
        name, value = proposal["trait"].name, proposal["value"]
        low, high = {"move": (-1, 1), "carry": (0, 1), "layer": (0, self._depth)}.get(name, (0, 2**self.bits - 1))
        if not low <= value <= high:
            raise ValueError(f"{name} is an integer from {low} to {high} here, and {value} was given.")
        return int(value)  # True is 1

    @property
    def _depth(self) -> int:
        return max(len(stage["steps"]) - 1 for stage in self.stages)

    def fallback(self) -> str:
        size = 2**self.bits
        names: tuple[str, ...]
        given: tuple[str, ...]
        if self.task == "move":
            names, total = ("p", "move", "p after"), (self.p + self.move) % size
            given = (f"{self.p:0{self.bits}b} = {self.p}", MOVES[self.move], f"{total:0{self.bits}b} = {total}")
        else:
            names, total = ("a", "b", "carry", "sum", "carry out"), self.a + self.b + self.carry
            numbers = [f"{number:0{self.bits}b} = {number}" for number in (self.a, self.b, total % size)]
            given = (*numbers[:2], f"{self.carry}", numbers[2], f"{total // size}")
        head = "".join(f"<th>{name}</th>" for name in ("adder", *names, "layers"))
        rows = "\n".join(
            "<tr>" + "".join(f"<td>{part}</td>" for part in (stage["title"], *given, len(stage["steps"]) - 1)) + "</tr>"
            for stage in self.stages
        )
        return (
            f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>\n"
            "<p>With scripts on, the page steps through the layers; "
            "in Python, <code>turing.show</code> prints the equations of an adder.</p>"
        )

    def __repr__(self) -> str:
        inputs = "".join(f", {name}={getattr(self, name)}" for name in INPUTS[self.task][:-1])
        return f"Adder({self.bits}, {self.task!r}{inputs})"


def _moves(bits: int) -> list[dict]:
    from turing.adders import LookaheadAdder, MoveAdder

    spread = f"a is p, and b is the move: {1:0{bits}b} for +1, {'1' * bits} for −1."
    before = [("The input.", None, None), (spread, None, 0)]
    after = [("The new p is a. The rest is dropped.", None, None)]
    ahead: list[Step] = [
        ("The input.", None, None),
        ("Every carry and every borrow at once, and the AND of each with its bit.", None, None),
        ("A bit changes where a carry or a borrow reaches it.", None, None),
    ]
    return [
        _stage("Ripple carry", MoveAdder(bits), [*before, *_ripple(bits), *after]),
        _stage("Lookahead", LookaheadAdder(bits), ahead),
    ]


def _sums(bits: int) -> list[dict]:
    from turing.adders import RippleCarryAdder

    return [_stage("Ripple carry", RippleCarryAdder(bits), [("The input.", None, 0), *_ripple(bits)])]


def _ripple(bits: int) -> list[Step]:
    steps: list[Step] = []
    for k in range(bits):
        a, b = (f"a[{k}]", f"b[{k}]") if bits > 1 else ("a", "b")
        for number, other in enumerate((b, "carry"), start=1):
            parts = ("AND and NOR", "NAND and OR", f"XOR to {a}, AND to {other}")
            steps += [(f"Bit {k}, half adder {number} on {a} and {other}: {part}.", k, k) for part in parts]
        onward = f"on to bit {k + 1}" if k < bits - 1 else "out"
        steps.append((f"Bit {k}, OR of the two carries: NOR.", k, k))
        steps.append((f"Bit {k}, OR of the two carries: NOT. The carry goes {onward}.", k, k + 1))
    return steps


def _stage(title: str, network: nn.Module, steps: list[Step]) -> dict:
    """A network for the ES module, and what to say of its input and of each of its layers."""
    return {
        "title": title,
        "network": to_dict(network),
        "steps": [{"says": says, "bit": bit, "carry": carry} for says, bit, carry in steps],
    }
