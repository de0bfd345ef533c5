// Sums of functions of one finite variable each, and the greatest value of a score under conditions, as
// turing.proof.heads has them; and whether floats add them up exactly, as turing.proof.exactness says.

const MAX_CASES = 1 << 20; // of variables that meet
const BITS = { float32: 24, float64: 50 }; // of a significand; the sums here are in float64, and three bits are kept
const RANGE = 100; // exponents up to which no type overflows, or has numbers that are not normal

/** An obligation cannot be decided; `covered` says whether it is one that a proof here is about. */
export class Undecided extends Error {
  constructor(message, covered = true) {
    super(message);
    this.covered = covered;
  }
}

const grains = new Map();
/** The greatest e for which a number is a multiple of 2^e; Infinity for 0. */
function grain(number) {
  let e = grains.get(number);
  if (e !== undefined) return e;
  e = number ? 0 : Infinity;
  for (let x = number; x % 1; x *= 2) e -= 1;
  for (let x = number; x && !(x % 2); x /= 2) e += 1;
  grains.set(number, e);
  return e;
}

/** The least e with x < 2^e. */
function exponent(x) {
  let e = Math.floor(Math.log2(x)) + 1;
  while (2 ** e <= x) e += 1;
  while (2 ** (e - 1) > x) e -= 1;
  return e;
}

const least = (table) => table.reduce((one, other) => (other < one ? other : one));
const most = (table) => table.reduce((one, other) => (other > one ? other : one));

/** A type of floats. If all terms of a sum are multiples of 2^e and add up to less than 2^(P + e), nothing is rounded. */
export class Precision {
  constructor(arithmetic) {
    if (!BITS[arithmetic]) throw new Undecided(`the number type ${arithmetic} is not covered in the page`, false);
    Object.assign(this, { arithmetic, bits: BITS[arithmetic] });
  }

  /** How many bits a sum takes: each term is a factor and its values, and their sizes add up to `bound` at most. */
  bitsFor(terms, bound) {
    let e = Infinity;
    for (const [factor, values] of terms) for (const value of values) e = Math.min(e, grain(factor) + grain(value));
    if (e === Infinity) return 0;
    return bound < 2 ** RANGE && e > -RANGE ? exponent(bound) - e : 10 * RANGE;
  }

  check(terms, bound, where) {
    const needed = this.bitsFor(terms, bound);
    if (needed > this.bits)
      throw new Undecided(`${where} takes ${needed} bits, and ${this.arithmetic} has ${this.bits}: the sum may be rounded`);
  }
}

/** constant + Σ tables.get(u)[value of u], over variables u. */
export class Sum {
  constructor(constant = 0, tables = []) {
    Object.assign(this, { constant, tables: new Map(tables) });
  }

  /** Add a multiple of another sum. */
  add(other, factor = 1) {
    this.constant += factor * other.constant;
    for (const [name, table] of other.tables) {
      const own = this.tables.get(name);
      this.tables.set(name, table.map((value, n) => factor * value + (own ? own[n] : 0)));
    }
    return this;
  }

  /** The same over the variables of another column. */
  of(side) {
    return new Sum(this.constant, [...this.tables].map(([name, table]) => [side + name, table]));
  }

  /** The greatest absolute value. */
  get size() {
    const end = (work) => [...this.tables.values()].reduce((total, table) => total + work(table), this.constant);
    return Math.max(Math.abs(end(least)), Math.abs(end(most)));
  }

  /** Numbers of which every value is a sum. */
  get values() {
    return [this.constant, ...[...this.tables.values()].flatMap((table) => [...new Set(table)])];
  }
}

/** The greatest sum of the sizes of terms [weight, Sum] that occur together. */
function boundOf(terms) {
  const sizes = new Map();
  let bound = 0;
  for (const [weight, part] of terms) {
    bound += Math.abs(weight * part.constant);
    for (const [name, table] of part.tables) {
      const own = sizes.get(name);
      sizes.set(name, table.map((value, n) => Math.abs(weight * value) + (own ? own[n] : 0)));
    }
  }
  for (const size of sizes.values()) bound += most(size);
  return bound;
}

/** What rows of { terms, bias } make of a column of sums. */
export function affine(rows, column, precision, where) {
  return rows.map(({ terms, bias }, place) => {
    if (!terms.length) return new Sum(bias);
    const parts = [[bias, new Sum(1)], ...terms.map(([j, weight]) => [weight, column[j]])];
    precision.check(parts.map(([weight, part]) => [weight, part.values]), boundOf(parts), `${where}, row ${place},`);
    return parts.reduce((total, [weight, part]) => total.add(part, weight), new Sum());
  });
}

/** Raise unless a sum can be added to a place. */
export function exact(part, precision, where) {
  precision.check([[1, part.values]], boundOf([[1, part]]), where);
}

/** constant + Σ of tables over one variable or two: the product of a query and a key, each a list of sums. */
export class Form {
  constructor(constant = 0, tables = new Map()) {
    Object.assign(this, { constant, tables });
  }

  /** Add a table over one or two variables, a number for each of their values, the last one fastest. */
  add(names, table, factor = 1) {
    const key = names.join("\n"), own = this.tables.get(key)?.table;
    this.tables.set(key, { names, table: table.map((value, n) => factor * value + (own ? own[n] : 0)) });
  }

  /** The same over the variables of another column. */
  of(side, before) {
    const named = (name) => (name.startsWith(before) ? side + name.slice(before.length) : name);
    const found = new Form(this.constant);
    for (const { names, table } of this.tables.values()) found.add(names.map(named), table);
    return found;
  }

  minus(other) {
    const found = new Form(this.constant - other.constant, new Map(this.tables));
    for (const { names, table } of other.tables.values()) found.add(names, table, -1);
    return found;
  }
}

export function score(query, key, precision, where) {
  const found = new Form(), terms = [];
  let bound = 0;
  query.forEach((one, n) => {
    const other = key[n];
    bound += one.size * other.size;
    for (const value of one.values) terms.push([value, other.values]);
    found.constant += one.constant * other.constant;
    if (other.constant) for (const [name, table] of one.tables) found.add([name], table, other.constant);
    if (one.constant) for (const [name, table] of other.tables) found.add([name], table, one.constant);
    for (const [u, table] of one.tables)
      for (const [v, more] of other.tables) {
        if (table.length * more.length > MAX_CASES) throw new Undecided(`${where}: too many cases for a page`);
        found.add([u, v], table.flatMap((x) => more.map((y) => x * y)));
      }
  });
  precision.check(terms, bound, `${where}, a score,`);
  for (const [name, { names, table }] of found.tables)
    if (names.length === 2 && !table.some(Boolean)) found.tables.delete(name);
  return found;
}

/** Names in groups, such that those of a link are in one. */
function groupsOf(links) {
  const group = new Map();
  for (const link of links) {
    const both = new Set(link.flatMap((name) => [name, ...(group.get(name) ?? [])]));
    for (const name of both) group.set(name, both);
  }
  return [...new Set(group.values())].map((each) => [...each].sort());
}

/**
 * The greatest value of a form where all `required` conditions hold and, if any are given, at least one of the `broken`
 * ones does not; −∞ if there is no such place. A condition is { names, holds }, a truth for each value of the names.
 */
export function greatest(form, sizes, required, broken = []) {
  const tables = [...form.tables.values()];
  let total = form.constant, lost = Infinity, where = new Map(), instead = new Map();
  for (const group of groupsOf([...tables, ...required, ...broken].map(({ names }) => names))) {
    const shape = group.map((name) => sizes.get(name)), cases = shape.reduce((a, b) => a * b, 1), inside = new Set(group);
    if (cases > MAX_CASES) throw new Undecided(`${group.length} variables meet in a score, in too many cases for a page`);
    const strides = new Map();
    group.reduceRight((stride, name) => (strides.set(name, stride), stride * sizes.get(name)), 1);
    const digit = (n, name) => Math.floor(n / strides.get(name)) % sizes.get(name);
    /** Those about this group, each as a function of the number of a case. */
    const own = (all, numbers) => all.filter(({ names }) => inside.has(names[0])).map((part) => {
      const [[s, n], [r, m] = [1, 1]] = part.names.map((name) => [strides.get(name), sizes.get(name)]), table = part[numbers];
      return (k) => table[(Math.floor(k / s) % n) * m + (Math.floor(k / r) % m)];
    });
    const mine = own(tables, "table"), must = own(required, "holds"), may = own(broken, "holds");
    const best = [-Infinity, -Infinity], places = [0, 0];
    for (let n = 0; n < cases; n++) {
      if (!must.every((holds) => holds(n))) continue;
      let value = 0;
      for (const part of mine) value += part(n);
      if (value > best[0]) [best[0], places[0]] = [value, n];
      if (value > best[1] && may.some((holds) => !holds(n))) [best[1], places[1]] = [value, n];
    }
    const spelled = (n) => group.map((name) => [name, digit(n, name)]);
    if (best[0] === -Infinity) return { value: -Infinity, where: new Map() };
    total += best[0];
    where = new Map([...where, ...spelled(places[0])]);
    if (best[0] - best[1] < lost) [lost, instead] = [best[0] - best[1], spelled(places[1])];
  }
  return broken.length ? { value: total - lost, where: new Map([...where, ...instead]) } : { value: total, where };
}
