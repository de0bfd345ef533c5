"""The key pictures of the book at the size of a slide: make slides.

A slide is a picture that a chapter shows, taken from the committed notebook, on a page of 1920 × 1080 with a credit
line. Nothing is drawn here. book/_static/slides/ gets each slide as SVG, and as PNG for programs that cannot show SVG.
A test compares each SVG with the notebook, and the PNG names the SVG that it was rendered from.
"""

from __future__ import annotations

import re
import struct
import zlib
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from html import escape, unescape
from io import BytesIO
from itertools import pairwise

import nbformat

import book
import turing

FOLDER = book.ROOT / "book" / "_static" / "slides"
WIDTH, HEIGHT, MARGIN, GAP, CREDIT_HEIGHT = 1920, 1080, 60, 80, 40
MAX_SCALE = 3.6  # of a picture, whose text is 17 px in the book
CREDIT = "Turing-complete neural networks · the turing-book contributors · CC BY 4.0"
VARIABLE = re.compile(r"var\(--[\w-]+,([^()]*)\)")


@dataclass(frozen=True)
class Slide:
    """Where a picture comes from, and what the page for teachers says about it."""

    name: str
    title: str
    alt: str
    chapter: str
    cell: str = ""  # the id of the cell whose pictures these are; without one, a run is drawn
    cut: float = 0.0  # a tall picture is cut at this height, and the halves stand side by side


SLIDES = [
    Slide("state-diagram", "A machine as a state diagram",
          "Six states as circles with arrows for the rules of the machine for balanced parentheses.",
          "machines", "m27"),
    Slide("space-time", "A run, time running down",
          "Twenty rows of a tape, a row for each step on the word B(())E, the head inverted.",
          "machines"),
    Slide("busy-beaver", "The busy beaver of four states",
          "The 107 steps of bb4 as coloured cells, time running down.",
          "machines", "m34"),
    Slide("one-neuron", "What one neuron can say of two bits",
          "The sixteen functions of two bits as squares with filled corners, XOR and XNOR among those that need two.",
          "gates", "g17"),
    Slide("xor", "Why one neuron cannot compute XOR",
          "A square whose two diagonals cross in the middle, with the sign that z would have at each corner.",
          "gates", "g18a"),
    Slide("gate", "A gate in the identity",
          "A matrix of five rows as squares: the identity, but for the row of one gate.",
          "gates", "g28"),
    Slide("cubes", "A truth table, covered in three ways",
          "One Boolean function of three bits on three cubes, covered in three ways.",
          "dnf", "d12"),
    Slide("dnf", "A DNF in three ReLU layers",
          "Three small matrices as squares: the clauses, their NOR, and a NOT.",
          "dnf", "d20"),
    Slide("delta", "The table of a machine in two layers",
          "Two matrices as squares: detectors for the four rules, then what each rule does.",
          "dnf", "d28", 423.0),
    Slide("half-adder", "A half adder in three ReLU layers",
          "Three small matrices as squares.",
          "adders", "a18"),
    Slide("lookahead", "All carries in one ReLU layer",
          "Two matrices as squares: all sums, carries and borrows of three bits, then the new position.",
          "adders", "a25", 488.0),
    Slide("built-learned", "A full adder, built and learned",
          "Two full adders as squares: weights of 1, -1 and -2 on the left, odd sizes after training on the right.",
          "adders", "a37"),
    Slide("attention", "The query and the key of a look-up",
          "Two matrices as squares: one picks the address that is asked for, the other the address of a row.",
          "hard-attention", "h21"),
    Slide("transformer", "One step of the WCM21 transformer",
          "Eleven modules from one column to the next, in two columns of boxes; four of them are attention.",
          "wcm21", "w16", 341.0),
    Slide("cost", "What the transformer costs",
          "Nine small plots of layers, width and parameters against states, symbols and steps.",
          "wcm21", "w42"),
    Slide("cantor", "All stacks at once",
          "Intervals on the line from 0 to 1, each with two smaller ones below it: a Cantor set.",
          "cantor-stacks", "c14"),
    Slide("crowded-digits", "Why one layer takes a larger base",
          "Where a sum over two stacks can lie: in base 4 two kinds overlap, in base 16 they do not.",
          "real-time", "s25"),
    Slide("speed", "The time of a step, by engine",
          "Four lines on logarithmic scales: plain attention grows with the step, an index does not.",
          "how-fast", "f37"),
    Slide("bb5", "The first 783,504 steps of the busy beaver of five states, run by a transformer",
          "Mounds, each larger than the last, time running down.",
          "how-fast", "f45"),
]  # fmt: skip


def pictures(slide: Slide) -> list[str]:
    """The SVG of each picture on a slide, as the chapter shows it."""
    if not slide.cell:
        return [turing.space_time(turing.zoo["balanced_parentheses"].run("B(())E")).svg]
    (cell,) = (cell for cell in _cells(slide.chapter) if cell["id"] == slide.cell)
    shown = "".join(output.get("data", {}).get("text/html", "") for output in cell.outputs)
    return re.findall(r"<svg .*?</svg>", shown, re.DOTALL)


@cache
def _cells(chapter: str) -> list[nbformat.NotebookNode]:
    return nbformat.read(book.ROOT / "book" / f"{chapter}.ipynb", as_version=4).cells


def svg(slide: Slide) -> str:
    """The slide: its pictures side by side, as large as they fit, in the colours and fonts of a light page."""
    drawn = []  # what is drawn, and the box of it that is visible
    alts = []
    for picture in pictures(slide):
        opening, _, body = picture.partition(">")
        x, y, width, height = map(float, re.search(r'viewBox="([^"]+)"', opening)[1].split())
        kind = re.search(r'class="[^"]*"', opening)
        alts.append(unescape(re.search(r'aria-label="([^"]*)"', opening)[1]))
        whole = "" if slide.cut else ' overflow="visible"'  # so that a font wider than the book's is not cut off
        inside = f"<svg {kind[0] if kind else ''}{whole} {{place}}>{body}"
        edges = [0.0, slide.cut, height] if slide.cut else [0.0, height]
        drawn += [(inside, x, y + top, width, end - top) for top, end in pairwise(edges)]
    across = WIDTH - 2 * MARGIN - GAP * (len(drawn) - 1)
    down = HEIGHT - 2 * MARGIN - CREDIT_HEIGHT
    scale = min(across / sum(box[3] for box in drawn), down / max(box[4] for box in drawn), MAX_SCALE)
    left = (WIDTH - GAP * (len(drawn) - 1) - scale * sum(box[3] for box in drawn)) / 2
    top = MARGIN + (down - scale * max(box[4] for box in drawn)) / 2
    parts = []
    for inside, x, y, width, height in drawn:
        place = (
            f'x="{left:.1f}" y="{top:.1f}" width="{scale * width:.1f}" height="{scale * height:.1f}" '
            f'viewBox="{x:g} {y:g} {width:g} {height:g}"'
        )
        parts.append(inside.replace("{place}", place, 1))
        left += scale * width + GAP
    text = "font-family:'IBM Plex Sans',system-ui,sans-serif;font-size:24px;fill:#63636B"
    body = "\n".join(parts)
    return VARIABLE.sub(
        r"\1",
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(" ".join(alts))}" '
        f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" style="fill:#FFFFFF"/>\n{body}\n'
        f'<text x="{MARGIN}" y="{HEIGHT - 36}" style="{text}">{CREDIT}</text>\n</svg>\n',
    )


def source_of(png: bytes) -> str:
    """The hash of the SVG that a PNG was rendered from, read from its text chunk."""
    found = re.search(rb"tEXtSource\0([0-9a-f]{64})", png)
    return found[1].decode() if found else ""


def named(png: bytes, source: str) -> bytes:
    """The PNG with a text chunk that names its source, after the header of 33 bytes."""
    chunk = b"tEXtSource\0" + digest(source).encode()
    return png[:33] + struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk)) + png[33:]


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def smaller(png: bytes) -> bytes:
    """The screenshot in its 256 most frequent colours: half the size, and no colour of the book changes."""
    import numpy as np
    from PIL import Image

    pixels = np.asarray(Image.open(BytesIO(png)).convert("RGB"), dtype=int)
    codes, where, counts = np.unique(pixels @ [1 << 16, 1 << 8, 1], return_inverse=True, return_counts=True)
    colours = np.stack([codes >> 16, codes >> 8 & 255, codes & 255], axis=1)
    kept = colours[np.argsort(-counts)[:256]]
    nearest = ((colours[:, None] - kept) ** 2).sum(axis=2).argmin(axis=1)
    picture = Image.fromarray(nearest[where].reshape(pixels.shape[:2]).astype(np.uint8))
    picture.putpalette(kept.flatten().tolist())
    file = BytesIO()
    picture.save(file, "PNG", optimize=True)
    return file.getvalue()


def main() -> None:
    import art  # tools/art.py, beside this file, as is tools/setup.py
    from playwright.sync_api import sync_playwright

    import setup as machine

    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.iterdir():
        path.unlink()
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=machine.browser(), args=flags)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        for slide in SLIDES:
            drawn = svg(slide)
            (FOLDER / f"{slide.name}.svg").write_text(drawn, encoding="utf-8")
            page.set_content(
                f"<!doctype html><style>{art.fonts()} body{{margin:0}} svg{{display:block}}</style>{drawn}"
            )
            page.evaluate("document.fonts.ready")
            (FOLDER / f"{slide.name}.png").write_bytes(named(smaller(page.screenshot()), drawn))
        browser.close()


if __name__ == "__main__":
    main()
