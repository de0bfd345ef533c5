"""The attention explorer."""

from turing.widgets.attention_explorer.widget import AttentionExplorer

__all__ = ["AttentionExplorer"]
