"""The book as it stands in the repository: contents, notebooks, chapters, and what the build would miss."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

import book
import turing
from book import ROOT

NOTEBOOKS = [pytest.param(path, id=path.name) for path in book.notebooks()]
CHAPTERS = [pytest.param(path, id=path.name) for path in book.chapters()]


def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, check=True
    )
    return [path for name in listed.stdout.decode().split("\0") if name and (path := ROOT / name).is_file()]


def text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def test_every_page_is_in_the_table_of_contents_and_every_entry_is_a_page():
    assert book.contents_faults() == []


@pytest.mark.parametrize("path", NOTEBOOKS)
def test_a_notebook_is_executed_clean_and_compared_by_nbval(path):
    assert book.notebook_faults(path) == []


@pytest.mark.parametrize("path", CHAPTERS)
def test_a_chapter_has_the_shape_of_every_chapter(path):
    assert book.chapter_faults(path) == []


@pytest.mark.parametrize("path", CHAPTERS)
def test_the_smallest_case_of_a_chapter_is_drawn_as_well_as_written(path):
    section, drawn = "", set()
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        section = [section, *re.findall(r"^## (.+)$", "".join(cell["source"]), re.MULTILINE)][-1]
        shown = "".join("".join(output.get("data", {}).get("text/html", "")) for output in cell.get("outputs", ()))
        drawn |= {section} if "turing-figure" in shown else set()
    assert "By hand" in drawn


@pytest.mark.parametrize("page", ["README.md", "book/index.ipynb", "book/how-to-read.md"])
def test_a_list_of_the_chapters_has_the_parts_and_the_order_of_the_contents(page):
    places = []
    for part in book.parts():
        if part.get("numbered"):
            links = [rf"{Path(entry['file']).name}(?:\.ipynb\)|>)" for entry in part["chapters"]]
            places += [re.search(sign, text_of(ROOT / page)).start() for sign in (re.escape(part["caption"]), *links)]
    assert places == sorted(places)


def test_a_chapter_that_speaks_of_the_next_or_the_previous_one_links_to_it():
    names = [path.stem for path in book.chapters()]
    for previous, name, following in zip(["", *names[:-1]], names, [*names[1:], ""], strict=True):
        text = text_of(ROOT / f"book/{name}.ipynb")
        assert set(re.findall(r"\{doc\}`(?:[Tt]he )?previous chapter <([^>]+)>`", text)) <= {previous}, name
        assert set(re.findall(r"\{doc\}`(?:[Tt]he )?next chapter <([^>]+)>`", text)) <= {following}, name
        assert following in text.partition("## The next gap")[2], f"{name} does not lead to {following}"
        assert "last chapter" not in text, f"{name}: is it the previous chapter, or the end of the book?"


def test_the_prologue_is_at_most_1200_words_and_sets_no_exercises():
    cells = json.loads((ROOT / "book/why.ipynb").read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    words = re.findall(r"\w[\w'’–-]*", re.sub(r"\{[\w:]+\}`[^`]*`", "", text))
    assert len(words) <= 1200
    assert "{exercise}" not in text


def test_no_tag_escapes_nbval_without_a_reason():
    assert all(len(reason.split()) >= 4 for reason in book.ALLOWED_TAGS.values())
    assert len(book.ALLOWED_TAGS) <= 3


def test_nbval_is_nowhere_asked_to_be_lax():
    assert [path.name for path in tracked() if book.LAX in text_of(path)] == []


def test_the_build_is_strict_and_executes_nothing():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "jupyter-book build . -W --keep-going -n" in makefile
    assert book.config()["execute"]["execute_notebooks"] == "off"


def test_the_workflows_are_yaml_and_run_the_two_commands():
    jobs = [yaml.safe_load(text_of(path)) for path in sorted((ROOT / ".github/workflows").glob("*.yml"))]
    assert jobs
    text = json.dumps(jobs, default=str)
    assert "make test" in text
    assert "make book" in text
    assert "make test" in (ROOT / ".ci/run").read_text(encoding="utf-8")


def test_the_environment_is_pinned_with_torch_first():
    lines = [line for line in text_of(ROOT / "requirements.txt").splitlines() if line and not line.startswith("#")]
    assert lines[0] == "torch==2.13.0"
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines), "every line is name==version"


def test_every_mention_of_the_repository_is_the_one_of_the_configuration():
    url = book.config()["repository"]["url"]
    for path in [ROOT / "README.md", *(ROOT / "book").glob("*.md"), *(ROOT / "book").glob("*.ipynb")]:
        named = re.findall(r"git\+(https?://[^\s\"'`\\)]+)", text_of(path))
        assert set(named) <= {url}, path.name


def test_no_page_is_called_like_a_yaml_boolean():
    assert not {Path(page).name.lower() for page in book.pages()} & {"on", "off", "yes", "no", "true", "false"}


def test_the_version_is_the_same_wherever_it_is_named():
    version = turing.__version__
    assert yaml.safe_load(text_of(ROOT / "CITATION.cff"))["version"] == version
    assert text_of(ROOT / "CHANGELOG.md").startswith(f"# Changes\n\n## {version}, ")
    for page, sign in (("changelog.md", f"/v{version}/"), ("research.ipynb", f"version {version} |")):
        assert sign in text_of(ROOT / "book" / page)


def test_the_citation_file_names_the_authors_and_the_paper():
    citation = yaml.safe_load(text_of(ROOT / "CITATION.cff"))
    assert citation["authors"] == [{"name": "the turing-book contributors"}]
    assert citation["references"][0]["authors"] == [{"given-names": "Jonathan", "family-names": "Bates"}]
    assert "PyTorch Library of Turing-Complete Neural Networks" in citation["references"][0]["title"]
