"""Predict first: the reader commits to an answer before the page shows it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

import traitlets

from turing.widgets.base import Widget, joined, style

__all__ = ["Predict"]


class Predict(Widget):
    """A question with options; once the reader has committed to one, it says whether that is right, and why.

    ``answer`` is the index of the right option, counted from 0, and ``because`` the text that says why it is right.
    Text in backticks is shown as code. ``choice``, the index of the option that the reader has committed to, or None,
    is live.

    Example::

        Predict(
            "How many steps does `bb2` make?",
            ["4", "6", "21"],
            answer=1,
            because="`turing.zoo['bb2'].run('').steps` is 6.",
        )

    Chapter: :doc:`/book/machines`.
    """

    _esm = joined("predict/widget.js")
    _css = style("predict/widget.css")

    question = traitlets.Unicode(read_only=True).tag(sync=True)
    options = traitlets.List(traitlets.Unicode(), read_only=True).tag(sync=True)
    answer = traitlets.Int(read_only=True).tag(sync=True)
    because = traitlets.Unicode(read_only=True).tag(sync=True)
    choice = traitlets.Int(None, allow_none=True).tag(sync=True)

    def __init__(self, question: str, options: Iterable[str], answer: int, because: str):
        if isinstance(options, str):
            raise ValueError(f"options is a list of texts, and the string {options!r} was given. Put it in a list.")
        options = list(options)
        if len(options) < 2:
            raise ValueError(f"A prediction needs two options or more, and {len(options)} was given: {options}.")
        if isinstance(answer, bool) or not isinstance(answer, int) or not 0 <= answer < len(options):
            raise ValueError(
                f"answer is the index of the right option, 0 to {len(options) - 1}, and {answer!r} was given."
            )
        for name, value in (
            ("question", question),
            ("options", options),
            ("answer", answer),
            ("because", because),
        ):
            self.set_trait(name, value)
        super().__init__()

    def fallback(self) -> str:
        options = "\n".join(f"<li>{_inline(option)}</li>" for option in self.options)
        return (
            f"<p>{_inline(self.question)}</p>\n<ul>\n{options}\n</ul>\n"
            f"<details><summary>Answer</summary>\n<p>{_inline(self.options[self.answer])}. "
            f"{_inline(self.because)}</p>\n</details>"
        )

    def __repr__(self) -> str:
        return f"Predict({self.question!r}, {self.options!r})"


def _inline(text: str) -> str:
    """Escaped text, with `code` between backticks."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
