// A network as neurons and edges, lit by one row of its truth table; and the rows, one after the other.

import { h, svg, write } from "./dom.js";
import { clamp, short, signed } from "./text.js";

const RADIUS = 17, NEAR = 64, FAR = 132, DOWN = 66, EDGE = 10, ABOVE = 8, ADVANCE = 8.5; // a letter is so wide
const THICK = 3, THICKEST = 8; // of a weight of 1, unless the largest one would be thicker than that

const brief = (x) => short(signed(x), 4);

/**
 * `show` takes the names of the places of each vector, the layers [W, b] between them and the numbers of a row, whose
 * name is `row`; with `expected`, the outputs are marked.
 */
export function createNetwork(label) {
  const picture = svg("svg", { class: "network", role: "img" });
  const key = (kind, text) => h("span", {}, h("i", { class: kind, "aria-hidden": true }), text);
  const legend = h("p", { class: "network-key" }, key("plus", "positive"), key("minus", "negative"),
    h("span", {}, "thicker is larger"));
  const node = h("div", { class: "network-frame" }, picture, legend);
  let shown;
  function show(given) {
    const { places, layers, values, row, expected } = (shown = given);
    const widest = (names) => Math.max(...names.map(({ name }) => name.length)) * ADVANCE;
    const left = EDGE + widest(places[0]) + RADIUS + 6, right = RADIUS + 6 + widest(places.at(-1)) + 26;
    const tallest = Math.max(...places.map(({ length }) => length)), last = places.length - 1;
    const across = clamp((node.clientWidth - left - right) / last, NEAR, FAR);
    const width = left + last * across + right, height = tallest * DOWN;
    const at = (l, i) => [left + l * across, ((i + 0.5) * height) / places[l].length];
    const largest = Math.max(...layers.flatMap(([W]) => W.flat()).map(Math.abs));
    const scale = Math.min(THICK, THICKEST / largest);

    const edges = layers.flatMap(([W], l) => W.flatMap((weights, i) => weights.flatMap((weight, j) => {
      if (!weight) return [];
      const [[x1, y1], [x2, y2]] = [at(l, j), at(l + 1, i)], r = RADIUS / Math.hypot(x2 - x1, y2 - y1);
      const lit = values[l][j] !== 0, kind = `edge ${weight < 0 ? "minus" : "plus"}${lit ? " lit" : ""}`;
      return [[lit, svg("line", {
        class: kind, "data-weight": weight, "stroke-width": Math.max(0.75, Math.abs(weight) * scale).toFixed(2),
        x1: (x1 + r * (x2 - x1)).toFixed(1), y1: (y1 + r * (y2 - y1)).toFixed(1),
        x2: (x2 - r * (x2 - x1)).toFixed(1), y2: (y2 - r * (y2 - y1)).toFixed(1),
      }, svg("title", {}, `weight of ${places[l][j].name} in ${places[l + 1][i].name}: ${signed(weight)}`))]];
    })));
    const neurons = places.flatMap((names, l) => names.map(({ name, colour }, i) => {
      const [x, y] = at(l, i), value = values[l][i], wanted = l === last ? expected?.[i] : undefined;
      const side = l === 0 ? [x - RADIUS - 6, y + 5, "end"] : l === last ? [x + RADIUS + 6, y + 5, "start"]
        : [x, y - RADIUS - 6, "middle"];
      const text = ([x, y, anchor], kind, ...words) =>
        svg("text", { x, y, "text-anchor": anchor, class: kind }, ...words);
      const mark = wanted === undefined ? "" : value === wanted ? " ✓" : " ✗", bias = l && layers[l - 1][1][i];
      return svg("g", { class: `neuron${value ? " lit" : ""}`, "data-value": value },
        svg("circle", { cx: x, cy: y, r: RADIUS }), text([x, y + 5, "middle"], "value", brief(value)),
        text(side, "name", svg("tspan", { style: `color: ${colour}` }, name), mark),
        ...(bias ? [text([x, y + RADIUS + 13, "middle"], "bias", (bias > 0 ? "+" : "") + brief(bias))] : []));
    }));
    edges.sort(([one], [other]) => one - other); // what is lit lies above
    picture.setAttribute("viewBox", `0 ${-ABOVE} ${width.toFixed()} ${height + ABOVE}`);
    picture.style.maxWidth = `${Math.round(width)}px`;
    picture.replaceChildren(...edges.map(([, edge]) => edge), ...neurons);
    const spoken = places.slice(1).map((names, l) =>
      names.map(({ name }, i) => `${name} = ${signed(values[l + 1][i])}`).join(", ")).join("; ");
    const ends = expected ? `; expected ${expected.join(", ")}` : "";
    picture.setAttribute("aria-label", `${label} for ${row}: ${spoken}${ends}`);
  }
  new ResizeObserver(() => shown && show(shown)).observe(node);
  return { node, show };
}

const REDUCED = "(prefers-reduced-motion: reduce)", ALL = 4000, MAX_EACH = 500; // milliseconds, of all rows and of one

/** A slider over rows by name. `choose(row)` is told of the reader's choice, and of each row in turn by `runThrough`. */
export function createRows(names, choose) {
  const slider = h("input", { type: "range", min: 0, max: names.length - 1, step: 1, "aria-label": "Row of the truth table" });
  const said = h("span", { class: "row-name" });
  let timer = 0;
  const stop = () => (clearInterval(timer), (timer = 0));
  slider.addEventListener("input", () => (stop(), choose(Number(slider.value))));
  return {
    node: h("div", { class: "row-chooser" }, said, slider),
    stop,
    /** Show all rows once, unless the reader wants nothing to move. */
    runThrough() {
      stop();
      if (matchMedia(REDUCED).matches) return;
      let row = 0;
      choose(row);
      timer = setInterval(() => (++row < names.length ? choose(row) : (stop(), choose(null))),
        Math.min(MAX_EACH, ALL / names.length));
    },
    show(row) {
      slider.value = row;
      slider.setAttribute("aria-valuetext", names[row]);
      write(said, names[row]);
    },
  };
}
