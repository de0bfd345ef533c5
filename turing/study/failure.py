"""Where a network leaves its machine for the first time.

Chapter: :doc:`/book/break-restore-train`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from turing import arguments
from turing.construction import Construction
from turing.study.copies import Copies

__all__ = ["Failure", "deviations", "first_failure", "first_failures"]

READ = ("st", "sym1", "sym2", "pos2", "scr5")  # what the next step of a transformer reads of a column


class Failure(NamedTuple):
    """The first number that is wrong in a run.

    - ``step``: the step, counted from 1
    - ``module``: the module of ``network.pipeline`` that gives the number
    - ``slice``, ``place``: where the number stands, such as ``"st"`` and ``"st[I]"``
    - ``found``, ``expected``: the number, and what it should be

    Chapter: :doc:`/book/break-restore-train`.
    """

    step: int
    module: str
    slice: str
    place: str
    found: float
    expected: float

    def __str__(self) -> str:
        return f"Step {self.step}, {self.module}: {self.place} is {self.found:.4g}, expected {self.expected:g}."


def first_failure(
    network: Construction, words: Iterable[Iterable[str]], tolerance: float | None = None, max_steps: int | None = None
) -> list[Failure | None]:
    """Where each run first goes wrong: a list with a :class:`Failure` for each word, or None if the run is right.

    Without a ``tolerance``, a step fails when its column, with every number rounded to 0 or 1, says another state,
    symbol, move or position than the machine; the failure names the first number in that step that is off by more than
    ½. With a ``tolerance``, a step fails when any number inside is off by more than that.

    >>> import torch
    >>> from turing.study import first_failure
    >>> net = turing.compile(turing.zoo["balanced_parentheses"], "wcm21", T=100, adder="lookahead")
    >>> with torch.no_grad():
    ...     net.pipeline["carry"].bias[0] = 0.6
    >>> print(*first_failure(net, ["B()E", "B)E"]), sep="\\n")
    Step 1, carry: st[I] is 0.6, expected 0.
    Step 1, carry: st[I] is 0.6, expected 0.

    Chapter: :doc:`/book/break-restore-train`.
    """
    parameters = {name: numbers.detach().unsqueeze(0) for name, numbers in network.named_parameters()}
    return first_failures(network, parameters, words, tolerance, max_steps)[0]


@torch.no_grad()
def first_failures(
    network: Construction,
    parameters: Mapping[str, Tensor],
    words: Iterable[Iterable[str]],
    tolerance: float | None = None,
    max_steps: int | None = None,
) -> list[list[Failure | None]]:
    """:func:`first_failure` of many copies at once: a list of such lists, one for each copy.

    ``parameters`` are those of :func:`turing.study.perturbed`: by name a tensor ``(copies, …)``.

    Chapter: :doc:`/book/break-restore-train`.
    """
    found = arguments.words(words)
    copies, plan = Copies(network, parameters), _Plan(network, found, max_steps)
    failures: list[list[Failure | None]] = [[None] * len(found) for _ in range(copies.size)]
    open_ = torch.ones(copies.size, len(found), dtype=torch.bool)
    for number, vectors in enumerate(copies.vectors(found, plan.passes)):
        given = torch.cat([vectors[name] for name in plan.modules], dim=-1)
        target, running = plan.targets[number], plan.running[number]
        off = (given - target).abs()
        wrong = ~(off <= (0.5 if tolerance is None else tolerance))
        counts = wrong[..., plan.read].any(-1) if tolerance is None else wrong.any(-1)
        for copy, word in (counts & open_ & running).nonzero().tolist():
            place = int(wrong[copy, word].int().argmax())
            numbers = given[copy, word, place].item(), target[word, place].item()
            failures[copy][word] = Failure(number + 1, *plan.where[place], *numbers)
        open_ &= ~counts & running
        if not open_.any():
            break
    return failures


@torch.no_grad()
def deviations(
    network: Construction,
    parameters: Mapping[str, Tensor],
    word: Iterable[str],
    max_steps: int | None = None,
    offset: Tensor | None = None,
) -> Tensor:
    """The greatest error of a column after each step, for many copies. Shape: ``(copies, steps)``.

    ``parameters`` are those of :func:`turing.study.perturbed`. An ``offset``, of the shape ``(copies, 1, w)``, is added
    to the first column.

    Chapter: :doc:`/book/break-restore-train`.
    """
    found = [arguments.word(word)]
    copies, plan = Copies(network, parameters), _Plan(network, found, max_steps)
    steps = []
    for number, vectors in enumerate(copies.vectors(found, plan.passes, offset)):
        given = torch.cat([vectors[name] for name in plan.modules], dim=-1)
        steps.append((given - plan.targets[number]).abs()[..., plan.read].amax(-1).squeeze(1))
    return torch.stack(steps, dim=1)


class _Plan:
    """What the vectors of each pass have to be, as tensors: by the specification, which has no weights."""

    def __init__(self, network: Construction, words: Sequence[Sequence[str]], max_steps: int | None):
        expected = [list(network.expected(network.machine, word, max_steps)) for word in words]
        self.passes = max(map(len, expected), default=0)
        if not self.passes:
            raise ValueError("No word takes a step. Give a word on which the machine does not halt at once.")
        self.modules = list(next(one for one in expected if one)[0].vectors)
        layouts = {name: network.layout_of(name) for name in self.modules}
        self.where = [(name, part.name, place) for name in self.modules for part in layouts[name]
                      for place in part.names()]  # fmt: skip
        index = {(module, place): k for k, (module, _, place) in enumerate(self.where)}
        last, like = self.modules[-1], next(network.parameters())
        read = [k for k, (module, part, _) in enumerate(self.where) if module == last and part in READ]
        if not read:
            read = [k for k, (module, *_) in enumerate(self.where) if module == last]
        self.read = torch.tensor(read)
        self.targets = torch.zeros(self.passes, len(words), len(self.where), dtype=like.dtype)
        self.running = torch.zeros(self.passes, len(words), dtype=torch.bool)
        for row, passes in enumerate(expected):
            for number, one in enumerate(passes):
                self.running[number, row] = True
                for module, places in one.vectors.items():
                    for place, value in places.items():
                        self.targets[number, row, index[module, place]] = float(value)
