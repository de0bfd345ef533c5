"""The Python side of the lab: what it hands to a page, and what it refuses."""

import gzip
import json
import re
from pathlib import Path

import pytest
import torch
import traitlets

import turing
from turing import TuringMachine
from turing.widgets import Lab, Stepper
from turing.widgets.base import Widget

PAPER = turing.zoo["balanced_parentheses"]
HOSTILE = "</script><b>bold</b>"
FOLDER = Path(turing.widgets.__file__).parent


def html(widget):
    Widget.new_page()
    return widget._repr_mimebundle_(include=None, exclude=None)[0]["text/html"]


def test_without_arguments_it_is_the_machine_of_the_book():
    lab = Lab()
    assert (lab.machine, lab.word, lab.link, lab.page) == (PAPER, "", False, "")
    assert repr(lab) == "Lab(<TuringMachine: 6 states, 5 symbols, 11 rules>, '')"
    assert repr(Lab(PAPER, "B()E")) == repr(Lab(PAPER, "B()E"))


def test_the_page_carries_the_machine_the_word_and_the_zoo():
    state = json.loads(
        re.search(r"const state = (.*), listeners", html(Lab(PAPER, "B()E", link=True, page="lab.html")))[1]
    )
    assert set(state) == {"machine", "word", "zoo", "link", "page"}
    assert (state["word"], state["link"], state["page"]) == ("B()E", True, "lab.html")
    assert state["machine"] == Stepper(PAPER).get_state("machine")["machine"]
    assert [entry["name"] for entry in state["zoo"]] == list(turing.zoo)


def test_the_words_of_the_menu_are_the_samples_of_the_zoo_and_fit_their_machines():
    for entry in Lab().zoo:
        machine, samples = turing.zoo[entry["name"]], turing.zoo.entry(entry["name"]).samples
        assert entry["steps"] == max(sample.steps or 0 for sample in samples)
        for word, sample in zip(entry["words"], samples, strict=True):
            single = all(len(symbol) == 1 for symbol in machine.symbols)
            assert machine.tape(word if single else word.split()) == machine.tape(sample.word)


def test_nothing_but_text_goes_into_the_page():
    for path in (FOLDER / "lab").glob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text)


def test_the_lab_is_small():
    """The strip of modules, the arcs, the state diagram and the tests for words are a fifth of its own code; runs of
    any length, fast and in bounded memory, are another."""
    assert sum(path.stat().st_size for path in (FOLDER / "lab").glob("*.*s")) < 135_000
    assert len(Lab._esm) < 260_000  # with the prover, which is 40,000 of them
    assert len(gzip.compress(html(Lab(PAPER, "B(())E")).encode())) < 95_000


def test_the_fallback_has_the_rules_and_the_result_with_names_escaped():
    text = Lab(PAPER, "B()E").fallback()
    assert text.count("<tr>") == len(PAPER.delta) + 1
    assert "halted in state T after 9 steps" in text
    hostile = TuringMachine([(HOSTILE, "_", HOSTILE, "<i>", 1)], HOSTILE, set(), "_")
    page = html(Lab(hostile))
    assert "<b>bold" not in page
    assert "<i>" not in page.split('turing-fallback">')[1]


def test_the_fallback_says_what_a_halt_means():
    for word, verdict in [("B()E", "balanced"), ("B)(E", "not balanced")]:
        for widget in (Lab(PAPER, word), Stepper(PAPER, word)):
            assert f"not blank. The verdict: {verdict}. With scripts on" in widget.fallback()
    assert "verdict" not in Lab(PAPER, "()").fallback()


def test_a_machine_that_runs_on_is_followed_up_to_a_limit():
    assert "limit in state" in Lab(turing.zoo["bb5"]).fallback()


def test_bad_input_is_refused_in_words():
    with pytest.raises(TypeError, match="Lab takes a TuringMachine, and 'bb4' was given"):
        Lab("bb4")
    with pytest.raises(ValueError, match=r"Symbol 'x' .* is not in this machine's alphabet"):
        Lab(PAPER, "Bx")
    with pytest.raises(traitlets.TraitError):
        Lab(PAPER, link="yes")


def test_the_word_can_be_set_and_what_does_not_fit_is_refused():
    lab = Lab(PAPER, "B()E")
    lab.word = ["B", "E"]
    assert lab.word == "BE"
    with pytest.raises(ValueError, match="alphabet"):
        lab.word = "nonsense"
    assert lab.word == "BE"
    assert Lab(turing.zoo["rock_paper_scissors"], ["rock", "paper"]).word == ["rock", "paper"]


def test_the_fault_that_the_page_sets_is_seen_by_the_proof_and_not_by_the_run():
    page = json.loads((Path(__file__).parent.parent / "book/lab.ipynb").read_text(encoding="utf-8"))
    (text,) = ("".join(cell["source"]) for cell in page["cells"] if cell["id"] == "what")
    assert all(part in text for part in ("row `st[F]`", "`det[M B]` to 0", "`B)`"))
    network = turing.compile(PAPER, "wcm21", T=1000, adder="lookahead")
    carry = network.pipeline["carry"]
    before, after = carry.layouts
    with torch.no_grad():
        carry.weight[after.st["F"], before.det["M B"]] = 0
    assert turing.verify(network, PAPER, ["B(())E", "B(()E"]).divergences == ()
    assert "'B)'" in str(turing.prove(network))
