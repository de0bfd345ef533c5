// A run of the network in one arithmetic, without a guard: up to the first pass that fetches a wrong step.

import { read, Run, toNumbers } from "../page/network.js";
import { lowest } from "../page/numbers.js";

/** The rows of a word in floats; a fraction is rounded once to float64, as in Python. */
const inFloats = ([numerators, unit]) => numerators.map((n) => n / unit);

export function follow({ file, start, passes: most }, arithmetic) {
  const net = read(file, arithmetic), { ops, layouts: [{ at }] } = net, exact = arithmetic === "exact";
  const word = exact ? start.word : start.word.map(inFloats);
  const run = new Run(net, { column: start.column, word });
  const head = net.modules.find(({ name }) => name === "last"), { keys } = run.memory.get(head);
  const passes = [], cells = [0], visits = new Map();
  let wrong = null;

  function step() {
    const i = passes.length + 1, vectors = {};
    let fetched;
    run.step((name, x, shares) => {
      vectors[name] = x;
      if (name === "last") fetched = shares.map(([j]) => j + 1);
    });
    const number = (name, slice) => toNumbers(vectors[name])[at[slice][0]];
    const move = number("transition", "mov2"), cell = cells.at(-1) + move;
    visits.set(cells.at(-1), [...(visits.get(cells.at(-1)) ?? []), i]);
    const earlier = visits.get(cell) ?? [], right = earlier.at(-1) ?? i;
    cells.push(cell);
    if (fetched.length !== 1 || fetched[0] !== right) wrong = i;
    passes.push({ i, move, cell, visits: earlier, right, fetched, column: vectors.count, average: number("count", "avg2") });
  }

  return {
    arithmetic,
    cells,
    /** The pass with this number, or the last that there is. */
    at(i) {
      while (passes.length < Math.min(i, most) && wrong === null) step();
      return passes[Math.min(i, passes.length) - 1];
    },
    /** The last pass that is shown: exact arithmetic is never wrong, so only floats have to be tried. */
    get last() {
      return exact ? most : this.at(most).i;
    },
    get wrong() {
      return wrong;
    },
    /** ⟨q, k⟩ for each step so far: a number, and in exact arithmetic also the fraction. */
    products({ i, column }) {
      const query = ops.through(head.query, column);
      return keys.slice(0, i).map((key) => {
        const product = ops.dot(query, key);
        if (!exact) return { value: product };
        const [n, d] = lowest(product, query.unit * key.unit);
        return d < 0n ? { value: Number(-n) / Number(-d), fraction: [-n, -d] } : { value: Number(n) / Number(d), fraction: [n, d] };
      });
    },
  };
}
