"""The lab in a real browser: how fast the network runs in the page, and whether the page stays responsive."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

import turing
from benchmarks.row import RATES, Row
from turing.widgets import Lab

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))
import setup as machine

STEPS = {"bb2x4": (3_932_964, 2_050), "bb5": (47_176_870, 4_098)}  # and the cells that are not blank at the halt
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


def longest_task(trace: bytes) -> float:
    """The most milliseconds of the processor that the main thread of a page took at a time."""
    events = json.loads(trace)["traceEvents"]
    names = [event for event in events if event["name"] == "thread_name"]
    main = {(e["pid"], e["tid"]) for e in names if e["args"]["name"] == "CrRendererMain"}
    return max(e["tdur"] for e in events if "tdur" in e and (e["pid"], e["tid"]) in main) / 1e3


def to_the_halt(browser: Browser, folder: Path, name: str) -> tuple[float, float, float]:
    """Run a machine of the zoo to its halt, with the interpreter beside it; seconds, the longest frame, and the longest
    task of the page.
    """
    Lab.new_page()
    html = Lab(turing.zoo[name], link=True)._repr_mimebundle_()[0]["text/html"]
    page_file = folder / f"{name}.html"
    page_file.write_text(f'<!doctype html><meta charset="utf-8"><title>Lab</title>{html}', encoding="utf-8")
    page = browser.new_page()
    page.goto(page_file.as_uri())
    page.wait_for_selector("[data-engine=generated]")
    page.wait_for_timeout(500)  # until what is drawn first is drawn
    browser.start_tracing(page=page, categories=["devtools.timeline", "disabled-by-default-devtools.timeline"])
    page.evaluate(FRAMES)
    began = page.evaluate("performance.now()")
    page.get_by_role("button", name="To the end", exact=True).click()
    page.wait_for_selector("[data-status=halted]", timeout=300_000)
    seconds = (page.evaluate("performance.now()") - began) / 1000
    busy = longest_task(browser.stop_tracing())
    root, longest, (steps, ones) = page.locator("[data-status]").first, page.evaluate("window.longest"), STEPS[name]
    found = [root.get_attribute(f"data-{part}") for part in ("step", "ones", "mark")]
    if found != [str(steps), str(ones), "good"]:
        raise AssertionError(f"{name} should halt after {steps:,} steps with {ones:,} marks, and the lab says {found}.")
    page.close()
    print(
        f"        the lab: {steps:,} steps of {name} in {seconds:.1f} s, the longest frame {longest:.0f} ms, "
        f"the longest task {busy:.0f} ms"
    )
    return seconds, longest, busy


def lab() -> list[Row]:
    """BB(2,4) and BB(5) to their halts in the page; of two visits to the first one the better numbers count."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=machine.browser(), args=["--no-sandbox", "--disable-gpu", "--no-first-run"]
        )
        visits = [to_the_halt(browser, Path(folder), "bb2x4") for _ in range(2)]
        seconds, longest, _ = map(min, zip(*visits, strict=True))
        halted, _, busy = to_the_halt(browser, Path(folder), "bb5")
        browser.close()
    RATES["WCM21 in the page, with the interpreter beside it"] = STEPS["bb5"][0] / halted
    return [
        Row("million steps per second of BB(2,4) in the page", STEPS["bb2x4"][0] / seconds / 1e6, at_least=3),
        Row("the longest frame of the page meanwhile, in milliseconds", longest, at_most=50),
        Row("the longest task of the page while BB(5) runs, in milliseconds of the processor", busy, at_most=50),
        Row("seconds until BB(5) halts in the page", halted, at_most=60),
    ]
