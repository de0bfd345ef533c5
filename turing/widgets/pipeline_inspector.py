"""The pipeline inspector: a run of a WCM21 network, recorded, to look at step by step and layer by layer."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import traitlets

from turing.machine import _word
from turing.widgets.base import Widget, read, style

if TYPE_CHECKING:
    from torch import nn

    from turing.machine import Configuration
    from turing.wcm import WCM21

__all__ = ["PipelineInspector"]

MOST_STEPS = 300
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
}
COLUMN = "What the step starts from: the vector that left the step before, with the step number added in pos1."


class PipelineInspector(Widget):
    """Look into a WCM21 network at work: every vector and every attention weight of a run, as torch computed them.

    ``step`` counts from 1, as in ``net.activations``: step t leads from configuration t − 1 to configuration t.
    ``layer`` is ``"column"``, what the step starts from, or the name of a module of ``net.pipeline``. In a live
    kernel both follow the reader, and setting them moves the widget. At most 300 steps are shown.

    Chapter: :doc:`/book/05_wcm`.
    """

    _esm = read("pipeline_run.js") + read("pipeline_inspector.js")
    _css = style("pipeline_inspector.css")

    record = traitlets.Dict(read_only=True).tag(sync=True)
    step = traitlets.Int(1).tag(sync=True)
    layer = traitlets.Unicode("visited").tag(sync=True)

    def __init__(self, net: WCM21, word: Iterable[str], max_steps: int | None = None):
        from turing.wcm import WCM21

        if not isinstance(net, WCM21):
            raise TypeError(
                f"PipelineInspector takes a network such as turing.compile(machine, 'wcm21', T=100), "
                f"and an object of type {type(net).__name__} was given."
            )
        self._net, self._word = net, _word(word)
        rows, steps, end = _followed(net, self._word, max_steps)
        self.set_trait("record", _record(net, self._word, rows, steps) | {"end": end})
        super().__init__(step=_second_return([row.head for row in rows]))

    @traitlets.validate("step")
    def _known_step(self, proposal: dict) -> int:
        step, most = proposal["value"], len(self.record["steps"])
        if not 1 <= step <= most:
            raise ValueError(f"step is a whole number from 1 to {most} here, and {step} was given.")
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
        head = "".join(f"<th>{name}</th>" for name in ("layer", "module", "claim", "what it changes"))
        body = "\n".join("<tr>" + "".join(f"<td>{escape(part)}</td>" for part in row) + "</tr>" for row in rows)
        return (
            f"<p>Step {self.step} of {len(self.record['steps'])}.</p>\n"
            f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n"
            "<p>With scripts on, the page shows every step and every layer; in Python, "
            "<code>net.activations(word, step)</code> and <code>net.patterns(word, step)</code> do.</p>"
        )

    def __repr__(self) -> str:
        return f"PipelineInspector({self._net.construction} of {self._net.machine!r}, {self._word!r})"


def _followed(net: WCM21, word: Sequence[str], max_steps: int | None) -> tuple[list[Configuration], int, str]:
    """The configurations of a run, how many steps there are to record, and how it ends.

    A step in which the machine jams or the network fails leads to no configuration, and is recorded too.
    """
    rows: list[Configuration] = []
    try:
        for now in net.trace(word, max_steps):
            if now.step > MOST_STEPS:
                raise ValueError(
                    f"The run on this word has more than {MOST_STEPS} steps, the most that are shown. "
                    f"Give max_steps={MOST_STEPS} or less, to see the first of them."
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
    """The run for the ES module. Neighbouring vectors differ in few places, and only these are kept."""
    import torch

    state, symbol, width = net.machine.states.index, net.machine.symbols.index, net.wide.width
    layers = [_described(net, name) for name in ("column", *net.pipeline)]
    heads = [layer["name"] for layer in layers if layer["over"]]
    modules: Any = net.pipeline
    column, memory = net.initial(word), net.start(net.encode(word))
    before, recorded = [0.0] * width, []
    for step in range(1, steps + 1):
        vectors, changes = {"column": column}, []
        with torch.no_grad():
            column = net.step(column, memory, vectors.__setitem__) + net.beta(step)
            asked = {name: vectors[last].unsqueeze(0) for last, name in pairwise(vectors)}
            weights = [modules[name].weights(asked[name], memory[name][0]).squeeze(0) for name in heads]
        for vector in vectors.values():
            now = vector.tolist() + [0.0] * (width - len(vector))
            changes.append(_changes(before, now))
            before = now
        recorded.append([changes, [_shares(row.tolist()) for row in weights]])
    return {
        "states": list(net.machine.states),
        "symbols": list(net.machine.symbols),
        "word": [symbol(name) for name in net.machine.tape(word).values()],
        "rows": [[state(row.state), row.head] for row in rows],
        "written": [symbol(later.cells[row.head]) for row, later in pairwise(rows)],
        "slices": [
            {"name": part.name, "size": part.size, "labels": list(part.labels), "colour": part.colour}
            | {"meaning": MEANING[part.name]}
            for part in net.wide
        ],
        "layers": layers,
        "steps": recorded,
    }


def _described(net: WCM21, name: str) -> dict:
    """A layer for the ES module; what it does is what the docstring of the module says."""
    if name == "column":
        return {"name": name, "module": "", "claim": "", "says": COLUMN, "wide": False, "over": ""}
    from turing.attention import Attention
    from turing.wcm import GetInitialSymbol, claim

    module: nn.Module = net.pipeline[name]
    text = " ".join((inspect.getdoc(type(module)) or "").split())
    found: Any = re.match(r"(?:(?:Claim|Lemma) C\.\d+: )?(.*?\.|)(?: |$)", text)
    says = found[1]
    over = "tape" if isinstance(module, GetInitialSymbol) else "columns" if isinstance(module, Attention) else ""
    return {
        "name": name,
        "module": type(module).__name__,
        "claim": claim(module),
        "says": says[:1].upper() + says[1:] if re.match(r"[a-z]+ ", says) else says,  # not the name of a place
        "wide": net.layout_of(name) is net.wide,
        "over": over,
    }


def _changes(before: list[float], now: list[float]) -> list:
    """The places that differ: i where there is a 1 now, ~i where there is a 0, [i, x] where there is an x."""
    return [
        place if new == 1 else ~place if new == 0 else [place, new]
        for place, (old, new) in enumerate(zip(before, now, strict=True))
        if new != old
    ]


def _shares(weights: list[float]) -> list:
    """The weights that are not 0: i for the whole weight on key i, [x, i, j, …] for x on each of these; −1 is the
    null key.
    """
    keys: dict[float, list[int]] = {}
    for key, weight in enumerate(weights):
        if weight:
            keys.setdefault(weight, []).append(key if key < len(weights) - 1 else -1)
    return [key for weight, found in keys.items() for key in (found if weight == 1 else [[weight, *found]])]
