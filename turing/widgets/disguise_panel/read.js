// A disguise for the folded WCM21 network, noise on its numbers, and the reader: turing/decompiler/wcm21.py in the page.

import { range } from "../page/text.js";

const FEW = 12, GAP = 10, CLEAR = 1.5, TINY = 1e-9;

/** Why a network cannot be read. */
export class Unreadable extends Error {}

// Matrices are arrays of rows.
const zeros = (rows, columns) => range(rows).map(() => Array(columns).fill(0));
const times = (a, b) => a.map((row) => {
  const sum = Array(b[0].length).fill(0);
  row.forEach((x, k) => x && b[k].forEach((y, j) => (sum[j] += x * y)));
  return sum;
});
const transposed = (a) => a[0].map((_, j) => a.map((row) => row[j]));
const identity = (n) => range(n).map((i) => range(n).map((j) => Number(i === j)));

/** Numbers from 0 to 1, the same for the same seed. */
export function chance(seed) {
  let state = (seed * 2654435761) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
const normal = (random) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

function order(random, n) {
  const places = range(n);
  for (let i = n - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [places[i], places[j]] = [places[j], places[i]];
  }
  return places;
}

/** An order with factors: the matrix, its inverse, and which old place stands in each new one. */
function shuffled(random, n, most) {
  const places = order(random, n), factors = places.map(() => most ** (2 * random() - 1));
  const matrix = zeros(n, n), inverse = zeros(n, n);
  places.forEach((old, i) => ((matrix[i][old] = factors[i]), (inverse[old][i] = 1 / factors[i])));
  return { matrix, inverse, places };
}

/** A random rotation, by making random rows orthogonal one after the other. */
function rotated(random, n) {
  const rows = [];
  while (rows.length < n) {
    let row = range(n).map(() => normal(random));
    for (const other of [...rows, ...rows]) { // twice, since rounding adds up
      const along = row.reduce((sum, x, k) => sum + x * other[k], 0);
      row = row.map((x, k) => x - along * other[k]);
    }
    const length = Math.hypot(...row);
    rows.push(row.map((x) => x / length));
  }
  return { matrix: rows, inverse: transposed(rows) };
}

/** A tensor of a file as rows; of a vector, one row. */
function dense(file, name) {
  const { shape, values } = file.weights[name], matrix = zeros(shape.length > 1 ? shape[0] : 1, shape.at(-1));
  for (const [...entry] of values) matrix[shape.length > 1 ? entry[0] : 0][entry.at(-2)] = entry.at(-1);
  return matrix;
}

/** The tensors that the reader needs, as they were compiled. */
export function tensorsOf(file) {
  const at = (name) => dense(file, `pipeline.${name}`), vector = (name) => at(name)[0];
  return {
    detect: at("detect.weight"), detectBias: vector("detect.bias"), rule: at("carry.weight"), ruleBias: vector("carry.bias"),
    move: at("move.weight"), write: at("last.write.weight"), value: at("last.value.weight"),
    choose: at("choose.weight"), chooseBias: vector("choose.bias"), assemble: at("assemble.weight"),
  };
}

const BASES = {
  none: [(_, n) => ({ ...sameBasis(n) }), (_, n) => sameBasis(n)],
  shuffled: [(random, n) => shuffled(random, n, 1), (random, n) => shuffled(random, n, 1)],
  scaled: [(random, n) => shuffled(random, n, 3), (random, n) => shuffled(random, n, 3)],
  rotated: [(random, n) => shuffled(random, n, 1), (random, n) => rotated(random, n)],
};
const sameBasis = (n) => ({ matrix: identity(n), inverse: identity(n), places: range(n) });

/** The tensors in other bases, with noise on every number; `detectors` says which old neuron each new one is. */
export function disguised(plain, cover, sigma, seed) {
  const random = chance(seed), [relu, free] = BASES[cover];
  const first = relu(random, plain.detect.length), second = relu(random, plain.rule.length), third = relu(random, plain.choose.length);
  const column = free(random, plain.assemble.length), middle = free(random, plain.move.length), value = free(random, plain.value.length);
  const moved = (after, matrix, before) => times(times(after.matrix, matrix), before.inverse);
  const bias = (basis, vector) => times(basis.matrix, vector.map((x) => [x])).map(([x]) => x);
  const hidden = {
    detect: moved(first, plain.detect, column), detectBias: bias(first, plain.detectBias),
    rule: moved(second, plain.rule, first), ruleBias: bias(second, plain.ruleBias),
    move: moved(middle, plain.move, second), write: moved(middle, plain.write, value), value: moved(value, plain.value, middle),
    choose: moved(third, plain.choose, middle), chooseBias: bias(third, plain.chooseBias), assemble: moved(column, plain.assemble, third),
  };
  const noisy = (x) => (Array.isArray(x) ? x.map(noisy) : x + sigma * normal(random));
  const tensors = sigma ? Object.fromEntries(Object.entries(hidden).map(([name, x]) => [name, noisy(x)])) : hidden;
  return { tensors, detectors: first.places };
}

const median = (sorted) => (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
const kept = (matrix, keep) => matrix.map((row) => row.map((x) => (keep(Math.abs(x)) ? x : 0)));
const nonzero = (matrix) => matrix.flat().filter((x) => x).length;

function significant(matrix) {
  const sizes = matrix.flat().map(Math.abs).sort((a, b) => a - b), noise = median(sizes) / 0.6745;
  const least = Math.max(5 * noise, TINY * sizes.at(-1));
  return kept(matrix, (x) => x > least);
}

function cut(matrix, count) {
  const sizes = matrix.flat().map(Math.abs).sort((a, b) => b - a);
  if (!(count > 0 && count < sizes.length) || sizes[0] === 0) return matrix;
  const usual = median(sizes.slice(0, count)), few = Math.floor(count / 20);
  const between = sizes.filter((x) => x > usual / 4 && x < (usual * 3) / 4).length;
  if (Math.abs(sizes.filter((x) => x > usual / 2).length - count) <= few && between <= few) return kept(matrix, (x) => x > usual / 2);
  if (sizes[count - 1] > GAP * sizes[count]) return kept(matrix, (x) => x >= sizes[count - 1]);
  if (count < FEW) return matrix;
  const left = significant(matrix), number = nonzero(left);
  return 0.6 * count <= number && number <= 1.1 * count ? left : matrix;
}

/** The products of maps that meet. */
function productsOf(t, { states, symbols, bits }) {
  const pairs = states * symbols, ways = states + symbols + 2 + 7 * bits, move = cut(t.move, ways);
  const [write, value] = move === t.move ? [t.write, t.value] : [significant(t.write), significant(t.value)];
  const detect = cut(t.detect, 2 * pairs + 2 * bits), assemble = cut(t.assemble, states + 3 * symbols + bits + 3);
  const choose = cut(t.choose, states + 6 * symbols + bits + 3);
  return {
    meets: cut(times(detect, assemble), 3 * pairs + states + bits),
    state: cut(times(choose, move), states + symbols + 2 + 5 * bits),
    symbol: cut(times(times(choose, write), times(value, move)), symbols),
  };
}

const argsort = (values) => range(values.length).sort((a, b) => values[a] - values[b] || a - b);
const most = (values) => values.reduce((a, b) => Math.max(a, b), 0);
const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;

function linesOf(seen, states, symbols, margins) {
  const pairs = states * symbols, floor = TINY * most(seen.flat().map(Math.abs)), best = [];
  for (const j of range(seen[0].length)) {
    const column = seen.map((row) => row[j]), sorted = argsort(column.map((x) => -x));
    for (const size of new Set([states, symbols])) {
      const inside = sorted.slice(0, size).map((d) => column[d]), outside = sorted.slice(size).map((d) => Math.abs(column[d]));
      const least = Math.min(...inside), largest = Math.max(...inside), even = largest > floor ? least / largest : 0;
      const ratio = size < pairs ? least / Math.max(most(outside), floor) : (even / TINY) * Number(even > 0.5);
      if (!best[j] || ratio > best[j].ratio) best[j] = { j, ratio, line: sorted.slice(0, size).sort((a, b) => a - b) };
    }
  }
  const wanted = states + 2 * symbols + 1, ranked = best.toSorted((a, b) => b.ratio - a.ratio || a.j - b.j).slice(0, wanted);
  const least = Math.min(...ranked.map(({ ratio }) => ratio));
  if (ranked.length < wanted || least < CLEAR) throw new Unreadable("the places that feed the detectors cannot be told from the others");
  margins.push(1 - 1 / least);
  const groups = new Map();
  for (const { j, line } of ranked.toSorted((a, b) => a.j - b.j)) {
    const key = line.join(" ");
    groups.set(key, { line, columns: [...(groups.get(key)?.columns ?? []), j] });
  }
  const all = [...groups.values()].sort((a, b) => a.line[0] - b.line[0]);
  const stateLines = all.filter(({ line, columns }) => columns.length === 1 && line.length === symbols);
  const symbolLines = all.filter(({ line, columns }) => columns.length > 1 && line.length === states);
  for (const [lines, number] of [[stateLines, states], [symbolLines, symbols]])
    if (lines.length !== number || new Set(lines.flatMap(({ line }) => line)).size !== pairs)
      throw new Unreadable("the detectors do not fall into states and symbols");
  const blanks = range(symbols).filter((a) => symbolLines[a].columns.length === 3);
  if (blanks.length !== 1) throw new Unreadable("there should be one blank");
  return { stateLines, symbolLines, blank: blanks[0] };
}

function backFrom(row) {
  const [best, second] = argsort(row.map((x) => -Math.abs(x)));
  if (!row[best] || Math.abs(row[best]) < CLEAR * Math.abs(row[second] ?? 0) || row[best] < 0)
    throw new Unreadable("nothing leads clearly to a state or symbol");
  return { unit: best, gain: row[best] };
}

function chosen(values, margins) {
  const sorted = argsort(values.map((x) => -x)), ones = values[sorted[0]];
  const others = most(sorted.slice(1).map((k) => Math.abs(values[k])));
  if (ones > 0.5) {
    if (others > 0.5) throw new Unreadable("a rule leads to two states, or writes two symbols");
    margins.push(Math.min(1, 2 * ones - 1, 1 - 2 * others, Math.max(0, 3 - ones)));
    return sorted[0];
  }
  margins.push(1 - 2 * most(values.map(Math.abs)));
  if (margins.at(-1) < 0) throw new Unreadable("a detector takes away from what the rule says");
  return null;
}

/** The detectors that fire with carries, and those that fire with borrows. */
function movesOf(t, fires, alpha, taken, bits, margins) {
  const whole = 2 * bits + 1, clean = significant(t.rule), groups = [];
  const fired = clean.map((row) => fires.map((d, k) => row[d] * alpha[k]));
  const supportOf = (u) => range(fires.length).filter((d) => fired[u][d]);
  let left = range(fired.length).filter((u) => !taken.has(u) && supportOf(u).length);
  const odd = () => new Unreadable("the rows that move the head should fall into two kinds");
  while (left.length) {
    const supports = left.map((u) => supportOf(u)), keys = supports.map((s) => s.join(" "));
    const count = (key) => keys.filter((other) => other === key).length;
    const common = supports.reduce((a, b) => {
      const [one, other] = [a, b].map((s) => count(s.join(" ")));
      return other > one || (other === one && b.length > a.length) ? b : a;
    });
    const shared = (s) => s.filter((d) => common.includes(d)).length, exact = left.filter((_, k) => keys[k] === common.join(" "));
    const members = left.filter((_, k) => shared(supports[k]) > supports[k].length + common.length - 2 * shared(supports[k]));
    const usual = (u) => mean(common.map((d) => fired[u][d])), least = (u) => Math.min(...common.map((d) => fired[u][d]));
    if (members.length > whole || 2 * exact.length <= bits || exact.some((u) => least(u) <= 0)) throw odd();
    margins.push(median(exact.map((u) => least(u) / usual(u)).sort((a, b) => a - b)));
    groups.push({ support: common, level: mean(members.map((u) => t.ruleBias[u] / usual(u))) });
    left = left.filter((u) => !members.includes(u));
  }
  if (groups.length > 2 || (groups.length === 2 && groups[0].support.some((d) => groups[1].support.includes(d)))) throw odd();
  const middle = (-bits * (bits + 1)) / 2 / whole, half = (bits * (bits - 1)) / 2 / whole, ways = { right: [], back: [] };
  for (const { support, level } of groups) {
    margins.push(Math.min(1, Math.abs(level - middle) / half));
    const way = level < middle ? "right" : "back";
    if (ways[way].length) throw odd();
    ways[way] = support;
  }
  return ways;
}

/** The rules in the tensors: by number of state and symbol, with the margin; or an Unreadable. Two bits or more. */
export function readBack(t, { states, symbols, bits }) {
  const margins = [1], pairs = states * symbols, sorted = argsort(t.detectBias), fires = sorted.slice(0, pairs).sort((a, b) => a - b);
  const alpha = fires.map((d) => -t.detectBias[d]), noise = most(sorted.slice(pairs).map((d) => Math.abs(t.detectBias[d])));
  if (Math.min(...alpha) <= CLEAR * noise) throw new Unreadable("the detectors have no clearly negative bias");
  margins.push(1 - noise / Math.min(...alpha));
  const { meets, state, symbol } = productsOf(t, { states, symbols, bits });
  const seen = fires.map((d, k) => meets[d].map((x) => x / alpha[k]));
  const { stateLines, symbolLines, blank } = linesOf(seen, states, symbols, margins);
  const fired = t.rule.map((row) => fires.map((d, k) => row[d] * alpha[k]));
  const fed = (line, j) => mean(line.map((d) => seen[d][j]));
  const fromState = stateLines.map(({ columns: [j] }) => ({ j, ...backFrom(state[j]) }));
  const fromSymbol = symbolLines.map(({ line, columns }) => {
    const strength = columns.map((j) => most(symbol[j].map(Math.abs)) * fed(line, j));
    const j = columns[strength.indexOf(Math.max(...strength))];
    return { j, ...backFrom(symbol[j]) };
  });
  const taken = new Set([...fromState, ...fromSymbol].map(({ unit }) => unit));
  if (taken.size !== states + symbols) throw new Unreadable("two states, or two symbols, come from the same neuron");
  const trip = (lines, from) => lines.map(({ line }, k) => fired[from[k].unit].map((x) => fed(line, from[k].j) * from[k].gain * x));
  const leads = trip(stateLines, fromState), writes = trip(symbolLines, fromSymbol);
  const decided = fires.map((_, d) => [leads, writes].map((rows) => chosen(rows.map((row) => row[d]), margins)));
  if (decided.some(([q, a]) => (q === null) !== (a === null))) throw new Unreadable("a pair has a next state or a symbol to write, and not both");
  const { right, back } = movesOf(t, fires, alpha, taken, bits, margins);
  if ([...right, ...back].some((d) => decided[d][0] === null)) throw new Unreadable("the head moves for a pair that has no rule");
  const rules = [];
  stateLines.forEach(({ line: one }, q) => symbolLines.forEach(({ line: other }, a) => {
    const d = one.find((k) => other.includes(k)), [target, written] = decided[d];
    rules.push({ q, a, detector: fires[d], target, written, move: Number(right.includes(d)) - Number(back.includes(d)) });
  }));
  return { rules, blank, margin: Math.min(...margins) };
}
