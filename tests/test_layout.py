"""Names for the places of a vector: where slices begin, what places are called, and how bad layouts are refused."""

import copy
import pickle
import re
from collections import Counter

import pytest

import turing
from paper import BALANCED
from turing.layout import FAMILIES, Layout, Slice, state_vector

PAPER = state_vector(BALANCED, bits=7)
# Section 5 of the paper, in its order; sizes for 6 states, 5 symbols and 7 bits.
SLICES = {"st": 6, "sym1": 5, "sym2": 5, "pos1": 7, "pos2": 7, "pos3": 7}
SCRATCH = {"scr1": 5, "scr2": 5, "scr3": 7, "scr4": 3, "scr5": 2}


@pytest.fixture
def layout():
    return Layout(st=["I", "R", "M"], pos=4, carry=1, none=0)


# Places and names.


def test_slices_lie_one_after_the_other_in_the_order_given(layout):
    assert [(part.name, part.start, part.size) for part in layout] == [
        ("st", 0, 3),
        ("pos", 3, 4),
        ("carry", 7, 1),
        ("none", 8, 0),
    ]
    assert layout.width == 8


def test_a_place_has_an_index_by_number_and_by_label(layout):
    assert [layout.pos[k] for k in range(4)] == list(layout.pos) == [3, 4, 5, 6]
    assert [layout.st[label] for label in "IRM"] == [layout.st[k] for k in range(3)] == [0, 1, 2]
    assert layout.pos[-1] == 6
    assert layout["pos"] is layout.pos


def test_a_place_has_a_name_and_a_name_belongs_to_one_place(layout):
    names = ["st[I]", "st[R]", "st[M]", "pos[0]", "pos[1]", "pos[2]", "pos[3]", "carry"]
    assert layout.names() == [layout.name(i) for i in range(8)] == names
    assert len(set(PAPER.names())) == PAPER.width


def test_every_place_is_in_the_slice_that_the_layout_returns_for_it(layout):
    for index in range(layout.width):
        assert index in list(layout.of(index))
    assert {part.name for part in map(layout.of, range(8))} == {"st", "pos", "carry"}  # an empty slice has no place


def test_a_slice_cuts_its_places_out_of_a_vector(layout):
    vector = list(range(8))
    for part in layout:
        assert vector[part.slice] == list(part)
        assert len(part) == part.size == len(part.names())


def test_two_layouts_are_added_by_putting_one_after_the_other(layout):
    both = layout + Layout(out=["x", "y"], more=2)
    assert both.names() == [*layout.names(), "out[x]", "out[y]", "more[0]", "more[1]"]
    assert (both.width, both.out["y"]) == (12, 9)
    assert layout.width == 8


def test_layouts_are_equal_if_names_sizes_labels_and_order_are():
    assert Layout(a=2, b=1) == Layout(a=2, b=1)
    assert hash(Layout(a=2, b=1)) == hash(Layout(a=2, b=1))
    different = [Layout(b=1, a=2), Layout(a=2, b=2), Layout(a=["0", "1"], b=1), Layout(a=2), "Layout(a=2, b=1)"]
    assert all(Layout(a=2, b=1) != other for other in different)


def test_a_layout_prints_as_the_code_that_makes_it(layout):
    assert repr(layout) == "Layout(st=['I', 'R', 'M'], pos=4, carry=1, none=0)"
    assert eval(repr(layout), {"Layout": Layout}) == layout
    assert repr(Layout()) == "Layout()"
    assert (repr(layout.pos), repr(layout.carry)) == ("Slice('pos', 3 to 6)", "Slice('carry', 7)")


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_layout_can_be_copied_and_pickled(layout, again):
    other = again(layout)
    assert other == layout
    assert (other.width, other.st["M"]) == (8, 2)


def test_a_slice_may_be_called_self():
    assert Layout(self=2).names() == ["self[0]", "self[1]"]


# The state vector of a machine.


def test_the_vector_of_the_papers_machine_has_59_places():
    assert PAPER.width == 59 == 6 + 2 * 5 + 3 * 7 + 22
    assert {part.name: part.size for part in PAPER} == SLICES | SCRATCH
    assert sum(SCRATCH.values()) == 22


def test_place_36_of_the_papers_machine_is_the_last_bit_of_pos3():
    assert PAPER.name(36) == "pos3[6]"
    assert PAPER.pos3[6] == 36
    assert (PAPER.st.labels, PAPER.sym1.labels) == (BALANCED.states, BALANCED.symbols)
    assert PAPER.names()[-5:] == ["scr4[visited]", "scr4[word]", "scr4[blank]", "scr5[R]", "scr5[L]"]


@pytest.mark.parametrize("bits", [1, 7, 20])
@pytest.mark.parametrize("name", turing.zoo)
def test_the_width_is_q_plus_four_gamma_plus_four_bits_plus_five(name, bits):
    machine = turing.zoo[name]
    layout = state_vector(machine, bits)
    assert layout.width == len(machine.states) + 4 * len(machine.symbols) + 4 * bits + 5
    assert len(set(layout.names())) == layout.width


# Colours.


def test_each_family_has_its_colour_and_no_two_slices_have_the_same():
    colours = {part.name: part.colour for part in PAPER}
    for name, colour in colours.items():
        family = re.sub(r"\d", "", name)
        assert f"var(--turing-{family},{FAMILIES[family]})" in colour
        assert not any(f"--turing-{other}," in colour for other in set(FAMILIES) - {family})
    assert set(Counter(colours.values()).values()) == {1}


def test_the_first_of_a_family_has_the_colour_itself():
    assert PAPER.sym1.colour == "var(--turing-sym,#0067A8)" == Slice("sym", 0, 1).colour
    assert PAPER.sym2.colour == "color-mix(in srgb,var(--turing-sym,#0067A8) 92%,var(--turing-ground,#FFFFFF))"


def test_a_slice_of_no_family_is_drawn_in_ink():
    for name in ("carry", "position", "st_", "s", "posx1", "symbol"):
        assert Slice(name, 0, 1).colour == "var(--turing-ink,#1B1F27)"


def test_a_family_with_many_members_does_not_run_out_of_colours():
    assert Slice("pos9", 0, 1).colour == Slice("pos5", 0, 1).colour
    assert Slice("pos0", 0, 1).colour == Slice("pos1", 0, 1).colour


# Bad input.

PLACES = "a slice is given by its size, such as a=3, or by the labels of its places, such as a=['a', 'b']."
BAD = {
    "a label that is not there": (
        lambda: PAPER.scr5["N"],
        KeyError,
        "scr5 has no place labelled 'N'. Its labels: R L",
    ),
    "a label where there are none": (
        lambda: PAPER.pos1["N"],
        KeyError,
        "pos1 has no place labelled 'N'. Its labels: none; its places are pos1[0] to pos1[6]",
    ),
    "a place past the end": (
        lambda: PAPER.pos1[7],
        IndexError,
        "pos1[7] does not exist: pos1 has 7 places, from 0 on.",
    ),
    "a place before the beginning": (
        lambda: PAPER.pos1[-8],
        IndexError,
        "pos1[-8] does not exist: pos1 has 7 places, from 0 on.",
    ),
    "a place that is true": (
        lambda: PAPER.pos1[True],
        TypeError,
        "A place of pos1 is a number or a label, and True was given.",
    ),
    "a place that is a fraction": (
        lambda: PAPER.pos1[1.0],
        TypeError,
        "A place of pos1 is a number or a label, and 1.0 was given.",
    ),
    "an attribute that is not a slice": (
        lambda: Layout(a=1, b=2).c,
        AttributeError,
        "This layout has no slice 'c'. Its slices: a b",
    ),
    "a key that is not a slice": (
        lambda: Layout(a=1, b=2)["c"],
        KeyError,
        "This layout has no slice 'c'. Its slices: a b",
    ),
    "an index past the end": (
        lambda: PAPER.name(59),
        IndexError,
        "Place 59 is outside this vector: it has 59 places, from 0 on.",
    ),
    "a negative index": (
        lambda: PAPER.of(-1),
        IndexError,
        "Place -1 is outside this vector: it has 59 places, from 0 on.",
    ),
    "an index that is a fraction": (
        lambda: PAPER.name(1.5),
        IndexError,
        "Place 1.5 is outside this vector: it has 59 places, from 0 on.",
    ),
    "an index that is a name": (
        lambda: PAPER.name("pos1"),
        IndexError,
        "Place 'pos1' is outside this vector: it has 59 places, from 0 on.",
    ),
    "two layouts with the same slice": (
        lambda: Layout(a=1, b=1) + Layout(b=2),
        ValueError,
        "Both layouts have a slice 'b'; rename one.",
    ),
    "two places with the same label": (
        lambda: Layout(a=["x", "y", "x"]),
        ValueError,
        "a=['x', 'y', 'x']: two places have the same label.",
    ),
    "the name of a machine": (
        lambda: state_vector("bb4", 3),
        TypeError,
        "state_vector takes a TuringMachine, and 'bb4' was given.",
    ),
    "a position without bits": (
        lambda: state_vector(BALANCED, 0),
        ValueError,
        "bits, the length of a position, must be an integer of at least 1, and 0 was given.",
    ),
    "a number of bits that is true": (
        lambda: state_vector(BALANCED, True),
        ValueError,
        "bits, the length of a position, must be an integer of at least 1, and True was given.",
    ),
    "a number of bits that is a fraction": (
        lambda: state_vector(BALANCED, 7.0),
        ValueError,
        "bits, the length of a position, must be an integer of at least 1, and 7.0 was given.",
    ),
}
for name in ("width", "slices", "names", "name", "of", "_a", "__init__"):
    BAD[f"a slice called {name}"] = (
        lambda name=name: Layout(**{name: 1}),
        ValueError,
        f"The name {name!r} is taken: layout.{name} means something else. Choose another.",
    )
for places in (-1, True, 2.0, None, "ab", b"ab", [1, 2], ["a", None], {"x"}, frozenset("x"), {"x": 1}):
    BAD[f"a slice of {places!r}"] = (lambda places=places: Layout(a=places), TypeError, f"a={places!r}: {PLACES}")


@pytest.mark.parametrize("case", BAD)
def test_a_place_or_layout_that_makes_no_sense_is_refused_with_its_reason(case):
    action, error, message = BAD[case]
    with pytest.raises(error) as caught:
        action()
    assert caught.value.args == (message,)


def test_a_layout_can_only_be_added_to_a_layout():
    with pytest.raises(TypeError, match="unsupported operand"):
        Layout(a=1) + 1


def test_a_layout_can_be_asked_whether_it_has_a_slice(layout):
    assert hasattr(layout, "pos")
    assert not hasattr(layout, "pos1")
    assert not hasattr(layout, "__len__")


# What is loaded.
