"""The attention explorer in a real browser, held against the library's own heads."""

import math
import random
import re

import pytest
import torch

from pages import MODEL
from turing.attention import Lookup, least_kappa
from turing.layout import Layout
from turing.widgets import AttentionExplorer

SHOWN = """root => {
  const text = (node) => node.textContent.replaceAll("\\u00a0", " ").trim();
  const all = (selector) => [...root.querySelectorAll(selector)];
  const [result, hard, error] = all("dd data");
  return {
    query: all(".query .bit b").map(text).join(""),
    keys: all(".pairs .entry").map(row => [...row.querySelectorAll(".cells b")].map(text).join("")),
    notes: all(".pairs .entry").map(row => [...row.querySelectorAll(".cells i")].map(text)),
    values: all(".pairs .value b").map(node => Number(text(node))),
    scores: all(".score data").map(node => Number(node.value)),
    scoreTexts: all(".score data").map(text),
    weights: all(".weight data").map(node => Number(node.value)),
    weightTexts: all(".weight data").map(text),
    bars: all(".track i").map(bar => bar.hidden ? null : parseFloat(bar.style.width) / 100),
    best: all(".entry").filter(row => row.querySelector(".score")).map(row => row.classList.contains("best")),
    result: Number(result.value), hard: Number(hard.value), error: Number(error.value),
    texts: [result, hard, error].map(text),
    says: text(root.querySelector(".account")), hint: text(root.querySelector(".hint")),
    kappa: root.querySelector("[type=number]").valueAsNumber,
    chosen: all(".choice [aria-pressed=true]").map(text), formula: text(root.querySelector(".formula code")),
  };
}"""
# Set one state after another, as a kernel would, and see what is shown of each.
SET = f"""states => states.map(state => {{
  for (const [name, value] of Object.entries(state)) model.set(name, value);
  return ({SHOWN})(document.querySelector(".turing-attention-explorer"));
}})"""


def seen(page, n=0):
    return page.locator(".turing-attention-explorer").nth(n).evaluate(SHOWN)


def button(page, name):
    """The button of this name; what it stands at may follow, as in "Query, bit 0: 1"."""
    return page.get_by_role("button", name=re.compile(f"^{name}(:|$)")).first


def press(page, name):
    button(page, name).click()


def as_in_a_kernel(page, widget):
    page.evaluate(MODEL, [widget._esm, widget.get_state()])


def in_torch(state):
    """Scores, weights and result of a head of the library that looks the query up."""
    n, dtype = len(state["query"]), getattr(torch, state["dtype"])
    x = Layout(ask=n, address=n, content=1, found=1)
    head = Lookup(x.width, x.ask, x.address, x.content, x.found, state["kappa"], state["average"]).to(dtype)
    bits = lambda word: [int(bit) for bit in word]  # noqa: E731
    asking = torch.tensor([[*bits(state["query"]), *[0] * n, 0, 0]], dtype=dtype)
    columns = torch.tensor([[*[0] * n, *bits(key), value, 0] for key, value in state["pairs"]], dtype=dtype)
    keys, values = head.remember(columns)
    result = head(asking, keys, values)[0, x.found.slice].item()
    return head.scores(asking, keys)[0].tolist(), head.weights(asking, keys)[0].tolist(), result


def hard_attention(state, scores):
    values = [*(value for _, value in state["pairs"]), 0]
    best = [value for value, score in zip(values, scores, strict=True) if score == max(scores)]
    return torch.tensor(sum(best) / len(best), dtype=getattr(torch, state["dtype"])).item()


def setting(draw, bits):
    """A query, and keys of which some match it, at a κ of any size."""
    word = lambda: "".join(draw.choice("01") for _ in range(bits))  # noqa: E731
    query, fits = word(), draw.random()
    pairs = [[query if draw.random() < fits else word(), draw.randint(0, 1)] for _ in range(draw.randint(1, 16))]
    kappas = [9999, 208, 207, 1491, 1490, draw.randint(1, 9999), round(9999 ** draw.random(), 3)]
    return {
        "query": query, "pairs": pairs, "kappa": draw.choice(kappas),
        "average": draw.choice(["ratio", "literal"]), "dtype": draw.choice(["float32", "float64"]),
    }  # fmt: skip


def agrees(shown, state):
    scores, weights, result = in_torch(state)
    dtype = getattr(torch, state["dtype"])
    info, hard = torch.finfo(dtype), hard_attention(state, scores)
    assert shown["query"] == state["query"]
    assert list(zip(shown["keys"], shown["values"], strict=True)) == [tuple(pair) for pair in state["pairs"]]
    assert shown["scores"] == scores
    assert shown["scoreTexts"] == [f"{score:g}".replace("-", "−") for score in scores]
    assert shown["best"] == [score == max(scores) for score in scores]
    close = {"rel_tol": 1e-6 if dtype == torch.float32 else 1e-14, "abs_tol": 4 * info.tiny * info.eps}
    if state["kappa"] >= least_kappa(dtype):
        assert shown["weights"] == weights
        assert shown["result"] == result
    else:  # exp may differ in the last place
        assert all(math.isclose(*pair, **close) for pair in zip(shown["weights"], weights, strict=True))
        assert math.isclose(shown["result"], result, **close)
    tied = [weight for weight, score in zip(shown["weights"], scores, strict=True) if score == max(scores)]
    assert len(set(tied)) == 1
    for text, weight, bar in zip(shown["weightTexts"], shown["weights"], shown["bars"], strict=True):
        assert text == ("≈ 1" if weight < 1 and f"{weight:.3g}" == "1" else f"{weight:.3g}")
        assert bar is None if weight == 0 else math.isclose(bar, weight, abs_tol=1e-4)
    assert shown["hard"] == hard
    assert shown["error"] == abs(shown["result"] - hard)
    assert shown["texts"][2] == f"{shown['error']:.3g}"
    digits = [hard] if shown["error"] > 1e-6 * hard else [hard, shown["result"]]  # every one of them where they matter
    assert [torch.tensor(float(text), dtype=dtype).item() for text in shown["texts"][1::-1]][: len(digits)] == digits
    assert math.isclose(float(shown["texts"][0]), shown["result"], rel_tol=1e-5)
    assert shown["chosen"] == [state["dtype"], state["average"]]
    assert (shown["formula"][0] == "(") == (state["average"] == "ratio")
    assert shown["kappa"] == state["kappa"]


@pytest.mark.parametrize("count", [30, pytest.param(100, marks=pytest.mark.slow)])
def test_for_random_settings_the_page_computes_what_torch_computes(count, open_page):
    page, draw = open_page(), random.Random(20)
    for bits in (1, 3, 4, 8):
        as_in_a_kernel(page, AttentionExplorer(bits))
        states = [setting(draw, bits) for _ in range(count)]
        for shown, state in zip(page.evaluate(SET, states), states, strict=True):
            agrees(shown, state)


def test_in_ties_of_1_to_16_keys_ratio_is_exact_and_literal_is_off_where_torch_is(open_page):
    page = open_page()
    as_in_a_kernel(page, AttentionExplorer(3))
    off = {}
    for dtype in ("float32", "float64"):
        for average in ("ratio", "literal"):
            states = [
                {"query": "101", "pairs": [["101", 1]] * n, "kappa": 9999, "average": average, "dtype": dtype}
                for n in range(1, 17)
            ]
            views = page.evaluate(SET, states)
            for shown, state in zip(views, states, strict=True):
                agrees(shown, state)
            off[dtype, average] = [n for n, shown in enumerate(views, start=1) if shown["error"]]
    assert off["float32", "literal"] == [10, 11, 12, 14]
    assert off["float64", "literal"] == [6, 7, 9, 10, 11, 13, 14, 15]
    assert off["float32", "ratio"] == off["float64", "ratio"] == []


MATCH, MISS, FAR = ["101", 1], ["100", 1], ["010", 1]
MATCHES = "Key 1 matches the query in every bit. It scores 1.5, and the null key ½ less."
NONE = "No key matches the query. The null key scores 1, more than the others, and its value is 0."
TEN = "10 keys match the query and tie at 1.5, each with the value 1."
FL = "fl(x) is the float32 nearest to x."
SAYS = [
    ({"pairs": [MATCH, MISS]}, f"{MATCHES} It has all the weight, and the others exactly 0."),
    ({"pairs": [MISS, MISS]}, f"{NONE} It has all the weight, and the others exactly 0."),
    ({"pairs": [FAR], "kappa": 150}, f"{NONE} It has all the weight, and the others exactly 0. "
        "No key comes near; for a near miss float32 needs κ = 208."),
    ({"pairs": [MATCH], "kappa": 4}, f"{MATCHES} κ = 4 is too small: the others keep 0.119 of the weight. "
        "From κ = 208 on, float32 gives a miss exactly 0."),
    ({"pairs": [MATCH], "kappa": 4, "dtype": "float64"}, f"{MATCHES} κ = 4 is too small: "
        "the others keep 0.119 of the weight. From κ = 1491 on, float64 gives a miss exactly 0."),
    ({"pairs": [MATCH], "kappa": 100}, f"{MATCHES} κ = 100 is too small: the others keep 1.93e-22 of the weight, "
        "though rounding hides it in the result. From κ = 208 on, float32 gives a miss exactly 0."),
    ({"pairs": [MATCH] * 10}, f"{TEN} The ratio is 10/10: two integers, divided once."),
    ({"pairs": [MATCH] * 10, "average": "literal"},
        f"{TEN} They share the weight: ten times fl(1/10) is 1.0000001, not 1. {FL}"),
    ({"pairs": [MATCH] * 10, "average": "literal", "kappa": 100}, f"{TEN} κ = 100 is too small: the others keep "
        "1.93e-23 of the weight. From κ = 208 on, float32 gives a miss exactly 0. "
        f"They share the weight: ten times fl(1/10) is 1.0000001, not 1. {FL}"),
    ({"pairs": [MATCH] * 2, "average": "literal"}, "2 keys match the query and tie at 1.5, each with the value 1. "
        f"They share the weight: twice fl(1/2) is 1. {FL}"),
    ({"pairs": [["101", 0]] * 2, "average": "literal"}, "2 keys match the query and tie at 1.5, each with the value 0. "
        "They share the weight, and there is nothing to add up."),
    ({"pairs": [MATCH, ["101", 0], ["101", 0]]}, "3 keys match the query and tie at 1.5. 1 of their values is 1, "
        "so the average is not a bit. The ratio is 1/3: two integers, divided once."),
    ({"pairs": [MATCH] * 7 + [["101", 0]] * 3, "average": "literal"}, "10 keys match the query and tie at 1.5. "
        "7 of their values are 1, so the average is not a bit. "
        f"They share the weight: seven times fl(1/10) is 0.70000005, not 0.7. {FL}"),
]  # fmt: skip


def test_a_sentence_says_what_is_going_on(open_page):
    page = open_page()
    as_in_a_kernel(page, AttentionExplorer(3))
    usual = {"query": "101", "kappa": 9999, "average": "ratio", "dtype": "float32"}
    states = [usual | given for given, _ in SAYS]
    for shown, state, (_, says) in zip(page.evaluate(SET, states), states, SAYS, strict=True):
        agrees(shown, state)
        assert shown["says"] == says
        assert shown["hint"] == f"▲ from {least_kappa(getattr(torch, state['dtype']))} on, a miss has the weight 0"


def test_clicks_change_bits_values_keys_and_numbers_and_leave_another_widget_alone(open_page):
    page = open_page(AttentionExplorer(3), AttentionExplorer(3))
    one, none, small, tie = AttentionExplorer(3).presets
    state = {**one, "pairs": [list(pair) for pair in one["pairs"]]}
    agrees(seen(page), state)

    def check(name, /, **changes):
        press(page, name)
        state.update(changes)
        agrees(seen(page), state)

    check("Query, bit 0", query="100")
    check("Query, bit 2", query="000")
    assert seen(page)["notes"][1] == ["−0.5", "+0.5", "−0.5"]
    state["pairs"][1][0] = "001"
    check("Key 2, bit 2")
    state["pairs"][1][1] = 0
    check("Key 2")
    state["pairs"].append(["000", 1])
    check("Add a key")
    del state["pairs"][0]
    check("Remove key 1")
    check("float64", dtype="float64")
    check("literal", average="literal")
    check("ratio", average="ratio")
    check("float32", dtype="float32")
    for preset in (none, small, tie, one):
        check(preset["name"], **preset)
    agrees(seen(page, 1), one)


def test_the_tie_that_breaks_it_is_off_by_an_ulp_and_the_ratio_mends_it(open_page):
    page = open_page(AttentionExplorer())
    press(page, "The tie that breaks it")
    assert seen(page)["texts"] == ["1.0000001", "1", "1.19e-07"]
    assert seen(page)["weightTexts"] == ["0.1"] * 10 + ["0"]
    press(page, "ratio")
    assert seen(page)["texts"] == ["1", "1", "0"]
    press(page, "literal")
    press(page, "float64")
    assert seen(page)["texts"] == ["0.9999999999999999", "1", "1.11e-16"]


def test_there_are_1_to_16_keys_and_the_focus_is_never_lost(open_page):
    page = open_page(AttentionExplorer(2, keys=[("10", 1)]))
    assert page.get_by_role("button", name="Remove key 1").count() == 0  # it cannot be removed
    add = page.locator(".add")
    for _ in range(15):
        add.click()
    assert len(seen(page)["keys"]) == 16
    assert add.is_disabled()
    assert add.inner_text() == "16 keys at most"
    focus = "(e => e.getAttribute('aria-label') ?? e.textContent)(document.activeElement)"
    page.get_by_role("button", name="Remove key 16").focus()
    for left in range(15, 0, -1):
        page.keyboard.press("Enter")
        assert len(seen(page)["keys"]) == left
        assert page.evaluate(focus) == (f"Remove key {left}" if left > 1 else "Add a key")


def test_kappa_goes_by_slider_by_typing_and_by_arrow_keys_and_a_wrong_one_is_refused(open_page):
    page = open_page(AttentionExplorer(3))
    one = AttentionExplorer(3).presets[0]
    slider, field = page.get_by_role("slider"), page.get_by_role("spinbutton")
    stops = """slider => Array.from({length: 201}, (_, stop) => {
      slider.value = stop;
      slider.dispatchEvent(new Event("input"));
      return [Number(slider.value), slider.closest(".kappa").querySelector("[type=number]").valueAsNumber];
    })"""
    found = slider.evaluate(stops)
    assert [stop for stop, _ in found] == list(range(201))
    kappas = [kappa for _, kappa in found]
    assert (kappas[0], kappas[100], kappas[-1]) == (1, 100, 9999)
    assert sorted(set(kappas)) == kappas
    slider.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    agrees(seen(page), one | {"kappa": 1.05})
    assert slider.get_attribute("aria-valuetext") == "1.05"
    for typed, kappa in (("208", 208), ("207.5", 207.5), ("9999", 9999), ("1", 1)):
        field.fill(typed)
        agrees(seen(page), one | {"kappa": kappa})
    field.fill("20000")
    assert field.get_attribute("aria-invalid") == "true"
    assert seen(page)["hint"] == "κ is a number from 1 to 9999. 1 stays."
    page.keyboard.press("Tab")
    agrees(seen(page), one | {"kappa": 1})
    assert field.get_attribute("aria-invalid") == "false"
    field.fill("")
    page.keyboard.press("Tab")
    agrees(seen(page), one | {"kappa": 1})


def test_with_the_keyboard_alone_everything_can_be_reached_and_set(open_page):
    page = open_page(AttentionExplorer(1, keys=[("1", 1), ("0", 0)]))
    reached = []
    for _ in range(18):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("(e => e.getAttribute('aria-label') ?? e.textContent)(document.activeElement)"))
    assert reached == [
        "One match", "No match", "Small κ", "The tie that breaks it", "κ", "κ, on a logarithmic scale",
        "float32", "float64", "ratio", "literal", "Query, bit 0: 1 q[0]",
        "Key 1, bit 0: 1 +0.5", "Key 1: 1 value", "Remove key 1",
        "Key 2, bit 0: 0 −0.5", "Key 2: 0 value", "Remove key 2", "Add a key",
    ]  # fmt: skip
    state = {"query": "0", "pairs": [["1", 0], ["0", 0]], "kappa": 9999, "average": "literal", "dtype": "float32"}
    for name, key in (("Query, bit 0", "Space"), ("Key 1", "Enter"), ("literal", "Space")):
        button(page, name).press(key)
    agrees(seen(page), state)
    assert button(page, "Query, bit 0").get_attribute("aria-pressed") == "false"
    page.get_by_role("button", name="The tie that breaks it").press("Enter")
    assert seen(page)["texts"][2] == "1.19e-07"


def test_colours_are_those_of_positions_symbols_and_attention_and_follow_the_theme(open_page):
    page = open_page(AttentionExplorer(3))
    colour = "selector => getComputedStyle(document.querySelector(selector)).color"
    expected = {"light": ("0, 115, 79", "0, 103, 168", "138, 63, 148"),
                "dark": ("76, 201, 160", "108, 184, 240", "217, 154, 227")}  # fmt: skip
    for theme, colours in expected.items():
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        selectors = (".query [aria-pressed=true] b", ".value[aria-pressed=true] b", ".weight data")
        assert [page.evaluate(colour, selector) for selector in selectors] == [f"rgb({part})" for part in colours]
        bar = "getComputedStyle(document.querySelector('.best .track i')).backgroundColor"
        assert page.evaluate(bar) == f"rgb({colours[2]})"


def test_nothing_moves_for_a_reader_who_asked_for_less_motion_and_others_hear_the_result(open_page):
    page = open_page(AttentionExplorer(3), reduced_motion="reduce")
    moving = """[...document.querySelectorAll('.turing-widget, .turing-widget *')].map(e => getComputedStyle(e))
        .filter(s => s.transitionDuration !== '0s' || s.animationName !== 'none').length"""
    assert page.evaluate(moving) == 0
    live = page.locator("[aria-live=polite]")
    assert live.get_attribute("aria-atomic") == "true"
    assert "Key 2 matches the query" in live.inner_text()


def test_a_kernel_hears_of_the_reader_as_soon_as_something_is_set(open_page):
    page, widget = open_page(), AttentionExplorer(2, keys=[("10", 1), ("01", 0)], query="01", kappa=50)
    as_in_a_kernel(page, widget)
    names = ("query", "pairs", "kappa", "average", "dtype")
    state = {name: getattr(widget, name) for name in names}
    agrees(seen(page), state)
    changes = [
        ("Query, bit 1", {"query": "11"}),
        ("Key 2, bit 1", {"pairs": [["10", 1], ["11", 0]]}),
        ("Key 2", {"pairs": [["10", 1], ["11", 1]]}),
        ("Add a key", {"pairs": [["10", 1], ["11", 1], ["11", 1]]}),
        ("Remove key 1", {"pairs": [["11", 1], ["11", 1]]}),
        ("literal", {"average": "literal"}),
        ("float64", {"dtype": "float64"}),
        ("Small κ", {name: widget.presets[2][name] for name in names}),
    ]
    for name, change in changes:
        press(page, name)
        state |= change
        saved = page.evaluate("model.saved.at(-1)")
        assert {name: saved[name] for name in names} == state
        agrees(seen(page), state)
        widget.set_state({name: saved[name] for name in names})
    page.get_by_role("spinbutton").fill("300")
    assert page.evaluate("model.saved.at(-1).kappa") == 300
