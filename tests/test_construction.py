"""What every construction has, for each one of the registry in each of its arithmetics."""

import inspect
import json
from fractions import Fraction

import numpy as np
import pytest
import torch
from whole_tape import WholeTape

import turing
from turing import ir
from turing.cli import main
from turing.construction import Construction, constructions
from turing.exact import Exact
from turing.machine import TuringMachine

torch.set_num_threads(1)  # on small matrices threads wait for each other
SMALL = TuringMachine.parse("1RB1LB_1LA1RZ")  # the busy beaver of two states
FLIP = TuringMachine(
    {("A", "0"): ("A", "1", 1), ("A", "1"): ("B", "0", 1), ("B", "1"): ("A", "1", 0), ("B", "_"): ("H", "0", -1)},
    "A", {"H"}, "_",
)  # fmt: skip
WORDS = ["", "0", "01", "1", "10", "110", "1_"]  # halts, jams, moves both ways and stays
FLOATS = ("float32", "float64")
BASE = [name for name, _ in inspect.getmembers(Construction, inspect.isfunction) if not name.startswith("_")]

# Parameters that no run depends on, by construction or in one of its arithmetics, each with the reason.
IMMATERIAL = {
    "wcm21": {
        "pipeline.last.null_value": "some column always has the number that is asked for, that of step 0 if no other: "
        "the null pair of this head never wins",
    },
    "perez21": {
        "pipeline.count.query.weight": "the keys of this head are 0, and every query scores 0 with each of them",
        "pipeline.count.query.bias": "likewise",
        "pipeline.count.key.bias": "keys that are all the same tie as well",
    },
    "merrill24": {
        "pipeline.count.query.weight": "the keys of this head are 0, and every query scores 0 with each of them",
        "pipeline.count.query.bias": "likewise",
        "pipeline.count.key.bias": "keys that are all the same tie as well",
        **{
            f"pipeline.back{k}.{part}": reason
            for k in (1, 2, 3)
            for part, reason in (
                ("query.weight", "one column is seen, and it is found if it scores more than the 0 of the null key"),
                ("key.weight", "likewise"),
                ("null_value", "what the first columns find where there is none yet: with 1 their f is greater, and "
                 "still each is less than the one before"),
            )
        },
    },
    "liwang25": {
        "pipeline.oldest.query.weight": "one column asks, and however large its query is, the oldest token scores most",
        "pipeline.oldest.key.bias": "the same for every token of the window",
    },
    "li24": {
        "pipeline.first.key.bias": "the same added to every key changes every score of a column by the same",
        "pipeline.second.key.bias": "likewise",
        "pipeline.gate.1.bias": "the same added to both logits changes no argmax",
        "pipeline.unembed.bias": "likewise",
    },
    ("merrill24", "float32"): {
        "pipeline.word.query.bias": "the numbers of an address add up to 0: the same added to each changes no product",
        "pipeline.word.key.bias": "likewise",
    },
}  # fmt: skip
IMMATERIAL["merrill24", "float64"] = IMMATERIAL["merrill24", "float32"] | {
    "pipeline.last.key.bias": "likewise; the score of each key is greater by 1, for which float32 has no room",
}


def takes_arithmetic(name):
    return "arithmetic" in inspect.signature(constructions()[name]).parameters


CASES = [(name, kind) for name in constructions() for kind in (*FLOATS, *["exact"][: takes_arithmetic(name)])]
every_case = pytest.mark.parametrize(("name", "arithmetic"), CASES)
every_case_once = pytest.mark.parametrize(
    ("name", "arithmetic"), [pytest.param(*case, marks=[pytest.mark.slow] * ("float64" in case)) for case in CASES]
)  # float64 goes the ways of float32
every_construction = pytest.mark.parametrize("name", list(constructions()))


PARENTHESES = turing.zoo["balanced_parentheses"]
NESTED = ["B)E", "B(())E", "B()()E"]  # a cell left of the word, steps beyond 16, cells visited again and again


def build(name, arithmetic, machine=FLIP, steps=16):
    options = {"arithmetic": arithmetic} if takes_arithmetic(name) else {}
    network = turing.compile(machine, name, **constructions()[name].options_for(options, "0" * 8, steps))
    return network if takes_arithmetic(name) else network.to(getattr(torch, arithmetic))


def outcome(network, words=WORDS, steps=16):
    """How each run ends, or the kind of error that refuses it."""
    return list(outcomes(network, words, steps))


def outcomes(network, words, steps):
    for word in words:
        try:
            yield network.run(word, steps)
        except (ArithmeticError, ValueError, TypeError) as error:
            yield type(error)


def differs(network, right, words=WORDS, steps=16):
    """Whether some run does not end as it should; none is run after the first of these."""
    return any(found != expected for found, expected in zip(outcomes(network, words, steps), right, strict=True))


@pytest.fixture(scope="module", params=CASES, ids="-".join)
def network(request):
    return build(*request.param)


def test_the_construction_in_a_test_file_is_short():
    assert len(inspect.getsource(WholeTape).splitlines()) <= 55


@every_construction
def test_signatures_are_those_of_the_base(name):
    for method in BASE:
        own, base = (inspect.signature(getattr(kind, method)) for kind in (constructions()[name], Construction))
        assert list(own.parameters) == list(base.parameters), method


def test_a_run_is_the_machines(network):
    for word in WORDS:
        assert network.run(word, 16) == FLIP.run(word, 16)
        assert list(network.trace(word, 16)) == list(FLIP.trace(word, 16))
    assert network.run_batch(WORDS, 16) == [FLIP.run(word, 16) for word in WORDS]
    assert network.run("01", None) == FLIP.run("01")
    assert network.run("01", engine="torch") == FLIP.run("01")


@every_case
def test_a_busy_beaver_is_run_to_its_halt(name, arithmetic):
    assert build(name, arithmetic, SMALL).run("", 16) == SMALL.run("")


def test_verify_compares_every_number_and_counts_the_machines_steps(network):
    report = turing.verify(network, FLIP, WORDS, 16)
    assert report
    jams = sum(FLIP.run(word, 16).status == "jammed" for word in WORDS)
    assert report.steps == sum(FLIP.run(word, 16).steps for word in WORDS) + jams
    assert report.passes >= report.steps
    assert turing.verify(network, FLIP, WORDS, 16, tolerance=1)


def test_vectors_end(network):
    passes = list(network.vectors(WORDS, 2))
    assert 2 <= len(passes) <= network.max_passes(WORDS, 2)
    for vectors in passes:
        assert list(vectors) == ["column", *network.pipeline]
        assert all(len(vectors[layer]) == len(WORDS) for layer in vectors)


def test_forward_takes_the_first_column_to_what_leaves_the_last_module(network):
    word = "01"
    column, tape = network.initial(word), network.encode(word)
    expected = list(network.activations(word, 1).values())[-1]
    found = network(column, None, tape)
    assert torch.equal(found, expected) if isinstance(found, torch.Tensor) else found == expected
    if network.arithmetic == "exact":
        assert isinstance(column, (Exact, list))


def nothing(module, inputs, output):
    """A hook that patches what leaves a module with zeros."""
    if isinstance(output, torch.Tensor):
        return torch.zeros_like(output)
    if isinstance(output, list):
        return [Exact([0] * len(row)) for row in output]
    return Exact([0] * len(output))


def test_hooks_fire_and_can_patch(network):
    right, seen = outcome(network), set()
    handles = [
        module.register_forward_hook(lambda module, inputs, output, layer=layer: seen.add(layer))
        for layer, module in network.pipeline.items()
    ]
    assert outcome(network) == right
    assert seen == {*network.pipeline}
    for handle in handles:
        handle.remove()
    for layer, module in network.pipeline.items():
        handle = module.register_forward_hook(nothing)
        assert differs(network, right), layer
        handle.remove()
    assert outcome(network) == right


@every_case_once
def test_every_parameter_matters(name, arithmetic):
    machine, words, steps = {
        "bhattamishra20": (FLIP, WORDS, 24),  # in floats its stacks hold few bits
        "liwang25": (FLIP, WORDS, 24),  # stays and jams matter
        "li24": (FLIP, WORDS[2:4], 8),  # a pass is a gate
    }.get(name, (PARENTHESES, NESTED, 24))
    network = build(name, arithmetic, machine, steps)
    right = outcome(network, words, steps)
    immaterial = set()
    for key, numbers in network.named_parameters():
        kept, changed = numbers.detach().clone(), False
        for change in (lambda old: old * 0, lambda old: old + 1, lambda old: -old):
            with torch.no_grad():
                numbers.copy_(change(kept))
            changed = changed or differs(network, right, words, steps)
        with torch.no_grad():
            numbers.copy_(kept)
        immaterial |= set() if changed else {key.replace("bias_numerators", "bias").replace("numerators", "weight")}
    assert immaterial == {*IMMATERIAL.get(name, {}), *IMMATERIAL.get((name, arithmetic), {})}
    assert outcome(network, words, steps) == right


@every_case
def test_what_is_written_through_data_counts_from_the_next_run_on(name, arithmetic):
    network = build(name, arithmetic)
    right = outcome(network)
    for numbers in network.parameters():
        numbers.data.zero_()
    assert differs(network, right)
    assert not turing.verify(network, FLIP, WORDS[:1], 16)


@every_case
def test_a_file_carries_every_number_and_every_change(name, arithmetic, tmp_path):
    network = build(name, arithmetic)
    numbers = network.state_dict()
    for ending in ("json", "safetensors"):
        network.save(tmp_path / f"net.{ending}")
        again = Construction.load(tmp_path / f"net.{ending}")
        assert type(again) is type(network)
        assert again.arithmetic == network.arithmetic == arithmetic
        assert again.run("01", 16) == FLIP.run("01", 16)
        assert again.state_dict().keys() == numbers.keys()
        assert all(torch.equal(found, numbers[key]) for key, found in again.state_dict().items())
    first = next(network.parameters())
    with torch.no_grad():
        first.view(-1)[0] = -(2**63) if arithmetic == "exact" else first.view(-1)[0] + 1
    network.save(tmp_path / "changed.json")
    again = turing.load(tmp_path / "changed.json")
    assert torch.equal(next(again.parameters()), first)


def test_the_representation_has_every_parameter_and_fits_json(network):
    data = ir.to_dict(network)
    assert set(data["weights"]) == set(dict(network.named_parameters()))
    assert json.loads(json.dumps(data)) == data
    assert [module["name"] for module in data["modules"]] == list(network.pipeline)
    assert data["arithmetic"] == network.arithmetic
    widths = [sum(size if isinstance(size, int) else len(size) for _, size in names) for names in data["layouts"]]
    assert widths[data["modules"][0]["layouts"][0]] == network.layout.width


def test_it_is_shown_and_drawn(network):
    text = str(turing.show(network))
    assert all(layer in text for layer in network.pipeline)
    few = sum(int(numbers.count_nonzero()) for numbers in network.parameters()) <= 10_000
    assert "<svg" in turing.draw(network if few else next(iter(network.pipeline.values()))).svg
    picture = turing.architecture(network)
    assert picture.svg.startswith("<svg")
    for layer, module in network.pipeline.items():
        assert layer in picture.svg or type(module).__name__ in picture.svg


def test_the_whole_run_is_kept_in_a_cache(network):
    run, cache = network.run_with_cache("01")
    assert run == FLIP.run("01")
    for layer in ("column", *network.pipeline):
        assert len(cache[layer]) == run.micro_steps
    for step in (1, run.micro_steps):
        for layer, vector in network.activations("01", step).items():
            kept = cache[layer][step - 1]
            assert torch.equal(kept, vector) if isinstance(vector, torch.Tensor) else kept == vector
        for head, shares in network.patterns("01", step).items():
            row = cache[f"{head}.pattern"][step - 1]
            if network.arithmetic == "exact":
                assert row == shares
                assert sum(shares) == 1
            else:
                assert torch.equal(row[row.nonzero().flatten()], shares[shares.nonzero().flatten()])


@pytest.mark.parametrize("name", list(constructions()))
def test_a_rollout_can_be_differentiated(name):
    network = build(name, "float64")
    columns = network.rollout("01", 3)
    assert columns.shape[0] == 4
    columns.double().pow(2).sum().backward()
    assert any(numbers.grad is not None and numbers.grad.abs().sum() > 0 for numbers in network.parameters())


def test_a_run_that_fails_names_the_step_and_in_a_batch_the_word_too():
    network = build("wcm21", "float32")
    network.pipeline["v"].weight.data += 0.3
    with pytest.raises(ArithmeticError, match=r"^At step 1 ") as alone:
        network.run("01")
    with pytest.raises(ArithmeticError) as in_a_batch:
        network.run_batch(["01", "0"])
    assert str(in_a_batch.value) == f"Word 0 of the batch: {alone.value}"


class Endless(WholeTape):
    """A step of the machine should take three passes, and the network never says that one has ended."""

    passes_per_step = 3

    def read(self, state):
        return [None]


def test_a_network_that_ends_no_step_of_the_machine_is_stopped_after_the_passes_that_one_takes():
    network = Endless(FLIP)
    with pytest.raises(
        ArithmeticError, match=r"^At step 1 no step of the machine has ended in 3 passes of the network"
    ):
        network.run("01")
    with pytest.raises(ArithmeticError, match=r"no step of the machine has ended in 3 passes of the network"):
        network.run_batch(["01"])


def test_a_construction_that_sets_T_runs_for_so_many_steps_and_refuses_more():
    network = WholeTape(PARENTHESES)
    network.T = 5
    assert network.run("B()E") == network.run("B()E", 5) == PARENTHESES.run("B()E", 5)
    assert list(network.trace("B()E")) == list(PARENTHESES.trace("B()E", 5))
    assert turing.verify(network, PARENTHESES, ["B()E"]).steps == 5
    for fails, given in ((network.run, "B()E"), (network.run_batch, ["B()E"]), (network.trace, "B()E")):
        with pytest.raises(ValueError, match=r"^max_steps = 6 is more than T = 5, .*\. Compile it with T=6\.$"):
            fails(given, 6)


def test_the_construction_in_a_test_file_says_whether_the_word_or_the_run_is_too_long():
    network = WholeTape(PARENTHESES, cells=13)
    assert network.run("B()E") == PARENTHESES.run("B()E")
    with pytest.raises(OverflowError, match=r"^A word of 6 symbols needs 14 cells\. Compile with more\.$"):
        network.run("B(())E")
    with pytest.raises(OverflowError, match=r"^At step 4 the head comes to the end of 13 cells\. Compile with more\.$"):
        network.run("B((((")


@every_construction
def test_the_command_line_knows_it(name, tmp_path, capsys):
    file = str(tmp_path / "net.json")
    assert main(["run", "1RB1LB_1LA1RZ", "--network", name]) == 0
    assert main(["compile", "bb2", "--network", name, "-o", file]) == 0
    assert main(["run", file]) == 0
    assert main(["show", file, "--svg", str(tmp_path / "net.svg")]) == 0
    out = capsys.readouterr().out
    assert out.count("halted") == 2
    assert name in out


def test_the_registry_is_named_where_a_construction_is_asked_for():
    for make in (lambda: turing.compile(FLIP, "lstm"), lambda: turing.corpus(1, construction="lstm")):
        with pytest.raises(ValueError, match=f"one of {', '.join(constructions())}, and 'lstm' was given"):
            make()


def test_an_option_that_a_construction_has_not_is_answered_with_those_that_it_has():
    with pytest.raises(TypeError, match=r"conv: got an unexpected keyword argument 'T'\. Its options: cells, arith"):
        turing.compile(FLIP, "conv", T=3)


def test_activations_are_counted_from_1_to_the_end_of_the_run(network):
    with pytest.raises(ValueError, match="the number of a pass, must be an integer of at least 1, and 0 was given"):
        network.activations("01", 0)
    last = network.run("1").micro_steps
    with pytest.raises(ValueError, match=f"Step {last + 1} was asked for, and the run .* ends with step {last}"):
        network.activations("1", last + 1)


def test_batches_refuse_what_is_not_a_list_of_words(network):
    for given in ("01", None, 5):
        with pytest.raises(ValueError, match="A list of words is expected"):
            network.run_batch(given)
    assert network.run_batch([]) == []


def test_numbers_of_numpy_are_integers_too():
    network = turing.compile(FLIP, "wcm21", T=np.int64(16), bits=np.int32(5))
    assert network.run("01", np.int64(8)) == FLIP.run("01")
    assert network.activations("01", np.int64(1))["column"].shape == network.initial("01").shape


@pytest.mark.parametrize("tolerance", [-1, float("nan"), float("inf"), "x", [0]])
def test_a_tolerance_is_a_number_from_0_up(tolerance):
    with pytest.raises(ValueError, match="A tolerance is a number from 0 up, and"):
        turing.verify(build("wcm21", "float32"), FLIP, ["0"], tolerance=tolerance)


def test_what_is_for_floats_says_so_in_exact_arithmetic():
    network = build("ss95", "exact")
    with pytest.raises(TypeError, match="A rollout is differentiated in floats, and this network is exact"):
        network.rollout("01", 2)
    with pytest.raises(TypeError, match="next_columns takes a tensor, and list was given"):
        network.next_columns(network.run_with_cache("01")[1]["column"])


def test_what_is_no_state_and_columns_of_another_width_are_refused(network):
    for nothing in (None, network.initial("01")):
        with pytest.raises(TypeError, match=r"step takes a state, as network\.start\(\[word\]\) gives it, and"):
            network.step(nothing)
    width = network.layout.width
    for shape in ((), (width,), (2, width + 1), (1, 2, 5)):
        message = rf"next_columns takes columns of the shape \(…, t, {width}\), and a tensor of the shape \("
        with pytest.raises(ValueError, match=message):
            network.next_columns(torch.zeros(shape))
    kind = torch.float64 if network.arithmetic == "exact" else network._like.dtype
    if any(getattr(module, "mask", "") == "cross" for module in network.pipeline.values()):
        with pytest.raises(TypeError, match=r"looks at the word: give next_columns a tape.*Given: None"):
            network.next_columns(torch.zeros(2, width, dtype=kind))


def test_the_layout_of_a_module_that_is_not_there():
    with pytest.raises(ValueError, match=r"No module is called 'F9'\. There are: column F4 F3 F2 F1\."):
        build("ss95", "exact").layout_of("F9")


def test_damage_can_be_looked_at_by_its_activations():
    network = build("wcm21", "float32")
    network.pipeline["v"].weight.data += 0.3
    assert network.activations("01", 2)["column"].max() > 1


def test_exact_vectors_are_one_type():
    x = Exact.of([Fraction(1, 3), 2])
    assert (x.numerators, x.denominator) == ([1, 6], 3)
    assert x == Exact([2, 12], 6)
    assert Exact([1], 4) + Exact([1], 6) == Exact([5], 12)  # neither denominator is a multiple of the other
    assert Exact([2], 4) == Exact([3], 6) != Exact([2], 6)


def test_start_takes_one_word_where_words_do_not_run_side_by_side():
    network = turing.compile(turing.zoo["bb2"], "conv")
    with pytest.raises(ValueError, match="conv takes one word at a time here, and 2 were given"):
        network.start(["1", "11"])


@every_construction
def test_parameters_of_two_types_are_refused(name):
    network = build(name, "float32")
    parameter = next(network.parameters())
    parameter.data = parameter.data.to(torch.bfloat16 if parameter.is_floating_point() else torch.float64)
    with pytest.raises(TypeError, match=r"A network computes in one type, and here are|built for float32"):
        network.run("1")
