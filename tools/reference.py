"""A Sphinx extension: the reference says what a reader needs, once, under the names that a reader types.

- The fields of a named tuple stand in its signature and are explained below it; a class that a module names as its kind
  is described in its own place; `extra_repr` is PyTorch's. None of them has an entry.
- A default that the code names has its value here: 9999.0, and not KAPPA; an argument that begins with _ is left out.
  A widget and a construction are made by a metaclass or a base class that takes anything; what they take is said by
  their own `__init__`.
- What can be had from `turing` itself is headed so: `turing.compile`, and not `turing.construction.compile`.
- A section names the chapter of its entries below its heading, and an entry names only another one.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
from collections import Counter

from docutils import nodes
from sphinx import addnodes

import turing

CHAPTER = "Chapter: "


def skipped(app, what: str, name: str, thing: object, skip: bool, options) -> bool | None:
    field = type(thing).__name__ == "_tuplegetter" and (thing.__doc__ or "").startswith("Alias for field")
    alias = what == "class" and isinstance(thing, type) and thing.__name__ != name
    return True if field or alias or name == "extra_repr" else None


def own_signature(app, what: str, name: str, thing: object, options, signature: str | None, result) -> tuple | None:
    if not signature:
        return None
    if signature == "(*args, **kwargs)" and what == "class":
        own = inspect.signature(thing.__init__)
        parameters = [p.replace(annotation=p.empty) for p in list(own.parameters.values())[1:]]  # without self
        signature = str(own.replace(parameters=parameters, return_annotation=own.empty))
        signature = "" if signature == "(*args, **kwargs)" else signature  # nobody calls it
    if dataclasses.is_dataclass(thing):
        for field in dataclasses.fields(thing):
            if field.default_factory is not dataclasses.MISSING:
                signature = signature.replace(f"{field.name}=<factory>", f"{field.name}={field.default_factory()!r}")
    names = getattr(sys.modules.get(getattr(thing, "__module__", "")), "__dict__", {})
    signature = re.sub(r"(?<==)[A-Z_]+\b", lambda found: repr(names.get(found[0], found[0])), signature)
    return re.sub(r", _\w+(?=[,)])", "", re.sub(r"=lambda [^,)]*", "=…", signature)), result


def short_names(doctree: nodes.document) -> None:
    for heading in doctree.findall(addnodes.desc_signature):
        module, name = heading.get("module"), heading.get("fullname") or ""
        thing, public = sys.modules.get(module), turing
        for part in name.split("."):
            thing, public = getattr(thing, part, None), getattr(public, part, None)
        for prefix in heading.findall(addnodes.desc_addname):
            if thing is not None and thing is public and prefix.astext().startswith("turing."):
                prefix.children = [nodes.Text(re.sub(rf"^{re.escape(module)}\b", "turing", prefix.astext()))]


def chapter_of(paragraph: nodes.paragraph) -> str | None:
    if paragraph.astext().startswith(CHAPTER):
        return next((link["reftarget"] for link in paragraph.findall(addnodes.pending_xref)), None)
    return None


def chapters_once(doctree: nodes.document) -> None:
    for section in doctree.findall(nodes.section):
        if not isinstance(section.parent.parent, nodes.document):
            continue  # the title of the page is a section, and the headings below it are those that a reader sees
        entries = [paragraph for paragraph in section.findall(nodes.paragraph) if chapter_of(paragraph)]
        for paragraph in entries:
            usual = Counter(map(chapter_of, entries)).most_common(1)[0][0]
            paragraph["classes"].append("chapter-named")
            if chapter_of(paragraph) == usual:
                paragraph.parent.remove(paragraph)
                first = section.next_node(nodes.paragraph)
                if not (first and first.parent is section and chapter_of(first) == usual):
                    section.insert(1, paragraph)


def tidied(app, doctree: nodes.document) -> None:
    if next(doctree.findall(addnodes.desc_signature), None):
        short_names(doctree)
        chapters_once(doctree)


def setup(app):
    app.connect("autodoc-process-signature", own_signature)
    app.connect("autodoc-skip-member", skipped)
    app.connect("doctree-read", tidied)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
