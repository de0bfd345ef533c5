// The run of a network that evaluates a circuit gate by gate: each token, and what the heads found for it.

import { read, Run } from "../page/network.js";

/** The network with another κ. */
const withKappa = (file, kappa) =>
  ({ ...file, modules: file.modules.map((entry) => (entry.kind === "attention" ? { ...entry, kappa } : entry)) });

/** What a run starts from: the last input as a column, and the rows of those before it. */
function start({ ops, modules, table }, bits) {
  const embed = modules.find(({ name }) => name === "embed");
  const rows = bits.map((bit, i) =>
    ops.add(ops.part(embed.work(ops.vector(bit ? [0, 1] : [1, 0])), 0), ops.vector(table[i])));
  return { column: rows.at(-1), word: rows.slice(0, -1) };
}

/** The gates in order: of each the kind, what the two heads found and where, the neurons, the logits and the token. */
export function gatesOf(file, bits, kappa) {
  const network = read(withKappa(file, kappa)), { ops, table, modules } = network, [{ at, slices }] = network.layouts;
  const run = new Run(network, start(network, bits)), kinds = slices.find(({ name }) => name === "gate").labels;
  const { layers: [lines], layouts: [, { slices: [{ labels }] }] } = modules.find(({ name }) => name === "gate");
  const number = (x, slice) => at[slice].reduce((sum, place, k) => sum + x[place] * 2 ** k, 0);
  return table.slice(bits.length).map(() => {
    const column = run.state, vectors = {}, shares = {};
    run.step((name, x, some) => {
      vectors[name] = x;
      if (some) shares[name] = some;
    });
    const heads = [["first", "pos2", "bit1"], ["second", "pos3", "bit2"]].map(([name, slice, bit]) => ({
      asks: number(column, slice), shares: shares[name], found: vectors.second[at[bit][0]],
    }));
    const fires = [...ops.through(lines, vectors.second)].map((value, k) => [labels[k], value]).filter(([, value]) => value);
    return { kind: kinds[at.gate.findIndex((place) => column[place])], heads, fires, logits: [...vectors.unembed],
      token: vectors.choose[1] };
  });
}
