"""Plausible wrong answers to the exercises of WCM21.

A function is named after its exercise, two underscores, and its fault; its docstring is what the
check must say of it.
"""

import torch

import turing

BALANCED = turing.zoo["balanced_parentheses"]


def flags__calls_a_visited_cell_of_the_word_both():
    """For seen=1 on=1 your network gives word=1; 0 was expected."""
    return [([[1, 0], [0, 1], [-1, -1]], [0, 0, 1])]


def flags__calls_every_cell_off_the_word_blank():
    """For seen=1 on=0 your network gives blank=1; 0 was expected."""
    return [([[1, 0], [-1, 1], [0, -1]], [0, 0, 1])]


def flags__takes_two_layers():
    """2 layers are used, at most 1 is allowed."""
    return ([[1, 0], [0, 1]], [0, 0]), ([[1, 0], [-1, 1], [-1, -1]], [0, 0, 1])


def changed_rule__leaves_the_old_state_on():
    """For word=B(E at step 4 layer transition gives st[F] = 1; 0 was expected."""
    net, W2, fires = _transition()
    W2[net.layout.st["T"], fires] = 1
    return net


def changed_rule__removes_the_old_state_from_every_rule():
    """For word=B)E at step 3 layer transition gives st[F] = 0; 1 was expected."""
    net, W2, fires = _transition()
    W2[net.layout.st["F"]] = 0
    W2[net.layout.st["T"], fires] = 1
    return net


def changed_rule__compiles_the_other_machine():
    """This network was compiled from other rules. Compile the old ones, and change its numbers."""
    delta = {**BALANCED.delta, ("V", "("): ("T", "*", -1)}
    machine = turing.TuringMachine(delta, BALANCED.initial, BALANCED.halting, BALANCED.blank)
    return turing.compile(machine, "wcm21", T=100)


def changed_rule__returns_the_machine():
    """Your function returned an object of type TuringMachine. Return a network"""
    return BALANCED


def _transition():
    net = turing.compile(BALANCED, "wcm21", T=100)
    transition = net.pipeline["transition"]
    return net, transition[1].weight.data, transition.layouts[1].det["V ("]


def short_assembly__prefers_the_word():
    """For word=B()E at step 4 your layers give sym1[)] = 1; 0 was expected."""

    def change(W, b, layout):
        visited, blank, first = layout.scr4["visited"], layout.scr4["blank"], list(layout.scr2)
        for last in layout.scr1:
            W[last, visited], W[last, first], b[last] = 1, -1, -1
        W[blank, [visited, *first]], b[blank] = -1, 1

    return _assembly(change)


def short_assembly__adds_both_symbols():
    """For word=BE at step 1 your layers give sym1[B] = 1; 0 was expected."""

    def change(W, b, layout):
        W[layout.scr4["blank"], [layout.scr4["visited"], *layout.scr2]], b[layout.scr4["blank"]] = -1, 1

    return _assembly(change)


def short_assembly__is_the_three_layers():
    """3 layers are used, at most 2 are allowed."""
    net = turing.compile(BALANCED, "wcm21", T=100)
    return [(layer.weight, layer.bias) for layer in (net.pipeline[name] for name in ("v", "arrange", "combine"))]


def short_assembly__forgets_the_blank():
    """For word=B)E at step 3 your layers give sym1[E] = 0; 1 was expected."""

    def change(W, b, layout):
        visited = layout.scr4["visited"]
        W[list(layout.scr1), visited], b[layout.scr1.slice] = 1, -1
        W[list(layout.scr2), visited] = -1

    return _assembly(change)


def _assembly(change):
    net = turing.compile(BALANCED, "wcm21", T=100)
    W, b = torch.eye(net.layout.width), torch.zeros(net.layout.width)
    change(W, b, net.layout)
    combine = net.pipeline["combine"]
    return (W, b), (combine.weight, combine.bias)


def enough_bits__is_always_enough():
    """For machine=balanced_parentheses word='B()E' steps=128 your function gives 8; 7 was expected."""
    return lambda machine, word, steps: (max(len(word), 1) + steps - 1).bit_length()


def enough_bits__forgets_the_word():
    """For machine=left word='xxx' steps=14 your function gives 4; 5 was expected."""
    return lambda machine, word, steps: _bits(machine, word[:1], steps)


def enough_bits__forgets_the_step_numbers():
    """For machine=balanced_parentheses word='B()E' steps=100 your function gives 2; 7 was expected."""

    def least(machine, word, steps):
        return max(1, (_cells(machine, word, steps) - 1).bit_length())

    return least


def enough_bits__is_one_bit_short_at_a_power_of_two():
    """For machine=right word='x' steps=16 your function gives 4; 5 was expected."""
    return lambda machine, word, steps: max(1, (steps - 1).bit_length())


def enough_bits__gives_a_number():
    """Your function returned an object of type int. Return a function of a machine, a word and a number of steps."""
    return 7


def _cells(machine, word, steps):
    heads = [now.head for now in machine.trace(word, steps)]
    return max(*heads, len(word) - 1) - min(heads) + 1


def _bits(machine, word, steps):
    return max(1, (steps - 1).bit_length(), (_cells(machine, word, steps) - 1).bit_length())


def own_machine__is_compiled_for_too_few_steps():
    """For word=aabb your network is still running after its T = 16 steps."""
    return turing.compile(_pairs(), "wcm21", T=16)


def own_machine__has_too_few_position_bits():
    """For word=aa your network stops with CapacityError: At step 2 the head comes to cell 2"""
    return turing.compile(_pairs(), "wcm21", T=2)


def own_machine__expects_the_a_first():
    """For word=ba your network halts in F after 1 step; T was expected."""
    delta = _pairs().delta | {("start", "b"): ("F", "b", 0)}
    return turing.compile(turing.TuringMachine(delta, "start", {"T", "F"}, "_"), "wcm21", T=64)


def own_machine__is_not_compiled():
    """Your function returned an object of type TuringMachine. Return a network"""
    return _pairs()


def _pairs():
    delta = {
        ("start", "x"): ("start", "x", 1),
        ("start", "a"): ("want b", "x", 1),
        ("start", "b"): ("want a", "x", 1),
        ("start", "_"): ("T", "_", 0),
        ("back", "_"): ("start", "_", 1),
    }
    for want, other in ("ab", "ba"):
        delta |= {(f"want {want}", symbol): (f"want {want}", symbol, 1) for symbol in (other, "x")}
        delta[f"want {want}", want] = ("back", "x", -1)
        delta[f"want {want}", "_"] = ("F", "_", 0)
    delta |= {("back", symbol): ("back", symbol, -1) for symbol in "abx"}
    return turing.TuringMachine(delta, "start", {"T", "F"}, "_")


def step_of(ones_and_zeros, position="pos3"):
    """A step whose scr1, scr2 and blank ask for other flags: how many should be 1, how many should be 0."""

    def step(gate, x, y, blank):
        W1, b1 = [[0] * x.width] * y.width, [0] * y.width
        W2 = [[0] * y.width for _ in range(x.width)]
        copies = [("st", "st", "st"), ("sym2", "sym2", "sym2"), ("scr5", "scr5", "scr5"), (position, "pos2", "pos2")]
        neurons = [
            (new, [old], [], target)
            for source, name, goal in copies
            for old, new, target in zip(x[source], y[name], x[goal], strict=True)
        ]
        for found, name in ((x.scr1, "scr1"), (x.scr2, "scr2")):
            ones, zeros = ones_and_zeros[name]
            flags = [[x.scr4["visited"]] * wanted for wanted in (ones, zeros)]
            neurons += [
                (new, [old, *flags[0]], flags[1], target)
                for old, new, target in zip(found, y[name], x.sym1, strict=True)
            ]
        visited = [x.scr4["visited"]] * ones_and_zeros["blank"]
        neurons.append((y.blank[0], [], [*visited, *x.scr2], x.sym1[blank]))
        for row, ones, zeros, target in neurons:
            W1[row], b1[row] = gate(ones, zeros, x.width)
            W2[target][row] = 1
        return (W1, b1), (W2, [0] * x.width)

    return step


RIGHT_STEP = {"scr1": (1, 0), "scr2": (0, 1), "blank": 1}


def own_network__reads_the_word_on_a_visited_cell():
    """For word=BE at step 2 layer choose gives scr2[B] = 1; 0 was expected."""
    return None, None, None, None, step_of({**RIGHT_STEP, "scr2": (0, 0)})


def own_network__keeps_the_old_position():
    """For word=BE at step 1 layer choose gives pos2[0] = 0; 1 was expected."""
    return None, None, None, None, step_of(RIGHT_STEP, position="pos2")


def own_network__has_a_gate_that_is_an_or():
    """Your gate is not right yet. For width=1 ones=none zeros=0 and the bits 0 your gate gives 0; 1 was expected."""
    gate = lambda ones, zeros, width: ([int(place in ones) for place in range(width)], 0)  # noqa: E731
    return gate, None, None, None, step_of(RIGHT_STEP)


def own_network__has_no_step():
    """Your step is None. It is the part that this chapter adds: return a function of gate, x, y and blank."""
    return None, None, None, None, None
