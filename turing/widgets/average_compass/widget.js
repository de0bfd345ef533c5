// The average compass: history, average and scores at one pass of a network that the page runs itself.

import { createChoice, h, listen, onKeys, put, scroller, svg, widget, write } from "../page/dom.js";
import { clamp, count, range, signed } from "../page/text.js";
import { createTransport } from "../page/transport.js";
import { follow } from "./run.js";

const BEST = 5, WIDTH = 600, HEIGHT = 150, DECADES = 10;
const DIGITS = { float32: 8, float64: 12 };

/** −|⟨q, k⟩| as it is written: a fraction, or so many digits. */
function scoreText({ value, fraction }, arithmetic) {
  if (fraction) return signed(fraction[0] === 0n ? "0" : `-${fraction[0] < 0n ? -fraction[0] : fraction[0]}/${fraction[1]}`);
  return signed(value === 0 ? "0" : (-Math.abs(value)).toExponential(DIGITS[arithmetic] - 1));
}

/** The moves so far, a cell for each. */
function createHistory() {
  const row = h("div", { class: "moves", role: "img" }), frame = scroller("history", "Moves", row);
  return {
    frame,
    show({ i, visits, right, fetched, cell }, moveOf) {
      while (row.childElementCount > i) row.lastChild.remove();
      while (row.childElementCount < i) {
        const j = row.childElementCount + 1;
        row.append(h("span", { class: "move" }, h("b"), h("i", {}, j)));
      }
      [...row.children].forEach((node, k) => {
        const j = k + 1;
        write(node.firstChild, moveOf(j) > 0 ? "→" : "←");
        node.classList.toggle("visit", visits.includes(j));
        node.classList.toggle("fetched", fetched.includes(j));
        node.classList.toggle("missed", j === right && !fetched.includes(j));
      });
      row.setAttribute("aria-label", `The moves of ${count(i, "step")}. Cell ${cell} was visited at ` +
        (visits.length ? `step ${visits.slice(-6).join(", ")}` : "no step"));
      const node = row.children[Math.max(...fetched, right) - 1];
      frame.scrollLeft = i - fetched[0] > 12 ? node.offsetLeft - frame.clientWidth / 2 : row.scrollWidth;
    },
  };
}

/** The average as a needle: straight up is 0, to the right is 1. */
function createCompass() {
  const needle = svg("path", { class: "needle", d: "M-3 0L0 -62L3 0Z" });
  const ticks = [-1, -0.5, 0, 0.5, 1].map((x) =>
    svg("path", { class: "tick", d: "M0 -68V-74", transform: `rotate(${90 * x})` }));
  const names = [[-1, -87, 4], [0, 0, -80], [1, 81, 4]].map(([x, left, top]) =>
    svg("text", { x: left, y: top, "text-anchor": "middle" }, signed(x)));
  const node = svg("svg", { class: "compass", viewBox: "-96 -96 192 108", role: "img" },
    svg("path", { class: "arc", d: "M-68 0A68 68 0 0 1 68 0" }), ...ticks, ...names, needle, svg("circle", { r: 4 }));
  return {
    node,
    show({ average, cell, i }) {
      needle.style.transform = `rotate(${90 * average}deg)`;
      node.setAttribute("aria-label", `The average of the moves is ${signed(cell)}/${i}`);
    },
  };
}

/** A bar for each step, as high as its score has zeros: the highest bar wins. */
function createBars() {
  const others = svg("path", { class: "others" }), visits = svg("path", { class: "visits" });
  const best = svg("path", { class: "best" }), missed = svg("path", { class: "missed" });
  const lines = [0, 3, 6, 9].map((k) => HEIGHT * (1 - (k + 1) / (DECADES + 1)));
  const node = svg("svg", { class: "bars", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" },
    ...lines.map((y) => svg("path", { class: "line", d: `M0 ${y}H${WIDTH}`, "vector-effect": "non-scaling-stroke" })),
    others, visits, best, missed);
  const scale = h("div", { class: "scale", "aria-hidden": true }, ...["1", "10⁻³", "10⁻⁶", "10⁻⁹"].map((text, k) =>
    h("span", { style: `top: ${(100 * lines[k]) / HEIGHT}%` }, text)));
  const heightOf = ({ value }) => value === 0 ? HEIGHT
    : clamp((HEIGHT * (1 - Math.log10(Math.abs(value)))) / (DECADES + 1), 1, HEIGHT);
  return {
    node: h("div", { class: "plot" }, scale, node),
    show({ i, visits: seen, right, fetched }, products) {
      const wide = WIDTH / i, gap = Math.min(0.25 * wide, 3);
      const bars = (steps) => steps.map((j) => {
        const high = heightOf(products[j - 1]);
        return `M${((j - 1) * wide + gap / 2).toFixed(2)} ${HEIGHT}v${(-high).toFixed(2)}h${(wide - gap).toFixed(2)}v${high.toFixed(2)}Z`;
      }).join("");
      const wrong = fetched.includes(right) ? [] : [right];
      others.setAttribute("d", bars(range(i).map((k) => k + 1).filter((j) => !seen.includes(j))));
      visits.setAttribute("d", bars(seen));
      best.setAttribute("d", bars(fetched));
      missed.setAttribute("d", bars(wrong));
      node.setAttribute("aria-label", `The scores of ${count(i, "step")}. Step ${fetched.join(" and ")} has the best one`);
    },
  };
}

/** The keys with the best scores: where they stand is decided among these. */
function createTable() {
  const body = h("tbody");
  return {
    node: h("table", {}, h("thead", {}, h("tr", {}, ...["step", "cell", "score", "note"].map((name) => h("th", {}, name)))), body),
    show({ i, cell, right, fetched }, products, cells, arithmetic) {
      const order = range(i).sort((a, b) => Math.abs(products[a].value) - Math.abs(products[b].value) || b - a);
      const chosen = [...new Set([...order.slice(0, BEST), right - 1])];
      body.replaceChildren(...chosen.map((k) => {
        const j = k + 1, notes = [...(fetched.includes(j) ? ["fetched"] : []), ...(j === right ? ["right"] : [])];
        return h("tr", { class: notes.join(" ") }, h("td", {}, j), h("td", { class: "d" }, signed(cells[k])),
          h("td", { class: "score" }, scoreText(products[k], arithmetic)),
          h("td", {}, notes.join(", ") || (cells[k] === cell ? "a visit" : "")));
      }));
    },
  };
}

/** What is going on, in words. */
function describe({ i, cell, visits, right, fetched, average }, products, arithmetic, wrong) {
  const at = signed(cell), mean = `After ${count(i, "move")} the average is ${at}/${i}` +
    (arithmetic === "exact" ? "" : ` ≈ ${signed(Number(average.toPrecision(6)))}`) + `: the tape head comes to cell ${at}.`;
  const seen = visits.length ? `It has been there ${["", "once", "twice"][visits.length] ?? `${visits.length} times`}, last at step ${right}.`
    : `It has never been there, so the step itself should win.`;
  if (wrong === i) {
    const tie = fetched.length > 1 ? `steps ${fetched.join(" and ")} tie` : `step ${fetched[0]} wins`;
    return `${mean} ${seen} In ${arithmetic} ${tie}. The fetch is wrong, and the run ends here; turn to another number type.`;
  }
  const others = visits.filter((j) => j !== right), next = others.at(-1);
  const lead = next ? ` The visit before that, step ${next}, has a score that is ` +
    `${Number((100 * (Math.abs(products[next - 1].value / products[right - 1].value) - 1)).toPrecision(2))} % further from 0.` : "";
  return `${mean} ${seen} Step ${fetched[0]} has the best score.${lead}`;
}

export default {
  render({ model, el }) {
    const get = (name) => model.get(name), runs = Object.fromEntries(get("runs").map((run) => [run.name, run]));
    const known = new Map(), followed = (name, arithmetic) => {
      const key = `${name} ${arithmetic}`;
      if (!known.has(key)) known.set(key, follow(runs[name], arithmetic));
      return known.get(key);
    };
    let busy = false, view;
    const change = (changes) => {
      busy = true; // several traits change at once, and are drawn at once
      put(model, changes);
      busy = false;
      draw();
    };
    const transport = createTransport("Number i of the pass", {
      first: 1,
      get last() {
        return view.last;
      },
      get now() {
        return view.i;
      },
      go: (i) => change({ i }),
    });
    const run = createChoice("Run", Object.keys(runs).map((name) => [name, name]), (name) =>
      change({ run: name, i: Math.min(get("i"), runs[name].passes) }));
    const arithmetic = createChoice("Number type", ["exact", "float64", "float32"].map((name) => [name, name]),
      (name) => change({ arithmetic: name }));
    const where = h("p", { class: "where" }), says = h("p", { class: "account", "aria-live": "polite" });
    const history = createHistory(), compass = createCompass(), bars = createBars(), best = createTable();
    const root = widget("average-compass", "The average of moves, and the scores of all steps", { tabindex: 0 },
      h("div", { class: "choices" }, run.node, arithmetic.node),
      h("div", { class: "controls" }, transport.buttons, transport.slider),
      where, history.frame,
      h("div", { class: "panes" }, compass.node, says),
      h("p", { class: "label" }, "|⟨q, k⟩| of each step on a logarithmic scale, small values at the top: the highest bar wins"),
      bars.node, scroller("closest", "The best scores", best.node),
      h("p", { class: "keys" }, "Keys: ← → one pass, Home and End."));
    el.replaceChildren(root);

    function draw() {
      if (busy) return;
      const now = followed(get("run"), get("arithmetic")), { last } = now;
      const pass = now.at(clamp(get("i"), 1, last)), { i } = pass, products = now.products(pass);
      view = { i, last };
      Object.assign(root.dataset, { i, fetched: pass.fetched.join(" "), right: pass.right, cell: pass.cell,
        wrong: now.wrong === i });
      where.replaceChildren(h("b", {}, `i = ${i}`), ` of ${last}`,
        now.wrong === i ? " · " : "", h("b", {}, now.wrong === i ? "the wrong step is fetched" : ""));
      write(says, describe(pass, products, now.arithmetic, now.wrong));
      history.show(pass, (j) => now.cells[j] - now.cells[j - 1]);
      compass.show(pass);
      bars.show(pass, products);
      best.show(pass, products, now.cells, now.arithmetic);
      run.show((name) => name === get("run"));
      arithmetic.show((name) => name === get("arithmetic"));
      transport.show();
    }

    draw();
    onKeys(root, () => transport.keys);
    return listen(model, { run: draw, i: draw, arithmetic: draw });
  },
};
