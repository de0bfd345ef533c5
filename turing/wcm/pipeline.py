"""The steps of the paper's pipeline, one module each, under the paper's names and in its order (section 5.2).

The claims and lemmas are those of Wei, Chen and Ma, as the paper cites them.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from turing.adders import FullAdder
from turing.attention import Lookup
from turing.dnf import Transition
from turing.gates import Layer
from turing.layout import Layout
from turing.machine import TuringMachine
from turing.wcm.specification import specification

__all__ = [
    "ArrangeSymbols",
    "BinarySearchStep",
    "CombineSymbols",
    "FullAdder",
    "GetInitialSymbol",
    "GetLastWrittenSymbol",
    "GetV",
    "IndicateVisitedPosition",
    "PreprocessForAdder",
    "ProjectDown",
    "Transition",
    "post_attention",
    "pre_attention",
    "claim",
    "specification",
]


def claim(module: nn.Module) -> str:
    """The claim or lemma of Wei, Chen and Ma that a module stands for, or an empty text.

    >>> import turing
    >>> from turing.wcm import claim
    >>> net = turing.compile(turing.zoo["bb2"], "wcm21", T=8)
    >>> [claim(net.pipeline[name]) for name in ("visited", "transition", "project")]
    ['Claim C.4', 'Lemma C.1', '']

    Chapter: :doc:`/book/wcm21`.
    """
    return getattr(module, "claim", "")


class PreprocessForAdder(Layer):
    """Lemma C.2: copies pos2 to pos3 and appends the addend.

    The addend is 0…01 for R, 1…11 for L and 0 for a stay. Shapes: ``(…, w)`` to ``(…, w + L)``.

    Chapter: :doc:`/book/wcm21`.
    """

    claim = "Lemma C.2"

    def __init__(self, layout: Layout, wide: Layout):
        W = torch.eye(wide.width, layout.width)
        for k, add in enumerate(wide.add):
            old, new = layout.pos2[k], layout.pos3[k]
            W[new, new], W[new, old] = 0, 1
            W[add, layout.scr5["L"]] = 1  # -1 is 1…11
        W[wide.add[0], layout.scr5["R"]] = 1  # +1 is 0…01
        super().__init__(W, torch.zeros(wide.width))
        self.layouts = [layout, wide]


class ProjectDown(Layer):
    """Drops the addend, and the carry out of the last bit, which stands in scr4.

    The next module puts its flag there.
    Shapes: ``(…, w + L)`` to ``(…, w)``.

    Chapter: :doc:`/book/wcm21`.
    """

    def __init__(self, layout: Layout, wide: Layout):
        W = torch.eye(layout.width, wide.width)
        W[layout.scr4[0], layout.scr4[0]] = 0
        super().__init__(W, torch.zeros(layout.width))
        self.layouts = [wide, layout]


class IndicateVisitedPosition(Lookup):
    """Claim C.4: scr4[visited] becomes 1 if some column so far stood on the new position, whose bits are in pos3.

    Chapter: :doc:`/book/wcm21`.
    """

    claim = "Claim C.4"

    def __init__(self, layout: Layout, **options: Any):
        flag = layout.scr4["visited"]
        super().__init__(layout.width, ask=layout.pos3, at=layout.pos2, fetch=[None], into=[flag], **options)
        self.layout = layout


class BinarySearchStep(Lookup):
    """Claim C.5: scr3[j] becomes bit j of the number of the last column
    that stood on the new position, and 0 if none did.

    The bits above j are in scr3 already. It asks whether a column with
    these, and with bit j set, stood there.

    Chapter: :doc:`/book/wcm21`.
    """

    claim = "Claim C.5"

    def __init__(self, layout: Layout, j: int, **options: Any):
        ask = [*layout.pos3, *list(layout.scr3)[j + 1 :], None]
        at = [*layout.pos2, *list(layout.pos1)[j + 1 :], layout.pos1[j]]
        into = [layout.scr3[j]]
        super().__init__(layout.width, ask, at, [None], into, **options)
        self.layout = layout


class GetLastWrittenSymbol(Lookup):
    """Claim C.6: scr1 becomes the symbol that was written by the column whose number is in scr3.

    Chapter: :doc:`/book/wcm21`.
    """

    claim = "Claim C.6"

    def __init__(self, layout: Layout, **options: Any):
        super().__init__(layout.width, ask=layout.scr3, at=layout.pos1, fetch=layout.sym2, into=layout.scr1, **options)
        self.layout = layout


class GetInitialSymbol(Lookup):
    """Lemma C.7: scr2 becomes the symbol of the word on the new position; it stays 0 off the word.

    The one cross-attention, to the word. Rows without a symbol are the padding of a batch, and their keys fit no query.

    Chapter: :doc:`/book/wcm21`.
    """

    claim = "Lemma C.7"

    def __init__(self, layout: Layout, **options: Any):
        parts: dict[str, Any] = {"ask": layout.pos3, "at": layout.pos2, "fetch": layout.sym1, "into": layout.scr2}
        super().__init__(layout.width, **parts, mask="cross", **options)
        self.layout = layout
        n = len(layout.pos2)
        with torch.no_grad():
            self.key.weight[n, list(layout.sym1)], self.key.bias[n] = n, -n  # the score falls by n without a symbol


class GetV(Layer):
    """Lemma C.8: of three flags in scr4 one becomes 1: visited; not visited and on the word; neither.

    Chapter: :doc:`/book/wcm21`.
    """

    claim = "Lemma C.8"

    def __init__(self, layout: Layout):
        W, b = torch.eye(layout.width), torch.zeros(layout.width)
        visited, word, blank = layout.scr4
        W[word, word] = W[blank, blank] = 0
        W[word, list(layout.scr2)], W[word, visited] = 1, -1  # relu(sum of scr2 - visited)
        W[blank, list(layout.scr2)], W[blank, visited], b[blank] = -1, -1, 1  # NOR
        super().__init__(W, b)
        self.layouts = [layout, layout]


class ArrangeSymbols(Layer):
    """Lemma C.8: scr1 stays if the cell was visited, scr2 if it was not.

    Chapter: :doc:`/book/wcm21`.
    """

    claim = "Lemma C.8"

    def __init__(self, layout: Layout):
        W, b = torch.eye(layout.width), torch.zeros(layout.width)
        for part, flag in ((layout.scr1, "visited"), (layout.scr2, "word")):
            W[list(part), layout.scr4[flag]] = 1
            b[part.slice] = -1  # relu(symbol + flag - 1) = AND
        super().__init__(W, b)
        self.layouts = [layout, layout]


class CombineSymbols(Layer):
    """Lemma C.8: the symbol found goes to sym1, the new position to pos2.

    pos1 is cleared, for the number of the next column.

    Chapter: :doc:`/book/wcm21`.
    """

    claim = "Lemma C.8"

    def __init__(self, layout: Layout, blank: str):
        W = torch.eye(layout.width)
        for part in (layout.sym1, layout.pos1, layout.pos2):
            W[part.slice] = 0
        for k, symbol in enumerate(layout.sym1):
            W[symbol, [layout.scr1[k], layout.scr2[k]]] = 1  # one is left
        W[layout.sym1[blank], layout.scr4["blank"]] = 1
        for k, old in enumerate(layout.pos2):
            W[old, layout.pos3[k]] = 1
        super().__init__(W, torch.zeros(layout.width))
        self.layouts = [layout, layout]


def numbers(machine: TuringMachine, layout: Layout) -> int:
    """How many numbers the modules before and after the heads have."""
    pairs, bits = len(machine.states) * len(machine.symbols), len(layout.pos1)
    narrow, wide = layout.width, layout.width + bits
    transition = (narrow + pairs) * (narrow + 1) + narrow * (narrow + pairs + 1)
    adders = 8 * bits * wide * (wide + 1)
    return transition + wide * (narrow + 1) + adders + narrow * (wide + 1) + 3 * narrow * (narrow + 1)


def pre_attention(machine: TuringMachine, layout: Layout) -> dict[str, nn.Module]:
    """The modules before the heads, by name.

    Chapter: :doc:`/book/wcm21`.
    """
    bits, carry = len(layout.pos3), layout.scr4[0]  # a place that is free until the first head
    wide = layout + Layout(add=bits)
    adders = {f"adder{k}": FullAdder(wide.width, layout.pos3[k], wide.add[k], carry) for k in range(bits)}
    for adder in adders.values():
        adder.layouts = [wide] * (len(adder) + 1)
        adder.claim = "Lemma C.2"  # type: ignore[assignment]  # a module may hold a string
    transition = Transition(machine, layout)
    transition.claim = "Lemma C.1"  # type: ignore[assignment]  # a module may hold a string
    start = {"transition": transition, "preprocess": PreprocessForAdder(layout, wide)}
    return start | adders | {"project": ProjectDown(layout, wide)}


def post_attention(machine: TuringMachine, layout: Layout) -> dict[str, nn.Module]:
    """The modules after the heads, by name.

    Chapter: :doc:`/book/wcm21`.
    """
    return {"v": GetV(layout), "arrange": ArrangeSymbols(layout), "combine": CombineSymbols(layout, machine.blank)}
