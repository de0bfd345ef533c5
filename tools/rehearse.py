"""Rehearse what a reader does in Colab: open the plain copy of a chapter, and run it from top to bottom.

python tools/rehearse.py [CHAPTER …]          in a new environment with Colab's versions
python tools/rehearse.py --here [CHAPTER …]   in the environment of this Python, such as Colab's own image

Needs the book (make book). The environment has no `turing`; the set-up cell of each copy installs it, from a git
repository that holds this checkout as it stands. Nothing that was there before may be replaced. What differs from
Colab is printed: its Python may not be had here, or its torch only as gigabytes of CUDA.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

ROOT = Path(__file__).resolve().parent.parent
COPIES = ROOT / "_build" / "html" / "colab"
VIEW = "application/vnd.jupyter.widget-view+json"
# What Colab has before a notebook runs, as far as the book needs it, in August 2026.
PYTHON = "3.13"
COLAB = {
    "torch": "2.11.0",
    "numpy": "2.1.3",
    "numba": "0.61.2",
    "ipywidgets": "7.7.1",
    "ipython": "7.34.0",
    "anywidget": "0.9.21",
    "safetensors": "0.8.0",
}
MORE = ("ipykernel==6.17.1", "matplotlib")  # the kernel that goes with this IPython


def main(arguments: list[str]) -> int:
    here = "--here" in arguments
    names = [f"{Path(name).stem}.ipynb" for name in arguments if name != "--here"]
    copies = [COPIES / name for name in names] or sorted(COPIES.glob("*.ipynb"))
    if not copies or not all(copy.exists() for copy in copies):
        sys.exit("The plain copies do not exist yet, or not by this name. Run make book first.")
    os.environ.pop("PYTHONPATH", None)  # turing must not come from the checkout
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # an old debugger's warning, once for each kernel
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        python = Path(sys.executable) if here else new_environment(folder / "environment")
        print(*differences(python), sep="\n", flush=True)
        address = f"git+{repository(folder / 'checkout').as_uri()}"
        before = installed(python)
        if "turing-book" in before:
            sys.exit(f"{python} already has turing, so there is nothing to rehearse.")
        new = would_install(python, address)
        print(f"pip would install {', '.join(sorted(new))}", flush=True)
        faults = [f"pip would replace {name} {before[name]}" for name in sorted({*new} & {*before})]
        make_kernel(folder, python)
        for copy in copies:
            began = time.monotonic()
            found, widgets = run(copy, address, folder)
            uninstall(python)
            faults += [f"{copy.name}: {fault}" for fault in found]
            print(f"{copy.name:24} {widgets:2} widgets  {time.monotonic() - began:5.0f} s", flush=True)
        after = installed(python)
        faults += [f"pip replaced {name} {old}" for name, old in before.items() if after.get(name) != old]
    print(*faults, f"{len(copies)} notebooks, {len(faults)} faults", sep="\n")
    return 1 if faults else 0


def new_environment(folder: Path) -> Path:
    began = time.monotonic()
    pins = {name: f"{name}=={version}" for name, version in COLAB.items()}
    (tested,) = re.findall("^torch==.+$", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)
    pythons = [found for found in (shutil.which(f"python{PYTHON}"), sys.executable) if found]
    # For the CPU alone: Colab's torch if it can be had, or else the one that the book is tested with.
    choices = [(command, f"{torch}+cpu") for torch in (pins["torch"], tested) for command in pythons]
    python = folder / "bin" / "python"
    for command, torch in [*choices, (sys.executable, tested)]:
        if subprocess.run([command, "-m", "venv", "--clear", folder], capture_output=True).returncode:
            continue  # a name that leads to no Python
        dry = [python, "-m", "pip", "--disable-pip-version-check", "install", "--dry-run", "--no-deps", torch]
        if subprocess.run(dry, capture_output=True).returncode == 0:
            break
    pip(python, "install", "--quiet", *(pins | {"torch": torch}).values(), *MORE)
    print(f"a new environment: {time.monotonic() - began:.0f} s", flush=True)
    return python


def differences(python: Path) -> list[str]:
    """Where an environment is not what Colab has."""
    command = [python, "-c", "import platform; print(platform.python_version())"]
    version = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    found = {"Python": version.rpartition(".")[0]} | installed(python)
    return [
        f"differs from Colab: {name} is {found.get(name, 'missing')} here, and {wanted} there"
        for name, wanted in ({"Python": PYTHON} | COLAB).items()
        if found.get(name) != wanted
    ] or ["all versions are those of Colab"]


def repository(folder: Path) -> Path:
    """A git repository with one commit: this checkout as it stands."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, check=True
    )
    for name in listed.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    author = ["-c", "user.name=rehearsal", "-c", "user.email=rehearsal@localhost"]
    for command in (["init"], ["add", "--all"], [*author, "commit", "--message", "The checkout as it stands"]):
        subprocess.run(["git", *command], cwd=folder, capture_output=True, check=True)
    return folder


def pip(python: Path, *arguments: str) -> str:
    command = [python, "-m", "pip", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{done.stderr}pip {' '.join(arguments)} failed; it says why above.")
    return done.stdout


def installed(python: Path) -> dict[str, str]:
    listed = json.loads(pip(python, "list", "--format", "json"))
    return {normal(package["name"]): package["version"] for package in listed}


def uninstall(python: Path) -> None:
    """Uninstall turing and what was written into its folder: numba's caches would remain as an empty package."""
    pip(python, "uninstall", "--yes", "--quiet", "turing-book")
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    shutil.rmtree(Path(site) / "turing", ignore_errors=True)


def would_install(python: Path, address: str) -> dict[str, str]:
    report = json.loads(pip(python, "install", "--dry-run", "--quiet", "--report", "-", address))
    return {normal(item["metadata"]["name"]): item["metadata"]["version"] for item in report["install"]}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def make_kernel(folder: Path, python: Path) -> None:
    """The kernel called rehearsal: IPython in the environment of this Python."""
    place = folder / "jupyter" / "kernels" / "rehearsal"
    place.mkdir(parents=True)
    command = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    about = {"argv": command, "display_name": "Rehearsal", "language": "python"}
    (place / "kernel.json").write_text(json.dumps(about), encoding="utf-8")
    os.environ["JUPYTER_PATH"] = str(folder / "jupyter")


def run(copy: Path, address: str, folder: Path) -> tuple[list[str], int]:
    """Run a copy as *Run all* does; return what went wrong, and how many widgets it shows."""
    nb = nbformat.read(copy, as_version=4)
    set_up = next(cell for cell in nb.cells if cell.cell_type == "code")
    set_up.source, changed = re.subn(r'git\+https?://[^"]+', address, set_up.source)
    if changed != 1:
        return ["its first code cell does not install turing"], 0
    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    empty = folder / "content"
    empty.mkdir(exist_ok=True)
    client = NotebookClient(nb, timeout=900, kernel_name="rehearsal", resources={"metadata": {"path": str(empty)}})
    try:
        client.execute()
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        return [str(error)], 0
    faults, shown = views(nb)
    return faults + departures(nb, shown, nbformat.read(ROOT / "book" / copy.name, as_version=4)), shown


def views(nb: nbformat.NotebookNode) -> tuple[list[str], int]:
    """The views that a front end could not render, and how many it could: those whose model has a module."""
    models = nb.metadata.get("widgets", {}).get("application/vnd.jupyter.widget-state+json", {}).get("state", {})
    faults, count = [], 0
    for cell in nb.cells:
        for output in cell.get("outputs", []):
            if view := output.get("data", {}).get(VIEW):
                if "render" in models.get(view["model_id"], {}).get("state", {}).get("_esm", ""):
                    count += 1
                else:
                    faults.append(f"a widget has no module to render: {cell.source[-80:]}")
    return faults, count


def departures(nb: nbformat.NotebookNode, shown: int, source: nbformat.NotebookNode) -> list[str]:
    """Where the run of a copy differs from the book: missing widgets, and solutions that print something else."""
    outputs = [output for cell in source.cells for output in cell.get("outputs", [])]
    widgets = sum("turing-live" in output.get("data", {}).get("text/html", "") for output in outputs)
    faults = [] if shown == widgets else [f"it shows {shown} widgets; in the book there are {widgets}"]
    forms = [cell for cell in nb.cells if cell.source.startswith("#@title")]
    here = {cell.source.partition("\n")[2]: printed(cell) for cell in forms}
    for cell in source.cells:
        if "solution" in cell.metadata.get("tags", []) and here.get(cell.source) != printed(cell):
            faults.append(f"a solution prints {here.get(cell.source)!r}, in the book {printed(cell)!r}")
    return faults


def printed(cell: nbformat.NotebookNode) -> str:
    return "".join(output.text for output in cell.outputs if output.output_type == "stream")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
