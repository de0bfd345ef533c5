"""Plausible wrong answers to the exercises of Gates.

A function is named after its exercise, two underscores, and its fault; its docstring is what the
check must say of it.
"""


def equal_bits__forgets_that_two_zeros_are_equal():
    """For a=0 b=0 your network gives out=0; 1 was expected."""
    return ([[1, 1], [-1, -1]], [-1, 0]), ([[1, 1]], [0])


def equal_bits__takes_the_difference_only_one_way():
    """For a=0 b=1 your network gives out=1; 0 was expected."""
    return ([[1, -1], [0, 0]], [0, 0]), ([[-1, -1]], [1])


def equal_bits__is_one_neuron():
    """For a=1 b=1 your network gives out=0; 1 was expected."""
    return [[-1, -1]], [1]


def multiplexer__chooses_the_other_way_round():
    """For s=0 a=0 b=1 your network gives out=1; 0 was expected."""
    return ([[1, 1, 0], [-1, 0, 1]], [-1, 0]), ([[1, 1]], [0])


def multiplexer__always_lets_a_through():
    """For s=1 a=1 b=0 your network gives out=1; 0 was expected."""
    return ([[0, 1, 0], [1, 0, 1]], [0, -1]), ([[1, 1]], [0])


def multiplexer__forgets_a_bias():
    """For s=0 a=0 b=1 your network gives out=1; 0 was expected."""
    return ([[-1, 1, 0], [1, 0, 1]], [0, 0]), ([[1, 1]], [0])


def majority__counts_on_past_two():
    """For a=1 b=1 c=1 your network gives out=2; 1 was expected."""
    return [[1, 1, 1]], [-1]


def majority__adds_clauses_that_overlap():
    """4 neurons are used, at most 3 are allowed."""
    return ([[1, 1, 0], [1, 0, 1], [0, 1, 1]], [-1, -1, -1]), ([[1, 1, 1]], [0])


def majority__asks_for_all_three():
    """For a=0 b=1 c=1 your network gives out=0; 1 was expected."""
    return ([[-1, -1, -1]], [3]), ([[-1]], [1])


def embedded__overwrites_place_0_before_the_nor_reads_it():
    """2 layers are used, at most 1 is allowed."""
    return (
        ([[1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], [-1, 0, 0, 0]),
        ([[1, 0, 0, 0], [0, 1, 0, 0], [-1, 0, -1, 0], [0, 0, 0, 1]], [0, 0, 1, 0]),
    )


def embedded__leaves_the_identity_under_the_nor():
    """For x0=0 x1=0 x2=1 x3=0 your network gives x2=2; 0 was expected."""
    return (([[1, 0, 1, 0], [0, 1, 0, 0], [-1, 0, 1, 0], [0, 0, 0, 1]], [-1, 0, 1, 0]),)


def embedded__reads_the_neighbour():
    """For x0=0 x1=0 x2=1 x3=0 your network gives x2=1; 0 was expected."""
    return (([[1, 1, 0, 0], [0, 1, 0, 0], [-1, -1, 0, 0], [0, 0, 0, 1]], [-1, 0, 1, 0]),)


def own_gate__is_an_or():
    """For width=1 ones=none zeros=0 and the bits 0 your gate gives 0; 1 was expected."""
    return lambda ones, zeros, width: ([int(place in ones) for place in range(width)], 0)


def own_gate__asks_for_one_place_too_few():
    """For width=2 ones=0,1 zeros=none and the bits 01 your gate gives 1; 0 was expected."""

    def gate(ones, zeros, width):
        weights = [(place in ones) - (place in zeros) for place in range(width)]
        return weights, min(1, 2 - len(ones)) if len(ones) > 1 else 1 - len(ones)

    return gate


def own_gate__forgets_the_bias():
    """For width=1 ones=none zeros=0 your gate returns [-1]. Return its weights and its bias."""
    return lambda ones, zeros, width: [(place in ones) - (place in zeros) for place in range(width)]
