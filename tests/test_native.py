"""The machine code of a network: all that it computes is what plain torch and the machine do, on machines at random, on
changed weights, at the edges, and for many tapes.
"""

import itertools
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest
import torch
from machines import numbered, walker
from ways import lookahead as compiled

import turing
from paper import BALANCED
from turing.engine import Native, Program, Refusal, Stacks, generated, run_batch
from turing.engine.runs import NativeEngine, _ended
from turing.engine.together import Job, Queue, queues, work
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


def together(jobs: list[tuple[WCM21, list | str, int]], most: int = 64) -> tuple[int, list[Native]]:
    """Compare runs that go on together from their second step on, each of a network on a word with a limit, with runs
    that are alone; how many steps they made together, and how they ended.
    """
    programs, found = {net: Program(net) for net, _, _ in jobs}, {}

    def end(job: Job, run: Native) -> None:
        found[job.number] = run

    waiting = queues(Job(k, programs[net], word, limit) for k, (net, word, limit) in enumerate(jobs))
    made = sum(work(queue, most, end, first=1) for queue in waiting)
    for k, (net, word, limit) in enumerate(jobs):
        alone = Native(programs[net], word, guarded=True)
        alone.advance(limit)
        assert end_of(found[k]) == end_of(alone), f"job {k}, {word}"
    return made, [found[k] for k in range(len(jobs))]


def same_together(net: WCM21, words: list, limit: int) -> int:
    return together([(net, word, limit) for word in words])[0]


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


def machine_of_shape(draw: Random, states: int, symbols: int) -> TuringMachine:
    """Three moves, some rules missing, symbols of any names, and any states but the first may be halting."""
    names, marks = "ABCDEFGH"[:states], ["_", *draw.sample("0123456789", symbols - 1)]
    halting = {q for q in names[1:] if draw.random() < 0.15}
    pairs = [(q, a) for q in names for a in marks if q not in halting and draw.random() < 0.95]
    delta = {pair: (draw.choice(names), draw.choice(marks), draw.choice((-1, -1, 0, 1, 1))) for pair in pairs}
    delta["A", "_"] = (names[-1], marks[-1], 1)
    machine = TuringMachine(delta, "A", halting, "_", alphabet=marks)
    return machine if len(machine.states) == states else machine_of_shape(draw, states, symbols)


def side_by_side(states: int, symbols: int, number: int, most: int, seed: int) -> int:
    """Compare runs of machines of equal shape with runs that are alone and with the machines; how many steps they made
    together.
    """
    draw, jobs = Random(seed), []
    for k in range(number):
        net = compiled(machine_of_shape(draw, states, symbols), 300, (torch.float32, torch.float64)[k % 2], bits=9)
        for _ in range(2):
            word = [draw.choice(net.machine.symbols) for _ in range(draw.randint(0, 9))]
            jobs.append((net, word, draw.choice((40, 150, 300))))
    made, runs = together(jobs, most)
    for (net, word, limit), run in zip(jobs, runs, strict=True):
        assert _ended(run, limit, NativeEngine()) == net.machine.run(word, limit), f"{net.machine}, {word}"
    return made


@pytest.mark.parametrize(("states", "symbols", "number", "most"), [(5, 2, 66, 64), (3, 3, 16, 9), (4, 4, 12, 8)])
def test_runs_of_machines_of_equal_shape_that_go_on_side_by_side_are_those_that_go_on_alone(
    states, symbols, number, most
):
    """There are more of them than tapes at once, so that most tapes are of several networks, one after the other."""
    assert side_by_side(states, symbols, number, most, seed=states) >= 10 * number


def with_some_changed(number: int, seed: int) -> dict[str, int]:
    """Compare networks of equal shape that go on side by side, every other one with changed weights, with plain torch;
    what was compared.
    """
    draw, counts = Random(seed), {"run": 0, "error": 0, "refused": 0, "together": 0}
    networks = [compiled(machine_of_shape(draw, 3, 2), 24) for _ in range(number)]
    for net in networks[::2]:
        changed(net, draw)
    jobs = [(net, net.machine.symbols[-1:] * n, 24) for net in networks for n in (1, 3)]
    counts["together"], runs = together(jobs)
    for (net, word, limit), run in zip(jobs, runs, strict=True):
        found = (type(run.error), str(run.error)) if run.error else _ended(run, limit, NativeEngine())
        refused = isinstance(run.error, Refusal)
        assert refused or found == outcome(net, word, "torch", limit), f"seed {seed}, {net.machine}, {word}"
        counts["refused" if refused else "error" if run.error else "run"] += 1
    return counts


def test_changed_networks_among_others_of_equal_shape_end_as_plain_torch_says_or_are_refused():
    counts = with_some_changed(16, 5)
    assert counts["together"] >= 100
    assert min(counts["run"], counts["error"]) >= 2


def both_detectors(net: WCM21) -> None:
    """On an a, the detector of x fires too, and has the same rule."""
    det, carry = net.layout_of("detect").det, net.pipeline["carry"].weight
    net.pipeline["detect"].weight[det["go x"], net.layout.sym1["a"]] = 1
    carry[:, det["go x"]] = carry[:, det["go a"]]


def another_place(net: WCM21) -> None:
    """What was not in the word is noted in a place that is 0 in other columns."""
    net.pipeline["assemble"].weight[net.layout.scr4["word"], net.layout_of("choose").blank[0]] = 1


@pytest.mark.parametrize("change", [both_detectors, another_place])
def test_a_change_of_some_networks_counts_on_their_tapes_alone(change):
    networks = [compiled(walker(1), 60, bits=9) for _ in range(20)]
    with torch.no_grad():
        for net in networks[1::2]:
            change(net)
    made, runs = together([(net, "_" * k + "a" * 9, 60) for k, net in enumerate(networks, start=2)])
    assert made >= 10 * 59
    assert [run.steps == 60 and not run.standing().column[net.layout.scr4["word"]] for run in runs] == [
        True,
        False,
    ] * 10


def test_a_network_that_cannot_go_on_with_others_is_left_out():
    """A weight from the number of the step to another place; the code has no such numbers."""
    draw = Random(2)
    networks = [compiled(machine_of_shape(draw, 3, 2), 60) for _ in range(10)]
    odd = networks[4]
    with torch.no_grad():
        odd.pipeline["detect"].weight[0, odd.layout.pos1[0]] = 1
    programs = [Program(net) for net in networks]
    (queue,) = queues(Job(k, program, "", 60) for k, program in enumerate(programs))
    assert queue.planes is not None
    assert [program for program in programs if program not in queue.numbers] == [programs[4]]
    assert together([(net, "_" * n, 60) for net in networks for n in range(3)])[0] > 0
    alone = Queue([Job(0, programs[4], "", 60)])
    assert alone.planes is None


@pytest.mark.parametrize("place", [0, 4, 10])
def test_a_network_that_fits_by_itself_and_not_with_others_is_left_out(place):
    """It never writes a blank, so a wrong weight on the written blank counts only in the company of some that do. One
    or two that were tried together with it may be left out too."""
    draw = Random(2)
    networks = [compiled(machine_of_shape(draw, 3, 2), 60) for _ in range(10)]
    rules = {(q, a): (p, "1", 1) for q, p in zip("ABC", "BCA", strict=True) for a in "01"}
    odd = compiled(TuringMachine(rules, "A", (), "0"), 60)
    with torch.no_grad():
        odd.pipeline["assemble"].weight[odd.layout.sym2["0"], odd.layout_of("choose").sym2["0"]] = -2
    networks.insert(place, odd)
    programs = [Program(net) for net in networks]
    (queue,) = queues(Job(k, program, "", 60) for k, program in enumerate(programs))
    assert queue.planes is not None
    assert programs[place] not in queue.numbers
    assert len(queue.numbers) >= 8
    assert Queue([Job(0, programs[place], "", 60)]).planes is not None


@slow
@pytest.mark.parametrize("seed", range(20, 24))
def test_runs_of_300_machines_side_by_side_and_of_changed_networks_among_them_are_the_same(seed):
    for states, symbols in ((5, 2), (3, 3), (4, 4), (2, 5), (7, 3), (8, 8)):
        assert side_by_side(states, symbols, 50, 8 + seed, seed) >= 500
    counts = with_some_changed(60, seed)
    print(counts)
    assert counts["together"] >= 300
    assert min(counts["run"], counts["error"], counts["refused"]) >= 2


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
    assert networks["together"] >= 7


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


def test_a_batch_of_machines_of_several_shapes_ends_as_the_machines_do_in_the_order_of_the_words():
    """Long runs go on side by side with those of equal shape; errors name the word by its number."""
    draw, jobs, rules = Random(0), [], zoo["bb5"].delta
    while len(jobs) < 12:
        some = {
            pair: (draw.choice("ABCDE"), draw.choice("01"), draw.choice((-1, 1))) for pair in draw.sample([*rules], 3)
        }
        machine = TuringMachine(rules | some, "A", {"Z"}, "0", alphabet="01")
        if machine.run("", 21_000).steps == 21_000 and len(machine.states) == 6:
            jobs.append((machine, "1" * len(jobs)))
    machines = [zoo["bb4"], walker(1), walker(-1), zoo["antihydra"], *(walker(1) for _ in range(7))]
    jobs += [(machine, "") for machine in machines]
    draw.shuffle(jobs)
    networks = [compiled(machine, 30_000, bits=17) for machine, _ in jobs]
    words = [word for _, word in jobs]
    assert run_batch(networks, words, threads=1) == [machine.run(word, 30_000) for machine, word in jobs]
    with torch.no_grad():
        networks[2].pipeline["carry"].weight[0] *= 3
    alone = outcome(networks[2], words[2], "native")
    with pytest.raises(alone[0]) as error:
        run_batch(networks[:4], words[:4])
    assert str(error.value) == f"Word 2 of the batch: {alone[1]}"
    with torch.no_grad():
        networks[2].pipeline["last"].null_key[0] += 1
    with pytest.raises(Refusal, match=r"Word 2 of the batch: pipeline\.last\.null_key"):
        run_batch(networks[:4], words[:4])


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
