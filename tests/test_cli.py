"""The command line, as a user meets it."""

import fcntl
import inspect
import os
import pty
import re
import shlex
import signal
import struct
import subprocess
import sys
import termios
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import turing
from book import ROOT
from paper import FIGURE_1
from turing.cli import OPTIONS, main
from turing.comparison.measure import MAX_STEPS
from turing.construction import REGISTRY
from turing.formats import FORMATS, LIMIT, dumps, fit, parse

CONSTRUCTIONS = [name for name, kind in turing.constructions().items() if kind.__module__.startswith("turing")]
COMMANDS = ["run", "show", "convert", "compile", "prove", "decompile", "compare", "zoo", "grade"]
BB4 = "1RB1LB_1LA0LC_1RZ1LD_1RD0RA"
NATIVE = ["run", "bb3", "--network", "wcm21", "--engine", "native"]
RUNAWAY = "1RA1RA"  # writes 1s to the right and never stops
FOREVER = "1RB1RB_1LA1LA"  # goes to and fro between two cells
ACCENTS = "0 _ é r hält\nhält _ 漢 r halt\n"
ASCII = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
HOSTILE = turing.TuringMachine({("\x1b[2J", "_"): ("\u202eno\nstatus     halted", "\x07", 0)}, "\x1b[2J", (), "_")


@pytest.fixture
def cli(capsys):
    """Run a command in this process: status, what it printed, and what it complained about."""

    def run(*argv):
        try:
            status = main(argv)
        except SystemExit as stop:  # argparse
            status = stop.code
        return status, *capsys.readouterr()

    return run


def shell(*argv, **options):
    """Run a command in a process of its own."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
    # A shell that runs the tests in the background ignores Ctrl-C, and a process inherits that.
    heed = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    return subprocess.Popen([sys.executable, "-m", "turing", *argv], preexec_fn=heed, **options)


def redirected(redirection, *argv):
    """Run a command under a shell that redirects or closes its streams."""
    script = f'exec "$0" -m turing "$@" {redirection}'
    return subprocess.run(["sh", "-c", script, sys.executable, *argv], capture_output=True, text=True)


def rows(text):
    return dict(line.split(None, 1) for line in text.splitlines() if line)


# run


def test_the_busy_beaver_with_four_states_takes_107_steps_and_leaves_13_cells():
    process = shell("run", BB4, "")
    out, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    assert rows(out) == {
        "status": "halted",
        "state": "Z",
        "steps": "107",
        "non-blank": "13 cells",
        "head": "cell -9",
        "tape": "10111111111111  (cells -10 to 3)",
    }


@pytest.mark.parametrize(
    ("argv", "status", "word"),
    [
        (["balanced_parentheses", "B()E"], 0, "halted"),
        (["collatz", "0"], 3, "jammed"),
        ([FOREVER, "--max-steps", "1,000"], 4, "limit"),
        (["bb4", "--max-steps", "0"], 4, "limit"),
    ],
)
def test_the_exit_status_tells_how_the_run_ended(cli, argv, status, word):
    code, out, err = cli("run", *argv)
    assert (code, rows(out)["status"], err) == (status, word, "")


def test_a_halt_has_the_verdict_of_the_zoo(cli):
    for word, verdict in [("B()E", "balanced"), ("B)(E", "not balanced")]:
        assert rows(cli("run", "balanced_parentheses", word)[1])["verdict"] == verdict
    assert "verdict" not in rows(cli("run", "balanced_parentheses", "()")[1])


def test_numbers_have_thousands_separators_and_a_long_tape_is_cut_in_the_middle(cli):
    status, out, _ = cli("run", RUNAWAY, "--max-steps", "250_000")
    assert status == 4
    found = rows(out)
    assert (found["steps"], found["non-blank"], found["head"]) == ("250,000", "250,000 cells", "cell 250,000")
    ones = "1" * 100
    assert found["tape"] == f"{ones} … 249,800 cells not shown … {ones}  (cells 0 to 249,999)"


def test_a_run_in_chunks_ends_as_a_run_in_one_piece(cli, monkeypatch):
    machine = turing.zoo["bb4"]
    for chunk in (1, 2, 53, 106, 107, 108):
        monkeypatch.setattr("turing.cli.CHUNK", chunk)
        for limit in (0, 1, 106, 107, 108):
            run = machine.run(max_steps=limit)
            _, out, _ = cli("run", "bb4", "--max-steps", str(limit))
            found = rows(out)
            assert (found["status"], found["state"], found["steps"]) == (run.status, run.state, str(run.steps))
            assert found["head"] == f"cell {run.head}"


@pytest.mark.parametrize(
    ("word", "tape"),
    [("", "all blank"), ("00", "all blank"), ("0100", "1  (cell 1)"), ("1001", "1__1  (cells 0 to 3)")],
)
def test_the_tape_is_told_with_its_place(cli, word, tape):
    _, out, _ = cli("run", "0 1 1 r 0\n0 0 _ r 0\n0 _ _ l halt", word)
    assert rows(out)["tape"] == tape


def test_symbols_longer_than_a_character_are_given_and_shown_with_spaces(cli):
    status, out, _ = cli("run", "rock_paper_scissors", "rock  paper rock")
    assert status == 0
    assert rows(out)["state"] == "paper wins"
    assert rows(out)["tape"] == "rock paper paper  (cells 0 to 2)"


def test_trace_prints_figure_1_of_the_paper(cli):
    status, out, _ = cli("run", "balanced_parentheses", "B()E", "--trace")
    trace, summary = out.split("\n\n")
    assert status == 0
    assert trace == FIGURE_1
    assert rows(summary)["steps"] == "9"


def test_trace_puts_states_with_long_names_in_a_column(cli):
    _, out, _ = cli("run", "rock_paper_scissors", "rock paper", "--trace")
    assert out.split("\n\n")[0].splitlines() == [
        "first throw     [rock] paper",
        "rock leads      rock [paper]",
        "paper leads     rock paper [empty]",
        "paper wins      rock paper [empty]",
    ]


@pytest.mark.parametrize(("name", "word", "limit"), [("collatz", "0", 9), ("bb4", "", 50), ("bb4", "", 107)])
def test_trace_ends_as_the_run_without_it(cli, name, word, limit):
    plain = cli("run", name, word, "--max-steps", str(limit))
    traced = cli("run", name, word, "--max-steps", str(limit), "--trace")
    assert traced[0] == plain[0]
    assert traced[1].endswith("\n\n" + plain[1])


@contextmanager
def on_a_terminal(*argv):
    """A command whose standard error is a terminal of 100 columns, and the other end of that terminal."""
    end, stderr = pty.openpty()
    fcntl.ioctl(stderr, termios.TIOCSWINSZ, struct.pack("HHHH", 25, 100, 0, 0))
    with shell(*argv, stderr=stderr) as process, open(end, "rb", buffering=0) as terminal:
        os.close(stderr)
        try:
            yield process, terminal
        finally:
            process.kill()


def test_a_long_run_shows_a_progress_bar_with_steps_per_second_on_a_terminal():
    with on_a_terminal("run", FOREVER, "--max-steps", "5000000") as (process, terminal):
        shown = b""
        with suppress(OSError):  # this is how Linux says that the other end is closed
            while piece := terminal.read(4096):
                shown += piece
        out, _ = process.communicate()
    assert process.returncode == 4
    assert rows(out)["steps"] == "5,000,000"
    assert re.search(r"of at most 5\.00M steps, +[\d.]+[kM]? steps/s", shown.decode()), shown


def test_a_short_run_shows_no_bar():
    with on_a_terminal("run", "bb4") as (process, terminal):
        process.communicate()
        with pytest.raises(OSError, match="Input/output error"):  # nothing was written
            terminal.read(1)


def test_without_a_terminal_there_is_no_bar(cli, monkeypatch):
    monkeypatch.setattr("turing.progress.PATIENCE", 0)
    assert cli("run", FOREVER, "--max-steps", "200000")[2] == ""


def test_a_tape_that_grows_without_end_is_stopped_before_memory_is_full(cli, monkeypatch):
    monkeypatch.setattr("turing.cli.CELLS", 250_000)
    status, out, err = cli("run", RUNAWAY)
    assert (status, rows(out)["status"], rows(out)["steps"]) == (4, "limit", "300,000")
    assert err == "turing: stopped, because the tape has grown to 300,000 cells\n"


def test_a_tape_of_a_network_that_grows_without_end_is_stopped_too(cli, monkeypatch):
    monkeypatch.setattr("turing.cli.CELLS", 2_000)
    status, out, err = cli("run", RUNAWAY, "--network", "wcm21", "--engine", "native")
    assert (status, rows(out)["status"]) == (4, "limit")
    assert err == "turing: stopped, because the tape has grown to 2,000 cells\n"


def test_memory_that_is_full_gets_a_message(cli, monkeypatch):
    def full(*_):
        raise MemoryError

    monkeypatch.setattr("turing.cli._watched", full)
    assert cli("run", "bb4") == (2, "", "turing: There is not enough memory for this.\n")


def test_without_llvmlite_the_message_says_what_to_install(cli, monkeypatch):
    monkeypatch.delitem(sys.modules, "turing.engine.generated", raising=False)
    monkeypatch.setitem(sys.modules, "llvmlite.binding", None)  # as if it were not installed
    monkeypatch.delattr("turing.engine.generated", raising=False)
    status, out, err = cli("run", "bb2", "--network", "wcm21", "--engine", "native")
    assert (status, out) == (2, "")
    assert err.startswith('turing: engine="native" needs llvmlite, which is not installed. Run pip install llvmlite')


def test_ctrl_c_reports_what_was_done_so_far():
    with on_a_terminal("run", FOREVER, "--max-steps", "1000000000000") as (process, terminal):
        terminal.read(1)  # the bar is there, so the run has begun
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate()
    assert process.returncode == 130
    found = rows(out)
    steps = int(found["steps"].replace(",", ""))
    assert (found["status"], found["state"]) == ("interrupted", "AB"[steps % 2])
    assert steps > 0
    assert found["head"] == f"cell {steps % 2}"


def test_ctrl_c_ends_a_trace_without_a_traceback():
    with shell("run", FOREVER, "--trace") as process:
        for _ in range(3):
            process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert (process.returncode, err) == (130, "")


@pytest.mark.parametrize(
    ("argv", "first"), [([FOREVER], "A  [0]\n"), (["rule_110", "1", "--max-steps", "100000"], "right 00  [1]\n")]
)
def test_a_trace_stops_cleanly_when_its_reader_goes_away(argv, first):
    with shell("run", *argv, "--trace") as process:
        assert process.stdout.readline() == first
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141


def test_output_that_the_terminal_cannot_show_is_escaped():
    process = shell("show", "unary_addition", env=os.environ | {"PYTHONIOENCODING": "ascii"})
    out, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    assert r"\u25a1 (blank)" in out


@pytest.mark.parametrize("argv", [["show"], ["run"], ["run", "--trace"]])
def test_names_from_a_file_cannot_move_the_cursor_or_forge_a_line(cli, argv):
    _, out, _ = cli(*argv, dumps(HOSTILE))
    assert all(line.isprintable() for line in out.split("\n"))
    assert not any(line.startswith("status     halted") for line in out.split("\n"))
    assert r"\u202eno\nstatus     halted" in out


def test_escaped_names_still_stand_in_columns(cli):
    _, out, _ = cli("run", dumps(HOSTILE), "--trace")
    assert out.split("\n\n")[0].split("\n") == [
        r"\x1b[2J                      [_]",
        r"\u202eno\nstatus     halted  [\x07]",
    ]


def test_an_error_and_a_renaming_show_names_escaped_and_converted_data_holds_them_as_they_are(cli):
    _, _, err = cli("run", "\x1b[2J")
    assert err[:-1].isprintable()
    status, _, err = cli("convert", dumps(HOSTILE), "--to", "jflap", "--rename")
    assert status == 0
    assert all(line.isprintable() for line in err.split("\n"))
    assert r"symbol \x07 is now" in err
    assert parse(cli("convert", dumps(HOSTILE), "--to", "json")[1]) == HOSTILE


def test_a_closed_standard_output_loses_what_is_shown_and_nothing_else(tmp_path):
    assert redirected(">&-", "run", "bb4").stderr == ""
    assert redirected(">&-", "run", "collatz", "0").returncode == 3
    assert redirected(">&-", "convert", "bb4", "--to", "json", "-o", str(tmp_path / "bb4")).returncode == 0
    ran = redirected(">&-", "convert", "bb4", "--to", "json")
    assert (ran.returncode, ran.stderr) == (2, "turing: Standard output is closed. Give a file with -o.\n")


def test_a_closed_standard_error_sends_nothing_to_standard_output():
    ran = redirected("2>&-", "convert", "bb2", "--to", "morphett", "--rename")
    assert (ran.returncode, ran.stdout) == (0, dumps(fit(turing.zoo["bb2"], "morphett"), "morphett"))
    assert redirected("2>&-", "run", "qqqq").stdout == ""
    assert redirected("2>&-", "run", FOREVER, "--max-steps", "1000").returncode == 4


def test_a_closed_standard_input_is_an_error():
    ran = redirected("<&-", "run", "-")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("turing: Standard input is closed")


# What MACHINE may be


@pytest.mark.parametrize("format", FORMATS)
def test_a_machine_is_a_file_or_text_in_any_format(cli, tmp_path, format):
    name = {"jflap": "unary_addition", "morphett": "copier", "turingmachine.io": "anbncn"}.get(format, "bb4")
    word = {"unary_addition": "1+1", "copier": "01", "anbncn": "abc"}.get(name, "")
    text = dumps(turing.zoo[name], format)
    file = tmp_path / "machine.txt"
    file.write_text(text, encoding="utf-8")
    expected = cli("run", name, word)
    assert cli("run", str(file), word) == expected
    assert cli("run", text, word) == expected


def test_a_machine_is_read_from_standard_input():
    process = shell("run", "-", "", stdin=subprocess.PIPE)
    out, _ = process.communicate(BB4)
    assert (process.returncode, rows(out)["steps"]) == (0, "107")


def test_a_machine_is_read_from_a_pipe_that_has_a_path(cli):
    reading, writing = os.pipe()
    with open(writing, "w") as stream:
        stream.write(BB4)
    try:
        assert rows(cli("run", f"/dev/fd/{reading}")[1])["steps"] == "107"
    finally:
        os.close(reading)


def test_of_an_input_without_end_no_more_is_read_than_a_machine_may_have(cli):
    status, out, err = cli("run", "/dev/zero")
    assert (status, out) == (2, "")
    assert f"at most {LIMIT:,} are read" in err
    with open("/dev/zero") as stdin:
        _, err = shell("run", "-", stdin=stdin).communicate()
    assert f"at most {LIMIT:,} are read" in err


def test_one_command_can_read_what_another_writes():
    first = shell("convert", "unary_addition", "--to", "jflap")
    second = shell("run", "-", "11+1", stdin=first.stdout)
    first.stdout.close()
    out, _ = second.communicate()
    assert (second.returncode, rows(out)["tape"]) == (0, "111  (cells 0 to 2)")
    assert first.wait() == 0
    first.stderr.close()


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (
            ["run", "balanced_parentheses", "BxE"],
            "Symbol 'x' (cell 1 of the word) is not in this machine's alphabet",
        ),
        (["run", "palindrom"], "No machine of the zoo is called 'palindrom'. Did you mean palindromes?"),
        (["run", "nowhere/machine.jff"], "It is neither a file nor the text of a machine."),
        (["run", "1RB1LB_1LA1R"], "line 1: row B, column 1: '1R' is not a rule."),
        (["run", "0 a b r\n0 b b r 0"], "line 1: "),
        (["run", "a b c r d"], "The initial state '0' appears in no rule."),
        (["run", '{"turing_machine": 1}'], "The keys are initial, halting, blank, delta"),
        (["run", "; hi"], "This machine has no rules."),
        (["run", "no\nmachine"], "The text is in none of the known formats"),
        (["run", "/"], "It is neither a file nor the text of a machine."),
        (["run", "\0"], "It is neither a file nor the text of a machine."),
        (["show", "bb6"], "Did you mean bb"),
        (["zoo", "collats"], "Did you mean collatz?"),
        (["convert", "bb4", "--to", "morphett"], "morphett cannot hold the state 'A'"),
        (["convert", "bb4", "--to", "morphett"], "Here, --rename does so."),
        (
            ["convert", "parity", "--to", "bbchallenge", "--rename"],
            "stays, and the format knows only left and right",
        ),
        (["convert", "bb4", "--to", "json", "-o", "no/such/folder/bb4.json"], "no/such/folder/bb4.json"),
        (["convert", "bb4", "--to", "json", "-o", ""], "No such file or directory: ''"),
        (["show", "bb4", "--svg", "bb4.png"], "Pictures are saved as SVG"),
        (["show", "bb4", "--svg", ""], "Pictures are saved as SVG"),
        (["run", "bb4", "--max-steps", "-1"], "an integer from 0 up is expected, and '-1' was given"),
        (["run", "bb4", "--max-steps", "many"], "an integer from 0 up is expected, and 'many' was given"),
        (["convert", "bb4", "--to", "punch cards"], "invalid choice: 'punch cards'"),
        (["convert", "bb4"], "the following arguments are required: --to"),
        (["fly"], "invalid choice: 'fly'"),
        ([], "the following arguments are required: COMMAND"),
    ],
)
def test_bad_input_is_answered_on_standard_error_with_status_2(cli, argv, message):
    status, out, err = cli(*argv)
    assert (status, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_an_error_in_a_file_names_the_file_and_the_line(cli, tmp_path):
    file = tmp_path / "broken.tm"
    file.write_text("0 a b r 0\n0 b b sideways 0\n", encoding="utf-8")
    status, _, err = cli("run", str(file))
    assert status == 2
    assert err.startswith(f"turing: {file}: line 2: ")


def test_a_file_that_is_no_text_is_refused(cli, tmp_path):
    file = tmp_path / "picture.jff"
    file.write_bytes(b"\xff\xfe\x00\x80")
    assert cli("run", str(file)) == (2, "", f"turing: {file}: this is not text in UTF-8.\n")
    with open(file, "rb") as stdin:
        _, err = shell("run", "-", stdin=stdin).communicate()
    assert err == "turing: standard input: this is not text in UTF-8.\n"


# show, convert, zoo, help


def test_show_prints_names_and_the_table_of_rules(cli):
    status, out, err = cli("show", "Balanced-Parentheses")
    assert (status, err) == (0, "")
    assert out.startswith("Balanced parentheses (balanced_parentheses)\n\nThe machine of this book: ")
    table = """\
states     I (initial), R, M, V, F (halts), T (halts)
alphabet   E (blank) B ( ) *

state  read  next  write  move
I      B     R     B      +1
R      (     R     (      +1
R      )     M     *      -1
R      *     R     *      +1
R      E     V     E      -1
M      B     F     *      -1
M      (     R     *      +1
M      *     M     *      -1
V      (     F     *      -1
V      *     V     *      -1
V      B     T     B      +1
"""
    assert out.endswith("\n\n" + table)


def test_show_writes_a_stay_as_nought_and_aligns_long_names(cli):
    _, out, _ = cli("show", "rock_paper_scissors")
    assert "state           read      next            write     move\n" in out
    assert "rock leads      empty     rock wins       empty     0\n" in out


def test_show_of_a_literal_has_nothing_to_say_about_it(cli):
    _, out, _ = cli("show", "1RB1LB_1LA1RZ")
    assert out.startswith("states     A (initial), B, Z (halts)\nalphabet   0 (blank) 1\n\nstate  read")


def test_show_saves_the_state_diagram(cli, tmp_path):
    file = tmp_path / "bb4.svg"
    status, _, err = cli("show", "bb4", "--svg", str(file))
    assert (status, err) == (0, "")
    assert file.read_text(encoding="utf-8").startswith("<svg")


@pytest.fixture
def half_adder(tmp_path):
    """A file with the half adder of the paper."""
    from turing.adders import HalfAdder  # here, as it takes torch

    file = tmp_path / "half_adder.json"
    turing.save(HalfAdder(2, 0, 1), file, turing.Layout(a=1, b=1))
    return file


def test_show_prints_the_equations_of_a_network(cli, half_adder):
    expected = f"network: 3 layers, 2 → 2\n\n{turing.show(turing.load(half_adder))}\n"
    assert "a ← ReLU(a + b − 1)   AND(a, b)   XOR(a, b)\n" in expected
    assert cli("show", str(half_adder)) == (0, expected, "")
    assert cli("show", half_adder.read_text(encoding="utf-8")) == (0, expected, "")
    with open(half_adder) as stdin, shell("show", "-", stdin=stdin) as process:
        assert process.communicate() == (expected, "")


def test_show_saves_the_weights_of_a_network_as_squares(cli, half_adder, tmp_path):
    file = tmp_path / "half_adder.svg"
    status, _, err = cli("show", str(half_adder), "--svg", str(file))
    assert (status, err) == (0, "")
    assert file.read_text(encoding="utf-8") == turing.draw(turing.load(half_adder)).svg + "\n"
    status, out, err = cli("show", str(half_adder), "--svg", str(tmp_path / "half_adder.png"))
    assert (status, out) == (2, "")
    assert "Pictures are saved as SVG" in err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[:100], "This is not JSON"),
        (lambda text: text.replace('"version": 2', '"version": 7'), "versions 1 and 2 are read here"),
        (lambda text: text.replace("[[0, 0, 1]", "[[5, 0, 1]"), "This network file is damaged: its digest"),
        (lambda text: text.replace('"network"', '"net"'), "none of the known formats|A machine in JSON is an object"),
    ],
)
def test_a_damaged_network_is_refused_under_its_name(cli, half_adder, change, message):
    half_adder.write_text(change(half_adder.read_text(encoding="utf-8")), encoding="utf-8")
    status, out, err = cli("show", str(half_adder))
    assert (status, out) == (2, "")
    assert re.match(f"turing: {re.escape(str(half_adder))}: .*({message})", err)


def test_only_show_takes_a_network(cli, half_adder):
    for argv in (["run", str(half_adder)], ["convert", str(half_adder), "--to", "json"]):
        status, out, err = cli(*argv)
        assert (status, out) == (2, "")
        assert err == "turing: This is a network, and a machine is expected here. turing show prints the network.\n"


def test_names_in_a_network_cannot_move_the_cursor_or_forge_a_line(cli, half_adder):
    text = half_adder.read_text(encoding="utf-8").replace('"a": 1', r'"\u001b[2J\nnetwork: 9 layers": 1')
    _, out, _ = cli("show", text)
    assert all(line.isprintable() for line in out.split("\n"))
    assert [line for line in out.split("\n") if line.startswith("network: ")] == ["network: 3 layers, 2 → 2"]


def test_a_machine_that_speaks_of_a_network_is_still_a_machine(cli):
    machine = turing.TuringMachine({("network", "_"): ("network", "_", 1)}, "network", (), "_")
    assert cli("show", dumps(machine))[1].startswith("states     network (initial)\n")


@pytest.mark.parametrize("format", FORMATS)
def test_convert_writes_a_machine_that_can_be_read_again(cli, tmp_path, format):
    name = {"jflap": "unary_addition", "morphett": "copier"}.get(format, "bb4")
    status, out, err = cli("convert", name, "--to", format)
    assert (status, err) == (0, "")
    assert parse(out, format) == turing.zoo[name]
    file = tmp_path / "machine"
    assert cli("convert", name, "--to", format, "-o", str(file)) == (0, "", "")
    assert parse(file.read_text(encoding="utf-8"), format) == turing.zoo[name]


@pytest.mark.parametrize("format", ["json", "morphett"])
def test_convert_reads_and_writes_utf_8_whatever_the_terminal_can_show(tmp_path, format):
    file = tmp_path / "accents.txt"
    file.write_text(ACCENTS, encoding="utf-8")
    expected = dumps(parse(ACCENTS), format).encode()
    with shell("convert", str(file), "--to", format, env=ASCII, text=False) as process:
        assert process.communicate() == (expected, b"")
    with open(file) as stdin, shell("convert", "-", "--to", format, env=ASCII, text=False, stdin=stdin) as process:
        assert process.communicate() == (expected, b"")


def test_a_name_that_utf_8_cannot_hold_leaves_no_file(cli, tmp_path):
    file = tmp_path / "machine"
    status, _, _ = cli("convert", "0 _ \ud800 r halt", "--to", "turingmachine.io", "-o", str(file))
    assert status == 2
    assert not file.exists()


def test_convert_renames_when_told_to_and_says_what(cli):
    status, out, err = cli("convert", "bb2", "--to", "morphett", "--rename")
    assert status == 0
    assert parse(out).run().steps == 6
    assert err.splitlines() == ["state A is now 0", "state Z is now halt-Z", "symbol 0 is now _"]


def test_zoo_lists_every_machine_with_its_title(cli):
    status, out, _ = cli("zoo")
    assert status == 0
    listed = dict(line.split("  ", 1) for line in out.splitlines())
    assert {name: title.strip() for name, title in listed.items()} == {
        name: turing.zoo.entry(name).title for name in turing.zoo
    }


def test_zoo_shows_one_machine_with_its_samples(cli):
    status, out, _ = cli("zoo", "parity")
    assert status == 0
    assert out.startswith("Parity bit (parity)\n\nWalks over a word")
    assert out.endswith(
        "\n\n"
        "word     status  state  steps  result\n"
        "1011     halted  halt   5      10111\n"
        "1001     halted  halt   5      10010\n"
        "(empty)  halted  halt   1      0\n"
    )


@pytest.mark.parametrize("argv", [["--help"], ["run", "--help"]])
def test_help_documents_the_exit_statuses(cli, argv):
    status, out, _ = cli(*argv)
    assert status == 0
    assert re.findall(r"^  (\d+) ", out, re.MULTILINE) == ["0", "2", "3", "4", "130", "141"]


def test_the_console_script_is_the_same_command():
    script = Path(sys.executable).with_name("turing")
    ran = subprocess.run([script, "run", "bb4"], capture_output=True, text=True, check=True)
    assert rows(ran.stdout)["steps"] == "107"


@pytest.fixture
def compiled(cli, tmp_path):
    """A file that ``turing compile`` wrote, and what the command printed."""
    file = tmp_path / "bb3.json"
    status, out, err = cli("compile", "bb3", "--network", "wcm21", "--T", "32", "-o", str(file))
    assert (status, err) == (0, "")
    return file, out


def test_compile_says_what_it_wrote(compiled):
    file, out = compiled
    rows = dict(re.split(r"\s{2,}", line, maxsplit=1) for line in out.splitlines())
    assert rows["network"] == "wcm21 for 32 steps, 5 position bits, ripple adder"
    assert rows["machine"] == "4 states, 2 symbols, 6 rules"
    assert rows["width"] == "37"
    assert rows["file"] == f"{file}, {file.stat().st_size:,} bytes"


@pytest.mark.parametrize(
    ("machine", "word", "options"),
    [
        ("balanced_parentheses", "B(())E", []),
        ("balanced_parentheses", "B(()E", ["--trace"]),
        ("bb3", "", ["--T", "21"]),
        ("bb3", "", ["--max-steps", "7"]),
        ("binary_increment", "1011", ["--T", "2", "--trace"]),
        ("bb3", "", ["--adder", "lookahead"]),
        ("bb3", "", ["--engine", "torch"]),
        ("bb3", "", ["--engine", "indexed"]),
        ("bb3", "", ["--engine", "native"]),
        ("bb3", "", ["--engine", "native", "--T", "7", "--trace"]),
        ("bb3", "", ["--engine", "native", "--adder", "ripple", "--T", "21"]),
        ("collatz", "0", ["--engine", "native", "--max-steps", "9"]),
        ("rock_paper_scissors", "rock paper", ["--engine", "indexed", "--T", "9", "--trace"]),
    ],
)
def test_a_network_prints_what_the_machine_prints(cli, machine, word, options):
    own = {"--engine", "--adder"}
    limit = [option.replace("--T", "--max-steps") for option in options]
    limit = [option for last, option in zip(["", *limit], limit, strict=False) if not own & {last, option}]
    ours = cli("run", machine, word, "--network", "wcm21", *options)
    assert ours == cli("run", machine, word, *limit)


def test_a_compiled_file_runs(cli, compiled):
    file, _ = compiled
    assert cli("run", str(file)) == cli("run", "bb3")
    assert cli("run", str(file), "--max-steps", "5", "--trace") == cli("run", "bb3", "--max-steps", "5", "--trace")
    with open(file) as stdin, shell("run", "-", stdin=stdin) as process:
        assert process.communicate() == (cli("run", "bb3")[1], "")


def test_a_compiled_file_runs_by_any_engine(cli, compiled):
    for engine in ("torch", "indexed", "native"):
        assert cli("run", str(compiled[0]), "--engine", engine) == cli("run", "bb3")


def test_a_file_with_the_lookahead_adder_runs_and_is_shown(cli, tmp_path):
    file, svg = tmp_path / "bb3.json", tmp_path / "architecture.svg"
    status, out, _ = cli("compile", "bb3", "--network", "wcm21", "--T", "32", "--adder", "lookahead", "-o", str(file))
    assert status == 0
    assert "wcm21 for 32 steps, 5 position bits, lookahead adder" in out
    assert cli("run", str(file)) == cli("run", "bb3")
    status, out, _ = cli("show", str(file), "--svg", str(svg))
    assert status == 0
    assert "det[A 0] ← ReLU(st[A] + sym1[0] − 1)" in " ".join(out.split())
    assert "Carry" in svg.read_text(encoding="utf-8")


def test_a_run_goes_on_from_its_checkpoint(cli, tmp_path):
    network = ["--network", "wcm21", "--engine", "native", "--T", "200", "--checkpoint", str(tmp_path / "bb4.npz")]
    assert cli("run", "bb4", *network, "--max-steps", "50") == cli("run", "bb4", "--max-steps", "50")
    assert cli("run", "bb4", *network) == cli("run", "bb4") == cli("run", "bb4", *network)
    status, out, err = cli("run", "bb4", "1", *network)
    assert (status, out) == (2, "")
    assert "turing: bb4.npz was written for another network or another word." in err
    (tmp_path / "bb4.npz").write_bytes(b"PK")
    assert "bb4.npz is not a checkpoint, or it is damaged" in cli("run", "bb4", *network)[2]


def test_a_run_goes_on_from_its_checkpoint_to_another_limit(cli, tmp_path):
    network = ["--network", "wcm21", "--engine", "native", "--checkpoint", str(tmp_path / "bb4.npz")]
    for limit in (["--max-steps", "50"], ["--max-steps", "60"], []):
        assert cli("run", "bb4", *network, *limit) == cli("run", "bb4", *limit)


def test_a_network_may_be_for_2_to_the_64_steps(cli):
    for T, status in ((2**64, 0), (2**64 + 1, 2)):
        found, _, err = cli("run", "bb2", "--network", "wcm21", "--engine", "native", "--T", str(T))
        assert found == status
    assert "T is the maximal number of steps, an integer from 1 up (to 2^64)" in err


def test_ctrl_c_leaves_a_checkpoint_from_which_the_run_goes_on(cli, tmp_path):
    network = ["--network", "wcm21", "--engine", "native", "--checkpoint", str(tmp_path / "bb5.npz")]
    with on_a_terminal("run", "bb5", *network) as (process, terminal):
        terminal.read(1)  # the bar is there, so the run has begun
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate()
    assert process.returncode == 130
    assert rows(out)["status"] == "interrupted"
    limit = str(int(rows(out)["steps"].replace(",", "")) + 1_000)
    resumed = cli("run", "bb5", *network, "--T", "100000000", "--max-steps", limit)
    assert resumed == cli("run", "bb5", "--max-steps", limit)


def test_a_compiled_file_is_shown_module_by_module(cli, compiled, tmp_path):
    file, printed = compiled
    svg = tmp_path / "architecture.svg"
    status, out, err = cli("show", str(file), "--svg", str(svg))
    assert (status, err) == (0, "")
    assert out.splitlines()[:5] == printed.splitlines()[:5]
    assert "scr4[visited] ← scr4[visited] + (1 if a column has pos2 = pos3, else 0)" in out
    assert "IndicateVisitedPosition" in svg.read_text(encoding="utf-8")


def test_a_run_has_position_bits_enough_for_its_word(cli):
    """⌈log₂ T⌉ bits would not do for a word of 40 cells."""
    word = "B" + "()" * 19 + "E"
    status, out, _ = cli("run", "balanced_parentheses", word, "--network", "wcm21", "--T", "10")
    assert (status, "limit" in out) == (4, True)
    status, _, err = cli("run", "balanced_parentheses", word, "--network", "wcm21", "--T", "10", "--bits", "4")
    assert status == 2
    assert "The word has 40 cells" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "bb3", "--T", "5"], "Give --network as well, one of "),
        (["run", "bb3", "--bits", "5"], "--bits is for a network that is compiled from a machine."),
        (["run", "bb3", "--network", "wcm21", "--T", "0"], "T=0 was given"),
        (["run", "bb3", "--network", "wcm21", "--T", "9", "--max-steps", "10"], "max_steps = 10 is more than T = 9"),
        (["run", "bb3", "--network", "wcm21", "--T", "9", "--bits", "2"], "bits=2 was given"),
        (["run", "bb3", "--engine", "native"], "--engine is for a network. Give --network as well."),
        (["run", "bb3", "--adder", "ripple"], "--adder is for a network that is compiled"),
        (
            ["run", "bb3", "--network", "wcm21", "--adder", "x"],
            "An adder is one of ripple, lookahead, and 'x' was given",
        ),
        (["run", "bb3", "--network", "wcm21", "--checkpoint", "x"], "--checkpoint is for --engine native"),
        (["run", "bb3", "--network", "wcm21", "--engine", "indexed", "--checkpoint", "x"], "is for --engine native"),
        (["run", "bb3", "--network", "wcm21", "--checkpoint", ""], "--checkpoint is for --engine native"),
        ([*NATIVE, "--checkpoint", "x", "--trace"], "--checkpoint is for --engine native, without --trace"),
        ([*NATIVE, "--checkpoint", ""], "A checkpoint is a file, and '' was given, which is not a file"),
        (["run", "bb3", "--network", "wcm21", "--engine", "x"], "An engine is one of torch, indexed, native, and 'x'"),
        (["run", "bb3", "--network", "conv", "--engine", "native"], "Take engine='torch'"),
        (["run", "bb3", "--network", "ss95", "--adder", "x"], "arguments: --adder x. Options of ss95: --ar"),
        (["compile", "bb3", "--network", "wcm21", "-o", "net.txt"], "Networks are saved as JSON"),
    ],
)
def test_bad_wishes_for_a_network_get_a_message(cli, arguments, message):
    status, out, err = cli(*arguments)
    assert (status, out) == (2, "")
    assert message in err


def test_what_is_compiled_is_not_compiled_again(cli, compiled):
    file, _ = compiled
    for option, value in (("--network", "wcm21"), ("--T", "9"), ("--bits", "9"), ("--adder", "ripple")):
        status, _, err = cli("run", str(file), option, value)
        assert status == 2
        assert "compiled already" in err
    assert "a machine is expected here" in cli("convert", str(file), "--to", "json")[2]


def test_a_network_in_safetensors_is_run_and_shown_like_any_other(tmp_path, capsys):
    path = str(tmp_path / "net.safetensors")
    assert main(["compile", "binary_increment", "--network", "wcm21", "--T", "32", "-o", path]) == 0
    assert main(["run", path, "1011"]) == 0
    assert "tape       1100" in capsys.readouterr().out
    assert main(["show", path]) == 0
    assert "wcm21 for 32 steps" in capsys.readouterr().out


def test_a_file_that_is_no_network_is_answered_by_its_name(tmp_path, capsys):
    assert main(["run", str(tmp_path / "missing.safetensors")]) == 2
    assert "No such file" in capsys.readouterr().err
    (tmp_path / "step.onnx").write_bytes(b"x")
    assert main(["show", str(tmp_path / "step.onnx")]) == 2
    assert "onnxruntime runs this file" in capsys.readouterr().err


def test_no_step_in_exact_arithmetic_is_written_as_onnx(tmp_path, capsys):
    assert main(["compile", "bb2", "--network", "ss95", "-o", str(tmp_path / "x.onnx")]) == 2
    assert "ONNX" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_version_is_printed(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"turing {turing.__version__}\n"


PAGE = (ROOT / "book" / "command-line.md").read_text(encoding="utf-8")


def test_the_commands_that_the_page_shows_run_and_print_what_it_shows(cli, tmp_path, monkeypatch):
    """A line of … stands for lines that are not shown."""
    monkeypatch.delitem(REGISTRY, "whole-tape", raising=False)  # which another test registers
    monkeypatch.chdir(tmp_path)
    (machine,) = re.findall(r"Here is `flip\.yaml`.+?```yaml\n(.+?)```", PAGE, re.DOTALL)
    Path("flip.yaml").write_text(machine, encoding="utf-8")
    shown = re.findall(r"^\$ (turing|python) (.+)\n((?:[^$`].*\n|\n)*)", PAGE, re.MULTILINE)
    assert {line.split()[0] for _, line, _ in shown} >= {*COMMANDS} - {"grade"}
    for program, line, output in shown:
        if program == "turing":
            status, printed, complaint = cli(*shlex.split(line))
        else:
            ran = subprocess.run([sys.executable, *shlex.split(line)], capture_output=True, text=True)
            status, printed, complaint = ran.returncode, ran.stdout, ran.stderr
        assert (status, complaint) == (0, ""), line
        parts = map(re.escape, re.split(r"^…\n", output, flags=re.MULTILINE))
        assert not output or re.fullmatch("(?:.*\n)*?".join(parts), printed), line


def test_a_network_and_its_file_print_what_the_page_says_that_they_print_again(cli, tmp_path):
    file, word = str(tmp_path / "net.json"), "B(())E"
    cli("compile", "balanced_parentheses", "--network", "wcm21", "--T", "100", "-o", file)
    printed = cli("run", "balanced_parentheses", word)
    assert cli("run", file, word) == printed
    assert len(printed[1].splitlines()) == 7


def test_the_page_has_a_row_a_section_and_the_help_of_every_command():
    parts = [r"^\| \[`(\w+)`\]\(#turing-\1\) \|", r"^\(turing-(\w+)\)=\n## turing \1\n", r"^```\{command\} (\w+)\n"]
    for part in parts:
        assert re.findall(part, PAGE, re.MULTILINE) == COMMANDS, part


def test_the_steps_that_the_page_names_are_those_for_which_a_run_is_compiled(cli):
    fit = turing.constructions()["wcm21"].options_for
    assert fit({})["T"] == fit({}, "")["T"] == 1_000
    assert fit({}, "", None, "indexed")["T"] == 1_000_000
    assert fit({}, "", None, "native")["T"] == 100_000_000
    assert "`T` is the default below; but for `wcm21` it is 1,000,000 with\n`--engine indexed` and 100,000,000" in PAGE
    chosen = {option for name in CONSTRUCTIONS for option in turing.constructions()[name].options_for({}, "")}
    assert {"T", *re.findall(r"`(\w+)`", re.search(r"`run` chooses (.+) to fit the run", PAGE)[1])} == chosen


@pytest.mark.parametrize("name", CONSTRUCTIONS)
def test_help_says_what_each_option_of_a_network_means_and_its_default(cli, name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "500")
    names = list(inspect.signature(turing.constructions()[name]).parameters)[1:]
    for command in ("compile", "run"):
        status, out, _ = cli(command, "--network", name, "--help")
        assert status == 0
        for option in names:
            assert re.search(rf"^  --{option} \S+ +\w.+ \(default: .+\)$", out, re.MULTILINE), option
        assert "an option of" not in out


def test_the_defaults_in_the_help_are_those_that_compile_takes(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "500")
    for name, default in {"wcm21": "1,000", "li24": "16"}.items():
        assert f"of steps of a run (default: {default})" in cli("compile", "--network", name, "--help")[1]
        assert f"{int(default.replace(',', ''))}" == str(turing.constructions()[name].options_for({})["T"])
    for name, base, digits in (("ss95", 4, [1, 3]), ("ss95-realtime", 16, [11, 15])):
        assert turing.compile(turing.zoo["bb2"], name).options.items() >= {"base": base, "digits": digits}.items()
    assert OPTIONS["base"][1] == "4; 16 in ss95-realtime"
    assert OPTIONS["digits"][1] == "1,3; 11,15 in ss95-realtime"
    assert f"(default: {MAX_STEPS})" in cli("compare", "--help")[1]


def test_the_help_of_a_command_has_its_own_exit_statuses(cli):
    of = {name: cli(name, "--help")[1].partition("exit status:")[2] for name in COMMANDS}
    for name, text in of.items():
        listed = re.findall(r"^  (\d+) ", text, re.MULTILINE)
        assert listed == ["0", "2", *(["3", "4"] if name in ("run", "prove") else []), "130", "141"], name
    assert "jammed" in of["run"]
    assert "refuted" in of["prove"]


def test_decompile_prints_the_rules_that_are_in_the_weights(tmp_path, capsys):
    network = tmp_path / "net.json"
    assert main(["compile", "bb2", "--network", "wcm21", "--T", "8", "--adder", "lookahead", "-o", str(network)]) == 0
    capsys.readouterr()
    assert main(["decompile", str(network), "-o", str(tmp_path / "machine.json")]) == 0
    printed = capsys.readouterr().out
    assert "certified  yes, number for number" in printed
    assert "unknown, names:" in printed
    found = turing.TuringMachine.parse((tmp_path / "machine.json").read_text())
    assert printed.count("→") == len(found.delta) == len(turing.zoo["bb2"].delta)
    assert main(["decompile", "bb2"]) == 2
    assert "A network is read back, and a machine was given." in capsys.readouterr().err
