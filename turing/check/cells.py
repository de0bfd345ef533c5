"""The process in which the cells of one student's notebook run, one after the other, and are judged.

``turing.check.grading`` starts it. It reads the cells from standard input, and tells each event as a line of JSON on
what was its standard output; what the cells print goes nowhere.
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
from turing.check import _judged, _name, _said, exercises
from turing.check.grading import _defined

__all__: list[str] = []  # a part of turing.check.grading

LIGHT = {"00_machines", "01_gates"}  # chapters whose judges need no torch
MOST = 2000  # characters of a message


def main() -> NoReturn:
    """Read a job, run its cells and tell what happens; then leave, whatever the cells have left behind."""
    job = json.load(sys.stdin)
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    for number in (0, 1):
        os.dup2(os.open(os.devnull, os.O_RDWR), number)

    word, dumps = job["word"], json.dumps

    def tell(**event: object) -> None:
        channel.write(f"{word}{dumps(event)}\n")
        channel.flush()

    run(job["cells"], job["chapters"], {(number, name) for number, name in job["skip"]}, tell)
    tell(done=True)
    os._exit(0)


def run(
    cells: list[tuple[int, str]], chapters: list[str], skip: set[tuple[int, str]], tell: Callable[..., None]
) -> None:
    """Run the cells and judge what they define, but for the answers that are known not to end."""
    judges = {name: judge for chapter in chapters for name, judge in exercises(chapter).items()}
    if {*chapters} - LIGHT:
        for name in turing.LATER:
            import_module(f"turing.{name}")
    library, shell = Library(), _shell()
    os.dup2(os.open(os.devnull, os.O_RDWR), 2)  # until here, what goes wrong is told
    names = shell.user_ns
    for number, source in cells:
        tell(cell=number)
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
                tell(judging=name)
                passed, message = verdict(name, names[name], judge, library)
                tell(exercise=name, passed=passed, message=message[:MOST])
            elif name in defined:
                why = f"The cell raised {_said(error)}." if error else f"The cell leaves no function {name}."
                tell(exercise=name, passed=False, message=why[:MOST])


def verdict(name: str, answer: object, judge: Callable[[object], str], library: Library) -> tuple[bool, str]:
    """Whether an answer is right, and what the judge says."""

    def restored(value: object) -> str:
        library.restore()  # also from what the answer did when it was called
        return judge(value)

    if not callable(answer):
        return False, f"{name} is an object of type {type(answer).__name__}, and a function was expected."
    if _name(answer) != name:
        return False, f"{name} is a function that was defined under the name {_name(answer)!r}. Write def {name}():."
    library.restore()
    try:
        return _judged(answer, restored)
    except KeyboardInterrupt:  # nobody is there to press Ctrl-C: the answer raised it
        return False, "Your function raised KeyboardInterrupt."


class Library:
    """The library as it is before the first cell runs. What a notebook does to it is undone before each judgement."""

    def __init__(self) -> None:
        self.modules = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "turing"}
        own = [thing for module in self.modules.values() for thing in vars(module).values() if isinstance(thing, type)]
        classes = [thing for thing in own if thing.__module__.split(".")[0] == "turing"]
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
    """An IPython without history and without tracebacks: magics work as in Colab, and an error ends its cell only."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    shell: Any = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    shell.showtraceback = shell.showsyntaxerror = shell.enable_gui = lambda *given, **options: None
    return shell
