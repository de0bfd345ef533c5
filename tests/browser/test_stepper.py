"""The widgets in a real browser, with no kernel and no network, held against the interpreter."""

import json
from functools import cache

import pytest

from pages import MODEL, page_of
from paper import BALANCED as PAPER
from turing import TuringMachine
from turing.widgets import Predict, Stepper

BB4 = TuringMachine(
    [
        ("A", "0", "B", "1", 1), ("A", "1", "B", "1", -1), ("B", "0", "A", "1", -1), ("B", "1", "C", "0", -1),
        ("C", "0", "Z", "1", 1), ("C", "1", "D", "1", -1), ("D", "0", "D", "1", 1), ("D", "1", "A", "0", 1),
    ],
    "A", {"Z"}, "0",
)  # fmt: skip
STAYS = TuringMachine(
    [("a", "0", "b", "1", 0), ("b", "1", "a", "1", 1), ("a", "1", "b", "1", 0), ("a", "_", "end", "_", 0)],
    "a", {"end"}, "_",
)  # fmt: skip
LEFT = TuringMachine([("w", "x", "w", "y", -1), ("w", "_", "v", "x", -1), ("v", "_", "u", "x", -1)], "w", {"u"}, "_")
LONG = TuringMachine(
    [("go", "one", "go", "zero", 1), ("go", "zero", "back", "one", -1), ("back", "zero", "end", "one", 0)],
    "go", {"end"}, "zero",
)  # fmt: skip
FOREVER = TuringMachine([("on", "_", "on", "1", 1)], "on", {"off"}, "_")
HOSTILE = "</script><b>bold</b>"
NAMED = TuringMachine([(HOSTILE, "_", "<!--", "<i>", 1), ("<!--", "_", HOSTILE, "&amp;", 1)], HOSTILE, set(), "_")

stepper = cache(Stepper)  # drawing the diagram takes longer than opening the page

SHOWN = """root => {
  const cells = [...root.querySelectorAll(".cell")], on = root.querySelector("tr.on");
  return {
    step: Number(root.dataset.step), state: root.dataset.state, head: Number(root.dataset.head),
    status: root.dataset.status, says: root.querySelector(".status b").textContent,
    cells: cells.map(cell => [Number(cell.dataset.cell), cell.dataset.symbol]),
    text: cells.map(cell => cell.firstChild.textContent),
    heads: cells.filter(cell => cell.classList.contains("head")).map(cell => Number(cell.dataset.cell)),
    label: getComputedStyle(root.querySelector(".cell.head"), "::before").content,
    rule: on && [...on.children].map(cell => cell.textContent),
    edges: [...root.querySelectorAll(".edge.on")].map(edge => edge.dataset.rules.split(" ").map(Number)),
    nodes: [...root.querySelectorAll(".node.on")].map(node => Number(node.dataset.state)),
  };
}"""


def seen(page):
    """What the first stepper shows, after a check that its parts say the same."""
    return consistent(page.locator(".turing-stepper").evaluate(SHOWN))


def consistent(shown):
    cells = dict(shown["cells"])
    assert shown["text"] == list(cells.values())
    assert list(cells) == list(range(min(cells), max(cells) + 1))
    assert shown["heads"] == [shown["head"]]
    assert json.loads(shown["label"]) == shown["state"]
    return shown | {"cells": cells}


def walk(page, name, times):
    """What is shown before and after each of so many clicks on a button."""
    clicks = f"""([name, times]) => {{
      const root = document.querySelector(".turing-stepper"), shown = {SHOWN};
      const button = [...root.querySelectorAll("button")].find(button => button.textContent === name);
      return [shown(root), ...Array.from({{length: times}}, () => (button.click(), shown(root)))];
    }}"""
    return [consistent(shown) for shown in page.evaluate(clicks, [name, times])]


def agrees(shown, machine, now):
    """State, head, the whole tape, the rule and the diagram are those of a configuration."""
    tape = {cell: symbol for cell, symbol in shown["cells"].items() if symbol != machine.blank}
    assert (shown["step"], shown["state"], shown["head"], tape) == (now.step, now.state, now.head, now.tape)
    assert shown["nodes"] == [machine.states.index(now.state)]
    rule = machine.delta.get((now.state, now.symbol))
    if rule is None:
        assert (shown["rule"], shown["edges"]) == (None, [])
    else:
        state, written, move = rule
        assert shown["rule"] == [now.state, now.symbol, state, written, {-1: "−1", 0: "0", 1: "+1"}[move]]
        index = list(machine.delta).index((now.state, now.symbol))
        assert len(shown["edges"]) == 1
        assert index in shown["edges"][0]


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()


RUNS = [
    (PAPER, "B()E"), (PAPER, "B)(E"), (PAPER, "B(()())E"), (PAPER, "B(()E"), (PAPER, ""), (PAPER, "B(B"),
    (STAYS, "0010"), (LEFT, "xxx"), (LONG, ("one", "one")), (BB4, ""),
]  # fmt: skip


@pytest.mark.parametrize(("machine", "word"), RUNS)
def test_every_step_shows_the_configuration_of_the_interpreter(machine, word, open_page):
    page = open_page(stepper(machine, word))
    run, trace = machine.run(word), list(machine.trace(word))
    there, back = walk(page, "Step", run.steps), walk(page, "Back", run.steps)
    for shown, now in zip(there + back, trace + trace[::-1], strict=True):
        agrees(shown, machine, now)
        assert shown["status"] == ("running" if now.step < run.steps else run.status)


def test_typed_words_are_run_over_http_as_well(open_page, address):
    page = open_page(stepper(PAPER, "B()E"), address=address)
    for word in ["B()((()(()))())E", "B())E", "BE", "B", ""]:
        page.get_by_label("Word").fill(word)
        trace = list(PAPER.trace(word))
        for shown, now in zip(walk(page, "Step", len(trace) - 1), trace, strict=True):
            agrees(shown, PAPER, now)


def test_a_word_of_long_symbols_is_typed_with_spaces(open_page):
    page = open_page(stepper(LONG))
    page.get_by_label("Word").fill(" one  one one ")
    press(page, "To the end")
    agrees(seen(page), LONG, list(LONG.trace(["one"] * 3))[-1])


@pytest.mark.parametrize(
    ("machine", "word", "says"),
    [
        (PAPER, "B()E", "halted in T after 9 steps: balanced"),
        (PAPER, "B)(E", "halted in F after 3 steps: not balanced"),
        (PAPER, "B(B", "jammed: no rule for (R, B)"),
        (FOREVER, "", "not halted after 2,000 steps, the most that were allowed"),
        (BB4, "", "halted in Z after 107 steps"),
    ],
)
def test_the_status_says_how_the_run_ended(machine, word, says, open_page):
    page = open_page(stepper(machine, word))
    assert seen(page)["says"] == "running"
    press(page, "To the end")
    agrees(seen(page), machine, list(machine.trace(word, 2000))[-1])
    assert seen(page)["says"] == says
    assert says in page.locator(".says").text_content()


def test_a_reader_without_a_kernel_can_allow_more_steps(open_page):
    page = open_page(stepper(FOREVER, ""))
    press(page, "To the end")
    for steps in (20_000, 200_000):
        at = seen(page)["step"]
        press(page, f"Allow {steps:,} steps")
        assert (seen(page)["step"], seen(page)["status"]) == (at, "running")
        press(page, "To the end")
        assert (seen(page)["step"], seen(page)["status"]) == (steps, "limit")
    assert not page.get_by_role("button", name="Allow").is_visible()


def test_a_word_without_its_ends_is_offered_them(open_page):
    page = open_page(stepper(PAPER, "B()E"))
    field, offer = page.get_by_label("Word"), page.get_by_role("button", name="Add the ends")
    for word in ("B()E", "B()", "(B)", "B(B"):
        field.fill(word)
        assert not offer.is_visible(), word
    for word, whole in [("", "BE"), ("(())", "B(())E"), ("())E", "B())E")]:
        field.fill(word)
        assert seen(page)["status"] == "jammed"
        press(page, f"Add the ends: {whole}")
        assert (field.input_value(), offer.is_visible()) == (whole, False)
        assert page.evaluate("document.activeElement.value") == whole
        press(page, "To the end")
        agrees(seen(page), PAPER, list(PAPER.trace(whole))[-1])


def test_a_machine_that_the_zoo_does_not_know_is_offered_nothing(open_page):
    page = open_page(stepper(BB4, ""))
    assert not page.get_by_role("button", name="Add the ends").is_visible()


def test_a_symbol_outside_the_alphabet_is_named_and_the_last_good_run_stays(open_page):
    page = open_page(stepper(PAPER, "B()E"))
    press(page, "Step")
    before, field = seen(page), page.get_by_label("Word")
    field.fill("B(x)E")
    message = page.locator(".hint").text_content()
    assert message == (
        "Symbol 'x' (cell 2 of the word) is not in this machine's alphabet: ( ) * B E. The last good run stays."
    )
    assert field.get_attribute("aria-invalid") == "true"
    assert seen(page) == before
    press(page, "Step")
    agrees(seen(page), PAPER, list(PAPER.trace("B()E"))[2])
    field.fill("B(())E")
    assert page.locator(".hint").text_content() == "Symbols: E B ( ) *"
    agrees(seen(page), PAPER, next(PAPER.trace("B(())E")))


def test_keys_step_jump_and_play_from_anywhere_but_the_text_field(open_page):
    page = open_page(stepper(PAPER, "B()E"))
    trace = list(PAPER.trace("B()E"))
    page.locator(".turing-stepper").focus()
    for key, step in [
        ("ArrowRight", 1),
        ("ArrowRight", 2),
        ("ArrowLeft", 1),
        ("End", 9),
        ("Home", 0),
        ("ArrowLeft", 0),
    ]:
        page.keyboard.press(key)
        agrees(seen(page), PAPER, trace[step])
    page.get_by_role("button", name="Back").focus()
    page.keyboard.press("ArrowRight")
    agrees(seen(page), PAPER, trace[1])
    page.get_by_label("Word").focus()
    for key in ("Home", "ArrowRight", "End", "ArrowLeft"):
        page.keyboard.press(key)
    agrees(seen(page), PAPER, trace[1])
    page.get_by_role("slider").focus()
    page.keyboard.press("ArrowRight")
    agrees(seen(page), PAPER, trace[2])
    page.locator(".turing-stepper").focus()
    page.keyboard.press("Alt+ArrowRight")
    page.keyboard.press("Control+ArrowRight")
    agrees(seen(page), PAPER, trace[2])
    page.keyboard.press("Space")
    page.wait_for_selector(".turing-stepper[data-status=halted]")
    agrees(seen(page), PAPER, trace[9])


def test_the_slider_goes_to_any_step_of_the_run_and_back(open_page):
    page = open_page(stepper(BB4))
    trace, slider = list(BB4.trace()), page.get_by_role("slider")
    assert slider.get_attribute("max") == "107"
    for step in (60, 3, 107, 0, 106):
        slider.fill(str(step))
        agrees(seen(page), BB4, trace[step])


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_play_runs_to_the_end_pauses_and_starts_over_and_nothing_is_animated(motion, open_page):
    page, trace = open_page(stepper(BB4), reduced_motion=motion, stopped=True), list(BB4.trace())
    page.get_by_label("Speed").select_option("60/s")
    press(page, "Play")
    page.clock.run_for(1005)
    agrees(seen(page), BB4, trace[60])
    press(page, "Pause")
    page.clock.run_for(1000)
    agrees(seen(page), BB4, trace[60])
    press(page, "Play")
    page.clock.run_for(1000)
    agrees(seen(page), BB4, trace[-1])
    assert page.get_by_role("button", name="Play").is_visible()
    press(page, "Play")
    agrees(seen(page), BB4, trace[0])
    page.clock.run_for(105)
    agrees(seen(page), BB4, trace[6])
    moving = """[...document.querySelectorAll('.turing-widget, .turing-widget *')].map(e => getComputedStyle(e))
        .filter(s => s.transitionDuration !== '0s' || s.animationName !== 'none').length"""
    assert page.evaluate(moving) == 0


# What moves right after something was done: the classes of the elements, and how long.
MOVED = """name => {
  const root = document.querySelector(".turing-stepper");
  [...root.querySelectorAll("button")].find(({ textContent }) => textContent === name).click();
  return document.getAnimations().map(({ effect: { target, pseudoElement } }) =>
    [pseudoElement ?? target.tagName.toLowerCase(), {...target.closest("[data-cell], [data-rules]").dataset}]);
}"""


def test_a_step_slides_the_head_flips_the_written_cell_and_pulses_the_edge_that_was_taken(open_page):
    page = open_page(stepper(PAPER, "B()E"))
    for step in range(3):
        moved = page.evaluate(MOVED, "Step")
        now, later = list(PAPER.trace("B()E"))[step : step + 2]
        cells = {int(data["cell"]) for _, data in moved if "cell" in data}
        assert cells == {now.head, later.head}
        rule = list(PAPER.delta).index((now.state, now.symbol))
        assert [str(rule) in data["rules"].split() for kind, data in moved if kind == "path"] == [True]
        assert [kind for kind, _ in moved].count("::before") == 1
        flips = [kind for kind, _ in moved].count("b") - 2  # ink leaves one cell and enters another
        assert flips == (now.symbol != later.cells[now.head])
        page.evaluate("document.getAnimations().forEach(animation => animation.finish())")
    assert page.evaluate(MOVED, "Start") == page.evaluate(MOVED, "To the end") == []


@pytest.mark.parametrize(("motion", "rate"), [("reduce", "2/s"), ("no-preference", "30/s")])
def test_nothing_moves_above_ten_steps_a_second_nor_for_a_reader_who_asked_for_that(motion, rate, open_page):
    page = open_page(stepper(BB4), reduced_motion=motion, stopped=True)
    page.get_by_label("Speed").select_option(rate)
    press(page, "Play")
    for _ in range(3):
        page.clock.run_for(510)
        assert page.evaluate("document.getAnimations().length") == 0


def test_play_is_the_main_button(open_page):
    page = open_page(stepper(PAPER, "B()E"))
    assert page.locator(".buttons .main").all_inner_texts() == ["Play"]


def test_a_reader_who_listens_hears_single_steps_and_the_end_but_not_the_running(open_page):
    page = open_page(stepper(PAPER, "B()E"))
    press(page, "Step")
    assert page.locator(".says").text_content() == "Step 1: state R, head on cell 1, reading (; running"
    heard = """() => { window.heard = []; const says = document.querySelector('.says');
        new MutationObserver(() => window.heard.push(says.textContent)).observe(says, {childList: true}) }"""
    page.evaluate(heard)
    press(page, "Play")
    page.wait_for_selector(".turing-stepper[data-status=halted]")
    assert page.evaluate("window.heard") == [
        "Step 9: state T, head on cell 1, reading *; halted in T after 9 steps: balanced"
    ]


HEADS = """([ink, rows]) => {
  const canvas = document.querySelector(".history canvas"), tall = canvas.height / rows;
  const pen = canvas.getContext("2d");
  return Array.from({length: rows}, (_, row) => {
    const line = pen.getImageData(0, Math.floor((row + 0.5) * tall), canvas.width, 1).data;
    const dark = [...Array(canvas.width).keys()].filter(x => ink.every((v, k) => line[4 * x + k] === v));
    return dark.length ? (dark[0] - 40) / dark.length : null;
  });
}"""


def test_the_space_time_picture_grows_with_the_run_and_follows_the_theme(open_page):
    page = open_page(stepper(BB4))
    trace = list(BB4.trace())
    low = min(now.head for now in trace)
    for step, theme, ink in [
        (0, "light", "1B1F27"),
        (50, "light", "1B1F27"),
        (50, "dark", "F2F0EA"),
        (107, "dark", "F2F0EA"),
    ]:
        page.get_by_role("slider").fill(str(step))
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        columns = page.evaluate(HEADS, [list(bytes.fromhex(ink)), len(trace)])
        assert columns == [now.head - low for now in trace[: step + 1]] + [None] * (107 - step)


@pytest.mark.parametrize("machine", [PAPER, BB4, LONG, NAMED, FOREVER])
def test_a_phone_sees_tape_controls_and_status_at_once_and_never_scrolls_sideways(machine, open_page):
    page = open_page(
        stepper(machine), Predict("W" * 90, ["`" + "x" * 80 + "`", "no"], 1, "y" * 90), width=360, height=640
    )
    press(page, "To the end")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    root = page.locator(".turing-stepper").bounding_box()
    for part in (".tape", ".status", ".buttons", ".scrub"):
        box = page.locator(f".turing-stepper {part}").bounding_box()
        assert box["y"] + box["height"] - root["y"] < 400
        assert box["x"] + box["width"] <= 360
    head, frame = page.locator(".cell.head").bounding_box(), page.locator(".tape").bounding_box()
    assert frame["x"] <= head["x"]
    assert head["x"] + head["width"] <= frame["x"] + frame["width"]


def test_wide_pages_put_the_picture_beside_the_rules(open_page):
    page = open_page(stepper(PAPER, "B()E"))
    for width, beside in ((1000, True), (700, True), (500, False)):
        page.set_viewport_size({"width": width, "height": 900})
        rules, history = page.locator(".rules").bounding_box(), page.locator(".history").bounding_box()
        assert (history["x"] > rules["x"] + rules["width"]) == beside
        assert (history["y"] > rules["y"] + rules["height"]) != beside


def test_hostile_names_are_shown_as_text(open_page):
    page = open_page(stepper(NAMED), Predict(HOSTILE, [HOSTILE, "`<i>`"], 0, HOSTILE))
    for shown, now in zip(walk(page, "Step", 9), NAMED.trace("", 9), strict=True):
        agrees(shown, NAMED, now)
    assert page.locator(".status .q").text_content() == "<!--"
    assert page.locator("b:text-is('bold')").count() == 0
    assert page.locator(".turing-predict legend").text_content() == HOSTILE
    assert page.locator(".turing-predict label code").text_content() == "<i>"


def test_a_module_that_throws_leaves_the_fallback_and_reports_to_the_console(open_page):
    class Broken(Stepper):
        _esm = "export default { render({ el }) { el.append('half'); throw new Error('broken on purpose'); } }"

    page = open_page(stepper(PAPER, "B()E"))
    with page.expect_console_message(lambda message: message.type == "error") as message:
        page.set_content(page_of(Broken(PAPER, "B()E")))
    assert "broken on purpose" in message.value.text
    assert page.locator(".turing-fallback pre").is_visible()
    assert page.locator(".turing-live").text_content() == ""
    assert len(open_page.trouble) == 1
    open_page.trouble.clear()


SAVED = "[model.saved.at(-1).word, model.saved.at(-1).step]"


def test_a_kernel_moves_the_widget_and_hears_of_the_reader(open_page):
    page = open_page()
    stepper = Stepper(PAPER, "B()E")
    names = ["machine", "entry", "diagram", "max_steps", "word", "step"]
    page.add_style_tag(content=stepper._css)
    page.evaluate(MODEL, [stepper._esm, stepper.get_state(names)])
    page.evaluate("model.set('step', 4)")
    agrees(seen(page), PAPER, list(PAPER.trace("B()E"))[4])
    page.evaluate("model.set('step', 99)")
    agrees(seen(page), PAPER, list(PAPER.trace("B()E"))[9])
    assert page.evaluate(SAVED) == ["B()E", 9]
    page.evaluate("model.set('step', 0), model.set('word', 'B(E')")
    agrees(seen(page), PAPER, next(PAPER.trace("B(E")))
    assert page.get_by_label("Word").input_value() == "B(E"
    page.get_by_label("Word").fill("B)E")
    press(page, "Step")
    assert page.evaluate(SAVED) == ["B)E", 1]
    press(page, "Play")
    page.evaluate("cleanup()")
    assert page.get_by_role("button", name="Play").is_visible()


def test_the_modules_own_run_ends_as_the_interpreters_does(open_page):
    page = open_page()
    names = ["machine", "entry", "diagram", "max_steps", "word", "step"]
    page.evaluate(MODEL, [Stepper._esm, Stepper(PAPER).get_state(names)])
    runs = [(machine, word, limit) for machine, word in [*RUNS, (FOREVER, "")] for limit in (0, 1, 2, 9, 150)]
    machines = {machine for machine, _, _ in runs}
    states = {machine: Stepper(machine).get_state("machine")["machine"] for machine in machines}
    ended = """runs => JSON.stringify(runs.map(run => window.module.run(...run)).map(
        ({status, steps, trace}) => [status, steps, trace.map(({state, head, read}) => [state, head, read])]))"""
    given = [[states[machine], list(word), limit] for machine, word, limit in runs]
    for (machine, word, limit), got in zip(runs, json.loads(page.evaluate(ended, given)), strict=True):
        run = machine.run(word, limit)
        assert got == [run.status, run.steps, [[now.state, now.head, now.symbol] for now in run.trace]]


@pytest.mark.parametrize(("choice", "verdict"), [("B**E", "Yes."), ("B()E", "No.")])
def test_a_prediction_is_judged_after_the_reader_commits_and_not_before(choice, verdict, open_page):
    page = open_page(Predict("What is left of `B()E`?", ["`B**E`", "`B()E`"], 0, "Pairs become `*`."))
    widget, commit = page.locator(".turing-predict"), page.get_by_role("button", name="Commit")
    assert commit.is_disabled()
    page.get_by_label(choice).focus()
    page.keyboard.press("Space")
    assert "Pairs" not in page.locator("main").inner_text()
    assert widget.locator(".right").count() == 0
    commit.click()
    assert widget.locator(".result").text_content() == f"{verdict} Pairs become *."
    assert widget.locator(".right").text_content().startswith("B**E")
    assert widget.locator("input:not(:disabled)").count() == 0
    assert widget.locator("input:checked").count() == 1
    assert not commit.is_visible()
    assert page.evaluate("document.activeElement.className") == "result"
