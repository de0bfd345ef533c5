"""A network as its numbers: read from any module made of linear layers and ReLU, and as a dictionary for a file.

The dictionary is ``{"turing": "network", "version": 1, "layouts": […], "layers": […]}``. A layout is a list of
slices, each with its name and its size or the labels of its places; there is one for the input and one for
the output of each layer. A layer has a ``name``, a ``shape`` [out, in], ``weight`` as [row, column, value]
and ``bias`` as [row, value] for what is not 0, and ``relu``, true or false. ``dtype`` stands there too, unless it is
float32.

Chapter: :doc:`/book/01_gates`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from turing.formats.base import cut
from turing.layout import Layout

if TYPE_CHECKING:
    from torch import nn

    from turing.gates import Readout

__all__ = ["Numbers", "from_dict", "layers_of", "layouts_of", "to_dict"]

VERSION = 1
MOST_NUMBERS = 2_000_000  # that a file may ask for: a few damaged digits should not fill the memory
TYPES = ("float32", "float64", "bfloat16", "float16")
LAYER = 200  # what a layer itself counts for
KINDS = {list: "a list", bool: "true or false"}
ENTRIES = {"weight": ["row", "column", "value"], "bias": ["row", "value"]}


class Numbers(NamedTuple):
    """One layer: its name in the network, its weights by row, its biases, and whether a ReLU follows.

    Chapter: :doc:`/book/01_gates`.
    """

    name: str
    weight: list[list[float]]
    bias: list[float]
    inputs: int
    relu: bool


def layers_of(network: nn.Module) -> list[Numbers]:
    """The layers of a network in order, whether made of our classes or of ``nn.Linear`` and ``nn.ReLU``.

    An ``nn.Linear`` on its own is read as the linear part of a ReLU layer; inside an ``nn.Sequential`` a
    ReLU counts where it stands.

    >>> from turing.gates import OR
    >>> [(layer.name, layer.weight, layer.bias) for layer in layers_of(OR(2))]
    [('0', [[-1.0, -1.0]], [1.0]), ('1', [[-1.0]], [1.0])]

    Chapter: :doc:`/book/01_gates`.
    """
    from torch import nn

    from turing.gates import Layer, Readout

    found: list[Numbers] = []

    def walk(name: str, module: nn.Module) -> None:
        for kind in (Layer, Readout, nn.Linear, nn.ReLU):
            if isinstance(module, kind) and type(module).forward is not kind.forward:
                raise TypeError(
                    f"A network here is made of linear layers and ReLU, and {type(module).__name__} computes something "
                    f"else than {kind.__name__}: its numbers do not tell what."
                )
            if isinstance(module, kind):
                break
        if isinstance(module, (Readout, nn.Linear)):
            found.append(_numbers(name, module, relu=isinstance(module, Layer)))
        elif isinstance(module, nn.ReLU) and found:
            found[-1] = found[-1]._replace(relu=True)
        elif isinstance(module, nn.Sequential) and type(module).forward is nn.Sequential.forward:
            for child, part in module._modules.items():  # named_children leaves out a layer that stands there twice
                walk(f"{name}.{child}" if name else child, part)
        elif not isinstance(module, nn.Identity):
            raise TypeError(
                f"A network here is made of linear layers and ReLU, in an nn.Sequential if there are several; "
                f"{type(module).__name__} was given."
            )

    walk("", network)
    if isinstance(network, nn.Linear):
        return [found[0]._replace(relu=True)]
    if not found:
        raise ValueError("This network has no layers. It takes at least one, such as turing.gates.AND(2).")
    for before, after in pairwise(found):
        if len(before.weight) != after.inputs:
            raise ValueError(
                f"Layer {after.name} takes {after.inputs} numbers, and the one before gives {len(before.weight)}."
            )
    return found


def layouts_of(network: nn.Module, layout: Layout | Sequence[Layout] | None = None) -> list[Layout]:
    """Names for the input of a network and for the output of each layer, as many as it has layers, and one.

    A single layout names every vector of its width. What is left has the names of the network's own
    ``layouts``. Without those, the input is ``x``, layer 1 gives ``h1`` and so on, and the last layer gives
    ``y``; but all are ``x`` where all have the same width, as in a network that works in place.

    >>> from turing.gates import OR, embed
    >>> layouts_of(OR(2)), layouts_of(OR(2), Layout(a=1, b=1))[0], layouts_of(embed(3))
    ([Layout(x=2), Layout(h1=1), Layout(y=1)], Layout(a=1, b=1), [Layout(x=3), Layout(x=3)])

    Chapter: :doc:`/book/01_gates`.
    """
    layers = layers_of(network)
    widths = [layers[0].inputs, *(len(layer.weight) for layer in layers)]
    given: Sequence[Layout | None]
    if layout is None or isinstance(layout, Layout):
        given = [layout if layout and layout.width == width else None for width in widths]
        if layout and not any(given):
            raise ValueError(f"The layout names {layout.width} places; the vectors here have {_listed(widths)}.")
    else:
        given = every = list(layout) if isinstance(layout, Sequence) else [layout]
        if not all(isinstance(names, Layout) for names in every):
            raise TypeError(f"The places of a vector are named by a Layout, and {layout!r} was given.")
        if [names.width for names in every] != widths:
            raise ValueError(
                f"A layout is needed for the input and for the output of each layer, of {_listed(widths)} places; "
                f"those given name {_listed(names.width for names in every)}."
            )
    own = getattr(network, "layouts", [])
    if [names.width for names in own] != widths:
        own = [None] * len(widths)
    usual = ["x"] * len(widths) if len(set(widths)) == 1 else ["x", *(f"h{n}" for n in range(1, len(layers))), "y"]
    return [
        names or mine or Layout(**{name: width})
        for names, mine, name, width in zip(given, own, usual, widths, strict=True)
    ]


def to_dict(network: nn.Module, layout: Layout | Sequence[Layout] | None = None) -> dict:
    """The network as a dictionary that JSON can hold.

    >>> from turing.gates import NOT
    >>> to_dict(NOT())["layers"]
    [{'name': '', 'shape': [1, 1], 'weight': [[0, 0, -1]], 'bias': [[0, 1]], 'relu': True}]

    Chapter: :doc:`/book/01_gates`.
    """
    from torch import nn

    types = {str(numbers.dtype).removeprefix("torch.") for numbers in network.parameters()}
    dtype = types.pop() if len(types) == 1 else "float32"
    alone = isinstance(network, nn.Linear)  # there the ReLU is assumed, and not part of the network
    return {
        "turing": "network",
        "version": VERSION,
        **({} if dtype == "float32" else {"dtype": dtype}),
        "layouts": [
            [[part.name, list(part.labels) or part.size] for part in names] for names in layouts_of(network, layout)
        ],
        "layers": [
            {
                "name": layer.name,
                "shape": [len(layer.weight), layer.inputs],
                "weight": [
                    [i, j, _short(value)]
                    for i, row in enumerate(layer.weight)
                    for j, value in enumerate(row)
                    if value != 0
                ],
                "bias": [[i, _short(value)] for i, value in enumerate(layer.bias) if value != 0],
                "relu": layer.relu and not alone,
            }
            for layer in layers_of(network)
        ],
    }


def from_dict(data: dict) -> nn.Sequential:
    """The network that a dictionary describes, as a sequence of layers with ``layouts``.

    Its weights are of the type that ``dtype`` names; without one, of torch's default type, or of float64 where that
    would change a weight.

    >>> from turing.gates import XOR
    >>> from_dict(to_dict(XOR()))[2].weight.tolist()
    [[1.0, 1.0]]

    Chapter: :doc:`/book/01_gates`.
    """
    import torch
    from torch import nn

    from turing.gates import Layer, Readout

    if not isinstance(data, dict) or data.get("turing") != "network":
        raise ValueError('This is no network: the key "turing" with the value "network" is missing.')
    if data.get("version") != VERSION:
        raise ValueError(f"This network is of version {data.get('version')!r}; version {VERSION} is read here.")
    network, room = nn.Sequential(), MOST_NUMBERS
    try:
        for layer in _value(data, "layers", list):
            rows, columns = _shape(layer)
            room -= max(rows, 1) * (columns + 1) + LAYER
            if room < 0:
                raise ValueError(f"it asks for more than {MOST_NUMBERS:,} numbers")
            W, b = torch.zeros(rows, columns, dtype=torch.float64), torch.zeros(rows, dtype=torch.float64)
            for i, j, value in _entries(layer, "weight"):
                W[_index(i, rows), _index(j, columns)] = _real(value)
            for i, value in _entries(layer, "bias"):
                b[_index(i, rows)] = _real(value)
            network.append((Layer if _value(layer, "relu", bool) else Readout)(W, b))
        layouts = layouts_of(network, [_layout(slices) for slices in _value(data, "layouts", list)])
        network.layouts = layouts  # type: ignore[assignment]  # a module may hold more than modules
    except (TypeError, ValueError) as error:
        raise ValueError(f"This network is damaged: {error}") from None
    usual = torch.get_default_dtype()
    if "dtype" in data:
        if data["dtype"] not in TYPES:
            raise ValueError(f'This network is damaged: "dtype" is one of {", ".join(TYPES)}')
        return network.to(getattr(torch, data["dtype"]))
    fits = all(bool((numbers.to(usual).double() == numbers).all()) for numbers in network.parameters())
    return network.to(usual) if fits else network


def _numbers(name: str, module: Readout | nn.Linear, relu: bool) -> Numbers:
    for numbers in (module.weight, module.bias):
        if numbers is not None and not numbers.isfinite().all():
            raise ValueError(f"Layer {name or 0} has a weight or bias that is infinite or not a number.")
    weight = module.weight.detach().double().tolist()
    bias = [0.0] * len(weight) if module.bias is None else module.bias.detach().double().tolist()
    return Numbers(name, weight, bias, module.weight.shape[1], relu)


def _short(value: float) -> float | int:
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _value(data: object, key: str, kind: type) -> Any:
    value = data.get(key) if isinstance(data, dict) else None
    if type(value) is not kind:
        raise ValueError(f'"{key}" is missing, or it is not {KINDS[kind]}')
    return value


def _shape(layer: object) -> list[int]:
    shape = _value(layer, "shape", list)
    if len(shape) != 2 or not all(type(size) is int and 0 <= size <= MOST_NUMBERS for size in shape):
        raise ValueError(f"the shape of a layer is [out, in], and {cut(str(shape))} was found")
    return shape


def _entries(layer: object, key: str) -> list[list]:
    entries = _value(layer, key, list)
    for entry in entries:
        if type(entry) is not list or len(entry) != len(ENTRIES[key]):
            raise ValueError(f'"{key}" holds lists of {", ".join(ENTRIES[key])}, and {cut(str(entry))} was found')
    if len({str(entry[:-1]) for entry in entries}) < len(entries):
        raise ValueError(f'"{key}" has two values for one place')
    return entries


def _layout(slices: object) -> Layout:
    pairs: list[Any] = slices if type(slices) is list else [slices]
    for pair in pairs:
        if type(pair) is not list or len(pair) != 2 or type(pair[0]) is not str:
            raise ValueError(
                f"a layout holds a name and a size or labels for each slice, and {cut(str(pair))} was found"
            )
    name, times = Counter(name for name, _ in pairs).most_common(1)[0] if pairs else ("", 0)
    if times > 1:
        raise ValueError(f"a layout has the slice {name!r} twice")
    return Layout(**dict(pairs))


def _index(i: object, size: int) -> int:
    if type(i) is not int or not 0 <= i < size:
        raise ValueError(f"a weight or bias stands at place {str(i)[:20]} of {size}")
    return i


def _real(value: Any) -> float:
    try:
        number = float(value) if type(value) in (int, float) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{cut(str(value))} is no number")
    return number


def _listed(widths: Iterable[int]) -> str:
    return ", ".join(map(str, widths))
