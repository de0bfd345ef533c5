"""The fast path of the page: the numbers of torch, whatever the weights; and a record that forgets nothing it shows."""

import re
from random import Random

import pytest
import torch
from test_lockstep_js import random_machine

import turing
from turing.ir import to_dict
from turing.widgets.machine import machine_to_json

MODULES = ("network", "index", "compile", "encode", "program", "fast")
LAYERS = ("detect", "carry", "move", "choose", "assemble")
RUNS = 20

# Without eval the page has typed arrays; here they can be asked for.
FAST = """(file, arrays) => {
  const real = globalThis.Function;
  if (arrays) globalThis.Function = function () { throw new EvalError("not here") };
  try { return modules.fastOf(modules.read(file)) } finally { globalThis.Function = real }
}"""


@pytest.fixture
def page(modules):
    call = modules(*(f"page/{name}.js" for name in MODULES), "lab/stride.js", "lab/record.js", "lab/views.js")
    call.page.evaluate(f"() => {{ window.fast = {FAST} }}")
    return call


def torch_vectors(network, word, steps):
    """What leaves each module in each step, and the column, with no judgement of the numbers."""
    kept, found, state = {}, [], network.start([word])
    hooks = [
        module.register_forward_hook(lambda _, given, out, name=name: kept.update({name: out.flatten().tolist()}))
        for name, module in network.pipeline.items()
    ]
    with torch.no_grad():
        for _ in range(steps):
            state = network.step(state)
            found.append({**kept, "column": state.x.flatten().tolist()})
    for hook in hooks:
        hook.remove()
    return found


VECTORS = """(file, word, steps, arrays) => {
  const made = fast(file, arrays), found = [];
  if (typeof made === "string") return { why: made };
  let run = new modules.FastRun(made, word), count = 0, refused = "";
  while (found.length < steps && !refused) {
    if (run.steps?.(1)) {
      found.push(Object.fromEntries([...run.vectors(), ["column", run.column]].map(([name, x]) => [name, [...x]])));
      count += 1;
      continue;
    }
    run = run.indexed?.() ?? run;
    const vectors = {};
    try {
      run.step((name, x) => (vectors[name] = [...x]));
      found.push({ ...vectors, column: [...run.state] });
    } catch (error) {
      if (!(error instanceof modules.Refusal)) throw error;
      refused = error.message;
    }
  }
  return { engine: made.engine, found, count, refused };
}"""


def a_run(number):
    """Of every two runs, one has a few of its weights changed; most of them to integers."""
    draw, machine = Random(number), random_machine(number)
    word = [draw.choice(machine.symbols) for _ in range(draw.randint(0, 5))]
    network = turing.compile(machine, "wcm21", T=100, adder="lookahead")
    for _ in range(draw.randint(1, 3) if number % 2 else 0):
        weight = network.get_parameter(f"pipeline.{draw.choice(LAYERS)}.{draw.choice(('weight', 'bias'))}")
        places = weight.nonzero().tolist() or [[0] * weight.ndim]
        with torch.no_grad():
            weight[tuple(draw.choice(places))] = draw.choice((-2, -1, 0, 1, 2, 0.5))
    network.forget()
    return network, word


def test_the_numbers_of_the_page_are_those_of_torch(page):
    vectors = fast = left = without = 0
    for number in range(RUNS):
        network, word = a_run(number)
        wanted = torch_vectors(network, word, 30)
        for arrays in (False, True):
            given = page(VECTORS, to_dict(network), word, 30, arrays)
            if "why" in given:
                assert "program is for integers" in given["why"]
                without += 1
                continue
            assert given["engine"] == ("arrays" if arrays else "generated")
            assert len(given["found"]) == 30 or given["refused"]
            for step, (mine, theirs) in enumerate(zip(given["found"], wanted, strict=False)):
                for name, vector in mine.items():
                    assert vector == theirs[name], (number, arrays, step, name)
                    vectors += 1
            fast += given["count"]
            left += given["count"] < len(given["found"])
    print(f"{vectors:,} vectors of {RUNS} runs, {fast:,} fast steps; {left} handed over, {without} without a program")
    assert vectors > 5_000
    assert fast > 700
    assert left > 4


def test_a_wide_machine_has_fields_of_several_words(page):
    draw = Random(0)
    states, symbols = [f"q{k}" for k in range(40)], [f"s{k}" for k in range(35)]
    rules = {(q, a): (draw.choice(states), draw.choice(symbols), draw.choice((-1, 1))) for q in states for a in symbols}
    machine = turing.TuringMachine(rules, "q0", set(), "s0")
    network = turing.compile(machine, "wcm21", T=40, adder="lookahead")
    word = draw.choices(symbols, k=9)
    wanted = torch_vectors(network, word, 40)
    for arrays in (False, True):
        given = page(VECTORS, to_dict(network), word, 40, arrays)
        assert given["count"] == 40
        for mine, theirs in zip(given["found"], wanted, strict=True):
            assert all(theirs[name] == vector for name, vector in mine.items())


def test_the_code_is_made_of_numbers_alone(page):
    names = ["`${alert(1)}`", "*/ alert(1) //"]
    machine = turing.TuringMachine([(names[0], "'0'", names[1], '"', 1)], names[0], {names[1]}, "'0'")
    code = page(
        "file => modules.codeOf(modules.programOf(modules.read(file)), { mask: 7 })",
        to_dict(turing.compile(machine, "wcm21", T=8, adder="lookahead")),
    )
    assert code.startswith('"use strict";\n')
    assert not re.search(r"""["'`/\\]|alert|\$""", code.removeprefix('"use strict";\n'))


# All configurations of a run by the interpreter, two records of the same run by the network, and what they say.
RECORDS = """(machine, until, probes) => {
  const file = modules.compile(machine, { T: until }), network = modules.read(file);
  const lock = new modules.Stride(network, [], true, true, modules.fastOf(network)), trace = new modules.Trace(50_000);
  const full = new modules.Record([], { maxChunks: Infinity, maxRows: Infinity, firstRow: 1 << 10 });
  const small = new modules.Record([], { maxChunks: 3, maxRows: 20, firstRow: 1 << 10 });
  while (lock.steps < until && lock.status === "running") {
    trace.begin(lock.steps, lock);
    lock.advance(until - lock.steps, trace, { state: -1, cell: null });
    const { from, n } = trace, parts = {};
    for (const part of ["states", "heads", "reads", "writes"]) parts[part] = trace[part].slice(0, n);
    for (const record of [full, small]) record.append({ from, ...parts });
  }
  const CHUNK = 1 << 16, wrong = [], heads = Array.from({ length: full.known + 1 }, (_, t) => full.head(t));
  let fetched = 0;
  const fetch = (chunk) => {
    const { trace, tape } = lock.again(chunk * CHUNK, Math.min(lock.steps, (chunk + 1) * CHUNK));
    small.restore({ ...trace, chunk, tape });
    fetched += 1;
  };
  const need = (t) => small.has(t) || fetch(t >> 16);
  const visit = (t, cell, by) => {
    for (let found; ; fetch(found.chunk)) if (typeof (found = small.visit(t, cell, by)) === "number") return found;
  };
  const same = (one, other, what) => JSON.stringify(one) === JSON.stringify(other) || wrong.push([what, one, other]);
  const symbols = (cells, { lo, hi }) => Array.from({ length: hi - lo + 1 }, (_, k) => cells.get(lo + k));
  for (const t of probes) {
    need(t);
    small.pinned = t >> 16;
    same(small.at(t), full.at(t), `configuration ${t}`);
    same(symbols(small.cells(t), full), symbols(full.cells(t), full), `tape ${t}`);
    same(small.cells(t).filled, full.cells(t).filled, `count ${t}`);
    for (const cell of [small.lo - 1, small.lo, -3, 0, small.hi])
      same([visit(t, cell, -1), visit(t, cell, 1)], [heads.lastIndexOf(cell, t - 1), heads.indexOf(cell, t + 1)].map(
        (found, k) => (k || t ? found : -1)), `visits of ${cell} around ${t}`);
  }
  // The rows of the record, and those of a picture: every step is in one row, with its head.
  for (const { rows, each } of [full, small])
    rows.forEach(({ lo, hi }, k) => {
      const own = heads.slice(k * each, (k + 1) * each);
      same([lo, hi], [Math.min(...own), Math.max(...own)], `row ${k} of ${each}`);
    });
  let pictures = 0;
  for (const record of [full, small])
    for (const [top, tall] of [[0, 360 / (until + 1)], [0, 0.05], [100, 0.01], [30_000, 2]]) {
      const stepAt = (y) => Math.min(until + 1, Math.floor((top + y) / tall));
      const rows = modules.rowsOf({ record, busy: false, fetch: () => 0 }, stepAt, 360);
      let next = null;
      for (let y = 0; y < 360; y++) {
        const { from, to, first, last, tape } = rows(y), own = heads.slice(from, to), { data, zero } = tape;
        if (next !== null && from !== next[0] && from !== next[1]) wrong.push(["a gap", y, from, next]);
        same([first, last], [Math.min(...own), Math.max(...own)], `row of pixels ${y}`);
        const drawn = { get: (cell) => data[cell + zero] ?? 0 };
        if (y % 60 === 0) same(symbols(drawn, full), symbols(full.cells(from), full), `tape of ${y}`);
        next = [from, to];
        pictures += 1;
      }
    }
  const { chunks: { size: kept }, rows: { length: rows }, each, known } = small;
  return { wrong: wrong.slice(0, 5), fetched, kept, rows, each, known, pictures };
}"""


def test_a_record_that_is_bounded_says_what_a_full_one_says(page):
    draw, until = Random(5), 500_000
    probes = [0, 1, 65_535, 65_536, until, *(draw.randrange(until) for _ in range(12))]
    found = page(RECORDS, machine_to_json(turing.zoo["bb5"]), until, probes)
    assert found["wrong"] == []
    assert found["known"] == until
    assert (found["kept"], found["rows"], found["each"]) == (3, 16, 1 << 15)
    assert found["fetched"] > 5
    assert found["pictures"] == 8 * 360


def test_a_run_goes_on_from_every_place_that_is_kept(page):
    code = """(machine, arrays) => {
      const file = modules.compile(machine, { T: 1 << 18 }), made = fast(file, arrays);
      const lock = new modules.Stride(modules.read(file), [], true, true, made), trace = new modules.Trace(1 << 17);
      lock.advance(100_000, trace.begin(0, lock), { state: -1, cell: null });
      return [0, 1, 4096, 65_535, 65_536, 65_537, 99_999].map((t) => {
        const run = lock.runAt(t), before = run.column, slow = run.indexed();
        slow.step();
        run.steps(1);
        const isSame = run.column.every((x, i) => x === slow.state[i]);
        return [run.t, slow.t, isSame, before.some((x, i) => x !== run.column[i])];
      });
    }"""
    for arrays in (False, True):
        found = page(code, machine_to_json(turing.zoo["bb5"]), arrays)
        assert found == [[t + 1, t + 1, True, True] for t in (0, 1, 4096, 65_535, 65_536, 65_537, 99_999)]
