"""What every widget promises a reader, whichever it is: by keyboard, on a phone, in the dark, without scripts."""

import pytest
from every_widget import every_form

import turing.widgets
from pages import axe

every_widget = pytest.mark.parametrize("name", turing.widgets.__all__)
WIDGET = ".turing-widget:not(.turing-fallback)"


def press(root, *names):
    for name in names:
        root.get_by_role("button", name=name, exact=True).first.click()


def explore(root):
    press(root, "The tie that breaks it")
    root.get_by_role("spinbutton").first.fill("0")


def gate(root):
    root.get_by_role("radio", name="XOR").check()
    root.get_by_role("spinbutton", name="bias").fill("9")


def lab(root):
    press(root, "To the end")
    root.page.locator(".turing-lab[data-status=halted]").first.wait_for()
    for panel in root.locator("[data-panel]").all():
        panel.locator("summary").first.click()
        panel.locator(".panel > :not([hidden])").first.wait_for()
    for part in (".vector .place", ".heads td"):
        root.locator(part).first.wait_for()
    press(root, "Run them all")
    root.get_by_label("Rule for state I, reading B").fill("BRM")
    root.page.keyboard.press("Tab")
    root.locator(".changes td").first.wait_for()
    root.get_by_text("Pass 1, which is next").wait_for()


def lock_step(root):
    press(root, "Step")
    root.locator("[role=gridcell]").nth(13).click()
    root.get_by_label("Your word").fill("x")


def predict(root):
    root.get_by_role("radio").last.check()
    press(root, "Commit")


def puzzle(root):
    press(root, "Check")
    root.locator(".grid input").first.fill("x")
    press(root, "Copy as Python")
    root.locator(".python").wait_for()


def stacks(root):
    press(root, "Step")
    root.get_by_label("Word").fill("(" * 13)
    press(root, "End", "1 layer, base 40")
    root.get_by_label("Word").fill("x")


def step(root):
    press(root, "Step")
    root.get_by_label("Word").fill("x")


# What a reader may do to have most of a widget shown, with a message about a mistake where it has one.
USE = {
    "Adder": lambda root: press(root, "Step", "Step", "End"),
    "AttentionExplorer": explore,
    "AverageCompass": lambda root: press(root, "End", "float64", "Start"),
    "CantorZoom": lambda root: press(root, "One too many"),
    "CircuitTape": lambda root: press(root, "End", "0.5"),
    "GatePlayground": gate,
    "Lab": lab,
    "LockStep": lock_step,
    "NormCircle": lambda root: press(root, "End", "float64"),
    "PipelineInspector": lambda root: press(root, "Step"),
    "Predict": predict,
    "DisguisePanel": lambda root: press(root, "Another disguise"),
    "NoiseDial": lambda root: root.get_by_role("slider").first.fill("-5"),
    "ProofDial": lambda root: press(root, "write"),
    "Puzzle": puzzle,
    "QueueWheel": lambda root: press(root, "Step", "Step", "Step", "End"),
    "SameStep": lambda root: press(root, "Step", "Step", "balanced parentheses", "End"),
    "StackStepper": stacks,
    "Stepper": step,
    "WeightReader": step,
}


def used(page, name):
    """The first widget of a page, after its use."""
    root = page.locator(WIDGET).first
    USE[name](root)
    return root


@every_widget
def test_axe_finds_nothing_in_one_that_was_used_and_in_others_in_light_and_dark(name, open_page):
    page = open_page(*every_form(name)[:1], *every_form(name), width=360, reduced_motion="reduce")
    used(page, name)
    assert axe(page) == []


# Elements that leave the page, unless a frame of their own pans or hides them, and controls that hold no finger or
# not all of their words. What is there for a reader who listens is a pixel wide.
FIT = """width => {
  const shown = (e) => e.checkVisibility({visibilityProperty: true});
  const all = [...document.querySelectorAll(".turing-widget *")].filter(shown);
  const framed = (e) => e.closest(".turing-widget") !== e &&
    (getComputedStyle(e.parentNode).overflowX !== "visible" || framed(e.parentNode));
  const outside = all.filter(e => {
    const {left, right, width: own} = e.getBoundingClientRect();
    return own > 1 && (left < 0 || right > width) && !framed(e);
  });
  const named = (e) => e.outerHTML.slice(0, 99);
  const controls = all.filter(e => e.matches("button, input, select, textarea, summary, .touch"));
  const touched = controls.map(e => e.matches("[type=radio], [type=checkbox]") ? e.closest("label") ?? e : e);
  const small = touched.filter(e => {
    const {width, height} = e.getBoundingClientRect();
    return Math.min(width, height) < 44;
  });
  const written = (e) => [...e.childNodes].some(node => node.nodeType === 3 && node.data.trim());
  const cut = all.filter(e => e.clientWidth > 1 && e.scrollWidth > e.clientWidth + 1 && written(e) && !framed(e) &&
    getComputedStyle(e).overflowX === "visible");
  return {wide: document.documentElement.scrollWidth, outside: outside.map(named), small: small.map(named),
          cut: cut.map(named), controls: controls.length};
}"""


@every_widget
def test_from_a_phone_to_a_desktop_nothing_is_cut_off_and_every_control_holds_a_finger(name, open_page):
    page = open_page(*every_form(name), width=360)
    page.add_style_tag(content="html { font-size: 17px }")  # the book's
    seen = set()
    for use in (False, True):
        if use:
            used(page, name)
        for width in (360, 700, 1000):
            page.set_viewport_size({"width": width, "height": 740})
            page.evaluate("document.getAnimations().forEach(animation => animation.finish())")
            found = page.evaluate(FIT, width)
            seen.add(found.pop("controls"))
            assert found == {"wide": width, "outside": [], "small": [], "cut": []}
    assert min(seen) >= 3
    page.set_viewport_size({"width": 360, "height": 740})
    page.add_style_tag(content="html { font-size: 34px }")  # a reader who wants text twice as large
    assert page.evaluate("document.documentElement.scrollWidth") == 360


# Every control that can be reached, by its place among all elements; of radios with one name, the chosen one or the
# first.
CONTROLS = """() => [...document.querySelectorAll("*")].flatMap((e, n, all) => {
  if (!e.closest(".turing-widget") || e.tabIndex < 0 || e.disabled) return [];
  if (!e.checkVisibility({visibilityProperty: true})) return [];
  const group = e.type === "radio" ? all.filter(({type, name}) => type === "radio" && name === e.name) : [e];
  return (group.find(({checked}) => checked) ?? group[0]) === e ? [n] : [];
})"""
FOCUSED = """() => {
  const e = document.activeElement, root = e.closest(".turing-widget");
  if (!root) return null;
  const seen = [e, e.closest("label"), e.parentNode].some(part => {
    const {outlineStyle, outlineWidth} = part ? getComputedStyle(part) : {};
    return part && outlineStyle !== "none" && outlineWidth !== "0px";
  });
  return [[...document.querySelectorAll("*")].indexOf(e), seen, e.outerHTML.slice(0, 99)];
}"""


@every_widget
def test_the_tab_key_reaches_every_control_and_the_focus_is_seen(name, open_page):
    page = open_page(every_form(name)[0], reduced_motion="reduce")
    for use in (False, True):
        if use:
            used(page, name)
        page.evaluate("Object.assign(document.querySelector('h1'), {tabIndex: -1}).focus()")
        controls, reached = page.evaluate(CONTROLS), []
        for _ in range(len(controls)):
            page.keyboard.press("Tab")
            reached.append(page.evaluate(FOCUSED))
        assert all(reached), "the focus left the widget before its last control"
        assert [place for place, _, _ in reached] == controls
        assert [text for _, seen, text in reached if not seen] == []


MOVING = """() => [...document.querySelectorAll(".turing-widget, .turing-widget *")].filter(e => {
  const {transitionDuration, animationName} = getComputedStyle(e);
  return transitionDuration !== "0s" || animationName !== "none";
}).length + document.getAnimations().length"""
# No worker is still asked for a proof, and nothing waits to be computed: the answer would change what is compared.
SETTLED = """[...document.querySelectorAll('[data-proof]')].every(e => !['', 'asked'].includes(e.dataset.proof))
  && !document.querySelector("[data-state=busy]")"""
INK = {"light": "rgb(27, 31, 39)", "dark": "rgb(242, 240, 234)"}


@every_widget
def test_of_two_from_a_server_one_is_used_nothing_moves_for_who_asked_for_that_and_ink_follows_the_theme(
    name, open_page, address
):
    page = open_page(*every_form(name)[:1] * 2, address=address, reduced_motion="reduce")
    other = page.locator(WIDGET).nth(1)
    page.wait_for_function(SETTLED)
    before = other.evaluate("root => root.outerHTML")
    root = used(page, name)
    assert root.evaluate("root => root.outerHTML") != before
    assert other.evaluate("root => root.outerHTML") == before
    assert page.evaluate(MOVING) == 0
    for theme, ink in INK.items():
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        assert root.evaluate("root => getComputedStyle(root).color") == ink


@every_widget
def test_without_scripts_and_in_print_the_fallback_is_there_and_otherwise_not(name, open_page):
    widget = every_form(name)[0]
    page = open_page(widget, java_script_enabled=False)
    fallback = page.locator(".turing-fallback")
    text = fallback.inner_text()
    assert len(text) > 20
    assert page.locator(WIDGET).count() == 0
    page = open_page(widget)
    assert not page.locator(".turing-fallback").is_visible()
    assert page.locator(WIDGET).is_visible()
    page.emulate_media(media="print")
    assert page.locator(".turing-fallback").inner_text() == text
    assert not page.locator(WIDGET).is_visible()


# For each rule of a theme that names a class: the rule and a node of a widget that it meets by that class.
MET = """() => {
  const met = [], inside = (node) => node.parentElement?.closest(".turing-live");
  const rulesOf = (rules) => [...rules].flatMap((rule) => [rule, ...rulesOf(rule.cssRules ?? [])]);
  for (const { ownerNode, cssRules } of document.styleSheets)
    for (const { selectorText = "" } of ownerNode.id === "theme" ? rulesOf(cssRules) : [])
      for (const selector of selectorText.split(/,(?![^(]*[)])/).filter((one) => /[.][^\\s>+~]*$/.test(one)))
        for (const node of [...document.querySelectorAll(selector)].filter(inside))
          met.push(`${selector.trim()} meets ${node.outerHTML.slice(0, 80)}`);
  return [...new Set(met)];
}"""


def test_no_class_of_a_widget_is_one_that_the_theme_styles(open_page, book_html):
    page = open_page(*(every_form(name)[0] for name in turing.widgets.__all__))
    sheets = [path for path in book_html.glob("_static/**/*.css") if path.name not in ("book.css", "fonts.css")]
    assert {"pydata-sphinx-theme.css", "sphinx-book-theme.css"} <= {path.name for path in sheets}
    theme = "\n".join(path.read_text(encoding="utf-8") for path in sheets)
    put = """theme => {
      document.querySelector("main").className = "bd-content bd-article-container";
      document.head.append(Object.assign(document.createElement("style"), {id: "theme", textContent: theme}));
      document.querySelectorAll(".turing-lab details").forEach(panel => { panel.open = true });
    }"""
    page.evaluate(put, theme.replace("@import", "@no"))
    page.wait_for_selector(".vector p")
    assert page.evaluate("document.querySelector('#theme').sheet.cssRules.length") > 1000
    assert page.evaluate(MET) == []
