// What the heads of WCM21 compare, and an index that answers for them: a step then costs the same, however long the run.

import { Refusal, Run, bitOf, rowsOf } from "./network.js";

const LEAST_KAPPA = { float32: 208, float64: 1491 }; // from here on a key that misses by ½ has the weight 0

/** The heads of WCM21: what each asks, where it looks, what it fetches, and where that goes. Null is a fixed 1. */
export function lookups({ at: { pos1, pos2, pos3, sym1, sym2, scr1, scr2, scr3, scr4 } }) {
  const searches = [...pos1.keys()].reverse().map((j) => ({
    name: `search${j}`, mask: "causal", ask: [...pos3, ...scr3.slice(j + 1), null],
    at: [...pos2, ...pos1.slice(j + 1), pos1[j]], fetch: [null], into: [scr3[j]],
  }));
  return [
    { name: "visited", mask: "causal", ask: pos3, at: pos2, fetch: [null], into: [scr4[0]] },
    ...searches,
    { name: "last", mask: "causal", ask: scr3, at: pos1, fetch: sym2, into: scr1 },
    { name: "initial", mask: "cross", ask: pos3, at: pos2, fetch: sym1, into: scr2 },
  ];
}

/** The numbers of a look-up: 2x − 1 in the query, x − ½ in the key, and a null key ½ below a match. */
export function lookupWeights(width, { mask, ask, at, fetch, into }) {
  const n = ask.length, d = fetch.length, entries = (places, value) =>
    places.flatMap((place, i) => (place === null ? [] : [[i, place, value]]));
  const [symbol, none] = mask === "cross" ? [fetch.map((place) => [n, place, n]), [[n, -n]]] : [[], []]; // padding fits nothing
  return {
    null_key: { shape: [n + 1], values: n > 1 ? [[n, (n - 1) / 2]] : [] },
    null_value: { shape: [d], values: [] },
    "query.weight": { shape: [n + 1, width], values: entries(ask, 2) },
    "query.bias": { shape: [n + 1], values: [...ask.map((place, i) => [i, place === null ? 1 : -1]), [n, 1]] },
    "key.weight": { shape: [n + 1, width], values: [...entries(at, 1), ...symbol] },
    "key.bias": { shape: [n + 1], values: [...at.map((_, i) => [i, -0.5]), ...none] },
    "value.weight": { shape: [d, width], values: entries(fetch, 1) },
    "value.bias": { shape: [d], values: fetch.flatMap((place, i) => (place === null ? [[i, 1]] : [])) },
    "write.weight": { shape: [width, d], values: into.map((place, i) => [place, i, 1]) },
    "write.bias": { shape: [width], values: [] },
  };
}

/** What a head compares, as in `lookups`; or, as a text, why it is not a look-up by bits. */
export function comparison({ file, arithmetic }, { name, entry, mask, score, average, kappa, nullKey, ...maps }) {
  const [ask, at, fetch] = ["query", "key", "value"].map((map) => rowsOf(maps[map]).map(({ terms }) => terms[0]?.[0] ?? null));
  const write = rowsOf(maps.write), into = fetch.map((_, i) => write.findIndex(({ terms }) => terms[0]?.[0] === i));
  const found = { name, mask, ask: ask.slice(0, -1), at: at.slice(0, -1), fetch, into };
  if (score !== "dot" || average !== "ratio" || !nullKey) return `${name} is not a ratio of products with a null key`;
  if (kappa !== null && !(kappa >= LEAST_KAPPA[arithmetic])) return `κ = ${kappa} of ${name} is too small to be hard`;
  for (const [part, { values }] of Object.entries(lookupWeights(write.length, found))) {
    const tensor = part.split(".").reduce((names, key) => names[key], entry);
    const [here, there] = [file.weights[tensor].values, values].map(
      (entries) => new Map(entries.map((entry) => [entry.slice(0, -1).join(", "), entry.at(-1)])));
    for (const place of new Set([...here.keys(), ...there.keys()])) {
      const [number, fits] = [here.get(place) ?? 0, there.get(place) ?? 0];
      if (number !== fits) return `${tensor}[${place}] is ${number}, and a look-up has ${fits} there`;
    }
  }
  return found;
}

/** Why an index cannot answer for the heads; nothing if it can. */
export function misfit(network) {
  const { file, layouts: [layout], modules, arithmetic } = network, isHead = ({ key }) => key;
  if (file.construction !== "wcm21" || !(arithmetic in LEAST_KAPPA)) return "an index is for wcm21 in floats";
  const wanted = lookups(layout), bits = layout.at.pos1.length, first = modules.findIndex(isHead);
  if (bits > 52) return `${bits} bits are more than a number of the page can hold`;
  const heads = modules.slice(first, first + wanted.length);
  if (!heads.every(isHead) || modules.filter(isHead).length !== wanted.length) return "these are not the heads of wcm21";
  for (const [k, head] of heads.entries()) {
    const found = comparison(network, head);
    if (typeof found === "string") return found;
    if (JSON.stringify(found) !== JSON.stringify(wanted[k])) return `${head.name} does not look up what it does in wcm21`;
  }
  return "";
}

/** A run whose heads are answered from the last visit to each cell, which is found by the bits of its position. */
export class IndexedRun extends Run {
  constructor(network, start) {
    super(network, start);
    const { modules, layouts: [{ at }] } = network, heads = [...this.memory.keys()], first = modules.indexOf(heads[0]);
    this.modules = [...modules.slice(0, first), { heads }, ...modules.slice(first + heads.length)];
    this.visits = new Map(); // by position: the number of the last visit, and what was written then
    this.word = new Map(start.word.map((row, cell) =>
      [this.bits(row, at.pos2), { number: cell, symbol: at.sym1.map((place) => row[place]) }]));
  }

  pass(module, x, seen) {
    return module.heads ? this.lookUp(module.heads, x, seen) : super.pass(module, x, seen);
  }

  /** What all heads find. The search leaves the number of the last visit, bit by bit. */
  lookUp(heads, x, seen) {
    const { at } = this.network.layouts[0], own = this.bits(x, at.pos2), asked = this.bits(x, at.pos3), { t } = this;
    if (this.bits(x, at.pos1) !== t || this.bits(x, at.scr3) !== 0)
      throw new Refusal(`At step ${t + 1} the step number is not where the heads look.`);
    const now = { number: t, symbol: x.slice(at.sym2[0], at.sym2[0] + at.sym2.length) };
    this.visits.set(own, now);
    if (t === 0) this.first = now;
    const visit = this.visits.get(asked), cell = this.word.get(asked);
    let n = 0;
    const report = (found) => seen?.(heads[n++].name, x.slice(), [[found ? found.number : -1, 1]]);
    if (visit) x[at.scr4[0]] += 1;
    report(visit);
    for (let j = at.scr3.length - 1; j >= 0; j--) {
      const bit = visit ? bitOf(visit.number, j) : 0;
      x[at.scr3[j]] += bit;
      report(bit ? visit : null);
    }
    report(addSymbol(visit ?? this.first, x, at.scr1)); // without a visit scr3 is 0, the number of the first column
    report(addSymbol(cell, x, at.scr2));
    return x;
  }

  /** The number that bits are. */
  bits(x, places) {
    let number = 0;
    for (let k = places.length - 1; k >= 0; k--) {
      const bit = x[places[k]];
      if (bit !== 0 && bit !== 1) this.refuse(places[k], bit);
      number = 2 * number + bit;
    }
    return number;
  }

  refuse(place, bit) {
    const { names } = this.network.layouts[0];
    throw new Refusal(`At step ${this.t + 1}, ${names[place]} is ${bit} before the heads, and an index is for 0 and 1.`);
  }

  copy() {
    return Object.assign(super.copy(), { visits: this.visits.copy?.() ?? new Map(this.visits) });
  }
}

/** Add the symbol of what was found, if anything was. */
function addSymbol(found, x, places) {
  if (found) for (let k = 0; k < places.length; k++) x[places[k]] += found.symbol[k];
  return found;
}
