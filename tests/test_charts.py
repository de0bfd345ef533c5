"""Charts: the same bytes everywhere, text that is text, and colours that follow the page."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from hashlib import sha256

import matplotlib
import nbformat
import pytest

import book
from turing.pictures import Picture, chart
from turing.pictures.charts import ATTENTION, INK, MONO

SVG = "{http://www.w3.org/2000/svg}"
# Pictures without axes, which a chapter draws by itself.
DIAGRAMS = {("gates", "g17"), ("dnf", "d12"), ("all-words", "p09"), ("all-words", "pass-picture")}


def draw(axes):
    axes.plot([1, 10, 100], [3, 1, 2], "o-")
    axes.plot([1, 10, 100], [1, 2, 3], color=ATTENTION)
    axes.text(10, 2, "a<b")
    axes.annotate("mono", (10, 2), family=MONO, color="black")
    axes.set(xlabel="steps", title="numbers")


def shown() -> list[tuple[str, str, str]]:
    """Notebook, cell and HTML of every chart of the book."""
    found = []
    for path in book.notebooks():
        for cell in nbformat.read(path, as_version=4).cells:
            html = "".join(output.get("data", {}).get("text/html", "") for output in cell.get("outputs", []))
            charts = re.findall(r'<svg [^>]*"turing-chart".*?</svg>', html, re.DOTALL)
            found += [(path.stem, cell["id"], svg) for svg in charts]
    return found


def digest(picture: Picture) -> str:
    return sha256(picture.svg.encode()).hexdigest()


def test_a_chart_has_the_same_bytes_in_another_process():
    code = "from test_charts import *; print(digest(chart(draw, 'Two lines.')))"
    paths = {"PYTHONPATH": ":".join(sys.path), "PYTHONHASHSEED": "7", "SOURCE_DATE_EPOCH": "1"}
    ran = subprocess.run([sys.executable, "-c", code], env=paths, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == digest(chart(draw, "Two lines.")) == digest(chart(draw, "Two lines."))


def test_a_chart_does_not_depend_on_the_settings_of_matplotlib_and_leaves_them_alone():
    plain = chart(draw, "Two lines.")
    with matplotlib.rc_context({"font.size": 30, "axes.labelsize": 30, "axes.grid": False, "svg.fonttype": "path"}):
        before = dict(matplotlib.rcParams)
        assert chart(draw, "Two lines.") == plain
        assert dict(matplotlib.rcParams) == before


def test_a_chart_is_a_picture_with_alt_text_and_its_size():
    picture = chart(draw, 'Two "lines" & more.', width=400, height=200)
    root = ET.fromstring(picture.svg)
    assert root.get("role") == "img"
    assert root.get("aria-label") == picture.alt == 'Two "lines" & more.'
    assert (root.get("viewBox"), root.get("width"), root.get("height")) == ("0 0 400 200", "400", "200")
    assert "max-width:400px" in picture._repr_html_()


def test_the_text_of_a_chart_is_text_in_the_fonts_of_the_page():
    root = ET.fromstring(chart(draw, "Two lines.").svg)
    written = {text.text: text.get("style") for text in root.iter(SVG + "text")}
    assert {"a<b", "mono", "steps", "numbers"} <= set(written)
    for text, style in written.items():
        font = "--turing-mono,'IBM Plex Mono'" if text == "mono" else "--turing-sans,'IBM Plex Sans'"
        assert f"font-family: var({font}" in style
        assert "font-size: 17px" in style
    assert "DejaVu" not in chart(draw, "Two lines.").svg


def fixed_colours(svg: str) -> list[str]:
    """The colours that are the same in light and dark."""
    colours = re.findall(r"(?:fill|stroke): ?([^;\"]+)", svg)
    return [colour for colour in colours if not re.fullmatch(r"none|var\(--turing-[a-z]+,#[0-9A-F]{6}\)", colour)]


def test_every_colour_of_a_chart_follows_the_page():
    picture = chart(draw, "Two lines.")
    assert fixed_colours(picture.svg) == []
    assert fixed_colours('<path style="fill: #1f77b4; stroke: red"/>') == ["#1f77b4", "red"]
    assert "var(--turing-attn,#8A3F94)" in picture.svg
    (group,) = ET.fromstring(picture.svg).findall(SVG + "g")
    assert "fill:var(--turing-ink" in group.get("style")  # matplotlib writes no fill for black


def test_a_colour_that_would_not_follow_the_page_is_refused():
    with pytest.raises(ValueError, match=r"#ff0000 would not follow the page .* A chart has the colours #1B1F27, "):
        chart(lambda axes: axes.plot([1, 2], color="red"), "A red line.")


def ids(svg: str) -> set[str]:
    return set(re.findall(r'\bid="([^"]*)"', svg))


def test_charts_on_one_page_share_no_id_and_refer_to_their_own():
    one, two = chart(draw, "One.").svg, chart(draw, "Two.").svg
    assert ids(one).isdisjoint(ids(two))
    for svg in (one, two):
        referred = set(re.findall(r'(?:href="#|url\(#)(\w+)', svg))
        assert referred == ids(svg) != set()
    everything = [name for *_, svg in shown() for name in ids(svg)]
    assert len(everything) == len(set(everything)) > 0


def test_a_chart_brings_no_style_sheet_which_would_hold_for_the_whole_page():
    assert "<style" not in chart(draw, "Two lines.").svg


def test_the_lines_of_a_chart_are_told_apart_without_colour():
    picture = chart(lambda axes: [axes.plot([k, k + 1]) for k in range(4)], "Four lines.")
    dashes = re.findall(r"fill: none; stroke-dasharray: ([\d., ]+); [^>]*stroke: var\(--turing-ink", picture.svg)
    assert len(set(dashes)) == 3
    assert INK not in re.sub(r"var\([^)]*\)", "", picture.svg)


def test_the_book_draws_by_hand_what_has_no_axes_and_leaves_charts_to_matplotlib():
    drawn = {
        (path.stem, cell["id"])
        for path in book.notebooks()
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "code" and "<svg" in cell.source
    }
    assert drawn == DIAGRAMS
    charts = [chart for chart in shown() if chart[0] != "index"]  # which has them small, as pictures of chapters
    chapters = {
        "machines",
        "gates",
        "hard-attention",
        "wcm21",
        "all-words",
        "cantor-stacks",
        "ss95",
        "real-time",
        "averages",
        "layer-norm",
        "queue",
        "table",
        "how-fast",
        "reading-back",
        "break-restore-train",
    }
    assert {name for name, *_ in charts} == chapters
    for name, cell, svg in charts:
        assert fixed_colours(svg) == [], f"{name}, {cell}"
        assert len(re.search(r'aria-label="([^"]+)"', svg)[1]) > 100, f"{name}, {cell}"
