"""A queue of tokens and a row of cells against the oracle: whole traces in every number type, clean activations."""

from collections import Counter
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from long_runs import PARENTHESES, same
from machines import has_all_moves, machines_and_words

import turing
from turing.zoo import NAMES, zoo

torch.set_num_threads(1)  # on small matrices threads wait for each other
slow = pytest.mark.slow
DTYPES = [torch.float32, torch.float64, torch.bfloat16]
in_every_type = pytest.mark.parametrize("dtype", DTYPES, ids=str)
STEPS = {"liwang25": 1_000, "conv": 64}  # of a word of parentheses
every_construction = pytest.mark.parametrize("construction", STEPS)


def watched(network):
    """The network, and a list of its modules that give something other than 0 and 1; of the logits, integers."""
    unclear = []

    def watch(name, module):
        def look(_, __, x):
            fits = x == x.round() if name == "unembed" else (x == 0) | (x == 1)
            if not fits.all():
                unclear.append(name)

        module.register_forward_hook(look)

    for name, module in network.pipeline.items():
        watch(name, module)
        for part in module.children() if isinstance(module, torch.nn.Sequential) else ():
            watch(name, part)
    return network, unclear


def exact(construction, machine, words, steps, dtype):
    """Compare whole traces, and see that every activation is exactly 0 or 1; how many configurations there were."""
    options = {"cells": 2 * steps + max([1, *map(len, words)])} if construction == "conv" else {}
    network, unclear = watched(turing.compile(machine, construction, **options).to(dtype))
    total = sum(same(network, machine, word, steps) for word in words)
    assert unclear == []
    return total


@every_construction
@in_every_type
@pytest.mark.parametrize(("longest", "least"), [(3, 70), pytest.param(8, 5_000, marks=slow)])
def test_every_word_of_parentheses_is_traced_as_the_machine_does(construction, longest, least, dtype):
    words = [f"B{''.join(word)}E" for n in range(longest + 1) for word in product("()", repeat=n)]
    total = exact(construction, PARENTHESES, words, STEPS[construction], dtype)
    print(f"{len(words):,} words, {total:,} configurations, {dtype}")
    assert len(words) == 2 ** (longest + 1) - 1
    assert total >= least


@every_construction
@pytest.mark.parametrize(("number", "name"), enumerate(NAMES))
def test_a_machine_of_the_zoo_is_traced_on_a_sample_for_12_steps(construction, number, name):
    word = min((sample.word for sample in zoo.entry(name).samples), key=len)
    assert exact(construction, zoo[name], [word], 12, DTYPES[number % 3]) > 1


@slow
@every_construction
@in_every_type
@pytest.mark.parametrize("name", NAMES)
def test_a_machine_of_the_zoo_is_traced_on_its_samples_for_200_steps(construction, name, dtype):
    words = [sample.word for sample in zoo.entry(name).samples]
    total = exact(construction, zoo[name], words, 200, dtype)
    print(f"{name}: {len(words)} samples, {total:,} configurations, {dtype}")
    assert total >= len(words) + sum(min(200, sample.steps) for sample in zoo.entry(name).samples)


@pytest.mark.parametrize(
    ("construction", "examples", "words", "steps", "least"),
    [
        ("liwang25", 8, 1, 12, 50),
        ("conv", 8, 2, 12, 80),
        pytest.param("liwang25", 200, 1, 20, 8_000, marks=slow),
        pytest.param("conv", 200, 2, 60, 9_000, marks=slow),
    ],
)
def test_random_machines_with_all_three_moves_are_traced_on_random_words(construction, examples, words, steps, least):
    tried = Counter()

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(machines_and_words(words=words, longest=4, most_states=5, most_symbols=5).filter(has_all_moves))
    def compare(machine_and_words):
        machine, words = machine_and_words
        kinds = DTYPES if examples == 200 else [DTYPES[tried["machines"] % 3]]
        tried["machines"] += 1
        tried["configurations"] += sum(exact(construction, machine, words, steps, dtype) for dtype in kinds)

    compare()
    print(dict(tried))
    assert tried["machines"] >= examples
    assert tried["configurations"] >= least
