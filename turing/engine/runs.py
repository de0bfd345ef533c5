"""Runs of a network by an engine: the same results as in plain PyTorch, sooner.

Chapter: :doc:`/book/08_fast`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from turing.engine.checkpoint import restore, store
from turing.engine.indexed import Indexed
from turing.engine.native import Native, Program
from turing.machine import Configuration, Run, _word
from turing.watch import bar, ctrl_c
from turing.wcm import WCM21
from turing.wcm.network import Reader

__all__ = ["ENGINES", "run", "run_batch", "trace", "vectors"]

ENGINES = {"indexed": Indexed, "native": Native}
BREATH = 0.1  # seconds between looks at Ctrl-C
PAUSE = 60  # seconds between checkpoints


def run(
    network: WCM21,
    word: Iterable[str] = "",
    max_steps: int | None = None,
    engine: str = "native",
    check: bool = False,
    progress: bool | None = None,
    checkpoint: str | Path | None = None,
) -> Run:
    """Run a network on a word by an engine. Ctrl-C ends the run, and what was done so far is returned.

    ``check`` scans all columns beside the index, as plain attention does, and raises where a number differs.
    ``progress`` shows a bar; by default a long run on a terminal has one. ``checkpoint`` is a file for a native run:
    it is written first, every minute and at the end, and a run for which it is there goes on from it.

    Chapter: :doc:`/book/08_fast`.
    """
    word, limit = _word(word), network._limit(max_steps)
    if engine == "torch":
        raise ValueError('check, progress and checkpoint are for engine="indexed" or "native", and "torch" was given.')
    _known(engine)
    if checkpoint is not None and (engine != "native" or check):
        raise ValueError(
            f'A checkpoint is for engine="native" without check, and engine={engine!r}, check={check} was given.'
        )
    if engine == "native" and not check:
        return _native(network, word, limit, progress, checkpoint)
    with bar(limit, show=progress) as shown, ctrl_c() as pressed:
        for now in _configurations(network, word, limit, engine, check):
            shown.update(now.step > 0)
            if pressed:
                break
    again = partial(trace, network, word, now.step, engine)
    done = network.machine._run(now.cells, now.state, now.head, now.step, now.step < limit, again)
    return replace(done, status="interrupted") if pressed and done.status == "jammed" else done


def _native(network: WCM21, word: Sequence[str], limit: int, progress: bool | None, checkpoint) -> Run:
    native = Native(network, word, guarded=True)
    if checkpoint is not None and not Path(checkpoint).exists():
        store(native, checkpoint)  # a place that cannot be written to is known now, not at the end
    elif checkpoint is not None:
        restore(native, checkpoint)
        if native.steps > limit:
            raise ValueError(
                f"{Path(checkpoint).name} stands at step {native.steps:,}, and max_steps = {limit:,} was given."
            )
    chunk, saved = 1_000, time.monotonic()
    with bar(limit, native.steps, progress) as shown, ctrl_c() as pressed:
        goes_on = True
        while goes_on and native.steps < limit and not pressed:
            begun, before = time.monotonic(), native.steps
            goes_on = native.advance(min(chunk, limit - before))
            shown.update(native.steps - before)
            took = time.monotonic() - begun
            chunk = max(1_000, int(chunk * min(2, BREATH / max(took, 1e-9))))
            if checkpoint is not None and time.monotonic() - saved > PAUSE:
                store(native, checkpoint)
                saved = time.monotonic()
    native.raise_()
    if checkpoint is not None:
        store(native, checkpoint)
    return _ended(native, limit)


def _ended(native: Native, limit: int) -> Run:
    network, kernel, steps = native.program.network, native.program.kernel, native.steps
    jammed, head = native.status == kernel.JAMMED, int(native.count[kernel.HEAD])
    again = partial(trace, network, native.word, steps, "native")
    run = network.machine._run(native.tape(), native.state, head, steps, jammed, again)
    return replace(run, status="interrupted") if run.status == "limit" and steps < limit else run


def run_batch(
    networks: WCM21 | Sequence[WCM21], words: Sequence[Iterable[str]], max_steps: int | None = None
) -> list[Run]:
    """Many runs at once, in compiled loops on all processors: a network on many words, or one network for each word.

    Chapter: :doc:`/book/08_fast`.
    """
    if isinstance(words, str):
        raise ValueError(f"run_batch takes a list of words, and the one word {words!r} was given.")
    words = [_word(word) for word in words]
    single = isinstance(networks, WCM21)
    if not single and len(networks) != len(words):
        raise ValueError(
            f"run_batch takes one network, or one for each word: {len(networks)} networks and {len(words)} words were "
            f"given."
        )
    programs = [Program(networks)] * len(words) if single else [Program(network) for network in networks]
    runs = [Native(program, word, guarded=True) for program, word in zip(programs, words, strict=True)]
    limits = [program.network._limit(max_steps) for program in programs]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(Native.advance, runs, limits))
    for number, native in enumerate(runs):
        try:
            native.raise_()
        except ArithmeticError as error:
            raise type(error)(f"Word {number} of the batch: {error}") from None
    return [_ended(native, limit) for native, limit in zip(runs, limits, strict=True)]


def trace(
    network: WCM21, word: Iterable[str] = "", max_steps: int | None = None, engine: str = "native"
) -> Iterator[Configuration]:
    """The configurations of a run by an engine, one by one.

    Chapter: :doc:`/book/08_fast`.
    """
    _known(engine)
    word = _word(word)
    network.machine.tape(word)
    return _configurations(network, word, network._limit(max_steps), engine, False)


def _configurations(
    network: WCM21, word: Sequence[str], limit: int, engine: str, check: bool
) -> Iterator[Configuration]:
    reader = Reader(network, word)
    yield reader.now
    if not reader.goes_on:
        return
    columns = _checked(network, word, limit, engine) if check else ENGINES[engine](network, word).columns()
    while reader.goes_on and reader.now.step < limit:
        for reading in _readings(network, next(columns)):
            if reader.enter(reading):
                yield reader.now
            if not reader.goes_on or reader.now.step == limit:
                return


def _readings(network: WCM21, columns: Tensor) -> Iterator:
    try:
        yield from network.read(columns)
    except ArithmeticError:  # the rows before the first that cannot be read can be
        for column in columns:
            yield from network.read(column.unsqueeze(0))


def _checked(network: WCM21, word: Sequence[str], limit: int, engine: str) -> Iterator[Tensor]:
    """The columns of a run, with all columns scanned beside the index."""
    pairs = zip(ENGINES[engine](network, word).vectors(), network.vectors([word], limit), strict=False)
    for step, (ours, plain) in enumerate(pairs, start=1):
        for name, vector in ours.items():
            if not torch.equal(vector, plain[name].squeeze(0)):
                place = (vector != plain[name].squeeze(0)).nonzero()[0].item()
                raise AssertionError(
                    f"At step {step}, layer {name}, {network.layout_of(name).name(place)} is {vector[place]:g} by the "
                    f"index, and {plain[name].squeeze(0)[place]:g} if all columns are scanned."
                )
        yield (list(ours.values())[-1] + network.beta(step)).unsqueeze(0)


def vectors(
    network: WCM21, words: Sequence[Iterable[str]], max_steps: int | None = None, engine: str = "native"
) -> Iterator[dict[str, Tensor]]:
    """For each step on several words, every vector by the name of the module that it leaves, as the engine has it.

    Chapter: :doc:`/book/08_fast`.
    """
    _known(engine)
    given = Program(network) if engine == "native" else network
    runs = [ENGINES[engine](given, _word(word)).vectors() for word in words]
    for _ in range(network._limit(max_steps)):
        found = [next(run) for run in runs]
        yield {name: torch.stack([row[name] for row in found]) for name in found[0]}


def _known(engine: str) -> None:
    if engine not in tuple(ENGINES):
        raise ValueError(f"An engine is one of torch, {', '.join(ENGINES)}, and {engine!r} was given.")
