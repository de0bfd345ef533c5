"""``turing.prove`` proves that these very weights are right: for all words at once, not only for those that one tries.

Chapter: :doc:`/book/all-words`.
"""

from turing.proof import wcm21 as wcm21  # it states its invariant
from turing.proof.diagrams import Diagrams
from turing.proof.exactness import Failed, Uncovered, Undecided
from turing.proof.proof import (
    Checked,
    Counterexample,
    Interval,
    Invariant,
    Proof,
    Weight,
    prove,
    state_invariant,
)

__all__ = [
    "Checked",
    "Counterexample",
    "Diagrams",
    "Failed",
    "Interval",
    "Invariant",
    "Proof",
    "Uncovered",
    "Undecided",
    "Weight",
    "prove",
    "state_invariant",
]
