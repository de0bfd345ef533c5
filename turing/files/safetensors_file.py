"""Safetensors files of networks: the tensors by name, and everything else as JSON in the metadata.

``turing.save(net, "net.safetensors")`` writes one, and ``turing.load`` reads it; you need the functions below only for
other contents. They take the package ``safetensors``.

Chapter: :doc:`/book/research`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turing.files.integrity import digest, parse, replaced
from turing.files.packages import needed

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["read_safetensors", "write_safetensors"]


def write_safetensors(path: Path, data: dict[str, Any], tensors: dict[str, Tensor]) -> None:
    """Write tensors by name, and everything else that a file says about a network as JSON in the metadata.

    Chapter: :doc:`/book/research`.
    """
    library = needed("safetensors.torch", "A .safetensors file", "safetensors")
    metadata = {key: json.dumps(value) for key, value in (data | {"digest": digest(data, tensors)}).items()}
    raw = library.save({name: numbers.cpu().clone().contiguous() for name, numbers in tensors.items()}, metadata)
    end = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:end]) | {"__metadata__": metadata}  # the library's order differs from run to run
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with replaced(path) as new:
        new.write_bytes(len(text).to_bytes(8, "little") + text + raw[end:])


def read_safetensors(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """What :func:`write_safetensors` wrote: what the metadata says, and the tensors by name.

    Chapter: :doc:`/book/research`.
    """
    library = needed("safetensors", "A .safetensors file", "safetensors")
    path.open("rb").close()  # a file that is missing or not readable is not a damaged one
    try:
        with library.safe_open(path, framework="pt") as file:
            metadata, tensors = file.metadata() or {}, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (library.SafetensorError, OSError) as error:
        raise ValueError(f"This is not a safetensors file, or it is damaged: {error}") from None
    network = metadata.get("turing") == '"network"'  # else it is a file of another program
    return {key: parse(value) for key, value in metadata.items()} if network else {}, tensors
