"""Plausible wrong answers to the exercises of One layer, in real time.

A function is named after its exercise, two underscores, and its fault; its docstring is what the
check must say of it.
"""

import turing


def every_third__counts_pairs():
    """For word=11 your network halts in T after 3 steps; F was expected."""
    return _counted(2)


def every_third__takes_the_base_of_the_paper():
    """In base 10 a float32 holds 7 symbols; 12 were asked for."""
    return turing.ss.StackNetwork(_counted(3).machine, version=1, arithmetic="float32")


def every_third__has_four_layers():
    """Your network has version 4; 1 was asked for."""
    return turing.ss.StackNetwork(_counted(3).machine, arithmetic="float32")


def every_third__leaves_the_zeros_out():
    """For word=0 your network jams after 0 steps in state 0, with 0 on top."""
    rules = {("0", "1"): ("1", "pop"), ("1", "1"): ("2", "pop"), ("2", "1"): ("0", "pop")}
    rules |= {("0", None): ("T", "noop"), ("1", None): ("F", "noop"), ("2", None): ("F", "noop")}
    return _network(turing.stack_machine.StackMachine(rules, "0", {"T", "F"}))


def every_third__is_the_machine():
    """Your function returned an object of type StackMachine. Return a network"""
    return _counted(3).machine


def _counted(n):
    rules = {}
    for i in range(n):
        rules[str(i), "0"] = (str(i), "pop")
        rules[str(i), "1"] = (str((i + 1) % n), "pop")
        rules[str(i), None] = ("F" if i else "T", "noop")
    return _network(turing.stack_machine.StackMachine(rules, "0", {"T", "F"}))


def _network(machine):
    return turing.ss.StackNetwork(machine, version=1, base=4, digits=(1, 3), arithmetic="float32")


def layer_size__counts_the_rules():
    """For machine=balanced your function gives 116; 53 was expected."""
    return lambda machine: 3**machine.p * len(machine.rules) + 4 * machine.p


def layer_size__forgets_the_beginning():
    """For machine=balanced your function gives 44; 53 was expected."""
    return lambda machine: 3**machine.p * _classes(machine) + 4 * machine.p


def layer_size__always_adds_a_class_for_the_beginning():
    """For machine=popper your function gives 13; 10 was expected."""
    return lambda machine: 3**machine.p * (_classes(machine) + 1) + 4 * machine.p


def layer_size__has_two_stacks():
    """For machine=popper your function gives 26; 10 was expected."""
    return lambda machine: 9 * (_classes(machine) + (machine.initial == "I")) + 8


def _classes(machine):
    return len(set(machine.rules.values()))


def base_eight__weights_all_equally():
    """For levels=1,2 and stacks of the levels 1 and 1, with the factors 1 and 1, the sum can reach -2/7"""
    return lambda levels: [int(level > 0) for level in levels]


def base_eight__has_the_right_ratio_and_factors_that_are_too_small():
    """For levels=1,2 and stacks of the levels 0 and 2, with the factors 1 and 4, the sum can reach -4/7"""
    return lambda levels: [(0, 1, 4)[level] for level in levels]


def base_eight__takes_the_factors_of_base_sixteen():
    """For levels=1,2 and stacks of the levels 2 and 1, with the factors 1 and 2, the sum can reach 4/7"""
    return lambda levels: [{0: 0, 1: 1, 2: 2 if 1 in levels else 1}[level] for level in levels]


def base_eight__gives_one_factor():
    """For levels=0,0 your function gives 1; two factors were expected."""
    return lambda levels: 1
