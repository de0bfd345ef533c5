// What the lab keeps of a run, whatever its length: the last chunks of steps that were looked at, and rows, each with the
// tape at its first step and the cells that the head was on in its steps. A chunk that is not kept is made again by the
// network, in the worker. All numbers came out of the network.

const NONE = 65535; // in the place of a symbol: nothing was written
const CHUNK = 1 << 16; // steps, as in stride.js
const MAX_CHUNKS = 64;
const MAX_ROWS = 4096, MAX_CELLS = 1 << 24; // in the tapes of all rows; with more, two rows become one
const FIRST_ROW = 1 << 10; // steps

/** A tape of symbols by number, and how many of its cells are not blank. */
class Cells {
  constructor(data, zero, filled) {
    Object.assign(this, { data, zero, filled });
  }
  static from({ lo, symbols }) {
    return new Cells(symbols.slice(), -lo, symbols.reduce((sum, symbol) => sum + (symbol ? 1 : 0), 0));
  }
  copy() {
    return new Cells(this.data.slice(), this.zero, this.filled);
  }
  get(cell) {
    return this.data[cell + this.zero] ?? 0; // the blank
  }
  /** Make room for these cells. */
  reserve(lo, hi) {
    if (lo + this.zero >= 0 && hi + this.zero < this.data.length) return;
    const zero = this.zero + hi - lo + 64, data = new Uint16Array(zero + 2 * (hi - lo) + this.data.length + 64);
    data.set(this.data, zero - this.zero);
    Object.assign(this, { data, zero });
  }
  /** The cells from lo to hi alone. */
  tape(lo, hi) {
    this.reserve(lo, hi);
    return { lo, symbols: this.data.slice(lo + this.zero, hi + 1 + this.zero) };
  }
}

/** The configurations of a run so far. Configuration 0 is what the network is given. */
export class Record {
  constructor(word, { maxChunks = MAX_CHUNKS, maxRows = MAX_ROWS, firstRow = FIRST_ROW } = {}) {
    Object.assign(this, { chunks: new Map(), known: 0, applied: 0, lo: 0, hi: Math.max(0, word.length - 1) });
    Object.assign(this, { maxChunks, maxRows, pinned: 0, restored: 0 }); // pinned: the chunk that is shown stays
    this.tip = new Cells(Uint16Array.from(word), 0, word.filter(Boolean).length);
    Object.assign(this, { rows: [], each: firstRow, tapes: 0 });
    this.#row(0);
    const [states, reads, writes] = [0, word[0] ?? 0, NONE].map((number) => Uint16Array.of(number));
    this.append({ from: 0, states, heads: Int32Array.of(0), reads, writes });
  }
  #row(head) {
    const tape = this.tip.tape(this.lo, this.hi);
    this.rows.push({ tape, lo: head, hi: head });
    this.tapes += tape.symbols.length;
    while (this.rows.length > this.maxRows || (this.tapes > MAX_CELLS && this.rows.length > 16)) {
      this.rows = this.rows.flatMap((row, k) => {
        const other = this.rows[k + 1] ?? row;
        return k % 2 ? [] : [{ tape: row.tape, lo: Math.min(row.lo, other.lo), hi: Math.max(row.hi, other.hi) }];
      });
      this.each *= 2;
      this.tapes = this.rows.reduce((sum, { tape }) => sum + tape.symbols.length, 0);
    }
  }
  /** Room for a chunk that begins with this tape; the one that was not used for the longest time goes. */
  #open(number, tape) {
    let chunk = null;
    for (const [other, old] of this.chunks) {
      if (this.chunks.size < this.maxChunks) break;
      if (other === this.known >> 16 || other === this.pinned) continue;
      this.chunks.delete(other);
      chunk = old; // its arrays are used again: to allocate them takes longer than to fill them
    }
    const [states, reads, writes] = chunk ? [] : [0, 1, 2].map(() => new Uint16Array(CHUNK));
    chunk = chunk ? { ...chunk, tape } : { states, heads: new Int32Array(CHUNK), reads, writes, tape };
    this.chunks.set(number, chunk);
    return chunk;
  }
  /** Take over a message of the worker. The first configuration is the last one of the message before. */
  append({ from, states, heads, reads, writes }) {
    const end = from + states.length;
    for (let t = from; t < end; ) {
      const to = Math.min(end, (t | (CHUNK - 1)) + 1), number = t >> 16;
      const chunk = this.chunks.get(number) ?? this.#open(number, this.tip.tape(this.lo, this.hi));
      for (const [name, part] of Object.entries({ states, heads, reads, writes }))
        chunk[name].set(part.subarray(t - from, to - from), t & (CHUNK - 1));
      for (let k = t - from; k < to - from; k++) {
        if (heads[k] < this.lo) this.lo = heads[k];
        if (heads[k] > this.hi) this.hi = heads[k];
      }
      this.known = Math.max(this.known, to - 1);
      this.#apply(this.known, heads, from);
      if (to < end) this.#apply(to, heads, from); // the tape with which the next chunk begins
      t = to;
    }
  }
  /** Take the last tape to a configuration, and the rows with it. */
  #apply(to, heads, from) {
    while (this.applied < to) {
      const next = Math.min(to, this.applied - (this.applied % this.each) + this.each), row = this.rows.at(-1);
      this.walk(this.tip, this.applied, next);
      for (let t = this.applied + 1; t < next; t++) {
        const head = heads[t - from];
        if (head < row.lo) row.lo = head;
        if (head > row.hi) row.hi = head;
      }
      this.applied = next;
      const head = heads[next - from];
      if (next % this.each === 0) this.#row(head);
      else [row.lo, row.hi] = [Math.min(row.lo, head), Math.max(row.hi, head)];
    }
  }
  /** Take over a chunk that the worker has made again. */
  restore({ chunk, states, heads, reads, writes, tape }) {
    const own = this.#open(chunk, tape), n = Math.min(CHUNK, states.length);
    for (const [name, part] of Object.entries({ states, heads, reads, writes })) own[name].set(part.subarray(0, n));
    this.restored += 1;
  }
  /** Whether a configuration is kept. */
  has(t) {
    return this.chunks.has(t >> 16);
  }
  /** The chunks that are not kept, of those with the configurations from one to another. */
  missing(from, to) {
    const found = [];
    for (let k = from >> 16; k <= to >> 16; k++) if (!this.chunks.has(k)) found.push(k);
    return found;
  }
  /** A chunk that is used now. */
  #chunk(t) {
    const chunk = this.chunks.get(t >> 16);
    this.chunks.delete(t >> 16);
    this.chunks.set(t >> 16, chunk);
    return chunk;
  }
  at(t) {
    const { states, heads, reads, writes } = this.#chunk(t), k = t & (CHUNK - 1);
    return { state: states[k], head: heads[k], read: reads[k], write: writes[k] };
  }
  /** The cell of the head, or null where that is not kept. */
  head(t) {
    return this.chunks.get(t >> 16)?.heads[t & (CHUNK - 1)] ?? null;
  }
  /** The tape of configuration t. */
  cells(t) {
    if (t === this.applied) return this.tip.copy();
    const cells = Cells.from(this.#chunk(t).tape);
    this.walk(cells, t - (t & (CHUNK - 1)), t);
    return cells;
  }
  /** Take a tape from one configuration to another, forwards or back; all between must be kept. */
  walk(cells, from, to) {
    cells.reserve(this.lo, this.hi);
    const back = to < from, by = back ? -1 : 1, { data, zero } = cells;
    let { filled } = cells, number = -1, heads, symbols;
    for (let t = back ? from - 1 : from, end = back ? to - 1 : to; t !== end; t += by) {
      if (number !== t >> 16) {
        const chunk = this.chunks.get((number = t >> 16));
        [heads, symbols] = [chunk.heads, back ? chunk.reads : chunk.writes];
      }
      const symbol = symbols[t & (CHUNK - 1)], place = heads[t & (CHUNK - 1)] + zero;
      if (symbol === NONE) continue;
      filled += (symbol !== 0) - (data[place] !== 0);
      data[place] = symbol;
    }
    cells.filled = filled;
  }
  /** The cells that the head was on from one configuration to the one before another, as [lo, hi]; all must be kept. */
  span(from, to) {
    let lo = Infinity, hi = -Infinity, number = -1, heads;
    for (let t = from; t < to; t++) {
      if (number !== t >> 16) ({ heads } = this.chunks.get((number = t >> 16)));
      const head = heads[t & (CHUNK - 1)];
      if (head < lo) lo = head;
      if (head > hi) hi = head;
    }
    return [lo, hi];
  }
  /**
   * The last configuration before t with the head on a cell, or −1; with `by` 1 the first one after t. A head goes from cell
   * to cell, so the spans of the rows say in which of them it is. If their steps are not kept: { chunk } to ask for.
   */
  visit(t, cell, by) {
    for (t += by; t >= 0 && t <= this.known; ) {
      const row = Math.floor(t / this.each), { lo, hi } = this.rows[row];
      const end = by < 0 ? row * this.each - 1 : Math.min(this.known + 1, (row + 1) * this.each);
      if (cell < lo || cell > hi) t = end;
      for (; t !== end; t += by) {
        const head = this.head(t);
        if (head === cell) return t;
        if (head === null) return { chunk: t >> 16 };
      }
    }
    return -1;
  }
  /** All configurations before t, from the first one that is asked for, with the head on a cell; null if some are not kept. */
  visits(t, cell, first = 0) {
    const { last } = this;
    if (last?.t === t && last.cell === cell && last.first <= first) return last.found.filter((t) => t >= first);
    if (this.missing(first, t).length) return null;
    const found = [];
    for (let number = first >> 16; number <= t >> 16; number++) {
      const { heads } = this.chunks.get(number), end = Math.min(CHUNK, t - number * CHUNK);
      for (let k = Math.max(0, first - number * CHUNK); k < end; k++) if (heads[k] === cell) found.push(number * CHUNK + k);
    }
    this.last = { t, cell, first, found }; // the next question is often about a part of them
    return found;
  }
}
