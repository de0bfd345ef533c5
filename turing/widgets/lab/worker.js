// What the lab asks of a worker: load a network, run it, look into a step, try many words.

import { fastOf } from "../page/fast.js";
import { misfit } from "../page/index.js";
import { FileProblem, read, Refusal } from "../page/network.js";
import { CHUNK, Stride, Trace } from "./stride.js";

const SLICE = 40; // milliseconds between two messages
const AT_ONCE = 1 << 13; // steps between two looks at the clock, where they are fast

class LabWorker {
  constructor(answer) {
    Object.assign(this, { answer, turn: 0, lock: null });
  }

  /** A network and a word, at step 0. */
  load({ file, word, interpreter = true }) {
    this.turn += 1;
    this.network = read(file);
    this.why = misfit(this.network);
    this.fast = this.why || fastOf(this.network);
    this.lock = this.begin(word, interpreter);
    this.answer({ is: "loaded", engine: this.lock.engine, why: this.why });
    this.send(new Trace(1).begin(0, this.lock), 0);
    if (this.lock.status !== "running") this.stop(this.lock.status);
  }

  begin(word, interpreter) {
    return new Stride(this.network, word, interpreter, !this.why, this.fast);
  }

  /** Configurations from the last one that was sent; that one now has what the step out of it wrote. */
  send({ from, states, heads, reads, writes, n }, rate) {
    const parts = [states, heads, reads, writes].map((part) => part.slice(0, n)), { lock: { mark, engine } } = this;
    const message = { is: "steps", from, rate, engine, mark: mark && { ...mark } };
    [message.states, message.heads, message.reads, message.writes] = parts;
    this.answer(message, parts.map(({ buffer }) => buffer));
  }

  stop(status, message = this.lock.message) {
    const { network: { machine }, lock } = this;
    const { steps, mark } = lock, state = machine.states[lock.state];
    this.answer({ is: "stopped", status, steps, state, message, mark, engine: lock.engine });
  }

  /** Steps until the end, a limit or a breakpoint, a slice of time after the other. */
  async run({ until, ...stops }) {
    const turn = (this.turn += 1), { lock } = this, trace = new Trace(Math.min(1 << 20, until - lock.steps + 2));
    this.stops(stops);
    while (turn === this.turn) {
      const began = performance.now();
      let status = "";
      trace.begin(lock.steps, lock);
      while (!status && trace.room && (trace.n === 1 || performance.now() - began < SLICE)) {
        if (lock.steps >= until) status = "limit";
        else if (lock.advance(Math.min(until - lock.steps, lock.ahead ? AT_ONCE : 64), trace, this.breakpoint)) status = "breakpoint";
        else if (lock.status !== "running") ({ status } = lock);
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

  /** A chunk of steps that the page has forgotten. */
  chunk({ chunk }) {
    const { lock } = this, { trace, tape } = lock.again(chunk * CHUNK, Math.min(lock.steps, (chunk + 1) * CHUNK));
    const { states, heads, reads, writes } = trace, parts = { states, heads, reads, writes };
    this.answer({ is: "chunk", chunk, ...parts, tape }, Object.values(parts).map(({ buffer }) => buffer));
  }

  /** The first known step from here on that has a breakpoint. */
  async find({ from, ...stops }) {
    const turn = (this.turn += 1), { lock } = this, { steps } = lock;
    this.stops(stops);
    const { state, cell } = this.breakpoint;
    for (let begin = from; begin <= steps; begin += CHUNK) {
      const { trace: { states, heads, n } } = lock.again(begin, Math.min(steps, begin + CHUNK));
      for (let k = 0; k < n; k++) if (states[k] === state || heads[k] === cell) return this.answer({ is: "found", step: begin + k });
      await new Promise((resolve) => setTimeout(resolve));
      if (turn !== this.turn) return;
    }
    this.answer({ is: "found", step: -1 });
  }

  /** The vectors of a step that was run already, from the nearest place before it. */
  inspect({ step }) {
    const { lock } = this, vectors = [], patterns = {}, near = this.seen?.lock === lock ? this.seen.run : null;
    this.seen = null;
    const begin = lock.runAt(step - 1, near), run = begin.indexed?.() ?? begin, before = run.state;
    run.step((name, x, shares) => {
      vectors.push(x);
      if (shares) patterns[name] = shares;
    });
    if (lock.indexed) this.seen = { lock, run: begin }; // the next step is one step from here
    this.answer({ is: "vectors", step, vectors, before, column: run.state, patterns, engine: lock.engine });
  }

  /** A verdict for each word; each carries the number of what was asked. */
  async batch({ id, words, until, interpreter = true }) {
    const turn = (this.turn += 1), { machine } = this.network;
    let began = performance.now();
    for (const [row, word] of words.entries()) {
      const lock = this.begin(word, interpreter), trace = new Trace(AT_ONCE + 1);
      while (lock.steps < until && lock.status === "running") {
        trace.begin(lock.steps, lock);
        lock.advance(Math.min(until - lock.steps, lock.ahead ? AT_ONCE : 64), trace, { state: -1, cell: null });
        if (performance.now() - began < SLICE) continue;
        await new Promise((resolve) => setTimeout(resolve));
        if (turn !== this.turn) return;
        began = performance.now();
      }
      const ones = lock.tape.filled;
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
    if (!(error instanceof FileProblem || error instanceof Refusal)) console.error(error);
    const { do: of, id } = data;
    self.postMessage({ is: of === "load" ? "refused" : "problem", of, id, message: error.message });
  }
};
