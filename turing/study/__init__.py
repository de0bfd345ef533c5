"""Find where a run first goes wrong, damage a network, train it, and measure its loss.

Chapter: :doc:`/book/break-restore-train`.
"""

from turing.decompiler.damages import Dropout, Flip, Gaussian, Prune, Round, normal, uniform
from turing.study.copies import Copies
from turing.study.curvature import Bend, along, bend, direction, kinks
from turing.study.failure import Failure, deviations, first_failure, first_failures
from turing.study.losses import Lesson, accuracy, cross_entropy, forced, lesson, rolled, squares
from turing.study.sweep import perturbed, read_table, sweep, write_table
from turing.study.training import Change, difference, distance, train
from turing.study.words import parentheses

__all__ = [
    "Bend",
    "Change",
    "Copies",
    "Dropout",
    "Failure",
    "Flip",
    "Gaussian",
    "Lesson",
    "Prune",
    "Round",
    "accuracy",
    "along",
    "bend",
    "cross_entropy",
    "deviations",
    "difference",
    "direction",
    "distance",
    "first_failure",
    "first_failures",
    "forced",
    "kinks",
    "lesson",
    "normal",
    "parentheses",
    "perturbed",
    "read_table",
    "rolled",
    "squares",
    "sweep",
    "train",
    "uniform",
    "write_table",
]
