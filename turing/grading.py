"""Grade the notebooks of a class: run each in its own process, and judge what its cells define.

A notebook is code that a stranger wrote, and grading runs it. Stored outputs do not count, and neither do the cells
with the book's solutions, which are not run. The function of an exercise is judged right after the cell that defines it
(``turing.exercises.cells``), so that nothing further down can change the verdict.

The purpose of a cell is read from its text: ``def even_ones():`` is an answer to the exercise of that name. Tags, the
ids of cells and the name of the file may have been lost.
"""

from __future__ import annotations

import csv
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any, BinaryIO, TextIO

from turing.arguments import printable
from turing.exercises import CHAPTERS, exercises

__all__ = ["Grade", "grade", "notebooks", "table", "write_csv"]

PASSED, FAILED, NOT_TRIED, TIMED_OUT, MISSING, NOT_RUN = (
    "passed", "failed", "not tried", "timed out", "missing", "not run"
)  # fmt: skip
SECONDS = 120  # for a cell, and for the check of what it defines
STARTING = 120  # seconds in which the process imports torch, even on a slow computer
MAX_BYTES = 100_000_000  # of a notebook
LINE = 100_000  # bytes of one report of the process, or of its errors
ENDLESS = 8  # cells that do not finish, after which the rest of a notebook is not run
COLUMNS = ("notebook", "chapter", "exercise", "verdict", "message")
STUBS = Path(__file__).parent / "exercises" / "stubs.json"

# How a cell with a solution differs from a student's: by its title in the copies for Colab, by the directives around it
# in the book's notebooks, and by its tag if it still has one.
SOLUTION = re.compile(r"#\s*@title Exercise [\d.]+ \(.*\), the solution \{display-mode")
DIRECTIVE = re.compile(r"\{(solution-start|solution-end|exercise)\}|^#+ ", re.MULTILINE)  # all but the first end one
CHECKED = re.compile(r"\bcheck\(\s*(\w+)\s*\)")

Cells = list[tuple[int, str]]  # the number of each code cell, and its text


@dataclass(frozen=True)
class Grade:
    """The verdict on one exercise in one notebook.

    ``verdict`` is passed, failed, not tried (the stub is unchanged), timed out, missing (no cell defines the function)
    or not run; ``message`` says why. A file that cannot be graded at all has one grade, without chapter and exercise.

    Chapter: :doc:`/book/teaching`.
    """

    notebook: str
    chapter: str
    exercise: str
    verdict: str
    message: str = ""


def notebooks(places: Iterable[str | Path]) -> dict[str, Path]:
    """The given notebooks and those in the given folders, by the names under which they are graded.

    A notebook in a folder is named from there: ``ada/gates.ipynb``. Hidden files are left out. Where two would have the
    same name, each is named by its whole path.

    Chapter: :doc:`/book/teaching`.
    """
    found: list[tuple[str, Path]] = []
    for place in map(Path, places):
        if place.is_dir():
            files = sorted(path for path in place.rglob("*") if ".ipynb" in path.name.lower())
            inside = {path.relative_to(place).as_posix(): path for path in files if not path.is_dir()}
            new = {name: path for name, path in inside.items() if not re.search(r"(^|/)(\.|__MACOSX/)", name)}
            if not new:
                raise ValueError(f"There is no notebook in the folder {str(place)!r}: no file *.ipynb.")
        elif place.exists():
            new = {place.name: place}
        else:
            raise ValueError(f"There is no file and no folder {str(place)!r}. Give notebooks, or folders of them.")
        found += new.items()
    times = Counter(name for name, _ in dict.fromkeys(found))
    return {str(path) if times[name] > 1 else name: path for name, path in found}


def grade(path: str | Path, name: str | None = None, timeout: float = SECONDS) -> list[Grade]:
    """Run a notebook and grade each exercise of its chapter; never raises for what the notebook does.

    The notebook's code runs on this computer with your permissions, so please use a container. A cell that takes longer
    than ``timeout`` seconds is stopped, and so is a check; the rest of the notebook is then run without that cell.

    Chapter: :doc:`/book/teaching`.
    """
    path = Path(path)
    name = path.name if name is None else name
    try:
        cells = own_cells(path)
    except Exception as error:  # anybody may have written it
        reason = f"{error}" or type(error).__name__
        return [Grade(name, "", "", NOT_RUN, f"This notebook cannot be read: {reason}.")]
    chapters = _chapters(cells, name)
    if not chapters:
        return [Grade(name, "", "", NOT_RUN, "No cell defines or checks an exercise of the book.")]
    names = {exercise: chapter for chapter in chapters for exercise in exercises(chapter)}
    stubs = json.loads(STUBS.read_text(encoding="utf-8"))
    verdicts = {exercise: (MISSING, _missing(exercise, cells)) for exercise in names}
    untouched = set()
    for number, source in cells:
        for exercise in _defined(source, names):
            if fingerprint(source, exercise) == stubs[exercise]:
                untouched.add((number, exercise))
                verdicts[exercise] = NOT_TRIED, "The stub is unchanged."
    _run(cells, chapters, verdicts, untouched, timeout)
    return [Grade(name, names[exercise], exercise, *verdict) for exercise, verdict in verdicts.items()]


def own_cells(path: Path) -> Cells:
    """The code cells of a notebook with their numbers, without those that hold the book's solutions."""
    if not path.is_file() or path.stat().st_size > MAX_BYTES:
        raise ValueError(f"it is not a file, or it has more than {MAX_BYTES:,} bytes")
    try:
        text = path.read_text(encoding="utf-8-sig").encode(errors="replace").decode()
        data = json.loads(text)
    except UnicodeDecodeError:
        raise ValueError("it is not text in UTF-8") from None
    if not isinstance(data, dict) or not isinstance(data.get("cells"), list):
        raise ValueError("it has no list of cells. Open it in Jupyter or Colab and save it again")
    cells, solution, number = [], False, 0
    for cell in data["cells"]:
        if not isinstance(cell, dict):
            raise ValueError("one of its cells is not an object")
        source = cell.get("source", "")
        if not isinstance(source, (str, list)):
            raise ValueError("the source of a cell is not text")
        source = source if isinstance(source, str) else "".join(map(str, source))
        source = source.encode(errors="replace").decode()  # a lone surrogate is not text
        if cell.get("cell_type") == "markdown":
            for mark in DIRECTIVE.findall(source):
                solution = mark == "solution-start"
        elif cell.get("cell_type") == "code":
            number += 1
            about = cell.get("metadata")
            tags = about.get("tags") if isinstance(about, dict) else None
            tagged = isinstance(tags, list) and "solution" in tags
            if not (solution or SOLUTION.match(source) or tagged):
                cells.append((number, source))
    return cells


def fingerprint(source: str, name: str) -> str:
    """A hash of the function of that name in a cell, regardless of white space: the same unless it was changed."""
    found = re.search(rf"^def {name}\b.*?(?=^[^\s#]|\Z)", source, re.MULTILINE | re.DOTALL)
    return sha256("".join(found[0].split()).encode()).hexdigest()[:16] if found else ""


def _defined(source: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if re.search(rf"^(?:def|class) {name}\b|^{name}\s*=[^=]", source, re.MULTILINE)]


def _chapters(cells: Cells, name: str) -> list[str]:
    """The chapters whose exercises a notebook answers; if none is left in it, the name of the file decides."""
    checked = {exercise for _, source in cells for exercise in CHECKED.findall(source)}
    answered = {
        chapter
        for chapter in CHAPTERS
        if checked & {*exercises(chapter)}
        or any(re.search(rf"^def {e}\(\):", source, re.MULTILINE) for _, source in cells for e in exercises(chapter))
    }
    return [chapter for chapter in CHAPTERS if chapter in answered or (not answered and chapter in name)]


def _missing(exercise: str, cells: Cells) -> str:
    checked = {name for _, source in cells for name in CHECKED.findall(source)}
    unknown = [name for name in checked if not any(name in exercises(chapter) for chapter in CHAPTERS)]
    close = get_close_matches(exercise, unknown, n=1, cutoff=0.5)
    return f"No cell defines {exercise}{f'; a cell checks {close[0]}' if close else ''}."


def _run(
    cells: Cells,
    chapters: Sequence[str],
    verdicts: dict[str, tuple[str, str]],
    untouched: Collection[tuple[int, str]],
    timeout: float,
) -> None:
    """Run the cells, and again without those that do not finish, and record the verdict on each exercise."""

    def note(cell: int, exercise: str, verdict: str, message: str) -> None:
        known = exercise in verdicts and (cell, exercise) not in untouched
        if known and verdicts[exercise][0] != PASSED:  # one right answer is enough
            verdicts[exercise] = verdict, message

    left, endless = list(cells), 0
    skip: list[tuple[int, str]] = []
    while True:
        at, judged, stopped = 0, "", ""
        for event in _events(left, chapters, skip, timeout):
            match event:
                case {"cell": int(number)}:
                    at, judged = number, ""
                case {"judging": str(exercise)}:
                    judged = exercise
                case {"exercise": str(exercise), "passed": bool(passed), "message": str(message)}:
                    note(at, exercise, PASSED if passed else FAILED, message)
                case {"stopped": str(stopped), "verdict": str(verdict)}:
                    for exercise in [judged] if judged else _defined(dict(cells).get(at, ""), verdicts):
                        note(at, exercise, verdict, stopped)
        endless += 1
        if not stopped:
            return
        if judged:  # the cell itself finishes, and may hold other answers
            skip.append((at, judged))
        else:
            left = [cell for cell in left if cell[0] != at]
        if at == 0 or endless == ENDLESS:
            break
    why = f"{endless} cells before it did not finish." if at else f"No cell was run. {stopped}"
    for number, source in left:
        for exercise in _defined(source, verdicts):
            if number > at:
                note(number, exercise, NOT_RUN, why)


def _events(cells: Cells, chapters: Sequence[str], skip: Sequence[tuple[int, str]], timeout: float) -> Iterator[dict]:
    """What a separate process reports about the cells that it runs; the last event says if it did not end normally.

    Each line of its report begins with a password that the cells do not know. Each cell has the full time, and so has
    each check.
    """
    password, home = secrets.token_hex(), str(Path(__file__).parents[1])
    with _folder() as folder, tempfile.TemporaryFile() as errors:
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH")])),
            "PYTHONUTF8": "1",
            "OMP_NUM_THREADS": "1",
            "MPLBACKEND": "Agg",  # no windows
            "PIP_NO_INDEX": "1",  # installing something would change the next student's grade
            "IPYTHONDIR": folder,
        }
        process: Any = subprocess.Popen(  # it has pipes, which a type checker cannot know
            [sys.executable, "-c", "from turing.exercises.cells import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
        events: Queue[dict | None] = Queue()
        job = json.dumps({"cells": cells, "chapters": chapters, "skip": skip, "password": password}).encode()
        Thread(target=_talk, args=(process, job, password.encode(), events), daemon=True).start()
        patience: float = STARTING
        until, known = time.monotonic() + patience, set()
        try:
            while True:
                try:
                    event = events.get(timeout=max(0, until - time.monotonic()))
                except Empty:
                    yield {"stopped": f"Not finished after {patience:g} seconds.", "verdict": TIMED_OUT}
                    return
                if event == {"done": True}:
                    return
                if event is None:
                    with suppress(subprocess.TimeoutExpired):
                        process.wait(1)  # it may have closed only the channel
                    _end(process)
                    error = _last_line(errors) if patience == STARTING else ""
                    yield {"stopped": f"The process ended with status {process.wait()}.{error}", "verdict": FAILED}
                    return
                if (place := str(event)) not in known:
                    patience = timeout
                    until = time.monotonic() + patience
                known.add(place)
                yield event
        finally:
            _end(process)


@contextmanager
def _folder() -> Iterator[str]:
    """A temporary folder. Files in it that cannot be removed are left."""
    folder = tempfile.mkdtemp()
    try:
        yield folder
    finally:
        with suppress(OSError, RecursionError):
            shutil.rmtree(folder, ignore_errors=True)


def _last_line(errors: BinaryIO) -> str:
    errors.seek(0)
    lines = errors.read(LINE).decode(errors="replace").strip().splitlines()
    return f" Its last error: {lines[-1]}" if lines else ""


def _talk(process: Any, job: bytes, password: bytes, events: Queue[dict | None]) -> None:
    """Send the job, and pass on the lines that begin with the password; anything else comes from a cell."""
    with suppress(OSError, ValueError):  # the process died early, or the channel is closed
        process.stdin.write(job)
        process.stdin.close()
        while line := process.stdout.readline(LINE):
            if line.startswith(password):
                with suppress(ValueError, RecursionError):
                    events.put(json.loads(line[len(password) :]))
    events.put(None)
    process.stdout.close()


def _end(process: subprocess.Popen) -> None:
    """Kill a process and everything that it has started."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def table(grades: Sequence[Grade]) -> str:
    """The grades as text: for each chapter a row for each notebook and a column for each exercise, then the failures.

    >>> print(table([Grade("ada.ipynb", "machines", "even_ones", "failed", "On the empty word …")]))
    machines
    notebook   even_ones  passed
    ada.ipynb  failed     0 of 1
    <BLANKLINE>
    ada.ipynb, even_ones: failed. On the empty word …

    Chapter: :doc:`/book/teaching`.
    """
    parts = []
    for chapter in dict.fromkeys(g.chapter for g in grades if g.chapter):
        here = [g for g in grades if g.chapter == chapter]
        columns = list(dict.fromkeys(g.exercise for g in here))
        rows = [["notebook", *columns, "passed"]]
        for notebook in dict.fromkeys(g.notebook for g in here):
            verdicts = {g.exercise: g.verdict for g in here if g.notebook == notebook}
            right = list(verdicts.values()).count(PASSED)
            rows.append([printable(notebook), *(verdicts.get(e, "") for e in columns), f"{right} of {len(columns)}"])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows]
        parts.append("\n".join([chapter, *map(str.rstrip, lines)]))
    notes = []
    missing: dict[str, list[str]] = {}
    for g in grades:
        if g.verdict == MISSING:
            missing.setdefault(g.notebook, []).append(g.exercise)
    notes += [printable(f"{notebook}: no cell defines {', '.join(names)}.") for notebook, names in missing.items()]
    for g in grades:
        if g.verdict not in (PASSED, NOT_TRIED, MISSING) or "; a cell checks" in g.message:
            where = f"{g.notebook}, {g.exercise}" if g.exercise else g.notebook
            notes.append(printable(f"{where}: {g.verdict}. {g.message.partition(chr(10))[0]}"))
    return "\n\n".join([*parts, "\n".join(notes)]).strip("\n")


def write_csv(grades: Iterable[Grade], file: TextIO, header: bool = True) -> None:
    """Write the grades as CSV, one row for each exercise of each notebook.

    The columns are notebook, chapter, exercise, verdict and message.

    Chapter: :doc:`/book/teaching`.
    """
    rows = csv.writer(file, lineterminator="\n")
    if header:
        rows.writerow(COLUMNS)
    for g in grades:
        cells = (getattr(g, column) for column in COLUMNS)
        rows.writerow([_cell(cell) for cell in cells])


def _cell(text: str) -> str:
    """Text that no spreadsheet takes for a formula, since students choose file names and messages."""
    text = "\n".join(map(printable, text.split("\n")))
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
