// A WCM21 network as a program of bits: every slice is a field of words of 32 bits, and every layer is sums of columns
// of its weights. The sums of 32 rows stand side by side in a few words, their planes: plane p has bit p of each sum.
// What is written here comes from the weights and biases alone; page/fast.js runs it.

import { misfit } from "./index.js";
import { rowsOf } from "./network.js";
import { range } from "./text.js";

const WORD = 32, MAX_BITS = 30, MAX_PLANES = 12;

class Misfit extends Error {}

/** Planes that hold every sum from least to most, in two's complement if there are negative ones. */
function planesFor(least, most) {
  let planes = least < 0 ? 2 : 1;
  while (least < 0 ? least < -(2 ** (planes - 1)) || most >= 2 ** (planes - 1) : most >= 2 ** planes) planes++;
  return planes;
}

/** The planes of a column: word p has bit p of each of these integers. */
const planesOf = (numbers, planes) =>
  range(planes).map((p) => numbers.reduce((word, n, i) => word | (((n >> p) & 1) << i), 0));

/** What a network does in a step: operations on registers, in order. Register 0 is always 0. */
class Program {
  constructor({ layouts: [column], modules }) {
    Object.assign(this, { bits: column.at.pos1.length, registers: 1, ops: [], tables: [], vectors: [] });
    this.column = this.fields(column);
    let now = this.column;
    for (const [n, { name, key, layers, layouts }] of modules.entries()) {
      if (key && modules[n + 1].key) continue; // the heads are one operation
      if (key) now = this.heads(now);
      else layers.forEach((layer, k) => (now = this.layer(name, layer, layouts[k], layouts[k + 1], now)));
      this.vectors.push({ name, layout: layouts.at(-1), fields: now });
    }
    this.next = now;
  }

  /** New registers for the slices of a vector. */
  fields({ slices }) {
    return Object.fromEntries(slices.map(({ name, size }) => [name, range(Math.ceil(size / WORD)).map(() => this.registers++)]));
  }

  /** The fields that a layer gives. A slice that is a copy has the registers of what it copies. */
  layer(name, layer, before, after, given) {
    const strange = [...layer.w, ...layer.bias].find((n) => !Number.isInteger(n)), rows = rowsOf(layer), out = {};
    if (strange !== undefined) throw new Misfit(`${name} has the weight ${strange}, and the program is for integers`);
    if (layer.clamp) throw new Misfit(`${name} clamps, and the program is for ReLU`);
    this.shared = { hots: new Map(), counts: new Map(), sums: [] }; // what the sums of a layer have in common, by slice
    for (const { name: slice, start, size } of after.slices)
      out[slice] = range(Math.ceil(size / WORD)).map((k) =>
        this.sum(name, rows.slice(start + k * WORD, start + Math.min(size, (k + 1) * WORD)), k, layer.relu, before, given));
    const { hots, counts, sums } = this.shared;
    this.ops.push(...hots.values(), ...counts.values(), ...sums);
    return out;
  }

  /** The sums of a word of rows, word k of its slice; returns the register. */
  sum(name, rows, k, relu, before, given) {
    const bias = rows.map(({ bias }) => bias), least = [...bias], most = [...bias], terms = [];
    for (const { name: slice, start, size, labels } of before.slices) {
      const columns = range(size).map(() => rows.map(() => 0)); // a column for each input
      rows.forEach(({ terms }, i) => terms.forEach(([j, w]) => j >= start && j < start + size && (columns[j - start][i] = w)));
      if (columns.every((column) => column.every((w) => !w))) continue;
      const c = columns[k * WORD]?.[0], isNumber = !labels.length && size === this.bits;
      const isDiagonal = c && size >= k * WORD + rows.length &&
        columns.every((column, j) => column.every((w, i) => w === (j === k * WORD + i ? c : 0)));
      rows.forEach((_, i) => {
        const weights = columns.map((column) => column[i]), all = isNumber || isDiagonal; // or one input at most is 1
        for (const [sums, pick] of [[least, Math.min], [most, Math.max]])
          sums[i] += all ? weights.reduce((sum, w) => sum + pick(w, 0), 0) : weights.reduce((a, b) => pick(a, b), 0);
      });
      terms.push({ kind: isDiagonal ? "diagonal" : isNumber ? "count" : "hot", slice, columns, from: given[slice][k], c });
    }
    const isCopy = bias.every((b) => !b);
    if (isCopy && !terms.length) return 0;
    if (isCopy && terms.length === 1 && terms[0].kind === "diagonal" && terms[0].c === 1) return terms[0].from;

    const signed = Math.min(...least) < 0, planes = planesFor(Math.min(...least), Math.max(...most)), { shared } = this;
    if (planes > MAX_PLANES) throw new Misfit(`${name} has sums of more than ${MAX_PLANES} bits`);
    const [diagonals, counts, hots] = ["diagonal", "count", "hot"].map((kind) => terms.filter((term) => term.kind === kind));
    const op = { kind: "sum", relu, planes, signed, to: this.registers++, bias: planesOf(bias, planes), diagonals, first: null };
    for (const { slice, columns } of counts) {
      if (!shared.counts.has(slice)) shared.counts.set(slice, { kind: "count", from: given[slice][0], sums: [] });
      shared.counts.get(slice).sums.push({ op, parts: this.parts(columns) });
    }
    op.isCounted = counts.length > 0;
    const index = (slice) => {
      const none = before.at[slice].length, { hots } = shared;
      if (!hots.has(slice)) hots.set(slice, { kind: "hot", from: given[slice], none, to: this.registers++ });
      return hots.get(slice).to;
    };
    if (!op.isCounted && hots.length) { // the columns of the first one, with the bias in them
      const { slice, columns } = hots.shift(), all = [...columns, bias.map(() => 0)];
      op.first = { index: index(slice), table: this.table(all.map((column) => column.map((w, i) => w + bias[i])), planes) };
    }
    op.hots = hots.map(({ slice, columns }) => ({ index: index(slice), parts: this.parts([...columns, bias.map(() => 0)]) }));
    shared.sums.push(op);
    return op.to;
  }

  /** The number of a table with a row of planes for each column of weights. */
  table(columns, planes) {
    return this.tables.push(Int32Array.from(columns.flatMap((column) => planesOf(column, planes)))) - 1;
  }

  /** What columns add and what they take away: tables with a sign. */
  parts(columns) {
    return [1, -1].flatMap((sign) => {
      const sizes = columns.map((column) => column.map((w) => Math.max(0, sign * w)));
      const most = sizes.flat().reduce((a, b) => Math.max(a, b), 0), planes = planesFor(0, most);
      return most ? [{ sign, planes, table: this.table(sizes, planes) }] : [];
    });
  }

  /** All heads: scr1, scr2, scr3 and scr4 have what they find. */
  heads(given) {
    const found = Object.fromEntries(["scr1", "scr2", "scr3", "scr4"].map((name) => [name, given[name].map(() => this.registers++)]));
    this.ops.push({ kind: "heads", given, found });
    return { ...given, ...found };
  }
}

/** The program of a network; or, as a text, why it has none. */
export function programOf(network) {
  const why = misfit(network), { layouts: [{ at }], loop } = network;
  if (why) return why;
  if (at.pos1.length > MAX_BITS) return `${at.pos1.length} bits do not fit into a word`;
  if (JSON.stringify(loop.add) !== '[["pos1","step"]]' || loop.table) return "its loop adds more than the number of the step";
  try {
    return new Program(network);
  } catch (error) {
    if (!(error instanceof Misfit)) throw error;
    return error.message;
  }
}
