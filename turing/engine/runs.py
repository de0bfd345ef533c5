"""Runs of a network by an engine: the same results as in plain PyTorch, sooner.

Chapter: :doc:`/book/08_fast`.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from turing.engine.checkpoint import restore, store
from turing.engine.index import Refusal, digits
from turing.engine.indexed import Indexed
from turing.engine.native import Native, Program
from turing.machine import Configuration, Run, _word
from turing.watch import bar, ctrl_c
from turing.wcm import WCM21
from turing.wcm.network import Reader, _of_batch, _words

__all__ = ["ENGINES", "run", "run_batch", "trace", "vectors"]

ENGINES = {"indexed": Indexed, "native": Native}
BREATH = 0.1  # seconds between looks at Ctrl-C
CHUNK = 100_000  # steps between them in a batch
PAUSE = 60  # seconds between checkpoints


def run(
    network: WCM21,
    word: Iterable[str] = "",
    max_steps: int | None = None,
    engine: str = "native",
    check: bool = False,
    progress: bool | None = None,
    checkpoint: str | Path | None = None,
    cells: int | None = None,
) -> Run:
    """Run a network on a word by an engine. Ctrl-C ends the run, and what was done so far is returned.

    ``check`` scans all columns beside the index, as plain attention does, and raises where a number differs.
    ``progress`` shows a bar; by default a long run on a terminal has one. ``checkpoint`` is a file for a native run:
    it is written first, every minute and at the end, and a run for which it is there goes on from it. With ``cells``
    a native run stops, as at a limit, soon after its tape has grown to more of them.

    Chapter: :doc:`/book/08_fast`.
    """
    _wcm21(network)
    word, limit = _word(word), network._limit(max_steps)
    if engine == "torch":
        raise ValueError(
            'check, progress, checkpoint and cells are for engine="indexed" or "native", and "torch" was given.'
        )
    _known(engine)
    for name, given in (("A checkpoint", checkpoint), ("A number of cells", cells)):
        if given is not None and (engine != "native" or check):
            raise ValueError(
                f'{name} is for engine="native" without check, and engine={engine!r}, check={check} was given.'
            )
    if engine == "native" and not check:
        return _native(network, word, limit, progress, checkpoint, cells)
    with bar(limit, show=progress) as shown, ctrl_c() as pressed:
        for now in _configurations(network, word, limit, engine, check):
            shown.update(now.step > 0)
            if pressed:
                break
    again = partial(trace, network, word, now.step, engine)
    done = network.machine._run(now.cells, now.state, now.head, now.step, now.step < limit, again)
    return replace(done, status="interrupted") if pressed and done.status == "jammed" else done


def _native(
    network: WCM21,
    word: Sequence[str],
    limit: int,
    progress: bool | None,
    checkpoint: str | Path | None,
    cells: float | None,
) -> Run:
    native = Native(network, word, guarded=True)
    if checkpoint is not None and not Path(checkpoint).exists():
        store(native, checkpoint)  # a place that cannot be written to is known now, not at the end
    elif checkpoint is not None:
        restore(native, checkpoint)
        if native.steps > limit:
            raise ValueError(
                f"{Path(checkpoint).name} stands at step {native.steps:,}, and max_steps = {limit:,} was given."
            )
    chunk, saved, cells = 1_000, time.monotonic(), math.inf if cells is None else cells
    with bar(limit, native.steps, progress) as shown, ctrl_c() as pressed:
        goes_on = native.advance(0)  # a checkpoint may be of a run that is over
        while goes_on and native.steps < limit and native.used <= cells and not pressed:
            begun, before = time.monotonic(), native.steps
            goes_on = native.advance(min(chunk, limit - before))
            shown.update(native.steps - before)
            took = time.monotonic() - begun
            chunk = max(1_000, int(chunk * min(2, BREATH / max(took, 1e-9))))
            if checkpoint is not None and goes_on and time.monotonic() - saved > PAUSE:
                store(native, checkpoint)
                saved = time.monotonic()
    native.raise_()
    if checkpoint is not None:
        store(native, checkpoint)
    return _ended(native, native.steps if goes_on and native.used > cells else limit)


def _ended(native: Native, limit: int) -> Run:
    network, kernel, steps = native.program.network, native.program.kernel, native.steps
    jammed, head = native.status == kernel.JAMMED and steps < limit, native.head
    again = partial(trace, network, native.word, steps, "native")
    run = network.machine._run(native.tape(), native.state, head, steps, jammed, again)
    return replace(run, status="interrupted") if run.status == "limit" and steps < limit else run


def run_batch(
    networks: WCM21 | Iterable[WCM21], words: Iterable[Iterable[str]], max_steps: int | None = None
) -> list[Run]:
    """Many runs at once, in compiled loops on all processors: a network on many words, or one network for each word.

    Ctrl-C ends them all, and what was done so far is returned.

    Chapter: :doc:`/book/08_fast`.
    """
    words, single = _words(words, "run_batch"), isinstance(networks, nn.Module)
    networks = [networks] if single else list(networks)  # type: ignore[list-item, arg-type]  # as single says
    if not single and len(networks) != len(words):
        raise ValueError(
            f"run_batch takes one network, or one for each word: {len(networks)} networks and {len(words)} words were "
            f"given."
        )
    for network in networks:
        _wcm21(network)
    programs = [Program(network) for network in networks] * (len(words) if single else 1)
    limits, runs = [program.network._limit(max_steps) for program in programs], []
    for number, (program, word) in enumerate(zip(programs, words, strict=True)):
        with _of_batch(number):
            runs.append(Native(program, word, guarded=True))
    with ctrl_c() as pressed, ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(partial(_advance, pressed), runs, limits))
    for number, native in enumerate(runs):
        with _of_batch(number):
            native.raise_()
    return [_ended(native, limit) for native, limit in zip(runs, limits, strict=True)]


def _advance(pressed: list[int], native: Native, limit: int) -> None:
    """To the end of a run, or as far as it comes before Ctrl-C."""
    goes_on = True
    while goes_on and native.steps < limit and not pressed:
        goes_on = native.advance(min(CHUNK, limit - native.steps))


def trace(
    network: WCM21, word: Iterable[str] = "", max_steps: int | None = None, engine: str = "native"
) -> Iterator[Configuration]:
    """The configurations of a run by an engine, one by one.

    Chapter: :doc:`/book/08_fast`.
    """
    _wcm21(network)
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
                own, other = (digits(x[place].numpy()) for x in (vector, plain[name].squeeze(0)))
                raise AssertionError(
                    f"At step {step}, layer {name}, {network.layout_of(name).name(place)} is {own} by the index, and "
                    f"{other} if all columns are scanned."
                )
        yield (list(ours.values())[-1] + network.beta(step)).unsqueeze(0)


def vectors(
    network: WCM21, words: Iterable[Iterable[str]], max_steps: int | None = None, engine: str = "native"
) -> Iterator[dict[str, Tensor]]:
    """For each step on several words, every vector by the name of the module that it leaves, as the engine has it.

    Chapter: :doc:`/book/08_fast`.
    """
    _wcm21(network)
    _known(engine)
    words = _words(words, "vectors", least=1)
    given = Program(network) if engine == "native" else network
    runs = [ENGINES[engine](given, word).vectors() for word in words]
    for _ in range(network._limit(max_steps)):
        found = [_next(run, word, len(words) > 1) for run, word in zip(runs, words, strict=True)]
        yield {name: torch.stack([row[name] for row in found]) for name in found[0]}


def _next(run: Iterator[dict[str, Tensor]], word: Sequence[str], one_of_many: bool) -> dict[str, Tensor]:
    try:
        return next(run)
    except Refusal as refusal:
        if not one_of_many:
            raise
        text = word if isinstance(word, str) else " ".join(word)
        raise Refusal(f"On the word {text!r}: {refusal}") from None


def _wcm21(network: WCM21) -> None:
    if not isinstance(network, WCM21):
        raise TypeError(
            f'The engines are for turing.compile(machine, "wcm21"), and {type(network).__name__} was given.'
        )


def _known(engine: str) -> None:
    if engine == "torch":
        raise ValueError('engine="torch" is the network alone, without turing.engine: call its own method.')
    if engine not in tuple(ENGINES):
        raise ValueError(f"An engine is one of torch, {', '.join(ENGINES)}, and {engine!r} was given.")
