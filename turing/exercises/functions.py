"""What exercises share whose answer is a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from turing.exercises import Wrong, _error_text
from turing.exercises.weights import _short_repr


def given_function(thing: object, of: str) -> Callable:
    """The answer, if it can be called."""
    if not callable(thing):
        raise Wrong(f"Return a function of {of}; {_short_repr(thing)} was returned.")
    return thing


def called(function: Callable, where: str, *arguments: Any) -> object:
    """What it gives, or what it raises, as a wrong answer."""
    try:
        return function(*arguments)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise Wrong(f"{where} your function raises {_error_text(error)}.") from None
