"""The noise dial in a real browser, held against the noisy network in Python."""

import pytest
import torch

from pages import axe
from turing.study import Gaussian, first_failures, normal, perturbed
from turing.study.copies import Copies
from turing.widgets import NoiseDial
from turing.widgets.noise_dial.widget import WORD, _network

torch.set_num_threads(1)  # on small matrices threads wait for each other
NORMAL = "(seed, from, count) => Array.from({length: count}, (_, k) => modules.normal(seed, from + k))"
FOLLOW = """({file, order, word}, restoring, sigma, seed, steps) => {
  const own = restoring ? file : modules.unrestored(file);
  return modules.follow(own, modules.noisy(own, order, sigma, seed), word, steps);
}"""


def given():
    dial = NoiseDial()
    return {"file": dial.file, "order": dial.order, "word": dial.word}


def test_the_generator_gives_the_same_numbers_in_both_languages(modules):
    found = modules("noise_dial/run.js")(NORMAL, 7, 123_456, 500)
    assert found == pytest.approx(normal(7, 123_456, 500).tolist(), abs=1e-12)


@pytest.mark.parametrize(("restoring", "sigma", "seed"), [(False, 1e-3, 0), (False, 1e-6, 3), (True, 1e-2, 1)])
def test_numbers_are_equal_while_errors_are_small_and_the_first_failure_is_the_same(modules, restoring, sigma, seed):
    found = modules("noise_dial/run.js")(FOLLOW, given(), restoring, sigma, seed, 81)
    net = _network(restoring)
    parameters = perturbed(net, Gaussian(), sigma, [seed])
    ((failure,),) = first_failures(net, parameters, [WORD])
    theirs = found["failure"]
    assert (theirs["step"], theirs["module"], theirs["name"]) == (failure.step, failure.module, failure.place)
    with torch.no_grad():
        vectors = Copies(net, parameters).vectors([tuple(WORD)], len(found["columns"]))
        for column, error, own in zip(found["columns"], found["errors"], vectors, strict=True):
            if error < 1e-2:
                (mine,) = list(own.values())[-1][0].tolist()
                assert column == pytest.approx(mine, abs=1e-9)


def test_a_restored_run_does_all_81_steps(modules):
    found = modules("noise_dial/run.js")(FOLLOW, given(), True, 1e-3, 0, 81)
    assert found["failure"] is None
    assert len(found["columns"]) == 81
    assert max(found["errors"]) < 0.1


def test_turning_the_dial_breaks_the_run_and_restoring_mends_it(open_page):
    page = open_page(NoiseDial(-4.0, seed=1))
    root = page.locator(".turing-noise-dial")
    ready = lambda: page.wait_for_function("document.querySelector('.turing-noise-dial').dataset.state === 'ready'")  # noqa: E731
    ready()
    first = int(root.get_attribute("data-step"))
    assert f"Step {first} of 81 breaks" in root.locator(".account").inner_text()
    root.get_by_role("slider").fill("-2.5")
    ready()
    assert int(root.get_attribute("data-step")) < first
    root.get_by_role("slider").fill("-3.5")
    root.get_by_role("button", name="on", exact=True).click()
    ready()
    assert root.get_attribute("data-step") == ""
    assert "All 81 steps are right" in root.locator(".account").inner_text()
    root.get_by_role("spinbutton").fill("5000")
    root.get_by_role("spinbutton").press("Tab")
    assert root.get_by_role("spinbutton").input_value() == "1"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_readable_at_360_pixels_and_has_no_fault_for_axe(open_page, theme):
    page = open_page(NoiseDial(), theme=theme, width=360)
    page.wait_for_function("document.querySelector('.turing-noise-dial').dataset.state === 'ready'")
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
