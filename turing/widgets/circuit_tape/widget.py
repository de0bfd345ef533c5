"""The circuit tape: a circuit evaluated token by token, with two arcs back to the inputs of each gate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import traitlets

from turing.widgets.base import Widget, joined, style, table

if TYPE_CHECKING:
    from turing.circuits import Circuit, GateByGate

__all__ = ["CircuitTape"]

MAX_TOKENS = 64
KAPPAS = (9999, 4, 1, 0.5)


def _network(network: GateByGate, _widget: object = None) -> dict:
    from turing import ir

    return ir.to_dict(network)


class CircuitTape(Widget):
    """A circuit of at most 64 tokens, evaluated by its transformer token by token: inputs first, then a gate each.

    - ``circuit``: a :class:`turing.circuits.Circuit`
    - ``word``: the bits of the inputs, by default zeros; the reader can flip them
    - ``gate``: how many gates have been computed
    - ``kappa``: how sharp attention is, one of 9999, 4, 1 and 0.5

    The network runs in the page. All but ``circuit`` are live.

    Example::

        circuit = turing.circuits.Circuit.of_expression("a & ~b")
        CircuitTape(circuit, "10", gate=1)

    Chapter: :doc:`/book/gate-by-gate`.
    """

    _esm = joined("circuit_tape/widget.js")
    _css = style("circuit_tape/widget.css")

    network: traitlets.TraitType[Any, Any] = traitlets.TraitType(read_only=True).tag(sync=True, to_json=_network)
    names: traitlets.List[str] = traitlets.List(read_only=True).tag(sync=True)
    outputs = traitlets.Dict(read_only=True).tag(sync=True)
    kappas = traitlets.List(list(KAPPAS), read_only=True).tag(sync=True)
    # Plain traits: the validators below say what is expected.
    word: traitlets.TraitType[str, str] = traitlets.TraitType("").tag(sync=True)
    gate: traitlets.TraitType[int, int] = traitlets.TraitType(0).tag(sync=True)
    kappa: traitlets.TraitType[float, float] = traitlets.TraitType(KAPPAS[0]).tag(sync=True)

    def __init__(self, circuit: Circuit, word: Any = None, gate: int = 0, kappa: float = KAPPAS[0]):
        from turing.circuits import Circuit, GateByGate

        if not isinstance(circuit, Circuit):
            raise TypeError(f"CircuitTape takes a Circuit, and {circuit!r} was given.")
        if circuit.tokens > MAX_TOKENS or not circuit.gates:
            raise ValueError(
                f"The widget shows circuits with a gate and at most {MAX_TOKENS} tokens, and {circuit!r} was given."
            )
        self.circuit = circuit
        self.set_trait("network", GateByGate(circuit))
        self.set_trait("names", [circuit.name(wire) for wire in range(circuit.tokens)])
        self.set_trait("outputs", circuit.outputs)
        super().__init__()
        self.word = "0" * len(circuit.inputs) if word is None else word
        self.gate, self.kappa = gate, kappa

    @traitlets.validate("word")
    def _valid_word(self, proposal: dict) -> str:
        return "".join(map(str, self.circuit.bits(proposal["value"])))

    @traitlets.validate("gate")
    def _valid_gate(self, proposal: dict) -> int:
        gate, last = proposal["value"], len(self.circuit.gates)
        if isinstance(gate, bool) or not isinstance(gate, int) or not 0 <= gate <= last:
            raise ValueError(f"This circuit has gates 1 to {last}, 0 is before the first, and gate={gate!r} was given.")
        return gate

    @traitlets.validate("kappa")
    def _valid_kappa(self, proposal: dict) -> float:
        if isinstance(proposal["value"], bool) or proposal["value"] not in KAPPAS:
            known = ", ".join(map(str, KAPPAS))
            raise ValueError(f"kappa is one of {known}, and {proposal['value']!r} was given.")
        return proposal["value"]

    def fallback(self) -> str:
        circuit, values = self.circuit, self.circuit.values(self.word)
        rows: list[tuple[object, ...]] = [
            (wire, name, "input", "", values[wire]) for wire, name in enumerate(circuit.inputs)
        ]
        for wire, (kind, a, b) in enumerate(circuit.gates, start=len(circuit.inputs)):
            reads = f"{circuit.name(a)} = {values[a]}, {circuit.name(b)} = {values[b]}"
            rows.append((wire, circuit.name(wire), kind, reads, values[wire]))
        return (
            f"{table(('token', 'name', 'gate', 'reads', 'value'), rows)}"
            "<p>With scripts on, the page runs the transformer that writes these tokens, one after the other.</p>"
        )

    def __repr__(self) -> str:
        return f"CircuitTape({self.circuit!r}, {self.word!r}, gate={self.gate}, kappa={self.kappa})"
