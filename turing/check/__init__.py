"""The checker of the exercises: it shows the first thing that is wrong, and never raises.

Each chapter's exercises are a module here, with a dictionary ``EXERCISES`` from an exercise's name
to its judge. A judge is given what the reader's function returns. It raises :class:`Wrong` at the
first failure, and otherwise returns a text that says on what the answer is right.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from textwrap import fill
from typing import Any

__all__ = ["Wrong", "check", "exercises", "first_failure"]

CHAPTERS = {
    "00_machines": "turing.check.machines",
    "01_gates": "turing.check.gates",
    "02_dnf": "turing.check.dnf",
    "03_adders": "turing.check.adders",
    "04_attention": "turing.check.attention",
    "05_wcm": "turing.check.wcm",
    "06_cantor": "turing.check.cantor",
    "07_ss": "turing.check.ss",
    "08_fast": "turing.check.fast",
}
WIDTH = 66  # of a printed line, so that it fits into a solution on the page


class Wrong(Exception):
    """The first failure of an answer, said to the reader.

    Chapter: :doc:`/book/00_machines`.
    """


def exercises(chapter: str) -> dict[str, Callable[[object], str]]:
    """The judges of a chapter's exercises by name.

    Chapter: :doc:`/book/00_machines`.
    """
    return import_module(CHAPTERS[chapter]).EXERCISES  # late: a judge may need torch, ``import turing`` not


def check(answer: Callable[[], object]) -> None:
    """Check the answer to the exercise that the function ``answer`` is named after, and print the result.

    >>> import turing
    >>> def even_ones():
    ...     delta = {("A", "_"): ("T", "_", 0)}
    ...     return turing.TuringMachine(delta, "A", {"T", "F"}, "_", alphabet="01")
    >>> turing.check(even_ones)
    even_ones: not yet. On the word '0' your machine jams at step 1 in
    state A reading 0: there is no rule for (A, 0).
      step 0  A  [0]

    Chapter: :doc:`/book/00_machines`.
    """
    right, message = _judged(answer)
    said, *configurations = (message if right else f"{_name(answer)}: not yet. {message}").split("\n")
    text = "\n".join([fill(said, WIDTH), *configurations])
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding))  # a name may hold what cannot be printed


def first_failure(answer: Callable[[], object]) -> str | None:
    """What ``check`` would print as the first failure, or None if the answer is right.

    Chapter: :doc:`/book/00_machines`.
    """
    right, message = _judged(answer)
    return None if right else message


def _judged(answer: Callable[[], object], judge: Callable[[object], str] | None = None) -> tuple[bool, str]:
    try:
        name, judge = _name(answer), judge or _judge(answer)
        return True, f"{name}: right on {judge(_returned(answer))}."
    except Wrong as wrong:
        return False, str(wrong)
    except KeyboardInterrupt:  # the reader's way out of a loop of their own
        raise
    except BaseException as error:  # a reader's object may fail wherever the judge touches it
        return False, f"What your function returned cannot be used: {_said(error)}."


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
            f"Your function raised {_said(error)}{f' (line {lines[0]} of the cell)' if lines else ''}."
        ) from None
    if value is None:
        raise Wrong("Your function returned None. Does it end in a return statement?")
    return value


def _said(error: BaseException) -> str:
    try:
        said = str(error).rstrip(".")
    except Exception:
        said = ""
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
