// A network and the machine that it was compiled from, side by side: the mark of the lab, and where the two part.

import { compile } from "../page/compile.js";
import { encode } from "../page/encode.js";
import { IndexedRun, misfit } from "../page/index.js";
import { Interpreter, Tape } from "../page/machine.js";
import { FileProblem, Refusal, Run } from "../page/network.js";
import { big } from "../page/text.js";

const MAX_PLAIN = 2000; // steps: each looks at all columns before it
export const MAX_CELLS = 1_000_000; // entries of the index

/** What each module has to give at the next step: the names of the places that are 1, as turing.wcm.lookahead says it. */
class Specification {
  constructor(network, word) {
    const { states, symbols } = network.machine;
    this.machine = new Interpreter(network.machine, word);
    this.word = new Map(this.machine.tape);
    const bits = network.layouts[0].at.pos1.length;
    Object.assign(this, { bits, states, symbols, visits: new Map(), written: [] });
    this.detectors = network.modules[0].layouts[1].names;
  }

  /** The names of the bits of a number that are 1. */
  number(name, value, from = 0) {
    const places = [];
    for (let k = from; k < this.bits; k++)
      if (this.bit(value, k)) places.push(this.bits === 1 ? name : `${name}[${k}]`);
    return places;
  }

  bit(value, k) {
    return Math.abs(Math.floor(value / 2 ** k) % 2);
  }

  /** Module by module, a set of names; the machine makes the step. */
  step() {
    const { machine, states, symbols, bits, visits } = this, { head: h, steps: t } = machine;
    const rule = machine.actions[machine.rule], [q, a, move] = rule ?? [null, null, 0], p = h + move, out = new Map();
    visits.set(h, t);
    this.written.push(rule ? [`scr1[${symbols[a]}]`] : []);
    const numbers = [...this.number("pos1", t), ...this.number("pos2", h)];
    const decided = rule ? [`st[${states[q]}]`, `sym2[${symbols[a]}]`] : [];
    if (move) decided.push(move > 0 ? "scr5[R]" : "scr5[L]");

    const fires = [], kind = move > 0 ? "carry" : "borrow";
    for (let k = 0; k < (move ? bits : 0); k++) {
      const low = h - Math.floor(h / 2 ** k) * 2 ** k;
      if (low !== (move > 0 ? 2 ** k - 1 : 0)) continue;
      const at = bits === 1 ? "" : `[${k}]`;
      fires.push(kind + at, ...(this.bit(h, k) ? [`bit_${kind}${at}`] : []));
    }
    out.set("detect", [this.detectors[machine.state * symbols.length + machine.read], ...numbers]);
    out.set("carry", [...decided, ...numbers, ...fires]);
    let have = [...decided, ...numbers, ...this.number("pos3", p)];
    out.set("move", have);

    const m = visits.get(p), visited = m !== undefined, onWord = this.word.get(p);
    out.set("visited", (have = [...have, ...(visited ? ["scr4[visited]"] : [])]));
    for (let j = bits - 1; j >= 0; j--) out.set(`search${j}`, [...have, ...this.number("scr3", m ?? 0, j)]);
    const last = this.written[m ?? 0], initial = onWord === undefined ? [] : [`scr2[${symbols[onWord]}]`];
    out.set("last", (have = [...have, ...this.number("scr3", m ?? 0), ...last]));
    out.set("initial", [...have, ...initial]);

    const found = visited ? last : initial, after = this.number("pos2", p);
    out.set("choose", [...decided, ...after, ...found, ...(visited || initial.length ? [] : ["blank"])]);
    const under = visited || initial.length ? found : [`scr1[${symbols[0]}]`];
    out.set("assemble", [...decided, ...after, ...under.map((name) => `sym1${name.slice(4)}`)]);
    machine.step();
    return out;
  }
}

/**
 * A run of the network, read off its columns, with the machine beside it if that is wanted. A network whose weights
 * were changed is compared number by number, one that is as it was compiled by what its columns say.
 */
export class Lockstep {
  constructor(network, word, interpreter = true, indexed = !misfit(network)) {
    const { machine, file, layouts: [layout] } = network, bits = layout.at.pos1.length;
    Object.assign(this, { network, layout, word, indexed, cell: 0, size: 2 ** bits, status: "running", message: "" });
    if (word.length > this.size)
      throw new FileProblem(`The word has ${word.length} cells, and ${bits} bits distinguish ${this.size}.`);
    this.run = new (indexed ? IndexedRun : Run)(network, encode(network, word));
    this.tape = new Tape(word.map((symbol) => machine.symbols.indexOf(symbol)));
    this.cells = new Map([[0, 0], ...word.map((_, cell) => [cell, cell])]); // by position bits
    this.state = machine.states.indexOf(machine.initial);
    this.halting = machine.states.map((state) => machine.halting.includes(state));
    this.read = this.tape.get(0);
    this.wrote = this.read;
    const folded = file.options.adder === "lookahead";
    this.changed = interpreter && folded && !sameWeights(file, compile(machine, file.options));
    this.columns = indexed ? null : [this.run.state]; // a plain run is inspected by its columns
    this.beside = !interpreter ? null : this.changed ? new Specification(network, word) : new Interpreter(machine, word);
    this.mark = interpreter ? { good: true, steps: 0 } : null;
    if (this.halting[this.state]) this.status = "halted";
  }

  get steps() {
    return this.run.t;
  }

  /** One step of the network; false when the run is over. The message says why it could not go on. */
  step() {
    if (this.status !== "running" || !this.fits()) return false;
    const expected = this.changed ? this.beside.step() : null, step = this.run.t + 1;
    try {
      this.run.step(expected ? (name, x) => this.compare(step, name, x, expected.get(name)) : undefined);
      this.columns?.push(this.run.state);
      if (this.status === "diverged") return false;
      return this.enter();
    } catch (error) {
      if (!(error instanceof Refusal) || !this.indexed) throw error;
      return this.startPlain(step);
    }
  }

  /** Whether a page can keep one more step. */
  fits() {
    if (!this.indexed && this.run.t >= MAX_PLAIN)
      this.end("failed", `Plain attention goes as far as step ${big(MAX_PLAIN)}.`);
    if (this.used > MAX_CELLS) this.end("failed", `The head was on ${big(MAX_CELLS)} cells: this page keeps no more.`);
    return this.status === "running";
  }

  /** How many cells the head was on. */
  get used() {
    return this.run.visits?.size;
  }

  /** A plain run as it was after t steps. */
  plainAt(t) {
    return this.run.copy(t, this.columns[t]);
  }

  /** What an index may not answer, plain attention does; it needs all columns, so the run begins again. */
  startPlain(step) {
    if (step > MAX_PLAIN) {
      this.end("failed", `At step ${step} the index gives up, and plain attention goes as far as step ${MAX_PLAIN}.`);
      return false;
    }
    const again = new Lockstep(this.network, this.word, this.mark !== null, false);
    Object.assign(this, again);
    while (this.run.t < step - 1) if (!this.step()) return false;
    return this.step();
  }

  end(status, message = "") {
    Object.assign(this, { status, message });
  }

  /** Each number of a vector against what it should be: the first that differs makes the mark. */
  compare(step, layer, x, names) {
    if (this.status === "diverged") return;
    const { layouts } = this.network.modules.find(({ name }) => name === layer), ones = new Set(names);
    const layout = layouts.at(-1);
    for (const { name: slice, start, size } of layout.slices)
      for (let k = start; k < start + size; k++) {
        const expected = ones.has(layout.names[k]) ? 1 : 0;
        if (x[k] !== expected) return this.part({ step, layer, slice, place: layout.names[k], given: x[k], expected });
      }
  }

  part(where) {
    const { step, layer, place, given, expected } = where;
    const digits = Number(given.toPrecision(9)) === expected ? given : Number(given.toPrecision(9));
    const message = `At step ${step}, layer ${layer} gives ${place} = ${digits} instead of ${expected}.`;
    this.mark = { good: false, ...where, message };
    this.end("diverged", message);
  }

  /** Read the new column: state, symbols, position. What is read goes into the report and nowhere else. */
  enter() {
    const { layout: { at, names }, network: { machine } } = this, x = this.run.state, step = this.run.t;
    for (let i = 0; i < x.length; i++)
      if (!(Math.abs(x[i]) <= 0.25 || Math.abs(x[i] - 1) <= 0.25)) return this.fail(`${names[i]} is ${x[i]}, neither 0 nor 1`);
    const state = one(x, at.st), read = one(x, at.sym1), wrote = one(x, at.sym2);
    if (state === -1) return this.jam();
    if (Math.min(state, read, wrote) < 0) return this.fail("st, sym1 and sym2 should have one 1 each");
    const cell = this.cell + (x[at.scr5[0]] > 0.5) - (x[at.scr5[1]] > 0.5);
    let position = 0;
    for (let k = at.pos2.length - 1; k >= 0; k--) position = 2 * position + (x[at.pos2[k]] > 0.5);
    if (cell - Math.floor(cell / this.size) * this.size !== position)
      return this.fail(`the position bits say ${position}, and the moves lead to cell ${cell}`);
    const other = this.cells.get(position) ?? cell;
    this.cells.set(position, other);
    if (other !== cell) return this.fail(`cell ${cell} has the position bits of cell ${other}: more bits are needed`);
    this.tape.set(this.cell, wrote);
    if (this.tape.get(cell) !== read)
      return this.fail(`the network reads ${machine.symbols[read]} on cell ${cell}, ` +
        `where ${machine.symbols[this.tape.get(cell)]} stands`);
    Object.assign(this, { state, read, wrote, cell });
    if (this.mark && !this.agrees(step)) return false;
    if (this.halting[state]) this.end("halted");
    return this.status === "running";
  }

  /** The configuration of the interpreter is the one that the column says. */
  agrees(step) {
    const machine = this.changed ? this.beside.machine : this.beside;
    const went = this.changed ? machine.steps === step : machine.step();
    if (went && machine.state === this.state && machine.head === this.cell && machine.read === this.read) {
      this.mark.steps = step;
      return true;
    }
    const { states, symbols } = this.network.machine;
    const say = (state, cell, read) => `${states[state]} on cell ${cell}, reading ${symbols[read]}`;
    const [given, expected] = [this, machine].map(({ state, cell, head, read }) => say(state, cell ?? head, read));
    this.mark = { good: false, step, layer: "assemble", slice: "", place: "", given, expected,
      message: `At step ${step} the network is in ${given}, and the machine in ${expected}.` };
    this.end("diverged", this.mark.message);
    return false;
  }

  /** No state is left: the machine has no rule either, or the two part here. */
  jam() {
    this.run.t -= 1;
    const machine = this.changed ? this.beside.machine : this.beside;
    if (machine?.rule >= 0 && machine.steps === this.run.t && !this.changed)
      this.part({ step: this.run.t + 1, layer: "assemble", slice: "st", place: "st", given: 0, expected: 1 });
    else {
      const { states, symbols, rules } = this.network.machine, [q, a] = [states[this.state], symbols[this.read]];
      if (rules.some(([state, symbol]) => state === q && symbol === a))
        this.end("failed", `At step ${this.run.t + 1} no state is left, though there is a rule.`);
      else this.end("jammed", `There is no rule for (${q}, ${a}).`);
    }
    return false;
  }

  fail(what) {
    this.end("failed", `At step ${this.run.t}, ${what}.`);
    if (this.mark) this.mark = { good: false, step: this.run.t, layer: "assemble", slice: "", place: "", message: this.message };
    return false;
  }
}

/** The number of the only 1, −1 if there is none, −2 if there are several. */
function one(x, places) {
  let found = -1;
  for (let k = 0; k < places.length; k++) if (x[places[k]] > 0.5) found = found === -1 ? k : -2;
  return found;
}

function sameWeights(one, other) {
  const text = ({ weights }) => Object.keys(weights).sort().map((name) => [name, weights[name].values]);
  return JSON.stringify(text(one)) === JSON.stringify(text(other));
}
