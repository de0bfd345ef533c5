"""The pipeline inspector: a run of a WCM21 network, to look at step by step and module by module."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import traitlets

from turing import arguments
from turing.widgets.base import Widget, joined, style, table

if TYPE_CHECKING:
    from turing.machine import Configuration
    from turing.wcm import WCM21

__all__ = ["PipelineInspector"]

MAX_STEPS = 300
MEANING = {
    "st": "state",
    "sym1": "symbol read",
    "sym2": "symbol written",
    "pos1": "step number",
    "pos2": "position",
    "pos3": "new position",
    "scr1": "last written",
    "scr2": "of the word",
    "scr3": "last visit",
    "scr4": "flags",
    "scr5": "move",
    "add": "move, to be added",
    "det": "state and symbol",
    "carry": "carry",
    "borrow": "borrow",
    "bit_carry": "bit and carry",
    "bit_borrow": "bit and borrow",
    "blank": "nothing found",
}
ARITHMETICS = ("float32", "float64")  # of the page
COLUMN = "What the step starts from: the vector that left the step before, with the step number added in pos1."


class PipelineInspector(Widget):
    """Look into a WCM21 network at work: every vector and every attention weight of a run.

    The page evaluates the network itself and gets the numbers of torch. ``step`` counts from 1, as in
    ``net.activations``: step t leads from configuration t − 1 to configuration t. ``layer`` is ``"column"``, what the
    step starts from, or the name of a module of ``net.pipeline``. Both are live. At most 300 steps are shown, or
    ``max_steps``.

    Example::

        net = turing.compile(turing.zoo["bb3"], "wcm21", T=32, adder="lookahead")
        PipelineInspector(net, "")

    Chapter: :doc:`/book/wcm21`.
    """

    _esm = joined("pipeline_inspector/widget.js")
    _css = style("pipeline_inspector/widget.css")

    record = traitlets.Dict(read_only=True).tag(sync=True)
    step = traitlets.Int(1).tag(sync=True)
    layer = traitlets.Unicode("visited").tag(sync=True)

    def __init__(self, net: WCM21, word: Iterable[str], max_steps: int | None = None):
        from turing.ir import of
        from turing.wcm import WCM21

        if not isinstance(net, WCM21):
            raise TypeError(
                f"PipelineInspector takes a network such as turing.compile(machine, 'wcm21', T=100), "
                f"and an object of type {type(net).__name__} was given."
            )
        if (arithmetic := of(net).arithmetic) not in ARITHMETICS:
            raise ValueError(
                f"The page computes in {' or '.join(ARITHMETICS)}, and this network is in {arithmetic}. "
                f"Show net.float()."
            )
        self._net, self._word = net, arguments.word(word)
        rows, steps, end = _followed(net, self._word, max_steps)
        self.set_trait("record", _record(net, self._word, rows, steps) | {"end": end})
        super().__init__(step=_second_return([row.head for row in rows]))

    @traitlets.validate("step")
    def _known_step(self, proposal: dict) -> int:
        step, last = proposal["value"], self.record["steps"]
        if not 1 <= step <= last:
            raise ValueError(f"step is an integer from 1 to {last} here, and {step} was given.")
        return int(step)  # True is 1

    @traitlets.validate("layer")
    def _known_layer(self, proposal: dict) -> str:
        names = [layer["name"] for layer in self.record["layers"]]
        if proposal["value"] not in names:
            raise ValueError(f"layer is one of {', '.join(names)}, and {proposal['value']!r} was given.")
        return proposal["value"]

    def fallback(self) -> str:
        vectors, rows = self._net.activations(self._word, self.step), []
        before: dict[str, float] = {}
        for layer in self.record["layers"]:
            names, numbers = self._net.layout_of(layer["name"]).names(), vectors[layer["name"]].tolist()
            now = dict(zip(names, numbers, strict=True))
            changed = [f"{name} = {value:.8g}" for name, value in now.items() if value != before.get(name, 0)]
            rows.append((layer["name"], layer["module"], layer["claim"], ", ".join(changed) or "nothing"))
            before = now
        return (
            f"<p>Step {self.step} of {self.record['steps']}.</p>\n"
            + table(("layer", "module", "claim", "what it changes"), rows)
            + "<p>With scripts on, the page shows every step and every layer; in Python, "
            "<code>net.activations(word, step)</code> and <code>net.patterns(word, step)</code> do.</p>"
        )

    def __repr__(self) -> str:
        return f"PipelineInspector({self._net.construction} of {self._net.machine!r}, {self._word!r})"


def _followed(net: WCM21, word: Sequence[str], max_steps: int | None) -> tuple[list[Configuration], int, str]:
    """The configurations of a run, how many steps there are to show, and how it ends.

    A step in which the machine jams or the network fails leads to no configuration, and is shown too.
    """
    rows: list[Configuration] = []
    try:
        for now in net.trace(word, max_steps):
            if now.step > MAX_STEPS:
                raise ValueError(
                    f"The run on this word has more than {MAX_STEPS} steps, the most that are shown. "
                    f"Give max_steps={MAX_STEPS} or less, to see the first of them."
                )
            rows.append(now)
    except ArithmeticError as error:
        if not rows:
            raise
        return rows, len(rows), str(error)
    now, limit = rows[-1], net.T if max_steps is None else max_steps
    if now.state in net.machine.halting:
        steps, end = now.step, f"The machine halts in state {now.state}."
    elif now.step < limit:
        steps, end = now.step + 1, f"There is no rule for ({now.state}, {now.symbol}): the machine jams."
    else:
        steps, end = now.step, "The record ends here, and the machine has not halted."
    if not steps:
        raise ValueError("There is no step to show: the run ends before the first one.")
    return rows, steps, end


def _second_return(heads: list[int]) -> int:
    """A step to begin with: the first that comes to a cell visited twice before, or once, or else the first."""
    for visits in (2, 1):
        for step, cell in enumerate(heads):
            if heads[:step].count(cell) >= visits:
                return step
    return 1


def _record(net: WCM21, word: Sequence[str], rows: list[Configuration], steps: int) -> dict:
    """The network for the ES module, the run of its machine, and what to say of its modules and slices."""
    from turing import ir

    def described(module: ir.Module) -> dict:
        return {
            "name": module.name,
            "module": module.title,
            "claim": module.claim,
            "says": _says(net, module.name),
        }

    network = ir.of(net)
    state, symbol = net.machine.states.index, net.machine.symbols.index
    slices = {part.name: part for module in network.modules for layout in module.layouts for part in layout}
    return {
        "network": ir.to_dict(network),
        "word": [symbol(name) for name in net.machine.tape(word).values()],
        "steps": steps,
        "rows": [[state(row.state), row.head] for row in rows],
        "written": [symbol(later.cells[row.head]) for row, later in pairwise(rows)],
        "slices": {name: {"colour": part.colour, "meaning": MEANING.get(name, "")} for name, part in slices.items()},
        "layers": [{"name": "column", "module": "", "claim": "", "says": COLUMN}, *map(described, network.modules)],
    }


def _says(net: WCM21, name: str) -> str:
    """What a module does: the first sentence of its docstring, without the claim that it begins with."""
    text = " ".join((inspect.getdoc(type(net.pipeline[name])) or "").split())
    found: Any = re.match(r"(?:(?:Claim|Lemma) C\.\d+: )?(.*?\.|)(?: |$)", text)
    says = found[1].replace("``", "")
    return says[:1].upper() + says[1:] if re.match(r"[a-z]+ ", says) else says  # not the name of a place
