"""A Sphinx extension: the reference leaves out what says nothing.

The fields of a named tuple stand in its signature and are explained below it; on its own, Python says of each only
which number it has. A class that a module names as its kind is described in its own place. `extra_repr` is PyTorch's.
"""

from __future__ import annotations


def skipped(app, what: str, name: str, thing: object, skip: bool, options) -> bool | None:
    field = type(thing).__name__ == "_tuplegetter" and (thing.__doc__ or "").startswith("Alias for field")
    alias = what == "class" and isinstance(thing, type) and thing.__name__ != name
    return True if field or alias or name == "extra_repr" else None


def setup(app):
    app.connect("autodoc-skip-member", skipped)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
