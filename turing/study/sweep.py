"""Sweeps: a perturbation at many levels, with many seeds, on many words, as one tidy table.

Chapter: :doc:`/book/break-restore-train`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor, as_completed
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from turing import arguments
from turing.construction import Construction
from turing.decompiler.damages import Perturbation
from turing.study.failure import first_failures

__all__ = ["perturbed", "read_table", "sweep", "write_table"]

MAX_NUMBERS = 40_000_000  # of all copies that stand side by side
Row = dict[str, Any]
COLUMNS = ("perturbation", "level", "seed", "word", "steps", "step", "module", "place")


def perturbed(network: Construction, perturbation: Perturbation, level: Any, seeds: Sequence[int]) -> dict[str, Tensor]:
    """The parameters of a network, damaged once with each seed: a dictionary by name of tensors ``(seeds, …)``.

    The network itself stays as it is. Copy one set of parameters into it to keep that damage:

    >>> from turing.study import Gaussian, first_failure, perturbed
    >>> net = turing.compile(turing.zoo["balanced_parentheses"], "wcm21", T=32, adder="lookahead")
    >>> noisy = perturbed(net, Gaussian(), 0.02, seeds=[1])
    >>> _ = net.load_state_dict({name: copies[0] for name, copies in noisy.items()})
    >>> print(*first_failure(net, ["B()E"]))
    Step 2, carry: st[R] is 1.701, expected 1.

    Chapter: :doc:`/book/break-restore-train`.
    """
    own = {name: numbers.detach() for name, numbers in network.named_parameters()}
    copies = [perturbation(own, level, seed) for seed in seeds]
    return {name: torch.stack([copy[name] for copy in copies]) for name in own}


def sweep(
    network: Construction,
    perturbation: Perturbation,
    levels: Iterable[Any],
    seeds: Iterable[int],
    words: Iterable[Iterable[str]],
    tolerance: float | None = None,
    path: str | Path | None = None,
    executor: Executor | None = None,
    progress: bool | None = None,
) -> list[Row]:
    """Damage a network at each level with each seed, and run it on each word: a list with a dictionary for each.

    ``perturbation`` is a kind of damage, such as :class:`Gaussian`, which says what a ``level`` is. A row says which
    run it was: ``perturbation``, ``level``, ``seed``, ``word``, and how many ``steps`` the machine takes. Then it says
    where the run first went wrong: ``step``, ``module`` and ``place``, which are None if the run was right.

    >>> from turing.study import Gaussian, sweep
    >>> net = turing.compile(turing.zoo["balanced_parentheses"], "wcm21", T=32, adder="lookahead")
    >>> rows = sweep(net, Gaussian(), [0.0, 0.01], [1, 2], ["B()E"])
    >>> [row["step"] for row in rows]
    [None, None, 2, 3]
    >>> rows[2]  # doctest: +NORMALIZE_WHITESPACE
    {'perturbation': "Gaussian(on='all', module=None)", 'level': 0.01, 'seed': 1, 'word': 'B()E',
     'steps': 9, 'step': 2, 'module': 'visited', 'place': 'scr4[visited]'}

    - ``tolerance``: that of :func:`turing.study.first_failure`
    - ``path``: a CSV file, to which rows are written as they come; a sweep that is started again with the same path
      does only what is missing, and :func:`turing.study.read_table` reads the file
    - ``executor``: one of ``concurrent.futures``, or one with the same interface, gets the levels as tasks
    - ``progress``: whether to show a bar; by default on a terminal

    Chapter: :doc:`/book/break-restore-train`.
    """
    from tqdm import tqdm

    levels, seeds = list(levels), list(seeds)
    found_words = ["".join(word) for word in arguments.words(words)]
    done = {_key(row): row for row in read_table(path)} if path is not None and Path(path).exists() else {}
    tasks = []
    size = max(1, MAX_NUMBERS // sum(numbers.numel() for numbers in network.parameters()))
    for level in levels:
        missing = [s for s in seeds if any((str(perturbation), level, s, w) not in done for w in found_words)]
        tasks += [(level, missing[k : k + size]) for k in range(0, len(missing), size)]
    bar = tqdm(total=sum(len(part) for _, part in tasks), disable=None if progress is None else not progress,
               unit=" copies", delay=0.5)  # fmt: skip
    with bar:
        for rows in _results(executor, network, perturbation, tasks, found_words, tolerance):
            done |= {_key(row): row for row in rows}
            bar.update(len(rows) // len(found_words))
            if path is not None:
                write_table(path, done.values())
    wanted = [(str(perturbation), level, seed, word) for level in levels for seed in seeds for word in found_words]
    return [done[key] for key in wanted]


def _results(
    executor: Executor | None,
    network: Construction,
    perturbation: Perturbation,
    tasks: list[tuple[Any, list[int]]],
    words: list[str],
    tolerance: float | None,
) -> Iterator[list[Row]]:
    if executor is None:
        for level, seeds in tasks:
            yield _rows(network, perturbation, level, seeds, words, tolerance)
        return
    futures = [executor.submit(_rows, network, perturbation, level, part, words, tolerance) for level, part in tasks]
    for future in as_completed(futures):
        yield future.result()


def _rows(
    network: Construction, perturbation: Perturbation, level: Any, seeds: list[int], words: list[str],
    tolerance: float | None,
) -> list[Row]:  # fmt: skip
    steps = [len(list(network.expected(network.machine, word))) for word in words]
    copies = first_failures(network, perturbed(network, perturbation, level, seeds), words, tolerance)
    rows = []
    for seed, failures in zip(seeds, copies, strict=True):
        for word, limit, failure in zip(words, steps, failures, strict=True):
            where = (None, None, None) if failure is None else (failure.step, failure.module, failure.place)
            values = (str(perturbation), level, seed, word, limit, *where)
            rows.append(dict(zip(COLUMNS, values, strict=True)))
    return rows


def _key(row: Row) -> tuple[Any, ...]:
    return row["perturbation"], row["level"], row["seed"], row["word"]


def read_table(path: str | Path) -> list[Row]:
    """The rows of a CSV file as a list of dictionaries: numbers as numbers, and None for an empty entry.

    Chapter: :doc:`/book/break-restore-train`.
    """
    with Path(path).open(newline="", encoding="utf-8") as file:
        return [{name: _value(text) for name, text in row.items()} for row in csv.DictReader(file)]


def _value(text: str) -> Any:
    if text == "":
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"True": True, "False": False}.get(text, text)


def write_table(path: str | Path, rows: Iterable[Row]) -> None:
    """Write rows, a list of dictionaries, as a CSV file that :func:`read_table` reads.

    An existing file is replaced once the new one is complete.

    Chapter: :doc:`/book/break-restore-train`.
    """
    rows, path = list(rows), Path(path)
    part = path.with_suffix(".part")
    with part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]) if rows else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    part.replace(path)
