"""A real browser, the built book, and pages opened with every other host blocked."""

import functools
import http.server
import os
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Page, sync_playwright

import setup as machine
from book import ROOT
from pages import page_of

HTML = ROOT / "_build" / "html"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
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
def sites(book_html):
    """The two ways to open the book: from a server, and from the file system."""
    with served(book_html) as address:
        yield {"http": address, "file": book_html.as_uri()}


@dataclass
class Seen:
    """What a page asked for and complained of."""

    page: Page
    blocked: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@pytest.fixture
def visit(browser):
    """Open an address in a fresh context; requests to any other host are blocked and recorded."""

    @contextmanager
    def _visit(address, *, width=1200, height=900, theme="light", **options):
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme, **options)
        context.add_init_script(
            f"try {{ localStorage.setItem('mode', '{theme}'); localStorage.setItem('theme', '{theme}') }} catch {{}}"
        )
        page = context.new_page()
        seen = Seen(page)
        origin = "file://" if address.startswith("file:") else "/".join(address.split("/")[:3])

        def gate(route):
            url = route.request.url
            if url.startswith((origin, "data:", "blob:")):
                route.continue_()
            else:
                seen.blocked.append(url)
                route.abort()

        page.route("**/*", gate)
        page.on("console", lambda message: seen.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: seen.errors.append(str(error)))
        page.on("requestfailed", lambda request: seen.errors.append(f"failed: {request.url}"))
        page.on("response", lambda r: seen.errors.append(f"{r.status}: {r.url}") if r.status >= 400 else None)
        page.goto(address, wait_until="load")
        yield seen
        context.close()

    return _visit


@pytest.fixture
def open_page(browser, tmp_path):
    """Open a page with widgets; at the end no other address was asked for, and no error was reported."""
    contexts, trouble = [], []

    def _open(*widgets, theme="light", width=1000, height=900, address=None, **options):
        file = tmp_path / f"page{len(contexts)}.html"
        file.write_text(page_of(*widgets, theme=theme), encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        allowed = (file.as_uri(), "blob:", *([address] if address else []))

        def gate(route):
            if route.request.url.startswith(allowed):
                route.continue_()
            else:
                trouble.append(route.request.url)
                route.abort()

        page.route("**/*", gate)
        page.on("console", lambda message: trouble.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.goto(f"{address}/{file.name}" if address else file.as_uri())
        if options.get("java_script_enabled", True):
            page.wait_for_function(f"document.querySelectorAll('.turing-fallback[hidden]').length === {len(widgets)}")
        return page

    _open.trouble = trouble
    yield _open
    for context in contexts:
        context.close()
    assert trouble == []


@pytest.fixture
def address(tmp_path):
    """The folder of the pages, served on loopback."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def send_error(self, code, *_):  # browsers ask for an icon on their own
            self.send_response(204)
            self.end_headers()

    handler = functools.partial(Quiet, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
