"""The transformer as a model of TransformerLens.

Chapter: :doc:`/book/gate-by-gate`.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import pad

from turing.circuits.network import GateByGate

__all__ = ["to_transformer_lens"]


def to_transformer_lens(net: GateByGate) -> Any:
    """The same numbers in a model of TransformerLens 4, which has to be installed: ``pip install transformer-lens``.

    Chapter: :doc:`/book/gate-by-gate`.
    """
    bridge, parts = _bridge(net), dict[str, Any](net.pipeline.items())
    heads, (fc_in, fc_out), d = [parts["first"], parts["second"]], parts["gate"], len(net.layout.pos1)
    sizes = {"d_model": net.layout.width, "d_head": d, "d_mlp": len(fc_in.bias), "d_vocab": 2}
    config = sizes | {"n_layers": 1, "n_heads": 2, "n_ctx": len(net.positions), "attn_scale": 1 / heads[0].kappa}
    model = bridge.boot_native(config | {"act_fn": "relu", "normalization_type": None})
    named = {"unembed": parts["unembed"], "blocks.0.mlp.in": fc_in, "blocks.0.mlp.out": fc_out}
    tensors = {f"{name}.{kind}": getattr(layer, kind) for name, layer in named.items() for kind in ("weight", "bias")}
    tensors |= {"embed.weight": parts["embed"].weight.T, "pos_embed.weight": net.positions}
    for name, part in {"q": "query", "k": "key", "v": "value"}.items():
        for kind in ("weight", "bias"):
            rows = [getattr(getattr(head, part), kind) for head in heads]
            rows = [pad(each, (0,) * (2 * each.dim() - 1) + (d - len(each),)) for each in rows]  # as many for a value
            tensors[f"blocks.0.attn.{name}.{kind}"] = torch.cat(rows)
    tensors["blocks.0.attn.o.weight"] = torch.cat([pad(head.write.weight, (0, d - 1)) for head in heads], dim=1)
    tensors["blocks.0.attn.o.bias"] = heads[0].write.bias + heads[1].write.bias
    model.load_state_dict(tensors)
    return model.to(net.positions.dtype)


def _bridge(net: GateByGate) -> Any:
    """The class of TransformerLens, if it can hold such a network and is installed."""
    if not isinstance(net, GateByGate):
        raise TypeError(f"A GateByGate network, such as li24, has this form, and {type(net).__name__} was given.")
    if net.pipeline["first"].kappa is None:
        raise ValueError("TransformerLens has softmax attention, and this network has none. Compile it with a κ.")
    try:
        from transformer_lens import TransformerBridge  # type: ignore[import-not-found]  # nothing else here needs it
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{error}. Install it: pip install transformer-lens.") from None
    return TransformerBridge
