"""The average compass in a real browser, held against the network in Python."""

from fractions import Fraction
from itertools import islice

import pytest
import torch

from pages import MODEL
from turing.perez import NormalForm, Perez21
from turing.widgets import AverageCompass
from turing.widgets.average_compass.widget import RUNS

torch.set_num_threads(1)  # on small matrices threads wait for each other
WRONG = {"zigzag": 321, "busy beaver": 482, "parentheses": 372}  # the first wrong fetch in float32
SHOWN = """root => {
  const text = (node) => node.textContent.trim(), all = (selector) => [...root.querySelectorAll(selector)];
  const {i, fetched, right, cell, wrong} = root.dataset;
  return {
    i: Number(i), fetched: fetched.split(" ").map(Number), right: Number(right), cell: Number(cell),
    wrong: wrong === "true",
    moves: all(".move b").map(text).join(""),
    visits: all(".move").flatMap((node, k) => node.classList.contains("visit") ? [k + 1] : []),
    chosen: all(".choice [aria-pressed=true]").map(text), says: text(root.querySelector(".account")),
    needle: root.querySelector(".needle").style.transform, slider: root.querySelector("[type=range]").max,
    rows: all("tbody tr").map(row => [...row.children].map(text)),
  };
}"""
FOLLOW = """(given, arithmetic, passes) => {
  const run = modules.follow(given, arithmetic), found = [];
  for (let i = 1; i <= passes; i++) {
    const pass = run.at(i), {fetched, right, cell, average} = pass;
    found.push({fetched, right, cell, average, products: run.products(pass).map(
      ({value, fraction}) => fraction ? fraction.map(String) : value)});
  }
  return {found, last: run.last, wrong: run.wrong};
}"""


def seen(page, n=0):
    return page.locator(".turing-average-compass").nth(n).evaluate(SHOWN)


def press(page, name):
    page.get_by_role("button", name=name, exact=True).first.click()


def in_python(name, arithmetic, passes):
    """For each pass of the network: the average, the products, and the steps that are fetched."""
    make, word, _ = RUNS[name]
    network = Perez21(make(), arithmetic)
    head, state = network.pipeline["last"], network.start([word])
    with torch.no_grad():
        for _ in range(passes):
            state = network.step(state)
            column, (keys, _) = state.vectors["count"], state.memory["last"]
            if arithmetic == "exact":
                products = head.query(column).dots(keys)
            else:
                products = (head.query(column) @ keys.T).flatten().tolist()
            shares = head.weights(column if arithmetic == "exact" else column[None], keys)
            shares = shares if arithmetic == "exact" else shares.flatten().tolist()
            fetched = [j for j, share in enumerate(shares, start=1) if share]
            yield column[network.layout.avg2[0]], products, fetched


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("arithmetic", ["exact", "float64", "float32"])
def test_the_page_computes_the_numbers_of_the_network(modules, name, arithmetic):
    run = next(run for run in AverageCompass().runs if run["name"] == name)
    passes = 40 if arithmetic == "exact" else WRONG[name]
    result = modules("average_compass/run.js")(FOLLOW, run, arithmetic, passes)
    cells = cells_of(name, passes)
    for i, (mine, (average, products, fetched)) in enumerate(
        zip(result["found"], in_python(name, arithmetic, passes), strict=True), start=1
    ):
        if arithmetic == "exact":
            assert [Fraction(*map(int, product)) for product in mine["products"]] == products
            assert mine["average"] == pytest.approx(float(average))
        else:
            assert mine["products"] == products
            assert mine["average"] == average.item()
        assert mine["fetched"] == fetched
        assert mine["cell"] == cells[i]
        assert mine["right"] == max((j for j in range(1, i + 1) if cells[j - 1] == cells[i]), default=i)


def cells_of(name, passes):
    make, word, _ = RUNS[name]
    form = NormalForm(make())
    return [now.head for now in islice(form.machine.trace(form.word(word), passes), passes + 1)]


def test_dragging_i_shows_history_average_and_scores(open_page):
    page = open_page(AverageCompass(), AverageCompass("busy beaver", 5))
    shown = seen(page)
    assert (shown["i"], shown["cell"], shown["fetched"], shown["visits"]) == (12, 4, [11], [9, 11])
    assert shown["moves"] == "→←→→→←→→←→→←"
    assert shown["needle"] == "rotate(30deg)"
    assert shown["rows"][0] == ["11", "4", "−6.3131313e−4", "fetched, right"]
    assert shown["chosen"] == ["zigzag", "float32"]
    assert shown["says"] == (
        "After 12 moves the average is 4/12 ≈ 0.333333: the tape head comes to cell 4. It has been there twice, last "
        "at step 11. Step 11 has the best score. The visit before that, step 9, has a score that is 22 % further from "
        "0."
    )
    page.get_by_role("slider").first.fill("11")
    shown = seen(page)
    assert (shown["i"], shown["cell"], shown["fetched"], shown["visits"]) == (11, 5, [11], [])
    assert "It has never been there, so the step itself should win. Step 11 has the best score." in shown["says"]
    press(page, "Start")
    assert seen(page)["moves"] == "→"
    assert seen(page, 1)["i"] == 5


@pytest.mark.parametrize("name", RUNS)
def test_float32_ends_at_the_wrong_bar_and_another_number_type_goes_on(open_page, name):
    page = open_page(AverageCompass(name))
    press(page, "End")
    shown = seen(page)
    assert (shown["i"], shown["wrong"], shown["slider"]) == (WRONG[name], True, str(WRONG[name]))
    assert shown["fetched"] != [shown["right"]]
    assert shown["rows"][0][3] == "fetched"
    assert "right" in [row[3] for row in shown["rows"]]
    assert f"In float32 step {shown['fetched'][0]} wins. The fetch is wrong, and the run ends here" in shown["says"]
    press(page, "float64")
    after = seen(page)
    assert (after["i"], after["wrong"], after["fetched"]) == (WRONG[name], False, [shown["right"]])
    press(page, "End")
    assert seen(page)["i"] == RUNS[name][2]
    assert not seen(page)["wrong"]
    press(page, "float32")
    assert seen(page)["i"] == WRONG[name]


def test_exact_scores_are_fractions(open_page):
    page = open_page(AverageCompass(arithmetic="exact"))
    rows = [row[:3] for row in seen(page)["rows"]]
    assert rows[:3] == [["11", "4", "−1/1584"], ["9", "4", "−1/1296"], ["12", "5", "−35/1728"]]


def test_with_the_keyboard_alone_everything_can_be_reached_and_set(open_page):
    page = open_page(AverageCompass())
    reached = []
    for _ in range(13):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("(e => e.getAttribute('aria-label') ?? e.textContent)(document.activeElement)"))
    assert reached == [
        "The average of moves, and the scores of all steps", "zigzag", "busy beaver", "parentheses",
        "exact", "float64", "float32", "Start", "Back", "Step", "End", "Number i of the pass", "Moves",
    ]  # fmt: skip
    page.locator(".turing-average-compass").focus()
    page.keyboard.press("ArrowRight")
    assert seen(page)["i"] == 13
    page.keyboard.press("Home")
    assert seen(page)["i"] == 1
    page.get_by_role("slider").focus()
    page.keyboard.press("End")
    assert seen(page)["wrong"]


def test_colours_are_those_of_positions_and_attention_and_follow_the_theme(open_page):
    page = open_page(AverageCompass())
    fill = "selector => getComputedStyle(document.querySelector(selector)).fill"
    for theme, colours in {"light": ("0, 115, 79", "138, 63, 148"), "dark": ("76, 201, 160", "217, 154, 227")}.items():
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        assert [page.evaluate(fill, part) for part in (".needle", ".bars .best")] == [f"rgb({c})" for c in colours]


def test_a_kernel_hears_of_the_reader_and_moves_the_widget(open_page):
    page, widget = open_page(), AverageCompass(i=20)
    page.evaluate(MODEL, [widget._esm, widget.get_state()])
    changes = {"Step": {"i": 21}, "exact": {"arithmetic": "exact"}, "busy beaver": {"run": "busy beaver"}}
    for name, change in changes.items():
        press(page, name)
        saved = page.evaluate("({i: model.get('i'), run: model.get('run'), arithmetic: model.get('arithmetic')})")
        assert saved | change == saved
        widget.set_state(saved)
    page.evaluate("model.set('i', 3)")
    assert seen(page)["moves"] == "→←→"
