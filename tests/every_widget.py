"""The widgets of the book in the forms that a page may have, and what they hand to a page."""

import json
import re
from functools import cache

import turing
from turing import TuringMachine
from turing.circuits import Circuit
from turing.dnf import Transition
from turing.layout import state_vector
from turing.stack_machine import StackMachine, balanced
from turing.widgets import (
    Adder,
    AttentionExplorer,
    AverageCompass,
    CantorZoom,
    CircuitTape,
    DisguisePanel,
    GatePlayground,
    Lab,
    LockStep,
    NoiseDial,
    NormCircle,
    PipelineInspector,
    Predict,
    ProofDial,
    Puzzle,
    QueueWheel,
    SameStep,
    StackStepper,
    Stepper,
    WeightReader,
)
from turing.widgets.base import Widget

PAPER = turing.zoo["balanced_parentheses"]
LONG = TuringMachine(
    [("go", "one", "go", "zero", 1), ("go", "zero", "back", "one", -1), ("back", "zero", "end", "one", 0)],
    "go", {"end"}, "zero",
)  # fmt: skip
HOSTILE = "</script><b>bold</b>"
NAMED = TuringMachine(
    [(HOSTILE, "_", "<!--" * 9, "one " * 9, 1), ("<!--" * 9, "_", HOSTILE, "`&amp;", -1)], HOSTILE, set(), "_"
)
PARITY = StackMachine(
    {("even", "one"): ("odd", "pop"), ("odd", "one"): ("even", "pop"), ("even", None): ("T", "noop")},
    "even", {"T"}, ["zero", "one"],
)  # fmt: skip
STACKS = StackMachine({(HOSTILE, "<i>", "*"): ("<!--" * 9, "pop", "push &amp;")}, HOSTILE, {"end"}, ["<i>", "&amp;"])


@cache
def every_form(name: str) -> list[Widget]:
    """A widget in several forms, the usual one first; nobody changes them."""
    if name == "PipelineInspector":
        nets = (turing.compile(PAPER, "wcm21", T=100), turing.compile(NAMED, "wcm21", T=8, adder="lookahead"))
        return [PipelineInspector(nets[0], "B(())E"), PipelineInspector(nets[1], "")]
    return {
        "Adder": lambda: [Adder(3), Adder(8, "sum", layer=13), Adder(1), Adder(8, layer=1)],
        "AttentionExplorer": lambda: [AttentionExplorer(3), AttentionExplorer(8, kappa=20), AttentionExplorer(1)],
        "AverageCompass": lambda: [AverageCompass(), AverageCompass("parentheses", i=40, arithmetic="exact")],
        "CantorZoom": lambda: [CantorZoom("1"), CantorZoom("01" * 16, 40, (31, 39), "float64"), CantorZoom()],
        "CircuitTape": lambda: [
            CircuitTape(Circuit.of_table("01101001", "a b c"), "101", gate=2),
            CircuitTape(Circuit([HOSTILE, "long" * 9], {"x": ("XOR", HOSTILE, "long" * 9)}), "11", 1, 1),
        ],
        "DisguisePanel": lambda: [DisguisePanel(), DisguisePanel(NAMED, "rotated", 0.05, 3)],
        "GatePlayground": lambda: [
            GatePlayground(), GatePlayground("XOR"), GatePlayground("OR", (-2.75, -2.75), -2.75, True),
        ],
        "Lab": lambda: [Lab(PAPER, "B(())E"), Lab(NAMED)],
        "LockStep": lambda: [LockStep(PAPER, "B(())E", page="lab.html"), LockStep(turing.zoo["bb3"])],
        "NoiseDial": lambda: [NoiseDial(), NoiseDial(-2.0, seed=7, restoring=True)],
        "NormCircle": lambda: [NormCircle(), NormCircle("B(((())))E", step=5, arithmetic="exact")],
        "Predict": lambda: [
            Predict("What is left of `B()E`?", ["`B**E`", "`B()E`"], 0, "Pairs become `*`."),
            Predict("W" * 90, ["`" + "x" * 80 + "`", HOSTILE], 1, "y" * 90),
        ],
        "ProofDial": lambda: [
            ProofDial(turing.prove(turing.compile(machine, "wcm21", T=4, adder="lookahead")), weights)
            for machine, weights in (
                (PAPER, {"value": ("pipeline.visited.value.bias", 0), "write": ("pipeline.last.write.bias", 0)}),
                (NAMED, {HOSTILE: ("pipeline.visited.value.bias", 0)}),
            )
        ],
        "Puzzle": lambda: [Puzzle("majority"), Puzzle("flip_delta"), Puzzle("multiplier"), Puzzle("embedded")],
        "QueueWheel": lambda: [QueueWheel(), QueueWheel(["one"] * 3, 9, 5, LONG), QueueWheel("", machine=NAMED)],
        "SameStep": lambda: [SameStep(), SameStep("named", machines={"named": (NAMED, ""), "long": (LONG, ("one",))})],
        "StackStepper": lambda: [
            StackStepper("(())", balanced()), StackStepper(["one"] * 3, PARITY, 1), StackStepper(["<i>"], STACKS),
        ],
        "Stepper": lambda: [
            Stepper(PAPER, "B()E"), Stepper(LONG, ("one",)), Stepper(NAMED), Stepper(turing.zoo["bb4"]),
        ],
        "WeightReader": lambda: [
            WeightReader(Transition(machine, state_vector(machine, 3)), machine, word)
            for machine, word in ((PAPER, "B()E"), (NAMED, ()))
        ],
    }[name]()  # fmt: skip


def bundle(widget: Widget) -> dict:
    return widget._repr_mimebundle_(include=None, exclude=None)[0]


def html(widget: Widget) -> str:
    """What a page gets whose first widget this is."""
    Widget.new_page()
    return bundle(widget)["text/html"]


def state(widget: Widget) -> dict:
    return json.loads(re.search(r"const state = (.*), listeners", html(widget)).group(1))
