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
PANELS = ["Machine", "Steps", "Space–time", "Vector", "Attention", "Layers", "Many words", "Take it away"]

lab = cache(Lab)

VERDICTS = {"T": "halted in T: balanced", "F": "halted in F: not balanced"}

SHOWN = """root => ({...root.dataset, cells: Object.fromEntries([...root.querySelectorAll(".cell")].map(
  cell => [cell.dataset.cell, cell.dataset.symbol])), head: Number(root.querySelector(".cell.head").dataset.cell)})"""


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
    press(page, "Run")
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
    assert (shown["step"], shown["ones"], shown["mark"], shown["engine"]) == ("107", "13", "good", "indexed")
    assert page.locator(".agreement").text_content() == "✓ network = machine, 107 steps"
    assert "halted, 13 cells not blank" in page.locator(".status").text_content()


FORMATS = {"bbchallenge": ("bb4", ""), "turingmachine.io": ("binary_increment", "1011"), "json": ("parity", "1011")}


@pytest.mark.parametrize("format", [*FORMATS, "morphett"])
def test_a_machine_of_each_format_runs(format, open_page):
    name, word = FORMATS.get(format, ("binary_increment", "1011"))
    machine = turing.zoo[name]
    text = turing.formats.fit(machine, format).dumps(format) if format == "morphett" else machine.dumps(format)
    machine, page = TuringMachine.parse(text), open_page(lab())
    paste(page, text)
    page.get_by_label("Word").fill(word)
    press(page, "Run")
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
    tab_to("Run")
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
    ("machine", "word"), [(PAPER, "B(()())E"), (PAPER, "B(B"), (LONG, ("one", "one")), (turing.zoo["bb3"], "")]
)
def test_every_step_there_and_back_shows_the_configuration_of_the_interpreter(machine, word, open_page):
    page, trace = open_page(lab(machine, word)), list(machine.trace(word))
    for name, steps in (("Step", trace[1:]), ("Back", trace[-2::-1])):
        for now in steps:
            press(page, name)
            page.wait_for_selector(f".turing-lab[data-step='{now.step}']:not([data-status=running])")
            shown = page.locator(".turing-lab").evaluate(SHOWN)
            tape = {int(cell): symbol for cell, symbol in shown["cells"].items() if symbol != machine.blank}
            assert (shown["state"], shown["head"], tape) == (now.state, now.head, now.tape)
            assert shown["ones"] == str(len(now.tape))
    assert data(page)["step"] == "0"


def test_a_machine_that_jams_says_for_what_it_has_no_rule(open_page):
    page = open_page(lab(PAPER, "B(B"))
    press(page, "Run")
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
    press(page, "Run")
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
    press(page, "Run")
    until(page, "limit", step=100)
    assert "not halted after 100 steps" in page.locator(".status").text_content()
    press(page, "Allow 10,000 steps")
    assert until(page, "limit", step=10_000)["mark"] == "good"


def test_a_long_run_is_paused_and_goes_on(open_page):
    page = open_page(lab(turing.zoo["bb2x4"]))
    press(page, "Run")
    page.wait_for_function("Number(document.querySelector('.turing-lab').dataset.step) > 1000")
    press(page, "Pause")
    at = int(until(page, "paused")["step"])
    assert at < 3_932_964
    press(page, "Step")
    assert until(page, "paused", step=at + 1)["mark"] == "good"
    show(page, "Steps", "Space–time")
    press(page, "Run")
    page.wait_for_function(f"Number(document.querySelector('.turing-lab').dataset.step) > {at + 1000}")
    press(page, "Start")
    assert until(page, "paused", step=0)["state"] == "A"


def test_a_run_stops_at_a_state_or_a_cell(open_page):
    page = open_page(lab(PAPER, "B(())E"))
    show(page, "Steps")
    page.get_by_label("Stop in state").select_option("M")
    press(page, "Run")
    first = next(now for now in PAPER.trace("B(())E") if now.state == "M")
    until(page, "breakpoint", step=first.step, state="M")
    page.get_by_label("Stop in state").select_option("none")
    page.get_by_label("Stop on cell").fill("4")
    page.keyboard.press("Enter")
    press(page, "Run")
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
    press(page, "Run")
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
    press(page, "Run")
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
    with torch.no_grad():
        net.pipeline[module].weight[place, net.layout_of(before).names().index(column)] = value
    (found,) = turing.verify(net, machine, [""]).divergences
    mark = page.locator(".agreement").text_content()
    assert f"step {found.step}, layer {found.layer}, slice {found.slice}: " in mark
    assert found.place in mark
    press(page, "Put it back")
    page.wait_for_selector(".turing-lab[data-mark=good]")
    press(page, "Run")
    until(page)
    ended(page, machine)


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
    page.wait_for_selector(".turing-lab[data-engine=indexed]")


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
    show(page, "Space–time")
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
        for _ in range(step):
            press(page, "Step")
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


@pytest.mark.parametrize("kind", LINKS)
def test_a_hostile_link_is_shown_as_text_or_refused(kind, open_page, address):
    page, asked = open_page(lab(PAPER, "B()E", link=True), address=address), []
    page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    follow(page, f"#m={quote(LINKS[kind], safe='')}&w=&t=3")
    page.wait_for_selector(".turing-lab:not([data-status=running])")
    show(page, *PANELS)
    assert page.locator(".turing-lab img, .turing-lab script, .turing-lab details b b").count() == 0
    assert asked == []
    if kind == "a script in a state name":
        until(page, "jammed" if NAMED.run("", 3).status == "jammed" else "paused")
        assert data(page)["state"] == list(NAMED.trace("", 3))[-1].state
    else:
        assert "The link cannot be followed." in page.locator(".turing-lab > .hint").text_content()
        run(page)
        ended(page, PAPER, "B()E")


@pytest.mark.parametrize(
    "hash", ["#m=bb4&w=xyz&t=3", "#m=%E0%A4%A&w=", "#m=bb4&t=-1", "#m=bb4&t=1e99", "#x", "#m=bb4&w=1&t=NaN"]
)
def test_a_broken_link_leaves_a_lab_that_works(hash, open_page, address):
    page = open_page(lab(PAPER, "B()E", link=True), address=address)
    follow(page, hash)
    press(page, "Run")
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


def test_the_first_view_is_small_and_nothing_moves(open_page):
    page = open_page(lab(PAPER, "B(())E"), width=360, height=640, reduced_motion="reduce")
    top = page.locator(".turing-lab").bounding_box()
    assert top["height"] < 640
    before = page.locator(".buttons").bounding_box()
    run(page)
    assert page.locator(".buttons").bounding_box() == before
    assert page.locator("details[open]").count() == 0
    moving = """[...document.querySelectorAll('.turing-widget, .turing-widget *')].map(e => getComputedStyle(e))
        .filter(s => s.transitionDuration !== '0s' || s.animationName !== 'none').length"""
    assert page.evaluate(moving) == 0


def test_two_labs_of_a_page_run_on_their_own_and_link_to_the_lab_page(open_page):
    page = open_page(Lab(page="lab.html"), Lab(turing.zoo["bb4"]))
    page.get_by_role("button", name="Run").last.click()
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
    page.wait_for_selector(".turing-lab[data-engine=indexed]")
    page.evaluate("model.set('word', 'B(())E')")
    assert page.get_by_label("Word", exact=True).input_value() == "B(())E"
    run(page)
    ended(page, PAPER, "B(())E")
    page.get_by_label("Word", exact=True).fill("B)E")
    assert page.evaluate("model.saved.at(-1).word") == "B)E"
    page.evaluate("async () => (await cleanup)()")


def test_what_is_changed_in_the_middle_of_a_run_takes_effect(open_page):
    page = open_page(lab(turing.zoo["bb2x4"]))
    show(page, "Steps", "Layers", "Many words", "Space–time")
    far = "Number(document.querySelector('.turing-lab').dataset.step) > 2000"
    press(page, "Run")
    page.wait_for_function(far)
    page.get_by_label("Machine", exact=True).select_option("bb4")
    until(page, "ready", step=0)
    run(page)
    ended(page, turing.zoo["bb4"])
    page.get_by_label("Machine", exact=True).select_option("bb2x4")
    until(page, "ready", step=0)
    press(page, "Run")
    page.wait_for_function(far)
    page.get_by_label("compare with the plain interpreter").uncheck()
    page.wait_for_selector(".turing-lab[data-mark=off]:not([data-status=running])")
    assert int(data(page)["step"]) > 2000
    press(page, "Run")
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
        press(page, "Run")
        until(page, "breakpoint", step=now.step, state="C")
    page.get_by_label("Stop on cell").fill("3")
    page.keyboard.press("Tab")
    page.get_by_label("Machine", exact=True).select_option("bb2x4")
    page.wait_for_function("document.querySelector('[data-panel=Steps] [type=number]').value === ''")
    press(page, "Run")
    page.wait_for_function(f"{STEP} > 2000")
    page.get_by_label("Stop in state").select_option("B")
    assert until(page, "breakpoint", state="B")["mark"] == "good"


def test_an_anchor_of_the_page_is_left_alone(open_page, address):
    page = open_page(lab(PAPER, "B()E", link=True), address=address)
    follow(page, "#one-matrix")
    page.wait_for_timeout(300)
    assert page.url.endswith("#one-matrix")
    page.get_by_label("Machine", exact=True).select_option("bb4")
    run(page)
    page.wait_for_function("location.hash === '#m=bb4&w=&t=107'")
    page.evaluate("location.hash = '#the-file'")
    page.wait_for_timeout(300)
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
    page = open_page(lab(turing.zoo["bb2x4"]))
    show(page, "Steps", "Vector", "Layers")
    press(page, "Step")
    page.wait_for_function(f"{NUMBER} === 1")
    press(page, "Run")
    page.wait_for_function(f"{STEP} > 20000")
    title = "document.querySelector('.vector .hint').textContent"
    assert page.evaluate(f"[{title}, {NUMBER}]") == ["Column 1", 1]
    assert "Values of step 1" in page.locator("[data-panel=Layers] .hint").all_text_contents()
    press(page, "Step")
    at = int(until(page, "paused")["step"])
    page.wait_for_timeout(300)
    assert data(page) | {"step": str(at), "status": "paused"} == data(page)
    page.wait_for_function(f"{NUMBER} === {at}")
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
    press(page, "Run")
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
    press(page, "Run")
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
    page.wait_for_selector(".turing-lab[data-engine=indexed]")
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
    page.wait_for_timeout(100)
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
    press(page, "Run")
    until(page, "limit", step=100)
    press(page, "Back")
    press(page, "Play")
    until(page, "limit", step=100)
    page.get_by_role("button", name="Play", exact=True).wait_for()
    press(page, "Play")
    page.wait_for_function(f"{STEP} < 50")
    page.locator("[data-panel=Steps]").get_by_role("button", name="Pause", exact=True).click()
    page.get_by_role("button", name="Play", exact=True).wait_for()
    press(page, "Run")
    until(page, "limit", step=100)
    page.get_by_role("button", name="Allow 10,000 steps").press("Enter")
    until(page, "limit", step=10_000)
    assert page.evaluate(FOCUS) == "Run"


def test_plain_attention_ends_after_2000_steps_and_any_of_them_can_be_inspected(open_page):
    page = open_page(lab(turing.zoo["antihydra"]))
    show(page, "Steps", "Layers", "Vector")
    page.get_by_label("Most steps").select_option("10,000")
    page.get_by_label("Module", exact=True).select_option("initial")
    page.get_by_label("Numbers", exact=True).select_option("pipeline.initial.null_key")
    page.get_by_label("row", exact=True).select_option("14")
    page.locator(".weights input").first.fill("7.25")
    page.keyboard.press("Tab")
    press(page, "Run")
    page.wait_for_selector(".turing-lab[data-status=failed][data-engine=plain]", timeout=60_000)
    assert (data(page)["step"], data(page)["mark"]) == ("2000", "good")
    assert "Plain attention goes as far as step 2,000." in page.locator(".status").text_content()
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
