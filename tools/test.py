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
from book import ROOT, notebooks

BIN = ROOT / ".venv" / "bin"


def stages(everything: bool) -> dict[str, list]:
    pytest = [BIN / "python", "-m", "pytest", "-q", "-o", "cache_dir=.pytest_cache"]
    which = ["-m", "slow or not slow"] if everything else ["-m", "not slow"]
    return {
        "ruff": [BIN / "ruff", "check", "."],
        "tests": [*pytest, *which, "-n", "2", "--ignore=tests/browser", "--doctest-modules", "turing", "tests"],
        "notebooks": [*pytest, "-n", "2", "--dist", "loadfile", "--nbval", "--nbval-cell-timeout=300", *notebooks()],
        "book": [BIN / "jupyter-book", "build", ".", "-W", "--keep-going", "-n"],
        "browser": [*pytest, *which, "-n", "2", "tests/browser"],
    }


def main(everything: bool) -> int:
    shutil.rmtree(ROOT / "_build", ignore_errors=True)  # an incremental build would hide old warnings
    results: dict[str, tuple[str, float]] = {}
    for name, command in stages(everything).items():
        print(f"\n== {name} ==", flush=True)
        began, environment = time.monotonic(), dict(os.environ)
        if name == "browser":
            try:
                environment["CHROMIUM"] = machine.browser()
            except SystemExit as missing:
                print(missing)
                results[name] = ("FAILED", time.monotonic() - began)
                continue
        code = subprocess.run(command, cwd=ROOT, env=environment).returncode
        results[name] = ("passed" if code == 0 else "FAILED", time.monotonic() - began)
    print("\n== summary ==")
    for name, (result, seconds) in results.items():
        print(f"{name:<10} {result}  {seconds:5.0f} s")
    failed = sum(result == "FAILED" for result, _ in results.values())
    print(f"stages: {len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main("--all" in sys.argv[1:]))
