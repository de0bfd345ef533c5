// Network and machine side by side, many steps at a stride. The steps are made by page/fast.js; here every column is read
// and compared. Where anything is unusual, the run is handed over to Lockstep, which makes that step once more.

import { BATCH, FastRun, oneOf } from "../page/fast.js";
import { Lockstep } from "./lockstep.js";

export const CHUNK = 1 << 16; // steps that are kept or made again together
const MAX_KEPT = 4_000_000; // cells in all places from which steps are made again
const NOTHING = 65535; // written: the step has not been made

/** Configurations in a row, as numbers. */
export class Trace {
  constructor(size) {
    Object.assign(this, { size, n: 0, states: new Uint16Array(size), heads: new Int32Array(size) });
    Object.assign(this, { reads: new Uint16Array(size), writes: new Uint16Array(size) });
  }

  get room() {
    return this.size - this.n;
  }

  begin(t, configuration) {
    Object.assign(this, { from: t, n: 0 });
    return this.add(configuration);
  }

  /** The configuration that the run has come to. */
  add({ state, cell, read, wrote }) {
    const { n } = this;
    if (n) this.writes[n - 1] = wrote;
    this.states[n] = state;
    this.heads[n] = cell;
    this.reads[n] = read;
    this.writes[n] = NOTHING;
    this.n += 1;
    return this;
  }
}

export class Stride extends Lockstep {
  /** `fast` is what fastOf gives; without an index, or if every number is to be compared, it is of no use. */
  constructor(network, word, interpreter, indexed, fast) {
    super(network, word, interpreter, indexed);
    Object.assign(this, { fast, ahead: null, t: 0, lo: 0, hi: Math.max(0, word.length - 1), made: 0, taken: 0 });
    Object.assign(this, { frames: [], spacing: CHUNK, kept: 0 });
    const isShort = 2 * word.length <= this.size; // cells have the signed number that their bits are
    if (indexed && !this.changed && typeof fast !== "string" && isShort) this.ahead = new FastRun(fast, word);
    this.keep();
    if (!this.mark) return;
    const { actions } = this.changed ? this.beside.machine : this.beside;
    [this.next, this.write, this.move] = [0, 1, 2].map((k) => Int32Array.from(actions, (action) => action[k]));
  }

  get steps() {
    return this.ahead ? this.t : this.run.t;
  }

  get engine() {
    return this.ahead ? this.fast.engine : this.indexed ? "indexed" : "plain";
  }

  get used() {
    return this.ahead ? this.hi - this.lo + 1 : super.used;
  }

  /** Up to n steps, until the trace is full or a state or cell of a breakpoint is reached; whether one was. */
  advance(n, trace, stop) {
    while (n > 0 && trace.room && this.status === "running") {
      const before = this.steps;
      if (this.ahead) {
        if (this.stride(Math.min(n, trace.room), trace, stop)) return true;
      } else {
        if (!this.step() && this.status !== "halted") return false;
        trace.add(this);
        this.lo = Math.min(this.lo, this.cell);
        this.hi = Math.max(this.hi, this.cell);
        if (this.indexed && this.run.t % this.spacing === 0) this.keep();
        if (this.status === "running" && (this.state === stop.state || this.cell === stop.cell)) return true;
      }
      n -= this.steps - before;
    }
    return false;
  }

  /** The same with steps that were made ahead. */
  stride(n, trace, stop) {
    const { ahead, halting, beside, tape, size, next, write, move, mark } = this, { width, out, sizes: [q, a, b] } = ahead;
    const shift = 32 - ahead.program.bits;
    if (this.taken === this.made) {
      if (!this.fits()) return false;
      if (ahead.t && ahead.t % this.spacing === 0) this.keep();
      Object.assign(this, { made: ahead.steps(Math.min(Math.max(n, 64), BATCH, CHUNK - (ahead.t % CHUNK))), taken: 0 });
    }
    let { state, cell, read, lo, hi, taken, t } = this, isUsual = this.made > taken, isStop = false, wrote = this.wrote;
    for (const end = Math.min(this.made, taken + n); taken < end; taken++) {
      const at = taken * width, state_ = oneOf(out, at, q), read_ = oneOf(out, at + q, a), wrote_ = oneOf(out, at + q + a, b);
      const went = out[at + q + a + b], position = (out[at + q + a + b + 1] << shift) >> shift;
      const cell_ = cell + (went & 1) - ((went >> 1) & 1), rule = mark ? beside.table[state * beside.width + read] : 0;
      isUsual = state_ >= 0 && read_ >= 0 && wrote_ >= 0 && position === cell_ && rule >= 0 &&
        (!mark || (next[rule] === state_ && write[rule] === wrote_ && cell + move[rule] === cell_));
      if (!isUsual) break;
      tape.set(cell, wrote_); // the network writes what the machine writes, so one tape is enough
      isUsual = tape.get(cell_) === read_ && Math.max(hi, cell_) - Math.min(lo, cell_) < size;
      if (!isUsual) {
        tape.set(cell, read);
        break;
      }
      t += 1;
      state = state_;
      cell = cell_;
      read = read_;
      wrote = wrote_;
      if (cell < lo) lo = cell;
      if (cell > hi) hi = cell;
      const k = trace.n;
      trace.writes[k - 1] = wrote;
      trace.states[k] = state;
      trace.heads[k] = cell;
      trace.reads[k] = read;
      trace.writes[k] = NOTHING;
      trace.n = k + 1;
      isStop = state === stop.state || cell === stop.cell;
      if (halting[state] || isStop) {
        taken++;
        break;
      }
    }
    Object.assign(this, { state, cell, read, wrote, lo, hi, taken, t });
    if (mark) mark.steps = t;
    if (halting[state]) this.end("halted");
    else if (!isUsual) this.handOver();
    return isStop && this.status === "running";
  }

  /** From here on Lockstep makes the steps, with the numbers of the network as they are. */
  handOver() {
    const { t, state, cell, size, lo, hi, tape, beside } = this, run = this.runAt(t);
    Object.assign(this, { ahead: null, run: run.indexed?.() ?? run });
    for (let k = lo; k <= hi; k++) this.cells.set(((k % size) + size) % size, k);
    if (beside) Object.assign(beside, { state, head: cell, steps: t, tape: tape.copy() });
  }

  /** Keep the run as it is now; where there are too many cells in all, every other place is forgotten. */
  keep() {
    const { ahead, run, indexed } = this, t = this.steps;
    if (!indexed) return;
    const frame = ahead ? ahead.frame() : { t, run: run.copy(), size: run.visits.size };
    this.frames.push(frame);
    this.kept += frame.size;
    while (this.kept > MAX_KEPT && this.frames.length > 2) {
      this.spacing *= 2;
      this.frames = this.frames.filter(({ t }) => t % this.spacing === 0);
      this.kept = this.frames.reduce((sum, { size }) => sum + size, 0);
    }
  }

  /** A run of its own after t steps: fast if it was, else as the evaluator makes it. */
  runAt(t, near = null) {
    if (!this.indexed) return this.plainAt(t);
    const frame = this.frames.findLast((frame) => frame.t <= t);
    let run = near && near.t <= t && near.t >= frame.t ? near : frame.run?.copy() ?? FastRun.at(this.fast, this.word, frame);
    while (run.t < t) {
      if (!run.steps) run.step();
      else if (!run.steps(Math.min(BATCH, t - run.t))) run = run.indexed();
    }
    return run;
  }

  /** The configurations from one step to another, made again, and the tape of the first. */
  again(from, to) {
    const trace = new Trace(to - from + 1), { at } = this.layout, bits = at.pos2.length, shift = 32 - bits;
    let run = this.runAt(from);
    const tape = run.steps ? run.tape() : this.tapeOf(run), one = (x, places) => places.findIndex((place) => x[place] > 0.5);
    const look = (x) => {
      const position = at.pos2.reduce((sum, place, k) => sum + (x[place] > 0.5 ? 2 ** k : 0), 0);
      const cell = bits > 30 ? position : (position << shift) >> shift;
      return { state: one(x, at.st), cell, read: one(x, at.sym1), wrote: one(x, at.sym2) };
    };
    trace.begin(from, look(run.steps ? run.column : run.state));
    while (trace.n < trace.size) {
      const made = run.steps ? run.steps(Math.min(BATCH, trace.room)) : 0;
      if (!made) {
        run = run.indexed?.() ?? run;
        run.step();
        trace.add(look(run.state));
      }
      const { out, width, sizes: [q, a, b] = [] } = run;
      for (let k = 0, at = 0; k < made; k++, at += width) {
        const state = oneOf(out, at, q), read = oneOf(out, at + q, a), wrote = oneOf(out, at + q + a, b);
        trace.add({ state, cell: (out[at + q + a + b + 1] << shift) >> shift, read, wrote });
      }
    }
    return { trace, tape };
  }

  /** The tape of a run of the evaluator, from its index. */
  tapeOf(run) {
    const { lo, hi, size, word, network: { machine } } = this, symbols = [];
    for (let cell = lo; cell <= hi; cell++) {
      const symbol = run.visits?.get(((cell % size) + size) % size)?.symbol;
      symbols.push(symbol ? symbol.indexOf(1) : Math.max(0, machine.symbols.indexOf(word[cell])));
    }
    return { lo, symbols: Uint16Array.from(symbols) };
  }
}
