"""Random machines with ground truth: reproducible, right about the weights, and right when the basis is hidden."""

import copy
import json
import re

import pytest
import torch
from every_kind import EveryKind

import turing
from turing.conv import RowOfCells
from turing.corpora import Example, corpus
from turing.corpora.hidden import Hidden
from turing.corpora.labels import labels_of
from turing.zoo import zoo

torch.set_num_threads(1)  # on small matrices threads wait for each other
T = 24
KINDS = [
    pytest.param({"construction": "wcm21", "T": T, "adder": adder, "hide": hide}, id=f"{adder} {hide}")
    for adder in ("ripple", "lookahead")
    for hide in (False, True)
] + [pytest.param({"construction": name}, id=name) for name in ("ss95", "ss95-realtime")]


@pytest.mark.parametrize("options", KINDS)
def test_each_network_is_its_machine_vector_by_vector(options):
    for example in corpus(6, seed=1, **options):
        run, own = example.network.run(example.word, max_steps=T), example.machine.run(example.word, T)
        assert (run.status, run.state, run.steps, run.tape) == (own.status, own.state, own.steps, own.tape)
        assert run.steps >= 8
        assert turing.verify(example.network, example.machine, [example.word, "", "1__1"], max_steps=T)


def test_an_example_does_not_depend_on_how_many_are_asked_for():
    few, many = list(corpus(2, seed=3, T=8)), list(corpus(4, seed=3, T=8))
    assert [e.machine for e in few] == [e.machine for e in many[:2]]
    assert len({e.machine.dumps("json") for e in many}) == 4
    assert [e.machine for e in corpus(2, seed=4, T=8)] != [e.machine for e in few]
    assert list(corpus(0)) == []


def test_the_first_machine_of_a_seed_stays_what_it_is():
    (example,) = corpus(1, seed=0, T=8)
    assert isinstance(example, Example)
    assert example.word == ("1", "_", "2", "2", "2", "_", "2")
    assert example.machine.delta == {
        ("q0", "_"): ("q0", "_", 1),
        ("q0", "1"): ("q0", "2", -1),
        ("q0", "2"): ("q1", "_", 1),
        ("q1", "_"): ("q0", "_", -1),
        ("q1", "1"): ("q0", "2", -1),
        ("q1", "2"): ("halt", "1", 1),
    }


def test_about_half_of_the_machines_halt():
    statuses = [e.machine.run(e.word, 64).status for e in corpus(40, seed=6, adder="lookahead")]
    assert 10 <= statuses.count("halted") <= 30


def test_states_and_symbols_stay_in_their_ranges():
    found = [e.machine for e in corpus(30, seed=2, states=(1, 3), symbols=(2, 5), T=4, adder="lookahead")]
    assert {len(m.states) - 1 for m in found} == {1, 2, 3}
    assert {len(m.symbols) for m in found} == {2, 3, 4, 5}


@pytest.mark.parametrize("options", KINDS)
def test_labels_are_plain_data_and_fit_every_parameter(options):
    for example in corpus(2, seed=7, **options):
        labels, weights = example.labels, example.network.state_dict()
        assert json.loads(json.dumps(labels)) == labels
        assert set(labels["axes"]) == set(weights)
        for name, numbers in weights.items():
            assert [len(labels["vectors"][axis]) for axis in labels["axes"][name]] == list(numbers.shape), name
        places = {place.split("[")[0] for names in labels["vectors"].values() for place in names}
        assert places == set(labels["slices"])
        for name in example.network.pipeline:
            assert labels["vectors"][name] == example.network.layout_of(name).names()


@pytest.mark.parametrize("hide", [False, True])
@pytest.mark.parametrize("adder", ["ripple", "lookahead"])
def test_a_rules_detector_reads_its_state_and_symbol_and_writes_what_the_rule_says(adder, hide):
    for example in corpus(3, seed=8, T=T, adder=adder, hide=hide):
        labels, weights = example.labels, example.network.state_dict()
        first, second = ("detect", "carry") if adder == "lookahead" else ("transition.0", "transition.1")
        assert {tuple(entry["rule"]) for entry in labels["rules"]} == {
            (*pair, *rule) for pair, rule in example.machine.delta.items()
        }
        for entry in labels["rules"]:
            state, symbol, target, written, move = entry["rule"]
            k = labels["vectors"][entry["vector"]].index(entry["detector"])

            def names(row, axis):
                return {labels["vectors"][axis][i] for i in row.nonzero().flatten().tolist()}  # noqa: B023

            _, before = labels["axes"][f"pipeline.{first}.weight"]
            after, _ = labels["axes"][f"pipeline.{second}.weight"]
            assert names(weights[f"pipeline.{first}.weight"][k], before) == {f"st[{state}]", f"sym1[{symbol}]"}
            wrote = names(weights[f"pipeline.{second}.weight"][:, k], after)
            kept = {place for place in wrote if place.split("[")[0] in ("st", "sym2", "scr5")}
            moves = {"scr5[R]"} if move > 0 else {"scr5[L]"} if move < 0 else set()
            assert kept == {f"st[{target}]", f"sym2[{written}]"} | moves


def test_the_labels_of_a_head_say_what_its_weights_compare():
    labels = labels_of(turing.compile(zoo["bb2"], "wcm21", T=4, adder="lookahead"))
    assert labels["heads"]["search0"] == {
        "over": "columns",
        "compares": [["pos3[0]", "pos2[0]"], ["pos3[1]", "pos2[1]"], ["scr3[1]", "pos1[1]"], ["1", "pos1[0]"]],
        "fetches": [["1", "scr3[0]"]],
    }
    assert labels["heads"]["initial"]["over"] == "word"
    assert labels["axes"]["pipeline.initial.key.weight"] == ["initial.compared", "tape"]
    assert labels["vectors"]["search0.compared"][-2:] == ["compared[1 = pos1[0]]", "compared[null]"]


@pytest.mark.parametrize("network", [RowOfCells(zoo["bb2"]), EveryKind()], ids=lambda network: network.construction)
def test_any_construction_has_labels_that_fit_its_parameters(network):
    labels = labels_of(network)
    assert json.loads(json.dumps(labels)) == labels
    for parameter, numbers in network.state_dict().items():
        assert [len(labels["vectors"][axis]) for axis in labels["axes"][parameter]] == list(numbers.shape), parameter
    for module in network.pipeline:
        assert labels["vectors"][module] == network.layout_of(module).names()
    assert labels["rules"] == []
    assert set(labels["slices"]) == {place.split("[")[0] for names in labels["vectors"].values() for place in names}


def test_a_convolution_has_an_axis_for_its_neighbours():
    labels = labels_of(RowOfCells(zoo["bb2"]))
    assert labels["axes"]["pipeline.move.weight"] == ["column", "detect", "move.neighbours"]
    assert labels["vectors"]["move.neighbours"] == ["neighbour[-1]", "neighbour[0]", "neighbour[1]"]


def test_a_head_that_is_not_a_look_up_has_places_without_a_meaning():
    labels = labels_of(EveryKind())
    assert labels["heads"]["near"]["over"] == "earlier columns"
    assert labels["heads"]["near"]["compares"] == [["ask[0]", "at[0]"], ["ask[1]", "at[1]"]]
    assert labels["heads"]["nearest"] == {"over": "columns", "compares": None, "fetches": None}
    assert labels["vectors"]["nearest.compared"] == ["compared[0]"]


def test_a_corpus_of_any_registered_construction_is_made():
    for example in corpus(3, seed=1, construction="conv", cells=200):
        assert example.network.run(example.word, max_steps=T) == example.machine.run(example.word, T)


# The hidden basis.


@pytest.fixture(scope="module", params=["ripple", "lookahead"])
def pair(request):
    """A network, and the same one with its basis hidden."""
    plain = turing.compile(zoo["balanced_parentheses"], "wcm21", T=30, adder=request.param)
    return plain, Hidden(plain, seed=1)


def test_every_vector_of_a_hidden_network_is_the_plain_one_once_it_is_put_in_order(pair):
    plain, hidden = pair
    unhide = hidden.labels["unhide"]
    for step in (1, 5, 9):
        theirs = hidden.activations("B()E", step)
        for name, vector in plain.activations("B()E", step).items():
            assert torch.equal(theirs[name][unhide[name]], vector), name


def test_forward_alone_runs_a_hidden_network_from_tensors(pair):
    _, hidden = pair
    word, machine = "B(())E", hidden.machine
    tape, column = hidden.encode(word), hidden.initial(word)
    history = column.unsqueeze(0)[:0]
    for now in list(machine.trace(word))[1:]:
        with torch.no_grad():
            following = hidden(column, history, tape) + hidden.beta(now.step)
        history, column = torch.cat([history, column.unsqueeze(0)]), following
        (reading,) = hidden.read_columns(column.unsqueeze(0))
        assert (reading.state, reading.symbol, reading.position) == (now.state, now.symbol, now.head % 32)
    assert now.state == "T"


def test_the_weights_are_the_plain_ones_once_rows_and_columns_are_put_in_order(pair):
    plain, hidden = pair
    changed = 0
    for name, numbers in hidden.state_dict().items():
        restored = numbers
        for axis, vector in enumerate(hidden.labels["axes"][name]):
            restored = restored.index_select(axis, torch.tensor(hidden.labels["unhide"][vector]))
        assert torch.equal(restored, plain.state_dict()[name]), name
        changed += not torch.equal(numbers, plain.state_dict()[name])
    assert changed > len(hidden.state_dict()) / 2


def test_no_two_vectors_share_an_order_but_those_that_the_heads_add_to(pair):
    _, hidden = pair
    orders = {tuple(order) for order in hidden.labels["unhide"].values() if len(order) > 8}
    heads = [name for name in hidden.pipeline if name.startswith(("visited", "search", "last", "initial"))]
    assert len({tuple(hidden.labels["unhide"][name]) for name in heads}) == 1
    wide = [name for name, order in hidden.labels["unhide"].items() if len(order) > 8]
    assert len(orders) == len(wide) - len(heads) - 2  # the word has the heads' order, the last vector the column's


def test_another_seed_hides_in_another_order(pair):
    plain, hidden = pair
    assert Hidden(plain, seed=1).labels == hidden.labels
    assert Hidden(plain, seed=2).labels["unhide"]["column"] != hidden.labels["unhide"]["column"]


def test_a_hidden_network_runs_batches_and_copies_and_keeps_its_type(pair):
    plain, hidden = pair
    words = ["B()E", "B)E", "", "B(("]
    assert hidden.run_batch(words) == plain.run_batch(words)
    assert copy.deepcopy(hidden).run("B()E") == plain.run("B()E")
    double = Hidden(copy.deepcopy(plain).double(), seed=1)
    assert {numbers.dtype for numbers in double.parameters()} == {torch.float64}
    assert double.run("B()E") == plain.run("B()E")


def test_weights_that_were_changed_before_hiding_are_the_ones_that_are_hidden(pair):
    changed = copy.deepcopy(pair[0])
    with torch.no_grad():
        changed.pipeline["visited"].null_value += 0.5
    assert Hidden(changed, seed=1).pipeline["visited"].null_value.item() == 0.5


def test_an_engine_that_relies_on_the_order_refuses_a_hidden_network(pair):
    with pytest.raises(ValueError, match=r"engine='indexed' runs wcm21, .*; this is wcm21 with a hidden basis"):
        pair[1].run("B()E", engine="indexed")


@pytest.mark.parametrize("ending", ["json", "safetensors"])
def test_a_hidden_network_is_not_saved_as_a_plain_one(pair, ending, tmp_path):
    with pytest.raises(ValueError, match=r"'wcm21 with a hidden basis' is not registered, .*state_dict\(\)"):
        turing.save(pair[1], tmp_path / f"net.{ending}")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_step_of_a_hidden_network_in_onnx_keeps_it_hidden(pair, tmp_path):
    import onnx
    from test_exchange import assert_runs_agree, onnx_step

    turing.save(pair[1], tmp_path / "step.onnx")
    assert assert_runs_agree(onnx_step(tmp_path / "step.onnx"), pair[1], "B()E", 30) == 9
    told = {entry.key for entry in onnx.load(tmp_path / "step.onnx").metadata_props}
    assert told == {"turing", "construction", "options"}


def gates(lines) -> set[tuple[str, frozenset[str]]]:
    """What each place is, whatever the order of the inputs. A copy may go unsaid where a place stays."""
    return {(line.place, frozenset(re.split(r"[(), ]+", line.gate))) for line in lines if "COPY" not in line.gate}


def test_equations_of_a_hidden_layer_have_the_right_names():
    plain = turing.compile(zoo["bb2"], "wcm21", T=4, adder="lookahead")
    hidden = Hidden(plain, seed=1)
    for name in ("detect", "carry", "choose"):
        one, other = (turing.show(net.pipeline[name]).layers[0] for net in (plain, hidden))
        assert gates(one) == gates(other)


# Bad input.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": -1}, "n, the number of machines, must be an integer of at least 0, and -1 was given"),
        ({"n": True}, "and True was given"),
        ({"n": 1, "states": (3, 2)}, r"states is the least and the greatest number, .* \(3, 2\) was given"),
        ({"n": 1, "states": 3}, "states is the least and the greatest number"),
        ({"n": 1, "symbols": (0, 2)}, "symbols is the least and the greatest number"),
        ({"n": 1, "construction": "ss95", "hide": True}, "hide permutes the basis of a transformer"),
    ],
)
def test_bad_options_are_refused_at_once(options, message):
    with pytest.raises(ValueError, match=message):
        corpus(**options)


def test_options_that_no_construction_has_are_refused_by_the_compiler():
    with pytest.raises(TypeError, match="ss95: got an unexpected keyword argument 'adder'"):
        next(corpus(1, construction="ss95", adder="ripple"))
    with pytest.raises(ValueError, match="T is the maximal number of steps"):
        next(corpus(1, T="many"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": None}, "an integer, and seed=None was given"),
        ({"seed": 1.0}, "seed=1.0 was given"),
        ({"seed": True}, "seed=True was given"),
        ({"states": (2, None)}, "states is the least and the greatest number"),
        ({"states": (2.5, 3.5)}, "states is the least and the greatest number"),
        ({"construction": "foo"}, "A construction is one of .*, and 'foo' was given"),
        ({"hide": "no"}, "hide is True, False or 'orthogonal'"),
    ],
)
def test_odd_arguments_are_refused_at_once(options, message):
    with pytest.raises(ValueError, match=message):
        corpus(1, **options)


def test_the_names_of_a_hidden_network_are_where_its_numbers_are(pair):
    plain, hidden = pair
    column = hidden.initial("B()E")
    assert column[hidden.layout.names().index("st[I]")] == 1
    assert plain.initial("B()E")[plain.layout.names().index("st[I]")] == 1
    assert not hasattr(hidden.layout, "scr3")
