// What the lab asks of a worker: load a network, run it, look into a step, try many words.

import { misfit } from "../page/index.js";
import { FileProblem, read } from "../page/network.js";
import { Lockstep } from "./lockstep.js";

const SLICE = 40; // milliseconds between two messages
const SNAPSHOT = 100_000; // steps between two places from which a step can be inspected
const MAX_KEPT = 1_000_000; // entries of the index in all these places

const NOTHING = 65535; // written: the step has not been made

/** Configurations in a row, as numbers. */
class Trace {
  constructor(size) {
    Object.assign(this, { size, states: new Uint16Array(size), heads: new Int32Array(size) });
    Object.assign(this, { reads: new Uint16Array(size), writes: new Uint16Array(size) });
  }

  get room() {
    return this.n < this.size;
  }

  begin(lock) {
    Object.assign(this, { from: lock.steps, n: 0 });
    return this.add(lock);
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

class LabWorker {
  constructor(answer) {
    Object.assign(this, { answer, turn: 0, lock: null });
  }

  /** A network and a word, at step 0. */
  load({ file, word, interpreter = true }) {
    this.turn += 1;
    this.network = read(file);
    this.why = misfit(this.network);
    this.lock = new Lockstep(this.network, word, interpreter, !this.why);
    this.snapshots = [this.lock.run.copy()];
    this.kept = 0;
    this.answer({ is: "loaded", engine: this.engine, why: this.why });
    this.send(new Trace(1).begin(this.lock), 0);
    if (this.lock.status !== "running") this.stop(this.lock.status);
  }

  get engine() {
    return this.lock.indexed ? "indexed" : "plain";
  }

  /** Configurations from the last one that was sent; that one now has what the step out of it wrote. */
  send({ from, states, heads, reads, writes, n }, rate) {
    const parts = [states, heads, reads, writes].map((part) => part.slice(0, n)), { lock: { mark }, engine } = this;
    const message = { is: "steps", from, rate, engine, mark: mark && { ...mark } };
    [message.states, message.heads, message.reads, message.writes] = parts;
    this.answer(message, parts.map(({ buffer }) => buffer));
  }

  stop(status, message = this.lock.message) {
    const { network: { machine }, lock } = this;
    const { steps, mark } = lock, state = machine.states[lock.state];
    this.answer({ is: "stopped", status, steps, state, message, mark, engine: this.engine });
  }

  /** Steps until the end, a limit or a breakpoint, a slice of time after the other. */
  async run({ until, ...stops }) {
    const turn = (this.turn += 1), { lock } = this, trace = new Trace(Math.min(1 << 20, until - lock.steps + 2));
    this.stops(stops);
    while (turn === this.turn) {
      const began = performance.now(), { state, cell } = this.breakpoint;
      let status = "";
      trace.begin(lock);
      while (!status && trace.room && (trace.n % 64 || performance.now() - began < SLICE)) {
        if (lock.steps >= until) status = "limit";
        else if (lock.step() || lock.status === "halted") {
          trace.add(lock);
          if (lock.run.t % SNAPSHOT === 0 && lock.indexed) this.keep(lock.run);
          if (lock.status === "halted") status = "halted";
          else if (lock.state === state || lock.cell === cell) status = "breakpoint";
        } else ({ status } = lock);
      }
      this.send(trace, (1000 * (trace.n - 1)) / Math.max(1, performance.now() - began));
      if (status) return this.stop(status);
      await new Promise((resolve) => setTimeout(resolve));
    }
    if (lock === this.lock) this.stop("paused");
  }

  /** In which state and on which cell a run stops, from now on. */
  stops({ stopState = "", stopCell = null }) {
    this.breakpoint = { state: this.network.machine.states.indexOf(stopState), cell: stopCell };
  }

  /** A place from which a step can be inspected, as long as there is memory for it. */
  keep(run) {
    if ((this.kept += run.visits.size) < MAX_KEPT) this.snapshots.push(run.copy());
  }

  /** The vectors of a step that was run already, from the nearest place before it. */
  inspect({ step }) {
    const { lock } = this, vectors = [], patterns = {};
    const run = lock.indexed ? this.snapshots.findLast(({ t }) => t < step).copy() : lock.plainAt(step - 1);
    while (run.t < step - 1) run.step();
    const before = run.state;
    run.step((name, x, shares) => {
      vectors.push(x);
      if (shares) patterns[name] = shares;
    });
    this.answer({ is: "vectors", step, vectors, before, column: run.state, patterns, engine: this.engine });
  }

  /** A verdict for each word; each carries the number of what was asked. */
  async batch({ id, words, until, interpreter = true }) {
    const turn = (this.turn += 1), { machine } = this.network;
    let began = performance.now();
    for (const [row, word] of words.entries()) {
      const lock = new Lockstep(this.network, word, interpreter, !this.why);
      while (lock.steps < until && lock.step())
        if (performance.now() - began > SLICE) {
          await new Promise((resolve) => setTimeout(resolve));
          if (turn !== this.turn) return;
          began = performance.now();
        }
      const ones = [...lock.tape.values()].filter((symbol) => symbol).length;
      const status = lock.status === "running" ? "limit" : lock.status;
      const { steps, mark, message } = lock;
      this.answer({ is: "verdict", id, row, status, steps, state: machine.states[lock.state], ones, mark, message });
    }
    this.answer({ is: "batch done", id });
  }

  pause() {
    this.turn += 1;
  }
}

const worker = new LabWorker((message, transfer = []) => self.postMessage(message, transfer));
self.onmessage = async ({ data }) => {
  try {
    await worker[data.do](data);
  } catch (error) {
    if (!(error instanceof FileProblem)) console.error(error);
    const { do: of, id } = data;
    self.postMessage({ is: of === "load" ? "refused" : "problem", of, id, message: error.message });
  }
};
