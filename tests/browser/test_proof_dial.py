"""The proof dial in a real browser: the proof ends where the library's interval does."""

import pytest

import turing
from turing.proof import prove
from turing.widgets import ProofDial

ROOT = ".turing-proof-dial"


@pytest.fixture(scope="module")
def dial():
    network = turing.compile(turing.zoo["bb2"], "wcm21", T=8, adder="lookahead")
    weights = {
        "query": ("pipeline.visited.query.weight", 0, network.layout.pos3[0]),
        "value": ("pipeline.visited.value.bias", 0),
    }
    return ProofDial(prove(network), weights)


def dragged(page, value, proof, unless=":is"):
    page.get_by_role("slider").fill(str(value))
    shown(page, value, proof, unless)


def shown(page, value, proof, unless=":is"):
    text = str(value).removesuffix(".0")
    page.wait_for_selector(f'{ROOT}{unless}([data-proof={proof}])[data-shown="{text}"]')


def test_the_proof_breaks_where_the_interval_ends(dial, open_page):
    page = open_page(dial)
    page.wait_for_selector(f"{ROOT}[data-proof=proved]")
    for label, (low, high, grid) in dial.intervals.items():
        page.get_by_role("button", name=label, exact=True).click()
        own = page.get_by_role("slider").input_value()
        for end, past in ((low, low - grid), (high, high + grid)):
            if abs(end - float(own)) < 2:  # else the slider does not go there
                dragged(page, end, "proved")
                dragged(page, past, "proved", ":not")  # wrong, or undecided where κ is too small for the gap
        page.get_by_role("button", name="Put it back").click()
        shown(page, own, "proved")


def test_the_obligation_that_fails_is_marked_and_what_comes_after_is_open(dial, open_page):
    page = open_page(dial)
    page.wait_for_selector(f"{ROOT}[data-proof=proved]")
    states = "[...document.querySelectorAll('.obligations li')].map(row => row.dataset.state)"
    assert set(page.evaluate(states)) == {"holds"}
    assert page.locator(".margins svg").count() == 6
    dragged(page, 0.5, "wrong")
    assert page.evaluate(states) == ["holds", "fails", *["open"] * 6]
    assert page.locator(".margins rect.lost").count() == 2
    verdict = page.locator(".verdict")
    assert "visited: a column that fits scores 0.25 below the null key" in verdict.text_content()
    page.wait_for_function("document.querySelector('.verdict').textContent.includes('at step')")
    assert page.locator(".range").text_content() == "It was compiled as 2, and the proof holds from 1.03125 to 2.96875."


def test_the_slider_is_moved_by_keys(dial, open_page):
    page = open_page(dial)
    page.wait_for_selector(f"{ROOT}[data-proof=proved]")
    page.get_by_role("slider").focus()
    page.keyboard.press("ArrowLeft")
    shown(page, 1.984375, "proved")
    page.keyboard.press("Home")
    shown(page, 0, "wrong")
