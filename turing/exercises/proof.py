"""The exercises of the chapter All words at once: a fault that no test sees, edits that harm nothing, a rule, a box."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

from turing.arguments import count
from turing.exercises import Wrong, _error_text
from turing.exercises.machines import words
from turing.exercises.wcm import compiled, differing
from turing.exercises.weights import _short_repr
from turing.machine import TuringMachine
from turing.zoo import zoo

if TYPE_CHECKING:
    from turing.proof import Proof
    from turing.wcm import WCM21

TRIED = [f"B{word}E" for word in words("()", 5)]
EDITS = 100
RULE = ("V", "("), ("T", "(", 1)  # a leftover parenthesis stays, and does no harm
CODES = [(4, (1, 3)), (10, (7, 9)), (20, (17, 19))]
MAX_KNOWN = 4


def ours(answer: object) -> WCM21:
    """The network of balanced parentheses, whatever its weights are by now."""
    net = compiled(answer)
    if dict(net.machine.delta) != dict(zoo["balanced_parentheses"].delta):
        raise Wrong("This network was compiled from other rules. Compile those of zoo['balanced_parentheses'].")
    return net


def proved(proof: Proof) -> None:
    """Raise unless a network is proved, with the word on which it goes wrong if one was found."""
    found = proof.counterexample
    if found is not None and found.level == "word":
        raise Wrong(f"For word={_word(found.word)} your network goes wrong at step {found.step}. {proof.reason}.")
    if proof.verdict != "proved":
        raise Wrong(f"Your network is {proof.verdict}: {proof.reason}.")


def _word(word: Sequence[str]) -> str:
    return "".join(word) or "(empty)"


def unseen_fault(answer: object) -> str:
    """A network that passes on all short words and is refuted, with no change in ``visited``."""
    from turing.proof import prove
    from turing.verification import verify

    net, m = ours(answer), zoo["balanced_parentheses"]
    original = type(net)(m, **net.options).pipeline["visited"].state_dict()
    if any(not numbers.equal(original[name]) for name, numbers in net.pipeline["visited"].state_dict().items()):
        raise Wrong("The head visited was changed. That is the example of the chapter; find another module.")
    if not (report := verify(net, m, TRIED)):
        first = report.divergences[0]
        raise Wrong(f"For word={first.word} at step {first.step} layer {first.layer} is off, and verify sees it.")
    if (proof := prove(net)).verdict != "refuted":
        raise Wrong(f"Your network is {proof.verdict}; it should be refuted.")
    return f"{report.words} words that verify passes, and refuted: {proof.reason}"


def harmless_edit(answer: object) -> str:
    """A network with many changed weights that is proved all the same."""
    from turing.proof import prove

    net = ours(answer)
    if (changed := differing(net)) < EDITS:
        raise Wrong(
            f"{count(changed, 'number differs', 'numbers differ')} from what was compiled; at least {EDITS} should."
        )
    proved(prove(net))
    return f"all words, with {changed} numbers changed"


def proved_rule(answer: object) -> str:
    """The network of balanced parentheses, edited until it is proved to be that of a machine with another rule."""
    from turing.proof import prove

    net, m = ours(answer), zoo["balanced_parentheses"]
    pair, rule = RULE
    proved(prove(net, TuringMachine({**m.delta, pair: rule}, m.initial, m.halting, m.blank)))
    return f"all words, with {count(differing(net), 'number')} changed"


def box(base: int, digits: Sequence[int], symbols: Sequence[int]) -> tuple[Fraction, Fraction]:
    """The least and the greatest number of the stacks that begin with these symbols, the endless one included."""
    low = sum((Fraction(digits[s], base**n) for n, s in enumerate(symbols, start=1)), Fraction(0))
    return low, low + Fraction(digits[1], base - 1) / base ** len(symbols)


def cantor_box(answer: object) -> str:
    """A function of a base, two digits and the first symbols of a stack: between which numbers the stack lies."""
    if not callable(answer):
        raise Wrong(f"Return a function of a base, digits and symbols; {_short_repr(answer)} was returned.")
    tried = 0
    for base, digits in CODES:
        for n in range(MAX_KNOWN + 1):
            for symbols in product((0, 1), repeat=n):
                where = f"For base={base} digits={digits[0]},{digits[1]} symbols={''.join(map(str, symbols)) or 'none'}"
                given, expected = _called(answer, where, base, digits, symbols), box(base, digits, symbols)
                for name, one, other in zip(("least", "greatest"), given, expected, strict=True):
                    if one != other:
                        raise Wrong(f"{where} the {name} number is {other}, and your function gives {one}.")
                tried += 1
    return f"all {tried} boxes, in {len(CODES)} bases"


def _called(function: Any, where: str, *arguments: Any) -> tuple[Any, Any]:
    try:
        low, high = function(*arguments)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise Wrong(f"{where} raises {_error_text(error)}. Return two numbers.") from None
    return low, high


EXERCISES = {
    "unseen_fault": unseen_fault,
    "harmless_edit": harmless_edit,
    "proved_rule": proved_rule,
    "cantor_box": cantor_box,
}
