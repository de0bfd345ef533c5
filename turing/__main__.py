"""The command line: ``python -m turing run|show|convert|compile|zoo|grade``, also installed as ``turing``."""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from turing import equations, hinton
from turing.check import grading
from turing.compiler import CONSTRUCTIONS, compile, is_compiled
from turing.files import ENDINGS, load, loads, save
from turing.formats import FORMATS, LIMIT, FormatError, UnknownFormat, dumps, fit, parse
from turing.machine import Configuration, Run, TuringMachine, _count
from turing.pictures import state_diagram
from turing.watch import bar, ctrl_c
from turing.zoo import Entry, zoo

if TYPE_CHECKING:
    from torch import nn

    from turing.compiler import Compiled

__all__ = ["main"]

STATUS = {"halted": 0, "jammed": 3, "limit": 4, "interrupted": 130}
BAD_INPUT, CLOSED_PIPE = 2, 141
CHUNK = 100_000  # steps between two looks at the clock and at Ctrl-C
STEPS = 100_000_000  # of a machine, unless said otherwise
NETWORK_STEPS = {"torch": 1_000, "indexed": 1_000_000, "native": 100_000_000}  # for which one is compiled
OPTIONS = ("T", "bits", "adder", "arithmetic")  # of networks
MOST_BITS = 64  # of a position, as in turing.wcm
CELLS = 5_000_000  # where a tape that grows for ever is stopped, at about a gigabyte
SHOWN = 200  # cells of a tape that are printed
LONGEST = 86_400  # seconds for a cell of a student's notebook

ABOUT_MACHINE = "a name of the zoo, a file, the text itself in any known format, or - for standard input"
ABOUT_EITHER = f"{ABOUT_MACHINE}; or a network that turing.save or turing compile wrote, as a file, text or -"
EXIT = f"""exit status:
  0    halted; for the other commands, done
  2    bad input or usage, or a network that cannot represent the run; the message is on standard error
  3    jammed: no rule applies, and the state does not halt
  4    limit: --max-steps are done, or the tape has grown to {CELLS:,} cells
  130  interrupted with Ctrl-C; what was done so far is printed
  141  whatever read the output has closed it"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    sys.stderr = sys.stderr or io.StringIO()  # closed by 2>&-: what is meant for it would go to standard output
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show δ is no reason to stop
    args = _parser().parse_args(argv)
    try:
        status = args.command(args)
        if sys.stdout:  # None when closed by >&-
            sys.stdout.flush()
        return status
    except BrokenPipeError:
        # Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE
    except (ValueError, ArithmeticError, OSError, ImportError) as error:
        print(f"turing: {_visible(str(error))}", file=sys.stderr)
        return BAD_INPUT
    except MemoryError:
        print("turing: There is not enough memory for this.", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        return STATUS["interrupted"]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="turing",
        description="Run, show and convert Turing machines; compile them into networks, and run and show those. "
        "Grade the exercises of a class.",
        epilog=EXIT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, function: Callable[[argparse.Namespace], int], help: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(
            name,
            help=help,
            description=f"{help[0].upper()}{help[1:]}.",
            epilog=EXIT,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        sub.set_defaults(command=function)
        return sub

    def network(sub: argparse.ArgumentParser, required: bool) -> None:
        sub.add_argument(
            "--network", metavar="NAME", required=required, choices=CONSTRUCTIONS, help=", ".join(CONSTRUCTIONS)
        )
        sub.add_argument("--T", metavar="N", type=_steps, help="wcm21: compile for N steps (1,000; for an engine more)")
        sub.add_argument("--bits", metavar="L", type=_steps, help="wcm21: position bits (⌈log₂ T⌉; in a run, enough)")
        sub.add_argument("--adder", metavar="A", help="wcm21: ripple, or lookahead (for an engine lookahead)")
        sub.add_argument("--arithmetic", metavar="A", help="ss95: exact, float32 or float64 (exact)")

    run = command("run", _run, "run a machine, or the network of one, on a word and say how it ends")
    run.add_argument("machine", metavar="MACHINE", help=ABOUT_EITHER)
    run.add_argument(
        "word",
        metavar="WORD",
        nargs="?",
        default="",
        help="the word on the tape, by default empty; one symbol a character, "
        "or split at spaces if the machine has longer symbols",
    )
    run.add_argument("--max-steps", metavar="N", type=_steps, help=f"stop after N steps ({STEPS:,}; of a network, T)")
    network(run, required=False)
    run.add_argument("--engine", metavar="E", choices=NETWORK_STEPS, help=f"wcm21: {', '.join(NETWORK_STEPS)} (torch)")
    run.add_argument("--checkpoint", metavar="FILE", help="native: write where the run stands, or go on from there")
    run.add_argument("--trace", action="store_true", help="print each configuration, the head in brackets")

    show = command("show", _show, "show the rules, states and alphabet of a machine, or the equations of a network")
    show.add_argument("given", metavar="MACHINE", help=ABOUT_EITHER)
    show.add_argument("--svg", metavar="FILE", help="write the state diagram, or the weights drawn, to FILE as well")

    convert = command("convert", _convert, "write a machine in another format")
    convert.add_argument("machine", metavar="MACHINE", help=ABOUT_MACHINE)
    convert.add_argument("--to", metavar="FORMAT", required=True, choices=FORMATS, help=", ".join(FORMATS))
    convert.add_argument("--rename", action="store_true", help="rename what the format cannot hold")
    convert.add_argument("-o", "--output", metavar="FILE", help="write to FILE instead of standard output")

    build = command("compile", _compile, "compile a machine into the weights of a network, and write them to a file")
    build.add_argument("machine", metavar="MACHINE", help=ABOUT_MACHINE)
    network(build, required=True)
    build.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="the file: .json, .safetensors, or .onnx for one step"
    )

    shelf = command("zoo", _zoo, "list the machines that come with the library, or show one with its samples")
    shelf.add_argument("name", metavar="NAME", nargs="?", help="a machine of the zoo")

    marks = command(
        "grade", _grade, "run students' notebooks, which is code of theirs, and grade the exercises in them"
    )
    marks.add_argument("places", metavar="NOTEBOOK", nargs="+", help="a notebook, or a folder of them")
    marks.add_argument(
        "--csv", metavar="FILE", help="write the grades to FILE as well, a row for each exercise; - prints them so"
    )
    marks.add_argument(
        "--timeout", metavar="S", type=_seconds, default=grading.SECONDS, help=f"seconds for a cell ({grading.SECONDS})"
    )
    return parser


def _steps(text: str) -> int:
    try:
        steps = int(text.replace(",", ""))
    except ValueError:
        steps = -1
    if steps < 0:
        raise argparse.ArgumentTypeError(f"a whole number from 0 up is expected, and {text!r} was given")
    return steps


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds <= LONGEST:
        raise argparse.ArgumentTypeError(f"seconds from 0 to {LONGEST:,} are expected, and {text!r} was given")
    return seconds


def _machine(found: Entry | TuringMachine | nn.Module) -> TuringMachine:
    """What was given, if it is a machine."""
    if isinstance(found, Entry):
        return found.machine
    if isinstance(found, TuringMachine):
        return found
    raise ValueError("This is a network, and a machine is expected here. turing show prints the network.")


def _network(found: Entry | TuringMachine | nn.Module, args: argparse.Namespace) -> Compiled | None:
    """The network to be run, if the arguments ask for one: compiled now, or read from a file."""
    if is_compiled(found):
        for option in ("network", *OPTIONS):
            if getattr(args, option) is not None:
                raise ValueError(f"This network is compiled already: --{option} is for a machine.")
        return found
    if args.network is None:
        for option in (*OPTIONS, "engine"):
            if getattr(args, option) is not None:
                raise ValueError(f"--{option} is for a network. Give --network as well: {', '.join(CONSTRUCTIONS)}.")
        return None
    machine = _machine(found)
    options = _options(args)
    if args.network == "wcm21" and args.T is None and args.max_steps:
        least = options["T"] if args.checkpoint else 0  # a run goes on in the same network, with more steps or fewer
        options["T"] = max(args.max_steps, least)
    if args.network == "wcm21" and args.bits is None:  # no two cells have the same position
        enough = (options["T"] + max(len(_split(machine, args.word)), 1) - 1).bit_length()
        options["bits"] = min(enough, MOST_BITS)
    return compile(machine, args.network, **options)


def _options(args: argparse.Namespace) -> dict[str, Any]:
    """What a construction is compiled with, as far as the arguments say."""
    engine = getattr(args, "engine", None)
    own: dict[str, Any] = {"arithmetic": "exact"}
    if args.network == "wcm21":
        own = {"T": NETWORK_STEPS[engine or "torch"], "bits": None, "adder": "lookahead" if engine else "ripple"}
    for option in OPTIONS:
        if (given := getattr(args, option)) is not None:
            if option not in own:
                raise ValueError(
                    f"--{option} is not for {args.network}: it takes {', '.join(f'--{name}' for name in own)}."
                )
            own[option] = given
    return own


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
        raise FormatError(f"{unknown} It is no file and no text of a machine either.") from None


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


def _visible(text: str) -> str:
    """The text on one line, with escapes for what a terminal would obey: anybody may have chosen the names."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _split(machine: TuringMachine, word: str) -> str | list[str]:
    return word.split() if any(len(symbol) > 1 for symbol in machine.symbols) else word


def _run(args: argparse.Namespace) -> int:
    found = _given(args.machine)
    network: Any = _network(found, args)
    machine = network.machine if network else _machine(found)
    word, limit = _split(machine, args.word), args.max_steps
    if limit is None:
        limit = getattr(network, "T", STEPS)
    engine = {"engine": args.engine} if args.engine else {}
    if engine and getattr(network, "construction", None) != "wcm21":
        raise ValueError(f"--engine is for wcm21, and {args.network or 'a machine alone'} was given.")
    if args.checkpoint is not None and (args.engine != "native" or args.trace):
        raise ValueError("--checkpoint is for --engine native, without --trace.")
    if args.engine == "native" and not args.trace:
        run = network.run(word, limit, **engine, checkpoint=args.checkpoint, cells=CELLS)
        if run.status == "limit" and run.steps < limit:
            print(f"turing: stopped, because the tape has grown to {CELLS:,} cells", file=sys.stderr)
    elif args.trace or network:
        trace = (network or machine).trace(word, limit, **engine)
        run = (_traced if args.trace else _followed)(machine, trace, limit)
    else:
        run = _watched(machine, word, limit)
    _print_rows(
        {
            "status": run.status,
            "state": run.state,
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
    width = max(len(_visible(state)) for state in machine.states)
    for now in trace:
        print(f"{_visible(now.state):{width}}{_visible(str(now).removeprefix(now.state))}")
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
    if hasattr(network, "construction"):
        if svg is not None:
            if network.construction != "wcm21":
                raise ValueError("The architecture is drawn for wcm21 alone. Leave --svg out.")
            from turing.wcm import architecture

            architecture(network).save(svg)
        _print_rows(_about_network(network))
        print(f"\n{equations.show(network)}")
        return 0
    if svg is not None:
        hinton.draw(network).save(svg)
    widths = f"{network.layouts[0].width} → {network.layouts[-1].width}"
    print(f"network: {_count(len(network), 'layer')}, {widths}\n\n{equations.show(network)}")
    return 0


def _about_network(network: Compiled) -> dict[str, str]:
    parameters = list(network.parameters())
    return {
        **network.about(),
        "machine": repr(network.machine).removeprefix("<TuringMachine: ").removesuffix(">"),
        "numbers": f"{sum(p.numel() for p in parameters):,}, {sum(int(p.count_nonzero()) for p in parameters):,} not 0",
    }


def _compile(args: argparse.Namespace) -> int:
    machine = _machine(_given(args.machine))
    if args.output.lower().endswith(".onnx") and args.network != "wcm21":
        raise ValueError(f"One step of wcm21 is written as ONNX, and not of {args.network}. Use .json or .safetensors.")
    network = compile(machine, args.network, **_options(args))
    save(network, args.output)
    _print_rows(_about_network(network) | {"file": f"{args.output}, {os.path.getsize(args.output):,} bytes"})
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
                print(_visible(f"{kind} {before} is now {after}"), file=sys.stderr)
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
    told = [column for column in zip(*rows, strict=True) if any(column[1:])]
    _print_table(list(zip(*told, strict=True)))
    return 0


def _grade(args: argparse.Namespace) -> int:
    from tqdm import tqdm

    found, grades, status = grading.notebooks(args.places), [], 0
    with ExitStack() as files:
        file = sys.stdout if args.csv == "-" else None
        if args.csv not in (None, "-"):
            file = files.enter_context(open(args.csv, "w", encoding="utf-8", newline=""))
        if file:
            grading.write_csv([], file)
        shown = files.enter_context(tqdm(found.items(), unit=" notebooks", disable=None))
        try:
            for name, path in shown:
                shown.set_description(_visible(name))
                new = grading.grade(path, name, args.timeout)
                grades += new
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
    print(textwrap.fill(entry.about, 100), end="\n\n")


def _print_rows(rows: Mapping[str, str]) -> None:
    for name, value in rows.items():
        print(f"{name:9}  {_visible(value)}")


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    rows = [[_visible(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())


if __name__ == "__main__":
    sys.exit(main())
