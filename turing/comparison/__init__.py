"""Every construction on the same machine and word, side by side.

Chapter: :doc:`/book/table`.
"""

from turing.comparison.growth import Fit, fit
from turing.comparison.measure import Comparison, Measurement, bits_of, compare
from turing.comparison.memory import Kept, memory
from turing.comparison.table import claims

__all__ = ["Comparison", "Fit", "Kept", "Measurement", "bits_of", "claims", "compare", "fit", "memory"]
