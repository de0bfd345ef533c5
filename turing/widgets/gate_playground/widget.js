// The gate playground: one ReLU neuron of a and b, its line in the unit square, and its truth table.

import { button, h, listen, put, svg, uniqueId, widget, write } from "../page/dom.js";
import { forward, read, rowsOf, toNumbers } from "../page/network.js";
import { createNetwork, createRows } from "../page/neurons.js";
import { plainNetwork } from "../page/plain.js";
import { clamp, signed } from "../page/text.js";

const CORNERS = [[0, 0], [0, 1], [1, 0], [1, 1]];
const CROSSING = [[1, 2], [0, 3]]; // the corners that each diagonal joins
const LARGEST = 3, STEP = 0.5, DRAGGED = 0.1;

/** What the neuron gives at the corners: exactly, in hundredths, so that two decimals add up. */
function evaluate({ weights, bias, thenNot }, negation, targets) {
  const hundred = (number) => Math.round(100 * number);
  const layers = [[[weights.map(hundred)], [hundred(bias)], "none"], [[[100]], [0]]];
  if (thenNot) layers.push([[[100 * negation.weights[0]]], [100 * negation.bias]]);
  const network = plainNetwork(layers, "exact", 100);
  return CORNERS.map(([a, b], i) => {
    const [z, h, out = h] = forward(network, [a, b]).map((x) => toNumbers(x)[0]);
    return { a, b, z, h, out, target: targets[i], right: out === targets[i] };
  });
}

/** The weights and the bias of a layer that is one neuron; nothing if there are more. */
function neuronOf({ layers: [layer] }, inputs) {
  const [{ terms, bias }, ...others] = rowsOf(layer), weights = Array(inputs).fill(0);
  for (const [j, weight] of terms) weights[j] = weight;
  return others.length ? null : { weights, bias };
}
/** How to set the playground to a network of the library, if it has a neuron in each layer. */
function solutionOf(file) {
  const [first, ...rest] = read(file).modules, neuron = neuronOf(first, CORNERS[0].length);
  return neuron && { ...neuron, then_not: rest.length > 0 };
}

/** The part of a rectangle where f > 0, f affine, and the two points of its edge where f is 0. */
function cut([left, bottom, right, top], f) {
  const corners = [[left, bottom], [right, bottom], [right, top], [left, top]], inside = [], edge = [];
  corners.forEach((p, i) => {
    const q = corners[(i + 1) % 4], [at, next] = [f(p), f(q)];
    if (at > 0) inside.push(p);
    if (at > 0 !== next > 0) {
      const t = at / (at - next), point = [p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])];
      inside.push(point);
      edge.push(point);
    }
  });
  return { inside, edge };
}

/** A number as a further term of a sum. */
const term = (number) => `${number < 0 ? "−" : "+"} ${Math.abs(number)}`;
const addition = (numbers) => [signed(numbers[0]), ...numbers.slice(1).map(term)].join(" ");
const hundredths = (number) => Math.round(100 * number) / 100;
const label = (name) => (name === "NOT" ? "NOT a" : name);

/** The unit square with the line z = 0, on which the neuron begins to fire. */
function createPlot(onBias) {
  const SIDE = 300, UNIT = 140, MARGIN = (SIDE - UNIT) / 2, room = MARGIN / UNIT;
  const x = (a) => MARGIN + UNIT * a, y = (b) => SIDE - MARGIN - UNIT * b;
  const point = ([a, b]) => `${x(a).toFixed(2)},${y(b).toFixed(2)}`;
  const frame = [-room, -room, 1 + room, 1 + room];
  const segment = (name) => svg("polyline", { class: name });
  const fires = svg("polygon", { class: "fires" }), zero = segment("zero"), one = segment("one");
  const across = CROSSING.map((pair) => svg("polyline", { points: pair.map((i) => point(CORNERS[i])).join(" ") }));
  const crossing = svg("g", { class: "crossing" }, ...across, svg("circle", { cx: x(0.5), cy: y(0.5), r: 3 }));
  const grip = svg("g", { class: "grip" }, svg("circle", { class: "touch", r: 24 }),
    svg("rect", { x: -11, y: -5, width: 22, height: 10, rx: 5 }));
  const corners = CORNERS.map(([a, b]) => {
    const text = svg("text", { x: x(a), y: y(b) + (b ? -19 : 29) });
    return { text, disc: svg("circle", { class: "disc", cx: x(a), cy: y(b), r: 9 }) };
  });
  const tick = (text, attributes) => svg("text", { class: "tick", ...attributes }, text);
  const picture = svg("svg", { viewBox: `0 0 ${SIDE} ${SIDE}`, role: "img" },
    fires, svg("rect", { class: "square", x: x(0), y: y(1), width: UNIT, height: UNIT }), crossing, one, zero,
    ...[0, 1].flatMap((bit) => [
      tick(`a = ${bit}`, { x: x(bit), y: SIDE - 10 }), tick(`b = ${bit}`, { x: 28, y: y(bit) + 4 }),
    ]),
    ...corners.map(({ disc }) => disc), ...corners.map(({ text }) => text), grip);

  let weights;
  grip.addEventListener("pointerdown", (event) => {
    grip.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  grip.addEventListener("pointermove", (event) => {
    if (!grip.hasPointerCapture(event.pointerId)) return;
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse());
    const wanted = -weights[0] * ((at.x - MARGIN) / UNIT) - weights[1] * ((SIDE - MARGIN - at.y) / UNIT);
    onBias(hundredths(DRAGGED * Math.round(clamp(wanted, -LARGEST, LARGEST) / DRAGGED)));
  });

  return {
    picture,
    show({ weights: [wa, wb], bias, rows, crossed, name }) {
      weights = [wa, wb];
      const z = ([a, b]) => wa * a + wb * b + bias;
      const { inside, edge } = cut(frame, z), above = cut(frame, (p) => z(p) - 1).edge;
      fires.setAttribute("points", inside.map(point).join(" "));
      zero.setAttribute("points", edge.map(point).join(" "));
      one.setAttribute("points", above.map(point).join(" "));
      crossing.toggleAttribute("hidden", !crossed);
      grip.toggleAttribute("hidden", !edge.length);
      if (edge.length) {
        const [[a, b], [c, d]] = edge.sort((p, q) => q[0] - p[0] || q[1] - p[1]), length = Math.hypot(c - a, d - b);
        const t = Math.min(0.5, 24 / UNIT / length); // near its right end the line is clear of the corners
        const turn = (Math.atan2(d - b, a - c) * 180) / Math.PI;
        grip.setAttribute("transform", `translate(${point([a + t * (c - a), b + t * (d - b)])}) rotate(${turn.toFixed(2)})`);
      }
      rows.forEach(({ out, target, right }, i) => {
        corners[i].disc.classList.toggle("full", target === 1);
        corners[i].text.replaceChildren(`${signed(out)} ${right ? "✓" : "✗"}`);
        corners[i].text.classList.toggle("right", right);
      });
      const said = rows.map((r) => `(${r.a}, ${r.b}) gives ${signed(r.out)}, target ${r.target}`).join("; ");
      picture.setAttribute("aria-label", `Unit square for ${name}, corners (a, b): ${said}. ` +
        `The line ${signed(wa)}·a ${term(wb)}·b ${term(bias)} = 0 bounds the shaded side, where the sum is above 0.`);
    },
  };
}

/** A slider and a field for one number. */
function createDial(text, id, onNumber, onWrong) {
  const range = { min: -LARGEST, max: LARGEST, step: STEP };
  const slider = h("input", { type: "range", "aria-label": text, ...range });
  const field = h("input", { type: "number", id, autocomplete: "off", ...range });
  const row = h("div", { class: "dial" }, h("label", { for: id }, text), slider, field);
  let now;
  const wrong = (is) => {
    field.setAttribute("aria-invalid", is);
    onWrong(is ? `The ${text} is a number from −${LARGEST} to ${LARGEST}. ${signed(now)} stays.` : "");
  };
  slider.addEventListener("input", () => {
    const to = Number(slider.value), snap = to > now ? Math.ceil : Math.floor;
    onNumber(STEP * snap(to / STEP));
  });
  field.addEventListener("beforeinput", (event) => {
    const meant = event.data?.replace(/[−–]/g, "-").replace(",", "."); // which a field for numbers would drop
    if (meant === undefined || meant === event.data) return;
    event.preventDefault();
    document.execCommand("insertText", false, meant);
  });
  field.addEventListener("input", () => {
    const to = field.valueAsNumber, fits = Math.abs(to) <= LARGEST;
    if (fits) onNumber(hundredths(to));
    if (fits || !Number.isNaN(to)) wrong(!fits); // an unfinished number is not wrong yet
  });
  field.addEventListener("change", () => {
    if (Number.isNaN(field.valueAsNumber)) wrong(true);
    else if (Math.abs(field.valueAsNumber) <= LARGEST) field.value = now;
  });
  return {
    row,
    show(number) {
      slider.step = Number.isInteger(number / STEP) ? STEP : "any"; // or the thumb would stand beside a typed number
      slider.value = number;
      slider.setAttribute("aria-valuetext", signed(number));
      now = number;
      if (hundredths(field.valueAsNumber) === number) return; // the reader may be typing it
      field.value = number;
      if (field.getAttribute("aria-invalid") === "true") wrong(false);
    },
  };
}

/** The truth table; a click chooses a row. */
function createTable(choose) {
  const heads = ["a", "b", "sum z", "h", "out", "target"].map((text) => h("th", { scope: "col" }, text));
  const said = h("th", { scope: "col" }, h("span", { class: "says" }, "right or not yet"));
  const rows = CORNERS.map(() => h("tr", {}, ...Array.from({ length: 7 }, () => h("td"))));
  const table = h("table", { "aria-label": "Truth table" },
    h("thead", {}, h("tr", {}, ...heads, said)), h("tbody", {}, ...rows));
  rows.forEach((row, i) => row.addEventListener("click", () => choose(i)));
  return {
    table,
    show(values, thenNot, on) {
      table.classList.toggle("deep", thenNot);
      heads[3].hidden = !thenNot;
      values.forEach(({ a, b, z, h: hidden, out, target, right }, i) => {
        const cells = [...rows[i].children];
        rows[i].classList.toggle("right", right);
        rows[i].classList.toggle("on", i === on);
        rows[i].ariaCurrent = i === on ? "true" : null;
        [a, b, z, hidden, out, target].forEach((number, k) => (cells[k].textContent = signed(number)));
        cells[3].hidden = !thenNot;
        cells[6].replaceChildren(h("span", { "aria-hidden": true }, right ? "✓" : "✗"),
          h("span", { class: "word" }, right ? " right" : " not yet"));
      });
    },
  };
}

/** Why no weights do: the sums of z along the two diagonals agree, and the targets would have them differ. */
function createReason() {
  const claim = h("p"), identity = h("p", { class: "identity" }), needs = h("p");
  const block = h("div", { class: "reason" }, claim, identity, needs);
  const part = (text) => h("span", {}, text);
  return {
    block,
    show(name, rows, thenNot) {
      const [left, right] = CROSSING.map((pair) => pair.map((i) => rows[i]));
      const fails = name !== "XOR" ? "Three corners at exactly 1 force the fourth to 1"
        : thenNot ? "No weights give XOR, with or without NOT" : "No weights give XOR";
      claim.textContent = `${fails}: z has the same sum along both diagonals.`;
      const at = (corners) => corners.map(({ a, b }) => `z(${a},${b})`).join(" + ");
      const numbers = (corners) => corners.map(({ z }) => z);
      identity.replaceChildren(part(at(left)), " ", part(`= ${addition(numbers(left))}`), " ",
        part(`= ${signed(hundredths(left[0].z + left[1].z))}`), " ",
        part(`= ${addition(numbers(right))}`), " ", part(`= ${at(right)}`));
      const need = (corners) => {
        const targets = corners.map(({ target }) => (thenNot ? 1 - target : target));
        const bound = thenNot ? targets.includes(1) && "at least " : targets.includes(0) && "at most ";
        return `${bound || (thenNot ? "at most " : "")}${targets.join("\u00a0+\u00a0")}`;
      };
      needs.textContent = `${name} needs ${need(left)} on the left and ${need(right)} on the right.` +
        (name === "XOR" ? "" : " A second neuron helps: then NOT.");
    },
  };
}

export default {
  render({ model, el }) {
    const library = model.get("library"), id = uniqueId(), negation = neuronOf(read(library.negation).modules[0], 1);
    const gates = library.gates.map((gate) => ({ ...gate, solution: solutionOf(gate.network) }));
    let picked = null, solved;
    const choose = (row) => {
      picked = row;
      draw();
    };
    const change = (values) => {
      picked = null;
      lines.stop();
      const before = solved;
      put(model, values);
      draw();
      if (solved && !before) lines.runThrough();
    };
    const radios = gates.map(({ name }) => h("input", { type: "radio", name: id, value: name }));
    const chooser = h("fieldset", { class: "gates" }, h("legend", {}, "Make the neuron compute"),
      h("div", {}, ...gates.map(({ name }, i) => h("label", {}, radios[i], h("span", {}, label(name))))));
    const hint = h("p", { class: "hint", "aria-live": "polite" });
    const dials = ["weight of a", "weight of b", "bias"].map((text, i) =>
      createDial(text, `${id}-${i}`, (number) => {
        const [wa, wb] = model.get("weights");
        change([{ weights: [number, wb] }, { weights: [wa, number] }, { bias: number }][i]);
      }, (message) => (hint.textContent = message)));
    const tick = h("input", { type: "checkbox" });
    const solve = button("Show a solution", () => change(chosen().solution));
    const formula = h("p", { class: "formula" }), second = h("span"), status = h("p", { class: "status", role: "status" });
    const plot = createPlot((bias) => change({ bias }));
    const network = createNetwork("The network"), lines = createRows(CORNERS.map(([a, b]) => `a=${a} b=${b}`), choose);
    const table = createTable((row) => (lines.stop(), choose(row))), reason = createReason();
    const key = (kind, text) => h("span", {}, h("i", { class: kind, "aria-hidden": true }), text);
    const fires = h("span");
    const root = widget("gate-playground", "One neuron as a gate", {},
      chooser,
      h("div", { class: "columns" },
        h("div", { class: "picture" }, plot.picture,
          h("p", { class: "key" }, key("full", "target 1"), key("empty", "target 0"), key("shade", fires)),
          h("p", { class: "key" }, key("line", "z = 0, drag it"), key("dashes", "z = 1"))),
        h("div", { class: "numbers" },
          formula,
          h("div", { class: "dials" }, ...dials.map(({ row }) => row), hint),
          h("label", { class: "then" }, tick, second),
          table.table,
          h("div", { class: "result" }, status, solve))),
      h("div", { class: "drawn" }, network.node, lines.node),
      reason.block);
    el.replaceChildren(root);

    const chosen = () => gates.find(({ name }) => name === model.get("gate"));
    radios.forEach((radio) => radio.addEventListener("change", () => change({ gate: radio.value })));
    tick.addEventListener("change", () => change({ then_not: tick.checked }));

    function draw() {
      const { name, targets, solution } = chosen();
      const [weights, bias, thenNot] = ["weights", "bias", "then_not"].map((key) => model.get(key));
      const rows = evaluate({ weights, bias, thenNot }, negation, targets);
      const count = rows.filter(({ right }) => right).length;
      // A diagonal of two ones has z sum to 2, or to 0 at most before a NOT; the other one cannot follow.
      const ones = CROSSING.map((pair) => pair.filter((i) => targets[i] === 1).length);
      const crossed = thenNot ? Math.abs(ones[0] - ones[1]) === 2 : (ones[0] === 2) !== (ones[1] === 2);

      for (const radio of radios) radio.checked = radio.value === name;
      [...weights, bias].forEach((number, i) => dials[i].show(number));
      tick.checked = thenNot;
      solve.disabled = !solution;
      solve.textContent = solution ? "Show a solution" : "No solution";
      const neuron = `ReLU(${signed(weights[0])}·a ${term(weights[1])}·b ${term(bias)})`;
      const negated = `out = ReLU(${signed(negation.bias)} ${negation.weights[0] < 0 ? "−" : "+"} h)`;
      formula.textContent = `${thenNot ? "h" : "out"} = ${neuron}`;
      second.replaceChildren("then NOT",
        ...(thenNot ? [": ", h("span", { class: "formula" }, negated)] : [", a second neuron"]));
      fires.textContent = thenNot ? "h fires, z > 0" : "it fires, z > 0";
      plot.show({ weights, bias, rows, crossed, name: label(name) });
      const first = rows.findIndex(({ right }) => !right), shown = picked ?? Math.max(first, 0), row = rows[shown];
      const names = [["a", "b"], ...(thenNot ? [["h"]] : []), ["out"]];
      table.show(rows, thenNot, shown);
      lines.show(shown);
      network.show({
        places: names.map((places) => places.map((name) => ({ name, colour: "inherit" }))),
        layers: [[[weights], [bias]], ...(thenNot ? [[[negation.weights], [negation.bias]]] : [])],
        values: [[row.a, row.b], ...(thenNot ? [[row.h]] : []), [row.out]], row: `a=${row.a} b=${row.b}`,
        expected: [row.target],
      });
      solved = first < 0;
      write(status, `${count} of 4 rows right${count < 4 ? "" : `: ${label(name)}`}`);
      status.classList.toggle("done", count === 4);
      reason.block.hidden = !crossed;
      if (crossed) reason.show(name, rows, thenNot);
    }
    draw();
    return listen(model, { gate: draw, weights: draw, bias: draw, then_not: draw });
  },
};
