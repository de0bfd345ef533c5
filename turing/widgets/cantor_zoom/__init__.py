"""The Cantor zoom."""

from turing.widgets.cantor_zoom.widget import CantorZoom

__all__ = ["CantorZoom"]
