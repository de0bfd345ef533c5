"""Plausible wrong answers to the exercises of Layer norm as an address.

A function is named after its exercise, two underscores, and its fault; its docstring is what the
check must say of it.
"""

from turing.exercises.layer_norm import age


def mirror_cell__finds_the_cell_itself():
    """For cell=1 the key of cell -1 scores 0.000000, and that of cell 1 scores 1.000000; only the first should be"""
    return [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], [0, 0, 0, 0]


def mirror_cell__turns_everything_around():
    """For cell=0 the key of cell 0 scores -1.000000, and that of cell 20 scores -0.049938; only the first should be"""
    return [[-1, 0, 0, 0], [0, -1, 0, 0], [0, 0, -1, 0], [0, 0, 0, -1]], [0, 0, 0, 0]


def mirror_cell__exchanges_x_and_y():
    """For cell=0 the key of cell 0 scores 0.000000, and that of cell 20 scores 0.998752; only the first should be"""
    return [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], [0, 0, 0, 0]


def same_parity__forgets_the_move():
    """For here=0 there=0 moved=1 your network gives out=1; 0 was expected."""
    return ([[1, -1, 0], [-1, 1, 0]], [0, 0]), ([[-1, -1]], [1])


def same_parity__takes_two_for_one():
    """For here=0 there=1 moved=1 your network gives out=0; 1 was expected."""
    return ([[1, 1, 1]], [0]), ([[-1]], [1])


def least_epsilon__is_the_gap_between_the_addresses():
    """For c=1 and an ε a little above your 0.05, the key of cell 1 still scores more than that of cell 2."""
    return lambda c: 1 / (2 * (c * c + 1) * ((c + 1) ** 2 + 1))


def least_epsilon__is_that_of_pytorch():
    """For c=1 and an ε a little above your 1e-05, the key of cell 1 still scores more than that of cell 2."""
    return lambda c: 1e-5


def least_epsilon__forgets_the_angle():
    """For c=1 and an ε a little above your"""

    def least(c):
        mean, other = ((k * k + 1) / (2 * (k + 2) ** 2) for k in (c, c + 1))
        return mean * other * 1e-8 / (other - mean)

    return least


def first_wins__finds_the_last():
    """For keys=0,0 and the query of cell 0, column 2 has the best score; column 1 was expected."""
    return lambda j: -age(j)


def first_wins__is_too_strong():
    """For keys=0,0,-1 and the query of cell -1, column 1 has the best score; column 3 was expected."""
    return lambda j: 1 / j


def first_wins__is_too_strong_for_far_cells_only():
    """For keys=0,0,1,2,3,4,5,6,7,8,9,8,… and the query of cell 10, column 11 has the best score; column 90"""
    return lambda j: -j / 100_000
