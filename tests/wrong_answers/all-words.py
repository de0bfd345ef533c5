"""Plausible wrong answers to the exercises of All words at once.

A function is named after its exercise, two underscores, and its fault; its docstring is what the
check must say of it.
"""

from fractions import Fraction

import turing

BALANCED = turing.zoo["balanced_parentheses"]


def _network(**options):
    return turing.compile(BALANCED, "wcm21", T=100, **options)


def unseen_fault__is_seen():
    """For word=BE at step 3 layer search0 is off, and verify sees it."""
    net = _network(adder="lookahead")
    net.pipeline["search0"].value.bias.data[0] = 0
    return net


def unseen_fault__is_harmless():
    """Your network is proved; it should be refuted."""
    net = _network(adder="lookahead")
    net.pipeline["last"].null_key.data[-1] = -3
    return net


def unseen_fault__is_the_example_of_the_chapter():
    """The head visited was changed."""
    net = _network(adder="lookahead")
    net.pipeline["visited"].query.weight.data[6, net.layout.pos3[6]] = 0
    return net


def harmless_edit__forgets_the_null_key():
    """For word=B your network goes wrong at step 3. search6: a column that fits scores"""
    net = _network(adder="lookahead")
    for k in range(7):
        head = net.pipeline[f"search{k}"]
        for numbers in head.query.parameters():
            numbers.data *= 2
        for numbers in head.key.parameters():
            numbers.data /= 2
    return net


def harmless_edit__divides_by_three():
    """Your network is undecided: pipeline.search6.key, row 0, takes 26 bits"""
    net = _network(adder="lookahead")
    for k in range(7):
        head = net.pipeline[f"search{k}"]
        for numbers in head.query.parameters():
            numbers.data *= 3
        for numbers in (*head.key.parameters(), head.null_key):
            numbers.data /= 3
    return net


def harmless_edit__changes_too_little():
    """1 number differs from what was compiled; at least 100 should."""
    net = _network()
    net.pipeline["last"].null_key.data[-1] = -3
    return net


def _rule(*changes):
    net = _network()
    transition = net.pipeline["transition"]
    fires = transition.layouts[1].det["V ("]
    for name, old, new in changes:
        part = net.layout[name]
        transition[1].weight.data[part[old], fires] = 0
        transition[1].weight.data[part[new], fires] = 1
    return net


def proved_rule__changes_the_state_only():
    """For word=B( your network goes wrong at step 4."""
    return _rule(("st", "F", "T"))


def proved_rule__still_goes_left():
    """For word=B( your network goes wrong at step 4."""
    return _rule(("st", "F", "T"), ("sym2", "*", "("))


def proved_rule__compiles_other_rules():
    """This network was compiled from other rules."""
    machine = turing.TuringMachine(
        {**BALANCED.delta, ("V", "("): ("T", "(", 1)}, BALANCED.initial, BALANCED.halting, BALANCED.blank
    )
    return turing.compile(machine, "wcm21", T=100)


def cantor_box__ends_with_the_next_digit():
    """For base=4 digits=1,3 symbols=none the greatest number is 1, and your function gives 3/4."""

    def box(base, digits, symbols):
        low = sum((Fraction(digits[s], base**n) for n, s in enumerate(symbols, start=1)), Fraction(0))
        return low, low + Fraction(digits[1], base ** (len(symbols) + 1))

    return box


def cantor_box__does_not_shrink():
    """For base=4 digits=1,3 symbols=0 the greatest number is 1/2, and your function gives 5/4."""

    def box(base, digits, symbols):
        low = sum((Fraction(digits[s], base**n) for n, s in enumerate(symbols, start=1)), Fraction(0))
        return low, low + Fraction(digits[1], base - 1)

    return box


def cantor_box__gives_one_number():
    """For base=4 digits=1,3 symbols=none raises TypeError: cannot unpack"""
    return lambda base, digits, symbols: 1
