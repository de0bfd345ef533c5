"""Plausible wrong answers to the exercises of How fast.

A function is named after its exercise, two underscores, and its fault; its docstring is what the
check must say of it.
"""


def folded_carry__carries_on_every_rule():
    """For det=A 1 p0=1 p1=1 your network gives carry=1; 0 was expected."""
    return [([[1, 1, 1, 1, 1, 1], [0, 1, 1, 0, -1, -1]], [-2, 0])]


def folded_carry__borrows_where_there_are_ones():
    """For det=A 1 p0=0 p1=0 your network gives borrow=0; 1 was expected."""
    return [([[1, 0, 0, 1, 1, 1], [0, 1, 1, 0, 1, 1]], [-2, -2])]


def folded_carry__forgets_a_rule_that_goes_right():
    """For det=B 1 p0=1 p1=1 your network gives carry=0; 1 was expected."""
    return [([[1, 0, 0, 0, 1, 1], [0, 1, 1, 0, -1, -1]], [-2, 0])]


def folded_carry__takes_two_layers():
    """2 layers are used, at most 1 is allowed."""
    first = [[1, 0, 0, 1, 0, 0], [0, 1, 1, 0, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]]
    return (first, [0, 0, 0, 0]), ([[1, 0, 1, 1], [0, 1, -1, -1]], [-2, 0])


def keep_sums__adds_everything_again():
    """For before=000 after=000 your function reads the weights of 3 inputs, and 0 inputs have changed."""

    def update(sums, column, before, after):
        sums = list(sums)
        for j, (old, new) in enumerate(zip(before, after, strict=True)):
            sums = [s + (new - old) * w for s, w in zip(sums, column(j), strict=True)]
        return sums

    return update


def keep_sums__never_subtracts():
    """For before=001 after=000 your function gives [3, 0, 2, -5]; [0, -1, 2, 0] was expected."""

    def update(sums, column, before, after):
        for j, (old, new) in enumerate(zip(before, after, strict=True)):
            if new > old:
                sums = [s + w for s, w in zip(sums, column(j), strict=True)]
        return sums

    return update


def keep_sums__forgets_what_was_there():
    """For before=000 after=000 your function gives [0, 0, 0, 0]; [0, -1, 2, 0] was expected."""

    def update(sums, column, before, after):
        sums = [0] * len(sums)
        for j in (j for j, bit in enumerate(after) if bit):
            sums = [s + w for s, w in zip(sums, column(j), strict=True)]
        return sums

    return update


def keep_sums__counts_inputs_from_one():
    """For before=000 after=001 your function raises IndexError: there is no input 3; the inputs are 0 to 2."""

    def update(sums, column, before, after):
        for j, (old, new) in enumerate(zip(before, after, strict=True), start=1):
            if new != old:
                sums = [s + (new - old) * w for s, w in zip(sums, column(j), strict=True)]
        return sums

    return update


def whole_run__leaves_the_null_key_out():
    """For L=1 T=1 your function gives 7; 14 was expected."""
    return lambda L, T: _per_key(L) * T * (T + 1) // 2


def whole_run__has_one_head_for_the_search():
    """For L=2 T=4 your function gives 154; 210 was expected."""
    return lambda L, T: (2 * (L + 1) + 2 * L + 1) * T * (T + 3) // 2


def whole_run__takes_a_step_for_a_run():
    """For L=1 T=2 your function gives 21; 35 was expected."""
    return lambda L, T: _per_key(L) * (T + 1)


def whole_run__is_a_number():
    """Return a function of the bits L and the steps T; 14 was returned."""
    return 14


def _per_key(L):
    return 2 * (L + 1) + L * (L + 2) + L * (L - 1) // 2


def tied_index__keeps_the_last():
    """For values=01 your index gives 1, and attention gives 0.5."""
    return (lambda entry, value: value), (lambda entry: entry)


def tied_index__averages_with_the_average():
    """For values=001 your index gives 0.5, and attention gives 0.3333333."""
    return (lambda entry, value: value if entry is None else (entry + value) / 2), (lambda entry: entry)


def tied_index__keeps_every_value():
    """For values=000 your entry is [0, 0, 0]; at most two numbers were asked for."""
    return (lambda entry, value: [*(entry or []), value]), (lambda entry: sum(entry) / len(entry))


def tied_index__returns_one_function():
    """Return two functions, put and ask;"""
    return lambda entry, value: value


def first_index__keeps_the_last_visit():
    """For bits=1 columns=0a0 0a0 the answer to column 1 is (True, 1, 'a'); (True, 0, 'a') was expected."""
    return lambda columns, bits: _followed(columns, bits, last=True)


def first_index__calls_what_was_never_visited_column_0():
    """For bits=1 columns=0a1 the answer to column 0 is (False, 0, 'a'); (False, 1, None) was expected."""
    return lambda columns, bits: _followed(columns, bits, never=0)


def first_index__forgets_the_last_number():
    """For bits=1 columns=0a0 0a1 the answer to column 1 is (False, 1, None); (False, 1, 'a') was expected."""
    return lambda columns, bits: [found if found[0] else (False, found[1], None) for found in _followed(columns, bits)]


def first_index__asks_before_it_writes():
    """For bits=1 columns=0a0 the answer to column 0 is (False, 1, None); (True, 0, 'a') was expected."""
    return lambda columns, bits: _followed(columns, bits, early=True)


def _followed(columns, bits, last=False, never=None, early=False):
    index, answers = {}, []
    never = 2**bits - 1 if never is None else never
    for t, (own, wrote, asked) in enumerate(columns):
        if not early and (last or own not in index):
            index[own] = t, wrote
        written = columns[never][1] if never <= t else None
        answers.append((True, *index[asked]) if asked in index else (False, never, written))
        if early and own not in index:
            index[own] = t, wrote
    return answers
