"""The weight reader on the Python side."""

import pytest
from every_widget import NAMED, PAPER, every_form, state

from turing.dnf import DNF, Transition
from turing.layout import state_vector
from turing.widgets import WeightReader

DELTA = Transition(PAPER, state_vector(PAPER, 2))


def test_the_page_gets_the_numbers_of_the_transition_and_its_picture():
    given = state(every_form("WeightReader")[0])
    assert given["picture"].startswith("<svg ")
    assert given["picture"].count("data-at=") == sum(
        len(weight["values"]) for weight in given["network"]["weights"].values()
    )
    assert (given["word"], given["step"]) == ("B()E", 0)


def test_a_new_word_starts_again_and_one_that_does_not_fit_is_refused():
    reader = WeightReader(DELTA, PAPER, "B()E")
    reader.step = 3
    reader.word = "B(E"
    assert reader.step == 0
    with pytest.raises(ValueError, match="Symbol 'x'"):
        reader.word = "Bx"
    assert repr(reader) == f"WeightReader({PAPER!r}, 'B(E')"


@pytest.mark.parametrize(
    ("delta", "machine", "error", "says"),
    [
        (DELTA, "B()E", TypeError, r"takes a transition and then its TuringMachine, and 'B\(\)E' was given"),
        (DELTA, NAMED, ValueError, "The transition has no slice 'st' with the labels"),
        (DNF(["11"]), PAPER, ValueError, "The transition has no slice 'st' with the labels I R M V F T"),
    ],
)
def test_what_is_no_transition_of_the_machine_is_refused(delta, machine, error, says):
    with pytest.raises(error, match=says):
        WeightReader(delta, machine)
