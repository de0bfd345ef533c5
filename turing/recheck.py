"""``python -m turing.recheck net.safetensors net.proof.json`` checks a saved proof again. It needs NumPy only.

It trusts nothing that the proof says, and works in another way than ``turing.prove``: for each module it finds in the
weights which inputs an output depends on, tries all their values, and compares the results with a table. It covers
``"wcm21"`` with either adder, without ``restoring``, in a ``.safetensors`` file. Chapter: :doc:`/book/all-words`.
"""

import hashlib
import json
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["recheck"]
BIT, ANY, UNSEEN = (0, 1), "any bit", "not looked at"  # the last two are in place of a function
# the format of a type, its name, the bits of its significand, and the binary exponent from which exp rounds to 0
TYPES = {"F32": ("<f4", "float32", 24, 150), "F64": ("<f8", "float64", 53, 1075), "BF16": ("<u2", "bfloat16", 8, 134)}


def require(condition: Any, message: str) -> None:
    if not condition:
        raise ValueError(message)


def read(path: str | Path) -> tuple[dict, dict, tuple, str]:
    """The metadata of a safetensors file, its tensors in float64, their type, and the digest of all."""
    end = 8 + int.from_bytes((raw := Path(path).read_bytes())[:8], "little")
    require(raw[8:9] == b"{", "the network is not in a .safetensors file, which turing.save writes")
    header = json.loads(raw[8:end])
    metadata = {key: json.loads(value) for key, value in header.pop("__metadata__").items()}
    require((own := metadata.get("construction")) == "wcm21", f"this checker covers WCM21 networks only, not {own}")
    (dtype,) = {entry["dtype"] for entry in header.values()}
    kind, total, tensors = TYPES[dtype], hashlib.sha256(b"{}"), {}
    for name, entry in sorted(header.items()):
        data = raw[end + entry["data_offsets"][0] : end + entry["data_offsets"][1]]
        total.update(f"{name} {kind[1]} {entry['shape']}".encode() + data)
        numbers: Any = np.frombuffer(data, kind[0]).reshape(entry["shape"])
        tensors[name] = ((numbers.astype("<u4") << 16).view("<f4") if dtype == "BF16" else numbers).astype(float)
    return metadata, tensors, kind, f"sha256:{total.hexdigest()}"


class Network:
    """What is known of a place is a pair: a variable, and the value of the place for each value of the variable."""

    def __init__(self, metadata: dict, tensors: dict, kind: tuple, machine: dict):
        self.tensors, self.precision, self.exponent = tensors, kind[2], kind[3] * np.log(2)
        self.modules = {module["name"]: module for module in metadata["modules"]}
        every, slices = metadata["layouts"], dict(metadata["layouts"][0])
        parts = [[(name, n if isinstance(n, list) else range(n)) for name, n in part] for part in every]
        self.places = [[(name, x) for name, labels in part for x in labels] for part in parts]
        self.states, self.symbols, self.L, self.blank = slices["st"], slices["sym1"], slices["pos1"], machine["blank"]
        self.bits = lambda *names: {(name, k): ((name, k), BIT) for name in names for k in range(self.L)}
        delta = {(q, a): rule for q, a, *rule in machine["delta"]}
        known = {*product(self.states, self.symbols, (-1, 0, 1))}
        good = delta.keys() <= {pair[:2] for pair in known} and {*map(tuple, delta.values())} <= known
        require(good and len(delta) == len(machine["delta"]), "the proof is of another machine")
        rules = [delta.get((q, a), (None, None, 0)) for q in self.states for a in self.symbols]
        self.moves = [rule[2] for rule in rules]
        self.ruled = {("st", q): ("rule", [rule[0] == q for rule in rules]) for q in self.states}
        self.ruled |= {("sym2", a): ("rule", [rule[1] == a for rule in rules]) for a in self.symbols}
        self.ruled |= {("scr5", x): ("rule", [move == d for move in self.moves]) for x, d in (("R", 1), ("L", -1))}

    def check(self, names: list[str], given: dict, wanted: dict, rest: Any = lambda *_: 0) -> None:
        """Run modules on all that each place depends on. What is ``wanted`` is a pair, or variables and a function."""
        layers = [layer for name in names for layer in self.modules[name]["layers"]]
        layers = [(self.tensors[x["weight"]], self.tensors[x["bias"]], x["activation"]) for x in layers]
        before, after = (self.places[self.modules[names[n]]["layouts"][n]] for n in (0, -1))
        sizes, groups, depends = {v: len(table) for v, table in given.values()}, dict[Any, Any](), np.eye(len(before))
        for weight, bias, _ in layers:
            require((weight % 1 == 0).all() and (bias % 1 == 0).all(), f"{names[0]} has numbers that are no integers")
            depends = ((weight != 0) @ depends > 0).astype(float)
        for i, place in enumerate(after):
            used = {given[before[j]][0] for j in np.flatnonzero(depends[i]) if before[j] in given}
            variables, table = wanted.get(place, (tuple(sorted(used, key=str)), rest))
            if isinstance(table, list | tuple):  # a pair
                variables, table = (variables,), lambda n, values=table: values[n]
            if table != UNSEEN:
                require(used <= set(variables), f"{names[-1]}: {place} depends on {used}")
                groups.setdefault(variables, []).append((i, table))
        for variables, rows in groups.items():
            every = product(*(range(sizes[variable]) for variable in variables))
            known = [given.get(place, ("", (0,))) for place in before]  # where nothing is given, there is 0
            cases = [dict(zip(variables, values, strict=True)) for values in every]
            x = np.array([[table[case.get(variable, 0)] for variable, table in known] for case in cases], float)
            for weight, bias, activation in layers:
                sums = abs(x) @ abs(weight).T + abs(bias)
                require(sums.max() < 2.0**self.precision, f"{names[0]}: a sum may round")
                x = np.maximum(x @ weight.T + bias, {"relu": 0, "none": -np.inf}[activation])
            for i, table in rows:
                meant = x[:, i] > 0.5 if table == ANY else np.array([table(*case.values()) for case in cases], float)
                require(((x[:, i] == meant) | np.isnan(meant)).all(), f"{names[-1]}: {after[i]} is wrong")

    def decide(self) -> None:
        """The modules before the heads: what the rule says, and the new position in pos3."""
        bits, g, still = range(self.L), len(self.symbols), self.bits("pos1", "pos2")
        start: dict = {place: (place, BIT) for place in self.places[0]}  # what steps left there, for all but these
        start |= {("st", q): ("q", [p == q for p in self.states]) for q in self.states}
        start |= {("sym1", a): ("a", [b == a for b in self.symbols]) for a in self.symbols}
        add = {("add", k): ("rule", [m == -1 or (m == 1 and k == 0) for m in self.moves]) for k in bits}
        pairs = {p: (("q", "a"), lambda q, a, t=t: t[q * g + a]) for p, (_, t) in (self.ruled | add).items()}
        if "detect" in self.modules:
            return self.carries(start, pairs | still)
        copied, carry = {("pos3", k): (("pos2", k), BIT) for k in bits}, ("scr4", "visited")
        self.check(["transition", "preprocess"], start, pairs | still | copied)
        kept = self.ruled | still | self.bits("pos3")
        for k in bits:  # the carry has no place of its own, and is 0 at first
            here, uses = add.pop(("add", k)), ("rule", ("pos3", k), "carry")
            total = lambda r, p, c, t=here[1], k=k: t[r] + p + (c if k else 0)  # noqa: E731
            made = {("pos3", k): (uses, lambda *x, f=total: f(*x) % 2), carry: (uses, lambda *x, f=total: f(*x) // 2)}
            now = {("add", k): here, carry: ("carry", BIT if k else (0, 0))}
            self.check([f"adder{k}"], kept | add | now, kept | add | made)
        self.check(["project"], kept | {carry: ("carry", BIT)}, kept)

    def carries(self, start: dict, wanted: dict) -> None:
        """The modules before the heads, with all carries in one layer."""
        names, g = ["detect", "carry", "move"], len(self.symbols)
        self.check(names[:1], start, self.bits("pos1", "pos2"), ANY)
        self.check(names, start, wanted | {("pos3", k): ((), UNSEEN) for k in range(self.L)})
        weight, move = (self.tensors[self.modules[name]["layers"][0]["weight"]] for name in names[1:])
        below = [self.places[self.modules["carry"]["layouts"][0]].index(("pos2", k)) for k in range(self.L)]
        for k in range(self.L):  # a number from 0 to k, that of the ones below, in place of those bits
            rows = weight[move[self.places[0].index(("pos3", k))] != 0]
            require((rows[:, below[:k]] == rows[:, below[:1]]).all(), f"carry: bits below {k} do not count the same")
            ones = {("pos2", j): ("ones", [j < n for n in range(k + 1)]) for j in range(k)}
            into = [[(m == 1 and n == k) or (m == -1 and n == 0) for n in range(k + 1)] for m in self.moves]
            moved = lambda q, a, p, n=0, into=into: p ^ into[q * g + a][n]  # noqa: E731
            self.check(names, start | ones, {("pos3", k): (("q", "a", ("pos2", k), *["ones"][:k]), moved)}, UNSEEN)

    def head(self, name: str, asked: list, looked_at: list, fetched: list, into: list) -> None:
        """A look-up by n bits: a match scores n/2, a miss n/2 - 1 at most, and the null key between them, n/2 - 1/2."""
        module, at, n = self.modules[name], {place: j for j, place in enumerate(self.places[0])}, len(asked)
        good = module["kappa"] / 2 * (1 - 2.0**-self.precision) > self.exponent and 4 * n < 2**self.precision
        kind = ["dot", "ratio", "cross" if name == "initial" else "causal"]
        good = good and [module[key] for key in ("score", "average", "mask")] == kind
        Q, K = np.zeros((2, n + 1, len(at) + 1))  # the last column is the bias
        V, W = np.zeros((len(into), len(at) + 1)), np.zeros((len(at), len(into) + 1))
        for i, (place, other) in enumerate(zip(asked, looked_at, strict=True)):
            Q[i, -1], Q[i, at.get(place, -1)], K[i, at[other]], K[i, -1] = -1, 2 if place else 1, 1, -0.5
        Q[n, -1], K[n, -1] = 1, -n if name == "initial" else 0  # a row of padding has no symbol, and scores n less
        K[n, [at["sym1", a] for a in self.symbols if name == "initial"]] = n
        for i, (source, target) in enumerate(zip(fetched, into, strict=True)):
            V[i, at.get(source, -1)] = W[at[target], i] = 1  # None stands for a 1
        null = [[0.0] * n + [(n - 1) / 2], [0.0] * len(into)]
        good = good and [self.tensors[module[key]].tolist() for key in ("null_key", "null_value")] == null
        for part, numbers in {"query": Q, "key": K, "value": V, "write": W}.items():
            both = [self.tensors[module[part][key]] for key in ("weight", "bias")]
            good = good and np.array_equal(np.column_stack(both), numbers)
        require(good, f"{name} is not a look-up by bits, or its κ is too small for this type")

    def combine(self, names: list[str]) -> None:
        """The modules after the heads: the next column from what they found; None stands for nothing found."""
        found, blank = [*self.symbols, None], self.blank
        given = self.ruled | self.bits("pos1", "pos2", "pos3", "scr3") | {("scr4", "visited"): ("visited", BIT)}
        given |= {(part, a): (part, [b == a for b in found]) for part in ("scr1", "scr2") for a in self.symbols}
        last = lambda a, m: np.nan if found[m] is None else found[m] == a  # noqa: E731  # nothing only where it jams
        under = lambda a: lambda visited, m, n: last(a, m) if visited else (found[n] or blank) == a  # noqa: E731
        wanted = {("sym1", a): (("visited", "scr1", "scr2"), under(a)) for a in self.symbols}
        moved = {("pos2", k): (("pos3", k), BIT) for k in range(self.L)}
        self.check(names, given, self.ruled | wanted | moved | dict.fromkeys(self.bits("pos1"), ((), lambda: 0)), ANY)


def recheck(network_path: str | Path, proof_path: str | Path) -> None:
    """Raise unless the network in a file is proved as far as the saved proof says. Chapter: :doc:`/book/all-words`."""
    (metadata, tensors, kind, digest), claim = read(network_path), json.loads(Path(proof_path).read_text("utf-8"))
    machine, own, horizon = claim["machine"], metadata["machine"], claim["horizon"]
    known = [claim[key] for key in ("turing", "version", "construction")]
    require(known == ["proof", 1, "wcm21"], "this is not a proof of a WCM21 network")
    same = claim["weights"] == digest and all(machine[key] == own[key] for key in ("initial", "blank", "halting"))
    require(same, "the proof is of other weights, or of another machine")
    same = metadata["arithmetic"] == kind[1] == horizon["arithmetic"]
    require(same and metadata["loop"]["add"] == [["pos1", "step"]], "the number type or the loop is another one")
    net = Network(metadata, tensors, kind, machine)
    L, limits = net.L, {"steps": min(metadata["options"]["T"], 2**net.L), "cells": 2**net.L, "visits": 2 ** kind[2]}
    good = all(margin <= 0.5 for name, margin in claim["margins"].items() if ":" in name and name[:4] != "last")
    require(good and all(0 < horizon[key] <= limit for key, limit in limits.items()), "the proof claims too much")
    pos1, pos2, pos3, scr3 = ([(name, k) for k in range(L)] for name in ("pos1", "pos2", "pos3", "scr3"))
    sym1, sym2, scr1, scr2 = ([(name, a) for a in net.symbols] for name in ("sym1", "sym2", "scr1", "scr2"))
    heads: dict = {"visited": (pos3, pos2, [None], [("scr4", "visited")])}
    for j in reversed(range(L)):
        heads[f"search{j}"] = [*pos3, *scr3[j + 1 :], None], [*pos2, *pos1[j + 1 :], pos1[j]], [None], [scr3[j]]
    heads |= {"last": (scr3, pos1, sym2, scr1), "initial": (pos3, pos2, sym1, scr2)}
    first, last = ["transition", "preprocess", *(f"adder{k}" for k in range(L)), "project"], ["v", "arrange", "combine"]
    first, last = (["detect", "carry", "move"], ["choose", "assemble"]) if "detect" in net.modules else (first, last)
    require(list(net.modules) == [*first, *heads, *last], "the modules are other ones")
    net.decide()
    for name, parts in heads.items():
        net.head(name, *parts)
    net.combine(last)


if __name__ == "__main__":
    try:
        require(len(sys.argv) == 3, "a network and its proof are needed: net.safetensors net.proof.json")
        recheck(*sys.argv[1:])
    except Exception as error:  # whatever a damaged file leads to
        sys.exit(f"Rejected: {error if isinstance(error, ValueError) else f'{type(error).__name__}: {error}'}")
    print("Accepted: for all words, within the proof's limits, one pass of this network is one step of the machine.")
