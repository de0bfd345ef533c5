// The weight puzzle. The page adds up the reader's numbers itself, so it needs no kernel and no network.

import { button, h, listen, put, textField, widget } from "../page/dom.js";
import { forward } from "../page/network.js";
import { createNetwork, createRows } from "../page/neurons.js";
import { plainNetwork } from "../page/plain.js";
import { sumText } from "../page/sums.js";
import { count, signed } from "../page/text.js";

/**
 * What each layer gives to a row. turing.check adds the bias first and then the terms from left to right; so does the
 * evaluator if the bias is the weight of a first place that is always 1.
 */
export function evaluator(layers) {
  const network = plainNetwork(layers.map(([W, b], l) => {
    const rows = W.map((weights, i) => [b[i], ...weights]);
    if (l < layers.length - 1) rows.unshift([1, ...W[0].map(() => 0)]);
    return [rows, rows.map(() => 0)];
  }), "float64");
  return (row) => forward(network, [1, ...row]).map((x, l) => Array.from(x).slice(l < layers.length - 1 ? 1 : 0));
}

/** A number as Python writes it, so that page and check say the same. */
export function pythonText(x) {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "nan" : x < 0 ? "-inf" : "inf";
  const size = Math.abs(x);
  if (size !== 0 && (size < 1e-4 || size >= 1e16)) return x.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  return String(x);
}

/** The number that a text stands for, 0 if it is only begun, undefined if it is not a number. */
export function parse(text) {
  const plain = text.trim().replace(/[−–‐‑﹣－]/g, "-").replace(",", ".")
    .replace(/^([-+]?)([½¼¾])$/, (_, sign, part) => sign + { "½": "1/2", "¼": "1/4", "¾": "3/4" }[part]);
  if (/^[-+]?\.?$/.test(plain)) return 0;
  const parts = plain.replace(/\/$/, "").split("/");
  if (parts.length > 2 || !parts.every((part) => /^[-+]?(\d+(?:\.\d*)?|\.\d+)(e[-+]?\d+)?$/i.test(part))) return undefined;
  const value = parts.length === 2 ? parts[0] / parts[1] : Number(parts[0]);
  return Number.isFinite(value) ? value + 0 : undefined;
}

/** How large an answer is: its neurons, and its weights that are not 0. */
export const score = (layers) => [
  layers.reduce((n, [, b]) => n + b.length, 0), layers.flatMap(([W]) => W.flat()).filter(Boolean).length,
];

/** Cut and not rounded, or 0.9999999999999999 would look like 1. */
const cut = (text) => (text.length > 6 ? `${text.slice(0, 5)}…` : text);
const copied = (layers) => layers.map(([W, b]) => [W.map((row) => [...row]), [...b]]);
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** The sum of a row as turing.show writes it. */
function equationOf(names, weights, bias) {
  const terms = [...weights.entries()].filter(([, weight]) => weight);
  return sumText({ terms, bias }, names, "\u00a0", (x) => signed(pythonText(x)));
}

/** The answer as a tuple of layers, to paste after a return. */
export function python(layers) {
  const list = (numbers) => `[${numbers.map(pythonText).join(", ")}]`;
  const layer = ([W, b]) => {
    const short = `    ([${W.map(list).join(", ")}], ${list(b)}),`;
    if (short.length <= 72) return short;
    return `    (\n        [\n${W.map((row) => `            ${list(row)},\n`).join("")}        ],\n        ${list(b)},\n    ),`;
  };
  return `(\n${layers.map(layer).join("\n")}\n)`;
}

const LONG = 12; // rows up to which the table is not folded
const BESIDE = 8; // columns up to which the table stands beside the grids
const WIDE = 6; // inputs from which a grid takes the whole width
const MANY = 18; // columns from which they move together

const heading = ({ name, colour }, scope, attributes = {}) => h("th", { scope, style: `color: ${colour}`, ...attributes }, name);
/** Columns are narrow: st above [go]. */
const column = (place, attributes) => {
  const node = heading(place, "col", attributes), label = place.name.indexOf("[");
  if (label > 0) node.replaceChildren(place.name.slice(0, label), h("br"), place.name.slice(label));
  return node;
};

/** A number that the reader sets, one of a list of weights or biases. */
function createField(name, list, k, { pointed, changed, moved, entered }) {
  const input = textField({ inputmode: "decimal", "aria-label": name });
  const field = {
    name,
    input,
    wrong: () => parse(input.value) === undefined,
    /** Take a number, and write it as we do. */
    put(x) {
      list[k] = x + 0; // and no negative zero
      input.value = signed(pythonText(list[k]));
      input.removeAttribute("aria-invalid");
    },
    change(how) {
      field.put(how(list[k]));
      changed();
    },
  };
  field.put(list[k]);
  input.addEventListener("focus", () => (pointed(field), input.select()));
  input.addEventListener("click", () => input.select());
  input.addEventListener("input", () => {
    input.setAttribute("aria-invalid", field.wrong());
    if (!field.wrong()) list[k] = parse(input.value);
    changed();
  });
  input.addEventListener("blur", () => field.wrong() || field.put(list[k]));
  input.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const { selectionStart: from, selectionEnd: to, value } = input, all = from === 0 && to === value.length;
    const action = {
      Enter: entered,
      ArrowUp: () => moved(field, -1, 0),
      ArrowDown: () => moved(field, 1, 0),
      ArrowLeft: (all || to === 0) && (() => moved(field, 0, -1)), // otherwise it moves the caret
      ArrowRight: (all || from === value.length) && (() => moved(field, 0, 1)),
    }[event.key];
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  });
  return field;
}

/** The grid of a layer: a row a neuron, a column a place that it reads, and the bias; and its equations. */
function createLayer(number, equation, on) {
  const grid = h("table", { class: "grid", "aria-label": `Weights of layer ${number}` });
  const equations = h("div", { class: "equations" });
  const title = h("div", { class: "title" }, h("span", {}, `layer ${number}: `, h("code", {}, equation)));
  return {
    title,
    node: h("div", { class: "layer" }, title, h("div", { class: "frame" }, grid), equations),
    /** Build the grid again; returns its fields by row. */
    build([W, b], places, neurons) {
      const rows = neurons.map(({ name }, i) => [
        ...places.map((place, j) => createField(`weight of ${place.name} in ${name}`, W[i], j, on)),
        createField(`bias of ${name}`, b, i, on),
      ]);
      const bias = { class: "bias" };
      grid.replaceChildren(
        h("thead", {}, h("tr", {}, h("td"), ...places.map((place) => column(place)), h("th", { scope: "col", ...bias }, "bias"))),
        h("tbody", {}, ...rows.map((fields, i) => h("tr", {}, heading(neurons[i], "row"),
          ...fields.map(({ input }, j) => h("td", j === places.length ? bias : {}, input))))),
      );
      return rows;
    },
    show([W, b], places, neurons) {
      const names = places.map((place) => place.name);
      equations.replaceChildren(...neurons.map(({ name }, i) => {
        const text = equationOf(names, W[i], b[i]), becomes = names.includes(name) ? "←" : "=";
        return h("div", {}, `${name} ${becomes} ${text === "0" ? text : `ReLU(${text})`}`);
      }));
    },
  };
}

/** The truth table: input, expected output, and what each layer gives. A click chooses a row. */
function createTable({ slices, outputs, rows }, choose) {
  const table = h("table", { class: "truth", "aria-label": "Truth table" });
  const edge = (k) => (k ? {} : { class: "edge" });
  let lines = [];
  table.addEventListener("click", ({ target }) => {
    const row = lines.findIndex(({ node }) => node.contains(target));
    if (row >= 0) choose(row);
  });
  return {
    table,
    build(vectors) {
      const groups = [["input", slices], ["expected", outputs], ...vectors.map((places, l) => [`layer ${l + 1}`, places])];
      const hidden = (g) => (g > 1 && g < groups.length - 1 ? "hidden-layer" : ""); // a phone has no room for its columns
      const kind = (g, k) => ({ class: `${k ? "" : "edge"} ${hidden(g)}`.trim() });
      const columns = groups.flatMap(([, places], g) => places.map((place, k) => column(place, kind(g, k || !g))));
      lines = rows.map(({ given, expected }) => {
        const mark = h("td", { class: "tick" });
        const cells = vectors.flatMap((places, l) => places.map((_, k) => h("td", kind(l + 2, k))));
        const fixed = [...given.map((value) => h("td", {}, value)), ...expected.map((bit, k) => h("td", edge(k), `${bit}`))];
        return { node: h("tr", {}, mark, ...fixed, ...cells), mark, cells };
      });
      table.classList.toggle("many", columns.length >= MANY);
      table.replaceChildren(
        h("thead", {},
          h("tr", {}, h("th", { scope: "col", rowspan: 2, class: "tick" }, h("span", { class: "says" }, "right or wrong")),
            ...groups.map(([name, places], g) => h("th", { scope: "colgroup", colspan: places.length, ...kind(g, !g) }, name))),
          h("tr", {}, ...columns)),
        h("tbody", {}, ...lines.map(({ node }) => node)),
      );
    },
    /** Fill in what was found in each row. The row `on` is inverted; if one row is enough, it is that one. */
    show(found, right, on, folded) {
      lines.forEach(({ node, mark, cells }, r) => {
        const numbers = found[r].flat(), wanted = [...Array(numbers.length - outputs.length), ...rows[r].expected];
        cells.forEach((cell, k) => {
          const text = pythonText(numbers[k]);
          cell.textContent = cut(text);
          cell.title = cut(text) === text ? "" : text;
          cell.classList.toggle("wrong", wanted[k] !== undefined && numbers[k] !== wanted[k]);
        });
        mark.replaceChildren(h("span", { role: "img", "aria-label": right[r] ? "right" : "wrong" }, right[r] ? "✓" : "✗"));
        node.classList.toggle("on", r === on);
        node.ariaCurrent = r === on ? "true" : null;
        node.hidden = folded && r !== on;
      });
    },
  };
}

export default {
  render({ model, el }) {
    const puzzle = model.get("puzzle"), name = model.get("name");
    const { inputs, outputs, slices, rows, start, best, proof } = puzzle;
    const largest = score(start)[0]; // as many neurons as the grid has in all
    let layers, views = [], fields, current, checked = false, folded = rows.length > LONG, picked = null, solved = true;

    /** What goes into layer l, counted from 0; what comes out of the last. */
    const places = (l) => {
      if (l === 0 || l === layers.length) return l ? outputs : inputs;
      const { length } = layers[l - 1][1], numbered = length > 1 || l === 1;
      return Array.from({ length }, (_, i) => ({ name: letter(l) + (numbered ? i + 1 : ""), colour: "inherit" }));
    };
    const letter = (l) => (l === 0 ? "x" : l < layers.length ? "hgfe"[l - 1] : outputs.length > 1 ? "y" : outputs[0].name);

    const on = {
      pointed: point,
      changed,
      entered: check,
      moved(field, down, right) {
        const line = fields.findIndex((row) => row.includes(field)), next = fields[line + down];
        const j = fields[line].indexOf(field) + right;
        next?.[down ? Math.min(j, next.length - 1) : j]?.input.focus();
      },
    };
    const stack = h("div", { class: "layers" });

    /** A layer with its grid; of a hidden one the reader chooses the size. */
    function createView(l) {
      const view = createLayer(l + 1, `${letter(l + 1)} = ReLU(W ${letter(l)} + b)`, on);
      if (l === layers.length - 1) return { ...view, resized() {} };
      const text = h("b"), set = (by) => () => resize(l, layers[l][1].length + by);
      const fewer = button("−", set(-1), { "aria-label": `One neuron fewer in layer ${l + 1}` });
      const more = button("+", set(1), { "aria-label": `One neuron more in layer ${l + 1}` });
      view.title.append(h("span", { class: "size" }, fewer, text, more));
      const resized = (n) => {
        text.textContent = count(n, "neuron");
        fewer.disabled = n === 1 && layers.length === 2;
        more.disabled = score(layers)[0] === largest;
      };
      return { ...view, resized };
    }

    // For the number last touched: the keypad of a phone may lack a minus.
    const pointer = h("span", { class: "target" });
    const nudge = (text, how) => button(text, () => current.change(how));
    const nudges = h("div", { class: "joined", role: "group" },
      nudge("−1", (x) => x - 1), nudge("+1", (x) => x + 1), nudge("±", (x) => -x));
    const bar = h("div", { class: "bar" }, nudges, pointer);
    bar.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus

    const network = createNetwork("The network"), lines = createRows(rows.map((row) => row.name), choose);
    const truth = createTable(puzzle, (row) => (lines.stop(), choose(row)));
    const fold = button("", () => ((folded = !folded), draw()), { class: "fold" });
    fold.hidden = rows.length <= LONG;
    const status = h("p", { class: "status", role: "status" }), trace = h("div", { class: "trace" });
    const golf = h("p", { class: "golf" });
    const hint = h("span", { class: "hint", "aria-live": "polite" });
    const code = h("pre", { class: "python", tabindex: 0, role: "group", "aria-label": "The answer in Python" });
    code.hidden = true;

    function point(field) {
      current?.input.classList.remove("current");
      current = field;
      current.input.classList.add("current");
      pointer.textContent = current.name;
      nudges.setAttribute("aria-label", `Change the ${current.name}`);
    }

    function choose(row) {
      picked = row;
      draw();
    }

    function draw() {
      views.forEach((view, l) => view.show(layers[l], places(l), places(l + 1)));
      const values = evaluator(layers), found = rows.map(({ row }) => values(row));
      const right = rows.map(({ expected }, r) => same(found[r].at(-1), expected));
      const good = right.filter(Boolean).length, first = right.indexOf(false);
      const shown = picked ?? Math.max(first, 0);
      truth.show(found, right, shown, folded);
      lines.show(shown);
      network.show({
        layers, places: [inputs, ...layers.map((_, l) => places(l + 1))], values: [rows[shown].row, ...found[shown]],
        row: rows[shown].name, expected: rows[shown].expected,
      });
      fold.textContent = folded ? `Show all ${rows.length} rows` : "Show one row";
      fold.setAttribute("aria-expanded", !folded);
      if (!code.hidden) code.textContent = python(layers);

      const wrong = fields.flat().find((field) => field.wrong());
      let verdict = `${good} of ${rows.length} rows right.`, said = "";
      trace.replaceChildren();
      golf.textContent = first < 0 && !wrong && best ? compare(score(layers)) : "";
      if (wrong) {
        said = `The ${wrong.name} is '${wrong.input.value}', which is not a number. The last good one stays.`;
      } else if (first < 0) {
        verdict = `${name}: right`;
        said = `on all ${rows.length} rows, with ${count(score(layers)[0], "neuron")} in ${count(layers.length, "layer")}.`;
      } else if (checked) {
        said = failure(rows[first], found[first].at(-1));
        trace.append(...found[first].map((x, l) => {
          const pairs = places(l + 1).map((place, i) => `${place.name}=${pythonText(x[i])}`);
          return h("div", {}, `layer ${l + 1}  ${pairs.join(" ")}`);
        }));
      }
      status.replaceChildren(h("b", {}, verdict), ` ${said}`);
      return first < 0;
    }

    /** The score, in the words of turing.check. */
    function compare(own) {
      const difference = own[0] - best[0] || own[1] - best[1], known = `The best known answer has ${best.join(" and ")}`;
      const text = `Score: ${count(own[0], "neuron")} and ${count(own[1], "non-zero weight")}`;
      if (difference) return `${text}. ${known}${difference < 0 ? ": please report yours" : ""}.`;
      return proof ? `${text}. That cannot be beaten: ${proof}.` : `${text}, like the best known answer.`;
    }

    /** The sentence of turing.check. */
    function failure({ name, expected }, y) {
      const wrong = [...outputs.keys()].filter((k) => y[k] !== expected[k]);
      const gives = wrong.map((k) => `${outputs[k].name}=${pythonText(y[k])}`).join(" ");
      const wanted = wrong.length > 1 ? wrong.map((k) => `${outputs[k].name}=${expected[k]}`).join(" ") : expected[wrong[0]];
      return `For ${name} your network gives ${gives}; ${wanted} was expected.`;
    }

    function changed() {
      checked = false;
      picked = null;
      hint.textContent = "";
      lines.stop();
      const before = solved;
      solved = draw();
      if (solved && !before) lines.runThrough();
      put(model, { layers: copied(layers) });
    }

    function check() {
      checked = true;
      picked = null;
      lines.stop();
      draw();
      fields.flat().find((field) => field.wrong())?.input.focus();
    }

    function load(next) {
      layers = copied(next);
      checked = false;
      picked = null;
      lines.stop();
      if (views.length !== layers.length) {
        views = layers.map((_, l) => createView(l));
        stack.replaceChildren(...views.map((view) => view.node));
      }
      fields = views.flatMap((view, l) => view.build(layers[l], places(l), places(l + 1)));
      views.forEach((view, l) => view.resized(layers[l][1].length));
      truth.build(layers.map((_, l) => places(l + 1)));
      point(fields[0][0]);
      solved = draw();
    }

    /**
     * Give a layer so many neurons; a new one is 0, and so is what the next layer takes from it. Without neurons the
     * layer goes, and the next one reads what it has read.
     */
    function resize(l, size) {
      const next = copied(layers), [W, b] = next[l], readers = next[l + 1][0];
      if (!size) {
        next[l + 1][0] = readers.map(() => W[0].map(() => 0));
        next.splice(l, 1);
        load(next);
        changed();
        current.input.focus();
        return;
      }
      while (b.length > size) [W, b, ...readers].forEach((list) => list.pop());
      while (b.length < size) {
        W.push(W[0].map(() => 0));
        [b, ...readers].forEach((list) => list.push(0));
      }
      load(next);
      changed();
    }

    function startAgain() {
      code.hidden = true;
      load(start);
      changed();
    }

    async function copy() {
      code.hidden = false;
      code.textContent = python(layers);
      try {
        await navigator.clipboard.writeText(code.textContent);
        hint.textContent = "Copied. Paste it after return.";
      } catch {
        getSelection().selectAllChildren(code);
        hint.textContent = "Copy the selected text, and paste it after return.";
      }
    }

    const widths = [slices, outputs, outputs, ...start.slice(0, -1).map(([, b]) => b)].map(({ length }) => length);
    const beside = widths.reduce((a, b) => a + b) <= BESIDE;
    const root = widget("puzzle", `Weight puzzle ${name}`, { class: start.some(([[row]]) => row.length >= WIDE) ? "wide" : beside ? "beside" : "" },
      h("div", { class: "both" },
        h("div", { class: "work" },
          h("div", { class: "numbers" }, stack, bar),
          h("div", { class: "actions" },
            button("Check", check, { class: "main" }), button("Start again", startAgain), button("Copy as Python", copy), hint),
          code),
        h("div", { class: "drawn" }, h("div", {}, network.node, lines.node)),
        h("div", { class: "result" },
          status, golf, trace,
          h("div", { class: "frame rows", tabindex: 0, role: "group", "aria-label": "Rows" }, truth.table), fold)));
    load(model.get("layers"));
    el.replaceChildren(root);

    return listen(model, { layers: () => same(model.get("layers"), layers) || load(model.get("layers")) });
  },
};
