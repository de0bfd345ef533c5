"""The command line: ``python -m turing`` with a command such as ``run`` or ``compile``, installed as ``turing``."""

from __future__ import annotations

import argparse
import inspect
import io
import json
import os
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from turing import __version__, arguments, grading
from turing.files import ENDINGS, load, loads, save
from turing.formats import FORMATS, LIMIT, FormatError, UnknownFormat, dumps, fit, parse
from turing.machine import Configuration, Run, TuringMachine
from turing.pictures import state_diagram
from turing.progress import bar, ctrl_c
from turing.views.diagram import architecture
from turing.views.drawings import draw
from turing.views.equations import show
from turing.zoo import Entry, zoo

if TYPE_CHECKING:
    from torch import nn

    from turing.construction import Construction

__all__ = ["main"]

STATUS = {"halted": 0, "jammed": 3, "limit": 4, "interrupted": 130}
VERDICT = {"proved": 0, "refuted": 3, "undecided": 4}
BAD_INPUT, CLOSED_PIPE = 2, 141
CHUNK = 100_000  # steps between two looks at the clock and at Ctrl-C
STEPS = 100_000_000  # of a machine, unless said otherwise
CELLS = 5_000_000  # where a tape that grows for ever is stopped, at about a gigabyte
SHOWN = 200  # cells of a tape that are printed
WIDTH = 80  # of sentences that are printed
LONGEST = 86_400  # seconds for a cell of a student's notebook

NOT_A_MACHINE = "This is a network, and a machine is expected here. turing show prints the network."
ABOUT_MACHINE = "a machine: its name in the zoo, a file, its text, or - for standard input"
ABOUT_EITHER = "a machine (its name in the zoo, a file, its text, or - for standard input), or a saved network"
WORD = (
    "the word on the tape (default: the empty word): each character is a symbol; or, if the machine has longer "
    "symbols, they are separated by spaces"
)

# By the name of an option of a construction: what it means, and the default where a signature leaves it open.
OPTIONS = {
    "T": ("the maximum number of steps of a run", ""),
    "bits": ("how many bits a position has", "as few as T steps need"),
    "kappa": ("the factor on attention scores before the softmax", ""),
    "average": ("ratio divides two sums, which is exact; literal is the softmax as the paper writes it", ""),
    "adder": ("ripple has the layers of the paper, lookahead three ReLU layers a step", ""),
    "restoring": ("whether restoring layers keep noise from growing from step to step", ""),
    "feedback": ("analog feeds a column back as it is, token rounds its places to 0 or 1 first", ""),
    "arithmetic": ("the type of the numbers, such as exact, float32 or float64", ""),
    "base": ("the base of the number that holds a stack; it needs --digits", "4; 16 in ss95-realtime"),
    "digits": ("the two digits for 0 and 1 in that base", "1,3; 11,15 in ss95-realtime"),
    "weights": ("closed takes them from formulas, 'least squares' solves for them, as in the paper", ""),
    "version": ("1 takes one pass for a micro-step, 4 takes four and has smaller layers", "1, or 4 if 1 is too large"),
    "positions": ("whether the t-th column is given the number 1/t; otherwise a head computes it", ""),
    "cells": ("the number of tape cells", "all that the head can reach in T steps"),
    "left": ("how many of these cells are left of the word", "T, or 1 with --cells"),
}

OTHERS = "the others"
EXIT = (  # status, the command that it is from, and what it means there
    (0, "run", "the machine halted"),
    (0, "prove", "proved"),
    (0, OTHERS, "done"),
    (2, "", "an error, such as a misspelled option or a network too small for the run; standard error says which"),
    (3, "run", "the machine jammed: no rule applies, and its state does not halt"),
    (3, "prove", "refuted"),
    (4, "run", f"stopped: --max-steps or T was reached, or the tape grew to {CELLS:,} cells"),
    (4, "prove", "undecided"),
    (130, "", "interrupted with Ctrl-C; run and grade print what was done so far"),
    (141, "", "the reader of the output closed the pipe, as in … | head"),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    sys.stderr = sys.stderr or io.StringIO()  # closed by 2>&-: what is meant for it would go to standard output
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show δ is no reason to stop
    argv = sys.argv[1:] if argv is None else list(argv)
    try:
        args = _parsed_arguments(argv)
        status = args.command(args)
        if sys.stdout:  # None when closed by >&-
            sys.stdout.flush()
        return status
    except BrokenPipeError:
        # Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE
    except (ValueError, ArithmeticError, OSError, ImportError) as error:
        print(f"turing: {arguments.printable(str(error))}", file=sys.stderr)
        return BAD_INPUT
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "can't allocate memory" not in str(error):  # as torch says it
            raise
        print("turing: There is not enough memory for this.", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        return STATUS["interrupted"]


def _parsed_arguments(argv: list[str]) -> argparse.Namespace:
    """The arguments, with the options of the network that they name."""
    scan = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    scan.add_argument("--network")
    name = scan.parse_known_args(argv)[0].network
    parser = _parser(name)
    args, more = parser.parse_known_args(argv)
    if more:
        from turing.construction import constructions

        options = {f"--{option}" for each in constructions() for option in _options_of(each)}
        if name is None and more[0].partition("=")[0] in options:
            raise ValueError(
                f"{more[0]} is for a network that is compiled from a machine. Give --network as well, one of "
                f"{', '.join(constructions())}; a network in a file is compiled already."
            )
        known = f". Options of {name}: {' '.join(f'--{option}' for option in _options_of(name))}" if name else ""
        parser.error(f"unrecognized arguments: {' '.join(more)}{known}")
    return args


def _options_of(construction: str) -> dict[str, Callable[[str], Any]]:
    """The options of a construction by name, each with what reads its text: as the signature of the class says."""
    from turing.construction import constructions

    if construction not in tuple(constructions()):
        raise ValueError(f"A network is one of {', '.join(constructions())}, and {construction!r} was given.")
    found: dict[str, Callable[[str], Any]] = {}
    for name, parameter in list(inspect.signature(constructions()[construction]).parameters.items())[1:]:
        kind = str(parameter.annotation)
        found[name] = (
            _integers
            if "Sequence" in kind
            else _yes_or_no
            if "bool" in kind
            else _steps
            if "int" in kind
            else float
            if "float" in kind
            else str
        )
    return found


def _about_option(construction: str, name: str, of_run: bool) -> str:
    """What an option means, and its default: for a run the one that fits the run, otherwise that of ``compile``."""
    from turing.construction import constructions

    network = constructions()[construction]
    meaning, default = OPTIONS.get(name, (f"an option of {construction}", ""))
    chosen = network.options_for({}, "") if of_run else network.options_for({})
    value = chosen.get(name, inspect.signature(network).parameters[name].default)
    if of_run and name in chosen:
        default = "chosen for the run"
    elif isinstance(value, bool):
        default = "yes" if value else "no"
    elif isinstance(value, (int, float)):
        default = f"{value:,.15g}"
    elif isinstance(value, str):
        default = value
    return f"{meaning} (default: {default})" if default else meaning


def _exit_status(command: str | None = None) -> str:
    """What each exit status means, for one command or for all."""
    own, said = {"", command if command in ("run", "prove") else OTHERS}, dict[int, list[str]]()
    for status, who, what in EXIT:
        if command is None or who in own:
            said.setdefault(status, []).append(what if command or not who else f"{what} ({who})")
    lines = [
        textwrap.fill("; ".join(texts), WIDTH, initial_indent=f"  {status:<5}", subsequent_indent=" " * 7)
        for status, texts in said.items()
    ]
    return "\n".join(["exit status:", *lines])


def _parser(construction: str | None = None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="turing",
        description="Run, show and convert Turing machines. Compile them into networks, and run,\n"
        "show, prove, decompile and compare these. Grade the exercises of a class.",
        epilog=_exit_status(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"turing {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, function: Callable[[argparse.Namespace], int], help: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(
            name,
            help=help,
            description=f"{help[0].upper()}{help[1:]}.",
            epilog=_exit_status(name),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        sub.set_defaults(command=function)
        return sub

    def network(sub: argparse.ArgumentParser, required: bool, of_run: bool = False) -> None:
        sub.add_argument(
            "--network",
            metavar="NAME",
            required=required,
            help="compile the machine by this construction, such as wcm21 or ss95; add --help for its options",
        )
        if construction is None:
            return
        names = {_integers: "N,N", _yes_or_no: "yes|no", _steps: "N", float: "X", str: "NAME"}
        for option, read in _options_of(construction).items():
            about = _about_option(construction, option, of_run)
            sub.add_argument(f"--{option}", metavar=names[read], type=read, help=about)

    run = command("run", _run, "run a machine, or its network, on a word and say how the run ends")
    run.add_argument("machine", metavar="MACHINE", help=ABOUT_EITHER)
    run.add_argument("word", metavar="WORD", nargs="?", default="", help=WORD)
    steps = f"stop after N steps (default: {STEPS:,}, or the T of a network that has one)"
    run.add_argument("--max-steps", metavar="N", type=_steps, help=steps)
    network(run, required=False, of_run=True)
    run.add_argument(
        "--engine", metavar="NAME",
        help="how to compute a network: torch, indexed, or native, which needs llvmlite (default: torch)",
    )  # fmt: skip
    run.add_argument(
        "--checkpoint", metavar="FILE",
        help="with --engine native: save where the run stands in FILE; if FILE exists, go on from there",
    )  # fmt: skip
    run.add_argument("--trace", action="store_true", help="print each configuration, with the head in brackets")

    view = command("show", _show, "show the rules, states and alphabet of a machine, or the equations of a network")
    view.add_argument("given", metavar="MACHINE", help=ABOUT_EITHER)
    view.add_argument("--svg", metavar="FILE", help="also draw a machine's states, or a network, in FILE.svg")

    convert = command("convert", _convert, "write a machine in another format")
    convert.add_argument("machine", metavar="MACHINE", help=ABOUT_MACHINE)
    convert.add_argument("--to", metavar="FORMAT", required=True, choices=FORMATS, help=f"one of {', '.join(FORMATS)}")
    convert.add_argument(
        "--rename", action="store_true", help="rename states and symbols that the format does not allow"
    )
    convert.add_argument("-o", "--output", metavar="FILE", help="write to FILE (default: standard output)")

    build = command("compile", _compile, "compile a machine into the weights of a network, and write them to a file")
    build.add_argument("machine", metavar="MACHINE", help=ABOUT_MACHINE)
    network(build, required=True)
    build.add_argument(
        "-o", "--output", metavar="FILE", required=True,
        help="the file to write: .json, .safetensors, or .onnx, for one pass of the network, which other programs read",
    )  # fmt: skip

    proof = command("prove", _prove, "prove for all words that a network simulates its machine, or say where it fails")
    proof.add_argument("given", metavar="MACHINE", help=ABOUT_EITHER)
    network(proof, required=False)
    proof.add_argument(
        "-o", "--output", metavar="FILE", help="also write the proof to FILE, for python -m turing.recheck"
    )

    back = command("decompile", _decompile, "read the machine back out of the weights of a network, without its names")
    back.add_argument("given", metavar="FILE", help="a saved network")
    back.add_argument("-o", "--output", metavar="FILE", help="also write the machine to FILE, as JSON")

    table = command("compare", _compare, "compile a machine by every construction, run the networks, and measure them")
    table.add_argument("machine", metavar="MACHINE", help=ABOUT_MACHINE)
    table.add_argument("word", metavar="WORD", nargs="?", default="", help=WORD)
    table.add_argument("--max-steps", metavar="N", type=_steps, help="stop after N steps of the machine (default: 200)")
    table.add_argument("--json", action="store_true", help="print the numbers as JSON, for programs")

    shelf = command("zoo", _zoo, "list the machines that come with the library, or describe one, with sample words")
    shelf.add_argument("name", metavar="NAME", nargs="?", help="a machine of the zoo (default: list them all)")

    marks = command("grade", _grade, "run students' notebooks, and grade the exercises in them")
    marks.add_argument("places", metavar="NOTEBOOK", nargs="+", help="a notebook, or a folder of them")
    marks.add_argument(
        "--csv", metavar="FILE",
        help="also write the grades to FILE, a row for each exercise; - prints these rows in place of the table",
    )  # fmt: skip
    marks.add_argument(
        "--timeout", metavar="S", type=_seconds, default=grading.SECONDS,
        help=f"seconds for a cell (default: {grading.SECONDS})",
    )  # fmt: skip
    marks.add_argument(
        "--exercise", metavar="NAME", action="append", default=[],
        help="grade only this exercise; repeat it for more (default: all)",
    )  # fmt: skip
    marks.add_argument(
        "--points", metavar="NAME=N", type=_points, action="append", default=[],
        help="points for an exercise; repeat it for more (default: its difficulty)",
    )  # fmt: skip
    marks.add_argument("--feedback", metavar="FOLDER", help="also write a feedback file for each notebook into FOLDER")
    return parser


def _steps(text: str) -> int:
    try:
        steps = int(text.replace(",", ""))
    except ValueError:
        steps = -1
    if steps < 0:
        raise argparse.ArgumentTypeError(f"an integer from 0 up is expected, and {text!r} was given")
    return steps


def _integers(text: str) -> tuple[int, ...]:
    return tuple(map(_steps, text.split(",")))


def _yes_or_no(text: str) -> bool:
    known = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
    if text.lower() not in known:
        raise argparse.ArgumentTypeError(f"yes or no is expected, and {text!r} was given")
    return known[text.lower()]


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds <= LONGEST:
        raise argparse.ArgumentTypeError(f"seconds from 0 to {LONGEST:,} are expected, and {text!r} was given")
    return seconds


def _points(text: str) -> tuple[str, float]:
    name, _, number = text.partition("=")
    try:
        points = float(number)
    except ValueError:
        points = -1
    if not 0 <= points < float("inf"):
        raise argparse.ArgumentTypeError(f"NAME=N is expected, such as even_ones=2, and {text!r} was given")
    return name, points


def _machine(found: Entry | TuringMachine | nn.Module) -> TuringMachine:
    """What was given, if it is a machine."""
    if isinstance(found, Entry):
        return found.machine
    if isinstance(found, TuringMachine):
        return found
    raise ValueError(NOT_A_MACHINE)


def _network(found: Entry | TuringMachine | nn.Module, args: argparse.Namespace) -> Construction | None:
    """The network to be run, if the arguments ask for one: compiled now, or read from a file."""
    if not isinstance(found, (Entry, TuringMachine)):
        from turing.construction import Construction

        if not isinstance(found, Construction):
            raise ValueError(NOT_A_MACHINE)
        if args.network is not None:
            raise ValueError("This network is compiled already: --network is for a machine.")
        return found
    if args.network is None:
        if args.engine is not None:
            raise ValueError("--engine is for a network. Give --network as well.")
        return None
    machine = _machine(found)
    return _compiled(machine, args, _split(machine, args.word), args.max_steps, args.engine, bool(args.checkpoint))


def _compiled(machine: TuringMachine, args: argparse.Namespace, *run: Any) -> Construction:
    """The network of a machine, with the options that are given and, for the rest, those that fit the run."""
    from turing.construction import compile, constructions

    given = {name: value for name in _options_of(args.network) if (value := getattr(args, name)) is not None}
    return compile(machine, args.network, **constructions()[args.network].options_for(given, *run))


def _given(given: str) -> Entry | TuringMachine | nn.Module:
    """What an argument names: an entry of the zoo, a machine or a network."""
    if given == "-":
        if sys.stdin is None:
            raise ValueError("Standard input is closed, and - reads the machine from there. Give a file instead.")
        return _read(sys.stdin.fileno(), "standard input")
    try:
        return zoo.entry(given)
    except KeyError as error:
        unknown = error
    if given.lower().endswith(ENDINGS[1:]) and "\n" not in given:  # no text
        return load(given)
    if os.path.exists(given) and not os.path.isdir(given):  # a file, or a pipe as in <(command)
        return _read(given, given)
    try:
        return _parsed(given)
    except UnknownFormat:
        if "\n" in given:
            raise
        raise FormatError(f"{unknown} It is neither a file nor the text of a machine.") from None


def _read(file: str | int, name: str) -> TuringMachine | nn.Module:
    try:
        with open(file, encoding="utf-8", closefd=isinstance(file, str)) as stream:
            return _parsed(stream.read(LIMIT + 1))  # enough for parse to refuse it; a device may never end
    except UnicodeDecodeError:
        raise FormatError(f"{name}: this is not text in UTF-8.") from None
    except ValueError as error:
        raise FormatError(f"{name}: {error}") from None


def _parsed(text: str) -> TuringMachine | nn.Module:
    if '"network"' in text and len(text) <= LIMIT:
        try:
            data = json.loads(text.removeprefix("\ufeff"))
        except (ValueError, RecursionError):
            data = None  # parse says where it is wrong
        if isinstance(data, dict) and data.get("turing") == "network":
            return loads(text)
    return parse(text)


def _split(machine: TuringMachine, word: str) -> str | list[str]:
    return word.split() if any(len(symbol) > 1 for symbol in machine.symbols) else word


def _run(args: argparse.Namespace) -> int:
    found = _given(args.machine)
    network: Any = _network(found, args)
    machine = network.machine if network else _machine(found)
    word, limit = _split(machine, args.word), args.max_steps
    if limit is None:
        limit = STEPS if network is None or network.T is None else network.T
    engine = {"engine": args.engine} if args.engine else {}
    if args.checkpoint is not None and (args.engine != "native" or args.trace):
        raise ValueError("--checkpoint is for --engine native, without --trace.")
    if args.engine == "native" and not args.trace:
        cells = CELLS if network.T is not None else None  # a network without T holds a tape of any length
        run = network.run(word, limit, **engine, checkpoint=args.checkpoint, cells=cells)
        if run.status == "limit" and run.steps < limit:
            print(f"turing: stopped, because the tape has grown to {CELLS:,} cells", file=sys.stderr)
    elif args.trace or network:
        trace = (network or machine).trace(word, limit, **engine)
        run = (_traced if args.trace else _followed)(machine, trace, limit)
    else:
        run = _watched(machine, word, limit)
    entry = zoo.entry_of(machine)
    verdict = entry.verdicts.get(run.state) if entry and run.status == "halted" else None
    _print_rows(
        {
            "status": run.status,
            "state": run.state,
            **({"verdict": verdict} if verdict else {}),
            "steps": f"{run.steps:,}",
            "non-blank": f"{len(run.tape):,} cell{'' if len(run.tape) == 1 else 's'}",
            "head": f"cell {run.head:,}",
            "tape": _stretch(machine, run),
        }
    )
    return STATUS[run.status]


def _watched(machine: TuringMachine, word: str | list[str], max_steps: int) -> Run:
    """A run that shows how fast it is once it lasts, and that Ctrl-C ends in good order."""
    tape, state, head, steps, jammed = machine.tape(word), machine.initial, 0, 0, False
    with bar(max_steps) as shown, ctrl_c() as pressed:
        while steps < max_steps and not pressed:
            chunk = min(CHUNK, max_steps - steps)
            state, head, done, jammed = machine._advance(tape, state, head, chunk)
            steps += done
            shown.update(done)
            if done < chunk:
                break
            if len(tape) > CELLS:
                shown.close()
                print(f"turing: stopped, because the tape has grown to {len(tape):,} cells", file=sys.stderr)
                break
    run = machine._run(tape, state, head, steps, jammed, None)  # type: ignore[arg-type]  # nobody asks for the trace
    if pressed and run.status == "limit" and steps < max_steps:
        return replace(run, status="interrupted")
    return run


def _followed(machine: TuringMachine, trace: Iterator[Configuration], max_steps: int) -> Run:
    """The same for a run of a network, configuration by configuration."""
    with bar(max_steps) as shown, ctrl_c() as pressed:
        for now in trace:
            shown.update(now.step > 0)
            if pressed:
                break
    run = _ended(machine, now, max_steps)
    return replace(run, status="interrupted") if pressed and run.status == "jammed" else run


def _ended(machine: TuringMachine, now: Configuration, max_steps: int) -> Run:
    jammed = now.step < max_steps
    return machine._run(now.cells, now.state, now.head, now.step, jammed, None)  # type: ignore[arg-type]  # as above


def _traced(machine: TuringMachine, trace: Iterator[Configuration], max_steps: int) -> Run:
    """A run that prints its configurations, the states in a column of their own."""
    width = max(len(arguments.printable(state)) for state in machine.states)
    for now in trace:
        print(f"{arguments.printable(now.state):{width}}{arguments.printable(str(now).removeprefix(now.state))}")
    print()
    return _ended(machine, now, max_steps)


def _stretch(machine: TuringMachine, run: Run) -> str:
    """The tape from its first cell that is not blank to its last, without the middle of a long one."""
    if not run.tape:
        return "all blank"
    first, last = min(run.tape), max(run.tape)
    where = f"(cell {first:,})" if first == last else f"(cells {first:,} to {last:,})"
    hidden = last - first + 1 - SHOWN
    if hidden <= 0:
        return f"{machine.text(run.tape)}  {where}"

    def part(cells: range) -> str:
        return machine.text({cell: run.tape.get(cell, machine.blank) for cell in cells})

    begin, end = part(range(first, first + SHOWN // 2)), part(range(last + 1 - SHOWN // 2, last + 1))
    return f"{begin} … {hidden:,} cells not shown … {end}  {where}"


def _show(args: argparse.Namespace) -> int:
    found = _given(args.given)
    if not isinstance(found, (Entry, TuringMachine)):
        return _show_network(found, args.svg)
    machine = found.machine if isinstance(found, Entry) else found
    if args.svg is not None:  # first: a name that is refused leaves nothing half printed
        state_diagram(machine).save(args.svg)
    if isinstance(found, Entry):
        _print_about(found)
    marks = {machine.initial: " (initial)"} | {state: " (halts)" for state in machine.halting}
    _print_rows(
        {
            "states": ", ".join(f"{state}{marks.get(state, '')}" for state in machine.states),
            "alphabet": " ".join(f"{machine.blank} (blank)" if a == machine.blank else a for a in machine.symbols),
        }
    )
    rules = [
        (*key, target, written, f"{move:+}" if move else "0") for key, (target, written, move) in machine.delta.items()
    ]
    print()
    _print_table([("state", "read", "next", "write", "move"), *rules])
    return 0


def _show_network(network: Any, svg: str | None) -> int:
    from turing.construction import Construction

    if isinstance(network, Construction):
        if svg is not None:
            architecture(network).save(svg)
        _print_rows(_about_network(network))
        print(f"\n{show(network)}")
        return 0
    if svg is not None:
        draw(network).save(svg)
    widths = f"{network.layouts[0].width} → {network.layouts[-1].width}"
    print(f"network: {arguments.count(len(network), 'layer')}, {widths}\n\n{show(network)}")
    return 0


def _about_network(network: Construction) -> dict[str, str]:
    parameters = list(network.parameters())
    return {
        **network.about(),
        "machine": _size(network.machine),
        "weights": f"{sum(p.numel() for p in parameters):,}, of which "
        f"{sum(int(p.count_nonzero()) for p in parameters):,} are not 0",
    }


def _size(machine: Any) -> str:
    """How many states, symbols and rules; that it is a stack machine, if it is one."""
    return repr(machine).strip("<>").removeprefix("TuringMachine: ")


def _compile(args: argparse.Namespace) -> int:
    network = _compiled(_machine(_given(args.machine)), args)
    save(network, args.output)
    _print_rows(_about_network(network) | {"file": f"{args.output}, {os.path.getsize(args.output):,} bytes"})
    return 0


def _compare(args: argparse.Namespace) -> int:
    from turing.comparison import compare

    machine = _machine(_given(args.machine))
    limit = {} if args.max_steps is None else {"max_steps": args.max_steps}
    found = compare(machine, _split(machine, args.word), **limit)
    print(json.dumps(found.to_dict(), indent=1) if args.json else found)
    return 0


def _prove(args: argparse.Namespace) -> int:
    from turing.construction import Construction
    from turing.proof import prove

    found = _given(args.given)
    if isinstance(found, (Entry, TuringMachine)):
        if args.network is None:
            raise ValueError("A network is proved, and a machine was given. Give --network as well.")
        found = _compiled(_machine(found), args)
    elif not isinstance(found, Construction) or args.network is not None:
        raise ValueError("A network that turing compile wrote is proved as it is; --network is for a machine.")
    proof = prove(found)
    print(textwrap.fill(arguments.printable(str(proof)), WIDTH, break_long_words=False, break_on_hyphens=False))
    for weight in proof.blame():
        print(weight)
    if args.output is not None and proof.verdict == "proved":
        proof.save(args.output)
    return VERDICT[proof.verdict]


def _decompile(args: argparse.Namespace) -> int:
    from turing.decompiler import decompile

    given = _given(args.given)
    if isinstance(given, (Entry, TuringMachine)):
        raise ValueError("A network is read back, and a machine was given. turing compile writes a network to a file.")
    found = decompile(given)
    options = [f"{name} {value}" for name, value in found.options.items() if name not in found.unknown]
    _print_rows(
        {
            "network": ", ".join([found.construction, *options]),
            "machine": _size(found.machine),
            "margin": f"{found.margin:.2f}",
            "certified": "yes, number for number" if found.certified else "no",
        }
    )
    print()
    if isinstance(found.machine, TuringMachine):
        for (q, a), (target, written, move) in sorted(found.machine.delta.items()):
            print(f"  {q} {a} → {target} {written} {'LSR'[move + 1]}")
    else:
        for (q, *tops), (target, *operations) in found.machine.rules.items():
            done = ", ".join(" ".join(filter(None, operation)) for operation in operations)
            print(f"  {q} {' '.join(top or '–' for top in tops)} → {target}: {done}")
    print()
    for name, reason in found.unknown.items():
        print(textwrap.fill(f"unknown, {name}: {reason}.", WIDTH, subsequent_indent="  "))
    if args.output is not None:
        if not isinstance(found.machine, TuringMachine):
            raise ValueError("No file was written: what was read is a stack machine, and files hold Turing machines.")
        with open(args.output, "w", encoding="utf-8", newline="\n") as file:
            file.write(found.machine.dumps("json") + "\n")
    return 0


def _convert(args: argparse.Namespace) -> int:
    machine = _machine(_given(args.machine))
    fitted = fit(machine, args.to) if args.rename else machine
    try:
        text = dumps(fitted, args.to)
    except FormatError as error:
        hint = " Here, --rename does so." if "turing.formats.fit" in str(error) else ""
        raise FormatError(f"{error}{hint}") from None
    text = text if text.endswith("\n") else f"{text}\n"
    data = text.encode()  # before a file is opened, so that none is left empty by what UTF-8 cannot hold
    if args.output is not None:
        with open(args.output, "wb") as file:
            file.write(data)
    elif sys.stdout is None:
        raise ValueError("Standard output is closed. Give a file with -o.")
    else:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8", errors="strict", newline="\n")  # data: the same everywhere
        print(text, end="")
    for kind, old, new in (
        ("state", machine.states, fitted.states),
        ("symbol", machine.symbols, fitted.symbols),
    ):
        for before, after in zip(old, new, strict=True):
            if before != after:
                print(arguments.printable(f"{kind} {before} is now {after}"), file=sys.stderr)
    return 0


def _zoo(args: argparse.Namespace) -> int:
    if args.name is None:
        _print_table([(name, zoo.entry(name).title) for name in zoo])
        return 0
    try:
        entry = zoo.entry(args.name)
    except KeyError as error:
        raise ValueError(str(error)) from None
    _print_about(entry)
    rows: list[tuple[str, ...]] = [("word", "status", "state", "steps", "non-blank", "result")]
    for sample in entry.samples:
        word = sample.word if isinstance(sample.word, str) else " ".join(sample.word)
        numbers = ("" if n is None else f"{n:,}" for n in (sample.steps, sample.non_blank))
        rows.append((word or "(empty)", sample.status, sample.state or "", *numbers, sample.result or ""))
    filled = [column for column in zip(*rows, strict=True) if any(column[1:])]
    _print_table(list(zip(*filled, strict=True)))
    return 0


def _grade(args: argparse.Namespace) -> int:
    from tqdm import tqdm

    found, grades, status = grading.notebooks(args.places), [], 0
    grading.check_names([*args.exercise, *dict(args.points)])
    with ExitStack() as files:
        file = sys.stdout if args.csv == "-" else None
        if args.csv not in (None, "-"):
            file = files.enter_context(open(args.csv, "w", encoding="utf-8", newline=""))
        if file:
            grading.write_csv([], file)
        shown = files.enter_context(tqdm(found.items(), unit=" notebooks", disable=None))
        try:
            for name, path in shown:
                shown.set_description(arguments.printable(name))
                new = grading.grade(path, name, args.timeout, args.exercise, dict(args.points))
                grades += new
                if args.feedback is not None:
                    grading.feedback(new, args.feedback)
                if file:
                    grading.write_csv(new, file, header=False)
                    file.flush()  # a class takes a while, and what is done stays done
        except KeyboardInterrupt:
            status = STATUS["interrupted"]
    if args.csv != "-":
        print(grading.table(grades))
    return status


def _print_about(entry: Entry) -> None:
    print(f"{entry.title} ({entry.name})\n")
    print(textwrap.fill(entry.about, WIDTH), end="\n\n")


def _print_rows(rows: Mapping[str, str]) -> None:
    for name, value in rows.items():
        print(f"{name:9}  {arguments.printable(value)}")


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    rows = [[arguments.printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
