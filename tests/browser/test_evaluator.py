"""Networks as the page's one evaluator runs them: every kind of module, in floats and exactly, number for number."""

from fractions import Fraction
from itertools import islice, pairwise, product
from math import exp, isqrt, lcm
from pathlib import Path
from random import Random

import numpy as np
import pytest
import torch
from test_construction import build, every_case_once
from torch.nn import functional as F

import turing
import turing.widgets
from turing.attention import Attention
from turing.dnf import DNF
from turing.exact import Exact
from turing.gates import Layer, Readout
from turing.ir import to_dict
from turing.layout import Layout
from turing.modules import Norm, Rational
from turing.ss import StackNetwork
from turing.stack_machine import balanced

PAGE = Path(turing.widgets.__file__).parent / "page"
ARITHMETICS = ("float32", "float64", "exact")


@pytest.fixture
def core(modules):
    """Evaluate code in a page in which ``core`` is both modules, with arguments that JSON can hold; a BigInt comes
    back as a string.
    """
    call = modules("page/network.js", "page/index.js", "page/encode.js")
    call.page.evaluate(
        """() => { window.core = modules; window.plain = (x) => (x.unit ? [x.map(String), String(x.unit),
          ...(x.roots ? [x.roots.map(String)] : [])] : [...x]); }"""
    )
    return call


RUN = """(file, arithmetic, start, steps) => {
  const net = core.read(file, arithmetic), run = new core.Run(net, start), found = [];
  const shown = (x) => net.cells ? x.map(plain) : plain(x);
  for (let t = 0; t < steps; t++) {
    const vectors = [];
    run.step((name, x, shares) => vectors.push([name, x, shares]));
    vectors.push(["state", run.state]);
    found.push(vectors.map(([name, x, shares]) => [name, shown(x), shares ?? null]));
  }
  return found;
}"""


# Networks in the wire format.


def tensor(values, denominator=None):
    """A nested list or a tensor as a file has it."""
    values = torch.as_tensor(values)
    entries = [[*place, values[tuple(place)].item()] for place in values.nonzero().tolist()]
    return {"shape": list(values.shape), "values": entries} | ({"denominator": denominator} if denominator else {})


def wire(modules, weights, layouts, loop=None, arithmetic="float64", **more):
    file = {"turing": "network", "version": 2, "arithmetic": arithmetic, "layouts": layouts, "modules": modules}
    return file | {"weights": weights} | ({"loop": loop} if loop else {}) | more


class Builder:
    """Random networks: small numbers, integers or quarters."""

    def __init__(self, seed, quarters=False):
        self.random, self.quarters, self.weights = Random(seed), quarters, {}

    def number(self):
        return self.random.randint(-8, 8) / 4 if self.quarters else self.random.choice([-2, -1, -1, 0, 0, 1, 1, 2])

    def name(self, *shape):
        def nested(shape):
            return [nested(shape[1:]) for _ in range(shape[0])] if shape else float(self.number())

        name = f"w{len(self.weights)}"
        self.weights[name] = tensor(torch.tensor(nested(shape), dtype=torch.float64))
        return name

    def affine(self, outputs, inputs, **more):
        return {"weight": self.name(outputs, inputs), "bias": self.name(outputs), **more}

    def linear(self, name, layouts, widths, *activations, **more):
        layers = [
            self.affine(after, before, activation=activation, **more)
            for (before, after), activation in zip(pairwise(widths), activations, strict=True)
        ]
        return {"name": name, "kind": "linear", "layouts": layouts, "layers": layers}

    def head(self, width, null=True, **more):
        parts = {"query": (3, width), "key": (3, width), "value": (2, width), "write": (width, 2)}
        maps = {part: self.affine(*shape) for part, shape in parts.items()}
        nulls = {"null_key": self.name(3) if null else None, "null_value": self.name(2) if null else None}
        return {"name": "head", "kind": "attention", "layouts": [0, 0], **maps, **nulls, **more}


# What the numbers have to be. The same few lines for fractions, and for numpy's floats in the order that is documented.


class Reference:
    def __init__(self, file, number):
        self.file, self.number, self.memory, self.t = file, number, {}, 0

    def tensor(self, name):
        entry = self.file["weights"][name]
        values, denominator = np.full(entry["shape"], self.number(0), dtype=object), entry.get("denominator", 1)
        for *place, value in entry["values"]:
            exact = Fraction(int(value) if isinstance(value, str) else value) / denominator
            values[tuple(place)] = exact if self.number is Fraction else self.number(float(exact))
        return values

    def sum(self, terms):
        total = self.number(0)
        for term in terms:
            total = total + term
        return total

    def layer(self, entry, x):
        weight, bias, last = self.tensor(entry["weight"]), self.tensor(entry["bias"]), entry.get("last", [])
        if weight.ndim == 3:  # a convolution, and x is a window: a product of a matrix for each place
            weight = np.concatenate([weight[:, :, d] for d in range(weight.shape[2])], axis=1)
        out = []
        for row, b in zip(weight, bias, strict=True):
            total = self.sum(row[j] * x[j] for j in range(len(x)) if j not in last and x[j]) + b
            total = total + self.sum(row[j] * x[j] for j in last) if last else total
            low = total if entry.get("activation", "none") == "none" else max(total, self.number(0))
            out.append(min(low, self.number(1)) if entry.get("activation") == "clamp" else low)
        return out

    def attend(self, module, x, word):
        keys, values = self.memory.setdefault(module["name"], ([], []))
        mask, null, t = module["mask"], module["null_key"], self.t

        def remember(row):
            keys.append(self.layer(module["key"], row))
            values.append(self.layer(module["value"], row))

        if mask in ("causal", "offset"):
            remember(x)
        if mask == "cross" and not keys:
            for row in word:
                remember(row)
        numbers = [t - module["offset"]] if mask == "offset" else range(len(keys))
        found = {n: (keys[n], values[n]) for n in numbers if n >= 0}
        if null:
            found[-1] = tuple(list(self.tensor(module[name])) for name in ("null_key", "null_value"))
        query, shares = self.layer(module["query"], x), {}
        average = [self.number(0)] * self.file["weights"][module["value"]["bias"]]["shape"][0]
        if found:
            scores = {n: self.sum(q * k for q, k in zip(query, key, strict=True)) for n, (key, _) in found.items()}
            scores = {n: -abs(s) for n, s in scores.items()} if module["score"] == "-abs" else scores
            best = max(scores.values())
            if self.number is Fraction or module["kappa"] is None:
                e = {n: self.number(s == best) for n, s in scores.items()}
            else:
                kappa = self.number(module["kappa"])
                e = {n: self.number(exp(kappa * (s - best))) for n, s in scores.items()}
            total = self.sum(e.values())
            shares = {n: share / total for n, share in e.items() if share}
            literal = module["average"] == "literal" and self.number is not Fraction
            weights = shares if literal else e
            sums = [self.sum(weights[n] * found[n][1][k] for n in shares) for k in range(len(average))]
            average = sums if literal else [s / total for s in sums]
        if mask == "strict":
            remember(x)
        return [a + b for a, b in zip(x, self.layer(module["write"], average), strict=True)], shares

    def on_slices(self, module, x, change):
        places = dict(self.places(module["layouts"][0]))
        for name in module["slices"]:
            found = change([x[i] for i in places[name]])
            for i, value in zip(places[name], found, strict=True):
                x = [*x[:i], value, *x[i + 1 :]]
        return x

    def places(self, layout):
        start = 0
        for name, size in self.file["layouts"][layout]:
            size = size if isinstance(size, int) else len(size)
            yield name, range(start, start + size)
            start += size

    def norm(self, x):
        mean = self.sum(x) / self.number(len(x))
        rest = [value - mean for value in x]
        square = self.sum(value * value for value in rest)
        exact = self.number is Fraction
        length = Fraction(isqrt(square.numerator), isqrt(square.denominator)) if exact else np.sqrt(square)
        assert not exact or length**2 == square
        return [value / length for value in rest]

    def one_hot(self, x):
        return [self.number(i == x.index(max(x))) for i in range(len(x))]

    def work(self, module, x, word):
        """What leaves a module, and the shares of a head."""
        if module["kind"] == "attention":
            return self.attend(module, x, word)
        if module["kind"] == "convolution":
            size = self.file["weights"][module["weight"]]["shape"][2]
            beyond = [[self.number(0)] * len(x[0])] * (size // 2)
            padded = [*beyond, *x, *beyond]
            windows = [[value for cell in padded[i : i + size] for value in cell] for i in range(len(x))]
            return [self.layer(module, window) for window in windows], None
        if self.file.get("loop", {}).get("state") == "cells":
            return [self.single(module, cell) for cell in x], None
        return self.single(module, x), None

    def single(self, module, x):
        if module["kind"] == "linear":
            for entry in module["layers"]:
                x = self.layer(entry, x)
            return x
        return self.on_slices(module, x, self.norm if module["kind"] == "norm" else self.one_hot)

    def steps(self, x, word=()):
        """For each step what leaves each module, with the shares of a head, and the state."""
        while True:
            found = []
            for module in self.file["modules"]:
                x, shares = self.work(module, x, word)
                found.append((module["name"], x, shares))
            self.t += 1
            for name, _ in self.file.get("loop", {}).get("add", []):
                for k, i in enumerate(dict(self.places(0))[name]):
                    x = [*x[:i], x[i] + self.number(self.t >> k & 1), *x[i + 1 :]]
            yield [*found, ("state", x, None)]


NUMBERS = {"float32": np.float32, "float64": np.float64, "exact": Fraction}


def numbers_of(shown):
    """What the page shows of a vector, or of a row of them."""
    if shown and isinstance(shown[0], list) and not (len(shown) in (2, 3) and isinstance(shown[1], str)):
        return [numbers_of(cell) for cell in shown]
    if len(shown) in (2, 3) and isinstance(shown[1], str):
        numbers, unit, *roots = shown
        found = {k: int(root) for k, root in enumerate(roots[0]) if root != "1"} if roots else {}
        return list(Exact(map(int, numbers), int(unit), found))
    return shown


def agrees(core, file, start, steps, arithmetic, near=0.0):
    """The page gives what the reference gives: equal numbers, or near ones where an exponential is rounded."""
    number = NUMBERS[arithmetic]
    given = {key: [[number(v) for v in row] for row in rows] for key, rows in start.items() if key != "column"}
    x = given["cells"] if "cells" in start else [number(v) for v in start["column"]]
    wanted = list(islice(Reference(file, number).steps(x, given.get("word", [])), steps))
    found = core(RUN, file, arithmetic, start, steps)
    assert len(found) == len(wanted) == steps
    for t, (mine, theirs) in enumerate(zip(found, wanted, strict=True)):
        for (name, vector, shares), (their_name, their_vector, their_shares) in zip(mine, theirs, strict=True):
            assert name == their_name
            vector = numbers_of(vector)
            case = (arithmetic, t, name)
            if near:
                np.testing.assert_allclose(
                    np.array(vector, float), np.array(their_vector, float), near, near, str(case)
                )
            else:
                assert vector == their_vector, case
            if their_shares is not None:
                assert dict(map(tuple, shares)) == pytest.approx({n: float(s) for n, s in their_shares.items()}), case
    return found


LAYOUT = [["a", 3], ["step", 2], ["b", ["x", "y"]]]
WIDTH = 7
LOOP = {"state": "column", "add": [["step", "step"]]}
COLUMN = [1, 0, 2, 0, 0, -1, 1]
WORD = [[1, 0, 0, 0, 1, 0, 1], [0, 1, 0, 1, 0, 0, 0], [2, 0, 1, 0, 1, 1, 1], [1, 0, 0, 0, 1, 0, 1]]


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
def test_linear_layers_of_every_activation(core, arithmetic):
    for seed, last in product(range(6), ([], [1, 4, 2])):
        build = Builder(seed, quarters=bool(seed % 2))
        first = build.linear("first", [0, 1, 0], [WIDTH, 5, WIDTH], "relu", "none")
        second = build.linear("second", [0, 0], [WIDTH, WIDTH], "clamp", last=last)
        file = wire([first, second], build.weights, [LAYOUT, [["h", 5]]], LOOP)
        agrees(core, file, {"column": COLUMN}, 5, arithmetic)


HEADS = [
    dict(zip(("score", "mask", "null", "kappa", "average"), row, strict=True))
    for row in product(
        ("dot", "-abs"), ("causal", "strict", "cross", "offset"), (True, False), (None, 0.5, 9999), ("ratio", "literal")
    )
]


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
def test_heads_of_every_score_mask_and_average(core, arithmetic):
    for seed, options in enumerate(HEADS):
        build = Builder(seed, quarters=bool(seed // 2 % 2))  # each kind of average with and without
        offset = {"offset": 1 + seed % 3} if options["mask"] == "offset" else {}
        before = build.linear("before", [0, 0], [WIDTH, WIDTH], "clamp")
        modules = [before, build.head(WIDTH, **options, **offset)]
        file = wire(modules, build.weights, [LAYOUT], LOOP)
        soft = options["kappa"] == 0.5 and arithmetic != "exact"
        near = soft * {"float32": 1e-5, "float64": 1e-12, "exact": 0}[arithmetic]
        agrees(core, file, {"column": COLUMN, "word": WORD}, 6, arithmetic, near)


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
def test_convolutions_and_what_stands_beside_them(core, arithmetic):
    for seed, size, activation in product(range(4), (1, 3, 5), ("relu", "clamp", "none")):
        build = Builder(seed, quarters=bool(seed % 2))
        names = {"weight": build.name(4, 3, size), "bias": build.name(4)}
        cells = {"name": "cells", "kind": "convolution", "layouts": [0, 1], **names, "activation": activation}
        back = build.linear("back", [1, 0], [4, 3], "clamp")
        token = {"name": "token", "kind": "argmax", "layouts": [0, 0], "slices": ["b"]}
        layouts = [[["a", 1], ["b", 2]], [["h", 4]]]
        file = wire([cells, back, token], build.weights, layouts, {"state": "cells", "add": []})
        row = [[build.number() for _ in range(3)] for _ in range(6)]
        agrees(core, file, {"cells": row}, 4, arithmetic)


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
def test_norms_and_maxima_of_slices(core, arithmetic):
    layouts = [[["phi", 4], ["rest", 1], ["tok", ["a", "b", "c"]]]]
    norm = {"name": "hash", "kind": "norm", "layouts": [0, 0], "slices": ["phi"]}
    token = {"name": "token", "kind": "argmax", "layouts": [0, 0], "slices": ["tok", "phi"]}
    for phi, tok in product(
        ([7, 1, -7, -1], [1, 1, -1, -1], [5, 7, 1, 3.5 * 2]), ([0, 0, 0], [1, 3, 3], [-1, -2, 0.5])
    ):
        exact = phi[-1] < 0  # the others have irrational lengths
        file = wire([norm, token], {}, layouts, LOOP | {"add": []})
        if exact or arithmetic != "exact":
            agrees(core, file, {"column": [*phi, 0.75, *tok]}, 1, arithmetic)


TEN = [  # machine, word, adder, steps at most
    ("balanced_parentheses", "B(()())E", "ripple", 60),
    ("balanced_parentheses", "B())(E", "lookahead", 60),
    ("bb3", "", "lookahead", 30),
    ("bb4", "", "lookahead", 120),
    ("bb4", "", "ripple", 25),
    ("unary_addition", "111+11", "lookahead", 60),
]


def shares_of(row):
    """The shares of a head that torch gives, the null key last, as the page writes them."""
    return {n if n < len(row) - 1 else -1: share for n, share in enumerate(row) if share}


@pytest.mark.parametrize(("name", "word", "adder", "limit"), TEN)
def test_every_vector_and_share_of_wcm21_is_that_of_torch(core, name, word, adder, limit):
    machine = turing.zoo[name]
    net = turing.compile(machine, "wcm21", T=256, bits=9, adder=adder)
    steps = machine.run(word, limit).steps
    start = {"column": net.initial(word).tolist(), "word": net.encode(word).tolist()}
    found = core(RUN, to_dict(net), "float32", start, steps)
    assert len(found) == steps > 0
    column = start["column"]
    for t, (mine, theirs) in enumerate(zip(found, net.vectors([word], steps), strict=True), 1):
        assert theirs.pop("column")[0].tolist() == column
        assert {name: vector for name, vector, _ in mine[:-1]} == {name: x[0].tolist() for name, x in theirs.items()}
        if t % 5 == 0:
            wanted = {name: shares_of(row.tolist()) for name, row in net.patterns(word, t).items()}
            assert {name: dict(map(tuple, shares)) for name, _, shares in mine if shares} == wanted
        column = mine[-1][1]


SS95 = [(4, 4, (1, 3)), (1, 40, (31, 39)), (1, 16, (11, 15))]  # version, base, digits


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
@pytest.mark.parametrize("network", SS95)
def test_every_number_of_a_stack_network_is_the_librarys(core, network, arithmetic):
    net = StackNetwork(balanced(), *network, arithmetic)
    deep = [word for word in ("((()()))(", "()()()()()", "(" * 12) if len(word) <= (net.code.depth or 12)]
    starts, wanted = [], []
    for word in [*("".join(word) for n in range(5) for word in product("()", repeat=n)), *deep]:
        column = net.initial(word, "")
        wanted.append(list(islice(net.steps(column), 8)))
        if arithmetic == "exact":
            unit = lcm(*(value.denominator for value in column))
            column = [[str(value * unit) for value in column], str(unit)]
        starts.append({"column": column})
    found = core(f"(file, starts) => starts.map((start) => ({RUN})(file, undefined, start, 8))", to_dict(net), starts)
    for mine, theirs in zip(found, wanted, strict=True):
        for step, vectors in zip(mine, theirs, strict=True):
            assert all(numbers_of(vector) == list(vectors[name]) for name, vector, _ in step[:-1])
            assert step[-1][1] == step[-2][1]


@every_case_once
def test_every_construction_runs_in_the_page(core, name, arithmetic):
    """Also one that a test file alone defines: the page reads nothing but its representation."""
    network = build(name, arithmetic)
    wanted = list(network.vectors(["10"], 4))
    for mine, vectors in zip(run_in_the_page(core, network, "10", len(wanted)), wanted, strict=True):
        for layer, x, _ in mine[:-1]:
            right = vectors[layer][0]
            if network.loop.state == "cells":
                assert list(map(numbers_of, x)) == [list(row) for row in plain_rows(right)]
            else:
                right = list(right if isinstance(right, Exact) else right.tolist())
                if name == "merrill24" and arithmetic != "exact":  # torch may add squares in another order
                    right = pytest.approx(right, rel=1e-5 if arithmetic == "float32" else 1e-14)
                assert numbers_of(x) == right


def run_in_the_page(core, network, word, steps):
    def plain(x):
        if isinstance(x, Exact):
            roots = [[str(x.roots.get(k, 1)) for k in range(len(x))]] if x.roots else []
            return [list(map(str, x.numerators)), str(x.denominator), *roots]
        return x.tolist() if isinstance(x, torch.Tensor) else [plain(row) for row in x]

    initial, tape = network.initial(word), network.encode(word)
    start = {"cells" if network.loop.state == "cells" else "column": plain(initial)}
    start |= {} if tape is None else {"word": plain(tape)}
    return core(RUN, to_dict(network), network.arithmetic, start, steps)


def plain_rows(rows):
    return rows.tolist() if isinstance(rows, torch.Tensor) else rows


@pytest.mark.parametrize(
    ("name", "word"), [("bb5", ""), ("balanced_parentheses", "B(())E"), ("binary_increment", "11")]
)
def test_scores_with_roots_are_compared_exactly_in_the_page(core, name, word):
    """A layer norm by the root of an integer: every number, and the share of every key, for as long as the run goes."""
    network = turing.compile(turing.zoo[name], "merrill24")
    steps = min(network.run(word, 40).steps, 40)
    wanted, heads = list(network.vectors([word], steps)), network.run_with_cache(word, steps)[1]
    for t, (mine, vectors) in enumerate(zip(run_in_the_page(core, network, word, steps), wanted, strict=True)):
        for layer, x, shares in mine[:-1]:
            assert numbers_of(x) == list(vectors[layer][0])
            if shares is not None:
                pattern = heads[f"{layer}.pattern"][t]
                exact = [float(share) for share in pattern if share]
                assert [share for _, share in shares] == exact
        assert any(x.roots for (x,) in vectors.values())


def test_an_exact_network_runs_in_floats_too(core):
    exact, floats = (StackNetwork(balanced(), 1, arithmetic=arithmetic) for arithmetic in ("exact", "float32"))
    column = floats.initial("(())", "")
    found = core(RUN, to_dict(exact), "float32", {"column": column}, 6)
    for step, vectors in zip(found, floats.steps(column), strict=False):
        assert step[0][1] == vectors["step"]


def test_torch_computes_the_same_layers_heads_and_convolutions(core):
    """The reference above is ours; here each kind is compared with what torch has for it, on integers."""
    build = Builder(5)
    head = build.head(WIDTH, score="dot", mask="causal", kappa=0.25, average="ratio")
    layers = build.linear("layers", [0, 0, 0], [WIDTH, WIDTH, WIDTH], "relu", "clamp")
    file = wire([layers, head], build.weights, [LAYOUT], {"state": "column", "add": []})

    def dense(name):
        entry = file["weights"][name]
        values = torch.zeros(entry["shape"], dtype=torch.float64)
        for *place, value in entry["values"]:
            values[tuple(place)] = value
        return values

    def readout(entry):
        return Readout(dense(entry["weight"]), dense(entry["bias"]))

    parts = [readout(head[part]) for part in ("query", "key", "value", "write")]
    attention = Attention(*parts, dense(head["null_key"]), dense(head["null_value"]), 0.25)
    x, seen = torch.tensor(COLUMN, dtype=torch.float64), []
    for step in core(RUN, file, "float64", {"column": COLUMN}, 5):
        with torch.no_grad():
            first, second = (readout(entry) for entry in layers["layers"])
            x = second(first(x).relu()).clamp(0, 1)
            assert step[0][1] == x.tolist()
            seen.append(x)
            x = attention(x[None], *attention.remember(torch.stack(seen)))[0]
        np.testing.assert_allclose(step[1][1], x.tolist(), 1e-12, 1e-12)
        x = torch.tensor(step[1][1], dtype=torch.float64)

    names = {"weight": build.name(3, 3, 5), "bias": build.name(3)}
    cells = {"name": "cells", "kind": "convolution", "layouts": [0, 0], **names, "activation": "relu"}
    file = wire([cells], build.weights, [[["x", 3]]], {"state": "cells", "add": []})
    row = [[build.number() for _ in range(3)] for _ in range(6)]
    (((_, found, _), _),) = core(RUN, file, "float32", {"cells": row}, 1)
    x = torch.tensor(row, dtype=torch.float64).T
    assert found == F.conv1d(x, dense(names["weight"]), dense(names["bias"]), padding=2).relu().T.tolist()


def test_what_leaves_each_plain_layer(core):
    network = DNF.of_expression("a ^ b ^ c")
    code = "(file, as, all) => all.map((x) => core.forward(core.read(file, as), x).map(plain))"
    inputs = list(product((0, 1), repeat=3))
    for arithmetic in ARITHMETICS:
        for bits, found in zip(inputs, core(code, to_dict(network), arithmetic, inputs), strict=True):
            x = torch.tensor(bits).float()
            for vector, layer in zip(found, network, strict=True):
                x = layer(x)
                assert numbers_of(vector) == x.tolist()


def lookahead(name="bb3", **options):
    return turing.compile(turing.zoo[name], "wcm21", **{"T": 100, "adder": "lookahead"} | options)


INDEXED = """(file, word, steps, arithmetic) => {
  const net = core.read(file, arithmetic), start = core.encode(net, word), why = core.misfit(net);
  const runs = [new core.Run(net, start), new core.IndexedRun(net, start)];
  const record = (run) => {
    const all = [];
    run.step((name, x) => all.push([name, plain(x)]));
    return [...all, plain(run.state)];
  };
  let kept = null;
  for (let t = 0; t < steps; t++) {
    if (t === 5) kept = runs.map((run) => run.copy());
    const [one, other] = runs.map((run) => JSON.stringify(record(run)));
    if (one !== other) return { why, t, one, other };
  }
  const again = [...kept, runs[0].copy(5, kept[0].state)];
  for (let t = 5; t < steps; t++) again.forEach((run) => run.step());
  return { why, start, same: again.every((run) => `${run.state}` === `${runs[0].state}` && run.t === steps) };
}"""


@pytest.mark.parametrize("arithmetic", ["float32", "float64"])
@pytest.mark.parametrize(("name", "word", "adder", "limit"), TEN)
def test_the_index_gives_what_attention_gives(core, name, word, adder, limit, arithmetic):
    net = turing.compile(turing.zoo[name], "wcm21", T=256, bits=9, adder=adder)
    steps = turing.zoo[name].run(word, limit).steps
    found = core(INDEXED, to_dict(net), list(word), steps, arithmetic)
    assert found["why"] == ""
    assert found["same"]
    assert found["start"] == {"column": net.initial(word).tolist(), "word": net.encode(word).tolist()}


def test_the_index_is_refused_where_a_head_is_another_one(core):
    why, net = "(file, arithmetic) => core.misfit(core.read(file, arithmetic))", lookahead()
    last = [module["name"] for module in to_dict(net)["modules"]].index("last")

    def changed(**head):
        file = to_dict(net)
        file["modules"][last] |= head
        return core(why, file)

    assert core(why, to_dict(net)) == ""
    assert core(why, to_dict(net), "exact") == "an index is for wcm21 in floats"
    assert changed(kappa=None) == ""
    assert changed(kappa=100) == "κ = 100 of last is too small to be hard"
    for other in ({"average": "literal"}, {"score": "-abs"}, {"null_key": None, "null_value": None}):
        assert changed(**other) == "last is not a ratio of products with a null key"
    assert changed(kind="norm", slices=["pos1"]) == "these are not the heads of wcm21"
    file = to_dict(net)
    file["modules"][last], file["modules"][last + 1] = file["modules"][last + 1], file["modules"][last]
    assert core(why, file) == "initial does not look up what it does in wcm21"
    file = to_dict(net)
    file["weights"]["pipeline.last.query.weight"]["values"][0][2] = 4
    place = file["weights"]["pipeline.last.query.weight"]["values"][0][1]
    assert core(why, file) == f"pipeline.last.query.weight[0, {place}] is 4, and a look-up has 2 there"


COMPARISON = """(file) => { const net = core.read(file), { names } = net.layouts[0];
  return net.modules.filter(({ key }) => key).map((head) => core.comparison(net, head)).map((found) =>
    Object.fromEntries(Object.entries(found).map(([key, value]) =>
      [key, Array.isArray(value) ? value.map((i) => names[i] ?? i) : value]))) }"""


def test_it_says_what_each_head_compares(core):
    heads = core(COMPARISON, to_dict(lookahead(T=8)))
    assert [head["name"] for head in heads] == ["visited", "search2", "search1", "search0", "last", "initial"]
    assert heads[2] == {
        "name": "search1",
        "mask": "causal",
        "ask": ["pos3[0]", "pos3[1]", "pos3[2]", "scr3[2]", None],
        "at": ["pos2[0]", "pos2[1]", "pos2[2]", "pos1[2]", "pos1[1]"],
        "fetch": [None],
        "into": ["scr3[1]"],
    }
    assert heads[-1]["mask"] == "cross"
    assert heads[-1]["fetch"] == ["sym1[0]", "sym1[1]"]


def test_the_index_gives_up_at_a_number_that_is_not_a_bit(core):
    file = to_dict(lookahead())
    file["weights"]["pipeline.detect.weight"]["values"][0][2] = 0.5
    code = """(file) => { const net = core.read(file), run = new core.IndexedRun(net, core.encode(net, []));
      try { for (let t = 0; t < 50; t++) run.step() } catch (e) { return [e instanceof core.Refusal, e.message] } }"""
    refused, message = core(code, file)
    assert refused
    assert message.endswith("before the heads, and an index is for 0 and 1.")


def gone(file):
    del file["weights"]["pipeline.carry.bias"]


DAMAGE = {
    "pipeline.carry.bias should have the shape": gone,
    "pipeline.carry.weight should have the shape": lambda f: f["weights"]["pipeline.carry.weight"]["shape"].reverse(),
    'pipeline.carry.weight holds [0,0,"x"]': lambda f: f["weights"]["pipeline.carry.weight"]["values"].append(
        [0, 0, "x"]
    ),
    "pipeline.carry.weight holds [0,0,null]": lambda f: f["weights"]["pipeline.carry.weight"]["values"].append(
        [0, 0, None]
    ),
    "pipeline.carry.weight holds [0,-1,1]": lambda f: f["weights"]["pipeline.carry.weight"]["values"].append(
        [0, -1, 1]
    ),
    "pipeline.carry.weight holds [0,1]": lambda f: f["weights"]["pipeline.carry.weight"]["values"].append([0, 1]),
    "gives a number twice": lambda f: f["weights"]["pipeline.carry.weight"]["values"].append(
        f["weights"]["pipeline.carry.weight"]["values"][0]
    ),
    "the denominator of pipeline.move.bias is 0": lambda f: f["weights"]["pipeline.move.bias"].update(denominator=0),
    "slice st has 10000000 places": lambda f: f["layouts"][0].__setitem__(0, ["st", 10_000_000]),
    "slice st has -1 places": lambda f: f["layouts"][0].__setitem__(0, ["st", -1]),
    "kind is recurrent": lambda f: f["modules"][0].update(kind="recurrent"),
    "activation is tanh": lambda f: f["modules"][0]["layers"][0].update(activation="tanh"),
    "mask is none": lambda f: f["modules"][3].update(mask="none"),
    "the head visited lacks something": lambda f: f["modules"][3].update(null_value=None),
    "detect has 3 layouts": lambda f: f["modules"][0]["layouts"].append(0),
    "carry does not take the": lambda f: f["modules"].pop(0),
    "its loop does not fit": lambda f: f["modules"].pop(),
    "state is nothing": lambda f: f["loop"].update(state="nothing"),
    '"last" holds 999': lambda f: f["modules"][0]["layers"][0].update(last=[999]),
    "its parts do not fit together": lambda f: f.update(modules=3),
    "Networks of version 2 are read here": lambda f: f.update(version=3),
    "Save network.float()": lambda f: f.update(arithmetic="bfloat16"),
}
READ = """(file) => { try { core.read(file); return "" } catch (error) {
  return error instanceof core.FileProblem ? error.message : `${error}` } }"""


def test_a_damaged_file_or_one_of_another_kind_is_refused_and_the_message_says_what_to_do(core):
    assert core(READ, to_dict(lookahead())) == ""
    for message, damage in DAMAGE.items():
        file = to_dict(lookahead())
        damage(file)
        said = core(READ, file)
        assert message in said
        assert "turing.save" in said or "Save network.float()" in said
    for other in (None, 3, [], {}, {"turing": "machine"}, {"turing": "network", "version": 1, "layers": []}):
        assert core(READ, other).startswith("Networks of version 2 are read here")


def test_a_run_is_refused_that_has_no_numbers_to_go_on_with(core):
    code = """(file, as, start) => { try { new core.Run(core.read(file, as), start).step() } catch (error) {
      return [error instanceof core.Refusal, error.message] } }"""
    norm = {"name": "hash", "kind": "norm", "layouts": [0, 0], "slices": ["phi"]}
    file = wire([norm], {}, [[["phi", 2]]], {"state": "column", "add": []})
    for arithmetic in ARITHMETICS:
        refused, message = core(code, file, arithmetic, {"column": [3, 3]})
        assert refused
        assert "all numbers of one are equal" in message
        assert core(code, file, arithmetic, {"column": [1]})[1] == (
            "A vector of 1 numbers was given, and this network takes 2."
        )
    twice = wire([norm, norm | {"name": "again"}], {}, [[["phi", 3]]], {"state": "column", "add": []})
    assert core(code, twice, "exact", {"column": [1, 2, 4]}) == [
        True, "A norm works on rationals here, and was given numbers with roots."
    ]  # fmt: skip
    refused, message = core(code, file, "float32", {"column": [1, "x"]})
    assert refused
    assert message == "A vector has finite numbers, and 1,x was given."


def test_exact_numbers_beyond_a_float_are_read_and_shown(core):
    big = 3**50
    weights = {"w": {"shape": [1, 1], "values": [[0, 0, str(big)]], "denominator": str(2 * big + 1)}, "b": tensor([0])}
    layer = {"weight": "w", "bias": "b", "activation": "none"}
    file = wire(
        [{"name": "0", "kind": "linear", "layouts": [0, 1], "layers": [layer]}], weights, [[["x", 1]], [["y", 1]]]
    )
    forward = (
        "(file, as) => { const [x] = core.forward(core.read(file, as), [1]); return [plain(x), core.toNumbers(x)] }"
    )
    assert core(forward, file, "exact") == [[[str(big)], str(2 * big + 1)], [0.5]]
    assert core(forward, file, "float64") == [[big / (2 * big + 1)], [0.5]]


@pytest.mark.parametrize("activation", ["none", "relu", "clamp"])
def test_numbers_over_a_root_go_through_layers_and_meet_no_others(core, activation):
    """(1, 2, 4) less its mean has the length √42 / 3."""
    weight, bias = [[1, 1, 0, 0], [0, -1, 0, 0], [0, 0, 9, 0], [0, 0, 0, 1]], [0, 0, 0, 3]
    norm = {"name": "norm", "kind": "norm", "layouts": [0, 0], "slices": ["phi"]}
    layer = {"name": "layer", "kind": "linear", "layouts": [0, 0]}
    layer |= {"layers": [{"weight": "w", "bias": "b", "activation": activation}]}

    def found(weight, bias):
        file = wire([norm, layer], {"w": tensor(weight), "b": tensor(bias)}, [[["phi", 3], ["rest", 1]]])
        code = """(file, column) => { try {
            let last;
            new core.Run(core.read(file, "exact"), { column }).step((_, x) => (last = plain(x)));
            return last;
          } catch (error) { return error.message } }"""
        return core(code, file, [1, 2, 4, 7])

    rows = {
        i: {j: w for j, w in enumerate(row) if w} | ({None: b} if b else {})
        for i, (row, b) in enumerate(zip(weight, bias, strict=True))
    }
    layout = Layout(phi=3, rest=1)
    wanted = Rational(layout, layout, rows, activation)(Norm(layout, ["phi"])(Exact([1, 2, 4, 7])))
    assert numbers_of(found(weight, bias)) == list(wanted)
    meet = "Numbers that are divided by different roots are added here. Run this network in float64."
    assert found(weight, [1, 0, 0, 0]) == meet
    assert found([[1, 0, 0, 1], *weight[1:]], bias) == meet


def test_the_rows_of_a_layer_are_what_the_file_holds(core):
    code = "(file) => core.rowsOf(core.read(file).modules[0].layers[0])"
    layer = Layer([[1, 0, -2], [0, 0.5, 0]], [0, -1])
    wanted = [{"terms": [[0, 1], [2, -2]], "bias": 0}, {"terms": [[1, 0.5]], "bias": -1}]
    assert core(code, to_dict(layer)) == [row | {"activation": "relu"} for row in wanted]


def test_the_evaluator_is_small_and_needs_nothing():
    network, index = ((PAGE / name).read_text(encoding="utf-8") for name in ("network.js", "index.js"))
    assert len((network + index).encode()) < 34_000
    assert network.count("import ") == index.count("import ") == 1
    assert "document" not in network + index
