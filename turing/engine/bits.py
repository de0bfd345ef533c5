"""A network as a program over bits: each slice of a vector is a word of bits, each layer makes words out of words.

That is the network itself, not another one, where all weights are integers and all activations 0 or 1. What a row of a
layer adds up is then a small integer, and of ReLU(sum) only two things count: whether the sum is at least 1, and that
it is not 2 or more. The program says, for each word of a layer's output and each word of its input, how the weights
between them are added up. It is made of W and b alone; no two words are looked up at once.

Chapter: :doc:`How fast </book/how-fast>`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from turing import ir
from turing.engine.index import Around, digits
from turing.layout import Layout

__all__ = ["BitLayer", "BitProgram", "Fits", "Row", "Unfit", "Word", "bit_layers", "words_of"]

BITS = 64  # of a word
LARGEST = 127  # of a sum, on either side of 0: what 8 bits hold
LEAVES = 65  # from the row for a bit that is set to the row for the same bit when it is cleared

# What stands before the words of a column in the row of a tape: the step, why the code left, where the window of the
# index begins and how large it is, the cell of the head, and the addresses of index, tables, lanes and record. Then
# come the words of what was written first, of the halting states, and of the column.
STEP, LEFT, START, SIZE, HEAD, INDEX, TABLES, LANE_TABLES, RECORD, WORDS = range(10)
ODD, WINDOW = 1, 2  # why the code left: a step is unusual, a cell is outside the window
# What stands in the index for a position: the last visit or -1, the cell, and then in words what was written there, the
# symbol of the word, and the symbol that the report has there.
LAST, CELL, SYMBOLS = range(3)
NOWHERE = -(2**63)  # the cell of a position that the head has not been read on


class Unfit(ValueError):
    """A network that has no such program, and why."""


class Fits(NamedTuple):
    """Up to 64 neighbouring places of a vector: a slice, or a part of a long one. ``one`` if at most one of them is
    expected to be 1, as in a state or a symbol; whoever relies on it has to see to it.
    """

    name: str
    start: int
    size: int
    one: bool

    @property
    def slice(self) -> slice:
        return slice(self.start, self.start + self.size)


class Shift(NamedTuple):
    """``value`` for each row r whose input ``r - by``, one of ``places``, is 1."""

    word: int
    value: int
    places: int
    by: int


class Any(NamedTuple):
    """``value`` for all of ``rows`` if an input in ``places`` is 1; if these are several, at most one may be."""

    word: int
    value: int
    places: int
    rows: int


class Row(NamedTuple):
    """``value`` for the rows in a word of the table: of the row that belongs to the one input of a slice that is 1."""

    words: tuple[int, ...]  # that the slice has
    value: int
    table: int  # where it begins
    stride: int  # a power of 2: words in a row
    place: int  # in the row


Term = Shift | Any | Row


@dataclass
class Word:
    """A word of a layer's output: a word of its input as it is, or sums.

    A sum begins with its row's bias. ``lanes`` is where the rows begin in the sums that the layer keeps in lanes of 8
    bits, if there are some, which then have the bias in them.
    """

    fits: Fits
    same: int | None = None
    terms: list[Term] = field(default_factory=list)
    low: list[int] = field(default_factory=list)  # of each row: what the sum is at least before the terms, and at most
    high: list[int] = field(default_factory=list)
    lanes: int | None = None


@dataclass
class BitLayer:
    """How a layer makes words out of words. ``counted`` are the words whose changes are added to the lanes: of each
    the number of the word and where its columns begin, in groups of 64 lanes.
    """

    name: str
    relu: bool
    inputs: list[Fits]
    words: list[Word]
    groups: int = 0
    base: int = 0  # where the biases of the lanes begin
    counted: list[tuple[int, int]] = field(default_factory=list)


class Tables:
    """The numbers of all tables, one after the other."""

    def __init__(self) -> None:
        self.words: list[np.ndarray] = []
        self.lanes: list[np.ndarray] = []

    def add(self, kind: list[np.ndarray], numbers: np.ndarray) -> int:
        kind.append(numbers.ravel())
        return sum(map(len, kind[:-1]))


def words_of(layout: Layout) -> list[Fits]:
    """The words of a vector."""
    return [
        Fits(part.name, part.start + k, min(BITS, part.size - k), bool(part.labels))
        for part in layout
        for k in range(0, part.size, BITS)
    ]


def bit_layers(modules: Sequence[ir.Module], tables: Tables) -> Iterator[tuple[str, list[BitLayer]]]:
    """The layers of modules, by the module's name. Raise :class:`Unfit` where a number does not fit."""
    for module in modules:
        yield module.name, [_layer(part, tables) for part in module.parts if isinstance(part, ir.Layer)]


def _layer(part: ir.Layer, tables: Tables) -> BitLayer:
    W, b = integers(part.weight), integers(part.bias)
    if (part.inputs.width, part.outputs.width) != (W.shape[1], W.shape[0]):
        raise Unfit(f"{part.name} has no names for its places")
    layer = BitLayer(part.name, part.relu, words_of(part.inputs), [])
    counted: dict[int, list[tuple[Word, np.ndarray]]] = {}
    rows: dict[tuple[int, ...], list[tuple[Word, np.ndarray]]] = {}
    slices: dict[str, list[int]] = {}
    readers: dict[str, list[tuple[Word, np.ndarray]]] = {}
    for k, given in enumerate(layer.inputs):
        slices.setdefault(given.name, []).append(k)
    for fits in words_of(part.outputs):
        block, word = W[fits.slice], Word(fits, low=b[fits.slice].tolist())
        used = [k for k, given in enumerate(layer.inputs) if block[:, given.slice].any()]
        layer.words.append(word)
        if len(used) == 1 and not any(word.low) and _is_identity(block[:, layer.inputs[used[0]].slice]):
            word.same = used[0]
        else:
            for name in dict.fromkeys(layer.inputs[k].name for k in used):
                readers.setdefault(name, []).append((word, block))
    for name, blocks in readers.items():
        many = slices[name]
        one = layer.inputs[many[0]].one
        for word, block in blocks:
            terms = [term for k in many for term in _terms(k, layer.inputs[k], block[:, layer.inputs[k].slice])]
            cost = sum(1 if isinstance(term, Shift) else 2 for term in terms)
            if one and (cost > 5 or len(blocks) > 3):
                columns = np.concatenate([block[:, layer.inputs[k].slice] for k in many], axis=1)
                rows.setdefault(tuple(many), []).append((word, columns))
            elif cost > 4 and not one:
                for k in many:
                    counted.setdefault(k, []).append((word, block[:, layer.inputs[k].slice]))
            else:
                word.terms += terms
    _take_lanes(layer, counted, tables)
    for all_words, blocks in rows.items():
        _take_rows(all_words, blocks, tables)
    for word in layer.words:
        word.high = word.high or word.low
        _check_sums(part.name, word)
    return layer


def _terms(word: int, fits: Fits, block: np.ndarray) -> list[Term]:
    """The terms of a block of weights, as shifts of the word or as inputs for many rows, whichever are fewer."""
    shifts: dict[tuple[int, int], int] = {}
    for row, place in np.argwhere(block).tolist():
        key = int(block[row, place]), row - place
        shifts[key] = shifts.get(key, 0) | 1 << place
    columns: dict[tuple[int, ...], int] = {}
    for place in block.any(0).nonzero()[0].tolist():
        key_ = tuple(block[:, place].tolist())
        shared = key_ if fits.one else (*key_, place)  # of several inputs at most one may be 1
        columns[shared] = columns.get(shared, 0) | 1 << place
    anys = [
        Any(word, value, places, sum(1 << row for row, weight in enumerate(column[: len(block)]) if weight == value))
        for column, places in columns.items()
        for value in sorted({*column[: len(block)]} - {0})
    ]
    found = [Shift(word, value, places, by) for (value, by), places in shifts.items()]
    return list(anys) if 2 * len(anys) < len(found) else list(found)


def _take_lanes(layer: BitLayer, counted: dict[int, list[tuple[Word, np.ndarray]]], tables: Tables) -> None:
    """Give the rows whose sums are kept their lanes, and put their weights into columns."""
    free = 0
    low, high = [0] * 0, [0] * 0
    for word in layer.words:
        blocks = [block for many in counted.values() for other, block in many if other is word]
        if not blocks:
            continue
        if free % BITS + word.fits.size > BITS:
            free += -free % BITS  # a word does not cross the border of a group
        word.lanes, free = free, free + word.fits.size
        negative, positive = (sum(np.clip(block, *ends).sum(1) for block in blocks) for ends in ((None, 0), (0, None)))
        bias = np.array(word.low)
        low, high = (bias + negative).tolist(), (bias + positive).tolist()
        word.low, word.high = low, high
        layer.groups = -(-free // BITS)
    base = np.zeros(layer.groups * BITS, np.int64)
    for word in layer.words:
        if word.lanes is not None:
            blocks = [block for many in counted.values() for other, block in many if other is word]
            negative = sum(np.clip(block, None, 0).sum(1) for block in blocks)
            base[word.lanes : word.lanes + word.fits.size] = np.array(word.low) - negative
    layer.base = tables.add(tables.lanes, base)
    for k, many in counted.items():
        columns = np.zeros((2 * LEAVES, layer.groups * BITS), np.int64)
        for word, block in many:
            assert word.lanes is not None
            columns[: block.shape[1], word.lanes : word.lanes + word.fits.size] = block.T
        columns[LEAVES : LEAVES + BITS] = -columns[:BITS]
        layer.counted.append((k, tables.add(tables.lanes, columns)))


def _take_rows(many: tuple[int, ...], blocks: list[tuple[Word, np.ndarray]], tables: Tables) -> None:
    """A table with a row for each input of a slice: which rows of which word get which weight from it."""
    pairs = [(word, block, value) for word, block in blocks for value in np.unique(block[block != 0]).tolist()]
    stride = 1 << (len(pairs) - 1).bit_length()
    numbers = np.zeros((len(many) * BITS + 1, stride), np.uint64)
    for place, (_, block, value) in enumerate(pairs):
        powers = np.uint64(1) << np.arange(len(block), dtype=np.uint64)
        numbers[: block.shape[1], place] = ((block == value).T * powers).sum(1, dtype=np.uint64)
    table = tables.add(tables.words, numbers)
    for place, (word, _, value) in enumerate(pairs):
        word.terms.append(Row(many, value, table, stride, place))


def _check_sums(name: str, word: Word) -> None:
    spread = sum(abs(term.value) for term in word.terms)
    if max(map(abs, word.low + word.high)) + spread > LARGEST:
        raise Unfit(f"a sum of {name}, in {word.fits.name}, may be more than {LARGEST}")


def integers(numbers: ir.Numbers) -> np.ndarray:
    values = numbers.values.cpu().numpy()
    for index in np.argwhere(~((values % 1 == 0) & (np.abs(values) <= LARGEST))).tolist():
        raise Unfit(f"{numbers.name}{index} is {digits(values[tuple(index)])}, and not an integer up to {LARGEST}")
    return values.astype(np.int64)


def _is_identity(block: np.ndarray) -> bool:
    return block.shape[0] == block.shape[1] and np.array_equal(block, np.eye(len(block)))


class BitProgram:
    """The layers before the heads and after them, as :func:`bit_layers` gives them, and their tables.

    >>> import turing
    >>> from turing.engine import check_heads
    >>> from turing.engine.bits import BitProgram
    >>> net = turing.compile(turing.zoo["bb2"], "wcm21", T=8, adder="lookahead")
    >>> program = BitProgram(check_heads(net), net.layout)
    >>> [layer.name for _, layers in program.before for layer in layers]
    ['pipeline.detect', 'pipeline.carry', 'pipeline.move']

    Chapter: :doc:`How fast </book/how-fast>`.
    """

    def __init__(self, around: Around, layout: Layout, heads: Sequence[str] = ()):
        tables = Tables()
        self.before = list(bit_layers(around.pre_attention, tables))
        self.after = list(bit_layers(around.post_attention, tables))
        self.layers = [layer for _, layers in (*self.before, *self.after) for layer in layers]
        self.words = np.concatenate([*tables.words, np.zeros(1, np.uint64)])
        self.lanes = aligned(np.concatenate([*tables.lanes, np.zeros(BITS, np.int64)]).astype(np.int8))
        self.fits = words_of(layout)
        self.part = {fits.name: [k for k, f in enumerate(self.fits) if f.name == fits.name] for fits in self.fits}
        self.bits, self.symbols = len(layout.pos2), len(self.part["sym1"])
        self.mask, self.stride = 2**self.bits - 1, SYMBOLS + 3 * self.symbols
        self.halting = WORDS + self.symbols  # where these stand in the row of a tape
        self.column = self.halting + len(self.part["st"])
        self.row_size = self.column + len(self.fits)
        last = self.layers[-1].words if self.after and self.after[-1][1] else []
        self.fixed = {  # words of a column that are the same after every step
            k: sum(1 << row for row, bias in enumerate(word.low) if bias > 0)
            for k, word in enumerate(last)
            if word.same is None and word.lanes is None and not word.terms
        }
        self.heads = heads
        self.vectors = [self.fits]  # the words of all vectors that are recorded
        for _, layers in self.before:
            self.vectors.append([word.fits for word in layers[-1].words] if layers else self.vectors[-1])
        self.vectors.append(self.fits)
        for _, layers in self.after:
            self.vectors.append([word.fits for word in layers[-1].words] if layers else self.vectors[-1])
        self.recorded = sum(map(len, self.vectors))

    @cached_property
    def shape(self) -> tuple:
        """All but the numbers, and the names of states and symbols."""
        layers = [
            [(layer.name, layer.relu, *layer.inputs, *(word.fits for word in layer.words)) for layer in layers]
            for _, layers in (*self.before, ("heads", []), *self.after)
        ]
        return (*self.fits, *map(tuple, layers))


def aligned(numbers: np.ndarray) -> np.ndarray:
    """The same numbers at an address that is a multiple of 64."""
    room = np.zeros(numbers.nbytes + BITS, np.uint8)
    begin = -room.ctypes.data % BITS
    found = room[begin : begin + numbers.nbytes].view(numbers.dtype)
    found[:] = numbers
    return found
