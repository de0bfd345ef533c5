"""What must be the same in every process, whatever the seed of hashing: prints a digest of each as JSON."""

import hashlib
import json
import tempfile
from itertools import product
from pathlib import Path

import test_gates
from every_widget import every_form

import turing
import turing.widgets
from turing.ss import StackNetwork
from turing.stack_machine import StackMachine, balanced
from turing.widgets.base import Widget

MACHINE = turing.TuringMachine({("A", "0"): ("B", "1", 1), ("B", "0"): ("A", "2", -1)}, "A", {"T", "F", "U"}, "0")
STACK = StackMachine(
    {("A", "0"): ("B", "push 1"), ("B", "1"): ("T", "pop"), ("B", "0"): ("F", "pop")}, "A", {"T", "F", "U", "V"}
)
OPTIONS = {"wcm21": {"T": 9}, "ss95": {}, "ss95-realtime": {}}


def networks():
    for (name, options), machine in product(OPTIONS.items(), (MACHINE, turing.zoo["bb3"])):
        yield turing.compile(machine, name, **options)
    yield turing.compile(MACHINE, "wcm21", T=9, adder="lookahead")
    yield turing.compile(turing.zoo["balanced_parentheses"], "wcm21", T=100)
    for machine, version, weights in product((balanced(), STACK), (4, 1), ("closed", "least squares")):
        yield StackNetwork(machine, version, weights=weights)


def weights():
    for net in networks():
        yield str(net.layout)
        for name, numbers in net.state_dict().items():
            yield f"{name} {numbers.numpy().tobytes()}"


def views():
    for name, options in OPTIONS.items():
        net = turing.compile(MACHINE, name, **options)
        yield from (str(turing.show(net)), turing.draw(net).svg, turing.architecture(net).svg)


def files():
    with tempfile.TemporaryDirectory() as folder:
        for number, net in enumerate(turing.compile(MACHINE, name, **options) for name, options in OPTIONS.items()):
            for ending in ("json", "safetensors"):
                turing.save(net, file := Path(folder) / f"{number}.{ending}")
                yield str(file.read_bytes())


def machines():
    yield from (turing.pictures.state_diagram(MACHINE).svg, MACHINE.dumps("json"))
    bb3 = turing.zoo["bb3"]
    yield from (turing.formats.fit(bb3, format).dumps(format) for format in turing.formats.FORMATS)


def corpus():
    for example in turing.corpus(3, seed=5, hide=True, T=8):
        numbers = [str(numbers) for numbers in example.network.state_dict().values()]
        yield json.dumps([example.machine.dumps("json"), example.word, example.labels, numbers])


def pages():
    Widget.new_page()
    for name in turing.widgets.__all__:
        for widget in every_form(name)[:1] + every_form(name):  # ids go on from one to the next
            data = widget._repr_mimebundle_()[0]
            yield f"{data['text/html']} {data['text/plain']}"


FOUND = [weights, views, files, machines, corpus, pages]


def main():
    digests = {of.__name__: hashlib.sha256("".join(of()).encode()).hexdigest() for of in FOUND}
    print(json.dumps(digests | {"gates": test_gates.digest()}))


if __name__ == "__main__":
    main()
