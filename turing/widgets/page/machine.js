// A Turing machine in the page: words of its alphabet, and the plain interpreter.

import { length, short, shown } from "./text.js";

export const isSingle = ({ symbols }) => symbols.every((symbol) => length(symbol) === 1);
/** A word as it is typed: one symbol a character, or with spaces between them if some symbol is longer. */
export const spell = (word, machine) => word.join(isSingle(machine) ? "" : " ");
/** What to type, as a hint. */
export function alphabet(machine) {
  const { symbols } = machine, spaced = symbols.some((symbol) => /\s/.test(symbol));
  const but = spaced ? "; those with a space cannot be typed here" : "";
  const apart = isSingle(machine) ? "" : ` (put spaces between them${but})`;
  return `Symbols: ${short(symbols.map(shown).join(" "), 80)}${apart}`;
}

/** The symbols of a typed word, in the alphabet or not. */
export function splitWord(text, machine) {
  const trimmed = machine.symbols.includes(" ") ? text : text.trim();
  return isSingle(machine) ? [...trimmed] : trimmed.split(/\s+/).filter(Boolean);
}
/** The symbols of a typed word for the tape. */
export function parseWord(text, machine) {
  const symbols = splitWord(text, machine), cell = symbols.findIndex((symbol) => !machine.symbols.includes(symbol));
  if (cell < 0) return symbols;
  throw new Error(
    `Symbol '${symbols[cell]}' (cell ${cell} of the word) is not in this machine's alphabet: ` +
      `${[...machine.symbols].sort().map(shown).join(" ")}.`,
  );
}

/** What a halt in a state means for a machine of the zoo, after a colon; else nothing. */
export const verdictOf = (state, { verdicts = {} }) =>
  Object.hasOwn(verdicts, state) ? `: ${verdicts[state]}` : "";

/** A tape of symbols by number, with room for the cells that were used. What it gives is [cell, symbol], as a Map does. */
export class Tape {
  constructor(symbols) {
    Object.assign(this, { data: Uint16Array.from(symbols), zero: 0 }); // cell 0 stands there
  }

  get(cell) {
    return this.data[cell + this.zero] ?? 0;
  }

  set(cell, symbol) {
    if (cell + this.zero < 0 || cell + this.zero >= this.data.length) this.reserve(cell);
    this.data[cell + this.zero] = symbol;
  }

  /** Room for a cell, and for as many more as there are. */
  reserve(cell) {
    const { data, zero } = this, more = data.length + 64, before = cell < -zero ? Math.max(more, -zero - cell) : 0;
    this.data = new Uint16Array(before + Math.max(data.length + (before ? 0 : more), cell + zero + 1));
    this.data.set(data, before);
    this.zero += before;
  }

  copy() {
    return Object.assign(new Tape([]), { data: this.data.slice(), zero: this.zero });
  }

  *[Symbol.iterator]() {
    for (let k = 0; k < this.data.length; k++) yield [k - this.zero, this.data[k]];
  }

  get filled() {
    return this.data.reduce((sum, symbol) => sum + (symbol ? 1 : 0), 0);
  }
}

/** A tape, a state and a head; states and symbols are their numbers, and symbol 0 is the blank. */
export class Interpreter {
  constructor({ states, symbols, rules, initial }, word) {
    this.width = symbols.length;
    this.table = new Int32Array(states.length * this.width).fill(-1);
    this.actions = rules.map(([q, a, p, b, move], i) => {
      this.table[states.indexOf(q) * this.width + symbols.indexOf(a)] = i;
      return [states.indexOf(p), symbols.indexOf(b), move];
    });
    this.tape = new Tape(word.map((symbol) => symbols.indexOf(symbol)));
    Object.assign(this, { state: states.indexOf(initial), head: 0, steps: 0 });
  }

  get read() {
    return this.tape.get(this.head);
  }

  /** The number of the rule that comes next, −1 if there is none. */
  get rule() {
    return this.table[this.state * this.width + this.read];
  }

  /** One step; false where there is no rule. */
  step() {
    const { rule } = this;
    if (rule < 0) return false;
    const [state, symbol, move] = this.actions[rule];
    this.tape.set(this.head, symbol);
    this.state = state;
    this.head += move;
    this.steps += 1;
    return true;
  }
}
