"""The widgets of the book in the forms that a page may have, and what they hand to a page."""

import json
import re
from functools import cache

import turing
from turing import TuringMachine
from turing.stack_machine import StackMachine, balanced
from turing.widgets import (
    Adder,
    AttentionExplorer,
    AverageCompass,
    CantorZoom,
    GatePlayground,
    Lab,
    NormCircle,
    PipelineInspector,
    Predict,
    Puzzle,
    StackStepper,
    Stepper,
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
        "GatePlayground": lambda: [
            GatePlayground(), GatePlayground("XOR"), GatePlayground("OR", (-2.75, -2.75), -2.75, True),
        ],
        "Lab": lambda: [Lab(PAPER, "B(())E"), Lab(NAMED)],
        "NormCircle": lambda: [NormCircle(), NormCircle("B(((())))E", step=14, arithmetic="exact")],
        "Predict": lambda: [
            Predict("What is left of `B()E`?", ["`B**E`", "`B()E`"], 0, "Pairs become `*`."),
            Predict("W" * 90, ["`" + "x" * 80 + "`", HOSTILE], 1, "y" * 90),
        ],
        "Puzzle": lambda: [Puzzle("majority"), Puzzle("flip_delta"), Puzzle("multiplier"), Puzzle("embedded")],
        "StackStepper": lambda: [
            StackStepper("(())", balanced()), StackStepper(["one"] * 3, PARITY, 1), StackStepper(["<i>"], STACKS),
        ],
        "Stepper": lambda: [
            Stepper(PAPER, "B()E"), Stepper(LONG, ("one",)), Stepper(NAMED), Stepper(turing.zoo["bb4"]),
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
