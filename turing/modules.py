"""The kinds of module that networks are made of, besides the layers of gates and the heads of attention.

Each computes from its parameters: on float tensors, or in exact arithmetic on :class:`turing.exact.Exact`.

Chapter: :doc:`/book/research`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from turing import ir
from turing.exact import Exact, normalised
from turing.layout import Layout

__all__ = ["Argmax", "Convolution", "Norm", "Rational"]

TYPES = {"exact": torch.int64, "float32": torch.float32, "float64": torch.float64}  # of parameters, by arithmetic
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "none": lambda x: x,
    "relu": torch.relu,
    "clamp": lambda x: x.clamp(0, 1),
}
Row = dict[Any, Any]  # the places that a place reads, with their weights; None is the bias
Rows = dict[int, Row]
DERIVED = {"weight": "numerators", "bias": "bias_numerators"}  # in exact arithmetic, from these


class _Sparse(NamedTuple):
    """The parameters of an exact layer as lists, and which tensors these were read from, at which of their versions."""

    weight: Tensor
    bias: Tensor
    written: tuple[int, int, int, int] | None
    columns: list[list[tuple[int, list[int]]]]  # for each input the weights that are not 0, each with its rows
    biases: list[int]


class Rational(nn.Module):
    """x ↦ activation(Wx + b) with rational weights.

    - ``before``, ``after``: the layouts of what goes in and of what comes out
    - ``rows``: for each place written a dictionary from the places read to their weights; the key None is the bias
    - ``activation``: ``"clamp"``, which cuts off below 0 and above 1, ``"relu"`` or ``"none"``
    - ``last``: places that are added after all others: where the rest are integers, their sum is exact in any order
    - ``arithmetic``: ``"exact"``, ``"float32"`` or ``"float64"``

    In exact arithmetic the parameters are ``numerators`` and ``bias_numerators``, integers over one ``denominator``,
    and ``weight`` and ``bias`` are these as floats; otherwise ``weight`` and ``bias`` are the parameters.

    >>> from fractions import Fraction
    >>> from turing import Layout
    >>> from turing.exact import Exact
    >>> from turing.modules import Rational
    >>> third = Rational(Layout(x=1), Layout(y=1), {0: {0: Fraction(1, 3), None: 1}}, "none")
    >>> third(Exact([1])), third.numerators.tolist(), third.denominator
    (Exact([4/3]), [[1]], 3)

    Chapter: :doc:`/book/ss95`.
    """

    weight: Tensor
    bias: Tensor

    def __init__(
        self,
        before: Layout,
        after: Layout,
        rows: Mapping[int, Row] | Iterable[tuple[int, Row]],
        activation: str = "clamp",
        last: Sequence[int] = (),
        arithmetic: str = "exact",
    ):
        super().__init__()
        if activation not in ACTIVATIONS or arithmetic not in TYPES:
            raise ValueError(
                f"An activation is one of {', '.join(ACTIVATIONS)} and an arithmetic one of {', '.join(TYPES)}; "
                f"{activation!r} and {arithmetic!r} were given."
            )
        self.layouts, self.last, self.activation = [before, after], list(last), activation
        self.denominator, parts = _numerators(before.width, after.width, rows)
        self._sparse: _Sparse | None = None
        if arithmetic == "exact":
            self.numerators, self.bias_numerators = (nn.Parameter(part, requires_grad=False) for part in parts)
        else:
            floats = (part.to(torch.float64).div_(self.denominator).to(TYPES[arithmetic]) for part in parts)
            self.weight, self.bias = map(nn.Parameter, floats)

    def __getattr__(self, name: str) -> Any:
        if name in DERIVED and "numerators" in self._parameters:
            with torch.inference_mode():  # torch refuses to change the result in place, which would be lost
                return self._parameters[DERIVED[name]].to(torch.float64) / self.denominator  # type: ignore[union-attr]  # it is there
        return super().__getattr__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in DERIVED and self.exact:
            raise AttributeError(
                f"In exact arithmetic {name} is derived from {DERIVED[name]} over {self.denominator}. "
                f"Change {DERIVED[name]}."
            )
        super().__setattr__(name, value)

    @property
    def exact(self) -> bool:
        """Whether the parameters are integers over a denominator."""
        return "numerators" in self.__dict__.get("_parameters", ())

    def forward(self, x: Any) -> Any:
        """On a tensor, ``(…, in)`` to ``(…, out)``; in exact arithmetic on one exact vector."""
        if isinstance(x, Exact):
            return self._exactly(x)
        if not self.last:
            return ACTIVATIONS[self.activation](F.linear(x, self.weight, self.bias))
        early = torch.ones(x.shape[-1], dtype=torch.bool, device=x.device)
        early[self.last] = False
        weight = self.weight
        integers = F.linear(x[..., early], weight[:, early], self.bias)
        return ACTIVATIONS[self.activation](integers + F.linear(x[..., ~early], weight[:, ~early]))

    def _exactly(self, x: Exact) -> Exact:
        """Most inputs are 0 or 1: their sums stay small, and large integers are left to the places that read others."""
        columns, biases = self._columns()
        unit, over = x.denominator, self.denominator
        one = unit * over
        if x.roots:
            return self._with_roots(x, columns, biases)
        sums = biases.copy()  # multiples of 1 / over
        more: dict[int, int] = {}  # what is added at some places, multiples of 1 / one
        for number, column in zip(x.numerators, columns, strict=True):
            if number == unit:
                for weight, rows in column:
                    for i in rows:
                        sums[i] += weight
            elif number:
                for weight, rows in column:
                    term = weight * number
                    for i in rows:
                        more[i] = more[i] + term if i in more else term
        if self.activation == "clamp":
            found = [0 if total <= 0 else one if total >= over else total * unit for total in sums]
            for i, term in more.items():
                total = sums[i] * unit + term
                found[i] = 0 if total < 0 else one if total > one else total
        else:
            found = [total * unit for total in sums]
            for i, term in more.items():
                found[i] += term
            if self.activation == "relu":
                found = [max(total, 0) for total in found]
        if over == 1 or any(total % over for total in set(found)):
            return Exact(found, one)
        return Exact([total // over for total in found], unit)

    def _with_roots(self, x: Exact, columns: list[list[tuple[int, list[int]]]], biases: list[int]) -> Exact:
        """The same where some inputs are divided by roots: an output may read inputs of one root only."""
        sums, roots = [bias * x.denominator for bias in biases], {i: 1 for i, bias in enumerate(biases) if bias}
        for place, (number, column) in enumerate(zip(x.numerators, columns, strict=True)):
            root = x.roots.get(place, 1)
            for weight, rows in column if number else ():
                for i in rows:
                    sums[i] += weight * number
                    if roots.setdefault(i, root) != root:
                        raise ArithmeticError("a layer adds numbers that are divided by different roots.")
        one = x.denominator * self.denominator
        if self.activation != "none":
            sums = [max(total, 0) for total in sums]
        kept = {i: root for i, root in roots.items() if root != 1}
        if self.activation == "clamp":  # r / √n ≤ 1 where r² ≤ n
            for i, total in enumerate(sums):
                if total * total > kept.get(i, 1) * one * one:
                    sums[i] = one
                    kept.pop(i, None)
        return Exact(sums, one, kept).reduced()

    def _columns(self) -> tuple[list[list[tuple[int, list[int]]]], list[int]]:
        """For each input the weights that are not 0, each with its rows; and the biases: as the parameters are now."""
        weight: Any = self._parameters.get("numerators")
        bias: Any = self._parameters.get("bias_numerators")
        if weight is None or bias is None:
            raise TypeError("This layer computes in floats, and an exact vector was given. Give it a tensor.")
        try:
            written = (weight._version, bias._version, weight.data_ptr(), bias.data_ptr())
        except RuntimeError:  # tensors of inference mode have no version
            written = None
        kept = self._sparse
        if kept and kept.weight is weight and kept.bias is bias and kept.written == written is not None:
            return kept.columns, kept.biases
        for numbers in (weight, bias):
            if numbers.dtype != torch.int64:
                raise TypeError(f"The parameters of an exact layer are of torch.int64, and here of {numbers.dtype}.")
        columns: list[dict[int, list[int]]] = [defaultdict(list) for _ in range(weight.shape[1])]
        places = weight.nonzero()
        for (i, j), number in zip(places.tolist(), weight[tuple(places.T)].tolist(), strict=True):
            columns[j][number].append(i)
        kept = _Sparse(weight, bias, written, [list(column.items()) for column in columns], bias.tolist())
        self._sparse = kept
        return kept.columns, kept.biases

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_sparse": None}  # a copy has parameters of its own

    def forget(self) -> None:
        """Read the parameters anew at the next step: torch does not count what is written through ``.data``."""
        self._sparse = None

    def describe(self, name: str) -> list[ir.Layer]:
        """This layer as :mod:`turing.ir` reads it."""
        kinds, over = (DERIVED.values(), self.denominator) if self.exact else (DERIVED, 1)
        weight, bias = (ir.Numbers(f"{name}.{kind}".lstrip("."), getattr(self, kind).detach(), over) for kind in kinds)
        return [ir.Layer(name, weight, bias, self.activation, tuple(self.last))]

    def extra_repr(self) -> str:
        before, after = self.layouts
        return f"{before.width} → {after.width}, {self.activation}"


def _numerators(
    before: int, after: int, rows: Mapping[int, Row] | Iterable[tuple[int, Row]]
) -> tuple[int, tuple[Tensor, Tensor]]:
    """The least common denominator of all weights, and weights and biases over it."""
    weight, bias = torch.zeros(after, before, dtype=torch.int64), torch.zeros(after, dtype=torch.int64)
    over, largest = 1, Fraction(0)
    for i, row in rows.items() if isinstance(rows, Mapping) else rows:
        more = lcm(over, *{value.denominator for value in row.values()}) // over
        over, largest = over * more, max([largest, *map(abs, row.values())])
        if largest * over >= 2**63:
            raise ValueError(f"This base asks for a weight of {int(largest * over):,}. Take a smaller one.")
        if more > 1:
            weight *= more
            bias *= more
        numerators = {j: int(value * over) for j, value in row.items()}
        bias[i] = numerators.pop(None, 0)
        weight[i, list(numerators)] = torch.tensor(list(numerators.values()), dtype=torch.int64)
    return over, (weight, bias)


class Norm(nn.Module):
    """Layer norm without ε: each of some slices becomes x′ / ‖x′‖ with x′ = x − mean. Other places pass.

    >>> import torch
    >>> from turing import Layout
    >>> from turing.modules import Norm
    >>> Norm(Layout(a=1, phi=4), ["phi"])(torch.tensor([7.0, 1, 1, -1, -1])).tolist()
    [7.0, 0.5, 0.5, -0.5, -0.5]

    Chapter: :doc:`/book/research`.
    """

    kind: ClassVar[type[ir.Norm]] = ir.Norm

    def __init__(self, layout: Layout, slices: Sequence[str]):
        super().__init__()
        self.layouts, self.slices = [layout, layout], tuple(slices)
        for name in self.slices:
            layout[name]  # says which slices there are

    def forward(self, x: Any) -> Any:
        """The vector, or each vector of a tensor ``(…, w)``, with its slices changed."""
        parts = [self.layouts[0][name].slice for name in self.slices]
        if isinstance(x, Exact):
            for part in parts:
                made = self.exactly(x[part])
                rest = Exact(
                    [0 if i in range(*part.indices(len(x))) else n for i, n in enumerate(x.numerators)],
                    x.denominator,
                    {i: root for i, root in x.roots.items() if not part.start <= i < part.stop},
                )
                placed = Exact(
                    [0] * part.start + made.numerators + [0] * (len(x) - part.stop),
                    made.denominator,
                    {part.start + k: root for k, root in made.roots.items()},
                )
                x = rest + placed
            return x
        x = x.clone()
        for part in parts:
            x[..., part] = self.floats(x[..., part])
        return x

    def floats(self, x: Tensor) -> Tensor:
        centred = x - x.mean(-1, keepdim=True)
        return centred / centred.norm(dim=-1, keepdim=True)

    def exactly(self, x: Exact) -> Exact:
        return normalised(x)

    def describe(self, name: str) -> list[ir.Norm]:
        """This module as :mod:`turing.ir` reads it."""
        return [self.kind(name, self.slices, inputs=self.layouts[0], outputs=self.layouts[1])]


class Argmax(Norm):
    """Each of some slices becomes one-hot at its maximum, the first one if there are several. Other places pass.

    >>> import torch
    >>> from turing import Layout
    >>> from turing.modules import Argmax
    >>> Argmax(Layout(tok=3), ["tok"])(torch.tensor([0.5, 2, 2])).tolist()
    [0.0, 1.0, 0.0]

    Chapter: :doc:`/book/research`.
    """

    kind = ir.Argmax

    def floats(self, x: Tensor) -> Tensor:
        found = F.one_hot(x.argmax(-1), x.shape[-1]).to(x.dtype)
        return found + 0 * x.sum(-1, keepdim=True)  # where a number is infinite or none, no token is clean

    def exactly(self, x: Exact) -> Exact:
        first = x.numerators.index(max(x.numerators))
        return Exact([int(i == first) for i in range(len(x))])


class Convolution(nn.Module):
    """Each cell of a row from itself and its neighbours: ``weight`` has the shape (out, in, odd width).

    Beyond the ends of the row stand zeros. Shapes: ``(…, cells, in)`` to ``(…, cells, out)``; in exact arithmetic a
    list of exact vectors, and the parameters are integers.

    >>> import torch
    >>> from turing.modules import Convolution
    >>> shift = Convolution(torch.tensor([[[0.0, 0.0, 1.0]]]), torch.zeros(1))
    >>> shift(torch.tensor([[1.0], [2.0], [3.0]])).flatten().tolist()
    [2.0, 3.0, 0.0]

    Chapter: :doc:`/book/research`.
    """

    def __init__(self, weight: Tensor, bias: Tensor, activation: str = "none", layouts: Sequence[Layout] | None = None):
        super().__init__()
        if weight.dim() != 3 or weight.shape[2] % 2 == 0 or bias.shape != weight.shape[:1]:
            raise ValueError(
                f"A convolution has weights of the shape (out, in, odd width) and a bias for each output; shapes "
                f"{tuple(weight.shape)} and {tuple(bias.shape)} were given."
            )
        self.weight, self.bias = (nn.Parameter(part, requires_grad=part.is_floating_point()) for part in (weight, bias))
        self.activation, self.layouts = activation, list(layouts or [])

    def forward(self, cells: Any) -> Any:
        """The next row of cells."""
        radius = self.weight.shape[2] // 2
        if isinstance(cells, list):
            return self._exactly(cells, radius)
        padded = F.pad(cells, (0, 0, radius, radius))
        windows = padded.unfold(-2, 2 * radius + 1, 1)  # (…, cells, in, width)
        return ACTIVATIONS[self.activation](F.linear(windows.flatten(-2), self.weight.flatten(1), self.bias))

    def _exactly(self, cells: list[Exact], radius: int) -> list[Exact]:
        bias, found = self.bias.tolist(), []
        taps: list[list[tuple[int, int, int]]] = [[] for _ in bias]
        for i, j, d in self.weight.nonzero().tolist():
            taps[i].append((j, d, int(self.weight[i, j, d])))
        for k in range(len(cells)):
            sums = [
                Fraction(b) + sum(w * cells[k + d - radius][j] for j, d, w in row if 0 <= k + d - radius < len(cells))
                for b, row in zip(bias, taps, strict=True)
            ]
            if self.activation != "none":
                sums = [max(total, Fraction(0)) for total in sums]
            found.append(Exact.of(min(total, Fraction(1)) if self.activation == "clamp" else total for total in sums))
        return found

    def describe(self, name: str) -> list[ir.Convolution]:
        """This module as :mod:`turing.ir` reads it."""
        weight, bias = (ir.Numbers(f"{name}.{kind}".lstrip("."), getattr(self, kind).detach()) for kind in DERIVED)
        return [ir.Convolution(name, weight, bias, self.activation)]
