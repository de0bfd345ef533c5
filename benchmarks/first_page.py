"""The first page of the built book in a real browser: how soon its first screen can be used."""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from benchmarks.row import Row

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))
import setup as machine

ROOT = Path(__file__).parent.parent
READY = """new MutationObserver((_, watch) => {
  if (!document.querySelector(".turing-lock-step[data-step]")) return;
  window.ready = performance.now();
  watch.disconnect();
}).observe(document, { childList: true, subtree: true, attributes: true })"""


def first_page() -> list[Row]:
    """The best of five visits, each in a new profile."""
    page_file = ROOT / "_build" / "html" / "book" / "index.html"
    if not page_file.exists():
        print("        the first page is not built: run make book")
        return []
    times = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=machine.browser(), args=["--no-sandbox", "--disable-gpu", "--no-first-run"]
        )
        for _ in range(5):
            context = browser.new_context(viewport={"width": 1440, "height": 900})
            page = context.new_page()
            page.add_init_script(READY)
            page.goto(page_file.as_uri())
            page.wait_for_function("window.ready")
            times.append(page.evaluate("window.ready"))
            context.close()
        browser.close()
    print(f"        the first page, milliseconds until it can be used: {', '.join(f'{time:.0f}' for time in times)}")
    return [Row("milliseconds until the first screen can be used", min(times), at_most=1000)]
