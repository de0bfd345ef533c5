"""The queue wheel: the window of a network as a wheel of cells, with the head going round."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from html import escape
from typing import TYPE_CHECKING, Any

import traitlets

from turing.machine import TuringMachine
from turing.widgets.base import Widget, joined, style, table
from turing.widgets.machine import entry_to_json, word_of
from turing.zoo import zoo

if TYPE_CHECKING:
    from turing.queue import LiWang25

__all__ = ["QueueWheel"]

MAX_SYMBOLS, MAX_CELLS, MAX_TOKENS = 16, 24, 1_000
SHOWN = 12  # tokens in the fallback


def _network(network: LiWang25, _widget: object = None) -> dict:
    from turing import ir

    return ir.to_dict(network)


class QueueWheel(Widget):
    """The window of ``liwang25`` as a wheel of cells: each token is written where the oldest one stood.

    - ``word``: at most 16 symbols
    - ``window``: the number of cells, at most 24; by default two more than the word has
    - ``token``: after how many tokens the wheel is shown
    - ``machine``: a Turing machine, by default ``balanced_parentheses``; give a word with your own machine

    The network runs in the page. All but ``machine`` are live.

    Example::

        QueueWheel("B()E", token=3)

    Chapter: :doc:`/book/queue`.
    """

    _esm = joined("queue_wheel/widget.js")
    _css = style("queue_wheel/widget.css")

    network: traitlets.TraitType[Any, Any] = traitlets.TraitType(read_only=True).tag(sync=True, to_json=_network)
    tokens: traitlets.List[list] = traitlets.List(read_only=True).tag(sync=True)
    entry: traitlets.Dict = traitlets.Dict(read_only=True).tag(sync=True)
    max = traitlets.Dict({"symbols": MAX_SYMBOLS, "cells": MAX_CELLS, "tokens": MAX_TOKENS}, read_only=True).tag(
        sync=True
    )
    # Plain traits: the validators below say what is expected.
    word: traitlets.TraitType[Any, Any] = traitlets.TraitType("").tag(sync=True)
    window: traitlets.TraitType[int, int] = traitlets.TraitType(2).tag(sync=True)
    token: traitlets.TraitType[int, int] = traitlets.TraitType(0).tag(sync=True)

    def __init__(
        self,
        word: Iterable[str] = "B()E",
        window: int | None = None,
        token: int = 0,
        machine: TuringMachine | None = None,
    ):
        from turing.queue import LiWang25

        if machine is not None and not isinstance(machine, TuringMachine):
            raise TypeError(f"QueueWheel takes a TuringMachine, and {machine!r} was given.")
        self._own = machine
        self.set_trait("network", LiWang25(machine or zoo["balanced_parentheses"]))
        self.set_trait("tokens", [list(each) for each in self.network.tokens])
        self.set_trait("entry", entry_to_json(zoo.entry_of(self.network.machine)))
        super().__init__()
        self.word = word
        self.window = min(len(self.word) + 2, MAX_CELLS) if window is None else window
        self.token = token

    @traitlets.validate("word")
    def _valid_word(self, proposal: dict) -> str | list[str]:
        word = word_of(self.network.machine, proposal["value"])
        if len(word) > MAX_SYMBOLS:
            raise ValueError(f"The widget takes words of {MAX_SYMBOLS} symbols at most, and {len(word)} were given.")
        return word

    @traitlets.validate("window")
    def _valid_window(self, proposal: dict) -> int:
        window = proposal["value"]
        if isinstance(window, bool) or not isinstance(window, int) or not 1 <= window <= MAX_CELLS:
            raise ValueError(f"The wheel has 1 to {MAX_CELLS} cells, and window={window!r} was given.")
        return window

    @traitlets.validate("token")
    def _valid_token(self, proposal: dict) -> int:
        token = proposal["value"]
        if isinstance(token, bool) or not isinstance(token, int) or not 0 <= token <= MAX_TOKENS:
            raise ValueError(f"The widget shows 0 to {MAX_TOKENS} tokens, and token={token!r} was given.")
        return token

    def fallback(self) -> str:
        from turing.wcm import CapacityError

        network, passes = self.network.within(max(self.window, len(self.word))), SHOWN
        with suppress(CapacityError):  # which the page shows
            run = network.run(self.word, SHOWN)
            passes = min(SHOWN, run.micro_steps + (run.status == "jammed"))
        said, state = [], network.start([self.word])
        for _ in range(passes):
            state = network.step(state)
            said.append(network.vocabulary[int(state.vectors["argmax"].argmax())])
        prompt = " ".join(escape(token) for token in network.prompt(self.word))
        rows = [(number, escape(token)) for number, token in enumerate(said, start=1)]
        return (
            f"<p>The window before the first token: <code>{prompt}</code>. Each token takes the place of the oldest."
            f"</p>\n{table(('token', 'the network says'), rows)}"
            "<p>With scripts on, the page runs the network and turns the wheel.</p>"
        )

    def __repr__(self) -> str:
        machine = f", machine={self._own!r}" if self._own else ""
        return f"QueueWheel({self.word!r}, window={self.window}, token={self.token}{machine})"
