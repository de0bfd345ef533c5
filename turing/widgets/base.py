"""The base of the book's widgets: live in a kernel, and alive in a page that has none.

A widget is an ES module, ``export default { render({ model, el }) }``, that may import others. A kernel runs it
through anywidget, with traits that both sides change. A static page runs the same module through ``PAGE`` below,
which carries the traits as JSON and a model of a few lines. A module that several widgets of a notebook need is in the
output of the first one only, and the others find it on the page.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any, ClassVar

import anywidget

__all__ = ["Widget", "joined", "style", "table"]

FOLDER = Path(__file__).parent

# The module is imported from a Blob, because a page opened from file:// may not import files.
# The fallback is hidden only when the widget stands in its place, and comes back in print.
PAGE = """\
<style>
{css}</style>
<div id="{id}">
<div class="turing-live"></div>
<div class="turing-widget turing-fallback">
{fallback}
</div>
</div>
<script type="module">
const place = document.querySelector("#{id}:not([data-taken])");
place.dataset.taken = "";
const [el, fallback] = place.children;
const state = {state}, listeners = {{}};
const texts = Object.assign((globalThis.turingModules ??= {{}}), {parts});
const model = {{
  get: (key) => state[key],
  set: (key, value) => {{
    if (state[key] === value) return;
    state[key] = value;
    (listeners["change:" + key] ?? []).forEach((listener) => listener());
  }},
  on: (event, listener) => (listeners[event] ??= []).push(listener),
  off: () => {{}},
  save_changes: () => {{}},
}};
try {{
  const esm = new Blob({names}.map((name) => texts[name]), {{ type: "text/javascript" }});
  const module = await import(URL.createObjectURL(esm));
  await module.default.render({{ model, el }});
  fallback.hidden = true;
}} catch (error) {{
  el.replaceChildren();
  console.error(error);
}}
</script>
"""

# What follows the functions that modules have become. A worker gets their text, without an import or export, because a
# page opened from file:// may not start a worker that is a module.
LOADER = """\
}};
const loaded = {{}}, load = (name) => (loaded[name] ??= modules[name]());
const workerUrl = (name) => URL.createObjectURL(new Blob([
  `"use strict"; const modules = {{${{Object.values(modules)}}}}, loaded = {{}}, load = ${{load}}; load("${{name}}");`,
], {{ type: "text/javascript" }}));
export const {{ {exports} }} = load("{name}");
export default load("{name}").default;
"""

PARTS: dict[str, dict[str, str]] = {}  # of each text that was joined


def joined(name: str) -> str:
    """An ES module of this folder and all modules that it imports, as the text of one module with the same exports.

    Each becomes a function that returns what it exports, so that the names of one do not meet those of another.
    """
    modules: dict[str, str] = {}
    exports = _collect(FOLDER / name, modules)
    parts = {"modules": "const modules = {\n", **modules}
    parts[f"load {name}"] = LOADER.format(name=name, exports=", ".join(exports))
    text = "".join(parts.values())
    PARTS[text] = parts
    return text


def _collect(path: Path, modules: dict[str, str]) -> list[str]:
    """Add a module after those that it imports; returns the names that it exports."""

    def key_of(other: str) -> str:
        other_path = (path.parent / other).resolve()
        key = other_path.relative_to(FOLDER.resolve()).as_posix()
        if key not in modules:
            _collect(other_path, modules)
        return key

    def imported(found: re.Match) -> str:
        return f'const {{{found[1].replace(" as ", ": ")}}} = load("{key_of(found[2])}");'

    text = re.sub(r"(?m)^ *(//|/\*\*| \* | \*/).*\n", "", path.read_text(encoding="utf-8"))  # comments
    quoted = r"""[^"'`\n]|"[^"\n]*"|'[^'\n]*'|`[^`\n]*`"""
    text = re.sub(rf"(?m)^((?:{quoted})*[;,{{}}()\]]) +// .*$", r"\1", text)  # and those after code, not in a string
    text = re.sub(r"(?m)^\s+", "", text)  # and indents; the templates of our modules have none
    text = re.sub(r'(?m)^import \{([^}]*)\} from "(.+)";$', imported, text)
    text = re.sub(r'import\.meta\.resolve\("(.+?)"\)', lambda found: f'workerUrl("{key_of(found[1])}")', text)
    text = re.sub(r"(?m)^export default ", "const exported = ", text)
    names = re.findall(r"(?m)^export (?:async )?(?:class|const|function\*?) (\w+)", text)
    returned = [*names, "default: exported"] if "\nconst exported = " in text else names
    text = re.sub(r"(?m)^export ", "", text)
    key = path.resolve().relative_to(FOLDER.resolve()).as_posix()
    modules[key] = f'"{key}"() {{\n{text}return {{ {", ".join(returned)} }};\n}},\n'
    return names


def style(*names: str) -> str:
    """The style of a widget after the one that all share, and above it.

    A page repeats the shared one with every widget. Inside ``:root``, or a shadow root's ``:host``, a rule
    outweighs it wherever it is repeated.
    """
    texts = [(FOLDER / path).read_text(encoding="utf-8") for path in ("page/widgets.css", *names)]
    shared, *own = [re.sub(r"(?s) */\*.*?\*/\n?", "", text) for text in texts]
    return f"{shared}:is(:root, :host) {{\n{''.join(own)}}}\n"


def table(names: Iterable[object], rows: Iterable[Sequence[object]]) -> str:
    """A table for the fallback of a widget; what it holds is escaped."""

    def line(tag: str, cells: Iterable[object]) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    body = "\n".join(line("td", row) for row in rows)
    return f"<table>\n<thead>{line('th', names)}</thead>\n<tbody>\n{body}\n</tbody>\n</table>\n"


class Widget(anywidget.AnyWidget):
    """An anywidget that also shows itself, working, where no kernel runs.

    A subclass sets ``_esm`` and ``_css``, tags its traits ``sync=True``, and writes ``fallback``
    and a ``__repr__`` that is the same in every run.

    Chapter: :doc:`/book/machines`.
    """

    _shown: ClassVar[Counter[str]] = Counter()
    _carried: ClassVar[set[str]] = set()  # what a page has from widgets shown before

    def fallback(self) -> str:
        """HTML for readers without scripts, for GitHub and for print."""
        raise NotImplementedError

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict, dict]:
        # A pair, a dictionary or nothing, depending on the versions of anywidget and ipywidgets.
        bundle: Any = super()._repr_mimebundle_(**kwargs) or {}
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        return {**data, "text/plain": repr(self), "text/html": self._html()}, metadata

    def _html(self) -> str:
        # Counting what was shown makes ids that differ on a page and stay the same in every run.
        name = type(self).__name__.lower()
        self._shown[name] += 1
        traits = set(self.keys) - set(anywidget.AnyWidget.class_traits()) - {"_esm", "_css", "_anywidget_id"}
        parts = PARTS.get(self._esm, {self._esm: self._esm})
        new = {key: text for key, text in parts.items() if key not in self._carried}
        self._carried.update(new)
        return PAGE.format(
            id=f"turing-{name}-{self._shown[name]}",
            css=self._css,
            fallback=self.fallback(),
            state=_script(self.get_state(sorted(traits))),
            parts=_script(new),
            names=_script(list(parts)),
        )

    @classmethod
    def new_page(cls) -> None:
        """Let the next widget carry all its modules, as the first one on a page does."""
        cls._carried.clear()


def _script(value: object) -> str:
    """JSON that can stand in a script element: pure ASCII, and no ``<`` to end it or open a comment."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).replace("<", "\\u003c")
