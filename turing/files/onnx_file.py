"""ONNX files: one pass of a compiled network in floats, for other runtimes.

``turing.save(net, "step.onnx")`` writes one; you do not need to call the function below. It takes more packages:
``pip install onnx onnxscript``, and ``onnxruntime`` to run the file.

Chapter: :doc:`/book/research`.
"""

from __future__ import annotations

import copy
import json
import logging
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import nn

from turing import ir
from turing.attention import Attention
from turing.construction import Construction, constructions
from turing.files.integrity import replaced
from turing.files.packages import needed

__all__ = ["write_onnx"]

OUTPUT = "next"
AXES = {"history": "steps", "tape": "cells"}  # whose first size is free


def write_onnx(network: nn.Module, path: Path, layout: object = None) -> None:
    """Write one pass of a compiled network as ONNX. ``layout`` is refused: a compiled network has its own names.

    The inputs are those of ``forward`` for one word, as far as a head looks at them:

    - ``column``: what goes into the step
    - ``history``: the earlier columns, any number of them
    - ``tape``: the encoded word, of any length; for a head that looks at a window, the tokens before the column

    The output is ``next``, the column that comes out, without β: add ``network.beta(number)`` of pass 1, 2, … before
    you feed it back, and append the column before to ``history``, which is empty at first. The metadata says what a
    safetensors file says, except for networks that no construction's name makes, such as one with a hidden basis: there
    it says less. With the average ``"ratio"``, the default, each pass gives the numbers of torch.

    Chapter: :doc:`/book/research`.
    """
    if not isinstance(network, Construction) or network.loop.state != "column":
        what = type(network).__name__ + ", whose state is a row of cells," * isinstance(network, Construction)
        raise (ValueError if isinstance(network, Construction) else TypeError)(
            f"One pass of a compiled network with a column is saved as ONNX, such as turing.compile(machine, 'wcm21', "
            f"T=100), and {what} was given. Save it as .json or .safetensors."
        )
    if layout is not None:
        raise ValueError("A compiled network has names for its places. Leave layout out.")
    if network.arithmetic not in ("float32", "float64"):
        raise ValueError(
            f"One pass is saved as ONNX in float32 or float64, and this network is in {network.arithmetic}. "
            + ("Compile it with such an arithmetic." if network.arithmetic == "exact" else "Use network.float().")
        )
    for package in ("onnx", "onnxscript"):
        needed(package, "An .onnx file", "onnx onnxscript")
    program = _exported(copy.deepcopy(network).cpu().eval().requires_grad_(False))
    about: dict[str, Any] = {"construction": network.construction, "options": network.options}
    if network.construction in constructions():
        about = ir.structure(network.ir())
    program.model.metadata_props.update({key: json.dumps(value) for key, value in (about | {"turing": "step"}).items()})
    with replaced(path) as new:
        program.save(str(new), external_data=False)


def _exported(network: Construction) -> Any:
    masks = {module.mask for module in network.pipeline.values() if isinstance(module, Attention)}
    names = ["history"] * bool(masks - {"cross", "window"}) + ["tape"] * bool(masks & {"cross", "prefix", "window"})
    width, dtype = network.layout.width, next(network.parameters()).dtype
    log = logging.getLogger("torch.onnx")
    level = log.level
    log.setLevel(logging.ERROR)  # else it reports which other packages are not installed
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's exporter calls functions that torch deprecates
            program: Any = torch.onnx.export(
                network,
                (torch.zeros(width, dtype=dtype),),
                kwargs={name: torch.zeros(2, width, dtype=dtype) for name in names},
                input_names=["column", *names],
                output_names=[OUTPUT],
                dynamic_shapes={"column": {}} | {name: {0: AXES[name]} for name in names},
                dynamo=True,
                verbose=False,
            )
    finally:
        log.setLevel(level)
    for node in program.model.graph:
        node.metadata_props.clear()  # where on this machine each operation was found
    for value in (*program.model.graph.inputs, *program.model.graph.outputs):
        value.metadata_props.clear()
    return program
