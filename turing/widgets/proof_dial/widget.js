// The proof dial. A weight is dragged, the page checks all obligations again, and the one that fails is marked.

import { setWeight } from "../page/compile.js";
import { button, createChoice, h, listen, live, on, put, svg, widget, write } from "../page/dom.js";
import { read } from "../page/network.js";
import { describeProof, Prover } from "../page/proving.js";
import { clamp, digits } from "../page/text.js";

const SIGNS = { holds: ["✓", "holds"], fails: ["✗", "fails"], undecided: ["?", "is undecided"], open: ["·", "is not reached"] };
const REACH = 2, FULL = 0.75; // how far a weight goes, and the margin that fills a bar

/** How far the columns that fit score above the null key, and the others below it; a loss is hollow. */
function marginsOf(margins) {
  const picture = svg("svg", { viewBox: "-50 0 100 12", preserveAspectRatio: "none", "aria-hidden": true });
  margins?.forEach((margin, n) => {
    const size = (50 * clamp(Math.abs(margin), 0, FULL)) / FULL, right = n === 0 ? margin > 0 : margin < 0;
    picture.append(svg("rect", { x: right ? 0 : -size, y: n ? 7 : 1, width: size, height: 4, class: margin > 0 ? "" : "lost" }));
  });
  picture.append(svg("path", { d: "M0 0V12" }));
  return picture;
}

export default {
  async render({ model, el }) {
    const weights = model.get("weights"), file = structuredClone(model.get("network")), { machine, modules } = read(file);
    const heads = modules.filter(({ kind }) => kind === "attention").map(({ name }) => name);
    const names = ["before the heads", ...heads, "after the heads"];
    const slider = h("input", { type: "range", "aria-label": "Weight", step: weights[0].grid });
    const now = h("output", { class: "now" }), band = h("span", { class: "band" }), own = h("span", { class: "own" });
    const range = live("range"), verdict = live("verdict"), list = h("ol", { class: "obligations" });
    const rows = names.map((name) => {
      const mark = h("b", { class: "sign" }), picture = h("span", { class: "margins" });
      const row = h("li", {}, mark, h("span", {}, name), picture);
      list.append(row);
      return { name, mark, picture, row };
    });
    const labels = weights.map(({ label }, n) => [label, n]);
    const choice = createChoice("Drag which weight?", labels, (n) => choose(n, weights[n].value));
    const back = button("Put it back", () => choose(chosen, weights[chosen].value));
    const root = widget("proof-dial", "A weight, and where the proof breaks", {}, choice.node,
      h("div", { class: "dial" }, now, h("div", { class: "track" }, h("div", { class: "room" }, band, own), slider), back),
      range, verdict,
      h("p", { class: "label" }, "The obligations, in order. Bars: in each head, how far columns that fit score above the null " +
        "key (upper bar, to the right) and all others below it (lower bar, to the left)."), list);
    let chosen = -1, value = 0, isPutting = false, started;
    const isStarted = new Promise((resolve) => (started = resolve));

    const prover = new Prover((found) => {
      const [mark, text] = describeProof(found, machine);
      const reached = found.verdict === "proved" ? names.length : names.indexOf(found.at);
      Object.assign(root.dataset, { proof: found.verdict, at: found.at, shown: value });
      write(verdict, `${mark} ${text}`);
      started();
      rows.forEach(({ name, mark, picture, row }, n) => {
        const state = n < reached ? "holds" : n > reached ? "open" : found.verdict === "undecided" ? "undecided" : "fails";
        row.dataset.state = state;
        const [sign, said] = SIGNS[state];
        mark.textContent = sign;
        mark.setAttribute("aria-label", said);
        picture.replaceChildren(...(heads.includes(name) && n <= reached ? [marginsOf(found.margins[name])] : []));
      });
    });

    /** What the reader does; the kernel hears of it. */
    function choose(n, to) {
      show(n, to);
      isPutting = true;
      put(model, { chosen, value });
      isPutting = false;
    }
    function show(n, to) {
      const { name, place, value: compiled, low, high, label } = weights[n];
      if (n !== chosen && chosen >= 0) setWeight(file, weights[chosen].name, weights[chosen].place, weights[chosen].value);
      const isNew = n !== chosen, least = compiled - REACH;
      const at = (x) => `${(100 * (clamp(x, least, least + 2 * REACH) - least)) / (2 * REACH)}%`;
      [chosen, value] = [n, clamp(to, least, least + 2 * REACH)];
      Object.assign(slider, { min: least, max: least + 2 * REACH, value });
      [value, slider.ariaValueText] = [Number(slider.value), `${label} is ${digits(Number(slider.value))}`];
      choice.show((m) => m === n);
      write(now, digits(value));
      if (isNew) {
        const [from, to] = [at(low ?? -Infinity), at(high ?? Infinity)];
        Object.assign(band.style, { left: from, width: `calc(${to} - ${from})` });
        own.style.left = at(compiled);
        const ends = low === null ? `up to ${digits(high)}, and as far below as you like`
          : high === null ? `from ${digits(low)}, and as far above as you like`
          : low === high ? `at ${digits(low)} alone` : `from ${digits(low)} to ${digits(high)}`;
        write(range, `It was compiled as ${digits(compiled)}, and the proof holds ${ends}.`);
      }
      setWeight(file, name, place, value);
      prover.ask(file);
    }
    on(slider, "input", () => choose(chosen, Number(slider.value)));
    const follow = () => !isPutting && (model.get("chosen") !== chosen || model.get("value") !== value) &&
      show(model.get("chosen"), model.get("value"));
    const forget = listen(model, { chosen: follow, value: follow });
    el.replaceChildren(root);
    show(model.get("chosen"), model.get("value"));
    await isStarted;
    return () => {
      forget();
      prover.end();
    };
  },
};
