// The adders. Their networks run in the page, so it needs no kernel and no connection.

const h = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
};
const clamp = (x, low, high) => Math.max(low, Math.min(high, x));
const range = (n) => [...Array(n).keys()];
const whole = (text) => text.replace(/ (?![+−])/g, "\u00a0"); // a line breaks before a sign and nowhere else
const RATE = 2.5; // layers a second

const button = (text, action, attributes = {}) => {
  const node = h("button", { type: "button", ...attributes }, text);
  node.addEventListener("click", action);
  return node;
};
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
  const network = readNetwork(data), depth = network.layers.length;
  const travels = steps.some((step) => step.carry !== null); // then there is a column for the carry out
  const columns = [...(travels ? [bits] : []), ...range(bits).reverse()];
  const all = network.vectors.map(({ slices }) => slices);
  const rows = Math.max(...all.map((slices) => slices.length));
  const label = Math.max(...all.flat().map(({ name }) => name.length));

  const caption = h("p", { class: "caption" }), head = h("tr"), body = h("tbody"), count = h("span", { class: "count" });
  const table = h("table", { "aria-label": `${title}: the vector` }, h("thead", {}, head), body);
  const equations = h("ul", { class: "equations", tabindex: 0, "aria-label": `${title}: equations` });
  const { line, show: showLine } = createLine(steps.slice(1), bits);
  let past = [], shown = -1;

  /** The value that the carry had when it came to a column. */
  const carried = (column) => {
    const t = steps.findIndex((step) => step.carry === column);
    return past[t][network.vectors[t].names.indexOf("carry")];
  };

  function tableRow(t, { name, start, size }) {
    const { bit, carry } = steps[t], { names } = network.vectors[t];
    const before = t ? network.vectors[t - 1].names : names;
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
      const number = past[t].slice(start, start + size).reduce((sum, value, k) => sum + value * 2 ** (first + k), 0);
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

  function equation({ name, text, filled, value, gate }) {
    const result = formatNumber(value), item = h("li", { "data-name": name });
    item.append(h("code", { class: "law" }, `${name} ← ${whole(text)}`));
    if (text !== "0") {
      const sum = filled === result ? "= " : `= ${whole(filled)} = `;
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
      past = runNetwork(network, all[0].flatMap(bitsOf));
    },
    /** Show what there is after a layer; return what it wrote. */
    show(layer) {
      const t = Math.min(layer, depth), fired = t ? equationsOf(network, t - 1, past[t - 1]) : [];
      // As on paper, a carry that travels stands above the numbers.
      const order = [...all[t]].sort((one, other) => travels * ((other.name === "carry") - (one.name === "carry")));
      caption.textContent = steps[t].says;
      head.replaceChildren(...tableHead(steps[t]));
      body.replaceChildren(...order.map((slice) => tableRow(t, slice)));
      equations.replaceChildren(...fired.map(equation));
      if (!t) equations.append(h("li", { class: "none" }, "No layer has fired yet."));
      if (t !== shown) equations.scrollTop = 0;
      shown = t;
      showLine(layer);
      count.textContent = layer > depth ? `done at layer ${depth}` : `layer ${layer} of ${depth}`;
      return fired.map(({ name, value }) => `${name} = ${formatNumber(value)}`);
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

    const put = (name, value) => {
      model.set(name, value);
      model.save_changes();
    };
    const number = (name, size) => createNumber(name, size, (k) => put(name, model.get(name) ^ (1 << k)));
    const numbers = task === "sum"
      ? { a: number("a", bits), b: number("b", bits), carry: number("carry", 1) }
      : { p: number("p", bits) };
    const moves = [["−1", "left"], ["0", "stay"], ["+1", "right"]].map(([text, name], n) =>
      cellButton(text, name, () => put("move", n - 1)));
    const input = (text, node) => h("div", {}, h("span", { class: "label", "aria-hidden": true }, text), node);
    const titles = { p: "position p", a: "a", b: "b", carry: "carry in" };
    const operands = Object.entries(numbers).map(([name, { node }]) => input(titles[name], node));
    if (task === "move") {
      const choice = { class: "cells moves", role: "group", "aria-label": "move" };
      operands.push(input("move", h("div", choice, h("span", {}, ...moves))));
    }

    const play = button("Play", () => (timer ? pause() : start()));
    const slider = h("input", { type: "range", min: 0, max: depth, step: 1, "aria-label": "Layer" });
    const says = h("div", { class: "says", "aria-live": "polite" });
    const root = h("div", {
      class: "turing-widget turing-adder", tabindex: 0, role: "group", "data-task": task,
      "aria-label": task === "sum" ? "Two numbers added, layer by layer" : "A position and a move added, layer by layer",
      "data-lm-suppress-shortcuts": true,
    },
      h("div", { class: "operands" }, ...operands),
      h("div", { class: "buttons" },
        button("Start", () => move(0)), button("Back", () => move(layer - 1)), play,
        button("Step", () => move(layer + 1), { class: "main" }), button("End", () => move(depth))),
      h("div", { class: "time" }, ...stages.flatMap((stage) => stage.time), slider),
      h("div", { class: "stages" }, ...stages.map((stage) => stage.node)),
      h("p", { class: "hint" }, "Framed: changed by this layer. Small: an earlier carry. ",
        h("span", {}, "Keys: ← → one layer, Home and End, P plays.")),
      says,
    );
    el.replaceChildren(root);

    let layer = clamp(model.get("layer"), 0, depth), timer = 0;

    function load() {
      const direction = model.get("move"), values = { right: direction > 0, left: direction < 0 };
      for (const [name, view] of Object.entries(numbers)) view.show((values[name] = model.get(name)));
      moves.forEach((node, n) => node.setAttribute("aria-pressed", n - 1 === direction));
      for (const stage of stages) stage.run(values);
      draw();
    }

    function draw() {
      const fired = stages.map((stage) => stage.show(layer));
      slider.value = layer;
      slider.setAttribute("aria-valuetext", `${layer} of ${depth}`);
      if (timer && layer < depth) return; // speech would lag behind: it hears of single layers and of the end
      const sentences = stages.map(({ title, depth }, n) =>
        layer > depth ? `${title}: done` : `${title}, layer ${layer} of ${depth}${layer ? ": " : ""}${fired[n].join(", ")}`);
      says.textContent = sentences.join(". ");
    }

    function advance(target) {
      layer = clamp(target, 0, depth);
      draw();
      put("layer", layer);
    }
    function move(target) {
      pause();
      advance(target);
    }
    function start() {
      if (layer === depth) advance(0);
      play.textContent = "Pause";
      timer = setInterval(() => {
        advance(layer + 1);
        if (layer === depth) pause();
      }, 1000 / RATE);
    }
    function pause() {
      clearInterval(timer);
      timer = 0;
      play.textContent = "Play";
    }

    slider.addEventListener("input", () => move(Number(slider.value)));
    root.addEventListener("keydown", (event) => {
      const { target, key } = event;
      if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      if (target === slider && key !== "p") return; // it has arrows of its own
      const action = {
        ArrowLeft: () => move(layer - 1), ArrowRight: () => move(layer + 1),
        Home: () => move(0), End: () => move(depth), p: () => play.click(),
      }[key];
      if (!action) return;
      event.preventDefault();
      event.stopPropagation();
      action();
    });

    const inputs = [...Object.keys(numbers), "move"];
    const onLayer = () => model.get("layer") !== layer && move(model.get("layer"));
    for (const name of inputs) model.on(`change:${name}`, load);
    model.on("change:layer", onLayer);
    load();
    return () => {
      pause();
      for (const name of inputs) model.off(`change:${name}`, load);
      model.off("change:layer", onLayer);
    };
  },
};
