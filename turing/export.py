"""Networks for the tools of others: safetensors files, and one step of a transformer as ONNX.

:func:`turing.files.save` and :func:`turing.files.load` call these by the ending of a file's name. The packages
``safetensors``, ``onnx`` and ``onnxscript`` are imported when they are needed; what is missing is said.

Chapter: :doc:`/book/research`.
"""

from __future__ import annotations

import copy
import json
import logging
import warnings
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from turing.files import _modules, replaced, unique
from turing.wcm import WCM21

__all__ = ["read_safetensors", "write_onnx", "write_safetensors"]

INPUTS, OUTPUT = ("column", "history", "tape"), "next"


def write_safetensors(path: Path, data: dict, tensors: dict[str, Tensor]) -> None:
    """Write tensors by name, and everything else that a file says of a network as JSON in the metadata.

    Chapter: :doc:`/book/research`.
    """
    library = _needed("safetensors.torch", "A .safetensors file", "safetensors")
    metadata = {key: json.dumps(value) for key, value in data.items()}
    raw = library.save({name: numbers.cpu().clone().contiguous() for name, numbers in tensors.items()}, metadata)
    end = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:end]) | {"__metadata__": metadata}  # the library's order differs from run to run
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with replaced(path) as new:
        new.write_bytes(len(text).to_bytes(8, "little") + text + raw[end:])


def read_safetensors(path: Path) -> tuple[dict, dict[str, Tensor]]:
    """What :func:`write_safetensors` wrote: what the metadata says, and the tensors.

    Chapter: :doc:`/book/research`.
    """
    library = _needed("safetensors", "A .safetensors file", "safetensors")
    path.open("rb").close()  # one that is not there, or closed to us, is no damaged one
    try:
        with library.safe_open(path, framework="pt") as file:
            metadata, tensors = file.metadata() or {}, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        with path.open("rb") as raw:
            json.loads(raw.read(int.from_bytes(raw.read(8), "little")), object_pairs_hook=unique)
    except (library.SafetensorError, OSError, ValueError) as error:
        raise ValueError(f"this is no safetensors file, or it is damaged: {error}") from None
    if metadata.get("turing") != '"network"':
        raise ValueError('This is no network: the key "turing" with the value "network" is missing in the metadata.')
    try:
        return {key: json.loads(value, object_pairs_hook=unique) for key, value in metadata.items()}, tensors
    except (ValueError, RecursionError):
        raise ValueError("This network is damaged: its metadata is no JSON.") from None


def write_onnx(network: nn.Module, path: Path) -> None:
    """Write one step of a transformer as ONNX.

    The inputs are ``column``, ``history`` and ``tape``, and the output is ``next``, as in ``forward`` for one word;
    the numbers of earlier columns and of cells are free. The metadata says the rest, as in a safetensors file, unless
    the basis is hidden. With ``average="ratio"``, the usual one, each step is equal to torch's.

    Chapter: :doc:`/book/research`.
    """
    if not isinstance(network, WCM21):
        raise TypeError(
            f"The step of a transformer is saved as ONNX, one that turing.compile made with wcm21; "
            f"{type(network).__name__} was given. Save it as .json or .safetensors."
        )
    numbers = next(network.parameters())
    if numbers.dtype not in (torch.float32, torch.float64):
        raise ValueError(
            f"A step is saved as ONNX in float32 or float64, and this network is in {numbers.dtype}. Use net.float()."
        )
    for package in ("onnx", "onnxscript"):
        _needed(package, "An .onnx file", "onnx onnxscript")
    step, width = copy.deepcopy(network).cpu().eval().requires_grad_(False), network.layout.width
    shapes = (width,), (2, width), (2, width)
    log = logging.getLogger("torch.onnx")
    level = log.level
    log.setLevel(logging.ERROR)  # else it reports which other packages are not installed
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's exporter calls functions that torch deprecates
            program: Any = torch.onnx.export(
                step,
                tuple(torch.zeros(shape, dtype=numbers.dtype) for shape in shapes),
                input_names=list(INPUTS),
                output_names=[OUTPUT],
                dynamic_shapes=({}, {0: "steps"}, {0: "cells"}),
                dynamo=True,
                verbose=False,
            )
    finally:
        log.setLevel(level)
    for node in program.model.graph:
        node.metadata_props.clear()  # where on this machine each operation was found
    for value in (*program.model.graph.inputs, *program.model.graph.outputs):
        value.metadata_props.clear()
    about = {"turing": "step", "construction": network.construction, "options": network.options}
    if network.construction == WCM21.construction:  # else the basis is hidden, and stays so
        about |= {"machine": json.loads(network.machine.dumps("json")), **_modules(network)}
    program.model.metadata_props.update({key: json.dumps(value) for key, value in about.items()})
    with replaced(path) as new:
        program.save(str(new), external_data=False)


def _needed(name: str, what: str, packages: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError:
        package = name.split(".")[0]
        raise ImportError(f"{what} needs the package {package}, which is missing: pip install {packages}") from None
