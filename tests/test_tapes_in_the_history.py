"""Odd machines, odd types and odd numbers in the networks whose tape is their history."""

import pytest
import torch

import turing
from turing.bhattamishra import Bhattamishra20
from turing.cli import main
from turing.merrill import Merrill24
from turing.precision import PrecisionError
from turing.ss import StackNetwork
from turing.stack_machine import TwoStacks

Machine = turing.TuringMachine
INCREMENT = turing.zoo["binary_increment"]
HISTORY = ["perez21", "merrill24"]


def test_states_in_the_middle_of_two_stays_have_two_names():
    rules = {("s", "_"): ("x", "_", 0), ("x", "_"): ("to x", "_", 1), ("to x", "_"): ("x′", "_", 0)}
    machine = Machine(rules | {("x′", "_"): ("h", "_", 1)}, "s", {"h"}, "_")
    net = turing.compile(machine, "perez21")
    assert net.run() == machine.run()
    assert len(set(net.form.stays.values())) == len(net.form.stays) == 2


@pytest.mark.parametrize("construction", HISTORY)
def test_names_may_have_spaces(construction):
    machine = Machine({("a b", "c"): ("a", "b c", 1), ("a", "b c"): ("h", "c", 1)}, "a b", {"h"}, "c")
    net = turing.compile(machine, construction)
    assert net.run(["c", "b c"]) == machine.run(["c", "b c"])
    assert turing.verify(net, machine, [["c", "b c"], []])


@pytest.mark.parametrize("construction", HISTORY)
def test_a_symbol_may_be_called_as_a_slice_is(construction):
    rules = {("a", "_"): ("b", "sym1", 1), ("b", "_"): ("c", "_", -1), ("c", "sym1"): ("h", "sym1", 1)}
    machine = Machine(rules, "a", {"h"}, "_")
    assert turing.verify(turing.compile(machine, construction), machine, [""])


def test_an_infinite_score_is_refused_as_uncertain():
    walk = {("S", "0"): ("A", "0", 1), ("A", "0"): ("B", "1", 1), ("B", "0"): ("A", "1", -1), ("A", "1"): ("B", "0", 1)}
    net = turing.compile(Machine(walk | {("B", "1"): ("A", "0", -1)}, "S", (), "0"), "merrill24", arithmetic="float64")
    net.run("", 20)
    with torch.no_grad():
        net.pipeline["last"].key.weight[:4, net.layout.st["S"]] = torch.tensor([-1.0, -1, 1, 1]).double() * 1.7e308
    with pytest.raises(PrecisionError, match="cannot tell column 2 from column 1"):
        net.run("", 20)


def test_a_machine_that_stays_where_the_network_does_not_is_a_divergence():
    moves, stays = (
        Machine({("a", "0"): ("b", "1", move), ("b", "0"): ("a", "1", -1)}, "a", (), "0") for move in (1, 0)
    )
    assert "at step 1 (pass 4), layer transition" in str(turing.verify(turing.compile(moves, "perez21"), stays, [""]))
    assert "at step 1 (pass 4), layer transition" in str(turing.verify(turing.compile(stays, "perez21"), moves, [""]))


@pytest.mark.parametrize("construction", HISTORY)
def test_a_network_that_is_moved_to_another_type_is_compared_in_that_type(construction):
    net = turing.compile(INCREMENT, construction, arithmetic="float64")
    fine = net.tolerance
    assert turing.verify(net.float(), INCREMENT, ["11"])
    assert net.tolerance == fine * 2**29
    assert net.double().tolerance == fine


def test_stacks_in_another_type_than_they_were_built_for_are_refused():
    net = turing.compile(INCREMENT, "bhattamishra20", arithmetic="float64").float()
    with pytest.raises(TypeError, match=r"built for float64, and its weights are of torch\.float32"):
        net.run("11")


@pytest.mark.parametrize("construction", HISTORY)
def test_hooks_fire_once_in_a_pass(construction):
    net, calls = turing.compile(INCREMENT, construction, arithmetic="float32"), []
    net.pipeline["last"].query.register_forward_hook(lambda *_: calls.append(1))
    assert net.run("1").micro_steps == len(calls)


@pytest.mark.parametrize(
    ("ask", "error", "says"),
    [
        (lambda: Merrill24("x"), TypeError, "Merrill24 takes a TuringMachine, and 'x' was given"),
        (lambda: Bhattamishra20("x"), TypeError, "Bhattamishra20 takes a TuringMachine, and 'x' was given"),
        (lambda: turing.compile(INCREMENT, "bhattamishra20", version=4.0), ValueError, "and 4.0 was given"),
        (lambda: StackNetwork(TwoStacks(INCREMENT).machine, 4.0), ValueError, "and 4.0 was given"),
        (
            lambda: turing.verify(turing.compile(INCREMENT, "perez21"), INCREMENT, ["2"]),
            ValueError,
            r"Symbol '2' \(cell 0 of the word\) is not in this machine's alphabet: 0 1 _\.",
        ),
        (
            lambda: turing.compile(INCREMENT, "bhattamishra20", arithmetic="float32").run("1" * 30),
            turing.cantor.DepthError,
            r"60 bits while it is read, and float32 holds 6 in base 16\. Use arithmetic='exact', or version=4",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_words(ask, error, says):
    with pytest.raises(error, match=says):
        ask()


@pytest.mark.parametrize(("given", "status"), [("no", 0), ("True", 0), ("maybe", 2)])
def test_the_command_line_takes_yes_and_no(given, status, capsys):
    argv = ["run", "--network", "bhattamishra20", "--positions", given, "binary_increment", "1"]
    try:
        found = main(argv)
    except SystemExit as stop:
        found = stop.code
    assert found == status
    assert ("yes or no is expected, and 'maybe' was given" in capsys.readouterr().err) == (status == 2)
