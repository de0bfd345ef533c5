"""Plausible wrong answers to the exercises of SS95.

A function is named after its exercise, two underscores, and its fault; its docstring is what the
check must say of it.
"""

import turing


def gated_stack__adds_its_own_and_subtracts_one():
    """For do=noop stack=000000000000 in float32 its neuron gives 0.3333332539; 0.3333333135 was expected."""
    own = [[1, 0, 0, 1, 0, 0, 0], [0.25, 0, 0, 0, 1, 0, 0], [0.25, 0, 0, 0, 0, 1, 0], [4, -1, -2, 0, 0, 0, 1]]
    return [(own, [-1, 0.25 - 1, 0.75 - 1, -1])]


def gated_stack__forgets_to_switch_off():
    """For do=noop stack=empty the neuron of push0 gives 1/4; 0 was expected."""
    rows = [[1, 0, 0, 0, 0, 0, 0], [0.25, 0, 0, 0, 0, 0, 0], [0.25, 0, 0, 0, 0, 0, 0], [4, -1, -2, 0, 0, 0, 0]]
    return [(rows, [0, 0.25, 0.75, 0])]


def gated_stack__adds_the_digit_undivided():
    """For do=noop stack=empty the neuron of push1 gives 1; 0 was expected."""
    return _gates(b=[0, 1, 3, 0])


def gated_stack__pops_a_1_as_if_it_were_a_0():
    """For do=noop stack=1 the neuron of pop gives 1; 0 was expected."""
    return _gates(pop=[4, -1, 0, -1, -1, -1, 0])


def gated_stack__lacks_a_row():
    """W has 3 rows and 7 columns; 4 and 7 were expected."""
    ((W, b),) = _gates()
    return [(W[:3], b[:3])]


def _gates(pop=(4, -1, -2, -1, -1, -1, 0), b=(0, 0.25, 0.75, 0)):
    W = [[1, 0, 0, 0, -1, -1, -1], [0.25, 0, 0, -1, 0, -1, -1], [0.25, 0, 0, -1, -1, 0, -1], list(pop)]
    return [(W, list(b))]


def as_many__expects_the_a_first():
    """For word=ba your machine halts in F after 1 step; T was expected."""
    rules = {
        ("go", "a", "*"): ("go", "pop", "push a"),
        ("go", "b", "a"): ("go", "pop", "pop"),
        ("go", "b", None): ("F", "noop", "noop"),
    }
    return _machine(rules | _ends("F"))


def as_many__does_not_look_at_what_is_left():
    """For word=a your machine halts in T after 2 steps; F was expected."""
    return _machine(_pairs() | _ends("T"))


def as_many__has_a_third_stack():
    """Your machine has 3 stacks; 2 were asked for."""
    rules = {(*key, "*"): (*value, "noop") for key, value in (_pairs() | _ends("F")).items()}
    return _machine(rules)


def as_many__runs_for_ever():
    """For the empty word your machine is still running after 1,000 steps."""
    return _machine(_pairs() | {("go", None, "*"): ("go", "noop", "noop")})


def _pairs():
    rules = {}
    for letter, other in ("ab", "ba"):
        rules["go", letter, other] = ("go", "pop", "pop")
        rules["go", letter, "*"] = ("go", "pop", f"push {letter}")
    return rules


def _ends(left_over):
    return {("go", None, "*"): (left_over, "noop", "noop"), ("go", None, None): ("T", "noop", "noop")}


def _machine(rules):
    return turing.stack_machine.StackMachine(rules, "go", {"T", "F"})


def micro_steps__forgets_that_a_stay_is_short():
    """For machine=palindromes word='abba' your function gives 30; 29 was expected."""
    return lambda machine, word: machine.run(word).steps * _bits(machine)


def micro_steps__counts_the_bits_of_the_alphabet_itself():
    """For machine=bb4 word='' your function gives 214; 107 was expected."""
    return lambda machine, word: machine.run(word).steps * len(machine.symbols).bit_length()


def micro_steps__has_no_bit_for_a_single_symbol():
    """For machine=one_symbol word='' your function gives 1; 2 was expected."""

    def passes(machine, word):
        moves = [machine.delta[now.state, now.symbol][2] for now in list(machine.trace(word))[:-1]]
        return sum((len(machine.symbols) - 1).bit_length() if move else 1 for move in moves)

    return passes


def micro_steps__is_a_number():
    """Return a function of a machine and a word; 243 was returned."""
    return 243


def _bits(machine):
    return max(1, (len(machine.symbols) - 1).bit_length())
