"""The blind benchmark: riddles by seed, a scorer, our own score, and L* as a baseline that sees no weights."""

import hashlib
import subprocess
import sys

import pytest

import turing
from turing.corpora.black_box import BlackBox, learned
from turing.corpora.blind import LEVELS, blind, key, score
from turing.decompiler import Refusal, decompile, renaming

PRINT = """
import hashlib
from turing.corpora.blind import blind, LEVELS
found = hashlib.sha256()
for level in LEVELS:
    for riddle in blind(2, 5, level, T=8):
        for tensor in (*riddle.network.tensors(), riddle.first_column):
            found.update((tensor.round(9) + 0.0).tobytes())
print(found.hexdigest())
"""


def answers(riddles):
    for riddle in riddles:
        try:
            yield decompile(*riddle).machine
        except Refusal:
            yield None


def test_riddles_are_the_same_in_two_processes():
    runs = [subprocess.run([sys.executable, "-c", PRINT], capture_output=True, text=True, check=True) for _ in "12"]
    assert runs[0].stdout == runs[1].stdout
    assert len(runs[0].stdout.strip()) == hashlib.sha256().digest_size * 2


@pytest.mark.parametrize("level", LEVELS)
def test_our_own_score(level):
    found = score(list(answers(blind(10, 3, level, T=16))), key(10, 3, T=16))
    assert found.wrong == 0
    assert found.share >= (0.5 if level == "noise 0.1" else 0.9)


def test_the_key_scores_1_and_wrong_keys_less():
    wanted = key(5, 11, T=16)
    assert score(wanted, wanted).share == 1
    for number in range(20):
        wrong = list(wanted)
        machine = wrong[number % 5]
        delta = dict(machine.delta)
        pair = list(delta)[number // 5 % len(delta)]
        target, written, move = delta[pair]
        delta[pair] = (target, written, (move + 2) % 3 - 1)
        wrong[number % 5] = turing.TuringMachine(
            delta, machine.initial, machine.halting, machine.blank, alphabet=machine.alphabet
        )
        assert score(wrong, wanted).share < 1
    with pytest.raises(ValueError, match="The key has 5 machines, and 4 answers were given"):
        score(wanted[:4], wanted)
    with pytest.raises(ValueError, match="A level is one of permutation"):
        next(blind(1, 0, "masked"))


def test_a_black_box_shows_what_can_be_reached_and_nothing_else():
    for machine in key(5, 2, T=16):
        box = BlackBox(machine)
        found = learned(box)
        assert box.differs(found) is None
        assert len(found.states) <= len(machine.states)
        assert box.queries >= len(found.delta)
    delta = {("A", "_"): ("B", "1", 1), ("B", "_"): ("A", "1", 1), ("C", "_"): ("A", "1", 1)}
    machine = turing.TuringMachine(delta, "A", (), "_")
    assert len(learned(BlackBox(machine)).states) == 1
    found = decompile(turing.compile(machine, "wcm21", T=4, adder="lookahead")).machine
    assert renaming(found, machine)
