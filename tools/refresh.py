"""Execute notebooks in place. The same sources give the same bytes, so a second run changes nothing.

python tools/refresh.py [NOTEBOOK …]      with no argument, every notebook of the book
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import course  # tools/course.py, beside this file
import nbformat
from nbclient import NotebookClient
from tqdm import tqdm

import book


def refresh(path: Path) -> bool:
    """Execute one notebook; return whether its file changed."""
    before = path.read_text(encoding="utf-8")
    nb = nbformat.reads(before, as_version=4)
    NotebookClient(
        nb,
        timeout=600,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,  # else the pieces depend on timing
        store_widget_state=False,
        resources={"metadata": {"path": str(path.parent)}},
    ).execute()
    nb.metadata.pop("widgets", None)
    nb.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    nb.metadata["language_info"] = {"name": "python"}
    for cell in nb.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):  # a widget's model id is new on each run; its HTML is what stays
            output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)
    after = nbformat.writes(nb) + "\n"
    path.write_text(after, encoding="utf-8")
    return after != before


def main(arguments: list[str]) -> None:
    os.environ |= book.SAME_FLOATS  # as in tools/test.py
    course.write()
    paths = [Path(a) for a in arguments] or book.notebooks()
    for path in (bar := tqdm(paths)):
        bar.set_description(path.name)
        tqdm.write(f"{path.name}: {'changed' if refresh(path) else 'unchanged'}")


if __name__ == "__main__":
    main(sys.argv[1:])
