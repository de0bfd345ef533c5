"""Plausible wrong answers to the exercises of Gate by gate.

A function is named after its exercise, two underscores, and its fault; its docstring is what the
check must say of it.
"""

from math import log


def four_nands__is_a_nand():
    """For a=0 b=0 your circuit gives out=1; 0 was expected."""
    return {"out": ("NAND", "a", "b")}


def four_nands__is_a_xor_already():
    """Only NAND is allowed here, and XOR is among your gates."""
    return {"out": ("XOR", "a", "b")}


def four_nands__takes_five():
    """Your circuit has 5 gates, and 4 are enough."""
    return {
        "na": ("NAND", "a", "a"), "nb": ("NAND", "b", "b"), "n1": ("NAND", "a", "nb"), "n2": ("NAND", "na", "b"),
        "out": ("NAND", "n1", "n2"),
    }  # fmt: skip


def four_nands__reads_its_own_output():
    """Your gates are not a circuit. This circuit has a cycle"""
    return {"n": ("NAND", "a", "out"), "out": ("NAND", "n", "b")}


def two_kinds__is_an_and_always():
    """For kind=1 a=0 b=1 your network gives out=0; 1 was expected."""
    return ([[0, 1, 1]], [-1]), ([[1]], [0])


def two_kinds__is_an_or_for_the_other_kind():
    """For kind=1 a=1 b=1 your network gives out=1; 0 was expected."""
    return ([[1, 1, 1], [1, 1, 1]], [-1, -2]), ([[1, -1]], [0])


def less_than__looks_at_the_high_bits_only():
    """For a1=0 a0=0 b1=0 b0=1 your circuit gives out=0; 1 was expected."""
    return {"out": ("ANDNOT", "b1", "a1")}


def less_than__lets_the_low_bits_decide_alone():
    """For a1=1 a0=0 b1=0 b0=1 your circuit gives out=1; 0 was expected."""
    return {"high": ("ANDNOT", "b1", "a1"), "low": ("ANDNOT", "b0", "a0"), "out": ("OR", "high", "low")}


def enough_kappa__counts_near_misses_only():
    """For L=2 and a κ a little above your"""
    return log


def enough_kappa__is_one_hot_in_float32():
    """For L=1 and a κ a little below your 104, the token asked for has the share 1.000000."""
    return lambda L: 104
