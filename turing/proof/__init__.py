"""A proof for these very weights: all words at once, in place of the words that a test tries.

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
