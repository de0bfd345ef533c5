"""Run every stage of the tests and end with one summary. No stage is skipped; all run even when one fails.

python tools/test.py          what CI runs
python tools/test.py --all    the exhaustive tests too
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time

import setup as machine  # tools/setup.py, beside this file
from book import ROOT, SAME_FLOATS, notebooks

BIN = ROOT / ".venv" / "bin"
ASIDE = "types"  # takes one core, and so does the book: they run side by side


def stages(everything: bool) -> dict[str, list]:
    pytest = [BIN / "python", "-m", "pytest", "-q", "-o", "cache_dir=.pytest_cache"]
    # Warnings of Jupyter's own machinery depend on the machine; what a notebook prints is compared anyway.
    nbval = ["-o", "filterwarnings=default", "--nbval", "--nbval-cell-timeout=300"]
    which = ["-m", "slow or not slow"] if everything else ["-m", "not slow"]
    shared = ["--dist", "worksteal"]  # neighbours stay together, and with them what they share
    two, three = ["-n", "2"], ["-n", "3"]  # three where a worker waits for a browser or a kernel part of its time
    # What looks at the built book.
    built = [*(f"tests/test_{name}.py" for name in ("plain", "hosted", "reading")), "tests/browser"]
    without = [f"--ignore={path}" for path in built]
    found = {
        "ruff": [BIN / "ruff", "check", "."],
        "format": [BIN / "ruff", "format", "--check", "--quiet", "."],
        "book": [BIN / "jupyter-book", "build", ".", "-W", "--keep-going", "-n"],
        "types": [BIN / "mypy"],
        "tests": [*pytest, *which, *two, *shared, *without, "--doctest-modules", "turing", "tests"],
        "notebooks": [*pytest, *nbval, *three, "--dist", "loadfile", *notebooks()],
        "browser": [*pytest, *which, *three, *shared, *built],
    }
    return found | {"colab": [BIN / "python", "tools/rehearse.py"]} if everything else found


def run(stages: dict[str, list]) -> int:
    """Run the stages one after the other, all of them, and print the summary; the exit status."""
    results: dict[str, tuple[str, float]] = {}
    aside = subprocess.Popen(stages[ASIDE], cwd=ROOT, stdout=subprocess.PIPE) if ASIDE in stages else None
    for name, command in stages.items():
        print(f"\n== {name} ==", flush=True)
        began = time.monotonic()
        try:
            environment = os.environ | SAME_FLOATS
            environment.pop("PYTHONDONTWRITEBYTECODE", None)  # what one worker has compiled, the others read
            if name == "browser":
                environment["CHROMIUM"] = machine.browser()
            if aside and name == ASIDE:
                print(aside.communicate()[0].decode(), end="")
                passed = aside.returncode == 0
            else:
                passed = subprocess.run(command, cwd=ROOT, env=environment).returncode == 0
        except SystemExit as missing:  # no browser, and none could be installed
            print(missing)
            passed = False
        results[name] = ("passed" if passed else "FAILED", time.monotonic() - began)
    print("\n== summary ==")
    for name, (result, seconds) in results.items():
        print(f"{name:<10} {result}  {seconds:5.0f} s")
    failed = sum(result == "FAILED" for result, _ in results.values())
    print(f"stages: {len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    shutil.rmtree(ROOT / "_build", ignore_errors=True)  # an incremental build would hide old warnings
    sys.exit(run(stages(everything="--all" in sys.argv[1:])))
