"""Pages with nothing on them but widgets."""

from pathlib import Path

from turing.widgets.base import Widget

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")

DARK = {"ink": "#F2F0EA", "ground": "#14181F", "st": "#FF9B63", "sym": "#6CB8F0", "pos": "#4CC9A0"} | {
    "scr": "#A9ABB5", "attn": "#D99AE3", "line": "#3A414D", "soft": "#1E242E"
}  # fmt: skip


def page_of(*widgets, theme="light", policy=""):
    """A page with nothing on it but widgets and, as in the book, the colours of the dark theme; with a content policy,
    if there is one."""
    forbids = f'<meta http-equiv="Content-Security-Policy" content="{policy}">' if policy else ""
    Widget.new_page()
    dark = "".join(f"--turing-{name}: {value};" for name, value in DARK.items())
    shown = "<hr>".join(widget._repr_mimebundle_()[0]["text/html"] for widget in widgets)
    return (
        f'<!doctype html><html lang="en" data-theme="{theme}"><head><meta charset="utf-8">{forbids}'
        '<meta name="viewport" content="width=device-width"><title>Widgets</title><link rel="icon" href="data:,">'
        f"<style>html[data-theme=dark] {{{dark} background: #14181F; color: #F2F0EA}}</style>"
        f"</head><body><main><h1>Widgets</h1>{shown}</main></body></html>"
    )


def sizes_of(page, selector):
    """The lesser of width and height of each element."""
    lesser = "all => all.map(e => e.getBoundingClientRect()).map(({width, height}) => Math.min(width, height))"
    return page.locator(selector).evaluate_all(lesser)


TURN = """theme => {
  Object.assign(document.documentElement.dataset, {theme, mode: theme});
  document.getAnimations().forEach(animation => animation.finish());
}"""
# To see how words stand out from their ground takes axe more time than all else: of those that are marked up in the
# same way all the way up, it judges one, or as many as are asked for, and none of a kind that is known.
JUDGED = """([each, known]) => {
  const marks = ["class", "style", "disabled", "aria-pressed", "aria-current", "aria-selected", "aria-disabled"];
  const kinds = new Map([[null, ""]]), found = Object.fromEntries(known.map((kind) => [kind, each]));
  const kind = (node) => {
    const own = () => [node.tagName, ...marks.map((name) => node.getAttribute(name))].join("|");
    if (!kinds.has(node)) kinds.set(node, `${own()}>${kind(node.parentElement)}`);
    return kinds.get(node);
  };
  const worded = (node) => [...node.childNodes].some(({ nodeType, data }) => nodeType === 3 && data.trim().length > 1);
  for (const node of document.querySelectorAll("body *"))
    if ((worded(node) || node.matches("input, select, textarea")) && node.checkVisibility())
      node.toggleAttribute("data-judged", (found[kind(node)] = (found[kind(node)] ?? 0) + 1) <= each);
  return Object.keys(found);
}"""
# Judging colours takes time in proportion to the whole page, so what is not judged is removed, except from drawings.
# It is removed from a copy of the page: a widget may redraw at any time, and finds its own parts where it put them.
PRUNE = """() => {
  document.body.replaceWith(document.body.cloneNode(true));
  const judged = "[data-judged], :has([data-judged]), svg :not(svg), script, style";
  document.querySelectorAll(`body :not(${judged})`).forEach((node) => node.remove());
}"""
# No rule that is on needs a style sheet or a sound fetched a second time. Only colours change with the theme.
OPTIONS = {"resultTypes": ["violations"], "preload": False}
COLOURS = ["color-contrast", "link-in-text-block"]
# A rule that takes long to choose from thousands of formulas, and can only find fault with words like these.
SPACING = "avoid-inline-spacing"
SPACED = "document.querySelector('[style*=spacing i], [style*=line-height i]') !== null"
EVERYTHING = "violations => violations.map(({id, nodes}) => [id, nodes.map(({html}) => html)])"


def axe(page, what=EVERYTHING, own=None, each=1, known=None):
    """What axe finds in light and in dark on a page, of which it leaves only what it judged; with ``each``, how many of
    one kind, it leaves all. Pages with the same style sheets can share ``known``, the kinds that were judged before."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)

    def run(theme, part, **options):
        page.evaluate(TURN, theme)
        code = f"""([part, options, own]) => axe.run({{include: [[part]]}}, options).then(
            ({{violations}}) => ({what})(violations, own))"""
        return page.evaluate(code, [part, OPTIONS | options, own])

    known = set() if known is None else known
    known.update(page.evaluate(JUDGED, [each, [*known]]))
    rules = {rule: {"enabled": False} for rule in COLOURS} | {SPACING: {"enabled": page.evaluate(SPACED)}}
    found = run("light", "html", rules=rules)
    if each == 1:
        page.evaluate(PRUNE)
    themes = ("light", "dark") if page.locator("[data-judged]").count() else ()
    return found + [more for theme in themes for more in run(theme, "[data-judged]", runOnly=COLOURS)]


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

NETWORK = """() => {
  const drawn = document.querySelector(".network"), all = (part) => [...drawn.querySelectorAll(part)];
  const edges = all(".edge").map(edge => ({
    weight: Number(edge.dataset.weight), width: Number(edge.getAttribute("stroke-width")),
    kind: edge.classList.contains("minus") ? "minus" : "plus", lit: edge.classList.contains("lit"),
    dashed: getComputedStyle(edge).strokeDasharray !== "none", title: edge.textContent,
  }));
  return {
    edges, values: all(".neuron").map(({dataset}) => Number(dataset.value)),
    lit: all(".neuron").map(({classList}) => classList.contains("lit")),
    names: all(".name").map(({textContent}) => textContent), biases: all(".bias").map(({textContent}) => textContent),
    said: drawn.getAttribute("aria-label"),
  };
}"""


def network(page):
    """The edges of the first drawn network by their titles, and its neurons column by column."""
    found = page.evaluate(NETWORK)
    found["edges"].sort(key=lambda edge: edge["title"])
    return found
