"""Binary addition from gates: half adder, full adder, ripple carry; and carry-lookahead in one ReLU layer.

All but carry-lookahead is section 4 of the paper. Numbers are little-endian: bit 0, the least significant, comes first.

Chapter: :doc:`/book/adders`.
"""

from __future__ import annotations

from operator import index

import torch
from torch import Tensor

from turing.arguments import integer
from turing.gates import Circuit, Layer, Readout, _check_places
from turing.layout import Layout

__all__ = [
    "FullAdder",
    "HalfAdder",
    "LookaheadAdder",
    "MoveAdder",
    "RippleCarryAdder",
    "bits_of",
    "number_of",
]


class HalfAdder(Circuit):
    """Adds two bits, those in places i and j: the sum, their XOR, goes to i, and the carry, their AND, to j.

    Three layers on vectors of width d, which leave all other places unchanged: the listing of section 4.1. Shapes:
    ``(…, d)`` to ``(…, d)``. Here 1 + 1 gives sum 0 in place 0 and carry 1 in place 2:

    >>> HalfAdder(3, 0, 2)(torch.tensor([1, 1, 1])).tolist()
    [0.0, 1.0, 1.0]

    Chapter: :doc:`/book/adders`.
    """

    def __init__(self, d: int, i: int, j: int):
        _check_places(d, i=i, j=j)
        W1, b1 = torch.eye(d), torch.zeros(d)
        W1[i, j], b1[i] = 1, -1  # relu(x_i + x_j - 1) = AND
        W1[j, i], W1[j, j], b1[j] = -1, -1, 1  # relu(1 - x_i - x_j) = NOR

        W2, b2 = torch.eye(d), torch.zeros(d)
        W2[i, i], b2[i] = -1, 1  # relu(1 - AND) = NAND
        W2[j, j], b2[j] = -1, 1  # relu(1 - NOR) = OR

        W3, b3 = torch.eye(d), torch.zeros(d)
        W3[i, j], b3[i] = 1, -1  # relu(NAND + OR - 1) = XOR
        W3[j, i], W3[j, j], b3[j] = -1, 0, 1  # relu(1 - NAND) = AND
        super().__init__(Layer(W1, b1), Layer(W2, b2), Layer(W3, b3))


class FullAdder(Circuit):
    """Adds three bits, those in places i and j and the carry in place k: the sum goes to i, the new carry to k, and j
    becomes 0.

    Eight layers on vectors of width d, which leave all other places unchanged: two half adders, then NOR and NOT for
    the OR of their carries, of which at most one is 1. Shapes: ``(…, d)`` to ``(…, d)``.

    >>> FullAdder(3, 0, 1, 2)(torch.tensor([1, 0, 1])).tolist()
    [0.0, 0.0, 1.0]

    Chapter: :doc:`/book/adders`.
    """

    def __init__(self, d: int, i: int, j: int, k: int):
        _check_places(d, i=i, j=j, k=k)
        W1, b1 = torch.eye(d), torch.zeros(d)
        W1[k, j], W1[k, k], b1[k] = -1, -1, 1  # relu(1 - x_j - x_k) = NOR of the carries
        W1[j, j] = 0  # the first carry is not needed any more

        W2, b2 = torch.eye(d), torch.zeros(d)
        W2[k, k], b2[k] = -1, 1  # relu(1 - NOR) = OR
        super().__init__(*HalfAdder(d, i, j), *HalfAdder(d, i, k), Layer(W1, b1), Layer(W2, b2))


class RippleCarryAdder(Circuit):
    """Adds two numbers bit by bit, each of so many ``bits``: a full adder for each bit, 8·bits layers.

    The input is ``a``, then ``b``, then a carry of one bit; ``layout`` has the names. The sum goes to ``a`` and the
    carry out of the last bit to ``carry``; ``b`` becomes 0. Shapes: ``(…, 2·bits + 1)`` to the same. Here 11 + 6 gives
    1 and a carry, which is worth 16:

    >>> adder = RippleCarryAdder(4)
    >>> x = torch.cat([bits_of(11, 4), bits_of(6, 4), torch.tensor([0.])])
    >>> number_of(adder(x)[adder.layout.a.slice]), adder(x)[adder.layout.carry[0]].item()
    (1, 1.0)

    Chapter: :doc:`/book/adders`.
    """

    def __init__(self, bits: int):
        bits = integer("bits", bits, 1)
        layout = Layout(a=bits, b=bits, carry=1)
        adders = (FullAdder(layout.width, layout.a[k], layout.b[k], layout.carry[0]) for k in range(bits))
        super().__init__(*(layer for adder in adders for layer in adder))
        self.layout = layout
        self.layouts = [layout] * (len(self) + 1)


class MoveAdder(Circuit):
    """The position p after a move, by ripple carry: p + 1 if ``right`` is 1, p − 1 if ``left`` is, else p.

    The input is the bits of p, then ``right``, then ``left``, of which at most one is 1. Positions wrap modulo
    ``2**bits``. The addend is 0…01 for a step to the right, and for a step to the left 1…11, which is −1 in two's
    complement. Shapes: ``(…, bits + 2)`` to ``(…, bits)``.

    >>> left = torch.tensor([0., 1.])
    >>> number_of(MoveAdder(4)(torch.cat([bits_of(6, 4), left])))
    5

    Chapter: :doc:`/book/adders`.
    """

    def __init__(self, bits: int):
        bits = integer("bits", bits, 1)
        layout, adder = Layout(p=bits, right=1, left=1), RippleCarryAdder(bits)
        W = torch.zeros(adder.layout.width, layout.width)
        for k in range(bits):
            W[adder.layout.a[k], layout.p[k]] = 1
            W[adder.layout.b[k], layout.left[0]] = 1  # -1 is 1…11
        W[adder.layout.b[0], layout.right[0]] = 1  # +1 is 0…01
        super().__init__(
            Layer(W, torch.zeros(len(W))),
            *adder,
            Readout(torch.eye(len(W))[adder.layout.a.slice], torch.zeros(bits)),
        )
        self.layout = layout
        self.layouts = [layout, *adder.layouts, Layout(p=bits)]


class LookaheadAdder(Circuit):
    """The position after a move, as :class:`MoveAdder` computes it, in one ReLU layer and a sum.

    There are two layers whatever the number of bits, where :class:`MoveAdder` has 8·bits + 2. The input is the bits of
    p, then ``right``, then ``left``. Shapes: ``(…, bits + 2)`` to ``(…, bits)``.

    >>> right = torch.tensor([1., 0.])
    >>> number_of(LookaheadAdder(4)(torch.cat([bits_of(7, 4), right])))
    8

    Bit k changes if a carry or a borrow comes into it. If zₖ is the sum of the bits below it, the carry is
    ReLU(right + zₖ − k), and the borrow ReLU(left − zₖ).

    Chapter: :doc:`/book/adders`.
    """

    def __init__(self, bits: int):
        bits = integer("bits", bits, 1)
        layout = Layout(p=bits, right=1, left=1)
        hidden = Layout(p=bits, carry=bits, borrow=bits, p_carry=bits, p_borrow=bits)
        W1, b1 = torch.zeros(hidden.width, layout.width), torch.zeros(hidden.width)
        W2, b2 = torch.zeros(bits, hidden.width), torch.zeros(bits)
        right, left = layout.right[0], layout.left[0]
        for k in range(bits):
            bit, below = layout.p[k], list(layout.p)[:k]
            p, c, b, pc, pb = (part[k] for part in hidden)
            W1[p, bit] = 1
            W1[c, [right, *below]], b1[c] = 1, -k  # relu(right + z_k - k): right, and all ones below
            W1[b, left], W1[b, below] = 1, -1  # relu(left - z_k): left, and all zeros below
            W1[pc, [bit, right, *below]], b1[pc] = 1, -k - 1  # AND(p_k, carry)
            W1[pb, [bit, left]], W1[pb, below], b1[pb] = 1, -1, -1  # AND(p_k, borrow)
            W2[k, [p, c, b]], W2[k, [pc, pb]] = 1, -2  # XOR(x, y) = x + y - 2 AND(x, y)
        super().__init__(Layer(W1, b1), Readout(W2, b2))
        self.layout = layout
        self.layouts = [layout, hidden, Layout(p=bits)]


def bits_of(number: int, bits: int) -> Tensor:
    """The number modulo ``2**bits`` as a tensor of zeros and ones, least significant first; −1 is all ones.

    >>> bits_of(6, 4).tolist(), bits_of(-1, 4).tolist()
    ([0.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0])

    Chapter: :doc:`/book/adders`.
    """
    return torch.tensor([float(index(number) >> k & 1) for k in range(integer("bits", bits, 1))])


def number_of(bits: Tensor) -> int:
    """The number that a tensor of zeros and ones stands for, least significant first.

    >>> number_of(torch.tensor([0., 1., 1., 0.]))
    6

    Chapter: :doc:`/book/adders`.
    """
    bits = torch.as_tensor(bits)
    values = bits.tolist()
    if bits.dim() != 1 or any(value not in (0, 1) for value in values):
        raise ValueError(f"A number is one vector of bits, each exactly 0 or 1, and {values} was given.")
    return sum(int(value) << k for k, value in enumerate(values))
