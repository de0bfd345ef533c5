"""The exercise that goes through the book, done as a student does it: chapter by chapter, and pasted at the end."""

import runpy
from functools import cache
from pathlib import Path
from textwrap import dedent

import nbformat
import pytest
import torch

import turing
from turing.exercises import first_failure
from turing.exercises.own_network import PARTS, assemble, plain_gate

ROOT = Path(__file__).parent.parent
CHAPTERS = {
    "gates": "own_gate",
    "dnf": "own_transition",
    "adders": "own_adder",
    "hard-attention": "own_head",
    "wcm21": "own_network",
}
BALANCED = turing.zoo["balanced_parentheses"]


def solution(chapter):
    """The cell in which a student has solved the chapter's part."""
    cells = nbformat.read(ROOT / "book" / f"{chapter}.ipynb", as_version=4).cells
    (found,) = [c.source for c in cells if c.id.startswith("own-") and "solution" in c.metadata.get("tags", [])]
    return found


def solved(text):
    """What a cell defines, in a kernel of its own."""
    kernel = {"turing": turing}
    exec(text, kernel)
    return kernel


@cache
def parts():
    """The five parts of a student, by name, each from the kernel of its chapter."""
    early = [solved(solution(chapter))[name]() for chapter, name in list(CHAPTERS.items())[:-1]]
    return dict(zip(PARTS, [*early, solved(solution("wcm21"))["own_step"]()], strict=True))


def own_network(**given):
    """The last answer, with these parts and no others."""

    def answer():
        return [given.get(name) for name in PARTS]

    answer.__name__ = "own_network"
    return answer


def wrong_parts():
    """Chapter, name of the part and the wrong part, for each wrong answer of an earlier chapter."""
    for chapter, exercise in list(CHAPTERS.items())[:-1]:
        every = runpy.run_path(str(ROOT / "tests" / "wrong_answers" / f"{chapter}.py"))
        for name, answer in every.items():
            if name.startswith(f"{exercise}__"):
                answer.__name__ = exercise
                yield pytest.param(exercise.removeprefix("own_"), answer, id=name)


def test_the_parts_that_the_last_chapter_assembles_are_those_of_the_exercises():
    cells = nbformat.read(ROOT / "book" / "wcm21.ipynb", as_version=4).cells
    (assembled,) = [cell.source for cell in cells if cell.id == "w09p"]
    inside = []
    for chapter in list(CHAPTERS)[:-1]:
        body = solution(chapter).partition("turing.check")[0].partition("():\n")[2]
        inside.append(dedent(body.rpartition("\n\n    return ")[0]).strip())
    assert assembled == "\n\n\n".join(inside)


def test_a_student_who_goes_through_the_chapters_ends_with_a_network_that_runs_the_machine(capsys):
    pasted = ""
    for chapter, name in list(CHAPTERS.items())[:-1]:
        solved(solution(chapter))
        assert f"{name}: right on" in capsys.readouterr().out, f"the part is not right in {chapter}"
        pasted += solution(chapter).partition("turing.check")[0]
    before, step, after = solution("wcm21").partition("def own_step")
    assert before == pasted, "the last solution shows other parts than the chapters"
    kernel = solved(pasted + step + after)
    assert "with your gate, transition, adder, head and step" in " ".join(capsys.readouterr().out.split())
    net = assemble(*kernel["own_network"]())
    words = ["BE", "B()E", "B)(E", "B((E", "B(())()E", "B()((()(()))())E"]
    assert turing.verify(net, BALANCED, words)
    assert [net.run(word) for word in words] == [BALANCED.run(word) for word in words]
    assert turing.prove(net, BALANCED)


@pytest.mark.parametrize(("part", "answer"), wrong_parts())
def test_a_wrong_part_is_caught_in_its_chapter_and_named_in_the_last_one(part, answer):
    failure = first_failure(answer)
    assert failure
    assert first_failure(own_network(**parts() | {part: answer()})) == f"Your {part} is not right yet. {failure}"


@pytest.mark.parametrize("own", PARTS[:-1])
def test_a_part_of_ones_own_goes_with_the_librarys(own, capsys):
    turing.check(own_network(**{name: part for name, part in parts().items() if name in (own, "step")}))
    out = " ".join(capsys.readouterr().out.split())
    assert f"with your {own} and step, and the library's " in out


def test_a_network_without_parts_of_ones_own_has_the_weights_of_the_library():
    ours = turing.compile(BALANCED, "wcm21", T=100, adder="lookahead")
    for net in (assemble(), assemble(**parts())):
        assert all(torch.equal(a, b) for a, b in zip(net.parameters(), ours.parameters(), strict=True))


def test_the_weights_of_the_network_are_those_that_the_parts_return():
    def adder(gate, bits):
        (W1, b1), (W2, b2) = parts()["adder"](gate, bits)
        W2[0][0] = 5
        return (W1, b1), (W2, b2)

    net = assemble(adder=adder)
    report = turing.verify(net, BALANCED, ["B()E"])
    assert (report.divergences[0].step, report.divergences[0].layer, report.divergences[0].given) == (2, "move", 4)
    assert 5 in net.pipeline["move"].weight


def too_wide(gate, machine):
    (W1, b1), (W2, b2) = parts()["transition"](gate, machine)
    return ([[*row, 0] for row in W1], b1), (W2, b2)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"gate": 3, "step": 1}, "Your gate should be a function of ones, zeros and width, and 3 was returned"),
        ({"transition": too_wide, "step": 1}, "reads 12 and gives 30 numbers; it should read 11 and give 30"),
        ({"adder": lambda gate, bits: [([[0]], [0])], "step": 1}, "Your adder has 1 layer, and 2 were expected"),
        ({"head": lambda ask, at, width: 0, "step": 1}, "returns 0. Return (Wq, bq), (Wk, bk), null_key"),
        ({"step": lambda gate, x, y, blank: 1 / 0}, "In the network your step raises ZeroDivisionError"),
        ({"step": lambda gate, x, y, blank: [([[0]], [0])]}, "Your step has 1 layer, and 2 were expected"),
        ({"step": 1}, "Your step should be a function of gate, x, y and blank, and 1 was returned"),
        ({}, "Your step is None. It is the part that this chapter adds"),
    ],
)
def test_a_part_that_cannot_be_used_is_described(given, says):
    assert says in first_failure(own_network(**given))


def test_the_five_parts_come_in_one_order():
    def own_network():
        return plain_gate

    assert first_failure(own_network) == "Return the five parts in this order: gate, transition, adder, head, step."
