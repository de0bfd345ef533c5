"""Long work: a bar that shows how it goes, and Ctrl-C that ends it in good order."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tqdm import tqdm

__all__: list[str] = []  # for the command line and the engines

PATIENCE = 0.5  # seconds before a bar appears


def bar(most: int, begun: int = 0, show: bool | None = None) -> tqdm:
    """A progress bar over steps that appears once the work lasts; on a terminal, unless told otherwise."""
    from tqdm import tqdm

    layout = "{bar:20} {n_fmt} of at most {total_fmt} steps, {rate_fmt}, {elapsed}, at most {remaining} to go"
    disable = None if show is None else not show
    return tqdm(
        total=most, initial=begun, disable=disable, unit=" steps", unit_scale=True, bar_format=layout, delay=PATIENCE
    )


@contextmanager
def ctrl_c() -> Iterator[list[int]]:
    """A list that Ctrl-C puts something into; an exception would lose the step it falls into."""
    pressed: list[int] = []

    def note(number: int, frame: object) -> None:
        if pressed:
            raise KeyboardInterrupt  # pressed twice: the user means it
        pressed.append(number)

    if threading.current_thread() is not threading.main_thread():
        yield pressed  # only the main thread is told
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)
