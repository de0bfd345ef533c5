"""Every measured number of the last chapter comes from a committed table; a fault in a table is caught."""

import copy
import re

import nbformat
import pytest
from study_sentences import SENTENCES

from book import ROOT
from turing.study.experiments import measured

NOTEBOOK = ROOT / "book" / "break-restore-train.ipynb"
MEASURED = ("How errors grow", "How much noise", "Softer, coarser, fewer", "The landscape", "Training", "Shortcuts")
BUILT_IN = re.compile(r"`[^`]*`|\$[^$]*\$|\{[a-z:]+\}`?[^`]*`|float\d+|ReLU|10⁻⁹|WCM21|int\d|bfloat16")


def prose() -> str:
    cells = nbformat.read(NOTEBOOK, 4).cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def sections() -> dict[str, str]:
    found = re.split(r"(?m)^## ", prose())
    return {part.split("\n")[0]: part for part in found}


def missing(name, rows) -> list[str]:
    text = " ".join(prose().split())
    try:
        return [sentence for sentence in SENTENCES[name](rows) if " ".join(sentence.split()) not in text]
    except (AssertionError, ValueError, KeyError) as error:  # the table no longer says such a thing at all
        return [f"{name}: {error!r}"]


@pytest.mark.parametrize("name", SENTENCES)
def test_what_the_chapter_says_is_what_was_measured(name):
    assert missing(name, measured(name)) == []


def test_no_other_number_but_0_stands_in_the_sections_on_what_was_measured():
    for title in MEASURED:
        text = " ".join(sections()[title].split())
        for name, sentences in SENTENCES.items():
            for sentence in sentences(measured(name)):
                text = text.replace(" ".join(sentence.split()), "")
        said = BUILT_IN.sub("", text)
        assert [number for number in re.findall(r"\d[\d,.]*", said) if number.strip(".,") != "0"] == [], title


FAULTS = {
    "paper_word": lambda row: row | {"step": 70} if row["adder"] == "lookahead" and row["step"] else row,
    "tolerance": lambda row: row | {"sigma": row["sigma"] * 1.3},
    "shortcuts": lambda row: row | {"used": row["used"] - 1},
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_a_table_is_caught(name):
    rows = [FAULTS[name](row) for row in copy.deepcopy(measured(name))]
    assert missing(name, rows)
