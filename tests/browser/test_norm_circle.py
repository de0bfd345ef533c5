"""The norm circle in a real browser, held against the network in Python."""

import math
import re

import pytest
import torch

import turing
from pages import MODEL
from turing.merrill import Merrill24
from turing.widgets import NormCircle

WORD = "B(((())))E"
SHOWN = """root => {
  const text = (node) => node.textContent.trim(), all = (selector) => [...root.querySelectorAll(selector)];
  return {
    ...root.dataset, says: text(root.querySelector(".account")), limits: text(root.querySelector(".list .label")),
    rows: all("tbody tr").map((row) => [...row.children].map(text)),
    fetched: all("tbody tr.fetched th").map((node) => parseInt(text(node))),
    rays: all("line.key").map((node) => ["x1", "y1", "x2", "y2"].map((name) => Number(node.getAttribute(name)))),
    query: all("line.query").map((node) => ["x1", "y1", "x2", "y2"].map((name) => Number(node.getAttribute(name)))),
    label: root.querySelector("svg").getAttribute("aria-label"),
    names: all("svg text").map((node) => [text(node), ...["x", "y"].map((name) => Number(node.getAttribute(name)))]),
  };
}"""


def seen(page, n=0):
    return page.locator(".turing-norm-circle").nth(n).evaluate(SHOWN)


def press(page, name):
    page.get_by_role("button", name=name, exact=True).first.click()


def number(text):
    return float(text.replace("−", "-"))


@pytest.mark.parametrize("arithmetic", ["exact", "float64", "float32"])
def test_the_numbers_are_those_of_the_network_in_python(open_page, arithmetic):
    network, machine = Merrill24(turing.zoo["balanced_parentheses"], arithmetic), turing.zoo["balanced_parentheses"]
    cells = [now.head for now in machine.trace(WORD, 40)]
    page, head, state = open_page(NormCircle(WORD, 1, arithmetic)), network.pipeline["last"], network.start([WORD])
    with torch.no_grad():
        for step in range(1, 29):
            state = network.step(state)
            if arithmetic == "exact":
                scores = head._exact_scores(state.vectors["word"], state.memory["last"][0])
            else:
                keys = state.memory["last"][0].reshape(-1, 5)
                scores = head.scores(state.vectors["word"].reshape(1, -1), keys).flatten().double().tolist()
            shown = seen(page)
            assert shown["step"] == str(step)
            assert f"the tape head is on cell {cells[step - 1]}." in shown["says"].replace("−", "-")
            (best,) = shown["fetched"]
            assert best == max(range(step), key=lambda j: scores[j]) + 1
            for column, _, _, _, _, below in shown["rows"]:
                wanted, given = float(1 - scores[int(re.match(r"\d+", column)[0]) - 1]), number(below)
                room = {"exact": 0, "float64": 1e-14, "float32": 5e-7}[arithmetic]
                assert given == pytest.approx(wanted, rel=0.06, abs=room)
            press(page, "Step")


def test_rays_point_where_the_cells_are(open_page):
    page = open_page(NormCircle(WORD, 14, "exact"))
    shown = seen(page)
    angles = sorted(math.atan2(x2 - x1, y1 - y2) for x1, y1, x2, y2 in shown["rays"])
    assert angles == pytest.approx([math.atan(cell) for cell in range(7)], abs=1e-6)
    ((x1, y1, x2, y2),) = shown["query"]
    assert math.atan2(x2 - x1, y1 - y2) == pytest.approx(math.atan(5), abs=1e-6)
    assert math.hypot(x2 - x1, y2 - y1) == pytest.approx(140)
    assert shown["label"] == "A half circle with a ray for each of the cells 0, 1, 2, 3, 4, 5, 6. The query is cell 5."


def test_the_query_and_the_fetched_key_have_their_labels_and_none_covers_another(open_page):
    page, machine = open_page(NormCircle(WORD, 1, "exact")), turing.zoo["balanced_parentheses"]
    cells, crowded = [now.head for now in machine.trace(WORD, 51)], 0
    for step in range(1, 52):
        names = {name: (x, y) for name, x, y in seen(page)["names"]}
        written = [0, *cells[: step - 1]]
        fetched = cells[step - 1] if cells[step - 1] in written else written[-1]
        assert {str(cells[step - 1]), str(fetched)} <= {*names}
        places = list(names.values())
        assert all(math.dist(a, b) >= 15 for n, a in enumerate(places) for b in places[:n])
        assert all(8 < x < 332 and 8 < y < 186 for x, y in places)
        crowded += fetched != cells[step - 1] and fetched > 2
        press(page, "Step")
    assert crowded


def test_ties_are_broken_by_psi_and_a_new_cell_finds_its_neighbour(open_page):
    page = open_page(NormCircle(WORD, 14, "exact"))
    shown = seen(page)
    assert shown["says"].endswith(
        "3 columns match, and φ·φⱼ is 1 for each. ψⱼ is least for the last of them, column 11. It wrote *."
    )
    assert [row[3] for row in shown["rows"][:3]] == ["0"] * 3
    press(page, "Start")
    assert seen(page)["says"].endswith("It is the first one, which wrote nothing: the word's symbol is taken.")
    press(page, "Step")
    assert "No column wrote on this cell. The best key is that of the neighbour, cell 0" in seen(page)["says"]


def test_float32_ends_at_its_first_wrong_column_and_the_others_do_not(open_page):
    page = open_page(NormCircle(WORD))
    press(page, "End")
    shown = seen(page)
    assert shown["wrong"] == shown["last"] == shown["step"]
    assert 24 <= int(shown["last"]) <= 45
    assert "In this page float32 first fetches another column than exact arithmetic" in shown["limits"]
    assert "exact arithmetic" in shown["says"].lower() or "It should be column" in shown["says"]
    for name, says in (
        ("float64", "float64 fetches the right column in all 51 steps."),
        ("exact", "float32 and float64 are compared with exact arithmetic"),
    ):
        press(page, name)
        press(page, "End")
        shown = seen(page)
        assert (shown["wrong"], shown["last"]) == ("0", "51")
        assert shown["limits"].startswith(says)


def test_a_word_is_typed_and_one_that_does_not_fit_is_refused(open_page):
    page = open_page(NormCircle("B()E", 5))
    field = page.get_by_label("Word")
    field.fill("B)E")
    assert seen(page)["last"] == "3"
    assert seen(page)["step"] == "1"
    for word, message in (("Bx", "x is not one of"), ("(" * 25, "24 symbols at most")):
        field.fill(word)
        assert message in page.locator(".word .hint").inner_text()
        assert field.get_attribute("aria-invalid") == "true"
        assert seen(page)["last"] == "3"
    field.fill("")
    assert field.get_attribute("aria-invalid") == "false"


def test_keys_walk_through_the_run(open_page):
    page = open_page(NormCircle(WORD, 3, "exact"))
    page.locator(".account").click()
    for key, step in (("ArrowRight", "4"), ("ArrowLeft", "3"), ("End", "51"), ("Home", "1")):
        page.keyboard.press(key)
        assert seen(page)["step"] == step


def test_another_machine_and_negative_cells(open_page):
    page = open_page(NormCircle("1", 4, "exact", turing.zoo["bb3"]))
    press(page, "End")
    shown = seen(page)
    run = turing.zoo["bb3"].run("1", 80)
    assert shown["last"] == str(run.steps)


def test_attention_is_purple_positions_are_green_and_both_follow_the_theme(open_page):
    page = open_page(NormCircle(WORD, 14))
    style = "([selector, name]) => getComputedStyle(document.querySelector(selector))[name]"
    expected = {"light": ("138, 63, 148", "0, 115, 79"), "dark": ("217, 154, 227", "76, 201, 160")}
    for theme, (purple, green) in expected.items():
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        for selector, name, colour in (
            ("line.query", "stroke", purple), ("circle.won", "fill", purple), ("line.key", "stroke", green),
            ("tr.here td:nth-child(2)", "color", green),
        ):  # fmt: skip
            assert page.evaluate(style, [selector, name]) == f"rgb({colour})"


def test_a_kernel_hears_of_the_reader_and_moves_the_widget(open_page):
    page, widget = open_page(), NormCircle("B()E")
    page.evaluate(MODEL, [widget._esm, widget.get_state()])
    for name, change in (("Step", {"step": 2}), ("exact", {"arithmetic": "exact"})):
        press(page, name)
        saved = page.evaluate("model.saved.at(-1)")
        assert {key: saved[key] for key in change} == change
        widget.set_state({key: saved[key] for key in ("word", "step", "arithmetic")})
    assert (widget.step, widget.arithmetic) == (2, "exact")
    page.evaluate("model.set('step', 7)")
    assert seen(page)["step"] == "7"


def test_a_tie_that_leaves_no_one_state_is_a_wrong_fetch_too(open_page):
    rules = {(q, a): rule for q in "AB" for a, rule in (("0", ("B", "1", 0)), ("1", ("A", "0", 0)))}
    page = open_page(NormCircle("", 1, "float32", machine=turing.TuringMachine(rules, "A", (), "0")))
    shown = seen(page)
    assert shown["wrong"] == shown["last"] == "19"
    assert "first fetches another column than exact arithmetic at step 19" in shown["limits"]
