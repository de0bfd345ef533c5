"""The proof dial."""

from turing.widgets.proof_dial.widget import ProofDial

__all__ = ["ProofDial"]
