// A stack network as whole numbers over a denominator: what it computes, exactly and in floats, and what its detectors
// say of each step. The module of the stepper follows in the same text.

const range = (n) => [...Array(n).keys()];
const clamp = (x, low, high) => (x < low ? low : x > high ? high : x);
const ROUND = { float32: Math.fround, float64: (x) => x };
const OPERATIONS = ["noop", "push0", "push1", "pop"];
const UNCLEAR = 0.25; // how far from 0 and 1 a detector may be that is read as one of them

/** A float has lost a digit. */
class Lost extends Error {
  constructor(text, on = null, kind = "ArithmeticError") {
    super(text);
    Object.assign(this, { on, kind }); // the stack, and the name of the error
  }
}

/** A network with the names of its places, and its rows as [place, weight]. */
export function readNetwork(network) {
  const vectors = network.vectors.map(({ slices, ...vector }) => {
    let width = 0;
    const parts = slices.map(([name, places]) => {
      const labels = Array.isArray(places) ? places : range(places).map(String);
      const part = { name, start: width, size: labels.length, labels };
      part.names = labels.map((label) => (places === 1 ? name : `${name}[${label}]`));
      width += part.size;
      return part;
    });
    return { ...vector, slices: parts, width, names: parts.flatMap(({ names }) => names),
      at: Object.fromEntries(parts.map(({ name, start }) => [name, start])) };
  });
  const layers = network.layers.map(({ denominator, late, rows }) => ({
    denominator, late: new Set(late),
    rows: rows.map(([bias, ...rest]) => ({
      bias, terms: range(rest.length / 2).map((k) => [rest[2 * k], rest[2 * k + 1]]),
    })),
  }));
  return { ...network, vectors, layers };
}

/** σ(Wx + b) over whole numbers that stand for multiples of 1 / unit; the unit grows where it must. */
function exactLayer(layer, { x, unit }) {
  const denominator = BigInt(layer.denominator);
  layer.big ??= layer.rows.map(({ bias, terms }) => [BigInt(bias), terms.map(([j, weight]) => [j, BigInt(weight)])]);
  let sums = layer.big.map(([bias, terms]) =>
    terms.reduce((sum, [j, weight]) => (x[j] ? sum + weight * x[j] : sum), bias * unit));
  if (sums.some((sum) => sum % denominator)) unit *= denominator;
  else sums = sums.map((sum) => sum / denominator);
  return { x: sums.map((sum) => clamp(sum, 0n, unit)), unit };
}

/** The same in floats, as torch adds: the whole numbers, the bias, and last the places of the stacks. */
function floatLayer({ denominator, late, rows }, { x, unit }, round) {
  const weigh = (number, value) => round(round(number / denominator) * value);
  return { unit, x: rows.map(({ bias, terms }) => {
    let whole = 0, last = 0;
    for (const [j, weight] of terms) {
      if (late.has(j)) last = round(last + weigh(weight, x[j]));
      else whole = round(whole + weigh(weight, x[j]));
    }
    return clamp(round(round(whole + weigh(bias, 1)) + last), 0, 1);
  }) };
}

/** Divide by the base as often as all numbers of a vector allow. */
function shortened({ x, unit }, base) {
  const b = BigInt(base);
  while (unit > 1n && unit % b === 0n && x.every((value) => value % b === 0n)) {
    x = x.map((value) => value / b);
    unit /= b;
  }
  return { x, unit };
}

/** The number at a place; of a fraction the nearest. */
function valueOf({ x, unit }, i) {
  if (typeof x[i] === "number") return x[i];
  return x[i] === unit ? 1 : Number((x[i] << 80n) / unit) / 2 ** 80;
}

/** The number of a stack that is given from the top down: a float, or a whole number of units. */
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
    const most = network.depth[arithmetic];
    if (most !== null && bits.length > most)
      throw new Lost(network.full[arithmetic].replace("#", bits.length), i, "DepthError");
    x[(version === 4 ? at.q : at.noop) + i] = encode(network, bits, arithmetic, unit);
  });
  if (version === 4) {
    x[at.st + machine.states.indexOf(machine.initial)] = unit;
    return { x, unit };
  }
  const k = classes.findIndex(([target]) => target === machine.initial);
  const levels = stacks.map(([top]) => (top ?? -1) + 1);
  let begins = [[]]; // every pair of beginnings that are these or lower
  for (const level of levels) begins = begins.flatMap((v) => range(level + 1).map((lower) => [...v, lower]));
  for (const v of begins) x[at.det + detector(k, v)] = unit;
  return { x, unit };
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
    const { at: { rule: start } } = vectors[2], rule = fired(found[2], rules.map((_, r) => start + r));
    if (rule < 0) return null;
    const [[, ...tops], [state, ...operations]] = rules[rule];
    return { state, operations, tops };
  }
  const { det } = vectors[1].at, none = range(p).map(() => 0);
  const k = fired(found[1], classes.map((_, k) => det + detector(k, none)));
  if (k < 0) return null;
  const [state, ...operations] = classes[k];
  const tops = range(p).map((i) => [null, ...machine.symbols][[1, 2].filter((level) =>
    valueOf(found[1], det + detector(k, none.map((_, j) => (j === i ? level : 0)))) > 0.5).length]);
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
  const steps = [], round = ROUND[arithmetic], { version, depth, base } = network;
  const layer = (one, vector) => (round ? floatLayer(one, vector, round) : exactLayer(one, vector));
  let stacks = range(machine.p).map((i) => (i ? [] : word)), number = 0;
  try {
    let column = firstColumn(network, machine, stacks, arithmetic), state = machine.initial;
    steps.push({ arithmetic, state, stacks, vectors: [column] });
    while (!machine.terminal.includes(state) && number < limit) {
      const vectors = [column];
      number += 1;
      for (const one of network.layers) vectors.push(layer(one, vectors.at(-1)));
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
      column = round ? vectors.at(-1) : shortened(vectors.at(-1), base);
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

/** One stack of a column, as a vector of one number. */
function stackValue({ version, vectors: [{ at }] }, { x, unit }, i) {
  if (version === 4) return { x: [x[at.q + i]], unit };
  const [first, ...rest] = OPERATIONS.map((name) => x[at[name] + i]);
  return { x: [rest.reduce((sum, value) => sum + value, first)], unit };
}
