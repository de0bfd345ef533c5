"""The package as a whole: what it imports, in which order, and how library and chapters point at each other."""

import ast
import inspect
import json
import os
import pydoc
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import turing
from book import ROOT
from turing.proof.proof import INVARIANTS

PACKAGE = ROOT / "turing"

# The reading order of the book is the import order of the library: a module uses its own row and earlier ones.
ORDER = [
    ("machines", ["arguments", "machine", "formats", "zoo", "pictures", "listings", "progress"]),
    ("gates", ["layout", "exact", "ir", "gates", "modules", "views"]),
    ("dnf", ["dnf"]),
    ("adders", ["adders"]),
    ("hard-attention", ["attention"]),
    ("wcm21", ["runs", "construction", "wcm", "verification", "files"]),
    ("all-words", ["proof", "recheck"]),
    ("cantor-stacks", ["cantor"]),
    ("ss95", ["stack_machine", "ss"]),
    ("averages", ["assembly", "precision", "perez", "bhattamishra"]),
    ("layer-norm", ["merrill"]),
    ("gate-by-gate", ["circuits"]),
    ("queue", ["queue", "conv"]),
    ("table", ["comparison"]),
    ("how-fast", ["engine"]),
    ("reading-back", ["decompiler"]),
    ("research", ["corpora"]),
    ("break-restore-train", ["study"]),
]
EXEMPT = {"__init__", "__main__", "_version", "cli", "exercises", "grading", "widgets"}
ROW = {module: number for number, (_, modules) in enumerate(ORDER) for module in modules}


def modules() -> dict[str, list[Path]]:
    """Top-level module or subpackage of turing to its files."""
    found: dict[str, list[Path]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        found.setdefault(path.relative_to(PACKAGE).parts[0].removesuffix(".py"), []).append(path)
    return found


def imported(path: Path) -> set[str]:
    """The modules of turing that a file imports, wherever in the file it does so."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} imports relatively; write turing.…"
            names |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return {parts[1] for name in names if (parts := name.split("."))[0] == "turing" and len(parts) > 1} & {*modules()}


def public(module_name: str):
    """The public functions and classes of a module, and the public methods of its classes."""
    module = __import__(f"turing.{module_name}", fromlist=["__all__"])
    module = sys.modules[f"turing.{module_name}"]
    for name in module.__all__:
        thing = getattr(module, name)
        own = getattr(thing, "__module__", "").startswith(f"turing.{module_name}")  # the others have a chapter already
        if own and (inspect.isclass(thing) or inspect.isfunction(thing)):
            yield f"turing.{module_name}.{name}", thing


def test_every_module_has_its_place_in_the_order():
    assert set(modules()) - EXEMPT == set(ROW)


@pytest.mark.parametrize("name", sorted(ROW))
def test_a_module_imports_only_from_its_own_and_earlier_chapters(name):
    for path in modules()[name]:
        late = {other for other in imported(path) - EXEMPT if ROW[other] > ROW[name]}
        assert not late, f"turing/{path.relative_to(PACKAGE)} imports {late}, which the reader has not met yet"


def test_no_module_is_imported_by_a_string():
    """What the test above cannot see."""
    allowed = {"__init__", "exercises", "files"}  # lazy attributes, judges by chapter, packages that may be missing
    for name, paths in modules().items():
        for path in paths:
            if "import_module" in path.read_text(encoding="utf-8"):
                assert name in allowed, path.name


@pytest.mark.parametrize("module", sorted(ROW))
def test_library_and_chapter_point_at_each_other(module):
    for name, thing in public(module):
        named = re.search(r"Chapter: :doc:`(?:[\w ]+<)?/book/([\w-]+)>?`\.", thing.__doc__ or "")
        assert named, f"{name} does not name its chapter"
        known = {name, f"{thing.__module__}.{thing.__name__}"}
        found = any(link in known or link.rpartition(".")[0] in known for link in linked(named[1]))
        assert found, f"{named[1]} has no link to {name}"


SERVES_ALL = ["runs", "construction", "ir", "modules", "exact", "verification", "views", "files", "cli", "comparison"]


@pytest.mark.parametrize("name", SERVES_ALL)
def test_what_serves_every_construction_names_none(name):
    """A construction is added by its own module and one line in ``turing/__init__.py``, as CONTRIBUTING.md says."""
    from turing.construction import constructions

    assert imported_by(name).isdisjoint({"wcm", "ss"})
    for path in modules()[name]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        assert texts.isdisjoint(constructions()), path.name


def test_contributing_says_which_files_a_construction_takes():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"^\| a construction \| (.+?) \|$", text, re.MULTILINE)
    assert re.findall(r"`([^`]+)`", row) == [
        "turing/", "import_chapters", "turing/__init__.py", "ORDER", "tests/test_package.py"
    ]  # fmt: skip
    lists = inspect.getsource(turing.import_chapters)
    assert {"wcm", "ss"} <= set(re.findall(r"\w+", lists))


def imported_by(name: str) -> set[str]:
    return {other for path in modules()[name] for other in imported(path)}


@cache
def linked(chapter: str) -> frozenset[str]:
    """The names of the library that a chapter links."""
    cells = json.loads((ROOT / f"book/{chapter}.ipynb").read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return frozenset(re.findall(r"\{py:\w+\}`(?:[^`<]*<)?([\w.]+)>?`", text))


def test_every_public_function_is_typed_and_documented():
    for module in ROW:
        for name, thing in public(module):
            assert thing.__doc__, name
            if inspect.isfunction(thing):
                missing = [p for p in inspect.signature(thing).parameters.values() if p.annotation is p.empty]
                assert not missing, f"{name}: no type for {missing}"


PAGES = [f"book/library{part}.md" for part in ("", "-networks", "-extending", "-circuits")]


@pytest.mark.parametrize("page", ["README.md", *PAGES])
def test_the_code_in_the_page_runs_and_prints_what_it_says(page, tmp_path):
    text = (ROOT / page).read_text(encoding="utf-8")
    code, shown, sessions = (
        re.findall(rf"^```{kind}\n(.*?)```$", text, re.DOTALL | re.MULTILINE) for kind in ("python", "text", "console")
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "tests")))}

    def printed(*arguments):
        command = [sys.executable, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path, env=environment).stdout

    assert printed("-c", "".join(code)) == "".join(shown)
    for session in sessions:
        command, output = re.fullmatch(r"\$ python (.+?)\n(.*)", session, re.DOTALL).groups()
        assert printed(*command.split()) == output


def test_the_links_of_the_readme_to_files_lead_somewhere():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"\]\((?!https?://|#)([^)\s]+)\)", text)
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_the_dependencies_are_floors_so_that_colab_keeps_its_own():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    block = re.search(r"dependencies = \[(.*?)\]", text, re.DOTALL)[1]
    wanted = re.findall(r'"([^"]+)"', block)
    assert "torch>=2.2" in wanted
    assert "ipywidgets>=7.6" in wanted
    assert "matplotlib>=3.7" in wanted
    assert all(re.fullmatch(r"[\w-]+>=[\d.]+", requirement) for requirement in wanted)


def test_the_library_page_lists_every_construction_with_its_options():
    page = (ROOT / "book/library.md").read_text(encoding="utf-8")
    row = r"^\| \{py:class\}`([\w-]+) <(.+?)>` \| .+? \| (yes|no) \| (.+?) \| \{doc\}`.+?` \|$"
    rows = re.findall(row, page.split("## The constructions")[1], re.MULTILINE)
    kinds = {name: kind for name, kind in turing.constructions().items() if kind.__module__.startswith("turing")}
    assert {name: pydoc.locate(where) for name, where, _, _ in rows} == kinds
    listed = {name: re.findall(r"`(\w+)`", options) for name, _, _, options in rows}
    assert listed == {name: [*inspect.signature(kind).parameters][1:] for name, kind in kinds.items()}
    assert {name for name, _, decided, _ in rows if decided == "yes"} == {*INVARIANTS}
    sentence = turing.prove.__doc__.partition(" are decided")[0]
    assert {*re.findall(r'``"([\w-]+)"``', sentence)} == {*INVARIANTS}


def test_the_library_page_lists_every_extra():
    listed = re.findall(r"^\| `(\w+)` \|", part_of("book/library.md", "## Install"), re.MULTILINE)
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    extras = text.partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    assert sorted(listed) == sorted(re.findall(r"^(\w+) = \[", extras, re.MULTILINE))


def test_the_page_on_constructions_shows_a_whole_one_and_the_attributes_of_the_base():
    page = (ROOT / "book/library-extending.md").read_text(encoding="utf-8")
    (whole,) = (
        node for node in ast.parse((ROOT / "tests/whole_tape.py").read_text()).body if isinstance(node, ast.ClassDef)
    )
    methods = [node.name for node in whole.body if isinstance(node, ast.FunctionDef)]
    assert methods == ["__init__", *re.findall(r"^:pyobject: WholeTape\.(\w+)$", page, re.MULTILINE)]
    assert f":end-before: def {methods[1]}\n" in page
    rows = re.findall(r"^\| `(\w+)` \| .+? \| `(\w+)` \|$", page, re.MULTILINE)
    assert {name for name, _ in rows} == {"batched", "passes_per_step", "tolerance", "T"}
    assert all(repr(getattr(turing.Construction, name)) == usual for name, usual in rows)


def part_of(page: str, heading: str) -> str:
    """A section of a page."""
    return (ROOT / page).read_text(encoding="utf-8").partition(f"\n{heading}\n")[2].partition("\n## ")[0]
