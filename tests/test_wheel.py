"""Wheel and sdist: complete, and enough for a stranger who has nothing else and no network."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest
import tomllib

from book import ROOT

PACKAGE = sorted(path for path in (ROOT / "turing").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
# No host is asked, neither at import nor later: Python tells of each attempt before it is made.
NO_NETWORK = """
import sys
def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "urllib.Request"):
        raise RuntimeError(f"the network was asked: {event} {arguments}")
sys.addaudithook(refuse)
"""
WIDGETS = """
import turing.widgets as widgets
m = __import__("turing").zoo["balanced_parentheses"]
for name in ("Stepper", "Lab"):
    bundle = getattr(widgets, name)(m, "B()E")._repr_mimebundle_()
    html = (bundle[0] if isinstance(bundle, tuple) else bundle)["text/html"]
    assert "<script" in html and "turing-live" in html, name
    print(name, "is HTML")
"""


def built(folder):
    """The sdist, and the wheel that is made of it."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT]
    subprocess.run(command, check=True, capture_output=True)
    return next(folder.glob("*.tar.gz")), next(folder.glob("*.whl"))


def test_wheel_and_sdist_hold_the_whole_package_and_nothing_of_the_book(tmp_path):
    sdist, wheel = built(tmp_path)
    wanted = {path.relative_to(ROOT).as_posix() for path in PACKAGE}
    assert {"turing/py.typed", "turing/zoo/bb4.yaml", "turing/widgets/lab/widget.js"} <= wanted
    with ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
        (metadata,) = [name for name in archive.namelist() if name.endswith("/METADATA")]
        described = archive.read(metadata).decode()
    assert inside == wanted
    assert "Requires-Python: >=3.10" in described
    assert "License-Expression: Apache-2.0" in described
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert wanted | {"pyproject.toml", "README.md", "LICENSE", "LICENSE-TEXT"} <= names


PYTHONS = ("3.10", "3.11", "3.12", "3.13")
# Every name of the standard library that a module of the package imports, whether or not torch is there to import it.
NAMES = """
import ast, sys
from pathlib import Path
for path in Path(sys.argv[1]).rglob("*.py"):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in sys.stdlib_module_names:
            exec(ast.unparse(node))
"""


def python(version):
    """A Python of this version, if there is one on this machine: on the path, or among those of pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [shutil.which(f"python{version}"), *sorted(pyenv.glob(f"{version}.*/bin/python"))]
    code = "import sys; print('.'.join(map(str, sys.version_info[:2])))"
    for path in filter(None, found):
        if subprocess.run([path, "-c", code], capture_output=True, text=True).stdout.strip() == version:
            return path
    return None


def test_the_pythons_that_can_be_had_are_named(capsys):
    found = [version for version in PYTHONS if python(version)]
    with capsys.disabled():
        print(f" (the wheel is tried on Python {', '.join(found)})", end="")
    assert ".".join(map(str, sys.version_info[:2])) in found


@pytest.mark.slow
@pytest.mark.parametrize("version", PYTHONS)
def test_the_wheel_runs_machines_on_every_python_that_can_be_had(version, tmp_path):
    """Without torch, whose build for the CPU alone may be there for a single Python only."""
    if python(version) is None:
        pytest.skip(f"there is no Python {version} on this machine")
    _, wheel = built(tmp_path)
    home = tmp_path / "venv"
    subprocess.run([python(version), "-m", "venv", home], check=True, capture_output=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [name for name in project["dependencies"] if not name.startswith("torch")]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}

    def run(*command):
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    for what in (needed, ["--no-deps", wheel]):
        run(home / "bin/python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet", *what)
    (package,) = home.glob("lib/python*/site-packages/turing")
    run(home / "bin/python", "-W", "error", "-m", "compileall", "-q", "-f", package)
    run(home / "bin/python", "-c", NAMES, package)
    assert "steps      107" in run(home / "bin/turing", "run", "bb4")
    assert "balanced_parentheses" in run(home / "bin/turing", "zoo")
    assert "1RB1LB" in run(home / "bin/turing", "convert", "bb2", "--to", "bbchallenge")


@pytest.mark.slow
def test_a_fresh_environment_with_the_wheel_alone_does_what_the_readme_says(tmp_path):
    _, wheel = built(tmp_path)
    home, bin = tmp_path / "venv", tmp_path / "venv" / "bin"
    venv.create(home, with_pip=True)
    pin = re.search("^torch==.+$", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)[0]
    pip = [bin / "python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    subprocess.run([*pip, pin, wheel], check=True, capture_output=True)
    (site,) = home.glob("lib/python*/site-packages")
    (site / "sitecustomize.py").write_text(NO_NETWORK)
    alone = tmp_path / "empty"
    alone.mkdir()
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}

    def run(*command):
        done = subprocess.run(command, cwd=alone, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    asked = subprocess.run(
        [bin / "python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9/')"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert "the network was asked" in asked.stderr, "the guard does not guard"
    assert str(home) in run(bin / "python", "-c", "import turing; print(turing.__file__)")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    code, shown = re.search(r"```python\n(.+?)```\s+```text\n(.+?)```", readme, re.DOTALL).groups()
    assert run(bin / "python", "-c", code) == shown
    assert "steps      107" in run(bin / "turing", "run", "bb4")
    assert "steps      107" in run(bin / "turing", "run", "bb4", "", "--network", "wcm21")
    assert "steps      107" in run(bin / "turing", "run", "bb4", "", "--network", "wcm21", "--engine", "indexed")
    assert "balanced_parentheses" in run(bin / "turing", "zoo")
    assert "jupyter_book" not in run(bin / "python", "-m", "pip", "list", "--format", "freeze")
    assert run(bin / "python", "-c", WIDGETS).split("\n")[:2] == ["Stepper is HTML", "Lab is HTML"]
