"""Every network as tools see it: named modules of five kinds, the names of their places, their numbers, and the loop.

Whatever shows, draws, saves, exports or runs a network reads it here, and needs to know nothing else about it:
:func:`of` gives the :class:`Network` of any module of the library, and :func:`to_dict` the dictionary that files and
pages hold.

The kinds are :class:`Layer`, :class:`Attention`, :class:`Norm`, :class:`Convolution` and :class:`Argmax`. A module of
PyTorch says by its method ``describe(name)`` which of these it is made of: ``name`` is where the module stands in the
network, such as ``pipeline.step``, and what it returns is a list of parts, in the order in which they work. Modules of
this library and PyTorch's linear layers are known; a class of your own needs the method:

>>> import torch
>>> from turing import ir
>>> class Negation(torch.nn.Module):
...     def __init__(self):
...         super().__init__()
...         self.weight, self.bias = torch.nn.Parameter(torch.tensor([[-1.]])), torch.nn.Parameter(torch.tensor([1.]))
...     def forward(self, x):
...         return torch.relu(x @ self.weight.T + self.bias)
...     def describe(self, name):
...         numbers = [ir.Numbers(f"{name}.{part}", getattr(self, part).detach()) for part in ("weight", "bias")]
...         return [ir.Layer(name, *numbers, "relu")]
>>> print(turing.show(torch.nn.Sequential(Negation())))
x ← ReLU(1 − x)   NOT(x)

Chapter: :doc:`/book/gates`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from turing.layout import Layout

if TYPE_CHECKING:
    from torch import Tensor, nn

    from turing.machine import TuringMachine

__all__ = [
    "Argmax",
    "Attention",
    "Convolution",
    "Layer",
    "Lookup",
    "Loop",
    "Module",
    "Network",
    "Norm",
    "Numbers",
    "Row",
    "of",
    "to_dict",
]

VERSION = 2
ACTIVATIONS = ("none", "relu", "clamp")
TYPES = ("float32", "float64", "bfloat16", "float16", "int64")  # of tensors
SCORES = ("dot", "-abs")
MASKS = ("causal", "strict", "prefix", "cross", "offset", "window")
POSITIONS: dict[str, Callable[[int, int], list[Any]]] = {  # from the number of a step, for so many places
    "step": lambda step, size: [step >> k & 1 for k in range(size)],
    "powers": lambda step, size: [1, step + 1, Fraction(1, step + 1), Fraction(1, (step + 1) ** 2)][:size],
    "inverse": lambda step, size: [Fraction(1, step + 1)],
}
MAX_SAFE = 2**53  # up to here a page reads an integer of JSON exactly
Number = float | Fraction


@dataclass(frozen=True, eq=False)
class Numbers:
    """A tensor of a network: its ``name`` in ``state_dict()``, and its ``values``. In exact arithmetic the values are
    integers, and each number is one of them over the ``denominator``.

    Chapter: :doc:`/book/gates`.
    """

    name: str
    values: Tensor
    denominator: int = 1

    def __post_init__(self) -> None:
        check_type(self.name, self.values)
        if not self.values.isfinite().all():
            raise ValueError(f"{self.name} has a number that is infinite or not a number. Networks here are finite.")

    @property
    def shape(self) -> list[int]:
        return list(self.values.shape)

    @property
    def exact(self) -> bool:
        return not self.values.is_floating_point()

    def number(self, value: float) -> Number:
        """The number that a value of the tensor stands for: a float, or a fraction in exact arithmetic."""
        return Fraction(int(value), self.denominator) if self.exact else float(value)

    @property
    def vector(self) -> list[Number]:
        """The numbers of a tensor that has one axis, as a list."""
        return [self.number(value) for value in self.values.tolist()]

    def entries(self) -> Iterator[tuple[list[int], float]]:
        """Yield the index and the value of every number that is not 0; in exact arithmetic the value is a numerator."""
        places = self.values.nonzero()
        found = self.values[tuple(places.T)]
        return zip(places.tolist(), (found if self.exact else found.double()).tolist(), strict=True)


class Row(NamedTuple):
    """One row of a layer: ``terms`` are pairs of a place that it reads and the weight of it, and ``bias`` is its bias.

    Chapter: :doc:`/book/gates`.
    """

    terms: list[tuple[int, Number]]
    bias: Number


@dataclass(frozen=True, eq=False)
class _Part:
    """What every kind has: a name, and the names of the places of the vectors that go in and come out."""

    kind: ClassVar[str]
    name: str
    inputs: Layout = field(default_factory=Layout, kw_only=True)
    outputs: Layout = field(default_factory=Layout, kw_only=True)

    @property
    def width_in(self) -> int:
        return self.inputs.width

    @property
    def width_out(self) -> int:
        return self.width_in


@dataclass(frozen=True, eq=False)
class _Linear(_Part):
    """What has weights of the shape [out, in, …], a bias and an activation."""

    weight: Numbers
    bias: Numbers
    activation: str = "none"

    @property
    def width_in(self) -> int:
        return self.weight.shape[1]

    @property
    def width_out(self) -> int:
        return self.weight.shape[0]


@dataclass(frozen=True, eq=False)
class Layer(_Linear):
    """x ↦ activation(Wx + b), where ``activation`` is ``"none"``, ``"relu"`` or ``"clamp"``, to [0, 1].

    ``weight`` and ``bias`` are :class:`Numbers`. The inputs in ``last`` are added after all others, since a sum of
    floats depends on the order.

    Chapter: :doc:`/book/gates`.
    """

    kind: ClassVar[str] = "linear"
    last: tuple[int, ...] = ()

    @property
    def relu(self) -> bool:
        return self.activation == "relu"

    @cached_property
    def rows(self) -> list[Row]:
        """A :class:`Row` for each place of the output."""
        terms: list[list[tuple[int, Number]]] = [[] for _ in range(self.width_out)]
        for (i, j), value in self.weight.entries():
            terms[i].append((j, self.weight.number(value)))
        return [Row(*row) for row in zip(terms, self.bias.vector, strict=True)]


class Lookup(NamedTuple):
    """What an attention head compares and fetches, if it is a look-up by bits.

    - ``compared``: pairs of a place of the row that the head looks at, and the place of the column that asks for the
      same bit; None in place of the second stands for a fixed 1
    - ``fetched``: pairs of a place that is read there, and the place that it is added to; None in place of the first
      stands for a fixed 1
    - ``condition``: places of the row, one of which should be 1; there may be none

    Chapter: :doc:`/book/hard-attention`.
    """

    compared: list[tuple[int, int | None]]
    fetched: list[tuple[int | None, int]]
    condition: list[int]


@dataclass(frozen=True, eq=False)
class Attention(_Part):
    """column ↦ column + write(average of the values whose keys fit the query best).

    ``query``, ``key``, ``value`` and ``write`` are layers; the key and the value that are always there are ``null_key``
    and ``null_value``, or None. ``mask`` says what a column looks at:

    - ``"causal"``: the columns so far, itself included
    - ``"strict"``: the earlier columns
    - ``"prefix"``: the word, and after it the columns so far
    - ``"cross"``: the word
    - ``"offset"``: the column that is ``offset`` columns back
    - ``"window"``: the word and the columns after it, always as many as at the first column; ``oldest`` is added to
      the key that stands first there

    ``score`` says how well a key fits: ``"dot"`` is its product with the query, and ``"-abs"`` minus the absolute value
    of that. ``kappa`` is the factor κ on scores, None for the hard maximum. ``average`` names the function that
    averages, :func:`"ratio" <turing.attention.ratio>` or :func:`"literal" <turing.attention.literal>`.

    Chapter: :doc:`/book/hard-attention`.
    """

    kind: ClassVar[str] = "attention"
    query: Layer
    key: Layer
    value: Layer
    write: Layer
    null_key: Numbers | None = None
    null_value: Numbers | None = None
    score: str = "dot"
    mask: str = "causal"
    offset: int | None = None
    kappa: float | None = None
    average: str = "ratio"
    oldest: Numbers | None = None

    @property
    def width_in(self) -> int:
        return self.query.width_in

    @property
    def hard(self) -> bool:
        """Whether a key that scores ½ less than the best has the weight 0, exactly, in the number type of this head."""
        if self.kappa is None or self.query.weight.exact:
            return True
        import torch

        kind = torch.finfo(self.query.weight.values.dtype)
        rounds_to_0 = kind.tiny * kind.eps / 2  # half of the smallest number
        scores_are_exact = self.query.width_out - 1 <= 2 / kind.eps
        return math.isfinite(self.kappa) and math.exp(-self.kappa / 2) <= rounds_to_0 and scores_are_exact

    def lookup(self) -> Lookup | None:
        """What this head compares and fetches, a :class:`Lookup`; None if its numbers make no look-up by bits.

        A look-up has 2x − 1 in the query and x − ½ in the key, a null key that scores ½ less than a match, and a κ with
        which a key that scores ½ less than the best has weight 0.
        """
        if self.null_key is None or self.null_value is None or self.score != "dot" or not self.hard:
            return None
        null, n = self.null_key.vector, self.null_key.shape[0] - 1
        if n < 1 or null != [0] * n + [(n - 1) / 2] or self.null_value.values.any() or self.write.bias.values.any():
            return None
        compared = []
        for asked, looked_at in zip(self.query.rows[:n], self.key.rows[:n], strict=True):
            weights = [weight for _, weight in asked.terms]
            if [weight for _, weight in looked_at.terms] != [1] or looked_at.bias != -0.5:
                return None
            if (weights, asked.bias) not in (([2], -1), ([], 1)):
                return None
            compared.append((looked_at.terms[0][0], asked.terms[0][0] if weights else None))
        constant, allowed = self.query.rows[n], self.key.rows[n]
        size = -allowed.bias
        fits = all(weight == size for _, weight in allowed.terms) and (size >= n if allowed.terms else size == 0)
        if constant.terms or constant.bias != 1 or not fits:
            return None
        fetched = []
        written: list[list[tuple[int, Number]]] = [[] for _ in self.value.rows]
        for place, row in enumerate(self.write.rows):
            for k, weight in row.terms:
                written[k].append((place, weight))
        for source, targets in zip(self.value.rows, written, strict=True):
            weights = [weight for _, weight in source.terms]
            if [weight for _, weight in targets] != [1] or (weights, source.bias) not in (([1], 0), ([], 1)):
                return None
            fetched.append((source.terms[0][0] if weights else None, targets[0][0]))
        return Lookup(compared, fetched, [place for place, _ in allowed.terms])


@dataclass(frozen=True, eq=False)
class Norm(_Part):
    """Layer norm without ε on each of the named ``slices``: x′ / ‖x′‖ with x′ = x − mean(x). Other places stay.

    Chapter: :doc:`/book/research`.
    """

    kind: ClassVar[str] = "norm"
    slices: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in self.slices:
            if name not in self.inputs.slices:
                raise ValueError(
                    f"Module {self.name or 0} works on the slice {name!r}, and its places are {self.inputs!r}. "
                    f"Give a layout with that slice, or leave layout out."
                )


@dataclass(frozen=True, eq=False)
class Argmax(Norm):
    """Each of the named ``slices`` becomes one-hot at its maximum, the first one in a tie. Other places stay.

    Chapter: :doc:`/book/research`.
    """

    kind: ClassVar[str] = "argmax"


@dataclass(frozen=True, eq=False)
class Convolution(_Linear):
    """Each cell of a row is computed from itself and its neighbours. ``weight`` has the shape [out, in, cells], with an
    odd number of cells.

    Chapter: :doc:`/book/research`.
    """

    kind: ClassVar[str] = "convolution"

    @property
    def radius(self) -> int:
        """How many neighbours a cell sees on each side."""
        return self.weight.shape[2] // 2

    @cached_property
    def rows(self) -> list[Row]:
        """A :class:`Row` for each place of the output. In its terms, place ``d · width_in + j`` is place j of cell d,
        counted from the leftmost neighbour.
        """
        rows = [Row([], bias) for bias in self.bias.vector]
        for d, tap in enumerate(self.taps()):
            for row, part in zip(rows, tap.rows, strict=True):
                row.terms.extend((d * self.width_in + j, weight) for j, weight in part.terms)
        return rows

    def taps(self) -> list[Layer]:
        """The convolution as one :class:`Layer` for each cell that is read, from left to right; the middle one has the
        bias.
        """
        none = replace(self.bias, values=self.bias.values * 0)
        return [
            Layer(
                f"{self.name}[{d:+d}]" if d else f"{self.name}[0]",
                replace(self.weight, values=self.weight.values[:, :, d + self.radius]),
                none if d else self.bias,
                self.activation,
                inputs=self.inputs,
                outputs=self.outputs,
            )
            for d in range(-self.radius, self.radius + 1)
        ]


Part = Layer | Attention | Norm | Convolution


class Module(NamedTuple):
    """A module of a network.

    - ``name``: its name in the pipeline
    - ``title``: the name of its class
    - ``parts``: layers that work one after the other, or one part of another kind
    - ``claim``: the claim of the paper that the class stands for, if there is one

    Chapter: :doc:`/book/gates`.
    """

    name: str
    title: str
    parts: tuple[Part, ...]
    claim: str = ""

    @property
    def kind(self) -> str:
        return self.parts[0].kind

    @property
    def inputs(self) -> Layout:
        return self.parts[0].inputs

    @property
    def outputs(self) -> Layout:
        return self.parts[-1].outputs

    @property
    def layouts(self) -> list[Layout]:
        return [self.inputs, *(part.outputs for part in self.parts)]


class Loop(NamedTuple):
    """What is fed back after a pass, and what is added to it.

    - ``state``: ``"column"``, or ``"cells"`` for a row of cells
    - ``add``: pairs of a slice and what is added there after t passes: ``"step"``, the bits of t; ``"powers"``, the
      numbers 1, t + 1, 1/(t + 1) and 1/(t + 1)²; or ``"inverse"``, 1/(t + 1)
    - ``table``: the name of a parameter whose rows are added, if there is one: after t passes row ``first`` + t

    Chapter: :doc:`/book/wcm21`.
    """

    state: str = "column"
    add: tuple[tuple[str, str], ...] = ()
    table: str = ""
    first: int = 0


class Network(NamedTuple):
    """A network as its numbers.

    - ``modules``: a :class:`Module` for each module, in the order in which they work
    - ``arithmetic``: the type of its numbers, such as ``"float32"``, or ``"exact"``
    - ``loop``, ``construction``, ``machine``, ``options``: of a compiled network; the loop is a :class:`Loop`
    - ``table``: the :class:`Numbers` of the loop's table, if it has one

    Chapter: :doc:`/book/gates`.
    """

    modules: tuple[Module, ...]
    arithmetic: str
    loop: Loop | None = None
    construction: str | None = None
    machine: TuringMachine | None = None
    options: Mapping[str, Any] = {}
    table: Numbers | None = None  # that of the loop

    @property
    def parts(self) -> list[Part]:
        """All parts of all modules, in the order in which they work."""
        return [part for module in self.modules for part in module.parts]

    @property
    def layers(self) -> list[Layer]:
        """All layers in order; a network that has parts of other kinds raises a ``TypeError``."""
        layers = []
        for part in self.parts:
            if not isinstance(part, Layer):
                raise TypeError(
                    f"A network of linear layers is needed here, and {part.name or 'the one given'} is of the kind "
                    f"{part.kind}."
                )
            layers.append(part)
        return layers

    @property
    def layouts(self) -> list[Layout]:
        """The :class:`~turing.layout.Layout` of the input and of what leaves each part, a list."""
        return [self.modules[0].inputs, *(part.outputs for part in self.parts)]

    def numbers(self) -> Iterator[Numbers]:
        """Yield the :class:`Numbers` of every tensor of the network."""
        for part in self.parts:
            yield from tensors(part)
        if self.table is not None:
            yield self.table


def tensors(part: Part) -> list[Numbers]:
    """The tensors of a part."""
    if isinstance(part, Attention):
        maps = (part.query, part.key, part.value, part.write)
        more = [numbers for numbers in (part.null_key, part.null_value, part.oldest) if numbers is not None]
        return [numbers for layer in maps for numbers in (layer.weight, layer.bias)] + more
    return [] if isinstance(part, Norm) else [part.weight, part.bias]


def of(network: nn.Module, layout: Layout | Sequence[Layout] | None = None) -> Network:
    """The :class:`Network` of a PyTorch module: a compiled network, or layers of ours or PyTorch's, alone or in a row.

    ``layout`` names the places of layers; a compiled network has its own names. A single one names every vector of its
    width; a list has one for the input and one for what leaves each layer. Other vectors take their names from the
    ``layouts`` of the module or of its parts.

    Without any layout, the input is ``x``, layer 1 gives ``h1`` and so on, and the last layer gives ``y``; where all
    have the same width, all are ``x``. An ``nn.Linear`` on its own is read as the linear part of a ReLU layer.

    >>> from turing import Layout
    >>> from turing.gates import OR
    >>> from turing.ir import of
    >>> [(layer.name, layer.rows, layer.activation) for layer in of(OR(2)).layers]
    [('0', [Row(terms=[(0, -1.0), (1, -1.0)], bias=1.0)], 'relu'), ('1', [Row(terms=[(0, -1.0)], bias=1.0)], 'relu')]
    >>> of(OR(2), Layout(a=1, b=1)).layouts
    [Layout(a=1, b=1), Layout(h1=1), Layout(y=1)]

    Chapter: :doc:`/book/gates`.
    """
    from torch import nn

    if compiled := getattr(network, "ir", None):
        if layout is not None:
            raise ValueError("A compiled network has names for its places. Leave layout out.")
        return compiled()
    parts = described("", network)
    if not parts:
        raise ValueError("This network has no layers. It takes at least one, such as turing.gates.AND(2).")
    if isinstance(network, nn.Linear):
        parts = [_then_relu(parts[0])]
    parts = named(parts, layout)
    return Network(tuple(Module(part.name, "", (part,)) for part in parts), arithmetic_of(network.parameters()))


def described(name: str, module: nn.Module) -> list[Part]:
    """The parts of a module, with the names that it or what is inside has for its places."""
    from torch import nn

    if isinstance(module, nn.Module) and "forward" in vars(module):
        raise TypeError(
            f"The forward of this {type(module).__name__} was replaced, and its numbers do not say what it computes."
        )
    if isinstance(module, nn.Sequential) and type(module).forward is nn.Sequential.forward:
        parts: list[Part] = []
        for child, part in module._modules.items():  # named_children leaves out a layer that stands there twice
            if isinstance(part, nn.ReLU) and type(part).forward is nn.ReLU.forward and parts:
                parts[-1] = _then_relu(parts[-1])
            elif part is not None and type(part) is not nn.Identity:
                parts += described(f"{name}.{child}" if name else child, part)
        return with_own_names(parts, module)
    if isinstance(module, nn.Linear) and type(module).forward is nn.Linear.forward:
        bias = module.weight.new_zeros(len(module.weight)) if module.bias is None else module.bias
        return [layer(name, module.weight, bias)]
    describe = getattr(module, "describe", None)
    if describe is None:
        raise TypeError(
            f"A network here is made of linear layers and ReLU, in an nn.Sequential if there are several, or of the "
            f"other kinds of turing.ir; {type(module).__name__} was given."
        )
    computes, says = (
        next(kind for kind in type(module).__mro__ if name in vars(kind)) for name in ("forward", "describe")
    )
    if computes is not says and issubclass(computes, says):
        raise TypeError(
            f"{type(module).__name__} computes something other than {says.__name__}, and its numbers do not say what."
        )
    return with_own_names(list(describe(name)), module)


def _then_relu(part: Part) -> Part:
    if isinstance(part, Layer | Convolution):
        return part if part.activation == "clamp" else replace(part, activation="relu")
    raise TypeError(f"A ReLU follows a linear layer or a convolution here, and {part.name} is of the kind {part.kind}.")


def with_own_names(parts: list[Part], module: nn.Module) -> list[Part]:
    """The parts of a module with its ``layouts``, or its one ``layout``, where these have the widths of the parts."""
    widths = [part.width_in for part in parts[:1]] + [part.width_out for part in parts]
    own = getattr(module, "layouts", None) or [getattr(module, "layout", None) or Layout()] * len(widths)
    return with_layouts(parts, own) if [layout.width for layout in own] == widths else parts


def with_layouts(parts: Sequence[Part], layouts: Sequence[Layout]) -> list[Part]:
    return [
        replace(part, inputs=one, outputs=other) for part, (one, other) in zip(parts, pairwise(layouts), strict=True)
    ]


def layer(name: str, weight: Tensor, bias: Tensor, activation: str = "none", **more: Any) -> Layer:
    """A layer whose tensors are called ``weight`` and ``bias``."""
    at = f"{name}." if name else ""
    return Layer(name, Numbers(f"{at}weight", weight.detach()), Numbers(f"{at}bias", bias.detach()), activation, **more)


def named(parts: list[Part], layout: Layout | Sequence[Layout] | None = None) -> list[Part]:
    """The parts with the layouts that are given, or that they have, or the usual ones."""
    for one, other in pairwise(parts):
        if one.width_out != other.width_in:
            raise ValueError(
                f"Layer {other.name} takes {other.width_in} numbers, and the one before gives {one.width_out}."
            )
    widths = [parts[0].width_in, *(part.width_out for part in parts)]
    listed = ", ".join(map(str, widths))
    given: Sequence[Layout | None]
    if layout is None or isinstance(layout, Layout):
        given = [layout if layout and layout.width == width else None for width in widths]
        if layout and not any(given):
            raise ValueError(f"The layout names {layout.width} places; the vectors here have {listed}.")
    else:
        given = every = list(layout) if isinstance(layout, Sequence) else [layout]
        if not all(isinstance(names, Layout) for names in every):
            raise TypeError(f"The places of a vector are named by a Layout, and {layout!r} was given.")
        if [names.width for names in every] != widths:
            raise ValueError(
                f"A layout is needed for the input and for the output of each layer, of {listed} places; "
                f"those given name {', '.join(str(names.width) for names in every)}."
            )
    read, written = [part.inputs for part in parts], [part.outputs for part in parts]
    own = [one if one.slices else other for one, other in zip([Layout(), *written], [*read, Layout()], strict=True)]
    usual = ["x"] * len(widths) if len(set(widths)) == 1 else ["x", *(f"h{n}" for n in range(1, len(parts))), "y"]
    layouts = [
        names or (mine if mine.slices else Layout(**{name: width}))
        for names, mine, name, width in zip(given, own, usual, widths, strict=True)
    ]
    return with_layouts(parts, layouts)


def check_type(name: str, numbers: Tensor) -> None:
    """Raise unless a tensor holds numbers of a type that networks here compute in."""
    if numbers.is_meta:
        raise TypeError(
            f"{name} is on the device meta, where tensors have no numbers. Compile the network again, or load it."
        )
    if str(numbers.dtype).removeprefix("torch.") not in TYPES:
        raise TypeError(
            f"{name} is of {numbers.dtype}, and networks here are of {', '.join(TYPES)}. Convert it, such as with "
            f"network.to(torch.float32)."
        )


def arithmetic_of(parameters: Iterable[Tensor]) -> str:
    """The number type that parameters share: ``"exact"`` for integers; float32 where there are none, or several."""
    types = {str(numbers.dtype).removeprefix("torch.") for numbers in parameters}
    name = types.pop() if len(types) == 1 else "float32"
    return "exact" if name == "int64" else name


def to_dict(network: nn.Module | Network, layout: Layout | Sequence[Layout] | None = None) -> dict[str, Any]:
    """The network as a dictionary that JSON can hold, which is what files and pages read. ``layout`` is that of
    :func:`of`.

    >>> from turing.gates import NOT
    >>> from turing.ir import to_dict
    >>> data = to_dict(NOT())
    >>> data["modules"], data["weights"]["bias"]  # doctest: +NORMALIZE_WHITESPACE
    ([{'name': '', 'kind': 'linear', 'layouts': [0, 0], 'layers': [{'weight': 'weight', 'bias': 'bias',
    'activation': 'relu'}]}], {'shape': [1], 'values': [[0, 1]]})

    Chapter: :doc:`/book/gates`.
    """
    from torch import nn

    if isinstance(network, nn.Linear):  # of it alone, the ReLU is assumed, and not part of the network
        network = nn.Sequential(network)
    found = network if isinstance(network, Network) else of(network, layout)
    return structure(found) | {"weights": {numbers.name: entries(numbers) for numbers in found.numbers()}}


def structure(network: Network) -> dict[str, Any]:
    """Everything that :func:`to_dict` says, but for the weights."""
    layouts: list[list] = []

    def number(layout: Layout) -> int:
        slices = [[part.name, list(part.labels) or part.size] for part in layout]
        if slices not in layouts:
            layouts.append(slices)
        return layouts.index(slices)

    modules = []
    for module in network.modules:
        parts = [_details(part) for part in module.parts]
        entry = {"name": module.name, "kind": module.kind, "layouts": [number(layout) for layout in module.layouts]}
        modules.append(entry | ({"layers": parts} if module.kind == "linear" else parts[0]))
    data: dict[str, Any] = {"turing": "network", "version": VERSION, "arithmetic": network.arithmetic}
    if network.machine is not None:
        import json

        data["construction"] = network.construction
        data["machine"] = json.loads(network.machine.dumps("json"))
        data["options"] = dict(network.options)
    data |= {"layouts": layouts, "modules": modules}
    if network.loop is not None:
        data["loop"] = {"state": network.loop.state, "add": [list(pair) for pair in network.loop.add]}
        if network.loop.table:
            data["loop"] |= {"table": network.loop.table, "first": network.loop.first}
    return data


def _details(part: Part) -> dict[str, Any]:
    if isinstance(part, Attention):
        maps = {name: getattr(part, name) for name in ("query", "key", "value", "write")}
        null = {"null_key": part.null_key, "null_value": part.null_value}
        return {
            **{name: {"weight": layer.weight.name, "bias": layer.bias.name} for name, layer in maps.items()},
            **{name: numbers.name if numbers else None for name, numbers in null.items()},
            "score": part.score,
            "mask": part.mask,
            **({} if part.offset is None else {"offset": part.offset}),
            **({} if part.oldest is None else {"oldest": part.oldest.name}),
            "kappa": part.kappa,
            "average": part.average,
        }
    if isinstance(part, Norm):
        return {"slices": list(part.slices)}
    last = {"last": list(part.last)} if isinstance(part, Layer) and part.last else {}
    return {"weight": part.weight.name, "bias": part.bias.name, "activation": part.activation, **last}


def entries(numbers: Numbers) -> dict[str, Any]:
    """A tensor as its shape and what is not 0: ``[index, …, value]``."""
    values = [[*place, _short(value)] for place, value in numbers.entries()]
    over = {"denominator": _short(numbers.denominator)} if numbers.denominator != 1 else {}
    return {"shape": numbers.shape, "values": values, **over}


def _short(value: float) -> float | int | str:
    if isinstance(value, int):
        return value if abs(value) < MAX_SAFE else str(value)
    return int(value) if math.isfinite(value) and value.is_integer() and abs(value) < MAX_SAFE else value
