"""What is published: sitemap, cards, the page for lost addresses, buttons, versions, the zip, wheel and sdist."""

import pkgutil
import re
from html import unescape
from importlib import import_module
from urllib.parse import urljoin
from zipfile import ZipFile

import course
import pytest
import yaml
from pack import NAME, pack
from sphinx.util.inventory import InventoryFile

import book
import turing
from book import ROOT

HTML = ROOT / "_build" / "html"
SITE = book.site(book.repository(), book.tag())
PROGRAMS = {"turing.cli", "turing.__main__"}  # for a shell, not to be imported
PAGES = [page for page in book.pages() if page not in book.GENERATED]


def text(page):
    return (HTML / f"{page}.html").read_text(encoding="utf-8")


def meta(page):
    return {
        key: unescape(value) for key, value in re.findall(r'<meta property="og:(\S+)" content="([^"]*)"', text(page))
    }


def at(address):
    """The file of the built book that an address leads to."""
    assert address.startswith(SITE)
    return HTML / address.removeprefix(SITE)


def test_the_sitemap_lists_every_page_of_the_contents():
    places = re.findall("<loc>([^<]+)</loc>", (HTML / "sitemap.xml").read_text(encoding="utf-8"))
    assert places == [f"{SITE}{page}.html" for page in book.pages()]
    assert all(at(place).is_file() for place in places)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_a_card_of_its_own(page):
    said = meta(page)
    assert said["url"] == f"{SITE}{page}.html"
    assert said["site_name"] == book.config()["title"]
    assert len(said["description"]) > 40
    assert at(said["image"]).read_bytes().startswith(b"\x89PNG")
    assert f'rel="canonical" href="{SITE}{page}.html"' in text(page)
    assert 'name="twitter:card" content="summary_large_image"' in text(page)


def test_chapters_and_exercises_are_numbered_by_the_contents():
    for number, path in enumerate(book.chapters(), start=1):
        page = text(f"book/{path.stem}")
        assert f'<h1><span class="section-number">{number}. </span>' in page
        shown = re.findall(r'caption-number">Exercise ([\d.]+) </span> \((.+?) · difficulty', unescape(page))
        assert shown == [(e.number, e.title) for e in course.found() if e.chapter == path.stem]


def test_the_reference_has_every_public_name():
    with (HTML / "objects.inv").open("rb") as file:
        listed = {name for kind in InventoryFile.load(file, "", urljoin).values() for name in kind}
    missing = []
    for info in pkgutil.iter_modules(turing.__path__, "turing."):
        module = import_module(info.name)
        for name in {*getattr(module, "__all__", [])} if info.name not in PROGRAMS else ():
            thing = getattr(module, name)
            if callable(thing) and not {f"{info.name}.{name}", f"{thing.__module__}.{name}"} & listed:
                missing.append(f"{info.name}.{name}")
    assert missing == []


def test_no_two_pages_share_a_card():
    assert len({meta(page)["image"] for page in PAGES}) == len(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_can_be_edited_and_its_faults_told(page):
    (source,) = [path for kind in ("ipynb", "md") if (path := ROOT / f"{page}.{kind}").exists()]
    assert f'href="{book.repository()}/edit/main/{source.relative_to(ROOT).as_posix()}"' in text(page)
    assert f'href="{book.repository()}/issues/new' in text(page)


def test_the_page_for_lost_addresses_works_from_any_of_them():
    page = text("404")
    root = "/" + SITE.split("/", 3)[3]
    found = [unescape(link) for link in re.findall(r'(?:href|src)="([^"]+)"', page)]
    inside = [link for link in found if not re.match(r"https?://|#|mailto:|data:", link)]
    assert [link for link in inside if not link.startswith(root)] == [], (
        "a relative address depends on where it is lost"
    )
    lost = [link for link in inside if not (HTML / re.split("[?#]", link)[0].removeprefix(root)).exists()]
    assert lost == []
    own = [link for link in found if link.startswith(SITE)]
    assert [link for link in own if not (at(link).is_file() or at(link) == HTML / "404.html")] == []
    assert f"{SITE}book/lab.html" in own


def test_the_version_and_its_changes_are_told():
    version = re.search('"(.+)"', (ROOT / "turing/_version.py").read_text(encoding="utf-8"))[1]
    assert f"Version {version}{'' if book.tag() else ', not released yet'}." in text("book/why")
    assert f"<h2>{version}" in text("book/changelog")


def test_a_release_has_addresses_of_its_own(monkeypatch):
    url = "https://github.com/one/two"
    monkeypatch.setenv("GITHUB_REF_TYPE", "branch")
    monkeypatch.setenv("GITHUB_REF_NAME", "main")
    assert book.tag() == ""
    monkeypatch.setenv("GITHUB_REF_TYPE", "tag")
    monkeypatch.setenv("GITHUB_REF_NAME", "v1.0.0")
    assert book.tag() == "v1.0.0"
    assert book.site(url, book.tag()) == "https://one.github.io/two/v1.0.0/"
    assert book.site("https://github.com/me/me.github.io", "v1") == "https://me.github.io/v1/"
    from hosted import rebased

    moved = rebased(f'"git+{url}" {url}/issues https://one.github.io/two/x', url, url, "v1")
    assert moved == f'"git+{url}@v1" {url}/issues https://one.github.io/two/v1/x'


def test_the_zip_holds_the_whole_book_and_is_the_same_each_time(tmp_path):
    for name in ("one.zip", "two.zip"):
        pack(HTML, tmp_path / name)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    with ZipFile(tmp_path / "one.zip") as archive:
        names = set(archive.namelist())
    assert {name.partition("/")[0] for name in names} == {NAME}
    assert {f"{NAME}/{page}.html" for page in [*book.pages(), "index", "search"]} <= names
    assert not any(name.endswith((f"{NAME}.zip", f"{NAME}.pdf")) for name in names)


def test_the_workflow_publishes_what_the_pages_link_to():
    jobs = yaml.safe_load((ROOT / ".github/workflows/book.yml").read_text(encoding="utf-8"))["jobs"]
    ran = {job: "\n".join(step.get("run", "") for step in jobs[job]["steps"]) for job in jobs}
    assert "make site dist" in ran["build"]
    for kind in ("zip", "pdf"):
        assert f"{SITE}{NAME}.{kind}" in text("book/how-to-read")
        assert f"site/{NAME}.{kind}" in ran["release"]
        assert f"_build/html/{NAME}.{kind}" in (ROOT / "Makefile").read_text(encoding="utf-8")
