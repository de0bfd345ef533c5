"""Networks in files: what :func:`save` writes, :func:`load` reads with equal weights. Nothing is ever unpickled.

A file is JSON or safetensors, as its name says. In JSON, a network of plain layers is the dictionary of
:mod:`turing.network`. A compiled one is ``{"turing": "network", "version": 1, "construction": "wcm21",
"machine": {…}, "options": {"T": 100, …}, "dtype": "float32", "weights": {…}}``: the machine in our JSON format, the
options it was compiled with, and under the name of each parameter its ``shape`` and, as [index, …, value], the
``values`` that are not 0. Of an SS95 network these are the numbers that it runs on: whole ones if it is exact, else
floats.

A transformer's file says also how its numbers work together, so that whoever reads it needs no ``turing``:
``layouts`` names the places of its vectors, as in :mod:`turing.network`; the first one is a column's. ``modules``
has an entry for each step of the pipeline, in order: ``name``, ``layout`` (the number of the layout of what leaves
it), and either ``layers``, each with the names of its ``weight`` and ``bias`` and whether a ``relu`` follows, or, for
a head, ``over`` (``"columns"`` or ``"word"``), ``kappa`` and ``average``; its numbers are
``pipeline.<name>.query.weight`` and so on.

``digest`` is the SHA-256 of everything else, so that a damaged file is told from a good one. It may be left out, and
whoever changes a file on purpose takes it out.

In a ``.safetensors`` file the tensors have the names of the ``weights``, or of plain layers ``<name>.weight`` and
``<name>.bias``; every other key of the dictionary is in the metadata, as JSON. One set of checks serves both. An
``.onnx`` file holds one step of a transformer for other runtimes, and is not read back (:mod:`turing.export`).

Chapter: :doc:`/book/05_wcm`.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turing.compiler import CONSTRUCTIONS, compile, is_compiled
from turing.formats.base import cut
from turing.layout import Layout
from turing.machine import TuringMachine
from turing.network import MOST_NUMBERS, TYPES, VERSION, _real, _short, from_dict, to_dict

if TYPE_CHECKING:
    from torch import Tensor, nn

    from turing.compiler import Compiled

__all__ = ["load", "loads", "save"]

NO_JSON = "this is no JSON. What turing.save writes is read here: a .json file, or one whose name ends in .safetensors."
ENDINGS = (".json", ".safetensors", ".onnx")
EXPORT = "turing.export"
KINDS = ("weight", "bias")


def save(network: nn.Module, path: str | Path, layout: Layout | Sequence[Layout] | None = None) -> None:
    """Write a network to a file whose name ends in ``.json`` or ``.safetensors``, with the names of its places; or
    one step of a transformer to a file that ends in ``.onnx``.

    ``layout`` names the places of a network of plain layers; a compiled one has its own names. A file that is there is
    replaced once the new one is complete.

    Chapter: :doc:`/book/05_wcm`.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise ValueError(
            f"Networks are saved as JSON, safetensors or ONNX, and the name {path.name!r} was given. "
            f"Use {(path.name.partition('.')[0] or 'net') + '.json'!r}."
        )
    if layout is not None and (ending == ".onnx" or is_compiled(network)):
        raise ValueError("A compiled network has names for its places. Leave layout out.")
    if ending == ".onnx":
        import_module(EXPORT).write_onnx(network, path)
        return
    if is_compiled(network):
        data, tensors = _compiled(network)
    else:
        data, tensors = _plain(network, layout), {}
    if ending == ".json":
        if tensors:
            data["weights"] = {
                name: {"shape": list(numbers.shape), "values": _values(numbers.cpu())}
                for name, numbers in tensors.items()
            }
        data["digest"] = digest(data)
        with replaced(path) as new:
            new.write_text(json.dumps(data) + "\n", encoding="utf-8", newline="\n")
        return
    tensors = tensors or _taken(data)
    data["digest"] = digest(data, tensors)
    import_module(EXPORT).write_safetensors(path, data, tensors)


def load(path: str | Path) -> nn.Module:
    """The network in a file that :func:`save` wrote, with equal weights.

    >>> import tempfile
    >>> from turing.gates import AND
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(AND(2), Path(folder) / "and.json", [Layout(a=1, b=1), Layout(both=1)])
    ...     network = load(Path(folder) / "and.json")
    >>> network.layouts, network[0].bias.tolist()
    ([Layout(a=1, b=1), Layout(both=1)], [-1.0])

    Chapter: :doc:`/book/05_wcm`.
    """
    path = Path(path)
    try:
        if path.suffix.lower() == ".onnx":
            raise ValueError(
                "an ONNX file holds the operations of one step and not the network, so it is not read back. "
                "Save the network as .json or .safetensors too; onnxruntime runs this file."
            )
        if path.suffix.lower() == ".safetensors":
            return _read(*import_module(EXPORT).read_safetensors(path))
        return loads(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise ValueError(f"{path.name}: {NO_JSON}") from None
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None


def loads(text: str) -> nn.Module:
    """The network that a text describes, as :func:`save` writes it.

    Chapter: :doc:`/book/05_wcm`.
    """
    try:
        data = json.loads(text.removeprefix("\ufeff"), object_pairs_hook=unique)
    except _Twice:
        raise
    except (ValueError, RecursionError):
        raise ValueError(NO_JSON) from None
    return _read(data)


class _Twice(ValueError):
    """A key that is given twice."""


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of JSON that pairs are, for ``json.loads``."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in found if names.count(name) > 1)
        raise _Twice(f"the key {cut(twice)} is given twice. Keep one.")
    return found


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A name to write to beside a file; what is written takes the file's place once it is complete."""
    new = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    new.open("xb").close()  # never somebody else's
    try:
        yield new
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)


def digest(data: dict, tensors: dict[str, Tensor] | None = None) -> str:
    """What a file says of itself under the key of that name."""
    import torch

    rest = {key: value for key, value in data.items() if key != "digest"}
    found = hashlib.sha256(json.dumps(rest, sort_keys=True).encode())
    for name, numbers in sorted((tensors or {}).items()):
        found.update(f"{name} {_name(numbers)} {list(numbers.shape)}".encode())
        found.update(numbers.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    return f"sha256:{found.hexdigest()}"


def _read(data: Any, tensors: dict[str, Tensor] | None = None) -> nn.Module:
    """The network of a dictionary; ``tensors`` are its weights where the dictionary does not hold them."""
    if isinstance(data, dict) and "digest" in data:
        right = data.pop("digest") == digest(data, tensors)
        network = _read(data, tensors)  # which may say more
        if not right:
            raise ValueError(
                "This network is damaged: what it holds is not what its digest tells of. If it was changed on purpose, "
                'take the key "digest" out.'
            )
        return network
    if not isinstance(data, dict) or data.get("turing") != "network" or "construction" not in data:
        return from_dict(data if tensors is None else _given(data, tensors))
    if tensors is not None:
        data["weights"] = tensors
    if type(data.get("version")) is not int or data["version"] != VERSION:
        raise ValueError(f"This network is of version {data.get('version')!r}; version {VERSION} is read here.")
    try:
        return _rebuilt(data)
    except RecursionError:
        raise ValueError("This network is damaged: its machine is nested too deeply") from None
    except (TypeError, ValueError) as error:
        raise ValueError(f"This network is damaged: {error}") from None


def _stored(network: Any) -> dict[str, Tensor]:
    """What a file holds: of numbers in two copies the one that the network runs on."""
    return network.stored() if hasattr(network, "stored") else network.state_dict()


def _typed(options: dict, dtype: str) -> None:
    arithmetic = options.get("arithmetic")
    if arithmetic in TYPES and arithmetic != dtype:
        raise ValueError(
            f"A network in {arithmetic} has weights of that type, and here they are of {dtype}. "
            f"Compile the machine with the arithmetic that you want."
        )


def _plain(network: nn.Module, layout: Layout | Sequence[Layout] | None) -> dict:
    """What a file says of plain layers."""
    data = to_dict(network, layout)
    size = sum((layer["shape"][1] + 1) * layer["shape"][0] for layer in data["layers"])
    if size > MOST_NUMBERS:
        raise ValueError(
            f"This network has {size:,} numbers, and a file of plain layers is for {MOST_NUMBERS:,} at most. "
            f"Save network.state_dict() with safetensors.torch.save_file."
        )
    return data


def _taken(data: dict) -> dict[str, Tensor]:
    """The numbers of plain layers, taken out of their dictionary, as tensors."""
    tensors = {}
    for layer, module in zip(data["layers"], from_dict(data), strict=True):
        for kind in KINDS:
            tensors[f"{layer['name']}.{kind}".lstrip(".")] = getattr(module, kind).detach()
            del layer[kind]
    return tensors


def _given(data: dict, tensors: dict[str, Tensor]) -> dict:
    """The dictionary of plain layers with the numbers of tensors put back, for :func:`turing.network.from_dict`."""
    layers = data.get("layers")
    if data.get("version") != VERSION or type(layers) is not list or not all(type(layer) is dict for layer in layers):
        return data  # which is refused
    left = dict(tensors)
    for layer in layers:
        for kind in KINDS:
            numbers, shape = left.pop(f"{layer.get('name')}.{kind}".lstrip("."), None), layer.get("shape")
            wanted = shape if kind == "weight" or not isinstance(shape, list) else shape[:1]
            if numbers is None or list(numbers.shape) != wanted or _name(numbers) not in TYPES:
                raise ValueError(
                    f"This network is damaged: the {kind} of layer {cut(str(layer.get('name')))} is no tensor of "
                    f"floats with the shape {cut(str(wanted))}"
                )
            layer[kind] = _values(numbers)
    for name in left:
        raise ValueError(f"This network is damaged: the tensor {cut(name)} is no part of it")
    return data


def _compiled(network: Compiled) -> tuple[dict, dict[str, Tensor]]:
    """What a file says of a compiled network, and its numbers."""
    if network.construction not in CONSTRUCTIONS:
        raise ValueError(
            f"A network of the construction {network.construction!r} is not saved as a network: turing.load could not "
            f"compile it. Its weights are network.state_dict(), and .onnx takes its step."
        )
    stored, dtype = _stored(network), _name(next(network.parameters()))
    _typed(network.options, dtype)
    for name, numbers in stored.items():
        if not numbers.isfinite().all():
            raise ValueError(f"{name} has a number that is infinite or not a number. A file holds finite ones.")
    data = {
        "turing": "network",
        "version": VERSION,
        "construction": network.construction,
        "machine": json.loads(network.machine.dumps("json")),
        "options": network.options,
        "dtype": dtype,
        **_modules(network),
    }
    return data, stored


def _modules(network: nn.Module) -> dict:
    """The pipeline of a transformer: what its modules are made of, and the names of the places between them."""
    from turing.attention import Attention
    from turing.gates import Layer, Readout
    from turing.wcm import WCM21

    if not isinstance(network, WCM21):
        return {}
    layouts, modules = [], []
    for name in ("column", *network.pipeline):
        layout = [[part.name, list(part.labels) or part.size] for part in network.layout_of(name)]
        layouts += [layout] if layout not in layouts else []
        if name == "column":
            continue
        module: Any = network.pipeline[name]
        entry = {"name": name, "layout": layouts.index(layout)}
        if isinstance(module, Attention):
            over = "columns" if module.looks_at == "column" else "word"
            modules.append(entry | {"over": over, "kappa": module.kappa, "average": module.average})
            continue
        parts = {"": module} if isinstance(module, Readout) else {f"{k}.": part for k, part in enumerate(module)}
        layers = [
            {
                "weight": f"pipeline.{name}.{at}weight",
                "bias": f"pipeline.{name}.{at}bias",
                "relu": isinstance(part, Layer),
            }
            for at, part in parts.items()
        ]
        modules.append(entry | {"layers": layers})
    return {"layouts": layouts, "modules": modules}


def _values(numbers: Tensor) -> list[list]:
    """The indices and the value of each number that is not 0."""
    places = numbers.nonzero()
    found = numbers[tuple(places.T)]
    values = map(_short, found.double().tolist()) if found.is_floating_point() else found.tolist()
    return [[*place, value] for place, value in zip(places.tolist(), values, strict=True)]


def _rebuilt(data: dict) -> nn.Module:
    """Compile the machine, which gives the module its shape, and set the weights of the file."""
    import torch

    construction, machine, options, dtype, weights = (
        data.get(key) for key in ("construction", "machine", "options", "dtype", "weights")
    )
    if type(construction) is not str or construction not in CONSTRUCTIONS:
        raise ValueError(f'"construction" is one of {", ".join(CONSTRUCTIONS)}, and {cut(str(construction))} was found')
    if type(options) is not dict or type(weights) is not dict or type(machine) is not dict or dtype not in TYPES:
        raise ValueError(
            f'"machine", "options" and "weights" are objects, and "dtype" is one of {", ".join(TYPES)}; this differs'
        )
    if "machine" in options or "construction" in options:
        raise ValueError("a machine and a construction are no options")
    _typed(options, dtype)
    machine = TuringMachine.parse(json.dumps(machine), "json")
    network: Any = compile(machine, construction, **options).to(getattr(torch, dtype))
    own = _stored(network)
    for name in sorted(own.keys() ^ weights.keys()):
        raise ValueError(f"the weights {cut(name)} are missing, or no part of this network")
    for key, here in _modules(network).items():
        if data.get(key) != here:
            raise ValueError(f'"{key}" is not what {construction} with these options has')
    with torch.no_grad():
        for name, parameter in own.items():
            parameter.copy_(_numbers(name, weights[name], parameter))
    if not all(numbers.is_floating_point() for numbers in own.values()):
        network.refresh()
    return network


def _numbers(name: str, found: object, like: Tensor) -> Tensor:
    import torch

    if isinstance(found, torch.Tensor):
        if found.shape != like.shape or found.dtype != like.dtype or not found.isfinite().all():
            raise ValueError(
                f"{name} is a tensor of the shape {list(like.shape)} and the type {_name(like)}, of finite numbers; "
                f"one of the shape {list(found.shape)} and the type {_name(found)} was found"
            )
        return found
    if type(found) is not dict or found.get("shape") != list(like.shape) or type(found.get("values")) is not list:
        raise ValueError(f'{name} has a "shape", {list(like.shape)} here, and "values"; this differs')
    whole = not like.is_floating_point()
    numbers, places = torch.zeros(like.shape, dtype=torch.int64 if whole else torch.float64), set()
    for entry in found["values"]:
        place = entry[:-1] if type(entry) is list else []
        inside = [type(i) is int and 0 <= i < n for i, n in zip(place, like.shape, strict=False)]
        if len(place) != like.dim() or not all(inside):
            raise ValueError(f"{name} holds lists of {like.dim()} indices and a value, and {cut(str(entry))} was found")
        if tuple(place) in places:
            raise ValueError(f"{name} has two values for the place {place}")
        places.add(tuple(place))
        numbers[tuple(place)] = _whole(name, entry[-1]) if whole else _real(entry[-1])
    for value in numbers[numbers.to(like.dtype).to(numbers.dtype) != numbers].tolist():
        raise ValueError(f"{name} holds {value}, which is no number of the type {_name(like)}")
    return numbers


def _name(numbers: Tensor) -> str:
    return str(numbers.dtype).removeprefix("torch.")


def _whole(name: str, value: object) -> int:
    if type(value) is not int or abs(value) >= 2**63:
        raise ValueError(f"{name} holds whole numbers of 64 bits, and {cut(str(value))} was found")
    return value
