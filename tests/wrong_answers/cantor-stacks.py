"""Plausible wrong answers to the exercises of Cantor stacks.

A function is named after its exercise, two underscores, and its fault; its docstring is what the
check must say of it.
"""

from fractions import Fraction
from math import log2

TENTH = Fraction(1, 10)


def push_pop__adds_the_digit_itself():
    """For stack=empty push0 gives 2; 1/5 was expected."""
    return (TENTH, 2), (TENTH, 7), (10, -2, -5)


def push_pop__subtracts_both_digits():
    """For stack=1 pop gives -2; 0 was expected."""
    return (TENTH, 2 * TENTH), (TENTH, 7 * TENTH), (10, -2, -7)


def push_pop__is_for_base_4():
    """For stack=empty push0 gives 1/4; 1/5 was expected."""
    return (0.25, 0.25), (0.25, 0.75), (4, -1, -2)


def push_pop__subtracts_from_the_empty_stack_too():
    """pop should be 3 numbers, and (10, -5) was returned."""
    return (TENTH, 2 * TENTH), (TENTH, 7 * TENTH), (10, -5)


def gentle_top__is_the_one_of_the_chapter():
    """For base=10 rho=1 your neuron is right, and its weight is 10. There is one with a smaller weight."""
    return lambda b, rho: (b, -(b - 4 * rho))


def gentle_top__is_the_one_of_the_paper():
    """For base=4 rho=1/2 and the stack 1 your neuron gives 1/2; 1 was expected."""
    return lambda b, rho: (b / 2, -b / 4)


def gentle_top__counts_the_gap_from_digit_to_digit():
    """For base=4 rho=1/2 and the stack 00 your neuron gives 1/8; 0 was expected."""
    return lambda b, rho: (b / (4 * rho), 1 - (b - 1) / (4 * rho))


def gentle_top__forgets_that_a_stack_may_be_deeper():
    """For base=4 rho=1/2 and the stack 01111111 your neuron gives 3/3280; 0 was expected."""

    def neuron(b, rho):
        zero = (b - 4 * rho - Fraction(1, b**5)) / b  # a 0 with five 1s below it
        w = 1 / (Fraction(b - 1, b) - zero)
        return w, -w * zero

    return neuron


def gentle_top__is_a_pair():
    """Return a function of the base b and of ρ; (4, -2) was returned."""
    return 4, -2


def three_symbols__takes_a_base_that_is_too_small():
    """For stack=1 neuron 2 gives 0; 1 was expected."""
    return 4, (1, 2, 3), [(4, 0), (4, -2), (4, -3)], (4, -1, -1, -1)


def three_symbols__has_a_digit_0():
    """For stack=0 neuron 1 gives 0; 1 was expected."""
    return 6, (0, 2, 4), [(6, 0), (6, -1), (6, -3)], (6, 0, -2, -2)


def three_symbols__subtracts_the_full_digits():
    """For stack=1 pop gives -1; 0 was expected."""
    return 6, (1, 3, 5), [(6, 0), (6, -2), (6, -4)], (6, -1, -3, -5)


def three_symbols__returns_three_things():
    """Return base, digits, neurons, pop; (6, (1, 3, 5), (6, -1, -2, -2)) was returned."""
    return 6, (1, 3, 5), (6, -1, -2, -2)


def exact_depth__is_the_bound_of_the_chapter():
    """For base=64 digits=1,3 bits=53 your function gives 8; 9 was expected."""
    return lambda base, digits, bits: bits // (base.bit_length() - 1)


def exact_depth__considers_only_the_top():
    """For base=8 digits=2,4 bits=53 your function gives 17; 18 was expected."""

    def depth(base, digits, bits):
        each = base.bit_length() - 1
        return (bits + each - max(digits).bit_length()) // each

    return depth


def exact_depth__does_not_round_down():
    """For base=4 digits=1,3 bits=53 your function gives 26.5; 26 was expected."""
    return lambda base, digits, bits: bits / log2(base)


def exact_depth__takes_the_smaller_digit_for_the_top():
    """For base=4 digits=1,3 bits=53 your function gives 27; 26 was expected."""

    def depth(base, digits, bits):
        each = base.bit_length() - 1
        return (bits + each - min(digits).bit_length()) // each

    return depth


FIRST = [[1], [4], [4]], [0, 0, -2]  # q, τ, ζ of the top


def swap_top__swaps_a_single_symbol_too():
    """For stack=1 your layers give 3/8; 3/4 was expected."""
    return FIRST, ([[1, 0, 0], [16, -4, -8], [0, 0, 1]], [0, -2, 0]), ([[1, 3 / 8, -3 / 8]], [0])


def swap_top__moves_only_the_top():
    """For stack=01 your layers give 15/16; 13/16 was expected."""
    return FIRST, ([[1, 0, 0], [16, -4, -8], [16, -4, -4]], [0, -2, -4]), ([[1, 1 / 2, -1 / 2]], [0])


def swap_top__does_nothing():
    """For stack=01 your layers give 7/16; 13/16 was expected."""
    return [([[1]], [0])]


def swap_top__is_wired_for_two_inputs():
    """Layer 1 has 2 columns, and there is one input, q."""
    return [([[1, 0]], [0])]
