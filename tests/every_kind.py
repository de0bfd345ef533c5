"""A network with a module of every kind that works on columns, to be shown; it simulates nothing."""

from fractions import Fraction

from torch import nn

import turing
from turing import ir
from turing.attention import Attention, Lookup
from turing.construction import Construction
from turing.gates import Layer, Readout
from turing.layout import Layout
from turing.modules import Argmax, Norm, Rational

X = Layout(ask=2, at=2, tok=["a", "b"], found=1)


class EveryKind(Construction):
    construction, loop = "every kind", ir.Loop("column")

    def __init__(self):
        super().__init__()
        self.machine, self.options, self.layout = turing.zoo["bb2"], {}, X
        swap = Layer([[0, 1, 0, 0, 0, 0, 0], *([int(i == j) for j in range(7)] for i in range(1, 7))], [0] * 7)
        maps = (
            Readout([[1, 0, 0, 0, 0, 0, 0]], [0]),
            Readout([[0, 0, 2, 0, 0, 0, 0]], [-1]),
            Readout([[0, 0, 0, 0, 3, 0, 0]], [0]),
        )
        write = Readout([[0]] * 6 + [[1]], [0] * 7)
        modules = {
            "swap": swap,
            "near": Lookup(7, ask=X.ask, at=X.at, fetch=X.tok, into=[0, 1], mask="strict"),
            "nearest": Attention(*maps, write, kappa=None, score="-abs"),
            "back": Attention(*maps, write, kappa=None, mask="offset", offset=4),
            "hash": Norm(X, ["at"]),
            "choose": Argmax(X, ["tok"]),
            "forget": Rational(X, X, {0: {0: Fraction(1, 4), None: 1}}, "clamp", arithmetic="float32"),
        }
        self.pipeline = nn.ModuleDict(modules)
