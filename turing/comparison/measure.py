"""Every construction on one machine and word: what its network and its run take."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from fractions import Fraction
from math import isfinite
from typing import Any

from torch import Tensor

from turing import arguments
from turing.attention import Attention
from turing.comparison.table import in_order
from turing.construction import Construction, constructions
from turing.exact import Exact
from turing.machine import Run, TuringMachine

__all__ = ["Comparison", "Measurement", "bits_of", "compare"]

MAX_STEPS = 200  # of the machine, unless said otherwise: some networks take long for more
HEAD = ("construction", "bits", "window", "tokens/step", "width", "hidden", "weights", "not 0", "status")
REFUSALS = (ValueError, ArithmeticError, MemoryError)


@dataclass(frozen=True)
class Measurement:
    """What one construction takes for a machine and a word; None where it refused before that could be measured.

    - ``construction`` and ``status``: its name, and how its run ended
    - ``bits``: of the longest number that leaves a module in the run (:func:`bits_of`)
    - ``width``, ``hidden``: of the vector that is fed back, and of the widest one inside
    - ``parameters``, printed as *weights*: how many weights the network has, biases among them
    - ``nonzero``, printed as *not 0*: how many of these are not 0
    - ``window``: how many vectors the last pass is computed from
    - ``passes``: passes in the whole run
    - ``tokens``, printed as *tokens/step*: passes for each step of the machine
    - ``refused``: why there is no run

    Chapter: :doc:`/book/table`.
    """

    construction: str
    status: str
    bits: int | None = None
    width: int | None = None
    hidden: int | None = None
    parameters: int | None = None
    nonzero: int | None = None
    window: int | None = None
    passes: int | None = None
    tokens: float | None = None
    refused: str = ""


@dataclass(frozen=True)
class Comparison:
    """Every construction on the same machine and word; printed, it is a table.

    - ``machine``, ``word`` and ``run``: what was compared, and the run of the machine itself
    - ``n``, ``t`` and ``s``: the symbols of the word, the steps, and the cells of the word and those that the tape head
      was on
    - ``rows``: a :class:`Measurement` for each construction. That of one is ``found["wcm21"]``.

    Chapter: :doc:`/book/table`.
    """

    machine: TuringMachine
    word: str | tuple[str, ...]
    run: Run
    s: int
    rows: tuple[Measurement, ...]

    @property
    def n(self) -> int:
        return len(self.word)

    @property
    def t(self) -> int:
        return self.run.steps

    def __getitem__(self, construction: str) -> Measurement:
        """The row of a construction."""
        for row in self.rows:
            if row.construction == construction:
                return row
        raise KeyError(
            f"{construction!r} is not compared here. There are: {' '.join(r.construction for r in self.rows)}."
        )

    def to_dict(self) -> dict[str, Any]:
        """The comparison as a dictionary that JSON can hold.

        Chapter: :doc:`/book/table`.
        """
        word = self.word if isinstance(self.word, str) else list(self.word)
        run = {"status": self.run.status, "state": self.run.state, "n": self.n, "t": self.t, "s": self.s}
        return {
            "machine": json.loads(self.machine.dumps("json")),
            "word": word,
            **run,
            "rows": list(map(asdict, self.rows)),
        }

    def __str__(self) -> str:
        steps, cells = arguments.count(self.t, "step"), arguments.count(self.s, "cell")
        lines = [HEAD, *map(_texts, self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        shown = [f"{self.run.status} in state {self.run.state} after {steps} on {cells}", ""]
        for line in lines:
            texts = zip("<>>>>>>><", line, widths, strict=True)
            shown.append("  ".join(f"{text:{side}{width}}" for side, text, width in texts).rstrip())
        reasons = [f"{row.construction}: {row.refused}" for row in self.rows if row.refused]
        return "\n".join(map(arguments.printable, [*shown, *([""] if reasons else []), *reasons]))


def _texts(row: Measurement) -> tuple[str, ...]:
    numbers = (row.bits, row.window, row.width, row.hidden, row.parameters, row.nonzero)
    bits, window, *rest = ("–" if n is None else f"{n:,}" for n in numbers)
    return row.construction, bits, window, "–" if row.tokens is None else f"{row.tokens:.3g}", *rest, row.status


def compare(
    machine: TuringMachine,
    word: Iterable[str] = "",
    max_steps: int = MAX_STEPS,
    names: Iterable[str] | None = None,
) -> Comparison:
    """Compile a machine by every construction, or by those in ``names``, run all on a word, and measure.

    Returns a :class:`Comparison`. Each construction is compiled for as many steps and cells as this run takes; one that
    refuses has the reason in its row. Without ``names``, the rows are in the order of :func:`turing.comparison.claims`.

    >>> import turing
    >>> from turing.comparison import compare
    >>> found = compare(turing.zoo["bb2"], names=["wcm21", "ss95"])
    >>> print(found)
    halted in state Z after 6 steps on 4 cells
    <BLANKLINE>
    construction  bits  window  tokens/step  width  hidden  weights  not 0  status
    wcm21            1       6            1     28      34   32,407  1,148  halted
    ss95             6       1            1      8      42    1,376    466  halted
    >>> found["ss95"].nonzero
    466

    Chapter: :doc:`/book/table`.
    """
    if not isinstance(machine, TuringMachine):
        raise TypeError(f"A TuringMachine is compared here, and {machine!r} was given.")
    word = arguments.word(word)
    run = machine.run(word, arguments.step_limit(max_steps))
    known = constructions()
    if isinstance(names, str) or not isinstance(names, Iterable | None):
        raise TypeError(f"names is a list of constructions, such as ['wcm21', 'conv'], and {names!r} was given.")
    names = in_order(known) if names is None else list(names)
    for name in names:
        if name not in tuple(known):
            raise ValueError(f"A construction is one of {', '.join(known)}, and {name!r} was given.")
    heads = [now.head for now in run.trace]
    cells = range(min(heads), max(*heads, len(word) - 1) + 1)
    rows = tuple(_measured(known[name], machine, word, run, cells) for name in names)
    return Comparison(machine, word, run, len(cells), rows)


def _measured(
    kind: type[Construction], machine: TuringMachine, word: Sequence[str], run: Run, cells: range
) -> Measurement:
    found: dict[str, Any] = {}
    name, steps = kind.construction, run.steps + (run.status == "jammed")  # it jams on the way to one more
    try:
        network = kind(machine, **kind.options_for({}, word, max(1, steps), cells=cells))
        found = _sizes(network)
        with _watched(network) as seen:
            own = network.run(word, steps)
        if own != run:
            raise ArithmeticError(f"the network says {own}, and the machine {run}.")
    except REFUSALS as error:
        return Measurement(name, "refused", **found, refused=str(error))
    found |= {"bits": seen.bits, "window": seen.window, "passes": own.micro_steps}
    return Measurement(name, own.status, **found, tokens=own.micro_steps / own.steps if own.steps else None)


def _sizes(network: Construction) -> dict[str, Any]:
    numbers = [each.values for each in network.ir().numbers()]
    return {
        "width": network.layout.width,
        "hidden": max(layout.width for layout in network.ir().layouts),
        "parameters": sum(values.numel() for values in numbers),
        "nonzero": sum(int(values.count_nonzero()) for values in numbers),
    }


class Watch:
    """What hooks see of a run: the longest number, and the most vectors that a pass is computed from."""

    def __init__(self, cells: bool):
        self.cells, self.bits, self.rows = cells, 1, {True: 0, False: 1}  # of the word, and besides

    @property
    def window(self) -> int:
        return sum(self.rows.values())

    def __call__(self, module: Any, given: tuple[Any, ...], out: Any) -> None:
        self.bits = max(self.bits, _longest(out))
        if isinstance(module, Attention):
            _, keys, *_ = given
            of_word = module.mask == "cross"
            self.rows[of_word] = max(self.rows[of_word], _count(keys))
        elif self.cells:
            self.rows[False] = max(self.rows[False], _count(given[0]))


@contextmanager
def _watched(network: Construction) -> Iterator[Watch]:
    seen = Watch(network.loop.state == "cells")
    hooks = [module.register_forward_hook(seen) for module in network.pipeline.values()]
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()


def _count(rows: Any) -> int:
    return rows.shape[-2] if isinstance(rows, Tensor) else len(rows)


def _longest(vectors: Any) -> int:
    if isinstance(vectors, Tensor):
        return max(map(bits_of, set(vectors.flatten().tolist())), default=1)
    if isinstance(vectors, list):
        return max(map(_longest, vectors), default=1)
    return _longest_exact(vectors)


def _longest_exact(vector: Exact) -> int:
    of_root = {place: bits_of(root) for place, root in vector.roots.items()}
    numbers = {(number, of_root.get(place, 0)) for place, number in enumerate(vector.numerators)}
    return max(bits_of(Fraction(number, vector.denominator)) + root for number, root in numbers)


def bits_of(number: float | Fraction) -> int:
    """How many bits a number takes: those of its mantissa, as in a float, if it is finite in binary; otherwise those of
    its numerator and denominator.

    >>> from fractions import Fraction
    >>> from turing.comparison import bits_of
    >>> bits_of(0), bits_of(1), bits_of(-6), bits_of(Fraction(5, 1024)), bits_of(Fraction(2, 3))
    (1, 1, 2, 3, 4)

    Chapter: :doc:`/book/table`.
    """
    if not isinstance(number, int | float | Fraction) or (isinstance(number, float) and not isfinite(number)):
        raise ValueError(f"A finite int, float or Fraction has bits, and {number!r} was given.")
    over, under = number.as_integer_ratio()
    over = abs(over)
    if under & (under - 1):
        return over.bit_length() + under.bit_length()
    return over.bit_length() - (over & -over).bit_length() + 1 if over else 1
