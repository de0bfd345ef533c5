"""Plausible wrong answers to the exercises of The table, measured.

A function is named after its exercise, two underscores, and its fault; its docstring is what the
check must say of it.
"""

from math import log


def mantissa__counts_the_numerator_alone():
    """For over=-70 under=1 your function gives 7; 6 was expected."""
    return lambda over, under: abs(over).bit_length()


def mantissa__takes_every_fraction_for_one_with_a_mantissa():
    """For over=-70 under=3 your function gives 6; 9 was expected."""

    def bits(over, under):
        over = abs(over) or 1
        while over % 2 == 0:
            over //= 2
        return over.bit_length()

    return bits


def mantissa__gives_zero_no_bit():
    """For over=0 under=1 your function gives 0; 1 was expected."""

    def bits(over, under):
        over = abs(over)
        if under & (under - 1):
            return over.bit_length() + under.bit_length()
        while over and over % 2 == 0:
            over //= 2
        return over.bit_length()

    return bits


def exponent__takes_no_logarithm():
    """For points=2,8 4,32 8,128 your function gives 20.000000; 2.000000 was expected."""

    def slope(points):
        (x, y), *_, (u, v) = points
        return (v - y) / (u - x)

    return slope


def exponent__takes_the_first_and_the_last_point():
    """For points=4,6 8,14 16,30 32,62 your function gives 1.123078; 1.120724 was expected."""

    def slope(points):
        (x, y), *_, (u, v) = points
        return log(v / y) / log(u / x)

    return slope


def break_even__is_where_twice_the_steps_are_the_bits_at_64():
    """For t=40 ss95 takes 80 bits, and merrill24 74: the step is earlier than 41."""
    return 41


def break_even__is_the_last_step_before():
    """For t=36 ss95 takes 72 bits, and merrill24 72: the step is later than 36."""
    return 36
