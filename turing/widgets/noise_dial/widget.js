// The noise dial: noise on every weight of a network that the page runs itself, and the step at which it breaks.

import { createChoice, h, listen, on, put, widget, watch, write } from "../page/dom.js";
import { layoutOf } from "../page/network.js";
import { clamp, digits, range, signed } from "../page/text.js";
import { follow, noisy, unrestored } from "./run.js";

const STEPS = 81, LEAST = -9, MOST = -1.5, ROW = 5, GAP = 1, MAX_SEED = 999;
const FAMILIES = { st: "--st", sym: "--sym", pos: "--pos", scr: "--scr" };

const power = (x) => `10${[...`${x}`].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? { "-": "⁻", ".": "·" }[c]).join("")}`;

/** A row for each column so far, a stripe for each place: the more ink, the nearer to 1. */
function createBarcode(slices) {
  const canvas = h("canvas", { role: "img" }), names = h("div", { class: "names", "aria-hidden": true });
  const shown = slices.filter(({ name }) => /^(st|sym|pos2|scr5)/.test(name));
  const total = shown.reduce((sum, { size }) => sum + size, 0) + shown.length - 1;
  names.append(...shown.map(({ name, size }, n) => h("span", { style: `flex: ${size + (n < shown.length - 1)} 1 0` }, name)));
  return {
    node: h("div", { class: "barcode" }, names, canvas),
    show(columns, failure) {
      const width = canvas.clientWidth || 600, ratio = window.devicePixelRatio || 1, height = STEPS * ROW;
      Object.assign(canvas, { width: width * ratio, height: height * ratio });
      canvas.style.height = `${height}px`;
      const pen = canvas.getContext("2d"), look = getComputedStyle(canvas), unit = width / total;
      pen.scale(ratio, ratio);
      range(STEPS).forEach((t) => { // no column came after a failure: its places are there, and empty
        let left = 0;
        const column = columns[t] ?? [];
        for (const { name, start, size } of shown) {
          pen.fillStyle = look.getPropertyValue(FAMILIES[name.replace(/\d/g, "")]);
          for (const k of range(size)) {
            pen.globalAlpha = 0.06 + 0.94 * clamp(Math.abs(column[start + k] ?? 0), 0, 1);
            pen.fillRect(left + k * unit, t * ROW, unit - 0.5, ROW - GAP);
          }
          left += (size + 1) * unit;
        }
      });
      pen.globalAlpha = 1;
      if (failure) {
        pen.fillStyle = look.getPropertyValue("--ink");
        pen.fillRect(0, columns.length * ROW, width, 2);
      }
      canvas.setAttribute("aria-label", `The columns of ${columns.length} steps, a row each, from white for 0 to ink for 1`);
    },
  };
}

export default {
  render({ model, el }) {
    const file = model.get("file"), order = model.get("order"), word = model.get("word"), plain = unrestored(file);
    const { slices } = layoutOf(file.layouts[0]), barcode = createBarcode(slices);
    const dial = h("input", { type: "range", min: LEAST, max: MOST, step: 0.25, "aria-label": "Noise: the exponent of σ" });
    const sigma = h("output"), says = h("p", { class: "account", "aria-live": "polite" });
    const seed = h("input", { type: "number", min: 0, max: MAX_SEED, step: 1, "aria-label": "Seed" });
    const choice = createChoice("restoring", [["off", false], ["on", true]], (restoring) => put(model, { restoring }));
    const root = widget("noise-dial", "Noise dial", {},
      h("div", { class: "controls" }, h("label", { class: "dial" }, h("span", { class: "label" }, "noise"), dial, sigma),
        h("label", {}, h("span", { class: "label" }, "seed"), seed), choice.node),
      says, barcode.node);
    on(dial, "input", () => put(model, { exponent: Number(dial.value) }));
    on(seed, "change", () => {
      const value = Number(seed.value);
      if (Number.isInteger(value) && value >= 0 && value <= MAX_SEED) put(model, { seed: value });
      else seed.value = model.get("seed");
    });
    let found, waiting = 0;

    function say({ failure, errors }) {
      if (!failure) {
        const worst = Math.max(...errors);
        return `All ${STEPS} steps are right. The largest error of a column is ${signed(worst.toExponential(1))}.`;
      }
      const { step, module, name, found: value, expected } = failure;
      return `Step ${step} of ${STEPS} breaks: in ${module}, ${name} is ${digits(value, 3)}, and ${expected} is right. ` +
        `Two steps earlier, the largest error of any number in its column was ${signed((errors[step - 3] ?? 0).toExponential(1))}.`;
    }
    function compute() {
      waiting = 0;
      const restoring = model.get("restoring"), own = restoring ? file : plain;
      found = follow(own, noisy(own, order, 10 ** model.get("exponent"), model.get("seed")), word, STEPS);
      write(says, say(found));
      Object.assign(root.dataset, { step: found.failure?.step ?? "", module: found.failure?.module ?? "",
        place: found.failure?.name ?? "", state: "ready" });
      barcode.show(found.columns, found.failure);
    }
    function show() {
      const exponent = model.get("exponent");
      dial.value = exponent;
      seed.value = model.get("seed");
      write(sigma, `σ = ${power(exponent)}`);
      choice.show((value) => value === model.get("restoring"));
      root.dataset.state = "busy";
      waiting ||= setTimeout(compute, 30); // the slider moves faster than the network
    }
    el.append(root);
    show();
    const ends = [listen(model, { "exponent": show, "seed": show, "restoring": show }),
      watch(root, () => found && barcode.show(found.columns, found.failure), () => found && barcode.show(found.columns, found.failure))];
    return () => (clearTimeout(waiting), ends.forEach((end) => end()));
  },
};
