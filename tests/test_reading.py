"""The built pages as a reader meets them: true minutes, no answer before its question, no raw markup."""

import re

import nbformat
import pytest
import reading

import book

PAGES = [pytest.param(page, id=page) for page in book.pages() if page not in book.GENERATED]
CHAPTERS = {f"book/{path.stem}": path for path in book.chapters()}
ROLES = r"(?::(?:\w+:)?\w+:|\{(?:doc|term|ref|py:\w+|cite|prf:ref|numref)\})`"
RAW = re.compile(rf"{ROLES}|:::|```|\*\*\w|(?<![\w*])\*\w[\w ]*\w\*(?![\w*])")


def faults(article, header=None):
    """What a reader would stumble over; ``header`` has the minutes that the page promises."""
    found = []
    if any(re.search(r"\bPredict\(", cell.get_text()) for cell in article.select(".cell_input")):
        found.append("a prediction's source, with its answer, can be seen: tag the cell remove-input")
    for shown in article.select("[id^=turing-predict] .turing-fallback"):
        if [part.name for part in shown.find_all(recursive=False)] != ["p", "ul", "details"]:
            found.append("a prediction without scripts is not a question, its options and a folded answer")
    for block in article.select("pre"):
        found += [f"{role} in code" for role in re.findall(ROLES, block.get_text())]
    if header is not None and (counted := reading.minutes(*reading.count(article))) != header:
        found.append(f"the header says {header} minutes, and {counted} are counted")
    for part in article.select("pre, code, .math, textarea"):
        part.decompose()
    return found + [f"{text} in the text" for text in RAW.findall(article.get_text(" "))]


@pytest.mark.parametrize("page", PAGES)
def test_a_reader_stumbles_over_nothing(page):
    header = None
    if page in CHAPTERS:
        header = int(book.HEADER.fullmatch(nbformat.read(CHAPTERS[page], as_version=4).cells[1].source.strip())[1])
        assert 10 <= header <= 25
    assert faults(reading.article(page), header) == []


@pytest.mark.parametrize(
    "wrong",
    [
        "<p>see :doc:`/book/x`</p>",
        "<p>They are *equal* here.</p>",
        "<p>a {term}`gate`</p>",
        "<p>:::{div} x</p>",
        "<pre>:py:func:`f`</pre>",
        "<div class='cell_input'>Predict('?')</div>",
        "<div id='turing-predict-1'><div class='turing-fallback'><p>?</p><ul></ul><p>Yes.</p></div></div>",
        f"<p>{'word ' * 500}</p>",
    ],
)
def test_what_a_reader_stumbles_over_is_found(wrong):
    article = reading.parsed(f"<article class='bd-article'>{wrong}</article>")
    assert len(faults(article, header=0)) == 1


def test_what_is_folded_and_what_follows_the_summary_is_not_counted():
    text = "<p>one two</p><pre>a\n\nb</pre><details>no</details><section id='exercises'>no</section><svg>no</svg>"
    assert reading.count(reading.parsed(f"<article class='bd-article'>{text}</article>")) == (2, 2)
