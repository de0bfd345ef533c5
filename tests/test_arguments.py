"""Checks of arguments: what they accept, and what their errors say."""

import numpy
import pytest

from turing.arguments import count, integer, listed, printable, step_limit, word, words


class Seven:
    def __index__(self):
        return 7


@pytest.mark.parametrize("value", [7, numpy.int64(7), numpy.uint8(7), Seven()])
def test_an_integer_is_anything_with_an_index(value):
    found = integer("bits", value, 7, 7)
    assert (found, type(found)) == (7, int)


@pytest.mark.parametrize("value", [0, -1, 1.0, "1", None, True, numpy.bool_(True), numpy.float64(1)])
def test_what_is_not_an_integer_of_at_least_1_is_refused(value):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the full message is compared below)
        integer("bits", value, 1)
    assert str(caught.value) == f"bits must be an integer of at least 1, and {value!r} was given."


@pytest.mark.parametrize("value", [-4, 4])
def test_an_integer_outside_its_limits_is_refused(value):
    message = f"p, a position, must be an integer from -3 to 3, and {value} was given."
    with pytest.raises(ValueError, match=f"^{message}$"):
        integer("p", value, -3, 3, what="a position")


def test_a_step_limit_is_an_integer_of_at_least_0():
    assert step_limit(numpy.int64(0)) == 0
    with pytest.raises(ValueError, match=r"^max_steps must be an integer of at least 0, and -1 was given\.$"):
        step_limit(-1)


def test_a_word_is_a_string_or_becomes_a_tuple():
    assert word("()") == "()"
    assert word(iter("()")) == ("(", ")")
    assert words(["()", ["a", "b"], ""]) == ["()", ("a", "b"), ""]


@pytest.mark.parametrize("value", [None, 101, b"()", {"("}, frozenset("("), {"(": 1}])
def test_what_is_not_a_word_is_refused(value):
    for call in (word, lambda value: words(["()", value])):
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            call(value)
        assert str(caught.value) == f"A word is a string or a sequence of symbols, and {value!r} was given."


@pytest.mark.parametrize("value", [None, 101, b"()", {"()": 1}])
def test_what_is_not_a_list_of_words_is_refused(value):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        words(value)
    assert str(caught.value) == f"A list of words is expected, and {value!r} was given."


def test_a_single_word_is_not_a_list_of_words():
    with pytest.raises(ValueError, match=r"and the single word '\(\)' was given\. Write \['\(\)'\]\.$"):
        words("()")


def test_a_count_has_the_right_form_of_its_noun():
    assert [count(n, "step") for n in (0, 1, 2, 1000)] == ["0 steps", "1 step", "2 steps", "1,000 steps"]
    assert count(2, "bias", "biases") == "2 biases"


def test_a_long_list_of_names_is_cut_short_and_spaces_are_visible():
    assert listed(["a", " ", "\n", "b c"]) == "a ' ' '\\n' b c"
    assert listed(map(str, range(31))).endswith("28 29 … (31 in all)")


def test_printable_text_has_escapes_for_what_a_terminal_would_obey():
    assert printable("é δ\n\x1b[2J\ud800") == "é δ\\n\\x1b[2J\\ud800"
