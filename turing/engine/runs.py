"""Runs of a network by an engine: the same results as in plain PyTorch, sooner.

Chapter: :doc:`How fast </book/how-fast>`.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from turing import arguments
from turing.construction import Reader, Reading, _of_batch, _together, at_step
from turing.engine.checkpoint import restore, store
from turing.engine.history import LAST_VISIT, History
from turing.engine.index import Refusal, check_heads, digits, exact_in_any_order
from turing.engine.indexed import Indexed
from turing.engine.native import JAMMED, Native, Program
from turing.engine.stacks import CONSTRUCTIONS as STACKS
from turing.engine.stacks import Stacks
from turing.engine.together import FEW, Job, queues, work
from turing.machine import Configuration, Run
from turing.progress import bar, ctrl_c
from turing.wcm import WCM21

__all__ = ["IndexedEngine", "NativeEngine", "run_batch"]

INTERVAL = 0.1  # seconds between two looks at Ctrl-C
PAUSE = 60  # seconds between checkpoints


class IndexedEngine:
    """``engine="indexed"``: plain evaluation with an index in place of the heads, by :class:`Indexed` for ``wcm21``,
    and by :class:`History` for ``perez21`` and ``merrill24`` in exact arithmetic.

    The methods take and return what those of :class:`turing.construction.Engine` do.

    Chapter: :doc:`How fast </book/how-fast>`.
    """

    constructions: tuple[str, ...] = (WCM21.construction, *LAST_VISIT)

    def start(self, network: Any) -> Callable[[Sequence[str]], Any]:
        """A function that starts a run on a word."""
        return partial(History if network.construction in LAST_VISIT else Indexed, network)

    def run(
        self,
        network: Any,
        word: Iterable[str],
        max_steps: int | None = None,
        check: bool = False,
        progress: bool | None = None,
        checkpoint: str | Path | None = None,
        cells: int | None = None,
    ) -> Run:
        """Run a network on a word. Ctrl-C ends the run, and what was done so far is returned, as ``"interrupted"``.

        ``check`` compares every vector with that of plain attention, and raises where a number differs. ``progress``
        shows a bar; by default a long run on a terminal has one. ``checkpoint`` is a file from which a run of ``wcm21``
        goes on, and with ``cells`` one stops when its tape has grown to more cells: see :doc:`/book/library-engines`.

        Chapter: :doc:`How fast </book/how-fast>`.
        """
        word, limit = arguments.word(word), network._limit(max_steps)
        long = checkpoint is not None or cells is not None
        if long and (check or network.construction != WCM21.construction):
            why = "without check, and check=True was given" if check else f"of wcm21; this is {network.construction}"
            raise ValueError(f"checkpoint and cells are for a run {why}.")
        if check and network.construction in STACKS:
            raise ValueError(f"check is for networks with heads; this is {network.construction}. Take turing.verify.")
        if network.construction in STACKS:
            return self._on_stacks(network, word, limit, progress)
        if check or network.construction != WCM21.construction:
            return self._followed(network, word, limit, check, progress)
        room = math.inf if cells is None else arguments.integer("cells", cells, 0)
        native = Native(self.program(network), word, guarded=True)
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
            running = native.advance(0)  # a checkpoint may be of a run that is over
            if cells is not None and native.used > room and native.steps < limit:
                ahead = Native(native.program, word, guarded=True)  # it may have jammed, which a step would show
                ahead.stand(native.standing())
                running = ahead.advance(1) or ahead.steps > native.steps
                native = native if running else ahead
            while running and native.steps < limit and (cells is None or native.used <= room) and not pressed:
                begun, before = time.monotonic(), native.steps
                running = native.advance(min(chunk, limit - before))
                shown.update(native.steps - before)
                took = time.monotonic() - begun
                chunk = max(1_000, int(chunk * min(2, INTERVAL / max(took, 1e-9))))
                if checkpoint is not None and running and time.monotonic() - saved > PAUSE:
                    store(native, checkpoint)
                    saved = time.monotonic()
        native.raise_if_failed()
        if checkpoint is not None:
            store(native, checkpoint)
        stopped = running and cells is not None and native.used > room
        return _ended(native, native.steps if stopped else limit, self)

    def program(self, network: WCM21) -> Program:
        """How runs of WCM21 are made."""
        return Program(network, generate=False)

    def _on_stacks(self, network: Any, word: Sequence[str], limit: int, progress: bool | None) -> Run:
        """A run of an exact network of stacks."""
        run, running = Stacks(network, word), True
        with bar(limit, show=progress) as shown, ctrl_c() as pressed:
            while running and (step := run.reader.now.step) < limit and not pressed:
                running = run.advance(min(FEW, limit - step))
                shown.update(run.reader.now.step - step)
        now = run.reader.now
        again = partial(self.trace, network, word, now.step)
        found = network.machine._run(now.cells, now.state, now.head, now.step, run.reader.jammed, again)
        found = replace(found, micro_steps=run.passes - run.reader.jammed)
        return replace(found, status="interrupted") if found.status == "limit" and now.step < limit else found

    def _followed(self, network: Any, word: Sequence[str], limit: int, check: bool, progress: bool | None) -> Run:
        """A run of which every column is looked at here."""
        with bar(limit, show=progress) as shown, ctrl_c() as pressed:
            for now, passes in self._configurations(network, word, limit, check):  # noqa: B007  # of the last one
                shown.update(now.step > 0)
                if pressed:
                    break
        again = partial(self.trace, network, word, now.step)
        run = network.machine._run(now.cells, now.state, now.head, now.step, now.step < limit, again)
        interrupted = pressed and run.status == "jammed"
        return replace(run, status="interrupted" if interrupted else run.status, micro_steps=passes)

    def trace(self, network: Any, word: Iterable[str], max_steps: int | None = None) -> Iterator[Configuration]:
        """Yield the configurations of a run, one by one.

        Chapter: :doc:`How fast </book/how-fast>`.
        """
        word = arguments.word(word)
        network.machine.tape(word)
        return (now for now, _ in self._configurations(network, word, network._limit(max_steps)))

    def _configurations(
        self, network: Any, word: Sequence[str], limit: int, check: bool = False
    ) -> Iterator[tuple[Configuration, int]]:
        """The configurations of a run, each with the number of passes so far."""
        reader = Reader(network, word)
        if network.construction in STACKS:
            run, running = Stacks(network, word), True
            yield run.reader.now, 0
            while running and run.reader.now.step < limit:
                before = run.reader.now.step
                running = run.advance(1)
                if run.reader.now.step > before:
                    yield run.reader.now, run.passes
            return
        if network.construction in LAST_VISIT:
            yield from network._follow(reader, limit, History(network, word, check).step)
            return
        yield reader.now, 0
        if not reader.running:
            return
        columns = self._checked(network, word, limit) if check else self.start(network)(word).columns()
        while reader.running and reader.now.step < limit:
            for reading in _readings(network, next(columns), reader.now.step + 1):
                if reader.enter(reading):
                    yield reader.now, reader.now.step
                if not reader.running or reader.now.step == limit:
                    return

    def _checked(self, network: WCM21, word: Sequence[str], limit: int) -> Iterator[Tensor]:
        """The columns of a run, each compared with what comes out if all columns are scanned.

        Other sums than those of integers are rounded, in an order that is up to torch and the hardware.
        """
        around = [part for modules in check_heads(network) for module in modules for part in module.parts]
        integers = all(exact_in_any_order(part) for part in around)
        rounding = 0 if integers else network.layout.width * torch.finfo(network._like.dtype).eps
        note = "" if integers else " Not all weights are small integers, so it may be rounding that has grown."
        pairs = zip(self.start(network)(word).vectors(), network.vectors([word], limit), strict=False)
        for step, (ours, plain) in enumerate(pairs, start=1):
            for name, vector in ours.items():
                scanned = plain[name].squeeze(0)
                wrong = ~((vector - scanned).abs() <= rounding * scanned.abs().max().clamp(min=1))
                if wrong.any():
                    place = int(wrong.nonzero()[0])
                    given, expected = (digits(x[place].numpy()) for x in (vector, scanned))
                    raise AssertionError(
                        f"At step {step}, layer {name}, {network.layout_of(name).name(place)} is {given} by the index, "
                        f"and {expected} if all columns are scanned.{note}"
                    )
            yield (list(ours.values())[-1] + network.beta(step)).unsqueeze(0)

    def vectors(
        self, network: Any, words: Sequence[Sequence[str]], max_steps: int | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yield for each step on several words every vector, by the name of the module that it leaves.

        Chapter: :doc:`How fast </book/how-fast>`.
        """
        start = self.start(network)
        runs = [start(word).vectors() for word in words]
        for _ in range(network.max_passes(words, network._limit(max_steps))):
            found = [_next(run, word, len(words) > 1) for run, word in zip(runs, words, strict=True)]
            yield {name: _together([row[name] for row in found]) for name in found[0]}

    def run_batch(self, network: Any, words: Sequence[Sequence[str]], max_steps: int | None = None) -> list[Run]:
        """Run a network on many words, one after the other.

        Chapter: :doc:`How fast </book/how-fast>`.
        """
        runs = []
        for number, word in enumerate(words):
            with _of_batch(number):
                runs.append(self.run(network, word, max_steps))
        return runs


class NativeEngine(IndexedEngine):
    """``engine="native"``: machine code made of the weights of ``wcm21``, with an index in place of the heads
    (:class:`Native`); and for ``ss95`` and ``ss95-realtime`` in exact arithmetic, :class:`Stacks`.

    Chapter: :doc:`How fast </book/how-fast>`.
    """

    constructions = (WCM21.construction, *STACKS)

    def start(self, network: Any) -> Callable[[Sequence[str]], Any]:
        """A function that starts a run on a word."""
        return partial(Stacks, network) if network.construction in STACKS else partial(Native, self.program(network))

    def program(self, network: WCM21) -> Program:
        """The code of a network."""
        return Program(network)

    def run_batch(
        self, network: Any, words: Sequence[Sequence[str]], max_steps: int | None = None, threads: int | None = None
    ) -> list[Run]:
        """Run a network on many words, as :func:`turing.engine.run_batch` does; one of stacks, one word after the
        other.

        Chapter: :doc:`How fast </book/how-fast>`.
        """
        if network.construction in STACKS:
            return super().run_batch(network, words, max_steps)
        return run_batch(network, words, max_steps, threads)


def run_batch(
    networks: WCM21 | Iterable[WCM21],
    words: Iterable[Iterable[str]],
    max_steps: int | None = None,
    threads: int | None = None,
    executor: Executor | None = None,
) -> list[Run]:
    """Make many runs of ``wcm21`` at once in machine code; return a list with the :class:`~turing.machine.Run` of each
    word, in their order.

    - ``networks``: one network for all words, or a list with one for each word
    - ``words``: a list with the word of each run
    - ``max_steps``: the maximum number of steps of each run, the network's ``T`` unless given
    - ``threads``: how many share the work, as many as there are processors unless given
    - ``executor``: a ``ProcessPoolExecutor`` or another executor of ``concurrent.futures``, if each run should be made
      by itself, in other processes or on other computers, and not side by side in threads

    Networks of equal shape, such as those of machines with equally many states and symbols, run side by side in the
    bits of machine words. When one run ends, the next takes its place. Ctrl-C ends all runs, and what was done so far
    is returned.

    >>> import turing
    >>> from turing.engine import run_batch
    >>> net = turing.compile(turing.zoo["balanced_parentheses"], "wcm21", T=100, adder="lookahead")
    >>> [run.state for run in run_batch(net, ["B()E", "B)(E"])]
    ['T', 'F']

    Chapter: :doc:`How fast </book/how-fast>`.
    """
    words, single = arguments.words(words), isinstance(networks, nn.Module)
    networks = [networks] if single else list(networks)  # type: ignore[list-item, arg-type]  # as single says
    if not single and len(networks) != len(words):
        raise ValueError(
            f"run_batch takes one network, or one for each word: {len(networks)} networks and {len(words)} words were "
            f"given."
        )
    if executor is not None:
        engine, of_word = NativeEngine(), networks * len(words) if single else networks
        jobs = [executor.submit(engine.run, *each, max_steps) for each in zip(of_word, words, strict=True)]
        found = []
        for number, job in enumerate(jobs):
            with _of_batch(number):
                found.append(job.result())
        return found
    workers = (os.cpu_count() or 1) if threads is None else arguments.integer("threads", threads, 1)
    made: dict[WCM21, Program] = {}
    for number, network in enumerate(networks):
        with nullcontext() if single else _of_batch(number):
            made[network] = made.get(network) or Program(network)
    programs = [made[network] for network in networks] * (len(words) if single else 1)
    limits = [program.network._limit(max_steps) for program in programs]
    for number, (program, word) in enumerate(zip(programs, words, strict=True)):
        with _of_batch(number):
            Reader(program.network, word)  # refuses a word that is too long, before anything runs
    waiting = queues(map(Job, range(len(words)), programs, words, limits))
    shares = [-(-len(queue.jobs) // workers) for queue in waiting]
    ends: list[Run | ArithmeticError] = [ArithmeticError("This run was not made.")] * len(words)

    def end(job: Job, native: Native) -> None:
        ends[job.number] = native.error or _ended(native, job.limit, NativeEngine())

    def work_on_all() -> None:
        for queue, most in zip(waiting, shares, strict=True):
            work(queue, most, end, pressed)

    with ctrl_c() as pressed, ThreadPoolExecutor(workers) as pool:
        for worker in [pool.submit(work_on_all) for _ in range(workers)]:
            worker.result()
    for number, run in enumerate(ends):
        if isinstance(run, ArithmeticError):
            with _of_batch(number):
                raise run
    return ends  # type: ignore[return-value]  # all are runs


def _ended(native: Native, limit: int, engine: IndexedEngine) -> Run:
    network, steps = native.network, native.steps
    jammed, head = native.status == JAMMED and steps < limit, native.head
    again = partial(engine.trace, network, native.word, steps)
    run = network.machine._run(native.tape(), native.state, head, steps, jammed, again)
    run = replace(run, micro_steps=steps)
    return replace(run, status="interrupted") if run.status == "limit" and steps < limit else run


def _readings(network: WCM21, columns: Tensor, step: int) -> Iterator[Reading]:
    """What columns say, of which the first is that of this step."""
    try:
        yield from network.read_columns(columns)
    except ArithmeticError:  # the rows before the first that cannot be read can be
        for number, column in enumerate(columns, start=step):
            with at_step(number):
                yield from network.read_columns(column.unsqueeze(0))


def _next(run: Iterator[dict[str, Tensor]], word: Sequence[str], one_of_many: bool) -> dict[str, Tensor]:
    try:
        return next(run)
    except Refusal as refusal:
        if not one_of_many:
            raise
        text = word if isinstance(word, str) else " ".join(word)
        raise Refusal(f"On the word {text!r}: {refusal}") from None
