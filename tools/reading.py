"""How long the main path of a page takes to read, counted on the built page.

python tools/reading.py      a line for each chapter
"""

from __future__ import annotations

import re

from bs4 import BeautifulSoup, Tag

import book

HTML = book.ROOT / "_build" / "html"
WORDS_A_MINUTE, LINES_A_MINUTE = 200, 20
UNREAD = re.compile(r"<(script|style|svg)\b.*?</\1>", re.DOTALL)
ASIDE = "details, .dropdown, .solution, #exercises, #sources, .chapter-header, .headerlink, .turing-widget"


def article(page: str) -> Tag:
    """The text of a built page, such as book/gates, without scripts, styles and drawings."""
    return parsed((HTML / f"{page}.html").read_text(encoding="utf-8"))


def parsed(html: str) -> Tag:
    return BeautifulSoup(UNREAD.sub("", html), "html.parser").select_one("article.bd-article")


def count(article: Tag) -> tuple[int, int]:
    """What a reader meets who opens nothing and skips the exercises: words, formulas among them, and lines of code and
    output. What is counted, and what is not, is taken out of the article."""
    for part in article.select(ASIDE):
        part.decompose()
    lines = 0
    for block in article.select("pre"):
        lines += sum(bool(line.strip()) for line in block.get_text().splitlines())
        block.decompose()
    return len(re.findall(r"\S*\w\S*", article.get_text(" "))), lines


def minutes(words: int, lines: int) -> int:
    return round(words / WORDS_A_MINUTE + lines / LINES_A_MINUTE)


if __name__ == "__main__":
    for path in book.chapters():
        words, lines = count(article(f"book/{path.stem}"))
        print(f"{path.stem:22} {words:5} words {lines:4} lines {minutes(words, lines):3} minutes")
