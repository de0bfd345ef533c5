"""What the book consists of, and what is wrong with it: one list of faults for the tests and the tools."""

from __future__ import annotations

import os
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlparse

import nbformat
import yaml

ROOT = Path(__file__).resolve().parent.parent
GENERATED = {"genindex"}  # pages that Sphinx makes itself

# What a notebook prints is compared, so floats are added in one order, by the code that every x86 processor can run.
# MKL and torch would each choose the fastest that this one has, with other last digits. Workers share the cores.
SAME_FLOATS = {"MKL_CBWR": "COMPATIBLE", "ATEN_CPU_CAPABILITY": "default", "OMP_NUM_THREADS": "1"}

# Tags that would let a notebook escape nbval, each with the reason why it is allowed: (notebook, cell id, tag).
ALLOWED_TAGS: dict[tuple[str, str, str], str] = {}
ESCAPES = re.compile(r"nbval-(skip|ignore-output|raises-exception|check-output)|raises-exception|skip-execution")
ESCAPE_COMMENTS = re.compile(r"#\s*(NBVAL_\w+|PYTEST_VALIDATE_IGNORE_OUTPUT)")
LAX = "--nbval-" + "lax"

# The sections that every chapter has; others stand between them where they help.
SECTIONS = [
    "The gap", "By hand", "The statement", "The library's code", "Where it breaks",
    "Summary", "Exercises", "Sources", "The next gap",
]  # fmt: skip
HEADER = re.compile(
    r":::\{div\} chapter-header\n"
    r"\*\*After this chapter you can\*\* \S.+?\n\n"
    r"\*\*You need\*\* \S.+?\n\n"
    r"\*\*Reading\*\* (\d+) minutes · \*\*Running\*\* (?:under )?\d+ (?:seconds|minutes)\n"
    r":::",
    re.DOTALL,
)


def config(root: Path = ROOT) -> dict:
    return yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))


def repository(root: Path = ROOT) -> str:
    """The address of the repository that this build is for.

    A workflow names its own repository, so a fork builds its own book; a clone takes its remote. Without a GitHub
    repository, the address is that of _config.yml.
    """
    if name := os.environ.get("GITHUB_REPOSITORY"):
        return f"{os.environ.get('GITHUB_SERVER_URL', 'https://github.com')}/{name}"
    try:  # the folder's own repository, not one that it happens to lie in
        outside = os.environ | {"GIT_CEILING_DIRECTORIES": str(root.parent)}
        command = ["git", "remote", "get-url", "origin"]
        remote = subprocess.run(command, cwd=root, env=outside, capture_output=True, text=True).stdout.strip()
    except OSError:  # no git
        remote = ""
    found = re.fullmatch(r"(?:\w+://)?(?:[^@/]+@)?github\.com[:/]([\w.-]+/[\w.-]+?)(?:\.git)?/?", remote)
    return f"https://github.com/{found[1]}" if found else config(root)["repository"]["url"]


def tag() -> str:
    """The tag of the release that this build is for, as the workflow names it; empty for any other build."""
    return os.environ.get("GITHUB_REF_NAME", "") if os.environ.get("GITHUB_REF_TYPE") == "tag" else ""


def site(repository: str, tag: str = "") -> str:
    """Where GitHub Pages puts the book of a repository; a release has a folder of its own in it."""
    owner, name = repository.split("/")[-2:]
    host = f"{owner.lower()}.github.io"
    folders = [*([] if name.lower() == host else [name]), *([tag] if tag else [])]
    return f"https://{'/'.join([host, *folders])}/"


def colab(repository: str, page: str, tag: str = "") -> str:
    """Where Colab opens the plain copy of a page.

    Colab reads from branches of GitHub, not from GitHub Pages: the workflow puts the copies on a branch of their own.
    """
    owner, name = repository.split("/")[-2:]
    branch = f"colab-{tag}" if tag else "colab"
    return f"https://colab.research.google.com/github/{owner}/{name}/blob/{branch}/{Path(page).name}.ipynb"


def pages(root: Path = ROOT) -> list[str]:
    """Every entry of the table of contents, in reading order, without suffix."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    found = [toc["root"]]

    def walk(node):
        if isinstance(node, list):
            for item in node:
                walk(item)
        elif isinstance(node, dict):
            if "file" in node:
                found.append(node["file"])
            for value in node.values():
                walk(value)

    walk([toc.get("parts", []), toc.get("chapters", [])])
    return found


def notebooks(root: Path = ROOT) -> list[Path]:
    """The notebooks of the table of contents."""
    return [path for page in pages(root) if (path := root / f"{page}.ipynb").exists()]


def parts(root: Path = ROOT) -> list[dict]:
    """The parts of the table of contents, each with its caption and its chapters."""
    return yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))["parts"]


def chapters(root: Path = ROOT) -> list[Path]:
    """The notebooks of the numbered parts: chapter 1 is the first, and the count goes on from part to part."""
    numbered = [entry["file"] for part in parts(root) if part.get("numbered") for entry in part["chapters"]]
    return [root / f"{page}.ipynb" for page in numbered]


def contents_faults(root: Path = ROOT) -> list[str]:
    """Files that no reader reaches, and entries that lead nowhere."""
    listed = pages(root)
    sources = {
        p.relative_to(root).with_suffix("").as_posix() for s in ("*.ipynb", "*.md") for p in (root / "book").glob(s)
    }
    lost = [f"{page} is not in _toc.yml, so no reader reaches it" for page in sorted(sources - set(listed))]
    dead = [f"_toc.yml names {page}, and there is no such file" for page in listed if page not in sources | GENERATED]
    twice = [f"_toc.yml names {page} twice" for page in sorted(set(listed)) if listed.count(page) > 1]
    return lost + dead + twice


def set_up(root: Path = ROOT) -> str:
    """The set-up cell that every notebook begins with; Colab needs it, the book hides it."""
    url = config(root)["repository"]["url"]
    return f'try:\n    import turing\nexcept ImportError:\n    %pip install --quiet "git+{url}"\n    import turing'


def notebook_faults(path: Path, root: Path = ROOT) -> list[str]:
    """Whatever would let a notebook go stale unseen, or look bad to a reader."""
    nb = nbformat.read(path, as_version=4)
    code = [cell for cell in nb.cells if cell.cell_type == "code" and cell.source.strip()]
    faults = []
    if not code or code[0].source != set_up(root) or "remove-cell" not in code[0].metadata.get("tags", []):
        faults.append("its first code cell is not the set-up cell of tools/book.py, tagged remove-cell")
    if "widgets" in nb.metadata:
        faults.append("it stores widget state; run make refresh")
    for number, cell in enumerate(code, start=1):
        place, tags = f"code cell {number}", cell.metadata.get("tags", [])
        if cell.execution_count is None:
            faults.append(f"{place} was never executed, so nbval would not compare it; run make refresh")
        elif cell.execution_count != number:
            faults.append(f"{place} has execution count {cell.execution_count}; run make refresh")
        for tag in [*filter(ESCAPES.search, tags), *ESCAPE_COMMENTS.findall(cell.source)]:
            if (path.name, cell.get("id", ""), tag) not in ALLOWED_TAGS:
                faults.append(f"{place} escapes nbval by {tag!r}")
        if cell.source.rstrip().endswith(";"):
            faults.append(f"{place} ends in a semicolon, which nbval ignores; use plt.show() or _ =")
        if "execution" in cell.metadata:
            faults.append(f"{place} stores when it ran; run make refresh")
        faults += [f"{place}: {fault}" for output in cell.outputs for fault in output_faults(output, cell)]
    return faults


def output_faults(output, cell) -> list[str]:
    if output.output_type == "error":
        return [f"its output is an error, {output.ename}"]
    if output.output_type == "stream":
        return ["it writes to stderr"] if output.name == "stderr" else []
    faults = [f"it refers to another host: {link}" for link in foreign(output.data.get("text/html", ""))]
    alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
    if any(kind.startswith("image/") for kind in output.data) and " " not in alt:
        faults.append("its image has no human alt text (metadata.mystnb.image.alt)")
    if "application/vnd.jupyter.widget-view+json" in output.data:
        faults.append("it stores a widget's model id, which changes on each run; run make refresh")
    return faults


def chapter_faults(path: Path) -> list[str]:
    """Where a chapter departs from the shape that every chapter has."""
    nb = nbformat.read(path, as_version=4)
    faults = []
    if not re.match(r"(\([\w-]+\)=\n)?# \S", nb.cells[0].source):
        faults.append("its first cell is not the title")
    header = HEADER.fullmatch(nb.cells[1].source.strip())
    if not header:
        faults.append("its second cell is not the chapter header of CONTRIBUTING.md")
    elif int(header[1]) > 25:
        faults.append(f"it takes {header[1]} minutes to read; the main path should take 25 or less")
    text = "\n".join(cell.source for cell in nb.cells if cell.cell_type == "markdown")
    headings = re.findall(r"^## (.+?)\s*$", text, re.MULTILINE)
    faults += [f"it has no section {name!r}" for name in SECTIONS if name not in headings]
    code = "\n".join(cell.source for cell in nb.cells if cell.cell_type == "code")
    kinds = "Lab|Stepper|GatePlayground|Adder|AttentionExplorer|PipelineInspector|CantorZoom|StackStepper"
    kinds += "|AverageCompass|NormCircle|CircuitTape|QueueWheel|SameStep|LockStep|WeightReader|ProofDial|NoiseDial"
    kinds += "|DisguisePanel"
    widgets = len(re.findall(rf"\b(?:{kinds})\(", code))
    if widgets > 3:
        faults.append(f"it has {widgets} widgets; two or three are enough")
    return faults


class _Foreign(HTMLParser):
    """Collects what a browser would fetch from another host by itself; links for the reader to click do not count."""

    FETCHED = {"src", "poster", "data", "background", "action", "xlink:href"}

    def __init__(self):
        super().__init__()
        self.found: list[str] = []
        self.raw = False

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.raw = tag in ("script", "style")
        if tag in ("image", "use", "base") or (
            tag == "link" and values.get("rel", "") not in ("canonical", "author", "license", "next", "prev")
        ):
            self._take(values.get("href"))
        for entry in (values.get("srcset") or "").split(","):
            self._take(entry.strip().split(" ")[0])
        if tag == "meta" and (values.get("http-equiv") or "").lower() == "refresh":
            self._take((values.get("content") or "").partition("=")[2])
        self.found += foreign(values.get("srcdoc") or "")
        for name in self.FETCHED:
            self._take(values.get(name))
        self._css(values.get("style") or "")

    def handle_data(self, data):
        if self.raw:
            self._css(data)
            for quoted in re.findall(r"""\b(?:import|from|fetch|Worker|src\s*=)\s*\(?\s*["'`]([^"'`]+)""", data):
                self._take(quoted)

    def _css(self, text):
        for url in re.findall(r"""(?:url\(|@import(?!\s*url))\s*["']?([^"')\s]+)""", text):
            self._take(url)

    def _take(self, url):
        if url and (urlparse(url).scheme in ("http", "https", "ws", "wss") or url.startswith("//")):
            self.found.append(url)


def foreign(html: str) -> list[str]:
    """Addresses on other hosts that this HTML would make a browser fetch."""
    parser = _Foreign()
    parser.feed(html)
    return parser.found
