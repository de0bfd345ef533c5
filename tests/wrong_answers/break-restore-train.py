"""Plausible wrong answers to the exercises of Break it, restore it, train it.

A function is named after its exercise, two underscores, and its fault; its docstring is what the
check must say of it.
"""

import torch

import turing
from turing.gates import Layer, Readout


def fading_bit__stops_one_gate_early():
    """For error=0.3 your function gives 1; 2 was expected."""
    return lambda error: int(0.5 / error)


def fading_bit__doubles_the_error():
    """For error=0.15 your function gives 3; 4 was expected."""

    def lifetime(error):
        lost, gates = error, 1
        while 1 - lost >= 0.5:
            lost, gates = 2 * lost, gates + 1
        return gates

    return lifetime


def steep_organ__is_the_one_of_the_chapter():
    """For x=0.26 your organ gives 0.02; 0 was expected."""
    return torch.nn.Sequential(Layer([[2], [2]], [-0.5, -1.5]), Readout([[1, -1]], [0]))


def steep_organ__forgets_the_second_neuron():
    """For x=0.61 your organ gives 1.05; 1 was expected."""
    return torch.nn.Sequential(Layer([[5]], [-2]), Readout([[1]], [0]))


def fatal_weight__changes_nothing():
    """0 numbers are changed; exactly one should be."""
    return turing.compile(turing.zoo["balanced_parentheses"], "wcm21", T=100, adder="lookahead")


def fatal_weight__changes_too_much():
    """The number is changed by 0.6; 0.3 is allowed."""
    net = turing.compile(turing.zoo["balanced_parentheses"], "wcm21", T=100, adder="lookahead")
    net.pipeline["carry"].bias.data[0] += 0.6
    return net


def fatal_weight__breaks_the_short_word():
    """For word=B()E step"""
    net = turing.compile(turing.zoo["balanced_parentheses"], "wcm21", T=100, adder="lookahead")
    carry = net.pipeline["carry"]
    carry.bias.data[carry.layouts[1].carry[1]] += 0.3
    return net
