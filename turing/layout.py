"""Named slices of a vector, so that weights are read and written by name instead of by index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from turing.arguments import integer
from turing.machine import TuringMachine

__all__ = ["Layout", "Slice", "state_vector"]

# A family has one colour; its members differ in lightness, in per cent, and in their names.
FAMILIES = {"st": "#B3440E", "sym": "#0067A8", "pos": "#00734F", "scr": "#63636B"}
LIGHTNESS = (100, 92, 84, 77, 70)


@dataclass(frozen=True)
class Slice:
    """Consecutive places of a vector, with a name and a colour, and with labels if each place has a name of its own.

    >>> import turing
    >>> layout = turing.Layout(st=["I", "R"], pos=3)
    >>> layout.pos
    Slice('pos', 2 to 4)
    >>> layout.pos[2], layout.st["R"], list(layout.pos)
    (4, 1, [2, 3, 4])

    Chapter: :doc:`/book/gates`.
    """

    name: str
    start: int
    size: int
    labels: tuple[str, ...] = ()

    def __getitem__(self, key: int | str) -> int:
        """The place in the vector of the slice's k-th place, or of the place with that label."""
        if isinstance(key, str):
            if key not in self.labels:
                known = " ".join(self.labels) or f"none; its places are {self.name}[0] to {self.name}[{self.size - 1}]"
                raise KeyError(f"{self.name} has no place labelled {key!r}. Its labels: {known}")
            return self.start + self.labels.index(key)
        if isinstance(key, bool) or not isinstance(key, int):
            raise TypeError(f"A place of {self.name} is a number or a label, and {key!r} was given.")
        if not -self.size <= key < self.size:
            raise IndexError(f"{self.name}[{key}] does not exist: {self.name} has {self.size} places, from 0 on.")
        return self.start + key % self.size

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.start, self.start + self.size))

    def names(self) -> list[str]:
        """The names of its places, such as ``pos3[6]`` or ``st[R]``; a slice of one place has only its own name."""
        return [self.name_of(k) for k in range(self.size)]

    def name_of(self, k: int) -> str:
        """The name of its k-th place, from 0."""
        if self.labels:
            return f"{self.name}[{self.labels[k]}]"
        return self.name if self.size == 1 else f"{self.name}[{k}]"

    @property
    def slice(self) -> slice:
        """Its places as an index of a tensor: ``x[..., layout.pos3.slice]``."""
        return slice(self.start, self.start + self.size)

    @property
    def colour(self) -> str:
        """Its colour in the book as CSS, light or dark as the page is; the text colour for slices that have none."""
        family = "pos" if self.name == "p" else self.name.rstrip("0123456789")  # p is a position too
        if family not in FAMILIES:
            return "var(--turing-ink,#1B1F27)"
        colour = f"var(--turing-{family},{FAMILIES[family]})"
        member = int(self.name[len(family) :] or 1) - 1
        share = LIGHTNESS[min(max(member, 0), len(LIGHTNESS) - 1)]
        return colour if share == 100 else f"color-mix(in srgb,{colour} {share}%,var(--turing-ground,#FFFFFF))"

    def __repr__(self) -> str:
        where = f"{self.start} to {self.start + self.size - 1}" if self.size != 1 else f"{self.start}"
        return f"Slice({self.name!r}, {where})"


class Layout:
    """The names of the places of a vector: its slices in order, each given by its size or by the labels of its places.

    >>> import turing
    >>> layout = turing.Layout(st=["I", "R", "M"], pos=4, carry=1)
    >>> layout.width, layout.pos[0], layout.st["M"]
    (8, 3, 2)
    >>> [layout.name(i) for i in range(8)]
    ['st[I]', 'st[R]', 'st[M]', 'pos[0]', 'pos[1]', 'pos[2]', 'pos[3]', 'carry']
    >>> (layout + turing.Layout(out=1)).width
    9

    Chapter: :doc:`/book/gates`.
    """

    def __init__(self, /, **slices: int | Sequence[str]):
        self.slices: dict[str, Slice] = {}
        self.width = 0
        places: Any  # checked below
        for name, places in slices.items():
            if name.startswith("_") or hasattr(Layout, name) or name in ("slices", "width"):
                raise ValueError(f"The name {name!r} is taken: layout.{name} means something else. Choose another.")
            counted = isinstance(places, int) and not isinstance(places, bool) and places >= 0
            labelled = isinstance(places, Sequence) and not isinstance(places, (str, bytes))
            if not counted and not (labelled and all(isinstance(label, str) for label in places)):
                raise TypeError(
                    f"{name}={places!r}: a slice is given by its size, such as {name}=3, "
                    f"or by the labels of its places, such as {name}=['a', 'b']."
                )
            labels = tuple(places) if labelled else ()
            if len(set(labels)) < len(labels):
                raise ValueError(f"{name}={places!r}: two places have the same label.")
            self.slices[name] = Slice(name, self.width, len(labels) if labelled else places, labels)
            self.width += len(self.slices[name])

    def __getitem__(self, name: str) -> Slice:
        if name not in self.slices:
            raise KeyError(f"This layout has no slice {name!r}. Its slices: {' '.join(self.slices)}")
        return self.slices[name]

    def __getattr__(self, name: str) -> Slice:
        slices = vars(self).get("slices", {})  # there are none while it is being copied
        if name not in slices:
            raise AttributeError(f"This layout has no slice {name!r}. Its slices: {' '.join(slices)}")
        return slices[name]

    def __iter__(self) -> Iterator[Slice]:
        return iter(self.slices.values())

    def __add__(self, other: Layout) -> Layout:
        if not isinstance(other, Layout):
            return NotImplemented
        twice = sorted(set(self.slices) & set(other.slices))
        if twice:
            raise ValueError(f"Both layouts have a slice {twice[0]!r}; rename one.")
        return Layout(**{part.name: part.labels or part.size for layout in (self, other) for part in layout})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def of(self, index: int) -> Slice:
        """The :class:`Slice` that a place belongs to; a place is given by its number.

        Chapter: :doc:`/book/gates`.
        """
        for part in self:
            if isinstance(index, int) and part.start <= index < part.start + part.size:
                return part
        raise IndexError(f"Place {index!r} is outside this vector: it has {self.width} places, from 0 on.")

    def name(self, index: int) -> str:
        """The name of a place, given by its number.

        Chapter: :doc:`/book/gates`.
        """
        part = self.of(index)
        return part.name_of(index - part.start)

    def names(self) -> list[str]:
        """The names of all places.

        Chapter: :doc:`/book/gates`.
        """
        return [name for part in self for name in part.names()]

    def __repr__(self) -> str:
        parts = (f"{part.name}={list(part.labels) if part.labels else part.size}" for part in self)
        return f"Layout({', '.join(parts)})"


def state_vector(machine: TuringMachine, bits: int) -> Layout:
    """The layout of a column of ``wcm21``, with so many position ``bits``, as in section 5 of the paper.

    >>> import turing
    >>> from turing.layout import state_vector
    >>> layout = state_vector(turing.zoo["balanced_parentheses"], bits=7)
    >>> layout.width, layout.name(36), layout.name(1)
    (59, 'pos3[6]', 'st[R]')

    Chapter: :doc:`/book/gates`.
    """
    if not isinstance(machine, TuringMachine):
        raise TypeError(f"state_vector takes a TuringMachine, and {machine!r} was given.")
    bits = integer("bits", bits, 1, what="the length of a position")
    return Layout(
        st=machine.states,
        sym1=machine.symbols,
        sym2=machine.symbols,
        pos1=bits,
        pos2=bits,
        pos3=bits,
        scr1=machine.symbols,
        scr2=machine.symbols,
        scr3=bits,
        scr4=["visited", "word", "blank"],
        scr5=["R", "L"],
    )
