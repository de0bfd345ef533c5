"""Grade the notebooks of a class: run each in a kernel of its own, and judge what its cells define.

Stored outputs do not count, and neither do the cells with the book's solutions, which are not run. The purpose of a
cell is read from its text: ``def even_ones():`` is an answer to the exercise of that name. It is judged right after its
cell, so that nothing further down can change the verdict.
"""

# A notebook is code that a stranger wrote. So an answer is judged here: the kernel sends what the function returns as
# plain data (turing.exercises.cells), and never a verdict. Tags, the ids of cells and the name of the file may be lost.

from __future__ import annotations

import asyncio
import atexit
import csv
import json
import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path, PurePath
from typing import Any, TextIO

import turing
from turing.arguments import printable
from turing.exercises import CHAPTERS, Wrong, _verdict, exercises
from turing.files.packages import needed

__all__ = ["Grade", "feedback", "grade", "notebooks", "table", "write_csv"]

PASSED, FAILED, NOT_TRIED, TIMED_OUT, MISSING, NOT_RUN = (
    "passed", "failed", "not tried", "timed out", "missing", "not run"
)  # fmt: skip
SECONDS = 120  # for a cell, and for the check of what it defines
STARTING = 120  # seconds in which the kernel starts, even on a slow computer
REACTING = 5  # seconds in which a kernel reacts after a cell was interrupted
MAX_BYTES = 100_000_000  # of a notebook
MAX_MESSAGE = 2000  # characters
ENDLESS = 8  # kernels that are lost, after which the rest of a notebook is not run
LIGHT = {"machines", "gates"}  # chapters whose judges need no torch
COLUMNS = ("notebook", "chapter", "exercise", "verdict", "points", "out_of", "message")
STUBS = Path(__file__).parent / "exercises" / "stubs.json"  # for each exercise its stub's fingerprint, and difficulty
HOME = str(Path(__file__).parents[1])
LOAD = "__import__('turing.exercises.cells', fromlist=['serve']).serve"
SERVE = LOAD + "({port}, {name!r})"

# How a cell with a solution differs from a student's: by its title in the copies for Colab, by the directives around it
# in the book's notebooks, and by its tag if it still has one.
SOLUTION = re.compile(r"#\s*@title Exercise [\d.]+ \(.*\), the solution \{display-mode")
DIRECTIVE = re.compile(r"\{(solution-start|solution-end|exercise)\}|^#+ ", re.MULTILINE)  # all but the first end one
CHECKED = re.compile(r"\bcheck\(\s*(\w+)\s*\)")

Cells = list[tuple[int, str]]  # the number of each code cell, and its text
Verdict = tuple[str, str]  # and the message
Run = Callable[[str], "Future[Verdict]"]  # starts a cell
Answer = tuple[int, str]  # the number of a cell, and the exercise that it answers


@dataclass(frozen=True)
class Grade:
    """The verdict on one exercise in one notebook.

    - ``notebook``, ``chapter``, ``exercise``: their names
    - ``verdict``: ``"passed"``, ``"failed"``, ``"not tried"`` (the stub is unchanged), ``"timed out"``, ``"missing"``
      (no cell defines the function) or ``"not run"``
    - ``message``: why
    - ``out_of``: what the exercise is worth; ``points`` is the same number for a pass, and otherwise 0

    A file that cannot be graded at all has one grade, whose chapter and exercise are empty.

    Chapter: :doc:`/book/teaching`.
    """

    notebook: str
    chapter: str
    exercise: str
    verdict: str
    message: str = ""
    out_of: float = 0

    @property
    def points(self) -> float:
        return self.out_of if self.verdict == PASSED else 0


def notebooks(places: str | Path | Iterable[str | Path]) -> dict[str, Path]:
    """Notebooks to grade: a dictionary from the names under which they are graded to their paths.

    ``places`` is a notebook or a folder, or a list of them. A notebook in a folder is named from there:
    ``ada/gates.ipynb``. Hidden files are left out. Where two would have the same name, each is named by its whole path.

    Chapter: :doc:`/book/teaching`.
    """
    found: list[tuple[str, Path]] = []
    for place in map(Path, [places] if isinstance(places, (str, Path)) else places):
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


def grade(
    path: str | Path,
    name: str | None = None,
    timeout: float = SECONDS,
    only: Collection[str] = (),
    points: Mapping[str, float] = {},
) -> list[Grade]:
    """Run a notebook; return a :class:`Grade` for each exercise of its chapter, and never raise for what it does.

    - ``name``: what the grades call the notebook; by default the name of its file
    - ``timeout``: the seconds after which a cell or a check is interrupted
    - ``only``: the names of the exercises to grade; by default all
    - ``points``: a dictionary from the name of an exercise to the points that it is worth; by default as many as its
      difficulty

    The code runs with your permissions, so please use a container.

    Chapter: :doc:`/book/teaching`.
    """
    for package in ("nbclient", "ipykernel"):
        needed(package, "Grading", "nbclient ipykernel")
    check_names([*only, *points])
    path = Path(path)
    name = path.name if name is None else name
    try:
        cells = own_cells(path)
    except Exception as error:  # anybody may have written it
        reason = f"{error}" or type(error).__name__
        return [Grade(name, "", "", NOT_RUN, f"This notebook cannot be read: {reason}.")]
    names = {e: chapter for e, chapter in _asked(cells, name).items() if not only or e in only}
    if not names:
        what = f"{', '.join(only)}" if only else "an exercise of the book"
        return [Grade(name, "", "", NOT_RUN, f"No cell defines or checks {what}.")]
    stubs = json.loads(STUBS.read_text(encoding="utf-8"))
    verdicts = {exercise: (MISSING, _missing(exercise, cells)) for exercise in names}
    untouched = set()
    for number, source in cells:
        for exercise in _defined(source, names):
            if fingerprint(source, exercise) == stubs[exercise]["stub"]:
                untouched.add((number, exercise))
                verdicts[exercise] = NOT_TRIED, "The stub is unchanged."
    for (_, exercise), verdict in sorted(_answers(cells, names, untouched, timeout).items()):
        if verdicts[exercise][0] != PASSED:  # one right answer is enough
            verdicts[exercise] = verdict
    worth = {exercise: points.get(exercise, stubs[exercise]["difficulty"]) for exercise in names}
    return [Grade(name, names[exercise], exercise, *verdicts[exercise], worth[exercise]) for exercise in names]


def check_names(names: Iterable[str]) -> None:
    """Refuse a name that no exercise has."""
    judges = [name for chapter in CHAPTERS for name in exercises(chapter)]
    for name in names:
        if name not in judges:
            close = get_close_matches(str(name), judges, n=1, cutoff=0.5)
            raise ValueError(
                f"There is no exercise {name!r}{f'; did you mean {close[0]}' if close else ''}. "
                f"The exercises are {', '.join(judges)}."
            )


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


def _asked(cells: Cells, name: str) -> dict[str, str]:
    """The exercises that a notebook should answer, each with its chapter.

    They are those of each chapter of which it checks or defines one; if it has none, the name of the file decides.
    Parts that are brought along from earlier chapters, as into a network of one's own, are judged, and the rest of
    their chapters is not missed.
    """
    checked = {exercise for _, source in cells for exercise in CHECKED.findall(source)}
    asked: dict[str, str] = {}
    for chapter in CHAPTERS:
        own = exercises(chapter)
        defined = [e for e in own if any(re.search(rf"^def {e}\(\):", text, re.MULTILINE) for _, text in cells)]
        brought = defined if any(checked & {*exercises(other)} for other in CHAPTERS if other != chapter) else own
        asked |= dict.fromkeys(own if checked & {*own} else brought if defined else (), chapter)
    return asked or {e: chapter for chapter in CHAPTERS if chapter in name for e in exercises(chapter)}


def _missing(exercise: str, cells: Cells) -> str:
    checked = {name for _, source in cells for name in CHECKED.findall(source)}
    unknown = [name for name in checked if not any(name in exercises(chapter) for chapter in CHAPTERS)]
    close = get_close_matches(exercise, unknown, n=1, cutoff=0.5)
    return f"No cell defines {exercise}{f'; a cell checks {close[0]}' if close else ''}."


class _Lost(Exception):
    """A kernel has died, or it does not react any more."""

    def __init__(self, verdict: str, message: str):
        super().__init__(message)
        self.verdict = verdict, message


class _Late(KeyboardInterrupt):
    """A judge has taken too long. No judge catches this, as none catches Ctrl-C."""


def _answers(cells: Cells, names: Mapping[str, str], untouched: set[Answer], timeout: float) -> dict[Answer, Verdict]:
    """Run the cells, and judge each answer right after its cell. Where a kernel is lost, run all but what lost it."""
    judges = {name: exercises(chapter)[name] for name, chapter in names.items()}
    if {*names.values()} - LIGHT:
        for name in turing.LAZY:
            getattr(turing, name)  # imports it now, before a notebook can change a file
    found: dict[Answer, Verdict] = {}

    def note(answer: Answer, verdict: Verdict) -> None:
        before = found.setdefault(answer, verdict)
        if (before[0] == PASSED) != (verdict[0] == PASSED):
            found[answer] = FAILED, f"Two checks of this answer disagree: {before[0]}, and then {verdict[0]}."

    skipped: set[Answer] = set()
    for _ in range(ENDLESS):
        at, asked = 0, ""
        try:
            with _kernel(timeout) as run:
                run(LOAD).result()  # before a cell can change the library in its process
                for at, source in cells:
                    if (at, "") in skipped:
                        continue
                    asked, defined = "", _defined(source, names)
                    error, message = run(source).result()
                    if error == TIMED_OUT:
                        for exercise in defined:
                            note((at, exercise), (error, message))
                        continue
                    for asked in names:
                        if not re.search(rf"\b{asked}\b", source) or (at, asked) in untouched | skipped:
                            continue
                        verdict = _judged(run, asked, judges[asked], timeout)
                        if verdict:
                            note((at, asked), verdict)
                        elif asked in defined:
                            note((at, asked), (error or FAILED, message or f"The cell leaves no function {asked}."))
            return found
        except _Lost as lost:
            for exercise in [asked] if asked else _defined(dict(cells).get(at, ""), names):
                if (at, exercise) not in untouched:
                    note((at, exercise), lost.verdict)
            skipped.add((at, asked))
            why = f"{len(skipped)} cells before it did not finish." if at else f"No cell was run. {lost}"
            left = [(number, e) for number, source in cells if number > at for e in _defined(source, names)]
            if not at or not left:
                break
    for answer in left:
        if answer not in untouched and answer not in found:
            note(answer, (NOT_RUN, why))
    return found


def _judged(run: Run, name: str, judge: Callable[[object], str], timeout: float) -> Verdict | None:
    """The verdict on what the kernel's function of that name returns, or None if it has no new one."""
    from turing.exercises.cells import Line

    verdict = None
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        running = run(SERVE.format(port=port, name=name))
        running.add_done_callback(lambda _: _knock(port))  # nobody may have called
        with suppress(OSError), server.accept()[0] as connection, connection.makefile("rwb") as file:
            connection.settimeout(timeout + 1)  # a notebook may call and say nothing
            if file.peek(1):
                line = Line(file, through=(Wrong, KeyboardInterrupt))
                try:
                    with _at_most(timeout):
                        right, message = _verdict(name, lambda: judge(line.wait()))
                    verdict = PASSED if right else FAILED, message[:MAX_MESSAGE]
                except _Late:
                    verdict = TIMED_OUT, f"Not finished after {timeout:g} seconds."
    passed = verdict is not None and verdict[0] == PASSED
    try:
        error, message = running.result()
    except _Lost as lost:
        lost.verdict = verdict if verdict and passed else lost.verdict
        raise
    if error and not passed and (error == TIMED_OUT or not verdict):
        return error, message
    return verdict


@contextmanager
def _kernel(timeout: float) -> Iterator[Run]:
    """A new kernel in a folder of its own, as a function that starts a cell. The result says what went wrong in it.

    Another thread deals with the kernel, so that a judge can talk with an answer while its cell runs.
    """
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbformat.v4 import new_code_cell, new_notebook

    errors: list[dict[str, Any]] = []
    silent = logging.Logger("silent", logging.CRITICAL + 1)
    with _folder() as folder, tempfile.TemporaryFile() as said, ThreadPoolExecutor(1) as thread:
        manager: Any = AsyncKernelManager(
            kernel_name="python3",
            kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),  # only the one of this Python
            connection_file=os.path.join(folder, "kernel.json"),
            log=silent,
        )
        client: Any = NotebookClient(
            new_notebook(cells=[new_code_cell()]),
            km=manager,
            allow_errors=True,
            startup_timeout=STARTING,
            shutdown_kernel="immediate",
            timeout_func=lambda cell: cell.metadata["seconds"],
            interrupt_on_timeout=True,
            error_on_timeout={"ename": TIMED_OUT},
            on_cell_error=lambda cell, cell_index, execute_reply: errors.append(execute_reply["content"]),
            log=silent,
        )
        client.output = lambda *given: None  # what a notebook prints does not count, and may be long
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(filter(None, [HOME, os.environ.get("PYTHONPATH")])),
            "PYTHONUTF8": "1",
            "OMP_NUM_THREADS": "1",
            "MPLBACKEND": "Agg",  # no windows
            "PIP_NO_INDEX": "1",  # installing something would change the next student's grade
            "IPYTHONDIR": folder,
        }
        started: Future[Any] = Future()  # the event loop of that thread
        over = asyncio.Event()

        async def live() -> None:
            streams = {"stdout": subprocess.DEVNULL, "stderr": said}
            async with client.async_setup_kernel(cleanup_kc=True, cwd=folder, env=environment, **streams):
                # A cell that closed the kernel's connections would make the next request wait for ever.
                client.kc.shell_channel.socket.sndtimeo = 1000 * REACTING
                started.set_result(asyncio.get_running_loop())
                await over.wait()

        async def execute(source: str, seconds: float = timeout) -> Verdict:
            errors.clear()
            try:
                await client.async_execute_cell(new_code_cell(source, metadata={"seconds": seconds}), 0)
            except Exception as error:  # it died, or does not keep to the protocol
                raise _Lost(FAILED, f"The kernel is lost: {error}.") from None
            if not errors:
                return "", ""
            name, message = (str(errors[0].get(key) or "") for key in ("ename", "evalue"))
            if name != TIMED_OUT:
                message = f"The cell raised {name}{f': {message}' if message else ''}".rstrip(".")
                return FAILED, f"{message[:MAX_MESSAGE]}."
            late = TIMED_OUT, f"Not finished after {seconds:g} seconds."
            if source != "pass" and (await execute("pass", REACTING))[0]:
                raise _Lost(*late)
            return late

        living: Future[Any] = thread.submit(asyncio.run, live())
        try:
            wait([living, started], return_when=FIRST_COMPLETED)
            if living.done():
                atexit.unregister(client._cleanup_kernel)  # nbclient does not, if the kernel does not start
                said.seek(0)
                lines = said.read(MAX_BYTES).decode(errors="replace").strip().splitlines()
                raise _Lost(NOT_RUN, f"{living.exception()}. {lines[-1] if lines else ''}")
            yield lambda source: asyncio.run_coroutine_threadsafe(execute(source), started.result())
        finally:
            if started.done():
                started.result().call_soon_threadsafe(over.set)
            else:
                over.set()


@contextmanager
def _folder() -> Iterator[str]:
    """A temporary folder. Files in it that cannot be removed are left."""
    folder = tempfile.mkdtemp()
    try:
        yield folder
    finally:
        with suppress(OSError, RecursionError):
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raise an error here after so many seconds, where the system has such a clock: not on Windows, not in threads."""

    def late(*given: object) -> None:
        raise _Late

    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _knock(port: int) -> None:
    with suppress(OSError):
        socket.create_connection(("127.0.0.1", port)).close()


def table(grades: Sequence[Grade]) -> str:
    """The grades as text: for each chapter a row for each notebook and a column for each exercise, then the failures.

    >>> from turing.grading import Grade, table
    >>> print(table([Grade("ada.ipynb", "machines", "even_ones", "failed", "On the empty word …", out_of=1)]))
    machines
    notebook   even_ones  points
    ada.ipynb  failed     0 of 1
    <BLANKLINE>
    ada.ipynb, even_ones: failed. On the empty word …

    Chapter: :doc:`/book/teaching`.
    """
    parts = []
    for chapter in dict.fromkeys(g.chapter for g in grades if g.chapter):
        here = [g for g in grades if g.chapter == chapter]
        columns = list(dict.fromkeys(g.exercise for g in here))
        rows = [["notebook", *columns, "points"]]
        for notebook in dict.fromkeys(g.notebook for g in here):
            own = [g for g in here if g.notebook == notebook]
            verdicts = {g.exercise: g.verdict for g in own}
            rows.append([printable(notebook), *(verdicts.get(e, "") for e in columns), _points(own)])
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


def _points(grades: Sequence[Grade]) -> str:
    return f"{sum(g.points for g in grades):g} of {sum(g.out_of for g in grades):g}"


def feedback(grades: Sequence[Grade], folder: str | Path) -> None:
    """Write a text for each student: one file for each notebook, with its points, and for each exercise the verdict and
    the message. The file on ``ada/gates.ipynb`` is ``ada/gates.txt`` in ``folder``, which is made if need be.

    Chapter: :doc:`/book/teaching`.
    """
    for notebook in dict.fromkeys(g.notebook for g in grades):
        own = [g for g in grades if g.notebook == notebook]
        lines = [f"{notebook}: {_points(own)} points"]
        for g in own:
            about = f"{g.exercise}: {g.verdict}, {_points([g])} points" if g.exercise else g.verdict
            lines += ["", about, *(f"  {line}" for line in g.message.split("\n"))]
        parts = [part for part in PurePath(notebook).parts if part not in ("..", PurePath(notebook).anchor)]
        path = Path(folder, *parts[:-1], f"{re.split(r'[.]ipynb', parts[-1], flags=re.IGNORECASE)[0]}.txt")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(map(printable, lines)) + "\n", encoding="utf-8")


def write_csv(grades: Iterable[Grade], file: TextIO, header: bool = True) -> None:
    """Write the grades as CSV to an open text file, one row for each exercise of each notebook.

    The columns are notebook, chapter, exercise, verdict, points, out_of and message. With ``header=False`` there is no
    row of these names, so that you can append to a file.

    Chapter: :doc:`/book/teaching`.
    """
    rows = csv.writer(file, lineterminator="\n")
    if header:
        rows.writerow(COLUMNS)
    for g in grades:
        cells = [getattr(g, column) for column in COLUMNS]
        rows.writerow([_cell(cell) if isinstance(cell, str) else f"{cell:g}" for cell in cells])


def _cell(text: str) -> str:
    """Text that no spreadsheet takes for a formula, since students choose file names and messages."""
    text = "\n".join(map(printable, text.split("\n")))
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
