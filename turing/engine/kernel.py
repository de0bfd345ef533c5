"""The compiled loop: the layers of a network, the index for its heads, and the reading of a run, step after step.

Every number of a column comes from activations times weights; activations that are 0 are left out. The cells, symbols
and the head that the loop counts are read off the columns, for the report and the guard, and no column depends on them.

Sizes and places are unsigned: a signed index costs a test for negative ones, and with it the vector instructions.

Chapter: :doc:`/book/how-fast`.
"""

from contextlib import suppress

import numpy as np
from numba import njit
from numba.core.caching import FunctionCache

__all__ = ["advance", "enter", "find"]

U = np.uint64
# How a call ends.
LIMIT, HALTED, JAMMED, ROOM, NOT_A_BIT, TIME, SEARCH, INFINITE, UNREADABLE, WRONG_CELL, CAPACITY, MISREAD = range(12)
# What a run counts and reads: steps done, slots in use, the cell of the head and its slot, and the state.
STEP, USED, HEAD, HERE, STATE = range(5)
# Where the slices of a column begin; the last four are sizes.
ST, SYM1, SYM2, POS1, POS2, POS3, SCR1, SCR2, SCR3, SCR4, SCR5, STATES, SYMBOLS, BITS, WIDTH = range(15)
# A row of ``layers``: where its inputs and its biases begin, sizes, whether ReLU follows, where the vector is recorded,
# whether its sums are exact in any order, and which ``looks`` are its own: each is where a block of inputs begins that
# has some weight. A row of ``inputs``: the first place that it has a weight for, how many blocks of weights follow, and
# where these begin.
INPUT, BIAS, IN, OUT, RELU, RECORD, EXACT, LOOK, LOOKED = range(9)
START, BLOCKS, WEIGHT = range(3)
BLOCK = 8  # weights that are taken at once
WORDS = 4  # of 64 bits, of inputs that are compared at once
# A row of ``slots``: the cell, the step of the last visit or -1, the symbol of the word or -1, and the symbol that the
# report has there.
CELL_OF, LAST, WORD, MARK = range(4)
NOWHERE = np.int64(-(2**63))  # the cell of a slot that the head has not been read on
UNCLEAR = 0.25  # as in turing.wcm
HASH = U(0x9E3779B97F4A7C15)


class Cache(FunctionCache):
    """The files in which numba keeps what it has compiled; where they are damaged, it compiles again."""

    def load_overload(self, *arguments):
        try:
            return super().load_overload(*arguments)
        except Exception:  # there is no end to what can be wrong with a file
            try:
                self.flush()
            except OSError:
                self.disable()
            return None


def jit(function):
    """Compile a function, and keep that for the next time if there is a folder for it."""
    compiled = njit(nogil=True)(function)
    with suppress(RuntimeError):  # numba has found no folder that it may write to
        compiled._cache = Cache(function)  # type: ignore[attr-defined]  # numba has no name for it in its types
    return compiled


# A call counts the references to its arrays, which takes longer than what these functions do.
part = njit(inline="always")


@jit
def find(key, table, keys):
    """The place of a key in the table, or the empty one where it would be."""
    mask = U(len(table)) - U(1)
    place = (key * HASH >> U(32)) & mask
    while table[place] != U(0) and keys[table[place] - U(1)] != key:
        place = (place + U(1)) & mask
    return place


@jit
def enter(used, table, keys):
    """Put the first keys into an empty table."""
    for slot in range(U(used)):
        table[find(keys[slot], table, keys)] = slot + U(1)


@part
def _slot(key, cell, blank, g, table, keys, slots, wrote, count):
    """The slot of a key, made if there is none."""
    place = find(key, table, keys)
    if table[place] == U(0):
        new = U(count[USED])
        count[USED] += 1
        table[place], keys[new] = new + U(1), key
        slots[new, CELL_OF], slots[new, LAST], slots[new, WORD], slots[new, MARK] = cell, -1, -1, blank
        for k in range(g):
            wrote[new, k] = 0
    return table[place] - U(1)


@part
def _bits(x, start, bits):
    """The bits of a stretch as one number, and whether one of them is neither 0 nor 1."""
    key, fault = U(0), np.int32(0)
    zero, one = x.dtype.type(0), x.dtype.type(1)
    for k in range(bits):
        value = x[start + k]
        key |= U(value == one) << k
        fault |= np.int32(value != zero) & np.int32(value != one)
    return key, fault


@part
def _one(x, start, size):
    """The number of the only 1 in a stretch, -1 if there is none, -2 if there are several."""
    found = -1
    for k in range(size):
        if x[start + k] > 0.5:
            found = np.int64(k) if found == -1 else -2
    return found


@part
def _bit(value):
    return value == 0 or value == 1


@part
def _finite(x, start, size):
    """Whether numbers are finite, and the sum of any two of them is."""
    for k in range(size):
        double = x[start + k] + x[start + k]
        if double - double != 0:
            return False
    return True


@part
def _add(value, row, inputs, weights, sums, y):
    """The weights of one input, times its value, to the sums that begin at ``y``."""
    start, weight = y + inputs[row, START], inputs[row, WEIGHT]
    for i in range(inputs[row, BLOCKS] * U(BLOCK)):
        sums[start + i] += value * weights[weight + i]


@part
def _same(now, old, word):
    """Whether four words of a vector are what they were."""
    return (
        (now[word] ^ old[word])
        | (now[word + U(1)] ^ old[word + U(1)])
        | (now[word + U(2)] ^ old[word + U(2)])
        | (now[word + U(3)] ^ old[word + U(3)])
    ) == U(0)


@jit
def _forward(
    first, last, layers, looks, inputs, weights, biases, vectors, known,
    now, old, in_word, room, sums, odd, wide, record, row,
):  # fmt: skip
    """The layers from ``first`` to ``last``, each from vector to vector;
    false if a number becomes infinite.

    A layer keeps its sums from step to step, and adds what has changed.
    That is exact for integer weights and inputs that are 0 or 1. Where one
    is neither, all is added up anew, now and at the next step.
    """
    zero = biases.dtype.type(0)
    for number in range(first, last):
        at, bias = layers[number, INPUT], layers[number, BIAS]
        n, m = layers[number, IN], layers[number, OUT]
        x, y = number * wide, (number + U(1)) * wide
        anew = odd[number] != 0 or not layers[number, EXACT]
        for k in range(layers[number, LOOK], layers[number, LOOKED]):
            if _same(now, old, number * room + looks[k]):
                continue
            block = x + looks[k] * in_word
            for place in range(block, block + U(WORDS) * in_word):
                value, before = vectors[place], known[place]
                if value != before:
                    known[place] = value
                    odd[number] += np.int64(not _bit(value))
                    odd[number] -= np.int64(not _bit(before))
                    change, own = value - before, at + place - x
                    _add(change, own, inputs, weights, sums, y)
        if anew or odd[number] != 0:
            for i in range(m):
                sums[y + i] = biases[bias + i]
            for place in range(x, x + n):
                value = vectors[place]
                if value != 0:
                    own = at + place - x
                    _add(value, own, inputs, weights, sums, y)
        if layers[number, RELU]:
            for i in range(m):
                total = sums[y + i]
                # written so that a nan stays a nan
                vectors[y + i] = zero if total < zero else total
        else:
            for i in range(m):
                vectors[y + i] = sums[y + i]
        if (anew or odd[number] != 0) and not _finite(vectors, y, m):
            return False
        if len(record) and layers[number, RECORD]:
            _note(record, row + layers[number, RECORD], vectors, y, m)
    return True


@part
def _note(record, at, vectors, place, width):
    for i in range(width):
        record[at + i] = vectors[place + i]


@jit
def advance(
    layers, heads, looks, inputs, weights, biases, where, halting, blank, vectors, known, sums, odd, wide, table, keys,
    slots, wrote, first, count, limit, guarded, record, width, recorded,
):  # fmt: skip
    """Up to ``limit`` more steps from the column in ``vectors``, in place; how the call ends.

    Unless ``guarded``, nothing is read. Vectors are recorded if there is a ``record``, in rows of ``width``.
    """
    bits, g, s, w = where[BITS], where[SYMBOLS], where[STATES], where[WIDTH]
    y, after = heads * wide, U(len(layers)) * wide  # the vectors that the heads write to, and that leaves the step
    pos1, pos2, pos3 = y + where[POS1], y + where[POS2], y + where[POS3]
    sym2, scr1, scr2, scr3, scr4 = y + where[SYM2], y + where[SCR1], y + where[SCR2], y + where[SCR3], y + where[SCR4]
    mask = ~U(0) if bits == U(64) else (U(1) << bits) - U(1)
    unit, unsure, recording = biases.dtype.type(1), biases.dtype.type(UNCLEAR), len(record) > 0
    now, old = vectors.view(np.uint64), known.view(np.uint64)
    in_word = U(8 // vectors.itemsize)  # numbers
    room = wide // in_word  # of a vector, in words
    for step in range(limit):
        if count[USED] + 2 > len(keys):
            return ROOM
        row = U(step) * width
        if recording:
            _note(record, row, vectors, U(0), w)
        if not _forward(
            U(0), heads, layers, looks, inputs, weights, biases, vectors, known, now, old, in_word, room, sums, odd,
            wide, record, row,
        ):  # fmt: skip
            return INFINITE

        time, fault_1 = _bits(vectors, pos1, bits)
        own, fault_2 = _bits(vectors, pos2, bits)
        asked, fault_3 = _bits(vectors, pos3, bits)
        begun, fault_4 = _bits(vectors, scr3, bits)
        if fault_1 | fault_2 | fault_3 | fault_4:
            return NOT_A_BIT
        if time != U(count[STEP]) & mask:
            return TIME
        if begun != U(0):
            return SEARCH
        here = _slot(own, NOWHERE, blank, g, table, keys, slots, wrote, count)
        slots[here, LAST] = count[STEP]
        for k in range(g):
            wrote[here, k] = vectors[sym2 + k]
        if count[STEP] == 0:
            for k in range(g):
                first[k] = vectors[sym2 + k]
        found = table[find(asked, table, keys)]
        there = found - U(1)
        visited = found != U(0) and slots[there, LAST] >= 0
        at = row + recorded
        if visited:
            vectors[scr4] += unit
        if recording:
            _note(record, at, vectors, y, w)
        last = U(slots[there, LAST]) if visited else U(0)
        for k in range(bits):
            j = bits - U(1) - k
            vectors[scr3 + j] += last >> j & U(1)
            if recording:
                at += w
                _note(record, at, vectors, y, w)
        for k in range(g):
            vectors[scr1 + k] += wrote[there, k] if visited else first[k]
        if recording:
            _note(record, at + w, vectors, y, w)
        if found != U(0) and slots[there, WORD] >= 0:
            vectors[scr2 + U(slots[there, WORD])] += unit
        if recording:
            _note(record, at + w + w, vectors, y, w)

        if not _forward(
            heads, U(len(layers)), layers, looks, inputs, weights, biases, vectors, known, now, old, in_word, room,
            sums, odd, wide, record, row,
        ):  # fmt: skip
            return INFINITE
        count[STEP] += 1
        for i in range(w):
            vectors[i] = vectors[after + i]
        for k in range(bits):
            vectors[where[POS1] + k] += U(count[STEP]) >> k & U(1)
        if not guarded:
            continue

        unclear = np.int32(0)
        for i in range(w):
            unclear += np.int32(not min(abs(vectors[i]), abs(vectors[i] - unit)) <= unsure)
        state, seen = _one(vectors, where[ST], s), _one(vectors, where[SYM1], g)
        written = _one(vectors, where[SYM2], g)
        if unclear or (state != -1 and min(state, seen, written) < 0):
            return UNREADABLE
        if state == -1:
            count[STEP] -= 1
            return JAMMED
        cell = count[HEAD] + np.int64(vectors[where[SCR5]] > 0.5) - np.int64(vectors[where[SCR5] + U(1)] > 0.5)
        position = U(0)
        for k in range(bits):
            position |= U(vectors[where[POS2] + k] > 0.5) << k
        if (U(cell) ^ position) & mask != U(0):
            return WRONG_CELL
        there = _slot(position, cell, blank, g, table, keys, slots, wrote, count)
        if slots[there, CELL_OF] == NOWHERE:
            slots[there, CELL_OF] = cell
        if slots[there, CELL_OF] != cell:
            return CAPACITY
        here = U(count[HERE])
        if seen != (written if there == here else slots[there, MARK]):
            return MISREAD
        slots[here, MARK] = written
        count[HEAD], count[HERE], count[STATE] = cell, there, state
        if halting[state]:
            return HALTED
    return LIMIT
