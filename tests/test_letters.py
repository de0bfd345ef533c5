"""One meaning for each letter: what the notation page defines, against the formulas of every chapter."""

import re
from itertools import accumulate

import nbformat
import pytest

import book
from book import ROOT

GREEK = re.findall(
    r"\w+",
    """
    alpha beta gamma delta varepsilon zeta eta theta kappa lambda mu nu xi pi rho sigma tau varphi chi psi omega ell
    Gamma Delta Theta Lambda Sigma Phi Psi Omega
""",
)
FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$`])\$([^$]+?)\$(?!\d)", re.DOTALL)
NAMES = re.compile(r"\\(?:text|mathrm|mathtt|mathsf|mathbb|operatorname|begin|end)\{[^{}]*\}|\\mathsf T")
LETTER = re.compile(r"(\\(?:mathbf|mathcal)\s*\{?\w\}?|\\[a-zA-Z]+|[A-Za-z])'*(_(?:\{[^{}]*\}|\\[a-zA-Z]+|\w))?")
PAGE = (ROOT / "book/notation.md").read_text(encoding="utf-8")
COMMON, _, REST = PAGE.partition("## Letters of a chapter")
ROWS = re.findall(r"^\| (?:\{doc\}`([\w-]+)` )?\| (.+?) \| (.+) \|$", REST.partition("\n## ")[0], re.MULTILINE)
NAMED = accumulate((name for name, _, _ in ROWS), lambda chapter, name: name or chapter)  # said once for each chapter
LOCAL = [(chapter, wrote, means) for chapter, (_, wrote, means) in zip(NAMED, ROWS, strict=True) if chapter]


def letters(text):
    """The letters of the formulas in a text; one with an index is another letter than one without."""
    found = set()
    for formula in FORMULA.findall(text):
        for letter, index in LETTER.findall(NAMES.sub(" ", "".join(formula))):
            name = re.sub(r"[\\{}\s]", "", letter)
            if name in GREEK or not letter.startswith("\\") or name.startswith(("mathbf", "mathcal")):
                found.add(name + ("_" if index else ""))
    return found


def local(chapter):
    return set().union(*(letters(wrote) for name, wrote, _ in LOCAL if name == chapter))


RESERVED = letters("\n".join(re.findall(r"^\| (.+?) \|", COMMON, re.MULTILINE)))
CHAPTERS = [path.stem for path in book.chapters()]


def test_letters_are_found_with_their_index_and_without_names():
    text = r"$\mathrm{ReLU}(Wx_i + b) - \mathbf{q} \cdot \mathbf k_0$ costs 5, $p'_k$ and $$\Gamma^{\mathsf T}$$"
    assert letters(text) == {"W", "x_", "b", "mathbfq", "mathbfk_", "p_", "Gamma"}


def test_a_chapter_gives_no_letter_a_second_meaning():
    assert {name for name, _, _ in LOCAL} <= {*CHAPTERS}
    shared = {"d_", "c_"}  # d_j and c_j number moves and cells, d_0 and d_1 digits, c_k carries
    for chapter in CHAPTERS:
        assert local(chapter) & RESERVED <= shared, chapter
        rows = [letters(wrote) for name, wrote, _ in LOCAL if name == chapter]
        assert sum(map(len, rows)) == len(local(chapter)), f"{chapter} defines a letter twice"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_letter_of_a_chapter_is_on_the_notation_page_and_every_letter_there_is_used(chapter):
    cells = nbformat.read(ROOT / f"book/{chapter}.ipynb", as_version=4).cells
    used = letters("\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown"))
    assert used - RESERVED - local(chapter) == set()
    assert local(chapter) - used == set()
