"""Plausible wrong answers to the exercises of Machines.

A function is named after its exercise, two underscores, and its fault; its docstring is what the
check must say of it.
"""

import turing


def even_ones__swaps_the_verdicts():
    """On the empty word your machine halts in F after 1 step; T was expected."""
    delta = {
        ("even", "0"): ("even", "0", 1),
        ("even", "1"): ("odd", "1", 1),
        ("even", "_"): ("F", "_", 0),
        ("odd", "0"): ("odd", "0", 1),
        ("odd", "1"): ("even", "1", 1),
        ("odd", "_"): ("T", "_", 0),
    }
    return turing.TuringMachine(delta, "even", {"T", "F"}, "_")


def even_ones__never_returns_to_even():
    """On the word '11' your machine halts in F after 3 steps; T was expected."""
    delta = {
        ("none", "0"): ("none", "0", 1),
        ("none", "1"): ("one", "1", 1),
        ("none", "_"): ("T", "_", 0),
        ("one", "0"): ("one", "0", 1),
        ("one", "1"): ("one", "1", 1),
        ("one", "_"): ("F", "_", 0),
    }
    return turing.TuringMachine(delta, "none", {"T", "F"}, "_")


def even_ones__has_no_rule_for_a_zero_after_a_one():
    """On the word '10' your machine jams at step 2 in state odd reading 0: there is no rule for (odd, 0)."""
    delta = {
        ("even", "0"): ("even", "0", 1),
        ("even", "1"): ("odd", "1", 1),
        ("even", "_"): ("T", "_", 0),
        ("odd", "1"): ("even", "1", 1),
        ("odd", "_"): ("F", "_", 0),
    }
    return turing.TuringMachine(delta, "even", {"T", "F"}, "_")


def decrement__does_not_borrow():
    """On the word '10' your machine halts after 4 steps with '11' on the tape; '01' was expected."""
    delta = {
        ("right", "0"): ("right", "0", 1),
        ("right", "1"): ("right", "1", 1),
        ("right", "_"): ("last", "_", -1),
        ("last", "0"): ("done", "1", 0),
        ("last", "1"): ("done", "0", 0),
    }
    return turing.TuringMachine(delta, "right", {"done"}, "_")


def decrement__turns_back_without_leaving_the_blank():
    """On the word '1' your machine is still running after 10,000 steps."""
    delta = {
        ("right", "0"): ("right", "0", 1),
        ("right", "1"): ("right", "1", 1),
        ("right", "_"): ("borrow", "_", 0),
        ("borrow", "_"): ("right", "_", 0),
        ("borrow", "0"): ("borrow", "1", -1),
        ("borrow", "1"): ("done", "0", 0),
    }
    return turing.TuringMachine(delta, "right", {"done"}, "_")


def as_then_bs__looks_only_at_the_order():
    """On the word 'a' your machine halts in T after 2 steps; F was expected."""
    delta = {
        ("as", "a"): ("as", "a", 1),
        ("as", "b"): ("bs", "b", 1),
        ("as", "_"): ("T", "_", 0),
        ("bs", "a"): ("F", "a", 0),
        ("bs", "b"): ("bs", "b", 1),
        ("bs", "_"): ("T", "_", 0),
    }
    return turing.TuringMachine(delta, "as", {"T", "F"}, "_")


def as_then_bs__does_not_check_whether_bs_are_left():
    """On the word 'b' your machine halts in T after 1 step; F was expected."""
    delta = {
        ("first", "a"): ("right", "_", 1),
        ("first", "b"): ("T", "b", 0),
        ("first", "_"): ("T", "_", 0),
        ("right", "a"): ("right", "a", 1),
        ("right", "b"): ("right", "b", 1),
        ("right", "_"): ("last", "_", -1),
        ("last", "a"): ("F", "a", 0),
        ("last", "b"): ("left", "_", -1),
        ("last", "_"): ("F", "_", 0),
        ("left", "a"): ("left", "a", -1),
        ("left", "b"): ("left", "b", -1),
        ("left", "_"): ("first", "_", 1),
    }
    return turing.TuringMachine(delta, "first", {"T", "F"}, "_")


def hold_a_beaver__halts_too_soon():
    """On the empty word your machine halts after 6 steps; at least 12 were expected."""
    return turing.TuringMachine.parse("1RB1LB_1LA1RZ")


def hold_a_beaver__never_halts():
    """On the empty word your machine is still running after 10,000 steps."""
    delta = {
        ("A", "0"): ("B", "1", 1),
        ("B", "0"): ("A", "1", -1),
        ("A", "1"): ("B", "1", 1),
        ("B", "1"): ("A", "1", -1),
    }
    return turing.TuringMachine(delta, "A", {"H"}, "0")


def hold_a_beaver__needs_a_fourth_state():
    """Your machine has 4 states besides the halting ones (A B C D); at most 3 are allowed."""
    return turing.TuringMachine.parse("1RB1LB_1LA0LC_1RZ1LD_1RD0RA")
