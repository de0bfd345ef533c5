"""The disguise panel."""

from turing.widgets.disguise_panel.widget import DisguisePanel

__all__ = ["DisguisePanel"]
