"""The first thing of the book in a real browser: every number is the network's, and a broken weight is named as verify
names it."""

import json
from functools import cache

import pytest
import torch

import turing
from pages import MODEL
from turing.widgets import LockStep
from turing.widgets.lock_step.widget import MAX_STEPS

PAPER = turing.zoo["balanced_parentheses"]
TASK = "It checks whether parentheses match."


@cache
def network(name="balanced_parentheses"):
    return turing.compile(turing.zoo[name], "wcm21", T=MAX_STEPS, adder="lookahead")


@cache
def lock_step(name, word):
    return LockStep(turing.zoo[name], word, page="lab.html", task=TASK)


SHOWN = """root => {
  const texts = (part) => [...root.querySelectorAll(part)].map((node) => node.textContent);
  const [tape] = root.querySelectorAll(".strip"), cells = [...tape.querySelectorAll(".cell")];
  const rows = [...root.querySelectorAll(".past g")].map((row) => [...row.querySelectorAll("text")]);
  return {
    step: Number(root.dataset.step), state: root.dataset.state, head: Number(root.dataset.head),
    tape: cells.map((cell) => [Number(cell.dataset.cell), cell.dataset.symbol]),
    heads: cells.filter((cell) => cell.matches(".head")).map((cell) => [Number(cell.dataset.cell), cell.dataset.on]),
    fired: [...root.querySelectorAll(".column")].map(({ dataset }) => [dataset.rule, Number(dataset.value)]),
    sent: texts(".value"), says: texts(".says-so").join(" "), status: root.querySelector(".status").textContent,
    named: root.querySelector(".strip .titled").textContent,
    past: rows.map((row) => row.map((text) => text.textContent)),
    inked: rows.map((row) => row.slice(2).findIndex((text) => text.matches(".head"))),
  };
}"""


def seen(page):
    return page.locator(".turing-lock-step").evaluate(SHOWN)


def press(page, *names):
    for name in names:
        page.get_by_role("button", name=name, exact=True).click()


@cache
def followed(name, word):
    """The configurations of a run in torch, and what the heads found at each pass, as the widget says it."""
    net, layout = network(name), network(name).layout
    trace, (_, kept) = list(net.trace(word)), net.run_with_cache(word)
    said = [""]
    for now, *found in zip(trace[1:], kept["visited"], kept["last.pattern"], kept["initial.pattern"], strict=True):
        visited, last, initial = found
        cell, first = f"attention: cell {now.head}?".replace("-", "−"), int(initial.argmax())
        if visited[layout.scr4["visited"]]:
            said.append(f"{cell} step {int(last.argmax())} was here last")
        else:
            said.append(f"{cell} new: the word says {word[first]}" if first < len(word) else f"{cell} new: blank")
    return trace, kept, said


WALK = f"""root => {{
  const shown = {SHOWN}, all = [], buttons = [...root.querySelectorAll("button")];
  const named = (name) => buttons.find(({{ textContent }}) => textContent === name);
  named("Start").click();
  for (all.push(shown(root)); root.dataset.status === "running"; all.push(shown(root))) named("Step").click();
  return all;
}}"""
RUNS = [("balanced_parentheses", word) for word in ("B(())E", "B)(E", "B(()E", "B()()E")] + [("bb3", "")]


@pytest.mark.parametrize(("name", "word"), RUNS)
def test_every_number_is_the_one_that_the_network_gives_in_torch(name, word, open_page):
    net, machine = network(name), turing.zoo[name]
    page = open_page(lock_step(name, word), reduced_motion="reduce")
    (trace, kept, said), walked = followed(name, word), page.locator(".turing-lock-step").evaluate(WALK)
    before, after = net.layout_of("detect").names(), net.layout_of("carry").names()
    cells = range(min(0, *(now.head for now in trace)), max(len(word) - 1, *(now.head for now in trace)) + 1)
    for now, shown in zip(trace, walked, strict=True):
        assert (shown["step"], shown["state"], shown["head"]) == (now.step, now.state, now.head)
        assert shown["heads"] == [[now.head, now.state]]
        assert {cell: symbol for cell, symbol in shown["tape"] if symbol != machine.blank} == now.tape
        assert shown["status"].startswith(f"step {now.step} · network = machine ✓")
        rows = [trace[int(row[0])] for row in shown["past"]]
        assert rows[-1] is now
        assert len(rows) == min(20, now.step + 1)
        for row, ink, then in zip(shown["past"], shown["inked"], rows, strict=True):
            assert row[1:] == [then.state, *(then.cells.get(cell, machine.blank) for cell in cells)]
            assert ink == then.head - cells[0]
        assert shown["says"] == said[now.step]
        task = turing.zoo.entry(name).tasks.get(now.state)
        assert shown["named"] == (f"the tape; state {now.state} {task}" if task else "the tape")
        if now.step:
            detected, sent = kept["detect"][now.step - 1].tolist(), kept["carry"][now.step - 1].tolist()
            assert shown["fired"] == [[n, x] for n, x in zip(before, detected, strict=True) if x and n[:3] == "det"]
            parts = [n for n, x in zip(after, sent, strict=True) if x == 1 and n.startswith(("st[", "sym2[", "scr5["))]
            assert shown["sent"] == [n.split("[")[1][:-1] for n in parts]
    run = machine.run(word)
    assert run == net.run(word)
    assert f"halted in {run.state}" in walked[-1]["status"]


def test_the_weights_are_those_of_the_network(open_page):
    net = network()
    page = open_page(lock_step("balanced_parentheses", "B(())E"), reduced_motion="reduce")
    W, columns = net.get_parameter("pipeline.carry.weight"), net.layout_of("detect")
    labels = page.locator("[role=gridcell]").evaluate_all("all => all.map(e => e.getAttribute('aria-label'))")
    expected = [
        f"{q} reading {a}, to {name}: {W[row, columns.det[f'{q} {a}']]:g}"
        for row, name in enumerate(net.layout_of("carry").names())
        if name.startswith(("st[", "sym2[", "scr5["))
        for q, a in PAPER.delta
    ]
    assert labels == expected
    squares = page.locator(".matrix .w").count()
    assert squares == sum(label.endswith(": 1") for label in labels) == 3 * len(PAPER.delta)


BREAKS = [("R", ")", "st", "M"), ("R", "(", "sym2", "("), ("I", "B", "scr5", "R"), ("M", "(", "st", "V"),
          ("V", "B", "st", "T"), ("R", "E", "sym2", "*"), ("M", "*", "scr5", "R")]  # fmt: skip


def test_a_broken_weight_is_named_by_the_step_the_module_and_the_slice_that_verify_names(open_page):
    net = turing.compile(PAPER, "wcm21", T=MAX_STEPS, adder="lookahead")
    weight, parted = net.get_parameter("pipeline.carry.weight"), 0
    page = open_page(lock_step("balanced_parentheses", "B(())E"), reduced_motion="reduce")
    root = page.locator(".turing-lock-step")
    for word in ("B(())E", "B(E"):
        page.get_by_label("Your word").fill(word)
        for q, a, part, label in BREAKS:
            place = net.layout_of("carry")[part][label], net.layout_of("detect").det[f"{q} {a}"]
            with torch.no_grad():
                weight[place] = 1 - weight[place]
                report = turing.verify(net, PAPER, [word])
                weight[place] = 1 - weight[place]
            page.locator(f"[role=gridcell][aria-label^='{q} reading {a}, to {part}[{label}]']").click()
            assert root.get_attribute("data-mark") == ("good" if report else "bad")
            if report:
                assert "not missed" in root.locator(".about").inner_text()
            else:
                (theirs,), shown, parted = report.divergences, seen(page), parted + 1
                assert shown["status"] == (
                    f"step {theirs.step} · network ≠ machine ✗ module {theirs.layer}, slice {theirs.slice}: "
                    f"{theirs.place} is {theirs.given:g} instead of {theirs.expected:g}"
                )
                assert shown["step"] == theirs.step
                assert root.locator(".strip .titled").all_inner_texts() == ["machine", "network"]
                now = list(PAPER.trace(word))[theirs.step]
                assert {cell: symbol for cell, symbol in shown["tape"] if symbol != PAPER.blank} == now.tape
            press(page, "Put the weights back")
            assert root.get_attribute("data-mark") == "good"
            assert root.locator(".strip").filter(visible=True).count() == 1
    assert len(BREAKS) < parted < 2 * len(BREAKS)


def test_two_changes_make_another_machine_and_its_tape_goes_its_own_way(open_page):
    """With the state after (R, ")") moved from M to R, the network goes on, and the machine beside it does too."""
    other = turing.TuringMachine({**PAPER.delta, ("R", ")"): ("R", "*", -1)}, "I", PAPER.halting, "E")
    page = open_page(lock_step("balanced_parentheses", "B(())E"), reduced_motion="reduce")
    for state in "MR":
        page.locator(f"[aria-label^='R reading ), to st[{state}]']").click()
    own = list(other.trace("B(())E"))
    theirs = list(PAPER.trace("B(())E"))
    strips = page.locator(".strip")
    for step in range(4, len(own)):
        assert seen(page)["step"] == step
        heads = strips.locator(".head").evaluate_all("all => all.map(e => [Number(e.dataset.cell), e.dataset.on])")
        assert heads == [[run[step].head, run[step].state] for run in (theirs, own)]
        press(page, "Step")


def test_a_word_of_ones_own_gets_its_ends_and_a_wrong_one_is_refused(open_page):
    page = open_page(lock_step("balanced_parentheses", "B(())E"), reduced_motion="reduce")
    field, hint = page.get_by_label("Your word"), page.locator(".turing-lock-step .hint")
    for typed, word in (("()", "B()E"), ("B(()E", "B(()E"), ("())", "B())E"), ("", "BE")):
        field.fill(typed)
        page.locator(".turing-lock-step").press("End")
        run, shown = PAPER.run(word), seen(page)
        assert (shown["step"], shown["state"], shown["head"]) == (run.steps, run.state, run.head)
        verdict = {"T": "balanced", "F": "not balanced"}[run.state]
        assert shown["status"].endswith(f"network = machine ✓ halted in {run.state}: {verdict}")
        assert hint.inner_text() == ("Symbols: E B ( ) *" if typed == word else f"It runs as {word}.")
        assert f"&w={word}" in page.get_by_role("link", name="Open it in the lab").get_attribute("href").replace(
            "%28", "("
        ).replace("%29", ")")
    for typed, message in (("x", "Symbol 'x'"), ("(" * 15, "17 symbols was given, and 16 fit here. The lab takes")):
        field.fill(typed)
        assert message in hint.inner_text()
        assert field.get_attribute("aria-invalid") == "true"
        assert seen(page)["step"] == PAPER.run("BE").steps


def test_a_long_run_keeps_the_row_that_answered(open_page):
    word = "B((((()))))E"
    page = open_page(lock_step("balanced_parentheses", word), reduced_motion="reduce")
    page.locator(".turing-lock-step").press("End")
    _, _, said = followed("balanced_parentheses", word)
    for step in range(len(said) - 1, 60, -4):
        shown = seen(page)
        rows = [int(row[0]) for row in shown["past"]]
        assert (shown["step"], shown["says"], rows[-1]) == (step, said[step], step)
        assert len(rows) <= 20
        if "step" in shown["says"]:
            assert int(shown["says"].split("step ")[1].split()[0]) in rows
        for _ in range(4):
            page.keyboard.press("ArrowLeft")


def test_a_jam_is_told(open_page):
    page = open_page(lock_step("balanced_parentheses", "B()E"), reduced_motion="reduce")
    page.get_by_label("Your word").fill("BB")
    page.locator(".turing-lock-step").press("End")
    assert "both jam, as there is no rule for (R, B)" in seen(page)["status"]


def test_it_plays_once_when_it_comes_into_view_and_ends_at_the_halt(open_page):
    page = open_page(lock_step("balanced_parentheses", "B(E"), stopped=True)
    root = page.locator(".turing-lock-step")
    page.wait_for_function("document.querySelector('.turing-lock-step').dataset.beat === '1'")
    assert root.get_by_role("button", name="Pause").count() == 1
    beats, steps = [], []
    for _ in range(60):
        beats.append(int(root.get_attribute("data-beat")))
        steps.append(int(root.get_attribute("data-step")))
        page.clock.run_for(180)
    run = PAPER.run("B(E")
    assert set(beats) == {1, 2, 3, 4}
    assert steps == sorted(steps)
    assert steps[-1] == run.steps
    assert root.get_by_role("button", name="Play").count() == 1
    page.mouse.wheel(0, 2000)
    page.mouse.wheel(0, -2000)
    page.clock.run_for(3000)
    assert int(root.get_attribute("data-step")) == run.steps


def test_a_step_lights_sends_moves_and_looks_up_in_this_order(open_page):
    page = open_page(lock_step("balanced_parentheses", "B(())E"), stopped=True)
    root = page.locator(".turing-lock-step")
    page.wait_for_function("document.querySelector('.turing-lock-step').dataset.beat === '1'")
    press(page, "Pause")
    for _ in range(2):
        press(page, "Step")
        page.clock.run_for(3000)
    found = {}
    press(page, "Step")
    while (beat := int(root.get_attribute("data-beat"))) not in found:
        shown = seen(page)
        found[beat] = (
            len(shown["fired"]), page.locator(".wire").count(), shown["head"], shown["says"], shown["status"][:6],
        )  # fmt: skip
        page.clock.run_for(250)
    before, after = "attention: cell 3? new: the word says )", "attention: cell 2? step 2 was here last"
    assert found == {
        1: (1, 0, 3, before, "step 3"), 2: (1, 3, 3, before, "step 3"), 3: (1, 3, 2, "", "step 3"),
        4: (1, 3, 2, after, "step 4"),
    }  # fmt: skip


def test_everything_can_be_done_with_the_keyboard_alone(open_page):
    page = open_page(lock_step("balanced_parentheses", "B(())E"), reduced_motion="reduce")
    root, keys = page.locator(".turing-lock-step"), page.keyboard
    keys.press("Tab")
    assert root.evaluate("root => document.activeElement === root")
    keys.press("Home")
    keys.press("ArrowRight")
    keys.press("ArrowRight")
    assert seen(page)["step"] == 2
    keys.press("ArrowLeft")
    assert seen(page)["step"] == 1
    while not page.evaluate("document.activeElement.matches('[role=gridcell]')"):
        keys.press("Tab")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "Enter"):
        keys.press(key)
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").endswith("to st[M]: 0, broken")
    assert "network ≠ machine ✗ module carry, slice st: st[M] is 0 instead of 1" in seen(page)["status"]
    keys.press(" ")
    assert root.get_attribute("data-mark") == "good"
    keys.press("Tab")
    assert page.evaluate("document.activeElement.matches('input')")
    keys.press("Control+A")
    keys.type("()")
    keys.press("Tab")
    assert page.evaluate("document.activeElement.href").endswith("#m=balanced_parentheses&w=B()E&t=0")


def test_with_reduced_motion_nothing_moves_and_the_first_view_says_it_all(open_page):
    page = open_page(lock_step("balanced_parentheses", "B(())E"), reduced_motion="reduce")
    shown = seen(page)
    assert (shown["step"], shown["says"]) == (4, "attention: cell 2? step 2 was here last")
    assert (shown["sent"], len(shown["fired"])) == (["M", "*", "L"], 1)
    assert page.locator(".turing-lock-step .task").inner_text() == TASK
    press(page, "Step", "Step")
    assert page.evaluate("document.getAnimations().length") == 0
    assert seen(page)["step"] == 6


SHIFTS = """() => new Promise((done) => {
  const found = [];
  new PerformanceObserver((list) => found.push(...list.getEntries())).observe({ type: "layout-shift", buffered: true });
  requestAnimationFrame(() => setTimeout(() => done(found.map(({ value }) => value)), 0));
})"""


@pytest.mark.parametrize("width", [360, 768, 1440])
def test_nothing_shifts_when_the_widget_takes_the_place_of_the_picture_and_while_it_plays(width, open_page):
    page = open_page(lock_step("balanced_parentheses", "B(E"), width=width)
    page.wait_for_function("document.querySelector('.turing-lock-step').dataset.beat === '3'")
    assert page.evaluate(SHIFTS) == []


def test_in_a_kernel_word_and_step_go_both_ways(open_page):
    page, widget = open_page(reduced_motion="reduce"), lock_step("balanced_parentheses", "B()E")
    state = {key: getattr(widget, key) for key in ("file", "entry", "name", "task", "page", "word", "step")}
    page.evaluate(MODEL, [widget._esm, json.loads(json.dumps(state))])
    page.evaluate("model.set('word', 'B(E')")
    page.evaluate("model.set('step', 2)")
    now = list(PAPER.trace("B(E"))[2]
    shown = seen(page)
    assert (shown["step"], shown["state"], shown["head"]) == (2, now.state, now.head)
    press(page, "Step")
    assert page.evaluate("model.saved.at(-1).step") == 3
    page.get_by_label("Your word").fill("()")
    assert page.evaluate("[model.saved.at(-1).word, model.saved.at(-1).step]") == ["B()E", 0]
    page.evaluate("window.cleanup()")


def test_a_cell_of_the_tape_leads_to_the_weights_that_made_it(open_page):
    """At the end of a run: for each cell the rule of the last step on it is lit, as torch has it."""
    word = "B(())E"
    page, (trace, kept, _) = (
        open_page(lock_step("balanced_parentheses", word), reduced_motion="reduce"),
        followed("balanced_parentheses", word),
    )
    root = page.locator(".turing-lock-step")
    root.focus()
    page.keyboard.press("End")
    names, heads = network().layout_of("detect").names(), [now.head for now in trace[:-1]]
    for cell in (0, 2, 4, 5):
        page.locator(f".strip:first-child [data-cell='{cell}']").click()
        wrote = max(t for t, head in enumerate(heads) if head == cell)
        fired = kept["detect"][wrote].tolist()
        lit = [[n, x] for n, x in zip(names, fired, strict=True) if x and n[:3] == "det"]
        assert seen(page)["fired"] == lit
        rule = f"({trace[wrote].state}, {trace[wrote].symbol})"
        holds = trace[-1].cells.get(cell, "E")
        told = f"Cell {cell} holds {holds}: step {wrote + 1} wrote it. Lit: the rule {rule}."
        assert root.locator(".about").text_content() == told
    page.keyboard.press("ArrowRight")  # the tape has the focus after a click
    assert root.locator(".about").text_content() == "Cell 6 holds E, the blank. No step wrote here."
    assert seen(page)["step"] == len(trace) - 1
    root.focus()
    page.keyboard.press("ArrowLeft")
    assert root.locator(".about").text_content().startswith("Click a weight to break it")
    assert page.locator(".cell.chosen").count() == 0
