"""Networks of plain layers in a page: the numbers of torch, and the equations of ``turing.show``."""

import re
from itertools import pairwise, product

import pytest
import torch
from torch import nn

from paper import BALANCED as PAPER
from turing import Layout, show
from turing.adders import LookaheadAdder, MoveAdder, RippleCarryAdder
from turing.dnf import DNF, Transition
from turing.gates import AND, NAND, NOR, NOT, OR, XOR, Layer, Readout, embed
from turing.ir import of, to_dict
from turing.layout import state_vector

NETWORKS = {
    "NOT": NOT(),
    "AND": AND(3),
    "NOR": NOR(4),
    "OR": OR(3),
    "NAND": NAND(2),
    "XOR": XOR(),
    "embedded": embed(4, (AND(2), [0, 2], 0), (NOR(2), [0, 2], 2)),
    "two layers": DNF.of_expression("a ^ b ^ c"),
    "three layers": DNF(["11-", "1-1", "-11"], "a b c"),
    "no clause": DNF([], "a b"),
    "transition": Transition(PAPER, state_vector(PAPER, bits=2)),
    "ripple": RippleCarryAdder(3),
    "move": MoveAdder(4),
    "lookahead": LookaheadAdder(5),
    "linear": nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)),
}


@pytest.fixture
def network(modules):
    """Call functions of the evaluator and of equations.js in a page, on arguments that JSON can hold."""
    call = modules("page/network.js", "page/equations.js", "page/sums.js")
    call.page.evaluate("Object.assign(window, modules)")
    return call


def activations(module, x):
    """The input and what comes out of each layer, where a ReLU of its own belongs to the layer before it."""
    layers = module if isinstance(module, nn.Sequential) else [module]
    found = [x]
    for layer in layers:
        x = layer(x)
        if isinstance(layer, nn.ReLU):
            found.pop()
        found.append(x)
    return [row.tolist() for row in found]


def inputs(width, most=64):
    if 2**width <= most:
        return torch.tensor(list(product((0.0, 1.0), repeat=width)))
    return torch.randint(0, 2, (most, width), generator=torch.Generator().manual_seed(width)).float()


RUN = """(data, inputs) => {
  const net = read(data);
  return inputs.map(x => [x, ...forward(net, x)].map(vector => [...vector]));
}"""


def test_bits_go_through_every_layer_as_in_torch(network):
    for name, module in NETWORKS.items():
        exact = name != "linear"  # its weights are not integers
        module = module if exact else module.double()
        xs = inputs(of(module).layouts[0].width).to(next(module.parameters()).dtype)
        for x, vectors in zip(xs, network(RUN, to_dict(module), xs.tolist()), strict=True):
            for vector, expected in zip(vectors, activations(module, x), strict=True):
                assert vector == (expected if exact else pytest.approx(expected, rel=1e-12, abs=1e-12)), name


def test_networks_of_any_numbers_give_what_torch_gives_in_float64(network):
    for seed in range(20):
        random = torch.Generator().manual_seed(seed)
        widths = torch.randint(1, 9, (5,), generator=random).tolist()
        module = nn.Sequential()
        for n, (before, after) in enumerate(pairwise(widths)):
            layer = (Layer if n % 3 else Readout)(torch.zeros(after, before), torch.zeros(after)).double()
            layer.weight.data = torch.randn(after, before, generator=random, dtype=torch.float64)
            layer.bias.data = torch.randn(after, generator=random, dtype=torch.float64)
            module.append(layer)
        xs = torch.randn(20, widths[0], generator=random, dtype=torch.float64)
        for x, vectors in zip(xs, network(RUN, to_dict(module), xs.tolist()), strict=True):
            for vector, expected in zip(vectors, activations(module, x), strict=True):
                assert vector == pytest.approx(expected, rel=1e-12, abs=1e-12), seed


def test_places_have_the_names_of_the_layouts(network):
    for name, module in NETWORKS.items():
        layouts = of(module).layouts
        code = "data => read(data).modules.flatMap(({layouts}, n) => n ? layouts.slice(1) : layouts)"
        vectors = network(code, to_dict(module))
        slices = [[(part["name"], part["start"], part["size"]) for part in vector["slices"]] for vector in vectors]
        assert [vector["names"] for vector in vectors] == [layout.names() for layout in layouts], name
        assert slices == [[(part.name, part.start, part.size) for part in layout] for layout in layouts], name


def single_layers():
    """Every layer of the networks on its own, with the names of its places."""
    for name, module in NETWORKS.items():
        layouts = of(module).layouts
        layers = [part for part in ([module] if isinstance(module, Layer) else module) if isinstance(part, Readout)]
        for number, layer in enumerate(layers):
            yield f"{name}, layer {number + 1}", layer, layouts[number : number + 2]


EQUATIONS = """(data, x) => {
  const net = read(data), [{layers: [layer], layouts: [before, after]}] = net.modules, [y] = forward(net, x);
  const values = x.map(value => value < 0 ? `(${formatNumber(value)})` : formatNumber(value));
  return equationsOf(layer, before.names, after.names).map(({i, row, ...line}) =>
    ({...line, value: y[i], filled: rowText(row, values, "·")}));
}"""


def test_rows_read_as_turing_show_writes_them(network):
    for case, layer, layouts in single_layers():
        (lines,) = show(layer, layouts).layers
        got = network(EQUATIONS, to_dict(layer, layouts), [0] * layouts[0].width)
        found = {line["name"]: (line["text"], line["gate"]) for line in got}
        cleared = [part for part in layouts[1] if any(line.place == part.name != part.names()[0] for line in lines)]
        assert list(found) == [
            name
            for line in lines
            for name in next((part.names() for part in cleared if part.name == line.place), [line.place])
        ], case
        for line in lines:
            if line.place in found:
                text, gate = found[line.place]
                assert "…" in line.value or text == line.value, case
                assert "…" in line.gate or gate == line.gate, case


def test_every_small_row_that_is_an_and_of_literals_is_named_and_no_other(network):
    rows = [
        {"terms": [[j, w] for j, w in enumerate(weights) if w], "bias": bias, "activation": "relu"}
        for weights in product((-2, -1, -0.5, 0, 1, 2), repeat=3)
        for bias in (-3, -2, -1, -0.5, 0, 0.5, 1, 2)
    ]
    named = network("rows => rows.map(row => gateName(row, ['a', 'b', 'c']))", rows)
    for row, name in zip(rows, named, strict=True):
        table = {
            x: max(0, row["bias"] + sum(weight * x[j] for j, weight in row["terms"])) for x in product((0, 1), repeat=3)
        }
        wanted = {j: weight > 0 for j, weight in row["terms"]}
        top = max(table.values())
        literals = all(value == top * all(x[j] == wanted[j] for j in wanted) for x, value in table.items())
        assert bool(name) == literals, (row, name)
        if top == 0 or not name:
            assert name in ("0", "")
            continue
        factor, _, gate = name.rpartition("·") if wanted else (name, "", "")
        assert float(factor or 1) == top
        kind = {(): "", (True,): "COPY", (False,): "NOT"}.get(
            tuple(wanted.values()), "AND" if any(wanted.values()) else "NOR"
        )
        signs = ["¬" if kind == "AND" and not positive else "" for positive in wanted.values()]
        places = ", ".join(sign + "abc"[j] for sign, j in zip(signs, wanted, strict=True))
        assert gate == (f"{kind}({places})" if wanted else "")


def relu(x):
    return max(0, x)


def test_an_equation_and_its_line_of_values_mean_what_the_weights_say(network):
    random = torch.Generator().manual_seed(7)
    for _ in range(30):
        weight = torch.randint(-3, 4, (4, 4), generator=random) / torch.tensor([1, 2, 1, 4])
        layer = Layer(weight, torch.randint(-2, 3, (4,), generator=random).float())
        x = torch.randint(-1, 3, (4,), generator=random).float()
        expected = dict(zip(("p", "q", "r", "s"), layer(x).tolist(), strict=True))
        data = to_dict(layer, [Layout(a=1, b=1, c=1, d=1), Layout(p=1, q=1, r=1, s=1)])
        for line in network(EQUATIONS, data, x.tolist()):
            names = dict(zip("abcd", x.tolist(), strict=True)) | {"ReLU": relu}
            law = re.sub(r"(?<=[\d.]) (?=[a-d])", "*", line["text"]).replace("−", "-")
            filled = line["filled"].replace("−", "-").replace("·", "*")
            assert eval(law, names) == eval(filled, names) == line["value"] == expected[line["name"]]


def test_numbers_have_six_digits_at_most_and_a_minus_sign_of_their_own(network):
    texts = {0: "0", -1: "−1", 0.5: "0.5", 1 / 3: "0.333333", -2.5: "−2.5", 128: "128", 1 + 1e-9: "1"}
    assert network("(...all) => all.map(formatNumber)", *texts) == list(texts.values())
