"""The weight reader in a real browser: the page runs the machine by the weights, held against the interpreter."""

import random

import pytest
from every_widget import LONG, PAPER

import turing
from turing.dnf import Transition
from turing.layout import Layout, state_vector
from turing.widgets import WeightReader

RUN = """(file, machine, word) => {
  const {rows, status} = modules.runBy(modules.read(file), machine, word, 300);
  return [status, rows.map(({state, head, read}) => [state, head, read])];
}"""


def reader(machine, word="", bits=2):
    return WeightReader(Transition(machine, state_vector(machine, bits)), machine, word)


@pytest.mark.parametrize("name", ["balanced_parentheses", "bb4", "binary_increment", "unary_addition", "anbncn"])
def test_the_weights_run_the_machine_as_the_interpreter_does(name, modules):
    machine, entry = turing.zoo[name], turing.zoo.entry_of(turing.zoo[name])
    call = modules("weight_reader/widget.js", "page/network.js")
    for word in [sample.word for sample in entry.samples][:4]:
        state = reader(machine, word).get_state(["network", "machine"])
        status, rows = call(RUN, state["network"], state["machine"], list(machine.tape(word).values()))
        run = machine.run(word, max_steps=300)
        assert status == run.status
        assert rows == [[now.state, now.head, now.symbol] for now in run.trace]


def seen(page):
    root = page.locator(".turing-weight-reader")
    return {part: root.locator(f".{part}").inner_text() for part in ("status", "story", "reading")}


def test_each_step_lights_the_detector_that_fires(open_page):
    page = open_page(reader(PAPER, "B()E"))
    shown = page.get_by_role("application").locator(".matrix")
    for now in PAPER.trace("B()E"):
        status = seen(page)["status"]
        assert f"st[{now.state}] and sym1[{now.symbol}] are 1" in status
        rule = PAPER.delta.get((now.state, now.symbol))
        if rule:
            assert f"det[{now.state} {now.symbol}] fires, and out come st[{rule[0]}] sym2[{rule[1]}]" in status
            assert shown.first.locator(".fires").count() == 1
            assert shown.last.locator(".fires").count() == 2 + (rule[2] != 0)
        page.get_by_role("button", name="Step", exact=True).click()
    assert status.endswith("The machine has halted in T: balanced.")


def test_a_click_on_a_cell_shows_the_weight_that_made_it(open_page):
    word, pick = "B(())E", random.Random(0)
    page = open_page(reader(PAPER, word))
    trace = list(PAPER.trace(word))
    page.get_by_role("button", name="End", exact=True).click()
    for step in pick.sample(range(1, len(trace)), 2):
        page.get_by_role("slider", name="Step of the run").fill(str(step))
        for cell in range(-1, len(word)):
            page.locator(f'.cell[data-cell="{cell}"]').click()
            told, symbol = seen(page), trace[step].cells.get(cell, PAPER.blank)
            assert told["story"].startswith(f"Cell {cell} holds {symbol}".replace("-", "−"))
            writers = [t for t in range(step) if trace[t].head == cell]
            if not writers:
                assert told["story"].endswith("no weight made it.")
                continue
            before = trace[writers[-1]]
            assert f": step {writers[-1] + 1} wrote it." in told["story"]
            detector = f"det[{before.state} {before.symbol}]"
            assert f"{detector} fired, and its weight to sym2[{symbol}] is 1." in told["story"]
            assert told["reading"].startswith(f"Row sym2[{symbol}], column {detector}: 1.")
            assert told["reading"].endswith("= 1")


def test_by_keys_alone_a_cell_is_chosen_and_a_square_is_read(open_page):
    page = open_page(reader(PAPER, "B()E"))
    page.get_by_role("slider", name="Step of the run").fill("6")
    page.get_by_role("group", name="Tape").focus()
    page.keyboard.press("Enter")
    head = list(PAPER.trace("B()E"))[6].head
    assert seen(page)["story"].startswith(f"Cell {head} holds ")
    page.keyboard.press("ArrowRight")
    assert seen(page)["story"].startswith(f"Cell {head + 1} holds ")
    page.get_by_role("application").focus()
    page.keyboard.press("Home")
    assert seen(page)["reading"].startswith("Row st[I], column st[I]: 1.")


def test_the_reader_types_a_word_and_a_mistake_is_named(open_page):
    page = open_page(reader(PAPER, "B()E"))
    page.get_by_label("Word").fill("B)E")
    page.get_by_role("button", name="End", exact=True).click()
    assert "The machine has halted in F: not balanced." in seen(page)["status"]
    page.get_by_label("Word").fill("Bx")
    assert "Symbol 'x' (cell 1 of the word) is not in this machine's alphabet" in page.locator(".hint").inner_text()


def test_a_machine_of_long_names_jams_with_a_message(open_page):
    layout = Layout(st=LONG.states, sym1=LONG.symbols, sym2=LONG.symbols, scr5=["R", "L"])
    page = open_page(WeightReader(Transition(LONG, layout), LONG, ["one"]))
    page.get_by_role("button", name="End", exact=True).click()
    last = list(LONG.trace(["one"]))[-1]
    end = {"halted": f"has halted in {last.state}.", "jammed": f"no rule for ({last.state}, {last.symbol})."}
    assert seen(page)["status"].endswith(end[LONG.run(["one"]).status])
