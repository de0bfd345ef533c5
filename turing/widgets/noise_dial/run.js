// Noise from integers, the same as in turing.decompiler.damages, and a run of a noisy network up to its first failure.

import { encode } from "../page/encode.js";
import { read, Run } from "../page/network.js";
import { range } from "../page/text.js";

const READ = ["st", "sym1", "sym2", "pos2", "scr5"]; // what the next step reads of a column

/** The finalizer of MurmurHash3, on 32-bit integers. */
function mixed(x) {
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

/** Number k of a seed, between 0 and 1. */
export const uniform = (seed, k) => (mixed((mixed(seed) + Math.imul(k, 0x9e3779b9)) | 0) + 0.5) / 2 ** 32;

/** Standard normal number k of a seed. */
export const normal = (seed, k) =>
  Math.sqrt(-2 * Math.log(uniform(seed, 2 * k))) * Math.cos(2 * Math.PI * uniform(seed, 2 * k + 1));

/** A network without its restoring layers. */
export const unrestored = (file) => ({ ...file, modules: file.modules.filter(({ name }) => !name.startsWith("restore_")) });

/** The same network with noise on every number; `order` has the names of all tensors as they are counted. */
export function noisy(file, order, sigma, seed) {
  const used = new Set(file.modules.map(({ name }) => name)), weights = {};
  let k = 0;
  for (const name of order) {
    if (!used.has(name.split(".")[1])) continue;
    const { shape, values } = file.weights[name], at = new Map(values.map((entry) => [`${entry.slice(0, -1)}`, entry.at(-1)]));
    const places = shape.length === 1 ? range(shape[0]).map((i) => [i])
      : range(shape[0]).flatMap((i) => range(shape[1]).map((j) => [i, j]));
    weights[name] = { shape, values: places.map((place) => [...place, (at.get(`${place}`) ?? 0) + normal(seed, k++) * sigma]) };
  }
  return { ...file, weights };
}

/** Run a noisy network beside the exact one, for so many steps or until it fails: columns, errors, and what failed. */
export function follow(exactFile, noisyFile, word, steps) {
  const runs = [exactFile, noisyFile].map((file) => {
    const network = read(file, "float64");
    return { network, run: new Run(network, encode(network, [...word])) };
  });
  const { network } = runs[0], { at } = network.layouts[0], places = READ.flatMap((name) => at[name]);
  const columns = [], errors = [];
  for (let step = 1; step <= steps; step++) {
    const [right, found] = runs.map(({ run }) => {
      const vectors = [];
      run.step((name, x) => vectors.push([name, Array.from(x)]));
      return vectors;
    });
    const [[, target], [, column]] = [right.at(-1), found.at(-1)], off = (i) => Math.abs(column[i] - target[i]);
    columns.push(column);
    errors.push(places.reduce((most, i) => (off(i) <= most ? most : off(i)), 0)); // a NaN stays
    if (places.every((i) => off(i) <= 0.5)) continue;
    for (const [m, [module, x]] of found.entries()) {
      const place = x.findIndex((value, i) => !(Math.abs(value - right[m][1][i]) <= 0.5));
      if (place < 0) continue;
      const { layouts } = network.modules.find(({ name }) => name === module);
      const name = layouts.at(-1).names[place];
      return { columns, errors, failure: { step, module, name, found: x[place], expected: right[m][1][place] } };
    }
  }
  return { columns, errors, failure: null };
}
