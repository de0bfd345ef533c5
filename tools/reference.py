"""A Sphinx extension: the reference leaves out what says nothing.

The fields of a named tuple stand in its signature and are explained below it; on its own, Python says of each only
which number it has. A class that a module names as its kind is described in its own place. `extra_repr` is PyTorch's.
A method names its chapter only where that is not the chapter of its class. A widget and a construction are made by a
metaclass or a base class that takes anything; what they take is said by their own `__init__`.
"""

from __future__ import annotations

import inspect
import sys

CHAPTER = "Chapter: "


def skipped(app, what: str, name: str, thing: object, skip: bool, options) -> bool | None:
    field = type(thing).__name__ == "_tuplegetter" and (thing.__doc__ or "").startswith("Alias for field")
    alias = what == "class" and isinstance(thing, type) and thing.__name__ != name
    return True if field or alias or name == "extra_repr" else None


def chapter_once(app, what: str, name: str, thing: object, options, lines: list[str]) -> None:
    thing = getattr(thing, "fget", thing)  # of a property
    if what not in ("method", "property") or not hasattr(thing, "__qualname__"):
        return
    owner = getattr(sys.modules[thing.__module__], thing.__qualname__.partition(".")[0], None)
    said = {line.strip() for line in (owner.__doc__ or "").splitlines() if line.strip().startswith(CHAPTER)}
    lines[:] = [line for line in lines if line.strip() not in said]


def own_signature(app, what: str, name: str, thing: object, options, signature: str | None, result) -> tuple | None:
    if what != "class" or signature != "(*args, **kwargs)":
        return None
    own = inspect.signature(thing.__init__)
    parameters = [p.replace(annotation=p.empty) for p in list(own.parameters.values())[1:]]  # without self
    return str(own.replace(parameters=parameters, return_annotation=own.empty)), result


def setup(app):
    app.connect("autodoc-process-signature", own_signature)
    app.connect("autodoc-process-docstring", chapter_once)
    app.connect("autodoc-skip-member", skipped)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
