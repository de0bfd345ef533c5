"""What is where in a compiled network, as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from turing import ir

if TYPE_CHECKING:
    from turing.construction import Construction

__all__ = ["labels_of"]

OVER = {
    "causal": "columns",
    "strict": "earlier columns",
    "cross": "word",
    "prefix": "word and columns",
    "offset": "one column",
    "window": "window",
}
EVERYWHERE = {
    "st": "state, one-hot",
    "rule": "detectors of the rules",
    "compared": "places of the query and of the key",
    "fetched": "what the attention head fetches",
    "neighbour": "how far to the right a neighbouring cell is",
}
DETECTORS = {"det": "detectors of a state and a symbol"}
WCM21 = {
    "st": "state, one-hot; once the rule is known, the next one",
    "sym1": "symbol under the tape head, one-hot",
    "sym2": "symbol written by the column before, one-hot; once the rule is known, by this one",
    "pos1": "bits of the column's number",
    "pos2": "bits of the tape head's position",
    "pos3": "bits of the new position",
    "scr1": "symbol last written on the new position, one-hot; if none was, by column 0",
    "scr2": "symbol of the word on the new position, one-hot",
    "scr3": "bits of the number of the last column on the new position, or 0",
    "scr4": "flags: visited; the other two stay 0",
    "scr5": "direction of the move: R, L",
    **DETECTORS,
    "carry": "a carry comes to this bit",
    "borrow": "a borrow comes to this bit",
    "bit_carry": "a carry comes to this bit, which is 1",
    "bit_borrow": "a borrow comes to this bit, which is 1",
    "blank": "the cell is neither visited nor on the word",
    "compared": "a bit of the query against a bit of the key; null is the constant by which the null key scores",
}
RIPPLE = {
    "scr4": "flags: visited, on the word, blank; while the adders work, the first of them is their carry",
    "add": "bits of the addend that moves the tape head",
}
STACKS = {
    "q": "a stack as a number",
    "one": "the top of the stack is the second symbol",
    "some": "the stack is not empty",
    "rule": "detectors of the stack machine's rules",
    "noop": "the stack as it was, if that is what the rule does",
    "push0": "the stack with the first symbol pushed, if that is what the rule does",
    "push1": "the stack with the second symbol pushed, if that is what the rule does",
    "pop": "the stack with its top taken off, if that is what the rule does",
}
ONE_LAYER = STACKS | {"det": "detectors of a class of steps and tops"}
SLICES = {
    "wcm21": WCM21,
    "ss95": STACKS,
    "ss95-realtime": ONE_LAYER,
    "bhattamishra20": ONE_LAYER,
    "conv": {"st": "state, one-hot, if the tape head is on the cell", "sym": "symbol on the cell, one-hot"} | DETECTORS,
}


def labels_of(network: Construction) -> dict[str, Any]:
    """The labels of :class:`turing.corpora.Example` for any network that turing.compile made.

    Chapter: :doc:`/book/research`.
    """
    found = network.ir()
    vectors: dict[str, list[str]] = {"column": found.layouts[0].names()}
    axes: dict[str, list[str]] = {}
    heads: dict[str, dict[str, Any]] = {}
    before = "column"
    for module in found.modules:
        for number, part in enumerate(module.parts, start=1):
            after = module.name if number == len(module.parts) else f"{module.name}.{part.name.rpartition('.')[2]}"
            if isinstance(part, ir.Attention):
                heads[after] = described = _head(part)
                seen = "tape" if part.mask == "cross" else before
                vectors |= {seen: vectors[before], after: vectors[before], **_inside(after, part, described)}
                axes |= _axes(after, part, before, seen)
            elif isinstance(part, ir.Norm):
                vectors[after] = vectors[before]
            else:
                if module is found.modules[-1] and part is module.parts[-1]:
                    after = "column"  # what comes out goes in again
                rows = [after, before]
                if isinstance(part, ir.Convolution):
                    rows.append(sides := f"{module.name}.neighbours")
                    vectors[sides] = [f"neighbour[{d}]" for d in range(-part.radius, part.radius + 1)]
                vectors[after] = part.outputs.names()
                axes |= {part.weight.name: rows, part.bias.name: [after]}
            before = after
    vectors[found.modules[-1].name] = vectors["column"]
    used = dict.fromkeys(place.split("[")[0] for names in vectors.values() for place in names)
    own = SLICES.get(network.construction, {}) | (RIPPLE if "add" in used else {})
    told = own | EVERYWHERE | own  # in its own order, and with its own texts
    known = {name: meaning for name, meaning in told.items() if name in used}
    return {
        "slices": known | {name: "" for name in used if name not in known},
        "vectors": vectors,
        "axes": axes,
        "rules": network.detectors(),
        "heads": heads,
    }


def _head(head: ir.Attention) -> dict[str, Any]:
    """What a head compares and fetches: pairs of names, "1" for a fixed one; None if it is not a look-up by bits."""
    lookup, names = head.lookup(), {None: "1"} | dict(enumerate(head.inputs.names()))
    return {
        "over": OVER[head.mask],
        "compares": lookup and [[names[ask], names[at]] for at, ask in lookup.compared],
        "fetches": lookup and [[names[source], names[into]] for source, into in lookup.fetched],
    }


def _inside(name: str, head: ir.Attention, described: dict[str, Any]) -> dict[str, list[str]]:
    """The names of the places of a query or key, and of a value."""
    if described["compares"] is None:
        sizes = (("compared", head.query.width_out), ("fetched", head.value.width_out))
        return {f"{name}.{kind}": [f"{kind}[{k}]" for k in range(size)] for kind, size in sizes}
    return {
        f"{name}.compared": [*(f"compared[{ask} = {at}]" for ask, at in described["compares"]), "compared[null]"],
        f"{name}.fetched": [f"fetched[{into}]" for _, into in described["fetches"]],
    }


def _axes(name: str, head: ir.Attention, before: str, seen: str) -> dict[str, list[str]]:
    """Which vectors the axes of a head's parameters belong to."""
    compared, fetched = f"{name}.compared", f"{name}.fetched"
    axes: dict[str, list[str]] = {}
    for layer, rows, columns in (
        (head.query, compared, before),
        (head.key, compared, seen),
        (head.value, fetched, seen),
        (head.write, name, fetched),
    ):
        axes |= {layer.weight.name: [rows, columns], layer.bias.name: [rows]}
    for numbers, rows in ((head.null_key, compared), (head.null_value, fetched), (head.oldest, compared)):
        if numbers is not None:
            axes[numbers.name] = [rows]
    return axes
