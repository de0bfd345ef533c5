"""What the chapter All words at once says about 200 changed networks."""

import re

import nbformat
import pytest

import turing
from book import ROOT

CELLS = {cell.id: cell.source for cell in nbformat.read(ROOT / "book/all-words.ipynb", as_version=4).cells}
TEXT = "\n".join(CELLS.values())
ROWS = {
    ("proved", ""): "proved",
    ("refuted", "word"): "refuted, with a word",
    ("refuted", "configuration"): "refuted, with a configuration",
    ("refuted", "columns"): "refuted, with columns only",
    ("undecided", ""): "undecided",
}


def table() -> dict[tuple[str, str, str], int]:
    """The numbers of the chapter's table, by verdict, level, and what ``verify`` says."""
    found = {}
    for kind, row in ROWS.items():
        for passes, fails in re.findall(rf"^\| {row} \| (\d+) \| (\d+) \|$", TEXT, re.MULTILINE):
            found |= {(*kind, "passes"): int(passes), (*kind, "fails"): int(fails)}
    return {kind: number for kind, number in found.items() if number}


def test_the_predictions_have_the_numbers_of_the_table():
    found = table()
    assert sum(found.values()) == 200
    assert f"{found['proved', '', 'passes'] + found['proved', '', 'fails']} of them are proved" in TEXT
    words = found["refuted", "word", "passes"] + found["refuted", "word", "fails"]
    assert f"For {words} of the 200 there is a word" in TEXT
    assert f"Each of the {found['refuted', 'word', 'passes']} goes wrong on some word" in TEXT


@pytest.mark.slow
def test_200_changed_networks_are_what_the_table_says():
    names = {"turing": turing}
    for cell in ("network", "change", "changes"):
        source = CELLS[cell].replace("CHANGES = Random(2), 12", "CHANGES = Random(2), 200")
        imports = "from itertools import product\nfrom random import Random\n"
        exec(imports + source, names)
    assert dict(names["counts"]) == table()
