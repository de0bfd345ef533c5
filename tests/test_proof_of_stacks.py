"""``turing.prove`` on SS95 networks: all stacks and all steps, with four layers and with one."""

from random import Random

import pytest
from changed_weights import changed, confirm, small
from machines import random_machines

import turing
from turing.proof import Failed, prove
from turing.ss import invariant as stacks
from turing.stack_machine import TwoStacks
from turing.zoo import NAMES, zoo


def test_stacks_of_any_depth_are_proved_with_four_layers_and_with_one():
    for name in ("balanced_parentheses", "bb2"):
        for construction in ("ss95", "ss95-realtime"):
            proof = prove(turing.compile(zoo[name], construction))
            assert proof.verdict == "proved"
            assert proof.horizon == {"steps": None, "cells": None, "visits": None, "arithmetic": "exact"}
    for machine, _ in random_machines(2):
        assert prove(turing.compile(machine, "ss95"))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_stacks_of_the_zoos_machines_are_proved(name):
    assert prove(turing.compile(zoo[name], "ss95"))
    if len(zoo[name].symbols) == 2 or name == "balanced_parentheses":
        assert prove(turing.compile(zoo[name], "ss95-realtime"))


@pytest.mark.slow
def test_the_stacks_of_random_machines_are_proved():
    for machine, _ in random_machines(300):
        assert prove(turing.compile(machine, "ss95")), machine.delta
    draw = Random(0)
    for _ in range(50):
        machine = small(draw)
        assert prove(turing.compile(machine, "ss95-realtime")), machine.delta


def test_a_wrong_translation_into_two_stacks_is_noticed():
    two = TwoStacks(zoo["bb2"])
    stacks.macro_steps(two)
    key = next(iter(two.machine.rules))
    two.machine.rules[key] = (two.machine.states[-1], *two.machine.rules[key][1:])
    with pytest.raises(Failed, match="two stacks"):
        stacks.macro_steps(two)


def unsound_stacks(number, seed, construction) -> list:
    found = []
    for network, made in changed(number, seed, construction):
        proof = prove(network)
        if proof.verdict != "proved":
            confirm(proof)
            continue
        inner = network.network
        for state in inner.machine.states:
            for left in ("", "0", "1", "01", "110"):
                for right in ("", "0", "1", "10", "011"):
                    if stacks._stacks_part(inner, state, (left, right), 6):
                        found.append((made, network.machine.delta, state, left, right))
    return found


@pytest.mark.parametrize("construction", ["ss95", "ss95-realtime"])
def test_no_stacks_that_go_wrong_are_proved(construction):
    assert unsound_stacks(8, 1, construction) == []


@pytest.mark.slow
@pytest.mark.parametrize("construction", ["ss95", "ss95-realtime"])
def test_no_stacks_of_200_networks_that_go_wrong_are_proved(construction):
    assert unsound_stacks(200, 2, construction) == []
