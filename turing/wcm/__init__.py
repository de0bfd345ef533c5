"""The transformer of Wei, Chen and Ma (2021), section 5 of the paper.

Each step of the machine adds a column, and attention finds the last visit to a cell by the bits of its position.

Chapter: :doc:`/book/wcm21`.
"""

from turing.construction import Reading
from turing.wcm.network import WCM21, CapacityError
from turing.wcm.pipeline import (
    ArrangeSymbols,
    BinarySearchStep,
    CombineSymbols,
    FullAdder,
    GetInitialSymbol,
    GetLastWrittenSymbol,
    GetV,
    IndicateVisitedPosition,
    PreprocessForAdder,
    ProjectDown,
    Transition,
    claim,
)
from turing.wcm.simulator import Description, Simulator
from turing.wcm.specification import specification

__all__ = [
    "WCM21",
    "ArrangeSymbols",
    "BinarySearchStep",
    "CapacityError",
    "CombineSymbols",
    "Description",
    "FullAdder",
    "GetInitialSymbol",
    "GetLastWrittenSymbol",
    "GetV",
    "IndicateVisitedPosition",
    "PreprocessForAdder",
    "ProjectDown",
    "Reading",
    "Simulator",
    "Transition",
    "claim",
    "specification",
]
