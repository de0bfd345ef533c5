"""The plain copies that Colab opens: MyST to Markdown, nothing given away, and every link leads into the built book."""

import json
import os
import re
import runpy
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import hosted as extension
import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from plain import Hosted, Unknown, left_over, markdown, plain

import book
from book import ROOT

HTML = ROOT / "_build" / "html"
NAMES = [path.name for path in book.notebooks()]
HERE = Hosted(
    page="https://host/book/page.html",
    role=lambda role, content: f"[{content}](https://host/{role})",
    file=lambda link: f"https://host/{link}",
    number={"thm-x": "Theorem 2.3", "ex-x": "Exercise 2.1"}.get,
    folder=ROOT / "book",
)


@pytest.mark.parametrize(
    ("myst", "told"),
    [
        ("A {term}`gate`, {cite}`bates`.", "A [gate](https://host/term), [bates](https://host/cite)."),
        ("{doc}`the last\nchapter <machines>`", "[the last chapter <machines>](https://host/doc)"),
        ("`{term}` and ``a `{ref}` b`` are code", "`{term}` and ``a `{ref}` b`` are code"),
        ("(a-label)=\n## Section\n\n% a comment\nText", "## Section\n\nText"),
        ("```{index} gate; NOT\n```\n```{index} slice\n```\n\nText", "Text"),
        (":::{div} chapter-header\n**You need** {doc}`x`\n:::", "**You need** [x](https://host/doc)"),
        ("```{prf:theorem} One {term}`gate`\n:label: thm-x\n\nLet $x$.\n```",
         "**Theorem 2.3** (One [gate](https://host/term))\n\nLet $x$."),
        ("```{prf:corollary}\nSo.\n```\nAnd on.", "**Corollary**\n\nSo.\n\nAnd on."),
        ("```{exercise} Even ones · difficulty 1\n:label: ex-x\n\nDo.\n```",
         "### Exercise 2.1 (Even ones · difficulty 1)\n\nDo."),
        (":::{dropdown} Proof\nBy {prf:ref}`a`. ∎\n:::",
         "<details><summary>Proof</summary>\n\nBy [a](https://host/prf:ref). ∎\n\n</details>"),
        ("::::{note}\n:::{div} x\nInner\n:::\n::::", "**Note**\n\nInner"),
        ("```{admonition} Mind\n:class: tip\nThe gap\n```", "**Mind**\n\nThe gap"),
        ("```{figure} a.png\n:alt: A tape\n\nWords\n```", "![A tape](https://host/a.png)\n\nWords"),
        ("[b](c.md) and $D[k](x)$ and `[B](x)`", "[b](https://host/c.md) and $D[k](x)$ and `[B](x)`"),
        ("[far](https://else.org/x)", "[far](https://else.org/x)"),
        ("```{math}\nx = 1\n```", "$$\nx = 1\n$$"),
        ("$$\nx = {a}`\n$$ (eq-x)", "$$\nx = {a}`\n$$"),
        ("```python\n# {term}`x`\n(a)=\n```", "```python\n# {term}`x`\n(a)=\n```"),
        ("{doc}`A <a>`\n: First\n  line\n\n{doc}`B <b>`\n: Second",
         "- [A <a>](https://host/doc): First\n  line\n\n- [B <b>](https://host/doc): Second"),
        ("1. One\n\n   ```{code-block} python\n   x\n   ```\n", "1. One\n\n   ```python\n   x\n   ```"),
    ],
)  # fmt: skip
def test_myst_becomes_plain_markdown(myst, told):
    assert markdown(myst, HERE) == told
    assert left_over(new_notebook(cells=[new_markdown_cell(told)])) == []


@pytest.mark.parametrize("myst", ["```{tab-set}\nx\n```", ":::{card} x\n:::", "```{note}\nnever closed"])
def test_what_has_no_plain_form_is_refused(myst):
    with pytest.raises(Unknown):
        markdown(myst, HERE)


def test_a_file_that_is_included_stands_in_the_copy():
    source = ROOT / "turing/widgets/page/network.js"
    told = markdown("```{literalinclude} ../turing/widgets/page/network.js\n:language: javascript\n```", HERE)
    assert told == f"```javascript\n{source.read_text(encoding='utf-8').strip()}\n```"


def sample():
    """A chapter in small: set-up, a prediction, a widget, an exercise with its solution, an end."""
    question = 'Predict(\n    "How many?",\n    ["One", "Two"],\n    answer=1,\n    because="So.",\n)'
    html = [new_output("display_data", {"text/html": "<script>", "text/plain": "Predict"})]
    start = "```{solution-start} ex-x\n:class: dropdown\n```\n\nIn words."
    return new_notebook(
        cells=[
            new_markdown_cell("# Title", id="title"),
            new_code_cell("import turing", id="setup", metadata={"tags": ["remove-cell"]}),
            new_code_cell(f"from turing.widgets import Predict\n\n{question}", id="predict", outputs=html),
            new_code_cell("Stepper()", id="widget", outputs=html, metadata={"tags": ["hide-input"]}),
            new_code_cell("print(2)", id="plain", outputs=[new_output("stream", text="2\n")], execution_count=4),
            new_markdown_cell("```{exercise} Ones · difficulty 1\n:label: ex-x\n\nDo.\n```", id="exercise"),
            new_code_cell("def ones(): ...", id="stub"),
            new_markdown_cell(start, id="start"),
            new_code_cell("def ones(): 'solved'", id="solved", outputs=[new_output("stream", text="right")]),
            new_markdown_cell("```{solution-end}\n```\n\n## The next gap", id="rest"),
        ]
    )


def test_answers_and_solutions_are_folded_at_the_end_without_outputs():
    copy = plain(sample(), HERE)
    nbformat.validate(copy)
    sources = [cell.source for cell in copy.cells]
    end = next(i for i, source in enumerate(sources) if source.startswith("## Answers and solutions"))
    before = "\n".join(sources[:end])
    assert "How many?" in before
    assert "- Two" in before
    assert not re.search("answer=|So\\.|solved|In words", before)
    assert sources[end - 1] == "## The next gap"
    assert sources[end + 1].startswith('#@title Answer to prediction 1 {display-mode: "form"}\nPredict(')
    assert sources[end + 2] == (
        "<details><summary>Exercise 2.1 (Ones), the solution in words</summary>\n\nIn words.\n\n</details>"
    )
    assert sources[end + 3].startswith('#@title Exercise 2.1 (Ones), the solution {display-mode: "form"}\ndef ones()')
    folded = [cell for cell in copy.cells[end:] if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in folded)
    assert all(cell.metadata.cellView == "form" for cell in folded)


def test_what_a_new_run_has_to_show_is_left_out_and_the_rest_is_kept():
    copy = {cell["id"]: cell for cell in plain(sample(), HERE).cells}
    assert copy["plain"].outputs[0].text == "2\n"
    assert copy["plain"].execution_count == 4
    assert copy["widget"].outputs == []
    assert copy["widget"].metadata.cellView == "form"
    assert copy["predict"].source == "from turing.widgets import Predict"
    assert len(copy) == len(plain(sample(), HERE).cells), "an id stands for two cells"


def test_a_prediction_that_cannot_be_read_is_refused():
    for source in ("Predict(question, options, answer=1, because=why)", "show(Predict('a', ['b', 'c'], 0, 'd'))"):
        with pytest.raises(Unknown):
            plain(new_notebook(cells=[new_markdown_cell("# T", id="t"), new_code_cell(source, id="c")]), HERE)


@cache
def built(name):
    assert (HTML / "colab").is_dir(), "The book is not built yet: run make book first."
    return nbformat.read(HTML / "colab" / name, as_version=4)


def test_every_notebook_has_its_copy_and_no_copy_is_left_from_before():
    assert sorted(path.name for path in (HTML / "colab").iterdir()) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_is_a_valid_notebook_with_no_myst_in_it(name):
    copy = built(name)
    nbformat.validate(copy)
    assert left_over(copy) == []
    words = "\n".join(cell.source for cell in copy.cells if cell.cell_type == "markdown")
    assert not re.search(r"\{(?:ref|numref|cite|doc|term|prf:ref|py:\w+)\}|^(?:`{3,}|:{3,})\{|:label:|\[\]\(", words)


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_installs_from_the_repository_of_this_build(name):
    first = next(cell for cell in built(name).cells if cell.cell_type == "code")
    url, tag = book.config()["repository"]["url"], book.tag()
    assert first.source == book.set_up().replace(url, book.repository() + (f"@{tag}" if tag else ""))


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_keeps_every_statement_and_gives_no_answer_away(name):
    source, copy = nbformat.read(ROOT / "book" / name, as_version=4), built(name)
    solved = [cell.source for cell in source.cells if "solution" in cell.metadata.get("tags", [])]
    end = next((i for i, cell in enumerate(copy.cells) if cell["id"] == "the-end"), len(copy.cells))
    before = "\n".join(cell.source for cell in copy.cells[:end])
    after = "\n".join(cell.source for cell in copy.cells[end:])
    assert [code for code in solved if code in before or code not in after] == []
    assert "because=" not in before
    asked = "\n".join(cell.source for cell in source.cells).count("\nPredict(")
    assert before.count("*Prediction ") == after.count("\nPredict(") == asked
    assert not any(cell.get("outputs") for cell in copy.cells[end:])
    kept = {cell.source for cell in copy.cells}
    made_anew = ("Predict(", "Lab(", "LockStep(")
    code = [cell.source for cell in source.cells if cell.cell_type == "code"]
    others = [text for text in code[1:] if not any(call in text for call in made_anew)]
    assert [text for text in others if text not in kept and text not in solved] == []


@pytest.mark.parametrize("name", ["index.ipynb", "lab.ipynb"])
def test_the_lab_of_a_copy_links_to_the_hosted_one(name):
    """Colab shows it in a frame, whose address leads nowhere."""
    cells = [cell.source for cell in built(name).cells if cell.cell_type == "code"]
    (code,) = [source for source in cells if "Lab(" in source or "LockStep(" in source]
    assert f'page="{book.site(book.repository(), book.tag())}book/lab.html"' in code
    assert "link=True" not in code


class _Ids(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = set()

    def handle_starttag(self, tag, attributes):
        self.found |= {value for name, value in attributes if name in ("id", "name")}


@cache
def ids(path):
    parser = _Ids()
    parser.feed(path.read_text(encoding="utf-8"))
    return parser.found


@pytest.mark.parametrize("name", NAMES)
def test_every_link_of_a_copy_exists_in_the_built_book(name):
    site, dead, links = book.site(book.repository(), book.tag()), [], 0
    for cell in built(name).cells:
        text = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", cell.source, flags=re.DOTALL)
        for link in re.findall(r"\]\(([^)\s]+)\)", text) if cell.cell_type == "markdown" else []:
            links += 1
            page, _, part = link.removeprefix(site).partition("#")
            if not link.startswith(site):
                dead += [] if link.startswith("https://") else [link]
            elif not (HTML / page).is_file() or (part and unquote(part) not in ids(HTML / page)):
                dead.append(link)
    assert dead == []
    assert links


@pytest.mark.parametrize("name", NAMES)
def test_the_launch_button_of_a_page_opens_its_copy(name):
    page = (HTML / "book" / name).with_suffix(".html").read_text(encoding="utf-8")
    opened = re.findall(r'href="(https://colab\.research\.google\.com[^"]+)"', page)
    assert opened == [book.colab(book.repository(), f"book/{Path(name).stem}", book.tag())]


def test_the_workflow_puts_the_copies_on_the_branch_that_the_buttons_open(tmp_path):
    jobs = yaml.safe_load((ROOT / ".github/workflows/book.yml").read_text(encoding="utf-8"))["jobs"]
    (branch,) = [step["env"]["BRANCH"] for step in jobs["copies"]["steps"] if step.get("run") == "tools/push_copies.sh"]
    assert branch == "${{ github.ref_type == 'tag' && format('colab-{0}', github.ref_name) || 'colab' }}"
    assert "/blob/colab/x.ipynb" in book.colab("https://github.com/a/b", "book/x")
    assert "/blob/colab-v1/x.ipynb" in book.colab("https://github.com/a/b", "book/x", "v1")
    subprocess.run(["git", "init", "--quiet", "--bare", tmp_path], check=True)
    environment = os.environ | {"BRANCH": "colab-v1", "REMOTE": str(tmp_path), "GITHUB_SHA": "abc"}
    for _ in range(2):  # the second replaces the first
        subprocess.run([ROOT / "tools/push_copies.sh"], cwd=ROOT, env=environment, check=True, capture_output=True)
    git = ["git", "--git-dir", tmp_path]
    pushed = subprocess.run([*git, "ls-tree", "--name-only", "colab-v1"], capture_output=True, text=True, check=True)
    assert pushed.stdout.split() == sorted(NAMES)
    log = subprocess.run([*git, "log", "--format=%s", "colab-v1"], capture_output=True, text=True, check=True)
    assert log.stdout.split("\n")[:-1] == ["Plain copies of abc"]


def test_all_tests_end_with_a_rehearsal_of_every_copy():
    stages = runpy.run_path(str(ROOT / "tools/test.py"))["stages"]
    assert [str(part) for part in stages(everything=True)["colab"]][1:] == ["tools/rehearse.py"]
    assert [name for name in stages(everything=True) if name not in stages(everything=False)] == ["colab"]


@pytest.mark.parametrize(
    "remote",
    [
        "https://github.com/someone/fork",
        "https://github.com/someone/fork.git",
        "https://name:secret@github.com/someone/fork.git/",
        "git@github.com:someone/fork.git",
        "ssh://git@github.com/someone/fork.git",
    ],
)
def test_a_clone_builds_for_its_own_remote(remote, tmp_path, monkeypatch):
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    (tmp_path / "_config.yml").write_text("repository: {url: https://github.com/one/two}")
    assert book.repository(tmp_path) == "https://github.com/one/two"
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    subprocess.run(["git", "remote", "add", "origin", "/somewhere/else"], cwd=tmp_path, check=True)
    assert book.repository(tmp_path) == "https://github.com/one/two"
    subprocess.run(["git", "remote", "set-url", "origin", remote], cwd=tmp_path, check=True)
    assert book.repository(tmp_path) == "https://github.com/someone/fork"


def test_a_workflow_builds_for_its_own_repository(monkeypatch):
    monkeypatch.setenv("GITHUB_REPOSITORY", "Some-One/fork")
    monkeypatch.delenv("GITHUB_SERVER_URL", raising=False)
    assert book.repository() == "https://github.com/Some-One/fork"
    assert book.site(book.repository()) == "https://some-one.github.io/fork/"
    assert book.site("https://github.com/me/me.github.io") == "https://me.github.io/"


def test_the_address_stands_in_the_configuration_and_everything_else_is_rebased():
    url = book.config()["repository"]["url"]
    text = (ROOT / "_config.yml").read_text(encoding="utf-8")
    assert text.count(url) == 1
    assert book.site(url) not in text
    moved = extension.rebased({"a": [f"{url}/issues", f"{book.site(url)}x"], "b": 1}, url, "https://github.com/me/my")
    assert moved == {"a": ["https://github.com/me/my/issues", "https://me.github.io/my/x"], "b": 1}


@pytest.mark.slow
def test_no_page_or_notebook_of_a_fork_names_the_repository_that_it_was_forked_from(tmp_path):
    url = book.config()["repository"]["url"]
    environment = os.environ | {"GITHUB_REPOSITORY": "someone/fork", "GITHUB_SERVER_URL": "https://github.com"}
    command = [Path(sys.executable).parent / "jupyter-book", "build", ".", "--path-output", tmp_path, "--quiet"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
    html = tmp_path / "_build" / "html"
    old = "/".join(url.split("/")[-2:]), book.site(url).removeprefix("https://").rstrip("/")
    named = []
    for path in html.rglob("*"):
        if path.is_file() and path.suffix in (".html", ".ipynb", ".md", ".txt", ".js", ".json", ".xml"):
            text = path.read_text(encoding="utf-8")
            named += [str(path.relative_to(html)) for address in old if address in text]
    assert named == []
    page = (html / "book/gates.html").read_text(encoding="utf-8")
    assert "https://colab.research.google.com/github/someone/fork/blob/colab/gates.ipynb" in page
    assert "https://github.com/someone/fork/issues" in page
    copy = json.loads((html / "colab/gates.ipynb").read_text(encoding="utf-8"))
    text = "".join("".join(cell["source"]) for cell in copy["cells"])
    assert "git+https://github.com/someone/fork" in text
    assert "https://someone.github.io/fork/book/glossary.html#term-gate" in text
