"""Transformers as they run in a page: the numbers of torch, the weights of the compiler, the verdict of ``verify``."""

import gzip
import json
from random import Random

import pytest
import torch

import turing
import turing.dnf
from turing.files import save
from turing.widgets.machine import machine_to_json

CORE = ("page/network.js", "page/index.js", "page/compile.js", "lab/lockstep.js")
ZOO = list(turing.zoo)


def random_machine(seed):
    """Rules in any order, some missing, names of any kind."""
    draw = Random(seed)
    states = [f"q{k}" if seed % 3 else "ABCDEFG"[k] for k in range(draw.randint(1, 6))]
    symbols = [f"a {k}" if seed % 4 == 3 else "0123é"[k] for k in range(draw.randint(1, 5))]
    pairs = [(q, a) for q in states for a in symbols]
    draw.shuffle(pairs)
    rules = {
        pair: (draw.choice([*states, "stop", "Über"]), draw.choice(symbols), draw.choice((-1, 0, 1)))
        for pair in pairs[: draw.randint(1, len(pairs))]
    }
    initial = next(iter(rules))[0]
    return turing.TuringMachine(rules, initial, {"stop", "Über"}, draw.choice(symbols), alphabet=symbols)


@pytest.fixture
def core(modules):
    """Evaluate code in a page in which ``core`` is what the lab runs."""
    call = modules(*CORE)
    call.page.evaluate("window.core = modules")
    return call


def file_of(network, folder):
    save(network, folder / "net.json")
    data = json.loads((folder / "net.json").read_text(encoding="utf-8"))
    del data["digest"]  # the page writes none
    return data


SAME = """function same(one, other) {
  if (typeof one !== "object" || one === null) return one === other;
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every(key => key in other && same(one[key], other[key]));
}"""


def test_the_page_compiles_what_the_library_compiles(core, tmp_path):
    cases = []
    for name in ZOO:
        if len(turing.zoo[name].states) * len(turing.zoo[name].symbols) < 400:
            network = turing.compile(turing.zoo[name], "wcm21", T=200, bits=9, adder="lookahead")
            cases.append([name, machine_to_json(turing.zoo[name]), 200, 9, file_of(network, tmp_path)])
    for seed in range(20):
        machine = random_machine(seed)
        network = turing.compile(machine, "wcm21", T=2**seed, adder="lookahead")
        cases.append([f"random {seed}", machine_to_json(machine), 2**seed, network.bits, file_of(network, tmp_path)])
    differ = f"""cases => {{ {SAME}
      return cases.filter(([, m, T, bits, file]) => !same(core.compile(m, {{T, bits}}), file)).map(([n]) => n) }}"""
    assert core(differ, cases) == []


def test_a_rule_that_is_edited_changes_the_numbers_that_are_shown_and_no_others(core):
    code = f"""(before, after) => {{ {SAME}
      const one = core.compile(before, {{T: 100}}), {{file, changes, sameShape}} = core.rewrite(one, after);
      const others = Object.keys(file.weights).filter(name => !same(one.weights[name], file.weights[name]));
      return [changes, sameShape, others] }}"""
    before = machine_to_json(turing.zoo["bb3"])
    after = {**before, "rules": [[*rule] for rule in before["rules"]]}
    assert after["rules"][1][:2] == ["A", "1"]
    after["rules"][1][2:] = ["C", "0", -1]  # from (C, 1, ...): another symbol, and another direction perhaps
    changes, same_shape, others = core(code, before, after)
    assert same_shape
    assert others == ["pipeline.carry.weight"]
    assert {change["column"] for change in changes} == {"det[A 1]"}
    rows = {change["row"]: (change["before"], change["after"]) for change in changes}
    assert rows["sym2[1]"] == (1, 0)
    assert rows["sym2[0]"] == (0, 1)


LOCK = """(file, word, until, on = true) => {
  const lock = new core.Lockstep(core.read(file), word, on);
  while (lock.steps < until && lock.step());
  return {status: lock.status, steps: lock.steps, mark: lock.mark, message: lock.message, indexed: lock.indexed,
    state: lock.network.machine.states[lock.state], ones: lock.tape.filled}
}"""


@pytest.mark.parametrize("on", [True, False])
def test_bb4_halts_with_and_without_the_interpreter(core, on, tmp_path):
    file = file_of(turing.compile(turing.zoo["bb4"], "wcm21", T=200, adder="lookahead"), tmp_path)
    found = core(LOCK, file, [], 200, on)
    assert (found["status"], found["steps"], found["ones"]) == ("halted", 107, 13)
    assert found["mark"] == ({"good": True, "steps": 107} if on else None)


EDITS = [
    ("carry.weight", 0, 1.5), ("carry.weight", 7, 0.0), ("carry.bias", 3, 0.5), ("detect.weight", 2, 0.5),
    ("detect.bias", 1, -0.5), ("move.weight", 5, 2.0), ("choose.weight", 4, 0.0), ("choose.bias", 0, 0.0),
    ("assemble.weight", 3, 1.25), ("visited.query.weight", 0, 3.0), ("search3.key.bias", 1, 0.25),
    ("last.value.weight", 0, 0.5), ("initial.null_key", 0, 9.0), ("visited.write.weight", 0, -1.0),
]  # fmt: skip


@pytest.mark.parametrize("word", ["B()E", "B(()E"])
def test_the_mark_names_what_verify_names(core, word, tmp_path):
    machine = turing.zoo["balanced_parentheses"]
    parted = 0
    for name, entry, value in EDITS:
        network = turing.compile(machine, "wcm21", T=60, adder="lookahead")
        file = file_of(network, tmp_path)
        full = f"pipeline.{name}"
        *place, _ = file["weights"][full]["values"][entry]
        with torch.no_grad():
            network.get_parameter(full)[tuple(place)] = value
        report = turing.verify(network, machine, [word], 60)
        code = f"""(file, name, place, value, word) => {{
            core.setWeight(file, name, place, value); return ({LOCK})(file, word, 60) }}"""
        found = core(code, file, full, place, value, list(word))
        if report:
            assert found["mark"]["good"], (name, found)
            continue
        parted += 1
        theirs = report.divergences[0]
        mine = found["mark"]
        assert (mine["step"], mine["layer"], mine["slice"], mine["place"]) == (
            theirs.step, theirs.layer, theirs.slice, theirs.place), name  # fmt: skip
        assert mine["given"] == pytest.approx(theirs.given, rel=1e-6)
        assert mine["expected"] == theirs.expected
        assert found["status"] == "diverged"
        assert found["message"] in str(theirs).replace("at step", "At step")
    assert parted > len(EDITS) / 2


def test_balanced_parentheses_weigh_little(tmp_path):
    for adder in ("ripple", "lookahead"):
        save(turing.compile(turing.zoo["balanced_parentheses"], "wcm21", T=100, adder=adder), tmp_path / "net.json")
        assert len(gzip.compress((tmp_path / "net.json").read_bytes())) < 100_000
