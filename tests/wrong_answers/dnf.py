"""Plausible wrong answers to the exercises of DNF.

A function is named after its exercise, two underscores, and its fault; its docstring is what the
check must say of it.
"""

import turing


def one_of_three__ignores_the_others():
    """For a=0 b=1 c=1 your network gives out=2; 0 was expected."""
    return ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 0]), ([[1, 1, 1]], [0])


def one_of_three__takes_all_three_for_one():
    """For a=1 b=1 c=1 your network gives out=1; 0 was expected."""
    return ([[1, 1, 1], [1, 1, 1], [1, 1, 1]], [0, -1, -2]), ([[1, -2, 2]], [0])


def one_of_three__takes_an_or_of_exclusive_clauses():
    """3 layers are used, at most 2 are allowed."""
    return (
        ([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]], [0, 0, 0]),
        ([[-1, -1, -1]], [1]),
        ([[-1]], [1]),
    )


def exclusive_majority__overlaps():
    """For a=1 b=1 c=1 the clauses 11- and 1-1 are both true; exactly one may be."""
    return ["11-", "1-1", "-11"]


def exclusive_majority__forgets_a_pair():
    """For a=0 b=1 c=1 no clause is true; 1 was expected."""
    return ["11-", "101"]


def exclusive_majority__has_a_clause_for_every_row():
    """4 clauses are used, at most 3 are allowed."""
    return ["110", "101", "011", "111"]


def exclusive_majority__has_one_dash_too_many():
    """For a=0 b=0 c=1 the clause -01 is true; 0 was expected."""
    return ["11-", "-01", "011"]


def comparator__looks_at_the_high_bits_only():
    """For a1=0 a0=1 b1=0 b0=0 your network gives out=0; 1 was expected."""
    return ([[1, 0, -1, 0]], [0]), ([[1]], [0])


def comparator__adds_clauses_that_overlap():
    """For a1=1 a0=1 b1=0 b0=0 your network gives out=3; 1 was expected."""
    return ([[1, 0, -1, 0], [0, 1, -1, -1], [1, 1, 0, -1]], [0, 0, -1]), ([[1, 1, 1]], [0])


def comparator__takes_equal_for_greater():
    """For a1=0 a0=0 b1=0 b0=0 your network gives out=1; 0 was expected."""
    return ([[-2, -1, 2, 1]], [0]), ([[-1]], [1])


DETECTORS = [[1, 0, 1, 0, 0], [1, 0, 0, 1, 0], [1, 0, 0, 0, 1]]
FLIPS = [[0, 1, 1], [1, 0, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 0, 0]]


def flip_delta__writes_what_it_reads():
    """For st=go sym=0 your network gives sym[0]=1 sym[1]=0; sym[0]=0 sym[1]=1 was expected."""
    copies = [[0, 1, 1], [1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1], [0, 0, 0]]
    return (DETECTORS, [-1, -1, -1]), (copies, [0] * 7)


def flip_delta__fires_when_halted():
    """For st=halt sym=_ your network gives st[halt]=1 sym[_]=1; st[halt]=0 sym[_]=0 was expected."""
    symbols = [[0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]]
    return (symbols, [0, 0, 0]), (FLIPS, [0] * 7)


def flip_delta__moves_on_the_blank():
    """For st=go sym=_ your network gives R=1; 0 was expected."""
    moves = [*FLIPS[:5], [1, 1, 1], [0, 0, 0]]
    return (DETECTORS, [-1, -1, -1]), (moves, [0] * 7)


def there_and_back():
    """A machine to be wrong about, its detectors, and the columns of its rules."""
    delta = {("A", "0"): ("B", "1", 1), ("A", "1"): ("A", "1", -1), ("B", "0"): ("A", "0", 0)}
    pairs = [[1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0]]
    answers = [[0, 1, 1], [1, 0, 0], [0, 0, 1], [1, 1, 0], [1, 0, 0], [0, 1, 0]]
    return turing.TuringMachine(delta, "A", (), "0"), pairs, answers


def own_delta__fires_on_one_of_the_two():
    """For st=A sym=0 your network gives st[A]=2 st[B]=2 sym[0]=1 sym[1]=3 R=2 L=1;"""
    machine, pairs, answers = there_and_back()
    return machine, (pairs, [0, 0, 0]), (answers, [0] * 6)


def own_delta__takes_a_stay_for_a_move():
    """For st=B sym=0 your network gives R=1; 0 was expected."""
    machine, pairs, answers = there_and_back()
    return machine, (pairs, [-1, -1, -1]), ([*answers[:4], [1, 0, 1], [0, 1, 0]], [0] * 6)


def own_delta__has_the_rules_as_rows():
    """Layer 2 has 6 columns, and layer 1 gives 3 numbers."""
    machine, pairs, answers = there_and_back()
    return machine, (pairs, [-1, -1, -1]), (list(zip(*answers, strict=True)), [0] * 3)


def own_delta__stops_after_two_rules():
    """At least 2 states that do not halt, 2 symbols and 3 rules were asked for; your machine has 2, 2 and 2."""
    machine = turing.TuringMachine({("A", "0"): ("B", "1", 1), ("B", "1"): ("A", "0", 1)}, "A", (), "0")
    pairs, answers = [[1, 0, 1, 0], [0, 1, 0, 1]], [[0, 1], [1, 0], [0, 1], [1, 0], [1, 1], [0, 0]]
    return machine, (pairs, [-1, -1]), (answers, [0] * 6)


def own_delta__forgets_the_machine():
    """Return the machine first, and then its layers: machine, (W1, b1), (W2, b2)."""
    _, pairs, answers = there_and_back()
    return (pairs, [-1, -1, -1]), (answers, [0] * 6)


def transition_of(rules):
    """A transition as it should be, but with other rules."""

    def transition(gate, machine):
        places = [*machine.states, *machine.symbols]
        pairs = [(q, a) for q in machine.states for a in machine.symbols]
        first = [gate([machine.states.index(q), len(machine.states) + machine.symbols.index(a)], [], len(places))
                 for q, a in pairs]  # fmt: skip
        said = [rules(machine, pair) for pair in pairs]
        second = [[int(name in part) for part in said] for name in range(len(places) + 2)]
        return ([list(weights) for weights, _ in first], [bias for _, bias in first]), (second, [0] * len(second))

    return transition


def own_transition__mixes_up_right_and_left():
    """For machine=balanced_parentheses st=I sym1=B layer 2 gives scr5[R] = 0; 1 was expected."""

    def rules(machine, pair):
        if pair not in machine.delta:
            return []
        target, written, move = machine.delta[pair]
        n = len(machine.states)
        side = {1: [n + len(machine.symbols) + 1], -1: [n + len(machine.symbols)], 0: []}[move]
        return [machine.states.index(target), n + machine.symbols.index(written), *side]

    return transition_of(rules)


def own_transition__keeps_the_symbol():
    """For machine=balanced_parentheses st=R sym1=) layer 2 gives sym2[)] = 1; 0 was expected."""

    def rules(machine, pair):
        if pair not in machine.delta:
            return []
        target, _, move = machine.delta[pair]
        n = len(machine.states)
        side = {1: [n + len(machine.symbols)], -1: [n + len(machine.symbols) + 1], 0: []}[move]
        return [machine.states.index(target), n + machine.symbols.index(pair[1]), *side]

    return transition_of(rules)


def own_transition__has_a_detector_for_each_rule_alone():
    """Layer 1 of your transition reads 11 and gives 11 numbers; it should read 11 and give 30."""

    def transition(gate, machine):
        rows = [gate([machine.states.index(q), len(machine.states) + machine.symbols.index(a)], [], 11)
                for q, a in machine.delta]  # fmt: skip
        zeros = [[0] * len(rows) for _ in range(13)]
        return ([list(weights) for weights, _ in rows], [bias for _, bias in rows]), (zeros, [0] * 13)

    return transition
