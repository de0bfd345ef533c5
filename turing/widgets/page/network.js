// The evaluator of networks: it reads what turing.save writes, and computes in float32, float64 or exact rationals.
// A vector is a typed array; an exact one is an array of BigInts, multiples of 1 / vector.unit, in lowest terms. After a
// norm it may have roots: each number is divided by the root of an integer, vector.roots[i], too.

import { range } from "./text.js";

/** A file is damaged, or is not one that is read here. */
export class FileProblem extends Error {}

/** A run cannot begin or go on with these numbers. */
export class Refusal extends Error {}

const MAX_WIDTH = 1_000_000; // a few damaged digits should not fill the memory
const WORDS = {
  kind: ["linear", "attention", "norm", "convolution", "argmax"], activation: ["none", "relu", "clamp"],
  score: ["dot", "-abs"], mask: ["causal", "strict", "prefix", "cross", "offset", "window"], average: ["ratio", "literal"],
  state: ["column", "cells"],
};

function check(holds, what) {
  if (!holds) throw new FileProblem(`This network is damaged: ${what}. Save it again with turing.save.`);
}

/** A part of a file, if its words are known ones. */
function known(part) {
  for (const key in WORDS) check(!(key in part) || WORDS[key].includes(part[key]), `${key} is ${part[key]}`);
  return part;
}

/** What is added to a column before step t + 1 where it is not the bits of t: fractions, as in ir.POSITIONS. */
const POSITIONS = {
  powers: (t) => [[1, 1], [t + 1, 1], [1, t + 1], [1, (t + 1) ** 2]], inverse: (t) => [[1, t + 1]],
};

const EQUAL = "A norm divides by the length of a slice, and here all numbers of one are equal.";
const ROOTS = "Numbers that are divided by different roots are added here. Run this network in float64.";

const isIndex = (i, size) => Number.isInteger(i) && i >= 0 && i < size;

/** Bit k of an integer that is not negative. Shifts are for those below 2³¹. */
export const bitOf = (n, k) => (n < 2 ** 31 ? (k < 31 ? (n >> k) & 1 : 0) : Math.floor(n / 2 ** k) % 2);

function gcd(a, b) {
  while (b) [a, b] = [b, a % b];
  return a < 0n ? -a : a;
}
const lcm = (a, b) => (a / gcd(a, b)) * b;

/**
 * Floats of one size. A sum takes the products of the inputs in order, then the bias, then the sum of the products of
 * the inputs in "last": torch gives the same bits where only the bias and those may be fractions. Every product is
 * rounded, and every sum, as a typed array rounds what it is given.
 */
class Floats {
  constructor(Type, round, zero = 0, one = 1) {
    Object.assign(this, { Type, round, zero, one });
  }

  unit() { return 1; }
  over(x) { return x; }
  divided(x, by) { return x.map((value) => value / by); }
  zeros(size) { return new this.Type(size); }
  join(vectors) { return this.Type.from(vectors.flatMap((x) => [...x])); }

  vector(given) {
    const x = this.Type.from(given);
    if (!x.every(Number.isFinite)) throw new Refusal(`A vector has finite numbers, and ${given} was given.`);
    return x;
  }

  fractions(pairs) { return this.Type.from(pairs, ([n, d]) => n / d); }

  /** The values of tensors, and their common denominator. */
  numbers(...tensors) {
    return [...tensors.map(({ values, denominator = 1 }) =>
      this.Type.from(values, (entry) => entry.at(-1) / Number(denominator))), 1];
  }

  sum({ start, to, w }, inputs, x, out) {
    const { round } = this;
    out.fill(0);
    for (let n = 0; n < inputs.length; n++) {
      const j = inputs[n], value = x[j];
      if (value !== 0) for (let k = start[j], end = start[j + 1]; k < end; k++)
        out[to[k]] += value === 1 ? w[k] : round(w[k] * value);
    }
    return out;
  }

  /** What a layer makes of a vector. */
  through(layer, x, room = this.zeros(layer.bias.length)) {
    const { bias, biased, denominator, relu, clamp, first, last } = layer, { zero } = this, { length } = bias;
    const unit = this.unit(x), one = unit * denominator, out = this.sum(layer, first, x, room);
    for (let n = 0; n < biased.length; n++) out[biased[n]] += bias[biased[n]] * unit;
    if (last.length) this.sum(layer, last, x, this.zeros(length)).forEach((late, i) => (out[i] += late));
    if (relu) for (let i = 0; i < length; i++) if (out[i] < 0) out[i] = zero;
    if (clamp) for (let i = 0; i < length; i++) if (out[i] > one) out[i] = one;
    return this.over(out, one);
  }

  dot(x, y) {
    const { round } = this;
    let sum = this.zero;
    for (let k = 0; k < x.length; k++) sum = round(sum + round(x[k] * y[k]));
    return sum;
  }

  /** The average of the values whose keys score best, and the share of each. */
  average({ kappa, average, score }, query, keys, values) {
    const { round, zero, one } = this, e = [], some = [];
    const scores = keys.map((key) => this.score(query, key, score === "-abs"));
    let best = 0, total = zero;
    for (let i = 0; i < keys.length; i++) if (this.gap(scores[i], scores[best]) > zero) best = i;
    for (let i = 0; i < keys.length; i++) {
      const below = this.gap(scores[i], scores[best]);
      e.push(kappa !== null ? round(Math.exp(round(kappa * below))) : below === zero ? one : zero);
      if (e[i] !== zero) some.push(i);
      total = round(total + e[i]);
    }
    const shares = e.map((share) => round(Number(share) / Number(total))), weights = average === "ratio" ? e : shares;
    const out = this.sumOf(some.map((i) => values[i]), some.map((i) => weights[i]));
    return [average === "ratio" ? this.divided(out, total) : out, shares];
  }

  score(query, key, abs) {
    const fit = this.dot(query, key);
    return abs && fit > 0 ? -fit : fit;
  }

  gap(one, other) { return this.round(one - other); }
  /** By how much a score is less than 1, as a number. */
  below(score) { return 1 - score; }

  sumOf(vectors, weights) {
    const out = this.zeros(vectors[0].length);
    vectors.forEach((x, n) => x.forEach((value, k) => (out[k] += this.round(weights[n] * value))));
    return out;
  }

  part(x, from, to) { return x.slice(from, to); }
  add(x, y) { return x.map((value, i) => value + y[i]); }

  norm(x) {
    const mean = this.round(x.reduce((a, b) => this.round(a + b)) / x.length), rest = x.map((value) => value - mean);
    const length = this.round(Math.sqrt(this.dot(rest, rest)));
    if (!length) throw new Refusal(EQUAL);
    return this.divided(rest, length);
  }

  /** 1 at the first of the greatest numbers. */
  argmax(x) {
    const out = this.zeros(x.length);
    out[x.reduce((best, value, i) => (value > x[best] ? i : best), 0)] = this.one;
    return out;
  }
}

/** The greatest integer whose square is not above n. */
function rootOf(n) {
  let x = 1n << BigInt((n.toString(2).length + 1) >> 1); // not below it, and Newton comes down to it
  for (let y; x && (y = (x + n / x) >> 1n) < x; ) x = y;
  return x;
}

/** [n, r] for the sum of n / √r, up to a factor: roots whose product is a square are multiples of each other. */
function apart(terms) {
  const found = [];
  let scale = 1n;
  for (const [n, r] of terms) {
    const same = found.find(([, m]) => rootOf(r * m) ** 2n === r * m), root = same && rootOf(r * same[1]);
    if (!same) found.push([n * scale, r]);
    else {
      found.forEach((term) => (term[0] *= root)); // n / √r is (n m / root) / √m
      same[0] += n * scale * same[1];
      scale *= root;
    }
  }
  return found.filter(([n]) => n);
}

/** The sum of n / √r times 2^bits, off by less than 1 for each term. */
const near = (terms, bits) => terms.reduce(
  (sum, [n, r]) => sum + (n < 0n ? -1n : 1n) * rootOf(((n * n) << (2n * bits)) / r), 0n);

/** −1n, 0n or 1n: the sign of the sum of n / √r. Once no two roots are multiples, it is 0 only if nothing is left. */
function signOf(terms) {
  for (let bits = 64n; terms.length; bits *= 2n, terms = apart(terms)) {
    const sum = near(terms, bits);
    if (sum > terms.length) return 1n;
    if (-sum > terms.length) return -1n;
  }
  return 0n;
}

/** Integers over one denominator, some of them over a root too. */
class Rationals extends Floats {
  unit(x) { return x.unit; }
  zeros(size) { return Object.assign(Array(size).fill(0n), { unit: 1n }); }
  divided(x, by) { return this.over(x, x.unit * by, x.roots); }
  sum({ start, to, w }, inputs, x, out) {
    out.fill(0n);
    for (const j of inputs) if (x[j]) for (let k = start[j]; k < start[j + 1]; k++) out[to[k]] += w[k] * x[j];
    return out;
  }

  /** Multiples of 1 / unit. Most of them are 0 or 1, and cost nothing here. */
  over(x, unit, roots) {
    const common = x.reduce((common, n) => (common === 1n ? common : gcd(common, n % common)), unit);
    const found = Object.assign(x.map((n) => n / common), { unit: unit / common });
    return roots?.some((root, i) => root > 1n && found[i]) ? Object.assign(found, { roots }) : found;
  }

  rootsOf(x) { return x.roots ?? Array(x.length).fill(1n); }
  part(x, from, to) { return this.over(x.slice(from, to), x.unit, x.roots?.slice(from, to)); }

  join(vectors) {
    const unit = vectors.map(({ unit }) => unit).reduce(lcm, 1n);
    return this.over(vectors.flatMap((x) => x.map((n) => n * (unit / x.unit))), unit,
      vectors.some(({ roots }) => roots) ? vectors.flatMap(this.rootsOf) : undefined);
  }

  add(x, y) {
    const unit = lcm(x.unit, y.unit), [one, other] = [x, y].map((x) => x.map((n) => n * (unit / x.unit)));
    const [mine, theirs] = [x, y].map(this.rootsOf), roots = mine.map((root, i) => (x[i] ? root : theirs[i]));
    if (roots.some((root, i) => y[i] && root !== theirs[i])) throw new Refusal(ROOTS);
    return this.over(one.map((n, i) => n + other[i]), unit, roots);
  }

  sumOf(vectors) { return vectors.reduce((x, y) => this.add(x, y)); }

  /** A number may be the sum of others only if these have the same root. */
  through(layer, x, room) {
    if (!x.roots) return super.through(layer, x, room);
    const { start, to, bias, biased, clamp } = layer, roots = [...bias].fill(undefined);
    const meet = (i, root) => {
      if ((roots[i] ??= root) !== root) throw new Refusal(ROOTS);
    };
    biased.forEach((i) => meet(i, 1n));
    x.forEach((n, j) => {
      if (n) for (let k = start[j]; k < start[j + 1]; k++) meet(to[k], x.roots[j]);
    });
    const out = super.through({ ...layer, clamp: false }, x, room), all = roots.map((root) => root ?? 1n);
    if (clamp) out.forEach((n, i) => { // n / (unit √root) is above 1
      if (n * n > out.unit ** 2n * all[i]) [out[i], all[i]] = [out.unit, 1n];
    });
    return this.over(out, out.unit, all);
  }

  /** A sum of n / √r, as [n, r], over one unit. */
  score(query, key, abs) {
    const [mine, theirs] = [query, key].map(this.rootsOf), sums = new Map();
    query.forEach((n, i) => {
      const root = mine[i] * theirs[i];
      if (n && key[i]) sums.set(root, (sums.get(root) ?? 0n) + n * key[i]);
    });
    const terms = [...sums].map(([root, n]) => [n, root]), turn = abs && signOf(terms) > 0n ? -1n : 1n;
    return { terms: terms.map(([n, root]) => [turn * n, root]), unit: query.unit * key.unit };
  }

  /** The sign of a difference. */
  gap(one, other) {
    if (one === other) return 0n;
    return signOf([...one.terms.map(([n, r]) => [n * other.unit, r]), ...other.terms.map(([n, r]) => [-n * one.unit, r])]);
  }

  below({ terms, unit }) {
    const left = (unit << 256n) - near(terms, 256n);
    return Number(left > terms.length ? (left << 64n) / unit : 0n) / 2 ** 320;
  }

  vector(given) {
    if (given.unit) return given;
    const [numbers, unit, roots] = given;
    if (Array.isArray(numbers)) return this.over(numbers.map(BigInt), BigInt(unit), roots?.map(BigInt));
    return this.over(...this.numbers({ values: given.map((value) => [value]) }));
  }

  /** A float is an integer over a power of 2. */
  numbers(...tensors) {
    const parts = tensors.map(({ values, denominator = 1 }) => values.map((entry) => {
      let value = entry.at(-1), unit = BigInt(denominator);
      for (; value % 1; value *= 2) unit *= 2n;
      return [BigInt(value), unit];
    })), units = new Set(parts.flat().map(([, unit]) => unit)), common = [...units].reduce(lcm, 1n);
    return [...parts.map((numbers) => numbers.map(([n, unit]) => n * (common / unit))), common];
  }

  fractions(pairs) {
    const unit = pairs.map(([, d]) => BigInt(d)).reduce(lcm, 1n);
    return this.over(pairs.map(([n, d]) => BigInt(n) * (unit / BigInt(d))), unit);
  }

  norm(x) {
    if (x.roots) throw new Refusal("A norm works on rationals here, and was given numbers with roots.");
    const total = x.reduce((a, b) => a + b), rest = x.map((n) => n * BigInt(x.length) - total), common = rest.reduce(gcd);
    if (!common) throw new Refusal(EQUAL);
    const small = rest.map((n) => n / common), square = small.reduce((sum, n) => sum + n * n, 0n), root = rootOf(square);
    return root * root === square ? this.over(small, root) : this.over(small, 1n, small.map(() => square));
  }
}

const ARITHMETICS = {
  float32: new Floats(Float32Array, Math.fround),
  float64: new Floats(Float64Array, (x) => x),
  exact: new Rationals(Array, (x) => x, 0n, 1n),
};

/** The numbers of any vector, the nearest ones if it is exact. */
export const toNumbers = (x) => Array.from(x, (n, i) =>
  (x.unit ? Number((n << 80n) / x.unit) / 2 ** 80 / Math.sqrt(Number(x.roots?.[i] ?? 1n)) : n));

/** The slices of a vector, and the names of its places as turing.show prints them. */
export function layoutOf(slices) {
  const layout = { slices: [], names: [], at: {} };
  for (const [name, places] of slices) {
    const labels = Array.isArray(places) ? places : [], size = labels.length || places, start = layout.names.length;
    check(isIndex(size, MAX_WIDTH - start), `slice ${name} has ${size} places`);
    layout.slices.push({ name, start, size, labels });
    layout.at[name] = range(size).map((k) => start + k);
    for (const k of range(size)) layout.names.push(size > 1 || labels.length ? `${name}[${labels[k] ?? k}]` : name);
  }
  return layout;
}

const INTEGER = /^-?\d+$/;

/** A tensor of the file: its shape, and as [index, …, value] what is not 0. A size that is null may be any. */
function tensor({ weights }, name, ...shape) {
  const { shape: own = [], values, denominator = 1 } = weights[name] ?? {}, integer = (n) => INTEGER.test(n);
  check(own.length === shape.length && own.every((n, k) => isIndex(n, MAX_WIDTH) && n === (shape[k] ?? n)),
    `${name} should have the shape [${shape.map((n) => n ?? "any").join(", ")}]`);
  check(integer(denominator) && denominator > 0, `the denominator of ${name} is ${denominator}`);
  for (const entry of values)
    check(entry.length === own.length + 1 && own.every((size, k) => isIndex(entry[k], size)) &&
      (integer(entry.at(-1)) || (denominator === 1 && Number.isFinite(entry.at(-1)))), `${name} holds ${JSON.stringify(entry)}`);
  check(new Set(values.map((entry) => `${entry.slice(0, -1)}`)).size === values.length, `${name} gives a number twice`);
  return weights[name];
}

/** x ↦ activation(Wx + b), with the weights that are not 0 input by input. */
function layerOf(ops, weight, bias, { activation = "none", last = [] }) {
  const [outputs, inputs] = weight.shape, values = [...weight.values].sort(([, i], [, j]) => i - j), late = new Set(last);
  const [w, found, denominator] = ops.numbers({ ...weight, values }, bias), b = ops.zeros(outputs);
  const start = new Uint32Array(inputs + 1), to = Uint32Array.from(values, ([i]) => i);
  for (const [, j] of values) start[j + 1] += 1;
  for (let j = 0; j < inputs; j++) start[j + 1] += start[j];
  const biased = Uint32Array.from(bias.values, ([i], k) => ((b[i] = found[k]), i));
  check(last.every((j) => isIndex(j, inputs)), `"last" holds ${last}`);
  const first = Uint32Array.from(range(inputs).filter((j) => !late.has(j)));
  const relu = activation !== "none", clamp = activation === "clamp";
  return { activation, relu, clamp, denominator, start, to, w, bias: b, biased, first, last };
}

/** The rows of a layer, to be shown. Exact numbers are multiples of 1 / layer.denominator. */
export function rowsOf({ start, to, w, bias, activation }) {
  const rows = Array.from(bias, (bias) => ({ terms: [], bias, activation }));
  for (let j = 0; j + 1 < start.length; j++)
    for (let k = start[j]; k < start[j + 1]; k++) rows[to[k]].terms.push([j, w[k]]);
  return rows;
}

/** A module of the file: its layers or maps, and how it works on a state, unless it is a head. */
function moduleOf(file, ops, cells, layouts, entry) {
  const { name, kind, slices } = known(entry), own = entry.layouts.map((n) => layouts[n]);
  const widths = own.map(({ names }) => names.length), [width, after] = widths, module = { name, kind, layouts: own, entry };
  const each = (work) => ({ ...module, work: cells ? (row) => row.map((x) => ops.part(work(x), 0)) : work });
  const affine = ({ weight, bias, ...more }, inputs, outputs) =>
    layerOf(ops, tensor(file, weight, outputs, inputs), tensor(file, bias, outputs), known(more));
  check(widths.length === (kind === "linear" ? entry.layers.length : 1) + 1, `${name} has ${widths.length} layouts`);
  if (kind === "linear") {
    const layers = entry.layers.map((layer, k) => affine(layer, widths[k], widths[k + 1]));
    const rooms = layers.map(({ bias }) => ops.zeros(bias.length)); // which the next step may use again
    return { ...each((x) => layers.reduce((x, layer, k) => ops.through(layer, x, rooms[k]), x)), layers };
  }
  if (kind === "convolution") {
    const weight = tensor(file, entry.weight, after, width, null), size = weight.shape[2], reach = (size - 1) / 2;
    check(cells && size % 2, `the convolution ${name} should have an odd size and work on cells`);
    const values = weight.values.map(([i, j, d, value]) => [i, d * width + j, value]), beyond = ops.zeros(width);
    const flat = { ...weight, shape: [after, size * width], values };
    const layer = layerOf(ops, flat, tensor(file, entry.bias, after), entry);
    const window = (row, i) => ops.join(range(size).map((d) => row[i + d - reach] ?? beyond));
    return { ...module, layers: [layer], work: (row) => row.map((_, i) => ops.through(layer, window(row, i))) };
  }
  check(width === after, `${name} takes ${width} numbers and gives ${after}`);
  if (kind !== "attention") {
    const places = slices.map((slice) => own[0].slices.find(({ name }) => name === slice));
    check(places.every((slice) => slice?.size), `${name} works on slices that are not there`);
    return each((x) => places.reduce((x, { start, size }) => ops.join(
      [ops.part(x, 0, start), ops[kind](ops.part(x, start, start + size)), ops.part(x, start + size)]), x));
  }
  const query = affine(entry.query, width, null), key = affine(entry.key, width, query.bias.length);
  const value = affine(entry.value, width, null), write = affine(entry.write, value.bias.length, width);
  const vector = (name, { bias: { length } }) => // what a layer without inputs gives is its bias
    name && ops.through(layerOf(ops, { shape: [length, 0], values: [] }, tensor(file, name, length), {}), ops.zeros(0));
  const { score, mask, offset = 0, null_key, null_value, oldest } = entry, hard = ops.one === 1n; // an exponential is irrational
  const { kappa, average } = hard ? { kappa: null, average: "ratio" } : entry;
  check(!cells && score && mask && average && isIndex(offset, Infinity) && (kappa === null || kappa > 0) &&
    !null_key === !null_value && !oldest === (mask !== "window"), `the head ${name} lacks something`);
  return { ...module, query, key, value, write, nullKey: vector(null_key, key), nullValue: vector(null_value, value),
    oldest: vector(oldest, key), score, mask, offset, kappa, average };
}

/** The rows of a table of positions. */
function tableOf(file, { table, first }, width) {
  const { shape: [size], values } = tensor(file, table, null, width), rows = range(size).map(() => Array(width).fill(0));
  for (const [i, j, value] of values) rows[i][j] = value;
  check(isIndex(first, size), `its table of positions has ${size} rows, and ${first} is the first`);
  return rows;
}

/** A network, ready to run in the arithmetic of its file or in another one. */
export function read(file, arithmetic = file?.arithmetic) {
  const { turing, version, loop, machine } = file ?? {}, ops = ARITHMETICS[arithmetic];
  if (turing !== "network" || version !== 2)
    throw new FileProblem("Networks of version 2 are read here. Read any other in Python with turing.load, and save it " +
      "again with turing.save.");
  if (!ops) throw new FileProblem(`This page has float32, float64 and exact, not ${arithmetic}. Save network.float().`);
  try {
    const cells = loop && known(loop).state === "cells";
    const layouts = file.layouts.map(layoutOf), [{ names, at, slices }] = layouts;
    const modules = file.modules.map((entry) => moduleOf(file, ops, cells, layouts, entry));
    const end = modules.reduce((width, { name, layouts }) => {
      check(layouts[0].names.length === width, `${name} does not take the ${width} numbers that it is given`);
      return layouts.at(-1).names.length;
    }, names.length);
    check(!loop || (end === names.length && loop.add.every(([slice, kind]) => at[slice]?.length && (kind === "step" || POSITIONS[kind]) && !cells)), "its loop does not fit");
    const labels = Object.fromEntries(slices.map(({ name, labels }) => [name, labels]));
    return { file, arithmetic, ops, cells, layouts, modules, loop, table: loop?.table && tableOf(file, loop, names.length),
      machine: machine && { ...machine, rules: machine.delta, states: labels.st, symbols: labels.sym1 } };
  } catch (error) {
    if (error instanceof FileProblem) throw error;
    return check(false, `its parts do not fit together (${error.message})`);
  }
}

/** What leaves each layer of a network of plain layers. */
export function forward({ ops, modules }, given) {
  let x = ops.vector(given);
  return modules.flatMap(({ layers }) => layers).map((layer) => (x = ops.through(layer, x)));
}

/** A run from { column, word }, where the word is the rows that some heads see besides columns, or from { cells }. */
export class Run {
  constructor(network, { column, cells, word = [] }) {
    const { ops, modules, layouts: [{ names }] } = network, vector = (given) => {
      const x = ops.vector(given);
      if (x.length === names.length) return x;
      throw new Refusal(`A vector of ${x.length} numbers was given, and this network takes ${names.length}.`);
    };
    Object.assign(this, { network, modules, t: 0, before: word.length, state: network.cells ? cells.map(vector) : vector(column) });
    this.memory = new Map(modules.filter(({ key }) => key).map((head) => [head, { keys: [], values: [] }]));
    for (const head of this.memory.keys())
      if (["cross", "prefix", "window"].includes(head.mask)) for (const row of word) this.remember(head, vector(row));
  }

  /** One pass, and the new state. `seen` is given each module's name, what leaves it, and the shares of a head. */
  step(seen) {
    const { ops, loop, table, cells, layouts: [{ at }] } = this.network, { modules } = this;
    let x = this.state;
    for (let n = 0; n < modules.length; n++) x = this.pass(modules[n], x, seen);
    if (!cells) x = ops.part(x, 0); // a copy
    if (!loop) return x;
    this.t += 1;
    for (const [slice, kind] of loop.add) {
      const places = at[slice], [from] = places, to = from + places.length;
      if (kind === "step") places.forEach((place, k) => bitOf(this.t, k) && (x[place] += ops.unit(x)));
      else x = ops.join([ops.part(x, 0, from), ops.add(ops.part(x, from, to), ops.fractions(POSITIONS[kind](this.t))),
        ops.part(x, to)]);
    }
    if (table) {
      const row = table[loop.first + this.t];
      if (!row) throw new Refusal(`The table of positions has ${table.length} rows, and they are used up.`);
      x = ops.add(x, ops.vector(row));
    }
    return (this.state = x);
  }

  pass(module, x, seen) {
    if (module.key) return this.attend(module, x, seen);
    x = module.work(x);
    seen?.(module.name, this.network.cells ? x : this.network.ops.part(x, 0));
    return x;
  }

  /** Keep the key and the value of a column. */
  remember(head, x) {
    const { keys, values } = this.memory.get(head), { ops } = this.network;
    keys.push(ops.through(head.key, x));
    values.push(ops.through(head.value, x));
  }

  /** Add what a head finds: 0 where there is nothing to look at. The null key has the number −1. */
  attend(head, x, seen) {
    const { mask, nullKey, nullValue, oldest } = head, { ops } = this.network, { keys, values } = this.memory.get(head);
    if (mask !== "cross" && mask !== "strict") this.remember(head, x);
    const from = mask === "offset" ? this.t - head.offset : mask === "window" ? this.t : 0, to = mask === "offset" ? from + 1 : keys.length;
    const [near, what] = [keys, values].map((all) => (from < 0 ? [] : all.slice(from, to))), count = near.length;
    if (oldest) near[0] = ops.add(near[0], oldest);
    if (nullKey) near.push(nullKey), what.push(nullValue);
    const [found, shares] = near.length ? ops.average(head, ops.through(head.query, x), near, what)
      : [ops.zeros(head.value.bias.length), []];
    if (mask === "strict") this.remember(head, x);
    x = ops.add(x, ops.through(head.write, found));
    seen?.(head.name, x, shares.map((share, i) => [i < count ? from + i : -1, share]).filter(([, share]) => share));
    return x;
  }

  /** The same run once more, or as it was after t steps with that state. */
  copy(t = this.t, state = this.state) {
    const memory = new Map([...this.memory].map(([head, { keys, values }]) => {
      const n = head.mask === "cross" ? keys.length : t + (["prefix", "window"].includes(head.mask) ? this.before : 0);
      return [head, { keys: keys.slice(0, n), values: values.slice(0, n) }];
    }));
    return Object.assign(Object.create(Object.getPrototypeOf(this)), this, { t, state, memory });
  }
}
