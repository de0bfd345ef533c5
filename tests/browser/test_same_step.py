"""The same step in every construction in a real browser, held against the networks in Python."""

import pytest
import torch

import turing
from pages import MODEL
from turing.comparison import memory
from turing.construction import Construction, constructions
from turing.exact import Exact
from turing.widgets import SameStep

SHOWN = """root => Object.fromEntries([...root.querySelectorAll("section")].map((row) => [row.dataset.construction, {
  passes: parseInt(row.querySelector(".passes")?.textContent), says: row.querySelector(".where").textContent,
  groups: Object.fromEntries([...row.querySelectorAll(".group")].map((group) => [
    group.querySelector(".label").textContent, [...group.querySelectorAll(".item")].map(({dataset, classList}) => ({
      number: Number(dataset.number), text: dataset.text, value: Number(dataset.value), lit: classList.contains("lit"),
    }))])),
}]))"""
RUNS = {"bb3": "", "balanced_parentheses": "B()E", "parity": "011"}


def seen(page):
    return page.locator(".turing-same-step").first.evaluate(SHOWN)


def press(page, name):
    page.get_by_role("button", name=name, exact=True).first.click()


def compiled(name, word):
    machine = turing.zoo[name]
    run = machine.run(word)
    heads = [now.head for now in run.trace]
    cells = range(min(heads), max(*heads, len(word) - 1) + 1)
    for kind in constructions().values():
        if kind.kept is not Construction.kept and (kind.construction, name) not in {
            ("ss95-realtime", "balanced_parentheses"),
            ("bhattamishra20", "balanced_parentheses"),
            ("bhattamishra20", "parity"),
        }:
            yield kind(machine, **kind.options_for({}, word, run.steps, cells=cells)).fitted(word, run.steps)


def numbers(x):
    return [float(value) for value in x] if isinstance(x, Exact) else x.flatten().tolist()


@pytest.mark.parametrize("name", RUNS)
def test_the_numbers_and_what_is_lit_are_those_of_the_networks_in_python(open_page, name):
    word, machine = RUNS[name], turing.zoo[name]
    trace = list(machine.trace(word))
    page, shown = open_page(SameStep(name)), []
    for _ in trace:
        shown.append(seen(page))
        press(page, "Step")
    checked = 0
    for network in compiled(name, word):
        state = network.start([word])
        for view, (passes, places) in zip(shown, memory(network, word), strict=True):
            with torch.no_grad():
                while state.passes < passes:
                    state = network.step(state)
            row = view[network.construction]
            assert row["passes"] == passes
            lit = [(group, item["number"]) for group, items in row["groups"].items() for item in items if item["lit"]]
            assert sorted(number for _, number in lit) == sorted({number for _, number in places})
            for group, items in row["groups"].items():
                if group in ("the vector", "the newest token"):
                    wanted = {k: value for k, value in enumerate(numbers(state.x)) if value}
                    assert {item["number"]: item["value"] for item in items} == pytest.approx(wanted)
                    checked += len(items)
                if group == "the cells":
                    sym = network.layout.sym.slice
                    assert [item["text"] for item in items] == [machine.symbols[cell[sym].argmax()] for cell in state.x]
                    checked += len(items)
    assert checked > 50


def test_what_is_lit_holds_the_symbol_under_the_head(open_page):
    machine, page = turing.zoo["balanced_parentheses"], open_page(SameStep("balanced_parentheses"))
    for now in machine.trace("B()E"):
        head = page.locator(".head").first.inner_text().replace("−", "-")
        assert f"the tape head is on cell {now.head}, which holds {now.symbol}." in head
        for name in ("wcm21", "perez21", "merrill24", "liwang25", "conv"):
            row = seen(page)[name]
            (lit,) = [item for items in row["groups"].values() for item in items if item["lit"]]
            held = lit["text"] or row["says"].removeprefix("Kept in the newest token: sym2[").removesuffix("].")
            assert held == now.symbol, (name, now)
        press(page, "Step")


def test_a_cell_that_is_kept_nowhere_and_a_network_that_is_too_large_are_said_to_be_so(open_page):
    page = open_page(SameStep("bb3"))
    assert seen(page)["wcm21"]["says"] == "Nowhere: the cell is new, and blank."
    press(page, "Step")
    press(page, "Step")
    assert seen(page)["wcm21"]["says"] == "Kept in the columns so far: 0."
    press(page, "balanced parentheses")
    assert "too many for a page" in seen(page)["bhattamishra20"]["says"]
    assert seen(page)["conv"]["says"] == "Kept in the cells: 2."


def test_the_page_numbers_rows_and_columns_as_python_does_and_as_the_chapters_do(open_page):
    page = open_page(SameStep("balanced_parentheses"))
    for step in range(10):
        fallback = SameStep("balanced_parentheses", step).fallback()
        for name in ("wcm21", "perez21", "merrill24", "liwang25"):
            assert f"<td>{seen(page)[name]['says']} " in fallback, (name, step)
        press(page, "Step")
    numbers = """root => [...root.querySelectorAll("[data-construction=merrill24] .group")].map((group) =>
      [...group.querySelectorAll("i")].map(({textContent}) => textContent))"""
    word, columns = page.locator(".turing-same-step").first.evaluate(numbers)
    assert word == ["−1", "0", "1", "2", "3", "4"]
    assert columns == [f"{i}" for i in range(1, len(columns) + 1)]


def test_keys_walk_and_a_kernel_hears_of_the_reader(open_page):
    page = open_page(SameStep("bb3", 3))
    page.locator(".turing-same-step .head").first.click()
    root = page.locator(".turing-same-step").first
    for key, step in (("ArrowRight", "4"), ("ArrowLeft", "3"), ("End", "21"), ("Home", "0")):
        page.keyboard.press(key)
        assert root.get_attribute("data-step") == step
    page, widget = open_page(), SameStep("bb3", 21)
    page.evaluate(MODEL, [widget._esm, widget.get_state()])
    press(page, "parity")
    saved = page.evaluate("model.saved.at(-1)")
    assert {key: saved[key] for key in ("machine", "step")} == {"machine": "parity", "step": 4}
    page.evaluate("model.set('step', 1)")
    assert page.locator(".turing-same-step").first.get_attribute("data-step") == "1"
