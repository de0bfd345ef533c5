"""The transformer of Li and Wang: every number of the specification, tokens by the formula, and windows."""

from collections import Counter
from itertools import pairwise, product

import pytest
import torch
from hypothesis import given, settings
from long_runs import PARENTHESES, STAYS, SWEEPER, same
from machines import machines_and_words, walker
from test_whole_traces import in_every_type, watched

import turing
from turing.machine import TuringMachine
from turing.queue import LiWang25, Token, step, vocabulary
from turing.wcm import CapacityError
from turing.zoo import zoo

torch.set_num_threads(1)  # on small matrices threads wait for each other
slow = pytest.mark.slow


def moves(machine, word, steps):
    """How often the head went to the right, to the left and nowhere."""
    heads = [now.head for now in machine.trace(word, steps)]
    return Counter(after - before for before, after in pairwise(heads))


def formula(machine, word, steps, window):
    """The tokens of a run."""
    found = moves(machine, word, steps)
    return found[1] + window * (found[-1] + found[0])


# Against the specification, in every number type.


@in_every_type
def test_every_number_is_the_one_that_the_specification_gives(dtype):
    for machine, words in ((PARENTHESES, ["B()E", "B)E", ""]), (STAYS, ["", "1"]), (walker(-1), ["a"])):
        report = turing.verify(LiWang25(machine).to(dtype), machine, words, 8)
        assert report, str(report)
        assert report.numbers > 1_000


def test_a_network_of_another_machine_is_found_out_at_the_step_at_which_it_differs():
    other = TuringMachine(PARENTHESES.delta | {("R", ")"): ("M", "*", 1)}, "I", PARENTHESES.halting, "E")
    (found,) = turing.verify(LiWang25(other), PARENTHESES, ["B()E"]).divergences
    assert (found.step, found.layer) == (3, "transition")


# Tokens.


@pytest.mark.parametrize("runs", [25, pytest.param(300, marks=slow)])
def test_a_run_takes_a_token_for_each_move_to_the_right_and_a_round_for_each_other_step(runs):
    tried = Counter()

    @settings(max_examples=runs, deadline=None, derandomize=True, database=None)
    @given(machines_and_words(words=1, longest=6, most_states=4, most_symbols=4))
    def compare(machine_and_words):
        machine, (word,) = machine_and_words
        cells = [now.head for now in machine.trace(word, 20)]
        window = max([*cells, len(word) - 1]) - min(cells) + 1 + tried["runs"] % 5
        run = turing.compile(machine, "liwang25").run(word, 20, window=window)
        assert run == machine.run(word, 20)
        assert run.micro_steps == formula(machine, word, 20, window)
        tried.update(runs=1, stays=moves(machine, word, 20)[0], tokens=run.micro_steps)

    compare()
    print(dict(tried))
    assert tried["runs"] >= runs
    assert tried["stays"] >= runs
    assert tried["tokens"] >= 20 * runs


def test_the_weights_are_the_same_tensors_for_a_window_of_8_and_of_800():
    network = LiWang25(PARENTHESES)
    short, long = network.within(8), network.within(800)
    assert [numbers.data_ptr() for numbers in short.parameters()] == [p.data_ptr() for p in long.parameters()]
    runs = [each.run("B()E", 3) for each in (short, long)]
    assert runs[0] == runs[1] == PARENTHESES.run("B()E", 3)
    assert [run.micro_steps for run in runs] == [2 + 8, 2 + 800]
    assert sum(numbers.numel() for numbers in network.parameters()) == 6_226


def test_the_nest_on_which_a_literal_softmax_fails_is_exact():
    word = "B(((((())))))E"
    network, unclear = watched(LiWang25(PARENTHESES))
    assert same(network, PARENTHESES, word, 1_000) == 100
    assert network.run(word).micro_steps == formula(PARENTHESES, word, 100, len(word) + 2) == 834
    assert unclear == []


@pytest.mark.parametrize(
    ("steps", "window", "tokens"), [(100, 20, 1_031), pytest.param(2_000, 100, 101_792, marks=slow)]
)
def test_a_long_run_is_exact_and_its_memory_is_the_window(steps, window, tokens):
    network, seen = LiWang25(SWEEPER).within(window), set()
    network.pipeline["oldest"].register_forward_hook(lambda _, inputs, __: seen.add(tuple(map(len, inputs[1:3]))))
    run = network.run("", steps)
    print(f"{run.steps:,} steps, {run.micro_steps:,} tokens in a window of {window}")
    assert run == SWEEPER.run("", steps)
    assert run.micro_steps == formula(SWEEPER, "", steps, window) == tokens
    assert seen == {(window, window)}


def test_the_vocabulary_has_every_token_of_the_rules_and_only_those():
    for machine in (PARENTHESES, STAYS, zoo["copier"]):
        tokens = vocabulary(machine)
        assert len(set(tokens)) == len(tokens)
        symbols = [token for token in tokens if token.state is not None]
        for newest, oldest in product(symbols, symbols):
            if newest.state in machine.halting and newest.mode == "run":
                continue
            assert step(machine, newest, oldest) in tokens
    assert len(LiWang25(zoo["universal"]).vocabulary) == 2_454


def test_tokens_of_states_and_symbols_with_odd_names_have_names_of_their_own():
    machine = TuringMachine(
        {("A", "x"): ("A→A", "x", 1), ("A→A", "x"): ("A", "x→A", 1), ("A", "x→A"): ("A", "x", 0)}, "A", (), "x"
    )
    network = LiWang25(machine)
    assert len(set(network.vocabulary)) == len(network.vocabulary) == len(network.tokens)
    assert network.vocabulary[1] == "('x', 'A', 'run', False, None)"
    assert turing.verify(network, machine, ["xx"], 4)


@pytest.mark.parametrize("window", [1, 2, 3])
@pytest.mark.parametrize("move", [-1, 0, 1])
def test_a_window_may_be_of_one_cell_and_then_every_step_takes_one_token(window, move):
    machine = TuringMachine({("A", "0"): ("B", "1", move), ("B", "1"): ("A", "0", -move)}, "A", (), "0")
    network = LiWang25(machine).within(window)
    if window == 1 and move:
        with pytest.raises(CapacityError, match=f"^At step 1 the head comes to cell {move}, "):
            network.run("0", 6)
        return
    assert network.run("0", 6) == machine.run("0", 6)
    assert network.run("0", 6).micro_steps == formula(machine, "0", 6, window)


# Attention is one-hot by the network's own check.


@pytest.mark.parametrize(("dtype", "kappa"), [(torch.float32, 104), (torch.float64, 746), (torch.bfloat16, 104)])
def test_attention_is_one_hot_from_a_kappa_on_that_the_network_checks(dtype, kappa):
    network, unclear = watched(LiWang25(PARENTHESES, kappa=kappa).to(dtype))
    assert same(network, PARENTHESES, "B()E", 100) == 10
    assert network.patterns("B()E", 5)["oldest"].tolist() == [1, 0, 0, 0, 0, 0]
    assert unclear == []
    least = {torch.bfloat16: 93}.get(dtype, kappa)
    with pytest.raises(ValueError, match=rf"^κ = {least - 1} is too small for {dtype}: .* take κ = {least} or more"):
        turing.compile(PARENTHESES, "liwang25", kappa=least - 1).to(dtype).run("B()E")


def test_a_softer_head_would_mix_the_symbols_of_all_cells():
    network = LiWang25(PARENTHESES, kappa=2)
    found = network.step(network.start(["B()E"])).vectors["oldest"]
    assert ((found > 0) & (found < 1)).sum() == 4


# Windows.


def test_without_a_window_a_run_begins_with_two_cells_more_than_the_word_and_doubles():
    machine = walker(1)
    network = LiWang25(machine)
    for steps, window in ((5, 6), (6, 12), (11, 12), (12, 24), (24, 48)):
        run = network.run("aaaa", steps)
        assert run == machine.run("aaaa", steps)
        assert len(network.run_with_cache("aaaa", steps)[1]["oldest.pattern"][0]) == window - 1 + run.micro_steps
    back = walker(-1)
    assert [LiWang25(back).run("a", steps).micro_steps for steps in (2, 3, 5, 6)] == [6, 18, 30, 72]


def test_a_trace_goes_on_where_it_was_when_the_window_is_doubled():
    network = LiWang25(walker(-1))
    trace = network.trace("a", 9)
    assert [(now.step, now.head) for now in trace] == [(n, -n) for n in range(10)]
    assert network.activations("a", 40)["column"].shape == (network.layout.width,)
    vectors = list(network.vectors(["a", ""], 4))
    assert vectors[0]["column"].shape == (2, network.layout.width)


@pytest.mark.parametrize(
    ("machine", "word", "window", "message"),
    [
        (walker(-1), "aa", 4, "At step 3 the head comes to cell -3, and a window of 4 cells has no room for the cells "
         "-3 to 1. Give window=5 or more, or none."),
        (walker(1), "aa", 2, "At step 2 the head comes to cell 2, and a window of 2 cells has no room for the cells "
         "0 to 2. Give window=3 or more, or none."),
        (PARENTHESES, "B()E", 3, "The word has 4 cells, and the window 3. Give window=4 or more, or none."),
    ],
)  # fmt: skip
def test_a_window_that_is_too_small_is_named_with_the_step(machine, word, window, message):
    network = LiWang25(machine)
    with pytest.raises(CapacityError) as refused:
        network.run(word, window=window)
    assert str(refused.value) == message
    with pytest.raises(CapacityError):
        turing.verify(network.within(window), machine, [word])


@pytest.mark.parametrize("window", [0, -1, 2.5, "8", True])
def test_a_window_is_an_integer_from_1_up(window):
    with pytest.raises(
        ValueError, match=r"^window, the number of cells that go round, must be an integer from 1 to 100000"
    ):
        LiWang25(PARENTHESES).run("B()E", window=window)


def test_options_that_are_not_known_are_refused_by_name():
    with pytest.raises(
        TypeError, match=r"^liwang25: got an unexpected keyword argument 'window'\. Its options: kappa\."
    ):
        turing.compile(PARENTHESES, "liwang25", window=8)
    with pytest.raises(TypeError, match=r"^A run of liwang25 has no option 'windows'\. Its options: window\."):
        LiWang25(PARENTHESES).run("B()E", windows=8)
    with pytest.raises(ValueError, match=r"^engine='native' runs wcm21"):
        LiWang25(PARENTHESES).run("B()E", engine="native")


def test_a_token_that_is_not_in_the_vocabulary_is_refused():
    network = LiWang25(PARENTHESES)
    with pytest.raises(ValueError, match=r"^Token '\(→T' is not in this network's vocabulary of 89: ∅ E→I B→I"):
        network.column("(→T")
    assert network.column("∅").tolist() == [0] * 26
    with pytest.raises(ValueError, match=r"^Symbol 'x' \(cell 1 of the word\) is not in this machine's alphabet"):
        network.run("BxE")


def test_an_embedding_that_is_damaged_stops_the_run():
    network = LiWang25(PARENTHESES)
    network.pipeline["embed"].bias.data += 0.5
    with pytest.raises(ArithmeticError, match=r"^At step 1 one place of st should be 1 and the others 0"):
        network.run("B()E")
    assert network.activations("B()E", 2)["column"].min() == 0.5


# What comes with the base.


def test_all_columns_of_a_run_are_predicted_at_once():
    for word, window in (("B()E", 6), ("B()E", 4), ("", 1)):
        machine = PARENTHESES if word else TuringMachine({("A", "0"): ("A", "1", 0)}, "A", (), "0")
        network = LiWang25(machine).within(window)
        run, cache = network.run_with_cache(word)
        assert torch.equal(network.next_columns(cache["column"], network.encode(word)), cache["embed"])
        pattern = cache["oldest.pattern"]
        assert pattern.argmax(-1).tolist() == list(range(run.micro_steps))
        assert torch.equal(pattern.sum(-1), torch.ones(run.micro_steps))


@slow
def test_one_pass_in_onnx_gives_what_torch_gives_on_a_whole_run(tmp_path):
    import onnx
    import onnxruntime

    network = LiWang25(PARENTHESES)
    network.save(tmp_path / "pass.onnx")
    assert [x.name for x in onnx.load(tmp_path / "pass.onnx").graph.input] == ["column", "tape"]
    session = onnxruntime.InferenceSession(tmp_path / "pass.onnx", providers=["CPUExecutionProvider"])
    _, cache = network.run_with_cache("B()E")
    column, tape = network.initial("B()E").detach(), network.encode("B()E").detach()
    for expected in cache["embed"]:
        (found,) = session.run(["next"], {"column": column.numpy(), "tape": tape.numpy()})
        assert torch.equal(torch.from_numpy(found), expected)
        column, tape = expected, torch.cat([tape, column[None]])[1:]


def test_it_is_told_and_drawn_as_a_head_that_reads_the_oldest_token():
    network = LiWang25(zoo["bb2"])
    text = str(turing.show(network))
    assert "key of the oldest ← key + (1)" in text
    assert "share             ← softmax(9999 query · key) over the columns of the window" in text
    assert "looks at the window, the oldest sym1 mark → sym3 end" in turing.architecture(network).alt
    assert "oldest" in turing.draw(network.pipeline["oldest"]).svg
    assert network.about()["tokens"] == "15"


def test_a_word_fills_the_window_with_blanks_after_it():
    network = LiWang25(PARENTHESES)
    assert network.prompt("B()E") == ["B→I", "(→I", ")→I", "E→I", "E→I", "E→I"]
    assert network.within(4).prompt("B()E") == ["B→I", "(→I", ")→I", "E→I"]
    assert network.encode("B()E").shape == (5, 26)


def test_tokens_are_written_as_a_cell_and_what_the_head_does():
    assert [str(Token(*parts)) for parts in (("a", "q"), ("a", "q", "stay"), ("a", "q", "stay", True))] == [
        "a→q", "a↻q", "a·↻q"
    ]  # fmt: skip
