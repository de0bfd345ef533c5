"""The PDF of the book: every page in order, bookmarks, links that work, formulas, and nothing of this machine."""

import io
import re
import subprocess
import sys
import unicodedata

import pdf
import pytest
from bs4 import BeautifulSoup
from pypdf import PdfReader
from pypdf.generic import Destination

import book

PAGES = book.pages()
SHORT = ["book/machines", "book/how-to-read", "genindex"]  # predictions, a widget, pictures, formulas, tables


def squeezed(text):
    """A text without its spaces and ligatures, which a PDF does not keep."""
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text))


def article_of(html, page):
    article = BeautifulSoup((html / f"{page}.html").read_text(encoding="utf-8"), "html.parser").article
    for part in article.select("script, style, .headerlink, .tag_hide-input > details"):
        part.decompose()
    return article


def bookmarks(reader):
    """The titles of the first level with their pages, and with the titles of the second level."""
    found = []
    for entry in reader.outline:
        if isinstance(entry, Destination):
            found.append((entry.title, reader.get_destination_page_number(entry), []))
        else:
            found[-1][2].extend(part.title for part in entry if isinstance(part, Destination))
    return found


def fonts_of(reader):
    """Name of the font and whether it is embedded, for every font of every page."""
    found = {}
    for page in reader.pages:
        for font in page["/Resources"].get("/Font", {}).values():
            font = font.get_object()
            shown = font["/DescendantFonts"][0].get_object() if "/DescendantFonts" in font else font
            about = shown["/FontDescriptor"].get_object()
            found[about["/FontName"]] = "/CharProcs" in font or any(key.startswith("/FontFile") for key in about)
    return found


def links_of(reader):
    annotations = [note.get_object() for page in reader.pages for note in page.get("/Annots", [])]
    inside = [note["/Dest"] for note in annotations if "/Dest" in note]
    outside = [note["/A"]["/URI"] for note in annotations if "/URI" in note.get("/A", {})]
    assert len(inside) + len(outside) == len(annotations)
    return inside, outside


@pytest.mark.parametrize("pages", [SHORT, pytest.param(PAGES, marks=pytest.mark.slow)], ids=["some", "all"])
def test_the_pages_become_a_pdf(pages, book_html, tmp_path):
    out = tmp_path / "book.pdf"
    command = [sys.executable, book.ROOT / "tools" / "pdf.py", out, *(pages if pages != PAGES else [])]
    subprocess.run(command, cwd=book.ROOT, check=True, capture_output=True)
    data, articles = out.read_bytes(), [article_of(book_html, page) for page in pages]
    reader = PdfReader(io.BytesIO(data))
    assert len(data) < 15_000_000
    assert list(tmp_path.iterdir()) == [out]

    _, *chapters = marks = bookmarks(reader)
    assert [title for title, _, _ in marks] == ["Contents", *(article.h1.get_text() for article in articles)]
    texts = [squeezed(page.extract_text()) for page in reader.pages]
    ends = [*(first for _, first, _ in chapters[1:]), len(texts)]
    for article, (title, first, sections), end in zip(articles, chapters, ends, strict=True):
        assert first < end
        wanted = [
            " ".join(heading.get_text().replace("\\(", "").replace("\\)", "").split()) for heading in article("h2")
        ]
        assert sections[: len(wanted)] == wanted
        text = "".join(texts[first:end])
        says = [part for part in article("p") if not part.select(".math") and len(part.get_text()) > 40]
        assert squeezed(says[0].get_text()) in text if says else text
        widgets, predictions = (len(article.select(f".turing-fallback{kind}")) for kind in ("", ":has(details)"))
        assert text.count("Interactiveinthebook:https://") == widgets - predictions
        assert text.count("Theanswerisonpage") == predictions
        for answer in article.select(".turing-fallback details p"):
            assert squeezed(answer.get_text()) in text
        assert f"{squeezed(title)}{first + 1}" in "".join(texts[1 : chapters[0][1]]), "contents with numbers"

    for number, (page, text) in enumerate(zip(reader.pages, texts, strict=True), start=1):
        title = next((title for title, first, _ in reversed(chapters) if first < number), "")
        assert text.removeprefix(squeezed(title)).removeprefix(str(number)) or page.images, f"page {number} is empty"
    everything = "".join(texts)
    assert "pipinstall--quiet" not in everything, "the set-up cells stay away"
    assert "\\(" not in everything
    assert "\\mathtt" not in everything, "every formula is typeset"

    pictures = sum(len(article.select("svg:not([aria-hidden=true]), img")) for article in articles)
    assert data.count(b"/S /Figure") >= pictures + 1
    fonts = fonts_of(reader)
    assert all(fonts.values()), fonts
    assert any("MathJax_Math" in name for name in fonts)
    assert any("IBMPlexSerif" in name for name in fonts)
    inside, outside = links_of(reader)
    assert {str(name).removeprefix("/") for name in inside} <= {n.removeprefix("/") for n in reader.named_destinations}
    assert len(inside) >= sum(1 + len(sections) for _, _, sections in chapters[:-1]), "contents with links"
    assert all(address.startswith("https://") for address in outside)
    for mine in (b"file://", b"127.0.0.1", str(book.ROOT).encode()):
        assert mine not in data


def test_what_is_too_wide_shrinks_or_is_told(tmp_path, visit):
    wide = "wide" * 40
    (tmp_path / "x.html").write_text(
        "<!doctype html><link rel='icon' href='data:,'><script>MathJax = {startup: {}}</script>"
        "<main style='width: 300px'>"
        f"<table><td>{wide}</table><p><span>{wide}</span></p><a href='#nowhere'>x</a></main>"
    )
    seen = visit((tmp_path / "x.html").as_uri())
    assert [fault.split(">")[0] for fault in seen.page.evaluate(pdf.FIT)] == [
        "wider than the page: <span",
        "leads nowhere: <a href=\"#nowhere\"",
    ]  # fmt: skip
