"""The proof dial: drag a weight, and see at which obligation the proof breaks."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

import traitlets

from turing.widgets.base import Widget, joined, style, table

if TYPE_CHECKING:
    from turing.proof import Interval, Proof

__all__ = ["ProofDial"]

REACH = 2.0  # how far from its value a weight can be dragged


class ProofDial(Widget):
    """Drag a weight of a proved WCM21 network, and see which obligation of the proof fails.

    The page checks every obligation anew, for all words, and shows with how much room the others hold.

    - ``proof``: what :func:`turing.prove <turing.proof.prove>` returned
    - ``weights``: a dictionary from a text of your own to the name of a parameter and the indices of the weight

    ``chosen``, which counts the weights from 0, and ``value`` are live. ``intervals`` has for each weight how far it
    may move, by :meth:`turing.proof.Proof.interval`.

    Example::

        net = turing.compile(turing.zoo["bb2"], "wcm21", T=100)
        ProofDial(turing.prove(net), {"null key": ("pipeline.visited.null_key", 7)})

    Chapter: :doc:`/book/all-words`.
    """

    _esm = joined("proof_dial/widget.js")
    _css = style("proof_dial/widget.css")

    network: traitlets.Dict[str, object] = traitlets.Dict(read_only=True).tag(sync=True)
    weights: traitlets.List[dict] = traitlets.List(read_only=True).tag(sync=True)
    chosen = traitlets.Int(0, min=0).tag(sync=True)
    value: traitlets.TraitType[Any, Any] = traitlets.TraitType(0.0).tag(sync=True)

    def __init__(self, proof: Proof, weights: Mapping[str, tuple]):
        from turing import ir
        from turing.proof import Proof

        if not isinstance(proof, Proof) or proof.network.construction != "wcm21":
            raise TypeError(f"ProofDial takes turing.prove(net) of a WCM21 network, and {proof!r} was given.")
        if not weights:
            raise ValueError("ProofDial takes weights by name, such as {'null key': ('pipeline.visited.null_key', 7)}.")
        numbers, ends = proof.network.state_dict(), {label: proof.interval(*place) for label, place in weights.items()}
        self.intervals: dict[str, Interval] = ends
        self.set_trait("network", ir.to_dict(proof.network))
        self.set_trait(
            "weights",
            [
                {
                    "label": label, "name": name, "place": place, "value": numbers[name][tuple(place)].item(),
                    "low": low if isfinite(low) else None, "high": high if isfinite(high) else None, "grid": grid,
                }
                for (label, (name, *place)), (low, high, grid) in zip(weights.items(), ends.values(), strict=True)
            ],
        )  # fmt: skip
        super().__init__(chosen=0, value=self.weights[0]["value"])

    @traitlets.validate("chosen")
    def _valid_chosen(self, proposal: dict) -> int:
        if proposal["value"] >= len(self.weights):
            raise ValueError(
                f"There are {len(self.weights)} weights, from 0 on, and chosen={proposal['value']} was given."
            )
        return proposal["value"]

    @traitlets.validate("value")
    def _valid_value(self, proposal: dict) -> float:
        value, own = proposal["value"], self.weights[self.chosen]["value"]
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value - own) <= REACH:
            raise ValueError(
                f"This weight is {own:g}, and goes from {own - REACH:g} to {own + REACH:g}; {value!r} was given."
            )
        return value

    @traitlets.observe("chosen")
    def _start_again(self, _change: dict) -> None:
        if "chosen" not in self._property_lock:  # otherwise it came from the page, together with its value
            self.value = self.weights[self.chosen]["value"]

    def fallback(self) -> str:
        def end(number: float | None, without: str) -> str:
            return without if number is None else f"{number:g}"

        rows = [
            (each["label"], f"{each['value']:g}", end(each["low"], "any"), end(each["high"], "any"))
            for each in self.weights
        ]
        return (
            table(("weight", "compiled as", "proved from", "to"), rows)
            + "<p>With scripts on, the page proves the network anew wherever you drag a weight.</p>"
        )

    def __repr__(self) -> str:
        return f"ProofDial({', '.join(each['label'] for each in self.weights)})"
