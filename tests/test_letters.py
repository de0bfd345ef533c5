"""One meaning for each letter: what the notation page defines, against the formulas of every chapter."""

import re

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
WHERE = r"\{ref\}`([^`<]+) <notation-([\w-]+)>`"  # of the index: a title and its label
ENTRY = rf"\| (.*?) ?\| ({WHERE}(?:, {WHERE})*) \| ([$`].+?): (.+) \|"  # letters only in the first row of each
SIGN = r"\\(?:math(?:rm|bb)\{)?(?!math)(ln|log|(?<=\{)\w+)"  # a name of several letters, or ℝ
PAGE = (ROOT / "book/notation.md").read_text(encoding="utf-8")
COMMON, _, SECTION = PAGE.partition("## Letters of a chapter")
INDEX = COMMON[COMMON.index("## All letters") : COMMON.index("(notation-machines)=")]
TABLES = re.findall(
    r"^\(notation-([\w-]+)\)=\n### (.+)\n\n"
    r"\| we write \| it means in \{doc\}`([\w-]+)` \|\n\|---\|---\|\n((?:\| .+ \| .+ \|\n)+)",
    SECTION,
    re.MULTILINE,
)
LOCAL = [(chapter, *row) for _, _, chapter, rows in TABLES for row in re.findall(r"^\| (.+?) \| (.+) \|$", rows, re.M)]


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


def test_every_table_of_a_chapter_is_read_under_its_title_and_in_the_order_of_the_book():
    assert sum(line.startswith("|") for line in SECTION.splitlines()) == len(LOCAL) + 2 * len(TABLES)
    named = [chapter for _, _, chapter, _ in TABLES]
    assert named == [chapter for chapter in CHAPTERS if chapter in named]
    for label, title, chapter, _ in TABLES:
        first = nbformat.read(ROOT / f"book/{chapter}.ipynb", as_version=4).cells[0].source
        assert (label, f"# {title}") == (chapter, first)


def test_the_index_has_every_letter_and_says_where_each_of_its_forms_is_explained():
    found = re.findall(r"^\(notation-([\w-]+)\)=\n##+ (.+)\n\n((?:.+\n|\n(?!\(|#))+)", PAGE, re.MULTILINE)
    titles, tables = {label: title for label, title, _ in found}, {label: text for label, _, text in found}
    indexed, codes, named, told, names = set(), set(), set(), set(), ""
    for entry in [line for line in INDEX.splitlines() if line.startswith("|")][2:]:
        first, where, *_, wrote, meaning = re.fullmatch(ENTRY, entry).groups()
        names = first or names
        assert len(meaning.split()) <= 12, entry
        assert (names, wrote, meaning) not in told, f"{entry} is there twice: one row for both chapters"
        told.add((names, wrote, meaning))
        for title, label in re.findall(WHERE, where):
            assert titles[label] == title, entry
            for formula in re.findall(r"\$.+?\$|`.+?`", wrote):
                assert formula in tables[label], (names, formula, label)
                if formula.startswith("`"):
                    assert formula[1].lower() == names[0].lower()
                    codes.add(formula)
                    continue
                plain = {re.sub(r"^(var|mathbf|mathcal)|_$", "", letter) for letter in letters(formula)}
                plain = {{"ell": "l"}.get(name, name.lower()) for name in plain}
                plain |= {name[0].lower() for name in re.findall(SIGN, formula)}
                assert names.split(", ")[0].lower() in plain
                indexed |= {(label, letter) for letter in letters(formula)}
                named |= {*re.findall(SIGN, formula)}
    for chapter, wrote, _ in LOCAL:
        assert {(chapter, letter) for letter in letters(wrote)} <= indexed, (chapter, wrote)
    rows = "\n".join(re.findall(r"^\| (.+?) \|", tables["signs"] + tables["layer-norm"], re.MULTILINE))
    assert {*re.findall(SIGN, rows)} <= named
    rows = "\n".join(re.findall(r"^\| (.+?) \|", tables["code"], re.MULTILINE))
    assert {*re.findall(r"`.+?`", rows)} - {"`1-0`"} == codes
    for label in ("machines", "networks"):
        rows = re.findall(r"^\| (.+?) \|", tables[label], re.MULTILINE)
        assert {(label, letter) for letter in letters("\n".join(rows))} - {(label, "t")} <= indexed


def test_a_chapter_gives_no_letter_a_second_meaning():
    assert {name for name, _, _ in LOCAL} <= {*CHAPTERS}
    shared = {"d_", "c_"}  # d_j and c_j number moves and cells, d_0 and d_1 digits, c_k carries
    said = {"dnf": {"K"}}  # where a chapter says otherwise
    for chapter in CHAPTERS:
        assert local(chapter) & RESERVED <= shared | said.get(chapter, set()), chapter
        rows = [letters(wrote) for name, wrote, _ in LOCAL if name == chapter]
        assert sum(map(len, rows)) == len(local(chapter)), f"{chapter} defines a letter twice"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_letter_of_a_chapter_is_on_the_notation_page_and_every_letter_there_is_used(chapter):
    cells = nbformat.read(ROOT / f"book/{chapter}.ipynb", as_version=4).cells
    used = letters("\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown"))
    assert used - RESERVED - local(chapter) == set()
    assert local(chapter) - used == set()
