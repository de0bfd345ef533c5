"""The WCM21 transformer of a machine: one forward pass is one step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from numbers import Integral
from typing import Any

import torch
from torch import Tensor, nn

from turing import arguments, ir
from turing.adders import bits_of
from turing.attention import KAPPA
from turing.construction import Construction, Expectation, Plan, Reading, State, register
from turing.layout import Layout, state_vector
from turing.machine import Configuration, TuringMachine
from turing.wcm import lookahead, pipeline
from turing.wcm.pipeline import BinarySearchStep, GetInitialSymbol, GetLastWrittenSymbol, IndicateVisitedPosition
from turing.wcm.restoring import FEEDBACKS, after_column, before_heads, numbers, with_restored

__all__ = ["WCM21", "CapacityError"]

ADDERS = {"ripple": pipeline, "lookahead": lookahead}  # the modules before and after the heads
FEEDBACK: dict[str, Any] = {"restoring": False, "feedback": "analog"}  # the paper's; other choices are options
MAX_BITS = 64  # a slip of the finger should not fill the memory
STEPS = {"torch": 1_000, "indexed": 1_000_000, "native": 100_000_000}  # to compile for, unless a run says otherwise
UNCLEAR = 0.25  # how far from 0 and 1 a number may be that is read as one of them


class CapacityError(OverflowError):
    """A run needs more cells than the network can tell apart or hold, and from this step on it could be wrong.

    In ``wcm21`` two cells have the same position bits: compile with more ``bits``. In ``conv`` the head leaves the row:
    compile with more ``cells``. In ``liwang25`` a ``window`` that you have given is full: give a wider one, or none.

    ``li24`` raises a plain ``OverflowError`` where the head leaves its cells; to catch both, catch ``OverflowError``.

    Chapter: :doc:`/book/wcm21`.
    """


@register
class WCM21(Construction):
    """The transformer of Wei, Chen and Ma for a Turing machine: ``forward`` is one step of it. The options:

    - ``T``: the maximum number of steps of a run. It has no default. A large T costs little: each doubling adds one
      position bit, so ``T=2**40`` takes 40 bits, and with ``adder="lookahead"`` such a network compiles in less than a
      second. For a still larger T you need another network.
    - ``bits``: how many bits a position has, from ⌈log₂ T⌉, the default, to 64. With ``bits`` bits, 2^bits cells can be
      told apart, and a run that needs more raises :class:`~turing.wcm.CapacityError`. One bit more than the default is
      enough for every word of at most T cells.
    - ``kappa``: the factor κ on attention scores before the softmax. At 9999, the default, attention is hard; ``run``
      refuses a value too small for its number type. In float32, 208 is enough.
    - ``average``: ``"ratio"``, the default, divides two sums, which is exact. ``"literal"`` is the softmax as the paper
      writes it, which is rounded where several keys tie; take it only to study that.
    - ``adder``: ``"ripple"``, the default, has the paper's layers, and ``"lookahead"`` three ReLU layers a step. The
      columns and the runs are the same. Lookahead has about a tenth of the weights at T = 128, and is the better
      choice unless you study the paper's layers.
    - ``restoring``: True puts restoring layers before the heads and after each column, so that noise does not grow from
      step to step. The default is False.
    - ``feedback``: ``"analog"``, the default, feeds a column back as it is; ``"token"`` first rounds each of its places
      to 0 or 1.

    >>> import turing
    >>> from turing.wcm import WCM21
    >>> net = WCM21(turing.zoo["balanced_parentheses"], T=100)
    >>> net.layout.width, list(net.pipeline)[:3], net.run("B()E").state
    (59, ['transition', 'preprocess', 'adder0'], 'T')

    Chapter: :doc:`/book/wcm21`.
    """

    construction = "wcm21"
    T: int
    loop = ir.Loop("column", (("pos1", "step"),))

    def __init__(
        self,
        machine: TuringMachine,
        T: int,
        bits: int | None = None,
        kappa: float = KAPPA,
        average: str = "ratio",
        adder: str = "ripple",
        restoring: bool = False,
        feedback: str = "analog",
    ):
        super().__init__()
        T = _plain(T)
        self.machine, self.T, self.bits = machine, T, _bits(machine, T, _plain(bits))
        if not isinstance(adder, str) or adder not in ADDERS:
            raise ValueError(f"An adder is one of {', '.join(ADDERS)}, and {adder!r} was given.")
        if not isinstance(restoring, bool) or feedback not in FEEDBACKS:
            raise ValueError(
                f"restoring is True or False, and feedback one of {', '.join(FEEDBACKS)}; "
                f"restoring={restoring!r} and feedback={feedback!r} were given."
            )
        self.layout = layout = state_vector(machine, self.bits)
        size = ADDERS[adder].numbers(machine, layout) + _numbers_of_heads(machine, layout)
        size += numbers(layout, restoring, feedback)
        arguments.network_size(repr(machine), f"in wcm21 with {adder} adder", size)
        self.options = {"T": T, "bits": self.bits, "kappa": kappa, "average": average, "adder": adder}
        more = {"restoring": restoring, "feedback": feedback}
        self.options |= {name: more[name] for name, usual in FEEDBACK.items() if more[name] != usual}
        options: dict[str, Any] = {"kappa": kappa, "average": average}
        self.pipeline = nn.ModuleDict(
            {
                **ADDERS[adder].pre_attention(machine, layout),
                **before_heads(layout, restoring),
                "visited": IndicateVisitedPosition(layout, **options),
                **{f"search{j}": BinarySearchStep(layout, j, **options) for j in reversed(range(self.bits))},
                "last": GetLastWrittenSymbol(layout, **options),
                "initial": GetInitialSymbol(layout, **options),
                **ADDERS[adder].post_attention(machine, layout),
                **after_column(layout, restoring, feedback),
            }
        )

    def encode(self, word: Iterable[str]) -> Tensor:
        """The tape as it is at the start, a row for each cell of the word: symbol and position. Shape: ``(n, w)``.

        Chapter: :doc:`/book/wcm21`.
        """
        tape = self.machine.tape(word)
        rows = torch.zeros(len(tape), self.layout.width)
        for cell, symbol in tape.items():
            rows[cell, self.layout.sym1[symbol]] = 1
            rows[cell, self.layout.pos2.slice] = bits_of(cell, self.bits)
        return rows.to(self._like)

    def initial(self, word: Iterable[str]) -> Tensor:
        """The first column: initial state, first symbol, step 0, position 0. Shape: ``(w,)``.

        Chapter: :doc:`/book/wcm21`.
        """
        column = torch.zeros(self.layout.width)
        column[self.layout.st[self.machine.initial]] = 1
        column[self.layout.sym1[self.machine.tape(word).get(0, self.machine.blank)]] = 1
        return column.to(self._like)

    def read(self, state: State) -> list[Reading | None]:
        """What the columns of a state say.

        Chapter: :doc:`/book/wcm21`.
        """
        return list(self.read_columns(state.x))

    def read_columns(self, columns: Tensor) -> list[Reading]:
        """What columns ``(batch, w)`` say: for each a :class:`~turing.runs.Reading`, with its state and symbols.

        Chapter: :doc:`/book/wcm21`.
        """
        layout, machine = self.layout, self.machine
        unclear = ~(torch.minimum(columns.abs(), (columns - 1).abs()) <= UNCLEAR)
        if unclear.any():
            row, place = unclear.nonzero()[0].tolist()
            raise ArithmeticError(
                f"{layout.name(place)} is {columns[row, place].item():g}, and neither 0 nor 1. "
                f"turing.verify finds the step and the layer where that begins."
            )
        on = columns > 0.5
        position = on[:, layout.pos2.slice].tolist()
        move = (on[:, layout.scr5["R"]].int() - on[:, layout.scr5["L"]].int()).tolist()
        parts = [on[:, part.slice] for part in (layout.st, layout.sym1, layout.sym2)]
        found = [part.int().argmax(-1).tolist() for part in parts]
        counts = torch.stack([part.sum(-1) for part in parts], dim=-1).tolist()
        readings = []
        for q, a, b, count, d, bits in zip(*found, counts, move, position, strict=True):
            if count[0] == 0:
                readings.append(Reading(None))
                continue
            if count != [1, 1, 1]:
                raise ArithmeticError(
                    "st, sym1 and sym2 should have one 1 each, and they have {}, {} and {}.".format(*count)
                )
            names = machine.states[q], machine.symbols[a], machine.symbols[b]
            readings.append(Reading(*names, d, sum(bit << k for k, bit in enumerate(bits))))
        return readings

    def guard(self, word: Sequence[str], now: Configuration, reading: Reading | None, notes: dict[str, Any]) -> None:
        """Raise where the position bits of two cells would be the same, or where the bits do not fit the moves."""
        size = 2**self.bits
        if reading is None:
            if len(word) > size:
                cells, bits = arguments.count(len(word), "cell"), arguments.count(self.bits, "position bit")
                raise CapacityError(
                    f"The word has {cells}, and {bits} can tell {size} apart. "
                    f"Compile with bits={(len(word) - 1).bit_length()} or more."
                )
            notes["cells"] = {cell: cell for cell in range(max(len(word), 1))}  # by position bits
            return
        cell, position = now.head + reading.move, reading.position
        if cell % size != position:
            raise ArithmeticError(f"the position bits say {position}, and the moves lead to cell {cell}.")
        if (other := notes["cells"].setdefault(position, cell)) != cell:
            raise CapacityError(
                f"the head comes to cell {cell}, which has the position bits of cell {other}: "
                f"{size} cells can be told apart. Compile with more bits than {self.bits}."
            )

    def expected(
        self, machine: TuringMachine, word: Iterable[str], max_steps: int | None = None
    ) -> Iterator[Expectation]:
        """What ``vectors`` has to be for a machine with these states and symbols, from the machine's own trace
        and without weights: for each step and module the places that are not 0, by name, with their values.

        Chapter: :doc:`/book/wcm21`.
        """
        self.same_names(machine)
        specification = ADDERS[self.options["adder"]].specification
        more = FEEDBACK | {name: self.options[name] for name in FEEDBACK if name in self.options}
        for number, step in enumerate(specification(machine, self.bits, word, self._limit(max_steps)), start=1):
            yield Expectation(number, with_restored(step, self.layout, **more))

    @classmethod
    def fitting(cls, given: dict[str, Any], plan: Plan) -> dict[str, Any]:
        """T for the steps of a run, bits so that no two cells have the same position, and an adder for the engine."""
        usual = STEPS.get(plan.engine or "torch", STEPS["torch"])
        options = {"T": plan.max_steps or usual, "adder": "lookahead" if plan.engine else "ripple"} | given
        if plan.resumable and "T" not in given:  # with more steps or fewer, in the same network
            options["T"] = max(options["T"], usual)
        if plan.word is not None and "bits" not in given:
            options["bits"] = min((options["T"] + max(len(plan.word), 1) - 1).bit_length(), MAX_BITS)
        return options

    def kept(self, state: State) -> list[tuple[str, int]]:
        """The column of the last write on the cell; the row of the word, if there was none.

        Chapter: :doc:`/book/table`.
        """
        rows = state.tape.shape[-2]
        if not state.passes:
            return [("initial", 0)] if rows else []
        if state.vectors["visited"][..., self.layout.scr4["visited"]].item() > 0.5:
            return [("last", self._looks_at(state, "last"))]
        row = self._looks_at(state, "initial")
        return [("initial", row)] if row < rows else []

    def detectors(self) -> list[dict[str, Any]]:
        """The place of the detector of each rule: of its state and symbol.

        Chapter: :doc:`/book/research`.
        """
        ripple = self.options["adder"] == "ripple"
        vector = "transition.0" if ripple else "detect"
        module: Any = self.pipeline[vector.split(".")[0]]
        pairs = [(q, a) for q in self.machine.states for a in self.machine.symbols]
        places = dict(zip(pairs, module.layouts[1].det.names(), strict=True))
        return [
            {"rule": [*pair, *rule], "vector": vector, "detector": places[pair]}
            for pair, rule in self.machine.delta.items()
        ]

    def about(self) -> dict[str, str]:
        """The network in a few rows, for people."""
        steps, bits = arguments.count(self.T, "step"), arguments.count(self.bits, "position bit")
        more = ", restoring" if self.options.get("restoring") else ""
        more += ", token feedback" if self.options.get("feedback") == "token" else ""
        return super().about() | {"network": f"wcm21 for {steps}, {bits}, {self.options['adder']} adder{more}"}

    @property
    def wide(self) -> Layout:
        """The layout while the adders of the paper work."""
        return self.layout_of("preprocess")


def _numbers_of_heads(machine: TuringMachine, layout: Layout) -> int:
    width, bits, symbols = layout.width, len(layout.pos1), len(machine.symbols)
    compared = [bits, *(2 * bits - j for j in range(bits)), bits, bits]
    fetched = [1] * (bits + 1) + [symbols] * 2
    return sum((2 * width + 3) * (n + 1) + (2 * width + 2) * d + width for n, d in zip(compared, fetched, strict=True))


def _plain(number: Any) -> Any:
    """An integer of NumPy as one of Python; anything else as it is."""
    return int(number) if isinstance(number, Integral) and not isinstance(number, bool) else number


def _bits(machine: TuringMachine, T: int, bits: int | None) -> int:
    if not isinstance(machine, TuringMachine):
        raise TypeError(f"A TuringMachine is compiled here, and {machine!r} was given.")
    if isinstance(T, bool) or not isinstance(T, int) or not 1 <= T <= 2**MAX_BITS:
        raise ValueError(
            f"T is the maximal number of steps, an integer from 1 up (to 2^{MAX_BITS}), and T={T!r} was given."
        )
    least = max(1, (T - 1).bit_length())
    if bits is None:
        return least
    if isinstance(bits, bool) or not isinstance(bits, int) or not least <= bits <= MAX_BITS:
        raise ValueError(
            f"bits={bits!r} was given. T = {T:,} steps are numbered with {arguments.count(least, 'bit')}: "
            f"give {least} or more (to {MAX_BITS}), or none."
        )
    return bits
