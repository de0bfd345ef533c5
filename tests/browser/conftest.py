"""A real browser, the built book, and a page that one test after the other uses, with every other host blocked."""

import functools
import http.server
import json
import os
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from zipfile import ZipFile

import pytest
from pack import NAME, pack
from playwright.sync_api import Page, sync_playwright

import setup as machine
from book import ROOT
from pages import page_of
from turing.widgets.base import FOLDER

HTML = ROOT / "_build" / "html"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


@pytest.fixture(scope="session")
def browser():
    path = os.environ.get("CHROMIUM") or machine.browser()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextmanager
def served(folder):
    """Serve a folder on loopback; yields its address."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def book_html():
    assert (HTML / "index.html").exists(), "The book is not built yet: run make book first."
    return HTML


@pytest.fixture(scope="session")
def sites(book_html, tmp_path_factory):
    """The two ways to open the book: from a server, and from the file system, where the zip was unpacked."""
    folder = tmp_path_factory.mktemp("unpacked")
    pack(book_html, folder / "book.zip")
    with ZipFile(folder / "book.zip") as archive:
        archive.extractall(folder)
    with served(book_html) as address:
        yield {"http": address, "file": (folder / NAME).as_uri()}


@dataclass
class Seen:
    """What a page asked other addresses for, and what it complained of."""

    page: Page
    allowed: tuple[str, ...] = ()
    blocked: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


# Playwright stops timers, not animations: a motion would be over before a crowded machine has looked at it.
STAND_STILL = """{
  const { animate } = Element.prototype;
  Element.prototype.animate = function (...given) {
    const motion = animate.apply(this, given);
    motion.pause();
    return motion;
  };
}"""


class Tab:
    """A page that one test after the other uses: a new one costs a process, which is more than most tests cost."""

    def __init__(self, browser, theme, stopped=False, **options):
        self.page = browser.new_context(color_scheme=theme, **options).new_page()
        self.page.set_default_timeout(60_000)  # a crowded machine is slow, and not wrong
        if stopped:
            self.page.clock.install(time=0)
            self.page.clock.pause_at(1000)
            self.page.add_init_script(STAND_STILL)
        self.page.add_init_script(
            f"try {{ localStorage.setItem('mode', '{theme}'); localStorage.setItem('theme', '{theme}') }} catch {{}}"
        )
        self.seen = Seen(self.page)
        self.page.on("request", lambda request: self._asked(request.url))
        self.page.on("requestfailed", self._failed)
        self.page.on("response", lambda r: self._complains(f"{r.status}: {r.url}") if r.status >= 400 else None)
        self.page.on("console", lambda message: self._complains(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self._complains(str(error)))

    def _asked(self, url):
        if not url.startswith((*self.seen.allowed, "data:", "blob:")):
            self.seen.blocked.append(url)

    def _failed(self, request):
        if request.url.startswith("blob:") and request.failure == "net::ERR_ABORTED":
            return  # a module or worker of a page that was left before it had started
        self._complains(f"failed: {request.url}")

    def _complains(self, text):
        self.seen.errors.append(text)

    def leave(self):
        """Stop what runs on the page, hear the last of it, and undo what a test may have set."""
        if self.page.url != "about:blank":
            self.page.goto("about:blank")
            self.page.mouse.move(0, 0)
            self.page.emulate_media(media="null", reduced_motion="null")

    def open(self, address, seen, width, height, reduced_motion="null"):
        self.leave()
        self.seen = seen
        if self.page.viewport_size != {"width": width, "height": height}:
            self.page.set_viewport_size({"width": width, "height": height})
        if reduced_motion != "null":
            self.page.emulate_media(reduced_motion=reduced_motion)
        self.page.goto(address)


@pytest.fixture(scope="session")
def tab_of(browser):
    """The tab with these options, the same one at every call."""
    tabs = {}

    def _tab_of(theme="light", **options):
        if (key := f"{theme} {options}") not in tabs:
            tabs[key] = Tab(browser, theme, **options)
        return tabs[key]

    return _tab_of


@pytest.fixture
def visit(tab_of):
    """Open an address; requests to any other host are blocked and recorded."""

    def _visit(address, *, width=1200, height=900, theme="light"):
        origin = "file://" if address.startswith("file:") else "/".join(address.split("/")[:3])
        tab = tab_of(theme)
        tab.open(address, seen := Seen(tab.page, (origin,)), width, height)
        return seen

    return _visit


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Where the pages with widgets are, and the widgets' modules as files of their own."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "widgets").symlink_to(FOLDER)
    return folder


@pytest.fixture(scope="session")
def address(folder):
    """The same folder, served on loopback."""
    with served(folder) as address:
        yield address


NUMBERS = count()


@pytest.fixture
def open_page(tab_of, folder):
    """Open a page with widgets; at the end no other address was asked for, and no error was reported.

    A second page takes the place of the first. With ``stopped`` time passes only as the test says.
    """
    tabs, trouble = set(), []

    def _open(
        *widgets, theme="light", width=1000, height=900, address=None, reduced_motion="null", policy="", **options
    ):
        file = folder / f"page{next(NUMBERS)}.html"
        file.write_text(page_of(*widgets, theme=theme, policy=policy), encoding="utf-8")
        tabs.add(tab := tab_of(**options))
        page, url = tab.page, f"{address}/{file.name}" if address else file.as_uri()
        tab.open(url, Seen(page, (url, f"{address}/widgets/"), trouble, trouble), width, height, reduced_motion)
        if options.get("java_script_enabled", True) and widgets:
            page.locator(".turing-fallback[hidden]").nth(len(widgets) - 1).wait_for(state="attached")
        return page

    _open.trouble = trouble
    yield _open
    for tab in tabs:
        tab.leave()
    assert trouble == []


@pytest.fixture
def modules(open_page, address):
    """Open a page in which ``modules`` has all that these modules of the widgets export; returns how to call code on
    arguments that JSON can hold."""

    def _modules(*names):
        page = open_page(address=address)
        page.evaluate(
            "async urls => { window.modules = Object.assign({}, ...await Promise.all(urls.map(url => import(url)))) }",
            [f"{address}/widgets/{name}" for name in names],
        )

        def call(code, *given):
            return json.loads(page.evaluate(f"given => JSON.stringify(({code})(...given))", list(given)))

        call.page = page
        return call

    return _modules
