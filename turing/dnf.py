"""Any truth table as two or three ReLU layers, and any transition table as two.

This is Theorem 6 and section 3.3 of the paper. DNF stands for disjunctive normal form, an OR of ANDs.

Chapter: :doc:`/book/dnf`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import product
from operator import and_, or_, xor
from typing import Any

import torch
from torch import Tensor

from turing.gates import NOT, Circuit, Layer
from turing.layout import Layout
from turing.machine import TuringMachine

__all__ = ["DNF", "Transition"]

MAX_VARIABLES = 16  # a truth table has 2^n rows
CHEAP = 8  # variables; up to here, minimising takes a few seconds at most
WEIGHT = {"1": 1, "0": -1, "-": 0}
SIGNS = str.maketrans("∧∨¬⊕#", "&|~^?")  # a # would turn the rest into a comment
OPERATORS = {ast.BitAnd: and_, ast.And: and_, ast.BitOr: or_, ast.Or: or_, ast.BitXor: xor}


class DNF(Circuit):
    """An OR of clauses. Two layers if no two clauses can be true together, else three (Theorem 6).

    A clause has one character for each variable: 1 if it must be true, 0 if it must be false, - if it does not matter.
    Layer 1 has a neuron for each clause. If no two can be true together, layer 2 adds them up; else layers 2 and 3
    compute their OR. Shapes: ``(…, variables)`` to ``(…, 1)``.

    - ``variables``: the names of the variables, such as ``"a b c"`` or a list; by default x0, x1, …
    - ``exclusive``: by default the class finds out whether two clauses can be true together; ``True`` raises ValueError
      if they can, and ``False`` always takes three layers

    >>> majority = DNF(["11-", "1-1", "-11"])
    >>> len(majority), majority(torch.tensor([[1, 0, 1], [0, 0, 1]])).flatten().tolist()
    (3, [1.0, 0.0])

    Chapter: :doc:`/book/dnf`.
    """

    def __init__(
        self,
        clauses: Iterable[str],
        variables: str | Sequence[str] | None = None,
        exclusive: bool | None = None,
    ):
        clauses, variables = _clauses(clauses, variables)
        n, m = len(variables), len(clauses)
        W = torch.tensor([[WEIGHT[value] for value in clause] for clause in clauses]).reshape(m, n)
        b = 1 - (W == 1).sum(dim=1)  # AND if the clause has only ones, NOR if it has only zeros
        if exclusive is not False and _exclude_each_other(clauses, variables, insist=exclusive):
            super().__init__(Layer(W, b), Layer(torch.ones(1, m), [0]))  # at most one clause is 1
        else:
            super().__init__(Layer(W, b), Layer(-torch.ones(1, m), [1]), NOT())  # NOR, NOT
        self.clauses, self.variables = clauses, variables
        names = Layout(**dict.fromkeys(variables, 1))
        self.layouts = [names, Layout(clause=clauses), *[Layout(nor=1)][: len(self) - 2], Layout(out=1)]

    @classmethod
    def of_table(
        cls,
        table: str | Sequence[int],
        variables: str | Sequence[str] | None = None,
        minimise: bool = True,
        exclusive: bool | None = None,
    ) -> DNF:
        """The network of a truth table, a string such as ``"0110"`` or a list of 2ⁿ values 0 and 1.

        For two variables the rows are 00, 01, 10, 11, and so on: the last variable varies fastest. Up to 8 variables,
        clauses are merged into fewer and shorter ones. ``minimise=False`` keeps one clause for each 1 in the table; no
        two of them can be true together, so there are two layers. With ``exclusive=True`` there are always two layers:
        clauses are merged only if no two of the merged ones can be true together.

        >>> DNF.of_table("0110").clauses, DNF.of_table("0111").clauses
        (('01', '10'), ('-1', '1-'))
        >>> len(DNF.of_table("0111")), len(DNF.of_table("0111", minimise=False))
        (3, 2)

        Chapter: :doc:`/book/dnf`.
        """
        if not isinstance(table, Iterable):
            raise TypeError(f"A truth table is a string such as '0110' or a list, and {table!r} was given.")
        values = [{"0": 0, "1": 1}.get(value, value) if isinstance(value, str) else value for value in table]
        if bad := [value for value in values if value not in (0, 1)]:
            raise ValueError(f"The values of a truth table are 0 and 1, and {bad[0]!r} was given.")
        n = max(len(values).bit_length() - 1, 0)
        if len(values) != 2**n:
            raise ValueError(f"A truth table of n variables has 2ⁿ rows: 1, 2, 4, 8, …, and {len(values)} were given.")
        variables = _variables(variables, n)
        if len(variables) != n:
            raise ValueError(
                f"A truth table of the {len(variables)} variables {' '.join(variables)} has {2 ** len(variables)} "
                f"rows, and {len(values)} were given."
            )
        rows = ["".join(row) for row in product("01", repeat=n)]
        clauses = [row for row, value in zip(rows, values, strict=True) if value]
        merged = _merged(clauses, n) if minimise and 0 < n <= CHEAP else None
        if merged is not None and not (exclusive and _overlap(merged)):
            clauses = merged
        return cls(clauses, variables, exclusive)

    @classmethod
    def of_expression(
        cls,
        expression: str,
        variables: str | Sequence[str] | None = None,
        minimise: bool = True,
        exclusive: bool | None = None,
    ) -> DNF:
        """The network of an expression in ``& | ^ ~``, or ``and or not``, or ``∧ ∨ ⊕ ¬``, with brackets.

        The operators bind as in Python. The variables are those of the expression in order of appearance, unless you
        give them. ``minimise`` and ``exclusive`` are those of :meth:`of_table`.

        >>> net = DNF.of_expression("a & ~b | c")
        >>> net.variables, net.clauses
        (('a', 'b', 'c'), ('--1', '10-'))

        Chapter: :doc:`/book/dnf`.
        """
        tree, used = _parsed(expression)
        variables = _variables(used if variables is None else variables, 0)
        if missing := [name for name in used if name not in variables]:
            raise ValueError(
                f"{_short(expression)} has the variable {missing[0]}, which is not one of those given: "
                f"{' '.join(variables)}."
            )
        if len(variables) > MAX_VARIABLES:
            raise ValueError(
                f"The truth table of {len(variables)} variables has 2^{len(variables)} rows; "
                f"at most {MAX_VARIABLES} variables are allowed. Give the clauses themselves: DNF([...], variables)."
            )
        rows = torch.tensor(list(product((False, True), repeat=len(variables))))
        columns = dict(zip(variables, rows.T, strict=True))
        constants = {value: torch.full((len(rows),), bool(value)) for value in (0, 1)}
        try:
            table = _value(tree, columns | constants).int().tolist()
        except RecursionError:
            raise ValueError(
                f"{_short(expression)} is nested too deeply. Give its clauses: DNF([...], variables)."
            ) from None
        return cls.of_table(table, variables, minimise, exclusive)


class Transition(Circuit):
    """The rules δ of a machine as two layers (section 3.3), on a vector whose places ``layout`` names;
    :func:`turing.layout.state_vector` makes the layout.

    - what goes in: the state in st, the symbol in sym1
    - what comes out: the next state in st, the symbol to write in sym2, the direction of the move in scr5, where both
      places are 0 for a stay
    - where no rule applies: st, sym2 and scr5 come out 0
    - the other places: pos1 and pos2 stay, and the rest becomes 0
    - layer 1: keeps the vector and appends a detector for each pair of state and symbol, AND(st[q], sym1[a])
    - layer 2: sends the detector that fires to the places above; it alone depends on δ

    For a vector of width w, s states and g symbols, W₁ has the size (w + sg) × w and W₂ the size w × (w + sg). Shapes:
    ``(…, w)`` to ``(…, w)``. Here the rule is that R reads ``)``, writes ``*``, moves left and goes to M:

    >>> m = turing.zoo["balanced_parentheses"]
    >>> layout = turing.layout.state_vector(m, bits=7)
    >>> x = torch.zeros(layout.width)
    >>> x[[layout.st["R"], layout.sym1[")"]]] = 1
    >>> [layout.name(place) for place in Transition(m, layout)(x).nonzero().flatten().tolist()]
    ['st[M]', 'sym2[*]', 'scr5[L]']

    Chapter: :doc:`/book/dnf`.
    """

    def __init__(self, machine: TuringMachine, layout: Layout):
        _check_layout(machine, layout)
        w, pairs = layout.width, list(product(layout.st.labels, layout.sym1.labels))
        W1, b1 = torch.eye(w + len(pairs), w), torch.zeros(w + len(pairs))
        W2, b2 = torch.zeros(w, w + len(pairs)), torch.zeros(w)
        for k, (q, a) in enumerate(pairs, start=w):
            W1[k, [layout.st[q], layout.sym1[a]]] = 1
            b1[k] = -1  # relu(st[q] + sym1[a] - 1) = AND
            if (q, a) in machine.delta:
                target, written, move = machine.delta[q, a]
                W2[[layout.st[target], layout.sym2[written]], k] = 1
                if move:
                    W2[layout.scr5["R" if move > 0 else "L"], k] = 1
        for name in ("pos1", "pos2"):
            for i in layout.slices.get(name, ()):
                W2[i, i] = 1
        super().__init__(Layer(W1, b1), Layer(W2, b2))
        self.layouts = [layout, layout + _detectors(pairs), layout]


def _check_layout(machine: TuringMachine, layout: Layout) -> None:
    """Check that every place that the transition reads or writes has its name in the layout."""
    if not isinstance(machine, TuringMachine) or not isinstance(layout, Layout):
        raise TypeError(f"Transition takes a machine and then a layout, and {machine!r} and {layout!r} were given.")
    wanted = {"st": machine.states, "sym1": machine.symbols, "sym2": machine.symbols, "scr5": ("R", "L")}
    for name, labels in wanted.items():
        if name not in layout.slices or set(labels) - set(layout[name].labels):
            raise ValueError(
                f"The layout has no slice {name!r} with the labels {' '.join(labels)}. "
                f"turing.layout.state_vector(machine, bits) returns a layout that has them all."
            )


def _detectors(pairs: Sequence[tuple[str, str]]) -> Layout:
    names = [f"{q} {a}" for q, a in pairs]
    return Layout(det=names if len(set(names)) == len(names) else len(names))  # names with spaces may be ambiguous


def _variables(variables: str | Sequence[str] | None, n: int) -> tuple[str, ...]:
    """The names of the variables, from a string with spaces or a sequence; x0, x1, … by default."""
    if variables is None:
        return tuple(f"x{i}" for i in range(n))
    if not isinstance(variables, Iterable):
        raise TypeError(f"Variables are a string such as 'a b' or a list of names, and {variables!r} was given.")
    names = tuple(variables.split() if isinstance(variables, str) else variables)
    for name in names:
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"A variable has a name such as a or x1, and {name!r} was given.")
    if len(set(names)) < len(names):
        raise ValueError(f"Two of the variables {' '.join(names)} have the same name.")
    return names


def _clauses(clauses: Iterable[str], variables: str | Sequence[str] | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The clauses without repetitions, and the names of their variables."""
    if isinstance(clauses, str) or not isinstance(clauses, Iterable):
        raise TypeError(f"DNF takes a list of clauses, such as ['10-', '--1'], and {clauses!r} was given.")
    clauses = tuple(clauses)
    if variables is None and not clauses:
        raise ValueError("If there are no clauses, the variables must be named, such as DNF([], 'a b').")
    names = _variables(variables, len(str(clauses[0])) if clauses else 0)
    for clause in clauses:
        if not isinstance(clause, str) or len(clause) != len(names) or set(clause) - set("01-"):
            raise ValueError(
                f"The clause {clause!r} is not one character 0, 1 or - for each of "
                f"the {len(names)} variables {' '.join(names)}."
            )
    return tuple(dict.fromkeys(clauses)), names


def _exclude_each_other(clauses: Sequence[str], variables: Sequence[str], insist: bool | None) -> bool:
    """Whether no two clauses can be true together. With ``insist``, two that can are an error that shows an input."""
    overlap = _overlap(clauses)
    if overlap and insist:
        one, other, witness = overlap
        values = " ".join(f"{name}={value}" for name, value in zip(variables, witness, strict=True))
        raise ValueError(
            f"The clauses {one} and {other} do not exclude each other: both are true for {values}. "
            f"Leave exclusive out, and the network will have a third layer."
        )
    return not overlap


def _overlap(clauses: Sequence[str]) -> tuple[str, str, str] | None:
    """Two different clauses that can be true together, and an input on which they are; None if there are none."""
    if not any("-" in clause for clause in clauses):
        return None  # each is true on one row, and no two on the same
    wants = torch.tensor([[WEIGHT[value] for value in clause] for clause in clauses], dtype=torch.int8)
    for j, clause in enumerate(clauses):
        opposed = (wants[:j] * wants[j] == -1).any(dim=1)
        if not opposed.all():
            other = clauses[int((~opposed).nonzero()[0])]
            pairs = zip(other, clause, strict=True)
            return other, clause, "".join("1" if "1" in pair else "0" for pair in pairs)
    return None


def _merged(clauses: Sequence[str], n: int) -> list[str] | None:
    """Fewer and shorter clauses for the same rows, by SymPy's Quine–McCluskey; None if there are not fewer."""
    from sympy import Symbol
    from sympy.logic.boolalg import And, Not, Or, SOPform, false, true

    symbols = [Symbol(f"x{i}") for i in range(n)]
    form = SOPform(symbols, [[int(c) for c in clause] for clause in clauses])
    if form in (true, false):
        return ["-" * n] if form == true else []
    merged = []
    for term in form.args if isinstance(form, Or) else (form,):
        clause = ["-"] * n
        for literal in term.args if isinstance(term, And) else (term,):
            negated = isinstance(literal, Not)
            clause[symbols.index(literal.args[0] if negated else literal)] = "0" if negated else "1"
        merged.append("".join(clause))
    return sorted(merged) if len(merged) < len(clauses) else None


def _parsed(expression: str) -> tuple[ast.expr, tuple[str, ...]]:
    """The tree of an expression, made only of nodes that ``_value`` can evaluate, and its names in order."""
    if not isinstance(expression, str):
        raise TypeError(f"A Boolean expression is a string such as 'a & ~b | c', and {expression!r} was given.")
    text = expression.translate(SIGNS).strip()
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ValueError(
            f"{_short(expression)} is not a Boolean expression. "
            f"Write it with names, & | ^ ~ and brackets, as in a & ~b | c."
        ) from None
    names = []
    for node in ast.walk(tree):
        match node:
            case ast.Name():
                names.append(node)
            case ast.Constant(value=int(value)) if value in (0, 1):
                pass
            case ast.BoolOp(op=op) | ast.BinOp(op=op) if type(op) in OPERATORS:
                pass
            case ast.UnaryOp(op=ast.Invert() | ast.Not()):
                pass
            case ast.expr():
                part = ast.get_source_segment(text, node)
                raise ValueError(
                    f"{_short(expression)} contains {_short(part or '')}, which is not Boolean. "
                    f"Use names, 0, 1, & | ^ ~, and, or, not, and brackets."
                )
    names.sort(key=lambda node: (node.lineno, node.col_offset))
    return tree, tuple(dict.fromkeys(node.id for node in names))


def _value(tree: ast.expr, columns: Mapping[Any, Tensor]) -> Tensor:  # type: ignore[return]  # _parsed allows no other
    """The truth table of an expression, from the columns of its names and of the constants 0 and 1."""
    match tree:
        case ast.Name():
            return columns[tree.id]
        case ast.Constant():
            return columns[tree.value]
        case ast.UnaryOp():
            return ~_value(tree.operand, columns)
        case ast.BoolOp():
            return reduce(OPERATORS[type(tree.op)], [_value(part, columns) for part in tree.values])
        case ast.BinOp():
            return OPERATORS[type(tree.op)](_value(tree.left, columns), _value(tree.right, columns))


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:79]}…")
