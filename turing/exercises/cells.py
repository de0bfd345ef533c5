"""The process that runs and judges the cells of one student's notebook, one after the other.

``turing.grading`` starts it. It reads the cells from standard input and reports each event as a line of JSON on what
was its standard output. What the cells print is discarded.
"""

from __future__ import annotations

import builtins
import json
import os
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NoReturn

import turing
from turing.exercises import _error_text, _judged, _name, exercises
from turing.grading import _defined

__all__: list[str] = []  # a part of turing.grading

LIGHT = {"machines", "gates"}  # chapters whose judges need no torch
MAX_MESSAGE = 2000  # characters


def main() -> NoReturn:
    """Read a job, run its cells and report what happens; then exit, whatever the cells have left running."""
    job = json.load(sys.stdin)
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    for number in (0, 1):
        os.dup2(os.open(os.devnull, os.O_RDWR), number)

    password, dumps = job["password"], json.dumps

    def report(**event: object) -> None:
        channel.write(f"{password}{dumps(event)}\n")
        channel.flush()

    run(job["cells"], job["chapters"], {(number, name) for number, name in job["skip"]}, report)
    report(done=True)
    os._exit(0)


def run(
    cells: list[tuple[int, str]], chapters: list[str], skip: set[tuple[int, str]], report: Callable[..., None]
) -> None:
    """Run the cells and judge what they define, except for answers that are known not to finish."""
    judges = {name: judge for chapter in chapters for name, judge in exercises(chapter).items()}
    if {*chapters} - LIGHT:
        for name in turing.LAZY:
            import_module(f"turing.{name}")
    library, shell = Library(), _shell()
    os.dup2(os.open(os.devnull, os.O_RDWR), 2)  # until here, errors are reported
    names = shell.user_ns
    for number, source in cells:
        report(cell=number)
        before = {name: names.get(name) for name in judges}
        defined = _defined(source, judges)
        for name in defined:
            names.pop(name, None)
        result = shell.run_cell(source, silent=True)
        error = result.error_before_exec or result.error_in_exec
        for name, judge in judges.items():
            if (number, name) in skip:
                continue
            if name in names and names[name] is not before[name]:
                report(judging=name)
                passed, message = verdict(name, names[name], judge, library)
                report(exercise=name, passed=passed, message=message[:MAX_MESSAGE])
            elif name in defined:
                why = f"The cell raised {_error_text(error)}." if error else f"The cell leaves no function {name}."
                report(exercise=name, passed=False, message=why[:MAX_MESSAGE])


def verdict(name: str, answer: object, judge: Callable[[object], str], library: Library) -> tuple[bool, str]:
    """Whether an answer is right, and the judge's message."""

    def restored(value: object) -> str:
        library.restore()  # the answer may have changed it when it was called
        return judge(value)

    if not callable(answer):
        return False, f"{name} is an object of type {type(answer).__name__}, and a function was expected."
    if _name(answer) != name:
        return False, f"{name} is a function that was defined under the name {_name(answer)!r}. Write def {name}():."
    library.restore()
    try:
        return _judged(answer, restored)
    except KeyboardInterrupt:  # nobody can press Ctrl-C here: the answer raised it
        return False, "Your function raised KeyboardInterrupt."


class Library:
    """The library as it is before the first cell runs. What a notebook changes is undone before each judgement."""

    def __init__(self) -> None:
        self.modules = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "turing"}
        found = [thing for module in self.modules.values() for thing in vars(module).values()]
        classes = [thing for thing in found if isinstance(thing, type) and thing.__module__.split(".")[0] == "turing"]
        things = [*self.modules.values(), *dict.fromkeys(classes), builtins]
        self.kept: list[tuple[object, Mapping[str, object]]] = [(thing, dict(vars(thing))) for thing in things]

    def restore(self) -> None:
        sys.modules.update(self.modules)
        for thing, kept in self.kept:
            now = vars(thing)
            for name, value in kept.items():
                if now.get(name) is not value and name != "_":
                    setattr(thing, name, value)


def _shell() -> Any:
    """An IPython without history and tracebacks: magics work as in Colab, and an error ends only its cell."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    shell: Any = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    shell.showtraceback = shell.showsyntaxerror = shell.enable_gui = lambda *given, **options: None
    return shell
