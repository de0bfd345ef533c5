// Decision diagrams, as turing.proof.diagrams has them: a function of finite variables as a graph in which equal parts
// are one node. A diagram is the number of its node.

const MAX_NODES = 600_000;

/** The diagrams have more nodes than a page builds. */
export class TooLarge extends Error {}

export class Diagrams {
  #level = []; // of each node; that of a leaf is after all variables
  #kids = [];
  #value = []; // of each leaf
  #unique;
  #memo = new Map(); // by function: so pass the same one
  #leaves = new Map();

  /** Variables in their order: [name, how many values]. */
  constructor(variables) {
    this.names = variables.map(([name]) => name);
    this.sizes = variables.map(([, size]) => size);
    this.level = new Map(this.names.map((name, level) => [name, level]));
    this.#unique = [...this.names, ""].map(() => new Map());
    this.zero = this.leaf(0);
  }

  /** The function that has the same value everywhere: a number, null, or a pair of these. */
  leaf(value) {
    return this.#node(this.names.length, [], Array.isArray(value) ? value.join("|") : value, value);
  }

  /** The function of one variable that has these values. */
  variable(name, values) {
    return this.#made(this.level.get(name), Array.from(values, (value) => this.leaf(value)));
  }

  #made(level, kids) {
    return kids.every((kid) => kid === kids[0]) ? kids[0]
      : this.#node(level, kids, kids.length === 2 ? kids[0] * 2 ** 21 + kids[1] : kids.join(), null);
  }

  #node(level, kids, key, value) {
    const known = this.#unique[level], found = known.get(key);
    if (found !== undefined) return found;
    const node = this.#level.length;
    if (node === MAX_NODES) throw new TooLarge(`the diagrams have more than ${MAX_NODES.toLocaleString("en")} nodes`);
    known.set(key, node);
    this.#level.push(level);
    this.#kids.push(kids);
    this.#value.push(value);
    return node;
  }

  #memoOf(work) {
    if (!this.#memo.has(work)) this.#memo.set(work, new Map());
    return this.#memo.get(work);
  }

  /** The function with every leaf mapped. */
  map(work, f, memo = this.#memoOf(work)) {
    let found = memo.get(f);
    if (found === undefined) {
      const kids = this.#kids[f];
      found = kids.length ? this.#made(this.#level[f], kids.map((kid) => this.map(work, kid, memo)))
        : this.leaf(work(this.#value[f]));
      memo.set(f, found);
    }
    return found;
  }

  /** The function of two functions. */
  apply(work, f, g, memo = this.#memoOf(work)) {
    const key = f * 2 ** 21 + g;
    let found = memo.get(key);
    if (found === undefined) {
      const [one, other] = [this.#level[f], this.#level[g]], level = Math.min(one, other);
      if (level === this.names.length) found = this.leaf(work(this.#value[f], this.#value[g]));
      else {
        const kids = [];
        for (let n = 0; n < this.sizes[level]; n++)
          kids.push(this.apply(work, one === level ? this.#kids[f][n] : f, other === level ? this.#kids[g][n] : g, memo));
        found = this.#made(level, kids);
      }
      memo.set(key, found);
    }
    return found;
  }

  sum(terms) {
    return terms.reduce((total, term) => (total === this.zero ? term : this.apply(add, total, term)), this.zero);
  }

  /** The values that a function has. */
  leaves(f) {
    let found = this.#leaves.get(f);
    if (!found) {
      const kids = new Set(this.#kids[f]);
      found = kids.size ? new Set([...kids].flatMap((kid) => [...this.leaves(kid)])) : new Set([this.#value[f]]);
      this.#leaves.set(f, found);
    }
    return found;
  }

  /** The variables that a function depends on. */
  support(f) {
    const seen = new Set([f]), found = new Set();
    for (const node of seen) {
      if (this.#kids[node].length) found.add(this.names[this.#level[node]]);
      for (const kid of this.#kids[node]) seen.add(kid);
    }
    return found;
  }

  /** The value where some variables have these values, and the others are 0. */
  value(f, where) {
    while (this.#kids[f].length) f = this.#kids[f][where.get(this.names[this.#level[f]]) ?? 0];
    return this.#value[f];
  }

  /** Values of the variables on which a function has a wanted value; null if there are none. */
  find(f, wanted) {
    const has = (node) => [...this.leaves(node)].some(wanted), where = new Map();
    if (!has(f)) return null;
    while (this.#kids[f].length) {
      const n = this.#kids[f].findIndex(has);
      where.set(this.names[this.#level[f]], n);
      f = this.#kids[f][n];
    }
    return where;
  }
}

const add = (one, other) => one + other;
