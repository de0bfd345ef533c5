"""Plausible wrong answers to the exercises of A queue is enough.

A function is named after its exercise, two underscores, and its fault; its docstring is what the
check must say of it.
"""

from itertools import pairwise

from turing.machine import TuringMachine


def moves(machine, word):
    heads = [now.head for now in machine.trace(word, 10_000)]
    return [after - before for before, after in pairwise(heads)]


def queue_tokens__takes_a_round_for_every_step():
    """For machine=balanced_parentheses word='B()E' window=6 your function gives 54; 29 was expected."""
    return lambda machine, word, window: window * len(moves(machine, word))


def queue_tokens__forgets_the_stays():
    """For machine=parity word='1101' window=20 your function gives 5; 24 was expected."""
    return lambda machine, word, window: sum(window if move < 0 else 1 for move in moves(machine, word))


def queue_tokens__takes_one_too_few_for_a_round():
    """For machine=balanced_parentheses word='B()E' window=6 your function gives 25; 29 was expected."""
    return lambda machine, word, window: sum(1 if move > 0 else window - 1 for move in moves(machine, word))


def copy_round__does_not_notice_the_end():
    """For left=1 end=1 held=0 read=1 your network gives hold=1; 0 was expected."""
    return [[1, 0, 1, 0], [1, 0, 0, 1]], [-1, -1]


def copy_round__copies_at_once():
    """For left=1 end=0 held=0 read=1 your network gives sym=1 hold=0; sym=0 hold=1 was expected."""
    return [[1, -1, 0, 1], [1, -1, 1, 0]], [-1, -1]


def next_cell__forgets_the_left_neighbour():
    """For left=0 cell=1 right=1 your network gives out=0; 1 was expected."""
    return ([[0, 1, 1], [0, 1, 1]], [0, -1]), ([[1, -2]], [0])


def next_cell__is_an_or():
    """For left=1 cell=1 right=1 your network gives out=1; 0 was expected."""
    return ([[0, 1, 1], [0, 1, 1]], [0, -1]), ([[1, -1]], [0])


def without_stays__moves_right_instead():
    """For machine=two_stays your machine ends with the status jammed on the word '0'; in H"""

    def made(machine):
        delta = {pair: (q, a, move or 1) for pair, (q, a, move) in machine.delta.items()}
        return TuringMachine(delta, machine.initial, machine.halting, machine.blank, alphabet=machine.symbols)

    return made


def without_stays__follows_one_stay_only():
    """For machine=two_stays your machine stays: its rule for (A, 0) moves by 0."""

    def made(machine):
        delta = {
            pair: machine.delta.get(rule[:2], rule) if not rule[2] else rule for pair, rule in machine.delta.items()
        }
        return TuringMachine(delta, machine.initial, machine.halting, machine.blank, alphabet=machine.symbols)

    return made
