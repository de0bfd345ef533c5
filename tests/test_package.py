"""The package as a whole: what it imports, in which order, and how library and chapters point at each other."""

import ast
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from book import ROOT

PACKAGE = ROOT / "turing"

# The reading order of the book is the import order of the library: a module uses its own row and earlier ones.
ORDER = [
    ("00_machines", ["machine", "formats", "zoo", "pictures", "source", "watch"]),
    ("01_gates", ["layout", "gates", "network", "equations", "hinton"]),
    ("02_dnf", ["dnf"]),
    ("03_adders", ["adders"]),
    ("04_attention", ["attention"]),
    ("05_wcm", ["wcm", "compiler", "verification", "files"]),
    ("06_cantor", ["cantor"]),
    ("07_ss", ["stack", "ss"]),
    ("08_fast", ["folded", "engine"]),
    ("research", ["export", "corpus"]),
]
EXEMPT = {"__init__", "__main__", "_version", "widgets", "check"}
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


@pytest.mark.parametrize("row", ORDER, ids=lambda row: row[0])
def test_library_and_chapter_point_at_each_other(row):
    chapter, names = row
    cells = json.loads((ROOT / f"book/{chapter}.ipynb").read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    linked = set(re.findall(r"\{py:\w+\}`(?:[^`<]*<)?([\w.]+)>?`", text))
    for module in names:
        for name, thing in public(module):
            assert f"Chapter: :doc:`/book/{chapter}`." in (thing.__doc__ or ""), f"{name} does not name its chapter"
            assert any(link == name or link.startswith(f"{name}.") for link in linked), (
                f"{chapter} has no link to {name}"
            )


def test_every_public_function_is_typed_and_documented():
    for module in ROW:
        for name, thing in public(module):
            assert thing.__doc__, name
            if inspect.isfunction(thing):
                missing = [p for p in inspect.signature(thing).parameters.values() if p.annotation is p.empty]
                assert not missing, f"{name}: no type for {missing}"


@pytest.mark.parametrize(
    "code",
    [
        "import turing",
        "import turing; turing.zoo['balanced_parentheses'].run('B()E')",
        "from turing.__main__ import main; main(['run', 'bb4'])",
        "from turing.__main__ import main; main(['zoo'])",
        "from turing.__main__ import main; main(['convert', 'bb4', '--to', 'json'])",
        "from turing.__main__ import main; main(['show', 'bb4'])",
    ],
)
def test_machines_do_without_torch(code):
    check = f"import sys\n{code}\nassert 'torch' not in sys.modules, 'torch was imported'"
    subprocess.run([sys.executable, "-c", check], check=True, capture_output=True)


def test_the_code_in_the_readme_runs_and_prints_what_it_says():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (shown,) = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == shown


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
    assert all(re.fullmatch(r"[\w-]+>=[\d.]+", requirement) for requirement in wanted)
