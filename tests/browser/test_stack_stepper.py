"""The SS95 stepper in a real browser: every number held against the library, every sentence against the machine."""

import json
import re
from fractions import Fraction
from itertools import product

import pytest

from pages import MODEL
from turing.cantor import Cantor
from turing.ss import StackNetwork
from turing.stack_machine import StackMachine, balanced
from turing.widgets import StackStepper

BALANCED = balanced()
GROWS = StackMachine(
    {("a", "*", "*"): ("b", "noop", "push 1"), ("b", "*", "*"): ("c", "push 0", "push 0"),
     ("c", "*", "1"): ("b", "pop", "pop"), ("c", "*", "0"): ("a", "push 1", "noop")},
    "a", {"z"}, "01",
)  # fmt: skip
TURNS = StackMachine(  # over to stack 1 and back, each symbol changed
    {("a", "0", "*"): ("a", "pop", "push 0"), ("a", "1", "*"): ("a", "pop", "push 1"),
     ("a", None, "*"): ("b", "noop", "noop"), ("b", "*", "0"): ("b", "push 1", "pop"),
     ("b", "*", "1"): ("b", "push 0", "pop")},
    "a", {"end"}, "01",
)  # fmt: skip
PARITY = StackMachine(
    {("even", "one"): ("odd", "pop"), ("odd", "one"): ("even", "pop"), ("even", None): ("T", "push zero"),
     ("odd", None): ("F", "noop")},
    "even", {"T", "F"}, ["zero", "one"],
)  # fmt: skip
HOSTILE = "</script><b>bold</b>"
NAMED = StackMachine({(HOSTILE, "<i>", "*"): ("<!--" * 9, "pop", "push &amp;")}, HOSTILE, {"end"}, ["<i>", "&amp;"])
STEPPER = ".turing-stack-stepper"
ARITHMETICS = ("float32", "float64", "exact")
NETWORKS = {
    1: [(4, 4, (1, 3)), (1, 10, (5, 9)), (1, 4, (1, 3))],
    2: [(4, 4, (1, 3)), (1, 40, (31, 39)), (1, 16, (11, 15))],
}

# Every vector of the runs on some words, as numbers or, exactly, as integers and their unit.
RUN = """([which, words, arithmetic, limit]) => {
  const network = modules.readNetwork(model.get("networks")[which]), machine = model.get("machine");
  return JSON.stringify(words.map((word) => {
    const bits = word.map((symbol) => machine.symbols.indexOf(symbol));
    const { steps, stopped, status } = modules.runNetwork(network, machine, bits, arithmetic, limit);
    const plain = (n) => (typeof n === "bigint" ? `${n}` : n);
    return { stopped, status, steps: steps.map(({ vectors, state, stacks }) => ({ state, stacks,
      vectors: vectors.map((x) => ({ x: Array.from(x, plain), unit: `${x.unit}` })) })) };
  }));
}"""


@pytest.fixture
def show(modules):
    """Put one stepper after the other on a page, with a model as a kernel has it."""
    page = modules("stack_stepper/run.js").page

    def _show(stepper):
        page.add_style_tag(content=stepper._css)
        names = ["machine", "networks", "max", "word", "step", "layer", "version", "base", "arithmetic"]
        page.evaluate(MODEL, [stepper._esm, json.loads(json.dumps(stepper.get_state(names)))])
        return page

    return _show


def library(net, word, limit):
    """The vectors of a run as the library computes them, by step, and the error that ends it."""
    found, state, steps = [], net.machine.initial, net.follow(word)
    try:
        found.append([net.initial(word)])
        while state not in net.machine.terminal and len(found) <= limit:
            vectors, reading = next(steps)
            if reading.state is None:
                break
            state = reading.state
            found.append(list(vectors.values()))
    except ArithmeticError as error:
        return found, error
    return found, None


def same(shown, vector):
    """A float has every bit that torch gives it; a fraction is the library's."""
    if isinstance(shown["x"][0], str):
        unit = int(shown["unit"])
        return [Fraction(int(n), unit) for n in shown["x"]] == list(vector)
    return shown["x"] == list(vector)


def facts(text):
    """What an error says before it comes to reasons and advice."""
    return re.sub(r"( is|on top|: [\d., ]+|was pushed)[.:] float\d\d has lost digits.*", r"\1", text)


def agrees(page, machine, words, limit=60):
    """Every number of every step is the library's, and the exact one once a float has stopped; the errors of those."""
    stops = {}
    for which, network in enumerate(NETWORKS[machine.p]):
        exact = StackNetwork(machine, *network)
        for arithmetic in ARITHMETICS:
            net = StackNetwork(machine, *network, arithmetic)
            runs = json.loads(page.evaluate(RUN, [which, list(map(list, words)), arithmetic, limit]))
            for word, run in zip(words, runs, strict=True):
                found, error = library(net, word, limit)
                moments, key = list(machine.trace(word, max_steps=limit)), (*network[:2], arithmetic, "".join(word))
                if error:
                    stops[key] = error
                    assert facts(run["stopped"]["text"]) == facts(str(error)), key
                    assert run["stopped"]["kind"] == type(error).__name__, key
                    assert run["stopped"]["step"] == len(found), key
                    found += library(exact, word, limit)[0][len(found) :]
                else:
                    assert run.get("stopped") is None, key
                assert len(run["steps"]) == len(moments) == len(found), key
                assert run["status"] == machine.run(word, max_steps=limit).status
                for step, vectors, now in zip(run["steps"], found, moments, strict=True):
                    assert step["state"] == now.state
                    assert [[machine.symbols[bit] for bit in stack] for stack in step["stacks"]] == list(
                        map(list, now.stacks)
                    )
                    assert len(step["vectors"]) == len(vectors)
                    assert all(map(same, step["vectors"], vectors)), (key, now.step)
    return stops


def test_on_every_word_up_to_length_6_every_number_of_every_step_is_the_librarys(show):
    words = ["".join(word) for n in range(7) for word in product("()", repeat=n)]
    assert len(words) == 127
    stops = agrees(show(StackStepper()), BALANCED, words)
    assert stops.keys() == {(1, 40, "float32", word) for word in words if len(word) > 4}
    assert {type(error).__name__ for error in stops.values()} == {"DepthError"}


def test_deep_words_are_the_librarys_too_and_floats_stop_before_the_first_step(show):
    nests = ["(" * n + ")" * n for n in (6, 7, 13, 14)]
    stops = agrees(show(StackStepper()), BALANCED, [*nests, "(" * 9, "()" * 13, ")" * 27, "(" * 30 + ")" * 30], 80)
    depths = {(v, b, a): Cantor(b, d, a).depth for v, b, d in NETWORKS[2] for a in ("float32", "float64")}
    for (version, base, arithmetic, word), error in stops.items():
        assert len(word) > depths[version, base, arithmetic] or type(error) is ArithmeticError
    assert (4, 4, "float32", nests[3]) in stops
    assert (4, 4, "float32", nests[0]) not in stops
    assert (4, 4, "float64", nests[2]) not in stops


def test_a_float_stops_in_the_middle_of_a_run_at_the_step_of_the_library(show):
    words = ["".join(word) for n in range(3) for word in product("01", repeat=n)]
    stops = agrees(show(StackStepper("0", GROWS)), GROWS, words)
    assert len({re.search(r"At step (\d+), on stack", str(error))[1] for error in stops.values()}) > 10
    assert {key[2] for key in stops} == {"float32", "float64"}
    agrees(show(StackStepper("0", TURNS)), TURNS, words, 20)
    stops = agrees(
        show(StackStepper(["one"], PARITY)), PARITY, [["one"] * n for n in range(16)] + [["one", "zero"]], 20
    )
    assert min(len(key[3]) for key in stops if key[:3] == (1, 4, "float32")) == len("one" * 13)


# What is on the page at every step and every layer.
WALK = """() => {
  const root = document.querySelector(".turing-stack-stepper"), one = (selector) => root.querySelector(selector);
  const all = (selector) => [...root.querySelectorAll(selector)], text = (selector) => one(selector).textContent;
  return JSON.stringify(Array.from({ length: Number(one("[type=range]").max) + 1 }, (_, step) => {
    model.set("step", step);
    const layers = all("[data-layer]:not(:disabled)").map(({ dataset: { layer } }) => {
      model.set("layer", layer);
      return { name: layer, title: text(".title"), equation: [text(".names"), text(".names + p")],
        picked: all(".picked").map(({ dataset }) => dataset.name),
        places: all(".place").map(({ dataset, classList, firstChild }) =>
          [dataset.name, dataset.value, firstChild.textContent, classList.contains("changed")]) };
    });
    return { layers, where: text(".where"), rule: text(".status"), meter: text(".meter p"), lost: text(".lost"),
      arithmetic: root.dataset.arithmetic, now: one("[role=meter]").ariaValueNow,
      numbers: all(".number").map(({ dataset, textContent }) => [dataset.value, textContent]),
      off: all(".off").map(({ textContent }) => textContent),
      stacks: all(".slots").map((slots) => [...slots.querySelectorAll(".slot:not(.free) b")].map((b) => b.innerText)) };
  }));
}"""


def in_words(machine, now, after):
    """A rule as a reader would say it, from the machine's table alone."""
    rule = machine.rules[(now.state, *now.tops)]
    tops = [f"nothing on stack {i}" if top is None else f"{top} on top of stack {i}" for i, top in enumerate(now.tops)]
    done = [
        {"noop": f"leave stack {i}", "pop": f"pop stack {i}"}.get(kind, f"push {symbol} on stack {i}")
        for i, (kind, symbol) in enumerate(rule[1:])
    ]
    verb = "stay in" if after.state == now.state else "go to"
    return f"{now.state}, {', '.join(tops)}: {', '.join(done)}; {verb} {after.state}."


def number(text):
    return Fraction(text) if "/" in text else float(text)


def read(text):
    return float(text.replace("−", "-"))


WALKS = [
    (BALANCED, "(())", 4, None, "float32"), (BALANCED, "())", 4, None, "exact"), (BALANCED, "(()", 1, 40, "float32"),
    (BALANCED, "()()", 1, 40, "float64"), (BALANCED, "((", 1, 16, "float32"), (BALANCED, "(()", 1, 16, "exact"),
    (BALANCED, "(((())))", 1, 16, "float32"), (BALANCED, "(())", 1, 40, "float32"),
    (PARITY, ["one", "one"], 4, None, "float32"),
    (PARITY, ["one"], 1, 10, "float32"), (PARITY, ["one"], 1, 4, "exact"), (TURNS, "01", 1, 40, "float64"),
]  # fmt: skip


def test_at_every_step_and_layer_the_page_shows_numbers_rule_stacks_and_headroom(show):
    for machine, word, version, base, arithmetic in WALKS:
        stepper = StackStepper(word, machine, version, arithmetic, base)
        walked(json.loads(show(stepper).evaluate(WALK)), stepper)


def walked(seen, stepper):
    machine, word, arithmetic = stepper.machine, stepper.word, stepper.arithmetic
    moments, depth = list(machine.trace(word)), stepper._network(arithmetic).code.depth
    found, error = library(stepper._network(arithmetic), word, 300)
    exact, _ = library(stepper._network("exact"), word, 300)
    names = ["column", *stepper._network("exact").layers]
    assert len(seen) == len(moments) == len(exact)
    before = None
    for t, (shown, now, right) in enumerate(zip(seen, moments, exact, strict=True)):
        stopped = t >= len(found)
        vectors = right if stopped else found[t]
        assert shown["arithmetic"] == ("exact" if stopped else arithmetic)
        assert [layer["name"] for layer in shown["layers"]] == names[: len(vectors)]
        for n, (layer, vector) in enumerate(zip(shown["layers"], vectors, strict=True)):
            values = {name: number(value) for name, value, _, _ in layer["places"]}
            assert list(values.values()) == list(vector)
            changed = (
                [old != new for old, new in zip(before[n], vector, strict=True)] if before and n < len(before) else []
            )
            assert [place[3] for place in layer["places"]] == (changed or [False] * len(vector))
            if changed:
                says = f"{sum(changed)} of {len(vector)} places changed" if any(changed) else "as in the step before"
                assert says in layer["title"]
            (picked,) = layer["picked"]
            assert layer["equation"][0].startswith(f"{picked} = ")
            if n:
                assert read(layer["equation"][1].split(" = ")[-1]) == pytest.approx(float(values[picked]), rel=1e-2)
            for _, value, text, _ in layer["places"]:
                assert read(text.lstrip("≈")) == pytest.approx(float(number(value)), abs=0.5 if "≈" in text else 1e-8)
                assert ("≈" in text) <= (float(number(value)) not in (0, 1))
        before = vectors
        assert shown["stacks"] == [list(stack) for stack in now.stacks]
        net = stepper._network("exact" if stopped else arithmetic)
        assert [number(value) for value, _ in shown["numbers"]] == [
            x if isinstance(x, float) else Fraction(x) for x in net.stacks(vectors[-1])
        ]
        codes = [
            Cantor(net.code.base, net.code.digits).encode(map(machine.symbols.index, stack)) for stack in now.stacks
        ]
        for (_, text), off, value, code in zip(
            shown["numbers"], shown["off"], net.stacks(vectors[-1]), codes, strict=True
        ):
            assert str(code) in re.split(" [=≈] ", text)
            assert ("off by" in off) == (Fraction(value) != code)
            if off:
                assert read(off.split()[-1]) == pytest.approx(abs(value - float(code)), rel=0.1)
        last = t == len(moments) - 1
        status = machine.run(word).status
        tops = " ".join("–" if top is None else top for top in (now.state, *now.tops))
        end = {"halted": " · halted", "jammed": f" · jammed: there is no rule for {tops}"}[status]
        assert shown["where"] == f"Step {t} of {len(moments) - 1} · state {now.state}{end if last else ''}"
        start = f"The word is on stack 0, its first symbol on top, and the state is {now.state}."
        assert shown["rule"] == (in_words(machine, moments[t - 1], now) if t else start)
        deepest = max(map(len, now.stacks))
        has = f"The deepest stack has {['none', '1 symbol'][deepest] if deepest < 2 else f'{deepest} symbols'}"
        if stopped:
            assert facts(shown["lost"]) == facts(f"{type(error).__name__}: {error}")
            assert shown["meter"].startswith(
                f"{arithmetic} stopped {f'at step {len(found)}' if found else 'before the first step'}"
            )
            assert shown["now"] == "0"
        elif depth is None:
            bits = (net.code.base**deepest - 1).bit_length()
            assert shown["meter"] == f"No end. {has}{f', {bits} bits' if deepest else ''}."
        else:
            assert shown["meter"] == f"{depth - deepest} of {depth} symbols left. {has}."
            assert shown["now"] == str(depth - deepest)
        assert bool(shown["lost"]) == stopped


def data(page):
    return page.locator(STEPPER).first.evaluate("({dataset}) => ({...dataset})")


def press(page, name):
    page.get_by_role("button", name=name, exact=True).first.click()


def test_clicks_keys_and_the_slider_go_through_steps_and_layers(open_page):
    page = open_page(StackStepper("(())"), StackStepper())
    seen = lambda: (int(data(page)["step"]), data(page)["layer"], data(page)["state"], data(page)["status"])  # noqa: E731
    assert seen() == (0, "column", "I", "running")
    for name, step in [("Back", 0), ("Step", 1), ("Step", 2), ("Back", 1), ("End", 5), ("Step", 5), ("Start", 0)]:
        press(page, name)
        assert seen()[0] == step
    press(page, "End")
    assert seen() == (5, "F3", "T", "halted")
    page.locator("[data-layer=F2]").first.click()
    root = page.locator(STEPPER).first
    root.focus()
    for key, step, layer in [
        ("ArrowLeft", 4, "F2"), ("ArrowDown", 4, "F1"), ("ArrowDown", 5, "column"), ("ArrowUp", 4, "F1"),
        ("Home", 0, "column"), ("ArrowUp", 0, "column"), ("ArrowDown", 1, "column"), ("ArrowUp", 0, "column"),
        ("ArrowRight", 1, "F1"), ("End", 5, "F1"), ("ArrowRight", 5, "F1"), ("Control+ArrowLeft", 5, "F1"),
    ]:  # fmt: skip
        page.keyboard.press(key)
        assert seen()[:2] == (step, layer), key
    slider = page.get_by_role("slider", name="Step of the run").first
    slider.fill("2")
    slider.press("ArrowRight")
    assert seen()[:2] == (3, "F1")
    assert slider.get_attribute("aria-valuetext") == "3 of 5"
    assert page.locator(".says").first.text_content() == (
        "Step 3 of 5, state R. R, ) on top of stack 0, ( on top of stack 1: pop stack 0, pop stack 1; stay in R."
    )
    assert page.locator(".says").first.get_attribute("aria-live") == "polite"
    assert page.locator(STEPPER).last.get_attribute("data-step") == "0"


def test_a_place_shows_its_row_of_the_layer_with_names_and_with_numbers(open_page):
    page = open_page(StackStepper("(())"))
    press(page, "Step")
    names, numbers = page.locator(".equation .names"), page.locator(".equation .names + p")
    assert names.text_content() == "rule[I ( –] = σ(st[I] − one[0] + some[0] − some[1] − 1)"
    assert numbers.text_content() == "= σ(1 + 1 − 1) = 1"
    page.locator("[data-name='rule[R ) (]']").click()
    assert names.text_content() == "rule[R ) (] = σ(st[R] + one[0] − one[1] + some[1] − 2)"
    assert numbers.text_content() == "= σ(−2) = 0"
    page.locator("[data-layer=F2]").click()
    page.get_by_role("combobox", name="Equation of a place").select_option("push0[1]")
    assert names.text_content().endswith("+ 1/4·q[1] + 1/4)")
    assert numbers.text_content() == "= σ(1/4) = 0.25"
    press(page, "Step")
    assert numbers.text_content() == "= σ(1/4·0.25 + 1/4) = 0.3125"
    page.locator("[data-layer=F3]").click()
    assert names.text_content().startswith("rule[R ) (] = ")  # each layer keeps the place that was chosen
    press(page, "1 layer, base 16")
    assert data(page)["layer"] == "step"
    page.get_by_role("combobox", name="Equation of a place").select_option("pop[0]")
    assert names.text_content().endswith("places that are 0)")
    assert numbers.text_content().endswith(f"= {15 / 16 + 15 / 256}")


def test_a_typed_word_runs_from_its_start_and_a_wrong_one_is_named(open_page, address):
    page = open_page(StackStepper("(())"), address=address)
    press(page, "End")
    field, hint = page.get_by_label("Word"), page.locator(".hint")
    assert hint.text_content() == "Symbols: ( ). Try more than 12 of them."
    field.fill("()(")
    assert (data(page)["step"], page.locator(".slot:not(.free)").count()) == ("0", 3)
    press(page, "End")
    assert page.locator(".where").text_content() == "Step 4 of 4 · state F · halted"
    for typed, says in [
        ("(x)", "Symbol 'x' is not one of this machine's: ( ). The last good word stays."),
        ("(" * 121, "A word has at most 120 symbols here, and this one has 121. The last good word stays."),
    ]:
        field.fill(typed)
        assert hint.text_content() == says
        assert field.get_attribute("aria-invalid") == "true"
        assert page.locator(".where").text_content() == "Step 4 of 4 · state F · halted"
    press(page, "float64")
    assert hint.text_content() == says
    for key in ("Home", "ArrowRight", "End"):
        field.press(key)  # they move in the text
    assert data(page)["step"] == "4"
    field.fill(" " + "(" * 27)
    assert field.get_attribute("aria-invalid") == "false"
    assert hint.text_content() == "Symbols: ( )."
    assert (
        page.locator(".lost")
        .text_content()
        .startswith("DepthError: A stack of 27 symbols was asked for, and float64 holds 26")
    )
    field.fill("")
    press(page, "End")
    assert page.locator(".where").text_content() == "Step 1 of 1 · state T · halted"


def test_switches_change_network_and_arithmetic_and_keep_the_step(open_page):
    page = open_page(StackStepper("(((((((((((()"))
    for _ in range(3):
        press(page, "Step")
    meter, lost, over = page.locator(".meter p").first, page.locator(".lost"), page.locator(".slot.over")
    assert meter.text_content() == "float32 stopped before the first step, on stack 0. The page goes on exactly."
    assert over.count() == 1
    for arithmetic, network, says, layer in [
        ("float64", "4 layers, base 4", "16 of 26 symbols left. The deepest stack has 10 symbols.", "F3"),
        ("exact", "4 layers, base 4", "No end. The deepest stack has 10 symbols, 20 bits.", "F3"),
        ("exact", "1 layer, base 40", "No end. The deepest stack has 10 symbols, 54 bits.", "step"),
        ("float64", "1 layer, base 16", "3 of 13 symbols left. The deepest stack has 10 symbols.", "step"),
        (
            "float64",
            "1 layer, base 40",
            "float64 stopped before the first step, on stack 0. The page goes on exactly.",
            "step",
        ),
        (
            "float32",
            "4 layers, base 4",
            "float32 stopped before the first step, on stack 0. The page goes on exactly.",
            "F1",
        ),
    ]:
        press(page, arithmetic)
        press(page, network)
        assert meter.text_content() == says
        assert (data(page)["step"], data(page)["layer"]) == ("3", layer)
        assert lost.is_visible() == ("stopped" in says)
        pressed = page.locator(".choice [aria-pressed=true]").all_text_contents()
        assert pressed == [arithmetic, network]


def test_a_kernel_moves_the_widget_and_hears_of_the_reader(show):
    stepper = StackStepper("()")
    page = show(stepper)
    page.evaluate("model.set('step', 2), model.set('layer', 'F1'), model.set('arithmetic', 'exact')")
    assert (data(page)["step"], data(page)["layer"], data(page)["arithmetic"]) == ("2", "F1", "exact")
    page.evaluate("model.set('word', '(())'), model.set('version', 1)")  # base and layer come in messages of their own
    assert data(page)["layer"] == "step"
    page.evaluate("model.set('base', 40), model.set('layer', 'column')")
    assert page.get_by_label("Word").input_value() == "(())"
    assert page.locator(".choice [aria-pressed=true]").all_text_contents() == ["exact", "1 layer, base 40"]
    assert page.evaluate("model.saved.length") == 0
    press(page, "1 layer, base 16")
    press(page, "float64")
    press(page, "Step")
    page.get_by_label("Word").fill("(")
    press(page, "Step")
    press(page, "step 53")
    saved = page.evaluate("model.saved.at(-1)")
    names = ("word", "step", "layer", "version", "base", "arithmetic")
    assert [saved[name] for name in names] == ["(", 1, "step", 1, 16, "float64"]
    stepper.set_state({name: saved[name] for name in names})
    assert [getattr(stepper, name) for name in names] == ["(", 1, "step", 1, 16, "float64"]
    page.evaluate("model.set('step', 99)")
    assert data(page)["step"] == "2"
    page.evaluate("window.cleanup()")


def test_wide_pages_put_the_stacks_beside_each_other_and_steps_keep_the_height(open_page):
    page = open_page(StackStepper("(()())"), width=760)
    first, second = (page.locator(".stack").nth(i).bounding_box() for i in range(2))
    assert first["y"] == second["y"]
    press(page, "Step")
    heights = set()
    for _ in range(6):
        heights.add(page.locator(STEPPER).bounding_box()["height"])
        press(page, "Step")
    assert len(heights) == 1


def test_colours_are_those_of_states_symbols_and_scratch_and_follow_the_theme(open_page):
    page = open_page(StackStepper("(())"))
    press(page, "Step")
    colour = "selector => getComputedStyle(document.querySelector(selector)).color"
    selectors = (".where .q", ".slot:not(.free) b", ".slice[data-slice=rule] > p b", ".slice[data-slice=q] > p b")
    expected = {"light": ("179, 68, 14", "0, 103, 168", "99, 99, 107", "0, 103, 168"),
                "dark": ("255, 155, 99", "108, 184, 240", "169, 171, 181", "108, 184, 240")}  # fmt: skip
    for theme, colours in expected.items():
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        assert [page.evaluate(colour, selector) for selector in selectors] == [f"rgb({part})" for part in colours]


def test_hostile_names_are_shown_as_text(open_page):
    page = open_page(StackStepper(["<i>", "<i>"], NAMED))
    press(page, "Step")
    assert (
        page.locator(".where").text_content()
        == f"Step 1 of 1 · state {'<!--' * 9} · jammed: there is no rule for {'<!--' * 9} <i> &amp;"
    )
    assert page.locator("b:text-is('bold')").count() == 0
