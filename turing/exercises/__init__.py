"""The checker of the exercises: it shows the first thing that is wrong, and never raises an error."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from textwrap import fill
from typing import Any

__all__ = ["Wrong", "check", "exercises", "first_failure"]

CHAPTERS = {  # page to module, in the order of _toc.yml; a test compares them
    "machines": "turing.exercises.machines",
    "gates": "turing.exercises.gates",
    "dnf": "turing.exercises.dnf",
    "adders": "turing.exercises.adders",
    "hard-attention": "turing.exercises.attention",
    "wcm21": "turing.exercises.wcm",
    "all-words": "turing.exercises.proof",
    "cantor-stacks": "turing.exercises.cantor",
    "ss95": "turing.exercises.ss",
    "real-time": "turing.exercises.real_time",
    "averages": "turing.exercises.averages",
    "layer-norm": "turing.exercises.layer_norm",
    "gate-by-gate": "turing.exercises.circuits",
    "queue": "turing.exercises.queue",
    "table": "turing.exercises.table",
    "how-fast": "turing.exercises.fast",
    "reading-back": "turing.exercises.reading_back",
    "break-restore-train": "turing.exercises.study",
}
WIDTH = 66  # of a printed line, so that it fits into a solution on the page


class Wrong(Exception):
    """Raised by a judge at the first failure of an answer; the message is for the reader.

    Chapter: :doc:`/book/machines`.
    """


def exercises(chapter: str) -> dict[str, Callable[[object], str]]:
    """The judges of a chapter's exercises: a dictionary by the name of the exercise.

    ``chapter`` is the name of the chapter's page. A judge is called with what the reader's function returned. It raises
    :class:`Wrong` at the first failure; otherwise it returns a description of the inputs on which the answer is right.

    >>> from turing.exercises import exercises
    >>> list(exercises("machines"))
    ['even_ones', 'decrement', 'as_then_bs', 'hold_a_beaver']

    Chapter: :doc:`/book/machines`.
    """
    if chapter not in tuple(CHAPTERS):  # a list has no hash
        raise ValueError(f"A chapter is one of {', '.join(CHAPTERS)}, and {chapter!r} was given.")
    return import_module(CHAPTERS[chapter]).EXERCISES  # not at the top: a judge may need torch


def check(answer: Callable[[], object]) -> None:
    """Check the answer to an exercise, and print the result.

    ``answer`` is a function without arguments that has the name of the exercise and returns the answer.

    >>> def even_ones():
    ...     delta = {("A", "_"): ("T", "_", 0)}
    ...     return turing.TuringMachine(delta, "A", {"T", "F"}, "_", alphabet="01")
    >>> turing.check(even_ones)
    even_ones: not yet. On the word '0' your machine jams at step 1 in
    state A reading 0: there is no rule for (A, 0).
      step 0  A  [0]

    Chapter: :doc:`/book/machines`.
    """
    right, message = _judged(answer)
    lines = (message if right else f"{_name(answer)}: not yet. {message}").split("\n")
    text = "\n".join(line if line.startswith(" ") else fill(line, WIDTH) for line in lines)
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding))  # a name may hold unprintable characters


def first_failure(answer: Callable[[], object]) -> str | None:
    """The first failure that :func:`check` would print, as a text, or None if the answer is right.

    Chapter: :doc:`/book/machines`.
    """
    right, message = _judged(answer)
    return None if right else message


def _judged(answer: Callable[[], object]) -> tuple[bool, str]:
    return _verdict(_name(answer), lambda: _judge(answer)(_returned(answer)))


def _verdict(name: str, judged: Callable[[], str]) -> tuple[bool, str]:
    try:
        return True, f"{name}: right on {judged()}."
    except Wrong as wrong:
        return False, str(wrong)
    except KeyboardInterrupt:  # how the reader leaves an endless loop
        raise
    except BaseException as error:  # a reader's object may fail wherever the judge touches it
        return False, f"What your function returned cannot be used: {_error_text(error)}."


def _name(answer: Any) -> str:
    try:
        name = answer.__name__
    except Exception:
        name = None
    return name if isinstance(name, str) else "check"


def _judge(answer: object) -> Callable[[object], str]:
    if not callable(answer):
        raise Wrong(
            f"check takes the function itself, and it was given an object of type {type(answer).__name__}. "
            f"Write turing.check(name), with no brackets after the function's name."
        )
    judges = {name: judge for chapter in CHAPTERS for name, judge in exercises(chapter).items()}
    if (name := _name(answer)) not in judges:
        close = get_close_matches(name, judges, n=1, cutoff=0.5)
        raise Wrong(
            f"No exercise has this name{f'; did you mean {close[0]}' if close else ''}. "
            f"Name your function after the exercise: {', '.join(judges)}."
        )
    return judges[name]


def _returned(answer: Callable[[], object]) -> object:
    try:
        value = answer()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__)[1:2]]
        raise Wrong(
            f"Your function raised {_error_text(error)}{f' (line {lines[0]} of the cell)' if lines else ''}."
        ) from None
    if value is None:
        raise Wrong("Your function returned None. Does it end in a return statement?")
    return value


def _error_text(error: BaseException) -> str:
    message = _text(error).rstrip(".")
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return ""
