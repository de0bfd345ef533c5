"""Files of version 1, as dictionaries of version 2.

In version 1 the type of the weights was ``dtype``, and plain layers held their numbers themselves: ``layers`` had
entries with ``name``, ``shape``, ``weight``, ``bias`` and ``relu``. How the modules of a compiled network worked
together was described in another way, which is not read: the construction says the same.

Chapter: :doc:`/book/wcm21`.
"""

from __future__ import annotations

import struct
from typing import Any

from turing.files.stored import Field

__all__ = ["upgraded"]

KINDS = ("weight", "bias")


def upgraded(data: dict[str, Any]) -> dict[str, Any]:
    """The dictionary of version 2 that says what one of version 1 says.

    ``weights`` are the tensors of a safetensors file.
    """
    if "construction" in data:
        options = data.get("options")
        exact = isinstance(options, dict) and options.get("arithmetic") == "exact"
        return data | {"arithmetic": "exact" if exact else data.get("dtype")}
    modules: list[dict[str, Any]] = []
    weights: dict[str, Any] = {}
    for number, layer in enumerate(Field(data)["layers"]):
        names = {kind: f"{number}.{kind}" for kind in KINDS}
        if "weights" in data:
            names = {kind: f"{layer['name'].of(str)}.{kind}".lstrip(".") for kind in KINDS}
        else:
            shapes = layer["shape"].of(list), layer["shape"].value[:1]
            weights |= {
                names[kind]: {"shape": shape, "values": layer[kind].of(list)}
                for kind, shape in zip(KINDS, shapes, strict=True)
            }
        entry = {**names, "activation": "relu" if layer["relu"].of(bool) else "none"}
        modules.append({"kind": "linear", "layouts": [number, number + 1], "layers": [entry]})
    arithmetic = data.get("dtype", "float32" if _fit_float32(weights) else "float64")
    return {"weights": weights} | data | {"arithmetic": arithmetic, "modules": modules}


def _fit_float32(weights: dict[str, Any]) -> bool:
    """Whether float32 holds all numbers, for files without a type."""
    try:
        values = [entry[-1] for found in weights.values() for entry in found["values"]]
        return all(struct.unpack("f", struct.pack("f", value))[0] == value for value in values)
    except (TypeError, LookupError, OverflowError, struct.error):
        return False  # which is refused later
