"""The noise dial."""

from turing.widgets.noise_dial.widget import NoiseDial

__all__ = ["NoiseDial"]
