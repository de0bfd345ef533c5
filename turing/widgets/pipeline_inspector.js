// The pipeline inspector. It replays a run that torch computed: the page has its numbers, and no network.

const h = (tag, attributes = {}, ...children) => build(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) =>
  build(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
const build = (node, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
};
const clamp = (x, low, high) => Math.max(low, Math.min(high, x));
const range = (n) => [...Array(n).keys()];
const length = (text) => [...text].length;
const shown = (symbol) => (symbol.trim() ? symbol : "␣");
const signed = (cell) => `${cell}`.replace("-", "−");
const digits = (x) => signed(Number(x.toPrecision(8))); // as many as a float32 has
const code = (text) => h("code", {}, text);
const button = (text, action, attributes = {}) => {
  const node = h("button", { type: "button", ...attributes }, text);
  node.addEventListener("click", action);
  return node;
};
/** Things in a row, with commas and an "and". */
const listed = (things) => things.flatMap((thing, n) =>
  [...(n ? [n < things.length - 1 ? ", " : " and "] : []), ...[thing].flat()]);

/** Every vector and every pattern of a run, from what was kept of them. */
export function replay({ slices, steps }) {
  let now = new Float64Array(slices.reduce((sum, { size }) => sum + size, 0));
  return steps.map(([changes, shares]) => ({
    vectors: changes.map((places) => {
      now = now.slice();
      for (const place of places) {
        if (Array.isArray(place)) now[place[0]] = place[1];
        else now[place < 0 ? ~place : place] = place < 0 ? 0 : 1;
      }
      return now;
    }),
    patterns: shares.map((groups) => groups.flatMap((group) =>
      Array.isArray(group) ? group.slice(1).map((key) => [key, group[0]]) : [[group, 1]])), // the null key is −1
  }));
}

/** A run with what a reader may ask of it. Row t of the picture is column t; step t leads there. */
function readRun(record) {
  const { states, symbols, word, written, layers } = record, steps = replay(record);
  const rows = record.rows.map(([state, head]) => ({ state: states[state], head }));
  const heads = layers.filter(({ over }) => over).map((layer, n) => ({ ...layer, n }));
  let start = 0;
  const slices = record.slices.map((slice) => {
    const places = range(slice.size).map((k) => ({
      index: start + k,
      label: slice.labels[k] ?? `${k}`,
      name: slice.labels.length || slice.size > 1 ? `${slice.name}[${slice.labels[k] ?? k}]` : slice.name,
    }));
    start += slice.size;
    return { ...slice, places, spelled: slice.labels.length ? places : [...places].reverse() }; // bits as on paper
  });
  const visits = new Map();
  rows.forEach(({ head }, t) => visits.set(head, [...(visits.get(head) ?? []), t]));
  const before = (t, cell) => (visits.get(cell) ?? []).filter((i) => i < t);
  return {
    ...record, steps, rows, heads, slices, before,
    lo: Math.min(0, ...visits.keys()),
    hi: Math.max(0, word.length - 1, ...visits.keys()),
    after: (t, cell) => (visits.get(cell) ?? []).find((i) => i > t),
    symbol: (t, cell) => shown(symbols[written[before(t, cell).at(-1)] ?? word[cell] ?? 0]), // 0 is the blank
    pattern: (step, name) => steps[step - 1].patterns[heads.find((head) => head.name === name).n],
    /** The vector that came into a layer; there is none before the first. */
    came: (step, layer) => (layer ? steps[step - 1].vectors[layer - 1] : steps[step - 2]?.vectors.at(-1)),
  };
}

/** What a slice says: the label that is 1, or the number that its bits are. */
function words({ name, labels, places }, vector, layer, cells) {
  const values = places.map(({ index }) => vector[index]), bits = values.map(Math.round);
  if (values.some((x, k) => ![0, 1].includes(bits[k]) || Math.abs(x - bits[k]) > 0.25)) return ["≈", "unclear"];
  const sign = values.every((x, k) => x === bits[k]) ? "=" : "≈";
  if (name === "scr4" && layer.wide) return ["", `carry ${sign} ${bits[0]}`]; // the adders have it there
  if (labels.length) return [sign, listed(labels.filter((_, k) => bits[k]).map(shown)).join("") || "none"];
  const number = bits.reduce((sum, bit, k) => sum + (BigInt(bit) << BigInt(k)), 0n), cell = cells[name];
  const below = cell < 0 && BigInt.asUintN(bits.length, BigInt(cell)) === number;
  return [sign, `${number}${below ? `, cell ${signed(cell)}` : ""}`];
}

/** A head's pattern in words. */
function told({ over }, pattern, run) {
  const groups = new Map();
  for (const [key, weight] of pattern) groups.set(weight, [...(groups.get(weight) ?? []), key]);
  const kind = over === "tape" ? "row" : "column", of = over === "tape" ? " of the tape" : "";
  const all = [...groups].map(([weight, keys]) => {
    const found = keys.filter((key) => key >= 0), names = [];
    if (found.length) names.push(`${kind}${found.length > 1 ? "s" : ""} ${listed(found.map(String)).join("")}${of}`);
    if (keys.includes(-1)) names.push("the null key");
    return `${digits(weight)} ${keys.length > 1 ? "each " : ""}on ${names.join(" and ")}`;
  });
  return listed(all).join("");
}

/** Who wrote what stands on a cell in row t, and who reads it. Text and code, to be put in a paragraph. */
function story(run, t, cell) {
  const { rows, layers, heads, word, pattern } = run;
  const module = (name) => code(layers.find((layer) => layer.name === name).module);
  const past = run.before(t, cell), last = past.at(-1), symbol = code(run.symbol(t, cell)), at = signed(cell);
  const onWord = cell >= 0 && cell < word.length;
  if (cell !== rows[t].head) {
    const next = run.after(t, cell), reads = ["Step ", `${next}`, last === undefined ? " is the first to come" : " comes back"];
    return [
      `In row ${t} cell ${at} holds `, symbol,
      last !== undefined ? `: step ${last + 1}, which starts from column ${last}, wrote it. `
        : onWord ? ", a symbol of the word: no step has written here. " : ": the head has not been here. ",
      ...(next === undefined ? ["No later step of this record comes to it."]
        : last !== undefined ? [...reads, " to it, and head ", code("last"), ` then reads column ${last}.`]
        : onWord ? [...reads, " to it, and head ", code("initial"), ` then reads row ${cell} of the tape.`]
        : [...reads, " to it. No head finds anything, and ", module("v"), " sets the blank flag."]),
    ];
  }
  if (!t) return ["Column 0 is where the run starts: the symbol ", symbol, ` of cell ${at} is put into it, and no head reads it.`];

  const tops = heads.filter(({ over }) => over === "columns").map(({ name }) => ({ name, keys: pattern(t, name) }));
  const read = pattern(t, "last").reduce((best, pair) => (pair[1] > best[1] ? pair : best))[0];
  const answered = tops.filter(({ keys }) => keys[0][0] === -1).map(({ name }) => code(name));
  const comes = `Step ${t} ${rows[t - 1].head === cell ? "leaves" : "moves"} the head ${rows[t - 1].head === cell ? "on" : "to"} cell ${at}`;
  if (last !== undefined) {
    const also = tops.filter(({ name, keys }) => name !== "last" && keys.some(([key]) => key === read)).map(
      ({ name, keys }) => [code(name), ...(keys.length > 1 ? [` (${keys.length} columns tie)`] : [])]);
    return [
      `${comes}. It was last there in column ${last}, and step ${last + 1} wrote `, symbol,
      `: the search leaves ${last} in scr3, and head `, code("last"), ` reads column ${read}. `,
      ...(also.length ? [`Column ${read} is also read by `, ...listed(also), ". "] : []),
      ...(answered.length ? ["The null key answers the other search heads, and their bits are 0."] : []),
    ];
  }
  return [
    `${comes}, where it has not been: the null key answers `,
    ...listed([code("visited"), ...(answered.length > 1 ? ["every search head"] : []), ...(onWord ? [] : [code("initial")])]),
    ...(onWord ? [". Head ", code("initial"), ` reads row ${cell} of the tape, `, symbol]
      : [". The cell is not on the word either, so ", module("v"), " sets the blank flag: ", symbol]),
    ". Head ", code("last"), ` reads column ${read}, as scr3 is 0, and `, module("arrange"), " drops what it finds.",
  ];
}

/** The layers in order, each with its whole vector as a line of places. */
function createLayers({ layers, slices, steps, came }, id, choose) {
  const GAP = 1.25; // between slices, in places
  let right = -GAP;
  const spans = slices.map(({ size, colour, name, spelled }) => {
    const left = right + GAP;
    right = left + size;
    return { left, size, colour, name, x: new Map(spelled.map(({ index }, k) => [index, left + k])) };
  });
  const at = new Map(spans.flatMap(({ x }) => [...x]));
  const bars = (places, top, tall) => places.map((i) => `M${at.get(i) + 0.06} ${top}h.88v${tall}h-.88z`).join("");
  const rows = layers.map(({ name, over, wide }, n) => {
    const lines = spans.map(({ colour }) => svg("path", { style: `fill: ${colour}` })), marks = svg("path", { class: "marks" });
    const grounds = spans.filter((span) => wide || span.name !== "add").map(({ left, size, colour }) =>
      svg("rect", { x: left, y: 0, width: size, height: 7, style: `fill: ${colour}` }));
    const picture = svg("svg", { viewBox: `0 0 ${right} 10`, preserveAspectRatio: "none", "aria-hidden": true },
      ...grounds, ...lines, marks);
    const node = h("li", { role: "option", id: `${id}-${n}`, "data-layer": name, class: over ? "head" : "" },
      h("span", {}, name), picture);
    node.addEventListener("click", () => choose(n));
    return { node, lines, marks };
  });
  const list = h("ul", { role: "listbox", tabindex: 0, "aria-label": "Layers of the pipeline" }, ...rows.map(({ node }) => node));
  const names = spans.map(({ name, left, size }) =>
    h("span", { style: `left: ${(100 * (left + size / 2)) / right}%`, "data-slice": name }, name));
  let drawn = 0;
  return {
    list,
    node: h("div", { class: "layers" }, h("p", { class: "heading" }, "A bar is a 1, a tick below it a change."),
      h("div", { class: "names", "aria-hidden": true }, ...names), list),
    show(step, layer) {
      rows.forEach(({ node, lines, marks }, n) => {
        node.setAttribute("aria-selected", n === layer);
        if (step === drawn) return;
        const vector = steps[step - 1].vectors[n], old = came(step, n) ?? vector;
        spans.forEach(({ x }, k) => lines[k].setAttribute("d", bars([...x.keys()].filter((i) => vector[i]), 0, 7)));
        marks.setAttribute("d", bars([...at.keys()].filter((i) => vector[i] !== old[i]), 8, 2));
      });
      drawn = step;
      list.setAttribute("aria-activedescendant", `${id}-${layer}`);
      const { offsetTop: top, offsetHeight: height } = rows[layer].node;
      list.scrollTop = clamp(list.scrollTop, top + height - list.clientHeight, top);
    },
  };
}

/** The vector of one layer: a cell for every place, by slices, and what the layer is and does. */
function createVector({ layers, slices, steps, came, rows }) {
  const title = h("p", { class: "title" }), says = h("p", { class: "what" }), changes = h("p", { class: "changes" });
  const blocks = slices.map((slice) => {
    const cells = slice.spelled.map(({ name, label, index }) => {
      const value = h("b"), node = h("span", { class: "place", "data-name": name, title: name }, value, h("i", {}, shown(label)));
      return { node, value, index };
    });
    const meaning = h("span", { class: "meaning" }, slice.meaning), text = h("span", { class: "words" });
    const node = h("div", { class: "slice", role: "group", "aria-label": `${slice.name}, ${slice.meaning}`, "data-slice": slice.name,
      style: `--slice: ${slice.colour}` },
      h("p", {}, h("b", {}, slice.name), text, meaning), h("div", { class: "places" }, ...cells.map(({ node }) => node)));
    return { slice, cells, node, text };
  });
  return {
    node: h("section", { class: "layer", "aria-label": "The vector that leaves the layer" }, title, says,
      h("div", { class: "vector" }, ...blocks.map(({ node }) => node)), changes),
    /** Show a layer; return what it changed, in words. */
    show(step, n) {
      const layer = layers[n], vector = steps[step - 1].vectors[n], old = came(step, n) ?? vector;
      const cells = { pos2: rows[Math.min(step, rows.length) - 1].head, pos3: rows[step]?.head };
      const changed = [];
      title.replaceChildren(h("b", { class: layer.over ? "head" : "" }, layer.name), ...(layer.module ? [` ${layer.module}`] : []),
        ...(layer.claim ? [` · ${layer.claim}`] : []));
      says.textContent = layer.says;
      for (const { slice, cells: places, node, text } of blocks) {
        const away = slice.name === "add" && !layer.wide;
        const [sign, now] = words(slice, vector, layer, n === layers.length - 1 ? { pos2: cells.pos3, pos3: cells.pos3 } : cells);
        node.classList.toggle("away", away);
        text.textContent = `${sign} ${now}`.trim();
        let differs = false;
        for (const { node, value, index } of places) {
          const x = vector[index];
          value.textContent = digits(x);
          node.dataset.value = x;
          node.className = `place${x ? " one" : ""}${x !== old[index] ? " changed" : ""}`;
          differs ||= x !== old[index];
        }
        if (differs) changed.push(`${slice.name}: ${words(slice, old, layer, cells)[1]} → ${now}`);
      }
      const first = !n && step === 1;
      changes.textContent = first ? "The first column." : changed.length ? `Changed here: ${changed.join("; ")}.` : "Nothing changed here.";
      return changes.textContent;
    },
  };
}

/** The patterns of all heads at a step: a row a head, a bar where there is weight. */
function createHeads(run, choose) {
  const { heads, layers, steps, word, symbols } = run, n = steps.length, readout = h("p", { class: "readout" });
  const grid = (size) => `--size: ${Math.max(size, 1)}`;
  const every = [1, 2, 5, 10, 20, 50].find((k) => n / k <= 12);
  const axis = (size, labels) => h("div", { class: "strip axis", style: grid(size), "aria-hidden": true },
    ...labels.map(([k, text]) => h("span", { style: `grid-column: ${k + 1}` }, text)), h("span", { class: "null" }, "null"));
  let step = 1, layer = 0;
  const rows = heads.map((head) => {
    const size = head.over === "tape" ? word.length : n;
    const strip = h("div", { class: "strip", style: grid(size), role: "img" });
    const node = h("div", { class: "pattern", "data-head": head.name }, h("span", { class: "name" }, head.name), strip);
    node.addEventListener("click", () => choose(layers.findIndex(({ name }) => name === head.name)));
    node.addEventListener("pointerenter", () => tell(head));
    node.addEventListener("pointerleave", () => tell());
    return { head, strip, node };
  });
  const selected = () => heads.find(({ name }) => name === layers[layer].name);
  const tell = (head = selected()) => readout.replaceChildren(...(head
    ? [code(head.name), `: ${told(head, run.pattern(step, head.name), run)}.`]
    : ["Choose a head to read its numbers."]));
  const history = axis(n, range(n).filter((k) => k % every === 0 && k < n - every / 2).map((k) => [k, k]));
  const tape = axis(word.length, word.map((symbol, k) => [k, shown(symbols[symbol])]));
  const over = (kind) => rows.filter(({ head }) => head.over === kind).map(({ node }) => node);
  const frame = h("div", { class: "patterns", tabindex: 0, role: "group", "aria-label": "Attention of every head" },
    ...over("columns"), h("div", { class: "pattern" }, h("span", { class: "name" }, "column"), history),
    ...over("tape"), h("div", { class: "pattern" }, h("span", { class: "name" }, "tape"), tape));
  return {
    frame, readout,
    show(nextStep, nextLayer) {
      [step, layer] = [nextStep, nextLayer];
      for (const { head, strip, node } of rows) {
        const pattern = run.pattern(step, head.name);
        node.classList.toggle("on", head === selected());
        strip.style.setProperty("--known", head.over === "tape" ? word.length : step);
        strip.setAttribute("aria-label", told(head, pattern, run));
        strip.replaceChildren(...pattern.map(([key, weight]) => h("i", {
          "data-key": key, "data-weight": weight, title: `${key < 0 ? "null key" : `${head.over === "tape" ? "row" : "column"} ${key}`}: ${digits(weight)}`,
          style: `grid-column: ${key < 0 ? "-2 / -1" : key + 1}; height: ${100 * weight}%`,
        })));
      }
      tell();
    },
  };
}

/** The space–time picture: one row a column of the network, the head inverted, and what is read ringed. */
function createPicture(run, pick) {
  const { rows, symbols, word, lo, hi, heads } = run, TALL = 22;
  const single = symbols.every((symbol) => symbol.length === 1);
  const wide = Math.max(clamp(260 / (hi - lo + 1), 19, 28), 10 + 8.5 * Math.max(...symbols.map(length)));
  const gutter = 38 + 8.5 * Math.min(6, Math.max(...rows.map(({ state }) => length(state))));
  const width = gutter + (hi - lo + 1) * wide + 4, x = (cell) => gutter + (cell - lo) * wide;
  const box = (cell, y) => `M${x(cell)} ${y}h${wide}v${TALL}h${-wide}z`;
  const text = (kind, x, y, content) => svg("text", { class: kind, x, y: y + 15.5 }, content);
  const paths = { written: "", head: "" };
  /** The symbols of a row, those that look alike in one text. */
  const line = (y, symbolOf, head, cells = range(hi - lo + 1).map((k) => lo + k)) => {
    const kinds = { blank: [], written: [], head: [] };
    for (const cell of cells) {
      const symbol = symbolOf(cell), kind = cell === head ? "head" : symbol === shown(symbols[0]) ? "blank" : "written";
      kinds[kind].push([x(cell) + wide / 2, symbol]);
      if (kind !== "blank") paths[kind] += box(cell, y);
    }
    return Object.entries(kinds).filter(([, found]) => found.length).flatMap(([kind, found]) => single
      ? [text(kind, found.map(([x]) => x).join(" "), y, found.map(([, symbol]) => symbol).join(""))]
      : found.map(([x, symbol]) => text(kind, x, y, symbol)));
  };
  const size = `max-width: ${width}px; min-width: ${0.8 * width}px`; // smaller is not legible; then it scrolls
  const frameOf = (name, height, label, ...parts) =>
    svg("svg", { class: name, viewBox: `0 0 ${width} ${height}`, style: size, role: "img", "aria-label": label }, ...parts);
  const scale = () => body.getBoundingClientRect().width / width;
  const take = (kind) => svg("path", { class: kind, d: paths[kind] });

  const every = Math.ceil((6 + 7 * Math.max(length(`${lo}`), length(`${hi}`))) / wide);
  const marks = { tape: svg("g"), rows: svg("g") };
  const numbers = range(hi - lo + 1).map((k) => lo + k).filter((cell) => cell % every === 0)
    .map((cell) => text("cell", x(cell) + wide / 2, 0, signed(cell)));
  const onTape = line(TALL, (cell) => shown(symbols[word[cell]]), null, range(word.length));
  const tape = frameOf("tape", 2 * TALL + 4, "The tape that the network is given", take("written"), ...numbers,
    text("label", 0, TALL, "tape"), ...onTape, marks.tape);
  paths.written = "";
  const band = svg("rect", { class: "band", x: 0, width, height: TALL });
  const lines = rows.flatMap(({ state, head }, t) => [
    text("row", 28, t * TALL, t), text("state", 36, t * TALL, [...state].slice(0, 6).join("")),
    ...line(t * TALL, (cell) => run.symbol(t, cell), head),
  ]);
  const body = frameOf("rows", rows.length * TALL + 4, `Space–time picture, ${rows.length} rows, time runs down`,
    band, take("written"), take("head"), ...lines, marks.rows);
  body.addEventListener("click", (event) => {
    const { left, top } = body.getBoundingClientRect(), by = scale();
    pick(Math.floor((event.clientY - top) / by / TALL), lo + Math.floor(((event.clientX - left) / by - gutter) / wide));
  });
  const legend = h("p", { class: "legend" });
  const frame = h("div", { class: "picture", tabindex: 0, role: "application",
    "aria-label": "Space–time picture. Arrow keys choose a cell." }, tape, body);
  const ring = (kind, cell, y, by, style = "") => svg("rect", { class: kind, x: x(cell) - by, y: y - by,
    width: wide + 2 * by, height: TALL + 2 * by, style });
  return {
    frame, legend,
    show(step, layer, t, cell) {
      const found = run.pattern(step, "visited").some(([key]) => key >= 0) ? "last" : "initial"; // which decides
      const head = heads.find(({ name }) => name === layer.name) ?? heads.find(({ name }) => name === found);
      const pattern = run.pattern(step, head.name).filter(([key]) => key >= 0), onTape = head.over === "tape";
      const rings = pattern.map(([key, weight]) => ring("ring", onTape ? key : rows[key].head, onTape ? TALL : key * TALL, 0,
        `stroke-width: ${1.5 + 2 * weight}`));
      const from = Math.min(...pattern.map(([key]) => key)), to = rows[step];
      const same = to && !onTape && pattern.every(([key]) => rows[key].head === to.head);
      marks.tape.replaceChildren(...(onTape ? rings : []));
      marks.rows.replaceChildren(
        ...(same && pattern.length ? [svg("path", { class: "line", d: `M${x(to.head)} ${step * TALL}V${from * TALL}` })] : []),
        ...(onTape ? [] : rings), ring("gap", cell, t * TALL, 0.5), ring("pick", cell, t * TALL, 2));
      band.setAttribute("y", step * TALL);
      legend.replaceChildren("Ringed: read by ", code(head.name), ` in step ${step}`, ...(pattern.length ? [] : [" (nothing: the null key answers)"]),
        ". Framed: the cell that the text is about.");
      const by = scale(), rest = frame.clientHeight / by - (2 * TALL + 4);
      frame.scrollTop = clamp(frame.scrollTop / by, (t + 1.5) * TALL - rest, (t - 0.5) * TALL) * by;
      frame.scrollLeft = clamp(frame.scrollLeft / by, x(cell + 2) - frame.clientWidth / by, x(cell - 1) - gutter) * by;
    },
  };
}

export default {
  render({ model, el }) {
    const run = readRun(model.get("record")), { rows, layers } = run, last = run.steps.length;
    const id = `turing-${Math.random().toString(36).slice(2)}`;
    const layersView = createLayers(run, id, (n) => go(step, n)), vectorView = createVector(run);
    const headsView = createHeads(run, (n) => go(step, n)), picture = createPicture(run, (t, cell) => choose(t, cell));
    const status = h("p", { class: "status" }), telling = h("p", { class: "story", "aria-live": "polite" });
    const says = h("div", { class: "says", "aria-live": "polite" });
    const slider = h("input", { type: "range", min: 1, max: last, step: 1, "aria-label": "Step of the run" });
    const select = h("select", { "aria-label": "Layer" }, ...layers.map(({ name }, n) => h("option", { value: n }, name)));
    const titled = (name, text, ...parts) =>
      h("section", { class: name, "aria-label": text }, h("p", { class: "heading" }, text), ...parts);
    const root = h("div", {
      class: "turing-widget turing-inspector", tabindex: 0, role: "group",
      "aria-label": "A run of the network, step by step and layer by layer", "data-lm-suppress-shortcuts": true,
    },
      h("div", { class: "top" }, status,
        h("div", { class: "controls" },
          h("div", { class: "buttons" }, button("Start", () => go(1)), button("Back", () => go(step - 1)),
            button("Step", () => go(step + 1), { class: "main" }), button("End", () => go(last))),
          slider)),
      h("div", { class: "chooser" },
        button("↑", () => shift(-1), { "aria-label": "Layer before" }), select, button("↓", () => shift(1), { "aria-label": "Layer after" })),
      h("div", { class: "board" }, layersView.node, vectorView.node,
        titled("space", "Space–time: row t is column t, step t leads there", picture.frame, picture.legend),
        titled("told", "The framed cell: who wrote it, who reads it", telling),
        titled("heads", "Attention in this step: a row a head, a bar a weight", headsView.frame, headsView.readout)),
      h("p", { class: "keys" }, "Keys: ← → one step, ↑ ↓ one layer, Home and End; in the picture, arrows choose a cell."),
      says,
    );
    el.replaceChildren(root);

    let step, layer, row, cell;

    function summary() {
      const now = rows[step - 1], then = rows[step], symbol = run.symbol(step - 1, now.head);
      const part = (kind, text) => h("span", { class: kind }, text);
      const before = [part("q", now.state), " reads ", part("a", symbol), " on cell ", part("d", signed(now.head))];
      if (!then) return [...before, ". ", h("b", {}, run.end)];
      const move = ["moves left", "stays", "moves right"][then.head - now.head + 1];
      return [...before, ", writes ", part("a", run.symbol(step, now.head)), ` and ${move}: `, part("q", then.state),
        " on cell ", part("d", signed(then.head)), ".", ...(step === last ? [" ", h("b", {}, run.end)] : [])];
    }

    function draw() {
      Object.assign(root.dataset, { step, layer: layers[layer].name, row, cell });
      status.replaceChildren(h("b", {}, `Step ${step} of ${last}`), h("span", {}, ...summary()));
      slider.value = step;
      slider.setAttribute("aria-valuetext", `${step} of ${last}`);
      select.value = layer;
      layersView.show(step, layer);
      const changed = vectorView.show(step, layer);
      headsView.show(step, layer);
      picture.show(step, layers[layer], row, cell);
      telling.replaceChildren(...story(run, row, cell));
      says.textContent = `Step ${step}, layer ${layers[layer].name}. ${changed}`;
    }
    /** Show a step and a layer; the text is about a cell, the one under the head unless another was chosen. */
    function go(nextStep, nextLayer = layer, nextRow = null, nextCell = null) {
      step = clamp(nextStep, 1, last);
      layer = clamp(nextLayer, 0, layers.length - 1);
      row = nextRow ?? Math.min(step, rows.length - 1);
      cell = nextCell ?? rows[row].head;
      draw();
      model.set("step", step);
      model.set("layer", layers[layer].name);
      model.save_changes();
    }
    function choose(t, c) {
      const chosen = clamp(t, 0, rows.length - 1);
      go(Math.max(chosen, 1), layer, chosen, clamp(c, run.lo, run.hi));
    }
    /** One layer on or back, and over the ends into the next step. */
    function shift(by) {
      const next = layer + by, count = layers.length;
      if (next >= 0 && next < count) go(step, next);
      else if (step + by >= 1 && step + by <= last) go(step + by, by < 0 ? count - 1 : 0);
    }

    slider.addEventListener("input", () => go(Number(slider.value)));
    select.addEventListener("change", () => go(step, Number(select.value)));
    root.addEventListener("keydown", (event) => {
      const { target, key } = event;
      if (target === slider || target === select || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      const inPicture = {
        ArrowLeft: () => choose(row, cell - 1), ArrowRight: () => choose(row, cell + 1),
        ArrowUp: () => choose(row - 1, cell), ArrowDown: () => choose(row + 1, cell),
      };
      const action = {
        ArrowLeft: () => go(step - 1), ArrowRight: () => go(step + 1), ArrowUp: () => shift(-1), ArrowDown: () => shift(1),
        Home: () => go(1), End: () => go(last), ...(target === picture.frame ? inPicture : {}),
      }[key];
      if (!action) return;
      event.preventDefault();
      event.stopPropagation();
      action();
    });

    const onStep = () => model.get("step") !== step && go(model.get("step"));
    const onLayer = () => model.get("layer") !== layers[layer].name && go(step, named());
    const named = () => layers.findIndex(({ name }) => name === model.get("layer"));
    model.on("change:step", onStep);
    model.on("change:layer", onLayer);
    go(model.get("step"), named());
    return () => {
      model.off("change:step", onStep);
      model.off("change:layer", onLayer);
    };
  },
};
