"""The whole book as one PDF, printed by Chromium from the built pages: make pdf.

python tools/pdf.py [file [page …]]    by default prints all pages to _build/turing-book.pdf

The articles of all pages are put into one HTML page, in reading order. Widgets give way to their static picture,
folds are open, and a link between chapters becomes one inside that page. Chromium prints it until nothing moves: the
first printing shows on which page everything is, and the next has these page numbers in contents, index and answers.
book/_static/book.css says how it looks on paper.
"""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from html import escape
from pathlib import Path
from urllib.parse import urldefrag, urljoin

from bs4 import BeautifulSoup, SoupStrainer, Tag
from playwright.sync_api import Page, sync_playwright
from pypdf import PdfReader

import book
import setup as machine  # tools/setup.py, beside this file
from turing import __version__

HTML = book.ROOT / "_build" / "html"
FLAGS = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND"]  # no network
WIDTH = 642  # of the text in px: A4 without its margins

# What a page has that is of no use on paper. Code that the book folds away draws pictures, starts widgets and goes
# through tables; what comes out of it stays.
LEFT_OUT = "script, button, .turing-live, .headerlink, .genindex-jumpbox, .toctree-wrapper, .tag_hide-input > details"
# Spans that look like the text around them. Each would be an element of the PDF, and they would double its size.
PLAIN = ".highlight :is(.n, .nn, .nx, .o, .p, .w), code > .pre"

# Makes formulas, tables and pictures that are wider than the paper smaller, and returns what is still wrong.
FIT = """async () => {
  await MathJax.startup.promise;
  await document.fonts.ready;
  const all = (what) => [...document.querySelectorAll(`main ${what}`)], box = (part) => part.getBoundingClientRect();
  const edge = box(document.querySelector("main")).right + 1;
  for (const part of all(":is(mjx-container[display], table, svg)")) {
    const { left, right } = box(part.querySelector(":scope > mjx-math") ?? part);
    if (right > edge) part.style.zoom = part.currentCSSZoom * (edge - 1 - left) / (right - left);
  }
  const wide = all(":not(mjx-assistive-mml, mjx-assistive-mml *)").filter((part) => box(part).right > edge);
  const dead = all("a[href^='#']").filter((link) => !document.getElementById(decodeURIComponent(link.hash.slice(1))));
  const faults = (what, parts) => parts.map((part) => `${what}: ${part.outerHTML.slice(0, 200)}`);
  return [...faults("wider than the page", wide), ...faults("leads nowhere", dead)];
}"""
NUMBER = """numbers => { for (const link of document.querySelectorAll("a[data-paged]"))
  link.dataset.page = numbers[decodeURIComponent(link.hash.slice(1))]; }"""


def built(page: str, part: str) -> BeautifulSoup:
    """A part of a built page, with absolute addresses for the files that it shows."""
    file = HTML / f"{page}.html"
    found = BeautifulSoup(file.read_text(encoding="utf-8"), "html.parser", parse_only=SoupStrainer(part))
    for shown in found.select("link[href], [src]"):
        name = "src" if shown.has_attr("src") else "href"
        shown[name] = urljoin(file.as_uri(), shown[name])
    return found


def anchor(page: str, part: str = "") -> str:
    """The id of a page, or of a part of it, in the book that is one page."""
    return f"{page}--{part}" if part else page


def article(page: str, pages: list[str], site: str) -> Tag:
    """A page's article as paper wants it."""
    found = built(page, "article").article
    for part in found.select(LEFT_OUT):
        part.decompose()
    for part in found.select(PLAIN):
        part.unwrap()
    for part in found.select("[id]"):
        part["id"] = anchor(page, part["id"])
    for heading in found.select("section[id] > :is(h1, h2, h3, h4)"):  # the section may begin on the page before
        heading["id"] = heading.parent.attrs.pop("id")
    for link in found.select("a[href]"):
        path, part = urldefrag(urljoin(f"{page}.html", link["href"]))
        inside = (other := path.removesuffix(".html")) in pages
        link["href"] = f"#{anchor(other, part)}" if inside else urljoin(f"{site}{page}.html", link["href"])
    for link in found.select(".indextable a"):
        link["data-paged"] = ""
        link.string = re.sub(r"\[\d+\]", "", link.get_text())  # the number of the page says it
    for formula in found.select(":is(h1, h2, h3, h4) .math"):  # a bookmark has no room for a formula
        formula.name, formula.string = "em", formula.get_text().strip("\\()")
        del formula["class"]
    for code in found.select(".cell_input, .highlight"):
        if code.get_text().count("\n") > 30:  # the end of a page may part it
            code["class"].append("long")
    for fold in found.select("details"):
        fold["open"] = ""
    found["id"] = page
    return found


def widgets(page: str, found: Tag, site: str) -> Tag:
    """Say where each widget runs; the answers to predictions go to the end of the page."""
    address, answers = f"{site}{page}.html", []
    for place in found.select(".turing-fallback"):
        if answer := place.details:
            number = len(answers) + 1
            place["id"], there = anchor(page, f"prediction-{number}"), anchor(page, f"answer-{number}")
            back = f'<a href="#{place["id"]}" data-paged>Prediction {number}, page</a>.'
            answers.append(f'<p id="{there}">{back} {answer.p.decode_contents()}</p>')
            answer.decompose()
            note = f'Prediction {number}. The answer is on <a href="#{there}" data-paged>page</a>.'
        else:
            note = f'Interactive in the book: <a href="{address}">{address}</a>'
        place.insert(0 if answer else len(place), BeautifulSoup(f'<p class="print-note">{note}</p>', "html.parser"))
    if answers:
        heading = f'<h2 id="{anchor(page, "answers")}">Answers to the predictions</h2>'
        found.append(BeautifulSoup(f"<section>{heading}{''.join(answers)}</section>", "html.parser"))
    return found


def title_page(site: str) -> str:
    config = book.config()
    command = ["git", "log", "-1", "--format=%cs"]
    date = subprocess.run(command, cwd=book.ROOT, capture_output=True, text=True).stdout.strip()
    return f"""<section class="print-title">
      <img src="{(HTML / "_static" / "cover.png").as_uri()}" alt="{escape(config["title"])}">
      <p>{escape(config["title"])}, version {__version__}{date and f", {date}"}<br>By {escape(config["author"])}</p>
      <p>The pages of this book run in a browser: <a href="{site}">{site}</a></p>
      <p>{config["html"]["extra_footer"]}</p>
    </section>"""


def contents(articles: dict[str, Tag]) -> str:
    """The table of contents, with the parts of _toc.yml; the numbers come with the second printing."""
    parts = {part["chapters"][0]["file"]: part["caption"] for part in book.parts()}
    lines = []
    for page, found in articles.items():
        if page in parts:
            lines.append(f'<p class="print-part">{escape(parts[page])}</p>')
        for heading in (found.h1, *found.select("section > h2")):
            where, name = heading["id"], f"<span>{heading.decode_contents()}</span>"
            lines.append(f'<p class="print-{heading.name}"><a href="#{where}" data-paged>{name}</a></p>')
    return f'<section class="print-contents"><h1>Contents</h1>{"".join(lines)}</section>'


def one_page(pages: list[str]) -> str:
    """The book as one HTML page; styles, MathJax and page.js are those of the built pages."""
    site = book.site(book.repository())
    articles = {page: widgets(page, article(page, pages, site), site) for page in pages}
    heads = [built(page, "head") for page in pages]  # only a page with formulas loads MathJax
    head = next((head for head in heads if head.select_one("script[src*=mathjax]")), heads[0])
    head = head.select("link[rel=stylesheet], script")
    head = [part for part in head if part.name == "link" or re.search("mathjax|page.js", str(part), re.IGNORECASE)]
    running = "@page { size: A4 }\n"  # and the name of the chapter at the top of its pages
    for i, (page, found) in enumerate(articles.items()):
        name = json.dumps(found.h1.get_text(), ensure_ascii=False)
        running += f'@page p{i} {{ @top-right {{ content: {name} }} }} [id="{page}"] {{ page: p{i} }}\n'
    return f"""<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8">
      <title>{escape(book.config()["title"])}</title>{"".join(map(str, head))}<style>{running}</style></head>
      <body><main class="bd-main bd-content bd-article-container print-book">
      {title_page(site)}{contents(articles)}{"".join(map(str, articles.values()))}</main></body></html>"""


def printed(page: Page, **options: bool) -> tuple[bytes, dict[str, int]]:
    """The PDF, and the page number of each place that a link in it leads to."""
    data = page.pdf(prefer_css_page_size=True, print_background=True, **options)
    reader = PdfReader(io.BytesIO(data))
    places = reader.named_destinations.items()
    return data, {name.removeprefix("/"): reader.get_destination_page_number(place) + 1 for name, place in places}


def make(out: Path, pages: list[str]) -> None:
    source = out.with_suffix(".html")
    source.write_text(one_page(pages), encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=machine.browser(), args=FLAGS)
        page = browser.new_page(viewport={"width": WIDTH, "height": 1000})
        faults: list[str] = []
        page.on("requestfailed", lambda request: faults.append(f"not found: {request.url}"))
        page.emulate_media(media="print")
        page.goto(source.as_uri(), timeout=0)
        page.wait_for_function("window.MathJax?.startup?.promise", timeout=120_000)
        faults += page.evaluate(FIT)
        _, again = printed(page)
        for _ in range(3):  # a number may itself move what follows to another page
            page.evaluate(NUMBER, numbers := again)
            data, again = printed(page, outline=True, tagged=True)
            if all(again.get(name) == number for name, number in numbers.items()):
                break
        browser.close()
    source.unlink()
    faults += [f"{name} has moved to another page" for name in numbers if numbers[name] != again.get(name)]
    if faults:
        sys.exit("\n".join(["The book cannot be printed.", *faults]))
    out.write_bytes(data)


if __name__ == "__main__":
    out, *pages = sys.argv[1:] or [book.ROOT / "_build" / "turing-book.pdf"]
    make(Path(out), pages or book.pages())
    print(f"The PDF is here: {Path(out).resolve().as_uri()}")
