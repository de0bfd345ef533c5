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
LONGEST = 86_400  # seconds for a cell of a student's notebook

NOT_A_MACHINE = "This is a network, and a machine is expected here. turing show prints the network."
ABOUT_MACHINE = "a name of the zoo, a file, the text itself in any known format, or - for standard input"
ABOUT_EITHER = f"{ABOUT_MACHINE}; or a network that turing.save or turing compile wrote, as a file, text or -"
EXIT = f"""exit status:
  0    halted, or proved; for the other commands, done
  2    bad input or usage, or a network that cannot represent the run; the message is on standard error
  3    jammed: no rule applies, and the state does not halt; or refuted
  4    limit: --max-steps are done, or the tape has grown to {CELLS:,} cells; or undecided
  130  interrupted with Ctrl-C; what was done so far is printed
  141  the program that read the output has closed it"""


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


def _parser(construction: str | None = None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="turing",
        description="Run, show and convert Turing machines; compile them into networks, and run, show and compare "
        "those. Grade the exercises of a class.",
        epilog=EXIT,
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
            epilog=EXIT,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        sub.set_defaults(command=function)
        return sub

    def network(sub: argparse.ArgumentParser, required: bool) -> None:
        sub.add_argument(
            "--network",
            metavar="NAME",
            required=required,
            help="a construction, such as wcm21 or ss95; --network NAME --help lists its options",
        )
        for option, read in (_options_of(construction) if construction else {}).items():
            sub.add_argument(f"--{option}", metavar="X", type=read, help=f"{construction}: as in turing.compile")

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
    steps = f"stop after N steps (default: {STEPS:,}, or T for a network)"
    run.add_argument("--max-steps", metavar="N", type=_steps, help=steps)
    network(run, required=False)
    run.add_argument("--engine", metavar="E", help="of a network: torch (unless given), indexed or native")
    run.add_argument("--checkpoint", metavar="FILE", help="native: write where the run stands, or go on from there")
    run.add_argument("--trace", action="store_true", help="print each configuration, the head in brackets")

    view = command("show", _show, "show the rules, states and alphabet of a machine, or the equations of a network")
    view.add_argument("given", metavar="MACHINE", help=ABOUT_EITHER)
    view.add_argument("--svg", metavar="FILE", help="write the state diagram, or the weights drawn, to FILE as well")

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

    proof = command("prove", _prove, "prove for all words that a network simulates its machine, or say where it fails")
    proof.add_argument("given", metavar="MACHINE", help=ABOUT_EITHER)
    network(proof, required=False)
    proof.add_argument("-o", "--output", metavar="FILE", help="write the proof to FILE, for python -m turing.recheck")

    back = command("decompile", _decompile, "read the machine back out of the weights of a network, without its names")
    back.add_argument("given", metavar="FILE", help="a network that turing.save or turing compile wrote")
    back.add_argument("-o", "--output", metavar="FILE", help="write the machine to FILE, as JSON")

    table = command("compare", _compare, "compile a machine by every construction, run all on a word, and measure")
    table.add_argument("machine", metavar="MACHINE", help=ABOUT_MACHINE)
    table.add_argument("word", metavar="WORD", nargs="?", default="", help="the word on the tape, as for run")
    table.add_argument("--max-steps", metavar="N", type=_steps, help="stop after N steps of the machine (200)")
    table.add_argument("--json", action="store_true", help="print the numbers as JSON, for programs")

    shelf = command("zoo", _zoo, "list the machines that come with the library, or show one with its samples")
    shelf.add_argument("name", metavar="NAME", nargs="?", help="a machine of the zoo")

    marks = command("grade", _grade, "run students' notebooks, and grade the exercises in them")
    marks.add_argument("places", metavar="NOTEBOOK", nargs="+", help="a notebook, or a folder of them")
    marks.add_argument(
        "--csv", metavar="FILE", help="write the grades to FILE as well, a row for each exercise; - prints them so"
    )
    marks.add_argument(
        "--timeout", metavar="S", type=_seconds, default=grading.SECONDS, help=f"seconds for a cell ({grading.SECONDS})"
    )
    marks.add_argument(
        "--exercise", metavar="NAME", action="append", default=[], help="grade only this one; repeat it for more"
    )
    marks.add_argument(
        "--points", metavar="NAME=N", type=_points, action="append", default=[],
        help="what an exercise is worth, if not as many points as its difficulty; repeat it for more",
    )  # fmt: skip
    marks.add_argument("--feedback", metavar="FOLDER", help="write a text for each notebook into this folder")
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
        "machine": repr(network.machine).removeprefix("<TuringMachine: ").removesuffix(">"),
        "numbers": f"{sum(p.numel() for p in parameters):,}, {sum(int(p.count_nonzero()) for p in parameters):,} not 0",
    }


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
    print(proof)
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
    _print_rows(
        {
            "network": ", ".join([found.construction, *(f"{name} {value}" for name, value in found.options.items())]),
            "machine": repr(found.machine),
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
        print(textwrap.fill(f"unknown, {name}: {reason}.", 100))
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
    print(textwrap.fill(entry.about, 100), end="\n\n")


def _print_rows(rows: Mapping[str, str]) -> None:
    for name, value in rows.items():
        print(f"{name:9}  {arguments.printable(value)}")


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    rows = [[arguments.printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
