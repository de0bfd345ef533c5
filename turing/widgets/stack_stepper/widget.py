"""The SS95 stepper: a stack network at work, its stacks as numbers, and the room that is left in them."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any

import traitlets

from turing.cantor import Cantor
from turing.stack_machine import StackConfiguration, StackMachine, balanced
from turing.widgets.base import Widget, joined, style

if TYPE_CHECKING:
    from turing.ss import StackNetwork

__all__ = ["StackStepper"]

MAX_SYMBOLS, MAX_STEPS, MAX_RULES = 120, 300, 40
LINES = 16  # of the run, in the fallback
ARITHMETICS = ("float32", "float64", "exact")
# For so many stacks the networks to choose from: version, base and digits. The last has a power of 2 for a base.
NETWORKS = {
    1: ((4, 4, (1, 3)), (1, 10, (5, 9)), (1, 4, (1, 3))),
    2: ((4, 4, (1, 3)), (1, 40, (31, 39)), (1, 16, (11, 15))),
}
COLUMN = {
    4: "What the step starts from: the state, and each stack as one number.",
    1: "What the step starts from: the detectors and the stacks that the last one left.",
}
SAYS = {
    "F4": "Reads. State and stacks pass, and each stack gets two places: some = σ({b}q) is 1 if it has a symbol, and "
    "one = σ({b}q\u00a0−\u00a0{read}) is 1 if the top one is {one}.",
    "F3": "Detects. One place for each rule, 1 if the state and the tops are those of the rule.",
    "F2": "Applies. The next state, and each stack as each operation would make it. The detected rule takes 1 from "
    "the operations that it does not name, and σ makes them 0.",
    "F1": "Puts together. The state passes, and a stack is the sum of its four candidates, three of which are 0.",
    "step": "All at once. Each stack is made by all four operations, and three of the results are 0. Each kind of step "
    "has detectors. They are 1 if the step was of that kind, and the new stacks begin with these symbols or higher "
    "ones: – is the lowest, then {zero}, then {one}.",
}


def _json(machine: StackMachine, _widget: object = None) -> dict:
    """The machine for the ES module, rules in the order of ``machine.rules``."""
    from turing.ss.four import operation_name

    return {
        "states": list(machine.states),
        "initial": machine.initial,
        "terminal": sorted(machine.terminal),
        "symbols": list(machine.symbols),
        "p": machine.p,
        "rules": [
            [list(key), [rule[0], *(operation_name(machine, part) for part in rule[1:])]]
            for key, rule in machine.rules.items()
        ],
    }


class StackStepper(Widget):
    """Step through a run of a network with stacks, and look at every number of it.

    - ``word``: what is on stack 0 at first, its first symbol on top
    - ``machine``: a :class:`~turing.stack_machine.StackMachine` with 1 or 2 stacks; by default one that checks
      parentheses, :func:`turing.stack_machine.balanced`
    - ``version``: 4 for the layers F4, F3, F2 and F1, or 1 for a single layer
    - ``arithmetic``: ``"float32"``, ``"float64"`` or ``"exact"``. Where a float would lose a digit, the page says so
      and goes on exactly.
    - ``base``: that of the stacks. Version 4 has base 4; version 1 has 40 or 16 for two stacks, and 10 or 4 for one.

    The page evaluates the network itself. ``layer`` is the name of the layer that is shown. All but ``machine`` are
    live, and so is ``step``.

    Example::

        StackStepper("()", version=1, arithmetic="exact")

    Chapter: :doc:`/book/ss95`.
    """

    _esm = joined("stack_stepper/widget.js")
    _css = style("stack_stepper/widget.css")

    machine = traitlets.Instance(StackMachine, read_only=True).tag(sync=True, to_json=_json)
    networks: traitlets.List[dict] = traitlets.List(read_only=True).tag(sync=True)
    max = traitlets.Dict({"symbols": MAX_SYMBOLS, "steps": MAX_STEPS}, read_only=True).tag(sync=True)
    # Plain traits: the validators below say what is expected.
    word: traitlets.TraitType[Any, Any] = traitlets.TraitType("").tag(sync=True)
    step: traitlets.TraitType[int, int] = traitlets.TraitType(0).tag(sync=True)
    layer: traitlets.TraitType[str, str] = traitlets.TraitType("F3").tag(sync=True)
    version: traitlets.TraitType[int, int] = traitlets.TraitType(4).tag(sync=True)
    base: traitlets.TraitType[int, int] = traitlets.TraitType(4).tag(sync=True)
    arithmetic: traitlets.TraitType[str, str] = traitlets.TraitType("float32").tag(sync=True)

    def __init__(
        self,
        word: Iterable[str] = "(())",
        machine: StackMachine | None = None,
        version: int = 4,
        arithmetic: str = "float32",
        base: int | None = None,
    ):
        machine = balanced() if machine is None else machine
        if not isinstance(machine, StackMachine):
            raise TypeError(
                f"StackStepper takes a StackMachine, such as turing.stack_machine.balanced(), and an object of type "
                f"{type(machine).__name__} was given."
            )
        if machine.p not in NETWORKS or len(machine.rules) > MAX_RULES:
            raise ValueError(
                f"StackStepper shows machines with 1 or 2 stacks and at most {MAX_RULES} rules, and this one has "
                f"{machine.p} stacks and {len(machine.rules)} rules. Take a smaller one."
            )
        from turing.ss import StackNetwork

        nets = [StackNetwork(machine, *which) for which in NETWORKS[machine.p]]
        self.set_trait("machine", machine)
        self.set_trait("networks", [_exported(net) for net in nets])
        super().__init__()
        self.version, self.arithmetic, self.word = version, arithmetic, word
        if base is not None:
            self.base = base

    def _configurations(self) -> list[StackConfiguration]:
        """The run of the machine, as far as it is shown."""
        return list(self.machine.trace(self.word, max_steps=MAX_STEPS))

    def _bases(self) -> list[int]:
        return [base for version, base, _ in NETWORKS[self.machine.p] if version == self.version]

    def _layers(self) -> list[str]:
        return ["column", *(("F4", "F3", "F2", "F1") if self.version == 4 else ("step",))]

    @traitlets.validate("word")
    def _valid_word(self, proposal: dict) -> str | list[str]:
        given = proposal["value"]
        if not isinstance(given, Iterable):
            raise ValueError(f"A word is a string or a sequence of symbols, and {given!r} was given.")
        word = list(self.machine.stacks(given)[0])
        if len(word) > MAX_SYMBOLS:
            raise ValueError(f"A word has at most {MAX_SYMBOLS} symbols here, and {len(word)} were given.")
        return word if any(len(symbol) > 1 for symbol in self.machine.symbols) else "".join(word)

    @traitlets.validate("step")
    def _valid_step(self, proposal: dict) -> int:
        step, last = proposal["value"], len(self._configurations()) - 1
        if isinstance(step, bool) or not isinstance(step, int) or not 0 <= step <= last:
            raise ValueError(f"step is an integer from 0 to {last} on this word, and {step!r} was given.")
        return step

    @traitlets.validate("version")
    def _valid_version(self, proposal: dict) -> int:
        if proposal["value"] not in (4, 1) or isinstance(proposal["value"], bool):
            raise ValueError(
                f"version is 4, for four layers a step, or 1, for one layer, and {proposal['value']!r} was given."
            )
        return proposal["value"]

    @traitlets.validate("base", "layer", "arithmetic")
    def _valid_choice(self, proposal: dict) -> object:
        name, value = proposal["trait"].name, proposal["value"]
        known: Any = {"base": self._bases, "layer": self._layers, "arithmetic": lambda: ARITHMETICS}[name]()
        if value not in known or isinstance(value, bool):
            where = "" if name == "arithmetic" else f" in version {self.version}"
            raise ValueError(f"{name} is {' or '.join(map(str, known))}{where}, and {value!r} was given.")
        return value

    @traitlets.observe("version")
    def _fit(self, _change: dict) -> None:
        if self.base not in self._bases() or "base" not in self._property_lock:
            self.base = self._bases()[0]
        if self.layer not in self._layers():
            self.layer = self._layers()[-1]

    @traitlets.observe("word")
    def _start_again(self, _change: dict) -> None:
        if "word" not in self._property_lock:  # otherwise it came from the page, together with its step
            self.step = 0

    def fallback(self) -> str:
        rows, stopped = self._followed()
        shown = rows[:LINES] if len(rows) > LINES + 1 else rows
        names = ["step", "state", *(f"{name} {i}" for i in range(self.machine.p) for name in ("stack", "number"))]
        head = "".join(f"<th>{name}</th>" for name in names)
        body = "\n".join("<tr>" + "".join(f"<td>{escape(part)}</td>" for part in row) + "</tr>" for row in shown)
        notes = [f"{len(rows) - len(shown)} more steps lead to {rows[-1][1]}."] if len(shown) < len(rows) else []
        notes += [f"{stopped} From there on the numbers are exact."] if stopped else []
        layers = "Four layers" if self.version == 4 else "One layer"
        return (
            f"<p>{layers} a step, base {self.base}, {self.arithmetic}.</p>\n"
            f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n"
            + "".join(f"<p>{escape(note)}</p>\n" for note in notes)
            + "<p>With scripts on, the page runs the network on words of your own and shows every layer; in Python, "
            "<code>turing.ss.StackNetwork</code> does.</p>"
        )

    def _network(self, arithmetic: str) -> StackNetwork:
        from turing.ss import StackNetwork

        digits = next(d for v, b, d in NETWORKS[self.machine.p] if (v, b) == (self.version, self.base))
        return StackNetwork(self.machine, self.version, self.base, digits, arithmetic)

    def _followed(self) -> tuple[list[list[str]], str]:
        """Each step with its state, and the stacks in symbols and as the network's numbers; and what stops floats."""
        moments, last = self._configurations(), "F1" if self.version == 4 else "step"
        found: list[list[str]] = []
        stopped = ""
        for arithmetic in dict.fromkeys((self.arithmetic, "exact")):
            net, numbers = self._network(arithmetic), []
            try:
                numbers.append(net.stacks(net.initial(self.word)))
                for _, (vectors, _) in zip(moments[1:], net.follow(self.word), strict=False):
                    numbers.append(net.stacks(vectors[last]))
            except ArithmeticError as error:
                stopped = str(error)
            found += [[f"{x:.9g}" if isinstance(x, float) else str(x) for x in row] for row in numbers[len(found) :]]
            if len(found) == len(moments):
                break
        rows = [
            [str(now.step), now.state, *(part for pair in zip(_spelled(now), row, strict=True) for part in pair)]
            for now, row in zip(moments, found, strict=True)
        ]
        return rows, stopped

    def __repr__(self) -> str:
        return f"StackStepper({self.word!r}, version={self.version}, base={self.base}, arithmetic={self.arithmetic!r})"


def _spelled(now: StackConfiguration) -> list[str]:
    return [("" if all(len(symbol) == 1 for symbol in stack) else " ").join(stack) or "–" for stack in now.stacks]


def _exported(net: StackNetwork) -> dict:
    """A network for the ES module, in exact arithmetic, from which the page reads any other; and what to say of it."""
    from turing.ir import to_dict

    code, (zero, one) = net.code, net.machine.symbols
    codes = {name: Cantor(code.base, code.digits, name) for name in ARITHMETICS}
    words = {"b": code.base, "read": code.digits[0] + 1, "zero": zero, "one": one}
    return {
        "version": net.version,
        "base": code.base,
        "digits": list(code.digits),
        "depth": {name: number.depth for name, number in codes.items()},
        "full": {name: number.full("#") for name, number in codes.items()},  # the depth goes where the # is
        "classes": [list(kind) for kind in net.classes] if net.version == 1 else [],
        "says": {"column": COLUMN[net.version]} | {name: SAYS[name].format(**words) for name in net.layers},
        "file": to_dict(net),
    }
