"""Plausible wrong answers to the exercises of Reading the machine back.

A function is named after its exercise, two underscores, and its fault; its docstring is what the
check must say of it.
"""

import numpy as np

import turing


def same_maps__compares_the_matrices():
    """For pair=0, with 2 numbers in the middle, these are the same maps in another basis, and your function"""
    return lambda one, other: all(np.allclose(a, b) for a, b in zip(one, other, strict=True))


def same_maps__multiplies_in_the_wrong_order():
    """Your function raised"""
    return lambda one, other: np.allclose(one[0] @ one[1].T, other[0] @ other[1].T)


def lines__takes_every_number_that_is_not_0():
    """For states=4 and symbols=2 there are 6 lines; yours are 11, and [0, 1] is missing."""
    return lambda seen: [set(np.nonzero(column)[0].tolist()) for column in seen.T]


def lines__counts_a_line_as_often_as_it_is_fed():
    """For states=4 and symbols=2 there are 6 lines; yours are 9"""
    return lambda seen: [
        set(np.nonzero(column > column.max() / 2)[0].tolist()) for column in seen.T if column.max() > 0.1
    ]


def _plain():
    return turing.bare(turing.compile(turing.zoo["bb2"], "wcm21", T=8, adder="lookahead"))


def disguised_by_hand__changes_nothing():
    """For map=0 there are 24 numbers other than 0 that are as they were."""
    return _plain()


def disguised_by_hand__forgets_the_layer_after():
    """The machine cannot be read from your network: All rows that move the head"""
    net = _plain()
    parts = [
        part._replace(weight=2 * part.weight, bias=2 * part.bias) if k < 2 else part for k, part in enumerate(net.parts)
    ]
    return turing.decompiler.Bare(tuple(parts))


def twins__is_one_machine():
    """These are one machine under two names"""
    machine = turing.zoo["bb2"]
    return machine, machine.rename(states={"A": "x"})


def twins__can_be_told_apart():
    """For word="""
    return turing.zoo["bb2"], turing.zoo["bb3"]
