"""``python -m turing.study``: compute the tables of the chapter again.

What is done is kept in ``_build/study`` until all tables are complete: a run that was stopped goes on from there.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

from turing.study.claims import check
from turing.study.experiments import EXPERIMENTS, MEASURED
from turing.study.sweep import Row, read_table, write_table

WORKPLACE = Path("_build/study")


def compute(name: str, quick: bool, path: Path | None = None, show: bool = False) -> list[Row]:
    """The rows of a table. With a path, those that stand there are not computed again."""
    from tqdm import tqdm

    rows = read_table(path) if path is not None and path.exists() else []
    tasks = list(EXPERIMENTS[name](quick))
    for key, task in tqdm(tasks, name, disable=not show, leave=False):
        if any(all(row.get(column) == value for column, value in key.items()) for row in rows):
            continue
        rows += task()
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_table(path, rows)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m turing.study", description="Compute the chapter's tables again.")
    parser.add_argument("tables", nargs="*", help=f"some of: {', '.join(EXPERIMENTS)}; without any, all")
    parser.add_argument("--quick", action="store_true", help="small tables, which are checked and not kept")
    given = parser.parse_args()
    for name in given.tables:
        if name not in EXPERIMENTS:
            parser.error(f"{name} is not a table; there are {', '.join(EXPERIMENTS)}")
    torch.set_num_threads(1)
    tables = {}
    for name in given.tables or EXPERIMENTS:
        path = None if given.quick else WORKPLACE / f"{name}.csv"
        tables[name] = compute(name, given.quick, path, show=True)
        print(f"{name}: {len(tables[name])} rows", flush=True)
    for name in () if given.quick else tables:
        (WORKPLACE / f"{name}.csv").replace(MEASURED / f"{name}.csv")
    if not given.tables:
        print("\n".join(check(tables)))


if __name__ == "__main__":
    main()
