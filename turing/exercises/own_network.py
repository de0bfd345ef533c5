"""The exercise that goes through the book: gate, transition, adder, head and step, and at the end a network of them.

Each part is a function that returns numbers. A part that needs a gate is given one: that of this file while its own
chapter checks it, the reader's when the network is put together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from turing.arguments import count
from turing.exercises import Wrong, _error_text
from turing.exercises.machines import words
from turing.exercises.weights import Layers, _short_repr, numbers, shown, values
from turing.layout import Layout
from turing.machine import TuringMachine
from turing.zoo import zoo

if TYPE_CHECKING:
    import torch

    from turing.wcm import WCM21

__all__ = ["PARTS", "assemble", "own_adder", "own_gate", "own_head", "own_network", "own_transition"]

PARTS = ("gate", "transition", "adder", "head", "step")
MACHINES = ("balanced_parentheses", "binary_increment", "bb2")
WORDS = [f"B{word}E" for word in words("()", 5)]


def plain_gate(ones: Iterable[int], zeros: Iterable[int], width: int) -> tuple[list[int], int]:
    """The neuron that the chapters give to a part if the reader has none: each wish that is not met costs 1."""
    wanted, unwanted = set(ones), set(zeros)
    return [(place in wanted) - (place in unwanted) for place in range(width)], 1 - len(wanted)


def own_gate(answer: object) -> str:
    """A neuron that is 1 if some places are 1 and others are 0, on every row of up to four bits."""
    tried = 0
    for width in range(1, 5):
        for literals in product("-01", repeat=width):
            ones, zeros = ([place for place in range(width) if literals[place] == bit] for bit in "10")
            if not ones + zeros:
                continue
            where = f"For width={width} ones={_places(ones)} zeros={_places(zeros)}"
            neuron = _called(answer, "gate", "ones, zeros and width", where, ones, zeros, width)
            if not isinstance(neuron, (list, tuple)) or len(neuron) != 2:
                raise Wrong(f"{where} your gate returns {_short_repr(neuron)}. Return its weights and its bias.")
            weights, bias = neuron
            layers = _of_sizes([([weights], [bias])], [width, 1], "gate")
            for row in product((0, 1), repeat=width):
                ((found,),) = values(layers, row)
                expected = int(all(row[place] for place in ones) and not any(row[place] for place in zeros))
                if found != expected:
                    bits = "".join(map(str, row))
                    raise Wrong(f"{where} and the bits {bits} your gate gives {shown(found)}; {expected} was expected.")
                tried += 1
    return f"all {tried:,} rows, for every choice of places among up to 4"


def own_transition(answer: object) -> str:
    """A detector for each state and symbol, and what the rule of each pair says, for three machines."""
    tried = 0
    for name in MACHINES:
        machine, where = zoo[name], f"For machine={name}"
        pairs = [(q, a) for q in machine.states for a in machine.symbols]
        x, hidden, y = transition_layouts(machine)
        layers = _of_sizes(
            _called(answer, "transition", "gate and machine", where, plain_gate, machine),
            [x.width, hidden.width, y.width],
            "transition",
        )
        for q, a in pairs:
            target, written, move = machine.delta.get((q, a), (None, None, 0))
            side = {1: "R", -1: "L"}.get(move)
            row = [int(place in (x.st[q], x.sym1[a])) for place in range(x.width)]
            rule = [*(target == s for s in machine.states), *(written == s for s in machine.symbols)]
            fires = [int(pair == (q, a)) for pair in pairs]
            _compare(f"{where} st={q} sym1={a}", layers, row, (hidden, fires), (y, [*rule, side == "R", side == "L"]))
            tried += 1
    return f"all {tried} pairs of a state and a symbol of {len(MACHINES)} machines"


def own_adder(answer: object) -> str:
    """One ReLU layer and a sum that move a position of one to five bits."""
    tried = 0
    for bits in range(1, 6):
        x, hidden, y = adder_layouts(bits)
        layers = _of_sizes(
            _called(answer, "adder", "gate and bits", f"For bits={bits}", plain_gate, bits),
            [x.width, hidden.width, y.width],
            "adder",
        )
        for position, move in product(range(2**bits), (1, -1, 0)):
            p = [position >> k & 1 for k in range(bits)]
            carry = [int(move > 0 and all(p[:k])) for k in range(bits)]
            borrow = [int(move < 0 and not any(p[:k])) for k in range(bits)]
            both = [[bit * change for bit, change in zip(p, changes, strict=True)] for changes in (carry, borrow)]
            new = [(position + move) >> k & 1 for k in range(bits)]
            side = {1: "right", -1: "left", 0: "stay"}[move]
            row = [*p, int(move > 0), int(move < 0)]
            expected = (hidden, [*p, *carry, *borrow, *both[0], *both[1]])
            _compare(f"For bits={bits} position={position} move={side}", layers, row, expected, (y, new))
            tried += 1
    return f"all {tried} moves of positions of 1 to 5 bits"


def own_head(answer: object) -> str:
    """A query, a key and a null key with the scores of the chapter, for addresses of one to four bits."""
    tried = 0
    for n, constant in product(range(1, 5), (False, True)):
        width = 2 * n
        ask: list[int | None] = [*range(n - 1), None] if constant else [*range(n)]
        at = [*range(n, width)]
        where = f"For bits={n} ask={ask} at={at} width={width}"
        query, key, null = _head(answer, ask, at, width, where)
        for asked, there in product(product((0, 1), repeat=n), repeat=2):
            if constant and not asked[-1]:
                continue
            column = [*asked, *there]
            q, k = (_affine(W, b, column) for W, b in (query, key))
            wrong = sum(a != b for a, b in zip(asked, there, strict=True))
            bits = " ".join("".join(map(str, part)) for part in (asked, there))
            if q[-1] != 1:
                raise Wrong(f"{where} and the column {bits} the query ends in {shown(q[-1])}; 1 was expected.")
            for name, found, expected in (("key", _dot(q, k), n / 2 - wrong), ("null key", _dot(q, null), (n - 1) / 2)):
                if found != expected:
                    raise Wrong(
                        f"{where} and the column {bits} the {name} scores {shown(found)}; {shown(expected)} was "
                        f"expected."
                    )
            tried += 1
    return f"all {tried} pairs of an address that is asked for and one that is there, of 1 to 4 bits"


def own_network(answer: object) -> str:
    """All five parts in one network, compared with the machine number by number."""
    from turing.verification import verify

    if not isinstance(answer, (list, tuple)) or len(answer) != len(PARTS):
        raise Wrong(f"Return the five parts in this order: {', '.join(PARTS)}.")
    parts = dict(zip(PARTS, answer, strict=True))
    if parts["step"] is None:
        raise Wrong(
            "Your step is None. It is the part that this chapter adds: return a function of gate, x, y and blank."
        )
    judges = {"gate": own_gate, "transition": own_transition, "adder": own_adder, "head": own_head}
    for name, judge in judges.items():
        if parts[name] is not None:
            try:
                judge(parts[name])
            except Wrong as wrong:
                raise Wrong(f"Your {name} is not right yet. {wrong}") from None
    report = verify(assemble(**parts), zoo["balanced_parentheses"], WORDS)
    if not report:
        first = report.divergences[0]
        raise Wrong(
            f"For word={first.word} at step {first.step} layer {first.layer} gives {first.place} = {first.given:g}; "
            f"{first.expected:g} was expected."
        )
    own, ours = ([name for name in PARTS if (parts[name] is None) == missing] for missing in (False, True))
    more = f", and the library's {_listed(ours)}" if ours else ""
    size = f"{report.words} words, {report.steps:,} steps, {report.numbers:,} numbers compared"
    return f"{size}, with your {_listed(own)}{more}"


def assemble(
    gate: Callable | None = None,
    transition: Callable | None = None,
    adder: Callable | None = None,
    head: Callable | None = None,
    step: Callable | None = None,
) -> WCM21:
    """The network of balanced parentheses for 100 steps, of a reader's parts; a part that is None is the library's.

    >>> assemble(gate=plain_gate).run("B()E").state
    'T'

    Chapter: :doc:`/book/wcm21`.
    """
    import torch

    from turing.wcm import WCM21

    net = WCM21(zoo["balanced_parentheses"], T=100, adder="lookahead")
    machine, layout, bits = net.machine, net.layout, net.bits
    modules: dict[str, Any] = dict(net.pipeline.items())
    detect, carry, move, choose, last = (modules[name] for name in ("detect", "carry", "move", "choose", "assemble"))
    (before, after), chosen, gate = _layouts(carry), _layouts(choose)[1], gate or plain_gate
    decides = (transition or _transition)(gate, machine)
    (W1, b1), (W2, b2) = _tensors(decides, transition_layouts(machine), "transition")
    (A1, a1), (A2, a2) = _tensors((adder or _adder)(gate, bits), adder_layouts(bits), "adder")
    (C1, c1), (C2, c2) = _tensors(
        _called(step or _step, "step", "gate, x, y and blank", "In the network", gate, layout, chosen, machine.blank),
        (layout, chosen, layout),
        "step",
    )
    pair, rule = [*layout.st, *layout.sym1], [*after.st, *after.sym2, *after.scr5]
    moved = [place for name in ("pos2", "carry", "borrow", "bit_carry", "bit_borrow") for place in after[name]]
    right_left = W2[-2:], b2[-2:]
    with torch.no_grad():
        for k, detector in enumerate(before.det):
            detect.weight[detector, pair] = W1[k]
        detect.bias[before.det.slice] = b1
        carry.weight[rule, before.det.slice], carry.bias[rule] = W2, b2
        carry.weight[moved, before.pos2.slice] = A1[:, :bits]
        # the adder reads the direction that the transition writes: two matrices in a row are one
        carry.weight[moved, before.det.slice] = A1[:, bits:] @ right_left[0]
        carry.bias[moved] = a1 + A1[:, bits:] @ right_left[1]
        for k, new in enumerate(layout.pos3):
            move.weight[new, moved] = A2[k]
        move.bias[layout.pos3.slice] = a2
        for name, (ask, at) in _questions(layout).items():
            query, key, null = _head(head or _lookup, ask, at, layout.width, f"In {name}")
            lookup = modules[name]
            lookup.query.weight[:], lookup.query.bias[:] = map(torch.tensor, query)
            lookup.key.weight[:], lookup.key.bias[:] = map(torch.tensor, key)
            lookup.null_key[:] = torch.tensor(null)
        initial = modules["initial"].key  # a row of the word without a symbol is padding, and fits nothing
        initial.weight[bits, list(layout.sym1)], initial.bias[bits] = bits, -bits
        choose.weight[:], choose.bias[:], last.weight[:], last.bias[:] = C1, c1, C2, c2
    return net


def transition_layouts(machine: TuringMachine) -> tuple[Layout, Layout, Layout]:
    """What the two layers of a transition read, hold and give; detectors in the order of states, then of symbols."""
    pairs = [f"{q} {a}" for q in machine.states for a in machine.symbols]
    x = Layout(st=machine.states, sym1=machine.symbols)
    return x, Layout(det=pairs), Layout(st=machine.states, sym2=machine.symbols, scr5=["R", "L"])


def adder_layouts(bits: int) -> tuple[Layout, Layout, Layout]:
    """What the layer and the sum of an adder read, hold and give, as in :class:`turing.adders.LookaheadAdder`."""
    hidden = Layout(**dict.fromkeys(("p", "carry", "borrow", "p_carry", "p_borrow"), bits))
    return Layout(p=bits, right=1, left=1), hidden, Layout(p=bits)


def _questions(layout: Layout) -> dict[str, tuple[list[int | None], list[int]]]:
    """Which places each head asks for, and among which places of the columns; None is a fixed 1."""
    pos1, pos2, pos3, scr3 = (list(layout[name]) for name in ("pos1", "pos2", "pos3", "scr3"))
    search = {f"search{j}": ([*pos3, *scr3[j + 1 :], None], [*pos2, *pos1[j + 1 :], pos1[j]]) for j in range(len(pos1))}
    return {"visited": ([*pos3], pos2), **search, "last": ([*scr3], pos1), "initial": ([*pos3], pos2)}


def _transition(gate: Callable, machine: TuringMachine) -> Any:
    from turing.dnf import Transition
    from turing.layout import state_vector

    made: Any = Transition(machine, state_vector(machine, 1))
    layout, wide, _ = made.layouts
    pair, rule = [*layout.st, *layout.sym1], [*layout.st, *layout.sym2, *layout.scr5]
    det = list(wide.det)
    first, second = made[0], made[1]
    return (first.weight[det][:, pair], first.bias[det]), (second.weight[rule][:, det], second.bias[rule])


def _adder(gate: Callable, bits: int) -> Any:
    from turing.adders import LookaheadAdder

    return [(part.weight, part.bias) for part in LookaheadAdder(bits)]


def _lookup(ask: Sequence[int | None], at: Sequence[int], width: int) -> Any:
    from turing.attention import Lookup

    made = Lookup(width, ask, at, [None], [0])
    return (made.query.weight, made.query.bias), (made.key.weight, made.key.bias), made.null_key


def _step(gate: Callable, x: Layout, y: Layout, blank: str) -> Any:
    from turing.wcm.lookahead import Assemble, Choose

    return [(part.weight, part.bias) for part in (Choose(x), Assemble(y, x, blank))]


def _layouts(module: Any) -> tuple[Layout, Layout]:
    return module.layouts


def _tensors(answer: object, layouts: Sequence[Layout], name: str) -> list[tuple[torch.Tensor, torch.Tensor]]:
    import torch

    layers = _of_sizes(answer, [layout.width for layout in layouts], name)
    return [(torch.tensor(W), torch.tensor(b)) for W, b in layers]


def _of_sizes(answer: object, widths: Sequence[int], name: str) -> Layers:
    """The layers of an answer, if they have these widths."""
    layers = numbers(answer)
    if len(layers) != len(widths) - 1:
        raise Wrong(f"Your {name} has {count(len(layers), 'layer')}, and {len(widths) - 1} were expected.")
    for number, (W, b) in enumerate(layers):
        found, expected = (len(W[0]), len(b)), (widths[number], widths[number + 1])
        if found != expected:
            raise Wrong(
                f"Layer {number + 1} of your {name} reads {found[0]} and gives {found[1]} numbers; it should read "
                f"{expected[0]} and give {expected[1]}."
            )
    return layers


def _head(answer: object, ask: Sequence[int | None], at: Sequence[int], width: int, where: str) -> Any:
    """Query, key and null key of a head, as lists of floats."""
    parts = _called(answer, "head", "ask, at and width", where, list(ask), list(at), width)
    if not isinstance(parts, (list, tuple)) or len(parts) != 3:
        raise Wrong(f"{where} your head returns {_short_repr(parts)}. Return (Wq, bq), (Wk, bk), null_key.")
    n = len(ask) + 1
    query, key = [
        _of_sizes([pair], [width, n], f"head's {name}")[0]
        for name, pair in zip(("query", "key"), parts[:2], strict=True)
    ]
    ((null, _),) = _of_sizes([([parts[2]], [0])], [n, 1], "head's null key")
    return query, key, null[0]


def _called(function: Any, name: str, of: str, where: str, *arguments: object) -> Any:
    if not callable(function):
        raise Wrong(f"Your {name} should be a function of {of}, and {_short_repr(function)} was returned.")
    try:
        return function(*arguments)
    except (KeyboardInterrupt, Wrong):
        raise
    except BaseException as error:
        raise Wrong(f"{where} your {name} raises {_error_text(error)}.") from None


def _compare(where: str, layers: Layers, row: Sequence[int], *expected: tuple[Layout, Sequence[object]]) -> None:
    """The first layer is followed by ReLU, the second is a sum."""
    (hidden,) = values(layers[:1], row)
    for number, (found, (layout, wanted)) in enumerate(
        zip((hidden, _affine(*layers[1], hidden)), expected, strict=True), start=1
    ):
        for name, number_found, right in zip(layout.names(), found, wanted, strict=True):
            if number_found != right:
                raise Wrong(
                    f"{where} layer {number} gives {name} = {shown(number_found)}; {int(bool(right))} was expected."
                )


def _affine(W: list[list[float]], b: list[float], x: Sequence[float]) -> list[float]:
    return [bias + _dot(row, x) for row, bias in zip(W, b, strict=True)]


def _dot(a: Iterable[float], b: Iterable[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def _places(places: Sequence[int]) -> str:
    return ",".join(map(str, places)) or "none"


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
