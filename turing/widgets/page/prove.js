// turing.prove in the page: the obligations of turing.proof.wcm21, on all columns at once, for a network file with
// either adder; and a bounded search for a word where they fail.

import { Diagrams, TooLarge } from "./diagrams.js";
import { encode } from "./encode.js";
import { affine, exact, greatest, Precision, score, Sum, Undecided } from "./forms.js";
import { Interpreter } from "./machine.js";
import { bitOf, FileProblem, read, Refusal, rowsOf, Run } from "./network.js";
import { range } from "./text.js";

const SPECIFIED = ["st", "sym1", "pos1", "pos2"]; // what the invariant says exactly
const CLEAR = 0.25; // how far from 0 and 1 a number may be that is read as one of them
const MAX_ROUNDS = 6; // until the values that steps leave in the other places stay the same
const BIT = [0, 1], NONE = Symbol("nothing found");
const ROUNDS_TO_0 = { float32: -150 * Math.LN2, float64: -1075 * Math.LN2 }; // exponents from which exp does
const STEPS = 40, WORDS = 120, LONGEST = 12; // of the search

/** An obligation does not hold: which one, and for which columns, as pairs of a name and a value. */
class Failed extends Error {
  constructor(obligation, columns) {
    super(obligation);
    this.columns = columns;
  }
}

const g = (x) => `${Number(x.toPrecision(6))}`;
const uncovered = (what) => new Undecided(what, false);

const relu = (x) => (x > 0 ? x : 0);
const ACTIVATIONS = { none: null, relu, clamp: (x) => (x > 1 ? 1 : relu(x)) };
const both = (one, other) => [one, other];
const xor = (bit, carry) => Number(bit !== carry);
const and = (one, other) => one && other;
const andNot = (one, other) => Number(one && !other);
const or = (one, other) => one || other;
const choose = (first, [last, word]) => (first ? last : word);
const cared = (meant, cares) => (cares ? meant : null);
const differs = (meant, found) => Number(meant !== null && found !== meant);
const unlike = (meant, found) => Number(meant !== null && !(Math.abs(found - meant) <= CLEAR));
const unclear = (x) => !(Math.min(Math.abs(x), Math.abs(x - 1)) <= CLEAR);

/** Layers on diagrams in place of numbers; raises where floats may round. What no later layer reads is left out. */
function through(d, layers, column, precision) {
  const wanted = readBy(layers);
  layers.forEach(({ rows, name, names }, n) => {
    const before = column;
    column = rows.map(({ terms, bias, activation }, i) => {
      if (!wanted[n + 1].has(i)) return d.zero;
      const single = terms.length === 1 && terms[0][1] === 1 && bias === 0;
      const total = single ? before[terms[0][0]]
        : row(d, terms.map(([j, weight]) => [weight, before[j]]), bias, precision, `${name}, row ${names[i]},`);
      return ACTIVATIONS[activation] ? d.map(ACTIVATIONS[activation], total) : total;
    });
  });
  return column;
}

const factors = new Map(), sizes = new Map();
const kept = (map, weight, make) => (map.has(weight) || map.set(weight, make), map.get(weight));
const times = (weight) => kept(factors, weight, (x) => weight * x);
const sizeOf = (weight) => kept(sizes, weight, (x) => Math.abs(weight * x));

/** A row of a layer as one diagram. */
function row(d, terms, bias, precision, where) {
  const values = terms.map(([weight, node]) => [weight, [...d.leaves(node)]]), numbers = [[1, [bias]], ...values];
  let bound = values.reduce((sum, [weight, all]) => sum + Math.max(...all.map(sizeOf(weight))), Math.abs(bias));
  if (precision.bitsFor(numbers, bound) > precision.bits) // not all of these occur together
    bound = Math.max(...d.leaves(d.sum([d.leaf(Math.abs(bias)), ...terms.map(([weight, node]) => d.map(sizeOf(weight), node))])));
  precision.check(numbers, bound, where);
  return d.sum([...terms.map(([weight, node]) => (weight === 1 ? node : d.map(times(weight), node))), d.leaf(bias)]);
}

/** The places that are read of the input and of each layer's output; of the last one, all. */
function readBy(layers) {
  const wanted = [new Set(layers.at(-1).rows.keys())];
  for (const { rows } of [...layers].reverse())
    wanted.unshift(new Set([...wanted[0]].flatMap((i) => rows[i].terms.map(([j]) => j))));
  return wanted;
}

/** A column between the heads: its places as sums, and by variable how many values it has and what they should be. */
class Column {
  constructor(places, domains) {
    Object.assign(this, { places, domains, sizes: new Map([...domains].map(([name, values]) => [name, values.length])) });
  }

  /** With a further variable, of which each place gets a function added. */
  with(name, added, meant) {
    const places = this.places.map((place, i) => (added[i].some(Boolean)
      ? new Sum(place.constant, [...place.tables, [name, added[i]]]) : place));
    return new Column(places, new Map([...this.domains, [name, meant]]));
  }
}

/** One pass on all columns that satisfy the invariant, part by part. */
class Step {
  constructor(network) {
    const { file, machine, layouts: [layout], modules, loop, table } = network, { states, symbols, rules, halting } = machine ?? {};
    if (file.construction !== "wcm21" || !rules) throw uncovered(`no invariant of ${file.construction} is known in the page`);
    const wanted = { st: states, sym1: symbols, sym2: symbols, pos1: [], pos2: [], pos3: [], scr1: symbols, scr2: symbols, scr3: [],
      scr4: ["visited", "word", "blank"], scr5: ["R", "L"] }, bits = layout.at.pos1?.length;
    const fits = ({ name, size, labels }) => `${labels}` === `${wanted[name]}` && (labels.length || size === bits);
    if (`${layout.slices.map(({ name }) => name)}` !== `${Object.keys(wanted)}` || !layout.slices.every(fits))
      throw uncovered("the slices of a column are not those of WCM21");
    const good = rules.every(([q, a, p, b, move]) => states.includes(q) && symbols.includes(a) && states.includes(p) &&
      symbols.includes(b) && [-1, 0, 1].includes(move)) &&
      new Set(rules.map(([q, a]) => JSON.stringify([q, a]))).size === rules.length;
    if (!good || symbols[0] !== machine.blank || !states.includes(machine.initial) || new Set(states).size < states.length ||
      new Set(symbols).size < symbols.length || halting.some((q) => !states.includes(q)))
      throw uncovered("its rules do not fit its states and symbols");
    if (table || loop?.state !== "column" || JSON.stringify(loop.add) !== '[["pos1","step"]]')
      throw uncovered("the loop around the network is another one");
    const precision = new Precision(network.arithmetic), going = states.filter((q) => !halting.includes(q));
    const pairs = going.flatMap((q) => symbols.map((a) => [q, a]));
    const delta = pairs.map(([q, a]) => rules.find(([p, b]) => p === q && b === a) ?? null);
    const places = layout.slices.flatMap(({ name, size, labels }) =>
      range(size).map((k) => ({ slice: name, k, label: labels[k] })));
    Object.assign(this, { layout, places, machine, precision, arithmetic: network.arithmetic });
    Object.assign(this, { bits, going, pairs, delta, margins: {} });
    this.steps = file.options.T ?? 2 ** bits;
    if (!(this.steps <= 2 ** bits)) throw uncovered(`T = ${this.steps} steps cannot be numbered with ${bits} bits`);
    this.takeParts(modules);
  }

  /** The layers before the heads, the heads by name, and the layers after them. */
  takeParts(modules) {
    const names = ["visited", ...range(this.bits).reverse().map((j) => `search${j}`), "last", "initial"];
    const isHead = modules.map(({ kind }) => kind === "attention");
    const first = isHead.indexOf(true), end = isHead.lastIndexOf(true) + 1, heads = modules.slice(first, end);
    if (`${heads.map(({ name }) => name)}` !== `${names}`) throw uncovered(`the heads are not ${names.join(", ")}`);
    for (const { name, score, mask, nullKey, average } of heads) {
      if (score !== "dot" || mask !== (name === "initial" ? "cross" : "causal") || !nullKey)
        throw uncovered(`${name} is not a look-up with a null key: its score is ${score}, its mask ${mask}`);
      if (average !== "ratio") throw uncovered(`${name} averages as average='${average}', which rounds where columns tie`);
    }
    const layersOf = (group) => group.flatMap(({ name, kind, layers, layouts }) => {
      if (kind !== "linear") throw uncovered(`${name} is of the kind ${kind}, where a linear layer is expected`);
      return layers.map((layer, k) => ({ name, rows: rowsOf(layer), names: layouts[k + 1].names }));
    });
    Object.assign(this, { before: layersOf(modules.slice(0, first)), heads, after: layersOf(modules.slice(end)) });
    if (!this.before.length || !this.after.length) throw uncovered("there are no layers before the heads or after them");
    const maps = ["query", "key", "value", "write"];
    for (const head of heads) head.rows = Object.fromEntries(maps.map((map) => [map, rowsOf(head[map])]));
  }

  check() {
    const { names } = this.layout, free = names.filter((_, i) => !SPECIFIED.includes(this.places[i].slice));
    const [needed] = readBy(this.before), readNames = new Set(free.filter((name) => needed.has(names.indexOf(name))));
    let values = new Map(free.map((name) => [name, [0]])); // of the first column
    for (let round = 0; round < MAX_ROUNDS; round++) {
      this.at = "before the heads";
      let column = this.decided(values, readNames);
      for (const head of this.heads) {
        this.at = head.name;
        column = this.lookedUp(head, column);
      }
      this.at = "after the heads";
      const left = this.next(column);
      const sorted = (numbers) => [...new Set(numbers)].sort((a, b) => a - b);
      const grown = new Map(free.map((name) => [name, sorted([...values.get(name), ...left.get(name)])]));
      if ([...readNames].every((name) => grown.get(name).length === values.get(name).length)) return;
      values = grown;
    }
    throw new Undecided("the numbers that steps leave in unused places do not settle");
  }

  /** The column before the heads. */
  decided(values, readNames) {
    const { layout: { names, at }, places, machine: { symbols }, going, pairs, bits } = this, each = range(bits);
    const d = new Diagrams([["state", going.length], ["symbol", symbols.length],
      ...["pos2", "pos1"].flatMap((name) => each.map((k) => [`${name}[${k}]`, 2])),
      ...[...readNames].sort().map((name) => [name, values.get(name).length])]);
    const [cell, step] = ["pos2", "pos1"].map((name) => each.map((k) => d.variable(`${name}[${k}]`, BIT)));
    const given = {
      st: ({ label }) => d.variable("state", going.map((q) => Number(q === label))), pos1: ({ k }) => step[k],
      sym1: ({ label }) => d.variable("symbol", symbols.map((a) => Number(a === label))), pos2: ({ k }) => cell[k],
    };
    const column = places.map((place, i) => given[place.slice]?.(place) ??
      (readNames.has(names[i]) ? d.variable(names[i], values.get(names[i])) : d.zero));
    const found = through(d, this.before, column, this.precision), meant = new Map();
    if (found.length !== names.length)
      throw new Undecided(`the heads get ${found.length} places, and a column has ${names.length}`);
    for (const [name, nodes] of [["pos1", step], ["pos2", cell], ["pos3", this.moved(d, cell)]])
      at[name].forEach((place, k) => meant.set(place, nodes[k]));
    const domains = new Map([["rule", [...pairs.keys()]]]);
    const sums = found.map((node, i) => {
      const { slice, k } = places[i], support = d.support(node);
      let name, all;
      if (meant.has(i)) {
        name = `${slice}[${k}]`;
        all = [...d.leaves(d.apply(both, meant.get(i), node))].sort(([a, b], [c, e]) => a - c || b - e);
      } else if ([...support].every((variable) => variable === "state" || variable === "symbol")) {
        const table = pairs.map(([q, a]) => d.value(node, new Map([["state", going.indexOf(q)], ["symbol", symbols.indexOf(a)]])));
        return table.some(Boolean) ? new Sum(0, [["rule", table]]) : new Sum();
      } else {
        name = `other ${names[i]}`;
        all = [...d.leaves(node)].sort((a, b) => a - b).map((value) => [null, value]);
      }
      domains.set(name, all.map(([right]) => right));
      return new Sum(0, [[name, all.map(([, value]) => value)]]);
    });
    return new Column(sums, domains);
  }

  /** The bits of the new position: the cell plus the move of the rule. */
  moved(d, cell) {
    const { delta, machine: { symbols } } = this, rule = (q, a) => q * symbols.length + a;
    const number = d.apply(rule, d.variable("state", range(this.going.length)), d.variable("symbol", range(symbols.length)));
    let carries = [1, -1].map((way) => d.map((n) => Number((delta[n]?.[4] ?? 0) === way), number));
    return cell.map((bit) => {
      const found = d.apply(xor, bit, d.sum(carries));
      carries = [d.apply(and, carries[0], bit), d.apply(andNot, carries[1], bit)];
      return found;
    });
  }

  /** The column after a head. The columns x, y and z are one that asks and two that it looks at. */
  lookedUp(head, column) {
    const { name, rows } = head, { precision } = this, bits = range(this.bits);
    const isInitial = name === "initial", isLast = name === "last";
    const { places: had } = column, seen = isInitial ? this.word() : column, sides = [["x.", column], ["y.", seen], ["z.", seen]];
    const sizes = new Map(sides.flatMap(([side, { sizes }]) => [...sizes].map(([u, n]) => [side + u, n])));
    const same = (u, v, side) => ({ names: [`x.${u}`, side + v],
      holds: column.domains.get(u).flatMap((one) => seen.domains.get(v).map((other) => one === other)) });
    const test = (v, side, holds) => ({ names: [side + v], holds: seen.domains.get(v).map(holds) });
    /** What the claim says about the columns that are found. */
    const match = (side) => {
      const here = bits.map((k) => same(`pos3[${k}]`, `pos2[${k}]`, side)), j = Number(name.slice("search".length));
      const dated = (from) => bits.filter((k) => k >= from).map((k) => same(`found[${k}]`, `pos1[${k}]`, side));
      if (name === "visited") return here;
      if (isInitial) return [...here, test("symbol", side, (a) => a !== null)];
      return isLast ? dated(0) : [...here, ...dated(j + 1), test(`pos1[${j}]`, side, (bit) => bit === 1)];
    };
    const query = affine(rows.query, column.places, precision, `${name}.query`).map((part) => part.of("x."));
    const keys = affine(rows.key, seen.places, precision, `${name}.key`);
    const constants = (vector) => Array.from(vector, (x) => new Sum(x));
    const y = score(query, keys.map((key) => key.of("y.")), precision, name), z = y.of("z.", "y.");
    const ofNull = score(query, constants(head.nullKey), precision, name);
    const [inY, inZ] = [match("y."), match("z.")], fits = greatest(ofNull.minus(y), sizes, inY);
    // The query of "last" always names a column, so its null key never has to win.
    const other = isLast ? greatest(z.minus(y), sizes, inY, inZ) : greatest(y.minus(ofNull), sizes, [], inY);
    this.margins[name] = [-fits.value, -other.value];
    const above = isLast ? "one that does" : "the null key";
    for (const [{ value, where }, what] of [[fits, "a column that fits scores {} below the null key"],
      [other, `a column that does not fit scores {} above ${above}`]])
      if (value >= 0) throw new Failed(`${name}: ${what.replace("{}", g(value))}`, this.columns(where, column, seen));
    const alone = isLast || isInitial; // at most one column fits
    if (!alone) {
      const { value } = greatest(y.minus(z), sizes, [...inY, ...inZ]);
      if (value > 0) throw new Undecided(`${name}: columns that fit have scores up to ${g(value)} apart, so they do not tie`);
    }
    this.hard(head, Math.min(-fits.value, -other.value));
    const fetched = affine(rows.value, seen.places, precision, `${name}.value`);
    const absent = affine(rows.write, constants(head.nullValue), precision, `${name}.write`).map(({ constant }) => constant);
    if (alone) column = this.fetched(name, column, seen, affine(rows.write, fetched, precision, `${name}.write`), absent);
    else {
      const fixed = fetched.map(({ constant, tables }, k) => {
        const all = [...tables.values()];
        if (all.some((table) => table.some((x) => x !== table[0])))
          throw new Failed(`${name}: the value ${k} is not the same for all columns`, [["the look-up", name]]);
        return new Sum(all.reduce((sum, [first]) => sum + first, constant));
      });
      const present = affine(rows.write, fixed, precision, `${name}.write`).map(({ constant }) => constant);
      const added = absent.map((x, i) => [x, present[i]]);
      column = column.with(name === "visited" ? "visited" : `found[${name.slice("search".length)}]`, added, BIT);
    }
    column.places.forEach((part, i) => {
      const isNew = part !== had[i] || name === "visited";
      if (isNew) exact(part, precision, `${name}, what is added to ${this.layout.names[i]},`);
    });
    return column;
  }

  /** Raise unless a key that scores less by that gap gets a weight of exactly 0. */
  hard({ name, kappa }, gap) {
    if (kappa === null) return;
    const round = this.arithmetic === "float32" ? Math.fround : (x) => x, least = ROUNDS_TO_0[this.arithmetic];
    const exponent = round(round(kappa) * round(-gap));
    if (!(exponent <= least && round(Math.exp(exponent)) === 0))
      throw uncovered(`${name}: κ = ${g(kappa)} is too small for ${this.arithmetic}: a key that scores ${g(gap)} less ` +
        "keeps some weight");
  }

  /** A row of the encoded word: its symbol, none for padding, and the bits of its cell. */
  word() {
    const { layout: { at }, machine: { symbols } } = this, places = this.places.map(() => new Sum());
    symbols.forEach((_, n) => (places[at.sym1[n]] = new Sum(0, [["symbol", [...symbols.map((_, m) => Number(m === n)), 0]]])));
    at.pos2.forEach((place, k) => (places[place] = new Sum(0, [[`pos2[${k}]`, BIT]])));
    return new Column(places, new Map([["symbol", [...symbols, null]], ...at.pos2.map((_, k) => [`pos2[${k}]`, BIT])]));
  }

  /** The column with what was fetched from the one column that fits, or from the null key if that may win. */
  fetched(name, column, seen, written, absent) {
    const isWord = name === "initial", main = isWord ? "symbol" : "rule";
    const meant = isWord ? this.machine.symbols : this.delta.map((rule) => rule?.[3] ?? null), found = new Map();
    meant.forEach((a, n) => {
      const values = written.map(({ constant, tables }) => constant + (tables.get(main)?.[n] ?? 0));
      found.set(JSON.stringify([a, values]), [a, values]);
    });
    if (isWord) found.set("", [NONE, absent]);
    const cases = [...found.values()], others = new Set(written.flatMap(({ tables }) => [...tables.keys()]));
    const added = written.map((_, i) => cases.map(([, values]) => values[i]));
    column = column.with(name, added, cases.map(([a]) => a));
    others.delete(main);
    for (const other of others) {
      const none = Array(seen.sizes.get(other)).fill(0), last = isWord ? [0] : [];
      const more = written.map(({ tables }) => [...(tables.get(other) ?? none), ...last]);
      column = column.with(`${name} ${other}`, more, more[0].map(() => null));
    }
    return column;
  }

  /** Check the next column, and return the values that it has in the places besides the invariant's. */
  next(column) {
    const { layout: { names }, places, delta, machine: { blank } } = this, { domains } = column, left = new Map();
    const order = [...new Set(["visited", "last", "initial", "rule", ...domains.keys()])];
    const d = new Diagrams(order.map((name) => [name, domains.get(name).length]));
    const nodes = column.places.map(({ constant, tables }) =>
      d.sum([d.leaf(constant), ...[...tables].map(([name, table]) => d.variable(name, table))]));
    const found = through(d, this.after, nodes, this.precision);
    if (found.length !== names.length)
      throw new Undecided(`the last layer gives ${found.length} places, and a column has ${names.length}`);
    const of = (name, work) => d.variable(name, domains.get(name).map((value) => Number(work(value))));
    const byRule = (work) => d.variable("rule", delta.map((rule) => Number(rule !== null && work(rule))));
    const goesOn = byRule(() => true), visited = of("visited", (bit) => bit);
    const known = d.apply(or, of("visited", (bit) => !bit), of("last", (a) => a !== null)); // nothing only where it jams
    const specified = {
      st: ({ label }) => [byRule(([, , p]) => p === label), d.leaf(1)],
      sym1: ({ label }) => {
        const word = of("initial", (a) => a === label || (a === NONE && label === blank));
        return [d.apply(choose, visited, d.apply(both, of("last", (a) => a === label), word)), d.apply(and, goesOn, known)];
      },
      pos2: ({ k }) => [of(`pos3[${k}]`, (bit) => bit), goesOn],
      pos1: () => [d.zero, goesOn],
      sym2: ({ label }) => [byRule(([, , , a]) => a === label), goesOn, unlike],
      scr5: ({ label }) => [byRule((rule) => rule[4] === { R: 1, L: -1 }[label]), goesOn, unlike],
    };
    found.forEach((node, i) => {
      const [meant, cares, wrong = differs] = specified[places[i].slice]?.(places[i]) ?? [];
      const where = meant === undefined ? null : d.find(d.apply(wrong, d.apply(cared, meant, cares), node), Boolean);
      const fail = (at, instead) => {
        const value = g(d.value(node, at));
        throw new Failed(`the next column: ${names[i]} is ${value}${instead}`, this.columns(at, column, column));
      };
      if (where) fail(where, ` instead of ${g(d.value(meant, where))}`);
      const vague = d.find(node, unclear);
      if (vague) fail(vague, ", and neither 0 nor 1");
      left.set(names[i], [...d.leaves(node)]);
    });
    return left;
  }

  /** Values of variables for people. */
  columns(where, column, seen) {
    const sides = { "x.": ["", column], "y.": ["the other column's ", seen], "z.": ["a third column's ", seen] };
    const found = [], bits = new Map();
    const called = { pos1: "step", pos2: "cell", pos3: "new cell", found: "last visit" };
    for (const [full, value] of where) {
      const [side, { domains }] = sides[full.slice(0, 2)] ?? ["", column], name = sides[full.slice(0, 2)] ? full.slice(2) : full;
      const [slice, k] = name.slice(0, -1).split("["), shown = domains.get(name)?.[value];
      if (name === "rule") found.push([`${side}state and symbol`, this.pairs[value].join(" ")]);
      else if (called[slice] && name.endsWith("]")) {
        const key = side + called[slice];
        if (!bits.has(key)) bits.set(key, Array(this.bits).fill("·"));
        bits.get(key)[this.bits - 1 - k] = `${shown}`;
      } else if (domains.has(name)) found.push([side + name, shown === null || shown === NONE ? "none" : `${shown}`]);
    }
    for (const [name, known] of bits) found.push([name, `${known.join("")} in binary`]);
    return found.length ? found : [["every column", ""]];
  }
}

/**
 * Whether one pass of a network file is one step of its machine for all words: { verdict, reason, at, margins, … }. The
 * verdict is "proved", "failed" with the columns for which an obligation does not hold, or "undecided".
 */
export function check(file) {
  let step = null;
  try {
    const network = read(file), { arithmetic } = network;
    const isFloat = (entry) => Math.fround(entry.at(-1)) === entry.at(-1);
    if (arithmetic === "float32" && !Object.values(file.weights).every(({ values }) => values.every(isFloat)))
      throw uncovered("some weights are not numbers of float32");
    step = new Step(network);
    step.check();
    return { verdict: "proved", reason: "", at: "", margins: step.margins, steps: step.steps, cells: 2 ** step.bits };
  } catch (error) {
    const { message, columns = [] } = error, at = step?.at ?? "", margins = step?.margins ?? {};
    if (error instanceof Failed) return { verdict: "failed", reason: message, at, margins, columns };
    const undecided = (reason, covered) => ({ verdict: "undecided", reason, at, margins, covered });
    if (error instanceof TooLarge) return undecided("too large to check in the page", false);
    if (error instanceof Undecided) return undecided(message, error.covered);
    if (error instanceof FileProblem || error instanceof Refusal) return undecided(message, false);
    throw error;
  }
}

/** The step at which a network and its machine part on a word, 0 if they do not; what is beyond its capacity is over. */
export function partsAt(network, word, steps) {
  const { machine: { states, symbols, halting }, layouts: [{ at }] } = network, size = 2 ** at.pos2.length;
  const machine = new Interpreter(network.machine, word), cells = new Map([[0, 0], ...word.map((_, cell) => [cell, cell])]);
  const run = new Run(network, encode(network, word)), isOn = (place) => run.state[place] > 0.5;
  for (let t = 1; t <= steps && !halting.includes(states[machine.state]); t++) {
    const before = machine.head, went = machine.step(), { head } = machine, position = ((head % size) + size) % size;
    if ((cells.get(position) ?? head) !== head) return 0;
    cells.set(position, head);
    run.step();
    if ([...run.state].some(unclear)) return t;
    if (!went) return at.st.some(isOn) ? t : 0;
    const agrees = (slice, n) => at[slice].every((place, k) => isOn(place) === (k === n));
    const move = { 1: 0, "-1": 1 }[head - before] ?? -1, wrote = machine.tape.get(before);
    if (!agrees("st", machine.state) || !agrees("sym1", machine.read) || !agrees("sym2", wrote) || !agrees("scr5", move) ||
      at.pos2.some((place, k) => isOn(place) !== (bitOf(position, k) === 1))) return t;
  }
  return 0;
}

/** Short words, all of some length and then longer ones at random, without end; the same ones each time. */
function* wordsOf(symbols, longest) {
  let short = 0, seed = 1;
  const draw = (n) => ((seed = (seed * 48271) % 2147483647), seed % n);
  while (symbols.length ** (short + 1) <= WORDS / 3 && short < longest) short += 1;
  for (let length = 0; length <= short; length++)
    for (let n = 0; n < symbols.length ** length; n++)
      yield range(length).map((k) => symbols[Math.floor(n / symbols.length ** (length - 1 - k)) % symbols.length]);
  while (true) yield range(short + draw(Math.max(1, longest - short + 1))).map(() => symbols[draw(symbols.length)]);
}

/** Look for a word on which a network goes wrong, first among some that are given; it pauses after each. Returns
 * { word, step }, or null if none of the few is one. */
export function* search(file, given = []) {
  const network = read(file), { machine: { symbols }, layouts: [{ at }] } = network, size = 2 ** at.pos1.length;
  const steps = Math.min(file.options.T ?? size, STEPS), words = wordsOf(symbols, Math.min(size, LONGEST));
  for (const word of [...given.filter(({ length }) => length <= size), ...range(WORDS).map(() => words.next().value)]) {
    const step = partsAt(network, word, steps);
    if (step) return { word, step };
    yield;
  }
  return null;
}

/** What a check and a search say together: "proved", "wrong" or "undecided". */
export const judged = (found, example) =>
  ({ ...found, ...example, verdict: example || found.verdict === "failed" ? "wrong" : found.verdict });
/** Whether a search may say more than a check did. */
export const isOpen = ({ verdict, covered = true }) => verdict !== "proved" && covered;
