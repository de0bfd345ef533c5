"""The queue wheel in a real browser, held against the network in Python."""

from math import atan2, degrees

import pytest
import torch

import turing
from pages import MODEL
from turing.queue import LiWang25
from turing.widgets import QueueWheel

SHOWN = """root => {
  const text = (node) => node.textContent.trim(), all = (selector) => [...root.querySelectorAll(selector)];
  return {
    ...root.dataset, says: text(root.querySelector(".account")), cost: text(root.querySelector(".cost")),
    cells: all(".face text").map(text), numbers: all(".number").map(text),
    head: all(".face").findIndex((node) => node.matches(".head")), marks: all(".face.mark").length,
    state: text(root.querySelector(".state")), best: all("tbody tr").map((row) => [...row.children].map(text)),
    turned: getComputedStyle(root.querySelector(".hand")).transform,
  };
}"""
STAYS = turing.TuringMachine(
    {("A", "_"): ("B", "1", 0), ("B", "1"): ("A", "1", 1), ("A", "1"): ("H", "_", -1)}, "A", {"H"}, "_"
)


def seen(page):
    return page.locator(".turing-queue-wheel").first.evaluate(SHOWN)


def press(page, name):
    page.get_by_role("button", name=name, exact=True).first.click()


@pytest.mark.parametrize(
    ("machine", "word", "window"),
    [("balanced_parentheses", "B()E", 6), ("balanced_parentheses", "B)E", 4), ("bb2", "", 5), (STAYS, "_1", 3)],
    ids=str,
)
def test_every_token_and_its_logits_are_those_of_the_network_in_python(open_page, machine, word, window):
    machine = turing.zoo[machine] if isinstance(machine, str) else machine
    network = LiWang25(machine).within(window)
    run, cache = network.run_with_cache(word)
    page = open_page(QueueWheel(word, window, machine=machine), reduced_motion="reduce")
    assert seen(page)["last"] == str(run.micro_steps)
    values = network.pipeline["oldest"].value
    for token, (logits, said) in enumerate(zip(cache["unembed"], cache["argmax"], strict=True), start=1):
        press(page, "Step")
        shown, best = seen(page), dict(zip(network.vocabulary, logits.tolist(), strict=True))
        assert (shown["token"], shown["said"]) == (str(token), network.vocabulary[said.argmax()])
        top = sorted(best.values(), reverse=True)[:3]
        assert [float(logit.replace("−", "-")) for _, logit in shown["best"]] == top
        assert all(best[name] == float(logit.replace("−", "-")) for name, logit in shown["best"])
        rows = values(torch.cat([network.encode(word), cache["column"], cache["embed"][-1:]]))
        window_now = [
            "⊥" if not row[:-1].any() else machine.symbols[row[:-1].argmax()] for row in rows[token : token + window]
        ]
        assert [shown["cells"][(token + k) % window] for k in range(window)] == window_now
        assert shown["head"] == token % window
    assert shown["status"] == run.status
    assert shown["steps"] == str(run.steps)


def test_the_wheel_of_b_pair_e_goes_round(open_page):
    page = open_page(QueueWheel("B()E"), reduced_motion="reduce")
    shown = seen(page)
    assert shown["cells"] == list("B()EEE")
    assert shown["numbers"] == ["0", "1", "2", "3", "4", "5"]
    for _ in range(3):
        press(page, "Step")
    shown = seen(page)
    assert shown["says"] == (
        "In state R the tape head reads ) on cell 2. The rule writes * and goes left. ⊥ marks where the round begins, "
        "and * is held."
    )
    assert (shown["cells"], shown["marks"], shown["head"]) == (list("B(⊥EEE"), 1, 3)
    for _ in range(5):
        press(page, "Step")
    shown = seen(page)
    assert shown["says"].endswith("the round is over after 6 tokens. Under the tape head is what is held, (.")
    assert shown["cells"] == list("EB⊥*EE")
    assert shown["numbers"] == ["5", "0", "", "2", "3", "4"]
    assert shown["cost"] == "2 to the right + 1 × 6 in rounds = 8 tokens"
    press(page, "End")
    shown = seen(page)
    assert shown["says"].endswith("The machine halts after 9 steps: balanced.")
    assert shown["cost"] == "5 to the right + 4 × 6 in rounds = 29 tokens"
    assert (shown["state"], shown["status"]) == ("T", "halted")


def test_the_hand_turns_by_a_cell_for_each_token_and_cells_flip_unless_the_reader_wants_no_motion(open_page):
    for motion, moves in (("no-preference", True), ("reduce", False)):
        page = open_page(QueueWheel("B()E"), reduced_motion=motion)
        press(page, "Step")
        count = page.evaluate("document.getAnimations().filter(({effect}) => effect.target.closest('svg')).length")
        assert (count > 0) is moves
        page.evaluate("document.getAnimations().forEach(animation => animation.finish())")
        a, b, *_ = map(float, seen(page)["turned"].removeprefix("matrix(").removesuffix(")").split(","))
        assert degrees(atan2(b, a)) == pytest.approx(60)


def test_a_wheel_that_is_too_small_is_named_with_the_step_as_the_library_names_it(open_page):
    machine = turing.zoo["bb2"]
    page = open_page(QueueWheel("", 2, machine=machine), reduced_motion="reduce")
    press(page, "End")
    shown = seen(page)
    with pytest.raises(turing.CapacityError, match=r"^At step 3 .* Give window=3 or more"):
        LiWang25(machine).run("", window=2)
    assert shown["status"] == "full"
    assert shown["says"].endswith(
        "This was step 3, and a wheel of 2 cells has no room for the cells −1 to 1. Take 3 cells."
    )
    page.get_by_label("Cells of the wheel").fill("4")
    press(page, "End")
    assert seen(page)["status"] == "halted"


def test_a_jam_is_said_as_nothing(open_page):
    page = open_page(QueueWheel(""), reduced_motion="reduce")
    press(page, "End")
    shown = seen(page)
    assert (shown["said"], shown["status"]) == ("∅", "jammed")
    assert shown["says"] == "There is no rule for state I and E. The network says ∅, and the machine has jammed."


def test_a_word_is_typed_and_one_that_does_not_fit_is_refused(open_page):
    page = open_page(QueueWheel("B()E", token=5))
    field = page.get_by_label("Word")
    field.fill("B)E")
    assert (seen(page)["token"], len(seen(page)["cells"])) == ("0", 5)
    for word, message in (("Bx", "Symbol 'x'"), ("B" + "(" * 17, "16 symbols at most")):
        field.fill(word)
        assert message in page.locator(".word .hint").inner_text()
        assert len(seen(page)["cells"]) == 5


def test_keys_walk_through_the_run(open_page):
    page = open_page(QueueWheel("B()E", token=3))
    page.locator(".account").click()
    for key, token in (("ArrowRight", "4"), ("ArrowLeft", "3"), ("End", "29"), ("Home", "0")):
        page.keyboard.press(key)
        assert seen(page)["token"] == token


def test_a_kernel_hears_of_the_reader_and_moves_the_widget(open_page):
    page, widget = open_page(), QueueWheel("B()E")
    page.evaluate(MODEL, [widget._esm, widget.get_state()])
    press(page, "Step")
    saved = page.evaluate("model.saved.at(-1)")
    widget.set_state({key: saved[key] for key in ("word", "window", "token")})
    assert widget.token == 1
    page.evaluate("model.set('token', 7)")
    assert seen(page)["token"] == "7"
