"""The machine code of a network: all that it computes is what plain torch and the machine do, on machines at random, on
changed weights, at the edges, and for many tapes.
"""

import itertools
import subprocess
import sys
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest
import torch
from machines import numbered, walker
from ways import lookahead as compiled

import turing
from paper import BALANCED
from turing.engine import Native, Program, Refusal, Stacks, generated, run_batch
from turing.engine.together import Job, work
from turing.machine import TuringMachine
from turing.ss import SS95
from turing.wcm import WCM21
from turing.zoo import zoo

slow = pytest.mark.slow


def machine_at_random(draw: Random) -> tuple[TuringMachine, list[str]]:
    """1 to 8 states and symbols, three moves, some rules missing; and a word."""
    states, symbols = "ABCDEFGH"[: draw.randint(1, 8)], "_0123456"[: draw.randint(1, 8)]
    halting = {states[-1]} if len(states) > 1 and draw.random() < 0.5 else set()
    going = [q for q in states if q not in halting]
    pairs = [(q, a) for q in going for a in symbols if draw.random() < 0.95 or (q, a) == (states[0], "_")]
    delta = {pair: (draw.choice(states), draw.choice(symbols), draw.choice((-1, -1, 0, 1, 1))) for pair in pairs}
    machine = TuringMachine(delta, states[0], halting, "_", alphabet=symbols)
    return machine, [draw.choice(symbols) for _ in range(draw.randint(0, 6))]


def random_machines_are_exact(number: int, seed: int, vectors: int) -> dict[str, int]:
    """Compare runs and whole traces, and for the first so many machines every vector; what was compared."""
    draw, counts = Random(seed), {"machines": 0, "configurations": 0, "vectors": 0, "generated": 0}
    for k in range(number):
        machine, word = machine_at_random(draw)
        T = draw.choice((20, 100, 300))
        net = compiled(machine, T, (torch.float32, torch.float64)[k % 2], bits=max((T - 1).bit_length(), 9))
        program = Program(net)
        run = net.run(word, engine="native")
        assert run == machine.run(word, T), f"machine {k} of seed {seed}"
        trace = numbered(net.trace(word, engine="native"))
        assert trace == numbered(machine.trace(word, T)), f"machine {k} of seed {seed}"
        counts["machines"] += 1
        counts["configurations"] += len(trace)
        counts["generated"] += program.why_slow == ""
        if k < vectors:
            steps = min(T, 40)
            for ours, plain in zip(net.vectors([word], steps, "native"), net.vectors([word], steps), strict=True):
                assert list(ours) == list(plain)
                assert all(torch.equal(ours[name], plain[name]) for name in plain), f"machine {k} of seed {seed}"
                counts["vectors"] += len(plain)
    return counts


def test_100_random_machines_are_exact():
    counts = random_machines_are_exact(100, 1, 6)
    assert counts["generated"] == counts["machines"] == 100
    assert counts["configurations"] >= 3_000
    assert counts["vectors"] >= 500


@slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_1000_random_machines_are_exact(seed):
    counts = random_machines_are_exact(100, seed, 10)
    print(counts)
    assert counts["generated"] == counts["machines"] == 100
    assert counts["configurations"] >= 3_000


# Changed weights.


def changed(net: WCM21, draw: Random) -> None:
    """One to three weights or biases of the layers become other integers, or now and then no integers."""
    layers = [name for name in net.pipeline if name in ("detect", "carry", "move", "choose", "assemble")]
    for _ in range(draw.randint(1, 3)):
        layer = net.pipeline[draw.choice(layers)]
        numbers = layer.weight if draw.random() < 0.8 else layer.bias
        places = numbers.nonzero().tolist() if draw.random() < 0.7 else [[draw.randrange(n) for n in numbers.shape]]
        if places:
            with torch.no_grad():
                value = draw.choice((-2, -1, 0, 0, 1, 1, 2, 3, 130, 0.5))
                numbers[tuple(draw.choice(places))] = value


def outcome(net: WCM21 | SS95, word: str, engine: str, limit: int | None = None) -> object:
    try:
        return net.run(word, limit, engine=engine)
    except ArithmeticError as error:
        return type(error), str(error)


def changed_networks_agree(number: int, seed: int) -> dict[str, int]:
    draw, ends = Random(seed), {"run": 0, "error": 0, "refused": 0, "vectors": 0, "generated": 0}
    for k in range(number):
        net = compiled(BALANCED, 64)
        changed(net, draw)
        ends["generated"] += Program(net).why_slow == ""
        for word in ("B()E", "B(()", "B)("):
            plain, found = outcome(net, word, "torch"), outcome(net, word, "native")
            refused = isinstance(found, tuple) and found[0] is Refusal
            assert refused or found == plain, f"network {k} of seed {seed}, {word}"
            ends["refused" if refused else "error" if isinstance(found, tuple) else "run"] += 1
        theirs, ours = net.vectors(["B()E"], 9), net.vectors(["B()E"], 9, engine="native")
        try:
            for one, other in zip(ours, theirs, strict=True):
                if all((vector.abs() < 2**20).all() for vector in other.values()):
                    assert all(torch.equal(one[name], other[name]) for name in other), f"network {k} of seed {seed}"
                    ends["vectors"] += len(other)
        except Refusal:
            pass
    return ends


def test_15_networks_with_changed_weights_end_as_plain_torch_says_or_are_refused():
    ends = changed_networks_agree(15, 0)
    assert ends["generated"] >= 6
    assert min(ends["run"], ends["error"]) >= 3


@slow
@pytest.mark.parametrize("seed", range(1, 6))
def test_500_networks_with_changed_weights_end_as_plain_torch_says_or_are_refused(seed):
    ends = changed_networks_agree(100, seed)
    print(ends)
    assert ends["generated"] >= 50
    assert min(ends["run"], ends["error"], ends["refused"]) >= 10


# Edges.


@pytest.mark.parametrize("bits", [1, 2, 3, 31, 32, 33, 64])
@pytest.mark.parametrize("move", [-1, 0, 1])
def test_positions_of_any_size_end_where_the_machine_or_plain_torch_does(bits, move):
    net, word = compiled(walker(move), min(2**bits, 20), bits=bits), "a" * min(2**bits, 3)
    assert outcome(net, word, "native") == outcome(net, word, "torch")


@pytest.mark.parametrize(("states", "symbols"), [(1, 1), (64, 2), (65, 2), (3, 64), (3, 65), (40, 5)])
def test_slices_longer_than_a_word_are_exact(states, symbols):
    draw = Random(states)
    names, marks = [f"q{k}" for k in range(states)], [f"{k}" for k in range(symbols)]
    delta = {(q, a): (draw.choice(names), draw.choice(marks), draw.choice((-1, 1))) for q in names for a in marks}
    machine = TuringMachine(delta, names[0], (), "0")
    net = compiled(machine, 150, bits=9)
    word = marks[-3:]
    assert Program(net).why_slow == ""
    assert net.run(word, engine="native") == machine.run(word, 150)
    assert numbered(net.trace(word, engine="native")) == numbered(machine.trace(word, 150))


def test_a_step_that_is_not_made_by_the_code_is_made_by_the_index_and_so_are_the_others():
    """A jam is left to it; so is a column whose direction is read as 1 and is 1.25."""
    net = compiled()
    run = Native(net, "B(B", guarded=True)
    assert not run.advance(100)
    assert run.slow is not None
    with torch.no_grad():
        net.pipeline["choose"].weight[net.layout_of("choose").scr5["R"]] *= 1.25
    assert Program(net).why_slow.startswith("pipeline.choose.weight[")
    assert net.run("B()E", engine="native") == BALANCED.run("B()E")


# Code.


def test_machines_of_equal_shape_share_their_code():
    """The rules are in tables that the code is given, and not in the code."""
    texts = {Program(compiled(zoo[name], 100)).text() for name in ("bb5", "antihydra")}
    assert len(texts) == 1
    for rule in ("A", "B", "state", "delta"):
        assert rule not in texts.copy().pop().split()


def test_no_table_of_the_code_has_a_row_for_two_inputs():
    """As many rows as there are places in a slice, rounded up to words, and one for none."""
    program = Program(compiled(zoo["universal"], 100)).bits
    for layer in program.layers:
        for word in layer.words:
            for term in word.terms:
                if isinstance(term, generated.Row):
                    names = {layer.inputs[k].name for k in term.words}
                    assert len(names) == 1


COLD = """
import time, torch
torch.set_num_threads(1)
begun = time.process_time()
import turing
net = turing.compile(turing.zoo["bb5"], "wcm21", T=50_000_000, adder="lookahead")
net.run("", 1_000, engine="native")
import sys
print("numba" in sys.modules, time.process_time() - begun)
"""


def test_a_first_run_needs_no_numba_and_says_what_it_took():
    done = subprocess.run([sys.executable, "-c", COLD], capture_output=True, text=True, check=True)
    numba, took = done.stdout.split()
    print(f"a first native run takes {float(took):.2f} s of the processor, torch already imported")
    assert numba == "False"


# Many tapes.


def test_a_batch_of_any_number_of_words_ends_as_its_words_do_one_by_one():
    words = ["B" + "".join(word) + "E" for n in range(7) for word in itertools.product("()", repeat=n)]
    words += ["", "BB", "B(", "B(B"]
    net = compiled(BALANCED, 200)
    for number in (0, 1, 2, 3, len(words)):
        expected = [BALANCED.run(word, 200) for word in words[:number]]
        assert run_batch(net, words[:number]) == expected
        assert run_batch(net, words[:number], threads=1) == expected
        assert net.run_batch(words[:number], engine="native") == expected


def end_of(run: Native) -> tuple:
    """How a run ended, and all that can be seen of it."""
    found = run.standing()
    order = found.positions.argsort()
    cells = [found.positions, found.last, found.wrote.argmax(1), found.cells, found.marks]
    parts = [found.column.tolist(), found.first.tolist(), *(part[order].tolist() for part in cells)]
    return run.status, run.state, run.head, run.steps, sorted(run.tape().items()), repr(run.error), parts


def same_together(net: WCM21, words: list, limit: int) -> int:
    """Compare runs that go on together from their second step on with runs that are alone; how many steps they made
    together.
    """
    program, found = Program(net), {}
    if program.planes is None:
        return 0

    def end(job: Job, run: Native) -> None:
        found[job.number] = end_of(run)

    made = work(deque(Job(k, program, word, limit) for k, word in enumerate(words)), 64, end, first=1)
    for k, word in enumerate(words):
        alone = Native(program, word, guarded=True)
        alone.advance(limit)
        assert found[k] == end_of(alone), f"word {k}, {word}"
    return made


def machines_together(number: int, seed: int) -> dict[str, int]:
    draw, counts = Random(seed), {"machines": 0, "steps": 0}
    for k in range(number):
        machine, word = machine_at_random(draw)
        T = draw.choice((60, 300))
        net = compiled(machine, T, (torch.float32, torch.float64)[k % 2], bits=max((T - 1).bit_length(), 9))
        words = [[draw.choice(machine.symbols) for _ in range(draw.randint(0, 9))] for _ in range(70)]
        counts["steps"] += same_together(net, [word, [], *words], T)
        counts["machines"] += 1
    return counts


def changed_together(number: int, seed: int) -> dict[str, int]:
    draw, counts = Random(seed), {"networks": 0, "together": 0, "steps": 0}
    words = ["B" + "".join(word) + "E" for n in range(6) for word in itertools.product("()", repeat=n)]
    for _ in range(number):
        net = compiled(BALANCED, 64)
        changed(net, draw)
        made = same_together(net, words, 64)
        counts["networks"] += 1
        counts["together"] += made > 0
        counts["steps"] += made
    return counts


def test_runs_of_3_random_machines_that_go_on_together_are_those_that_go_on_alone():
    counts = machines_together(3, 3)
    assert counts["steps"] >= 3_000


def test_runs_with_changed_weights_that_go_on_together_are_those_that_go_on_alone():
    counts = changed_together(3, 2)
    assert counts["together"] >= 1


@pytest.mark.parametrize(("bits", "move"), [(15, 1), (16, 1), (17, -1), (64, 1)])
def test_a_run_that_leaves_the_window_of_those_that_go_on_together_goes_on_alone(bits, move):
    net = compiled(walker(move), 17_000, bits=bits)
    made = same_together(net, ["a" * k for k in range(9)], 17_000)
    assert 9 * 16_000 < made < 9 * 16_500


@slow
@pytest.mark.parametrize("seed", range(10, 14))
def test_runs_of_100_machines_and_100_networks_with_changed_weights_are_the_same_together(seed):
    machines, networks = machines_together(25, seed), changed_together(25, seed)
    print(machines, networks)
    assert machines["steps"] >= 25_000
    assert networks["together"] >= 8


def test_long_runs_of_a_batch_end_as_the_machine_does():
    """They are refilled from the queue, and go on alone when few are left."""
    walks = {("A", "0"): ("A", "1", 1), ("A", "1"): ("A", "1", 1), ("B", "0"): ("A", "1", -1)}
    counter = {("A", "a"): ("A", "a", 1), ("A", "0"): ("B", "b", -1), ("A", "b"): ("C", "0", -1)}
    counter |= {("B", "a"): ("B", "a", -1), ("B", "b"): ("A", "a", 1), ("B", "0"): ("A", "a", 1)}
    counter |= {("C", "0"): ("D", "0", 0)}
    for machine, words, limit in (
        (zoo["bb5"], ["1" * k for k in range(66)], 110_000),
        (TuringMachine(walks, "A", {"H"}, "0"), ["1" * k for k in range(9)], 104_000),
        (TuringMachine(counter, "A", {"D"}, "0"), ["a" * k for k in range(9)], 120_000),
    ):
        net = compiled(machine, limit)
        expected = [machine.run(word, limit) for word in words]
        assert run_batch(net, words, threads=1) == expected


def test_a_sweep_of_machines_takes_any_executor():
    machines = [machine_at_random(Random(seed))[0] for seed in range(6)]
    networks = [compiled(machine, 60) for machine in machines]
    expected = [machine.run("", 60) for machine in machines]
    assert run_batch(networks, [""] * 6) == expected
    with ThreadPoolExecutor(2) as executor:
        assert run_batch(networks, [""] * 6, executor=executor) == expected


# Stacks in exact arithmetic.


def same_on_stacks(net: SS95, word: str, steps: int, passes: int = 12) -> object:
    """Compare a run and some vectors with those of plain evaluation; how the run ended."""
    plain, found = (outcome(net, word, engine, steps) for engine in ("torch", "native"))
    assert found == plain
    if not isinstance(plain, tuple):
        assert found.micro_steps == plain.micro_steps
    for ours, theirs in zip(net.vectors([word], passes, "native"), net.vectors([word], passes), strict=True):
        assert list(ours) == list(theirs)
        assert all(list(ours[name][0]) == list(theirs[name][0]) for name in theirs)
    return plain


@pytest.mark.parametrize("construction", ["ss95", "ss95-realtime"])
@pytest.mark.parametrize(
    ("name", "word"), [("bb4", ""), ("balanced_parentheses", "B(()E"), ("balanced_parentheses", "BB")]
)
def test_exact_stacks_have_the_numbers_of_plain_evaluation(construction, name, word):
    machine = zoo[name]
    net = turing.compile(machine, construction)
    assert same_on_stacks(net, word, 60) == machine.run(word, 60)
    assert numbered(net.trace(word, 20, engine="native")) == numbered(machine.trace(word, 20))


def test_exact_stacks_are_where_the_machine_is_after_2_000_steps_by_all_layers_at_once():
    machine, run = zoo["bb5"], Stacks(turing.compile(zoo["bb5"], "ss95"), "")
    assert run._quickly(2_000) == run.passes == 2_000
    right = machine.run("", 2_000)
    now = run.reader.now
    assert (now.state, now.head, now.tape) == (right.state, right.head, right.tape)


@pytest.mark.parametrize("construction", ["ss95", "ss95-realtime"])
def test_exact_stacks_with_a_changed_numerator_end_as_plain_evaluation_does(construction):
    draw, ends = Random(0), set()
    for _ in range(12):
        net = turing.compile(zoo["bb3"], construction)
        layer = net.pipeline[draw.choice(list(net.pipeline))]
        numbers = layer.numerators if draw.random() < 0.8 else layer.bias_numerators
        place = draw.choice(numbers.nonzero().tolist())
        with torch.no_grad():
            numbers[tuple(place)] += draw.choice((-1, 1, 2))
        ends.add(isinstance(same_on_stacks(net, "", 21, 4), tuple))
    assert ends == {False, True} or construction == "ss95-realtime"  # most changes are hidden there


def test_stacks_in_floats_are_refused():
    with pytest.raises(Refusal, match=r"computes ss95 exactly, and this network is in float64\. Take engine='torch'"):
        turing.compile(zoo["bb2"], "ss95", arithmetic="float64").run("", engine="native")
