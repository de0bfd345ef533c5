// The pipeline inspector. The network runs in the page, so it needs no kernel.

import { button, code, h, listen, onKeys, put, svg, uniqueId, widget } from "../page/dom.js";
import { draw, flip, motionTime } from "../page/motion.js";
import { clamp, digits, length, range, short, shown, signed } from "../page/text.js";
import { createTransport } from "../page/transport.js";
import { describePattern, readRun, story, words } from "./run.js";

/** The layers in order, each with its whole vector as a line of places. */
function createLayers({ layers, slices, steps, came }, id, choose) {
  const GAP = 1.25, LEAST = 4, MANY = 100; // between slices, for a small one, and in a column, in places
  let right = -GAP;
  const spans = slices.map(({ size, colour, name, spelled }) => {
    const left = right + GAP + Math.max(0, LEAST - size) / 2;
    right = left + (size + Math.max(size, LEAST)) / 2;
    return { left, size, name, fill: `fill: ${colour}`, x: new Map(spelled.map(({ index }, k) => [index, left + k])) };
  });
  const at = new Map(spans.flatMap(({ x }) => [...x]));
  const bar = (i, top, tall) => `M${at.get(i) + 0.06} ${top}h.88v${tall}h-.88z`;
  const rows = layers.map(({ name, over, present }, n) => {
    const grounds = spans.filter((span) => present.has(span.name)).map(({ left, size, fill }) =>
      svg("rect", { x: left, y: 0, width: size, height: 7, style: fill }));
    const ones = spans.map(({ fill }) => svg("path", { style: fill })), ticks = svg("path", { class: "ticks" });
    const picture = svg("svg", { viewBox: `0 0 ${right} 10`, preserveAspectRatio: "none", "aria-hidden": true },
      ...grounds, ...ones, ticks);
    const node = h("li", { role: "option", id: `${id}-${n}`, class: over ? "head" : "" }, h("span", {}, name), picture);
    node.addEventListener("click", () => choose(n));
    return { node, ones, ticks };
  });
  const list = h("ul", { role: "listbox", tabindex: 0, "aria-label": "Layers of the pipeline" },
    ...rows.map(({ node }) => node));
  // Slices that differ by a number have one name above their numbers; a long name stands upright.
  const label = (text, slices, level) => h("span", { "data-slice": slices[0].name, class: level,
    style: `left: ${(50 * (slices[0].left + slices.at(-1).left + slices.at(-1).size)) / right}%` }, text);
  const families = Map.groupBy(spans, ({ name }) => name.replace(/\d$/, ""));
  const names = [...families].flatMap(([family, own]) => own.length === 1
    ? [label(family, own, family.length > 3 ? "upright" : family.length > 2 ? "family" : "number")]
    : [label(family, own, "family"), ...own.map((span) => label(span.name.slice(family.length), [span], "number"))]);
  const longest = Math.max(...[...families.keys()].map(({ length }) => length));
  let drawn = 0;
  return {
    node: h("div", { class: `layers${right > MANY ? " many" : ""}` },
      h("p", { class: "heading" }, "A bar is a 1, a tick below it a change."),
      h("div", { class: "names", "aria-hidden": true, style: `--letters: ${longest}` }, ...names), list),
    show(step, layer) {
      list.setAttribute("aria-activedescendant", `${id}-${layer}`);
      rows.forEach(({ node, ones, ticks }, n) => {
        node.setAttribute("aria-selected", n === layer);
        if (step === drawn) return;
        const vector = steps[step - 1].vectors[n], old = came(step, n) ?? vector;
        const upright = (i) => (vector[i] ? bar(i, 7, -7 * clamp(vector[i], 0, 1)) : ""); // nearly 0 is nearly nothing
        spans.forEach(({ x }, k) => ones[k].setAttribute("d", [...x.keys()].map(upright).join("")));
        ticks.setAttribute("d", [...at.keys()].map((i) => (vector[i] === old[i] ? "" : bar(i, 8, 2))).join(""));
      });
      drawn = step;
    },
  };
}

/** The vector that leaves a layer, a cell for every place, and what the layer is and does. */
function createVector({ layers, slices, steps, came, rows }) {
  const title = h("p", { class: "title" }), says = h("p", { class: "what" }), changes = h("p", { class: "changes" });
  const blocks = slices.map((slice) => {
    const { name, meaning, colour, spelled } = slice, text = h("span", { class: "words" });
    const places = spelled.map(({ name, label, index }) => {
      const value = h("b");
      return { index, value, node: h("span", { title: name, "data-name": name }, value, h("i", {}, shown(label))) };
    });
    const attributes = { class: "slice", role: "group", "aria-label": `${name}, ${meaning}`, "data-slice": name };
    const node = h("div", { ...attributes, style: `--slice: ${colour}` },
      h("p", {}, h("b", {}, name), text, h("span", { class: "meaning" }, meaning)),
      h("div", { class: "places" }, ...places.map(({ node }) => node)));
    return { slice, places, node, text };
  });
  return {
    node: h("div", { class: "layer", role: "group", "aria-label": "The vector that leaves the layer" }, title, says,
      h("div", { class: "vector" }, ...blocks.map(({ node }) => node)), changes),
    /** Show a layer, whose changes flip for a time; return what it changed, in words. */
    show(step, n, time) {
      const layer = layers[n], vector = steps[step - 1].vectors[n], old = came(step, n) ?? vector;
      const cells = rows.slice(step - 1, step + 1).map(({ head }) => head), changed = [];
      title.replaceChildren(h("b", { class: layer.over ? "head" : "" }, layer.name), ` ${layer.module}`,
        h("span", {}, layer.claim && ` · ${layer.claim}`));
      says.textContent = layer.says;
      for (const { slice, places, node, text } of blocks) {
        const [sign, now] = words(slice, vector, layer, cells);
        let differs = false;
        for (const { index, value, node } of places) {
          const x = vector[index], other = x !== old[index];
          value.textContent = digits(x);
          node.dataset.value = x;
          node.className = `place${x > 0.5 ? " one" : ""}${other ? " changed" : ""}`;
          if (other) flip(node, time);
          differs ||= other;
        }
        const isThere = layer.present.has(slice.name);
        node.classList.toggle("away", !isThere);
        text.textContent = `${sign} ${now}`.trim();
        if (differs && isThere) changed.push(`${slice.name}: ${words(slice, old, layers.at(n - 1), cells)[1]} → ${now}`);
      }
      const none = step === 1 && !n ? "The first column of the run." : "Nothing changed here.";
      changes.textContent = changed.length ? `Changed here, and framed: ${changed.join("; ")}.` : none;
      return changes.textContent;
    },
  };
}

/** The patterns of all heads in a step: a row a head, a bar where there is weight. */
function createHeads({ heads, layers, steps, word, symbols, pattern }, choose) {
  const n = steps.length, readout = h("p", { class: "readout" });
  const every = [1, 2, 5, 10, 20, 50].find((k) => n / k <= 12);
  const row = (name, size, label, ...parts) => {
    const strip = h("div", { class: "strip", style: `--size: ${Math.max(size, 1)}`, ...label }, ...parts);
    return { strip, node: h("div", { class: "pattern" }, h("span", { class: "name" }, name), strip) };
  };
  const axis = (name, size, marks) => row(name, size, { class: "strip axis", "aria-hidden": true },
    ...marks.map(([k, text]) => h("span", { style: `grid-column: ${k + 1}` }, text)),
    h("span", { class: "null" }, "null")).node;
  let step = 1, selected;
  const readOut = (head = selected) => readout.replaceChildren(...(head
    ? [code(head.name), `: ${describePattern(head, pattern(step, head.name))}.`]
    : ["Choose an attention head to read its numbers."]));
  const rows = heads.map((head) => {
    const { strip, node } = row(head.name, head.over === "tape" ? word.length : n, { role: "img" });
    node.dataset.head = head.name;
    node.addEventListener("click", () => choose(layers.indexOf(head)));
    node.addEventListener("pointerenter", () => readOut(head));
    node.addEventListener("pointerleave", () => readOut());
    return { head, strip, node };
  });
  const over = (kind) => rows.filter(({ head }) => head.over === kind).map(({ node }) => node);
  return {
    readout,
    frame: h("div", { class: "patterns", tabindex: 0, role: "group", "aria-label": "Weights of every attention head" },
      ...over("columns"),
      axis("column", n, range(n).filter((k) => k % every === 0 && k < n - every / 2).map((k) => [k, k])),
      ...over("tape"), axis("tape", word.length, word.map((symbol, k) => [k, shown(symbols[symbol])]))),
    show(nextStep, layer) {
      [step, selected] = [nextStep, heads.find((head) => head === layer)];
      for (const { head, strip, node } of rows) {
        const pairs = pattern(step, head.name), kind = head.over === "tape" ? "row" : "column";
        node.classList.toggle("on", head === selected);
        strip.style.setProperty("--known", head.over === "tape" ? word.length : step);
        strip.setAttribute("aria-label", describePattern(head, pairs));
        strip.replaceChildren(...pairs.map(([key, weight]) => h("i", {
          "data-key": key, "data-weight": weight, title: `${key < 0 ? "null key" : `${kind} ${key}`}: ${digits(weight)}`,
          style: `grid-column: ${key < 0 ? "-2 / -1" : key + 1}; height: ${100 * weight}%`,
        })));
      }
      readOut();
    },
  };
}

/** The space–time picture: a row a column of the network, the head inverted, and an arc to what is read. */
function createPicture(run, choose) {
  const { rows, symbols, word, lo, hi, heads, pattern } = run, TALL = 22, REACH = 64, all = range(hi - lo + 1).map((k) => lo + k);
  const single = symbols.every((symbol) => symbol.length === 1);
  const letters = (names, max) => 8.5 * Math.min(max, Math.max(...names.map(length)));
  const wide = Math.max(clamp(260 / all.length, 19, 28), 10 + letters(symbols, 8));
  const gutter = 38 + letters(rows.map(({ state }) => state), 6);
  const end = gutter + all.length * wide, width = end + REACH, x = (cell) => gutter + (cell - lo) * wide;
  const text = (kind, x, y, content) => svg("text", { class: kind, x, y: y + 15.5 }, content);
  const ring = (kind, cell, y, by, style = "") => svg("rect", { class: kind, style,
    x: x(cell) - by, y: y - by, width: wide + 2 * by, height: TALL + 2 * by });

  /** Cells of some rows: symbols that look alike in one text, boxes that look alike in one path. */
  function drawCells(lines) {
    const boxes = { blank: "", written: "", head: "" };
    const texts = lines.flatMap(({ y, cells, symbolOf, head }) => {
      const kinds = { blank: [], written: [], head: [] };
      for (const cell of cells) {
        const symbol = symbolOf(cell), kind = cell === head ? "head" : symbol === shown(symbols[0]) ? "blank" : "written";
        kinds[kind].push([x(cell) + wide / 2, symbol]);
        boxes[kind] += `M${x(cell)} ${y}h${wide}v${TALL}h${-wide}z`;
      }
      return Object.entries(kinds).filter(([, found]) => found.length).flatMap(([kind, found]) => single
        ? [text(kind, found.map(([x]) => x).join(" "), y, found.map(([, symbol]) => symbol).join(""))]
        : found.map(([x, symbol]) => text(kind, x, y, short(symbol, 8))));
    });
    return [...["written", "head"].map((kind) => svg("path", { class: kind, d: boxes[kind] })), ...texts];
  }
  const size = `max-width: ${width}px; min-width: ${0.8 * width}px`; // smaller is not legible; then it scrolls
  const image = (name, height, label, ...parts) =>
    svg("svg", { class: name, viewBox: `0 0 ${width} ${height}`, style: size, role: "img", "aria-label": label }, ...parts);
  const marks = { tape: svg("g"), rows: svg("g") }, band = svg("rect", { class: "band", x: 0, width, height: TALL });
  const every = Math.ceil((4 + 7 * Math.max(...all.map((cell) => `${cell}`.length))) / wide);
  const tape = image("tape", 2 * TALL + 4, "The tape that the network is given",
    ...all.filter((cell) => cell % every === 0).map((cell) => text("cell", x(cell) + wide / 2, 0, signed(cell))),
    text("label", 0, TALL, "tape"),
    ...drawCells([{ y: TALL, cells: range(word.length), symbolOf: (cell) => shown(symbols[word[cell]]) }]), marks.tape);
  const body = image("rows", rows.length * TALL + 4, `Space–time picture of ${rows.length} rows, time running down`, band,
    ...drawCells(rows.map(({ head }, t) => ({ y: t * TALL, cells: all, symbolOf: (cell) => run.symbol(t, cell), head }))),
    ...rows.flatMap(({ state }, t) => [text("number", 28, t * TALL, t),
      text("state", 36, t * TALL, short(state, 6))]), marks.rows);
  const frame = h("div", { class: "picture", tabindex: 0, role: "application",
    "aria-label": "Space–time picture. Arrow keys choose a cell." }, tape, body);
  const legend = h("p", { class: "legend" }), scale = () => body.getBoundingClientRect().width / width || 1;
  body.addEventListener("click", (event) => {
    const { left, top } = body.getBoundingClientRect(), by = scale();
    const [across, down] = [(event.clientX - left) / by - gutter, (event.clientY - top) / by];
    choose(Math.floor(down / TALL), lo + Math.floor(across / wide));
  });
  /** From the row of the step to the row of the column that is read, around the right side. */
  function arc(from, to, [key, weight]) {
    const [[, y], [, z]] = [from, to], reach = clamp(12 + Math.abs(y - z) / 6, 16, (REACH - 6) / 0.75);
    return svg("path", { class: "arc", "data-key": key, "data-weight": weight, style: `stroke-width: ${1 + 1.5 * weight}`,
      d: `M${end} ${y}C${end + reach} ${y} ${end + reach} ${z} ${end} ${z}` });
  }
  const ABOVE = 2 * TALL + 4, middle = (t) => (t + 0.5) * TALL; // of the tape's rows, which stay in sight
  let seen = [], drawArcs = () => {};
  frame.addEventListener("scroll", () => drawArcs(0));
  return {
    frame,
    legend,
    show(step, layer, t, cell, time) {
      // A layer that is not a head shows the one whose symbol is taken.
      const taken = pattern(step, "visited").some(([key]) => key >= 0) ? "last" : "initial";
      const head = heads.find((head) => head === layer) ?? heads.find(({ name }) => name === taken);
      const pairs = pattern(step, head.name).filter(([key]) => key >= 0), onTape = head.over === "tape", to = rows[step];
      const rings = pairs.map(([key, weight]) =>
        ring("ring", onTape ? key : rows[key].head, onTape ? TALL : key * TALL, 0, `stroke-width: ${1.5 + 2 * weight}`));
      marks.rows.replaceChildren(...(onTape ? [] : rings), ring("gap", cell, t * TALL, 0.5), ring("pick", cell, t * TALL, 2));
      marks.tape.replaceChildren(...(onTape ? rings : []));
      const arcs = { tape: svg("g"), rows: svg("g") };
      marks.rows.prepend(arcs.rows);
      marks.tape.append(arcs.tape);
      /** An arc to the tape, which lies over the rows, goes on where they have been scrolled to. */
      drawArcs = (time) => {
        const down = onTape ? ABOVE - frame.scrollTop / scale() : 0;
        const paths = !to ? [] : pairs.map((pair) => arc([to.head, down + middle(step)],
          onTape ? [pair[0], middle(1)] : [rows[pair[0]].head, middle(pair[0])], pair));
        arcs[onTape ? "tape" : "rows"].replaceChildren(...paths);
        paths.forEach((path) => draw(path, time));
      };
      band.setAttribute("y", step * TALL);
      band.style.display = to ? "" : "none";
      legend.replaceChildren("Arc and ring: read by ", code(head.name), ` in step ${step}`,
        pairs.length ? "." : " (the null key).", " Framed: the chosen cell.");
      drawArcs(time);
      if (t === seen[0] && cell === seen[1]) return; // where it was the reader may have scrolled
      seen = [t, cell];
      const by = scale(), room = frame.clientHeight / by - 2 * TALL - 4;
      frame.scrollTop = clamp(frame.scrollTop / by, (t + 1.5) * TALL - room, (t - 0.5) * TALL) * by;
      frame.scrollLeft = clamp(frame.scrollLeft / by, x(cell + 2) + REACH - frame.clientWidth / by, x(cell - 1) - gutter) * by;
    },
  };
}

export default {
  render({ model, el }) {
    const run = readRun(model.get("record")), { rows, layers } = run, last = run.steps.length;
    const id = uniqueId(), vectorView = createVector(run);
    const layersView = createLayers(run, id, (n) => go(step, n)), headsView = createHeads(run, (n) => go(step, n));
    const picture = createPicture(run, (t, c) => choose(t, c));
    const status = h("p", { class: "status" }), telling = h("p", { class: "story", "aria-live": "polite" });
    const says = h("div", { class: "says", "aria-live": "polite" });
    const transport = createTransport("Step of the run", {
      first: 1,
      last,
      get now() {
        return step;
      },
      go: (next) => go(next),
    });
    const { Home, ArrowLeft, ArrowRight, End } = transport.keys, speed = h("select", { "aria-label": "Speed" });
    speed.append(...[1, 2, 5, 10, 30].map((n) => h("option", { value: n }, `${n} a second`)));
    speed.value = 2;
    const play = button("Play", () => (timer ? pause() : start()), { class: "main" });
    const buttons = h("div", { class: "buttons" }, play, ...Object.entries({ Back: ArrowLeft, Step: ArrowRight, Start: Home, End })
      .map(([name, move]) => button(name, () => (pause(), move()))));
    const select = h("select", { "aria-label": "Layer" }, ...layers.map(({ name }, n) => h("option", { value: n }, name)));
    const part = (name, text, ...parts) =>
      h("div", { class: name, role: "group", "aria-label": text }, h("p", { class: "heading" }, text), ...parts);
    const root = widget("pipeline-inspector", "A run of the network, step by step and layer by layer", { tabindex: 0 },
      h("div", { class: "controls" }, buttons,
        h("div", { class: "chooser" }, button("↑", () => (pause(), shift(-1)), { "aria-label": "Layer before" }), select,
          button("↓", () => (pause(), shift(1)), { "aria-label": "Layer after" })),
        h("div", { class: "walk" }, transport.slider, speed)),
      status,
      h("div", { class: "board" }, layersView.node, vectorView.node,
        part("space", "Space–time: row t is column t, step t leads there", picture.frame, picture.legend),
        part("account", "The chosen cell: who wrote it, who reads it", telling),
        part("heads", "Attention in this step: a row for each attention head, a bar for each weight", headsView.frame, headsView.readout)),
      h("p", { class: "keys" }, "Keys: ← → one step, ↑ ↓ one layer, Home and End, P plays layer by layer; in the picture arrows choose a cell."),
      says,
    );
    el.replaceChildren(root);

    let step, layer, row, cell, about, timer = 0;

    function summary() {
      const now = rows[step - 1], then = rows[step], end = step === last ? [" ", h("b", {}, run.end)] : [];
      const named = (kind, text) => h("span", { class: kind }, text);
      const reads = [named("q", now.state), " reads ", named("a", run.symbol(step - 1, now.head)),
        " on cell ", named("d", signed(now.head))];
      if (!then) return [...reads, ".", ...end];
      const move = ["moves left", "stays", "moves right"][then.head - now.head + 1];
      return [...reads, ", writes ", named("a", run.symbol(step, now.head)), ` and ${move}: `, named("q", then.state),
        " on cell ", named("d", signed(then.head)), ".", ...end];
    }
    function draw(time) {
      Object.assign(root.dataset, { step, layer: layers[layer].name, row, cell });
      status.replaceChildren(h("b", {}, `Step ${step} of ${last}`), h("span", {}, ...summary()));
      transport.show();
      select.value = layer;
      layersView.show(step, layer);
      const sentence = `Step ${step}, layer ${layers[layer].name}. ${vectorView.show(step, layer, time)}`;
      if (!timer) says.textContent = sentence; // speech would fall behind
      headsView.show(step, layers[layer]);
      picture.show(step, layers[layer], row, cell, time);
      // A live region: what is the same should not be read again.
      if (about !== `${row},${cell}`) telling.replaceChildren(...story(run, row, cell));
      about = `${row},${cell}`;
    }
    /** Show a step and a layer, and the story of a cell: the one under the head, unless another was chosen. */
    function go(nextStep, nextLayer = layer, nextRow, nextCell) {
      const time = step ? motionTime(timer ? Number(speed.value) : 2) : 0;
      step = clamp(nextStep, 1, last);
      layer = clamp(nextLayer, 0, layers.length - 1);
      row = nextRow ?? Math.min(step, rows.length - 1);
      cell = nextCell ?? rows[row].head;
      draw(time);
      put(model, { step, layer: layers[layer].name });
    }
    function choose(t, c) {
      const chosen = clamp(t, 0, rows.length - 1);
      go(Math.max(chosen, 1), layer, chosen, clamp(c, run.lo, run.hi));
    }
    /** One layer on or back, and at the ends into the neighbouring step. */
    function shift(by) {
      const next = layer + by, inside = next >= 0 && next < layers.length;
      if (inside) go(step, next);
      else if (step + by >= 1 && step + by <= last) go(step + by, by < 0 ? layers.length - 1 : 0);
    }

    const atEnd = () => step === last && layer === layers.length - 1;
    /** From layer to layer, and from step to step, to the end. */
    function start() {
      if (atEnd()) go(1, 0);
      play.textContent = "Pause";
      timer = setInterval(() => {
        shift(1);
        if (atEnd()) pause();
      }, 1000 / speed.value);
    }
    function pause() {
      if (timer) says.textContent = `Step ${step}, layer ${layers[layer].name}.`;
      clearInterval(timer);
      timer = 0;
      play.textContent = "Play";
    }
    speed.addEventListener("change", () => timer && (pause(), start()));
    transport.slider.addEventListener("input", pause);
    root.addEventListener("click", ({ target }) => target.closest(".board") && pause());
    select.addEventListener("change", () => (pause(), go(step, Number(select.value))));
    const playKeys = { p: () => play.click(), " ": () => play.click() };
    onKeys(root, ({ target, key }) => {
      const byCell = ([t, c]) => () => choose(row + t, cell + c);
      if (!playKeys[key]) pause();
      return playKeys[key] ? playKeys : target === picture.frame
        ? { ...transport.keys, ArrowLeft: byCell([0, -1]), ArrowRight: byCell([0, 1]), ArrowUp: byCell([-1, 0]),
          ArrowDown: byCell([1, 0]) }
        : { ...transport.keys, ArrowUp: () => shift(-1), ArrowDown: () => shift(1) };
    });

    const named = () => layers.findIndex(({ name }) => name === model.get("layer"));
    go(model.get("step"), named());
    const forget = listen(model, {
      step: () => model.get("step") !== step && go(model.get("step")),
      layer: () => model.get("layer") !== layers[layer].name && go(step, named()),
    });
    return () => (pause(), forget());
  },
};
