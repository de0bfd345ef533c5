"""The pipeline inspector."""

from turing.widgets.pipeline_inspector.widget import PipelineInspector

__all__ = ["PipelineInspector"]
