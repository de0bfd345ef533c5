"""Widgets of the book, each live in a kernel and alive in a page without one."""

from turing.widgets.adder import Adder
from turing.widgets.attention_explorer import AttentionExplorer
from turing.widgets.average_compass import AverageCompass
from turing.widgets.cantor_zoom import CantorZoom
from turing.widgets.gate_playground import GatePlayground
from turing.widgets.lab import Lab
from turing.widgets.norm_circle import NormCircle
from turing.widgets.pipeline_inspector import PipelineInspector
from turing.widgets.predict import Predict
from turing.widgets.puzzle import Puzzle
from turing.widgets.stack_stepper import StackStepper
from turing.widgets.stepper import Stepper

__all__ = [
    "Adder",
    "AttentionExplorer",
    "AverageCompass",
    "CantorZoom",
    "GatePlayground",
    "Lab",
    "NormCircle",
    "PipelineInspector",
    "Predict",
    "Puzzle",
    "StackStepper",
    "Stepper",
]
