"""The widgets of the book. Each works in a notebook, and in a built page without a kernel.

In a notebook some attributes are **live**: they follow the reader, and setting one moves the widget. ``observe`` calls
a function whenever such an attribute changes:

>>> from turing.widgets import Stepper
>>> stepper = Stepper(turing.zoo["binary_increment"], "1011")
>>> stepper.observe(lambda change: print(change.new), "step")
>>> stepper.step = 3
3
"""

from turing.widgets.adder import Adder
from turing.widgets.attention_explorer import AttentionExplorer
from turing.widgets.average_compass import AverageCompass
from turing.widgets.cantor_zoom import CantorZoom
from turing.widgets.circuit_tape import CircuitTape
from turing.widgets.disguise_panel import DisguisePanel
from turing.widgets.gate_playground import GatePlayground
from turing.widgets.lab import Lab
from turing.widgets.lock_step import LockStep
from turing.widgets.noise_dial import NoiseDial
from turing.widgets.norm_circle import NormCircle
from turing.widgets.pipeline_inspector import PipelineInspector
from turing.widgets.predict import Predict
from turing.widgets.proof_dial import ProofDial
from turing.widgets.puzzle import Puzzle
from turing.widgets.queue_wheel import QueueWheel
from turing.widgets.same_step import SameStep
from turing.widgets.stack_stepper import StackStepper
from turing.widgets.stepper import Stepper
from turing.widgets.weight_reader import WeightReader

__all__ = [
    "Adder",
    "AttentionExplorer",
    "AverageCompass",
    "CantorZoom",
    "CircuitTape",
    "DisguisePanel",
    "GatePlayground",
    "Lab",
    "LockStep",
    "NoiseDial",
    "NormCircle",
    "PipelineInspector",
    "Predict",
    "ProofDial",
    "Puzzle",
    "QueueWheel",
    "SameStep",
    "StackStepper",
    "Stepper",
    "WeightReader",
]
