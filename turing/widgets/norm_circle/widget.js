// Cells as directions: the head of a network that finds the last write on a cell, run in the page.

import { createChoice, h, listen, onKeys, put, svg, textField, uniqueId, widget, write } from "../page/dom.js";
import { clamp, count, listed, shown, signed } from "../page/text.js";
import { createTransport } from "../page/transport.js";
import { stepsOf } from "./run.js";

const ARITHMETICS = ["exact", "float64", "float32"], BEST = 6;
const WIDTH = 340, HEIGHT = 186, RADIUS = 140, X = WIDTH / 2, Y = 170;
const LABELS = RADIUS + 13, APART = 15; // the labels' circle, and how far apart they have to be

const small = (x) => (x === 0 ? "0" : signed(Math.abs(x) < 0.001 ? x.toExponential(1) : x.toPrecision(2)));

/** Where an address points: x and y are two of its numbers, and the circle has the radius 1/√2. */
const point = ([x, y]) => [X + Math.SQRT2 * RADIUS * x, Y - Math.SQRT2 * RADIUS * y];

/** The angle of an address with the upright ray, that of cell 0. */
const angleOf = ([x, y]) => Math.atan2(x, y);

function createCircle() {
  const rays = svg("g"), root = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
  const arc = `M ${X - RADIUS} ${Y} A ${RADIUS} ${RADIUS} 0 0 1 ${X + RADIUS} ${Y} Z`;
  root.append(svg("path", { class: "arc", d: arc }), rays);
  const ray = (name, at) => {
    const [x, y] = point(at);
    return svg("line", { class: name, x1: X, y1: Y, x2: x, y2: y });
  };
  return {
    node: root,
    show({ query, cell, keys, winners }, right) {
      const cells = new Map(keys.map((key) => [key.cell, key])); // a ray for each cell
      const won = keys[winners[0]], labels = [], [endX, endY] = point(won.at);
      const nodes = [...cells.values()].map(({ at }) => ray("key", at));
      const label = (name, angle, text) => {
        const [x, y] = [X + LABELS * Math.sin(angle), Y - LABELS * Math.cos(angle)];
        if (labels.some(([a, b]) => Math.hypot(a - x, b - y) < APART)) return;
        labels.push([x, y]);
        nodes.push(svg("text", { class: name, x, y: y + 4 }, signed(text)));
      };
      // The query has its label, and so has the fetched key, moved aside if its ray is close to the query's; the others,
      // from the middle outwards, where there is room.
      label("query", angleOf(query), cell);
      if (won.cell !== cell) {
        const turn = angleOf(won.at) - angleOf(query), least = (APART + 0.5) / LABELS;
        label("key", angleOf(query) + Math.sign(turn) * Math.max(Math.abs(turn), least), won.cell);
      }
      for (const key of [...cells.values()].sort((a, b) => Math.abs(a.cell) - Math.abs(b.cell)))
        if (key.cell !== cell && key.cell !== won.cell) label("key", angleOf(key.at), key.cell);
      nodes.push(ray("query", query),
        svg("circle", { class: won.cell === right.cell ? "won" : "won wrong", cx: endX, cy: endY, r: 5 }));
      rays.replaceChildren(...nodes);
      root.setAttribute("aria-label", `A half circle with a ray for each of the cells ${[...cells.keys()].sort((a, b) => a - b)
        .map(signed).join(", ")}. The query is cell ${signed(cell)}.`);
    },
  };
}

/** The keys that come nearest to the query. */
function createTable() {
  const body = h("tbody");
  const heads = ["column", "cell", "wrote", "1 − φ·φⱼ", "ψⱼ", "1 − score"].map((name) => h("th", { scope: "col" }, name));
  return {
    node: h("table", {}, h("thead", {}, h("tr", {}, ...heads)), body),
    show({ keys, winners, cell }, right) {
      const order = [...keys].sort((a, b) => a.below - b.below || b.column - a.column).slice(0, BEST);
      for (const j of [...winners.slice(0, 2), right.column - 1])
        if (!order.includes(keys[j])) order.push(keys[j]);
      body.replaceChildren(...order.map((key) => {
        const fetched = winners.includes(key.column - 1), wanted = key.column === right.column;
        const mark = fetched ? (wanted ? "fetched" : "fetched, wrong") : wanted ? "right" : "";
        const cells = [`${key.column}`, signed(key.cell), key.wrote ? shown(key.wrote) : "–", small(key.apart), small(key.psi),
          small(key.below)];
        return h("tr", { class: `${fetched ? "fetched" : ""} ${key.cell === cell ? "here" : ""}`.trim() },
          ...cells.map((text, n) => (n ? h("td", {}, text)
            : h("th", { scope: "row" }, text, ...(mark ? [h("i", {}, ` ${mark}`)] : [])))));
      }));
    },
  };
}

function describe({ state, cell, keys, winners }, right, arithmetic, step) {
  const here = keys.filter((key) => key.cell === cell), won = keys[winners[0]], says = [];
  says.push(`Step ${step}: state ${state}, the tape head is on cell ${signed(cell)}.`);
  if (winners.length > 1)
    says.push(`${winners.length} columns tie in ${arithmetic}: ${listed(winners.slice(0, 4).map((j) => [`${j + 1}`])).join("")}` +
      `${winners.length > 4 ? " …" : ""}. Exact arithmetic has one best key, column ${right.column}.`);
  else if (won.column !== right.column)
    says.push(`${arithmetic} fetches column ${won.column}, on cell ${signed(won.cell)}. It should be column ${right.column}, ` +
      `on cell ${signed(right.cell)}: rounding is larger than the difference.`);
  else if (!here.length) {
    says.push(`No column wrote on this cell. The best key is that of the neighbour, cell ${signed(won.cell)}: ` +
      "its parity is different, so the word's symbol is taken.");
  } else {
    says.push(here.length > 1 ? `${count(here.length, "column")} match, and φ·φⱼ is 1 for each. ψⱼ is least for the last of ` +
      `them, column ${won.column}.` : `One column matches, column ${won.column}.`,
    won.wrote ? `It wrote ${shown(won.wrote)}.` : "It is the first one, which wrote nothing: the word's symbol is taken.");
  }
  return says.join(" ");
}

export default {
  render({ model, el }) {
    const get = (name) => model.get(name), file = get("network"), max = get("max"), id = uniqueId(), runs = new Map();
    let busy = false, last = 1, now = 1, wrong = false;
    const change = (changes) => {
      busy = true;
      put(model, changes);
      busy = false;
      draw();
    };
    const input = textField({ "aria-describedby": id }), hint = h("span", { class: "hint", id, "aria-live": "polite" });
    const transport = createTransport("Step of the run", {
      first: 1,
      get last() { return last; },
      get now() { return now; },
      go: (step) => change({ step }),
    });
    const arithmetics = createChoice("Arithmetic", ARITHMETICS.map((name) => [name, name]),
      (arithmetic) => change({ arithmetic }));
    const circle = createCircle(), keys = createTable(), says = h("p", { class: "account", "aria-live": "polite" });
    const where = h("p", { class: "where" }), limits = h("p", { class: "label" });
    const root = widget("norm-circle", "Cells as directions", { tabindex: 0 },
      h("div", { class: "word" }, h("label", {}, "Word", input), hint),
      h("div", { class: "controls" }, transport.buttons, transport.slider), arithmetics.node, where,
      h("div", { class: "panes" }, h("div", {}, circle.node,
        h("p", { class: "label lines" }, h("i", { class: "query" }), "query ", h("i", { class: "key" }), "keys ",
          h("i", { class: "won" }), "fetched")),
      h("div", { class: "list" }, says, h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Best keys" },
        keys.node), limits)),
      h("p", { class: "keys" }, "Keys: ← → one step, Home and End."));
    el.replaceChildren(root);
    onKeys(root, () => transport.keys);

    const symbolsOf = (word) => (Array.isArray(word) ? word : [...word]);
    input.addEventListener("input", () => {
      const word = symbolsOf(input.value), { symbols } = steps("exact", []).machine;
      const unknown = word.find((symbol) => !symbols.includes(symbol));
      const fault = unknown !== undefined ? `${unknown} is not one of ${symbols.join(" ")}`
        : word.length > max.symbols ? `${max.symbols} symbols at most` : "";
      write(hint, fault);
      input.setAttribute("aria-invalid", fault !== "");
      if (!fault) change({ word: input.value, step: 1 });
    });

    /** The steps of a run, computed once. */
    function steps(arithmetic, word) {
      const key = JSON.stringify([arithmetic, word]);
      if (!runs.has(key)) runs.set(key, stepsOf(file, arithmetic, word, max.steps));
      return runs.get(key);
    }

    function draw() {
      if (busy) return;
      const word = symbolsOf(get("word")), arithmetic = get("arithmetic");
      const exact = steps("exact", word).steps, { steps: own, last: end } = steps(arithmetic, word);
      const mine = end && own.length < exact.length ? [...own, end] : own; // only the float comes to an end here
      const found = exact.findIndex(({ winners }, t) => `${mine[t]?.winners}` !== `${winners}`);
      wrong = found >= 0 && found < mine.length;
      last = Math.max(1, wrong ? found + 1 : Math.min(exact.length, mine.length));
      now = clamp(get("step"), 1, last);
      if (document.activeElement !== input) input.value = Array.isArray(get("word")) ? get("word").join("") : get("word");
      const view = mine[now - 1];
      arithmetics.show((name) => name === arithmetic);
      transport.show();
      Object.assign(root.dataset, { step: now, last, wrong: wrong ? found + 1 : 0, arithmetic });
      if (!view) return;
      const right = view.keys[exact[now - 1].winners[0]];
      where.replaceChildren(h("b", {}, `Step ${now} of ${last}`), " · ", count(view.keys.length, "key"));
      circle.show(view, right);
      keys.show(view, right);
      write(says, describe(view, right, arithmetic, now));
      write(limits, wrong ? `In this page ${arithmetic} first fetches another column than exact arithmetic at step ${last}.`
        : arithmetic === "exact" ? "float32 and float64 are compared with exact arithmetic, which is never wrong."
          : `${arithmetic} fetches the right column in all ${last} steps${last === max.steps ? " that are shown" : ""}.`);
    }

    draw();
    return listen(model, { word: draw, step: draw, arithmetic: draw });
  },
};
