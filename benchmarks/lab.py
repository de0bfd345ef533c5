"""The lab in a real browser: how fast the network runs in the page, and whether the page stays responsive."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import turing
from benchmarks.row import Row
from turing.widgets import Lab

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))
import setup as machine

STEPS = 3_932_964  # of BB(2,4)
FRAMES = """() => {
  window.longest = 0;
  let last = performance.now();
  const look = now => {
    window.longest = Math.max(window.longest, now - last);
    last = now;
    requestAnimationFrame(look);
  };
  requestAnimationFrame(now => { last = now; requestAnimationFrame(look) });
}"""


def lab() -> list[Row]:
    """Run BB(2,4) to its halt in the page."""
    html = Lab(turing.zoo["bb2x4"], link=True)._repr_mimebundle_()[0]["text/html"]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = Path(folder) / "lab.html"
        page_file.write_text(f'<!doctype html><meta charset="utf-8"><title>Lab</title>{html}', encoding="utf-8")
        browser = playwright.chromium.launch(
            executable_path=machine.browser(), args=["--no-sandbox", "--disable-gpu", "--no-first-run"]
        )
        page = browser.new_page()
        page.goto(page_file.as_uri())
        page.wait_for_selector("[data-status]")
        page.evaluate(FRAMES)
        began = page.evaluate("performance.now()")
        page.get_by_role("button", name="Run", exact=True).click()
        page.wait_for_selector("[data-status=halted]", timeout=300_000)
        seconds = (page.evaluate("performance.now()") - began) / 1000
        root, longest = page.locator("[data-status]").first, page.evaluate("window.longest")
        found = [root.get_attribute(f"data-{name}") for name in ("step", "ones", "mark")]
        if found != [str(STEPS), "2050", "good"]:
            raise AssertionError(f"BB(2,4) should halt after {STEPS} steps with 2,050 marks, and the lab says {found}.")
        browser.close()
    print(f"        the lab: {STEPS:,} steps of BB(2,4) in {seconds:.1f} s")
    return [
        Row("thousand steps per second of BB(2,4) in the page", STEPS / seconds / 1e3, at_least=50),
        Row("the longest frame of the page meanwhile, in milliseconds", longest, at_most=100),
    ]
