"""The tape as a row of cells and a step as a convolution: every number of the specification, and the row's ends."""

import inspect
from pathlib import Path

import pytest
import torch
from long_runs import PARENTHESES, STAYS
from machines import walker

import turing
from turing.construction import constructions
from turing.conv import RowOfCells
from turing.machine import TuringMachine
from turing.wcm import CapacityError

torch.set_num_threads(1)  # on small matrices threads wait for each other


def test_every_number_is_the_one_that_the_specification_gives():
    for machine, words in ((PARENTHESES, ["B()E", "B)E", ""]), (STAYS, ["", "1"]), (walker(-1), ["a"])):
        for arithmetic in ("float32", "float64", "bfloat16", "exact"):
            assert turing.verify(RowOfCells(machine, 20, arithmetic), machine, words, 8)


def test_it_is_the_shortest_of_all_constructions():
    lengths = {}
    for name, kind in constructions().items():
        files = Path(inspect.getfile(kind)).parent.glob("*.py")
        lines = [file.read_text(encoding="utf-8").splitlines() for file in files if file.name != "invariant.py"]
        lengths[name] = sum(map(len, lines))
    lengths.pop("whole-tape", None)  # which a test registers
    assert min(lengths, key=lengths.get) == "conv", lengths
    assert lengths["conv"] <= 185


def test_the_weights_do_not_depend_on_the_length_of_the_row():
    short, long = (RowOfCells(PARENTHESES, cells).state_dict() for cells in (6, 600))
    assert all(torch.equal(short[name], long[name]) for name in short)


@pytest.mark.parametrize(("move", "cells", "step"), [(1, 7, 5), (-1, 7, 3), (1, 2, 2), (-1, 2, 1)])
def test_a_run_is_refused_at_the_step_at_which_the_head_leaves_the_row_and_not_before(move, cells, step):
    machine = walker(move)
    network = RowOfCells(machine, cells)
    assert network.run("aa", step - 1) == machine.run("aa", step - 1)
    message = rf"^At step {step} the head leaves the row of {cells} cells\. Compile with more cells\.$"
    with pytest.raises(CapacityError, match=message):
        network.run("aa")
    with pytest.raises(CapacityError, match=f"^At step {step} the head leaves the row"):
        turing.verify(network, machine, ["aa"], step + 1)


def test_a_machine_that_jams_on_the_last_cell_jams():
    machine = TuringMachine({("A", "0"): ("A", "0", 1)}, "A", (), "_", alphabet="_")
    network = RowOfCells(machine, 3)
    assert network.run("00") == machine.run("00")
    assert network.run("00").status == "jammed"


def test_a_word_that_is_longer_than_the_row_is_refused():
    with pytest.raises(CapacityError, match=r"^The word has 4 cells, and the row 3\. Compile with more cells\.$"):
        RowOfCells(PARENTHESES, 3).run("B()E")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cells": 0}, "cells, the length of the row, must be an integer from 1 to 100000, and 0 was given"),
        ({"cells": "9"}, "cells, the length of the row, must be an integer from 1 to 100000, and '9' was given"),
        ({"arithmetic": "int8"}, "An arithmetic is one of float32, float64, bfloat16, exact, and 'int8' was given"),
    ],
)
def test_what_is_no_row_is_refused(options, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        turing.compile(PARENTHESES, "conv", **options)


def test_the_command_line_makes_the_row_long_enough_for_the_steps_that_it_is_given():
    assert RowOfCells.options_for({}, "B()E", 20) == {"cells": 44}
    assert RowOfCells.options_for({"cells": 9}, "B()E", 20) == {"cells": 9}
    assert RowOfCells.options_for({}, "B()E", 10**9) == {"cells": 2_004}
    assert RowOfCells.options_for({}, None) == {"cells": 100} == RowOfCells.options_for({})
