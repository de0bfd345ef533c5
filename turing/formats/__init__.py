"""Read and write Turing machines as text, in five formats.

:func:`parse` finds out by itself in which format a text is, and :func:`dumps` writes the one that you name. All formats
but ``json`` restrict names (in each of them, a symbol is one character), and :func:`fit` renames a machine for them.

Chapter: :doc:`/book/machines`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from types import ModuleType

from turing.formats import bbchallenge, jflap, morphett, own_json, turingmachine_io
from turing.formats.base import FormatError, UnknownFormat, abbreviate, ideas, spares
from turing.machine import TuringMachine

__all__ = ["FORMATS", "LIMIT", "FormatError", "UnknownFormat", "dumps", "fit", "parse"]

FormatError.__module__ = UnknownFormat.__module__ = __name__  # where people import them from

# In the order in which a text is tried: JSON is also YAML, so it comes first.
FORMATS: dict[str, ModuleType] = {
    "json": own_json,
    "jflap": jflap,
    "bbchallenge": bbchallenge,
    "turingmachine.io": turingmachine_io,
    "morphett": morphett,
}
LIMIT = max(module.LIMIT for module in FORMATS.values())  # longer text is not read in any format


def parse(text: str, format: str | None = None, alphabet: Iterable[str] = ()) -> TuringMachine:
    """The machine that a text describes. By default the format is recognised from the text.

    >>> turing.formats.parse("1RB1LB_1LA1RZ").run().steps
    6

    Two formats have wildcards: in ``morphett``, ``*`` stands for any symbol or state; in ``jflap``, ``~`` stands for
    any symbol and ``!x`` for any but x. They stand for all symbols that the text mentions and for those in
    ``alphabet``, which a word may contain as well. States and symbols come in the order of the text, and the weights of
    a compiled network follow that order.

    >>> turing.formats.parse("0 * * r 0 ; to the right for ever", alphabet="ab").symbols
    ('_', 'a', 'b')

    A text that is not a machine raises :class:`FormatError`:

    >>> turing.formats.parse("1RB1LB_1LA1R")  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
    turing.formats.FormatError: line 1: row B, column 1: '1R' is not a rule. Write the symbol,
    L or R, and the next state, as in 1RB, or --- where there is none.

    Chapter: :doc:`/book/machines`.
    """
    if not isinstance(text, str):
        raise FormatError(
            f"A machine is read from a str, and {type(text).__name__} was given. Decode bytes first: data.decode()."
        )
    if format is None:
        _check_length(text, LIMIT)
    text = text.removeprefix("\ufeff")
    module = _detected(text) if format is None else _module(format)
    _check_length(text, module.LIMIT)
    return module.parse(text, tuple(alphabet))


def _check_length(text: str, limit: int) -> None:
    if len(text) > limit:
        large = "" if limit == LIMIT else ", and a large one in the json format"
        raise FormatError(
            f"The text has {len(text):,} characters, and at most {limit:,} are read. Give the machine alone{large}."
        )


def _detected(text: str) -> ModuleType:
    for module in FORMATS.values():
        if module.detects(text):
            return module
    given = f"It begins {abbreviate(text.strip())}." if text.strip() else "It is empty."
    raise UnknownFormat(f"The text is in none of the known formats: {', '.join(FORMATS)}. {given}")


def _module(format: str) -> ModuleType:
    if format not in FORMATS:
        raise FormatError(f"There is no format {format!r}. The known ones are: {', '.join(FORMATS)}.")
    return FORMATS[format]


def dumps(machine: TuringMachine, format: str = "json") -> str:
    """A text from which :func:`parse` makes the same machine again, names included.

    >>> print(turing.formats.dumps(turing.zoo["bb2"], "turingmachine.io"), end="")
    blank: 0
    start state: A
    table:
      A:
        0: {write: 1, R: B}
        1: {L: B}
      B:
        0: {write: 1, L: A}
        1: {R: Z}
      Z:

    Only ``json`` is sure to keep the order of states and symbols too; the other formats may group rules by state. Where
    the format cannot hold the machine, a :class:`FormatError` gives the reason; :func:`fit` helps if it is a name.

    >>> turing.formats.dumps(turing.zoo["bb2"], "morphett")  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
    turing.formats.FormatError: morphett cannot hold the state 'A': the initial state is 0, and no
    other is. Rename it, or have turing.formats.fit(machine, 'morphett') do so.

    Chapter: :doc:`/book/machines`.
    """
    module = _module(format)
    _check_holds(machine, format)
    for kind, names, fault in _names(machine, module):
        for name in names:
            if reason := fault(name, name):
                raise FormatError(
                    f"{format} cannot hold the {kind} {abbreviate(name)}: {reason}. "
                    f"Rename it, or have turing.formats.fit(machine, {format!r}) do so."
                )
    text = module.write(machine)
    if len(text) > module.LIMIT:
        hint = "" if format == "json" else " The json format holds larger ones."
        raise FormatError(
            f"{format} cannot hold this machine: it would take {len(text):,} characters, "
            f"and at most {module.LIMIT:,} are read.{hint}"
        )
    if parse(text, format) != machine:  # a safety net under the checks above: never write a different machine
        raise FormatError(f"{format} cannot hold this machine: read back, it is different. The json format holds it.")
    return text


def fit(machine: TuringMachine, format: str) -> TuringMachine:
    """A machine with the same rules that :func:`dumps` can write in the format.

    A name that the format does not allow is replaced by one that it does; the others stay.
    Where the format cannot hold the machine under any names, a :class:`FormatError` gives the reason.

    >>> renamed = turing.formats.fit(turing.zoo["bb2"], "morphett")
    >>> print(turing.formats.dumps(renamed, "morphett"), end="")
    ; state symbol new-symbol direction new-state
    0 _ 1 r B
    0 1 1 l B
    B _ 1 l 0
    B 1 1 r halt-Z

    Chapter: :doc:`/book/machines`.
    """
    module = _module(format)
    _check_holds(machine, format)
    new: dict[str, dict[str, str]] = {"state": {}, "symbol": {}}
    for kind, names, fault in _names(machine, module):
        faulty = [name for name in names if fault(name, name)]
        taken = set(names) - set(faulty)
        left: dict[tuple[bool, bool], Iterator[str]] = {}
        for name in faulty:
            halts = kind == "state" and name in machine.halting
            # A spare that was refused for one name would be refused for every later name of its role: go on after it.
            rest = left.setdefault((name == names[0], halts), spares(kind, machine, halts))
            options = chain(ideas(kind, name), rest)
            idea = next((idea for idea in options if idea not in taken and not fault(name, idea)), None)
            if idea is None:
                raise FormatError(
                    f"{format} cannot hold this machine: it has no name left for the {kind} {abbreviate(name)}. "
                    f"The json format holds it."
                )
            new[kind][name] = idea
            taken.add(idea)
    return machine.rename(new["state"], new["symbol"])


def _names(
    machine: TuringMachine, module: ModuleType
) -> Iterable[tuple[str, tuple[str, ...], Callable[[str, str], str]]]:
    """The states and the symbols, each with the function that says what is wrong with a new name for one."""

    def state_fault(name: str, new: str) -> str:
        return module.state_fault(machine, new, name == machine.initial, name in machine.halting)

    def symbol_fault(name: str, new: str) -> str:
        return module.symbol_fault(machine, new, name == machine.blank)

    return ("state", machine.states, state_fault), ("symbol", machine.symbols, symbol_fault)


def _check_holds(machine: TuringMachine, format: str) -> None:
    if not isinstance(machine, TuringMachine):
        raise TypeError(f"A TuringMachine is written as text, and {machine!r} was given.")
    if reason := FORMATS[format].lacks(machine):
        raise FormatError(f"{format} cannot hold this machine: {reason}. The json format holds it.")
