"""Logo, favicon, cover, social card and the pictures of the README, all from here: make art.

The logo is one tape cell holding a ReLU hinge. Cover and card show the scene of the first page: the
balanced-parentheses machine running, time downward, and the matrix of weights that its rules become. The README has the
same scene in motion, by CSS alone.
"""

from __future__ import annotations

import base64
import re
from math import inf
from pathlib import Path

import slides
from playwright.sync_api import sync_playwright

import setup as machine  # tools/setup.py, beside this file
import turing
from turing.widgets.lock_step.scene import Part, picture, scene, still

STATIC = Path(__file__).resolve().parent.parent / "book" / "_static"
INK, GROUND = "#1B1F27", "#FFFFFF"
DARK_INK = "#F2F0EA"
SCR = "#63636B"
DARK = {
    "ink": DARK_INK, "ground": "#14181F", "st": "#FF9B63", "sym": "#6CB8F0", "pos": "#4CC9A0", "scr": "#A9ABB5",
    "attn": "#D99AE3", "line": "#3A414D", "soft": "#1E242E",
}  # fmt: skip
WORD, STEPS, HOLD, BEAT = "B(())E", 8, 5, 0.42  # of the scene in motion; its last beats are held; a beat in seconds
EMBEDDED = ("IBMPlexSans-Regular-Latin1", "IBMPlexMono-Regular-Latin1", "IBMPlexMono-SemiBold-Latin1")
TITLE = "Turing-complete neural networks"


def logo(ink: str) -> str:
    """A cell of tape with the graph of ReLU in it; two strokes, so that it stays legible at 16 px."""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" role="img" aria-label="A tape cell holding a '
        f'ReLU hinge"><g fill="none" stroke="{ink}" stroke-width="3.4" stroke-linejoin="miter">'
        '<rect x="3.2" y="3.2" width="25.6" height="25.6"/><path d="M3.2 21.5H15L25 9.5"/></g></svg>\n'
    )


def favicon() -> str:
    """The logo, dark on light tabs and light on dark ones."""
    style = f"<style>g{{stroke:{INK}}}@media(prefers-color-scheme:dark){{g{{stroke:{DARK_INK}}}}}</style>"
    return logo(INK).replace(f' stroke="{INK}"', "").replace("<g ", f"{style}<g ", 1)


def fonts() -> str:
    """The book's fonts as a style sheet; the pages here have no address, so the fonts are embedded."""
    text = (STATIC / "fonts.css").read_text(encoding="utf-8")
    for file in (STATIC / "fonts").glob("*.woff2"):
        data = base64.b64encode(file.read_bytes()).decode()
        text = text.replace(f"fonts/{file.name}", f"data:font/woff2;base64,{data}")
    return text


def network() -> turing.Construction:
    """The network of the scene."""
    return turing.compile(turing.zoo["balanced_parentheses"], "wcm21", T=160, adder="lookahead")


def themed(svg: str, theme: str) -> str:
    """A picture of the book as a file of its own, in the colours of a theme."""

    def colour(found: re.Match) -> str:
        name, light = found.groups()
        return DARK.get(name, light) if theme == "dark" else light

    return re.sub(r"var\(--turing-([\w-]+),([^()]*)\)", colour, svg) + "\n"


def keyframes(part: Part) -> str:
    """When a part is there, as the frames of a CSS animation."""
    whole = 4 * STEPS + HOLD

    def at(beat: float) -> str:
        return f"{100 * beat / whole:.2f}".rstrip("0").rstrip(".") + "%"

    first, then, last = "", "", ""
    if part.is_line:
        first, then, last = ("stroke-dashoffset:1",) * 2 + ("stroke-dashoffset:0",)
    elif part.slides:
        first, then, last = (f"transform:translateX({part.slides}px)",) * 2 + ("transform:none",)
    hidden, shown, jump = "opacity:0;", "opacity:1;", ";animation-timing-function:step-end"
    frames = []
    if part.start > -inf:
        frames.append(f"0%{{{hidden}{first}{jump}}}")
    frames.append(f"{at(max(0, part.start))}{{{shown}{then}{'' if last else jump}}}")
    if last:
        frames.append(f"{at(part.start + 0.8)}{{{shown}{last}{jump}}}")
    if part.end < whole:
        frames.append(f"{at(part.end)}{{{hidden}{last}{jump}}}")
    return "".join(frames).replace(";;", ";").replace("{;", "{")


def moving(theme: str) -> str:
    """The scene in motion, from the network's own run. Without motion it is the scene after the last step."""
    net = network()
    body, frames = [], dict[str, str]()
    for part in scene(net, WORD, STEPS):
        if part.start == -inf and part.end == inf:
            body.append(part.svg)
            continue
        kind = ("line " if part.is_line else "") + frames.setdefault(keyframes(part), f"a{len(frames)}")
        hidden = "" if part.is_there(4 * STEPS - 0.5) else ' opacity="0"'
        body.append(f'<g class="{kind}"{hidden}>{part.svg}</g>')
    loop = f"{BEAT * (4 * STEPS + HOLD):.2f}s infinite"
    rules = "".join(f".{name}{{animation:{name} {loop}}}@keyframes {name}{{{text}}}" for text, name in frames.items())
    css = "".join(
        f'@font-face{{font-family:"{family}";font-weight:{weight};src:url(data:font/woff2;base64,{data})}}'
        for family, weight, data in map(embedded, EMBEDDED)
    )
    still_for_some = f".line path{{stroke-dasharray:1}}@media(prefers-reduced-motion:no-preference){{{rules}}}"
    drawn = picture(net, WORD, STEPS, [f"<style>{css}{still_for_some}</style>", *body])
    return themed(drawn.svg, theme)


def embedded(name: str) -> tuple[str, int, str]:
    """A font of the book: its family, its weight and its file in base64."""
    family = "IBM Plex " + ("Sans" if "Sans" in name else "Mono")
    data = (STATIC / "fonts" / f"{name}.woff2").read_bytes()
    return family, 600 if "SemiBold" in name else 400, base64.b64encode(data).decode()


def beaver(theme: str) -> str:
    """The picture of the busy beaver of five states, as the chapter shows it."""
    (slide,) = (slide for slide in slides.SLIDES if slide.name == "bb5")
    (svg,) = slides.pictures(slide)
    return themed(re.sub(r' style="[^"]*"', "", svg, count=1), theme)


MOVING = {"lock-step": moving, "bb5": beaver}


def card(width: int, height: int) -> str:
    """The page that the cover and the social card are screenshots of."""
    return f"""<!doctype html><meta charset="utf-8"><style>{fonts()}
      body {{ margin: 0; width: {width}px; height: {height}px; box-sizing: border-box; background: {GROUND};
             color: {INK}; padding: {height * 0.05}px {width * 0.05}px; display: flex; flex-direction: column;
             justify-content: space-between; }}
      h1 {{ font: 600 {width * 0.05}px/1.1 "IBM Plex Sans"; letter-spacing: -0.02em; margin: 0; }}
      p {{ margin: 0; font: {width * 0.02}px "IBM Plex Sans"; color: {SCR}; }}
      svg {{ width: 100%; height: {height * 0.77}px; }}
    </style><h1>{TITLE}</h1><p>A machine, and the weights that it becomes. A book you can run.</p>
    {still(network(), WORD, 7).svg}"""


def main() -> None:
    for name, text in {
        "logo": logo(INK), "logo-dark": logo(DARK_INK), "favicon": favicon(),
        **{f"{name}-{theme}": draw(theme) for name, draw in MOVING.items() for theme in ("light", "dark")},
    }.items():  # fmt: skip
        (STATIC / f"{name}.svg").write_text(text, encoding="utf-8", newline="\n")
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=machine.browser(), args=flags)
        for name, width, height in (("social.png", 1200, 630), ("cover.png", 1600, 1000)):
            page = browser.new_page(viewport={"width": width, "height": height})
            page.set_content(card(width, height))
            page.evaluate("document.fonts.ready")
            page.screenshot(path=STATIC / name)
        browser.close()


if __name__ == "__main__":
    main()
