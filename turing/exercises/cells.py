"""The line between an answer and its judge, which are in different processes.

Only plain data crosses it, as lines of JSON: numbers, text, machines as their tables, networks as their numbers. A
function stays where it is, and the other side gets a number to call it by. So the judge's process runs nothing that a
student wrote, and what a student's process can say is an answer, never a verdict.
"""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from fractions import Fraction
from importlib import import_module
from io import BufferedRWPair
from numbers import Rational, Real
from typing import Any

import numpy as np

from turing import formats
from turing.exercises import Wrong, _name, _returned, _text
from turing.exercises.weights import _plain, _short_repr
from turing.layout import Layout
from turing.machine import TuringMachine
from turing.stack_machine import StackMachine, _CompleteStackMachine, _operation_text

__all__: list[str] = []  # a part of turing.grading

MAX_BYTES = 50_000_000  # of one message
BARE = "turing.decompiler.tensors"  # of a network without names, which are named tuples:
BARE_KINDS = ("Bare", "Map", "Head", "Convolved", "Choice")
STACK_MACHINES = (StackMachine, _CompleteStackMachine)  # another subclass may run differently
GROUPS = (tuple, set, frozenset)
_asked_for: dict[str, object] = {}  # by name: what was judged last


def serve(port: int, name: str) -> None:
    """In the student's process: give the judge what the function of that name returns, and call what it asks for.

    Nothing is given where the notebook has no new function of that name.
    """
    from IPython import get_ipython

    answer = get_ipython().user_ns.get(name)
    if answer is None or answer is _asked_for.get(name):
        return
    _asked_for[name] = answer
    with socket.create_connection(("127.0.0.1", port)) as connection, connection.makefile("rwb") as file:
        line = Line(file)
        with suppress(EOFError, OSError):  # the judge has seen enough
            line.answer(lambda: _returned(_named(answer, name)), ())
            line.wait()


def _named(answer: Any, name: str) -> Callable[[], object]:
    if not callable(answer):
        raise Wrong(f"{name} is an object of type {type(answer).__name__}, and a function was expected.")
    if _name(answer) != name:
        raise Wrong(f"{name} is a function that was defined under the name {_name(answer)!r}. Write def {name}():.")
    return answer


class Line:
    """One end of the line. Errors of the types ``through`` are not sent to the other end; they end the conversation."""

    def __init__(self, file: BufferedRWPair, through: tuple[type[BaseException], ...] = ()):
        self.file, self.through = file, through
        self.functions: list[Callable] = []

    def answer(self, function: Callable, arguments: Any) -> None:
        """Call a function of this end, and send what it returns or raises."""
        try:
            message = {"returned": self.pack(function(*arguments))}
        except self.through:
            raise
        except BaseException as error:
            message = {"raised": [type(error).__name__, _text(error)]}
        self.file.write(json.dumps(message).encode() + b"\n")
        self.file.flush()

    def call(self, number: int, arguments: Any) -> Any:
        """Call a function of the other end."""
        self.file.write(json.dumps({"call": number, "arguments": self.pack(arguments)}).encode() + b"\n")
        self.file.flush()
        return self.wait()

    def wait(self) -> Any:
        """What the other end returns next; until then, its calls are answered."""
        while text := self.file.readline(MAX_BYTES):
            match json.loads(text):
                case {"returned": value}:
                    return self.unpack(value)
                case {"raised": [str(kind), str(message)]}:
                    raise Wrong(message) if kind == Wrong.__name__ else type(kind, (Exception,), {})(message)
                case {"call": int(number), "arguments": arguments}:
                    self.answer(self.functions[number], self.unpack(arguments))
        raise EOFError("the process of the answer has ended")

    def pack(self, thing: Any) -> Any:
        """Anything as JSON: scalars and lists as they are, everything else as an object with its kind."""
        torch = sys.modules.get("torch")  # without it there is no network
        if thing is None or isinstance(thing, (bool, int, float, str)):
            return thing
        if type(thing).__module__ == BARE and type(thing).__name__ in BARE_KINDS:
            return {"bare": [type(thing).__name__, [self.pack(part) for part in thing]]}
        if isinstance(thing, list):
            return [self.pack(part) for part in thing]
        for kind in GROUPS:
            if isinstance(thing, kind):
                return {kind.__name__: [self.pack(part) for part in thing]}
        if isinstance(thing, Rational):
            return {"fraction": [int(thing.numerator), int(thing.denominator)]}
        if isinstance(thing, Real):
            return float(thing)
        if type(thing) is TuringMachine:  # a subclass may run differently
            return {"machine": formats.dumps(thing, "json")}
        if isinstance(thing, Mapping):
            return {"dictionary": [[self.pack(key), self.pack(value)] for key, value in thing.items()]}
        if type(thing) is Layout:
            return {"layout": [[part.name, list(part.labels) or part.size] for part in thing]}
        if type(thing) in STACK_MACHINES:
            rules = [[key, [value[0], *map(_operation_text, value[1:])]] for key, value in thing.rules.items()]
            return {"stack machine": [rules, thing.initial, sorted(thing.terminal), thing.symbols]}
        if torch and isinstance(thing, torch.nn.Module):
            return self.pack_network(thing)
        if torch and isinstance(thing, torch.Tensor):
            flat = thing.detach().flatten().tolist()
            return {"tensor": [str(thing.dtype).removeprefix("torch."), list(thing.shape), flat]}
        if isinstance(thing, np.ndarray) and thing.dtype.kind in "biuf":
            return {"array": [thing.dtype.name, list(thing.shape), thing.flatten().tolist()]}
        if hasattr(thing, "tolist"):
            return self.pack(thing.tolist())
        if callable(thing) and not isinstance(thing, type):
            self.functions.append(thing)
            return {"function": len(self.functions) - 1}
        return {"object": [type(thing).__name__, _short_repr(thing)]}

    def pack_network(self, network: Any) -> Any:
        from turing import ir
        from turing.construction import Construction
        from turing.ss import StackNetwork

        if isinstance(network, Construction):
            return {"network": ir.to_dict(network)}
        if isinstance(network, StackNetwork):
            code, numbers = network.code, {name: p.tolist() for name, p in network.state_dict().items()}
            options = [network.version, code.base, code.digits, network.arithmetic]
            return {"stack network": [self.pack(network.machine), options, numbers]}
        try:
            return {"network": ir.to_dict(network)}
        except (TypeError, ValueError):  # no layers of this library or of PyTorch
            return _plain(network)

    def unpack(self, value: Any) -> Any:
        """What was packed at the other end."""
        if isinstance(value, list):
            return [self.unpack(part) for part in value]
        if not isinstance(value, dict):
            return value
        ((kind, content),) = value.items()
        match kind, content:
            case (("tuple" | "set" | "frozenset"), [*parts]):
                (group,) = (group for group in GROUPS if group.__name__ == kind)
                return group(map(self.unpack, parts))
            case "dictionary", [*pairs]:
                return {self.unpack(key): self.unpack(value) for key, value in pairs}
            case "bare", [str(name), [*parts]]:
                if name in BARE_KINDS:
                    return getattr(import_module(BARE), name)(*map(self.unpack, parts))
            case "layout", [*slices]:
                return Layout(**{name: places for name, places in slices})
            case "array", [str(kind), shape, flat]:
                return np.array(flat, kind).reshape(shape)
            case "tensor", [str(kind), shape, flat]:
                import torch

                return torch.tensor(flat, dtype=getattr(torch, kind)).reshape(shape)
            case "fraction", [int(numerator), int(denominator)]:
                return Fraction(numerator, denominator)
            case "machine", str(text):
                return formats.parse(text, "json")
            case "stack machine", [rules, initial, terminal, symbols]:
                return StackMachine({tuple(k): tuple(v) for k, v in rules}, initial, terminal, symbols)
            case "network", data:
                from turing.files.dictionary import from_dict

                return from_dict(data)
            case "stack network", [machine, [version, base, digits, arithmetic], numbers]:
                import torch

                from turing.ss import StackNetwork

                network = StackNetwork(self.unpack(machine), version, base, tuple(digits), arithmetic)
                own = network.state_dict()
                network.load_state_dict({name: torch.tensor(x, dtype=own[name].dtype) for name, x in numbers.items()})
                return network
            case "function", int(number):
                return lambda *arguments: self.call(number, arguments)
            case "object", [str(name), str(text)]:
                return type(name, (), {"__repr__": lambda self: text})()
        raise ValueError(f"an answer cannot be read: {_short_repr(value)}")
