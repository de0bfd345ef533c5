"""The circuit tape in a real browser, held against the network in Python."""

import pytest
import torch

from pages import MODEL
from turing.circuits import Circuit, GateByGate
from turing.widgets import CircuitTape

ADDER = Circuit(
    "a b c",
    {
        "n1": ("NAND", "a", "b"), "n2": ("NAND", "a", "n1"), "n3": ("NAND", "b", "n1"), "x": ("NAND", "n2", "n3"),
        "n4": ("NAND", "x", "c"), "n5": ("NAND", "x", "n4"), "n6": ("NAND", "c", "n4"),
        "sum": ("NAND", "n5", "n6"), "carry": ("NAND", "n1", "n4"),
    },
)  # fmt: skip
SHOWN = """root => {
  const text = (node) => node.textContent.trim(), all = (selector) => [...root.querySelectorAll(selector)];
  return {
    ...root.dataset, says: text(root.querySelector(".account")), limits: text(root.querySelector(".choice + .label")),
    results: text(root.querySelector(".results")), rows: all("tbody tr").map((row) => [...row.children].map(text)),
    bits: all("li .bit").map(text), names: all("li .name").map(text), read: all("li.read .name").map(text),
    newest: all("li.newest .name").map(text), wrong: all("li.wrong .name").map(text), first: root.dataset.wrong,
    arcs: all("path").map(({ dataset }) => [Number(dataset.head), Number(dataset.to), Number(dataset.share)]),
  };
}"""


def seen(page, n=0):
    return page.locator(".turing-circuit-tape").nth(n).evaluate(SHOWN)


def press(page, name):
    page.get_by_role("button", name=name, exact=True).first.click()


@pytest.mark.parametrize("kappa", [9999, 4, 1, 0.5])
def test_tokens_shares_and_what_the_heads_find_are_those_of_the_library(open_page, kappa):
    network = GateByGate(ADDER, kappa)
    page, state = open_page(CircuitTape(ADDER, "110", 0, kappa)), network.start(["110"])
    for gate, wire in enumerate(range(3, 12), start=1):
        press(page, "Step")
        with torch.no_grad():
            state = network.step(state)
        patterns, found = network._patterns(state), state.vectors["second"][0]
        shown = seen(page)
        assert shown["gate"] == str(gate)
        assert shown["tokens"] == "".join(map(str, network._tokens(state)[0].tolist()))
        assert (shown["newest"], shown["bits"][wire]) == ([ADDER.name(wire)], shown["tokens"][-1])
        for k, name in enumerate(("first", "second")):
            asked = ADDER.gates[gate - 1][1 + k]
            arcs = {to: share for head, to, share in shown["arcs"] if head == k + 1}
            assert arcs == pytest.approx(
                {to: share for to, share in enumerate(patterns[name].tolist()) if share >= 0.005}
            )
            assert shown["rows"][k][1] == f"{asked}, {ADDER.name(asked)}"
            assert float(shown["rows"][k][4]) == pytest.approx(found[network.layout[f"bit{k + 1}"][0]].item(), abs=1e-3)
        if kappa == 9999:
            assert len(shown["arcs"]) == 2
            assert set(shown["read"]) == {ADDER.name(read) for read in ADDER.gates[gate - 1][1:]}


def test_inputs_are_flipped_and_the_sum_follows(open_page):
    page = open_page(CircuitTape(ADDER, "000", 9))
    for name, results in (("a", "sum = 1, carry = 0"), ("b", "sum = 0, carry = 1"), ("c", "sum = 1, carry = 1")):
        page.get_by_role("button", name=f"{name} is 0. Flip it.").click()
        assert sorted(seen(page)["results"].removeprefix("Known so far: ").rstrip(".").split(", ")) == sorted(
            results.split(", ")
        )
    assert seen(page)["tokens"] == "".join(map(str, ADDER.values("111")))


def test_a_small_kappa_gives_wrong_tokens_and_says_which_is_the_first(open_page):
    network = GateByGate(ADDER, 0.5)
    network.check = lambda: None
    found = {f"{k:03b}": (network.tokens([f"{k:03b}"])[0].tolist(), ADDER.values(f"{k:03b}")) for k in range(8)}
    faults = {word: [wire for wire in range(12) if mine[wire] != right[wire]] for word, (mine, right) in found.items()}
    word, wrong = max(faults.items(), key=lambda item: len(item[1]))
    page = open_page(CircuitTape(ADDER, word, 9))
    assert seen(page)["limits"] == "Each head looks at one token, with a share of exactly 1."
    press(page, "4")
    assert "argmax still chooses the right ones" in seen(page)["limits"]
    press(page, "0.5")
    shown = seen(page)
    assert shown["wrong"] == [ADDER.name(wire) for wire in wrong]
    assert len(wrong) > 1
    assert f"{len(wrong)} tokens of 9 on this input are wrong; the first is token {wrong[0]}." in shown["limits"]


def test_keys_walk_through_the_gates(open_page):
    page = open_page(CircuitTape(ADDER, "101", 3))
    page.locator(".account").click()
    for key, gate in (("ArrowRight", "4"), ("ArrowLeft", "3"), ("End", "9"), ("Home", "0")):
        page.keyboard.press(key)
        assert seen(page)["gate"] == gate
    assert seen(page)["arcs"] == []


def test_attention_is_purple_and_tokens_are_blue_in_both_themes(open_page):
    page = open_page(CircuitTape(ADDER, "101", 6))
    style = "([selector, name]) => getComputedStyle(document.querySelector(selector))[name]"
    expected = {"light": ("138, 63, 148", "0, 103, 168"), "dark": ("217, 154, 227", "108, 184, 240")}
    for theme, (purple, blue) in expected.items():
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        for selector, name, colour in ((".tape path", "stroke", purple), ("li.known .bit", "color", blue)):
            assert page.evaluate(style, [selector, name]) == f"rgb({colour})"


def test_a_kernel_hears_of_the_reader_and_moves_the_widget(open_page):
    page, widget = open_page(), CircuitTape(ADDER, "101")
    page.evaluate(MODEL, [widget._esm, widget.get_state()])
    press(page, "Step")
    press(page, "4")
    page.get_by_role("button", name="b is 0. Flip it.").click()
    saved = page.evaluate("model.saved.at(-1)")
    widget.set_state({key: saved[key] for key in ("word", "gate", "kappa")})
    assert (widget.word, widget.gate, widget.kappa) == ("111", 1, 4)
    page.evaluate("model.set('gate', 7)")
    assert seen(page)["gate"] == "7"
