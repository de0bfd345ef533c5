"""``turing.compile``: a machine into a network, by any construction of the book."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Literal, TypeGuard, overload

from turing.machine import TuringMachine

if TYPE_CHECKING:
    import turing

    Compiled = turing.wcm.WCM21 | turing.ss.SS95

__all__ = ["compile"]

Option = int | float | str | Sequence[int] | None

CONSTRUCTIONS = {
    "wcm21": ("turing.wcm.network", "WCM21"),
    "ss95": ("turing.ss.turing_machine", "SS95"),
    "ss95-realtime": ("turing.ss.turing_machine", "SS95RealTime"),
}


@overload
def compile(machine: TuringMachine, construction: Literal["wcm21"], **options: Option) -> turing.wcm.WCM21: ...
@overload
def compile(machine: TuringMachine, construction: Literal["ss95"], **options: Option) -> turing.ss.SS95: ...
@overload
def compile(
    machine: TuringMachine, construction: Literal["ss95-realtime"], **options: Option
) -> turing.ss.SS95RealTime: ...
@overload
def compile(machine: TuringMachine, construction: str, **options: Option) -> Compiled: ...
def compile(machine: TuringMachine, construction: str, **options: Option) -> Compiled:
    """The network that simulates a machine, with no training: its ``forward`` is one step.

    ``construction`` is ``"wcm21"``, with the option ``T``, the most steps of a run; or ``"ss95"``, with four layers a
    step, or ``"ss95-realtime"``, with one. The other options are those of :class:`turing.wcm.WCM21` and
    :class:`turing.ss.SS95`.

    >>> import turing
    >>> net = turing.compile(turing.zoo["binary_increment"], "wcm21", T=64)
    >>> turing.zoo["binary_increment"].text(net.run("1011").tape)
    '1100'

    Chapter: :doc:`/book/05_wcm`.
    """
    if construction not in tuple(CONSTRUCTIONS):
        raise ValueError(f"A construction is one of {', '.join(CONSTRUCTIONS)}, and {construction!r} was given.")
    module, name = CONSTRUCTIONS[construction]
    network = getattr(import_module(module), name)
    try:
        inspect.signature(network).bind(machine, **options)
    except TypeError as error:
        known = [option for option in inspect.signature(network).parameters if option != "machine"]
        raise TypeError(f"{construction}: {error}. Its options: {', '.join(known)}.") from None
    return network(machine, **options)


def is_compiled(network: object) -> TypeGuard[Compiled]:
    """Whether :func:`compile` made it."""
    return hasattr(network, "construction")
