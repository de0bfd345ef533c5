// The adders. Their networks run in the page, so it needs no kernel and no connection.

import { button, h, listen, onKeys, put, widget } from "../page/dom.js";
import { equationsOf } from "../page/equations.js";
import { forward, read } from "../page/network.js";
import { formatNumber, rowText } from "../page/sums.js";
import { clamp, range } from "../page/text.js";
import { createTransport } from "../page/transport.js";

const unbroken = (text) => text.replace(/ (?![+−])/g, "\u00a0"); // a line breaks before a sign and nowhere else
const inBrackets = (value) => (value < 0 ? `(${formatNumber(value)})` : formatNumber(value));
const RATE = 2.5; // layers a second

/** A cell to tap, with its name below. */
const cellButton = (text, name, action) => {
  const node = button("", action, { class: "bit" });
  node.append(h("b", {}, text), " ", h("i", {}, name));
  return node;
};

/** A number as a row of bits to tap, most significant first, in groups of four. */
function createNumber(name, bits, flip) {
  const cells = range(bits).map((k) => cellButton("", bits > 1 ? `${name}[${k}]` : name, () => flip(k)));
  const groups = [];
  for (let k = 0; k < bits; k += 4) groups.unshift(h("span", {}, ...cells.slice(k, k + 4).reverse()));
  const value = h("output");
  return {
    node: h("div", { class: "number", role: "group", "aria-label": name, "data-slice": name },
      h("span", { class: "cells" }, ...groups), value),
    show(number) {
      cells.forEach((cell, k) => {
        const bit = (number >> k) & 1;
        cell.firstElementChild.textContent = bit;
        cell.setAttribute("aria-pressed", bit === 1);
      });
      if (name !== "carry") value.textContent = `= ${number}`;
    },
  };
}

/** The layers of an adder as a line, those of one bit together. */
function createLine(steps, bits) {
  const ticks = steps.map(() => h("i")), line = h("div", { class: "line", "aria-hidden": true });
  let group = null;
  steps.forEach(({ bit }, n) => {
    if (n === 0 || bit === null || bit !== steps[n - 1].bit) {
      group = h("span", { "data-bit": bit === null ? "" : bits > 4 ? bit : `bit ${bit}` });
      line.append(group);
    }
    group.append(ticks[n]);
    group.style.flex = group.childElementCount;
  });
  return {
    line,
    show: (layer) => ticks.forEach((tick, n) => (tick.className = n + 1 === layer ? "now" : n < layer ? "done" : "")),
  };
}

/** One adder: its vector in a table with a column for each bit, and the equations that fired last. */
function createStage({ title, network: data, steps }, bits) {
  const network = read(data), { modules } = network, depth = modules.length;
  const vectors = [modules[0].layouts[0], ...modules.map(({ layouts }) => layouts.at(-1))];
  const travels = steps.some((step) => step.carry !== null); // then there is a column for the carry out
  const columns = [...(travels ? [bits] : []), ...range(bits).reverse()];
  const all = vectors.map(({ slices }) => slices);
  const rows = Math.max(...all.map((slices) => slices.length));
  const label = Math.max(...all.flat().map(({ name }) => name.length));

  const caption = h("p", { class: "account" }), head = h("tr"), body = h("tbody"), count = h("span", { class: "count" });
  const table = h("table", { "aria-label": `${title}: the vector` }, h("thead", {}, head), body);
  const equations = h("ul", { class: "equations", tabindex: 0, "aria-label": `${title}: equations` });
  const { line, show: showLine } = createLine(steps.slice(1), bits);
  let past = [], shown = -1;

  /** The value that the carry had when it came to a column. */
  const carried = (column) => {
    const t = steps.findIndex((step) => step.carry === column);
    return past[t][vectors[t].names.indexOf("carry")];
  };

  function tableRow(t, { name, start, size }) {
    const { bit, carry } = steps[t], { names } = vectors[t];
    const before = t ? vectors[t - 1].names : names;
    const moving = name === "carry" && carry !== null, first = moving ? carry : 0;
    const cells = columns.map((k) => {
      const i = start + k - first, on = k === bit ? " on" : "";
      if (k >= first && k < first + size) {
        const value = past[t][i], changed = t && value !== (past[t - 1][before.indexOf(names[i])] ?? 0);
        const kind = `place${value ? " one" : ""}${changed ? " changed" : ""}${on}`;
        return h("td", { class: kind, "data-name": names[i] }, h("b", {}, formatNumber(value)));
      }
      if (moving && k < first) return h("td", { class: `was${on}`, "aria-hidden": true }, formatNumber(carried(k)));
      return h("td", { class: on });
    });
    if (t === depth && name !== "b") {
      const number = range(size).reduce((sum, k) => sum + past[t][start + k] * 2 ** (first + k), 0);
      cells.push(h("td", { class: "decimal" }, `= ${number}`));
    }
    return h("tr", { "data-slice": name }, h("th", { scope: "row" }, name), ...cells);
  }

  function tableHead({ bit, carry }) {
    const cells = columns.map((k) => k === bits && carry === null
      ? h("td")
      : h("th", { scope: "col", class: k === bit ? "on" : "" }, k === bits ? "out" : k));
    return [h("td", {}, "bit"), ...cells];
  }

  function equation({ name, row, text, gate }, value, values) {
    const result = formatNumber(value), filled = rowText(row, values, "·"), item = h("li", { "data-name": name });
    item.append(h("code", { class: "law" }, `${name} ← ${unbroken(text)}`));
    if (text !== "0") {
      const sum = filled === result ? "= " : `= ${unbroken(filled)} = `;
      item.append(h("code", { class: "filled" }, sum, h("b", {}, result)));
    }
    item.append(h("code", { class: "gate" }, gate));
    return item;
  }

  return {
    title,
    depth,
    line,
    time: [h("span", { class: "name" }, title), line, count],
    node: h("section", { role: "group", "aria-label": title }, h("p", { class: "title" }, title), caption,
      h("div", { class: "work", style: `--rows: ${rows}; --label: ${label}ch` }, table, equations)),
    run(values) {
      const bitsOf = ({ name, size }) => range(size).map((k) => (values[name] >> k) & 1);
      const first = all[0].flatMap(bitsOf);
      past = [first, ...forward(network, first)];
    },
    /** Show what there is after a layer; return what it wrote. */
    show(layer) {
      const t = Math.min(layer, depth), values = t && Array.from(past[t - 1], inBrackets);
      const fired = t ? equationsOf(modules[t - 1].layers[0], vectors[t - 1].names, vectors[t].names) : [];
      // As on paper, a carry that travels stands above the numbers.
      const order = [...all[t]].sort((one, other) => travels * ((other.name === "carry") - (one.name === "carry")));
      caption.textContent = steps[t].says;
      head.replaceChildren(...tableHead(steps[t]));
      body.replaceChildren(...order.map((slice) => tableRow(t, slice)));
      equations.replaceChildren(...fired.map((found) => equation(found, past[t][found.i], values)));
      if (!t) equations.append(h("li", { class: "none" }, "No layer has fired yet."));
      if (t !== shown) equations.scrollTop = 0;
      shown = t;
      showLine(layer);
      count.textContent = layer > depth ? `done at layer ${depth}` : `layer ${layer} of ${depth}`;
      return fired.map(({ i, name }) => `${name} = ${formatNumber(past[t][i])}`);
    },
  };
}

export default {
  render({ model, el }) {
    const bits = model.get("bits"), task = model.get("task");
    const stages = model.get("stages").map((stage) => createStage(stage, bits));
    const depth = Math.max(...stages.map((stage) => stage.depth));
    for (const stage of stages) // a layer is as long in one line as in the other
      if (stage.depth < depth) stage.line.append(h("span", { style: `flex: ${depth - stage.depth}` }));

    const number = (name, size) =>
      createNumber(name, size, (k) => put(model, { [name]: model.get(name) ^ (1 << k) }));
    const numbers = task === "sum"
      ? { a: number("a", bits), b: number("b", bits), carry: number("carry", 1) }
      : { p: number("p", bits) };
    const moves = [["−1", "left"], ["0", "stay"], ["+1", "right"]].map(([text, name], n) =>
      cellButton(text, name, () => put(model, { move: n - 1 })));
    const input = (text, node) => h("div", {}, h("span", { class: "label", "aria-hidden": true }, text), node);
    const titles = { p: "position p", a: "a", b: "b", carry: "carry in" };
    const operands = Object.entries(numbers).map(([name, { node }]) => input(titles[name], node));
    if (task === "move") {
      const choice = { class: "cells moves", role: "group", "aria-label": "move" };
      operands.push(input("move", h("div", choice, h("span", {}, ...moves))));
    }

    const transport = createTransport("Layer", {
      first: 0,
      last: depth,
      get now() {
        return layer;
      },
      go: advance,
    }, () => RATE);
    const says = h("div", { class: "says", "aria-live": "polite" });
    const label = task === "sum" ? "Two numbers added, layer by layer" : "A position and a move added, layer by layer";
    const root = widget("adder", label, { tabindex: 0, "data-task": task },
      h("div", { class: "operands" }, ...operands),
      transport.buttons,
      h("div", { class: "time" }, ...stages.flatMap((stage) => stage.time), transport.slider),
      h("div", { class: "stages" }, ...stages.map((stage) => stage.node)),
      h("p", { class: "hint" }, "Framed: changed by this layer. Small: an earlier carry. ",
        h("span", {}, "Keys: ← → one layer, Home and End, P plays.")),
      says,
    );
    el.replaceChildren(root);

    let layer = clamp(model.get("layer"), 0, depth);

    function load() {
      const direction = model.get("move"), values = { right: direction > 0, left: direction < 0 };
      for (const [name, view] of Object.entries(numbers)) view.show((values[name] = model.get(name)));
      moves.forEach((node, n) => node.setAttribute("aria-pressed", n - 1 === direction));
      for (const stage of stages) stage.run(values);
      draw();
    }

    function draw() {
      const fired = stages.map((stage) => stage.show(layer));
      transport.show();
      if (transport.playing && layer < depth) return; // speech would fall behind: it is given single layers and the end
      const sentences = stages.map(({ title, depth }, n) =>
        layer > depth ? `${title}: done` : `${title}, layer ${layer} of ${depth}${layer ? ": " : ""}${fired[n].join(", ")}`);
      says.textContent = sentences.join(". ");
    }

    function advance(target) {
      layer = target;
      draw();
      put(model, { layer });
    }
    onKeys(root, () => transport.keys);

    const inputs = Object.fromEntries([...Object.keys(numbers), "move"].map((name) => [name, load]));
    const forget = listen(model, {
      ...inputs, layer: () => model.get("layer") !== layer && transport.move(model.get("layer")),
    });
    load();
    return () => {
      transport.pause();
      forget();
    };
  },
};
