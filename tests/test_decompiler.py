"""Reading the machine back: from bare tensors, through disguise and damage."""

import json
from collections import Counter
from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest
import torch
from hidden_machines import ADDERS, PROTOTYPES, compiled, machine, tried

import turing
from turing.cli import main
from turing.decompiler import (
    DAMAGES,
    DISGUISES,
    Basis,
    Refusal,
    bare,
    damage,
    decompile,
    disguise,
    in_bases,
    renaming,
    repair,
    spaces,
)
from turing.ss import StackNetwork

SMALL = {"states": (2, 4), "symbols": (2, 3), "bits": (2, 3)}


def a_run(net, word="", passes=4):
    """Columns of a run, in rows, and the word in rows."""
    columns = net.rollout(word, passes).detach().double().numpy()
    return columns, net.encode(word).double().numpy()


@pytest.mark.parametrize("cover", DISGUISES)
@pytest.mark.parametrize("adder", ADDERS)
def test_a_disguise_leaves_the_function_as_it_is(adder, cover):
    net = turing.compile(turing.zoo["bb3"], "wcm21", T=8, adder=adder)
    columns, tape = a_run(net, "11")
    plain, hidden = bare(net), disguise(net, cover, seed=3)
    wanted = plain(columns, tape)
    assert np.array_equal(
        wanted[:-1], columns[1:] - np.stack([net.beta(k).double().numpy() for k in range(1, 5)])[: len(columns) - 1]
    )
    found = hidden.network(hidden.column(columns), hidden.tape(tape))
    apart = np.abs(found - hidden.column(wanted)).max()
    assert apart == 0 if cover == "permutation" else apart < 1e-9
    back = [np.abs(a - b).max(initial=0) for a, b in zip(hidden.undone().tensors(), plain.tensors(), strict=True)]
    assert max(back) < 1e-9
    assert (
        max(np.abs(a - b).max(initial=0) for a, b in zip(hidden.network.tensors(), plain.tensors(), strict=True)) > 0.1
    )


def rational_basis(rng, size, free):
    """A basis in fractions and its inverse: an order, and shears with factors where there is no ReLU."""
    order = rng.permutation(size)
    matrix, inverse = np.zeros((size, size), object), np.zeros((size, size), object)
    for i, j in enumerate(order):
        factor = Fraction(int(rng.integers(1, 5)), int(rng.integers(1, 5)))
        matrix[i, j], inverse[j, i] = factor, 1 / factor
    for _ in range(size if free else 0):
        i, j = rng.choice(size, 2, replace=False)
        amount = Fraction(int(rng.integers(-3, 4)), 2)
        matrix[i] = matrix[i] + amount * matrix[j]
        inverse[:, j] = inverse[:, j] - amount * inverse[:, i]
    return Basis(matrix, inverse)


def test_a_disguise_is_exact_in_rationals():
    net = turing.compile(turing.zoo["bb2"], "wcm21", T=4, adder="lookahead")
    columns, tape = a_run(net, "1", 3)
    exactly = np.vectorize(lambda x: Fraction(float(x)), otypes=[object])
    plain = bare(net).changed(exactly)
    found, rng = spaces(plain), np.random.default_rng(5)
    bases = {
        name: rational_basis(rng, size, found.kinds[name] == "none" and size > 1) for name, size in found.sizes.items()
    }
    hidden = in_bases(plain, bases)
    columns, tape = exactly(columns), exactly(tape)
    one = hidden(columns @ bases["column"].matrix.T, tape @ bases["tape"].matrix.T)
    assert (one == plain(columns, tape) @ bases["column"].matrix.T).all()
    assert renaming(decompile(hidden.changed(lambda t: t.astype(float))).machine, net.machine)


@pytest.mark.parametrize("harm", ["exact", "bfloat16", "1e-3", "1e-2", "int8"])
@pytest.mark.parametrize("cover", DISGUISES)
@pytest.mark.parametrize("adder", ADDERS)
def test_random_machines_are_read_back(adder, cover, harm):
    sizes = SMALL if adder == "ripple" else {"bits": (2, 4)}
    counts = tried(20, adder, cover, harm, **sizes)
    check(counts, 20, adder, cover, harm)


def check(counts, number, adder, cover, harm):
    wanted = dict(zip(ADDERS, PROTOTYPES[cover][harm], strict=False)).get(adder, 0) / 200
    assert counts["right"] >= number * (wanted - 0.05), counts
    assert counts["wrong"] == 0 if harm == "exact" else counts["wrong"] <= number / 100, counts
    if harm == "exact":
        assert counts["right"] == number


@pytest.mark.slow
@pytest.mark.parametrize("harm", ["exact", "bfloat16", "1e-3", "1e-2", "int8"])
@pytest.mark.parametrize("cover", DISGUISES)
@pytest.mark.parametrize("adder", ADDERS)
def test_many_random_machines_are_read_back(adder, cover, harm):
    number = 500 if harm == "exact" else 200
    counts = tried(number, adder, cover, harm)
    print(adder, cover, harm, dict(counts))
    check(counts, number, adder, cover, harm)


@pytest.mark.parametrize("number", [20, pytest.param(100, marks=pytest.mark.slow)])
def test_noise_that_kills_the_network_leaves_the_machine(number):
    counts = tried(number, "lookahead", "permutation", "0.05")
    assert counts["right"] >= 0.95 * number
    assert counts["wrong"] == 0


@pytest.mark.slow
def test_noise_and_the_ripple_adder():
    counts = tried(100, "ripple", "permutation", "0.05")
    print("ripple at 0.05:", dict(counts))
    assert counts["right"] >= 95
    assert counts["wrong"] <= 1


def noisy(net, sigma, seed=0):
    """A network of which every parameter has noise."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for numbers in net.parameters():
            numbers += sigma * torch.randn_like(numbers)
    return net


@pytest.mark.parametrize("adder", ADDERS)
def test_a_dead_network_is_repaired_and_what_changed_is_named(adder):
    source = turing.zoo["balanced_parentheses"]
    net = noisy(turing.compile(source, "wcm21", T=64, adder=adder), 0.05)
    with pytest.raises(ArithmeticError):
        net.run("B()E")
    mended = repair(net)
    assert turing.verify(mended.network, source, ["B()E", "B(()E"])
    assert turing.prove(mended.network)
    assert mended.network.run("B(())E").state == "T"
    assert dict(mended.network.machine.delta) == dict(source.delta)
    assert len(mended.changes) > 0.999 * sum(p.numel() for p in net.parameters())


def test_one_flipped_weight_is_named():
    net = turing.compile(turing.zoo["bb3"], "wcm21", T=16, adder="lookahead")
    with torch.no_grad():
        net.pipeline["search1"].key.weight[0].neg_()
    (change,) = [c for c in repair(net).changes if c.value]
    assert change.name == "pipeline.search1.key.weight"
    assert change.value == -change.compiled


@pytest.mark.parametrize("adder", ADDERS)
@pytest.mark.parametrize("cover", DISGUISES)
def test_what_was_found_is_certified(cover, adder):
    _source, network = compiled(1, adder, **SMALL)
    found = decompile(disguise(network, cover, 2).network)
    assert found.certified
    assert found.margin > 0.99
    assert not decompile(damage(network, "noise", 1e-3)).certified


def test_a_change_outside_the_rules_is_not_certified():
    net = turing.compile(turing.zoo["bb3"], "wcm21", T=16, adder="lookahead")
    with torch.no_grad():
        net.pipeline["search1"].null_key[-1] += 1
    found = decompile(net)
    assert renaming(found.machine, net.machine)
    assert not found.certified


def test_the_zoo_in_general_linear_disguise():
    for name, source in turing.zoo.items():
        if len(source.states) * len(source.symbols) <= 60:
            net = turing.compile(source, "wcm21", T=64, adder="lookahead")
            hidden = disguise(net, "linear", seed=1)
            column = hidden.column(net.initial("").double().numpy())
            found = decompile(hidden.network, first_column=column)
            assert renaming(found.machine, source, initial=True), name
            assert "initial" not in found.unknown


@pytest.mark.slow
def test_large_machines_in_general_linear_disguise():
    large = {
        "universal": (turing.zoo["universal"], 10),
        "100 × 20": (machine("large", 100, 20), 10),
        "BB(5)": (turing.zoo["bb5"], 26),
    }
    for name, (source, bits) in large.items():
        hidden = disguise(turing.compile(source, "wcm21", T=2**bits, adder="lookahead"), "linear", seed=1)
        found = decompile(hidden.network)
        assert renaming(found.machine, source), name
        assert found.certified, name


def test_names_and_metadata_of_a_file_are_ignored(tmp_path):
    source = turing.zoo["parity"]
    net = turing.compile(source, "wcm21", T=16, adder="lookahead")
    turing.save(net, tmp_path / "net.json")
    found = turing.decompile(tmp_path / "net.json")
    assert renaming(found.machine, source)
    assert set(found.machine.states) == {f"q{k}" for k in range(len(source.states))}


def test_evidence_names_the_weights_of_a_rule():
    net = turing.compile(turing.zoo["bb3"], "wcm21", T=16, adder="lookahead")
    found = decompile(net)
    for rule, weights in found.evidence.items():
        assert all(bare(net).parts[w.part].weight[w.row, w.column] == w.value == 1 for w in weights), rule
        assert len(weights) == (2 if found.machine.delta[rule][2] == 0 else 2 + 2 * net.bits + 1)


def test_bisimilar_and_unreachable_states_are_kept_apart():
    delta = {
        ("A", "_"): ("B", "1", 1), ("A", "1"): ("C", "_", -1), ("B", "_"): ("A", "1", 1), ("C", "_"): ("A", "1", 1),
        ("alone", "1"): ("alone", "_", 0),
    }  # fmt: skip
    source = turing.TuringMachine(delta, "A", {"H"}, "_")
    found = decompile(disguise(turing.compile(source, "wcm21", T=8, adder="lookahead"), "linear").network)
    assert len(found.machine.states) == 5
    assert renaming(found.machine, source)
    assert found.certified


def test_the_machine_found_runs_as_its_source():
    source = turing.zoo["binary_increment"]
    net = turing.compile(source, "wcm21", T=32)
    hidden = disguise(net, "permutation", 4)
    column = hidden.column(net.initial("").double().numpy())
    found = decompile(hidden.network, column).machine
    names = renaming(source, found, initial=True)
    words = [[]]
    for _ in range(4):
        words += [[*word, a] for word in words for a in source.symbols if len(word) == len(words[-1])]
    for word in words:
        one, other = source.run(word, 32), found.run([names.symbols[a] for a in word], 32)
        assert (one.steps, one.head, names.states[one.state]) == (other.steps, other.head, other.state)
        assert {cell: names.symbols[a] for cell, a in one.tape.items()} == dict(other.tape)


def test_with_one_position_bit_the_direction_is_unknown():
    source = turing.zoo["bb2"]
    for adder in ADDERS:
        found = decompile(turing.compile(source, "wcm21", T=2, adder=adder))
        assert "direction" in found.unknown
        assert renaming(found.machine, source, mirrored=True)


def test_a_rule_whose_column_is_zeroed_is_missing():
    source = turing.zoo["bb3"]
    for adder, name in (("lookahead", "carry"), ("ripple", "transition")):
        net = turing.compile(source, "wcm21", T=16, adder=adder)
        module = net.pipeline[name]
        weight = (module if adder == "lookahead" else module[1]).weight
        column = 1 if adder == "lookahead" else net.layout.width + 1
        with torch.no_grad():
            weight[:, column] = 0
        pair = source.states[0], source.symbols[1]
        rest = {key: rule for key, rule in source.delta.items() if key != pair}
        wanted = turing.TuringMachine(rest, source.initial, source.halting, source.blank, alphabet=source.symbols)
        assert renaming(decompile(net).machine, wanted)


def trained_adder():
    """Two numbers of two bits each and their sum, learned by one hidden layer."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))
    pairs = torch.cartesian_prod(torch.arange(4), torch.arange(4))
    words = torch.stack([pairs[:, k] >> bit & 1 for k in (0, 1) for bit in (0, 1)], 1).float()
    wanted = torch.stack([pairs.sum(1) >> bit & 1 for bit in range(3)], 1).float()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    for _ in range(600):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(net(words), wanted).backward()
        optimizer.step()
    assert torch.equal((net(words) > 0.5).float(), wanted)
    return net


def networks_of_no_machine():
    net = turing.compile(turing.zoo["bb3"], "wcm21", T=16, adder="lookahead")
    plain, rng = bare(net), np.random.default_rng(0)
    yield "random", plain.changed(lambda t: rng.normal(size=t.shape)), "clearly negative"
    yield "truncated", plain._replace(parts=plain.parts[:-1]), "no construction"
    yield "a trained adder", bare(trained_adder()), "no construction"
    yield "zeros", plain.changed(np.zeros_like), "negative"
    yield "infinite", plain.changed(lambda t: np.full(t.shape, np.inf)), "infinite"


@pytest.mark.parametrize(("network", "reason"), [case[1:] for case in networks_of_no_machine()])
def test_what_is_no_machine_is_refused(network, reason):
    with np.errstate(all="ignore"), pytest.raises(Refusal, match=reason):
        decompile(network)


def stack_machine(seed):
    """A random machine with one to three stacks."""
    chance = Random(f"{seed}/stacks")
    p, states = chance.randint(1, 3), [f"s{k}" for k in range(chance.randint(1, 5))]
    operations = ("noop", "push 0", "push 1", "pop")
    keys = [(q, *tops) for q in states for tops in product((None, "0", "1"), repeat=p) if chance.random() < 0.8]
    delta = {key: (chance.choice([*states, "end"]), *chance.choices(operations, k=p)) for key in keys}
    delta[(states[0], *["0"] * p)] = ("end", *["pop"] * p)
    idle = set(states) - {key[0] for key in delta}
    return turing.stack_machine.StackMachine(delta, states[0], {"end", *idle}, "01")


@pytest.mark.parametrize("number", [5, pytest.param(50, marks=pytest.mark.slow)])
def test_stack_machines_are_read_back(number):
    for seed in range(number):
        source = stack_machine(seed)
        code = [{}, {"base": 10, "digits": (2, 7)}, {"arithmetic": "float32"}][seed % 3]
        net = StackNetwork(source, **code)
        hidden = disguise(net, seed=seed)
        column = hidden.column(np.array([float(x) for x in net.initial()]))
        found = decompile(hidden.network, column)
        assert found.certified
        assert found.margin > 0.99
        assert "turing machine" in found.unknown
        # the disguise says where each state and each stack has gone
        moved = hidden.bases["column"].matrix.argmax(axis=0).tolist()
        states = sorted(moved[k] for k in net.layout.st)
        stacks = [sorted(moved[k] for k in net.layout.q).index(moved[k]) for k in net.layout.q]
        names = {q: f"q{states.index(moved[net.layout.st[q]])}" for q in source.states}

        def placed(parts, stacks=stacks):
            return [parts[stacks.index(i)] for i in range(len(stacks))]

        rules = {
            (names[q], *placed(tops)): (names[target], *placed(operations))
            for (q, *tops), (target, *operations) in source.rules.items()
        }
        assert found.machine.rules == rules
        assert found.machine.initial == names[source.initial]


def entered(source):
    """Whether the head moves into every state that has rules or that a step leads to."""
    moved = {target for target, _, move in source.delta.values() if move}
    return moved >= {q for q, _ in source.delta} | {target for target, *_ in source.delta.values()}


@pytest.mark.parametrize("number", [5, pytest.param(50, marks=pytest.mark.slow)])
def test_turing_machines_are_read_back_from_two_stacks(number):
    counts = Counter()
    for seed in range(number):
        chance = Random(f"{seed}/two stacks")
        source = machine(f"{seed}/two stacks", chance.randint(1, 5), chance.randint(2, 6))
        net = turing.compile(source, "ss95")
        hidden = disguise(net, seed=seed)
        found = decompile(hidden.network)
        assert found.certified
        read = "turing machine" not in found.unknown
        assert read == entered(source) or "one direction" in found.unknown["turing machine"]
        assert renaming(found.machine, source, mirrored=True) if read else len(found.machine.rules) > 0
        counts[read] += 1
        if read:
            word = [source.symbols[1], source.symbols[1]]
            column = hidden.column(np.array([float(x) for x in net.initial(word)]))
            found = decompile(hidden.network, column)
            assert renaming(found.machine, source, initial=True)
            assert found.certified
            assert not {"initial", "direction"} & set(found.unknown)
    assert counts[True] > number / 3, counts


def test_the_command_line_prints_a_stack_machine(tmp_path, capsys):
    turing.save(turing.compile(turing.zoo["parity"], "ss95"), tmp_path / "net.json")
    assert main(["decompile", str(tmp_path / "net.json")]) == 0
    shown = capsys.readouterr().out
    assert "StackMachine" in shown
    assert "the head never moves into some state" in " ".join(shown.split())
    assert main(["decompile", str(tmp_path / "net.json"), "--output", str(tmp_path / "machine.json")]) != 0
    assert not (tmp_path / "machine.json").exists()


def test_a_network_that_two_turing_machines_have_says_so():
    source = turing.zoo["bb2x4"]
    found = decompile(turing.compile(source, "ss95"))
    assert renaming(found.machine, source, mirrored=True)
    assert "other symbols" in found.unknown["symbols"]


def test_a_changed_weight_of_a_network_of_stacks_is_refused_or_not_certified():
    rng, counts = np.random.default_rng(0), Counter()
    plain = bare(StackNetwork(turing.stack_machine.balanced()))
    tensors = list(plain.tensors())
    for _ in range(200):
        which = rng.integers(len(tensors))
        place = tuple(rng.integers(size) for size in tensors[which].shape)
        more = rng.choice([-3, -1, -0.5, -0.2, -0.01, 0.01, 0.2, 0.5, 1, 3])
        changed = [tensor.copy() for tensor in tensors]
        changed[which][place] += more
        values = iter(changed)
        network = plain.changed(lambda tensor, values=values: next(values))
        try:
            found = decompile(network)
        except Refusal:
            counts["refused"] += 1
        else:
            counts["read"] += 1
            assert not found.certified
            assert abs(more) < 0.5
            (change,) = repair(network).changes
            assert change.value - change.compiled == pytest.approx(more)
            assert change.place == place
    assert min(counts.values()) > 20, counts


@pytest.mark.parametrize(
    ("network", "reason"),
    [
        (lambda: turing.compile(turing.zoo["bb2"], "li24", T=4), "as that of li24. It is not read back"),
        (lambda: turing.compile(turing.zoo["bb2"], "perez21"), "of a kind that is not read back: attention"),
        (lambda: turing.compile(turing.zoo["bb2"], "merrill24"), "of a kind that is not read back"),
        (
            lambda: StackNetwork(turing.stack_machine.balanced(), inputs={"go": ("R", ("noop", None), ("push", "("))}),
            "1 more inputs than states and stacks",
        ),
        (lambda: damage(turing.compile(turing.zoo["bb2"], "ss95"), "noise", 1.0), "none of this construction|wiring"),
    ],
)
def test_other_networks_are_refused_by_name(network, reason):
    with pytest.raises(Refusal, match=reason):
        decompile(network())


def with_blank(found, blank):
    return turing.TuringMachine(found.delta, found.initial, found.halting, blank, alphabet=found.symbols)


def same_but_for_the_blank(found, source, **how):
    """Whether two machines are the same up to renaming if the blank of the first is not known."""
    return any(renaming(with_blank(found, blank), source, **how) for blank in found.symbols)


@pytest.mark.parametrize("number", [5, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("cover", ["permutation", "factors"])
def test_rows_of_cells_are_read_back(cover, number):
    for seed in range(number):
        chance = Random(f"{seed}/cells")
        source = machine(f"{seed}/cells", chance.randint(1, 8), chance.randint(2, 6))
        net = turing.compile(source, "conv", cells=9)
        hidden = disguise(net, cover, seed)
        row = net.initial([source.symbols[1]]).double().numpy()
        wanted = hidden.column(bare(net)(row))
        assert np.abs(hidden.network(hidden.column(row)) - wanted).max() < 1e-9
        found = decompile(hidden.network, hidden.column(row))
        assert renaming(found.machine, source, initial=True)
        assert found.certified
        assert found.margin > 0.99
        assert not {"initial", "blank"} & set(found.unknown)
        alone = decompile(hidden.network)
        assert same_but_for_the_blank(alone.machine, source)
        assert {"initial", "blank"} <= set(alone.unknown)


@pytest.mark.parametrize("number", [2, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize("cover", DISGUISES)
def test_windows_that_go_round_are_read_back(cover, number):
    for seed in range(number):
        chance = Random(f"{seed}/window")
        source = machine(f"{seed}/window", chance.randint(1, 6), chance.randint(2, 4))
        net = turing.compile(source, "liwang25")
        hidden = disguise(net, cover, seed)
        first, rest = (part.detach().double().numpy() for part in (net.initial(["_"]), net.encode(["_"])))
        wanted = bare(net)(first[None], rest)
        shown = hidden.network(hidden.column(first[None]), hidden.column(rest))
        assert np.abs(shown - hidden.column(wanted)).max() < 1e-9
        found = decompile(hidden.network, hidden.column(first))
        assert same_but_for_the_blank(found.machine, source, initial=True)
        assert found.certified
        assert found.margin > 0.99
        assert "initial" not in found.unknown
        alone = decompile(hidden.network)
        assert same_but_for_the_blank(alone.machine, source, initial="initial" not in alone.unknown)


def test_rules_of_two_states_that_no_token_has_are_not_guessed():
    delta = {("A", "_"): ("A", "1", 1), ("B", "_"): ("A", "1", 1), ("C", "_"): ("A", "_", 1)}
    for names, read in (("AB", True), ("ABC", False)):
        source = turing.TuringMachine({pair: rule for pair, rule in delta.items() if pair[0] in names}, "A", (), "_")
        net = turing.compile(source, "liwang25")
        if read:
            assert same_but_for_the_blank(decompile(net).machine, source)
        else:
            with pytest.raises(Refusal, match="a state that no token has, and 2 states are such"):
                decompile(net)


@pytest.mark.parametrize("number", [5, pytest.param(50, marks=pytest.mark.slow)])
def test_stack_machines_are_read_back_from_one_layer(number):
    seed = -1
    for _ in range(number):
        seed += 1
        while (source := stack_machine(seed)).p == 3:
            seed += 1
        net = StackNetwork(source, version=1, **[{}, {"arithmetic": "float64"}][seed % 2])
        hidden = disguise(net, seed=seed)
        column = hidden.column(np.array([float(x) for x in net.initial(*["01"] * source.p)]))
        found = decompile(hidden.network, column)
        assert found.certified
        assert found.margin > 0.99
        assert found.construction == "ss95-realtime"
        # the disguise says where each stack has gone
        moved = hidden.bases["column"].matrix.argmax(axis=0).tolist()
        noop = found.reading.order["column"][-4 * source.p :][: source.p]
        places = [noop.index(moved[place]) for place in net.layout.noop]
        chance = Random(seed)
        for _ in range(20):
            stacks = ["".join(chance.choices("01", k=chance.randrange(5))) for _ in places]
            one = source.run(*stacks, max_steps=30)
            other = found.machine.run(*(stacks[places.index(i)] for i in range(source.p)), max_steps=30)
            assert one.steps == other.steps
            assert one.stacks == tuple(other.stacks[i] for i in places)


def twins(source):
    """Whether two states have the same rules."""
    rules = {q: tuple(sorted((a, rule) for (p, a), rule in source.delta.items() if p == q)) for q in source.states}
    return len(set(rules.values())) < len(rules)


@pytest.mark.parametrize("number", [6, pytest.param(50, marks=pytest.mark.slow)])
def test_turing_machines_are_read_back_from_one_layer(number):
    counts = Counter()
    for seed in range(number):
        chance = Random(f"{seed}/one layer")
        source = machine(f"{seed}/one layer", chance.randint(1, 4), chance.randint(2, 4))
        net = turing.compile(source, "ss95-realtime")
        hidden = disguise(net, seed=seed)
        word = [source.blank, source.symbols[1]]
        column = hidden.column(np.array([float(x) for x in net.initial(word)]))
        found = decompile(hidden.network, column)
        assert found.certified
        assert decompile(hidden.network).certified
        assert "states" in found.unknown
        read = "turing machine" not in found.unknown
        counts[read] += 1
        if read:
            unsure = twins(source) or ("stays" in found.unknown and not entered(source))
            assert unsure or renaming(found.machine, source, initial=True)
            assert not {"initial", "direction"} & set(found.unknown)
            assert all(found.evidence[pair] for pair in found.machine.delta)
    print("Turing machines read from one layer:", dict(counts))
    assert counts[True] > 0, counts


def test_the_zoo_is_read_back_from_one_layer():
    for name in ("bb2", "bb5", "bb2x4", "antihydra", "binary_increment"):
        source = turing.zoo[name]
        found = decompile(disguise(turing.compile(source, "ss95-realtime"), seed=1).network)
        assert found.certified
        assert renaming(found.machine, source, mirrored=True), name
    found = decompile(turing.compile(turing.zoo["sorter"], "ss95-realtime"))
    assert found.certified  # two of its states have the same rules, and are one
    assert len(found.machine.states) == len(turing.zoo["sorter"].states) - 1


def changed(network, which, place, more):
    """A network with one number changed."""
    numbers = iter(range(len(list(network.tensors()))))

    def change(tensor):
        if next(numbers) != which:
            return tensor
        tensor = tensor.copy()
        tensor[place] += more
        return tensor

    return network.changed(change)


@pytest.mark.parametrize("construction", ["conv", "liwang25", "ss95-realtime"])
def test_one_changed_number_never_misleads(construction):
    source, rng, counts = turing.zoo["bb2"], np.random.default_rng(0), Counter()
    plain = bare(turing.compile(source, construction))
    tensors = list(plain.tensors())
    for _ in range(80):
        which = int(rng.integers(len(tensors)))
        place = tuple(int(rng.integers(size)) for size in tensors[which].shape)
        more = float(rng.choice([-3, -1, -0.5, -0.2, 0.2, 0.5, 1, 3]))
        try:
            found = decompile(changed(plain, which, place, more))
        except Refusal:
            counts["refused"] += 1
            continue
        counts["read"] += 1
        assert same_but_for_the_blank(found.machine, source, mirrored=True)
        if construction != "liwang25":  # there a number may be one that no token meets
            assert not found.certified
    assert min(counts[kind] for kind in ("read", "refused")) > 10, counts


@pytest.mark.parametrize("construction", ["conv", "liwang25", "ss95-realtime"])
def test_a_changed_number_is_named_and_put_right(construction):
    source = turing.zoo["bb3"]
    net = turing.compile(source, construction)
    name, numbers = next((name, p) for name, p in net.named_parameters() if p.ndim > 1 and p.numel() > 20)
    place = tuple(int(k) for k in numbers.nonzero()[-1])
    with torch.no_grad():
        numbers[place] = numbers[place] * 9 / 8 if numbers.is_floating_point() else numbers[place] + 1
    mended = repair(net)
    (change,) = mended.changes
    assert (change.name, change.place) == (name, place)
    assert turing.prove(mended.network)


def test_a_certified_network_is_one_that_is_proved():
    """Places that no map reads, and what is asked of the word by way of what a head has found, are looked at too."""
    for module, place, more in (("initial", (2, 23), -1), ("assemble", (27, 14), -3), ("assemble", (27,), -1)):
        net = turing.compile(turing.zoo["bb3"], "wcm21", T=8, adder="lookahead")
        part = net.pipeline[module]
        part = part.query if module == "initial" else part
        with torch.no_grad():
            (part.weight if len(place) == 2 else part.bias)[place] += more
        assert turing.prove(net).verdict == "refuted"
        assert renaming(decompile(net).machine, net.machine)
        assert not decompile(net).certified


@pytest.mark.parametrize("construction", ["conv", "liwang25", "ss95", "ss95-realtime", "wcm21"])
def test_what_is_broken_in_any_way_is_refused_in_a_sentence(construction):
    options = {"T": 4, "adder": "lookahead"} if construction == "wcm21" else {}
    plain, rng = bare(turing.compile(turing.zoo["bb2"], construction, **options)), np.random.default_rng(1)
    broken = [
        plain.changed(lambda t: rng.normal(size=t.shape)),
        plain.changed(lambda t: rng.integers(-1, 2, size=t.shape).astype(float)),
        plain.changed(np.zeros_like),
        plain.changed(np.ones_like),
        plain.changed(lambda t: np.where(rng.random(t.shape) < 0.5, np.nan, t)),
        plain.changed(lambda t: 1e200 * t),
        plain.changed(lambda t: 1e-200 * t),
        plain._replace(parts=()),
        plain._replace(parts=plain.parts[1:]),
        plain._replace(parts=plain.parts[:-1]),
        plain._replace(parts=plain.parts * 2),
    ]
    for number in range(len(list(plain.tensors()))):
        numbers = iter(range(1000))
        broken.append(plain.changed(lambda t, n=number, k=numbers: t[:-1] if next(k) == n else t))
    for network in broken:
        with pytest.raises(Refusal) as refused:
            decompile(network)
        assert str(refused.value).endswith(".")


@pytest.mark.parametrize("construction", ["conv", "liwang25", "ss95", "ss95-realtime", "wcm21"])
@pytest.mark.parametrize("column", [[], [1, 0], 3, "abc", [None], [[[0]]], [float("nan")] * 3])
def test_a_first_column_of_another_shape_is_explained(construction, column):
    net = turing.compile(turing.zoo["bb2"], construction, **({"T": 4} if construction == "wcm21" else {}))
    with pytest.raises(ValueError, match="The first column should have"):
        decompile(net, column)


@pytest.mark.parametrize("construction", ["conv", "liwang25", "ss95-realtime"])
def test_the_command_line_reads_every_construction(construction, tmp_path, capsys):
    source = turing.zoo["bb3"]
    for name in ("net.json", "net.safetensors"):
        turing.save(turing.compile(source, construction), tmp_path / name)
        out = tmp_path / "machine.json"
        assert main(["decompile", str(tmp_path / name), "--output", str(out)]) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert f"network {construction}" in shown
        assert "yes, number for number" in shown
        found = turing.TuringMachine.parse(out.read_text())
        assert same_but_for_the_blank(found, source, mirrored=True)


def test_damage_is_what_the_study_does():
    from turing.study import Flip, Gaussian, Round

    net = turing.compile(turing.zoo["bb2"], "wcm21", T=4, adder="lookahead").double()
    own = {numbers.name: numbers.values.detach() for numbers in net.ir().numbers()}
    for kind, perturbation, level in (("noise", Gaussian(), 0.1), ("flip", Flip(), 3), ("int4", Round(), "int4")):
        amount = None if kind == "int4" else level
        one = list(damage(net, kind, amount, seed=6).tensors())
        other = [numbers.numpy() for numbers in perturbation(own, level, 6).values()]
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_a_truncated_file_is_refused(tmp_path):
    net = turing.compile(turing.zoo["bb2"], "wcm21", T=4, adder="lookahead")
    turing.save(net, tmp_path / "net.json")
    data = json.loads((tmp_path / "net.json").read_text())
    (tmp_path / "net.json").write_text(json.dumps(data)[:-100])
    with pytest.raises(ValueError, match=r"net\.json"):
        decompile(tmp_path / "net.json")


@pytest.mark.parametrize("kind", [*DAMAGES])
def test_damage_is_reproducible_and_never_misleads(kind):
    source, network = compiled(1, "lookahead", **SMALL)
    one, other = (list(damage(network, kind, seed=5).tensors()) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    for seed in range(10):
        try:
            found = decompile(damage(network, kind, seed=seed))
        except Refusal:
            continue
        if kind != "flip":
            assert renaming(found.machine, source)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda net: disguise(net, "hat"), "A disguise is one of permutation"),
        (lambda net: damage(net, "rust"), "A damage is one of noise"),
        (lambda net: decompile(net, first_column=[1, 0]), "first column should have"),
        (lambda net: decompile(net, first_column=[0] * net.layout.width), "one detector should fire, and 0 do"),
    ],
)
def test_bad_input_is_explained(call, message):
    with pytest.raises(ValueError, match=message):
        call(turing.compile(turing.zoo["bb2"], "wcm21", T=4, adder="lookahead"))
