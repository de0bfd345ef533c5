"""Show a piece of the library in a page, from its source file, so that nobody has to retype it."""

from __future__ import annotations

import inspect
import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.display import Markdown

__all__ = ["source"]

# The way from the library's pages to a chapter; who reads a listing is in the chapter.
POINTER = re.compile(r"\n*^ *Chapter: :doc:`[^`]+`\.", re.MULTILINE)
ROLE = re.compile(r":(?:\w+:)?\w+:(?=`)")  # Sphinx's, before a name in a docstring


def source(thing: Any) -> Markdown:
    """The source of a class, function or module of this library as a code block, headed by its file.

    A cell of a notebook that ends in ``turing.source(turing.gates.AND)`` shows the class.

    Chapter: :doc:`/book/machines`.
    """
    from IPython.display import Markdown

    thing = inspect.unwrap(thing)  # the decorated function, not the decorator's wrapper
    try:
        lines, _ = inspect.getsourcelines(thing)
        path = inspect.getsourcefile(thing) or ""  # there is one, since its lines were found
        file = Path(path).relative_to(Path(__file__).parent.parent).as_posix()
    except (TypeError, OSError, ValueError):
        raise TypeError(
            f"source shows a class, a function or a module of this library, such as turing.gates.AND, and {thing!r} "
            f"was given."
        ) from None
    text = ROLE.sub("", POINTER.sub("", textwrap.dedent("".join(lines)).rstrip()))
    return Markdown(f"From `{file}`:\n\n```python\n{text}\n```")
