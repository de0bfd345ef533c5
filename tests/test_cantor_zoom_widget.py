"""The Python side of the Cantor zoom: what it hands to a page, and what it refuses."""

import re

import pytest
from every_widget import state

from turing.cantor import Cantor
from turing.widgets import CantorZoom


def test_the_page_carries_the_stack_and_its_code_and_nothing_else():
    assert state(CantorZoom()) == {"stack": "", "base": 4, "digits": [1, 3], "arithmetic": "float32"}
    carried = state(CantorZoom("0110", base=16, digits=(11, 15), arithmetic="float64"))
    assert carried == {"stack": "0110", "base": 16, "digits": [11, 15], "arithmetic": "float64"}


def test_the_plain_text_makes_the_widget_again():
    for widget in (CantorZoom(), CantorZoom("0110", 16, (11, 15), "float64")):
        assert state(eval(repr(widget))) == state(widget)
    assert repr(CantorZoom("01")) == "CantorZoom('01', base=4, digits=(1, 3), arithmetic='float32')"


def test_the_fallback_shows_depth_symbol_and_fraction_of_each_push():
    shown = CantorZoom("101").fallback()
    assert "<tr><th>depth</th><th>pushed</th><th>value</th></tr>" in shown
    rows = [("0", "empty", "0"), ("1", "1", "3/4"), ("2", "0", "7/16"), ("3", "1", "55/64")]
    assert re.findall(r"<tr><td>(.*?)</td><td>(.*?)</td><td>(.*?)</td></tr>", shown) == rows
    assert "float32 holds 12 symbols." in shown
    deep = CantorZoom("01" * 16, 40, (31, 39), "float64").fallback()
    assert f"<td>32</td><td>0</td><td>{Cantor(40, (31, 39)).encode([0, 1] * 16)}</td>" in deep
    assert "in base 40, with digit 31 for symbol 0 and 39 for symbol 1." in deep
    assert "float64 holds 9 symbols." in deep
    assert "<tr><td>0</td><td>empty</td><td>0</td></tr>\n</tbody>" in CantorZoom().fallback()


def test_a_kernel_sets_every_part_and_hears_of_the_page():
    widget = CantorZoom()
    widget.stack, widget.base, widget.digits, widget.arithmetic = "01", 16, [11, 15], "float64"
    assert (widget.stack, widget.base, widget.digits, widget.arithmetic) == ("01", 16, (11, 15), "float64")
    for base, digits in ((40, [31, 39]), (4, [1, 3]), (16, [11, 15])):  # none of which fits the digits of another
        widget.set_state({"base": base, "digits": digits, "stack": "1"})
        assert (widget.base, widget.digits, widget.stack) == (base, tuple(digits), "1")


TEXT = 'The stack is a text of 0 and 1 from the top down, such as "101", and'
FITS = "The digits are integers, the first at least 1"
BAD = [
    ({"stack": "012"}, f"{TEXT} '012' was given."),
    ({"stack": [1, 0]}, f"{TEXT} [1, 0] was given."),
    ({"stack": 101}, f"{TEXT} 101 was given."),
    ({"stack": "1" * 33}, "The widget shows 32 symbols at most, and 33 were given."),
    ({"arithmetic": "exact"}, 'arithmetic is "float32" or "float64", beside the exact value, and \'exact\' was given.'),
    ({"arithmetic": ["float32"]}, "beside the exact value, and ['float32'] was given."),
    ({"digits": (1, 2)}, f"base=4 with digits=(1, 2) was given. {FITS}"),
    ({"digits": (0, 3)}, f"base=4 with digits=(0, 3) was given. {FITS}"),
    ({"digits": (1, 4)}, f"base=4 with digits=(1, 4) was given. {FITS}"),
    ({"digits": 3}, f"base=4 with digits=3 was given. {FITS}"),
    ({"digits": "13"}, f"base=4 with digits='13' was given. {FITS}"),
    ({"base": 3}, f"base=3 with digits=(1, 3) was given. {FITS}"),
    ({"base": "4"}, f"base='4' with digits=(1, 3) was given. {FITS}"),
    ({"base": True}, f"base=True with digits=(1, 3) was given. {FITS}"),
    ({"base": 101}, "The widget draws bases up to 100, and base=101 was given."),
]


@pytest.mark.parametrize(("given", "message"), BAD, ids=[str(given)[:40] for given, _ in BAD])
def test_bad_input_is_refused_with_a_message_that_helps(given, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        CantorZoom(**given)
    ((name, value),) = given.items()
    widget = CantorZoom("1")
    before = getattr(widget, name)
    with pytest.raises(ValueError, match=re.escape(message)):
        setattr(widget, name, value)
    assert getattr(widget, name) == before
