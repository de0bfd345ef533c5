"""Where a long run stands, in a file: plain arrays, and after them a digest. Nothing is ever unpickled.

The digest detects damage. It does not detect forgery: whoever writes another file can compute its digest, too. So the
numbers are checked as well, as far as the compiled loop depends on them.

Chapter: :doc:`/book/how-fast`.
"""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from pathlib import Path

import numpy as np

from turing.engine.native import Native
from turing.files import replaced

__all__ = ["restore", "store"]

ARRAYS = ("vectors_", "known", "sums", "odd", "first", "count")
CELLS = ("keys", "slots", "wrote")
VERSION = 2
SIZE = hashlib.sha256().digest_size


def store(run: Native, path: str | Path) -> None:
    """Write where a run stands; a file that is there is replaced once the new one is complete.

    Chapter: :doc:`/book/how-fast`.
    """
    path = _file(path)
    arrays = {name: getattr(run, name) for name in ARRAYS}
    arrays |= {name: getattr(run, name)[: run.used] for name in CELLS}
    arrays |= {"version": np.array(VERSION), "of": np.array(_of(run))}
    file = io.BytesIO()
    np.savez(file, **arrays)
    with replaced(path) as new:
        new.write_bytes(signed(file.getvalue()))


def restore(run: Native, path: str | Path) -> None:
    """Set a run, just begun, to where a file says that it stood.

    Chapter: :doc:`/book/how-fast`.
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
    if not _sound(run, arrays) or (status := _status(run, arrays)) is None:
        raise ValueError(f"{name} holds numbers that no run has. Remove it to begin anew.")
    run.count[:] = 0
    run.room(max(2 * len(arrays["keys"]), 16))
    for key in ARRAYS:
        getattr(run, key)[:] = arrays[key]
    for key in CELLS:
        getattr(run, key)[: run.used] = arrays[key]
    run.room(len(run.keys))  # so that they are found
    run.status = status


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
        return {name: found[name] for name in (*ARRAYS, *CELLS, "version", "of")}


def _sound(run: Native, arrays: dict[str, np.ndarray]) -> bool:
    """Whether the compiled loop, which trusts its numbers, stays within its arrays."""
    kernel, machine = run.program.kernel, run.program.network.machine
    kinds = {key: (getattr(run, key).shape[key in CELLS :], getattr(run, key).dtype) for key in ARRAYS + CELLS}
    if any((arrays[key].shape[key in CELLS :], arrays[key].dtype) != kind for key, kind in kinds.items()):
        return False
    count, slots = arrays["count"], arrays["slots"]
    used, (step, here, state) = len(slots), count[[kernel.STEP, kernel.HERE, kernel.STATE]]
    words, marks = slots[:, kernel.WORD], slots[:, kernel.MARK]
    return bool(
        used == len(arrays["wrote"]) == len(np.unique(arrays["keys"])) == len(arrays["keys"]) == count[kernel.USED]
        and 0 <= here < used
        and 0 <= state < len(machine.states)
        and step >= 0
        and np.all((words >= -1) & (words < len(machine.symbols)) & (marks >= 0) & (marks < len(machine.symbols)))
    )


def _status(run: Native, arrays: dict[str, np.ndarray]) -> int | None:
    """Whether a run is over, as its column says; None if the column and the state do not agree."""
    kernel, program = run.program.kernel, run.program
    states = arrays["vectors_"][0, program.network.layout.st.slice] > 0.5
    if not states.any():
        return kernel.JAMMED
    state = arrays["count"][kernel.STATE]
    if states.nonzero()[0].tolist() != [state]:
        return None
    return kernel.HALTED if program.halting[state] else kernel.LIMIT


def _of(run: Native) -> str:
    """What a run belongs to: the weights, the machine and the word."""
    network, program = run.program.network, run.program
    text = repr((network.construction, network.options, network.machine.dumps("json"), list(run.word), run.guarded))
    arrays = {name: getattr(program, name) for name in ("layers", "inputs", "weights", "biases")}
    return _digest(arrays | {"text": np.array(text)})


def _digest(arrays: dict[str, np.ndarray]) -> str:
    sha = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        sha.update(f"{name} {array.dtype} {array.shape} ".encode())
        sha.update(np.ascontiguousarray(array).tobytes())
    return sha.hexdigest()
