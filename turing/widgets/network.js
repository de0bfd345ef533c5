// A network as turing.network.to_dict writes it: what it computes, and its rows as equations with names.
// There is no export: the module of a widget follows in the same text.

/** The slices of every vector, with the names of their places, and the rows of every layer as [column, weight]. */
function readNetwork({ layouts, layers }) {
  const vectors = layouts.map((layout) => {
    const names = [];
    const slices = layout.map(([name, places]) => {
      const labels = Array.isArray(places) ? places : [...Array(places).keys()];
      const slice = { name, start: names.length, size: labels.length };
      names.push(...(places === 1 ? [name] : labels.map((label) => `${name}[${label}]`)));
      return slice;
    });
    return { slices, names };
  });
  return {
    vectors,
    layers: layers.map(({ shape, weight, bias, relu }) => {
      const rows = Array.from({ length: shape[0] }, () => ({ terms: [], bias: 0, relu }));
      for (const [i, j, value] of weight) rows[i].terms.push([j, value]);
      for (const [i, value] of bias) rows[i].bias = value;
      return rows;
    }),
  };
}

/** One number of a layer's output. */
function rowValue({ terms, bias, relu }, x) {
  const z = terms.reduce((sum, [j, weight]) => sum + weight * x[j], bias);
  return relu ? Math.max(0, z) : z;
}

/** The input, and what comes out of each layer. */
function runNetwork(network, input) {
  const vectors = [input];
  for (const rows of network.layers) vectors.push(rows.map((row) => rowValue(row, vectors.at(-1))));
  return vectors;
}

/** Does a row hand on the place of its own name? */
function isIdentity(network, layer, i) {
  const { terms, bias } = network.layers[layer][i], { names } = network.vectors[layer];
  return !bias && terms.length === 1 && terms[0][1] === 1 && names[terms[0][0]] === network.vectors[layer + 1].names[i];
}

/**
 * What a row computes of bits, if that is an AND of literals. The sum is greatest where all of them hold; where
 * one does not, it is less by that weight at least, and that must be enough for the ReLU to give 0.
 */
function gateName({ terms, bias, relu }, names) {
  const sizes = terms.map(([, weight]) => Math.abs(weight));
  const most = terms.reduce((sum, [, weight]) => sum + Math.max(weight, 0), bias);
  const nothing = 1e-6 * Math.max(Math.abs(bias), ...sizes); // what rounding leaves
  if (!relu && (terms.length > 1 || most - Math.max(0, ...sizes) < -nothing)) return "";
  if (most <= nothing) return "0";
  if (most - Math.min(...sizes) > nothing) return "";
  const factor = formatNumber(most), negated = terms.filter(([, weight]) => weight < 0).length;
  if (!terms.length) return factor;
  const all = negated === terms.length, alone = terms.length === 1;
  const gate = all ? (alone ? "NOT" : "NOR") : alone ? "COPY" : "AND";
  const literals = terms.map(([j, weight]) => (weight < 0 && !all ? "¬" : "") + names[j]);
  return `${factor === "1" ? "" : `${factor}·`}${gate}(${literals.join(", ")})`;
}

const formatNumber = (value) => `${Number(value.toPrecision(6))}`.replace("-", "−");

/**
 * A row as written by hand, of names or of values: what is added before what is taken away, and 1 − a rather
 * than −a + 1. Between a weight and its place stands what is given.
 */
function rowText({ terms, bias, relu }, places, times = " ") {
  if (!terms.length && !bias) return "0";
  const factor = (size) => (size === 1 ? "" : formatNumber(size) + times);
  const parts = terms.map(([j, weight]) => [weight, factor(Math.abs(weight)) + places[j]]);
  parts.sort(([one], [other]) => (one < 0) - (other < 0));
  const first = bias > 0 && terms.every(([, weight]) => weight < 0);
  if (bias) parts.splice(first ? 0 : parts.length, 0, [bias, formatNumber(Math.abs(bias))]);
  const sum = parts.map(([sign, text], n) => (n ? (sign < 0 ? " − " : " + ") : sign < 0 ? "−" : "") + text).join("");
  return relu ? `ReLU(${sum})` : sum;
}

/** The rows of a layer that are not identities: name, equation, the same with values, what comes out, the gate. */
function equationsOf(network, layer, x) {
  const { names } = network.vectors[layer];
  const values = x.map((value) => (value < 0 ? `(${formatNumber(value)})` : formatNumber(value)));
  return network.layers[layer].flatMap((row, i) => {
    if (isIdentity(network, layer, i)) return [];
    const name = network.vectors[layer + 1].names[i], value = rowValue(row, x);
    const text = rowText(row, names), filled = rowText(row, values, "·");
    return [{ name, text, filled, value, gate: text === "0" ? "" : gateName(row, names) }];
  });
}
