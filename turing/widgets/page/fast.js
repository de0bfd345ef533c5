// The program of a network, run fast: as code that is generated from its weights, or, where a page may not make code, by
// typed arrays that do the same operations. Both leave before a step that has a number other than 0 and 1.

import { encode } from "./encode.js";
import { IndexedRun } from "./index.js";
import { programOf } from "./program.js";
import { range } from "./text.js";

const MAX_WINDOW = 1 << 22; // cells
export const BATCH = 1 << 12; // steps between two looks at what came out
const SHOWN = ["st", "sym1", "sym2", "scr5", "pos2"]; // what is said of every column

// Generated code. Only numbers of the program go into it, no name of a state or symbol.

/** Lines that add `parts` to the planes of a sum, or with sign −1 take them away; a part is the name of a word, or null. */
function addition(planes, parts, sign = 1) {
  const lines = [], not = sign > 0 ? "" : "~";
  let carry = false;
  planes.forEach((plane, p) => {
    const part = parts[p], isLast = p === planes.length - 1;
    if (part && carry) {
      const on = [`y = (${not}${plane} & ${part}) | (${not}x & c);`, "c = y;"];
      lines.push(`x = ${plane} ^ ${part};`, ...(isLast ? [`${plane} = x ^ c;`] : [on[0], `${plane} = x ^ c;`, on[1]]));
    } else if (part || carry) {
      const one = part ?? "c", sum = `${plane} ^= ${one};`;
      lines.push(...(isLast ? [sum] : [`y = ${not}${plane} & ${one};`, sum, "c = y;"]));
      carry = true;
    }
  });
  return lines.join(" ");
}

/** The text of a function that makes steps with a program. */
export function codeOf(program, { mask }) {
  const { ops, registers, tables, column, next } = program, sums = ops.filter(({ isCounted }) => isCounted);
  const v = (n) => (n ? `v${n}` : "0"), plane = (op, kind = "s") => range(op.planes).map((p) => `${kind}${op.to}_${p}`);
  const rowOf = ({ planes, table }, index) => range(planes).map((p) => `t${table}[${planes} * ${index} + ${p}]`);
  const added = (op, kind, parts, index, sign = 1) => parts.map(
    (part) => addition(plane(op, kind), rowOf(part, index), sign * part.sign)).join(" ");
  const write = {
    hot: ({ from, none, to }) => from.length === 1
      ? `bad |= ${v(from[0])} & (${v(from[0])} - 1); ${v(to)} = ${v(from[0])} ? 31 - Math.clz32(${v(from[0])}) : ${none};`
      : `${v(to)} = ${none}; ` + from.map((word, k) => `if (${v(word)}) { bad |= (${v(word)} & (${v(word)} - 1)) | ` +
        `(${v(to)} !== ${none}); ${v(to)} = ${32 * k + 31} - Math.clz32(${v(word)}); }`).join(" "),
    count: ({ from, sums }, n) => {
      const change = (sign) => sums.map(({ op, parts }) => added(op, "a", parts, "i", sign)).join("\n");
      return `z = ${v(from)} ^ old${n}; old${n} = ${v(from)};
while (z) { i = 31 - Math.clz32(z); z ^= 1 << i; if (${v(from)} >>> i & 1) { ${change(1)} } else { ${change(-1)} } }`;
    },
    sum: (op) => {
      const { planes, relu, signed, to, bias, first, hots, diagonals, isCounted } = op, own = plane(op), sign = own.at(-1);
      const row = first && rowOf({ planes, table: first.table }, v(first.index));
      const start = own.map((name, p) => `${name} = ${isCounted ? `a${to}_${p}` : first ? row[p] : bias[p]};`);
      const lines = [...start, ...hots.map(({ index, parts }) => added(op, "s", parts, v(index)))];
      for (const { from, c } of diagonals) lines.push(addition(own, range(32 - Math.clz32(Math.abs(c))).map(
        (p) => ((Math.abs(c) >> p) & 1 ? v(from) : null)), Math.sign(c)));
      const high = own.slice(1, signed && relu ? -1 : undefined).join(" | "), keep = signed && relu ? ` & ~${sign}` : "";
      return [...lines, ...(high ? [`bad |= (${high})${keep};`] : []), `${v(to)} = ${own[0]}${keep};`].join(" ");
    },
    heads: ({ given, found }) => {
      const [pos1, pos2, pos3, scr3, scr4] = ["pos1", "pos2", "pos3", "scr3", "scr4"].map((name) => v(given[name][0]));
      const { length } = given.sym2, shift = 32 - program.bits, each = (name, line) => given[name].map(line).join(" ");
      const at = (index, k) => (length > 1 ? `${length} * ${index} + ${k}` : index);
      const fetch = (name) => (word, k) => `bad |= ${v(word)} & x; ${v(found[name][k])} = ${v(word)} | x;`;
      return `if (bad || ${pos1} !== t || ${scr3}) break;
i = (${pos2} << ${shift} >> ${shift}) + zero; j = (${pos3} << ${shift} >> ${shift}) + zero;
if (i < 0 || i >= size || j < 0 || j >= size) break;
last[i] = t; ${each("sym2", (word, k) => `written[${at("i", k)}] = ${v(word)}; if (t === 0) first[${k}] = ${v(word)};`)}
m = last[j]; y = m >= 0 ? 1 : 0;
bad |= ${scr4} & y; ${v(found.scr4[0])} = ${scr4} | y; ${v(found.scr3[0])} = y ? m : 0;
${each("scr1", (word, k) => `x = y ? written[${at("j", k)}] : first[${k}]; ${fetch("scr1")(word, k)}`)}
${each("scr2", (word, k) => `x = word[${at("j", k)}]; ${fetch("scr2")(word, k)}`)}`;
    },
  };
  const all = Object.keys(column), names = range(registers).slice(1).map((n) => `v${n} = r[${n}]`);
  const planes = ops.filter(({ kind }) => kind === "sum").flatMap((op) => [...plane(op).map((name) => `${name} = 0`),
    ...(op.isCounted ? plane(op, "a").map((name, p) => `${name} = ${op.bias[p]}`) : [])]);
  const olds = ops.flatMap(({ kind }, n) => (kind === "count" ? [`old${n} = 0`] : []));
  return `"use strict";
const ${tables.map((_, n) => `t${n} = tables[${n}]`).join(", ") || "none = 0"};
let ${[...names, ...planes, ...olds].join(", ")};
let x = 0, y = 0, z = 0, c = 0, i = 0, j = 0, m = 0, k = 0, bad = 0;
for (const end = t + n; t < end; t++) {
bad = 0;
${ops.map((op, n) => write[op.kind](op, n)).join("\n")}
y = (t + 1) & ${mask};
if (bad || ${v(next.pos1[0])} & y) break;
${all.flatMap((name) => next[name].map((word, k) => `const n${column[name][k]} = ${v(word)}${name === "pos1" ? " | y" : ""};`)).join(" ")}
${all.flatMap((name) => column[name].map((word) => `v${word} = n${word};`)).join(" ")}
${SHOWN.flatMap((name) => column[name].map((word) => `out[k++] = v${word};`)).join(" ")}
}
${range(registers).slice(1).map((n) => `r[${n}] = v${n};`).join(" ")}
return t;`;
}
const GIVEN = ["tables", "r", "last", "written", "word", "first", "zero", "size", "t", "n", "out"];

// The same by typed arrays.

/** Add a row of a table to the planes of a sum, or take it away, as far as there is something to carry. */
function addRow(sum, from, planes, table, at, n, sign) {
  for (let p = 0, c = 0; p < planes; p++) {
    const a = sum[from + p], b = p < n ? table[at + p] : 0, x = a ^ b;
    if (p >= n && c === 0) return;
    sum[from + p] = x ^ c;
    c = sign > 0 ? (a & b) | (x & c) : (~a & b) | (~x & c);
  }
}

/** A function as the generated one, without code of its own. */
function interpreterOf(program, { mask }) {
  const { ops, column, next, bits } = program, shift = 32 - bits, single = new Int32Array(32);
  const word = (registers) => registers[0];
  const shown = SHOWN.flatMap((name) => column[name]), all = Object.keys(column), to = all.flatMap((name) => column[name]);
  const from = all.flatMap((name) => next[name]), fresh = new Int32Array(to.length), pos1 = to.indexOf(word(column.pos1));
  let size = 0;
  for (const op of ops.filter(({ kind }) => kind === "sum")) {
    op.at = size; // of its planes
    size += op.planes;
    op.sums = op.isCounted ? size : op.at; // of the sum that is made of them
    size += op.isCounted ? op.planes : 0;
  }
  const s = new Int32Array(size), old = new Int32Array(ops.length);
  function add(tables, { planes }, at, parts, index, sign) {
    for (let k = 0; k < parts.length; k++) {
      const part = parts[k];
      addRow(s, at, planes, tables[part.table], part.planes * index, part.planes, part.sign * sign);
    }
  }
  return (tables, r, last, written, words, first, zero, width, t, n, out) => {
    old.fill(0);
    for (const op of ops) if (op.isCounted) s.set(op.bias, op.at);
    let k = 0;
    steps: for (const end = t + n; t < end; t++) {
      let bad = 0;
      for (let o = 0; o < ops.length; o++) {
        const op = ops[o];
        if (op.kind === "hot") {
          let found = op.none;
          for (let w = 0; w < op.from.length; w++) {
            const x = r[op.from[w]];
            if (!x) continue;
            bad |= x & (x - 1);
            if (found !== op.none) bad = 1;
            found = 32 * w + 31 - Math.clz32(x);
          }
          r[op.to] = found;
        } else if (op.kind === "count") {
          const x = r[op.from];
          for (let z = x ^ old[o]; z; ) {
            const i = 31 - Math.clz32(z);
            z ^= 1 << i;
            const sign = (x >>> i) & 1 ? 1 : -1;
            for (let k = 0; k < op.sums.length; k++) add(tables, op.sums[k].op, op.sums[k].op.at, op.sums[k].parts, i, sign);
          }
          old[o] = x;
        } else if (op.kind === "sum") {
          const { planes, relu, signed, first: base, sums: at } = op;
          const row = base ? tables[base.table] : op.bias, from = base ? planes * r[base.index] : 0;
          for (let p = 0; p < planes; p++) s[at + p] = op.isCounted ? s[op.at + p] : row[from + p];
          for (let k = 0; k < op.hots.length; k++) add(tables, op, at, op.hots[k].parts, r[op.hots[k].index], 1);
          for (let k = 0; k < op.diagonals.length; k++) {
            const { from, c } = op.diagonals[k], size = Math.abs(c), n = 32 - Math.clz32(size);
            for (let p = 0; p < n; p++) single[p] = (size >> p) & 1 ? r[from] : 0;
            addRow(s, at, planes, single, 0, n, c);
          }
          const isCut = signed && relu, keep = isCut ? ~s[at + planes - 1] : -1;
          for (let p = 1; p < planes - (isCut ? 1 : 0); p++) bad |= s[at + p] & keep;
          r[op.to] = s[at] & keep;
        } else {
          const { given, found } = op;
          if (bad || r[word(given.pos1)] !== t || r[word(given.scr3)]) break steps;
          const i = ((r[word(given.pos2)] << shift) >> shift) + zero, j = ((r[word(given.pos3)] << shift) >> shift) + zero;
          if (i < 0 || i >= width || j < 0 || j >= width) break steps;
          const { length } = given.sym2;
          last[i] = t;
          for (let w = 0; w < length; w++) {
            written[length * i + w] = r[given.sym2[w]];
            if (t === 0) first[w] = r[given.sym2[w]];
          }
          const m = last[j], visited = m >= 0 ? 1 : 0;
          bad |= r[word(given.scr4)] & visited;
          r[word(found.scr4)] = r[word(given.scr4)] | visited;
          r[word(found.scr3)] = visited ? m : 0;
          for (let w = 0; w < length; w++) {
            const wrote = visited ? written[length * j + w] : first[w], stood = words[length * j + w];
            bad |= (r[given.scr1[w]] & wrote) | (r[given.scr2[w]] & stood);
            r[found.scr1[w]] = r[given.scr1[w]] | wrote;
            r[found.scr2[w]] = r[given.scr2[w]] | stood;
          }
        }
      }
      const now = (t + 1) & mask;
      if (bad || r[word(next.pos1)] & now) break;
      for (let w = 0; w < to.length; w++) fresh[w] = r[from[w]];
      fresh[pos1] |= now;
      for (let w = 0; w < to.length; w++) r[to[w]] = fresh[w];
      for (let w = 0; w < shown.length; w++) out[k++] = r[shown[w]];
    }
    return t;
  };
}

/** A network that can be run fast, and how; or, as a text, why it cannot. */
export function fastOf(network) {
  const program = programOf(network);
  if (typeof program === "string") return program;
  const how = { mask: 2 ** program.bits - 1 };
  try {
    return { network, program, engine: "generated", steps: new Function(...GIVEN, codeOf(program, how)) };
  } catch (error) {
    if (!(error instanceof EvalError)) throw error; // a content policy says no
    return { network, program, engine: "arrays", steps: interpreterOf(program, how) };
  }
}

/** The bits of a vector as fields of words. */
const wordsOf = (places, x) => range(Math.ceil(places.length / 32)).map((k) =>
  places.slice(32 * k, 32 * k + 32).reduce((word, place, i) => word | (x[place] << i), 0));

/** The number of the only 1, −1 if there is none, −2 if there are several. */
export function oneOf(words, at, n) {
  let found = -1;
  for (let k = 0; k < n; k++) {
    const x = words[at + k];
    if (!x) continue;
    if (found !== -1 || x & (x - 1)) return -2;
    found = 32 * k + 31 - Math.clz32(x);
  }
  return found;
}

/** The visits of a run that went on from a fast one: what is not here is in its index. */
class Visits extends Map {
  constructor(before, entries) {
    super(entries);
    this.before = before;
  }

  get(position) {
    return super.get(position) ?? this.before(position);
  }

  copy() {
    return new Visits(this.before, this);
  }
}

/** A run of a program, with an index of the cells in a window of the tape. */
export class FastRun {
  constructor(fast, word) {
    const { network, program } = fast, { column, word: rows } = encode(network, word), { at } = network.layouts[0];
    Object.assign(this, { fast, program, t: 0, word, n: program.column.sym2.length });
    this.r = new Int32Array(program.registers);
    this.first = new Int32Array(this.n); // what column 0 has in sym2 before the heads
    this.put(Object.keys(program.column).flatMap((name) => wordsOf(at[name], column)));
    this.open(-512, 512 + word.length);
    rows.forEach((row, cell) => this.words.set(wordsOf(at.sym1, row), this.n * (cell + this.zero)));
    this.width = SHOWN.reduce((sum, name) => sum + program.column[name].length, 0);
    this.out = new Int32Array(BATCH * this.width);
  }

  /** The fields of the column, in their order. */
  put(fields) {
    Object.values(this.program.column).flat().forEach((register, k) => (this.r[register] = fields[k]));
  }

  /** The index for cells from lo to hi − 1, with what is known of them. */
  open(lo, hi, { zero = 0, size = 0, last, written, words } = this) {
    const { n } = this, by = -lo - zero, from = Math.max(0, -by), to = Math.min(size, hi - lo - by);
    Object.assign(this, { zero: -lo, size: hi - lo, last: new Int32Array(hi - lo).fill(-1) });
    Object.assign(this, { written: new Int32Array(n * (hi - lo)), words: new Int32Array(n * (hi - lo)) });
    if (!last) return this;
    this.last.set(last.subarray(from, to), from + by);
    this.written.set(written.subarray(n * from, n * to), n * (from + by));
    this.words.set(words.subarray(n * from, n * to), n * (from + by));
    return this;
  }

  /** Up to so many steps; how many were made. Less than one only if the next step is none for a program. */
  steps(n) {
    const { fast, program, r, out } = this, began = this.t;
    if (n === 1) this.before = r.slice();
    while (this.t - began < Math.min(n, BATCH)) {
      const { last, written, words, first, zero, size, t } = this, left = Math.min(n, BATCH) - (t - began);
      const room = t === began ? out : out.subarray((t - began) * this.width);
      this.t = fast.steps(program.tables, r, last, written, words, first, zero, size, t, left, room);
      if (this.t - t < left && !this.grow()) break;
    }
    return this.t - began;
  }

  /** A larger window if the head is about to leave this one; whether that helps. */
  grow() {
    const { program: { ops, bits }, r, zero, size } = this, { given } = ops.find(({ kind }) => kind === "heads");
    const shift = 32 - bits, cells = [given.pos2, given.pos3].map(([word]) => (r[word] << shift) >> shift);
    const lo = Math.min(...cells), hi = Math.max(...cells);
    if (lo >= -zero && hi < size - zero) return false;
    if (size > MAX_WINDOW || lo < -zero - size || hi >= 2 * size - zero) return false;
    this.open(lo < -zero ? -zero - size : -zero, hi >= size - zero ? 2 * size - zero : size - zero);
    return true;
  }

  /** What steps(…) left of each column: a field for each of SHOWN. */
  get sizes() {
    return SHOWN.map((name) => this.program.column[name].length);
  }

  /** The numbers of a vector from its fields. */
  spread({ slices, names }, fields, wordOf = (register) => this.r[register]) {
    const x = new Float32Array(names.length);
    for (const { name, start, size } of slices)
      for (let k = 0; k < size; k++) x[start + k] = (wordOf(fields[name][k >> 5]) >>> (k & 31)) & 1;
    return x;
  }

  get column() {
    return this.spread(this.fast.network.layouts[0], this.program.column);
  }

  /** What left each layer, and the heads, in the last step; it was made by steps(1). A copy is still in the column before. */
  vectors() {
    const { program: { vectors, column }, r, before } = this, old = new Set(Object.values(column).flat());
    return vectors.map(({ name, layout, fields }) =>
      [name, this.spread(layout, fields, (register) => (old.has(register) ? before : r)[register])]);
  }

  /** The cells of the index that the run or the word has used. */
  get used() {
    const { last, zero, size, word } = this;
    let lo = 0, hi = size - 1;
    while (lo < zero && last[lo] < 0) lo++;
    while (hi > zero + word.length && last[hi] < 0) hi--;
    return [lo - zero, hi - zero];
  }

  /** A place to which the run can come back. */
  frame() {
    const [lo, hi] = this.used, { t, first, zero, size, last, written, words, n } = this;
    const part = (array, n) => array.slice(n * (lo + zero), n * (hi + 1 + zero));
    const fields = Object.values(this.program.column).flat().map((register) => this.r[register]);
    return { t, fields, first: first.slice(), zero: -lo, size: hi + 1 - lo, last: part(last, 1), written: part(written, n), words: part(words, n) };
  }

  /** The run as it was at a frame, on its own. */
  static at(fast, word, frame) {
    const run = new FastRun(fast, []), { t, fields, first, zero, size } = frame;
    Object.assign(run, { t, word, first: first.slice() });
    run.put(fields);
    return run.open(-zero - 256, size - zero + 256, frame);
  }

  /** The symbol of each used cell, and the first of these cells. */
  tape() {
    const [lo, hi] = this.used, { zero, last, written, words, n } = this;
    const symbols = new Uint16Array(hi - lo + 1);
    for (let k = 0, at = lo + zero; k < symbols.length; k++, at++)
      symbols[k] = Math.max(0, oneOf(last[at] < 0 ? words : written, n * at, n));
    return { lo, symbols };
  }

  /** The same run for the evaluator that goes on where a program may not. It looks into the index, which stays as it is. */
  indexed() {
    const { fast: { network }, program: { bits }, word, t, zero, size, last, written, n } = this, shift = 32 - bits;
    const run = new IndexedRun(network, encode(network, word)), { at: { sym2 } } = network.layouts[0];
    const symbol = (words, at) => Float32Array.from(sym2, (_, k) => (words[at + (k >> 5)] >>> (k & 31)) & 1);
    const before = (position) => {
      const at = ((position << shift) >> shift) + zero, isVisited = at >= 0 && at < size && last[at] >= 0 && last[at] < t;
      return isVisited ? { number: last[at], symbol: symbol(written, n * at) } : undefined;
    };
    const first = t ? { number: 0, symbol: symbol(this.first, 0) } : undefined;
    return Object.assign(run, { t, state: network.ops.vector(this.column), visits: new Visits(before), first });
  }
}
