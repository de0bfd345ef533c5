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


def adder_of(ones_and_zeros, factors=(1, 1, 1, -2, -2)):
    """An adder with other places that should be 1 or 0, by bit, its place, the bits below, right and left."""

    def adder(gate, bits):
        W1, b1 = [[0] * (bits + 2)] * (5 * bits), [0] * (5 * bits)
        W2 = [[0] * (5 * bits) for _ in range(bits)]
        for k in range(bits):
            for kind, (ones, zeros) in enumerate(ones_and_zeros(k, list(range(k)), bits, bits + 1)):
                row = kind * bits + k
                W1[row], b1[row] = gate(ones, zeros, bits + 2)
                W2[k][row] = factors[kind]
        return (W1, b1), (W2, [0] * bits)

    return adder


def own_adder__borrows_past_ones():
    """For bits=2 position=0 move=left layer 1 gives borrow[1] = 0; 1 was expected."""
    return adder_of(
        lambda p, below, right, left: [
            ([p], []), ([right, *below], []), ([left, *below], []), ([p, right, *below], []), ([p, left, *below], [])
        ]
    )  # fmt: skip


def own_adder__takes_an_or_for_an_xor():
    """For bits=1 position=1 move=right layer 2 gives p = 1; 0 was expected."""
    return adder_of(
        lambda p, below, right, left: [
            ([p], []), ([right, *below], []), ([left], below), ([p, right, *below], []), ([p, left], below)
        ],
        (1, 1, 1, -1, -1),
    )  # fmt: skip


def own_adder__looks_at_the_bit_below_alone():
    """For bits=3 position=2 move=right layer 1 gives carry[2] = 1; 0 was expected."""
    return adder_of(
        lambda p, below, right, left: [
            ([p], []), ([right, *below[-1:]], []), ([left], below), ([p, right, *below], []), ([p, left], below)
        ]
    )  # fmt: skip
