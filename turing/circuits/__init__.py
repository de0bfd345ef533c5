"""The transformer of Li, Liu, Zhou and Ma (2024): a circuit evaluated gate by gate, a token for each, and a machine as
such a circuit.

Chapter: :doc:`/book/gate-by-gate`.
"""

from turing.circuits import invariant as invariant  # it is stated there
from turing.circuits.circuit import Circuit
from turing.circuits.lens import to_transformer_lens
from turing.circuits.network import GateByGate, Li24
from turing.circuits.tableau import Tableau

__all__ = ["Circuit", "GateByGate", "Li24", "Tableau", "to_transformer_lens"]
