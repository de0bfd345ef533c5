"""Every page of the built book in a real browser, from a server and from file://, with the network blocked."""

import gzip
import re
from contextlib import suppress
from functools import cache

import pytest
import torch
from bs4 import BeautifulSoup
from playwright.sync_api import TimeoutError

import book
import turing
from pages import axe
from turing.adders import LookaheadAdder, bits_of
from turing.exercises import CHAPTERS, Wrong, exercises
from turing.exercises.weights import WeightPuzzle
from turing.widgets import Puzzle

PAGES = book.pages()

# What the theme and the tools under it bring, and we do not repair: rule to the elements that it concerns.
THEMES_OWN = {
    # the visible "Ctrl + K", the icon's empty text and "Show the source" are not in the label
    "label-content-name-mismatch": ".search-button-field, .theme-switch-button, details.hide > summary",
    # Sphinx nests the back-links of a citation in the list itself
    "aria-required-children": ".citation-list",
}

MATHS_IS_DONE = "() => !window.MathJax || (window.MathJax.startup && window.MathJax.startup.promise)"
PARTS = """() => {
  const count = (selector) => document.querySelectorAll(selector).length;
  return {
    formulas: count("span.math, div.math"), typeset: count("mjx-container"), faults: count("mjx-merror, .math-error"),
    places: count(".turing-live"), widgets: count(".turing-live > .turing-widget"),
    images: [...document.querySelectorAll("img")].map((i) => [i.getAttribute("src"), i.getAttribute("alt")]),
  };
}"""
STARTED = "() => [...document.querySelectorAll('.turing-live')].every((place) => place.querySelector('.turing-widget'))"
OUTSIDE = """() => [document.documentElement.scrollWidth - document.documentElement.clientWidth,
  [...document.querySelectorAll(".turing-live > .turing-widget")]
    .filter((widget) => widget.scrollWidth > widget.clientWidth).map((widget) => widget.className)]"""
# Code has the same kinds of words thousands of times, and formulas have hundreds of parts. Of those with the same
# classes all the way up, three are enough for axe, which does not judge a single character, nor what is folded away.
THIN = """() => {
  const kind = (node) => (node ? `${node.className}>${kind(node.parentElement)}` : ""), kept = {};
  const parts = document.querySelectorAll(".highlight pre span, dt.sig span, mjx-container:not([display])");
  const again = [...parts].filter((part) => {
    const said = part.textContent.trim().length > 1 && part.checkVisibility();
    return !said || (kept[kind(part)] = (kept[kind(part)] ?? 0) + 1) > 3;
  });
  for (const part of again) part.replaceWith(...(part.matches("span") ? part.childNodes : [part.textContent]));
}"""
# The violations that matter.
SERIOUS = """(violations, own) => violations
  .filter(({ impact }) => ["serious", "critical"].includes(impact))
  .flatMap(({ id, nodes }) => nodes
    .filter(({ target }) => !(own[id] && document.querySelector(target[0])?.closest(own[id])))
    .map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${(failureSummary ?? "").slice(0, 300)}`))"""


@pytest.mark.parametrize("page", PAGES)
def test_every_entry_of_the_contents_has_its_page(page, book_html):
    assert (book_html / f"{page}.html").is_file()


def test_no_page_was_built_that_the_contents_do_not_name(book_html):
    built = {path.relative_to(book_html).with_suffix("").as_posix() for path in book_html.rglob("*.html")}
    built = {page for page in built if not page.startswith(("_static/", "_sources/"))}
    assert built - set(PAGES) <= {"index", "search", "404"}


def sound(seen):
    """The page asked no other host, reported no error, typeset its maths, started its widgets, named its images."""
    seen.page.evaluate(MATHS_IS_DONE)
    seen.page.wait_for_function(STARTED)
    assert seen.blocked == []
    assert seen.errors == []
    parts = seen.page.evaluate(PARTS)
    assert parts["typeset"] >= parts["formulas"]
    assert parts["faults"] == 0
    assert parts["widgets"] == parts["places"]
    for source, alt in parts["images"]:
        assert alt is not None, source
        assert " " in alt, f"{source} has no human alt text: {alt!r}"
        assert "_images" not in alt


def the_stepper_agrees_with_the_oracle(page):
    machine, stepper = turing.zoo["balanced_parentheses"], page.locator(".turing-live .turing-stepper").first
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
    page.keyboard.press("ArrowRight")
    assert shown() == expected(word, 2)
    page.keyboard.press("End")
    assert shown() == expected(word, 10_000)
    for mine in ("B(())E", "B)E"):
        stepper.get_by_role("textbox").fill(mine)
        stepper.get_by_role("textbox").press("Enter")
        assert shown() == expected(mine, 0)
        stepper.focus()
        for step in range(1, 5):
            page.keyboard.press("ArrowRight")
            assert shown() == expected(mine, step)


def the_lab_halts_as_the_oracle_does(page):
    lab, run = page.locator(".turing-live .turing-lab"), turing.zoo["balanced_parentheses"].run("B(())E")
    lab.get_by_role("button", name="To the end", exact=True).click()
    page.locator(".turing-lab[data-status=halted]").wait_for()
    seen = [lab.get_attribute(f"data-{name}") for name in ("step", "state", "ones", "mark")]
    assert seen == [str(run.steps), run.state, str(len(run.tape)), "good"]


def the_first_screen_halts_as_the_oracle_does_and_comes_before_the_text(page):
    root, run = page.locator(".turing-live .turing-lock-step"), turing.zoo["balanced_parentheses"].run("B(())E")
    root.focus()
    page.keyboard.press("End")
    seen = [root.get_attribute(f"data-{name}") for name in ("step", "state", "head", "mark", "status")]
    assert seen == [str(run.steps), run.state, str(run.head), "good", run.status]
    tall = """root => [...document.querySelectorAll("article p, article li")]
      .filter(part => part.compareDocumentPosition(root) & Node.DOCUMENT_POSITION_FOLLOWING)
      .map(part => part.clientHeight / parseFloat(getComputedStyle(part).lineHeight))"""
    if page.viewport_size["width"] > 1000:
        assert max(root.evaluate(tall)) <= 2.1


def the_gate_playground_solves_a_gate(page):
    playground = page.locator(".turing-live .turing-gate-playground")
    for gate in ("AND", "NAND"):
        playground.get_by_role("radio", name=gate, exact=True).check()
        playground.get_by_role("button", name="Show a solution").click()
        assert playground.get_by_role("status").text_content() == f"4 of 4 rows right: {gate}"


def the_adder_ends_with_the_sum_of_torch(page):
    adder = page.locator(".turing-live .turing-adder")
    adder.get_by_role("button", name="End").click()
    expected = LookaheadAdder(3)(torch.cat([bits_of(3, 3), torch.tensor([1.0, 0.0])]))
    for section in adder.locator("section").all():
        row = section.locator("tbody tr").first.locator("td").all_inner_texts()
        assert [text for text in row if text] == [*(f"{bit:.0f}" for bit in expected.flip(0).tolist()), "= 4"]


def the_puzzles_begin_where_their_stubs_fail(page, chapter):
    """Untouched, each says what turing.check says of the same numbers."""
    puzzles = page.locator(".turing-live .turing-puzzle").all()
    judges = [judge for judge in exercises(chapter).values() if isinstance(judge, WeightPuzzle)]
    for puzzle, judge in zip(puzzles, judges, strict=True):
        puzzle.get_by_role("button", name="Check", exact=True).click()
        with pytest.raises(Wrong) as failure:
            judge(judge.grid())
        assert str(failure.value).split("\n")[0] in puzzle.inner_text()


def the_squares_of_every_picture_of_weights_answer(page):
    for picture in page.locator("figure:not(.turing-fallback figure) > .turing-hinton").all():
        assert picture.get_attribute("role") == "application"
        picture.focus()
        page.keyboard.press("End")
        reading = picture.locator("xpath=../following-sibling::p[1]")
        assert reading.text_content().startswith("Row ")
        page.keyboard.press("Escape")
        assert reading.text_content().startswith("Point at a square")


def the_widgets_work(page, name):
    """Those on the page of that name, by the keys and buttons that a reader would use."""
    if name in ("book/why", "book/machines"):
        the_stepper_agrees_with_the_oracle(page)
    if name == "book/lab":
        the_lab_halts_as_the_oracle_does(page)
    if name == "book/index":
        the_first_screen_halts_as_the_oracle_does_and_comes_before_the_text(page)
    chapter = name.removeprefix("book/")
    if chapter == "gates":
        the_gate_playground_solves_a_gate(page)
    if chapter == "adders":
        the_adder_ends_with_the_sum_of_torch(page)
    if chapter in CHAPTERS:
        the_puzzles_begin_where_their_stubs_fail(page, chapter)
    the_squares_of_every_picture_of_weights_answer(page)


UNFOLD = """() => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  for (const fold of document.querySelectorAll(".toggle-hidden")) fold.classList.remove("toggle-hidden");
}"""
# What is cut off and does not fade out there, and what fades out and has no more. A field scrolls by itself.
HIDDEN = """() => [...document.querySelectorAll(
    ".bd-article-container :not(svg, svg *, input, textarea, pre *, mjx-container *)")]
  .filter((part) => part.scrollWidth > part.clientWidth && part.clientWidth > 20 && part.checkVisibility())
  .filter((part) => {
    const style = getComputedStyle(part), fades = (side) => parseFloat(style.getPropertyValue(`--fade-${side}`)) > 0;
    const told = style.overflowX === "auto" && style.maskImage !== "none" && (fades("left") || fades("right"));
    return style.overflowX !== "visible" && told !== part.scrollWidth > part.clientWidth + 2;
  })
  .map((part) => part.outerHTML.slice(0, 120))"""
# What a drawing cuts off at its own edge, where nothing scrolls. What is there for a finger alone is not seen.
CUT = """() => [...document.querySelectorAll("article :is(svg text, svg rect, svg circle)")].filter((part) => {
  const frame = part.closest("svg"), within = frame.closest("mjx-container, button, .landing-parts");
  if (within || part.matches(".touch") || !part.checkVisibility()) return false;
  const [inner, outer] = [part.getBoundingClientRect(), frame.getBoundingClientRect()];
  const room = part.matches("text") ? 0.2 * inner.height : 1; // above and below its letters a line is empty
  return getComputedStyle(frame).overflow !== "visible" && inner.width > 0 && (inner.left < outer.left - 2 ||
    inner.right > outer.right + 2 || inner.top < outer.top - room || inner.bottom > outer.bottom + room);
}).map((part) => part.outerHTML.slice(0, 160))"""
NARROW = """() => [...document.querySelectorAll(".bd-article .highlight pre")]
  .filter((code) => code.checkVisibility() && code.scrollWidth > code.clientWidth)
  .filter((code) => Math.max(...code.innerText.split("\\n").map((line) => line.length)) <= 120)
  .map((code) => code.innerText.slice(0, 120))"""
# A while after a change of its width, the theme lets the Tab key reach the code that goes on.
REACHED = """() => [...document.querySelectorAll("pre[tabindex]")]
  .every((code) => code.tabIndex === 0 || code.scrollWidth <= code.clientWidth || !code.checkVisibility())"""
# The formulas and the next characters, where a line begins with one that cannot begin a line.
TORN = """() => {
  const torn = [], walk = document.createTreeWalker(document.querySelector("article"), NodeFilter.SHOW_TEXT);
  for (let formula = null; walk.nextNode(); ) {
    const text = walk.currentNode, within = text.parentElement.closest("span.math");
    if (!within && formula && /^[,.;:!?)]/.test(text.data) && formula.checkVisibility()) {
      const first = new Range();
      first.setStart(text, 0);
      first.setEnd(text, 1);
      if (first.getBoundingClientRect().left < formula.getBoundingClientRect().right - 5)
        torn.push(formula.textContent + text.data.slice(0, 9));
    }
    formula = within;
  }
  return torn;
}"""


def settled(page, code):
    """What the code finds on a page that has come to rest: a widget may draw anew some frames after a new width."""
    if found := page.evaluate(code):
        with suppress(TimeoutError):
            page.wait_for_function(f"() => !({code})().length", timeout=20_000)
            return []
    return found


def fits(page):
    """Nothing is outside of phones, tablets and desktops; what is wider fades out where it goes on, no formula is torn
    from its comma, and a desktop has room for 120 characters of code."""
    page.evaluate(UNFOLD)
    for width in (1200, 1440, 768, 390, 360):  # the first is how it was opened, from the file system
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        sideways, stick_out = page.evaluate(OUTSIDE)
        assert sideways <= 0, f"the page scrolls sideways at {width} px"
        assert stick_out == [], f"something sticks out of a widget at {width} px"
        assert settled(page, HIDDEN) == [], f"cut off at {width} px"
        assert settled(page, CUT) == [], f"cut off in a drawing at {width} px"
        assert settled(page, TORN) == [], f"torn at {width} px"
        if width == 1440:
            assert page.evaluate(NARROW) == []
    page.wait_for_function(REACHED)


KNOWN = set()  # kinds of words that axe has judged on one page, and need not on the next: the style sheets are the same


@pytest.mark.parametrize("page", PAGES)
def test_a_page_works_from_the_file_system_fits_every_screen_and_axe_finds_nothing_serious(page, sites, visit):
    """With all its widgets, and with all folds open."""
    seen = visit(f"{sites['file']}/{page}.html")
    sound(seen)
    the_widgets_work(seen.page, page)
    fits(seen.page)
    assert seen.blocked == []
    assert seen.errors == []
    seen.page.evaluate(THIN)
    assert axe(seen.page, SERIOUS, THEMES_OWN, known=KNOWN) == []


FROM_A_SERVER = ["book/index", "book/lab"]


@pytest.mark.parametrize(
    "page",
    [*FROM_A_SERVER, *(pytest.param(page, marks=pytest.mark.slow) for page in PAGES if page not in FROM_A_SERVER)],
)
def test_a_page_that_comes_from_a_server_and_begins_dark_is_as_good(page, sites, visit):
    """Here axe sees all of it, also what is there a second time."""
    seen = visit(f"{sites['http']}/{page}.html", width=360, height=740, theme="dark")
    assert seen.page.evaluate("document.documentElement.dataset.theme") == "dark"
    sound(seen)
    the_widgets_work(seen.page, page)
    fits(seen.page)
    assert seen.blocked == []
    assert seen.errors == []
    assert axe(seen.page, SERIOUS, THEMES_OWN, each=10**6) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_end_of_a_line_of_code_fades_out_until_one_gets_there(theme, sites, visit):
    page = visit(f"{sites['file']}/book/machines.html", width=390, theme=theme).page
    code = page.locator(".cell_input pre").filter(visible=True)
    code = next(one for one in code.all() if one.evaluate("code => code.scrollWidth > code.clientWidth + 40"))
    ends = "(code, place) => (code.scrollLeft = place, new Promise((done) => requestAnimationFrame(done)))"
    fades = (
        "code => ['left', 'right'].map((side) => parseFloat(getComputedStyle(code).getPropertyValue(`--fade-${side}`)))"
    )
    (left, right), faded = code.evaluate(fades), code.screenshot()
    assert left == 0 < right
    code.evaluate("code => { code.style.mask = 'none'; }")
    assert code.screenshot() != faded
    code.evaluate(ends, 1e6)
    left, right = code.evaluate(fades)
    assert right == 0 < left


@pytest.mark.parametrize("name", ["folded_carry", "flags"])
@pytest.mark.parametrize("width", [1000, 720])
def test_no_puzzle_hides_a_column_on_a_desktop(name, width, open_page):
    page = open_page(Puzzle(name), width=width)
    assert (
        page.locator(".frame").evaluate_all("all => all.filter(box => box.scrollWidth > box.clientWidth).length") == 0
    )


PAINTED = """new MutationObserver((_, watch) => {
  if (!document.body) return;
  window.firstTheme = document.documentElement.dataset.theme;
  watch.disconnect();
}).observe(document, { childList: true, subtree: true })"""


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("before", ["null", "'light'", "'dark'"])
def test_a_page_begins_in_the_colours_of_the_readers_system(theme, before, sites, browser):
    """With no flash of another theme, whatever the system asked for at the last visit."""
    context, errors = browser.new_context(color_scheme=theme), []
    page = context.new_page()
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.add_init_script(f"if ({before}) Object.assign(localStorage, {{ mode: 'auto', theme: {before} }});\n{PAINTED}")
    page.goto(f"{sites['http']}/book/errata.html")
    assert page.evaluate("[window.firstTheme, document.documentElement.dataset.theme]") == [theme, theme]
    assert errors == []
    context.close()


COLOURS = """() => {
  const style = (part) => getComputedStyle(document.querySelector(part));
  const probe = document.body.appendChild(document.createElement("i"));
  const shown = (name) => (probe.style.color = `var(--${name})`, getComputedStyle(probe).color);
  return {
    ink: [shown("turing-ink"), shown("turing-ground")],
    "skip to main content": [style(".skip-link").backgroundColor, style(".skip-link a").color],
    "back to top": [style("#pst-back-to-top").backgroundColor, style("#pst-back-to-top").color],
    "ring around what has the focus": [shown("pst-color-accent"), style("body").backgroundColor],
  };
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_the_theme_adds_to_a_page_has_the_colours_of_the_book(theme, sites, visit):
    colours = visit(f"{sites['file']}/book/errata.html", theme=theme).page.evaluate(COLOURS)
    ink = colours.pop("ink")
    assert colours == dict.fromkeys(colours, ink)


def test_a_citation_says_what_its_entry_in_the_bibliography_is_called(book_html):
    pages = {page: (book_html / f"{page}.html").read_text(encoding="utf-8") for page in PAGES}
    entries = BeautifulSoup(pages["book/bibliography"], "html.parser").select(".citation")
    labels = {entry["id"]: entry.select_one(".label").get_text(strip=True).strip("[]") for entry in entries}
    assert {"SS95", "WCM21"} <= {*labels.values()}
    link = re.compile(r'href="bibliography\.html#(id\d+)"[^>]*>(?:<span>)?([^<]+)')
    cited = [found for text in pages.values() for found in link.findall(text)]
    assert len(cited) > 50
    assert [(said, labels[entry]) for entry, said in cited if said != labels[entry]] == []


@pytest.mark.parametrize("page", PAGES)
def test_no_page_names_another_host_to_fetch_from(page, book_html):
    assert book.foreign((book_html / f"{page}.html").read_text(encoding="utf-8")) == []


def test_the_watch_over_pages_sees_a_cdn_and_an_error(tmp_path, visit):
    (tmp_path / "x.html").write_text(
        '<!doctype html><script src="https://cdn.example.org/x.js"></script><script>nothing.there()</script>'
    )
    seen = visit((tmp_path / "x.html").as_uri())
    assert seen.blocked == ["https://cdn.example.org/x.js"]
    assert any("nothing is not defined" in error for error in seen.errors)


@cache
def compressed(path):
    return len(gzip.compress(path.read_bytes()))


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_light(page, book_html):
    """Under 300 KB compressed, fonts and MathJax aside, and what is there to be downloaded by a click."""
    file = book_html / f"{page}.html"
    local = re.findall(rb'(?:src|href)="([^":?#]+\.(?:js|css|svg|png))', file.read_bytes())
    files = {file, *((file.parent / name.decode()).resolve() for name in local)}
    fetched = [file for file in files if file.is_file() and not {"vendor", "_downloads"} & {*file.parts}]
    assert sum(compressed(file) for file in fetched) < 300_000


SHIFTS = """new PerformanceObserver((list) => (window.shifts ??= []).push(
  ...list.getEntries().map(({ value, sources }) => [value, ...sources.map(({ node }) =>
    (node?.parentElement?.closest("article") ? "article" : node?.parentElement?.className ?? ""))]))
).observe({ type: "layout-shift", buffered: true })"""


@pytest.mark.parametrize("width", [1800, 1440, 390])
def test_nothing_shifts_on_the_first_page(width, sites, browser):
    """When the fonts come, when the widget takes its place, and while it plays."""
    context = browser.new_context(viewport={"width": width, "height": 844})
    page = context.new_page()
    page.add_init_script(SHIFTS)
    page.goto(f"{sites['file']}/book/index.html")
    page.wait_for_function("document.querySelector('.turing-lock-step')?.dataset.beat === '3'")
    page.evaluate("document.fonts.ready")
    found = page.evaluate("window.shifts ?? []")
    assert [shift for shift in found if "article" in shift] == []
    assert sum(value for value, *_ in found) < 0.01, found  # the theme's own buttons at the top
    context.close()


@pytest.mark.parametrize("width", [1440, 390])
def test_the_controls_of_the_inspector_stay_in_sight_below_the_bar_of_the_page(width, sites, visit):
    page = visit(f"{sites['file']}/book/wcm21.html", width=width, height=844).page
    inspector = page.locator(".turing-live .turing-pipeline-inspector")
    inspector.locator(".readout").evaluate("node => node.scrollIntoView({block: 'end'})")
    bar, buttons = page.locator(".bd-header-article").bounding_box(), inspector.locator(".buttons").bounding_box()
    assert inspector.bounding_box()["y"] < 0
    assert 0 <= buttons["y"] - (bar["y"] + bar["height"]) < 20
    inspector.get_by_role("button", name="Step", exact=True).click()
    assert inspector.get_attribute("data-step") == "5"


def test_the_front_door_leads_to_the_landing_page(sites, visit):
    seen = visit(f"{sites['file']}/index.html")
    seen.page.wait_for_url("**/book/index.html")
    assert seen.errors == []
