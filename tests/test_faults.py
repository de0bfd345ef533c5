"""Faults made on purpose, each in a copy, each caught by the check that stands guard over the real book."""

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

import book
from book import ROOT

BIN = Path(sys.executable).parent


@pytest.fixture
def copy(tmp_path):
    """A small book of one notebook and one page, without fault."""
    (tmp_path / "book").mkdir()
    shutil.copy(ROOT / "_config.yml", tmp_path)
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: book/index\nchapters:\n  - file: book/page\n")
    (tmp_path / "book/page.md").write_text("# A page\n\nIt refers to {ref}`itself <here>`.\n\n(here)=\n## Here\n")
    set_up = nbformat.v4.new_code_cell(book.set_up(tmp_path), execution_count=1)
    set_up.metadata["tags"] = ["remove-cell"]
    output = nbformat.v4.new_output("stream", name="stdout", text="107\n")
    cell = nbformat.v4.new_code_cell('print(turing.zoo["bb4"].run().steps)', execution_count=2, outputs=[output])
    title = nbformat.v4.new_markdown_cell("# A book")
    nb = nbformat.v4.new_notebook(cells=[title, set_up, cell], metadata={"language_info": {"name": "python"}})
    nbformat.write(nb, tmp_path / "book/index.ipynb")
    return tmp_path


def change(copy, edit) -> list[str]:
    """Edit the last cell of the copy's notebook; return the faults that are found then."""
    path = copy / "book/index.ipynb"
    nb = nbformat.read(path, as_version=4)
    edit(nb.cells[-1])
    nbformat.write(nb, path)
    return book.notebook_faults(path, copy)


def nbval(copy) -> subprocess.CompletedProcess:
    command = [BIN / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", ROOT / "pyproject.toml"]
    rest = ["-o", "filterwarnings=default", "--rootdir", copy, "--nbval", copy / "book/index.ipynb"]
    return subprocess.run([*command, *rest], capture_output=True, text=True, cwd=copy)


def test_the_copy_without_fault_passes(copy):
    assert book.contents_faults(copy) == []
    assert book.notebook_faults(copy / "book/index.ipynb", copy) == []
    assert nbval(copy).returncode == 0


def test_a_changed_output_is_caught_by_nbval(copy):
    assert change(copy, lambda cell: cell.outputs[0].update(text="108\n")) == []
    result = nbval(copy)
    assert result.returncode == 1
    assert "108" in result.stdout


def test_an_unexecuted_cell_is_caught(copy):
    (fault,) = change(copy, lambda cell: cell.update(execution_count=None, outputs=[]))
    assert "never executed" in fault


@pytest.mark.parametrize("tag", ["nbval-skip", "nbval-ignore-output", "raises-exception"])
def test_a_tag_that_escapes_nbval_is_caught(copy, tag):
    (fault,) = change(copy, lambda cell: cell.metadata.update(tags=[tag]))
    assert tag in fault


def test_a_comment_that_escapes_nbval_is_caught(copy):
    comment = "# NBVAL_" + "IGNORE_OUTPUT\n"
    (fault,) = change(copy, lambda cell: cell.update(source=comment + cell.source))
    assert "escapes nbval" in fault


def test_an_error_among_the_outputs_is_caught(copy):
    error = nbformat.v4.new_output("error", ename="ValueError", evalue="no", traceback=[])
    (fault,) = change(copy, lambda cell: cell.update(outputs=[error]))
    assert "ValueError" in fault


def test_an_image_without_alt_text_is_caught(copy):
    image = nbformat.v4.new_output("display_data", data={"image/png": "aGVsbG8=", "text/plain": "<Figure>"})
    (fault,) = change(copy, lambda cell: cell.update(outputs=[image]))
    assert "alt text" in fault


def test_a_page_missing_from_the_table_of_contents_is_caught(copy):
    (copy / "book/lost.md").write_text("# Lost\n")
    assert book.contents_faults(copy) == ["book/lost is not in _toc.yml, so no reader reaches it"]


def test_an_entry_without_a_page_is_caught(copy):
    (copy / "book/page.md").unlink()
    assert book.contents_faults(copy) == ["_toc.yml names book/page, and there is no such file"]


@pytest.mark.parametrize(
    "html",
    [
        '<script src="https://cdn.example.org/x.js"></script>',
        '<link rel="stylesheet" href="//cdn.example.org/x.css">',
        '<img src="http://example.org/x.png" alt="x">',
        '<img srcset="x.png 1x, https://example.org/y.png 2x" alt="x">',
        '<svg><image href="https://example.org/x.png"/></svg>',
        '<meta http-equiv="refresh" content="0; url=https://example.org/">',
        '<iframe srcdoc="&lt;img src=https://example.org/x.png&gt;"></iframe>',
        '<script>new Worker("https://cdn.example.org/x.js")</script>',
        "<style>@import url(https://fonts.example.org/x.css);</style>",
        '<div style="background: url(https://example.org/x.png)"></div>',
        '<script type="module">import x from "https://cdn.example.org/x.js"</script>',
    ],
)
def test_a_link_to_a_cdn_is_caught_in_an_output(copy, html):
    output = nbformat.v4.new_output("display_data", data={"text/html": html, "text/plain": "x"})
    (fault,) = change(copy, lambda cell: cell.update(outputs=[output]))
    assert "another host" in fault


def test_a_link_for_the_reader_to_click_is_no_fault():
    assert book.foreign('<a href="https://example.org/">there</a>') == []


def test_a_broken_cross_reference_stops_the_build(copy):
    """The same strict build as the book's, without what only the real book has (logo, references, vendored files)."""
    (copy / "_config.yml").write_text(
        'title: A book\nonly_build_toc_files: true\nexecute: {execute_notebooks: "off"}\n'
    )

    def build():
        command = [BIN / "jupyter-book", "build", ".", "-W", "--keep-going", "-n"]
        return subprocess.run(command, cwd=copy, capture_output=True, text=True)

    whole = build()
    assert whole.returncode == 0, whole.stdout + whole.stderr
    page = copy / "book/page.md"
    page.write_text(page.read_text().replace("<here>", "<nowhere>"))
    broken = build()
    assert broken.returncode != 0
    assert "nowhere" in broken.stdout + broken.stderr
