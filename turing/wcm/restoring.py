"""What keeps bits bits: with ``restoring=True`` a layer before the heads and after a column, and with
``feedback="token"`` three modules that read a column and encode it anew.

Both pull numbers that are nearly bits back to bits, so that errors of one step do not grow in the next one. Noise falls
on their weights too.

Chapter: :doc:`/book/break-restore-train`.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from turing.gates import Circuit, Layer, Readout
from turing.layout import Layout
from turing.modules import Argmax

__all__ = ["Encode", "Read", "Restore", "after_column", "before_heads"]

FEEDBACKS = ("analog", "token")


class Restore(Circuit):
    """Von Neumann's restoring organ for every place of a vector: ReLU(2x − ½) − ReLU(2x − 3/2).

    What is below ¼ becomes 0, what is above ¾ becomes 1, and in between the line rises with slope 2. A place that is 0
    leaves both neurons silent, so it passes on no noise of theirs. Shapes: ``(…, w)`` to ``(…, w)``.

    >>> import torch
    >>> from turing.layout import Layout
    >>> from turing.wcm.restoring import Restore
    >>> Restore(Layout(x=1))(torch.tensor([[-0.1], [0.2], [0.5], [0.9], [1.2]])).flatten().tolist()
    [0.0, 0.0, 0.5, 1.0, 1.0]

    Chapter: :doc:`/book/break-restore-train`.
    """

    def __init__(self, layout: Layout):
        one = torch.eye(layout.width)
        low, high = torch.full((layout.width,), -0.5), torch.full((layout.width,), -1.5)
        super().__init__(
            Layer(torch.cat([2 * one, 2 * one]), torch.cat([low, high])),  # relu(2x - 1/2), relu(2x - 3/2)
            Readout(torch.cat([one, -one], dim=1), torch.zeros(layout.width)),  # their difference
        )
        sides = {f"{part.name}_{side}": part.labels or len(part) for side in ("low", "high") for part in layout}
        self.layouts = [layout, Layout(**sides), layout]


class Read(Readout):
    """For each place x the pair (½, x): the larger one says whether the place is nearer to 0 or to 1.

    Chapter: :doc:`/book/break-restore-train`.
    """

    def __init__(self, layout: Layout, pairs: Layout):
        W, b = torch.zeros(pairs.width, layout.width), torch.zeros(pairs.width)
        for place in range(layout.width):
            b[2 * place] = 0.5
            W[2 * place + 1, place] = 1
        super().__init__(W, b)
        self.layouts = [layout, pairs]


class Encode(Readout):
    """A column from its tokens: place by place, 1 if the token says so.

    Chapter: :doc:`/book/break-restore-train`.
    """

    def __init__(self, layout: Layout, pairs: Layout):
        W = torch.zeros(layout.width, pairs.width)
        for place in range(layout.width):
            W[place, 2 * place + 1] = 1
        super().__init__(W, torch.zeros(layout.width))
        self.layouts = [pairs, layout]


def before_heads(layout: Layout, restoring: bool) -> dict[str, nn.Module]:
    """A dictionary of the module between the adder and the heads, which compare bits, and compare clean ones.

    Chapter: :doc:`/book/break-restore-train`.
    """
    return {"restore_move": Restore(layout)} if restoring else {}


def after_column(layout: Layout, restoring: bool, feedback: str) -> dict[str, nn.Module]:
    """A dictionary of the modules between the last one of a step and the next column, by name.

    Chapter: :doc:`/book/break-restore-train`.
    """
    modules: dict[str, nn.Module] = {"restore_column": Restore(layout)} if restoring else {}
    if feedback == "token":
        pairs = Layout(**{name: ["0", "1"] for name in layout.names()})
        read, encode = Read(layout, pairs), Encode(layout, pairs)
        modules |= {"read": read, "token": Argmax(pairs, layout.names()), "encode": encode}
    return modules


def with_restored(step: dict[str, set[str]], layout: Layout, restoring: bool, feedback: str) -> dict[str, Any]:
    """What a specification says about a step, by module the places that are 1, with these modules where they stand."""
    found: dict[str, Any] = {}
    for name, places in step.items():
        if restoring and name == "visited":
            found["restore_move"] = next(reversed(found.values()))
        found[name] = dict.fromkeys(places, 1.0)
    column = next(reversed(found.values()))
    if restoring:
        found["restore_column"] = column
    if feedback == "token":
        names = layout.names()
        found["read"] = {f"{name}[0]": 0.5 for name in names} | {f"{name}[1]": 1.0 for name in column}
        found["token"] = {f"{name}[{int(name in column)}]": 1.0 for name in names}
        found["encode"] = column
    return found


def numbers(layout: Layout, restoring: bool, feedback: str) -> int:
    """How many numbers these modules have."""
    once = 2 * layout.width * (layout.width + 1) + layout.width * (2 * layout.width + 1)
    return once * (2 * restoring + (feedback == "token"))
