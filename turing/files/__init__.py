"""What :func:`save` writes, :func:`load` reads with equal weights. Nothing is ever unpickled.

A ``.json`` file holds the dictionary of :func:`turing.ir.to_dict`, in version 2 of the format:

``turing``, ``version``
    ``"network"`` and 2. Files of version 1 are read, too (``turing/files/version_1.py``).
``construction``, ``machine``, ``options``
    Of a compiled network: the name in the registry, the machine in our JSON format, and the options that it was
    compiled with, such as ``{"T": 100, …}``.
``arithmetic``
    The type of the weights: ``float32``, ``float64``, ``bfloat16``, ``float16`` or ``exact``.
``layouts``
    The names of the places of vectors. A layout is a list of slices, each with its name and its size, or the labels of
    its places.
``modules``
    The modules in the order in which they work: each has a ``name``, a ``kind`` (``linear``, ``attention``, ``norm``,
    ``convolution`` or ``argmax``), the numbers of its ``layouts``, the input's first, the names of its tensors and what
    else its kind has (:mod:`turing.ir`). One of the kind ``linear`` has a list of ``layers``, and one more layout than
    layers.
``loop``
    Of a compiled network: whether a ``column`` or a row of ``cells`` is fed back, and what is added to it
    (:class:`turing.ir.Loop`).
``weights``
    For each tensor its ``shape`` and, as ``[index, …, value]``, the ``values`` that are not 0. In exact arithmetic the
    values are integers over one ``denominator``, which is 1 unless it is given; an integer of 2⁵³ or more is a string
    of digits.
``digest``
    The SHA-256 of everything else, which tells a damaged file from a good one. It may be left out: take it out if you
    change a file on purpose.

A ``.safetensors`` file holds the same tensors by name, and the other keys as JSON in its metadata, with the
``denominators`` by tensor. An ``.onnx`` file holds one pass of a compiled network for other runtimes, and is not read
back (:mod:`turing.files.onnx_file`).

Chapter: :doc:`/book/wcm21`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from turing import ir
from turing.files.integrity import digest, parse
from turing.files.integrity import replaced as replaced
from turing.layout import Layout

if TYPE_CHECKING:
    from torch import nn

__all__ = ["load", "loads", "save"]

ENDINGS = (".json", ".safetensors", ".onnx")


def save(network: nn.Module, path: str | Path, layout: Layout | Sequence[Layout] | None = None) -> None:
    """Write a network to a file, with the names of its places. The ending of the file's name says how:

    - ``.json``: as text
    - ``.safetensors``: in the format of that name; this takes the extra ``safetensors``
    - ``.onnx``: one pass of a compiled network in floats, for other runtimes; this takes the extra ``onnx``

    ``layout`` is that of :func:`turing.show <turing.views.equations.show>`. An existing file is replaced once the new
    one is complete. Of a compiled network, ``network.save(path)`` does the same.

    Chapter: :doc:`/book/wcm21`.
    """
    path = _path(path)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise ValueError(
            f"Networks are saved as JSON, safetensors or ONNX, and the name {path.name!r} was given. "
            f"Use {(path.name.partition('.')[0] or 'net') + '.json'!r}."
        )
    if ending == ".onnx":
        from turing.files.onnx_file import write_onnx

        write_onnx(network, path, layout)
        return
    from turing.files.dictionary import describe

    data, numbers = describe(network, layout)
    if ending == ".json":
        data["weights"] = {tensor.name: ir.entries(tensor) for tensor in numbers}
        text = json.dumps(data | {"digest": digest(data)})
        with replaced(path) as new:
            new.write_text(text + "\n", encoding="utf-8", newline="\n")
        return
    from turing.files.safetensors_file import write_safetensors

    over = {tensor.name: tensor.denominator for tensor in numbers if tensor.denominator != 1}
    data |= {"denominators": over} if over else {}
    write_safetensors(path, data, {tensor.name: tensor.values for tensor in numbers})


def load(path: str | Path) -> nn.Module:
    """The network in a ``.json`` or ``.safetensors`` file that :func:`save` wrote, with equal weights.

    Plain layers come back as a ``torch.nn.Sequential``. ``turing.Construction.load(path)`` does the same, and refuses
    a file that holds no compiled network.

    >>> import tempfile, turing
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     layouts = [turing.Layout(a=1, b=1), turing.Layout(both=1)]
    ...     turing.save(turing.gates.AND(2), f"{folder}/and.json", layouts)
    ...     network = turing.load(f"{folder}/and.json")
    >>> network.layouts, network[0].bias.tolist()
    ([Layout(a=1, b=1), Layout(both=1)], [-1.0])

    Chapter: :doc:`/book/wcm21`.
    """
    path = _path(path)
    from turing.files.dictionary import from_dict

    try:
        if path.suffix.lower() == ".onnx":
            raise ValueError(
                "An ONNX file holds the operations of one pass and not the network, so it is not read back. "
                "Save the network as .json or .safetensors too; onnxruntime runs this file."
            )
        if path.suffix.lower() == ".safetensors":
            from turing.files.safetensors_file import read_safetensors

            return from_dict(*read_safetensors(path))
        return from_dict(parse(path.read_bytes()))
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None


def loads(text: str) -> nn.Module:
    """The network that a text describes, as :func:`save` writes it to a ``.json`` file.

    Chapter: :doc:`/book/wcm21`.
    """
    if not isinstance(text, str):
        raise TypeError(
            f"loads takes the text of a file as a string, and {text!r} was given. turing.load takes a path."
        )
    from turing.files.dictionary import from_dict

    return from_dict(parse(text.removeprefix("\ufeff")))


def _path(path: str | Path) -> Path:
    try:
        return Path(path)
    except TypeError:
        raise TypeError(
            f"A file is given by its path, such as 'net.json', and {path!r} was given. "
            f"Write turing.save(network, path) or turing.load(path)."
        ) from None
