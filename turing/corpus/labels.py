"""What is where in a compiled network, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from turing.attention import Attention
from turing.layout import Layout
from turing.ss.four import operation_name
from turing.wcm import WCM21
from turing.wcm.pipeline import GetInitialSymbol

if TYPE_CHECKING:
    from turing.compiler import Compiled

SLICES = {
    "st": "state, one-hot",
    "sym1": "symbol under the head, one-hot",
    "sym2": "symbol that the last step wrote, one-hot",
    "pos1": "bits of the step's number",
    "pos2": "bits of the head's position; of the new one in the next column",
    "pos3": "bits of the new position",
    "scr1": "symbol last written on the new position, one-hot; what step 0 wrote, if none was",
    "scr2": "symbol of the word on the new position, one-hot",
    "scr3": "bits of the last step on the new position",
    "scr4": "flags: visited, on the word, blank; while the ripple adders work, the first of them is their carry",
    "scr5": "direction of the move: R, L",
    "add": "bits of the addend that moves the head",
    "det": "detectors: of a state and a symbol, or in ss95-realtime of a class of steps and tops",
    "carry": "a carry comes to this bit",
    "borrow": "a borrow comes to this bit",
    "bit_carry": "a carry comes to this bit, which is 1",
    "bit_borrow": "a borrow comes to this bit, which is 1",
    "blank": "the cell is neither visited nor on the word",
    "q": "a stack as a number",
    "one": "the top of the stack is the second symbol",
    "some": "the stack is not empty",
    "rule": "detectors of the stack machine's rules",
    "noop": "the stack as it was, if that is what the rule does",
    "push0": "the stack with the first symbol pushed, if that is what the rule does",
    "push1": "the stack with the second symbol pushed, if that is what the rule does",
    "pop": "the stack with its top taken off, if that is what the rule does",
    "compared": "a bit of the query against a bit of the key; null is the constant by which the null key scores",
    "fetched": "what the head fetches",
}

__all__ = ["labels_of"]

WHOLE = {"numerators": "weight", "bias_numerators": "bias"}  # SS95 has its numbers in two copies


def labels_of(network: Compiled) -> dict[str, Any]:
    """The labels of :class:`turing.corpus.Example` for any network that turing.compile made.

    Chapter: :doc:`/book/research`.
    """
    vectors: dict[str, list[str]] = {"column": network.layout.names()}
    axes: dict[str, list[str]] = {}
    heads: dict[str, dict] = {}
    prefix = next(name for name, module in network.named_modules() if module is network.pipeline)
    before, last = "column", list(network.pipeline)[-1]
    module: Any  # a head, a layer, or layers
    for name, module in network.pipeline.items():
        here = f"{prefix}.{name}"
        if isinstance(module, Attention):
            heads[name] = _head(module, network.layout_of(name))
            seen = "tape" if isinstance(module, GetInitialSymbol) else before
            compared, fetched = f"{name}.compared", f"{name}.fetched"
            vectors |= {
                seen: vectors[before],
                name: vectors[before],
                compared: [*(f"compared[{ask} = {at}]" for ask, at in heads[name]["compares"]), "compared[null]"],
                fetched: [f"fetched[{into}]" for _, into in heads[name]["fetches"]],
            }
            for part, rows, columns in (
                ("query", compared, before),
                ("key", compared, seen),
                ("value", fetched, seen),
                ("write", name, fetched),
            ):
                axes |= {f"{here}.{part}.weight": [rows, columns], f"{here}.{part}.bias": [rows]}
            axes |= {f"{here}.null_key": [compared], f"{here}.null_value": [fetched]}
            before = name
        else:
            layers = [""] if not isinstance(module, nn.Sequential) else [f".{k}" for k in range(len(module))]
            for layer, layout in zip(layers, module.layouts[1:], strict=True):
                after = name if layer == layers[-1] else f"{name}{layer}"
                after = "column" if after == last else after
                vectors[after] = layout.names()
                axes |= {f"{here}{layer}.weight": [after, before], f"{here}{layer}.bias": [after]}
                before = after
    vectors[last] = vectors["column"]
    for name in network.state_dict():
        layer, _, kind = name.rpartition(".")
        if kind in WHOLE:
            axes[name] = axes[f"{layer}.{WHOLE[kind]}"]
    used = {place.split("[")[0] for names in vectors.values() for place in names}
    return {
        "slices": {name: told for name, told in SLICES.items() if name in used},
        "vectors": vectors,
        "axes": axes,
        "rules": _rules(network, vectors),
        "heads": heads,
    }


def _head(head: Attention, layout: Layout) -> dict[str, Any]:
    """What a head compares and fetches, read off its weights: pairs of names, "1" for a fixed one."""
    compared = [
        [_one(ask, layout), _one(at, layout)]
        for ask, at in zip(head.query.weight[:-1], head.key.weight[:-1], strict=True)
    ]
    fetched = [
        [_one(source, layout), _one(into, layout)]
        for source, into in zip(head.value.weight, head.write.weight.T, strict=True)
    ]
    over = "word" if isinstance(head, GetInitialSymbol) else "columns"
    return {"over": over, "compares": compared, "fetches": fetched}


def _one(row: Tensor, layout: Layout) -> str:
    """The one place that a row reads, or "1"."""
    places = row.nonzero().flatten().tolist()
    return layout.name(places[0]) if places else "1"


def _rules(network: Compiled, vectors: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """The detector of each rule: of the machine, or of the stack machine that stands between it and SS95."""
    machine = network.machine
    if isinstance(network, WCM21):
        found = {name: [place for place in places if place.split("[")[0] == "det"] for name, places in vectors.items()}
        vector, detectors = next((name, places) for name, places in found.items() if places)
        pairs = [(q, a) for q in machine.states for a in machine.symbols]
        where = dict(zip(pairs, detectors, strict=True))
        return [
            {"rule": [*pair, *rule], "vector": vector, "detector": where[pair]} for pair, rule in machine.delta.items()
        ]
    stacks = network.network
    if stacks.version == 4:
        rules = zip(stacks.keys, stacks.rules, network.layout_of("F3").rule.names(), strict=True)
        return [
            {
                "rule": [*key, rule[0], *(operation_name(stacks.machine, operation) for operation in rule[1:])],
                "vector": "F3",
                "detector": place,
            }
            for key, rule, place in rules
        ]
    first = [network.layout.name(stacks.detector(k, (0,) * stacks.machine.p)) for k in range(len(stacks.classes))]
    return [
        {"rule": list(kind), "vector": "step", "detector": place}
        for kind, place in zip(stacks.classes, first, strict=True)
    ]
