"""Pages with nothing on them but widgets."""

from pathlib import Path

from turing.widgets.base import Widget

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")

DARK = {"ink": "#F2F0EA", "ground": "#14181F", "st": "#FF9B63", "sym": "#6CB8F0", "pos": "#4CC9A0"} | {
    "scr": "#A9ABB5", "attn": "#D99AE3", "line": "#3A414D", "soft": "#1E242E"
}  # fmt: skip


def page_of(*widgets, theme="light"):
    """A page with nothing on it but widgets and, as in the book, the colours of the dark theme."""
    Widget.new_page()
    dark = "".join(f"--turing-{name}: {value};" for name, value in DARK.items())
    shown = "<hr>".join(widget._repr_mimebundle_()[0]["text/html"] for widget in widgets)
    return (
        f'<!doctype html><html lang="en" data-theme="{theme}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>Widgets</title><link rel="icon" href="data:,">'
        f"<style>html[data-theme=dark] {{{dark} background: #14181F; color: #F2F0EA}}</style>"
        f"</head><body><main><h1>Widgets</h1>{shown}</main></body></html>"
    )


def sizes_of(page, selector):
    """The lesser of width and height of each element."""
    lesser = "all => all.map(e => e.getBoundingClientRect()).map(({width, height}) => Math.min(width, height))"
    return page.locator(selector).evaluate_all(lesser)


# Only colours change with the theme, so in the dark they alone are judged. No rule that is on needs a style sheet or
# a sound fetched a second time.
AXE_OPTIONS = {
    "light": {"resultTypes": ["violations"], "preload": False},
    "dark": {"resultTypes": ["violations"], "preload": False, "runOnly": ["color-contrast"]},
}
TURN = """theme => {
  Object.assign(document.documentElement.dataset, {theme, mode: theme});
  document.getAnimations().forEach(animation => animation.finish());
}"""


EVERYTHING = "violations => violations.map(({id, nodes}) => [id, nodes.map(({html}) => html)])"


def axe(page, part="html", what=EVERYTHING, own=None):
    """What axe finds in light and in dark on a page, or on the first part of a kind."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    run = f"""([part, options, own]) => axe.run(document.querySelector(part), options).then(
        ({{violations}}) => ({what})(violations, own))"""
    found = []
    for theme, options in AXE_OPTIONS.items():
        page.evaluate(TURN, theme)
        found += page.evaluate(run, [part, options, own])
    page.evaluate(TURN, "light")
    return found


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
