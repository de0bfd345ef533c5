"""The base of the book's widgets: live in a kernel, and alive in a page that has none.

A widget is one ES module, ``export default { render({ model, el }) }``. A kernel runs it through
anywidget, with traits that both sides change. A static page runs the same module through
``PAGE`` below, which carries the traits as JSON and a model of a few lines.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

import anywidget

__all__ = ["Widget", "read", "style"]

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
  const module = await import(URL.createObjectURL(new Blob([{esm}], {{ type: "text/javascript" }})));
  await module.default.render({{ model, el }});
  fallback.hidden = true;
}} catch (error) {{
  el.replaceChildren();
  console.error(error);
}}
</script>
"""


def read(name: str) -> str:
    """A file that stands beside this one."""
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def style(name: str) -> str:
    """The style of a widget after the one that all share, and above it.

    A page repeats the shared one with every widget. Inside ``:root``, or a shadow root's ``:host``, a rule
    outweighs it wherever it is repeated.
    """
    return f"{read('widgets.css')}:is(:root, :host) {{\n{read(name)}}}\n"


class Widget(anywidget.AnyWidget):
    """An anywidget that also shows itself, working, where no kernel runs.

    A subclass sets ``_esm`` and ``_css``, tags its traits ``sync=True``, and writes ``fallback``
    and a ``__repr__`` that is the same in every run.

    Chapter: :doc:`/book/00_machines`.
    """

    _css = read("widgets.css")
    _shown: ClassVar[Counter[str]] = Counter()

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
        return PAGE.format(
            id=f"turing-{name}-{self._shown[name]}",
            css=self._css,
            fallback=self.fallback(),
            state=_script(self.get_state(sorted(traits))),
            esm=_script(self._esm),
        )


def _script(value: object) -> str:
    """JSON that can stand in a script element: pure ASCII, and no ``<`` to end it or open a comment."""
    return json.dumps(value, sort_keys=True).replace("<", "\\u003c")
