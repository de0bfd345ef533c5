"""Checks of what is passed to the library, and the small pieces of text that its messages are made of.

A check returns the value, or raises an error that says what was given, what was expected and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import index
from typing import Any

__all__: list[str] = []  # for the library's own modules

MAX_NUMBERS = 120_000_000  # of a compiled network: a gigabyte; the universal machine in SS95 has 106,743,646


def integer(name: str, value: Any, minimum: int, maximum: int | None = None, *, what: str = "") -> int:
    """The value as an int, if it is an integer within the limits. NumPy's integers are accepted, and bools are not.

    >>> integer("bits", 7, 1)
    7
    >>> integer("bits", 0, 1, what="the length of a position")
    Traceback (most recent call last):
    ...
    ValueError: bits, the length of a position, must be an integer of at least 1, and 0 was given.
    """
    try:
        number = None if isinstance(value, bool) else index(value)
    except TypeError:
        number = None
    if number is None or number < minimum or (maximum is not None and number > maximum):
        subject = f"{name}, {what}," if what else name
        limits = f"of at least {minimum}" if maximum is None else f"from {minimum} to {maximum}"
        raise ValueError(f"{subject} must be an integer {limits}, and {value!r} was given.")
    return number


def step_limit(max_steps: int) -> int:
    """The number of steps after which a run stops.

    >>> step_limit(-1)
    Traceback (most recent call last):
    ...
    ValueError: max_steps must be an integer of at least 0, and -1 was given.
    """
    return integer("max_steps", max_steps, 0)


def network_size(machine: str, where: str, numbers: int, advice: str = "") -> None:
    """Raise if a network would have more numbers than are built. It is called before the first one is allocated.

    >>> network_size("The machine", "in wcm21", 10**9)  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
    ...
    ValueError: The machine takes 1,000,000,000 numbers in wcm21, and at most 120,000,000 are built.
    Take a machine with fewer states or symbols.
    """
    if numbers > MAX_NUMBERS:
        raise ValueError(
            f"{machine} takes {numbers:,} numbers {where}, and at most {MAX_NUMBERS:,} are built. "
            f"Take a machine with fewer states or symbols{advice}."
        )


def word(value: Iterable[str]) -> str | tuple[str, ...]:
    """A word that can be read more than once: the string itself, or a tuple of symbols.

    >>> word(iter(["rock", "paper"]))
    ('rock', 'paper')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, (bytes, set, frozenset, Mapping)) or not isinstance(value, Iterable):
        raise ValueError(f"A word is a string or a sequence of symbols, and {value!r} was given.")
    return tuple(value)


def words(values: Iterable[Iterable[str]]) -> list[str | tuple[str, ...]]:
    """Each of several words, as :func:`word` returns it.

    >>> words("()")
    Traceback (most recent call last):
    ...
    ValueError: A list of words is expected, and the single word '()' was given. Write ['()'].
    """
    if isinstance(values, str):
        raise ValueError(f"A list of words is expected, and the single word {values!r} was given. Write [{values!r}].")
    if isinstance(values, (bytes, Mapping)) or not isinstance(values, Iterable):
        raise ValueError(f"A list of words is expected, and {values!r} was given.")
    return [word(value) for value in values]


def count(n: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun.

    >>> count(1, "step"), count(107, "step"), count(2, "bias", "biases")
    ('1 step', '107 steps', '2 biases')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def listed(names: Iterable[str]) -> str:
    """Names for a message, cut short where there are too many to read.

    >>> listed(["A", "B", " "])
    "A B ' '"
    """
    names = list(names)
    shown = " ".join(name if name.strip() and name.isprintable() else repr(name) for name in names[:30])
    return shown if len(names) <= 30 else f"{shown} … ({len(names)} in all)"


def printable(text: str) -> str:
    r"""The text on one line, with escapes for the characters that a terminal would obey instead of showing them.

    >>> printable("\x1b[2J")
    '\\x1b[2J'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
