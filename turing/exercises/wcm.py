"""The exercises of the chapter WCM21: a layer, an edited network, two layers, a bound, and a network of one's own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from turing.arguments import count
from turing.exercises import Wrong
from turing.exercises.machines import words
from turing.exercises.own_network import own_network
from turing.exercises.weights import LITERALS, WeightPuzzle, _short_repr, bits, numbers
from turing.machine import TuringMachine
from turing.zoo import zoo

if TYPE_CHECKING:
    from turing.wcm import WCM21

RULE = ("V", "("), ("T", "*", -1)  # the rule that changes: a leftover opening parenthesis does no harm
BETWEEN = [f"B{word}E" for word in words("()", 4)]


@cache
def network() -> WCM21:
    from turing.wcm import WCM21

    return WCM21(zoo["balanced_parentheses"], T=100)


def compiled(answer: object) -> WCM21:
    from turing.wcm import WCM21

    if not isinstance(answer, WCM21):
        raise Wrong(
            f"Your function returned an object of type {type(answer).__name__}. "
            f'Return a network: turing.compile(machine, "wcm21", T=…).'
        )
    return answer


def changed_rule(answer: object) -> str:
    """The network of balanced parentheses, with weights changed so that it is the network of another machine."""
    from turing.verification import verify

    net, ours = compiled(answer), zoo["balanced_parentheses"]
    if dict(net.machine.delta) != dict(ours.delta):
        raise Wrong("This network was compiled from other rules. Compile the old ones, and change its numbers.")
    pair, rule = RULE
    other = TuringMachine({**ours.delta, pair: rule}, ours.initial, ours.halting, ours.blank)
    report = verify(net, other, BETWEEN)
    if not report:
        first = report.divergences[0]
        raise Wrong(
            f"For word={first.word} at step {first.step} layer {first.layer} gives {first.place} = {first.given:g}; "
            f"{first.expected:g} was expected."
        )
    changed = count(differing(net), "number")
    return f"{report.words} words, {report.steps:,} steps, {report.numbers:,} numbers compared, with {changed} changed"


def differing(net: WCM21) -> int:
    """How many numbers of a network differ from those that it was compiled with."""
    from turing.wcm import WCM21

    original, found = dict(WCM21(net.machine, **net.options).named_parameters()), 0
    for name, p in net.named_parameters():
        q = original.get(name)
        found += p.numel() if q is None or q.shape != p.shape else int((p != q.to(p)).sum())
    return found


def short_assembly(answer: object) -> str:
    """At most two layers that do what GetV, ArrangeSymbols and CombineSymbols do, on every slice that is read again."""
    import torch

    net, layers = network(), numbers(answer)
    if len(layers) > 2:
        raise Wrong(f"{len(layers)} layers are used, at most 2 are allowed.")
    before, given = net.layout.width, f"the vector has {net.layout.width} numbers"
    for number, (W, b) in enumerate(layers, start=1):
        if len(W[0]) != before:
            raise Wrong(f"Layer {number} has {count(len(W[0]), 'column')}, and {given}.")
        before, given = len(b), f"layer {number} gives {count(len(b), 'number')}"
    if before != net.layout.width:
        raise Wrong(f"{given.capitalize()}, and the next column has {net.layout.width}.")
    names = ("st", "sym1", "sym2", "pos1", "pos2", "scr5")
    read = [place for name in names for place in net.layout[name]]  # before they are cleared
    tensors = [(torch.tensor(W).double(), torch.tensor(b).double()) for W, b in layers]
    tried = [*BETWEEN, "B", "B)"]
    ends = [net.machine.run(word).steps for word in tried]
    wrong: dict[int, str] = {}
    for step, vectors in enumerate(net.vectors(tried, max(ends)), start=1):
        x = vectors["initial"].double()
        for weight, bias in tensors:
            x = torch.relu(x @ weight.T + bias)
        found, expected = x[:, read], vectors["combine"][:, read].double()
        for row, k in (found != expected).nonzero().tolist():
            if row not in wrong and step <= ends[row]:
                wrong[row] = (
                    f"For word={tried[row]} at step {step} your layers give {net.layout.name(read[k])} = "
                    f"{found[row, k]:g}; {expected[row, k]:g} was expected."
                )
    if wrong:
        raise Wrong(wrong[min(wrong)])
    return f"all {sum(ends)} steps on {len(tried)} words, with {count(len(layers), 'layer')}"


def walker(move: int) -> TuringMachine:
    return TuringMachine({("A", a): ("A", a, move) for a in "x_"}, "A", (), "_")


def cases() -> Iterator[tuple[str, TuringMachine, str, int]]:
    """The runs that the bound is asked for: a name, a machine, a word, and the number of steps."""
    right, left = walker(1), walker(-1)
    yield "right", right, "", 1
    yield "right", right, "x", 15
    yield "right", right, "x", 16
    yield "left", left, "xxx", 13
    yield "left", left, "xxx", 14
    yield "right", right, "x" * 20, 3
    yield "balanced_parentheses", zoo["balanced_parentheses"], "B()E", 100
    yield "balanced_parentheses", zoo["balanced_parentheses"], "B()E", 128
    yield "bb4", zoo["bb4"], "", 107


def least_bits(machine: TuringMachine, word: str, steps: int) -> int:
    """The first number of bits, by trying, that can number the steps and gives no two cells the same bits."""
    cells = {now.head for now in machine.trace(word, steps)} | set(range(len(word)))
    found = 1
    while 2**found < steps or len({cell % 2**found for cell in cells}) < len(cells):
        found += 1
    return found


def enough_bits(answer: object) -> str:
    """A function of a machine, a word and a number of steps: the least number of bits for that run."""
    if not callable(answer):
        raise Wrong(
            f"Your function returned an object of type {type(answer).__name__}. "
            f"Return a function of a machine, a word and a number of steps."
        )
    tried = list(cases())
    for name, machine, word, steps in tried:
        given, expected = answer(machine, word, steps), least_bits(machine, word, steps)
        if given != expected:
            raise Wrong(
                f"For machine={name} word={word!r} steps={steps} your function gives {_short_repr(given)}; "
                f"{expected} was expected."
            )
    return f"all {len(tried)} runs"


def own_machine(answer: object) -> str:
    """A compiled machine that halts in T if a word has as many a as b, and in F otherwise."""
    net, length = compiled(answer), 5
    for letter in "ab":
        if letter not in net.machine.symbols:
            raise Wrong(f"The symbol {letter!r} of the words is in none of your machine's rules.")
        if letter == net.machine.blank:
            raise Wrong(f"The blank {letter!r} is a letter of the words too. Choose another blank, such as '_'.")
    tried = list(words("ab", length))
    for word, run in zip(tried, runs(net, tried), strict=True):
        expected = "T" if word.count("a") == word.count("b") else "F"
        where = f"For word={word}" if word else "For the empty word"
        if isinstance(run, Exception):
            raise Wrong(f"{where} your network stops with {type(run).__name__}: {run}")
        if run.status == "limit":
            raise Wrong(f"{where} your network is still running after its T = {net.T} steps.")
        if run.status == "jammed":
            raise Wrong(f"{where} your network jams in state {run.state} after {count(run.steps, 'step')}.")
        if run.state != expected:
            raise Wrong(
                f"{where} your network halts in {run.state} after {count(run.steps, 'step')}; {expected} was expected."
            )
    return f"all {len(tried)} words up to length {length}"


def runs(net: WCM21, tried: list[str]) -> list:
    """The runs on all words; if the batch fails, the runs before the first word that fails, and then its error."""
    try:
        return net.run_batch(tried)
    except ArithmeticError:
        found = []
        for word in tried:
            try:
                found.append(net.run(word))
            except ArithmeticError as error:
                return [*found, *[error] * (len(tried) - len(found))]
        return found


EXERCISES = {
    "flags": WeightPuzzle(
        bits("seen on"),
        bits("seen word blank"),
        lambda seen, on: (seen, int(on > seen), int(not seen and not on)),
        hidden=(),
        most_layers=1,
        best=[([[1, 0], [-1, 1], [-1, -1]], [0, 0, 1])],
        proof=LITERALS,
    ),
    "changed_rule": changed_rule,
    "short_assembly": short_assembly,
    "enough_bits": enough_bits,
    "own_machine": own_machine,
    "own_network": own_network,
}
