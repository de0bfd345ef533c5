"""Plausible wrong answers to the exercises of Averages that count.

A function is named after its exercise, two underscores, and its fault; its docstring is what the
check must say of it.
"""

from fractions import Fraction


def which_symbol__lets_the_word_and_the_history_add_up():
    """For word=0 given=1 new=0 last=0 your network gives out=1; 0 was expected."""
    return ([[0, 1, 0, 0], [-1, 0, -1, 1]], [0, 0]), ([[1, 1]], [0])


def which_symbol__forgets_that_the_cell_may_be_new():
    """For word=0 given=0 new=1 last=1 your network gives out=1; 0 was expected."""
    return ([[1, 1, 0, 0], [-1, 0, 0, 1]], [-1, 0]), ([[1, 1]], [0])


def which_symbol__prefers_what_was_written():
    """For word=1 given=0 new=0 last=1 your network gives out=1; 0 was expected."""
    return ([[1, 1, 0, 0], [0, 0, -1, 1]], [-1, 0]), ([[1, 1]], [0])


def factor_one__comes_to_a_new_cell():
    """For moves=1,1 the tape head comes to cell 2, where it has never been."""
    return [1, 1]


def factor_one__comes_back_from_the_left():
    """For moves=-1,1 step 1 has the best score, -1/4, and it is the last visit to cell 0."""
    return [-1, 1]


def factor_one__stays():
    """Return a list of moves, each 1 or -1; [1, 0] was returned."""
    return [1, 0]


def tokens__does_not_read_the_word():
    """For machine=balanced_parentheses word='B()E' your function gives 9; 20 was expected."""
    return lambda machine, word: machine.run(word).steps


def tokens__reads_in_one_direction():
    """For machine=balanced_parentheses word='B()E' your function gives 15; 20 was expected."""
    return lambda machine, word: len(word) + 2 + machine.run(word).steps


def tokens__counts_a_stay_once():
    """For machine=parity word='1101' your function gives 16; 17 was expected."""
    return lambda machine, word: 2 * len(word) + 3 + machine.run(word).steps


def earliest_visit__finds_the_last():
    """For moves=1,-1,1,-1 step 3 has the best score, -1/48; step 1 was expected."""
    return (
        lambda average, i: [3 * average, Fraction(3, i), Fraction(1, i * i)],
        lambda average, j: [Fraction(1, j), -average, Fraction(1, j)],
    )


def earliest_visit__breaks_no_tie():
    """For moves=1,-1,1,-1 steps 1 and 3 have the best score, 0; step 1 was expected."""
    return lambda average, i: [average, Fraction(1, i)], lambda average, j: [Fraction(1, j), -average]


def earliest_visit__lets_a_late_step_in():
    """For moves=1,1,-1 step 3 has the best score, 0; step 2 was expected."""
    return (
        lambda average, i: [average, Fraction(1, i), 1],
        lambda average, j: [Fraction(1, j), -average, Fraction(j, 27)],
    )
