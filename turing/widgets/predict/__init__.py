"""Predict first."""

from turing.widgets.predict.widget import Predict

__all__ = ["Predict"]
