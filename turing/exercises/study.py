"""The exercises of the chapter Break it, restore it, train it: a bit that fades, a steeper organ, one fatal weight."""

from __future__ import annotations

from typing import Any

from turing.exercises import Wrong
from turing.exercises.functions import called, given_function
from turing.exercises.wcm import compiled
from turing.exercises.weights import _short_repr
from turing.zoo import zoo

ERRORS = [0.3, 0.2, 0.15, 0.12, 0.07, 0.03, 0.013]  # of none is ½ a multiple
LOW, HIGH = 0.4, 0.6  # between these the organ may do what it likes
MAX_CHANGE = 0.3
SHORT, LONG = "B()E", "B()((()(()))())E"


def _lifetime(error: float) -> int:
    value, gates = 1.0, 0
    while value >= 0.5:
        value, gates = max(0.0, value + (1 - error) - 1), gates + 1
    return gates


def fading_bit(answer: object) -> str:
    """How many ANDs in a row a 1 survives if each second input is 1 − error."""
    function = given_function(answer, "the error of the second input")
    for error in ERRORS:
        given, expected = called(function, f"For error={error}", error), _lifetime(error)
        if given != expected:
            raise Wrong(f"For error={error} your function gives {_short_repr(given)}; {expected} was expected.")
    return f"all {len(ERRORS)} errors"


def steep_organ(answer: object) -> str:
    """ReLU layers that send what is at most 0.4 to 0, and what is at least 0.6 to 1."""
    import torch

    organ: Any = answer
    if not isinstance(organ, torch.nn.Module):
        raise Wrong(
            f"Return layers, such as torch.nn.Sequential(Layer(…), Readout(…)); {_short_repr(answer)} was given."
        )
    with torch.no_grad():
        for k in range(-50, 151):
            x = k / 100
            if LOW < x < HIGH:
                continue
            y, expected = organ(torch.tensor([[x]])).item(), float(x > 0.5)
            if not abs(y - expected) <= 1e-5:
                raise Wrong(f"For x={x:g} your organ gives {y:.4g}; {expected:g} was expected.")
    layers = sum(hasattr(part, "weight") for part in organ.modules())
    return f"182 inputs from −0.5 to 1.5, with {layers} layers"


def fatal_weight(answer: object) -> str:
    """A network with one number changed a little, right on the short word and wrong on the long one."""
    import torch

    from turing.study import first_failure

    net = compiled(answer)
    if dict(net.machine.delta) != dict(zoo["balanced_parentheses"].delta) or net.options.get("restoring"):
        raise Wrong('Start from turing.compile(turing.zoo["balanced_parentheses"], "wcm21", T=100, adder="lookahead").')
    built = type(net)(net.machine, **net.options)
    gaps = [(a - b).detach().abs() for a, b in zip(net.parameters(), built.parameters(), strict=True)]
    changed = sum(int(gap.count_nonzero()) for gap in gaps)
    if changed != 1:
        raise Wrong(f"{changed} numbers are changed; exactly one should be.")
    most = max(float(gap.max()) for gap in gaps if gap.numel())
    if most > MAX_CHANGE + 1e-6:
        raise Wrong(f"The number is changed by {most:.3g}; {MAX_CHANGE} is allowed.")
    with torch.no_grad():
        short, long = first_failure(net, [SHORT, LONG])
    if short is not None:
        raise Wrong(f"For word={SHORT} step {short.step} fails already, in {short.module}.")
    if long is None:
        raise Wrong(f"For word={LONG} all 81 steps are right.")
    return f"{SHORT}, and wrong on {LONG} at step {long.step}, in {long.module}"


EXERCISES = {"fading_bit": fading_bit, "steep_organ": steep_organ, "fatal_weight": fatal_weight}
