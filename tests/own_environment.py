"""An environment of its own for a test of a package that the library does not depend on."""

import os
import re
import subprocess
import venv

import tomllib

from book import ROOT


def run_with(package, code, folder):
    """What Python prints that has a package, what the library depends on and nothing else. The library is this tree."""
    python = folder / "venv" / "bin" / "python"
    venv.create(folder / "venv", with_pip=True)
    torch = re.search("^torch==.+$", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)[0]
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    for what in ([torch], [package, *needed]):  # torch first, or pip would take a build with CUDA
        subprocess.run([*pip, *what], check=True, capture_output=True)
    done = subprocess.run(
        [python, "-c", code], cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
