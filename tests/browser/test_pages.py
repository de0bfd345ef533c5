"""Every page of the built book in a real browser, from a server and from file://, with the network blocked."""

import gzip
import re
from pathlib import Path

import pytest
import torch

import book
import turing
from book import ROOT
from turing.adders import LookaheadAdder, bits_of
from turing.check import Wrong, exercises
from turing.check.weights import WeightPuzzle

PAGES = book.pages()
AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")

# What the theme and the tools under it bring, and we do not repair: rule to the elements that it concerns.
THEMES_OWN = {
    # the visible "Ctrl + K", the icon's empty text and "Show code cell source" are not in the label
    "label-content-name-mismatch": ".search-button-field, .theme-switch-button, details.hide > summary",
    # Sphinx nests the back-links of a citation in the list itself
    "aria-required-children": ".citation-list",
}

# Only colours change with the theme.
AXE_OPTIONS = {
    "light": {"resultTypes": ["violations"]},
    "dark": {"resultTypes": ["violations"], "runOnly": ["color-contrast"]},
}
MATHS_IS_DONE = "() => !window.MathJax || (window.MathJax.startup && window.MathJax.startup.promise)"
IMAGES = "[...document.querySelectorAll('img')].map(i => [i.getAttribute('src'), i.getAttribute('alt')])"
OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
STICKS_OUT = """() => [...document.querySelectorAll(".turing-live > .turing-widget")]
  .filter((widget) => widget.scrollWidth > widget.clientWidth).map((widget) => widget.className)"""


@pytest.mark.parametrize("page", PAGES)
def test_every_entry_of_the_contents_has_its_page(page, book_html):
    assert (book_html / f"{page}.html").is_file()


def test_no_page_was_built_that_the_contents_do_not_name(book_html):
    built = {path.relative_to(book_html).with_suffix("").as_posix() for path in book_html.rglob("*.html")}
    built = {page for page in built if not page.startswith(("_static/", "_sources/"))}
    assert built - set(PAGES) <= {"index", "search"}


def sound(seen):
    """The page asked no other host, reported no error, typeset its maths, started its widgets, named its images."""
    seen.page.evaluate(MATHS_IS_DONE)
    assert seen.blocked == []
    assert seen.errors == []
    formulas = seen.page.locator("span.math, div.math").count()
    assert seen.page.locator("mjx-container").count() >= formulas
    assert seen.page.locator("mjx-merror, .math-error").count() == 0
    places = seen.page.locator(".turing-live")
    assert seen.page.locator(".turing-live > .turing-widget").count() == places.count(), "a widget did not start"
    for source, alt in seen.page.evaluate(IMAGES):
        assert alt is not None, source
        assert " " in alt, f"{source} has no human alt text: {alt!r}"
        assert "_images" not in alt


@pytest.mark.parametrize("page", PAGES)
def test_a_page_works_from_the_file_system(page, sites, visit):
    with visit(f"{sites['file']}/{page}.html") as seen:
        sound(seen)


@pytest.mark.parametrize("page", PAGES)
def test_no_page_names_another_host_to_fetch_from(page, book_html):
    assert book.foreign((book_html / f"{page}.html").read_text(encoding="utf-8")) == []


def test_the_watch_over_pages_sees_a_cdn_and_an_error(tmp_path, visit):
    (tmp_path / "x.html").write_text(
        '<!doctype html><script src="https://cdn.example.org/x.js"></script><script>nothing.there()</script>'
    )
    with visit((tmp_path / "x.html").as_uri()) as seen:
        assert seen.blocked == ["https://cdn.example.org/x.js"]
        assert any("nothing is not defined" in error for error in seen.errors)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_page_works_from_a_server_fits_a_phone_and_axe_finds_nothing_serious(page, theme, sites, visit):
    with visit(f"{sites['http']}/{page}.html", width=360, height=740, theme=theme) as seen:
        assert seen.page.evaluate("document.documentElement.dataset.theme") == theme
        sound(seen)
        for width in (360, 1200):
            seen.page.set_viewport_size({"width": width, "height": 900})
            assert seen.page.evaluate(OVERFLOW) <= 0, f"the page scrolls sideways at {width} px"
            assert seen.page.evaluate(STICKS_OUT) == [], f"something sticks out of a widget at {width} px"
        seen.page.evaluate(AXE)
        found = seen.page.evaluate("async (options) => (await axe.run(options)).violations", AXE_OPTIONS[theme])
        serious = [
            f"{violation['id']}: {node['html'][:160]} {node.get('failureSummary', '')[:300]}"
            for violation in found
            for node in violation["nodes"]
            if violation["impact"] in ("serious", "critical")
            and not seen.page.evaluate(
                "([at, own]) => !!own && !!document.querySelector(at)?.closest(own)",
                [node["target"][0], THEMES_OWN.get(violation["id"])],
            )
        ]
        assert serious == []


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_light(page, book_html):
    """Under 300 KB compressed, fonts and MathJax aside."""
    html = (book_html / f"{page}.html").read_bytes()
    local = re.findall(rb'(?:src|href)="([^":?#]+\.(?:js|css|svg|png))', html)
    files = {((book_html / page).parent / name.decode()).resolve() for name in local}
    weighed = [html] + [file.read_bytes() for file in files if file.is_file() and "vendor" not in file.parts]
    assert sum(len(gzip.compress(data)) for data in weighed) < 300_000


@pytest.mark.parametrize("path", book.notebooks(), ids=lambda path: path.stem)
def test_every_notebook_has_a_colab_button_that_names_it(path, book_html):
    page = path.relative_to(ROOT).with_suffix("").as_posix()
    html = (book_html / f"{page}.html").read_text(encoding="utf-8")
    repository = book.config()["repository"]["url"].removeprefix("https://github.com/")
    assert f"https://colab.research.google.com/github/{repository}/blob/main/{page}.ipynb" in html


def test_the_front_door_leads_to_the_landing_page(sites, visit):
    with visit(f"{sites['file']}/index.html") as seen:
        seen.page.wait_for_url("**/book/index.html")
        assert seen.errors == []


STEPPER_PAGES = ["book/index", "book/why", "book/00_machines"]


@pytest.mark.parametrize("page", STEPPER_PAGES)
@pytest.mark.parametrize("way", ["http", "file"])
def test_the_stepper_on_the_page_agrees_with_the_oracle(page, way, sites, visit):
    machine = turing.zoo["balanced_parentheses"]
    with visit(f"{sites[way]}/{page}.html") as seen:
        stepper = seen.page.locator(".turing-live .turing-stepper").first
        stepper.scroll_into_view_if_needed()

        def shown():
            cells = stepper.locator("[data-cell]")
            pairs = cells.evaluate_all("all => all.map(c => [Number(c.dataset.cell), c.dataset.symbol])")
            tape = {cell: symbol for cell, symbol in pairs if symbol != machine.blank}
            read = lambda name: stepper.get_attribute(f"data-{name}")  # noqa: E731
            return read("state"), int(read("step")), int(read("head")), tape

        def expected(word, step):
            configuration = list(machine.trace(word, step))[-1]
            return configuration.state, configuration.step, configuration.head, configuration.tape

        word = stepper.get_by_role("textbox").input_value()
        stepper.get_by_role("button", name="Step", exact=True).click()
        assert shown() == expected(word, 1)
        stepper.focus()
        seen.page.keyboard.press("ArrowRight")
        assert shown() == expected(word, 2)
        seen.page.keyboard.press("End")
        assert shown() == expected(word, 10_000)
        for mine in ("B(())E", "B)E"):
            stepper.get_by_role("textbox").fill(mine)
            stepper.get_by_role("textbox").press("Enter")
            assert shown() == expected(mine, 0)
            stepper.focus()
            for step in range(1, 5):
                seen.page.keyboard.press("ArrowRight")
                assert shown() == expected(mine, step)
        assert seen.blocked == []
        assert seen.errors == []


def test_the_gate_playground_of_its_chapter_solves_a_gate(sites, visit):
    with visit(f"{sites['file']}/book/01_gates.html") as seen:
        playground = seen.page.locator(".turing-live .turing-gate-playground")
        for gate in ("AND", "NAND"):
            playground.get_by_role("radio", name=gate, exact=True).check()
            playground.get_by_role("button", name="Show a solution").click()
            assert playground.get_by_role("status").text_content() == f"4 of 4 rows right: {gate}"
        assert seen.errors == []


def test_the_adder_of_its_chapter_ends_with_the_sum_of_torch(sites, visit):
    with visit(f"{sites['file']}/book/03_adders.html") as seen:
        adder = seen.page.locator(".turing-live .turing-adder")
        adder.get_by_role("button", name="End").click()
        expected = LookaheadAdder(3)(torch.cat([bits_of(3, 3), torch.tensor([1.0, 0.0])]))
        for section in adder.locator("section").all():
            row = section.locator("tbody tr").first.locator("td").all_inner_texts()
            assert [text for text in row if text] == [*(f"{bit:.0f}" for bit in expected.flip(0).tolist()), "= 4"]
        assert seen.errors == []


@pytest.mark.parametrize("page", ["01_gates", "02_dnf", "03_adders", "04_attention", "05_wcm"])
def test_the_puzzles_of_a_chapter_begin_where_their_stubs_fail(page, sites, visit):
    """Untouched, each says what turing.check says of the same numbers."""
    with visit(f"{sites['file']}/book/{page}.html") as seen:
        puzzles = seen.page.locator(".turing-live .turing-puzzle").all()
        judges = [judge for judge in exercises(page).values() if isinstance(judge, WeightPuzzle)]
        for puzzle, judge in zip(puzzles, judges, strict=True):
            puzzle.get_by_role("button", name="Check", exact=True).click()
            with pytest.raises(Wrong) as failure:
                judge(judge.grid())
            assert str(failure.value).split("\n")[0] in puzzle.inner_text()
        assert seen.errors == []
