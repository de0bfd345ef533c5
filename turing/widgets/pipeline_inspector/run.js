// A run of a WCM21 network, evaluated in the page: its numbers, and what they say in words.

import { code } from "../page/dom.js";
import { encode } from "../page/encode.js";
import { read, Run } from "../page/network.js";
import { digits, listed, range, shown, signed } from "../page/text.js";

/** All slices that a vector between modules may have, one after the other; those of a column come first. */
function slicesOf(layers, about) {
  const found = new Map();
  for (const { layout } of layers)
    for (const slice of layout.slices) if (!found.has(slice.name)) found.set(slice.name, slice);
  let start = 0;
  return [...found.values()].map(({ name, size, labels }) => {
    const places = range(size).map((k) => ({
      index: start + k,
      label: labels[k] ?? `${k}`,
      name: labels.length || size > 1 ? `${name}[${labels[k] ?? k}]` : name,
    }));
    start += size;
    // Bits stand as on paper.
    return { name, size, labels, ...about[name], places, spelled: labels.length ? places : [...places].reverse() };
  });
}

/** The modules with what there is to say of them, the slices of what leaves them and, of heads, what they look at. */
function layersOf({ layouts, modules }, about) {
  const [column, ...rest] = about;
  return [{ ...column, layout: layouts[0], over: "" }, ...rest.map((text, n) => {
    const { kind, mask, layouts } = modules[n];
    return { ...text, layout: layouts.at(-1), over: kind !== "attention" ? "" : mask === "cross" ? "tape" : "columns" };
  })].map((layer) => ({ ...layer, present: new Set(layer.layout.slices.map(({ name }) => name)) }));
}

/** Every vector and every pattern of a run. A vector has a place for each slice that any has, 0 where it has none. */
function evaluate(network, layers, slices, word, steps) {
  const places = new Map(slices.flatMap((slice) => slice.places.map(({ name, index }) => [name, index])));
  const at = layers.map(({ layout }) => layout.names.map((name) => places.get(name)));
  const spread = (x, n) => {
    const out = new Float64Array(places.size);
    x.forEach((value, i) => (out[at[n][i]] = value));
    return out;
  };
  const run = new Run(network, encode(network, word.map((symbol) => network.machine.symbols[symbol])));
  return range(steps).map(() => {
    const vectors = [spread(run.state, 0)], patterns = new Map();
    run.step((name, x, shares) => {
      if (shares) patterns.set(name, shares); // pairs of key and weight; −1 is the null key
      vectors.push(spread(x, vectors.length));
    });
    return { vectors, patterns };
  });
}

/** A run with what a reader asks of it. Row t of the picture is column t, and step t leads there. */
export function readRun(record) {
  const { word, written } = record, network = read(record.network), { states, symbols } = network.machine;
  const layers = layersOf(network, record.layers), slices = slicesOf(layers, record.slices);
  const steps = evaluate(network, layers, slices, word, record.steps);
  const rows = record.rows.map(([state, head]) => ({ state: states[state], head })), visits = new Map();
  rows.forEach(({ head }, t) => visits.set(head, [...(visits.get(head) ?? []), t]));
  const before = (t, cell) => (visits.get(cell) ?? []).filter((i) => i < t);
  return {
    end: record.end, word, symbols, steps, rows, layers, slices, before, heads: layers.filter(({ over }) => over),
    lo: Math.min(0, ...visits.keys()),
    hi: Math.max(0, word.length - 1, ...visits.keys()),
    after: (t, cell) => (visits.get(cell) ?? []).find((i) => i > t),
    symbol: (t, cell) => shown(symbols[written[before(t, cell).at(-1)] ?? word[cell] ?? 0]), // 0 is the blank
    pattern: (step, name) => steps[step - 1].patterns.get(name),
    /** The vector that came into a layer; there is none before the first. */
    came: (step, layer) => (layer ? steps[step - 1].vectors[layer - 1] : steps[step - 2]?.vectors.at(-1)),
  };
}

/** What a slice says: the label of its 1, or the number that its bits are. */
export function words({ name, labels, places }, vector, layer, cells) {
  const values = places.map(({ index }) => vector[index]), bits = values.map(Math.round);
  if (values.some((x, k) => ![0, 1].includes(bits[k]) || Math.abs(x - bits[k]) > 0.25)) return ["≈", "unclear"];
  const sign = values.every((x, k) => x === bits[k]) ? "=" : "≈";
  if (name === "scr4" && layer.present.has("add")) return ["", `carry ${sign} ${bits[0]}`]; // the adders keep it there
  if (labels.length) return [sign, listed(labels.filter((_, k) => bits[k]).map(shown)).join("") || "none"];
  const number = bits.reduce((sum, bit, k) => sum + (BigInt(bit) << BigInt(k)), 0n);
  const cell = cells.find((cell) => cell < 0 && BigInt.asUintN(bits.length, BigInt(cell)) === number);
  return [sign, `${number}${cell < 0 && /^pos[23]$/.test(name) ? `, cell ${signed(cell)}` : ""}`];
}

/** A head's pattern in words. */
export function describePattern({ over }, pattern) {
  const groups = new Map();
  for (const [key, weight] of pattern) groups.set(weight, [...(groups.get(weight) ?? []), key]);
  const [kind, of] = over === "tape" ? ["row", " of the tape"] : ["column", ""];
  const parts = [...groups].map(([weight, keys]) => {
    const found = keys.filter((key) => key >= 0), names = keys.length > found.length ? ["the null key"] : [];
    if (found.length) names.unshift(`${kind}${found.length > 1 ? "s" : ""} ${listed(found).join("")}${of}`);
    return `${digits(weight)} ${keys.length > 1 ? "each " : ""}on ${names.join(" and ")}`;
  });
  return listed(parts).join("");
}

/** Who wrote what stands on a cell in row t, and who reads it: text and code. */
export function story(run, t, cell) {
  const last = run.before(t, cell).at(-1), onWord = cell >= 0 && cell < run.word.length;
  if (cell !== run.rows[t].head) return bystander(run, t, cell, last, onWord);
  const symbol = code(run.symbol(t, cell)), at = signed(cell);
  if (!t) return ["The run starts here: the symbol ", symbol, ` of cell ${at} is put into column 0, and no attention head reads it.`];

  const looks = run.heads.filter(({ over }) => over === "columns").map(
    ({ name }) => ({ name, keys: run.pattern(t, name) }));
  const read = run.pattern(t, "last").reduce((best, pair) => (pair[1] > best[1] ? pair : best))[0];
  const stays = run.rows[t - 1].head === cell;
  const comes = `Step ${t} ${stays ? "leaves the tape head on" : "moves the tape head to"} cell ${at}`;
  if (last === undefined) return [
    `${comes}, where it has not been: the null key answers `,
    ...listed([code("visited"), "every search head", ...(onWord ? [] : [code("initial")])]),
    ...(onWord ? [". Head ", code("initial"), ` reads row ${cell} of the tape, `, symbol]
      : [". The cell is not on the word either, and ", moduleOf(run, "v", "choose"), " sets the blank flag: ", symbol]),
    ". Head ", code("last"), ` reads column ${read}, as scr3 is 0, and `, moduleOf(run, "arrange", "choose"),
    " drops what it finds.",
  ];
  const also = looks.filter(({ name, keys }) => name !== "last" && keys.some(([key]) => key === read)).map(
    ({ name, keys }) => [code(name), ...(keys.length > 1 ? [` (${keys.length} columns tie)`] : [])]);
  const silent = looks.some(({ keys }) => keys.some(([key]) => key === -1));
  return [
    `${comes}. It was last there in column ${last}, which wrote `, symbol,
    `: the search leaves ${last} in scr3, and attention head `, code("last"), ` reads column ${read}. `,
    ...(also.length ? [`Column ${read} is also read by `, ...listed(also), ". "] : []),
    ...(silent ? ["The null key answers the other search heads, and their bits are 0."] : []),
  ];
}

/** The same for a cell that is not under the head. */
function bystander(run, t, cell, last, onWord) {
  const next = run.after(t, cell), found = last !== undefined;
  return [
    `In row ${t} cell ${signed(cell)} holds `, code(run.symbol(t, cell)),
    found ? `: step ${last + 1}, which starts from column ${last}, wrote it. `
      : onWord ? ", a symbol of the word: no step has written here. " : ": the tape head has not been here. ",
    next === undefined ? "No later step of this record comes to it."
      : `Step ${next} ${found ? "comes back" : "is the first to come"} to it`,
    ...(next === undefined ? []
      : found ? [", and attention head ", code("last"), ` then reads column ${last}.`]
      : onWord ? [", and attention head ", code("initial"), ` then reads row ${cell} of the tape.`]
      : [". No attention head finds anything then, and ", moduleOf(run, "v", "choose"), " sets the blank flag."]),
  ];
}
/** The module of one of these names: an adder of lookahead has others around it. */
const moduleOf = ({ layers }, ...names) => code(layers.find(({ name }) => names.includes(name)).module);
