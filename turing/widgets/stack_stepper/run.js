// A run of a stack network, exactly or in floats: what its detectors say of each step, and where a float loses a digit.

import { read, Run } from "../page/network.js";
import { ROUND } from "../page/numbers.js";
import { range } from "../page/text.js";

export const OPERATIONS = ["noop", "push0", "push1", "pop"];
const UNCLEAR = 0.25; // how far from 0 and 1 a detector may be that is read as one of them

/** A float has lost a digit. */
class Lost extends Error {
  constructor(text, on = null, kind = "ArithmeticError") {
    super(text);
    Object.assign(this, { on, kind }); // the stack, and the name of the error
  }
}

/** A network in every arithmetic, and the vectors of a step: the column, and what leaves each layer. */
export function readNetwork({ file, says, ...about }) {
  const known = {}, inArithmetic = (name) => (known[name] ??= read(file, name)), { modules } = inArithmetic("exact");
  const vectors = [{ name: "column", layouts: modules[0].layouts.slice(0, 1) }, ...modules].map(({ name, layouts }) =>
    ({ name, says: says[name], ...layouts.at(-1), width: layouts.at(-1).names.length }));
  return { ...about, vectors, inArithmetic, layers: modules.map(({ layers: [layer] }) => layer) };
}

/** The number at a place of a vector; of a fraction the nearest. */
export function valueOf(x, i) {
  if (typeof x[i] === "number") return x[i];
  return x[i] === x.unit ? 1 : Number((x[i] << 80n) / x.unit) / 2 ** 80;
}

/** The number of a stack that is given from the top down: a float, or an integer number of units. */
function encode({ base, digits }, bits, arithmetic, unit) {
  const round = ROUND[arithmetic];
  if (round) return bits.reduceRight((value, bit) => round(round(value + digits[bit]) / base), 0);
  return bits.reduce(([sum, place], bit) => [sum + BigInt(digits[bit]) * (place / BigInt(base)), place / BigInt(base)],
    [0n, unit])[0];
}

/** The places of the detectors of version 1, for a kind of step and what the stacks begin with. */
const detector = (k, levels) => levels.reduce((place, level) => 3 * place + level, k);

/** The first column: the state, and the stacks as numbers. */
function firstColumn(network, machine, stacks, arithmetic) {
  const { version, base, classes, vectors: [{ width, at }] } = network, exact = arithmetic === "exact";
  const unit = exact ? BigInt(base) ** BigInt(Math.max(...stacks.map((bits) => bits.length))) : 1;
  const x = Array(width).fill(exact ? 0n : 0);
  stacks.forEach((bits, i) => {
    const max = network.depth[arithmetic];
    if (max !== null && bits.length > max)
      throw new Lost(network.full[arithmetic].replace("#", bits.length), i, "DepthError");
    x[(version === 4 ? at.q : at.noop)[i]] = encode(network, bits, arithmetic, unit);
  });
  const column = exact ? [x, unit] : x;
  if (version === 4) {
    x[at.st[machine.states.indexOf(machine.initial)]] = unit;
    return column;
  }
  const k = classes.findIndex(([target]) => target === machine.initial);
  const levels = stacks.map(([top]) => (top ?? -1) + 1);
  let begins = [[]]; // every pair of beginnings that are these or lower
  for (const level of levels) begins = begins.flatMap((v) => range(level + 1).map((lower) => [...v, lower]));
  for (const v of begins) x[at.det[detector(k, v)]] = unit;
  return column;
}

/** What a step has done, as its own detectors say: the next state, the operations, and what they took for the tops. */
function readStep({ version, classes, vectors }, machine, found, arithmetic) {
  const { p, rules } = machine;
  const fired = (vector, places) => {
    const on = places.filter((place) => valueOf(vector, place) > UNCLEAR);
    if (on.length < 2 && on.every((place) => valueOf(vector, place) >= 1 - UNCLEAR)) return places.indexOf(on[0]);
    const values = on.map((place) => Number(valueOf(vector, place).toPrecision(3))).join(", ");
    throw new Lost(`One detector should be 1 and the others 0, and these are not 0: ${values}. ${arithmetic} has lost ` +
      "digits.");
  };
  if (version === 4) {
    const rule = fired(found[2], vectors[2].at.rule);
    if (rule < 0) return null;
    const [[, ...tops], [state, ...operations]] = rules[rule];
    return { state, operations, tops };
  }
  const { det } = vectors[1].at, none = range(p).map(() => 0);
  const k = fired(found[1], classes.map((_, k) => det[detector(k, none)]));
  if (k < 0) return null;
  const [state, ...operations] = classes[k];
  const tops = range(p).map((i) => [null, ...machine.symbols][[1, 2].filter((level) =>
    valueOf(found[1], det[detector(k, none.map((_, j) => (j === i ? level : 0)))]) > 0.5).length]);
  return { state, operations, tops };
}

const said = (symbol) => (symbol === null ? "None" : `'${symbol}'`);
const topOf = (bits, { symbols }) => (bits.length ? symbols[bits[0]] : null);

/** Where no rule applies in the network, the machine has none. */
function jams(number, state, stacks, machine, arithmetic) {
  const tops = stacks.map((bits) => topOf(bits, machine));
  if (machine.rules.some(([[from, ...seen]]) => from === state && seen.every((top, i) => top === tops[i])))
    throw new Lost(`At step ${number} no rule applies in the network, where the machine has one for state ` +
      `${said(state)} with ${tops.map(said).join(", ")} on top. ${arithmetic} has lost digits.`);
}

/** What the detectors take for the tops is what has been pushed. */
function agree(number, tops, stacks, machine, arithmetic) {
  tops.forEach((top, i) => {
    const there = topOf(stacks[i], machine);
    if (top !== there)
      throw new Lost(`At step ${number} the network takes ${said(top)} for the top of stack ${i}, where ` +
        `${said(there)} is. ${arithmetic} has lost digits.`, i);
  });
}

/** The steps of a run in one arithmetic, and the error that ends it, if one does. */
function follow(network, machine, word, arithmetic, limit) {
  const steps = [], { version, depth } = network;
  let stacks = range(machine.p).map((i) => (i ? [] : word)), number = 0;
  try {
    const column = firstColumn(network, machine, stacks, arithmetic);
    const run = new Run(network.inArithmetic(arithmetic), { column });
    let state = machine.initial;
    steps.push({ arithmetic, state, stacks, vectors: [run.state] });
    while (!machine.terminal.includes(state) && number < limit) {
      const vectors = [run.state];
      number += 1;
      run.step((_, x) => vectors.push(x));
      const reading = readStep(network, machine, vectors, arithmetic);
      if (!reading) {
        jams(number, state, stacks, machine, arithmetic);
        return { steps, status: "jammed" };
      }
      if (version === 4) agree(number, reading.tops, stacks, machine, arithmetic);
      const from = { state, stacks };
      stacks = stacks.map((bits, i) => {
        const operation = reading.operations[i];
        const after = operation === "pop" ? bits.slice(1) : operation === "noop" ? bits
          : [Number(operation.at(-1)), ...bits];
        if (depth[arithmetic] === null || after.length <= depth[arithmetic]) return after;
        const full = network.full[arithmetic].replace("#", after.length);
        throw new Lost(`At step ${number}, on stack ${i}: ${full}`, i, "DepthError");
      });
      if (version === 1) agree(number, reading.tops, stacks, machine, arithmetic);
      state = reading.state;
      steps.push({ arithmetic, state, stacks, vectors, from, operations: reading.operations });
    }
    return { steps, status: machine.terminal.includes(state) ? "halted" : "limit" };
  } catch (error) {
    if (!(error instanceof Lost)) throw error;
    return { steps, stopped: { step: number, kind: error.kind, on: error.on, text: error.message } };
  }
}

/** A run in an arithmetic, and exactly from the step on at which that loses a digit. */
export function runNetwork(network, machine, word, arithmetic, limit) {
  const exact = follow(network, machine, word, "exact", limit);
  if (arithmetic === "exact") return { ...exact, exact: exact.steps };
  const { steps, stopped } = follow(network, machine, word, arithmetic, limit);
  return { steps: [...steps, ...exact.steps.slice(steps.length)], stopped, status: exact.status, exact: exact.steps };
}

/** The number of a stack in a column: a float, or an integer number of units. */
export function stackValue({ version, vectors: [{ at }] }, x, i) {
  if (version === 4) return x[at.q[i]];
  return OPERATIONS.map((name) => x[at[name][i]]).reduce((sum, value) => sum + value);
}
