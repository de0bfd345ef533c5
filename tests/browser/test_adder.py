"""The adder widget in a real browser, held against torch layer by layer."""

import re
from functools import cache
from itertools import pairwise, product

import pytest
import torch

from pages import MODEL
from turing import show
from turing.adders import LookaheadAdder, MoveAdder, RippleCarryAdder, bits_of
from turing.ir import of
from turing.widgets import Adder

SHOWN = """root => [...root.querySelectorAll("section")].map((section, n) => {
  const text = (node) => node.textContent.replaceAll("\\u00a0", " ");
  const names = (selector) => [...section.querySelectorAll(selector)].map(cell => cell.dataset.name);
  return {
    title: text(section.querySelector(".title")), caption: text(section.querySelector(".account")),
    places: Object.fromEntries([...section.querySelectorAll(".place")].map(c => [c.dataset.name, text(c)])),
    changed: names(".place.changed"), ones: names(".place.one"),
    headers: [...section.querySelectorAll("thead th")].map(text),
    columns: Object.fromEntries([...section.querySelectorAll(".place")].map(
      c => [c.dataset.name, [c.parentNode.cells[0], section.querySelector("thead tr").cells[c.cellIndex]].map(text)])),
    was: [...section.querySelectorAll(".was")].map(c => Number(text(c))),
    working: [...section.querySelectorAll("thead .on")].map(text),
    decimals: [...section.querySelectorAll(".decimal")].map(text),
    equations: [...section.querySelectorAll("li[data-name]")].map(li => [".law", ".filled", ".gate"].map(
      s => li.querySelector(s) ? text(li.querySelector(s)) : "")),
    count: text(root.querySelectorAll(".count")[n]), given: [...root.querySelectorAll("output")].map(text),
    ticks: [...root.querySelectorAll(".line")[n].querySelectorAll("i")].map(i => i.className),
  };
})"""

# Press buttons by their names, and see what is shown before and after each.
WALK = f"""names => {{
  const root = document.querySelector(".turing-adder"), shown = {SHOWN};
  const button = name => [...root.querySelectorAll("button")].find(
    node => (node.querySelector("i") ?? node).textContent === name);
  return [shown(root), ...names.map(name => (button(name).click(), shown(root)))];
}}"""


def seen(page, n=0):
    return page.locator(".turing-adder").nth(n).evaluate(SHOWN)


def walk(page, *names):
    return page.evaluate(WALK, list(names))


def press(page, name):
    page.get_by_role("button", name=name).first.click()


def vector(layout, **values):
    """The input of a network, as numbers for its slices."""
    return torch.cat([bits_of(values[part.name], part.size) for part in layout])


def activations(network, x):
    found = [x]
    for layer in network:
        found.append(layer(found[-1]))
    return [{name: value for name, value in zip(names.names(), row.tolist(), strict=True)}
            for names, row in zip(network.layouts, found, strict=True)]  # fmt: skip


network_of = cache(lambda kind, bits: kind(bits))


def stages(bits, *, p=None, move=None, a=None, b=None, carry=0):
    """The networks that a widget shows, and what each of their layers gives on an input."""
    if p is not None:
        kinds, values = [MoveAdder, LookaheadAdder], {"p": p, "right": int(move == 1), "left": int(move == -1)}
    else:
        kinds, values = [RippleCarryAdder], {"a": a, "b": b, "carry": carry}
    networks = [network_of(kind, bits) for kind in kinds]
    return [(network, activations(network, vector(network.layout, **values))) for network in networks]


def agrees(shown, expected, layer):
    """Every place with its value, what changed, and how far the layers are, for each of the adders."""
    for view, (network, past) in zip(shown, expected, strict=True):
        depth = len(network)
        t = min(layer, depth)
        assert view["places"] == {name: f"{value:g}" for name, value in past[t].items()}
        assert set(view["ones"]) == {name for name, value in past[t].items() if value}
        before = past[t - 1] if t else past[0]
        assert set(view["changed"]) == {name for name, value in past[t].items() if value != before.get(name, 0)}
        assert view["count"] == (f"layer {layer} of {depth}" if layer <= depth else f"done at layer {depth}")
        ticks = ["now" if n == layer else "done" if n < layer else "" for n in range(1, depth + 1)]
        assert view["ticks"] == ticks


def flips(name, old, new, bits):
    """The bits of a number to press for another one."""
    return [f"{name}[{k}]" for k in range(bits) if (old ^ new) >> k & 1]


def test_for_every_position_and_every_move_both_adders_end_where_torch_does(open_page):
    page = open_page(Adder(3))
    press(page, "End")
    moves, old, presses = {-1: "left", 0: "stay", 1: "right"}, 3, []
    for p in range(8):
        presses += [*flips("p", old, p, 3), *moves.values()]
        old = p
    views = [view for view, name in zip(walk(page, *presses)[1:], presses, strict=True) if name in moves.values()]
    for shown, (p, move) in zip(views, product(range(8), moves), strict=True):
        agrees(shown, stages(3, p=p, move=move), 26)
        assert [view["decimals"] for view in shown] == [[f"= {(p + move) % 8}"]] * 2
        assert [view["given"] for view in shown] == [[f"= {p}"]] * 2


@pytest.mark.parametrize(("bits", "p", "move"), [(3, 3, 1), (3, 6, -1), (3, 5, 0), (1, 1, 1), (8, 127, 1)])
def test_at_every_layer_forth_and_back_the_vectors_are_those_of_torch(bits, p, move, open_page):
    page = open_page(Adder(bits, p=p, move=move))
    depth, expected = 8 * bits + 2, stages(bits, p=p, move=move)
    shown = walk(page, *["Step"] * depth, *["Back"] * depth)
    for layer, view in zip([*range(depth + 1), *reversed(range(depth))], shown, strict=True):
        agrees(view, expected, layer)


@pytest.mark.parametrize(("bits", "a", "b", "carry"), [(3, 7, 1, 0), (3, 5, 2, 1), (1, 1, 1, 1), (4, 11, 6, 0)])
def test_at_every_layer_of_a_sum_the_vector_is_that_of_torch(bits, a, b, carry, open_page):
    page = open_page(Adder(bits, "sum", a=a, b=b, carry=carry))
    expected = stages(bits, a=a, b=b, carry=carry)
    for layer, view in enumerate(walk(page, *["Step"] * 8 * bits)):
        agrees(view, expected, layer)


def test_every_sum_of_two_bit_numbers_ends_where_torch_does(open_page):
    page = open_page(Adder(2, "sum", a=0, b=0))
    press(page, "End")
    sums = list(product(range(4), range(4), range(2)))
    presses = [
        [*flips("a", a, a2, 2), *flips("b", b, b2, 2), *["carry"] * (carry != carry2)]
        for (a, b, carry), (a2, b2, carry2) in pairwise(sums)
    ]
    views = walk(page, *(name for names in presses for name in names))
    for k, (a, b, carry) in enumerate(sums):
        shown = views[sum(map(len, presses[:k]))]
        agrees(shown, stages(2, a=a, b=b, carry=carry), 16)
        total = a + b + carry
        assert shown[0]["decimals"] == [f"= {total & 4}", f"= {total & 3}"]


def relu(x):
    return max(0, x)


def with_values(text, values):
    """An equation with values for names."""
    names = "|".join(map(re.escape, sorted(values, key=len, reverse=True)))
    return re.sub(names, lambda name: f"{values[name[0]]:g}", re.sub(r"(?<=\d) (?=[a-z])", "·", text))


@pytest.mark.parametrize("adder", [Adder(3, p=3, move=1), Adder(3, p=4, move=-1), Adder(2, "sum", a=2, b=3)])
def test_the_equations_are_those_of_turing_show_with_the_values_that_came_in(adder, open_page):
    page = open_page(adder)
    inputs = {"p": adder.p, "move": adder.move} if adder.task == "move" else {"a": adder.a, "b": adder.b}
    expected = stages(adder.bits, **inputs)
    shown = walk(page, *["Step"] * max(len(network) for network, _ in expected))
    assert [view["equations"] for view in shown[0]] == [[]] * len(expected)
    for n, (network, past) in enumerate(expected):
        layouts = of(network).layouts
        for layer in range(1, len(network) + 1):
            (lines,) = show(network[layer - 1], layouts[layer - 1 : layer + 1]).layers
            equations = shown[layer][n]["equations"]
            assert [law.split(" ← ")[0] for law, _, _ in equations] == [line.place for line in lines]
            for (law, filled, gate), line in zip(equations, lines, strict=True):
                assert "…" in line.value or law == f"{line.place} ← {line.value}"
                assert "…" in line.gate or gate == line.gate
                if line.value == "0":
                    assert filled == ""
                    continue
                _, *sums, result = filled.replace("·", "*").replace("−", "-").split("=")
                assert float(result) == past[layer][line.place]
                assert all(eval(text, {"ReLU": relu}) == float(result) for text in sums)
                given = with_values(law.split(" ← ")[1], past[layer - 1])
                assert filled == (f"= {given} = {result.strip()}" if sums else f"= {given}")


def test_the_first_layers_of_the_ripple_are_the_half_adder_of_the_paper(open_page):
    page = open_page(Adder(3, "sum", a=1, b=1))
    shown = [view[0] for view in walk(page, "Step", "Step", "Step")]
    assert [view["equations"] for view in shown[1:]] == [
        [
            ["a[0] ← ReLU(a[0] + b[0] − 1)", "= ReLU(1 + 1 − 1) = 1", "AND(a[0], b[0])"],
            ["b[0] ← ReLU(1 − a[0] − b[0])", "= ReLU(1 − 1 − 1) = 0", "NOR(a[0], b[0])"],
        ],
        [
            ["a[0] ← ReLU(1 − a[0])", "= ReLU(1 − 1) = 0", "NOT(a[0])"],
            ["b[0] ← ReLU(1 − b[0])", "= ReLU(1 − 0) = 1", "NOT(b[0])"],
        ],
        [
            ["a[0] ← ReLU(a[0] + b[0] − 1)", "= ReLU(0 + 1 − 1) = 0", "AND(a[0], b[0])"],
            ["b[0] ← ReLU(1 − a[0])", "= ReLU(1 − 0) = 1", "NOT(a[0])"],
        ],
    ]
    assert shown[3]["caption"] == "Bit 0, half adder 1 on a[0] and b[0]: XOR to a[0], AND to b[0]."


def test_the_carry_travels_over_the_columns_and_leaves_behind_what_it_was(open_page):
    a, b, bits = 0b0111, 0b0011, 4
    page = open_page(Adder(bits, "sum", a=a, b=b))
    carries = [0]
    for k in range(bits):
        carries.append((a >> k & 1) + (b >> k & 1) + carries[-1] >> 1)
    for layer, (view,) in enumerate(walk(page, *["Step"] * 8 * bits)):
        at = layer // 8
        assert view["headers"] == ["out", "3", "2", "1", "0"]
        assert view["columns"]["carry"] == ["carry", str(at) if at < bits else "out"]
        assert view["was"] == carries[:at][::-1]
        assert view["working"] == ([str((layer - 1) // 8)] if layer else [])
        for k in range(bits):
            assert view["columns"][f"a[{k}]"] == ["a", str(k)]


def test_after_two_layers_lookahead_is_done_and_ripple_carry_is_at_bit_0(open_page):
    page = open_page(Adder(3, p=3, move=1))
    ripple, lookahead = walk(page, "Step", "Step")[-1]
    assert (ripple["title"], lookahead["title"]) == ("Ripple carry", "Lookahead")
    assert lookahead["decimals"] == ["= 4"]
    assert ripple["working"] == ["0"]
    assert ripple["caption"].startswith("Bit 0, half adder 1")
    widths = [line["width"] for line in page.locator(".line i").evaluate_all(
        "all => all.map(i => i.getBoundingClientRect()).map(({width}) => ({width}))")]  # fmt: skip
    assert max(widths) - min(widths) < 2  # a layer is as long in the one as in the other


def test_the_keys_step_jump_and_play_and_leave_the_slider_its_own(open_page):
    adder = Adder(2)
    page, expected = open_page(adder), stages(2, p=1, move=1)
    page.locator(".turing-adder").focus()
    for key, layer in [("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", 18), ("ArrowRight", 18)]:
        page.keyboard.press(key)
        agrees(seen(page), expected, layer)
    page.keyboard.press("Home")
    agrees(seen(page), expected, 0)
    page.keyboard.press("Control+ArrowRight")
    agrees(seen(page), expected, 0)
    slider = page.get_by_role("slider", name="Layer")
    slider.focus()
    page.keyboard.press("ArrowRight")
    agrees(seen(page), expected, 1)
    assert slider.get_attribute("aria-valuetext") == "1 of 18"
    page.get_by_role("button", name="p[1]").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "1 p[0]"
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    agrees(seen(page), stages(2, p=2, move=1), 2)
    page.get_by_role("button", name="left").press("Space")
    agrees(seen(page), stages(2, p=2, move=-1), 2)


def test_bits_and_moves_say_which_of_them_are_on(open_page):
    page = open_page(Adder(3, p=5, move=-1))
    pressed = "all => all.filter(b => b.getAttribute('aria-pressed') === 'true').map(b => b.textContent)"
    assert page.locator(".bit").evaluate_all(pressed) == ["1 p[2]", "1 p[0]", "−1 left"]
    assert page.locator(".number .bit b").all_inner_texts() == ["1", "0", "1"]
    assert page.locator(".bit i").all_inner_texts() == ["p[2]", "p[1]", "p[0]", "left", "stay", "right"]


def test_the_slider_goes_to_any_layer_and_a_tap_on_the_line_too(open_page):
    page, expected = open_page(Adder(3)), stages(3, p=3, move=1)
    slider = page.get_by_role("slider")
    for layer in (17, 2, 26, 0):
        slider.fill(str(layer))
        agrees(seen(page), expected, layer)
    box = page.locator(".line").first.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    agrees(seen(page), expected, 13)


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_play_fires_layer_after_layer_pauses_and_starts_over_and_nothing_is_animated(motion, open_page):
    page, expected = open_page(reduced_motion=motion, stopped=True), stages(3, p=3, move=1)
    adder = Adder(3)
    page.add_style_tag(content=adder._css)
    page.evaluate(MODEL, [adder._esm, adder.get_state()])
    press(page, "Play")
    page.clock.run_for(4 * 400)
    agrees(seen(page), expected, 4)
    press(page, "Pause")
    page.clock.run_for(4000)
    agrees(seen(page), expected, 4)
    press(page, "Play")
    page.clock.run_for(60000)
    agrees(seen(page), expected, 26)
    press(page, "Play")
    agrees(seen(page), expected, 0)
    page.clock.run_for(400)
    agrees(seen(page), expected, 1)
    press(page, "Step")
    page.clock.run_for(4000)
    agrees(seen(page), expected, 2)
    moving = """[...document.querySelectorAll('.turing-widget, .turing-widget *')].map(e => getComputedStyle(e))
        .filter(s => s.transitionDuration !== '0s' || s.animationName !== 'none').length"""
    assert page.evaluate(moving) == 0


def test_a_reader_who_listens_hears_single_layers_and_the_end_but_not_the_running(open_page):
    page = open_page(stopped=True)
    adder = Adder(1, p=1, move=1)
    page.evaluate(MODEL, [adder._esm, adder.get_state()])
    says = page.locator(".says")
    assert says.get_attribute("aria-live") == "polite"
    press(page, "Step")
    assert says.text_content() == (
        "Ripple carry, layer 1 of 10: a = 1, b = 1, carry = 0. "
        "Lookahead, layer 1 of 2: carry = 1, borrow = 0, p_carry = 1, p_borrow = 0"
    )
    press(page, "Step")
    press(page, "Step")
    heard = "Ripple carry, layer 3 of 10: a = 0, b = 1. Lookahead: done"
    assert says.text_content() == heard
    press(page, "Play")
    page.clock.run_for(800)
    assert says.text_content() == heard
    page.clock.run_for(60000)
    assert says.text_content() == "Ripple carry, layer 10 of 10: p = 0. Lookahead: done"


def test_on_a_phone_the_adders_stand_one_below_the_other(open_page):
    page = open_page(Adder(3), width=360, height=640)
    boxes = [section.bounding_box() for section in page.locator("section").all()]
    assert all(one["y"] + one["height"] <= other["y"] for one, other in pairwise(boxes))


def test_a_wide_page_puts_the_adders_side_by_side(open_page):
    page = open_page(Adder(3))
    for width in (700, 1000):
        page.set_viewport_size({"width": width, "height": 900})
        ripple, lookahead = (section.bounding_box() for section in page.locator("section").all())
        assert lookahead["x"] >= ripple["x"] + ripple["width"]
        assert lookahead["y"] == ripple["y"]


@pytest.mark.parametrize("task", ["move", "sum"])
def test_the_widget_keeps_its_height_from_layer_to_layer(task, open_page):
    page = open_page(Adder(3, task))
    heights = """() => {
      const root = document.querySelector(".turing-adder"), buttons = [...root.querySelectorAll("button")];
      const step = buttons.find(button => button.textContent === "Step");
      return Array.from({length: 27}, () => (step.click(), root.getBoundingClientRect().height));
    }"""
    for width in (1000, 360):
        page.set_viewport_size({"width": width, "height": 900})
        press(page, "Start")
        assert len(set(page.evaluate(heights))) == 1


def test_the_colours_are_those_of_the_slices_and_follow_the_theme(open_page):
    page = open_page(Adder(3, layer=1))
    colour = "name => getComputedStyle(document.querySelector(`[data-name='${name}'] b`)).color"
    for theme, pos, scr in (("light", "0, 115, 79", "99, 99, 107"), ("dark", "76, 201, 160", "169, 171, 181")):
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        assert page.evaluate(colour, "a[0]") == f"rgb({pos})"
        assert page.evaluate(colour, "b[0]") == f"rgb({scr})"


def test_a_kernel_moves_the_widget_and_hears_of_the_reader(open_page):
    page, adder = open_page(), Adder(3, p=1, move=0, layer=5)
    page.evaluate(MODEL, [adder._esm, adder.get_state()])
    agrees(seen(page), stages(3, p=1, move=0), 5)
    page.evaluate("model.set('p', 6), model.set('move', -1)")
    agrees(seen(page), stages(3, p=6, move=-1), 5)
    page.evaluate("model.set('layer', 20)")
    agrees(seen(page), stages(3, p=6, move=-1), 20)
    assert page.locator("output").inner_text() == "= 6"
    press(page, "p[0]")
    press(page, "right")
    press(page, "Step")
    saved = page.evaluate("model.saved.at(-1)")
    assert {name: saved[name] for name in ("p", "move", "layer")} == {"p": 7, "move": 1, "layer": 21}
    agrees(seen(page), stages(3, p=7, move=1), 21)
    press(page, "Play")
    page.evaluate("cleanup()")
    assert page.get_by_role("button", name="Play").is_visible()
