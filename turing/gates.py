"""Logic gates as ReLU layers, and how to embed a gate in a wider vector whose other places it leaves unchanged.

For inputs 0 and 1, the output of a gate is exactly 0 or 1. These are Propositions 2 to 5 and section 3.2 of the paper.

Chapter: :doc:`/book/gates`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, overload

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from turing import ir
from turing.arguments import integer

if TYPE_CHECKING:
    from turing.layout import Layout

__all__ = ["AND", "NAND", "NOR", "NOT", "OR", "XOR", "Layer", "Readout", "embed"]


class Readout(nn.Module):
    """x ↦ Wx + b, a linear layer with no ReLU after it, so that its outputs may be negative.

    Its arguments are those of :class:`Layer`. Shapes: ``(…, columns of W)`` to ``(…, rows of W)``.

    >>> Readout([[1, -2]], [0])(torch.tensor([1, 1])).tolist()
    [-1.0]

    Chapter: :doc:`/book/gates`.
    """

    layouts: list[Layout]  # of the vectors before and after it, if their places have names

    def __init__(self, weight: Tensor | Sequence, bias: Tensor | Sequence):
        super().__init__()
        weight, bias = (_floats(numbers) for numbers in (weight, bias))
        if weight.dim() != 2 or bias.shape != weight.shape[:1]:
            raise ValueError(
                f"A layer has a matrix W and one bias for each of its rows. "
                f"W of shape {tuple(weight.shape)} and b of shape {tuple(bias.shape)} were given."
            )
        if not (weight.isfinite().all() and bias.isfinite().all()):
            raise ValueError("A weight or bias is infinite or not a number. Give finite ones.")
        dtype = torch.promote_types(weight.dtype, bias.dtype)
        self.weight, self.bias = (nn.Parameter(numbers.to(dtype, copy=True)) for numbers in (weight, bias))

    def forward(self, x: Tensor) -> Tensor:
        """Wx + b, for each vector of a batch."""
        if not isinstance(x, Tensor):
            raise TypeError(f"A layer takes a tensor, and {x!r} was given. Write torch.tensor({x!r}).")
        if x.shape[-1:] != self.weight.shape[1:]:
            raise ValueError(
                f"This layer takes vectors of width {self.weight.shape[1]}, "
                f"and a tensor of shape {tuple(x.shape)} was given."
            )
        if not x.is_floating_point():
            x = x.to(self.weight.dtype)  # bits may be int or bool; torch itself refuses floats of another type
        return F.linear(x, self.weight, self.bias)

    def describe(self, name: str) -> list[ir.Layer]:
        """This layer as :mod:`turing.ir` reads it."""
        return [ir.layer(name, self.weight, self.bias)]

    def extra_repr(self) -> str:
        return f"{self.weight.shape[1]} → {self.weight.shape[0]}"


class Layer(Readout):
    """x ↦ ReLU(Wx + b), the layer that gates, clauses and adders are made of: ``Layer(W, b)``.

    ``W`` is a list of rows or a tensor, and ``b`` has a number for each row. Shapes: ``(…, columns of W)`` to
    ``(…, rows of W)``.

    >>> Layer([[1, 1]], [-1])(torch.tensor([1, 1])).tolist()
    [1.0]

    Chapter: :doc:`/book/gates`.
    """

    def forward(self, x: Tensor) -> Tensor:
        """ReLU(Wx + b), for each vector of a batch."""
        return torch.relu(super().forward(x))

    def describe(self, name: str) -> list[ir.Layer]:
        """This layer as :mod:`turing.ir` reads it."""
        return [ir.layer(name, self.weight, self.bias, "relu")]


class Circuit(nn.Sequential):
    """Layers one after the other. A slice of them, such as ``circuit[:2]``, is an ``nn.Sequential``.

    >>> XOR()[:2](torch.tensor([1, 0])).tolist()  # NAND, OR
    [1.0, 1.0]

    Chapter: :doc:`/book/gates`.
    """

    layouts: list[Layout]  # of the vectors before, between and after the layers, if their places have names

    if TYPE_CHECKING:

        def __iter__(self) -> Iterator[Readout]: ...

    @overload
    def __getitem__(self, key: int) -> Readout: ...
    @overload
    def __getitem__(self, key: slice) -> nn.Sequential: ...
    def __getitem__(self, key: int | slice) -> nn.Module:
        return nn.Sequential(*list(self)[key]) if isinstance(key, slice) else super().__getitem__(key)


class NOT(Layer):
    """NOT of one input, one layer: ReLU(1 − x) (Proposition 2). Shapes: ``(…, 1)`` to ``(…, 1)``.

    >>> NOT()(torch.tensor([[0], [1]])).tolist()
    [[1.0], [0.0]]

    Chapter: :doc:`/book/gates`.
    """

    def __init__(self) -> None:
        super().__init__([[-1]], [1])


class AND(Layer):
    """AND of k inputs, one layer: ReLU(x₁ + … + xₖ − (k − 1)) (Proposition 3). Shapes: ``(…, k)`` to ``(…, 1)``.

    >>> AND(2)(torch.tensor([[0, 0], [0, 1], [1, 0], [1, 1]])).flatten().tolist()
    [0.0, 0.0, 0.0, 1.0]

    Chapter: :doc:`/book/gates`.
    """

    def __init__(self, k: int = 2):
        super().__init__([[1] * _inputs(k, "AND")], [1 - k])


class NOR(Layer):
    """NOR of k inputs, one layer: ReLU(1 − x₁ − … − xₖ) (Proposition 4). Shapes: ``(…, k)`` to ``(…, 1)``.

    >>> NOR(2)(torch.tensor([[0, 0], [0, 1], [1, 0], [1, 1]])).flatten().tolist()
    [1.0, 0.0, 0.0, 0.0]

    Chapter: :doc:`/book/gates`.
    """

    def __init__(self, k: int = 2):
        super().__init__([[-1] * _inputs(k, "NOR")], [1])


class OR(Circuit):
    """OR of k inputs, two layers: NOR, then NOT (Proposition 4). Shapes: ``(…, k)`` to ``(…, 1)``.

    >>> OR(2)(torch.tensor([[0, 0], [0, 1], [1, 0], [1, 1]])).flatten().tolist()
    [0.0, 1.0, 1.0, 1.0]

    Chapter: :doc:`/book/gates`.
    """

    def __init__(self, k: int = 2):
        super().__init__(NOR(_inputs(k, "OR")), NOT())


class NAND(Circuit):
    """NAND of k inputs, two layers: AND, then NOT. Shapes: ``(…, k)`` to ``(…, 1)``.

    >>> NAND(2)(torch.tensor([[0, 0], [0, 1], [1, 0], [1, 1]])).flatten().tolist()
    [1.0, 1.0, 1.0, 0.0]

    Chapter: :doc:`/book/gates`.
    """

    def __init__(self, k: int = 2):
        super().__init__(AND(_inputs(k, "NAND")), NOT())


class XOR(Circuit):
    """XOR of two inputs, three layers: AND and NOR; from these NAND and OR; then AND of the two (Proposition 5).

    Shapes: ``(…, 2)`` to ``(…, 1)``.

    >>> XOR()(torch.tensor([[0, 0], [0, 1], [1, 0], [1, 1]])).flatten().tolist()
    [0.0, 1.0, 1.0, 0.0]

    Chapter: :doc:`/book/gates`.
    """

    def __init__(self) -> None:
        super().__init__(
            Layer([[1, 1], [-1, -1]], [-1, 1]),  # AND, NOR
            Layer([[-1, 0], [0, -1]], [1, 1]),  # NAND, OR
            AND(2),
        )


def embed(width: int, *gates: tuple[Layer, Sequence[int], int]) -> Layer:
    """One layer on vectors of a ``width`` that computes gates and leaves all other places unchanged (section 3.2).

    A gate is given as ``(gate, inputs, output)``: the places that it reads, and the place that it overwrites. All gates
    read the old values. Here AND sets place 0 from 1 to 0, and NOR still reads the 1:

    >>> both = embed(4, (AND(2), [0, 2], 0), (NOR(2), [0, 2], 2))
    >>> both(torch.tensor([1, 1, 0, 1])).tolist()
    [0.0, 1.0, 0.0, 1.0]

    A gate of several layers is embedded layer by layer; OR is NOR, then NOT:

    >>> nor, negate = embed(4, (NOR(2), [0, 2], 0)), embed(4, (NOT(), [0], 0))
    >>> negate(nor(torch.tensor([0, 1, 1, 1]))).tolist()
    [1.0, 1.0, 1.0, 1.0]

    Chapter: :doc:`/book/gates`.
    """
    _check_places(width)
    W, b = torch.eye(width), torch.zeros(width)
    taken: set[int] = set()
    for given in gates:
        try:
            gate, inputs, output = given
            inputs = list(inputs)
        except (TypeError, ValueError):
            raise TypeError(
                f"A gate is given with its places, as in (AND(2), [0, 2], 0), and {given!r} was given."
            ) from None
        if not isinstance(gate, Layer) or gate.weight.shape[0] != 1:
            kind = repr(gate).split("(\n")[0]  # the repr of a sequence of layers has many lines
            raise TypeError(
                f"embed takes gates of one neuron, NOT(), AND(k) and NOR(k), and {kind} was given. "
                f"Embed a larger gate layer by layer, such as NOR and then NOT for OR."
            )
        _check_places(width, **{f"input {n}": place for n, place in enumerate(inputs, start=1)})
        _check_places(width, output=output)
        if len(inputs) != gate.weight.shape[1]:
            raise ValueError(f"{gate} takes {gate.weight.shape[1]} inputs, and the places {inputs} were given.")
        if output in taken:
            raise ValueError(f"Two gates write to place {output}. Give each gate a different output.")
        taken.add(output)
        W[output] = 0
        W[output, inputs] = gate.weight.detach()[0].to(W.dtype)
        b[output] = gate.bias.detach()[0]
    return Layer(W, b)


def _floats(numbers: Tensor | Sequence) -> Tensor:
    """The numbers as a tensor of floats; if they are one already, it keeps its type."""
    numbers = torch.as_tensor(numbers)
    return numbers if numbers.is_floating_point() else numbers.to(torch.get_default_dtype())


def _inputs(k: int, gate: str) -> int:
    return integer(f"The number of inputs of {gate}", k, 1)


def _check_places(width: int, **places: int) -> None:
    """Check that each place is inside a vector of that width, and that no two are the same."""
    integer("The width of a vector", width, 1)
    seen: dict[int, str] = {}
    for name, place in places.items():
        integer(name, place, 0, width - 1, what=f"a place in a vector of width {width}")
        if place in seen:
            raise ValueError(f"{seen[place]} and {name} are the same place, {place}. Give two different ones.")
        seen[place] = name
