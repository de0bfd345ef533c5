"""The weight puzzle."""

from turing.widgets.puzzle.widget import Puzzle

__all__ = ["Puzzle"]
