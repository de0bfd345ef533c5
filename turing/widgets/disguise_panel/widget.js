// The disguise panel: the weights as they are hidden, what is read from them, and the dead network beside the repaired one.

import { button, createChoice, h, listen, onKeys, put, scroller, svg, widget, write } from "../page/dom.js";
import { encode } from "../page/encode.js";
import { read, Run } from "../page/network.js";
import { range, shown } from "../page/text.js";
import { chance, disguised, readBack, tensorsOf, Unreadable } from "./read.js";

const CELL = 9, STEPS = 7; // as many as are numbered with three bits
const COVERS = [["plain", "none"], ["shuffled", "shuffled"], ["shuffled and scaled", "scaled"], ["rotated", "rotated"]];
const MOVES = { [-1]: "L", 0: "S", 1: "R" };

/** A matrix as squares: filled is positive, hollow negative, the area is the size. */
function picture(name) {
  const positive = svg("path", { class: "positive" }), negative = svg("path", { class: "negative" }), frame = svg("path", { class: "frame" });
  const node = svg("svg", { class: "hinton", role: "img", preserveAspectRatio: "xMinYMin" }, frame, positive, negative);
  return {
    node: h("figure", {}, node, h("figcaption", {}, name)),
    show(matrix) {
      const sizes = matrix.flat().map(Math.abs).sort((a, b) => a - b), most = sizes[Math.floor(0.995 * (sizes.length - 1))] || 1;
      const width = matrix[0].length * CELL, height = matrix.length * CELL, paths = ["", ""];
      matrix.forEach((row, i) => row.forEach((x, j) => {
        const side = Math.min(1, Math.sqrt(Math.abs(x) / most)) * (CELL - 1.5);
        if (side < 0.4) return;
        const [left, top] = [j * CELL + (CELL - side) / 2, i * CELL + (CELL - side) / 2].map((n) => n.toFixed(1));
        paths[Number(x < 0)] += `M${left} ${top}h${side.toFixed(1)}v${side.toFixed(1)}h${(-side).toFixed(1)}Z`;
      }));
      node.setAttribute("viewBox", `-1 -1 ${width + 2} ${height + 2}`);
      node.setAttribute("aria-label", `${name}: ${matrix.length} rows, ${matrix[0].length} columns, ` +
        `${sizes.filter((x) => x > 1e-9).length} numbers that are not 0`);
      frame.setAttribute("d", `M0 0H${width}V${height}H0Z`);
      positive.setAttribute("d", paths[0]);
      negative.setAttribute("d", paths[1]);
    },
  };
}

/** The states of a run, step by step, until a number of the state is neither 0 nor 1; with noise on every weight. */
export function statesOf(file, sigma, seed) {
  let worse = file;
  if (sigma) {
    const random = chance(seed + 77), weights = {};
    const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    for (const [name, { shape, values }] of Object.entries(file.weights)) {
      const known = new Map(values.map((entry) => [entry.slice(0, -1).join(" "), entry.at(-1)]));
      const places = shape.length > 1 ? range(shape[0]).flatMap((i) => range(shape[1]).map((j) => [i, j])) : range(shape[0]).map((i) => [i]);
      weights[name] = { shape, values: places.map((place) => [...place, (known.get(place.join(" ")) ?? 0) + sigma * normal()]) };
    }
    worse = { ...file, weights };
  }
  const network = read(worse, "float64"), run = new Run(network, encode(network, [])), { st } = network.layouts[0].at, found = [];
  for (let step = 0; step <= STEPS; step++) {
    const values = st.map((place) => run.state[place]), on = range(st.length).filter((k) => values[k] > 0.5);
    const clear = values.every((x) => Math.min(Math.abs(x), Math.abs(x - 1)) <= 0.25);
    if (!clear || on.length !== 1) return { states: found, ends: on.length || !clear ? "unclear" : "jammed" };
    const state = network.machine.states[on[0]];
    found.push(state);
    if (network.machine.halting.includes(state)) return { states: found, ends: "halted" };
    if (step < STEPS) run.step();
  }
  return { states: found, ends: "limit" };
}

export default {
  render({ model, el }) {
    const get = (name) => model.get(name), file = get("network"), plain = tensorsOf(file), { machine } = file;
    const layouts = Object.fromEntries(file.layouts[0].map(([name, labels]) => [name, labels]));
    const sizes = { states: layouts.st.length, symbols: layouts.sym1.length, bits: layouts.pos1 }, names = [layouts.st, layouts.sym1];
    const exact = statesOf(file, 0, 0), wanted = new Map();
    for (const [state, symbol, ...rule] of machine.delta) wanted.set(`${state} ${symbol}`, rule);
    let busy = false;
    const change = (changes) => {
      busy = true;
      put(model, changes);
      busy = false;
      draw();
    };
    const cover = createChoice("Disguise", COVERS, (value) => change({ cover: value }));
    const noise = createChoice("Noise", get("levels").map((x) => [`${x}`, x]), (value) => change({ noise: value }));
    const again = button("Another disguise", () => change({ seed: (get("seed") % 9999) + 1 }));
    const number = h("span", { class: "label" });
    const detect = picture("first layer: the detectors"), rule = picture("second layer: the rules");
    const says = h("p", { class: "account", "aria-live": "polite" }), body = h("tbody");
    const head = h("thead", {}, h("tr", {}, ...["read from the weights", "what was hidden", "equal"].map((text) => h("th", { scope: "col" }, text))));
    const dead = h("p", { class: "run" }), mended = h("p", { class: "run" });
    const root = widget("disguise-panel", "A network in disguise, and the machine in its weights", { tabindex: 0 },
      h("div", { class: "choices" }, cover.node, noise.node, h("div", { class: "again" }, again, number)),
      h("div", { class: "pictures" }, scroller("scroll", "Weights", detect.node), scroller("scroll", "Weights", rule.node)),
      says, scroller("scroll", "Rules", h("table", {}, head, body)), dead, mended,
      h("p", { class: "keys" }, "Filled squares are positive, hollow ones negative. Key: N for another disguise."));
    el.replaceChildren(root);
    onKeys(root, () => ({ n: () => again.click() }));

    function draw() {
      if (busy) return;
      const [kind, sigma, seed] = ["cover", "noise", "seed"].map(get);
      cover.show((value) => value === kind);
      noise.show((value) => value === sigma);
      write(number, `number ${seed}`);
      const { tensors, detectors } = disguised(plain, kind, sigma, seed);
      detect.show(tensors.detect);
      rule.show(tensors.rule);
      let found = null, reason = "";
      try {
        found = readBack(tensors, sizes);
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
        reason = error.message;
      }
      const rows = found ? compared(found, detectors) : [];
      const right = found !== null && rows.every(({ same }) => same);
      write(says, found ? `${right ? "Every rule is read back" : "Not every rule is right"}, with a margin of ${found.margin.toFixed(2)}.`
        : `Refused: ${reason}. Nothing wrong is claimed.`);
      body.replaceChildren(...rows.map(({ text, old, same }) => h("tr", {}, h("td", {}, text), h("td", {}, old), h("td", {}, same ? "✓" : "✗"))));
      const run = statesOf(file, sigma, seed), text = ({ states, ends }) => `${states.map(shown).join(" ")}${ends === "halted" ? ", halted"
        : ends === "unclear" ? ", and then its state is no longer 0 or 1" : ends === "jammed" ? ", jammed" : " …"}`;
      dead.replaceChildren(h("b", {}, sigma ? "States of the network with noise: " : "States of the network: "), text(run));
      mended.replaceChildren(h("b", {}, "Read and compiled again: "), right ? text(exact) : "–");
      Object.assign(root.dataset, { read: found ? (right ? "right" : "wrong") : "refused", margin: found ? found.margin.toFixed(6) : "",
        alive: run.states.join() === exact.states.join(), rules: JSON.stringify(found?.rules ?? []) });
    }

    /** What was read, in the order of what was hidden; the order of the disguise says which detector is which. */
    function compared({ rules }, detectors) {
      const truth = new Map(rules.map((rule) => [rule, detectors[rule.detector]])), symbols = sizes.symbols;
      const state = [], symbol = [];
      for (const [{ q, a }, old] of truth) [state[q], symbol[a]] = [names[0][Math.floor(old / symbols)], names[1][old % symbols]];
      return rules.toSorted((a, b) => truth.get(a) - truth.get(b)).filter((rule) => rule.target !== null || wanted.has(keyOf(rule)))
        .map((rule) => {
          const { q, a, target, written, move } = rule, old = wanted.get(keyOf(rule));
          const now = target === null ? null : [state[target], symbol[written], move];
          return { same: JSON.stringify(now) === JSON.stringify(old ?? null),
            text: target === null ? "no rule" : `q${q} s${a} → q${target} s${written} ${MOVES[move]}`,
            old: `${keyOf(rule)} → ${old ? `${old[0]} ${old[1]} ${MOVES[old[2]]}` : "no rule"}` };
        });
      function keyOf({ q, a }) {
        return `${state[q]} ${symbol[a]}`;
      }
    }
    draw();
    return listen(model, { cover: draw, noise: draw, seed: draw });
  },
};
