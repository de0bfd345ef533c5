"""Progress bar and graceful Ctrl-C."""

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


def bar(limit: int, begun: int = 0, show: bool | None = None) -> tqdm:
    """A progress bar over steps that appears if the work takes a while; by default only on a terminal."""
    from tqdm import tqdm

    layout = "{bar:20} {n_fmt} of at most {total_fmt} steps, {rate_fmt}, {elapsed}, at most {remaining} to go"
    disable = None if show is None else not show
    return tqdm(
        total=limit, initial=begun, disable=disable, unit=" steps", unit_scale=True, bar_format=layout, delay=PATIENCE
    )


@contextmanager
def ctrl_c() -> Iterator[list[int]]:
    """A list that is empty until Ctrl-C is pressed; an exception would lose the step that it interrupts."""
    pressed: list[int] = []

    def note(number: int, frame: object) -> None:
        if pressed:
            raise KeyboardInterrupt  # pressed twice: stop at once
        pressed.append(number)

    if threading.current_thread() is not threading.main_thread():
        yield pressed  # only the main thread can handle signals
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)
