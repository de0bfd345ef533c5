"""Pages with nothing on them but widgets."""

from pathlib import Path

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")

DARK = {"ink": "#F2F0EA", "ground": "#14181F", "st": "#FF9B63", "sym": "#6CB8F0", "pos": "#4CC9A0"} | {
    "scr": "#A9ABB5", "attn": "#D99AE3", "line": "#3A414D", "soft": "#1E242E"
}  # fmt: skip


def page_of(*widgets, theme="light"):
    """A page with nothing on it but widgets and, as in the book, the colours of the dark theme."""
    dark = "".join(f"--turing-{name}: {value};" for name, value in DARK.items())
    shown = "<hr>".join(widget._repr_mimebundle_()[0]["text/html"] for widget in widgets)
    return (
        f'<!doctype html><html lang="en" data-theme="{theme}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>Widgets</title>'
        f"<style>html[data-theme=dark] {{{dark} background: #14181F; color: #F2F0EA}}</style>"
        f"</head><body><main><h1>Widgets</h1>{shown}</main></body></html>"
    )


# A model as a kernel has it: it can be changed from outside, and remembers what was saved.
MODEL = """async ([esm, state]) => {
  const listeners = {}, saved = [];
  window.module = await import(URL.createObjectURL(new Blob([esm], {type: "text/javascript"})));
  window.model = {
    saved, get: key => state[key], off: () => {},
    save_changes: () => saved.push({...state}),
    set(key, value) { state[key] = value; (listeners["change:" + key] ?? []).forEach(f => f()) },
    on: (event, f) => (listeners[event] ??= []).push(f),
  };
  window.cleanup = window.module.default.render({model: window.model, el: document.querySelector("main")});
}"""
