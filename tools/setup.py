"""Set a fresh machine up: the virtual environment, and a browser for the tests.

Runs under the system's own Python, so it uses the standard library alone.

python3 tools/setup.py venv       .venv with requirements.txt and this package
python3 tools/setup.py browser    prints the path of a Chrome or Chromium; installs Debian's when it can
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"]
MAC = "/Applications/{0}.app/Contents/MacOS/{0}"


def make_venv() -> None:
    if sys.version_info < (3, 11):
        sys.exit(
            f"The book's pinned environment needs Python 3.11 or newer, and this is {sys.version.split()[0]}. "
            "Choose another one: make PYTHON=python3.12 … (the library alone runs on 3.10: pip install .)"
        )
    try:
        import ensurepip  # noqa: F401
    except ImportError:  # Debian ships venv's other half as a package of its own
        if "TURING_SET_UP_AGAIN" in os.environ or not apt_install("python3-venv"):
            name = f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"
            sys.exit(f"{sys.executable} has no ensurepip. Install its venv package first: sudo apt-get install {name}")
        os.environ["TURING_SET_UP_AGAIN"] = "yes"
        os.execv(sys.executable, [sys.executable, *sys.argv])
    python = VENV / "bin" / "python"
    if not python.exists() or subprocess.run([python, "-m", "pip", "--version"], capture_output=True).returncode:
        venv.create(VENV, with_pip=True, clear=True)  # also where an earlier attempt was cut off
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    for what in (["-r", ROOT / "requirements.txt"], ["--no-deps", "--no-build-isolation", "--editable", ROOT]):
        if subprocess.run([*pip, *what]).returncode:
            sys.exit("The environment could not be installed. Look at pip's message above, then run this again.")


def browser() -> str:
    """The path of a Chrome or Chromium; if there is none, install one or say what to install."""
    if found := find_browser():
        return found
    apt_install("chromium")
    if found := find_browser():
        return found
    sys.exit(
        "The browser tests need Chromium or Chrome, and none was found. Install one "
        "(Debian, Ubuntu: sudo apt-get install chromium), or set CHROMIUM to its path."
    )


def find_browser() -> str | None:
    if named := os.environ.get("CHROMIUM"):
        if not shutil.which(named):
            sys.exit(f"CHROMIUM is set to {named!r}, which is not a program that can be run.")
        return shutil.which(named)
    mac = [MAC.format(name) for name in ("Google Chrome", "Chromium")]
    return next(filter(None, map(shutil.which, [*BROWSERS, *mac])), None)


def apt_install(package: str) -> bool:
    """Install a Debian package when that is possible without asking anybody."""
    if not shutil.which("apt-get"):
        return False
    sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if sudo and not shutil.which("sudo"):
        return False
    apt = [*sudo, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q"]
    print(f"Installing {package} …", file=sys.stderr)
    for step in (["update"], ["install", "-y", "--no-install-recommends", package]):
        if subprocess.run([*apt, *step], stdout=sys.stderr).returncode:
            return False
    return True


if __name__ == "__main__":
    if sys.argv[1:] == ["venv"]:
        make_venv()
    elif sys.argv[1:] == ["browser"]:
        print(browser())
    else:
        sys.exit(__doc__)
