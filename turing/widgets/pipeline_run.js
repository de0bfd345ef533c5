// A run of a WCM21 network as it was recorded: its numbers, and what they say in words.
// The module of the inspector follows in the same text.

const h = (tag, attributes = {}, ...children) => build(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) =>
  build(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
const build = (node, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
};
const code = (text) => h("code", {}, text);
const clamp = (x, low, high) => Math.max(low, Math.min(high, x));
const range = (n) => [...Array(n).keys()];
const length = (text) => [...text].length;
const shown = (symbol) => (symbol.trim() ? symbol : "␣");
const short = (name, most) => (length(name) > most ? `${[...name].slice(0, most - 1).join("")}…` : name);
const signed = (number) => `${number}`.replace("-", "−");
const digits = (x) => signed(Number(x.toPrecision(8))); // as many as tell two float32 apart
/** Things with commas and an "and" between them; a thing may be several nodes. */
const listed = (things) =>
  things.flatMap((thing, n) => [...(n ? [n < things.length - 1 ? ", " : " and "] : []), ...[thing].flat()]);

/** Every vector and every pattern of a run, from what was kept of them. */
export function replay({ slices, steps }) {
  let now = new Float64Array(slices.reduce((sum, { size }) => sum + size, 0));
  return steps.map(([changes, shares]) => ({
    vectors: changes.map((places) => {
      now = now.slice();
      for (const place of places) {
        if (Array.isArray(place)) now[place[0]] = place[1];
        else now[place < 0 ? ~place : place] = place < 0 ? 0 : 1;
      }
      return now;
    }),
    patterns: shares.map((groups) => groups.flatMap((group) => // pairs of key and weight; −1 is the null key
      Array.isArray(group) ? group.slice(1).map((key) => [key, group[0]]) : [[group, 1]])),
  }));
}

/** A run with what a reader asks of it. Row t of the picture is column t, and step t leads there. */
function readRun(record) {
  const { states, symbols, word, written, layers } = record, steps = replay(record);
  const rows = record.rows.map(([state, head]) => ({ state: states[state], head }));
  const heads = layers.filter(({ over }) => over), order = new Map(heads.map(({ name }, n) => [name, n]));
  let start = 0;
  const slices = record.slices.map((slice) => {
    const { name, size, labels } = slice;
    const places = range(size).map((k) => ({
      index: start + k,
      label: labels[k] ?? `${k}`,
      name: labels.length || size > 1 ? `${name}[${labels[k] ?? k}]` : name,
    }));
    start += size;
    return { ...slice, places, spelled: labels.length ? places : [...places].reverse() }; // bits as on paper
  });
  const visits = new Map();
  rows.forEach(({ head }, t) => visits.set(head, [...(visits.get(head) ?? []), t]));
  const before = (t, cell) => (visits.get(cell) ?? []).filter((i) => i < t);
  return {
    ...record, steps, rows, heads, slices, before,
    lo: Math.min(0, ...visits.keys()),
    hi: Math.max(0, word.length - 1, ...visits.keys()),
    after: (t, cell) => (visits.get(cell) ?? []).find((i) => i > t),
    symbol: (t, cell) => shown(symbols[written[before(t, cell).at(-1)] ?? word[cell] ?? 0]), // 0 is the blank
    pattern: (step, name) => steps[step - 1].patterns[order.get(name)],
    /** The vector that came into a layer; there is none before the first. */
    came: (step, layer) => (layer ? steps[step - 1].vectors[layer - 1] : steps[step - 2]?.vectors.at(-1)),
  };
}

/** What a slice says: the label of its 1, or the number that its bits are. */
function words({ name, labels, places }, vector, layer, cells) {
  const values = places.map(({ index }) => vector[index]), bits = values.map(Math.round);
  if (values.some((x, k) => ![0, 1].includes(bits[k]) || Math.abs(x - bits[k]) > 0.25)) return ["≈", "unclear"];
  const sign = values.every((x, k) => x === bits[k]) ? "=" : "≈";
  if (name === "scr4" && layer.wide) return ["", `carry ${sign} ${bits[0]}`]; // the adders keep it there
  if (labels.length) return [sign, listed(labels.filter((_, k) => bits[k]).map(shown)).join("") || "none"];
  const number = bits.reduce((sum, bit, k) => sum + (BigInt(bit) << BigInt(k)), 0n);
  const cell = cells.find((cell) => cell < 0 && BigInt.asUintN(bits.length, BigInt(cell)) === number);
  return [sign, `${number}${cell < 0 && /^pos[23]$/.test(name) ? `, cell ${signed(cell)}` : ""}`];
}

/** A head's pattern in words. */
function told({ over }, pattern) {
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
function story(run, t, cell) {
  const last = run.before(t, cell).at(-1), onWord = cell >= 0 && cell < run.word.length;
  if (cell !== run.rows[t].head) return bystander(run, t, cell, last, onWord);
  const symbol = code(run.symbol(t, cell)), at = signed(cell);
  if (!t) return ["The run starts here: the symbol ", symbol, ` of cell ${at} is put into column 0, and no head reads it.`];

  const looks = run.heads.filter(({ over }) => over === "columns").map(
    ({ name }) => ({ name, keys: run.pattern(t, name) }));
  const read = run.pattern(t, "last").reduce((best, pair) => (pair[1] > best[1] ? pair : best))[0];
  const stays = run.rows[t - 1].head === cell;
  const comes = `Step ${t} ${stays ? "leaves the head on" : "moves the head to"} cell ${at}`;
  if (last === undefined) return [
    `${comes}, where it has not been: the null key answers `,
    ...listed([code("visited"), "every search head", ...(onWord ? [] : [code("initial")])]),
    ...(onWord ? [". Head ", code("initial"), ` reads row ${cell} of the tape, `, symbol]
      : [". The cell is not on the word either, and ", moduleOf(run, "v"), " sets the blank flag: ", symbol]),
    ". Head ", code("last"), ` reads column ${read}, as scr3 is 0, and `, moduleOf(run, "arrange"), " drops what it finds.",
  ];
  const also = looks.filter(({ name, keys }) => name !== "last" && keys.some(([key]) => key === read)).map(
    ({ name, keys }) => [code(name), ...(keys.length > 1 ? [` (${keys.length} columns tie)`] : [])]);
  const silent = looks.some(({ keys }) => keys.some(([key]) => key === -1));
  return [
    `${comes}. It was last there in column ${last}, and step ${last + 1} wrote `, symbol,
    `: the search leaves ${last} in scr3, and head `, code("last"), ` reads column ${read}. `,
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
      : onWord ? ", a symbol of the word: no step has written here. " : ": the head has not been here. ",
    next === undefined ? "No later step of this record comes to it."
      : `Step ${next} ${found ? "comes back" : "is the first to come"} to it`,
    ...(next === undefined ? []
      : found ? [", and head ", code("last"), ` then reads column ${last}.`]
      : onWord ? [", and head ", code("initial"), ` then reads row ${cell} of the tape.`]
      : [". No head finds anything then, and ", moduleOf(run, "v"), " sets the blank flag."]),
  ];
}
const moduleOf = ({ layers }, name) => code(layers.find((layer) => layer.name === name).module);
