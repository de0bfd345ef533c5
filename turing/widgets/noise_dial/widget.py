"""The noise dial: a network with noise on every weight, run until it breaks, with and without restoring layers."""

from __future__ import annotations

from functools import cache
from typing import Any

import traitlets

from turing.widgets.base import Widget, joined, style, table
from turing.zoo import zoo

__all__ = ["NoiseDial"]

WORD = "B()((()(()))())E"
LEAST, MOST = -9.0, -1.5  # exponents of ten
MAX_SEED = 999


@cache
def _network(restoring: bool) -> Any:
    from turing.construction import compile

    machine = zoo["balanced_parentheses"]
    return compile(machine, "wcm21", T=100, adder="lookahead", restoring=restoring).double()


@cache
def _file() -> dict:
    from turing.ir import to_dict

    return to_dict(_network(True))


def _failure(restoring: bool, exponent: float, seed: int) -> Any:
    from turing.study import Gaussian, first_failures, perturbed

    net = _network(restoring)
    return first_failures(net, perturbed(net, Gaussian(), 10**exponent, [seed]), [WORD])[0][0]


class NoiseDial(Widget):
    """Turn up the noise: normal noise of the standard deviation ``10**exponent`` on every weight of a transformer.

    The page adds the noise of a ``seed`` to the weights of a network for ``balanced_parentheses`` and runs it, in
    float64, until its column says something other than the machine; each column is a row of a barcode. ``exponent``
    lies in −9…−1.5. ``restoring`` adds the restoring layers, whose weights are noisy too. All three are live.

    Example::

        NoiseDial(-3.0, seed=2)

    Chapter: :doc:`/book/break-restore-train`.
    """

    _esm = joined("noise_dial/widget.js")
    _css = style("noise_dial/widget.css")

    file: traitlets.Dict = traitlets.Dict(read_only=True).tag(sync=True)
    order: traitlets.List = traitlets.List(read_only=True).tag(sync=True)
    word: traitlets.Unicode = traitlets.Unicode(read_only=True).tag(sync=True)
    # Plain traits: the validators below say what is expected.
    exponent: traitlets.TraitType[float, float] = traitlets.TraitType(-3.0).tag(sync=True)
    seed: traitlets.TraitType[int, int] = traitlets.TraitType(0).tag(sync=True)
    restoring: traitlets.TraitType[bool, bool] = traitlets.TraitType(False).tag(sync=True)

    def __init__(self, exponent: float = -3.0, seed: int = 0, restoring: bool = False):
        self.set_trait("file", _file())
        self.set_trait("order", [name for name, _ in _network(True).named_parameters()])
        self.set_trait("word", WORD)
        super().__init__()
        self.exponent, self.seed, self.restoring = exponent, seed, restoring

    @traitlets.validate("exponent")
    def _valid_exponent(self, proposal: dict) -> float:
        value = proposal["value"]
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not LEAST <= value <= MOST:
            raise ValueError(f"The exponent of the noise is a number from {LEAST:g} to {MOST:g}; {value!r} was given.")
        return float(value)

    @traitlets.validate("seed")
    def _valid_seed(self, proposal: dict) -> int:
        value = proposal["value"]
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_SEED:
            raise ValueError(f"A seed is an integer from 0 to {MAX_SEED}, and {value!r} was given.")
        return value

    @traitlets.validate("restoring")
    def _valid_restoring(self, proposal: dict) -> bool:
        if not isinstance(proposal["value"], bool):
            raise ValueError(f"restoring is True or False, and {proposal['value']!r} was given.")
        return proposal["value"]

    def fallback(self) -> str:
        rows = []
        for restoring in (False, True):
            failure = _failure(restoring, self.exponent, self.seed)
            where = "all 81 steps are right" if failure is None else f"step {failure.step} fails, in {failure.module}"
            rows.append(("on" if restoring else "off", where))
        return (
            f"<p>Normal noise with σ = 10^{self.exponent:g} on every weight of the network for balanced parentheses, "
            f"seed {self.seed}, on the word <code>{WORD}</code>:</p>\n"
            + table(("restoring", "what happens"), rows)
            + "<p>With scripts on, the page runs the noisy network and lets you turn the noise up; in Python, "
            "<code>turing.study.first_failure</code> does.</p>"
        )

    def __repr__(self) -> str:
        return f"NoiseDial({self.exponent!r}, seed={self.seed}, restoring={self.restoring})"
