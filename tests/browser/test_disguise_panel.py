"""The disguise panel: what it reads in the page is what the library reads from the same numbers."""

import json

import numpy as np
import pytest

import turing
from turing.decompiler import Refusal, bare, decompile, renaming
from turing.ir import to_dict
from turing.widgets import DisguisePanel
from turing.widgets.disguise_panel.widget import COVERS, NOISE

MACHINE = turing.zoo["bb3"]
READ = """(file, cover, noise, seed) => {
  const plain = modules.tensorsOf(file), { tensors } = modules.disguised(plain, cover, noise, seed);
  try {
    return { tensors, found: modules.readBack(tensors, { states: 4, symbols: 2, bits: 3 }) };
  } catch (error) {
    if (!(error instanceof modules.Unreadable)) throw error;
    return { tensors, found: null };
  }
}"""
PLACES = {
    "detect": (0, None), "rule": (1, None), "move": (2, None), "write": (-4, "write"), "value": (-4, "value"),
    "choose": (-2, None), "assemble": (-1, None),
}  # fmt: skip


def with_tensors(plain, tensors):
    """The bare network with the numbers of the page in their places."""
    parts = list(plain.parts)
    for name, (place, inner) in PLACES.items():
        weight = np.array(tensors[name], dtype=float)
        if inner:
            parts[place] = parts[place]._replace(**{inner: getattr(parts[place], inner)._replace(weight=weight)})
        else:
            bias = tensors.get(f"{name}Bias")
            changes = {"weight": weight} | ({} if bias is None else {"bias": np.array(bias, dtype=float)})
            parts[place] = parts[place]._replace(**changes)
    return plain._replace(parts=tuple(parts))


@pytest.mark.parametrize("cover", COVERS)
def test_the_page_reads_what_the_library_reads(modules, cover):
    net = turing.compile(MACHINE, "wcm21", T=8, adder="lookahead")
    plain, call = bare(net), modules("disguise_panel/read.js")
    for seed in range(1, 11):
        for noise in NOISE[seed % 2 :: 2]:
            page = call(READ, to_dict(net), cover, noise, seed)
            try:
                found = decompile(with_tensors(plain, page["tensors"]))
            except Refusal:
                assert page["found"] is None
                assert noise >= 0.01
                continue
            rules = {
                (f"q{rule['q']}", rule["a"]): (f"q{rule['target']}", rule["written"], rule["move"])
                for rule in page["found"]["rules"]
                if rule["target"] is not None
            }
            number = {name: k for k, name in enumerate(_symbols(page["found"]["blank"]))}
            library = {
                (q, number[a]): (target, number[b], move) for (q, a), (target, b, move) in found.machine.delta.items()
            }
            assert rules == library
            assert page["found"]["margin"] == pytest.approx(found.margin, abs=1e-6)
            assert renaming(found.machine, MACHINE)


def _symbols(blank):
    return ["_", "1"] if blank == 0 else ["1", "_"]


def seen(page):
    root = page.locator(".turing-disguise-panel")
    return root.evaluate("node => ({ ...node.dataset })") | {"says": root.locator(".account").inner_text()}


def test_a_reader_hides_the_network_and_sees_the_table_stay(open_page):
    page = open_page(DisguisePanel(MACHINE))
    assert seen(page)["read"] == "right"
    pictures = set()
    for name in ("shuffled", "shuffled and scaled", "rotated", "plain"):
        page.get_by_role("button", name=name, exact=True).click()
        shown = seen(page)
        assert (shown["read"], shown["alive"]) == ("right", "true")
        assert len(json.loads(shown["rules"])) == 8
        pictures.add(page.locator("path.positive").first.get_attribute("d"))
    assert len(pictures) == 4
    page.get_by_role("button", name="0.05", exact=True).click()
    shown = seen(page)
    assert (shown["read"], shown["alive"]) == ("right", "false")
    assert "Every rule is read back" in shown["says"]
    page.get_by_role("button", name="rotated", exact=True).click()
    page.get_by_role("button", name="0.2", exact=True).click()
    assert seen(page)["read"] == "refused"
    assert "Nothing wrong is claimed" in seen(page)["says"]
    before = page.locator("path.positive").first.get_attribute("d")
    page.get_by_role("button", name="Another disguise").click()
    assert page.locator("path.positive").first.get_attribute("d") != before
