// A network as turing.save writes it, in the page: its layers, its heads, and the index that answers for them.
// There is no PyTorch here. Every number is a sum of products of the file's weights, rounded as the file's type is.

const TYPES = { float32: [Float32Array, 208], float64: [Float64Array, 1491] }; // and the least κ that is hard

/** A file is damaged, or not for this module. */
export class FileProblem extends Error {}

/** An index cannot answer for the heads: plain attention has to. */
export class Refusal extends Error {}

/** The slices of a vector, and the names of its places as turing.show prints them. */
function layoutOf(slices) {
  const layout = { slices: [], names: [], at: {} };
  for (const [name, places] of slices) {
    const labels = Array.isArray(places) ? places : [], size = labels.length || places;
    const slice = { name, start: layout.names.length, size, labels };
    layout.slices.push(slice);
    layout.at[name] = Array.from({ length: size }, (_, k) => slice.start + k);
    for (let k = 0; k < size; k++)
      layout.names.push(labels.length ? `${name}[${labels[k]}]` : size === 1 ? name : `${name}[${k}]`);
  }
  return layout;
}

/** A matrix or vector of the file, as its entries [index, …, value] that are not 0. */
function numbers(file, name, ...shape) {
  const found = file.weights?.[name];
  if (!found || (shape.length && `${found.shape}` !== `${shape}`) || !Array.isArray(found.values))
    throw new FileProblem(`This network is damaged: ${name} should have the shape [${shape.join(", ")}].`);
  for (const entry of found.values)
    if (!entry.every(Number.isFinite) || entry.length !== found.shape.length + 1)
      throw new FileProblem(`This network is damaged: ${name} holds ${JSON.stringify(entry)}.`);
  return found;
}

/** x ↦ Wx + b: the weights that are not 0, input by input, and the same as rows of [input, weight] to be shown. */
function readLayer(file, weight, bias, relu, Type) {
  const { shape: [outputs, inputs], values } = numbers(file, weight), b = new Type(outputs);
  const rows = Array.from(b, () => ({ terms: [], bias: 0, relu })), start = new Uint32Array(inputs + 1);
  for (const [i, j, value] of values) rows[i].terms.push([j, value]);
  for (const [i, value] of numbers(file, bias, outputs).values) rows[i].bias = b[i] = value;
  const entries = [...values].sort(([, one], [, other]) => one - other);
  for (const [, j] of entries) start[j + 1] += 1;
  for (let j = 0; j < inputs; j++) start[j + 1] += start[j];
  const to = Uint32Array.from(entries, ([i]) => i), w = Type.from(entries, ([, , value]) => value);
  return { rows, weight, bias: b, relu, start, to, w, out: new Type(outputs) };
}

/** What a layer makes of a vector, in the layer's own array. Inputs that are 0 are left out. */
function through({ bias, relu, start, to, w, out }, x) {
  out.set(bias);
  for (let j = 0; j < x.length; j++) {
    const value = x[j];
    if (value !== 0) for (let k = start[j], end = start[j + 1]; k < end; k++) out[to[k]] += w[k] * value;
  }
  if (relu) for (let i = 0; i < out.length; i++) if (out[i] < 0) out[i] = 0;
  return out;
}

/** Bit k of a number from 0 on. */
const bitOf = (number, k) => (number < 2 ** 31 ? (k < 31 && (number >> k) & 1) | 0 : Math.floor(number / 2 ** k) % 2);

/** A network of plain layers, spelled as a transformer is. */
function spelled(file) {
  const weights = {}, modules = file.layers.map(({ name, shape, weight, bias, relu }, k) => {
    weights[`W${k}`] = { shape, values: weight };
    weights[`b${k}`] = { shape: [shape[0]], values: bias };
    return { name, layout: k + 1, layers: [{ weight: `W${k}`, bias: `b${k}`, relu }] };
  });
  return { ...file, dtype: "float64", options: {}, weights, modules };
}

/** What leaves each layer of a network of plain layers. */
export function forward({ modules, Type }, x) {
  const vectors = [Type.from(x)];
  for (const { layers } of modules) for (const layer of layers) vectors.push(through(layer, vectors.at(-1)).slice());
  return vectors.slice(1);
}

/** A network, ready to run: its modules in order, each with layers or as a head. */
export function read(file) {
  if (Array.isArray(file?.layers)) file = spelled(file);
  if (file?.turing !== "network" || file.version !== 1 || !Array.isArray(file.modules))
    throw new FileProblem("This is no network of turing.save with layers or modules, version 1.");
  if (!(file.dtype in TYPES))
    throw new FileProblem(`Here are float32 and float64; this network is of ${file.dtype}. Save network.float().`);
  const [Type, least] = TYPES[file.dtype], layouts = file.layouts.map(layoutOf), { bits } = file.options;
  const modules = file.modules.map(({ name, layout, layers, over, kappa, average }) => {
    if (layers) return { name, layout: layouts[layout], layers: layers.map(
      ({ weight, bias, relu }) => readLayer(file, weight, bias, relu, Type)) };
    if (average !== "ratio") throw new FileProblem(`An average is a ratio here, and ${name} has ${average}.`);
    const full = `pipeline.${name}`, head = { over, kappa };
    for (const part of ["query", "key", "value", "write"])
      head[part] = readLayer(file, `${full}.${part}.weight`, `${full}.${part}.bias`, false, Type);
    for (const part of ["key", "value"]) {
      const vector = (head[`null_${part}`] = new Type(head[part].out.length));
      for (const [i, value] of numbers(file, `${full}.null_${part}`, vector.length).values) vector[i] = value;
    }
    return { name, layout: layouts[layout], head };
  });
  const network = { file, bits, Type, layout: layouts[0], modules };
  return file.machine ? { ...network, machine: machineOf(file), why: misfit(file, layouts[0], least) } : network;
}

/** States and symbols are those of the first layout, in its order. */
function machineOf({ machine, layouts }) {
  const labels = Object.fromEntries(layouts[0]), { delta, initial, halting, blank } = machine;
  return { states: labels.st, symbols: labels.sym1, rules: delta, initial, halting, blank };
}

/** For each head of WCM21: what it asks, where it looks, what it fetches and where to. Null stands for a fixed 1. */
export function lookups({ at }, bits) {
  const { pos1, pos2, pos3, sym1, sym2, scr1, scr2, scr3, scr4 } = at;
  const searches = [...Array(bits).keys()].reverse().map((j) => ({
    name: `search${j}`, over: "columns", ask: [...pos3, ...scr3.slice(j + 1), null],
    at: [...pos2, ...pos1.slice(j + 1), pos1[j]], fetch: [null], into: [scr3[j]],
  }));
  return [
    { name: "visited", over: "columns", ask: pos3, at: pos2, fetch: [null], into: [scr4[0]] },
    ...searches,
    { name: "last", over: "columns", ask: scr3, at: pos1, fetch: sym2, into: scr1 },
    { name: "initial", over: "word", ask: pos3, at: pos2, fetch: sym1, into: scr2 },
  ];
}

/** The numbers of a look-up: 2x − 1 in the query, x − ½ in the key, and a null key ½ below a match. */
export function lookupWeights(width, { over, ask, at, fetch, into }) {
  const n = ask.length, d = fetch.length, empty = over === "word" ? fetch.map((place) => [n, place, n]) : [];
  const entries = (places, value) => places.flatMap((place, i) => (place === null ? [] : [[i, place, value]]));
  return {
    null_key: { shape: [n + 1], values: n > 1 ? [[n, (n - 1) / 2]] : [] },
    null_value: { shape: [d], values: [] },
    "query.weight": { shape: [n + 1, width], values: entries(ask, 2) },
    "query.bias": { shape: [n + 1], values: [...ask.map((place, i) => [i, place === null ? 1 : -1]), [n, 1]] },
    "key.weight": { shape: [n + 1, width], values: [...entries(at, 1), ...empty] },
    "key.bias": { shape: [n + 1], values: [...at.map((_, i) => [i, -0.5]), ...(over === "word" ? [[n, -n]] : [])] },
    "value.weight": { shape: [d, width], values: entries(fetch, 1) },
    "value.bias": { shape: [d], values: fetch.flatMap((place, i) => (place === null ? [[i, 1]] : [])) },
    "write.weight": { shape: [width, d], values: into.map((place, i) => [place, i, 1]) },
    "write.bias": { shape: [width], values: [] },
  };
}

/** Why an index cannot answer for the heads; nothing if it can. */
function misfit({ options, modules, weights }, layout, least) {
  if (options.bits > 52) return `${options.bits} bits are more than a number of the page can hold`;
  const wanted = lookups(layout, options.bits), heads = modules.filter(({ over }) => over);
  const spell = (all) => all.map(({ name, over }) => name + over).join(), first = modules.indexOf(heads[0]);
  if (spell(heads) !== spell(wanted) || spell(modules.slice(first, first + heads.length)) !== spell(wanted))
    return "these are not the heads of wcm21";
  for (const [k, { name, kappa }] of heads.entries()) {
    if (kappa < least) return `κ = ${kappa} of ${name} is too small to be hard`;
    for (const [part, { values }] of Object.entries(lookupWeights(layout.names.length, wanted[k]))) {
      const full = `pipeline.${name}.${part}`, [here, there] = [weights[full].values, values].map(
        (entries) => new Map(entries.map((entry) => [entry.slice(0, -1).join(", "), entry.at(-1)])));
      for (const place of new Set([...here.keys(), ...there.keys()])) {
        const [found, fits] = [here.get(place) ?? 0, there.get(place) ?? 0];
        if (found !== fits) return `${full}[${place}] is ${found}, and a look-up has ${fits} there`;
      }
    }
  }
  return "";
}

/**
 * A run, column by column. With an index a step costs the same whenever it comes: the last visit to a cell is found
 * by its position bits, as they come out of the layers. Without one, keys and values of all columns are kept.
 */
export class Run {
  constructor(network, word, indexed = !network.why) {
    const { layout, machine, modules, Type, bits } = network, { at, names } = layout;
    const symbol = (k) => machine.symbols.indexOf(word[k] ?? machine.blank);
    Object.assign(this, { network, word, indexed, t: 0, column: new Type(names.length) });
    this.column[at.st[machine.states.indexOf(machine.initial)]] = 1;
    this.column[at.sym1[symbol(0)]] = 1;
    this.before = modules.slice(0, modules.findIndex(({ head }) => head));
    this.heads = modules.filter(({ head }) => head);
    this.behind = modules.slice(this.before.length + this.heads.length);
    this.visits = new Map(); // by position: the number of the last visit, and what was written then
    this.initial = new Map(word.map((_, cell) => [cell, symbol(cell)]));
    this.memory = new Map(this.heads.map(({ name }) => [name, { keys: [], values: [] }]));
    for (let cell = 0; !indexed && cell < word.length; cell++) {
      const row = new Type(names.length);
      row[at.sym1[symbol(cell)]] = 1;
      for (let k = 0; k < bits; k++) row[at.pos2[k]] = bitOf(cell, k);
      for (const module of this.heads) if (module.head.over === "word") this.remember(module, row);
    }
  }

  /** One step. `seen` is told each module's name, the vector that leaves it, and a head's shares. */
  step(seen) {
    let x = this.column;
    for (const module of this.before) x = this.layers(module, x, seen);
    if (this.indexed) this.lookUp(x, seen);
    else for (const module of this.heads) this.attend(module, x, seen);
    for (const module of this.behind) x = this.layers(module, x, seen);
    this.column.set(x);
    this.t += 1;
    const { pos1 } = this.network.layout.at; // β: the number of the step
    for (let k = 0; k < pos1.length; k++) this.column[pos1[k]] += bitOf(this.t, k);
  }

  layers({ name, layers }, x, seen) {
    for (const layer of layers) x = through(layer, x);
    seen?.(name, x);
    return x;
  }

  /** What all heads find, from the index. */
  lookUp(x, seen) {
    const { at } = this.network.layout, own = this.bits(x, at.pos2), asked = this.bits(x, at.pos3);
    if (this.bits(x, at.pos1) !== this.t || this.bits(x, at.scr3) !== 0)
      throw new Refusal(`At step ${this.t + 1} the step number is not where the heads look.`);
    const written = x.slice(at.sym2[0], at.sym2[0] + at.sym2.length);
    this.visits.set(own, { number: this.t, written });
    if (this.t === 0) this.first = written;
    const found = this.visits.get(asked), symbol = this.initial.get(asked);
    if (found) x[at.scr4[0]] += 1;
    seen?.("visited", x, [[found ? found.number : -1, 1]]);
    for (let j = at.scr3.length - 1; j >= 0; j--) {
      const bit = found ? bitOf(found.number, j) : 0;
      x[at.scr3[j]] += bit;
      seen?.(`search${j}`, x, [[bit ? found.number : -1, 1]]);
    }
    const there = found ? found.written : this.first;
    for (let k = 0; k < there.length; k++) x[at.scr1[k]] += there[k];
    seen?.("last", x, [[found ? found.number : 0, 1]]);
    if (symbol !== undefined) x[at.scr2[symbol]] += 1;
    seen?.("initial", x, [[symbol === undefined ? -1 : asked, 1]]);
  }

  /** The number that bits are. */
  bits(x, places) {
    let number = 0;
    for (let k = places.length - 1; k >= 0; k--) {
      const bit = x[places[k]];
      if (bit !== 0 && bit !== 1) {
        const name = this.network.layout.names[places[k]];
        throw new Refusal(`At step ${this.t + 1}, ${name} is ${bit} before the heads, and an index is for 0 and 1.`);
      }
      number = 2 * number + bit;
    }
    return number;
  }

  /** Keep the key and the value of a column. */
  remember({ name, head }, x) {
    const { keys, values } = this.memory.get(name);
    keys.push(through(head.key, x).slice());
    values.push(through(head.value, x).slice());
  }

  /** One head as it is written: scores, exp(κ(score − best)), and the average as a ratio of two sums. */
  attend(module, x, seen) {
    const { name, head } = module, { Type } = this.network;
    if (head.over === "columns") this.remember(module, x);
    const { keys, values } = this.memory.get(name), query = through(head.query, x).slice(), count = keys.length;
    const scores = new Type(count + 1);
    for (let i = 0; i <= count; i++) {
      const key = keys[i] ?? head.null_key;
      for (let k = 0; k < key.length; k++) scores[i] += query[k] * key[k];
    }
    let best = -Infinity;
    for (const score of scores) if (!(score <= best)) best = score;
    const shares = scores.map((score) => Math.exp(head.kappa * (score - best))), sums = new Type(head.value.out.length);
    let total = 0;
    for (let i = 0; i <= count; i++) {
      const value = values[i] ?? head.null_value, share = shares[i];
      if (share === 0) continue;
      total += share;
      for (let k = 0; k < sums.length; k++) sums[k] += share * value[k];
    }
    const found = through(head.write, sums.map((sum) => sum / total));
    for (let i = 0; i < x.length; i++) x[i] += found[i];
    if (!seen) return;
    const pattern = [...shares.keys()].filter((i) => shares[i]).map((i) => [i < count ? i : -1, shares[i] / total]);
    seen(name, x, pattern);
  }

  /** The same run with an index where it stands, to go on from it twice. */
  copy() {
    const { visits, column } = this;
    return Object.assign(Object.create(Run.prototype), this, { visits: new Map(visits), column: column.slice() });
  }
}
