"""Plausible wrong answers to the exercises of Hard attention.

A function is named after its exercise, two underscores, and its fault; its docstring is what the
check must say of it.
"""


def one_wrong_bit__forgives_nothing():
    """For bits=1 ask=0 key=1 the key scores -0.5 and the null key 0: the key gets the weight 0; 1 was expected."""
    return lambda n: (n - 1) / 2


def one_wrong_bit__ties_with_a_near_match():
    """For bits=1 ask=0 key=1 the key scores -0.5 and the null key -0.5: the key gets the weight 0.5; 1 was expected."""
    return lambda n: n / 2 - 1


def one_wrong_bit__forgives_two():
    """For bits=2 ask=00 key=11 the key scores -1 and the null key -1.5: the key gets the weight 1; 0 was expected."""
    return lambda n: (n - 5) / 2


def one_wrong_bit__is_a_number():
    """null_score should be a function of the number n of bits, and -1 was returned."""
    return -1


def same_address__looks_for_more_only():
    """For a0=0 a1=0 b0=0 b1=1 your network gives out=1; 0 was expected."""
    return ([[1, 2, -1, -2]], [0]), ([[-1]], [1])


def same_address__compares_how_many_ones():
    """For a0=0 a1=1 b0=1 b1=0 your network gives out=1; 0 was expected."""
    return ([[1, 1, -1, -1], [-1, -1, 1, 1]], [0, 0]), ([[-1, -1]], [1])


def same_address__counts_equal_ones_only():
    """For a0=0 a1=0 b0=0 b1=0 your network gives out=0; 1 was expected."""
    return ([[1, 0, 1, 0], [0, 1, 0, 1]], [-1, -1]), ([[1, 1]], [0])


SIGNS = [[2, 0], [0, 2]], [-1, -1]
HALVES = [[1, 0], [0, 1]], [-0.5, -0.5]


def gray_neighbour__finds_the_same_address():
    """For ask=00 the next address is 01. Its key scores 0, and the key 00 scores 1: it must be at least 1 less."""
    return SIGNS, HALVES


def gray_neighbour__turns_the_other_way():
    """For ask=00 the next address is 01. Its key scores -1, and the key 00 scores 0: it must be at least 1 less."""
    return ([[0, 2], [-2, 0]], [-1, 1]), HALVES


def gray_neighbour__forgets_the_zeros():
    """For ask=00 the next address is 01. Its key scores 1, and the key 11 scores 1: it must be at least 1 less."""
    return ([[0, -1], [1, 0]], [1, 0]), ([[1, 0], [0, 1]], [0, 0])


def first_visit__finds_the_last():
    """For bits=1 visits=0,1 your search asks 1 and returns 1; 0 was expected."""

    def find(seen, bits):
        found = ""
        for _ in range(bits):
            found += "01"[seen(found + "1" + "-" * (bits - len(found) - 1))]
        return int(found, 2)

    return find


def first_visit__forgets_the_bits_found():
    """For bits=2 visits=1,2 your search asks 0- -0 and returns 0; 1 was expected."""

    def find(seen, bits):
        return int("".join("10"[seen("-" * j + "0" + "-" * (bits - j - 1))] for j in range(bits)), 2)

    return find


def first_visit__tries_every_number():
    """For bits=1 visits=1 you ask 0 1: at most one question for each bit is allowed."""

    def find(seen, bits):
        return next(step for step in range(2**bits) if seen(f"{step:0{bits}b}"))

    return find


def how_many__does_not_count_the_null_key():
    """For bits=1 c=0 and 0 keys that miss the average is 1, and count makes 1 of it; 0 was expected."""
    return lambda n: n / 2, 0, 1, lambda average: round(1 / average)


def how_many__leaves_the_null_key_below():
    """For bits=1 c=1 and 0 keys that miss, where the average is 0, count raises ZeroDivisionError"""
    return lambda n: (n - 1) / 2, 0, 1, lambda average: round(1 / average) - 1


def how_many__cuts_instead_of_rounding():
    """For bits=1 c=2 and 0 keys that miss the average is 0.3333333432674408, and count makes 1 of it; 2 was expect"""
    return lambda n: n / 2, 0, 1, lambda average: int(1 / average) - 1


def head_of(query, key, null):
    """A head with other weights and biases: of the query, of a query that is always 1, of the key, of the null key."""

    def head(ask, at, width):
        n = len(ask)
        Wq, bq = [[0] * width for _ in range(n + 1)], [query[1]] * n + [1]
        Wk, bk = [[0] * width for _ in range(n + 1)], [key[1]] * n + [0]
        for i in range(n):
            Wk[i][at[i]] = key[0]
            if ask[i] is None:
                bq[i] = query[2]
            else:
                Wq[i][ask[i]] = query[0]
        return (Wq, bq), (Wk, bk), [0] * n + [null(n)]

    return head


def own_head__compares_bits_and_not_signs():
    """For bits=1 ask=[0] at=[1] width=2 and the column 0 0 the key scores 0; 0.5 was expected."""
    return head_of((1, 0, 1), (1, 0), lambda n: (n - 1) / 2)


def own_head__does_not_halve_the_keys():
    """For bits=1 ask=[0] at=[1] width=2 and the column 0 0 the key scores 1; 0.5 was expected."""
    return head_of((2, -1, 1), (2, -1), lambda n: (n - 1) / 2)


def own_head__lets_the_null_key_tie_with_a_match():
    """For bits=1 ask=[0] at=[1] width=2 and the column 0 0 the null key scores 0.5; 0 was expected."""
    return head_of((2, -1, 1), (1, -1 / 2), lambda n: n / 2)


def own_head__asks_for_a_0_where_a_1_is_wanted():
    """For bits=1 ask=[None] at=[1] width=2 and the column 1 0 the key scores 0.5; -0.5 was expected."""
    return head_of((2, -1, -1), (1, -1 / 2), lambda n: (n - 1) / 2)
