"""What keeps a file whole: it is replaced once the new one is complete, carries a digest, and has no key twice.

Chapter: :doc:`/book/wcm21`.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["digest", "parse", "replaced"]


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A name to write to in the same folder; what is written takes the file's place once it is complete.

    Chapter: :doc:`/book/wcm21`.
    """
    new = path.with_name(f".{secrets.token_hex(8)}")
    try:
        new.open("xb").close()  # never somebody else's
        try:
            yield new
            os.replace(new, path)
        finally:
            new.unlink(missing_ok=True)
    except OSError as error:
        if error.errno is None or (error.filename is not None and str(error.filename) != str(new)):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None


def digest(data: Mapping[str, Any], tensors: Mapping[str, Tensor] | None = None) -> str:
    """What a file says about itself under the key of that name: the SHA-256 of everything else.

    Chapter: :doc:`/book/wcm21`.
    """
    rest = {key: value for key, value in data.items() if key != "digest"}
    found = hashlib.sha256(json.dumps(rest, sort_keys=True).encode())
    for name, numbers in sorted((tensors or {}).items()):
        import torch

        found.update(f"{name} {str(numbers.dtype).removeprefix('torch.')} {list(numbers.shape)}".encode())
        row = numbers.detach().cpu().reshape(-1).clone(memory_format=torch.contiguous_format)
        found.update(row.view(torch.uint8).numpy().tobytes())
    return f"sha256:{found.hexdigest()}"


def parse(text: str | bytes) -> Any:
    """What a text in JSON says.

    Chapter: :doc:`/book/wcm21`.
    """
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"This is not JSON, or it is damaged: {error}. Give a file that turing.save wrote, with a name that ends "
            f"in .json or .safetensors."
        ) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key[:60]!r} is given twice")
        found[key] = value
    return found
