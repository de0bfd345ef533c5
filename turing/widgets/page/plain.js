// Networks of plain layers that are written in the page.

import { read } from "./network.js";

/** A network of layers [weights by row, biases, activation], whose numbers are multiples of 1 / denominator. */
export function plainNetwork(layers, arithmetic, denominator = 1) {
  const weights = {}, widths = [layers[0][0][0].length, ...layers.map(([, b]) => b.length)];
  const put = (name, shape, values) =>
    (weights[name] = { shape, denominator, values: values.filter((entry) => entry.at(-1)) });
  const modules = layers.map(([W, b, activation = "relu"], k) => {
    const [weight, bias] = [`${k}.weight`, `${k}.bias`];
    put(weight, [W.length, widths[k]], W.flatMap((row, i) => row.map((value, j) => [i, j, value])));
    put(bias, [W.length], b.map((value, i) => [i, value]));
    return { name: `${k}`, kind: "linear", layouts: [k, k + 1], layers: [{ weight, bias, activation }] };
  });
  const layouts = widths.map((width) => [["x", width]]);
  return read({ turing: "network", version: 2, arithmetic, layouts, modules, weights });
}
