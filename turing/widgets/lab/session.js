// What the lab knows of a run, and how it has the worker go on. Every number here came out of the network.

import { compile, rewrite, setWeight, weightOf } from "../page/compile.js";
import { read } from "../page/network.js";
import { Record } from "./record.js";

const FINAL = ["halted", "jammed", "diverged", "failed", "refused"];

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
  #shown = 0; // the step that is shown: the one that is wanted, when it is kept
  #finding = false; // a breakpoint among the steps that are known
  #wants = new Set(); // chunks that the worker was asked for

  constructor(changed) {
    this.changed = changed;
    this.worker = new Worker(import.meta.resolve("./worker.js"));
    this.started = new Promise((started) => {
      this.worker.addEventListener("message", ({ data }) => {
        this.#receive(data);
        if (this.busy || !["loaded", "steps"].includes(data.is)) started(); // the first pass can be seen, or a run began
      });
      this.worker.addEventListener("error", ({ message }) => {
        this.#end("failed", message || "The worker of this page does not start.");
        changed();
        started();
      });
    });
  }
  get step() {
    return this.#shown;
  }
  /** Show the step that is wanted, or have the worker make its chunk again first. */
  #show() {
    const step = Math.min(this.want, this.record.known);
    if (!this.record.has(step)) return this.#wants.size ? undefined : this.fetch(step >> 16); // one at a time
    this.#shown = step;
    this.record.pinned = step >> 16;
  }
  /** Have the worker make a chunk again. */
  fetch(chunk) {
    if (this.#wants.has(chunk)) return;
    this.#wants.add(chunk);
    this.worker.postMessage({ do: "chunk", chunk });
  }
  /** The last visit to a cell before the step that is shown, or the first one after it: −1 if there is none, null for now. */
  visit(cell, by) {
    const found = this.record.visit(this.step, cell, by);
    if (typeof found === "number") return found;
    this.fetch(found.chunk);
    return null;
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
  /** The step to inspect: the one that led here, and at the start the first. */
  get inspected() {
    return this.parted || Math.max(1, this.step);
  }
  /** The configuration in which that step begins. */
  get before() {
    const t = this.inspected - 1;
    return this.record.has(t) ? this.record.at(t) : (this.fetch(t >> 16), this.now);
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
    if (this.held?.record !== record || step >> 16 !== this.held.step >> 16) this.held = { record, cells: record.cells(step) };
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
    this.#shown = 0;
    this.#finding = false;
    this.#wants.clear();
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
    this.#finding = false;
    this.want = Math.max(0, step);
    if (this.busy && this.want < this.until) this.#pause();
    this.#show();
    this.#pursue();
    this.changed();
  }
  /** To the end, or to the first step that has a breakpoint; it may be known already. */
  run() {
    const { record: { known }, stopState, stopCell, step } = this;
    if (step < known && (stopState || stopCell !== null)) {
      this.#finding = true;
      this.worker.postMessage({ do: "find", from: step + 1, stopState, stopCell });
    } else this.#runOn();
  }
  #runOn() {
    this.want = Infinity;
    if (!this.final && this.record.known < this.limit) this.status = "running";
    this.#show();
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
    this.#show();
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
    this.#show();
  }

  /** Every vector of the step that is shown; `inside` has them when the worker has answered. */
  inspect() {
    const { inspected: step } = this;
    const isOver = step > this.record.known && this.final && step !== this.parted;
    if (this.busy || isOver || this.#asking || this.#asked === step) return;
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
    } else if (data.is === "chunk") {
      this.record.restore(data);
      this.#wants.delete(data.chunk);
    } else if (data.is === "found" && this.#finding) {
      this.#finding = false;
      if (data.step < 0) this.#runOn();
      else this.go((this.broke = data.step));
    } else if (data.is === "stopped") this.#stopped(data);
    else if (data.is === "vectors") {
      this.inside = data;
      this.#asking = false;
    } else if (data.is === "problem") this.#problem(data);
    else if (data.is === "verdict") this.#batch?.(data);
    else if (data.is === "batch done") this.#endBatch(true);
    this.#show();
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
