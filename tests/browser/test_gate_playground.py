"""The gate playground in a real browser, held against the layers of the library."""

import random

import pytest
import torch

from pages import MODEL, network
from turing.gates import NOT, Layer
from turing.widgets import GatePlayground
from turing.widgets.gate_playground.widget import CORNERS, GATES, _neurons

TARGETS = {
    "NOT": [1, 1, 0, 0], "AND": [0, 0, 0, 1], "NOR": [1, 0, 0, 0],
    "OR": [0, 1, 1, 1], "NAND": [1, 1, 1, 0], "XOR": [0, 1, 1, 0],
}  # fmt: skip
BY_ONE, BY_TWO = ("NOT", "AND", "NOR"), ("OR", "NAND")
ROOT = ".turing-gate-playground"
LABELS = ("weight of a", "weight of b", "bias")

SHOWN = """root => {
  const text = part => root.querySelector(part)?.textContent ?? null, all = part => [...root.querySelectorAll(part)];
  const reason = root.querySelector(".reason");
  return {
    gate: root.querySelector(".gates input:checked").value,
    fields: all("input[type=number]").map(field => field.valueAsNumber),
    sliders: all(".dial input[type=range]").map(slider => Number(slider.value)),
    thenNot: root.querySelector(".then input").checked,
    formula: text(".formula"), second: text(".then .formula"),
    rows: all("tbody tr").map(row => [...row.cells].filter(cell => !cell.hidden).map(cell => cell.textContent)),
    tinted: all("tbody tr").map(row => row.classList.contains("right")),
    corners: all(".picture > svg text:not(.tick)").map(corner => corner.textContent),
    full: all(".disc").map(disc => disc.classList.contains("full")),
    status: text(".status"),
    reason: reason.hidden ? null : [...reason.children].map(line => line.textContent.replaceAll("\u00a0", " ")),
    crossing: !root.querySelector(".crossing").hasAttribute("hidden"),
    button: root.querySelector("button").disabled ? null : text("button"),
  };
}"""


def seen(page, number=0):
    return page.locator(ROOT).nth(number).evaluate(SHOWN)


def written(number):
    """The number as the page writes it: two decimals at most, a real minus, and no minus before a zero."""
    return f"{round(float(number), 2) + 0.0:g}".replace("-", "−")


def term(number):
    return f"{'−' if number < 0 else '+'} {written(abs(number))}"


def computed(weights, bias, then_not):
    """Sum, first neuron and output on the four corners, by torch."""
    inputs = torch.tensor(CORNERS, dtype=torch.float64)
    layer, negation = Layer([weights], [bias]).double(), NOT().double()
    z = torch.nn.functional.linear(inputs, layer.weight, layer.bias)
    h = layer(inputs)
    return [part.flatten().tolist() for part in (z, h, negation(h) if then_not else h)]


def agrees(shown, gate, weights, bias, then_not):
    """Formula, table, plot, status and explanation are those of a setting."""
    z, h, out = computed(weights, bias, then_not)
    right = [written(value) == written(target) for value, target in zip(out, TARGETS[gate], strict=True)]
    assert (shown["gate"], shown["thenNot"]) == (gate, then_not)
    assert shown["fields"] == shown["sliders"] == [*weights, bias]
    neuron = f"ReLU({written(weights[0])}·a {term(weights[1])}·b {term(bias)})"
    assert shown["formula"] == f"{'h' if then_not else 'out'} = {neuron}"
    assert shown["second"] == ("out = ReLU(1 − h)" if then_not else None)
    for i, corner in enumerate(CORNERS):
        middle = [z[i], h[i], out[i]] if then_not else [z[i], out[i]]
        numbers = [*corner, *middle, TARGETS[gate][i]]
        assert shown["rows"][i] == [*map(written, numbers), "✓ right" if right[i] else "✗ not yet"]
        assert shown["corners"][i] == f"{written(out[i])} {'✓' if right[i] else '✗'}"
    assert shown["tinted"] == right
    assert shown["full"] == [target == 1 for target in TARGETS[gate]]
    label = "NOT a" if gate == "NOT" else gate
    assert shown["status"] == f"{sum(right)} of 4 rows right" + (f": {label}" if all(right) else "")
    explained = gate == "XOR" or (gate in BY_TWO and not then_not)
    assert shown["crossing"] == (shown["reason"] is not None) == explained
    if explained:
        assert not all(right)
        total = z[1] + z[2]
        assert shown["reason"][1] == (
            f"z(0,1) + z(1,0) = {written(z[1])} {term(z[2])} = {written(total)} "
            f"= {written(z[0])} {term(z[3])} = z(0,0) + z(1,1)"
        )


def settings(count, seed):
    """Random settings, half of their numbers on the sliders' steps."""
    draw = random.Random(seed)

    def number():
        return draw.choice([draw.randint(-6, 6) / 2, draw.randint(-300, 300) / 100])

    return [
        (draw.choice(GATES), [number(), number()], number(), draw.random() < 0.5)
        for _ in range(count)
    ]  # fmt: skip


# Make one setting after the other, and see what is shown of each.
TRY = """(root, [settings, show]) => settings.map(([gate, weights, bias, thenNot]) => {
  root.querySelector(`.gates input[value=${gate}]`).click();
  const tick = root.querySelector(".then input");
  if (tick.checked !== thenNot) tick.click();
  root.querySelectorAll("input[type=number]").forEach((field, i) => {
    field.value = [...weights, bias][i];
    field.dispatchEvent(new Event("input", {bubbles: true}));
  });
  return eval(show)(root);
})"""


def choose(page, gate):
    page.get_by_role("radio", name="NOT a" if gate == "NOT" else gate, exact=True).check()


def type_in(page, weights, bias):
    for label, number in zip(LABELS, [*weights, bias], strict=True):
        page.get_by_role("spinbutton", name=label).fill(str(number))


@pytest.mark.parametrize("served", [False, True], ids=["file", "http"])
def test_typed_numbers_give_the_outputs_and_the_formula_of_torch(served, open_page, request):
    page = open_page(GatePlayground(), address=request.getfixturevalue("address") if served else None)
    for gate, weights, bias, then_not in settings(6, seed=served):
        choose(page, gate)
        type_in(page, weights, bias)
        page.get_by_role("checkbox").set_checked(then_not)
        agrees(seen(page), gate, weights, bias, then_not)


def test_two_hundred_random_settings_give_the_outputs_and_the_formula_of_torch(open_page):
    page, given = open_page(GatePlayground()), settings(200, seed=2)
    for setting, shown in zip(given, page.locator(ROOT).evaluate(TRY, [given, SHOWN]), strict=True):
        agrees(shown, *setting)


@pytest.mark.parametrize("gate", [*BY_ONE, *BY_TWO])
def test_show_a_solution_turns_every_row_right(gate, open_page):
    page = open_page(GatePlayground("XOR", weights=(2, -3), bias=0.5, then_not=gate in BY_ONE))
    choose(page, gate)
    page.get_by_role("button", name="Show a solution").click()
    shown = seen(page)
    assert shown["tinted"] == [True] * 4
    (known,) = [known["network"] for known in GatePlayground().library["gates"] if known["name"] == gate]
    (weights, bias), *rest = _neurons(known)
    agrees(shown, gate, weights, bias, bool(rest))
    assert shown["thenNot"] == (gate in BY_TWO)


def test_rows_turn_right_one_by_one(open_page):
    page = open_page(GatePlayground("AND", weights=(0, 0), bias=1))
    for weights, bias, right in (((0, 0), 0.5, 0), ((1, 0), 0, 3), ((1, 1), 0, 1), ((1, 1), -1, 4)):
        type_in(page, weights, bias)
        assert seen(page)["status"].startswith(f"{right} of 4 rows right")
        agrees(seen(page), "AND", list(weights), bias, False)


def test_a_threshold_and_then_not_is_a_gate_as_well(open_page):
    page = open_page(GatePlayground("AND", weights=(-1, -1), bias=2, then_not=True))
    assert seen(page)["status"] == "4 of 4 rows right: AND"


def test_decimals_add_up_exactly(open_page):
    page = open_page(GatePlayground("AND", weights=(0.7, 0.2), bias=0.1))  # in floats 0.9999999999999999
    assert seen(page)["rows"][3] == ["1", "1", "1", "1", "1", "✓ right"]


@pytest.mark.parametrize(
    ("then_not", "claim", "needs"),
    [
        (False, "No weights give XOR", "XOR needs 1 + 1 on the left and at most 0 + 0 on the right."),
        (
            True,
            "No weights give XOR, with or without NOT",
            "XOR needs at most 0 + 0 on the left and at least 1 + 1 on the right.",
        ),
    ],
)
def test_xor_shows_why_no_weights_do_with_the_numbers_of_the_moment(then_not, claim, needs, open_page):
    page = open_page(GatePlayground("XOR", weights=(1, -1), bias=0.25, then_not=then_not))
    assert seen(page)["reason"] == [
        f"{claim}: z has the same sum along both diagonals.",
        "z(0,1) + z(1,0) = −0.75 + 1.25 = 0.5 = 0.25 + 0.25 = z(0,0) + z(1,1)",
        needs,
    ]
    page.get_by_role("spinbutton", name="weight of b").fill("-2")
    assert seen(page)["reason"][1] == "z(0,1) + z(1,0) = −1.75 + 1.25 = −0.5 = 0.25 − 0.75 = z(0,0) + z(1,1)"
    assert seen(page)["button"] is None
    assert page.get_by_role("button", name="No solution").is_disabled()


@pytest.mark.parametrize(("gate", "corner"), [("OR", "0 + 1"), ("NAND", "1 + 0")])
def test_three_ones_need_a_second_neuron_and_the_page_says_why(gate, corner, open_page):
    page = open_page(GatePlayground(gate))
    claim, _, needs = seen(page)["reason"]
    assert claim == "Three corners at exactly 1 force the fourth to 1: z has the same sum along both diagonals."
    assert (
        needs == f"{gate} needs 1 + 1 on the left and at most {corner} on the right. A second neuron helps: then NOT."
    )
    page.get_by_role("checkbox").check()
    assert seen(page)["reason"] is None


DRAWN = """root => {
  const corners = CORNERS;
  const places = name => [...root.querySelector(name).points].map(({x, y}) => [(x - 80) / 140, (220 - y) / 140]);
  const fires = root.querySelector(".fires"), point = (a, b) => new DOMPoint(80 + 140 * a, 220 - 140 * b);
  const shaded = corners.map(([a, b]) => fires.isPointInFill(point(a, b)));
  return {zero: places(".zero"), one: places(".one"), shaded};
}""".replace("CORNERS", str([list(corner) for corner in CORNERS]))


def test_the_line_is_where_the_sum_is_0_and_the_shading_where_the_neuron_fires(open_page):
    page, given = open_page(GatePlayground()), settings(24, seed=3)
    lines = 0
    pictures = page.locator(ROOT).evaluate(TRY, [given, DRAWN])
    for (_, weights, bias, _), drawn in zip(given, pictures, strict=True):
        for name, level in (("zero", 0), ("one", 1)):
            assert len(drawn[name]) in (0, 2)
            lines += len(drawn[name]) // 2
            for a, b in drawn[name]:
                assert weights[0] * a + weights[1] * b + bias == pytest.approx(level, abs=1e-3)
        for z, shaded in zip(computed(weights, bias, False)[0], drawn["shaded"], strict=True):
            assert shaded == (z > 0) or abs(z) < 0.01  # on the line itself either will do
    assert lines > 24


def test_with_both_weights_0_there_is_no_line_and_all_or_nothing_is_shaded(open_page):
    for bias, everything in ((1, True), (0, False), (-1, False)):
        page = open_page(GatePlayground(weights=(0, 0), bias=bias))
        drawn = page.locator(ROOT).evaluate(DRAWN)
        assert (drawn["zero"], drawn["shaded"]) == ([], [everything] * 4)
        assert not page.locator(".grip").is_visible()


def test_the_line_is_dragged_and_the_bias_follows(open_page):
    page = open_page(GatePlayground(weights=(1, 1), bias=0))
    grip, frame = page.locator(".grip rect"), page.locator(".picture > svg").bounding_box()
    scale = frame["width"] / 300
    box = grip.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(frame["x"] + 150 * scale, frame["y"] + 150 * scale, steps=4)  # the centre, where a + b = 1
    agrees(seen(page), "AND", [1, 1], -1, False)
    page.mouse.move(frame["x"] - 2000, frame["y"] + 3000)
    agrees(seen(page), "AND", [1, 1], 3, False)
    page.mouse.up()
    page.mouse.move(frame["x"] + 150 * scale, frame["y"] + 150 * scale)
    agrees(seen(page), "AND", [1, 1], 3, False)


def test_the_keyboard_does_everything(open_page):
    page = open_page(GatePlayground("NOT", weights=(0, 0), bias=0))
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert seen(page)["gate"] == "AND"
    for keys in (["ArrowRight"] * 2, ["End", "ArrowLeft"], ["Home"]):
        page.keyboard.press("Tab")
        for key in keys:
            page.keyboard.press(key)
        page.keyboard.press("Tab")  # the field
    agrees(seen(page), "AND", [1, 2.5], -3, False)
    page.keyboard.press("ArrowUp")
    agrees(seen(page), "AND", [1, 2.5], -2.5, False)
    page.keyboard.press("Control+A")
    page.keyboard.type("-1.25")
    agrees(seen(page), "AND", [1, 2.5], -1.25, False)
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    agrees(seen(page), "AND", [1, 2.5], -1.25, True)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    agrees(seen(page), "AND", [1, 1], -1, False)


@pytest.mark.parametrize(("key", "numbers"), [("ArrowRight", [0.5, 1]), ("ArrowLeft", [0, -0.5])])
def test_from_a_typed_number_the_slider_goes_on_to_its_own_steps(key, numbers, open_page):
    page = open_page(GatePlayground(weights=(0.37, 1), bias=0))
    slider = page.get_by_role("slider", name="weight of a")
    for number in numbers:
        slider.press(key)
        agrees(seen(page), "AND", [number, 1], 0, False)


def test_a_number_out_of_range_is_named_and_the_last_good_one_stays(open_page):
    page = open_page(GatePlayground())
    field, hint = page.get_by_role("spinbutton", name="bias"), page.locator(".hint")
    field.fill("7")
    assert hint.text_content() == "The bias is a number from −3 to 3. 0 stays."
    assert field.get_attribute("aria-invalid") == "true"
    assert seen(page)["formula"] == "out = ReLU(0.5·a + 0.5·b + 0)"
    field.fill("-1")
    assert (hint.text_content(), field.get_attribute("aria-invalid")) == ("", "false")
    agrees(seen(page), "AND", [0.5, 0.5], -1, False)
    field.fill("")
    assert hint.text_content() == ""  # it may be a number yet
    field.blur()
    assert hint.text_content() == "The bias is a number from −3 to 3. −1 stays."
    page.get_by_role("button", name="Show a solution").click()
    assert (hint.text_content(), field.input_value()) == ("", "-1")
    field.fill("0.126")
    field.blur()
    assert field.input_value() == "0.13"


@pytest.mark.parametrize(("typed", "meant"), [("−1", -1), ("0,25", 0.25), ("–2", -2), ("-0.5", -0.5)])
def test_a_minus_sign_and_a_decimal_comma_are_read_as_they_are_meant(typed, meant, open_page):
    page = open_page(GatePlayground())
    page.get_by_role("spinbutton", name="bias").select_text()
    for character in typed:
        page.keyboard.insert_text(character)
    agrees(seen(page), "AND", [0.5, 0.5], meant, False)


def test_a_reader_who_listens_hears_how_many_rows_are_right_when_that_changes(open_page):
    page = open_page(GatePlayground("AND", weights=(1, 1), bias=0))
    assert page.get_by_role("status").text_content() == "1 of 4 rows right"
    page.evaluate("""() => { window.heard = []; const says = document.querySelector("[role=status]");
        new MutationObserver(() => window.heard.push(says.textContent)).observe(says, {childList: true}) }""")
    for bias in ("0.1", "0.2", "-1"):
        page.get_by_role("spinbutton", name="bias").fill(bias)
    assert page.evaluate("window.heard") == ["0 of 4 rows right", "4 of 4 rows right: AND"]
    label = page.get_by_role("img").first.get_attribute("aria-label")
    assert label.startswith("Unit square for AND, corners (a, b): (0, 0) gives 0, target 0; (0, 1) gives 0, target 0; ")
    assert "The line 1·a + 1·b − 1 = 0 bounds the shaded side" in label


OUTSIDE = """root => {
  const edge = root.getBoundingClientRect().right, parts = [...root.querySelectorAll("*:not(.says, .word)")];
  return [document.documentElement.scrollWidth, parts.filter(part => part.getBoundingClientRect().right > edge ||
    part.scrollWidth > part.clientWidth + 1 && part.matches("td, th, p, label")).map(part => part.outerHTML)];
}"""


def test_no_page_scrolls_sideways_and_no_text_leaves_its_place(open_page):
    page = open_page(GatePlayground(weights=(-2.75, -2.75), bias=-2.75), height=640)
    given = [(gate, [-2.75, -2.75], -9, then_not) for gate in GATES for then_not in (False, True)]  # a hint appears
    for width in (360, 690, 1000):
        page.set_viewport_size({"width": width, "height": 640})
        for wide, outside in page.locator(ROOT).evaluate(TRY, [given, OUTSIDE]):
            assert (wide, outside) == (width, [])
        assert page.locator(".hint").text_content() == "The bias is a number from −3 to 3. −2.75 stays."


def test_wide_pages_put_the_numbers_beside_the_picture(open_page):
    page = open_page(GatePlayground())
    for width, beside in ((1000, True), (700, True), (500, False)):
        page.set_viewport_size({"width": width, "height": 900})
        picture, numbers = page.locator(".picture").bounding_box(), page.locator(".numbers").bounding_box()
        assert (numbers["x"] > picture["x"] + picture["width"]) == beside


@pytest.mark.parametrize(("theme", "ink"), [("light", "rgb(27, 31, 39)"), ("dark", "rgb(242, 240, 234)")])
def test_the_picture_follows_the_theme(theme, ink, open_page):
    page = open_page(GatePlayground("XOR"), theme=theme)
    colours = """["fill", "stroke"].map((name, i) =>
        getComputedStyle(document.querySelector([".disc.full", ".zero"][i])).getPropertyValue(name))"""
    assert page.evaluate(colours) == [ink, ink]


def test_a_kernel_moves_the_widget_and_hears_of_the_reader(open_page):
    page = open_page()
    playground = GatePlayground()
    names = ["library", "gate", "weights", "bias", "then_not"]
    page.add_style_tag(content=playground._css)
    page.evaluate(MODEL, [playground._esm, playground.get_state(names)])
    page.evaluate("model.set('gate', 'NAND'), model.set('weights', [1.5, -0.25])")
    page.evaluate("model.set('bias', 3), model.set('then_not', true)")
    agrees(seen(page), "NAND", [1.5, -0.25], 3, True)
    saved = "(({gate, weights, bias, then_not}) => [gate, weights, bias, then_not])(model.saved.at(-1))"
    choose(page, "NOR")
    assert page.evaluate(saved) == ["NOR", [1.5, -0.25], 3, True]
    page.get_by_role("button", name="Show a solution").click()
    assert page.evaluate(saved) == ["NOR", [-1, -1], 1, False]
    page.get_by_role("slider", name="weight of b").fill("0.5")
    assert page.evaluate(saved) == ["NOR", [-1, 0.5], 1, False]
    page.evaluate("cleanup()")


def test_the_neuron_is_drawn_with_its_numbers_and_a_row_lights_it(open_page):
    page = open_page(GatePlayground("OR", (-1, -2), 1, True))
    drawn = network(page)
    assert [edge["weight"] for edge in drawn["edges"]] == [-1, -2, -1]
    assert [edge["width"] for edge in drawn["edges"]] == [3, 6, 3]
    assert {edge["kind"] for edge in drawn["edges"]} == {"minus"}
    assert drawn["biases"] == ["+1", "+1"]
    rows = page.get_by_role("slider", name="Row of the truth table")
    for i, (a, b) in enumerate(CORNERS):
        rows.fill(str(i))
        _, h, out = (part[i] for part in computed([-1, -2], 1, True))
        assert network(page)["values"] == [a, b, h, out]
        assert network(page)["lit"] == [bool(value) for value in (a, b, h, out)]
        assert page.locator("tbody tr[aria-current]").evaluate_all("rows => rows.map(row => row.rowIndex)") == [i + 1]
    page.locator("tbody tr").nth(1).click()
    assert network(page)["said"] == "The network for a=0 b=1: h = 0; out = 1; expected 1"


def test_the_four_rows_run_through_once_the_gate_is_right(open_page):
    page = open_page(GatePlayground("AND"), stopped=True)
    assert page.locator(".row-name").text_content() == "a=0 b=1"
    press(page, "Show a solution")
    seen_rows = []
    for _ in range(6):
        seen_rows.append(page.locator(".row-name").text_content())
        page.clock.run_for(500)
    assert seen_rows == ["a=0 b=0", "a=0 b=1", "a=1 b=0", "a=1 b=1", "a=0 b=0", "a=0 b=0"]


def press(page, name):
    page.get_by_role("button", name=name).click()
