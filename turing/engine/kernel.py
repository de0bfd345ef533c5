"""The compiled loop: the layers of a network, the index for its heads, and the reading of a run, step after step.

Every number of a column comes from activations times weights; activations that are 0 are left out. The cells, symbols
and the head that the loop counts are read off the columns, for the report and the guard, and no column depends on them.

Sizes and places are unsigned: a signed index costs a test for negative ones, and with it the vector instructions.

Chapter: :doc:`/book/08_fast`.
"""

import numpy as np
from numba import njit

__all__ = ["advance", "find"]

U = np.uint64
# How a call ends.
LIMIT, HALTED, JAMMED, ROOM, NO_BIT, TIME, SEARCH, UNREAD, ASTRAY, CAPACITY, MISREAD = range(11)
# What a run counts: steps done, slots in use, the cell of the head and its slot. Of a failure: a place, where the
# moves lead, and the symbol that is read.
STEP, USED, HEAD, HERE, PLACE, CELL, SYMBOL = range(7)
# Where the slices of a column begin; the last three are sizes.
ST, SYM1, SYM2, POS1, POS2, POS3, SCR1, SCR2, SCR3, SCR4, SCR5, STATES, SYMBOLS, BITS = range(14)
# A row of ``layers``: where its inputs and its biases begin, sizes, whether ReLU follows, and where the vector is
# recorded. A row of ``inputs``: the first place that an input has a weight for, how many follow, and the first weight.
INPUT, BIAS, IN, OUT, RELU, RECORD = range(6)
PLACES, SPAN, WEIGHT = range(3)
# A row of ``slots``: the cell, the step of the last visit or -1, the symbol of the word or -1, and the symbol that the
# report has there.
CELL_OF, LAST, WORD, MARK = range(4)
UNCLEAR = 0.25  # as in turing.wcm
HASH = U(0x9E3779B97F4A7C15)


@njit(cache=True)
def find(key, table, keys):
    """The place of a key in the table, or the empty one where it would be."""
    mask = U(len(table)) - U(1)
    place = (key * HASH >> U(32)) & mask
    while table[place] != U(0) and keys[table[place] - U(1)] != key:
        place = (place + U(1)) & mask
    return place


@njit(cache=True)
def _slot(key, cell, blank, table, keys, slots, wrote, count):
    """The slot of a key, made if there is none."""
    place = find(key, table, keys)
    if table[place] == U(0):
        new = U(count[USED])
        count[USED] += 1
        table[place], keys[new] = new + U(1), key
        slots[new, CELL_OF], slots[new, LAST], slots[new, WORD], slots[new, MARK] = cell, -1, -1, blank
        wrote[new, :] = 0
    return table[place] - U(1)


@njit(cache=True)
def _key(x, start, bits, count):
    """The bits of a stretch as one number; a place is noted where one is neither 0 nor 1."""
    key = U(0)
    for k in range(bits):
        value = x[start + k]
        key |= U(value == 1) << k
        if value != 0 and value != 1:
            count[PLACE] = start + k
    return key


@njit(cache=True)
def _one(x, start, size):
    """The number of the only 1 in a stretch, -1 if there is none, -2 if there are several."""
    found = -1
    for k in range(size):
        if x[start + k] > 0.5:
            found = np.int64(k) if found == -1 else -2
    return found


@njit(cache=True)
def _forward(x, out, first, last, layers, inputs, weights, biases, record):
    """The layers from ``first`` to ``last``: the vector that leaves them, and the other buffer."""
    zero = x[0] - x[0]
    for number in range(first, last):
        at, bias, n, m = layers[number, INPUT], layers[number, BIAS], layers[number, IN], layers[number, OUT]
        for i in range(m):
            out[i] = biases[bias + i]
        for j in range(n):
            value = x[j]
            if value != 0:
                start, weight = inputs[at + j, PLACES], inputs[at + j, WEIGHT]
                for i in range(inputs[at + j, SPAN]):
                    out[start + i] += value * weights[weight + i]
        if layers[number, RELU]:
            for i in range(m):
                out[i] = zero if out[i] < zero else out[i]  # what is no number stays none
        if len(record) and layers[number, RECORD]:
            for i in range(m):
                record[layers[number, RECORD] + i] = out[i]
        x, out = out, x
    return x, out


@njit(cache=True)
def _note(record, at, x, width):
    if len(record):
        for i in range(width):
            record[at + i] = x[i]
    return at + width


@njit(cache=True)
def advance(
    layers, heads, inputs, weights, biases, where, halting, blank, column, work, table, keys, slots, wrote, first,
    count, limit, guarded, record, recorded,
):  # fmt: skip
    """Up to ``limit`` more steps from ``column``, in place; how the call ends. Unless ``guarded``, nothing is read."""
    bits, g, s, w = where[BITS], where[SYMBOLS], where[STATES], U(len(column))
    pos1, pos2, pos3 = where[POS1], where[POS2], where[POS3]
    sym2, scr1, scr2, scr3, scr4, scr5 = where[SYM2], where[SCR1], where[SCR2], where[SCR3], where[SCR4], where[SCR5]
    mask = ~U(0) if bits == U(64) else (U(1) << bits) - U(1)
    one, two, recording = work[0], work[1], record.shape[1] > 0
    for step in range(limit):
        if count[USED] + 2 > len(keys):
            return ROOM
        row = record[step if recording else 0]
        _note(row, U(0), column, w)
        for i in range(w):
            one[i] = column[i]
        y, spare = _forward(one, two, U(0), heads, layers, inputs, weights, biases, row)

        count[PLACE] = -1
        stamp, own = _key(y, pos1, bits, count), _key(y, pos2, bits, count)
        asked, begun = _key(y, pos3, bits, count), _key(y, scr3, bits, count)
        if count[PLACE] >= 0:
            return NO_BIT
        if stamp != U(count[STEP]) & mask:
            return TIME
        if begun != U(0):
            return SEARCH
        here = _slot(own, count[HEAD], blank, table, keys, slots, wrote, count)
        slots[here, LAST] = count[STEP]
        for k in range(g):
            wrote[here, k] = y[sym2 + k]
        if count[STEP] == 0:
            for k in range(g):
                first[k] = wrote[here, k]
        found = table[find(asked, table, keys)]
        there = found - U(1)
        visited = found != U(0) and slots[there, LAST] >= 0
        if visited:
            y[scr4] += 1
        at = _note(row, recorded, y, w)
        for k in range(bits):
            j = bits - U(1) - k
            if visited and U(slots[there, LAST]) >> j & U(1):
                y[scr3 + j] += 1
            at = _note(row, at, y, w)
        for k in range(g):
            y[scr1 + k] += wrote[there, k] if visited else first[k]
        at = _note(row, at, y, w)
        if found != U(0) and slots[there, WORD] >= 0:
            y[scr2 + U(slots[there, WORD])] += 1
        _note(row, at, y, w)

        y, spare = _forward(y, spare, heads, U(len(layers)), layers, inputs, weights, biases, row)
        count[STEP] += 1
        for i in range(w):
            column[i] = y[i]
        for k in range(bits):
            if U(count[STEP]) >> k & U(1):
                column[pos1 + k] += 1
        if not guarded:
            continue

        unclear = 0
        for i in range(w):
            unclear += not (abs(column[i]) <= UNCLEAR or abs(column[i] - 1) <= UNCLEAR)
        state, seen, written = _one(column, where[ST], s), _one(column, where[SYM1], g), _one(column, sym2, g)
        if unclear or (state != -1 and min(state, seen, written) < 0):
            return UNREAD
        if state == -1:
            count[STEP] -= 1
            return JAMMED
        cell = count[HEAD] + np.int64(column[scr5] > 0.5) - np.int64(column[scr5 + U(1)] > 0.5)
        position = U(0)
        for k in range(bits):
            position |= U(column[pos2 + k] > 0.5) << k
        count[CELL] = cell
        if (U(cell) ^ position) & mask != U(0):
            return ASTRAY
        there = _slot(position, cell, blank, table, keys, slots, wrote, count)
        if slots[there, CELL_OF] != cell:
            return CAPACITY
        slots[U(count[HERE]), MARK] = written
        count[HEAD], count[HERE] = cell, there
        if slots[there, MARK] != seen:
            count[SYMBOL] = seen
            return MISREAD
        if halting[state]:
            return HALTED
    return LIMIT
