// A machine becomes a transformer, in the page: the folded WCM21 network of turing.wcm.lookahead, weight for weight.
// A chassis depends on the number of states, symbols and bits; one block of one matrix depends on the rules.

import { lookups, lookupWeights } from "./index.js";
import { FileProblem, layoutOf } from "./network.js";
import { byCodePoint } from "./text.js";

const KAPPA = 9999;

/** The states and symbols in the order of the library: by appearance in the rules, initial state and blank first. */
export function canonical({ rules, initial, halting, blank, symbols }) {
  const states = new Set([initial, ...rules.flatMap(([q, , p]) => [q, p]), ...[...halting].sort(byCodePoint)]);
  const named = new Set([blank, ...rules.flatMap(([, a, , b]) => [a, b]), ...symbols]);
  return { rules, initial, halting: [...halting].sort(byCodePoint), blank, states: [...states], symbols: [...named] };
}

/** Weights by row and column, as a file has them: in order, and without the zeros. */
class Matrix {
  constructor(rows, columns) {
    Object.assign(this, { shape: [rows, columns], entries: Array.from({ length: rows }, () => new Map()) });
  }

  set(rows, columns, value) {
    [rows].flat().forEach((i) => [columns].flat().forEach((j) => this.entries[i].set(j, value)));
  }

  /** The k-th of these rows takes the k-th of these columns. */
  take(rows, columns) {
    rows.forEach((i, k) => this.entries[i].set(columns[k], 1));
  }

  get file() {
    const values = this.entries.flatMap((row, i) =>
      [...row].sort(([one], [other]) => one - other).filter(([, value]) => value).map(([j, value]) => [i, j, value]));
    return { shape: this.shape, values };
  }
}

/** A vector of biases from [place, value]. */
const biases = (size, ...pairs) => ({ shape: [size], values: pairs.sort(([one], [other]) => one - other) });

/** The layouts between the modules: of a column, and after detect, carry and choose. */
function layoutsOf({ states, symbols }, bits) {
  const pairs = states.flatMap((q) => symbols.map((a) => `${q} ${a}`));
  const det = ["det", new Set(pairs).size === pairs.length ? pairs : pairs.length];
  const [st, sym1, sym2, scr5] = [["st", states], ["sym1", symbols], ["sym2", symbols], ["scr5", ["R", "L"]]];
  const numbers = (...names) => names.map((name) => [name, bits]);
  return [
    [st, sym1, sym2, ...numbers("pos1", "pos2", "pos3"), ["scr1", symbols], ["scr2", symbols], ["scr3", bits],
      ["scr4", ["visited", "word", "blank"]], scr5],
    [det, ...numbers("pos1", "pos2")],
    [st, sym2, scr5, ...numbers("pos1", "pos2", "carry", "borrow", "bit_carry", "bit_borrow")],
    [st, sym2, scr5, ["pos2", bits], ["scr1", symbols], ["scr2", symbols], ["blank", 1]],
  ];
}

/** All weights that the rules have no part in, for a shape. */
function chassis([column, detect, carry, choose], bits) {
  const [x, d, c, s] = [column.at, detect.at, carry.at, choose.at], weights = {};
  const [w, ...hidden] = [column, detect, carry, choose].map(({ names }) => names.length);
  const add = (name, matrix, ...pairs) => {
    weights[`pipeline.${name}.weight`] = matrix.file;
    weights[`pipeline.${name}.bias`] = biases(matrix.shape[0], ...pairs);
  };

  const detectors = new Matrix(hidden[0], w);
  d.det.forEach((k, n) => detectors.set(k, [x.st[Math.floor(n / x.sym1.length)], x.sym1[n % x.sym1.length]], 1));
  for (const name of ["pos1", "pos2"]) detectors.take(d[name], x[name]);
  add("detect", detectors, ...d.det.map((k) => [k, -1])); // AND

  const carries = new Matrix(hidden[1], hidden[0]), pairs = [];
  for (const name of ["pos1", "pos2"]) carries.take(c[name], d[name]);
  for (let k = 0; k < bits; k++)
    for (const [name, sign] of [["carry", 1], ["borrow", -1]]) {
      const alone = c[name][k], both = c[`bit_${name}`][k], bias = sign > 0 ? -k : 0; // all ones below, or all zeros
      carries.set([alone, both], d.pos2.slice(0, k), sign);
      carries.set(both, d.pos2[k], 1); // and the bit itself
      pairs.push(...(bias ? [[alone, bias]] : []), [both, bias - 1]);
    }
  add("carry", carries, ...pairs);

  const move = new Matrix(w, hidden[1]);
  for (const name of ["st", "sym2", "scr5", "pos1", "pos2"]) move.take(x[name], c[name]);
  x.pos3.forEach((place, k) => {
    move.set(place, [c.pos2[k], c.carry[k], c.borrow[k]], 1);
    move.set(place, [c.bit_carry[k], c.bit_borrow[k]], -2); // XOR
  });
  add("move", move);

  for (const head of lookups(column))
    for (const [part, values] of Object.entries(lookupWeights(w, head))) weights[`pipeline.${head.name}.${part}`] = values;

  const chosen = new Matrix(hidden[2], w), visited = x.scr4[0];
  for (const name of ["st", "sym2", "scr5", "scr1", "scr2"]) chosen.take(s[name], x[name]);
  chosen.take(s.pos2, x.pos3);
  chosen.set(s.scr1, visited, 1); // AND
  chosen.set(s.scr2, visited, -1); // and not
  chosen.set(s.blank, [...x.scr2, visited], -1); // NOR
  add("choose", chosen, ...s.scr1.map((place) => [place, -1]), [s.blank[0], 1]);

  const assembled = new Matrix(w, hidden[2]);
  for (const name of ["st", "sym2", "scr5", "pos2"]) assembled.take(x[name], s[name]);
  for (const found of [s.scr1, s.scr2]) assembled.take(x.sym1, found);
  assembled.set(x.sym1[0], s.blank, 1);
  add("assemble", assembled);
  return weights;
}

/** The one block that holds δ: what the detector of each rule sends to state, symbol, direction, carry and borrow. */
function ruleWeights({ states, symbols, rules }, { at: c }, { at: d }) {
  return rules.flatMap(([q, a, p, b, move]) => {
    const detector = d.det[states.indexOf(q) * symbols.length + symbols.indexOf(a)];
    const rows = [c.st[states.indexOf(p)], c.sym2[symbols.indexOf(b)]];
    if (move > 0) rows.push(c.scr5[0], ...c.carry, ...c.bit_carry);
    if (move < 0) rows.push(c.scr5[1], ...c.borrow, ...c.bit_borrow);
    return rows.map((row) => [row, detector, 1]);
  });
}

/** The file of a machine's network, as turing.save writes it for adder="lookahead". */
export function compile(machine, { T, bits = Math.max(1, Math.ceil(Math.log2(T))) }) {
  machine = canonical(machine);
  const layouts = layoutsOf(machine, bits), [column, detect, carry, choose] = layouts.map(layoutOf);
  const weights = chassis([column, detect, carry, choose], bits), block = weights["pipeline.carry.weight"];
  block.values = [...block.values, ...ruleWeights(machine, carry, detect)].sort(([i, j], [k, l]) => i - k || j - l);
  const average = "ratio", affine = (name) => ({ weight: `pipeline.${name}.weight`, bias: `pipeline.${name}.bias` });
  const linear = (name, layouts, activation) =>
    ({ name, kind: "linear", layouts, layers: [{ ...affine(name), activation }] });
  const head = ({ name, mask }) => ({
    name, kind: "attention", layouts: [0, 0], query: affine(`${name}.query`), key: affine(`${name}.key`),
    value: affine(`${name}.value`), write: affine(`${name}.write`), null_key: `pipeline.${name}.null_key`,
    null_value: `pipeline.${name}.null_value`, score: "dot", mask, kappa: KAPPA, average,
  });
  const { rules, initial, halting, blank, symbols } = machine;
  const named = new Set(rules.flatMap(([, a, , b]) => [a, b])), extra = symbols.filter((symbol) => !named.has(symbol));
  return {
    turing: "network", version: 2, arithmetic: "float32", construction: "wcm21",
    machine: { turing_machine: 1, initial, halting, blank, ...(extra.length ? { alphabet: extra } : {}), delta: rules },
    options: { T, bits, kappa: KAPPA, average, adder: "lookahead" },
    layouts,
    modules: [
      linear("detect", [0, 1], "relu"), linear("carry", [1, 2], "relu"), linear("move", [2, 0], "none"),
      ...lookups(column).map(head), linear("choose", [0, 3], "relu"), linear("assemble", [3, 0], "none"),
    ],
    loop: { state: "column", add: [["pos1", "step"]] },
    weights,
  };
}

/** The file of another machine, and the numbers of the first file that it changes, by name. */
export function rewrite(file, machine) {
  const other = compile(machine, file.options), name = "pipeline.carry.weight";
  const named = ({ layouts, weights }) => {
    const [columns, rows] = [layoutOf(layouts[1]).names, layoutOf(layouts[2]).names];
    return new Map(weights[name].values.map(([i, j, value]) => [JSON.stringify([rows[i], columns[j]]), value]));
  };
  const [before, after] = [named(file), named(other)], changes = [];
  for (const place of new Set([...before.keys(), ...after.keys()])) {
    const [row, column] = JSON.parse(place), [old, now] = [before.get(place) ?? 0, after.get(place) ?? 0];
    if (old !== now) changes.push({ name, row, column, before: old, after: now });
  }
  const shape = ({ layouts }) => JSON.stringify(layouts[0].map(([, places]) => places.length ?? places));
  return { file: other, changes, sameShape: shape(file) === shape(other) };
}

/** Set one number of a file; it has the place [row, column], or [row] in a bias. */
export function setWeight(file, name, place, value) {
  const { shape, values } = file.weights[name];
  if (place.length !== shape.length || !place.every((i, k) => Number.isInteger(i) && i >= 0 && i < shape[k]))
    throw new FileProblem(`${name} has the shape [${shape.join(", ")}], and there is no place [${place.join(", ")}].`);
  if (Number.isFinite(value) && !Number.isFinite(Math.fround(value)))
    throw new FileProblem(`${value} is too large: float32 ends at 3.4e38.`);
  if (!Number.isFinite(value)) throw new FileProblem(`A weight is a number, and ${value} was given.`);
  const rest = values.filter((entry) => `${entry.slice(0, -1)}` !== `${place}`);
  if (Math.fround(value)) rest.push([...place, Math.fround(value)]);
  file.weights[name].values = rest.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
}

/** One number of a network file. */
export function weightOf(file, name, place) {
  const found = file.weights[name].values.find((value) => place.every((index, n) => value[n] === index));
  return found ? found.at(-1) : 0;
}
