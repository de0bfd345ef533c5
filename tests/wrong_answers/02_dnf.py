"""Plausible wrong answers to the exercises of DNF.

A function is named after its exercise, two underscores, and its fault; its docstring is what the
check must say of it.
"""


def one_of_three__lets_the_others_be():
    """For a=0 b=1 c=1 your network gives out=2; 0 was expected."""
    return ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 0]), ([[1, 1, 1]], [0])


def one_of_three__takes_all_three_for_one():
    """For a=1 b=1 c=1 your network gives out=1; 0 was expected."""
    return ([[1, 1, 1], [1, 1, 1], [1, 1, 1]], [0, -1, -2]), ([[1, -2, 2]], [0])


def one_of_three__ors_what_excludes_each_other():
    """3 layers are used, at most 2 are allowed."""
    return (
        ([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]], [0, 0, 0]),
        ([[-1, -1, -1]], [1]),
        ([[-1]], [1]),
    )


def exclusive_majority__overlaps():
    """For a=1 b=1 c=1 the clauses 11- and 1-1 are both true; exactly one may be."""
    return ["11-", "1-1", "-11"]


def exclusive_majority__forgets_a_pair():
    """For a=0 b=1 c=1 no clause is true; 1 was expected."""
    return ["11-", "101"]


def exclusive_majority__has_a_clause_for_every_row():
    """4 clauses are used, at most 3 are allowed."""
    return ["110", "101", "011", "111"]


def exclusive_majority__takes_a_dash_too_many():
    """For a=0 b=0 c=1 the clause -01 is true; 0 was expected."""
    return ["11-", "-01", "011"]


def comparator__looks_at_the_high_bits_only():
    """For a1=0 a0=1 b1=0 b0=0 your network gives out=0; 1 was expected."""
    return ([[1, 0, -1, 0]], [0]), ([[1]], [0])


def comparator__adds_clauses_that_overlap():
    """For a1=1 a0=1 b1=0 b0=0 your network gives out=3; 1 was expected."""
    return ([[1, 0, -1, 0], [0, 1, -1, -1], [1, 1, 0, -1]], [0, 0, -1]), ([[1, 1, 1]], [0])


def comparator__takes_equal_for_greater():
    """For a1=0 a0=0 b1=0 b0=0 your network gives out=1; 0 was expected."""
    return ([[-2, -1, 2, 1]], [0]), ([[-1]], [1])


DETECTORS = [[1, 0, 1, 0, 0], [1, 0, 0, 1, 0], [1, 0, 0, 0, 1]]
FLIPS = [[0, 1, 1], [1, 0, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 0, 0]]


def flip_delta__writes_what_it_reads():
    """For st=go sym=0 your network gives sym[0]=1 sym[1]=0; sym[0]=0 sym[1]=1 was expected."""
    copies = [[0, 1, 1], [1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1], [0, 0, 0]]
    return (DETECTORS, [-1, -1, -1]), (copies, [0] * 7)


def flip_delta__fires_when_halted():
    """For st=halt sym=_ your network gives st[halt]=1 sym[_]=1; st[halt]=0 sym[_]=0 was expected."""
    symbols = [[0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]]
    return (symbols, [0, 0, 0]), (FLIPS, [0] * 7)


def flip_delta__moves_on_the_blank():
    """For st=go sym=_ your network gives R=1; 0 was expected."""
    moves = [*FLIPS[:5], [1, 1, 1], [0, 0, 0]]
    return (DETECTORS, [-1, -1, -1]), (moves, [0] * 7)
