"""The Cantor zoom: a stack as a point of the number line, and the float that has to hold it."""

from __future__ import annotations

import traitlets

from turing.cantor import PRECISION, Cantor, check_digits
from turing.widgets.base import Widget, joined, style

__all__ = ["CantorZoom"]

MAX_SYMBOLS, MAX_BASE = 32, 100


class CantorZoom(Widget):
    """A stack in one number under the reader's fingers: push, pop, and the step at which a float loses a symbol.

    - ``stack``: a text of 0 and 1 from the top down. Setting it to one symbol more or less on top is a push or a pop,
      anything else a new stack.
    - ``base``, ``digits``: the base, and the digits that stand for 0 and 1
    - ``arithmetic``: ``"float32"`` or ``"float64"``, the type of the float beside the exact value

    All four are live.

    Example::

        CantorZoom("101")

    Chapter: :doc:`/book/cantor-stacks`.
    """

    _esm = joined("cantor_zoom/widget.js")
    _css = style("cantor_zoom/widget.css")

    # Plain traits: the validators below say what is expected.
    stack: traitlets.TraitType[str, str] = traitlets.TraitType("").tag(sync=True)
    base: traitlets.TraitType[int, int] = traitlets.TraitType(4).tag(sync=True)
    digits: traitlets.TraitType[tuple[int, int], tuple[int, int]] = traitlets.TraitType((1, 3)).tag(sync=True)
    arithmetic: traitlets.TraitType[str, str] = traitlets.TraitType("float32").tag(sync=True)

    def __init__(self, stack: str = "", base: int = 4, digits: tuple[int, int] = (1, 3), arithmetic: str = "float32"):
        super().__init__()
        with self.hold_trait_notifications():  # base and digits are judged together
            self.base, self.digits = base, digits
        self.stack, self.arithmetic = stack, arithmetic

    @traitlets.validate("stack")
    def _valid_stack(self, proposal: dict) -> str:
        stack = proposal["value"]
        if not isinstance(stack, str) or not set(stack) <= {"0", "1"}:
            raise ValueError(
                f'The stack is a text of 0 and 1 from the top down, such as "101", and {stack!r} was given.'
            )
        if len(stack) > MAX_SYMBOLS:
            raise ValueError(
                f"The widget shows {MAX_SYMBOLS} symbols at most, and {len(stack)} were given. "
                f"turing.cantor.Cantor() takes any number of them."
            )
        return stack

    @traitlets.validate("base", "digits")
    def _valid_code(self, proposal: dict) -> int | tuple[int, int]:
        value = proposal["value"]
        if proposal["trait"].name == "digits":
            value = tuple(value) if isinstance(value, list) else value  # as a page sends them
            check_digits(self.base, value)
            return value
        check_digits(value, self.digits)
        if value > MAX_BASE:
            raise ValueError(f"The widget draws bases up to {MAX_BASE}, and base={value} was given.")
        return value

    @traitlets.validate("arithmetic")
    def _valid_arithmetic(self, proposal: dict) -> str:
        if proposal["value"] not in tuple(PRECISION):
            names = " or ".join(f'"{name}"' for name in PRECISION)
            raise ValueError(f"arithmetic is {names}, beside the exact value, and {proposal['value']!r} was given.")
        return proposal["value"]

    def fallback(self) -> str:
        exact, held = Cantor(self.base, self.digits), Cantor(self.base, self.digits, self.arithmetic).depth
        value, rows = exact.encode([]), ["<tr><td>0</td><td>empty</td><td>0</td></tr>"]
        for depth, symbol in enumerate(reversed(self.stack), start=1):
            value = exact.push(value, int(symbol))
            rows.append(f"<tr><td>{depth}</td><td>{symbol}</td><td>{value}</td></tr>")
        d0, d1 = self.digits
        return (
            f"<p>A stack as a number in base {self.base}, with digit {d0} for symbol 0 and {d1} for symbol 1. "
            f"A push divides q + digit by {self.base}; a pop multiplies q by {self.base} and subtracts the digit.</p>\n"
            "<table>\n<thead><tr><th>depth</th><th>pushed</th><th>value</th></tr></thead>\n"
            "<tbody>\n" + "\n".join(rows) + "\n</tbody>\n</table>\n"
            f"<p>{self.arithmetic} holds {held} symbols. With scripts on, the page lets you push and pop; "
            "in Python, <code>turing.cantor</code> does.</p>"
        )

    def __repr__(self) -> str:
        return f"CantorZoom({self.stack!r}, base={self.base}, digits={self.digits!r}, arithmetic={self.arithmetic!r})"
