"""Every exercise of the book: stub, check, solution, and wrong answers that the check must catch."""

import io
import re
import runpy
from functools import cache, partial
from pathlib import Path

import nbformat
import pytest

import turing
from turing.exercises import CHAPTERS, exercises, first_failure
from turing.exercises.machines import abbreviate
from turing.exercises.weights import WeightPuzzle

ROOT = Path(__file__).parent.parent
EXERCISES = [(chapter, name) for chapter in CHAPTERS for name in exercises(chapter)]
each_exercise = pytest.mark.parametrize(("chapter", "name"), EXERCISES)


@cache
def cells(chapter):
    return nbformat.read(ROOT / "book" / f"{chapter}.ipynb", as_version=4).cells


@cache
def tagged(chapter, tag):
    """The functions that a chapter's cells with this tag define, by name. A cell needs no more than turing."""
    found = {}
    for cell in cells(chapter):
        if tag in cell.metadata.get("tags", []):
            defined = {"turing": turing}
            exec(cell.source, defined)
            (name,) = re.findall(r"^turing\.check\((\w+)\)$", cell.source, re.MULTILINE)
            assert name not in found, f"{chapter} has two cells tagged {tag} for {name}"
            found[name] = defined[name]
    return found


def wrong_answers(chapter, name):
    """Functions called NAME__FAULT, under the name that the check goes by."""
    found = [answer for full, answer in file_of_wrong_answers(chapter).items() if full.startswith(f"{name}__")]
    for answer in found:
        answer.__name__ = name
    return found


@cache
def file_of_wrong_answers(chapter):
    return runpy.run_path(str(ROOT / "tests" / "wrong_answers" / f"{chapter}.py"))


@pytest.mark.parametrize("notebook", sorted((ROOT / "book").glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_holds_a_stub_and_a_solution_for_each_of_its_chapters_exercises(notebook):
    chapter = notebook.stem
    registered = list(exercises(chapter)) if chapter in CHAPTERS else []
    assert list(tagged(chapter, "exercise")) == registered
    assert list(tagged(chapter, "solution")) == registered


@each_exercise
def test_an_exercise_is_a_directive_then_its_stub_then_its_collapsed_solution(chapter, name):
    label = f"ex-{name.replace('_', '-')}"
    book = cells(chapter)
    stub = next(i for i, cell in enumerate(book) if f"turing.check({name})" in cell.source)
    text, opening, solution, closing = book[stub - 1], book[stub + 1], book[stub + 2], book[stub + 3]
    if isinstance(exercises(chapter)[name], WeightPuzzle):
        text, page = book[stub - 2], book[stub - 1]
        assert f'Puzzle("{name}")' in page.source, f"{name} cannot be done in the page: no Puzzle before its stub"
        assert "hide-input" in page.metadata.get("tags", [])
    heading = re.search(rf"\{{exercise\}} .+ · difficulty [1-5], \d+ minutes\n:label: {label}\n", text.source)
    assert heading, f"no {{exercise}} directive with difficulty, minutes and label {label} before the stub of {name}"
    assert re.search(rf"\{{solution-start\}} {label}\n:class: dropdown\n", opening.source)
    assert "solution" in solution.metadata.get("tags", [])
    assert f"turing.check({name})" in solution.source
    assert "{solution-end}" in closing.source


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_sets_three_to_six_exercises_and_one_problem_without_a_solution(chapter):
    text = "\n".join(cell.source for cell in cells(chapter) if cell.cell_type == "markdown")
    assert 3 <= len(exercises(chapter)) <= 6
    (problem,) = re.findall(
        r"\{exercise\} .+ · difficulty [1-5], \d+ minutes, no solution given\n:label: (problem-\S+)", text
    )
    assert f"{{solution-start}} {problem}" not in text


@each_exercise
def test_the_stub_of_an_exercise_fails_with_a_message(chapter, name):
    assert first_failure(tagged(chapter, "exercise")[name])


@each_exercise
def test_the_solution_of_an_exercise_passes(chapter, name, capsys):
    turing.check(tagged(chapter, "solution")[name])
    assert f"{name}: right on" in capsys.readouterr().out


@each_exercise
def test_at_least_two_wrong_answers_fail_and_the_check_says_where(chapter, name):
    failures = {answer: first_failure(answer) or "" for answer in wrong_answers(chapter, name)}
    assert len(failures) >= 2
    for answer, failure in failures.items():
        assert failure.startswith(answer.__doc__), answer.__code__.co_name
    where = r"word.*step" if chapter == "machines" else r"^For \w+=\w"
    assert any(re.search(where, failure) for failure in failures.values())


def returning(value, name="even_ones"):
    def answer():
        return value

    answer.__name__ = name
    return answer


def raising(error):
    def answer():
        raise error

    answer.__name__ = "even_ones"
    return answer


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError


def recursive():
    def even_ones():
        return even_ones()

    return even_ones


def printing():
    def even_ones():
        print("hello")

    return even_ones


def machine(delta, blank="_", alphabet=()):
    return returning(turing.TuringMachine(delta, "A", {"T"}, blank, alphabet=alphabet))


RIGHT_THEN_LEFT = {("A", s): ("B", s, 1) for s in "01_"} | {("B", s): ("A", s, -1) for s in "01_"}
AWAY = {("A", s): ("A", "1", 1) for s in "01_"}


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (raising(ZeroDivisionError("one by nought")), "raised ZeroDivisionError: one by nought (line "),
        (raising(SystemExit(3)), "raised SystemExit: 3"),
        (raising(Unspeakable()), "raised Unspeakable"),
        (recursive(), "raised RecursionError"),
        (returning(None), "returned None. Does it end in a return statement?"),
        (returning({("A", "0"): ("A", "0", 1)}), "an object of type dict. Return turing.TuringMachine("),
        (returning(turing.TuringMachine), "returned an object of type type"),
        (lambda: None, "name. Name your function after the exercise: even_ones, decrement"),
        (returning(None, "even_one"), "did you mean even_ones"),
        (machine(RIGHT_THEN_LEFT), "still running after 10,000 steps."),
        (machine(AWAY), "step 10000  A  …1111111111"),
        (machine(AWAY, blank="0"), "The blank '0' is a letter of the words too"),
        (machine({("A", "0"): ("T", "0", 0)}, "0", "1"), "The blank '0' is a"),
        (machine({("A", "_"): ("T", "_", 0)}), "none of its rules mentions '0'"),
        (printing(), "returned None"),
        (partial(dict), "No exercise has this name"),
        (turing.TuringMachine(AWAY, "A", {"T"}, "_"), "was given an object of type TuringMachine"),
        (None, "was given an object of type NoneType"),
    ],
)  # fmt: skip
def test_the_check_prints_one_failure_whatever_the_answer_does(answer, says, capsys):
    assert turing.check(answer) is None
    assert "not yet. " in capsys.readouterr().out
    assert says in first_failure(answer)


def test_a_reader_can_interrupt_an_answer_that_loops():
    with pytest.raises(KeyboardInterrupt):
        turing.check(raising(KeyboardInterrupt()))


def test_a_failure_shows_the_last_configurations_with_the_head_in_brackets(capsys):
    delta = {("A", "0"): ("A", "0", 1), ("A", "1"): ("A", "1", 1), ("A", "_"): ("T", "_", 0)}
    turing.check(returning(turing.TuringMachine(delta, "A", {"T", "F"}, "_")))
    assert capsys.readouterr().out == (
        "even_ones: not yet. On the word '1' your machine halts in T after\n"
        "2 steps; F was expected.\n"
        "  step 0  A  [1]\n"
        "  step 1  A  1[_]\n"
        "  step 2  T  1[_]\n"
    )


DECREMENT = {
    ("right", "0"): ("right", "0", 1),
    ("right", "1"): ("right", "1", 1),
    ("right", "_"): ("borrow", "_", -1),
    ("borrow", "0"): ("borrow", "1", -1),
    ("borrow", "1"): ("done", "0", 0),
}


def test_an_answer_may_own_symbols_longer_than_a_character():
    right = turing.TuringMachine(DECREMENT, "right", {"done"}, "_", alphabet=["a mark"])
    assert first_failure(returning(right, "decrement")) is None
    one_cell = DECREMENT | {("borrow", "0"): ("done", "01", 0)}
    failure = first_failure(returning(turing.TuringMachine(one_cell, "right", {"done"}, "_"), "decrement"))
    assert "with '1 01' on the tape; '0 1' was expected" in failure


@pytest.mark.parametrize("state", ["[q]", "a  state", "q" * 60])
def test_a_long_tape_is_cut_around_the_head_whatever_the_state_is_called(state):
    delta = {(state, s): (state, "1", 1) for s in "01_"}
    failure = first_failure(returning(turing.TuringMachine(delta, state, {"T"}, "_")))
    assert failure.split("\n")[-1] == f"  step 10000  {state}  …{'1' * 45}[_]"


def test_a_configuration_is_cut_on_both_sides_of_the_head():
    delta = {("A", "1"): ("A", "1", 1)}
    at_20, at_50, at_80 = (list(turing.TuringMachine(delta, "A", (), "1").trace("1" * 90, 80))[i] for i in (20, 50, 80))
    assert abbreviate(at_20) == f"A  {'1' * 20}[1]{'1' * 25}…"
    assert abbreviate(at_50) == f"A  …{'1' * 24}[1]{'1' * 21}…"
    assert abbreviate(at_80) == f"A  …{'1' * 36}[1]{'1' * 9}"


@pytest.mark.parametrize(("encoding", "shown"), [("ascii", rb"\u03b4 \ud800"), ("utf-8", "δ ".encode() + rb"\ud800")])
def test_the_check_escapes_what_standard_output_cannot_encode(monkeypatch, encoding, shown):
    stdout = io.TextIOWrapper(io.BytesIO(), encoding)
    monkeypatch.setattr("sys.stdout", stdout)
    turing.check(raising(ValueError("δ \ud800")))
    stdout.flush()
    assert shown in stdout.buffer.getvalue()


@pytest.mark.parametrize("chapter", ["foo", ["gates"]])
def test_an_unknown_chapter_is_answered_with_the_list_of_chapters(chapter):
    with pytest.raises(ValueError, match=r"^A chapter is one of machines, gates, .* was given\.$"):
        exercises(chapter)
