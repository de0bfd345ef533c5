// The run of a merrill24 network, and what its head "last" sees at each step.

import { read, Refusal, Run, toNumbers } from "../page/network.js";

/** What a run starts from: the first column, and the word's rows with a blank on each side, put through the norm. */
function start({ ops, modules, layouts: [{ at, names }], machine: { initial, blank, states, symbols } }, word) {
  const zeros = () => Array(names.length).fill(0), column = zeros(), norm = modules.find(({ kind }) => kind === "norm");
  column[at.st[states.indexOf(initial)]] = column[at.start[0]] = 1;
  const rows = [blank, ...word, blank].map((symbol, i) => {
    const row = zeros(), k = symbols.indexOf(symbol), cell = i - 1;
    if (k < 0) throw new Refusal(`Symbol '${symbol}' is not in this machine's alphabet: ${symbols.join(" ")}`);
    row[at.sym1[k]] = 1;
    for (const slice of norm.entry.slices) [cell, 1, -cell, -1].forEach((n, i) => (row[at[slice][i]] = n));
    return norm.work(ops.vector(row));
  });
  return { column, word: rows };
}

/** The number of the cell that an address stands for. */
const cellOf = ([x, y]) => Math.round(x / y);

/** Each step of a run: the query, and of every key its address, the product with the query, ψ and what was written. */
export function stepsOf(file, arithmetic, word, max) {
  const network = read(file, arithmetic), { ops, modules, machine } = network, [{ at }] = network.layouts;
  const run = new Run(network, start(network, word)), head = modules.find(({ name }) => name === "last"), steps = [];
  const one = (x, slice, labels) => labels[at[slice].findIndex((place) => x[place] && toNumbers(x)[place] > 0.5)] ?? "";
  const tokens = []; // of each column: what it wrote
  for (let state = machine.initial; steps.length < max && state && !machine.halting.includes(state); ) {
    tokens.push(one(run.state, "sym1", machine.symbols));
    const vectors = {};
    let winners;
    run.step((name, x, shares) => {
      vectors[name] = x;
      if (name === "last") winners = shares.map(([j]) => j);
    });
    const query = ops.through(head.query, vectors.word), address = (x) => toNumbers(ops.part(x, 0, 4));
    const keys = run.memory.get(head).keys.map((key, j) => ({
      column: j + 1, wrote: tokens[j], cell: cellOf(address(key)), at: address(key), psi: -toNumbers(key).at(-1),
      apart: ops.below(ops.score(ops.part(query, 0, 4), ops.part(key, 0, 4))), below: ops.below(ops.score(query, key)),
    }));
    const before = state;
    state = one(run.state, "st", machine.states);
    const step = { state: before, query: address(query), cell: cellOf(address(query)), keys, winners };
    if (!state) return { steps, machine, last: step }; // it jams, or its numbers no longer name one state
    steps.push(step);
  }
  return { steps, machine };
}
