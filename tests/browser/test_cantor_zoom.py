"""The Cantor zoom in a real browser, held against turing.cantor."""

import math
import random
import re
from decimal import Decimal
from fractions import Fraction

import pytest

from pages import MODEL
from turing.cantor import Cantor, DepthError, Stack
from turing.widgets import CantorZoom

CODES = [(base, digits, kind) for base, digits in ((4, (1, 3)), (16, (11, 15)), (40, (31, 39)))
    for kind in ("float32", "float64")]  # fmt: skip
LIMITS = {(4, "float32"): 12, (4, "float64"): 26, (16, "float32"): 6, (16, "float64"): 13,
    (40, "float32"): 4, (40, "float64"): 9}  # fmt: skip

SHOWN = """root => {
  const text = (node) => node.textContent.trim(), all = (selector) => [...root.querySelectorAll(selector)];
  const numbers = (kind) => all(`dd[data-kind=${kind}]`).map(text);
  const [move, float] = all(".account p:nth-child(n + 2)").map(text);
  return {
    fractions: numbers("fraction"), digits: numbers("digits"), decimals: numbers("decimal"),
    error: Number(root.querySelector(".error data").value), died: Number(root.dataset.died),
    exact: all(".rung > b:first-of-type").map(text), float: all(".rung > b + b").map(text),
    wrong: all(".rung").map((rung) => rung.classList.contains("wrong")),
    on: all(".rung").map((rung) => [...rung.querySelectorAll(".bar.on, .name.on")].map((part) => part.dataset.symbol)),
    needles: all(".rung .needle").map((node) => parseFloat(node.style.left) / 100),
    hollows: all(".rung .hollow").map((node) => parseFloat(node.style.left) / 100),
    fold: all(".fold code").map(text), off: all("dd em").map(text), formula: text(root.querySelector(".formula")), move,
    says: float, count: text(root.querySelector(".account .label")),
    chosen: all(".choice [aria-pressed=true]").map(text),
  };
}"""
# Set one stack after another, as a kernel would, and see what is shown of each.
SET = f"""([code, runs]) => {{
  for (const [name, value] of Object.entries(code)) model.set(name, value);
  return runs.map((stacks) => {{
    for (const stack of ["11", ""]) model.set("stack", stack); // not a move: the float starts from 0 too
    return stacks.map((stack) => {{
      model.set("stack", stack);
      return ({SHOWN})(document.querySelector(".turing-cantor-zoom"));
    }});
  }});
}}"""
# The same arithmetic without the page around it.
MOVES = """([code, runs]) => runs.map((moves) => {
  let now = module.begin(code);
  return moves.map((symbol) => {
    now = module.move(now, symbol);
    return [now.stack, module.fraction(now).map(String), now.value, now.died];
  });
})"""


def seen(page, n=0):
    return page.locator(".turing-cantor-zoom").nth(n).evaluate(SHOWN)


def press(page, *names):
    for name in names:
        page.get_by_role("button", name=name, exact=True).first.click()


def as_in_a_kernel(page, widget):
    page.evaluate(MODEL, [widget._esm, widget.get_state()])


def code_of(base, digits, kind):
    return {"base": base, "digits": list(digits), "arithmetic": kind}


def random_moves(draw, limit):
    """Pushes and pops that often lead past what a float holds, and sometimes back; "" is a pop."""
    depth, moves, push = 0, [], draw.choice([0.6, 0.75, 0.95])
    for _ in range(draw.randint(limit, 2 * limit + 8)):
        symbol = draw.choice("01") if not depth or (depth < 32 and draw.random() < push) else ""
        depth += 1 if symbol else -1
        moves.append(symbol)
    return moves


def follow(base, digits, kind, moves):
    """Stack, fraction, float and the move at which the float died, after each move, by turing.cantor.

    A push past the depth is refused there, so that one is spelled out.
    """
    exact, code = Cantor(base, digits), Cantor(base, digits, kind)
    stack, value, died, guarded = "", 0.0, 0, Stack(code)
    for number, symbol in enumerate(moves, start=1):
        if symbol:
            stack, value = symbol + stack, code.round(code.round(value + digits[int(symbol)]) / base)
        else:
            stack, value = stack[1:], code.pop(value)
        died = died or (number if code.decode(value) != [int(each) for each in stack] else 0)
        if guarded and base in (4, 16):  # a power of two: the library refuses this move and none before
            if died:
                with pytest.raises(DepthError):
                    guarded.push(int(symbol))
                guarded = None
            else:
                guarded.push(int(symbol)) if symbol else guarded.pop()
                assert guarded.value == value
        yield stack, exact.encode([int(each) for each in stack]), value, died


@pytest.mark.parametrize("count", [50, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.parametrize("code", CODES, ids=str)
def test_in_random_runs_fraction_float_and_the_move_at_which_it_dies_are_those_of_the_library(code, count, open_page):
    base, _, kind = code
    page, draw = open_page(), random.Random(f"{code}")
    as_in_a_kernel(page, CantorZoom())
    runs = [random_moves(draw, LIMITS[base, kind]) for _ in range(count)]
    dead = 0
    for found, moves in zip(page.evaluate(MOVES, [code_of(*code), runs]), runs, strict=True):
        expected = list(follow(*code, moves))
        got = [(stack, Fraction(*map(int, pair)), float(value), died) for stack, pair, value, died in found]
        assert got == expected
        assert [pair for _, pair, _, _ in found] == [[f"{x.numerator}", f"{x.denominator}"] for _, x, _, _ in expected]
        dead += expected[-1][3] > 0
    assert count / 4 < dead < count


def digits_in(number, base, places):
    """So many digits of a number that is rounded to them."""
    whole, kept = divmod(math.floor(number * base**places + Fraction(1, 2)), base**places)
    digits = [kept // base**i % base for i in reversed(range(places))]
    rounded = " ≈" if number * base**places % 1 else ""
    return whole, digits, (f"{whole}." + " ".join(map(str, digits)) if places else f"{whole}") + rounded


def reading(code, value, n):
    """What is left of a float after 0 to n pops, and what it reads there."""
    left, symbols, ended = [], [], False
    for k in range(n + 1):
        ended = ended or not code.nonempty(value) or (k == n >= code.depth)
        left.append(value)
        symbols.append("–" if ended else f"{code.top(value)}")
        value = code.pop(value)
    return left, symbols


def agrees(shown, code, stack, fraction, value, died):
    base, digits, kind = code
    n, cantor = len(stack), Cantor(base, digits, kind)
    lines = [k for k in range(n + 1) if n < 10 or k < 3 or k > n - 6]
    assert shown["fractions"] == [str(fraction), str(Fraction(value))]
    assert shown["died"] == died
    (_, exact, text), (_, floats, rough) = (digits_in(x, base, n) for x in (fraction, Fraction(value)))
    assert shown["digits"] == [text, rough]
    assert exact == [digits[int(symbol)] for symbol in stack]
    assert shown["off"] == [f"{b}" for a, b in zip(exact, floats, strict=True) if a != b]
    for decimal, number in zip(shown["decimals"], (fraction, Fraction(value)), strict=True):
        gap = number - Fraction(Decimal(decimal.rstrip("…")))
        assert 0 < gap < Fraction(1, 10**18) if decimal.endswith("…") else gap == 0
    assert math.isclose(shown["error"], Fraction(value) - fraction, rel_tol=1e-12)
    left, symbols = reading(cantor, value, n)
    cells = [*stack, "–"]
    assert shown["exact"] == [cells[k] for k in lines]
    assert shown["float"] == [symbols[k] for k in lines]
    assert shown["wrong"] == [cells[k] != symbols[k] for k in lines]
    assert shown["on"] == [[*stack[k : k + 1] * 2] for k in lines]
    if len(lines) <= n:
        hidden = slice(3, n - 5)
        assert shown["fold"][0] == stack[hidden]
        assert shown["fold"][-1] == "".join(symbols[hidden])
    below = Cantor(base, digits)
    places = [float(below.encode([int(symbol) for symbol in stack[k:]])) for k in lines]
    for marks, numbers in (("needles", places), ("hollows", [left[k] for k in lines])):
        assert all(math.isclose(*pair, abs_tol=1e-4) for pair in zip(shown[marks], numbers, strict=True))
    assert shown["chosen"] == [f"{base} {digits}", kind]
    assert ("one too many" in shown["says"] or "has been off since" in shown["says"]) == (died > 0)


def test_in_random_runs_the_page_shows_every_number_symbol_and_line_of_the_library(open_page):
    page, draw = open_page(reduced_motion="reduce"), random.Random(7)
    as_in_a_kernel(page, CantorZoom())
    for code in CODES:
        runs = [list(follow(*code, random_moves(draw, LIMITS[code[0], code[2]]))) for _ in range(4)]
        views = page.evaluate(SET, [code_of(*code), [[stack for stack, *_ in run] for run in runs]])
        for run, shown in zip(runs, views, strict=True):
            for expected, view in zip(run, shown, strict=True):
                agrees(view, code, *expected)


def of_moves(code, moves):
    return list(follow(*code, moves))[-1]


@pytest.mark.parametrize("code", CODES, ids=str)
def test_the_examples_fill_a_float_cost_it_a_symbol_and_pop_all_there_is(code, open_page):
    base, digits, kind = code
    limit = LIMITS[base, kind]
    page = open_page(CantorZoom("1", base, digits, kind))
    press(page, "Fill to the limit")
    full = "".join(f"{i.bit_count() % 2}" for i in range(limit))  # from the bottom up
    shown = seen(page)
    agrees(shown, code, *of_moves(code, full))
    assert shown["says"] == f"{kind} is full: it holds {limit} symbols of base {base}."
    press(page, "One too many")
    shown = seen(page)
    agrees(shown, code, *of_moves(code, full + "1"))
    assert shown["died"] == limit + 1
    holds = f"{kind} holds {limit} symbols of base {base}, and turing.cantor.Stack refuses this push."
    assert shown["says"].startswith(f"Move {limit + 1} is one too many: {holds} ")
    assert any(shown["wrong"]) != shown["says"].endswith("This time all its symbols still read right.")
    if base == 4:  # the bottom symbol is gone, and no other
        assert shown["wrong"] == [symbol == "–" for symbol in [*shown["exact"][1:], ""]]
    press(page, "Pop everything")
    shown = seen(page)
    agrees(shown, code, *of_moves(code, [*full, "1", *[""] * (limit + 1)]))
    assert (shown["fractions"][0], shown["count"]) == ("0", f"move {2 * limit + 2}, depth 0")
    exact = "1" + full[::-1]
    assert f"Popped: {exact}" in shown["says"]
    if base == 4:
        assert shown["says"].endswith(f"Popped: {exact}, by {kind} {exact[:-1]}–.")
    press(page, "Start again")
    agrees(seen(page), code, "", Fraction(0), 0.0, 0)
    assert seen(page)["count"] == "move 0, depth 0"


def test_pushes_and_pops_divide_and_multiply_and_leave_another_widget_alone(open_page):
    page = open_page(CantorZoom(), CantorZoom("1"))
    root = page.locator(".turing-cantor-zoom").first
    code = (4, (1, 3), "float32")
    moves = []
    steps = [
        ("Push 1", "1", "(x + 3) / 4 = (0 + 3) / 4 = 3/4"),
        ("Push 0", "0", "(x + 1) / 4 = (3/4 + 1) / 4 = 7/16"),
        ("Push 1", "1", "(x + 3) / 4 = (7/16 + 3) / 4 = 55/64"),
        ("Pop", "", "4x − 3 = 4 · 55/64 − 3 = 7/16"),
        ("Pop", "", "4x − 1 = 4 · 7/16 − 1 = 3/4"),
        ("Pop", "", "4x − 3 = 4 · 3/4 − 3 = 0"),
    ]
    for name, move, formula in steps:
        root.get_by_role("button", name=name, exact=True).click()
        moves.append(move)
        shown = seen(page)
        agrees(shown, code, *of_moves(code, moves))
        assert shown["formula"] == formula
        assert shown["count"] == f"move {len(moves)}, depth {len(shown['exact']) - 1}"
    root.get_by_role("button", name="Pop", exact=True).click(force=True)
    assert seen(page) == shown  # an empty stack stays empty
    agrees(seen(page, 1), code, *of_moves(code, "1"))


SMALL, SIXTEEN = (4, (1, 3), "float32"), (16, (11, 15), "float32")
EMPTY = "Here x is 0, the empty stack. A push divides by 4 and moves x into a symbol's interval."
PUSHED = "Push {0}: the line shrinks to 1/4 of its length, and x lies in the interval of {0}, the top symbol."
POPPED = "Pop: the interval of {} grows {} times, to the whole line, and x "
REFUSED = "Move {} is one too many: {} holds {} symbols of base 4, and turing.cantor.Stack refuses this push. "
SAYS = [
    (SMALL, [""], EMPTY, "float32 has room for 12 more symbols."),
    (SMALL, ["01"], "Here x lies in the interval of 0, the top symbol.", "float32 has room for 10 more symbols."),
    (SMALL, ["1" * 10, "1" * 11], PUSHED.format(1), "float32 has room for 1 more symbol."),
    (SMALL, ["01", "1"], POPPED.format(0, 4) + "lies in the interval of 1, the top symbol.",
        "float32 has room for 11 more symbols."),
    (SMALL, ["01", "1", ""], POPPED.format(1, 4) + "is 0, the empty stack.",
        "float32 has room for 12 more symbols. Popped: 01."),
    (SMALL, ["0" * 12, "1" + "0" * 12], PUSHED.format(1),
        REFUSED.format(13, "float32", 12) + "The bottom symbol, 0, is lost."),
    (SMALL, ["0" * 12, "1" + "0" * 12, "11" + "0" * 12], PUSHED.format(1),
        "Move 13 was one too many for float32. Symbol 13 is the first of 2 that are lost or wrong."),
    ((4, (1, 3), "float64"), ["0" * 26, "0" * 27], PUSHED.format(0),
        REFUSED.format(27, "float64", 26) + "This time all its symbols still read right."),
    (SIXTEEN, ["0" * 6, "1" + "0" * 6, "0" * 6], POPPED.format(1, 16) + "lies in the interval of 0, the top symbol.",
        "Move 7 was one too many for float32. The bottom symbol, 0, reads as 1."),
    (SIXTEEN, ["0" * 6, "1" + "0" * 6, "0" * 6, "0" * 5], POPPED.format(0, 16) + "lies in the interval of 0, the top "
        "symbol.", "Move 7 was one too many for float32. The bottom symbol, 0, reads as 1. It goes on where the exact "
        "stack ends. Popped: 10."),
    (SMALL, ["10" * 15 + "1", "1" + "10" * 15 + "1"], PUSHED.format(1), "Move 13 was one too many for float32. "
        "Symbol 13 is the first of 10 that are lost or wrong. The picture ends at 32 symbols."),
]  # fmt: skip


def test_two_sentences_say_what_a_move_did_and_how_the_float_fares(open_page):
    page = open_page()
    as_in_a_kernel(page, CantorZoom())
    for code, stacks, move, says in SAYS:
        (views,) = page.evaluate(SET, [code_of(*code), [stacks]])
        assert (views[-1]["move"], views[-1]["says"]) == (move, says)


def test_in_base_40_a_float_is_off_within_its_depth_and_the_page_says_why(open_page):
    code, draw = (40, (31, 39), "float32"), random.Random(1)
    while True:
        moves = random_moves(draw, 4)
        run = list(follow(*code, moves))
        if run[-1][3] and max(len(stack) for stack, *_ in run) <= 4:
            break
    page = open_page()
    as_in_a_kernel(page, CantorZoom())
    (views,) = page.evaluate(SET, [code_of(*code), [[stack for stack, *_ in run]]])
    agrees(views[-1], code, *run[-1])
    died = run[-1][3]
    assert views[-1]["says"].startswith(f"float32 has been off since move {died}: in base 40 every push rounds.")


def test_base_digits_and_arithmetic_change_while_the_stack_stays(open_page):
    page = open_page(CantorZoom("0110100", 10, (2, 5)))
    for base, digits, kind in ((10, (2, 5), "float32"), *CODES, (10, (2, 5), "float64")):
        press(page, f"{base} {digits}", kind)
        agrees(seen(page), (base, digits, kind), *of_moves((base, digits, kind), "0010110"))
    assert page.locator(".choice button").all_inner_texts() == [
        "4 (1, 3)", "16 (11, 15)", "40 (31, 39)", "10 (2, 5)", "float32", "float64"
    ]  # fmt: skip


def test_keys_push_and_pop_and_everything_can_be_reached(open_page):
    page = open_page(CantorZoom())
    code, reached = (4, (1, 3), "float32"), []
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.textContent"))
    assert reached == [
        "4 (1, 3)", "16 (11, 15)", "40 (31, 39)", "float32", "float64", "Push 0", "Push 1", "Pop",
        "Fill to the limit", "One too many", "Pop everything", "Start again",
    ]  # fmt: skip
    for key in "1101":
        page.keyboard.press(key)
    page.keyboard.press("Backspace")
    page.keyboard.press("Control+1")
    page.keyboard.press("7")
    agrees(seen(page), code, *of_moves(code, ["1", "1", "0", "1", ""]))
    pop = page.get_by_role("button", name="Pop", exact=True)
    for key in ("Space", "Enter", "Backspace", "Backspace"):
        pop.press(key)
    agrees(seen(page), code, *of_moves(code, ["1", "1", "0", "1", "", "", "", ""]))
    assert pop.get_attribute("aria-disabled") == "true"
    assert page.evaluate("document.activeElement.textContent") == "Pop"  # the focus is not lost
    for _ in range(40):
        page.keyboard.press("1")
    assert seen(page)["count"] == "move 40, depth 32"
    assert page.get_by_role("button", name="Push 1").get_attribute("aria-disabled") == "true"


def test_a_click_beside_the_buttons_is_enough_for_the_keys(open_page):
    page = open_page(CantorZoom())
    page.locator(".account").click()
    page.keyboard.press("1")
    assert seen(page)["fractions"] == ["3/4", "3/4"]


def test_a_line_begins_where_the_interval_above_it_begins_and_the_gaps_are_empty(open_page):
    page = open_page(CantorZoom("10", 16, (11, 15)))
    for base, digits in ((16, (11, 15)), (40, (31, 39)), (4, (1, 3))):
        press(page, f"{base} {digits}")
        boxes = """line => [line, ...line.querySelectorAll(".bar, .needle, .zoom")].map(node => {
            const {left, width} = node.getBoundingClientRect();
            return [left, width];
        })"""
        (start, length), *parts = page.locator(".line").first.evaluate(boxes)
        zoom, low, high, needle = (((left - start) / length, width / length) for left, width in parts)
        assert low == pytest.approx((digits[0] / base, 1 / base), abs=0.005)
        assert high == pytest.approx((digits[1] / base, 1 / base), abs=0.005)
        assert needle[0] == pytest.approx((digits[1] + digits[0] / base) / base, abs=0.005)
        assert zoom == pytest.approx((0, 1))
        corners = page.locator(".zoom").first.evaluate("node => node.style.clipPath")
        edges = [float(x) / 100 for x in re.findall(r"([\d.]+)% 0(?:px|%)", corners)]
        assert edges == pytest.approx([digits[1] / base, (digits[1] + 1) / base])


def test_symbols_are_blue_numbers_are_ink_and_both_follow_the_theme(open_page):
    page = open_page(CantorZoom("10"))
    style = "([selector, name]) => getComputedStyle(document.querySelector(selector))[name]"
    expected = {"light": ("0, 103, 168", "27, 31, 39"), "dark": ("108, 184, 240", "242, 240, 234")}
    for theme, (blue, ink) in expected.items():
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        for selector, name, colour in (
            (".rung b", "color", blue), (".bar.on i", "backgroundColor", blue), (".name.on", "color", blue),
            (".needle", "backgroundColor", ink), (".hollow", "backgroundColor", ink), ("dd", "color", ink),
        ):  # fmt: skip
            assert page.evaluate(style, [selector, name]) == f"rgb({colour})"


def test_the_line_moves_unless_a_reader_asked_for_less_motion_and_others_hear_of_the_move(open_page):
    moving = "document.getAnimations().length"
    page = open_page(CantorZoom("1"), reduced_motion="reduce")
    press(page, "Push 0")
    assert page.evaluate(moving) == 0
    page = open_page(CantorZoom("1"))
    for name in ("Push 0", "Pop"):
        press(page, name)
        assert page.evaluate(moving) > 3
        page.evaluate("document.getAnimations().forEach(animation => animation.finish())")
    live = page.locator("[aria-live=polite]")
    assert live.get_attribute("aria-atomic") == "true"
    assert "Pop: the interval of 0 grows 4 times" in live.inner_text()
    assert page.locator(".rung .says").all_inner_texts() == [
        "Symbol 1 from the top: 1; float32 reads 1.", "The empty stack; float32 is empty."
    ]  # fmt: skip


def test_a_kernel_hears_of_the_reader_and_moves_the_stack(open_page):
    page, widget = open_page(), CantorZoom("01")
    as_in_a_kernel(page, widget)
    names = ("stack", "base", "digits", "arithmetic")
    state = {"stack": "01", "base": 4, "digits": [1, 3], "arithmetic": "float32"}
    changes = [
        ("Push 1", {"stack": "101"}),
        ("Pop", {"stack": "01"}),
        ("float64", {"arithmetic": "float64"}),
        ("40 (31, 39)", {"base": 40, "digits": [31, 39]}),
        ("Fill to the limit", {"stack": "110010110"}),
        ("Pop everything", {"stack": ""}),
        ("4 (1, 3)", {"base": 4, "digits": [1, 3]}),
    ]
    for name, change in changes:
        press(page, name)
        state |= change
        saved = {key: page.evaluate("model.saved.at(-1)")[key] for key in names}
        assert saved == state
        widget.set_state(saved)
        assert (widget.stack, widget.base, list(widget.digits)) == (state["stack"], state["base"], state["digits"])
    page.evaluate("model.set('stack', '1')")
    assert seen(page)["formula"] == "(x + 3) / 4 = (0 + 3) / 4 = 3/4"
    page.evaluate("model.set('stack', '0001')")
    assert seen(page)["formula"] == "push: (x + d) / 4, pop: 4x − d"  # not a move: a new stack
    agrees(seen(page), (4, (1, 3), "float64"), *of_moves((4, (1, 3), "float64"), "1000"))
