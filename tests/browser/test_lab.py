"""The lab in a real browser, with no kernel and no network: the network in the page against the library."""

import re
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from urllib.parse import quote

import pytest
import torch

import turing
from pages import MODEL
from turing import TuringMachine
from turing.widgets import Lab

BB4 = "1RB1LB_1LA0LC_1RZ1LD_1RD0RA"
PAPER = turing.zoo["balanced_parentheses"]
LONG = TuringMachine(
    [("go", "one", "go", "zero", 1), ("go", "zero", "back", "one", -1), ("back", "zero", "end", "one", 0)],
    "go", {"end"}, "zero",
)  # fmt: skip
HOSTILE = "</script><img src=x onerror=alert(1)>"
NAMED = TuringMachine([(HOSTILE, "_", "<b>", "<i>", 1), ("<b>", "_", HOSTILE, "&amp;", 1)], HOSTILE, set(), "_")
PANELS = ["Vector", "Layers", "Machine", "Steps", "Attention", "Many words", "Take it away"]

lab = cache(Lab)

VERDICTS = {"T": "halted in T: balanced", "F": "halted in F: not balanced"}

SHOWN = """root => ({...root.dataset, cells: Object.fromEntries([...root.querySelectorAll(".cell")].map(
  cell => [cell.dataset.cell, cell.dataset.symbol])), head: Number(root.querySelector(".cell.head").dataset.cell)})"""


# Press a button until each of these steps is shown, and say what is shown then.
EACH = f"""async (button, steps) => {{
  const root = button.closest(".turing-lab"), found = [];
  for (const step of steps) {{
    button.click();
    for (let left = 3600; root.dataset.step !== `${{step}}` || root.dataset.status === "running"; left--) {{
      if (!left) throw Error(`step ${{step}} is never shown`);
      await new Promise(requestAnimationFrame);
    }}
    found.push(({SHOWN})(root));
  }}
  return found;
}}"""


def data(page):
    return page.locator(".turing-lab").evaluate("root => ({...root.dataset})")


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()


def show(page, *panels):
    for panel in panels:
        page.locator(f"[data-panel='{panel}'] > summary").click()
        page.locator(f"[data-panel='{panel}'] .panel > :not([hidden])").first.wait_for()


def paste(page, text):
    if not page.get_by_label("The machine as text").is_visible():
        show(page, "Machine")
    page.get_by_label("The machine as text").fill(text)


def until(page, status="halted", **more):
    more = "".join(f"[data-{name}='{value}']" for name, value in more.items())
    page.wait_for_selector(f".turing-lab[data-status={status}]{more}")
    return data(page)


DRAWN = "new Promise(done => setTimeout(() => requestAnimationFrame(() => setTimeout(done))))"


def run(page):
    page.evaluate(DRAWN)  # or the end of an earlier run could still be shown
    press(page, "To the end")
    return until(page)


def ended(page, machine, word=""):
    """The lab shows what the interpreter ends with, and its mark is good."""
    run, shown = machine.run(word), data(page)
    assert (shown["status"], shown["step"], shown["state"]) == (run.status, str(run.steps), run.state)
    assert (shown["ones"], shown["mark"]) == (str(len(run.tape)), "good")
    steps = f"{run.steps:,} step{'' if run.steps == 1 else 's'}"
    mark = f"network = machine: both jam after {steps}" if run.status == "jammed" else f"✓ network = machine, {steps}"
    assert page.locator(".agreement").text_content() == mark


@pytest.mark.parametrize("scheme", ["http", "file"])
def test_a_pasted_busy_beaver_halts_after_107_steps_with_13_ones(scheme, open_page, address):
    page = open_page(lab(), address=address if scheme == "http" else None)
    paste(page, BB4)
    shown = run(page)
    assert (shown["step"], shown["ones"], shown["mark"], shown["engine"]) == ("107", "13", "good", "generated")
    assert page.locator(".agreement").text_content() == "✓ network = machine, 107 steps"
    assert "halted, 13 cells not blank" in page.locator(".status").text_content()


NO_EVAL = "script-src 'unsafe-inline' blob:; worker-src blob:"


def test_where_a_policy_forbids_eval_typed_arrays_do_the_same(open_page):
    page = open_page(lab(), policy=NO_EVAL)
    paste(page, BB4)
    shown = run(page)
    assert (shown["step"], shown["ones"], shown["mark"], shown["engine"]) == ("107", "13", "good", "arrays")
    assert all("unsafe-eval" in text for text in open_page.trouble)  # the browser says that it forbade it
    open_page.trouble.clear()


BB5 = turing.zoo["bb5"]


def choose_long_run(page):
    """The machine with the longest run of the zoo: seconds in the fastest browser, so a test finds it running."""
    page.get_by_label("Machine", exact=True).select_option("bb5")
    page.get_by_label("Most steps").select_option("50,000,000")
    until(page, "ready", step=0)


def configuration(machine, steps):
    """State, head and tape after so many steps of the empty word: the plain loop, without a trace."""
    tape, state, head, rules, blank = {}, machine.initial, 0, dict(machine.delta), machine.blank
    for _ in range(steps):
        state, tape[head], move = rules[state, tape.get(head, blank)]
        head += move
    return state, head, tape


def scrub(page, steps):
    """Go to steps that are no longer kept, and compare what is shown with the plain interpreter."""
    slider = page.locator("[data-panel=Steps]").get_by_role("slider")
    for step in steps:
        slider.fill(str(step))
        until(page, "paused", step=step)
        state, head, tape = configuration(BB5, step)
        shown = page.locator(".turing-lab").evaluate(SHOWN)
        cells = {int(cell): symbol for cell, symbol in shown["cells"].items()}
        assert (shown["state"], shown["head"]) == (state, head)
        assert int(shown["ones"]) == sum(symbol != BB5.blank for symbol in tape.values())
        assert cells == {cell: tape.get(cell, BB5.blank) for cell in cells}
        page.get_by_text(f"Pass {step:,}").wait_for()


def test_of_a_run_of_ten_million_steps_any_step_is_shown(open_page):
    page = open_page(lab(BB5))
    show(page, "Steps", "Attention")
    page.get_by_label("Most steps").select_option("10,000,000")
    press(page, "To the end")
    page.wait_for_selector(".turing-lab[data-status=limit]", timeout=120_000)
    shown = data(page)
    assert (shown["step"], shown["mark"], shown["engine"]) == ("10000000", "good", "generated")
    assert page.locator(".agreement").text_content() == "✓ network = machine, 10,000,000 steps"
    scrub(page, (65_536, 1_234_567))
    page.wait_for_function("document.querySelector('.story').textContent.startsWith('After step 1,234,567 ')")
    page.get_by_role("button", name="Go to step").first.click()  # the step that wrote the cell, or comes to it
    page.wait_for_function(f"{STEP} !== 1234567")
    page.get_by_label("Stop in state").select_option("E")
    press(page, "To the end")
    assert until(page, "breakpoint")["state"] == "E"


@pytest.mark.slow
def test_bb5_is_pasted_and_halts(open_page):
    page = open_page(lab())
    paste(page, BB5.dumps("bbchallenge"))
    show(page, "Steps")
    page.get_by_label("Most steps").select_option("50,000,000")
    press(page, "To the end")
    page.wait_for_function(f"{STEP} > 1_000_000", timeout=120_000)
    press(page, "Pause")
    at = int(until(page, "paused")["step"])
    press(page, "To the end")
    page.wait_for_selector(".turing-lab[data-status=halted]", timeout=300_000)
    shown = data(page)
    assert at < 47_176_870
    assert (shown["step"], shown["ones"], shown["mark"]) == ("47176870", "4098", "good")
    assert page.locator(".agreement").text_content() == "✓ network = machine, 47,176,870 steps"
    page.get_by_role("img", name="Space–time: 47,176,870 steps, cells −12243 to 45").wait_for()
    rows = page.locator(".spacetime").evaluate("box => box.clientHeight")
    assert (
        f"A row of pixels stands for {round(47_176_871 / rows):,} steps"
        in page.locator(".spacetime ~ .line .hint").text_content()
    )
    scrub(page, (40_000, 3_000_003))


FORMATS = {"bbchallenge": ("bb4", ""), "turingmachine.io": ("binary_increment", "1011"), "json": ("parity", "1011")}


@pytest.mark.parametrize("format", [*FORMATS, "morphett"])
def test_a_machine_of_each_format_runs(format, open_page):
    name, word = FORMATS.get(format, ("binary_increment", "1011"))
    machine = turing.zoo[name]
    text = turing.formats.fit(machine, format).dumps(format) if format == "morphett" else machine.dumps(format)
    machine, page = TuringMachine.parse(text), open_page(lab())
    paste(page, text)
    page.get_by_label("Word").fill(word)
    press(page, "To the end")
    until(page, step=machine.run(word).steps)
    ended(page, machine, word)


def test_balanced_parentheses_are_typed_and_run_by_keyboard_alone(open_page):
    page = open_page(lab(turing.zoo["parity"]))
    focus = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent"

    def tab_to(name):
        for _ in range(60):
            if page.evaluate(focus).startswith(name):
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"Tab does not lead to {name}")

    tab_to("Machine")
    tab_to("Machinetype")
    page.keyboard.press("Enter")
    tab_to("The machine as text")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(PAPER.dumps("json")[:40])
    page.keyboard.type(PAPER.dumps("json")[40:])
    for _ in range(60):
        page.keyboard.press("Shift+Tab")
        if page.evaluate("document.activeElement.closest('label')?.textContent") == "Word":
            break
    page.keyboard.type("B(())E")
    tab_to("To the end")
    page.keyboard.press("Enter")
    until(page)
    ended(page, PAPER, "B(())E")


def test_with_the_interpreter_off_the_network_alone_reaches_the_same_end(open_page):
    page = open_page(lab(turing.zoo["bb4"]))
    show(page, "Steps")
    page.get_by_label("compare with the plain interpreter").uncheck()
    shown = run(page)
    assert (shown["step"], shown["ones"], shown["mark"]) == ("107", "13", "off")
    assert "alone" in page.locator(".agreement").text_content()
    page.get_by_label("compare with the plain interpreter").check()
    assert until(page, mark="good")["step"] == "107"


@pytest.mark.parametrize(
    ("machine", "word"), [(PAPER, "B()E"), (PAPER, "B(B"), (LONG, ("one", "one")), (turing.zoo["bb3"], "")]
)
def test_every_step_there_and_back_shows_the_configuration_of_the_interpreter(machine, word, open_page):
    page, trace = open_page(lab(machine, word)), list(machine.trace(word))
    for name, steps in (("Step", trace[1:]), ("Back", trace[-2::-1])):
        button = page.get_by_role("button", name=name, exact=True)
        for now, shown in zip(steps, button.evaluate(EACH, [now.step for now in steps]), strict=True):
            tape = {int(cell): symbol for cell, symbol in shown["cells"].items() if symbol != machine.blank}
            assert (shown["state"], shown["head"], tape) == (now.state, now.head, now.tape)
            assert shown["ones"] == str(len(now.tape))
    assert data(page)["step"] == "0"


def test_a_machine_that_jams_says_for_what_it_has_no_rule(open_page):
    page = open_page(lab(PAPER, "B(B"))
    press(page, "To the end")
    until(page, "jammed")
    assert "jammed: no rule for (R, B)" in page.locator(".status").text_content()
    assert data(page)["mark"] == "good"
    assert page.locator(".agreement").text_content() == "network = machine: both jam after 2 steps"
    press(page, "Back")
    until(page, "paused")
    assert "✓" in page.locator(".agreement").text_content()


def test_a_word_without_its_ends_is_offered_them(open_page):
    page = open_page(lab(PAPER, "B()E"))
    page.get_by_label("Word", exact=True).fill("(())")
    press(page, "To the end")
    until(page, "jammed")
    press(page, "Add the ends: B(())E")
    assert page.evaluate(FOCUS) == "Word"
    assert not page.get_by_role("button", name="Add the ends").is_visible()
    page.keyboard.press("Enter")
    until(page)
    ended(page, PAPER, "B(())E")
    page.get_by_label("Machine", exact=True).select_option("unary_multiplication")
    page.get_by_label("Word", exact=True).fill("11x11")
    press(page, "Add the ends: 11x11=")
    run(page)
    ended(page, turing.zoo["unary_multiplication"], "11x11=")


def test_a_halt_has_a_verdict_in_words_until_the_rules_are_changed(open_page):
    page = open_page(lab(PAPER, "B()E"))
    for word, state in [("B()E", "T"), ("B)(E", "F")]:
        page.get_by_label("Word", exact=True).fill(word)
        until(page, "ready", step=0)
        run(page)
        assert page.locator(".status b").text_content() == VERDICTS[state]
        assert VERDICTS[state] in page.locator(".says").text_content()
    show(page, "Machine")
    page.get_by_label("Rule for state M, reading B").fill("*LT")
    page.keyboard.press("Tab")
    page.wait_for_selector(".changes td")
    run(page)
    assert page.locator(".status b").text_content() == "halted, 3 cells not blank"


TIDE = """input: '1011'
blank: ' '
start state: right
table:
  right:
    [0, 1]: R
    ' ': {L: carry}
  carry:
    1: {write: 0, L}
    [0, ' ']: {write: 1, L: dnoe}
  done:
"""


def test_the_input_of_a_pasted_text_becomes_the_word_and_what_is_typed_then_stays(open_page):
    page = open_page(lab(PAPER, "B()E"))
    paste(page, TIDE)
    field = page.get_by_label("Word", exact=True)
    assert field.input_value() == "1011"
    run(page)
    ended(page, TuringMachine.parse(TIDE), "1011")
    field.fill("11")
    paste(page, TIDE.replace("dnoe", "done"))
    assert field.input_value() == "11"
    paste(page, TIDE.replace("1011", "0"))
    assert field.input_value() == "0"
    paste(page, TIDE.replace("input: '1011'\n", ""))
    assert field.input_value() == "0"


def test_a_state_without_a_row_is_named_in_a_note(open_page):
    page = open_page(lab(PAPER, "B()E"))
    for text, note in [
        (TIDE, "State dnoe has no row, so a run halts there. Is it spelt right?"),
        (
            TIDE.replace("{L: carry}", "{L: cary}"),
            "States cary, dnoe have no row, so a run halts there. Are they spelt right?",
        ),
        ("0 _ 1 r on", "State on has no rule, so a run jams there. Is it spelt right?"),
        (TIDE.replace("dnoe", "done"), None),
        (BB4, None),
        ("0 _ 1 r halt", None),
    ]:
        paste(page, text)
        hint = page.locator("[data-panel=Machine] .hint").first
        assert hint.text_content() == (
            note or "Type or paste a machine: bbchallenge, turingmachine.io, Morphett, or our JSON."
        )
        assert page.get_by_label("The machine as text").get_attribute("aria-invalid") == "false"


def test_more_steps_are_allowed_where_the_bits_run_out(open_page):
    page = open_page(lab(turing.zoo["antihydra"]))
    show(page, "Steps")
    page.get_by_label("Most steps").select_option("100")
    press(page, "To the end")
    until(page, "limit", step=100)
    assert "not halted after 100 steps" in page.locator(".status").text_content()
    press(page, "Allow 10,000 steps")
    assert until(page, "limit", step=10_000)["mark"] == "good"


def test_a_long_run_is_paused_and_goes_on(open_page):
    page = open_page(lab())
    show(page, "Steps")
    choose_long_run(page)
    press(page, "To the end")
    page.wait_for_function("Number(document.querySelector('.turing-lab').dataset.step) > 1000")
    press(page, "Pause")
    at = int(until(page, "paused")["step"])
    assert at < 47_176_870
    press(page, "Step")
    assert until(page, "paused", step=at + 1)["mark"] == "good"
    press(page, "To the end")
    page.wait_for_function(f"Number(document.querySelector('.turing-lab').dataset.step) > {at + 1000}")
    press(page, "Start")
    assert until(page, "paused", step=0)["state"] == "A"


def test_a_run_stops_at_a_state_or_a_cell(open_page):
    page = open_page(lab(PAPER, "B(())E"))
    show(page, "Steps")
    page.get_by_label("Stop in state").select_option("M")
    press(page, "To the end")
    first = next(now for now in PAPER.trace("B(())E") if now.state == "M")
    until(page, "breakpoint", step=first.step, state="M")
    page.get_by_label("Stop in state").select_option("none")
    page.get_by_label("Stop on cell").fill("4")
    page.keyboard.press("Enter")
    press(page, "To the end")
    there = next(now for now in PAPER.trace("B(())E") if now.head == 4 and now.step > first.step)
    until(page, "breakpoint", step=there.step)
    page.get_by_label("Stop on cell").fill("")
    page.keyboard.press("Tab")
    run(page)
    ended(page, PAPER, "B(())E")


def test_the_slider_and_play_show_any_step(open_page):
    page = open_page(lab(turing.zoo["bb4"]))
    show(page, "Steps")
    run(page)
    trace, slider = list(turing.zoo["bb4"].trace()), page.get_by_role("slider")
    for step in (60, 3, 106):
        slider.fill(str(step))
        assert until(page, "paused", step=step)["state"] == trace[step].state
    page.get_by_label("Speed").select_option("60 a second")
    press(page, "Play")
    until(page, "halted", step=107)


def test_an_error_points_at_its_line_and_the_last_good_machine_stays(open_page):
    page = open_page(lab(PAPER, "B()E"))
    text = turing.zoo["binary_increment"].dumps("turingmachine.io").splitlines()
    wrong = next(n for n, line in enumerate(text) if "R" in line and ":" in line)
    text[wrong] = "    what: [is, this"
    paste(page, "\n".join(text))
    hint = page.locator("[data-panel=Machine] .hint").first
    line = int(re.match(r"line (\d+): ", hint.text_content())[1])
    assert abs(line - wrong - 1) <= 1
    assert page.locator(".lines b").text_content().strip() == str(line)
    assert page.get_by_label("The machine as text").get_attribute("aria-invalid") == "true"
    run(page)
    ended(page, PAPER, "B()E")


def changed(machine, other, **options):
    """The numbers of the network that differ, by the names of their places."""
    one, two = (turing.compile(m, "wcm21", adder="lookahead", **options) for m in (machine, other))
    rows, columns = one.layout_of("carry").names(), one.layout_of("detect").names()
    names = {name: (i, j) for i, row in enumerate(rows) for j, column in enumerate(columns) for name in [(row, column)]}
    there = {
        (row, column): (i, j)
        for i, row in enumerate(two.layout_of("carry").names())
        for j, column in enumerate(two.layout_of("detect").names())
    }
    before, after = (net.pipeline["carry"].weight for net in (one, two))
    return {
        name: (before[place].item(), after[there[name]].item())
        for name, place in names.items()
        if before[place] != after[there[name]]
    }


def test_an_edited_rule_shows_exactly_the_numbers_that_changed(open_page):
    page = open_page(lab(turing.zoo["bb4"]))
    show(page, "Machine")
    page.get_by_label("Rule for state C, reading 0").fill("0LA")
    page.keyboard.press("Tab")
    page.wait_for_selector(".changes td")
    other = TuringMachine.parse("1RB1LB_1LA0LC_0LA1LD_1RD0RA")
    other = TuringMachine(other.delta, "A", {"Z"}, "0")
    wanted = changed(turing.zoo["bb4"], other, T=1000, bits=10)
    rows = page.locator(".changes tbody tr").evaluate_all(
        "rows => rows.map(r => [...r.children].map(c => c.textContent))"
    )
    told = {(row, column): tuple(map(float, values.split(" → "))) for row, column, values in rows}
    assert told == wanted
    assert len(told) > 5
    assert f"{len(told)} numbers" in page.locator("[data-panel=Machine] .hint").last.text_content()
    press(page, "To the end")
    shown = until(page, "limit", step=1000)
    assert shown["mark"] == "good"
    assert shown["ones"] == str(len(other.run("", 1000).tape))


def test_states_and_symbols_come_and_go_in_the_table(open_page):
    page = open_page(lab(turing.zoo["bb2"]))
    show(page, "Machine")
    page.get_by_label("called").fill("new")
    press(page, "Add")
    page.get_by_label("Rule for state new, reading 0").fill("1RA")
    page.keyboard.press("Tab")
    page.get_by_label("Rule for state A, reading 1").fill("1Lnew")
    page.keyboard.press("Tab")
    rule = '["A", "1", "new", "1", -1]'
    page.wait_for_function("rule => document.querySelector('.box textarea').value.includes(rule)", arg=rule)
    text = page.get_by_label("The machine as text").input_value()
    machine = TuringMachine.parse(text)
    assert machine.delta["A", "1"] == ("new", "1", -1)
    press(page, "To the end")
    run = machine.run("", 1000)
    until(page, run.status, step=run.steps)
    ended(page, machine)
    press(page, "Remove the state new")
    page.wait_for_function("!document.querySelector('.box textarea').value.includes('new')")
    assert "new" not in TuringMachine.parse(page.get_by_label("The machine as text").input_value()).states
    page.get_by_label("Rule for state A, reading 1").fill("1LX")
    page.keyboard.press("Tab")
    assert "is not a rule" in page.locator("[data-panel=Machine] .hint").last.text_content()


@pytest.mark.parametrize(
    ("module", "row", "column", "value"),
    [("carry", "st[B]", "det[A 0]", 0), ("detect", "det[B 1]", "st[B]", 0.5), ("move", "pos3[1]", "borrow[1]", 0)],
)
def test_a_weight_changed_by_hand_parts_network_and_machine_where_verify_says(module, row, column, value, open_page):
    machine = turing.zoo["bb4"]
    page = open_page(lab(machine))
    show(page, "Layers")
    run(page)
    page.get_by_label("Module", exact=True).select_option(module)
    page.get_by_label("row", exact=True).select_option(row)
    page.get_by_label(column, exact=True).fill(str(value))
    page.keyboard.press("Tab")
    page.wait_for_selector(".turing-lab[data-mark=bad]")

    net = turing.compile(machine, "wcm21", T=1000, bits=10, adder="lookahead")
    place = net.layout_of(module).names().index(row)
    before = list(net.pipeline)[list(net.pipeline).index(module) - 1] if module != "detect" else "column"
    weight, at = net.pipeline[module].weight, (place, net.layout_of(before).names().index(column))
    was = weight[at].item()
    with torch.no_grad():
        weight[at] = value
    (found,) = turing.verify(net, machine, [""]).divergences
    mark = page.locator(".agreement").text_content()
    assert f"step {found.step}, layer {found.layer}, slice {found.slice}: " in mark
    assert found.place in mark
    assert f"The weight pipeline.{module}.weight[{row}, {column}] is {value:g} instead of {was:g}" in mark
    hatched = page.locator(".tile.parted")
    assert [tile.get_attribute("data-module") for tile in hatched.all()] == [found.layer]
    assert hatched.get_attribute("aria-label") == f"{found.layer}: here network and machine part"
    press(page, "Put it back")
    page.wait_for_selector(".turing-lab[data-mark=good]")
    assert page.locator(".tile.parted").count() == 0
    press(page, "To the end")
    until(page)
    ended(page, machine)


def test_the_lab_proves_its_network_and_says_what_an_edited_weight_does_to_the_proof(open_page):
    page = open_page(lab(turing.zoo["bb4"]))
    says, root = page.locator(".proof"), ".turing-lab[data-proof={}]"
    page.wait_for_selector(root.format("proved"))
    assert says.text_content() == "✓ proved for all words, to step 1,000"
    show(page, "Layers")
    page.get_by_label("Module", exact=True).select_option("carry")
    page.get_by_label("row", exact=True).select_option("st[B]")
    page.get_by_label("det[A 0]", exact=True).fill("0")
    page.keyboard.press("Tab")
    page.wait_for_selector(root.format("wrong"))
    page.wait_for_function("document.querySelector('.proof').textContent.includes('at step 1')")
    assert says.text_content() == "✗ wrong, on the empty word, at step 1: the next column: st[B] is 0 instead of 1"
    press(page, "Put it back")
    page.wait_for_selector(root.format("proved"))
    page.get_by_label("Module", exact=True).select_option("visited")
    page.get_by_label("Numbers", exact=True).select_option("pipeline.visited.key.weight")
    page.get_by_label("another column", exact=True).select_option("pos1[0]")
    page.get_by_label("pos1[0]", exact=True).fill("0.125")
    page.keyboard.press("Tab")
    page.wait_for_selector(root.format("undecided"))
    assert "visited: columns that fit have scores up to 0.125 apart" in says.text_content()


def test_plain_attention_takes_over_when_a_weight_no_longer_fits_the_index(open_page):
    page = open_page(lab(turing.zoo["bb4"]))
    show(page, "Layers")
    page.get_by_label("Module", exact=True).select_option("visited")
    page.get_by_label("Numbers", exact=True).select_option("pipeline.visited.key.weight")
    page.locator(".weights input").first.fill("1.5")
    page.keyboard.press("Tab")
    page.wait_for_selector(".turing-lab[data-engine=plain]")
    assert "Plain attention, because pipeline.visited.key.weight[" in page.locator("[data-panel=Layers]").text_content()
    press(page, "Put it back")
    page.wait_for_selector(".turing-lab[data-engine=generated]")


def test_equations_are_those_of_show(open_page):
    machine = turing.zoo["bb3"]
    page, net = open_page(lab(machine)), turing.compile(machine, "wcm21", T=1000, bits=10, adder="lookahead")
    show(page, "Layers")
    names = page.get_by_label("Module", exact=True).locator("option").all_text_contents()
    assert names == list(net.pipeline)
    for name in names:
        page.get_by_label("Module", exact=True).select_option(name)
        shown = page.locator(".equation").evaluate_all(
            "rows => rows.map(row => [row.querySelector('b').textContent, row.querySelector('b').nextSibling.data])"
        )
        (lines,) = turing.show(net.pipeline[name]).layers
        assert [place for place, _ in shown] == [line.place for line in lines]
        for (_, text), line in zip(shown, lines, strict=True):
            assert text.startswith(f" ← {line.value.split(' … ')[0].split(', else')[0]}")


def test_the_vectors_are_those_of_the_library(open_page):
    word = "B(())E"
    page, net = open_page(lab(PAPER, word)), turing.compile(PAPER, "wcm21", T=1000, bits=10, adder="lookahead")
    show(page, "Vector", "Steps")
    run(page)
    for step in (1, 7, 19):
        page.get_by_role("slider").fill(str(step))
        for name, vector in net.activations(word, step).items():
            if name == "column":
                continue
            page.get_by_label("Vector", exact=True).select_option(f"what {name} gives")
            page.wait_for_function(f"document.querySelector('.vector .hint')?.textContent.endsWith('step {step}')")
            page.wait_for_function(f"document.querySelector('.vector .hint').textContent.includes('{name} ')")
            values = page.locator(".vector .place").evaluate_all("all => all.map(place => Number(place.dataset.value))")
            assert values == vector.tolist()


def test_a_cell_tells_which_step_wrote_it_and_which_head_reads_it(open_page):
    page, trace = open_page(lab(PAPER, "B(())E")), list(PAPER.trace("B(())E"))
    show(page, "Attention")
    run(page)
    story = page.locator(".story")
    for cell in (0, 2, 4, 5):
        page.locator(f".cell[data-cell='{cell}']").click()
        page.wait_for_function(f"document.querySelector('.story').textContent.includes('cell {cell} holds')")
        wrote = max((now.step for now in trace[:-1] if now.head == cell), default=None)
        assert (f"step {wrote + 1} wrote it" if wrote is not None else "no") in story.text_content()
    page.locator(".cell[data-cell='1']").click()
    page.wait_for_function("document.querySelectorAll('.heads tbody tr').length > 0")
    patterns = turing.compile(PAPER, "wcm21", T=1000, bits=10, adder="lookahead").patterns("B(())E", 19)
    read = patterns["last"].argmax().item()
    assert f"head last reads column {read}," in story.text_content()
    rows = page.locator(".heads tbody tr").all_text_contents()
    assert f"lastcolumn {read}1" in rows
    assert len(rows) == len(patterns)
    page.locator(".tape").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('.story').textContent.includes('cell 2 holds')")
    page.get_by_role("button", name="Go to step").first.click()
    until(page, "paused")


def test_many_words_get_a_verdict_a_row(open_page):
    page, words = open_page(lab(PAPER)), ["B()E", "B)(E", "B(B", "BE", "B(()(()))E"]
    show(page, "Many words")
    page.get_by_label("Words, one a line").fill("\n".join(words))
    press(page, "Run them all")
    page.get_by_text("5 words done.").wait_for()
    rows = page.locator(".verdicts tbody tr").evaluate_all(
        "rows => rows.map(r => [...r.children].map(c => c.textContent))"
    )
    for word, row in zip(words, rows, strict=True):
        run = PAPER.run(word)
        verdict, mark = (VERDICTS[run.state], "✓ equal") if run.status == "halted" else (run.status, "both jam")
        assert row == [word, verdict, str(run.steps), str(len(run.tape)), mark]


def test_among_many_words_a_bad_line_is_marked_and_the_others_are_run(open_page):
    page = open_page(lab(PAPER))
    show(page, "Many words")
    page.get_by_label("Words, one a line").fill("B()E\nBxE\nB(E\n" + "B" * 25 + "\nBE")
    press(page, "Run them all")
    page.get_by_text("3 words done; 2 lines could not be run, and the table says why.").wait_for()
    rows = page.locator(".verdicts tbody tr").evaluate_all(
        "rows => rows.map(r => [...r.children].map(c => c.textContent))"
    )
    assert [row[1] for row in rows] == [
        VERDICTS["T"],
        "✗ not run: Symbol 'x' (cell 1 of the word) is not in this machine's alphabet: ( ) * B E.",
        VERDICTS["F"],
        "✗ not run: This word needs more bits. Put it into Word first, or allow fewer steps.",
        VERDICTS["T"],
    ]
    page.get_by_label("Words, one a line").fill("x")
    press(page, "Run them all")
    page.get_by_text("0 words done; 1 line could not be run").wait_for()


def test_the_space_time_picture_shows_where_the_head_was_and_leads_to_a_step(open_page):
    page = open_page(lab(turing.zoo["bb4"]))
    run(page)
    page.get_by_role("img", name="Space–time: 107 steps, cells").wait_for()
    trace = list(turing.zoo["bb4"].trace())
    low, high = min(now.head for now in trace), max(now.head for now in trace)
    heads = """([low, high, rows]) => {
      const canvas = document.querySelector(".spacetime canvas"), tall = canvas.height / rows;
      const wide = Math.min(18, (document.querySelector(".spacetime").clientWidth - 49) / (high - low + 1));
      const pen = canvas.getContext("2d"), ink = [27, 31, 39];
      return Array.from({length: rows}, (_, row) => {
        const line = pen.getImageData(49, Math.floor((row + 0.5) * tall), canvas.width - 49, 1).data;
        const dark = [...Array(canvas.width - 49).keys()].filter(x => ink.every((v, k) => line[4 * x + k] === v));
        return low + Math.floor(dark[dark.length >> 1] / wide);
      });
    }"""
    assert page.evaluate(heads, [low, high, 108]) == [now.head for now in trace]
    page.locator(".spacetime canvas").click(position={"x": 100, "y": 100})
    assert 25 < int(until(page, "paused")["step"]) < 35
    for name in ("Zoom in", "Zoom in", "Zoom out", "Fit"):
        press(page, name)


def test_a_copied_link_reopens_machine_word_and_step_in_a_fresh_browser(open_page, browser, address):
    for machine, word, step in [(BB4, "", 42), ("balanced_parentheses", "B(())E", 7), (None, "", 3)]:
        page = open_page(lab(link=True), address=address)
        if machine is None:
            show(page, "Machine")
            page.get_by_label("Rule for state I, reading B").fill("BRM")
            page.keyboard.press("Tab")
        elif machine == BB4:
            paste(page, machine)
        page.get_by_label("Word", exact=True).fill(word or ("" if machine else "B()E"))
        page.get_by_role("button", name="Step", exact=True).evaluate(EACH, [*range(1, step + 1)])
        before = until(page, "paused", step=step)
        show(page, "Take it away")
        link = page.get_by_label("Link to what is shown").input_value()
        page.wait_for_function("link => location.href === link", arg=link)
        context = browser.new_context()
        fresh = context.new_page()
        fresh.goto(link)
        fresh.wait_for_selector(f".turing-lab[data-step='{before['step']}']:not([data-status=running])")
        after = data(fresh)
        assert {key: after[key] for key in ("step", "state", "ones", "mark")} == {
            key: before[key] for key in ("step", "state", "ones", "mark")
        }
        assert (
            fresh.get_by_label("Word", exact=True).input_value() == page.get_by_label("Word", exact=True).input_value()
        )
        show(fresh, "Machine")
        if machine == BB4:
            assert fresh.get_by_label("The machine as text").input_value() == BB4
        context.close()


BOMB = "a: &a [*a, *a]\n" + "\n".join(f"k{n}: &k{n} [*a, *a, *a]" for n in range(50))
LINKS = {
    "a script in a state name": NAMED.dumps("json"),
    "a megabyte of rules": "_".join(["1RB1LB"] * 150_000),
    "YAML that refers to itself": f"input: ''\nblank: ' '\nstart state: a\ntable:\n  a: &x\n    ' ': *x\n{BOMB}",
    "nested brackets": "[" * 50_000,
    "too many states": "_".join(["1RA1LA"] * 26) + "_" + "\n".join("x" * 99),
    "nothing": "",
}


def follow(page, hash):
    """Open the same page by a link."""
    url = page.url.split("#")[0]
    page.goto("about:blank")
    page.goto(url + hash)
    page.wait_for_selector(".turing-fallback[hidden]", state="attached")


def test_a_hostile_link_is_shown_as_text_or_refused(open_page, address):
    page, asked = open_page(lab(PAPER, "B()E", link=True), address=address), []
    page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    for kind, text in LINKS.items():
        follow(page, f"#m={quote(text, safe='')}&w=&t=3")
        page.wait_for_selector(".turing-lab:not([data-status=running])")
        if kind == "a script in a state name":
            show(page, *PANELS)
            until(page, "jammed" if NAMED.run("", 3).status == "jammed" else "paused")
            assert data(page)["state"] == list(NAMED.trace("", 3))[-1].state
        else:
            assert "The link cannot be followed." in page.locator(".turing-lab > .hint").text_content(), kind
            run(page)
            ended(page, PAPER, "B()E")
        assert page.locator(".turing-lab img, .turing-lab script, .turing-lab details b b").count() == 0
        assert asked == []


def test_a_broken_link_leaves_a_lab_that_works(open_page, address):
    page = open_page(lab(PAPER, "B()E", link=True), address=address)
    for hash in ("#m=bb4&w=xyz&t=3", "#m=%E0%A4%A&w=", "#m=bb4&t=-1", "#m=bb4&t=1e99", "#x", "#m=bb4&w=1&t=NaN"):
        follow(page, hash)
        press(page, "To the end")
        until(page)


def test_the_lines_of_python_compile_the_same_machine_and_run_it(open_page):
    for name, text in [("bb4", None), (None, BB4)]:
        page = open_page(lab(turing.zoo["bb4"]))
        if text:
            paste(page, text)
        show(page, "Take it away")
        lines = page.get_by_label("The same in Python").text_content()
        assert lines.count("\n") == 3
        assert (f'zoo["{name}"]' if name else text) in lines
        with redirect_stdout(StringIO()) as said:
            exec(lines, {})
        assert said.getvalue().startswith("halted in state Z after 107 steps")


def test_the_weights_that_are_downloaded_are_those_that_the_library_compiles(open_page, tmp_path):
    page = open_page(lab())
    show(page, "Take it away")
    with page.expect_download() as download:
        press(page, "Download weights")
    assert download.value.suggested_filename == "balanced_parentheses.json"
    download.value.save_as(tmp_path / "net.json")
    net = turing.load(tmp_path / "net.json")
    own = turing.compile(PAPER, "wcm21", T=1000, bits=10, adder="lookahead").state_dict()
    assert all(torch.equal(value, own[name]) for name, value in net.state_dict().items())


ENDLESS = TuringMachine([("x" * 20_000, "_", "x" * 20_000, "y" * 9_000, 1)], "x" * 20_000, set(), "_")


@pytest.mark.parametrize("machine", [NAMED, LONG, turing.zoo["universal"], ENDLESS], ids=range(4))
def test_long_and_hostile_names_stay_in_their_frames(machine, open_page):
    page = open_page(lab(machine), width=360)
    show(page, *PANELS)
    for _ in range(2):
        press(page, "Step")
    until(page, "paused" if machine.run("", 9).steps > 2 else machine.run("", 9).status)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert page.locator(".turing-lab img").count() == 0


def test_on_a_phone_tape_buttons_and_network_are_in_the_first_view_and_nothing_moves(open_page):
    page = open_page(lab(PAPER, "B(())E"), width=360, height=640, reduced_motion="reduce")
    parts = ".place-of-tape", ".buttons", ".strip"
    before, top = [page.locator(part).bounding_box() for part in parts], page.locator(".turing-lab").bounding_box()["y"]
    assert all(box["y"] + box["height"] < top + 640 for box in before)
    run(page)
    assert [page.locator(part).bounding_box() for part in parts] == before
    assert page.locator("details[open]").count() == 0
    moving = """[...document.querySelectorAll('.turing-widget, .turing-widget *')].map(e => getComputedStyle(e))
        .filter(s => s.transitionDuration !== '0s' || s.animationName !== 'none').length"""
    assert page.evaluate(moving) == 0


# What the tiles show: by module and slice, the places that have a bar, as [place, height].
TILES = """() => Object.fromEntries([...document.querySelectorAll(".tile")].map((tile) => [tile.dataset.module,
  Object.fromEntries([...tile.querySelectorAll("[data-slice]")].map((row) => [row.dataset.slice,
    [...row.querySelector("path").getAttribute("d").matchAll(/M(\\d+) 1h1v(\\S+)h/g)].map(
      ([, place, height]) => [Number(place), -Number(height)])]))]))"""
WALK_BACK = f"""async () => {{
  const root = document.querySelector(".turing-lab"), found = {{}}, caption = root.querySelector(".net .legend b");
  const back = [...root.querySelectorAll("button")].find(({{ textContent }}) => textContent === "Back");
  for (let step = Number(root.dataset.step); step > 0; step--) {{
    while (caption.textContent !== `Pass ${{step}}` || root.dataset.step !== `${{step}}`)
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    found[step] = ({TILES})();
    back.click();
  }}
  return found;
}}"""


def bars(net, module, vector):
    """A vector as a tile shows it; bits stand as on paper."""
    return {
        part.name: [
            [place if part.labels else part.size - 1 - place, x]
            for place, x in enumerate(vector[part.slice].tolist())
            if x
        ]
        for part in net.layout_of(module)
    }


@pytest.mark.parametrize(("name", "word"), [("balanced_parentheses", "B(())E"), ("bb3", ""), ("parity", "101")])
def test_at_every_step_the_tiles_show_the_vectors_of_the_library(name, word, open_page):
    machine = turing.zoo[name]
    page, net = open_page(lab(machine, word)), turing.compile(machine, "wcm21", T=1000, bits=10, adder="lookahead")
    _, kept = net.run_with_cache(word)
    page.get_by_text("Pass 1, which is next").wait_for()
    first = page.evaluate(TILES)
    run(page)
    shown = page.evaluate(WALK_BACK)
    assert len(shown) == machine.run(word).steps
    for step, tiles in shown.items():
        assert list(tiles) == list(net.pipeline)
        for module, found in tiles.items():
            assert {part: sorted(places) for part, places in found.items()} == {
                part: sorted(places) for part, places in bars(net, module, kept[module][int(step) - 1]).items()
            }
    assert first == shown["1"]
    heads = page.locator(".tile.head .dot").evaluate_all("all => all.map(e => e.closest('.tile').dataset.module)")
    assert heads == list(net.patterns(word, 1))


# By row of the picture: where the arcs end and begin; then what they stand for.
ARCS = """() => [...document.querySelectorAll(".arcs path")].map((path) => {
  const end = path.getTotalLength(), rows = document.querySelector(".spacetime canvas");
  const at = (along) => Math.floor(path.getPointAtLength(along).y / Math.min(18, rows.clientHeight / ROWS));
  return [at(end), at(0), Number(path.dataset.key), Number(path.dataset.weight)];
})"""
WALK_HEADS = """async (rows) => {
  const found = {}, root = document.querySelector(".turing-lab");
  for (const tile of root.querySelectorAll(".tile.head")) {
    tile.click();
    while (!root.querySelector(".reads").textContent.startsWith(`${tile.dataset.module} reads`))
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    found[tile.dataset.module] = (ARCS)();
  }
  return found;
}"""


def test_arcs_lead_to_the_columns_that_the_patterns_of_the_library_give(open_page):
    word, rows = "B(())E", 20
    page, net = open_page(lab(PAPER, word)), turing.compile(PAPER, "wcm21", T=1000, bits=10, adder="lookahead")
    arcs = ARCS.replace("ROWS", str(rows))
    show(page, "Steps")
    run(page)
    ties = 0
    for step in (3, 7, 12, 17, 19):
        page.get_by_role("slider").fill(str(step))
        page.wait_for_function(f"document.querySelector('.net .legend b').textContent === 'Pass {step}'")
        found = page.evaluate(WALK_HEADS.replace("ARCS", arcs), rows)
        patterns = net.patterns(word, step)
        assert list(found) == list(patterns)
        for name, pattern in patterns.items():
            read = [(key, weight) for key, weight in enumerate(pattern.tolist()[:-1]) if weight]
            ends = [[0 if name == "initial" else key, step, key] for key, _ in read]
            assert [arc[:3] for arc in found[name]] == ends
            assert [arc[3] for arc in found[name]] == pytest.approx([weight for _, weight in read])
            ties += len(read) > 1
    assert ties > 0  # or nothing was shared


def test_without_a_chosen_head_the_arc_leads_to_where_the_symbol_comes_from(open_page):
    word = "B(())E"
    page, net = open_page(lab(PAPER, word)), turing.compile(PAPER, "wcm21", T=1000, bits=10, adder="lookahead")
    _, kept = net.run_with_cache(word)
    for now in list(PAPER.trace(word))[1:]:
        press(page, "Step")
        cell, step = f"cell {now.head}?", now.step - 1
        if kept["visited"][step][net.layout.scr4["visited"]]:
            keys = [int(kept["last.pattern"][step].argmax())]
            says = f"{cell} step {keys[0]} was here last"
        else:
            keys = [int(kept["initial.pattern"][step].argmax())]
            says = f"{cell} new: the word says {word[keys[0]]}"
        page.wait_for_function("says => document.querySelector('.reads').textContent === says", arg=says)
        assert page.locator(".arcs path").evaluate_all("all => all.map(e => Number(e.dataset.key))") == keys


def test_a_click_on_a_module_opens_its_vector_and_its_equations_by_mouse_and_by_keyboard(open_page):
    page, net = open_page(lab(PAPER, "B()E")), turing.compile(PAPER, "wcm21", T=1000, bits=10, adder="lookahead")
    page.get_by_role("button", name="move", exact=True).click()
    page.wait_for_function("document.querySelector('.vector .hint')?.textContent === 'What leaves move in step 1'")
    assert page.get_by_label("Module", exact=True).input_value() == "move"
    (lines,) = turing.show(net.pipeline["move"]).layers
    assert page.locator(".equation b").all_text_contents() == [line.place for line in lines]
    page.get_by_role("button", name="last", exact=True).focus()
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('.vector .hint').textContent === 'What leaves last in step 1'")
    assert page.get_by_label("Module", exact=True).input_value() == "last"
    assert page.locator(".tile[aria-pressed=true]").get_attribute("data-module") == "last"


def test_table_and_diagram_light_the_rule_of_each_pass(open_page):
    word = "B(())E"
    page, trace, rules = open_page(lab(PAPER, word)), list(PAPER.trace(word)), list(PAPER.delta)
    show(page, "Machine")
    legend = page.locator("[data-panel=Machine] .hint").nth(1).text_content()
    assert "BRR is: write B, go right, then state R. The rule of this pass is lit." in legend
    for before, now in zip([trace[0], *trace], trace, strict=False):
        page.wait_for_selector(f".turing-lab[data-step='{now.step}']")
        number = rules.index((before.state, before.symbol))
        lit = page.locator(".lit input").evaluate_all("all => all.map(e => e.getAttribute('aria-label'))")
        assert lit == [f"Rule for state {before.state}, reading {before.symbol}"]
        edges = page.locator(".diagram .edge.on").evaluate_all("all => all.map(e => e.dataset.rules.split(' '))")
        assert [str(number) in edge for edge in edges] == [True]
        on = page.locator(".diagram .node.on").evaluate_all("all => all.map(e => Number(e.dataset.state))")
        assert on == [PAPER.states.index(now.state)]
        target, written, _ = PAPER.delta[before.state, before.symbol]
        says = page.locator(".rule").text_content()
        assert says.startswith(f"Rule: in {before.state} reading {before.symbol}, write {written}, ")
        assert says.endswith(f"then {target}.")
        press(page, "Step")
    assert "halts: balanced" in page.locator(".rules").text_content()


def test_a_pasted_machine_of_the_zoo_has_its_verdicts(open_page):
    page = open_page(lab(turing.zoo["bb2"]))
    paste(page, PAPER.dumps("json"))
    page.get_by_label("Word", exact=True).fill("B()E")
    run(page)
    assert page.locator(".status b").text_content() == VERDICTS["T"]


def test_words_with_expected_verdicts_are_a_test(open_page):
    page = open_page(lab(PAPER))
    show(page, "Many words")
    lines = {"B(())E T": "✓ T", "B)(E T": "✗ not T", "B)(E\tnot balanced": "✓ not balanced", "B(B jammed": "✓ jammed",
             "B()E balanced": "✓ balanced", "B()E halted": "✓ halted", "BE": "", "BE limit": "✗ not limit"}  # fmt: skip
    page.get_by_label("Words, one a line").fill("\n".join([*lines, "B()E maybe"]))
    press(page, "Run them all")
    page.get_by_text("8 words done, 5 of 7 as expected; 1 line could not be run, and the table says why.").wait_for()
    rows = page.locator(".verdicts tbody tr").evaluate_all(
        "rows => rows.map(r => [r.children[0].textContent, r.lastChild.textContent])"
    )
    assert rows[:-1] == [[re.split(r"\s", line)[0], met] for line, met in lines.items()]
    assert rows[-1][0] == "B()E maybe"
    assert rows[-1][1].startswith("✗ not run: Symbol ' '")
    assert page.locator(".verdicts td.wrong").count() == 3
    page.get_by_label("Words, one a line").fill("B()E")
    press(page, "Run them all")
    page.get_by_text("1 word done.").wait_for()
    assert page.locator(".verdicts th").count() == 5


def test_words_of_long_symbols_have_expected_verdicts_too(open_page):
    page = open_page(lab(LONG))
    show(page, "Many words")
    page.get_by_label("Words, one a line").fill("one one end\none jammed\none one")
    press(page, "Run them all")
    page.get_by_text("as expected").wait_for()
    runs = [LONG.run(word) for word in (("one", "one"), ("one",), ("one", "one"))]
    met = [runs[0].state == "end" and runs[0].status == "halted", runs[1].status == "jammed"]
    assert page.locator(".verdicts tbody tr td:last-child").all_text_contents() == [
        f"{'✓' if met[0] else '✗ not'} end", f"{'✓' if met[1] else '✗ not'} jammed", ""
    ]  # fmt: skip


SPY = """() => {
  const own = Element.prototype.animate;
  window.moved = [];
  Element.prototype.animate = function (...given) {
    window.moved.push(this.closest(".tape, .diagram, .arcs").classList[0] ?? "arcs");
    return own.apply(this, given);
  };
}"""


def test_head_cell_edge_and_arc_move_at_a_step_but_not_fast_and_not_for_who_wants_stillness(open_page):
    for motion, speed, moves in (("null", "2", True), ("null", "30", False), ("reduce", "2", False)):
        page = open_page(lab(PAPER, "B(())E"), reduced_motion=motion)
        show(page, "Steps")
        page.evaluate(SPY)
        page.get_by_label("Speed").select_option(f"{speed} a second")
        press(page, "Play")
        page.wait_for_function(f"{STEP} >= 4")
        press(page, "Pause")
        assert set(page.evaluate("moved")) == ({"tape", "diagram", "arcs"} if moves else set())
    page = open_page(lab(turing.zoo["bb4"]))
    page.evaluate(SPY)
    run(page)
    assert page.evaluate("moved") == []


def test_play_is_the_first_button_and_the_keys_play_and_pause(open_page):
    page = open_page(lab(PAPER, "B(())E"))
    assert page.locator(".buttons button").all_text_contents() == ["Play", "Step", "Back", "Start", "To the end"]
    assert page.locator("button.main").all_text_contents() == ["Play"]
    page.locator(".turing-lab").focus()
    page.keyboard.press("p")
    page.wait_for_function(f"{STEP} >= 2")
    page.get_by_role("button", name="Pause", exact=True).wait_for()
    page.keyboard.press("p")
    page.get_by_role("button", name="Play", exact=True).wait_for()
    page.keyboard.press("Home")
    until(page, "paused", step=0)


# Parts that moved up or down; words may make room for others.
SHIFTS = """() => new Promise((done) => {
  const found = [], moved = ({ node, previousRect, currentRect }) =>
    node?.nodeType === 1 && previousRect.y !== currentRect.y;
  new PerformanceObserver((list) => found.push(...list.getEntries())).observe({ type: "layout-shift", buffered: true });
  requestAnimationFrame(() => setTimeout(() => done(found.filter(({ sources }) => sources.some(moved)).map(
    ({ value }) => value)), 0));
})"""


@pytest.mark.parametrize("width", [360, 390, 768, 1000])
def test_nothing_shifts_when_it_takes_its_place_when_it_compiles_and_while_it_runs(width, open_page):
    page = open_page(lab(PAPER, "B(())E"), width=width)
    page.wait_for_selector(".turing-lab[data-engine=generated]")
    parts = ".place-of-tape, .buttons, .strip, .stage, .panels"
    places = f"[...document.querySelectorAll('{parts}')].map(e => e.getBoundingClientRect()).map(r => [r.y, r.height])"
    before = page.evaluate(places)
    for name in ("bb4", "antihydra", "rock_paper_scissors", "universal", "balanced_parentheses"):
        page.get_by_label("Machine", exact=True).select_option(name)
        until(page, "ready", step=0)
        assert page.evaluate(places) == before
    run(page)
    assert page.evaluate(places) == before
    assert page.evaluate(SHIFTS) == []


def test_two_labs_of_a_page_run_on_their_own_and_link_to_the_lab_page(open_page):
    page = open_page(Lab(page="lab.html"), Lab(turing.zoo["bb4"]))
    page.get_by_role("button", name="To the end").last.click()
    page.wait_for_selector(".turing-lab[data-status=halted]")
    assert page.locator(".turing-lab").evaluate_all("all => all.map(r => r.dataset.step)") == ["0", "107"]
    assert "#" not in page.url
    for panel in page.locator("[data-panel='Take it away'] > summary").all():
        panel.click()
    page.wait_for_selector("[data-panel='Take it away'] pre")
    link = page.get_by_label("Link to what is shown").first
    assert link.input_value().endswith("/lab.html#m=balanced_parentheses&w=&t=0")
    assert not page.get_by_label("Link to what is shown").last.is_visible()


def test_a_kernel_sets_the_word_and_hears_of_the_readers(open_page):
    page, widget = open_page(), Lab(PAPER, "B()E")
    page.add_style_tag(content=widget._css)
    page.evaluate(MODEL, [widget._esm, widget.get_state(["machine", "word", "zoo", "link", "page"])])
    page.wait_for_selector(".turing-lab[data-engine=generated]")
    page.evaluate("model.set('word', 'B(())E')")
    assert page.get_by_label("Word", exact=True).input_value() == "B(())E"
    run(page)
    ended(page, PAPER, "B(())E")
    page.get_by_label("Word", exact=True).fill("B)E")
    assert page.evaluate("model.saved.at(-1).word") == "B)E"
    page.evaluate("async () => (await cleanup)()")


def test_what_is_changed_in_the_middle_of_a_run_takes_effect(open_page):
    page = open_page(lab())
    show(page, "Steps", "Layers", "Many words")
    choose_long_run(page)
    far = "Number(document.querySelector('.turing-lab').dataset.step) > 2000"
    press(page, "To the end")
    page.wait_for_function(far)
    page.get_by_label("Machine", exact=True).select_option("bb4")
    until(page, "ready", step=0)
    run(page)
    ended(page, turing.zoo["bb4"])
    choose_long_run(page)
    press(page, "To the end")
    page.wait_for_function(far)
    page.get_by_label("compare with the plain interpreter").uncheck()
    page.wait_for_selector(".turing-lab[data-mark=off]:not([data-status=running])")
    assert int(data(page)["step"]) > 2000
    press(page, "To the end")
    page.wait_for_selector(".turing-lab[data-status=running]")
    press(page, "Run them all")
    page.wait_for_selector(".turing-lab[data-status=paused]")
    page.get_by_label("Word", exact=True).fill("1")
    until(page, "ready", step=0)
    assert "Stopped: another run began." in page.locator("[data-panel='Many words']").text_content()
    press(page, "Step")
    until(page, "paused", step=1)


STEP = "Number(document.querySelector('.turing-lab').dataset.step)"
FOCUS = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent"
NUMBER = """[...document.querySelectorAll('.vector [data-slice=pos1] .place')].reduce(
    (sum, place, k) => sum + Number(place.dataset.value) * 2 ** k, 0)"""


def set_weight(page, module, row, column, value):
    page.get_by_label("Module", exact=True).select_option(module)
    page.get_by_label("row", exact=True).select_option(row)
    page.get_by_label(column, exact=True).fill(str(value))
    page.keyboard.press("Tab")


def test_verdicts_stand_beside_their_words(open_page):
    page = open_page(lab(PAPER))
    show(page, "Many words", "Machine")
    page.evaluate("""() => {
      const panel = document.querySelector("[data-panel='Many words']"), box = panel.querySelector("textarea");
      for (const words of ["B()E\\nB(E\\nB(())E", "B)E\\nBE"]) {
        box.value = words;
        panel.querySelector("button").click();
      }
    }""")
    page.get_by_text("2 words done.").wait_for()
    rows = page.locator(".verdicts tbody tr").all_text_contents()
    runs = [(word, PAPER.run(word)) for word in ("B)E", "BE")]
    assert rows == [f"{word}{VERDICTS[run.state]}{run.steps}{len(run.tape)}✓ equal" for word, run in runs]
    page.get_by_label("Rule for state I, reading B").fill("BRM")
    page.keyboard.press("Tab")
    page.wait_for_selector(".verdicts", state="hidden")
    assert page.get_by_label("Words, one a line").input_value() == "B)E\nBE"


def test_a_head_that_runs_away_ends_before_the_memory_does(open_page, address):
    page = open_page(lab(link=True), address=address)
    follow(page, "#m=1RA---&w=&t=4000000")
    page.wait_for_selector(".turing-lab[data-status=failed]", timeout=60_000)
    assert "The head was on 1,000,000 cells: this page keeps no more." in page.locator(".status").text_content()
    assert data(page)["mark"] == "good"
    show(page, "Vector")
    page.wait_for_function(f"{NUMBER} === {STEP}")


def test_breakpoints_hold_for_known_steps_and_for_a_run_under_way(open_page):
    page = open_page(lab(turing.zoo["bb4"]))
    show(page, "Steps")
    run(page)
    press(page, "Start")
    page.get_by_label("Stop in state").select_option("C")
    for now in [now for now in turing.zoo["bb4"].trace() if now.state == "C"][:3]:
        press(page, "To the end")
        until(page, "breakpoint", step=now.step, state="C")
    page.get_by_label("Stop on cell").fill("3")
    page.keyboard.press("Tab")
    choose_long_run(page)
    page.wait_for_function("document.querySelector('[data-panel=Steps] [type=number]').value === ''")
    press(page, "To the end")
    page.wait_for_function(f"{STEP} > 2000")
    page.get_by_label("Stop in state").select_option("B")
    assert until(page, "breakpoint", state="B")["mark"] == "good"


def test_an_anchor_of_the_page_is_left_alone(open_page, address):
    page = open_page(lab(PAPER, "B()E", link=True), address=address, stopped=True)
    follow(page, "#one-matrix")
    until(page, "ready")
    page.clock.run_for(1000)
    assert page.url.endswith("#one-matrix")
    page = open_page(lab(PAPER, "B()E", link=True), address=address)
    follow(page, "#one-matrix")
    page.get_by_label("Machine", exact=True).select_option("bb4")
    run(page)
    page.wait_for_function("location.hash === '#m=bb4&w=&t=107'")
    page.evaluate("new Promise(heard => { onhashchange = heard; location.hash = '#the-file' }).then(() => {})")
    page.evaluate(DRAWN)
    assert (data(page)["step"], page.url.rsplit("#")[1]) == ("107", "the-file")
    page.evaluate("location.hash = '#m=bb3&w=&t=2'")
    until(page, "paused", step=2)
    assert page.get_by_label("Machine", exact=True).input_value() == "bb3"


def test_an_anchor_goes_when_a_machine_is_chosen_before_the_first_drawing(open_page, address):
    page = open_page(lab(PAPER, "B()E", link=True), address=address, stopped=True)
    follow(page, "#one-matrix")
    page.get_by_label("Machine", exact=True).select_option("bb4")
    page.clock.run_for(1000)
    page.wait_for_function("location.hash === '#m=bb4&w=&t=0'")


def test_the_vector_is_always_that_of_its_title(open_page):
    page = open_page(lab())
    show(page, "Steps", "Vector", "Layers")
    choose_long_run(page)
    press(page, "Step")
    page.wait_for_function(f"{NUMBER} === 1")
    press(page, "To the end")
    page.wait_for_function(f"{STEP} > 10000")
    title = "document.querySelector('.vector .hint').textContent"
    assert page.evaluate(f"[{title}, {NUMBER}]") == ["Column 1", 1]
    assert "Values of step 1" in page.locator("[data-panel=Layers] .hint").all_text_contents()
    press(page, "Step")
    at = int(until(page, "paused")["step"])
    page.wait_for_function(f"{NUMBER} === {at}")
    assert data(page) | {"step": str(at), "status": "paused"} == data(page)
    for step in range(30):
        page.get_by_role("slider").evaluate(
            "(slider, step) => { slider.value = step; slider.dispatchEvent(new Event('input')); }", 9000 - step
        )
    page.wait_for_function(f"{NUMBER} === 8971 && {title} === 'Column 8,971'")


def test_the_step_in_which_network_and_machine_part_can_be_inspected(open_page):
    page = open_page(lab(turing.zoo["bb4"], link=True))
    show(page, "Layers", "Vector", "Take it away", "Steps")
    note = page.get_by_text("The weights that you changed are in neither")
    assert not note.is_visible()
    set_weight(page, "carry", "st[B]", "det[A 0]", 1.5)
    press(page, "To the end")
    until(page, "diverged")
    step = int(re.search(r"step (\d+), layer carry", page.locator(".agreement").text_content())[1])
    page.get_by_label("Vector", exact=True).select_option("what carry gives")
    page.wait_for_function(
        f"document.querySelector('.vector .hint').textContent === 'What leaves carry in step {step}'"
    )
    assert page.locator(".vector [data-slice=st] .place b").all_text_contents()[1] == "1.5"
    assert note.is_visible()
    page.get_by_label("Most steps").select_option("10,000")
    page.get_by_text("More bits: your changes were taken back.").wait_for()
    assert not note.is_visible()
    set_weight(page, "carry", "st[B]", "det[A 0]", "1e39")
    page.get_by_text("float32 ends at 3.4e38").wait_for()
    set_weight(page, "carry", "st[B]", "det[A 0]", 0)
    page.get_by_label("compare with the plain interpreter").uncheck()
    press(page, "To the end")
    until(page, "failed")
    assert "At step 1 no state is left, though there is a rule." in page.locator(".status").text_content()
    press(page, "Put it back")
    assert page.evaluate(FOCUS) == "Equations"


def test_columns_with_equal_keys_share_the_weight_as_in_the_library(open_page):
    page, net = open_page(lab(PAPER, "B(())E")), turing.compile(PAPER, "wcm21", T=1000, bits=10, adder="lookahead")
    show(page, "Attention", "Steps")
    run(page)
    shared = 0
    for step in (7, 12, 17, 19):
        page.get_by_role("slider").fill(str(step))
        patterns = net.patterns("B(())E", step)
        (found,) = patterns["last"].flatten().nonzero().flatten().tolist()[:1]
        page.wait_for_function(f"document.querySelector('.story').textContent.startsWith('After step {step} ')")
        page.wait_for_function(f"document.querySelector('.heads')?.textContent.includes('lastcolumn {found}1')")
        rows = page.locator(".heads tbody tr").evaluate_all(
            "rows => rows.map(r => [...r.children].map(c => c.textContent))"
        )
        for name, _, weights in rows:
            pattern = patterns[name].flatten()
            wanted = pattern[pattern > 0].tolist()
            assert [float(weight) for weight in weights.split(", ")] == pytest.approx(wanted[:3], rel=1e-6)
            shared += len(wanted) > 1
    assert shared > 0  # or nothing was compared


def test_a_word_of_the_kernel_brings_its_machine_back(open_page):
    page, widget = open_page(), Lab(PAPER, "B()E")
    page.add_style_tag(content=widget._css)
    page.evaluate(MODEL, [widget._esm, widget.get_state(["machine", "word", "zoo", "link", "page"])])
    page.wait_for_selector(".turing-lab[data-engine=generated]")
    page.get_by_label("Machine", exact=True).select_option("bb4")
    page.get_by_label("Word", exact=True).fill("x")
    page.evaluate("model.set('word', 'B(())E')")
    assert page.get_by_label("Machine", exact=True).input_value() == "balanced_parentheses"
    run(page)
    ended(page, PAPER, "B(())E")
    page.get_by_label("Word", exact=True).fill("x")
    page.evaluate("model.set('word', 'B)E')")
    assert page.get_by_label("Word", exact=True).get_attribute("aria-invalid") == "false"
    assert "Symbols: " in page.locator(".turing-lab > .hint").text_content()


def test_the_focus_stays_and_the_table_keeps_to_machines_that_a_link_can_hold(open_page):
    page = open_page(lab(turing.zoo["bb3"]))
    page.get_by_label("Machine", exact=True).select_option("")
    page.get_by_label("Rule for state A, reading 0").fill("1LB")
    page.keyboard.press("Tab")
    page.wait_for_selector(".changes td")
    page.evaluate(DRAWN)
    assert page.evaluate(FOCUS) == "Rule for state A, reading 1"
    page.get_by_role("button", name="Remove the state B", exact=True).press("Enter")
    page.wait_for_function(f"({FOCUS}) === 'Table of rules'")
    page.get_by_label("called").fill("foo")
    press(page, "Add")
    page.get_by_label("Rule for state foo, reading 0").wait_for()
    paste(page, TuringMachine([("A", "0", "B", "1", 1), ("B", "0", "B", "1", 1)], "A", set(), "0").dumps("json"))
    page.wait_for_function("document.querySelectorAll('.rules tbody tr').length === 2")
    before = page.get_by_label("The machine as text").input_value()
    page.get_by_label("Rule for state A, reading 0").fill("")
    page.keyboard.press("Tab")
    page.wait_for_selector(".rules [aria-invalid=true]")
    assert page.get_by_label("The machine as text").input_value() == before
    page.get_by_label("Machine", exact=True).select_option("universal")
    if page.locator(".rules").is_hidden():
        page.get_by_text("The table has more than 500 fields.").wait_for()


def test_play_ends_at_the_limit_and_its_button_says_so(open_page):
    page = open_page(lab(turing.zoo["antihydra"]))
    show(page, "Steps")
    page.get_by_label("Most steps").select_option("100")
    page.get_by_label("Speed").select_option("60 a second")
    press(page, "To the end")
    until(page, "limit", step=100)
    press(page, "Back")
    press(page, "Play")
    until(page, "limit", step=100)
    page.get_by_role("button", name="Play", exact=True).wait_for()
    press(page, "Play")
    page.wait_for_function(f"{STEP} < 50")
    press(page, "Pause")
    page.get_by_role("button", name="Play", exact=True).wait_for()
    press(page, "To the end")
    until(page, "limit", step=100)
    page.get_by_role("button", name="Allow 10,000 steps").press("Enter")
    until(page, "limit", step=10_000)
    assert page.evaluate(FOCUS) == "To the end"


@pytest.mark.slow
def test_plain_attention_ends_after_2000_steps_and_any_of_them_can_be_inspected(open_page):
    page = open_page(lab(turing.zoo["antihydra"]))
    show(page, "Steps", "Layers", "Vector")
    page.get_by_label("Most steps").select_option("10,000")
    page.get_by_label("Module", exact=True).select_option("initial")
    page.get_by_label("Numbers", exact=True).select_option("pipeline.initial.null_key")
    page.get_by_label("row", exact=True).select_option("14")
    page.locator(".weights input").first.fill("7.25")
    page.keyboard.press("Tab")
    press(page, "To the end")
    page.wait_for_selector(".turing-lab[data-status=failed][data-engine=plain]", timeout=60_000)
    assert (data(page)["step"], data(page)["mark"]) == ("2000", "good")
    assert "Plain attention goes as far as step 2,000." in page.locator(".status").text_content()
    page.get_by_label("Vector", exact=True).select_option("the column")
    for step in (1999, 1, 1000):
        page.get_by_role("slider").fill(str(step))
        page.wait_for_function(f"{NUMBER} === {step}")


def test_with_text_twice_as_large_the_buttons_hold_their_words(open_page):
    page = open_page(lab(PAPER, "B(())E"), width=360)
    page.add_style_tag(content="html { font-size: 200% }")
    show(page, "Machine", "Steps")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    wide = "all => all.filter(button => button.scrollWidth > button.clientWidth).length"
    assert page.locator(".buttons button").evaluate_all(wide) == 0
