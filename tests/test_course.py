"""The page for teachers: what it lists is what the chapters have, its plans add up, and its slides are the book's."""

import json
import re
from functools import cache

import course
import nbformat
import pytest
import slides

import book
import turing
from book import ROOT
from turing import grading
from turing.exercises import CHAPTERS, exercises

CELLS = {cell["id"]: cell for cell in nbformat.read(course.PAGE, as_version=4).cells}
WORDS = "\n".join(cell.source for cell in CELLS.values() if cell.cell_type == "markdown")
LECTURES = {
    (plan, title): (int(minutes), text)
    for plan in ("four", "course")
    for title, minutes, text in re.findall(
        r"^\*\*(\d+\. .+?)\*\* \((\d+) minutes\)\n\n(.+?)(?=\n\n|\Z)", CELLS[f"teaching-{plan}"].source, re.M | re.S
    )
}
EXERCISE = re.compile(r"\{ref\}`(?P<title>[^`<]+) <(?P<label>[\w-]+)>` \((?P<minutes>\d+)\)")
each_lecture = pytest.mark.parametrize("lecture", LECTURES, ids=" ".join)


def part(lecture, name):
    """The words of one line of a lecture, on one line."""
    found = re.search(rf"^- \*{name}:\* (.+?)(?=^- |\Z)", LECTURES[lecture][1], re.MULTILINE | re.DOTALL)
    return " ".join(found[1].split()) if found else ""


def chapters_of(text):
    """The chapters that a text names, each with what it says until the next."""
    pieces = re.split(r"\{doc\}`[^`<]+ <([^`>]+)>`:?", text)[1:]
    return list(zip(pieces[::2], pieces[1::2], strict=True))


@cache
def texts(chapter, kind):
    cells = nbformat.read(ROOT / "book" / f"{chapter}.ipynb", as_version=4).cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == kind)


@pytest.mark.parametrize("name", course.cells())
def test_a_list_of_the_page_is_what_the_notebooks_say(name):
    assert CELLS[name].source == course.cells()[name], "run make refresh"


def test_the_chapters_with_exercises_are_the_chapters_of_the_contents_in_their_order():
    assert list(CHAPTERS) == [path.stem for path in book.chapters()]
    answered = {path.stem for path in (ROOT / "tests/wrong_answers").glob("*.py")}
    assert answered == set(CHAPTERS)


def test_no_exercise_and_no_open_problem_is_missing():
    labels = [label for path in book.notebooks() for label in re.findall(r":label: ((?:ex|problem)-\S+)", _text(path))]
    assert [exercise.label for exercise in course.found()] == labels
    assert [e.name for e in course.exercises()] == [name for chapter in CHAPTERS for name in exercises(chapter)]
    assert [p.chapter for p in course.problems()] == list(CHAPTERS)
    assert {label for label in labels if f"<{label}>" not in WORDS} == set()


def _text(path):
    return "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown")


def test_the_fingerprints_of_the_stubs_are_those_of_the_notebooks():
    assert json.loads(grading.STUBS.read_text(encoding="utf-8")) == course.stubs(), "run make refresh"
    assert len({stub["stub"] for stub in course.stubs().values()}) == len(course.exercises())


def test_there_are_four_lectures_and_one_for_each_chapter_and_two_for_the_transformer():
    numbers = {
        plan: [int(title.split(".")[0]) for own, title in LECTURES if own == plan] for plan in ("four", "course")
    }
    assert numbers == {"four": [*range(1, 5)], "course": [*range(1, len(CHAPTERS) + 2)]}


@each_lecture
def test_a_lecture_adds_up_and_fits_into_90_minutes(lecture):
    minutes = [int(n) for n in re.findall(r" \((\d+)\)(?=[,;]|$)", part(lecture, "Talk"))]
    in_class = [int(found["minutes"]) for found in EXERCISE.finditer(part(lecture, "In class"))]
    assert in_class
    assert sum(minutes) + sum(in_class) == LECTURES[lecture][0] <= 90


@each_lecture
def test_the_sections_of_a_lecture_are_those_of_its_chapters(lecture):
    for chapter, words in chapters_of(part(lecture, "Talk")):
        headings = re.findall(r"^##+ (.+?)\s*$", texts(chapter, "markdown"), re.MULTILINE)
        named = [name.strip(" ,;") for name in re.split(r"\s\(\d+\)(?:[,;]|$)", words)]
        assert [name for name in named if name and name not in headings] == []


@each_lecture
def test_what_a_lecture_shows_is_in_its_chapters(lecture):
    code = "\n".join(
        texts(chapter, kind) for chapter, _ in chapters_of(part(lecture, "Talk")) for kind in ("code", "markdown")
    )
    shown = re.findall(r"`([^`]+)`", re.sub(r"\{\w+\}`[^`]*`", "", part(lecture, "Show")))
    assert [snippet for snippet in shown if f"{snippet}(" not in code and snippet not in code] == []


@each_lecture
def test_the_exercises_of_a_lecture_have_their_titles_and_minutes_and_come_from_its_chapters(lecture):
    known = {e.label: e for e in course.exercises()}
    chapters = [chapter for chapter, _ in chapters_of(part(lecture, "Talk"))]
    given = [*EXERCISE.finditer(part(lecture, "In class")), *EXERCISE.finditer(part(lecture, "Homework"))]
    assert len(given) == LECTURES[lecture][1].count("{ref}")
    for found in given:
        exercise = known[found["label"]]
        assert (found["title"], int(found["minutes"])) == (exercise.title, exercise.minutes)
        assert exercise.chapter in chapters


def test_the_lectures_of_a_course_take_every_chapter_and_every_exercise_once():
    whole = [lecture for lecture in LECTURES if lecture[0] == "course"]
    labels = [
        found["label"] for lecture in whole for found in EXERCISE.finditer(" ".join(LECTURES[lecture][1].split()))
    ]
    assert sorted(labels) == sorted(e.label for e in course.exercises())
    assert {chapter for lecture in whole for chapter, _ in chapters_of(part(lecture, "Talk"))} == {*CHAPTERS}


def test_the_numbers_on_the_page_are_those_of_the_library():
    assert f"{grading.SECONDS} seconds if you say nothing" in WORDS
    assert grading.ENDLESS == 8
    assert "eight cells before it did not end" in WORDS
    assert f"version = {{{turing.__version__}}}" in WORDS
    assert f"{slides.WIDTH} × {slides.HEIGHT}" in WORDS
    verdicts = {grading.PASSED, grading.FAILED, grading.NOT_TRIED, grading.TIMED_OUT, grading.MISSING, grading.NOT_RUN}
    assert set(re.findall(r"^\| ([a-z ]+) \| .* \|$", CELLS["teaching-09"].source, re.MULTILINE)) == verdicts | {
        "verdict"
    }


def test_library_and_page_point_at_each_other():
    for name in grading.__all__:
        thing = getattr(grading, name)
        assert "Chapter: :doc:`/book/teaching`." in thing.__doc__
        assert re.search(rf"\{{py:\w+\}}`turing\.grading\.{name}`", WORDS), name


@pytest.mark.parametrize("slide", slides.SLIDES, ids=lambda slide: slide.name)
def test_a_slide_is_the_picture_that_the_chapter_shows(slide):
    drawn = (slides.FOLDER / f"{slide.name}.svg").read_text(encoding="utf-8")
    assert drawn == slides.svg(slide), "run make slides"
    assert "var(" not in drawn
    png = (slides.FOLDER / f"{slide.name}.png").read_bytes()
    assert slides.source_of(png) == slides.digest(drawn), "run make slides"
    assert (int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")) == (slides.WIDTH, slides.HEIGHT)


def test_the_slides_are_small_and_none_is_left_over():
    files = sorted(slides.FOLDER.iterdir())
    assert [path.name for path in files] == sorted(f"{s.name}.{kind}" for s in slides.SLIDES for kind in ("svg", "png"))
    assert sum(path.stat().st_size for path in files) < 1_000_000
    assert all(" " in slide.alt and not re.search(r"[\[\]|]", slide.alt) for slide in slides.SLIDES)
