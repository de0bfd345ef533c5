"""Circuits gate by gate: the circuits themselves, the transformer that evaluates them, and machines as tableaux."""

import re
from collections import Counter
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from long_runs import PARENTHESES, STAYS
from machines import machines_and_words, walker

import turing
from turing.adders import FullAdder, HalfAdder, LookaheadAdder, MoveAdder, RippleCarryAdder, bits_of
from turing.circuits import Circuit, GateByGate, Li24, Tableau
from turing.circuits.circuit import KINDS, ONE
from turing.machine import TuringMachine
from turing.zoo import NAMES, zoo

torch.set_num_threads(1)  # on small matrices threads wait for each other
slow = pytest.mark.slow
FULL_ADDER = {
    "n1": ("NAND", "a", "b"), "n2": ("NAND", "a", "n1"), "n3": ("NAND", "b", "n1"), "x": ("NAND", "n2", "n3"),
    "n4": ("NAND", "x", "c"), "n5": ("NAND", "x", "n4"), "n6": ("NAND", "c", "n4"),
    "sum": ("NAND", "n5", "n6"), "carry": ("NAND", "n1", "n4"),
}  # fmt: skip


def words_of_bits(n):
    return ["".join(bits) for bits in product("01", repeat=n)]


def generated(network, words, dtype=None):
    """The tokens of each word, every number inside the network having been 0 or 1, exactly."""
    network, passes = network.to(dtype or network.positions.dtype), 0
    tokens = [network.bits(word) for word in words]
    with torch.no_grad():
        for vectors in network._vectors(words, len(network.circuit.gates)):
            passes += 1
            for vector in vectors.values():
                assert ((vector == 0) | (vector == 1)).all()
            for row, token in zip(tokens, vectors["choose"][:, 1].int().tolist(), strict=True):
                row.append(token)
    assert passes == len(network.circuit.gates)
    return tokens


def fitted(machine, word, steps):
    """The tableau that a run needs: its steps, and the cells of its word and of its head."""
    heads = [now.head for now in machine.trace(word, steps)]
    left = -min(heads)
    return {"T": max(len(heads) - 1, 1), "left": left, "cells": left + max(*heads, len(word) - 1, 0) + 1}


def traced(circuit, tokens, machine, word, steps):
    """Compare what is on every cell after every step with the machine's trace; how many configurations there were."""

    def true(content):
        return [name for name, wire in content.items() if wire == ONE or (wire >= 0 and tokens[wire])]

    done = 0
    for now in machine.trace(word, min(steps, circuit.T)):
        heads = {cell: states for cell, content in circuit.heads[now.step].items() if (states := true(content))}
        assert heads == {now.head: [now.state]}, now.step
        for cell, content in circuit.symbols[now.step].items():
            assert true(content) == [now.cells.get(cell, machine.blank)], (now.step, cell)
        done += 1
    return done


# A machine, against the oracle.


@pytest.mark.parametrize(
    ("length", "limits", "most"), [(6, (8, 16, 33), 3_000), pytest.param(10, (77,), 20_000, marks=slow)]
)
def test_every_word_of_parentheses_is_traced_as_the_machine_does(length, limits, most):
    """Every word up to length 6, one circuit for all that take as many steps; of length 10, every 37th."""
    every = [f"B{''.join(word)}E" for n in range(length + 1) for word in product("()", repeat=n)]
    every, done, total = every if length == 6 else every[-1024::37], 0, 0
    steps = {word: PARENTHESES.run(word).steps for word in every}
    for least, T in zip((-1, *limits), limits, strict=False):
        words = [word for word in every if least < steps[word] <= T]
        network = turing.compile(PARENTHESES, "li24", T=T, cells=length + 4)
        assert len(network.circuit.gates) <= most
        runs = network.run_batch(words[::8])
        assert runs == [PARENTHESES.run(word) for word in words[::8]]
        assert [run.micro_steps for run in runs] == [network.circuit.ends[run.steps] for run in runs]
        for word, tokens in zip(words, generated(network, words), strict=True):
            total += traced(network.circuit, tokens, PARENTHESES, word, T)
        done += len(words)
        print(f"T = {T}: {len(words)} words, {network.circuit}")
    assert done == len(every) >= 27
    assert total == sum(steps.values()) + done


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_other_floats_give_the_same_tokens(dtype):
    network = turing.compile(PARENTHESES, "li24", T=19, cells=8)
    words = [f"B{''.join(word)}E" for n in (0, 2) for word in product("()", repeat=n)]
    right = [network.circuit.values(network.bits(word)) for word in words]
    assert generated(network, words, dtype) == right


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("steps", "most"), [(8, 600), pytest.param(200, 20_000, marks=slow)])
def test_a_machine_of_the_zoo_is_traced_on_its_samples(name, steps, most):
    """Cut at so many steps; where the circuit is too large for that, at half as many, until it has 3,000 gates."""
    machine, tried = zoo[name], 0
    for sample in zoo.entry(name).samples:
        cut, room = steps, most
        while len(Tableau(machine, **fitted(machine, sample.word, cut)).gates) > room and cut > 1:
            cut, room = cut // 2, min(most, 3_000)
        network = turing.compile(machine, "li24", **fitted(machine, sample.word, cut))
        if len(network.circuit.gates) <= room:
            (tokens,) = generated(network, [sample.word])
            tried += traced(network.circuit, tokens, machine, sample.word, cut)
    print(f"{name}: {tried} configurations")
    assert tried > 1


@pytest.mark.parametrize("examples", [6, pytest.param(200, marks=slow)])
def test_random_machines_are_traced_on_random_words(examples):
    tried = Counter()

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(machines_and_words(words=2, longest=4, most_states=4, most_symbols=4))
    def compare(machine_and_words):
        machine, words = machine_and_words
        both = [fitted(machine, word, 12) for word in words]
        left = max(one["left"] for one in both)
        cells = left + max(one["cells"] - one["left"] for one in both)
        network = turing.compile(machine, "li24", T=12, cells=cells, left=left)
        for word, tokens in zip(words, generated(network, words), strict=True):
            tried["configurations"] += traced(network.circuit, tokens, machine, word, 12)
        assert network.run(words[0]) == machine.run(words[0], 12)
        tried["machines"] += 1
        tried["machines with all three moves"] += len({move for _, _, move in machine.delta.values()}) == 3

    compare()
    print(dict(tried))
    assert tried["machines"] >= examples
    assert tried["machines with all three moves"] >= examples // 3


def test_every_number_is_the_one_that_the_specification_gives():
    for machine, words in ((PARENTHESES, ["B()E", "B)E", "BE"]), (STAYS, ["", "1"]), (zoo["bb2"], [""])):
        report = turing.verify(turing.compile(machine, "li24", T=9, cells=8, left=3), machine, words)
        assert report
        assert report.passes > report.steps


def test_the_trace_of_a_run_is_the_machines_and_a_step_takes_the_tokens_of_its_gates():
    network = Li24(PARENTHESES, T=9, cells=6)
    assert list(network.trace("B()E")) == list(PARENTHESES.trace("B()E"))
    run = network.run("B)E")
    assert run == PARENTHESES.run("B)E")
    assert (run.head, run.steps, run.micro_steps) == (-1, 3, network.circuit.ends[3])
    assert all(one < other for one, other in zip(network.circuit.ends, network.circuit.ends[1:], strict=False))


def test_without_cells_the_head_never_leaves_them():
    network = turing.compile(zoo["bb3"], "li24", T=8)
    assert network.run("") == zoo["bb3"].run("", 8)
    assert network.options == {"T": 8, "cells": 17, "left": 8, "kappa": 9999.0}


def test_gates_grow_with_steps_times_cells(capsys):
    rows = []
    for n in range(1, 6):
        word = f"B{'(' * n}{')' * n}E"
        t, s = PARENTHESES.run(word).steps, len(word) + 2
        rows.append((word, t, s, len(Tableau(PARENTHESES, t, s).gates)))
    with capsys.disabled():
        print()
        for word, t, s, gates in rows:
            print(
                f"    {word:14} t = {t:3}, s = {s:2}, t·s = {t * s:5,}, {gates:6,} gates, {gates / t / s:.1f} for each"
            )
    assert [gates for *_, gates in rows] == [327, 1_128, 2_741, 5_454, 9_555]
    assert all(6 <= gates / t / s <= 10 for _, t, s, gates in rows)


# Circuits.


def test_a_full_adder_is_twelve_tokens():
    circuit = Circuit("a b c", FULL_ADDER, ["sum", "carry"])
    assert (circuit.tokens, {kind for kind, *_ in circuit.gates}) == (12, {"NAND"})
    network = GateByGate(circuit)
    for word in words_of_bits(3):
        total = word.count("1")
        assert network.evaluate(word) == circuit.evaluate(word) == {"sum": total % 2, "carry": total // 2}


def test_every_function_of_three_variables_is_evaluated():
    words, gates = words_of_bits(3), 0
    for number in range(256):
        table = [number >> k & 1 for k in range(8)]
        circuit = Circuit.of_table(table)
        assert [circuit.evaluate(word)["out"] for word in words] == table
        tokens = generated(GateByGate(circuit), words)
        assert [row[circuit.outputs["out"]] for row in tokens] == table
        assert tokens == [circuit.values(word) for word in words]
        gates = max(gates, len(circuit.gates))
    assert gates == 5


@pytest.mark.parametrize(
    "adder", [RippleCarryAdder(4), MoveAdder(4), LookaheadAdder(4), HalfAdder(2, 0, 1), FullAdder(3, 0, 1, 2)]
)
def test_an_adder_of_chapter_3_is_evaluated_on_all_operands(adder):
    circuit = Circuit.of_network(adder)
    words = words_of_bits(len(circuit.inputs))
    if "right" in circuit.inputs:
        words = [word for word in words if word[-2:] != "11"]  # not both directions at once
    right = adder(torch.tensor([[float(bit) for bit in word] for word in words])).int().tolist()
    for word, tokens, values in zip(words, generated(GateByGate(circuit), words), right, strict=True):
        assert [tokens[wire] for wire in circuit.outputs.values()] == values, word
    print(f"{adder.__class__.__name__}: {circuit}, {len(words)} inputs")


def test_the_sums_of_four_bits_are_sums():
    network = GateByGate(Circuit.of_network(RippleCarryAdder(4)))
    for a, b in product((0, 5, 11, 15), repeat=2):
        word = [int(bit) for number in (a, b) for bit in bits_of(number, 4)] + [0]
        found = network.evaluate(word)
        assert sum(found[f"a[{k}]"] << k for k in range(4)) + 16 * found["carry"] == a + b


def test_a_multiplexer_is_an_expression():
    circuit = Circuit.of_expression("s & b | ~s & a", "s a b")
    network = GateByGate(circuit)
    for s, a, b in product((0, 1), repeat=3):
        assert network.evaluate({"a": a, "b": b, "s": s})["out"] == (b if s else a)


@pytest.mark.parametrize("text", ["a", "~a", "a & ~a", "a | 1", "a ^ b ^ a", "(a and not b) or (b and not a)"])
def test_an_expression_that_folds_is_evaluated(text):
    circuit = Circuit.of_expression(text, "a b")
    for word in words_of_bits(2):
        a, b = map(int, word)
        right = eval(text.replace("~", "1 ^ "), {"a": a, "b": b})
        assert GateByGate(circuit).evaluate(word)["out"] == circuit.evaluate(word)["out"] == int(right) & 1


def test_every_kind_of_gate_is_evaluated():
    circuit = Circuit("a b", {kind.lower(): (kind, "a", "b") for kind in KINDS} | {"not": ("NOT", "a")})
    for k, (a, b) in enumerate(product((0, 1), repeat=2)):
        found = GateByGate(circuit).evaluate([a, b])
        assert found == {kind.lower(): table[k] for kind, table in KINDS.items()} | {"not": 1 - a}


def test_gates_may_be_given_in_any_order_and_keep_theirs_where_it_works():
    turned = Circuit("a b c", dict(reversed(FULL_ADDER.items())), ["sum", "carry"])
    kept = Circuit("a b c", FULL_ADDER)
    assert [kept.name(wire) for wire in range(12)] == ["a", "b", "c", *FULL_ADDER]
    assert list(kept.outputs) == ["sum", "carry"]
    for word in words_of_bits(3):
        assert turned.evaluate(word) == kept.evaluate(word)


def test_the_depth_is_the_longest_way():
    assert Circuit("a b c", FULL_ADDER).depth == 6
    assert Circuit("a", {"n": ("NOT", "a")}).depth == 1


def test_only_the_table_of_positions_depends_on_the_circuit():
    one, other = (GateByGate(Circuit.of_expression(text)) for text in ("a ^ b", "a & b"))
    for (name, mine), (_, theirs) in zip(one.named_parameters(), other.named_parameters(), strict=True):
        assert torch.equal(mine, theirs) == (name != "positions")


def test_the_wires_of_a_tableau_say_what_they_are():
    circuit = Tableau(PARENTHESES, 9, 6)
    names = [circuit.name(wire) for wire in range(circuit.tokens)]
    assert names[0] == "0[0]"
    assert any(name.startswith("st[R] of cell") and name.endswith("after step 5") for name in names)
    assert "sym[(] of cell 1 after step 0" in names
    assert set(circuit.outputs.values()) <= set(range(circuit.tokens))
    final = circuit.evaluate(circuit.word("B()E"))
    assert [name for name, value in final.items() if value and name.startswith("st")] == ["st[T] of cell 1"]


# Attention.


@pytest.mark.parametrize(("dtype", "least"), [(torch.float32, 104), (torch.float64, 746), (torch.bfloat16, 93)])
def test_attention_is_one_hot_from_the_least_kappa_on_and_the_network_says_so(dtype, least):
    circuit = Circuit("a b c", FULL_ADDER)
    network = GateByGate(circuit, kappa=least).to(dtype)
    assert generated(network, words_of_bits(3)) == [circuit.values(word) for word in words_of_bits(3)]
    state = network.step(network.start(["101"]))
    for name, pattern in network._patterns(state).items():
        assert sorted(pattern.tolist()) == [0, 0, 1], name
    with pytest.raises(ValueError, match=rf"κ = {least - 1} is too small for {dtype}: .* Take κ = {least} or more"):
        GateByGate(circuit, kappa=least - 1).to(dtype).tokens(["101"])


def test_with_a_small_kappa_tokens_are_wrong():
    circuit = Circuit("a b c", FULL_ADDER)
    network = GateByGate(circuit, kappa=0.5)
    network.check = lambda: None
    assert network.tokens(words_of_bits(3)).tolist() != [circuit.values(word) for word in words_of_bits(3)]


# Damage and bad input.


def test_damage_is_found_with_step_layer_and_slice():
    network = Li24(PARENTHESES, T=9, cells=6)
    with torch.no_grad():
        network.pipeline["gate"][0].bias[network.pipeline["gate"].layouts[1].line["OR 01"]] = -2
    first = turing.verify(network, PARENTHESES, ["B()E"]).divergences[0]
    assert (first.layer, first.slice) == ("gate", "out")
    network = Li24(PARENTHESES, T=9, cells=6)
    with torch.no_grad():
        network.positions[40, network.layout.pos2[0]] += 1
    first = turing.verify(network, PARENTHESES, ["B()E"]).divergences[0]
    assert (first.layer, first.slice, first.number) == ("first", "pos2", 40 - 13)


def test_another_machine_with_the_same_names_is_told_apart():
    changed = TuringMachine({**PARENTHESES.delta, ("R", "("): ("R", "*", 1)}, "I", {"T", "F"}, "E")
    assert not turing.verify(Li24(PARENTHESES, T=9, cells=6), changed, ["B()E"])


def test_a_circuit_that_is_none_is_refused():
    for make, message in (
        (lambda: Circuit("a", {"x": ("AND", "a", "y"), "y": ("NOT", "x")}), r"cycle: (x → y → x|y → x → y)\."),
        (lambda: Circuit("a", {"x": ("AND", "a", "b")}), r"Gate 'x' reads 'b', which is neither .* Inputs: a\."),
        (lambda: Circuit("a", {"x": ("MAJ", "a", "a")}), r"A gate is one of NOT AND OR .*, and gate 'x' .* 'MAJ'\."),
        (lambda: Circuit("a", {"x": ("AND", "a")}), r"Gate 'x' is given as \('AND', 'a'\), and AND has 2 inputs\."),
        (lambda: Circuit("a a", {}), "Two wires of this circuit have the name 'a'"),
        (lambda: Circuit("", {}), "at least one input"),
        (lambda: Circuit("a", {}, ["x"]), "The output 'x' is not a wire of this circuit. Its wires: a"),
        (lambda: Circuit.of_table("011"), "2, 4, 8, …, and this one has 3 rows"),
        (lambda: Circuit.of_table("0112"), "A value of a truth table is 0 or 1, and '2' was given"),
        (lambda: Circuit.of_expression("a & b", "a"), "has the variable b, and the inputs are a"),
    ):
        with pytest.raises(ValueError, match=message):
            make()


def test_a_token_that_is_not_in_the_vocabulary_is_refused():
    network = GateByGate(Circuit("a b", {"x": ("XOR", "a", "b")}))
    for word, message in (
        ("12", "A token is 0 or 1, and '2' was given"),
        ([0, 0.5], "A token is 0 or 1, and 0.5 was given"),
        ("0", "2 inputs, a b, and was given 1 token"),
        ({"a": 1}, "The inputs of this circuit are a b, and values for a were given"),
    ):
        with pytest.raises(ValueError, match=message):
            network.evaluate(word)
    with pytest.raises(ValueError, match=re.escape("A list of words is expected")):
        network.tokens("01")
    with pytest.raises(ValueError, match="A list of words is expected, and None was given"):
        network.tokens(None)
    for ask in (lambda: network.run("01"), lambda: network.activations("01", 1), lambda: network.patterns("01", 1)):
        with pytest.raises(TypeError, match="there is no machine to be run"):
            ask()
    with pytest.raises(TypeError, match="A Circuit is evaluated here, and 'a & b' was given"):
        GateByGate("a & b")


def test_what_does_not_fit_the_circuit_is_refused_with_what_would(monkeypatch):
    network = Li24(PARENTHESES, T=4, cells=6)
    assert network.run("B()E").status == "limit"
    with pytest.raises(ValueError, match=r"max_steps = 9 is more than T = 4, .* Compile it with T=9\."):
        network.run("B()E", 9)
    with pytest.raises(OverflowError, match=r"The word has 6 cells, .* at most 5\. Compile with cells=7 or more"):
        network.run("B(())E")
    with pytest.raises(
        OverflowError, match=r"^At step 3 the head comes to cell -1, .* cells 0 to 4\. Compile with left=1"
    ):
        Li24(PARENTHESES, T=4, cells=5, left=0).run("B)E")
    with pytest.raises(
        OverflowError, match=r"^At step 4 .* to cell 4, .* cells -1 to 3\. Compile with cells=6 or more"
    ):
        Li24(walker(1), T=9, cells=5).run("")
    with pytest.raises(OverflowError, match="Word 1 of the batch: At step 3 the head comes to cell -1"):
        Li24(PARENTHESES, T=4, cells=5, left=0).run_batch(["B(E", "B)E"])
    for options, message in (
        ({"T": 0}, "T, the maximal"),
        ({"T": 2, "cells": 1}, "cells, .* at least 2"),
        ({"T": 2, "left": -1}, "left"),
    ):
        with pytest.raises(ValueError, match=message):
            turing.compile(PARENTHESES, "li24", **options)
    monkeypatch.setattr("turing.circuits.circuit.MAX_GATES", 1_000)
    with pytest.raises(ValueError, match=r"more than 1,000 gates\. Take fewer; of a machine, fewer steps or cells"):
        turing.compile(PARENTHESES, "li24", T=100)


NOT = Circuit("a", {"x": ("NOT", "a")})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Circuit(5, {}), "The inputs of a circuit are a string such as 'a b' or a list of names, and 5 was"),
        (lambda: Circuit(["a", 5], {}), "The inputs of a circuit are a string such as 'a b' or a list of names, and"),
        (
            lambda: Circuit("a", None),
            "The gates are a dictionary such as {'x': ('AND', 'a', 'b')}, and None was given.",
        ),
        (lambda: Circuit("a", {"x": 5}), "as in 'x': ('AND', 'a', 'b'), and 'x': 5 was given."),
        (lambda: Circuit("a", {"x": ()}), "as in 'x': ('AND', 'a', 'b'), and 'x': () was given."),
        (lambda: Circuit("a", {"x": "NOT a"}), "as in 'x': ('AND', 'a', 'b'), and 'x': 'NOT a' was given."),
        (lambda: Circuit("a", {"x": ("NOT", ["a"])}), "as in 'x': ('AND', 'a', 'b'), and 'x': ('NOT', ['a']) was"),
        (lambda: Circuit("a", {5: ("NOT", "a")}), "as in 'x': ('AND', 'a', 'b'), and 5: ('NOT', 'a') was given."),
        (lambda: Circuit("a", {"x": ("NOT", "a")}, 5), "The outputs of a circuit are a string such as 'a b' or a"),
        (lambda: Circuit.of_table(5), "A truth table: a string such as '0110' or a list of 0 and 1 is expected, and 5"),
        (lambda: NOT.evaluate(None), "The inputs of a circuit: a string such as '0110' or a list of 0 and 1 is expect"),
        (lambda: NOT.name("x"), "wire, the number of an input or a gate, must be an integer from 0 to 1, and 'x' was"),
    ],
)
def test_what_is_no_circuit_is_refused_with_what_was_expected(make, message):
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        make()
