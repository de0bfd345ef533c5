// What the lab knows of a run, and how it has the worker go on. Every number here came out of the network.

import { compile, rewrite, setWeight, weightOf } from "../page/compile.js";
import { read } from "../page/network.js";

const NONE = 65535; // in the place of a symbol: nothing was written
const CHUNK = 1 << 16; // steps that are kept together; at the first of them the whole tape is kept, too
const FINAL = ["halted", "jammed", "diverged", "failed", "refused"];

/** A tape of symbols by number, and how many of its cells are not blank. */
class Cells {
  constructor(data, zero, filled) {
    Object.assign(this, { data, zero, filled });
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
}

/** The configurations of a run so far. Configuration 0 is what the network is given. */
class Record {
  constructor(word) {
    Object.assign(this, { chunks: [], frames: [], known: 0, applied: 0, lo: 0, hi: Math.max(0, word.length - 1) });
    this.tip = new Cells(Uint16Array.from(word), 0, word.filter(Boolean).length);
    this.frames.push(this.tip.copy());
    this.#put(0, 0, 0, word[0] ?? 0, NONE);
  }
  #put(t, state, head, read, write) {
    const chunk = (this.chunks[t >> 16] ??= {
      states: new Uint16Array(CHUNK), heads: new Int32Array(CHUNK),
      reads: new Uint16Array(CHUNK), writes: new Uint16Array(CHUNK),
    }), k = t & (CHUNK - 1);
    chunk.states[k] = state;
    chunk.heads[k] = head;
    chunk.reads[k] = read;
    chunk.writes[k] = write;
    if (head < this.lo) this.lo = head;
    if (head > this.hi) this.hi = head;
  }
  /** Take over a message of the worker. */
  append({ from, states, heads, reads, writes }) {
    for (let k = 0; k < states.length; k++) this.#put(from + k, states[k], heads[k], reads[k], writes[k]);
    this.known = Math.max(this.known, from + states.length - 1);
    while (this.applied < this.known) {
      const to = Math.min(this.known, (this.applied | (CHUNK - 1)) + 1);
      this.walk(this.tip, this.applied, to);
      this.applied = to;
      // A tape that is long is not kept again and again.
      if (to % CHUNK === 0 && this.frames.length === to >> 16 && this.tip.data.length < 4 * CHUNK)
        this.frames.push(this.tip.copy());
    }
  }
  at(t) {
    const { states, heads, reads, writes } = this.chunks[t >> 16], k = t & (CHUNK - 1);
    return { state: states[k], head: heads[k], read: reads[k], write: writes[k] };
  }
  head(t) {
    return this.chunks[t >> 16].heads[t & (CHUNK - 1)];
  }
  /** The tape of configuration t. */
  cells(t) {
    const frame = Math.min(t >> 16, this.frames.length - 1), cells = this.frames[frame].copy();
    this.walk(cells, frame * CHUNK, t);
    return cells;
  }
  /** Take a tape from one configuration to another, forwards or back. */
  walk(cells, from, to) {
    cells.reserve(this.lo, this.hi);
    const back = to < from, by = back ? -1 : 1, { data, zero } = cells;
    let { filled } = cells, chunk = null, heads, symbols;
    for (let t = back ? from - 1 : from, end = back ? to - 1 : to; t !== end; t += by) {
      if (chunk !== this.chunks[t >> 16]) {
        chunk = this.chunks[t >> 16];
        [heads, symbols] = [chunk.heads, back ? chunk.reads : chunk.writes];
      }
      const symbol = symbols[t & (CHUNK - 1)], place = heads[t & (CHUNK - 1)] + zero;
      if (symbol === NONE) continue;
      filled += (symbol !== 0) - (data[place] !== 0);
      data[place] = symbol;
    }
    cells.filled = filled;
  }
  /** The last configuration before t with the head on a cell, or −1. */
  before(t, cell) {
    for (t--; t >= 0 && this.head(t) !== cell; t--);
    return t;
  }
  /** All configurations before t with the head on a cell. */
  visits(t, cell) {
    const found = [];
    while ((t = this.before(t, cell)) >= 0) found.push(t);
    return found.reverse();
  }
  /** The first configuration after t with the head on a cell, or −1. */
  after(t, cell) {
    for (t++; t <= this.known && this.head(t) !== cell; t++);
    return t <= this.known ? t : -1;
  }
}

/** A machine, its network, and the worker that runs it. `changed` is called after every change. */
export class Session {
  interpreter = true;
  stopState = "";
  stopCell = null;
  limit = 1000;
  edits = new Map();
  #pending = 0; // loads that the worker has not answered: what it says until then is of an older run
  #asked = 0;
  #asking = false; // one look at a time
  #batch = null;
  #batchId = 0;
  #pausing = false;

  constructor(changed) {
    this.changed = changed;
    this.worker = new Worker(import.meta.resolve("./worker.js"));
    this.started = new Promise((started) => {
      this.worker.addEventListener("message", ({ data }) => (this.#receive(data), started()));
      this.worker.addEventListener("error", ({ message }) => {
        this.#end("failed", message || "The worker of this page does not start.");
        changed();
        started();
      });
    });
  }
  get step() {
    return Math.min(this.want, this.record.known);
  }
  get now() {
    return this.record.at(this.step);
  }
  get final() {
    return FINAL.includes(this.status);
  }
  /** The step in which network and machine part, if the run is shown up to it; else 0. */
  get parted() {
    const { step, record: { known }, mark } = this;
    return mark && !mark.good && step === known ? mark.step : 0;
  }
  /** The step to inspect: the one that led here. */
  get inspected() {
    return this.parted || Math.max(Math.min(1, this.record.known), this.step);
  }
  get bits() {
    return this.file.options.bits;
  }
  get network() {
    return (this.readFile ??= read(this.file));
  }
  /** The tape of the step that is shown. */
  get cells() {
    const { step, record } = this;
    if (this.held?.record !== record || Math.abs(step - this.held.step) > CHUNK)
      this.held = { record, cells: step === record.applied ? record.tip.copy() : record.cells(step) };
    else record.walk(this.held.cells, this.held.step, step);
    this.held.step = step;
    return this.held.cells;
  }

  /** Take a machine and a word; the network is compiled again unless it is still the right one. */
  load(machine, word, limit = this.limit) {
    const bits = 32 - Math.clz32(limit + Math.max(word.length, 1) - 1);
    if (this.machine !== machine || this.file.options.T !== limit || this.bits !== bits) {
      const why = this.machine !== machine ? "" : bits < this.bits ? "Fewer bits" : "More bits";
      this.lost = this.edits.size ? why : "";
      this.file = compile(machine, { T: limit, bits });
      this.machine = machine;
      this.edits.clear();
    }
    Object.assign(this, { word, limit, far: 0 });
    this.#start(0, 0);
  }
  /** The machine with other rules: which numbers of the network that changes, by name. */
  rewrite(machine) {
    this.lost = this.edits.size ? "Other rules" : "";
    this.#restore();
    const { file, changes, sameShape } = rewrite(this.file, machine);
    Object.assign(this, { file, machine, far: 0 });
    this.#start(0, 0);
    return { changes, sameShape };
  }
  #restore() {
    for (const { name, place, before } of this.edits.values()) setWeight(this.file, name, place, before);
    this.edits.clear();
  }
  setWeight(name, place, value) {
    const key = `${name}[${place.join(", ")}]`;
    const edit = this.edits.get(key) ?? { name, place, before: weightOf(this.file, name, place) };
    setWeight(this.file, name, place, value);
    this.edits.set(key, { ...edit, after: Math.fround(value) });
    if (Math.fround(value) === edit.before) this.edits.delete(key);
    this.lost = "";
    this.#again();
  }
  putBack() {
    this.#restore();
    this.#again();
  }
  compare(on) {
    this.interpreter = on;
    this.#again();
  }
  /** Once more, as far as the run was known before; the step that is shown stays. */
  #again() {
    this.far = Math.max(this.far, this.record.known);
    this.#start(this.step, this.far);
  }
  #start(want, reach) {
    const { machine, file, word, interpreter } = this;
    this.record = new Record(word.map((symbol) => machine.symbols.indexOf(symbol)));
    Object.assign(this, { want, reach, status: "ready", message: "", busy: false, rate: 0, engine: "", why: "" });
    this.broke = -1;
    Object.assign(this, { mark: interpreter ? { good: true, steps: 0 } : null, inside: null, readFile: null });
    this.#asked = 0;
    this.#asking = false;
    this.#pausing = false;
    this.#endBatch(false);
    this.#pending++;
    this.worker.postMessage({ do: "load", file, word, interpreter });
    this.#pursue();
    this.changed("load");
  }

  go(step) {
    this.want = Math.max(0, step);
    if (this.busy && this.want < this.until) this.#pause();
    this.#pursue();
    this.changed();
  }
  /** To the end, or to the first step that has a breakpoint; it may be known already. */
  run() {
    const { record, machine, stopCell } = this, stopState = machine.states.indexOf(this.stopState);
    for (let t = this.step + 1; t <= record.known && (stopState >= 0 || stopCell !== null); t++) {
      const { state, head } = record.at(t);
      if (state === stopState || head === stopCell) return this.go((this.broke = t));
    }
    this.want = Infinity;
    if (!this.final && this.record.known < this.limit) this.status = "running";
    this.#pursue();
    this.changed();
  }
  /** Breakpoints; a run that is under way is sent them. */
  stopAt(stopState, stopCell) {
    Object.assign(this, { stopState, stopCell });
    if (this.busy && this.want === Infinity) this.worker.postMessage({ do: "stops", stopState, stopCell });
  }
  pause() {
    this.want = this.record.known;
    this.#pause();
    this.changed();
  }
  #pause() {
    this.reach = 0;
    this.#pausing = this.busy;
    if (this.busy) this.worker.postMessage({ do: "pause" });
  }
  /** Have the worker go on as long as there are steps to be seen. */
  #pursue() {
    const { record, limit } = this, until = Math.min(Math.max(this.want, this.reach), limit);
    if (this.busy || this.final || until <= record.known) return;
    const runs = this.want === Infinity; // breakpoints are not for single steps
    Object.assign(this, { busy: true, until });
    this.#endBatch(false);
    this.worker.postMessage({
      do: "run", until, stopState: runs ? this.stopState : "", stopCell: runs ? this.stopCell : null,
    });
  }
  #end(status, message = "") {
    Object.assign(this, { status, message, busy: false });
    if (status !== "ready") this.want = Math.min(this.want, this.record.known);
  }

  /** Every vector of the step that is shown; `inside` has them when the worker has answered. */
  inspect() {
    const { inspected: step } = this;
    if (this.busy || !step || this.#asking || this.#asked === step) return;
    this.#asked = step;
    this.#asking = true;
    this.worker.postMessage({ do: "inspect", step });
  }
  /** Run many words; each verdict is handed on, and at the end whether all of them were run. */
  batch(words, heard) {
    this.#batch = heard;
    if (this.busy) this.pause();
    const { limit: until, interpreter } = this, id = ++this.#batchId;
    this.worker.postMessage({ do: "batch", id, words, until, interpreter });
  }

  #endBatch(all, problem = "") {
    this.#batch?.(null, all, problem);
    this.#batch = null;
  }
  #receive(data) {
    if (this.#pending && (data.is === "loaded" || data.is === "refused")) this.#pending--;
    if (this.#pending || (data.id ?? this.#batchId) !== this.#batchId) return;
    if (data.is === "loaded") Object.assign(this, { engine: data.engine, why: data.why });
    else if (data.is === "refused") this.#end("refused", data.message);
    else if (data.is === "steps") {
      this.record.append(data);
      Object.assign(this, { mark: data.mark, rate: data.rate, engine: data.engine });
    } else if (data.is === "stopped") this.#stopped(data);
    else if (data.is === "vectors") {
      this.inside = data;
      this.#asking = false;
    } else if (data.is === "problem") this.#problem(data);
    else if (data.is === "verdict") this.#batch?.(data);
    else if (data.is === "batch done") this.#endBatch(true);
    this.changed();
  }
  #problem({ of, message }) {
    if (of === "inspect") this.#asking = false;
    else if (of === "batch") this.#endBatch(false, message);
    else if (this.busy) this.#end("failed", message);
  }
  #stopped({ status, message, mark, engine }) {
    if (status === "paused" && !this.#pausing) return; // said of a run before this one
    this.#pausing = false;
    Object.assign(this, { mark, engine });
    if (status === "limit" && this.record.known < this.limit) status = "paused"; // it went as far as it was asked to
    this.busy = false;
    const goesOn = status === "paused" && this.want > this.record.known;
    if (!goesOn) this.#end(status, message);
    this.#pursue();
  }
}
