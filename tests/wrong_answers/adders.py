"""Plausible wrong answers to the exercises of Adders.

A function is named after its exercise, two underscores, and its fault; its docstring is what the
check must say of it.
"""


def full_adder__forgets_the_third_hinge():
    """For a=1 b=1 c=1 your network gives sum=0 carry=2; sum=1 carry=1 was expected."""
    return ([[1, 1, 1], [1, 1, 1]], [0, -1]), ([[1, -2], [0, 1]], [0, 0])


def full_adder__is_a_half_adder():
    """For a=0 b=0 c=1 your network gives sum=0; 1 was expected."""
    return ([[1, 1, 0], [1, 1, 0]], [0, -1]), ([[1, -2], [0, 1]], [0, 0])


def full_adder__swaps_its_outputs():
    """For a=0 b=0 c=1 your network gives sum=0 carry=1; sum=1 carry=0 was expected."""
    return ([[1, 1, 1]] * 3, [0, -1, -2]), ([[0, 1, -1], [1, -2, 2]], [0, 0])


def subtractor__subtracts_the_wrong_way_round():
    """For a=0 b=1 c=0 your network gives borrow=0; 1 was expected."""
    return ([[1, -1, 1]] * 3, [1, 0, -1]), ([[-1, 2, -2], [0, 1, -1]], [1, 0])


def subtractor__ignores_the_borrow():
    """For a=0 b=0 c=1 your network gives difference=0 borrow=0; difference=1 borrow=1 was expected."""
    return ([[-1, 1, 0]] * 3, [1, 0, -1]), ([[-1, 2, -2], [0, 1, -1]], [1, 0])


def subtractor__borrows_twice():
    """For a=0 b=1 c=1 your network gives borrow=2; 1 was expected."""
    return ([[-1, 1, 1]] * 3, [1, 0, -1]), ([[-1, 2, -2], [0, 1, 0]], [1, 0])


def increment__has_no_second_carry():
    """For p0=1 p1=1 p2=0 your network gives q2=0; 1 was expected."""
    return (
        ([[1, 0, 0], [1, 1, 0], [1, 1, 0], [0, 0, 1]], [0, 0, -1, 0]),
        ([[-1, 0, 0, 0], [0, 1, -2, 0], [0, 0, 0, 1]], [1, 0, 0]),
    )


def increment__overflows_at_seven():
    """For p0=1 p1=1 p2=1 your network gives q2=2; 0 was expected."""
    return (
        ([[1, 0, 0], [1, 1, 0], [1, 1, 0], [0, 0, 1]], [0, 0, -1, 0]),
        ([[-1, 0, 0, 0], [0, 1, -2, 0], [0, 0, 1, 1]], [1, 0, 0]),
    )


def increment__puts_the_significant_bit_first():
    """For p0=0 p1=0 p2=0 your network gives q0=0 q2=1; q0=1 q2=0 was expected."""
    return (
        ([[0, 0, 1], [0, 1, 1], [0, 1, 1], [1, 0, 0], [1, 1, 1]], [0, 0, -1, 0, -2]),
        ([[0, 0, 1, 1, -2], [0, 1, -2, 0, 0], [-1, 0, 0, 0, 0]], [0, 0, 1]),
    )


AND = [[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 1, 1], [0, 1, 1, 0], [1, 0, 0, 1]]


def multiplier__does_not_carry():
    """For a0=1 a1=1 b0=1 b1=1 your network gives p1=2 p2=1 p3=0; p1=0 p2=0 p3=1 was expected."""
    return (AND, [-1, -1, -3, -1, -1]), ([[1, 0, 0, 0, 0], [0, 0, 0, 1, 1], [0, 1, 0, 0, 0], [0] * 5], [0] * 4)


def multiplier__keeps_the_bit_that_was_carried():
    """For a0=1 a1=1 b0=1 b1=1 your network gives p2=1; 0 was expected."""
    adds = [[1, 0, 0, 0, 0], [0, 0, -2, 1, 1], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0]]
    return (AND, [-1, -1, -3, -1, -1]), (adds, [0] * 4)


def multiplier__takes_sums_for_products():
    """For a0=0 a1=0 b0=0 b1=1 your network gives p1=1 p2=1; p1=0 p2=0 was expected."""
    adds = [[1, 0, 0, 0, 0], [0, 0, -2, 1, 1], [0, 1, -1, 0, 0], [0, 0, 1, 0, 0]]
    return (AND, [0, 0, -3, 0, 0]), (adds, [0] * 4)
