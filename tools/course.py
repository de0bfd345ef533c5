"""What the page for teachers lists: exercises, open problems and slides, all read from the notebooks.

tools/refresh.py writes these cells into book/teaching.ipynb before it executes anything, and the fingerprints of the
stubs into the library, by which turing.grading recognises an exercise that nobody has tried. Tests compare both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import nbformat
from slides import FOLDER, SLIDES

import book
from turing.exercises import exercises as judges
from turing.exercises.weights import WeightPuzzle
from turing.grading import STUBS, fingerprint

PAGE = book.ROOT / "book" / "teaching.ipynb"
HEADING = re.compile(
    r"\{exercise\} (?P<title>.+) · difficulty (?P<difficulty>[1-5]), (?P<minutes>\d+) minutes(?P<open>.*)\n"
    r":label: (?P<label>\S+)"
)


@dataclass(frozen=True)
class Exercise:
    """An exercise, or an open problem, as its chapter announces it."""

    chapter: str
    number: str  # as the book shows it: 2.1 is the first of chapter 2
    label: str
    title: str
    difficulty: int
    minutes: int
    stub: str  # the text of its cell; empty for an open problem

    @property
    def name(self) -> str:
        return self.label.removeprefix("ex-").replace("-", "_")

    @property
    def kind(self) -> str:
        """What the answer is: numbers set in the page, a machine, a network, a function, or numbers given in Python."""
        if isinstance(judges(self.chapter)[self.name], WeightPuzzle):
            return "weight puzzle"
        if "Machine(" in self.stub:
            return "machine"
        if "compile(" in self.stub:
            return "network"
        return "function" if re.search(r"^ +def ", self.stub, re.MULTILINE) else "numbers"

    @property
    def fits(self) -> list[str]:
        """Where it can be used, by its minutes; an answer of a few numbers can be asked for on paper too."""
        place = "class" if self.minutes <= 10 else "lab" if self.minutes <= 20 else "homework"
        on_paper = self.kind in ("weight puzzle", "numbers") and 10 <= self.minutes <= 20
        return [place, "exam"] if on_paper else [place]


@cache
def found() -> tuple[Exercise, ...]:
    """Every exercise and every open problem, in reading order."""
    return tuple(exercise for chapter, path in enumerate(book.chapters(), start=1) for exercise in _of(chapter, path))


def _of(chapter: int, path: Path) -> Iterator[Exercise]:
    cells = nbformat.read(path, as_version=4).cells
    stubs = [cell.source for cell in cells if "exercise" in cell.metadata.get("tags", [])]
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    for number, heading in enumerate(HEADING.finditer(text), start=1):
        name = heading["label"].removeprefix("ex-").replace("-", "_")
        (stub,) = [stub for stub in stubs if f"turing.check({name})" in stub] or [""]
        yield Exercise(
            chapter=path.stem,
            number=f"{chapter}.{number}",
            label=heading["label"],
            title=heading["title"],
            difficulty=int(heading["difficulty"]),
            minutes=int(heading["minutes"]),
            stub=stub,
        )


def exercises() -> list[Exercise]:
    return [exercise for exercise in found() if exercise.stub]


def problems() -> list[Exercise]:
    return [exercise for exercise in found() if not exercise.stub]


def stubs() -> dict[str, dict[str, str | int]]:
    return {e.name: {"stub": fingerprint(e.stub, e.name), "difficulty": e.difficulty} for e in exercises()}


def cells() -> dict[str, str]:
    """The cells of the page for teachers that are generated here, by id."""
    return {
        "teaching-exercises": "\n".join(_exercises()),
        "teaching-problems": "\n".join(_problems()),
        "teaching-slides": "\n".join(_slides()),
    }


def _exercises() -> Iterator[str]:
    minutes = sum(e.minutes for e in exercises())
    kinds = [e.kind for e in exercises()]
    yield (
        f"There are {len(kinds)} exercises in {len(book.chapters())} chapters, {kinds.count('weight puzzle')} of them "
        f"weight puzzles; together they take {minutes // 60} hours and {minutes % 60} minutes."
    )
    yield ""
    yield ":::{dropdown} All exercises, chapter by chapter"
    yield "| exercise | diff. | min. | kind | fits |"
    yield "|---|---|---|---|---|"
    for chapter, path in enumerate(book.chapters(), start=1):
        yield f"| **{chapter}. {{doc}}`{path.stem}`** | | | | |"
        for e in exercises():
            if e.chapter == path.stem:
                cells = f"{e.number} {{ref}}`{e.title} <{e.label}>`", e.difficulty, e.minutes, e.kind, ", ".join(e.fits)
                yield f"| {' | '.join(map(str, cells))} |"
    yield ":::"


def _problems() -> Iterator[str]:
    yield f"There are {len(problems())} open problems."
    yield ""
    yield "| problem | chapter | diff. | min. |"
    yield "|---|---|---|---|"
    for p in problems():
        yield f"| {p.number} {{ref}}`{p.title} <{p.label}>` | {{doc}}`{p.chapter}` | {p.difficulty} | {p.minutes} |"


def _slides() -> Iterator[str]:
    order = [path.stem for path in book.chapters()]
    yield ":::{div} slides"
    for slide in sorted(SLIDES, key=lambda slide: order.index(slide.chapter)):
        place = f"{FOLDER.parent.name}/{FOLDER.name}/{slide.name}"
        yield f"- ![{slide.alt}]({place}.svg)"
        yield f"  {slide.title}. {{doc}}`{slide.chapter}` · [SVG]({place}.svg) · [PNG]({place}.png)"
    yield ":::"


def write() -> None:
    """Put the cells into the page, and the fingerprints into the library."""
    lines = [f"{json.dumps(name)}: {json.dumps(about)}" for name, about in stubs().items()]
    STUBS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    nb = nbformat.read(PAGE, as_version=4)
    made = cells()
    for cell in nb.cells:
        cell.source = made.get(cell["id"], cell.source)
    PAGE.write_text(nbformat.writes(nb) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
