"""The disguise panel: a network is hidden and damaged in the page, and its machine read back from the numbers."""

from __future__ import annotations

from typing import Any

import traitlets

from turing.machine import TuringMachine
from turing.widgets.base import Widget, joined, style, table
from turing.zoo import zoo

__all__ = ["DisguisePanel"]

BITS = 3
COVERS = ("none", "shuffled", "scaled", "rotated")
NOISE = (0.0, 0.001, 0.01, 0.05, 0.1, 0.2)
MAX_PAIRS = 24  # of a state and a symbol: more do not fit on a page


class DisguisePanel(Widget):
    """Shuffle, scale or rotate the network of a machine, add noise, and see what can be read from the numbers.

    - ``machine``: a Turing machine with at most 24 pairs of a state and a symbol; by default ``bb3``
    - ``cover``: ``"none"``, ``"shuffled"``, ``"scaled"`` or ``"rotated"``
    - ``noise``: 0, 0.001, 0.01, 0.05, 0.1 or 0.2, the standard deviation of the noise
    - ``seed``: an integer from 1 to 9999, for the disguise and the noise

    The page compiles nothing and knows no rule: it has the weights of ``turing.compile(machine, "wcm21", T=8,
    adder="lookahead")``, hides them, and reads them as :func:`turing.decompile <turing.decompiler.decompile>` does. The
    network with noise runs beside the repaired one. All but ``machine`` are live.

    Example::

        DisguisePanel(cover="rotated", noise=0.05)

    Chapter: :doc:`/book/reading-back`.
    """

    _esm = joined("disguise_panel/widget.js")
    _css = style("disguise_panel/widget.css")

    network: traitlets.Dict = traitlets.Dict(read_only=True).tag(sync=True)
    levels: traitlets.List = traitlets.List(list(NOISE), read_only=True).tag(sync=True)
    # Plain traits: the validators below say what is expected.
    cover: traitlets.TraitType[str, str] = traitlets.TraitType("none").tag(sync=True)
    noise: traitlets.TraitType[float, float] = traitlets.TraitType(0.0).tag(sync=True)
    seed: traitlets.TraitType[int, int] = traitlets.TraitType(1).tag(sync=True)

    def __init__(
        self, machine: TuringMachine | None = None, cover: str = "shuffled", noise: float = 0.0, seed: int = 1
    ) -> None:
        from turing.construction import compile
        from turing.ir import to_dict

        machine = zoo["bb3"] if machine is None else machine
        if not isinstance(machine, TuringMachine) or len(machine.states) * len(machine.symbols) > MAX_PAIRS:
            raise ValueError(
                f"DisguisePanel shows a TuringMachine with at most {MAX_PAIRS} pairs of a state and a symbol; "
                f"{machine!r} was given."
            )
        self._machine = machine
        self.set_trait("network", to_dict(compile(machine, "wcm21", T=2**BITS, adder="lookahead")))
        super().__init__()
        self.cover, self.noise, self.seed = cover, noise, seed

    @traitlets.validate("cover", "noise")
    def _valid_choice(self, proposal: dict) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        known: tuple[Any, ...] = COVERS if name == "cover" else NOISE
        if value not in known:
            raise ValueError(f"{name} is one of {', '.join(map(str, known))}, and {value!r} was given.")
        return value

    @traitlets.validate("seed")
    def _valid_seed(self, proposal: dict) -> int:
        seed = proposal["value"]
        if isinstance(seed, bool) or not isinstance(seed, int) or not 1 <= seed <= 9999:
            raise ValueError(f"seed is an integer from 1 to 9999, and {seed!r} was given.")
        return seed

    def fallback(self) -> str:
        rows = [(q, a, t, b, "LSR"[d + 1]) for (q, a), (t, b, d) in self._machine.delta.items()]
        return (
            "<p>The machine in the weights:</p>\n"
            + table(("state", "reads", "next state", "writes", "move"), rows)
            + "<p>With scripts on, the page hides the network of this machine and reads it back; in Python, "
            "<code>turing.decompile(network)</code> does.</p>"
        )

    def __repr__(self) -> str:
        return f"DisguisePanel(cover={self.cover!r}, noise={self.noise}, seed={self.seed})"
