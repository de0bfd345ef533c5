"""Where a long run stands, in a file: plain arrays, and after them a digest. Nothing is ever unpickled.

The digest detects damage. It does not detect forgery: whoever writes another file can compute its digest, too. So the
numbers are checked as well, as far as the code depends on them.

Chapter: :doc:`How fast </book/how-fast>`.
"""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from turing.engine.bits import NOWHERE
from turing.engine.native import Native
from turing.engine.standing import Standing
from turing.files import replaced

__all__ = ["restore", "store"]

ARRAYS = tuple(field.name for field in fields(Standing))
CELLS = ("positions", "last", "wrote", "cells", "marks")  # with a row for each
VERSION = 3
SIZE = hashlib.sha256().digest_size


def store(run: Native, path: str | Path) -> None:
    """Write where a run stands; a file that is there is replaced once the new one is complete.

    Chapter: :doc:`How fast </book/how-fast>`.
    """
    path, standing = _file(path), run.standing()
    arrays: dict[str, Any] = {name: np.asarray(getattr(standing, name)) for name in ARRAYS}
    arrays |= {"version": np.array(VERSION), "of": np.array(_of(run))}
    file = io.BytesIO()
    np.savez(file, **arrays)
    with replaced(path) as new:
        new.write_bytes(signed(file.getvalue()))


def restore(run: Native, path: str | Path) -> None:
    """Set a run, just begun, to where a file says that it stood.

    Chapter: :doc:`How fast </book/how-fast>`.
    """
    name, data = Path(path).name, _file(path).read_bytes()
    body = data[:-SIZE]
    if data != signed(body):
        raise ValueError(f"{name} is not a checkpoint, or it is damaged. Remove it to begin anew.")
    try:
        arrays = _arrays(body)
        version, of = int(arrays["version"]), str(arrays["of"])
    except Exception:  # there is no end to what can be wrong with a file
        raise ValueError(f"{name} is not a checkpoint. Remove it to begin anew.") from None
    if version != VERSION:
        raise ValueError(f"{name} is of version {version}; version {VERSION} is read here. Remove it to begin anew.")
    if of != _of(run):
        raise ValueError(
            f"{name} was written for another network or another word. Give it those, or another name for this run."
        )
    if not _sound(run, arrays):
        raise ValueError(f"{name} holds numbers that no run has. Remove it to begin anew.")
    step, head, *rest = (arrays[key] for key in ARRAYS)
    run.stand(Standing(int(step), int(head), *rest))


def _file(path: str | Path) -> Path:
    """The file that a checkpoint is: where links lead, and neither a folder nor a device."""
    there = Path(os.path.realpath(path))
    if there.exists() and not there.is_file():
        raise ValueError(f"A checkpoint is a file, and {str(path)!r} was given, which is not a file.")
    return there


def signed(body: bytes) -> bytes:
    """The bytes of a file with their digest at the end."""
    return body + hashlib.sha256(body).digest()


def _arrays(body: bytes) -> dict[str, np.ndarray]:
    """The arrays of a file. None is compressed, so none is larger than the file."""
    with zipfile.ZipFile(io.BytesIO(body)) as file:
        if any(member.compress_type != zipfile.ZIP_STORED for member in file.infolist()):
            raise ValueError("A member is compressed.")
    with np.load(io.BytesIO(body), allow_pickle=False) as found:
        return {name: found[name] for name in (*ARRAYS, "version", "of")}


def _sound(run: Native, arrays: dict[str, np.ndarray]) -> bool:
    """Whether the numbers are such that the code, which trusts them, stays within its arrays."""
    begun, machine, bits = run.standing(), run.network.machine, run.network.bits
    for key in ARRAYS:
        here, found = np.asarray(getattr(begun, key)), arrays[key]
        if (here.shape[key in CELLS :], here.dtype) != (found.shape[key in CELLS :], found.dtype):
            return False
    positions, cells, step = arrays["positions"], arrays["cells"], int(arrays["step"])
    known, mask, head = cells != NOWHERE, np.uint64(2**bits - 1), int(arrays["head"])
    if any(len(arrays[key]) != len(positions) for key in CELLS) or not 0 <= step <= run.network.T:
        return False
    return bool(
        len(np.unique(positions)) == len(positions)
        and (positions <= mask).all()
        and ((arrays["last"] >= -1) & (arrays["last"] < max(step, 1) + 1)).all()
        and ((arrays["marks"] >= 0) & (arrays["marks"] < len(machine.symbols))).all()
        and ((cells[known].view(np.uint64) & mask) == positions[known]).all()
        and (cells == head).sum() == 1
        and (arrays["column"][run.network.layout.st.slice] > 0.5).sum() == 1
    )


def _of(run: Native) -> str:
    """What a run belongs to: the weights, the machine and the word."""
    network = run.network
    text = repr((network.construction, network.options, network.machine.dumps("json"), list(run.word), run.guarded))
    arrays = {name: numbers.detach().cpu().numpy() for name, numbers in network.named_parameters()}
    return _digest(arrays | {"text": np.array(text)})


def _digest(arrays: dict[str, np.ndarray]) -> str:
    sha = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        sha.update(f"{name} {array.dtype} {array.shape} ".encode())
        sha.update(np.ascontiguousarray(array).tobytes())
    return sha.hexdigest()
