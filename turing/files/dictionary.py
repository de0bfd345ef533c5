"""From a network to the dictionary of a file and back. Everything that a file says is checked before it is used.

Chapter: :doc:`/book/wcm21`.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_parameter_registration_hook

from turing import ir
from turing.arguments import MAX_NUMBERS
from turing.construction import Construction, compile, constructions
from turing.files.integrity import digest
from turing.files.stored import MAX_SIZE, TYPES, Field, Stored, shown
from turing.files.version_1 import upgraded
from turing.gates import Layer, Readout
from turing.layout import Layout
from turing.machine import TuringMachine
from turing.modules import Argmax, Convolution, Norm, Rational

__all__ = ["describe", "from_dict"]

VERSIONS = (1, ir.VERSION)
MAX_PLAIN = 2_000_000  # numbers of a network of plain layers: a few damaged digits should not fill the memory
MAPS = ("query", "key", "value", "write")
INSTEAD = "network.state_dict() can be saved with safetensors.torch.save_file."


def describe(
    network: nn.Module, layout: Layout | Sequence[Layout] | None = None
) -> tuple[dict[str, Any], list[ir.Numbers]]:
    """What a file says about a network, without its weights, and its weights; refused if they could not be read back.

    Chapter: :doc:`/book/wcm21`.
    """
    if not isinstance(network, nn.Module):
        raise TypeError(
            f"A network is saved here, such as turing.gates.AND(2) or what turing.compile returns, and {network!r} was "
            f"given. Write turing.save(network, path)."
        )
    found = ir.of(nn.Sequential(network) if isinstance(network, nn.Linear) else network, layout)
    numbers = list(found.numbers())
    types = {tensor.values.dtype for tensor in numbers}
    if len(types) > 1 or not types <= set(TYPES.values()):
        names = ", ".join(sorted(str(dtype).removeprefix("torch.") for dtype in types))
        raise ValueError(
            f"All weights in a file are of one type, {', '.join(TYPES)}, and those of this network are of {names}. "
            f"Convert the network first, such as with network.float()."
        )
    if isinstance(network, Construction):
        _check_compiled(network, numbers)
    elif any(isinstance(part, ir.Attention) for part in found.parts):
        raise ValueError("A head of attention is saved as a part of a compiled network, and not with plain layers.")
    size, limit = sum(tensor.values.numel() for tensor in numbers), _limit(found.construction is not None)
    if size > limit:
        raise ValueError(
            f"This network has {size:,} numbers, and a file holds at most {limit:,} for "
            f"{'a compiled network' if found.construction else 'plain layers'}. {INSTEAD}"
        )
    return ir.structure(found), numbers


def _limit(compiled: bool) -> int:
    return MAX_NUMBERS if compiled else MAX_PLAIN


def _check_compiled(network: Construction, numbers: list[ir.Numbers]) -> None:
    if network.construction not in constructions():
        raise ValueError(
            f"The construction {network.construction!r} is not registered, so turing.load could not compile it. Put "
            f"@turing.register on its class. {INSTEAD}"
        )
    _same_arithmetic(network.options, network.arithmetic)
    for name in sorted(network.state_dict().keys() - {tensor.name for tensor in numbers}):
        raise ValueError(
            f"{name} is not part of a module in the pipeline of this network, and a file holds nothing else. {INSTEAD}"
        )
    try:
        json.dumps(network.options)
    except (TypeError, ValueError):
        raise TypeError(f"Options are written as JSON, and {network.options!r} cannot be.") from None
    own, wanted = (
        dict(_leaves(part))
        for part in (network.ir(), compile(network.machine, network.construction, **network.options).ir())
    )
    for place in [place for place in {**own, **wanted} if own.get(place) != wanted.get(place)][:1]:
        raise ValueError(
            f"{place} is {shown(own.get(place))} here. turing.load compiles the machine again, and with these options "
            f"it is {shown(wanted.get(place))} then. Compile the network with what you want, if there is an option for "
            f"it. {INSTEAD}"
        )


def _leaves(found: ir.Network) -> Iterator[tuple[str, Any]]:
    """What a file says about the modules of a network, value by value, each with its place."""
    data = ir.structure(found)

    def walk(value: Any, place: str) -> Iterator[tuple[str, Any]]:
        if not isinstance(value, (dict, list)):
            yield place, value
            return
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from walk(inner, f"{place}.{key}" if isinstance(value, dict) else f"{place}[{key}]")

    for module in data["modules"]:
        yield from walk(module, module["name"])
    for tensor in found.numbers():
        yield from walk({"shape": tensor.shape, "denominator": tensor.denominator}, tensor.name)
    yield from walk({key: data[key] for key in ("layouts", "loop")}, "network")


def _same_arithmetic(options: Mapping[str, Any], arithmetic: str) -> None:
    if (wanted := options.get("arithmetic", arithmetic)) != arithmetic:
        raise ValueError(
            f"A network in {wanted} has weights of that type, and here they are of {arithmetic}. "
            f"Compile the machine with the arithmetic that you want."
        )


def from_dict(data: Any, tensors: Mapping[str, Tensor] | None = None) -> nn.Module:
    """The network that a dictionary describes; ``tensors`` are its weights if the dictionary does not hold them.

    Plain layers become an ``nn.Sequential`` with ``layouts``. A compiled network is compiled again, which gives it its
    shape, and then gets the weights.

    >>> from turing.gates import XOR
    >>> from_dict(ir.to_dict(XOR()))[2].weight.tolist()
    [[1.0, 1.0]]

    Chapter: :doc:`/book/wcm21`.
    """
    if not isinstance(data, dict) or data.get("turing") != "network":
        raise ValueError(
            'Not a turing network file: the key "turing" with the value "network" is missing. '
            "Give a file that turing.save wrote."
        )
    version = data.get("version")
    if type(version) is not int or version not in VERSIONS:
        known = " and ".join(map(str, VERSIONS))
        raise ValueError(
            f"The version of this network file is {shown(version)}, and versions {known} are read here. "
            f"Install a newer release of turing, or save the network again."
        )
    if "construction" in data and data["construction"] not in tuple(constructions()):
        raise ValueError(
            f"The construction of this network file is {shown(data['construction'])}, and {', '.join(constructions())} "
            f"are registered. Register one of your own with turing.register before you load its file."
        )
    try:
        if "digest" in data and data["digest"] != digest(data, tensors):
            raise ValueError(
                'its digest is not that of what it holds. If it was changed on purpose, take the key "digest" out'
            )
        if tensors is not None:
            data = data | {"weights": dict(tensors)}
        return _network(Field(upgraded(data) if version == 1 else data), version)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise ValueError(f"This network file is damaged: {str(error).rstrip('.')}.") from None


def _network(data: Field, version: int) -> nn.Module:
    compiled, arithmetic = "construction" in data.value, data["arithmetic"].one_of(TYPES)
    found, over = data["weights"], data.get("denominators", {})
    weights = {name: Stored(found[name], over.get(name, 1)) for name in found.of(dict)}
    size, limit = sum(tensor.size for tensor in weights.values()), _limit(compiled)
    if size > limit:
        raise ValueError(f"the shapes of its weights ask for {size:,} numbers, and at most {limit:,} are read")
    if version > 1 or not compiled:  # before anything is built
        loop = data.get("loop").value
        table = loop.get("table") if isinstance(loop, dict) else None
        _same_names(weights, [*_names(data["modules"]), *([table] if isinstance(table, str) else [])])
    return _compiled(data, version, arithmetic, weights) if compiled else _plain(data, arithmetic, weights)


def _names(modules: Field) -> Iterator[str]:
    """The names of all tensors of the modules in a file."""
    if modules.value == []:
        raise modules.should("have at least one module")
    for module in modules:
        for entry in (module, *module.get("layers", []), *(module.get(name, {}) for name in MAPS)):
            for key in ("weight", "bias", "null_key", "null_value", "oldest"):
                if entry.get(key).value is not None:
                    yield entry[key].of(str)


def _same_names(weights: Mapping[str, Stored], names: Iterable[str]) -> None:
    for name in sorted(set(names) ^ weights.keys()):
        what = "are not part of this network" if name in weights else "are missing"
        raise ValueError(f"the weights {shown(name)} {what}")


# Plain layers.


def _plain(data: Field, arithmetic: str, weights: Mapping[str, Stored]) -> nn.Sequential:
    layouts = [_layout(slices) for slices in data["layouts"]]
    network = nn.Sequential()
    vectors: list[Layout] = []
    for module in data["modules"]:
        kind = module["kind"].one_of(("linear", "norm", "argmax", "convolution"))
        parts = list(module["layers"]) if kind == "linear" else [module]
        names = [layouts[number.index(len(layouts))] for number in module["layouts"]]
        if len(names) != len(parts) + 1 or (vectors and vectors[-1] != names[0]):
            raise module["layouts"].should("have one layout more than there are layers, first that of what comes in")
        for part, before, after in zip(parts, names, names[1:], strict=False):
            network.append(_module(kind, part, before, after, arithmetic, weights))
        vectors = [*vectors[:-1], *names]
    network.layouts = vectors  # type: ignore[assignment]  # a module may have attributes of any kind
    return network


def _layout(found: Field) -> Layout:
    slices = found.of(list)
    pairs = all(type(pair) is list and len(pair) == 2 and type(pair[0]) is str for pair in slices)
    if not pairs or len(dict(slices)) < len(slices):
        raise found.should("have a name of its own and a size or labels for each slice")
    if any(type(places) is int and places > MAX_SIZE for _, places in slices):
        raise found.should(f"have at most {MAX_SIZE:,} places in a slice")
    return Layout(**dict(slices))


def _module(
    kind: str, entry: Field, before: Layout, after: Layout, arithmetic: str, weights: Mapping[str, Stored]
) -> nn.Module:
    if kind in ("norm", "argmax"):
        if before != after:
            raise entry["layouts"].should(f"be twice the same for a module of the kind {kind}")
        return {"norm": Norm, "argmax": Argmax}[kind](before, [name.one_of(before.slices) for name in entry["slices"]])
    weight, bias = (weights[entry[key].of(str)] for key in ("weight", "bias"))
    activation = entry["activation"].one_of(ir.ACTIVATIONS)
    over = weight.denominator if kind == "linear" and arithmetic == "exact" else 1
    weight.expect([after.width, before.width, *(weight.shape[2:] if kind == "convolution" else ())], over)
    bias.expect([after.width], over)
    numbers = weight.tensor(arithmetic), bias.tensor(arithmetic)
    if kind == "convolution":
        return Convolution(*numbers, activation, [before, after])
    last = [place.index(before.width) for place in entry.get("last", [])]
    if arithmetic != "exact" and activation != "clamp" and not last:
        return {"relu": Layer, "none": Readout}[activation](*numbers)
    layer = Rational(before, after, {}, activation, last, "exact" if arithmetic == "exact" else "float64")
    for parameter, values in zip(layer.parameters(), numbers, strict=True):
        parameter.data = values
    layer.denominator = over
    return layer


# Compiled networks.


def _compiled(data: Field, version: int, arithmetic: str, weights: Mapping[str, Stored]) -> Construction:
    machine, options = json.dumps(data["machine"].of(dict)), data["options"].of(dict)
    _same_arithmetic(options, arithmetic)
    with _at_most(sum(tensor.size for tensor in weights.values())):
        network = compile(TuringMachine.parse(machine, "json"), data["construction"].value, **options)
    if network.arithmetic != arithmetic:
        if "exact" in (network.arithmetic, arithmetic):
            raise data["arithmetic"].should(f"be {network.arithmetic} with these options")
        network = network.to(TYPES[arithmetic])
    found = network.ir()
    numbers = {tensor.name: tensor for tensor in found.numbers()}
    _same_names(weights, numbers)
    if version > 1:
        own = json.loads(json.dumps(ir.structure(found)))
        for key in ("layouts", "modules", "loop"):
            if data[key].value != own[key]:
                raise data[key].should(f"be what {found.construction} with these options has")
    for name, tensor in numbers.items():
        weights[name].expect(tensor.shape, tensor.denominator if version > 1 else 1)
    parameters = network.state_dict()
    with torch.no_grad():
        for name, tensor in numbers.items():
            values = weights[name].tensor(arithmetic)
            if name in parameters:
                parameters[name].copy_(values)
            elif not torch.equal(tensor.values, values):
                raise ValueError(f"{name} is fixed in {found.construction}, and other numbers were found")
    network.forget()
    return network


@contextmanager
def _at_most(numbers: int) -> Iterator[None]:
    """Stop building modules whose parameters have clearly more numbers than the file, before they fill the memory."""
    thread, room = threading.get_ident(), 3 * numbers + 1_000_000  # some are made to be joined to others

    def count(module: nn.Module, name: str, parameter: nn.Parameter | None) -> None:
        nonlocal room
        if parameter is None or threading.get_ident() != thread:
            return
        room -= parameter.numel()
        if room < 0:
            raise ValueError(f"its weights are {numbers:,} numbers, and its machine with these options needs more")

    handle = register_module_parameter_registration_hook(count)
    try:
        yield
    finally:
        handle.remove()
