"""Logo, favicon, cover, social card and the pictures of the README, all from here: make art.

The logo is one tape cell holding a ReLU hinge. The cover shows the two ends of the book: on the left the
balanced-parentheses machine running, time downward; on the right its table δ as the block of weights that it
becomes, from the second matrix of its transition: a column for each rule, a square for each weight.
"""

from __future__ import annotations

import base64
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

import setup as machine  # tools/setup.py, beside this file
import turing
from turing.dnf import Transition
from turing.layout import state_vector
from turing.widgets import Lab

STATIC = Path(__file__).resolve().parent.parent / "book" / "_static"
INK, GROUND = "#1B1F27", "#FFFFFF"
DARK_INK = "#F2F0EA"
ST, SYM, SCR, LINE = "#B3440E", "#0067A8", "#63636B", "#C9CBD1"
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


def weights(m: turing.TuringMachine, cell: float = 25.0) -> str:
    """The second matrix of the transition, where it holds δ: next state, symbol written and move by rule."""
    layout = state_vector(m, bits=7)
    transition = Transition(m, layout)
    wide, W = transition.layouts[1], transition[1].weight.detach()
    rows = [(place, colour) for name, colour in (("st", ST), ("sym2", SYM), ("scr5", SCR)) for place in layout[name]]
    columns = [(q, a, wide.det[f"{q} {a}"]) for q, a in m.delta]
    names = [layout.of(place).labels[place - layout.of(place).start] for place, _ in rows]
    left, top = 34.0, 40.0
    width, height = left + len(columns) * cell + 1, top + len(rows) * cell + 1
    parts = []
    for k, (q, a, column) in enumerate(columns):
        x = left + k * cell
        parts.append(f'<text x="{x + cell / 2}" y="{top - 24}" fill="{ST}">{q}</text>')
        parts.append(f'<text x="{x + cell / 2}" y="{top - 7}" fill="{SYM}">{a}</text>')
        parts.append(f'<path d="M{x} {top}V{height - 1}" stroke="{LINE}" stroke-width="0.5"/>')
        for i, (place, colour) in enumerate(rows):
            side = cell * 0.68 * float(W[place, column]) ** 0.5  # area is magnitude
            if side:
                inset = (cell - side) / 2
                parts.append(
                    f'<rect x="{x + inset}" y="{top + i * cell + inset}" width="{side}" height="{side}" '
                    f'fill="{colour}"/>'
                )
    parts.append(f'<path d="M{width - 1} {top}V{height - 1}" stroke="{LINE}" stroke-width="0.5"/>')
    for i, (name, (_, colour)) in enumerate(zip(names, rows, strict=True)):
        parts.append(f'<text x="{left - 12}" y="{top + i * cell + cell * 0.68}" fill="{colour}">{name}</text>')
    for i in range(len(rows) + 1):
        strong = i in (0, len(m.states), len(m.states) + len(m.symbols), len(rows))
        y, ink, thick = top + i * cell, INK if strong else LINE, 1 if strong else 0.5
        parts.append(f'<path d="M{left} {y}H{width - 1}" stroke="{ink}" stroke-width="{thick}"/>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="IBM Plex Mono" font-size="15" text-anchor="middle">{"".join(parts)}</svg>'
    )


def fonts() -> str:
    """The book's fonts as a style sheet; the pages here have no address, so the fonts are embedded."""
    text = (STATIC / "fonts.css").read_text(encoding="utf-8")
    for file in (STATIC / "fonts").glob("*.woff2"):
        data = base64.b64encode(file.read_bytes()).decode()
        text = text.replace(f"fonts/{file.name}", f"data:font/woff2;base64,{data}")
    return text


def card(width: int, height: int) -> str:
    """The page that the cover and the social card are screenshots of."""
    m = turing.zoo["balanced_parentheses"]
    tape = turing.space_time(m.run("B(())E", 12)).svg
    return f"""<!doctype html><meta charset="utf-8"><style>{fonts()}
      body {{ margin: 0; width: {width}px; height: {height}px; box-sizing: border-box; background: {GROUND};
             color: {INK}; padding: {height * 0.075}px {width * 0.06}px; display: grid;
             grid-template: auto 1fr auto / auto auto; justify-content: space-between; align-items: center; }}
      h1 {{ grid-column: 1 / -1; font: 600 {width * 0.058}px/1.1 "IBM Plex Sans"; letter-spacing: -0.02em; margin: 0; }}
      .tape, .weights {{ height: {height * 0.58}px; }}
      .weights {{ justify-self: end; }}
      svg {{ height: 100%; width: auto; }}
      p {{ grid-column: 1 / -1; margin: 0; font: {width * 0.0185}px "IBM Plex Sans"; color: {SCR}; }}
    </style><h1>{TITLE}</h1><div class="tape">{tape}</div><div class="weights">{weights(m)}</div>
    <p>A machine, and the weights that it becomes. A book you can run.</p>"""


def lab() -> str:
    """The page that the pictures of the README are screenshots of: the widget itself."""
    html = Lab(turing.zoo["balanced_parentheses"], "B(())E")._repr_mimebundle_()[0]["text/html"]
    book = (STATIC / "book.css").read_text(encoding="utf-8")
    return f'<!doctype html><html data-theme="light"><meta charset="utf-8"><style>{fonts()}{book}</style>{html}'


def photograph(page: Page, name: str, part: str) -> None:
    """The lab with one of its parts open, after a run to the end."""
    page.set_content(lab())
    widget = page.locator(".turing-live .turing-lab")
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_selector("[data-status=halted]")
    page.locator("summary", has_text=part).click()
    page.evaluate("document.activeElement.blur()")
    page.evaluate("document.fonts.ready")
    page.wait_for_timeout(300)
    widget.screenshot(path=STATIC / name)


def main() -> None:
    (STATIC / "logo.svg").write_text(logo(INK), encoding="utf-8")
    (STATIC / "logo-dark.svg").write_text(logo(DARK_INK), encoding="utf-8")
    (STATIC / "favicon.svg").write_text(favicon(), encoding="utf-8")
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=machine.browser(), args=flags)
        page = browser.new_page(viewport={"width": 512, "height": 512})
        page.set_content(f"<style>body {{ margin: 0 }}</style>{logo(INK)}")
        page.screenshot(path=STATIC / "logo.png")  # the cards of the pages take no SVG
        for name, width, height in (("social.png", 1200, 630), ("cover.png", 1600, 1000)):
            page = browser.new_page(viewport={"width": width, "height": height})
            page.set_content(card(width, height))
            page.evaluate("document.fonts.ready")
            page.screenshot(path=STATIC / name)
        page = browser.new_page(viewport={"width": 820, "height": 1000}, device_scale_factor=2)
        photograph(page, "lab.png", "Space")
        photograph(page, "lab-layers.png", "Layers")
        browser.close()


if __name__ == "__main__":
    main()
